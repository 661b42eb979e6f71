package diagnose

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// simVersions are one of each generation and emission.
var simVersions = []mm2.Version{mm2.V(2, 8, 2), mm2.V(3, 3, 1), mm2.V(3, 4, 1), mm2.V(3, 6, 2), mm2.V(3, 7, 0), mm2.V(3, 9, 1), mm2.V(4, 1, 1)}

// walk is a simulation under random steps.
type walk struct {
	*sim
	t *rapid.T
	// Old versions are wrong by themselves where offsets have gaps, where a group is ahead of the copy, after a restart or a new
	// group; none of that is a healthy flow.
	counts, forgets bool
	stopped         string                  // a group that does not move
	reading         bool                    // a look is under way
	cleaned         bool                    // the offset-syncs topic was compacted
	stays           string                  // a group whose member on the target does not leave
	behind          map[*simPartition]int64 // ms, since when records wait to be mirrored
}

func newWalk(t *rapid.T) *walk {
	v := rapid.SampledFrom(simVersions).Draw(t, "version")
	w := &walk{t: t, behind: map[*simPartition]int64{}, counts: v.Generation() <= mm2.G2, forgets: v.Generation() <= mm2.G4}
	start := int64(0)
	if !w.counts {
		start = rapid.Int64Range(0, 500).Draw(t, "log start")
	}
	w.sim = newSim(v, rapid.IntRange(1, 3).Draw(t, "partitions"), start, []string{"billing", "audit"})
	if !w.counts { // data of before MirrorMaker 2's start
		for range rapid.IntRange(0, 4).Draw(t, "batches before") {
			w.produce(rapid.SampledFrom(w.parts).Draw(t, "partition"), rapid.IntRange(1, 400).Draw(t, "records"), rapid.Int64Range(0, 3).Draw(t, "gap"))
		}
	}
	w.now += rapid.Int64Range(0, 3_600_000).Draw(t, "age of the data")
	w.rest, w.mute, w.kip = rapid.IntRange(0, 3).Draw(t, "connect") == 0, rapid.Bool().Draw(t, "positions unknown"), v.AtLeast(3, 8, 0) && rapid.Bool().Draw(t, "consumer group protocol")
	if w.committed = !w.counts && rapid.IntRange(0, 2).Draw(t, "read_committed") == 0; w.committed {
		w.props += "a->b.source.consumer.isolation.level = read_committed\n"
	}
	w.run()
	return w
}

// step is one thing that happens.
func (w *walk) step() {
	t := w.t
	p := rapid.SampledFrom(w.parts).Draw(t, "partition")
	switch rapid.IntRange(0, 11).Draw(t, "step") {
	case 0, 1:
		gap := int64(0)
		if !w.counts {
			gap = rapid.Int64Range(0, 2).Draw(t, "gap")
		}
		w.end(p, rapid.Bool().Draw(t, "commit"))
		w.produce(p, rapid.IntRange(1, 150).Draw(t, "records"), gap)
		if !w.counts && rapid.IntRange(0, 3).Draw(t, "marker at the end") == 0 {
			p.upEnd++
		}
	case 2, 3, 4:
		w.mirror(p, rapid.IntRange(1, 200).Draw(t, "copied"), !w.counts && rapid.Bool().Draw(t, "marker"))
	case 5, 6:
		g := w.groups[rapid.SampledFrom([]string{"billing", "audit"}).Draw(t, "group")]
		if g.id == w.stopped {
			return
		}
		most := len(p.up)
		if w.counts {
			most = len(p.down)
		}
		i := p.tp.Partition
		g.at[i] = max(g.at[i], min(most, g.at[i]+rapid.IntRange(0, 120).Draw(t, "consumed")))
	case 7:
		if !w.forgets && !w.expired() && len(w.groups) < 4 && rapid.IntRange(0, 9).Draw(t, "new group") == 0 {
			g := &simGroup{id: fmt.Sprintf("new-%d", len(w.groups)), at: make([]int, len(w.parts)), target: map[int32]int64{}}
			for _, p := range w.parts {
				g.at[p.tp.Partition] = p.trimmed
				if w.cleaned {
					g.at[p.tp.Partition] = len(p.down) // what lies far back is translatable no more (206)
				}
			}
			w.groups[g.id] = g
		} else if !w.forgets && rapid.IntRange(0, 19).Draw(t, "restart") == 0 {
			w.run()
		}
	case 8:
		switch rapid.IntRange(0, 5).Draw(t, "around") {
		case 0:
			if !w.served() {
				return // the cleaner comes after days
			}
			w.cleaned = true
			w.syncs.clean(rapid.IntRange(0, len(w.syncs.records)).Draw(t, "compacted"))
		case 1:
			w.checkpoints.clean(rapid.IntRange(0, len(w.checkpoints.records)).Draw(t, "compacted"))
		case 2:
			if w.reading {
				return // T of a moment ago against a log start of now: so close to retention nobody stands in health
			}
			w.expire(p, rapid.IntRange(0, len(p.up)).Draw(t, "expired"), rapid.IntRange(0, len(p.up)).Draw(t, "expired in the copy"))
		case 3:
			w.rests(rapid.IntRange(1, 30).Draw(t, "minutes of rest"))
		}
	case 9:
		if w.committed {
			w.begin(p, rapid.Int64Range(1, 400).Draw(t, "open"))
		}
	case 10:
		w.end(p, rapid.Bool().Draw(t, "commit"))
	case 11:
		w.visit(w.groups[rapid.SampledFrom([]string{"billing", "audit"}).Draw(t, "group")])
	}
	w.leaveAfter(25_000)
	w.tick(rapid.Int64Range(1, 20_000).Draw(t, "ms"))
	w.keepUp()
}

