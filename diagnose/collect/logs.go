package collect

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// logs brings the topic lists up to date and takes start and end of every partition that a group's position lies in: the
// targets' first, the sources' last, so that no end is older than an offset it is compared with.
func (c *collector) logs(ctx context.Context, flows []snapshot.Flow) {
	for i := range flows {
		f := &flows[i]
		src, dst := c.by[f.Source], c.by[f.Target]
		p := f.Naming(mm2.Version{})
		synced := map[string]int{} // partitions with a sync
		for _, ps := range f.Syncs.Or(snapshot.Syncs{}).Partitions {
			synced[ps.Topic]++
		}
		committed := readsCommitted(f)
		for _, t := range committedTopics(src.out.Groups) {
			src.needed[t] = true
			src.stables[t] = src.stables[t] || committed
			if name, known := p.FormatRemoteTopic(f.Source, t); known {
				dst.needed[name], dst.copies[name] = true, true
				if dst.topics[name] == nil {
					src.aged[t] = true
				} else if s := src.topics[t]; s != nil && (len(s.Partitions) > len(dst.topics[name].Partitions) || synced[t] < len(s.Partitions)) {
					src.aged[t] = true
				}
			}
		}
		on, _ := dst.out.Groups.Get()
		for i := range on { // share groups that go back to the source
			maps.Copy(dst.needed, shared(&on[i]))
		}
	}
	for _, first := range []bool{true, false} {
		c.each(func(cl *cluster) {
			if cl.contactFailed || first != cl.dest {
				return
			}
			c.progress("ends of " + cl.Alias)
			cl.readMetadata(ctx, c)
			names := slices.Sorted(maps.Keys(cl.needed))
			cl.lookUp(ctx, names)
			cl.ends(ctx, names)
		})
	}
	// A cluster that is both is read again as a source: its ends must not be older than the offsets of the other flow.
	for _, cl := range c.order {
		if !cl.contactFailed && cl.dest && cl.source {
			cl.ends(ctx, slices.Sorted(maps.Keys(cl.needed)))
		}
	}
}

// readsCommitted says that the source connector's consumer stops at open transactions: only then is the last stable offset of
// interest.
func readsCommitted(f *snapshot.Flow) bool {
	for _, of := range []snapshot.Fact[snapshot.Connectors]{f.Running, f.Configured} {
		for _, e := range of.Or(snapshot.Connectors{}).Source {
			if strings.HasSuffix(e.Key, "isolation.level") && strings.TrimSpace(e.Value) == "read_committed" {
				return true
			}
		}
	}
	return false
}

func committedTopics(gs snapshot.Fact[[]snapshot.Group]) []string {
	seen := map[string]bool{}
	list, _ := gs.Get()
	for i := range list {
		os, _ := list[i].Offsets.Get()
		for _, o := range os {
			if !strings.HasPrefix(o.Topic, "__") {
				seen[o.Topic] = true
			}
		}
		for t := range shared(&list[i]) {
			seen[t] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// shared are the topics of a share group: where it has not begun with a partition yet, the ends are all that there is.
func shared(g *snapshot.Group) map[string]bool {
	out := map[string]bool{}
	ps, _ := g.Shares.Get()
	for _, p := range ps {
		out[p.Topic] = true
	}
	return out
}

func (cl *cluster) ends(ctx context.Context, names []string) {
	var qs []wire.OffsetQuery
	var ps []*snapshot.Partition
	var kinds []int
	for _, n := range names {
		t := cl.topics[n]
		if t == nil || t.Gap != nil {
			continue
		}
		for i := range t.Partitions {
			p := &t.Partitions[i]
			add := func(kind int, ts int64, committed bool) {
				qs = append(qs, wire.OffsetQuery{Topic: n, Partition: p.ID, Timestamp: ts, Committed: committed})
				ps, kinds = append(ps, p), append(kinds, kind)
			}
			add(0, wire.AtStart, false)
			add(1, wire.AtEnd, false)
			if cl.aged[n] {
				add(2, 0, false)
			}
			if cl.stables[n] {
				add(3, wire.AtEnd, true)
			}
		}
	}
	for i, a := range cl.Client.ListOffsets(ctx, qs) {
		v := snapshot.Is(a.Offset)
		if kinds[i] == 2 {
			v = snapshot.Is(a.Timestamp)
			if a.Timestamp < 0 {
				v = snapshot.None[int64]()
			}
		}
		if a.Err != nil {
			v = snapshot.NotKnown[int64](gapOf(cl.Alias, "ListOffsets", qs[i].Topic, a.Err))
		}
		switch kinds[i] {
		case 0:
			ps[i].Start = v
		case 1:
			ps[i].End = v
		case 2:
			ps[i].First = v
		default:
			ps[i].Stable = v
		}
	}
}
