package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// checkpointChecks are link 2: checkpoints from the checkpoint connector.
var checkpointChecks = []check{
	{Code: 207, Grain: finding.OnGroupPartition, Needs: finding.CheckpointsOf | finding.SyncsOf | finding.SourceOffset | finding.AssignedTo | finding.Settings, Earlier: finding.SourceOffset | finding.CheckpointsOf | finding.SyncsOf | finding.AssignedTo, Decides: true, Uses: finding.CheckpointSet | finding.Generation | finding.Tasks | finding.EarlierLook | finding.TargetTopic | finding.SyncsTopic, Applies: translationWaits, Run: checkCheckpointBehind},
	{Code: 208, Grain: finding.OnFlow, Uses: finding.Tasks | finding.Running | finding.Configured | finding.Settings | finding.AssignedTo | finding.CheckpointSet, Run: checkConnector},
	{Code: 201, Grain: finding.OnFlow, Needs: finding.CheckpointSet, Uses: finding.Settings | finding.Tasks | finding.Running | finding.SyncsTopic, Applies: hasRows, Gap: startUnknown, Run: checkCheckpointsMissing},
	{Code: 202, Grain: finding.OnFlow, Needs: finding.CheckpointSet | finding.Settings, Uses: ^finding.Kinds(0), Applies: hasRows, Run: checkCheckpointsEmpty},
	{Code: 203, Grain: finding.OnFlow, Needs: finding.SourceGroups, Uses: finding.Settings, Run: checkGroupFilter},
	{Code: 204, Grain: finding.OnGroup, Needs: finding.Settings, Uses: finding.SourceOffset, Run: checkTopicFilter},
	{Code: 205, Grain: finding.OnGroup, Needs: finding.AssignedTo, Uses: finding.CheckpointsOf | pulseFacts, Applies: anyEligible, Run: checkNotDiscovered},
	{Code: 206, Grain: finding.OnGroupPartition, Needs: finding.SyncsOf | finding.SourceOffset, Uses: finding.SourceLog | finding.Generation | finding.Tasks | finding.CheckpointsOf | finding.AssignedTo | finding.Settings | finding.TargetTopic | finding.TargetOffset | finding.EarlierLook | finding.SyncsTopic, Applies: eligibleRow, Run: checkBeforeOldest},
	{Code: 214, Grain: finding.OnGroupPartition, Needs: finding.CheckpointsOf | finding.SyncsOf | finding.SourceOffset | finding.AssignedTo | finding.Settings, Earlier: finding.SourceOffset, Uses: finding.Generation | finding.Tasks | finding.EarlierLook | finding.TargetTopic | finding.SourceLog, Applies: withoutCheckpoint, Run: checkWithoutCheckpoint},
	{Code: 215, Grain: finding.OnFlow, Needs: finding.SourceGroups, Uses: finding.Settings, Run: checkNeverCommitted},
	{Code: 219, Grain: finding.OnFlow, Needs: finding.SourceGroups, Uses: finding.Settings, Run: checkTypes},
}

