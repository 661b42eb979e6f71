package confdoc

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSetProperty(t *testing.T) {
	for _, tc := range []struct {
		name, text, key, value string
		after                  int
		want                   string
	}{
		{"in place", "a = 1\nb = 2\n", "a", "x", 0, "a = x\nb = 2\n"},
		{"line ends, comment, order", "# head\r\na=1\r\n! tail\r\n", "a", "2", 0, "# head\r\na=2\r\n! tail\r\n"},
		{"the entry in force", "a=1\na=2\n", "a", "3", 0, "a=1\na=3\n"},
		{"has it already", "a =  1\n", "a", "1", 0, "a =  1\n"},
		{"colon and blanks", "a:   1\n", "a", "2", 0, "a:   2\n"},
		{"blank as separator", "a 1\n", "a", "2", 0, "a 2\n"},
		{"key alone", "a\nb=1\n", "a", "2", 0, "a = 2\nb=1\n"},
		{"empty value", "a =\nb=1", "a", "2", 0, "a =2\nb=1"},
		{"continued value", "a = x,\\\n    y\nb=1\n", "a", "z", 0, "a = z\nb=1\n"},
		{"continued to nothing", "a=\\\n   \nb=1\n", "a", "n", 0, "a = n\n   \nb=1\n"},
		{"new at the end", "a=1\n", "b", "2", 0, "a=1\nb=2\n"},
		{"new at the end, no line end", "a = 1", "b", "2", 0, "a = 1\nb = 2"},
		{"new behind a line", "  a = 1\r\nc = 3\r\n", "b", "2", 1, "  a = 1\r\n  b = 2\r\nc = 3\r\n"},
		{"new behind a continued entry", "a = 1,\\\n  2\nc = 3\n", "b", "2", 1, "a = 1,\\\n  2\nb = 2\nc = 3\n"},
		{"new in an empty file", "", "b", "2", 0, "b = 2\n"},
		{"escapes", "a=1\n", "a", " é\\=#\t😀", 0, "a=\\ \\u00E9\\\\=#\\t\\uD83D\\uDE00\n"},
		{"a key that needs escapes", "", "#a b:=", "", 0, "\\#a\\ b\\:\\= = \n"},
		{"latin-1 stays", "# caf\xe9\na=1\n", "a", "2", 0, "# caf\xe9\na=2\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			edits, err := SetProperty("f", []byte(tc.text), tc.key, tc.value, tc.after)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Apply([]byte(tc.text), edits)
			if err != nil || string(out) != tc.want {
				t.Errorf("%q, %v, want %q", out, err, tc.want)
			}
		})
	}
}

func TestRemoveAndRenameProperty(t *testing.T) {
	const text = "# c\na = 1\nb = x,\\\n y\nsync.groupoffsets=true"
	for _, tc := range []struct {
		edits func([]byte) ([]Edit, error)
		want  string
	}{
		{func(b []byte) ([]Edit, error) { return RemoveProperty("f", b, 2) }, "# c\nb = x,\\\n y\nsync.groupoffsets=true"},
		{func(b []byte) ([]Edit, error) { return RemoveProperty("f", b, 3) }, "# c\na = 1\nsync.groupoffsets=true"},
		{func(b []byte) ([]Edit, error) { return RemoveProperty("f", b, 5) }, "# c\na = 1\nb = x,\\\n y\n"},
		{func(b []byte) ([]Edit, error) { return RemoveProperty("f", b, 1) }, text},
		{func(b []byte) ([]Edit, error) { return RenameProperty("f", b, 5, "sync.group.offsets.enabled") }, "# c\na = 1\nb = x,\\\n y\nsync.group.offsets.enabled=true"},
		{func(b []byte) ([]Edit, error) { return RenameProperty("f", b, 3, "a b") }, "# c\na = 1\na\\ b = x,\\\n y\nsync.groupoffsets=true"},
	} {
		edits, err := tc.edits([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := Apply([]byte(text), edits); err != nil || string(out) != tc.want {
			t.Errorf("%q, %v, want %q", out, err, tc.want)
		}
	}
}

// TestNoEditOfWhatCannotBeProved: a text that ends within an entry, and one that Java refuses, stay as they are.
func TestNoEditOfWhatCannotBeProved(t *testing.T) {
	for _, text := range []string{"a = 1\\", "a = \\u12\n"} {
		if edits, err := SetProperty("f", []byte(text), "b", "2", 0); err == nil {
			t.Errorf("%q: %v", text, edits)
		} else if !strings.Contains(err.Error(), "by hand") {
			t.Error(err)
		}
	}
}

// drawProperties makes texts of all the ways in which entries are written.
func drawProperties(t *rapid.T) string {
	eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "eol")
	piece := rapid.OneOf(
		rapid.Just(""), rapid.Just("# comment = 1"), rapid.Just("  ! c"), rapid.Just("   "), rapid.Just("a"), rapid.Just("a b"), rapid.Just("b:"), rapid.Just("c = \\"+eol+"   x,\\"+eol+" y  "),
		rapid.Just("\\u0061 = é"), rapid.Just("a\\=b = \\= 1"), rapid.Just("a=\\"+eol+"  "),
		rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "in") + rapid.SampledFrom([]string{"a", "b", "c", "a->b.enabled", "long.key"}).Draw(t, "k") +
				rapid.SampledFrom([]string{"=", " = ", ":", " ", "\t:  "}).Draw(t, "sep") + rapid.StringMatching(`[a-z0-9 ,=.*\\#:]{0,8}[a-z0-9 #]`).Draw(t, "v")
		}))
	return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "lines"), eol) + rapid.SampledFrom([]string{"", eol}).Draw(t, "last")
}

