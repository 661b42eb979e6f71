package read

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

const (
	// turns is how often what was not enough for a position is made more.
	turns = 4
	// leastShare is what a position may read in any case while the budget lasts: a page or two of each side.
	leastShare = 4 * firstPage
)

// byRecords compares records for every position that both clusters can be read for.
func (l *locator) byRecords(ctx context.Context) {
	if !l.o.Records {
		for i := range l.out {
			because(&l.out[i], "records were not compared: only the offset syncs were to be used")
		}
		return
	}
	b, bctx, cancel := l.o.Budget.begin(ctx)
	defer cancel()
	l.budget = b
	l.stats.Clusters = map[string]Usage{}
	for alias, c := range l.clusters {
		if c.Client != nil {
			l.fetchers[alias] = &fetcher{client: c.Client, used: &usage{}, budget: b}
		}
	}
	var todo, blind []*pair
	for _, p := range l.pairs {
		if l.refused(p) {
			blind = append(blind, p)
			continue
		}
		for _, i := range p.at {
			if l.ps[i].Offset >= 0 {
				p.todo = append(p.todo, i)
			}
		}
		if len(p.todo) > 0 {
			todo = append(todo, p)
		}
	}
	for turn := 0; turn < turns && len(todo) > 0 && b.over() == "" && bctx.Err() == nil; turn++ {
		l.turn(bctx, todo)
		todo = slices.DeleteFunc(todo, func(p *pair) bool { return len(p.todo) == 0 })
		var moved []*pair
		for _, p := range todo {
			if p.moved {
				moved = append(moved, p)
			}
		}
		if len(moved) > 0 && b.over() == "" {
			l.takeEnds(bctx, moved)
			for _, p := range moved {
				p.moved, p.restless = false, true
				if l.refused(p) {
					p.todo = nil
				}
			}
		}
	}
	l.countBlind(bctx, blind)
	l.stats.Spent = b.over()
	for _, p := range todo {
		for _, i := range p.todo {
			why := b.over()
			switch {
			case why != "":
			case p.restless:
				why = "the log's head was removed again and again while it was read: run again when retention is done"
			default:
				why = "this position alone would take more than its part of the read budget of " + Bytes(b.of.Bytes)
			}
			because(&l.out[i], "records were not compared to the end: "+why)
		}
	}
	for alias, f := range l.fetchers {
		l.stats.Clusters[alias] = f.used.sum()
	}
	for i := range l.out {
		if l.out[i].Records != nil {
			l.stats.Compared++
		}
	}
}

// refused says that a pair's records cannot be compared, and tells its answers why.
func (l *locator) refused(p *pair) bool {
	for _, x := range []struct {
		of   extent
		at   plan.Place
		what string
	}{{p.src, p.from, "records cannot be compared, the source is not read"}, {p.dst, p.to, "the target's log could not be looked at"}} {
		if x.of.err == nil {
			continue
		}
		for _, i := range p.at {
			because(&l.out[i], reason(x.what, x.at, x.of.err))
		}
		return true
	}
	return false
}

// ration deals out what is left of the budget's bytes to the pairs that are still to begin.
type ration struct {
	mu    sync.Mutex
	b     *budget
	pairs int
}

func (r *ration) next() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.b.left() / int64(max(1, r.pairs))
	r.pairs--
	return max(n, leastShare)
}

