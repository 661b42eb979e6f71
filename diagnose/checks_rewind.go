package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// stepBack is the newest step back of a partition's syncs.
type stepBack struct {
	before, after snapshot.Sync
	up, down      bool
}

// stepBack of a source partition; ok is false where the syncs only go forward.
func (gp groupPartition) stepBack() (b stepBack, ok bool) {
	ps, st := gp.syncsOf().Get()
	if st != snapshot.Known {
		return b, false
	}
	if r := ps.LastRewind; r != nil {
		return stepBack{before: r.Before, after: r.After, up: r.After.Up < r.Before.Up, down: r.After.Down < r.Before.Down}, true
	}
	return b, false
}

// sourceRecreated says that the source topic ends below an offset that was mirrored once: it is another topic of that name.
func (gp groupPartition) sourceRecreated(b stepBack) (end int64, yes bool) {
	p, st := gp.sourcePartition().Get()
	if st != snapshot.Known || !p.End.Known() || !b.up {
		return 0, false
	}
	return p.End.Or(0), p.End.Or(0) <= b.before.Up
}

// suffers says that a group's row still feels the step back.
func (gp groupPartition) suffers(b stepBack) bool {
	f := gp.flow
	u, st := gp.sourceOffset().Get()
	if st != snapshot.Known || u < 0 {
		return false
	}
	if d := f.groupFilter(gp.group); d.known && !d.passes {
		return false
	}
	c, cst := gp.checkpoint().Get()
	t, tst := gp.targetOffset().Get()
	f.v.touch(finding.Generation)
	if b.up && u < b.after.Up && f.gens.set&^mm2.SetOf(mm2.G1, mm2.G2) != 0 && (cst != snapshot.Known || c.Up < u) {
		return true // all older mappings were dropped; up to 3.4.0 there is only the newest anyway
	}
	if !b.down {
		return false
	}
	if tst == snapshot.Known && cst == snapshot.Known && t == c.Down && c.Time < b.after.Time && t > b.after.Down {
		return true // committed for the topic of before
	}
	tr, known, _ := gp.translate(u)
	return known == snapshot.Known && tr.known && !tr.none && tr.sync.Offset < b.after.Offset
}

// suffering are the rows of the partition that do.
func (gp groupPartition) suffering(b stepBack) []groupPartition {
	var out []groupPartition
	for _, r := range gp.flow.rowsOf(gp.topic, gp.part) {
		if r.suffers(b) {
			out = append(out, r)
		}
	}
	return out
}

func rewindUnknown(_ *View, s subject) *snapshot.Gap {
	if ps, st := s.gp.syncsOf().Get(); st == snapshot.Known && ps.Rewinds > 0 && ps.LastRewind == nil {
		return &snapshot.Gap{Code: "not-asked", Why: "the offset syncs were folded without their newest step back"}
	}
	return nil
}

// checkSyncsRewound: which of the two offsets went back tells which side began anew. Where no group feels it any more it is a remark.
func checkSyncsRewound(_ *View, s subject) *finding.Finding {
	f, gp := s.flow, s.gp
	b, ok := gp.stepBack()
	if !ok {
		return nil
	}
	f.v.touch(finding.SyncsTopic)
	rows := gp.suffering(b)
	var groups []string
	for _, r := range rows {
		groups = append(groups, r.group)
	}
	fd := &finding.Finding{
		Observed: finding.Observed{{Name: "sync before", Value: shownSync(b.before)}, {Name: "sync after", Value: shownSync(b.after)}, {Name: "groups that feel it", Value: len(groups)}},
		Confirm:  []finding.Command{syncsCommand(f), logEnds(f.src, s.topic, "", "the end of the source"), logEnds(f.dst, gp.remote, "", "the end of the copy")},
		Fixes:    []finding.Fix{rewindFix(f, b, rows)},
	}
	if len(groups) == 0 {
		fd.Severity = finding.Info
	}
	name := fmt.Sprintf("%s-%d", s.topic, gp.part)
	end, recreated := gp.sourceRecreated(b)
	switch {
	case b.up && b.down:
		fd.Because = fmt.Sprintf("the offset syncs of %s went back on both sides, from %d -> %d to %d -> %d: source topic and copy were recreated, or a second writer uses the topic", name, b.before.Up, b.before.Down, b.after.Up, b.after.Down)
		fd.Consequence = "Mappings of before were dropped; target offsets of before stay, since MirrorMaker 2 never lowers one of an idle group."
	case b.up:
		fd.Slug = "source-read-again"
		fd.Because = fmt.Sprintf("the offset syncs of %s went back on the source side, from %d to %d, while the copy went on from %d to %d: the source was read again from there", name, b.before.Up, b.after.Up, b.before.Down, b.after.Down)
		fd.Consequence = fmt.Sprintf("From 3.4.1 on all older mappings are dropped at that moment: a position before %d has no translation until its group has read past it, and its offset on %s stands still. Records from %d on may stand twice in the copy.", b.after.Up, f.Target, b.after.Up)
		switch {
		case recreated:
			fd.Because += fmt.Sprintf("; %s ends at %d now, so the topic itself was recreated", name, end)
			fd.Observed = append(fd.Observed, snapshot.Named{Name: "source end", Value: end})
			fd.Consequence = fmt.Sprintf("Mappings of the topic of before are dropped. A position before %d has no translation, and offsets on %s that groups committed for the topic of before stay where they are.", b.after.Up, f.Target)
		case b.after.Up == 0:
			fd.Because += ", its start: the topic was recreated, or the connector lost its stored positions"
		default:
			fd.Because += fmt.Sprintf(" (%d offsets): a stop in which the last positions were not stored (offset.flush.interval.ms), or positions that were reset", b.before.Up-b.after.Up)
		}
	default:
		fd.Slug = "target-recreated"
		fd.Because = fmt.Sprintf("the offset syncs of %s went back on the target side, from %d to %d, while the source went on from %d to %d: the copy %s-%d was recreated or cut off", name, b.before.Down, b.after.Down, b.before.Up, b.after.Up, gp.remote, gp.part)
		fd.Consequence = fmt.Sprintf("MirrorMaker 2 does not notice: positions before %d are translated to offsets of the copy of before, which are other records now or lie beyond the end.", b.after.Up)
	}
	switch {
	case len(groups) > 0:
		fd.Because += fmt.Sprintf("; groups that still feel it (%d): %s", len(groups), list(groups, 5))
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "groups", Value: list(groups, 5)})
	default:
		fd.Because += "; no group that is followed stands before it any more"
		fd.Fixes = nil
	}
	return fd
}

