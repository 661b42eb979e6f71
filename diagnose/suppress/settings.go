package suppress

import (
	"fmt"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// Settings is what .mm2doctor.yaml says of findings.
type Settings struct {
	File     string
	Ignore   []Ignore
	Severity map[Name]finding.Severity
	Least    finding.Severity // minSeverity; 0 where it is not given
}

// Ignore is one entry of "ignore". Path, Key and Flow are patterns; an empty one fits everything.
type Ignore struct {
	Rules           []Name
	Path, Key, Flow string
	Reason          string
	Expires         string // last day on which it holds, YYYY-MM-DD; empty: for ever
	File            string
	Line, Column    int
}

// ParseSettings reads .mm2doctor.yaml. It is the doctor's own file, so that whatever is not understood is an error with its place: an
// entry that is passed over would silence something else than was meant. "expect" belongs to diagnose and is not looked at.
func ParseSettings(name string, b []byte) (*Settings, error) {
	docs, err := confdoc.ParseYAML(name, b)
	if err != nil {
		return nil, err
	}
	s := &Settings{File: name, Severity: map[Name]finding.Severity{}}
	r := reader{name}
	for _, d := range docs {
		if !d.Root.Is(confdoc.Map) {
			return nil, r.fail(d.Root, "the file is no map", "write ignore:, severity: or minSeverity: at its top")
		}
		for _, f := range d.Root.Effective() {
			var err error
			switch f.Key {
			case "ignore":
				err = r.ignore(s, f.Value)
			case "severity":
				err = r.severities(s, f.Value)
			case "minSeverity":
				if s.Least = severityOf(f.Value.Text()); s.Least == 0 {
					err = r.fail(f.Value, fmt.Sprintf("%q is no severity", f.Value.Text()), "write error, warning or info")
				}
			case "expect":
			default:
				err = r.failAt(f.Line, f.Column, fmt.Sprintf("there is no setting %q", f.Key), "the file has ignore, severity, minSeverity and expect")
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

type reader struct{ name string }

func (r reader) fail(n *confdoc.Node, why, next string) error {
	if n == nil {
		return r.failAt(1, 1, why, next)
	}
	return r.failAt(n.Line, n.Column, why, next)
}

func (r reader) failAt(line, column int, why, next string) error {
	return &confdoc.Syntax{File: r.name, Line: line, Column: column, What: "the settings cannot be used", Why: why, Next: next}
}

func (r reader) ignore(s *Settings, n *confdoc.Node) error {
	if !n.Is(confdoc.List) && !n.Is(confdoc.Null) {
		return r.fail(n, "ignore is no list", "begin each entry with a dash")
	}
	for _, item := range n.List() {
		if !item.Is(confdoc.Map) {
			return r.fail(item, "an entry of ignore is no map", "give it rules: and reason:")
		}
		e := Ignore{File: r.name, Line: item.Line, Column: item.Column}
		for _, f := range item.Effective() {
			text := strings.TrimSpace(f.Value.Text())
			switch f.Key {
			case "rules", "rule":
				names := f.Value.List()
				if f.Value.Scalar() {
					names = []*confdoc.Node{f.Value}
				}
				for _, n := range names {
					if why := Name(n.Text()).known(); why != "" {
						return r.fail(n, why, "correct the name")
					}
					e.Rules = append(e.Rules, Name(n.Text()))
				}
			case "path":
				e.Path = text
			case "key":
				e.Key = text
			case "flow":
				e.Flow = text
			case "reason":
				e.Reason = text
			case "expires":
				if _, err := time.Parse(time.DateOnly, text); err != nil {
					return r.fail(f.Value, fmt.Sprintf("%q is no date", text), "write it as 2027-03-31")
				}
				e.Expires = text
			default:
				return r.failAt(f.Line, f.Column, fmt.Sprintf("there is no %q in an entry of ignore", f.Key), "it has rules, path, key, flow, reason and expires")
			}
		}
		switch {
		case len(e.Rules) == 0:
			return r.fail(item, "the entry names no rule", "give it rules: with a code or slug")
		case e.Reason == "":
			return r.fail(item, "the entry gives no reason", "say in reason: why this is accepted")
		}
		s.Ignore = append(s.Ignore, e)
	}
	return nil
}

func (r reader) severities(s *Settings, n *confdoc.Node) error {
	if !n.Is(confdoc.Map) && !n.Is(confdoc.Null) {
		return r.fail(n, "severity is no map", "write lines such as MM2D-402: info")
	}
	for _, f := range n.Effective() {
		if why := Name(f.Key).known(); why != "" {
			return r.failAt(f.Line, f.Column, why, "correct the name")
		}
		v := severityOf(f.Value.Text())
		if v == 0 {
			return r.fail(f.Value, fmt.Sprintf("%q is no severity", f.Value.Text()), "write error, warning or info; to silence a rule, give it an entry with a reason under ignore")
		}
		s.Severity[Name(f.Key)] = v
	}
	return nil
}

func severityOf(text string) finding.Severity {
	for _, s := range []finding.Severity{finding.Info, finding.Warning, finding.Error} {
		if s.String() == text {
			return s
		}
	}
	return 0
}

// severity gives the severity that the settings give a finding; 0 where they give none. A slug wins over an id, an id over a code.
func (s *Settings) severity(f *finding.Finding) finding.Severity {
	if s == nil {
		return 0
	}
	best, weight := finding.Severity(0), 0
	for n, sev := range s.Severity {
		w := 0
		switch {
		case !n.is(f):
		case string(n) == f.Slug:
			w = 3
		case strings.Contains(string(n), "/"):
			w = 2
		default:
			w = 1
		}
		if w > weight {
			best, weight = sev, w
		}
	}
	return best
}
