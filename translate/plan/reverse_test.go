package plan_test

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// failback is a world after a failover: the group has read on on b, on a copy and on a topic of b's own.
func failback(change ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return world(append([]func(*snapshot.Snapshot){
		group(1, "payments", offsets(at("a.orders", 0, 899000), at("local", 0, 40))), addTopic(1, "local", 100), addTopic(0, "b.local", 90)}, change...)...)
}

func flowBack(s *snapshot.Snapshot) {
	s.Flows = append(s.Flows, snapshot.Flow{Source: "b", Target: "a", Policy: snapshot.Policy{Separator: "."}, SyncsOn: "b", SyncsTopic: "mm2-offset-syncs.a.internal",
		Syncs:        snapshot.Is(snapshot.Syncs{Cluster: "b", Topic: "mm2-offset-syncs.a.internal"}),
		Checkpointed: snapshot.Is(snapshot.Checkpoints{Newest: []snapshot.Checkpoint{{Group: "payments", Topic: "b.local", Up: 40, Down: 35}}})})
}

// found answers by the topic that is looked in.
func found(by map[string]match.Answer, ends match.Bounds) look {
	return func(p plan.Position) plan.Answer {
		a := plan.Answer{Target: &ends}
		if m, ok := by[p.To.Topic]; ok {
			a.Records = &m
		}
		return a
	}
}

func exactly(n int64) match.Answer { return match.Answer{T: n, Low: n, High: n, Verdict: match.Exact} }

func TestReverse(t *testing.T) {
	ends := match.Bounds{Start: 0, Stable: 1000000, End: 1000000}
	l := found(map[string]match.Answer{"orders": exactly(999000), "b.local": exactly(38)}, ends)
	sel := plan.Selection{Flow: "a->b", Reverse: true, Groups: []string{"payments"}, Options: plan.Options{}}

	w := wanted(t, failback(flowBack), sel)
	if len(w.Positions()) != 2 {
		t.Fatalf("%+v", w.Positions())
	}
	copied, own := w.Positions()[0], w.Positions()[1]
	if copied.From.Cluster != "b" || copied.From.String() != "a.orders-0" || copied.To.Cluster != "a" || copied.To.String() != "orders-0" || !copied.Syncs.Swapped || copied.Syncs.Flow != "a->b" || copied.Syncs.Of.String() != "orders-0" || copied.Syncs.Cluster != "a" {
		t.Errorf("copy: %+v", copied)
	}
	if own.To.String() != "b.local-0" || own.Syncs.Swapped || own.Syncs.Flow != "b->a" || own.Syncs.Cluster != "b" || own.Syncs.Of.String() != "local-0" {
		t.Errorf("own topic: %+v", own)
	}
	p := build(t, failback(flowBack), sel, l)
	if g := groupOf(t, p, "payments"); g.Action != plan.Set || *g.Rows[0].To != 999000 || *g.Rows[1].To != 38 || p.From.Alias != "b" || p.To.Alias != "a" || p.Direction != "reverse" || g.Rows[0].MM2Why == "" || g.Holds.Status != "unknown" {
		t.Errorf("%+v", g)
	}

	// Without a flow back b's own topic leads nowhere.
	p = build(t, failback(), sel, l)
	if r := rowOf(t, p, "payments", 0); r.Topic != "a.orders" || r.Action != plan.Set {
		t.Errorf("%+v", r)
	}
	if g := groupOf(t, p, "payments"); g.Rows[1].Refusal != 709 || !strings.Contains(g.Rows[1].Because, "no flow mirrors it back") || g.Holds.Status != "holds" {
		t.Errorf("%+v", g)
	}
}

// TestReverseNotMirroredBack: records that were read on b and are not on a.
func TestReverseNotMirroredBack(t *testing.T) {
	p := build(t, failback(flowBack), plan.Selection{Flow: "a->b", Reverse: true, Groups: []string{"payments"}}, found(map[string]match.Answer{"orders": exactly(999000), "b.local": {T: 90, Low: 90, High: 90, Verdict: match.NotMirrored, Uncopied: 7, Why: "7 records lack"}}, match.Bounds{End: 1000000, Stable: 1000000}))
	g := groupOf(t, p, "payments")
	if r := g.Rows[1]; r.Refusal != 709 || !strings.Contains(r.Because, "7 records of local-0 on b that are not on a") || g.Action != plan.Set {
		t.Errorf("%+v", r)
	}
	if f := p.Findings[len(p.Findings)-1]; p.Findings[0].Slug != "not-mirrored-back" && f.Slug != "not-mirrored-back" {
		t.Errorf("%+v", p.Findings)
	}
}

