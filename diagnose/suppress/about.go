package suppress

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

const (
	unusedCode  = finding.Code(591)
	expiredCode = finding.Code(592)
	invalidCode = finding.Code(593)
)

// about gives the findings about a suppression: past its date, or with nothing to silence.
func (r *rule) about(o Options) []finding.Finding {
	if r.expired(o.Today) {
		because := fmt.Sprintf("It held until %s, and today is %s.", r.entry.Expires, o.Today)
		next := "Nothing of the kind is found any more."
		if r.late {
			next = "What it silenced is shown again."
		}
		return []finding.Finding{r.finding(expiredCode, strings.Join(texts(r.names()), ", "), because, next,
			"Repair what it silenced, or accept it anew: give the entry a later date and a reason that still holds. Delete the entry where nothing is found any more.")}
	}
	if r.entry != nil && !r.entry.seen(o) {
		return nil // about files that this run did not look at
	}
	var idle []Name
	for i, n := range r.names() {
		if r.used[i] == 0 {
			idle = append(idle, n)
		}
	}
	if len(idle) == 0 {
		return nil
	}
	because := "Nothing of " + strings.Join(texts(idle), ", ") + " is found there in this run."
	if r.comment != nil && r.comment.from == 0 {
		because = "No setting follows the comment: it must stand on the line before, with only comments between."
	}
	return []finding.Finding{r.finding(unusedCode, strings.Join(texts(idle), ", "), because, "If the fault comes back at this place, nobody will see it.",
		"Delete it, unless a run with other files, another --flow or another --mm2-version needs it.")}
}

// seen says that the entry is about a file of this run. One without a path is about all of them, so that a run over some files
// alone proves nothing about it.
func (e *Ignore) seen(o Options) bool {
	if e.Path == "" {
		return false
	}
	for _, s := range o.Sources {
		if match(e.Path, pathOf(s.Name, o), true) {
			return true
		}
	}
	return false
}

func invalid(c *comment, why string) finding.Finding {
	r := rule{comment: c}
	return r.finding(invalidCode, "", "The comment is not understood: "+why+".", "It silences nothing.",
		"Write it on the line before the setting (in YAML also behind the value), as: # mm2doctor:ignore CODE-OR-SLUG[,...] reason.")
}

func (r *rule) finding(code finding.Code, names, because, consequence, repair string) finding.Finding {
	e := finding.Lookup(code)
	at := r.place()
	f := finding.Finding{
		Code: code, ID: code.String(), CodeText: code.String(), Slug: e.Slug, Severity: e.Severity, Link: finding.LinkNone,
		Subject: at, SubjectCount: 1, Because: because, Consequence: consequence,
		Confirm: []finding.Command{{Command: fmt.Sprintf("sed -n %dp %s", at.Line, shell(at.File)), Shows: "the suppression"}},
		Fixes:   []finding.Fix{{Text: repair}},
		Docs:    "docs/codes/" + code.String() + ".md",
	}
	if names != "" {
		f.Observed = append(f.Observed, finding.Observed{{Name: "rules", Value: names}}...)
	}
	if reason := r.reason(); reason != "" {
		f.Observed = append(f.Observed, finding.Observed{{Name: "reason", Value: reason}}...)
	}
	return f
}

func texts(names []Name) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

// shell quotes a file's name for a POSIX shell where that is needed.
func shell(s string) string {
	if strings.HasPrefix(s, "-") { // no option
		s = "./" + s
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
