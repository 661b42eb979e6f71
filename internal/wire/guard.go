package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	offsetsTopic = "__consumer_offsets"
	shareTopic   = "__share_group_state"
)

// Guard is the list of requests that may leave, by API key and by field. Everything not on the list is refused before it is
// sent. The zero Guard is ReadOnly().
type Guard struct{ write bool }

// ReadOnly admits only requests that cannot change anything on a broker.
func ReadOnly() Guard { return Guard{} }

// Writer admits in addition the requests that set or remove committed offsets, remove a group that has no members, and look
// for the coordinator of such a group (which creates __consumer_offsets on a cluster without groups): for apply and rollback
// only.
func Writer() Guard { return Guard{write: true} }

// Refused is the error of a request that the guard holds back.
type Refused struct {
	API, Why string
	Writes   bool // the guard was Writer()
}

func (r *Refused) Error() string {
	if r.Writes {
		return fmt.Sprintf("%s was not sent: %s; this connection reads and writes committed offsets alone", r.API, r.Why)
	}
	return fmt.Sprintf("%s was not sent: %s; this connection only reads", r.API, r.Why)
}

// writes says that req changes something on the broker by its purpose. Only a Writer may send these.
func writes(req kmsg.Request) bool {
	switch req.(type) {
	case *kmsg.OffsetCommitRequest, *kmsg.OffsetDeleteRequest, *kmsg.DeleteGroupsRequest,
		*kmsg.AlterShareGroupOffsetsRequest, *kmsg.DeleteShareGroupOffsetsRequest:
		return true
	}
	return false
}

// facts are what the guard must know of the cluster to judge a request's fields.
type facts interface {
	known(internalTopic string) bool // it exists: some look-ups would create it
	shareEpoch(group string, topic [16]byte, partition int32) (int32, bool)
}

// check says whether req may leave.
func (g Guard) check(req kmsg.Request, c facts) error {
	no := func(why string) error { return &Refused{API: kmsg.NameForKey(req.Key()), Why: why, Writes: g.write} }
	if writes(req) {
		if g.write {
			return nil
		}
		return no("it writes")
	}
	switch r := req.(type) {
	case *kmsg.ApiVersionsRequest, *kmsg.SASLHandshakeRequest,
		*kmsg.ListGroupsRequest, *kmsg.DescribeGroupsRequest, *kmsg.ConsumerGroupDescribeRequest, *kmsg.ShareGroupDescribeRequest,
		*kmsg.StreamsGroupDescribeRequest, *kmsg.OffsetFetchRequest, *kmsg.DescribeConfigsRequest, *kmsg.DescribeACLsRequest,
		*kmsg.DescribeClusterRequest, *kmsg.DescribeProducersRequest, *kmsg.ListTransactionsRequest, *kmsg.DescribeLogDirsRequest,
		*kmsg.DescribeTopicPartitionsRequest:
		return nil
	case *kmsg.MetadataRequest:
		if r.Version < 4 {
			return no("before version 4 the broker creates the topics that are asked for")
		}
		if r.AllowAutoTopicCreation {
			return no("it would create the topics that are asked for")
		}
		return nil
	case *kmsg.FetchRequest:
		if r.ReplicaID != -1 || r.ReplicaState.ID != -1 {
			return no("it would speak as a replica")
		}
		return nil
	case *kmsg.ListOffsetsRequest:
		if r.ReplicaID != -1 {
			return no("it would speak as a replica")
		}
		return nil
	case *kmsg.OffsetForLeaderEpochRequest:
		if r.ReplicaID >= 0 {
			return no("it would speak as a replica")
		}
		return nil
	case *kmsg.FindCoordinatorRequest:
		// FindCoordinator creates the internal topic on a cluster that has none.
		switch r.CoordinatorType {
		case 0:
			if !c.known(offsetsTopic) && !g.write {
				return no("it would create " + offsetsTopic)
			}
		case 2:
			if !c.known(shareTopic) {
				return no("it would create " + shareTopic)
			}
		default:
			return no("only coordinators of groups and of share partitions are looked up")
		}
		return nil
	case *kmsg.DescribeShareGroupOffsetsRequest:
		if !c.known(shareTopic) {
			return no("it would create " + shareTopic)
		}
		return nil
	case *kmsg.ReadShareGroupStateRequest:
		// A leader epoch above the stored one is stored, and locks the partition's real leader out.
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				if p.LeaderEpoch == -1 {
					continue
				}
				if e, ok := c.shareEpoch(r.GroupID, t.TopicID, p.Partition); !ok || p.LeaderEpoch < 0 || p.LeaderEpoch > e {
					return no("its leader epoch is not one that was read, and may be stored")
				}
			}
		}
		return nil
	}
	return no("it is not on the list of reading requests")
}
