package plan_test

import (
	"fmt"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/plans"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// BenchmarkPlan is 1,000 groups with 20 partitions each, without the reading.
func BenchmarkPlan(b *testing.B) {
	s := plans.Base()
	var os, ts []snapshot.Committed
	var from, to snapshot.Topic
	from.Name, to.Name = "orders", "a.orders"
	for i := range int32(20) {
		os, ts = append(os, at("orders", i, 400)), append(ts, at("a.orders", i, 301))
		x := snapshot.Partition{ID: i, Start: snapshot.Is(int64(0)), End: snapshot.Is(int64(500)), Stable: snapshot.Is(int64(500))}
		from.Partitions, to.Partitions = append(from.Partitions, x), append(to.Partitions, x)
	}
	s.Clusters[0].Topics, s.Clusters[1].Topics = snapshot.Is([]snapshot.Topic{from}), snapshot.Is([]snapshot.Topic{to})
	var gs, gt []snapshot.Group
	for i := range 1000 {
		g := snapshot.Group{ID: fmt.Sprintf("g%04d", i), State: snapshot.Is(kafka.StateEmpty), Type: snapshot.Is(kafka.TypeClassic), Offsets: snapshot.Is(os)}
		gs = append(gs, g)
		g.Offsets = snapshot.Is(ts)
		gt = append(gt, g)
	}
	s.Clusters[0].Groups, s.Clusters[1].Groups = snapshot.Is(gs), snapshot.Is(gt)
	b.ReportAllocs()
	for b.Loop() {
		w, err := plan.Wanted(s, nil, plan.Selection{})
		if err != nil {
			b.Fatal(err)
		}
		as := make([]plan.Answer, len(w.Positions()))
		for i, p := range w.Positions() {
			p.From.Partition = 1
			as[i] = plans.Truth(p)
		}
		p := plan.Build(w, as, diagnose.Tool{})
		p.Seal()
		if p.Summary.Set != 20000 {
			b.Fatalf("%+v", p.Summary)
		}
	}
}
