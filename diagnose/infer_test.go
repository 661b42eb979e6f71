package diagnose

import (
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/fixtures/looks"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestInferredFromRecords: nobody tells the version, and what the records say of it is true of each captured moment; at least four
// in five moments are narrowed to one rule of emission and two generations.
func TestInferredFromRecords(t *testing.T) {
	for name, o := range map[string]looks.Options{"records alone": untold, "with the tasks' starts": {Worker: true}} {
		moments, narrow := 0, 0
		for _, c := range captured(t) {
			v, err := mm2.ParseVersion(c.Scenario.MM2)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range c.Phases[1:] {
				g := newView(look(t, c, p.Phase, o)).flows[0].gens
				if !g.set.Has(v.Generation()) || !g.emissions.Has(v.Emission()) || !(mm2.Range{From: g.rng.From, To: g.rng.To}).Contains(v) {
					t.Errorf("%s %s, %s: taken for %s %v (%s), %q", c.Name, p.Phase, name, g.set, g.emissions.All(), g.rng, g.evidence)
				}
				moments++
				if len(g.emissions.All()) == 1 && len(g.set.All()) <= 2 {
					narrow++
				} else {
					t.Logf("%s %s, %s: %s %v: %q", c.Name, p.Phase, name, g.set, g.emissions.All(), g.evidence)
				}
			}
		}
		t.Logf("%s: %d of %d moments", name, narrow, moments)
		if narrow*5 < moments*4 {
			t.Errorf("%s: only %d of %d moments are narrowed", name, narrow, moments)
		}
	}
}

// TestInferredOnce states each rule by the moment that shows it.
func TestInferredOnce(t *testing.T) {
	for _, c := range captured(t) {
		g := newView(look(t, c, "p6", looks.Options{Worker: true})).flows[0].gens
		want := map[string]struct {
			set  mm2.Generations
			emit mm2.Emissions
			lag  int64
		}{
			"2.8.2": {mm2.SetOf(mm2.G1, mm2.G2), mm2.EmissionsOf(mm2.E1), -1},
			"3.3.1": {mm2.SetOf(mm2.G1, mm2.G2), mm2.EmissionsOf(mm2.E1), -1},
			"3.4.1": {mm2.SetOf(mm2.G3, mm2.G4), mm2.EmissionsOf(mm2.E2), 100},
			"3.6.2": {mm2.SetOf(mm2.G3, mm2.G4), mm2.EmissionsOf(mm2.E2), 100},
			"3.7.0": {mm2.SetOf(mm2.G4, mm2.G5), mm2.EmissionsOf(mm2.E3), 100},
			"3.9.1": {mm2.SetOf(mm2.G5), mm2.EmissionsOf(mm2.E3), 100},
			"4.1.1": {mm2.SetOf(mm2.G5), mm2.EmissionsOf(mm2.E3), 100},
		}
		if w, ok := want[c.Name]; ok && (g.set != w.set || g.emissions != w.emit || g.records.lagMax != w.lag) {
			t.Errorf("%s: %s %v, offset.lag.max %d, want %+v: %q", c.Name, g.set, g.emissions.All(), g.records.lagMax, w, g.evidence)
		}
	}
	g := newView(look(t, captured(t)[0], "p1", untold)).flows[0].gens
	if one, ok := g.set.Only(); !ok || one != mm2.G1 {
		t.Errorf("2.8.2 in p1, where positions were copied: %s, %q", g.set, g.evidence)
	}
}

// TestToldOrder: who tells the version, in the order of belief, and what a range leaves open.
func TestToldOrder(t *testing.T) {
	c := captured(t)[slices.IndexFunc(captured(t), func(c *captures.Capture) bool { return c.Name == "3.9.1" })]
	s := look(t, c, "p1", untold)
	f := &s.Flows[0]
	step := func(want string, set mm2.Generations) {
		t.Helper()
		g := newView(s).flows[0].gens
		if g.set != set || g.basis[:min(len(want), len(g.basis))] != want {
			t.Errorf("%s from %q, want %s from %q", g.set, g.basis, set, want)
		}
	}
	f.Log = snapshot.Is(snapshot.Log{Version: "3.6.2"})
	step("MirrorMaker 2's log says version 3.6.2", mm2.SetOf(mm2.G4))
	f.Tasks = snapshot.Is([]snapshot.TaskStatus{{Connector: connCheckpoint, State: "RUNNING", Version: "4.1.1"}})
	step("MirrorCheckpointConnector says version 4.1.1", mm2.SetOf(mm2.G5))
	f.WorkerVersion, f.ConnectURL = "7.7.1-ccs", "http://w:8083"
	step("the Connect worker at http://w:8083 says version 7.7.1-ccs: Confluent 7.7 is built from Apache Kafka 3.7, so 3.7.0 - 3.7.2", mm2.SetOf(mm2.G4, mm2.G5))
	s.MM2Version = "3.4.0"
	step("--mm2-version", mm2.SetOf(mm2.G2))
}
