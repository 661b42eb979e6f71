//go:build lab

package wire

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type lab struct {
	t    *testing.T
	addr string
	ac   *kadm.Client
	c    *Client
	n    int
}

// openLab connects to the real broker at LAB_BROKER, as a Writer.
func openLab(t *testing.T) *lab {
	addr := os.Getenv("LAB_BROKER")
	if addr == "" {
		t.Skip("LAB_BROKER is not set")
	}
	l := &lab{t: t, addr: addr}
	l.c = open(t, []string{addr}, func(cfg *Config) { cfg.Timeout, cfg.Guard = 20*time.Second, Writer() })
	err := l.c.Contact(ctx(t))
	for range 50 { // a broker that has just started may name no broker yet
		if err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
		err = l.c.Contact(ctx(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	l.ac = kadm.NewClient(l.kgo())
	return l
}

func (l *lab) kgo(opts ...kgo.Opt) *kgo.Client {
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(l.addr), kgo.RecordPartitioner(kgo.ManualPartitioner())}, opts...)...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(cl.Close)
	return cl
}

func (l *lab) topic(partitions int32, configs map[string]*string) string {
	l.n++
	name := fmt.Sprintf("p%d-%d", l.n, time.Now().UnixNano())
	if _, err := l.ac.CreateTopic(l.t.Context(), partitions, 1, configs, name); err != nil {
		l.t.Fatal(err)
	}
	return name
}

func (l *lab) put(cl *kgo.Client, rs ...*kgo.Record) []int64 {
	l.t.Helper()
	var out []int64
	for _, r := range cl.ProduceSync(l.t.Context(), rs...) {
		if r.Err != nil {
			l.t.Fatal(r.Err)
		}
		out = append(out, r.Record.Offset)
	}
	return out
}

func (l *lab) end(topic string, committed bool) int64 {
	a := l.c.ListOffsets(ctx(l.t), []OffsetQuery{{topic, 0, AtEnd, committed}})[0]
	if a.Err != nil {
		l.t.Fatal(a.Err)
	}
	return a.Offset
}

var codecs = []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}

type truth struct {
	value   string
	aborted bool
}

