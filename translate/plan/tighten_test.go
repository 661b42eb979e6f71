package plan_test

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Where no records prove a place, checkpoints of a release that skips nothing bound it from below and proved places of later positions
// from above, and what the group has now is bounded by the same. MirrorMaker 2 has 896901 for the position 998400.
func TestTighten(t *testing.T) {
	const checkpointed = 1_700_000_000_000 - 101_000
	version := func(v string) func(*snapshot.Snapshot) { return func(s *snapshot.Snapshot) { s.MM2Version = v } }
	other := func(up, down int64) func(*snapshot.Snapshot) {
		return checkpoints(func(c *snapshot.Checkpoints) {
			c.Newest = append([]snapshot.Checkpoint{{Group: "aaa", Topic: "a.orders", Up: up, Down: down, Time: checkpointed}}, c.Newest...)
		})
	}
	later := func(verdict string) *plan.State {
		return &plan.State{Flow: "a->b", TargetID: "cluster-of-b", Positions: []plan.StatePartition{{Group: "other", Topic: "orders", TargetTopic: "a.orders", TargetTopicID: "orders-on-b", Offset: 998450, Target: 898300, Verdict: verdict, Time: checkpointed - 1}}}
	}
	plain := plan.Answer{Range: &plan.Range{Low: 896000, High: 898500}}
	for _, c := range []struct {
		name          string
		change        func(*snapshot.Snapshot)
		version       string
		state         *plan.State
		answer        plan.Answer
		to, high      int64 // to: -1 refused (704)
		basis         string
		again, skip   int64 // of what the group has now
		says, advises string
	}{
		{name: "syncs of the topic prove less than the checkpoint", version: "3.9.1", answer: plain, to: 896901, high: 898500, basis: "checkpoint", again: 1599, skip: 0, says: "998400 -> 896901 of group payments"},
		{name: "the syncs prove more", version: "3.9.1", answer: plan.Answer{Range: &plan.Range{Low: 897000, High: 898500}}, to: 897000, high: 898500, basis: "range", again: 1599, skip: 0},
		{name: "of another group at an earlier position", change: other(998000, 897500), version: "3.9.1", answer: plain, to: 897500, high: 898500, basis: "range", again: 1599, skip: 0, says: "998000 -> 897500 of group aaa"},
		{name: "of another group at a later position", change: other(998401, 898400), version: "3.9.1", answer: plain, to: 896901, high: 898500, basis: "checkpoint", again: 1599, skip: 0},
		{name: "beyond what the syncs allow", change: other(998000, 898501), version: "3.9.1", answer: plain, to: 896000, high: 898500, basis: "range", again: 1599, skip: 901},
		{name: "which release is not known", version: "", answer: plain, to: -1, high: 898500, advises: "--mm2-version 3.9.1"},
		{name: "a release that counts on", version: "3.3.1", answer: plain, to: -1, high: 898500, advises: "if the group on b has not really read them"},
		{name: "copied again", version: "3.9.1", answer: plan.Answer{Range: &plan.Range{Low: 896000, High: 898500, Again: true}}, to: -1, high: 898500, advises: "--allow-rewind"},
		{name: "records were compared in vain", version: "3.9.1", answer: plan.Answer{Range: plain.Range, Records: &match.Answer{Low: 0, High: 900000}}, to: -1, high: 898500, advises: "--allow-rewind"},
		{name: "a later position is proved", version: "3.9.1", state: later("exact"), answer: plain, to: 896901, high: 898300, basis: "checkpoint", again: 1399, skip: 0},
		{name: "a later position may stand there twice", version: "3.9.1", state: later("exact, a later repeat is not excluded"), answer: plain, to: 896901, high: 898500, basis: "checkpoint", again: 1599, skip: 0},
		{name: "no syncs at all, a later position is proved", version: "3.9.1", state: later("exact"), to: 896901, high: 898300, basis: "checkpoint", again: 1399, skip: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := []func(*snapshot.Snapshot){lost, version(c.version)}
			if c.change != nil {
				change = append(change, c.change)
			}
			sel := plan.Selection{SourceLost: true, State: c.state, Groups: []string{"payments"}}
			if strings.Contains(c.name, "beyond") {
				sel.Options.AllowRewind = true
			}
			p := build(t, world(change...), sel, func(p plan.Position) plan.Answer {
				a := givenUp(p)
				if p.From.Partition == 0 {
					a.Range, a.Records = nil, c.answer.Records
					if c.answer.Range != nil {
						r := *c.answer.Range
						a.Range = &r
					}
				}
				for _, o := range p.Also {
					a.Also = append(a.Also, plan.Count{Offset: o, ReRead: a.Target.End - o, Skipped: o})
				}
				return a
			})
			r := rowOf(t, p, "payments", 0)
			if c.to < 0 {
				if g := groupOf(t, p, "payments"); g.Refusal != 704 || !strings.Contains(g.Next, c.advises) {
					t.Fatalf("%+v", g)
				}
				return
			}
			if r.To == nil || *r.To != c.to || r.Basis != c.basis || r.Bound[0] != c.to || r.Bound[1] != c.high || r.ReReadUpTo != c.high-c.to || !strings.Contains(r.Evidence, c.says) {
				t.Fatalf("%+v", r)
			}
			if n := r.BeforeCount; n == nil || n.ReRead != c.again || n.Skipped != c.skip {
				t.Errorf("now: %+v", n)
			}
		})
	}
}

