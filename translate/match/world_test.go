package match

import (
	"math/rand/v2"
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// mem is a side in memory, read in small pages.
type mem struct {
	rs     []Record
	bounds Bounds
	page   int
}

func (m *mem) Bounds() Bounds { return m.bounds }

func (m *mem) Read(from, to int64) ([]Record, int64, error) {
	i, _ := slices.BinarySearchFunc(m.rs, from, func(r Record, at int64) int { return int(r.Offset - at) })
	var out []Record
	for ; i < len(m.rs) && m.rs[i].Offset < to; i++ {
		if len(out) == m.page {
			return out, m.rs[i].Offset, nil
		}
		out = append(out, m.rs[i])
	}
	return out, to, nil
}

// world is a partition, its copy as MirrorMaker 2 leaves it, and the truth that the comparison cannot see: origin is the source
// offset of each target record, -1 for one that was not mirrored.
type world struct {
	src, dst mem
	origin   []int64 // by index of dst.rs
	syncs    []translate.Sync
	foreign  bool
	unique   bool // payloads differ
	repeats  bool
	behind   bool // the second copy has not come as far as the first
	compact  [2]bool
	lost     bool // the syncs of a whole copy are gone
	what     string
	mode     Isolation
}

// truth is the greatest position at or after which the copies of all mirrored records at or above u stand in order.
func (w *world) truth(u int64) int64 {
	var want []int64
	seen := map[int64]bool{}
	for i, o := range w.origin {
		if o >= u && !w.dst.rs[i].Has(Aborted) && !seen[o] {
			seen[o] = true
			want = append(want, o)
		}
	}
	slices.Sort(want)
	at := w.dst.bounds.End
	k := len(want) - 1
	for i := len(w.dst.rs) - 1; i >= 0 && k >= 0; i-- {
		if w.origin[i] == want[k] && !w.dst.rs[i].Has(Aborted) {
			at = w.dst.rs[i].Offset
			k--
		}
	}
	return at
}

// between counts mirrored records of the target in [from, to).
func (w *world) mirrored(from, to int64) int {
	n := 0
	for i, r := range w.dst.rs {
		if r.Offset >= from && r.Offset < to && w.origin[i] >= 0 && !r.Has(Aborted) {
			n++
		}
	}
	return n
}

// drawWorld lets a source live and MirrorMaker 2 copy it: transactions, holes, compaction and retention on either side, a crash
// after which a stretch is copied again, syncs that get lost, records that are not yet copied.
func drawWorld(g *draw, crash bool) *world {
	w := &world{unique: true}
	payload := pick(g, []string{"unique", "unique", "unique", "one", "two"})
	w.unique = payload == "unique"
	times := pick(g, []string{"rising", "same", "runs"})
	if !w.unique {
		times = pick(g, []string{"rising", "same"})
		w.unique = times == "rising"
	}
	txn := g.between(0, 20)
	w.mode = pick(g, []Isolation{Uncommitted, Committed})
	n := g.between(1, 300)
	off := int64(0)
	var src []Record
	for i := 0; i < n; i++ {
		r := Record{Offset: off, Flags: NullKey, Value: 7}
		switch payload {
		case "unique":
			r.Value = uint64(1000 + i)
		case "two":
			r.Value = uint64(i % 2)
		}
		switch times {
		case "rising":
			r.Time = int64(i)
		case "runs":
			r.Time = int64(i / 50)
		}
		src = append(src, r)
		off++
		if txn > 0 && i%txn == txn-1 {
			if g.between(0, 3) == 0 {
				for j := len(src) - 1; j >= 0 && !src[j].Has(Control) && len(src)-j <= txn; j-- {
					src[j].Flags |= Aborted
				}
			}
			src = append(src, Record{Offset: off, Flags: Control})
			off++
		}
	}
	sourceEnd := off
	w.what = payload + " " + times

	var dst []Record
	down := pick(g, []int64{0, 0, 0, 137})
	first := down
	every := g.between(1, 40)
	markers := g.between(0, 15)
	w.foreign = g.between(0, 9) == 0
	copied := 0
	mirror := func(from, to int) {
		fresh := true
		for i := from; i < to; i++ {
			s := src[i]
			if s.Has(Control) || w.mode == Committed && s.Has(Aborted) {
				continue
			}
			if w.foreign && g.between(0, 9) == 0 {
				dst, w.origin = append(dst, Record{Offset: down, Value: uint64(1<<40 + down), Flags: NullKey, Time: s.Time}), append(w.origin, -1)
				down++
			}
			d := s
			d.Offset, d.Flags = down, d.Flags&^Aborted
			dst, w.origin = append(dst, d), append(w.origin, s.Offset)
			if fresh || g.between(1, every) == 1 {
				w.syncs = append(w.syncs, translate.Sync{Upstream: s.Offset, Downstream: down})
				fresh = false
			}
			down++
			copied++
			if markers > 0 && copied%markers == 0 {
				dst, w.origin = append(dst, Record{Offset: down, Flags: Control}), append(w.origin, -1)
				down++
			}
		}
	}
	second := int64(-1)
	upTo := g.between(0, len(src))
	if crash && g.between(0, 2) == 0 {
		again := g.between(0, upTo)
		mirror(0, upTo)
		to := g.between(again, len(src))
		w.repeats, w.behind = again < upTo, to < upTo
		second = down
		mirror(again, to)
	} else {
		mirror(0, upTo)
	}

	// Records that are alike have one key, or none: a compacted topic would keep the last of them, or take none.
	if payload == "unique" && g.between(0, 3) == 0 {
		p := g.between(1, 80)
		w.compact[0] = true
		src = slices.DeleteFunc(src, func(r Record) bool {
			return r.Offset < sourceEnd-1 && g.between(1, 100) <= p
		})
	}
	if payload == "unique" && g.between(0, 3) == 0 {
		p := g.between(1, 80)
		w.compact[1] = true
		var d []Record
		var o []int64
		for i, r := range dst {
			if r.Offset == down-1 || g.between(1, 100) > p {
				d, o = append(d, r), append(o, w.origin[i])
			}
		}
		dst, w.origin = d, o
	}
	w.src = mem{rs: src, page: 100, bounds: Bounds{Stable: sourceEnd, End: sourceEnd}}
	w.dst = mem{rs: dst, page: 100, bounds: Bounds{Start: first, Stable: down, End: down}}
	if g.between(0, 3) == 0 {
		w.src.cut(g.between64(0, sourceEnd))
	}
	if g.between(0, 3) == 0 {
		n := len(dst)
		w.dst.cut(g.between64(first, down))
		w.origin = w.origin[n-len(w.dst.rs):]
	}
	if keep := pick(g, []int{100, 100, 30, 8, 0}); keep < 100 {
		all := w.syncs
		for ok := false; !ok; { // one that is under way has its syncs
			w.syncs = slices.DeleteFunc(slices.Clone(all), func(translate.Sync) bool { return g.between(1, 100) > keep })
			w.lost = w.repeats && (!w.hasSync(-1, second) || !w.hasSync(second, w.dst.bounds.End))
			ok = !w.lost || !w.behind || keep >= 100
			keep += 5
		}
	}
	return w
}

func (w *world) hasSync(from, to int64) bool {
	return slices.ContainsFunc(w.syncs, func(s translate.Sync) bool { return s.Downstream >= from && s.Downstream < to })
}

func (m *mem) cut(start int64) {
	m.bounds.Start = start
	m.rs = slices.DeleteFunc(m.rs, func(r Record) bool { return r.Offset < start })
}

// draw is a source of choices that a seed repeats.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) *draw { return &draw{rand.New(rand.NewPCG(seed, 1))} }

func (g *draw) between(from, to int) int       { return from + g.IntN(to-from+1) }
func (g *draw) between64(from, to int64) int64 { return from + g.Int64N(to-from+1) }

func pick[T any](g *draw, from []T) T { return from[g.IntN(len(from))] }
