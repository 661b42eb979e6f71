package collect

import (
	"context"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// span is what a whole internal topic covers: partition 0, where MirrorMaker 2 writes and reads.
type span struct{ start, end int64 }

// extent takes the end of a partition once; reading goes no further, so that a topic that is written all the time ends.
func extent(ctx context.Context, cl *cluster, topic string, partition int32) (span, error) {
	as := cl.Client.ListOffsets(ctx, []wire.OffsetQuery{{Topic: topic, Partition: partition, Timestamp: wire.AtStart}, {Topic: topic, Partition: partition, Timestamp: wire.AtEnd, Committed: true}})
	for _, a := range as {
		if a.Err != nil {
			return span{}, a.Err
		}
	}
	return span{as[0].Offset, as[1].Offset}, nil
}

// readAll gives every committed record of a partition up to the end that it has now.
func readAll(ctx context.Context, cl *cluster, topic string, partition int32, fn func(*kafka.Record)) (span, error) {
	sp, err := extent(ctx, cl, topic, partition)
	if err != nil || sp.start >= sp.end {
		return sp, err
	}
	_, err = cl.Client.ReadPartition(ctx, topic, partition, sp.start, sp.end, wire.ReadOptions{Committed: true}, func(r *kafka.Record) error {
		fn(r)
		return nil
	})
	return sp, err
}

// topicState tells of an internal topic before it is read: known = there, absent, or not known.
func (c *collector) topicState(ctx context.Context, cl *cluster, name string) (snapshot.State, *snapshot.Gap) {
	if cl.contactFailed {
		return snapshot.Unknown, cl.unreachable()
	}
	c.mu.Lock()
	t := cl.topics[name]
	c.mu.Unlock()
	if t == nil {
		md, err := cl.Client.Metadata(ctx, []string{name})
		if err != nil {
			return snapshot.Unknown, gapOf(cl.Alias, "Metadata", name, err)
		}
		if len(md.Topics) != 1 || wire.CodeOf(md.Topics[0].Err) == kafka.UnknownTopicOrPartition {
			return snapshot.Absent, nil
		}
		c.mu.Lock()
		cl.addTopic(&md.Topics[0])
		t = cl.topics[name]
		c.mu.Unlock()
	}
	if t.Gap != nil {
		return snapshot.Unknown, t.Gap
	}
	return snapshot.Known, nil
}

func (c *collector) checkpoints(ctx context.Context, f *snapshot.Flow) {
	cl := c.by[f.Target]
	st, gap := c.topicState(ctx, cl, f.Checkpoints)
	switch st {
	case snapshot.Absent:
		f.Checkpointed = snapshot.None[snapshot.Checkpoints]()
		return
	case snapshot.Unknown:
		f.Checkpointed = snapshot.NotKnown[snapshot.Checkpoints](gap)
		return
	}
	c.progress("checkpoints of " + f.Name())
	fold := NewCheckpointFold(f.Checkpoints)
	sp, err := readAll(ctx, cl, f.Checkpoints, 0, fold.Add)
	if err != nil {
		f.Checkpointed = snapshot.NotKnown[snapshot.Checkpoints](gapOf(cl.Alias, "Fetch", f.Checkpoints, err))
		return
	}
	f.Checkpointed = snapshot.Is(fold.Result(sp.start, sp.end))
}

// syncs reads the offset-syncs topic where it is expected, and looks whether there is one on the other cluster.
func (c *collector) syncs(ctx context.Context, f *snapshot.Flow) {
	other, alias := c.by[f.Target], f.Source
	if f.SyncsOn == f.Target {
		other, alias = c.by[f.Source], f.Target
	}
	f.Syncs = c.foldSyncs(ctx, c.by[f.SyncsOn], f)
	f.SyncsElsewhere = c.topicRef(ctx, other, mm2.OffsetSyncsTopic(alias, f.Policy.InternalSeparator))
}

// topicRef tells of a topic in an unexpected place, with the number of its records.
func (c *collector) topicRef(ctx context.Context, cl *cluster, topic string) snapshot.Fact[snapshot.TopicRef] {
	st, gap := c.topicState(ctx, cl, topic)
	switch st {
	case snapshot.Absent:
		return snapshot.None[snapshot.TopicRef]()
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.TopicRef](gap)
	}
	sp, err := extent(ctx, cl, topic, 0)
	if err != nil {
		return snapshot.NotKnown[snapshot.TopicRef](gapOf(cl.Alias, "ListOffsets", topic, err))
	}
	return snapshot.Is(snapshot.TopicRef{Cluster: cl.Alias, Topic: topic, Records: sp.end - sp.start})
}

func (c *collector) foldSyncs(ctx context.Context, cl *cluster, f *snapshot.Flow) snapshot.Fact[snapshot.Syncs] {
	st, gap := c.topicState(ctx, cl, f.SyncsTopic)
	switch st {
	case snapshot.Absent:
		return snapshot.None[snapshot.Syncs]()
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Syncs](gap)
	}
	c.progress("offset syncs on " + cl.Alias)
	fold := NewSyncFold(cl.Alias, f)
	if c.Ranges {
		fold.KeepRanges()
	}
	sp, err := readAll(ctx, cl, f.SyncsTopic, 0, fold.Add)
	if err != nil {
		return snapshot.NotKnown[snapshot.Syncs](gapOf(cl.Alias, "Fetch", f.SyncsTopic, err))
	}
	return snapshot.Is(fold.Result(sp.start, sp.end))
}
