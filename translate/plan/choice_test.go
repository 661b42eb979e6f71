package plan_test

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/plans"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"pgregory.net/rapid"
)

// only answers payments orders-1 (U = 400, T = 301, log [0, 500) on both) with one answer, everything else with the truth.
func only(a plan.Answer) look {
	return func(p plan.Position) plan.Answer {
		if p.Group == "payments" && p.From.Partition == 1 {
			return a
		}
		return plans.Truth(p)
	}
}

var log500 = &match.Bounds{Start: 0, Stable: 500, End: 500}

func noMM2(s *snapshot.Snapshot) {
	syncs(func(y *snapshot.Syncs) { y.Partitions[1].Topic = "zother" })(s)
}

func noCheckpoint(s *snapshot.Snapshot) {
	checkpoints(func(c *snapshot.Checkpoints) { c.Newest = c.Newest[:2] })(s)
}

func TestChoice(t *testing.T) {
	records := func(v match.Verdict, at, high int64) *match.Answer {
		return &match.Answer{T: at, Low: at, High: high, Verdict: v, Between: high - at, Why: "because"}
	}
	for _, c := range []struct {
		name       string
		options    plan.Options
		change     []func(*snapshot.Snapshot)
		answer     plan.Answer
		to         int64 // -1: none
		basis      string
		verdict    string
		upTo, gone int64
		refusal    finding.Code
		action     plan.Action
	}{
		{name: "records, exact", answer: plan.Answer{Target: log500, Records: records(match.Exact, 400, 400)}, to: 400, basis: "records", verdict: "exact"},
		{name: "records, a repeat is possible", answer: plan.Answer{Target: log500, Records: records(match.ExactRepeat, 400, 400)}, to: 400, basis: "records", verdict: "exact, a later repeat is not excluded"},
		{name: "records, ambiguous: the low end", answer: plan.Answer{Target: log500, Records: records(match.Ambiguous, 390, 400)}, to: 390, basis: "records", verdict: "ambiguous", upTo: 10},
		{name: "records win over the range", answer: plan.Answer{Target: log500, Records: records(match.Exact, 400, 400), Range: &plan.Range{Low: 350, High: 450}}, to: 400, basis: "records", verdict: "exact"},
		{name: "records beyond the budget: the range", answer: plan.Answer{Target: log500, Records: records(match.Unverified, 310, 500), Range: &plan.Range{Low: 350, High: 450, Below: &translate.Sync{Upstream: 300, Downstream: 349, Offset: 7}}}, to: 350, basis: "range", verdict: "bound", upTo: 100},
		{name: "records beyond the budget came further than the range", answer: plan.Answer{Target: log500, Records: records(match.Unverified, 380, 500), Range: &plan.Range{Low: 350, High: 450}}, to: 380, basis: "range", verdict: "bound", upTo: 70},
		{name: "records contradict the syncs, and so MirrorMaker 2's own number", options: plan.Options{AllowRewind: true}, answer: plan.Answer{Target: log500, Records: &match.Answer{T: 120, Low: 120, High: 500, Between: 380, Refuted: true}}, to: 120, basis: "records", verdict: "unverified", upTo: 380},
		{name: "range, one place", answer: plan.Answer{Target: log500, Range: &plan.Range{Low: 400, High: 400}}, to: 400, basis: "range", verdict: "exact"},
		{name: "gone", answer: plan.Answer{Target: &match.Bounds{Start: 420, Stable: 500, End: 500}, Records: &match.Answer{T: 420, Low: 420, High: 420, Verdict: match.Gone, Gone: 20}}, to: 420, basis: "start", verdict: "gone", gone: 20},
		{name: "below the log start", answer: plan.Answer{Target: &match.Bounds{Start: 420, Stable: 500, End: 500}, Range: &plan.Range{Low: 350, High: 450}}, to: 420, basis: "range", verdict: "bound", upTo: 80, gone: 70},
		{name: "beyond the end", answer: plan.Answer{Target: &match.Bounds{Start: 0, Stable: 380, End: 380}, Range: &plan.Range{Low: 400, High: 450}}, to: 380, basis: "range", verdict: "bound"},
		{name: "nothing but MirrorMaker 2", answer: plan.Answer{Target: log500, Why: "budget"}, to: 301, basis: "mm2", verdict: "bound", upTo: 199, action: plan.Right},
		{name: "nothing but a checkpoint", change: []func(*snapshot.Snapshot){noMM2}, answer: plan.Answer{Target: log500, Why: "budget"}, to: 301, basis: "checkpoint", verdict: "bound", upTo: 199, action: plan.Right},
		{name: "a checkpoint of a later position does not count", change: []func(*snapshot.Snapshot){noMM2, checkpoints(func(c *snapshot.Checkpoints) { c.Newest[2].Up = 401 })}, answer: plan.Answer{Target: log500, Why: "budget"}, to: -1, refusal: 709},
		{name: "a release that counts on may skip", change: []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) { s.MM2Version = "2.8.2" }}, answer: plan.Answer{Target: log500, Why: "budget"}, to: -1, refusal: 705},
		{name: "nothing", change: []func(*snapshot.Snapshot){noMM2, noCheckpoint}, answer: plan.Answer{Target: log500, Why: "nothing agrees"}, to: -1, refusal: 709},
		{name: "nothing, left", options: plan.Options{Fallback: "leave"}, change: []func(*snapshot.Snapshot){noMM2, noCheckpoint}, answer: plan.Answer{Target: log500}, to: -1, action: plan.Leave},
		{name: "nothing, earliest", options: plan.Options{Fallback: "earliest", AllowRewind: true}, change: []func(*snapshot.Snapshot){noMM2, noCheckpoint}, answer: plan.Answer{Target: log500}, to: 0, basis: "fallback", verdict: "unverified", upTo: 500},
		{name: "nothing, latest skips", options: plan.Options{Fallback: "latest"}, change: []func(*snapshot.Snapshot){noMM2, noCheckpoint}, answer: plan.Answer{Target: log500}, to: -1, refusal: 705},
		{name: "nothing, latest allowed", options: plan.Options{Fallback: "latest", AllowSkip: true}, change: []func(*snapshot.Snapshot){noMM2, noCheckpoint}, answer: plan.Answer{Target: log500}, to: 500, basis: "fallback", verdict: "unverified"},
		{name: "nothing, a time", options: plan.Options{Fallback: "timestamp:1699999999000", AllowSkip: true}, change: []func(*snapshot.Snapshot){noMM2, noCheckpoint}, answer: plan.Answer{Target: log500, AtTime: ptr(320)}, to: 320, basis: "fallback", verdict: "unverified", upTo: 180},
		{name: "nothing, a time that was not answered", options: plan.Options{Fallback: "timestamp:1699999999000", AllowSkip: true}, change: []func(*snapshot.Snapshot){noMM2, noCheckpoint}, answer: plan.Answer{Target: log500}, to: -1, refusal: 709},
		{name: "log ends not known", change: []func(*snapshot.Snapshot){topic(1, func(x *snapshot.Topic) { x.Partitions[1].End = snapshot.NotKnown[int64](gap) })}, answer: plan.Answer{Range: &plan.Range{Low: 400, High: 400}}, to: -1, refusal: 709},
		{name: "back", answer: plan.Answer{Target: log500, Records: records(match.Exact, 300, 300)}, to: -1, refusal: 704},
		{name: "back, allowed", options: plan.Options{AllowRewind: true}, answer: plan.Answer{Target: log500, Records: records(match.Exact, 300, 300)}, to: 300, basis: "records", verdict: "exact"},
		{name: "below an offset beyond the end is no way back", change: []func(*snapshot.Snapshot){group(1, "payments", offsets(at("a.orders", 0, 896901), at("a.orders", 1, 700)))}, answer: plan.Answer{Target: log500, Records: records(match.Exact, 500, 500)}, to: 500, basis: "records", verdict: "exact"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, world(c.change...), plan.Selection{Options: c.options}, only(c.answer))
			r := rowOf(t, p, "payments", 1)
			if c.to < 0 {
				want := c.action
				if want == "" {
					want = plan.Refused
				}
				if r.To != nil || r.Action != want || r.Refusal != c.refusal {
					t.Errorf("%+v", r)
				}
				return
			}
			want := c.action
			if want == "" {
				want = plan.Set
			}
			if r.To == nil || *r.To != c.to || r.Basis != c.basis || r.Verdict != c.verdict || r.ReReadUpTo != c.upTo || r.Gone != c.gone || r.Action != want {
				t.Errorf("%+v", r)
			}
			if (c.gone > 0 || strings.Contains(c.name, "beyond the end")) && r.Action == plan.Set && *r.To != 500 && r.Clamped == "" {
				t.Errorf("nothing said of what the log's ends did: %+v", r)
			}
		})
	}
}

