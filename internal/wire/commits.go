package wire

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"unicode/utf16"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// LoggedCommit is one record of __consumer_offsets about a committed offset. Removed is a tombstone: the offset expired, was deleted
// or went with its group. Time is the broker's clock at the commit, ms; of a tombstone the time of the record.
type LoggedCommit struct {
	Group     string
	Topic     string
	Partition int32
	Offset    int64
	Time      int64
	Expires   int64 // ms, explicit retention of an OffsetCommit below version 5; 0 without
	Removed   bool
}

// Entered is one record of __consumer_offsets about a classic group: when it came into a state, ms by the broker's clock, and
// whether that is Empty.
type Entered struct {
	Group string
	Time  int64
	Empty bool
}

// CommitLog is told what ReadCommits finds, in the order of each partition, one call at a time.
type CommitLog struct {
	Commit  func(LoggedCommit)
	Entered func(Entered)
}

// TooLarge is the error of a read that was given up: the topic holds more than was to be read.
type TooLarge struct{ Most int64 }

func (t *TooLarge) Error() string {
	return fmt.Sprintf("more than %d bytes would have to be read", t.Most)
}

// ReadCommits reads the partitions of __consumer_offsets that hold the groups, whole, and tells to what it
// finds about them. It gives up at most bytes of keys and values, and then every group of a partition
// that was not read to its end has an error in the result; so has every group whose partition cannot be read.
func (c *Client) ReadCommits(ctx context.Context, groups []string, most int64, to CommitLog) map[string]error {
	md, err := c.Metadata(ctx, []string{offsetsTopic})
	if err != nil {
		return all(groups, err)
	}
	t, _ := md.Topic(offsetsTopic)
	switch {
	case CodeOf(t.Err) == kafka.UnknownTopicOrPartition:
		return nil
	case t.Err != nil:
		return all(groups, t.Err)
	}
	held := map[int32][]string{}
	wanted := map[string]bool{}
	var qs []OffsetQuery
	for _, g := range groups {
		p := groupPartition(g, int32(max(len(t.Partitions), 1)))
		if held[p] == nil {
			qs = append(qs, OffsetQuery{Topic: offsetsTopic, Partition: p, Timestamp: AtStart}, OffsetQuery{Topic: offsetsTopic, Partition: p, Timestamp: AtEnd, Committed: true})
		}
		held[p], wanted[g] = append(held[p], g), true
	}
	bad := map[string]error{}
	var mu sync.Mutex
	var read int64
	as := c.ListOffsets(ctx, qs)
	singles(slices.Collect(slices.Chunk(as, 2)), func(ext []OffsetAnswer) error {
		p := ext[0].Partition
		err := cmpErr(ext[0].Err, ext[1].Err)
		if err == nil && ext[0].Offset < ext[1].Offset {
			_, err = c.ReadPartition(ctx, offsetsTopic, p, ext[0].Offset, ext[1].Offset, ReadOptions{Committed: true}, func(r *kafka.Record) error {
				mu.Lock()
				defer mu.Unlock()
				if read += int64(len(r.Key) + len(r.Value)); read > most {
					return &TooLarge{most}
				}
				if cm, ok := decodeCommit(r); ok && wanted[cm.Group] {
					to.Commit(cm)
				} else if e, ok := decodeEntered(r); ok && wanted[e.Group] {
					to.Entered(e)
				}
				return nil
			})
		}
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			for _, g := range held[p] {
				bad[g] = err
			}
		}
		return nil
	})
	return bad
}

// groupPartition is the broker's choice: the absolute value of the id's Java hash (Utils.abs: 0 for the smallest integer),
// modulo the partitions.
func groupPartition(group string, partitions int32) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(group)) {
		h = 31*h + int32(u)
	}
	if h = max(h, -h); h < 0 {
		h = 0
	}
	return h % partitions
}

// decodeCommit reads a record of key version 0 or 1; others are about groups, members and assignments.
func decodeCommit(r *kafka.Record) (LoggedCommit, bool) {
	if len(r.Key) < 2 || r.Key[0] != 0 || r.Key[1] > 1 {
		return LoggedCommit{}, false
	}
	var k kmsg.OffsetCommitKey
	if k.ReadFrom(r.Key) != nil {
		return LoggedCommit{}, false
	}
	out := LoggedCommit{Group: k.Group, Topic: k.Topic, Partition: k.Partition, Time: r.Timestamp, Removed: r.Value == nil}
	if out.Removed {
		return out, true
	}
	var v kmsg.OffsetCommitValue
	if v.ReadFrom(r.Value) != nil || v.Version > 4 {
		return LoggedCommit{}, false
	}
	out.Offset, out.Time = v.Offset, v.CommitTimestamp
	if v.ExpireTimestamp > 0 {
		out.Expires = v.ExpireTimestamp
	}
	return out, true
}

// decodeEntered reads a record of key version 2 with a value of version 2 or 3 (Kafka 2.1 on).
func decodeEntered(r *kafka.Record) (Entered, bool) {
	if len(r.Key) < 2 || r.Key[0] != 0 || r.Key[1] != 2 || r.Value == nil {
		return Entered{}, false
	}
	var k kmsg.GroupMetadataKey
	var v kmsg.GroupMetadataValue
	if k.ReadFrom(r.Key) != nil || v.ReadFrom(r.Value) != nil || v.Version < 2 || v.CurrentStateTimestamp <= 0 {
		return Entered{}, false
	}
	return Entered{Group: k.Group, Time: v.CurrentStateTimestamp, Empty: len(v.Members) == 0}, true
}
