package diagnose

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/bugs"
)

func captureNamed(t *testing.T, name string) *captures.Capture {
	t.Helper()
	for _, c := range captured(t) {
		if c.Name == name {
			return c
		}
	}
	t.Fatal("no capture " + name)
	return nil
}

func findingOf(s *snapshot.Snapshot, id string) *finding.Finding {
	r, _ := Run(s, Options{})
	for i := range r.Findings {
		if r.Findings[i].ID == id {
			return &r.Findings[i]
		}
	}
	return nil
}

// TestBugRules: each rule names an entry of the catalogue once, and each code it names is one of the table or of the design's list.
func TestBugRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range bugRules {
		b, ok := bugs.Lookup(r.id)
		if !ok || seen[r.id] {
			t.Errorf("%s: known %v, twice %v", r.id, ok, seen[r.id])
		}
		if b.Impact == bugs.Cosmetic {
			t.Errorf("%s harms no offset", r.id)
		}
		seen[r.id] = true
	}
}

// TestLogSignsAreBelieved: the line of the log alone is a warning, with damage to be seen an error; a line of last week, or of a
// release that does not have the bug, is nothing.
func TestLogSignsAreBelieved(t *testing.T) {
	const id = "MM2D-601/KAFKA-13856"
	for _, c := range []struct {
		name, claim string
		last        int64 // ms before the look
		want        finding.Severity
	}{
		{"now", "3.9.1", 1000, finding.Warning},
		{"a time without zone", "3.9.1", 30 * 3_600_000, finding.Warning},
		{"last week", "3.9.1", 7 * day, 0},
		{"another release", "2.6.0", 1000, 0},
	} {
		s := look(t, captureNamed(t, "3.9.1"), "p2", told)
		s.MM2Version = c.claim
		s.Flows[0].Log = snapshot.Is(snapshot.Log{Files: []string{"x"}, Signs: []snapshot.LogSign{{Kind: "KAFKA-13856", Text: "x", Count: 3, First: s.Taken - c.last, Last: s.Taken - c.last}}})
		f := findingOf(s, id)
		if got := severityOf(f); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func severityOf(f *finding.Finding) finding.Severity {
	if f == nil {
		return 0
	}
	return f.Severity
}

// TestRestartIsWarnedOf: on 3.6.2 the next start of the checkpoint task makes lagging positions untranslatable; that is told where
// starts are frequent, and not for the version alone.
func TestRestartIsWarnedOf(t *testing.T) {
	const id = "MM2D-601/KAFKA-15905"
	for _, c := range []struct {
		name, capture string
		starts        []int64 // hours before the look
		want          finding.Severity
	}{
		{"no starts known", "3.6.2", nil, 0},
		{"two starts", "3.6.2", []int64{2, 1}, 0},
		{"old starts", "3.6.2", []int64{50, 40, 30, 1}, 0},
		{"three starts", "3.6.2", []int64{3, 2, 1}, finding.Warning},
		{"fixed", "3.9.1", []int64{3, 2, 1}, 0},
	} {
		s := look(t, captureNamed(t, c.capture), "p2", told)
		var at []int64
		for _, h := range c.starts {
			at = append(at, s.Taken-h*3_600_000)
		}
		if at != nil {
			s.Flows[0].CheckpointStarts = snapshot.Is(at)
		}
		f := findingOf(s, id)
		if got := severityOf(f); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if f != nil && (f.SubjectCount == 0 || !slices.ContainsFunc(f.Observed, func(n snapshot.Named) bool {
			return n.Name == "starts of the checkpoint task within a day" && n.Value == 3
		})) {
			t.Errorf("%s: %d subjects, %v", c.name, f.SubjectCount, f.Observed)
		}
	}
}

// TestSettingsOfABug: what the operator's file calls up is told before it does damage.
func TestSettingsOfABug(t *testing.T) {
	s := look(t, captureNamed(t, "4.1.1"), "p2", told)
	if f := findingOf(s, "MM2D-601/KAFKA-17529"); f != nil {
		t.Errorf("without the key: %s", f.Because)
	}
	c, _ := s.Flows[0].Configured.Get()
	c.Checkpoint = append(slices.Clone(c.Checkpoint), snapshot.ConfigEntry{Key: "groups.blacklist", Value: "x"})
	s.Flows[0].Configured = snapshot.Is(c)
	if f := findingOf(s, "MM2D-601/KAFKA-17529"); severityOf(f) != finding.Warning || !strings.Contains(f.Fixes[0].Text, "groups.exclude") {
		t.Errorf("with the key: %+v", f)
	}
}

// TestNamedOnItsEffect: a bug whose effect has a code of its own is named there and makes no second finding.
func TestNamedOnItsEffect(t *testing.T) {
	r, _ := Run(look(t, captureNamed(t, "3.3.1"), "p1", told), Options{})
	for _, f := range r.Findings {
		if f.Code == 601 {
			t.Errorf("beside its effect: %s: %s", f.ID, f.Because)
		}
		if f.Code == 206 && !slices.Contains(f.Bugs, "KAFKA-14666") {
			t.Errorf("206 names %v", f.Bugs)
		}
	}
}

// TestContradictedVersion: each claim that the records refute is refuted, and no true one, nor one that was refuted before the last start.
func TestContradictedVersion(t *testing.T) {
	for _, c := range []struct {
		capture, phase, claim string
		want                  bool
		starts                int64 // ms after the look's last record; 0 leaves the starts
	}{
		{"2.8.2", "p6", "3.9.1", true, 0}, {"2.8.2", "p6", "2.8.1", false, 0}, {"3.3.1", "p2", "3.6.2", true, 0}, {"3.3.1", "p2", "3.2.3", false, 0},
		{"3.9.1", "p2", "3.4.0", true, 0}, {"3.9.1", "p2", "3.6.2", true, 0}, {"3.9.1", "p2", "3.7.0", false, 0}, {"3.9.1", "p6", "3.7.0", true, 0},
		{"3.7.0", "p6", "3.6.2", true, 0}, {"3.7.0", "p6", "3.7.2", false, 0}, {"3.6.2", "p2", "3.4.0", true, 0}, {"3.6.2", "p2", "3.9.1", false, 0},
		{"3.9.1", "p2", "7.6.1-ccs", true, 0}, {"3.9.1", "p2", "7.7.1-ccs", false, 0}, {"3.9.1", "p2", "3.6.2", false, 1},
	} {
		s := look(t, captureNamed(t, c.capture), c.phase, told)
		s.MM2Version = c.claim
		if c.starts > 0 {
			ts, _ := s.Flows[0].Tasks.Get()
			ts = slices.Clone(ts)
			for i := range ts {
				ts[i].Time = s.Taken
			}
			s.Flows[0].Tasks = snapshot.Is(ts)
		}
		f := findingOf(s, "MM2D-603")
		if got := severityOf(f) == finding.Warning; got != c.want {
			t.Errorf("%s %s taken for %s: %v, want %v (%+v)", c.capture, c.phase, c.claim, got, c.want, f)
		}
		s.Flows[0].Tasks = snapshot.NotKnown[[]snapshot.TaskStatus](nil)
		onlySince := c.capture == "3.9.1" && c.claim == "3.7.0" // what a task kept over its start is not seen without the start
		if r, _ := Run(s, Options{}); c.want && !onlySince && !slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Check == "MM2D-603" }) {
			t.Errorf("%s taken for %s, starts not known: nothing is said to be open", c.capture, c.claim)
		}
	}
	s := look(t, captureNamed(t, "3.9.1"), "p2", told)
	s.Flows[0].WorkerVersion, s.MM2Version = "3.9.1", "3.6.2"
	s.Flows[0].Tasks = snapshot.NotKnown[[]snapshot.TaskStatus](nil)
	s.Flows[0].Syncs, s.Flows[0].Checkpointed = snapshot.None[snapshot.Syncs](), snapshot.None[snapshot.Checkpoints]()
	if f := findingOf(s, "MM2D-603"); severityOf(f) != finding.Warning || !strings.Contains(f.Because, "the Connect worker") {
		t.Errorf("a worker that tells another version: %+v", f)
	}
}

