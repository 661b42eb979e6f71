package match

import (
	"math"

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
		m.built = true
	}
	m.doubts, m.known = nil, known{}
	if !m.o.Reverse {
		for base := -1; base != m.base; {
			base = m.base
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
	if len(m.chain) == 0 {
		return nil
	}
	if x := m.chain[0]; (n == 0 || x.Downstream-m.d.Start > farEnd) && x.Downstream > m.d.Start {
		shifts := []int64{m.s.Start - m.d.Start, x.Upstream - x.Downstream}
		p, ok, err := m.lookUp(m.d.Start, min(m.d.End, m.d.Start+edge), shifts, false)
		if err != nil {
			return quiet(err)
		}
		if ok && p.d.Offset < x.Downstream && p.s.Offset < x.Upstream {
			m.chain = append([]link{{Sync: translate.Sync{Upstream: p.s.Offset, Downstream: p.d.Offset}, found: true}}, m.chain...)
		}
	}
	return nil
}

// whole finds out how far the newest copy has come, and whether an earlier one may have come further: then the newest is still
// going over what was done before, and only the earlier holds everything in order.
func (m *Matcher) whole() error {
	n := len(m.chain)
	if n == m.base {
		return nil
	}
	last := m.chain[n-1]
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
		if y.Upstream <= m.far && room <= 0 || y.Upstream <= m.far && (m.syncsIn(y.Upstream, m.far) >= room || y.Upstream <= few.from && room <= few.n) {
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

// further says that a copy came further than the one that counts; of two that came as far, the later counts.
func (m *Matcher) further(reach int64) bool {
	return reach > m.far || reach == m.far && m.cut < len(m.chain)
}

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

// judge compares the records of a stretch in which a copy may have come further than the newest.
func (m *Matcher) judge(i int, upTo int64) error {
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

// reaches is the last source offset that room records after a link can have come to at most.
func (m *Matcher) reaches(i int, room int64) (int64, error) {
	y := m.chain[i]
	if room > mostRoom {
		if x := m.chain[i+1]; room < x.Upstream-y.Upstream {
			return m.far, nil // as many as on the source: taken for none twice
		}
		return math.MaxInt64, nil
	}
	n := room
	for from := max(y.Upstream+1, m.s.Start); from <= m.far; {
		to := min(m.far+1, from+2*room)
		rs, err := m.all(m.src, from, to, m.keeps())
		if err == errBudget {
			return math.MaxInt64, nil
		}
		if err != nil {
			return 0, err
		}
		if n -= int64(len(rs)); n <= 0 {
			return m.far, nil
		}
		from = to
	}
	// They go beyond: how far, the next records tell.
	if n <= 0 {
		return y.Upstream, nil
	}
	from := max(y.Upstream, m.far) + 1
	rs, err := m.all(m.src, from, min(m.s.End, from+4*n), m.keeps())
	if err == errBudget || err == nil && int64(len(rs)) < n {
		return math.MaxInt64, nil
	}
	if err != nil {
		return 0, err
	}
	return rs[n-1].Offset, nil
}

// block are the last records that the newest copy holds: at least n stand after from, up to its reach.
type block struct{ from, n int64 }

func (m *Matcher) block() (block, error) {
	const want = 256
	from := max(m.s.Start, m.far-2*want)
	rs, err := m.all(m.src, from, m.far+1, m.keeps())
	if err != nil || len(rs) == 0 {
		return block{from: -1}, quiet(err)
	}
	return block{from: rs[0].Offset - 1, n: int64(len(rs))}, nil
}
