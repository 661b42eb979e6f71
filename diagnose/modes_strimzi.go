package diagnose

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Strimzi: only the resource is changed. What is changed behind the operator's back, by REST above all, it sets back at its
// next look, two minutes later at most.

// resource is the KafkaMirrorMaker2 resource of the flow.
func (f *flowView) resource() snapshot.Resource {
	if f.Resource == nil {
		return snapshot.Resource{APIVersion: "kafka.strimzi.io/v1beta2", Name: "NAME"}
	}
	return *f.Resource
}

// kubectl makes a command about the resource; args stand behind its name.
func (f *flowView) kubectl(verb, args string) string {
	r := f.resource()
	kind := "kafkamirrormaker2"
	if group, _, _ := strings.Cut(r.APIVersion, "/"); group != "kafka.strimzi.io" && strings.Contains(group, ".") {
		kind += "." + group // another vendor's, beside which Strimzi's own may be installed
	}
	return "kubectl " + verb + " " + kind + " " + finding.Quote(r.Name) + f.namespace() + " " + args
}

func (f *flowView) namespace() string {
	if ns := f.resource().Namespace; ns != "" {
		return " -n " + finding.Quote(ns)
	}
	return ""
}

// patchOp is one operation of a JSON patch (RFC 6902).
type patchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch changes the resource. It first tests that the mirror still stands where it stood.
func (f *flowView) patch(changes ...patchOp) string {
	key := "sourceCluster"
	if f.v1() {
		key = "source/alias"
	}
	all := append([]patchOp{{Op: "test", Path: f.mirrorPath() + "/" + key, Value: f.Source}}, changes...)
	return f.kubectl("patch", "--type=json -p "+finding.Quote(jsonText(all)))
}

func (f *flowView) v1() bool { return strings.HasSuffix(f.resource().APIVersion, "/v1") }

func (f *flowView) mirrorPath() string { return fmt.Sprintf("/spec/mirrors/%d", f.resource().Mirror) }

func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings, maps and slices of them always encode
	return strings.TrimSpace(b.String())
}

// yamlPath is the path of a patch as a reader of the YAML would say it.
func yamlPath(pointer string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if _, err := strconv.Atoi(part); err == nil {
			out.WriteString("[" + part + "]")
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('.')
		}
		out.WriteString(part)
	}
	return out.String()
}

// sectionOf is the part of a mirror that configures a connector.
func sectionOf(connector string) string {
	switch connector {
	case connSource:
		return "sourceConnector"
	case connHeartbeat:
		return "heartbeatConnector"
	}
	return "checkpointConnector"
}

// patternOf are the settings that are fields of the mirror and win over the connectors' config.
var patternOf = map[string]string{keyTopics: "topicsPattern", keyGroups: "groupsPattern",
	keyTopicsExclude: "topicsExcludePattern", "topics.blacklist": "topicsExcludePattern",
	keyGroupsExclude: "groupsExcludePattern", "groups.blacklist": "groupsExcludePattern"}

