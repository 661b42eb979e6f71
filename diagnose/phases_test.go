package diagnose

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/fixtures/looks"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

var update = flag.Bool("update", false, "write the golden files anew")

// told is a doctor who knows the version and reads MirrorMaker 2's own topics; untold has neither.
var told, untold = looks.Options{Claim: true, Worker: true}, looks.Options{}

// captured are the runs that were recorded, loaded once with their logs.
func captured(t *testing.T) []*captures.Capture {
	t.Helper()
	var out []*captures.Capture
	for _, name := range captures.Names() {
		c, err := captures.LoadFrom(os.DirFS("../fixtures/captures"), name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func look(t *testing.T, c *captures.Capture, phase string, o looks.Options) *snapshot.Snapshot {
	t.Helper()
	s, err := looks.Of(c, phase, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// place is a row of the truth or of a report.
type place struct {
	group, topic string
	part         int32
}

// said is what a code says of places, as a finding or as the consequence of one.
type said map[finding.Code]map[place]finding.Severity

func sayings(r *Report) said {
	out := said{}
	add := func(text string, sev finding.Severity, ss []finding.Subject) {
		var n int
		fmt.Sscanf(text, "MM2D-%d", &n)
		c := finding.Code(n)
		if out[c] == nil {
			out[c] = map[place]finding.Severity{}
		}
		for _, s := range ss {
			p := place{s.Group, s.Topic, -1}
			if s.Partition != nil {
				p.part = *s.Partition
			}
			out[c][p] = max(out[c][p], sev)
		}
	}
	for _, f := range r.Findings {
		add(f.CodeText, f.Severity, append(slices.Clone(f.Subjects), f.Subject))
		for _, e := range f.Explains {
			add(e.Code, e.Severity, e.Subjects)
		}
	}
	return out
}

// String counts the places of each code by severity: "206:5E 303:2W".
func (s said) String() string {
	var b strings.Builder
	for _, c := range slices.Sorted(maps.Keys(s)) {
		n := [4]int{}
		for _, sev := range s[c] {
			n[sev]++
		}
		for sev := 3; sev > 0; sev-- {
			if n[sev] > 0 {
				fmt.Fprintf(&b, " %03d:%d%c", int(c), n[sev], "-IWE"[sev])
			}
		}
	}
	return b.String()
}

func truthOf(t *testing.T, c *captures.Capture, phase string) map[place]captures.Accuracy {
	t.Helper()
	rows, err := c.Accuracy()
	if err != nil {
		t.Fatal(err)
	}
	out := map[place]captures.Accuracy{}
	for _, a := range rows {
		if a.Phase == phase {
			out[place{a.Group, a.Topic, a.Partition}] = a
		}
	}
	return out
}

// TestPhases judges every captured moment of every version by what was recorded of each record: no finding says what is
// not so, and what is so is found. The golden table lists all that is found.
func TestPhases(t *testing.T) {
	var table bytes.Buffer
	for _, c := range captured(t) {
		v, err := mm2.ParseVersion(c.Scenario.MM2)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Phases {
			truth := truthOf(t, c, p.Phase)
			for _, o := range []looks.Options{told, untold} {
				name := fmt.Sprintf("%s %s %s", c.Name, p.Phase, map[bool]string{true: "told", false: "untold"}[o.Claim])
				r, _ := Run(look(t, c, p.Phase, o), Options{})
				s := sayings(r)
				fmt.Fprintf(&table, "%s: %s%s\n", name, r.Summary.Verdict, s)
				if p.Phase == "p0" {
					if r.Findings[0].Code != 5 || r.Summary.Errors != 1 {
						t.Errorf("%s: MirrorMaker 2 never ran, found%s", name, s)
					}
					continue
				}
				if gens := strings.Join(r.Flows[0].MM2.Generations, " "); !strings.Contains(gens, v.Generation().String()) {
					t.Errorf("%s: %s taken for %s", name, c.Scenario.MM2, gens)
				}
				accuracyIsTrue(t, name, s, truth)
				errorsAreExplained(t, name, v, s, truth)
				if o.Claim {
					skipsAreFound(t, name, v, r, truth)
				}
				if s[203][place{"connect-x", "", -1}] != finding.Info || s[204][place{"g-unmirrored", "internal-notes", -1}] != finding.Info {
					t.Errorf("%s: the filters' effects: %v %v", name, s[203], s[204])
				}
			}
		}
	}
	goldenFile(t, "testdata/phases.txt", table.Bytes())
}

func goldenFile(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(w), len(g)) {
		a, b := "", ""
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			t.Errorf("%s:%d\n want %s\n got  %s", path, i+1, a, b)
		}
	}
}

// accuracyIsTrue: a code that says T is wrong is said only where T is wrong, and every T beyond the end is found.
func accuracyIsTrue(t *testing.T, name string, s said, truth map[place]captures.Accuracy) {
	for _, code := range []finding.Code{401, 403, 404, 405, 303} {
		for pl, sev := range s[code] {
			a, ok := truth[pl]
			if !ok || code == 303 && sev < finding.Warning {
				continue
			}
			if a.T == nil || a.Skip == 0 && a.BeyondEnd == 0 || code == 401 && a.BeyondEnd == 0 {
				t.Errorf("%s: %v of %v, but %s", name, code, pl, worth(a))
			}
		}
	}
	for pl := range s[402] { // records that others deleted count less than offsets, and there are none of them here
		if a := truth[pl]; a.T == nil || a.Skip > 0 || a.Reread <= 101 {
			t.Errorf("%s: 402 of %v, but %s", name, pl, worth(a))
		}
	}
	for pl, a := range truth {
		if _, found := s[401][pl]; a.BeyondEnd > 0 && !found {
			t.Errorf("%s: %v lies %d beyond the end and was not found", name, pl, a.BeyondEnd)
		}
	}
}

// errorsAreExplained: the scenario has no other faults than lost syncs, the rules of old versions, two rewound groups (p5),
// one active and one deleted on the target (p6).
func errorsAreExplained(t *testing.T, name string, v mm2.Version, s said, truth map[place]captures.Accuracy) {
	old := v.Before(3, 4, 1)
	for code, places := range s {
		for pl, sev := range places {
			if sev < finding.Warning {
				continue
			}
			a := truth[pl]
			ok := false
			switch code {
			case 206: // no translation: no T, or one that is left from before the group went back, or from an old version's rule
				ok = a.T == nil || pl.group == "g-mid" || pl.group == "g-back1" || old && a.Skip+a.BeyondEnd > 0
			case 103:
				ok = a.T == nil || v.Generation() == mm2.G1
			case 303:
				ok = old || pl.group == "g-mid" || pl.group == "g-back1"
			case 302:
				ok = pl.group == "g-head" && strings.Contains(name, " p6 ")
			case 401, 403, 404, 405:
				ok = old
			}
			if !ok {
				t.Errorf("%s: %v of %v has no cause in the scenario: %s", name, code, pl, worth(a))
			}
		}
	}
}

// skipsAreFound: from 3.4.1 on, where positions are never counted on, every T that skips records comes from a rewind; its
// row is never ok, if only a remark is made where the offset syncs leave it open. Nor is a row without T, unless its position
// lies before the log or the partition is empty.
func skipsAreFound(t *testing.T, name string, v mm2.Version, r *Report, truth map[place]captures.Accuracy) {
	if v.Before(3, 4, 1) {
		return // within the bounds of the syncs only a comparison of records can tell
	}
	for _, row := range r.Partitions {
		a := truth[place{row.Group, row.Topic, row.Partition}]
		if a.T == nil && a.Phase != "" && row.Status == statusOK && row.Disposition != Intended && !strings.Contains(row.Note, "log start") && !strings.Contains(row.Note, "is empty") {
			t.Errorf("%s: %s %s-%d has no offset and is ok (%s): %s", name, row.Group, row.Topic, row.Partition, row.Note, worth(a))
		}
		if a.T != nil && a.Skip > 0 && (row.Status == statusOK || row.Status == statusMoving) {
			t.Errorf("%s: %s %s-%d is %s, but %s", name, row.Group, row.Topic, row.Partition, row.Status, worth(a))
		}
	}
}

func worth(a captures.Accuracy) string {
	if a.T == nil {
		return fmt.Sprintf("U %d, no T, exact %d", a.U, a.Exact)
	}
	return fmt.Sprintf("U %d, T %d, exact %d, re-read %d, skipped %d, beyond the end %d", a.U, *a.T, a.Exact, a.Reread, a.Skip, a.BeyondEnd)
}

// TestRewindInTwoLooks: what one look can only suspect is proved when the group moves on between two.
func TestRewindInTwoLooks(t *testing.T) {
	for _, c := range captured(t) {
		if c.Name != "3.9.1" && c.Name != "4.1.1" && c.Name != "3.6.2" {
			continue
		}
		truth := truthOf(t, c, "p5")
		one := look(t, c, "p5", told)
		r, _ := Run(one, Options{})
		first := sayings(r)[303]
		one.Earlier = look(t, c, "p4", told)
		r, _ = Run(one, Options{})
		s := sayings(r)
		proved := 0
		for pl, sev := range s[303] {
			if sev == finding.Info {
				continue
			}
			proved++
			if sev != finding.Error || first[pl] != finding.Warning || truth[pl].Skip == 0 {
				t.Errorf("%s: %v is %v after %v, %s", c.Name, pl, sev, first[pl], worth(truth[pl]))
			}
		}
		if proved < 6 {
			t.Errorf("%s: %d proved:%s", c.Name, proved, s)
		}
	}
}