// rewindFix: mappings of the past do not come back, and those that speak of a copy of before must go.
func rewindFix(f *flowView, b stepBack, rows []groupPartition) finding.Fix {
	if !b.down {
		fix := finding.Fix{Mode: "kafka", WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000),
			Text: fmt.Sprintf("Let the groups read past %d on %s: their next checkpoint follows by itself. Until then their offsets on %s are from before and skip nothing. A group without one is set to the start of the copy by hand while it is idle there.", b.after.Up, f.Source, f.Target)}
		for _, r := range rows {
			if r.targetOffset().Absent() {
				fix.Steps = append(fix.Steps, earliestFix(f, []groupPartition{r}).Steps...)
			}
		}
		return fix
	}
	c := f.syncsCluster()
	fix := finding.Fix{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.flushBudget() + f.emitBudget() + f.commitBudget()) / 1000),
		Text: fmt.Sprintf("Stop MirrorMaker 2, delete offset syncs and checkpoints, which speak of the copy of before, and the offsets of idle groups on %s that come from them, then start it again: the next record of each partition writes a sync. Groups that stand before it on %s stay untranslated until they have read past it. What the copy lacks comes back only when the source connector's stored positions are reset too.", f.Target, f.Source)}
	steps := append([]finding.Step{
		{Text: "delete the offset syncs; the topic is made again at the start", Command: topicsCommand(c, "--delete --topic "+finding.Quote(f.SyncsTopic)), Destructive: true, Undo: "none: mappings of all partitions are gone, also good ones"},
		f.forgetStep()},
		deleteOffsets(f, rows)...)
	fix.Steps = append([]finding.Step{captureStep(f)}, f.whileStopped(bothConnectors, steps...)...)
	return fix
}

// rewindFixOfAll is one repair for all partitions of a merged finding.
func rewindFixOfAll(f *flowView, parts []groupPartition, _ string) finding.Fix {
	var rows []groupPartition
	var first stepBack
	for i, gp := range parts {
		b, _ := gp.stepBack()
		if i == 0 {
			first = b
		}
		rows = append(rows, gp.suffering(b)...)
	}
	return rewindFix(f, first, rows)
}

// oftenBack is how many steps back of S.down in one partition are no accident: a copy is rarely recreated three times.
const oftenBack = 3

// checkShared: the topic's name holds the target's alias alone, so two set-ups that call their targets alike write into one.
func checkShared(_ *View, s subject) *finding.Finding {
	f := s.flow
	sy, st := f.Syncs.Get()
	f.v.touch(finding.SyncsTopic)
	if st != snapshot.Known {
		return nil
	}
	var names []string
	var worst *snapshot.PartitionSyncs
	steps := int64(0)
	for i := range sy.Partitions {
		p := &sy.Partitions[i]
		if p.DownBack < oftenBack {
			continue
		}
		names = append(names, fmt.Sprintf("%s-%d", p.Topic, p.Partition))
		steps += p.DownBack
		if worst == nil || p.DownBack > worst.DownBack {
			worst = p
		}
	}
	if worst == nil {
		return nil
	}
	o := finding.Observed{{Name: "partitions", Value: len(names)}, {Name: "steps back of S.down", Value: steps}}
	because := fmt.Sprintf("in %s on %s the downstream offsets of %s (%s) go back again and again, %d times in %s-%d alone: two MirrorMaker 2 set-ups that give their targets the same alias, %s, write into one topic", f.SyncsTopic, f.syncsCluster().Alias,
		finding.Count(len(names), "partition"), list(names, 3), worst.DownBack, worst.Topic, worst.Partition, f.Target)
	if r := worst.LastRewind; r != nil {
		because += fmt.Sprintf(" (last from %d -> %d to %d -> %d)", r.Before.Up, r.Before.Down, r.After.Up, r.After.Down)
		o = append(o, snapshot.Named{Name: "last step back", Value: shownSync(r.Before) + ", then " + shownSync(r.After)})
	}
	return &finding.Finding{
		Observed: o, Because: because,
		Consequence: "Positions are translated by the offsets of whichever target wrote last; a group on " + f.Target + " can be set to records it never reached, and skip those between.",
		Confirm:     []finding.Command{syncsCommand(f)},
		Fixes: []finding.Fix{{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.flushBudget() + f.emitBudget() + f.commitBudget()) / 1000),
			Text:  fmt.Sprintf("Put the topic on the target (offset-syncs.topic.location=target, 3.0.0 and later), in both set-ups if you can, or give each target an alias of its own. The set-up that is changed begins with a new topic: groups that stand before its first sync on %s are translated once they have read past it. Before a failover compare each group's position on %s; what was committed from the mixed topic is not corrected by itself.", f.Source, f.Target),
			Steps: setSource(f, keyLocation, "target")}},
	}
}
