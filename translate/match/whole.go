package match

import "math"

// whole finds out how far the newest copy has come, and whether an earlier one may have come further: then the newest is still
// going over what was done before, and only the earlier holds everything in order.
func (m *Matcher) whole() error {
	n := len(m.chain)
	if n == m.base {
		return nil
	}
	last := m.chain[n-1]
	m.past = false
	if last.Upstream < m.s.Start {
		// Of what the syncs speak of, the source holds nothing any more.
		m.far = m.s.Start - 1
		past, err := m.nothingLater()
		if err != nil && err != errBudget {
			return err
		}
		if m.past = past && err == nil; m.past {
			return nil
		}
	}
	m.far, m.farSure = last.Upstream, false
	st, err := m.anchor(n - 1)
	if err != nil || st == differs {
		return err
	}
	if st == agrees {
		t, other, torn, err := m.compare(last.Upstream, last.Downstream, m.d.End, math.MaxInt64, m.chain[n-1].mask, false, nil)
		if err != nil {
			return err
		}
		if err := m.overhang(t, other, torn); err != nil && err != errBudget {
			return err
		}
		if t.p != nil && (!torn || other.p != nil) {
			m.far = t.p.s.Offset
			if torn {
				m.far = min(m.far, other.p.s.Offset)
			}
			m.farSure = !t.ambiguous && !torn && !t.short && !t.lost && t.extra == 0
			if !t.ambiguous && !torn {
				sure, err := m.nothingLater()
				if err != nil && err != errBudget {
					return err
				}
				if sure && err == nil {
					return nil
				}
			}
		}
	}
	return m.earlier()
}

// nothingLater says that no copy of a source record beyond the newest copy's reach stands on the target: the source holds none
// there, or none of the target has a time as late.
func (m *Matcher) nothingLater() (bool, error) {
	held, err := m.all(m.src, m.far+1, min(m.s.End, m.far+1+edge), func(Record) bool { return true })
	if err != nil {
		return false, err
	}
	early, hole := int64(math.MaxInt64), false
	next := m.far + 1
	for _, r := range held {
		hole = hole || r.Offset != next
		next = r.Offset + 1
		if !r.Has(Control) {
			early = min(early, r.Time)
		}
	}
	if early == math.MaxInt64 {
		return !hole && next == m.s.End, nil
	}
	x, ok := m.dst.(TimeIndex)
	if !ok || hole {
		return false, nil
	}
	rs, err := m.all(m.dst, max(m.d.Start, m.d.End-1), m.d.End, data)
	if err != nil || len(rs) == 0 || rs[0].Has(AppendTime) {
		return false, err
	}
	_, found, err := x.OffsetAt(early)
	return !found && err == nil, err
}

// earlier looks for copies that came further than the newest, at each place where one may have ended: the target must hold enough
// records there.
func (m *Matcher) earlier() error {
	few, err := m.block()
	if err != nil {
		return err
	}
	for i := m.base; i+1 < len(m.chain); i++ {
		if m.spent >= m.most {
			m.take(i, math.MaxInt64, false)
			return nil
		}
		y, room := m.chain[i], m.room(i)
		lim := m.passed()
		if y.Upstream <= lim && (room <= 0 || m.syncsIn(y.Upstream, lim) >= room || few.after(y.Upstream, lim) >= room) {
			continue
		}
		upTo, err := m.reaches(i, room)
		if err != nil {
			return err
		}
		if !m.further(upTo) {
			continue
		}
		if err := m.judge(i, upTo); err != nil {
			return err
		}
	}
	return nil
}

// passed is how far a copy may have come without mattering: of two that came as far, the later counts.
func (m *Matcher) passed() int64 {
	if m.cut < len(m.chain) {
		return m.far - 1
	}
	return m.far
}

func (m *Matcher) further(reach int64) bool { return reach > m.passed() }

// take makes an earlier copy the one that counts, up to where the next begins.
func (m *Matcher) take(i int, reach int64, proved bool) {
	if !proved {
		m.doubts = append(m.doubts, doubt{i + 1, reach})
		return
	}
	m.far, m.cut, m.end = reach, i+1, m.chain[i+1].Downstream
	keep := m.doubts[:0]
	for _, x := range m.doubts {
		if x.upTo > reach {
			keep = append(keep, x)
		}
	}
	m.doubts = keep
}

// overhang looks at what the target holds beyond the walk from its newest sync to the source's end. Where records of the source are
// alike, the syncs may then be those of another flow with the same records, or a later copy lost its own: each place may be too low.
func (m *Matcher) overhang(t, other trail, torn bool) error {
	n := t.extra
	if torn {
		n = min(n, other.extra)
	}
	if n == 0 || m.o.Foreign {
		return nil
	}
	at := m.chain[len(m.chain)-1]
	rs, err := m.all(m.src, max(m.s.Start, at.Upstream-256), min(m.s.End, at.Upstream+mostRoom), m.keeps())
	if err != nil {
		m.tail = int64(n) // not seen to be unlike
		return err
	}
	mask := at.mask &^ HeaderSets
	if !unlike(rs, mask) {
		m.tail = int64(n)
	}
	return nil
}
