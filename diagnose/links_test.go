package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// steadyFlow is a flow whose tasks have run for a day: orders-0 mirrored from 100 to its end 1100, syncs record by record, one group at
// the head. before is how long ago the look before was; 0 for none.
func steadyFlow(t *testing.T, version string, before int64) *snapshot.Snapshot {
	t.Helper()
	s := oneSteady(t, version, 0)
	if before > 0 {
		s.Earlier = oneSteady(t, version, before)
	}
	return s
}

func oneSteady(t *testing.T, version string, ago int64) *snapshot.Snapshot {
	s := young(t, 24*60*minute)
	s.MM2Version = version
	s.Taken -= ago
	s.Started = s.Taken
	s.Flows[0].Syncs = snapshot.Is(snapshot.Syncs{Cluster: "a", Topic: s.Flows[0].SyncsTopic, End: 12, Records: 12, Last: s.Taken - 10*minute, First: s.Taken - 20*60*minute,
		Partitions: []snapshot.PartitionSyncs{syncsAtOf(s.Taken, [2]int64{1099, 999}, [2]int64{600, 500}, [2]int64{100, 0})}})
	s.Flows[0].SyncsOthers = snapshot.Is([]snapshot.TopicRef{})
	setLog(s, "a", "orders", 100, 1100)
	setLog(s, "b", "a.orders", 0, 1000)
	setPosition(s, "a", "orders", 1099)
	s.Clusters[1].Groups = snapshot.Is([]snapshot.Group{{ID: "billing", State: snapshot.Is(kafka.StateEmpty), ProtocolType: "consumer", Offsets: snapshot.Is([]snapshot.Committed{{Topic: "a.orders", Offset: 999, Epoch: -1}})}})
	checkpointAt(s, 1099, 999, s.Taken-5*minute)
	return s
}

// syncsAtOf are the folded syncs of orders-0, newest first.
func syncsAtOf(taken int64, ss ...[2]int64) snapshot.PartitionSyncs {
	p := snapshot.PartitionSyncs{Topic: "orders", Count: int64(len(ss))}
	for i, x := range ss {
		sy := snapshot.Sync{Up: x[0], Down: x[1], Offset: int64(len(ss) - i), Time: taken - int64(10+10*i)*minute}
		p.TwoPointer = append(p.TwoPointer, snapshot.Run{Slot: 8 * i, Sync: sy})
	}
	p.Greedy = p.TwoPointer
	p.Newest, p.Oldest = p.TwoPointer[0].Sync, p.TwoPointer[len(ss)-1].Sync
	return p
}

func setLog(s *snapshot.Snapshot, cluster, topic string, start, end int64) {
	for i := range s.Clusters {
		if s.Clusters[i].Alias != cluster {
			continue
		}
		ts, _ := s.Clusters[i].Topics.Get()
		for j := range ts {
			if ts[j].Name == topic {
				ts[j].Partitions[0].Start, ts[j].Partitions[0].End = snapshot.Is(start), snapshot.Is(end)
			}
		}
	}
}

func setPosition(s *snapshot.Snapshot, cluster, topic string, at int64) {
	gs, _ := s.Clusters[0].Groups.Get()
	os, _ := gs[0].Offsets.Get()
	os[0].Offset = at
}

func checkpointAt(s *snapshot.Snapshot, up, down, at int64) {
	c, _ := s.Flows[0].Checkpointed.Get()
	c.Newest, c.Records, c.End, c.Last = []snapshot.Checkpoint{{Group: "billing", Topic: "a.orders", Up: up, Down: down, Time: at}}, 1, 1, at
	s.Flows[0].Checkpointed = snapshot.Is(c)
}

func setSyncs(s *snapshot.Snapshot, p snapshot.PartitionSyncs) {
	sy, _ := s.Flows[0].Syncs.Get()
	sy.Partitions = []snapshot.PartitionSyncs{p}
	s.Flows[0].Syncs = snapshot.Is(sy)
}

func setSourceKey(s *snapshot.Snapshot, key, value string) {
	for _, f := range []*snapshot.Fact[snapshot.Connectors]{&s.Flows[0].Running, &s.Flows[0].Configured} {
		c, _ := f.Get()
		c.Source = slices.DeleteFunc(slices.Clone(c.Source), func(e snapshot.ConfigEntry) bool { return e.Key == key })
		c.Source = append(c.Source, snapshot.ConfigEntry{Key: key, Value: value})
		*f = snapshot.Is(c)
	}
}

