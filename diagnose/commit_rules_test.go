package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// small is a flow of one group and partition, translated and committed: U 80, C 80 -> 80, T 80, both logs 0 to 100, read an hour
// after the start.
type small struct{ *snapshot.Snapshot }

const hour = int64(3600_000)

func newSmall(t testing.TB, v mm2.Version) small {
	t.Helper()
	s := newSim(v, 1, 0, []string{"billing"})
	s.mute = true
	s.produce(s.parts[0], 100, 0)
	s.run()
	s.groups["billing"].at[0] = 80
	s.mirror(s.parts[0], 100, false)
	for range 60 {
		s.tick(61_000)
	}
	out := small{s.collect(func() {})}
	out.group(1, func(g *snapshot.Group) {
		g.State = snapshot.Is(kafka.StateEmpty)
		g.Offsets = snapshot.Is([]snapshot.Committed{{Topic: "a.orders", Offset: 80, Epoch: -1}})
	})
	out.checkpoint(func(c *snapshot.Checkpoint) { c.Up, c.Down = 80, 80 })
	return out
}

func (s small) group(cluster int, change func(*snapshot.Group)) {
	gs, _ := s.Clusters[cluster].Groups.Get()
	change(&gs[0])
}

func (s small) commit(cluster int, change func(*snapshot.Committed)) {
	s.group(cluster, func(g *snapshot.Group) {
		os, _ := g.Offsets.Get()
		change(&os[0])
	})
}

func (s small) checkpoint(change func(*snapshot.Checkpoint)) {
	c, _ := s.Flows[0].Checkpointed.Get()
	change(&c.Newest[0])
}

func (s small) log(cluster int, change func(*snapshot.Partition)) {
	ts, _ := s.Clusters[cluster].Topics.Get()
	change(&ts[0].Partitions[0])
}

func (s small) brokers(key, value string) {
	s.Clusters[1].Settings = snapshot.Is([]snapshot.ConfigEntry{{Key: key, Value: value}})
}

func (s small) syncOff() {
	c, _ := s.Flows[0].Configured.Get()
	for i := range c.Checkpoint {
		if c.Checkpoint[i].Key == keySyncEnabled {
			c.Checkpoint[i].Value = "false"
		}
	}
	s.Flows[0].Running = s.Flows[0].Configured
}

// before makes an earlier look of what is there now.
func (s small) before(apart int64) small {
	e := *s.Snapshot
	b := small{&e}
	e.Taken, e.Started, e.Earlier = s.Taken-apart, s.Started-apart, nil
	e.Clusters = append([]snapshot.Cluster{}, s.Clusters...)
	for i := range e.Clusters {
		gs := append([]snapshot.Group{}, s.Clusters[i].Groups.Or(nil)...)
		for j := range gs {
			gs[j].Offsets = snapshot.Is(append([]snapshot.Committed{}, gs[j].Offsets.Or(nil)...))
		}
		e.Clusters[i].Groups = snapshot.Is(gs)
	}
	s.Earlier = &e
	return b
}

// verdictOn says what is found of a code: its severity, "not checked", or nothing.
func (s small) verdictOn(t testing.TB, code finding.Code) string {
	t.Helper()
	r, _ := Run(s.Snapshot, Options{})
	for _, places := range sayings(r)[code] {
		return places.String()
	}
	for _, n := range r.NotChecked {
		if n.Check == code.String() {
			return "not checked"
		}
	}
	return ""
}

func TestSmallIsHealthy(t *testing.T) {
	for _, v := range []mm2.Version{mm2.V(3, 5, 1), mm2.V(3, 7, 0), mm2.V(3, 9, 1)} {
		r, _ := Run(newSmall(t, v).Snapshot, Options{})
		if r.Summary.Verdict != Healthy || len(r.Findings) > 0 {
			t.Errorf("%s: %s%s", v, r.Summary.Verdict, sayings(r))
		}
	}
}

