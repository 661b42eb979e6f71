package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Statuses of a row that has no finding.
const (
	statusOK      = "ok"
	statusMoving  = "moving"
	statusUnknown = "unknown"
	statusWaiting = "waiting" // something is missing; a finding on the flow, the topic or the group names the cause
)

// assessment is how far the chain of one row goes, by its facts alone.
type assessment struct {
	link        finding.Link // the first link that is not ok
	status      string
	disposition Disposition
	note        string
	gap         *snapshot.Gap
	missing     string // the name of the fact that is not known
}

func unknownAt(l finding.Link, missing string, gap *snapshot.Gap) assessment {
	return assessment{link: l, status: statusUnknown, disposition: Unsure, missing: missing, gap: gap, note: missing + " not known: " + gap.String()}
}

func expectedAt(l finding.Link, note string) assessment {
	return assessment{link: l, status: statusOK, disposition: Expected, note: note}
}

// assess walks the chain of one row from the source to the target. What waits for MirrorMaker 2 is on its way only while that works.
func (gp groupPartition) assess() assessment {
	a := gp.walk()
	if a.status == statusMoving {
		if gap := gp.flow.down(); gap != nil {
			return unknownAt(a.link, factRunning, gap)
		}
	}
	return a
}

// factRunning is the name of the fact that MirrorMaker 2 works.
const factRunning = "mm2Running"

func (gp groupPartition) walk() assessment {
	f := gp.flow
	if gp.part < 0 {
		g := f.src.groups[gp.group]
		return unknownAt(finding.LinkCheckpoints, "committed.source", g.Offsets.Why())
	}
	if g := f.groupFilter(gp.group); g.known && !g.passes {
		return assessment{status: statusOK, disposition: Intended, note: g.left("group id")}
	}
	if t := f.topicFilter(gp.topic); t.known && !t.passes {
		return assessment{status: statusOK, disposition: Intended, note: t.left("topic name")}
	}
	u, ust := gp.sourceOffset().Get()
	if ust == snapshot.Unknown {
		return unknownAt(finding.LinkCheckpoints, "committed.source", gp.sourceOffset().Why())
	}
	if ust == snapshot.Absent || u < 0 {
		return expectedAt(finding.LinkCheckpoints, "no position on "+f.Source)
	}
	if a, stop := gp.assessReplication(); stop {
		return a
	}
	e := gp.eligible()
	if e.Unknown() {
		return unknownAt(finding.LinkCheckpoints, "filters", e.Why())
	}
	c, cst := gp.checkpoint().Get()
	if cst == snapshot.Unknown {
		return unknownAt(finding.LinkCheckpoints, "checkpoint", gp.checkpoint().Why())
	}
	tr, tst, gap := gp.translate(u)
	if cst == snapshot.Absent {
		return gp.assessNoCheckpoint(u, tr, tst, gap)
	}
	return gp.assessCommit(u, c, tr, tst)
}

// assessReplication covers links 0 and 1: the copy, and syncs for it.
func (gp groupPartition) assessReplication() (assessment, bool) {
	f := gp.flow
	src, sst := gp.sourcePartition().Get()
	if sst == snapshot.Absent {
		return expectedAt(finding.LinkReplication, "the topic or partition is no longer on "+f.Source), true
	}
	dst, dk := gp.targetPartition().Get()
	switch dk {
	case snapshot.Unknown:
		return unknownAt(finding.LinkReplication, "targetTopic", gp.targetPartition().Why()), true
	case snapshot.Absent:
		return assessment{link: finding.LinkReplication, status: statusWaiting, disposition: Expected, note: "no copy on " + f.Target}, true
	}
	s := gp.syncsOf()
	switch s.State() {
	case snapshot.Unknown:
		if gp.checkpoint().Known() {
			return assessment{}, false // a checkpoint proves that there was a sync
		}
		return unknownAt(finding.LinkSyncs, "sync", s.Why()), true
	case snapshot.Absent:
		if gp.checkpoint().Known() {
			return assessment{}, false
		}
		if end, st := dst.End.Get(); st == snapshot.Known && end == 0 {
			if sst == snapshot.Known && src.End.Or(0) == src.Start.Or(0) {
				return expectedAt(finding.LinkSyncs, "the partition is empty: nothing to translate"), true
			}
			return assessment{link: finding.LinkReplication, status: statusMoving, disposition: Expected, note: "nothing mirrored yet"}, true
		}
		return assessment{link: finding.LinkSyncs, status: statusWaiting, disposition: Expected, note: "no offset sync"}, true
	}
	return assessment{}, false
}