// TestLabPagesOfTransactions: three transactional producers side by side, commits and aborts as they fall, other records between,
// all codecs. Every record of every page, whatever its start and size, is judged as it was written.
func TestLabPagesOfTransactions(t *testing.T) {
	l := openLab(t)
	topic := l.topic(1, nil)
	rnd := rand.New(rand.NewPCG(1, 2))
	want := map[int64]truth{}
	type producer struct {
		cl   *kgo.Client
		open []int64
		on   bool
	}
	var ps []*producer
	for i := range 3 {
		ps = append(ps, &producer{cl: l.kgo(kgo.TransactionalID(fmt.Sprintf("%s-%d", topic, i)), kgo.ProducerBatchCompression(codecs[i]), kgo.ProducerLinger(0))})
	}
	plain := []*kgo.Client{l.kgo(kgo.ProducerBatchCompression(codecs[3])), l.kgo(kgo.ProducerBatchCompression(codecs[4]))}
	aborts := 0
	end := func(p *producer, try kgo.TransactionEndTry) {
		if err := p.cl.EndTransaction(t.Context(), try); err != nil {
			t.Fatal(err)
		}
		if try == kgo.TryAbort {
			aborts++
			for _, o := range p.open {
				want[o] = truth{want[o].value, true}
			}
		}
		p.open, p.on = nil, false
	}
	batch := func(k int) (rs []*kgo.Record) {
		for i := range 1 + rnd.IntN(6) {
			rs = append(rs, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", rnd.IntN(20)), Value: fmt.Appendf(nil, "%d.%d %s", k, i, strings.Repeat("x", rnd.IntN(100)))})
		}
		return rs
	}
	for k := range 150 {
		if rnd.IntN(5) == 0 {
			rs := batch(k)
			for i, o := range l.put(plain[rnd.IntN(2)], rs...) {
				want[o] = truth{string(rs[i].Value), false}
			}
			continue
		}
		p := ps[rnd.IntN(len(ps))]
		if !p.on {
			if err := p.cl.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			p.on = true
		}
		rs := batch(k)
		for i, o := range l.put(p.cl, rs...) {
			want[o] = truth{string(rs[i].Value), false}
			p.open = append(p.open, o)
		}
		if rnd.IntN(3) == 0 {
			end(p, kgo.TransactionEndTry(rnd.IntN(2) == 0))
		}
	}
	for _, p := range ps {
		if p.on {
			end(p, kgo.TryAbort)
		}
	}
	last := l.end(topic, false)
	for range 100 {
		if last = l.end(topic, false); l.end(topic, true) == last {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	checkPages(t, l, topic, want, last, rnd, 60)
	checkCounts(t, l, topic, want, last, rnd, 60)
	t.Logf("%d records, %d aborted transactions, end %d", len(want), aborts, last)

	// An open transaction: a committed page ends before it, another one holds it.
	if err := ps[0].cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	l.put(ps[0].cl, &kgo.Record{Topic: topic, Value: []byte("open")})
	after := l.put(plain[0], &kgo.Record{Topic: topic, Value: []byte("after")})[0]
	rs := l.c.FetchPages(ctx(t), []PageQuery{{topic, 0, last, 1 << 20, true}, {topic, 0, last, 1 << 20, false}, {topic, 0, after + 1, 1 << 20, true}}, func(int, *PageRecord) error { return nil })
	if rs[0].Err != nil || rs[0].Next != last || rs[0].Stable != last || rs[0].End != after+1 || rs[0].Records != 0 || rs[1].Err != nil || rs[1].Records != 2 || rs[1].Next != after+1 || rs[2].Err != nil || rs[2].Records != 0 {
		t.Errorf("open transaction at %d, end %d: %+v", last, after+1, rs)
	}
	if n, known, err := l.c.CountRecords(ctx(t), topic, 0, last, after+1, 1<<20, true); n != 0 || known || err != nil {
		t.Errorf("count over an open transaction: %d %v %v", n, known, err)
	}
	if err := ps[0].cl.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}

// checkPages walks the log from random starts in pages of random sizes, several queries at once.
func checkPages(t *testing.T, l *lab, topic string, want map[int64]truth, end int64, rnd *rand.Rand, walks int) {
	t.Helper()
	sizes := []int32{1, 200, 1000, 5000, 64 << 10, 1 << 20}
	for range walks {
		from, size, committed := rnd.Int64N(end), sizes[rnd.IntN(len(sizes))], rnd.IntN(4) > 0
		got := map[int64]bool{}
		for at := from; at < end; {
			seen := int64(-1)
			r := l.c.FetchPages(ctx(t), []PageQuery{{topic, 0, at, size, committed}}, func(_ int, r *PageRecord) error {
				w, data := want[r.Offset]
				switch {
				case r.Offset <= seen:
					t.Errorf("offset %d after %d", r.Offset, seen)
				case r.Control != !data:
					t.Errorf("offset %d: control %v, data %v", r.Offset, r.Control, data)
				case data && string(r.Value) != w.value:
					t.Errorf("offset %d: %q, want %q", r.Offset, r.Value, w.value)
				case data && r.Aborted != (w.aborted && committed):
					t.Errorf("from %d size %d at %d: offset %d aborted %v, written %v", from, size, at, r.Offset, r.Aborted, w.aborted)
				}
				seen, got[r.Offset] = r.Offset, true
				return nil
			})[0]
			if r.Err != nil || r.Next <= at || r.End != end {
				t.Fatalf("from %d size %d at %d: %+v", from, size, at, r)
			}
			at = r.Next
		}
		for o := range want {
			if o >= from && !got[o] {
				t.Errorf("from %d size %d: offset %d is missing", from, size, o)
			}
		}
	}
}

func checkCounts(t *testing.T, l *lab, topic string, want map[int64]truth, end int64, rnd *rand.Rand, n int) {
	t.Helper()
	for range n {
		from := rnd.Int64N(end)
		to := from + rnd.Int64N(end-from+1)
		committed := rnd.IntN(2) == 0
		w := int64(0)
		for o, x := range want {
			if o >= from && o < to && !(committed && x.aborted) {
				w++
			}
		}
		if got, known, err := l.c.CountRecords(ctx(t), topic, 0, from, to, 1<<30, committed); got != w || !known || err != nil {
			t.Errorf("[%d, %d) committed %v: %d %v %v, want %d", from, to, committed, got, known, err, w)
		}
	}
}

func randText(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(rnd.IntN(26))
	}
	return string(b)
}

// TestLabPagesOfACompactedLog has holes, emptied batches and aborted transactions that the cleaner took.
func TestLabPagesOfACompactedLog(t *testing.T) {
	l := openLab(t)
	topic := l.topic(1, map[string]*string{"cleanup.policy": ptr("compact"), "segment.bytes": ptr("1048576"), "min.cleanable.dirty.ratio": ptr("0.01"), "max.compaction.lag.ms": ptr("1000"), "segment.ms": ptr("1000"), "delete.retention.ms": ptr("0")})
	rnd := rand.New(rand.NewPCG(3, 4))
	tx := l.kgo(kgo.TransactionalID(topic), kgo.ProducerBatchCompression(codecs[4]))
	pl := l.kgo(kgo.ProducerBatchCompression(codecs[3]))
	for k := range 120 {
		var rs []*kgo.Record
		for range 1 + rnd.IntN(30) {
			rs = append(rs, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", rnd.IntN(60)), Value: fmt.Appendf(nil, "%d %s", k, randText(rnd, 5000))})
		}
		if k%3 > 0 {
			l.put(pl, rs...)
			continue
		}
		if err := tx.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		l.put(tx, rs...)
		if err := tx.EndTransaction(t.Context(), kgo.TransactionEndTry(k%2 == 0)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(1500 * time.Millisecond)
	l.put(pl, &kgo.Record{Topic: topic, Key: []byte("last"), Value: []byte("last")}) // rolls the segment
	end := l.end(topic, false)
	var before, n int
	for range 120 { // the cleaner looks every 15 s by default
		n = 0
		l.c.ReadPartition(ctx(t), topic, 0, 0, end, ReadOptions{}, func(*kafka.Record) error { n++; return nil })
		if n == before && n < 400 {
			break
		}
		before = n
		time.Sleep(time.Second)
	}
	t.Logf("%d of %d offsets are left", n, end)
	if int64(n) > end/2 {
		t.Fatal("not compacted")
	}
	// What another client reads, with markers, and without aborted records.
	read := func(level kgo.IsolationLevel) map[int64]string {
		out := map[int64]string{}
		cl := l.kgo(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(0)}}), kgo.FetchIsolationLevel(level))
		for at := int64(0); at < end-1; {
			fs := cl.PollFetches(t.Context())
			fs.EachRecord(func(r *kgo.Record) { out[r.Offset], at = string(r.Value), r.Offset })
		}
		cl.Close()
		return out
	}
	every, committed := read(kgo.ReadUncommitted()), read(kgo.ReadCommitted())
	want := map[int64]truth{}
	for o, v := range every {
		_, ok := committed[o]
		want[o] = truth{v, !ok}
	}
	checkPages(t, l, topic, want, end, rnd, 40)
	checkCounts(t, l, topic, want, end, rnd, 60)
}

func TestLabPagesOfManyPartitionsAndBigBatches(t *testing.T) {
	l := openLab(t)
	topic := l.topic(20, map[string]*string{"max.message.bytes": ptr("4000000")})
	at := l.topic(1, map[string]*string{"message.timestamp.type": ptr("LogAppendTime")})
	cl := l.kgo(kgo.ProducerBatchMaxBytes(3_000_000), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(100_000))
	noise := rand.New(rand.NewPCG(5, 6))
	for p := range int32(20) { // 1 MB a partition in batches of 200 KB and more: none fits a page of 64 KB
		for range 5 {
			var rs []*kgo.Record
			for range 20 {
				v := make([]byte, 10_000)
				for i := range v {
					v[i] = byte(noise.Uint32())
				}
				rs = append(rs, &kgo.Record{Topic: topic, Partition: p, Value: v, Headers: []kgo.RecordHeader{{Key: "h", Value: v[:3]}}})
			}
			l.put(cl, rs...)
		}
	}
	var mu sync.Mutex
	fetches := 0
	c := open(t, []string{l.addr}, func(cfg *Config) {
		cfg.Recorder = func(s Sent) {
			mu.Lock()
			defer mu.Unlock()
			if s.Key == 1 {
				fetches++
			}
		}
	})
	var qs []PageQuery
	for p := range int32(20) {
		qs = append(qs, PageQuery{topic, p, 3, 64 << 10, true})
	}
	seen := make([]int64, 20)
	for i, r := range c.FetchPages(ctx(t), qs, func(i int, r *PageRecord) error {
		if r.Offset != seen[i] || len(r.Value) != 10_000 || string(r.Headers[0].Value) != string(r.Value[:3]) {
			t.Errorf("partition %d: offset %d after %d", i, r.Offset, seen[i])
		}
		seen[i]++
		return nil
	}) {
		if r.Err != nil || seen[i] != r.Next || r.Next < 4 || r.End != 100 {
			t.Errorf("%d: %+v after %d", i, r, seen[i])
		}
	}
	t.Logf("batches that fit no page: %d fetches for 20 partitions", fetches)
	for i := range qs {
		qs[i].MaxBytes = 512 << 10
		seen[i] = 0
	}
	fetches = 0
	for i, r := range c.FetchPages(ctx(t), qs, func(int, *PageRecord) error { return nil }) {
		if r.Err != nil || r.Next < 20 {
			t.Errorf("%d: %+v", i, r)
		}
	}
	t.Logf("20 pages of 512 KB: %d fetches", fetches)
	// A page at the end does not wait; beyond it, it is an error that tells the bounds.
	for _, q := range []PageQuery{{topic, 0, 100, 64 << 10, true}, {topic, 0, 101, 64 << 10, true}, {topic, 20, 0, 1, true}, {"not-there", 0, 0, 1, true}} {
		since := time.Now()
		r := c.FetchPages(ctx(t), []PageQuery{q}, func(int, *PageRecord) error { return nil })[0]
		t.Logf("%s-%d at %d: %v, %+v", q.Topic[:2], q.Partition, q.From, time.Since(since).Round(time.Millisecond), r)
		switch {
		case q.From == 100 && (r.Err != nil || r.Records != 0 || r.Next != 100 || r.End != 100 || time.Since(since) > 300*time.Millisecond):
			t.Errorf("%+v", r)
		case q.From == 101 && (CodeOf(r.Err) != kafka.OffsetOutOfRange || r.Start != 0 || r.End != 100 || r.Stable != 100):
			t.Errorf("%+v", r)
		case q.Partition == 20 || q.Topic == "not-there":
			if CodeOf(r.Err) != kafka.UnknownTopicOrPartition {
				t.Errorf("%+v", r)
			}
		}
	}
	if _, err := l.ac.DeleteRecords(t.Context(), kadm.Offsets{topic: {0: {Topic: topic, Partition: 0, At: 50}}}); err != nil {
		t.Fatal(err)
	}
	if r := c.FetchPages(ctx(t), []PageQuery{{topic, 0, 49, 1, false}}, func(int, *PageRecord) error { return nil })[0]; CodeOf(r.Err) != kafka.OffsetOutOfRange || r.Start != 50 || r.End != 100 || !strings.Contains(r.Err.Error(), topic+"-0 on broker 1") {
		t.Errorf("below the log start: %+v", r)
	}

	l.put(l.kgo(), &kgo.Record{Topic: at, Value: []byte("v"), Timestamp: time.UnixMilli(1000)})
	r := c.FetchPages(ctx(t), []PageQuery{{at, 0, 0, 0, false}, {topic, 1, 0, 1, false}}, func(i int, r *PageRecord) error {
		if r.AppendTime != (i == 0) || i == 0 && r.Timestamp == 1000 {
			t.Errorf("%d: AppendTime %v, time %d", i, r.AppendTime, r.Timestamp)
		}
		return nil
	})
	if r[0].Err != nil || r[0].Records != 1 || r[1].Err != nil {
		t.Errorf("%+v", r)
	}
}

// TestLabPagesOfASlowBroker stops the broker's process (LAB_PID) for a while, and for longer than the timeout.
func TestLabPagesOfASlowBroker(t *testing.T) {
	var pid int
	if fmt.Sscan(os.Getenv("LAB_PID"), &pid); pid == 0 {
		t.Skip("LAB_PID is not set")
	}
	l := openLab(t)
	topic := l.topic(3, nil)
	for p := range int32(3) {
		l.put(l.kgo(), &kgo.Record{Topic: topic, Partition: p, Value: []byte("v")})
	}
	c := open(t, []string{l.addr}, func(cfg *Config) { cfg.Timeout, cfg.Guard = 3*time.Second, Writer() })
	qs := []PageQuery{{topic, 0, 0, 0, true}, {topic, 1, 0, 0, true}, {topic, 2, 0, 0, true}}
	none := func(int, *PageRecord) error { return nil }
	c.FetchPages(ctx(t), qs, none)
	group := "g-" + topic
	commits := []Commit{{topic, 0, 1, -1, ""}}
	if rs, err := c.CommitOffsets(ctx(t), group, commits, CommitOptions{}); err != nil || rs[0].Err != nil {
		t.Fatal(rs, err)
	}
	stop := func(d time.Duration) func() {
		syscall.Kill(pid, syscall.SIGSTOP)
		tm := time.AfterFunc(d, func() { syscall.Kill(pid, syscall.SIGCONT) })
		return func() { tm.Stop(); syscall.Kill(pid, syscall.SIGCONT) }
	}
	end := stop(time.Second)
	for _, r := range c.FetchPages(ctx(t), qs, none) {
		if r.Err != nil || r.Records != 1 {
			t.Errorf("a second of silence: %+v", r)
		}
	}
	end()
	end = stop(15 * time.Second)
	commits[0].Offset = 0
	rs, err := c.CommitOffsets(ctx(t), group, commits, CommitOptions{})
	if err != nil || !InDoubt(rs[0].Err) || !strings.Contains(rs[0].Err.Error(), "no progress within the timeout") {
		t.Errorf("a commit that got no answer: %+v %v", rs, err)
	}
	t.Log(rs[0].Err)
	since := time.Now()
	for i, r := range c.FetchPages(ctx(t), qs, none) {
		if r.Err == nil || !strings.Contains(r.Err.Error(), fmt.Sprintf("Fetch of %s-%d on broker 1 failed: ", topic, i)) || !strings.Contains(r.Err.Error(), "(the broker accepts, and answers nothing)") {
			t.Errorf("%d: %v", i, r.Err)
		}
	}
	if d := time.Since(since); d > 8*time.Second {
		t.Errorf("it took %v", d)
	}
	end()
	if r := c.FetchPages(ctx(t), qs, none); r[0].Err != nil { // a connection for the next commit
		t.Error(r[0].Err)
	}
	cc, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	end = stop(5 * time.Second)
	if rs, err := c.CommitOffsets(cc, group, commits, CommitOptions{}); err != nil || !InDoubt(rs[0].Err) {
		t.Errorf("a commit that was called off: %+v %v", rs, err)
	}
	end()
	if rs, err := c.CommitOffsets(ctx(t), group, commits, CommitOptions{}); err != nil || rs[0].Err != nil {
		t.Errorf("afterwards: %+v %v", rs, err)
	}
	time.Sleep(time.Second)
	if o := c.FetchOffsets(ctx(t), []string{group})[group]; o.Err != nil || len(o.Offsets) != 1 || o.Offsets[0].Offset != 0 {
		t.Errorf("%+v", o)
	}
}

// TestLabIdle: the broker has closed the idle connections (connections.max.idle.ms=2000 is needed), nothing fails.
func TestLabIdle(t *testing.T) {
	if os.Getenv("LAB_IDLE") == "" {
		t.Skip("LAB_IDLE is not set: a broker with connections.max.idle.ms=2000")
	}
	l := openLab(t)
	topic := l.topic(1, nil)
	l.put(l.kgo(), &kgo.Record{Topic: topic, Value: []byte("v")})
	for k := range 3 {
		r := l.c.FetchPages(ctx(t), []PageQuery{{topic, 0, 0, 0, true}}, func(int, *PageRecord) error { return nil })[0]
		rs, err := l.c.CommitOffsets(ctx(t), "g-"+topic, []Commit{{topic, 0, int64(k), -1, ""}}, CommitOptions{})
		if r.Err != nil || r.Records != 1 || err != nil || rs[0].Err != nil {
			t.Errorf("%d: %+v %+v %v", k, r, rs, err)
		}
		time.Sleep(4 * time.Second)
	}
}

// TestLabPagesUnderAQuota: a consumer byte rate makes the broker answer without any topic.
func TestLabPagesUnderAQuota(t *testing.T) {
	l := openLab(t)
	topic := l.topic(4, nil)
	cl := l.kgo(kgo.ProducerBatchCompression(kgo.NoCompression()))
	for p := range int32(4) {
		var rs []*kgo.Record
		for range 40 {
			rs = append(rs, &kgo.Record{Topic: topic, Partition: p, Value: make([]byte, 10_000)})
		}
		l.put(cl, rs...)
	}
	id := "slow-" + topic
	if rs, err := l.ac.AlterClientQuotas(t.Context(), []kadm.AlterClientQuotaEntry{{Entity: kadm.ClientQuotaEntity{{Type: "client-id", Name: &id}}, Ops: []kadm.AlterClientQuotaOp{{Key: "consumer_byte_rate", Value: 400_000}}}}); err != nil || rs[0].Err != nil {
		t.Fatal(rs, err)
	}
	time.Sleep(time.Second)
	c := open(t, []string{l.addr}, func(cfg *Config) { cfg.ClientID, cfg.Timeout = id, 20*time.Second })
	n, since := 0, time.Now()
	for k := range 3 {
		var qs []PageQuery
		for p := range int32(4) {
			qs = append(qs, PageQuery{topic, p, 0, 256 << 10, false})
		}
		for i, r := range c.FetchPages(ctx(t), qs, func(int, *PageRecord) error { n++; return nil }) {
			if r.Err != nil || r.Records == 0 {
				t.Errorf("%d %d: %+v", k, i, r)
			}
		}
	}
	st, err := c.ReadPartition(ctx(t), topic, 0, 0, 40, ReadOptions{MaxBytes: 100_000}, func(*kafka.Record) error { return nil })
	if err != nil || st.Records != 40 {
		t.Errorf("%+v %v", st, err)
	}
	t.Logf("%d records in %v, %+v", n, time.Since(since), st)
}
