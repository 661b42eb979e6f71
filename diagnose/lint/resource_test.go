package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const beta2 = `apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata:
  name: mm2
spec:
  version: 3.9.1
  replicas: 2
  connectCluster: dr
  clusters:
  - alias: prod
    bootstrapServers: prod:9092
  - alias: dr
    bootstrapServers: dr:9092
    config:
      offset.storage.replication.factor: -1
  mirrors:
  - sourceCluster: prod
    targetCluster: dr
    sourceConnector:
      tasksMax: 4
      config:
        offset-syncs.topic.replication.factor: -1
    checkpointConnector:
      config:
        checkpoints.topic.replication.factor: -1
        sync.group.offsets.enabled: "true"
    topicsPattern: "orders.*|payments"
    groupsPattern: ".*"
`

const v1 = `apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata:
  name: mm2
spec:
  version: 4.1.0
  replicas: 1
  target:
    alias: dr
    bootstrapServers: dr:9092
    groupId: mm2
    configStorageTopic: mm2-configs
    offsetStorageTopic: mm2-offsets
    statusStorageTopic: mm2-status
    config:
      offset.storage.replication.factor: -1
  mirrors:
  - source:
      alias: prod
      bootstrapServers: prod:9092
    sourceConnector:
      tasksMax: 4
      config:
        offset-syncs.topic.replication.factor: -1
    checkpointConnector:
      config:
        checkpoints.topic.replication.factor: -1
        sync.group.offsets.enabled: "true"
    groupsPattern: ".*"
`

// placedAt gives "line:column severity slug" of every finding.
func placedAt(name, text string, v mm2.Version) []string {
	var out []string
	for _, f := range Run([]File{{name, []byte(text)}}, Options{Version: v}) {
		out = append(out, fmt.Sprintf("%d:%d %s %s", f.Subject.Line, f.Subject.Column, f.Severity, f.Slug))
	}
	return out
}