func checkConnector(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.Running | finding.Configured | finding.AssignedTo | finding.Tasks)
	mk := func(slug, because string, o finding.Observed, fix finding.Fix) *finding.Finding {
		return &finding.Finding{Slug: slug, Because: because, Observed: o, Subject: finding.Subject{Connector: f.connectorName(connCheckpoint)},
			Consequence: "No checkpoint is written and no group offset is committed on " + f.Target + ", while data goes on being mirrored.",
			Confirm:     []finding.Command{checkpointsCommand(f), statusCommand(f)}, Fixes: []finding.Fix{fix}}
	}
	wait := f.discoveryStart() + f.emitBudget() + f.commitBudget()
	if on, e, ok := f.flag(connCheckpoint, keyEmitEnabled); ok && !on {
		fd := mk("checkpoints-disabled", fmt.Sprintf("emit.checkpoints.enabled is false (%s)", where(e)), finding.Observed{{Name: keyEmitEnabled, Value: e.Value}, {Name: "set in", Value: where(e)}},
			propertyFix(f, "Switch checkpoints on, then restart MirrorMaker 2.", keyEmitEnabled, "true", wait))
		fd.Subject.File, fd.Subject.Line, fd.Subject.Key = e.File, e.Line, e.Key
		if sync, se, ok := f.flag(connCheckpoint, keySyncEnabled); ok && !sync && !e.Default && !se.Default {
			fd.Severity = finding.Info // both switched off by hand: a flow for data alone
		}
		return fd
	}
	if run, st := f.Running.Get(); st == snapshot.Known && len(run.Checkpoint) == 0 && len(run.Source) > 0 {
		because := fmt.Sprintf("mm2-configs.%s.internal on %s has a source connector and no checkpoint connector", f.Source, f.Target)
		switch f.Mode {
		case "strimzi":
			because = fmt.Sprintf("%s on %s has a source connector of %s and no checkpoint connector", f.workerTopic("config"), f.Target, f.Name())
		case "connect", "msk-connect":
			because = fmt.Sprintf("%s has a MirrorSourceConnector for %s and no MirrorCheckpointConnector", f.connectPlace(), f.Name())
		}
		fix := restartFix(f, "Restart MirrorMaker 2 with a configuration that has checkpoints; its log says why the connector was not created.", wait)
		switch f.fixMode() {
		case "connect", "msk-connect":
			fix = createConnectorFix(f, wait)
		case "strimzi":
			fix = addSectionFix(f, wait)
		}
		return mk("checkpoint-connector-missing", because, finding.Observed{{Name: "connectors", Value: connSource}}, fix)
	}
	if why := f.connectorDown(connCheckpoint); why != "" {
		if strings.HasPrefix(why, "the connector is ") { // paused or stopped by someone
			fd := mk("checkpoint-connector-failed", why, f.taskFacts(connCheckpoint), finding.Fix{Mode: f.fixMode(), Text: "Resume the connector.", Steps: []finding.Step{resumeStep(f, connCheckpoint)}, WaitSeconds: int((f.emitBudget() + f.commitBudget() + f.discoveryStart()) / 1000)})
			if strings.HasPrefix(why, "the connector is PAUSED") {
				fd.Consequence = "No new checkpoint is written. A paused task's own thread still commits the checkpoints that it has, so group offsets on " + f.Target + " stand where those are."
			}
			return fd
		}
		return mk("checkpoint-connector-failed", why, f.taskFacts(connCheckpoint), restartFix(f, "Repair what the trace names, then restart MirrorMaker 2.", wait))
	}
	if a, st := f.Assigned.Get(); st == snapshot.Known && a.Tasks == 0 {
		since, long := f.taskless(a)
		if long && f.eligibleGroups() > 0 && f.groupsAreOld() {
			fd := mk("no-checkpoint-tasks", fmt.Sprintf("the connector is RUNNING since %s and has no task, although %s pass its filters", age(since), finding.Count(f.eligibleGroups(), "group")), f.taskFacts(connCheckpoint),
				restartFix(f, "Restart MirrorMaker 2: up to 3.8 a first load of the groups that timed out is never repeated (KAFKA-17232).", wait))
			fd.Bugs = []string{"KAFKA-17232"}
			return fd
		}
	}
	return nil
}

// taskless is how long, ms, the connector is known to run without a task, and whether that is longer than it needs to find its
// groups. Connect's REST interface tells no times: then two looks that far apart have to agree.
func (f *flowView) taskless(a snapshot.Assigned) (since int64, long bool) {
	if start, known := f.connectorStart(connCheckpoint); known {
		return f.v.now - start, f.v.now-start > f.discoveryBudget() && f.v.now-a.Time > f.discoveryBudget()
	}
	f.v.touch(finding.EarlierLook)
	if f.earlier == nil || !f.running(connCheckpoint) || !f.earlier.running(connCheckpoint) {
		return 0, false
	}
	before, st := f.earlier.Assigned.Get()
	return f.sinceBefore(), st == snapshot.Known && before.Tasks == 0
}

// running says that a connector itself is known to be RUNNING.
func (f *flowView) running(connector string) bool {
	f.v.touch(finding.Tasks)
	return slices.ContainsFunc(f.Tasks.Or(nil), func(t snapshot.TaskStatus) bool {
		return t.Connector == connector && t.Task < 0 && t.State == "RUNNING"
	})
}

