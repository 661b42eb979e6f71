package diagnose

import (
	"fmt"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

const progressFacts = finding.SyncsOf | finding.SourcePositions | finding.Settings | finding.Generation | finding.Tasks | finding.EarlierLook | finding.SourceTopic | finding.TargetTopic

// progressChecks are about how far and how fast data is mirrored.
var progressChecks = []check{
	{Code: 110, Grain: finding.OnPartition, Needs: finding.SourceLog | finding.TargetLog | finding.Settings, Earlier: finding.SourceLog | finding.TargetLog, Uses: progressFacts, Applies: mirroredPartition, Gap: stallUnknown, Decides: true, Run: checkStalled},
	{Code: 113, Grain: finding.OnPartition, Needs: finding.SyncsOf | finding.SourceLog, Uses: finding.Settings | finding.Generation | finding.TopicConfigs | finding.SourceOffset | finding.SourceTopic | finding.TargetTopic, Applies: mirroredPartition, Gap: middleUnknown, Decides: true, Run: checkMiddle},
	{Code: 114, Grain: finding.OnPartition, Needs: finding.SourceLog | finding.TargetLog | finding.Settings, Earlier: finding.SourceLog | finding.TargetLog, Uses: progressFacts | finding.SourceOffset, Applies: mirroredPartition, Gap: lagUnknown, Decides: true, Run: checkLagging},
	{Code: 611, Grain: finding.OnFlow, Uses: finding.InternalTopics, Applies: hasRows, Run: checkLeaderlessInternal},
	{Code: 611, Grain: finding.OnPartition, Uses: finding.SourceTopic | finding.TargetTopic | finding.Settings, Applies: followedPartition, Run: checkLeaderless},
}

// followedPartition narrows to partitions of topics that the source connector's list admits.
func followedPartition(v *View, s subject) bool {
	return topicOfFlow(v, s) && !s.flow.isInternal(s.topic)
}

// mirroredPartition narrows to those of them whose copy is there, or not known to be absent.
func mirroredPartition(v *View, s subject) bool {
	return followedPartition(v, s) && !s.gp.targetTopic().Absent() && !s.gp.sourceTopic().Absent()
}

// stillBudget is how long a healthy source connector may need to mirror a record and to store that it did, ms: also over the
// restart of a worker, in which its tasks are given to another.
func (f *flowView) stillBudget() int64 { return max(f.flushBudget(), 60_000) }

// resting says that the copy did not grow between two looks that lie at least so far apart, ms, while the source connector had its
// time.
func (s subject) resting(apart int64) (before groupPartition, ok bool) {
	f := s.flow
	if f.sinceBefore() < apart {
		return before, false
	}
	before, ok = s.gp.earlier()
	if !ok || f.sourceConnectorDown() != "" || before.flow.sourceConnectorDown() != "" {
		return before, false // 112 explains
	}
	if start, known := f.sourceTaskStart(); known && f.v.now-start < f.stillBudget() {
		return before, false
	}
	if t, u := s.gp.sourceTopic().Or(nil), before.sourceTopic().Or(nil); t == nil || u == nil || t.ID != u.ID {
		return before, false
	}
	copy0, ok0 := before.targetPartition().Or(snapshot.Partition{}).End.Get()
	copy1, ok1 := s.gp.targetPartition().Or(snapshot.Partition{}).End.Get()
	return before, ok0 == snapshot.Known && ok1 == snapshot.Known && copy1 == copy0
}

// standing says that the copy rested for longer than a healthy source connector lets it, while the source went on.
func (s subject) standing() (before groupPartition, ok bool) {
	if before, ok = s.resting(s.flow.stillBudget()); !ok {
		return before, false
	}
	end0, ok0 := before.sourcePartitionEnd()
	end1, ok1 := s.gp.sourcePartitionEnd()
	return before, ok0 && ok1 && end1 > end0
}

// pauseBudget is how far apart two looks must lie, ms, for a copy that rested to be an open question: a healthy source connector that
// works mirrors a record within a second or two.
const pauseBudget = 15_000

// fewMarkers is how many transaction markers may stand side by side at the end of a log that had no holes before.
const fewMarkers = 10

// pausing are source offsets that wait, while nothing was written to the copy between the looks: for less time than a restart may take,
// or behind a source that rests too. since says that they had been there at the first look; else they came in between, and may be of the
// last moment.
func (s subject) pausing() (waits int64, since bool) {
	f := s.flow
	before, ok := s.resting(pauseBudget)
	if !ok {
		return 0, false
	}
	end0, ok0 := before.readable()
	end1, ok1 := s.gp.readable()
	p0, st0 := before.flow.position(s.topic, s.gp.part).Get()
	p1, st1 := f.position(s.topic, s.gp.part).Get()
	if !ok0 || !ok1 || st0 == snapshot.Known && st1 == snapshot.Known && p1.Offset != p0.Offset { // records are dropped on the way
		return 0, false
	}
	start := s.gp.sourcePartition().Or(snapshot.Partition{}).Start.Or(0)
	few := s.gp.holes()
	if end1 == end0 {
		few = max(few, fewMarkers)
	}
	if next, gap := s.gp.mirroredTo(); gap == nil && !f.readsCommitted() {
		if waits = end0 - max(next, start); waits > few {
			return waits, true
		}
	}
	few = fewMarkers // what a healthy flow adds without a record to be mirrored: the markers of transactions that had begun before
	if f.readsCommitted() {
		few = someHoles
	}
	if grown := end1 - max(end0, start); grown > few {
		return grown, false
	}
	return 0, false
}

// pausingNow is what pauses found. since says that some of it had been there at the first look.
type pausingNow struct {
	gap   *snapshot.Gap
	since bool
}

// pauses says for all partitions that pause that it is not known whether they go on; nil where none does, and where it is told already
// that MirrorMaker 2 is down.
func (f *flowView) pauses() *snapshot.Gap {
	if p, _ := f.pulse(); p >= faint {
		return nil
	}
	if f.pausing != nil {
		return f.pausing.gap
	}
	f.pausing = &pausingNow{}
	var all, parts int64
	var first groupPartition
	for _, s := range f.v.subjects(finding.OnPartition) {
		if s.flow != f || !mirroredPartition(f.v, s) {
			continue
		}
		if n, since := s.pausing(); n > 0 {
			if all += n; parts == 0 {
				first = s.gp
			}
			parts++
			f.pausing.since = f.pausing.since || since
		}
	}
	if parts == 0 {
		return nil
	}
	how := "were added on the source meanwhile"
	if f.pausing.since {
		how = "of the source wait, by the offset syncs, some of which had been there at the first look"
	}
	why := fmt.Sprintf("in %s nothing was written to the copies of %s (such as %s-%d), although %s %s: MirrorMaker 2 is being restarted, or mirrors no more; ",
		age(f.sinceBefore()), finding.Count(int(parts), "partition"), first.topic, first.part, finding.Count(int(all), "offset"), how)
	if f.sinceBefore() < f.stillBudget() {
		why += fmt.Sprintf("--observe %s tells", time.Duration(f.stillBudget()+pauseBudget)*time.Millisecond)
	} else {
		why += "look for errors about these topics in its log"
	}
	f.pausing.gap = &snapshot.Gap{Code: codePaused, Why: why}
	return f.pausing.gap
}

// pauseAsk wants a look a moment after the second one, where all that waits may have come just before it: compared with the first look it
// tells whether the copy went on.
func (v *View) pauseAsk() []Ask {
	for _, f := range v.flows {
		if f.earlier != nil && f.pauses() != nil && !f.pausing.since {
			return []Ask{{Groups: []string{"*"}, AfterMs: pauseAfter, First: true}}
		}
	}
	return nil
}

// pauseAfter is longer than a healthy source connector needs for a record, ms.
const pauseAfter = 5_000

// codePaused is the gap of a copy that rested: it leaves its link open, though no reading failed.
const codePaused = "paused"

func (gp groupPartition) sourcePartitionEnd() (int64, bool) {
	end, st := gp.sourcePartition().Or(snapshot.Partition{}).End.Get()
	return end, st == snapshot.Known
}

// nextOf is the source offset that a copy which stands still would take next: past the connector's stored position where that
// stood still too, else as far as the syncs of this look reach: those of the look before were read before its copy's end, and
// more may have been mirrored in between. moved: the stored position went on, records are dropped on the way.
func (s subject) nextOf(before groupPartition) (next int64, moved bool, gap *snapshot.Gap) {
	f := s.flow
	p0, st0 := before.flow.position(s.topic, s.gp.part).Get()
	p1, st1 := f.position(s.topic, s.gp.part).Get()
	if st0 == snapshot.Known && st1 == snapshot.Known {
		return p1.Offset + 1, p1.Offset != p0.Offset, nil
	}
	next, gap = s.gp.mirroredTo()
	if gap != nil && gap.Code == "undetermined" && f.Positions.Unknown() && f.Positions.Why() != nil {
		gap = f.Positions.Why()
	}
	return next, false, gap
}

func stallUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	if before, ok := s.standing(); ok {
		next, _, gap := s.nextOf(before)
		if end := before.sourcePartition().Or(snapshot.Partition{}).End.Or(0); gap == nil && f.readsCommitted() && end-next > s.gp.holes() {
			if _, held := s.heldBack(before); !held {
				return &snapshot.Gap{Code: "undetermined", Why: "the source is read with isolation.level=read_committed: what lies behind the mirrored records may be aborted ones, which are never mirrored"}
			}
		}
		return gap
	}
	if waits, _ := s.pausing(); waits > 0 {
		if gap := f.pauses(); gap != nil {
			return gap
		}
	}
	// One look: a position that was stored long ago, and records behind it.
	p, st := f.position(s.topic, s.gp.part).Get()
	end, ok := s.gp.readable()
	if f.earlier == nil && st == snapshot.Known && ok && p.Time > 0 && f.v.now-p.Time >= f.stillBudget() && end-1-p.Offset > s.gp.holes() && f.sourceConnectorDown() == "" {
		return &snapshot.Gap{Code: "one-look", Why: fmt.Sprintf("the source connector stored its position %s ago and offsets lie behind it; one look cannot tell records of a moment ago from a copy that stands still; --observe takes two", age(f.v.now-p.Time))}
	}
	return nil
}

