package translate

import "github.com/mm2doctor/mm2doctor/internal/mm2"

// Checkpoint is what the task remembers of the checkpoint it wrote last for a group and partition.
type Checkpoint struct {
	Upstream   int64
	Downstream int64
}

// Decision says whether a checkpoint task writes a checkpoint, and why.
type Decision uint8

const (
	// SkipUntranslated: there is no translation, or a negative one; up to 2.6 also 0 (KAFKA-10048).
	SkipUntranslated Decision = iota
	// SkipRepeated: the translation did not grow, whether or not the group went on (3.4.1 and later).
	SkipRepeated
	// SkipDownstreamRewind: the translation is lower than the one written before, though the group did not go back (3.4.1
	// and later); the store has become coarser.
	SkipDownstreamRewind
	// EmitAlways: up to 3.4.0 everything that has a translation is written at every interval.
	EmitAlways
	// EmitFirst: nothing was written for the group and partition since the task started (3.7.1 and later: ever).
	EmitFirst
	// EmitUpstreamRewind: the group went back.
	EmitUpstreamRewind
	// EmitAdvanced: the translation grew.
	EmitAdvanced
)

// Emits says that a record is written.
func (d Decision) Emits() bool { return d >= EmitAlways }

// String gives the decision in plain words.
func (d Decision) String() string {
	switch d {
	case SkipUntranslated:
		return "not written: no translation"
	case SkipRepeated:
		return "not written: the translation is the same as before"
	case SkipDownstreamRewind:
		return "not written: the translation would go back"
	case EmitAlways:
		return "written at every interval"
	case EmitFirst:
		return "written: the first for this group and partition"
	case EmitUpstreamRewind:
		return "written: the group went back"
	case EmitAdvanced:
		return "written: the translation grew"
	}
	return "unknown"
}

// Decide tells what a task of version v does with the translation r of the committed position up. last is the checkpoint
// that the task remembers; nil without one. What is remembered is lost at a task start up to 3.7.0, and read back from
// the checkpoints topic from 3.7.1 on (KAFKA-15905).
func Decide(v mm2.Version, last *Checkpoint, up int64, r Result) Decision {
	if !r.Known() || r.Offset < 0 || r.Offset == 0 && v.Before(2, 7, 0) {
		return SkipUntranslated
	}
	switch {
	case v.Before(3, 4, 1):
		return EmitAlways
	case last == nil:
		return EmitFirst
	case up < last.Upstream:
		return EmitUpstreamRewind
	case r.Offset > last.Downstream:
		return EmitAdvanced
	case r.Offset < last.Downstream:
		return SkipDownstreamRewind
	}
	return SkipRepeated
}
