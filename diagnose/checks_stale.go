package diagnose

import (
	"cmp"
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// fewPartitions is how many partitions a source task serves at most with one commit: ten sends are in flight, and what is held
// back beyond them waits for the next one.
const fewPartitions = 10

// overdueSync is a sync that this version should have written: records that were mirrored by the time of the look before, and by
// now no sync for them.
type overdueSync struct {
	newest snapshot.Sync
	behind int64 // offsets of the copy behind the newest sync, in the look before
	allows int64 // how many the version lets go without one
	flush  bool  // fewer than that, but a commit of source offsets has passed since (3.7.0 and later)
}

// overdueSync needs two looks at least two commits of source offsets apart: the same newest sync in both, and a copy that goes
// on. A copy that rests owes no sync to a task that started since.
func (s subject) overdueSync() (o overdueSync, gap *snapshot.Gap) {
	f, gp := s.flow, s.gp
	before, ok := gp.earlier()
	if !ok || f.sinceBefore() < f.flushBudget() || f.sourceConnectorDown() != "" {
		return o, nil
	}
	p1, p0 := gp.syncsOf().Or(nil), before.syncsOf().Or(nil)
	end1, st1 := gp.targetPartition().Or(snapshot.Partition{}).End.Get()
	end0, st0 := before.targetPartition().Or(snapshot.Partition{}).End.Get()
	if p1 == nil || p0 == nil || st1 != snapshot.Known || st0 != snapshot.Known || p1.Newest != p0.Newest || p1.Newest.Down >= end0 || end1 <= end0 {
		return o, nil
	}
	if start, known := f.sourceTaskStart(); known && f.v.now-start < f.flushBudget() {
		return o, nil
	}
	o.newest, o.behind = p1.Newest, end0-1-p1.Newest.Down
	if gp.remote == gp.topic { // others may write to a copy of the same name: only the connector's own position counts
		pos := before.flow.position(gp.topic, gp.part)
		x, st := pos.Get()
		switch {
		case st == snapshot.Known:
			o.behind = min(o.behind, x.Offset-p1.Newest.Up)
		case o.behind > 0 && st == snapshot.Unknown:
			return o, cmp.Or(pos.Why(), &snapshot.Gap{Code: "not-asked", Why: "the copy has the name of its source, others may write to it, and the source connector's stored positions were not asked"})
		default:
			o.behind = 0
		}
	}
	o.allows, _ = f.lagMax()
	yes, known := f.syncsByDistance()
	switch {
	case !known && o.behind > o.allows:
		return o, &snapshot.Gap{Code: "undetermined", Why: fmt.Sprintf("%d records were mirrored since the newest offset sync; up to 3.4.0 that is normal, and the version of MirrorMaker 2 is not known; --mm2-version tells it", o.behind)}
	case !yes:
		o.behind = 0
	case o.behind > o.allows:
	default:
		es := f.emissions()
		o.flush = o.behind > 0 && len(es) == 1 && es[0] == mm2.E3 && !f.exactlyOnce() // markers of transactions are no records
		if !o.flush {
			o.behind = 0
		}
	}
	return o, nil
}

func staleUnknown(_ *View, s subject) *snapshot.Gap {
	_, gap := s.overdueSync()
	return gap
}

func checkStale(_ *View, s subject) *finding.Finding {
	f := s.flow
	o, gap := s.overdueSync()
	if gap != nil || o.behind <= 0 {
		return nil
	}
	f.v.touch(finding.SyncsTopic)
	rule := fmt.Sprintf("one every %d records (%s %d)", o.allows+1, keyLagMax, o.allows)
	if o.flush {
		rule += " and one for the last record at each commit of source offsets"
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "newest sync", Value: shownSync(o.newest)}, {Name: "written", Value: age(f.v.now-o.newest.Time) + " ago"}, {Name: "records of the copy behind it", Value: o.behind}, {Name: keyLagMax, Value: o.allows}, {Name: "between the looks", Value: age(f.sinceBefore())}},
		Because:     fmt.Sprintf("%d records of %s-%d were mirrored behind the newest offset sync (%d -> %d) %s ago, records go on being mirrored, and no newer sync was written; this version writes %s", o.behind, s.topic, s.gp.part, o.newest.Up, o.newest.Down, age(f.sinceBefore()), rule),
		Consequence: fmt.Sprintf("Every position beyond %d is translated to %d: at a failover all that was read since is read again.", o.newest.Up, o.newest.Down+1),
		Confirm:     []finding.Command{syncsCommand(f), logEnds(f.dst, s.gp.remote, "", "the end of the copy, which grows")},
		Fixes: []finding.Fix{{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.flushBudget()) / 1000), Steps: []finding.Step{restartSource(f)},
			Text: "Look into MirrorMaker 2's log for `Failure sending offset sync.` (a missing Write right on the offset-syncs topic, too few replicas in sync) and for source offsets that are not committed (`Failed to flush`, `Timed out waiting to flush`): syncs that are held back wait for that commit. Repair that, then restart the source connector: the next record of each partition writes a sync."}},
	}
	if o.flush {
		sy, _ := f.Syncs.Get()
		if len(sy.Partitions) > fewPartitions {
			fd.Severity = finding.Info // more partitions than one commit serves: each has to wait its turn
			fd.Because += fmt.Sprintf("; with %d partitions a sync may wait for several commits, since ten are sent at a time", len(sy.Partitions))
		}
	}
	return fd
}
