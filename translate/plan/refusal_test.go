package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

func TestRefusals(t *testing.T) {
	state := func(st kafka.GroupState) func(*snapshot.Snapshot) {
		return group(1, "payments", func(g *snapshot.Group) { g.State = snapshot.Is(st) })
	}
	kind := func(cluster int, k kafka.GroupType) func(*snapshot.Snapshot) {
		return group(cluster, "payments", func(g *snapshot.Group) { g.Type = snapshot.Is(k) })
	}
	// Nothing but offset syncs and checkpoints can tell the direction.
	mute := func(s *snapshot.Snapshot) {
		topic(1, func(t *snapshot.Topic) { t.Name = "other" })(s)
		s.Flows[0].Heartbeat = snapshot.None[int64]()
	}
	version := func(v string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Clusters[1].Version = snapshot.Is(v) }
	}
	streams := plan.Options{IncludeStreams: true}
	for _, c := range []struct {
		name    string
		sel     plan.Selection
		change  []func(*snapshot.Snapshot)
		refusal finding.Code // of payments; 0: it is set
		because string
	}{
		{name: "nothing wrong"},
		{name: "Stable", change: []func(*snapshot.Snapshot){state(kafka.StateStable)}, refusal: 701, because: "Stable on b"},
		{name: "Assigning", change: []func(*snapshot.Snapshot){state(kafka.StateAssigning)}, refusal: 701},
		{name: "NotReady", change: []func(*snapshot.Snapshot){state(kafka.StateNotReady)}, refusal: 701},
		{name: "a state of tomorrow", change: []func(*snapshot.Snapshot){state("Brooding")}, refusal: 701},
		{name: "Dead is absent", change: []func(*snapshot.Snapshot){state(kafka.StateDead)}},
		{name: "absent", change: []func(*snapshot.Snapshot){drop(1, "payments")}},
		{name: "absent as far as may be seen", change: []func(*snapshot.Snapshot){drop(1, "payments"), func(s *snapshot.Snapshot) { s.Clusters[1].GroupsComplete = snapshot.NotKnown[bool](gap) }}, refusal: 701, because: "not known"},
		{name: "state not known", change: []func(*snapshot.Snapshot){group(1, "payments", func(g *snapshot.Group) { g.State = snapshot.NotKnown[kafka.GroupState](gap) })}, refusal: 701, because: "no answer"},
		{name: "same cluster", change: []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) { s.Clusters[1].ID = s.Clusters[0].ID }}, refusal: 703, because: "same cluster"},
		{name: "share there", change: []func(*snapshot.Snapshot){kind(1, kafka.TypeShare)}, refusal: 707},
		{name: "consumer there, classic here", change: []func(*snapshot.Snapshot){kind(1, kafka.TypeConsumer)}},
		{name: "streams there", change: []func(*snapshot.Snapshot){kind(1, kafka.TypeStreams)}, refusal: 707, because: "streams"},
		{name: "streams there, asked for", sel: plan.Selection{Options: streams}, change: []func(*snapshot.Snapshot){kind(1, kafka.TypeStreams)}},
		{name: "streams there, consumer here", sel: plan.Selection{Options: streams}, change: []func(*snapshot.Snapshot){kind(0, kafka.TypeConsumer), kind(1, kafka.TypeStreams)}, refusal: 707},
		{name: "streams on both, asked for", sel: plan.Selection{Options: streams}, change: []func(*snapshot.Snapshot){kind(0, kafka.TypeStreams), kind(1, kafka.TypeStreams)}},
		{name: "streams, absent there, 4.2", sel: plan.Selection{Options: streams}, change: []func(*snapshot.Snapshot){kind(0, kafka.TypeStreams), drop(1, "payments")}},
		{name: "streams, absent there, 4.1", sel: plan.Selection{Options: streams}, change: []func(*snapshot.Snapshot){kind(0, kafka.TypeStreams), drop(1, "payments"), version("4.1")}, refusal: 707, because: "4.1"},
		{name: "streams, absent there, release not known", sel: plan.Selection{Options: streams}, change: []func(*snapshot.Snapshot){kind(0, kafka.TypeStreams), drop(1, "payments"), func(s *snapshot.Snapshot) { s.Clusters[1].Version = snapshot.NotKnown[string](gap) }}, refusal: 707, because: "not known"},
		{name: "type not read", change: []func(*snapshot.Snapshot){group(1, "payments", func(g *snapshot.Group) { g.Type = snapshot.NotKnown[kafka.GroupType](gap) })}, refusal: 707, because: "not known"},
		{name: "offsets there not read", change: []func(*snapshot.Snapshot){group(1, "payments", func(g *snapshot.Group) { g.Offsets = snapshot.NotKnown[[]snapshot.Committed](gap) })}, refusal: 704, because: "not known"},
		{name: "offsets here not read", change: []func(*snapshot.Snapshot){group(0, "payments", func(g *snapshot.Group) { g.Offsets = snapshot.NotKnown[[]snapshot.Committed](gap) })}, refusal: 709, because: "not known"},
		{name: "no syncs, no checkpoints, the names of copies prove the direction", change: []func(*snapshot.Snapshot){flow(func(f *snapshot.Flow) {
			f.Syncs, f.Checkpointed, f.Heartbeat = snapshot.None[snapshot.Syncs](), snapshot.None[snapshot.Checkpoints](), snapshot.None[int64]()
		})}},
		{name: "no syncs, no checkpoints, heartbeats of the flow prove the direction", change: []func(*snapshot.Snapshot){mute, flow(func(f *snapshot.Flow) {
			f.Syncs, f.Checkpointed, f.Heartbeat = snapshot.None[snapshot.Syncs](), snapshot.None[snapshot.Checkpoints](), snapshot.Is(int64(1))
		})}, refusal: 709},
		{name: "no syncs, no checkpoints, no copies", change: []func(*snapshot.Snapshot){mute, flow(func(f *snapshot.Flow) {
			f.Syncs, f.Checkpointed = snapshot.None[snapshot.Syncs](), snapshot.None[snapshot.Checkpoints]()
		})}, refusal: 713, because: "nothing proves"},
		{name: "neither readable", change: []func(*snapshot.Snapshot){mute, flow(func(f *snapshot.Flow) {
			f.Syncs, f.Checkpointed = snapshot.NotKnown[snapshot.Syncs](gap), snapshot.NotKnown[snapshot.Checkpoints](gap)
		})}, refusal: 713, because: "could not be read"},
		{name: "checkpoints alone prove the direction", change: []func(*snapshot.Snapshot){flow(func(f *snapshot.Flow) { f.Syncs = snapshot.NotKnown[snapshot.Syncs](gap) })}},
		{name: "checkpoints on the source", change: []func(*snapshot.Snapshot){flow(func(f *snapshot.Flow) {
			f.Syncs, f.Checkpointed = snapshot.None[snapshot.Syncs](), snapshot.None[snapshot.Checkpoints]()
			f.CheckpointsElsewhere = snapshot.Is(snapshot.TopicRef{Cluster: "a", Topic: "a.checkpoints.internal"})
		})}, refusal: 713, because: "lie on a"},
		{name: "one topic made anew is no exchange", change: []func(*snapshot.Snapshot){syncs(func(y *snapshot.Syncs) { y.Partitions[0].Newest.Down = 950000; y.Partitions[1].Newest.Down = 700 })}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := groupOf(t, build(t, world(c.change...), c.sel, nil), "payments")
			if c.refusal == 0 && g.Action != plan.Set || c.refusal != 0 && (g.Action != plan.Refused || g.Refusal != c.refusal) || !strings.Contains(g.Because, c.because) {
				t.Errorf("%s %v: %s", g.Action, g.Refusal, g.Because)
			}
			// What would be set is told where it is known all the same.
			known := c.refusal != 0 && c.refusal != 709 && c.refusal != 703 && c.refusal != 713 && len(g.Rows) > 0 && !strings.Contains(c.name, "not read")
			if known && (g.Rows[0].Would == nil || *g.Rows[0].Would != 898400) {
				t.Errorf("would be %v", g.Rows[0].Would)
			}
		})
	}
}

