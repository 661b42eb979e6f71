package confdoc

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// shape writes a tree with its places: key@line:column, kind value@line:column[start-end].
func shape(n *Node) string {
	if n == nil {
		return "missing"
	}
	at := fmt.Sprintf("@%d:%d", n.Line, n.Column)
	switch n.Kind {
	case Map:
		var parts []string
		for _, f := range n.Fields {
			dup := ""
			if f.Duplicate {
				dup = "!"
			}
			parts = append(parts, fmt.Sprintf("%s%s@%d:%d=%s", f.Key, dup, f.Line, f.Column, shape(f.Value)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case List:
		var parts []string
		for _, i := range n.Items {
			parts = append(parts, shape(i))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return n.Kind.String() + " " + n.Value + at
}

func TestTreePositions(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"JSON", "{\n  \"a\": 1, \"b\" : [true, null],\n  \"a\": \"x\\/\\u00e9\"\n}", "{a!@2:3=number 1@2:8 b@2:11=[boolean true@2:18 null @2:24] a@3:3=string x/é@3:8}"},
		{"JSON, one after the other", `{"a":1} {"b":2}`, "{a@1:2=number 1@1:6}\n{b@1:10=number 2@1:14}"},
		{"JSON with a byte order mark", "\xEF\xBB\xBF{\"a\":1}", "{a@1:2=number 1@1:6}"},
		{"YAML", "é: {é: 1, b: 'x'}\nc:\n- yes\n- true\n-\n", "{é@1:1={é@1:6=number 1@1:10 b@1:13=string x@1:16} c@2:1=[string yes@3:3 boolean true@4:3 null @5:2]}"},
		{"YAML, several documents", "---\na: 1\n---\n---\nb: 2\n", "{a@2:1=number 1@2:4}\n{b@5:1=number 2@5:4}"},
		{"aliases and merges", "a: &A {p: 1, q: 2}\nb: *A\nc:\n  <<: *A\n  q: 3\n", "{a@1:1={p@1:8=number 1@1:11 q@1:14=number 2@1:17} b@2:1={p@1:8=number 1@1:11 q@1:14=number 2@1:17} c@3:1={q@5:3=number 3@5:6 p@1:8=number 1@1:11}}"},
		{"duplicate keys", "a: 1\na: 2\n", "{a!@1:1=number 1@1:4 a@2:1=number 2@2:4}"},
		{"block scalar", "a: |\n  x\n  y\nb: 1\n", "{a@1:1=string x\ny\n@1:4 b@4:1=number 1@4:4}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parse := ParseYAML
			if strings.HasPrefix(tc.name, "JSON") {
				parse = ParseJSON
			}
			docs, err := parse("f", []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range docs {
				got = append(got, shape(d.Root))
			}
			if s := strings.Join(got, "\n"); s != tc.want {
				t.Errorf("got  %s\nwant %s", s, tc.want)
			}
		})
	}
}

// TestScalarsCanBeReplaced: what stands between Start and End is the value as written, and nothing else.
func TestScalarsCanBeReplaced(t *testing.T) {
	const text = "a: plain # why\nb: \"quo\\\"ted\" \nc: 'it''s'\nd: >-\n  folded\ne: 60\n"
	docs, err := ParseYAML("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"a": "plain", "b": `"quo\"ted"`, "c": "'it''s'", "e": "60"} {
		n := docs[0].Root.Get(key)
		if n.End == 0 || text[n.Start:n.End] != want {
			t.Errorf("%s: %d-%d, want %s", key, n.Start, n.End, want)
		}
	}
	if n := docs[0].Root.Get("d"); n.End != 0 || n.Value != "folded" {
		t.Errorf("d: %+v", n)
	}
	if c := docs[0].Root.Get("a").Comment; c != "# why" {
		t.Errorf("comment %q", c)
	}
}

func TestTreeErrors(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	for _, tc := range []struct {
		name, text   string
		json         bool
		line, column int
		contains     string
	}{
		{"tab", "a:\n\tb: 2\n", false, 2, 2, "tab"},
		{"value behind a value", "a: 1\n b: 2\n", false, 2, 2, "mapping values"},
		{"open flow list", "a: [1, 2\nb: 2\n", false, 2, 1, "',' or ']'"},
		{"broken quotes", "spec:\n  clusters:\n  - alias: x\n    servers: \"h:1\"\"\n  - alias: y\n    servers: \"h:2\"\"\n", false, 3, 3, "did not find expected"},
		{"unknown anchor", "a: 1\nb: *nope\n", false, 2, 4, "nope"},
		{"template value", "a: 1\nb: {{ .Values.x }}\n", false, 2, 4, "template"},
		{"template line", "a: 1\n{{- if .x }}\nb: 1\n{{- end }}\n", false, 2, 1, "template"},
		{"alias in itself", "a: &a\n  b: *a\n", false, 0, 0, "itself"},
		{"unfolding", bomb, false, 0, 0, "unfolds"},
		{"comma", "{\n \"a\": 1,\n}", true, 3, 1, "invalid character"},
		{"cut off", "{\n \"a\": [1", true, 2, 9, "ends before"},
		{"two values without a comma", "[1 2]", true, 1, 4, ""},
		{"too deep", deep, true, 1, 501, "deep"},
		{"no value", "{\"a\"}", true, 1, 5, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parse := ParseYAML
			if tc.json {
				parse = ParseJSON
			}
			_, err := parse("f", []byte(tc.text))
			var e *Syntax
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.What == "" || e.Why == "" || e.Next == "" || !strings.Contains(e.Error(), tc.contains) {
				t.Errorf("%+v", e)
			}
			if tc.line > 0 && (e.Line != tc.line || e.Column != tc.column) {
				t.Errorf("at %d:%d, want %d:%d (%s)", e.Line, e.Column, tc.line, tc.column, e.Why)
			}
		})
	}
}

func TestObjects(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int
	}{
		{"kind: A\nmetadata: {}\n---\nkind: B\nmetadata: {}\n", 2},
		{"apiVersion: v1\nkind: List\nitems:\n- kind: A\n- kind: B\n- kind: C\n", 3},
		{`{"apiVersion":"v1","kind":"List","items":[{"kind":"A"}]}`, 1},
		{`[{"name":"x"},{"name":"y"}]`, 2},
		{`{"name":"x"}{"name":"y"}`, 2},
	} {
		docs, err := ParseTree("f", []byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(Objects(docs)); got != tc.want {
			t.Errorf("%s: %d objects, want %d", tc.text, got, tc.want)
		}
	}
}

func TestWalk(t *testing.T) {
	docs, err := ParseYAML("f", []byte("a:\n  b: 1\nc:\n- d: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	docs[0].Root.Walk(func(path []string, f Field) { got = append(got, fmt.Sprintf("%s@%d", strings.Join(path, "."), f.Line)) })
	if s := strings.Join(got, " "); s != "a@1 a.b@2 c@3 c.[0].d@4" {
		t.Error(s)
	}
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{"", "a: 1", "a: &x [1, *x]", "- |\n x", "a: 'b", "{{ x }}", "\xEF\xBB\xBFa: \t1", "é: {é: 'ü'}", "? a\n: b", "a:\n  <<: [*x]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkTree(t, b, ParseYAML) })
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":[1,{"b":null}],"a":"\ud83d\ude00"}`, "[1 2]", "{\"a\":", "1e999", "[[[["} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkTree(t, b, ParseJSON) })
}

// checkTree: no panic, every place lies within the text.
func checkTree(t *testing.T, b []byte, parse func(string, []byte) ([]Doc, error)) {
	docs, err := parse("f", b)
	var e *Syntax
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("an error without a place: %v", err)
	}
	for _, d := range docs {
		d.Root.Walk(func(_ []string, f Field) {
			v := f.Value
			if v == nil || f.Line < 1 || f.Column < 1 || v.Line < 1 || v.Column < 1 || v.Start > len(b) || v.End != 0 && (v.End < v.Start || v.End > len(b)) {
				t.Fatalf("impossible place %+v %+v in %q", f, v, b)
			}
		})
	}
}
