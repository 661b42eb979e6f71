package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	codec "github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
	"github.com/mm2doctor/mm2doctor/translate"
)

// sim is a healthy MirrorMaker 2 between two clusters, by the rules of its version: which records get an offset sync, what
// the checkpoint task makes of a position, what the sync job commits. Its topics are what a collector would read.
type sim struct {
	version mm2.Version
	now     int64 // ms
	began   int64 // when MirrorMaker 2 started
	props   string
	marks   bool // the producer is transactional

	parts  []*simPartition
	groups map[string]*simGroup

	syncs, checkpoints simLog
	starts             []int64 // of the checkpoint task
	rest, mute, kip    bool    // what the collector is told: see surroundings in sim_around_test.go
	committed          bool    // the source is read with isolation.level=read_committed
	outbox             *translate.Outbox
	task               *simTask
	flushed, emitted   int64 // ms, last run of each timer
	refreshed, synced  int64
	discovered         int64

	noSync, noEmit bool // faults: jobs that do not run
}

// simPartition is one partition of topic orders: data records on the source, with gaps, and their copies.
type simPartition struct {
	tp       kafka.TopicPartition
	up, down []int64 // offsets of data records; down holds the mirrored ones
	upEnd    int64
	downEnd  int64
	times    []int64 // ms, of the records in up
	emitter  translate.Emitter
	trimmed  int                // records that retention has removed on the source
	lost     int64              // log start of the copy
	stored   *snapshot.Position // the source connector's, of its last commit of source offsets
	open     int64              // records of an open transaction at the end, not yet in up
	opened   int64              // ms
}

// simGroup stands, in each partition, before the record of that index; target offsets are by partition.
type simGroup struct {
	id      string
	at      []int // -1: never committed
	members int   // on the target
	target  map[int32]int64
	state   kafka.GroupState // on the target; empty: not there
	filter  bool             // left out by groups
	since   int64            // ms, when it last changed its state on the target
}

// simTask is the checkpoint task.
type simTask struct {
	start    int64
	assigned []string
	given    int64
	read     int64 // of the offset-syncs topic
	stores   map[kafka.TopicPartition]*translate.Store
	memory   map[string]translate.Checkpoint
	round    map[string]translate.Checkpoint // what the sync job commits
	idle     map[string]map[int32]int64
}

func key(g string, p int32) string { return fmt.Sprintf("%s\x00%d", g, p) }

const simStart = int64(1_700_000_000_000)

func newSim(v mm2.Version, parts int, start int64, groups []string) *sim {
	s := &sim{version: v, now: simStart, groups: map[string]*simGroup{}, props: "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\na->b.topics = orders\na->b.sync.group.offsets.enabled = true\n"}
	for i := range parts {
		s.parts = append(s.parts, &simPartition{tp: kafka.TopicPartition{Topic: "orders", Partition: int32(i)}, upEnd: start})
	}
	for _, id := range groups {
		s.groups[id] = &simGroup{id: id, at: make([]int, parts), target: map[int32]int64{}}
	}
	return s
}

// run starts MirrorMaker 2: both tasks, with what its version keeps over a restart.
func (s *sim) run() {
	s.began = s.now
	s.outbox = translate.NewOutbox(s.version.Emission())
	for _, p := range s.parts {
		p.emitter = translate.NewEmitter(s.version.Emission(), translate.DefaultLagMax)
	}
	s.flushed, s.discovered = s.now, s.now
	s.startTask()
}

func (s *sim) startTask() {
	s.now++ // no sync of the same millisecond, whose side of the start nobody could tell
	defer func() { s.now++ }()
	old := s.task
	t := &simTask{start: s.now, stores: map[kafka.TopicPartition]*translate.Store{}, memory: map[string]translate.Checkpoint{}, round: map[string]translate.Checkpoint{}, idle: map[string]map[int32]int64{}, given: s.now}
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		if g := s.groups[id]; !g.filter {
			t.assigned = append(t.assigned, id)
		}
	}
	if old != nil && slices.Equal(old.assigned, t.assigned) {
		t.given = old.given
	}
	for _, p := range s.parts {
		t.stores[p.tp] = translate.New(s.version.Generation(), translate.Options{})
	}
	s.task, s.starts = t, append(s.starts, t.start)
	s.readSyncs()
	for _, st := range t.stores {
		st.LoadingFinished()
	}
	if s.version.AtLeast(3, 7, 1) { // checkpoints are read back (KAFKA-15905)
		for i := range s.checkpoints.records {
			c, _, err := codec.DecodeCheckpoint(s.checkpoints.records[i].Key, s.checkpoints.records[i].Value)
			if err != nil {
				panic(err)
			}
			k := key(c.Group, c.Partition)
			t.memory[k] = translate.Checkpoint{Upstream: c.Upstream, Downstream: c.Downstream}
			t.round[k] = t.memory[k]
		}
	}
	s.emitted, s.refreshed, s.synced = s.now, s.now-60_000, s.now
}

