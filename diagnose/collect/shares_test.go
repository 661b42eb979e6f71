package collect

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// shareRequests are those that only share groups need: 77, 84, 87 and 90, and FindCoordinator for a share partition.
var shareRequests = []string{"ShareGroupDescribe", "ReadShareGroupState", "ReadShareGroupStateSummary", "DescribeShareGroupOffsets"}

// listShare makes the fake's list and description name a share group that has no members.
func listShare(a *fake, id string) {
	a.ControlKey(int16(kmsg.ListGroups), func(req kmsg.Request) (kmsg.Response, error, bool) {
		a.KeepControl()
		r := req.ResponseKind().(*kmsg.ListGroupsResponse)
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.ProtocolType, g.GroupType, g.GroupState = id, "share", "share", "Empty"
		r.Groups = append(r.Groups, g)
		return r, nil, true
	})
	a.ControlKey(int16(kmsg.ShareGroupDescribe), func(req kmsg.Request) (kmsg.Response, error, bool) {
		a.KeepControl()
		r := req.ResponseKind().(*kmsg.ShareGroupDescribeResponse)
		for _, asked := range req.(*kmsg.ShareGroupDescribeRequest).GroupIDs {
			g := kmsg.NewShareGroupDescribeResponseGroup()
			g.GroupID, g.GroupState = asked, "Empty"
			r.Groups = append(r.Groups, g)
		}
		return r, nil, true
	})
}

// noting keeps the names of what is sent, from whatever goroutine.
func noting(sent *[]string) func(wire.Sent) {
	var mu sync.Mutex
	return func(x wire.Sent) {
		mu.Lock()
		defer mu.Unlock()
		*sent = append(*sent, kmsg.NameForKey(x.Key))
	}
}

// describeShare answers 90 for one topic: partition, start and lag.
func describeShare(a *fake, topic string, parts ...[3]int64) {
	a.ControlKey(int16(kmsg.DescribeShareGroupOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		a.KeepControl()
		r := req.ResponseKind().(*kmsg.DescribeShareGroupOffsetsResponse)
		for _, asked := range req.(*kmsg.DescribeShareGroupOffsetsRequest).Groups {
			g := kmsg.NewDescribeShareGroupOffsetsResponseGroup()
			g.GroupID = asked.GroupID
			t := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopic()
			t.Topic, t.TopicID = topic, a.TopicInfo(topic).TopicID
			for _, p := range parts {
				x := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
				x.Partition, x.StartOffset, x.Lag, x.LeaderEpoch = int32(p[0]), p[1], p[2], 0
				t.Partitions = append(t.Partitions, x)
			}
			g.Topics = append(g.Topics, t)
			r.Groups = append(r.Groups, g)
		}
		return r, nil, true
	})
}

// TestShares: start, lag and end of what a share group reads, and the ends of all partitions of its topics, since it may not have
// begun with some.
func TestShares(t *testing.T) {
	a := start(t, "id-of-a", kfake.SeedTopics(1, "__share_group_state")).login()
	b := start(t, "id-of-b").login()
	a.topic("jobs", 3, payloads(50)...)
	listShare(a, "queue")
	describeShare(a, "jobs", [3]int64{0, 10, 15}, [3]int64{1, -1, -1})
	var sent []string
	s := run(t, []snapshot.Flow{mirror(a, b, flowAB(), "a.orders")}, a.open("a", "", noting(&sent)), b.open("b", "", nil))
	g := groupOf(clusterOf(t, s, "a"), "queue")
	if g == nil || g.Type.Or("") != kafka.TypeShare || g.State.Or("") != kafka.StateEmpty {
		t.Fatalf("%+v", g)
	}
	var got []string
	for _, x := range g.Shares.Or(nil) {
		got = append(got, fmt.Sprintf("%s-%d %d %d %d %v", x.Topic, x.Partition, x.Start, x.Lag, x.End, x.Open != nil))
	}
	if want := []string{"jobs-0 10 15 50 false", "jobs-1 -1 -1 0 false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q (%v)", got, want, g.Shares.Why())
	}
	for _, p := range topicOf(clusterOf(t, s, "a"), "jobs").Partitions {
		want := map[int32]int64{0: 50}[p.ID]
		if !p.Start.Known() || p.End.Or(-1) != want {
			t.Errorf("jobs-%d begins at %v and ends at %v", p.ID, p.Start, p.End)
		}
	}
	if !slices.Contains(sent, "DescribeShareGroupOffsets") {
		t.Errorf("%v", sent)
	}
}

// TestNoShares: where no group is a share group, nothing is asked that only share groups need.
func TestNoShares(t *testing.T) {
	a, b := start(t, "id-of-a", kfake.SeedTopics(1, "__share_group_state")).login(), start(t, "id-of-b").login()
	var sent []string
	note := noting(&sent)
	s := run(t, []snapshot.Flow{mirror(a, b, flowAB(), "a.orders")}, a.open("a", "", note), b.open("b", "", note))
	if g := groupOf(clusterOf(t, s, "a"), "billing"); g == nil || g.Shares.Known() || !strings.Contains(fmt.Sprint(g.Offsets.Or(nil)), "orders") {
		t.Errorf("%+v", g)
	}
	for _, n := range sent {
		if slices.Contains(shareRequests, n) {
			t.Errorf("%s was sent", n)
		}
	}
}

// TestSharesNotRead: what the broker refuses is not known, never empty.
func TestSharesNotRead(t *testing.T) {
	a := start(t, "id-of-a", kfake.SeedTopics(1, "__share_group_state")).login()
	b := start(t, "id-of-b").login()
	listShare(a, "queue")
	a.ControlKey(int16(kmsg.DescribeShareGroupOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		a.KeepControl()
		r := req.ResponseKind().(*kmsg.DescribeShareGroupOffsetsResponse)
		for _, asked := range req.(*kmsg.DescribeShareGroupOffsetsRequest).Groups {
			g := kmsg.NewDescribeShareGroupOffsetsResponseGroup()
			g.GroupID, g.ErrorCode = asked.GroupID, int16(kafka.GroupAuthorizationFailed)
			r.Groups = append(r.Groups, g)
		}
		return r, nil, true
	})
	s := run(t, []snapshot.Flow{mirror(a, b, flowAB(), "a.orders")}, a.open("a", "", nil), b.open("b", "", nil))
	g := groupOf(clusterOf(t, s, "a"), "queue")
	if g == nil || !g.Shares.Unknown() || g.Shares.Why().Code != "denied" {
		t.Fatalf("%+v", g)
	}
}
