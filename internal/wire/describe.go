package wire

import (
	"context"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// GroupRef names a group and its type as ListGroups told it; an empty type is found out.
type GroupRef struct {
	ID   string
	Type kafka.GroupType
}

// Member is one member of a group. InstanceID is empty without static membership.
type Member struct{ ID, InstanceID, ClientID, Host string }

// DescribeResult is the state of one group. A group that does not exist has Exists false, State Dead and no error.
type DescribeResult struct {
	Exists       bool
	State        kafka.GroupState
	Type         kafka.GroupType // empty when the group does not exist
	ProtocolType string
	Members      []Member
	Err          error
}

var dead = DescribeResult{State: kafka.StateDead}

// DescribeGroups asks each group's coordinator by the request of its type. Every group asked for has an entry.
//
// A group whose type is not known is asked for as classic first; the classic request calls groups of other types Dead (up to
// version 5) or not found, so that "not there" is believed only after the other types were asked.
func (c *Client) DescribeGroups(ctx context.Context, groups []GroupRef) map[string]DescribeResult {
	out := map[string]DescribeResult{}
	byType := map[kafka.GroupType][]string{}
	open := map[string]bool{}
	for _, g := range groups {
		if _, twice := out[g.ID]; twice {
			continue
		}
		out[g.ID] = dead
		t := g.Type
		switch t {
		case kafka.TypeClassic, kafka.TypeConsumer, kafka.TypeShare, kafka.TypeStreams:
		default:
			t, open[g.ID] = kafka.TypeClassic, true
		}
		byType[t] = append(byType[t], g.ID)
	}
	for _, t := range []kafka.GroupType{kafka.TypeClassic, kafka.TypeConsumer, kafka.TypeShare, kafka.TypeStreams} {
		ids := byType[t]
		if t != kafka.TypeClassic {
			for id := range open {
				// A classic group that is active has members: an answer without them is about another type.
				if r := out[id]; id != "" && r.Err == nil && (!r.Exists || r.State.Active() && len(r.Members) == 0) {
					ids = append(ids, id)
				}
			}
			slices.Sort(ids)
		}
		for id, r := range c.describeAs(ctx, t, ids) {
			if r.Exists || !out[id].Exists {
				out[id] = r
			}
		}
	}
	return out
}

// describeAs asks for ids as groups of one type. A broker that lacks the request has no group of the type.
func (c *Client) describeAs(ctx context.Context, t kafka.GroupType, ids []string) map[string]DescribeResult {
	out := map[string]DescribeResult{}
	var mu sync.Mutex
	d := describers[t]
	failed := spread(ctx, c, ids, groupsPerRequest, c.placeGroups, func(ctx context.Context, n node, part []string) map[string]error {
		r, err := c.ask(ctx, n, d.request(part))
		if err != nil {
			return all(part, c.fail(d.api, n, err))
		}
		bad, done := map[string]error{}, map[string]bool{}
		mu.Lock()
		defer mu.Unlock()
		d.entries(r, func(id string, code int16, text *string, res DescribeResult) {
			// Kafka 3.9 answers the product of groups and shards: one ok entry among GROUP_ID_NOT_FOUND is the true one.
			if done[id] && out[id].Exists {
				return
			}
			delete(bad, id)
			done[id] = true
			switch {
			case code == 0:
				res.Exists = res.State != kafka.StateDead
				if res.Type = t; !res.Exists {
					res = dead
				}
				out[id] = res
			case kafka.ErrorCode(code) == kafka.GroupIDNotFound:
				out[id] = dead
			// Offered and off: Kafka 3.9 with default settings refuses ConsumerGroupDescribe for every group.
			case kafka.ErrorCode(code) == kafka.UnsupportedVersion && t != kafka.TypeClassic:
				out[id] = dead
			default:
				bad[id] = c.code(d.api, n, code, text)
			}
		})
		for _, id := range part {
			if !done[id] {
				bad[id] = c.fail(d.api, n, missing("group "+id))
			}
		}
		return bad
	})
	for id, err := range failed {
		switch {
		case err == errNoGroups:
			out[id] = dead
		case t != kafka.TypeClassic && CodeOf(err) == kafka.UnsupportedVersion:
			out[id] = dead
		default:
			out[id] = DescribeResult{State: kafka.StateUnknown, Err: c.groupError(err, id)}
		}
	}
	return out
}

type describer struct {
	api     string
	request func(ids []string) kmsg.Request
	entries func(r kmsg.Response, each func(id string, code int16, text *string, res DescribeResult))
}

var describers = map[kafka.GroupType]describer{
	kafka.TypeClassic: {"DescribeGroups", func(ids []string) kmsg.Request {
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups = ids
		return r
	}, func(r kmsg.Response, each func(string, int16, *string, DescribeResult)) {
		for _, g := range r.(*kmsg.DescribeGroupsResponse).Groups {
			res := DescribeResult{State: kafka.GroupState(g.State), ProtocolType: g.ProtocolType}
			for _, m := range g.Members {
				res.Members = append(res.Members, Member{m.MemberID, str(m.InstanceID), m.ClientID, m.ClientHost})
			}
			each(g.Group, g.ErrorCode, g.ErrorMessage, res)
		}
	}},
	kafka.TypeConsumer: {"ConsumerGroupDescribe", func(ids []string) kmsg.Request {
		r := kmsg.NewPtrConsumerGroupDescribeRequest()
		r.Groups = ids
		return r
	}, func(r kmsg.Response, each func(string, int16, *string, DescribeResult)) {
		for _, g := range r.(*kmsg.ConsumerGroupDescribeResponse).Groups {
			res := DescribeResult{State: kafka.GroupState(g.State), ProtocolType: "consumer"}
			for _, m := range g.Members {
				res.Members = append(res.Members, Member{m.MemberID, str(m.InstanceID), m.ClientID, m.ClientHost})
			}
			each(g.Group, g.ErrorCode, g.ErrorMessage, res)
		}
	}},
	kafka.TypeShare: {"ShareGroupDescribe", func(ids []string) kmsg.Request {
		r := kmsg.NewPtrShareGroupDescribeRequest()
		r.GroupIDs = ids
		return r
	}, func(r kmsg.Response, each func(string, int16, *string, DescribeResult)) {
		for _, g := range r.(*kmsg.ShareGroupDescribeResponse).Groups {
			res := DescribeResult{State: kafka.GroupState(g.GroupState), ProtocolType: "share"}
			for _, m := range g.Members {
				res.Members = append(res.Members, Member{m.MemberID, "", m.ClientID, m.ClientHost})
			}
			each(g.GroupID, g.ErrorCode, g.ErrorMessage, res)
		}
	}},
	kafka.TypeStreams: {"StreamsGroupDescribe", func(ids []string) kmsg.Request {
		r := kmsg.NewPtrStreamsGroupDescribeRequest()
		r.Groups = ids
		return r
	}, func(r kmsg.Response, each func(string, int16, *string, DescribeResult)) {
		for _, g := range r.(*kmsg.StreamsGroupDescribeResponse).Groups {
			res := DescribeResult{State: kafka.GroupState(g.State), ProtocolType: "streams"}
			for _, m := range g.Members {
				res.Members = append(res.Members, Member{m.MemberID, str(m.InstanceID), m.ClientID, m.ClientHost})
			}
			each(g.Group, g.ErrorCode, g.ErrorMessage, res)
		}
	}},
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
