package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// GitHub writes workflow commands, one annotation for each place. GitHub shows ten of each kind for a step, the first ones, and so
// errors come first.
func GitHub(w io.Writer, r *Result, _ Options) error {
	var b strings.Builder
	for _, sev := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Severity == sev {
				for _, s := range r.places(f) {
					annotation(&b, f, s)
				}
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func annotation(b *strings.Builder, f *finding.Finding, s spot) {
	name := "notice"
	if f.Severity > finding.Info {
		name = f.Severity.String()
	}
	var props []string
	add := func(key, value string) { props = append(props, key+"="+property.Replace(value)) }
	if s.path != "" {
		add("file", s.path)
		if s.Line > 0 {
			add("line", fmt.Sprint(s.Line))
			if line, _, end, ok := s.span(); ok {
				add("col", fmt.Sprint(s.column()))
				add("endColumn", fmt.Sprint(units(line[:end])+1))
			} else if s.Column > 0 {
				add("col", fmt.Sprint(s.column()))
			}
		}
	}
	add("title", headline(f))
	text := message(f, "\n")
	if s.path == "" {
		if who := s.who(f); who != "" {
			text = who + ": " + text
		}
	}
	fmt.Fprintf(b, "::%s %s::%s\n", name, strings.Join(props, ","), data.Replace(text))
}

// How the runner's commands are escaped: a property also ends at a colon or comma.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
