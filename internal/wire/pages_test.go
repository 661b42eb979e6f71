package wire

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// given writes records down: offset, then c for control, a for aborted, t for the broker's time.
func given(to *[]string) func(int, *PageRecord) error {
	return func(_ int, r *PageRecord) error {
		s := fmt.Sprint(r.Offset)
		if r.Control {
			s += "c"
		}
		if r.Aborted {
			s += "a"
		}
		if r.AppendTime {
			s += "t"
		}
		*to = append(*to, s)
		return nil
	}
}

func transactions() *served {
	const tx, ctl = attrTransactional, attrControl | attrTransactional
	return &served{end: 20, aborted: []abortedTx{{7, 3, 9}, {8, 5, 10}, {7, 11, 13}}, batches: []crafted{
		{base: 0, lastDelta: 1, deltas: []int32{0, 1}, attr: tx, producer: 7},             // committed at 2
		{base: 2, deltas: []int32{0}, attr: ctl, producer: 7, control: 1},                 //
		{base: 3, lastDelta: 1, deltas: []int32{0, 1}, attr: tx, producer: 7},             // aborted at 9
		{base: 5, lastDelta: 1, deltas: []int32{1}, attr: tx, producer: 8},                // aborted at 10
		{base: 7, deltas: []int32{0}, attr: attrLogAppendTime, maxTime: 99, producer: -1}, // no transaction
		{base: 8, deltas: []int32{0}, attr: tx, producer: 7},                              // aborted at 9
		{base: 9, deltas: []int32{0}, attr: ctl, producer: 7, control: 0},                 //
		{base: 10, deltas: []int32{0}, attr: ctl, producer: 8, control: 0},                //
		{base: 11, lastDelta: 1, deltas: []int32{0, 1}, attr: tx, producer: 7},            // aborted at 13
		{base: 13, deltas: []int32{0}, attr: ctl, producer: 7, control: 0},                //
		{base: 14, lastDelta: 1, deltas: []int32{0, 1}, attr: tx, producer: 7},            // committed at 16
		{base: 16, deltas: []int32{0}, attr: ctl, producer: 7, control: 1},                //
		{base: 17, lastDelta: 2, deltas: []int32{0, 2}, producer: -1, codec: "zstd"},      //
	}}
}

func TestPageGivesEverythingInItsBatches(t *testing.T) {
	for _, tt := range []struct {
		from      int64
		max       int32
		committed bool
		want      string
		next      int64
	}{
		{0, 1 << 20, true, "0 1 2c 3a 4a 6a 7t 8a 9c 10c 11a 12a 13c 14 15 16c 17 19", 20},
		{0, 1 << 20, false, "0 1 2c 3 4 6 7t 8 9c 10c 11 12 13c 14 15 16c 17 19", 20},
		{4, 1 << 20, true, "3a 4a 6a 7t 8a 9c 10c 11a 12a 13c 14 15 16c 17 19", 20}, // 3 comes along
		{4, 1, true, "3a 4a", 5},     // MaxBytes below the batch
		{5, 1, true, "6a", 7},        // the whole transaction lies within the page
		{7, 1, true, "7t", 8},        //
		{8, 1, true, "8a", 9},        // began before the page
		{9, 1, true, "9c", 10},       //
		{12, 1, true, "11a 12a", 13}, // the second aborted transaction of 7
		{14, 1, true, "14 15", 16},   // after it
		{18, 1, true, "17 19", 20},   // a hole
		{20, 1, true, "", 20},        // the end
	} {
		var got []string
		r := serve(t, transactions()).FetchPages(ctx(t), []PageQuery{{"log", 0, tt.from, tt.max, tt.committed}}, given(&got))[0]
		if r.Err != nil || strings.Join(got, " ") != tt.want || r.Next != tt.next || r.Records != len(got) || r.Start != 0 || r.End != 20 || r.Stable != 20 {
			t.Errorf("from %d max %d committed %v: %v, %+v", tt.from, tt.max, tt.committed, got, r)
		}
	}
}

