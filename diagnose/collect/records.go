package collect

import (
	"cmp"
	"context"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate"
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

// mostBad is how many unreadable records are listed; all are counted.
const mostBad = 20

func addBad(list []snapshot.BadRecord, n *int64, r *kafka.Record, err error) []snapshot.BadRecord {
	*n++
	if len(list) < mostBad {
		list = append(list, snapshot.BadRecord{Partition: r.Partition, Offset: r.Offset, Reason: err.Error()})
	}
	return list
}

// state of an internal topic before it is read: known = there, absent, or not known.
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
	out := snapshot.Checkpoints{Topic: f.Checkpoints}
	newest := map[string]*snapshot.Checkpoint{}
	sp, err := readAll(ctx, cl, f.Checkpoints, 0, func(r *kafka.Record) {
		out.Records++
		out.First, out.Last = firstLast(out.First, out.Last, r.Timestamp)
		cp, _, err := formatters.DecodeCheckpoint(r.Key, r.Value)
		if err != nil {
			out.Bad = addBad(out.Bad, &out.BadCount, r, err)
			return
		}
		n := newest[string(r.Key)]
		if n == nil {
			n = &snapshot.Checkpoint{}
			newest[string(r.Key)] = n
		}
		*n = snapshot.Checkpoint{Group: cp.Group, Topic: cp.Topic, Partition: cp.Partition, Up: cp.Upstream, Down: cp.Downstream, Metadata: cp.Metadata, Offset: r.Offset, Time: r.Timestamp}
	})
	if err != nil {
		f.Checkpointed = snapshot.NotKnown[snapshot.Checkpoints](gapOf(cl.Alias, "Fetch", f.Checkpoints, err))
		return
	}
	out.Start, out.End = sp.start, sp.end
	for _, n := range newest {
		out.Newest = append(out.Newest, *n)
	}
	slices.SortFunc(out.Newest, func(a, b snapshot.Checkpoint) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	f.Checkpointed = snapshot.Is(out)
}

func firstLast(first, last, ts int64) (int64, int64) {
	if ts <= 0 {
		return first, last
	}
	if first == 0 || ts < first {
		first = ts
	}
	return first, max(last, ts)
}

// syncs reads the offset-syncs topic where it is expected, and looks whether there is one on the other cluster.
func (c *collector) syncs(ctx context.Context, f *snapshot.Flow) {
	cl := c.by[f.SyncsOn]
	other, otherName := c.by[f.Target], "mm2-offset-syncs"+f.Policy.InternalSeparator+f.Source+f.Policy.InternalSeparator+"internal"
	if f.SyncsOn == f.Target {
		other, otherName = c.by[f.Source], "mm2-offset-syncs"+f.Policy.InternalSeparator+f.Target+f.Policy.InternalSeparator+"internal"
	}
	f.Syncs = c.foldSyncs(ctx, cl, f.SyncsTopic, newRules(f))
	st, gap := c.topicState(ctx, other, otherName)
	switch st {
	case snapshot.Absent:
		f.SyncsElsewhere = snapshot.None[snapshot.TopicRef]()
	case snapshot.Unknown:
		f.SyncsElsewhere = snapshot.NotKnown[snapshot.TopicRef](gap)
	default:
		sp, err := extent(ctx, other, otherName, 0)
		if err != nil {
			f.SyncsElsewhere = snapshot.NotKnown[snapshot.TopicRef](gapOf(other.Alias, "ListOffsets", otherName, err))
			return
		}
		f.SyncsElsewhere = snapshot.Is(snapshot.TopicRef{Cluster: other.Alias, Topic: otherName, Records: sp.end - sp.start})
	}
}

// fold is one source partition's syncs while they stream by.
type fold struct {
	out                snapshot.PartitionSyncs
	greedy, twoPointer translate.Slots
}

func (c *collector) foldSyncs(ctx context.Context, cl *cluster, topic string, rules rules) snapshot.Fact[snapshot.Syncs] {
	st, gap := c.topicState(ctx, cl, topic)
	switch st {
	case snapshot.Absent:
		return snapshot.None[snapshot.Syncs]()
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Syncs](gap)
	}
	c.progress("offset syncs on " + cl.Alias)
	out := snapshot.Syncs{Cluster: cl.Alias, Topic: topic, History: "fold"}
	folds := map[string]*fold{}
	sp, err := readAll(ctx, cl, topic, 0, func(r *kafka.Record) {
		out.Records++
		out.First, out.Last = firstLast(out.First, out.Last, r.Timestamp)
		s, _, err := formatters.DecodeOffsetSync(r.Key, r.Value)
		if err != nil {
			out.Bad = addBad(out.Bad, &out.BadCount, r, err)
			return
		}
		fd := folds[string(r.Key)]
		if fd == nil {
			fd = &fold{out: snapshot.PartitionSyncs{Topic: s.Topic, Partition: s.Partition}, greedy: translate.NewSlots(translate.Greedy), twoPointer: translate.NewSlots(translate.TwoPointer)}
			folds[string(r.Key)] = fd
		}
		rules.see(s)
		fd.add(snapshot.Sync{Up: s.Upstream, Down: s.Downstream, Offset: r.Offset, Time: r.Timestamp})
	})
	if err != nil {
		return snapshot.NotKnown[snapshot.Syncs](gapOf(cl.Alias, "Fetch", topic, err))
	}
	out.Start, out.End = sp.start, sp.end
	rules.tell(&out)
	for _, fd := range folds {
		fd.out.Greedy, fd.out.TwoPointer = runs(&fd.greedy), runs(&fd.twoPointer)
		out.Partitions = append(out.Partitions, fd.out)
	}
	slices.SortFunc(out.Partitions, func(a, b snapshot.PartitionSyncs) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return snapshot.Is(out)
}

func (fd *fold) add(s snapshot.Sync) {
	p := &fd.out
	if p.Count == 0 {
		p.Oldest = s
	} else if s.Up < p.Newest.Up || s.Down < p.Newest.Down {
		p.Rewinds++
	}
	p.Count++
	p.Newest = s
	t := translate.Sync{Upstream: s.Up, Downstream: s.Down, Offset: s.Offset, Time: s.Time}
	fd.greedy.Apply(t)
	fd.twoPointer.Apply(t)
}

func runs(s *translate.Slots) []snapshot.Run {
	var out []snapshot.Run
	for _, r := range s.Runs() {
		out = append(out, snapshot.Run{Slot: r.Slot, Sync: snapshot.Sync{Up: r.Sync.Upstream, Down: r.Sync.Downstream, Offset: r.Sync.Offset, Time: r.Sync.Time}})
	}
	return out
}
