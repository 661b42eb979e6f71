// Package ranges keeps every offset sync of a source partition, merged into stretches of equal shift, and bounds where a
// source position lies on the target. MirrorMaker 2 itself keeps 64 syncs; the topic holds more.
//
// A bound's Low skips nothing, with markers, holes and records of others (identity policy, local producers) on the target alike.
// Two things the syncs cannot tell: a copy that began again and whose syncs were lost until it had come further than the last one
// before; and how far a copy went after its last sync, for which the room on the target is taken, see overtaken. Where others
// write a lot to the target both show the copy further than it is. Comparing records tells both.
//
// What may enter: the index and its bounds, as pure code. Reading records, which narrows a bound to the exact position, is
// done elsewhere.
package ranges

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// Range is a stretch of syncs of equal shift: the records at Up and at Up+Span on the source have their copies at Down and at
// Down+Span. Equal shift alone does not prove that each record between has the same shift (a hole and a repeat can cancel), so
// Gap, the widest distance between two syncs that follow each other within the stretch, says how far the middle may be off.
// All are in offsets. A Range takes 32 bytes.
type Range struct {
	Up, Down, Span int64
	Gap            int64
}

// Epoch is a time in which both offsets only grew. A new one begins where one of them falls: the source was read again, or one
// of the topics was made anew.
type Epoch struct {
	First, Last translate.Sync
	MaxDown     int64
	ranges      []Range
}

// Ranges gives the merged stretches, ascending.
func (e *Epoch) Ranges() []Range { return e.ranges }

// Index holds the epochs of one source partition, oldest first. The zero value is empty; it is not safe for concurrent use.
type Index struct {
	epochs []Epoch
	size   int
	lost   Lost
}

// Epochs gives the epochs, oldest first.
func (x *Index) Epochs() []Epoch { return x.epochs }

// Add takes in the next sync in the order of the topic.
func (x *Index) Add(s translate.Sync) {
	if n := len(x.epochs); n > 0 {
		e := &x.epochs[n-1]
		had := len(e.ranges)
		if e.add(s) {
			x.size += len(e.ranges) - had
			return
		}
	}
	x.size += epochSize
	x.epochs = append(x.epochs, Epoch{First: s, Last: s, MaxDown: s.Downstream, ranges: []Range{{Up: s.Upstream, Down: s.Downstream}}})
}

// add is false where the sync begins a new epoch. One that repeats the last says nothing new.
func (e *Epoch) add(s translate.Sync) bool {
	if sameOffsets(e.Last, s) {
		return true
	}
	if !follows(e.Last, s) {
		return false
	}
	r := &e.ranges[len(e.ranges)-1]
	if s.Downstream-s.Upstream == r.Down-r.Up {
		r.Gap = max(r.Gap, s.Upstream-e.Last.Upstream)
		r.Span = s.Upstream - r.Up
	} else {
		e.ranges = append(e.ranges, Range{Up: s.Upstream, Down: s.Downstream})
	}
	e.Last, e.MaxDown = s, s.Downstream
	return true
}

// Bound is where the copy of a position lies: T is in [Low, High], and Low skips nothing that was copied. Low is the offset to
// commit where nothing else is known.
type Bound struct {
	Low, High int64
	// Epoch is the one that Low rests on.
	Epoch int
	// Open says that no sync stands at or above the position, so High is only the end that was given.
	Open bool
	// Again says that the partition was copied again, and that the newest copy may not have come as far as an older one yet: Low
	// lies in the older, High in the newest.
	Again bool
	// Below and Above are the nearest syncs at or below the position and at or above it, in the epoch; nil where there is none, or
	// where an Index no longer knows it.
	Below, Above *translate.Sync

	newest int   // epoch that High rests on
	even   int64 // the place by equal shift
	isEven bool
}

// Exact says that the syncs alone determine the position.
func (b Bound) Exact() bool { return b.Low == b.High }

// Interpolated gives the place that follows from equal shift: the syncs around the position are as far apart on the target as
// on the source. It is proved only if the target holds no markers, no repeats and no records of others between them; otherwise a
// hole of the source and an addition on the target may have cancelled. Counted proves it.
func (b Bound) Interpolated() (int64, bool) { return b.even, b.isEven && !b.Again }

// Ends are the log ends (LEO) of the source partition and of its copy, read after the syncs; below 0: not known.
//
// An epoch with a sync at or beyond either belongs to an earlier topic, or to another flow; it and everything before it is left
// out. Without the source's end (a source that is lost) a source topic that was made anew shows only by its syncs, which begin
// again lower: the copies of the earlier one then count as copies that may have gone further, and Low lies there. Without the
// target's end there is no upper end above the newest sync (High is the highest number there is), and a copy that was made anew
// shows only by offsets that fall.
type Ends struct{ Source, Target int64 }

// Locate bounds the position u (the next record to read). ok is false where nothing is known: u lies before everything that was
// copied into the topic as it is now, or there is no sync.
func (x *Index) Locate(u int64, ends Ends) (Bound, bool) {
	es := make([]*Epoch, len(x.epochs))
	for i := range x.epochs {
		es[i] = &x.epochs[i]
	}
	return locateRest(es, x.lost, u, ends)
}

func (e *Epoch) first() translate.Sync { return e.First }
func (e *Epoch) last() translate.Sync  { return e.Last }

func (e *Epoch) search(u int64) (int, bool) {
	return slices.BinarySearchFunc(e.ranges, u, func(r Range, u int64) int {
		switch {
		case r.Up > u:
			return 1
		case r.Up+r.Span < u:
			return -1
		}
		return 0
	})
}

func (e *Epoch) past(up int64) (int64, bool) {
	i, at := e.search(up)
	if at {
		if r := e.ranges[i]; up < r.Up+r.Span {
			return r.Down + min(r.Span, up-r.Up+r.Gap), true
		}
		i++
	}
	if i == len(e.ranges) {
		return 0, false
	}
	return e.ranges[i].Down, true
}

// bound is for a position at or above the epoch's first sync.
func (e *Epoch) bound(u int64, ends Ends) Bound {
	i, at := e.search(u)
	if at {
		r := e.ranges[i]
		d := r.Down + u - r.Up
		if u == r.Up || u == r.Up+r.Span {
			s := e.sync(u, d)
			return Bound{Low: d, High: d, Below: s, Above: s}
		}
		// Within a stretch the next sync is nearer than Gap on either side, and has this shift.
		b := Bound{Low: max(r.Down+1, d-r.Gap+1), High: min(r.Down+r.Span, d+r.Gap-1), even: d, isEven: true}
		if r.Gap == r.Span {
			b.Below, b.Above = e.sync(r.Up, r.Down), e.sync(r.Up+r.Span, r.Down+r.Span)
		}
		return b
	}
	below := e.ranges[i-1]
	b := Bound{Low: below.Down + below.Span + 1, Below: e.sync(below.Up+below.Span, below.Down+below.Span)}
	if i < len(e.ranges) {
		b.High, b.Above = e.ranges[i].Down, e.sync(e.ranges[i].Up, e.ranges[i].Down)
	} else {
		b.High, b.Open = ends.high(b.Low), true
	}
	return b
}

// sync names a sync of the epoch. Where it stands in the topic is known of the first and last only; -1 otherwise.
func (e *Epoch) sync(up, down int64) *translate.Sync {
	s := translate.Sync{Upstream: up, Downstream: down, Offset: -1}
	if sameOffsets(s, e.First) {
		s = e.First
	} else if sameOffsets(s, e.Last) {
		s = e.Last
	}
	return &s
}