// keepUp mirrors what has waited for a while: a healthy source connector leaves no record behind for a minute.
func (w *walk) keepUp() {
	for _, p := range w.parts {
		if p.open > 0 && w.now-p.opened > 25_000 {
			w.end(p, p.opened%2 == 0)
		}
		switch since, waits := w.behind[p]; {
		case len(p.down) == len(p.up):
			delete(w.behind, p)
		case !waits:
			w.behind[p] = w.now
		case w.now-since > 25_000:
			w.mirror(p, len(p.up), false)
			delete(w.behind, p)
		}
	}
}

// leaveAfter ends visits on the target: a member that stays is a fault (302).
func (w *walk) leaveAfter(ms int64) {
	for _, g := range w.groups {
		if g.members > 0 && g.id != w.stays && w.now-g.since > ms {
			g.members, g.state, g.since = 0, kafka.StateEmpty, w.now
		}
	}
}

// expired says that records of a copy are gone: a new group's coarse offset may then lie before the log start (309).
func (w *walk) expired() bool {
	return slices.ContainsFunc(w.parts, func(p *simPartition) bool { return p.lost > 0 })
}

// served says that every group has its offsets on the target.
func (w *walk) served() bool {
	for _, g := range w.groups {
		for _, p := range w.parts {
			if _, has := g.target[p.tp.Partition]; !has {
				return false
			}
		}
	}
	return true
}

// rests lets minutes go by in which nothing is produced.
func (w *walk) rests(minutes int) {
	for _, p := range w.parts {
		w.end(p, true)
		w.mirror(p, len(p.up), false)
	}
	w.leaveAfter(-1)
	for range minutes {
		w.tick(60_000)
	}
}

// short is what may happen between two requests of the collector.
func (w *walk) short() {
	if rapid.IntRange(0, 2).Draw(w.t, "between readings") == 0 {
		w.reading = true
		w.step()
		w.reading = false
	}
}

// settle brings a moving flow to rest: everything mirrored, every job run.
func (w *walk) settle() {
	w.leaveAfter(-1)
	for _, p := range w.parts {
		w.end(p, true)
		w.mirror(p, len(p.up), false)
	}
	for range 8 {
		w.tick(61_000)
	}
}

// faults lists what a report says beside remarks.
func faults(r *Report) []finding.Finding {
	var out []finding.Finding
	for _, f := range r.Findings {
		if f.Severity > finding.Info {
			out = append(out, f)
		}
	}
	return out
}

