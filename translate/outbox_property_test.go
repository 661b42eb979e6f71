package translate

import (
	"fmt"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"pgregory.net/rapid"
)

// acked is a source task's life as its producer sees it: records of a few partitions, commits in between, and how full the
// producer was each time.
type acked struct {
	sync    mm2.OffsetSync
	trigger Trigger
	commit  bool
	flying  int
}

func life(t *rapid.T, e mm2.Emission) []acked {
	lag := rapid.SampledFrom([]int64{0, 1, 5, 100}).Draw(t, "lag")
	partitions := rapid.Int32Range(1, 8).Draw(t, "partitions")
	emitters := make([]Emitter, partitions)
	for i := range emitters {
		emitters[i] = NewEmitter(e, lag)
	}
	ups, downs := make([]int64, partitions), make([]int64, partitions)
	var out []acked
	for range rapid.IntRange(1, 300).Draw(t, "n") {
		a := acked{flying: rapid.IntRange(0, 12).Draw(t, "flying")}
		if rapid.IntRange(0, 19).Draw(t, "dice") == 0 {
			a.commit = true
		} else {
			p := rapid.Int32Range(0, partitions-1).Draw(t, "partition")
			ups[p] += rapid.Int64Range(1, 3).Draw(t, "up")
			downs[p]++
			a.sync = mm2.OffsetSync{Topic: "orders", Partition: p, Upstream: ups[p], Downstream: downs[p]}
			a.trigger = emitters[p].Acked(ups[p], downs[p])
		}
		out = append(out, a)
	}
	return out
}

// TestOutboxLosesByItsRule: what each emission sends of what was asked for, whatever the load. E1 loses exactly what meets a
// full producer (KAFKA-12558); E2 loses only what a newer sync of the same partition replaces (KAFKA-14610); E3 ends, once
// committed with room, at the last record of every partition (KAFKA-15906). None makes a sync up or sends one twice.
func TestOutboxLosesByItsRule(t *testing.T) {
	for _, e := range []mm2.Emission{mm2.E1, mm2.E2, mm2.E3} {
		t.Run(e.String(), rapid.MakeCheck(func(t *rapid.T) {
			o := NewOutbox(e)
			records, sent := map[mm2.OffsetSync]Trigger{}, map[mm2.OffsetSync]bool{}
			lastSent, lastAcked, lastAsked := map[int32]mm2.OffsetSync{}, map[int32]mm2.OffsetSync{}, map[int32]mm2.OffsetSync{}
			take := func(out []mm2.OffsetSync, flying int) {
				if len(out) > max(MaxInFlight-flying, 0) {
					t.Fatalf("%d syncs sent with %d in flight", len(out), flying)
				}
				for _, s := range out {
					trigger, real := records[s]
					if !real || sent[s] || lastSent[s.Partition].Upstream >= s.Upstream {
						t.Fatalf("%+v sent: a record %v, sent before %v, after %+v", s, real, sent[s], lastSent[s.Partition])
					}
					if trigger == NoTrigger && e != mm2.E3 {
						t.Fatalf("%+v was sent and not asked for", s)
					}
					sent[s], lastSent[s.Partition] = true, s
				}
			}
			for _, a := range life(t, e) {
				if a.commit {
					take(o.Commit(a.flying), a.flying)
					continue
				}
				records[a.sync], lastAcked[a.sync.Partition] = a.trigger, a.sync
				if a.trigger != NoTrigger {
					lastAsked[a.sync.Partition] = a.sync
				}
				take(o.Acked(a.sync, a.trigger, a.flying), a.flying)
				if e == mm2.E1 && sent[a.sync] != (a.trigger != NoTrigger && a.flying < MaxInFlight) {
					t.Fatalf("E1: %+v asked for by %v with %d in flight, sent %v", a.sync, a.trigger, a.flying, sent[a.sync])
				}
			}
			take(o.Commit(0), 0) // at most eight partitions wait: all have room
			for p, last := range lastAcked {
				want := last
				if e == mm2.E2 {
					want = lastAsked[p]
				}
				if e != mm2.E1 && lastSent[p] != want {
					t.Fatalf("partition %d ends at %+v, not at %+v", p, lastSent[p], want)
				}
			}
			if w := o.Waiting(); len(w) > 0 {
				t.Fatalf("still waiting: %v", w)
			}
		}))
	}
}

// TestEmittersAskForEveryStep: a trigger is never missed: the record after a gap, after a rewind on either side, and the
// first; and two records that follow each other without a trigger are less than offset.lag.max from the last sync asked for
// (E2, E3), or have drifted less than that (E1).
func TestEmittersAskForEveryStep(t *testing.T) {
	for _, e := range []mm2.Emission{mm2.E1, mm2.E2, mm2.E3} {
		t.Run(e.String(), rapid.MakeCheck(func(t *rapid.T) {
			lag := rapid.SampledFrom([]int64{0, 1, 7, 100}).Draw(t, "lag")
			m := NewEmitter(e, lag)
			up, down := rapid.Int64Range(0, 50).Draw(t, "up"), rapid.Int64Range(0, 50).Draw(t, "down")
			var asked *mm2.OffsetSync
			for i := range rapid.IntRange(1, 200).Draw(t, "n") {
				prevUp, prevDown := up, down
				if i > 0 {
					up = max(up+rapid.SampledFrom([]int64{1, 1, 1, 1, 2, 9, 0, -20}).Draw(t, "step"), 0)
					down = max(down+rapid.SampledFrom([]int64{1, 1, 1, 1, 2, 9, -15}).Draw(t, "grow"), 0)
				}
				got := m.Acked(up, down)
				stepped := i == 0 || up-prevUp != 1 || down < prevDown
				if stepped && got == NoTrigger {
					t.Fatalf("no trigger for %d -> %d after %d -> %d", up, down, prevUp, prevDown)
				}
				if got != NoTrigger {
					asked = &mm2.OffsetSync{Upstream: up, Downstream: down}
					continue
				}
				far := down - asked.Downstream - 1
				if e == mm2.E1 {
					far = down - asked.Downstream - (up - asked.Upstream)
				}
				if far >= lag {
					t.Fatal(fmt.Sprintf("%d -> %d is %d from %+v, and nothing was asked for", up, down, far, *asked))
				}
			}
		}))
	}
}
