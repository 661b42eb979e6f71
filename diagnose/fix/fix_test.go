package fix

import (
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// want makes a look that asks for settings; a value is wrong as long as it is not the one wanted.
func want(t *testing.T, pairs ...string) func([]Text) []finding.Finding {
	return func(texts []Text) []finding.Finding {
		var out []finding.Finding
		for _, text := range texts {
			for i := 0; i < len(pairs); i += 2 {
				edits, err := confdoc.SetProperty(text.Name, text.Bytes, pairs[i], pairs[i+1], 0)
				if err != nil {
					t.Fatal(err)
				}
				if len(edits) > 0 {
					out = append(out, finding.Finding{ID: "MM2D-301", Slug: pairs[i] + pairs[i+1], Subject: finding.Subject{File: text.Name, Key: pairs[i]}, Fixes: []finding.Fix{{}, {Edits: edits}}})
				}
			}
		}
		return out
	}
}

func TestAll(t *testing.T) {
	for _, tc := range []struct {
		name       string
		text       string
		pairs      []string
		want       string
		made, left int
	}{
		{"nothing to make", "a=1\n", []string{"a", "1"}, "a=1\n", 0, 0},
		{"one", "a=1\n# c\n", []string{"a", "2"}, "a=2\n# c\n", 1, 0},
		{"two new lines at one place: two rounds", "a=1\n", []string{"b", "2", "c", "3"}, "a=1\nb=2\nc=3\n", 2, 0},
		{"two wishes for one key: each once, no endless turn", "a=1\n", []string{"a", "2", "a", "3"}, "a=3\n", 2, 1},
	} {
		before := []Text{{"f", []byte(tc.text)}}
		r, err := All(before, want(t, tc.pairs...))
		if err != nil || string(r.Texts[0].Bytes) != tc.want || len(r.Made) != tc.made || len(r.Left) != tc.left {
			t.Errorf("%s: %q, %d made, %d left, %v", tc.name, r.Texts[0].Bytes, len(r.Made), len(r.Left), err)
		}
		if string(before[0].Bytes) != tc.text {
			t.Errorf("%s: the text given was changed", tc.name)
		}
		if tc.left > 0 {
			continue
		}
		if again, err := All(r.Texts, want(t, tc.pairs...)); err != nil || len(again.Made) > 0 {
			t.Errorf("%s: a second time: %v %v", tc.name, again.Made, err)
		}
	}
}

func TestDiff(t *testing.T) {
	before := []Text{{"a.properties", []byte("x=1\npassword=p\ny=1\nz=1\n")}, {"same", []byte("1\n")}}
	r, err := All(before[:1], want(t, "y", "2", "new", "3"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Diff(before, append(slices.Clone(r.Texts), before[1]), func(l string) bool { return strings.HasPrefix(l, "password") })
	if want := "--- a/a.properties\n+++ b/a.properties\n@@ -3,2 +3,3 @@\n-y=1\n+y=2\n z=1\n+new=3\n"; err != nil || d != want {
		t.Errorf("%v\n%s\nwant\n%s", err, d, want)
	}
}
