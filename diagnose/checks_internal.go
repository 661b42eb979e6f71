package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// internalChecks are about the offset-syncs topic and MirrorMaker 2's other internal topics as topics: their settings, their number, their history.
var internalChecks = []check{
	{Code: 104, Grain: finding.OnPartition, Needs: finding.SyncsOf | finding.TargetLog | finding.Settings, Earlier: finding.SyncsOf | finding.TargetLog, Uses: finding.Generation | finding.Tasks | finding.SourcePositions | finding.EarlierLook | finding.SyncsTopic | finding.SourceTopic | finding.TargetTopic, Applies: mirroredPartition, Gap: staleUnknown, Decides: true, Run: checkStale},
	{Code: 105, Grain: finding.OnFlow, Needs: finding.SyncsTopic, Uses: finding.InternalTopics, Applies: hasRows, Gap: syncsConfigUnknown, Decides: true, Run: checkNotCompacted},
	{Code: 106, Grain: finding.OnPartition, Needs: finding.SyncsOf, Uses: finding.SourceLog | finding.SourceOffset | finding.TargetOffset | finding.CheckpointsOf | finding.Generation | finding.Settings | finding.Tasks | finding.SyncsTopic | finding.SourceTopic, Applies: followedPartition, Gap: rewindUnknown, Decides: true, Run: checkSyncsRewound},
	{Code: 107, Grain: finding.OnFlow, Needs: finding.SyncsOthers | finding.SyncsTopic, Uses: finding.SyncsOf | finding.SourceLog | finding.OtherFlows | finding.InternalTopics | finding.Settings | finding.SourceOffset, Applies: hasRows, Gap: twiceUnknown, Decides: true, Run: checkTwice},
	{Code: 111, Grain: finding.OnFlow, Uses: finding.Settings | finding.Generation | finding.SyncsTopic | finding.Running, Applies: hasRows, Gap: versionOfSwitchUnknown, Run: checkSyncsDisabled},
	{Code: 115, Grain: finding.OnFlow, Needs: finding.SyncsOthers | finding.SyncsTopic, Uses: finding.Settings, Applies: hasRows, Decides: true, Run: checkOwnAlias},
	{Code: 116, Grain: finding.OnFlow, Uses: finding.InternalTopics | finding.BrokerSettings, Applies: hasRows, Gap: replicationUnknown, Decides: true, Run: checkFragile},
	{Code: 117, Grain: finding.OnFlow, Needs: finding.SyncsTopic, Uses: finding.TargetLog | finding.SyncsOf | finding.Settings, Applies: hasRows, Decides: true, Run: checkShared},
}

// syncsTopicSetting is a setting of the offset-syncs topic.
func (f *flowView) syncsTopicSetting(key string) snapshot.Fact[snapshot.ConfigEntry] {
	c := f.syncsCluster()
	return settingOf(f.internalTopic(c, f.SyncsTopic), key)
}

func syncsConfigUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	if !f.Syncs.Known() {
		return nil // a missing topic is 101
	}
	e := f.syncsTopicSetting("cleanup.policy")
	if !e.Unknown() {
		return nil
	}
	return cmp.Or(e.Why(), &snapshot.Gap{Code: "not-asked", Cluster: f.SyncsOn, API: "DescribeConfigs topic", Why: "the settings of " + f.SyncsTopic + " were not asked"})
}

