package suppress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// found makes a finding of a code at lines of a file.
func found(code finding.Code, slug, file, key string, lines ...int) finding.Finding {
	f := finding.Finding{Code: code, ID: code.String(), CodeText: code.String(), Slug: slug, Severity: finding.Error, Flow: "a->b", Because: "b", SubjectCount: len(lines)}
	for _, l := range lines {
		f.Subjects = append(f.Subjects, finding.Subject{File: file, Line: l, Column: 1, Key: key})
	}
	f.Subject = f.Subjects[0]
	if len(lines) == 1 {
		f.Subjects = nil
	}
	return f
}

// told writes a result: what stays, then what went.
func told(r Result) string {
	var parts []string
	for _, f := range r.Findings {
		s := fmt.Sprintf("%s:%d:%s", f.CodeText[5:], f.Subject.Line, f.Severity)
		if len(f.Subjects) > 1 {
			s += fmt.Sprintf("+%d", len(f.Subjects)-1)
		}
		parts = append(parts, s)
	}
	for _, s := range r.Silenced {
		parts = append(parts, fmt.Sprintf("-%s:%d by %d (%s)", s.Finding.CodeText[5:], s.Finding.Subject.Line, s.By.Line, s.Reason))
	}
	return strings.Join(parts, " ")
}

