package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/mm2doctor/mm2doctor/diagnose/suppress"
)

const actionDir = "../.github/actions/check"

// action is what the tests look at of action.yml.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Uses, Shell, Run string
			With, Env                      map[string]string
			WorkingDirectory               string `yaml:"working-directory"`
		}
	}
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(actionDir, "action.yml"))), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestActionIsWhole: every input is used, every output comes from a step, and no expression stands within a script, where a file's
// name could become a command.
func TestActionIsWhole(t *testing.T) {
	a := readAction(t)
	text := read(t, filepath.Join(actionDir, "action.yml"))
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 3 {
		t.Fatalf("%+v", a.Runs)
	}
	for name, in := range a.Inputs {
		if !strings.Contains(text, "inputs."+name) || in.Description == "" {
			t.Errorf("input %s is not used or not described", name)
		}
	}
	for _, m := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(text, -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("no input %s", m[1])
		}
	}
	scripts := ""
	ids := []string{}
	for _, s := range a.Runs.Steps {
		ids = append(ids, s.ID)
		if s.Run == "" {
			continue
		}
		if strings.Contains(s.Run, "${{") || s.Shell != "bash" {
			t.Errorf("step %s: %s", s.Name, s.Run)
		}
		_, script, ok := strings.Cut(s.Run, `"$GITHUB_ACTION_PATH/`)
		if !ok {
			t.Errorf("step %s runs no script of the action", s.Name)
			continue
		}
		b := read(t, filepath.Join(actionDir, strings.TrimSuffix(script, `"`)))
		scripts += b
		for name := range s.Env {
			if !strings.Contains(b, "$"+name) && !strings.Contains(b, "${"+name) {
				t.Errorf("step %s does not read %s", s.Name, name)
			}
		}
	}
	for name, out := range a.Outputs {
		m := regexp.MustCompile(`steps\.(\w+)\.outputs\.([\w-]+)`).FindStringSubmatch(out.Value)
		if m == nil || !slices.Contains(ids, m[1]) || !strings.Contains(scripts, m[2]+"=") {
			t.Errorf("output %s comes from nowhere: %s", name, out.Value)
		}
	}
	for _, m := range regexp.MustCompile(`MM2DOCTOR_\w+`).FindAllString(scripts, -1) {
		if !strings.Contains(text, m+":") {
			t.Errorf("nobody sets %s", m)
		}
	}
}

// stub stands for mm2doctor: it keeps its arguments, writes what -o asks for, and exits as told.
const stub = `#!/usr/bin/env bash
printf '%s\n' "$@" >"$STUB_ARGS"
while [ $# -gt 0 ]; do
  case $2 in markdown=* | sarif=*) echo "${2%%=*} report" >"${2#*=}" ;; github) echo "::error::found" ;; esac
  shift
done 2>/dev/null
[ "$STUB_EXIT" != 2 ] || printf 'mm2doctor: 50%% of it\nand more\n' >&2
exit "$STUB_EXIT"
`

// TestActionScript runs the step as a runner would, with a stand-in for mm2doctor.
func TestActionScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no bash here")
	}
	script, err := filepath.Abs(filepath.Join(actionDir, "check.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, files, exit string
		env               []string
		code              int
		args, output      string
	}{
		{"all at their defaults", "a.properties", "0", nil, 0, "check --fail-on error -o markdown=REPORT -o github -- a.properties", "exit-code=0 report=REPORT"},
		{"blanks around names, and a pattern", " \twith blank.json \n conf/*.json none/*.x", "0", nil, 0, "check --fail-on error -o markdown=REPORT -o github -- with blank.json conf/a.json conf/b c.json none/*.x", "exit-code=0 report=REPORT"},
		{"everything", "a.properties b.yaml\nwith blank.json\r\n", "1", []string{"MM2DOCTOR_VERSION=3.9.1", "MM2DOCTOR_FAIL_ON=warning", "MM2DOCTOR_MIN_SEVERITY=warning", "MM2DOCTOR_SETTINGS=s.yaml", "MM2DOCTOR_SARIF=out.sarif", "MM2DOCTOR_ANNOTATIONS=false"}, 1,
			"check --fail-on warning -o markdown=REPORT --mm2-version 3.9.1 --min-severity warning --settings s.yaml -o sarif=DIR/out.sarif -o text -- a.properties b.yaml with blank.json", "exit-code=1 report=REPORT sarif=DIR/out.sarif"},
		{"names that look like commands", "$(touch owned) *; `touch owned`", "2", nil, 2, "check --fail-on error -o markdown=REPORT -o github -- $(touch owned) *; `touch owned`", "exit-code=2"},
		{"nothing was checked", "a", "2", []string{"MM2DOCTOR_SARIF=old.sarif"}, 2, "check --fail-on error -o markdown=REPORT -o sarif=DIR/old.sarif -o github -- a", "exit-code=2"},
		{"no files", " \n", "0", nil, 2, "", "exit-code=2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "conf"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"with blank.json", "conf/a.json", "conf/b c.json", "summary", "output"} {
				if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "mm2doctor"), []byte(stub), 0o700); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(bash, script)
			c.Dir = dir
			c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=output", "GITHUB_STEP_SUMMARY=summary", "MM2DOCTOR=./mm2doctor", "MM2DOCTOR_FILES=" + tc.files, "STUB_ARGS=args", "STUB_EXIT=" + tc.exit}, tc.env...)
			out, err := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != tc.code {
				t.Fatalf("exit %d: %v %s", code, err, out)
			}
			temporary := regexp.MustCompile(regexp.QuoteMeta(dir) + `/mm2doctor\.\w+/report\.md`)
			words := func(name string) string {
				b, _ := os.ReadFile(filepath.Join(dir, name))
				return strings.Join(strings.Fields(strings.ReplaceAll(temporary.ReplaceAllString(string(b), "REPORT"), dir, "DIR")), " ")
			}
			if got := words("args"); got != tc.args {
				t.Errorf("called with %q, want %q", got, tc.args)
			}
			if got := words("output"); got != tc.output {
				t.Errorf("outputs %q, want %q", got, tc.output)
			}
			if got := words("summary"); tc.code < 2 && got != "markdown report" || tc.code == 2 && got != "" {
				t.Errorf("summary %q", got)
			}
			if tc.code == 2 && tc.args != "" && !strings.Contains(string(out), "::error title=mm2doctor check::mm2doctor: 50%25 of it%0Aand more\n") {
				t.Errorf("no annotation tells why nothing was checked: %s", out)
			}
			if stopped := strings.HasPrefix(string(out), "::stop-commands::"); stopped != slices.Contains(tc.env, "MM2DOCTOR_ANNOTATIONS=false") {
				t.Errorf("lines of configurations are commands to the runner: %s", out)
			}
			if _, err := os.Stat(filepath.Join(dir, "owned")); err == nil {
				t.Error("a file's name was run as a command")
			}
		})
	}
}

