package lint

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const pair = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\n"

const triple = "clusters = a, b, c\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\nc.bootstrap.servers = c:9092\nsync.group.offsets.enabled = true\n"

const identityLine = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"

// TestDedicated: whole files, and the findings above info.
func TestDedicated(t *testing.T) {
	bothWays := pair + "a->b.enabled = true\nb->a.enabled = true\na->b.sync.group.offsets.enabled = true\n"
	for _, c := range []struct {
		name, text string
		version    mm2.Version
		want       []string
	}{
		{name: "the only flow lacks its switch, and is judged all the same", text: pair + "a->b.topics = x\n", want: []string{"4 error flow-not-enabled", "4 error group-offset-sync-disabled"}},
		{name: "a flow that lacks its switch beside one that is on", text: pair + "a->b.enabled = true\na->b.sync.group.offsets.enabled = true\nb->a.topics = x\n", want: []string{"6 warning flow-not-enabled"}},
		{name: "a flow without its switch of which everything is taken away", text: pair + "a->b.enabled = true\na->b.sync.group.offsets.enabled = true\nb->a.emit.heartbeats.enabled = false\nb->a.emit.checkpoints.enabled = false\nb->a.topics.exclude = .*\n"},
		{name: "blanks behind the switch, and heartbeats off", text: pair + "a->b.enabled = true \nemit.heartbeats.enabled = false\n", want: []string{"4 error flow-not-enabled", "4 error group-offset-sync-disabled"}},
		{name: "an arrow of one sign", text: pair + "a→b.enabled = true\n", want: []string{"1 error flow-not-enabled", "4 error malformed-flow-key", "4 warning malformed-line"}},
		{name: "an arrow with an equals sign", text: pair + "a=>b.enabled = true\n", want: []string{"1 error flow-not-enabled", "4 error malformed-flow-key"}},
		{name: "clusters separated by a semicolon", text: "clusters = a; b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\n", want: []string{"1 error malformed-value"}},
		{name: "clusters separated by blanks", text: "clusters = a b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\n", want: []string{"1 error malformed-value"}},
		{name: "clusters in brackets", text: "clusters = [a, b]\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\n", want: []string{"1 error malformed-value"}},
		{name: "data only: no syncs and no checkpoints", text: pair + "a->b.enabled = true\nemit.checkpoints.enabled = false\nemit.offset-syncs.enabled = false\n", version: mm2.V(3, 9, 1), want: []string{"4 error group-offset-sync-disabled", "5 error checkpoints-disabled"}},
		{name: "no checkpoints, no topic for them", text: pair + "a->b.enabled = true\nsync.group.offsets.enabled = true\nemit.checkpoints.enabled = false\nreplication.factor = 1\n", want: []string{"4 warning replication-factor-default", "6 error checkpoints-disabled"}},
		{name: "one replica on a cluster that has one elsewhere too", text: "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b1:9092,b2:9092,b3:9092\na->b.enabled = true\nsync.group.offsets.enabled = true\na.offset.storage.replication.factor = 1\nb.offset.storage.replication.factor = 3\noffset-syncs.topic.replication.factor = 1\n"},
		{name: "and with the topic on the other cluster", text: "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b1:9092,b2:9092,b3:9092\na->b.enabled = true\nsync.group.offsets.enabled = true\na.offset.storage.replication.factor = 1\noffset-syncs.topic.location = target\noffset-syncs.topic.replication.factor = 1\n", want: []string{"8 warning replication-factor-low"}},
		{name: "no topics for a flow that is off", text: head + "west->east.enabled = false\nwest->east.topics =\n"},
		{name: "names kept both ways, and the one excludes what the other mirrors", text: bothWays + identityLine + "a->b.topics = x.*\nb->a.topics = .*\nb->a.topics.exclude = x.*\n"},
		{name: "and excludes a part only", text: bothWays + identityLine + "a->b.topics = x.*\nb->a.topics = .*\nb->a.topics.exclude = xy.*\n", want: []string{"7 error identity-loop"}},
		{name: "groups of the one way excluded on the other", text: pair + "enabled = true\nsync.group.offsets.enabled = true\na->b.groups = app-.*\nb->a.groups.exclude = console-consumer-.*, connect-.*, __.*, app-.*\n"},
		{name: "names kept one way, and prefixed on the way back", text: bothWays + "a->b." + identityLine, want: []string{"7 error identity-loop"}},
		{name: "and only topics that do not come back", text: bothWays + "a->b." + identityLine + "topics = orders\n"},
		{name: "a ring of three that keeps names", text: triple + "a->b.enabled = true\nb->c.enabled = true\nc->a.enabled = true\n" + identityLine, want: []string{"9 error identity-loop"}},
		{name: "a ring of three with prefixes", text: triple + "a->b.enabled = true\nb->c.enabled = true\nc->a.enabled = true\n"},
		{name: "a ring of three with a gap in the topics", text: triple + "a->b.enabled = true\nb->c.enabled = true\nc->a.enabled = true\na->b.topics = x-.*\nc->a.topics = y-.*\n" + identityLine},
		{name: "a chain of three that keeps names", text: triple + "a->b.enabled = true\nb->c.enabled = true\n" + identityLine},
		{name: "a worker for heartbeats only has the same group", text: triple + "a->c.enabled = true\nc.group.id = mm2\n", want: []string{"7 warning worker-group-collision"}},
		{name: "and without heartbeats there is none", text: triple + "a->c.enabled = true\nc.group.id = mm2\nemit.heartbeats.enabled = false\n"},
		{name: "a comma too many between clusters", text: "clusters = a, b,\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\nsync.group.offsets.enabled = true\n", version: mm2.V(3, 9, 1), want: []string{"1 error malformed-value"}},
		{name: "a comma too many between addresses", text: "clusters = a, b\na.bootstrap.servers = a:9092,\nb.bootstrap.servers = b:9092\na->b.enabled = true\nsync.group.offsets.enabled = true\ntopics = x,\ngroups = x,\n", want: []string{"2 warning malformed-value", "6 warning malformed-value"}},
		{name: "and in releases that mind it", text: head + "topics = x,\n", version: mm2.V(4, 2, 0), want: []string{"6 error malformed-value"}},
		{name: "and in releases that do not", text: head + "topics = x,\n", version: mm2.V(4, 1, 1)},
		{name: "a provider that the worker is not told of", text: head + "config.providers = file\nconfig.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider\nwest.ssl.truststore.password = ${file:/x:y}\n", version: mm2.V(3, 8, 0), want: []string{"6 warning version-known-bugs"}},
		{name: "and is told of again", text: head + "config.providers = file\nconfig.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider\nwest.ssl.truststore.password = ${file:/x:y}\n", version: mm2.V(3, 8, 1)},
		{name: "client settings of a cluster that its connectors do not get", text: head + "east.consumer.max.poll.records = 5\n", version: mm2.V(2, 7, 2), want: []string{"4 warning version-known-bugs", "6 warning no-effect-key"}},
		{name: "a mark for the addresses", text: "clusters = a, b\na.bootstrap.servers = SOURCE_BOOTSTRAP\nb.bootstrap.servers = b:9092\na->b.enabled = true\nsync.group.offsets.enabled = true\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range check("f", c.text, c.version) {
				if !strings.Contains(s, " info ") {
					got = append(got, s)
				}
			}
			if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestMoreLines: as TestLines, with kinds of writing found in public files.
func TestMoreLines(t *testing.T) {
	sasl := "west.security.protocol = SASL_SSL\nwest.sasl.mechanism = PLAIN\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{name: "a comment of words behind a password", text: "west.security.protocol = SSL\nwest.ssl.truststore.password = secret  # Replace with your password\n", want: []string{"7 error comment-after-value"}},
		{name: "a JAAS entry without its end", text: sasl + "west.sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"${file:/x:y}\"\n", want: []string{"8 error malformed-value"}},
		{name: "a JAAS entry that a template ends", text: sasl + "west.sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required {{ options }}\n", want: []string{"8 info placeholder-unresolved"}},
		{name: "a login module without its mechanism, secret from a provider", text: "west.security.protocol = SASL_SSL\nwest.sasl.jaas.config = org.apache.kafka.common.security.scram.ScramLoginModule required username=\"u\" password=\"${file:/x:y}\";\n", want: []string{"6 error credentials-missing"}},
		{name: "a secret to fill in", text: sasl + "west.sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"<your key>\";\nwest.ssl.truststore.password = [CHANGEME!!!]\n", want: []string{"8 info placeholder-unresolved"}},
		{name: "topics separated by a semicolon", text: "topics = orders;payments\n", want: []string{"6 warning filter-too-narrow"}},
		{name: "topics separated by a blank", text: "topics = orders payments\n", want: []string{"6 warning filter-too-narrow"}},
		{name: "blanks around alternatives", text: "groups = orders | payments\n", want: []string{"6 warning filter-too-narrow"}},
		{name: "a group with a blank in its name", text: "groups = my group\n"},
		{name: "a pattern that looks ahead", text: "topics = ^(?!__).*,(?=x)x.*\n"},
		{name: "a class with a blank", text: "topics = x[ ;]?y\n"},
		{name: "a comment within continued lines", text: "topics = orders,\\\n# payments\n", want: []string{"6 error comment-after-value"}},
		{name: "every pattern in quotes of its own", text: "topics = \"orders\", \"payments\"\n", want: []string{"6 warning quoted-value"}},
		{name: "the order of words", text: "max.tasks = 4\n", want: []string{"6 warning misspelt-key"}},
		{name: "a dead letter queue for all flows", text: "errors.deadletterqueue.topic.name = dlq\n", want: []string{"6 info no-effect-key"}},
		{name: "exactly-once behind a flow", text: "east->west.exactly.once.source.support = enabled\n", want: []string{"6 warning no-effect-key"}},
		{name: "an override behind a cluster", text: "west.producer.override.linger.ms = 5\n", want: []string{"6 warning wrong-prefix"}},
		{name: "overrides behind a flow", text: "east->west.producer.override.linger.ms = 5\neast->west.consumer.override.max.poll.records = 5\n", want: []string{"7 warning wrong-prefix"}},
		{name: "a pattern of groups that the built-in list excludes", text: "groups = app-.*, connect-.*\n", want: []string{"6 warning group-filtered-out"}},
		{name: "a pattern of topics that is excluded", text: "topics = orders-.*\ntopics.exclude = orders-.*\n", want: []string{"6 warning group-topic-filtered-out"}},
		{name: "a pattern of which a part is excluded", text: "topics = orders-.*\ntopics.exclude = orders-eu-.*\n"},
		{name: "a login that SSL does not use", text: "west.security.protocol = SSL\nwest.sasl.mechanism = PLAIN\nwest.sasl.jaas.config = ${file:/x:y}\n", want: []string{"6 warning credentials-missing"}},
		{name: "capitals in the place of dots", text: "syncGroupOffsetsIntervalSeconds = 60\n", want: []string{"6 warning misspelt-key"}},
		{name: "a setting that no consumer has", text: "east->west.consumer.offset.sync.enabled = true\n", want: []string{"6 info unknown-key"}},
		{name: "a setting of sink connectors", text: "topics.regex = x\n", want: []string{"6 warning no-effect-key"}},
		{name: "context of metrics", text: "metrics.context.x = y\n", want: []string{"6 info no-effect-key"}},
		{name: "a reporter's switch", text: "auto.include.jmx.reporter = true\n", want: []string{"6 warning removed-key"}},
		{name: "the way connectors of Connect name a cluster's settings", text: "target.cluster.security.protocol = SSL\n", want: []string{"6 warning wrong-prefix"}},
		{name: "and those of its clients", text: "source.cluster.consumer.max.poll.records = 5\n", want: []string{"6 warning wrong-prefix"}},
		{name: "a switch without its beginning", text: "checkpoints.enabled = false\n", want: []string{"6 error misspelt-key"}},
		{name: "the driver's own setting behind a cluster", text: "west.dedicated.mode.enable.internal.rest = true\n", want: []string{"6 warning wrong-prefix"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := check("f", head+c.text, mm2.Version{}); strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestByteOrderMark: what Java makes of the first line is one finding.
func TestByteOrderMark(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeff# a comment\n" + head: "1 warning malformed-line",
		"\ufeff" + head:              "1 error clusters-missing; 1 warning malformed-line",
	} {
		if got := strings.Join(check("f", text, mm2.Version{}), "; "); got != want {
			t.Errorf("%q: got %q, want %q", text[:12], got, want)
		}
	}
}

// TestStatementsWithin: the lines of a text in a ConfigMap keep their places where statements of a template stand between them.
func TestStatementsWithin(t *testing.T) {
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  mm2.properties: |\n    clusters = a, b\n    a.bootstrap.servers = {{ .Values.a }}\n    b.bootstrap.servers = b:9092\n    {{- if .Values.x }}\n    a->b.enabled = true\n    {{- end }}\n    metrics.reporters = x\n"
	if got := strings.Join(check("f.yaml", text, mm2.Version{}), "; "); got != "8 info placeholder-unresolved; 13 warning misspelt-key" {
		t.Errorf("got %q", got)
	}
}

// TestTemplateAlone: a file of template text only is not empty.
func TestTemplateAlone(t *testing.T) {
	if got := strings.Join(check("f", "# c\n{% for k, v in x.items() %}\n{{ k }}={{ v }}\n{% endfor %}\n", mm2.Version{}), "; "); got != "2 info placeholder-unresolved" {
		t.Errorf("got %q", got)
	}
}

// TestWords: a text holds what is true of the file, and a repair is written as it belongs.
func TestWords(t *testing.T) {
	for _, c := range []struct{ name, text, slug, because, fix, not string }{
		{"checkpoints are off", pair + "a->b.enabled = true\nemit.checkpoints.enabled = false\nsync.group.offsets.enabled = false\n", "group-offset-sync-disabled", "so are checkpoints", "", "checkpoints are made"},
		{"an old name of a flow keeps its flow", head + "east->west.topics.blacklist = x\n", "removed-key", "", "Write east->west.topics.exclude instead of east->west.topics.blacklist.", ""},
		{"an old name of an alias with dots keeps its flow", "clusters = u.e, u.w\nu.e.bootstrap.servers = a:9092\nu.w.bootstrap.servers = b:9092\nu.e->u.w.enabled = true\nu.e->u.w.groups.blacklist = x\n", "removed-key", "", "Write u.e->u.w.groups.exclude instead of u.e->u.w.groups.blacklist.", ""},
		{"an old name for all flows has none", head + "topics.blacklist = x\n", "removed-key", "", "Write topics.exclude instead of topics.blacklist.", ""},
		{"a misspelt name for all flows has none", head + "offset.syncs.topic.location = target\n", "misspelt-key", "", "Write offset-syncs.topic.location instead of offset.syncs.topic.location.", ""},
		{"a class of one's own may read the key", head + "topic.filter.class = com.example.F\ntopic.filter.allow = x\n", "unknown-key", "", "Keep the line", "no effect"},
		{"no separator, and names kept", head + identityLine + "replication.policy.separator =\n", "blank-separator", "keeps topic names does not need it", "Remove the line.", "alias and topic without"},
		{"a setting of the worker behind a flow", head + "east->west.offset.flush.interval.ms = 1000\n", "no-effect-key", "", "Write west.offset.flush.interval.ms", ""},
		{"names kept both ways, lists apart", pair + "enabled = true\na->b.sync.group.offsets.enabled = true\na->b.topics = x.*\nb->a.topics = y.*\n" + identityLine, "two-way-flows", "lists of topics alone", "", "DefaultReplicationPolicy"},
		{"a class of one's own both ways", pair + "enabled = true\na->b.sync.group.offsets.enabled = true\nreplication.policy.class = com.example.P\n", "two-way-flows", "names that the policy gives", "", "DefaultReplicationPolicy"},
		{"the alias is target", "clusters = source, target\nsource.bootstrap.servers = a:9092\ntarget.bootstrap.servers = b:9092\nsource->target.enabled = true\ntarget.cluster.security.protocol = SSL\n", "wrong-prefix", "without cluster.", "Write target.security.protocol", ""},
		{"a part of the built-in excludes", head + "groups.exclude = console-consumer-.*, x\n", "default-exclude-lost", "", "Write groups.exclude = connect-.*, __.*, console-consumer-.*, x.", ""},
		{"one replica more than brokers", head + "replication.factor = 1\n", "replication-factor-default", "one ERROR in the log", "", "does not start"},
	} {
		var hit *finding.Finding
		for _, f := range Run([]File{{"f", []byte(c.text)}}, Options{}) {
			if f.Slug == c.slug && hit == nil {
				hit = &f
			}
		}
		if hit == nil {
			t.Errorf("%s: no %s", c.name, c.slug)
			continue
		}
		said, fix := hit.Because+" "+hit.Consequence, ""
		if len(hit.Fixes) > 0 {
			fix = hit.Fixes[0].Text
		}
		if !strings.Contains(said, c.because) || !strings.HasPrefix(fix, c.fix) && !strings.Contains(fix, c.fix) || c.not != "" && strings.Contains(said+fix, c.not) {
			t.Errorf("%s: %q, %q", c.name, said, fix)
		}
	}
}

// TestMaskedProperties: template text within a ConfigMap is no character beyond ASCII of the file.
func TestMaskedProperties(t *testing.T) {
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  mm2.properties: |\n    clusters = a, b\n    a.bootstrap.servers = {{ .Values.a }}\n    b.bootstrap.servers = {{ .Values.b }}\n    a->b.enabled = true\n    sync.group.offsets.enabled = true\n    topics = über.*\n"
	if got := strings.Join(check("f.yaml", text, mm2.Version{}), "; "); got != "4 info placeholder-unresolved; 12 warning malformed-line" {
		t.Errorf("got %q", got)
	}
}

// TestLettersAreNoMarks: the bytes of ä end in the sign that stands for template text.
func TestLettersAreNoMarks(t *testing.T) {
	var got []string
	for _, f := range Run([]File{{"f", []byte("clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\na->b.sync.group.offsets.enabled = true\na->b.topics = orders.* # ä\n")}}, Options{}) {
		got = append(got, f.Slug+": "+f.Because[:min(24, len(f.Because))])
	}
	if want := []string{"comment-after-value", "malformed-line"}; len(got) != 2 || !strings.HasPrefix(got[0], want[0]) || got[1] != "malformed-line: The value of \"a->b.topic" {
		t.Errorf("%q", got)
	}
}