// typed gives a value as YAML writes it.
func typed(value string) any {
	if b, err := strconv.ParseBool(value); err == nil && (value == "true" || value == "false") {
		return b
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value {
		return n
	}
	return value
}

// setInResource writes settings where the operator takes them from, with one patch for all connectors.
func setInResource(f *flowView, connectors []string, values finding.Observed) []finding.Step {
	r := f.resource()
	var changes []patchOp
	var shown finding.Observed
	add := func(path string, v any) {
		changes = append(changes, patchOp{Op: "add", Path: path, Value: v})
	}
	var own finding.Observed // what is no field of the mirror itself
	for _, v := range values {
		if v.Name == keySourceAlias || v.Name == keyTargetAlias {
			return []finding.Step{f.aliasInResource(v.Name, v.Value)}
		}
		pattern := patternOf[v.Name]
		if strings.HasSuffix(r.APIVersion, "/v1alpha1") { // which had the older names only
			pattern = strings.Replace(pattern, "Exclude", "Blacklist", 1)
		}
		if pattern == "" {
			own = append(own, v)
			continue
		}
		path := f.mirrorPath() + "/" + pattern
		add(path, fmt.Sprint(v.Value))
		shown = append(shown, snapshot.Named{Name: yamlPath(path), Value: v.Value})
	}
	undo := f.before(connectors[len(connectors)-1], values)
	for _, c := range connectors {
		if len(own) == 0 {
			break
		}
		section := sectionOf(c)
		base, config := f.mirrorPath()+"/"+section, section+".config"
		if c == worker {
			config = cmp.Or(r.WorkerPath, "spec.target") + ".config"
			base = "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(strings.TrimSuffix(config, ".config"))
		}
		all := map[string]any{}
		for _, v := range own {
			all[v.Name] = typed(fmt.Sprint(v.Value))
		}
		if tasks, ok := all[keyTasksMax]; ok { // a field beside config, which may not hold it
			if slices.Contains(r.Sections, section) {
				add(base+"/tasksMax", tasks)
				shown = append(shown, snapshot.Named{Name: yamlPath(base) + ".tasksMax", Value: fmt.Sprint(tasks)})
			}
			continue
		}
		switch {
		case slices.Contains(r.Sections, config):
			for _, v := range own {
				add(base+"/config/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(v.Name), all[v.Name])
			}
		case c == worker, slices.Contains(r.Sections, section):
			add(base+"/config", all)
		case len(connectors) == 1:
			add(base, map[string]any{"config": all})
		default:
			continue // the mirror has no such connector
		}
		for _, v := range own {
			shown = append(shown, snapshot.Named{Name: yamlPath(base+"/config") + "." + v.Name, Value: fmt.Sprint(v.Value)})
		}
	}
	return []finding.Step{{Text: "set it in the resource; the operator passes it on and the connector restarts by itself", File: f.File, Properties: shown, Command: f.patch(changes...), Undo: undo}}
}

// aliasInResource: the operator gives connectors the aliases that the clusters have in the resource, and no others.
func (f *flowView) aliasInResource(key string, alias any) finding.Step {
	st := finding.Step{Text: "call the cluster so in the resource, wherever its alias stands; the operator makes the connectors anew under the other name", File: f.File, Stops: f.names(bothConnectors)}
	which := map[string]string{keySourceAlias: "source", keyTargetAlias: "target"}[key]
	paths := []string{"spec.clusters[].alias", yamlPath(f.mirrorPath()) + "." + which + "Cluster"}
	switch {
	case f.v1() && which == "target":
		paths = []string{"spec.target.alias"}
	case f.v1():
		paths = []string{yamlPath(f.mirrorPath()) + ".source.alias"}
	case which == "target":
		paths = append(paths, "spec.connectCluster")
	}
	for _, p := range paths {
		st.Properties = append(st.Properties, snapshot.Named{Name: p, Value: alias})
	}
	return st
}

// restartByOperator asks the operator by an annotation of the resource, which it takes away when that is done. From v1 on
// (Strimzi 0.49) the annotation can ask for the tasks too; before, it restarts the connector alone, and a second one a single
// task: with several tasks the pods are replaced instead.
func restartByOperator(f *flowView, connectors []string) []finding.Step {
	const anno = "strimzi.io/restart-connector"
	var out []finding.Step
	for _, c := range connectors {
		name := f.connectorName(c)
		st := finding.Step{Text: "restart the connector and its tasks", Stops: []string{name}}
		switch {
		case f.v1():
			st.Command = f.kubectl("annotate", "--overwrite "+finding.Quote(anno+"="+name+":includeTasks"))
		case f.tasksOf(c) <= 1:
			st.Command = f.kubectl("annotate", "--overwrite "+finding.Quote(anno+"="+name)+" "+finding.Quote(anno+"-task="+name+":0"))
		default:
			st.Text = "restart the pods, and with them all connectors of the resource: it has several tasks, which this operator restarts only one by one"
			st.Stops = []string{"mirroring of all mirrors of the resource, for the time of a restart"}
			st.Command = "kubectl delete pod" + f.namespace() + " -l " + finding.Quote("strimzi.io/cluster="+f.resource().Name+",strimzi.io/kind=KafkaMirrorMaker2")
			return []finding.Step{st}
		}
		out = append(out, st)
	}
	return out
}

// tasksOf is how many tasks a connector has, or may have.
func (f *flowView) tasksOf(connector string) int {
	n := 0
	for _, t := range f.Tasks.Or(nil) {
		if t.Connector == connector && t.Task >= 0 {
			n++
		}
	}
	if n > 0 {
		return n
	}
	return int(f.seconds(connector, "tasks.max", 1))
}

// statesKnown: the field state came with Strimzi 0.38, the first that had Kafka 3.6; an older operator ignores it.
func (f *flowView) statesKnown() bool {
	return f.v1() || !f.gens.version.IsZero() && f.gens.version.AtLeast(3, 6, 0)
}

// keyState stands for the state that a resource asks of a connector (state, or pause up to v1beta2); it is no setting of
// Kafka's.
const keyState = "state"

// askedToRest says that the resource asks a connector to be paused or stopped. An operator before 0.38, which cannot run Kafka
// 3.5 and newer, knows pause alone.
func (f *flowView) askedToRest(connector string) (snapshot.ConfigEntry, bool) {
	if f.Mode != "strimzi" {
		return snapshot.ConfigEntry{}, false
	}
	f.v.touch(finding.Settings)
	e := find(entriesOf(f.settings.configured, connector), keyState)
	if e == nil || e.Value != "paused" && e.Value != "stopped" {
		return snapshot.ConfigEntry{}, false
	}
	v := f.gens.version
	if !v.IsZero() && v.Before(3, 5, 0) && !slices.Contains(f.resource().Sections, sectionOf(connector)+".pause") {
		return snapshot.ConfigEntry{}, false
	}
	return *e, true
}

// stillWrites says that what a connector writes came a moment ago: then the file is not what runs.
func (f *flowView) stillWrites(connector string) bool {
	var last int64
	if connector == connSource {
		f.v.touch(finding.SyncsTopic)
		last = f.Syncs.Or(snapshot.Syncs{}).Last
	} else {
		f.v.touch(finding.CheckpointSet)
		last = f.Checkpointed.Or(snapshot.Checkpoints{}).Last
	}
	return last > 0 && f.v.now-last < f.emitBudget()
}

func (f *flowView) setState(connector, state string) patchOp {
	return patchOp{Op: "add", Path: f.mirrorPath() + "/" + sectionOf(connector) + "/state", Value: state}
}

func (f *flowView) stateSteps(connectors []string, text, state, undo string) []finding.Step {
	var changes []patchOp
	var shown finding.Observed
	for _, c := range connectors {
		ch := f.setState(c, state)
		changes = append(changes, ch)
		shown = append(shown, finding.Observed{{Name: yamlPath(ch.Path), Value: state}}...)
	}
	st := finding.Step{Text: text, File: f.File, Properties: shown, Command: f.patch(changes...), Undo: undo}
	if state != "running" {
		st.Stops = f.names(connectors)
	}
	return []finding.Step{st}
}

// stopByOperator: a pause is not enough, the checkpoint task's own thread goes on writing group offsets.
func stopByOperator(f *flowView, connectors []string) []finding.Step {
	if f.statesKnown() {
		return f.stateSteps(connectors, "stop in the resource, and wait until the operator has done it: its status shows STOPPED", "stopped", "set the state to running")
	}
	var changes []patchOp
	save := ""
	for _, c := range connectors {
		changes = append(changes, patchOp{Op: "remove", Path: f.mirrorPath() + "/" + sectionOf(c)})
		save += f.kubectl("get", fmt.Sprintf("-o jsonpath='{.spec.mirrors[%d].%s}' > %s && ", f.resource().Mirror, sectionOf(c), saved(sectionOf(c))))
	}
	return []finding.Step{{Text: "keep the sections, then take them out of the resource: the operator deletes the connectors (it cannot stop one before Strimzi 0.38, and a paused task goes on writing group offsets)",
		Stops: f.names(connectors), Undo: "put the sections back", Command: save + f.patch(changes...)}}
}

func startByOperator(f *flowView, connectors []string) []finding.Step {
	if f.statesKnown() {
		return f.stateSteps(connectors, "let run again", "running", "")
	}
	var out []finding.Step
	for _, c := range connectors {
		ch := patchOp{Op: "add", Path: f.mirrorPath() + "/" + sectionOf(c), Value: "@"}
		file := `'"$(cat ` + saved(sectionOf(c)) + `)"'` // between two parts of the quoted patch
		out = append(out, finding.Step{Text: "put the section of " + f.connectorName(c) + " back", Command: strings.Replace(f.patch(ch), `"@"`, file, 1)})
	}
	return out
}

// claimedBy says who tells the version of MirrorMaker 2 that a look carries.
func (f *flowView) claimedBy() string { return cmp.Or(f.v.snap.MM2VersionFrom, "--mm2-version") }

func resumeByOperator(f *flowView, connector string) finding.Step {
	if slices.Contains(f.resource().Sections, sectionOf(connector)+".pause") {
		ch := patchOp{Op: "add", Path: f.mirrorPath() + "/" + sectionOf(connector) + "/pause", Value: false}
		return finding.Step{Text: "end the pause in the resource", File: f.File, Properties: finding.Observed{{Name: yamlPath(ch.Path), Value: "false"}}, Command: f.patch(ch)}
	}
	return f.stateSteps([]string{connector}, "let the connector run in the resource", "running", "")[0]
}

// ownedByStrimzi is what the other operators of Strimzi take back.
var ownedByStrimzi = []owned{
	{[]string{"kafka-acls.sh"}, "Where the principal is a KafkaUser, write the rule into its spec.authorization.acls instead: the User Operator takes away rules that it does not know."},
	{[]string{"kafka-topics.sh --create", " --alter --topic ", "kafka-configs.sh"}, "Where the topic is a KafkaTopic, change that resource instead: the Topic Operator sets back what differs."},
}

// applyFix gives the file to the operator again, and asks what it makes of it.
func (f *flowView) applyFix(text string, waitMs int64) finding.Fix {
	return finding.Fix{Mode: "strimzi", Text: text, WaitSeconds: int(waitMs / 1000), Steps: []finding.Step{
		{Text: "apply it", Command: "kubectl apply" + f.namespace() + " -f " + finding.Quote(cmp.Or(f.File, f.resource().Name+".yaml"))},
		{Text: "read what the operator could not do", Command: f.kubectl("get", "-o jsonpath='{.status.conditions}'")}}}
}

// addSectionFix gives the mirror its checkpoint connector.
func addSectionFix(f *flowView, waitMs int64) finding.Fix {
	if slices.Contains(f.resource().Sections, "checkpointConnector") {
		return f.applyFix("The resource has a checkpointConnector, and the operator has not made it: apply the resource, and read its conditions.", waitMs)
	}
	fix := finding.Fix{Mode: "strimzi", WaitSeconds: int(waitMs / 1000)}
	fix.Text = "Add a checkpointConnector to the mirror, with the same replication policy and offset-syncs.topic.location as the sourceConnector."
	config, shown := map[string]any{keySyncEnabled: true}, finding.Observed{}
	for _, key := range []string{"replication.policy.class", "replication.policy.separator", keyLocation} {
		if e, st := f.setting(connSource, key).Get(); st == snapshot.Known && !e.Default {
			config[key] = typed(e.Value)
		}
	}
	path := f.mirrorPath() + "/checkpointConnector"
	keys := slices.Sorted(maps.Keys(config))
	for _, key := range keys {
		shown = append(shown, snapshot.Named{Name: yamlPath(path+"/config") + "." + key, Value: fmt.Sprint(config[key])})
	}
	fix.Steps = []finding.Step{{Text: "add it to the resource", File: f.File, Properties: shown, Command: f.patch(patchOp{Op: "add", Path: path, Value: map[string]any{"config": config}}), Undo: "take the section out again"}}
	return fix
}

// upgradeInResource: the operator runs the Kafka versions that it knows.
func upgradeInResource(f *flowView, to mm2.Version) finding.Step {
	return finding.Step{Text: "upgrade in the resource, to a version that the operator supports; an older operator has to be upgraded first", File: f.File,
		Properties: finding.Observed{{Name: "spec.version", Value: to.String() + " or newer"}}, Stops: []string{"mirroring of all mirrors of the resource, pod by pod"}}
}
