package term

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

func TestColour(t *testing.T) {
	for _, c := range []struct {
		name string
		tty  bool
		env  func(string) string
		want bool
	}{
		{"pipe", false, env(), false},
		{"terminal", true, env("TERM", "xterm"), true},
		{"NO_COLOR", true, env("NO_COLOR", "1"), false},
		{"dumb", true, env("TERM", "dumb"), false},
		{"forced in a pipe", false, env("CLICOLOR_FORCE", "1"), true},
		{"force of 0 is none", false, env("CLICOLOR_FORCE", "0"), false},
		{"no wins over force", false, env("CLICOLOR_FORCE", "1", "NO_COLOR", "1"), false},
		{"CLICOLOR=0", true, env("CLICOLOR", "0"), false},
	} {
		if got := colour(c.tty, c.env); got != c.want {
			t.Errorf("%s: colour %v, want %v", c.name, got, c.want)
		}
	}
}

func TestUnicodeLocale(t *testing.T) {
	for _, c := range []struct {
		env  func(string) string
		want bool
	}{
		{env("LANG", "C"), false},
		{env("LANG", "C.UTF-8"), true},
		{env("LANG", "de_DE.utf8"), true},
		{env("LANG", "de_DE.ISO-8859-1"), false},
		{env("LC_ALL", "C", "LANG", "en_US.UTF-8"), false},
		{env("LC_CTYPE", "en_US.UTF-8", "LANG", "C"), true},
	} {
		if got := unicodeLocale(c.env); got != c.want {
			t.Errorf("LC_ALL=%q LC_CTYPE=%q LANG=%q: %v", c.env("LC_ALL"), c.env("LC_CTYPE"), c.env("LANG"), got)
		}
	}
}

func TestScreenOfPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	s := NewScreen(w, env("LANG", "C.UTF-8"))
	if s.TTY || s.Colour || s.Columns() != DefaultWidth || s.Limit != 0 || !s.Unicode {
		t.Errorf("pipe: %+v", s)
	}
	if s = NewScreen(w, env("COLUMNS", "70")); s.Columns() != 70 || s.Limit != 0 {
		t.Errorf("COLUMNS=70 in a pipe: width %d, limit %d", s.Columns(), s.Limit)
	}
	if s = NewScreen(w, env("COLUMNS", "5")); s.Columns() != MinWidth {
		t.Errorf("COLUMNS=5: width %d", s.Columns())
	}
	if (&Streams{In: r, Out: w, Err: w}).CanPrompt() {
		t.Error("a pipe cannot be asked")
	}
}

func TestPaint(t *testing.T) {
	var b bytes.Buffer
	if got := NewScreen(&b, env()).Paint(Bad, "x"); got != "x" {
		t.Errorf("without colour: %q", got)
	}
	if got := NewScreen(&b, env("CLICOLOR_FORCE", "1")).Paint(Good, "x"); got != "\x1b[32mx\x1b[0m" {
		t.Errorf("with colour: %q", got)
	}
	if got := (Screen{Colour: true}).Paint(Bad, "x"); got != "x" {
		t.Errorf("a screen without renderer: %q", got)
	}
}

func TestMark(t *testing.T) {
	for sym, want := range map[Symbol][2]string{
		OK: {"✔", "OK  "}, Err: {"✖", "ERR "}, Warn: {"!", "WARN"}, Unknown: {"?", "??  "}, Note: {"i", "INFO"}, None: {" ", "    "},
	} {
		if got := (Screen{Unicode: true}).Mark(sym); got != want[0] {
			t.Errorf("unicode mark %d: %q", sym, got)
		}
		if got := (Screen{}).Mark(sym); got != want[1] {
			t.Errorf("ascii mark %d: %q", sym, got)
		}
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, unicode, ascii string }{
		{"billing", "billing", "billing"},
		{"a\x1b[31mb", `a\x1b[31mb`, `a\x1b[31mb`},
		{"a\nb\tc\r", `a\nb\tc\r`, `a\nb\tc\r`},
		{"grün", "grün", `gr\u00fcn`},
		{"a→b", "a→b", "a->b"},
		{"a\u202eb", `a\u202eb`, `a\u202eb`},
		{"zero\u200bwidth", `zero\u200bwidth`, `zero\u200bwidth`},
		{"bad\xff", `bad\xff`, `bad\xff`},
		{"\u0085", `\x85`, `\x85`},
		{"訂單", "訂單", `\u8a02\u55ae`},
		{"💥", "💥", `\U0001f4a5`},
	} {
		if got := (Screen{Unicode: true}).Clean(c.in); got != c.unicode {
			t.Errorf("%q: %q, want %q", c.in, got, c.unicode)
		}
		if got := (Screen{}).Clean(c.in); got != c.ascii {
			t.Errorf("%q in ASCII: %q, want %q", c.in, got, c.ascii)
		}
	}
	if got := (Screen{}).CleanLines("a\n\tb\x07"); got != "a\n\tb\\x07" {
		t.Errorf("lines: %q", got)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		n              int64
		unicode, ascii string
	}{
		{0, "0", "0"}, {9999, "9999", "9999"}, {-1, "-1", "-1"},
		{10000, "10000", "10000"},
		{1000120, "1000120", "1000120"},
		{-123456, "-123456", "-123456"},
	} {
		if got := (Screen{Unicode: true}).Number(c.n); got != c.unicode {
			t.Errorf("%d: %q", c.n, got)
		}
		if got := (Screen{}).Number(c.n); got != c.ascii {
			t.Errorf("%d in ASCII: %q", c.n, got)
		}
	}
}

