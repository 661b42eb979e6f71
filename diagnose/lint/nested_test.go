package lint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func indent(text string, n int) string {
	return strings.Repeat(" ", n) + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", n)) + "\n"
}

func quoted(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const checkpointOff = `{
  "connector.class": "org.apache.kafka.connect.mirror.MirrorCheckpointConnector",
  "source.cluster.alias": "a", "target.cluster.alias": "b",
  "source.cluster.bootstrap.servers": "a:1", "target.cluster.bootstrap.servers": "b:1",
  "key.converter": "ByteArrayConverter", "value.converter": "ByteArrayConverter",
  "sync.group.offsets.enabled": "false"
}
`

const dedicatedOff = `clusters = a, b
a.bootstrap.servers = a:1
b.bootstrap.servers = b:1
a->b.enabled = true
a->b.sync.group.offsets.enabled = false
b->a.enabled = false
`

// TestNested: configurations that stand deeper in a document or as a text in one, with the place of what is wrong in them.
func TestNested(t *testing.T) {
	off := strings.Replace(beta2, `enabled: "true"`, `enabled: "false"`, 1)
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n"
	helm := strings.NewReplacer("prod:9092", "{{ .Values.a }}", "alias: prod", "alias: {{ .Values.source }}", "Cluster: prod", "Cluster: {{ .Values.source }}", "alias: dr", "alias: {{ .Values.target }}", "Cluster: dr", "Cluster: {{ .Values.target }}").Replace(beta2)
	for _, c := range []struct{ name, text, want string }{
		{"a resource in a flow of YAML", `{apiVersion: kafka.strimzi.io/v1beta2, kind: KafkaMirrorMaker2, metadata: {name: x}, spec: {version: 3.9.1, connectCluster: b,
  clusters: [{alias: a, bootstrapServers: "a:1"}, {alias: b, bootstrapServers: "b:1"}],
  mirrors: [{sourceCluster: a, targetCluster: b, sourceConnector: {}, checkpointConnector: {config: {sync.group.offsets.enabled: false}}}]}}`, "3:102 warning group-offset-sync-disabled"},
		{"a task of Ansible", "- name: x\n  kubernetes.core.k8s:\n    definition:\n" + indent(off, 6), "29:15 warning group-offset-sync-disabled"},
		{"connectors of Terraform", `{"resource":{"aws_mskconnect_connector":{"x":{"connector_configuration":` + "\n" + checkpointOff + `}}}}`, "7:3 warning group-offset-sync-disabled"},
		{"the state of Terraform", `{"version":4,"resources":[{"instances":[{"attributes":{"config":` + "\n" + checkpointOff + `}}]}]}`, "7:3 warning group-offset-sync-disabled"},
		{"what Terraform had before", `{"resource_changes":[{"change":{"before":` + checkpointOff + `,"after":null}}]}`, ""},
		{"JSON in a ConfigMap", head + "  c.json: |\n" + indent(checkpointOff, 4), "12:7 warning group-offset-sync-disabled"},
		{"JSON in a ConfigMap, without its last line end", head + "  c.json: |-\n" + indent(checkpointOff, 4), "12:7 warning group-offset-sync-disabled"},
		{"broken JSON in a ConfigMap", head + "  c.json: |\n" + indent(strings.Replace(checkpointOff, `"b",`, `"b"`, 1), 4), "10:7 error syntax-error"},
		{"a resource in a ConfigMap", head + "  mm2.yaml: |\n" + indent(off, 4), "32:13 warning group-offset-sync-disabled"},
		{"properties in a ConfigMap", head + "  mm2.properties: |\n" + indent(dedicatedOff, 4), "11:5 warning group-offset-sync-disabled"},
		{"with an empty line first", head + "  mm2.properties: |\n\n" + indent(dedicatedOff, 4), "12:5 warning group-offset-sync-disabled"},
		{"with Windows line ends", strings.ReplaceAll(head+"  mm2.properties: |\n"+indent(dedicatedOff, 4), "\n", "\r\n"), "11:5 warning group-offset-sync-disabled"},
		{"a flow that nobody switched on", head + "  mm2.properties: |\n" + indent(strings.ReplaceAll(dedicatedOff, "a->b.enabled = true\n", ""), 4), "10:5 error flow-not-enabled; 10:5 warning group-offset-sync-disabled"},
		{"properties in quotes", head + "  mm2.properties: " + quoted(t, dedicatedOff) + "\n", "6:19 warning group-offset-sync-disabled"},
		{"properties in a ConfigMap of JSON", `{"kind":"ConfigMap","data":{` + "\n" + `"mm2.properties":` + quoted(t, dedicatedOff) + "}}", "2:18 warning group-offset-sync-disabled"},
		{"properties that a script writes", "services:\n  mm2:\n    command:\n    - bash\n    - -c\n    - |\n      cat <<EOF > /mm2.properties\n" + indent(dedicatedOff, 6) + "      EOF\n      exec connect-mirror-maker /mm2.properties\n", "12:7 warning group-offset-sync-disabled"},
		{"properties of docker compose", "services:\n  mm2:\n    image: x\nconfigs:\n  mm2:\n    content: |\n" + indent(dedicatedOff, 6), "11:7 warning group-offset-sync-disabled"},
		{"what kubectl applied before", strings.Replace(beta2, "  name: mm2\n", "  name: mm2\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      "+quoted(t, map[string]string{"kind": "KafkaMirrorMaker2"})+"\n", 1), ""},
		{"properties in a template", strings.Replace(head, "name: x", "name: {{ .Release.Name }}", 1) + "  mm2.properties: |\n    {{- if .Values.x }}\n    name = {{ .Values.name }}\n    {{- end }}\n" + indent(strings.Replace(dedicatedOff, "a:1", "{{ .Values.a }}", 1), 4), "4:9 info placeholder-unresolved; 14:5 warning group-offset-sync-disabled"},
		{"aliases of a template", helm, "8:19 info placeholder-unresolved"},
		{"the definition of the kind", "kind: CustomResourceDefinition\nspec:\n  names:\n    kind: KafkaMirrorMaker2\n    plural: x\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range placedAt("f", c.text, mm2.Version{}) {
				if !strings.Contains(f, "replication-factor") {
					got = append(got, f)
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestForeign: a text that only speaks of MirrorMaker 2 is no configuration, and must not pass for one that was checked.
func TestForeign(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"a resource", beta2, false},
		{"a connector", checkpointOff, false},
		{"properties in a ConfigMap", "apiVersion: v1\nkind: ConfigMap\ndata:\n  x: |\n" + indent(dedicatedOff, 4), false},
		{"a text that cannot be read", "kind: KafkaMirrorMaker2\nspec: [\n", false},
		{"a template", "{{- if .Values.x }}\nkind: KafkaMirrorMaker2\n{{- end }}\n", false},
		{"the definition of the kind", "kind: CustomResourceDefinition\nspec:\n  names:\n    kind: KafkaMirrorMaker2\n    plural: x\n", true},
		{"a role", "kind: ClusterRole\nrules:\n- resources: [KafkaMirrorMaker2]\n", true},
		{"a dashboard", `{"panels":[{"expr":"kafka_connect_mirror_MirrorSourceConnector"}]}`, true},
		{"a script that writes nothing", "kind: ConfigMap\ndata:\n  run.sh: |\n    echo clusters a->b.enabled\n    exec run\n    sleep 1\n    exit\n", true},
	} {
		if got := Foreign([]byte(c.text)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRecognised: in a folder, what is no configuration is passed over, whatever it speaks of.
func TestRecognised(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"dedicated mode", dedicatedOff, true},
		{"dedicated mode without clusters", "a->b.enabled = true\na->b.topics = x\n", true},
		{"blanks around the arrow", "A -> B.enabled = true\n", true},
		{"settings for all flows", "sync.group.offsets.enabled = true\n", true},
		{"aliases of a template", "{{ a }}->{{ b }}.enabled = true\n{{ a }}.bootstrap.servers = x:1\n", true},
		{"a program with annotations", "def f() -> int:\n    clusters = 1\n    return clusters\n\ndef g(x) -> str:\n    return x\n", false},
		{"a program with lambdas", "public class X {\n    void run() {\n        list.forEach(x -> {\n            go(x);\n        });\n    }\n}\n", false},
		{"a program that quotes a file", "package x\n\nconst text = `\na->b.enabled = true\n`\n\nfunc f() {\n\treturn\n}\nvar y, z int\nif x {\n}\nfor {\n}\n", false},
		{"XML with comments", "<project>\n<!-- a comment -->\n<x>1</x>\n</project>\n", false},
		{"other settings", "log4j.rootLogger = INFO\nclusters.size = 3\n", false},
	} {
		if got := Recognised([]byte(c.text)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
