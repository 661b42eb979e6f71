// Package ranges keeps every offset sync of a source partition, merged into stretches of equal shift, and bounds where a
// source position lies on the target. MirrorMaker 2 itself keeps 64 syncs; the topic holds more.
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
type Index struct{ epochs []Epoch }

// Epochs gives the epochs, oldest first.
func (x *Index) Epochs() []Epoch { return x.epochs }

// Add takes in the next sync in the order of the topic.
func (x *Index) Add(s translate.Sync) {
	if n := len(x.epochs); n > 0 && x.epochs[n-1].add(s) {
		return
	}
	x.epochs = append(x.epochs, Epoch{First: s, Last: s, MaxDown: s.Downstream, ranges: []Range{{Up: s.Upstream, Down: s.Downstream}}})
}

// add is false where the sync begins a new epoch. One that repeats the last says nothing new.
func (e *Epoch) add(s translate.Sync) bool {
	if s.Upstream == e.Last.Upstream && s.Downstream == e.Last.Downstream {
		return true
	}
	if s.Upstream <= e.Last.Upstream || s.Downstream <= e.Last.Downstream {
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

// Bound is where the copy of a position lies: T is in [Low, High], and Low skips nothing that the epoch copied. Open says that
// no sync stands at or above the position, so High is only the end that was given.
type Bound struct {
	Low, High int64
	Epoch     int
	Open      bool
}

// Exact says that the syncs alone determine the position.
func (b Bound) Exact() bool { return b.Low == b.High }

// Ends are the log ends (LEO) of the source partition and of its copy. An epoch with a sync at or beyond either belongs to an
// earlier topic, or to another flow, and is left out whole: nothing may be concluded from a part of it.
type Ends struct{ Source, Target int64 }

// Locate bounds the position u (the next record to read). It takes the newest valid epoch that begins at or below u. ok is
// false where there is none: u lies before everything that is known, or nothing is.
func (x *Index) Locate(u int64, ends Ends) (Bound, bool) {
	for i, e := range slices.Backward(x.epochs) {
		if e.Last.Upstream >= ends.Source || e.MaxDown >= ends.Target || e.First.Upstream > u {
			continue
		}
		b := e.locate(u, ends)
		b.Epoch = i
		return b, true
	}
	return Bound{}, false
}

// locate is for a position at or above the epoch's first sync.
func (e *Epoch) locate(u int64, ends Ends) Bound {
	i, at := slices.BinarySearchFunc(e.ranges, u, func(r Range, u int64) int {
		switch {
		case r.Up > u:
			return 1
		case r.Up+r.Span < u:
			return -1
		}
		return 0
	})
	if at {
		r := e.ranges[i]
		if u == r.Up || u == r.Up+r.Span {
			d := r.Down + u - r.Up
			return Bound{Low: d, High: d}
		}
		// Within a stretch the next sync is nearer than Gap on either side, and has this shift.
		mid := r.Down + u - r.Up
		return Bound{Low: max(r.Down+1, mid-r.Gap+1), High: min(r.Down+r.Span, mid+r.Gap-1)}
	}
	below := e.ranges[i-1]
	b := Bound{Low: below.Down + below.Span + 1}
	if i < len(e.ranges) {
		b.High = e.ranges[i].Down
	} else {
		b.High, b.Open = max(ends.Target, b.Low), true
	}
	return b
}