// TestPagesOneAfterAnother: whatever the page size and the start, each record is judged alike.
func TestPagesOneAfterAnother(t *testing.T) {
	want := map[string]bool{}
	for _, s := range strings.Fields("0 1 2c 3a 4a 6a 7t 8a 9c 10c 11a 12a 13c 14 15 16c 17 19") {
		want[s] = true
	}
	c := serve(t, transactions())
	for from := int64(0); from < 20; from++ {
		for _, max := range []int32{1, 150, 300, 1000} {
			for at := from; at < 20; {
				var got []string
				r := c.FetchPages(ctx(t), []PageQuery{{"log", 0, at, max, true}}, given(&got))[0]
				if r.Err != nil || r.Next <= at {
					t.Fatalf("from %d max %d at %d: %+v", from, max, at, r)
				}
				for _, s := range got {
					if !want[s] {
						t.Errorf("from %d max %d at %d: %s", from, max, at, s)
					}
				}
				at = r.Next
			}
		}
	}
}

func TestPagesOfManyPartitionsInOneRequestPerBroker(t *testing.T) {
	k := fake(t, kfake.SeedTopics(20, "log"))
	fill(t, k, 20, 30)
	rec := &recorder{}
	c := open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add })
	var qs []PageQuery
	for p := range int32(20) {
		qs = append(qs, PageQuery{"log", p, int64(p), 64 << 10, p%2 == 0})
	}
	seen := make([]int64, 20)
	for i := range seen {
		seen[i] = -1
	}
	rs := c.FetchPages(ctx(t), qs, func(i int, r *PageRecord) error {
		if r.Partition != int32(i) || string(r.Value) != fmt.Sprintf("%d/%d", i, r.Offset) || seen[i] >= 0 && r.Offset != seen[i]+1 || r.Headers[0].Key != "h" {
			t.Errorf("query %d: %+v", i, r)
		}
		seen[i] = r.Offset
		return nil
	})
	for i, r := range rs {
		if r.Err != nil || r.Next != 30 || r.End != 30 || seen[i] != 29 || r.Bytes == 0 {
			t.Errorf("%d: %+v", i, r)
		}
	}
	requests := map[string]bool{} // one for each broker and isolation level
	for _, q := range qs {
		requests[fmt.Sprint(k.LeaderFor("log", q.Partition), q.Committed)] = true
	}
	if n := rec.count(1); n != len(requests) {
		t.Errorf("%d requests, want %d", n, len(requests))
	}
}

// fill writes n records of 10 a batch to each of the partitions of topic log.
func fill(t testing.TB, k *kfake.Cluster, partitions int32, n int) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(k.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for at := 0; at < n; at += 10 {
		var rs []*kgo.Record
		for p := range partitions {
			for i := at; i < at+10; i++ {
				rs = append(rs, &kgo.Record{Topic: "log", Partition: p, Key: []byte("k"), Value: fmt.Appendf(nil, "%d/%d", p, i), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}}})
			}
		}
		if err := cl.ProduceSync(t.Context(), rs...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPagesSplitWhatDoesNotFitARequest(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(4, "log"))
	fill(t, k, 4, 10)
	rec := &recorder{}
	c := open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add })
	// One partition twice; two that are larger than a request may be together.
	qs := []PageQuery{{"log", 0, 0, 1 << 20, false}, {"log", 0, 5, 1 << 20, false}, {"log", 1, 0, 6 << 20, false}, {"log", 2, 0, 6 << 20, false}}
	n := make([]int, len(qs))
	for i, r := range c.FetchPages(ctx(t), qs, func(i int, _ *PageRecord) error { n[i]++; return nil }) {
		if r.Err != nil || n[i] == 0 || r.Next != 10 {
			t.Errorf("%d: %d records, %+v", i, n[i], r)
		}
	}
	if rec.count(1) != 3 {
		t.Errorf("%d requests", rec.count(1))
	}
}