// checkNotCompacted: MirrorMaker 2 makes the topic with cleanup.policy=compact and never looks at that of a topic that is there.
// Without the right to create it, from 3.7.0 on the broker makes it with its own defaults, which delete (KAFKA-15465).
func checkNotCompacted(_ *View, s subject) *finding.Finding {
	f := s.flow
	sy, st := f.Syncs.Get()
	e, known := f.syncsTopicSetting("cleanup.policy").Get()
	if st != snapshot.Known || known != snapshot.Known || !strings.Contains(e.Value, "delete") {
		return nil
	}
	c := f.syncsCluster()
	retention := f.syncsTopicSetting("retention.ms").Or(snapshot.ConfigEntry{}).Value
	bytes := f.syncsTopicSetting("retention.bytes").Or(snapshot.ConfigEntry{}).Value
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "cleanup.policy", Value: e.Value}, {Name: "retention.ms", Value: retention}, {Name: "log start", Value: sy.Start}, {Name: "records", Value: sy.Records}},
		Because:     fmt.Sprintf("%s on %s has cleanup.policy=%s (retention.ms=%s): the broker deletes offset syncs by age", f.SyncsTopic, c.Alias, e.Value, cmp.Or(retention, "not known")),
		Consequence: "Mappings of partitions that are quiet for longer than that vanish; positions that rest on them are no longer translated.",
		Confirm:     []finding.Command{describeTopic(c, f.SyncsTopic, "Configs: cleanup.policy"), logEnds(c, f.SyncsTopic, " --time -2", "a log start above 0: records were deleted")},
		Fixes: []finding.Fix{{Mode: "kafka", WaitSeconds: 30,
			Text: fmt.Sprintf("Set the topic to compact, at once: what is deleted does not come back. A restart of the source connector then writes a sync with the next record of each partition; groups that stand before it on %s stay untranslated until they have read past it.", f.Source),
			Steps: []finding.Step{{Text: "keep the newest sync of each partition for good", Command: "kafka-configs.sh --bootstrap-server " + bootstrapOf(c) + " --alter --entity-type topics --entity-name " + finding.Quote(f.SyncsTopic) + " --add-config cleanup.policy=compact",
				Undo: "kafka-configs.sh --bootstrap-server " + bootstrapOf(c) + " --alter --entity-type topics --entity-name " + finding.Quote(f.SyncsTopic) + " --add-config cleanup.policy=" + shellList(e.Value)},
				restartSource(f)}}},
	}
	if sy.Start > 0 {
		fd.Because += fmt.Sprintf("; the %d oldest are gone", sy.Start)
	}
	if retention == "-1" && (bytes == "-1" || bytes == "") {
		fd.Severity = finding.Info
		fd.Consequence = "Retention is without limit, so nothing is lost; the topic grows for ever and is read whole at each start of a checkpoint task."
	}
	return fd
}

// shellList brackets a list for --add-config, which splits at commas.
func shellList(v string) string {
	if strings.Contains(v, ",") {
		return "[" + v + "]"
	}
	return v
}

// switchedOff is emit.offset-syncs.enabled=false on the source connector (KIP-1031, 3.9.0) in a flow that has checkpoints.
func (f *flowView) switchedOff() (e snapshot.ConfigEntry, off bool) {
	on, e, ok := f.flag(connSource, keySyncsEnabled)
	if !ok || on {
		return e, false
	}
	wanted, _, known := f.flag(connCheckpoint, keyEmitEnabled)
	return e, !known || wanted
}

func versionOfSwitchUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	_, off := f.switchedOff()
	f.v.touch(finding.Generation)
	if !off || !f.gens.version.IsZero() || f.heededSwitch() {
		return nil
	}
	return &snapshot.Gap{Code: "undetermined", Why: keySyncsEnabled + " is false, which only MirrorMaker 2 from 3.9.0 on heeds, and its version is not known; --mm2-version tells it"}
}

// heededSwitch: a version that does not know the switch makes the offset-syncs topic and both connectors all the same; from 3.9.0 on
// the topic is not made and the checkpoint connector is refused ("can't run without offset syncs", run on 3.9.1).
func (f *flowView) heededSwitch() bool {
	f.v.touch(finding.SyncsTopic | finding.Running)
	run, st := f.Running.Get()
	return f.Syncs.Absent() && st == snapshot.Known && len(run.Source) > 0 && len(run.Checkpoint) == 0
}