// TestActionBuilds: the script builds this very mm2doctor.
func TestActionBuilds(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no bash here")
	}
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	c := exec.Command(bash, filepath.Join(actionDir, "build.sh"))
	c.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(read(t, filepath.Join(dir, "output"))), "mm2doctor=")
	if !ok {
		t.Fatalf("no output: %s", name)
	}
	if out, err := exec.Command(name, "version").Output(); err != nil || !strings.HasPrefix(string(out), "mm2doctor ") {
		t.Errorf("%v %s", err, out)
	}
}

// TestPreCommitHooks: the hooks name files of MirrorMaker 2, and no others.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID, Name, Entry, Language, Files string
		Serial                           bool `yaml:"require_serial"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../.pre-commit-hooks.yaml")), &hooks); err != nil {
		t.Fatal(err)
	}
	if len(hooks) != 2 {
		t.Fatalf("%+v", hooks)
	}
	for _, h := range hooks {
		if h.Language != "golang" || !h.Serial || !strings.HasPrefix(h.Entry, "mm2doctor check") || h.Name == "" {
			t.Errorf("%+v", h)
		}
		files := regexp.MustCompile(h.Files)
		for name, want := range map[string]bool{"mm2.properties": true, "conf/connect-mirror-maker.properties": true, "k8s/kafka-mirror-maker-2.yaml": true, "connect/mirror-checkpoint.json": true,
			"server.properties": false, "mm2.md": false, "mm2/readme.yaml": false, "package.json": false} {
			if files.MatchString(name) != want {
				t.Errorf("%s: %s fits: %v", h.ID, name, !want)
			}
		}
	}
}

// TestSnippets: the YAML of docs/ci.md is YAML, names hooks and inputs that exist, and its settings are accepted.
func TestSnippets(t *testing.T) {
	a := readAction(t)
	page := read(t, "ci.md")
	parts := strings.Split(page, "```yaml\n")[1:]
	if len(parts) != 4 {
		t.Fatalf("%d snippets", len(parts))
	}
	var seen []string
	for _, p := range parts {
		text, _, _ := strings.Cut(p, "```")
		var v struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]string
				}
			}
			MM2doctor struct {
				Script    []string
				Artifacts struct{ Reports map[string]string }
			} `yaml:"mm2doctor"`
			Repos []struct {
				Hooks []struct{ ID string }
			}
			Ignore []any
		}
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		for _, j := range v.Jobs {
			for _, s := range j.Steps {
				if !strings.Contains(s.Uses, "mm2doctor") {
					continue
				}
				seen = append(seen, "action")
				_, dir, _ := strings.Cut(s.Uses, "mm2doctor/mm2doctor/")
				dir, _, _ = strings.Cut(dir, "@")
				if filepath.Join("..", dir) != filepath.Clean(actionDir) {
					t.Errorf("the action is not at %s", dir)
				}
				for name := range s.With {
					if _, ok := a.Inputs[name]; !ok {
						t.Errorf("the action has no input %s", name)
					}
				}
			}
		}
		for _, file := range v.MM2doctor.Artifacts.Reports {
			seen = append(seen, "gitlab")
			if !strings.Contains(strings.Join(v.MM2doctor.Script, "\n"), "="+file) {
				t.Errorf("no command writes %s", file)
			}
		}
		for _, r := range v.Repos {
			for _, h := range r.Hooks {
				seen = append(seen, "pre-commit")
				if !strings.Contains(read(t, "../.pre-commit-hooks.yaml"), "- id: "+h.ID+"\n") {
					t.Errorf("no hook %s", h.ID)
				}
			}
		}
		if len(v.Ignore) > 0 {
			seen = append(seen, "settings")
			if s, err := suppress.ParseSettings(".mm2doctor.yaml", []byte(text)); err != nil || len(s.Ignore) != 1 || len(s.Severity) != 1 {
				t.Errorf("%v %+v", err, s)
			}
		}
	}
	if !slices.Equal(seen, []string{"action", "gitlab", "gitlab", "pre-commit", "settings"}) {
		t.Errorf("%v", seen)
	}
}
