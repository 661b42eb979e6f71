package translate

import "slices"

// Slot count of MirrorMaker 2's store since 3.4.1 (KAFKA-14666). Slot 0 holds the newest sync, slot 63 the oldest kept.
const slotCount = 64

// Sync is one offset sync of a source partition: both offsets of the same record. Offset and Time (ms) are those of the
// record in the offset-syncs topic; they take no part in the arithmetic and only name the sync.
type Sync struct {
	Upstream   int64
	Downstream int64
	Offset     int64
	Time       int64
}

// Run is a sync that fills the slots from Slot up to the next run's.
type Run struct {
	Slot int
	Sync Sync
}

// Keeping is how a new sync displaces older ones.
type Keeping uint8

const (
	// Greedy is the way of 3.4.1 - 3.5.1 (G3).
	Greedy Keeping = iota
	// TwoPointer is the way of 3.5.2 and later (G4, G5; KAFKA-15202).
	TwoPointer
)

// Slots are the 64 slots that MirrorMaker 2 keeps for one source partition. They are held as runs, since most slots
// repeat their neighbour. The zero value is empty and keeps greedily; it is not safe for concurrent use.
type Slots struct {
	keeping Keeping
	runs    []Run // newest first; empty, or the first has slot 0
}

// NewSlots gives empty slots.
func NewSlots(k Keeping) Slots { return Slots{keeping: k} }

// SlotsFromRuns gives the slots that Runs described, for instance those in a snapshot. ok is false when the runs cannot
// be a state of the store: slots must begin at 0 and ascend below 64, upstream offsets must not ascend.
func SlotsFromRuns(k Keeping, runs []Run) (s Slots, ok bool) {
	for i, r := range runs {
		if i == 0 && r.Slot != 0 || r.Slot >= slotCount {
			return Slots{}, false
		}
		if i > 0 && (r.Slot <= runs[i-1].Slot || r.Sync.Upstream > runs[i-1].Sync.Upstream) {
			return Slots{}, false
		}
	}
	return Slots{keeping: k, runs: slices.Clone(runs)}, true
}

// Empty says that no sync was applied yet.
func (s *Slots) Empty() bool { return len(s.runs) == 0 }

// Runs gives the distinct syncs with the first slot of each, newest first; a copy.
func (s *Slots) Runs() []Run { return slices.Clone(s.runs) }

// Newest gives the sync in slot 0.
func (s *Slots) Newest() (Sync, bool) {
	if s.Empty() {
		return Sync{}, false
	}
	return s.runs[0].Sync, true
}

// At gives the sync in a slot from 0 to 63.
func (s *Slots) At(slot int) (Sync, bool) {
	for i := len(s.runs) - 1; i >= 0; i-- {
		if s.runs[i].Slot <= slot && slot < slotCount {
			return s.runs[i].Sync, true
		}
	}
	return Sync{}, false
}

// Reset fills all slots with n.
func (s *Slots) Reset(n Sync) { s.runs = append(s.runs[:0], Run{0, n}) }

// Apply takes a new sync in. A first sync fills all slots, and so does one whose upstream offset went back; equal is not
// back. reset says that older syncs were thrown away.
func (s *Slots) Apply(n Sync) (reset bool) {
	if s.Empty() {
		s.Reset(n)
		return false
	}
	if n.Upstream < s.runs[0].Sync.Upstream {
		s.Reset(n)
		return true
	}
	u := update{runs: s.runs}
	u.up[0] = n.Upstream
	u.expand(1)
	var end int
	if s.keeping == Greedy {
		end = u.greedy()
	} else {
		end = u.twoPointer()
	}
	s.keep(&u, n, end)
	return false
}

