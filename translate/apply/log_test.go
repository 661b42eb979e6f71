package apply

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func whole(t testing.TB) string {
	w, p := scene()
	j := &paper{fuse: w.fuse}
	if _, err := Run(t.Context(), p, w, nil, j, quick()); err != nil {
		t.Fatal(err)
	}
	return j.b.String()
}

// TestReadLogMalformed: what is not a torn end is an error with its line.
func TestReadLogMalformed(t *testing.T) {
	good := whole(t)
	lines := strings.SplitAfter(strings.TrimSuffix(good, "\n"), "\n")
	resume := `{"kind":"resume","time":"2026-03-01T12:00:00Z"}` + "\n"
	for _, tt := range []struct {
		name, text, want string
		torn             bool
	}{
		{"whole", good, "", false},
		{"no line end", strings.TrimSuffix(good, "\n"), "", false},
		{"torn end", good + `{"kind":"int`, "", true},
		{"torn end with a line end", good + `{"kind":"int` + "\n", "", true},
		{"zero bytes at the end", good + "\x00\x00\x00", "", true},
		{"torn and resumed", lines[0] + lines[1][:30] + "\n" + resume, "", false},
		{"torn, resumed, torn, resumed", lines[0] + lines[1][:30] + "\n" + resume[:9] + "\n" + resume, "", false},
		{"torn in the middle", lines[0] + lines[1][:30] + "\n" + lines[2], "line 2", false},
		{"nonsense in the middle", lines[0] + "hello\n" + lines[1], "line 2", false},
		{"nonsense at the end", good + "hello\n", "line 18", false},
		{"no header", lines[1] + lines[2], "line 1", false},
		{"two headers", lines[0] + lines[0], "second header", false},
		{"result without intent", lines[0] + lines[3], "without its intent", false},
		{"unknown kind", lines[0] + `{"kind":"dance"}` + "\n", `unknown kind "dance"`, false},
		{"another schema", strings.Replace(good, `"schemaVersion":1,"command":"apply"`, `"schemaVersion":2,"command":"apply"`, 1), "schema version 2", false},
		{"plan changed", strings.Replace(good, `"to":40`, `"to":41`, 1), "digest", false},
	} {
		l, err := ReadLog(strings.NewReader(tt.text))
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil && l.Torn != tt.torn {
			t.Errorf("%s: torn %v", tt.name, l.Torn)
		}
	}
	for _, text := range []string{"", "\n", lines[0][:100]} {
		if _, err := ReadLog(strings.NewReader(text)); !errors.Is(err, ErrNothingNoted) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestFileJournal: never overwritten, one process at a time, only added to, gone when nothing was noted.
func TestFileJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.json")
	j, err := CreateJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty journal stays: %v", err)
	}
	j, err = CreateJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	w, p := scene()
	out, err := Run(t.Context(), p, w, nil, j, quick())
	if err != nil || out.Journal != path {
		t.Fatalf("%v %q", err, out.Journal)
	}
	if _, _, err := OpenJournal(path); err == nil || !strings.Contains(err.Error(), "another mm2doctor") {
		t.Errorf("opened twice: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateJournal(path); err == nil || !strings.Contains(err.Error(), "never overwritten") {
		t.Errorf("overwritten: %v", err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(bytes.Clone(first), `{"kind":"inte`...)
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	j, l, err := OpenJournal(path)
	if err != nil || !l.Torn || *l.Header.Plan.Groups[0].Rows[0].To != 40 {
		t.Fatalf("%v %+v", err, l)
	}
	if _, err := Resume(t.Context(), l, w, nil, j, quick()); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(Entry{Kind: KindResume}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(again, torn) {
		t.Errorf("the journal was not only added to: %v", err)
	}
	if _, err := ReadLog(bytes.NewReader(again)); err != nil {
		t.Error(err)
	}
	if _, err := CreateJournal(filepath.Join(t.TempDir(), "no", "j.json")); err == nil {
		t.Error("created without a directory")
	}
}

// FuzzReadLog: no input panics, and what is read can be taken back.
func FuzzReadLog(f *testing.F) {
	good := whole(f)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(`{"kind":"header"}` + "\n")
	for _, l := range strings.SplitAfter(good, "\n") {
		f.Add(strings.SplitAfter(good, "\n")[0] + l)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ReadLog(strings.NewReader(s))
		if err != nil {
			return
		}
		o := quick()
		o.fill()
		if p, _ := undo(l, o); p.Check() != nil {
			t.Error(p.Check())
		}
	})
}