// severityOfCode is what a report says of a code, as a finding or as a consequence of one; 0 for nothing.
func severityOfCode(r *Report, c finding.Code) finding.Severity {
	for _, f := range r.Findings {
		if f.Code == c {
			return f.Severity
		}
		for _, e := range f.Explains {
			if e.Code == c.String() {
				return e.Severity
			}
		}
	}
	return 0
}

// linkCase is one stage of a rule: what differs from a steady flow, and what the code is then.
type linkCase struct {
	name    string
	version string // 3.9.1 where empty
	before  int64  // ms to the look before
	change  func(s *snapshot.Snapshot)
	want    finding.Severity
	slug    string
	says    string // part of the reason
	open    bool   // the check is not decided
}

func linkCasesOf(t *testing.T, code finding.Code, cases []linkCase) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			version := tc.version
			if version == "" {
				version = "3.9.1"
			}
			if version == "untold" {
				version = ""
			}
			s := steadyFlow(t, version, tc.before)
			if tc.change != nil {
				tc.change(s)
			}
			r, _ := Run(s, Options{})
			if got := severityOfCode(r, code); got != tc.want {
				t.Errorf("%v is %v, want %v; findings %+v", code, got, tc.want, r.Findings)
			}
			for _, f := range r.Findings {
				if f.Code == code && (!strings.Contains(f.Because, tc.says) || tc.slug != "" && f.Slug != tc.slug) {
					t.Errorf("%s: %s; want %s: %s", f.Slug, f.Because, tc.slug, tc.says)
				}
			}
			open := slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Check == code.String() })
			if open != tc.open {
				t.Errorf("not checked: %v, want %v: %+v", open, tc.open, r.NotChecked)
			}
		})
	}
}

// behindSyncs takes the newest sync n records back, in both looks, and lets the copy grow by ten between them.
func behindSyncs(n int64) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for _, x := range []*snapshot.Snapshot{s, s.Earlier} {
			setSyncs(x, syncsAtOf(s.Taken, [2]int64{1099 - n, 999 - n}, [2]int64{100, 0}))
		}
		setLog(s, "b", "a.orders", 0, 1010)
		setLog(s, "a", "orders", 100, 1110)
	}
}

func TestSyncStale(t *testing.T) {
	long := 3 * minute
	linkCasesOf(t, 104, []linkCase{
		{name: "every record has its sync", before: long},
		{name: "one look", change: func(s *snapshot.Snapshot) { setSyncs(s, syncsAtOf(s.Taken, [2]int64{500, 400}, [2]int64{100, 0})) }},
		{name: "up to 3.4.0 one sync is the rule", version: "3.3.1", before: long, change: behindSyncs(800)},
		{name: "3.6.2 lets 100 records go", version: "3.6.2", before: long, change: behindSyncs(100)},
		{name: "3.6.2 and 101 records", version: "3.6.2", before: long, change: behindSyncs(101), want: finding.Warning, says: "one every 101 records"},
		{name: "3.9.1 owes one at each commit", before: long, change: behindSyncs(40), want: finding.Warning, says: "at each commit"},
		{name: "3.9.1, the looks too near", before: minute, change: behindSyncs(40)},
		{name: "a larger offset.lag.max, 3.6.2", version: "3.6.2", before: long, change: func(s *snapshot.Snapshot) { behindSyncs(300)(s); setSourceKey(s, keyLagMax, "500") }},
		{name: "a copy that rests owes nothing", before: long, change: func(s *snapshot.Snapshot) { behindSyncs(300)(s); setLog(s, "b", "a.orders", 0, 1000) }},
		{name: "a newer sync has come", before: long, change: func(s *snapshot.Snapshot) {
			behindSyncs(300)(s)
			setSyncs(s, syncsAtOf(s.Taken, [2]int64{1105, 1005}, [2]int64{100, 0}))
		}},
		{name: "no version is known, and nothing shows it", version: "untold", before: long, open: true, change: func(s *snapshot.Snapshot) {
			behindSyncs(300)(s)
			for _, x := range []*snapshot.Snapshot{s, s.Earlier} {
				x.Flows[0].Checkpointed = snapshot.Is(snapshot.Checkpoints{Topic: x.Flows[0].Checkpoints})
			}
		}},
	})
}

