package plan

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// tighten makes a place that no records prove as narrow as the rest of what is known allows: the checkpoints of a release that skips
// nothing bound it from below, proved places of later positions from above. What the group has now is bounded by the same.
func (w *Wants) tighten(x *want, a *Answer, at int64) int64 {
	r := &x.row
	if r.Bound == nil || r.Basis == byRecords || r.Basis == byEnd || r.Basis == byStart {
		return at
	}
	if r.Bound[0] < r.Bound[1] {
		if high, ok := w.ceiling(x); ok && high >= at {
			r.Bound[1] = min(r.Bound[1], high)
		}
		if c := w.floor(x, a); c != nil && c.Down > at && c.Down <= r.Bound[1] {
			at = c.Down
			more := fmt.Sprintf("; MirrorMaker 2's checkpoint %d -> %d of group %s, %s old, proves more", c.Up, c.Down, c.Group, Span(max(0, w.now-c.Time)))
			before, why, compared := strings.Cut(r.Evidence, recordsSay)
			if r.Evidence = before + more; compared {
				r.Evidence += recordsSay + why
			}
			if c.Group == x.group {
				r.Basis, r.Sync = byCheckpoint, nil
			}
		}
		r.Bound[0] = max(r.Bound[0], at)
		r.ReReadUpTo = min(r.ReReadUpTo, r.Bound[1]-at)
	}
	low, high := r.within(r.Bound[0]), r.within(r.Bound[1])
	if c := r.BeforeCount; c != nil && !c.Known {
		now := r.within(c.Offset)
		c.ReRead, c.Skipped = max(0, high-now), max(0, now-low)
	}
	return at
}

// floor is the checkpoint, of any group, that proves most of where a position lies at least: that of a position at or below it, made by
// a release that skips nothing (3.4.1 and later), of the topics as they are. nil without one. Where the partition was copied again, or
// records were compared and did not decide, a checkpoint may speak of a copy that has not come as far, and proves nothing.
func (w *Wants) floor(x *want, a *Answer) *snapshot.Checkpoint {
	r := &x.row
	if w.writer == nil || x.syncs.Swapped || x.elsewhere || x.syncs.Flow != w.writer.Flow().Name() || r.From == nil || a.Records != nil || a.Range != nil && a.Range.Again {
		return nil
	}
	if may, _ := w.countsOn(); may || w.madeAnew(r.Topic) {
		return nil
	}
	var best *snapshot.Checkpoint
	for _, c := range w.checkpoints(kafka.TopicPartition{Topic: r.TargetTopic, Partition: r.Partition}) {
		if c.Up <= r.From.Offset && c.Down >= 0 && (best == nil || c.Down > best.Down) && !w.anewSince(r, c.Time) {
			best = c
		}
	}
	return best
}

// checkpoints are those of all groups for a partition of the target, as they are and as a captured snapshot still tells them.
func (w *Wants) checkpoints(tp kafka.TopicPartition) []*snapshot.Checkpoint {
	if w.byPartition == nil {
		w.byPartition = map[kafka.TopicPartition][]*snapshot.Checkpoint{}
		flows := []*snapshot.Flow{w.writer.Flow()}
		if b := w.sel.Bundle; b != nil {
			for i := range b.Flows {
				if b.Flows[i].Name() == w.writer.Flow().Name() {
					flows = append(flows, &b.Flows[i])
				}
			}
		}
		for _, f := range flows {
			newest := f.Checkpointed.Or(snapshot.Checkpoints{}).Newest
			for i := range newest {
				at := kafka.TopicPartition{Topic: newest[i].Topic, Partition: newest[i].Partition}
				w.byPartition[at] = append(w.byPartition[at], &newest[i])
			}
		}
	}
	return w.byPartition[tp]
}

// ceiling is the lowest place that a state file proves for a position at or above this one: the place of a later position lies no lower.
func (w *Wants) ceiling(x *want) (int64, bool) {
	r := &x.row
	if x.syncs.Swapped || r.From == nil {
		return 0, false
	}
	high, ok := int64(0), false
	for _, s := range w.pairs[kafka.TopicPartition{Topic: r.Topic, Partition: r.Partition}] {
		if s.Offset >= r.From.Offset && s.Verdict == match.Exact.String() && w.current(r, s) && (!ok || s.Target < high) {
			high, ok = s.Target, true
		}
	}
	return high, ok
}
