package ranges

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
	"pgregory.net/rapid"
)

// history is a partition's true life: source records with holes between them, copied once or more from some record to another,
// with holes of the copy's own (at most one marker for each record), and a sync for some records.
type history struct {
	source []int64
	syncs  []translate.Sync
	lives  []life
	end    int64
}

type life struct {
	up, down []int64
	syncs    []translate.Sync
}

func draw(t *rapid.T) history {
	var h history
	up := rapid.Int64Range(0, 500).Draw(t, "up")
	hole := rapid.IntRange(0, 40).Draw(t, "source holes per 100")
	for range rapid.IntRange(1, 150).Draw(t, "source records") {
		h.source = append(h.source, up)
		if up++; rapid.IntRange(1, 100).Draw(t, "source hole") <= hole {
			up += rapid.Int64Range(1, 9).Draw(t, "width")
		}
	}
	down := rapid.Int64Range(0, 500).Draw(t, "down")
	marker := rapid.IntRange(0, 60).Draw(t, "markers per 100")
	every := rapid.IntRange(1, 30).Draw(t, "records a sync")
	from := 0
	for range rapid.IntRange(1, 4).Draw(t, "lives") {
		var l life
		to := rapid.IntRange(from+1, len(h.source)).Draw(t, "to")
		for _, up := range h.source[from:to] {
			if len(l.up) == 0 || rapid.IntRange(1, every).Draw(t, "dice") == 1 {
				s := translate.Sync{Upstream: up, Downstream: down, Offset: int64(len(h.syncs))}
				h.syncs, l.syncs = append(h.syncs, s), append(l.syncs, s)
			}
			l.up, l.down = append(l.up, up), append(l.down, down)
			if down++; rapid.IntRange(1, 100).Draw(t, "marker") <= marker {
				down++
			}
		}
		h.lives = append(h.lives, l)
		// A copy begins again at a record that was copied, where its syncs step back.
		last := l.syncs[len(l.syncs)-1].Upstream
		i, _ := slices.BinarySearch(h.source, last)
		from = rapid.IntRange(0, i).Draw(t, "again from")
	}
	h.end = down
	return h
}

// truth is the place of a record: in the newest copy that begins at or below it, unless an older one has gone further.
func (h *history) truth(u int64) (int64, bool) {
	best := -1
	for i, l := range slices.Backward(h.lives) {
		if l.up[0] <= u {
			best = i
			break
		}
	}
	if best < 0 {
		return 0, false
	}
	reach := func(i int) int64 { return h.lives[i].up[len(h.lives[i].up)-1] }
	for i := range best {
		if reach(i) > reach(best) {
			best = i
		}
	}
	l := h.lives[best]
	i, _ := slices.BinarySearch(l.up, u)
	if i < len(l.up) {
		return l.down[i], true
	}
	if best+1 < len(h.lives) {
		return h.lives[best+1].down[0], true
	}
	return h.end, true
}

// naive bounds a position by looking at every sync of the epoch.
func naive(ss []translate.Sync, u, end int64) (low, high int64) {
	high = end
	for _, s := range ss {
		switch {
		case s.Upstream == u:
			return s.Downstream, s.Downstream
		case s.Upstream < u:
			low = s.Downstream + 1
		case s.Downstream < high:
			high = s.Downstream
		}
	}
	return low, max(low, high)
}

// TestLocateAgainstEverySync: Low is never above the true place, High never below. Where the partition was copied once both are
// what a look at every sync gives, but for the index inside merged stretches.
func TestLocateAgainstEverySync(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := draw(t)
		x := index(h.syncs)
		if n := len(x.Epochs()); n != len(h.lives) || n != len(split(h.syncs)) {
			t.Fatalf("%d epochs, %d in the index, %d in the list", len(h.lives), n, len(split(h.syncs)))
		}
		ends := Ends{Source: h.source[len(h.source)-1] + 1, Target: h.end}
		for _, u := range append(h.source, ends.Source) {
			truth, known := h.truth(u)
			b, ok := Locate(h.syncs, u, ends)
			ib, iok := x.Locate(u, ends)
			if ok != known || ok != iok {
				t.Fatalf("%d: list %v, index %v, truth %v", u, ok, iok, known)
			}
			if !ok {
				continue
			}
			if truth < b.Low || truth > b.High {
				t.Fatalf("%d: %s, its copy is at %d", u, words(b, ok), truth)
			}
			if ib.Low > b.Low || ib.High < b.High {
				t.Fatalf("%d: %s, the index says %s", u, words(b, ok), words(ib, ok))
			}
			if len(h.lives) > 1 {
				continue
			}
			if low, high := naive(h.syncs, u, ends.Target); b.Low != low || b.High != high {
				t.Fatalf("%d: %s, every sync says [%d,%d]", u, words(b, ok), low, high)
			}
			if !b.Exact() || ib.Exact() || x.epochs[0].merged(u) {
				continue
			}
			t.Fatalf("%d: %s, the index says %s", u, words(b, ok), words(ib, ok))
		}
	})
}