// TestTypePairs: what converts when empty, as seen on brokers of 4.1 to 4.3.
func TestTypePairs(t *testing.T) {
	for _, c := range []struct {
		src, dst kafka.GroupType
		broker   string
		want     bool
	}{
		{kafka.TypeClassic, kafka.TypeClassic, "4.3", false},
		{kafka.TypeClassic, kafka.TypeConsumer, "4.3", false},
		{kafka.TypeConsumer, kafka.TypeClassic, "4.3", false},
		{kafka.TypeClassic, kafka.TypeStreams, "4.3", false},
		{kafka.TypeConsumer, kafka.TypeStreams, "4.3", true},
		{kafka.TypeStreams, kafka.TypeConsumer, "4.3", true},
		{kafka.TypeStreams, kafka.TypeClassic, "4.3", false},
		{kafka.TypeStreams, kafka.TypeClassic, "4.1", true},
		{kafka.TypeClassic, kafka.TypeShare, "4.3", true},
		{kafka.TypeConsumer, kafka.TypeShare, "4.3", true},
		{kafka.TypeShare, kafka.TypeClassic, "4.3", true},
		{kafka.TypeShare, kafka.TypeShare, "4.3", false},
	} {
		if got := incompatible(c.src, c.dst, c.broker); got != c.want {
			t.Errorf("%s to %s on %s: %v", c.src, c.dst, c.broker, got)
		}
	}
}

