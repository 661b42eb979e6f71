package collect

import (
	"cmp"
	"errors"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate"
)

// mostBad is how many unreadable records are listed; all are counted.
const mostBad = 20

func addBad(list []snapshot.BadRecord, n *int64, r *kafka.Record, err error) []snapshot.BadRecord {
	*n++
	bad := snapshot.BadRecord{Partition: r.Partition, Offset: r.Offset, Reason: err.Error(), Null: isNull(err)}
	switch {
	case len(list) < mostBad:
		return append(list, bad)
	case bad.Null && !slices.ContainsFunc(list, func(b snapshot.BadRecord) bool { return b.Null }):
		list[mostBad-1] = bad // one of them is always listed: it does the most damage
	}
	return list
}

func isNull(err error) bool {
	var e *formatters.RecordError
	return errors.As(err, &e) && (e.Fault == formatters.NullKey || e.Fault == formatters.NullValue)
}

func firstLast(first, last, ts int64) (int64, int64) {
	if ts <= 0 {
		return first, last
	}
	if first == 0 || ts < first {
		first = ts
	}
	return first, max(last, ts)
}

// CheckpointFold keeps the newest checkpoint of each group and partition while the topic streams by.
type CheckpointFold struct {
	out    snapshot.Checkpoints
	newest map[string]*snapshot.Checkpoint
	gaps   gaps
}

// NewCheckpointFold begins with an empty topic.
func NewCheckpointFold(topic string) *CheckpointFold {
	return &CheckpointFold{out: snapshot.Checkpoints{Topic: topic, Newest: []snapshot.Checkpoint{}}, newest: map[string]*snapshot.Checkpoint{}}
}

// Add takes the next record; one that does not decode is counted and listed.
func (f *CheckpointFold) Add(r *kafka.Record) {
	f.out.Records++
	f.out.First, f.out.Last = firstLast(f.out.First, f.out.Last, r.Timestamp)
	c, _, err := formatters.DecodeCheckpoint(r.Key, r.Value)
	if err != nil {
		f.out.Bad = addBad(f.out.Bad, &f.out.BadCount, r, err)
		return
	}
	n := f.newest[string(r.Key)]
	if n == nil {
		n = &snapshot.Checkpoint{}
		f.newest[string(r.Key)] = n
	} else {
		f.gaps.add(r.Timestamp - n.Time)
		if c.Upstream >= n.Up && c.Downstream <= n.Down {
			f.out.Repeats++
			f.out.RepeatsLast = max(f.out.RepeatsLast, r.Timestamp)
		}
	}
	*n = snapshot.Checkpoint{Group: c.Group, Topic: c.Topic, Partition: c.Partition, Up: c.Upstream, Down: c.Downstream, Metadata: c.Metadata, Offset: r.Offset, Time: r.Timestamp}
}

