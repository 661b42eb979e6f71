package conf

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func strimzi(t *testing.T, name string) *Setup {
	t.Helper()
	b, err := os.ReadFile("testdata/strimzi/" + name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ParseStrimzi(name, b, mm2.Version{})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d resources, %v", len(all), err)
	}
	return all[0]
}

// told writes a value with its origin.
func told(e Effective, ok bool) string {
	if !ok {
		return "none"
	}
	if e.File == "" {
		return fmt.Sprintf("%s (%s)", e.Value, e.Rule)
	}
	return fmt.Sprintf("%s (%s:%d:%d %s)", e.Value, e.File, e.Line, e.Column, e.Written)
}

func TestStrimziValues(t *testing.T) {
	old, v1 := strimzi(t, "v1beta2.yaml"), strimzi(t, "v1.yaml")
	for _, tc := range []struct {
		s    *Setup
		flow string
		r    Reader
		key  string
		want string
	}{
		{old, "a->b", Checkpoint, "sync.group.offsets.enabled", "true (v1beta2.yaml:48:11 spec.mirrors[0].checkpointConnector.config.sync.group.offsets.enabled)"},
		{old, "a->b", Source, "sync.group.offsets.enabled", "none"}, // the connectors share nothing but the mirror's patterns
		{old, "a->b", Checkpoint, "emit.checkpoints.interval.seconds", "30 (v1beta2.yaml:49:11 spec.mirrors[0].checkpointConnector.config.emit.checkpoints.interval.seconds)"},
		{old, "a->b", Checkpoint, "groups", "billing (v1beta2.yaml:36:7 spec.mirrors[0].groupsPattern)"},
		{old, "a->b", Source, "topics", "orders.*, payments (v1beta2.yaml:35:7 spec.mirrors[0].topicsPattern)"},
		{old, "a->b", Checkpoint, "topics", "orders.*, payments (v1beta2.yaml:35:7 spec.mirrors[0].topicsPattern)"},
		{old, "a->b", Checkpoint, "groups.exclude", ".*-test (v1beta2.yaml:37:7 spec.mirrors[0].groupsExcludePattern)"},
		{old, "a->b", Source, "tasks.max", "4 (v1beta2.yaml:39:9 spec.mirrors[0].sourceConnector.tasksMax)"},
		{old, "a->b", Source, "offset.lag.max", "25 (v1beta2.yaml:42:11 spec.mirrors[0].sourceConnector.config.offset.lag.max)"},
		{old, "a->b", Checkpoint, "target.cluster.alias", "b (v1beta2.yaml:22:14 spec.clusters[1].alias)"},
		{old, "a->b", Source, "source.cluster.sasl.mechanism", "SCRAM-SHA-512 (set by the operator)"},
		{old, "a->b", Source, "source.cluster.security.protocol", "SASL_SSL (set by the operator)"},
		{old, "a->b", Worker, "status.storage.topic", "mm2-status (v1beta2.yaml:25:9 spec.clusters[1].config.status.storage.topic)"},
		{old, "a->b", Worker, "config.storage.topic", "mirrormaker2-cluster-configs (set by the operator)"},
		{old, "a->b", Worker, "offset.flush.interval.ms", "10000 (v1beta2.yaml:26:9 spec.clusters[1].config.offset.flush.interval.ms)"},
		{old, "a->b", Worker, "ssl.keystore.location", "none"},
		{old, "a->b", Worker, "value.converter", "org.apache.kafka.connect.converters.ByteArrayConverter (set by the operator)"},
		{old, "a->b", Heartbeat, "emit.heartbeats.enabled", "true (default of MirrorMaker 2)"},
		{old, "c->b", Source, "topics", ".* (default of MirrorMaker 2)"},
		{old, "c->b", Source, "source.cluster.security.protocol", "SSL (set by the operator)"},
		{old, "c->b", Checkpoint, "sync.group.offsets.enabled", "none"}, // no checkpoint connector
		{old, "c->b", Heartbeat, "emit.heartbeats.enabled", "none"},
		{v1, "a->b", Worker, "offset.storage.topic", "to-b-offsets (v1.yaml:14:5 spec.target.offsetStorageTopic)"},
		{v1, "a->b", Worker, "group.id", "to-b (v1.yaml:11:5 spec.target.groupId)"},
		{v1, "a->b", Checkpoint, "sync.group.offsets.enabled", "true (v1.yaml:27:11 spec.mirrors[0].checkpointConnector.config.sync.group.offsets.enabled)"},
		{v1, "a->b", Source, "source.cluster.bootstrap.servers", "a1:9092,a2:9092 (v1.yaml:20:27 spec.mirrors[0].source.bootstrapServers)"},
		{v1, "a->b", Heartbeat, "emit.heartbeats.enabled", "none"}, // v1 has no such connector
	} {
		f, ok := tc.s.Flow(tc.flow)
		if !ok {
			t.Fatalf("no flow %s", tc.flow)
		}
		if got := told(f.Get(tc.r, tc.key)); got != tc.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", tc.flow, tc.r, tc.key, got, tc.want)
		}
	}
}

