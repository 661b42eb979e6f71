package plan_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/fixtures/looks"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

type place struct {
	group, topic string
	part         int32
}

// TestCaptured plans every recorded moment of real MirrorMaker 2 runs, once with the recorded truth as the answers and once with
// none, so that only what MirrorMaker 2 left is there to go by. The truth is taken as it is; without it nothing is skipped.
func TestCaptured(t *testing.T) {
	rows := 0
	for _, name := range []string{"2.8.2", "3.4.1", "3.9.1-compacted-syncs", "3.9.1-eos", "4.1.1"} {
		c, err := captures.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		truth := map[string]map[place]captures.Accuracy{}
		all, err := c.Accuracy()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if truth[a.Phase] == nil {
				truth[a.Phase] = map[place]captures.Accuracy{}
			}
			truth[a.Phase][place{a.Group, a.Topic, a.Partition}] = a
		}
		for _, ph := range c.Phases {
			s, err := looks.Of(c, ph.Phase, looks.Options{Claim: true})
			if err != nil {
				t.Fatal(err)
			}
			exact := truth[ph.Phase]
			r, _ := diagnose.Run(s, diagnose.Options{Command: "translate"})
			for _, answered := range []bool{true, false} {
				w, err := plan.Wanted(s, r, plan.Selection{Options: plan.Options{AllowRewind: true}})
				if err != nil {
					t.Fatal(err)
				}
				var as []plan.Answer
				for _, p := range w.Positions() {
					a := plan.Answer{Why: "no records"}
					if e, ok := exact[place{p.Group, p.From.Topic, p.From.Partition}]; ok && answered {
						a.Records = &match.Answer{T: e.Exact, Low: e.Exact, High: e.Exact, Verdict: match.Exact}
					}
					as = append(as, a)
				}
				p := plan.Build(w, as, diagnose.Tool{Name: "mm2doctor"})
				p.Seal()
				sound(t, p)
				if p.Scope.Groups == 0 && len(exact) > 0 {
					t.Errorf("%s %s: no group of %d: %s", name, ph.Phase, p.Scope.Of, left(p))
				}
				for _, g := range p.Groups {
					for _, x := range g.Rows {
						e, ok := exact[place{g.Group, x.Topic, x.Partition}]
						if x.To == nil || !ok {
							continue
						}
						rows++
						if answered && *x.To != max(x.LogStart, min(e.Exact, x.End)) {
							t.Errorf("%s %s %s %s-%d: %d, recorded %d", name, ph.Phase, g.Group, x.Topic, x.Partition, *x.To, e.Exact)
						}
						if !answered && *x.To > max(e.Exact, x.LogStart) {
							t.Errorf("%s %s %s %s-%d: %d by %s skips, recorded %d", name, ph.Phase, g.Group, x.Topic, x.Partition, *x.To, x.Basis, e.Exact)
						}
					}
				}
			}
		}
	}
	if rows < 500 {
		t.Errorf("only %d partitions were compared", rows)
	}
}

// TestFixtures plans every snapshot of the codes of the chain: whatever is wrong there, a plan is made and is sound.
func TestFixtures(t *testing.T) {
	files, _ := filepath.Glob("../../fixtures/codes/*/bundle.json")
	n := 0
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := bundle.Read(name, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := diagnose.Run(s, diagnose.Options{Command: "translate"})
		for i := range s.Flows {
			for _, sel := range []plan.Selection{{}, {Reverse: true}, {SourceLost: true}, {Options: plan.Options{AllGroups: true, IncludeStreams: true, AllowRewind: true, AllowSkip: true, Fallback: "earliest"}}} {
				sel.Flow = s.Flows[i].Name()
				w, err := plan.Wanted(s, r, sel)
				if err != nil {
					continue // a cluster that does not list its groups
				}
				p := plan.Build(w, nil, diagnose.Tool{Name: "mm2doctor"})
				p.Seal()
				sound(t, p)
				n++
				if t.Failed() {
					t.Fatalf("%s %+v", name, sel)
				}
			}
		}
	}
	if n < 250 {
		t.Errorf("%d plans", n)
	}
}
