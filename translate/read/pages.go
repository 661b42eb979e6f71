package read

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// Usage is what was read of one cluster's user records.
type Usage struct {
	Fetches int64 // pages; several may have come in one request
	Bytes   int64 // as they came, compressed
	Records int64
	Times   int64 // looked up by time
}

type usage struct{ fetches, bytes, records, times atomic.Int64 }

func (u *usage) sum() Usage {
	return Usage{Fetches: u.fetches.Load(), Bytes: u.bytes.Load(), Records: u.records.Load(), Times: u.times.Load()}
}

// fetcher reads the pages of one cluster.
type fetcher struct {
	client *wire.Client
	used   *usage
	budget *budget
}

// want is one page to be read.
type want struct {
	tp        kafka.TopicPartition
	from      int64
	size      int
	committed bool
}

func (f *fetcher) page(ctx context.Context, tp kafka.TopicPartition, from int64, size int, committed bool) (*page, error) {
	w := want{tp, from, size, committed}
	ps, errs := f.pages(ctx, []want{w})
	if errs[0] == nil && ps[0].next > from {
		return ps[0], nil
	}
	if committed && (errs[0] == nil || errors.Is(errs[0], wire.ErrEmpty)) {
		// Everything up to the last stable offset is compacted away: the next batch is beyond it, and is not seen from here.
		w.committed = false
		ps, errs = f.pages(ctx, []want{w})
	}
	if errs[0] != nil {
		return nil, errs[0]
	}
	if ps[0].next <= from {
		return nil, fmt.Errorf("the log of %v ends at offset %d, below the end that was read a moment before: it was truncated", tp, from)
	}
	return ps[0], nil
}

// pages reads several pages with as few requests as the client can.
func (f *fetcher) pages(ctx context.Context, ws []want) ([]*page, []error) {
	qs := make([]wire.PageQuery, len(ws))
	ps := make([]*page, len(ws))
	errs := make([]error, len(ws))
	for i, w := range ws {
		qs[i] = wire.PageQuery{Topic: w.tp.Topic, Partition: w.tp.Partition, From: w.from, MaxBytes: int32(w.size), Committed: w.committed}
		ps[i] = &page{from: w.from, next: w.from, size: w.size}
	}
	rs := f.client.FetchPages(ctx, qs, func(i int, r *wire.PageRecord) error {
		ps[i].recs = append(ps[i].recs, record(r))
		ps[i].marked = ps[i].marked || r.Transactional || r.Control
		return nil
	})
	for i, r := range rs {
		p := ps[i]
		if len(p.recs) > 0 {
			p.from = min(p.from, p.recs[0].Offset)
		}
		p.next, p.bytes = r.Next, r.Bytes
		if r.Bytes > int64(p.size) { // a fetch gives one whole batch, however large
			p.batch = int(min(r.Bytes, mostOfPage))
		}
		f.used.fetches.Add(1)
		f.used.bytes.Add(r.Bytes)
		f.used.records.Add(int64(len(p.recs)))
		f.budget.spent.Add(r.Bytes)
		errs[i] = r.Err
	}
	return ps, errs
}

func record(r *wire.PageRecord) match.Record {
	var flags match.Flags
	if r.AppendTime {
		flags |= match.AppendTime
	}
	if r.Control {
		flags |= match.Control
	}
	if r.Aborted {
		flags |= match.Aborted
	}
	return fingerprint(&r.Record, flags)
}