// TestResource: one change of a resource that is right, what Kubernetes or the operator makes of it, and where.
func TestResource(t *testing.T) {
	const identity = "        replication.policy.class: org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
	const identity2 = "        replication.policy.class: io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy\n"
	policies := []string{"        offset-syncs", identity + "        offset-syncs", "        checkpoints.topic", identity + "        checkpoints.topic"}
	for _, c := range []struct {
		name, base string
		change     []string // old and new texts
		want       string
	}{
		{"v1beta2", beta2, nil, ""},
		{"v1", v1, nil, ""},
		{"with a byte order mark", beta2, []string{"apiVersion", "\xEF\xBB\xBFapiVersion"}, ""},
		{"with Windows line ends", beta2, []string{"\n", "\r\n"}, ""},
		{"a version that never was", beta2, []string{"io/v1beta2", "io/v1beta1"}, "1:1 error strimzi-unknown-field"},
		{"that version of another group", beta2, []string{"kafka.strimzi.io/v1beta2", "example.com/v1beta1"}, ""},
		{"v1 without replicas", v1, []string{"  replicas: 1\n", ""}, "5:1 error strimzi-missing-field"},
		{"the target of v1 in v1beta2", v1, []string{"io/v1\n", "io/v1beta2\n"}, ""},
		{"there too all of its fields are required", v1, []string{"io/v1\n", "io/v1beta2\n", "    groupId: mm2\n", ""}, "8:3 error strimzi-missing-field"},
		{"v1beta2 without a source", beta2, []string{"  - sourceCluster: prod\n    targetCluster", "  - targetCluster"}, "17:5 error strimzi-missing-field"},
		{"an alias in capitals", beta2, []string{"sourceCluster: prod", "sourceCluster: Prod"}, "17:5 error unknown-alias-in-flow"},
		{"the target under another alias", beta2, []string{"connectCluster: dr", "connectCluster: x", "  mirrors:\n", "  - {alias: x, bootstrapServers: \"dr:9092\"}\n  mirrors:\n"}, "15:7 info no-effect-key"},
		{"another cluster than the target", beta2, []string{"connectCluster: dr", "connectCluster: prod"}, "8:19 error connect-cluster-not-target; 15:7 info no-effect-key"},
		{"fields that v1beta2 took away", beta2, []string{"  mirrors:\n", "  metrics: {}\n  affinity: {}\n  mirrors:\n"}, "16:3 error strimzi-unknown-field; 17:3 error strimzi-unknown-field"},
		{"v1alpha1 has them", beta2, []string{"v1beta2", "v1alpha1", "  mirrors:\n", "  metrics: {}\n  affinity: {}\n  mirrors:\n"}, ""},
		{"oauth in v1beta2", beta2, []string{"    bootstrapServers: prod:9092\n", "    bootstrapServers: prod:9092\n    authentication: {type: oauth, clientId: x}\n"}, ""},
		{"oauth in v1", v1, []string{"    groupId", "    authentication: {type: oauth}\n    groupId"}, "11:22 error malformed-value"},
		{"a login of an unknown type", beta2, []string{"    bootstrapServers: prod:9092\n", "    bootstrapServers: prod:9092\n    authentication:\n      type: scram\n"}, "13:7 error malformed-value"},
		{"half a login", beta2, []string{"    bootstrapServers: prod:9092\n", "    bootstrapServers: prod:9092\n    authentication:\n      type: plain\n      username: u\n"}, "12:5 error strimzi-missing-field"},
		{"certificates beside tls", v1, []string{"      bootstrapServers: prod:9092\n", "      bootstrapServers: prod:9092\n      trustedCertificates: []\n"}, "21:7 error strimzi-unknown-field"},
		{"a state that is none", beta2, []string{"      tasksMax: 4\n", "      tasksMax: 4\n      state: halted\n"}, "21:7 error malformed-value"},
		{"tasksMax of nothing, and in quotes", beta2, []string{"tasksMax: 4", "tasksMax: 0", "    checkpointConnector:\n", "    checkpointConnector:\n      tasksMax: \"1\"\n"}, "20:7 error malformed-value; 24:7 error malformed-value"},
		{"a version that YAML takes for a number", beta2, []string{"version: 3.9.1", "version: 3.9"}, "6:3 error malformed-value"},
		{"a version to fill in", beta2, []string{"version: 3.9.1", "version: {KafkaVersion}"}, "6:12 info placeholder-unresolved"},
		{"a pattern as a list", beta2, []string{"topicsPattern: \"orders.*|payments\"", "topicsPattern: [orders.*, payments]"}, "27:5 error malformed-value"},
		{"addresses as a list", beta2, []string{"bootstrapServers: prod:9092", "bootstrapServers: [\"prod:9092\"]"}, "11:5 error malformed-value"},
		{"a setting as a list, where a field of the mirror is the place for it", v1, []string{"        checkpoints.topic", "        groups: [a, b]\n        checkpoints.topic"}, "27:9 error malformed-value"},
		{"config is empty and its keys stand beside it", beta2, []string{"        offset-syncs", "      offset-syncs"}, "22:7 error strimzi-unknown-field"},
		{"a section twice", beta2, []string{"    topicsPattern", "    sourceConnector: {}\n    topicsPattern"}, "19:5 warning duplicate-key"},
		{"an alias twice", beta2, []string{"  mirrors:\n", "  - {alias: dr, bootstrapServers: \"x:1\"}\n  mirrors:\n"}, "16:6 error duplicate-key"},
		{"a patch of the number of workers", beta2, []string{beta2[strings.Index(beta2, "  connectCluster"):], "  logging: {type: inline}\n"}, "5:1 info strimzi-missing-field"},
		{"a patch of addresses", beta2, []string{"  connectCluster: dr\n", "", beta2[strings.Index(beta2, "  mirrors:"):], ""}, "5:1 info strimzi-missing-field"},
		{"fields with nothing behind them", beta2, []string{"  - alias: prod\n    bootstrapServers: prod:9092\n  - alias: dr\n    bootstrapServers: dr:9092\n    config:\n      offset.storage.replication.factor: -1\n", "  # ...\n"}, "5:1 info strimzi-missing-field"},
		{"a patch of v1", v1, []string{"  replicas: 1\n", "", v1[strings.Index(v1, "  mirrors:"):], ""}, "5:1 info strimzi-missing-field"},
		{"only the mirrors are missing", beta2, []string{beta2[strings.Index(beta2, "  mirrors:"):], ""}, "5:1 error strimzi-missing-field"},
		{"no mirror", beta2, []string{beta2[strings.Index(beta2, "  mirrors:"):], "  mirrors: []\n"}, "16:3 warning strimzi-missing-field"},
		{"a part of an address to fill in", beta2, []string{"prod:9092", "kafka.apps.<YOUR_HOST>:443"}, "11:23 info placeholder-unresolved"},
		{"login settings of the source reach its clients", beta2, []string{"    bootstrapServers: prod:9092\n", "    bootstrapServers: prod:9092\n    config: {ssl.endpoint.identification.algorithm: '', sasl.login.callback.handler.class: a.B}\n"}, ""},
		{"the worker does not get those of the target", beta2, []string{"      offset.storage", "      security.protocol: SSL\n      offset.storage"}, "15:7 info operator-managed-key"},
		{"settings of clients in a cluster's config", beta2, []string{"    bootstrapServers: prod:9092\n", "    bootstrapServers: prod:9092\n    config:\n      consumer.max.poll.records: 10\n      producer.linger.ms: 5\n      max.poll.records: 10\n", "      offset.storage", "      consumer.fetch.min.bytes: 1\n      producer.linger.ms: 5\n      offset.storage"}, "13:7 warning wrong-prefix; 14:7 warning wrong-prefix; 15:7 warning wrong-prefix; 19:7 warning wrong-prefix"},
		{"they belong to the connector", beta2, []string{"        offset-syncs", "        consumer.max.poll.records: 10\n        producer.override.linger.ms: 5\n        offset-syncs"}, ""},
		{"a setting of the connector in a cluster's config", beta2, []string{"      offset.storage", "      sync.group.offsets.enabled: true\n      offset.storage"}, "15:7 warning wrong-prefix"},
		{"v1 has a field for the worker's group", v1, []string{"      offset.storage", "      group.id: x\n      offset.storage"}, "16:7 info operator-managed-key"},
		{"the operator sets an address, and no other client setting", beta2, []string{"        offset-syncs", "        source.cluster.bootstrap.servers: x:1\n        source.cluster.sasl.kerberos.service.name: kafka\n        offset-syncs"}, "22:9 info operator-managed-key"},
		{"an empty separator on the connector that keeps names, before it stood in internal names", beta2, []string{"version: 3.9.1", "version: 2.8.0", "        offset-syncs", identity2 + "        replication.policy.separator: \"\"\n        offset-syncs"}, "6:3 warning version-known-bugs; 22:9 error policy-mismatch"},
		{"an empty separator that keeps names", beta2, append([]string{identity + "        offset-syncs", identity + "        replication.policy.separator: \"\"\n        offset-syncs"}, policies...), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.base
			for i := len(c.change) - 2; i >= 0; i -= 2 { // what stands last is changed first
				if c.change[i] != "" && !strings.Contains(text, c.change[i]) {
					t.Fatalf("%q is not in the resource", c.change[i])
				}
				text = strings.ReplaceAll(text, c.change[i], c.change[i+1])
			}
			if c.name == "an empty separator that keeps names" {
				// From 3.1 on the two use different offset-syncs topics; before, the separator stood in no name of such a policy.
				for v, want := range map[string]string{"3.0.0": "", "3.9.1": "23:9 error separator-mismatch; 23:9 warning blank-separator"} {
					var got []string
					for _, f := range placedAt("f", strings.Replace(text, "3.9.1", v, 1), mm2.Version{}) {
						if !strings.Contains(f, "version-known-bugs") {
							got = append(got, f)
						}
					}
					if strings.Join(got, "; ") != want {
						t.Errorf("%s: got %q, want %q", v, got, want)
					}
				}
				return
			}
			if got := strings.Join(placedAt("f", text, mm2.Version{}), "; "); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestSaidOfResources: names of fields stay as they are written, and so does template text.
func TestSaidOfResources(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an unknown cluster", strings.Replace(beta2, "sourceCluster: prod", "sourceCluster: x", 1), `spec.mirrors[0].sourceCluster is "x", and spec.clusters has prod, dr.`},
		{"the worker elsewhere", strings.Replace(beta2, "connectCluster: dr", "connectCluster: prod", 1), `connectCluster is "prod", and the mirror writes to dr: Strimzi from 0.41 on refuses the resource, an older one lets the worker write into the wrong cluster.`},
		{"a key of two connectors", `{"connector.class":"MirrorHeartbeatConnector","source.cluster.alias":"a","target.cluster.alias":"b","target.cluster.bootstrap.servers":"b:1","tasks.max":"2","topics":"x"}`, "topics is read by the MirrorSourceConnector and the MirrorCheckpointConnector; the MirrorHeartbeatConnector ignores it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range Run([]File{{"f", []byte(c.text)}}, Options{}) {
				got = append(got, f.Because)
			}
			if len(got) == 0 || got[0] != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestConnectorResources: two resources of connectors that belong together.
func TestConnectorResources(t *testing.T) {
	one := func(class, more string) string {
		return "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnector\nmetadata: {name: x}\nspec:\n  class: org.apache.kafka.connect.mirror." + class + "\n" + more +
			"    source.cluster.alias: a\n    target.cluster.alias: b\n    source.cluster.bootstrap.servers: a:1\n    target.cluster.bootstrap.servers: b:1\n    key.converter: ByteArrayConverter\n    value.converter: ByteArrayConverter\n"
	}
	for _, c := range []struct{ name, source, checkpoint, want string }{
		{"as it should be", "  config:\n", "  config:\n    sync.group.offsets.enabled: true\n", ""},
		{"YAML's other words for true", "  config:\n", "  config:\n    sync.group.offsets.enabled: yes\n", ""},
		{"YAML's other words for false", "  config:\n", "  config:\n    sync.group.offsets.enabled: off\n", "20:5 warning group-offset-sync-disabled"},
		{"only one is stopped", "  state: stopped\n  config:\n", "  config:\n    sync.group.offsets.enabled: true\n", "6:3 warning state-mismatch"},
		{"only one is paused, as before there was a state", "  config:\n", "  pause: true\n  config:\n    sync.group.offsets.enabled: true\n", "19:3 warning state-mismatch"},
		{"numbers of YAML 1.1", "  config:\n    offset.lag.max: 1_0\n", "  config:\n    sync.group.offsets.enabled: true\n    emit.checkpoints.interval.seconds: 060\n    sync.group.offsets.interval.seconds: 48\n", ""},
		{"a list", "  config:\n    topics:\n    - a\n    - b\n", "  config:\n    sync.group.offsets.enabled: true\n", "7:5 error malformed-value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(placedAt("f", one("MirrorSourceConnector", c.source)+"---\n"+one("MirrorCheckpointConnector", c.checkpoint), mm2.Version{}), "; "); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestHalfALogin: the module says which mechanism is meant, also where the password comes from a provider.
func TestHalfALogin(t *testing.T) {
	text := func(jaas string) string {
		return `{"connector.class":"MirrorCheckpointConnector","source.cluster.alias":"a","target.cluster.alias":"b","source.cluster.bootstrap.servers":"a:1","target.cluster.bootstrap.servers":"b:1","key.converter":"ByteArrayConverter","value.converter":"ByteArrayConverter","sync.group.offsets.enabled":true,` +
			"\n" + `"source.cluster.security.protocol":"SASL_SSL","source.cluster.sasl.jaas.config":"` + jaas + `"}`
	}
	for jaas, want := range map[string]string{
		`org.apache.kafka.common.security.scram.ScramLoginModule required username=\"u\" password=\"${env:P}\";`: "2:1 error credentials-missing",
		`${file:/x:jaas}`: "",
		`com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;`: "",
	} {
		if got := strings.Join(placedAt("f", text(jaas), mm2.Version{}), "; "); got != want {
			t.Errorf("%s: got %q, want %q", jaas, got, want)
		}
	}
}
