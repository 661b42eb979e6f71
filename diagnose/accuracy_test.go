package diagnose

import (
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// worst is the severity of a code in a report, also as the consequence of another; 0 where it is not said.
func worst(s *snapshot.Snapshot, code finding.Code) (w finding.Severity) {
	r, _ := Run(s, Options{})
	for _, places := range sayings(r)[code] {
		w = max(w, places)
	}
	return w
}

func configured(s *snapshot.Snapshot, list func(*snapshot.Connectors) *[]snapshot.ConfigEntry, key, value string) {
	c, _ := s.Flows[0].Configured.Get()
	es := slices.Clone(*list(&c))
	i := slices.IndexFunc(es, func(e snapshot.ConfigEntry) bool { return e.Key == key })
	if i < 0 {
		es = append(es, snapshot.ConfigEntry{Key: key})
		i = len(es) - 1
	}
	es[i].Value, es[i].Default = value, false
	*list(&c) = es
	s.Flows[0].Configured = snapshot.Is(c)
}

func ofSource(c *snapshot.Connectors) *[]snapshot.ConfigEntry { return &c.Source }
func ofWorker(c *snapshot.Connectors) *[]snapshot.ConfigEntry { return &c.Worker }

// fewSyncs leaves app-09's partition the sync of its first record and that of its last, as a huge offset.lag.max does, and makes
// the numbers a thousand times as large.
func fewSyncs(s *snapshot.Snapshot) {
	first, last := snapshot.Sync{Up: 0, Down: 0, Offset: 0, Time: 1}, snapshot.Sync{Up: 1788_000, Down: 1788_000, Offset: 1, Time: 2}
	sy, _ := s.Flows[0].Syncs.Get()
	for i := range sy.Partitions {
		if p := &sy.Partitions[i]; p.Topic == "orders" && p.Partition == 1 {
			*p = snapshot.PartitionSyncs{Topic: "orders", Partition: 1, Count: 2, Oldest: first, Newest: last, Greedy: []snapshot.Run{{Slot: 0, Sync: last}, {Slot: 1, Sync: first}}, TwoPointer: []snapshot.Run{{Slot: 0, Sync: last}, {Slot: 1, Sync: first}}}
		}
	}
	s.Flows[0].Syncs = snapshot.Is(sy)
	at := func(i int, topic string, end int64) {
		ts, _ := s.Clusters[i].Topics.Get()
		for j := range ts {
			if ts[j].Name == topic {
				ts[j].Partitions[1].End = snapshot.Is(end)
			}
		}
	}
	at(0, "orders", 1789_000)
	at(1, "a.orders", 1789_000)
	position(s, 0, "app-09", "orders", 1, 355_000)
	position(s, 1, "app-09", "a.orders", 1, 1)
	c, _ := s.Flows[0].Checkpointed.Get()
	for i := range c.Newest {
		if n := &c.Newest[i]; n.Topic == "a.orders" && n.Partition == 1 {
			n.Up, n.Down = 355_000, 1
		}
	}
}

func position(s *snapshot.Snapshot, cluster int, group, topic string, part int32, offset int64) {
	gs, _ := s.Clusters[cluster].Groups.Get()
	for i := range gs {
		os, _ := gs[i].Offsets.Get()
		for j := range os {
			if gs[i].ID == group && os[j].Topic == topic && os[j].Partition == part {
				os[j].Offset = offset
			}
		}
	}
}

// TestRereadRules: what the budget is, and what is no re-read.
func TestRereadRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *snapshot.Snapshot)
		want   finding.Severity
	}{
		{"more than was allowed", func(s *snapshot.Snapshot) {}, finding.Warning},
		{"as much as was allowed", func(s *snapshot.Snapshot) { s.Scope.MaxReread = 253 }, 0},
		{"by the default rule: less than the group's lag", func(s *snapshot.Snapshot) { s.Scope.MaxReread = 0 }, 0},
		{"by the default rule: more than its lag and offset.lag.max", func(s *snapshot.Snapshot) {
			s.Scope.MaxReread = 0
			fewSyncs(s)
			position(s, 0, "app-09", "orders", 1, 1787_000)
		}, finding.Info},
		{"what waits for the next checkpoint is not counted", func(s *snapshot.Snapshot) { position(s, 0, "app-09", "orders", 1, 1789) }, 0},
		{"offset.lag.max is no budget", func(s *snapshot.Snapshot) {
			s.Scope.MaxReread = 0
			fewSyncs(s)
			configured(s, ofSource, "offset.lag.max", "9999999")
		}, finding.Warning},
		{"the same syncs under a default that explains them", func(s *snapshot.Snapshot) { s.Scope.MaxReread = 0; fewSyncs(s) }, 0}, // the lag is larger
		{"members on the target move it", func(s *snapshot.Snapshot) {
			gs, _ := s.Clusters[1].Groups.Get()
			gs[0].State = snapshot.Is(kafka.StateStable)
		}, 0},
		{"with markers in the copy only the sync below counts", func(s *snapshot.Snapshot) {
			configured(s, ofWorker, "exactly.once.source.support", "enabled")
		}, 0},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-402/bundle.json")
		c.change(s)
		if got := worst(s, 402); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestSkipRules: a proved skip is an error where MirrorMaker 2 wrote it or the group moves, else it may be of a drill.
func TestSkipRules(t *testing.T) {
	noCheckpoint := func(s *snapshot.Snapshot) {
		c, _ := s.Flows[0].Checkpointed.Get()
		c.Newest = []snapshot.Checkpoint{}
		s.Flows[0].Checkpointed = snapshot.Is(c)
	}
	for _, c := range []struct {
		name   string
		change func(s *snapshot.Snapshot)
		want   finding.Severity
	}{
		{"the checkpoint is as high", func(s *snapshot.Snapshot) {}, finding.Error},
		{"at the copy of the very record", func(s *snapshot.Snapshot) { position(s, 1, "app-19", "a.payments", 0, 400) }, 0},
		{"one past it", func(s *snapshot.Snapshot) { position(s, 1, "app-19", "a.payments", 0, 401) }, finding.Error},
		{"above its checkpoint: 303", func(s *snapshot.Snapshot) { position(s, 1, "app-19", "a.payments", 0, 411) }, 0},
		{"behind its checkpoint: 303", func(s *snapshot.Snapshot) { position(s, 0, "app-19", "payments", 0, 439) }, 0},
		{"beyond the end: 401", func(s *snapshot.Snapshot) { position(s, 1, "app-19", "a.payments", 0, 100_000) }, 0},
		{"no checkpoint", noCheckpoint, finding.Warning},
		{"no checkpoint, and the group moves", func(s *snapshot.Snapshot) {
			noCheckpoint(s)
			s.Earlier = readBundle(t, "../fixtures/codes/MM2D-404/bundle.json")
			position(s.Earlier, 0, "app-19", "payments", 0, 439)
		}, finding.Error},
		{"members on the target", func(s *snapshot.Snapshot) {
			gs, _ := s.Clusters[1].Groups.Get()
			gs[0].State = snapshot.Is(kafka.StateStable)
		}, 0},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-404/bundle.json")
		c.change(s)
		if got := worst(s, 404); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestEarlierTopicRules: what proves that a topic was made anew, and which rows it touches.
func TestEarlierTopicRules(t *testing.T) {
	partition1 := func(s *snapshot.Snapshot, change func(p *snapshot.PartitionSyncs)) {
		sy, _ := s.Flows[0].Syncs.Get()
		for i := range sy.Partitions {
			if p := &sy.Partitions[i]; p.Topic == "orders" && p.Partition == 1 {
				change(p)
			}
		}
	}
	ids := func(s *snapshot.Snapshot, cluster int, topic, id string) {
		ts, _ := s.Clusters[cluster].Topics.Get()
		for i := range ts {
			if ts[i].Name == topic {
				ts[i].ID = id
			}
		}
	}
	end := func(s *snapshot.Snapshot, cluster int, topic string, end int64) {
		ts, _ := s.Clusters[cluster].Topics.Get()
		for i := range ts {
			if ts[i].Name == topic {
				ts[i].Partitions[1].End = snapshot.Is(end)
			}
		}
	}
	two := func(s *snapshot.Snapshot, cluster int, topic, was, is string) {
		s.Earlier = readBundle(t, "../fixtures/codes/MM2D-406/near.json")
		ids(s.Earlier, cluster, topic, was)
		ids(s, cluster, topic, is)
	}
	for _, c := range []struct {
		name   string
		change func(s *snapshot.Snapshot)
		want   finding.Severity
	}{
		{"nothing", func(s *snapshot.Snapshot) {}, 0},
		{"a sync of the last record of the copy", func(s *snapshot.Snapshot) { end(s, 1, "a.orders", 1790) }, 0},
		{"one record less", func(s *snapshot.Snapshot) { end(s, 1, "a.orders", 1789) }, finding.Warning},
		{"the source ends before a sync; its positions are of before", func(s *snapshot.Snapshot) { end(s, 0, "orders", 1000) }, finding.Error},
		{"a position beyond the source's end alone", func(s *snapshot.Snapshot) { position(s, 0, "app-00", "orders", 1, 5000) }, 0},
		{"downstream back, upstream on", func(s *snapshot.Snapshot) {
			partition1(s, func(p *snapshot.PartitionSyncs) {
				p.Rewinds, p.LastRewind = 1, &snapshot.Rewind{Before: snapshot.Sync{Up: 1500, Down: 1900, Offset: 150}, After: snapshot.Sync{Up: 1549, Down: 1549, Offset: 180}}
			})
		}, finding.Warning}, // U and T lie in the new one
		{"the same again and again: two set-ups in one topic", func(s *snapshot.Snapshot) {
			partition1(s, func(p *snapshot.PartitionSyncs) {
				p.Rewinds, p.LastRewind = 7, &snapshot.Rewind{Before: snapshot.Sync{Up: 1500, Down: 1600, Offset: 150}, After: snapshot.Sync{Up: 1549, Down: 1549, Offset: 180}}
			})
		}, 0},
		{"mirrored a second time", func(s *snapshot.Snapshot) {
			partition1(s, func(p *snapshot.PartitionSyncs) {
				p.Rewinds, p.LastRewind = 1, &snapshot.Rewind{Before: snapshot.Sync{Up: 1500, Down: 1400, Offset: 150}, After: snapshot.Sync{Up: 1400, Down: 1549, Offset: 180}}
			})
		}, 0},
		{"another id on the target", func(s *snapshot.Snapshot) { two(s, 1, "a.orders", "x", "y") }, finding.Warning},
		{"another id on the source", func(s *snapshot.Snapshot) { two(s, 0, "orders", "x", "y") }, finding.Warning},
		{"the same id", func(s *snapshot.Snapshot) { two(s, 1, "a.orders", "x", "x") }, 0},
		{"no id before", func(s *snapshot.Snapshot) { two(s, 1, "a.orders", "", "y") }, 0},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-406/near.json")
		c.change(s)
		if got := worst(s, 406); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLoopRules: two flows that keep names are a loop where both mirror a topic, and nothing may stand between.
func TestLoopRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *snapshot.Snapshot)
		want   finding.Severity
	}{
		{"both identity", func(s *snapshot.Snapshot) {}, finding.Error},
		{"one of them alone", func(s *snapshot.Snapshot) { s.Flows = s.Flows[:1] }, 0},
		{"the flow back by the default policy", func(s *snapshot.Snapshot) { s.Flows[1].Policy.Class = "" }, 0},
		{"a transform may drop them", func(s *snapshot.Snapshot) { configured(s, ofSource, "transforms", "dropMirrored") }, 0},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-407/bundle.json")
		c.change(s)
		r, _ := Run(s, Options{})
		var got finding.Severity
		for _, f := range r.Findings {
			if f.Code == 407 {
				got = f.Severity
			}
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