// TestHealthyFlow: whatever the moment of the reading, a healthy flow gives neither an error that a second look still shows nor
// a warning, told of the version or not.
func TestHealthyFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalk(t)
		var before *snapshot.Snapshot
		for i := range rapid.IntRange(1, 4).Draw(t, "looks") {
			for range rapid.IntRange(0, 60).Draw(t, "steps") {
				w.step()
			}
			untold := rapid.Bool().Draw(t, "untold")
			judge := func() *Report {
				w.leaveAfter(-1)
				s := w.collect(w.short)
				s.Earlier = before
				if untold {
					s.MM2Version = ""
				}
				r, _ := Run(s, Options{})
				before = s
				before.Earlier = nil
				return r
			}
			r := judge()
			if r.Summary.Errors > 0 { // an error is asked for again before it is believed, as diagnose does
				w.tick(1500)
				r = judge()
			}
			for _, f := range faults(r) {
				t.Fatalf("look %d of %s, %d s after the start: %v %v %+v: %s", i, w.version, (w.now-w.began)/1000, f.Code, f.Severity, f.Subject, f.Because)
			}
		}
	})
}

// injected are the faults, the code that names each, and what else may truly be said while it lasts.
var injected = []struct {
	name   string
	code   finding.Code
	also   []finding.Code
	inject func(*walk)
	// young: the fault shows only once the flow has moved on.
	moves bool
}{
	{name: "sync off", code: 301, inject: func(w *walk) {
		w.props += "a->b.sync.group.offsets.enabled = false\n"
		w.noSync = true
		for _, g := range w.groups {
			g.target, g.state = map[int32]int64{}, ""
		}
	}},
	{name: "member on the target", code: 302, moves: true, inject: func(w *walk) {
		g := w.groups["billing"]
		g.members, g.state, w.stays = 1, kafka.StateStable, g.id
	}},
	{name: "rewind", code: 303, also: []finding.Code{206}, inject: func(w *walk) {
		w.stopped = "billing"
		for i := range w.groups["billing"].at {
			w.groups["billing"].at[i] = w.kept(w.parts[i])
		}
	}},
	{name: "group left out", code: 203, inject: func(w *walk) {
		w.props += "a->b.groups = Billing, audit\n"
		w.groups["billing"].filter = true
		w.groups["billing"].target, w.groups["billing"].state = map[int32]int64{}, ""
		w.checkpoints = simLog{}
		w.startTask()
	}},
	{name: "loop of the checkpoint task dead", code: 207, also: []finding.Code{202, 214, 612}, moves: true, inject: func(w *walk) { w.noEmit = true }},
	{name: "sync job dead", code: 304, moves: true, inject: func(w *walk) { w.noSync = true }},
	{name: "offset beyond the end", code: 401, also: []finding.Code{303}, inject: func(w *walk) {
		w.stopped = "billing"
		g := w.groups["billing"]
		for _, p := range w.parts {
			g.target[p.tp.Partition] = p.downEnd + 100_000
		}
		g.state = kafka.StateEmpty
	}},
}

// TestInjectedFault: a fault gives its code, or a reason why it cannot be told yet; never another code.
func TestInjectedFault(t *testing.T) {
	for _, in := range injected {
		t.Run(in.name, func(t *testing.T) {
			found := 0
			rapid.Check(t, func(t *rapid.T) {
				w := newWalk(t)
				for range rapid.IntRange(20, 80).Draw(t, "steps") {
					w.step()
				}
				w.settle()
				in.inject(w)
				if in.moves {
					for range rapid.IntRange(0, 30).Draw(t, "steps after") {
						w.step()
					}
					w.settle()
				}
				w.leaveAfter(-1)
				before := w.collect(w.short)
				if rapid.Bool().Draw(t, "long between the looks") {
					w.settle()
				}
				w.leaveAfter(-1)
				s := w.collect(w.short)
				s.Earlier = before
				r, _ := Run(s, Options{})
				for _, f := range faults(r) {
					ok := f.Code == in.code
					for _, c := range in.also {
						ok = ok || f.Code == c
					}
					if !ok {
						t.Fatalf("%s: %v %v %+v: %s", w.version, f.Code, f.Severity, f.Subject, f.Because)
					}
					if f.Code == in.code {
						found++
					}
					for _, e := range f.Explains {
						if e.Code == in.code.String() {
							found++
						}
					}
				}
			})
			if !testing.Short() && found == 0 {
				t.Errorf("the fault was never found")
			}
		})
	}
}
