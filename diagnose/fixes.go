package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
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

func restartStep(f *flowView) finding.Step {
	if f.fixMode() == "connect" {
		return finding.Step{Text: "restart the connector and its tasks", Stops: []string{connCheckpoint}, Command: ""}
	}
	return finding.Step{Text: restartText, Stops: []string{"mirroring of all flows of that process, for the time of a restart"}}
}

func restartFix(f *flowView, text string, waitMs int64, before ...finding.Step) finding.Fix {
	return finding.Fix{Mode: f.fixMode(), Text: text, Steps: append(before, restartStep(f)), WaitSeconds: int(waitMs / 1000)}
}

// propertyFix sets one connector setting: in the operator's file with the flow's prefix, which outranks every other place.
func propertyFix(f *flowView, text, key, value string, waitMs int64) finding.Fix {
	step := finding.Step{Text: "set in the connector's configuration", Properties: finding.Observed{{Name: key, Value: value}}}
	if f.fixMode() == "dedicated" {
		file := f.File
		step.Text = "set it for the flow"
		step.File = file
		step.Properties = finding.Observed{{Name: f.Name() + "." + key, Value: value}}
		if e, st := f.setting(connCheckpoint, key).Get(); st == snapshot.Known && !e.Default && e.Value != "" {
			step.Undo = fmt.Sprintf("set it back to %q", e.Value)
		}
	}
	return finding.Fix{Mode: f.fixMode(), Text: text, Steps: []finding.Step{step, restartStep(f)}, WaitSeconds: int(waitMs / 1000)}
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