// TestPagesThatGotNoPlaceAreAskedForAgain: an answer that is full names the later partitions without records.
func TestPagesThatGotNoPlaceAreAskedForAgain(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(5, "log"))
	fill(t, k, 5, 10)
	var waits []int32
	k.ControlKey(1, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		req := r.(*kmsg.FetchRequest)
		waits = append(waits, req.MaxWaitMillis)
		for i := range req.Topics[0].Partitions[1:] { // full after the first: kfake answers an offset at the end with nothing
			req.Topics[0].Partitions[1+i].FetchOffset = 10
		}
		return nil, nil, false
	})
	c := open(t, k.ListenAddrs(), nil)
	var qs []PageQuery
	for p := range int32(5) {
		qs = append(qs, PageQuery{"log", p, 0, 100, false})
	}
	n := 0
	for i, r := range c.FetchPages(ctx(t), qs, func(int, *PageRecord) error { n++; return nil }) {
		if r.Err != nil || r.Next != 10 {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if n != 50 || !slices.Equal(waits, []int32{0, 500, 500, 500, 500}) {
		t.Errorf("%d records, waits %v", n, waits)
	}
}

func TestPageFaults(t *testing.T) {
	type part = kmsg.FetchResponseTopicPartition
	for _, tt := range []struct {
		name   string
		tamper func(n int, p *part)
		from   int64
		want   string // of the error; empty: the page is read
		offs   string
	}{
		{"leader moves once", func(n int, p *part) {
			if n == 1 {
				p.ErrorCode, p.RecordBatches = 6, nil
			}
		}, 0, "", "0 1 2 3"},
		{"denied", func(n int, p *part) { p.ErrorCode, p.RecordBatches = 29, nil }, 0, "TOPIC_AUTHORIZATION_FAILED", ""},
		{"damaged second batch", func(n int, p *part) { p.RecordBatches[len(p.RecordBatches)-1] ^= 1 }, 0, "the batch at offset 2 has a wrong checksum", "0 1"},
		{"cut last batch", func(n int, p *part) { p.RecordBatches = p.RecordBatches[:len(p.RecordBatches)-1] }, 0, "", "0 1"},
		{"nothing once", func(n int, p *part) {
			if n == 1 {
				p.RecordBatches = nil
			}
		}, 0, "", "0 1 2 3"},
		{"nothing for ever", func(n int, p *part) { p.RecordBatches = nil }, 0, "no whole batch at offset 0, and the log goes on to 4", ""},
		{"below the log start", nil, 0, "OFFSET_OUT_OF_RANGE", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &served{end: 4, batches: []crafted{{base: 0, lastDelta: 1, deltas: []int32{0, 1}}, {base: 2, lastDelta: 1, deltas: []int32{0, 1}}}, tamper: tt.tamper}
			if tt.tamper == nil {
				s.start = 1
			}
			c := serve(t, s)
			c.timeout, c.patience = time.Second, 300*time.Millisecond
			var got []string
			r := c.FetchPages(ctx(t), []PageQuery{{"log", 0, tt.from, 1000, false}}, given(&got))[0]
			if strings.Join(got, " ") != tt.offs {
				t.Errorf("%v", got)
			}
			if tt.want == "" && r.Err != nil || tt.want != "" && (r.Err == nil || !strings.Contains(r.Err.Error(), tt.want) || !strings.Contains(r.Err.Error(), "log-0") || !strings.Contains(r.Err.Error(), "broker 0")) {
				t.Errorf("error %v", r.Err)
			}
			if tt.tamper == nil && r.Start != 1 {
				t.Errorf("start %+v", r)
			}
		})
	}
}

