package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/bugs"
)

// bugRule says when an entry of the catalogue becomes a finding of its own. What is not listed has a code of its own that names
// the bug, harms no offset, or holds for nearly every flow of its versions, which a report cannot help.
type bugRule struct {
	id   string
	rows bool // judged for each group and partition
	// settings: its conditions are settings that somebody chose, so that it is told before it does damage.
	settings bool
	// remark: a limit of its versions that costs re-reading only; never more than an information.
	remark bool
	// carriers are codes whose findings are the effect: the bug is named there instead.
	carriers []finding.Code
	// explains are codes that only follow from the bug, where it does damage.
	explains []finding.Code
}

var bugRules = []bugRule{
	{id: "KAFKA-14545", explains: []finding.Code{202, 214, 304}},
	{id: "KAFKA-15607", carriers: []finding.Code{314}, explains: []finding.Code{304}},
	{id: "KAFKA-14401", carriers: []finding.Code{108}, explains: []finding.Code{304}},
	{id: "BEHAVIOUR-store-start-failure", carriers: []finding.Code{108, 612}, explains: []finding.Code{202, 214, 304}},
	{id: "KAFKA-14314"},
	{id: "KAFKA-13856"},
	{id: "KAFKA-17233"},
	{id: "KAFKA-15086", explains: []finding.Code{214}},
	{id: "KAFKA-15575"},
	{id: "KAFKA-14079", settings: true},
	{id: "KAFKA-15693", settings: true},
	{id: "KAFKA-17529", settings: true},
	{id: "KAFKA-17192", settings: true},
	{id: "KAFKA-15053", settings: true},
	{id: "KAFKA-15905", rows: true, carriers: []finding.Code{206, 214, 609}},
	{id: "KAFKA-14666", rows: true, carriers: []finding.Code{206, 214, 609}},
	{id: "KAFKA-12468", rows: true, carriers: []finding.Code{405, 401}},
	{id: "KAFKA-12635", rows: true, carriers: []finding.Code{403, 103, 401}},
	{id: "KAFKA-19794", rows: true, carriers: []finding.Code{316, 308}},
	{id: "KAFKA-15906", rows: true, remark: true},
	{id: "KAFKA-15144", rows: true, remark: true},
	{id: "KAFKA-15202", rows: true, remark: true},
}

// starts is how many starts of the checkpoint task within a day make the next one a matter of course.
const (
	starts = 3
	day    = 24 * 3_600_000
)

func knownBugChecks() []check {
	var out []check
	for _, r := range bugRules {
		b, ok := bugs.Lookup(r.id)
		if !ok {
			continue // a test compares the list with the catalogue
		}
		out = append(out, check{Code: 601, Grain: finding.OnFlow, Uses: bugKinds,
			Applies: func(_ *View, s subject) bool { return s.flow.mayShow(b) },
			Run:     func(v *View, s subject) *finding.Finding { return s.flow.bugFinding(r, b) }})
	}
	return out
}

// mayShow says that the flow's possible releases and those of the bug meet.
func (f *flowView) mayShow(b bugs.Bug) bool {
	rng := f.gens.rng
	for _, v := range mm2.Releases() {
		if rng.Contains(v) && f.gens.set.Has(v.Generation()) && b.Affected(v) {
			return true
		}
	}
	return false
}

// affected are the rows in which an entry ranks highest.
type affected struct {
	a    bugs.Assessment
	rows []groupPartition
}

// judge ranks an entry for the flow, or row by row; only the highest rank is kept.
func (f *flowView) judge(r bugRule, b bugs.Bug) affected {
	facts := f.bugFacts()
	if !r.rows {
		return affected{a: b.Assess(facts)}
	}
	var out affected
	for _, gp := range f.rows {
		if gp.part < 0 || gp.topic == "" || gp.beforeLogStart() {
			continue
		}
		a := b.Assess(gp.bugFacts(facts))
		switch {
		case a.Rank < bugs.Exposed || a.Rank < out.a.Rank, a.Rank == bugs.WillOnRestart && !gp.farBehind():
		case a.Rank > out.a.Rank:
			out = affected{a, []groupPartition{gp}}
		default:
			out.rows = append(out.rows, gp)
		}
	}
	return out
}

