package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// RangeOf bounds a position by what a snapshot still tells of its partition's offset syncs. nil: nothing is known, and why, in plain
// words.
func RangeOf(ps *snapshot.PartitionSyncs, u int64, ends ranges.Ends) (*Range, string) {
	l, why := Kept(ps)
	if l == nil {
		return nil, why
	}
	b, ok := l.Locate(u, ends)
	switch {
	case ok:
		return &Range{Low: b.Low, High: b.High, Open: b.Open, Again: b.Again, Below: b.Below, Above: b.Above, Syncs: int(ps.Count)}, ""
	case ps.Rewinds > 1 && ps.Epochs == nil:
		return nil, fmt.Sprintf("the offset syncs fell back %d times, and the snapshot tells no more than the last time: an older copy may have gone further than the newest", ps.Rewinds)
	case ps.Lost != nil:
		return nil, fmt.Sprintf("the snapshot lacks the %d oldest stretches of mirroring, and one of them may be what the position needs", ps.Lost.Count)
	}
	return nil, "no offset sync of the topics as they are now lies at or below the position"
}

// Kept gives the best bounds that a snapshot allows: from all syncs where it was read with history "ranges", otherwise from
// those that are left, MirrorMaker 2's slots above all. Each of them is a real sync, and any part of an epoch's syncs bounds
// truly. nil where they cannot be what a topic held, and why.
//
// From the history "fold" epochs are known as far as the last step back: with more than one, an older copy may have gone further,
// so positions are bounded only where the last step back shows that the copy was made anew. A record that was copied twice in a
// row is a step back too.
func Kept(ps *snapshot.PartitionSyncs) (ranges.Locator, string) {
	if ps == nil || ps.Count == 0 {
		return nil, "the offset-syncs topic holds nothing for this partition"
	}
	if ps.Epochs == nil {
		return fromFold(ps), ""
	}
	epochs := make([][]ranges.Range, len(ps.Epochs))
	for i, e := range ps.Epochs {
		for _, s := range e {
			epochs[i] = append(epochs[i], ranges.Range(s))
		}
	}
	var l ranges.Lost
	if ps.Lost != nil {
		l = ranges.Lost{Epochs: ps.Lost.Count, Top: ps.Lost.Top, Tail: ps.Lost.Tail}
	}
	x, err := ranges.FromRanges(epochs, l)
	if err != nil {
		return nil, fmt.Sprintf("the offset syncs in the snapshot contradict themselves (%v); capture it again", err)
	}
	return &finer{x, ranges.Of(newestEpoch(ps), ranges.Lost{})}, ""
}

// finer takes, within a stretch of many syncs, those that the slots still name: an index tells only how far apart they are at
// most. The index alone judges copies that began again.
type finer struct {
	all *ranges.Index
	few ranges.Locator // of the newest epoch
}

func (f *finer) Locate(u int64, ends ranges.Ends) (ranges.Bound, bool) {
	a, ok := f.all.Locate(u, ends)
	if !ok || a.Again || a.Epoch != len(f.all.Epochs())-1 {
		return a, ok
	}
	b, ok := f.few.Locate(u, ends)
	if !ok || b.Again || b.Low < a.Low || b.High > a.High {
		return a, true
	}
	b.Epoch = a.Epoch
	return b, true
}

func fromFold(ps *snapshot.PartitionSyncs) ranges.Locator {
	switch r := ps.LastRewind; {
	case ps.Rewinds == 0:
		return ranges.Of(syncsOf(ps, math.MinInt64, math.MaxInt64), ranges.Lost{})
	case r == nil: // cannot be: nothing is known of the older epochs
		return ranges.Of(nil, ranges.Lost{})
	case ps.Rewinds == 1:
		older := syncsOf(ps, math.MinInt64, r.Before.Offset)
		return ranges.Of(append(older, newestEpoch(ps)...), ranges.Lost{})
	default:
		all := append([]translate.Sync{syncOf(r.Before)}, newestEpoch(ps)...)
		return ranges.Of(all, ranges.Lost{Epochs: int(min(ps.Rewinds, math.MaxInt32)) - 1, Top: math.MaxInt64})
	}
}

func newestEpoch(ps *snapshot.PartitionSyncs) []translate.Sync {
	if ps.LastRewind == nil {
		return syncsOf(ps, math.MinInt64, math.MaxInt64)
	}
	return syncsOf(ps, ps.LastRewind.After.Offset, math.MaxInt64)
}

// syncsOf gives the syncs that the snapshot names between two places of the topic, in its order.
func syncsOf(ps *snapshot.PartitionSyncs, from, to int64) []translate.Sync {
	named := []snapshot.Sync{ps.Oldest, ps.Newest}
	if r := ps.LastRewind; r != nil {
		named = append(named, r.Before, r.After)
	}
	for _, runs := range [][]snapshot.Run{ps.Greedy, ps.TwoPointer, ps.GreedySince, ps.TwoPointerSince} {
		for _, r := range runs {
			named = append(named, r.Sync)
		}
	}
	var out []translate.Sync
	for _, s := range named {
		if from <= s.Offset && s.Offset <= to {
			out = append(out, syncOf(s))
		}
	}
	slices.SortFunc(out, func(a, b translate.Sync) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Downstream, b.Downstream))
	})
	return slices.Compact(out)
}

func syncOf(s snapshot.Sync) translate.Sync {
	return translate.Sync{Upstream: s.Up, Downstream: s.Down, Offset: s.Offset, Time: s.Time}
}
