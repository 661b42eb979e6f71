package diagnose

import (
	"cmp"
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/bugs"
)

// inferred is what the records alone say about the MirrorMaker 2 that wrote the newest of them. A release that a rule
// excludes did not write them; what no rule decides stays possible.
type inferred struct {
	set       mm2.Generations
	emissions mm2.Emissions
	from      mm2.Version // no earlier release; zero: any
	to        mm2.Version // no later release; zero: any
	evidence  []string
	lagMax    int64 // offset.lag.max as the distances between syncs show it; -1 without

	old, young, commits, history *proof
	upgraded                     *snapshot.Explained // newest checkpoint of 3.4.0 or older below newer ones of 3.4.1 or later
}

// proof is what excludes releases: the newest record that shows it.
type proof struct {
	at    int64 // ms, of the record
	count int64
	words string
}

func (i inferred) fits(v mm2.Version) bool {
	return i.set.Has(v.Generation()) && i.emissions.Has(v.Emission()) && (i.from.IsZero() || v.Compare(i.from) >= 0) && (i.to.IsZero() || v.Compare(i.to) <= 0)
}

func (i *inferred) say(format string, args ...any) {
	i.evidence = append(i.evidence, fmt.Sprintf(format, args...))
}

// few is how often a pattern must be seen before it counts where chance could make it once.
const few = 3

// infer reads the rules from the records: how checkpoints follow from syncs (c.1, c.2 of the translation rules), how far
// syncs stand apart (c.4), what a task kept over its start.
func infer(f *flowView) inferred {
	i := inferred{set: mm2.AllGenerations, emissions: mm2.AllEmissions, lagMax: -1}
	sy, st := f.Syncs.Get()
	if st != snapshot.Known {
		i.names(f, false, false)
		return i
	}
	i.translation(f, &sy)
	i.emission(f, &sy)
	switch {
	case i.old != nil && (i.young == nil || i.old.at > i.young.at):
		if f.restartedSince(i.old.at) {
			i.say("%s, but MirrorMaker 2 was started after that, and up to 3.4.0 it would have written such a record again within %d s", i.old.words, f.emitBudget()/1000)
			break
		}
		i.set, i.emissions = mm2.SetOf(mm2.G1, mm2.G2), mm2.EmissionsOf(mm2.E1)
		i.say("%s (3.4.0 or older)", i.old.words)
		i.copied(f, sy.First)
	case i.young != nil:
		i.set, i.emissions = mm2.SetOf(mm2.G3, mm2.G4, mm2.G5), mm2.EmissionsOf(mm2.E2, mm2.E3)
		i.say("%s (3.4.1 or newer)", i.young.words)
		i.commitRule(f, sy.Rhythm)
		i.keptHistory(f, &sy)
	}
	i.names(f, sy.Records > 0, sy.OnePast+sy.CountedOn > 0)
	return i
}

// translation: up to 3.4.0 a position is counted on from the newest sync, S.down + (U - S.up); from 3.4.1 on it is at most one
// past a sync (KAFKA-12468).
func (i *inferred) translation(f *flowView, sy *snapshot.Syncs) {
	linear := sy.CountedOn
	if sy.Records < sy.End-sy.Start && linear < few {
		linear = 0 // the topic was compacted: where the true sync is gone, another may fit by chance
	}
	if linear > 0 {
		i.old = &proof{sy.CountedOnLast, linear, fmt.Sprintf("%d checkpoints count on from their offset sync%s", linear, shownPair(sy.CountedOnShown))}
	}
	if sy.OnePast > 0 {
		i.young = &proof{sy.OnePastLast, sy.OnePast, fmt.Sprintf("%d checkpoints stand one past their offset sync%s", sy.OnePast, shownPair(sy.OnePastShown))}
		if linear > 0 && sy.CountedOnLast < sy.OnePastLast {
			i.upgraded = sy.CountedOnShown
		}
	}
}

func shownPair(e *snapshot.Explained) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf(", the newest %d -> %d from the sync %d -> %d", e.Checkpoint.Up, e.Checkpoint.Down, e.Sync.Up, e.Sync.Down)
}

