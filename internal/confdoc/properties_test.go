package confdoc

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPropertiesAsJava compares with what java.util.Properties of Java 17 gave (testdata/PropertiesVectors.java).
func TestPropertiesAsJava(t *testing.T) {
	f, err := os.Open("testdata/properties-vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vectors := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var v struct {
			In      string
			Entries [][2]string
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		vectors++
		p, diags := ParseProperties("f", latin1(v.In))
		if refused := Fatal(diags) != nil; refused != (v.Entries == nil) {
			t.Errorf("%q: refused = %v, Java: %v", v.In, refused, v.Entries == nil)
			continue
		}
		if v.Entries == nil {
			continue
		}
		got := make([][2]string, 0, len(p.Entries))
		for _, e := range p.Entries {
			got = append(got, [2]string{e.Key, e.Value})
		}
		if d := cmp.Diff(v.Entries, got); d != "" {
			t.Errorf("%q (-Java +here):\n%s", v.In, d)
		}
	}
	if vectors < 3000 {
		t.Fatalf("only %d vectors", vectors)
	}
}

func latin1(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

func TestPropertiesPositions(t *testing.T) {
	const text = "# head\r\n" +
		"  clusters: a, b\r\n" +
		"\r\n" +
		"topics = x,\\\r\n" +
		"   y  \r\n" +
		"empty =\r\n" +
		"topics=\\\r\n" +
		"  z"
	p, diags := ParseProperties("mm2.properties", []byte(text))
	if diags != nil {
		t.Fatalf("diagnostics: %v", diags)
	}
	want := []Entry{
		{Key: "clusters", Value: "a, b", Line: 2, Column: 3, ValueLine: 2, ValueColumn: 13, EndLine: 2, Start: 8, End: 24, Raw: "  clusters: a, b"},
		{Key: "topics", Value: "x,y  ", Line: 4, Column: 1, ValueLine: 4, ValueColumn: 10, EndLine: 5, Start: 28, End: 48, Raw: "topics = x,\\\r\n   y  ", Duplicate: true},
		{Key: "empty", Line: 6, Column: 1, ValueLine: 6, ValueColumn: 8, EndLine: 6, Start: 50, End: 57, Raw: "empty ="},
		{Key: "topics", Value: "z", Line: 7, Column: 1, ValueLine: 8, ValueColumn: 3, EndLine: 8, Start: 59, End: 72, Raw: "topics=\\\r\n  z"},
	}
	if d := cmp.Diff(want, p.Entries); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
	if p.Lines != 8 {
		t.Errorf("lines = %d, want 8", p.Lines)
	}
	if got := p.Value("topics"); got != "z" {
		t.Errorf("topics in force = %q, want the last one, z", got)
	}
	if d := p.Duplicates(); len(d) != 1 || d[0].Line != 4 {
		t.Errorf("duplicates = %v, want the one at line 4", d)
	}
	if e := p.Effective(); len(e) != 3 || e[1].Key != "empty" || e[2].Value != "z" {
		t.Errorf("effective = %v", e)
	}
}

func TestPropertiesDiagnostics(t *testing.T) {
	for _, tc := range []struct {
		name, text   string
		fatal        bool
		line, column int
		contains     string
		keys         int
	}{
		{"malformed escape in a value", "a=1\nb = C:\\users\nc=2\n", true, 2, 7, "\\u", 2},
		{"malformed escape in a key", "\\u12=1", true, 1, 1, "\\u", 0},
		{"malformed escape on a continued line", "a=1,\\\n  \\uxyz1\n", true, 2, 3, "\\u", 0},
		{"byte order mark", "\xEF\xBB\xBFclusters=a", false, 1, 1, "byte order mark", 1},
		{"UTF-8 in a value", "a=1\ngroups=café\n", false, 2, 1, "ISO 8859-1", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, diags := ParseProperties("f", []byte(tc.text))
			if len(diags) == 0 {
				t.Fatal("no diagnostic")
			}
			d := diags[0]
			if d.Fatal != tc.fatal || d.Line != tc.line || d.Column != tc.column || !strings.Contains(d.Text, tc.contains) {
				t.Errorf("got %+v", d)
			}
			if len(p.Entries) != tc.keys {
				t.Errorf("%d entries kept, want %d", len(p.Entries), tc.keys)
			}
		})
	}
}

func TestSniff(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Kind
	}{
		{"", KindEmpty},
		{"\n  \n# x\n! y\n", KindEmpty},
		{"clusters = a, b\n", KindProperties},
		{"clusters: a, b\na.bootstrap.servers: h:9092\n", KindProperties},
		{"{{ prefix }}.enabled = true\n", KindProperties},
		{"{% if x %}\na=b\n{% endif %}\n", KindProperties},
		{"[main]\na=b\n", KindProperties},
		{"a = b\n---%<---\nc: d\n", KindProperties},
		{"# c\nkind: x\nclusters = a\n a->b.enabled = true\n", KindProperties},
		{"{\n  \"name\": \"x\"", KindJSON},
		{"{}", KindJSON},
		{"[{\"name\":\"x\"}]", KindJSON},
		{"---\nname: x\n", KindYAML},
		{"apiVersion: kafka.strimzi.io/v1\nkind: KafkaMirrorMaker2\nspec:\n  replicas: 1\n", KindYAML},
		{"mirrors:\n  - sourceCluster: a\n    groupsPattern: .*\n", KindYAML},
		{"mirrormaker:\n  config: |\n    a=b\n", KindYAML},
		{"services:\n  x:\n    command:\n    - |\n      a=b\n      c=d\n      e=f\n", KindYAML},
		{"configs:\n  x:\n    content: |-\n      a=b\n      c=d\n      e=f\n  y:\n    content: >2\n        a=b\n", KindYAML},
		{"a = |\n b=c\nd: e\n", KindProperties},
		{"{apiVersion: x, kind: y,\n  spec: {}}\n", KindYAML},
		{"{{ x }}\na = b\n", KindProperties},
		{"\x1f\x8b\x08", KindBinary},
		{"a=b\x00c", KindBinary},
	} {
		if got := Sniff([]byte(tc.text)); got != tc.want {
			t.Errorf("Sniff(%q) = %v, want %v", tc.text, got, tc.want)
		}
	}
}

func FuzzProperties(f *testing.F) {
	for _, s := range []string{"", "a=b\\\n c", "\\u0041=\\u00", "a\\=b: c\r\n#x\r!y", "\\\n\\", "\xEF\xBB\xBFa=\xc3\xa9"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, _ := ParseProperties("f", b)
		at := 0
		for _, e := range p.Entries {
			if e.Start < at || e.End < e.Start || e.End > len(b) || e.Line < 1 || e.EndLine < e.Line || e.EndLine > p.Lines || e.Column < 1 || e.ValueColumn < 1 {
				t.Fatalf("impossible position %+v in %q", e, b)
			}
			at = e.End
		}
		Sniff(b)
	})
}
