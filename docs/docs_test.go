package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/docs"
)

var headings = []string{
	"## What you see", "## Why it happens", "## How it is proved", "## Confirm by hand", "## Fix", "## When it is not this",
	"## Related",
}

const maxLine = 130

func TestEveryCodeHasItsPage(t *testing.T) {
	for _, e := range finding.Codes {
		page, ok := docs.Page(e.Code.String())
		if !ok {
			t.Errorf("%s %s: no page", e.Code, e.Slug)
			continue
		}
		first, _, _ := strings.Cut(page, "\n")
		if want := fmt.Sprintf("# %s %s", e.Code, e.Slug); first != want {
			t.Errorf("%s: first line %q, want %q", e.Code, first, want)
		}
		for _, s := range e.Slugs {
			if !strings.Contains(page, "`"+s+"`") {
				t.Errorf("%s: slug %s is not explained", e.Code, s)
			}
			if got, ok := docs.Page(s); !ok || got != page {
				t.Errorf("%s: slug %s does not lead to the page", e.Code, s)
			}
		}
	}
}

func TestEveryPageHasItsCode(t *testing.T) {
	for _, c := range docs.Codes() {
		if !known(c) {
			t.Errorf("%s: a page without an entry in the table of codes", c)
		}
	}
	if got, want := len(docs.Codes()), len(finding.Codes); got != want {
		t.Errorf("%d pages for %d codes", got, want)
	}
}

func TestHeadingsInOrder(t *testing.T) {
	for _, c := range docs.Codes() {
		page, _ := docs.Page(c)
		var got []string
		fenced := false
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if !fenced && strings.HasPrefix(line, "## ") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if !slices.Equal(got, headings) {
			t.Errorf("%s: headings %q", c, got)
		}
		if fenced {
			t.Errorf("%s: a code fence is not closed", c)
		}
		for _, h := range headings {
			if _, body, _ := strings.Cut(page, h+"\n\n"); body == "" || strings.HasPrefix(body, "## ") {
				t.Errorf("%s: nothing under %q", c, h)
			}
		}
	}
}

func TestFixNamesEachWayOfRunning(t *testing.T) {
	for _, c := range docs.Codes() {
		page, _ := docs.Page(c)
		_, fix, _ := strings.Cut(page, "## Fix\n")
		fix, _, _ = strings.Cut(fix, "## When it is not this")
		fix = strings.ToLower(fix)
		if c == "MM2D-003" { // ACLs of the doctor itself: MirrorMaker 2 is not touched
			continue
		}
		for _, mode := range []string{"dedicated", "connect", "strimzi"} {
			if !strings.Contains(fix, mode) {
				t.Errorf("%s: the fix says nothing for %s", c, mode)
			}
		}
	}
}

var (
	codeRE    = regexp.MustCompile(`MM2D-[0-9]+`)
	versionRE = regexp.MustCompile(`\b[234]\.[0-9]+\.[0-9]+\b`)
	// Texts that name these as fixed releases are wrong: nobody can run them.
	neverReleased = []string{"3.3.3", "3.4.2", "3.5.3", "3.6.3"}
	released      = strings.Fields(`2.4.0 2.4.1 2.5.0 2.5.1 2.6.0 2.6.1 2.6.2 2.6.3 2.7.0 2.7.1 2.7.2 2.8.0 2.8.1 2.8.2
		3.0.0 3.0.1 3.0.2 3.1.0 3.1.1 3.1.2 3.2.0 3.2.1 3.2.2 3.2.3 3.3.0 3.3.1 3.3.2 3.4.0 3.4.1 3.5.0 3.5.1 3.5.2
		3.6.0 3.6.1 3.6.2 3.7.0 3.7.1 3.7.2 3.8.0 3.8.1 3.9.0 3.9.1 3.9.2 4.0.0 4.0.1 4.0.2 4.1.0 4.1.1 4.1.2 4.2.0
		4.2.1 4.3.0 4.3.1 4.4.0`)
)

func TestTextsNameOnlyWhatExists(t *testing.T) {
	for name, text := range texts() {
		n := 0
		for line := range strings.Lines(text) {
			n++
			for _, c := range codeRE.FindAllString(line, -1) {
				if !known(c) {
					t.Errorf("%s:%d: %s is not in the table of codes", name, n, c)
				}
			}
			for _, v := range versionRE.FindAllString(line, -1) {
				if slices.Contains(neverReleased, v) {
					if !strings.Contains(line, "never released") {
						t.Errorf("%s:%d: %s was never released: %s", name, n, v, line)
					}
				} else if !slices.Contains(released, v) {
					t.Errorf("%s:%d: %s is no release of Kafka", name, n, v)
				}
			}
		}
	}
}

func TestLines(t *testing.T) {
	for name, text := range texts() {
		if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: does not end in exactly one newline", name)
		}
		n := 0
		for line := range strings.Lines(text) {
			n++
			line = strings.TrimSuffix(line, "\n")
			if l := utf8.RuneCountInString(line); l > maxLine {
				t.Errorf("%s:%d: %d characters", name, n, l)
			}
			if strings.TrimRight(line, " \t\r") != line || strings.Contains(line, "\t") {
				t.Errorf("%s:%d: blanks at the end, or a tab", name, n)
			}
		}
	}
}

