package diagnose

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
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

func recordsCommand(c *clusterView, topic, formatter, shows string) finding.Command {
	return finding.Command{Cluster: c.Alias, Shows: shows,
		Command: "kafka-console-consumer.sh --bootstrap-server " + consumerBootstrapOf(c) + " --topic " + quote(topic) + " --from-beginning --timeout-ms 10000 --formatter " + formatters + formatter}
}

func syncsCommand(f *flowView) finding.Command {
	return recordsCommand(f.v.clusters[f.SyncsOn], f.SyncsTopic, "OffsetSyncFormatter", "the offset syncs of each partition")
}

func checkpointsCommand(f *flowView) finding.Command {
	return recordsCommand(f.dst, f.Checkpoints, "CheckpointFormatter", "the checkpoints of each group")
}

// statusCommand shows what MirrorMaker 2 in dedicated mode says of its connectors and tasks.
func statusCommand(f *flowView) finding.Command {
	c := recordsCommand(f.dst, "mm2-status."+f.Source+".internal", "", "state and trace of connectors and tasks, newest last")
	c.Command = strings.TrimSuffix(c.Command, " --formatter "+formatters) + " --property print.key=true"
	return c
}

// assignedCommand shows the groups that the checkpoint tasks were given.
func assignedCommand(f *flowView) finding.Command {
	c := recordsCommand(f.dst, "mm2-configs."+f.Source+".internal", "", "task.assigned.groups in the newest task-MirrorCheckpointConnector records")
	c.Command = strings.TrimSuffix(c.Command, " --formatter "+formatters) + " --property print.key=true"
	return c
}