// beforeLogStart says that the group's next record is gone on the source: nothing can be translated, by any release.
func (gp groupPartition) beforeLogStart() bool {
	u, st := gp.sourceOffset().Get()
	p, pst := gp.sourcePartition().Get()
	return st == snapshot.Known && pst == snapshot.Known && u < p.Start.Or(0)
}

// bugFinding is strict: an error only where damage is seen, a warning where the next start does it and starts are frequent, or where
// settings call it up, and nothing for a version number alone.
func (f *flowView) bugFinding(r bugRule, b bugs.Bug) *finding.Finding {
	f.v.touch(finding.Generation)
	j := f.judge(r, b)
	var sev finding.Severity
	switch {
	case j.a.Rank == bugs.DoesDamageNow && r.remark:
		sev = finding.Info
	case j.a.Rank == bugs.DoesDamageNow && f.seenWithoutLog(r, b):
		sev = finding.Error
	case j.a.Rank == bugs.DoesDamageNow, // the log says so; what it does to offsets is told by the findings that it explains
		j.a.Rank == bugs.WillOnRestart && r.rows && f.startsWithinADay() >= starts, j.a.Rank >= bugs.Exposed && r.settings && !r.rows:
		sev = finding.Warning
	default:
		return nil
	}
	fd := &finding.Finding{ID: "MM2D-601/" + b.ID, Severity: sev, Bugs: []string{b.ID},
		Observed:    finding.Observed{{Name: "bug", Value: b.ID + ": " + b.Title}, {Name: "MirrorMaker 2", Value: f.gens.rng.String()}, {Name: "fixed in", Value: fixedWords(b)}, {Name: "rank", Value: j.a.Rank.String()}},
		Because:     j.a.Because,
		Consequence: b.Effect,
		Confirm:     []finding.Command{statusCommand(f)},
		Fixes:       []finding.Fix{bugFix(f, b)},
	}
	for _, gp := range j.rows[:min(len(j.rows), mostSubjects)] {
		fd.Subjects = append(fd.Subjects, gp.subject())
	}
	if len(j.rows) > 0 {
		gp := j.rows[0]
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "group-partitions", Value: len(j.rows)}, snapshot.Named{Name: "first", Value: fmt.Sprintf("%s %s-%d: %s", gp.group, gp.topic, gp.part, gp.numbers())})
		fd.Confirm = append(fd.Confirm, groupCommand(f.src, gp.group), syncsCommand(f))
	}
	if n := f.startsWithinADay(); j.a.Rank == bugs.WillOnRestart && n > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "starts of the checkpoint task within a day", Value: n})
	}
	if shown := f.shownInLog(b); shown != nil {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "log", Value: fmt.Sprintf("%s (%d times, last %s)", shown.Text, shown.Count, stamp(shown.Last))})
	}
	return fd
}

// seenWithoutLog says that offsets, records or states show the damage, not a line of the log alone.
func (f *flowView) seenWithoutLog(r bugRule, b bugs.Bug) bool {
	if r.rows {
		return true // signs of a row are never lines
	}
	facts := f.bugFacts()
	facts.Logs = nil
	return b.Assess(facts).Rank == bugs.DoesDamageNow
}

// fixedWords says where a bug is gone, line by line.
func fixedWords(b bugs.Bug) string {
	var out []string
	for _, v := range b.Fixes() {
		out = append(out, v.String())
	}
	if out == nil {
		return "no release"
	}
	words := strings.Join(out, ", ") + " and later lines"
	if not := b.NotFixedOn(); len(not) > 0 {
		words += "; never on " + strings.Join(not, ", ")
	}
	return words
}

func bugFix(f *flowView, b bugs.Bug) finding.Fix {
	fix := finding.Fix{Mode: f.fixMode(), Text: b.Workaround, WaitSeconds: int((f.discoveryStart() + f.emitBudget() + f.commitBudget()) / 1000)}
	if fixes := b.Fixes(); len(fixes) > 0 {
		fix.Text += " The lasting repair is an upgrade; the first releases with the fix are " + fixedWords(b) + "."
		fix.Steps = append(fix.Steps, upgradeStep(f, atLeast371(fixes[0])))
	}
	return fix
}

