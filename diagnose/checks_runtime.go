package diagnose

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// runtimeChecks are about the process: what runs against what was configured, task restarts, coordinators, clocks.
var runtimeChecks = []check{
	{Code: 608, Grain: finding.OnFlow, Needs: finding.Running | finding.Configured, Decides: true, Uses: finding.Settings | finding.Tasks | finding.Generation | finding.LogSigns, Applies: fileAndWorkerRead, Run: checkInForce},
	{Code: 609, Grain: finding.OnFlow, Needs: finding.CheckpointStarts, Decides: true, Uses: finding.AssignedTo | finding.Settings | finding.Tasks | finding.EarlierLook | finding.Generation, Applies: startsRead, Run: checkStorm},
	{Code: 610, Grain: finding.OnFlow, Needs: finding.Settings, Uses: finding.Generation, Run: checkLatency},
	{Code: 612, Grain: finding.OnFlow, Needs: finding.CheckpointSet, Uses: finding.Tasks | finding.AssignedTo | finding.Settings | finding.SyncsOf | finding.SyncsTopic | finding.SourceOffset | finding.CheckpointsOf | finding.TargetTopic | finding.Generation | finding.EarlierLook | finding.LogSigns, When: mm2.SetOf(mm2.G3, mm2.G4, mm2.G5), Decides: true, Gap: loadUnknown, Run: checkStoreLoad},
}

// asked says that a fact is known or that reading it failed; what nobody asked for leaves no question open.
func asked[T any](f snapshot.Fact[T]) bool { return !f.Unknown() || f.Why().Failed() }

func startsRead(_ *View, s subject) bool { return asked(s.flow.CheckpointStarts) }

// Bounds of a storm of task starts. A refresh of groups that finds a change starts all checkpoint tasks anew, at most once in
// refresh.groups.interval.seconds; several tasks start within seconds of each other.
const (
	sameStart   = 15_000   // ms, starts that are one
	stormWindow = 3600_000 // ms, or six refreshes where that is longer
	stormStarts = 4        // starts in the window, not counting those of the connector itself
	stormFresh  = 2        // refreshes since the newest
)

// checkStorm counts starts that no start of the connector explains: those belong to a restart or a move to another node.
func checkStorm(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.CheckpointStarts | finding.AssignedTo | finding.Generation)
	refresh := 1000 * f.seconds(connCheckpoint, keyRefreshGroups, 600)
	window := max(stormWindow, 6*refresh)
	connector, _ := f.connectorStart(connCheckpoint)
	var starts []int64
	newest := int64(0) // also of those that are one with an earlier one
	for _, at := range f.CheckpointStarts.Or(nil) {
		if at < v.now-window || at < connector+startGrace {
			continue
		}
		newest = at
		if len(starts) == 0 || at-starts[len(starts)-1] >= sameStart {
			starts = append(starts, at)
		}
	}
	if len(starts) < stormStarts || v.now-newest > stormFresh*refresh+margin {
		return nil
	}
	var gaps []int64
	for i := 1; i < len(starts); i++ {
		gaps = append(gaps, starts[i]-starts[i-1])
	}
	slices.Sort(gaps)
	gap := gaps[len(gaps)/2]
	round := f.emitBudget() + f.commitBudget()
	a, ast := f.Assigned.Get()
	fd := &finding.Finding{
		Observed: finding.Observed{{Name: "starts", Value: fmt.Sprintf("%d in %s", len(starts), age(v.now-starts[0]))}, {Name: "usual time between two", Value: age(gap)}, {Name: keyRefreshGroups, Value: refresh / 1000}},
		Because:  fmt.Sprintf("the checkpoint tasks were started %d times in the last %s, about every %s, while the connector itself ran on", len(starts), age(v.now-starts[0]), age(gap)),
		Confirm:  []finding.Command{statusCommand(f), assignedCommand(f)},
	}
	churn := ast == snapshot.Known && a.Time > 0 && slices.ContainsFunc(starts, func(at int64) bool { return at >= a.Time-margin && at-a.Time < startGrace })
	if ast == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "groups of the tasks", Value: len(a.Groups)}, snapshot.Named{Name: "list last changed", Value: agoOr(v.now, a.Time)})
	}
	changed := f.changedGroups()
	if len(changed) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "came or went", Value: list(changed, 5)})
	}
	text := "Look for `Rebalance started` and `Found N consumer groups` in MirrorMaker 2's log: either the workers' group rebalances (a node that comes and goes), or groups come and go."
	if churn || len(changed) > 0 {
		fd.Because += "; the list of groups changed at that time: each refresh that finds a group come or gone starts all checkpoint tasks anew"
		text = "Leave short-lived groups out with groups.exclude (the value replaces the default: repeat it), or look for groups less often."
	}
	forgets := f.gens.set.Has(mm2.G3) || f.gens.set.Has(mm2.G4)
	switch {
	case gap < round:
		fd.Consequence = fmt.Sprintf("A checkpoint and its commit need up to %s after a start: groups on %s get their offsets late or never.", age(round), f.Target)
	case forgets:
		fd.Consequence = "From 3.4.1 to 3.7.0 each start forgets all but the newest offset sync: lagging groups get no checkpoints until they pass it (KAFKA-15905)."
	default:
		fd.Severity = finding.Info
		fd.Consequence = "Each start reads both topics anew; offsets come a little later."
	}
	if forgets {
		fd.Bugs = []string{"KAFKA-15905"}
	}
	wait := f.discoveryBudget() + f.commitBudget()
	fix := propertyFix(f, text, keyRefreshGroups, fmt.Sprint(max(3600, 6*refresh/1000)), wait)
	if v := f.gens.version; !v.IsZero() && v.Before(3, 4, 1) {
		fix.Text += " From 3.4.1 on groups without a position on a mirrored topic no longer count (KAFKA-14837)."
	}
	fd.Fixes = []finding.Fix{fix}
	return fd
}

