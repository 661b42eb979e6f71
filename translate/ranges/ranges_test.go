package ranges

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/mm2doctor/mm2doctor/translate"
	"pgregory.net/rapid"
)

func syncs(pairs ...[2]int64) []translate.Sync {
	out := make([]translate.Sync, len(pairs))
	for i, p := range pairs {
		out[i] = translate.Sync{Upstream: p[0], Downstream: p[1], Offset: int64(i)}
	}
	return out
}

func index(ss []translate.Sync) *Index {
	x := &Index{}
	for _, s := range ss {
		x.Add(s)
	}
	return x
}

func TestLocate(t *testing.T) {
	all := Ends{Source: 1 << 40, Target: 1 << 40}
	for _, tc := range []struct {
		name  string
		syncs []translate.Sync
		u     int64
		ends  Ends
		want  string
	}{
		{"nothing known", nil, 5, all, "none"},
		{"before the first", syncs([2]int64{10, 10}), 9, all, "none"},
		{"at a sync", syncs([2]int64{10, 7}, [2]int64{111, 108}), 111, all, "[108,108]"},
		{"inside a stretch of two", syncs([2]int64{10, 7}, [2]int64{111, 108}), 60, all, "[8,108]"},
		{"inside a stretch of many", syncs([2]int64{0, 0}, [2]int64{10, 10}, [2]int64{15, 15}, [2]int64{100, 100}, [2]int64{110, 110}), 12, all, "[1,96]"},
		{"between shifts", syncs([2]int64{10, 7}, [2]int64{111, 112}), 60, all, "[8,112]"},
		{"one past a sync", syncs([2]int64{10, 7}, [2]int64{111, 112}), 11, all, "[8,112]"},
		{"neighbours", syncs([2]int64{10, 7}, [2]int64{11, 9}), 11, all, "[9,9]"},
		{"past the last", syncs([2]int64{10, 7}), 60, Ends{Source: 100, Target: 50}, "[8,50] open"},
		{"past the last, at its end", syncs([2]int64{10, 7}), 11, Ends{Source: 11, Target: 8}, "[8,8] open"},
		{"read again: the newest epoch that begins low enough", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{200, 601}, [2]int64{400, 801}), 300, all, "[602,801]"},
		{"a position before the newest epoch", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{200, 601}), 100, all, "[1,500]"},
		{"the copy was made anew: the old epoch is beyond its end", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{600, 0}, [2]int64{700, 100}), 300, Ends{Source: 1000, Target: 200}, "none"},
		{"the source was made anew", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{0, 501}), 0, Ends{Source: 10, Target: 511}, "[501,501]"},
		{"the same sync twice", syncs([2]int64{10, 7}, [2]int64{10, 7}, [2]int64{20, 17}), 15, all, "[8,17]"},
		{"a record copied twice begins an epoch", syncs([2]int64{10, 7}, [2]int64{10, 8}), 10, all, "[8,8]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := "none"
			if b, ok := index(tc.syncs).Locate(tc.u, tc.ends); ok {
				got = fmt.Sprintf("[%d,%d]", b.Low, b.High)
				if b.Open {
					got += " open"
				}
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// history is a partition's true life: source records with holes between them, the copy with holes of its own (markers), and a
// sync for some records. It may begin anew.
type history struct {
	syncs []translate.Sync
	lives []life
}

type life struct {
	up, down []int64
	syncs    []translate.Sync
}

func draw(t *rapid.T) history {
	var h history
	up, down := rapid.Int64Range(0, 500).Draw(t, "up"), rapid.Int64Range(0, 500).Draw(t, "down")
	hole := rapid.IntRange(0, 40).Draw(t, "holes per 100")
	every := rapid.IntRange(1, 30).Draw(t, "records a sync")
	for range rapid.IntRange(1, 3).Draw(t, "lives") {
		var l life
		for i := range rapid.IntRange(1, 150).Draw(t, "records") {
			l.up, l.down = append(l.up, up), append(l.down, down)
			if i == 0 || rapid.IntRange(1, every).Draw(t, "dice") == 1 {
				s := translate.Sync{Upstream: up, Downstream: down, Offset: int64(len(h.syncs))}
				h.syncs, l.syncs = append(h.syncs, s), append(l.syncs, s)
			}
			up, down = up+1, down+1
			if rapid.IntRange(1, 100).Draw(t, "source hole") <= hole {
				up += rapid.Int64Range(1, 9).Draw(t, "width")
			}
			if rapid.IntRange(1, 100).Draw(t, "target hole") <= hole {
				down += rapid.Int64Range(1, 3).Draw(t, "width")
			}
		}
		h.lives = append(h.lives, l)
		if up = l.up[rapid.IntRange(0, len(l.up)-1).Draw(t, "again from")]; up == l.up[len(l.up)-1] {
			up = l.up[0]
		}
	}
	return h
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

// TestLocateAgainstEverySync: the bound holds the true position, is never narrower than all syncs allow, and is equal to that
// wherever stretches were not merged over.
func TestLocateAgainstEverySync(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := draw(t)
		x := index(h.syncs)
		last := h.lives[len(h.lives)-1]
		ends := Ends{Source: 1 << 40, Target: last.down[len(last.down)-1] + 1}
		if len(x.Epochs()) != len(h.lives) {
			return // a life whose syncs go on from the one before is no epoch of its own
		}
		for i, u := range last.up {
			b, ok := x.Locate(u, ends)
			if !ok {
				t.Fatalf("no bound for %d, first sync %+v", u, last.syncs[0])
			}
			low, high := naive(last.syncs, u, ends.Target)
			if b.Epoch != len(h.lives)-1 || b.Low > low || b.High < high {
				t.Fatalf("%d: %+v, every sync says [%d,%d]", u, b, low, high)
			}
			if truth := last.down[i]; truth < b.Low || truth > b.High {
				t.Fatalf("%d: %+v, its copy is at %d", u, b, truth)
			}
			if low == high && !b.Exact() && !x.epochs[b.Epoch].merged(u) {
				t.Fatalf("%d: %+v, every sync says %d", u, b, low)
			}
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

func TestRangeIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Range{}); n > 32 {
		t.Errorf("a range takes %d bytes, more than 32", n)
	}
}

// BenchmarkLocate looks up in ten million ranges, the worst case of no two syncs of equal shift.
func BenchmarkLocate(b *testing.B) {
	x := &Index{}
	const n = 10_000_000
	for i := range int64(n) {
		x.Add(translate.Sync{Upstream: i * 101, Downstream: i * 102})
	}
	for i := 0; b.Loop(); i++ {
		if _, ok := x.Locate(int64(i)*7919%(n*101), Ends{Source: 1 << 60, Target: 1 << 60}); !ok {
			b.Fatal("not found")
		}
	}
	b.ReportMetric(float64(cap(x.epochs[0].ranges))*float64(unsafe.Sizeof(Range{}))/(1<<20), "MiB")
}
