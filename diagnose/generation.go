package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// generations is which translation rules may be at work in a flow, and why.
type generations struct {
	set     mm2.Generations
	claimed string
	version mm2.Version // zero where only a range is known
	basis   string
}

// inferGenerations takes the claimed version, else the one MirrorMaker 2 wrote into its status topic (from 4.1, KIP-891), else
// what the checkpoints show: up to 3.4.0 a position is counted on from the sync (S.down + (U - S.up)), from 3.4.1 on it is
// at most one past it (KAFKA-12468).
func inferGenerations(f *flowView) generations {
	if s := f.v.snap.MM2Version; s != "" {
		if v, err := mm2.ParseVersion(s); err == nil {
			return generations{set: mm2.SetOf(v.Generation()), claimed: s, version: v, basis: f.claimedBy()}
		}
	}
	if v, err := mm2.ParseVersion(f.WorkerVersion); f.WorkerVersion != "" && err == nil {
		return generations{set: mm2.SetOf(v.Generation()), version: v, basis: "the Connect worker at " + f.ConnectURL + " says version " + f.WorkerVersion}
	}
	if ts, st := f.Tasks.Get(); st == snapshot.Known {
		for _, t := range ts {
			if v, err := mm2.ParseVersion(t.Version); t.Version != "" && err == nil {
				return generations{set: mm2.SetOf(v.Generation()), version: v, basis: fmt.Sprintf("%s says version %s in mm2-status.%s.internal", t.Connector, t.Version, f.Source)}
			}
		}
	}
	// Whoever folded the topic saw every sync; those that are kept explain a checkpoint also by chance.
	sy, _ := f.Syncs.Get()
	linear, plusOne := sy.CountedOn, sy.OnePast
	newestLinear := sy.CountedOnLast > sy.OnePastLast
	if sy.Records < sy.End-sy.Start && linear < 3 {
		linear = 0 // the topic was compacted: where the true sync is gone, another may fit by chance
	}
	old, young := mm2.SetOf(mm2.G1, mm2.G2), mm2.SetOf(mm2.G3, mm2.G4, mm2.G5)
	switch {
	case linear > 0 && plusOne == 0, linear > 0 && newestLinear:
		return generations{set: old, basis: fmt.Sprintf("%d checkpoints count on from their offset sync (3.4.0 or older)", linear)}
	case plusOne > 0:
		return generations{set: young, basis: fmt.Sprintf("%d checkpoints stand one past their offset sync (3.4.1 or newer)", plusOne)}
	}
	return generations{set: mm2.Between(mm2.G1, mm2.G5), basis: "nothing told the version; --mm2-version does"}
}

// fits says by which rule a checkpoint follows from the syncs that are kept: counted on from a sync, or one past it. Both or
// neither decide nothing.
func fits(ps *snapshot.PartitionSyncs, c *snapshot.Checkpoint) (linear, plusOne bool) {
	try := func(s snapshot.Sync) {
		d := c.Up - s.Up
		if d < 0 {
			return
		}
		if c.Down == s.Down+d {
			linear = true
			plusOne = plusOne || d <= 1 // of the very record, or of the one before: both rules give the same
		}
		if d > 0 && c.Down == s.Down+1 {
			plusOne = true
		}
	}
	for _, r := range ps.TwoPointer {
		try(r.Sync)
	}
	for _, r := range ps.Greedy {
		try(r.Sync)
	}
	try(ps.Newest)
	try(ps.Oldest)
	return linear, plusOne
}