// atLeast371 is the release to recommend: 3.7.1 has every repair of translation (KAFKA-15905).
func atLeast371(v mm2.Version) mm2.Version {
	if v.Before(3, 7, 1) {
		return mm2.V(3, 7, 1)
	}
	return v
}

// numbers are the offsets of a row, for a reader.
func (gp groupPartition) numbers() string {
	var out []string
	if u, st := gp.sourceOffset().Get(); st == snapshot.Known {
		out = append(out, fmt.Sprintf("U %d", u))
	}
	if ps, st := gp.syncsOf().Get(); st == snapshot.Known {
		out = append(out, fmt.Sprintf("newest sync %d -> %d", ps.Newest.Up, ps.Newest.Down))
	}
	if c, st := gp.checkpoint().Get(); st == snapshot.Known {
		out = append(out, fmt.Sprintf("C %d -> %d", c.Up, c.Down))
	}
	if t, st := gp.targetOffset().Get(); st == snapshot.Known {
		out = append(out, fmt.Sprintf("T %d", t))
	}
	return strings.Join(out, ", ")
}

// apart is how far starts lie apart that count as two: setting a flow up takes several within minutes.
const apart = 10 * 60_000

// startsWithinADay is how often the checkpoint task went to RUNNING in the last 24 hours.
func (f *flowView) startsWithinADay() int {
	f.v.touch(finding.CheckpointStarts)
	n, last := 0, int64(0)
	for _, at := range f.CheckpointStarts.Or(nil) {
		if f.v.now-at < day && at-last >= apart {
			n++
			last = at
		}
	}
	return n
}

// farBehind says that the position is more than one offset.lag.max before the newest sync: a group that merely reads along has
// passed it before any start matters.
func (gp groupPartition) farBehind() bool {
	u, st := gp.sourceOffset().Get()
	ps, sst := gp.syncsOf().Get()
	lag, ok := gp.flow.whole(connSource, "offset.lag.max").Get()
	if !ok {
		lag = 100
	}
	return st == snapshot.Known && sst == snapshot.Known && ps.Newest.Up-u > lag+1
}

// shownInLog is the line of the log that proves the bug.
func (f *flowView) shownInLog(b bugs.Bug) *snapshot.LogSign {
	if s := f.signs(b.ID); len(s) > 0 {
		return &s[0]
	}
	return nil
}

// bugExplains says that a known bug is why the effect is there.
func bugExplains(cause, effect *raw) bool {
	i := slices.IndexFunc(bugRules, func(x bugRule) bool { return "MM2D-601/"+x.id == cause.f.ID })
	return i >= 0 && cause.f.Severity >= finding.Warning && slices.Contains(bugRules[i].explains, effect.f.Code)
}

// nameBugs names the bug on findings that are its effect, instead of a finding of its own beside them.
func (e *engine) nameBugs() {
	index := e.index()
	var kept []*raw
	for _, r := range e.raws {
		if r.f.Code != 601 || !e.carried(index, r) {
			kept = append(kept, r)
		}
	}
	e.raws = kept
}

func (e *engine) carried(index rawIndex, r *raw) bool {
	i := slices.IndexFunc(bugRules, func(x bugRule) bool { return "MM2D-601/"+x.id == r.f.ID })
	if i < 0 {
		return false
	}
	rule, found := bugRules[i], false
	var alone []finding.Subject
	for _, s := range r.f.Subjects {
		at, here := &finding.Finding{Flow: r.f.Flow, Subject: s}, false
		for _, code := range rule.carriers {
			for _, c := range index.covering(code, at) {
				here = nameBug(c.f, rule.id, r.f.Severity) || here
			}
		}
		if !here {
			alone = append(alone, s)
		}
	}
	if rule.rows {
		r.f.Subjects, r.f.SubjectCount = alone, len(alone)
		return len(alone) == 0
	}
	for _, code := range rule.carriers {
		for _, c := range index.byCode[code] {
			found = c.f.Flow == r.f.Flow && nameBug(c.f, rule.id, r.f.Severity) || found
		}
	}
	return found
}

// nameBug names a bug on a finding, which must weigh as much as the bug does.
func nameBug(f *finding.Finding, id string, least finding.Severity) bool {
	if f.Severity < least {
		return false
	}
	if !slices.Contains(f.Bugs, id) {
		f.Bugs = append(f.Bugs, id)
	}
	return true
}
