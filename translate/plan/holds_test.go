package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/plans"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

func TestHolds(t *testing.T) {
	down := func(n int64) func(*snapshot.Snapshot) {
		return checkpoints(func(c *snapshot.Checkpoints) { c.Newest[2].Down = n })
	}
	up := func(n int64) func(*snapshot.Snapshot) {
		return checkpoints(func(c *snapshot.Checkpoints) { c.Newest[2].Up = n })
	}
	kind := func(k kafka.GroupType) func(*snapshot.Snapshot) {
		return group(1, "payments", func(g *snapshot.Group) { g.Type = snapshot.Is(k) })
	}
	stopped := flow(func(f *snapshot.Flow) {
		edit(&f.Tasks, func(ts *[]snapshot.TaskStatus) {
			*ts = []snapshot.TaskStatus{{Connector: "MirrorCheckpointConnector", Task: -1, State: "STOPPED"}}
		})
	})
	allow := plan.Options{AllowRewind: true, IncludeStreams: true}
	for _, c := range []struct {
		name   string
		change []func(*snapshot.Snapshot)
		status string
		says   string
		steps  string // texts that stand in this order
	}{
		{name: "above the checkpoint", status: "raised", says: "never lowers it"},
		{name: "below a wrong checkpoint", change: []func(*snapshot.Snapshot){down(450)}, status: "overwritten", says: "commits 450 again within 60 s", steps: "keep what; stop MirrorMaker 2; delete the checkpoints topic; apply the plan that was kept; start MirrorMaker 2"},
		{name: "below a wrong checkpoint that 3.4.0 finds again", change: []func(*snapshot.Snapshot){down(450), func(s *snapshot.Snapshot) { s.MM2Version = "3.4.0" }, lastSync(300, 350)}, status: "overwritten", says: "would find it again", steps: "keep what; stop MirrorMaker 2; delete the checkpoints topic; apply the plan that was kept; upgrade MirrorMaker 2; start MirrorMaker 2"},
		{name: "below a checkpoint of a later position", change: []func(*snapshot.Snapshot){down(450), up(450)}, status: "overwritten", says: "commits 450 again", steps: "stop MirrorMaker 2; apply the plan; leave it stopped until the consumers run on b"},
		{name: "at the checkpoint", change: []func(*snapshot.Snapshot){down(400)}, status: "raised"},
		{name: "sync off", change: []func(*snapshot.Snapshot){down(450), setting("sync.group.offsets.enabled", "false")}, status: "holds", says: "does not commit group offsets"},
		{name: "a release without the sync", change: []func(*snapshot.Snapshot){down(450), func(s *snapshot.Snapshot) { s.MM2Version = "2.6.0" }}, status: "holds", says: "before 2.7.0"},
		{name: "stopped, wrong checkpoint", change: []func(*snapshot.Snapshot){down(450), stopped}, status: "overwritten", says: "does so when it is started"},
		{name: "stopped", change: []func(*snapshot.Snapshot){stopped}, status: "holds", says: "does not work now"},
		{name: "streams group there", change: []func(*snapshot.Snapshot){kind(kafka.TypeStreams)}, status: "overwritten", says: "also backwards"},
		{name: "consumer group there, 3.9", change: []func(*snapshot.Snapshot){kind(kafka.TypeConsumer)}, status: "raised"},
		{name: "consumer group there, 3.7", change: []func(*snapshot.Snapshot){kind(kafka.TypeConsumer), func(s *snapshot.Snapshot) { s.MM2Version = "3.7.2" }}, status: "overwritten", says: "also backwards"},
		{name: "no checkpoint", change: []func(*snapshot.Snapshot){checkpoints(func(c *snapshot.Checkpoints) { c.Newest = c.Newest[:1] })}, status: "holds", says: "no checkpoint"},
		{name: "checkpoints not read", change: []func(*snapshot.Snapshot){flow(func(f *snapshot.Flow) { f.Checkpointed = snapshot.NotKnown[snapshot.Checkpoints](gap) })}, status: "unknown", says: "no answer"},
		{name: "a negative offset, 3.5.1", change: []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) { s.MM2Version = "3.5.1" }, group(1, "payments", offsets(at("a.orders", 0, -1), at("a.orders", 1, 301)))}, status: "raised", says: "until it is restarted", steps: "apply the plan; restart MirrorMaker 2"},
		{name: "in Connect", change: []func(*snapshot.Snapshot){down(450), flow(func(f *snapshot.Flow) {
			f.Mode, f.ConnectURL, f.CheckpointConnector, f.WorkerVersion = "connect", "http://c:8083", "cp", "3.9.1"
		})}, status: "overwritten", steps: "keep what; stop the connector; delete the checkpoints topic; apply the plan that was kept; resume the connector"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, world(c.change...), plan.Selection{Options: allow, Groups: []string{"payments"}}, nil)
			g := groupOf(t, p, "payments")
			if g.Action != plan.Set || g.Holds.Status != c.status || !strings.Contains(g.Holds.Because, c.says) {
				t.Errorf("%s %s: %s", g.Action, g.Holds.Status, g.Holds.Because)
			}
			rest := g.Holds.First
			for _, want := range strings.Split(c.steps, "; ") {
				i := slices.IndexFunc(rest, func(s finding.Step) bool { return strings.HasPrefix(s.Text, want) })
				if want != "" && i < 0 {
					t.Errorf("no step %q in its place: %+v", want, g.Holds.First)
					break
				}
				rest = rest[max(i, 0):]
			}
			if want := strings.Contains(c.steps, "delete the checkpoints topic"); c.steps != "" && p.WantsKept() != want {
				t.Errorf("keep the plan first: %v", !want)
			}
			bad := slices.IndexFunc(p.Findings, func(f finding.Finding) bool { return f.Code == 710 })
			if (bad >= 0) != (c.status == "overwritten" || c.status == "unknown") {
				t.Errorf("findings %+v", p.Findings)
			} else if bad >= 0 && (p.Findings[bad].Severity == finding.Error) != (c.status == "overwritten") {
				t.Errorf("severity %v", p.Findings[bad].Severity)
			}
		})
	}
}

