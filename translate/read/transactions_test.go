package read

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// TestTransactions has a source that is written by transactions, every fourth of them aborted and the last one still open, and
// copies of a MirrorMaker 2 that reads all records, or only committed ones.
func TestTransactions(t *testing.T) {
	for _, mode := range []match.Isolation{match.Uncommitted, match.Committed} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			w := &world{a: start(t, "a", 1), b: start(t, "b", 1), partitions: 1}
			w.a.topic(t, "orders", 1)
			w.b.topic(t, "a.orders", 1)
			w.a.topic(t, syncsTopic, 1)
			tx := producer(t, w.a.Cluster, kgo.TransactionalID("tx"))
			base := time.UnixMilli(1_700_000_000_000)
			truth := map[int64]int64{} // of each source offset that holds a mirrored record
			var syncs, copies []*kgo.Record
			var down, n, last int64
			var stable int64
			for i := range 41 {
				if err := tx.BeginTransaction(); err != nil {
					t.Fatal(err)
				}
				aborted, open := i%4 == 3, i == 40
				for range 7 {
					r := &kgo.Record{Topic: "orders", Value: fmt.Append(nil, "v", n/3), Timestamp: base.Add(time.Duration(n) * time.Millisecond)}
					n++
					if err := tx.ProduceSync(t.Context(), r).FirstErr(); err != nil {
						t.Fatal(err)
					}
					if open && stable == 0 {
						stable = r.Offset
					}
					if (aborted || open) && mode == match.Committed {
						continue
					}
					truth[r.Offset], last = down, r.Offset
					if n%60 == 1 {
						syncs = append(syncs, syncRecord(t, 0, r.Offset, down))
					}
					copies = append(copies, &kgo.Record{Topic: "a.orders", Value: r.Value, Timestamp: r.Timestamp})
					down++
				}
				if open {
					break
				}
				if err := tx.EndTransaction(t.Context(), kgo.TransactionEndTry(!aborted)); err != nil {
					t.Fatal(err)
				}
			}
			w.b.produce(t, copies...)
			w.a.produce(t, syncs...)
			var ps []plan.Position
			for u := range last + 1 {
				p := w.position("g", 0, u)
				p.Syncs.Isolation = mode
				ps = append(ps, p)
			}
			as, _ := locate(t, w, ps, Options{Records: true})
			if b := *as[0].Source; b.Stable != stable || b.End <= stable {
				t.Fatalf("bounds %+v, the open transaction begins at %d", b, stable)
			}
			right := 0
			want := down
			for u := last; u >= 0; u-- {
				if d, ok := truth[u]; ok {
					want = d
				}
				a := as[u]
				switch {
				case a.Records == nil:
					t.Errorf("%d: %s", u, a.Why)
				case a.Records.T > want:
					t.Errorf("%d: %d skips %d: %+v", u, a.Records.T, a.Records.T-want, a.Records)
				case a.Records.T == want:
					right++
				default:
					t.Logf("%d: %d, want %d: %v %s", u, a.Records.T, want, a.Records.Verdict, a.Records.Why)
				}
				if a.Range != nil && a.Range.Low > want {
					t.Errorf("%d: range %+v skips", u, a.Range)
				}
			}
			if right < len(as)*9/10 {
				t.Errorf("%d of %d right", right, len(as))
			}
		})
	}
}
