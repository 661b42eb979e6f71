package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// ReadOptions say how a partition is read.
type ReadOptions struct {
	Committed bool // leave out records of aborted transactions; reading ends at the last stable offset
	MaxBytes  int  // of one fetch; default 4 MiB
}

// ReadStats tell how far a read came.
type ReadStats struct {
	Next    int64 // the offset after the last batch that was read whole: where to go on
	Start   int64 // log start offset as last seen; -1 unknown
	Records int64 // given to the callback
	Batches int64
	Bytes   int64 // of batches, compressed
	Fetches int
	Retries int
	Gone    int64 // offsets that retention removed while they were about to be read
}

const (
	defaultFetch = 4 << 20
	minFetch     = 1
)

// stop carries an error of the callback through the retries.
type stop struct{ error }

func (s stop) Unwrap() error { return s.error }

// ReadPartition gives fn each data record with from <= offset < to, in order. The record is valid only until fn returns; an
// error of fn ends the read and is returned as it is.
//
// Holes of compaction, control records and, with Committed, aborted records are passed over. to must not lie beyond the log
// end (with Committed: the last stable offset), else the read ends with an error after the timeout. Where retention overtakes
// the read it goes on at the new log start and counts the lost offsets in Gone; a from below the log start does the same.
// Every record before ReadStats.Next was given exactly once, also when an error is returned, unless the error is about a
// record within a batch.
func (c *Client) ReadPartition(ctx context.Context, topic string, partition int32, from, to int64, o ReadOptions, fn func(*kafka.Record) error) (ReadStats, error) {
	r := &read{
		c: c, tp: kafka.TopicPartition{Topic: topic, Partition: partition}, to: to, o: o, fn: fn,
		st: ReadStats{Next: max(from, 0), Start: -1}, leader: -1, given: -1,
	}
	r.d.rec.Partition = partition
	if r.o.MaxBytes < minFetch {
		r.o.MaxBytes = defaultFetch
	}
	moved := time.Now()
	for r.st.Next < to {
		before := r.st.Next
		err := c.retry(ctx, func(try int) error {
			if try > 0 {
				r.st.Retries++
			}
			err := r.once(ctx, try > 0)
			if err != nil && r.st.Next > before { // what came before the fault is progress: begin a new count of tries
				var s stop
				if errors.As(err, &s) || !passing(err) {
					return err
				}
				return nil
			}
			return err
		})
		var s stop
		if errors.As(err, &s) {
			return r.st, s.error
		}
		if err != nil {
			return r.st, err
		}
		if r.st.Next > before {
			moved = time.Now()
		} else if time.Since(moved) > c.timeout {
			return r.st, r.fail(fmt.Errorf("%w: nothing comes at offset %d, %d is awaited", errNoProgress, r.st.Next, to))
		}
		if ctx.Err() != nil {
			return r.st, r.fail(context.Cause(ctx))
		}
	}
	return r.st, nil
}

// damaged keeps a decoder's end-of-input from looking like a broken connection, which would be tried again.
type damaged struct{ error }

type read struct {
	c      *Client
	tp     kafka.TopicPartition
	to     int64
	o      ReadOptions
	fn     func(*kafka.Record) error
	st     ReadStats
	d      decoder
	buf    []byte
	leader int32
	at     node
	given  int64 // the last offset given to fn: a batch that is read again after a fault gives none twice
}

func (r *read) fail(err error) error {
	return about(r.c.fail("Fetch", r.at, err), r.tp.String())
}

// once fetches and decodes one answer.
func (r *read) once(ctx context.Context, fresh bool) error {
	if r.leader < 0 || fresh {
		led, bad := r.c.leadersOf(ctx, []kafka.TopicPartition{r.tp}, fresh)
		if err, ok := bad[r.tp]; ok {
			return err
		}
		r.leader = led[r.tp]
	}
	n, ok := r.c.nodeOf(r.leader)
	if r.at = n; !ok {
		return r.fail(errGone)
	}
	req := fetchRequest(r.tp.Topic, r.tp.Partition, r.st.Next, int32(min(r.o.MaxBytes, 1<<30)), r.o.Committed)
	s := spanOf(req.Key())
	if err := r.c.negotiate(ctx, n, req, s.lo, s.hi); err != nil {
		return r.fail(err)
	}
	body, err := r.c.send(ctx, n, req, nil, r.buf)
	if err != nil {
		r.buf = nil // the connection may still write into it
		return r.fail(err)
	}
	r.buf = body[:0]
	f, throttled, err := parseFetch(body, req.Version, r.tp.Topic, r.tp.Partition)
	if err != nil {
		return r.fail(err)
	}
	r.st.Fetches++
	if throttled {
		return nil // nothing came because of a quota: the broker makes the next request wait
	}
	if kafka.ErrorCode(f.code) == kafka.OffsetOutOfRange {
		return r.outOfRange(ctx)
	}
	if err := about(r.c.code("Fetch", n, f.code, nil), r.tp.String()); err != nil {
		return err
	}
	r.st.Start = max(r.st.Start, f.start)
	before := r.st.Next
	if err := r.batches(f); err != nil {
		var s stop
		if errors.As(err, &s) {
			return err
		}
		return r.fail(damaged{err})
	}
	if len(f.records) > 0 && r.st.Next == before {
		return r.fail(fmt.Errorf("the answer at offset %d has %d bytes and no whole batch: no progress", before, len(f.records)))
	}
	return nil
}

// outOfRange goes on at the log start when retention removed what was to be read.
func (r *read) outOfRange(ctx context.Context) error {
	a := r.c.ListOffsets(ctx, []OffsetQuery{{Topic: r.tp.Topic, Partition: r.tp.Partition, Timestamp: AtStart}})[0]
	if a.Err != nil {
		return a.Err
	}
	r.st.Start = max(r.st.Start, a.Offset)
	if a.Offset <= r.st.Next {
		return about(r.c.code("Fetch", r.at, int16(kafka.OffsetOutOfRange), nil), r.tp.String())
	}
	next := min(a.Offset, r.to)
	r.st.Gone += next - r.st.Next
	r.st.Next = next
	return nil
}

// errPast ends a walk at the bound of the read.
var errPast = errors.New("past the bound")

func (r *read) batches(f fetched) error {
	err := walkBatches(f, r.st.Next, r.o.Committed, &r.d, func(bt batch, gone bool) error {
		if bt.base >= r.to {
			r.st.Next = max(r.st.Next, r.to) // the rest up to the bound was compacted away
			return errPast
		}
		r.st.Batches++
		r.st.Bytes += int64(headerSize + len(bt.records))
		if !gone && bt.attr&attrControl == 0 {
			if err := r.batch(bt); err != nil {
				return err
			}
		}
		r.st.Next = bt.last + 1
		return nil
	})
	if err == errPast {
		return nil
	}
	return err
}

func (r *read) batch(bt batch) error {
	return r.d.each(bt, func(off int64, _ []byte) error {
		if off < r.st.Next || off >= r.to || off <= r.given {
			return nil
		}
		r.given = off
		r.st.Records++
		if err := r.fn(&r.d.rec.Record); err != nil {
			return stop{err}
		}
		return nil
	})
}
