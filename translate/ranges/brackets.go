package ranges

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/translate"
)

// How much Brackets keeps.
const (
	nearBelow  = 8  // syncs at or below a position, in each epoch
	nearAbove  = 2  // syncs above it
	mostJumps  = 32 // neighbours between which the copy grew more than the source
	mostEpochs = 64 // newest epochs
)

// Brackets keeps of one source partition's offset syncs, while the topic streams by, those that a few positions need: around each
// position the nearest ones in each epoch, and what makes the epochs recognisable. What Syncs gives splits into the same epochs as
// everything that was added, by Locate, by Index and by translate/match alike, and Locate answers for each position as it would
// from all syncs.
//
// At most 10 syncs are held for a position in each epoch around it, about 70 more for an epoch, 64 epochs: O(positions + epochs)
// where epochs follow each other, whatever the length of the topic. Not safe for concurrent use.
type Brackets struct {
	positions []int64
	points    []int64 // positions, and the ends of earlier epochs, of the epoch that is being read
	epochs    []bracket
	lost      Lost
	jumps     []jump
	count     int64
	split     []list // of what is kept, until more is added

	recent [nearBelow]translate.Sync // newest syncs of the epoch, as a ring
	seen   int                       // syncs of the epoch
	kept   int                       // of them, how many are in kept (the others are never asked for again or still in recent)
	passed int                       // points below the newest sync
	above  int                       // so many of the next syncs stand just above a point
}

// bracket is one epoch. kept is ascending.
type bracket struct {
	first, last translate.Sync
	kept        []translate.Sync
	spread      translate.Slots
}

// jump is two neighbours of an epoch between which the copy took more offsets than the source: markers, records of others, or a
// copy that began again without any sync. translate/match looks into the widest of them.
type jump struct {
	epoch int // counted from the first, dropped ones too
	a, b  translate.Sync
}

func (j jump) width() int64 {
	return j.b.Downstream - j.a.Downstream - (j.b.Upstream - j.a.Upstream)
}

// NewBrackets begins with no syncs. Positions are source offsets, in any order.
func NewBrackets(positions []int64) *Brackets {
	p := slices.Clone(positions)
	slices.Sort(p)
	return &Brackets{positions: slices.Compact(p)}
}

// Add takes in the next sync in the order of the topic. One that repeats the offsets of the last says nothing new.
func (b *Brackets) Add(s translate.Sync) {
	b.count++
	b.split = nil
	n := len(b.epochs)
	if n == 0 || !follows(b.epochs[n-1].last, s) {
		if n > 0 && sameOffsets(b.epochs[n-1].last, s) {
			return
		}
		b.begin(s)
	} else {
		b.jump(b.epochs[n-1].last, s)
	}
	b.take(s)
}

// Count is how many syncs were added.
func (b *Brackets) Count() int64 { return b.count }

// Dropped is how many of the oldest epochs were given up since there were more than 64, and the source offset that their copies
// have hardly gone beyond. Nothing is known any more of positions that only they held, and while no later epoch went beyond
// furthest, the later ones cannot be taken for the newest word. Locate heeds that; whoever uses Syncs alone must.
func (b *Brackets) Dropped() (epochs int, furthest int64) {
	return b.lost.Epochs, b.lost.Top + 2*b.lost.Tail
}

func (b *Brackets) begin(s translate.Sync) {
	b.close()
	if len(b.epochs) == mostEpochs {
		b.drop(s)
	}
	b.points = append(b.points[:0], b.positions...)
	top := int64(-1)
	if b.lost.Epochs > 0 {
		b.points = append(b.points, b.lost.Top)
	}
	for _, e := range slices.Backward(b.epochs) {
		if e.last.Upstream > top { // the furthest from some epoch on, see overtaken
			top = e.last.Upstream
			b.points = append(b.points, top)
		}
	}
	slices.Sort(b.points)
	b.seen, b.kept, b.passed, b.above = 0, 0, 0, 0
	b.epochs = append(b.epochs, bracket{first: s, last: s, spread: translate.NewSlots(translate.TwoPointer)})
}

// drop gives up the oldest epoch.
func (b *Brackets) drop(next translate.Sync) {
	if len(b.epochs) > 1 {
		next = b.epochs[1].first
	}
	b.jumps = slices.DeleteFunc(b.jumps, func(j jump) bool { return j.epoch == b.lost.Epochs })
	b.lost.add(b.epochs[0].last, next)
	b.epochs = slices.Delete(b.epochs, 0, 1)
}

func (b *Brackets) jump(last, s translate.Sync) {
	j := jump{b.lost.Epochs + len(b.epochs) - 1, last, s}
	if j.width() <= 0 {
		return
	}
	if len(b.jumps) < mostJumps {
		b.jumps = append(b.jumps, j)
		return
	}
	least := 0
	for i := range b.jumps {
		if b.jumps[i].width() < b.jumps[least].width() {
			least = i
		}
	}
	if j.width() > b.jumps[least].width() {
		b.jumps[least] = j
	}
}

// take puts a sync of the epoch in its place.
func (b *Brackets) take(s translate.Sync) {
	e := &b.epochs[len(b.epochs)-1]
	if b.passed < len(b.points) && b.points[b.passed] < s.Upstream {
		e.kept = b.flush(e.kept)
		b.kept = b.seen
		n, _ := slices.BinarySearch(b.points[b.passed:], s.Upstream)
		b.passed += n
		b.above = nearAbove
	}
	b.recent[b.seen%nearBelow] = s
	b.seen++
	if b.above > 0 {
		b.above--
		e.kept = b.flush(e.kept)
		b.kept = b.seen
	}
	e.last = s
	e.spread.Apply(s)
}

// flush appends the newest syncs that are not kept yet.
func (b *Brackets) flush(to []translate.Sync) []translate.Sync {
	for i := max(b.kept, b.seen-nearBelow); i < b.seen; i++ {
		to = append(to, b.recent[i%nearBelow])
	}
	return to
}

// close ends the epoch that is being read: points at or above its end need its last syncs.
func (b *Brackets) close() {
	if n := len(b.epochs); n > 0 && b.passed < len(b.points) {
		b.epochs[n-1].kept = b.flush(b.epochs[n-1].kept)
		b.kept = b.seen
	}
}

// Syncs gives what is kept, in the order of the topic.
func (b *Brackets) Syncs() []translate.Sync {
	var out []translate.Sync
	for i := range b.epochs {
		e := &b.epochs[i]
		all := append([]translate.Sync{e.first}, e.kept...)
		if i == len(b.epochs)-1 && b.passed < len(b.points) {
			all = b.flush(all)
		}
		for _, j := range b.jumps {
			if j.epoch == b.lost.Epochs+i {
				all = append(all, j.a, j.b)
			}
		}
		for _, r := range e.spread.Runs() {
			all = append(all, r.Sync)
		}
		all = append(all, e.last)
		slices.SortFunc(all, func(x, y translate.Sync) int { return cmp.Compare(x.Upstream, y.Upstream) })
		out = append(out, slices.CompactFunc(all, sameOffsets)...)
	}
	return out
}

// Locate bounds one of the positions, as the function Locate does from all syncs. ok is also false where an epoch that was given
// up may have copied further than those that are left.
func (b *Brackets) Locate(u int64, ends Ends) (Bound, bool) {
	if b.split == nil {
		b.split = split(b.Syncs())
	}
	return locateRest(b.split, b.lost, u, ends)
}
