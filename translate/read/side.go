package read

import (
	"context"
	"errors"

	"github.com/mm2doctor/mm2doctor/translate/match"
)

// errSpent ends a comparison that would read more than it may.
var errSpent = errors.New("the read budget is used up")

// mostAtOnce is how many records are given at once: a comparison near a sync needs a hundred or two, and would keep the rest of a
// page for nothing.
const mostAtOnce = 128

// meter is what one position may read on both sides together, and whether it wanted more.
type meter struct {
	budget  *budget
	left    int64 // bytes
	refused bool
}

func (m *meter) may() error {
	if m.left <= 0 || m.budget.over() != "" {
		m.refused = true
		return errSpent
	}
	return nil
}

// side is one partition as the comparison reads it.
type side struct {
	ctx    context.Context
	cache  *cache
	bounds match.Bounds
	meter  *meter
	times  func(ctx context.Context, ms int64) (offset int64, ok bool, err error)
}

func (s *side) Bounds() match.Bounds { return s.bounds }

// Read gives the records of [from, to) as far as one page goes. What lies outside the log as it was when the comparison began is
// never given: the other side was looked at then.
func (s *side) Read(from, to int64) ([]match.Record, int64, error) {
	low, high := max(from, s.bounds.Start), min(to, s.bounds.End)
	if low >= high {
		return nil, max(from, to), nil
	}
	rs, next, got, err := s.cache.read(s.ctx, low, high, s.meter.may)
	if got != nil {
		s.meter.left -= got.bytes
	}
	if err != nil {
		if s.meter.budget.late.Load() && (errors.Is(err, context.Canceled) || errors.Is(err, errLate)) {
			s.meter.refused = true
			return nil, from, errSpent
		}
		return nil, from, err
	}
	if len(rs) > mostAtOnce {
		return rs[:mostAtOnce:mostAtOnce], rs[mostAtOnce-1].Offset + 1, nil
	}
	if next >= high {
		next = max(to, next)
	}
	return rs, next, nil
}

// OffsetAt gives the first offset whose record has this time (ms) or a later one.
func (s *side) OffsetAt(ms int64) (int64, bool, error) {
	if s.meter.budget.over() != "" {
		s.meter.refused = true
		return 0, false, errSpent
	}
	o, ok, err := s.times(s.ctx, ms)
	if err != nil && s.meter.budget.late.Load() {
		s.meter.refused = true
		return 0, false, errSpent
	}
	if ok && o >= s.bounds.End { // it came after the ends were taken
		return 0, false, nil
	}
	return o, ok, err
}
