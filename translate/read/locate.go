package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// Options say how much is read.
type Options struct {
	Records  bool // compare user records; without, the offset syncs alone decide
	Budget   Budget
	Progress func(string) // told what is being read; never called twice at once
	Parallel int          // partitions at once; default 8
	// Older gives the offset syncs that a captured snapshot has of a position's partition, how many, and when it was taken (ms): for
	// partitions whose source was given up and whose own syncs are not there. nil: none.
	Older func(plan.Position) (l ranges.Locator, syncs int, at int64)
	// PageBytes is asked for of a partition where nothing is known of it yet; default 64 KiB. Walks double it up to 1 MiB.
	PageBytes int
}

const defaultParallel = 8

// Cluster is one cluster by its alias. Without a client it is not asked: it was given up.
type Cluster struct {
	Alias  string
	Client *wire.Client
}

// Stats tell what the answers cost.
type Stats struct {
	Positions  int
	Partitions int // pairs of partitions, with the syncs between them
	Compared   int // positions that were answered by comparing records
	Syncs      []SyncStats
	Clusters   map[string]Usage // user records, by alias
	// Spent says which part of the read budget was used up; empty where none was.
	Spent                   string
	ReadSyncs, Ends, Locate time.Duration
}

type locator struct {
	o        Options
	clusters map[string]Cluster
	ps       []plan.Position
	out      []plan.Answer
	pairs    []*pair
	fetchers map[string]*fetcher
	budget   *budget
	stats    Stats
}

// Locate answers each position, in the order given. It fails only where a cluster that is to be written to does not answer, or the
// context ends; everything else is told by the answer that it concerns.
//
// The offset syncs are read first, then the ends of the logs where copies lie, then those of the originals: so every sync and
// every copy that is compared has its other side in view. Bytes and time of the read budget are shared fairly: a partition may
// take its part of what is left, a position a part of that, and what was not enough for some is given to them in further turns.
func Locate(ctx context.Context, clusters []Cluster, ps []plan.Position, o Options) ([]plan.Answer, Stats, error) {
	l := &locator{o: o, ps: ps, out: make([]plan.Answer, len(ps)), clusters: map[string]Cluster{}, fetchers: map[string]*fetcher{}, pairs: pairs(ps)}
	l.stats.Positions, l.stats.Partitions = len(ps), len(l.pairs)
	if l.o.Parallel < 1 {
		l.o.Parallel = defaultParallel
	}
	if l.o.PageBytes < 1 {
		l.o.PageBytes = firstPage
	}
	l.o.PageBytes = min(l.o.PageBytes, mostOfPage)
	tell, mu := l.o.Progress, sync.Mutex{}
	l.o.Progress = func(s string) {
		if tell != nil {
			mu.Lock()
			defer mu.Unlock()
			tell(s)
		}
	}
	for _, c := range clusters {
		l.clusters[c.Alias] = c
	}
	for _, p := range l.pairs {
		if l.clusters[p.to.Cluster].Client == nil {
			return nil, l.stats, fmt.Errorf("translation to cluster %q: there is no connection to it; where positions lie can only be found on the cluster that is to be written", p.to.Cluster)
		}
	}
	begun := time.Now()
	l.readSyncs(ctx)
	l.stats.ReadSyncs = time.Since(begun)
	begun = time.Now()
	l.takeEnds(ctx, l.pairs)
	l.stats.Ends = time.Since(begun)
	if err := cmpErr(context.Cause(ctx), l.unreachable()); err != nil {
		return nil, l.stats, err
	}
	l.byRanges()
	l.byTimes(ctx)
	begun = time.Now()
	l.byRecords(ctx)
	l.stats.Locate = time.Since(begun)
	if err := context.Cause(ctx); err != nil {
		return nil, l.stats, err
	}
	l.boundCounts()
	return l.out, l.stats, nil
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// unreachable is the fault of a cluster that is to be written to and of which no partition could be asked.
func (l *locator) unreachable() error {
	first, answered := map[string]error{}, map[string]bool{}
	for _, p := range l.pairs {
		if c := p.to.Cluster; p.dst.err != nil && wire.CodeOf(p.dst.err) == 0 {
			first[c] = cmpErr(first[c], p.dst.err)
		} else {
			answered[c] = true
		}
	}
	for _, p := range l.pairs {
		if c := p.to.Cluster; !answered[c] {
			return fmt.Errorf("the log ends of cluster %s could not be read, so no position can be placed on it: %w", c, first[c])
		}
	}
	return nil
}

// byRanges gives each answer the log ends and the bound of the offset syncs.
func (l *locator) byRanges() {
	for _, p := range l.pairs {
		ends := ranges.Ends{Source: -1, Target: -1}
		if p.src.err == nil {
			ends.Source = p.src.End
		}
		if p.dst.err == nil {
			ends.Target = p.dst.End
		}
		for _, i := range p.at {
			a := &l.out[i]
			if p.src.err == nil {
				b := p.src.Bounds
				a.Source = &b
			} else if g := (*lost)(nil); !errors.As(p.src.err, &g) {
				a.Unread = reason("the source's log could not be looked at", p.from, p.src.err)
			}
			if p.dst.err != nil {
				because(a, reason("the target's log could not be looked at", p.to, p.dst.err))
				continue
			}
			b := p.dst.Bounds
			a.Target = &b
			if l.ps[i].Offset < 0 {
				because(a, "there is no position to be found")
				continue
			}
			if p.brackets == nil && l.o.Older != nil && errors.As(p.src.err, new(*lost)) && p.older == nil {
				p.older, p.synced, p.look = l.o.Older(l.ps[i])
			}
			if p.locator() == nil {
				because(a, p.syncsWhy)
				continue
			}
			x, ok := p.locator().Locate(l.ps[i].Offset, ends)
			if !ok {
				because(a, "the position lies before everything that the offset syncs of these topics tell of")
				continue
			}
			end := x.High
			if p.look > 0 {
				end = b.End
			}
			a.Range = plan.RangeAt(x, p.synced, p.look, end)
		}
	}
}

// because adds a reason that an answer is not complete.
func because(a *plan.Answer, why string) {
	if a.Why == "" {
		a.Why = why
	} else if !strings.Contains(a.Why, why) {
		a.Why += "; " + why
	}
}

// boundCounts bounds what could not be counted in records by offsets: from the range, and without one from the log's ends.
func (l *locator) boundCounts() {
	for i := range l.out {
		a := &l.out[i]
		if a.Also != nil {
			continue
		}
		if a.Target == nil {
			for _, o := range l.ps[i].Also {
				a.Also = append(a.Also, plan.Count{Offset: o, ReRead: -1, Skipped: -1})
			}
			continue
		}
		r := cmp.Or(a.Range, &plan.Range{Low: a.Target.Start, High: a.Target.End})
		a.Also = append(a.Also, r.Counts(*a.Target, l.ps[i].Also)...)
	}
}
