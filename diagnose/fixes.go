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
	return settingsFix(f, text, f.readers(key), finding.Observed{{Name: key, Value: value}}, waitMs)
}

// settingsFix gives settings to the named connectors alone; in dedicated mode a flow has one set of them for all.
func settingsFix(f *flowView, text string, connectors []string, values finding.Observed, waitMs int64) finding.Fix {
	steps := f.mode().set(f, connectors, values)
	if f.mode().restartsItself {
		text = strings.ReplaceAll(text, ", then restart MirrorMaker 2", "")
	} else {
		steps = append(steps, restartStep(f))
	}
	return finding.Fix{Mode: f.fixMode(), Text: text, Steps: steps, WaitSeconds: int(waitMs / 1000)}
}

// brokerStep sets a broker's read-only setting, which Kafka takes from the broker's own file when it starts.
func brokerStep(c *clusterView, key string, value any) finding.Step {
	return finding.Step{Text: fmt.Sprintf("set it for every broker of %s and restart them one by one: it is no dynamic setting. Where an operator runs the brokers, it stands in that operator's resource (Strimzi: spec.kafka.config of the Kafka)", c.Alias),
		File: "server.properties of each broker", Properties: finding.Observed{{Name: key, Value: fmt.Sprint(value)}}, Stops: []string{"one broker of " + c.Alias + " at a time"}, Undo: "set it back, and restart the brokers one by one"}
}

// forgetStep deletes the checkpoints topic, while nothing writes it.
func (f *flowView) forgetStep() finding.Step {
	return finding.Step{Text: "delete the checkpoints topic; it is made again at the start", Command: topicsCommand(f.dst, "--delete --topic "+finding.Quote(f.Checkpoints)), Destructive: true, Undo: "none needed: MirrorMaker 2 writes it anew"}
}

// rewriteFix repairs a wrong number that MirrorMaker 2 would write again: up to 3.4.0 it computes it anew, from 3.7.1 on it
// loads the old checkpoint when it starts. So the process stops first and the checkpoints topic goes.
func rewriteFix(f *flowView, gps []groupPartition, fixedIn string) finding.Fix {
	return rewriteWhile(f, []string{connCheckpoint}, gps, fixedIn)
}

// rewriteWhile does it while these connectors are stopped, and more first.
func rewriteWhile(f *flowView, stopped []string, gps []groupPartition, fixedIn string, first ...finding.Step) finding.Fix {
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
	steps := first
	if fixedIn != "" {
		steps = append(steps, upgradeStep(f, mm2.V(3, 7, 1)))
	}
	steps = append(append(steps, f.forgetStep()), deleteOffsets(f, gps)...)
	fix.Steps = f.whileStopped(stopped, steps...)
	return fix
}

func upgradeStep(f *flowView, to mm2.Version) finding.Step {
	switch f.fixMode() {
	case "strimzi":
		return upgradeInResource(f, to)
	case "msk-connect":
		return finding.Step{Text: "upgrade the Connect workers to " + to.String() + " or newer: create the connectors again with that kafkaConnectVersion", Stops: f.names(bothConnectors)}
	case "connect":
		return finding.Step{Text: "upgrade the Connect workers to " + to.String() + " or newer, one after the other", Stops: []string{"each worker's tasks while it restarts"}}
	}
	return finding.Step{Text: "upgrade MirrorMaker 2 to " + to.String() + " or newer", Stops: []string{"mirroring of all flows of that process, for the time of a restart"}}
}

// discoveryStart is the time that MirrorMaker 2 needs after a start until its tasks run.
func (f *flowView) discoveryStart() int64 { return 30_000 }
