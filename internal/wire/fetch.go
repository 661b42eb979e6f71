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
	return fetchesRequest([]PageQuery{{Topic: topic, Partition: partition, From: offset, MaxBytes: maxBytes, Committed: committed}}, []int{0}, 500)
}

// fetchesRequest asks for several partitions, each named once, at one isolation level. wait is in ms: how long a broker holds
// an answer back that would be empty.
func fetchesRequest(qs []PageQuery, part []int, wait int32) *kmsg.FetchRequest {
	f := kmsg.NewPtrFetchRequest()
	f.ReplicaID, f.MaxWaitMillis, f.MinBytes, f.SessionEpoch = -1, wait, 1, -1
	if qs[part[0]].Committed {
		f.IsolationLevel = 1
	}
	topics := map[string]int{}
	total := int64(0)
	for _, i := range part {
		q := qs[i]
		at, ok := topics[q.Topic]
		if !ok {
			at = len(f.Topics)
			topics[q.Topic] = at
			t := kmsg.NewFetchRequestTopic()
			t.Topic = q.Topic
			f.Topics = append(f.Topics, t)
		}
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = q.Partition, q.From, q.MaxBytes, -1
		f.Topics[at].Partitions = append(f.Topics[at].Partitions, p)
		total += int64(q.MaxBytes)
	}
	f.MaxBytes = int32(min(total, 1<<30))
	return f
}

// parseFetch walks the answer about one partition. throttled says that a quota held the partition back (KIP-219).
func parseFetch(b []byte, version int16, topic string, partition int32) (f fetched, throttled bool, err error) {
	found := false
	throttle, code, err := walkFetch(b, version, func(t []byte, p int32, one fetched) error {
		if string(t) != topic {
			return missing("topic " + topic)
		}
		if p != partition || found {
			return missing("the partition")
		}
		f, found = one, true
		return nil
	})
	switch {
	case err != nil:
		return fetched{start: -1}, false, err
	case code != 0:
		return fetched{code: code, start: -1}, false, nil
	case !found && throttle > 0:
		return fetched{start: -1}, true, nil
	case !found:
		return fetched{start: -1}, false, missing("topic " + topic)
	}
	return f, false, nil
}

// walkFetch walks an answer of versions 4 to 11 without copying the records. code is that of the whole answer. A throttled
// answer (throttle in ms) may name no partition at all (KIP-219).
func walkFetch(b []byte, version int16, each func(topic []byte, partition int32, f fetched) error) (throttle int32, code int16, err error) {
	r := reader{b: b}
	throttle = r.i32()
	if version >= 7 {
		if code = r.i16(); code != 0 {
			return throttle, code, r.or(nil)
		}
		r.i32() // session
	}
	for ts := r.i32(); ts > 0 && !r.bad; ts-- {
		topic := r.take(int(r.i16()))
		for ps := r.i32(); ps > 0 && !r.bad; ps-- {
			partition, f := r.partition(version)
			if r.bad {
				break
			}
			if err := each(topic, partition, f); err != nil {
				return throttle, 0, err
			}
		}
	}
	if r.bad {
		return throttle, 0, errCutAnswer
	}
	if len(r.b) != 0 {
		return throttle, 0, errors.New("the answer holds more than was asked for")
	}
	return throttle, 0, nil
}

func (r *reader) partition(version int16) (partition int32, f fetched) {
	f.start = -1
	partition = r.i32()
	f.code = r.i16()
	f.highWatermark, f.stable = r.i64(), r.i64()
	if version >= 5 {
		f.start = r.i64()
	}
	n := r.i32()
	if int(n) > len(r.b)/16 {
		r.bad = true
		return partition, f
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
	return partition, f
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
