package match

import (
	"cmp"
	"slices"
)

// mostHead is how many offsets of the target are read whose originals are gone.
const mostHead = 1 << 14

// head is what stands on the target before the copy of the first record that the source still holds.
type head struct {
	cut   int
	known bool
	ok    bool     // that copy is proved
	at    pair     // it, and its original
	from  int64    // read from here on
	sound int64    // from here on no two are alike, none is one that the source still holds, and no offset is without a record
	dense bool     // the source holds a record at each offset from its start on, as far as was looked
	rs    []Record // those of them that are copies, ascending
}

// original is for a position whose record is gone on the source: the syncs around it bound the place, and so does counting the
// records before the copy of the first record left, where nothing stands there twice.
func (m *Matcher) original(i, cut int, end, floor int64, trust bool) (Answer, error) {
	high, known := m.d.End, false
	if k := max(i+1, m.base); k < cut {
		if st, err := m.anchor(k); err != nil {
			return Answer{}, err
		} else if st == agrees || trust {
			high, known = m.chain[k].Downstream, true
		}
	}
	a := Answer{T: floor, Low: floor, High: max(floor, high), Verdict: Ambiguous, Anchor: m.sync(i), Why: "the record is gone on the source; the offset syncs around it bound it"}
	if trust && m.chain[i].Upstream == m.u {
		a.High, a.Verdict, a.Why = floor, Exact, "an offset sync of this very record"
		return a, nil
	}
	if floor <= m.d.Start && high <= m.d.Start {
		a.T, a.Low, a.High = m.d.Start, m.d.Start, m.d.Start
		if m.d.Start == 0 {
			a.Verdict, a.Why = Exact, "the first record of the target is the copy of a later one"
		} else {
			a.Verdict, a.Why, a.Gone = Gone, "the target holds nothing of the position any more", max(0, m.s.Start-m.u)
		}
		return a, nil
	}
	if known && a.High-a.Low <= 4096 {
		rs, err := m.all(m.dst, a.Low, a.High, committed)
		if err != nil {
			return a, quiet(err)
		}
		if len(rs) == 0 {
			a.T, a.Low, a.Verdict, a.Why = a.High, a.High, Exact, "between two offset syncs there is only one place"
			return a, nil
		}
	}
	return m.counted(a, i, cut, end)
}

// counted narrows the answer by counting. Of the records before the copy of the first one left, at most as many as the source had
// offsets lie at or above the position, and at most as many as lie after the sync below it lie below.
func (m *Matcher) counted(a Answer, i, cut int, end int64) (Answer, error) {
	if m.o.Foreign || m.o.Reverse {
		return a, nil
	}
	from, below, bounded := m.d.Start, int64(-1), m.d.Start == 0
	if i >= m.base && i >= 0 && m.chain[i].Downstream >= m.d.Start {
		from, below, bounded = m.chain[i].Downstream+1, m.chain[i].Upstream, true
		if below == m.u {
			from, below = from-1, below-1
		}
	}
	h, err := m.head(cut, end, from)
	if err != nil || !h.ok {
		return a, quiet(err)
	}
	j, _ := slices.BinarySearchFunc(h.rs, from, func(r Record, at int64) int { return cmp.Compare(r.Offset, at) })
	e, c, k := h.rs[j:], h.at.d.Offset, h.at.s.Offset-m.u
	if k > int64(len(e)) && !(h.sound < from && bounded) {
		return a, nil
	}
	low, high := a.Low, c
	if k <= int64(len(e)) {
		low = max(low, e[int64(len(e))-k].Offset)
	}
	if bounded && h.sound < from {
		high = at(e, m.u-below-1, c)
	}
	a.T, a.Low, a.High = low, low, max(low, min(a.High, high))
	a.Why = "the record is gone on the source; its place is counted from the copy of the first one left"
	// Fewer may meet by chance with a sync of an earlier topic; and without any sync below, copies of an earlier topic may make up for
	// the offsets that hold no record.
	if low == high && (len(e) >= 2*fewest || h.sound < m.d.Start) && (below >= 0 || h.dense) {
		a.Verdict = Exact
	}
	return a, nil
}

// head reads what stands before the copy of the first record left, down to an offset and the one before it.
func (m *Matcher) head(cut int, end, from int64) (*head, error) {
	h := &m.heads
	from = max(m.d.Start, from-1)
	if !h.known || h.cut != cut {
		u := m.u
		m.u = m.s.Start
		a, err := m.place(cut, end)
		hit := m.hit
		m.u, m.prev, m.hit = u, nil, nil
		if err != nil {
			return h, err
		}
		*h = head{cut: cut, known: true}
		if a.Verdict == Exact && hit != nil {
			h.at, h.ok, h.from = *hit, true, hit.d.Offset+1
		}
	}
	c := h.at.d.Offset
	if !h.ok || h.from <= from {
		return h, nil
	}
	from = max(from, c-mostHead)
	rs, err := m.all(m.dst, from, c+1, func(Record) bool { return true })
	if err != nil {
		return h, err
	}
	to := min(m.s.End, m.s.Start+1024)
	left, err := m.all(m.src, m.s.Start, to, data)
	if err != nil {
		return h, err
	}
	h.dense = int64(len(left)) == to-m.s.Start
	mask := Keys | Values
	if len(rs) > 0 && !rs[len(rs)-1].Has(AppendTime) {
		mask |= Times
	}
	has := map[print]bool{}
	for _, r := range left {
		has[mask.of(r)] = true
	}
	h.from, h.rs, h.sound = from, nil, c
	for _, r := range slices.Backward(rs) {
		p := mask.of(r)
		if r.Offset < c && (r.Offset != h.sound-1 || committed(r) && has[p]) {
			break
		}
		h.sound = r.Offset
		if committed(r) {
			has[p] = true
			if r.Offset < c {
				h.rs = append(h.rs, r)
			}
		}
	}
	slices.Reverse(h.rs)
	if from == m.d.Start && h.sound == from {
		h.sound = from - 1
	}
	return h, nil
}
