package mm2

import "github.com/mm2doctor/mm2doctor/internal/kafka"

// OffsetSync is one record of the offset-syncs topic: the upstream and downstream offset of one and the same mirrored
// record (not "next" offsets). Topic is the name on the source cluster.
type OffsetSync struct {
	Topic      string
	Partition  int32
	Upstream   int64
	Downstream int64
}

// TopicPartition is the source partition.
func (s OffsetSync) TopicPartition() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition}
}

// Checkpoint is one record of the checkpoints topic: the committed position of a group on the source (the next record it
// would read) and its translation. Topic is the name on the target cluster. Version is the number in the record, 0 in
// every release so far.
type Checkpoint struct {
	Group      string
	Topic      string
	Partition  int32
	Upstream   int64
	Downstream int64
	Metadata   string
	Version    int16
}

// TopicPartition is the target partition.
func (c Checkpoint) TopicPartition() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: c.Topic, Partition: c.Partition}
}

// Heartbeat is one record of the heartbeats topic. Timestamp is in ms since the epoch.
type Heartbeat struct {
	Source    string
	Target    string
	Timestamp int64
	Version   int16
}