func TestWrap(t *testing.T) {
	got := Wrap("one two three averyveryverylongword four", 10)
	want := []string{"one two", "three", "averyveryverylongword", "four"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q", got)
	}
	if got := Wrap("", 10); len(got) != 1 || got[0] != "" {
		t.Errorf("empty: %q", got)
	}
	if got := Wrap("1\u202f000\u202f120 x", 3); got[0] != "1\u202f000\u202f120" {
		t.Errorf("a number was broken: %q", got)
	}
}

func TestShorten(t *testing.T) {
	s := Screen{Unicode: true}
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"abcdefghij", 5, "ab…ij"}, {"訂單訂單訂單", 7, "訂…訂單"},
	} {
		if got := s.Shorten(c.in, c.n); got != c.want {
			t.Errorf("%s to %d: %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	table := Table{Columns: []Column{{Title: "group", Elastic: true}, {Title: "U", Number: true}, {Title: "status"}}, Indent: 2}
	table.Add("billing", "9", "ok")
	table.Add("訂單", "1,000,120", "MM2D-302")
	table.Add("a very long group name of an application", "-", "ok")
	var b strings.Builder
	if err := table.Render(&b, Screen{Limit: 45}); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"  group                           U  status\n" +
		"  billing                         9  ok\n" +
		"  訂單                    1,000,120  MM2D-302\n" +
		"  a very lon...plication          -  ok\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if err := (&Table{Columns: table.Columns}).Render(&b, Screen{}); err != nil {
		t.Error(err)
	}
	table.Add("too", "few")
	if err := table.Render(&b, Screen{}); err == nil {
		t.Error("a short row was accepted")
	}
}

func TestTableCap(t *testing.T) {
	table := Table{Columns: []Column{{Title: "n", Number: true}}, More: "(-o csv)"}
	for range 123 {
		table.Add("7")
	}
	var b strings.Builder
	if err := table.Render(&b, Screen{Unicode: true}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 1+MaxRows+1 || lines[len(lines)-1] != "… 73 more (-o csv)" || table.Len() != 123 {
		t.Errorf("%d lines, last %q, len %d", len(lines), lines[len(lines)-1], table.Len())
	}
}

// TestCut: a line of a megabyte is cut as one of ten characters is.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text        string
		n           int
		left, right string
	}{
		{"abc", 0, "abc", ""}, {"abc", -1, "abc", ""}, {"abc", 1, "bc", "a"}, {"abc", 3, "", "abc"}, {"abc", 9, "", "abc"}, {"äöü", 2, "ü", "äö"}, {"日本語", 2, "本語", "日"}, {"日本語", 3, " 語", "日"},
	} {
		if l, r := CutLeft(c.text, c.n), CutRight(c.text, c.n); l != c.left || r != c.right {
			t.Errorf("%q at %d: %q and %q, want %q and %q", c.text, c.n, l, r, c.left, c.right)
		}
	}
	long := strings.Repeat("abcdefgh", 1<<17) + "z"
	if l, r := CutLeft(long, 1<<20), CutRight(long, 3); l != "z" || r != "abc" {
		t.Errorf("%d and %q", len(l), r)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b]0;x\x07", false)
	f.Add("\xff\u202e訂", true)
	f.Fuzz(func(t *testing.T, in string, uni bool) {
		out := Screen{Unicode: uni}.Clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q: broken UTF-8 %q", in, out)
		}
		for _, r := range out {
			if r < 0x20 || r == 0x7f || !uni && r > 0x7e {
				t.Fatalf("%q: %q slipped through in %q", in, r, out)
			}
		}
	})
}
