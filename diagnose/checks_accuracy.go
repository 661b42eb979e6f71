package diagnose

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const accuracyUses = finding.SourceOffset | finding.SyncsOf | finding.CheckpointsOf | finding.TargetLog | finding.SourceLog | finding.Generation | finding.Tasks | finding.Settings | finding.AssignedTo | finding.TargetTopic | finding.TargetOffset | finding.TargetGroup

// accuracyChecks are link 4: is the committed offset the right record.
var accuracyChecks = []check{
	{Code: 401, Grain: finding.OnGroupPartition, Needs: finding.TargetOffset | finding.TargetLog, Uses: accuracyUses | finding.SourcePositions | finding.EarlierLook, Applies: eligibleRow, Gap: underWay, Run: checkNegativeLag},
	{Code: 403, Grain: finding.OnGroupPartition, Needs: finding.TargetOffset | finding.TargetLog | finding.CheckpointsOf | finding.SyncsOf, Uses: accuracyUses | finding.SourcePositions | finding.EarlierLook, Applies: eligibleRow, Run: checkCopied},
	{Code: 405, Grain: finding.OnGroupPartition, Needs: finding.CheckpointsOf | finding.SyncsOf | finding.TargetLog, Uses: accuracyUses | finding.SourcePositions | finding.EarlierLook, Applies: eligibleRow, Run: checkExtrapolated},
}

func (gp groupPartition) targetEnd() (int64, bool) {
	p, st := gp.targetPartition().Get()
	if st != snapshot.Known {
		return 0, false
	}
	e, st := p.End.Get()
	return e, st == snapshot.Known
}

// copied says whether every record of the source below up had its copy when the copy's end was read. It is asked of versions
// that count on from a sync (up to 3.4.0): for them a group that is ahead of the copy lies beyond its end for a moment, and
// rightly so; later versions never go past a sync that was written, so beyond the end is wrong at any time. Where the source
// connector's stored position does not tell, a flow in which nothing moved between two looks has arrived.
func (gp groupPartition) copied(up int64) bool {
	f := gp.flow
	if g := f.gens.set; !g.Has(mm2.G1) && !g.Has(mm2.G2) {
		return true
	}
	if p, st := f.position(gp.topic, gp.part).Get(); st == snapshot.Known && up <= p.Offset+1 {
		return true
	}
	e, ok := gp.earlier()
	if !ok {
		return true // one look: the second decides
	}
	return e.ends() == gp.ends()
}

// ends are the log ends of a partition and its copy; -1 where one is not known.
func (gp groupPartition) ends() [2]int64 {
	out := [2]int64{-1, -1}
	for i, p := range []snapshot.Fact[snapshot.Partition]{gp.sourcePartition(), gp.targetPartition()} {
		if v, st := p.Get(); st == snapshot.Known {
			out[i] = v.End.Or(-1)
		}
	}
	return out
}

// underWay: T lies beyond the end of a copy that is still growing, and nothing tells whether the copy will pass it.
func underWay(_ *View, s subject) *snapshot.Gap { return s.gp.underWay() }

func (gp groupPartition) underWay() *snapshot.Gap {
	t, tst := gp.targetOffset().Get()
	end, ok := gp.targetEnd()
	if tst != snapshot.Known || !ok || t <= end || gp.copied(gp.sourceOffset().Or(noLimit)) {
		return nil
	}
	return &snapshot.Gap{Code: "moving", Cluster: gp.flow.Target, Why: fmt.Sprintf("T = %d lies beyond the end of the copy (%d), which is still growing: a MirrorMaker 2 up to 3.4.0 counts positions on before their records arrive; look again when the group or the producers rest, or upgrade", t, end)}
}

