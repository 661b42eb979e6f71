package read

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// pair is one partition on both clusters with the offset syncs between them: all positions of it are answered together, ascending,
// so that they share what is read.
type pair struct {
	from, to plan.Place
	syncs    plan.SyncsRef
	at       []int // indices of the positions, by offset

	brackets *ranges.Brackets // the syncs that the positions need; nil where there are none to go by
	older    ranges.Locator   // those of a captured snapshot, where there are no others
	look     int64            // when that was taken, ms
	synced   int              // syncs of the partition in the topic
	syncsWhy string           // why there are none to go by
	src, dst extent

	todo     []int // positions not yet answered by records
	moved    bool  // the log moved on under the comparison: its ends are taken anew
	restless bool  // so it was in the turn before
}

// locator is what bounds positions of the pair; nil without.
func (p *pair) locator() ranges.Locator {
	switch {
	case p.brackets != nil:
		return p.brackets
	case p.older != nil:
		return p.older
	}
	return nil
}

func pairs(ps []plan.Position) []*pair {
	type key struct {
		from, to plan.Place
		syncs    plan.SyncsRef
	}
	by := map[key]*pair{}
	var out []*pair
	for i := range ps {
		k := key{ps[i].From, ps[i].To, ps[i].Syncs}
		p := by[k]
		if p == nil {
			p = &pair{from: k.from, to: k.to, syncs: k.syncs}
			by[k] = p
			out = append(out, p)
		}
		p.at = append(p.at, i)
	}
	for _, p := range out {
		slices.SortStableFunc(p.at, func(a, b int) int { return cmp.Compare(ps[a].Offset, ps[b].Offset) })
	}
	// Partitions that read the same stand together: a page is then still there for the next.
	slices.SortStableFunc(out, func(a, b *pair) int { return comparePlaces(a.from, b.from) })
	return out
}

func comparePlaces(a, b plan.Place) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), a.TopicPartition.Compare(b.TopicPartition))
}
