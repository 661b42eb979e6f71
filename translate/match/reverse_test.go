package match

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// TestReverse: a position of the copy never goes back behind the original of the next record that stands there, also where the
// copy holds a stretch twice, and where the copies are those of a topic that was made anew since with records that are alike.
func TestReverse(t *testing.T) {
	got := tally{}
	for seed := range lives(t, 3_000) {
		reverse(t, seed, got)
	}
	for _, seed := range []uint64{4060, 9658, 19338, 35656, 40394, 59280} { // made anew, and alike
		reverse(t, seed, got)
	}
	got.log(t)
}

func reverse(t *testing.T, seed uint64, got tally) {
	t.Helper()
	g := newDraw(seed)
	w := drawWorld(g, life{crash: seed%2 == 0, keep: anySyncs})
	var syncs []translate.Sync
	for _, s := range w.syncs {
		syncs = append(syncs, translate.Sync{Upstream: s.Downstream, Downstream: s.Upstream})
	}
	src, dst := w.sides()
	o := Options{Reverse: true, Most: pick(g, []int{0, 0, 0, 500, 150})}
	if g.between(0, 1) == 1 {
		o.Isolation = w.mode
	}
	m := New(dst, src, syncs, o)
	us := []int64{g.between64(w.dst.bounds.Start, w.dst.bounds.End), g.between64(w.dst.bounds.Start, w.dst.bounds.End), w.dst.bounds.End}
	slices.Sort(us)
	for _, u := range us {
		a, err := m.Locate(u)
		if err != nil {
			t.Fatal(err)
		}
		kind := fmt.Sprintf("unique=%v all=%v once=%v budget=%v", w.unique, w.all, w.once, o.Most > 0)
		got.add(kind, a.Verdict)
		truth := w.original(u)
		skipped, again := w.originals(truth, a.T), w.originals(a.T, truth)
		if skipped > 0 {
			t.Errorf("seed %d, U %d, %s, %s: skips %d records: %+v, truth %d", seed, u, w.what, kind, skipped, a, truth)
		}
		if a.Verdict == Exact && again > 0 && !w.foreign && (w.unique || w.all && !w.replaced) {
			t.Errorf("seed %d, U %d, %s, %s: called exact and reads %d records again: %+v, truth %d", seed, u, w.what, kind, again, a, truth)
		}
	}
}

// original is where the next record that the copy holds stands on the source, or right after the last.
func (w *world) original(u int64) int64 {
	at := int64(0)
	for i, r := range w.dst.rs {
		if w.origin[i] < 0 {
			continue
		}
		if r.Offset >= u {
			return w.origin[i]
		}
		at = w.origin[i] + 1
	}
	return at
}

// originals counts records of the source that MirrorMaker 2 copies, copied or not.
func (w *world) originals(from, to int64) int {
	n := 0
	for _, r := range w.src.rs {
		if r.Offset >= from && r.Offset < to && !r.Has(Control) && !(w.mode == Committed && r.Has(Aborted)) {
			n++
		}
	}
	return n
}
