package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// generations is which MirrorMaker 2 may be at work in a flow: how it translates, how it writes offset syncs, and why.
type generations struct {
	set       mm2.Generations
	emissions mm2.Emissions
	rng       mm2.Range // of the releases that are possible
	claimed   string
	version   mm2.Version // zero where only a range is known
	basis     string
	evidence  []string // what the records show, in words
	records   inferred
}

// inferGenerations takes the claimed version, else the one that the Connect worker tells, else the one MirrorMaker 2 wrote into
// its status topic (from 4.1, KIP-891), else that of its log, else what the records show. Where the first of these leaves
// several releases, as a vendor's build does, the records narrow it.
func inferGenerations(f *flowView) generations {
	g := generations{records: infer(f)}
	f.gens.records = g.records
	g.evidence = append(g.records.evidence, f.otherTellers()...)
	if l, st := f.Log.Get(); st == snapshot.Known && l.Version != "" && f.oldLog(l) {
		g.evidence = append(g.evidence, fmt.Sprintf("MirrorMaker 2's log says version %s, but ends at %s, before what runs now was started: not counted", l.Version, stamp(l.Last)))
	}
	build, basis, told := f.toldVersion()
	if f.v.snap.MM2Version != "" && told {
		g.claimed = f.v.snap.MM2Version
	}
	var candidates []mm2.Version
	switch v, exact := build.Exact(); {
	case told && exact:
		g.version, g.basis, g.rng = v, basis, build.Range
		g.set, g.emissions = mm2.SetOf(v.Generation()), mm2.EmissionsOf(v.Emission())
		return g
	case told:
		g.basis = fmt.Sprintf("%s: %s, so %v", basis, build.Why, build.Range)
		candidates = build.Range.Releases()
	default:
		candidates = mm2.Releases()
	}
	possible := slices.DeleteFunc(slices.Clone(candidates), func(v mm2.Version) bool { return !g.records.fits(v) })
	switch {
	case len(possible) == 0: // what was told and what the records show exclude each other: 603 tells
		possible = candidates
	case len(possible) < len(candidates) && told:
		g.basis += "; the records narrow it: " + strings.Join(g.evidence, "; ")
	case len(possible) < len(candidates):
		g.basis = strings.Join(g.evidence, "; ")
	case !told:
		g.basis = "nothing told the version; --mm2-version does"
	}
	for _, v := range possible {
		g.set |= mm2.SetOf(v.Generation())
		g.emissions |= mm2.EmissionsOf(v.Emission())
	}
	g.rng = mm2.Range{From: possible[0], To: possible[len(possible)-1]}
	if all := mm2.Releases(); !told && g.rng.To == all[len(all)-1] {
		g.rng.To = mm2.Version{} // and what comes after
	}
	if !told && g.rng.From == mm2.Releases()[0] {
		g.rng.From = mm2.Version{}
	}
	return g
}

// toldVersion is the build that somebody names, and who does, in the order in which they are believed.
func (f *flowView) toldVersion() (b mm2.Build, basis string, ok bool) {
	for _, t := range f.told() {
		if b, err := mm2.ParseBuild(t.text); err == nil {
			return b, t.who, true
		}
	}
	return mm2.Build{}, "", false
}

// otherTellers mentions who names another version than the one that is believed; a log may be of another time.
func (f *flowView) otherTellers() []string {
	var out []string
	names := f.told()
	for i := 1; i < len(names); i++ {
		believed, err := mm2.ParseBuild(names[0].text)
		other, also := mm2.ParseBuild(names[i].text)
		if err == nil && also == nil && !slices.ContainsFunc(other.Range.Releases(), believed.Range.Contains) {
			out = append(out, fmt.Sprintf("%s, which is not what %s tells (%s)", names[i].who, strings.SplitN(names[0].who, " says version", 2)[0], names[0].text))
		}
	}
	return out
}

// versionTold is a version that somebody names, and who.
type versionTold struct{ text, who string }

func (f *flowView) told() []versionTold {
	var out []versionTold
	if s := f.v.snap.MM2Version; s != "" {
		out = append(out, versionTold{s, f.claimedBy()})
	}
	if s := f.WorkerVersion; s != "" {
		out = append(out, versionTold{s, "the Connect worker at " + f.ConnectURL + " says version " + s})
	}
	for _, t := range f.Tasks.Or(nil) {
		if t.Version != "" {
			out = append(out, versionTold{t.Version, fmt.Sprintf("%s says version %s in mm2-status.%s.internal", t.Connector, t.Version, f.Source)})
			break
		}
	}
	if l, st := f.Log.Get(); st == snapshot.Known && l.Version != "" && !f.oldLog(l) {
		who := "MirrorMaker 2's log says version " + l.Version
		if l.Last > 0 {
			who += ", last line at " + stamp(l.Last)
		}
		out = append(out, versionTold{l.Version, who})
	}
	return out
}

// oldLog says that the log ends before MirrorMaker 2 was last started, so that its version may be of the one before an upgrade.
// Where the start is not known, records that were written later and exclude that version show it.
func (f *flowView) oldLog(l snapshot.Log) bool {
	if l.Last == 0 {
		return false
	}
	a, ok := f.checkpointTaskStart()
	b, also := f.sourceTaskStart()
	if ok || also {
		return l.Last < max(a, b)
	}
	r := &f.gens.records
	build, err := mm2.ParseBuild(l.Version)
	if err != nil || slices.ContainsFunc(append(build.Range.Releases(), build.Range.From), r.fits) {
		return false
	}
	for _, p := range []*proof{r.old, r.young, r.commits, r.history} {
		if p != nil && p.at > l.Last {
			return true
		}
	}
	return false
}

// fits says by which rule a checkpoint follows from the syncs that are kept: counted on from a sync, or one past it. Both or
// neither decide nothing.
func fits(ps *snapshot.PartitionSyncs, c *snapshot.Checkpoint) (linear, plusOne bool) {
	try := func(s snapshot.Sync) {
		d := c.Up - s.Up
		if d < 0 {
			return
		}
		if c.Down == s.Down+d {
			linear = true
			plusOne = plusOne || d <= 1 // of the very record, or of the one before: both rules give the same
		}
		if d > 0 && c.Down == s.Down+1 {
			plusOne = true
		}
	}
	for _, r := range ps.TwoPointer {
		try(r.Sync)
	}
	for _, r := range ps.Greedy {
		try(r.Sync)
	}
	try(ps.Newest)
	try(ps.Oldest)
	return linear, plusOne
}
