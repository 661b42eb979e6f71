package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// Result is what the formats of other programs are made of: findings, and the texts that they speak of.
type Result struct {
	Tool       diagnose.Tool
	Command    string // the subcommand
	Findings   []finding.Finding
	NotChecked []finding.NotChecked
	Files      []File // that were checked, in order
	Silenced   int    // findings taken out by suppressions
	Below      int    // findings left out because of their severity
	FailOn     finding.Severity
	Exit       int // negative: not told
}

// File is a text that findings speak of.
type File struct {
	Name string // as in Subject.File
	Path string // relative to the working directory, with slashes; empty: Name
	Text []byte // empty where nothing of it may be shown

	split []string       // Text in lines, once asked for
	shown map[int]string // long lines without secrets, once asked for
}

// OfReport makes a Result of a report on clusters.
func OfReport(r *diagnose.Report, failOn finding.Severity, exit int) *Result {
	return &Result{Tool: r.Tool, Command: r.Command, Findings: r.Findings, NotChecked: r.NotChecked, FailOn: failOn, Exit: exit}
}

// formats are the values of -o that Write knows.
var formats = []struct {
	name  string
	write func(io.Writer, *Result, Options) error
}{
	{"markdown", Markdown}, {"sarif", SARIF}, {"junit", JUnit}, {"github", GitHub}, {"codeclimate", CodeClimate}, {"checkstyle", Checkstyle},
}

// Formats are the values of -o that Write knows.
func Formats() []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.name)
	}
	return out
}

// Write writes a result in one of Formats.
func Write(w io.Writer, format string, r *Result, o Options) error {
	for _, f := range formats {
		if f.name == format {
			if err := f.write(w, r, o); err != nil {
				return fmt.Errorf("writing the report as %s: %w", format, err)
			}
			return nil
		}
	}
	return fmt.Errorf("no format %q", format)
}

// spot is one place of a finding.
type spot struct {
	finding.Subject
	path string // relative, with slashes; empty where the finding is about no file
	file *File
}

// places gives the places of a finding: all that are in files, else the first subject.
func (r *Result) places(f *finding.Finding) []spot {
	var out []spot
	for _, s := range f.Subjects {
		if s.File != "" {
			out = append(out, r.spot(s))
		}
	}
	if len(out) == 0 {
		out = append(out, r.spot(f.Subject))
	}
	return out
}

func (r *Result) spot(s finding.Subject) spot {
	out := spot{Subject: s}
	if s.File == "" {
		return out
	}
	out.path = slashed(s.File)
	for i := range r.Files {
		if f := &r.Files[i]; f.Name == s.File {
			out.file = f
			if f.Path != "" {
				out.path = f.Path
			}
		}
	}
	return out
}

func slashed(name string) string {
	if name == "-" {
		return "stdin"
	}
	return path.Clean(strings.ReplaceAll(name, "\\", "/"))
}

// message is what a finding says: reason, consequence, and the first repair.
func message(f *finding.Finding, sep string) string {
	var parts []string
	for _, p := range []string{f.Because, f.Consequence, fixText(f)} {
		if p = flat(p); p != "" {
			parts = append(parts, brief(p, longText))
		}
	}
	return strings.Join(parts, sep)
}

func fixText(f *finding.Finding) string {
	if len(f.Fixes) == 0 || f.Fixes[0].Text == "" {
		return ""
	}
	return "Fix: " + f.Fixes[0].Text
}

// longText and longName are the characters up to which texts and keys stand whole where people read them: a value may be a list of
// thousands of topics. JSON has all.
const (
	longText = 2000
	longName = 200
)

// brief cuts a text that is longer than n characters.
func brief(text string, n int) string {
	if len(text) <= n {
		return text
	}
	at := 0
	for i := range text {
		if n--; n < 0 {
			return text[:at] + "…"
		}
		at = i
	}
	return text
}

// flat makes one line of a text.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// headline is "MM2D-301 group-offset-sync-disabled: mm2.properties:3:1 (a->b.enabled)" without the place.
func headline(f *finding.Finding) string { return strings.TrimSpace(codeOf(f) + " " + f.Slug) }

// fingerprint tells a finding from all others of a run, and stays the same when lines move: it is made of code, slug, flow and
// subject, of the text of the line where no key is known, and of how many alike came before.
func fingerprint(seen map[string]int, f *finding.Finding, s spot) string {
	part := ""
	if s.Partition != nil {
		part = fmt.Sprint(*s.Partition)
	}
	at := s.Key
	if at == "" {
		at = strings.TrimSpace(s.line())
	}
	h := sha256.New()
	for _, x := range []string{f.ID, f.Slug, f.Flow, s.path, at, s.Group, s.Topic, part, s.Connector, s.Cluster} {
		fmt.Fprintf(h, "%d:%s,", len(x), x)
	}
	sum := hex.EncodeToString(h.Sum(nil)[:16])
	seen[sum]++
	if n := seen[sum]; n > 1 {
		fmt.Fprintf(h, "%d", n)
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
	return sum
}

// who says in words what a finding is about that is in no file: group, topic, cluster.
func (s spot) who(f *finding.Finding) string {
	parts := []string{}
	for _, p := range []struct{ noun, name string }{{"", f.Flow}, {"group ", s.Group}, {"topic ", s.Topic}, {"connector ", s.Connector}, {"cluster ", s.Cluster}} {
		if p.name != "" {
			parts = append(parts, p.noun+p.name)
		}
	}
	if s.Partition != nil && *s.Partition >= 0 {
		parts = append(parts, fmt.Sprintf("partition %d", *s.Partition))
	}
	return strings.Join(parts, ", ")
}

// where is the place of a finding for a person: file:line:column (key), or who.
func (s spot) where(f *finding.Finding) string {
	if s.path == "" {
		return s.who(f)
	}
	out := s.path
	if s.Line > 0 {
		out += fmt.Sprintf(":%d", s.Line)
		if s.Column > 0 {
			out += fmt.Sprintf(":%d", s.column())
		}
	}
	if s.Key != "" {
		out += " (" + brief(s.Key, longName) + ")"
	}
	return out
}
