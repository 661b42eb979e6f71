package conf

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func TestErrors(t *testing.T) {
	const servers = "a.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\n"
	for _, tc := range []struct {
		name, text, want string
	}{
		{"empty file", "# nothing\n", "mm2.properties: the file holds no settings: connect-mirror-maker reads a Java properties file, lines such as clusters = a, b; give the mm2.properties that MirrorMaker 2 was started with"},
		{"JSON", `{"name": "x", "config": {}}`, "mm2.properties: the file is JSON, not properties: connect-mirror-maker reads a Java properties file, lines such as clusters = a, b; give it as a connector configuration, or give the mm2.properties"},
		{"YAML", "apiVersion: kafka.strimzi.io/v1\nkind: KafkaMirrorMaker2\n", "mm2.properties: the file is YAML, not properties: connect-mirror-maker reads a Java properties file, lines such as clusters = a, b; give it as a Strimzi resource, or give the mm2.properties"},
		{"malformed escape", "clusters = a, b\na.x = C:\\users\n", `mm2.properties:2: the properties file cannot be read: malformed \u escape (four hexadecimal digits must follow): Java refuses the whole file; write a backslash as \\; correct the line; MirrorMaker 2 does not start with it`},
		{"no clusters", servers, "mm2.properties: no clusters: the key clusters is missing, and MirrorMaker 2 does not start without it; add the line: clusters = a, b"},
		{"singular", "cluster = a, b\n" + servers, `mm2.properties:1: no clusters: the key clusters is missing, and MirrorMaker 2 does not start without it (the file has "cluster" instead); add the line: clusters = a, b`},
		{"empty clusters", "clusters =\n" + servers, "mm2.properties:1: no clusters: the key clusters is empty, and so there is no flow; add the line: clusters = a, b"},
		{"one cluster", "clusters = a\n" + servers, "mm2.properties:1: no flow: clusters names only a; a flow needs two; add the other cluster to clusters"},
		{"no addresses", "clusters = a, b\na.bootstrap.servers = a:9092\na->b.enabled = true\n", "mm2.properties:1: cluster b has no addresses: there is no b.bootstrap.servers, so that MirrorMaker 2 cannot reach it; add the line: b.bootstrap.servers = host:9092"},
		{"empty addresses", "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers =\na->b.enabled = true\n", "mm2.properties:3: cluster b has no addresses: b.bootstrap.servers is empty; add the line: b.bootstrap.servers = host:9092"},
		{"no flow enabled", "clusters = a, b\n" + servers + "b->a.topics = x\n", "mm2.properties:1: no flow is enabled: each flow needs its own switch, which is off by default; possible here: a->b, b->a; add the line: b->a.enabled = true"},
		{"flow switched off", "clusters = a, b\n" + servers + "a->b.enabled = false\n", "mm2.properties:4: no flow is enabled: each flow needs its own switch, which is off by default; possible here: a->b, b->a; mm2.properties:4 says a->b.enabled = false; add the line: a->b.enabled = true"},
		{"switch from a provider", "clusters = a, b\n" + servers + "a->b.enabled = ${env:ON}\n", `mm2.properties:4: a->b.enabled = "${env:ON}": the value comes from a config provider (${env:ON}) and cannot be seen here; resolve the file where the provider is reachable, or write the value itself for this check`},
		{"clusters from a provider", "clusters = ${env:CLUSTERS}\n" + servers, `mm2.properties:1: clusters = "${env:CLUSTERS}": the value comes from a config provider (${env:CLUSTERS}) and cannot be seen here; resolve the file where the provider is reachable, or write the value itself for this check`},
		{"switch that is no boolean", "clusters = a, b\n" + servers + "a->b.enabled = yes\n", `mm2.properties:4: a->b.enabled = "yes": MirrorSourceConnector expects true or false and does not start with anything else; write true or false`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse("mm2.properties", []byte(tc.text), mm2.Version{})
			var e *Error
			if !errors.As(err, &e) || e.What == "" || e.Why == "" || e.Next == "" {
				t.Fatalf("got %#v, want an error of three parts", err)
			}
			if d := cmp.Diff(tc.want, err.Error()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

const sample = `clusters = a, b
a.bootstrap.servers = a:9092
b.bootstrap.servers = b:9092
b.security.protocol = SASL_SSL
ssl.truststore.location = /trust
b.admin.sasl.mechanism = PLAIN
b.sasl.jaas.config = x password="${file:/p:k}";
a->b.enabled = true
a->b.groups = g.*, orders
a->b.emit.checkpoints.interval.seconds = 5
a->b.sync.group.offsets.enabled = True
a->b.sync.group.offsets.interval.seconds = 60 # seconds
groups.exclude = x{
topics = {{ topics }}
b.offset.flush.interval.ms = 5000
tasks.max = ${file:/p:tasks}
replication.factor = 99999999999
a->b.topics.exclude =
`

func resolved(t *testing.T, text string, v mm2.Version) *Setup {
	t.Helper()
	s, err := Parse("mm2.properties", []byte(text), v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGet(t *testing.T) {
	f, ok := resolved(t, sample, mm2.V(3, 9, 1)).Flow("a->b")
	if !ok || !f.Enabled {
		t.Fatal("a->b is not enabled")
	}
	on, e, err := f.Bool(Checkpoint, "sync.group.offsets.enabled")
	want := Effective{Key: "sync.group.offsets.enabled", Value: "True", Written: "a->b.sync.group.offsets.enabled", File: "mm2.properties", Line: 11, Column: 1, Rule: RuleFlow}
	if !on || err != nil || e != want {
		t.Errorf("got %v, %+v, %v", on, e, err)
	}
	if d, e, err := f.Seconds(Checkpoint, "emit.checkpoints.interval.seconds"); d != 5*time.Second || e.Where() != "mm2.properties:10" || err != nil {
		t.Errorf("got %v from %s, %v", d, e.Where(), err)
	}
	if d, e, err := f.Seconds(Checkpoint, "refresh.groups.interval.seconds"); d != 10*time.Minute || !e.IsDefault() || e.Rule != RuleDefault || err != nil {
		t.Errorf("default: got %v, %+v, %v", d, e, err)
	}
	if d, e, err := f.Millis(Worker, "offset.flush.interval.ms"); d != 5*time.Second || e.Rule != RuleCluster || err != nil {
		t.Errorf("worker: got %v, %+v, %v", d, e, err)
	}
	if _, ok := f.Get(Checkpoint, "offset.lag.max"); ok {
		t.Error("the checkpoint connector has no offset.lag.max")
	}
	if n, _, err := f.Int(Source, "offset.lag.max"); n != 100 || err != nil {
		t.Errorf("offset.lag.max = %d, %v", n, err)
	}
}

func TestBadValues(t *testing.T) {
	f, _ := resolved(t, sample, mm2.V(3, 9, 1)).Flow("a->b")
	_, _, comment := f.Seconds(Checkpoint, "sync.group.offsets.interval.seconds")
	_, _, provider := f.Int(Source, "tasks.max")
	_, _, big := f.Int(Source, "replication.factor")
	_, group := f.GroupFilter()
	_, topic := f.TopicFilter(Source)
	for _, tc := range []struct {
		name, want string
		err        error
	}{
		{"comment behind a value", `mm2.properties:12: a->b.sync.group.offsets.interval.seconds = "60 # seconds": MirrorCheckpointConnector expects a whole number of 64 bits and does not start with anything else; a # behind a value is a part of the value; move the comment to a line of its own`, comment},
		{"config provider", `mm2.properties:16: tasks.max = "${file:/p:tasks}": the value comes from a config provider (${file:/p:tasks}) and cannot be seen here; resolve the file where the provider is reachable, or write the value itself for this check`, provider},
		{"too big", `mm2.properties:17: replication.factor = "99999999999": MirrorSourceConnector expects a whole number of 32 bits and does not start with anything else; write a whole number of 32 bits`, big},
		{"pattern", `mm2.properties:13: groups.exclude = "x{": exclude list "x{": Java rejects the regular expression "x{": Illegal repetition near index 2; MirrorCheckpointConnector does not start; write Java regular expressions for whole names, separated by commas`, group},
		{"template", `mm2.properties:14: topics = "{{ topics }}": include list "{{ topics }}": Java rejects the regular expression "{{ topics }}": Illegal repetition near index 1; MirrorSourceConnector does not start; run the check on the file after the template was filled in`, topic},
	} {
		if tc.err == nil {
			t.Errorf("%s: no error", tc.name)
			continue
		}
		if d := cmp.Diff(tc.want, tc.err.Error()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

func TestClient(t *testing.T) {
	s := resolved(t, sample, mm2.Version{})
	got, ok := s.Client("b")
	if !ok {
		t.Fatal("no cluster b")
	}
	var lines []string
	for _, e := range got {
		lines = append(lines, e.Key+" = "+e.Value+" ("+e.Where()+")")
	}
	want := []string{
		"bootstrap.servers = b:9092 (mm2.properties:3)",
		`sasl.jaas.config = x password="${file:/p:k}"; (mm2.properties:7)`,
		"sasl.mechanism = PLAIN (mm2.properties:6)",
		"security.protocol = SASL_SSL (mm2.properties:4)",
		"ssl.truststore.location = /trust (mm2.properties:5)",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if p := Placeholders(got[1].Value); len(p) != 1 || p[0] != "${file:/p:k}" {
		t.Errorf("placeholders %q", p)
	}
	if _, ok := s.Client("c"); ok {
		t.Error("there is no cluster c")
	}
}

func TestExcludeListByRelease(t *testing.T) {
	const head = "clusters = a, b\na.bootstrap.servers = a:1\nb.bootstrap.servers = b:1\na->b.enabled = true\n"
	for _, tc := range []struct {
		name, text string
		v          mm2.Version
		group      string
		want       mm2.Verdict
	}{
		{"default in 2.6", "", mm2.V(2, 6, 0), "connect-x", mm2.Excluded},
		{"default in 3.9", "", mm2.V(3, 9, 1), "connect-x", mm2.Excluded},
		{"setting it replaces the default", "groups.exclude = x", mm2.V(3, 9, 1), "connect-x", mm2.Included},
		{"exclude unknown before 2.7", "groups.exclude = x", mm2.V(2, 6, 0), "x", mm2.Included},
		{"blacklist in 2.6", "groups.blacklist = x", mm2.V(2, 6, 0), "x", mm2.Excluded},
		{"blacklist still read in 3.9", "groups.blacklist = x", mm2.V(3, 9, 1), "x", mm2.Excluded},
		{"exclude wins over blacklist", "groups.blacklist = x\ngroups.exclude = y", mm2.V(3, 9, 1), "x", mm2.Included},
		{"blacklist gone in 4.0", "groups.blacklist = x", mm2.V(4, 0, 0), "x", mm2.Included},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, _ := resolved(t, head+tc.text, tc.v).Flow("a->b")
			filter, err := f.GroupFilter()
			if err != nil {
				t.Fatal(err)
			}
			if got := filter.Decide(tc.group); got.Verdict != tc.want {
				t.Errorf("got %+v, want %v", got, tc.want)
			}
		})
	}
}

func TestListFromProvider(t *testing.T) {
	s := resolved(t, strings.Replace(sample, "a->b.groups = g.*, orders", "a->b.groups = ${file:/p:groups}", 1), mm2.V(3, 9, 1))
	f, _ := s.Flow("a->b")
	_, err := f.GroupFilter()
	const want = `mm2.properties:9: a->b.groups = "${file:/p:groups}": the value comes from a config provider (${file:/p:groups}) and cannot be seen here; resolve the file where the provider is reachable, or write the value itself for this check`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestOwnFilterClass(t *testing.T) {
	s := resolved(t, sample+"group.filter.class = com.example.Filter\n", mm2.V(3, 9, 1))
	f, _ := s.Flow("a->b")
	if filter, err := f.GroupFilter(); filter != nil || err != nil {
		t.Errorf("got %v, %v; what another class lets through is not known", filter, err)
	}
}

func TestNotes(t *testing.T) {
	const text = "clusters = East, west, west\nEast.bootstrap.servers = e:1\nwest.bootstrap.servers = w:1\nEast->west.enabled = true\n" +
		"east->west.topics = x\nEast -> west.groups = y\nEast->north.topics = z\nEast->west.topics = 1\nEast->west.topics = 2\nnorth.bootstrap.servers = n:1\n"
	var got []string
	for _, n := range resolved(t, text, mm2.Version{}).Notes {
		got = append(got, string(n.Kind)+": "+n.Text)
	}
	want := []string{
		"duplicate-cluster: clusters names an alias twice, or an empty one; used are East, west",
		`unknown-alias: east->west.topics has no effect: "east" is not in clusters (East, west); aliases are case-sensitive: East`,
		`blank-in-flow: a blank ends the key: Java reads the key "East" with the value "-> west.groups = y"; write the flow without blanks around ->`,
		`unknown-alias: East->north.topics has no effect: "north" is not a target for it; clusters are East, west`,
		"duplicate-key: East->west.topics is set again at line 9; only the last one counts",
		`unknown-alias: "north" is not in clusters (East, west)`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNamesOfFlow(t *testing.T) {
	s := resolved(t, "clusters = a, b\na.bootstrap.servers = a:1\nb.bootstrap.servers = b:1\na->b.enabled = true\nreplication.policy.separator = _\noffset-syncs.topic.location = target\nb.offset.storage.topic = mine\n", mm2.V(3, 9, 1))
	f, _ := s.Flow("a->b")
	want := mm2.Names{OffsetSyncs: "mm2-offset-syncs_a_internal", OffsetSyncsOn: "b", Checkpoints: "a_checkpoints_internal", Heartbeats: "heartbeats",
		ConnectOffsets: "mine", ConnectStatus: "mm2-status.a.internal", ConnectConfigs: "mm2-configs.a.internal", Certain: true}
	if d := cmp.Diff(want, f.Names()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	rules, err := f.TopicRules()
	if err != nil {
		t.Fatal(err)
	}
	if d := rules.Decide("b_orders"); d.Verdict != mm2.Cycle {
		t.Errorf("b_orders: got %+v, want a cycle", d)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{sample, "clusters=a,b\na->b.enabled", "clusters=,\n", "cluster a\n->.x=1", "clusters=a->b,a\na->b->a.enabled=true"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", []byte(text), mm2.Version{})
		if s == nil && err == nil {
			t.Fatalf("neither set-up nor error for %q", text)
		}
		if s == nil {
			return
		}
		for _, flow := range s.Flows {
			flow.Names()
			_, _ = flow.TopicRules()
			_, _ = flow.GroupFilter()
		}
	})
}
