package diagnose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/captures"
)

// fixture is one snapshot of fixtures/codes: a bundle that shows a code, or its near miss.
type fixture struct {
	name string
	code finding.Code
	snap *snapshot.Snapshot
}

// fixturesOf reads the fixtures of all codes; kind is "bundle" or "near".
func fixturesOf(t testing.TB, kind string) []fixture {
	t.Helper()
	var out []fixture
	for _, e := range finding.Codes {
		if e.OfConfiguration() || e.OfTranslation() {
			continue
		}
		name := filepath.Join("../fixtures/codes", e.Code.String(), kind+".json")
		out = append(out, fixture{e.Code.String() + "/" + kind, e.Code, readBundle(t, name)})
	}
	return out
}

func readBundle(t testing.TB, name string) *snapshot.Snapshot {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := bundle.Read(name, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func allFixtures(t testing.TB) []fixture {
	return append(fixturesOf(t, "bundle"), fixturesOf(t, "near")...)
}

// TestEdges: causes and effects are codes of the table, and nothing is its own cause.
func TestEdges(t *testing.T) {
	next := map[finding.Code][]finding.Code{}
	for _, e := range edges {
		for _, c := range []finding.Code{e.Cause, e.Effect} {
			if finding.Lookup(c) == nil {
				t.Errorf("%v is no code", c)
			}
		}
		if slices.Contains(next[e.Cause], e.Effect) {
			t.Errorf("%v -> %v stands there twice", e.Cause, e.Effect)
		}
		next[e.Cause] = append(next[e.Cause], e.Effect)
	}
	const entered, left = 1, 2
	state := map[finding.Code]int{}
	var visit func(c finding.Code, path []finding.Code)
	visit = func(c finding.Code, path []finding.Code) {
		path = append(path, c)
		switch state[c] {
		case entered:
			t.Errorf("a circle of causes: %v", path)
			return
		case left:
			return
		}
		state[c] = entered
		for _, n := range next[c] {
			visit(n, path)
		}
		state[c] = left
	}
	for c := range next {
		visit(c, nil)
	}
}

// TestEveryCodeHasACheck: 217 alone is made outside the lists, from --group and --topic.
func TestEveryCodeHasACheck(t *testing.T) {
	have := map[finding.Code]bool{217: true}
	for _, c := range allChecks() {
		have[c.Code] = true
		if finding.Lookup(c.Code) == nil {
			t.Errorf("a check of %v, which is no code", c.Code)
		}
	}
	for _, e := range finding.Codes {
		if !have[e.Code] && !e.OfConfiguration() && !e.OfTranslation() {
			t.Errorf("no check finds %v", e.Code)
		}
	}
}

// TestTouched: a check reads no kind of fact that it does not declare, on any fixture or captured moment.
func TestTouched(t *testing.T) {
	snaps := allFixtures(t)
	for _, c := range captured(t) {
		for _, p := range c.Phases {
			s := look(t, c, p.Phase, told)
			if i := slices.IndexFunc(c.Phases, func(x captures.Phase) bool { return x.Phase == p.Phase }); i > 0 {
				s.Earlier = look(t, c, c.Phases[i-1].Phase, told)
			}
			snaps = append(snaps, fixture{name: c.Name + "/" + p.Phase, snap: s})
		}
	}
	for _, f := range fixturesOf(t, "bundle") { // what a resource tells is read in its own mode only
		m := runModes[len(runModes)-1]
		s := m.of(f.snap)
		for i := range s.Flows {
			rest := []snapshot.ConfigEntry{{Key: keyState, Value: "stopped"}}
			change(&s.Flows[i].Configured, func(c *snapshot.Connectors) {
				c.Source, c.Checkpoint = append(rest, c.Source...), append(rest, c.Checkpoint...)
			})
			s.Flows[i].Tasks = snapshot.NotKnown[[]snapshot.TaskStatus](&snapshot.Gap{Code: "denied"})
		}
		snaps = append(snaps, fixture{name: f.name + ", " + m.name, snap: s})
	}
	seen := map[string]bool{}
	for _, f := range snaps {
		v := newView(f.snap)
		groups, _ := matchers(f.snap.Scope.Groups)
		topics, _ := matchers(f.snap.Scope.Topics)
		for _, fl := range v.flows {
			fl.named.groups, fl.named.topics, fl.scope = len(groups) > 0, len(topics) > 0, groups
			fl.selectRows(groups, topics)
		}
		for _, cs := range [][]check{allChecks()} {
			for i := range cs {
				c := &cs[i]
				for _, s := range v.subjects(c.Grain) {
					v.touched = 0
					if c.Applies != nil && !c.Applies(v, s) {
						continue
					}
					if _, unknown := s.missing(c.Needs); unknown {
						continue
					}
					c.Run(v, s)
					if extra := v.touched &^ (c.Needs | c.Uses); extra != 0 {
						if msg := fmt.Sprintf("%v reads %s without saying so", c.Code, kinds(extra)); !seen[msg] {
							seen[msg] = true
							t.Errorf("%s (first on %s)", msg, f.name)
						}
					}
				}
			}
		}
	}
}

var kindNames = []string{"Configured", "Running", "Settings", "Tasks", "AssignedTo", "SyncsTopic", "SyncsOf", "SyncsElse", "CheckpointsOf", "CheckpointSet", "SourceTopic", "SourceLog", "TargetTopic", "TargetLog",
	"SourceGroups", "SourceGroup", "SourceOffset", "TargetGroup", "TargetOffset", "EarlierLook", "FirstContact", "Generation"}

func kinds(k finding.Kinds) []string {
	var out []string
	for i, n := range kindNames {
		if k&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// TestSameBytes: the report depends on the snapshot alone, also on one that was written to a bundle and read again.
func TestSameBytes(t *testing.T) {
	for _, f := range allFixtures(t) {
		first := reportBytes(t, f.snap)
		if second := reportBytes(t, f.snap); !bytes.Equal(first, second) {
			t.Errorf("%s: two runs differ", f.name)
		}
		var b bytes.Buffer
		if err := bundle.Write(&b, f.snap); err != nil {
			t.Fatal(err)
		}
		written := bytes.Clone(b.Bytes())
		s, err := bundle.Read(f.name, &b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, reportBytes(t, s)) {
			t.Errorf("%s: the report of the bundle differs", f.name)
		}
		var again bytes.Buffer
		if err := bundle.Write(&again, s); err != nil || !bytes.Equal(written, again.Bytes()) {
			t.Errorf("%s: the bundle changes when it is read and written (%v)", f.name, err)
		}
	}
}

func reportBytes(t testing.TB, s *snapshot.Snapshot) []byte {
	t.Helper()
	r, asks := Run(s, Options{Command: "diagnose"})
	b, err := json.Marshal(struct {
		R *Report
		A []Ask
		T []Tree
	}{r, asks, r.Trees})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