func TestSyncRewound(t *testing.T) {
	back := func(p snapshot.PartitionSyncs, before, after [2]int64) snapshot.PartitionSyncs {
		p.Rewinds = 1
		p.LastRewind = &snapshot.Rewind{Before: snapshot.Sync{Up: before[0], Down: before[1], Offset: p.Newest.Offset - 1}, After: snapshot.Sync{Up: after[0], Down: after[1], Offset: p.Newest.Offset, Time: p.Newest.Time}}
		if after[1] < before[1] {
			p.DownBack = 1
		}
		return p
	}
	linkCasesOf(t, 106, []linkCase{
		{name: "forward only"},
		{name: "read again, all groups are past it", want: finding.Info, slug: "source-read-again", says: "(40 offsets)", change: func(s *snapshot.Snapshot) {
			setSyncs(s, back(syncsAtOf(s.Taken, [2]int64{1099, 999}, [2]int64{900, 800}), [2]int64{940, 799}, [2]int64{900, 800}))
		}},
		{name: "read again, a group before it has moved on", want: finding.Warning, slug: "source-read-again", says: "billing", change: func(s *snapshot.Snapshot) {
			setSyncs(s, back(syncsAtOf(s.Taken, [2]int64{1099, 999}, [2]int64{900, 800}), [2]int64{940, 799}, [2]int64{900, 800}))
			setPosition(s, "a", "orders", 700)
			checkpointAt(s, 650, 540, s.Taken-60*minute)
		}},
		{name: "read again, up to 3.4.0 only the newest sync counts anyway", version: "3.3.1", want: finding.Info, slug: "source-read-again", change: func(s *snapshot.Snapshot) {
			setSyncs(s, back(syncsAtOf(s.Taken, [2]int64{1099, 999}, [2]int64{900, 800}), [2]int64{940, 799}, [2]int64{900, 800}))
		}},
		{name: "the source ends below what was mirrored once", want: finding.Info, slug: "source-read-again", says: "was recreated", change: func(s *snapshot.Snapshot) {
			setSyncs(s, back(syncsAtOf(s.Taken, [2]int64{1099, 999}), [2]int64{90_000, 700}, [2]int64{0, 701}))
		}},
		{name: "the copy is another, and a translation rests on the one before", want: finding.Error, slug: "target-recreated", says: "from 9000 to 0", change: func(s *snapshot.Snapshot) {
			setSyncs(s, back(syncsAtOf(s.Taken, [2]int64{1099, 99}, [2]int64{999, 998}), [2]int64{999, 9000}, [2]int64{1099, 0}))
			setPosition(s, "a", "orders", 1050)
			checkpointAt(s, 1050, 999, s.Taken-minute)
		}},
	})
}

func TestSyncsTwice(t *testing.T) {
	other := func(cluster, topic string, last int64) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Flows[0].SyncsOthers = snapshot.Is([]snapshot.TopicRef{{Cluster: cluster, Topic: topic, Records: 50, Last: s.Taken - last}})
			setSyncs(s, syncsAtOf(s.Taken, [2]int64{1099, 999}, [2]int64{600, 500}))
		}
	}
	linkCasesOf(t, 107, []linkCase{
		{name: "one topic"},
		{name: "another separator", change: other("a", "mm2-offset-syncs_b_internal", 60*minute), want: finding.Warning, says: `"_"`},
		{name: "another place", change: other("b", "mm2-offset-syncs.a.internal", 60*minute), want: finding.Warning, says: "location was changed"},
		{name: "the other one is the newer", change: other("b", "mm2-offset-syncs.a.internal", 0), want: finding.Warning, says: "the other one is the newer"},
		{name: "another target's topic", change: other("a", "mm2-offset-syncs.c.internal", 0)},
		{name: "the other direction's own", change: func(s *snapshot.Snapshot) {
			other("b", "mm2-offset-syncs.a.internal", 0)(s)
			ts, _ := s.Clusters[0].Topics.Get()
			s.Clusters[0].Topics = snapshot.Is(append(ts, snapshot.Topic{Name: "b.checkpoints.internal"}))
		}},
		{name: "the other direction is not known", open: true, change: func(s *snapshot.Snapshot) {
			other("b", "mm2-offset-syncs.a.internal", 0)(s)
			s.Clusters[0].TopicsComplete = snapshot.NotKnown[bool](&snapshot.Gap{Code: "denied", Why: "hidden"})
		}},
		{name: "a leftover", want: finding.Info, change: func(s *snapshot.Snapshot) {
			other("a", "mm2-offset-syncs_b_internal", 60*minute)(s)
			setLog(s, "a", "orders", 600, 1100)
		}},
		{name: "empty", change: func(s *snapshot.Snapshot) {
			s.Flows[0].SyncsOthers = snapshot.Is([]snapshot.TopicRef{{Cluster: "b", Topic: "mm2-offset-syncs.a.internal"}})
		}},
	})
}