// turn goes over all pairs once, several at a time. The first pages of the next ones are read while those before are compared,
// many of them in one request.
func (l *locator) turn(ctx context.Context, todo []*pair) {
	caches := map[plan.Place]*cache{}
	var mu sync.Mutex
	hold := func(at plan.Place, x extent) *cache {
		mu.Lock()
		defer mu.Unlock()
		c := caches[at]
		if c == nil {
			c = newCache(at.TopicPartition, l.fetchers[at.Cluster], l.o.PageBytes, keptRecords/(2*min(l.o.Parallel, len(todo))))
			caches[at] = c
		}
		c.stable = max(c.stable, x.Stable)
		c.users++
		return c
	}
	leave := func(at plan.Place) {
		mu.Lock()
		defer mu.Unlock()
		if caches[at].users--; caches[at].users == 0 {
			delete(caches, at)
		}
	}
	type job struct {
		p        *pair
		src, dst *cache
	}
	jobs := make(chan job)
	share := ration{b: l.budget, pairs: len(todo)}
	var wg sync.WaitGroup
	var done int
	for range min(l.o.Parallel, len(todo)) {
		wg.Go(func() {
			for j := range jobs {
				l.compare(ctx, j.p, j.src, j.dst, share.next())
				leave(j.p.from)
				leave(j.p.to)
				mu.Lock()
				done++
				n := done
				mu.Unlock()
				l.o.Progress(fmt.Sprintf("records of %d of %d partitions compared", n, len(todo)))
			}
		})
	}
	for chunk := range slices.Chunk(todo, 4*l.o.Parallel) {
		js := make([]job, len(chunk))
		for i, p := range chunk {
			js[i] = job{p, hold(p.from, p.src), hold(p.to, p.dst)}
		}
		var ahead prefetch
		for _, j := range js {
			p := j.p
			if r := l.out[p.todo[0]].Range; r != nil && r.Below != nil {
				ahead.want(p.from.Cluster, j.src, p.src.Bounds, r.Below.Upstream)
				ahead.want(p.to.Cluster, j.dst, p.dst.Bounds, r.Below.Downstream)
			}
		}
		ahead.run(ctx, l.fetchers, l.budget)
		for _, j := range js {
			jobs <- j
		}
	}
	close(jobs)
	wg.Wait()
}

// prefetch reads the first pages of several partitions, those of one cluster together.
type prefetch struct{ by map[string][]first }

type first struct {
	c  *cache
	at int64
}

func (f *prefetch) want(cluster string, c *cache, b match.Bounds, at int64) {
	if at < b.Start || at >= b.End || slices.ContainsFunc(f.by[cluster], func(x first) bool { return x.c == c }) || c.has(at) {
		return
	}
	if f.by == nil {
		f.by = map[string][]first{}
	}
	f.by[cluster] = append(f.by[cluster], first{c, at})
}

func (f *prefetch) run(ctx context.Context, by map[string]*fetcher, b *budget) {
	var wg sync.WaitGroup
	for cluster, fs := range f.by {
		if len(fs) < 2 || b.over() != "" {
			continue
		}
		wg.Go(func() {
			ws := make([]want, len(fs))
			for i, x := range fs {
				ws[i] = want{x.c.tp, x.at, x.c.first, x.at < x.c.stable}
			}
			ps, errs := by[cluster].pages(ctx, ws)
			for i, x := range fs {
				// What failed is asked for again by whoever needs it, who tells why it fails.
				if errs[i] == nil && ps[i].next > x.at {
					x.c.add(ps[i], x.at)
				}
			}
		})
	}
	wg.Wait()
}

// compare answers the positions of one pair, ascending. share is how many bytes they may read together.
func (l *locator) compare(ctx context.Context, p *pair, sc, dc *cache, share int64) {
	p.restless = false
	m := &meter{budget: l.budget}
	src := l.side(ctx, p.from, sc, p.src.Bounds, m)
	dst := l.side(ctx, p.to, dc, p.dst.Bounds, m)
	o := match.Options{Isolation: p.syncs.Isolation, Foreign: p.syncs.OneTopic, Reverse: p.syncs.Swapped}
	syncs := p.anchors()
	fresh := func() *match.Matcher { return match.New(src, dst, syncs, o) }
	mt := fresh()
	var again []int
	last := -1 // the position before, where it was answered
	for n, i := range p.todo {
		pos, a := &l.ps[i], &l.out[i]
		m.refused = false
		if last >= 0 && l.ps[last].Offset == pos.Offset {
			r := *l.out[last].Records
			a.Records, a.Range = &r, l.out[last].Range
			l.count(mt, a, pos.Also)
			continue
		}
		// The last positions of a pair may take what those before them left.
		m.left = max(leastShare, share/int64(min(turns, len(p.todo)-n)))
		given := m.left
		r, err := mt.Locate(pos.Offset)
		switch {
		case m.refused && (err != nil || r.Verdict == match.Unverified):
			again, last = append(again, i), -1
			mt = fresh() // what it found out for the whole partition may rest on what it was refused
		case err != nil && wire.CodeOf(err) == kafka.OffsetOutOfRange && !p.moved:
			p.moved = true
			p.todo = append(again, p.todo[n:]...)
			return
		case err != nil:
			l.failed(p, p.todo[n:], err)
			p.todo = again
			return
		default:
			if !o.Foreign && !o.Reverse {
				atLeast(&r, a.Range)
			}
			if r.Verdict == match.Unverified || r.Verdict == match.Ambiguous {
				l.narrow(p, a, pos.Offset, dst)
			}
			a.Records, last = &r, i
			l.count(mt, a, pos.Also)
		}
		share -= given - m.left
	}
	p.todo = again
}

