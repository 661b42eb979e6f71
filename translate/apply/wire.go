package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// NewTarget makes a Target of a connection. Reading works over any; writing needs wire.Writer().
func NewTarget(c *wire.Client) Target { return link{c} }

// NewSource makes a Source of a connection.
func NewSource(c *wire.Client) Source { return link{c} }

type link struct{ c *wire.Client }

func (l link) ClusterID(ctx context.Context) (string, error) {
	md, err := l.c.Metadata(ctx, []string{})
	if err != nil {
		return "", err
	}
	return md.ClusterID, nil
}

func (l link) Groups(ctx context.Context, ids []string) map[string]GroupNow {
	refs := make([]wire.GroupRef, 0, len(ids))
	for _, id := range ids {
		refs = append(refs, wire.GroupRef{ID: id})
	}
	// Offsets first: a member that joins in between is seen.
	offsets := l.c.FetchOffsets(ctx, ids)
	states := l.c.DescribeGroups(ctx, refs)
	var shares []string
	for _, id := range ids {
		if states[id].Type == kafka.TypeShare {
			shares = append(shares, id)
		}
	}
	starts := map[string]wire.ShareOffsetsResult{}
	if len(shares) > 0 {
		starts = l.c.DescribeShareOffsets(ctx, shares)
	}
	out := make(map[string]GroupNow, len(ids))
	for _, id := range ids {
		s := states[id]
		g := GroupNow{Exists: s.Exists, State: s.State, Type: s.Type, ProtocolType: s.ProtocolType, Offsets: map[kafka.TopicPartition]OffsetNow{}, Err: s.Err}
		for _, m := range s.Members {
			g.Holders = append(g.Holders, holder(m))
		}
		if s.Type == kafka.TypeShare {
			g.Err = errors.Join(g.Err, starts[id].Err)
			for _, o := range starts[id].Offsets {
				g.Offsets[kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = OffsetNow{Committed: plan.Committed{Offset: o.Start, Epoch: kafka.NoEpoch}, Err: o.Err, Lag: lagOf(o)}
			}
		} else {
			g.Err = errors.Join(g.Err, offsets[id].Err)
			for _, o := range offsets[id].Offsets {
				g.Offsets[kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = OffsetNow{Committed: plan.Committed{Offset: o.Offset, Epoch: o.Epoch, Metadata: o.Metadata}, Err: o.Err}
			}
		}
		out[id] = g
	}
	return out
}

func lagOf(o wire.ShareOffset) *int64 {
	if o.Lag < 0 {
		return nil
	}
	return &o.Lag
}

// holder names a member by what finds its process: client id, host, instance.
func holder(m wire.Member) string {
	s := m.ClientID
	if s == "" {
		s = m.ID
	}
	if m.Host != "" {
		s += " at " + m.Host
	}
	if m.InstanceID != "" {
		s += " (static member " + m.InstanceID + ", which stays until its session times out)"
	}
	return s
}

func (l link) Offsets(ctx context.Context, groups []string) map[string]GroupNow {
	out := make(map[string]GroupNow, len(groups))
	for id, r := range l.c.FetchOffsets(ctx, groups) {
		g := GroupNow{Offsets: map[kafka.TopicPartition]OffsetNow{}, Err: r.Err}
		for _, o := range r.Offsets {
			g.Offsets[kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = OffsetNow{Committed: plan.Committed{Offset: o.Offset, Epoch: o.Epoch, Metadata: o.Metadata}, Err: o.Err}
		}
		out[id] = g
	}
	return out
}

func (l link) TopicIDs(ctx context.Context, names []string) map[string]string {
	out := map[string]string{}
	md, err := l.c.Metadata(ctx, names)
	if err != nil {
		return out
	}
	for _, t := range md.Topics {
		if t.Err == nil && t.ID != "" {
			out[t.Name] = t.ID
		}
	}
	return out
}

func (l link) Topics(ctx context.Context, names []string) map[string]TopicNow {
	out := map[string]TopicNow{}
	if len(names) == 0 {
		return out
	}
	md, err := l.c.Metadata(ctx, names)
	if err != nil {
		for _, n := range names {
			out[n] = TopicNow{Err: err}
		}
		return out
	}
	var qs []wire.OffsetQuery
	for _, n := range names {
		t, _ := md.Topic(n)
		now := TopicNow{ID: t.ID, Partitions: map[int32]PartitionNow{}, Err: t.Err}
		for _, p := range t.Partitions {
			now.Partitions[p.ID] = PartitionNow{Epoch: p.Epoch}
			qs = append(qs,
				wire.OffsetQuery{Topic: n, Partition: p.ID, Timestamp: wire.AtStart},
				wire.OffsetQuery{Topic: n, Partition: p.ID, Timestamp: wire.AtEnd, Committed: true},
				wire.OffsetQuery{Topic: n, Partition: p.ID, Timestamp: wire.AtEnd})
		}
		out[n] = now
	}
	for three := range slices.Chunk(l.c.ListOffsets(ctx, qs), 3) {
		ps := out[three[0].Topic].Partitions
		p := ps[three[0].Partition]
		p.LogStart, p.Stable, p.End = three[0].Offset, three[1].Offset, three[2].Offset
		p.Err = errors.Join(three[0].Err, three[1].Err, three[2].Err)
		ps[three[0].Partition] = p
	}
	return out
}

func (l link) Epochs(ctx context.Context, queries []EpochQuery) []EpochEnd {
	qs := make([]wire.EpochQuery, 0, len(queries))
	for _, q := range queries {
		qs = append(qs, wire.EpochQuery{Topic: q.Topic, Partition: q.Partition, Epoch: q.Epoch})
	}
	out := make([]EpochEnd, 0, len(qs))
	for _, a := range l.c.OffsetForLeaderEpoch(ctx, qs) {
		out = append(out, EpochEnd{a.End, a.Err})
	}
	return out
}

func (l link) Commit(ctx context.Context, group string, values []Value, keepMs int64) Answer {
	cs := make([]wire.Commit, 0, len(values))
	for _, v := range values {
		cs = append(cs, wire.Commit{Topic: v.Topic, Partition: v.Partition, Offset: v.Offset, Epoch: v.Epoch, Metadata: v.Metadata})
	}
	rs, err := l.c.CommitOffsets(ctx, group, cs, wire.CommitOptions{RetentionMs: keepMs})
	a := Answer{Err: err, Places: map[kafka.TopicPartition]error{}}
	for i, r := range rs {
		if r.Err != nil {
			a.Places[values[i].TopicPartition] = r.Err
		}
	}
	return a
}

func (l link) Delete(ctx context.Context, group string, tps []kafka.TopicPartition) Answer {
	bad, err := l.c.DeleteOffsets(ctx, group, tps)
	a := Answer{Err: err, Places: map[kafka.TopicPartition]error{}}
	for tp, err := range bad {
		// A group that is not there has no offsets.
		if err != nil && codeOf(err) != kafka.GroupIDNotFound {
			a.Places[tp] = err
		}
	}
	return a
}

func (l link) DeleteGroup(ctx context.Context, group string) error {
	if err := l.c.DeleteGroup(ctx, group); codeOf(err) != kafka.GroupIDNotFound {
		return err
	}
	return nil
}

func (l link) AlterShare(ctx context.Context, group string, values []Value) Answer {
	ss := make([]wire.ShareStart, 0, len(values))
	for _, v := range values {
		ss = append(ss, wire.ShareStart{Topic: v.Topic, Partition: v.Partition, Offset: v.Offset})
	}
	rs, err := l.c.AlterShareOffsets(ctx, group, ss)
	a := Answer{Err: err, Places: map[kafka.TopicPartition]error{}}
	for i, r := range rs {
		if r.Err != nil {
			a.Places[values[i].TopicPartition] = r.Err
		}
	}
	return a
}

func (l link) DeleteShare(ctx context.Context, group string, topics []string) Answer {
	bad, err := l.c.DeleteShareOffsets(ctx, group, topics)
	a := Answer{Err: err, Places: map[kafka.TopicPartition]error{}}
	for t, err := range bad {
		if err != nil && codeOf(err) != kafka.GroupIDNotFound {
			a.Places[kafka.TopicPartition{Topic: t, Partition: -1}] = err
		}
	}
	return a
}
