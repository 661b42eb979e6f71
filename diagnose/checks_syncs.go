package diagnose

import (
	"cmp"
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// syncsChecks are link 1: offset syncs from the source connector.
var syncsChecks = []check{
	{Code: 101, Grain: finding.OnFlow, Needs: finding.SyncsTopic, Uses: finding.SyncsElse | finding.TargetTopic | finding.TargetLog | finding.CheckpointSet | finding.Settings, Run: checkSyncsMissing},
	{Code: 102, Grain: finding.OnFlow, Uses: finding.SyncsTopic | finding.SyncsElse | finding.Settings | finding.Running | finding.Configured, Gap: syncsElsewhereUnread, Run: checkLocation},
	{Code: 103, Grain: finding.OnGroupPartition, Needs: finding.SyncsOf | finding.TargetLog | finding.SourceOffset, Uses: finding.SourceLog | finding.Settings | finding.Tasks | finding.CheckpointsOf | finding.AssignedTo | finding.TargetTopic | finding.Generation | finding.EarlierLook, Applies: eligibleRow, Run: checkNoSync},
}

func hasRows(_ *View, s subject) bool { return len(s.flow.rows) > 0 }

// eligibleRow turns away rows that a filter leaves out on purpose.
func eligibleRow(_ *View, s subject) bool {
	e, st := s.gp.eligible().Get()
	return st != snapshot.Known || e
}

// anyCopy says that some topic of the flow has a copy on the target, so that syncs ought to exist.
func (f *flowView) anyCopy() bool {
	for _, gp := range f.rows {
		if p, st := gp.targetPartition().Get(); st == snapshot.Known && p.End.Or(0) > 0 {
			return true
		}
	}
	return false
}

func checkSyncsMissing(_ *View, s subject) *finding.Finding {
	f := s.flow
	c0, _ := f.Checkpointed.Get()
	f.v.touch(finding.CheckpointSet)
	if !f.Syncs.Absent() || !f.anyCopy() && c0.Records == 0 {
		return nil
	}
	on := f.SyncsOn
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "looked for", Value: f.SyncsTopic}, {Name: "on", Value: on}},
		Because:     fmt.Sprintf("topics are mirrored, yet %s does not exist on %s", f.SyncsTopic, on),
		Consequence: "No position can be translated; no checkpoint is written.",
		Confirm:     []finding.Command{listTopics(f.syncsCluster(), "whether "+f.SyncsTopic+" is there")},
		Fixes:       []finding.Fix{restartOf(f, []string{connSource, connCheckpoint}, "Restart MirrorMaker 2: the source connector creates the topic when it starts. If it does not appear, its principal lacks the right to create it; create it with one partition and cleanup.policy=compact.", f.flushBudget())},
	}
	if !f.anyCopy() {
		fd.Because = fmt.Sprintf("%s on %s holds checkpoints of %s, yet %s does not exist on %s: the topic was deleted, or %s is not the cluster that MirrorMaker 2 mirrors from", f.Checkpoints, f.Target, f.Name(), f.SyncsTopic, on, f.Source)
	}
	if e, st := f.SyncsElsewhere.Get(); st == snapshot.Known {
		fd.Because += fmt.Sprintf("; %s on %s holds %d syncs", e.Topic, e.Cluster, e.Records)
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "found", Value: e.Topic + " on " + e.Cluster})
	}
	return fd
}

// syncsElsewhereUnread: no sync where it is looked for, and whether there are some on the other cluster is not known.
func syncsElsewhereUnread(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	src, chk := f.setting(connSource, keyLocation), f.setting(connCheckpoint, keyLocation)
	if src.Known() && chk.Known() && src.Or(snapshot.ConfigEntry{}).Value != chk.Or(snapshot.ConfigEntry{}).Value {
		return nil // the settings alone prove it
	}
	if here, st := f.Syncs.Get(); st == snapshot.Unknown || here.Records > 0 || !f.SyncsElsewhere.Unknown() || len(f.rows) == 0 {
		return nil
	}
	return cmp.Or(f.SyncsElsewhere.Why(), &snapshot.Gap{Code: "not-asked", Why: "not asked"})
}