// createConnectorFix makes the checkpoint connector that is not there, with what it must share with the source connector.
func createConnectorFix(f *flowView, waitMs int64) finding.Fix {
	props := finding.Observed{{Name: "connector.class", Value: "org.apache.kafka.connect.mirror." + connCheckpoint}, {Name: keySourceAlias, Value: f.Source}, {Name: keyTargetAlias, Value: f.Target},
		{Name: "source.cluster.bootstrap.servers", Value: strings.Join(f.src.Bootstrap, ",")}, {Name: "target.cluster.bootstrap.servers", Value: strings.Join(f.dst.Bootstrap, ",")},
		{Name: keySyncEnabled, Value: "true"}, {Name: keyConverter, Value: byteArrayConverter}, {Name: valueConverter, Value: byteArrayConverter}, {Name: headerConverter, Value: byteArrayConverter}}
	for _, key := range []string{keyTopics, keyTopicsExclude, keyPolicyClass, keySeparator, keyInternalSeparator, keyLocation} {
		if e, st := f.setting(connSource, key).Get(); st == snapshot.Known && !e.Default {
			props = append(props, snapshot.Named{Name: key, Value: e.Value})
		}
	}
	step := finding.Step{Text: "write these settings, and source.cluster.* and target.cluster.* client settings, as JSON into checkpoint.json, and create the connector", Properties: props,
		Command: "curl -sS -X PUT -H 'Content-Type: application/json' --data @checkpoint.json " + f.restURL(connCheckpoint, "/config")}
	if f.fixMode() == "msk-connect" {
		step.Text, step.Command = "set it in the configuration of a new connector, with source.cluster.* and target.cluster.* client settings, on the target's kafkaCluster (aws kafkaconnect create-connector)", ""
	}
	return finding.Fix{Mode: f.fixMode(), Text: "Create the checkpoint connector, with the same aliases, topics, policy and offset-syncs location as the source connector, and with the same client settings for the two clusters.",
		Steps: []finding.Step{step}, WaitSeconds: int(waitMs / 1000)}
}

// connectPlace is where the connectors of the flow were looked for.
func (f *flowView) connectPlace() string {
	if f.ConnectURL == "" {
		return "what was given"
	}
	return "the Connect cluster at " + f.ConnectURL
}

// groupsAreOld says that an earlier look, at least a discovery budget ago, saw an eligible group already.
func (f *flowView) groupsAreOld() bool {
	f.v.touch(finding.EarlierLook)
	return f.sinceBefore() > f.discoveryBudget()
}

func (f *flowView) eligibleGroups() int {
	seen := map[string]bool{}
	for _, gp := range f.rows {
		if e, st := gp.eligible().Get(); st == snapshot.Known && e && gp.part >= 0 {
			seen[gp.group] = true
		}
	}
	return len(seen)
}

// startUnknown: nothing tells whether MirrorMaker 2 has just begun, so that a missing topic may be made in a moment.
func startUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	if _, ok := f.connectorStart(connCheckpoint); ok || !f.Running.Unknown() || !f.Syncs.Unknown() || !f.Checkpointed.Absent() {
		return nil
	}
	return &snapshot.Gap{Code: "unknown-age", Why: "when MirrorMaker 2 started is not known: " + f.Syncs.Why().String()}
}

func checkCheckpointsMissing(_ *View, s subject) *finding.Finding {
	f := s.flow
	if !f.Checkpointed.Absent() || f.eligibleGroups() == 0 || f.justStarted(connCheckpoint) {
		return nil
	}
	return &finding.Finding{
		Observed:    finding.Observed{{Name: "looked for", Value: f.Checkpoints}, {Name: "on", Value: f.Target}},
		Because:     fmt.Sprintf("%s does not exist on %s: the checkpoint connector creates it when it starts", f.Checkpoints, f.Target),
		Consequence: "No group has a translated position.",
		Confirm:     []finding.Command{listTopics(f.dst, "whether "+f.Checkpoints+" is there")},
		Fixes:       []finding.Fix{restartFix(f, "See that the checkpoint connector runs and writes to "+f.Target+f.workersPlace()+", then restart MirrorMaker 2.", f.emitBudget()+f.commitBudget())},
	}
}

// workersPlace reminds of what Connect-like modes can get wrong.
func (f *flowView) workersPlace() string {
	if f.fixMode() == "dedicated" {
		return ""
	}
	return " (the worker must be attached to the target)"
}

