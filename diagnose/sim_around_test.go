package diagnose

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// What surrounds the chain of a sim: the broker's cleaning, transactions on the source, members on the target, and what a
// collector learns beside the chain's own topics.

// simLog is a partition of one of MirrorMaker 2's topics.
type simLog struct {
	records []kafka.Record
	end     int64
}

func (l *simLog) add(at int64, k, v []byte) {
	l.records = append(l.records, kafka.Record{Offset: l.end, Timestamp: at, Key: k, Value: v})
	l.end++
}

// clean compacts the first n records: the newest of each key is left. The log start stays.
func (l *simLog) clean(n int) {
	n = min(n, len(l.records))
	newest := map[string]int64{}
	for _, r := range l.records[:n] {
		newest[string(r.Key)] = r.Offset
	}
	l.records = slices.Concat(slices.DeleteFunc(slices.Clone(l.records[:n]), func(r kafka.Record) bool { return newest[string(r.Key)] != r.Offset }), l.records[n:])
}

// store is the worker's commit of source offsets.
func (s *sim) store() {
	for _, p := range s.parts {
		if n := len(p.down); n > 0 && (p.stored == nil || p.stored.Offset != p.up[n-1]) {
			p.stored = &snapshot.Position{Topic: p.tp.Topic, Partition: p.tp.Partition, Offset: p.up[n-1], Time: s.now}
		}
	}
}

// around adds what the worker's own topics tell, or the REST interface: no times. mute: neither could be asked for more.
func (s *sim) around(f *snapshot.Flow) {
	if s.rest {
		f.Mode, f.ConnectURL, f.SourceConnector, f.CheckpointConnector = "connect", "http://connect:8083", "src", "cp"
		f.Configured = snapshot.Fact[snapshot.Connectors]{}
		a, _ := f.Assigned.Get()
		a.Time = 0
		ts, _ := f.Tasks.Get()
		for i := range ts {
			ts[i].Time = 0
		}
		f.Assigned, f.Tasks = snapshot.Is(a), snapshot.Is(ts)
	}
	if s.mute {
		return
	}
	ps := []snapshot.Position{}
	for _, p := range s.parts {
		if p.stored != nil {
			x := *p.stored
			if s.rest {
				x.Time = 0
			}
			ps = append(ps, x)
		}
	}
	f.Positions = snapshot.Is(ps)
	if !s.rest {
		f.CheckpointStarts = snapshot.Is(slices.Clone(s.starts))
		f.Heartbeat = snapshot.Is(s.now - s.now%1000)
	}
}

// expire lets retention remove records that every group has read, and of the copy those that no group's offset needs.
func (s *sim) expire(p *simPartition, source, copied int) {
	i := p.tp.Partition
	p.trimmed = min(max(p.trimmed, source), len(p.down))
	lost, n := int64(0), min(copied, len(p.down))
	for _, g := range s.groups {
		n = min(n, max(0, g.at[i]))
	}
	if n > 0 {
		lost = p.down[n-1] + 1
	}
	for _, g := range s.groups {
		p.trimmed = min(p.trimmed, max(0, g.at[i]))
		t, has := g.target[i]
		if !has {
			lost = 0
		}
		lost = min(lost, t)
	}
	p.lost = max(p.lost, lost)
}

// kept is the index of the first record that both clusters still have.
func (s *sim) kept(p *simPartition) int {
	i := p.trimmed
	for i < len(p.down) && p.down[i] < p.lost {
		i++
	}
	return i
}

// begin appends n records of a transaction that is not ended yet; end ends it, by a marker.
func (s *sim) begin(p *simPartition, n int64) {
	if p.open == 0 && len(p.up) > 0 {
		p.open, p.opened = n, s.now
		p.upEnd += n
	}
}

func (s *sim) end(p *simPartition, commit bool) {
	if p.open == 0 {
		return
	}
	if commit {
		for i := range p.open {
			p.up, p.times = append(p.up, p.upEnd-p.open+i), append(p.times, s.now)
		}
	}
	p.open = 0
	p.upEnd++
}

// visit is a consumer on the target that stays a while and commits nothing.
func (s *sim) visit(g *simGroup) {
	if g.state == kafka.StateEmpty && g.members == 0 {
		g.members, g.state, g.since = 1, kafka.StateStable, s.now
	}
}
