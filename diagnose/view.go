package diagnose

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2/bugs"
)

// View is the only window that checks have on a snapshot. It records which kinds of facts were touched, so that a test can
// compare a check's declaration with what it really read.
type View struct {
	snap     *snapshot.Snapshot
	clusters map[string]*clusterView
	flows    []*flowView
	touched  finding.Kinds
	now      int64 // snapshot.Taken
	began    int64 // snapshot.Started, or Taken where that is not told: what MirrorMaker 2 has written last was read from then on
}

// clusterView is a cluster in one role: as a target its groups are those read first.
type clusterView struct {
	*snapshot.Cluster
	topics map[string]*snapshot.Topic
	groups map[string]*snapshot.Group
	listed snapshot.Fact[[]snapshot.Group]
}

// groupPartition is the grain at which the chain is followed.
type groupPartition struct {
	flow   *flowView
	group  string
	topic  string // source name
	part   int32
	remote string // name of the copy on the target
}

func (gp groupPartition) subject() finding.Subject {
	p := gp.part
	return finding.Subject{Group: gp.group, Topic: gp.topic, Partition: &p}
}

// flowView joins the facts of one flow.
type flowView struct {
	*snapshot.Flow
	v           *View
	src, dst    *clusterView
	syncs       map[kafka.TopicPartition]*snapshot.PartitionSyncs
	checkpoints map[checkpointKey]*snapshot.Checkpoint
	assigned    map[string]bool
	settings    settings
	filters     filters
	gens        generations
	earlier     *flowView
	known       *bugs.Facts      // for the catalogue of known bugs, made when first asked for
	rows        []groupPartition // filled by selectRows
	skipped     []SkippedGroups
	scope       []matcher // --group
	named       struct{ groups, topics bool }
	undiagnosed bool                  // there is no such flow: nothing that was read speaks of it
	unread      map[finding.Link]bool // links of which a fact that decides could not be read
	byPartition map[kafka.TopicPartition][]groupPartition
	byGroup     map[string][]groupPartition
	heart       *heart      // filled by pulse
	pausing     *pausingNow // filled by pauses
}

type checkpointKey struct {
	group, topic string
	part         int32
}

func newView(s *snapshot.Snapshot) *View {
	v := &View{snap: s, clusters: map[string]*clusterView{}, now: s.Taken, began: s.Started}
	if v.began <= 0 || v.began > v.now {
		v.began = v.now
	}
	targets := map[string]*clusterView{}
	for i := range s.Clusters {
		c := newCluster(&s.Clusters[i], s.Clusters[i].Groups)
		v.clusters[c.Alias] = c
		targets[c.Alias] = c
		if !c.First.IsZero() {
			targets[c.Alias] = newCluster(&s.Clusters[i], c.First)
		}
	}
	for i := range s.Flows {
		v.flows = append(v.flows, v.newFlow(&s.Flows[i], v.clusters[s.Flows[i].Source], targets[s.Flows[i].Target]))
	}
	if s.Earlier != nil {
		e := newView(s.Earlier)
		for _, f := range v.flows {
			for _, ef := range e.flows {
				if ef.Name() == f.Name() {
					f.earlier = ef
				}
			}
		}
	}
	return v
}

func newCluster(sc *snapshot.Cluster, groups snapshot.Fact[[]snapshot.Group]) *clusterView {
	c := &clusterView{Cluster: sc, topics: map[string]*snapshot.Topic{}, groups: map[string]*snapshot.Group{}, listed: groups}
	if ts, st := c.Topics.Get(); st == snapshot.Known {
		for j := range ts {
			c.topics[ts[j].Name] = &ts[j]
		}
	}
	if gs, st := groups.Get(); st == snapshot.Known {
		for j := range gs {
			c.groups[gs[j].ID] = &gs[j]
		}
	}
	return c
}

