package read

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// extent is how far a log goes, or why that is not known.
type extent struct {
	match.Bounds
	err error
}

// takeEnds reads start, last stable offset and end of both places of each pair: first where the copies lie, then where their
// originals do, so that every copy in view has its original in view. The copies of a swapped pair are those of the position.
func (l *locator) takeEnds(ctx context.Context, ps []*pair) {
	copies, originals := map[string][]plan.Place{}, map[string][]plan.Place{}
	for _, p := range ps {
		c, o := p.to, p.from
		if p.syncs.Swapped {
			c, o = o, c
		}
		copies[c.Cluster] = append(copies[c.Cluster], c)
		originals[o.Cluster] = append(originals[o.Cluster], o)
	}
	cs := l.extents(ctx, copies)
	os := l.extents(ctx, originals)
	for _, p := range ps {
		p.src, p.dst = os[p.from], cs[p.to]
		if p.syncs.Swapped {
			p.src, p.dst = cs[p.from], os[p.to]
		}
	}
}

func (l *locator) extents(ctx context.Context, by map[string][]plan.Place) map[plan.Place]extent {
	out := map[plan.Place]extent{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for alias, places := range by {
		slices.SortFunc(places, comparePlaces)
		places = slices.Compact(places)
		wg.Go(func() {
			es := l.extentsOf(ctx, alias, places)
			mu.Lock()
			defer mu.Unlock()
			for i, p := range places {
				out[p] = es[i]
			}
		})
	}
	wg.Wait()
	return out
}

func (l *locator) extentsOf(ctx context.Context, alias string, places []plan.Place) []extent {
	out := make([]extent, len(places))
	cl := l.clusters[alias]
	if cl.Client == nil {
		for i := range out {
			out[i].err = &lost{alias}
		}
		return out
	}
	l.o.Progress(fmt.Sprintf("ends of %d partitions on %s", len(places), alias))
	qs := make([]wire.OffsetQuery, 0, 3*len(places))
	for _, p := range places {
		q := wire.OffsetQuery{Topic: p.Topic, Partition: p.Partition, Timestamp: wire.AtStart}
		qs = append(qs, q)
		q.Timestamp, q.Committed = wire.AtEnd, true
		qs = append(qs, q)
		q.Committed = false
		qs = append(qs, q)
	}
	as := cl.Client.ListOffsets(ctx, qs)
	for i := range out {
		e := &out[i]
		for _, a := range as[3*i : 3*i+3] {
			if a.Err != nil && e.err == nil {
				e.err = a.Err
			}
		}
		e.Start, e.Stable, e.End = as[3*i].Offset, as[3*i+1].Offset, as[3*i+2].Offset
		// They were asked for one after another while the log went on.
		e.Stable = min(e.Stable, e.End)
		e.Start = min(e.Start, e.Stable)
	}
	return out
}

// lost is a cluster that is not to be asked.
type lost struct{ alias string }

func (e *lost) Error() string {
	return fmt.Sprintf("cluster %s was given up and is not asked", e.alias)
}

// reason says in plain words why a place could not be read.
func reason(what string, p plan.Place, err error) string {
	if wire.CodeOf(err) == kafka.UnknownTopicOrPartition {
		return fmt.Sprintf("%s: %v does not exist on cluster %s (UNKNOWN_TOPIC_OR_PARTITION)", what, p.TopicPartition, p.Cluster)
	}
	return what + ": " + err.Error()
}
