package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/translate"
)

// The check 207: a translation that MirrorMaker 2 should have written and did not.

// promise is what a position translates to. sure: whatever the task forgot, it cannot miss it.
type promise struct {
	translation
	sure bool
}

// waiting is a translation above the checkpoint that waits for the next round of the task's loop.
func (gp groupPartition) waiting(u int64) (p promise, c snapshot.Checkpoint, yes bool) {
	c, cst := gp.checkpoint().Get()
	if cst != snapshot.Known || u < 0 {
		return p, c, false
	}
	p, ok := gp.promised(u)
	return p, c, ok && p.value > c.Down
}

// translationWaits narrows to rows, seen twice, whose position translates above the checkpoint as far as that is known.
func translationWaits(v *View, s subject) bool {
	if s.flow.earlier == nil || !eligibleRow(v, s) || s.gp.checkpoint().Absent() {
		return false // one look says that it moves
	}
	u, ust := s.gp.sourceOffset().Get()
	if ust == snapshot.Unknown || s.gp.syncsOf().Unknown() {
		return true
	}
	_, _, yes := s.gp.waiting(u)
	return yes && ust == snapshot.Known
}

// promised is a translation that the task has to come to. It is sure where it rests on the newest offset sync, which every store
// holds, or where the topic still has all its records and both a task that kept its history and one that began anew come at least
// as far. It is likely from 3.7.1 on where only the history gives it: a task that cannot read its checkpoints at its start drops
// the history. From a compacted topic an older sync may look usable that the task's 64 slots have dropped; that promises nothing.
func (gp groupPartition) promised(up int64) (promise, bool) {
	f := gp.flow
	ps, st := gp.syncsOf().Get()
	if st != snapshot.Known {
		return promise{}, false
	}
	t, _, _ := gp.translate(up)
	if !t.known || t.none || t.value < 0 {
		return promise{}, false
	}
	if up >= ps.Newest.Up {
		return promise{t, true}, true
	}
	f.v.touch(finding.SyncsTopic)
	sy, _ := f.Syncs.Get()
	if g, one := f.gens.set.Only(); !one || g != mm2.G5 || sy.Start > 0 || sy.Records < sy.End-sy.Start || ps.Rewinds > 0 {
		return promise{}, false
	}
	start, ok := f.checkpointTaskStart()
	if !ok || sy.TaskStart != start || len(ps.TwoPointerSince) == 0 {
		return promise{t, false}, true
	}
	since := ask(mm2.G5, translate.TwoPointer, ps.TwoPointerSince, up)
	if !since.known || since.none {
		return promise{t, false}, true
	}
	if since.value < t.value {
		t.value, t.sync = since.value, since.sync
	}
	return promise{t, true}, true
}

// dueSince says that the row's translation has waited for two rounds of a running task and more: where the group stood in the
// earlier look already translates above the checkpoint, by a sync that was there then, and the checkpoint is the same. Up to 3.4.0
// every round writes, from 3.4.1 on only an advance does (and this is one).
func (gp groupPartition) dueSince() (t promise, c snapshot.Checkpoint, before int64, yes bool) {
	f := gp.flow
	e, ok := gp.earlier()
	if !ok || f.sinceBefore() < f.emitBudget() {
		return t, c, 0, false
	}
	if start, ok := f.checkpointTaskStart(); ok && e.flow.v.now-start < f.emitBudget() {
		return t, c, 0, false // it may still have been loading
	}
	if a, st := gp.isAssigned().Get(); st != snapshot.Known || !a || f.Assigned.Or(snapshot.Assigned{}).Time > e.flow.v.now {
		return t, c, 0, false
	}
	if a, st := e.isAssigned().Get(); st != snapshot.Known || !a {
		return t, c, 0, false // found in between: the task was started anew
	}
	u, ust := gp.sourceOffset().Get()
	before, bst := e.sourceOffset().Get()
	was, wst := e.checkpoint().Get()
	read, rst := e.syncsOf().Get()
	if ust != snapshot.Known || bst != snapshot.Known || wst != snapshot.Known || rst != snapshot.Known || u < before {
		return t, c, 0, false
	}
	t, c, yes = gp.waiting(before)
	return t, c, before, yes && c.Offset == was.Offset && t.sync.Offset <= read.Newest.Offset
}

func checkCheckpointBehind(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	if f.connectorDown(connCheckpoint) != "" {
		return nil // 208 says why
	}
	t, c, before, yes := gp.dueSince()
	if !yes {
		return nil
	}
	u, _ := gp.sourceOffset().Get()
	fd := &finding.Finding{
		Observed: finding.Observed{{Name: "U", Value: u}, {Name: "U before", Value: before}, {Name: "translates to", Value: t.value}, {Name: "sync", Value: fmt.Sprintf("%d -> %d (offset %d)", t.sync.Up, t.sync.Down, t.sync.Offset)},
			{Name: "C", Value: fmt.Sprintf("%d -> %d, written %s ago", c.Up, c.Down, age(v.now-c.Time))}, {Name: keyEmitInterval, Value: f.seconds(connCheckpoint, keyEmitInterval, defaultEmitSeconds)}},
		Because: fmt.Sprintf("the position %d translates to %d by an offset sync that is %s old, the checkpoint still says %d after %s, and the task's loop writes an advance every %d s", before, t.value, age(v.now-t.sync.Time), c.Down,
			age(f.sinceBefore()), f.seconds(connCheckpoint, keyEmitInterval, defaultEmitSeconds)),
		Consequence: fmt.Sprintf("The group's offset on %s stands still: after a failover it reads %d offsets again, and more with time.", f.Target, t.value-c.Down),
		Confirm:     []finding.Command{checkpointsCommand(f), syncsCommand(f), groupCommand(f.src, gp.group)},
	}
	if !t.sure {
		fd.Severity = finding.Warning
		fd.Because += "; a task that could not read its old checkpoints when it started (`Not authorized to access checkpoints topic` in its log) lacks that sync"
	}
	text := "Look into MirrorMaker 2's log: `Error querying offsets for consumer group` (one group: a missing Describe right, or its coordinator does not answer), `Failure polling consumer state for checkpoints` or `Unexpected exception in Thread[KafkaBasedLog` (all groups of the task). Repair what it names, then restart it."
	switch version := f.gens.version; {
	case version.IsZero():
		text += " From 3.4.1 to 3.7.0 a restart leaves lagging groups without new checkpoints until they pass the newest offset sync (KAFKA-15905)."
	case version.Before(3, 4, 1):
		text += " Up to 3.4.0 one group with an empty position stops all groups of its task (KAFKA-14545): upgrade."
	case version.Before(3, 7, 1):
		text += " In this version a restart leaves lagging groups without new checkpoints until they pass the newest offset sync (KAFKA-15905)."
	}
	fd.Fixes = []finding.Fix{restartFix(f, text, f.discoveryStart()+f.emitBudget()+f.commitBudget())}
	return fd
}