func (gp groupPartition) assessNoCheckpoint(u int64, tr translation, tst snapshot.State, gap *snapshot.Gap) assessment {
	f := gp.flow
	if tst == snapshot.Unknown {
		return unknownAt(finding.LinkSyncs, "sync", gap)
	}
	if p, st := gp.sourcePartition().Get(); st == snapshot.Known && u < p.Start.Or(0) && (tst == snapshot.Absent || tr.none || !tr.known) {
		return expectedAt(finding.LinkCheckpoints, fmt.Sprintf("the position %d lies before the log start %d on %s: nothing to translate", u, p.Start.Or(0), f.Source))
	}
	a, ast := gp.isAssigned().Get()
	switch {
	case tst == snapshot.Known && tr.known && tr.none && gp.targetOffset().Or(noLimit) <= tr.most:
		return expectedAt(finding.LinkCheckpoints, "before the oldest usable sync; the position on "+f.Target+" skips nothing")
	case tst == snapshot.Known && tr.known && tr.none:
		return assessment{link: finding.LinkCheckpoints, status: statusWaiting, disposition: Expected, note: "before the oldest usable sync"}
	case ast == snapshot.Known && !a:
		return assessment{link: finding.LinkCheckpoints, status: statusWaiting, disposition: Expected, note: "not yet given to a checkpoint task"}
	case ast == snapshot.Known && f.settings.gap != nil:
		return unknownAt(finding.LinkCheckpoints, "settings", f.settings.gap) // how long a first checkpoint may take
	case ast == snapshot.Known && f.checkpointTaskYoung():
		// Whatever rule is at work, the task has not made its first checkpoints yet.
		return assessment{link: finding.LinkCheckpoints, status: statusMoving, disposition: Expected, note: "no checkpoint yet: the task has just started"}
	case !tr.known:
		return unknownAt(finding.LinkCheckpoints, "mm2Expected", &snapshot.Gap{Code: "undetermined", Why: "no checkpoint; candidates: the position lies before what the task still knows (206), or the task does not write one (214): " + tr.why})
	case ast == snapshot.Unknown:
		return unknownAt(finding.LinkCheckpoints, "checkpoint", &snapshot.Gap{Code: "undetermined", Why: "no checkpoint, and whether the checkpoint tasks know the group is not known (" + gp.isAssigned().Why().String() + "); candidates: not yet discovered (205), no checkpoint although it should have one (214)"})
	}
	if p, st := gp.sourcePartition().Get(); st == snapshot.Known && p.Start.Unknown() {
		return unknownAt(finding.LinkCheckpoints, "source.start", p.Start.Why())
	}
	if gp.overdue(false) {
		return unknownAt(finding.LinkCheckpoints, "checkpoint", &snapshot.Gap{Code: "one-look", Why: "the group was given to a checkpoint task and its position is translatable, yet it has no checkpoint; one look cannot tell a first commit of a moment ago from a task that writes none (214)"})
	}
	return assessment{link: finding.LinkCheckpoints, status: statusMoving, disposition: Expected, note: "a first checkpoint is due"}
}

