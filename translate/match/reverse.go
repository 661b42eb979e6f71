package match

import (
	"fmt"
	"math"
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// reversed finds the original of a position of a copy. The copy may hold a stretch twice; each of its records has one original,
// and a position in the second stretch goes back to the original of the record that stands there: whoever came into the copy there
// has not read the first.
func (m *Matcher) reversed() (Answer, error) {
	i := m.below(m.u, m.cut)
	low := func(t int64, high int64, why string) (Answer, error) {
		return Answer{T: t, Low: t, High: high, Verdict: Unverified, Anchor: m.sync(i), Why: why}, nil
	}
	x, ok, err := m.start(i)
	if err != nil {
		return Answer{}, err
	}
	if !ok || m.u-x.up > near && m.chain[i].Upstream != m.u {
		y, found, err := m.narrow(i, m.cut, m.d.Start, m.d.End)
		if err != nil {
			return Answer{}, err
		}
		if found && y.above == nil {
			x, ok = y, true
		}
	}
	if !ok {
		return low(m.d.Start, m.d.End, "no record near the position could be matched")
	}
	t, err := m.compareReversed(x)
	if err != nil {
		return Answer{}, err
	}
	switch {
	case t.short || t.lost || t.ambiguous || t.p == nil && t.r == nil:
		return low(m.d.Start, m.d.End, "the records could not be matched up to the position")
	case t.r != nil:
		// The copy's next record must be the one that agrees: what was stepped over may be a stretch that stands there twice.
		rs, err := m.all(m.src, max(m.u, m.s.Start), t.r.s.Offset, committed)
		if err != nil || len(rs) > 0 {
			return m.stepped(t, rs, err)
		}
		alone, even, err := m.proved(x, i, t.r.d)
		if err != nil || !alone && !even {
			a, _ := low(m.d.Start, t.r.d.Offset, "only records that stand more than once agree")
			return a, quiet(err)
		}
		a, _ := exact(t.r.d.Offset, "the original of the record at the position")
		if m.o.Foreign && t.p != nil {
			a.T, a.Low, a.High = t.p.d.Offset+1, t.p.d.Offset+1, t.p.d.Offset+1
		}
		return m.twice(a, i, t.r.s, x.mask, !alone)
	default:
		if rs, err := m.all(m.src, t.p.s.Offset+1, m.s.End, committed); err != nil || len(rs) > 0 {
			if a, ok, err := m.local(t.p.d, rs, err); ok || err != nil {
				return a, err
			}
			a, _ := low(m.d.Start, m.d.End, "records of the copy after the last agreement have no original")
			return a, quiet(err)
		}
		alone, even, err := m.proved(x, i, t.p.d)
		if err != nil || !alone && !even {
			a, _ := low(m.d.Start, m.d.End, "only records that stand more than once agree")
			return a, quiet(err)
		}
		a, _ := exact(t.p.d.Offset+1, "after the original of the last record of the copy")
		return m.twice(a, i, t.p.s, x.mask, !alone)
	}
}

// local is for a topic of one name on both sides: what stands after the last copy, where the original's log ends with that record,
// was written to the copy's side by others, and is not on the other.
func (m *Matcher) local(last Record, rs []Record, err error) (Answer, bool, error) {
	if !m.o.Foreign || err != nil {
		return Answer{}, false, nil
	}
	ds, err := m.all(m.dst, last.Offset+1, m.d.End, committed)
	if err != nil || len(ds) > 0 {
		return Answer{}, false, quiet(err)
	}
	read := 0
	for _, r := range rs {
		if r.Offset < m.u {
			read++
		}
	}
	return Answer{T: m.d.Stable, Low: m.d.Stable, High: m.d.Stable, Verdict: NotMirrored, Uncopied: int64(len(rs)),
		Why: fmt.Sprintf("they stand after the last record that is on both sides (%d of them before the position)", read)}, true, nil
}

// compareReversed walks from the copy: everything that it holds may have an original, also one that was aborted there.
func (m *Matcher) compareReversed(x start) (trail, error) {
	m.skipped = Control
	s, d := m.back(x)
	return walk(s, d, m.u, x.mask, x.strict)
}

func (m *Matcher) back(x start) (s, d *cursor) {
	s = &cursor{side: m.src, next: max(x.up, m.s.Start), end: m.s.End, keep: committed, spent: &m.spent, most: m.most}
	keep := data
	if m.mode == Committed {
		keep = committed
	}
	d = &cursor{side: m.dst, next: max(x.down, m.d.Start), end: m.d.End, keep: keep, spent: &m.spent, most: m.most}
	return s, d
}

// stepped is for a position whose own record was not matched: as many records before the next agreement as the copy has there, or
// right after the one before, whichever is lower.
func (m *Matcher) stepped(t trail, rs []Record, err error) (Answer, error) {
	a := Answer{T: m.d.Start, Low: m.d.Start, High: t.r.d.Offset, Verdict: Unverified, Why: "the copy holds records at the position that could not be matched"}
	if err != nil {
		return a, quiet(err)
	}
	if full, err := m.full(m.src, m.u, t.r.s.Offset); err != nil || !full {
		return a, err
	}
	n := int64(len(rs))
	for from, width := t.r.d.Offset, max(2*n, 64); from > m.d.Start && width < 1<<15; width *= 2 {
		from = max(m.d.Start, t.r.d.Offset-width)
		ds, err := m.all(m.dst, from, t.r.d.Offset, committed)
		if err != nil {
			return a, quiet(err)
		}
		if int64(len(ds)) >= n {
			a.T = ds[int64(len(ds))-n].Offset
			break
		}
	}
	if t.p != nil {
		a.T = min(a.T, t.p.d.Offset+1)
	}
	a.Low, a.Verdict = a.T, Ambiguous
	return a, nil
}

// alone says that no other original around looks like this one.
func (m *Matcher) alone(r Record, mask Mask) (bool, error) {
	const around = 256
	rs, err := m.all(m.dst, max(m.d.Start, r.Offset-around), min(m.d.End, r.Offset+around), data)
	if err != nil {
		return false, err
	}
	n := 0
	for _, x := range rs {
		if mask.of(x) == mask.of(r) {
			n++
		}
	}
	return n == 1, nil
}

// proved says that a walk's last original stands alone, or that the walk goes on record by record to the next sync above the position,
// or to both ends at once, so that records that are alike on the way are told by their number.
func (m *Matcher) proved(x start, i int, r Record) (alone, even bool, err error) {
	if alone, err = m.alone(r, x.mask); err != nil || alone {
		return alone, false, err
	}
	if x.link < 0 || x.strict || m.o.Foreign || !m.noMore() {
		return false, false, nil
	}
	to := int64(math.MaxInt64)
	if i+1 < len(m.chain) {
		st, err := m.anchor(i + 1)
		if err != nil || st != agrees || m.chain[i+1].Downstream <= m.chain[x.link].Downstream {
			return false, false, err
		}
		to = m.chain[i+1].Upstream
	}
	s, d := m.back(x)
	t, err := walk(s, d, to, x.mask, false)
	if err != nil || t.short || t.passed > 0 || t.lost || t.extra > 0 {
		return false, false, err
	}
	if i+1 < len(m.chain) {
		even = t.r != nil && t.r.s.Offset == to && t.r.d.Offset == m.chain[i+1].Downstream
	} else {
		_, more, err := s.peek(0)
		if even = err == nil && !more; err != nil {
			return false, false, quiet(err)
		}
	}
	if !even {
		return false, false, nil
	}
	even, err = m.telling(x, i, min(to, m.s.End))
	return false, even, quiet(err)
}

// telling says that the records that went along, though none stands alone, are those of no other topic: they do not repeat
// themselves, or have times of which more than one agrees. Copies of a topic that was made anew since, with records that differ in
// nothing, agree by their number just as well, and what stands at that number now was never read.
func (m *Matcher) telling(x start, i int, to int64) (bool, error) {
	rs, err := m.all(m.src, max(x.up, m.s.Start), to, committed)
	if err != nil {
		return false, err
	}
	mask := x.mask &^ HeaderSets
	if !periodic(rs, mask) {
		return true, nil
	}
	if mask&Times == 0 || len(rs) == 0 {
		return false, nil
	}
	for k := max(m.base, i-tries); k <= min(i+tries, len(m.chain)-1); k++ {
		st, err := m.anchor(k)
		if err != nil {
			return false, err
		}
		if st != agrees || m.chain[k].mask&Times == 0 {
			continue
		}
		r, ok, err := m.at(m.src, m.s, m.chain[k].Upstream)
		if err != nil || ok && r.Time != rs[0].Time {
			return err == nil, err
		}
	}
	return slices.ContainsFunc(rs, func(r Record) bool { return r.Time != rs[0].Time }), nil
}

// periodic says that records repeat themselves with a period of at most half their number, or are too few or too much alike to tell.
func periodic(rs []Record, mask Mask) bool {
	n := len(rs)
	if n < fewest || len(mask.index(rs)) < leastOfFew {
		return true
	}
	// border[i] is how long the longest beginning is that also ends the first i+1 records, as in searching for words.
	border := make([]int, n)
	for i := 1; i < n; i++ {
		k := border[i-1]
		for k > 0 && mask.of(rs[i]) != mask.of(rs[k]) {
			k = border[k-1]
		}
		if mask.of(rs[i]) == mask.of(rs[k]) {
			k++
		}
		border[i] = k
	}
	return n-border[n-1] <= n/2
}

// noMore says that the syncs go on without a fall, and that the copy holds no more offsets than the original from each to the next and
// after the newest: nothing can stand on the copy twice, but for holes that make up for it.
func (m *Matcher) noMore() bool {
	var last translate.Sync
	for i, x := range append(slices.Clone(m.syncs), translate.Sync{Upstream: m.s.End, Downstream: m.d.End}) {
		if i > 0 || m.s.Start == 0 && m.d.Start == 0 { // else what stood before is not known
			up, down := x.Upstream-last.Upstream, x.Downstream-last.Downstream
			if up < 0 || up > down || down > 0 && up == 0 && i > 0 && i < len(m.syncs) {
				return false
			}
		}
		last = x
	}
	return m.base == 0
}

// twice takes "exact" back where the copy holds the record of the answer before the position already.
func (m *Matcher) twice(a Answer, i int, own Record, mask Mask, alike bool) (Answer, error) {
	gap := m.s.End - m.s.Start // how far apart the two can stand without a fall in the syncs
	if i >= m.base && len(m.chain) > m.base {
		gap = max(m.chain[m.base].Upstream-m.s.Start, m.s.End-m.chain[len(m.chain)-1].Upstream)
	}
	again := false
	for k := m.base; k <= i; k++ {
		again = again || k < i && m.chain[k].Downstream >= a.T
		if k > m.base {
			gap = max(gap, m.chain[k].Upstream-m.chain[k-1].Upstream)
		}
	}
	if !alike && !again { // what is alike was proved by its number already
		from := max(m.s.Start, own.Offset-min(gap, mostRoom)-1)
		rs, err := m.all(m.src, from, own.Offset, committed)
		if err != nil && err != errBudget {
			return a, err
		}
		again = err != nil || slices.ContainsFunc(rs, func(r Record) bool { return mask.of(r) == mask.of(own) })
	}
	if again {
		a.Verdict, a.Why = Ambiguous, "the copy may hold this stretch twice; the lower place skips nothing"
	}
	return a, nil
}
