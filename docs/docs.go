// Package docs embeds the documentation that mm2doctor explains offline: a page per code, the decision tree, how to read a
// report, the bundle format.
//
// What may enter: Markdown and the code that finds it. No judgement and no client.
package docs

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed codes/MM2D-*.md ci.md decision-tree.md reading-a-report.md snapshot.md state.md translate.md
var files embed.FS

const (
	prefix = "MM2D-"
	dir    = "codes/"
)

// Page gives the Markdown page of a code, written as "MM2D-302", "mm2d-302", "302", as a finding's id with a bug behind a
// slash, or as any slug that belongs to the code. False when there is none.
func Page(code string) (string, bool) {
	want := strings.ToUpper(strings.TrimSpace(code))
	want, _, _ = strings.Cut(want, "/")
	if n, err := strconv.ParseUint(strings.TrimPrefix(want, prefix), 10, 16); err == nil {
		return read(fmt.Sprintf("%s%s%03d.md", dir, prefix, n))
	}
	return bySlug(strings.ToLower(want))
}

// bySlug looks at titles first: a slug is also mentioned on the pages of its neighbours, and owned by one alone.
func bySlug(slug string) (string, bool) {
	if slug == "" {
		return "", false
	}
	for _, c := range Codes() {
		p, _ := Page(c)
		if title, _, _ := strings.Cut(p, "\n"); strings.HasSuffix(title, " "+slug) {
			return p, true
		}
	}
	for _, c := range Codes() {
		if p, _ := Page(c); strings.Contains(p, "\n- `"+slug+"`:") {
			return p, true
		}
	}
	return "", false
}

// Codes lists the codes that have a page, ascending, in the form "MM2D-302".
func Codes() []string {
	entries, err := files.ReadDir(strings.TrimSuffix(dir, "/"))
	if err != nil {
		return nil // cannot happen: the directory is compiled in
	}
	var codes []string
	for _, e := range entries {
		codes = append(codes, strings.TrimSuffix(e.Name(), ".md"))
	}
	slices.Sort(codes)
	return codes
}

// Title gives the first line of a page without the mark of the heading: "MM2D-302 group-active-on-target". Empty when the
// code has no page.
func Title(code string) string {
	p, ok := Page(code)
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(p, "\n")
	return strings.TrimPrefix(first, "# ")
}

// Search finds the codes whose pages hold every word of words (case, hyphens and little words such as "the" do not matter), best
// first: words in the title weigh most, then what the page says one sees, then the rest. When no page holds them all, pages
// that hold some. Nil when none does.
func Search(words string) []string {
	var terms []string
	for _, w := range strings.Fields(words) {
		if p := plain(w); len(p) > 0 {
			terms = append(terms, strings.Join(p, " ")) // a word with hyphens stays one term: its parts alone mean something else
		}
	}
	if len(terms) == 0 {
		return nil
	}
	var all, some []hit
	for _, c := range Codes() {
		p, _ := Page(c)
		h, found := rank(c, p, terms)
		switch {
		case found == len(terms):
			all = append(all, h)
		case found > 0:
			some = append(some, h)
		}
	}
	if len(all) == 0 {
		all = some
	}
	slices.SortStableFunc(all, func(a, b hit) int { return b.score - a.score })
	var codes []string
	for _, h := range all {
		codes = append(codes, h.code)
	}
	return codes
}

type hit struct {
	code  string
	score int
}

// littleWords tell no page from another.
var littleWords = strings.Fields("a an and are at but by do for in is it of on or the to")

// plain gives the words of a text without case, hyphens, marks and little words. What has dots or underscores inside, such as
// a setting, and a bug's number stay whole.
func plain(text string) []string {
	var out []string
	for _, w := range strings.Fields(strings.ToLower(text)) {
		w = strings.Trim(w, "`*,.;:()!?\"'|#")
		if !strings.HasPrefix(w, "kafka-") && !strings.HasPrefix(w, "kip-") && !strings.HasPrefix(w, "mm2d-") && !strings.Contains(w, ".") {
			w = strings.ReplaceAll(w, "-", " ")
		}
		for _, part := range strings.Fields(w) {
			if !slices.Contains(littleWords, part) {
				out = append(out, part)
			}
		}
	}
	return out
}

// rank: each term found counts as twenty, so that more terms win over many repetitions, and up to five times as one. A term in
// the title counts as thirty more, one in what is seen as ten. All terms together and in order, in the title or in what is
// seen, outweigh everything else.
func rank(code, page string, terms []string) (hit, int) {
	first, rest, _ := strings.Cut(page, "\n")
	_, seen, _ := strings.Cut(rest, "\n## What you see\n")
	seen, _, _ = strings.Cut(seen, "\n## ")
	title, symptoms, whole := strings.Join(plain(first), " "), strings.Join(plain(seen), " "), strings.Join(plain(page), " ")
	h, found := hit{code: code}, 0
	for _, t := range terms {
		n := strings.Count(whole, t)
		if n == 0 {
			continue
		}
		found++
		h.score += 20 + min(n, 5)
		if strings.Contains(title, t) {
			h.score += 30
		}
		if strings.Contains(symptoms, t) {
			h.score += 10
		}
	}
	phrase := strings.Join(terms, " ")
	if strings.Contains(title, phrase) {
		h.score += 1000
	}
	if strings.Contains(symptoms, phrase) {
		h.score += 200
	}
	return h, found
}

// Guide gives a page that belongs to no code: "ci", "decision-tree" (or "decision tree"), "reading-a-report", "snapshot" or "state". False
// when there is none.
func Guide(name string) (string, bool) {
	name = strings.Join(strings.Fields(strings.ToLower(name)), "-")
	if strings.ContainsAny(name, "/.") {
		return "", false
	}
	return read(name + ".md")
}

func read(path string) (string, bool) {
	b, err := files.ReadFile(path)
	return string(b), err == nil
}
