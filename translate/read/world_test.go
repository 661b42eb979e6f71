package read

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

const syncsTopic = "mm2-offset-syncs.b.internal"

// fake is one embedded cluster.
type fake struct {
	*kfake.Cluster
	client *kgo.Client
	read   *wire.Client
}

func start(t testing.TB, alias string, brokers int, opts ...kfake.Opt) *fake {
	t.Helper()
	k, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(brokers), kfake.ClusterID(alias)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	f := &fake{Cluster: k, client: producer(t, k)}
	f.read, err = wire.Open(wire.Config{Bootstrap: k.ListenAddrs(), Timeout: time.Second, Alias: alias})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.read.Close)
	return f
}

func producer(t testing.TB, k *kfake.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(k.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(1 << 20), kgo.ProducerBatchMaxBytes(16 << 10), kgo.ProducerBatchCompression(kgo.NoCompression())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (f *fake) topic(t testing.TB, name string, partitions int32) {
	t.Helper()
	if err := f.CreateTopic(name, partitions, nil); err != nil {
		t.Fatal(err)
	}
}

func (f *fake) produce(t testing.TB, rs ...*kgo.Record) {
	t.Helper()
	var first error
	for _, r := range rs {
		f.client.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
			if err != nil && first == nil {
				first = err
			}
		})
	}
	if err := f.client.Flush(context.Background()); err != nil || first != nil {
		t.Fatal(err, first)
	}
}

// world is a flow a->b as a run of MirrorMaker 2 leaves it, with the truth kept apart.
type world struct {
	a, b       *fake
	partitions int32
	// truth is, by partition and source offset, the exact target offset; one more entry than records.
	truth [][]int64
}

// shape says what the records of a world are like.
type shape struct {
	partitions int32
	records    int     // of a partition
	every      int     // records between two syncs
	thin       float64 // of the source's records that have no copy, as a filter or a compacted source leaves them
	payload    func(r *rand.Rand, i int) []byte
	twin       bool // syncs of another set-up in between
	noSyncs    bool
}

func unique(_ *rand.Rand, i int) []byte { return fmt.Appendf(nil, "payload-%d", i) }
func same(*rand.Rand, int) []byte       { return []byte("payload") }

func mirror(t testing.TB, seed uint64, s shape, opts ...kfake.Opt) *world {
	t.Helper()
	w := &world{a: start(t, "a", 2, opts...), b: start(t, "b", 2, opts...), partitions: s.partitions}
	rnd := rand.New(rand.NewPCG(seed, 1))
	w.a.topic(t, "orders", s.partitions)
	w.b.topic(t, "a.orders", s.partitions)
	w.a.topic(t, syncsTopic, 1)
	if s.payload == nil {
		s.payload = unique
	}
	base := time.UnixMilli(1_700_000_000_000)
	var as, bs, syncs []*kgo.Record
	for p := range s.partitions {
		truth := make([]int64, 0, s.records+1)
		var down int64
		// Records of another producer stand first, so that offsets differ.
		for range int(p) + 3 {
			bs = append(bs, &kgo.Record{Topic: "a.orders", Partition: p, Value: []byte("earlier"), Timestamp: base.Add(-time.Hour)})
			down++
		}
		for i := range s.records {
			truth = append(truth, down)
			at := base.Add(time.Duration(i) * time.Millisecond)
			k, v, h := fmt.Appendf(nil, "k%d", i%17), s.payload(rnd, i), []kgo.RecordHeader{{Key: "h", Value: []byte("x")}}
			as = append(as, &kgo.Record{Topic: "orders", Partition: p, Key: k, Value: v, Headers: h, Timestamp: at})
			if rnd.Float64() < s.thin {
				continue
			}
			bs = append(bs, &kgo.Record{Topic: "a.orders", Partition: p, Key: k, Value: v, Headers: h, Timestamp: at})
			if !s.noSyncs && i%s.every == 0 {
				syncs = append(syncs, syncRecord(t, p, int64(i), down))
				if s.twin {
					syncs = append(syncs, syncRecord(t, p, int64(i), down/2))
				}
			}
			down++
		}
		w.truth = append(w.truth, append(truth, down))
	}
	w.a.produce(t, as...)
	w.b.produce(t, bs...)
	w.a.produce(t, syncs...)
	return w
}

func encodeSync(t testing.TB, topic string, p int32, up, down int64) (key, value []byte) {
	t.Helper()
	k, v, err := formatters.EncodeOffsetSync(mm2.OffsetSync{Topic: topic, Partition: p, Upstream: up, Downstream: down})
	if err != nil {
		t.Fatal(err)
	}
	return k, v
}

func syncRecord(t testing.TB, p int32, up, down int64) *kgo.Record {
	t.Helper()
	k, v := encodeSync(t, "orders", p, up, down)
	return &kgo.Record{Topic: syncsTopic, Key: k, Value: v}
}

func (w *world) clusters() []Cluster {
	return []Cluster{{"a", w.a.read}, {"b", w.b.read}}
}

func (w *world) position(group string, p int32, offset int64) plan.Position {
	tp := kafka.TopicPartition{Topic: "orders", Partition: p}
	return plan.Position{
		Group:  group,
		From:   plan.Place{Cluster: "a", TopicPartition: tp},
		To:     plan.Place{Cluster: "b", TopicPartition: kafka.TopicPartition{Topic: "a.orders", Partition: p}},
		Syncs:  plan.SyncsRef{Flow: "a->b", Cluster: "a", Topic: syncsTopic, Of: tp},
		Offset: offset,
	}
}

// positions gives n random positions in random order.
func (w *world) positions(seed uint64, n int) []plan.Position {
	rnd := rand.New(rand.NewPCG(seed, 2))
	var out []plan.Position
	for i := range n {
		p := rnd.Int32N(w.partitions)
		out = append(out, w.position(fmt.Sprintf("g%d", i), p, rnd.Int64N(int64(len(w.truth[p])))))
	}
	return out
}

func (w *world) want(p plan.Position) int64 { return w.truth[p.From.Partition][p.Offset] }
