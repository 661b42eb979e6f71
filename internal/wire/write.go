package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Commit is one offset to be committed. Epoch is the leader epoch that goes with it, -1 without: an epoch of another cluster rewinds
// or blocks the consumer, -1 is always right.
type Commit struct {
	Topic     string
	Partition int32
	Offset    int64
	Epoch     int32
	Metadata  string
}

// CommitOptions: RetentionMs above 0 keeps the offsets for that long from the commit on, whatever the broker's retention and the
// state of the group say (OffsetCommit versions 2 to 4, which know no leader epoch: it becomes -1). 0 leaves it to the broker.
type CommitOptions struct {
	RetentionMs int64
}

// CommitResult is what became of one commit. Err is nil only where the broker confirmed it.
type CommitResult struct {
	Commit
	Err error
}

// CommitOffsets commits offsets for a group without members, in one OffsetCommit to its coordinator (generation -1, no member), and
// again for the partitions that failed for a passing reason. Results have the order of the commits. The error is of a call that sent
// nothing: the connection is not a Writer, or a partition is named twice.
//
// A broker creates an absent group as a classic one without protocol, and __consumer_offsets with the first group of a cluster. It
// refuses a group with members (UNKNOWN_MEMBER_ID) and checks nothing else: not the range of an offset, not its sign, not the epoch;
// metadata is limited to 4096 bytes by default. Committing the same again changes nothing, so a commit whose answer did not come is
// repeated; InDoubt tells of an error after which the offset may stand all the same.
func (c *Client) CommitOffsets(ctx context.Context, group string, commits []Commit, o CommitOptions) ([]CommitResult, error) {
	const api = "OffsetCommit"
	tps := make([]kafka.TopicPartition, len(commits))
	out := make([]CommitResult, len(commits))
	index := map[kafka.TopicPartition]int{}
	for i, cm := range commits {
		tps[i], out[i] = kafka.TopicPartition{Topic: cm.Topic, Partition: cm.Partition}, CommitResult{Commit: cm}
		index[tps[i]] = i
	}
	if err := c.mayWrite(kmsg.NewPtrOffsetCommitRequest(), group, tps); err != nil {
		return nil, err
	}
	lo, hi := spanOf(8).lo, spanOf(8).hi
	if o.RetentionMs > 0 {
		hi = 4
	}
	failed := writing(ctx, c, api, group, "grant Read on the group and on the topic", tps, func(ctx context.Context, n node, part []kafka.TopicPartition) map[kafka.TopicPartition]error {
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Group, req.Generation, req.RetentionTimeMillis = group, -1, -1
		if o.RetentionMs > 0 {
			req.RetentionTimeMillis = o.RetentionMs
		}
		for _, t := range byTopic(part) {
			rt := kmsg.NewOffsetCommitRequestTopic()
			rt.Topic = t.topic
			for _, p := range t.partitions {
				cm := commits[index[kafka.TopicPartition{Topic: t.topic, Partition: p}]]
				rp := kmsg.NewOffsetCommitRequestTopicPartition()
				rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata = p, cm.Offset, cm.Epoch, &cm.Metadata
				rt.Partitions = append(rt.Partitions, rp)
			}
			req.Topics = append(req.Topics, rt)
		}
		r, err := c.askWithin(ctx, n, req, lo, hi)
		if err != nil {
			return all(part, c.fail(api, n, err))
		}
		a := answers[kafka.TopicPartition]{c: c, api: api, n: n, bad: all(part, error(nil))}
		for _, t := range r.(*kmsg.OffsetCommitResponse).Topics {
			for _, p := range t.Partitions {
				a.add(kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}, p.ErrorCode, nil)
			}
		}
		return a.rest()
	})
	for tp, err := range failed {
		out[index[tp]].Err = err
	}
	return out, nil
}

// DeleteOffsets removes committed offsets of a group. Without any offset a group without protocol goes as well in Kafka 2.8, and
// stays, Empty, in 3.9 and later: DeleteGroup removes it. Every partition asked for has an entry; nil also where nothing was
// committed. The error is of a call that sent nothing, as for CommitOffsets. Brokers refuse an
// absent group (GROUP_ID_NOT_FOUND) and a topic that the group's members read (GROUP_SUBSCRIBED_TO_TOPIC). Kafka 2.4 (KIP-496).
func (c *Client) DeleteOffsets(ctx context.Context, group string, tps []kafka.TopicPartition) (map[kafka.TopicPartition]error, error) {
	const api = "OffsetDelete"
	if err := c.mayWrite(kmsg.NewPtrOffsetDeleteRequest(), group, tps); err != nil {
		return nil, err
	}
	failed := writing(ctx, c, api, group, "grant Delete on the group and Read on the topic", tps, func(ctx context.Context, n node, part []kafka.TopicPartition) map[kafka.TopicPartition]error {
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = group
		for _, t := range byTopic(part) {
			rt := kmsg.NewOffsetDeleteRequestTopic()
			rt.Topic = t.topic
			for _, p := range t.partitions {
				rp := kmsg.NewOffsetDeleteRequestTopicPartition()
				rp.Partition = p
				rt.Partitions = append(rt.Partitions, rp)
			}
			req.Topics = append(req.Topics, rt)
		}
		r, err := c.ask(ctx, n, req)
		if err != nil {
			return all(part, c.fail(api, n, err))
		}
		resp := r.(*kmsg.OffsetDeleteResponse)
		if err := c.code(api, n, resp.ErrorCode, nil); err != nil {
			return all(part, err)
		}
		a := answers[kafka.TopicPartition]{c: c, api: api, n: n, bad: all(part, error(nil))}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				a.add(kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}, p.ErrorCode, nil)
			}
		}
		return a.rest()
	})
	out := all(tps, error(nil))
	for tp, err := range failed {
		out[tp] = err
	}
	return out, nil
}

