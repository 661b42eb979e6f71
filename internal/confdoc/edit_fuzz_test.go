package confdoc

import "testing"

// FuzzEdits: whatever the text, an edit that is given can be made, and does what it says.
func FuzzEdits(f *testing.F) {
	for _, s := range []string{"a=1\n# c\n b : 2 \\\n  3\n", "a: 1\nb: {c: 'x', d: [1, {e: 2}]}\n", `{"a": "1", "b": {"c": null}}`, "- a: |\n    x\n  b: &y 1\n  c: *y\n", "\xEF\xBB\xBFa=1\r\na=1\r\n", "é: ü\n? x\n: y\n"} {
		f.Add([]byte(s), "a", "new value")
		f.Add([]byte(s), "b.c", "#=:\\ \té")
	}
	f.Fuzz(func(t *testing.T, b []byte, key, value string) {
		made := func(edits []Edit, err error) ([]byte, bool) {
			if err != nil || len(edits) == 0 {
				return nil, false
			}
			out, err := Apply(b, edits)
			if err != nil {
				t.Fatalf("%v cannot be made in %q: %v", edits, b, err)
			}
			if _, err := Diff("f", b, edits, nil); err != nil {
				t.Fatalf("no diff of %v in %q: %v", edits, b, err)
			}
			return out, true
		}
		p, diags := ParseProperties("f", b)
		if len(p.Entries) > 50 {
			return
		}
		if out, ok := made(SetProperty("f", b, key, value, 0)); ok {
			if q, _ := ParseProperties("f", out); q.Value(key) != value {
				t.Fatalf("%q: %q", out, q.Value(key))
			}
		}
		for _, e := range p.Entries {
			if out, ok := made(RenameProperty("f", b, e.Line, key)); ok && Fatal(diags) == nil {
				if q, _ := ParseProperties("f", out); len(q.Entries) != len(p.Entries) {
					t.Fatalf("%q", out)
				}
			}
			made(RemoveProperty("f", b, e.Line))
			made(LiftComment("f", b, e.Line, value))
		}
		docs, err := ParseTree("f", b)
		if err != nil || len(docs) > 5 {
			return
		}
		for i, d := range docs {
			n := 0
			d.Root.Walk(func(path []string, _ Field) {
				if n++; n > 5 {
					return
				}
				if out, ok := made(RenameField("f", b, i, path, key)); ok {
					if again, err := ParseTree("f", out); err != nil || len(again) != len(docs) {
						t.Fatalf("%q: %v", out, err)
					}
				}
				made(RemoveField("f", b, i, path))
				made(SetField("f", b, i, path, Scalar{String, value}))
			})
		}
	})
}