func (s *sim) readSyncs() {
	t := s.task
	for i := range s.syncs.records {
		r := &s.syncs.records[i]
		if r.Offset < t.read {
			continue
		}
		o, _, err := codec.DecodeOffsetSync(r.Key, r.Value)
		if err != nil {
			panic(err)
		}
		t.stores[o.TopicPartition()].Apply(translate.Sync{Upstream: o.Upstream, Downstream: o.Downstream, Offset: r.Offset, Time: r.Timestamp})
	}
	t.read = s.syncs.end
}

// produce appends n records to a partition of the source, a gap before the first.
func (s *sim) produce(p *simPartition, n int, gap int64) {
	if len(p.up) == 0 {
		gap = 0
	}
	p.upEnd += gap
	for range n {
		p.up, p.times = append(p.up, p.upEnd), append(p.times, s.now)
		p.upEnd++
	}
}

// mirror copies up to n records; a marker stands before them on the target where the producer is transactional.
func (s *sim) mirror(p *simPartition, n int, marker bool) {
	for range n {
		i := len(p.down)
		if i == len(p.up) {
			return
		}
		p.down = append(p.down, p.downEnd)
		p.downEnd++
		o := mm2.OffsetSync{Topic: p.tp.Topic, Partition: p.tp.Partition, Upstream: p.up[i], Downstream: p.down[i]}
		s.send(s.outbox.Acked(o, p.emitter.Acked(o.Upstream, o.Downstream), 0))
	}
	if marker {
		p.downEnd++
		if !s.marks { // what its configuration then says
			s.marks, s.props = true, s.props+"b.exactly.once.source.support = enabled\n"
		}
	}
}

func (s *sim) send(os []mm2.OffsetSync) {
	for _, o := range os {
		k, v, err := codec.EncodeOffsetSync(o)
		if err != nil {
			panic(err)
		}
		s.syncs.add(s.now, k, v)
	}
}

// position is U of a group in a partition; false where it never committed.
func (g *simGroup) position(p *simPartition) (int64, bool) {
	i := g.at[p.tp.Partition]
	switch {
	case i < 0 || len(p.up) == 0:
		return 0, false
	case i == 0:
		return p.up[0], true
	}
	return p.up[i-1] + 1, true
}

// tick lets time pass and runs the jobs that are due.
func (s *sim) tick(ms int64) {
	s.now += ms
	s.readSyncs()
	if s.now-s.flushed >= 60_000 {
		s.flushed = s.now
		s.store()
		s.send(s.outbox.Commit(0))
	}
	if s.now-s.discovered >= 600_000 {
		s.discover()
	}
	if s.now-s.emitted >= 60_000 && !s.noEmit {
		s.emitted = s.now
		s.emit()
	}
	if s.now-s.synced >= 60_000 && !s.noSync {
		s.synced = s.now
		s.commit()
	}
}

func (s *sim) discover() {
	s.discovered = s.now
	for id, g := range s.groups {
		if !g.filter && !slices.Contains(s.task.assigned, id) {
			s.startTask()
			return
		}
	}
}

// emit is one round of checkpoints.
func (s *sim) emit() {
	t := s.task
	if s.version.Before(3, 4, 1) {
		t.round = map[string]translate.Checkpoint{} // only the last round's are committed
	}
	for _, id := range t.assigned {
		for _, p := range s.parts {
			u, ok := s.groups[id].position(p)
			if !ok {
				continue
			}
			k := key(id, p.tp.Partition)
			var last *translate.Checkpoint
			if c, ok := t.memory[k]; ok {
				last = &c
			}
			r := t.stores[p.tp].Translate(u)
			if !translate.Decide(s.version, last, u, r).Emits() {
				continue
			}
			c := translate.Checkpoint{Upstream: u, Downstream: r.Offset}
			t.memory[k], t.round[k] = c, c
			kb, vb, err := codec.EncodeCheckpoint(mm2.Checkpoint{Group: id, Topic: "a.orders", Partition: p.tp.Partition, Upstream: u, Downstream: r.Offset})
			if err != nil {
				panic(err)
			}
			s.checkpoints.add(s.now, kb, vb)
		}
	}
}

// commit is one round of the sync job: only forward while a group is Empty; the broker refuses one with members.
func (s *sim) commit() {
	for _, id := range s.task.assigned {
		g := s.groups[id]
		if g.members > 0 {
			continue // UNKNOWN_MEMBER_ID
		}
		for _, p := range s.parts {
			c, ok := s.task.round[key(id, p.tp.Partition)]
			if !ok {
				continue
			}
			if at, has := g.target[p.tp.Partition]; has && at >= c.Downstream && g.state == kafka.StateEmpty {
				continue
			}
			g.target[p.tp.Partition] = c.Downstream
			if g.state == "" {
				g.state, g.since = kafka.StateEmpty, s.now
			}
		}
	}
}

