package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// formats are all values of -o; the empty one is the default.
var formats = []string{"", "text", "json", "markdown", "sarif", "junit", "github", "codeclimate", "checkstyle"}

// run is mm2doctor within this process.
func run(args ...string) (exit int, out, errs string) {
	var o, e bytes.Buffer
	exit = Main(args, &term.Streams{In: strings.NewReader(""), Out: &o, Err: &e, Env: func(string) string { return "" }})
	return exit, o.String(), e.String()
}

// TestExitCode is the rule itself: severity against --fail-on first, then what is unknown.
func TestExitCode(t *testing.T) {
	of := func(link string, codes ...finding.Finding) *diagnose.Report {
		return &diagnose.Report{Flows: []diagnose.FlowInfo{{}}, Links: []diagnose.LinkStatus{{Status: link}}, Findings: codes}
	}
	fault := finding.Finding{Code: finding.Code(302), Severity: finding.Error}
	warn := finding.Finding{Code: finding.Code(303), Severity: finding.Warning}
	note := finding.Finding{Code: finding.Code(217), Severity: finding.Info}
	contact := finding.Finding{Code: finding.Code(1), Severity: finding.Error}
	for _, tt := range []struct {
		name                        string
		r                           *diagnose.Report
		never, errors, warns, infos int // by --fail-on
	}{
		{"healthy", of("ok"), 0, 0, 0, 0},
		{"moving is known", of("moving"), 0, 0, 0, 0},
		{"a link is unknown", of("unknown"), 3, 3, 3, 3},
		{"info", of("ok", note), 0, 0, 0, 1},
		{"warning", of("degraded", warn), 0, 0, 1, 1},
		{"error", of("broken", fault), 0, 1, 1, 1},
		{"error and an unknown link", of("unknown", fault), 3, 1, 1, 1},
		{"info and an unknown link", of("unknown", note), 3, 3, 3, 1},
		{"own connection failed", of("unknown", contact), 3, 3, 3, 3},
		{"own connection failed, links known", of("ok", contact), 3, 3, 3, 3},
		{"own connection failed beside a fault", of("unknown", contact, fault), 3, 1, 1, 1},
		{"no flow at all", &diagnose.Report{}, 3, 3, 3, 3},
	} {
		for _, f := range []struct {
			flag string
			want int
		}{{"never", tt.never}, {"error", tt.errors}, {"warning", tt.warns}, {"info", tt.infos}} {
			s, err := parseSeverity(f.flag)
			if err != nil {
				t.Fatal(err)
			}
			if got := exitCode(tt.r, s); got != f.want {
				t.Errorf("%s --fail-on %s: exit %d, want %d", tt.name, f.flag, got, f.want)
			}
		}
	}
}

// TestExitCodeInEveryFormat: the same snapshot and flags give the same exit code whatever -o says, and the report tells it.
func TestExitCodeInEveryFormat(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	snap := func(name string, s *snapshot.Snapshot) string {
		var b bytes.Buffer
		if err := bundle.Write(&b, s); err != nil {
			t.Fatal(err)
		}
		return file(name, b.String())
	}
	nowhere := "clusters = a, b\na.bootstrap.servers = 127.0.0.1:1\nb.bootstrap.servers = 127.0.0.1:2\n"
	dead := file("dead.properties", nowhere+"a->b.enabled = true\n")
	off := file("off.properties", nowhere)
	unreached := snap("unreached.json", &snapshot.Snapshot{SchemaVersion: 1, Taken: 1, Clusters: []snapshot.Cluster{{Alias: "a", Contact: &snapshot.Contact{Code: 1, What: "w", Why: "y", Next: "n"}}, {Alias: "b"}},
		Flows: []snapshot.Flow{{Source: "a", Target: "b"}}})
	unread := snap("unread.json", &snapshot.Snapshot{SchemaVersion: 1, Taken: 1, Clusters: []snapshot.Cluster{{Alias: "a"}, {Alias: "b"}}, Flows: []snapshot.Flow{{Source: "a", Target: "b"}}})
	for _, tt := range []struct {
		want int
		args []string
	}{
		{1, []string{off}},
		{1, []string{off, "--fail-on", "warning"}},
		{3, []string{off, "--fail-on", "never"}},
		{3, []string{dead, "--timeout", "1s"}},
		{3, []string{dead, "--timeout", "1s", "--fail-on", "info"}},
		{3, []string{unreached}},
		{3, []string{unread}},
		{3, []string{unread, "-q"}},
		{3, []string{unread, "--tree", "--partitions", "none"}},
		{2, []string{file("empty", "")}},
		{2, []string{file("future", `{"schemaVersion": 99, "taken": 1, "clusters": []}`)}},
		{2, []string{dead, "--flow", "a-"}},
		{2, nil},
	} {
		for _, f := range formats {
			args := append([]string{"diagnose"}, tt.args...)
			if f != "" {
				args = append(args, "-o", f)
			}
			got, out, errs := run(args...)
			if got != tt.want {
				t.Errorf("%q: exit %d, want %d\n%s", args, got, tt.want, errs)
			}
			switch {
			case tt.want == exitUsage:
				if out != "" || !strings.HasPrefix(errs, "mm2doctor: ") {
					t.Errorf("%q: standard output %q, standard error %q", args, out, errs)
				}
			case f == "json":
				d := json.NewDecoder(strings.NewReader(out))
				var v struct{ SchemaVersion int }
				var more any
				if err := d.Decode(&v); err != nil || v.SchemaVersion != 1 || d.Decode(&more) != io.EOF {
					t.Errorf("%q: not one object: %v\n%s", args, err, out)
				}
			case f == "sarif" && !strings.Contains(out, fmt.Sprintf("\"exitCode\": %d", tt.want)):
				t.Errorf("%q: exit code %d is not told\n%s", args, tt.want, out)
			case f != "" && f != "text":
			case !strings.HasSuffix(out, fmt.Sprintf("exit %d\n", tt.want)):
				t.Errorf("%q: the last line does not tell exit %d\n%s", args, tt.want, out)
			}
			if tt.want != exitUsage && errs != "" {
				t.Errorf("%q: standard error %q", args, errs)
			}
		}
		if tt.want == exitUsage {
			continue
		}
		for _, f := range formats[1:] { // to a file
			name := filepath.Join(t.TempDir(), "r")
			got, out, _ := run(append(append([]string{"diagnose"}, tt.args...), "-o", f+"="+name)...)
			if b, err := os.ReadFile(name); got != tt.want || out != "" || err != nil || len(b) == 0 && f != "github" { // no finding is no annotation
				t.Errorf("%q to a file: exit %d, %d bytes, %v, standard output %q", tt.args, got, len(b), err, out)
			}
		}
	}
}

// TestFormatsAreAll: a new format must be added to the tables of this file.
func TestFormatsAreAll(t *testing.T) {
	_, _, errs := run("diagnose", "-o", "?", "x")
	_, known, _ := strings.Cut(strings.TrimSpace(errs), "one of ")
	if got := strings.Split(known, ", "); !slices.Equal(got, formats[1:]) {
		t.Errorf("formats %q, tested are %q", got, formats[1:])
	}
}
