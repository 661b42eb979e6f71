package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// PageQuery asks for the records of one partition from an offset on: as many as fit into MaxBytes of batches, compressed as they
// are, but at least one whole batch, however large (KIP-74). MaxBytes below 1 means 64 KiB. Committed reads up to the last stable
// offset and learns which records are of aborted transactions. A page whose first batch is larger may be asked for again with more.
type PageQuery struct {
	Topic     string
	Partition int32
	From      int64
	MaxBytes  int32
	Committed bool
}

// PageRecord is one record of a page. Control is a transaction marker (its key and value are the broker's), Aborted a record of an
// aborted transaction (known only with PageQuery.Committed), AppendTime says that the timestamp is the broker's and the same for
// the whole batch. It is valid until the callback returns.
type PageRecord struct {
	kafka.Record
	Control, Aborted, AppendTime bool
	Transactional                bool // of a batch that a transaction wrote; markers too
}

// PageResult tells what a page held. Next is the offset after its last whole batch: From where nothing came. Everything in
// [From, Next) was given. Start, Stable and End are log start, last stable offset and high watermark as the leader gave them
// beside the records, -1 where it did not. Bytes count what came, compressed.
type PageResult struct {
	Next               int64
	Start, Stable, End int64
	Records            int
	Bytes              int64
	Err                error
}

const (
	defaultPage = 64 << 10
	// One request asks for no more than this, so that answers stay small enough for slow lines and for memory.
	mostPerFetch = 8 << 20
	// A page that came back empty because its batch is larger is asked for with more, up to the default of max.message.bytes.
	mostPerPage = 1 << 20
)

// FetchPages reads one page of each query, with one request per broker where they fit, and gives fn every record of the batches
// that came, in the order of each partition. The index of the query goes with it. fn is never called twice at once; its error
// ends that page and is its Err as it is.
//
// All records of a batch are given: also those before From in the first batch, markers, and aborted ones. A page is empty only
// where the log ends at From (with Committed: where the last stable offset is), and is never waited for. An offset outside the log
// is OFFSET_OUT_OF_RANGE, with Start, Stable and End told where the leader tells them. A failed page that gave records before its
// fault gave exactly those before Next and those of the batch at fault.
func (c *Client) FetchPages(ctx context.Context, qs []PageQuery, fn func(i int, r *PageRecord) error) []PageResult {
	return c.fetchBatches(ctx, qs, func(d *decoder, i int, bt batch, gone bool, res *PageResult) error {
		d.rec.Control = bt.attr&attrControl != 0
		d.rec.AppendTime = bt.attr&attrLogAppendTime != 0
		d.rec.Transactional = bt.attr&attrTransactional != 0
		d.rec.Aborted, d.rec.Partition = gone, qs[i].Partition
		return d.each(bt, func(int64, []byte) error {
			res.Records++
			if err := fn(i, &d.rec); err != nil {
				return stop{err}
			}
			return nil
		})
	})
}

// pager is what one request needs besides its answer; it is kept for the next.
type pager struct {
	d   decoder
	buf []byte
}

var pagers = sync.Pool{New: func() any { return new(pager) }}

// visitor is given a batch of the query i; gone says that it belongs to an aborted transaction.
type visitor func(d *decoder, i int, bt batch, gone bool, res *PageResult) error

type pageRead struct {
	c     *Client
	qs    []PageQuery
	out   []PageResult
	empty []bool // came back empty once though the log goes on
	mu    sync.Mutex
	visit visitor
}

func (c *Client) fetchBatches(ctx context.Context, qs []PageQuery, visit visitor) []PageResult {
	r := &pageRead{c: c, qs: slices.Clone(qs), out: make([]PageResult, len(qs)), empty: make([]bool, len(qs)), visit: visit}
	keys := make([]int, len(qs))
	for i, q := range qs {
		keys[i] = i
		r.out[i] = PageResult{Next: q.From, Start: -1, Stable: -1, End: -1}
		if q.MaxBytes < 1 {
			r.qs[i].MaxBytes = defaultPage
		}
	}
	failed := spread(ctx, c, keys, 4000, func(ctx context.Context, keys []int, try int) (map[int32][]int, map[int]error) {
		return placeByLeader(ctx, c, keys, r.tp, try)
	}, r.ask)
	var outside []int
	for i, err := range failed {
		var s stop
		if errors.As(err, &s) {
			r.out[i].Err = s.error
			continue
		}
		if r.out[i].Err = about(err, r.tp(i).String()); CodeOf(err) == kafka.OffsetOutOfRange {
			outside = append(outside, i)
		}
	}
	r.bounds(ctx, outside)
	return r.out
}

