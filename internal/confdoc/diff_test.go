package confdoc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	const text = "1\n2\n3\n4\npassword = x\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"
	secret := func(l string) bool { return strings.HasPrefix(l, "password") }
	for _, tc := range []struct {
		name, text string
		edits      []Edit
		want       string
	}{
		{"none", text, nil, ""},
		{"a change", text, []Edit{{"f", 2, 3, "two"}}, "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n 4\n"},
		{"the secret beside it stays out", text, []Edit{{"f", 21, 22, "six"}}, "--- a/f\n+++ b/f\n@@ -6,4 +6,4 @@\n-6\n+six\n 7\n 8\n 9\n"},
		{"insert at the end", text, []Edit{{"f", len(text), len(text), "15\n"}}, "--- a/f\n+++ b/f\n@@ -12,3 +12,4 @@\n 12\n 13\n 14\n+15\n"},
		{"two hunks", text, []Edit{{"f", 0, 2, ""}, {"f", len(text) - 3, len(text) - 1, "x"}}, "--- a/f\n+++ b/f\n@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -11,4 +10,4 @@\n 11\n 12\n 13\n-14\n+x\n"},
		{"no line end", "a=1", []Edit{{"f", 3, 3, "\nb=2"}}, "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a=1\n\\ No newline at end of file\n+a=1\n+b=2\n\\ No newline at end of file\n"},
		{"an empty file", "", []Edit{{"f", 0, 0, "b=2\n"}}, "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+b=2\n"},
	} {
		got, err := Diff("f", []byte(tc.text), tc.edits, secret)
		if err != nil || got != tc.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tc.name, err, got, tc.want)
		}
	}
}

// TestDiffHidesSecrets: also where they stand on a line of their own.
func TestDiffHidesSecrets(t *testing.T) {
	secret := func(l string) bool {
		_, value, ok := strings.Cut(strings.ReplaceAll(l, ":", "="), "password=")
		return ok && strings.TrimSpace(value) != ""
	}
	for _, text := range []string{
		"password=\\\n  hunter\nx=1\n", "pass\\\nword=hunter\nx=1\n", "password=a\\\nb\\\nhunter\nx=1\n", "x=1\npassword=\\\nhunter\n", "password:\n  hunter\nx=1\n", "a:\n  password:\n\n    hunter\n  x=1\n", "- name: password\n  value: hunter\nx=1\n",
	} {
		at := strings.Index(text, "x=1")
		d, err := Diff("f", []byte(text), []Edit{{"f", at + 2, at + 3, "2"}}, secret)
		if err != nil || strings.Contains(d, "hunter") || !strings.Contains(d, "x=2") {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
	const double = "password.file=a\\\\\nkept=1\nx=1\n" // two backslashes are one, and the entry ends
	if d, err := Diff("f", []byte(double), []Edit{{"f", len(double) - 2, len(double) - 1, "2"}}, secret); err != nil || !strings.Contains(d, " kept=1") {
		t.Errorf("%v\n%s", err, d)
	}
}

// TestDiffNames: git and patch find files whose names hold blanks, quotes and line ends.
func TestDiffNames(t *testing.T) {
	var diffs strings.Builder
	names := []string{"a b.properties", "tab\t.properties", "line\nend.properties", "quo'te\".properties", "ü.properties", "ü\".properties", "plain.properties"}
	for _, n := range names {
		d, err := Diff(n, []byte("a=1\n"), []Edit{{n, 2, 3, "2"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		diffs.WriteString(d)
	}
	if !strings.HasPrefix(diffs.String(), "--- a/a b.properties\t\n+++ b/a b.properties\t\n@@") || !strings.Contains(diffs.String(), `--- "a/line\012end.properties"`) {
		t.Error(diffs.String())
	}
	for _, command := range [][]string{{"git", "apply"}, {"patch", "-f", "-p1"}} {
		tool, err := exec.LookPath(command[0])
		if err != nil {
			continue
		}
		dir := t.TempDir()
		for _, n := range names {
			if err := os.WriteFile(filepath.Join(dir, n), []byte("a=1\n"), 0o600); err != nil {
				t.Skip(err)
			}
		}
		c := exec.Command(tool, command[1:]...)
		c.Dir, c.Stdin = dir, strings.NewReader(diffs.String())
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %v %s", command, err, out)
		}
		for _, n := range names {
			if b, err := os.ReadFile(filepath.Join(dir, n)); err != nil || string(b) != "a=2\n" {
				t.Errorf("%v: %q: %q %v", command, n, b, err)
			}
		}
	}
}

// TestDiffApplies: git makes of the old text and the diff what Apply makes of it.
func TestDiffApplies(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	checks := 0
	rapid.Check(t, func(t *rapid.T) {
		if checks++; checks > 40 {
			return // a process each
		}
		text := rapid.StringMatching(`([ab]{0,2}\r?\n){0,12}[ab]{0,2}`).Draw(t, "text")
		var edits []Edit
		at := 0
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			if at > len(text) {
				break
			}
			start := rapid.IntRange(at, len(text)).Draw(t, "start")
			end := rapid.IntRange(start, min(len(text), start+4)).Draw(t, "end")
			edits = append(edits, Edit{"f", start, end, rapid.StringMatching(`[xy\n]{0,3}`).Draw(t, "new")})
			at = end + 1
		}
		want, err := Apply([]byte(text), edits)
		if err != nil {
			t.Fatal(err)
		}
		secret := func(l string) bool { return l == "ab" }
		diff, err := Diff("f", []byte(text), edits, secret)
		if err != nil {
			t.Fatal(err)
		}
		if diff == "" || text == "" || len(want) == 0 {
			return // git makes or removes a file only by other headers
		}
		name := filepath.Join(dir, "f")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(git, "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
		c.Dir, c.Stdin = dir, strings.NewReader(diff)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%q\n%s", out, text, diff)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
			t.Fatalf("%q, want %q\n%s", got, want, diff)
		}
	})
}
