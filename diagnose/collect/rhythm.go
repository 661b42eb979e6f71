package collect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const (
	defaultLagMax = 100
	defaultFlush  = 60_000 // ms
	// unknownFlush stands for the longest that anybody would set offset.flush.interval.ms to, where it is not known.
	unknownFlush = 30 * 60_000
	hour         = 3_600_000
	mostRecent   = 24
	dense        = 8 // so many short distances within an hour
)

// rhythm watches the distances between syncs while they stream by.
type rhythm struct {
	out     snapshot.Rhythm
	commits gaps
	last    int64 // ms, newest sync of a commit
}

// recent are the last syncs of a partition that are equally far apart on both sides.
type recent struct {
	syncs  []snapshot.Sync
	shorts []int64 // ms, times of the last short distances
	gaps   bool    // the source was seen to have gaps: each asks for a sync, and one on the target can hide it
	marks  int     // how often the target alone was seen to have gaps: markers of transactions, foreign records
	newest snapshot.Sync
}

func newRhythm(f *snapshot.Flow) *rhythm {
	lag := settingOf(f, "offset.lag.max", defaultLagMax, -1, sourceEntries)
	r := &rhythm{out: snapshot.Rhythm{Step: 1 + defaultLagMax}}
	if lag >= 0 {
		r.out.Step, r.out.StepKnown = 1+lag, true
	}
	r.out.WaitedOver = 2*settingOf(f, "offset.flush.interval.ms", defaultFlush, unknownFlush, workerEntries) + 1000
	r.out.SourceStart = lastStart(f, "MirrorSourceConnector")
	return r
}

func sourceEntries(c snapshot.Connectors) []snapshot.ConfigEntry { return c.Source }
func workerEntries(c snapshot.Connectors) []snapshot.ConfigEntry { return c.Worker }

// settingOf reads a number: the running value, else the configured one, else def. Where the connector's or worker's settings are
// not known at all, it is unknown.
func settingOf(f *snapshot.Flow, key string, def, unknown int64, of func(snapshot.Connectors) []snapshot.ConfigEntry) int64 {
	found := false
	for _, c := range []snapshot.Fact[snapshot.Connectors]{f.Running, f.Configured} {
		cs, st := c.Get()
		if st != snapshot.Known || len(of(cs)) == 0 {
			continue
		}
		found = true
		for _, e := range of(cs) {
			if e.Key != key {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(e.Value), 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	if found {
		return def
	}
	return unknown
}

func (r *rhythm) see(s mm2.OffsetSync, n snapshot.Sync, near *recent) {
	o := &r.out
	before, first := near.newest, near.newest.Time == 0 && near.newest.Offset == 0 && len(near.syncs) == 0
	near.newest = n
	if !first {
		up, down := n.Up-before.Up, n.Down-before.Down
		if up <= 0 || down <= 0 {
			near.syncs, near.shorts, near.gaps, near.marks = near.syncs[:0], near.shorts[:0], false, 0
		} else if up != down {
			near.syncs = near.syncs[:0]
		}
		if down > up && up > 0 {
			near.marks++
		}
		near.gaps = near.gaps || up > down && down > 0
	}
	defer func() {
		if len(near.syncs) == mostRecent {
			near.syncs = slices.Delete(near.syncs, 0, 1)
		}
		near.syncs = append(near.syncs, n)
	}()
	if len(near.syncs) == 0 || near.gaps {
		return
	}
	p := near.syncs[len(near.syncs)-1]
	show := func(ss ...snapshot.Sync) *snapshot.SyncsShown {
		return &snapshot.SyncsShown{Topic: s.Topic, Partition: s.Partition, Syncs: ss}
	}
	if n.Down-p.Down == 1 {
		o.Ones++
	}
	switch d := n.Down - p.Down; {
	case d == o.Step:
		o.Steps++
		o.Exact++
		o.StepsLast, o.ShownStep = max(o.StepsLast, n.Time), show(p, n)
		if n.Time-p.Time > o.WaitedOver {
			o.Waited++
			o.WaitedLast, o.ShownWaited = max(o.WaitedLast, n.Time), show(p, n)
		}
	case d < o.Step:
		o.Short++
		o.ShortLast = max(o.ShortLast, n.Time)
		if o.SourceStart > 0 && p.Time > o.SourceStart && n.Time > p.Time {
			o.SinceStart++
			o.ShownCommit = show(p, n)
		}
		if i := slices.IndexFunc(near.syncs, func(a snapshot.Sync) bool { return n.Down-a.Down == o.Step }); i >= 0 {
			o.Steps++
			o.StepsLast, o.ShownStep = max(o.StepsLast, n.Time), show(near.syncs[i], n)
			if n.Time-near.syncs[i].Time < hour {
				o.Between++
				o.BetweenLast, o.ShownCommit = max(o.BetweenLast, n.Time), show(near.syncs[i], p, n)
			}
		} else {
			r.commits.add(n.Time - r.last)
			r.last = n.Time
		}
		if len(near.shorts) == dense {
			near.shorts = slices.Delete(near.shorts, 0, 1)
		}
		near.shorts = append(near.shorts, n.Time)
		// Where the target has gaps too, they would have to hide one on the source each time, and never fall short of it.
		if len(near.shorts) == dense && n.Time-near.shorts[0] < hour && (near.marks == 0 || near.marks >= 5) {
			o.Dense++
			o.DenseLast, o.ShownCommit = max(o.DenseLast, n.Time), show(near.syncs[len(near.syncs)-1], n)
		}
	}
}

func (r *rhythm) result() *snapshot.Rhythm {
	out := r.out
	out.CommitGap = r.commits.shortest()
	if out == (snapshot.Rhythm{Step: out.Step, StepKnown: out.StepKnown, WaitedOver: out.WaitedOver, SourceStart: out.SourceStart}) {
		return nil
	}
	return &out
}

// gaps counts times between records, rounded to seconds; only short ones are of interest.
type gaps map[int64]int

const mostGaps = 512

func (g *gaps) add(ms int64) {
	s := (ms + 500) / 1000
	if s < 1 || s > 3600 {
		return
	}
	if *g == nil {
		*g = gaps{}
	}
	if _, there := (*g)[s]; there || len(*g) < mostGaps {
		(*g)[s]++
	}
}

// shortest is the shortest that was seen at least three times, ms; 0 without.
func (g gaps) shortest() int64 {
	var out int64
	for s, n := range g {
		if n >= 3 && (out == 0 || s < out) {
			out = s
		}
	}
	return out * 1000
}
