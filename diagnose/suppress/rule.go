package suppress

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// Name is what a suppression names: MM2D-301, an id with a bug such as MM2D-601/KAFKA-15905, or a slug.
type Name string

// known tells what is wrong with a name; empty when it is one.
func (n Name) known() string {
	code, _, _ := strings.Cut(string(n), "/")
	if number, ok := strings.CutPrefix(strings.ToUpper(code), "MM2D-"); ok {
		if c, err := strconv.Atoi(number); err == nil && finding.Lookup(finding.Code(c)) != nil {
			return ""
		}
	} else if finding.BySlug(code) != nil {
		return ""
	}
	return fmt.Sprintf("%q is neither a code such as MM2D-301 nor a slug (mm2doctor explain --list has them all)", string(n))
}

// is says that the finding is the one named. A code stands for all its slugs and bugs.
func (n Name) is(f *finding.Finding) bool {
	name := strings.ToUpper(string(n))
	return name == strings.ToUpper(f.ID) || name == f.Code.String() || string(n) == f.Slug
}

// rule is one suppression in use: a comment or an entry of .mm2doctor.yaml.
type rule struct {
	comment *comment
	entry   *Ignore
	used    []int // findings for each name
	late    bool  // something would have been silenced, were it not past its date
}

func (r *rule) names() []Name {
	if r.comment != nil {
		return r.comment.names
	}
	return r.entry.Rules
}

func (r *rule) reason() string {
	if r.comment != nil {
		return r.comment.reason
	}
	return r.entry.Reason
}

func (r *rule) place() finding.Subject {
	if r.comment != nil {
		return finding.Subject{File: r.comment.file, Line: r.comment.line, Column: r.comment.column}
	}
	return finding.Subject{File: r.entry.File, Line: r.entry.Line, Column: r.entry.Column}
}

func (r *rule) expired(today string) bool {
	return r.entry != nil && r.entry.Expires != "" && today > r.entry.Expires
}

// covers says that the rule silences the finding at a place, and counts it.
func (r *rule) covers(f *finding.Finding, at finding.Subject, o Options) bool {
	if r.comment != nil {
		if at.File != r.comment.file || at.Line < r.comment.from || at.Line > r.comment.to {
			return false
		}
	} else if !r.entry.covers(f, at, o) {
		return false
	}
	hit := false
	for i, n := range r.names() {
		if n.is(f) {
			hit = true
			r.used[i]++
		}
	}
	if hit && r.expired(o.Today) {
		r.late = true
		return false
	}
	return hit
}

func (e *Ignore) covers(f *finding.Finding, at finding.Subject, o Options) bool {
	if e.Path != "" && (at.File == "" || !match(e.Path, pathOf(at.File, o), true)) {
		return false
	}
	if e.Key != "" && !match(e.Key, at.Key, false) {
		return false
	}
	return e.Flow == "" || match(arrow(e.Flow), arrow(f.Flow), false)
}

// everywhere says that the entry names no place.
func (e *Ignore) everywhere() bool { return e.Path == "" && e.Key == "" }

// arrow writes a:b as a->b.
func arrow(flow string) string {
	if a, b, ok := strings.Cut(flow, ":"); ok && !strings.Contains(flow, "->") {
		return a + "->" + b
	}
	return flow
}

func pathOf(file string, o Options) string {
	for _, s := range o.Sources {
		if s.Name == file && s.Path != "" {
			return s.Path
		}
	}
	return path.Clean(strings.ReplaceAll(file, "\\", "/"))
}

// match matches a whole text against a pattern: "?" is one character, "*" any number of them. In a path neither is a slash, "**"
// is any number of directories, and a pattern without a slash is about the file's name alone.
func match(pattern, text string, isPath bool) bool {
	if isPath {
		pattern = strings.TrimPrefix(pattern, "./")
		if !strings.Contains(pattern, "/") {
			return wild(pattern, path.Base(text))
		}
		return segments(strings.Split(strings.TrimPrefix(pattern, "/"), "/"), strings.Split(text, "/"))
	}
	return wild(pattern, text)
}

func segments(pattern, text []string) bool {
	switch {
	case len(pattern) == 0:
		return len(text) == 0
	case pattern[0] == "**":
		for i := range len(text) + 1 {
			if segments(pattern[1:], text[i:]) {
				return true
			}
		}
		return false
	}
	return len(text) > 0 && wild(pattern[0], text[0]) && segments(pattern[1:], text[1:])
}

// wild takes time in proportion to both lengths: after a star it goes back to the last one only.
func wild(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j, star, from := 0, 0, -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