// checkCheckpointsEmpty needs a row that must have one: eligible, translatable, given to a task long enough ago.
func checkCheckpointsEmpty(v *View, s subject) *finding.Finding {
	f := s.flow
	c, st := f.Checkpointed.Get()
	if st != snapshot.Known || len(c.Newest) > 0 {
		return nil
	}
	for _, gp := range f.rows {
		if gp.part < 0 || !gp.overdue(false) {
			continue
		}
		return &finding.Finding{
			Observed:    finding.Observed{{Name: "records in " + f.Checkpoints, Value: c.Records}, {Name: "group given to a task", Value: agoOr(v.now, f.Assigned.Or(snapshot.Assigned{}).Time)}},
			Because:     fmt.Sprintf("%s is empty, although group %s was given to a checkpoint task and its position is translatable", f.Checkpoints, gp.group),
			Consequence: "No group has a translated position.",
			Confirm:     []finding.Command{checkpointsCommand(f), statusCommand(f)},
			Fixes:       []finding.Fix{restartFix(f, "The checkpoint task says RUNNING and does not work: look for `caught exception in scheduled task` in its log, then restart MirrorMaker 2.", f.emitBudget()+f.commitBudget())},
		}
	}
	return nil
}

// overdue says that the row must have a checkpoint by now: its group was given to a running task and its sync was written
// longer ago than the task needs, and every rule that may be at work translates the position. A group in the list of a task
// had a position when the list was written (3.4.1+), so with no checkpoint for anyone one look is enough where all of the
// log is translatable; for a single row, whose first commit may be a moment old, twice asks for the same position in an
// earlier look.
func (gp groupPartition) overdue(twice bool) bool {
	f := gp.flow
	if e, st := gp.eligible().Get(); st != snapshot.Known || !e {
		return false
	}
	if a, st := gp.isAssigned().Get(); st != snapshot.Known || !a {
		return false
	}
	u, st := gp.sourceOffset().Get()
	if st != snapshot.Known || u < 0 {
		return false
	}
	t, tst, _ := gp.translate(u)
	if tst != snapshot.Known || !t.known || t.none || t.value < 0 {
		return false
	}
	if start, ok := f.checkpointTaskStart(); ok && f.v.began-start < f.emitBudget() {
		return false
	}
	a, old := f.Assigned.Or(snapshot.Assigned{}), f.v.began-f.emitBudget()
	if a.Time == 0 {
		twice = true // Connect's REST interface does not tell when the list was written
	}
	if a.Time >= old || t.sync.Time >= old {
		return false
	}
	if p, st := gp.sourcePartition().Get(); !twice && st == snapshot.Known && p.Start.Known() && t.oldest.Up <= p.Start.Or(0) {
		return true // wherever the group stood before, that was translatable too
	}
	e, ok := gp.earlier()
	if !ok || f.sinceBefore() < f.emitBudget() {
		return false
	}
	before, st := e.sourceOffset().Get()
	return st == snapshot.Known && before == u
}

func anyEligible(_ *View, s subject) bool {
	return slices.ContainsFunc(s.flow.rowsOfGroup(s.group), groupPartition.isEligible)
}

// checkNotDiscovered: the group passes the filters and is not in the list that the tasks were given.
func checkNotDiscovered(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.AssignedTo)
	if unmirrorable(s.group) != "" || f.assigned[s.group] || f.connectorDown(connCheckpoint) != "" {
		return nil
	}
	if g := f.src.groups[s.group]; g == nil || g.State.Absent() {
		return nil
	}
	interval := f.seconds(connCheckpoint, keyRefreshGroups, 600)
	a := f.Assigned.Or(snapshot.Assigned{})
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: keyRefreshGroups, Value: interval}, {Name: "groups given to tasks", Value: len(a.Groups)}, {Name: "list written", Value: agoOr(v.now, a.Time)}},
		Because:     fmt.Sprintf("the group passes the filters and is not among the %d that the checkpoint tasks were given", len(a.Groups)),
		Consequence: "Until then consumers of the group that fail over start by auto.offset.reset.",
		Fixes:       []finding.Fix{{Mode: f.fixMode(), Text: fmt.Sprintf("Wait one refresh (%d s). If the group is older than that, restart MirrorMaker 2: it looks when it starts.", interval), WaitSeconds: int((f.discoveryBudget() + f.commitBudget()) / 1000)}},
		Confirm:     []finding.Command{assignedCommand(f)},
	}
	within := age(interval*1000 + f.emitBudget() + f.commitBudget())
	switch p, why := f.pulse(); {
	case p >= faint:
		fd.Because += "; it is found when MirrorMaker 2 looks for groups, and nobody looks at present: " + why
		fd.Consequence = "Consumers of the group that fail over start by auto.offset.reset."
		fd.Fixes = []finding.Fix{restartFix(f, "Start MirrorMaker 2 again: it looks for groups when it starts.", f.discoveryStart()+f.emitBudget()+f.commitBudget())}
	case p == unheard:
		fd.Because += fmt.Sprintf("; MirrorMaker 2 looks for new groups every %d s: if it runs, which nothing tells%s, the group appears on %s at the latest %s from now", interval, f.lastHeard(), f.Target, within)
	default:
		fd.Because += fmt.Sprintf("; MirrorMaker 2 looks for new groups every %d s: it appears on %s at the latest %s from now", interval, f.Target, within)
	}
	return fd
}

