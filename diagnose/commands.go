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
	s := finding.Quote(strings.Join(c.Bootstrap, ","))
	if c.CommandConfig != "" {
		s += " --command-config " + finding.Quote(c.CommandConfig)
	}
	return s
}

// consumerBootstrapOf is the same for the console consumer, which calls the option otherwise.
func consumerBootstrapOf(c *clusterView) string {
	return strings.Replace(bootstrapOf(c), " --command-config ", " --consumer.config ", 1)
}

// producerBootstrapOf is the same for the console producer.
func producerBootstrapOf(c *clusterView) string {
	return strings.Replace(bootstrapOf(c), " --command-config ", " --producer.config ", 1)
}

// evidence is what a command of mm2doctor is given to look at this flow.
func (f *flowView) evidence() string {
	out := "mm2.properties"
	switch {
	case f.File != "":
		out = finding.Quote(f.File)
	case f.ConnectURL != "":
		out = "--connect-url " + finding.Quote(f.ConnectURL)
	case len(f.src.Bootstrap) > 0 && len(f.dst.Bootstrap) > 0:
		return evidenceOf("--source", f.Source+"=", f.src) + " " + evidenceOf("--target", f.Target+"=", f.dst)
	}
	if c := f.src.CommandConfig; c != "" {
		out += " --source-config " + finding.Quote(c)
	}
	if c := f.dst.CommandConfig; c != "" {
		out += " --target-config " + finding.Quote(c)
	}
	return out
}

// evidenceOf names one cluster by its address.
func evidenceOf(flag, alias string, c *clusterView) string {
	out := flag + " " + finding.Quote(alias+strings.Join(c.Bootstrap, ","))
	if c.CommandConfig != "" {
		out += " " + flag + "-config " + finding.Quote(c.CommandConfig)
	}
	return out
}

// translateCommand is mm2doctor translate for this flow.
func (f *flowView) translateCommand(args ...string) string {
	out := "mm2doctor translate " + f.evidence() + " --flow " + finding.Quote(f.Source+":"+f.Target)
	for i := 0; i+1 < len(args); i += 2 {
		out += " " + args[i]
		if args[i+1] != "" {
			out += " " + finding.Quote(args[i+1])
		}
	}
	return out
}

func groupsCommand(c *clusterView, args string) string {
	return "kafka-consumer-groups.sh --bootstrap-server " + bootstrapOf(c) + " " + args
}

func groupCommand(c *clusterView, group string) finding.Command {
	return finding.Command{Cluster: c.Alias, Command: groupsCommand(c, "--describe --group "+finding.Quote(group)), Shows: "CURRENT-OFFSET and LOG-END-OFFSET"}
}

const formatters = "org.apache.kafka.connect.mirror.formatters."