func TestPageHeldBackByAQuota(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "log"))
	fill(t, k, 2, 10)
	n := 0
	k.ControlKey(1, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if n++; n > 2 {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.FetchResponse)
		resp.ThrottleMillis = 5 // and no topic (KIP-219)
		return resp, nil, true
	})
	c := open(t, k.ListenAddrs(), nil)
	for i, r := range c.FetchPages(ctx(t), []PageQuery{{"log", 0, 0, 1000, false}, {"log", 1, 0, 1000, false}}, func(int, *PageRecord) error { return nil }) {
		if r.Err != nil || r.Records != 10 {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if st, err := c.ReadPartition(ctx(t), "log", 0, 0, 10, ReadOptions{}, func(*kafka.Record) error { return nil }); err != nil || st.Records != 10 {
		t.Errorf("%+v %v", st, err)
	}
	n = 0
	if st, err := c.ReadPartition(ctx(t), "log", 0, 0, 10, ReadOptions{}, func(*kafka.Record) error { return nil }); err != nil || st.Records != 10 {
		t.Errorf("whole partition under a quota: %+v %v", st, err)
	}
}

func TestPageEndsAtTheCallbacksError(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "log"))
	fill(t, k, 2, 20)
	c := open(t, k.ListenAddrs(), nil)
	calls := 0
	rs := c.FetchPages(ctx(t), []PageQuery{{"log", 0, 0, 100000, false}, {"log", 1, 0, 100000, false}}, func(i int, r *PageRecord) error {
		if i == 0 {
			if calls++; r.Offset == 12 {
				return io.EOF // looks like a broken connection, and is none
			}
		}
		return nil
	})
	if rs[0].Err != io.EOF || calls != 13 || rs[0].Next != 10 || rs[1].Err != nil || rs[1].Next != 20 {
		t.Errorf("%d calls, %+v", calls, rs)
	}
}

func TestPagesSurviveADeadBrokerOfOthers(t *testing.T) {
	k := fake(t, kfake.SeedTopics(9, "log"))
	for p := range int32(9) { // kfake places leaders at random
		if err := k.MoveTopicPartition("log", p, p%3); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, k, 9, 10)
	c := quick(open(t, k.ListenAddrs(), nil))
	k.ControlKey(1, func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if k.CurrentNode() == 2 {
			return nil, errors.New("cut"), true
		}
		return nil, nil, false
	})
	var qs []PageQuery
	for p := range int32(9) {
		qs = append(qs, PageQuery{"log", p, 0, 1000, false})
	}
	cut := 0
	for i, r := range c.FetchPages(ctx(t), qs, func(int, *PageRecord) error { return nil }) {
		dead := k.LeaderFor("log", int32(i)) == 2
		if dead {
			cut++
		}
		if (r.Err != nil) != dead || !dead && r.Records != 10 || dead && (!strings.Contains(r.Err.Error(), "broker 2") || !strings.Contains(r.Err.Error(), fmt.Sprintf("log-%d", i)) || r.End != -1) {
			t.Errorf("%d (dead %v): %+v", i, dead, r)
		}
	}
	if cut == 0 || cut == 9 {
		t.Fatal(cut)
	}
}

// BenchmarkPageFingerprints decodes one page of 64 KiB and hashes key, value and headers of each record.
func BenchmarkPageFingerprints(b *testing.B) {
	for _, codec := range []string{"", "gzip", "snappy", "lz4", "zstd"} {
		b.Run("codec="+codec, func(b *testing.B) {
			var raw []byte
			records := 0
			for base := int64(0); len(raw) < 64<<10; base += 300 {
				c := crafted{base: base, lastDelta: 299, codec: codec, value: strings.Repeat("value ", 20), headers: []kmsg.Header{{Key: "source", Value: []byte("a")}, {Key: "trace", Value: []byte("0123456789abcdef")}}}
				for d := range int32(300) {
					c.deltas = append(c.deltas, d)
				}
				raw = append(raw, c.raw(b)...)
				records += 300
			}
			seed, sum := maphash.MakeSeed(), uint64(0)
			var d decoder
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				err := walkBatches(fetched{records: raw}, 0, true, &d, func(bt batch, gone bool) error {
					return d.each(bt, func(int64, []byte) error {
						r := &d.rec
						sum ^= maphash.Bytes(seed, r.Key) + maphash.Bytes(seed, r.Value)
						for _, h := range r.Headers {
							sum += maphash.String(seed, h.Key) ^ maphash.Bytes(seed, h.Value)
						}
						return nil
					})
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
