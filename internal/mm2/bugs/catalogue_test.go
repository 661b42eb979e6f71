package bugs

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// known is the list of facts that the catalogue was made from: releases read in the history of Kafka, not derived here.
type known struct {
	ID, Component, Status, Impact string
	RunsOn                        []Place
	Affects                       [][2]string
	Fixed                         map[string]string
	NotFixedOn, BranchOnly        []string
	Logs                          [][3]string
}

func knownFacts(t *testing.T) []known {
	t.Helper()
	raw, err := os.ReadFile("testdata/catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []known
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	if len(out) != 116 {
		t.Fatalf("%d entries in the list, want 116", len(out))
	}
	return out
}

func TestEveryKnownEntry(t *testing.T) {
	list := knownFacts(t)
	if len(All()) != len(list) {
		t.Errorf("%d entries, the list has %d", len(All()), len(list))
	}
	for _, k := range list {
		t.Run(k.ID, func(t *testing.T) {
			b, ok := Lookup(k.ID)
			if !ok {
				t.Fatal("missing")
			}
			if string(b.Component) != k.Component || string(b.Status) != k.Status || string(b.Impact) != k.Impact {
				t.Errorf("got %s, %s, %s, want %s, %s, %s", b.Component, b.Status, b.Impact, k.Component, k.Status, k.Impact)
			}
			if !slices.Equal(b.RunsOn, k.RunsOn) {
				t.Errorf("runs on %v, want %v", b.RunsOn, k.RunsOn)
			}
			var affects [][2]string
			for _, s := range b.Affects {
				pair := [2]string{s.From.String(), ""}
				if !s.Before.IsZero() {
					pair[1] = s.Before.String()
				}
				affects = append(affects, pair)
			}
			if !slices.Equal(affects, k.Affects) {
				t.Errorf("affects %v, want %v", affects, k.Affects)
			}
			var want []mm2.Version
			for _, text := range k.Fixed {
				want = append(want, version(text))
			}
			slices.SortFunc(want, mm2.Version.Compare)
			if !slices.Equal(b.Fixes(), want) {
				t.Errorf("fixes %v, want %v", b.Fixes(), want)
			}
			if !slices.Equal(b.NotFixedOn(), k.NotFixedOn) {
				t.Errorf("not fixed on %v, want %v", b.NotFixedOn(), k.NotFixedOn)
			}
			if !slices.Equal(b.Branches, k.BranchOnly) {
				t.Errorf("branches %v, want %v", b.Branches, k.BranchOnly)
			}
			for _, l := range k.Logs {
				if !slices.ContainsFunc(b.Logs, func(p LogPattern) bool {
					return p.Level == l[0] && strings.Trim(p.Match.String(), ".*") == strings.Trim(l[1], ".*") && p.Cause == l[2]
				}) {
					t.Errorf("no log pattern %v", l)
				}
			}
			if len(b.Logs) != len(k.Logs) {
				t.Errorf("%d log patterns, want %d", len(b.Logs), len(k.Logs))
			}
		})
	}
}

func TestCatalogueIsSound(t *testing.T) {
	seen := map[string]bool{}
	id := regexp.MustCompile(`^((KAFKA|KIP|MINOR|PR)-\d+|BEHAVIOUR-[a-z0-9-]+)$`)
	issue := regexp.MustCompile(`KAFKA-\d+`)
	for _, b := range All() {
		if seen[b.ID] || !id.MatchString(b.ID) {
			t.Errorf("%s: twice, or no id", b.ID)
		}
		seen[b.ID] = true
		if b.Title == "" || b.Effect == "" || b.Workaround == "" {
			t.Errorf("%s: a sentence is missing", b.ID)
		}
		if strings.HasSuffix(b.Title, ".") || !strings.HasSuffix(b.Effect, ".") || !strings.HasSuffix(b.Workaround, ".") {
			t.Errorf("%s: a title has no full stop, sentences have one", b.ID)
		}
		if b.Impact.Weight() < 0 {
			t.Errorf("%s: impact %q", b.ID, b.Impact)
		}
		for i, s := range b.Affects {
			if !s.From.Exists() || !s.Before.IsZero() && (!s.Before.Exists() || s.Before.Compare(s.From) <= 0) {
				t.Errorf("%s: range %v names no release", b.ID, s)
			}
			if i > 0 && s.From.Compare(b.Affects[i-1].Before) <= 0 {
				t.Errorf("%s: ranges touch or are out of order", b.ID)
			}
		}
		for _, v := range b.Fixes() {
			if !v.Exists() || v.WasNeverReleased() || b.Affected(v) {
				t.Errorf("%s: %v cannot be a fix", b.ID, v)
			}
		}
		for _, c := range b.Conditions {
			if c.Text == "" {
				t.Errorf("%s: a condition without words", b.ID)
			}
		}
		for _, s := range b.Signs {
			if s.Text == "" || s.Proof && s.Test == nil {
				t.Errorf("%s: sign %q", b.ID, s.Text)
			}
		}
		for _, other := range issue.FindAllString(b.Effect+b.Workaround, -1) {
			if _, ok := Lookup(other); !ok {
				t.Errorf("%s speaks of %s, which is not in the catalogue", b.ID, other)
			}
		}
		for _, p := range b.Logs {
			if p.Match == nil || p.Match.MatchString("") != (p.Match.String() == ".*") {
				t.Errorf("%s: pattern %v matches an empty message", b.ID, p.Match)
			}
			if p.literal == "" && p.Cause == "" {
				t.Errorf("%s: pattern %v fits any line", b.ID, p.Match)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	if b, ok := Lookup("kafka-15905"); !ok || b.ID != "KAFKA-15905" || b.Issue() != "KAFKA-15905" {
		t.Errorf("got %v, %v", b.ID, ok)
	}
	if b, ok := Lookup("BEHAVIOUR-comma-group"); !ok || b.Issue() != "" {
		t.Errorf("got %v, issue %q", ok, b.Issue())
	}
	if _, ok := Lookup("KAFKA-1"); ok {
		t.Error("KAFKA-1 found")
	}
	changed := All()
	changed[0].ID = "x"
	if All()[0].ID == "x" {
		t.Error("All hands out its own table")
	}
}

func TestFixedIn(t *testing.T) {
	for _, tc := range []struct {
		id, line, want string
	}{
		{"KAFKA-12468", "3.3", ""},
		{"KAFKA-12468", "3.4", "3.4.1"},
		{"KAFKA-12468", "3.5", "3.5.0"},
		{"KAFKA-12468", "4.4", "4.4.0"},
		{"KAFKA-12468", "5.0", ""},
		{"KAFKA-12468", "2.3", ""},
		{"KAFKA-12468", "nonsense", ""},
		{"KAFKA-15607", "3.5", "3.5.2"},
		{"KAFKA-15607", "3.6", "3.6.1"},
		{"KAFKA-15607", "3.4", ""},
		{"KAFKA-15607", "2.6", "2.6.0"}, // never had it: no group-offset sync
		{"KAFKA-15905", "3.7", "3.7.1"},
		{"KAFKA-15906", "3.6", ""},
		{"KAFKA-17192", "3.7", "3.7.2"},
		{"KAFKA-19794", "4.4", ""},
		{"KAFKA-14797", "3.4", ""},
		{"KAFKA-14797", "3.5", "3.5.0"},
	} {
		b, ok := Lookup(tc.id)
		if !ok {
			t.Fatal(tc.id)
		}
		got := ""
		if v, ok := FixedIn(b, tc.line); ok {
			got = v.String()
		}
		if got != tc.want {
			t.Errorf("%s on %s: got %q, want %q", tc.id, tc.line, got, tc.want)
		}
	}
}

func TestClaims(t *testing.T) {
	for _, tc := range []struct {
		id, version string
		wrong       bool
		text        string
	}{
		{"KAFKA-12468", "3.3.3", true, "3.3.3 was never released; KAFKA-12468: fixed in 3.4.1, 3.5.0 and the lines after; no fixed release of 2.4, 2.5, 2.6, 2.7, 2.8, 3.0, 3.1, 3.2, 3.3."},
		{"KAFKA-12468", "3.4.1", false, "right: KAFKA-12468 is fixed in 3.4.1, 3.5.0 and the lines after; no fixed release of 2.4, 2.5, 2.6, 2.7, 2.8, 3.0, 3.1, 3.2, 3.3."},
		{"KAFKA-14666", "3.3.3", true, ""},
		{"KAFKA-15202", "3.4.2", true, ""},
		{"KAFKA-15607", "3.5.3", true, ""},
		{"KAFKA-15905", "3.6.3", true, "3.6.3 was never released; KAFKA-15905: fixed in 3.7.1, 3.8.0 and the lines after; no fixed release of 3.4, 3.5, 3.6."},
		{"KAFKA-15906", "3.6.2", true, "3.6.2 still shows KAFKA-15906; fixed in 3.7.0 and the lines after; no fixed release of 3.4, 3.5, 3.6."},
		{"KAFKA-15906", "3.9.1", false, ""},
		{"KAFKA-18021", "3.9.2", true, ""},
		{"KAFKA-19794", "4.3.1", true, "4.3.1 still shows KAFKA-19794; no release has a fix."},
		{"KAFKA-15905", "3.4.0", true, ""},
		{"KAFKA-15905", "3.10.0", true, ""},
		{"KAFKA-15905", "soon", true, ""},
		{"KAFKA-14797", "3.5.0", false, "KAFKA-14797: the change came with 3.5.0."},
		{"KAFKA-20643", "4.3.0", true, ""},
		{"KAFKA-1", "3.3.3", false, ""},
	} {
		text, wrong := CorrectClaim(tc.id, tc.version)
		if wrong != tc.wrong || tc.text != "" && text != tc.text || text == "" && tc.id != "KAFKA-1" {
			t.Errorf("%s in %s: got %v, %q", tc.id, tc.version, wrong, text)
		}
	}
	for _, c := range Claims() {
		wrong := 0
		for _, v := range c.Versions {
			if _, w := CorrectClaim(c.ID, v); w {
				wrong++
			}
		}
		want := map[int]string{0: "yes", len(c.Versions): "no"}[wrong]
		if want == "" {
			want = "partly"
		}
		if c.Holds != want || c.Finding == "" {
			t.Errorf("%s: %q, but %d of %d versions are wrong", c.ID, c.Holds, wrong, len(c.Versions))
		}
	}
	// The cherry-picks that nobody can run are the ones that texts name.
	for _, b := range All() {
		for _, line := range b.Branches {
			for _, v := range mm2.NeverReleased() {
				if strings.HasPrefix(v.String(), line+".") {
					if _, wrong := CorrectClaim(b.ID, v.String()); !wrong {
						t.Errorf("%s in %v is taken for right", b.ID, v)
					}
				}
			}
		}
	}
}
