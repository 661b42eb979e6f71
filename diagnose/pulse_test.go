package diagnose

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// works is a flow that has run for an hour, with all of orders-0 mirrored record by record: 210 records, the group at 50 on both sides.
func works(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	s := young(t, 60*minute)
	f := &s.Flows[0]
	old := snapshot.Sync{Time: s.Taken - 50*minute}
	last := snapshot.Sync{Up: 200, Down: 200, Offset: 1, Time: s.Taken - 40*minute}
	runs := []snapshot.Run{{Slot: 0, Sync: last}, {Slot: 1, Sync: old}}
	f.Syncs = snapshot.Is(snapshot.Syncs{Cluster: "a", Topic: f.SyncsTopic, End: 2, Records: 2, Last: last.Time, Partitions: []snapshot.PartitionSyncs{{Topic: "orders", Count: 2, Oldest: old, Newest: last, Greedy: runs, TwoPointer: runs}}})
	f.Checkpointed = snapshot.Is(snapshot.Checkpoints{Topic: f.Checkpoints, Records: 1, Last: s.Taken - 30*minute, Newest: []snapshot.Checkpoint{{Group: "billing", Topic: "a.orders", Up: 50, Down: 1, Time: s.Taken - 30*minute}}})
	f.Heartbeat = snapshot.Is(s.Taken - 1000)
	s.MM2Version = "3.9.1"
	s.Clusters[1].Groups = snapshot.Is([]snapshot.Group{{ID: "billing", State: snapshot.Is(kafka.StateEmpty), ProtocolType: "consumer", Offsets: snapshot.Is([]snapshot.Committed{{Topic: "a.orders", Offset: 1, Epoch: -1}})}})
	logEnd(s, 0, 210)
	logEnd(s, 1, 210)
	return s
}

// logEnd sets the end of the only topic of a cluster.
func logEnd(s *snapshot.Snapshot, cluster int, end int64) {
	ts, _ := s.Clusters[cluster].Topics.Get()
	ts[0].Partitions[0].End = snapshot.Is(end)
}

// later gives a second look so much later, ms, of the same.
func later(t *testing.T, s *snapshot.Snapshot, ms int64) *snapshot.Snapshot {
	t.Helper()
	n := works(t)
	n.Started, n.Taken, n.Earlier = s.Taken+ms, s.Taken+ms, s
	n.Flows[0].Heartbeat = snapshot.Is(n.Taken - 1000)
	return n
}

func states(s *snapshot.Snapshot, state string, at int64) {
	ts, _ := s.Flows[0].Tasks.Get()
	for i := range ts {
		ts[i].State, ts[i].Time = state, at
	}
}

