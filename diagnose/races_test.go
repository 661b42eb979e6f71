package diagnose

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestStallAndHoles: a copy that has everything stands still, and a record comes in between the reading of the copy's end and of
// the source's. Only records that were there in the look before, and lie behind the syncs of this one, prove a stall.
func TestStallAndHoles(t *testing.T) {
	const minute = int64(60_000)
	for _, tc := range []struct {
		name           string
		earlier, later snapshot.Sync // newest, in the two looks; the oldest is 0 -> 0
		end0, end1     int64         // of the source
		exactlyOnce    bool
		looks          int64 // ms, from the end of the look before to the start of this one
		lasts          int64 // ms, how long this look takes
		want           bool
	}{
		{"records wait", snapshot.Sync{Up: 400, Down: 400}, snapshot.Sync{Up: 400, Down: 400}, 440, 450, false, 8 * minute, 0, true},
		{"a hole was mirrored after the syncs of the look before were read", snapshot.Sync{Up: 400, Down: 400}, snapshot.Sync{Up: 439, Down: 410}, 440, 441, false, 8 * minute, 0, false},
		{"a first transaction's marker stands at the end", snapshot.Sync{Up: 410, Down: 410}, snapshot.Sync{Up: 410, Down: 410}, 412, 413, false, 8 * minute, 0, false},
		{"markers on both sides keep the shift", snapshot.Sync{Up: 400, Down: 400}, snapshot.Sync{Up: 400, Down: 400}, 440, 450, true, 8 * minute, 0, false},
		{"the look itself took long", snapshot.Sync{Up: 400, Down: 400}, snapshot.Sync{Up: 400, Down: 400}, 440, 450, false, 1500, 8 * minute, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			look := func(newest snapshot.Sync, end int64) *snapshot.Snapshot {
				w := newSim(mm2.V(3, 9, 1), 1, 0, []string{"billing"})
				if tc.exactlyOnce {
					w.props += "b.exactly.once.source.support = enabled\n"
				}
				w.mute = true
				w.produce(w.parts[0], 411, 0)
				w.run()
				w.mirror(w.parts[0], 411, false)
				s := w.collect(func() {})
				sy, _ := s.Flows[0].Syncs.Get()
				sy.Partitions[0].Oldest, sy.Partitions[0].Newest = snapshot.Sync{}, newest
				small{s}.log(0, func(p *snapshot.Partition) { p.End = snapshot.Is(end) })
				return s
			}
			before, s := look(tc.earlier, tc.end0), look(tc.later, tc.end1)
			s.Started += 10*hour + tc.looks
			s.Taken = s.Started + tc.lasts
			before.Started, before.Taken = before.Started+10*hour, before.Taken+10*hour
			s.Earlier = before
			r, _ := Run(s, Options{})
			if got := find1(r, finding.Code(110).String()) != nil; got != tc.want {
				t.Errorf("110: %v, want %v", got, tc.want)
			}
		})
	}
}

// TestCompactedBelowACheckpoint: the sync that a checkpoint came from may be compacted away. What the task has to commit is then
// still right, and 206 has nothing to add to what keeps it from being committed.
func TestCompactedBelowACheckpoint(t *testing.T) {
	for _, tc := range []struct {
		name    string
		version mm2.Version
		since   int64 // ms, of the checkpoint after the task's start
		want    bool
	}{
		{"3.9.1 loads its checkpoints", mm2.V(3, 9, 1), -hour, false},
		{"3.6.2, written since the start", mm2.V(3, 6, 2), hour, false},
		{"3.6.2, written before the start", mm2.V(3, 6, 2), -hour, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSmall(t, tc.version)
			start, _ := newView(s.Snapshot).flows[0].checkpointTaskStart()
			s.checkpoint(func(c *snapshot.Checkpoint) { c.Up, c.Down, c.Time = 80, 80, start+tc.since })
			s.group(1, func(g *snapshot.Group) { g.Offsets = snapshot.Is([]snapshot.Committed{}) })
			sy, _ := s.Flows[0].Syncs.Get()
			left := snapshot.Sync{Up: 99, Down: 99, Offset: sy.End - 1, Time: start - hour}
			p := &sy.Partitions[0]
			p.Oldest, p.Newest, p.Count = left, left, 1
			p.TwoPointer, p.Greedy, p.TwoPointerSince, p.GreedySince = []snapshot.Run{{Sync: left}}, []snapshot.Run{{Sync: left}}, []snapshot.Run{{Sync: left}}, []snapshot.Run{{Sync: left}}
			sy.Records = 1
			s.Flows[0].Syncs = snapshot.Is(sy)
			r, _ := Run(s.Snapshot, Options{})
			if got := find1(r, finding.Code(206).String()) != nil; got != tc.want {
				t.Errorf("206: %v, want %v", got, tc.want)
			}
		})
	}
}
