package confdoc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSetField(t *testing.T) {
	str := func(s string) Scalar { return Scalar{String, s} }
	for _, tc := range []struct {
		name, text, path string
		value            Scalar
		want             string
	}{
		{"JSON in place", `{"a": "1", "b": 2}`, "a", str("x\"y"), `{"a": "x\"y", "b": 2}`},
		{"JSON number", `{"a": "1"}`, "a", Scalar{Number, "2"}, `{"a": 2}`},
		{"JSON new, one line", `{"config":{"a":"1"}}`, "config/b", str("2"), `{"config":{"a":"1", "b": "2"}}`},
		{"JSON new, lines", "{\r\n  \"a\": \"1\"\r\n}\r\n", "b", str("2"), "{\r\n  \"a\": \"1\",\r\n  \"b\": \"2\"\r\n}\r\n"},
		{"JSON new beside a map", "{\n\t\"m\": {}\n}", "b", str("2"), "{\n\t\"b\": \"2\",\n\t\"m\": {}\n}"},
		{"JSON new in nothing", `{"config": {} }`, "config/a", str("1"), `{"config": {"a": "1"} }`},
		{"JSON behind a mark", "\xEF\xBB\xBF{\"a\":1}", "a", Scalar{Bool, "true"}, "\xEF\xBB\xBF{\"a\":true}"},
		{"JSON list", `[{"name":"x"},{"name":"y"}]`, "[1]/name", str("z"), `[{"name":"x"},{"name":"z"}]`},
		{"JSON null", `{"a": null}`, "a", str("z"), `{"a": "z"}`},
		{"YAML in place", "spec:\n  a: 1 # why\n  b: 'x'\n", "spec/a", Scalar{Number, "2"}, "spec:\n  a: 2 # why\n  b: 'x'\n"},
		{"YAML keeps quotes", "spec:\n  b: 'x'\n", "spec/b", str("it's"), "spec:\n  b: 'it''s'\n"},
		{"YAML string that looks like a number", "spec:\n  b: x\n", "spec/b", str("10"), "spec:\n  b: \"10\"\n"},
		{"YAML new", "spec:\n  # head\n  a: 1 # why\n\n# tail\n", "spec/b.c", Scalar{Bool, "true"}, "spec:\n  # head\n  a: 1 # why\n  b.c: true\n\n# tail\n"},
		{"YAML new in a list", "spec:\n- a: 1\n- a: 2\n", "spec/[0]/b", str("x"), "spec:\n- a: 1\n  b: x\n- a: 2\n"},
		{"YAML new before a map", "spec:\n- m:\n    x: |\n      1\n", "spec/[0]/b", str("x"), "spec:\n- b: x\n  m:\n    x: |\n      1\n"},
		{"YAML flow", "spec: {a: 1}\n", "spec/b", str("x"), "spec: {a: 1, b: x}\n"},
		{"YAML flow, empty", "spec:\n  config: {}\n", "spec/config/b", str("x"), "spec:\n  config: {b: x}\n"},
		{"YAML nothing behind the key", "spec:\n  a:\n  b: 1\n", "spec/a", str("x"), "spec:\n  a: x\n  b: 1\n"},
		{"YAML beside a shared map", "x: &x\n  p: 1\nspec:\n  <<: *x\n  q: 2\n", "spec/r", Scalar{Number, "3"}, "x: &x\n  p: 1\nspec:\n  <<: *x\n  q: 2\n  r: 3\n"},
		{"YAML, no line end", "spec:\n  a: 1", "spec/b", str("x"), "spec:\n  a: 1\n  b: x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := strings.Split(tc.path, "/")
			edits, err := SetField("f", []byte(tc.text), 0, path, tc.value)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Apply([]byte(tc.text), edits)
			if err != nil || string(out) != tc.want {
				t.Errorf("%q, %v, want %q", out, err, tc.want)
			}
			if again, err := SetField("f", out, 0, path, tc.value); err != nil || len(again) > 0 {
				t.Errorf("a second time: %v, %v", again, err)
			}
		})
	}
}