// TestPulse: what tells that MirrorMaker 2 works, does not, or leaves it open.
func TestPulse(t *testing.T) {
	beat := func(age int64) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Flows[0].Heartbeat = snapshot.Is(s.Taken - age) }
	}
	every := func(s *snapshot.Snapshot, seconds string) {
		change(&s.Flows[0].Running, func(c *snapshot.Connectors) { put(&c.Heartbeat, keyBeatInterval, seconds) })
	}
	off := func(s *snapshot.Snapshot) {
		for _, c := range []*snapshot.Fact[snapshot.Connectors]{&s.Flows[0].Configured, &s.Flows[0].Running} {
			change(c, func(c *snapshot.Connectors) { put(&c.Heartbeat, keyBeatEnabled, "false") })
		}
	}
	for _, tc := range []struct {
		name    string
		first   func(*snapshot.Snapshot) // nil: one look
		apart   int64
		now     func(*snapshot.Snapshot)
		verdict Verdict
		running string
		ask     int64 // ms, of the look that it asks for
	}{
		{name: "a heartbeat of a second ago", now: beat(1000), verdict: Healthy, running: "yes"},
		{name: "of 19 s ago", now: beat(19_000), verdict: Healthy, running: "yes"},
		{name: "of 21 s ago", now: beat(21_000), verdict: Unknown, running: "unknown", ask: 5000},
		{name: "of 3 min ago", now: beat(180_000), verdict: Unknown, running: "unknown", ask: 5000},
		{name: "of 3 min 11 s ago", now: beat(191_000), verdict: Broken, running: "no", ask: 5000},
		{name: "the same, and the connectors started 30 s ago", now: func(s *snapshot.Snapshot) { beat(191_000)(s); states(s, "RUNNING", s.Taken-30_000) }, verdict: Unknown, running: "unknown", ask: 5000},
		{name: "the same, and they started 5 s ago", now: func(s *snapshot.Snapshot) { beat(191_000)(s); states(s, "RUNNING", s.Taken-5000) }, verdict: Healthy, running: "yes"},
		{name: "heartbeats are off", now: func(s *snapshot.Snapshot) { beat(3600_000)(s); off(s) }, verdict: Healthy, running: "untold"},
		{name: "they are off, and a checkpoint is new", now: func(s *snapshot.Snapshot) {
			beat(3600_000)(s)
			off(s)
			change(&s.Flows[0].Checkpointed, func(c *snapshot.Checkpoints) { c.Last = s.Taken - 10_000 })
		}, verdict: Healthy, running: "yes"},
		{name: "two looks: the same heartbeat", first: beat(500), apart: 20_000, now: beat(20_500), verdict: Unknown, running: "unknown"},
		{name: "the same by a clock that is ahead", first: beat(-60_000), apart: 20_000, now: beat(-40_000), verdict: Unknown, running: "unknown"},
		{name: "the same for 11 s", first: beat(500), apart: 11_000, now: beat(11_500), verdict: Unknown, running: "unknown"},
		{name: "the same for 9 s", first: beat(500), apart: 9000, now: beat(9500), verdict: Healthy, running: "yes"},
		{name: "the same for 11 s, of connectors that have just started", first: beat(600_000), apart: 11_000, now: func(s *snapshot.Snapshot) { beat(611_000)(s); states(s, "RUNNING", s.Taken-5000) }, verdict: Healthy, running: "yes"},
		{name: "the same for 11 s, of connectors that started 1 s before the first look and wrote it after", first: beat(500), apart: 11_000, now: func(s *snapshot.Snapshot) { beat(11_500)(s); states(s, "RUNNING", s.Taken-12_000) }, verdict: Unknown, running: "unknown"},
		{name: "the same for 11 s, of connectors that started 30 s before", first: beat(500), apart: 11_000, now: func(s *snapshot.Snapshot) { beat(11_500)(s); states(s, "RUNNING", s.Taken-41_000) }, verdict: Unknown, running: "unknown"},
		{name: "one every 5 s, the same for 21 s", first: func(s *snapshot.Snapshot) { beat(2000)(s); every(s, "5") }, apart: 21_000, now: func(s *snapshot.Snapshot) { beat(23_000)(s); every(s, "5") }, verdict: Unknown, running: "unknown"},
		{name: "one every 5 s, the same for 15 s", first: func(s *snapshot.Snapshot) { beat(2000)(s); every(s, "5") }, apart: 15_000, now: func(s *snapshot.Snapshot) { beat(17_000)(s); every(s, "5") }, verdict: Healthy, running: "yes"},
		{name: "they go on by a clock that is five minutes behind", first: beat(300_000), apart: 5000, now: beat(300_500), verdict: Healthy, running: "yes"},
		{name: "they went on and stopped 40 s before the second look", first: beat(500), apart: 120_000, now: beat(40_000), verdict: Unknown, running: "unknown"},
		{name: "stopped four minutes before the second look", first: beat(500), apart: 300_000, now: beat(240_000), verdict: Broken, running: "no"},
		{name: "restarted in between", first: beat(600_000), apart: 20_000, now: beat(500), verdict: Healthy, running: "yes"},
		{name: "given back 5 s ago", now: func(s *snapshot.Snapshot) { states(s, "UNASSIGNED", s.Taken-5000) }, verdict: Healthy, running: "yes"},
		{name: "given back 15 s ago, and heartbeats end there", now: func(s *snapshot.Snapshot) { beat(15_500)(s); states(s, "UNASSIGNED", s.Taken-15_000) }, verdict: Unknown, running: "unknown", ask: 5000},
		{name: "given back a minute ago, and heartbeats go on", now: func(s *snapshot.Snapshot) { states(s, "UNASSIGNED", s.Taken-60_000) }, verdict: Healthy, running: "yes"},
		{name: "given back a minute ago, heartbeats off", now: func(s *snapshot.Snapshot) { beat(60_000)(s); off(s); states(s, "UNASSIGNED", s.Taken-60_000) }, verdict: Unknown, running: "unknown"},
		{name: "given back seven minutes ago, heartbeats off", now: func(s *snapshot.Snapshot) { beat(7 * minute)(s); off(s); states(s, "UNASSIGNED", s.Taken-7*minute) }, verdict: Broken, running: "no"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := works(t)
			if tc.first != nil {
				tc.first(s)
				s = later(t, s, tc.apart)
			}
			tc.now(s)
			r, asks := Run(s, Options{})
			if r.Summary.Verdict != tc.verdict || r.Flows[0].Running != tc.running || r.Incomplete() != (tc.verdict == Unknown) {
				t.Errorf("verdict %s, running %s, incomplete %v; want %s, %s\n%+v\n%+v\n%+v", r.Summary.Verdict, r.Flows[0].Running, r.Incomplete(), tc.verdict, tc.running, r.Findings, r.NotChecked, r.Partitions)
			}
			if tc.verdict == Broken && r.Findings[0].Slug != "mm2-not-running" {
				t.Errorf("first finding %s", r.Findings[0].Slug)
			}
			var after int64
			for _, a := range asks {
				after = max(after, a.AfterMs)
			}
			if after != tc.ask {
				t.Errorf("asks for a look %d ms later, want %d", after, tc.ask)
			}
		})
	}
}

