package translate

import "github.com/mm2doctor/mm2doctor/internal/mm2"

// Options tell how a checkpoint task started.
type Options struct {
	// MustReadToEnd is for G5: true when the checkpoints topic could not be read at the start, so that history is not
	// kept. G3 and G4 always behave so; G1 and G2 have no such thing.
	MustReadToEnd bool
}

// Store is what a checkpoint task of one generation knows of one source partition. It begins as a started task does,
// reading the offset-syncs topic from its beginning: Apply what was there, call LoadingFinished, Apply what comes later.
// It is not safe for concurrent use.
type Store struct {
	gen     mm2.Generation
	resets  bool // a sync that is read while loading throws away older ones
	loading bool
	newest  Sync // G1, G2
	some    bool
	slots   Slots // G3 to G5
}

// New gives the store of one source partition. An unknown generation gives the store of the newest one.
func New(gen mm2.Generation, o Options) *Store {
	if gen < mm2.G1 || gen > mm2.G5 {
		gen = mm2.G5
	}
	s := &Store{gen: gen, loading: gen >= mm2.G3, resets: gen == mm2.G3 || gen == mm2.G4 || gen == mm2.G5 && o.MustReadToEnd}
	s.slots.keeping = KeepingOf(gen)
	return s
}

// KeepingOf tells how the generation keeps slots; of no meaning for G1 and G2, which keep the newest sync only.
func KeepingOf(gen mm2.Generation) Keeping {
	if gen > mm2.G3 {
		return TwoPointer
	}
	return Greedy
}

// FromSlots gives a store that has finished loading and holds these slots. The slots must have been kept the generation's
// way (G3 Greedy, G4 and G5 TwoPointer); for G1 and G2 only the newest sync is used. The slots are shared, not copied.
func FromSlots(gen mm2.Generation, slots Slots) *Store {
	s := New(gen, Options{})
	s.loading = false
	s.slots.runs = slots.runs
	s.newest, s.some = slots.Newest()
	return s
}

// Restarted gives the store of a task that starts now and has finished loading, from the slots of the whole topic with
// history kept. G3, G4 and a G5 that must read to the end know only the newest sync then (KAFKA-15905).
func Restarted(gen mm2.Generation, slots Slots, o Options) *Store {
	s := New(gen, o)
	resets := s.resets
	s = FromSlots(gen, slots)
	if newest, ok := slots.Newest(); ok && resets {
		s.slots.runs = []Run{{0, newest}}
	}
	return s
}

// Generation tells how the store translates.
func (s *Store) Generation() mm2.Generation { return s.gen }

// Apply takes in the next sync of the partition, in the order of the topic. reset says that older syncs were thrown
// away: while loading in a generation that does not keep history, or because the upstream offset went back.
func (s *Store) Apply(n Sync) (reset bool) {
	if s.gen <= mm2.G2 {
		s.newest, s.some = n, true
		return false
	}
	if s.loading && s.resets && !s.slots.Empty() {
		s.slots.Reset(n)
		return true
	}
	return s.slots.Apply(n)
}

// LoadingFinished says that the store was read to the end that the topic had when the task started.
func (s *Store) LoadingFinished() { s.loading = false }

// Runs gives what the store holds, newest first: distinct syncs with their first slot.
func (s *Store) Runs() []Run {
	if s.gen > mm2.G2 {
		return s.slots.Runs()
	}
	if !s.some {
		return nil
	}
	return []Run{{0, s.newest}}
}

// Status is the kind of a translation.
type Status uint8

const (
	// NoSync: the partition has no sync. G1 then copies the offset, see Copied; later ones give nothing.
	NoSync Status = iota
	// Translated: Offset is the translation.
	Translated
	// Copied: there is no sync, and the source offset was taken over as it is (G1, KAFKA-12635).
	Copied
	// SyncAhead: every usable sync lies after the position, which therefore stays untranslated (-1).
	SyncAhead
	// StillLoading: the task has not read the offset-syncs topic to its end and translates nothing (G3 and later).
	StillLoading
)

// String gives the status in plain words.
func (s Status) String() string {
	switch s {
	case NoSync:
		return "no offset sync for the partition"
	case Translated:
		return "translated"
	case Copied:
		return "copied untranslated, for want of an offset sync"
	case SyncAhead:
		return "every offset sync still held lies after the position"
	case StillLoading:
		return "offset syncs are still being read"
	}
	return "unknown"
}

// Result is the answer for one position. Offset is -1 unless the status is Translated or Copied. Sync and Slot name the
// sync that was used (Translated) or that lies ahead (SyncAhead).
type Result struct {
	Status Status
	Offset int64
	Sync   Sync
	Slot   int
}

// Known says that there is a translated offset.
func (r Result) Known() bool { return r.Status == Translated || r.Status == Copied }

// Translate gives what the task would write as C.down for a committed position.
func (s *Store) Translate(up int64) Result {
	if s.gen <= mm2.G2 {
		return s.extrapolate(up)
	}
	if s.loading {
		return Result{Status: StillLoading, Offset: -1}
	}
	if s.slots.Empty() {
		return Result{Status: NoSync, Offset: -1}
	}
	sync, slot, ahead := s.slots.lookup(up)
	r := Result{Status: Translated, Offset: sync.Downstream, Sync: sync, Slot: slot}
	switch {
	case ahead:
		r.Status, r.Offset = SyncAhead, -1
	case sync.Upstream < up:
		r.Offset++ // at least the record after the synced one
	}
	return r
}

// extrapolate carries the distance from the newest sync over (up to 3.4.0).
func (s *Store) extrapolate(up int64) Result {
	switch {
	case !s.some && s.gen == mm2.G1:
		return Result{Status: Copied, Offset: up}
	case !s.some:
		return Result{Status: NoSync, Offset: -1}
	case s.newest.Upstream > up:
		return Result{Status: SyncAhead, Offset: -1, Sync: s.newest}
	}
	return Result{Status: Translated, Offset: s.newest.Downstream + (up - s.newest.Upstream), Sync: s.newest}
}