// DeleteGroup removes a group without members, of any type, with all that it committed. Brokers refuse a group with members
// (NON_EMPTY_GROUP) and an absent one (GROUP_ID_NOT_FOUND). A group that is absent after a try whose answer did not come counts as
// removed.
func (c *Client) DeleteGroup(ctx context.Context, group string) error {
	const api = "DeleteGroups"
	if err := c.mayWrite(kmsg.NewPtrDeleteGroupsRequest(), group, nil); err != nil {
		return err
	}
	err := writing(ctx, c, api, group, "grant Delete on the group", []string{""}, func(ctx context.Context, n node, part []string) map[string]error {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{group}
		r, err := c.ask(ctx, n, req)
		if err != nil {
			return all(part, c.fail(api, n, err))
		}
		a := answers[string]{c: c, api: api, n: n, bad: all(part, error(nil))}
		for _, g := range r.(*kmsg.DeleteGroupsResponse).Groups {
			if g.Group == group {
				a.add("", g.ErrorCode, g.ErrorMessage)
			}
		}
		return a.rest()
	})[""]
	if InDoubt(err) && CodeOf(err) == kafka.GroupIDNotFound {
		return nil
	}
	return err
}

// mayWrite refuses, before anything is sent, what must not be sent.
func (c *Client) mayWrite(req kmsg.Request, group string, tps []kafka.TopicPartition) error {
	if err := c.cfg.Guard.check(req, c); err != nil {
		return err
	}
	named := map[kafka.TopicPartition]bool{}
	for _, tp := range tps {
		if named[tp] {
			return &Error{Alias: c.alias, API: kmsg.NameForKey(req.Key()), Broker: -1, Entry: "group " + group, Err: fmt.Errorf("%s is named twice; nothing was sent", tp), Hint: "name each partition once"}
		}
		named[tp] = true
	}
	return nil
}

// writing sends what belongs to one group to its coordinator, all keys in one request, and again what failed for a passing reason.
// The errors name the group and the key, and say where a try that failed may have been done all the same.
func writing[K comparable](ctx context.Context, c *Client, api, group, rights string, keys []K, ask func(context.Context, node, []K) map[K]error) map[K]error {
	if len(keys) == 0 {
		return nil
	}
	doubt := map[K]bool{}
	failed := spread(ctx, c, keys, len(keys), func(ctx context.Context, keys []K, try int) (map[int32][]K, map[K]error) {
		id, err := c.coordinatorOf(ctx, group, try)
		if err != nil {
			return nil, all(keys, err)
		}
		return map[int32][]K{id: keys}, nil
	}, func(ctx context.Context, n node, part []K) map[K]error {
		bad := ask(ctx, n, part)
		for k, err := range bad {
			doubt[k] = doubt[k] || uncertain(err)
		}
		return bad
	})
	for k, err := range failed {
		entry := "group " + group
		if s := fmt.Sprint(k); s != "" {
			entry += ", " + s
		}
		err = about(c.fail(api, node{id: -1}, err), entry)
		var e *Error
		if errors.As(err, &e) {
			named := *e
			named.Doubt = doubt[k]
			if named.Code.Denied() && named.Hint == "" {
				named.Hint = rights
			}
			err = &named
		}
		failed[k] = err
	}
	return failed
}

// uncertain says that a request that failed may have been done: no answer came, or the coordinator could not tell whether its
// own log took the records (it then answers one of these codes).
func uncertain(err error) bool {
	var u unanswered
	if errors.As(err, &u) {
		return true
	}
	switch CodeOf(err) {
	case -1, 7, kafka.CoordinatorNotAvailable, kafka.NotCoordinator:
		return true
	}
	return false
}

// coordinatorOf gives the broker that coordinates a group, for writing: on a cluster without groups the look-up creates
// __consumer_offsets.
func (c *Client) coordinatorOf(ctx context.Context, group string, try int) (int32, error) {
	c.mu.Lock()
	id, ok := c.coords[group]
	_, alive := c.brokers[id]
	c.mu.Unlock()
	if ok && alive && try == 0 {
		return id, nil
	}
	var found error
	err := c.findCoordinators(ctx, c.anyNode(try), []string{group}, func(_ string, at int32, err error) { id, found = at, err })
	return id, cmpErr(err, found)
}

// answers collects the entries of an answer; what is not named in it is an error.
type answers[K comparable] struct {
	c    *Client
	api  string
	n    node
	bad  map[K]error // nil: not named yet
	good []K
}

func (a *answers[K]) add(k K, code int16, text *string) {
	if old, asked := a.bad[k]; !asked || old != nil {
		return
	}
	if err := a.c.code(a.api, a.n, code, text); err != nil {
		a.bad[k] = err
		return
	}
	a.good = append(a.good, k)
}

func (a *answers[K]) rest() map[K]error {
	for _, k := range a.good {
		delete(a.bad, k)
	}
	for k, err := range a.bad {
		if err == nil {
			what := fmt.Sprint(k)
			if what == "" {
				what = "the group"
			}
			a.bad[k] = a.c.fail(a.api, a.n, missing(what))
		}
	}
	return a.bad
}

type topicPartitions struct {
	topic      string
	partitions []int32
}

// byTopic gathers partitions under their topics, in the order in which they come.
func byTopic(tps []kafka.TopicPartition) (out []topicPartitions) {
	at := map[string]int{}
	for _, tp := range tps {
		i, ok := at[tp.Topic]
		if !ok {
			i = len(out)
			at[tp.Topic] = i
			out = append(out, topicPartitions{topic: tp.Topic})
		}
		out[i].partitions = append(out[i].partitions, tp.Partition)
	}
	return out
}
