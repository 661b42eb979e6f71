package translate

import (
	"fmt"
	"testing"

	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func TestTriggers(t *testing.T) {
	type ack struct{ up, down int64 }
	for _, c := range []struct {
		what string
		e    mm2.Emission
		lag  int64
		acks []ack
		want []Trigger
	}{
		{"a gap", mm2.E3, 100, []ack{{0, 0}, {1, 1}, {3, 2}, {4, 3}}, []Trigger{FirstRecord, NoTrigger, UpstreamStep, NoTrigger}},
		{"read again", mm2.E2, 100, []ack{{5, 5}, {6, 6}, {5, 7}}, []Trigger{FirstRecord, NoTrigger, UpstreamStep}},
		{"target recreated", mm2.E1, 100, []ack{{5, 5}, {6, 6}, {7, 0}}, []Trigger{FirstRecord, NoTrigger, DownstreamRewind}},
		{"distance", mm2.E3, 2, []ack{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}}, []Trigger{FirstRecord, NoTrigger, NoTrigger, LagReached, NoTrigger}},
		{"drift only", mm2.E1, 2, []ack{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 6}}, []Trigger{FirstRecord, NoTrigger, NoTrigger, NoTrigger, LagReached}},
		{"lag 0", mm2.E1, 0, []ack{{0, 0}, {1, 1}, {2, 2}}, []Trigger{FirstRecord, LagReached, LagReached}},
		{"lag 0", mm2.E3, 0, []ack{{0, 0}, {1, 1}, {2, 2}}, []Trigger{FirstRecord, LagReached, LagReached}},
	} {
		e := NewEmitter(c.e, c.lag)
		for i, a := range c.acks {
			if got := e.Acked(a.up, a.down); got != c.want[i] {
				t.Errorf("%s, %s, record %d: %s, want %s", c.e, c.what, i, got, c.want[i])
			}
		}
	}
}

// E2 and E3 write every 101st record with the default of 100, E1 only the first.
func TestEvery101(t *testing.T) {
	for e, want := range map[mm2.Emission]string{mm2.E1: "[0]", mm2.E2: "[0 101 202 303]", mm2.E3: "[0 101 202 303]"} {
		m := NewEmitter(e, DefaultLagMax)
		var got []int64
		for x := int64(0); x < 400; x++ {
			if m.Acked(x, x) != NoTrigger {
				got = append(got, x)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", e, got, want)
		}
	}
}

func TestOutbox(t *testing.T) {
	sync := func(topic string, x int64) mm2.OffsetSync {
		return mm2.OffsetSync{Topic: topic, Upstream: x, Downstream: x}
	}
	expect := func(what string, got []mm2.OffsetSync, want ...mm2.OffsetSync) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	e1 := NewOutbox(mm2.E1)
	expect("E1 with room", e1.Acked(sync("a", 0), FirstRecord, 9), sync("a", 0))
	expect("E1 full", e1.Acked(sync("a", 5), UpstreamStep, 10))
	expect("E1 forgets", e1.Commit(0))

	e2 := NewOutbox(mm2.E2)
	expect("E2 full", e2.Acked(sync("a", 0), FirstRecord, 10))
	expect("E2 full", e2.Acked(sync("b", 0), FirstRecord, 10))
	expect("E2 full", e2.Acked(sync("a", 9), UpstreamStep, 10))
	expect("E2 waits", e2.Waiting(), sync("a", 9), sync("b", 0))
	expect("E2 has room for one", e2.Acked(sync("b", 1), NoTrigger, 9), sync("a", 9))
	expect("E2 at commit", e2.Commit(0), sync("b", 0))
	expect("E2 has no more", e2.Commit(0))

	e3 := NewOutbox(mm2.E3)
	expect("E3", e3.Acked(sync("a", 0), FirstRecord, 0), sync("a", 0))
	expect("E3 delays", e3.Acked(sync("a", 1), NoTrigger, 0))
	expect("E3 delays the newest", e3.Acked(sync("a", 2), NoTrigger, 0))
	expect("E3 at commit", e3.Commit(0), sync("a", 2))
	expect("E3 once", e3.Commit(0))
	expect("E3 delays", e3.Acked(sync("a", 3), NoTrigger, 0))
	expect("E3 trigger", e3.Acked(sync("a", 5), UpstreamStep, 0), sync("a", 5))
	expect("E3 dropped the delayed one", e3.Commit(0))
}

// Every sync of E1 and E2 must be one that the rule asks for, on the truth about records; which of them were lost on the
// way depends on the moment. E3 also writes the last record at each commit. No sync may pair offsets of two records.
func TestCaptureEmission(t *testing.T) {
	fsys := captureFiles()
	names, err := captures.List(fsys)
	if err != nil || len(names) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := decode(t, fsys, name)
			truth, err := r.Mapping()
			if err != nil {
				t.Fatal(err)
			}
			stopped := r.Phases[3].Source.Topics // p3: the end of the first run
			total, asked := 0, 0
			for _, m := range truth {
				if m.Topic == "profiles" {
					continue // compacted, on the target too: the truth lacks records that were there when they were mirrored
				}
				tp := kafka.TopicPartition{Topic: m.Topic, Partition: m.Partition}
				e := NewEmitter(r.version.Emission(), DefaultLagMax)
				triggers, copies := map[int64]Trigger{}, map[int64]int64{}
				restarted := false
				for _, s := range m.Segments {
					for i := range s[2] {
						up, down := s[0]+i, s[1]+i
						if end := stopped[tp.Topic][tp.Partition].End; up >= end && !restarted {
							restarted = true
							e = NewEmitter(r.version.Emission(), DefaultLagMax)
						}
						copies[up] = down
						triggers[up] = e.Acked(up, down)
					}
				}
				for _, s := range r.syncs[tp] {
					total++
					if down, ok := copies[s.Upstream]; !ok || down != s.Downstream {
						r.complain(t, "sync %+v of %s: the copy is at %d", s, tp, down)
					}
					if triggers[s.Upstream] != NoTrigger {
						asked++
					} else if r.version.Emission() != mm2.E3 {
						r.complain(t, "sync %+v of %s is not asked for", s, tp)
					}
				}
			}
			t.Logf("%s: %d of %d syncs were asked for by a record", r.version.Emission(), asked, total)
			if total+len(r.syncs[kafka.TopicPartition{Topic: "profiles"}]) != len(r.OffsetSyncs) || !r.compacted && asked < total/2 {
				t.Errorf("%d of %d syncs asked for, %d in the topic", asked, total, len(r.OffsetSyncs))
			}
		})
	}
}
