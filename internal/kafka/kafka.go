// Package kafka holds Kafka's own words as values: offsets, partitions, group states, error codes, records.
//
// What may enter: types without behaviour beyond naming and comparing. No client, no I/O, no MirrorMaker 2.
package kafka

import (
	"cmp"
	"strconv"
)

// NoOffset is the broker's "no committed offset" and "no such offset".
const NoOffset int64 = -1

// NoEpoch is an absent leader epoch. Zero is a real epoch and must never stand for "none".
const NoEpoch int32 = -1

// TopicPartition names one partition.
type TopicPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

// String gives Kafka's own form, topic-partition.
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// Compare orders by topic, then partition.
func (tp TopicPartition) Compare(o TopicPartition) int {
	if c := cmp.Compare(tp.Topic, o.Topic); c != 0 {
		return c
	}
	return cmp.Compare(tp.Partition, o.Partition)
}

// Header is one record header; Value may be nil.
type Header struct {
	Key   string
	Value []byte
}

// Record is one data record as read from a log. Key and Value are nil where the record has none; they may share
// memory with a read buffer and are valid only until the callback that got the record returns.
type Record struct {
	Partition   int32
	Offset      int64
	Timestamp   int64 // ms since the epoch; the batch's maximum under LogAppendTime
	LeaderEpoch int32 // of the batch
	ProducerID  int64 // -1 without
	Key, Value  []byte
	Headers     []Header
}
