package match

import "testing"

// TestNeverSkips: whatever happened to both logs, no answer lies after the truth, and one that is called exact has no mirrored
// record between itself and the truth. Where it is not known whether aborted records were mirrored, an exact answer may be low.
func TestNeverSkips(t *testing.T) {
	lives := 20_000
	if testing.Short() {
		lives = 2_000
	}
	got := map[Verdict]int{}
	for seed := range uint64(lives) {
		g := newDraw(seed)
		w := drawWorld(g, false)
		u := g.between64(0, w.src.bounds.End+5)
		o := Options{Foreign: w.foreign}
		if g.between(0, 1) == 1 {
			o.Isolation = w.mode
		}
		a, err := New(&w.src, &w.dst, w.syncs, o).Locate(u)
		if err != nil {
			t.Fatal(err)
		}
		got[a.Verdict]++
		truth := max(w.truth(u), w.dst.bounds.Start)
		if n := w.mirrored(truth, a.T); n > 0 {
			t.Errorf("seed %d, U %d, %s: skips %d records: %+v, truth %d", seed, u, w.what, n, a, truth)
		}
		if n := w.mirrored(a.T, truth); a.Verdict == Exact && n > 0 && o.Isolation != IsolationUnknown {
			t.Errorf("seed %d, U %d, %s: called exact and reads %d records again: %+v, truth %d", seed, u, w.what, n, a, truth)
		}
	}
	t.Log(got)
	if got[Exact] < lives/4 {
		t.Errorf("only %d of %d are exact", got[Exact], lives)
	}
}