// merged says that u lies inside a stretch of more than two syncs.
func (e *Epoch) merged(u int64) bool {
	for _, r := range e.ranges {
		if r.Up < u && u < r.Up+r.Span {
			return r.Gap < r.Span
		}
	}
	return false
}

// wild draws syncs that follow no rule, in tight numbers so that offsets repeat and fall in every way, and in long runs that grow.
func wild(t *rapid.T) []translate.Sync {
	var out []translate.Sync
	for range rapid.IntRange(0, 8).Draw(t, "runs") {
		up, down := rapid.Int64Range(0, 300).Draw(t, "up"), rapid.Int64Range(0, 300).Draw(t, "down")
		for range rapid.IntRange(1, 60).Draw(t, "length") {
			out = append(out, translate.Sync{Upstream: up, Downstream: down, Offset: int64(len(out))})
			up += rapid.Int64Range(0, 5).Draw(t, "step")
			down += rapid.Int64Range(0, 5).Draw(t, "step down")
		}
	}
	return out
}

func drawSyncs(t *rapid.T) []translate.Sync {
	if rapid.Bool().Draw(t, "wild") {
		return wild(t)
	}
	h := draw(t)
	return h.syncs
}

// TestBrackets: the kept syncs are a part of all, split into the same epochs, with their ends; around each position the nearest
// are there in each epoch; and each position is bounded as by all of them.
func TestBrackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawSyncs(t)
		positions := rapid.SliceOfN(rapid.Int64Range(0, 700), 0, 12).Draw(t, "positions")
		b := NewBrackets(positions)
		for _, s := range all {
			b.Add(s)
		}
		kept := b.Syncs()
		if b.Count() != int64(len(all)) {
			t.Fatalf("%d of %d syncs were counted", b.Count(), len(all))
		}
		whole, part := split(all), split(kept)
		if d, _ := b.Dropped(); d > 0 {
			whole = whole[d:]
		}
		if len(whole) != len(part) {
			t.Fatalf("%d epochs of %d\n%v\n%v", len(part), len(whole), all, kept)
		}
		for i := range whole {
			w, p := whole[i], part[i]
			if p[0] != w[0] || p[len(p)-1] != w[len(w)-1] {
				t.Fatalf("epoch %d is %v, all are %v", i, p, w)
			}
			for _, s := range p {
				if !slices.Contains(w, s) {
					t.Fatalf("%+v was never added", s)
				}
			}
			for _, u := range positions {
				at, _ := slices.BinarySearchFunc(w, u+1, func(s translate.Sync, u int64) int { return int(s.Upstream - u) })
				for _, s := range w[max(0, at-nearBelow):min(len(w), at+nearAbove)] {
					if !slices.Contains(p, s) {
						t.Fatalf("%d lacks %+v\nall %v\nkept %v", u, s, w, p)
					}
				}
			}
		}
		if x, y := index(all), index(kept); len(x.Epochs())-len(whole) != len(y.Epochs())-len(part)+b.lost.Epochs {
			t.Fatalf("the index has %d epochs, from the kept syncs %d", len(x.Epochs()), len(y.Epochs()))
		}
		if d, _ := b.Dropped(); d == 0 && stepsBack(all) != stepsBack(kept) {
			t.Fatalf("%d steps back in all, %d in the kept", stepsBack(all), stepsBack(kept))
		}
		ends := Ends{Source: rapid.Int64Range(-1, 800).Draw(t, "source end"), Target: rapid.Int64Range(-1, 2000).Draw(t, "target end")}
		if b.lost.Epochs > 0 {
			return
		}
		for _, u := range positions {
			want, wok := Locate(all, u, ends)
			got, gok := b.Locate(u, ends)
			if describe(want, wok) != describe(got, gok) {
				t.Fatalf("%d: all say %s, the kept say %s\n%v\n%v", u, describe(want, wok), describe(got, gok), whole, part)
			}
		}
	})
}

// stepsBack counts epochs as the comparison of records splits them, repeats of a sync left out.
func stepsBack(ss []translate.Sync) (n int) {
	for i := 1; i < len(ss); i++ {
		if a, b := ss[i-1], ss[i]; !sameOffsets(a, b) && (b.Upstream <= a.Upstream || b.Downstream < a.Downstream) {
			n++
		}
	}
	return n
}

func describe(b Bound, ok bool) string {
	text := words(b, ok)
	if b.Below != nil {
		text += fmt.Sprintf(" below %+v", *b.Below)
	}
	if b.Above != nil {
		text += fmt.Sprintf(" above %+v", *b.Above)
	}
	return text
}