// TestReverseIdentity: with one name on both sides the records decide, since others may have written to the copy.
func TestReverseIdentity(t *testing.T) {
	s := world(addTopic(1, "orders", 900000, 500), group(1, "payments", offsets(at("orders", 0, 899000))), flow(func(f *snapshot.Flow) { f.Policy.Class = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy" }))
	w := wanted(t, s, plan.Selection{Reverse: true, Groups: []string{"payments"}})
	if p := w.Positions(); len(p) != 1 || p[0].To.Topic != "orders" || !p[0].Syncs.OneTopic || !p[0].Syncs.Swapped {
		t.Errorf("%+v", p)
	}
	w = wanted(t, s, plan.Selection{Groups: []string{"payments"}})
	if p := w.Positions(); len(p) != 2 || p[0].To.Topic != "orders" || !p[0].Syncs.OneTopic || p[0].Syncs.Swapped {
		t.Errorf("%+v", p)
	}
}

// lost is a world whose source does not answer any more.
func lost(s *snapshot.Snapshot) {
	s.Clusters[0] = snapshot.Cluster{Alias: "a", Topics: snapshot.NotKnown[[]snapshot.Topic](gap), Groups: snapshot.NotKnown[[]snapshot.Group](gap), ID: snapshot.NotKnown[string](gap)}
	s.Flows[0].Syncs = snapshot.NotKnown[snapshot.Syncs](gap)
}

func TestSourceLost(t *testing.T) {
	none := func(p plan.Position) plan.Answer {
		end := int64(900000)
		if p.To.Partition == 1 {
			end = 500
		}
		return plan.Answer{Target: &match.Bounds{Stable: end, End: end}, Why: "the source is given up"}
	}
	if _, err := plan.Wanted(world(lost), nil, plan.Selection{}); err == nil || !strings.Contains(err.Error(), "--source-lost") {
		t.Errorf("%v", err)
	}
	// Checkpoints alone.
	p := build(t, world(lost), plan.Selection{SourceLost: true}, none)
	r := rowOf(t, p, "payments", 0)
	if *r.To != 896901 || r.Basis != "checkpoint" || r.FromBasis != "checkpoint" || r.FromAgeMs != 101_000 || r.From.Offset != 998400 || r.From.Metadata != "m" || !strings.Contains(r.Evidence, "equal to MirrorMaker 2's last checkpoint, 101 s old: nothing better exists") || !p.From.Lost || r.ReReadUpTo != 3099 {
		t.Errorf("%+v", r)
	}
	// A release that counts on may have skipped.
	p = build(t, world(lost, func(s *snapshot.Snapshot) { s.MM2Version = "3.3.1" }), plan.Selection{SourceLost: true}, none)
	if g := groupOf(t, p, "payments"); g.Refusal != 705 {
		t.Errorf("%+v", g)
	}
	// Syncs that can still be read, on the target.
	p = build(t, world(lost), plan.Selection{SourceLost: true}, func(p plan.Position) plan.Answer {
		a := none(p)
		if p.From.Partition == 0 {
			a.Range = &plan.Range{Low: p.Offset - 100010, High: p.Offset - 99990}
		}
		return a
	})
	if r := rowOf(t, p, "payments", 0); *r.To != 898390 || r.Basis != "range" {
		t.Errorf("%+v", r)
	}

	state := func(change func(*plan.StatePartition)) *plan.State {
		x := plan.StatePartition{Group: "payments", Topic: "orders", TargetTopic: "a.orders", TargetTopicID: "orders-on-b", Offset: 999000, Target: 899000, Verdict: "exact", Time: 1_700_000_000_500}
		change(&x)
		return &plan.State{Flow: "a->b", TargetID: "cluster-of-b", Positions: []plan.StatePartition{x}}
	}
	for _, c := range []struct {
		name   string
		change func(*plan.StatePartition)
		to     int64
		from   int64
		basis  string
	}{
		{"newer and exact", func(*plan.StatePartition) {}, 899000, 999000, "state"},
		{"older than the checkpoint", func(x *plan.StatePartition) { x.Time = 1 }, 896901, 998400, "checkpoint"},
		{"the copy was made anew", func(x *plan.StatePartition) { x.TargetTopicID = "before" }, -1, 999000, ""},
		{"not proved", func(x *plan.StatePartition) { x.Verdict = "ambiguous" }, 896901, 999000, "checkpoint"},
		{"beyond the end", func(x *plan.StatePartition) { x.Target = 900001 }, 896901, 999000, "checkpoint"},
		{"rewound since the checkpoint", func(x *plan.StatePartition) { x.Offset, x.Target, x.Verdict = 100, -1, "" }, -1, 100, ""},
	} {
		p := build(t, world(lost), plan.Selection{SourceLost: true, State: state(c.change)}, none)
		r := rowOf(t, p, "payments", 0)
		if r.From.Offset != c.from || r.Basis != c.basis || c.to >= 0 && (r.To == nil || *r.To != c.to) || c.to < 0 && r.Refusal != 709 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	for name, s := range map[string]*plan.State{"flow": {Flow: "x->y"}, "target": {Flow: "a->b", TargetID: "other"}} {
		if g := groupOf(t, build(t, world(lost), plan.Selection{SourceLost: true, State: s}, none), "payments"); g.Refusal != 703 {
			t.Errorf("a state file of another %s: %+v", name, g)
		}
	}
	// A bundle of before.
	b := world(group(0, "payments", offsets(at("orders", 0, 999900))))
	b.Taken += 500
	p = build(t, world(lost), plan.Selection{SourceLost: true, Bundle: b, Groups: []string{"payments", "nobody"}}, none)
	if r := rowOf(t, p, "payments", 0); r.FromBasis != "bundle" || r.From.Offset != 999900 || *r.To != 896901 || !strings.Contains(r.Evidence, "of an earlier position (998400)") || p.Findings[0].Code != 217 {
		t.Errorf("%+v %+v", r, p.Findings)
	}
}

func TestShares(t *testing.T) {
	open := int64(7)
	source := group(0, "workers", func(g *snapshot.Group) {
		g.Type = snapshot.Is(kafka.TypeShare)
		g.Shares = snapshot.Is([]snapshot.SharePosition{{Topic: "orders", Partition: 1, Start: 100, Lag: 20, End: 500}})
	})
	with := func(x snapshot.SharePosition) func(*snapshot.Snapshot) {
		return group(0, "workers", func(g *snapshot.Group) {
			x.Topic, x.Partition = "orders", 1
			g.Shares = snapshot.Is([]snapshot.SharePosition{x})
		})
	}
	l := func(p plan.Position) plan.Answer {
		at := p.Offset
		if p.From.Partition == 0 {
			at -= 100
		}
		return plan.Answer{Target: &match.Bounds{Stable: 900000, End: 900000}, Records: &match.Answer{T: at, Low: at, High: at, Verdict: match.Exact}}
	}
	for _, c := range []struct {
		name     string
		x        snapshot.SharePosition
		to, upTo int64
	}{
		{"a bound: the low end", snapshot.SharePosition{Start: 100, Lag: 20, End: 500}, 100, 380},
		{"all done", snapshot.SharePosition{Start: 100, Lag: 0, End: 500}, 500, 0},
		{"the lowest open record", snapshot.SharePosition{Start: 5, Lag: 20, End: 500, Open: &open}, 7, 0},
		{"no lag told", snapshot.SharePosition{Start: 100, Lag: -1, End: 500}, 100, 400},
		{"never read", snapshot.SharePosition{Start: -1, Lag: -1, End: -1}, 0, 500},
	} {
		p := build(t, world(source, with(c.x)), plan.Selection{Groups: []string{"workers"}}, l)
		g := groupOf(t, p, "workers")
		if len(g.Rows) != 2 || g.Action != plan.Set || len(g.Remarks) == 0 || g.Holds.Status != "holds" { // partition 0 too: one that is left out begins at the end
			t.Fatalf("%s: %+v", c.name, g)
		}
		if r := g.Rows[1]; *r.To != c.to || r.ReReadUpTo != c.upTo {
			t.Errorf("%s: %+v", c.name, r)
		}
		if r := g.Rows[0]; r.From.Offset != 100 || *r.To != 0 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	for name, c := range map[string]struct {
		change func(*snapshot.Snapshot)
		code   int
	}{
		"4.1":               {func(s *snapshot.Snapshot) { s.Clusters[1].Version = snapshot.Is("4.1") }, 707},
		"release not known": {func(s *snapshot.Snapshot) { s.Clusters[1].Version = snapshot.NotKnown[string](gap) }, 707},
		"classic there":     {group(1, "workers", func(*snapshot.Group) {}), 707},
		"not read":          {group(0, "workers", func(g *snapshot.Group) { g.Shares = snapshot.NotKnown[[]snapshot.SharePosition](gap) }), 709},
		"a partition without a copy": {topic(1, func(x *snapshot.Topic) {
			x.Partitions = x.Partitions[1:]
		}), 709},
	} {
		if g := groupOf(t, build(t, world(source, c.change), plan.Selection{Groups: []string{"workers"}}, l), "workers"); int(g.Refusal) != c.code {
			t.Errorf("%s: %+v", name, g)
		}
	}
	p := build(t, world(source, group(1, "workers", func(g *snapshot.Group) {
		g.Type = snapshot.Is(kafka.TypeShare)
		g.Shares = snapshot.Is([]snapshot.SharePosition{{Topic: "a.orders", Partition: 1, Start: 450}})
	})), plan.Selection{Groups: []string{"workers"}}, l)
	if g := groupOf(t, p, "workers"); g.Refusal != 704 {
		t.Errorf("%+v", g)
	}
}

// TestSharesThere: setting a start wipes what was acknowledged beyond it, so that a start that stands where it is to be is not yet
// right, and one below what was done takes the group back.
func TestSharesThere(t *testing.T) {
	source := group(0, "workers", func(g *snapshot.Group) {
		g.Type = snapshot.Is(kafka.TypeShare)
		g.Shares = snapshot.Is([]snapshot.SharePosition{{Topic: "orders", Partition: 0, Start: 0, Lag: 0, End: 300}, {Topic: "orders", Partition: 1, Start: 0, Lag: 0, End: 300}})
	})
	l := func(p plan.Position) plan.Answer {
		return plan.Answer{Target: &match.Bounds{Stable: 500, End: 500}, Records: &match.Answer{T: p.Offset, Low: p.Offset, High: p.Offset, Verdict: match.Exact}}
	}
	at := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name   string
		there  snapshot.SharePosition
		allow  bool
		action plan.Action
	}{
		{"nothing done since", snapshot.SharePosition{Start: 300, Lag: 200, End: 500}, false, plan.Right},
		{"the same, told by its state", snapshot.SharePosition{Start: 300, Lag: -1, End: 500, Open: at(300)}, false, plan.Right},
		{"begun below, not as far", snapshot.SharePosition{Start: 0, Lag: 300, End: 500}, false, plan.Set},
		{"ten records done since", snapshot.SharePosition{Start: 300, Lag: 190, End: 500}, false, plan.Refused},
		{"begun below, further", snapshot.SharePosition{Start: 0, Lag: 100, End: 500}, false, plan.Refused},
		{"further by its state", snapshot.SharePosition{Start: 0, Lag: -1, End: 500, Open: at(301)}, false, plan.Refused},
		{"ten records done since, allowed", snapshot.SharePosition{Start: 300, Lag: 190, End: 500}, true, plan.Set},
		{"not begun", snapshot.SharePosition{Start: -1, Lag: -1, End: 500}, false, plan.Set},
	} {
		p := build(t, world(source, group(1, "workers", func(g *snapshot.Group) {
			g.Type = snapshot.Is(kafka.TypeShare)
			x := c.there
			x.Topic = "a.orders"
			y := x
			y.Partition = 1
			g.Shares = snapshot.Is([]snapshot.SharePosition{x, y})
		})), plan.Selection{Groups: []string{"workers"}, Options: plan.Options{AllowRewind: c.allow}}, l)
		g := groupOf(t, p, "workers")
		if g.Action != c.action || c.action == plan.Refused && g.Refusal != 704 {
			t.Errorf("%s: %s %s %s", c.name, g.Action, g.Refusal, g.Because)
		}
		if lag := g.Rows[1].BeforeLag; (lag != nil) != (c.there.Lag >= 0 && c.there.Start >= 0) || lag != nil && *lag != c.there.Lag {
			t.Errorf("%s: lag %v", c.name, lag)
		}
	}
	p := build(t, world(source, group(1, "workers", func(g *snapshot.Group) {
		g.Type, g.Shares = snapshot.Is(kafka.TypeShare), snapshot.NotKnown[[]snapshot.SharePosition](gap)
	})), plan.Selection{Groups: []string{"workers"}}, l)
	if g := groupOf(t, p, "workers"); g.Refusal != 704 || !strings.Contains(g.Because, "is not known") {
		t.Errorf("%+v", g)
	}
}

func TestStreamsAndExpiry(t *testing.T) {
	s := world(group(0, "payments", func(g *snapshot.Group) {
		g.Offsets = snapshot.Is([]snapshot.Committed{{Topic: "orders", Partition: 1, Offset: 301, Epoch: -1, Metadata: "AgAAAYvPf2gA"}})
	}), group(1, "payments", func(g *snapshot.Group) { g.ProtocolType, g.Since = "consumer", 1_699_900_000_000 }))
	l := only(plan.Answer{Target: log500, Records: &match.Answer{T: 301, Low: 301, High: 301, Verdict: match.Exact}})
	g := groupOf(t, build(t, s, plan.Selection{}, l), "payments")
	if g.Rows[0].Action != plan.Set || g.Rows[0].From.Metadata != "AgAAAYvPf2gA" || len(g.Remarks) != 2 || !strings.Contains(g.Remarks[0], "for 27 h now") || !strings.Contains(g.Remarks[1], "state stores are not") {
		t.Errorf("%+v", g)
	}
	g = groupOf(t, build(t, s, plan.Selection{Options: plan.Options{KeepMs: 1}}, l), "payments")
	if len(g.Remarks) != 1 {
		t.Errorf("%+v", g.Remarks)
	}
	if r := rowOf(t, build(t, world(), plan.Selection{Options: plan.Options{KeepMs: 1}}, nil), "billing", 1); r.Action != plan.Set {
		t.Errorf("an offset that is to be kept is written again: %+v", r)
	}
}
