package plan_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/plans"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

var gap = &snapshot.Gap{Code: "timeout", Cluster: "b", API: "Some", Why: "no answer"}

// world is base.json with something changed.
func world(change ...func(s *snapshot.Snapshot)) *snapshot.Snapshot {
	s := plans.Base()
	for _, c := range change {
		c(s)
	}
	return s
}

func edit[T any](f *snapshot.Fact[T], change func(*T)) {
	v, _ := f.Get()
	change(&v)
	*f = snapshot.Is(v)
}

// group changes a group of a cluster (0: a, 1: b).
func group(cluster int, id string, change func(*snapshot.Group)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		edit(&s.Clusters[cluster].Groups, func(gs *[]snapshot.Group) {
			*gs = slices.Clone(*gs)
			i := slices.IndexFunc(*gs, func(g snapshot.Group) bool { return g.ID == id })
			if i < 0 {
				*gs = append(*gs, snapshot.Group{ID: id, State: snapshot.Is(kafka.StateEmpty), Type: snapshot.Is(kafka.TypeClassic)})
				slices.SortFunc(*gs, func(a, b snapshot.Group) int { return cmp.Compare(a.ID, b.ID) })
				i = slices.IndexFunc(*gs, func(g snapshot.Group) bool { return g.ID == id })
			}
			change(&(*gs)[i])
		})
	}
}

func drop(cluster int, id string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		edit(&s.Clusters[cluster].Groups, func(gs *[]snapshot.Group) {
			*gs = slices.DeleteFunc(slices.Clone(*gs), func(g snapshot.Group) bool { return g.ID == id })
		})
	}
}

func at(topic string, part int32, offset int64) snapshot.Committed {
	return snapshot.Committed{Topic: topic, Partition: part, Offset: offset, Epoch: -1}
}

func offsets(os ...snapshot.Committed) func(*snapshot.Group) {
	return func(g *snapshot.Group) { g.Offsets = snapshot.Is(os) }
}

func topic(cluster int, change func(*snapshot.Topic)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		edit(&s.Clusters[cluster].Topics, func(ts *[]snapshot.Topic) {
			*ts = slices.Clone(*ts)
			(*ts)[0].Partitions = slices.Clone((*ts)[0].Partitions)
			change(&(*ts)[0])
		})
	}
}

func addTopic(cluster int, name string, ends ...int64) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		edit(&s.Clusters[cluster].Topics, func(ts *[]snapshot.Topic) {
			t := snapshot.Topic{Name: name, ID: name + "-id"}
			for i, e := range ends {
				t.Partitions = append(t.Partitions, snapshot.Partition{ID: int32(i), Start: snapshot.Is(int64(0)), End: snapshot.Is(e), Stable: snapshot.Is(e)})
			}
			*ts = append(slices.Clone(*ts), t)
			slices.SortFunc(*ts, func(a, b snapshot.Topic) int { return cmp.Compare(a.Name, b.Name) })
		})
	}
}

func flow(change func(*snapshot.Flow)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { change(&s.Flows[0]) }
}

func syncs(change func(*snapshot.Syncs)) func(*snapshot.Snapshot) {
	return flow(func(f *snapshot.Flow) {
		edit(&f.Syncs, func(y *snapshot.Syncs) { y.Partitions = slices.Clone(y.Partitions); change(y) })
	})
}

func checkpoints(change func(*snapshot.Checkpoints)) func(*snapshot.Snapshot) {
	return flow(func(f *snapshot.Flow) {
		edit(&f.Checkpointed, func(c *snapshot.Checkpoints) { c.Newest = slices.Clone(c.Newest); change(c) })
	})
}

func setting(key, value string) func(*snapshot.Snapshot) {
	return flow(func(f *snapshot.Flow) {
		edit(&f.Configured, func(c *snapshot.Connectors) {
			c.Checkpoint = slices.Clone(c.Checkpoint)
			for i := range c.Checkpoint {
				if c.Checkpoint[i].Key == key {
					c.Checkpoint[i].Value, c.Checkpoint[i].Default = value, false
				}
			}
		})
	})
}

// look answers positions; nil answers what plans.Truth does.
type look func(plan.Position) plan.Answer

