package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// inScope is a world with groups of every kind.
func inScope() *snapshot.Snapshot {
	one := offsets(at("orders", 1, 100))
	return world(group(0, "console-consumer-7", one), group(0, "connect-sink", one), group(0, "idle", offsets()),
		group(0, "worker", func(g *snapshot.Group) { one(g); g.ProtocolType = "connect" }),
		group(0, "app", func(g *snapshot.Group) { one(g); g.Type = snapshot.Is(kafka.TypeStreams) }),
		group(0, "gone", func(g *snapshot.Group) { g.State = snapshot.None[kafka.GroupState]() }),
		group(0, "internal", offsets(at("mm2-offset-syncs.b.internal", 0, 1))),
		group(0, "cycle", offsets(at("b.stock", 0, 1))),
		group(0, "local", offsets(at("unmirrored", 0, 1), at("orders", 1, 5))),
		group(0, "negative", offsets(at("orders", 1, -1))),
		group(1, "only-there", one))
}

func ids(p *plan.Plan) string {
	var out []string
	for _, g := range p.Groups {
		out = append(out, g.Group)
	}
	return strings.Join(out, " ")
}

func left(p *plan.Plan) string {
	var out []string
	for _, l := range p.Scope.Left {
		out = append(out, fmt.Sprintf("%s: %s", strings.Join(l.Some, " "), l.Reason))
	}
	return strings.Join(out, "\n")
}

func TestScope(t *testing.T) {
	for _, c := range []struct {
		name string
		sel  plan.Selection
		want string
		rule string
	}{
		{"default", plan.Selection{}, "billing local payments", "those that the filters of a->b admit"},
		{"all", plan.Selection{Options: plan.Options{AllGroups: true}}, "billing connect-sink local payments", "--all-groups"},
		{"all and streams", plan.Selection{Options: plan.Options{AllGroups: true, IncludeStreams: true}}, "app billing connect-sink local payments", "--all-groups"},
		{"named", plan.Selection{Groups: []string{"p*", "/conn.*/"}}, "connect-sink payments", "named by --group (p*, /conn.*/)"},
		{"a console consumer by its very name", plan.Selection{Groups: []string{"console-consumer-7"}}, "console-consumer-7", "named"},
		{"console consumers by a pattern", plan.Selection{Groups: []string{"*"}}, "billing connect-sink local payments", "named"},
		{"a worker by name", plan.Selection{Groups: []string{"worker"}}, "", "named"},
		{"a topic", plan.Selection{Topics: []string{"unmirrored"}}, "local", "topics named by --topic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, inScope(), c.sel, nil)
			if ids(p) != c.want || !strings.Contains(p.Scope.Rule, c.rule) || p.Scope.Of != 12-1 {
				t.Errorf("%q of %d, rule %q\n%s", ids(p), p.Scope.Of, p.Scope.Rule, left(p))
			}
		})
	}
	p := build(t, inScope(), plan.Selection{}, nil)
	for _, want := range []string{"console-consumer-7: console consumers", "connect-sink: left out by the default of groups.exclude", "worker: Connect workers", "app: streams groups", "idle: without any committed offset", "internal: commits on Kafka's", "cycle: commits on topics that came from b", "negative orders-1: partitions with a negative"} {
		if !strings.Contains(left(p), want) {
			t.Errorf("%q is not said:\n%s", want, left(p))
		}
	}
	if r := rowOf(t, p, "local", 0); r.Topic != "unmirrored" || r.Refusal != 709 { // the filters admit it, and it has no copy
		t.Errorf("%+v", r)
	}
}

func TestScopeNothingMatches(t *testing.T) {
	p := build(t, inScope(), plan.Selection{Groups: []string{"payments", "paymets", "only-there"}}, nil)
	var codes []string
	for _, f := range p.Findings {
		codes = append(codes, f.CodeText+" "+f.Subject.Group)
	}
	if !slices.Equal(codes, []string{"MM2D-217 paymets", "MM2D-217 only-there"}) || !strings.Contains(p.Findings[1].Because, "there is one of that name on b") {
		t.Errorf("%v", codes)
	}
}