func (v *View) newFlow(f *snapshot.Flow, src, dst *clusterView) *flowView {
	fv := &flowView{Flow: f, v: v, src: src, dst: dst,
		syncs: map[kafka.TopicPartition]*snapshot.PartitionSyncs{}, checkpoints: map[checkpointKey]*snapshot.Checkpoint{}, assigned: map[string]bool{}, unread: map[finding.Link]bool{}}
	if fv.src == nil {
		fv.src = newCluster(&snapshot.Cluster{Alias: f.Source}, snapshot.Fact[[]snapshot.Group]{})
	}
	if fv.dst == nil {
		fv.dst = newCluster(&snapshot.Cluster{Alias: f.Target}, snapshot.Fact[[]snapshot.Group]{})
	}
	if s, st := f.Syncs.Get(); st == snapshot.Known {
		for i := range s.Partitions {
			p := &s.Partitions[i]
			fv.syncs[kafka.TopicPartition{Topic: p.Topic, Partition: p.Partition}] = p
		}
	}
	if c, st := f.Checkpointed.Get(); st == snapshot.Known {
		for i := range c.Newest {
			n := &c.Newest[i]
			fv.checkpoints[checkpointKey{n.Group, n.Topic, n.Partition}] = n
		}
	}
	if a, st := f.Assigned.Get(); st == snapshot.Known {
		for _, g := range a.Groups {
			fv.assigned[g] = true
		}
	}
	fv.settings = resolveSettings(f)
	fv.filters = newFilters()
	fv.gens = inferGenerations(fv)
	return fv
}

func (v *View) touch(k finding.Kinds) { v.touched |= k }

// sourceOffset is U, the group's committed position on the source.
func (gp groupPartition) sourceOffset() snapshot.Fact[int64] {
	gp.flow.v.touch(finding.SourceOffset)
	return committed(gp.flow.src, gp.group, gp.topic, gp.part)
}

// targetOffset is T, the group's committed position on the target.
func (gp groupPartition) targetOffset() snapshot.Fact[int64] {
	gp.flow.v.touch(finding.TargetOffset)
	t := committed(gp.flow.dst, gp.group, gp.remote, gp.part)
	if t.Absent() {
		// OffsetFetch leaves out topics that an ACL hides, without an error.
		if top := gp.flow.v.topicOn(gp.flow.dst, gp.remote); top.Unknown() && top.Why() != nil && top.Why().Code == "denied" {
			return snapshot.NotKnown[int64](top.Why())
		}
	}
	return t
}

// storedOnTarget is the commit behind T, with its epoch, metadata and time.
func (gp groupPartition) storedOnTarget() snapshot.Fact[snapshot.Committed] {
	gp.flow.v.touch(finding.TargetOffset)
	return stored(gp.flow.dst, gp.group, gp.remote, gp.part)
}

// storedOnSource is the commit behind U.
func (gp groupPartition) storedOnSource() snapshot.Fact[snapshot.Committed] {
	gp.flow.v.touch(finding.SourceOffset)
	return stored(gp.flow.src, gp.group, gp.topic, gp.part)
}

func committed(c *clusterView, group, topic string, part int32) snapshot.Fact[int64] {
	o := stored(c, group, topic, part)
	v, st := o.Get()
	switch st {
	case snapshot.Known:
		return snapshot.Is(v.Offset)
	case snapshot.Absent:
		return snapshot.None[int64]()
	}
	return snapshot.NotKnown[int64](o.Why())
}

func stored(c *clusterView, group, topic string, part int32) snapshot.Fact[snapshot.Committed] {
	g := c.groups[group]
	if g == nil {
		return missingFrom[snapshot.Committed](c.listed, c.GroupsComplete)
	}
	if g.State.Absent() {
		return snapshot.None[snapshot.Committed]()
	}
	os, st := g.Offsets.Get()
	if st != snapshot.Known {
		if st == snapshot.Absent {
			return snapshot.None[snapshot.Committed]()
		}
		return snapshot.NotKnown[snapshot.Committed](g.Offsets.Why())
	}
	i, ok := slices.BinarySearchFunc(os, kafka.TopicPartition{Topic: topic, Partition: part}, func(o snapshot.Committed, tp kafka.TopicPartition) int {
		return kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}.Compare(tp)
	})
	if !ok {
		return snapshot.None[snapshot.Committed]()
	}
	return snapshot.Is(os[i])
}

// missingFrom tells what the absence of an entry from a list means: absent if the list is complete, else unknown.
func missingFrom[T, L any](list snapshot.Fact[L], complete snapshot.Fact[bool]) snapshot.Fact[T] {
	if !list.Known() {
		return snapshot.NotKnown[T](list.Why())
	}
	if ok, st := complete.Get(); st == snapshot.Known && ok {
		return snapshot.None[T]()
	}
	return snapshot.NotKnown[T](complete.Why())
}

