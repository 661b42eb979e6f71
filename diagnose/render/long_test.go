package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// longResult has a minified file with two findings far behind, and one whose repair is a list of thousands.
func longResult() *Result {
	text := `{"ä𝒳":"` + strings.Repeat("topic-1|", 1<<14) + `","groups":"x","tasks.max":"y"}`
	at := func(key string) finding.Subject {
		return finding.Subject{File: "a:b/c.json", Line: 1, Column: strings.Index(text, `"`+key) + 1, Key: key}
	}
	r := &Result{Command: "check", FailOn: finding.Error, Exit: 1, Files: []File{{Name: "a:b/c.json", Text: []byte(text)}}}
	for i, key := range []string{"ä𝒳", "groups", "tasks.max"} {
		r.Findings = append(r.Findings, finding.Finding{Code: 504, ID: "MM2D-504", Slug: "malformed-value", Severity: finding.Error, Subject: at(key), SubjectCount: 1, Because: "Because " + key + ".",
			Fixes: []finding.Fix{{Text: "Write " + strings.Repeat("x", 100_000*(1-min(i, 1))) + "."}}})
	}
	return r
}

// TestLongLines: a list of thousands of topics on one line, or in a repair, neither fills a report nor hides the findings behind it.
func TestLongLines(t *testing.T) {
	for f, most := range map[string]int{"markdown": 12_000, "sarif": 12_000, "junit": 8000, "github": 6000, "codeclimate": 6000, "checkstyle": 6000} {
		var b bytes.Buffer
		if err := Write(&b, f, longResult(), Options{}); err != nil {
			t.Fatal(err)
		}
		if b.Len() > most || strings.Count(b.String(), "Because") < 3 || !strings.Contains(b.String(), "x…") {
			t.Errorf("%s: %d bytes\n%.2000s", f, b.Len(), b.String())
		}
	}
	var md, text bytes.Buffer
	if err := Markdown(&md, longResult(), Options{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(md.String(), "<details>"); n != 3 || !strings.Contains(md.String(), `1 | …`) || !strings.Contains(md.String(), `"tasks.max":"y"}`) {
		t.Errorf("%d details\n%s", n, md.String())
	}
	if err := Lint(&text, longResult(), Options{Screen: term.Screen{Unicode: true, Width: 80}}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "|topic-1") && term.Columns(line) > 81 {
			t.Errorf("%d columns: %s", term.Columns(line), line)
		}
	}
	if !strings.Contains(text.String(), `|topic-1|","groups":"x","tasks.max…`) {
		t.Error(text.String())
	}
}

// TestColumns: one place has one column in all formats, in UTF-16 units.
func TestColumns(t *testing.T) {
	const want = 131083 // were bytes counted, three more: ä and 𝒳 have six of them and three units
	r := longResult()
	for f, part := range map[string]string{"sarif": `"startColumn": 131083,`, "junit": ":1:131083 ", "github": ",col=131083,", "checkstyle": `column="131083"`, "markdown": ":1:131083 "} {
		var b bytes.Buffer
		if err := Write(&b, f, r, Options{}); err != nil || !strings.Contains(b.String(), part) {
			t.Errorf("%s: %v, no %s", f, err, part)
		}
	}
	var text, js bytes.Buffer
	if err := Lint(&text, r, Options{}); err != nil || !strings.Contains(text.String(), "c.json:1:131083: error") {
		t.Errorf("text: %v", err)
	}
	var got struct {
		Findings []struct{ Subject finding.Subject }
	}
	if err := LintJSON(&js, r); err != nil || json.Unmarshal(js.Bytes(), &got) != nil || got.Findings[1].Subject.Column != want || r.Findings[1].Subject.Column == want {
		t.Errorf("json: %v %+v", err, got)
	}
}

// TestSARIFPlaces: a region shows what it marks, the line stands beside it unless it is long, and a colon in a name is no scheme.
func TestSARIFPlaces(t *testing.T) {
	r := longResult()
	r.Files[0].Text = []byte(`{"groups": "é"}`)
	r.Findings = r.Findings[1:2]
	r.Findings[0].Subject.Column = 2
	var b bytes.Buffer
	if err := SARIF(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(b.String()), "")
	for _, want := range []string{`"uri":"a%3Ab/c.json"`, `"region":{"startLine":1,"startColumn":2,"endColumn":10,"snippet":{"text":"\"groups\""}},"contextRegion":{"startLine":1,"snippet":{"text":"{\"groups\":\"é\"}"}}`} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
}
