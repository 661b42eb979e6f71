package match

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
)

// lives is how many are tried: MATCH_LIVES=100000 makes the long run.
func lives(t *testing.T, normal int) uint64 {
	if s := os.Getenv("MATCH_LIVES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(n)
	}
	if testing.Short() {
		return uint64(min(normal, 2000))
	}
	return uint64(normal)
}

// tally counts verdicts by kind of life.
type tally map[string]map[Verdict]int

func (x tally) add(kind string, v Verdict) {
	if x[kind] == nil {
		x[kind] = map[Verdict]int{}
	}
	x[kind][v]++
}

func (x tally) share(kind string, of ...Verdict) float64 {
	n, all := 0, 0
	for v, k := range x[kind] {
		all += k
		if slices.Contains(of, v) {
			n += k
		}
	}
	return 100 * float64(n) / float64(max(all, 1))
}

func (x tally) log(t *testing.T) {
	var kinds []string
	for k := range x {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		t.Logf("%-60s %v", k, x[k])
	}
}

// TestNeverSkips: whatever happened to both logs, no answer lies after the truth, and one that is called exact has no mirrored
// record between itself and the truth. Where it is not known whether aborted records were mirrored, an exact answer may be low;
// where payloads are alike and syncs are lost, a repeat cannot be seen.
func TestNeverSkips(t *testing.T) {
	for _, c := range []struct {
		name  string
		lives int
		first uint64
		life  life
	}{
		{"mirrored once", 1500, 0, life{keep: anySyncs}},
		{"mirrored again", 4000, 0, life{crash: true, keep: anySyncs}},
		{"few syncs", 1500, 1 << 32, life{crash: true, keep: []int{8, 10, 12}}},
		{"no syncs", 1000, 2 << 32, life{crash: true, keep: []int{0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := tally{}
			for seed := range lives(t, c.lives) {
				neverSkips(t, c.first+seed, c.life, got)
			}
			// Exact and low where compaction took the first of two copies, where a repeat stands after the end, and where copies of
			// an earlier topic made up for markers.
			for _, seed := range map[string][]uint64{"mirrored again": {48034, 71279}, "few syncs": {1<<32 + 46627, 1<<32 + 94627}}[c.name] {
				neverSkips(t, seed, c.life, got)
			}
			got.log(t)
		})
	}
}

func neverSkips(t *testing.T, seed uint64, l life, got tally) {
	t.Helper()
	g := newDraw(seed)
	w := drawWorld(g, l)
	o := Options{Foreign: w.foreign, Most: pick(g, []int{0, 0, 0, 0, 500, 150, 40})}
	if g.between(0, 1) == 1 {
		o.Isolation = w.mode
	}
	src, dst := w.sides()
	m := New(src, dst, w.syncs, o)
	us := []int64{g.between64(0, w.src.bounds.End+5), g.between64(0, w.src.bounds.End+5), g.between64(0, w.src.bounds.End)}
	slices.Sort(us)
	for _, u := range us {
		a, err := m.Locate(u)
		if err != nil {
			t.Fatal(err)
		}
		got.add(w.kind(u, o), a.Verdict)
		truth := max(w.truth(u), w.dst.bounds.Start)
		if n := w.mirrored(truth, a.T); n > 0 {
			t.Errorf("seed %d, U %d, %s: skips %d records: %+v, truth %d", seed, u, w.what, n, a, truth)
		}
		if a.T != a.Low || a.High < a.Low || a.T < w.dst.bounds.Start || a.T > w.dst.bounds.End || a.Verdict == Exact && a.High != a.Low {
			t.Errorf("seed %d, U %d, %s: not in order: %+v", seed, u, w.what, a)
		}
		if n := w.mirrored(a.T, truth); n > 0 {
			if a.Verdict == Exact && o.Isolation != IsolationUnknown && (w.unique || w.all) {
				t.Errorf("seed %d, U %d, %s: called exact and reads %d records again: %+v, truth %d", seed, u, w.what, n, a, truth)
			}
			if n := w.mirrored(a.T, min(a.High, truth)); a.Verdict <= Ambiguous && int64(n) > a.Between {
				t.Errorf("seed %d, U %d, %s: %d records up to High, more than Between: %+v", seed, u, w.what, n, a)
			}
		}
		// What an earlier topic left counts as local: where records are alike, nothing tells it.
		if n := w.local(a.T); a.Verdict == Exact && w.foreign && n > 0 && (w.unique || !w.replaced) {
			t.Errorf("seed %d, U %d, %s: leaves out %d local records: %+v, truth %d", seed, u, w.what, n, a, truth)
		}
	}
}

// kind sorts a position into a line of the tally.
func (w *world) kind(u int64, o Options) string {
	payload := "unique"
	if !w.unique {
		payload = "alike"
	}
	s := fmt.Sprintf("%s, once %v, all syncs %v", payload, w.once, w.all)
	switch {
	case o.Most > 0:
		return s + ", small budget"
	case w.foreign:
		return s + ", local records"
	case w.compact:
		return s + ", compacted"
	case u < w.src.bounds.Start || !slices.ContainsFunc(w.origin, func(o int64) bool { return o >= w.src.bounds.Start }):
		return s + ", originals gone"
	}
	return s
}

// TestShares: where nothing stands in the way the answer is proved, not only safe.
func TestShares(t *testing.T) {
	proved := []Verdict{Exact, NotMirrored, Gone}
	safe := append(slices.Clone(proved), ExactRepeat)
	for _, c := range []struct {
		name  string
		life  life
		kind  string
		least float64
		of    []Verdict
	}{
		{"all syncs", life{keep: []int{100}}, "unique, once true, all syncs true", 95, proved},
		{"all syncs, compacted", life{keep: []int{100}}, "unique, once true, all syncs true, compacted", 50, safe},
		{"all syncs, alike", life{keep: []int{100}}, "alike, once true, all syncs true", 70, safe},
		{"all syncs, originals gone", life{keep: []int{100}}, "unique, once true, all syncs true, originals gone", 40, proved},
		{"all syncs, mirrored again", life{crash: true, keep: []int{100}}, "unique, once false, all syncs true", 80, safe},
		{"few syncs", life{keep: []int{8, 10, 12}}, "unique, once true, all syncs false", 90, safe},
		{"few syncs, mirrored again", life{crash: true, keep: []int{8, 10, 12}}, "unique, once false, all syncs false", 70, safe},
		{"no syncs", life{keep: []int{0}}, "unique, once true, all syncs false", 90, safe},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := tally{}
			for seed := range uint64(500) {
				g := newDraw(3<<32 + seed)
				w := drawWorld(g, c.life)
				src, dst := w.sides()
				o := Options{Foreign: w.foreign, Isolation: w.mode}
				m := New(src, dst, w.syncs, o)
				for range 3 {
					u := g.between64(0, w.src.bounds.End)
					a, err := m.Locate(u)
					if err != nil {
						t.Fatal(err)
					}
					got.add(w.kind(u, o), a.Verdict)
				}
			}
			if s := got.share(c.kind, c.of...); s < c.least {
				t.Errorf("%.1f %% of %v, at least %.0f %%", s, got[c.kind], c.least)
			}
			for k, v := range got {
				if k == c.kind {
					t.Logf("%s: %.1f %% exact, %.1f %% safe and near: %v", k, got.share(k, proved...), got.share(k, safe...), v)
				}
			}
		})
	}
}
