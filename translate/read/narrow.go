package read

import (
	"context"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// farthest is how many offsets of the target between two syncs are read to make a bound narrower. MirrorMaker 2 writes a sync at
// least every offset.lag.max records (100 by default, or what is configured).
const farthest = 1 << 16

// countBlind makes bounds narrower, several pairs at a time.
func (l *locator) countBlind(ctx context.Context, ps []*pair) {
	jobs := make(chan *pair)
	var wg sync.WaitGroup
	for range min(l.o.Parallel, len(ps)) {
		wg.Go(func() {
			for p := range jobs {
				l.countAll(ctx, p)
			}
		})
	}
	for _, p := range ps {
		jobs <- p
	}
	close(jobs)
	wg.Wait()
}

// countAll makes the bounds of a pair narrower whose source is not read: the target alone still holds the copies.
func (l *locator) countAll(ctx context.Context, p *pair) {
	if p.dst.err != nil || p.locator() == nil {
		return
	}
	m := &meter{budget: l.budget}
	dst := l.side(ctx, p.to, newCache(p.to.TopicPartition, l.fetchers[p.to.Cluster], l.o.PageBytes, keptRecords/(2*l.o.Parallel)), p.dst.Bounds, m)
	dst.cache.stable = p.dst.Stable
	for _, i := range p.at {
		m.left = l.budget.left()
		l.narrow(p, &l.out[i], l.ps[i].Offset, dst)
	}
}

// narrow counts the target's records between the two syncs around a position. It does not hold where others write to the target, or
// where the target is the original of what the position counts: it holds records without a copy then. A failed read leaves the
// bound as it is.
func (l *locator) narrow(p *pair, a *plan.Answer, u int64, dst *side) {
	if a.Range == nil || a.Range.Counted || p.syncs.OneTopic || p.syncs.Swapped {
		return
	}
	ends := ranges.Ends{Source: -1, Target: p.dst.End}
	if p.src.err == nil {
		ends.Source = p.src.End
	}
	b, ok := p.locator().Locate(u, ends)
	if !ok || b.Exact() || b.High-b.Low > farthest || b.Low < dst.bounds.Start {
		return
	}
	c := &copies{from: b.Low - 1, to: b.High + 1}
	if c.read(dst) != nil {
		return
	}
	if b, ok, err := b.Counted(u, c); ok && err == nil && b.Low <= b.High {
		r := *a.Range
		r.Low, r.High, r.Counted = b.Low, b.High, true
		a.Range = &r
	}
}

// copies are the records of a stretch of the target.
type copies struct {
	from, to int64
	at       []int64 // of data records that are not aborted
	marked   bool
}

func (c *copies) read(dst *side) error {
	for from := c.from; from < c.to; {
		rs, next, err := dst.Read(from, c.to)
		if err != nil {
			return err
		}
		if len(rs) > 0 {
			c.marked = c.marked || dst.cache.marked(rs[0].Offset)
		}
		for _, x := range rs {
			if x.Flags&(match.Control|match.Aborted) == 0 {
				c.at = append(c.at, x.Offset)
			}
		}
		from = next
	}
	return nil
}

// Count is exact: the records themselves were read.
func (c *copies) Count(from, to int64) (int64, error) {
	i, _ := slices.BinarySearch(c.at, from)
	j, _ := slices.BinarySearch(c.at, to)
	return int64(max(0, j-i)), nil
}

// Plain looks at whole pages: one transaction in them is enough to say no.
func (c *copies) Plain(from, to int64) (bool, error) {
	n, err := c.Count(from, to)
	return n > 0 && !c.marked, err
}