// collect reads everything in the collector's order; step runs between the readings.
func (s *sim) collect(step func()) *snapshot.Snapshot {
	out := &snapshot.Snapshot{SchemaVersion: snapshot.SchemaVersion, Tool: "mm2doctor", Started: s.now, MM2Version: s.version.String()}
	setup, err := conf.Parse("mm2.properties", []byte(s.props), s.version)
	if err != nil {
		panic(err)
	}
	cf, _ := setup.Flow("a->b")
	f := collect.FromConf(cf, "mm2.properties")
	f.Running = f.Configured
	f.SyncsElsewhere = snapshot.None[snapshot.TopicRef]()
	onTarget := s.targetGroups()
	step()
	fold := collect.NewCheckpointFold(f.Checkpoints)
	for i := range s.checkpoints.records {
		fold.Add(&s.checkpoints.records[i])
	}
	f.Checkpointed = snapshot.Is(fold.Result(0, s.checkpoints.end))
	step()
	f.Assigned = snapshot.Is(snapshot.Assigned{Groups: slices.Clone(s.task.assigned), Tasks: min(1, len(s.task.assigned)), Time: s.task.given})
	f.Tasks = snapshot.Is([]snapshot.TaskStatus{{Connector: connCheckpoint, Task: -1, State: "RUNNING", Time: s.began}, {Connector: connCheckpoint, State: "RUNNING", Time: s.task.start},
		{Connector: connSource, Task: -1, State: "RUNNING", Time: s.began}, {Connector: connSource, State: "RUNNING", Time: s.began}})
	s.around(&f)
	step()
	sf := collect.NewSyncFold("a", &f)
	for i := range s.syncs.records {
		sf.Add(&s.syncs.records[i])
	}
	f.Syncs = snapshot.Is(sf.Result(0, s.syncs.end))
	step()
	onSource := s.sourceGroups()
	step()
	b := s.cluster("b", "a.orders", onTarget, func(p *simPartition) (int64, int64) { return p.lost, p.downEnd })
	step()
	a := s.cluster("a", "orders", onSource, func(p *simPartition) (int64, int64) {
		if len(p.up) == 0 {
			return p.upEnd, p.upEnd
		}
		if p.trimmed == len(p.up) {
			return p.up[p.trimmed-1] + 1, p.upEnd
		}
		return p.up[p.trimmed], p.upEnd
	})
	out.Clusters, out.Flows, out.Taken = []snapshot.Cluster{a, b}, []snapshot.Flow{f}, s.now
	return out
}

func (s *sim) sorted() []*simGroup {
	return slices.SortedFunc(maps.Values(s.groups), func(a, b *simGroup) int { return cmp.Compare(a.id, b.id) })
}

func (s *sim) targetGroups() []snapshot.Group {
	var out []snapshot.Group
	for _, g := range s.sorted() {
		if g.state == "" {
			continue
		}
		sg := snapshot.Group{ID: g.id, State: snapshot.Is(g.state), Type: snapshot.Is(kafka.TypeClassic), Members: snapshot.Is(make([]snapshot.Member, g.members))}
		var cs []snapshot.Committed
		for _, part := range slices.Sorted(maps.Keys(g.target)) {
			cs = append(cs, snapshot.Committed{Topic: "a.orders", Partition: part, Offset: g.target[part], Epoch: -1})
		}
		if !s.mute {
			sg.Since = g.since
		}
		sg.Offsets = snapshot.Is(cs)
		out = append(out, sg)
	}
	return out
}

func (s *sim) sourceGroups() []snapshot.Group {
	var out []snapshot.Group
	for _, g := range s.sorted() {
		kind := kafka.TypeClassic
		if s.kip && g.id == "audit" {
			kind = kafka.TypeConsumer
		}
		sg := snapshot.Group{ID: g.id, State: snapshot.Is(kafka.StateStable), Type: snapshot.Is(kind), ProtocolType: "consumer", Members: snapshot.Is([]snapshot.Member{{ID: "m"}})}
		cs := []snapshot.Committed{}
		for _, p := range s.parts {
			if u, ok := g.position(p); ok {
				cs = append(cs, snapshot.Committed{Topic: "orders", Partition: p.tp.Partition, Offset: u, Epoch: -1})
			}
		}
		sg.Offsets = snapshot.Is(cs)
		out = append(out, sg)
	}
	return out
}

func (s *sim) cluster(alias, topic string, gs []snapshot.Group, log func(*simPartition) (int64, int64)) snapshot.Cluster {
	t := snapshot.Topic{Name: topic}
	for _, p := range s.parts {
		start, end := log(p)
		sp := snapshot.Partition{ID: p.tp.Partition, Leader: 1, Start: snapshot.Is(start), End: snapshot.Is(end), First: snapshot.None[int64]()}
		if p.trimmed < len(p.times) {
			sp.First = snapshot.Is(p.times[p.trimmed])
		}
		if s.committed && topic == "orders" {
			sp.Stable = snapshot.Is(p.upEnd - p.open)
		}
		t.Partitions = append(t.Partitions, sp)
	}
	return snapshot.Cluster{Alias: alias, Bootstrap: []string{alias + ":9092"}, TopicsComplete: snapshot.Is(true), GroupsComplete: snapshot.Is(true),
		Topics: snapshot.Is([]snapshot.Topic{t}), Groups: snapshot.Is(gs)}
}
