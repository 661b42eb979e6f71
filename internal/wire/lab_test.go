//go:build lab

package wire

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/security"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestLab runs every read against the real broker at LAB_BROKER (HOST:PORT, PLAINTEXT, one node); LAB_VERSION is the release
// that BrokerVersion must name. It writes topics and groups of its own.
func TestLab(t *testing.T) {
	addr := os.Getenv("LAB_BROKER")
	if addr == "" {
		t.Skip("LAB_BROKER is not set")
	}
	rec := &recorder{}
	c := open(t, []string{addr}, func(cfg *Config) { cfg.Recorder = rec.add; cfg.Timeout = 20 * time.Second })
	if err := c.Contact(ctx(t)); err != nil {
		t.Fatal(err)
	}
	if v := c.BrokerVersion(); v != os.Getenv("LAB_VERSION") {
		t.Errorf("BrokerVersion = %q", v)
	}
	// Before any group exists nothing may be created by asking.
	first, err := c.Metadata(ctx(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh := len(first.Topics) == 0
	d := c.DescribeGroups(ctx(t), []GroupRef{{ID: "nobody"}})["nobody"]
	if d.Exists || d.Err != nil || d.State != kafka.StateDead {
		t.Errorf("absent group: %+v", d)
	}
	if o := c.FetchOffsets(ctx(t), []string{"nobody"})["nobody"]; o.Err != nil || len(o.Offsets) != 0 {
		t.Errorf("absent group's offsets: %+v", o)
	}
	if md, err := c.Metadata(ctx(t), []string{"not-there"}); err != nil || CodeOf(md.Topics[0].Err) != kafka.UnknownTopicOrPartition {
		t.Errorf("unknown topic: %+v %v", md, err)
	}
	after, _ := c.Metadata(ctx(t), nil)
	if fresh && len(after.Topics) != 0 {
		t.Fatalf("asking created %+v", after.Topics)
	}

	topic := fmt.Sprintf("t-%d", time.Now().UnixNano())
	adm := func(opts ...kgo.Opt) *kgo.Client {
		cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.ManualPartitioner())}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	ac := kadm.NewClient(adm())
	if _, err := ac.CreateTopic(t.Context(), 2, 1, map[string]*string{"retention.ms": ptr("123456789")}, topic); err != nil {
		t.Fatal(err)
	}
	var want []string
	put := func(cl *kgo.Client, vals ...string) {
		for _, v := range vals {
			r := &kgo.Record{Topic: topic, Partition: 0, Key: []byte("k"), Value: []byte(v), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte(v)}}}
			if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		v := fmt.Sprintf("codec-%d-%s", i, strings.Repeat("x", 500))
		put(adm(kgo.ProducerBatchCompression(codec)), v)
		want = append(want, v)
	}
	tx := adm(kgo.TransactionalID(topic))
	for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit} {
		if err := tx.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		v := fmt.Sprintf("tx-%d", i)
		put(tx, v)
		if err := tx.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		if end == kgo.TryCommit {
			want = append(want, v)
		}
	}
	for range 50 { // EndTxn answers before the markers are written
		if c.ListOffsets(ctx(t), []OffsetQuery{{topic, 0, AtEnd, true}})[0].Offset == 11 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, maxBytes := range []int{1, 0} {
		as := c.ListOffsets(ctx(t), []OffsetQuery{{topic, 0, AtEnd, true}, {topic, 0, AtStart, false}, {topic, 0, AtEnd, false}, {topic, 1, AtEnd, false}, {topic, 0, 1, false}, {topic, 0, time.Now().Add(time.Hour).UnixMilli(), false}})
		for i, w := range []int64{11, 0, 11, 0, 0, -1} {
			if as[i].Err != nil || as[i].Offset != w {
				t.Errorf("ListOffsets %d: %+v, want %d", i, as[i], w)
			}
		}
		var got []string
		st, err := c.ReadPartition(ctx(t), topic, 0, 0, as[0].Offset, ReadOptions{Committed: true, MaxBytes: maxBytes}, func(r *kafka.Record) error {
			got = append(got, string(r.Value))
			if len(r.Headers) != 1 || string(r.Headers[0].Value) != string(r.Value) || r.LeaderEpoch < 0 || r.ProducerID < 0 {
				t.Errorf("record %+v", *r)
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != strings.Join(want, " ") || st.Next != 11 {
			t.Errorf("read %q, %+v, %v", got, st, err)
		}
		n := 0
		if st, err := c.ReadPartition(ctx(t), topic, 0, 0, 11, ReadOptions{MaxBytes: maxBytes}, func(*kafka.Record) error { n++; return nil }); err != nil || n != 8 {
			t.Errorf("read_uncommitted: %d records, %+v, %v", n, st, err)
		}
	}
	a := c.ListOffsets(ctx(t), []OffsetQuery{{topic, 0, AtMax, false}})[0]
	if os.Getenv("LAB_VERSION") == "2.8" {
		if CodeOf(a.Err) != kafka.UnsupportedVersion {
			t.Errorf("AtMax on 2.8: %+v", a)
		}
	} else if a.Err != nil || a.Offset < 0 || a.Timestamp < 1e12 {
		t.Errorf("AtMax: %+v", a)
	}

	offs := kadm.Offsets{}
	offs.AddOffset(topic, 0, 7, -1)
	offs.Add(kadm.Offset{Topic: topic, Partition: 1, At: 3, LeaderEpoch: 5, Metadata: "why"})
	group := "g-" + topic
	if err := ac.CommitAllOffsets(t.Context(), group, offs); err != nil {
		t.Fatal(err)
	}
	live := adm(kgo.ConsumerGroup(group+"-live"), kgo.ConsumeTopics(topic), kgo.InstanceID("static-1"), kgo.DisableAutoCommit())
	live.PollRecords(t.Context(), 1)
	for range 50 {
		if g, _ := ac.DescribeGroups(t.Context(), group+"-live"); g[group+"-live"].State == "Stable" {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	l, err := c.ListGroups(ctx(t))
	if err != nil || len(l.Errs) != 0 || len(l.Groups) < 2 {
		t.Errorf("ListGroups: %+v %v", l, err)
	}
	ds := c.DescribeGroups(ctx(t), []GroupRef{{ID: group}, {ID: group + "-live"}, {ID: "nobody"}, {ID: "nobody2", Type: kafka.TypeConsumer}})
	if g := ds[group]; g.Err != nil || g.State != kafka.StateEmpty || !g.Exists {
		t.Errorf("%+v", g)
	}
	if g := ds[group+"-live"]; g.Err != nil || g.State != kafka.StateStable || len(g.Members) != 1 || g.Members[0].InstanceID != "static-1" {
		t.Errorf("%+v", g)
	}
	if g := ds["nobody"]; g.Err != nil || g.Exists {
		t.Errorf("%+v", g)
	}
	t.Logf("consumer-type absent: %+v", ds["nobody2"])
	fo := c.FetchOffsets(ctx(t), []string{group, "nobody"})
	if o := fo[group]; o.Err != nil || len(o.Offsets) != 2 || o.Offsets[0] != (Committed{Topic: topic, Partition: 0, Offset: 7, Epoch: -1}) || o.Offsets[1] != (Committed{Topic: topic, Partition: 1, Offset: 3, Epoch: 5, Metadata: "why"}) {
		t.Errorf("%+v", o)
	}
	if o := fo["nobody"]; o.Err != nil || len(o.Offsets) != 0 {
		t.Errorf("%+v", o)
	}
	if strings.HasPrefix(os.Getenv("LAB_VERSION"), "4.") {
		checkGroupTypes(t, c, []string{addr}, topic, "-"+topic, os.Getenv("LAB_VERSION") != "4.1")
	}
	cs := c.DescribeTopicConfigs(ctx(t), []string{topic, "not-there"})
	found := false
	for _, e := range cs[topic].Entries {
		if e.Name == "retention.ms" {
			found = *e.Value == "123456789" && !e.Default
		}
	}
	if !found || CodeOf(cs["not-there"].Err) != kafka.UnknownTopicOrPartition {
		t.Errorf("configs %+v", cs)
	}
	if ops, known, err := c.ClusterOperations(ctx(t)); err != nil || !known || !ops.Has(Describe) {
		t.Error(ops, known, err)
	}
	es := c.OffsetForLeaderEpoch(ctx(t), []EpochQuery{{topic, 0, 0}, {topic, 0, 99}})
	if es[0].Err != nil || es[0].End != 11 || es[1].Err != nil || es[1].End != -1 {
		t.Errorf("epochs %+v", es)
	}
	br := c.DescribeBrokerConfigs(ctx(t), "offsets.retention.minutes", "authorizer.class.name", "log.dirs")
	if br.Err != nil || len(br.Entries) != 3 || br.Entries[1].Default || *br.Entries[2].Value != "10080" || !br.Entries[2].Default {
		t.Errorf("broker configs %+v", br)
	}
	if as, err := c.DescribeAcls(ctx(t)); CodeOf(err) != kafka.SecurityDisabled {
		t.Errorf("rules without an authorizer: %+v %v", as, err)
	}
	before := time.Now()
	at := map[int32]LoggedCommit{}
	if bad := c.ReadCommits(ctx(t), []string{group, "nobody"}, 1<<20, CommitLog{func(cm LoggedCommit) { at[cm.Partition] = cm }, func(Entered) {}}); len(bad) > 0 {
		t.Error(bad)
	}
	for p, want := range map[int32]int64{0: 7, 1: 3} {
		if cm := at[p]; cm.Group != group || cm.Topic != topic || cm.Offset != want || cm.Removed || before.Sub(time.UnixMilli(cm.Time)).Abs() > time.Minute {
			t.Errorf("commit of partition %d: %+v", p, cm)
		}
	}
	// An internal topic, whole.
	for p := range int32(4) {
		e := c.ListOffsets(ctx(t), []OffsetQuery{{offsetsTopic, p, AtEnd, false}})[0]
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		if st, err := c.ReadPartition(ctx(t), offsetsTopic, p, 0, e.Offset, ReadOptions{}, func(*kafka.Record) error { return nil }); err != nil || st.Next < e.Offset {
			t.Errorf("%+v %v", st, err)
		}
	}
	t.Log(rec)
}

func ptr[T any](v T) *T { return &v }

// TestLabSecurity makes every usual mistake against the broker with all listeners (LAB_SECURE: HOST:PORT of the first,
// LAB_PKI: its certificates).
func TestLabSecurity(t *testing.T) {
	base, pki := os.Getenv("LAB_SECURE"), os.Getenv("LAB_PKI")
	if base == "" {
		t.Skip("LAB_SECURE is not set")
	}
	var port int
	host := base[:strings.LastIndex(base, ":")]
	fmt.Sscan(base[strings.LastIndex(base, ":")+1:], &port)
	jaas := func(class, user, pass string) string {
		return fmt.Sprintf(`org.apache.kafka.common.security.%s required username="%s" password="%s";`, class, user, pass)
	}
	plainJ, scramJ := "plain.PlainLoginModule", "scram.ScramLoginModule"
	ca := map[string]string{"ssl.truststore.type": "PEM", "ssl.truststore.location": pki + "/ca.crt"}
	with := func(base map[string]string, kv ...string) map[string]string {
		m := map[string]string{}
		for k, v := range base {
			m[k] = v
		}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	for _, tt := range []struct {
		name string
		off  int
		p    map[string]string
		code int // 0: works
		next string
	}{
		{"plaintext", 0, nil, 0, ""},
		{"controller", 1, nil, Unreachable, "KRaft controller"},
		{"plain", 2, with(nil, "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN", "sasl.jaas.config", jaas(plainJ, "app", "app-secret")), 0, ""},
		{"scram256", 2, with(nil, "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "SCRAM-SHA-256", "sasl.jaas.config", jaas(scramJ, "app", "app-secret")), 0, ""},
		{"scram512 tls", 4, with(ca, "security.protocol", "SASL_SSL", "sasl.mechanism", "SCRAM-SHA-512", "sasl.jaas.config", jaas(scramJ, "app", "app-secret")), 0, ""},
		{"plain wrong", 2, with(nil, "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN", "sasl.jaas.config", jaas(plainJ, "app", "zzz")), AuthFailed, "check user name and password"},
		{"scram wrong", 2, with(nil, "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "SCRAM-SHA-512", "sasl.jaas.config", jaas(scramJ, "app", "zzz")), AuthFailed, "check user name and password"},
		{"no sasl to sasl", 2, nil, AuthFailed, "security.protocol=SASL_PLAINTEXT"},
		{"sasl to plaintext", 0, with(nil, "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN", "sasl.jaas.config", jaas(plainJ, "app", "app-secret")), AuthFailed, "security.protocol=PLAINTEXT"},
		{"tls to plaintext", 0, with(ca, "security.protocol", "SSL"), AuthFailed, "security.protocol=PLAINTEXT"},
		{"plaintext to tls", 3, nil, AuthFailed, "security.protocol=SSL"},
		{"plaintext to sasl_ssl", 4, nil, AuthFailed, "security.protocol=SASL_SSL"},
		{"tls", 3, with(ca, "security.protocol", "SSL"), 0, ""},
		{"tls no name", 3, with(ca, "security.protocol", "SSL", "ssl.endpoint.identification.algorithm", ""), 0, ""},
		{"tls wrong ca", 3, with(nil, "security.protocol", "SSL", "ssl.truststore.type", "PEM", "ssl.truststore.location", pki+"/otherca.crt"), AuthFailed, "ssl.truststore"},
		{"tls wrong ca no name", 3, with(nil, "security.protocol", "SSL", "ssl.truststore.type", "PEM", "ssl.truststore.location", pki+"/otherca.crt", "ssl.endpoint.identification.algorithm", ""), AuthFailed, "ssl.truststore"},
		{"mtls", 5, with(ca, "security.protocol", "SSL", "ssl.keystore.type", "PEM", "ssl.keystore.location", pki+"/client.pem"), 0, ""},
		{"mtls none", 5, with(ca, "security.protocol", "SSL"), AuthFailed, "ssl.keystore"},
		{"mtls stranger", 5, with(ca, "security.protocol", "SSL", "ssl.keystore.type", "PEM", "ssl.keystore.location", pki+"/stranger.pem"), AuthFailed, "ssl.keystore"},
		{"mtls plaintext", 5, nil, AuthFailed, "security.protocol=SSL"},
		{"bad advertised", 6, nil, Unreachable, "--resolve"},
		{"bad name", 7, nil, Unreachable, "--resolve"},
		{"refused", 99, nil, Unreachable, "check the bootstrap address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := security.FromProperties(tt.p)
			if err != nil {
				t.Fatal(err)
			}
			c := open(t, []string{fmt.Sprintf("%s:%d", host, port+tt.off)}, func(cfg *Config) { cfg.TLS, cfg.SASL, cfg.Log = s.TLS, s.SASL, nil })
			begin := time.Now()
			err = c.Contact(ctx(t))
			t.Logf("%v after %v", err, time.Since(begin).Round(time.Millisecond))
			var ce *ContactError
			if tt.code == 0 {
				if err != nil {
					t.Error(err)
				}
			} else if !errors.As(err, &ce) || ce.Code != tt.code || !strings.Contains(ce.Next, tt.next) {
				t.Errorf("want code %d and %q", tt.code, tt.next)
			}
			if err != nil && (strings.Contains(err.Error(), "zzz") || strings.Contains(err.Error(), "app-secret")) {
				t.Error("a secret is in the text")
			}
		})
	}
	// A principal with few rights.
	s, _ := security.FromProperties(with(nil, "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN", "sasl.jaas.config", jaas(plainJ, "app", "app-secret")))
	c := open(t, []string{fmt.Sprintf("%s:%d", host, port+2)}, func(cfg *Config) { cfg.TLS, cfg.SASL = s.TLS, s.SASL })
	t.Log(c.ClusterOperations(ctx(t)))
	l, err := c.ListGroups(ctx(t))
	t.Logf("%+v %v", l, err)
	for id, d := range c.DescribeGroups(ctx(t), []GroupRef{{ID: "g-none"}, {ID: "other"}}) {
		t.Logf("%s: %+v", id, d)
	}
	for id, d := range c.FetchOffsets(ctx(t), []string{"g-none", "other"}) {
		t.Logf("%s: %+v", id, d)
	}
	md, err := c.Metadata(ctx(t), []string{"t-none", "other"})
	t.Logf("%+v %v", md, err)
}
