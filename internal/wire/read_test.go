package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// served is a partition that a control answers for: batches as a real cleaner leaves them, which kfake's own never are.
type served struct {
	batches []crafted
	end     int64
	aborted []abortedTx
	start   int64
	tamper  func(fetch int, p *kmsg.FetchResponseTopicPartition)
	fetches int
}

// abortedTx is listed by the broker in answers that begin at or before its marker.
type abortedTx struct{ producer, first, marker int64 }

func serve(t *testing.T, s *served) *Client {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "log"))
	var raws [][]byte
	for _, b := range s.batches {
		raws = append(raws, b.raw(t))
	}
	k.ControlKey(1, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		s.fetches++
		req := r.(*kmsg.FetchRequest)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		q := req.Topics[0].Partitions[0]
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic = req.Topics[0].Topic
		p := kmsg.NewFetchResponseTopicPartition()
		p.HighWatermark, p.LastStableOffset, p.LogStartOffset = s.end, s.end, s.start
		if q.FetchOffset < s.start {
			p.ErrorCode = 1
		}
		for i, b := range s.batches {
			if b.last() < q.FetchOffset || p.ErrorCode != 0 {
				continue
			}
			if len(p.RecordBatches) > 0 && len(p.RecordBatches)+len(raws[i]) > int(q.PartitionMaxBytes) {
				p.RecordBatches = append(p.RecordBatches, raws[i][:max(0, min(len(raws[i]), int(q.PartitionMaxBytes)-len(p.RecordBatches)))]...) // cut, as brokers do
				break
			}
			p.RecordBatches = append(p.RecordBatches, raws[i]...)
		}
		if req.IsolationLevel == 1 {
			for _, a := range s.aborted {
				if a.marker < q.FetchOffset {
					continue
				}
				p.AbortedTransactions = append(p.AbortedTransactions, kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: a.producer, FirstOffset: a.first})
			}
		}
		if s.tamper != nil {
			s.tamper(s.fetches, &p)
		}
		rt.Partitions = append(rt.Partitions, p)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	k.ControlKey(2, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		resp := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = "log"
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.Offset = s.start
		rt.Partitions = append(rt.Partitions, p)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	return open(t, k.ListenAddrs(), nil)
}

func readLog(t *testing.T, c *Client, from, to int64, o ReadOptions) (offs []int64, st ReadStats, err error) {
	st, err = c.ReadPartition(ctx(t), "log", 0, from, to, o, func(r *kafka.Record) error {
		offs = append(offs, r.Offset)
		return nil
	})
	return offs, st, err
}

func TestReadWhatTheCleanerLeft(t *testing.T) {
	for _, codec := range []string{"", "gzip", "snappy", "xerial", "lz4", "zstd"} {
		for _, maxBytes := range []int{1, 200, 4 << 20} {
			t.Run(fmt.Sprint(codec, maxBytes), func(t *testing.T) {
				s := &served{end: 400_001, batches: []crafted{
					{base: 0, lastDelta: 9, deltas: []int32{0, 4}},         // tail removed
					{base: 10, lastDelta: 5},                               // emptied, kept for its producer
					{base: 16, lastDelta: 9, deltas: []int32{5, 9}},        // head and middle removed
					{base: 300_000, lastDelta: 49, deltas: []int32{0, 10}}, // behind a hole
					{base: 300_050, lastDelta: 0, deltas: []int32{0}, attr: attrControl | attrTransactional, control: 1},
					{base: 300_051, lastDelta: 99_948, deltas: []int32{18}},                                              // the end of the log was removed
					{base: 400_000, lastDelta: 0, deltas: []int32{0}, attr: attrControl | attrTransactional, control: 1}, // a marker ends the log
				}}
				for i := range s.batches {
					if s.batches[i].deltas != nil {
						s.batches[i].codec = codec
					}
				}
				c := serve(t, s)
				offs, st, err := readLog(t, c, 0, s.end, ReadOptions{MaxBytes: maxBytes})
				want := []int64{0, 4, 21, 25, 300_000, 300_010, 300_069}
				if err != nil || !slices.Equal(offs, want) || st.Next != s.end || st.Records != 7 {
					t.Errorf("%v %+v %v", offs, st, err)
				}
				if st.Fetches > len(s.batches) {
					t.Errorf("%d fetches for %d batches", st.Fetches, len(s.batches))
				}
				// Bounds inside batches and holes.
				if offs, st, err := readLog(t, c, 4, 25, ReadOptions{MaxBytes: maxBytes}); err != nil || !slices.Equal(offs, []int64{4, 21}) || st.Next < 25 {
					t.Errorf("bounded: %v %+v %v", offs, st, err)
				}
				if offs, st, err := readLog(t, c, 26, 200_000, ReadOptions{MaxBytes: maxBytes}); err != nil || len(offs) != 0 || st.Next != 200_000 {
					t.Errorf("hole: %v %+v %v", offs, st, err)
				}
			})
		}
	}
}

