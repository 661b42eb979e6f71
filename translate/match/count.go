package match

// Count compares an offset of the target with the place of an answer, in records: of those that a consumer starting at Offset
// reads again, and of those mirrored ones that it never reads. Known is false where counting went beyond the budget; both are then
// bounds by offsets.
type Count struct {
	Offset  int64
	ReRead  int64
	Skipped int64
	Known   bool
}

// Count compares offsets of the target with the place of an answer. The budget holds for each offset.
func (m *Matcher) Count(a Answer, at []int64) ([]Count, error) {
	out := make([]Count, len(at))
	for i, o := range at {
		m.spent, m.most = 0, m.o.Most
		c := Count{Offset: o}
		from, to := max(min(o, a.T), m.d.Start), min(max(o, a.T), m.d.End)
		n, err := m.tally(from, to)
		if err != nil && err != errBudget {
			return nil, err
		}
		c.Known = err == nil
		if !c.Known {
			n = to - from
		}
		if o < a.T {
			c.ReRead = n
		} else {
			c.Skipped = n
		}
		out[i] = c
	}
	return out, nil
}
