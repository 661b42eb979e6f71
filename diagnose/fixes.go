package diagnose

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// restartStep starts the checkpoint connector again; in dedicated mode that is the whole process.
func restartStep(f *flowView) finding.Step { return restartSteps(f, connCheckpoint)[0] }

// restartSteps starts connectors again: each by itself where the mode can, in dedicated mode the whole process.
func restartSteps(f *flowView, connectors ...string) []finding.Step {
	return f.mode().restart(f, connectors)
}

// resumeStep takes a paused or stopped connector up again.
func resumeStep(f *flowView, connector string) finding.Step { return f.mode().resume(f, connector) }

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

// propertyFix sets one connector setting where this MirrorMaker 2 takes it from.
func propertyFix(f *flowView, text, key, value string, waitMs int64) finding.Fix {
	steps := f.mode().set(f, key, value)
	if f.mode().restartsItself {
		text = strings.ReplaceAll(text, ", then restart MirrorMaker 2", "")
	} else {
		steps = append(steps, restartStep(f))
	}
	return finding.Fix{Mode: f.fixMode(), Text: text, Steps: steps, WaitSeconds: int(waitMs / 1000)}
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
	who := "MirrorMaker 2"
	if f.onConnect() {
		who = "the checkpoint connector"
	}
	fix.Text = fmt.Sprintf("Stop %s, delete its checkpoints and the wrong offsets of idle groups on %s, then start it again.%s", who, f.Target, upgrade)
	fix.Steps = f.mode().stop(f, []string{connCheckpoint})
	if fixedIn != "" {
		fix.Steps = append(fix.Steps, upgradeStep(f, mm2.V(3, 7, 1)))
	}
	fix.Steps = append(fix.Steps,
		finding.Step{Text: "delete the checkpoints topic; it is made again at the start", Command: "kafka-topics.sh --bootstrap-server " + bootstrapOf(f.dst) + " --delete --topic " + quote(f.Checkpoints), Destructive: true, Undo: "none needed: MirrorMaker 2 writes it anew"})
	fix.Steps = append(fix.Steps, deleteOffsets(f, gps)...)
	fix.Steps = append(fix.Steps, f.mode().start(f, []string{connCheckpoint})...)
	return fix
}

func upgradeStep(f *flowView, to mm2.Version) finding.Step {
	if f.fixMode() == "strimzi" {
		return upgradeInResource(f, to)
	}
	return finding.Step{Text: "upgrade MirrorMaker 2 to " + to.String() + " or newer"}
}

// discoveryStart is the time that MirrorMaker 2 needs after a start until its tasks run.
func (f *flowView) discoveryStart() int64 { return 30_000 }