func TestReadCommitted(t *testing.T) {
	const tx, ctl = attrTransactional, attrControl | attrTransactional
	s := &served{end: 12, aborted: []abortedTx{{7, 6, 8}, {8, 2, 5}}, batches: []crafted{
		{base: 0, lastDelta: 1, deltas: []int32{0, 1}, attr: tx, producer: 7},
		{base: 2, lastDelta: 0, deltas: []int32{0}, attr: tx, producer: 8}, // aborted
		{base: 3, lastDelta: 0, deltas: []int32{0}},                        // no transaction
		{base: 4, lastDelta: 0, deltas: []int32{0}, attr: ctl, producer: 7, control: 1},
		{base: 5, lastDelta: 0, deltas: []int32{0}, attr: ctl, producer: 8, control: 0},
		{base: 6, lastDelta: 1, deltas: []int32{0, 1}, attr: tx, producer: 7}, // aborted
		{base: 8, lastDelta: 0, deltas: []int32{0}, attr: ctl, producer: 7, control: 0},
		{base: 9, lastDelta: 0, deltas: []int32{0}, attr: tx, producer: 8}, // a later transaction of 8
		{base: 10, lastDelta: 0, deltas: []int32{0}, attr: tx, producer: 7},
		{base: 11, lastDelta: 0, deltas: []int32{0}, attr: ctl, producer: 7, control: 1},
	}}
	c := serve(t, s)
	if offs, _, err := readLog(t, c, 0, 12, ReadOptions{Committed: true}); err != nil || !slices.Equal(offs, []int64{0, 1, 3, 9, 10}) {
		t.Errorf("committed: %v %v", offs, err)
	}
	if offs, _, err := readLog(t, c, 0, 12, ReadOptions{}); err != nil || !slices.Equal(offs, []int64{0, 1, 2, 3, 6, 7, 9, 10}) {
		t.Errorf("uncommitted: %v %v", offs, err)
	}
}

func TestReadCommittedFromWithinAnAbortedTransaction(t *testing.T) {
	const tx, ctl = attrTransactional, attrControl | attrTransactional
	s := &served{end: 8, aborted: []abortedTx{{7, 0, 6}}, batches: []crafted{
		{base: 0, lastDelta: 2, deltas: []int32{0, 2}, attr: tx, producer: 7},
		{base: 3, lastDelta: 2, deltas: []int32{0, 1, 2}, attr: tx, producer: 7},
		{base: 6, lastDelta: 0, deltas: []int32{0}, attr: ctl, producer: 7, control: 0},
		{base: 7, lastDelta: 0, deltas: []int32{0}, attr: tx, producer: 7},
	}}
	for _, max := range []int{1, 4 << 20} {
		if offs, _, err := readLog(t, serve(t, s), 4, 8, ReadOptions{Committed: true, MaxBytes: max}); err != nil || !slices.Equal(offs, []int64{7}) {
			t.Errorf("max %d: %v %v", max, offs, err)
		}
	}
}

