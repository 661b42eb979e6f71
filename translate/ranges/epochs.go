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

// overtaken says that a later epoch up to "to" went further than epoch i. What an epoch copied after its last sync is not known;
// it is at most the target's offsets up to the next epoch.
func overtaken[E epoch](es []E, i, to int) bool {
	top := es[i].last().Upstream
	tail := tailOf(es[i].last(), es[i+1].first())
	for x := i + 1; x <= to; x++ {
		if (x <= i+lookBack || x == to) && further(es[x], top, tail) {
			return true
		}
		top = max(top, es[x].last().Upstream)
	}
	return false
}

// tailOf is how many records an epoch can have copied after its last sync, before the next one began.
func tailOf(last, next translate.Sync) int64 { return max(0, next.Downstream-last.Downstream-1) }

// further says that an epoch went beyond a source offset by more records than the tail: it used twice as many offsets of the target
// there, so at least half of them would have to be markers or records of others for that to be wrong.
func further[E epoch](e E, top, tail int64) bool {
	last := e.last()
	down, ok := e.past(top)
	return ok && last.Downstream-down >= 2*tail && last.Upstream-top >= tail
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
		b.Epoch, b.newest = i, i
		for o := i - 1; o >= from; o-- {
			if overtaken(es, o, i) {
				continue
			}
			older := Bound{Low: es[o].first().Downstream}
			if es[o].first().Upstream <= u {
				older = es[o].bound(u, ends)
			}
			b = Bound{Low: older.Low, High: b.High, Epoch: o, newest: i, Open: b.Open, Again: true, Below: older.Below, Above: older.Above}
		}
		return b, true
	}
	return Bound{}, false
}

// Lost is what is known of the oldest epochs of a partition that were given up. Nothing is known any more of positions that only
// they held, and nothing at all while they may have copied further than the others.
type Lost struct {
	Epochs int
	Top    int64 // highest source offset that they hold a sync for
	Tail   int64 // most records that one of them can have copied after its last sync
}

func (l *Lost) add(last, next translate.Sync) {
	l.Epochs++
	l.Top, l.Tail = max(l.Top, last.Upstream), max(l.Tail, tailOf(last, next))
}

// locateRest locates where oldest epochs were given up.
func locateRest[E epoch](es []E, l Lost, u int64, ends Ends) (Bound, bool) {
	at, ok := locate(es, u, ends)
	if !ok || l.Epochs == 0 || sound(es, ends) > 0 { // those given up belong to an earlier topic then
		return at, ok
	}
	for _, e := range es[:at.newest+1] {
		if further(e, l.Top, l.Tail) {
			return at, true
		}
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
		b.even, b.isEven = b.Below.Downstream+u-b.Below.Upstream, l[i].Downstream-b.Below.Downstream == l[i].Upstream-b.Below.Upstream
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

// Locator bounds positions of one source partition.
type Locator interface {
	Locate(u int64, ends Ends) (Bound, bool)
}

type lists struct {
	epochs []list
	lost   Lost
}

func (l *lists) Locate(u int64, ends Ends) (Bound, bool) {
	return locateRest(l.epochs, l.lost, u, ends)
}

// Of bounds positions by syncs in the order of the topic: all of a partition, or any of them that hold the first and the last of
// each epoch, as Brackets keeps, but for the oldest epochs, which Lost tells of.
func Of(syncs []translate.Sync, l Lost) Locator { return &lists{split(syncs), l} }

// Locate bounds the position u by syncs as Of takes them. ok is false where nothing is known: no epoch of these topics begins at or
// below u.
func Locate(syncs []translate.Sync, u int64, ends Ends) (Bound, bool) {
	return Of(syncs, Lost{}).Locate(u, ends)
}