func TestSyncsNamed(t *testing.T) {
	for _, tc := range []struct {
		topic, alias, sep string
		ok                bool
	}{
		{"mm2-offset-syncs.b.internal", "b", ".", true}, {"mm2-offset-syncs_b_internal", "b", "_", true}, {"mm2-offset-syncsbinternal", "b", "", true},
		{"mm2-offset-syncs.b.internal", "a", "", false}, {"mm2-offset-syncs.b_internal", "b", "", false}, {"orders", "b", "", false},
		{"mm2-offset-syncs.us.east.internal", "us.east", ".", true},
	} {
		if sep, ok := syncsNamed(tc.topic, tc.alias); ok != tc.ok || ok && sep != tc.sep {
			t.Errorf("%s for %s: %q %v", tc.topic, tc.alias, sep, ok)
		}
	}
}

func TestOwnAlias(t *testing.T) {
	ref := func(last int64) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Flows[0].SyncsOthers = snapshot.Is([]snapshot.TopicRef{{Cluster: "a", Topic: "mm2-offset-syncs.a.internal", Records: 9, Last: s.Taken - last}})
		}
	}
	linkCasesOf(t, 115, []linkCase{
		{name: "none"},
		{name: "a leftover beside a topic that is written", change: ref(60 * minute), want: finding.Info},
		{name: "newer than the flow's own", change: ref(0), want: finding.Error, says: "target.cluster.alias"},
	})
}

// stalled is a copy that stands at 900 in both looks, while the source goes from 1100 to 1200.
func stalled(s *snapshot.Snapshot) {
	for _, x := range []*snapshot.Snapshot{s, s.Earlier} {
		setSyncs(x, syncsAtOf(s.Taken, [2]int64{999, 899}, [2]int64{100, 0}))
		setLog(x, "b", "a.orders", 0, 900)
		setPosition(x, "a", "orders", 900)
		checkpointAt(x, 900, 800, x.Taken-5*minute)
	}
	setLog(s, "a", "orders", 100, 1200)
}

func positionsAt(now, before int64) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Flows[0].Positions = snapshot.Is([]snapshot.Position{{Topic: "orders", Offset: now, Time: s.Taken - 10*minute}})
		if s.Earlier != nil {
			s.Earlier.Flows[0].Positions = snapshot.Is([]snapshot.Position{{Topic: "orders", Offset: before, Time: s.Taken - 10*minute}})
		}
	}
}