// An offset beyond the end of the log is called that, where going back to the place is refused.
func TestRewindFromBeyondTheEnd(t *testing.T) {
	p := build(t, world(group(1, "payments", offsets(at("a.orders", 1, 900)))), plan.Selection{Groups: []string{"payments"}}, nil)
	if g := groupOf(t, p, "payments"); g.Refusal != 704 || !strings.Contains(g.Because, "from 900 to 400") || !strings.HasSuffix(g.Because, "; 900 lies beyond the end of the log, 500, where nobody has read yet") {
		t.Errorf("%+v", g)
	}
}

// What a captured snapshot still has of checkpoints bounds too where those of the target are lost, and alone maps what nothing else does.
func TestTightenByASnapshot(t *testing.T) {
	none := checkpoints(func(c *snapshot.Checkpoints) { c.Newest = nil })
	release := func(v string) func(*snapshot.Snapshot) { return func(s *snapshot.Snapshot) { s.MM2Version = v } }
	for _, c := range []struct {
		name    string
		version string
		low     int64 // of the syncs; -1 none
		anew    bool
		to      int64 // -1: none
		basis   string
	}{
		{"above the syncs", "3.9.1", 896000, false, 896901, "checkpoint"},
		{"below them", "3.9.1", 897000, false, 897000, "range"},
		{"alone", "3.9.1", -1, false, 896901, "checkpoint"},
		{"alone, of a copy before", "3.9.1", -1, true, -1, ""},
		{"alone, a release that counts on", "3.3.1", -1, false, -1, ""},
	} {
		bundle := world(release(c.version))
		if c.anew {
			topic(1, func(x *snapshot.Topic) { x.ID = "before" })(bundle)
		}
		p := build(t, world(lost, none, release(c.version)), plan.Selection{SourceLost: true, Bundle: bundle, Groups: []string{"payments"}, Options: plan.Options{AllowRewind: true}}, func(p plan.Position) plan.Answer {
			a := givenUp(p)
			if p.From.Partition == 0 && c.low >= 0 {
				a.Range = &plan.Range{Low: c.low, High: 898500, Look: bundle.Taken}
			}
			return a
		})
		r := rowOf(t, p, "payments", 0)
		if c.to < 0 && r.To != nil || c.to >= 0 && (r.To == nil || *r.To != c.to || r.Basis != c.basis) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// Without any cluster the same holds, and numbers below the log start cost nothing.
func TestTightenOffline(t *testing.T) {
	s := world(func(s *snapshot.Snapshot) {
		topic(1, func(x *snapshot.Topic) { x.Partitions[0].Start = snapshot.Is(int64(896950)) })(s)
	})
	w := wanted(t, s, plan.Selection{Groups: []string{"payments"}})
	as := plan.AnswersFrom(s, w.Positions())
	p := plan.Build(w, as, diagnose.Tool{Name: "mm2doctor"})
	r := rowOf(t, p, "payments", 0)
	if r.BeforeCount == nil || r.BeforeCount.ReRead != r.End-r.LogStart || r.BeforeCount.Skipped != 0 || *r.To != r.LogStart {
		t.Errorf("%+v, %+v", r, r.BeforeCount)
	}
}