// TestHoldsTopicMadeAnew: where the report finds numbers of an earlier topic, old offset syncs go too.
func TestHoldsTopicMadeAnew(t *testing.T) {
	for _, anew := range []bool{false, true} {
		s := world(checkpoints(func(c *snapshot.Checkpoints) { c.Newest[2].Down = 450 }))
		r, _ := diagnose.Run(s, diagnose.Options{})
		if anew {
			r.Findings = append(r.Findings, finding.Finding{Code: 406, Subject: finding.Subject{Topic: "orders"}})
			for i := range r.Partitions { // by the old syncs MirrorMaker 2 finds a number above the value, too
				r.Partitions[i].MM2Expected = snapshot.Is(int64(440))
			}
		}
		w, err := plan.Wanted(s, r, plan.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		var as []plan.Answer
		for _, p := range w.Positions() {
			as = append(as, plans.Truth(p))
		}
		g := groupOf(t, plan.Build(w, as, diagnose.Tool{}), "payments")
		if got := slices.ContainsFunc(g.Holds.First, func(x finding.Step) bool { return strings.Contains(x.Text, "delete the offset syncs") }); got != anew {
			t.Errorf("made anew %v: %+v", anew, g.Holds)
		}
	}
}

// TestHoldsWish: an operator's own number below a checkpoint does not make the checkpoint wrong, and one of a streams group, which
// MirrorMaker 2 does not see, has none.
func TestHoldsWish(t *testing.T) {
	wish := plan.Selection{Options: plan.Options{AllowRewind: true, AllowSkip: true}, Wished: []plan.Wish{{Group: "payments", Topic: "a.orders", Partition: 1, Offset: 100}}}
	for _, c := range []struct {
		down int64
		says string
		step string
	}{{301, "commits 301 again within 60 s while the group is empty", "stop MirrorMaker 2"}, {450, "that number is wrong", "stop MirrorMaker 2"}} {
		s := world(checkpoints(func(c2 *snapshot.Checkpoints) { c2.Newest[2].Down = c.down }))
		g := groupOf(t, build(t, s, wish, nil), "payments")
		if g.Holds.Status != "overwritten" || !strings.Contains(g.Holds.Because, c.says) || !strings.HasPrefix(g.Holds.First[0].Text, c.step) || c.down == 301 && strings.Contains(g.Holds.Because, "wrong") {
			t.Errorf("%d: %+v", c.down, g.Holds)
		}
	}
	s := world(group(0, "app", func(g *snapshot.Group) {
		g.Type, g.Offsets = snapshot.Is(kafka.TypeStreams), snapshot.Is([]snapshot.Committed{at("orders", 1, 301)})
	}))
	if g := groupOf(t, build(t, s, plan.Selection{Groups: []string{"app"}, Options: plan.Options{IncludeStreams: true}}, nil), "app"); g.Holds.Status != "holds" {
		t.Errorf("%+v", g.Holds)
	}
}

// TestHoldsBesideMarkers: a checkpoint above the value with nothing but markers between them starts a consumer at the same record.
func TestHoldsBesideMarkers(t *testing.T) {
	for _, skipped := range []int64{0, 1} {
		s := world(checkpoints(func(c *snapshot.Checkpoints) { c.Newest[2].Down = 402 }))
		g := groupOf(t, build(t, s, plan.Selection{Groups: []string{"payments"}, Options: plan.Options{AllowRewind: true}}, func(p plan.Position) plan.Answer {
			a := plans.Truth(p)
			for _, o := range p.Also {
				a.Also = append(slices.DeleteFunc(a.Also, func(c plan.Count) bool { return c.Offset == o }), plan.Count{Offset: o, Known: true, Skipped: skipped})
			}
			return a
		}), "payments")
		if want := map[int64]string{0: "raised", 1: "overwritten"}[skipped]; g.Holds.Status != want {
			t.Errorf("skips %d: %+v", skipped, g.Holds)
		}
	}
}

// lastSync makes orders-1 have one offset sync.
func lastSync(up, down int64) func(*snapshot.Snapshot) {
	return syncs(func(y *snapshot.Syncs) {
		x := &y.Partitions[1]
		x.Count = 1
		x.Newest.Up, x.Newest.Down, x.Newest.Offset = up, down, x.Oldest.Offset
		x.Oldest = x.Newest
		x.TwoPointer = []snapshot.Run{{Slot: 0, Sync: x.Newest}}
	})
}
