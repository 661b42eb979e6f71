package collect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestConnectorShapes: every shape in which connector configurations are kept or answered.
func TestConnectorShapes(t *testing.T) {
	const config = `{"connector.class": "org.apache.kafka.connect.mirror.MirrorCheckpointConnector", "source.cluster.alias": "a", "target.cluster.alias": "b",
  "sync.group.offsets.enabled": true, "tasks.max": 3}`
	for _, tc := range []struct{ name, text, want string }{
		{"flat", config, " MirrorCheckpointConnector a->b"},
		{"named", `{"name": "cp", "config": ` + config + `}`, "cp MirrorCheckpointConnector a->b"},
		{"flat, named inside", strings.Replace(config, "{", `{"name": "cp", `, 1), "cp MirrorCheckpointConnector a->b"},
		{"array", `[{"name": "x", "config": {"connector.class": "com.example.Sink"}}, {"name": "cp", "config": ` + config + `}]`, "cp MirrorCheckpointConnector a->b"},
		{"one after the other", `{"name": "c1", "config": ` + config + `} {"name": "c2", "config": ` + config + `}`, "c1 MirrorCheckpointConnector a->b, c2 MirrorCheckpointConnector a->b"},
		{"answer of GET /connectors/NAME", `{"name": "cp", "config": ` + config + `, "tasks": [{"connector": "cp", "task": 0}], "type": "source"}`, "cp MirrorCheckpointConnector a->b"},
		{"answer of GET /connectors?expand=info&expand=status", `{"cp": {"info": {"name": "cp", "config": ` + config + `, "type": "source"}, "status": {"name": "cp"}}, "sink": {"info": {"config": {}}}}`, "cp MirrorCheckpointConnector a->b"},
		{"short class with blanks", `{"connector.class": " MirrorSourceConnector ", "source.cluster.alias": "a"}`, " MirrorSourceConnector a->target"},
		{"MSK Connect", `{"connectorName": "cp", "connectorArn": "arn:x", "connectorConfiguration": ` + config + `}`, "cp MirrorCheckpointConnector a->b msk"},
		{"names only", `["cp", "src"]`, ""},
		{"another connector", `{"connector.class": "com.example.Sink"}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, err := confdoc.ParseTree("c.json", []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range ConnectorTree(docs) {
				s := fmt.Sprintf("%s %s %s->%s", m.Name, m.Class, m.Source(), m.Target())
				if m.Managed {
					s += " msk"
				}
				got = append(got, s)
			}
			if s := strings.Join(got, ", "); s != tc.want {
				t.Errorf("got %q, want %q", s, tc.want)
			}
		})
	}
}

// TestConnectorPlaces: a setting of a file says where it stands; a boolean or number is the text that Connect makes of it.
func TestConnectorPlaces(t *testing.T) {
	docs, err := confdoc.ParseTree("c.json", []byte("{\n  \"connector.class\": \"MirrorCheckpointConnector\",\n  \"source.cluster.alias\": \"a\",\n  \"sync.group.offsets.enabled\": true\n}"))
	if err != nil {
		t.Fatal(err)
	}
	f := ConnectFlow("a", "target", ConnectorTree(docs), mm2.Version{})
	cs, _ := f.Running.Get()
	for _, e := range cs.Checkpoint {
		switch e.Key {
		case "sync.group.offsets.enabled":
			if e.Value != "true" || e.File != "c.json" || e.Line != 4 || e.Column != 3 {
				t.Errorf("%+v", e)
			}
		case "groups":
			if !e.Default || e.File != "" {
				t.Errorf("%+v", e)
			}
		}
	}
}