// TestNoEditOfSharedValues: a value that stands elsewhere too, a block, and a place that is not there are left alone.
func TestNoEditOfSharedValues(t *testing.T) {
	for _, tc := range []struct{ text, path string }{
		{"x: &x {p: 1}\nspec: *x\n", "spec/p"},
		{"spec:\n  p: |\n    1\n", "spec/p"},
		{"spec:\n  p: 1\n", "spec/q/r"},
		{"spec:\n  p: [1]\n", "spec/p"},
	} {
		if edits, err := SetField("f", []byte(tc.text), 0, strings.Split(tc.path, "/"), Scalar{String, "z"}); err == nil {
			t.Errorf("%q: %v", tc.text, edits)
		}
	}
}

func TestRemoveAndRenameField(t *testing.T) {
	for _, tc := range []struct{ text, path, remove, rename string }{
		{`{"a": 1, "b": 2, "c": 3}`, "a", `{"b": 2, "c": 3}`, `{"new": 1, "b": 2, "c": 3}`},
		{`{"a": 1, "b": 2, "c": 3}`, "c", `{"a": 1, "b": 2}`, `{"a": 1, "b": 2, "new": 3}`},
		{`{"a": 1}`, "a", `{}`, `{"new": 1}`},
		{"{\n  \"a\": 1,\n  \"b\": {}\n}", "a", "{\n  \"b\": {}\n}", "{\n  \"new\": 1,\n  \"b\": {}\n}"},
		{"spec:\n  a: 1 # why\n  b: 2\n", "spec/a", "spec:\n  b: 2\n", "spec:\n  new: 1 # why\n  b: 2\n"},
		{"spec:\n  a: 1\n  'b': 2", "spec/b", "spec:\n  a: 1\n", "spec:\n  a: 1\n  'new': 2"},
		{"spec:\n- a: 1\n  b: 2\n", "spec/[0]/a", "spec:\n- b: 2\n", "spec:\n- new: 1\n  b: 2\n"},
		{"spec: {a: 1, b: 2}\n", "spec/b", "spec: {a: 1}\n", "spec: {a: 1, new: 2}\n"},
	} {
		path := strings.Split(tc.path, "/")
		for want, f := range map[string]func() ([]Edit, error){
			tc.remove: func() ([]Edit, error) { return RemoveField("f", []byte(tc.text), 0, path) },
			tc.rename: func() ([]Edit, error) { return RenameField("f", []byte(tc.text), 0, path, "new") },
		} {
			edits, err := f()
			if err != nil {
				t.Errorf("%q: %v", tc.text, err)
				continue
			}
			if out, err := Apply([]byte(tc.text), edits); err != nil || string(out) != want {
				t.Errorf("%q, %v, want %q", out, err, want)
			}
		}
	}
}

// drawTree makes a document in one of several styles, with the paths of its maps.
type drawn struct {
	text string
	maps [][]string
}

