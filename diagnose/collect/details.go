package collect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// details reads what hangs on names that are known by now: settings of brokers and topics, rules, epochs, times of commits,
// further topics. Nothing here is compared with an offset that moves, so the order does not matter and all is asked at once.
func (c *collector) details(ctx context.Context, flows []snapshot.Flow) {
	groups := c.groupNames(flows)
	c.each(func(cl *cluster) {
		if cl.contactFailed {
			g := cl.unreachable()
			cl.out.Settings, cl.out.Acls = snapshot.NotKnown[[]snapshot.ConfigEntry](g), snapshot.NotKnown[[]snapshot.Acl](g)
			return
		}
		c.progress("settings of " + cl.Alias)
		topics := c.topicsOf(cl, flows)
		at := strayTopics(cl, slices.Concat(flows, c.Others))
		epochs, followed := cl.epochQueries(), c.followed(cl, flows)
		var wg sync.WaitGroup
		wg.Go(func() { cl.brokerSettings(ctx) })
		wg.Go(func() { cl.acls(ctx, ruleNames{topics, groups}) })
		wg.Go(func() { cl.topicConfigs(ctx, topics, at) })
		wg.Go(func() { cl.epochs(ctx, epochs) })
		wg.Go(func() { cl.commitTimes(ctx, followed) })
		wg.Go(func() { cl.strays(ctx, at) })
		wg.Wait()
	})
	for i := range flows {
		c.others(&flows[i])
	}
}

