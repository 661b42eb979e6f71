package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

const linted = "clusters = a, b\na.bootstrap.servers = a:9092\n\ta->b.enabled = true # é|<b>\r\na.sasl.jaas.config = Module required username=\"u\" password=\"hunter2\";\nreplication.factor = 1\n"

// lintResult is hand-made: it shows layout, not judgement.
func lintResult() *Result {
	file := "conf/mm2 ü.properties"
	at := func(line, column int, key string) finding.Subject {
		return finding.Subject{File: file, Line: line, Column: column, Key: key}
	}
	edit := confdoc.Edit{File: file, Start: strings.Index(linted, " # é"), End: strings.Index(linted, "\r\na.sasl")}
	return &Result{
		Tool: diagnose.Tool{Name: "mm2doctor", Version: "0.1.0"}, Command: "check", FailOn: finding.Error, Exit: 1, Silenced: 2, Below: 1,
		Files:      []File{{Name: file, Text: []byte(linted)}, {Name: "/etc/clean.yaml", Text: []byte("a: 1\n")}},
		NotChecked: []finding.NotChecked{{Check: "MM2D-602", Why: "a file has no ACLs"}},
		Findings: []finding.Finding{
			{Code: 301, ID: "MM2D-301", CodeText: "MM2D-301", Slug: "group-offset-sync-disabled", Severity: finding.Error, Flow: "a->b", Subject: at(3, 2, "a->b.enabled"), SubjectCount: 1,
				Because: "a->b is enabled | and sync.group.offsets.enabled is not, 100% sure, see @team & <x>.", Consequence: "No offset is committed on b.",
				Fixes: []finding.Fix{{Mode: "dedicated", Text: "Take out the comment: it is a part of the value.", Edits: []confdoc.Edit{edit},
					Steps: []finding.Step{{Text: "in mm2.properties write", Properties: finding.Observed{{Name: "a->b.sync.group.offsets.enabled", Value: true}}}}}},
				Confirm: []finding.Command{{Command: "grep -n sync.group mm2.properties", Shows: "no line"}}},
			{Code: 316, ID: "MM2D-316/KAFKA-1", CodeText: "MM2D-316", Slug: "target-rewound-every-pass", Severity: finding.Warning, Subject: at(4, 1, "a.sasl.jaas.config"), SubjectCount: 2,
				Subjects: []finding.Subject{at(4, 1, "a.sasl.jaas.config"), at(5, 22, "replication.factor")}, Because: "Two places\nof one fault."},
			{Code: 217, ID: "MM2D-217", CodeText: "MM2D-217", Slug: "group-not-on-source", Severity: finding.Info, Flow: "a->b", Subject: finding.Subject{Group: "billing", Topic: "orders", Partition: ptr(int32(3))}, SubjectCount: 1, Because: "No such group."},
		},
	}
}

func TestLintGolden(t *testing.T) {
	for _, f := range Formats() {
		var b bytes.Buffer
		if err := Write(&b, f, lintResult(), Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "lint."+f, b.Bytes())
		if f != "github" && strings.Contains(b.String(), "hunter2") || strings.Contains(b.String(), "hunter2") {
			t.Errorf("%s shows a password", f)
		}
	}
	for name, o := range map[string]Options{"text": {Screen: term.Screen{Unicode: true}, Exit: 1}, "narrow": {Screen: term.Screen{Width: 50}, Exit: 1}, "verbose": {Verbose: true, Exit: -1}} {
		var b bytes.Buffer
		if err := Lint(&b, lintResult(), o); err != nil {
			t.Fatal(err)
		}
		golden(t, "lint."+name, b.Bytes())
		if strings.Contains(b.String(), "hunter2") {
			t.Errorf("%s shows a password", name)
		}
	}
}

// TestSARIFSchema: the official schema of SARIF 2.1.0 accepts what is written, for files, for clusters and for nothing at all.
func TestSARIFSchema(t *testing.T) {
	b, err := os.ReadFile("testdata/sarif/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Result{"lint": lintResult(), "diagnose": OfReport(broken(), finding.Error, 1), "nothing": {Tool: diagnose.Tool{Name: "mm2doctor"}, Command: "check"}} {
		var b bytes.Buffer
		if err := SARIF(&b, r, Options{}); err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v.(map[string]any)["runs"].([]any)[0].(map[string]any)["results"] = "none"
		if schema.Validate(v) == nil {
			t.Errorf("%s: the schema accepts anything", name)
		}
	}
}

