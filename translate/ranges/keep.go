package ranges

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// epochSize is what an epoch takes beside its first range, as a number of ranges, the first counted.
const epochSize = 5

// Size is how much an index takes, in ranges of 32 bytes (plus what a slice holds in reserve).
func (x *Index) Size() int { return x.size }

// Thin gives up every second stretch within each epoch. Bounds between the others grow wider and stay true. It is false where
// there was nothing to give up: too many epochs take the place then.
func (x *Index) Thin() bool {
	before := x.size
	for i := range x.epochs {
		e := &x.epochs[i]
		if len(e.ranges) < 3 {
			continue
		}
		had := len(e.ranges)
		kept := 1
		for j := 2; j < had; j += 2 {
			e.ranges[kept] = e.ranges[j]
			kept++
		}
		if had%2 == 0 { // the last always stays
			e.ranges[kept] = e.ranges[had-1]
			kept++
		}
		e.ranges = slices.Clip(slices.Clone(e.ranges[:kept]))
		x.size -= had - kept
	}
	return x.size < before
}

// DropOldest gives up the older half of the epochs; see Lost.
func (x *Index) DropOldest() {
	n := len(x.epochs) / 2
	for i := range n {
		x.lost.add(x.epochs[i].Last, x.epochs[i+1].First)
		x.size -= epochSize + len(x.epochs[i].ranges) - 1
	}
	x.epochs = slices.Clone(x.epochs[n:])
}

// Lost tells of epochs that were given up.
func (x *Index) Lost() Lost { return x.lost }

// FromRanges makes an index again from the ranges of its epochs and what Lost said. Where the syncs stood in the topic is not
// known (Offset -1). An error says what cannot come from an index.
func FromRanges(epochs [][]Range, l Lost) (*Index, error) {
	if l.Epochs < 0 || l.Top < 0 || l.Tail < 0 {
		return nil, fmt.Errorf("%+v cannot have been given up", l)
	}
	x := &Index{lost: l}
	for i, rs := range epochs {
		e := Epoch{ranges: slices.Clone(rs)}
		for j, r := range rs {
			end := translate.Sync{Upstream: r.Up + r.Span, Downstream: r.Down + r.Span, Offset: -1}
			switch {
			case r.Up < 0 || r.Down < 0 || r.Span < 0 || end.Upstream < 0 || end.Downstream < 0 || r.Gap < 0 || r.Gap > r.Span || (r.Gap == 0) != (r.Span == 0):
				return nil, fmt.Errorf("epoch %d: %+v is no range", i, r)
			case j > 0 && !follows(e.Last, translate.Sync{Upstream: r.Up, Downstream: r.Down}):
				return nil, fmt.Errorf("epoch %d: %+v does not follow the range before it", i, r)
			}
			e.Last, e.MaxDown = end, end.Downstream
		}
		if len(rs) == 0 {
			return nil, fmt.Errorf("epoch %d is empty", i)
		}
		e.First = translate.Sync{Upstream: rs[0].Up, Downstream: rs[0].Down, Offset: -1}
		if i > 0 && (follows(x.epochs[i-1].Last, e.First) || sameOffsets(x.epochs[i-1].Last, e.First)) {
			return nil, fmt.Errorf("epoch %d goes on where the one before it ends", i)
		}
		x.epochs = append(x.epochs, e)
		x.size += epochSize + len(rs) - 1
	}
	return x, nil
}
