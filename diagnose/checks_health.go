package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// healthChecks are about MirrorMaker 2 itself and what stands in its topics.
var healthChecks = []check{
	{Code: 108, Grain: finding.OnFlow, Uses: finding.SyncsTopic | finding.Generation | finding.Settings, Run: checkSyncsUnreadable},
	{Code: 112, Grain: finding.OnFlow, Uses: pulseFacts, Gap: beatsUnread, Run: checkSourceConnector},
	{Code: 210, Grain: finding.OnFlow, Uses: finding.CheckpointSet | finding.Settings, Run: checkCheckpointsUnreadable},
	{Code: 212, Grain: finding.OnGroup, Uses: finding.Settings, Run: checkUnmirrorable},
}

func badFacts(topic string, bad []snapshot.BadRecord, n int64) finding.Observed {
	o := finding.Observed{{Name: "topic", Value: topic}, {Name: "unreadable records", Value: n}}
	if len(bad) > 0 {
		o = append(o, snapshot.Named{Name: "first", Value: fmt.Sprintf("offset %d: %s", bad[0].Offset, bad[0].Reason)})
	}
	return o
}

// badCommand shows the records that do not decode. mm2doctor records finds a flow's topics from an mm2.properties only; elsewhere the
// console consumer prints the first of them as it is.
func badCommand(f *flowView, c *clusterView, kind, topic string, bad []snapshot.BadRecord) finding.Command {
	if f.Mode == "dedicated" || len(bad) == 0 {
		return finding.Command{Cluster: c.Alias, Command: "mm2doctor records " + kind + " " + f.evidence() + " --flow " + finding.Quote(f.Source+":"+f.Target), Shows: "each record that does not decode, with its offset"}
	}
	return finding.Command{Cluster: c.Alias, Shows: "the first such record, bytes as text",
		Command: fmt.Sprintf("kafka-console-consumer.sh --bootstrap-server %s --topic %s --partition %d --offset %d --max-messages 1 --timeout-ms 10000 --property print.key=true --property print.timestamp=true", consumerBootstrapOf(c), finding.Quote(topic), bad[0].Partition, bad[0].Offset)}
}

// checkSyncsUnreadable: how MirrorMaker 2 takes a bad sync depends on its version and on what is wrong with it. Bytes that do not
// decode are a SchemaException, which every version logs before it goes on (run on 3.6.2, 3.9.1, 4.3.1; each poll loses what it
// fetched together with the record). A null is a NullPointerException, which from 3.4.1 on ends the load at a start for good (run on 3.9.1).
func checkSyncsUnreadable(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.SyncsTopic | finding.Generation)
	c, st := f.Syncs.Get()
	if st != snapshot.Known || c.BadCount == 0 {
		return nil
	}
	severity, what := finding.Warning, "MirrorMaker 2 logs each (`SchemaException`), loses the syncs that it fetched together with it whenever it reads the topic, and goes on"
	consequence := "After a start of the checkpoint task positions may be translated further back, or not at all until the next sync of their partition."
	if g, one := f.gens.set.Only(); slices.ContainsFunc(c.Bad, func(b snapshot.BadRecord) bool { return b.Null }) && !(one && g <= mm2.G2) {
		severity, what = finding.Error, "a checkpoint task of 3.4.1 or newer that starts while a record without key or value is there fails to load the topic (NullPointerException) and never translates anything; one that runs stops reading (3.4.1 to 3.8) or loses the rest of what it fetched (3.9.0 and newer)"
		consequence = "Positions stop being translated although MirrorMaker 2 says RUNNING."
	}
	return &finding.Finding{Severity: severity,
		Observed:    badFacts(c.Topic, c.Bad, c.BadCount),
		Because:     fmt.Sprintf("%s on %s holds records that are no offset syncs (%d); %s", c.Topic, c.Cluster, c.BadCount, what),
		Consequence: consequence,
		Confirm:     []finding.Command{badCommand(f, cmp.Or(f.v.clusters[c.Cluster], f.syncsCluster()), "offset-syncs", c.Topic, c.Bad)},
		Fixes: []finding.Fix{{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.flushBudget() + f.emitBudget() + f.commitBudget()) / 1000),
			Text:  "Find and stop whoever writes into the topic; only MirrorMaker 2 may. Then stop MirrorMaker 2, delete the topic and start it again: it is made anew and each partition's next record writes a sync. Groups that stand before that keep their last checkpoint.",
			Steps: f.whileStopped(bothConnectors, finding.Step{Text: "delete the offset-syncs topic", Command: topicsCommand(f.syncsCluster(), "--delete --topic "+finding.Quote(c.Topic)), Destructive: true, Undo: "none: the old mappings are gone"})}},
	}
}