func TestReadFaults(t *testing.T) {
	log := func() *served {
		return &served{end: 4, batches: []crafted{{base: 0, lastDelta: 1, deltas: []int32{0, 1}}, {base: 2, lastDelta: 1, deltas: []int32{0, 1}}}}
	}
	for _, tt := range []struct {
		name   string
		tamper func(n int, p *kmsg.FetchResponseTopicPartition)
		want   string // of the error; empty: the read succeeds
		offs   []int64
	}{
		{"leader moves once", func(n int, p *kmsg.FetchResponseTopicPartition) {
			if n == 1 {
				p.ErrorCode, p.RecordBatches = 6, nil
			}
		}, "", []int64{0, 1, 2, 3}},
		{"denied", func(n int, p *kmsg.FetchResponseTopicPartition) { p.ErrorCode, p.RecordBatches = 29, nil }, "TOPIC_AUTHORIZATION_FAILED", nil},
		{"damaged second batch", func(n int, p *kmsg.FetchResponseTopicPartition) { p.RecordBatches[len(p.RecordBatches)-1] ^= 1 }, "the batch at offset 2 has a wrong checksum", []int64{0, 1}},
		{"only a part of a batch", func(n int, p *kmsg.FetchResponseTopicPartition) { p.RecordBatches = p.RecordBatches[:30] }, "no progress", nil},
		{"an earlier batch again", func(n int, p *kmsg.FetchResponseTopicPartition) {
			if n > 1 {
				p.RecordBatches = crafted{base: 0, lastDelta: 1, deltas: []int32{0, 1}}.raw(t)
			} else {
				p.RecordBatches = p.RecordBatches[:len(p.RecordBatches)-1]
			}
		}, "no progress", []int64{0, 1}},
		{"empty for ever", func(n int, p *kmsg.FetchResponseTopicPartition) { p.RecordBatches = nil }, "no progress within the timeout", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := log()
			s.tamper = tt.tamper
			c := serve(t, s)
			c.timeout, c.patience = time.Second, time.Second
			offs, _, err := readLog(t, c, 0, 4, ReadOptions{})
			if !slices.Equal(offs, tt.offs) {
				t.Errorf("offsets %v", offs)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "log-0") || !strings.Contains(err.Error(), "cluster a")) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestReadBelowLogStart(t *testing.T) {
	s := &served{end: 8, start: 6, batches: []crafted{{base: 4, lastDelta: 3, deltas: []int32{2, 3}}}}
	offs, st, err := readLog(t, serve(t, s), 1, 8, ReadOptions{})
	if err != nil || !slices.Equal(offs, []int64{6, 7}) || st.Gone != 5 || st.Start != 6 {
		t.Errorf("%v %+v %v", offs, st, err)
	}
}

func TestReadStopsAtTheCallbacksError(t *testing.T) {
	s := &served{end: 4, batches: []crafted{{base: 0, lastDelta: 3, deltas: []int32{0, 1, 2, 3}}}}
	mine := errors.New("enough")
	n := 0
	_, err := serve(t, s).ReadPartition(ctx(t), "log", 0, 0, 4, ReadOptions{}, func(*kafka.Record) error {
		if n++; n == 2 {
			return mine
		}
		return nil
	})
	if err != mine || n != 2 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestReadSurvivesBrokenConnectionsAndMovedLeaders(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "log"))
	produce(t, k, "log", 20)
	c := open(t, k.ListenAddrs(), nil)
	cut := 0
	k.ControlKey(1, func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if cut++; cut%2 == 1 {
			return nil, errors.New("cut"), true
		}
		return nil, nil, false
	})
	var offs []int64
	st, err := c.ReadPartition(ctx(t), "log", 0, 0, 20, ReadOptions{MaxBytes: 1}, func(r *kafka.Record) error {
		if offs = append(offs, r.Offset); r.Offset == 7 {
			go k.MoveTopicPartition("log", 0, (k.LeaderFor("log", 0)+1)%3)
		}
		return nil
	})
	want := make([]int64, 20)
	for i := range want {
		want[i] = int64(i)
	}
	if err != nil || !slices.Equal(offs, want) || st.Retries < 10 {
		t.Errorf("%v %+v %v", offs, st, err)
	}
}
