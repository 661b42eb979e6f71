package wire

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ShareFeature gives the finalized level of share.version (KIP-932): 0 is off, share groups exist from 1 on. known is false where
// the broker does not tell its features. Whether the requests are offered says nothing: Kafka 4.1 offers them while they are off.
func (c *Client) ShareFeature(ctx context.Context) (level int16, known bool, err error) {
	err = c.retry(ctx, func(try int) error {
		n := c.anyNode(try)
		vs, err := c.ranges(ctx, n)
		if err != nil {
			return c.fail("ApiVersions", n, err)
		}
		if _, ok := vs[90]; !ok { // DescribeShareGroupOffsets: a release without share groups
			level, known = 0, true
			return nil
		}
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "mm2doctor", "1"
		r, err := c.askWithin(ctx, n, req, 3, 3)
		if err != nil {
			return c.fail("ApiVersions", n, err)
		}
		resp := r.(*kmsg.ApiVersionsResponse)
		if err := c.code("ApiVersions", n, resp.ErrorCode, nil); err != nil {
			return err
		}
		known = resp.FinalizedFeaturesEpoch >= 0
		for _, f := range resp.FinalizedFeatures {
			if f.Name == "share.version" {
				level = f.MaxVersionLevel
			}
		}
		return nil
	})
	return level, known, err
}

// ShareOffset is the stored start of a share group in one partition. Start is -1 before the group began there. It is not the
// position: what was acknowledged beyond it lies beside it (see ReadShareState). Lag is the number of records from Start to the
// end that are not done, -1 where the broker does not tell (Kafka 4.1; later also before the first acknowledgement was stored).
type ShareOffset struct {
	Topic     string
	TopicID   string // as Kafka prints it
	Partition int32
	Start     int64
	Epoch     int32 // leader epoch that is stored with it, -1 without
	Lag       int64
	Err       error // of this partition
}

// ShareOffsetsResult is what a share group has stored, sorted by topic and partition. No offsets and no error means that there are
// none; it does not tell whether the group exists or is of another type. Topics that an ACL hides are missing without an error.
type ShareOffsetsResult struct {
	Offsets []ShareOffset
	Err     error
}

// DescribeShareOffsets asks for all stored starts of share groups. Every group asked for has an entry. It asks only on a
// cluster that has __share_group_state, which the request might create; without that topic nothing can be stored.
func (c *Client) DescribeShareOffsets(ctx context.Context, groups []string) map[string]ShareOffsetsResult {
	const api = "DescribeShareGroupOffsets"
	out := map[string]ShareOffsetsResult{}
	groups = slices.Clone(groups)
	slices.Sort(groups)
	groups = slices.Compact(groups)
	ex, err := c.sharesExist(ctx)
	if ex != present {
		for _, g := range groups {
			out[g] = ShareOffsetsResult{Err: about(err, "group "+g)}
		}
		return out
	}
	var mu sync.Mutex
	failed := spread(ctx, c, groups, groupsPerRequest, c.placeGroups, func(ctx context.Context, n node, part []string) map[string]error {
		req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
		for _, g := range part {
			rg := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
			rg.GroupID = g // topics null: all. Kafka 4.2 and 4.3 give no answer about a partition that does not exist
			req.Groups = append(req.Groups, rg)
		}
		r, err := c.ask(ctx, n, req)
		if err != nil {
			return all(part, c.fail(api, n, err))
		}
		a := answers[string]{c: c, api: api, n: n, bad: all(part, error(nil))}
		mu.Lock()
		defer mu.Unlock()
		for _, g := range r.(*kmsg.DescribeShareGroupOffsetsResponse).Groups {
			if kafka.ErrorCode(g.ErrorCode) == kafka.GroupIDNotFound { // brokers also answer ok with no topics here
				g.ErrorCode, g.Topics = 0, nil
			}
			if _, done := out[g.GroupID]; !done && g.ErrorCode == 0 {
				out[g.GroupID] = ShareOffsetsResult{Offsets: c.shareOffsets(n, g)}
			}
			a.add(g.GroupID, g.ErrorCode, g.ErrorMessage)
		}
		return a.rest()
	})
	for g, err := range failed {
		if err == errNoGroups {
			out[g] = ShareOffsetsResult{}
			continue
		}
		out[g] = ShareOffsetsResult{Err: c.groupError(err, g)}
	}
	return out
}

