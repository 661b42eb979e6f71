package diagnose

import (
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/translate"
)

// translation is what MirrorMaker 2 makes of a source position, by what the offset-syncs topic holds.
type translation struct {
	known bool          // every possible generation gives the same answer
	none  bool          // that answer is "no translation": before the oldest usable sync
	value int64         // the translation
	sync  snapshot.Sync // the sync it rests on
	why   string        // why it is not known
	// most is the greatest target position that the position can have: the downstream offset of the nearest sync at or above
	// it. max int64 where no sync lies above.
	most int64
	// oldest is the oldest sync that any of the generations may still hold.
	oldest snapshot.Sync
}

const noLimit = int64(1) << 62

// translate follows c.1 and c.2 of the translation rules for each generation that may be at work.
func (gp groupPartition) translate(up int64) (translation, snapshot.State, *snapshot.Gap) {
	f := gp.flow
	fact := gp.syncsOf()
	ps, st := fact.Get()
	if st != snapshot.Known {
		return translation{}, st, fact.Why()
	}
	f.v.touch(finding.Generation)
	t := translation{most: upperBound(ps, up)}
	first := true
	for _, g := range f.gens.set.All() {
		o := oneGeneration(f, g, ps, up)
		if first {
			t.known, t.none, t.value, t.sync, t.why, t.oldest = o.known, o.none, o.value, o.sync, o.why, o.oldest
			first = false
			continue
		}
		if !o.known || !t.known || o.none != t.none || (!o.none && o.value != t.value) {
			if t.known && o.known {
				t.why = "the version of MirrorMaker 2 is not known, and the possible ones differ here"
			} else if t.known {
				t.why = o.why
			}
			t.known = false
		}
		if o.oldest.Up < t.oldest.Up {
			t.oldest = o.oldest
		}
	}
	return t, snapshot.Known, nil
}

func upperBound(ps *snapshot.PartitionSyncs, up int64) int64 {
	most := noLimit
	for _, r := range ps.TwoPointer {
		if r.Sync.Up >= up && r.Sync.Down < most {
			most = r.Sync.Down
		}
	}
	return most
}

func oneGeneration(f *flowView, g mm2.Generation, ps *snapshot.PartitionSyncs, up int64) translation {
	if g <= mm2.G2 {
		return ask(g, translate.TwoPointer, []snapshot.Run{{Sync: ps.Newest}}, up)
	}
	runs, keeping := ps.TwoPointer, translate.TwoPointer
	if g == mm2.G3 {
		runs, keeping = ps.Greedy, translate.Greedy
	}
	if len(runs) == 0 {
		return translation{why: "the offset syncs were read without their history"}
	}
	if g == mm2.G5 {
		return ask(g, keeping, runs, up)
	}
	// G3 and G4 forget what was written before the task began, all but the newest sync (KAFKA-15905). Only a fold that knew the
	// start while it read tells what that was once newer syncs have come in.
	if started, ok := f.checkpointTaskStart(); ok {
		after := ps.TwoPointerSince
		if g == mm2.G3 {
			after = ps.GreedySince
		}
		if sy, _ := f.Syncs.Get(); sy.TaskStart == started && len(after) > 0 {
			return ask(g, keeping, after, up)
		}
		if ps.Newest.Time <= started {
			return ask(g, keeping, []snapshot.Run{{Sync: ps.Newest}}, up)
		}
	}
	all := ask(g, keeping, runs, up)
	if all.none || up >= ps.Newest.Up {
		return all
	}
	all.known = false
	all.why = "up to 3.7.0 the translation depends on what the checkpoint task knew when it started, which is not known"
	return all
}

// ask gives the store's answer for slots that hold these runs.
func ask(g mm2.Generation, k translate.Keeping, runs []snapshot.Run, up int64) translation {
	rs := make([]translate.Run, len(runs))
	for i, r := range runs {
		rs[i] = translate.Run{Slot: r.Slot, Sync: translate.Sync{Upstream: r.Sync.Up, Downstream: r.Sync.Down, Offset: r.Sync.Offset, Time: r.Sync.Time}}
	}
	slots, ok := translate.SlotsFromRuns(k, rs)
	if !ok {
		return translation{why: "the snapshot's slots are not a state of MirrorMaker 2's store"}
	}
	res := translate.FromSlots(g, slots).Translate(up)
	t := translation{known: true, none: !res.Known(), value: res.Offset, oldest: runs[len(runs)-1].Sync}
	if !t.none {
		t.sync = snapshot.Sync{Up: res.Sync.Upstream, Down: res.Sync.Downstream, Offset: res.Sync.Offset, Time: res.Sync.Time}
	}
	return t
}

// checkpointTaskStart is when the checkpoint tasks last went to RUNNING, ms.
func (f *flowView) checkpointTaskStart() (int64, bool) { return f.taskStart(connCheckpoint) }

// checkpointTaskYoung says that the checkpoint tasks are known to have been started, or given their groups anew (which starts
// them again a few seconds later), within less than it takes them to write a first checkpoint.
func (f *flowView) checkpointTaskYoung() bool {
	start, ok := f.checkpointTaskStart()
	f.v.touch(finding.AssignedTo)
	return ok && f.v.began-start < f.emitBudget() || f.Assigned.Known() && f.v.began-f.Assigned.Or(snapshot.Assigned{}).Time < f.emitBudget()
}