func ptr(n int64) *int64 { return &n }

// TestBeyondTheMirroredEnd is the published example's sibling: U behind the last mirrored record.
func TestBeyondTheMirroredEnd(t *testing.T) {
	p := build(t, world(group(0, "payments", offsets(at("orders", 0, 1000100)))), plan.Selection{}, nil)
	if r := rowOf(t, p, "payments", 0); *r.To != 900000 || r.NotMirrored != 100 || r.Basis != "end" || r.Action != plan.Set {
		t.Errorf("%+v", r)
	}
}

// TestEpochBesideTheOffset: an offset that is right is written again where the epoch beside it may lead consumers elsewhere (311).
func TestEpochBesideTheOffset(t *testing.T) {
	with := func(epoch int32, ends ...snapshot.EpochEnd) *plan.Row {
		s := world(group(1, "billing", func(g *snapshot.Group) {
			o := at("a.orders", 1, 500)
			o.Epoch = epoch
			g.Offsets = snapshot.Is([]snapshot.Committed{o})
		}), topic(1, func(x *snapshot.Topic) { x.Partitions[1].Epochs = snapshot.Is(ends) }))
		return rowOf(t, build(t, s, plan.Selection{}, nil), "billing", 1)
	}
	for _, c := range []struct {
		row  *plan.Row
		want plan.Action
	}{{with(-1), plan.Right}, {with(4, snapshot.EpochEnd{Asked: 4, Found: 4, End: 500}), plan.Right}, {with(2, snapshot.EpochEnd{Asked: 2, Found: 2, End: 300}), plan.Set}, {with(9, snapshot.EpochEnd{Asked: 9, Found: -1, End: -1}), plan.Set}, {with(4), plan.Set}} {
		if c.row.Action != c.want || c.want == plan.Set && c.row.Because == "" {
			t.Errorf("%+v, want %s", c.row, c.want)
		}
	}
}