// TestPartitionsOfAGroup: one without a mapping does not keep the others from being set, unless all or nothing is asked for.
func TestPartitionsOfAGroup(t *testing.T) {
	s := func() *snapshot.Snapshot {
		return world(group(0, "payments", offsets(at("orders", 0, 998400), at("orders", 7, 3))))
	}
	p := build(t, s(), plan.Selection{}, nil)
	g := groupOf(t, p, "payments")
	if g.Action != plan.Set || rowOf(t, p, "payments", 7).Refusal != 709 || rowOf(t, p, "payments", 0).Action != plan.Set || p.Summary.Refused != 1 || p.Summary.RefusedGroups != 0 {
		t.Errorf("%+v", g)
	}
	p = build(t, s(), plan.Selection{Options: plan.Options{AllOrNothing: true}}, nil)
	if p.Summary.Set+p.Summary.Right != 0 || p.Summary.RefusedGroups != 2 || !strings.Contains(groupOf(t, p, "billing").Because, "payments") {
		t.Errorf("%+v", p.Summary)
	}
}

// TestFiftyGroups: 49 are set beside one that has members.
func TestFiftyGroups(t *testing.T) {
	var change []func(*snapshot.Snapshot)
	for i := range 50 {
		change = append(change, group(0, "g"+string(rune('A'+i)), offsets(at("orders", 1, int64(i)+100))))
	}
	change = append(change, group(1, "gC", func(g *snapshot.Group) { g.State = snapshot.Is(kafka.StateStable) }))
	p := build(t, world(change...), plan.Selection{Groups: []string{"g*"}}, nil)
	if p.Summary.Set != 49 || p.Summary.RefusedGroups != 1 || p.Scope.Groups != 50 || p.Scope.Of != 52 || len(p.Findings) != 1 || p.Findings[0].Subject.Group != "gC" {
		t.Errorf("%+v %+v", p.Summary, p.Findings)
	}
}