// assessCommit covers links 3 and 4 of a row that has a checkpoint.
func (gp groupPartition) assessCommit(u int64, c snapshot.Checkpoint, tr translation, tst snapshot.State) assessment {
	f := gp.flow
	t := gp.targetOffset()
	tv, ts := t.Get()
	if ts == snapshot.Unknown {
		return unknownAt(finding.LinkCommit, "committed.target", t.Why())
	}
	g := gp.targetGroup()
	if g.Unknown() {
		return unknownAt(finding.LinkCommit, "targetGroup", g.Why())
	}
	gv, gst := g.Get()
	if ts == snapshot.Known && tv > c.Down && tst == snapshot.Unknown {
		return unknownAt(finding.LinkCommit, "sync", gp.syncsOf().Why()) // only the syncs tell whether T is too high
	}
	if end := gp.targetPartition(); ts == snapshot.Known {
		if st, gap := endState(end); st == snapshot.Unknown {
			return unknownAt(finding.LinkAccuracy, "target.end", gap)
		}
		if p, st := end.Get(); st == snapshot.Known && p.Start.Unknown() && p.Start.Why() != nil {
			return unknownAt(finding.LinkAccuracy, "target.start", p.Start.Why())
		}
	}
	if gap := typeUnread(f.v, subject{flow: f, group: gp.group, gp: gp}); gap != nil {
		return unknownAt(finding.LinkCommit, "targetGroup.type", gap) // of another type it may be refused, or overwritten
	}
	if gap := gp.commitUnread(c); gap != nil {
		return unknownAt(finding.LinkCommit, "committed.target", gap)
	}
	if gap := gp.underWay(); gap != nil {
		return unknownAt(finding.LinkAccuracy, "exact", gap)
	}
	active := gst == snapshot.Known && gv.State.Or("").Active()
	on, _, ok := f.flag(connCheckpoint, keySyncEnabled)
	switch {
	case ok && !on && (ts == snapshot.Absent || tv < c.Down):
		return assessment{link: finding.LinkCommit, status: statusWaiting, disposition: Expected, note: "group-offset sync is off"}
	case active:
		return assessment{link: finding.LinkCommit, status: statusOK, disposition: Expected, note: "active on " + f.Target}
	case ts == snapshot.Absent, tv < c.Down:
		if !ok {
			return unknownAt(finding.LinkCommit, "settings", f.settings.gap)
		}
		if gp.waitsTooLong(c) {
			return unknownAt(finding.LinkCommit, "committed.target", &snapshot.Gap{Code: "one-look", Why: "a checkpoint waits for longer than two passes; one look cannot tell a group that has just become empty on " + f.Target + " from a job that does not run (304)"})
		}
		return assessment{link: finding.LinkCommit, status: statusMoving, disposition: Expected, note: fmt.Sprintf("checkpoint %d waits for the next pass (every %d s)", c.Down, f.seconds(connCheckpoint, keySyncInterval, 60))}
	case tst == snapshot.Known && tr.known && !tr.none && tr.value > c.Down:
		return assessment{link: finding.LinkCheckpoints, status: statusMoving, disposition: Expected, note: fmt.Sprintf("translation %d waits for the next checkpoint (every %d s)", tr.value, f.seconds(connCheckpoint, keyEmitInterval, 60))}
	}
	return assessment{link: finding.LinkNone, status: statusOK, disposition: Expected}
}

// commitUnread is a fact of the copy or the brokers without which T, or the commit of a checkpoint, cannot be judged although
// something about it is out of the ordinary: an epoch, long metadata; and the log start, which is always read.
func (gp groupPartition) commitUnread(c snapshot.Checkpoint) *snapshot.Gap {
	s := subject{flow: gp.flow, group: gp.group, topic: gp.topic, gp: gp}
	if p, st := gp.targetPartition().Get(); st == snapshot.Known && p.Start.Unknown() && p.Start.Why() != nil && gp.targetOffset().Or(0) > 0 {
		return p.Start.Why()
	}
	if hasEpoch(gp.flow.v, s) {
		if gap := epochUnread(gp.flow.v, s); gap != nil {
			return gap
		}
	}
	if overwritten(gp.flow.v, s) && gp.targetOffset().Or(0) > c.Down {
		return blindnessUnknown(gp.flow.v, s)
	}
	if metadataSize(c) > defaultMetadataMax && waitsWithMetadata(gp.flow.v, s) {
		return metadataLimitUnread(gp.flow.v, s)
	}
	return nil
}

// waitsTooLong says that a checkpoint is older than a healthy MirrorMaker 2 needs to commit it, and that its task is not young.
func (gp groupPartition) waitsTooLong(c snapshot.Checkpoint) bool {
	f := gp.flow
	budget := f.commitBudget() + f.emitBudget()
	if start, ok := f.checkpointTaskStart(); ok && f.v.now-start < budget+f.discoveryStart() {
		return false
	}
	return f.v.now-c.Time > budget
}
