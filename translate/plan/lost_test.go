package plan_test

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

func givenUp(p plan.Position) plan.Answer {
	end := int64(900000)
	if p.To.Partition == 1 {
		end = 500
	}
	return plan.Answer{Target: &match.Bounds{Stable: end, End: end}, Why: "the source is given up"}
}

// Which release wrote the checkpoints is a fact of the source that is given up: it does not refuse, and is said.
func TestLostReleaseNotKnown(t *testing.T) {
	release := func(v string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.MM2Version = v }
	}
	p := build(t, world(lost, release("")), plan.Selection{SourceLost: true}, givenUp)
	r := rowOf(t, p, "payments", 0)
	if r.To == nil || *r.To != 896901 || r.Verdict != "unverified" || !strings.Contains(r.Evidence, "nothing better exists") || !strings.Contains(r.Evidence, "--mm2-version") {
		t.Errorf("%+v", r)
	}
	if f := p.Findings[0]; f.Code != 705 || f.Slug != "may-skip" || f.Severity != finding.Warning || f.SubjectCount != 3 {
		t.Errorf("%+v", p.Findings)
	}
	if p := build(t, world(lost, release("3.9.1")), plan.Selection{SourceLost: true}, givenUp); len(p.Findings) != 0 {
		t.Errorf("%+v", p.Findings)
	}
	// A release that counts on is refused, and the fallback that the refusal names works.
	p = build(t, world(lost, release("3.3.1")), plan.Selection{SourceLost: true}, givenUp)
	if g := groupOf(t, p, "payments"); g.Refusal != 705 || !strings.Contains(g.Next, "--fallback earliest") {
		t.Errorf("%+v", g)
	}
	p = build(t, world(lost, release("3.3.1")), plan.Selection{SourceLost: true, Options: plan.Options{Fallback: "earliest", AllowRewind: true}}, givenUp)
	if r := rowOf(t, p, "payments", 0); r.To == nil || *r.To != 0 || r.Basis != "fallback" {
		t.Errorf("%+v", r)
	}
	// A snapshot with offset syncs tells the release when nothing else does.
	p = build(t, world(lost, release("")), plan.Selection{SourceLost: true, Bundle: world(release("3.9.1"))}, givenUp)
	if len(p.Findings) != 0 {
		t.Errorf("%+v", p.Findings)
	}
}

