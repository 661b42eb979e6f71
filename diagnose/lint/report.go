package lint

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// codeOf gives the code that owns a slug.
func codeOf(slug string) finding.Code {
	if e := finding.BySlug(slug); e != nil {
		return e.Code
	}
	return 0
}

// say is one finding in the making.
type say struct {
	slug     string
	severity finding.Severity
	at       place
	flow     string
	because  string
	leads    string // consequence
	observed finding.Observed
	bugs     []string
	fixes    []finding.Fix
	also     []place // further places of the same fault
}

// add keeps a finding; the same slug at the same key and place once.
func (l *linter) add(s say) {
	id := fmt.Sprintf("%s\x00%s\x00%d\x00%s", s.slug, s.at.file, s.at.line, s.at.key)
	if l.seen[id] {
		return
	}
	l.seen[id] = true
	code := codeOf(s.slug)
	f := finding.Finding{Code: code, ID: code.String(), CodeText: code.String(), Slug: s.slug, Severity: s.severity, Link: finding.LinkNone, Flow: s.flow,
		Subject: s.at.subject(), SubjectCount: 1 + len(s.also), Observed: s.observed, Because: s.because, Consequence: s.leads, Bugs: s.bugs, Fixes: s.fixes}
	if e := finding.Lookup(code); e != nil {
		f.Link = e.Link
	}
	if len(s.also) > 0 {
		f.Subjects = []finding.Subject{f.Subject}
		for _, p := range s.also[:min(len(s.also), 99)] {
			f.Subjects = append(f.Subjects, p.subject())
		}
	}
	l.out = append(l.out, f)
}

func (p place) subject() finding.Subject {
	return finding.Subject{File: p.file, Line: p.line, Column: p.col, Key: p.key}
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

func props(pairs ...string) finding.Observed {
	var out finding.Observed
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, snapshot.Named{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

// inPlace repairs a setting where it stands: the key as written gets another value.
func (s *setup) inPlace(at place, value string) []finding.Fix {
	return []finding.Fix{{Mode: s.mode, Text: fmt.Sprintf("Write %s = %s.", at.key, shown(value)), Steps: []finding.Step{{Text: fmt.Sprintf("in %s write", at), Properties: props(at.key, value), File: at.file}}}}
}

// advice is a repair in words.
func (s *setup) advice(format string, args ...any) []finding.Fix {
	return []finding.Fix{{Mode: s.mode, Text: fmt.Sprintf(format, args...)}}
}

// set gives a setting to one connector of a flow, in the way of the mode.
func (f *flow) set(r conf.Reader, key, value string) []finding.Fix {
	at := f.at[r]
	if at.file == "" {
		at = f.at[f.first()]
	}
	step := finding.Step{File: at.file, Properties: props(key, value)}
	switch f.in.mode {
	case dedicated:
		step.Properties = props(f.Name()+"."+key, value)
		step.Text = "add to " + at.file
		return []finding.Fix{{Mode: dedicated, Text: fmt.Sprintf("Write %s.%s = %s and restart MirrorMaker 2.", f.Name(), key, shown(value)), Steps: []finding.Step{step}}}
	case strimzi:
		step.Text = "under " + sectionOf(r) + ".config of the mirror"
		return []finding.Fix{{Mode: strimzi, Text: fmt.Sprintf("Write %s: %s under %s.config of the mirror %s.", key, shown(value), sectionOf(r), f.Name()), Steps: []finding.Step{step}}}
	}
	step.Text = "in the configuration of " + r.String()
	return []finding.Fix{{Mode: f.in.mode, Text: fmt.Sprintf("Set %s = %s on the %s.", key, shown(value), r), Steps: []finding.Step{step}}}
}

func sectionOf(r conf.Reader) string {
	switch r {
	case conf.Checkpoint:
		return "checkpointConnector"
	case conf.Heartbeat:
		return "heartbeatConnector"
	}
	return "sourceConnector"
}

func shown(value string) string {
	if value == "" {
		return "(empty)"
	}
	return value
}
