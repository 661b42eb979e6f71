package collect

import (
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// rules watches the syncs stream by and notes by which rule the checkpoints follow from them: counted on from a sync (up to
// 3.4.0) or one past it (KAFKA-12468, 3.4.1). The store that is kept would have forgotten most of these syncs.
type rules map[kafka.TopicPartition]*rulesOf

type rulesOf struct {
	byShift map[int64][]*explained // by C.down - C.up
	byNext  map[int64][]*explained // by C.down - 1
}

type explained struct {
	c                  snapshot.Checkpoint
	countedOn, onePast bool
	by                 snapshot.Sync // the newest that it follows from
}

func newRules(f *snapshot.Flow) rules {
	out := rules{}
	cs, st := f.Checkpointed.Get()
	if st != snapshot.Known {
		return out
	}
	for _, c := range cs.Newest {
		topic, ok := f.Upstream(c.Topic, mm2.Version{})
		if !ok {
			continue
		}
		tp := kafka.TopicPartition{Topic: topic, Partition: c.Partition}
		r := out[tp]
		if r == nil {
			r = &rulesOf{byShift: map[int64][]*explained{}, byNext: map[int64][]*explained{}}
			out[tp] = r
		}
		e := &explained{c: c}
		r.byShift[c.Down-c.Up] = append(r.byShift[c.Down-c.Up], e)
		r.byNext[c.Down-1] = append(r.byNext[c.Down-1], e)
	}
	return out
}

func (r rules) see(s mm2.OffsetSync, rec snapshot.Sync) {
	of := r[kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition}]
	if of == nil {
		return
	}
	// Where the sync is of the very record, or of the one before, both rules give the same.
	for _, e := range of.byShift[s.Downstream-s.Upstream] {
		if d := e.c.Up - s.Upstream; d >= 0 {
			e.countedOn, e.by = true, rec
			e.onePast = e.onePast || d <= 1
		}
	}
	for _, e := range of.byNext[s.Downstream] {
		if e.c.Up > s.Upstream {
			e.onePast, e.by = true, rec
		}
	}
}

// tell counts the checkpoints that fit one rule and not the other.
func (r rules) tell(out *snapshot.Syncs) {
	for _, of := range r {
		for _, es := range of.byNext {
			for _, e := range es {
				switch {
				case e.countedOn && !e.onePast:
					out.CountedOn++
					out.CountedOnLast, out.CountedOnShown = newer(out.CountedOnLast, out.CountedOnShown, e)
				case e.onePast && !e.countedOn:
					out.OnePast++
					out.OnePastLast, out.OnePastShown = newer(out.OnePastLast, out.OnePastShown, e)
				}
			}
		}
	}
}

// newer keeps the newest checkpoint; of several of one time the last in the topic, whatever order they come in.
func newer(last int64, shown *snapshot.Explained, e *explained) (int64, *snapshot.Explained) {
	if shown == nil || e.c.Time > last || e.c.Time == last && e.c.Offset > shown.Checkpoint.Offset {
		return max(last, e.c.Time), &snapshot.Explained{Checkpoint: e.c, Sync: e.by}
	}
	return last, shown
}