// emission: from 3.4.1 on a partition gets a sync each offset.lag.max + 1 records, before only at a gap or a start.
func (i *inferred) emission(f *flowView, sy *snapshot.Syncs) {
	r := sy.Rhythm
	if !readable(r) || r.Steps < few {
		return
	}
	i.lagMax = r.Step - 1
	p := &proof{r.StepsLast, r.Steps, fmt.Sprintf("%d offset syncs stand %d records after an earlier one, as with offset.lag.max=%d", r.Steps, r.Step, r.Step-1)}
	if i.young == nil || i.young.at < p.at {
		if i.young != nil {
			p.words = i.young.words + "; " + p.words
		}
		i.young = p
	}
}

// readable says that the distances mean something: the step is not so short that each record has a sync, and it is known, or
// seen more often than neighbouring records are.
func readable(r *snapshot.Rhythm) bool {
	return r != nil && r.Step >= 10 && (r.StepKnown || r.Exact >= few && r.Exact > r.Ones)
}

// commitRule: from 3.7.0 on the last record before a commit of source offsets gets a sync too (KAFKA-15906).
func (i *inferred) commitRule(f *flowView, r *snapshot.Rhythm) {
	if !readable(r) {
		return
	}
	cs := f.Checkpointed.Or(snapshot.Checkpoints{})
	// A MirrorMaker 2 that is started over and over would repeat its checkpoints; only what is left of the topic tells.
	never := cs.Repeats == 0 && cs.Records >= int64(2*len(cs.Newest)+20) && cs.First < r.DenseLast
	switch {
	case r.SinceStart >= 2 && f.noMarkers():
		i.commits = &proof{r.ShortLast, r.SinceStart, fmt.Sprintf("%d offset syncs since the start of the source tasks are nearer than %d records to the one before%s", r.SinceStart, r.Step, shownSyncs(r.ShownCommit))}
	case r.Between >= few:
		i.commits = &proof{r.BetweenLast, r.Between, fmt.Sprintf("%d times offset syncs stand between two that are %d records apart%s", r.Between, r.Step, shownSyncs(r.ShownCommit))}
	case r.Dense > 0 && never:
		i.commits = &proof{r.DenseLast, r.Dense, fmt.Sprintf("8 offset syncs of a partition within an hour are nearer than %d records to the one before, and no start of a task explains them%s", r.Step, shownSyncs(r.ShownCommit))}
	}
	switch {
	case i.commits != nil:
		i.set, i.emissions = i.set&mm2.SetOf(mm2.G4, mm2.G5), mm2.EmissionsOf(mm2.E3)
		i.say("%s (3.7.0 or newer: syncs of commits)", i.commits.words)
		if r.CommitGap > 0 {
			i.say("the shortest time between syncs of commits is %d s (offset.flush.interval.ms)", r.CommitGap/1000)
		}
	case r.Waited >= few && r.Between+r.Dense == 0 && (r.SinceStart == 0 || !f.noMarkers()) && r.WaitedLast > r.SourceStart:
		i.set, i.emissions = i.set&mm2.SetOf(mm2.G3, mm2.G4), mm2.EmissionsOf(mm2.E2)
		i.say("%d times more than %d s passed between syncs %d records apart and nothing was written in between%s (3.6.2 or older: no syncs of commits)", r.Waited, r.WaitedOver/1000, r.Step, shownSyncs(r.ShownWaited))
	}
}

// noMarkers says that the copies have no offsets of their own: with exactly-once each transaction adds one, and under the identity
// policy others may write. Such an offset can hide a gap of the source, which asks for a sync by any rule.
func (f *flowView) noMarkers() bool {
	return f.says(worker, "exactly.once.source.support", "enabled") == bugs.No && f.Policy.Class != mm2.IdentityPolicyClass
}

func shownSyncs(s *snapshot.SyncsShown) string {
	if s == nil {
		return ""
	}
	out := fmt.Sprintf(", the newest of %s-%d:", s.Topic, s.Partition)
	for _, x := range s.Syncs {
		out += fmt.Sprintf(" %d -> %d", x.Up, x.Down)
	}
	return out
}