// heldBack gives the last stable offset where it stood still between the looks, below the end of both: a transaction is open.
func (s subject) heldBack(before groupPartition) (open int64, yes bool) {
	p0, p1 := before.sourcePartition().Or(snapshot.Partition{}), s.gp.sourcePartition().Or(snapshot.Partition{})
	s0, st0 := p0.Stable.Get()
	s1, st1 := p1.Stable.Get()
	return s1, s.flow.readsCommitted() && st0 == snapshot.Known && st1 == snapshot.Known && s0 == s1 && s0 < p0.End.Or(0)
}

// checkStalled: the source goes on, records that were there in the look before are still not mirrored, and nothing was written
// to the copy in between.
func checkStalled(_ *View, s subject) *finding.Finding {
	f := s.flow
	before, ok := s.standing()
	if !ok {
		return nil
	}
	next, moved, gap := s.nextOf(before)
	end0 := before.sourcePartition().Or(snapshot.Partition{}).End.Or(0)
	open, held := s.heldBack(before)
	if gap != nil || moved || end0-next <= s.gp.holes() || f.readsCommitted() && !held {
		return nil
	}
	src, dst := s.gp.sourcePartition().Or(snapshot.Partition{}), s.gp.targetPartition().Or(snapshot.Partition{})
	fd := &finding.Finding{
		Observed: finding.Observed{{Name: "source end before", Value: end0}, {Name: "source end", Value: src.End.Or(0)}, {Name: "copy's end, both times", Value: dst.End.Or(0)},
			{Name: "mirrored up to", Value: next - 1}, {Name: "between the looks", Value: age(f.sinceBefore())}},
		Because: fmt.Sprintf("%s-%d on %s grew from %d to %d within %s, and %s-%d on %s stands at %d: nothing after source offset %d was mirrored", s.topic, s.gp.part, f.Source,
			end0, src.End.Or(0), age(f.sinceBefore()), s.gp.remote, s.gp.part, f.Target, dst.End.Or(0), next-1),
		Consequence: "Records from there on are not on " + f.Target + "; positions of groups do not follow beyond what is mirrored.",
		Confirm:     []finding.Command{logEnds(f.src, s.topic, "", "the end grows"), logEnds(f.dst, s.gp.remote, "", "the end does not"), statusCommand(f)},
	}
	if held {
		fd.Because += fmt.Sprintf("; the source is read with isolation.level=read_committed, and an open transaction begins at %d", open)
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "last stable offset", Value: open})
		fd.Fixes = []finding.Fix{{Mode: "kafka", Text: "Find the transaction that its producer never ended, and abort it if the producer is gone (kafka-transactions.sh of Kafka 3.0 or newer).", WaitSeconds: int(f.stillBudget() / 1000),
			Steps: []finding.Step{{Text: "show the open transactions of the partition", Command: fmt.Sprintf("kafka-transactions.sh --bootstrap-server %s describe-producers --topic %s --partition %d", bootstrapOf(f.src), finding.Quote(s.topic), s.gp.part)},
				{Text: "abort it, with the start offset shown", Command: fmt.Sprintf("kafka-transactions.sh --bootstrap-server %s abort --topic %s --partition %d --start-offset %d", bootstrapOf(f.src), finding.Quote(s.topic), s.gp.part, open), Destructive: true, Undo: "none: the records of that transaction are aborted"}}}}
		return fd
	}
	fd.Fixes = []finding.Fix{{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.stillBudget()) / 1000), Steps: []finding.Step{restartSource(f)},
		Text: "Look into MirrorMaker 2's log for this topic (a record larger than the target accepts, a refused write, a task that is not assigned to a worker), repair that, then restart the source connector."}}
	return fd
}