// topicsOf gives the topics on a cluster that the flows read or write, sorted; also those that are not there.
func (c *collector) topicsOf(cl *cluster, flows []snapshot.Flow) []string {
	names := maps.Clone(cl.needed)
	for i := range flows {
		f := &flows[i]
		p := f.Naming(mm2.Version{})
		if f.SyncsOn == cl.Alias {
			names[f.SyncsTopic] = true
		}
		if r, st := f.SyncsElsewhere.Get(); st == snapshot.Known && r.Cluster == cl.Alias {
			names[r.Topic] = true
		}
		if f.Target == cl.Alias {
			names[f.Checkpoints], names[f.Heartbeats] = true, true
		}
		if c.workerOf(f) == cl {
			for _, n := range []string{workerTopic(f, "config.storage.topic", "configs"), workerTopic(f, "status.storage.topic", "status"), workerTopic(f, "offset.storage.topic", "offsets")} {
				names[n] = true
			}
		}
		if f.Source == cl.Alias {
			names[f.Heartbeats] = true
			if f.CheckpointsElsewhere.Known() {
				names[f.Checkpoints] = true
			}
		}
		for _, ps := range f.Syncs.Or(snapshot.Syncs{}).Partitions {
			if f.Source == cl.Alias {
				names[ps.Topic] = true
			}
			if copied, known := p.FormatRemoteTopic(f.Source, ps.Topic); known && f.Target == cl.Alias {
				names[copied] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// groupNames are the groups that a flow may follow, on either side, and MirrorMaker 2's own.
func (c *collector) groupNames(flows []snapshot.Flow) []string {
	names := map[string]bool{}
	for _, cl := range c.order {
		for _, g := range cl.out.Groups.Or(nil) {
			names[g.ID] = true
		}
	}
	for i := range flows {
		names[flows[i].Source+"-mm2"] = true
		if cs, st := flows[i].Configured.Get(); st == snapshot.Known {
			for _, e := range cs.Worker {
				if e.Key == "group.id" {
					names[e.Value] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (cl *cluster) topicConfigs(ctx context.Context, flowTopics []string, stray []string) {
	var there []string
	for _, n := range append(slices.Clone(flowTopics), stray...) {
		if t := cl.topics[n]; t != nil && t.Gap == nil {
			there = append(there, n)
		} else if t != nil {
			t.Config = snapshot.NotKnown[[]snapshot.ConfigEntry](t.Gap)
		}
	}
	if len(there) == 0 {
		return
	}
	for n, r := range cl.Client.DescribeTopicConfigs(ctx, there, topicKeys...) {
		if r.Err != nil {
			cl.topics[n].Config = snapshot.NotKnown[[]snapshot.ConfigEntry](gapOf(cl.Alias, "DescribeConfigs", n, r.Err))
			continue
		}
		cl.topics[n].Config = snapshot.Is(configEntries(r.Entries))
	}
}

// targetGroups are the groups as they were read when the cluster was looked at as a target.
func (cl *cluster) targetGroups() []snapshot.Group {
	if !cl.dest {
		return nil
	}
	if cl.source {
		return cl.out.First.Or(nil)
	}
	return cl.out.Groups.Or(nil)
}

// epochQueries names each leader epoch that a group committed on a copy.
func (cl *cluster) epochQueries() []wire.EpochQuery {
	seen := map[wire.EpochQuery]bool{}
	var qs []wire.EpochQuery
	for _, g := range cl.targetGroups() {
		for _, o := range g.Offsets.Or(nil) {
			q := wire.EpochQuery{Topic: o.Topic, Partition: o.Partition, Epoch: o.Epoch}
			if o.Epoch >= 0 && cl.copies[o.Topic] && !seen[q] && cl.partition(o.Topic, o.Partition) != nil {
				seen[q] = true
				qs = append(qs, q)
			}
		}
	}
	slices.SortFunc(qs, func(a, b wire.EpochQuery) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Epoch, b.Epoch))
	})
	return qs
}

// epochs asks where the log of each epoch ends, as a Java consumer does before it trusts the offset (KIP-320).
func (cl *cluster) epochs(ctx context.Context, qs []wire.EpochQuery) {
	for _, a := range cl.Client.OffsetForLeaderEpoch(ctx, qs) {
		p := cl.partition(a.Topic, a.Partition)
		if a.Err != nil {
			p.Epochs = snapshot.NotKnown[[]snapshot.EpochEnd](gapOf(cl.Alias, "OffsetForLeaderEpoch", a.Topic, a.Err))
			continue
		}
		if p.Epochs.Why() != nil {
			continue // another epoch of the partition was not answered: the list would not be whole
		}
		p.Epochs = snapshot.Is(append(p.Epochs.Or(nil), snapshot.EpochEnd{Asked: a.EpochQuery.Epoch, Found: a.Known, End: a.End}))
	}
}

func (cl *cluster) partition(topic string, id int32) *snapshot.Partition {
	t := cl.topics[topic]
	if t == nil || t.Gap != nil {
		return nil
	}
	for i := range t.Partitions {
		if t.Partitions[i].ID == id {
			return &t.Partitions[i]
		}
	}
	return nil
}

// strayTopics are the topics of a cluster that are named as offset-syncs topics are, and belong to no flow that is known.
func strayTopics(cl *cluster, flows []snapshot.Flow) []string {
	var out []string
	for n := range cl.topics {
		m := syncsName.FindStringSubmatch(n)
		if m == nil || m[1] != m[3] || slices.ContainsFunc(flows, func(f snapshot.Flow) bool { return f.SyncsOn == cl.Alias && f.SyncsTopic == n }) {
			continue
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// strays counts the records of such topics.
func (cl *cluster) strays(ctx context.Context, names []string) {
	var qs []wire.OffsetQuery
	for _, n := range names {
		if g := cl.topics[n].Gap; g != nil {
			cl.stray = snapshot.NotKnown[[]snapshot.TopicRef](g)
			return
		}
		qs = append(qs, wire.OffsetQuery{Topic: n, Timestamp: wire.AtStart}, wire.OffsetQuery{Topic: n, Timestamp: wire.AtEnd, Committed: true}, wire.OffsetQuery{Topic: n, Timestamp: wire.AtMax})
	}
	out := []snapshot.TopicRef{}
	as := cl.Client.ListOffsets(ctx, qs)
	for i := 0; i < len(as); i += 3 {
		for _, a := range as[i : i+2] { // brokers before 3.0 do not tell the newest record (KIP-734): its time stays not known
			if a.Err != nil {
				cl.stray = snapshot.NotKnown[[]snapshot.TopicRef](gapOf(cl.Alias, "ListOffsets", a.Topic, a.Err))
				return
			}
		}
		ref := snapshot.TopicRef{Cluster: cl.Alias, Topic: as[i].Topic, Records: as[i+1].Offset - as[i].Offset}
		if as[i+2].Err == nil {
			ref.Last = max(as[i+2].Timestamp, 0)
		}
		out = append(out, ref)
	}
	cl.stray = snapshot.Is(out)
}

// others puts the further offset-syncs topics of both clusters together. What was found is told also where a list may lack
// topics; that there is none is told only where it may not.
func (c *collector) others(f *snapshot.Flow) {
	out := []snapshot.TopicRef{}
	var gap *snapshot.Gap
	for _, alias := range []string{f.Source, f.Target} {
		cl := c.by[alias]
		switch {
		case cl.contactFailed:
			gap = cl.unreachable()
		case cl.out.Topics.Why() != nil:
			gap = cl.out.Topics.Why()
		case cl.out.TopicsComplete.Unknown() && cl.out.TopicsComplete.Why() != nil:
			gap = cl.out.TopicsComplete.Why()
		case cl.stray.Unknown():
			gap = cl.stray.Why()
		default:
			out = append(out, cl.stray.Or(nil)...)
			if w := cl.out.GroupsComplete.Why(); w != nil && w.Code == "denied" && gap == nil {
				gap = &snapshot.Gap{Code: "incomplete", Cluster: alias, API: "Metadata", Why: "without Describe on the cluster, topics may be left out of the list without an error"}
			}
		}
	}
	if len(out) == 0 && gap != nil {
		f.SyncsOthers = snapshot.NotKnown[[]snapshot.TopicRef](gap)
		return
	}
	slices.SortFunc(out, func(a, b snapshot.TopicRef) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Topic, b.Topic))
	})
	f.SyncsOthers = snapshot.Is(out)
}

// checkpointsElsewhere looks for the flow's checkpoints topic on the source, where only a worker that is attached to the wrong
// cluster writes it.
func (c *collector) checkpointsElsewhere(ctx context.Context, f *snapshot.Flow) {
	f.CheckpointsElsewhere = c.topicRef(ctx, c.by[f.Source], f.Checkpoints)
}
