package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

var update = flag.Bool("update", false, "write the golden files anew")

var reports = map[string]func() *diagnose.Report{"broken": broken, "healthy": healthy, "unknown": unknown, "many": many, "hostile": hostile}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it, then run with -update.\n--- got\n%s", path, got)
	}
}

func text(t *testing.T, r *diagnose.Report, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTextGolden(t *testing.T) {
	unicode, ascii, narrow := term.Screen{Unicode: true}, term.Screen{}, term.Screen{Unicode: true, Width: 80, Limit: 80, TTY: true}
	for _, c := range []struct {
		report, look string
		o            Options
	}{
		{"broken", "unicode", Options{Screen: unicode, Exit: 1}},
		{"broken", "ascii", Options{Screen: ascii, Exit: 1}},
		{"broken", "narrow", Options{Screen: narrow, Exit: 1}},
		{"broken", "verbose", Options{Screen: unicode, Exit: 1, Verbose: true}},
		{"healthy", "unicode", Options{Screen: unicode, Exit: 0}},
		{"healthy", "ascii", Options{Screen: ascii, Exit: 0}},
		{"unknown", "unicode", Options{Screen: unicode, Exit: 3}},
		{"many", "unicode", Options{Screen: unicode, Exit: 1}},
		{"many", "verbose", Options{Screen: unicode, Exit: 1, Verbose: true}},
		{"hostile", "unicode", Options{Screen: unicode, Exit: -1}},
		{"hostile", "narrow", Options{Screen: narrow, Exit: 1}},
		{"hostile", "ascii", Options{Screen: ascii, Exit: 1}},
	} {
		golden(t, c.report+"."+c.look+".txt", text(t, reports[c.report](), c.o))
	}
}

// The screen of an on-call engineer: everything that matters without scrolling.
func TestFirstScreenFits(t *testing.T) {
	for name, limit := range map[string]int{"broken": 36, "healthy": 10} {
		got := text(t, reports[name](), Options{Screen: term.Screen{Unicode: true}})
		if n := bytes.Count(got, []byte("\n")); n > limit {
			t.Errorf("%s takes %d lines, at most %d wanted", name, n, limit)
		}
	}
	first := strings.SplitN(string(text(t, broken(), Options{Screen: term.Screen{Unicode: true}})), "\n", 25)[:24]
	for _, want := range []string{"MM2D-302", "because", "leads to", "fix", "confirm", "mm2doctor explain MM2D-302"} {
		if !strings.Contains(strings.Join(first, "\n"), want) {
			t.Errorf("the first 24 lines lack %q", want)
		}
	}
}

// Only commands and tables may be wider than the screen: they are there to be copied and compared.
func TestLinesFitTheWidth(t *testing.T) {
	for _, name := range []string{"broken", "healthy", "unknown", "many"} {
		for _, width := range []int{80, 100} {
			prose, _, _ := strings.Cut(string(text(t, reports[name](), Options{Screen: term.Screen{Unicode: true, Width: width}, Exit: 1})), "\nPartitions")
			for _, line := range strings.Split(prose, "\n") {
				if strings.HasPrefix(line, strings.Repeat(" ", labelWidth)) && strings.Contains(line, "kafka-consumer-groups.sh --boot") {
					continue
				}
				if n := term.Columns(line); n > width {
					t.Errorf("%s at %d: %d columns: %q", name, width, n, line)
				}
			}
		}
	}
}

func TestNothingLeavesTheScreen(t *testing.T) {
	for name, make := range reports {
		for _, verbose := range []bool{false, true} {
			for i, b := range text(t, make(), Options{Verbose: verbose}) {
				if b != '\n' && (b < 0x20 || b > 0x7e) {
					t.Fatalf("%s in ASCII: byte %#x at %d", name, b, i)
				}
			}
		}
	}
	if got := text(t, hostile(), Options{Screen: term.Screen{Unicode: true}}); bytes.ContainsAny(got, "\x1b\x07\xff") || bytes.Contains(got, []byte("\u202e")) {
		t.Error("a control character reached the screen")
	}
}

func TestColourOnlyAdds(t *testing.T) {
	env := func(k string) string { return map[string]string{"CLICOLOR_FORCE": "1", "LANG": "C.UTF-8"}[k] }
	var sink bytes.Buffer
	coloured := string(text(t, broken(), Options{Screen: term.NewScreen(&sink, env), Exit: 1}))
	if !strings.Contains(coloured, "\x1b[") {
		t.Fatal("no colour although forced")
	}
	plain := string(text(t, broken(), Options{Screen: term.Screen{Unicode: true}, Exit: 1}))
	var b strings.Builder
	for rest := coloured; rest != ""; {
		before, after, found := strings.Cut(rest, "\x1b[")
		b.WriteString(before)
		if !found {
			break
		}
		_, rest, _ = strings.Cut(after, "m")
	}
	if b.String() != plain {
		t.Errorf("without its colours the text differs:\n%s", b.String())
	}
}

func TestSummary(t *testing.T) {
	for name, want := range map[string]string{
		"broken":  "BROKEN at link 3 (group offsets): MM2D-302 group-active-on-target; 1 error, 0 warnings, 2 not checked - exit 1\n",
		"healthy": "HEALTHY: 0 errors, 0 warnings, 0 not checked; 4 groups, 36 partitions - exit 1\n",
		"unknown": "UNKNOWN at link 3 (group offsets): 0 errors, 0 warnings, 1 remark, 3 not checked - exit 1\n",
	} {
		var b strings.Builder
		if err := Summary(&b, reports[name](), Options{Exit: 1}); err != nil || b.String() != want {
			t.Errorf("%s: %q %v", name, b.String(), err)
		}
	}
}

func TestTreeGolden(t *testing.T) {
	for name, s := range map[string]term.Screen{"unicode": {Unicode: true}, "ascii": {}} {
		var b bytes.Buffer
		if err := Tree(&b, broken(), Options{Screen: s}); err != nil {
			t.Fatal(err)
		}
		golden(t, "broken."+name+".tree", b.Bytes())
	}
}

func TestJSONGolden(t *testing.T) {
	for _, name := range []string{"broken", "unknown", "healthy"} {
		var b, again bytes.Buffer
		r := reports[name]()
		if err := JSON(&b, r); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", b.Bytes())
		if err := JSON(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: the second writing differs (%v)", name, err)
		}
	}
}

func TestJSONContract(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, unknown()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Flows []struct {
			Target map[string]any
			MM2    struct{ Generations []string } `json:"mm2"`
		}
		Partitions []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("$unknown")) {
		t.Error("an unknown fact was written as a value")
	}
	row := got.Partitions[0]
	if v, has := row["checkpoint"]; !has || v != nil {
		t.Errorf("a checkpoint known to be absent: %v, present %v", v, has)
	}
	if _, has := row["exact"]; has {
		t.Error("exact is not known and has a key")
	}
	committed := row["committed"].(map[string]any)
	if _, has := committed["target"]; has || committed["source"] != 500.0 {
		t.Errorf("committed: %v", committed)
	}
	why := row["unknown"].(map[string]any)
	if why["exact"] != "read budget" || why["committed.target"] != "b: OffsetFetch: GROUP_AUTHORIZATION_FAILED: the doctor's user may not describe group billing" || why["reRead"] == nil || len(why) != 3 {
		t.Errorf("unknown: %v", why)
	}
	if _, has := got.Flows[0].Target["clusterId"]; has || got.Flows[0].MM2.Generations == nil {
		t.Errorf("flow: %+v", got.Flows[0])
	}

	b.Reset()
	if err := JSON(&b, &diagnose.Report{SchemaVersion: 1}); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"flows", "links", "findings", "partitions", "notChecked"} {
		if !bytes.Contains(b.Bytes(), []byte(`"`+list+`": []`)) {
			t.Errorf("%s of an empty report is not []", list)
		}
	}
	if !bytes.HasSuffix(b.Bytes(), []byte("}\n")) {
		t.Error("no final line feed")
	}
}

func TestJSONLeavesTheReportAlone(t *testing.T) {
	r := unknown()
	if err := JSON(&bytes.Buffer{}, r); err != nil {
		t.Fatal(err)
	}
	if r.Partitions[0].Committed.Target.Why() == nil || len(r.Partitions[0].Unknown) != 1 || r.Flows[0].MM2.Generations != nil {
		t.Error("writing changed the report")
	}
}