func TestStalled(t *testing.T) {
	long := 3 * minute
	linkCasesOf(t, 110, []linkCase{
		{name: "both go on", before: long, change: func(s *snapshot.Snapshot) { setLog(s, "a", "orders", 100, 1200); setLog(s, "b", "a.orders", 0, 1100) }},
		{name: "both rest", before: long},
		{name: "everything of the first look is mirrored; records of the last second are not", before: long, change: func(s *snapshot.Snapshot) { setLog(s, "a", "orders", 100, 1110) }},
		{name: "stands", before: long, change: stalled, want: finding.Error, says: "nothing after source offset 999"},
		{name: "stands for a minute", before: minute, change: stalled, open: true},
		{name: "the source rests", before: long, change: func(s *snapshot.Snapshot) { stalled(s); setLog(s, "a", "orders", 100, 1100) }, open: true},
		{name: "the stored position stands too", before: long, change: func(s *snapshot.Snapshot) { stalled(s); positionsAt(999, 999)(s) }, want: finding.Error, says: "999"},
		{name: "the stored position goes on: records are dropped on the way", before: long, change: func(s *snapshot.Snapshot) { stalled(s); positionsAt(1150, 1050)(s) }},
		{name: "3.3.1, whose syncs do not tell", version: "3.3.1", before: long, change: stalled, open: true},
		{name: "3.3.1 with positions", version: "3.3.1", before: long, change: func(s *snapshot.Snapshot) { stalled(s); positionsAt(999, 999)(s) }, want: finding.Error},
		{name: "the connector is down", before: long, change: func(s *snapshot.Snapshot) {
			stalled(s)
			ts, _ := s.Flows[0].Tasks.Get()
			ts[1].State, ts[1].Trace = "FAILED", "boom"
		}},
		{name: "the task has just started", before: long, change: func(s *snapshot.Snapshot) {
			stalled(s)
			ts, _ := s.Flows[0].Tasks.Get()
			ts[1].Time = s.Taken - minute
		}},
		{name: "another topic of the name", before: long, change: func(s *snapshot.Snapshot) {
			stalled(s)
			ts, _ := s.Clusters[0].Topics.Get()
			ts[0].ID = "other"
		}},
		{name: "read committed, aborted records are not mirrored", before: long, open: true, change: func(s *snapshot.Snapshot) {
			stalled(s)
			setSourceKey(s, "source.consumer.isolation.level", "read_committed")
			setLog(s.Earlier, "a", "orders", 100, 1150)
		}},
		{name: "read committed, an open transaction", before: long, want: finding.Error, says: "an open transaction begins at 1000", change: func(s *snapshot.Snapshot) {
			stalled(s)
			setSourceKey(s, "source.consumer.isolation.level", "read_committed")
			for _, x := range []*snapshot.Snapshot{s, s.Earlier} {
				ts, _ := x.Clusters[0].Topics.Get()
				ts[0].Partitions[0].Stable = snapshot.Is[int64](1000)
			}
			setLog(s.Earlier, "a", "orders", 100, 1150)
		}},
		{name: "one look, a position stored long ago with records behind it", change: positionsAt(800, 800), open: true},
		{name: "one look, a position at the end", change: positionsAt(1099, 1099)},
	})
}

func TestLagging(t *testing.T) {
	long := 3 * minute
	// 500 records of the first look are not mirrored in the second, though the copy has grown by 100.
	late := func(s *snapshot.Snapshot) {
		setLog(s.Earlier, "a", "orders", 100, 1700)
		setLog(s, "a", "orders", 100, 1900)
		setLog(s, "b", "a.orders", 0, 1100)
		setSyncs(s, syncsAtOf(s.Taken, [2]int64{1199, 1099}, [2]int64{100, 0}))
	}
	linkCasesOf(t, 114, []linkCase{
		{name: "at the head", before: long, change: func(s *snapshot.Snapshot) { setLog(s, "a", "orders", 100, 1200); setLog(s, "b", "a.orders", 0, 1090) }},
		{name: "late", before: long, change: late, want: finding.Warning, says: "700 offsets of orders-0"},
		{name: "the looks too near", before: minute, change: late},
		{name: "copies what was there when it started", before: long, want: finding.Info, change: func(s *snapshot.Snapshot) {
			late(s)
			ts, _ := s.Flows[0].Tasks.Get()
			ts[1].Time = s.Taken - 5*minute
		}},
		{name: "the stored position says otherwise", before: long, change: func(s *snapshot.Snapshot) { late(s); positionsAt(1850, 1600)(s) }},
		{name: "3.3.1 without positions", version: "3.3.1", before: long, change: late, open: true},
		{name: "3.3.1 with positions, five minutes apart", version: "3.3.1", before: 5 * minute, change: func(s *snapshot.Snapshot) { late(s); positionsAt(1199, 1099)(s) }, want: finding.Warning},
	})
}

func TestMiddle(t *testing.T) {
	// The copy's first record is source offset 600, the log begins at 100.
	from := func(policy string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			setSyncs(s, syncsAtOf(s.Taken, [2]int64{1099, 499}, [2]int64{600, 0}))
			setLog(s, "b", "a.orders", 0, 500)
			checkpointAt(s, 1099, 499, s.Taken-5*minute)
			gs, _ := s.Clusters[1].Groups.Get()
			gs[0].Offsets = snapshot.Is([]snapshot.Committed{{Topic: "a.orders", Offset: 499, Epoch: -1}})
			if policy != "" {
				ts, _ := s.Clusters[0].Topics.Get()
				ts[0].Config = snapshot.Is([]snapshot.ConfigEntry{{Key: "cleanup.policy", Value: policy}})
			}
		}
	}
	latest := func(s *snapshot.Snapshot) { setSourceKey(s, "source.consumer.auto.offset.reset", "latest") }
	linkCasesOf(t, 113, []linkCase{
		{name: "from the start"},
		{name: "in the middle", change: from("delete"), want: finding.Warning, says: "offset 600"},
		{name: "compaction leaves holes", change: from("compact")},
		{name: "compaction, and the connector begins at the end", change: func(s *snapshot.Snapshot) { from("compact")(s); latest(s) }, want: finding.Warning, says: "is latest"},
		{name: "up to 3.6.1 that is ignored", version: "3.5.1", change: func(s *snapshot.Snapshot) { from("compact")(s); latest(s) }},
		{name: "how the topic is cleaned is not known", change: from(""), open: true},
		{name: "retention has passed it", change: func(s *snapshot.Snapshot) { from("delete")(s); setLog(s, "a", "orders", 600, 1100) }},
	})
}

