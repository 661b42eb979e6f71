package match

// doubt is a place on the target where a copy may have ended that came further than the newest: the chain before link at is to be
// taken for positions up to upTo too, and the lower answer used.
type doubt struct {
	at   int
	upTo int64
}

// doubted gives the lowest place that is possible where an earlier copy may have come further than the one that counts. The first
// such copy has the lowest.
func (m *Matcher) doubted() (int64, bool, error) {
	for _, x := range m.doubts {
		if m.u > x.upTo || x.at <= m.base {
			continue
		}
		low, err := m.lowest(x.at, m.chain[x.at].Downstream)
		return low, true, err
	}
	return 0, false, nil
}

// lowest is the lowest place that the first cut links leave: right before the first record that is not proved to lie below the
// position.
func (m *Matcher) lowest(cut int, end int64) (int64, error) {
	i := m.below(m.u, cut)
	low, _, err := m.floor(i)
	if err != nil || m.u < m.s.Start {
		return low, err
	}
	x, ok, err := m.start(i)
	if err != nil || !ok {
		return low, err
	}
	t, other, torn, err := m.compare(x.up, x.down, end, m.u, x.mask, false, nil)
	if err != nil {
		return low, err
	}
	low = max(low, t.lowest())
	if torn {
		low = min(low, max(m.d.Start, other.lowest()))
	}
	return low, nil
}

// lowest is where a walk is sure to be below the position still.
func (t trail) lowest() int64 {
	var low int64
	switch {
	case t.ambiguous || t.lost || t.short:
		if t.sure != nil {
			low = t.sure.d.Offset + 1
		}
	case t.r != nil:
		low = t.r.d.Offset
	case t.p != nil:
		low = t.p.d.Offset + 1
	}
	if t.aside != nil {
		low = min(low, t.aside.Offset)
	}
	return low
}
