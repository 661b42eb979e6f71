package diagnose

import (
	"strconv"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/bugs"
	"github.com/mm2doctor/mm2doctor/translate"
)

// bugKinds are what the catalogue's facts are made from.
const bugKinds = finding.Generation | finding.Settings | finding.Configured | finding.Running | finding.Tasks | finding.AssignedTo | finding.SyncsTopic | finding.SyncsOf | finding.CheckpointsOf | finding.CheckpointSet |
	finding.SourceTopic | finding.SourceLog | finding.TargetTopic | finding.TargetLog | finding.SourceGroup | finding.SourceOffset | finding.TargetGroup | finding.TargetOffset | finding.EarlierLook |
	finding.CheckpointStarts | finding.LogSigns | finding.OtherGroups | finding.TopicConfigs

// bugFacts are what is known of the flow as a whole, for the catalogue of known bugs. What is not known stays unknown there.
func (f *flowView) bugFacts() bugs.Facts {
	if f.known != nil {
		return *f.known
	}
	x := bugs.Facts{MM2: f.gens.rng, SourceBroker: brokerRange(f.src), TargetBroker: brokerRange(f.dst)}
	switch f.Mode {
	case "dedicated":
		x.Dedicated = bugs.Yes
	case "connect":
		x.Dedicated = bugs.No
	}
	x.SyncGroupOffsets = f.answer(connCheckpoint, keySyncEnabled)
	x.CheckpointsDisabled = f.answer(connCheckpoint, keyEmitEnabled).Not()
	x.HeartbeatsDisabled = f.answer(connHeartbeat, keyBeatEnabled).Not()
	x.SyncsDisabled = f.answer(connSource, "emit.offset-syncs.enabled").Not()
	x.SyncsTopicACLs = f.answer(connSource, "sync.topic.acls.enabled")
	x.ToleratesErrors = f.says(connSource, "errors.tolerance", "all")
	x.ExactlyOnce = f.says(worker, "exactly.once.source.support", "enabled")
	x.NoRebalanceDelay = f.says(worker, "scheduled.rebalance.max.delay.ms", "0")
	x.SourceLocation, x.CheckpointLocation = f.word(connSource, keyLocation), f.word(connCheckpoint, keyLocation)
	x.SourcePolicy, x.CheckpointPolicy = f.word(connSource, "replication.policy.class"), f.word(connCheckpoint, "replication.policy.class")
	x.Separator = f.word(connSource, "replication.policy.separator")
	x.OffsetLagMax = f.whole(connSource, "offset.lag.max")
	if !f.settings.unknown() {
		x.FlushInterval = bugs.Is(time.Duration(f.flushBudget()) * time.Millisecond)
		x.EmitInterval = bugs.Is(time.Duration(f.emitBudget()) * time.Millisecond)
		x.SyncInterval = bugs.Is(time.Duration(f.commitBudget()) * time.Millisecond)
	}
	f.keyFacts(&x)
	x.SourceTask, x.SourceTrace, _ = f.worstTask(connSource)
	x.CheckpointTask, x.CheckpointTrace, x.CheckpointTasks = f.worstTask(connCheckpoint)
	if sy, st := f.Syncs.Get(); st == snapshot.Known {
		x.BadSyncRecord = bugs.If(sy.BadCount > 0)
	}
	f.v.touch(finding.SyncsTopic | finding.Tasks)
	x.SourceNullOffset = f.nullOffset(f.src)
	x.TargetNullOffset = f.nullOffset(f.dst)
	f.v.touch(finding.LogSigns)
	for _, s := range f.Log.Or(snapshot.Log{}).Signs {
		// The line's clock may be that of any zone. What was last said more than a day ago may long be repaired.
		if h, ok := bugs.Proved(s.Kind); ok && (s.Last == 0 || f.v.now-s.Last < day+14*3_600_000) {
			x.Logs = append(x.Logs, h)
		}
	}
	f.known = &x
	return x
}

func (s settings) unknown() bool { return s.gap != nil }

// brokerRange is what a cluster's API versions tell of its release.
func brokerRange(c *clusterView) mm2.Range {
	b, err := mm2.ParseBuild(c.Version.Or(""))
	if err != nil {
		return mm2.Range{}
	}
	return b.Range
}

func (f *flowView) answer(connector, key string) bugs.Answer {
	on, _, ok := f.flag(connector, key)
	if !ok {
		return bugs.Unknown
	}
	return bugs.If(on)
}

// says compares a setting; one that is known not to be set is not so.
func (f *flowView) says(connector, key, value string) bugs.Answer {
	if connector == worker && len(entriesOf(f.settings.running, worker))+len(entriesOf(f.settings.configured, worker)) == 0 {
		return bugs.Unknown // Connect's REST interface does not tell the worker's settings
	}
	e, st := f.setting(connector, key).Get()
	switch st {
	case snapshot.Known:
		return bugs.If(strings.EqualFold(strings.TrimSpace(e.Value), value))
	case snapshot.Absent:
		return bugs.No
	}
	return bugs.Unknown
}

