package wire

import (
	"context"
	"errors"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Timestamps that ListOffsets gives a meaning of their own.
const (
	AtEnd   int64 = -1 // log end offset; the last stable offset when Committed
	AtStart int64 = -2 // log start offset
	AtMax   int64 = -3 // record with the greatest timestamp; Kafka 3.0 (KIP-734)
)

// OffsetQuery asks for the offset of a time (ms) in a partition, or of one of AtEnd, AtStart, AtMax.
type OffsetQuery struct {
	Topic     string
	Partition int32
	Timestamp int64
	Committed bool // as a read_committed consumer sees it
}

// OffsetAnswer answers the query of the same index. Offset is -1 where no record fits (a time after the last record, AtMax of
// an empty log); Timestamp is the record's (ms), -1 where there is none; Epoch is -1 where the broker does not tell.
type OffsetAnswer struct {
	Topic     string
	Partition int32
	Offset    int64
	Timestamp int64
	Epoch     int32
	Err       error
}

// ListOffsets asks the leaders. Answers have the order of the queries.
func (c *Client) ListOffsets(ctx context.Context, queries []OffsetQuery) []OffsetAnswer {
	out := make([]OffsetAnswer, len(queries))
	keys := make([]int, len(queries))
	for i, q := range queries {
		keys[i] = i
		out[i] = OffsetAnswer{Topic: q.Topic, Partition: q.Partition, Offset: -1, Timestamp: -1, Epoch: kafka.NoEpoch}
	}
	tp := func(i int) kafka.TopicPartition {
		return kafka.TopicPartition{Topic: queries[i].Topic, Partition: queries[i].Partition}
	}
	failed := spread(ctx, c, keys, 4000, func(ctx context.Context, keys []int, try int) (map[int32][]int, map[int]error) {
		return placeByLeader(ctx, c, keys, tp, try)
	}, func(ctx context.Context, n node, part []int) map[int]error {
		bad := map[int]error{}
		for _, wave := range waves(queries, part) {
			for i, err := range c.listOffsets(ctx, n, queries, out, wave) {
				bad[i] = err
			}
		}
		return bad
	})
	for i, err := range failed {
		out[i].Err = about(err, tp(i).String())
	}
	return out
}

func placeByLeader[K comparable](ctx context.Context, c *Client, keys []K, tp func(K) kafka.TopicPartition, try int) (map[int32][]K, map[K]error) {
	tps := make([]kafka.TopicPartition, 0, len(keys))
	for _, k := range keys {
		tps = append(tps, tp(k))
	}
	led, missed := c.leadersOf(ctx, tps, try > 0)
	parts, bad := map[int32][]K{}, map[K]error{}
	for i, k := range keys {
		if err, ok := missed[tps[i]]; ok {
			bad[k] = err
			continue
		}
		parts[led[tps[i]]] = append(parts[led[tps[i]]], k)
	}
	return parts, bad
}

// waves cuts queries into requests: a request has one isolation level, needs one version, and names a partition once
// (a partition named twice is refused).
func waves(queries []OffsetQuery, part []int) [][]int {
	type kind struct {
		committed bool
		lo        int16
		turn      int
	}
	turns := map[OffsetQuery]int{}
	var out [][]int
	index := map[kind]int{}
	for _, i := range part {
		q := queries[i]
		k := kind{committed: q.Committed, lo: offsetsVersion(q)}
		at := OffsetQuery{Topic: q.Topic, Partition: q.Partition, Committed: q.Committed, Timestamp: int64(k.lo)}
		k.turn = turns[at]
		turns[at]++
		w, ok := index[k]
		if !ok {
			w = len(out)
			index[k] = w
			out = append(out, nil)
		}
		out[w] = append(out[w], i)
	}
	return out
}

func offsetsVersion(q OffsetQuery) int16 {
	switch {
	case q.Timestamp == AtMax:
		return 7
	case q.Committed:
		return 2
	}
	return 1
}

func (c *Client) listOffsets(ctx context.Context, n node, queries []OffsetQuery, out []OffsetAnswer, wave []int) map[int]error {
	const api = "ListOffsets"
	bad := map[int]error{}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	if queries[wave[0]].Committed {
		req.IsolationLevel = 1
	}
	at := map[kafka.TopicPartition]int{}
	topics := map[string]int{}
	for _, i := range wave {
		q := queries[i]
		at[kafka.TopicPartition{Topic: q.Topic, Partition: q.Partition}] = i
		t, ok := topics[q.Topic]
		if !ok {
			t = len(req.Topics)
			topics[q.Topic] = t
			rt := kmsg.NewListOffsetsRequestTopic()
			rt.Topic = q.Topic
			req.Topics = append(req.Topics, rt)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = q.Partition, q.Timestamp, -1
		req.Topics[t].Partitions = append(req.Topics[t].Partitions, p)
	}
	r, err := c.askWithin(ctx, n, req, offsetsVersion(queries[wave[0]]), spanOf(2).hi)
	if err != nil {
		return all(wave, c.fail(api, n, err))
	}
	for _, t := range r.(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			i, ok := at[tp]
			if !ok {
				continue
			}
			delete(at, tp)
			if err := c.code(api, n, p.ErrorCode, nil); err != nil {
				bad[i] = err
				continue
			}
			if ts := queries[i].Timestamp; p.Offset < 0 && (ts == AtEnd || ts == AtStart) {
				bad[i] = c.fail(api, n, errors.New("the broker gives no offset"))
				continue
			}
			out[i].Offset, out[i].Timestamp, out[i].Epoch = p.Offset, p.Timestamp, p.LeaderEpoch
		}
	}
	for tp, i := range at {
		bad[i] = c.fail(api, n, missing(tp.String()))
	}
	return bad
}
