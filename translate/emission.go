package translate

import "github.com/mm2doctor/mm2doctor/internal/mm2"

// Trigger says why a source task wants to write an offset sync for a record, or that it does not.
type Trigger uint8

const (
	// NoTrigger: the record asks for no sync. From 3.7.0 on it may still get one at the next commit.
	NoTrigger Trigger = iota
	// FirstRecord: the partition's first record since the task started.
	FirstRecord
	// LagReached: offset.lag.max; up to 3.4.0 of drift between the two offsets, later of distance from the last sync.
	LagReached
	// UpstreamStep: the upstream offset did not grow by one: a gap, or the source was read again.
	UpstreamStep
	// DownstreamRewind: the downstream offset went back: the target topic was recreated or truncated.
	DownstreamRewind
)

// String gives the trigger in plain words.
func (t Trigger) String() string {
	switch t {
	case NoTrigger:
		return "no sync asked for"
	case FirstRecord:
		return "first record since the task started"
	case LagReached:
		return "offset.lag.max reached"
	case UpstreamStep:
		return "source offsets not consecutive"
	case DownstreamRewind:
		return "target offset went back"
	}
	return "unknown"
}

// DefaultLagMax is the default of offset.lag.max.
const DefaultLagMax = 100

// Emitter is what a source task remembers of one source partition to decide about syncs. It is lost with the task.
type Emitter struct {
	emission         mm2.Emission
	lagMax           int64
	prevUp, prevDown int64
	lastUp, lastDown int64 // of the last sync that was asked for, sent or not
}

// NewEmitter gives the state of a task that just started. lagMax is offset.lag.max. An unknown emission is taken as E3.
func NewEmitter(e mm2.Emission, lagMax int64) Emitter {
	return Emitter{emission: e, lagMax: lagMax, prevUp: -1, prevDown: -1, lastUp: -1, lastDown: -1}
}

// Acked takes in the next record that the target acknowledged: its offset on the source and on the target. Records that
// were dropped on the way are not taken in.
func (e *Emitter) Acked(up, down int64) Trigger {
	expected := e.lastDown + 1
	if e.emission == mm2.E1 {
		expected = e.lastDown + (up - e.lastUp) // drift only; an ordinary topic gets one sync in a task's life
	}
	t := NoTrigger
	switch {
	case e.lastDown == -1:
		t = FirstRecord
	case down-expected >= e.lagMax:
		t = LagReached
	case up-e.prevUp != 1:
		t = UpstreamStep
	case down < e.prevDown:
		t = DownstreamRewind
	}
	if t != NoTrigger {
		e.lastUp, e.lastDown = up, down
	}
	e.prevUp, e.prevDown = up, down
	return t
}