// waiting are source offsets that were there in the look before, not mirrored, and are at this one still not mirrored, while the
// copy goes on. Every witness must agree: the copy's end after the newest sync in both looks, and the connector's stored position,
// which lags behind the truth by up to a commit of source offsets.
func (s subject) waiting() (before groupPartition, offsets int64, gap *snapshot.Gap) {
	f := s.flow
	if f.sinceBefore() < f.stillBudget() || f.sourceConnectorDown() != "" {
		return before, 0, nil
	}
	before, _ = s.gp.earlier()
	end, ok := before.readable()
	dst1, st1 := s.gp.targetPartition().Or(snapshot.Partition{}).End.Get()
	dst0, st0 := before.targetPartition().Or(snapshot.Partition{}).End.Get()
	if !ok || st1 != snapshot.Known || st0 != snapshot.Known || dst1 <= dst0 {
		return before, 0, nil // standing still is 110
	}
	if t, u := s.gp.sourceTopic().Or(nil), before.sourceTopic().Or(nil); t == nil || u == nil || t.ID != u.ID {
		return before, 0, nil
	}
	p0, k0 := before.flow.position(s.topic, s.gp.part).Get()
	p1, k1 := f.position(s.topic, s.gp.part).Get()
	stored := k0 == snapshot.Known && k1 == snapshot.Known && p1.Offset > p0.Offset && f.sinceBefore() >= 2*f.stillBudget()
	if k1 == snapshot.Known && p1.Offset+1 >= end {
		return before, 0, nil
	}
	next, gap := s.gp.mirroredTo()
	switch {
	case gap == nil && stored:
		next = max(next, p1.Offset+1)
	case gap == nil:
	case stored:
		next, gap = p1.Offset+1, nil
	default:
		return before, 0, gap
	}
	if then, ok := before.next(); ok && end-then <= s.gp.holes() {
		return before, 0, nil
	}
	return before, max(0, end-next-s.gp.holes()), nil
}

