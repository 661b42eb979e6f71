package match

import "slices"

// edge is how many offsets at an end of the target are looked up on the source.
const edge = 96

// leastOfFew is how many records must agree where there are fewer than that: all of them, and more than could by chance.
const leastOfFew = 3

// widths are how far around a guess is searched, in offsets, one after the other.
var widths = []struct{ src, dst int64 }{{96, 256}, {512, 2048}, {1024, 4096}}

// narrow looks for a pair of records near the position where no sync stands near: around places that equal shifts and times
// suggest. Each is only a guess, until records that stand once in both windows agree in their order.
func (m *Matcher) narrow(i, cut int, floor, end int64) (start, bool, error) {
	if m.d.End <= m.d.Start || m.o.Reverse && len(m.chain) > 0 && i < 0 {
		return start{}, false, nil
	}
	var guesses []int64
	add := func(up, down int64) {
		g := min(max(down+m.u-up, floor), end-1)
		if !slices.Contains(guesses, g) {
			guesses = append(guesses, g)
		}
	}
	top := end
	if i >= 0 {
		add(m.chain[i].Upstream, m.chain[i].Downstream)
	}
	next := max(i+1, m.base)
	if next < cut {
		x := m.chain[next]
		add(x.Upstream, x.Downstream)
		if st, err := m.anchor(next); err != nil {
			return start{}, false, err
		} else if st == agrees && !m.o.Reverse {
			top = min(top, x.Downstream+1)
		}
	}
	if i < 0 {
		add(m.s.Start, m.d.Start)
	}
	if cut == len(m.chain) && i+1 == cut {
		add(m.s.End, m.d.End)
	}
	if next < cut && !m.o.Reverse {
		if x, found, err := m.backwards(next, floor); err != nil || found {
			return x, found, quiet(err)
		}
	}
	for k, w := range widths {
		if k == 1 {
			g, ok, err := m.byTime()
			if err != nil {
				return start{}, false, quiet(err)
			}
			if ok {
				guesses = append([]int64{min(max(g, floor), end-1)}, guesses...)
			}
			if ok {
				if x, found, err := m.around(g, widths[0].src, widths[0].dst, floor, top); err != nil || found {
					return x, found, quiet(err)
				}
			}
		}
		for _, g := range guesses {
			if x, found, err := m.around(g, w.src, w.dst, floor, top); err != nil || found {
				return x, found, quiet(err)
			}
		}
	}
	// The long way, from the place of the sync below, or from the start of both logs.
	up, down := m.s.Start, m.d.Start
	if i >= 0 {
		up, down = m.chain[i].Upstream, m.chain[i].Downstream
	}
	t, _, torn, err := m.compare(up, max(down, floor-1), end, m.u, guess, true, nil)
	if err != nil || torn || t.r == nil && t.p == nil {
		return start{}, false, err
	}
	p := t.p
	if p == nil {
		p = t.r
	}
	g := p.d.Offset + m.u - p.s.Offset
	for _, w := range widths {
		if x, found, err := m.around(g, w.src, w.dst, floor, top); err != nil || found {
			return x, found, quiet(err)
		}
	}
	return start{}, false, nil
}

// backwards goes down from the link above the position, record by record without any gap.
func (m *Matcher) backwards(i int, floor int64) (start, bool, error) {
	x := m.chain[i]
	if st, err := m.anchor(i); err != nil || st != agrees || x.Upstream-m.u > near {
		return start{}, false, err
	}
	// What repeats shows only in a stretch that is longer than what is compared.
	ss, err := m.all(m.src, max(m.s.Start, m.u-256), min(m.s.End, x.Upstream+257), m.keeps())
	if err != nil || !unlike(ss, m.chain[i].mask&^HeaderSets) {
		return start{}, false, err
	}
	ss = slices.DeleteFunc(ss, func(r Record) bool { return r.Offset > x.Upstream })
	from := max(m.d.Start, x.Downstream-2*int64(len(ss))-64)
	ds, err := m.all(m.dst, from, x.Downstream+1, committed)
	if err != nil {
		return start{}, false, err
	}
	mask, n := m.chain[i].mask, 0
	for n < len(ss) && n < len(ds) && mask.of(ss[len(ss)-1-n]) == mask.of(ds[len(ds)-1-n]) {
		n++
	}
	for k := 1; k <= n; k++ {
		if s := ss[len(ss)-k]; s.Offset <= m.u {
			return start{up: s.Offset, down: ds[len(ds)-k].Offset, mask: mask, link: -1}, true, nil
		}
	}
	if n > 0 && n == len(ds) && from <= max(floor, m.d.Start) {
		p := pair{ss[len(ss)-n], ds[0]}
		return start{up: p.s.Offset, down: p.d.Offset, mask: mask, link: -1, above: &p}, true, nil
	}
	return start{}, false, nil
}