// changedGroups are groups that are in the tasks' list now and were not in the earlier look, or the other way round.
func (f *flowView) changedGroups() []string {
	f.v.touch(finding.EarlierLook | finding.AssignedTo)
	if f.earlier == nil || !f.Assigned.Known() || !f.earlier.Assigned.Known() {
		return nil
	}
	var out []string
	for g := range f.assigned {
		if !f.earlier.assigned[g] {
			out = append(out, g)
		}
	}
	for g := range f.earlier.assigned {
		if !f.assigned[g] {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	return out
}

// longBudget is the sum of intervals, s, from which on the age of T is worth a remark; the defaults make 180.
const longBudget = 300

// checkLatency adds the intervals up: a record's exact sync waits for the flush of source offsets (from 3.7.0, KAFKA-15906), its
// checkpoint for the task's loop, its commit for the sync of idle groups.
func checkLatency(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.Generation)
	type part struct {
		connector, key string
		sec            int64
	}
	parts := []part{{worker, keyFlushInterval, f.flushSeconds()}, {connCheckpoint, keyEmitInterval, f.seconds(connCheckpoint, keyEmitInterval, defaultEmitSeconds)}}
	if on, _, ok := f.flag(connCheckpoint, keyEmitEnabled); ok && !on {
		return nil // 208
	}
	on, _, ok := f.flag(connCheckpoint, keySyncEnabled)
	if !ok || on {
		parts = append(parts, part{connCheckpoint, keySyncInterval, f.seconds(connCheckpoint, keySyncInterval, 60)})
	}
	sum, most := int64(0), parts[0]
	o := finding.Observed{}
	for _, p := range parts {
		sum += p.sec
		if p.sec > most.sec {
			most = p
		}
		o = append(o, snapshot.Named{Name: p.key, Value: age(1000 * p.sec)})
	}
	if sum <= longBudget {
		return nil
	}
	what := "an offset on " + f.Target
	if ok && !on {
		what = "a checkpoint"
	}
	fd := &finding.Finding{Observed: append(o, snapshot.Named{Name: "sum", Value: age(1000 * sum)}),
		Subject:     finding.Subject{Connector: f.connectorName(connCheckpoint)},
		Because:     fmt.Sprintf("by these intervals %s may be %s older than the group's position on %s; %s (%s) makes the most of it", what, age(1000*sum), f.Source, most.key, age(1000*most.sec)),
		Consequence: "After a failover a group reads again what it consumed in that time. A new group appears later still, by " + keyRefreshGroups + ".",
		Confirm:     []finding.Command{checkpointsCommand(f)}}
	if e, st := f.setting(most.connector, most.key).Get(); st == snapshot.Known {
		fd.Subject.File, fd.Subject.Line, fd.Subject.Key = e.File, e.Line, most.key
	}
	if most.key == keyFlushInterval {
		fd.Fixes = []finding.Fix{propertyFix(f, fmt.Sprintf("Where that is too old, shorten %s of the worker, then restart MirrorMaker 2; the default is 60 s.", most.key), most.key, "60000", f.flushBudget()+f.emitBudget()+f.commitBudget())}
	} else {
		fd.Fixes = []finding.Fix{propertyFix(f, fmt.Sprintf("Where that is too old, shorten %s; the default is 60 s.", most.key), most.key, "60", f.emitBudget()+f.commitBudget())}
	}
	return fd
}

// flushSeconds is offset.flush.interval.ms of the worker in seconds, 60 where it is not known.
func (f *flowView) flushSeconds() int64 { return (f.flushBudget() - margin) / 2000 }

// loadSign is the word for MirrorMaker 2's line about a start job that threw: `caught exception in scheduled task: starting
// (checkpoint and) offset sync stores`.
const loadSign = "store-load-failed"

// firstTaskStart is when the one of the checkpoint tasks that runs longest went to RUNNING, ms: whatever was written since is of
// tasks that run.
func (f *flowView) firstTaskStart() (int64, bool) {
	f.v.touch(finding.Tasks)
	var at int64
	for _, t := range f.Tasks.Or(nil) {
		if t.Connector == connCheckpoint && t.Task >= 0 && t.State == "RUNNING" && t.Time > 0 && (at == 0 || t.Time < at) {
			at = t.Time
		}
	}
	return at, at > 0
}

// checkStoreLoad: from 3.4.1 on one job loads the stores when a task starts, and only then translation and the sync of idle groups
// begin. If it throws, or never ends, the task says RUNNING and does nothing. Its log proves it; or no checkpoint for anybody was
// written since the start, although at least two groups had to get one.
func checkStoreLoad(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.CheckpointsOf)
	c, st := f.Checkpointed.Get()
	if st != snapshot.Known || f.connectorDown(connCheckpoint) != "" {
		return nil
	}
	start, told := f.firstTaskStart()
	fd := &finding.Finding{Subject: finding.Subject{Connector: f.connectorName(connCheckpoint)}, Observed: f.taskFacts(connCheckpoint),
		Consequence: "Nothing is translated and no group offset is committed, for all groups of the task, until it is started anew; its state stays RUNNING.",
		Confirm:     []finding.Command{statusCommand(f), checkpointsCommand(f)}}
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "newest checkpoint", Value: agoOr(v.now, c.Last)})
	text := "Look for `caught exception in scheduled task: starting` and `Error polling` in MirrorMaker 2's log: a record that is no offset sync, a topic that could not be looked up, a missing Read right. Repair it, then restart the checkpoint task."
	fd.Fixes = []finding.Fix{restartFix(f, text, f.discoveryStart()+f.emitBudget()+f.commitBudget())}
	for _, sign := range f.signs(loadSign) {
		// Whatever was written after that line came from a task that had loaded its stores.
		if sign.Last == 0 || c.Last > sign.Last || told && start > sign.Last {
			continue
		}
		fd.Because = fmt.Sprintf("MirrorMaker 2's log says it %s ago: %s; no checkpoint was written since", age(v.now-sign.Last), sign.Text)
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "log", Value: sign.Text})
		if !told {
			fd.Severity = finding.Warning
			fd.Because += ". When the task last started is not known"
		}
		return fd
	}
	if !told || v.began-start < f.emitBudget()+startGrace || c.Records == 0 || c.Last == 0 || c.Last >= start {
		return nil
	}
	var groups []string
	var first *groupPartition
	for i, gp := range f.rows {
		if gp.part < 0 || !gp.mustHaveBeenWritten(start) {
			continue
		}
		if first == nil {
			first = &f.rows[i]
		}
		if !slices.Contains(groups, gp.group) {
			groups = append(groups, gp.group)
		}
	}
	if len(groups) < 2 {
		return nil // one group alone may have a reason of its own: 207, 214
	}
	t, _ := first.promised(first.checkpoint().Or(snapshot.Checkpoint{}).Up)
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "groups that had to get one", Value: list(groups, 5)})
	fd.Because = fmt.Sprintf("the checkpoint task runs since %s and wrote no checkpoint for anybody since, although %s had to get one (%s, %s-%d: translates to %d): it did not load its offset syncs, or its loop fails", age(v.now-start), finding.Count(len(groups), "group"), first.group, first.topic, first.part, t.value)
	return fd
}

