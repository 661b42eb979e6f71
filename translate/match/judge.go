package match

import (
	"math"
	"slices"
	"sort"
)

// judge compares the records of a stretch in which a copy may have come further than the newest.
func (m *Matcher) judge(i int, upTo int64) error {
	if ok, err := m.explained(i); ok || err != nil && err != errBudget {
		return err
	}
	if ok, err := m.single(i); ok || err != nil && err != errBudget {
		return err
	}
	st, err := m.anchor(i)
	if err != nil || st == differs {
		return err
	}
	if st == agrees {
		y := m.chain[i]
		t, _, torn, err := m.compare(y.Upstream, y.Downstream, m.chain[i+1].Downstream, math.MaxInt64, y.mask, false, nil)
		if err != nil {
			return err
		}
		if !torn && !t.ambiguous && !t.short && !t.lost {
			reach := y.Upstream
			if t.p != nil {
				reach = t.p.s.Offset
			}
			rs, err := m.all(m.dst, y.Downstream, m.chain[i+1].Downstream, committed)
			if err != nil {
				m.take(i, upTo, false)
				return quiet(err)
			}
			single := unlike(rs, y.mask&^HeaderSets)
			if t.extra == 0 && single && m.farSure {
				if m.further(reach) {
					m.take(i, reach, true)
				}
				return nil
			}
		}
	}
	m.take(i, upTo, false)
	return nil
}

// explained says that each record of the target between a link and the next is the copy of a source record that the newest copy
// has come past.
func (m *Matcher) explained(i int) (bool, error) {
	y, x := m.chain[i], m.chain[i+1]
	from := max(m.d.Start, y.Downstream)
	if y.Upstream > m.passed() || x.Downstream-from > mostRoom {
		return false, nil
	}
	ds, err := m.all(m.dst, from, x.Downstream, committed)
	if err != nil || len(ds) == 0 {
		return err == nil, err
	}
	reach := max(x.Upstream, y.Upstream+2*m.room(i)) + 1
	if m.far-y.Upstream > 2*mostRoom {
		reach = min(reach, y.Upstream+2*mostRoom)
	} else {
		reach = max(reach, m.far+1)
	}
	ss, err := m.all(m.src, max(m.s.Start, min(y.Upstream, x.Upstream)-512), min(m.s.End, reach+256), data)
	if err != nil {
		return false, err
	}
	mask := Mask(guess)
	if ds[0].Has(AppendTime) {
		mask &^= Times
	}
	in := make(map[print]seen, len(ss))
	for _, r := range ss {
		p := mask.of(r)
		x := in[p]
		in[p] = seen{int(r.Offset), x.n + 1}
	}
	for _, r := range ds {
		if x := in[mask.of(r)]; x.n != 1 || int64(x.at) > m.passed() {
			return false, nil
		}
	}
	return true, nil
}

// single says that the record of the next link stands on the target once: a copy that had come further would hold it too, between
// the two links. A compacted target would have lost it there, so nothing may be missing.
func (m *Matcher) single(i int) (bool, error) {
	y, x := m.chain[i], m.chain[i+1]
	if y.Downstream < m.d.Start || x.Upstream <= y.Upstream || x.Upstream > m.far || x.Downstream-y.Downstream > mostRoom {
		return false, nil
	}
	rs, err := m.all(m.dst, y.Downstream, x.Downstream+1, func(Record) bool { return true })
	if err != nil || int64(len(rs)) != x.Downstream-y.Downstream+1 {
		return false, err
	}
	mask := Keys | Values
	if !rs[0].Has(AppendTime) {
		mask |= Times
	}
	rs = slices.DeleteFunc(rs, func(r Record) bool { return !committed(r) })
	return len(rs) > 0 && rs[len(rs)-1].Offset == x.Downstream && unlike(rs, mask), nil
}

// reaches is the last source offset that room records after a link can have come to at most.
func (m *Matcher) reaches(i int, room int64) (int64, error) {
	y := m.chain[i]
	if room > mostRoom {
		if x := m.chain[i+1]; room < x.Upstream-y.Upstream {
			return m.passed(), nil // as many as on the source: taken for none twice
		}
		return math.MaxInt64, nil
	}
	n, lim := room, m.passed()
	for from := max(y.Upstream+1, m.s.Start); from <= lim; {
		to := min(lim+1, from+2*room)
		rs, err := m.all(m.src, from, to, m.keeps())
		if err == errBudget {
			return math.MaxInt64, nil
		}
		if err != nil {
			return 0, err
		}
		if n -= int64(len(rs)); n <= 0 {
			return lim, nil
		}
		from = to
	}
	// They go beyond: how far, the next records tell.
	if n <= 0 {
		return y.Upstream, nil
	}
	from := max(y.Upstream, lim) + 1
	rs, err := m.all(m.src, from, min(m.s.End, from+4*n), m.keeps())
	if err == errBudget || err == nil && int64(len(rs)) < n {
		return math.MaxInt64, nil
	}
	if err != nil {
		return 0, err
	}
	return rs[n-1].Offset, nil
}

// block are offsets of the last records that the newest copy holds, ascending, up to its reach.
type block []int64

func (m *Matcher) block() (block, error) {
	const want = 512
	rs, err := m.all(m.src, max(m.s.Start, m.far-want), m.far+1, m.keeps())
	if err != nil {
		return nil, quiet(err)
	}
	b := make(block, len(rs))
	for i, r := range rs {
		b[i] = r.Offset
	}
	return b, nil
}

// after is how many of them stand after an offset and up to another, at least.
func (b block) after(offset, upTo int64) int64 {
	i := sort.Search(len(b), func(i int) bool { return b[i] > offset })
	j := sort.Search(len(b), func(i int) bool { return b[i] > upTo })
	return int64(max(0, j-i))
}
