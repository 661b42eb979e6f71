package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/fix"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// oneRule finds 301 where a.enabled is not true, with a repair, and a remark at the first line of each file.
func oneRule(texts []fix.Text) []finding.Finding {
	var out []finding.Finding
	for _, t := range texts {
		p, _ := confdoc.ParseProperties(t.Name, t.Bytes)
		out = append(out, finding.Finding{Code: 217, ID: "MM2D-217", CodeText: "MM2D-217", Slug: "group-not-on-source", Severity: finding.Info, Link: finding.LinkNone, Subject: finding.Subject{File: t.Name, Line: 1, Column: 1}, SubjectCount: 1, Because: "A remark."})
		e, _ := p.Lookup("a.enabled")
		if e.Value == "true" {
			continue
		}
		edits, err := confdoc.SetProperty(t.Name, t.Bytes, "a.enabled", "true", 0)
		if err != nil {
			panic(err)
		}
		out = append(out, finding.Finding{Code: 301, ID: "MM2D-301", CodeText: "MM2D-301", Slug: "group-offset-sync-disabled", Severity: finding.Error, Link: finding.LinkNone, Subject: finding.Subject{File: t.Name, Line: max(e.Line, 1), Column: 1, Key: "a.enabled"}, SubjectCount: 1,
			Because: "It is off.", Fixes: []finding.Fix{{Mode: "dedicated", Text: "Switch it on.", Edits: edits}}})
	}
	return out
}

// checked runs a check of files in the working directory.
func checked(t *testing.T, args ...string) (exit int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	s := &term.Streams{In: strings.NewReader(""), Out: &o, Err: &e, Env: func(string) string { return "" }}
	run := newCheckRun("check", s)
	run.now = func() time.Time { return time.Date(2026, 3, 31, 23, 0, 0, 0, time.UTC) }
	c := &cobra.Command{Use: "check", SilenceErrors: true, SilenceUsage: true, RunE: func(c *cobra.Command, names []string) error {
		var texts []fix.Text
		for _, n := range names {
			b := []byte("a.enabled=false\n")
			if n != "-" {
				var err error
				if b, err = os.ReadFile(n); err != nil {
					t.Fatal(err)
				}
			}
			texts = append(texts, fix.Text{Name: n, Bytes: b})
		}
		return run.run(c.Context(), texts, oneRule)
	}}
	run.flags(c)
	c.SetArgs(args)
	if err := c.ExecuteContext(t.Context()); err != nil {
		var ee *exitError
		if !errors.As(err, &ee) {
			t.Fatal(err)
		}
		return ee.code, o.String(), err.Error()
	}
	return 0, o.String(), e.String()
}