// byTime asks the target for the time of the record at the position: the first record as late stands at or before the copy.
func (m *Matcher) byTime() (int64, bool, error) {
	x, ok := m.dst.(TimeIndex)
	if !ok {
		return 0, false, nil
	}
	rs, err := m.all(m.src, m.u, min(m.s.End, m.u+edge), m.keeps())
	if err != nil || len(rs) == 0 {
		return 0, false, err
	}
	return x.OffsetAt(rs[0].Time)
}

// around compares the records around the position with those around a guess.
func (m *Matcher) around(g, src, dst, floor, end int64) (start, bool, error) {
	ss, err := m.all(m.src, max(m.s.Start, m.u-src), min(m.s.End, m.u+src), m.keeps())
	if err != nil {
		return start{}, false, err
	}
	ds, err := m.all(m.dst, max(floor-1, m.d.Start, g-dst), min(end, g+dst), committed)
	if err != nil {
		return start{}, false, err
	}
	at := -1
	pairs := m.inOrder(ss, ds)
	if len(pairs) == 0 {
		return start{}, false, nil
	}
	for k, p := range pairs {
		if p.s.Offset > m.u {
			break
		}
		at = k
	}
	p := pairs[max(at, 0)]
	mask, ok := agreement(p.s, p.d, m.o.Reverse)
	if !ok {
		return start{}, false, nil
	}
	x := start{up: p.s.Offset, down: p.d.Offset, mask: mask, link: -1}
	if at < 0 {
		x.above = &p
	}
	return x, true, nil
}

// inOrder gives the pairs of records that stand once in both windows; none unless they stand in the same order on both sides, and
// there are enough of them.
func (m *Matcher) inOrder(ss, ds []Record) []pair {
	if len(ss) == 0 || len(ds) == 0 {
		return nil
	}
	mask := Mask(guess)
	if ds[0].Has(AppendTime) || m.o.Reverse && ss[0].Has(AppendTime) {
		mask &^= Times
	}
	in := mask.index(ss)
	counts := make(map[print]int, len(ds))
	for _, r := range ds {
		counts[mask.of(r)]++
	}
	var pairs []pair
	for _, r := range ds {
		p := mask.of(r)
		x, has := in[p]
		if !has || x.n != 1 || counts[p] != 1 {
			continue
		}
		if n := len(pairs); n > 0 && pairs[n-1].s.Offset >= ss[x.at].Offset {
			return nil
		}
		pairs = append(pairs, pair{ss[x.at], r})
	}
	if len(pairs) >= fewest || len(pairs) >= leastOfFew && len(pairs) == min(len(ss), len(ds)) {
		return pairs
	}
	return nil
}

// lookUp finds the original of a record at an end of the target.
func (m *Matcher) lookUp(from, to int64, shifts []int64, last bool) (pair, bool, error) {
	ds, err := m.all(m.dst, from, to, committed)
	if err != nil || len(ds) == 0 {
		return pair{}, false, err
	}
	var guesses []int64
	for _, s := range shifts {
		guesses = append(guesses, from+s)
	}
	if x, ok := m.src.(TimeIndex); ok && !ds[0].Has(AppendTime) {
		early := ds[0].Time
		for _, r := range ds {
			early = min(early, r.Time)
		}
		if g, ok, err := x.OffsetAt(early); err != nil {
			return pair{}, false, err
		} else if ok {
			guesses = append(guesses, g)
		}
	}
	for _, width := range []int64{256, 2048} {
		for _, g := range guesses {
			ss, err := m.all(m.src, max(m.s.Start, g-width), min(m.s.End, g+edge+width), m.keeps())
			if err != nil {
				return pair{}, false, err
			}
			if pairs := m.inOrder(ss, ds); len(pairs) > 0 {
				if last {
					return pairs[len(pairs)-1], true, nil
				}
				return pairs[0], true, nil
			}
		}
	}
	return pair{}, false, nil
}