func TestStrimziFlows(t *testing.T) {
	old, v1 := strimzi(t, "v1beta2.yaml"), strimzi(t, "v1.yaml")
	f, _ := old.Flow("a->b")
	want := mm2.Names{OffsetSyncs: "mm2-offset-syncs.a.internal", OffsetSyncsOn: "b", Checkpoints: "a.checkpoints.internal", Heartbeats: "heartbeats",
		ConnectOffsets: "mirrormaker2-cluster-offsets", ConnectStatus: "mm2-status", ConnectConfigs: "mirrormaker2-cluster-configs", Certain: true}
	if d := cmp.Diff(want, f.Names()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(&Mirror{APIVersion: "kafka.strimzi.io/v1beta2", Namespace: "dr", Name: "to-b", WorkerOn: "b", WorkerPath: "spec.clusters[1]",
		Sections: []string{"spec.clusters[1].config", "sourceConnector", "sourceConnector.config", "checkpointConnector", "checkpointConnector.config", "heartbeatConnector"}}, f.Mirror); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if e, ok := f.State(Checkpoint); !ok || e.Value != "stopped" || e.Line != 45 {
		t.Errorf("state of the checkpoint connector: %+v, %v", e, ok)
	}
	c, _ := old.Flow("c->b")
	if e, ok := c.State(Source); !ok || e.Value != "paused" || !strings.HasSuffix(e.Written, "sourceConnector.pause") {
		t.Errorf("state of c's source connector: %+v, %v", e, ok)
	}
	if c.Has(Checkpoint) || !c.Enabled || c.Mirror.Index != 1 {
		t.Errorf("c->b: %+v", c)
	}
	g, _ := v1.Flow("a->b")
	if got := g.Policy().Kind; got != mm2.PolicyIdentity {
		t.Errorf("policy kind %v", got)
	}
	if v1.Claimed != "4.1.0" || old.Claimed != "3.9.1" || v1.Version != mm2.V(4, 1, 0) {
		t.Errorf("versions %q (%v), %q", v1.Claimed, v1.Version, old.Claimed)
	}
	filter, err := f.GroupFilter()
	if err != nil || filter.Decide("billing").Verdict != mm2.Included || filter.Decide("lost").Verdict == mm2.Included {
		t.Errorf("group filter: %v", err)
	}
}

// TestStrimziClients: what the doctor can connect with, and what stands in secrets.
func TestStrimziClients(t *testing.T) {
	s := strimzi(t, "v1beta2.yaml")
	var got []string
	for _, c := range s.Clusters {
		es, _ := s.Client(c.Alias)
		var kv []string
		for _, e := range es {
			kv = append(kv, e.Key+"="+e.Value)
		}
		for _, e := range c.Secrets {
			kv = append(kv, "secret "+e.Value+"@"+fmt.Sprint(e.Line))
		}
		got = append(got, c.Alias+": "+strings.Join(kv, " "))
	}
	want := []string{
		"a: bootstrap.servers=a-bootstrap:9093 sasl.mechanism=SCRAM-SHA-512 security.protocol=SASL_SSL secret scram-sha-512@19 secret trusted certificates@16",
		"b: bootstrap.servers=b-bootstrap:9092 security.protocol=PLAINTEXT ssl.keystore.location=/ignored",
		"c: bootstrap.servers=c.example.com:443 security.protocol=SSL",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

const head = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nmetadata: {name: x}\nspec:\n"

func TestStrimziProblems(t *testing.T) {
	const clusters = "  clusters:\n  - {alias: a, bootstrapServers: 'a:1'}\n  - {alias: b, bootstrapServers: 'b:1'}\n"
	for _, tc := range []struct {
		name, text string
		line       int
		contains   string
	}{
		{"unknown cluster", head + clusters + "  connectCluster: b\n  mirrors:\n  - {sourceCluster: A, targetCluster: b}\n", 10, `"A", and spec.clusters has a, b`},
		{"no mirrors", head + clusters + "  connectCluster: b\n", 1, "no mirror"},
		{"no address", head + "  clusters:\n  - {alias: a}\n", 6, "no addresses"},
		{"no target in v1", strings.Replace(head, "v1beta2", "v1", 1) + "  mirrors: []\n", 5, "spec.target.alias"},
		{"twice the same flow", head + clusters + "  connectCluster: b\n  mirrors:\n  - {sourceCluster: a, targetCluster: b}\n  - {sourceCluster: a, targetCluster: b}\n", 11, "stands twice"},
		{"twice the same alias", head + "  clusters:\n  - {alias: a, bootstrapServers: 'a:1'}\n  - {alias: a, bootstrapServers: 'b:1'}\n", 7, "are called a"},
		{"empty spec", "kind: KafkaMirrorMaker2\nmetadata: {name: x}\n", 1, "no mirror"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := ParseStrimzi("f", []byte(tc.text), mm2.Version{})
			if err != nil {
				t.Fatal(err)
			}
			if len(all[0].Problems) == 0 {
				t.Fatal("no problem")
			}
			if p := all[0].Problems[0]; p.Line != tc.line || !strings.Contains(p.Error(), tc.contains) || p.Next == "" {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestStrimziTexts(t *testing.T) {
	one := head + "  connectCluster: b\n  clusters: [{alias: a, bootstrapServers: 'a:1'}, {alias: b, bootstrapServers: 'b:1'}]\n  mirrors: [{sourceCluster: a, targetCluster: b, sourceConnector: {}}]\n"
	t.Run("worker attached to the source", func(t *testing.T) {
		all, _ := ParseStrimzi("f", []byte(strings.Replace(one, "connectCluster: b", "connectCluster: a", 1)), mm2.Version{})
		if n := all[0].Notes; len(n) != 1 || n[0].Kind != WorkerElsewhere || n[0].Line != 5 {
			t.Errorf("%+v", n)
		}
		if w := all[0].Flows[0].Mirror.WorkerOn; w != "a" {
			t.Errorf("worker on %q", w)
		}
	})
	t.Run("list, as kubectl prints it", func(t *testing.T) {
		list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(one), "\n", "\n  ") + "\n- kind: ConfigMap\n"
		all, err := ParseStrimzi("f", []byte(list), mm2.Version{})
		if err != nil || len(all) != 1 || len(all[0].Flows) != 1 {
			t.Fatalf("%v %v", all, err)
		}
	})
	t.Run("JSON, as kubectl prints it", func(t *testing.T) {
		all, err := ParseStrimzi("f", []byte(`{"kind":"KafkaMirrorMaker2","spec":{"connectCluster":"b","clusters":[{"alias":"a","bootstrapServers":"a:1"},{"alias":"b","bootstrapServers":"b:1"}],"mirrors":[{"sourceCluster":"a","targetCluster":"b","checkpointConnector":{"config":{"sync.group.offsets.enabled":"on"}}}]}}`), mm2.Version{})
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := all[0].Flows[0].Get(Checkpoint, "sync.group.offsets.enabled"); e.Value != "on" { // a string stays one
			t.Errorf("got %q", e.Value)
		}
	})
	t.Run("other kinds", func(t *testing.T) {
		_, err := ParseStrimzi("f", []byte("kind: Kafka\nspec:\n  a: 1\n---\nkind: KafkaTopic\nspec: {}\n"), mm2.Version{})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Why, "Kafka, KafkaTopic") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no YAML", func(t *testing.T) {
		_, err := ParseStrimzi("f", []byte(strings.Replace(one, "'a:1'", "\"a:1\"\"", 1)), mm2.Version{})
		var e *confdoc.Syntax
		if !errors.As(err, &e) || e.Line != 6 {
			t.Errorf("%v", err)
		}
	})
	t.Run("two resources, one alias for two addresses", func(t *testing.T) {
		all, err := ParseStrimzi("f", []byte(one+"---\n"+strings.Replace(one, "'a:1'", "'z:1'", 1)), mm2.Version{})
		if err != nil || len(all) != 2 {
			t.Fatal(err)
		}
		if _, err := Merge(all); err == nil || !strings.Contains(err.Error(), "two clusters are called a") {
			t.Errorf("%v", err)
		}
	})
	t.Run("two resources, both directions", func(t *testing.T) {
		back := strings.NewReplacer("sourceCluster: a, targetCluster: b", "sourceCluster: b, targetCluster: a", "connectCluster: b", "connectCluster: a").Replace(one)
		all, _ := ParseStrimzi("f", []byte(one+"---\n"+back), mm2.Version{})
		s, err := Merge(all)
		if err != nil || len(s.Flows) != 2 || len(s.Clusters) != 2 {
			t.Errorf("%+v %v", s, err)
		}
	})
}

func TestClaimedVersion(t *testing.T) {
	for text, want := range map[string]string{
		"{version: 3.9.1}": "3.9.1",
		"{version: 3.9.1, image: 'quay.io/strimzi/kafka:0.45.0-kafka-3.9.0'}": "3.9.0",
		"{version: 3.9.1, image: 'my/connect:7'}":                             "", // another image may hold anything
		"{image: 'r:5000/kafka:latest-kafka-4.0.0.redhat-00007'}":             "4.0.0.redhat-00007",
		"{replicas: 1}": "",
	} {
		docs, err := confdoc.ParseYAML("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := claimed(docs[0].Root); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func FuzzStrimzi(f *testing.F) {
	for _, name := range []string{"v1beta2.yaml", "v1.yaml"} {
		b, err := os.ReadFile("testdata/strimzi/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ParseStrimzi("f", b, mm2.Version{})
		if err != nil {
			return
		}
		for _, s := range all {
			for _, f := range s.Flows {
				f.Names()
				_, _ = f.GroupFilter()
				_, _ = f.TopicRules()
			}
		}
		_, _ = Merge(all)
	})
}
