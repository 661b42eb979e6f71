package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     int    `xml:"line,attr"`
	Column   int    `xml:"column,attr,omitempty"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

// Checkstyle writes the XML of Checkstyle, which many CI servers read: files in the order in which they were checked, and a file
// without a name for what is about none.
func Checkstyle(w io.Writer, r *Result, _ Options) error {
	type report struct {
		XMLName xml.Name          `xml:"checkstyle"`
		Version string            `xml:"version,attr"`
		Files   []*checkstyleFile `xml:"file"`
	}
	out := report{Version: "4.3"}
	byPath := map[string]*checkstyleFile{}
	file := func(path string) *checkstyleFile {
		if byPath[path] == nil {
			byPath[path] = &checkstyleFile{Name: path}
			out.Files = append(out.Files, byPath[path])
		}
		return byPath[path]
	}
	for _, f := range r.Files {
		file(r.spot(finding.Subject{File: f.Name}).path)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, s := range r.places(f) {
			text := headline(f) + ": " + message(f, " ")
			if who := s.who(f); s.path == "" && who != "" {
				text = who + ": " + text
			}
			in := file(s.path)
			in.Errors = append(in.Errors, checkstyleError{max(s.Line, 1), s.column(), f.Severity.String(), text, "mm2doctor." + f.ID + "." + f.Slug})
		}
	}
	return writeXML(w, out)
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string     `xml:"name,attr"`
	Class   string     `xml:"classname,attr"`
	File    string     `xml:"file,attr,omitempty"`
	Line    int        `xml:"line,attr,omitempty"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Skipped *junitText `xml:"skipped"`
	Out     string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes a suite for each file, or for each flow where findings are about clusters, and a case for each finding. A finding at or above --fail-on
// is a failure, one below it a passed case that says what it found, what was not checked a skipped one. A file without
// findings has one passed case, so that it is seen to have been checked.
func JUnit(w io.Writer, r *Result, _ Options) error {
	var suites []*junitSuite
	suite := func(name string) *junitSuite {
		for _, s := range suites {
			if s.Name == name {
				return s
			}
		}
		suites = append(suites, &junitSuite{Name: name, Time: "0"})
		return suites[len(suites)-1]
	}
	for _, f := range r.Files {
		suite(r.spot(finding.Subject{File: f.Name}).path)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, s := range r.places(f) {
			name := s.path
			if name == "" {
				name = f.Flow
			}
			if name == "" {
				name = r.Command
			}
			in := suite(name)
			c := junitCase{Name: caseName(f, s), Class: "mm2doctor." + r.Command, File: s.path, Line: s.Line, Time: "0"}
			body := s.where(f) + "\n" + message(f, "\n")
			if r.FailOn > 0 && f.Severity >= r.FailOn {
				c.Failure = &junitText{flat(f.Because), f.Severity.String(), body}
				in.Failures++
			} else {
				c.Out = f.Severity.String() + ": " + body
			}
			in.Cases = append(in.Cases, c)
		}
	}
	for _, n := range r.NotChecked {
		name := n.Flow
		if name == "" {
			name = r.Command
		}
		in := suite(name)
		in.Cases = append(in.Cases, junitCase{Name: n.Check + " not checked", Class: "mm2doctor." + r.Command, Time: "0", Skipped: &junitText{Message: flat(n.Why)}})
		in.Skipped++
	}
	type report struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Name     string        `xml:"name,attr"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Errors   int           `xml:"errors,attr"`
		Skipped  int           `xml:"skipped,attr"`
		Time     string        `xml:"time,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	out := report{Name: "mm2doctor " + r.Command, Time: "0", Suites: suites}
	for _, s := range suites {
		if len(s.Cases) == 0 {
			s.Cases = append(s.Cases, junitCase{Name: "no finding", Class: "mm2doctor." + r.Command, File: s.Name, Time: "0"})
		}
		s.Tests = len(s.Cases)
		out.Tests, out.Failures, out.Skipped = out.Tests+s.Tests, out.Failures+s.Failures, out.Skipped+s.Skipped
	}
	return writeXML(w, out)
}

// caseName stays the same when lines move.
func caseName(f *finding.Finding, s spot) string {
	name := headline(f)
	switch who := s.who(f); {
	case s.Key != "":
		name += ": " + brief(s.Key, longName)
	case s.path == "" && who != "":
		name += ": " + who
	case s.Line > 0:
		name += fmt.Sprintf(": line %d", s.Line)
	}
	return name
}

// writeXML leaves out what no XML can hold; the encoder would put a replacement character, and some readers refuse that in names.
func writeXML(w io.Writer, v any) error {
	b, err := xml.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+strings.ReplaceAll(string(b), "\ufffd", "?")+"\n")
	return err
}