func wanted(t testing.TB, s *snapshot.Snapshot, sel plan.Selection) *plan.Wants {
	t.Helper()
	r, _ := diagnose.Run(s, diagnose.Options{Command: "translate"})
	w, err := plan.Wanted(s, r, sel)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func build(t testing.TB, s *snapshot.Snapshot, sel plan.Selection, l look) *plan.Plan {
	t.Helper()
	w := wanted(t, s, sel)
	if l == nil {
		l = plans.Truth
	}
	var as []plan.Answer
	for _, p := range w.Positions() {
		as = append(as, l(p))
	}
	p := plan.Build(w, as, diagnose.Tool{Name: "mm2doctor"})
	p.Seal()
	sound(t, p)
	return p
}

// sound holds for every plan: To lies within the log, rows that are not written have none, and the summary is the sum of the rows.
func sound(t testing.TB, p *plan.Plan) {
	t.Helper()
	var s plan.Summary
	for _, g := range p.Groups {
		s.Groups++
		if g.Action == plan.Refused {
			s.RefusedGroups++
			if len(g.Rows) == 0 {
				s.Refused++
			}
			if g.Refusal == 0 || g.Because == "" || g.Next == "" {
				t.Errorf("group %s is refused without a reason: %+v", g.Group, g)
			}
		}
		if g.Holds.Status == "" || g.Holds.Because == "" {
			t.Errorf("group %s: nothing about what holds", g.Group)
		}
		for _, r := range g.Rows {
			name := g.Group + " " + r.TargetTopic
			switch r.Action {
			case plan.Set, plan.Right:
				if r.To == nil || *r.To < r.LogStart || *r.To > r.End || r.LogStart < 0 {
					t.Errorf("%s: To outside the log: %+v", name, r)
				}
				if r.Skipped > 0 && !p.Options.AllowSkip {
					t.Errorf("%s skips: %+v", name, r)
				}
				if r.Before != nil && *r.To < r.Before.Offset && *r.To < r.End && !p.Options.AllowRewind {
					t.Errorf("%s goes back: %+v", name, r)
				}
				if g.Action == plan.Refused || r.Basis == "" {
					t.Errorf("%s: %+v", name, r)
				}
			case plan.Refused:
				if r.Refusal == 0 || r.Because == "" || r.To != nil {
					t.Errorf("%s: refused without a reason, or with a number: %+v", name, r)
				}
				s.Refused++
			case plan.Leave:
				if r.Because == "" || r.To != nil {
					t.Errorf("%s: %+v", name, r)
				}
				s.Left++
			default:
				t.Errorf("%s: action %q", name, r.Action)
			}
			if r.Would != nil && (r.Action != plan.Refused || r.Refusal == 713 || r.Refusal == 703) {
				t.Errorf("%s: would be %d: %+v", name, *r.Would, r)
			}
			if r.ReReadUpTo < r.ReRead || r.ReRead < 0 || r.Skipped < 0 || r.Gone < 0 {
				t.Errorf("%s: counts %+v", name, r)
			}
			if r.Action == plan.Set {
				s.Set++
			}
			if r.Action == plan.Set || r.Action == plan.Right { // what is right already costs its consumers the same
				s.ReRead += r.ReRead
				s.ReReadUpTo += r.ReReadUpTo
				s.Skipped += r.Skipped
				s.Gone += r.Gone
				s.NotMirrored += r.NotMirrored
			}
			if r.Action == plan.Right {
				s.Right++
			}
		}
	}
	if s != p.Summary {
		t.Errorf("summary %+v, rows say %+v", p.Summary, s)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	for _, f := range p.Findings {
		if f.Slug == "" || f.Because == "" || f.SubjectCount == 0 {
			t.Errorf("finding %+v", f)
		}
	}
}

func groupOf(t testing.TB, p *plan.Plan, id string) *plan.Group {
	t.Helper()
	for i := range p.Groups {
		if p.Groups[i].Group == id {
			return &p.Groups[i]
		}
	}
	t.Fatalf("the plan has no group %s", id)
	return nil
}

func rowOf(t testing.TB, p *plan.Plan, id string, part int32) *plan.Row {
	t.Helper()
	g := groupOf(t, p, id)
	for i := range g.Rows {
		if g.Rows[i].Partition == part {
			return &g.Rows[i]
		}
	}
	t.Fatalf("group %s has no partition %d", id, part)
	return nil
}