// loadUnknown: no checkpoint was written since the start, as far as that is known, and what else decides could not be read.
func loadUnknown(v *View, s subject) *snapshot.Gap {
	f := s.flow
	if gap := f.Tasks.Why(); gap.Failed() {
		return gap
	}
	start, told := f.firstTaskStart()
	c, _ := f.Checkpointed.Get()
	if !told || c.Records == 0 || c.Last >= start || v.began-start < f.emitBudget()+startGrace {
		return nil
	}
	for _, gap := range []*snapshot.Gap{f.Assigned.Why(), f.Syncs.Why(), f.settings.gap} {
		if gap.Failed() {
			return gap
		}
	}
	return nil
}

// mustHaveBeenWritten says that a task that works would have written the row since its start. Up to 3.7.0 a task begins without
// memory and writes every translatable position in its first round; from 3.7.1 on only an advance (or a first one) counts, which
// two looks prove.
func (gp groupPartition) mustHaveBeenWritten(start int64) bool {
	f := gp.flow
	if e, st := gp.eligible().Get(); st != snapshot.Known || !e {
		return false
	}
	if a, st := gp.isAssigned().Get(); st != snapshot.Known || !a || f.v.began-f.Assigned.Or(snapshot.Assigned{}).Time < f.emitBudget()+startGrace {
		return false
	}
	if t, _, _, due := gp.dueSince(); due && t.sure {
		return true
	}
	f.v.touch(finding.Generation)
	if f.gens.set.Has(mm2.G5) || f.gens.set.Has(mm2.G1) || f.gens.set.Has(mm2.G2) {
		return false
	}
	c, cst := gp.checkpoint().Get()
	u, ust := gp.sourceOffset().Get()
	if cst != snapshot.Known || ust != snapshot.Known || c.Time >= start || u < c.Up {
		return false
	}
	// Where the group stood at the checkpoint is translatable by a sync that the first round knew already.
	t, ok := gp.promised(c.Up)
	return ok && t.sure && t.sync.Time <= start
}

// forgetsHistory: what a start of the tasks costs up to 3.7.0.
func forgetsHistory(cause, _ *raw) bool { return slices.Contains(cause.f.Bugs, "KAFKA-15905") }
