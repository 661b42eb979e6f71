package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// What a running MirrorMaker 2 makes of a value.
const (
	staysPut    = "holds"
	isRaised    = "raised"
	isOverwrite = "overwritten"
	notTold     = "unknown"
)

// holds tells what MirrorMaker 2 makes of a group's values: it commits the newest checkpoint of each partition to a group that is
// empty, at each pass, where the group has less (2.7.0 and later), and whatever the group has where it cannot describe it.
func (w *Wants) holds(g *wanted) Holds {
	on, known, why := false, true, ""
	if w.writer != nil {
		on, known, why = w.writer.SyncsGroups()
	}
	switch {
	case g.share:
		return Holds{Status: staysPut, Because: "MirrorMaker 2 does not write share groups"}
	case w.writer == nil:
		return Holds{Status: staysPut, Because: "no flow commits to groups on " + w.to.Alias}
	case known && !on:
		return Holds{Status: staysPut, Because: "MirrorMaker 2 does not commit group offsets there: " + why}
	}
	h := w.rowsHold(g)
	if h.Status == staysPut {
		return h
	}
	if !known {
		return Holds{Status: notTold, Because: "whether MirrorMaker 2 commits group offsets there is not known: " + why, First: w.stopFirst()}
	}
	works, told, state := w.writer.Works()
	switch {
	case told && !works && h.Status == isRaised:
		h.Status, h.Because = staysPut, "MirrorMaker 2 does not work now ("+state+"); when it does, it only raises what the group has"
	case told && !works:
		h.Because += "; MirrorMaker 2 does not work now (" + state + ") and does so when it is started"
	case !told:
		h.Because += "; " + state
	}
	return h
}

// rowsHold looks at each value beside MirrorMaker 2's checkpoint.
func (w *Wants) rowsHold(g *wanted) Holds {
	kind := kafka.GroupType(g.g.TargetType)
	blind, blindKnown := false, true
	if kind != "" {
		blind, blindKnown = w.writer.BlindTo(kind)
	}
	over, wrong, unread, higher, anew, some := "", "", "", "", false, false
	for _, x := range g.rows {
		r := &x.row
		if r.To == nil || r.Action != Set && r.Action != Right {
			continue
		}
		name := fmt.Sprintf("%s-%d", r.TargetTopic, r.Partition)
		c, st := x.checkpoint.Get()
		switch {
		case st == snapshot.Unknown:
			unread = fmt.Sprintf("MirrorMaker 2's checkpoint for %s is not known: %s", name, x.checkpoint.Why())
			continue
		}
		above := r.MM2 != nil && *r.MM2 > *r.To && !(x.reads(*r.MM2) && r.Basis != byFile)
		if above && !(st == snapshot.Known && c.Down > *r.To) {
			higher = fmt.Sprintf("MirrorMaker 2 translates the position in %s to %d, above the %d that is set: it commits that with its next checkpoint", name, *r.MM2, *r.To)
		}
		if st == snapshot.Absent {
			continue
		}
		some = true
		again := fmt.Sprintf("MirrorMaker 2's checkpoint for %s says %d and %d is set: it commits %d again within %d s while the group is empty", name, c.Down, *r.To, c.Down, w.writer.CommitSeconds())
		switch {
		case c.Down > *r.To && x.reads(c.Down) && r.Basis != byFile:
			// Nothing that was copied lies between the two: a consumer starts at the same record.
		case c.Down > *r.To:
			over = cmp.Or(over, again)
			if r.From != nil && c.Up <= r.From.Offset && x.beyond(c.Down) {
				wrong = cmp.Or(wrong, again+"; that number is wrong, and it outlives restarts and upgrades, since it stands in the checkpoints topic")
				anew = anew || above
			}
		case c.Down < *r.To && blind:
			over = cmp.Or(over, again+fmt.Sprintf(", also backwards, since this MirrorMaker 2 cannot describe a %s group", kind))
		case c.Down < *r.To && !blindKnown:
			unread = fmt.Sprintf("up to 3.7.2 MirrorMaker 2 writes its checkpoint over an empty group of type %s at each pass, also backwards (%s: %d), and the version is not known", kind, name, c.Down)
		}
	}
	mayCountOn, _ := w.writer.CountsOn()
	switch {
	case wrong != "" && anew && !w.recreated(g) && mayCountOn: // 3.4.0 and before would find the same number again
		h := Holds{Status: isOverwrite, Because: wrong + "; this release counts on linearly and would find it again", First: w.forgetFirst(g)}
		i := slices.IndexFunc(h.First, func(s finding.Step) bool { return s.Text == applyKept })
		h.First = slices.Insert(h.First, i+1, finding.Step{Text: "upgrade MirrorMaker 2 to 3.4.1 or later, which does not count on; without the upgrade leave it stopped until the consumers run on " + w.to.Alias})
		return h
	case wrong != "" && anew && !w.recreated(g):
		return Holds{Status: isOverwrite, Because: wrong + "; it translates the position to a number above the value besides", First: w.stopFirst()}
	case wrong != "":
		return Holds{Status: isOverwrite, Because: wrong, First: w.forgetFirst(g)}
	case over != "" || higher != "":
		return Holds{Status: isOverwrite, Because: cmp.Or(over, higher), First: w.stopFirst()}
	case unread != "":
		return Holds{Status: notTold, Because: unread, First: w.stopFirst()}
	case w.poisoned(g):
		return Holds{Status: isRaised, Because: "a negative offset of the group stops MirrorMaker 2's commits (up to 3.5.1), and it remembers it until it is restarted; then it raises what the group has, and never lowers it", First: append([]finding.Step{w.applyStep()}, w.writer.Restart()...)}
	case some:
		return Holds{Status: isRaised, Because: "MirrorMaker 2 raises it when its checkpoint passes it, and never lowers it while the group is empty; once the group has members it leaves it alone"}
	}
	return Holds{Status: staysPut, Because: "MirrorMaker 2 has no checkpoint for it"}
}