// checkpoint is C, by the name that the copy has on the target.
func (gp groupPartition) checkpoint() snapshot.Fact[snapshot.Checkpoint] {
	f := gp.flow
	f.v.touch(finding.CheckpointsOf)
	switch f.Checkpointed.State() {
	case snapshot.Absent:
		return snapshot.None[snapshot.Checkpoint]()
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Checkpoint](f.Checkpointed.Why())
	}
	if c := f.checkpoints[checkpointKey{gp.group, gp.remote, gp.part}]; c != nil {
		return snapshot.Is(*c)
	}
	return snapshot.None[snapshot.Checkpoint]()
}

// syncsOf are the folded offset syncs of the source partition.
func (gp groupPartition) syncsOf() snapshot.Fact[*snapshot.PartitionSyncs] {
	f := gp.flow
	f.v.touch(finding.SyncsOf)
	switch f.Syncs.State() {
	case snapshot.Absent:
		return snapshot.None[*snapshot.PartitionSyncs]()
	case snapshot.Unknown:
		return snapshot.NotKnown[*snapshot.PartitionSyncs](f.Syncs.Why())
	}
	if p := f.syncs[kafka.TopicPartition{Topic: gp.topic, Partition: gp.part}]; p != nil {
		return snapshot.Is(p)
	}
	return snapshot.None[*snapshot.PartitionSyncs]()
}

// topicOn finds a topic; absent only where hidden topics are excluded.
func (v *View) topicOn(c *clusterView, name string) snapshot.Fact[*snapshot.Topic] {
	if t := c.topics[name]; t != nil {
		if t.Gap != nil && len(t.Partitions) == 0 {
			return snapshot.NotKnown[*snapshot.Topic](t.Gap)
		}
		return snapshot.Is(t)
	}
	return missingFrom[*snapshot.Topic](c.Topics, c.TopicsComplete)
}

func (gp groupPartition) sourceTopic() snapshot.Fact[*snapshot.Topic] {
	gp.flow.v.touch(finding.SourceTopic)
	return gp.flow.v.topicOn(gp.flow.src, gp.topic)
}

func (gp groupPartition) targetTopic() snapshot.Fact[*snapshot.Topic] {
	gp.flow.v.touch(finding.TargetTopic)
	return gp.flow.v.topicOn(gp.flow.dst, gp.remote)
}

func partition(t snapshot.Fact[*snapshot.Topic], part int32) snapshot.Fact[snapshot.Partition] {
	top, st := t.Get()
	switch st {
	case snapshot.Absent:
		return snapshot.None[snapshot.Partition]()
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Partition](t.Why())
	}
	for _, p := range top.Partitions {
		if p.ID == part {
			return snapshot.Is(p)
		}
	}
	return snapshot.None[snapshot.Partition]()
}

func (gp groupPartition) sourcePartition() snapshot.Fact[snapshot.Partition] {
	gp.flow.v.touch(finding.SourceLog)
	return partition(gp.flow.v.topicOn(gp.flow.src, gp.topic), gp.part)
}

func (gp groupPartition) targetPartition() snapshot.Fact[snapshot.Partition] {
	gp.flow.v.touch(finding.TargetLog)
	return partition(gp.flow.v.topicOn(gp.flow.dst, gp.remote), gp.part)
}

// targetGroup gives the group on the target; absent when it does not exist there.
func (gp groupPartition) targetGroup() snapshot.Fact[snapshot.Group] {
	gp.flow.v.touch(finding.TargetGroup)
	return groupOn(gp.flow.dst, gp.group)
}

func groupOn(c *clusterView, id string) snapshot.Fact[snapshot.Group] {
	g := c.groups[id]
	if g == nil {
		return missingFrom[snapshot.Group](c.listed, c.GroupsComplete)
	}
	st, known := g.State.Get()
	if known == snapshot.Unknown {
		return snapshot.NotKnown[snapshot.Group](g.State.Why())
	}
	if known == snapshot.Absent || st == kafka.StateDead {
		return snapshot.None[snapshot.Group]()
	}
	return snapshot.Is(*g)
}

// isAssigned says whether the checkpoint tasks were given the group.
func (gp groupPartition) isAssigned() snapshot.Fact[bool] {
	f := gp.flow
	f.v.touch(finding.AssignedTo)
	if f.Assigned.Unknown() {
		return snapshot.NotKnown[bool](f.Assigned.Why())
	}
	return snapshot.Is(f.assigned[gp.group])
}

// same finds this row's facts in the look before; ok is false on a first look.
func (gp groupPartition) earlier() (groupPartition, bool) {
	gp.flow.v.touch(finding.EarlierLook)
	if gp.flow.earlier == nil {
		return gp, false
	}
	e := gp
	e.flow = gp.flow.earlier
	return e, true
}
