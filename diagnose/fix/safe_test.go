package fix

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

func TestSafe(t *testing.T) {
	for _, tc := range []struct {
		slug, text string
		line       int
		key, value string
		want       string // "" for no edit
	}{
		{"comment-after-value", "x = 1\r\n  a = b\t # why\r\ny = 1\r\n", 2, "a", "b", "x = 1\r\n  # why\r\n  a = b\r\ny = 1\r\n"},
		{"comment-after-value", "a = b \\\n # why\n", 1, "a", "b", ""},
		{"comment-after-value", "a = # why", 1, "a", "", "# why\na ="},
		{"trailing-whitespace", "a = true  \nb = 1\n", 1, "a", "true", "a = true\nb = 1\n"},
		{"trailing-whitespace", "a = true  \na = 1\n", 1, "a", "true", ""},
		{"duplicate-key", "a = 1\n# c\na = 1\n", 3, "a", "", "# c\na = 1\n"},
		{"duplicate-key", "a = 1\na = 2\n", 2, "a", "", ""},
		{"misspelt-key", "a = 1\n", 1, "a", "2", ""},
		{"comment-after-value", "a:\n  b: 1 # c\n", 2, "a", "1", ""},
	} {
		texts := []Text{{"f", []byte(tc.text)}}
		found := []finding.Finding{{Slug: tc.slug, Subject: finding.Subject{File: "f", Line: tc.line, Key: tc.key}, Fixes: []finding.Fix{{Text: "t", Steps: []finding.Step{{Properties: finding.Observed{{Name: tc.key, Value: tc.value}}}}}}}}
		got := Safe(texts, found)
		if len(found[0].Fixes[0].Edits) > 0 {
			t.Error("the finding given was changed")
		}
		edits := got[0].Fixes[0].Edits
		if len(edits) == 0 {
			if tc.want != "" {
				t.Errorf("%s %q: no edit", tc.slug, tc.text)
			}
			continue
		}
		if out, err := confdoc.Apply([]byte(tc.text), edits); err != nil || string(out) != tc.want {
			t.Errorf("%s %q: %q, %v, want %q", tc.slug, tc.text, out, err, tc.want)
		}
	}
}
