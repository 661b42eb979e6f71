package translate

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// MaxInFlight is how many offset syncs a source task has under way at once, all partitions together.
const MaxInFlight = 10

// Outbox is how a source task of one emission hands its syncs to the producer. What does not fit is dropped (E1,
// KAFKA-12558) or waits, the newest of each partition only (E2, KAFKA-14610; E3). From E3 on the last record of a quiet
// partition gets its sync at the next commit (KAFKA-15906).
type Outbox struct {
	emission mm2.Emission
	pending  []mm2.OffsetSync // in the order in which the partitions came
	delayed  []mm2.OffsetSync
}

// NewOutbox gives the outbox of a task that just started. An unknown emission is taken as E3.
func NewOutbox(e mm2.Emission) *Outbox { return &Outbox{emission: e} }

// Acked takes in a record that the target acknowledged, with the Emitter's answer, and gives what is sent now. inFlight
// is how many syncs are under way.
func (o *Outbox) Acked(s mm2.OffsetSync, t Trigger, inFlight int) []mm2.OffsetSync {
	if o.emission == mm2.E1 {
		if t == NoTrigger || inFlight >= MaxInFlight {
			return nil
		}
		return []mm2.OffsetSync{s}
	}
	switch {
	case t != NoTrigger:
		put(&o.pending, s)
		remove(&o.delayed, s)
	case o.emission != mm2.E2:
		put(&o.delayed, s)
	}
	return o.send(inFlight)
}

// Commit is the worker's commit of source offsets (every offset.flush.interval.ms, or after each transaction with
// exactly-once), and gives what is sent now.
func (o *Outbox) Commit(inFlight int) []mm2.OffsetSync {
	for _, s := range o.delayed {
		put(&o.pending, s)
	}
	o.delayed = nil
	return o.send(inFlight)
}

// Waiting gives the syncs that could not be sent yet.
func (o *Outbox) Waiting() []mm2.OffsetSync { return slices.Clone(o.pending) }

func (o *Outbox) send(inFlight int) []mm2.OffsetSync {
	n := min(max(MaxInFlight-inFlight, 0), len(o.pending))
	out := slices.Clone(o.pending[:n])
	o.pending = slices.Delete(o.pending, 0, n)
	return out
}

// put replaces the partition's sync in its place, or adds it.
func put(list *[]mm2.OffsetSync, s mm2.OffsetSync) {
	if i := find(*list, s); i >= 0 {
		(*list)[i] = s
		return
	}
	*list = append(*list, s)
}

func remove(list *[]mm2.OffsetSync, s mm2.OffsetSync) {
	if i := find(*list, s); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
}

func find(list []mm2.OffsetSync, s mm2.OffsetSync) int {
	return slices.IndexFunc(list, func(x mm2.OffsetSync) bool { return x.TopicPartition() == s.TopicPartition() })
}