// TestSeemsConsumed: an empty group that moved, and by whom.
func TestSeemsConsumed(t *testing.T) {
	moved := func(from, to int64, checkpoint func(*snapshot.Checkpoints)) finding.Code {
		s := world(group(1, "payments", offsets(at("a.orders", 1, to))), checkpoints(checkpoint))
		s.Earlier = world(group(1, "payments", offsets(at("a.orders", 1, from))))
		return groupOf(t, build(t, s, plan.Selection{Options: plan.Options{AllowRewind: true}}, nil), "payments").Refusal
	}
	same := func(*snapshot.Checkpoints) {}
	if c := moved(300, 350, same); c != 708 {
		t.Errorf("by somebody: %v", c)
	}
	if c := moved(290, 301, same); c != 0 {
		t.Errorf("by MirrorMaker 2: %v", c)
	}
	if c := moved(350, 350, same); c != 0 {
		t.Errorf("it stood still: %v", c)
	}
	was := world(group(1, "payments", func(g *snapshot.Group) {
		g.State = snapshot.Is(kafka.StateStable)
		offsets(at("a.orders", 1, 300))(g)
	}))
	now := world(group(1, "payments", offsets(at("a.orders", 1, 350))))
	now.Earlier = was
	if g := groupOf(t, build(t, now, plan.Selection{}, nil), "payments"); g.Refusal != 0 {
		t.Errorf("its consumers have just stopped: %+v", g)
	}
	s := world(group(1, "payments", offsets(at("a.orders", 1, 301))))
	s.Clusters[1].First = world(group(1, "payments", offsets(at("a.orders", 1, 290)))).Clusters[1].Groups
	s.Flows[0].Checkpointed = snapshot.NotKnown[snapshot.Checkpoints](gap)
	if g := groupOf(t, build(t, s, plan.Selection{}, nil), "payments"); g.Refusal != 708 {
		t.Errorf("who moved it cannot be told: %+v", g)
	}
}

