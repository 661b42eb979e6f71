package collect

import (
	"context"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// shares reads how far share groups have come (KIP-932): the stored start, the lag, the ends of the logs after it, and, where the
// doctor may, what was acknowledged beyond the start.
func (c *collector) shares(ctx context.Context, cl *cluster, groups []string) map[string]snapshot.Fact[[]snapshot.SharePosition] {
	out := map[string]snapshot.Fact[[]snapshot.SharePosition]{}
	if len(groups) == 0 {
		return out
	}
	stored := cl.Client.DescribeShareOffsets(ctx, groups)
	ends := shareEnds(ctx, cl, stored)
	for _, g := range groups {
		r := stored[g]
		if r.Err != nil {
			out[g] = snapshot.NotKnown[[]snapshot.SharePosition](gapOf(cl.Alias, "DescribeShareGroupOffsets", g, r.Err))
			continue
		}
		out[g] = c.sharePositions(ctx, cl, g, r.Offsets, ends)
	}
	return out
}

func (c *collector) sharePositions(ctx context.Context, cl *cluster, group string, offsets []wire.ShareOffset, ends map[kafka.TopicPartition]int64) snapshot.Fact[[]snapshot.SharePosition] {
	ps := make([]snapshot.SharePosition, 0, len(offsets))
	states := cl.Client.ReadShareState(ctx, group, offsets)
	for i, o := range offsets {
		if o.Err != nil {
			return snapshot.NotKnown[[]snapshot.SharePosition](gapOf(cl.Alias, "DescribeShareGroupOffsets", group, o.Err))
		}
		p := snapshot.SharePosition{Topic: o.Topic, Partition: o.Partition, Start: o.Start, Lag: o.Lag, End: -1}
		if end, ok := ends[kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}]; ok {
			p.End = end
		}
		if s := states[i]; s.Known && s.Err == nil {
			open := s.Open()
			p.Open = &open
		}
		ps = append(ps, p)
	}
	return snapshot.Is(ps)
}

// shareEnds asks for the log ends of all partitions that share groups read.
func shareEnds(ctx context.Context, cl *cluster, stored map[string]wire.ShareOffsetsResult) map[kafka.TopicPartition]int64 {
	seen := map[kafka.TopicPartition]bool{}
	var qs []wire.OffsetQuery
	for _, r := range stored {
		for _, o := range r.Offsets {
			tp := kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}
			if !seen[tp] {
				seen[tp] = true
				qs = append(qs, wire.OffsetQuery{Topic: o.Topic, Partition: o.Partition, Timestamp: wire.AtEnd})
			}
		}
	}
	out := map[kafka.TopicPartition]int64{}
	for _, a := range cl.Client.ListOffsets(ctx, qs) {
		if a.Err == nil {
			out[kafka.TopicPartition{Topic: a.Topic, Partition: a.Partition}] = a.Offset
		}
	}
	return out
}