// TestTypeOfTarget: 305 and 316 by type, version and where the group runs.
func TestTypeOfTarget(t *testing.T) {
	for _, c := range []struct {
		name     string
		v        mm2.Version
		src, dst kafka.GroupType
		t        int64 // T; C.down is 80
		running  bool  // on the source
		off      bool
		want     string // of 305, 316, 303
	}{
		{"share on the target", mm2.V(3, 9, 1), kafka.TypeClassic, kafka.TypeShare, 80, true, false, "305 error"},
		{"share, sync off", mm2.V(3, 9, 1), kafka.TypeClassic, kafka.TypeShare, 80, true, true, "305 warning"},
		{"KIP-848 on the target", mm2.V(3, 9, 1), kafka.TypeClassic, kafka.TypeConsumer, 80, true, false, ""},
		{"KIP-848 there, streams here", mm2.V(3, 9, 1), kafka.TypeConsumer, kafka.TypeStreams, 80, true, false, "305 error"},
		{"streams, T is the checkpoint", mm2.V(3, 9, 1), kafka.TypeClassic, kafka.TypeStreams, 80, false, false, ""},
		{"streams, T above", mm2.V(3, 9, 1), kafka.TypeClassic, kafka.TypeStreams, 90, false, false, "316 warning"},
		{"streams, T above, runs on the source", mm2.V(3, 9, 1), kafka.TypeClassic, kafka.TypeStreams, 90, true, false, "316 info"},
		{"streams, T above, sync off", mm2.V(3, 9, 1), kafka.TypeClassic, kafka.TypeStreams, 90, false, true, ""},
		{"KIP-848, T above, 3.7.2", mm2.V(3, 7, 2), kafka.TypeClassic, kafka.TypeConsumer, 90, false, false, "316 warning"},
		{"KIP-848, T above, 3.8.1", mm2.V(3, 8, 1), kafka.TypeClassic, kafka.TypeConsumer, 90, false, false, "303 info"},
		{"classic, T above", mm2.V(3, 7, 2), kafka.TypeClassic, kafka.TypeClassic, 90, false, false, "303 info"},
	} {
		s := newSmall(t, c.v)
		s.group(0, func(g *snapshot.Group) {
			g.Type = snapshot.Is(c.src)
			if !c.running {
				g.State = snapshot.Is(kafka.StateEmpty)
			}
		})
		s.group(1, func(g *snapshot.Group) { g.Type = snapshot.Is(c.dst) })
		s.commit(1, func(o *snapshot.Committed) { o.Offset = c.t })
		if c.off {
			s.syncOff()
		}
		var got []string
		for _, code := range []finding.Code{305, 316, 303} {
			if w := s.verdictOn(t, code); w != "" {
				got = append(got, fmt.Sprintf("%d %s", code, w))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// TestUnknownVersionAndKip848: 3.7.2 and 3.8.1 translate alike, and only the one overwrites an empty KIP-848 group.
func TestUnknownVersionAndKip848(t *testing.T) {
	s := newSmall(t, mm2.V(3, 9, 1))
	s.MM2Version = ""
	s.group(1, func(g *snapshot.Group) { g.Type = snapshot.Is(kafka.TypeConsumer) })
	s.commit(1, func(o *snapshot.Committed) { o.Offset = 90 })
	if got := s.verdictOn(t, 316); got != "not checked" {
		t.Errorf("%q", got)
	}
}

// TestCommittedEpochs: the outcomes seen with Java consumers of 3.9.1 and 4.1.1. The log has epoch 0 from 0, 2 from 20, 4 from 40.
func TestCommittedEpochs(t *testing.T) {
	for _, c := range []struct {
		offset int64
		epoch  int32
		answer *snapshot.EpochEnd
		want   string
		says   string
	}{
		{50, -1, nil, "", ""},
		{15, 0, &snapshot.EpochEnd{Asked: 0, Found: 0, End: 20}, "", ""},
		{20, 0, &snapshot.EpochEnd{Asked: 0, Found: 0, End: 20}, "", ""},
		{50, 0, &snapshot.EpochEnd{Asked: 0, Found: 0, End: 20}, "error", "start at 20, 30 offsets before T"},
		{50, 3, &snapshot.EpochEnd{Asked: 3, Found: 2, End: 40}, "error", "start at 40, 10 offsets before T"},
		{50, 4, &snapshot.EpochEnd{Asked: 4, Found: 4, End: 100}, "", ""},
		{50, 5, &snapshot.EpochEnd{Asked: 5, Found: -1, End: -1}, "error", "read nothing"},
		{30, 99, &snapshot.EpochEnd{Asked: 99, Found: -1, End: -1}, "error", "read nothing"},
		{50, 2, &snapshot.EpochEnd{Asked: 2, Found: -1, End: -1}, "not checked", ""},
		{50, 2, nil, "not checked", ""},
		{120, 4, &snapshot.EpochEnd{Asked: 4, Found: 4, End: 100}, "error", ""}, // under 401
	} {
		s := newSmall(t, mm2.V(3, 9, 1))
		s.commit(1, func(o *snapshot.Committed) { o.Offset, o.Epoch = c.offset, c.epoch })
		s.log(1, func(p *snapshot.Partition) {
			p.Epoch = snapshot.Is[int32](4)
			if c.answer != nil {
				p.Epochs = snapshot.Is([]snapshot.EpochEnd{*c.answer})
			}
		})
		name := fmt.Sprintf("(%d, %d)", c.offset, c.epoch)
		if got := s.verdictOn(t, 311); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		r, _ := Run(s.Snapshot, Options{})
		for _, f := range r.Findings {
			if f.Code == 311 && !strings.Contains(f.Consequence, c.says) {
				t.Errorf("%s: %s", name, f.Consequence)
			}
			if f.Code == 311 && c.offset > 100 {
				t.Errorf("%s: stands beside 401", name)
			}
		}
	}
}

// TestBelowLogStart: what stands to be lost decides.
func TestBelowLogStart(t *testing.T) {
	for _, c := range []struct {
		name              string
		t, start          int64
		u, from, to, down int64
		want              string
	}{
		{"within", 80, 80, 80, 0, 100, 80, ""},
		{"records left to read", 60, 70, 80, 0, 100, 60, "error"},
		{"a checkpoint above the start waits", 60, 70, 80, 0, 100, 80, ""},
		{"everything read", 60, 70, 100, 0, 100, 60, "info"},
		{"gone on the source as well", 60, 70, 65, 66, 100, 60, "info"},
		{"the copy is empty", 60, 100, 80, 0, 100, 60, "info"},
	} {
		s := newSmall(t, mm2.V(3, 9, 1))
		s.commit(1, func(o *snapshot.Committed) { o.Offset = c.t })
		s.commit(0, func(o *snapshot.Committed) { o.Offset = c.u })
		s.log(1, func(p *snapshot.Partition) { p.Start = snapshot.Is(c.start) })
		s.log(0, func(p *snapshot.Partition) { p.Start, p.End = snapshot.Is(c.from), snapshot.Is(c.to) })
		s.checkpoint(func(k *snapshot.Checkpoint) { k.Up, k.Down, k.Time = c.u, c.down, s.Taken-1000 })
		if got := s.verdictOn(t, 309); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	s := newSmall(t, mm2.V(3, 9, 1))
	s.group(1, func(g *snapshot.Group) { g.State = snapshot.Is(kafka.StateStable) })
	s.log(1, func(p *snapshot.Partition) { p.Start = snapshot.Is[int64](90) })
	if got := s.verdictOn(t, 309); got != "" {
		t.Errorf("members run there already: %q", got)
	}
}

// TestExpiry: the rule of each type, as seen on 3.9.1 and 4.3.1, here with a retention of ten hours.
func TestExpiry(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    kafka.GroupType
		proto   string
		commit  int64 // hours ago, 0 = not known
		since   int64 // Empty since
		expires int64 // hours from now
		off     bool
		want    string
	}{
		{"sync on: written again", kafka.TypeClassic, "", 9, 0, 0, false, ""},
		{"simple, committed nine hours and a half ago", kafka.TypeClassic, "", 19, 0, 0, true, "warning"},
		{"simple, young", kafka.TypeClassic, "", 4, 0, 0, true, ""},
		{"simple, time not known", kafka.TypeClassic, "", 0, 0, 0, true, "not checked"},
		{"classic, empty for long, committed a moment ago", kafka.TypeClassic, "consumer", 1, 19, 0, true, "warning"},
		{"classic, empty for a moment, committed long ago", kafka.TypeClassic, "consumer", 19, 1, 0, true, ""},
		{"classic, since when not known", kafka.TypeClassic, "consumer", 19, 0, 0, true, "not checked"},
		{"KIP-848 counts from the commit", kafka.TypeConsumer, "consumer", 19, 1, 0, true, "warning"},
		{"an end of its own", kafka.TypeClassic, "", 19, 0, 20, true, ""},
	} {
		s := newSmall(t, mm2.V(3, 9, 1))
		s.brokers(keyOffsetsRetention, "600")
		half := hour / 2
		s.group(1, func(g *snapshot.Group) {
			g.Type, g.ProtocolType = snapshot.Is(c.kind), c.proto
			if c.since > 0 {
				g.Since = s.Taken - c.since*half
			}
		})
		s.commit(1, func(o *snapshot.Committed) {
			if c.commit > 0 {
				o.Time = s.Taken - c.commit*half
			}
			if c.expires > 0 {
				o.Expires = s.Taken + c.expires*hour
			}
		})
		if c.off {
			s.syncOff()
		}
		if got := s.verdictOn(t, 307); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestExpired: gone is proved by the age of the checkpoint when the offset went.
func TestExpired(t *testing.T) {
	for _, c := range []struct {
		name             string
		v                mm2.Version
		checkpoint, gone int64 // minutes ago
		want             string
	}{
		{"no pass has followed", mm2.V(3, 9, 1), 30 * 60, 10, "warning"},
		{"a moment ago", mm2.V(3, 9, 1), 30 * 60, 1, "info"},
		{"the checkpoint is younger than the retention: somebody deleted it", mm2.V(3, 9, 1), 5 * 60, 10, ""},
		{"up to 3.4.0 the age of a checkpoint tells nothing", mm2.V(3, 4, 0), 30 * 60, 10, ""},
	} {
		s := newSmall(t, c.v)
		s.brokers(keyOffsetsRetention, "600")
		s.group(1, func(g *snapshot.Group) {
			g.Offsets = snapshot.Is([]snapshot.Committed{})
			g.Removed = snapshot.Is([]snapshot.Removed{{Topic: "a.orders", Time: s.Taken - c.gone*60_000}})
		})
		s.checkpoint(func(k *snapshot.Checkpoint) { k.Time = s.Taken - c.checkpoint*60_000 })
		if got := s.verdictOn(t, 307); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNegativeByVersion: KAFKA-15607.
func TestNegativeByVersion(t *testing.T) {
	for _, c := range []struct {
		v    mm2.Version
		off  bool
		want string
	}{
		{mm2.V(2, 8, 2), false, "error"}, {mm2.V(3, 5, 1), false, "error"}, {mm2.V(3, 5, 2), false, ""}, {mm2.V(3, 6, 0), false, "error"}, {mm2.V(3, 6, 1), false, ""},
		{mm2.V(3, 9, 1), false, ""}, {mm2.V(3, 9, 1), true, "error"},
	} {
		s := newSmall(t, c.v)
		s.commit(1, func(o *snapshot.Committed) { o.Offset = -1 })
		if c.off {
			s.syncOff()
		}
		if got := s.verdictOn(t, 314); got != c.want {
			t.Errorf("%s, off %v: %q, want %q", c.v, c.off, got, c.want)
		}
	}
}

// TestNegativeStopsOthers: a group whose offset stands still in two looks is explained by another group's -1.
func TestNegativeStopsOthers(t *testing.T) {
	f := fixtureOf(t, 304)
	add := func(s *snapshot.Snapshot, at int64) {
		gs, _ := s.Clusters[1].Groups.Get()
		for i := range gs {
			if os, _ := gs[i].Offsets.Get(); gs[i].ID == "app-00" {
				os[0].Offset = at
			}
		}
	}
	for version, own := range map[string]bool{"3.5.1": false, "3.9.1": true} {
		f.MM2Version, f.Earlier.MM2Version = version, version
		add(f, -1)
		add(f.Earlier, -1)
		r, _ := Run(f, Options{})
		stands, under := false, 0
		for _, x := range r.Findings {
			stands = stands || x.Code == 304
			for _, e := range x.Explains {
				if x.Code == 314 && e.Code == "MM2D-304" {
					under = e.Count
				}
			}
		}
		if stands != own || !own && under != 2 {
			t.Errorf("%s: 304 stands alone: %v, %d under 314:%s", version, stands, under, sayings(r))
		}
	}
}

func fixtureOf(t testing.TB, code finding.Code) *snapshot.Snapshot {
	return readBundle(t, "../fixtures/codes/"+code.String()+"/bundle.json")
}

// TestLiveOnBoth: members and movement on both sides, in two looks.
func TestLiveOnBoth(t *testing.T) {
	for _, c := range []struct {
		name   string
		source [2]bool  // members before, now
		target [2]bool  // members before, now
		u, t   [2]int64 // before, now
		down   int64    // C.down now, 70 before
		want   string   // of 308
	}{
		{"both move", [2]bool{true, true}, [2]bool{true, true}, [2]int64{75, 80}, [2]int64{60, 65}, 80, "error"},
		{"the target stands still", [2]bool{true, true}, [2]bool{true, true}, [2]int64{75, 80}, [2]int64{60, 60}, 80, ""},
		{"the source stands still", [2]bool{true, true}, [2]bool{true, true}, [2]int64{80, 80}, [2]int64{60, 65}, 80, ""},
		{"T went to the checkpoint", [2]bool{true, true}, [2]bool{true, true}, [2]int64{75, 80}, [2]int64{60, 80}, 80, ""},
		{"T went to the checkpoint of before", [2]bool{true, true}, [2]bool{true, true}, [2]int64{75, 80}, [2]int64{60, 70}, 80, ""},
		{"a failover between the looks", [2]bool{true, false}, [2]bool{false, true}, [2]int64{75, 80}, [2]int64{60, 65}, 80, ""},
		{"no members on the target, T above every checkpoint", [2]bool{true, true}, [2]bool{false, false}, [2]int64{75, 80}, [2]int64{70, 90}, 80, "warning"},
		{"no members on the target, T below the checkpoint", [2]bool{true, true}, [2]bool{false, false}, [2]int64{75, 80}, [2]int64{60, 65}, 80, ""},
	} {
		s := newSmall(t, mm2.V(3, 9, 1))
		e := s.before(200_000)
		old := s.Flows[0].Checkpointed.Or(snapshot.Checkpoints{})
		old.Newest = append([]snapshot.Checkpoint{}, old.Newest...)
		for i, x := range []small{e, s} {
			state := func(on bool) kafka.GroupState {
				if on {
					return kafka.StateStable
				}
				return kafka.StateEmpty
			}
			x.group(0, func(g *snapshot.Group) { g.State = snapshot.Is(state(c.source[i])) })
			x.group(1, func(g *snapshot.Group) { g.State = snapshot.Is(state(c.target[i])) })
			x.commit(0, func(o *snapshot.Committed) { o.Offset = c.u[i] })
			x.commit(1, func(o *snapshot.Committed) { o.Offset = c.t[i] })
		}
		s.checkpoint(func(k *snapshot.Checkpoint) { k.Up, k.Down = c.u[1], c.down })
		old.Newest[0].Up, old.Newest[0].Down = 70, 70
		flows := append([]snapshot.Flow{}, e.Flows...)
		flows[0].Checkpointed = snapshot.Is(old)
		e.Flows = flows
		if got := s.verdictOn(t, 308); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		r, _ := Run(s.Snapshot, Options{})
		for _, f := range r.Findings {
			if f.Code == 302 && c.want == "error" {
				t.Errorf("%s: 302 stands beside it", c.name)
			}
		}
	}
}