// checkNegativeLag: T was read before the end, and ends only grow, so T above it is no race.
func checkNegativeLag(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	t, tst := gp.targetOffset().Get()
	end, ok := gp.targetEnd()
	if tst != snapshot.Known || !ok || t <= end {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "T", Value: t}, {Name: "end of the copy", Value: end}, {Name: "lag", Value: end - t}},
		Because:     fmt.Sprintf("T = %d lies %d beyond the end of %s-%d (%d)", t, t-end, gp.remote, gp.part, end),
		Consequence: "A consumer that starts there finds its offset out of range: auto.offset.reset decides, latest skips, earliest repeats. Once the copy grows past it, records are skipped silently.",
		Confirm:     []finding.Command{groupCommand(f.dst, gp.group)},
	}
	if u, st := gp.sourceOffset().Get(); st == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "U", Value: u})
	}
	fd.Fixes = []finding.Fix{rewriteFix(f, []groupPartition{gp}, "")}
	return fd
}

// impossible says that a target position cannot be the translation of up: it lies beyond the copy's end, or after the copy of
// a record at or above up.
func (gp groupPartition) impossible(x, up int64) (string, bool) {
	if end, ok := gp.targetEnd(); ok && x > end && gp.copied(up) {
		return fmt.Sprintf("the copy ends at %d", end), true
	}
	ps, st := gp.syncsOf().Get()
	if st != snapshot.Known {
		return "", false
	}
	for _, r := range append([]snapshot.Run{{Sync: ps.Newest}, {Sync: ps.Oldest}}, ps.TwoPointer...) {
		if r.Sync.Up >= up && r.Sync.Down < x {
			return fmt.Sprintf("the offset sync %d -> %d (offset %d) puts %d at %d or before", r.Sync.Up, r.Sync.Down, r.Sync.Offset, up, r.Sync.Down), true
		}
	}
	return "", false
}

// outlived says that a wrong checkpoint does no harm any more: the group went on, and T is not wrong for where it stands now.
// Up to 3.4.0 a checkpoint that is not written again is not committed again either.
func (gp groupPartition) outlived(c snapshot.Checkpoint) bool {
	u, ust := gp.sourceOffset().Get()
	if ust != snapshot.Known || u == c.Up {
		return false
	}
	t, tst := gp.targetOffset().Get()
	if tst != snapshot.Known {
		return tst == snapshot.Absent
	}
	_, wrong := gp.impossible(t, u)
	return !wrong
}

// checkCopied: C.down equals C.up, or T equals U, where the copy has other offsets.
func checkCopied(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	c, cst := gp.checkpoint().Get()
	t, tst := gp.targetOffset().Get()
	u, ust := gp.sourceOffset().Get()
	var x, up int64
	var what string
	switch {
	case cst == snapshot.Known && c.Up == c.Down && c.Up > 0:
		x, up, what = c.Down, c.Up, "the checkpoint"
	case tst == snapshot.Known && ust == snapshot.Known && t == u && u > 0 && !(cst == snapshot.Known && t == c.Down): // else the checkpoint explains T
		x, up, what = t, u, "the target offset"
	default:
		return nil
	}
	proof, wrong := gp.impossible(x, up)
	if !wrong || what == "the checkpoint" && gp.outlived(c) {
		return nil
	}
	if end, ok := gp.targetEnd(); what == "the target offset" && (!ok || t <= end && !f.gens.set.Has(mm2.G1)) {
		return nil // no version since 3.3.0 copies offsets, so within the copy equal numbers are chance: a T held back after a rewind (303)
	}
	if ps, st := gp.syncsOf().Get(); st == snapshot.Known && ps.Newest.Up == ps.Newest.Down && ps.Oldest.Up == ps.Oldest.Down && what == "the checkpoint" {
		return nil // the syncs have no shift, so counting on from them gives equal numbers too: 405 tells
	}
	fd := &finding.Finding{
		Observed:    copiedFacts(what, up, u, ust),
		Because:     fmt.Sprintf("%s took over the source offset %d unchanged, but %s", what, up, proof),
		Consequence: "The number means another record on " + f.Target + ", or none: consumers skip or repeat.",
		Confirm:     []finding.Command{groupCommand(f.dst, gp.group), syncsCommand(f), checkpointsCommand(f)},
		Fixes:       []finding.Fix{rewriteFix(f, []groupPartition{gp}, "3.4.1")},
	}
	if tst == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "T", Value: t})
	}
	if end, ok := gp.targetEnd(); ok {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "end of the copy", Value: end})
	}
	if what == "the target offset" {
		fd.Fixes = []finding.Fix{lowerFix(f, []groupPartition{gp})} // nothing writes it again
	}
	if what == "the checkpoint" && f.gens.set.Has(mm2.G1) {
		fd.Bugs = []string{"KAFKA-12635"}
		fd.Because += "; up to 3.2.3 MirrorMaker 2 does so where it has read no offset sync yet (KAFKA-12635)"
	}
	return fd
}