func (r *pageRead) tp(i int) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: r.qs[i].Topic, Partition: r.qs[i].Partition}
}

// bounds asks for the log's extent where an answer OFFSET_OUT_OF_RANGE did not tell it.
func (r *pageRead) bounds(ctx context.Context, outside []int) {
	var asks []OffsetQuery
	for _, i := range outside {
		q := r.qs[i]
		asks = append(asks, OffsetQuery{q.Topic, q.Partition, AtStart, false}, OffsetQuery{q.Topic, q.Partition, AtEnd, true}, OffsetQuery{q.Topic, q.Partition, AtEnd, false})
	}
	as := r.c.ListOffsets(ctx, asks)
	for n, i := range outside {
		r.out[i].Start, r.out[i].Stable, r.out[i].End = as[3*n].Offset, as[3*n+1].Offset, as[3*n+2].Offset
	}
}

// ask reads the pages that one broker leads.
func (r *pageRead) ask(ctx context.Context, n node, part []int) map[int]error {
	bad := map[int]error{}
	fail := func(wave []int, err func(i int) error) {
		for _, i := range wave {
			bad[i] = r.c.fail("Fetch", n, err(i))
		}
	}
	for todo, since := r.waves(part), time.Now(); len(todo) > 0; todo = todo[1:] {
		wave := todo[0]
		if ctx.Err() != nil {
			fail(wave, func(int) error { return context.Cause(ctx) })
			continue
		}
		left, throttled, err := r.request(ctx, n, wave, bad)
		switch {
		case err != nil:
			fail(wave, func(int) error { return err })
		case len(left) < len(wave):
			// The first batch of a request comes whatever its size, later ones only where they fit (KIP-74): larger requests go on.
			for _, i := range left {
				r.qs[i].MaxBytes = max(r.qs[i].MaxBytes, min(4*r.qs[i].MaxBytes, mostPerPage))
			}
			todo, since = append(todo, r.waves(left)...), time.Now()
		case throttled && time.Since(since) < r.c.timeout:
			todo = append(todo, left)
		default:
			fail(left, func(i int) error {
				return fmt.Errorf("%w at offset %d, and the log goes on to %d", errEmpty, r.qs[i].From, r.end(i))
			})
		}
	}
	return bad
}

// end is where reading ends.
func (r *pageRead) end(i int) int64 {
	if r.qs[i].Committed {
		return r.out[i].Stable
	}
	return r.out[i].End
}

// waves cuts queries into requests: one isolation level, each partition once, and no more bytes than a request may ask for.
func (r *pageRead) waves(part []int) [][]int {
	type kind struct {
		committed bool
		turn      int
	}
	type open struct{ at, bytes int }
	turns := map[PageQuery]int{}
	index := map[kind]open{}
	var out [][]int
	for _, i := range part {
		q := r.qs[i]
		at := PageQuery{Topic: q.Topic, Partition: q.Partition, Committed: q.Committed}
		k := kind{q.Committed, turns[at]}
		turns[at]++
		w, ok := index[k]
		if !ok || w.bytes+int(q.MaxBytes) > mostPerFetch {
			w = open{at: len(out)}
			out = append(out, nil)
		}
		out[w.at] = append(out[w.at], i)
		w.bytes += int(q.MaxBytes)
		index[k] = w
	}
	return out
}

