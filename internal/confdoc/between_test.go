package confdoc

import (
	"testing"

	"pgregory.net/rapid"
)

func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`([abc]?\n){0,9}[abc]?`).Draw(t, "a")
		b := rapid.StringMatching(`([abc]?\n){0,9}[abc]?`).Draw(t, "b")
		edits := Between("f", []byte(a), []byte(b))
		if out, err := Apply([]byte(a), edits); err != nil || string(out) != b {
			t.Fatalf("%q, %v, want %q by %v", out, err, b, edits)
		}
		if a == b && len(edits) > 0 {
			t.Fatalf("edits between equal texts: %v", edits)
		}
	})
}
