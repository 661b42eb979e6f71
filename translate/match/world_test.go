package match

import (
	"math/rand/v2"
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// mem is a side in memory, read in small pages. It counts what is read.
type mem struct {
	rs             []Record
	bounds         Bounds
	page           int
	reads, records int
}

func (m *mem) Bounds() Bounds { return m.bounds }

func (m *mem) Read(from, to int64) ([]Record, int64, error) {
	m.reads++
	i, _ := slices.BinarySearchFunc(m.rs, from, func(r Record, at int64) int { return int(r.Offset - at) })
	j := i
	for ; j < len(m.rs) && m.rs[j].Offset < to; j++ {
		if j-i == m.page {
			m.records += j - i
			return m.rs[i:j:j], m.rs[j].Offset, nil
		}
	}
	m.records += j - i
	return m.rs[i:j:j], to, nil
}

// timed is a side that also answers by time.
type timed struct{ *mem }

func (m timed) OffsetAt(ts int64) (int64, bool, error) {
	m.reads++
	for _, r := range m.rs {
		if r.Time >= ts {
			return r.Offset, true, nil
		}
	}
	return 0, false, nil
}

// world is a partition, its copy as MirrorMaker 2 leaves it, and the truth that the comparison cannot see: origin is the source
// offset of each target record, -1 for one that was not mirrored from the topic as it is now.
type world struct {
	src, dst mem
	timed    bool
	origin   []int64 // by index of dst.rs
	syncs    []translate.Sync
	foreign  bool
	unique   bool // payloads differ
	once     bool // mirrored once, between two topics that were never made anew
	all      bool // every sync is there
	behind   bool // the newest copy has not come as far as an earlier one
	compact  bool
	replaced bool // the source was made anew
	what     string
	mode     Isolation
}

func (w *world) sides() (Side, Side) {
	if w.timed {
		return timed{&w.src}, timed{&w.dst}
	}
	return &w.src, &w.dst
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
	if k >= 0 { // compaction left no copy of them in order: then at least one of each
		last := map[int64]int64{}
		for i, o := range w.origin {
			last[o] = w.dst.rs[i].Offset
		}
		for _, o := range want {
			at = min(at, last[o])
		}
	}
	return at
}

// mirrored counts mirrored records of the target in [from, to).
func (w *world) mirrored(from, to int64) int {
	n := 0
	for i, r := range w.dst.rs {
		if r.Offset >= from && r.Offset < to && w.origin[i] >= 0 && !r.Has(Aborted) {
			n++
		}
	}
	return n
}

// local counts records of others between a place and the last mirrored record before it.
func (w *world) local(at int64) int {
	n := 0
	for i, r := range w.dst.rs {
		switch {
		case r.Offset >= at:
			return n
		case w.origin[i] >= 0:
			n = 0
		case !r.Has(Control):
			n++
		}
	}
	return n
}

// life says what may happen to a world.
type life struct {
	crash bool  // copies that began again, topics made anew
	keep  []int // per cent of the syncs that are left; -1: the newest ones only
}

var anySyncs = []int{100, 100, 30, 10, -1, 0}

// drawWorld lets a source live and MirrorMaker 2 copy it: transactions, holes, compaction and retention on either side, crashes
// after which a stretch is copied again, topics made anew, syncs that get lost, records that are not yet copied.
func drawWorld(g *draw, l life) *world {
	b := builder{g: g, w: &world{once: true}}
	b.payload = pick(g, []string{"unique", "unique", "keyed", "one", "two"})
	b.times = pick(g, []string{"rising", "same", "runs"})
	if b.payload == "one" || b.payload == "two" {
		b.times = pick(g, []string{"rising", "same"})
	}
	b.append = g.between(0, 9) == 0
	b.transform = g.between(0, 9) == 0
	b.w.unique = b.payload == "unique" || b.payload == "keyed" || b.times == "rising" && !b.append
	b.w.mode = pick(g, []Isolation{Uncommitted, Committed})
	b.w.timed = g.between(0, 1) == 1
	b.w.what = b.payload + " " + b.times
	if b.append {
		b.w.what += " append"
	}
	b.txn = g.between(0, 20)
	b.every, b.markers = g.between(1, 40), g.between(0, 15)
	b.w.foreign = g.between(0, 9) == 0
	b.down = pick(g, []int64{0, 0, 0, 137})
	first := b.down
	anew := ""
	if l.crash {
		anew = pick(g, []string{"", "", "", "", "source", "target"})
	}

	if anew == "source" { // what the topic held before is still on the target
		b.source(g.between(1, 150))
		b.mirror(0, g.between(0, len(b.src)))
		for i := range b.w.origin {
			b.w.origin[i] = -1
		}
		b.src, b.off = nil, 0
		b.w.once, b.w.replaced = false, true
	}
	b.source(g.between(1, 300))
	n := len(b.src)
	at := 0
	if g.between(0, 5) == 0 {
		at = g.between(0, n) // mirrored from the middle
	}
	if anew == "target" {
		to := g.between(at, n)
		b.mirror(at, to)
		at, b.down, b.dst, b.w.origin = to, 0, nil, nil
		first = 0
		b.w.once = false
	}
	old := len(b.w.syncs)
	var begins []int64 // of the runs, on the target
	reached := at
	for run := range 3 {
		begins = append(begins, b.down)
		to := g.between(at, n)
		b.mirror(at, to)
		b.w.behind = to < reached
		reached = max(reached, to)
		if run > 0 {
			b.w.once = false
		}
		if !l.crash || g.between(0, 2) > 0 {
			break
		}
		at = g.between(at, to)
	}

	w := b.w
	sourceEnd := b.off
	if b.payload == "keyed" {
		b.src, _ = b.compact(b.src, nil)
		b.dst, w.origin = b.compact(b.dst, w.origin)
	}
	w.src = mem{rs: b.src, page: 100, bounds: Bounds{Stable: sourceEnd, End: sourceEnd}}
	w.dst = mem{rs: b.dst, page: 100, bounds: Bounds{Start: first, Stable: b.down, End: b.down}}
	if g.between(0, 3) == 0 {
		w.src.cut(g.between64(0, sourceEnd))
	}
	if g.between(0, 3) == 0 {
		n := len(b.dst)
		w.dst.cut(g.between64(first, b.down))
		w.origin = w.origin[n-len(w.dst.rs):]
	}
	b.lose(pick(g, l.keep), old, begins, anew != "" && !w.unique)
	return w
}

// builder makes a world.
type builder struct {
	g                      *draw
	w                      *world
	payload, times         string
	append, transform      bool
	txn, every, markers    int
	src, dst               []Record
	off, down              int64
	copied, value, written int
}

func (b *builder) source(n int) {
	g := b.g
	for i := range n {
		b.value++
		r := Record{Offset: b.off, Flags: NullKey, Value: 7}
		switch b.payload {
		case "unique":
			r.Value = uint64(1000 + b.value)
		case "keyed":
			r.Value, r.Key, r.Flags = uint64(1000+b.value), uint64(g.between(0, n/2)), 0
			if g.between(0, 9) == 0 && b.times == "rising" && !b.append {
				r.Value, r.Flags = 0, NullValue
			}
		case "two":
			r.Value = uint64(i % 2)
		}
		switch b.times {
		case "rising":
			r.Time = int64(b.value)
		case "runs":
			r.Time = int64(b.value / 50)
		}
		b.src = append(b.src, r)
		b.off++
		if b.txn > 0 && i%b.txn == b.txn-1 {
			if g.between(0, 3) == 0 {
				for j := len(b.src) - 1; j >= 0 && !b.src[j].Has(Control) && len(b.src)-j <= b.txn; j-- {
					b.src[j].Flags |= Aborted
				}
			}
			b.src = append(b.src, Record{Offset: b.off, Flags: Control})
			b.off++
		}
	}
}

func (b *builder) mirror(from, to int) {
	g, w := b.g, b.w
	fresh := true
	put := func(r Record, origin int64) {
		if b.append {
			r.Flags |= AppendTime
			r.Time = int64(b.written / 3)
		}
		r.Offset = b.down
		b.dst, w.origin = append(b.dst, r), append(w.origin, origin)
		b.down++
		b.written++
	}
	for i := from; i < to; i++ {
		s := b.src[i]
		if s.Has(Control) || w.mode == Committed && s.Has(Aborted) {
			continue
		}
		if w.foreign && g.between(0, 9) == 0 {
			put(Record{Value: uint64(1<<40 + b.down), Flags: NullKey, Time: s.Time}, -1)
		}
		if fresh || g.between(1, b.every) == 1 {
			w.syncs = append(w.syncs, translate.Sync{Upstream: s.Offset, Downstream: b.down})
			fresh = false
		}
		d := s
		d.Flags &^= Aborted
		if b.transform {
			d.Headers = 99
		}
		put(d, s.Offset)
		b.copied++
		if b.markers > 0 && b.copied%b.markers == 0 {
			put(Record{Flags: Control}, -1)
		}
	}
}

// compact leaves the last record of each key up to a point; what lies beyond is not cleaned yet.
func (b *builder) compact(rs []Record, origin []int64) ([]Record, []int64) {
	if len(rs) == 0 || b.g.between(0, 2) == 0 {
		return rs, origin
	}
	b.w.compact = true
	clean := b.g.between(0, len(rs)-1)
	last := map[uint64]int{}
	for i, r := range rs {
		if !r.Has(Control) && !r.Has(Aborted) {
			last[r.Key] = i
		}
	}
	var out []Record
	var from []int64
	for i, r := range rs {
		if i < clean && (!r.Has(Control) && last[r.Key] != i || r.Has(Aborted) || r.Has(Control) && b.g.between(0, 1) == 0) {
			continue
		}
		out = append(out, r)
		if origin != nil {
			from = append(from, origin[i])
		}
	}
	return out, from
}

// lose takes syncs away. A copy that is under way has some of its own and of the one before; fall keeps the fall that shows a
// target made anew, which nothing else tells where all payloads are alike.
func (b *builder) lose(keep, old int, begins []int64, fall bool) {
	w, g := b.w, b.g
	all := w.syncs
	w.all = keep >= 100
	if w.all || len(all) == 0 {
		return
	}
	if keep < 0 || fall {
		most := len(all)
		if fall {
			most = old
		}
		if w.behind {
			most = min(most, old)
		}
		w.syncs = slices.Clone(all[g.between(0, most):])
		return
	}
	for ; ; keep += 5 {
		w.syncs = nil
		kept := make([]bool, len(begins))
		for i, s := range all {
			if g.between(1, 100) > keep {
				continue
			}
			w.syncs = append(w.syncs, s)
			if i >= old {
				for k := range begins {
					if s.Downstream >= begins[k] {
						kept[k] = k+1 == len(begins) || s.Downstream < begins[k+1] || kept[k]
					}
				}
			}
		}
		if !w.behind || keep >= 100 || !slices.Contains(kept, false) {
			return
		}
	}
}

func (m *mem) cut(start int64) {
	m.bounds.Start = start
	m.rs = slices.DeleteFunc(slices.Clone(m.rs), func(r Record) bool { return r.Offset < start })
}

// draw is a source of choices that a seed repeats.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) *draw { return &draw{rand.New(rand.NewPCG(seed, 1))} }

func (g *draw) between(from, to int) int       { return from + g.IntN(to-from+1) }
func (g *draw) between64(from, to int64) int64 { return from + g.Int64N(to-from+1) }

func pick[T any](g *draw, from []T) T { return from[g.IntN(len(from))] }