// next is the source offset that is mirrored next, by the syncs, or where they do not tell by the connector's stored position.
func (gp groupPartition) next() (int64, bool) {
	if next, gap := gp.mirroredTo(); gap == nil {
		return next, true
	}
	p, st := gp.flow.position(gp.topic, gp.part).Get()
	return p.Offset + 1, st == snapshot.Known
}

// lagUnknown asks only where the source was far ahead of the copy in both looks, by their ends alone.
func lagUnknown(_ *View, s subject) *snapshot.Gap {
	_, _, gap := s.waiting()
	if gap == nil {
		return nil
	}
	if gap.Code == "undetermined" && s.flow.Positions.Unknown() && s.flow.Positions.Why() != nil {
		return s.flow.Positions.Why()
	}
	return gap
}

func checkLagging(_ *View, s subject) *finding.Finding {
	f := s.flow
	before, offsets, gap := s.waiting()
	if gap != nil || offsets == 0 {
		return nil
	}
	next, _ := s.gp.next()
	end0, _ := before.readable()
	end1, _ := s.gp.readable()
	then, _ := before.next()
	lag0, lag1 := end0-then, end1-next
	if f.readsCommitted() && lag1 < lag0 {
		return nil // what is left of the older stretch may be aborted records, which are never mirrored
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "source offsets not mirrored", Value: lag1}, {Name: "in the look before", Value: lag0}, {Name: "waiting for at least", Value: age(f.sinceBefore())}, {Name: "mirrored at most up to", Value: next - 1}, {Name: "source end", Value: end1}},
		Because:     fmt.Sprintf("%d offsets of %s-%d are not mirrored yet, and records before %d have waited for %s at least (in the look before: %d)", lag1, s.topic, s.gp.part, end0, age(f.sinceBefore()), lag0),
		Consequence: fmt.Sprintf("A failover now loses them on %s; a group that has read beyond source offset %d reads again from what is mirrored.", f.Target, next-1),
		Confirm:     []finding.Command{logEnds(f.src, s.topic, "", "the end"), logEnds(f.dst, s.gp.remote, "", "the end, which grows more slowly or later"), statusCommand(f)},
		Fixes: []finding.Fix{{Mode: f.fixMode(), WaitSeconds: int(f.stillBudget() / 1000), Steps: setSource(f, keyTasksMax, "8"),
			Text: "While a backlog is being copied, wait until it is. If it does not shrink: more tasks (tasks.max, up to the number of partitions; eight here), MirrorMaker 2 nearer to the target, larger batches of its producer (batch.size, linger.ms, compression.type), larger fetches."}},
	}
	if lag1 < lag0 {
		fd.Because += "; it is catching up"
	}
	if start, known := f.sourceTaskStart(); known && f.v.now-start < f.topicBudget() {
		fd.Severity = finding.Info
		fd.Because += fmt.Sprintf("; the source connector started %s ago and copies what is there", age(f.v.now-start))
	}
	return fd
}
