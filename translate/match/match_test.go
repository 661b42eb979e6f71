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
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprint("crash=", crash), func(t *testing.T) {
			got := tally{}
			for seed := range lives(t, 10_000) {
				g := newDraw(seed)
				w := drawWorld(g, life{crash: crash, keep: anySyncs})
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
					kind := fmt.Sprintf("unique=%v all=%v once=%v compact=%v budget=%v foreign=%v", w.unique, w.all, w.once, w.compact, o.Most > 0, w.foreign)
					got.add(kind, a.Verdict)
					got.add("all", a.Verdict)
					truth := max(w.truth(u), w.dst.bounds.Start)
					if n := w.mirrored(truth, a.T); n > 0 {
						t.Errorf("seed %d, U %d, %s, %s: skips %d records: %+v, truth %d", seed, u, w.what, kind, n, a, truth)
					}
					if n := w.mirrored(a.T, truth); a.Verdict == Exact && n > 0 && o.Isolation != IsolationUnknown && (w.unique || w.all) {
						t.Errorf("seed %d, U %d, %s, %s: called exact and reads %d records again: %+v, truth %d", seed, u, w.what, kind, n, a, truth)
					}
				}
			}
			got.log(t)
		})
	}
}
