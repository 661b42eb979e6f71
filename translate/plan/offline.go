package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// AnswersFrom answers positions by what a snapshot holds: bounds from its offset syncs, and no records. The answers have the order
// of the positions.
func AnswersFrom(s *snapshot.Snapshot, ps []Position) []Answer {
	sides := map[string]*side{}
	of := func(alias string) *side {
		if sides[alias] == nil {
			sides[alias] = newSide(s, alias, false)
		}
		return sides[alias]
	}
	out := make([]Answer, len(ps))
	for i, p := range ps {
		out[i] = answerFrom(s, of(p.From.Cluster), of(p.To.Cluster), p)
	}
	return out
}

func answerFrom(s *snapshot.Snapshot, from, to *side, p Position) Answer {
	a := Answer{Source: boundsOf(from, p.From.TopicPartition), Target: boundsOf(to, p.To.TopicPartition)}
	switch {
	case a.Target == nil:
		a.Why = fmt.Sprintf("the snapshot does not hold the ends of %s on %s", p.To.TopicPartition, p.To.Cluster)
		return a
	case p.Syncs.Swapped:
		a.Why = "a captured snapshot is not enough to go back; both clusters have to answer"
		return a
	}
	i := slices.IndexFunc(s.Flows, func(f snapshot.Flow) bool { return f.Name() == p.Syncs.Flow })
	if i < 0 {
		a.Why = "the snapshot does not hold the flow " + p.Syncs.Flow
		return a
	}
	syncs, st := s.Flows[i].Syncs.Get()
	if st != snapshot.Known {
		a.Why = "the snapshot holds no offset syncs of " + p.Syncs.Flow
		return a
	}
	ends := ranges.Ends{Source: -1, Target: a.Target.End}
	if a.Source != nil {
		ends.Source = a.Source.End
	}
	a.Range, a.Why = RangeOf(partitionSyncs(&syncs, p.Syncs.Of), p.Offset, ends)
	if a.Range == nil {
		return a
	}
	a.Why = "a captured snapshot holds no records"
	a.Also = a.Range.Counts(*a.Target, p.Also)
	return a
}

// Counts bounds, by offsets of the log, what consumers that start at some would read again or never.
func (r *Range) Counts(log match.Bounds, at []int64) (out []Count) {
	for _, o := range at {
		out = append(out, Count{Offset: o, ReRead: max(0, log.Within(r.High)-log.Within(o)), Skipped: max(0, log.Within(o)-log.Within(r.Low))})
	}
	return out
}

func partitionSyncs(s *snapshot.Syncs, tp kafka.TopicPartition) *snapshot.PartitionSyncs {
	i, ok := slices.BinarySearchFunc(s.Partitions, tp, func(x snapshot.PartitionSyncs, tp kafka.TopicPartition) int {
		return cmp.Or(cmp.Compare(x.Topic, tp.Topic), cmp.Compare(x.Partition, tp.Partition))
	})
	if !ok {
		return nil
	}
	return &s.Partitions[i]
}

// boundsOf are the ends of a log as a snapshot tells them; nil where it does not. A last stable offset that is not told is the end.
func boundsOf(s *side, tp kafka.TopicPartition) *match.Bounds {
	p, st := s.partition(tp.Topic, tp.Partition).Get()
	if st != snapshot.Known {
		return nil
	}
	start, sst := p.Start.Get()
	end, est := p.End.Get()
	if sst != snapshot.Known || est != snapshot.Known {
		return nil
	}
	return &match.Bounds{Start: start, Stable: p.Stable.Or(end), End: end}
}