func checkSyncsDisabled(_ *View, s subject) *finding.Finding {
	f := s.flow
	e, off := f.switchedOff()
	f.v.touch(finding.Generation)
	if !off || !f.gens.version.IsZero() && f.gens.version.Before(3, 9, 0) {
		return nil
	}
	fix := propertyFix(f, "Switch offset syncs on, then restart MirrorMaker 2.", keySyncsEnabled, "true", f.discoveryStart()+f.flushBudget()+f.emitBudget()+f.commitBudget())
	return &finding.Finding{
		Subject:     finding.Subject{Connector: f.connectorName(connSource), File: e.File, Line: e.Line, Key: e.Key},
		Observed:    finding.Observed{{Name: keySyncsEnabled, Value: e.Value}, {Name: "set in", Value: where(e)}},
		Because:     fmt.Sprintf("%s is %s on the source connector (%s): it writes no offset sync, and without them nothing can be translated", keySyncsEnabled, e.Value, where(e)),
		Consequence: "Checkpoints stay where they are; a checkpoint connector that is given the same setting is refused (can't run without offset syncs).",
		Confirm:     []finding.Command{syncsCommand(f), statusCommand(f)}, Fixes: []finding.Fix{fix}, Bugs: []string{"KAFKA-16254"},
	}
}

// fragileTopics are MirrorMaker 2's own topics: the chain's, and in dedicated mode the worker's.
func (f *flowView) fragileTopics() []struct {
	c    *clusterView
	name string
} {
	out := f.internals()
	out = append(out[:2:2], out[3]) // __consumer_offsets of the source is not MirrorMaker 2's
	if f.Mode == "dedicated" {
		for _, what := range []string{"offsets", "status", "configs"} {
			t := out[1]
			t.name = "mm2-" + what + "." + f.Source + ".internal"
			out = append(out, t)
		}
	}
	return out
}

// thinnest is the partition with the fewest replicas in sync.
func thinnest(t *snapshot.Topic) (p snapshot.Partition, ok bool) {
	for i, x := range t.Partitions {
		if i == 0 || x.ISR < p.ISR {
			p = x
		}
	}
	return p, len(t.Partitions) > 0
}

// replicationUnknown asks where one replica may be one too few, or too few may be in sync.
func replicationUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	for _, i := range f.fragileTopics() {
		t, st := f.internalTopic(i.c, i.name).Get()
		if st != snapshot.Known {
			continue
		}
		f.v.touch(finding.BrokerSettings)
		p, ok := thinnest(t)
		switch {
		case ok && p.Replicas == 1 && i.c.Brokers.Unknown():
			return cmp.Or(i.c.Brokers.Why(), &snapshot.Gap{Code: "not-asked", Cluster: i.c.Alias, API: "Metadata", Why: "how many brokers there are was not asked"})
		case ok && p.Replicas > 1 && p.ISR < p.Replicas && t.Config.Unknown():
			return cmp.Or(t.Config.Why(), &snapshot.Gap{Code: "not-asked", Cluster: i.c.Alias, API: "DescribeConfigs topic", Why: "the settings of " + i.name + " were not asked"})
		}
	}
	return nil
}