func (f *flowView) word(connector, key string) bugs.Value[string] {
	e, st := f.setting(connector, key).Get()
	switch st {
	case snapshot.Known:
		return bugs.Is(strings.TrimSpace(e.Value))
	case snapshot.Absent:
		return bugs.None[string]()
	}
	return bugs.Value[string]{}
}

func (f *flowView) whole(connector, key string) bugs.Value[int64] {
	w, ok := f.word(connector, key).Get()
	n, err := strconv.ParseInt(w, 10, 64)
	if !ok || err != nil {
		return bugs.Value[int64]{}
	}
	return bugs.Is(n)
}

// keyFacts are about what is written in the configuration.
func (f *flowView) keyFacts(x *bugs.Facts) {
	f.v.touch(finding.Configured | finding.Settings)
	var keys []string
	known := false
	for _, c := range []*snapshot.Connectors{f.settings.configured, f.settings.running} {
		if c == nil {
			continue
		}
		known = true
		for _, es := range [][]snapshot.ConfigEntry{c.Source, c.Checkpoint, c.Heartbeat, c.Worker} {
			for _, e := range es {
				if e.Default || strings.HasSuffix(e.Key, ".converter") { // a converter may have been set with a prefix
					continue
				}
				keys = append(keys, e.Key)
				if strings.HasSuffix(e.Key, "security.protocol") && e.Value != strings.ToUpper(e.Value) && !strings.Contains(e.Value, "$") {
					x.LowerCaseProtocol = bugs.Yes
				}
				if e.Key == "config.providers" && strings.TrimSpace(e.Value) != "" {
					x.ConfigProviders = bugs.Yes
				}
			}
		}
	}
	if known {
		x.Keys = bugs.Is(keys)
	}
}

// worstTask gives the state and trace of a connector's worst task, and how many it has.
func (f *flowView) worstTask(connector string) (state, trace bugs.Value[string], n bugs.Value[int]) {
	ts, st := f.Tasks.Get()
	if st != snapshot.Known {
		return
	}
	count := 0
	for _, t := range ts {
		if t.Connector != connector || t.Task < 0 {
			continue
		}
		count++
		if s, ok := state.Get(); !ok || s == "RUNNING" || t.State == "FAILED" {
			state, trace = bugs.Is(t.State), bugs.Is(t.Trace)
		}
	}
	return state, trace, bugs.Is(count)
}

// nullOffset says whether a group of the checkpoint tasks has a negative commit on the cluster.
func (f *flowView) nullOffset(c *clusterView) bugs.Answer {
	f.v.touch(finding.AssignedTo | finding.SourceOffset | finding.TargetOffset)
	gs, st := c.listed.Get()
	if st != snapshot.Known {
		return bugs.Unknown
	}
	out := bugs.No
	for i := range gs {
		if f.Assigned.Known() && !f.assigned[gs[i].ID] {
			continue
		}
		os, st := gs[i].Offsets.Get()
		if st == snapshot.Unknown {
			out = bugs.Unknown
		}
		for _, o := range os {
			if o.Offset < 0 {
				if f.Assigned.Known() {
					return bugs.Yes
				}
				out = bugs.Unknown // whether the task has this group decides
			}
		}
	}
	return out
}

