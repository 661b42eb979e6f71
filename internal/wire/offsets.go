package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Committed is one committed offset as the broker keeps it. Offset may be negative: brokers accept and store -1.
// Epoch is -1 without. Metadata is empty where the broker has none (it cannot tell null from empty).
type Committed struct {
	Topic     string
	Partition int32
	Offset    int64
	Epoch     int32
	Metadata  string
	Err       error // of this partition
}

// OffsetsResult is everything a group has committed, sorted by topic and partition. No offsets and no error means that
// there are none; it does not tell whether the group exists.
type OffsetsResult struct {
	Offsets []Committed
	Err     error
}

// FetchOffsets asks for all committed offsets of the groups. Every group asked for has an entry.
func (c *Client) FetchOffsets(ctx context.Context, groups []string) map[string]OffsetsResult {
	out := map[string]OffsetsResult{}
	var mu sync.Mutex
	groups = slices.Clone(groups)
	slices.Sort(groups)
	groups = slices.Compact(groups)
	keep := func(n node, g kmsg.OffsetFetchResponseGroup) error {
		if kafka.ErrorCode(g.ErrorCode) == kafka.GroupIDNotFound { // brokers also answer ok with no offsets here
			g.ErrorCode, g.Topics = 0, nil
		}
		if err := c.code("OffsetFetch", n, g.ErrorCode, nil); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		out[g.Group] = OffsetsResult{Offsets: c.committed(n, g)}
		return nil
	}
	failed := spread(ctx, c, groups, groupsPerRequest, c.placeGroups, func(ctx context.Context, n node, part []string) map[string]error {
		batched, err := c.offers(ctx, n, 9, 8) // v8: Kafka 3.0 (KIP-709)
		if err != nil {
			return all(part, c.fail("OffsetFetch", n, err))
		}
		if batched {
			return c.offsetsBatched(ctx, n, part, keep)
		}
		return c.offsetsSingly(ctx, n, part, keep)
	})
	for g, err := range failed {
		if err == errNoGroups {
			out[g] = OffsetsResult{}
			continue
		}
		out[g] = OffsetsResult{Err: c.groupError(err, g)}
	}
	return out
}

func (c *Client) offsetsBatched(ctx context.Context, n node, part []string, keep func(node, kmsg.OffsetFetchResponseGroup) error) map[string]error {
	req := kmsg.NewPtrOffsetFetchRequest()
	for _, g := range part {
		rg := kmsg.NewOffsetFetchRequestGroup()
		rg.Group = g
		req.Groups = append(req.Groups, rg)
	}
	r, err := c.askWithin(ctx, n, req, 8, spanOf(9).hi)
	if err != nil {
		return all(part, c.fail("OffsetFetch", n, err))
	}
	resp := r.(*kmsg.OffsetFetchResponse)
	bad, ok := map[string]error{}, map[string]bool{}
	for _, g := range part {
		bad[g] = c.fail("OffsetFetch", n, missing("group "+g))
	}
	for _, g := range resp.Groups {
		if _, asked := bad[g.Group]; ok[g.Group] || !asked {
			continue
		}
		if bad[g.Group] = keep(n, g); bad[g.Group] == nil {
			ok[g.Group] = true
			delete(bad, g.Group)
		}
	}
	return bad
}

func (c *Client) offsetsSingly(ctx context.Context, n node, part []string, keep func(node, kmsg.OffsetFetchResponseGroup) error) map[string]error {
	bad := map[string]error{}
	var mu sync.Mutex
	singles(part, func(g string) error {
		err := func() error {
			req := kmsg.NewPtrOffsetFetchRequest()
			req.Group = g
			r, err := c.askWithin(ctx, n, req, spanOf(9).lo, 7)
			if err != nil {
				return c.fail("OffsetFetch", n, err)
			}
			resp := r.(*kmsg.OffsetFetchResponse)
			rg := kmsg.NewOffsetFetchResponseGroup()
			rg.Group, rg.ErrorCode = g, resp.ErrorCode
			for _, t := range resp.Topics {
				gt := kmsg.NewOffsetFetchResponseGroupTopic()
				gt.Topic = t.Topic
				for _, p := range t.Partitions {
					gp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
					gp.Partition, gp.Offset, gp.LeaderEpoch, gp.Metadata, gp.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode
					gt.Partitions = append(gt.Partitions, gp)
				}
				rg.Topics = append(rg.Topics, gt)
			}
			return keep(n, rg)
		}()
		if err != nil {
			mu.Lock()
			bad[g] = err
			mu.Unlock()
		}
		return nil
	})
	return bad
}

func (c *Client) committed(n node, g kmsg.OffsetFetchResponseGroup) []Committed {
	var out []Committed
	for _, t := range g.Topics {
		for _, p := range t.Partitions {
			out = append(out, Committed{Topic: t.Topic, Partition: p.Partition, Offset: p.Offset, Epoch: p.LeaderEpoch, Metadata: str(p.Metadata), Err: about(c.code("OffsetFetch", n, p.ErrorCode, nil), fmt.Sprintf("group %s, %s-%d", g.Group, t.Topic, p.Partition))})
		}
	}
	slices.SortFunc(out, func(a, b Committed) int {
		if d := strings.Compare(a.Topic, b.Topic); d != 0 {
			return d
		}
		return int(a.Partition) - int(b.Partition)
	})
	return out
}
