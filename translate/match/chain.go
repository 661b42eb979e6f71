package match

import (
	"sort"

	"github.com/mm2doctor/mm2doctor/translate"
)

// link is an offset sync, or a pair of records that was found to be one.
type link struct {
	translate.Sync
	found bool // by comparing records
	state anchorState
	mask  Mask
	known bool
}

// valid takes the syncs that speak of the topics as they are now, in their order. The offsets on the target fall only when that
// topic is made anew, and one at or beyond an end belongs to an earlier topic or to another flow: with it goes everything older,
// and the whole run that it stands in.
func valid(syncs []translate.Sync, sourceEnd, targetEnd int64, reverse bool) []link {
	var out []link
	bad := false
	for i, s := range syncs {
		if i > 0 {
			y := syncs[i-1]
			if y.Upstream == s.Upstream && y.Downstream == s.Downstream {
				continue
			}
			up, down := s.Upstream <= y.Upstream, s.Downstream <= y.Downstream
			if reverse {
				up, down = down, up
			}
			if up || down {
				bad = false
			}
			if down {
				out = out[:0]
			}
		}
		if s.Upstream >= sourceEnd || s.Downstream >= targetEnd {
			bad = true
		}
		if bad {
			out = out[:0]
			continue
		}
		out = append(out, link{Sync: s})
	}
	return out
}

// split finds where a run begins: where S.up falls.
func (m *Matcher) split() {
	m.runs = m.runs[:0]
	m.widest = make([]int64, len(m.chain)+1)
	for i := range m.chain {
		if i == 0 || m.chain[i].Upstream <= m.chain[i-1].Upstream {
			m.runs = append(m.runs, i)
		}
	}
	if n := len(m.chain); n > 0 {
		m.widest[n-1] = m.d.End - m.chain[n-1].Downstream - 1
		for i := n - 2; i >= 0; i-- {
			m.widest[i] = max(m.widest[i+1], m.room(i))
		}
	}
}

// room is how many offsets of the target lie between a link and the next.
func (m *Matcher) room(i int) int64 {
	if i+1 < len(m.chain) {
		return m.chain[i+1].Downstream - m.chain[i].Downstream - 1
	}
	return m.d.End - m.chain[i].Downstream - 1
}

// below is the last link, in the order of the target, at or below a position; -1 without one. Every later one lies above it.
func (m *Matcher) below(u int64, cut int) int {
	for k := len(m.runs) - 1; k >= 0; k-- {
		from, to := max(m.runs[k], m.base), cut
		if k+1 < len(m.runs) {
			to = min(to, m.runs[k+1])
		}
		if from >= to || m.chain[from].Upstream > u {
			continue
		}
		return from + sort.Search(to-from, func(i int) bool { return m.chain[from+i].Upstream > u }) - 1
	}
	return -1
}

// syncsIn counts links of the newest run in (after, upTo]: each is a record of its own that was copied.
func (m *Matcher) syncsIn(after, upTo int64) int64 {
	if len(m.runs) == 0 {
		return 0
	}
	run := m.chain[max(m.runs[len(m.runs)-1], m.base):]
	at := func(v int64) int { return sort.Search(len(run), func(i int) bool { return run[i].Upstream > v }) }
	return max(0, int64(at(upTo)-at(after)))
}

// anchorState is what became of the two records of a sync.
type anchorState uint8

const (
	missing anchorState = iota // one of them is gone: the sync is only a place
	differs                    // both are there and are not the same record
	agrees
)

// anchor looks at the two records of a link, once. One that differs belongs to an earlier topic or to another flow, and with it
// everything older.
func (m *Matcher) anchor(i int) (anchorState, error) {
	x := &m.chain[i]
	if x.known {
		return x.state, nil
	}
	s, sok, err := m.at(m.src, m.s, x.Upstream)
	if err != nil {
		return missing, err
	}
	d, dok := Record{}, false
	if sok {
		if d, dok, err = m.at(m.dst, m.d, x.Downstream); err != nil {
			return missing, err
		}
	}
	x.known = true
	if !sok || !dok {
		return missing, nil
	}
	mask, ok := agreement(s, d, m.o.Reverse)
	if ok && mask&Values == 0 {
		// Values are changed on the way, or it is another record of the same key.
		if sure, err := m.confirmed(s, d, mask); err != nil || !sure {
			return missing, quiet(err)
		}
	}
	if !ok {
		if same, err := m.sameTimes(s, d); err != nil || same {
			return missing, quiet(err)
		}
	}
	x.state, x.mask = agrees, mask
	if !ok {
		x.state = differs
		m.base = max(m.base, i+1)
	}
	return x.state, nil
}

// sameTimes says that the records from two on have the same times, and times of which each stands once: a transformation changed
// what is in them, which does not make them others.
func (m *Matcher) sameTimes(s, d Record) (bool, error) {
	if s.Time != d.Time || d.Has(AppendTime) || s.Has(AppendTime) {
		return false, nil
	}
	ss, ds, err := m.next(s, d)
	if err != nil || len(ss) < fewest || len(ds) < fewest {
		return false, err
	}
	for i := range fewest {
		if ss[i].Time != ds[i].Time || i > 0 && ss[i].Time == ss[i-1].Time {
			return false, nil
		}
	}
	return true, nil
}

// next are the first records of both sides from two on, fewest of each where there are as many.
func (m *Matcher) next(s, d Record) (ss, ds []Record, err error) {
	const few = 64
	if ss, err = m.all(m.src, s.Offset, min(m.s.End, s.Offset+few), m.keeps()); err != nil {
		return nil, nil, err
	}
	ds, err = m.all(m.dst, d.Offset, min(m.d.End, d.Offset+few), committed)
	return ss[:min(len(ss), fewest)], ds[:min(len(ds), fewest)], err
}

// confirmed says that the records after two of the same key go on alike, with keys that differ.
func (m *Matcher) confirmed(s, d Record, mask Mask) (bool, error) {
	ss, ds, err := m.next(s, d)
	if err != nil {
		return false, err
	}
	if len(ss) < fewest || len(ds) < fewest {
		return false, nil
	}
	for i := range ss {
		if mask.of(ss[i]) != mask.of(ds[i]) {
			return false, nil
		}
	}
	return unlike(ss, Keys), nil
}

// trusted says that a link whose records are gone speaks of the topics as they are now: an older one's records agree, or its own
// place lies before the log start, where it decides nothing.
func (m *Matcher) trusted(i int) (bool, error) {
	for k := i; k >= m.base && k > i-tries; k-- {
		st, err := m.anchor(k)
		if err != nil || st == agrees {
			return st == agrees, err
		}
		if st == differs {
			return false, nil
		}
	}
	// Old syncs vanish first, so the oldest that is left is often the only one below: the two ends of the chain vouch for it.
	if st, err := m.anchor(m.base); m.base <= i && (err != nil || st == agrees) {
		return st == agrees, err
	}
	return false, nil
}

// at reads the record of one offset; ok is false where there is none.
func (m *Matcher) at(side Side, b Bounds, offset int64) (r Record, ok bool, err error) {
	if offset < b.Start || offset >= b.End {
		return Record{}, false, nil
	}
	for from := offset; from <= offset; {
		rs, next, err := side.Read(from, offset+1)
		if err != nil {
			return Record{}, false, err
		}
		m.spent += len(rs)
		for _, r := range rs {
			if r.Offset == offset && !r.Has(Control) {
				return r, true, nil
			}
		}
		if next <= from {
			break
		}
		from = next
	}
	return Record{}, false, nil
}