func drawTree(t *rapid.T, asJSON bool) drawn {
	d := drawn{}
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
	var value func(depth int, path []string, indent string) (string, bool)
	fields := func(depth int, path []string, indent string, flow bool) []string {
		d.maps = append(d.maps, path)
		var out []string
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "sync.group.offsets.enabled", "a->b.enabled", "é"}), 1, 3, rapid.ID[string]).Draw(t, "keys") {
			v, nested := value(depth+1, append(path[:len(path):len(path)], k), indent+"  ")
			key := k
			if asJSON {
				key = quote(k)
			}
			if nested && !flow {
				out = append(out, key+":"+v)
			} else {
				out = append(out, key+": "+v)
			}
		}
		return out
	}
	value = func(depth int, path []string, indent string) (string, bool) {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if depth > 2 {
			kind = kind % 6
		}
		switch {
		case asJSON && kind < 6:
			return rapid.SampledFrom([]string{`"x"`, `"a\\b"`, "1", "true", "null", `"é,}"`}).Draw(t, "scalar"), false
		case kind < 6:
			return rapid.SampledFrom([]string{"x", "'it''s'", `"a\\b"`, "1", "true # why", "", "a b#c", "|" + eol + indent + "text", "[1, 2]"}).Draw(t, "scalar"), false
		case asJSON || kind < 7 && depth > 0:
			sep := rapid.SampledFrom([]string{"", " "}).Draw(t, "blank")
			if asJSON && kind == 9 {
				sep = eol + indent
			}
			return "{" + sep + strings.Join(fieldsFlow(t, asJSON, fields(depth, path, indent, true)), ","+sepOr(sep)) + "}", false
		}
		return eol + indent + strings.Join(fields(depth, path, indent, false), eol+indent), true
	}
	if asJSON {
		d.text = "{" + strings.Join(fields(0, nil, "", true), ", ") + "}" + eol
		return d
	}
	d.text = "spec:" + eol + "  " + strings.Join(fields(0, []string{"spec"}, "  ", false), eol+"  ") + rapid.SampledFrom([]string{"", eol, eol + "# tail" + eol}).Draw(t, "tail")
	return d
}

func sepOr(s string) string {
	if s == "" {
		return " "
	}
	return s
}

// fieldsFlow leaves out what cannot stand in a YAML flow map.
func fieldsFlow(t *rapid.T, asJSON bool, in []string) []string {
	if asJSON {
		return in
	}
	out := in[:0]
	for _, f := range in {
		if strings.ContainsAny(f, "|#\n") {
			f, _, _ = strings.Cut(f, ":")
			f += ": 1"
		}
		out = append(out, f)
	}
	return out
}

func TestSetFieldTwiceIsOnce(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		t.Run(fmt.Sprintf("json=%v", asJSON), func(t *testing.T) {
			refused, done := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				d := drawTree(t, asJSON)
				before, err := ParseTree("f", []byte(d.text))
				if err != nil || Sniff([]byte(d.text)) == KindProperties {
					t.Skip("no document")
				}
				path := append(rapid.SampledFrom(d.maps).Draw(t, "map"), rapid.SampledFrom([]string{"a", "b", "new", "a->b.enabled"}).Draw(t, "key"))
				v := rapid.OneOf(
					rapid.Custom(func(t *rapid.T) Scalar { return Scalar{String, strings.ToValidUTF8(rapid.String().Draw(t, "s"), "?")} }),
					rapid.SampledFrom([]Scalar{{Bool, "false"}, {Number, "42"}, {String, "true"}, {String, ""}, {String, "a: b # c"}, {Null, ""}})).Draw(t, "value")
				edits, err := SetField("f", []byte(d.text), 0, path, v)
				if err != nil {
					refused++
					return
				}
				done++
				out, err := Apply([]byte(d.text), edits)
				if err != nil {
					t.Fatal(err)
				}
				after, err := ParseTree("f", out)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				n := at(after[0].Root, path)
				if n == nil || n.Kind != v.Kind || v.Kind != Null && n.Value != v.Text {
					t.Fatalf("%+v instead of %+v\n%s", n, v, out)
				}
				if asJSON && !json.Valid(out) {
					t.Fatalf("not JSON: %s", out)
				}
				if strings.Count(string(out), "# tail") != strings.Count(d.text, "# tail")+strings.Count(v.Text, "# tail") {
					t.Fatalf("the comment is gone: %s", out)
				}
				before[0].Root.Walk(func(p []string, f Field) {
					if f.Value.Scalar() && strings.Join(p, "/") != strings.Join(path, "/") {
						if g := at(after[0].Root, p); g == nil || g.Value != f.Value.Value || g.Comment != f.Value.Comment {
							t.Fatalf("%v changed: %+v\n%s", p, g, out)
						}
					}
				})
				if again, err := SetField("f", out, 0, path, v); err != nil || len(again) != 0 {
					t.Fatalf("a second time: %v %v", again, err)
				}
			})
			if done < refused {
				t.Errorf("%d made, %d refused", done, refused)
			}
		})
	}
}