// checkLocation compares where the two connectors look: by their configuration, else by a topic that has records on the one
// cluster while the one that is read is missing or empty.
func checkLocation(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.Running | finding.Configured)
	src, sst := f.setting(connSource, keyLocation).Get()
	chk, cst := f.setting(connCheckpoint, keyLocation).Get()
	other, ost := f.SyncsElsewhere.Get()
	v.touch(finding.SyncsElse | finding.SyncsTopic)
	if sst == snapshot.Known && cst == snapshot.Known && src.Value != chk.Value {
		return f.locationFinding(fmt.Sprintf("MirrorSourceConnector writes offset syncs to the %s cluster (%s), MirrorCheckpointConnector reads them from the %s cluster (%s)", src.Value, where(src), chk.Value, where(chk)),
			finding.Observed{{Name: "source connector", Value: src.Value}, {Name: "checkpoint connector", Value: chk.Value}}, src.Value)
	}
	if ost != snapshot.Known || other.Records == 0 || f.Syncs.Unknown() {
		return nil
	}
	here, _ := f.Syncs.Get()
	if here.Records > 0 {
		return nil
	}
	if c, st := f.Checkpointed.Get(); st == snapshot.Known && c.Records > 0 && c.Last > here.Last {
		return nil // checkpoints are made from the other topic: the operator's file, not MirrorMaker 2, looks at the wrong place
	}
	return f.locationFinding(fmt.Sprintf("%s on %s holds %d offset syncs, and %s on %s, where they are looked for, holds none", other.Topic, other.Cluster, other.Records, f.SyncsTopic, f.SyncsOn),
		finding.Observed{{Name: "written to", Value: other.Topic + " on " + other.Cluster}, {Name: "read from", Value: f.SyncsTopic + " on " + f.SyncsOn}}, f.sideOf(other.Cluster))
}

// sideOf gives the value of offset-syncs.topic.location for a cluster of the flow.
func (f *flowView) sideOf(alias string) string {
	if alias == f.Target {
		return "target"
	}
	return "source"
}

func (f *flowView) locationFinding(because string, o finding.Observed, want string) *finding.Finding {
	fix := finding.Fix{Mode: f.fixMode(), Text: "Give both connectors the same offset-syncs.topic.location.", WaitSeconds: int((f.emitBudget() + f.commitBudget() + f.flushBudget()) / 1000)}
	fix.Steps = f.setSteps(keyLocation, want)
	if !f.mode().restartsItself {
		fix.Steps = append(fix.Steps, restartStep(f))
	}
	return &finding.Finding{Because: because, Observed: o, Consequence: "Nothing can be translated: the checkpoint task reads an empty topic (which its own look-up may just have created) and logs no error.", Fixes: []finding.Fix{fix},
		Confirm: []finding.Command{
			listTopics(f.src, "mm2-offset-syncs."+f.Target+".internal: location=source"),
			listTopics(f.dst, "mm2-offset-syncs."+f.Source+".internal: location=target")}}
}

func checkNoSync(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	if !gp.syncsOf().Absent() || !f.Syncs.Known() {
		return nil // a missing topic is 101
	}
	dst, dk := gp.targetPartition().Get()
	u, uk := gp.sourceOffset().Get()
	if dk != snapshot.Known || uk != snapshot.Known || dst.End.Or(0) == 0 {
		return nil // nothing was mirrored yet: expected
	}
	if gp.checkpoint().Known() && !f.gens.set.Has(mm2.G1) {
		return nil // there was one when the checkpoint was made; only G1 writes checkpoints without (KAFKA-12635)
	}
	// The first sync of a young partition may still wait for its turn: more than ten in flight are held back until the next
	// commit of source offsets.
	if start, ok := f.sourceTaskStart(); ok && v.now-start < f.flushBudget() {
		return nil
	}
	if gp.youngCopy() {
		return nil
	}
	end := dst.End.Or(0)
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "U", Value: u}, {Name: "mirrored records end at", Value: end}, {Name: "offset syncs", Value: 0}},
		Because:     fmt.Sprintf("%s-%d holds mirrored records (end %d), and %s has no offset sync for %s-%d", gp.remote, gp.part, end, f.SyncsTopic, gp.topic, gp.part),
		Consequence: "The group's position in this partition cannot be translated" + map[bool]string{true: "; MirrorMaker 2 of this version copies it unchanged (KAFKA-12635).", false: "."}[f.onlyGen1()],
		Confirm:     []finding.Command{syncsCommand(f)},
		Fixes:       []finding.Fix{restartSourceFix(f, "Restart MirrorMaker 2: the first record of each partition after a start writes an offset sync. The partition needs one new record for it. Up to 3.4.0 a burst of records can lose the sync (KAFKA-12558): upgrade.", f.flushBudget()+f.emitBudget()+f.commitBudget())},
	}
	if f.onlyGen1() {
		fd.Bugs = []string{"KAFKA-12635"}
	}
	return fd
}

// youngCopy says that what was mirrored of the partition may have been mirrored just now: its oldest record is of a moment ago, or
// retention has removed all, and no earlier look saw the copy.
func (gp groupPartition) youngCopy() bool {
	f := gp.flow
	src, st := gp.sourcePartition().Get()
	if st != snapshot.Known || src.First.Unknown() {
		return false
	}
	if src.First.Known() {
		return f.v.began-src.First.Or(0) < f.flushBudget()
	}
	before, ok := gp.earlier()
	return !ok || f.sinceBefore() < f.flushBudget() || before.targetPartition().Or(snapshot.Partition{}).End.Or(0) == 0
}

// sourceTaskStart is when the source connector's tasks last went to RUNNING, ms.
func (f *flowView) sourceTaskStart() (int64, bool) { return f.taskStart(connSource) }