func TestComments(t *testing.T) {
	f301 := found(301, "group-offset-sync-disabled", "f", "a->b.enabled", 3)
	for _, tc := range []struct {
		name, text string
		found      []finding.Finding
		want       string
	}{
		{"none", "x = 1\n#\na->b.enabled = true\n", []finding.Finding{f301}, "301:3:error"},
		{"the line before", "x = 1\n# mm2doctor:ignore MM2D-301 no failover wanted\na->b.enabled = true\n", []finding.Finding{f301}, "-301:3 by 2 (no failover wanted)"},
		{"by slug, lower case code, a dash", "#mm2doctor:ignore group-offset-sync-disabled,mm2d-302 - why\n# more\na->b.enabled = true\n", []finding.Finding{f301}, "591:1:info -301:3 by 1 (why)"},
		{"a list with blanks", "# mm2doctor:ignore MM2D-302, MM2D-301 why not\n# more\na->b.enabled = true\n", []finding.Finding{f301}, "591:1:info -301:3 by 1 (why not)"},
		{"an empty line between", "# mm2doctor:ignore MM2D-301 why\n\na->b.enabled = true\n", []finding.Finding{f301}, "301:3:error 591:1:info"},
		{"another code", "x = 1\n# mm2doctor:ignore MM2D-302 why\na->b.enabled = true\n", []finding.Finding{f301}, "301:3:error 591:2:info"},
		{"another line", "# mm2doctor:ignore MM2D-301 why\nx = 1\na->b.enabled = true\n", []finding.Finding{f301}, "301:3:error 591:1:info"},
		{"a continued entry", "# mm2doctor:ignore MM2D-301 why\nx = 1,\\\n  2\n", []finding.Finding{f301}, "-301:3 by 1 (why)"},
		{"no reason", "\n# mm2doctor:ignore MM2D-301\na->b.enabled = true\n", []finding.Finding{f301}, "301:3:error 593:2:warning"},
		{"no code", "\n# mm2doctor:ignore because\na->b.enabled = true\n", []finding.Finding{f301}, "301:3:error 593:2:warning"},
		{"another word", "\n# mm2doctor: disable MM2D-301 why\na->b.enabled = true\n", []finding.Finding{f301}, "301:3:error 593:2:warning"},
		{"behind a value of properties", "\n\na->b.enabled = true # mm2doctor:ignore MM2D-301 why\n", []finding.Finding{f301}, "301:3:error 593:3:warning"},
		{"two places, one silenced", "# mm2doctor:ignore MM2D-301 why\nx = 1\ny = 2\n", []finding.Finding{found(301, "s", "f", "k", 2, 3)}, "301:3:error -301:2 by 1 (why)"},
		{"two places, both silenced", "# mm2doctor:ignore MM2D-301 why\nx = 1\n# mm2doctor:ignore MM2D-301 so\ny = 2\n", []finding.Finding{found(301, "s", "f", "k", 2, 4)}, "-301:2 by 1 (why) -301:4 by 3 (so)"},
		{"YAML, the line before", "spec:\n  # mm2doctor:ignore MM2D-301 why\n  a: 1\n", []finding.Finding{f301}, "-301:3 by 2 (why)"},
		{"YAML, the same line", "spec:\n  x: 1\n  a: 'b # c' # mm2doctor:ignore MM2D-301 why\n", []finding.Finding{f301}, "-301:3 by 3 (why)"},
		{"YAML, in quotes", "spec:\n  x: 1\n  a: 'b # mm2doctor:ignore MM2D-301 why'\n", []finding.Finding{f301}, "301:3:error"},
		{"YAML, in a block of text", "spec:\n  x: |\n    # mm2doctor:ignore MM2D-301 why\n  a: 1\n", []finding.Finding{found(301, "s", "f", "k", 4)}, "301:4:error"},
		{"JSON has none", "{\"# mm2doctor:ignore MM2D-301 why\":\n1,\n\"a\": 2}", []finding.Finding{f301}, "301:3:error"},
	} {
		if got := told(Apply(tc.found, Options{Sources: []Source{{Name: "f", Text: []byte(tc.text)}}})); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestSettings(t *testing.T) {
	const file = "envs/dev/mm2.properties"
	f301 := found(301, "group-offset-sync-disabled", file, "a->b.sync.group.offsets.enabled", 3)
	bug := found(302, "group-active-on-target", file, "x", 4)
	bug.ID = "MM2D-302/KAFKA-15905"
	for _, tc := range []struct {
		name, text, today string
		want              string
	}{
		{"rule alone", "ignore:\n- rules: MM2D-301\n  reason: why\n", "", "302:4:error -301:3 by 2 (why)"},
		{"a list of rules", "ignore:\n- rules: [MM2D-301, group-active-on-target]\n  reason: why\n", "", ""},
		{"path by name", "ignore:\n- {rules: MM2D-301, path: '*.properties', reason: why}\n", "", "302:4:error -301:3 by 2 (why)"},
		{"path with directories", "ignore:\n- {rules: MM2D-301, path: 'envs/**/mm2.*', reason: why}\n", "", "302:4:error -301:3 by 2 (why)"},
		{"a star is no directory", "ignore:\n- {rules: MM2D-301, path: 'envs/*.properties', reason: why}\n", "", "301:3:error 302:4:error"},
		{"key and flow", "ignore:\n- {rules: MM2D-301, key: '*.sync.group.*', flow: 'a:b', reason: why}\n", "", "302:4:error -301:3 by 2 (why)"},
		{"another flow", "ignore:\n- {rules: MM2D-301, flow: 'b->a', reason: why}\n", "", "301:3:error 302:4:error"},
		{"an id with its bug", "ignore:\n- {rules: MM2D-302/KAFKA-15905, reason: why}\n", "", "301:3:error -302:4 by 2 (why)"},
		{"another bug", "ignore:\n- {rules: MM2D-302/KAFKA-1, path: '*.properties', reason: why}\n", "", "301:3:error 302:4:error 591:2:info"},
		{"files of another run", "ignore:\n- {rules: MM2D-305, path: 'prod/*', reason: why}\n", "", "301:3:error 302:4:error"},
		{"the last day", "ignore:\n- {rules: MM2D-301, reason: why, expires: 2026-03-31}\n", "2026-03-31", "302:4:error -301:3 by 2 (why)"},
		{"the day after", "ignore:\n- {rules: MM2D-301, reason: why, expires: 2026-03-31}\n", "2026-04-01", "301:3:error 302:4:error 592:2:warning"},
		{"severities", "severity:\n  MM2D-302: warning\n  group-active-on-target: info\n  MM2D-301: warning\n", "", "301:3:warning 302:4:info"},
		{"least", "minSeverity: error\nseverity: {MM2D-301: info}\nexpect: {groups: [x]}\n", "", "302:4:error"},
	} {
		s, err := ParseSettings(".mm2doctor.yaml", []byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		got := told(Apply([]finding.Finding{f301, bug}, Options{Sources: []Source{{Name: file}}, Settings: s, Today: tc.today, Least: s.Least}))
		if tc.want == "" {
			tc.want = "-301:3 by 2 (why) -302:4 by 2 (why)"
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, tc := range []struct {
		text         string
		line, column int
		contains     string
	}{
		{"ignore:\n- rules: MM2D-301\n", 2, 3, "no reason"},
		{"ignore:\n- reason: why\n", 2, 3, "no rule"},
		{"ignore:\n- rules: MM2D-999\n  reason: x\n", 2, 10, "MM2D-999"},
		{"ignore:\n- rules: [MM2D-301, no-such-slug]\n  reason: x\n", 2, 21, "no-such-slug"},
		{"ignore:\n- {rules: MM2D-301, reason: x, expires: tomorrow}\n", 2, 41, "no date"},
		{"ignore:\n- {rules: MM2D-301, reason: x, until: 1}\n", 2, 32, "until"},
		{"ignores: []\n", 1, 1, "ignores"},
		{"severity: {MM2D-301: off}\n", 1, 22, "entry with a reason"},
		{"minSeverity: high\n", 1, 14, "high"},
		{"- a\n", 1, 1, "no map"},
	} {
		_, err := ParseSettings("s.yaml", []byte(tc.text))
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("s.yaml:%d:%d: ", tc.line, tc.column)) || !strings.Contains(err.Error(), tc.contains) {
			t.Errorf("%q: %v", tc.text, err)
		}
	}
}

// TestCutLists: of a finding whose places are too many to list, only an entry that names no place silences the rest.
func TestCutLists(t *testing.T) {
	f := found(301, "s", "f", "k", 1, 2)
	f.SubjectCount = 500
	for text, want := range map[string]int{"ignore: [{rules: MM2D-301, reason: x}]": 0, "ignore: [{rules: MM2D-301, key: k, reason: x}]": 498} {
		s, err := ParseSettings("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r := Apply([]finding.Finding{f}, Options{Settings: s})
		got := 0
		if len(r.Findings) > 0 {
			got = r.Findings[0].SubjectCount
		}
		if got != want {
			t.Errorf("%s: %d places left, want %d", text, got, want)
		}
	}
	if f.SubjectCount != 500 || len(f.Subjects) != 2 {
		t.Error("the finding was changed")
	}
}

func FuzzComments(f *testing.F) {
	f.Add([]byte("# mm2doctor:ignore MM2D-301 x\na=1"))
	f.Add([]byte("a:\n  b: |\n   # mm2doctor:ignore x\n  c: '"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rules, broken := comments(Source{Name: "f", Text: b})
		for _, r := range rules {
			if r.comment.line < 1 || r.comment.reason == "" || len(r.comment.names) == 0 {
				t.Errorf("%+v", r.comment)
			}
		}
		for _, x := range broken {
			if x.Subject.Line < 1 || x.Subject.Column < 1 {
				t.Errorf("%+v", x.Subject)
			}
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("a*b?", "axxb1")
	f.Add("**/x", "a/b/x")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) < 100 && strings.Count(pattern, "**") < 4 {
			match(pattern, text, true)
			match(pattern, text, false)
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte("ignore:\n  - rules: [MM2D-301]\n    path: a/**\n    reason: x\n    expires: 2027-01-01\nseverity:\n  MM2D-310: error\nminSeverity: info\n"))
	f.Add([]byte("expect: {}\nignore: [{rule: x, reason: y}]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSettings("f", b)
		if (s == nil) != (err != nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if s != nil {
			Apply([]finding.Finding{{Code: 301, ID: "MM2D-301", Slug: "group-offset-sync-disabled", Subject: finding.Subject{File: "a/b"}}}, Options{Settings: s, Today: "2027-01-01"})
		}
	})
}