// keep rebuilds the runs: n, what the slots before end hold now, and the rest as it was.
func (s *Slots) keep(u *update, n Sync, end int) {
	k, last := 0, uint8(0)
	for slot := 1; slot < end; slot++ {
		if id := u.now[slot]; id != last {
			s.runs[k] = Run{slot, s.runs[id-1].Sync} // never moves to the right: ids ascend with the slots
			k++
			last = id
		}
	}
	rest := len(s.runs)
	if end < slotCount {
		rest = int(u.old[end])
		if u.old[end] != last {
			s.runs[k] = Run{end, s.runs[rest-1].Sync}
			k++
		}
	}
	tail := len(s.runs) - rest
	if k == rest {
		s.runs = append(s.runs, Run{})
	}
	copy(s.runs[1+k:], s.runs[rest:rest+tail])
	copy(s.runs[1:1+k], s.runs[:k])
	s.runs = s.runs[:1+k+tail]
	s.runs[0] = Run{0, n}
}

// lookup gives the first sync, newest first, that does not lie after up; failing that the oldest, and ahead.
func (s *Slots) lookup(up int64) (sync Sync, slot int, ahead bool) {
	for _, r := range s.runs {
		if r.Sync.Upstream <= up {
			return r.Sync, r.Slot, false
		}
	}
	return s.runs[len(s.runs)-1].Sync, slotCount - 1, true
}

// update is one step of the slots. Syncs are named by numbers: 0 is the new one, i+1 the old run i. Two numbers are equal
// exactly when MirrorMaker 2 would see the same object: a later record with equal offsets is another sync.
type update struct {
	runs     []Run
	used     int // runs that old has taken in
	filled   int // slots of old and now that are filled
	old, now [slotCount]uint8
	up       [slotCount + 1]int64 // upstream offset by number
}

// expand fills old and now up to a slot. It is called as far as the update gets, mostly a few slots.
func (u *update) expand(slot int) {
	for u.filled <= slot && u.filled < slotCount {
		if u.used < len(u.runs) && u.runs[u.used].Slot == u.filled {
			u.up[u.used+1] = u.runs[u.used].Sync.Upstream
			u.used++
		}
		u.old[u.filled] = uint8(u.used)
		u.now[u.filled] = uint8(u.used)
		u.filled++
	}
	u.now[0] = 0
}

// near is the upper bound between slots i < j: the sync in i may lie at most 2^j - 2^i after the one in j. A bound that
// overflows 64 bits is no bound.
func (u *update) near(x, y uint8, i, j int) bool {
	bound := u.up[y] + int64(uint64(1)<<j) - int64(uint64(1)<<i)
	return x == y || bound < 0 || u.up[x] <= bound
}

// apart is the lower bound between slot i and any later one: different syncs lie at least 2^(i-2) apart.
func (u *update) apart(x, y uint8, i int) bool {
	bound := u.up[y] + int64(uint64(1)<<max(i-2, 0))
	return x == y || bound >= 0 && u.up[x] >= bound
}

// fits says that the sync may stand in slot c, after slot c-1 and before the tail as it was.
func (u *update) fits(cand uint8, c int) (fits, separate bool) {
	prev := u.now[c-1]
	separate = u.apart(prev, cand, c-1)
	return separate && u.near(prev, cand, c-1, c) && (c == slotCount-1 || u.apart(cand, u.now[c+1], c)), separate
}

// greedy gives the first slot that stays as it was.
func (u *update) greedy() int {
	fill, cand := uint8(0), u.old[0]
	for c := 1; c < slotCount; c++ {
		u.expand(c + 1)
		if ok, _ := u.fits(cand, c); ok {
			fill = cand
		}
		if u.near(u.now[c-1], u.now[c], c-1, c) {
			return c // the rest still holds
		}
		cand, u.now[c] = u.now[c], fill
	}
	return slotCount
}

// twoPointer gives the first slot that stays as it was. Slot r of the old state supplies the candidates.
func (u *update) twoPointer() int {
	fill := uint8(0)
	r := 0
	for c := 1; c < slotCount; c++ {
		u.expand(c + 1)
		for {
			cand := u.old[r]
			ok, separate := u.fits(cand, c)
			duplicate := r+1 < slotCount && cand == u.old[r+1]
			if ok {
				fill = cand
			}
			skip := duplicate || !separate
			if ok || skip {
				r++
			}
			if r >= c || !skip {
				break
			}
		}
		if u.near(u.now[c-1], u.now[c], c-1, c) {
			return c
		}
		u.now[c] = fill
	}
	return slotCount
}
