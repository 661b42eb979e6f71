package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// kept is the proved place of a state file at or next below the position, of whatever group: the copies at or after the place of
// an earlier position hold every record of a later one too. It must be of the topics as they are, and not younger than the
// position: a topic made anew in between counts from 0 again.
func (w *Wants) kept(x *want) *StatePartition {
	r := &x.row
	if x.syncs.Swapped || r.From == nil {
		return nil
	}
	var best *StatePartition
	for _, s := range w.pairs[kafka.TopicPartition{Topic: r.Topic, Partition: r.Partition}] {
		if s.Offset <= r.From.Offset && w.current(r, s) && (best == nil || s.Offset > best.Offset || s.Offset == best.Offset && s.Time > best.Time) {
			best = s
		}
	}
	return best
}

// current says that a place of a state file is of the row's topics as they are, and not younger than the position.
func (w *Wants) current(r *Row, s *StatePartition) bool {
	switch {
	case s.Time > w.now-r.FromAgeMs || s.Target > r.End || s.TargetTopic != r.TargetTopic:
		return false
	case s.TargetTopicID != "" && r.TargetTopicID != "" && s.TargetTopicID != r.TargetTopicID:
		return false
	case s.TopicID != "" && r.TopicID != "" && s.TopicID != r.TopicID:
		return false
	}
	return true
}

// anewSince says that the copy was deleted and made anew after a time, in ms: a state file or a captured snapshot of that time or
// later knows it by another id. Numbers of before are those of other records.
func (w *Wants) anewSince(r *Row, at int64) bool {
	other := func(id string) bool { return id != "" && r.TargetTopicID != "" && id != r.TargetTopicID }
	if s := w.sel.State; s != nil {
		for i := range s.Positions {
			if x := &s.Positions[i]; x.TargetTopic == r.TargetTopic && x.Time >= at && other(x.TargetTopicID) {
				return true
			}
		}
	}
	if b := w.sel.Bundle; b != nil && b.Taken >= at {
		return other(newSide(b, w.to.Alias, false).topicID(r.TargetTopic))
	}
	return false
}

// keptIsBest says that the offset syncs prove no higher place. All of them are lower bounds; what the checkpoints prove is seen after.
func keptIsBest(a *Answer, at int64) bool { return a.Range == nil || a.Range.Low <= at }

// countsOn says whether MirrorMaker 2 may be, and whether it must be, of a release that counts on linearly. A captured snapshot
// with offset syncs tells it where they are lost now.
func (w *Wants) countsOn() (may, must bool) {
	if w.writer == nil {
		return true, false
	}
	may, must = w.writer.CountsOn()
	if !may || must || w.sel.Bundle == nil {
		return may, must
	}
	for _, r := range diagnose.RulesOf(w.sel.Bundle) {
		if r.Flow().Name() == w.writer.Flow().Name() {
			return r.CountsOn()
		}
	}
	return may, must
}

// tellUnsure warns once of numbers whose writer is not known; nil without any.
func (w *Wants) tellUnsure() *finding.Finding {
	n := 0
	for _, x := range w.unsure {
		if x.row.Action == Set || x.row.Action == Right {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	f := w.finding(&Refusal{Code: WouldSkip, Slug: "may-skip", Because: fmt.Sprintf("%s of this plan rest on MirrorMaker 2's checkpoint alone, and which release wrote it is not known now that %s is given up: up to 3.4.0 it counted on linearly, and such a number may lie behind records that were never read", finding.Count(n, "offset"), w.from.Alias),
		Next: "say which release mirrored (--mm2-version 3.9.1): from 3.4.1 on the checkpoint skips nothing; where it was older, --fallback earliest reads all again"})
	f.Severity, f.SubjectCount = finding.Warning, n
	return &f
}

// OlderSyncs gives what a captured snapshot tells of the offset syncs that a position needs, where those of now cannot be read, and how
// many there are; now is the look at the cluster that is written. nil without any, and why. What was written since lies behind what was
// then, so that low ends still skip nothing.
func OlderSyncs(old, now *snapshot.Snapshot, p Position) (ranges.Locator, int, string) {
	if p.Syncs.Swapped {
		return nil, 0, ""
	}
	if x, y := newSide(old, p.To.Cluster, false).topicID(p.To.Topic), newSide(now, p.To.Cluster, false).topicID(p.To.Topic); x != "" && y != "" && x != y {
		return nil, 0, fmt.Sprintf("%s was made anew since the captured snapshot, whose offset syncs speak of the one before", p.To.Topic)
	}
	at := slices.IndexFunc(old.Flows, func(f snapshot.Flow) bool { return f.Name() == p.Syncs.Flow })
	if at < 0 {
		return nil, 0, ""
	}
	syncs, st := old.Flows[at].Syncs.Get()
	if st != snapshot.Known {
		return nil, 0, ""
	}
	ps := partitionSyncs(&syncs, p.Syncs.Of)
	l, why := Kept(ps)
	if l == nil {
		return nil, 0, why
	}
	return l, int(ps.Count), ""
}

// RangesFrom bounds positions by the offset syncs of a captured snapshot where nothing else did.
func RangesFrom(old, now *snapshot.Snapshot, ps []Position, as []Answer) {
	for i := range ps {
		p := &ps[i]
		if i >= len(as) || as[i].Range != nil || as[i].Target == nil || p.Offset < 0 {
			continue
		}
		a := &as[i]
		l, n, why := OlderSyncs(old, now, *p)
		if l == nil {
			a.Why = cmp.Or(why, a.Why)
			continue
		}
		b, ok := l.Locate(p.Offset, ranges.Ends{Source: -1, Target: a.Target.End})
		if !ok {
			a.Why = "no offset sync of the captured snapshot, of the topics as they are now, lies at or below the position"
			continue
		}
		r := RangeAt(b, n, old.Taken, a.Target.End)
		a.Range, a.Why, a.Also = r, "", r.Counts(*a.Target, p.Also)
	}
}

// RangeAt is a bound by the offset syncs of a look at some time, in ms, on a log that ends at end now.
func RangeAt(b ranges.Bound, syncs int, look, end int64) *Range {
	r := &Range{Low: b.Low, High: max(b.Low, min(b.High, end)), Open: b.Open, Again: b.Again, Below: b.Below, Above: b.Above, Syncs: syncs, Look: look}
	if r.Open {
		r.High = end
	}
	return r
}
