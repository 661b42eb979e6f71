package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// The check 608: the configuration that runs is not the one in the operator's file.

// fileAndWorkerRead: with bare addresses there is nothing to compare with; nor where nobody looked for what runs.
func fileAndWorkerRead(_ *View, s subject) bool {
	f := s.flow
	return asked(f.Configured) && asked(f.Running) && (f.Configured.Unknown() || f.Configured.Or(snapshot.Connectors{}).Enabled)
}

// decides are the settings that decide in the chain, with the connectors that read them.
var decides = []struct {
	key string
	by  []string
}{
	{keySourceAlias, []string{connSource, connCheckpoint}}, {keyTargetAlias, []string{connSource, connCheckpoint}},
	{keyTopics, []string{connSource, connCheckpoint}}, {keyTopicsExclude, []string{connSource, connCheckpoint}},
	{keyGroups, []string{connCheckpoint}}, {keyGroupsExclude, []string{connCheckpoint}},
	{keyPolicyClass, []string{connSource, connCheckpoint}}, {keySeparator, []string{connSource, connCheckpoint}}, {keyInternalSeparator, []string{connSource, connCheckpoint}},
	{keyLocation, []string{connSource, connCheckpoint}}, {"emit.offset-syncs.enabled", []string{connSource, connCheckpoint}}, {"offset.lag.max", []string{connSource}},
	{keyEmitEnabled, []string{connCheckpoint}}, {keyEmitInterval, []string{connCheckpoint}}, {keySyncEnabled, []string{connCheckpoint}}, {keySyncInterval, []string{connCheckpoint}},
	{"refresh.groups.enabled", []string{connCheckpoint}}, {keyRefreshGroups, []string{connCheckpoint}}, {"refresh.topics.enabled", []string{connSource}}, {keyRefreshTopics, []string{connSource}},
}

// olderName is the name that a list had before 2.7 and may still have up to 3.9.
var olderName = map[string]string{keyTopicsExclude: "topics.blacklist", keyGroupsExclude: "groups.blacklist"}

// notInForce is one setting that runs otherwise than the file says.
type notInForce struct {
	key, connector string
	file, running  snapshot.ConfigEntry
}

// differences compares key by key what decides. MirrorMaker 2 stores what it was given: values are compared as ConfigDef reads
// them, lists without regard to order, and a default equals a default, whatever the release.
func (f *flowView) differences() []notInForce {
	f.v.touch(finding.Configured | finding.Running | finding.Generation)
	var out []notInForce
	for _, d := range decides {
		k, ok := conf.LookupKey(d.key)
		if !ok || !k.In(f.gens.version) {
			continue
		}
		for _, connector := range d.by {
			file, run := entriesOf(f.settings.configured, connector), entriesOf(f.settings.running, connector)
			if len(file) == 0 || len(run) == 0 {
				continue // one file of two, or a connector that does not exist
			}
			if old := olderName[d.key]; old != "" && (written(file, old) || written(run, old)) {
				continue
			}
			a, b := find(file, d.key), find(run, d.key)
			if a == nil || b == nil || a.Default && b.Default || a.Default != b.Default && f.gens.version.IsZero() && len(k.Defaults) > 1 || sameValue(k.Type, a.Value, b.Value) {
				continue
			}
			if strings.Contains(a.Value+b.Value, "${") {
				continue // up to 3.4 the driver, from 3.5.0 on the worker puts the value in
			}
			out = append(out, notInForce{d.key, connector, *a, *b})
			break
		}
	}
	return out
}

func written(es []snapshot.ConfigEntry, key string) bool {
	e := find(es, key)
	return e != nil && !e.Default
}

func sameValue(t conf.Type, a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	switch t {
	case conf.Boolean:
		return strings.EqualFold(a, b)
	case conf.List:
		return slices.Equal(parts(a), parts(b))
	case conf.Int, conf.Short, conf.Long:
		return strings.TrimPrefix(a, "+") == strings.TrimPrefix(b, "+")
	}
	return a == b
}