// The place of an earlier position bounds a later one from below, whatever group had it.
func TestLostPlacesOfOthers(t *testing.T) {
	const checkpointed = 1_700_000_000_000 - 101_000
	kept := func(change ...func(*plan.StatePartition)) *plan.State {
		x := plan.StatePartition{Group: "other", Topic: "orders", TargetTopic: "a.orders", TargetTopicID: "orders-on-b", Offset: 998000, Target: 898000, Verdict: "exact", Time: checkpointed - 1}
		for _, c := range change {
			c(&x)
		}
		return &plan.State{Flow: "a->b", TargetID: "cluster-of-b", Positions: []plan.StatePartition{x}}
	}
	for _, c := range []struct {
		name   string
		change func(*plan.StatePartition)
		to     int64
		basis  string
		exact  bool
	}{
		{"below", func(*plan.StatePartition) {}, 898000, "state", false},
		{"the very position", func(x *plan.StatePartition) { x.Offset, x.Target = 998400, 898400 }, 898400, "state", true},
		{"above", func(x *plan.StatePartition) { x.Offset = 998401 }, 896901, "checkpoint", false},
		{"younger than the position: the topic may have begun anew", func(x *plan.StatePartition) { x.Time = checkpointed + 200_000 }, 896901, "checkpoint", false},
		{"of a copy before", func(x *plan.StatePartition) { x.TargetTopicID = "before" }, 896901, "checkpoint", false},
		{"not proved", func(x *plan.StatePartition) { x.Verdict = "ambiguous" }, 896901, "checkpoint", false},
		{"lower than the checkpoint", func(x *plan.StatePartition) { x.Offset, x.Target = 100100, 100 }, 896901, "checkpoint", false},
	} {
		p := build(t, world(lost), plan.Selection{SourceLost: true, State: kept(c.change), Groups: []string{"payments"}}, givenUp)
		r := rowOf(t, p, "payments", 0)
		if r.To == nil || *r.To != c.to || r.Basis != c.basis || strings.HasPrefix(r.Verdict, "exact") != c.exact {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	// Offset syncs that say more are taken.
	p := build(t, world(lost), plan.Selection{SourceLost: true, State: kept(), Groups: []string{"payments"}}, func(p plan.Position) plan.Answer {
		a := givenUp(p)
		if p.From.Partition == 0 {
			a.Range = &plan.Range{Low: 898300, High: 898500}
		}
		return a
	})
	if r := rowOf(t, p, "payments", 0); *r.To != 898300 || r.Basis != "range" {
		t.Errorf("%+v", r)
	}
	// A snapshot that is younger and tells the same position leaves the proved place.
	b := world()
	b.Taken += 10
	p = build(t, world(lost), plan.Selection{SourceLost: true, Bundle: b, State: kept(func(x *plan.StatePartition) { x.Group, x.Offset, x.Target = "payments", 998400, 898400 })}, givenUp)
	if r := rowOf(t, p, "payments", 0); *r.To != 898400 || r.Basis != "state" || r.FromBasis != "bundle" {
		t.Errorf("%+v", r)
	}
}

// Offset syncs of a captured snapshot bound positions whose own are lost with the source.
func TestLostSyncsOfASnapshot(t *testing.T) {
	old := world()
	old.Taken -= 1000
	now := world(lost)
	w := wanted(t, now, plan.Selection{SourceLost: true, Bundle: old})
	var as []plan.Answer
	for _, p := range w.Positions() {
		as = append(as, givenUp(p))
	}
	plan.RangesFrom(old, now, w.Positions(), as)
	for i, p := range w.Positions() {
		truth := p.Offset
		if p.From.Partition == 0 {
			truth -= 100000
		}
		if r := as[i].Range; r == nil || r.Low > truth || r.High < truth || r.Look != old.Taken {
			t.Errorf("%+v: %+v %s", p, r, as[i].Why)
		}
	}
	anew := world(lost, func(s *snapshot.Snapshot) {
		edit(&s.Clusters[1].Topics, func(ts *[]snapshot.Topic) {
			for i := range *ts {
				(*ts)[i].ID = "anew"
			}
		})
	})
	for i := range as {
		as[i].Range = nil
	}
	plan.RangesFrom(old, anew, w.Positions(), as)
	for _, a := range as {
		if a.Range != nil || !strings.Contains(a.Why, "made anew") {
			t.Errorf("%+v", a)
		}
	}
}

func TestLostSnapshotOfOthers(t *testing.T) {
	for name, change := range map[string]func(*snapshot.Snapshot){
		"target cluster": func(s *snapshot.Snapshot) { s.Clusters[1].ID = snapshot.Is("other") },
		"flow":           func(s *snapshot.Snapshot) { s.Flows[0].Source = "x" },
	} {
		p := build(t, world(lost), plan.Selection{SourceLost: true, Bundle: world(change)}, givenUp)
		if g := groupOf(t, p, "payments"); g.Refusal != 703 {
			t.Errorf("%s: %+v", name, g)
		}
	}
	s := &plan.State{Flow: "a->b", TargetID: "cluster-of-b", SourceID: "third"}
	if g := groupOf(t, build(t, world(lost), plan.Selection{SourceLost: true, Bundle: world(), State: s}, givenUp), "payments"); g.Refusal != 703 {
		t.Errorf("%+v", g)
	}
}

// A checkpoint of a copy that was deleted since is none.
func TestLostCheckpointOfACopyBefore(t *testing.T) {
	for _, c := range []struct {
		name string
		sel  plan.Selection
		to   bool
	}{
		{"a state file of later knows another id", plan.Selection{State: &plan.State{Flow: "a->b", Positions: []plan.StatePartition{{Group: "x", Topic: "orders", TargetTopic: "a.orders", TargetTopicID: "before", Target: -1, Time: 1_700_000_000_000}}}}, false},
		{"one of before the checkpoint says nothing", plan.Selection{State: &plan.State{Flow: "a->b", Positions: []plan.StatePartition{{Group: "x", Topic: "orders", TargetTopic: "a.orders", TargetTopicID: "before", Target: -1, Time: 1}}}}, true},
		{"a captured snapshot of later", plan.Selection{Bundle: world(func(s *snapshot.Snapshot) {
			edit(&s.Clusters[1].Topics, func(ts *[]snapshot.Topic) {
				for i := range *ts {
					(*ts)[i].ID = "before"
				}
			})
		})}, false},
	} {
		c.sel.SourceLost, c.sel.Groups = true, []string{"payments"}
		r := rowOf(t, build(t, world(lost), c.sel, givenUp), "payments", 0)
		if (r.To != nil) != c.to || !c.to && r.Refusal != 709 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// Nothing is written twice, and a name that was given in vain is told.
func TestMapsThatCollide(t *testing.T) {
	two := group(0, "payments", offsets(at("orders", 0, 998400), at("second", 0, 5)))
	second := func(s *snapshot.Snapshot) {
		edit(&s.Clusters[0].Topics, func(ts *[]snapshot.Topic) {
			*ts = append(*ts, snapshot.Topic{Name: "second", Partitions: []snapshot.Partition{{Start: snapshot.Is[int64](0), End: snapshot.Is[int64](10)}}})
		})
	}
	p := build(t, world(two, second), plan.Selection{Groups: []string{"payments"}, TopicMap: map[string]string{"second": "a.orders"}}, nil)
	if g := groupOf(t, p, "payments"); g.Refusal != 709 || !strings.Contains(g.Because, "orders-0 and in second-0 both lead to a.orders-0 on b") {
		t.Errorf("%+v", g)
	}
	other := ""
	for _, g := range build(t, world(), plan.Selection{}, nil).Groups {
		if g.Group != "payments" {
			other = g.Group
		}
	}
	p = build(t, world(), plan.Selection{GroupMap: map[string]string{"payments": other}}, nil)
	for _, id := range []string{"payments", other} {
		if g := groupOf(t, p, id); g.Refusal != 709 || !strings.Contains(g.Because, "would both be written to group "+other) {
			t.Errorf("%+v", g)
		}
	}
	p = build(t, world(second), plan.Selection{Groups: []string{"payments"}, TopicMap: map[string]string{"second": "x"}}, nil)
	if len(p.Findings) != 1 || p.Findings[0].Code != 217 || !strings.Contains(p.Findings[0].Because, "--topic-map second=x: no group in this plan") {
		t.Errorf("%+v", p.Findings)
	}
}

// A wish that goes back says how much is read again: from there to where the group is, and not from the position on.
func TestWishBackCounts(t *testing.T) {
	there := func(s *snapshot.Snapshot) { group(1, "payments", offsets(at("a.orders", 0, 899000)))(s) }
	p := build(t, world(there), plan.Selection{Wished: []plan.Wish{{Group: "payments", Topic: "a.orders", Offset: 890000, Line: 1}}}, func(p plan.Position) plan.Answer {
		return plan.Answer{Target: &match.Bounds{Stable: 900000, End: 900000}, Records: &match.Answer{T: 898400, Low: 898400, High: 898400, Verdict: match.Exact},
			Also: []plan.Count{{Offset: 899000, Skipped: 600, Known: true}, {Offset: 890000, ReRead: 8400, Known: true}}}
	})
	if r := rowOf(t, p, "payments", 0); r.Refusal != 704 || !strings.Contains(r.Because, "from 899000 to 890000, and read 9000 records (again)") {
		t.Errorf("%+v", r)
	}
}

// A group that is refused for now has been found all the same: the state file keeps its place.
func TestStateOfRefused(t *testing.T) {
	p := build(t, world(func(s *snapshot.Snapshot) { group(1, "payments", offsets(at("a.orders", 0, 899000)))(s) }), plan.Selection{Groups: []string{"payments"}}, func(p plan.Position) plan.Answer {
		at := p.Offset
		if p.From.Partition == 0 {
			at -= 100000
		}
		return plan.Answer{Target: &match.Bounds{Stable: 900000, End: 900000}, Records: &match.Answer{T: at, Low: at, High: at, Verdict: match.Exact}}
	})
	if g := groupOf(t, p, "payments"); g.Refusal != 704 {
		t.Fatalf("%+v", g)
	}
	s := plan.StateOf(p)
	if len(s.Positions) == 0 || s.Positions[0].Target != 898400 || s.Positions[0].Verdict != "exact" {
		t.Errorf("%+v", s.Positions)
	}
}

// What maps nowhere because the other side could not be read is not left in silence.
func TestLeftForWantOfReading(t *testing.T) {
	look := func(unread string) look {
		return func(p plan.Position) plan.Answer {
			return plan.Answer{Target: &match.Bounds{Stable: 900000, End: 900000}, Why: "nothing was compared", Unread: unread}
		}
	}
	gone := func(s *snapshot.Snapshot) {
		s.Flows[0].Syncs = snapshot.None[snapshot.Syncs]()
		s.Flows[0].Checkpointed = snapshot.Is(snapshot.Checkpoints{})
	}
	leave := plan.Selection{Groups: []string{"payments"}, Options: plan.Options{Fallback: "leave", AllowRewind: true}}
	p := build(t, world(gone), leave, look("cluster a: ListOffsets failed: no progress within the timeout"))
	if r := rowOf(t, p, "payments", 0); r.Action != plan.Refused || !strings.Contains(r.Because, "no progress within the timeout") {
		t.Errorf("%+v", r)
	}
}
