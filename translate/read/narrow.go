package read

import (
	"context"

	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// farthest is how many offsets of the target between two syncs are read to make a bound narrower. MirrorMaker 2 writes a sync at
// least every offset.lag.max records (100 by default, or what is configured).
const farthest = 1 << 16

// countAll makes the bounds of a pair narrower whose source is not read: the target alone still holds the copies.
func (l *locator) countAll(ctx context.Context, p *pair) {
	if p.dst.err != nil || p.brackets == nil {
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

// narrow counts the target's records between the two syncs around a position. Of the copies between them at most as many lie below
// T as the source has offsets there, and so above it: which holds for one copy in order, without records of others. More records
// than source offsets show that it is something else; a failed read leaves the bound as it is.
func (l *locator) narrow(p *pair, a *plan.Answer, u int64, dst *side) {
	r := a.Range
	if r == nil || r.Counted || r.Again || r.Open || r.Below == nil || r.Above == nil || r.Low >= r.High || p.syncs.OneTopic || p.syncs.Swapped {
		return
	}
	u1, d1, u2, d2 := r.Below.Upstream, r.Below.Downstream, r.Above.Upstream, r.Above.Downstream
	if d1 < dst.bounds.Start || d2 > dst.bounds.End || d2-d1 > farthest || u <= u1 || u >= u2 {
		return
	}
	var at []int64
	for from := d1 + 1; from < d2; {
		rs, next, err := dst.Read(from, d2)
		if err != nil || next <= from {
			return
		}
		for _, x := range rs {
			if x.Flags&(match.Control|match.Aborted) == 0 {
				at = append(at, x.Offset)
			}
		}
		from = next
	}
	n := int64(len(at))
	if n > u2-u1-1 {
		return
	}
	narrower := *r
	if i := n - (u2 - u); i >= 0 { // at most u2-u of them, the one at u among them, stand at or above the position
		narrower.Low = max(r.Low, at[i])
	}
	if i := u - u1 - 1; i < n { // at most that many stand below it
		narrower.High = min(r.High, at[i])
	}
	if narrower.Low > narrower.High {
		return
	}
	narrower.Counted = true
	a.Range = &narrower
}
