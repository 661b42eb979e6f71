package lint

import (
	"fmt"
	"strings"
	"testing"
)

const worker = `bootstrap.servers=b:9092
group.id=connect
key.converter=org.apache.kafka.connect.converters.ByteArrayConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
offset.storage.topic=connect-offsets
config.storage.topic=connect-configs
status.storage.topic=connect-status
`

func sourceJSON(more string) string {
	return `{"name": "src", "config": {
 "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
 "source.cluster.alias": "a", "target.cluster.alias": "b",
 "source.cluster.bootstrap.servers": "a:9092", "target.cluster.bootstrap.servers": "b:9092"` + more + `}}`
}

// told gives "file:line slug severity" of what is found above info.
func told(files ...File) string {
	var out []string
	for _, f := range Run(files, Options{}) {
		if f.Severity > 1 {
			out = append(out, fmt.Sprintf("%s:%d %s %s", f.Subject.File, f.Subject.Line, f.Slug, f.Severity))
		}
	}
	return strings.Join(out, "; ")
}

// TestWorkerFile: the file of a Connect worker beside the JSON of its connectors.
func TestWorkerFile(t *testing.T) {
	file := func(text string) File { return File{"w", []byte(text)} }
	json := func(more string) File { return File{"j", []byte(sourceJSON(more))} }
	own := `, "key.converter": "ByteArrayConverter", "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"`
	for _, tc := range []struct {
		name  string
		files []File
		want  string
	}{
		{"no worker", []File{json("")}, "j:2 converter-missing warning"},
		{"converters of its own", []File{json(own), file(worker)}, ""},
		{"the worker decides", []File{json(""), file(worker)}, "j:2 converter-missing error"},
		{"the worker's are right", []File{json(""), file(strings.Replace(worker, "json.JsonConverter", "converters.ByteArrayConverter", 1))}, ""},
		{"attached to the source", []File{json(own), file(strings.Replace(worker, "b:9092", "a:9092", 1))}, "w:1 connect-cluster-not-target error"},
		{"and told where to write", []File{json(own + `, "producer.override.bootstrap.servers": "b:9092"`), file(strings.Replace(worker, "b:9092", "a:9092", 1))}, ""},
		{"exactly once, not switched on", []File{json(own + `, "exactly.once.support": "required", "consumer.isolation.level": "read_committed"`), file(worker)}, "j:4 exactly-once-incomplete error"},
		{"exactly once", []File{json(own + `, "exactly.once.support": "required", "source.consumer.isolation.level": "read_committed"`), file(worker + "exactly.once.source.support=enabled\n")}, ""},
		{"one topic for two", []File{json(own), file(strings.Replace(worker, "connect-status", "connect-configs", 1))}, "w:7 worker-group-collision error"},
		{"two groups, the same topics", []File{json(own), file(worker), {"v", []byte(strings.Replace(worker, "group.id=connect", "group.id=other", 1))}}, "v:5 worker-group-collision error; v:6 worker-group-collision error; v:7 worker-group-collision error"},
		{"two workers of one group", []File{json(own), file(worker), {"v", []byte(worker)}}, ""},
	} {
		if got := told(tc.files...); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
	if !Worker([]byte(worker)) || Worker([]byte("clusters=a,b\ngroup.id=x\nconfig.storage.topic=y\nbootstrap.servers=z\n")) || Worker([]byte(sourceJSON(""))) {
		t.Error("what is a worker's file")
	}
}

// TestKafkaConnectors: Strimzi's KafkaConnector resources, in a list and as documents; the class stands beside the configuration.
func TestKafkaConnectors(t *testing.T) {
	one := func(class, name, more string) string {
		return "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnector\nmetadata:\n  name: " + name + "\nspec:\n  class: " + class + "\n  config:\n    source.cluster.alias: a\n    target.cluster.alias: b\n    source.cluster.bootstrap.servers: a:9092\n    target.cluster.bootstrap.servers: b:9092\n    key.converter: org.apache.kafka.connect.converters.ByteArrayConverter\n    value.converter: org.apache.kafka.connect.converters.ByteArrayConverter\n" + more
	}
	src, cp := one("org.apache.kafka.connect.mirror.MirrorSourceConnector", "s", "    replication.factor: 3\n"), one("MirrorCheckpointConnector", "c", "    groups: .*\n")
	if got := told(File{"f", []byte(src + "---\n" + cp)}); got != "f:21 group-offset-sync-disabled error" {
		t.Errorf("documents: %s", got)
	}
	indent := func(s string) string {
		return "- " + strings.TrimSuffix(strings.ReplaceAll(s, "\n", "\n  "), "  ")
	}
	if got := told(File{"f", []byte("apiVersion: v1\nkind: List\nitems:\n" + indent(src) + indent(cp))}); got != "f:23 group-offset-sync-disabled error" {
		t.Errorf("a list: %s", got)
	}
	if got := told(File{"f", []byte(src)}, File{"g", []byte(cp + "    sync.group.offsets.enabled: true\n")}); got != "" {
		t.Errorf("two files: %s", got)
	}
}
