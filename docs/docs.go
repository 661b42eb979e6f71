// Package docs embeds the documentation that mm2doctor explains offline: a page per code, the decision tree, the bundle format.
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

//go:embed codes/MM2D-*.md decision-tree.md snapshot.md
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

// Search finds the codes whose pages hold every word of words (case does not matter), best first: words in the title weigh
// most, then their number in the text. When no page holds them all, pages that hold some. Nil when none does.
func Search(words string) []string {
	terms := strings.Fields(strings.ToLower(words))
	if len(terms) == 0 {
		return nil
	}
	var all, some []hit
	for _, c := range Codes() {
		p, _ := Page(c)
		h, found := rank(c, strings.ToLower(p), terms)
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

// rank counts each term up to five times, so that one frequent word does not outweigh another term; a term in the title
// counts as ten more, and each term found at all as twenty, so that more terms win over many repetitions.
func rank(code, page string, terms []string) (hit, int) {
	title, _, _ := strings.Cut(page, "\n")
	h, found := hit{code: code}, 0
	for _, t := range terms {
		n := strings.Count(page, t)
		if n == 0 {
			continue
		}
		found++
		h.score += 20 + min(n, 5)
		if strings.Contains(title, t) {
			h.score += 10
		}
	}
	return h, found
}

// Guide gives a page that belongs to no code: "decision-tree" or "snapshot". False when there is none.
func Guide(name string) (string, bool) {
	if strings.ContainsAny(name, "/.") {
		return "", false
	}
	return read(name + ".md")
}

func read(path string) (string, bool) {
	b, err := files.ReadFile(path)
	return string(b), err == nil
}