// request makes one exchange. left are the queries that got nothing though their log goes on; bad gets those that failed on
// their own; the error is about the whole wave.
func (r *pageRead) request(ctx context.Context, n node, wave []int, bad map[int]error) (left []int, throttled bool, err error) {
	const api = "Fetch"
	wait := int32(0)
	at := make(map[kafka.TopicPartition]int, len(wave))
	for _, i := range wave {
		at[r.tp(i)] = i
		if r.empty[i] {
			wait = 500 // the log goes on, so that this waits for a slow disk or store only
		}
	}
	req := fetchesRequest(r.qs, wave, wait)
	s := spanOf(req.Key())
	if err := r.c.negotiate(ctx, n, req, s.lo, s.hi); err != nil {
		return nil, false, r.c.fail(api, n, err)
	}
	p := pagers.Get().(*pager)
	body, err := r.c.send(ctx, n, req, nil, p.buf)
	if err != nil {
		return nil, false, r.c.fail(api, n, err) // the connection may still write into the buffer: it is given up
	}
	defer func() {
		p.buf = body[:0]
		if cap(body) <= 2*mostPerFetch {
			pagers.Put(p)
		}
	}()
	var named []int
	var got []fetched
	throttle, code, err := walkFetch(body, req.Version, func(topic []byte, partition int32, f fetched) error {
		tp := kafka.TopicPartition{Topic: string(topic), Partition: partition}
		i, ok := at[tp]
		if !ok {
			return errors.New("the answer holds " + tp.String() + ", which was not asked for")
		}
		delete(at, tp)
		named, got = append(named, i), append(got, f)
		return nil
	})
	if err != nil {
		return nil, false, r.c.fail(api, n, damaged{err})
	}
	if err := r.c.code(api, n, code, nil); err != nil {
		return nil, false, err
	}
	throttled = throttle > 0
	for tp, i := range at {
		if throttled {
			left = append(left, i)
		} else {
			bad[i] = r.c.fail(api, n, missing(tp.String()))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, i := range named {
		starved, err := r.take(n, i, got[k], &p.d)
		if err != nil {
			bad[i] = err
		} else if starved {
			r.empty[i] = true
			left = append(left, i)
		}
	}
	slices.Sort(left)
	return left, throttled, nil
}

// take walks what came of one partition; starved says that nothing did although the log goes on.
func (r *pageRead) take(n node, i int, f fetched, d *decoder) (starved bool, err error) {
	q, res := r.qs[i], &r.out[i]
	if err := r.c.code("Fetch", n, f.code, nil); err != nil {
		return false, err
	}
	res.Start, res.Stable, res.End = f.start, f.stable, f.highWatermark
	res.Bytes += int64(len(f.records))
	err = walkBatches(f, q.From, q.Committed, d, func(bt batch, gone bool) error {
		if err := r.visit(d, i, bt, gone, res); err != nil {
			return err
		}
		res.Next = bt.last + 1
		return nil
	})
	var s stop
	switch {
	case errors.As(err, &s):
		return false, err
	case err != nil:
		return false, r.c.fail("Fetch", n, damaged{err})
	}
	return res.Next <= q.From && q.From < r.end(i), nil
}

// errEmpty is passed over for a while: a leader that has just changed may answer so.
var errEmpty = errors.New("the broker gives no whole batch")

// walkBatches gives the whole batches that do not end before from, and says of each whether it belongs to an aborted transaction.
//
// The broker lists the aborted transactions that overlap the answer, also those that began before it. Each is in force from its
// first offset to its producer's next abort marker, as the Java consumer reads the list (KIP-98). A batch that holds from
// is never of a transaction that ended before from, because its marker would lie inside the batch.
func walkBatches(f fetched, from int64, committed bool, d *decoder, visit func(bt batch, gone bool) error) error {
	open := map[int64]bool{} // producers whose transaction is known to be aborted
	ab := f.aborted
	slices.SortFunc(ab, func(a, b aborted) int { return cmp.Compare(a.first, b.first) })
	for b := f.records; ; {
		bt, rest, ok, err := nextBatch(b, from)
		if err != nil || !ok {
			return err
		}
		b = rest
		if bt.last < from {
			continue
		}
		control := bt.attr&attrControl != 0
		if committed {
			for len(ab) > 0 && ab[0].first <= bt.last {
				open[ab[0].producer] = true
				ab = ab[1:]
			}
			if control && open[bt.producer] {
				abort, ok, err := d.abortMarker(bt)
				if err != nil {
					return err
				}
				if ok && abort {
					delete(open, bt.producer)
				}
			}
		}
		if err := visit(bt, !control && bt.attr&attrTransactional != 0 && open[bt.producer]); err != nil {
			return err
		}
	}
}
