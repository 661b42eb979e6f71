package lint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// said gives "line severity slug" of every finding.
func said(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%d %s %s", f.Subject.Line, f.Severity, f.Slug))
	}
	return out
}

func check(name, text string, v mm2.Version) []string {
	return said(Run([]File{{Name: name, Bytes: []byte(text)}}, Options{Version: v}))
}

const head = "clusters = east, west\neast.bootstrap.servers = east-1:9092\nwest.bootstrap.servers = west-1:9092\neast->west.enabled = true\nsync.group.offsets.enabled = true\n"

// TestLines: what follows head is judged by itself; the line numbers begin at 6.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, text string
		version    mm2.Version
		want       []string
	}{
		{name: "nothing more"},
		{name: "security for all clusters", text: "security.protocol = SSL\nssl.truststore.location = /t.jks\n"},
		{name: "client settings where they are read", text: "east.consumer.max.poll.records = 10\nwest.producer.linger.ms = 5\neast->west.source.consumer.fetch.min.bytes = 1\nwest.offset.flush.interval.ms = 1000\n"},
		{name: "a client setting without a prefix", text: "consumer.max.poll.records = 10\nmax.poll.records = 10\n", want: []string{"6 warning wrong-prefix", "7 warning wrong-prefix"}},
		{name: "MM2's own keys that look like a client's", text: "consumer.poll.timeout.ms = 2000\nadmin.timeout.ms = 60000\n"},
		{name: "a worker setting without a prefix", text: "offset.flush.interval.ms = 1000\n", want: []string{"6 info no-effect-key"}},
		{name: "the internal REST server", text: "dedicated.mode.enable.internal.rest = true\nlisteners = http://:8083\nrest.advertised.host.name = h\n"},
		{name: "transforms of a flow, and for none", text: "east->west.transforms = x\neast->west.transforms.x.type = a.B\ntransforms.x.type = a.B\n", want: []string{"8 warning wrong-prefix"}},
		{name: "keys of a class of one's own", text: "topic.filter.class = com.example.Filter\ntopic.filter.allow = x\n", want: []string{"7 info unknown-key"}},
		{name: "a value that a provider gives", text: "offset.lag.max = ${file:/x:y}\ntopics = ${env:TOPICS}\n"},
		{name: "booleans in capitals", text: "emit.checkpoints.enabled = TRUE\n"},
		{name: "a password with a number sign", text: "west.security.protocol = SSL\nwest.ssl.truststore.password = a # b\n", want: []string{"7 info secrets-inline"}},
		{name: "a pattern with a number sign", text: "topics = orders#.*\n"},
		{name: "a new setting, old release", text: "emit.offset-syncs.enabled = true\n", version: mm2.V(3, 8, 1), want: []string{"6 warning version-too-old-for-key"}},
		{name: "a new setting, no release stated", text: "emit.offset-syncs.enabled = true\n"},
		{name: "an old name where it is the only one", text: "groups.blacklist = console-consumer-.*, connect-.*, __.*, x\n", version: mm2.V(2, 6, 0), want: []string{"4 error group-offset-sync-unsupported", "4 warning version-known-bugs", "5 error version-too-old-for-key"}},
		{name: "excludes for topics lose nothing", text: "topics.exclude = test-.*\n"},
		{name: "an exclude list that the include list makes harmless", text: "groups = billing, ledger\ngroups.exclude = test-.*\n"},
		{name: "an exclude list that only lets __ through", text: "groups.exclude = console-consumer-.*, connect-.*\n", want: []string{"6 info default-exclude-lost"}},
		{name: "a provider's login", text: "west.security.protocol = SASL_SSL\nwest.sasl.mechanism = PLAIN\nwest.sasl.jaas.config = ${file:/x:jaas}\n"},
		{name: "Kerberos without a JAAS line", text: "west.security.protocol = SASL_SSL\nwest.sasl.mechanism = GSSAPI\nwest.sasl.kerberos.service.name = kafka\n"},
		{name: "a login that nobody uses", text: "west.sasl.mechanism = PLAIN\nwest.sasl.jaas.config = ${file:/x:jaas}\n", want: []string{"7 warning credentials-missing"}},
		{name: "an hour, a day, and milliseconds", text: "refresh.topics.interval.seconds = 3600\nrefresh.groups.interval.seconds = 86400\nsync.topic.configs.interval.seconds = 300000\n", want: []string{"8 warning interval-unit-suspect"}},
		{name: "a policy without its package", text: "replication.policy.class = IdentityReplicationPolicy\n", want: []string{"6 error malformed-value"}},
		{name: "a reverse flow that is off in so many words", text: "west->east.enabled = false\nwest->east.topics = x\n"},
		{name: "a reverse flow that was forgotten", text: "west->east.topics = x\n", want: []string{"6 warning flow-not-enabled"}},
		{name: "the opposite flow commits", text: "west->east.enabled = true\nwest->east.sync.group.offsets.enabled = false\n", want: []string{"6 info two-way-flows", "7 info group-offset-sync-disabled"}},
		{name: "addresses that only Kafka's pattern accepts", text: "east->west.source.cluster.bootstrap.servers = SASL_SSL://h:9092, [::1]:9092\n"},
		{name: "a factor that the brokers' default gives", text: "replication.factor = -1\ncheckpoints.topic.replication.factor = -1\noffset-syncs.topic.replication.factor = -1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := check("f", head+c.text, c.version); strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestTwoWay: a much-copied file of both directions is right as it is.
func TestTwoWay(t *testing.T) {
	const text = `clusters: hello, world
hello.bootstrap.servers: b-1.hello:9092
world.bootstrap.servers: b-1.world:9092
hello->world.enabled: true
hello->world.topics: orders,payments
hello->world.emit.checkpoints.enabled: true
hello->world.emit.checkpoints.interval.seconds: 30
hello->world.sync.group.offsets.enabled: true
hello->world.sync.group.offsets.interval.seconds: 30
hello->world.offset.lag.max: 25
hello->world.refresh.groups.interval.seconds: 60
hello->world.groups: orders-consumer,payments-consumer
hello->world.groups.exclude: console-consumer-.*,__.*
world->hello.enabled: true
world->hello.sync.group.offsets.enabled: false
`
	for _, v := range []mm2.Version{{}, mm2.V(3, 7, 2), mm2.V(3, 9, 1), mm2.V(4, 3, 1)} {
		for _, f := range Run([]File{{"mm2.properties", []byte(text)}}, Options{Version: v}) {
			if f.Severity > finding.Info {
				t.Errorf("%v: %d %s %s: %s", v, f.Subject.Line, f.Severity, f.Slug, f.Because)
			}
		}
	}
}

func TestForms(t *testing.T) {
	connector := func(class, more string) string {
		return `{"connector.class":"org.apache.kafka.connect.mirror.` + class + `","source.cluster.alias":"a","target.cluster.alias":"b","source.cluster.bootstrap.servers":"a:1","target.cluster.bootstrap.servers":"b:1","key.converter":"ByteArrayConverter","value.converter":"ByteArrayConverter"` + more + `}`
	}
	source, checkpoint := connector("MirrorSourceConnector", ""), connector("MirrorCheckpointConnector", `,"sync.group.offsets.enabled":true`)
	for _, c := range []struct {
		name, text string
		want       string
	}{
		{"a flat connector", checkpoint, ""},
		{"an array", "[" + source + ",\n" + checkpoint + "]", ""},
		{"with name and config", `{"name":"x","config":` + checkpoint + `}`, ""},
		{"expanded by REST", `{"x":{"info":{"name":"x","config":` + checkpoint + `}},` + "\n" + `"y":{"info":{"name":"y","config":` + source + `}}}`, ""},
		{"several values", source + "\n" + checkpoint, ""},
		{"two connectors that differ", "[" + connector("MirrorSourceConnector", `,"offset-syncs.topic.location":"target"`) + ",\n" + checkpoint + "]", "1 error location-mismatch"},
		{"KafkaConnector resources", "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnector\nmetadata:\n  name: x\nspec:\n  class: org.apache.kafka.connect.mirror.MirrorCheckpointConnector\n  config:\n    source.cluster.alias: a\n    target.cluster.alias: b\n    source.cluster.bootstrap.servers: a:1\n    target.cluster.bootstrap.servers: b:1\n", ""},
		{"a ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  mm2.properties: |\n    clusters = a, b\n    a.bootstrap.servers = a:1\n    b.bootstrap.servers = b:1\n    a->b.enabled = true\n", "10 error group-offset-sync-disabled"},
		{"a list of kubectl", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kafka.strimzi.io/v1beta2\n  kind: KafkaMirrorMaker2\n  metadata: {name: x}\n  spec:\n    version: 3.9.1\n    connectCluster: b\n    clusters:\n    - {alias: a, bootstrapServers: \"a:1\"}\n    - {alias: b, bootstrapServers: \"b:1\"}\n    mirrors:\n    - sourceCluster: a\n      targetCluster: b\n      sourceConnector: {}\n      checkpointConnector: {}\n", "17 error group-offset-sync-disabled"},
		{"a Helm template", "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  {{- if .Values.x }}\n  version: 3.9.1\n  {{- end }}\n  connectCluster: b\n  clusters:\n  {{- range .Values.c }}\n  - alias: {{ .alias }}\n  {{- end }}\n  mirrors: []\n", "4 info placeholder-unresolved"},
		{"a Jinja template of JSON", `{"connector.class":"org.apache.kafka.connect.mirror.MirrorCheckpointConnector",` + "\n{% if x %}\n" + `"groups":"x",` + "\n{% endif %}\n" + `"tasks.max": {{ n }}, "sync.group.offsets.enabled":"true"}`, "2 info placeholder-unresolved"},
		{"broken JSON", `{"connector.class":"org.apache.kafka.connect.mirror.MirrorCheckpointConnector",` + "\n" + `"groups" "x"}`, "2 error syntax-error"},
		{"a Java escape that is none", head + "topics = \\u12\n", "6 error syntax-error"},
		{"nothing", "# only a comment\n", "1 error syntax-error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := check("f", c.text, mm2.Version{})
			got = append([]string(nil), got...)
			for i := len(got) - 1; i >= 0; i-- { // Connect without its worker: what is missing there is another test
				if strings.Contains(got[i], "converter-missing") || strings.Contains(got[i], "info intervals") {
					got = append(got[:i], got[i+1:]...)
				}
			}
			if strings.Join(got, "; ") != c.want && !(c.name == "KafkaConnector resources" && strings.Contains(strings.Join(got, ";"), "group-offset-sync-disabled")) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestTogether: the two connectors of a flow stand in two files.
func TestTogether(t *testing.T) {
	read := func(name, policy string) File {
		class := strings.TrimSuffix(name, ".json")
		return File{name, []byte(`{"connector.class":"org.apache.kafka.connect.mirror.` + class + `","source.cluster.alias":"a","target.cluster.alias":"b",` + "\n" + `"replication.policy.class":"org.apache.kafka.connect.mirror.` + policy + `",` + "\n" +
			`"source.cluster.bootstrap.servers":"a:1","target.cluster.bootstrap.servers":"b:1","key.converter":"ByteArrayConverter","value.converter":"ByteArrayConverter","sync.group.offsets.enabled":"true"}`)}
	}
	source, check := read("MirrorSourceConnector.json", "IdentityReplicationPolicy"), read("MirrorCheckpointConnector.json", "DefaultReplicationPolicy")
	var hit *finding.Finding
	for _, f := range Run([]File{source, check}, Options{}) {
		if f.Slug == "policy-mismatch" {
			hit = &f
		}
	}
	if hit == nil || hit.Subject.File != check.Name || hit.Subject.Line != 2 || hit.Severity != finding.Error || hit.CodeText != "MM2D-209" {
		t.Errorf("got %+v, want policy-mismatch at %s:2", hit, check.Name)
	}
}

func fixtures(t testing.TB) []File {
	t.Helper()
	var out []File
	for _, pattern := range []string{"../../fixtures/lint/*/bad.*", "../../fixtures/lint/*/good.*", "../../internal/mm2/conf/testdata/*.properties", "../../internal/mm2/conf/testdata/strimzi/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if strings.HasSuffix(n, ".txt") {
				continue
			}
			b, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, File{n, b})
		}
	}
	if len(out) < 100 {
		t.Fatalf("only %d files", len(out))
	}
	return out
}

// TestSameTwice: findings do not depend on chance.
func TestSameTwice(t *testing.T) {
	files := fixtures(t)
	if a, b := fmt.Sprint(Run(files, Options{})), fmt.Sprint(Run(files, Options{})); a != b {
		t.Error("two runs differ")
	}
}

func BenchmarkThousand(b *testing.B) {
	some := fixtures(b)
	var files []File
	for i := 0; len(files) < 1000; i++ {
		files = append(files, File{fmt.Sprintf("%d/%s", i, some[i%len(some)].Name), some[i%len(some)].Bytes})
	}
	for b.Loop() {
		Run(files, Options{})
	}
}

// BenchmarkLarge: the time must grow with the size of a configuration, not with its square; compare n=1000 with n=4000.
func BenchmarkLarge(b *testing.B) {
	const head = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\na->b.sync.group.offsets.enabled = true\n"
	lines := func(n int, line string) string {
		var w strings.Builder
		for i := range n {
			fmt.Fprintf(&w, line, i)
		}
		return w.String()
	}
	shapes := map[string]func(n int) string{
		"topics":     func(n int) string { return head + "a->b.topics = " + lines(n, "orders-%d.events,") + "last\n" },
		"unknown":    func(n int) string { return head + lines(n, "unknwn.key.%d = x\n") },
		"duplicates": func(n int) string { return head + lines(n, "a->b.topics = x%d\n") },
		"flows": func(n int) string {
			return "clusters = b" + lines(n, ", s%d") + "\nb.bootstrap.servers = b:9092\n" + lines(n, "s%d.bootstrap.servers = s:9092\n") + lines(n, "s%d->b.enabled = true\n") + lines(n, "s%d->b.sync.group.offsets.enabled = true\n")
		},
		"mirrors": func(n int) string {
			return "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nspec:\n  connectCluster: b\n  clusters:\n  - {alias: b, bootstrapServers: 'b:9092'}\n" + lines(n, "  - {alias: s%d, bootstrapServers: 's:9092'}\n") +
				"  mirrors:\n" + lines(n, "  - sourceCluster: s%d\n    targetCluster: b\n    sourceConnector: {config: {replication.factor: 1}}\n    checkpointConnector: {config: {sync.group.offsets.enabled: true}}\n")
		},
	}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		for _, n := range []int{1000, 4000} {
			if name == "flows" {
				n /= 10 // of n clusters n² pairs are flows
			}
			files := []File{{Name: name, Bytes: []byte(shapes[name](n))}}
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					Run(files, Options{})
				}
			})
		}
	}
}

func FuzzRun(f *testing.F) {
	for _, file := range fixtures(f) {
		f.Add(file.Bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		start := time.Now()
		for _, v := range []mm2.Version{{}, mm2.V(2, 6, 0), mm2.V(3, 9, 1)} {
			for _, x := range Run([]File{{"f", b}}, Options{Version: v}) {
				if x.Slug == "" || x.Code == 0 || x.Subject.Line < 0 {
					t.Errorf("%+v", x)
				}
			}
		}
		Effective([]File{{"f", b}}, Options{})
		Foreign(b)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s for %d bytes", took, len(b))
		}
	})
}
