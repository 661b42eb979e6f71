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

// Writer admits in addition OffsetCommit, OffsetDelete and AlterShareGroupOffsets: for apply and rollback only.
func Writer() Guard { return Guard{write: true} }

// Refused is the error of a request that the guard holds back.
type Refused struct{ API, Why string }

func (r *Refused) Error() string {
	return fmt.Sprintf("%s was not sent: %s; this connection only reads", r.API, r.Why)
}

// check says whether req may leave. exists tells whether an internal topic is known to exist: some look-ups create it.
func (g Guard) check(req kmsg.Request, exists func(topic string) bool) error {
	no := func(why string) error { return &Refused{API: kmsg.NameForKey(req.Key()), Why: why} }
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
		if r.CoordinatorType != 0 {
			return no("only coordinators of groups are looked up")
		}
		if !exists(offsetsTopic) {
			return no("it would create " + offsetsTopic)
		}
		return nil
	case *kmsg.DescribeShareGroupOffsetsRequest:
		if !exists(shareTopic) {
			return no("it would create " + shareTopic)
		}
		return nil
	case *kmsg.OffsetCommitRequest, *kmsg.OffsetDeleteRequest, *kmsg.AlterShareGroupOffsetsRequest:
		if g.write {
			return nil
		}
		return no("it writes")
	}
	return no("it is not on the list of reading requests")
}