// Result gives what was kept; start and end are the topic's.
func (f *CheckpointFold) Result(start, end int64) snapshot.Checkpoints {
	out := f.out
	out.Start, out.End = start, end
	out.EmitGap = f.gaps.shortest()
	for _, n := range f.newest {
		out.Newest = append(out.Newest, *n)
	}
	slices.SortFunc(out.Newest, func(a, b snapshot.Checkpoint) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

// SyncFold keeps, for each source partition, MirrorMaker 2's slots and the newest and oldest sync while the topic streams by.
type SyncFold struct {
	out   snapshot.Syncs
	folds map[string]*partitionFold
	rules rules
	beat  *rhythm
	all   *history // nil: not kept
}

type partitionFold struct {
	near                         recent
	out                          snapshot.PartitionSyncs
	greedy, twoPointer           translate.Slots
	greedySince, twoPointerSince translate.Slots
}

// NewSyncFold begins with an empty topic on a cluster. The flow's checkpoints, read before, tell by which rule they follow
// from the syncs.
func NewSyncFold(cluster string, f *snapshot.Flow) *SyncFold {
	return &SyncFold{out: snapshot.Syncs{Cluster: cluster, Topic: f.SyncsTopic, History: "fold", TaskStart: taskStart(f), Partitions: []snapshot.PartitionSyncs{}}, folds: map[string]*partitionFold{}, rules: newRules(f), beat: newRhythm(f)}
}

// KeepRanges is called before the first record: all syncs are kept, as merged ranges.
func (f *SyncFold) KeepRanges() {
	f.out.History = "ranges"
	f.all = &history{most: mostRanges, of: map[*partitionFold]*kept{}}
}

// Add takes the next record; one that does not decode is counted and listed.
func (f *SyncFold) Add(r *kafka.Record) {
	f.out.Records++
	f.out.First, f.out.Last = firstLast(f.out.First, f.out.Last, r.Timestamp)
	s, _, err := formatters.DecodeOffsetSync(r.Key, r.Value)
	if err != nil {
		f.out.Bad = addBad(f.out.Bad, &f.out.BadCount, r, err)
		return
	}
	p := f.folds[string(r.Key)]
	if p == nil {
		p = &partitionFold{out: snapshot.PartitionSyncs{Topic: s.Topic, Partition: s.Partition}, greedy: translate.NewSlots(translate.Greedy), twoPointer: translate.NewSlots(translate.TwoPointer),
			greedySince: translate.NewSlots(translate.Greedy), twoPointerSince: translate.NewSlots(translate.TwoPointer)}
		f.folds[string(r.Key)] = p
	}
	sync := snapshot.Sync{Up: s.Upstream, Down: s.Downstream, Offset: r.Offset, Time: r.Timestamp}
	f.rules.see(s, sync)
	f.beat.see(s, sync, &p.near)
	p.add(sync, f.out.TaskStart)
	if f.all != nil {
		f.all.add(p, translate.Sync{Upstream: sync.Up, Downstream: sync.Down, Offset: sync.Offset, Time: sync.Time})
	}
}

// Result gives what was kept; start and end are the topic's.
func (f *SyncFold) Result(start, end int64) snapshot.Syncs {
	out := f.out
	out.Start, out.End = start, end
	f.rules.tell(&out)
	out.Rhythm = f.beat.result()
	for _, p := range f.folds {
		p.out.Greedy, p.out.TwoPointer = runs(&p.greedy), runs(&p.twoPointer)
		p.out.GreedySince, p.out.TwoPointerSince = runs(&p.greedySince), runs(&p.twoPointerSince)
		if f.all != nil {
			f.all.result(p)
		}
		out.Partitions = append(out.Partitions, p.out)
	}
	slices.SortFunc(out.Partitions, func(a, b snapshot.PartitionSyncs) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

func (p *partitionFold) add(s snapshot.Sync, taskStart int64) {
	o := &p.out
	// One that stays on one side and goes on on the other steps back too: two records cannot have one offset on a topic that was not
	// made anew, and a record with two copies was read again.
	same := s.Up == o.Newest.Up && s.Down == o.Newest.Down
	back := !same && s.Down <= o.Newest.Down
	if o.Count > 0 && back {
		o.DownBack++
	}
	if o.Count == 0 {
		o.Oldest = s
	} else if !same && s.Up <= o.Newest.Up || back {
		o.Rewinds++
		o.LastRewind = &snapshot.Rewind{Before: o.Newest, After: s}
	}
	o.Count++
	o.Newest = s
	t := translate.Sync{Upstream: s.Up, Downstream: s.Down, Offset: s.Offset, Time: s.Time}
	p.greedy.Apply(t)
	p.twoPointer.Apply(t)
	switch {
	case taskStart == 0:
	case s.Time <= taskStart: // read while loading: replaces all that was there
		p.greedySince.Reset(t)
		p.twoPointerSince.Reset(t)
	default:
		p.greedySince.Apply(t)
		p.twoPointerSince.Apply(t)
	}
}

// taskStart is when the flow's checkpoint tasks last went to RUNNING, ms; 0 where that is not known.
func taskStart(f *snapshot.Flow) int64 { return lastStart(f, "MirrorCheckpointConnector") }

func lastStart(f *snapshot.Flow, connector string) int64 {
	ts, _ := f.Tasks.Get()
	var at int64
	for _, t := range ts {
		if t.Connector == connector && t.Task >= 0 && t.State == "RUNNING" {
			at = max(at, t.Time)
		}
	}
	return at
}

func runs(s *translate.Slots) []snapshot.Run {
	var out []snapshot.Run
	for _, r := range s.Runs() {
		out = append(out, snapshot.Run{Slot: r.Slot, Sync: snapshot.Sync{Up: r.Sync.Upstream, Down: r.Sync.Downstream, Offset: r.Sync.Offset, Time: r.Sync.Time}})
	}
	return out
}