// checkCheckpointsUnreadable: records that do not decode, or a converter that makes them so.
func checkCheckpointsUnreadable(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.CheckpointSet)
	c, st := f.Checkpointed.Get()
	bad := st == snapshot.Known && c.BadCount > 0
	faults := f.converterFaults()
	if len(faults) == 0 && !bad || !bad && f.Mode == "dedicated" && f.settings.running == nil {
		return nil // some releases drop a bare converter of the file (KAFKA-17192): what runs, or a record, has to show it
	}
	fd := &finding.Finding{
		Consequence: "MirrorMaker 2 from 3.7.1 on skips such records when it starts; a record without a value makes it start without its history.",
		Confirm:     []finding.Command{badCommand(f, f.dst, "checkpoints", c.Topic, c.Bad)},
	}
	if bad {
		fd.Observed = badFacts(c.Topic, c.Bad, c.BadCount)
		fd.Because = fmt.Sprintf("%s on %s holds records that are no checkpoints (%d): a foreign writer, or a converter other than ByteArrayConverter", c.Topic, f.Target, c.BadCount)
		fd.Fixes = []finding.Fix{f.foreignFix()}
	}
	if len(faults) == 0 {
		return fd
	}
	first := faults[0]
	fd.Slug, fd.Subject = first.slug(), finding.Subject{Connector: f.connectorName(first.connector), File: first.entry.File, Line: first.entry.Line, Key: first.key}
	var why []string
	for _, x := range faults {
		why = append(why, x.words(f))
		fd.Observed = append(fd.Observed, snapshot.Named{Name: f.connectorName(x.connector) + " " + x.key, Value: x.entry.Value})
	}
	fd.Because = strings.Join(why, "; ") + ": what MirrorMaker 2 writes is bytes, and only ByteArrayConverter keeps them as they are"
	if bad {
		fd.Because += fmt.Sprintf("; %d records of %s on %s cannot be read. Offset syncs stay readable, since the task writes them with a producer of its own", c.BadCount, c.Topic, f.Target)
	}
	if faults[len(faults)-1].connector == connSource {
		fd.Severity = finding.Error
		fd.Consequence = "Keys and values of mirrored records are written re-encoded: consumers that fail over to " + f.Target + " cannot read them as on " + f.Source + ". " + fd.Consequence
	}
	fd.Fixes = []finding.Fix{converterFix(f, faults)}
	if f.onConnect() {
		fd.Confirm = append(fd.Confirm, configOf(f, first.connector, "key.converter and value.converter"))
	}
	return fd
}

// beatsUnread: whether MirrorMaker 2 runs at all is told by heartbeats and by the states of its tasks; they could not be read, or they
// leave it open.
func beatsUnread(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	if f.connectorDown(connSource) != "" {
		return nil
	}
	if p, _ := f.pulse(); p == faint {
		return f.down()
	} else if p == silent {
		return nil // the finding says so
	}
	if on, _, ok := f.flag(connHeartbeat, keyBeatEnabled); !f.onConnect() && !(ok && !on) && f.Heartbeat.Unknown() {
		return f.Heartbeat.Why()
	}
	return nil
}

// checkSourceConnector: the connector's own status, or heartbeats that stopped.
func checkSourceConnector(v *View, s subject) *finding.Finding {
	f := s.flow
	wait := f.discoveryStart() + f.flushBudget() + f.emitBudget() + f.commitBudget()
	if why := f.connectorDown(connSource); why != "" {
		fd := &finding.Finding{Observed: f.taskFacts(connSource), Because: why, Subject: finding.Subject{Connector: f.connectorName(connSource)},
			Consequence: "Data is no longer mirrored, and no new offset sync is written.",
			Confirm:     []finding.Command{statusOf(f, connSource)},
			Fixes:       []finding.Fix{restartSourceFix(f, "Repair what the trace names, then restart MirrorMaker 2.", wait)}}
		if strings.HasPrefix(why, "the connector is ") {
			fd.Fixes = []finding.Fix{{Mode: f.fixMode(), Text: "Resume the connector.", Steps: []finding.Step{resumeStep(f, connSource)}, WaitSeconds: int(wait / 1000)}}
		}
		return fd
	}
	p, why := f.pulse()
	if p != silent {
		return nil
	}
	fd := &finding.Finding{Slug: "mm2-not-running",
		Because:     why + ": it does not run",
		Consequence: "Neither data nor offsets go on; what stands on " + f.Target + " is from before.",
		Confirm:     []finding.Command{statusOf(f, connSource)},
		Fixes:       []finding.Fix{restartFix(f, "Start MirrorMaker 2 again, and read at the end of its log why it stopped.", wait)},
	}
	if still, interval, ok := f.missedBeats(); ok {
		fd.Observed = finding.Observed{{Name: "newest heartbeat", Value: age(still) + " old"}, {Name: "heartbeat interval", Value: age(interval)}}
		fd.Confirm = []finding.Command{recordsCommand(f.dst, f.Heartbeats, 0, "HeartbeatFormatter", "the timestamps of "+f.Name())}
	} else {
		fd.Observed = f.taskFacts(connSource)
	}
	if n, parts := f.leftBehind(); n > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "source offsets not mirrored, by the offset syncs", Value: fmt.Sprintf("%d, in %s", n, finding.Count(parts, "partition"))})
	}
	return fd
}

// unmirrorable says why MirrorMaker 2 can never translate a group of this name: the list of groups of a task is one
// comma-separated setting, whose parts are trimmed.
func unmirrorable(id string) string {
	switch {
	case strings.Contains(id, ","):
		return "it contains a comma"
	case id != strings.TrimSpace(id):
		return "it begins or ends with a blank"
	case id == "":
		return "it is empty"
	}
	return ""
}

func checkUnmirrorable(_ *View, s subject) *finding.Finding {
	f := s.flow
	why := unmirrorable(s.group)
	if d := f.groupFilter(s.group); why == "" || d.known && !d.passes {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "group id", Value: fmt.Sprintf("%q", s.group)}},
		Because:     fmt.Sprintf("MirrorMaker 2 hands groups to its tasks as one comma-separated list (task.assigned.groups), and this group id cannot pass through it: %s", why),
		Consequence: "No version translates the group's positions.",
		Confirm:     []finding.Command{groupCommand(f.src, s.group), assignedCommand(f)},
		Fixes:       []finding.Fix{{Mode: "kafka", Text: "Give the application a group id without commas and blanks at the ends, or set its position on " + f.Target + " by hand before a failover."}},
	}
	if f.named.groups {
		fd.Severity = finding.Error
	}
	return fd
}
