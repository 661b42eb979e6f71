package plan_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

func written(t testing.TB, p *plan.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlanFile(t *testing.T) {
	p := build(t, world(group(1, "billing", func(g *snapshot.Group) { g.State = snapshot.Is(kafka.StateStable) }), checkpoints(func(c *snapshot.Checkpoints) { c.Newest[2].Down = 450 })), plan.Selection{}, nil)
	b := written(t, p)
	got, err := plan.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, written(t, got)) || got.Groups[0].Refusal != 701 || len(got.Groups[1].Holds.First) == 0 || !reflect.DeepEqual(got.Groups[1].Rows, p.Groups[1].Rows) {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"a number changed", `"to": 898400`, `"to": 898401`, "digest"},
		{"a flag changed", `"options": {}`, `"options": {"allowSkip":true}`, "digest"},
		{"no digest", `"digest": "` + p.Digest + `"`, `"digest": ""`, "digest"},
		{"another schema", `"schemaVersion": 1`, `"schemaVersion": 2`, "schema version 2"},
		{"no schema", `"schemaVersion": 1`, `"schemas": 1`, "no schemaVersion"},
		{"a field of tomorrow", `"flow": "a->b"`, `"flow": "a->b", "newer": 1`, "newer"},
		{"cut", `"groups"`, "", "no plan"},
	} {
		x := strings.Replace(string(b), c.from, c.to, 1)
		if c.name == "cut" {
			x = x[:len(x)/2]
		}
		if x == string(b) {
			t.Fatalf("%s: nothing changed", c.name)
		}
		if _, err := plan.Read(strings.NewReader(x)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	p.Groups[0].Rows[0].Partition++
	if err := p.Write(&bytes.Buffer{}); err == nil {
		t.Error("a plan that was changed after sealing is written")
	}
	if again := build(t, world(), plan.Selection{}, nil); again.Digest != build(t, world(), plan.Selection{}, nil).Digest {
		t.Error("the same facts give another digest")
	}
}

func TestStateFile(t *testing.T) {
	s := &plan.State{Tool: "t", Flow: "a->b", SourceID: "x", TargetID: "y", Written: 5, Positions: []plan.StatePartition{{Group: "z", Topic: "t", TargetTopic: "a.t", Partition: 2, Offset: 3, Target: -1, Time: 4}, {Group: "b", Topic: "t", TargetTopic: "a.t", Offset: 3, Target: 2, Verdict: "exact", Time: 4, Metadata: "m", TopicID: "i", TargetTopicID: "j"}}}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := plan.ReadState(bytes.NewReader(b.Bytes()))
	if err != nil || got.SchemaVersion != 1 || got.Positions[0].Group != "b" || got.Positions[1] != s.Positions[0] || got.Positions[0] != s.Positions[1] {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{"", "[]", "{}", `{"schemaVersion": 2}`, `{"schemaVersion": 1, "offsets": []}`, `{"schemaVersion": 1, "positions": [{"offset": "x"}]}`} {
		if _, err := plan.ReadState(strings.NewReader(bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestReadWishes(t *testing.T) {
	got, err := plan.ReadWishes(strings.NewReader("\ufeffg,t,0,5\r\n\n\"a,b\",t.x, 1 , 7\n"), "")
	want := []plan.Wish{{Group: "g", Topic: "t", Offset: 5, Line: 1}, {Group: "a,b", Topic: "t.x", Partition: 1, Offset: 7, Line: 3}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	got, err = plan.ReadWishes(strings.NewReader("t,0,5\nt,1,6"), "only")
	if err != nil || len(got) != 2 || got[1] != (plan.Wish{Group: "only", Topic: "t", Partition: 1, Offset: 6, Line: 2}) {
		t.Errorf("%+v %v", got, err)
	}
	for _, c := range []struct{ text, want string }{
		{"", "no row"}, {"\n\n", "no row"}, {"t,0,5", "line 1: topic,partition,offset without a group"}, {"g,t,0,5\nt,0,5", "line 2: 3 fields"}, {"a,b", "line 1: 2 fields"},
		{"g,t,0,5\ng,t,x,5", `line 2: "x" is no partition`}, {"g,t,0,-1", `line 1: "-1" is no offset`}, {"g,t,-1,1", "no partition"}, {"g,,0,1", "topic is empty"}, {",t,0,1", "group is empty"},
		{"group,topic,partition,offset", "no partition"}, {"\"g,t,0,1", "line 1: column"}, {strings.Repeat("x", 1<<17), "line 1 is longer"}, {"g,t,99999999999,1", "no partition"},
	} {
		if _, err := plan.ReadWishes(strings.NewReader(c.text), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestWished(t *testing.T) {
	wish := func(rows string, o plan.Options) *plan.Plan {
		ws, err := plan.ReadWishes(strings.NewReader(rows), "")
		if err != nil {
			t.Fatal(err)
		}
		return build(t, world(), plan.Selection{Wished: ws, Options: o}, nil)
	}
	p := wish("payments,a.orders,1,350\n", plan.Options{})
	if r := rowOf(t, p, "payments", 1); *r.To != 350 || r.ReRead != 50 || r.Skipped != 0 || r.Basis != "file" || r.FromBasis != "file" || r.From.Offset != 400 || ids(p) != "payments" || len(p.Groups[0].Rows) != 1 {
		t.Errorf("%+v", r)
	}
	p = wish("payments,a.orders,1,420\n", plan.Options{AllowSkip: true})
	if r := rowOf(t, p, "payments", 1); *r.To != 420 || r.Skipped != 20 || p.Summary.Skipped != 20 {
		t.Errorf("%+v", r)
	}
	p = wish("payments,a.orders,1,9999\n", plan.Options{AllowSkip: true})
	if r := rowOf(t, p, "payments", 1); *r.To != 500 || r.Clamped == "" {
		t.Errorf("%+v", r)
	}
	p = wish("newcomer,a.orders,1,100\nnewcomer,a.orders,0,0\n", plan.Options{})
	if g := groupOf(t, p, "newcomer"); g.Refusal != 705 || g.Rows[1].Topic == "" {
		t.Errorf("where the group stands is not known: %+v", g)
	}
	p = wish("newcomer,a.orders,0,0\n", plan.Options{})
	if g := groupOf(t, p, "newcomer"); g.Action != plan.Set {
		t.Errorf("the beginning skips nothing: %+v", g)
	}
	p = wish("payments,nowhere,0,0\npayments,a.orders,1,400\n", plan.Options{})
	if g := groupOf(t, p, "payments"); g.Action != plan.Set || p.Summary.Refused != 1 || !strings.Contains(g.Rows[1].Because+g.Rows[0].Because, "line 1: there is no nowhere-0 on b") {
		t.Errorf("%+v", g)
	}
	ws := []plan.Wish{{Group: "g", Topic: "t", Line: 1}, {Group: "g", Topic: "t", Line: 4}}
	if _, err := plan.Wanted(world(), nil, plan.Selection{Wished: ws}); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("%v", err)
	}
}

func FuzzReadWishes(f *testing.F) {
	for _, s := range []string{"g,t,0,5\n", "t,0,5", "\"a,b\",t,1,2\r\n", "\"a\"\"b\",t,1,2", "\xff,\x00,1,2", ",,,\n", "\n"} {
		f.Add(s, "g")
	}
	f.Fuzz(func(t *testing.T, text, group string) {
		ws, err := plan.ReadWishes(strings.NewReader(text), group)
		if err != nil && len(ws) > 0 {
			t.Error("rows beside an error")
		}
		last := 0
		for _, w := range ws {
			if w.Offset < 0 || w.Partition < 0 || w.Topic == "" || w.Group == "" || w.Line <= last {
				t.Errorf("%+v", w)
			}
			last = w.Line
		}
	})
}

func FuzzReadFiles(f *testing.F) {
	p := build(f, world(), plan.Selection{}, nil)
	f.Add(written(f, p))
	f.Add([]byte(`{"schemaVersion":1,"positions":[{"group":"g"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := plan.Read(bytes.NewReader(b)); err == nil {
			if err := p.Write(&bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		}
		if s, err := plan.ReadState(bytes.NewReader(b)); err == nil {
			if _, err := json.Marshal(s); err != nil {
				t.Error(err)
			}
		}
	})
}