// bugFacts adds what is known of one group and partition.
func (gp groupPartition) bugFacts(x bugs.Facts) bugs.Facts {
	f := gp.flow
	x.Group, x.Topic = bugs.Is(gp.group), bugs.Is(gp.topic)
	x.Eligible = knownAnswer(gp.eligible())
	x.TargetTopicExists = presence(gp.targetTopic())
	x.Committed, x.TargetCommitted = valueOf(gp.sourceOffset()), valueOf(gp.targetOffset())
	c := gp.checkpoint()
	x.Checkpoint = mapped(c, func(c snapshot.Checkpoint) bugs.Pair { return bugs.Pair{Up: c.Up, Down: c.Down} })
	if ps := gp.syncsOf(); ps.Known() {
		p, _ := ps.Get()
		x.OldestSync, x.NewestSync = bugs.Is(bugs.Pair{Up: p.Oldest.Up, Down: p.Oldest.Down}), bugs.Is(bugs.Pair{Up: p.Newest.Up, Down: p.Newest.Down})
		x.Syncs, x.SyncsRewound = bugs.Is(p.Count), bugs.If(p.Rewinds > 0)
		if u, st := gp.sourceOffset().Get(); st == snapshot.Known {
			x.GreedyAnswer, x.TwoPointerAnswer = storeAnswer(mm2.G3, translate.Greedy, p.Greedy, u), storeAnswer(mm2.G5, translate.TwoPointer, p.TwoPointer, u)
		}
	} else if ps.Absent() {
		x.OldestSync, x.NewestSync, x.Syncs = bugs.None[bugs.Pair](), bugs.None[bugs.Pair](), bugs.Is(int64(0))
	}
	ends(gp.sourcePartition(), &x.SourceStart, &x.SourceEnd)
	ends(gp.targetPartition(), &x.TargetStart, &x.TargetEnd)
	if src, st := groupOn(f.src, gp.group).Get(); st == snapshot.Known {
		x.SourceType = valueOf(src.Type)
		x.ManualGroup = bugs.If(src.ProtocolType == "")
	}
	f.v.touch(finding.SourceGroup)
	dst := gp.targetGroup()
	if g, st := dst.Get(); st == snapshot.Known {
		x.TargetType, x.TargetState = valueOf(g.Type), valueOf(g.State)
		if s, ok := x.TargetState.Get(); ok && s.Active() {
			x.RanOnTarget = bugs.Yes
		}
	} else if st == snapshot.Absent {
		x.TargetType, x.TargetState = bugs.None[kafka.GroupType](), bugs.None[kafka.GroupState]()
	}
	gp.twoLooks(&x)
	return x
}

// twoLooks are the facts that the look before decides: what stood still, and what went back.
func (gp groupPartition) twoLooks(x *bugs.Facts) {
	e, ok := gp.earlier()
	if !ok {
		return
	}
	same := func(a, b snapshot.Fact[int64]) bool {
		v, st := a.Get()
		w, also := b.Get()
		return st == also && st != snapshot.Unknown && v == w
	}
	end := func(p snapshot.Fact[snapshot.Partition]) snapshot.Fact[int64] {
		v, _ := p.Get()
		return v.End
	}
	c, d := gp.checkpoint(), e.checkpoint()
	cv, _ := c.Get()
	dv, _ := d.Get()
	if same(gp.sourceOffset(), e.sourceOffset()) && same(gp.targetOffset(), e.targetOffset()) && c.State() == d.State() && !c.Unknown() && cv.Offset == dv.Offset &&
		same(end(gp.sourcePartition()), end(e.sourcePartition())) && same(end(gp.targetPartition()), end(e.targetPartition())) {
		x.Quiet = bugs.Is(time.Duration(gp.flow.v.now-gp.flow.earlier.v.now) * time.Millisecond)
	}
	if g, st := e.targetGroup().Get(); st == snapshot.Known && g.State.Or("").Active() {
		x.RanOnTarget = bugs.Yes
		// The members themselves commit forward; the checkpoint's own number, below what they had reached, is MirrorMaker 2's.
		t, now := gp.targetOffset().Get()
		before, then := e.targetOffset().Get()
		if now == snapshot.Known && then == snapshot.Known && c.Known() {
			x.TargetFell = bugs.If(t < before && t == cv.Down)
		}
	}
}

func storeAnswer(g mm2.Generation, k translate.Keeping, runs []snapshot.Run, u int64) bugs.Value[int64] {
	if len(runs) == 0 {
		return bugs.Value[int64]{}
	}
	a := ask(g, k, runs, u)
	switch {
	case !a.known:
		return bugs.Value[int64]{}
	case a.none:
		return bugs.None[int64]()
	}
	return bugs.Is(a.value)
}

func ends(p snapshot.Fact[snapshot.Partition], start, end *bugs.Value[int64]) {
	if v, st := p.Get(); st == snapshot.Known {
		*start, *end = valueOf(v.Start), valueOf(v.End)
	}
}

func valueOf[T any](f snapshot.Fact[T]) bugs.Value[T] {
	v, st := f.Get()
	switch st {
	case snapshot.Known:
		return bugs.Is(v)
	case snapshot.Absent:
		return bugs.None[T]()
	}
	return bugs.Value[T]{}
}

func mapped[T, U any](f snapshot.Fact[T], to func(T) U) bugs.Value[U] {
	v, st := f.Get()
	switch st {
	case snapshot.Known:
		return bugs.Is(to(v))
	case snapshot.Absent:
		return bugs.None[U]()
	}
	return bugs.Value[U]{}
}

func knownAnswer(f snapshot.Fact[bool]) bugs.Answer {
	v, st := f.Get()
	if st != snapshot.Known {
		return bugs.Unknown
	}
	return bugs.If(v)
}

func presence[T any](f snapshot.Fact[T]) bugs.Answer {
	switch f.State() {
	case snapshot.Known:
		return bugs.Yes
	case snapshot.Absent:
		return bugs.No
	}
	return bugs.Unknown
}