// reads says that a consumer that starts at an offset of the target skips nothing, by count of records.
func (x *want) reads(at int64) bool {
	for _, c := range x.also {
		if c.Offset == at {
			return c.Known && c.Skipped == 0
		}
	}
	return false
}

// beyond says that an offset of the target lies above the position that was found, whatever is written.
func (x *want) beyond(at int64) bool {
	r := &x.row
	if r.Bound == nil || x.reads(at) {
		return false
	}
	return at > r.Bound[1] || r.Basis != byFile && r.To != nil && at > *r.To && strings.HasPrefix(r.Verdict, match.Exact.String())
}

// poisoned: up to 3.5.1 a stored -1 throws in each pass, and the snapshot that holds it is never cleared (KAFKA-15607).
func (w *Wants) poisoned(g *wanted) bool {
	v := w.writer.Version()
	if g.target == nil || !v.IsZero() && !v.Before(3, 5, 2) {
		return false
	}
	for _, o := range g.target.Offsets.Or(nil) {
		if o.Offset < 0 {
			return true
		}
	}
	return false
}

func (w *Wants) applyStep() finding.Step {
	return finding.Step{Text: "apply the plan"}
}

// stopFirst: nothing of MirrorMaker 2's may write while the value is to stay.
func (w *Wants) stopFirst() []finding.Step {
	return append(w.writer.Stop(), w.applyStep(), finding.Step{Text: fmt.Sprintf("leave it stopped until the consumers run on %s: to a group that has members it commits nothing", w.to.Alias)})
}

// applyKept stands in place of "apply the plan" where the steps before take away what a plan is made from.
const applyKept = "apply the plan that was kept with --plan-out before these steps (within 60 minutes): what it was made from is deleted now"

// WantsKept says that the steps of a group take away what its plan is made from: the plan is to be kept in a file before them.
func (p *Plan) WantsKept() bool {
	return slices.ContainsFunc(p.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Holds.First, func(s finding.Step) bool { return s.Text == applyKept })
	})
}

// forgetFirst: a wrong checkpoint has to go while nothing holds it in memory, and with it syncs of a topic of before.
func (w *Wants) forgetFirst(g *wanted) []finding.Step {
	steps := []finding.Step{w.writer.Keep()}
	old := w.recreated(g)
	if old {
		steps = append(append(steps, w.writer.StopBoth()...), w.writer.ForgetCheckpoints(), w.writer.ForgetSyncs(), finding.Step{Text: applyKept})
		return append(steps, w.writer.StartBoth()...)
	}
	steps = append(append(steps, w.writer.Stop()...), w.writer.ForgetCheckpoints(), finding.Step{Text: applyKept})
	return append(steps, w.writer.Start()...)
}

// Checks are those of the report that a plan heeds.
var Checks = []finding.Code{106, 406}

// recreated says that the report found numbers of an earlier topic (406, 106) under one of the group's partitions.
func (w *Wants) recreated(g *wanted) bool {
	return slices.ContainsFunc(g.rows, func(x *want) bool { return w.madeAnew(x.row.Topic) })
}

// madeAnew says that of a topic, by its name on the flow's source.
func (w *Wants) madeAnew(topic string) bool {
	if w.report == nil {
		return false
	}
	for _, f := range w.report.Findings {
		if f.Code != 406 && !(f.Code == 106 && f.Slug == "target-recreated") {
			continue
		}
		for _, s := range append(f.Subjects, f.Subject) {
			if s.Topic == topic {
				return true
			}
		}
	}
	return false
}
