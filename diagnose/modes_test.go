package diagnose

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// flowIn is a flow of a mode without any fact; change completes it.
func flowIn(mode string, change func(*snapshot.Flow)) *flowView {
	f := snapshot.Flow{Source: "a", Target: "b", Mode: mode, File: "f"}
	if change != nil {
		change(&f)
	}
	return newView(&snapshot.Snapshot{Flows: []snapshot.Flow{f}}).flows[0]
}

// TestSettingsInResource: where a setting goes, and what the patch must make on the way.
func TestSettingsInResource(t *testing.T) {
	for _, tc := range []struct {
		name, api string
		sections  string
		key, val  string
		want      string // operations behind the test, as path=value
	}{
		{"config is there", "v1beta2", "checkpointConnector checkpointConnector.config", keySyncEnabled, "true", `/spec/mirrors/2/checkpointConnector/config/sync.group.offsets.enabled=true`},
		{"no config yet", "v1beta2", "checkpointConnector", keyEmitInterval, "30", `/spec/mirrors/2/checkpointConnector/config={"emit.checkpoints.interval.seconds":30}`},
		{"no section yet", "v1", "sourceConnector", keySyncEnabled, "true", `/spec/mirrors/2/checkpointConnector={"config":{"sync.group.offsets.enabled":true}}`},
		{"read by both", "v1", "sourceConnector sourceConnector.config checkpointConnector", keyLocation, "target", `/spec/mirrors/2/sourceConnector/config/offset-syncs.topic.location="target" /spec/mirrors/2/checkpointConnector/config={"offset-syncs.topic.location":"target"}`},
		{"pattern", "v1", "", keyGroups, "x.*", `/spec/mirrors/2/groupsPattern="x.*"`},
		{"pattern that looks like a number", "v1", "", keyTopics, "7", `/spec/mirrors/2/topicsPattern="7"`},
		{"exclude of today", "v1beta2", "", keyTopicsExclude, "x", `/spec/mirrors/2/topicsExcludePattern="x"`},
		{"exclude of v1alpha1", "v1alpha1", "", keyGroupsExclude, "x", `/spec/mirrors/2/groupsBlacklistPattern="x"`},
		{"the worker's", "v1beta2", "spec.clusters[1].config", keyFlushInterval, "10000", `/spec/clusters/1/config/offset.flush.interval.ms=10000`},
		{"the worker's, no config yet", "v1beta2", "", keyFlushInterval, "10000", `/spec/clusters/1/config={"offset.flush.interval.ms":10000}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := flowIn("strimzi", func(f *snapshot.Flow) {
				f.Resource = &snapshot.Resource{APIVersion: "kafka.strimzi.io/" + tc.api, Name: "to-b", Namespace: "dr", Mirror: 2, Sections: strings.Fields(tc.sections), WorkerPath: "spec.clusters[1]"}
			})
			step := setInResource(f, tc.key, tc.val)[0]
			m := regexp.MustCompile(`^kubectl patch kafkamirrormaker2 to-b -n dr --type=json -p '(.*)'$`).FindStringSubmatch(step.Command)
			if m == nil {
				t.Fatal(step.Command)
			}
			var ops []patchOp
			if err := json.Unmarshal([]byte(m[1]), &ops); err != nil {
				t.Fatal(err)
			}
			guard := map[bool]string{true: "/spec/mirrors/2/source/alias", false: "/spec/mirrors/2/sourceCluster"}[tc.api == "v1"]
			if ops[0] != (patchOp{"test", guard, "a"}) {
				t.Errorf("no test first: %+v", ops[0])
			}
			var got []string
			for _, o := range ops[1:] {
				got = append(got, o.Path+"="+jsonText(o.Value))
				if o.Op != "add" {
					t.Errorf("%+v", o)
				}
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("got  %s\nwant %s", s, tc.want)
			}
			if len(step.Properties) == 0 || step.File != "f" || !strings.HasSuffix(step.Properties[0].Name, tc.key) && !strings.HasSuffix(step.Properties[0].Name, "Pattern") {
				t.Errorf("place %v in %s", step.Properties, step.File)
			}
		})
	}
}

// TestStepsByVersion: what a worker or an operator of that version can do.
func TestStepsByVersion(t *testing.T) {
	rest := func(version string) *flowView {
		return flowIn("connect", func(f *snapshot.Flow) {
			f.ConnectURL, f.WorkerVersion, f.CheckpointConnector = "http://c:8083", version, "cp"
		})
	}
	resource := func(api, mm2 string, tasks string) *flowView {
		f := snapshot.Flow{Source: "a", Target: "b", Mode: "strimzi", CheckpointConnector: "a->b.MirrorCheckpointConnector",
			Resource:   &snapshot.Resource{APIVersion: "kafka.strimzi.io/" + api, Name: "to-b"},
			Configured: snapshot.Is(snapshot.Connectors{Checkpoint: []snapshot.ConfigEntry{{Key: "tasks.max", Value: tasks}}})}
		return newView(&snapshot.Snapshot{MM2Version: mm2, Flows: []snapshot.Flow{f}}).flows[0]
	}
	one := []string{connCheckpoint}
	for _, tc := range []struct{ name, got, want string }{
		{"set, 3.8", setByREST(rest("3.8.0"), keySyncEnabled, "true")[0].Command, `curl -sS -X PATCH -H 'Content-Type: application/json' -d '{"sync.group.offsets.enabled":"true"}' http://c:8083/connectors/cp/config`},
		{"set, 3.7", setByREST(rest("3.7.2"), keySyncEnabled, "true")[0].Command, `curl -sS http://c:8083/connectors/cp/config | jq '. + {"sync.group.offsets.enabled":"true"}' | curl -sS -X PUT -H 'Content-Type: application/json' -d @- http://c:8083/connectors/cp/config`},
		{"stop, 3.5", stopByREST(rest("3.5.0"), one)[0].Command, "curl -sS -X PUT http://c:8083/connectors/cp/stop"},
		{"stop, 3.4", stopByREST(rest("3.4.1"), one)[0].Command, "curl -sS http://c:8083/connectors/cp/config > MirrorCheckpointConnector.json && curl -sS -X DELETE http://c:8083/connectors/cp"},
		{"start, 3.4", startByREST(rest("3.4.1"), one)[0].Command, "curl -sS -X PUT -H 'Content-Type: application/json' -d @MirrorCheckpointConnector.json http://c:8083/connectors/cp/config"},
		{"restart, unknown", restartByREST(rest(""), one)[0].Command, "curl -sS -X POST 'http://c:8083/connectors/cp/restart?includeTasks=true'"},
		{"operator's restart, v1", restartByOperator(resource("v1", "", "4"), one)[0].Command, "kubectl annotate kafkamirrormaker2 to-b --overwrite 'strimzi.io/restart-connector=a->b.MirrorCheckpointConnector:includeTasks'"},
		{"operator's restart, one task", restartByOperator(resource("v1beta2", "", "1"), one)[0].Command, "kubectl annotate kafkamirrormaker2 to-b --overwrite 'strimzi.io/restart-connector=a->b.MirrorCheckpointConnector' 'strimzi.io/restart-connector-task=a->b.MirrorCheckpointConnector:0'"},
		{"operator's restart, several tasks", restartByOperator(resource("v1beta2", "", "4"), one)[0].Command, "kubectl delete pod -l strimzi.io/cluster=to-b,strimzi.io/kind=KafkaMirrorMaker2"},
		{"operator's stop, 3.6", stopByOperator(resource("v1beta2", "3.6.0", "1"), one)[0].Command, `kubectl patch kafkamirrormaker2 to-b --type=json -p '[{"op":"test","path":"/spec/mirrors/0/sourceCluster","value":"a"},{"op":"add","path":"/spec/mirrors/0/checkpointConnector/state","value":"stopped"}]'`},
		{"operator's stop, 3.4", stopByOperator(resource("v1beta2", "3.4.0", "1"), one)[0].Command, `kubectl get kafkamirrormaker2 to-b -o yaml > to-b.saved.yaml && kubectl patch kafkamirrormaker2 to-b --type=json -p '[{"op":"test","path":"/spec/mirrors/0/sourceCluster","value":"a"},{"op":"remove","path":"/spec/mirrors/0/checkpointConnector"}]'`},
		{"another vendor's resource", flowIn("strimzi", func(f *snapshot.Flow) {
			f.Resource = &snapshot.Resource{APIVersion: "eventstreams.example.com/v1beta2", Name: "x"}
		}).kubectl("get", "-o yaml"), "kubectl get kafkamirrormaker2.eventstreams.example.com x -o yaml"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, tc.got, tc.want)
		}
	}
}
