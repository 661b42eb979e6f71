package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// fixMode is the way of running MirrorMaker 2 that a fix is written for.
func (f *flowView) fixMode() string {
	if f.Mode == "connect" {
		return "connect"
	}
	return "dedicated"
}

// restartText is the one instruction that a reader, or a script, recognises as "stop the process and start it again".
const restartText = "restart MirrorMaker 2"

// restartStep starts the checkpoint connector again; in dedicated mode that is the whole process.
func restartStep(f *flowView) finding.Step { return restartSteps(f, connCheckpoint)[0] }

// restartSteps starts connectors again: in Connect mode each by itself, in dedicated mode the whole process.
func restartSteps(f *flowView, connectors ...string) []finding.Step {
	if f.fixMode() != "connect" {
		return []finding.Step{{Text: restartText, Stops: []string{"mirroring of all flows of that process, for the time of a restart"}}}
	}
	out := make([]finding.Step, 0, len(connectors))
	for _, c := range connectors {
		out = append(out, finding.Step{Text: "restart the connector and its tasks", Stops: []string{f.connectorName(c)}, Command: f.restartCommand(c)})
	}
	return out
}

// restartCommand restarts a connector with its tasks: in one call from Connect 3.0 on (KIP-745), before that one by one.
func (f *flowView) restartCommand(connector string) string {
	v, err := mm2.ParseVersion(f.WorkerVersion)
	if f.WorkerVersion == "" || err != nil || v.AtLeast(3, 0, 0) {
		return "curl -sS -X POST " + f.restURL(connector, "/restart?includeTasks=true")
	}
	cmd := "curl -sS -X POST " + f.restURL(connector, "/restart")
	for _, t := range f.Tasks.Or(nil) {
		if t.Connector == connector && t.Task >= 0 {
			cmd += fmt.Sprintf(" && curl -sS -X POST %s", f.restURL(connector, fmt.Sprintf("/tasks/%d/restart", t.Task)))
		}
	}
	return cmd
}

// resumeStep takes a paused or stopped connector up again.
func resumeStep(f *flowView, connector string) finding.Step {
	return finding.Step{Text: "resume the connector", Command: "curl -sS -X PUT " + f.restURL(connector, "/resume")}
}

// restURL is a connector's address in Connect's REST interface, quoted for a shell.
func (f *flowView) restURL(class, path string) string {
	return quote(cmp.Or(f.ConnectURL, "http://CONNECT:8083") + "/connectors/" + f.connectorName(class) + path)
}

// connectorName is what the operator calls a connector: its name in Connect, its class in dedicated mode.
func (f *flowView) connectorName(class string) string {
	switch {
	case class == connSource && f.SourceConnector != "":
		return f.SourceConnector
	case class == connCheckpoint && f.CheckpointConnector != "":
		return f.CheckpointConnector
	}
	return class
}

// restartFix restarts the checkpoint connector, restartSourceFix the source connector; a fault of both is restartOf's.
func restartFix(f *flowView, text string, waitMs int64, before ...finding.Step) finding.Fix {
	return restartOf(f, []string{connCheckpoint}, text, waitMs, before...)
}

func restartSourceFix(f *flowView, text string, waitMs int64, before ...finding.Step) finding.Fix {
	return restartOf(f, []string{connSource}, text, waitMs, before...)
}

func restartOf(f *flowView, connectors []string, text string, waitMs int64, before ...finding.Step) finding.Fix {
	return finding.Fix{Mode: f.fixMode(), Text: text, Steps: append(before, restartSteps(f, connectors...)...), WaitSeconds: int(waitMs / 1000)}
}

// propertyFix sets one connector setting: in the operator's file with the flow's prefix, which outranks every other place.
func propertyFix(f *flowView, text, key, value string, waitMs int64) finding.Fix {
	step := finding.Step{Text: "set in the configuration of " + f.connectorsOf(key), Properties: finding.Observed{{Name: key, Value: value}}}
	if f.fixMode() == "dedicated" {
		file := f.File
		step.Text = "set it for the flow"
		step.File = file
		step.Properties = finding.Observed{{Name: f.Name() + "." + key, Value: value}}
		if e, st := f.setting(connCheckpoint, key).Get(); st == snapshot.Known && !e.Default && e.Value != "" {
			step.Undo = fmt.Sprintf("set it back to %q", e.Value)
		}
	}
	steps := []finding.Step{step}
	if f.fixMode() == "dedicated" {
		steps = append(steps, restartStep(f)) // Connect restarts a connector by itself when its configuration changes
	} else {
		text = strings.ReplaceAll(text, ", then restart MirrorMaker 2", "")
	}
	return finding.Fix{Mode: f.fixMode(), Text: text, Steps: steps, WaitSeconds: int(waitMs / 1000)}
}

// connectorsOf names the connectors that read a key.
func (f *flowView) connectorsOf(key string) string {
	if strings.HasPrefix(key, "topics") {
		return f.connectorName(connSource) + " and " + f.connectorName(connCheckpoint)
	}
	return f.connectorName(connCheckpoint)
}

// rewriteFix repairs a wrong number that MirrorMaker 2 would write again: up to 3.4.0 it computes it anew, from 3.7.1 on it
// loads the old checkpoint when it starts. So the process stops first and the checkpoints topic goes.
func rewriteFix(f *flowView, gps []groupPartition, fixedIn string) finding.Fix {
	fix := finding.Fix{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.emitBudget() + f.commitBudget()) / 1000)}
	if v := f.gens.version; !v.IsZero() && !v.Before(3, 7, 1) {
		fixedIn = "" // the number was left by an older version
	}
	upgrade := ""
	if fixedIn != "" {
		upgrade = " An older version writes the wrong number again: 3.4.1 and 3.5.0 are the first without this fault; 3.7.1 or newer is better, it also keeps its history over a restart."
	}
	fix.Text = fmt.Sprintf("Stop MirrorMaker 2, delete its checkpoints and the wrong offsets of idle groups on %s, then start it again.%s", f.Target, upgrade)
	fix.Steps = []finding.Step{{Text: "stop MirrorMaker 2", Stops: []string{"mirroring of all flows of that process"}, Undo: "start it again"}}
	if fixedIn != "" {
		fix.Steps = append(fix.Steps, finding.Step{Text: "upgrade MirrorMaker 2 to 3.7.1 or newer"})
	}
	fix.Steps = append(fix.Steps,
		finding.Step{Text: "delete the checkpoints topic; it is made again at the start", Command: "kafka-topics.sh --bootstrap-server " + bootstrapOf(f.dst) + " --delete --topic " + quote(f.Checkpoints), Destructive: true, Undo: "none needed: MirrorMaker 2 writes it anew"})
	fix.Steps = append(fix.Steps, deleteOffsets(f, gps)...)
	fix.Steps = append(fix.Steps, finding.Step{Text: "start MirrorMaker 2"})
	return fix
}

// discoveryStart is the time that MirrorMaker 2 needs after a start until its tasks run.
func (f *flowView) discoveryStart() int64 { return 30_000 }
