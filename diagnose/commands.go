package diagnose

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// bootstrapOf is what a printed command connects to, with the client properties the operator gave.
func bootstrapOf(c *clusterView) string {
	if c == nil || len(c.Bootstrap) == 0 {
		return "BOOTSTRAP"
	}
	s := quote(strings.Join(c.Bootstrap, ","))
	if c.CommandConfig != "" {
		s += " --command-config " + quote(c.CommandConfig)
	}
	return s
}

// consumerBootstrapOf is the same for the console consumer, which calls the option otherwise.
func consumerBootstrapOf(c *clusterView) string {
	return strings.Replace(bootstrapOf(c), " --command-config ", " --consumer.config ", 1)
}

func groupsCommand(c *clusterView, args string) string {
	return "kafka-consumer-groups.sh --bootstrap-server " + bootstrapOf(c) + " " + args
}

func groupCommand(c *clusterView, group string) finding.Command {
	return finding.Command{Cluster: c.Alias, Command: groupsCommand(c, "--describe --group "+quote(group)), Shows: "CURRENT-OFFSET and LOG-END-OFFSET"}
}

const formatters = "org.apache.kafka.connect.mirror.formatters."

// recordsCommand prints a whole topic: as many records as it had when it was read, since a topic that is written all the time
// would never let the console consumer time out.
func recordsCommand(c *clusterView, topic string, records int64, formatter, shows string) finding.Command {
	cmd := "kafka-console-consumer.sh --bootstrap-server " + consumerBootstrapOf(c) + " --topic " + quote(topic) + " --from-beginning --timeout-ms 10000"
	if records > 0 {
		cmd += fmt.Sprintf(" --max-messages %d", records)
	}
	if formatter == "" {
		cmd += " --property print.key=true"
	} else {
		cmd += " --formatter " + formatters + formatter
	}
	return finding.Command{Cluster: c.Alias, Shows: shows, Command: cmd}
}

func syncsCommand(f *flowView) finding.Command {
	return recordsCommand(f.v.clusters[f.SyncsOn], f.SyncsTopic, f.Syncs.Or(snapshot.Syncs{}).Records, "OffsetSyncFormatter", "the offset syncs of each partition")
}

func checkpointsCommand(f *flowView) finding.Command {
	return recordsCommand(f.dst, f.Checkpoints, f.Checkpointed.Or(snapshot.Checkpoints{}).Records, "CheckpointFormatter", "the checkpoints of each group")
}

// statusCommand shows what MirrorMaker 2 says of the checkpoint connector and its tasks.
func statusCommand(f *flowView) finding.Command { return statusOf(f, connCheckpoint) }

// statusOf shows what MirrorMaker 2 says of a connector and its tasks; in dedicated mode of all three.
func statusOf(f *flowView, connector string) finding.Command {
	if f.Mode == "connect" {
		return f.restCommand(connector, "/status", "state and trace of the connector and its tasks")
	}
	return recordsCommand(f.dst, "mm2-status."+f.Source+".internal", 0, "", "state and trace of connectors and tasks, newest last")
}

// assignedCommand shows the groups that the checkpoint tasks were given.
func assignedCommand(f *flowView) finding.Command {
	if f.Mode == "connect" {
		return f.restCommand(connCheckpoint, "/tasks", "task.assigned.groups of each task")
	}
	return recordsCommand(f.dst, "mm2-configs."+f.Source+".internal", 0, "", "task.assigned.groups in the newest task-MirrorCheckpointConnector records")
}

func (f *flowView) restCommand(connector, path, shows string) finding.Command {
	return finding.Command{Cluster: f.Target, Shows: shows, Command: "curl -sS " + f.restURL(connector, path)}
}
