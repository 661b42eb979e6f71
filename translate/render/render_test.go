package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mm2doctor/mm2doctor/fixtures/plans"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

var update = flag.Bool("update", false, "write the goldens anew")

func situation(t *testing.T, slug string) *plan.Plan {
	t.Helper()
	s, err := plans.Load(slug, "bad")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func base(t *testing.T) *plan.Plan {
	t.Helper()
	p, err := (&plans.Situation{}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// many is a plan of 70 groups, each with a number of its own to read again.
func many(t *testing.T) *plan.Plan {
	p := base(t)
	g := p.Groups[1]
	p.Groups = nil
	for i := range 70 {
		x := g
		x.Group, x.TargetGroup = fmt.Sprintf("group-%02d", i), fmt.Sprintf("group-%02d", i)
		x.Rows = []plan.Row{g.Rows[0]}
		x.Rows[0].ReReadUpTo = int64(i)
		p.Groups = append(p.Groups, x)
	}
	p.Summary = plan.Summary{Set: 70, Groups: 70, ReReadUpTo: 2415}
	return p
}

// hostile is a plan with names that try to draw on the screen.
func hostile(t *testing.T) *plan.Plan {
	p := situation(t, "refused-active-group")
	p.Groups[0].Group, p.Groups[0].TargetGroup = "bil\x1b[31mling\nnext: rm -rf", "bil\x1b[31mling\nnext: rm -rf"
	p.Groups[0].Rows[0].TargetTopic = "a.\u202eorders"
	p.Groups[1].Because = "because\x07 \u65e5\u672c"
	p.Groups[1].Remarks = []string{"a\tb\x00"}
	return p
}

func TestText(t *testing.T) {
	ascii, unicode := term.Screen{Width: 100}, term.Screen{Width: 100, Unicode: true}
	for _, c := range []struct {
		name string
		p    *plan.Plan
		o    Options
	}{
		{"base.ascii", base(t), Options{Screen: ascii, Apply: "mm2doctor translate mm2.properties --apply"}},
		{"base.verbose", base(t), Options{Screen: term.Screen{Width: 200, Unicode: true}, Verbose: true}},
		{"refused.unicode", situation(t, "refused-active-group"), Options{Screen: unicode}},
		{"unmapped.narrow", situation(t, "unmapped"), Options{Screen: term.Screen{Width: 60, Unicode: true}}},
		{"holds.unicode", situation(t, "will-not-hold-while-mm2-runs"), Options{Screen: unicode}},
		{"many.ascii", many(t), Options{Screen: ascii}},
		{"hostile.ascii", hostile(t), Options{Screen: ascii}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Text(&b, c.p, c.o); err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(b.String(), "\n")
			if !strings.HasPrefix(first, "scope: ") || !strings.Contains(first, "source groups, rule") {
				t.Errorf("first line %q", first)
			}
			if !strings.Contains(b.String(), "\n"+Sum(c.p)+"\n") {
				t.Error("the sum is not there")
			}
			for _, r := range b.String() {
				if r == 0x1b || r == 0x07 || r == 0x202e || !c.o.Screen.Unicode && r > 126 || !utf8.ValidRune(r) {
					t.Errorf("%q on the screen", r)
				}
			}
			golden(t, c.name+".txt", b.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSum(t *testing.T) {
	for _, c := range []struct {
		s    plan.Summary
		want string
	}{
		{plan.Summary{Set: 118, Right: 4, Refused: 3}, "118 to set, 4 already right, 3 refused, re-read 0, skip 0"},
		{plan.Summary{Set: 1, ReRead: 2, ReReadUpTo: 9, Skipped: 3, Left: 1, Gone: 4, NotMirrored: 5}, "1 to set, 0 already right, 0 refused, re-read 2 to 9, skip 3, 1 left as it is, 4 gone, 5 not yet mirrored"},
	} {
		if got := Sum(&plan.Plan{Summary: c.s}); got != c.want {
			t.Errorf("%s", got)
		}
	}
}

func TestExchange(t *testing.T) {
	p := situation(t, "unmapped")
	p.Groups[0].TargetGroup = `bill,"ing"`
	var b bytes.Buffer
	if err := CSV(&b, p); err != nil {
		t.Fatal(err)
	}
	if want := "\"bill,\"\"ing\"\"\",a.orders,1,500\npayments,a.orders,0,898400\n"; b.String() != want { // the refused one is not there
		t.Errorf("%s", b.String())
	}
	ws, err := plan.ReadWishes(bytes.NewReader(b.Bytes()), "")
	if err != nil || len(ws) != 2 || ws[0].Group != `bill,"ing"` || ws[1].Offset != 898400 {
		t.Errorf("what is written cannot be read: %+v %v", ws, err)
	}
	b.Reset()
	if err := Rpk(&b, p, "payments"); err != nil || b.String() != "a.orders 0 898400\n" {
		t.Errorf("%q %v", b.String(), err)
	}
	if err := Rpk(&b, p, "nobody"); err == nil {
		t.Error("a group that is not there")
	}
	p.Groups[1].TargetGroup = "two\nlines"
	b.Reset()
	if err := CSV(&b, p); err == nil || b.Len() > 0 {
		t.Errorf("a line feed in a name: %q %v", b.String(), err)
	}
}

func TestJSON(t *testing.T) {
	p := base(t)
	var b bytes.Buffer
	if err := JSON(&b, p); err != nil {
		t.Fatal(err)
	}
	golden(t, "base.json", b.Bytes())
	got, err := plan.Read(&b)
	if err != nil || got.Digest != p.Digest {
		t.Errorf("the object of -o json is no plan: %v", err)
	}
	b.Reset()
	if err := JSON(&b, &plan.Plan{}); err != nil {
		t.Fatal(err)
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &top); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"groups", "findings"} {
		if string(top[list]) != "[]" {
			t.Errorf("%s: %s", list, top[list])
		}
	}
}

// TestSigns: a number, none for what is known not to be there, ? for what is not known, brackets for what is refused.
func TestSigns(t *testing.T) {
	n := int64(7)
	p := &plan.Plan{To: plan.Cluster{Alias: "b"}, Scope: plan.Scope{Groups: 0, Of: 1, Rule: "x"}, Groups: []plan.Group{{Group: "g", TargetGroup: "g", Action: plan.Set, Rows: []plan.Row{
		{TargetTopic: "known", Action: plan.Set, To: &n, MM2: &n, Before: &plan.Committed{Offset: 3}},
		{TargetTopic: "absent", Action: plan.Set, To: &n, MM2Why: "no translation"},
		{TargetTopic: "open", Action: plan.Set, To: &n, MM2Why: "which release", Unknown: map[string]string{"mm2Expected": "which release", "before": "denied"}},
		{TargetTopic: "stopped", Action: plan.Refused, Refusal: 704, Would: &n},
		{TargetTopic: "unfound", Action: plan.Refused, Refusal: 709},
	}}}}
	var b bytes.Buffer
	if err := Text(&b, p, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`scope: 0 of 1 source group, rule: x`, `in brackets: would be set, were it not refused\):`,
		`known +0 +none +7 +3 +- +0 +0 +set +7`, `absent +0 +none +7 +none +- +0 +0 +set +none`, `open +0 +none +7 +\? +- +0 +0 +set +\?`,
		`stopped +0 +none +\(7\) +none +- +0 +0 +refused MM2D-704`, `unfound +0 +none +- +none +- +- +- +refused MM2D-709`,
	} {
		if text := strings.Join(strings.Fields(b.String()), " "); !regexp.MustCompile(strings.ReplaceAll(want, " +", " ")).MatchString(text) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}