// TestUpgradeIsMentioned: old checkpoints below newer ones.
func TestUpgradeIsMentioned(t *testing.T) {
	s := look(t, captureNamed(t, "3.9.1"), "p2", told)
	sy, _ := s.Flows[0].Syncs.Get()
	sy.CountedOn, sy.CountedOnLast = 2, sy.OnePastLast-1000
	sy.CountedOnShown = &snapshot.Explained{Checkpoint: snapshot.Checkpoint{Up: 300, Down: 290, Time: sy.CountedOnLast}, Sync: snapshot.Sync{Up: 100, Down: 90}}
	s.Flows[0].Syncs = snapshot.Is(sy)
	if f := findingOf(s, "MM2D-603"); severityOf(f) != finding.Info {
		t.Errorf("%+v", f)
	}
	sy.Records-- // compacted: two may fit by chance
	s.Flows[0].Syncs = snapshot.Is(sy)
	if f := findingOf(s, "MM2D-603"); f != nil {
		t.Errorf("by chance: %+v", f)
	}
}

// TestInferredOverStarts: without markers, with gaps and starts at any moment, of any release.
func TestInferredOverStarts(t *testing.T) {
	narrow, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(simVersions).Draw(t, "version")
		w := newSim(v, 2, 0, []string{"billing", "audit"})
		w.run()
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			p := rapid.SampledFrom(w.parts).Draw(t, "partition")
			switch rapid.IntRange(0, 15).Draw(t, "step") {
			case 0:
				w.run()
			case 1, 2, 3, 4, 5:
				w.produce(p, rapid.IntRange(1, 150).Draw(t, "records"), max(0, rapid.Int64Range(-9, 2).Draw(t, "gap")))
			case 6, 7, 8, 9, 10:
				w.mirror(p, rapid.IntRange(1, 200).Draw(t, "copied"), false)
			case 11, 12:
				g := w.groups[rapid.SampledFrom([]string{"billing", "audit"}).Draw(t, "group")]
				g.at[p.tp.Partition] = max(g.at[p.tp.Partition], rapid.IntRange(0, len(p.down)).Draw(t, "at"))
			}
			w.tick(rapid.Int64Range(1, 40_000).Draw(t, "ms"))
		}
		s := w.collect(func() {})
		s.MM2Version = ""
		if rapid.Bool().Draw(t, "starts unknown") {
			s.Flows[0].Tasks = snapshot.NotKnown[[]snapshot.TaskStatus](nil)
		}
		g := newView(s).flows[0].gens
		all++
		if len(g.emissions.All()) == 1 {
			narrow++
		}
		if !g.set.Has(v.Generation()) || !g.emissions.Has(v.Emission()) {
			t.Fatalf("%s taken for %s %v: %q", v, g.set, g.emissions.All(), g.evidence)
		}
	})
	t.Logf("%d of %d narrowed to one rule of emission", narrow, all)
}

// TestInferredIsNeverWrong: a simulated MirrorMaker 2 of any release, restarted now and then, is never taken for one that cannot be.
func TestInferredIsNeverWrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalk(t)
		for range rapid.IntRange(1, 4).Draw(t, "looks") {
			for range rapid.IntRange(0, 80).Draw(t, "steps") {
				w.step()
			}
			s := w.collect(w.short)
			s.MM2Version = ""
			if rapid.Bool().Draw(t, "starts unknown") {
				s.Flows[0].Tasks = snapshot.NotKnown[[]snapshot.TaskStatus](nil)
			}
			g := newView(s).flows[0].gens
			if !g.set.Has(w.version.Generation()) || !g.emissions.Has(w.version.Emission()) || !(mm2.Range{From: g.rng.From, To: g.rng.To}).Contains(w.version) {
				t.Fatalf("%s taken for %s %v (%s): %q", w.version, g.set, g.emissions.All(), g.rng, g.evidence)
			}
		}
	})
}
