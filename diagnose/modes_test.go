package diagnose

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
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
			step := f.setSteps(tc.key, tc.val)[0]
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
		{"set, 3.8", rest("3.8.0").setSteps(keySyncEnabled, "true")[0].Command, `curl -sS -X PATCH -H 'Content-Type: application/json' -d '{"sync.group.offsets.enabled":"true"}' http://c:8083/connectors/cp/config`},
		{"set, 3.7", rest("3.7.2").setSteps(keySyncEnabled, "true")[0].Command, `curl -sS http://c:8083/connectors/cp/config | jq '. + {"sync.group.offsets.enabled":"true"}' | curl -sS -X PUT -H 'Content-Type: application/json' -d @- http://c:8083/connectors/cp/config`},
		{"stop, 3.5", stopByREST(rest("3.5.0"), one)[0].Command, "curl -sS -X PUT http://c:8083/connectors/cp/stop"},
		{"stop, 3.4", stopByREST(rest("3.4.1"), one)[0].Command, "curl -sS http://c:8083/connectors/cp/config > MirrorCheckpointConnector.json && curl -sS -X DELETE http://c:8083/connectors/cp"},
		{"start, 3.4", startByREST(rest("3.4.1"), one)[0].Command, "curl -sS -X PUT -H 'Content-Type: application/json' -d @MirrorCheckpointConnector.json http://c:8083/connectors/cp/config"},
		{"restart, unknown", restartByREST(rest(""), one)[0].Command, "curl -sS -X POST 'http://c:8083/connectors/cp/restart?includeTasks=true'"},
		{"operator's restart, v1", restartByOperator(resource("v1", "", "4"), one)[0].Command, "kubectl annotate kafkamirrormaker2 to-b --overwrite 'strimzi.io/restart-connector=a->b.MirrorCheckpointConnector:includeTasks'"},
		{"operator's restart, one task", restartByOperator(resource("v1beta2", "", "1"), one)[0].Command, "kubectl annotate kafkamirrormaker2 to-b --overwrite 'strimzi.io/restart-connector=a->b.MirrorCheckpointConnector' 'strimzi.io/restart-connector-task=a->b.MirrorCheckpointConnector:0'"},
		{"operator's restart, several tasks", restartByOperator(resource("v1beta2", "", "4"), one)[0].Command, "kubectl delete pod -l strimzi.io/cluster=to-b,strimzi.io/kind=KafkaMirrorMaker2"},
		{"operator's stop, 3.6", stopByOperator(resource("v1beta2", "3.6.0", "1"), one)[0].Command, `kubectl patch kafkamirrormaker2 to-b --type=json -p '[{"op":"test","path":"/spec/mirrors/0/sourceCluster","value":"a"},{"op":"add","path":"/spec/mirrors/0/checkpointConnector/state","value":"stopped"}]'`},
		{"operator's stop, 3.4", stopByOperator(resource("v1beta2", "3.4.0", "1"), one)[0].Command, `kubectl get kafkamirrormaker2 to-b -o jsonpath='{.spec.mirrors[0].checkpointConnector}' > checkpointConnector.json && kubectl patch kafkamirrormaker2 to-b --type=json -p '[{"op":"test","path":"/spec/mirrors/0/sourceCluster","value":"a"},{"op":"remove","path":"/spec/mirrors/0/checkpointConnector"}]'`},
		{"operator's start, 3.4", startByOperator(resource("v1beta2", "3.4.0", "1"), one)[0].Command, `kubectl patch kafkamirrormaker2 to-b --type=json -p '[{"op":"test","path":"/spec/mirrors/0/sourceCluster","value":"a"},{"op":"add","path":"/spec/mirrors/0/checkpointConnector","value":'"$(cat checkpointConnector.json)"'}]'`},
		{"resume, dedicated", flowIn("dedicated", nil).mode().resume(flowIn("dedicated", nil), connCheckpoint).Command,
			`echo 'target-state-MirrorCheckpointConnector|{"state":"STARTED","state.v2":"STARTED"}' | kafka-console-producer.sh --bootstrap-server BOOTSTRAP --topic mm2-configs.a.internal --property parse.key=true --property 'key.separator=|'`},
		{"several settings, 3.8", setByREST(rest("3.8.0"), one, asBytes[:2])[0].Command, `curl -sS -X PATCH -H 'Content-Type: application/json' -d '{"key.converter":"org.apache.kafka.connect.converters.ByteArrayConverter","value.converter":"org.apache.kafka.connect.converters.ByteArrayConverter"}' http://c:8083/connectors/cp/config`},
		{"several settings, no section yet", setInResource(resource("v1", "", "1"), one, finding.Observed{{Name: keyPolicyClass, Value: "P"}, {Name: keyGroups, Value: "g"}})[0].Command,
			`kubectl patch kafkamirrormaker2 to-b --type=json -p '[{"op":"test","path":"/spec/mirrors/0/source/alias","value":"a"},{"op":"add","path":"/spec/mirrors/0/groupsPattern","value":"g"},{"op":"add","path":"/spec/mirrors/0/checkpointConnector","value":{"config":{"replication.policy.class":"P"}}}]'`},
		{"tasks, resource", setInResource(flowIn("strimzi", func(f *snapshot.Flow) {
			f.Resource = &snapshot.Resource{APIVersion: "kafka.strimzi.io/v1", Name: "to-b", Sections: []string{"sourceConnector", "sourceConnector.config"}}
		}), []string{connSource}, finding.Observed{{Name: keyTasksMax, Value: "8"}})[0].Command,
			`kubectl patch kafkamirrormaker2 to-b --type=json -p '[{"op":"test","path":"/spec/mirrors/0/source/alias","value":"a"},{"op":"add","path":"/spec/mirrors/0/sourceConnector/tasksMax","value":8}]'`},
		{"target's alias, v1", resource("v1", "", "1").setSteps(keyTargetAlias, "x")[0].Properties[0].Name, "spec.target.alias"},
		{"source's alias, v1beta2", resource("v1beta2", "", "1").setSteps(keySourceAlias, "x")[0].Properties[1].Name, "spec.mirrors[0].sourceCluster"},
		{"a client's, of the source connector", setSource(rest("3.8.0"), "source.consumer.auto.offset.reset", "earliest")[0].Command, `curl -sS -X PATCH -H 'Content-Type: application/json' -d '{"source.consumer.auto.offset.reset":"earliest"}' http://c:8083/connectors/MirrorSourceConnector/config`},
		{"the worker's, dedicated", flowIn("dedicated", nil).setSteps(keyFlushInterval, "1000")[0].Properties[0].Name, "b.offset.flush.interval.ms"},
		{"another vendor's resource", flowIn("strimzi", func(f *snapshot.Flow) {
			f.Resource = &snapshot.Resource{APIVersion: "eventstreams.example.com/v1beta2", Name: "x"}
		}).kubectl("get", "-o yaml"), "kubectl get kafkamirrormaker2.eventstreams.example.com x -o yaml"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, tc.got, tc.want)
		}
	}
}

