package ranges

import (
	"math"
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// lookBack is how many of the next epochs are asked whether they went further than one, besides the newest.
const lookBack = mostEpochs

// epoch is a time in which both offsets only grew, however it is kept.
type epoch interface {
	first() translate.Sync
	last() translate.Sync
	// past is the target offset of the first sync above a source offset, or more; ok is false where there is none.
	past(up int64) (down int64, ok bool)
	// bound is for a position at or above the first sync.
	bound(u int64, ends Ends) Bound
}

// follows says that a sync goes on where another was; otherwise it begins an epoch, unless it repeats the other.
func follows(a, b translate.Sync) bool { return b.Upstream > a.Upstream && b.Downstream > a.Downstream }

func sameOffsets(a, b translate.Sync) bool {
	return a.Upstream == b.Upstream && a.Downstream == b.Downstream
}

// beyond says that an epoch cannot be of the topics that have these ends.
func (n Ends) beyond(last translate.Sync) bool {
	return n.Source >= 0 && last.Upstream >= n.Source || n.Target >= 0 && last.Downstream >= n.Target
}

// high is the end of the target, as the upper end of a bound.
func (n Ends) high(low int64) int64 {
	if n.Target < 0 {
		return math.MaxInt64
	}
	return max(n.Target, low)
}

// sound gives the first of the epochs that belong to the topics as they are now. The target's offsets only grow: where they fall
// from one epoch to the next the copy was made anew (or another flow writes into the same topic), and so it was before an epoch
// that lies beyond an end. Whatever is older has numbers of an earlier topic, and they may look right.
func sound[E epoch](es []E, ends Ends) int {
	for i, e := range slices.Backward(es) {
		if ends.beyond(e.last()) || i+1 < len(es) && e.last().Downstream >= es[i+1].first().Downstream {
			return i + 1
		}
	}
	return 0
}

// reaches is the source offset that an epoch has hardly copied beyond: as many records fit in after its last sync as the target has
// offsets before the next epoch. It is doubled for offsets that the source lacks.
func reaches(last, next translate.Sync) int64 {
	return last.Upstream + 2*max(0, next.Downstream-last.Downstream-1)
}

// overtaken says that a later epoch up to "to" went further than epoch i. What an epoch copied after its last sync is not known;
// it is at most the target's offsets up to the next epoch. So the later one must have used twice as many beyond the same place:
// then at least half of them would have to be markers or records of others for it to be wrong.
func overtaken[E epoch](es []E, i, to int) bool {
	top := es[i].last().Upstream
	tail := es[i+1].first().Downstream - es[i].last().Downstream - 1
	for x := i + 1; x <= to; x++ {
		last := es[x].last()
		if x > i+lookBack && x < to {
			top = max(top, last.Upstream)
			continue
		}
		if down, ok := es[x].past(top); ok && last.Downstream-down >= 2*tail && last.Upstream-top >= tail {
			return true
		}
		top = max(top, last.Upstream)
	}
	return false
}

// locate chooses among the epochs and bounds the position: the newest sound one that begins at or below it. An older one that may
// have copied further is the only one to hold everything in order, so the bound then begins at its copy, which skips nothing.
func locate[E epoch](es []E, u int64, ends Ends) (Bound, bool) {
	from := sound(es, ends)
	for i, e := range slices.Backward(es) {
		if i < from {
			break
		}
		if e.first().Upstream > u {
			continue
		}
		b := e.bound(u, ends)
		b.Epoch = i
		for o := i - 1; o >= from; o-- {
			if overtaken(es, o, i) {
				continue
			}
			older := Bound{Low: es[o].first().Downstream}
			if es[o].first().Upstream <= u {
				older = es[o].bound(u, ends)
			}
			b = Bound{Low: older.Low, High: b.High, Epoch: o, Open: b.Open, Again: true, Below: older.Below, Above: older.Above}
		}
		return b, true
	}
	return Bound{}, false
}

// list is an epoch as its syncs.
type list []translate.Sync

func (l list) first() translate.Sync { return l[0] }
func (l list) last() translate.Sync  { return l[len(l)-1] }

func (l list) past(up int64) (int64, bool) {
	i, found := l.search(up)
	if found {
		i++
	}
	if i == len(l) {
		return 0, false
	}
	return l[i].Downstream, true
}

func (l list) search(up int64) (int, bool) {
	return slices.BinarySearchFunc(l, up, func(s translate.Sync, up int64) int {
		switch {
		case s.Upstream < up:
			return -1
		case s.Upstream > up:
			return 1
		}
		return 0
	})
}

func (l list) bound(u int64, ends Ends) Bound {
	i, at := l.search(u)
	if at {
		return Bound{Low: l[i].Downstream, High: l[i].Downstream, Below: &l[i], Above: &l[i]}
	}
	b := Bound{Low: l[i-1].Downstream + 1, Below: &l[i-1]}
	if i < len(l) {
		b.High, b.Above = l[i].Downstream, &l[i]
	} else {
		b.High, b.Open = ends.high(b.Low), true
	}
	return b
}

// split cuts syncs into epochs; one that repeats the last is left out.
func split(syncs []translate.Sync) []list {
	var out []list
	from := 0
	for i := 1; i <= len(syncs); i++ {
		if i < len(syncs) && (follows(syncs[i-1], syncs[i]) || sameOffsets(syncs[i-1], syncs[i])) {
			continue
		}
		out = append(out, slices.CompactFunc(slices.Clone(list(syncs[from:i])), sameOffsets))
		from = i
	}
	return out
}

// Locate bounds the position u by syncs in the order of the topic: all of a partition, or any of them that hold the first and the
// last of each epoch, as Brackets keeps. ok is false where nothing is known: no epoch of these topics begins at or below u.
func Locate(syncs []translate.Sync, u int64, ends Ends) (Bound, bool) {
	return locate(split(syncs), u, ends)
}
