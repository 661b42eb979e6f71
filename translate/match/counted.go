package match

import "slices"

// counted remembers which offsets of a stretch of the target hold records that consumers read, so that the many positions of a
// partition, whose stretches overlap, are counted by looking up instead of reading on.
type counted struct {
	from, to int64
	held     []int64 // offsets in [from, to)
}

// mostHeld is how many offsets are remembered: 32 MB of them.
const mostHeld = 4 << 20

// tally gives how many records a stretch of the target holds. It reads what it has not seen, within the budget.
func (m *Matcher) tally(from, to int64) (int64, error) {
	if from >= to {
		return 0, nil
	}
	t := &m.seen
	// A stretch far from what is known would have to read everything between.
	if len(t.held) > mostHeld || from > t.to || to < t.from || t.from == t.to {
		*t = counted{from: from, to: from}
	}
	if to > t.to {
		rs, err := m.all(m.dst, t.to, to, committed)
		if err != nil {
			return 0, err
		}
		t.held, t.to = appendOffsets(t.held, rs), to
	}
	if from < t.from {
		rs, err := m.all(m.dst, from, t.from, committed)
		if err != nil {
			return 0, err
		}
		t.held, t.from = append(appendOffsets(make([]int64, 0, len(rs)+len(t.held)), rs), t.held...), from
	}
	i, _ := slices.BinarySearch(t.held, from)
	j, _ := slices.BinarySearch(t.held, to)
	return int64(j - i), nil
}

func appendOffsets(to []int64, rs []Record) []int64 {
	for _, r := range rs {
		to = append(to, r.Offset)
	}
	return to
}
