// Package collect turns live clusters into a snapshot: reads only, in an order that makes every value's cause part of the
// same snapshot.
//
// What may enter: reading through internal/wire, decoding by formatters, folding by translate. No judgement: what could not
// be read becomes a gap, never an absence.
package collect

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// Cluster is one cluster to read. Client is nil where it could not be opened: Failed then says why.
type Cluster struct {
	Alias         string
	Bootstrap     []string
	CommandConfig string
	Login         string // whom the client connects as ("User:ops"); empty where its settings do not tell
	Client        *wire.Client
	Failed        *snapshot.Contact
}

// Request says what to read.
type Request struct {
	Clusters   []Cluster
	Flows      []snapshot.Flow // with names, policy and configuration; the facts are filled in
	Others     []snapshot.Flow // named by the same configuration and not asked for: only what their topics are called counts
	Unresolved []snapshot.Problem
	Gaps       []snapshot.Gap // from finding the flows
	Scope      snapshot.Scope
	Want       func(group string) bool // --group; nil: all
	Literal    []string                // groups asked for by name
	// ByName asks a target for each group of the sources by name, listed or not: a coordinator that is still loading leaves its groups
	// out of the list without an error, and answers a question by name with one.
	ByName     bool
	Connect    *Connect // for flows in Connect mode; nil: not asked
	MM2Version string
	// Ranges keeps all offset syncs, as merged ranges, for translating; a diagnosis needs the newest only.
	Ranges bool
	// MM2VersionFrom is who tells it where that is not the option.
	MM2VersionFrom string
	Tool           string
	Now            func() time.Time
	Progress       func(string) // may be nil
}

type collector struct {
	Request
	by    map[string]*cluster
	order []*cluster
	mu    sync.Mutex
	gaps  []snapshot.Gap
}

// cluster is one cluster while it is read.
type cluster struct {
	Cluster
	out           snapshot.Cluster
	source, dest  bool
	topics        map[string]*snapshot.Topic
	needed        map[string]bool // topics whose ends are needed
	aged          map[string]bool // topics whose oldest record's time is needed
	stables       map[string]bool // topics whose last stable offset is needed
	copies        map[string]bool // as a target: the copies of topics that groups committed on at the source
	stray         snapshot.Fact[[]snapshot.TopicRef]
	contactFailed bool
}

// Run reads everything once. It does not fail: what could not be read is a gap of the snapshot.
func Run(ctx context.Context, r Request) *snapshot.Snapshot {
	c := &collector{Request: r, by: map[string]*cluster{}, gaps: slices.Clone(r.Gaps)}
	s := &snapshot.Snapshot{SchemaVersion: snapshot.SchemaVersion, Tool: r.Tool, Started: r.Now().UnixMilli(), MM2Version: r.MM2Version, MM2VersionFrom: r.MM2VersionFrom, Scope: r.Scope, Unresolved: r.Unresolved}
	for _, rc := range r.Clusters {
		cl := &cluster{Cluster: rc, topics: map[string]*snapshot.Topic{}, needed: map[string]bool{}, aged: map[string]bool{}, stables: map[string]bool{}, copies: map[string]bool{}}
		cl.out = snapshot.Cluster{Alias: rc.Alias, Bootstrap: rc.Bootstrap, CommandConfig: rc.CommandConfig, Login: rc.Login}
		c.by[rc.Alias] = cl
		c.order = append(c.order, cl)
	}
	flows := slices.Clone(r.Flows)
	for _, f := range flows {
		if cl := c.by[f.Source]; cl != nil {
			cl.source = true
		}
		if cl := c.by[f.Target]; cl != nil {
			cl.dest = true
		}
	}
	c.each(func(cl *cluster) { c.contact(ctx, cl) })
	c.effects(ctx, flows)
	c.each(func(cl *cluster) {
		if cl.source {
			gs := c.groups(ctx, cl, nil)
			if cl.dest {
				cl.out.First = cl.out.Groups
			}
			cl.out.Groups = gs
		}
	})
	c.logs(ctx, flows)
	c.details(ctx, flows)
	for _, cl := range c.order {
		cl.finish()
		s.Clusters = append(s.Clusters, cl.out)
	}
	s.Flows, s.Gaps = flows, c.gaps
	slices.SortFunc(s.Clusters, func(a, b snapshot.Cluster) int { return cmp.Compare(a.Alias, b.Alias) })
	slices.SortFunc(s.Flows, func(a, b snapshot.Flow) int { return cmp.Compare(a.Name(), b.Name()) })
	s.Taken = r.Now().UnixMilli()
	return s
}

// effects reads, for every flow, what stands at the end of the chain before what it comes from.
func (c *collector) effects(ctx context.Context, flows []snapshot.Flow) {
	var names []string
	if c.ByName || slices.ContainsFunc(c.order, func(cl *cluster) bool { return cl.dest && !cl.out.GroupsComplete.Or(false) }) {
		names = c.sourceNames(ctx) // nobody else needs them
	}
	c.each(func(cl *cluster) {
		if cl.dest {
			cl.out.Groups = c.groups(ctx, cl, names)
		}
	})
	c.eachFlow(flows, func(f *snapshot.Flow) { c.checkpoints(ctx, f) })
	c.eachFlow(flows, func(f *snapshot.Flow) { c.worker(ctx, f) })
	c.eachFlow(flows, func(f *snapshot.Flow) { c.heartbeat(ctx, f) })
	c.eachFlow(flows, func(f *snapshot.Flow) {
		beside := *f
		var wg sync.WaitGroup
		wg.Go(func() { c.checkpointsElsewhere(ctx, &beside) })
		c.syncs(ctx, f)
		wg.Wait()
		f.CheckpointsElsewhere = beside.CheckpointsElsewhere
	})
}

func (c *collector) progress(s string) {
	if c.Progress != nil {
		c.Progress(s)
	}
}

func (c *collector) each(f func(*cluster)) {
	var wg sync.WaitGroup
	for _, cl := range c.order {
		wg.Go(func() { f(cl) })
	}
	wg.Wait()
}

func (c *collector) eachFlow(flows []snapshot.Flow, f func(*snapshot.Flow)) {
	var wg sync.WaitGroup
	for i := range flows {
		wg.Go(func() { f(&flows[i]) })
	}
	wg.Wait()
}

// finish sorts the topics into the snapshot.
func (cl *cluster) finish() {
	if cl.contactFailed {
		return
	}
	ts := make([]snapshot.Topic, 0, len(cl.topics))
	for _, t := range cl.topics {
		if t.Partitions == nil {
			t.Partitions = []snapshot.Partition{}
		}
		ts = append(ts, *t)
	}
	slices.SortFunc(ts, func(a, b snapshot.Topic) int { return cmp.Compare(a.Name, b.Name) })
	if !cl.out.Topics.Unknown() || cl.out.Topics.Why() == nil {
		cl.out.Topics = snapshot.Is(ts)
	}
}