// checkFragile: one replica where the cluster has several brokers, or fewer in sync than min.insync.replicas, so that writes with
// acks=all are refused. The second is the worse and leads.
func checkFragile(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.BrokerSettings)
	var alone, refused *finding.Finding
	for _, i := range f.fragileTopics() {
		t, st := f.internalTopic(i.c, i.name).Get()
		p, ok := snapshot.Partition{}, false
		if st == snapshot.Known {
			p, ok = thinnest(t)
		}
		if !ok || p.Leader < 0 { // without a leader: 611
			continue
		}
		name := i.name + " on " + i.c.Alias
		if least, given := f.minISR(t); given && int64(p.ISR) < least {
			because := fmt.Sprintf("%s-%d on %s has %s in sync, and min.insync.replicas is %d", i.name, p.ID, i.c.Alias, finding.Count(p.ISR, "replica"), least)
			if refused == nil {
				refused = f.fragile("min-isr-not-met", because, i.c, i.name)
				refused.Consequence = "The broker refuses writes with acks=all (NOT_ENOUGH_REPLICAS): offset syncs, checkpoints or commits are lost or wait until enough replicas are back."
				refused.Fixes[0].Text = "Start the brokers that hold the missing replicas (Replicas against Isr in the command above). Only where they never come back: move the partition to others, or lower min.insync.replicas."
				refused.Fixes[0].Steps = []finding.Step{{Text: "for the time being, accept fewer replicas", Command: fmt.Sprintf("kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config min.insync.replicas=%d", bootstrapOf(i.c), finding.Quote(i.name), max(1, p.ISR)), Undo: fmt.Sprintf("set it back to %d", least)}}
			} else {
				refused.Because += "; " + because
			}
			refused.Observed = append(refused.Observed, snapshot.Named{Name: name, Value: fmt.Sprintf("%d in sync of %d, min.insync.replicas %d", p.ISR, p.Replicas, least)})
		}
		if bs, known := i.c.Brokers.Get(); p.Replicas == 1 && known == snapshot.Known && len(bs) > 1 {
			if alone == nil {
				alone = f.fragile("replication-factor-low", fmt.Sprintf("%s has replication factor 1, and the cluster has %d brokers", name, len(bs)), i.c, i.name)
				alone.Consequence = "While the one broker that holds it is down, the chain stands still; if its disk is lost, all mappings are lost with it."
				alone.Fixes[0].Text = "Give each of these topics three replicas (or as many as there are brokers) by a reassignment, and set the factor for topics made later: offset-syncs.topic.replication.factor, checkpoints.topic.replication.factor, heartbeats.topic.replication.factor, and for the worker's topics offset.storage.replication.factor, config.storage.replication.factor, status.storage.replication.factor."
			} else {
				alone.Because += ", " + name + " too"
			}
			alone.Observed = append(alone.Observed, snapshot.Named{Name: name, Value: fmt.Sprintf("replication factor 1, %d brokers", len(bs))})
			alone.Fixes[0].Steps = append(alone.Fixes[0].Steps, reassignStep(i.c, i.name, t, bs))
		}
	}
	return cmp.Or(refused, alone)
}

// minISR is min.insync.replicas of a topic, as far as it can fail: one replica is always in sync with itself.
func (f *flowView) minISR(t *snapshot.Topic) (int64, bool) {
	e, st := entryIn(t.Config, "min.insync.replicas").Get()
	var n int64
	if st != snapshot.Known {
		return 0, false
	}
	_, err := fmt.Sscan(e.Value, &n)
	return n, err == nil
}

// refuses says that a partition of an internal topic has fewer replicas in sync than min.insync.replicas asks for.
func (f *flowView) refuses(c *clusterView, topic string, part int32) bool {
	t := f.internalTopic(c, topic).Or(nil)
	if t == nil {
		return false
	}
	least, given := f.minISR(t)
	for _, p := range t.Partitions {
		if p.ID == part {
			return given && int64(p.ISR) < least
		}
	}
	return false
}

func (f *flowView) fragile(slug, because string, c *clusterView, topic string) *finding.Finding {
	return &finding.Finding{Slug: slug, Because: because, Confirm: []finding.Command{describeTopic(c, topic, "ReplicationFactor, Replicas, Isr")}, Fixes: []finding.Fix{{Mode: "kafka", WaitSeconds: 120}}}
}

// reassignStep writes the plan of kafka-reassign-partitions.sh: each partition on up to three brokers, the present ones spread.
func reassignStep(c *clusterView, topic string, t *snapshot.Topic, bs []snapshot.Broker) finding.Step {
	var parts []string
	for _, p := range t.Partitions[:min(len(t.Partitions), 100)] {
		ids := []string{fmt.Sprint(p.Leader)}
		for k := range bs {
			if b := bs[(k+int(p.ID))%len(bs)]; b.ID != p.Leader && len(ids) < 3 {
				ids = append(ids, fmt.Sprint(b.ID))
			}
		}
		parts = append(parts, fmt.Sprintf(`{"topic":%q,"partition":%d,"replicas":[%s]}`, topic, p.ID, strings.Join(ids, ",")))
	}
	return finding.Step{Text: "add replicas to " + topic, Undo: "the command prints the present assignment before it begins; execute that",
		Command: fmt.Sprintf("printf '%%s' '{\"version\":1,\"partitions\":[%s]}' > add-replicas.json && kafka-reassign-partitions.sh --bootstrap-server %s --reassignment-json-file add-replicas.json --execute", strings.Join(parts, ","), bootstrapOf(c))}
}
