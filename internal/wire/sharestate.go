package wire

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Delivery is the state of records that a share group was given (KIP-932). Records that a member holds count as available: they come
// back when it leaves.
type Delivery int8

// Delivery states as the broker stores them.
const (
	Available    Delivery = 0
	Acknowledged Delivery = 2 // accepted
	Archived     Delivery = 4 // rejected, or given up after too many deliveries
)

// ShareBatch is a run of offsets in one state.
type ShareBatch struct {
	First, Last int64
	State       Delivery
	Count       int16 // deliveries so far
}

// ShareState is what a share group acknowledged in one partition. With Known false and no Err nothing is known, for the reason in
// Why: an ACL, an older broker, or a partition that the group has not begun.
type ShareState struct {
	Known   bool
	Why     string
	Start   int64
	Batches []ShareBatch // beyond Start, ascending
	Err     error
}

// Open gives the first offset that is not done: everything below it was accepted, rejected or given up.
func (s ShareState) Open() int64 {
	at := s.Start
	for _, b := range s.Batches {
		if b.First > at || b.Last >= at && b.State == Available {
			break
		}
		at = max(at, b.Last+1)
	}
	return at
}

// sharePart is one partition of one share group.
type sharePart struct {
	group     string
	topic     [16]byte
	partition int32
}

// shareEpoch gives the leader epoch that is stored with a share partition, as it was read last.
func (c *Client) shareEpoch(group string, topic [16]byte, partition int32) (int32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.epochs[sharePart{group, topic, partition}]
	return e, ok
}

// ReadShareState reads what a share group acknowledged, from the share coordinators, for partitions as DescribeShareOffsets gave
// them. Results have their order. It needs ClusterAction on the cluster.
//
// The request stores a leader epoch that is above the stored one, and the partition is then dead for its real leader. So none is sent
// (Kafka 4.3), or where the broker wants one (4.1, 4.2 answer FENCED_LEADER_EPOCH) the one that DescribeShareOffsets read; the guard
// holds back every other.
func (c *Client) ReadShareState(ctx context.Context, group string, parts []ShareOffset) []ShareState {
	const api = "ReadShareGroupState"
	out := make([]ShareState, len(parts))
	ids := make([][16]byte, len(parts))
	var keys []int
	for i, p := range parts {
		b, err := base64.RawURLEncoding.DecodeString(p.TopicID)
		switch {
		case err != nil || len(b) != 16:
			out[i].Err = &Error{Alias: c.alias, API: api, Broker: -1, Entry: shareEntry(group, p), Err: fmt.Errorf("topic id %q is not one of Kafka's", p.TopicID)}
		case p.Start < 0:
			out[i].Why = "the group has not begun to read " + p.Topic
		default:
			copy(ids[i][:], b)
			keys = append(keys, i)
		}
	}
	if len(keys) == 0 {
		return out
	}
	failed := spread(ctx, c, keys, groupsPerRequest, func(ctx context.Context, keys []int, try int) (map[int32][]int, map[int]error) {
		return c.placeShares(ctx, group, parts, keys, try)
	}, func(ctx context.Context, n node, part []int) map[int]error {
		bad := c.shareStates(ctx, n, group, part, ids, parts, out, func(int) int32 { return -1 })
		var fenced []int
		for i, err := range bad {
			if e, ok := c.shareEpoch(group, ids[i], parts[i].Partition); CodeOf(err) == kafka.FencedLeaderEpoch && ok && e >= 0 {
				fenced = append(fenced, i)
				delete(bad, i)
			}
		}
		slices.Sort(fenced)
		if len(fenced) > 0 {
			for i, err := range c.shareStates(ctx, n, group, fenced, ids, parts, out, func(i int) int32 {
				e, _ := c.shareEpoch(group, ids[i], parts[i].Partition)
				return e
			}) {
				bad[i] = err
			}
		}
		for i, err := range bad {
			if CodeOf(err) == kafka.FencedLeaderEpoch { // another try would be refused as well, and a higher epoch must not be sent
				out[i] = ShareState{Why: about(err, shareEntry(group, parts[i])).Error()}
				delete(bad, i)
			}
		}
		return bad
	})
	for i, err := range failed {
		err = about(c.fail(api, node{id: -1}, err), shareEntry(group, parts[i]))
		var refused *Refused
		code := CodeOf(err)
		if code.Denied() || code == kafka.UnsupportedVersion || code == kafka.InvalidRequest || errors.As(err, &refused) {
			out[i] = ShareState{Why: err.Error()}
			continue
		}
		out[i] = ShareState{Err: err}
	}
	return out
}

