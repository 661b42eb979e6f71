package match

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// changed is a partition of 400 records without keys whose copies, from 100 on, hold other values, as a transformation leaves
// them. apart moves the copies' times.
func changed(apart int64) *world {
	w := &world{}
	for i := range int64(400) {
		w.src.rs = append(w.src.rs, Record{Offset: i, Time: 1000 * i, Value: uint64(i), Flags: NullKey})
		w.dst.rs = append(w.dst.rs, Record{Offset: 100 + i, Time: 1000*i + apart, Value: uint64(100_000 + i), Flags: NullKey})
		if i%50 == 0 {
			w.syncs = append(w.syncs, translate.Sync{Upstream: i, Downstream: 100 + i})
		}
	}
	w.src.page, w.src.bounds = 100, Bounds{Stable: 400, End: 400}
	w.dst.page, w.dst.bounds = 100, Bounds{Start: 100, Stable: 500, End: 500}
	return w
}

// TestChangedValues: copies whose values a transformation changed have the times of their originals; that does not contradict the
// offset syncs, whose bounds then count. With other times the records are others.
func TestChangedValues(t *testing.T) {
	for _, c := range []struct {
		apart   int64
		refuted bool
	}{{0, false}, {7_000_000, true}} {
		w := changed(c.apart)
		a, err := New(&w.src, &w.dst, w.syncs, Options{}).Locate(230)
		if err != nil {
			t.Fatal(err)
		}
		if a.Refuted != c.refuted || a.T > 330 || a.Verdict >= Exact && a.T != 330 {
			t.Errorf("apart by %d ms: %+v", c.apart, a)
		}
	}
}