func TestDecisionTreeReachesEveryCode(t *testing.T) {
	tree, ok := docs.Guide("decision-tree")
	if !ok {
		t.Fatal("no decision tree")
	}
	for _, e := range finding.Codes {
		if !strings.Contains(tree, e.Code.String()) {
			t.Errorf("%s %s: not in the decision tree", e.Code, e.Slug)
		}
	}
}

func TestPageSpellings(t *testing.T) {
	want, ok := docs.Page("MM2D-302")
	if !ok {
		t.Fatal("no page for MM2D-302")
	}
	for _, s := range []string{"mm2d-302", "302", " 302 ", "group-active-on-target", "MM2D-302/KAFKA-19794"} {
		if got, ok := docs.Page(s); !ok || got != want {
			t.Errorf("Page(%q) is not the page of MM2D-302", s)
		}
	}
	if docs.Title("1") != "MM2D-001 cluster-unreachable" {
		t.Errorf("Title(1) = %q", docs.Title("1"))
	}
	for _, s := range []string{"", "MM2D-", "MM2D-999", "-302", "302.md", "../docs.go", "no-such-slug"} {
		if _, ok := docs.Page(s); ok {
			t.Errorf("Page(%q) found something", s)
		}
	}
	if got := docs.Title("MM2D-999"); got != "" {
		t.Errorf("Title of a code without a page: %q", got)
	}
	for _, s := range []string{"", "codes/MM2D-302", "../docs", "no-such"} {
		if _, ok := docs.Guide(s); ok {
			t.Errorf("Guide(%q) found something", s)
		}
	}
}

func TestSearch(t *testing.T) {
	for _, c := range []struct{ words, first string }{
		{"negative lag", "MM2D-401"},
		{"UnknownMemberId members", "MM2D-302"}, // only some of the words: the fallback
		{"UNKNOWN_MEMBER_ID", "MM2D-302"},
		{"sync.group.offsets.enabled default", "MM2D-301"},
		{"refresh.groups.interval.seconds discovery", "MM2D-205"},
		{"KAFKA-15905", "MM2D-206"},
		{"Location Mismatch", "MM2D-102"},
		{"group active on target", "MM2D-302"}, // a slug with blanks
		{"UnknownMemberId", "MM2D-302"},
		{"checkpoints empty", "MM2D-202"},
		{"checkpoints missing", "MM2D-201"},
		{"offsets frozen", "MM2D-302"},
		{"not on the target", "MM2D-201"},
	} {
		got := docs.Search(c.words)
		if len(got) == 0 || got[0] != c.first {
			t.Errorf("Search(%q) = %v, want %s first", c.words, got, c.first)
		}
	}
	for _, none := range []string{"", "   ", "zzzzqqq"} {
		if got := docs.Search(none); got != nil {
			t.Errorf("Search(%q) = %v", none, got)
		}
	}
}

// TestSearchBySymptom: the words of each line of README's table lead to one of the codes beside them.
func TestSearchBySymptom(t *testing.T) {
	_, table, ok := strings.Cut(read(t, "../README.md"), "| you see | look at |\n|---|---|\n")
	if !ok {
		t.Fatal("README has no table of symptoms")
	}
	n := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		n++
		got := docs.Search(cells[1])
		if len(got) == 0 || !slices.Contains(strings.Fields(cells[2]), strings.TrimPrefix(got[0], "MM2D-")) {
			t.Errorf("Search(%q) = %v, want one of%sfirst", cells[1], got, cells[2])
		}
	}
	if n < 5 {
		t.Errorf("%d symptoms", n)
	}
}

func TestGuides(t *testing.T) {
	for _, c := range []struct{ name, first string }{
		{"decision-tree", "# Decision tree"},
		{"decision tree", "# Decision tree"},
		{" Decision  Tree ", "# Decision tree"},
		{"reading-a-report", "# Reading a report"},
		{"reading a report", "# Reading a report"},
		{"snapshot", "# The bundle: snapshot.json"},
		{"state", "# The state file"},
	} {
		page, _ := docs.Guide(c.name)
		if first, _, _ := strings.Cut(page, "\n"); first != c.first {
			t.Errorf("Guide(%q) begins with %q, want %q", c.name, first, c.first)
		}
	}
}

// known tells whether the text form names an entry of the table.
func known(code string) bool {
	return slices.ContainsFunc(finding.Codes, func(e finding.Entry) bool { return e.Code.String() == code })
}

// texts are all embedded pages by name.
func texts() map[string]string {
	m := map[string]string{}
	for _, c := range docs.Codes() {
		m[c], _ = docs.Page(c)
	}
	for _, g := range []string{"ci", "decision-tree", "reading-a-report", "snapshot", "state"} {
		m[g], _ = docs.Guide(g)
	}
	return m
}