func TestApplyRefusals(t *testing.T) {
	p := build(t, world(), plan.Selection{}, nil)
	made, err := time.Parse(time.RFC3339, p.Made)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		limit time.Duration
		stale bool
	}{{0, 0, false}, {60 * time.Minute, 0, false}, {61 * time.Minute, 0, true}, {20 * time.Minute, 15 * time.Minute, true}, {-2 * time.Hour, 0, true}, {-time.Minute, 0, false}} {
		if r := p.Stale(made.Add(c.after), c.limit); (r != nil) != c.stale {
			t.Errorf("%v: %v", c.after, r)
		}
	}
	if (&plan.Plan{Made: "yesterday"}).Stale(made, 0) == nil {
		t.Error("a plan without a time is fresh")
	}
	if p.WrongCluster("cluster-of-b") != nil || p.WrongCluster("") == nil || p.WrongCluster("x") == nil || (&plan.Plan{}).WrongCluster("") == nil {
		t.Error("wrong cluster")
	}
	r := &p.Groups[1].Rows[0] // from 998400, before 896901, to 898400
	is := func(n int64) *plan.Committed { return &plan.Committed{Offset: n, Epoch: -1} }
	for _, c := range []struct {
		name       string
		now        *plan.Committed
		checkpoint *int64
		refused    bool
	}{
		{"the same", is(896901), nil, false}, {"gone", nil, nil, true}, {"moved", is(897000), nil, true}, {"moved by MirrorMaker 2", is(897000), ptr(897000), false},
		{"past what will be written, by MirrorMaker 2", is(898401), ptr(898401), true}, {"already there", is(898400), nil, true},
	} {
		if got := r.Changed("payments", c.now, c.checkpoint); (got != nil) != c.refused {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if r.Moved("payments", is(998400)) != nil || r.Moved("payments", is(998401)) == nil || r.Moved("payments", nil) == nil {
		t.Error("moved")
	}
	if r.Verify("payments", is(898400)) != nil || r.Verify("payments", nil) == nil || r.Verify("payments", &plan.Committed{Offset: 898400, Epoch: 0}) == nil {
		t.Error("verify")
	}
	if plan.Partial(0, 3, 0, "j") != nil || plan.Partial(3, 0, 0, "j") != nil || plan.Partial(1, 1, 0, "j") == nil || plan.Partial(1, 0, 1, "j") == nil {
		t.Error("partial")
	}
}

// TestKnockOut: a fact that is not known refuses or is said; it never lets something be written that would not be written with it,
// nor another number.
func TestKnockOut(t *testing.T) {
	whole := build(t, world(), plan.Selection{}, nil)
	for _, c := range []struct {
		name    string
		change  func(*snapshot.Snapshot)
		refuses bool // payments
	}{
		{"source group type", group(0, "payments", func(g *snapshot.Group) { g.Type = snapshot.NotKnown[kafka.GroupType](gap) }), true},
		{"source offsets", group(0, "payments", func(g *snapshot.Group) { g.Offsets = snapshot.NotKnown[[]snapshot.Committed](gap) }), true},
		{"source topics", func(s *snapshot.Snapshot) { s.Clusters[0].Topics = snapshot.NotKnown[[]snapshot.Topic](gap) }, false},
		{"source list complete", func(s *snapshot.Snapshot) { s.Clusters[0].GroupsComplete = snapshot.NotKnown[bool](gap) }, false},
		{"target group state", group(1, "payments", func(g *snapshot.Group) { g.State = snapshot.NotKnown[kafka.GroupState](gap) }), true},
		{"target group type", group(1, "payments", func(g *snapshot.Group) { g.Type = snapshot.NotKnown[kafka.GroupType](gap) }), true},
		{"target offsets", group(1, "payments", func(g *snapshot.Group) { g.Offsets = snapshot.NotKnown[[]snapshot.Committed](gap) }), true},
		{"target offsets, nobody asked", group(1, "payments", func(g *snapshot.Group) { g.Offsets = snapshot.Fact[[]snapshot.Committed]{} }), true},
		{"target topics", func(s *snapshot.Snapshot) { s.Clusters[1].Topics = snapshot.NotKnown[[]snapshot.Topic](gap) }, true},
		{"target topics complete", func(s *snapshot.Snapshot) {
			edit(&s.Clusters[1].Topics, func(ts *[]snapshot.Topic) { *ts = nil })
			s.Clusters[1].TopicsComplete = snapshot.NotKnown[bool](gap)
		}, true},
		{"target id", func(s *snapshot.Snapshot) { s.Clusters[1].ID = snapshot.NotKnown[string](gap) }, false},
		{"target release", func(s *snapshot.Snapshot) { s.Clusters[1].Version = snapshot.NotKnown[string](gap) }, false},
		{"syncs", flow(func(f *snapshot.Flow) { f.Syncs = snapshot.NotKnown[snapshot.Syncs](gap) }), false},
		{"checkpoints", flow(func(f *snapshot.Flow) { f.Checkpointed = snapshot.NotKnown[snapshot.Checkpoints](gap) }), false},
		{"configuration", flow(func(f *snapshot.Flow) { f.Configured = snapshot.NotKnown[snapshot.Connectors](gap) }), false},
		{"tasks", flow(func(f *snapshot.Flow) { f.Tasks = snapshot.NotKnown[[]snapshot.TaskStatus](gap) }), false},
		{"heartbeat", flow(func(f *snapshot.Flow) { f.Heartbeat = snapshot.NotKnown[int64](gap) }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, world(c.change), plan.Selection{}, nil)
			g := groupOf(t, p, "payments")
			if refused := g.Action == plan.Refused; refused != c.refuses {
				// All partitions refused one by one is refused, too.
				t.Errorf("%s: %s", g.Action, g.Because)
			}
			if c.refuses && !strings.Contains(g.Because, "not known") {
				t.Errorf("because %s", g.Because)
			}
			for _, x := range p.Groups {
				for _, r := range x.Rows {
					if r.To != nil && *r.To != *rowOf(t, whole, x.Group, r.Partition).To {
						t.Errorf("%s-%d: %d", x.Group, r.Partition, *r.To)
					}
				}
			}
			if c.name == "checkpoints" || c.name == "configuration" {
				if h := g.Holds; h.Status != "unknown" || len(h.First) == 0 || !strings.Contains(h.Because, "no answer") {
					t.Errorf("%+v", h)
				}
			}
			if c.name == "target id" && (len(p.Findings) != 1 || p.Findings[0].Code != 703 || p.Findings[0].Severity != finding.Warning) {
				t.Errorf("%+v", p.Findings)
			}
			if c.name == "source list complete" && !strings.Contains(p.Scope.Rule, "hides") {
				t.Error(p.Scope.Rule)
			}
		})
	}
	for _, cluster := range []int{0, 1} {
		s := world(func(s *snapshot.Snapshot) { s.Clusters[cluster].Groups = snapshot.NotKnown[[]snapshot.Group](gap) })
		if _, err := plan.Wanted(s, nil, plan.Selection{}); err == nil || !strings.Contains(err.Error(), "could not be listed") {
			t.Errorf("groups of cluster %d not listed: %v", cluster, err)
		}
	}
	// Ends that nobody could read.
	p := build(t, world(topic(1, func(x *snapshot.Topic) {
		for i := range x.Partitions {
			x.Partitions[i].Start, x.Partitions[i].End = snapshot.NotKnown[int64](gap), snapshot.NotKnown[int64](gap)
		}
	})), plan.Selection{}, func(plan.Position) plan.Answer { return plan.Answer{Why: "the leader does not answer"} })
	if p.Summary.Set+p.Summary.Right != 0 || !strings.Contains(groupOf(t, p, "payments").Because, "the leader does not answer") {
		t.Errorf("%+v %s", p.Summary, groupOf(t, p, "payments").Because)
	}
}
