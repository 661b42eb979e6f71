package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/security"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// fake is one embedded cluster with an admin client of its own.
type fake struct {
	*testing.T
	*kfake.Cluster
	client *kgo.Client
	admin  *kadm.Client
}

func start(t *testing.T, id string, opts ...kfake.Opt) *fake {
	t.Helper()
	k, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.ClusterID(id)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return &fake{T: t, Cluster: k}
}

// login opens the client that fills the cluster; user is empty without SASL.
func (f *fake) login(opts ...kgo.Opt) *fake {
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(f.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()), kgo.MaxBufferedRecords(1 << 20)}, opts...)...)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	f.client, f.admin = c, kadm.NewClient(c)
	return f
}

// topic makes a topic and fills partition 0.
func (f *fake) topic(name string, partitions int32, rs ...*kgo.Record) {
	f.Helper()
	if err := f.CreateTopic(name, partitions, nil); err != nil {
		f.Fatal(err)
	}
	for _, r := range rs {
		r.Topic = name
		f.client.Produce(f.Context(), r, nil)
	}
	if err := f.client.Flush(f.Context()); err != nil {
		f.Fatal(err)
	}
}

func (f *fake) commit(group string, offsets map[string]int64) {
	f.Helper()
	os := kadm.Offsets{}
	for t, o := range offsets {
		os.AddOffset(t, 0, o, -1)
	}
	if err := f.admin.CommitAllOffsets(f.Context(), group, os); err != nil {
		f.Fatal(err)
	}
}

// payloads gives n records of a user.
func payloads(n int) []*kgo.Record {
	var out []*kgo.Record
	for i := range n {
		out = append(out, &kgo.Record{Value: []byte(fmt.Sprint("payload-", i))})
	}
	return out
}

func sync1(t *testing.T, topic string, up, down int64) *kgo.Record {
	t.Helper()
	k, v, err := formatters.EncodeOffsetSync(mm2.OffsetSync{Topic: topic, Upstream: up, Downstream: down})
	if err != nil {
		t.Fatal(err)
	}
	return &kgo.Record{Key: k, Value: v}
}

func checkpoint1(t *testing.T, group, topic string, up, down int64) *kgo.Record {
	t.Helper()
	k, v, err := formatters.EncodeCheckpoint(mm2.Checkpoint{Group: group, Topic: topic, Upstream: up, Downstream: down})
	if err != nil {
		t.Fatal(err)
	}
	return &kgo.Record{Key: k, Value: v}
}

func heartbeat1(t *testing.T, source, target string) *kgo.Record {
	t.Helper()
	k, v, err := formatters.EncodeHeartbeat(mm2.Heartbeat{Source: source, Target: target, Timestamp: time.Now().UnixMilli()})
	if err != nil {
		t.Fatal(err)
	}
	return &kgo.Record{Key: k, Value: v}
}

func stored(key string, properties map[string]string) *kgo.Record {
	b, _ := json.Marshal(map[string]any{"properties": properties, "tasks": 1})
	return &kgo.Record{Key: []byte(key), Value: b}
}

// mirror fills one direction: ten records of topic orders, mirrored under prefix, group billing at 7 on both sides.
func mirror(src, dst *fake, s FlowSettings, copied string) snapshot.Flow {
	f := NewFlow(s)
	t := src.T
	on := src
	if f.SyncsOn == s.Target {
		on = dst
	}
	src.topic("orders", 1, payloads(10)...)
	if copied != "orders" || dst != src {
		dst.topic(copied, 1, payloads(10)...)
	}
	on.topic(f.SyncsTopic, 1, sync1(t, "orders", 0, 0), sync1(t, "orders", 6, 6))
	dst.topic(f.Checkpoints, 1, checkpoint1(t, "billing", copied, 7, 7))
	src.commit("billing", map[string]int64{"orders": 7})
	dst.commit("billing", map[string]int64{copied: 7})
	return f
}

func flowAB() FlowSettings {
	return FlowSettings{Source: "a", Target: "b", InternalSeparatorEnabled: true}
}

// open connects as the doctor does; user is empty without SASL.
func (f *fake) open(alias, user string, rec func(wire.Sent)) Cluster {
	f.Helper()
	cfg := wire.Config{Bootstrap: f.ListenAddrs(), Timeout: 2 * time.Second, Alias: alias, Recorder: rec}
	if user != "" {
		set, err := security.FromEntries([]security.Entry{{Key: "security.protocol", Value: "SASL_PLAINTEXT"}, {Key: "sasl.mechanism", Value: "PLAIN"},
			{Key: "sasl.jaas.config", Value: `org.apache.kafka.common.security.plain.PlainLoginModule required username="` + user + `" password="pw";`}})
		if err != nil {
			f.Fatal(err)
		}
		cfg.SASL = set.SASL
	}
	c, err := wire.Open(cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	return Cluster{Alias: alias, Bootstrap: f.ListenAddrs(), Client: c}
}

func run(t *testing.T, flows []snapshot.Flow, cs ...Cluster) *snapshot.Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := Run(ctx, Request{Clusters: cs, Flows: flows, Tool: "test", Now: time.Now})
	if ctx.Err() != nil {
		t.Fatal("collecting took too long")
	}
	return s
}

func clusterOf(t *testing.T, s *snapshot.Snapshot, alias string) *snapshot.Cluster {
	t.Helper()
	for i := range s.Clusters {
		if s.Clusters[i].Alias == alias {
			return &s.Clusters[i]
		}
	}
	t.Fatalf("no cluster %s", alias)
	return nil
}

func groupOf(c *snapshot.Cluster, id string) *snapshot.Group {
	gs, _ := c.Groups.Get()
	for i := range gs {
		if gs[i].ID == id {
			return &gs[i]
		}
	}
	return nil
}

func topicOf(c *snapshot.Cluster, name string) *snapshot.Topic {
	ts, _ := c.Topics.Get()
	for i := range ts {
		if ts[i].Name == name {
			return &ts[i]
		}
	}
	return nil
}

// log keeps what brokers were asked, in order: "b OffsetFetch billing".
type log struct {
	mu   sync.Mutex
	seen []string
}

func (l *log) watch(alias string, k *kfake.Cluster) {
	k.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		var names []string
		switch r := r.(type) {
		case *kmsg.FetchRequest:
			for _, t := range r.Topics {
				names = append(names, t.Topic)
			}
		case *kmsg.ListOffsetsRequest:
			for _, t := range r.Topics {
				names = append(names, t.Topic)
			}
		case *kmsg.OffsetFetchRequest:
			names = append(names, r.Group)
			for _, g := range r.Groups {
				names = append(names, g.Group)
			}
		}
		slices.Sort(names)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, strings.TrimSpace(alias+" "+kmsg.NameForKey(r.Key())+" "+strings.Join(names, " ")))
		return nil, nil, false
	})
}

// first and last give the place of requests that begin so; -1 without.
func (l *log) first(prefix string) int {
	return slices.IndexFunc(l.seen, func(s string) bool { return strings.HasPrefix(s, prefix) })
}

func (l *log) last(prefix string) int {
	for i := len(l.seen) - 1; i >= 0; i-- {
		if strings.HasPrefix(l.seen[i], prefix) {
			return i
		}
	}
	return -1
}