// parts are the elements of a list setting, sorted; a comma at the end adds none.
func parts(s string) []string {
	var out []string
	for p := range strings.SplitSeq(s, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkInForce: after a start with a changed file the stored configuration runs until the leader has posted the new one, so the
// first minute decides nothing.
func checkInForce(v *View, s subject) *finding.Finding {
	f := s.flow
	run, st := f.Running.Get()
	diff := f.differences()
	start, started := f.connectorStart(connCheckpoint)
	v.touch(finding.Tasks)
	if st != snapshot.Known || len(diff) == 0 || started && v.now-start < startGrace {
		return nil
	}
	fd := &finding.Finding{Subject: finding.Subject{File: diff[0].file.File, Line: diff[0].file.Line, Key: diff[0].key}}
	var words []string
	for _, d := range diff {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: d.key, Value: fmt.Sprintf("file %q (%s), running %q", d.file.Value, where(d.file), shownDefault(d.running))})
		words = append(words, d.key)
	}
	if run.Time > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "stored", Value: age(v.now-run.Time) + " ago"})
	}
	if started {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "connector started", Value: age(v.now-start) + " ago"})
	}
	fd.Because = fmt.Sprintf("MirrorMaker 2 runs with other settings than the file says: %s", list(words, 5))
	fd.Consequence = "The file's values have no effect. The doctor judges by what runs."
	if slices.ContainsFunc(diff, func(d notInForce) bool { return slices.Contains(namesTopics, d.key) }) {
		fd.Consequence = "The file's values have no effect. The doctor looked for topics by the names that follow from the file, where what runs uses others: what is missing by those names may well be there. " +
			"With the settings that run in the file, diagnose again."
	}
	wait := f.discoveryStart() + f.emitBudget() + f.commitBudget()
	switch f.fixMode() {
	case "connect", "msk-connect":
		fd.Because += "; Connect runs what was last sent to it, a changed file alone changes nothing"
		fd.Confirm = []finding.Command{configOf(f, connCheckpoint, "the settings in force"), configOf(f, connSource, "the settings in force")}
		fd.Fixes = []finding.Fix{f.sendFix(diff, wait)}
		return fd
	case "strimzi":
		fd.Because += ". Either the resource was not applied since the file was changed, or the operator could not carry it out, which its conditions tell"
		fd.Confirm = []finding.Command{configOf(f, connCheckpoint, "the settings in force"), {Cluster: f.Target, Command: f.kubectl("get", "-o yaml"), Shows: "spec.mirrors: what the operator was given; status.conditions: what it could not do"}}
		fd.Fixes = []finding.Fix{f.applyFix("If the file is what is meant: apply it, and read the resource's conditions. Else correct the file.", wait)}
		return fd
	}
	fd.Confirm = []finding.Command{recordsCommand(f.dst, f.workerTopic("config"), 0, "", "the newest connector-MirrorCheckpointConnector and connector-MirrorSourceConnector records")}
	version := f.gens.version
	old := version.IsZero() || version.Before(3, 6, 2)
	fd.Because += ". Either it was not restarted since the file was changed"
	if old {
		fd.Because += ", or restarted node by node: up to 3.6.1 only a node that leads the workers' group when it starts hands its file on; a follower logs `Using existing connector configuration` or `Using existing configuration` (KAFKA-15372)"
	}
	if version.IsZero() || version.AtLeast(3, 6, 2) {
		fd.Because += ", or the leader could not post it (`Failed to configure` in its log; from 3.9.0 on emit.checkpoints.enabled=false is refused)"
	}
	if signs := f.signs("KAFKA-15372"); len(signs) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "log", Value: signs[0].Text})
	}
	text := "If the file is what is meant: "
	if !version.IsZero() && version.Before(3, 6, 2) {
		fd.Bugs = []string{"KAFKA-15372"}
		if version.Before(3, 5, 0) {
			fd.Bugs = append(fd.Bugs, "KAFKA-9981")
		}
	}
	steps := []finding.Step{{Text: restartText, Stops: []string{"mirroring of all flows of that process, for the time of a restart"}}}
	if old {
		text += "stop all nodes of MirrorMaker 2, then start them. From 3.6.2 and 3.7.0 on whichever node leads posts its file."
		steps = []finding.Step{{Text: "stop MirrorMaker 2 on all nodes", Stops: []string{"mirroring of all flows of these nodes"}, Undo: "start it again"}, {Text: startText}}
	} else {
		text += "see that every node has it, then restart MirrorMaker 2, and look for `Failed to configure` in the log of the node that leads."
	}
	if version.IsZero() || version.AtLeast(3, 5, 0) {
		text += " With several nodes also set dedicated.mode.enable.internal.rest = true and listeners (KIP-710, 3.5.0)."
	}
	fd.Fixes = []finding.Fix{{Mode: "dedicated", Text: text, Steps: steps, WaitSeconds: int(wait / 1000)}}
	return fd
}

// sendFix sends what the file says to Connect, connector by connector.
func (f *flowView) sendFix(diff []notInForce, waitMs int64) finding.Fix {
	fix := finding.Fix{Mode: f.fixMode(), Text: "If the file is what is meant, send it to Connect; the connector restarts by itself. Else correct the file.", WaitSeconds: int(waitMs / 1000)}
	for _, c := range bothConnectors {
		var values finding.Observed
		for _, d := range diff {
			if d.connector == c {
				values = append(values, snapshot.Named{Name: d.key, Value: d.file.Value})
			}
		}
		if len(values) > 0 {
			fix.Steps = append(fix.Steps, f.mode().set(f, []string{c}, values)...)
		}
	}
	return fix
}

func shownDefault(e snapshot.ConfigEntry) string {
	if e.Default {
		return e.Value + " by default"
	}
	return e.Value
}

// differsIn says that a finding 608 speaks of a setting, so that what follows from its running value follows from the difference.
func differsIn(key string) func(cause, effect *raw) bool {
	return func(cause, _ *raw) bool {
		return slices.ContainsFunc(cause.f.Observed, func(n snapshot.Named) bool { return n.Name == key })
	}
}

// namesTopics are the settings that topics are called by, and looked for.
var namesTopics = []string{keySourceAlias, keyTargetAlias, keyPolicyClass, keySeparator, keyInternalSeparator, keyLocation}

// otherNames says that what runs calls its topics otherwise than the file: what is missing by the file's names follows from that.
func otherNames(cause, _ *raw) bool {
	return slices.ContainsFunc(namesTopics, func(key string) bool { return differsIn(key)(cause, nil) })
}

// disabledByDifference: only a connector that a setting switched off follows from the setting.
func disabledByDifference(cause, effect *raw) bool {
	return effect.f.Slug == "checkpoints-disabled" && differsIn(keyEmitEnabled)(cause, effect)
}
