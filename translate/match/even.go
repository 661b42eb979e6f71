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