// sarifOf reads back what was written.
func sarifOf(t *testing.T, r *Result) sarifRun {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	var l sarifLog
	if err := json.Unmarshal(b.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	return l.Runs[0]
}

func TestSARIF(t *testing.T) {
	run := sarifOf(t, lintResult())
	r := run.Results[0]
	p := r.Locations[0].Physical
	if p.Artifact != (sarifURI{URI: "conf/mm2%20%C3%BC.properties", Base: "%SRCROOT%"}) {
		t.Errorf("%+v", p.Artifact)
	}
	if g := *p.Region; g.StartLine != 3 || g.StartColumn != 2 || g.EndColumn != 14 {
		t.Errorf("%+v", g)
	}
	// " # é|<b>" is eight UTF-16 units and nine bytes.
	if d := r.Fixes[0].Changes[0].Replacements[0].Deleted; d != (sarifRegion{StartLine: 3, StartColumn: 21, EndLine: 3, EndColumn: 29}) {
		t.Errorf("%+v", d)
	}
	if run.Artifacts[1].Location != (sarifURI{URI: "file:///etc/clean.yaml"}) {
		t.Errorf("%+v", run.Artifacts[1])
	}
	if x := run.Results[1]; x.RuleID != "MM2D-316/KAFKA-1" || run.Tool.Driver.Rules[x.RuleIndex].ID != "MM2D-316" || len(x.Related) != 1 || x.Level != "warning" {
		t.Errorf("%+v", x)
	}
	if x := run.Results[2]; x.Locations[0].Physical != nil || x.Locations[0].Logical[0].Name != "a->b/billing/orders/3" || x.Level != "note" {
		t.Errorf("%+v", x)
	}
	for _, rule := range run.Tool.Driver.Rules {
		if rule.Help == nil || !strings.HasPrefix(rule.Help.Markdown, "# "+rule.ID) || !strings.HasSuffix(rule.HelpURI, "/docs/codes/"+rule.ID+".md") {
			t.Errorf("rule %s without its page", rule.ID)
		}
	}
}

// TestFingerprints stay when lines are put before the findings, and differ between two findings of one key.
func TestFingerprints(t *testing.T) {
	prints := func(r *Result) (out []string) {
		for _, x := range sarifOf(t, r).Results {
			out = append(out, x.Fingerprints["mm2doctor/v1"])
		}
		return out
	}
	r := lintResult()
	r.Findings = append(r.Findings, r.Findings[0])
	before := prints(r)
	moved := lintResult()
	moved.Findings = append(moved.Findings, moved.Findings[0])
	moved.Files[0].Text = append([]byte("# one\n# two\n"), moved.Files[0].Text...)
	for i := range moved.Findings {
		f := &moved.Findings[i]
		f.Subject.Line += 2
		f.Subjects = slices.Clone(f.Subjects)
		for j := range f.Subjects {
			f.Subjects[j].Line += 2
		}
	}
	if after := prints(moved); !slices.Equal(before, after) {
		t.Errorf("%v became %v", before, after)
	}
	slices.Sort(before)
	if n := len(slices.Compact(before)); n != len(before) {
		t.Errorf("%d fingerprints of %d findings", n, len(r.Findings))
	}
}

func TestGitHubEscapes(t *testing.T) {
	r := &Result{Command: "check", Findings: []finding.Finding{
		{ID: "MM2D-217", Slug: "s", Severity: finding.Info, Subject: finding.Subject{File: "a,b:c%.properties", Line: 2}, Because: "one"},
		{ID: "MM2D-301", Slug: "s", Severity: finding.Error, Because: "100%\r\n::error::forged", Consequence: "c"},
	}}
	var b bytes.Buffer
	if err := GitHub(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	want := "::error title=MM2D-301 s::100%25 ::error::forged%0Ac\n::notice file=a%2Cb%3Ac%25.properties,line=2,title=MM2D-217 s::one\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestFormatsParse: what is written is XML and JSON, the counts agree, and characters that no XML holds do no harm.
func TestFormatsParse(t *testing.T) {
	r := lintResult()
	r.Findings[0].Because = "bell \x07 nul \x00 ]]> <x> \xff"
	for _, f := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return JUnit(b, r, Options{}) },
		func(b *bytes.Buffer) error { return Checkstyle(b, r, Options{}) },
	} {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		var any struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Files    []struct {
				Name   string     `xml:"name,attr"`
				Errors []struct{} `xml:"error"`
			} `xml:"file"`
		}
		if err := xml.Unmarshal(b.Bytes(), &any); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if any.Tests > 0 && (any.Tests != 6 || any.Failures != 1 || any.Skipped != 1) {
			t.Errorf("%+v\n%s", any, b.String())
		}
		if len(any.Files) > 0 && (len(any.Files) != 3 || len(any.Files[0].Errors) != 3 || len(any.Files[1].Errors) != 0) {
			t.Errorf("%+v\n%s", any, b.String())
		}
	}
	var b bytes.Buffer
	if err := CodeClimate(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	var issues []map[string]any
	if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
		t.Fatal(err)
	}
	prints := map[any]bool{}
	for _, x := range issues {
		loc := x["location"].(map[string]any)
		if loc["path"] == "" || strings.HasPrefix(loc["path"].(string), "./") || loc["lines"].(map[string]any)["begin"].(float64) < 1 || x["description"] == "" || x["check_name"] == "" ||
			!slices.Contains([]any{"info", "minor", "major", "critical", "blocker"}, x["severity"]) {
			t.Errorf("%v", x)
		}
		prints[x["fingerprint"]] = true
	}
	if len(issues) != 4 || len(prints) != 4 {
		t.Errorf("%d issues, %d fingerprints", len(issues), len(prints))
	}
}

// TestMarkdownFits: ten thousand findings stay below what a comment takes, and those left out are counted.
func TestMarkdownFits(t *testing.T) {
	r := &Result{Command: "check"}
	for i := range 10_000 {
		r.Findings = append(r.Findings, finding.Finding{Code: 301, ID: "MM2D-301", Slug: "s", Severity: finding.Error, Subject: finding.Subject{File: fmt.Sprintf("%d.properties", i), Line: i}, Because: strings.Repeat("x", 200)})
	}
	var b bytes.Buffer
	if err := Markdown(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 65_000 || !strings.Contains(b.String(), " more, not shown here.") || !strings.Contains(b.String(), "10000 errors") {
		t.Errorf("%d bytes", b.Len())
	}
}