// recordsCommand prints a whole topic: as many records as it had when it was read, since a topic that is written all the time
// would never let the console consumer time out.
func recordsCommand(c *clusterView, topic string, records int64, formatter, shows string) finding.Command {
	cmd := "kafka-console-consumer.sh --bootstrap-server " + consumerBootstrapOf(c) + " --topic " + finding.Quote(topic) + " --from-beginning --timeout-ms 10000"
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

// listCommand tells whether a topic is there. A console consumer would make a topic that is not (auto.create.topics.enable, on by default).
func listCommand(c *clusterView, topic string) finding.Command {
	return listTopics(c, "whether "+topic+" is there")
}

func syncsCommand(f *flowView) finding.Command {
	if f.Syncs.Absent() {
		return listCommand(f.syncsCluster(), f.SyncsTopic)
	}
	return recordsCommand(f.syncsCluster(), f.SyncsTopic, f.Syncs.Or(snapshot.Syncs{}).Records, "OffsetSyncFormatter", "the offset syncs of each partition")
}

func checkpointsCommand(f *flowView) finding.Command {
	if f.Checkpointed.Absent() {
		return listCommand(f.dst, f.Checkpoints)
	}
	return recordsCommand(f.dst, f.Checkpoints, f.Checkpointed.Or(snapshot.Checkpoints{}).Records, "CheckpointFormatter", "the checkpoints of each group")
}

// statusCommand shows what MirrorMaker 2 says of the checkpoint connector and its tasks.
func statusCommand(f *flowView) finding.Command { return statusOf(f, connCheckpoint) }

// statusOf shows what MirrorMaker 2 says of a connector and its tasks; in dedicated mode of all three.
func statusOf(f *flowView, connector string) finding.Command {
	switch f.Mode {
	case "connect":
		return f.restCommand(connector, "/status", "state and trace of the connector and its tasks")
	case "strimzi":
		return finding.Command{Cluster: f.Target, Shows: "state and trace of " + f.connectorName(connector) + " and its tasks", Command: f.kubectl("get", "-o jsonpath='{.status.connectors}'")}
	case "msk-connect":
		return finding.Command{Cluster: f.Target, Shows: "connectorState", Command: "aws kafkaconnect describe-connector " + mskArn(f, connector)}
	}
	return recordsCommand(f.dst, f.workerTopic("status"), 0, "", "state and trace of connectors and tasks, newest last")
}

// assignedCommand shows the groups that the checkpoint tasks were given.
func assignedCommand(f *flowView) finding.Command {
	switch f.Mode {
	case "connect":
		return f.restCommand(connCheckpoint, "/tasks", "task.assigned.groups of each task")
	case "strimzi":
		return recordsCommand(f.dst, f.workerTopic("config"), 0, "", "task.assigned.groups in the newest records of task-"+f.connectorName(connCheckpoint))
	case "msk-connect":
		return statusOf(f, connCheckpoint)
	}
	return recordsCommand(f.dst, f.workerTopic("config"), 0, "", "task.assigned.groups in the newest task-MirrorCheckpointConnector records")
}

// configOf shows the settings that a connector runs with.
func configOf(f *flowView, connector, shows string) finding.Command {
	switch f.Mode {
	case "connect":
		return f.restCommand(connector, "/config", shows)
	case "msk-connect":
		return finding.Command{Cluster: f.Target, Shows: shows, Command: "aws kafkaconnect describe-connector " + mskArn(f, connector) + " --query connectorConfiguration"}
	}
	name := connector
	if f.Mode == "strimzi" {
		name = f.connectorName(connector)
	}
	return recordsCommand(f.dst, f.workerTopic("config"), 0, "", shows+", in the newest record of connector-"+name)
}

// workerTopic names a topic in which the worker stores things (config, status, offset): by its own setting where that is
// known, else as connect-mirror-maker or the operator calls it.
func (f *flowView) workerTopic(kind string) string {
	if e := find(entriesOf(f.settings.configured, worker), kind+".storage.topic"); e != nil && e.Value != "" {
		return e.Value
	}
	if kind != "status" {
		kind += "s"
	}
	if f.Mode == "strimzi" {
		return "mirrormaker2-cluster-" + kind // the operator's default
	}
	return "mm2-" + kind + "." + f.Source + ".internal"
}

func (f *flowView) restCommand(connector, path, shows string) finding.Command {
	return finding.Command{Cluster: f.Target, Shows: shows, Command: "curl -sS " + f.restURL(connector, path)}
}

// adminBootstrapOf is the same for tools that call the file of client properties --admin.config.
func adminBootstrapOf(c *clusterView) string {
	return strings.Replace(bootstrapOf(c), " --command-config ", " --admin.config ", 1)
}

// captureStep keeps all that the doctor reads, before something is deleted.
func captureStep(f *flowView) finding.Step {
	return finding.Step{Text: "keep what there is, for later questions", Command: "mm2doctor capture before.json " + f.evidence()}
}

// topicsCommand is kafka-topics.sh on a cluster.
func topicsCommand(c *clusterView, args string) string {
	return "kafka-topics.sh --bootstrap-server " + bootstrapOf(c) + " " + args
}

func listTopics(c *clusterView, shows string) finding.Command {
	return finding.Command{Cluster: c.Alias, Command: topicsCommand(c, "--list"), Shows: shows}
}

func describeTopic(c *clusterView, topic, shows string) finding.Command {
	return finding.Command{Cluster: c.Alias, Command: topicsCommand(c, "--describe --topic "+finding.Quote(topic)), Shows: shows}
}

// logEnds prints the ends of a topic's partitions, or their log starts with args " --time -2".
func logEnds(c *clusterView, topic, args, shows string) finding.Command {
	return finding.Command{Cluster: c.Alias, Command: "kafka-get-offsets.sh --bootstrap-server " + bootstrapOf(c) + " --topic " + finding.Quote(topic) + args, Shows: shows}
}