func TestNotCompacted(t *testing.T) {
	with := func(entries ...snapshot.ConfigEntry) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			ts, _ := s.Clusters[0].Topics.Get()
			s.Clusters[0].Topics = snapshot.Is(append(ts, snapshot.Topic{Name: s.Flows[0].SyncsTopic, Partitions: []snapshot.Partition{{Leader: 1, Replicas: 1, ISR: 1}}, Config: snapshot.Is(entries)}))
		}
	}
	policy := func(v string) snapshot.ConfigEntry { return snapshot.ConfigEntry{Key: "cleanup.policy", Value: v} }
	linkCasesOf(t, 105, []linkCase{
		{name: "compact", change: with(policy("compact"))},
		{name: "delete", change: with(policy("delete"), snapshot.ConfigEntry{Key: "retention.ms", Value: "604800000"}), want: finding.Warning, says: "retention.ms=604800000"},
		{name: "both", change: with(policy("compact,delete")), want: finding.Warning},
		{name: "delete without limit", change: with(policy("delete"), snapshot.ConfigEntry{Key: "retention.ms", Value: "-1"}), want: finding.Info},
	})
}

func TestSyncsDisabled(t *testing.T) {
	off := func(s *snapshot.Snapshot) { setSourceKey(s, keySyncsEnabled, "false") }
	linkCasesOf(t, 111, []linkCase{
		{name: "on"},
		{name: "off", change: off, want: finding.Error},
		{name: "3.8.1 does not know the key", version: "3.8.1", change: off},
		{name: "the version is not known", version: "untold", change: off, open: true},
		{name: "nor is it, and only the topic is missing", version: "untold", change: func(s *snapshot.Snapshot) {
			off(s)
			s.Flows[0].Syncs = snapshot.None[snapshot.Syncs]()
		}, open: true},
		{name: "nor is it, and neither topic nor checkpoint connector were made", version: "untold", change: func(s *snapshot.Snapshot) {
			off(s)
			s.Flows[0].Syncs = snapshot.None[snapshot.Syncs]()
			c, _ := s.Flows[0].Running.Get()
			c.Checkpoint = nil
			s.Flows[0].Running = snapshot.Is(c)
		}, want: finding.Error},
		{name: "no checkpoints wanted", change: func(s *snapshot.Snapshot) {
			off(s)
			for _, f := range []*snapshot.Fact[snapshot.Connectors]{&s.Flows[0].Running, &s.Flows[0].Configured} {
				c, _ := f.Get()
				c.Checkpoint = slices.Clone(c.Checkpoint)
				find(c.Checkpoint, keyEmitEnabled).Value = "false"
				*f = snapshot.Is(c)
			}
		}},
	})
}

