package match

import "slices"

// mostRoom is how many offsets of the target between two syncs are looked through.
const mostRoom = 4096

// border is what lies on the target between a link and the next, or the end.
type border struct {
	once bool  // nothing there stands on the target twice
	n    int64 // records there
}

// border looks for a stretch that was mirrored twice between two links. A copy that began again at or below a position and came
// past it must hold the records between them once more.
func (m *Matcher) border(i int) (border, error) {
	if b, ok := m.borders[i]; ok {
		return b, nil
	}
	x, end := m.chain[i], m.d.End
	var b border
	if i+1 < len(m.chain) {
		end = m.chain[i+1].Downstream + 1
	}
	switch room := m.room(i); {
	case room <= 0:
		b = border{once: true, n: 1}
	case room > mostRoom:
		// Too far to read: no more records than on the source is taken for none twice.
		if i+1 < len(m.chain) {
			b = border{once: room < m.chain[i+1].Upstream-x.Upstream, n: room}
		} else {
			b = border{once: room < m.s.End-x.Upstream, n: room}
		}
	default:
		st, err := m.anchor(i)
		if err != nil {
			return b, err
		}
		rs, err := m.all(m.dst, max(x.Downstream, m.d.Start), end, committed)
		if err == errBudget {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		mask := Keys | Values
		if len(rs) > 0 && !rs[0].Has(AppendTime) {
			mask |= Times
		}
		b.n = int64(len(rs)) - 1
		b.once = st == agrees && unlike(rs, mask)
		if !b.once && st == agrees && i+1 < len(m.chain) {
			if b.once, err = m.lands(i); err != nil {
				return b, quiet(err)
			}
		}
	}
	m.borders[i] = b
	return b, nil
}

// unlike says that no two records are alike.
func unlike(rs []Record, mask Mask) bool {
	rising := mask&Times != 0
	for i := 1; i < len(rs) && rising; i++ {
		rising = rs[i].Time > rs[i-1].Time
	}
	if rising {
		return true
	}
	seen := make(map[print]struct{}, len(rs))
	for _, r := range rs {
		p := mask.of(r)
		if _, ok := seen[p]; ok {
			return false
		}
		seen[p] = struct{}{}
	}
	return true
}

// lands says that a walk comes from a link to the next without one step aside: as many records on both sides.
func (m *Matcher) lands(i int) (bool, error) {
	x, y := m.chain[i], m.chain[i+1]
	st, err := m.anchor(i + 1)
	if err != nil || st != agrees || y.Upstream <= x.Upstream {
		return false, err
	}
	t, _, torn, err := m.compare(x.Upstream, x.Downstream, y.Downstream+1, y.Upstream, x.mask, false, nil)
	if err != nil || torn {
		return false, err
	}
	return t.r != nil && t.passed == 0 && t.r.s.Offset == y.Upstream && t.r.d.Offset == y.Downstream, nil
}

// repeats says that the position may stand on the target once more after the answer: a copy that began again at or below it holds
// its record, and everything up to where that copy has come, once more.
func (m *Matcher) repeats(a Answer) (bool, error) {
	i := m.below(m.u, m.cut)
	next, from := m.u, a.T
	if m.hit != nil {
		next = m.hit.s.Offset
	}
	if i >= m.base && i >= 0 && m.hit != nil && m.hit.d.Offset < m.chain[i].Downstream {
		return true, nil // walked to from before the nearest sync, which lies later
	}
	if m.prev != nil {
		from = min(from, m.prev.d.Offset)
	}
	if k := m.below(next, m.cut); k != i {
		if m.chain[k].Downstream > a.T {
			return true, nil // a later sync points at the first record that has a copy
		}
		i = k
	}
	copied, own := int64(1), i
	for i = max(i, m.base-1); i < m.cut; i++ {
		if i >= m.base {
			if copied > m.widest[i] {
				// No stretch is wide enough, but where a run begins below what came before: only its first sync may be lost.
				k, _ := slices.BinarySearch(m.runs, i+1)
				if k == len(m.runs) {
					return false, nil
				}
				if i = m.runs[k] - 1; i >= m.cut {
					return false, nil
				}
			}
			b, err := m.border(i)
			if err != nil {
				return true, err
			}
			copied += b.n
			fall := i+1 < len(m.chain) && m.chain[i+1].Upstream < m.chain[i].Upstream
			if fall || i == own {
				copied = 1
			}
			if b.once && !fall {
				continue
			}
		}
		to := m.d.End
		if i+1 < len(m.chain) {
			to = m.chain[i+1].Downstream + 1
		}
		// Its own record tells as well.
		if again, err := m.inStretch(from, to); err != nil || again {
			return true, err
		}
		if again, err := m.thinned(i); err != nil || again {
			return true, err
		}
	}
	return false, nil
}

// thinned says that compaction may have taken the first of two copies: the stretch from the nearest pair up to the next sync has
// offsets without a record, and is longer on the target than on the source.
func (m *Matcher) thinned(i int) (bool, error) {
	if m.hit == nil || i < m.base || i+1 >= len(m.chain) {
		return false, nil
	}
	from, to := m.hit.d.Offset, m.chain[i+1].Downstream
	if to-from > mostRoom || to-from <= m.chain[i+1].Upstream-m.hit.s.Offset {
		return false, nil
	}
	full, err := m.full(m.dst, max(from, m.d.Start), to)
	return !full, err
}

func (m *Matcher) inStretch(from, to int64) (bool, error) {
	if to-from > mostRoom {
		return m.d.End-from > m.s.End-m.u, nil
	}
	rs, err := m.all(m.dst, from, to, committed)
	if err != nil {
		return true, quiet(err)
	}
	mask := Keys | Values
	if len(rs) > 0 && !rs[0].Has(AppendTime) {
		mask |= Times
	}
	return !unlike(rs, mask), nil
}