func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCheckRunFormats: one exit code for all formats, several at once.
func TestCheckRunFormats(t *testing.T) {
	folder(t, map[string]string{"conf/mm2.properties": "# x\na.enabled = false\n", "ok.properties": "a.enabled = true\n"})
	for name, want := range map[string]int{"conf/mm2.properties": 1, "ok.properties": 0} {
		args := []string{name}
		for _, f := range reportFormats {
			if exit, out, errs := checked(t, name, "-o", f); exit != want || out == "" {
				t.Errorf("%s -o %s: exit %d, %s", name, f, exit, errs)
			}
			args = append(args, "-o", f+"="+f)
		}
		if exit, out, errs := checked(t, args...); exit != want || out != "" {
			t.Errorf("%s, all formats: exit %d, %q, %s", name, exit, out, errs)
		}
		for _, f := range reportFormats {
			if b := content(t, f); !strings.Contains(b, "MM2D-217") && !strings.Contains(b, "A remark") {
				t.Errorf("%s: %s", f, b)
			}
		}
	}
	_, out, _ := checked(t, "conf/mm2.properties")
	if !strings.Contains(out, "conf/mm2.properties:2:1: error MM2D-301 group-offset-sync-disabled  a.enabled\n     2 | a.enabled = false\n       | ^^^^^^^^^\n") || !strings.HasSuffix(out, "1 remark in 1 file - exit 1\n") {
		t.Error(out)
	}
	abs, err := filepath.Abs("conf/mm2.properties")
	if err != nil {
		t.Fatal(err)
	}
	if _, out, _ = checked(t, abs, "-o", "github"); !strings.Contains(out, "::error file=conf/mm2.properties,line=2,") {
		t.Error(out)
	}
	_, out, _ = checked(t, "conf/mm2.properties", "-o", "json")
	var r struct {
		Command string
		Summary struct{ Errors, Infos int }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Command != "check" || r.Summary.Errors != 1 || r.Summary.Infos != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestCheckRunExit(t *testing.T) {
	folder(t, map[string]string{"f": "a.enabled=false\n", "s.yaml": "severity: {MM2D-301: warning}\n", "bad.yaml": "ignore: 1\n"})
	for _, tc := range []struct {
		want int
		args []string
	}{
		{1, []string{"f"}},
		{0, []string{"f", "--fail-on", "never"}},
		{0, []string{"f", "--settings", "s.yaml"}},
		{1, []string{"f", "--settings", "s.yaml", "--fail-on", "warning"}},
		{1, []string{"f", "--fail-on", "info"}},
		{0, []string{"f", "--settings", "s.yaml", "--fail-on", "info", "--min-severity", "error"}},
		{2, []string{"f", "--settings", "bad.yaml"}},
		{2, []string{"f", "--settings", "missing.yaml"}},
		{2, []string{"f", "--min-severity", "never"}},
		{2, []string{"f", "--fail-on", "high"}},
		{2, []string{"f", "-o", "xml"}},
		{2, []string{"f", "--diff", "-o", "json"}},
		{2, []string{"-", "--fix"}},
	} {
		exit, out, errs := checked(t, tc.args...)
		if exit != tc.want || exit == 2 && (out != "" || errs == "") {
			t.Errorf("%v: exit %d, want %d: %q %q", tc.args, exit, tc.want, out, errs)
		}
	}
}

func TestCheckRunSuppressions(t *testing.T) {
	folder(t, map[string]string{
		"a.properties":     "# mm2doctor:ignore MM2D-301 one way only\na.enabled=false\n",
		"dev/b.properties": "a.enabled=false\n",
		".mm2doctor.yaml":  "ignore:\n- {rules: MM2D-301, path: 'dev/**', reason: a sandbox, expires: 2026-03-31}\n- {rules: MM2D-302, path: 'dev/*', reason: old}\n",
	})
	exit, out, _ := checked(t, "a.properties", "dev/b.properties")
	if exit != 0 || strings.Contains(out, "error MM2D-301") || !strings.Contains(out, "2 silenced") || !strings.Contains(out, ".mm2doctor.yaml:3:3: info MM2D-591 suppression-unused") {
		t.Errorf("exit %d\n%s", exit, out)
	}
	if exit, out, _ := checked(t, "a.properties", "--fix"); exit != 0 || content(t, "a.properties") != "# mm2doctor:ignore MM2D-301 one way only\na.enabled=false\n" {
		t.Errorf("what is silenced was repaired: exit %d\n%s", exit, out)
	}
}

func TestCheckRunFix(t *testing.T) {
	const before, after = "# keep\r\na.enabled = false\r\nb.ssl.key.password = p\r\n", "# keep\r\na.enabled = true\r\nb.ssl.key.password = p\r\n"
	folder(t, map[string]string{"real/mm2.properties": before})
	name := "mm2.properties"
	if err := os.Symlink("real/mm2.properties", name); err != nil {
		t.Skip(err)
	}
	exit, out, _ := checked(t, name, "--diff")
	if want := "--- a/mm2.properties\n+++ b/mm2.properties\n@@ -1,2 +1,2 @@\n # keep\r\n-a.enabled = false\r\n+a.enabled = true\r\n"; exit != 1 || out != want || content(t, name) != before {
		t.Errorf("--diff: exit %d\n%q\nwant\n%q", exit, out, want)
	}
	exit, out, errs := checked(t, name, "--fix")
	if exit != 0 || content(t, name) != after || !strings.Contains(out, "OK: 0 errors, 0 warnings, 1 remark") || errs != "mm2.properties: repairs made: 1\n" {
		t.Errorf("--fix: exit %d\n%s%s%q", exit, out, errs, content(t, name))
	}
	if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the mode changed: %v %v", info, err)
	}
	if left, err := os.ReadDir("real"); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if exit, _, errs := checked(t, name, "--fix", "--diff"); exit != 0 || errs != "" || content(t, name) != after {
		t.Errorf("a second time: exit %d, %s", exit, errs)
	}
	if err := replaceFile(name, []byte(before), []byte("x")); err == nil || content(t, name) != after {
		t.Errorf("a file that changed was written over: %v", err)
	}
}