// TestNeverOutsideNeverAbove: whatever is answered, To lies within the log, and above a proved place only at the log start.
func TestNeverOutsideNeverAbove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		start := rapid.Int64Range(0, 600).Draw(rt, "start")
		end := start + rapid.Int64Range(0, 600).Draw(rt, "length")
		a := plan.Answer{Target: &match.Bounds{Start: start, Stable: end, End: end}}
		exact := int64(-1)
		if rapid.Bool().Draw(rt, "records") {
			at := rapid.Int64Range(0, 1200).Draw(rt, "T")
			v := match.Verdict(rapid.IntRange(0, int(match.Gone)).Draw(rt, "verdict"))
			high := at
			if v <= match.Ambiguous {
				high += rapid.Int64Range(0, 100).Draw(rt, "width")
			} else {
				exact = at
			}
			a.Records = &match.Answer{T: at, Low: at, High: high, Verdict: v, Between: high - at}
		}
		if rapid.Bool().Draw(rt, "range") {
			low := rapid.Int64Range(0, 1200).Draw(rt, "low")
			a.Range = &plan.Range{Low: low, High: low + rapid.Int64Range(0, 50).Draw(rt, "span")}
		}
		o := plan.Options{AllowRewind: rapid.Bool().Draw(rt, "rewind"), AllowSkip: rapid.Bool().Draw(rt, "skip"), Fallback: rapid.SampledFrom([]string{"", "leave", "earliest", "latest"}).Draw(rt, "fallback")}
		p := build(t, world(), plan.Selection{Options: o}, only(a))
		r := rowOf(t, p, "payments", 1)
		if r.To != nil && exact >= 0 && *r.To > exact && *r.To != start {
			rt.Errorf("set to %d, above the proved %d: %+v", *r.To, exact, r)
		}
		if a.Records == nil && a.Range != nil && r.To != nil && *r.To > a.Range.Low && *r.To != start {
			rt.Errorf("set to %d, above the low end of the range %d", *r.To, a.Range.Low)
		}
		if t.Failed() {
			rt.Fatalf("unsound: %+v", r)
		}
	})
}