// checkBeforeOldest: the position lies before everything that the store can hold.
func checkBeforeOldest(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	u, _ := gp.sourceOffset().Get()
	ps, st := gp.syncsOf().Get()
	if st != snapshot.Known || u < 0 {
		return nil
	}
	t, _, _ := gp.translate(u)
	if !t.known || !t.none {
		return nil
	}
	if p, st := gp.sourcePartition().Get(); st == snapshot.Known && u < p.Start.Or(0) {
		return nil // the position is gone on the source as well: expected, not MirrorMaker 2's doing
	}
	// An older checkpoint still serves it, or someone set a position by hand that skips nothing.
	t0, tst := gp.targetOffset().Get()
	c, cst := gp.checkpoint().Get()
	if tst == snapshot.Known && t0 >= 0 && (t0 <= t.most || cst == snapshot.Known && c.Up <= u) || cst == snapshot.Known && c.Up <= u && f.stillCommits(c) {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "U", Value: u}, {Name: "oldest usable sync", Value: fmt.Sprintf("%d -> %d (offset %d)", t.oldest.Up, t.oldest.Down, t.oldest.Offset)}, {Name: "newest sync", Value: fmt.Sprintf("%d -> %d (offset %d)", ps.Newest.Up, ps.Newest.Down, ps.Newest.Offset)}, {Name: "records until translatable", Value: t.oldest.Up - u}},
		Because:     fmt.Sprintf("the position %d lies before the oldest usable offset sync (%d -> %d)", u, t.oldest.Up, t.oldest.Down),
		Consequence: fmt.Sprintf("MirrorMaker 2 writes no checkpoint until the group has passed %d: %d records to go.", t.oldest.Up, t.oldest.Up-u),
		Confirm:     []finding.Command{syncsCommand(f), groupCommand(f.src, gp.group)},
		Fixes:       []finding.Fix{earliestFix(f, []groupPartition{gp})},
	}
	if tst == snapshot.Unknown || tst == snapshot.Known && cst == snapshot.Unknown {
		fd.Severity = finding.Warning
		fd.Because += fmt.Sprintf("; whether an older offset on %s still serves it is not known", f.Target)
	}
	if e, ok := gp.earlier(); ok {
		if before, st := e.sourceOffset().Get(); st == snapshot.Known && before != u {
			fd.Severity = finding.Info // on its way: it will pass the sync
			fd.Because += fmt.Sprintf("; it moves (%d a moment ago)", before)
		}
	}
	if f.gens.set.All()[0] >= 3 && !f.gens.set.Has(5) {
		fd.Bugs = []string{"KAFKA-15905"}
	}
	return fd
}

// stillCommits says that the task has a checkpoint to commit, whatever syncs are left: it wrote it since its start, or loaded it
// then (3.7.1 and later). A topic that was compacted since may lack the sync that the checkpoint came from; then a start that is
// not known (Connect's REST interface tells none) proves no loss.
func (f *flowView) stillCommits(c snapshot.Checkpoint) bool {
	if g, one := f.gens.set.Only(); one && g == mm2.G5 {
		return true
	}
	if start, ok := f.checkpointTaskStart(); ok {
		return c.Time >= start
	}
	f.v.touch(finding.SyncsTopic)
	sy, _ := f.Syncs.Get()
	return sy.Records < sy.End-sy.Start
}

// earliestFix sets positions by hand that skip nothing, for positions that MirrorMaker 2 cannot translate.
func earliestFix(f *flowView, gps []groupPartition) finding.Fix {
	fix := finding.Fix{Mode: "kafka", WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000),
		Text: fmt.Sprintf("Let the group consume past the oldest sync on %s, or set its position on %s by hand while it is idle there. Nothing in MirrorMaker 2 brings the lost syncs back; from 3.7.1 on a restart no longer loses them (KAFKA-15905).", f.Source, f.Target)}
	for _, gp := range gps {
		fix.Steps = append(fix.Steps, finding.Step{Text: "set the position on " + f.Target + " to the start of the copy: reads again, skips nothing", Command: groupsCommand(f.dst, "--reset-offsets --group "+finding.Quote(gp.group)+" --topic "+finding.Quote(fmt.Sprintf("%s:%d", gp.remote, gp.part))+" --to-earliest --execute"),
			Undo: groupsCommand(f.dst, "--delete-offsets --group "+finding.Quote(gp.group)+" --topic "+finding.Quote(gp.remote))})
	}
	return fix
}

