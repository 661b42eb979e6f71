// Package suppress takes out findings that somebody has accepted, each with a reason: by a comment beside the line, or by an entry
// of .mm2doctor.yaml. A suppression that silences nothing, is past its date or cannot be understood is a finding of its own.
//
// What may enter: comments, the parts of .mm2doctor.yaml that speak of findings, and what they do to a list of findings. No file
// access and no clock: texts and today's date come in as values.
package suppress

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// Source is one file that was checked.
type Source struct {
	Name string // as in Subject.File
	Path string // relative to the directory of .mm2doctor.yaml, with slashes; empty: Name
	Text []byte
}

// Options say what to silence.
type Options struct {
	Sources  []Source
	Settings *Settings        // nil: there is no .mm2doctor.yaml
	Today    string           // YYYY-MM-DD in UTC; empty: nothing expires
	Least    finding.Severity // findings below it are left out; 0: none is
	ByPlace  bool             // the findings come in the order of files and lines, not of importance
}

// Silenced is a finding, or the part of one, that was taken out.
type Silenced struct {
	Finding finding.Finding
	By      finding.Subject // the comment, or the entry of .mm2doctor.yaml
	Reason  string
}

// Result is what is left.
type Result struct {
	Findings []finding.Finding
	Silenced []Silenced
	Below    int // findings left out because they are below Options.Least
}

// Apply silences findings, sets severities as .mm2doctor.yaml says, adds findings about the suppressions themselves, and leaves out what
// is below the least severity. The order stays, but where a new severity or a new finding changes it. A finding about several places loses those that are silenced; it is gone when all are. found is
// not changed.
func Apply(found []finding.Finding, o Options) Result {
	rules, broken := o.rules()
	var out Result
	for _, f := range found {
		rest, silenced := silence(f, rules, o)
		out.Silenced = append(out.Silenced, silenced...)
		if rest != nil {
			out.Findings = append(out.Findings, *rest)
		}
	}
	for i := range out.Findings {
		if s := o.Settings.severity(&out.Findings[i]); s > 0 {
			out.Findings[i].Severity = s
		}
	}
	about := broken
	for _, r := range rules {
		about = append(about, r.about(o)...)
	}
	for i := range about {
		if s := o.Settings.severity(&about[i]); s > 0 {
			about[i].Severity = s
		}
	}
	out.Findings = append(out.Findings, about...)
	slices.SortStableFunc(out.Findings, func(a, b finding.Finding) int {
		if !o.ByPlace {
			return cmp.Compare(b.Severity, a.Severity)
		}
		return cmp.Or(cmp.Compare(o.order(a.Subject.File), o.order(b.Subject.File)), cmp.Compare(a.Subject.Line, b.Subject.Line))
	})
	all := len(out.Findings)
	out.Findings = slices.DeleteFunc(out.Findings, func(f finding.Finding) bool { return f.Severity < o.Least })
	out.Below = all - len(out.Findings)
	return out
}

// rules gives the suppressions of all sources and of .mm2doctor.yaml, and findings about comments that cannot be understood.
func (o *Options) rules() (rules []*rule, broken []finding.Finding) {
	for _, s := range o.Sources {
		r, b := comments(s)
		rules, broken = append(rules, r...), append(broken, b...)
	}
	if o.Settings != nil {
		for i := range o.Settings.Ignore {
			rules = append(rules, &rule{entry: &o.Settings.Ignore[i], used: make([]int, len(o.Settings.Ignore[i].Rules))})
		}
	}
	return rules, broken
}

// order is where a file stands among those that were checked; .mm2doctor.yaml comes last.
func (o *Options) order(file string) int {
	if i := slices.IndexFunc(o.Sources, func(s Source) bool { return s.Name == file }); i >= 0 {
		return i
	}
	return len(o.Sources)
}

// silence splits a finding into what stays (nil: nothing) and what goes.
func silence(f finding.Finding, rules []*rule, o Options) (*finding.Finding, []Silenced) {
	places := f.Subjects
	if len(places) == 0 {
		places = []finding.Subject{f.Subject}
	}
	var stay []finding.Subject
	var by []*rule
	gone := map[*rule][]finding.Subject{}
	for _, p := range places {
		var hit *rule
		for _, r := range rules {
			if r.covers(&f, p, o) && hit == nil {
				hit = r
			}
		}
		switch {
		case hit == nil:
			stay = append(stay, p)
		case gone[hit] == nil:
			by = append(by, hit)
			fallthrough
		default:
			gone[hit] = append(gone[hit], p)
		}
	}
	if len(by) == 0 {
		return &f, nil
	}
	beyond := max(f.SubjectCount-len(places), 0) // places that a long list leaves out are silenced by nothing that names a place
	if len(stay) == 0 && len(by) == 1 && by[0].entry != nil && by[0].entry.everywhere() {
		beyond = 0
	}
	var out []Silenced
	for _, r := range by {
		part := f
		part.Subject, part.SubjectCount = gone[r][0], len(gone[r])
		if len(f.Subjects) > 0 {
			part.Subjects = gone[r]
		}
		out = append(out, Silenced{part, r.place(), r.reason()})
	}
	if len(stay) == 0 && beyond == 0 {
		return nil, out
	}
	if len(stay) > 0 {
		f.Subject = stay[0]
	}
	if len(f.Subjects) > 0 {
		f.Subjects = stay
	}
	f.SubjectCount = len(stay) + beyond
	return &f, out
}