func TestScopeErrors(t *testing.T) {
	for _, c := range []struct {
		sel  plan.Selection
		want string
	}{
		{plan.Selection{Flow: "b->a"}, "no flow b->a"}, {plan.Selection{Groups: []string{"/(/"}}, "--group"}, {plan.Selection{Topics: []string{"/(/"}}, "--topic"},
		{plan.Selection{Now: "noon"}, "noon"}, {plan.Selection{Options: plan.Options{Fallback: "sideways"}}, "--fallback"}, {plan.Selection{Options: plan.Options{Fallback: "timestamp:-1"}}, "--fallback"},
		{plan.Selection{SourceLost: true, Reverse: true}, "nothing to go by"},
	} {
		if _, err := plan.Wanted(world(), nil, c.sel); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.sel, err)
		}
	}
	if _, err := plan.Wanted(world(), nil, plan.Selection{Flow: "a:b"}); err != nil {
		t.Error(err)
	}
}

// TestNeverOnward: a topic that a third cluster's flow brought is not carried on, unless it is named.
func TestNeverOnward(t *testing.T) {
	s := func() *snapshot.Snapshot {
		s := world(group(0, "reader", offsets(at("c.stock", 0, 9))), addTopic(0, "c.stock", 20), addTopic(1, "a.c.stock", 20))
		s.Clusters = append(s.Clusters, snapshot.Cluster{Alias: "c"})
		s.Flows = append(s.Flows, snapshot.Flow{Source: "c", Target: "a", Policy: snapshot.Policy{Separator: "."}})
		return s
	}
	if p := build(t, s(), plan.Selection{Flow: "a->b"}, nil); ids(p) != "billing payments" || !strings.Contains(left(p), "reader: commits on topics that another flow brought (c->a)") {
		t.Errorf("%q\n%s", ids(p), left(p))
	}
	if p := build(t, s(), plan.Selection{Flow: "a->b", Topics: []string{"c.stock"}}, nil); ids(p) != "reader" || rowOf(t, p, "reader", 0).TargetTopic != "a.c.stock" {
		t.Errorf("%q", ids(p))
	}
	if _, err := plan.Wanted(s(), nil, plan.Selection{}); err == nil || !strings.Contains(err.Error(), "--flow") {
		t.Errorf("two flows and none named: %v", err)
	}
}

func TestMaps(t *testing.T) {
	s := world(addTopic(1, "bestellungen", 900000, 500))
	p := build(t, s, plan.Selection{Groups: []string{"payments"}, GroupMap: map[string]string{"payments": "zahlungen"}, TopicMap: map[string]string{"orders": "bestellungen"}}, nil)
	g := groupOf(t, p, "payments")
	if g.TargetGroup != "zahlungen" || g.TargetState != "Dead" || g.Rows[0].TargetTopic != "bestellungen" || g.Rows[0].Before != nil || g.Action != plan.Set || g.Holds.Status != "holds" {
		t.Errorf("%+v", g)
	}
}

func TestPositions(t *testing.T) {
	w := wanted(t, world(), plan.Selection{Options: plan.Options{Fallback: "timestamp:5"}})
	ps := w.Positions()
	if len(ps) != 3 {
		t.Fatalf("%d positions", len(ps))
	}
	p := ps[1]
	if p.Group != "payments" || p.From.Cluster != "a" || p.From.String() != "orders-0" || p.To.Cluster != "b" || p.To.String() != "a.orders-0" || p.Offset != 998400 || p.Time != 5 ||
		!slices.Equal(p.Also, []int64{896901}) || p.Syncs.Cluster != "a" || p.Syncs.Topic != "mm2-offset-syncs.b.internal" || p.Syncs.Of.String() != "orders-0" || p.Syncs.Swapped || p.Syncs.OneTopic {
		t.Errorf("%+v", p)
	}
}

func TestReportGivesMM2(t *testing.T) {
	s := world()
	r, _ := diagnose.Run(s, diagnose.Options{})
	for i := range r.Partitions {
		if r.Partitions[i].Group == "payments" && r.Partitions[i].Partition == 1 {
			r.Partitions[i].MM2Expected = snapshot.Is(int64(333))
		}
	}
	w, err := plan.Wanted(s, r, plan.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if p := plan.Build(w, nil, diagnose.Tool{}); *rowOf(t, p, "payments", 1).MM2 != 333 {
		t.Errorf("%+v", rowOf(t, p, "payments", 1))
	}
}