// TestPause: a copy that rests between two looks behind a source that had records at the first is an open question; one that is level,
// grows, or was given no time is none.
func TestPause(t *testing.T) {
	for _, tc := range []struct {
		name             string
		apart            int64
		source0, source1 int64
		copy1            int64 // 210 at the first look
		change           func(*snapshot.Snapshot)
		want             Verdict
	}{
		{"behind for 20 s, the source goes on", 20_000, 310, 400, 210, nil, Unknown},
		{"behind for 20 s, the source rests", 20_000, 310, 310, 210, nil, Unknown},
		{"behind for 100 s, the source rests", 100_000, 310, 310, 210, nil, Unknown},
		{"behind, and the copy goes on", 20_000, 310, 400, 211, nil, Healthy},
		{"behind for 10 s", 10_000, 310, 400, 210, nil, Healthy},
		{"records that came after the first look", 20_000, 210, 310, 210, nil, Unknown},
		{"records that came after the first look, for longer", 150_000, 210, 310, 210, nil, Unknown},
		{"a few that did", 20_000, 210, 220, 210, nil, Healthy},
		{"all is idle", 20_000, 210, 210, 210, nil, Healthy},
		{"markers at the end of an idle log", 20_000, 220, 220, 210, nil, Healthy},
		{"the source task has just started", 20_000, 310, 400, 210, func(s *snapshot.Snapshot) { states(s, "RUNNING", s.Taken-20_000) }, Healthy},
		{"the source's consumer may wait for half a minute", 20_000, 310, 400, 210, func(s *snapshot.Snapshot) {
			change(&s.Flows[0].Running, func(c *snapshot.Connectors) { put(&c.Source, "source.consumer."+keyMaxWait, "30000") })
		}, Healthy},
		{"records are dropped on the way", 20_000, 310, 400, 210, func(s *snapshot.Snapshot) {
			s.Flows[0].Positions = snapshot.Is([]snapshot.Position{{Topic: "orders", Offset: 390}})
			s.Earlier.Flows[0].Positions = snapshot.Is([]snapshot.Position{{Topic: "orders", Offset: 300}})
		}, Healthy},
		{"an open transaction, and only what is committed is read", 20_000, 310, 400, 210, func(s *snapshot.Snapshot) {
			for _, x := range []*snapshot.Snapshot{s, s.Earlier} {
				change(&x.Flows[0].Running, func(c *snapshot.Connectors) { put(&c.Source, "source.consumer."+keyIsolation, "read_committed") })
				ts, _ := x.Clusters[0].Topics.Get()
				ts[0].Partitions[0].Stable = snapshot.Is(int64(210))
			}
		}, Healthy},
		{"the records behind were deleted", 20_000, 310, 315, 210, func(s *snapshot.Snapshot) {
			ts, _ := s.Clusters[0].Topics.Get()
			ts[0].Partitions[0].Start = snapshot.Is(int64(310))
		}, Healthy},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first := works(t)
			logEnd(first, 0, tc.source0)
			s := later(t, first, tc.apart)
			logEnd(s, 0, tc.source1)
			logEnd(s, 1, tc.copy1)
			if tc.change != nil {
				tc.change(s)
			}
			r, asks := Run(s, Options{})
			if got := r.Summary.Verdict; got != tc.want && !(tc.want == Healthy && got == Degraded && !r.Incomplete()) {
				t.Errorf("verdict %s, want %s: %+v, %+v", got, tc.want, r.Findings, r.NotChecked)
			}
			if came := tc.source0 == 210 && tc.want == Unknown; came != (len(asks) == 1 && asks[0].First && asks[0].AfterMs == 5000) {
				t.Errorf("asks %+v", asks)
			}
			if tc.want == Unknown && (!r.Incomplete() || !strings.Contains(r.NotChecked[0].Why, "although 100 offsets")) {
				t.Errorf("incomplete %v, not checked %+v", r.Incomplete(), r.NotChecked)
			}
		})
	}
}