// TestWhoTellsTheVersion: the option, unless a resource did.
func TestWhoTellsTheVersion(t *testing.T) {
	for _, tc := range []struct{ from, want string }{{"", "--mm2-version"}, {"the resource in mm2.yaml", "the resource in mm2.yaml"}} {
		s := &snapshot.Snapshot{MM2Version: "3.9.1", MM2VersionFrom: tc.from, Flows: []snapshot.Flow{{Source: "a", Target: "b"}}}
		if got := newView(s).flows[0].gens.basis; got != tc.want {
			t.Errorf("%q: %q, want %q", tc.from, got, tc.want)
		}
	}
}

// TestAttachedAnew: how what was written to the wrong cluster gets to the target, in each way of running.
func TestAttachedAnew(t *testing.T) {
	for _, tc := range []struct{ mode, api, fixMode, want string }{
		{"connect", "", "connect", `curl -sS -X PUT -H 'Content-Type: application/json' -d @- http://CONNECT:8083/connectors/MirrorSourceConnector/config`},
		{"discovered", "", "connect", `curl -sS -X PUT -H 'Content-Type: application/json' -d @- http://CONNECT:8083/connectors/MirrorSourceConnector/config`},
		{"strimzi", "v1beta2", "strimzi", `{"op":"add","path":"/spec/connectCluster","value":"b"}`},
		{"strimzi", "v1", "strimzi", `{"op":"add","path":"/spec/target/bootstrapServers","value":""}`},
		{"msk-connect", "", "msk-connect", `aws kafkaconnect delete-connector`},
	} {
		f := flowIn(tc.mode, func(f *snapshot.Flow) {
			if tc.api != "" {
				f.Resource = &snapshot.Resource{APIVersion: "kafka.strimzi.io/" + tc.api, Name: "to-b"}
			}
		})
		f.src, f.dst = &clusterView{Cluster: &snapshot.Cluster{}}, &clusterView{Cluster: &snapshot.Cluster{}}
		if fix := f.attachFix(); fix.Mode != tc.fixMode || !strings.Contains(fix.Steps[0].Command, tc.want) {
			t.Errorf("%s %s: %s: %s", tc.mode, tc.api, fix.Mode, fix.Steps[0].Command)
		}
	}
}