// TestSetPropertyTwiceIsOnce: after the edit the key has the value, all else means what it meant, nothing outside the edit
// changed a byte, and a second edit is none.
func TestSetPropertyTwiceIsOnce(t *testing.T) {
	refused, done := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawProperties(t)
		key := rapid.SampledFrom([]string{"a", "b", "c", "a->b.enabled", "new key", "a=b"}).Draw(t, "key")
		value := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z =:#!\\]{0,6}`)).Draw(t, "value")
		value = strings.ToValidUTF8(value, "?")
		after := rapid.IntRange(0, 4).Draw(t, "after")
		p, diags := ParseProperties("f", []byte(text))
		edits, err := SetProperty("f", []byte(text), key, value, after)
		if err != nil {
			refused++
			return
		}
		done++
		out, err := Apply([]byte(text), edits)
		if err != nil {
			t.Fatal(err)
		}
		q, after2 := ParseProperties("f", out)
		if len(after2) > len(diags) || q.Value(key) != value {
			t.Fatalf("%q: %q instead of %q (%v)", out, q.Value(key), value, after2)
		}
		for _, e := range p.Effective() {
			if e.Key != key && q.Value(e.Key) != e.Value {
				t.Fatalf("%q changed from %q to %q", e.Key, e.Value, q.Value(e.Key))
			}
		}
		for _, l := range strings.FieldsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
			if strings.HasPrefix(l, "#") && !strings.Contains(string(out), l) {
				t.Fatalf("comment %q is gone", l)
			}
		}
		if again, err := SetProperty("f", out, key, value, after); err != nil || len(again) != 0 {
			t.Fatalf("a second time: %v %v", again, err)
		}
	})
	if done < 5*refused {
		t.Errorf("%d made, %d refused", done, refused)
	}
}

func TestConflicts(t *testing.T) {
	e := func(start, end int, text string) Edit { return Edit{"f", start, end, text} }
	for _, tc := range []struct {
		name  string
		edits []Edit
		want  string // "" for a conflict
	}{
		{"side by side", []Edit{e(2, 3, "C"), e(0, 2, "AB")}, "ABCdef"},
		{"the same twice", []Edit{e(1, 2, "B"), e(1, 2, "B")}, "aBcdef"},
		{"insert behind a replacement", []Edit{e(0, 2, "x"), e(2, 2, "y")}, "xycdef"},
		{"overlap", []Edit{e(0, 3, "x"), e(2, 4, "y")}, ""},
		{"inside", []Edit{e(0, 6, "x"), e(2, 2, "y")}, ""},
		{"two inserts at one place", []Edit{e(1, 1, "x"), e(1, 1, "y")}, ""},
		{"insert where a replacement begins", []Edit{e(1, 1, "x"), e(1, 2, "y")}, ""},
	} {
		out, err := Apply([]byte("abcdef"), tc.edits)
		if string(out) != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s: %q, %v", tc.name, out, err)
		}
	}
	if _, err := Apply([]byte("abc"), []Edit{e(2, 9, "")}); err == nil {
		t.Error("an edit beyond the end is made")
	}
	g := func(file string, start, end int) Edit { return Edit{file, start, end, "x"} }
	edits, taken := Choose([][]Edit{{g("a", 0, 2)}, {g("b", 0, 2), g("a", 1, 3)}, {g("b", 1, 2)}, {g("a", 0, 2)}})
	if !slices.Equal(taken, []bool{true, false, true, true}) || len(edits) != 3 {
		t.Errorf("%v %v", taken, edits)
	}
}