// TestPromises: that a group will be found, or a row moves on, depends on a MirrorMaker 2 that works.
func TestPromises(t *testing.T) {
	for _, tc := range []struct {
		name          string
		beat          int64 // age, ms; 0: there never was one
		has, not, fix string
		status        string
	}{
		{"it works", 1000, "it appears on b at the latest", "if it runs", "Wait one refresh", statusMoving},
		{"silent for half a minute", 30_000, "nobody looks at present: MirrorMaker 2 has written no heartbeat for 30 s", "at the latest", "Start MirrorMaker 2 again", statusUnknown},
		{"nothing tells", 0, "if it runs, which nothing tells (the newest sign of it is", "", "Wait one refresh", statusMoving},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := works(t)
			s.Flows[0].Heartbeat = snapshot.None[int64]()
			if tc.beat > 0 {
				s.Flows[0].Heartbeat = snapshot.Is(s.Taken - tc.beat)
			}
			gs, _ := s.Clusters[0].Groups.Get()
			fresh := gs[0]
			fresh.ID = "fresh"
			gs[0].Offsets = snapshot.Is([]snapshot.Committed{{Topic: "orders", Offset: 201}}) // its translation waits
			s.Clusters[0].Groups = snapshot.Is(append(gs, fresh))
			r, _ := Run(s, Options{})
			fd := find205(r)
			if fd == nil {
				t.Fatalf("no 205: %+v", r.Findings)
			}
			if !strings.Contains(fd.Because, tc.has) || tc.not != "" && strings.Contains(fd.Because, tc.not) || !strings.Contains(fd.Fixes[0].Text, tc.fix) {
				t.Errorf("%s\n%+v", fd.Because, fd.Fixes)
			}
			for _, row := range r.Partitions {
				if row.Group == "billing" && row.Status != tc.status {
					t.Errorf("status %s, want %s (%s)", row.Status, tc.status, row.Note)
				}
			}
		})
	}
}

func find205(r *Report) *finding.Finding {
	for i := range r.Findings {
		if r.Findings[i].Code == 205 {
			return &r.Findings[i]
		}
	}
	return nil
}
