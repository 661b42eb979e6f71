package formatters

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Notes are oddities of a record that decoded all the same, as plain sentences without full stop; nil without any.
type Notes []string

func (n Notes) String() string { return strings.Join(n, "; ") }

func (n *Notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// ends notes bytes after the last field, which Kafka's readers ignore.
func (n *Notes) ends(f *fields) {
	if f.err == nil && len(f.rest) > 0 {
		n.add("%d bytes follow the last field of the %s and were ignored, as Kafka does", len(f.rest), f.part)
	}
}

// version notes a version that no release writes; Kafka decodes it with the layout of version 0 (the check is an
// assertion, off in production).
func (n *Notes) version(v int16, f *fields) {
	if f.err == nil && v != 0 {
		n.add("the record says version %d and was read with the layout of version 0, as Kafka does", v)
	}
}

// DecodeOffsetSync reads key and value of a record in an offset-syncs topic. The error, when not nil, is a *RecordError.
// nil bytes are null; empty bytes are short.
func DecodeOffsetSync(key, value []byte) (mm2.OffsetSync, Notes, error) {
	k, v := open(OffsetSync, "key", key), open(OffsetSync, "value", value)
	s := mm2.OffsetSync{Topic: k.string("topic"), Partition: k.int32("partition")}
	topicAndPartition(&k, s.Topic, s.Partition)
	s.Upstream, s.Downstream = v.int64("upstreamOffset"), v.int64("offset")
	var n Notes
	n.ends(&k)
	n.ends(&v)
	if err := first(&k, &v); err != nil {
		return mm2.OffsetSync{}, nil, err
	}
	return s, n, nil
}

// DecodeCheckpoint reads key and value of a record in a checkpoints topic, like DecodeOffsetSync.
func DecodeCheckpoint(key, value []byte) (mm2.Checkpoint, Notes, error) {
	k, v := open(Checkpoint, "key", key), open(Checkpoint, "value", value)
	c := mm2.Checkpoint{Group: k.string("group"), Topic: k.string("topic"), Partition: k.int32("partition")}
	topicAndPartition(&k, c.Topic, c.Partition)
	c.Version = v.int16("version")
	c.Upstream, c.Downstream, c.Metadata = v.int64("upstreamOffset"), v.int64("offset"), v.string("metadata")
	var n Notes
	n.version(c.Version, &v)
	n.ends(&k)
	n.ends(&v)
	if err := first(&k, &v); err != nil {
		return mm2.Checkpoint{}, nil, err
	}
	return c, n, nil
}

// DecodeHeartbeat reads key and value of a record in a heartbeats topic, like DecodeOffsetSync.
func DecodeHeartbeat(key, value []byte) (mm2.Heartbeat, Notes, error) {
	k, v := open(Heartbeat, "key", key), open(Heartbeat, "value", value)
	h := mm2.Heartbeat{Source: k.string("sourceClusterAlias"), Target: k.string("targetClusterAlias")}
	h.Version = v.int16("version")
	h.Timestamp = v.int64("timestamp")
	var n Notes
	n.version(h.Version, &v)
	n.ends(&k)
	n.ends(&v)
	if err := first(&k, &v); err != nil {
		return mm2.Heartbeat{}, nil, err
	}
	return h, n, nil
}

// topicAndPartition refuses what no topic can be. Kafka itself would take it; the doctor must not take another program's
// bytes for a fact.
func topicAndPartition(k *fields, topic string, partition int32) {
	if topic == "" {
		k.foreign("the topic name in the key is empty")
	}
	if partition < 0 {
		k.foreign("the partition in the key is %d", partition)
	}
}

func first(fs ...*fields) error {
	for _, f := range fs {
		if f.err != nil {
			return f.err
		}
	}
	return nil
}
