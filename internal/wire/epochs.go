package wire

import (
	"context"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// EpochQuery asks where a leader epoch of a partition ended.
type EpochQuery struct {
	Topic     string
	Partition int32
	Epoch     int32
}

// EpochAnswer answers the query of the same index. End is the offset after the last record of the greatest epoch at or below
// the one asked for, Epoch that epoch; both are -1 for an epoch that the log never had.
type EpochAnswer struct {
	EpochQuery
	Known int32 // the epoch that End belongs to
	End   int64
	Err   error
}

// OffsetForLeaderEpoch tells what a Java consumer learns when it checks a committed leader epoch (KIP-320).
func (c *Client) OffsetForLeaderEpoch(ctx context.Context, queries []EpochQuery) []EpochAnswer {
	const api = "OffsetForLeaderEpoch"
	out := make([]EpochAnswer, len(queries))
	keys := make([]int, len(queries))
	for i, q := range queries {
		keys[i], out[i] = i, EpochAnswer{EpochQuery: q, Known: kafka.NoEpoch, End: -1}
	}
	tp := func(i int) kafka.TopicPartition {
		return kafka.TopicPartition{Topic: queries[i].Topic, Partition: queries[i].Partition}
	}
	var mu sync.Mutex
	failed := spread(ctx, c, keys, 4000, func(ctx context.Context, keys []int, try int) (map[int32][]int, map[int]error) {
		return placeByLeader(ctx, c, keys, tp, try)
	}, func(ctx context.Context, n node, part []int) map[int]error {
		bad := map[int]error{}
		for len(part) > 0 { // a partition may stand in a request once
			at := map[kafka.TopicPartition]int{}
			var later []int
			req := kmsg.NewPtrOffsetForLeaderEpochRequest()
			req.ReplicaID = -1
			for _, i := range part {
				if _, twice := at[tp(i)]; twice {
					later = append(later, i)
					continue
				}
				at[tp(i)] = i
				t := kmsg.NewOffsetForLeaderEpochRequestTopic()
				t.Topic = queries[i].Topic
				p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
				p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch = queries[i].Partition, -1, queries[i].Epoch
				t.Partitions = append(t.Partitions, p)
				if k := len(req.Topics); k > 0 && req.Topics[k-1].Topic == t.Topic {
					req.Topics[k-1].Partitions = append(req.Topics[k-1].Partitions, p)
				} else {
					req.Topics = append(req.Topics, t)
				}
			}
			part = later
			r, err := c.ask(ctx, n, req)
			mu.Lock()
			if err == nil {
				for _, t := range r.(*kmsg.OffsetForLeaderEpochResponse).Topics {
					for _, p := range t.Partitions {
						k := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
						i, ok := at[k]
						if !ok {
							continue
						}
						delete(at, k)
						if e := c.code(api, n, p.ErrorCode, nil); e != nil {
							bad[i] = e
							continue
						}
						out[i].Known, out[i].End = p.LeaderEpoch, p.EndOffset
					}
				}
			}
			for k, i := range at {
				if bad[i] = c.fail(api, n, err); err == nil {
					bad[i] = c.fail(api, n, missing(k.String()))
				}
			}
			mu.Unlock()
		}
		return bad
	})
	for i, err := range failed {
		out[i].Err = about(err, tp(i).String())
	}
	return out
}