// withoutCheckpoint narrows to eligible rows that have no checkpoint though the topic has some.
func withoutCheckpoint(v *View, s subject) bool {
	return eligibleRow(v, s) && s.gp.checkpoint().Absent() && s.flow.Checkpointed.Known() && !s.gp.syncsOf().Absent()
}

func checkWithoutCheckpoint(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	if !gp.overdue(true) {
		return nil
	}
	u, _ := gp.sourceOffset().Get()
	t, _, _ := gp.translate(u)
	return &finding.Finding{
		Observed:    finding.Observed{{Name: "U", Value: u}, {Name: "translates to", Value: t.value}, {Name: "sync", Value: fmt.Sprintf("%d -> %d (offset %d)", t.sync.Up, t.sync.Down, t.sync.Offset)}},
		Because:     fmt.Sprintf("the group was given to a checkpoint task, its position %d translates to %d, and the task wrote no checkpoint for longer than it needs", u, t.value),
		Consequence: "The group has no position for this partition on " + f.Target + ".",
		Confirm:     []finding.Command{checkpointsCommand(f), groupCommand(f.src, gp.group)},
		Fixes:       []finding.Fix{restartFix(f, "Look for `Error querying offsets for consumer group` in MirrorMaker 2's log (a missing Describe right on the group is the most frequent), then restart it.", f.emitBudget()+f.commitBudget())},
	}
}

func checkNeverCommitted(v *View, s subject) *finding.Finding {
	f := s.flow
	gs, _ := f.src.listed.Get()
	var ids []string
	for i := range gs {
		g := &gs[i]
		if g.State.Absent() || g.State.Or("") == kafka.StateDead || g.ProtocolType != "" && g.ProtocolType != "consumer" || !f.inScope(g.ID) {
			continue
		}
		if t := g.Type.Or(""); t == kafka.TypeShare || t == kafka.TypeStreams {
			continue
		}
		if d := f.groupFilter(g.ID); !d.known || !d.passes {
			continue // MirrorMaker 2 would not look at it anyway
		}
		if os, st := g.Offsets.Get(); st == snapshot.Known && len(os) == 0 {
			ids = append(ids, g.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	return &finding.Finding{Subject: finding.Subject{Group: ids[0]}, Subjects: groupSubjects(ids), Observed: finding.Observed{{Name: "groups", Value: list(ids, 5)}},
		Because:     fmt.Sprintf("%s on %s without a single committed offset: %s", finding.Count(len(ids), "group"), f.Source, list(ids, 5)),
		Consequence: "There is nothing to translate; on " + f.Target + " they start by auto.offset.reset.",
		Confirm:     []finding.Command{groupCommand(f.src, ids[0])}}
}

func checkTypes(v *View, s subject) *finding.Finding {
	f := s.flow
	gs, _ := f.src.listed.Get()
	var ids, words []string
	for i := range gs {
		t := gs[i].Type.Or("")
		if t != kafka.TypeShare && t != kafka.TypeStreams || !f.inScope(gs[i].ID) {
			continue
		}
		if d := f.groupFilter(gs[i].ID); d.known && !d.passes {
			continue // nobody asks MirrorMaker 2 for it
		}
		ids, words = append(ids, gs[i].ID), append(words, gs[i].ID+" ("+string(t)+")")
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	slices.Sort(words)
	return &finding.Finding{Subject: finding.Subject{Group: ids[0]}, Subjects: groupSubjects(ids), Observed: finding.Observed{{Name: "groups", Value: list(words, 5)}},
		Because:     "MirrorMaker 2 asks for consumer groups only and does not see share and streams groups: " + list(words, 5),
		Consequence: "Their positions are not translated by any version.",
		Confirm:     []finding.Command{{Cluster: f.Source, Command: "kafka-groups.sh --bootstrap-server " + bootstrapOf(f.src) + " --list", Shows: "the type of each group"}}}
}

// groupSubjects lists groups, up to what a finding lists.
func groupSubjects(ids []string) []finding.Subject {
	out := make([]finding.Subject, 0, len(ids))
	for _, id := range ids[:min(len(ids), mostSubjects)] {
		out = append(out, finding.Subject{Group: id})
	}
	return out
}
