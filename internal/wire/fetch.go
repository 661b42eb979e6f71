package wire

import (
	"encoding/binary"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetched is the answer of a Fetch for one partition. Records shares memory with the answer.
type fetched struct {
	code                         int16
	highWatermark, stable, start int64
	aborted                      []aborted
	records                      []byte
}

// aborted is a transaction that was given up: its records begin at first and end before the producer's abort marker.
type aborted struct{ producer, first int64 }

func fetchRequest(topic string, partition int32, offset int64, maxBytes int32, committed bool) *kmsg.FetchRequest {
	f := kmsg.NewPtrFetchRequest()
	f.ReplicaID, f.MaxWaitMillis, f.MinBytes, f.MaxBytes, f.SessionEpoch = -1, 500, 1, maxBytes, -1
	if committed {
		f.IsolationLevel = 1
	}
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = partition, offset, maxBytes, -1
	t.Partitions = append(t.Partitions, p)
	f.Topics = append(f.Topics, t)
	return f
}

// parseFetch walks an answer of versions 4 to 11 without copying the records.
func parseFetch(b []byte, version int16, topic string, partition int32) (f fetched, err error) {
	r := reader{b: b}
	f.start = -1
	r.i32() // throttle
	if version >= 7 {
		if f.code = r.i16(); f.code != 0 {
			return f, nil
		}
		r.i32() // session
	}
	if r.i32() != 1 {
		return f, r.or(missing("topic " + topic))
	}
	if name := r.take(int(r.i16())); string(name) != topic {
		return f, r.or(missing("topic " + topic))
	}
	if r.i32() != 1 || r.i32() != partition {
		return f, r.or(missing("the partition"))
	}
	f.code = r.i16()
	f.highWatermark, f.stable = r.i64(), r.i64()
	if version >= 5 {
		f.start = r.i64()
	}
	n := r.i32()
	if int(n) > len(r.b)/16 {
		return f, errCutAnswer
	}
	for ; n > 0; n-- {
		f.aborted = append(f.aborted, aborted{r.i64(), r.i64()})
	}
	if version >= 11 {
		r.i32() // preferred replica
	}
	if l := r.i32(); l > 0 {
		f.records = r.take(int(l))
	}
	if r.bad {
		return f, errCutAnswer
	}
	if len(r.b) != 0 {
		return f, errors.New("the answer holds more than was asked for")
	}
	return f, nil
}

var errCutAnswer = errors.New("the answer is cut short")

type reader struct {
	b   []byte
	bad bool
}

var zeros [8]byte

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		return zeros[:]
	}
	x := r.b[:n]
	r.b = r.b[n:]
	return x
}

func (r *reader) or(err error) error {
	if r.bad {
		return errCutAnswer
	}
	return err
}

func (r *reader) i16() int16 { return int16(binary.BigEndian.Uint16(r.take(2))) }
func (r *reader) i32() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *reader) i64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }
