//go:build lab

package read

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// TestLab measures against real brokers between which a real MirrorMaker 2 runs. LAB_PAIR is SOURCE,TARGET (HOST:PORT, PLAINTEXT);
// the flow is a->b of the topics big.* and many.*. Both topics are made here, with records of others at the head of each copy, so
// that no offset is its own translation; the number of a record is known from its offset alone.
func TestLab(t *testing.T) {
	pair := strings.Split(os.Getenv("LAB_PAIR"), ",")
	if len(pair) != 2 {
		t.Skip("LAB_PAIR is not set")
	}
	run := time.Now().Unix()
	had, _ := strconv.ParseInt(os.Getenv("LAB_RUN"), 10, 64) // an earlier run, whose topics are still there
	if had > 0 {
		run = had
	}
	t.Logf("LAB_RUN=%d", run)
	big, many := fmt.Sprintf("big-%d", run), fmt.Sprintf("many-%d", run)
	sides := map[string]*labSide{}
	var clusters []Cluster
	for i, alias := range []string{"a", "b"} {
		s := labOpen(t, alias, pair[i])
		sides[alias] = s
		clusters = append(clusters, Cluster{alias, s.read})
	}
	a, b := sides["a"], sides["b"]
	const head = int64(3)
	bigN, manyN, partitions := int64(1_000_000), int64(5000), int32(20)
	if had == 0 {
		labMirror(t, a, b, big, many, head, bigN, manyN, partitions)
	}
	far := "far-" + big // the first sync alone

	position := func(topic string, p int32, at int64, syncs string) plan.Position {
		tp := kafka.TopicPartition{Topic: topic, Partition: p}
		pos := plan.Position{Group: "g", From: plan.Place{Cluster: "a", TopicPartition: tp}, To: plan.Place{Cluster: "b", TopicPartition: kafka.TopicPartition{Topic: "a." + topic, Partition: p}}, Offset: at}
		if syncs != "" {
			pos.Syncs = plan.SyncsRef{Flow: "a->b", Cluster: "a", Topic: syncs, Of: tp}
		}
		return pos
	}
	ask := func(name string, ps []plan.Position, o Options) Stats {
		t.Helper()
		begun := time.Now()
		as, st, err := Locate(t.Context(), clusters, ps, o)
		took := time.Since(begun)
		if err != nil {
			t.Fatal(err)
		}
		verdicts := map[string]int{}
		for i, x := range as {
			want := ps[i].Offset + head
			switch {
			case x.Records == nil:
				verdicts["none: "+x.Why]++
			case x.Records.T > want:
				t.Errorf("%s: %d skips %d: %+v", name, ps[i].Offset, x.Records.T-want, x.Records)
			case x.Records.T == want:
				verdicts[x.Records.Verdict.String()]++
			default:
				verdicts["low, "+x.Records.Verdict.String()+": "+x.Records.Why]++
			}
			if x.Range != nil && (x.Range.Low > want || x.Range.High < want) {
				t.Errorf("%s: %d: range %+v", name, ps[i].Offset, *x.Range)
			}
		}
		ua, ub := st.Clusters["a"], st.Clusters["b"]
		t.Logf("%-28s %6d positions in %8v (syncs %v, ends %v, records %v): source %d pages %s %d times, target %d pages %s %d times; %v %s", name, len(ps), took.Round(10*time.Microsecond),
			st.ReadSyncs.Round(10*time.Microsecond), st.Ends.Round(10*time.Microsecond), st.Locate.Round(10*time.Microsecond), ua.Fetches, Bytes(ua.Bytes), ua.Times, ub.Fetches, Bytes(ub.Bytes), ub.Times, verdicts, st.Spent)
		return st
	}
	for range 2 { // the second time with connections made
		ask("warm-up", []plan.Position{position(many, 0, 2500, syncsTopic)}, Options{Records: true})
	}
	for _, at := range []int64{250_017, 500_050, 999_950} {
		ask(fmt.Sprintf("near sync, %d", at), []plan.Position{position(big, 0, at, syncsTopic)}, Options{Records: true})
		ask(fmt.Sprintf("only the first sync, %d", at), []plan.Position{position(big, 0, at, far)}, Options{Records: true})
		ask(fmt.Sprintf("no sync, %d", at), []plan.Position{position(big, 0, at, "")}, Options{Records: true})
	}
	ask("at the end", []plan.Position{position(big, 0, bigN, syncsTopic)}, Options{Records: true})
	rnd := rand.New(rand.NewPCG(1, uint64(run)))
	var ps []plan.Position
	for range 200 {
		ps = append(ps, position(big, 0, rnd.Int64N(bigN), far))
	}
	ask("200, only the first sync", ps, Options{Records: true})
	for i := range ps {
		ps[i].Syncs = plan.SyncsRef{}
	}
	ask("200, no sync", ps, Options{Records: true})
	ask("200, no sync, 8MB", ps, Options{Records: true, Budget: Budget{Bytes: 8 << 20}})

	const groups = 1000
	adm := kadm.NewClient(a.client)
	names := make([]string, groups)
	ps = nil
	for g := range groups {
		names[g] = fmt.Sprintf("g%d-%d", run, g)
		os := kadm.Offsets{}
		for p := range partitions {
			at := rnd.Int64N(manyN + 1)
			os.AddOffset(many, p, at, -1)
			ps = append(ps, position(many, p, at, syncsTopic))
		}
		if err := adm.CommitAllOffsets(t.Context(), names[g], os); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		begun := time.Now()
		if got := a.read.FetchOffsets(t.Context(), names); len(got) != groups {
			t.Fatal(len(got))
		}
		offsets := time.Since(begun)
		begun = time.Now()
		ask("1000 groups x 20", ps, Options{Records: true})
		t.Logf("reading the offsets %v, translation %.1f times that", offsets, float64(time.Since(begun))/float64(offsets))
	}
	ask("1000 groups x 20, ranges", ps, Options{})
}

func labMirror(t *testing.T, a, b *labSide, big, many string, head, bigN, manyN int64, partitions int32) {
	t.Helper()
	b.make(t, "a."+big, 1)
	b.make(t, "a."+many, partitions)
	for p := range partitions {
		b.fill(t, "a."+many, p, head, 16<<10)
	}
	b.fill(t, "a."+big, 0, head, 16<<10)
	a.make(t, big, 1)
	a.make(t, many, partitions)
	a.fill(t, big, 0, bigN, 600<<10)
	for p := range partitions {
		a.fill(t, many, p, manyN, 64<<10)
	}
	begun := time.Now()
	b.await(t, "a."+big, 0, bigN+head)
	for p := range partitions {
		b.await(t, "a."+many, p, manyN+head)
	}
	t.Logf("mirrored in %v", time.Since(begun).Round(time.Second))
	// The first sync alone, in a topic of its own.
	far := "far-" + big
	a.make(t, far, 1)
	k, v := encodeSync(t, big, 0, 0, head)
	if err := a.client.ProduceSync(t.Context(), &kgo.Record{Topic: far, Key: k, Value: v}).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

type labSide struct {
	client *kgo.Client
	adm    *kadm.Client
	read   *wire.Client
	addr   string
}

func labOpen(t *testing.T, alias, addr string) *labSide {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r, err := wire.Open(wire.Config{Bootstrap: []string{addr}, Timeout: 20 * time.Second, Alias: alias})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := r.Contact(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &labSide{client: c, adm: kadm.NewClient(c), read: r, addr: addr}
}

func (s *labSide) make(t *testing.T, topic string, partitions int32) {
	t.Helper()
	if _, err := s.adm.CreateTopic(t.Context(), partitions, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

// fill produces n records of about 80 bytes, in batches of up to so many bytes.
func (s *labSide) fill(t *testing.T, topic string, p int32, n int64, batch int32) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(s.addr), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(batch), kgo.ProducerLinger(20*time.Millisecond),
		kgo.MaxBufferedRecords(50_000), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	base := time.Now().Add(-time.Hour)
	for i := range n {
		c.Produce(t.Context(), &kgo.Record{Topic: topic, Partition: p, Key: fmt.Appendf(nil, "key-%d", i%1000), Value: fmt.Appendf(nil, "%s-%d-%060d", topic, p, i), Timestamp: base.Add(time.Duration(i) * time.Millisecond)}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *labSide) await(t *testing.T, topic string, p int32, end int64) {
	t.Helper()
	for range 600 {
		a := s.read.ListOffsets(t.Context(), []wire.OffsetQuery{{Topic: topic, Partition: p, Timestamp: wire.AtEnd}})[0]
		if a.Err == nil && a.Offset >= end {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatalf("%s-%d does not reach %d", topic, p, end)
}
