package apply

import (
	"context"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Target is what apply needs of the cluster that is written. Methods that begin with a capital noun read; the others write.
// An error that the broker answered carries a kafka.ErrorCode (errors.As); without one it is not known whether a write took
// effect.
type Target interface {
	ClusterID(ctx context.Context) (string, error)
	// Groups tells state, type, holders and offsets; every group asked for has an entry. A share group's offsets are its start
	// offsets. The type is found out: one that was true when the plan was made may not be now.
	Groups(ctx context.Context, ids []string) map[string]GroupNow
	// Topics tells ids and log ends; every topic asked for has an entry.
	Topics(ctx context.Context, names []string) map[string]TopicNow
	// Epochs answers each query by the end offset of the leader epoch (OffsetForLeaderEpoch), in order.
	Epochs(ctx context.Context, queries []EpochQuery) []EpochEnd

	// Commit sends one OffsetCommit without member and generation; keepMs above 0 gives the offsets an explicit life.
	Commit(ctx context.Context, group string, values []Value, keepMs int64) Answer
	// Delete removes committed offsets; what is not there counts as removed.
	Delete(ctx context.Context, group string, places []kafka.TopicPartition) Answer
	// DeleteGroup removes a group without members; one that is not there counts as removed.
	DeleteGroup(ctx context.Context, group string) error
	// AlterShare sets start offsets of a share group (brokers from 4.2) and wipes the acknowledgements behind them.
	AlterShare(ctx context.Context, group string, values []Value) Answer
	// DeleteShare removes the start offsets of whole topics of a share group; the answer is by partition -1.
	DeleteShare(ctx context.Context, group string, topics []string) Answer
}

// Source is what apply reads where the positions come from. It is nil where that cluster was given up.
type Source interface {
	// Offsets tells what groups have committed now; every group asked for has an entry.
	Offsets(ctx context.Context, groups []string) map[string]GroupNow
	// TopicIDs tells the ids of topics that have one; what cannot be told is missing.
	TopicIDs(ctx context.Context, names []string) map[string]string
}

// Value is a committed offset of one partition, as written or read.
type Value struct {
	kafka.TopicPartition
	plan.Committed
}

// GroupNow is a group as just read. A group that does not exist has Exists false and State Dead.
type GroupNow struct {
	Exists       bool
	State        kafka.GroupState
	Type         kafka.GroupType // empty where the broker does not tell
	ProtocolType string          // empty: it never had members (a simple group), or the broker does not tell
	Holders      []string        // members in words: client id, host, instance
	Offsets      map[kafka.TopicPartition]OffsetNow
	Err          error // nothing of the above is known
}

// OffsetNow is one committed offset as just read.
type OffsetNow struct {
	plan.Committed
	Err error
	Lag *int64 // of a share group: records from the start on that are not done; nil where the broker does not tell
}

// TopicNow is a topic as just read. Err with kafka.UnknownTopicOrPartition says that it does not exist.
type TopicNow struct {
	ID         string // empty before Kafka 2.8
	Partitions map[int32]PartitionNow
	Err        error
}

// PartitionNow are the ends of a partition's log. Epoch is the leader's, -1 where the broker does not tell.
type PartitionNow struct {
	LogStart, Stable, End int64
	Epoch                 int32
	Err                   error
}

// EpochQuery asks where a leader epoch ended.
type EpochQuery struct {
	kafka.TopicPartition
	Epoch int32
}

// EpochEnd answers an EpochQuery: the end of the greatest epoch at or below the one asked for, -1 where the log never had the
// epoch asked for or a later one.
type EpochEnd struct {
	End int64
	Err error
}

// Answer is what came of one writing request. Err is about all of it; Places has the partitions that failed.
type Answer struct {
	Err    error
	Places map[kafka.TopicPartition]error
}

// at gives the fault of one partition, nil without.
func (a Answer) at(tp kafka.TopicPartition) error {
	if a.Err != nil {
		return a.Err
	}
	return a.Places[tp]
}
