package match

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// mostPrepare is how many records may be read for one fact of the whole partition.
const mostPrepare = 16384

// prepare finds out what holds for the whole partition: which syncs speak of it, its ends, and whether the newest copy has come
// as far as any before.
func (m *Matcher) prepare() error {
	if m.ready {
		return nil
	}
	m.spent, m.most = 0, min(m.o.Most, mostPrepare)
	if !m.built {
		m.chain = valid(m.syncs, m.s.End, m.d.End, m.o.Reverse)
		m.base, m.borders, m.far = 0, map[int]border{}, -1
		m.split()
		m.cut, m.end = len(m.chain), m.d.End
		if !m.o.Reverse {
			if err := m.ends(); err != nil {
				return err
			}
		}
		m.built, m.firstOf = true, -1
	}
	m.doubts, m.known, m.heads, m.even, m.tail = nil, known{}, head{}, even{}, 0
	if !m.o.Reverse {
		for base := -1; base != m.base; {
			base = m.base
			if m.firstOf != base {
				if err := m.firsts(); err != nil {
					return err
				}
				m.firstOf = base
			}
			m.cut, m.end, m.doubts = len(m.chain), m.d.End, nil
			if err := m.whole(); err != nil {
				return err
			}
		}
	}
	m.ready = true
	return nil
}

// farEnd is how far from the target's ends the first and the last sync may lie before pairs of records are looked for there.
const farEnd = 1024

// ends looks the first and the last records of the target up on the source where no sync stands near, or the newest has lost its
// records. These pairs serve as syncs.
func (m *Matcher) ends() error {
	n := len(m.chain)
	defer func() {
		m.cut = len(m.chain)
		m.split()
	}()
	if m.d.End <= m.d.Start || m.s.End <= m.s.Start {
		return nil
	}
	far := n == 0 || m.d.End-m.chain[n-1].Downstream > farEnd
	if !far {
		st, err := m.anchor(n - 1)
		if err != nil {
			return err
		}
		far = st == missing
	}
	if far {
		shifts := []int64{m.s.End - m.d.End}
		if n > 0 {
			x := m.chain[n-1]
			shifts = append(shifts, x.Upstream-x.Downstream)
		}
		p, ok, err := m.lookUp(max(m.d.Start, m.d.End-edge), m.d.End, shifts, true)
		if err != nil {
			return quiet(err)
		}
		if ok && (n == 0 || p.d.Offset > m.chain[n-1].Downstream) {
			m.chain = append(m.chain, link{Sync: translate.Sync{Upstream: p.s.Offset, Downstream: p.d.Offset}, found: true})
		}
	}
	return nil
}

// firsts looks the first records of the target up on the source where no sync counts, where the first that does stands far from
// them, or where the source holds much more before it than the target: a position may lie before the first copy.
func (m *Matcher) firsts() error {
	n := len(m.chain)
	if n == 0 || m.d.End <= m.d.Start || m.s.End <= m.s.Start {
		return nil
	}
	shifts := []int64{m.s.Start - m.d.Start, m.chain[n-1].Upstream - m.chain[n-1].Downstream}
	if m.base < n {
		x := m.chain[m.base]
		up, down := x.Upstream-m.s.Start, x.Downstream-m.d.Start
		if down <= 0 || !x.found && down <= farEnd && up <= 2*down+512 {
			return nil
		}
		shifts[1] = x.Upstream - x.Downstream
	}
	p, ok, err := m.lookUp(m.d.Start, min(m.d.End, m.d.Start+edge), shifts, false)
	if err != nil || !ok {
		return quiet(err)
	}
	if m.base == n || p.d.Offset < m.chain[m.base].Downstream && p.s.Offset < m.chain[m.base].Upstream {
		m.chain = slices.Insert(m.chain, m.base, link{Sync: translate.Sync{Upstream: p.s.Offset, Downstream: p.d.Offset}, found: true})
		m.borders = map[int]border{}
		m.split()
	}
	return nil
}
