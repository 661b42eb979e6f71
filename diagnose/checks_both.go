package diagnose

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// The check 308: a group that is really read on both clusters. 302 says that members keep MirrorMaker 2 from writing; this one
// that they go a way of their own, and it explains 302.

// maybeLiveOnBoth narrows to groups with members on the source, and on the target members or an offset that moves without.
func maybeLiveOnBoth(v *View, s subject) bool {
	f := s.flow
	if on, _, ok := f.flag(connCheckpoint, keySyncEnabled); ok && !on || !anyEligible(v, s) {
		return false
	}
	a, ast := groupOn(f.src, s.group).Get()
	b, bst := groupOn(f.dst, s.group).Get()
	if ast == snapshot.Absent || bst == snapshot.Absent || ast == snapshot.Known && !a.State.Or("").Active() {
		return false
	}
	if bst == snapshot.Unknown || b.State.Or("").Active() {
		return true
	}
	return f.earlier != nil && len(f.ownMoves(s.group, true)) > 0
}

// ownMove is an offset that somebody other than MirrorMaker 2 committed between two looks.
type ownMove struct {
	gp          groupPartition
	before, now int64 // T
	waiting     int64 // C.down, -1 without
}

// ownMoves finds the offsets of a group on the target that moved to a value of no checkpoint. Without members MirrorMaker 2
// could have written any checkpoint of the time between; so strict asks for one above all of them, from a version that writes
// nothing but S.down and S.down + 1 (3.4.1 and later), and that is neither of any sync that is kept.
func (f *flowView) ownMoves(group string, strict bool) []ownMove {
	f.v.touch(finding.Generation)
	var out []ownMove
	for _, gp := range f.rowsOfGroup(group) {
		e, ok := gp.earlier()
		if !ok {
			return nil
		}
		t, st := gp.targetOffset().Get()
		before, est := e.targetOffset().Get()
		c, cst := gp.checkpoint().Get()
		old, ost := e.checkpoint().Get()
		if st != snapshot.Known || est != snapshot.Known || cst == snapshot.Unknown || ost == snapshot.Unknown || t == before || t < 0 {
			continue
		}
		down := int64(-1)
		if cst == snapshot.Known {
			down = c.Down
		}
		if cst == snapshot.Known && t == c.Down || ost == snapshot.Known && t == old.Down {
			continue
		}
		// A checkpoint of the time between, written in a moment without members, lies between T of before and C.down.
		if t > before && t <= down && !f.gens.set.Has(mm2.G1) && !f.gens.set.Has(mm2.G2) && gp.fromSync(t) {
			continue
		}
		if strict && (t < before || t <= down || ost == snapshot.Known && (t <= old.Down || c.Up < old.Up) || f.gens.set.Has(mm2.G1) || f.gens.set.Has(mm2.G2) || gp.fromSync(t)) {
			continue
		}
		out = append(out, ownMove{gp, before, t, down})
	}
	return out
}

// fromSync says that a target position is the translation of some position by a sync that is kept.
func (gp groupPartition) fromSync(t int64) bool {
	ps, st := gp.syncsOf().Get()
	if st != snapshot.Known {
		return st == snapshot.Unknown
	}
	for _, r := range append([]snapshot.Run{{Sync: ps.Newest}, {Sync: ps.Oldest}}, ps.TwoPointer...) {
		if t == r.Sync.Down || t == r.Sync.Down+1 {
			return true
		}
	}
	return false
}

func checkLiveOnBoth(_ *View, s subject) *finding.Finding {
	f, e := s.flow, s.flow.earlier
	now, before := activeIn(f.dst, s.group), activeIn(e.dst, s.group)
	if now != before || !activeIn(f.src, s.group) || !activeIn(e.src, s.group) {
		return nil // it is on its way from one side to the other
	}
	moves := f.ownMoves(s.group, !now)
	rows := f.rowsOfGroup(s.group)
	i := slices.IndexFunc(rows, groupPartition.advanced)
	if len(moves) == 0 || i < 0 {
		return nil
	}
	read := rows[i]
	m := moves[0]
	u, was := read.sourceOffset().Or(-1), groupPartition{flow: e, group: read.group, topic: read.topic, part: read.part, remote: read.remote}.sourceOffset().Or(-1)
	g, _ := groupOn(f.dst, s.group).Get()
	fd := &finding.Finding{
		Subject: finding.Subject{Group: s.group},
		Observed: finding.Observed{{Name: fmt.Sprintf("U of %s-%d", read.topic, read.part), Value: fmt.Sprintf("%d, then %d", was, u)}, {Name: fmt.Sprintf("T of %s-%d", m.gp.remote, m.gp.part), Value: fmt.Sprintf("%d, then %d", m.before, m.now)},
			{Name: "looks apart", Value: age(f.v.now - e.v.now)}, {Name: "state on " + f.Source, Value: stateWord(f.src, s.group)}, {Name: "state on " + f.Target, Value: stateWord(f.dst, s.group)}},
		Because: fmt.Sprintf("the group is read on both clusters: in two looks it went from %d to %d on %s, and on %s from %d to %d, which no checkpoint says", was, u, f.Source, f.Target, m.before, m.now),
		Bugs:    []string{"KAFKA-19794"},
		Confirm: []finding.Command{groupCommand(f.src, s.group), groupCommand(f.dst, s.group),
			{Cluster: f.Target, Command: groupsCommand(f.dst, "--describe --group "+finding.Quote(s.group)+" --members"), Shows: "who is in the group"}},
	}
	if m.waiting >= 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "C.down", Value: m.waiting})
	}
	switch {
	case m.waiting > m.now:
		fd.Consequence = fmt.Sprintf("Both sides process the same records. When the group is empty on %s for a moment, MirrorMaker 2 moves it from %d to %d: the %d offsets between are skipped there.", f.Target, m.now, m.waiting, m.waiting-m.now)
	default:
		fd.Consequence = fmt.Sprintf("Both sides process the same records. When the group is empty on %s for a moment, MirrorMaker 2 may commit all its checkpoints without comparing, also backwards (KAFKA-19794); once %s is ahead it moves the group forward and skips records.", f.Target, f.Source)
	}
	who := memberList(g.Members.Or(nil))
	if !now {
		fd.Severity = finding.Warning
		fd.Because += fmt.Sprintf("; on %s without a member in the group: a consumer with assign(), or somebody who sets offsets", f.Target)
		who = "consumers that use assign() are no members; look for whoever commits as " + s.group
	}
	fd.Fixes = []finding.Fix{{Mode: "kafka", WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000),
		Text: fmt.Sprintf("Decide which side is active. If it is %s: stop the consumers of %s on %s (%s). If both shall read: give the consumers on %s a group id of their own.", f.Source, s.group, f.Target, who, f.Target),
		Steps: []finding.Step{
			{Text: "stop the consumers of the group on " + f.Target + ": " + who, Stops: []string{"consumers of " + s.group + " on " + f.Target}, Undo: "start them again"},
			{Text: "see that the group is empty", Command: groupsCommand(f.dst, "--describe --group "+finding.Quote(s.group)+" --state")}}},
		excludeFix(f, []string{s.group}, fmt.Sprintf("If it has moved to %s: stop its consumers on %s and leave it out of %s", f.Target, f.Source, f.Name()))}
	return fd
}