// atLeast keeps an answer that is not proved from lying below what the nearest offset sync leaves: the syncs are all there, and no
// record contradicts them.
func atLeast(r *match.Answer, b *plan.Range) {
	if r.Verdict != match.Ambiguous || r.Refuted || b == nil || b.Again || b.Low <= r.T {
		return
	}
	r.T, r.Low = b.Low, b.Low
	if r.High < b.Low {
		r.High = b.High
	}
	r.Between = min(max(r.Between, b.High-b.Low), r.High-r.Low)
	r.Why += "; not below the nearest offset sync"
	if b.Low == b.High {
		r.High, r.Between, r.Verdict, r.Why = b.Low, 0, match.Exact, "an offset sync of this very record"
	}
}

// anchors are the syncs that a comparison may start from: none where copies that went further are no longer known by their syncs.
func (p *pair) anchors() []translate.Sync {
	if p.brackets == nil {
		return nil
	}
	syncs := p.brackets.Syncs()
	if dropped, furthest := p.brackets.Dropped(); dropped > 0 && !slices.ContainsFunc(syncs, func(s translate.Sync) bool { return s.Upstream >= furthest }) {
		return nil
	}
	return syncs
}

func (l *locator) side(ctx context.Context, at plan.Place, c *cache, b match.Bounds, m *meter) *side {
	f := l.fetchers[at.Cluster]
	return &side{ctx: ctx, cache: c, bounds: b, meter: m, times: func(ctx context.Context, ms int64) (int64, bool, error) {
		f.used.times.Add(1)
		a := f.client.ListOffsets(ctx, []wire.OffsetQuery{{Topic: at.Topic, Partition: at.Partition, Timestamp: ms}})[0]
		return a.Offset, a.Err == nil && a.Offset >= 0, a.Err
	}}
}

// failed tells positions that reading failed. The others of the partition are not tried: a broker that is gone costs the patience
// once.
func (l *locator) failed(p *pair, is []int, err error) {
	for _, i := range is {
		because(&l.out[i], fmt.Sprintf("records of %v on %s and %v on %s could not be compared: %v", p.from.TopicPartition, p.from.Cluster, p.to.TopicPartition, p.to.Cluster, err))
	}
}

// count compares offsets with an answer; what goes beyond the budget is left to the bounds by offsets. Where the records could not
// decide, the place is what the offset syncs give, and counted from where they meet.
func (l *locator) count(mt *match.Matcher, a *plan.Answer, also []int64) {
	place := *a.Records
	if place.Verdict == match.Unverified {
		if a.Range == nil || a.Range.Low != a.Range.High {
			return
		}
		place.T, place.Low, place.High = a.Range.Low, a.Range.Low, a.Range.Low
	}
	for _, o := range also {
		c := plan.Count{Offset: o}
		n, err := mt.Count(place, []int64{o})
		if err == nil && len(n) == 1 && n[0].Known {
			c.ReRead, c.Skipped, c.Known = n[0].ReRead, n[0].Skipped, true
		} else {
			low, high := place.Low, place.High
			at := a.Target.Within(o)
			c.ReRead, c.Skipped = max(0, high-at), max(0, at-low)
		}
		a.Also = append(a.Also, c)
	}
}
