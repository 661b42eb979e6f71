package match

import "math"

// mostEven is how many offsets of each side are compared to find that as many records stand on both.
const mostEven = 1 << 14

// even says whether the two logs go along from their first offset to the first sync, or to their ends.
type even struct {
	known, ok bool
	mask      Mask
}

// evenly is for records that differ in nothing, below all syncs: where both logs are whole from their first offset on, and go along
// record by record up to the first sync, or up to both ends at once, none is left out on the way and none stands there twice.
func (m *Matcher) evenly() (start, bool, error) {
	x := start{up: m.s.Start, down: m.d.Start, mask: m.even.mask, link: -1}
	if m.even.known {
		return x, m.even.ok, nil
	}
	m.even.known = true
	up, down, last := m.s.End, m.d.End, true
	if m.base < len(m.chain) {
		if st, err := m.anchor(m.base); err != nil || st != agrees {
			return x, false, err
		}
		up, down, last = m.chain[m.base].Upstream, m.chain[m.base].Downstream, false
	}
	if m.o.Foreign || m.o.Reverse || m.s.Start > 0 || m.d.Start > 0 || up > mostEven || down > mostEven || up < leastEven || m.d.Stable < m.d.End {
		return x, false, nil
	}
	for _, s := range []struct {
		side Side
		to   int64
	}{{m.src, up}, {m.dst, down}} {
		if rs, err := m.all(s.side, 0, s.to, func(Record) bool { return true }); err != nil || int64(len(rs)) != s.to {
			return x, false, err
		}
	}
	s, ok, err := m.at(m.src, m.s, 0)
	if err != nil || !ok {
		return x, false, err
	}
	d, ok, err := m.at(m.dst, m.d, 0)
	if err != nil || !ok {
		return x, false, err
	}
	if m.even.mask, ok = agreement(s, d, false); !ok {
		return x, false, nil
	}
	x.mask = m.even.mask
	if last {
		t, _, torn, err := m.compare(0, 0, down, math.MaxInt64, x.mask, false, nil)
		if err != nil || torn || !t.smooth() {
			return x, false, err
		}
		rest, err := m.all(m.src, t.p.s.Offset+1, m.s.End, m.keeps())
		m.even.ok = err == nil && len(rest) == 0 && t.extra == 0
		return x, m.even.ok, err
	}
	t, _, torn, err := m.compare(0, 0, down+1, up, x.mask, false, nil)
	m.even.ok = err == nil && !torn && t.smooth() && t.r != nil && t.r.s.Offset == up && t.r.d.Offset == down
	return x, m.even.ok, err
}

// leastEven is how many records must go along.
const leastEven = 64

// level is for a position right above the target's log start, below which the copy of the sync's record is gone: where the sync
// above has the same shift, the source holds a record at each offset between the two and the target at each that is left, they stand
// beside each other.
func (m *Matcher) level(i, cut int) (start, bool, error) {
	if i < m.base || i < 0 || i+1 >= cut || m.o.Foreign || m.o.Reverse {
		return start{}, false, nil
	}
	x, y := m.chain[i], m.chain[i+1]
	shift := y.Downstream - y.Upstream
	up := m.d.Start - shift
	if x.Downstream-x.Upstream != shift || x.Downstream >= m.d.Start || x.Upstream < m.s.Start || m.u < up || y.Upstream <= m.u || y.Upstream-x.Upstream > mostRoom {
		return start{}, false, nil
	}
	if st, err := m.anchor(i + 1); err != nil || st != agrees {
		return start{}, false, err
	}
	for _, s := range []struct {
		side     Side
		from, to int64
	}{{m.src, x.Upstream, y.Upstream}, {m.dst, m.d.Start, y.Downstream}} {
		if rs, err := m.all(s.side, s.from, s.to, committed); err != nil || int64(len(rs)) != s.to-s.from {
			return start{}, false, err
		}
	}
	return start{up: up, down: m.d.Start, mask: m.chain[i+1].mask, link: -1}, true, nil
}