// workerSlack is how far clocks of two workers, or a status record and the task's work, may be apart, ms.
const workerSlack = 5000

// keptHistory: up to 3.7.0 a task that starts knows nothing older than the newest sync of each partition (KAFKA-15905). A
// checkpoint, made since, of a position before that sync is of 3.7.1 or newer.
func (i *inferred) keptHistory(f *flowView, sy *snapshot.Syncs) {
	start, ok := f.checkpointTaskStart()
	if !ok || sy.TaskStart != start {
		return
	}
	var last *snapshot.Checkpoint
	var n int64
	for k := range f.checkpoints {
		c := f.checkpoints[k]
		topic, known := f.Upstream(c.Topic, mm2.Version{})
		ps := f.syncs[kafka.TopicPartition{Topic: topic, Partition: c.Partition}]
		if !known || ps == nil || ps.Rewinds > 0 || len(ps.TwoPointerSince) == 0 || c.Time < start+workerSlack {
			continue
		}
		oldest := ps.TwoPointerSince[len(ps.TwoPointerSince)-1].Sync
		if c.Up >= oldest.Up || oldest.Offset == ps.Oldest.Offset {
			continue
		}
		n++
		if last == nil || cmp.Or(cmp.Compare(c.Time, last.Time), cmp.Compare(c.Offset, last.Offset)) > 0 {
			last = c
		}
	}
	if n < 2 {
		return
	}
	i.history = &proof{last.Time, n, fmt.Sprintf("%d checkpoints since the start of the checkpoint task are of positions before the newest sync of that time, the newest %d -> %d of %s", n, last.Up, last.Down, last.Group)}
	i.set, i.emissions = i.set&mm2.SetOf(mm2.G5), i.emissions&mm2.EmissionsOf(mm2.E3)
	i.say("%s (3.7.1 or newer)", i.history.words)
}

// copied: up to 3.2.3 a position of a partition without any sync is written as it is (KAFKA-12635). Beyond the end of the copy
// nothing else puts it.
func (i *inferred) copied(f *flowView, since int64) {
	for _, c := range f.Checkpointed.Or(snapshot.Checkpoints{}).Newest {
		topic, known := f.Upstream(c.Topic, mm2.Version{})
		if !known || c.Up != c.Down || c.Down == 0 || c.Time < since || f.syncs[kafka.TopicPartition{Topic: topic, Partition: c.Partition}] != nil {
			continue
		}
		p, st := partition(f.v.topicOn(f.dst, c.Topic), c.Partition).Get()
		end, ok := p.End.Get()
		if st == snapshot.Known && ok == snapshot.Known && c.Down > end {
			i.set = mm2.SetOf(mm2.G1)
			i.say("%s has the checkpoint %d -> %d of %s-%d, which has no sync and ends at %d (3.2.3 or older)", c.Group, c.Up, c.Down, topic, c.Partition, end)
			return
		}
	}
}

// names: where topics lie and what they are called is itself a matter of the version (KIP-716 in 3.0.0, KIP-690 in 3.1.0). On
// the target there may lie a topic of the opposite flow by the same name, so there a checkpoint must follow from a sync.
func (i *inferred) names(f *flowView, syncs, explains bool) {
	p := f.Policy
	switch {
	case syncs && p.InternalSeparator != mm2.DefaultSeparator && p.InternalSeparator != "" && (p.Class == "" || mm2.DefaultPolicyClass == p.Class || mm2.IdentityPolicyClass == p.Class):
		i.from = mm2.V(3, 1, 0)
		i.say("%s is spelt with the separator of its own (3.1.0 or newer)", f.SyncsTopic)
	case explains && f.SyncsOn == f.Target && f.Source != f.Target:
		i.from = mm2.V(3, 0, 0)
		i.say("the offset syncs lie on the target (3.0.0 or newer)")
	}
}

// restartedSince says that a MirrorMaker 2 that repeats its checkpoints all the time was started, and has had the time to.
func (f *flowView) restartedSince(at int64) bool {
	start, ok := f.checkpointTaskStart()
	return ok && start > at && f.v.now-start > f.emitBudget()
}