func TestFragile(t *testing.T) {
	topic := func(replicas, isr int, brokers int32) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			ts, _ := s.Clusters[0].Topics.Get()
			s.Clusters[0].Topics = snapshot.Is(append(ts, snapshot.Topic{Name: s.Flows[0].SyncsTopic, Partitions: []snapshot.Partition{{Leader: 1, Replicas: replicas, ISR: isr}},
				Config: snapshot.Is([]snapshot.ConfigEntry{{Key: "min.insync.replicas", Value: "2"}, {Key: "cleanup.policy", Value: "compact"}})}))
			var bs []snapshot.Broker
			for i := range brokers {
				bs = append(bs, snapshot.Broker{ID: i + 1})
			}
			s.Clusters[0].Brokers = snapshot.Is(bs)
		}
	}
	linkCasesOf(t, 116, []linkCase{
		{name: "three replicas", change: topic(3, 3, 3)},
		{name: "one of three is out of sync", change: topic(3, 2, 3)},
		{name: "two of three are", change: topic(3, 1, 3), want: finding.Warning, slug: "min-isr-not-met", says: "1 replica in sync"},
		{name: "one replica of three brokers", change: func(s *snapshot.Snapshot) {
			topic(1, 1, 3)(s)
			ts, _ := s.Clusters[0].Topics.Get()
			ts[1].Config = snapshot.Is([]snapshot.ConfigEntry{{Key: "min.insync.replicas", Value: "1"}, {Key: "cleanup.policy", Value: "compact"}})
		}, want: finding.Warning, slug: "replication-factor-low"},
		{name: "one replica of one broker", change: func(s *snapshot.Snapshot) {
			topic(1, 1, 1)(s)
			ts, _ := s.Clusters[0].Topics.Get()
			ts[1].Config = snapshot.Is([]snapshot.ConfigEntry{{Key: "min.insync.replicas", Value: "1"}, {Key: "cleanup.policy", Value: "compact"}})
		}},
	})
}

func TestShared(t *testing.T) {
	back := func(n int64) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			p := syncsAtOf(s.Taken, [2]int64{1099, 999}, [2]int64{100, 0})
			p.DownBack, p.Rewinds = n, n
			p.LastRewind = &snapshot.Rewind{Before: snapshot.Sync{Up: 1000, Down: 4000, Offset: 5}, After: snapshot.Sync{Up: 1001, Down: 901, Offset: 6}}
			setSyncs(s, p)
		}
	}
	linkCasesOf(t, 117, []linkCase{{name: "never back"}, {name: "twice back", change: back(2)}, {name: "again and again", change: back(9), want: finding.Warning, says: "9 times"}})
}

func TestLeaderless(t *testing.T) {
	offsets := func(group string, of int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			x := snapshot.Topic{Name: offsetsTopic}
			for i := range of {
				x.Partitions = append(x.Partitions, snapshot.Partition{ID: int32(i), Leader: 1, Replicas: 1, ISR: 1})
			}
			ts, _ := s.Clusters[1].Topics.Get()
			x.Partitions[max(javaHash(group), -javaHash(group), 0)%int32(of)].Leader = -1
			s.Clusters[1].Topics = snapshot.Is(append(ts, x))
		}
	}
	linkCasesOf(t, 611, []linkCase{
		{name: "all have one"},
		{name: "the copy has none", want: finding.Error, says: "a.orders-0 on b", change: func(s *snapshot.Snapshot) {
			ts, _ := s.Clusters[1].Topics.Get()
			ts[0].Partitions[0].Leader = -1
		}},
		{name: "the partition of the group's offsets", change: offsets("billing", 50), want: finding.Error, says: "billing"},
		{name: "the partition of other groups' offsets", change: offsets("other", 50)},
		{name: "the offset syncs", want: finding.Error, says: "mm2-offset-syncs.b.internal on a", change: func(s *snapshot.Snapshot) {
			ts, _ := s.Clusters[0].Topics.Get()
			s.Clusters[0].Topics = snapshot.Is(append(ts, snapshot.Topic{Name: s.Flows[0].SyncsTopic, Partitions: []snapshot.Partition{{Leader: -1}}, Config: snapshot.Is([]snapshot.ConfigEntry{{Key: "cleanup.policy", Value: "compact"}})}))
		}},
	})
}

// TestIncompleteList: whoever lacks Describe on the cluster, as MirrorMaker 2's own principal may, cannot tell whether there are further
// offset-syncs topics. That is said, and the link that works stays known.
func TestIncompleteList(t *testing.T) {
	for code, verdict := range map[string]Verdict{"incomplete": Healthy, "denied": Unknown} {
		s := readBundle(t, "../fixtures/codes/MM2D-107/near.json")
		s.Flows[0].SyncsOthers = snapshot.NotKnown[[]snapshot.TopicRef](&snapshot.Gap{Code: code, Cluster: "a", API: "Metadata", Why: "no"})
		r, _ := Run(s, Options{})
		open := slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Check == "MM2D-107" })
		if r.Summary.Verdict != verdict || !open {
			t.Errorf("%s: verdict %s, 107 not checked: %v; want %s", code, r.Summary.Verdict, open, verdict)
		}
	}
}