// copiedFacts names the numbers: the checkpoint's own position may be older than U.
func copiedFacts(what string, up, u int64, ust snapshot.State) finding.Observed {
	if what != "the checkpoint" {
		return finding.Observed{{Name: "U", Value: up}}
	}
	o := finding.Observed{{Name: "C", Value: fmt.Sprintf("%d -> %d", up, up)}}
	if ust == snapshot.Known {
		o = append(o, snapshot.Named{Name: "U", Value: u})
	}
	return o
}

// checkExtrapolated: up to 3.4.0 a checkpoint counts on from the newest sync; where the offsets drifted since, it points past
// the record.
func checkExtrapolated(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	c, cst := gp.checkpoint().Get()
	ps, sst := gp.syncsOf().Get()
	if cst != snapshot.Known || sst != snapshot.Known {
		return nil
	}
	base, ok := countedOnFrom(ps, c)
	if _, onePast := fits(ps, &c); !ok || onePast {
		return nil // the newer rule gives this number too: if it is wrong now, the copy was cut or made anew
	}
	if !f.gens.set.Has(mm2.G1) && !f.gens.set.Has(mm2.G2) && (ps.Rewinds > 0 || !drifted(ps, base)) {
		return nil // it may be left from before an upgrade, but only a drift since then proves it
	}
	proof, wrong := gp.impossible(c.Down, c.Up)
	if !wrong || gp.outlived(c) {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "C", Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)}, {Name: "counted on from", Value: fmt.Sprintf("%d -> %d (offset %d)", base.Up, base.Down, base.Offset)}, {Name: "distance", Value: c.Up - base.Up}},
		Because:     fmt.Sprintf("the checkpoint %d -> %d is the sync %d -> %d counted on by %d, but %s: the offsets drifted since (compaction, transactions, lost syncs)", c.Up, c.Down, base.Up, base.Down, c.Up-base.Up, proof),
		Consequence: "Consumers that fail over skip records, or find their offset out of range (negative lag).",
		Bugs:        []string{"KAFKA-12468"},
		Confirm:     []finding.Command{syncsCommand(f), checkpointsCommand(f), groupCommand(f.dst, gp.group)},
		Fixes:       []finding.Fix{rewriteFix(f, []groupPartition{gp}, "3.4.1")},
	}
	if t, st := gp.targetOffset().Get(); st == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "T", Value: t})
	}
	if end, ok := gp.targetEnd(); ok {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "end of the copy", Value: end})
	}
	return fd
}

// drifted says that offsets are nearer to each other, or further apart, after a sync than at it.
func drifted(ps *snapshot.PartitionSyncs, base snapshot.Sync) bool {
	return slices.ContainsFunc(append([]snapshot.Run{{Sync: ps.Newest}}, ps.TwoPointer...), func(r snapshot.Run) bool {
		return r.Sync.Up > base.Up && r.Sync.Down-r.Sync.Up != base.Down-base.Up
	})
}

// countedOnFrom finds the sync that the checkpoint was counted on from.
func countedOnFrom(ps *snapshot.PartitionSyncs, c snapshot.Checkpoint) (snapshot.Sync, bool) {
	for _, r := range append([]snapshot.Run{{Sync: ps.Newest}}, ps.TwoPointer...) {
		if d := c.Up - r.Sync.Up; d > 1 && c.Down == r.Sync.Down+d {
			return r.Sync, true
		}
	}
	if d := c.Up - ps.Oldest.Up; d > 1 && c.Down == ps.Oldest.Down+d {
		return ps.Oldest, true
	}
	return snapshot.Sync{}, false
}
