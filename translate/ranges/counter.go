package ranges

import (
	"math"
	"sort"
)

// Counter looks at the target partition without its payloads: batch headers tell both answers; where an end lies within a batch
// with holes, its records do.
type Counter interface {
	// Count is how many data records lie in [from, to): no markers, no records of aborted transactions. It lies in [0, to-from]
	// and never falls as the interval grows.
	Count(from, to int64) (int64, error)
	// Plain says that what is left in [from, to) is something, and was written without transactions: no marker, no batch of a
	// transaction. A compacted topic loses records and markers alike; what stays tells how MirrorMaker 2 wrote then.
	Plain(from, to int64) (bool, error)
}

// Counted narrows a bound between two syncs by the copy's records, for the position u: at most u2-u of them lie at or above it,
// and at most u-u1-1 below. Where the copy has the syncs' own shift throughout and was written without transactions, no offset
// between them can be anything but a copy, so each is at its place even where some are compacted away.
//
// It holds if nobody else writes to the target and if no copy began again between the two syncs. MirrorMaker 2 writes a sync when it begins
// again, so that the offsets fall and Again is set; but that sync can be lost in a burst. Where there are more records than the
// source can have had, one of these is shown: the bound stays as it is and ok is false. Fewer of them, in place of holes, do not
// show. Bound.Low needs none of this.
//
// After the newest sync, and where an Index no longer knows the syncs around, less can be narrowed; where the partition was copied
// again, nothing.
func (b Bound) Counted(u int64, c Counter) (out Bound, ok bool, err error) {
	if b.Exact() || b.Again || b.High == math.MaxInt64 {
		return b, true, nil
	}
	if even, ok := b.Interpolated(); ok {
		if plain, err := c.Plain(b.Low-1, b.High+1); err != nil { // with the two syncs
			return b, false, err
		} else if plain {
			b.Low, b.High = even, even
			return b, true, nil
		}
	}
	if b.Below == nil {
		return b, true, nil
	}
	n, err := c.Count(b.Low, b.High)
	if err != nil {
		return b, false, err
	}
	if b.Above != nil && n > b.Above.Upstream-b.Below.Upstream-1 {
		return b, false, nil
	}
	out = b
	if b.Above != nil {
		if i := n - (b.Above.Upstream - u); i >= 0 {
			if out.Low, err = nth(c, b, n, i); err != nil {
				return b, false, err
			}
		}
	}
	if out.High, err = nth(c, b, n, u-b.Below.Upstream-1); err != nil {
		return b, false, err
	}
	if out.Low < out.High {
		left, err := c.Count(out.Low, out.High)
		if err != nil {
			return b, false, err
		}
		if left == 0 { // places between which there is nothing to read are one
			out.High = out.Low
		}
	}
	return out, true, nil
}

// nth is the offset of record i (from 0) of the n in the bound, its end beyond them: the first offset up to and with which there
// are i+1.
func nth(c Counter, b Bound, n, i int64) (int64, error) {
	if i >= n {
		return b.High, nil
	}
	var failed error
	d := sort.Search(int(b.High-b.Low), func(d int) bool {
		have, err := c.Count(b.Low, b.Low+int64(d)+1)
		if err != nil {
			failed = err
		}
		return have > i
	})
	return b.Low + int64(d), failed
}