func (c *Client) shareOffsets(n node, g kmsg.DescribeShareGroupOffsetsResponseGroup) []ShareOffset {
	var out []ShareOffset
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range g.Topics {
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			o := ShareOffset{Topic: t.Topic, TopicID: uuid(t.TopicID), Partition: p.Partition, Start: p.StartOffset, Epoch: p.LeaderEpoch, Lag: p.Lag}
			if o.Err = about(c.code("DescribeShareGroupOffsets", n, p.ErrorCode, p.ErrorMessage), "group "+g.GroupID+", "+tp.String()); o.Err == nil {
				c.epochs[sharePart{g.GroupID, t.TopicID, p.Partition}] = p.LeaderEpoch
			}
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b ShareOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

func uuid(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// sharesExist says whether __share_group_state exists; where that cannot be told the error says why.
func (c *Client) sharesExist(ctx context.Context) (existence, error) {
	if c.known(shareTopic) {
		return present, nil
	}
	md, err := c.Metadata(ctx, []string{shareTopic})
	if err != nil {
		return hidden, err
	}
	t, _ := md.Topic(shareTopic)
	code := CodeOf(t.Err)
	switch {
	case t.Err == nil:
		return present, nil
	case code == kafka.UnknownTopicOrPartition:
		return absent, nil
	case code == kafka.TopicAuthorizationFailed:
		return hidden, &Error{Alias: c.alias, API: "DescribeShareGroupOffsets", Broker: -1, Code: code, Err: errors.New("it hides whether " + shareTopic + " exists, and asking further might create it"), Hint: "grant Describe on topic " + shareTopic}
	case code.Retriable(): // the topic is there, in trouble
		return present, c.exists(shareTopic)
	}
	return hidden, t.Err
}

// ShareStart is where a share group is to begin in a partition.
type ShareStart struct {
	Topic     string
	Partition int32
	Offset    int64
}

// ShareStartResult is what became of one start. Err is nil only where the broker confirmed it.
type ShareStartResult struct {
	ShareStart
	Err error
}

// AlterShareOffsets sets where a share group without members begins, and wipes what it acknowledged there. Results have the order of
// the starts. The error is of a call that sent nothing, as for CommitOffsets.
//
// An absent group is created. Brokers refuse a group with members (NON_EMPTY_GROUP) or of another type (GROUP_ID_NOT_FOUND), and take
// any offset. Kafka 4.1 answers without an error, names no partition and changes nothing: each partition that is not named in the
// answer has failed.
func (c *Client) AlterShareOffsets(ctx context.Context, group string, starts []ShareStart) ([]ShareStartResult, error) {
	const api = "AlterShareGroupOffsets"
	tps := make([]kafka.TopicPartition, len(starts))
	out := make([]ShareStartResult, len(starts))
	index := map[kafka.TopicPartition]int{}
	for i, s := range starts {
		tps[i], out[i] = kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition}, ShareStartResult{ShareStart: s}
		index[tps[i]] = i
	}
	if err := c.mayWrite(kmsg.NewPtrAlterShareGroupOffsetsRequest(), group, tps); err != nil {
		return nil, err
	}
	failed := writing(ctx, c, api, group, "grant Read on the group and on the topic", tps, func(ctx context.Context, n node, part []kafka.TopicPartition) map[kafka.TopicPartition]error {
		req := kmsg.NewPtrAlterShareGroupOffsetsRequest()
		req.GroupID = group
		for _, t := range byTopic(part) {
			rt := kmsg.NewAlterShareGroupOffsetsRequestTopic()
			rt.Topic = t.topic
			for _, p := range t.partitions {
				rp := kmsg.NewAlterShareGroupOffsetsRequestTopicPartition()
				rp.Partition, rp.StartOffset = p, starts[index[kafka.TopicPartition{Topic: t.topic, Partition: p}]].Offset
				rt.Partitions = append(rt.Partitions, rp)
			}
			req.Topics = append(req.Topics, rt)
		}
		r, err := c.ask(ctx, n, req)
		if err != nil {
			return all(part, c.fail(api, n, err))
		}
		resp := r.(*kmsg.AlterShareGroupOffsetsResponse)
		if err := c.code(api, n, resp.ErrorCode, resp.ErrorMessage); err != nil {
			return all(part, err)
		}
		a := answers[kafka.TopicPartition]{c: c, api: api, n: n, bad: all(part, error(nil))}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				a.add(kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}, p.ErrorCode, p.ErrorMessage)
			}
		}
		bad := a.rest()
		if len(resp.Topics) == 0 && len(bad) > 0 {
			return all(part, error(&Error{Alias: c.alias, API: api, Broker: n.id, Err: errors.New("the broker answered without an error and without the partitions, as Kafka 4.1 does, which changes nothing"), Hint: "use Kafka 4.2 or later for share groups that are translated"}))
		}
		return bad
	})
	for tp, err := range failed {
		out[index[tp]].Err = err
	}
	return out, nil
}

// DeleteShareOffsets removes what a share group without members stored on topics, always of whole topics; the group stays. Every
// topic asked for has an entry; one of which nothing is stored is UNKNOWN_TOPIC_OR_PARTITION. The error is of a call that sent
// nothing, as for CommitOffsets.
func (c *Client) DeleteShareOffsets(ctx context.Context, group string, topics []string) (map[string]error, error) {
	const api = "DeleteShareGroupOffsets"
	tps := make([]kafka.TopicPartition, len(topics))
	for i, t := range topics {
		tps[i].Topic = t
	}
	if err := c.mayWrite(kmsg.NewPtrDeleteShareGroupOffsetsRequest(), group, tps); err != nil {
		return nil, err
	}
	failed := writing(ctx, c, api, group, "grant Delete on the group and Read on the topic", topics, func(ctx context.Context, n node, part []string) map[string]error {
		req := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
		req.GroupID = group
		for _, t := range part {
			rt := kmsg.NewDeleteShareGroupOffsetsRequestTopic()
			rt.Topic = t
			req.Topics = append(req.Topics, rt)
		}
		r, err := c.ask(ctx, n, req)
		if err != nil {
			return all(part, c.fail(api, n, err))
		}
		resp := r.(*kmsg.DeleteShareGroupOffsetsResponse)
		if err := c.code(api, n, resp.ErrorCode, resp.ErrorMessage); err != nil {
			return all(part, err)
		}
		a := answers[string]{c: c, api: api, n: n, bad: all(part, error(nil))}
		for _, t := range resp.Topics {
			a.add(t.Topic, t.ErrorCode, t.ErrorMessage)
		}
		return a.rest()
	})
	out := all(topics, error(nil))
	for t, err := range failed {
		out[t] = err
	}
	return out, nil
}