func shareEntry(group string, p ShareOffset) string {
	return fmt.Sprintf("group %s, %s-%d", group, p.Topic, p.Partition)
}

// placeShares places share partitions on their coordinators, which are looked up by group, topic id and partition.
func (c *Client) placeShares(ctx context.Context, group string, parts []ShareOffset, keys []int, try int) (map[int32][]int, map[int]error) {
	const api = "FindCoordinator"
	if ex, err := c.sharesExist(ctx); ex != present {
		if err == nil {
			err = &Error{Alias: c.alias, API: api, Broker: -1, Err: errors.New("the cluster has no " + shareTopic)}
		}
		return nil, all(keys, err)
	}
	n := c.anyNode(try)
	placed, bad := map[int32][]int{}, map[int]error{}
	for part := range slices.Chunk(keys, groupsPerRequest) {
		at := map[string]int{}
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorType = 2
		for _, i := range part {
			k := fmt.Sprintf("%s:%s:%d", group, parts[i].TopicID, parts[i].Partition)
			at[k] = i
			req.CoordinatorKeys = append(req.CoordinatorKeys, k)
		}
		r, err := c.askWithin(ctx, n, req, 6, 6) // v6: coordinators of share partitions
		if err != nil {
			for _, i := range part {
				bad[i] = c.fail(api, n, err)
			}
			continue
		}
		for _, co := range r.(*kmsg.FindCoordinatorResponse).Coordinators {
			i, ok := at[co.Key]
			if !ok {
				continue
			}
			delete(at, co.Key)
			if err := c.code(api, n, co.ErrorCode, co.ErrorMessage); err != nil {
				bad[i] = err
				continue
			}
			placed[co.NodeID] = append(placed[co.NodeID], i)
		}
		for k, i := range at {
			bad[i] = c.fail(api, n, missing(k))
		}
	}
	return placed, bad
}

func (c *Client) shareStates(ctx context.Context, n node, group string, part []int, ids [][16]byte, parts []ShareOffset, out []ShareState, epoch func(i int) int32) map[int]error {
	const api = "ReadShareGroupState"
	type key struct {
		topic     [16]byte
		partition int32
	}
	req := kmsg.NewPtrReadShareGroupStateRequest()
	req.GroupID = group
	at := map[key]int{}
	for _, i := range part {
		t := slices.IndexFunc(req.Topics, func(t kmsg.ReadShareGroupStateRequestTopic) bool { return t.TopicID == ids[i] })
		if t < 0 {
			rt := kmsg.NewReadShareGroupStateRequestTopic()
			rt.TopicID = ids[i]
			t, req.Topics = len(req.Topics), append(req.Topics, rt)
		}
		rp := kmsg.NewReadShareGroupStateRequestTopicPartition()
		rp.Partition, rp.LeaderEpoch = parts[i].Partition, epoch(i)
		req.Topics[t].Partitions = append(req.Topics[t].Partitions, rp)
		at[key{ids[i], rp.Partition}] = i
	}
	r, err := c.ask(ctx, n, req)
	if err != nil {
		return all(part, c.fail(api, n, err))
	}
	a := answers[int]{c: c, api: api, n: n, bad: all(part, error(nil))}
	for _, t := range r.(*kmsg.ReadShareGroupStateResponse).Topics {
		for _, p := range t.Partitions {
			i, ok := at[key{t.TopicID, p.Partition}]
			if !ok {
				continue
			}
			if p.ErrorCode == 0 {
				s := ShareState{Known: true, Start: p.StartOffset}
				for _, b := range p.StateBatches {
					s.Batches = append(s.Batches, ShareBatch{b.FirstOffset, b.LastOffset, Delivery(b.DeliveryState), b.DeliveryCount})
				}
				slices.SortFunc(s.Batches, func(a, b ShareBatch) int { return cmp.Compare(a.First, b.First) })
				out[i] = s
			}
			a.add(i, p.ErrorCode, p.ErrorMessage)
		}
	}
	return a.rest()
}
