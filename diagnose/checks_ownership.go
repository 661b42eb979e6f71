package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const (
	eligibility = finding.Settings | finding.CheckpointsOf | finding.AssignedTo | finding.TargetTopic
	bothGroups  = finding.TargetGroup | finding.SourceGroup
)

// ownershipChecks are about who writes a group on the target: consumers, another flow, the opposite flow, a group of another type.
var ownershipChecks = []check{
	{Code: 305, Grain: finding.OnGroup, Needs: finding.TargetGroup, Uses: eligibility | finding.SourceGroup, Applies: anyEligible, Gap: typeUnread, Run: checkTypeConflict},
	{Code: 305, Grain: finding.OnFlow, Needs: finding.SourceGroups, Uses: finding.Settings | finding.OtherGroups, Applies: hasOtherTypes, Gap: targetGroupsUnread, Run: checkOtherTypes},
	{Code: 308, Grain: finding.OnGroup, Needs: bothGroups | finding.Settings | finding.EarlierLook, Earlier: bothGroups, Uses: eligibility | finding.TargetOffset | finding.SourceOffset | finding.SyncsOf | finding.Generation, Applies: maybeLiveOnBoth, Run: checkLiveOnBoth},
	{Code: 310, Grain: finding.OnGroup, Uses: eligibility | bothGroups | finding.OtherFlows | finding.SourceOffset | finding.TargetOffset, Applies: translatedBothWays, Gap: oppositeUnread, Run: checkBothFlows},
	{Code: 312, Grain: finding.OnGroupPartition, Needs: finding.CheckpointsOf | finding.Settings, Uses: eligibility | finding.OtherFlows | finding.TargetOffset, Applies: translatedTwice, Gap: rivalUnread, Run: checkTwoWriters},
	{Code: 313, Grain: finding.OnGroup, Needs: bothGroups | finding.SourceGroups | finding.OtherGroups, Uses: eligibility | finding.SourceOffset, Applies: maybeRenamed, Gap: namesUnread, Run: checkRenamed},
	{Code: 316, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup, Earlier: finding.TargetOffset, Uses: eligibility | finding.SourceGroup | finding.SourceOffset | finding.EarlierLook | finding.Generation, Applies: overwritten, Gap: blindnessUnknown, Run: checkRewound},
}

// The rest of this file is about other flows (310, 312) and other names (313). Types are in checks_types.go, a group that
// lives on both sides in checks_both.go.

// translatedRow is a row of a group that a flow has written a checkpoint for and that has an offset on both sides.
func (f *flowView) translatedRow(group string) (groupPartition, bool) {
	for _, gp := range f.rowsOfGroup(group) {
		if !gp.checkpoint().Known() || gp.sourceOffset().Or(-1) < 0 || gp.targetOffset().Or(-1) < 0 {
			continue
		}
		if e, st := gp.eligible().Get(); st == snapshot.Known && e {
			return gp, true
		}
	}
	return groupPartition{}, false
}

// translatedBothWays: both flows have checkpoints of the group and offsets on either side of them. A group that only follows
// has none on the standby's own topics, so with the default policy two flows for every group are no fault by themselves.
func translatedBothWays(_ *View, s subject) bool {
	o := s.flow.opposite()
	if o == nil {
		return false
	}
	_, here := s.flow.translatedRow(s.group)
	_, there := o.translatedRow(s.group)
	return here && there
}

func oppositeUnread(_ *View, s subject) *snapshot.Gap {
	for _, x := range []*flowView{s.flow, s.flow.opposite()} {
		if x.commits(s.group) == dunno {
			return orNotAsked(x.settings.gap)
		}
	}
	return nil
}

// commits says that a flow commits the offsets of a group: by its setting, else by an offset that is what its checkpoint says.
func (f *flowView) commits(group string) answer {
	if on, _, ok := f.flag(connCheckpoint, keySyncEnabled); ok {
		return answerOf(on)
	}
	for _, gp := range f.rowsOfGroup(group) {
		c, st := gp.checkpoint().Get()
		if t, tst := gp.targetOffset().Get(); st == snapshot.Known && tst == snapshot.Known && t == c.Down {
			return yes
		}
	}
	return dunno
}

// checkBothFlows speaks in the flow that writes to the side where the group runs.
func checkBothFlows(v *View, s subject) *finding.Finding {
	f, o := s.flow, s.flow.opposite()
	if f.commits(s.group) != yes || o.commits(s.group) != yes {
		return nil
	}
	v.touch(finding.TargetGroup)
	here, there := activeIn(f.dst, s.group), activeIn(o.dst, s.group)
	if here != there && !here || here == there && f.Name() > o.Name() {
		return nil
	}
	a, _ := f.translatedRow(s.group)
	b, _ := o.translatedRow(s.group)
	fd := &finding.Finding{
		Subject: finding.Subject{Group: s.group},
		Observed: finding.Observed{{Name: f.Name(), Value: a.shownPath()}, {Name: o.Name(), Value: b.shownPath()},
			{Name: "state on " + f.Target, Value: stateWord(f.dst, s.group)}, {Name: "state on " + o.Target, Value: stateWord(o.dst, s.group)}},
		Because:     fmt.Sprintf("%s and %s both commit offsets of the group: it has checkpoints of both flows and offsets on both clusters, and MirrorMaker 2 does not know which side is ahead", f.Name(), o.Name()),
		Consequence: fmt.Sprintf("Whenever the group is empty for a moment on the side where it runs, the flow into that side may commit an older translation over its offsets: %s writes on %s.", f.Name(), f.Target),
		Bugs:        []string{"KAFKA-18995", "KAFKA-19794"},
		Confirm:     []finding.Command{groupCommand(f.dst, s.group), groupCommand(o.dst, s.group), checkpointsCommand(f), checkpointsCommand(o)},
		Fixes:       []finding.Fix{excludeFix(f, []string{s.group}, activeSideText(f))},
	}
	if here && !there {
		fd.Because = fmt.Sprintf("the group runs on %s, and %s commits its offsets there too, beside %s the other way: it has checkpoints of both flows and offsets on both clusters, and MirrorMaker 2 does not know which side is ahead", f.Target, f.Name(), o.Name())
	}
	return fd
}

func activeSideText(f *flowView) string {
	return fmt.Sprintf("Let only the flow from the active to the standby side commit. If the group runs on %s, leave it out of %s until it fails back", f.Target, f.Name())
}

// shownPath says what a flow makes of a row: where it stands, and what was written for it.
func (gp groupPartition) shownPath() string {
	c := gp.checkpoint().Or(snapshot.Checkpoint{})
	return fmt.Sprintf("%s-%d at %d, checkpoint %d -> %d, %s-%d at %d", gp.topic, gp.part, gp.sourceOffset().Or(-1), c.Up, c.Down, gp.remote, gp.part, gp.targetOffset().Or(-1))
}

func activeIn(c *clusterView, group string) bool {
	g, st := groupOn(c, group).Get()
	return st == snapshot.Known && g.State.Or("").Active()
}

func stateWord(c *clusterView, group string) string {
	g := groupOn(c, group)
	switch g.State() {
	case snapshot.Absent:
		return "not there"
	case snapshot.Unknown:
		return "not known"
	}
	v, _ := g.Get()
	return string(v.State.Or(""))
}

// excludeFix leaves groups out of one flow; the value replaces the default, so what was excluded stays in it. Where that is not
// known, the default is taken.
func excludeFix(f *flowView, groups []string, text string) finding.Fix {
	vals := []string{}
	if e, st := f.setting(connCheckpoint, keyGroupsExclude).Get(); st != snapshot.Known {
		vals = append(vals, mm2.DefaultGroupsExclude)
		text += " (keep what groups.exclude holds already)"
	} else if e.Value != "" {
		vals = append(vals, e.Value)
	}
	for _, g := range groups {
		vals = append(vals, regexQuote(g))
	}
	return propertyFix(f, text+", then restart MirrorMaker 2.", keyGroupsExclude, strings.Join(vals, ", "), f.discoveryStart()+f.emitBudget()+f.commitBudget())
}

// excludeAll makes one repair of those of several groups.
func excludeAll(f *flowView, gps []groupPartition, text string) finding.Fix {
	var ids []string
	for _, gp := range gps {
		ids = append(ids, gp.group)
	}
	slices.Sort(ids)
	return excludeFix(f, slices.Compact(ids), text)
}

// rival is another flow into the same target that has a checkpoint for the very same group and partition there.
func (gp groupPartition) rival() (*flowView, *snapshot.Checkpoint) {
	gp.flow.v.touch(finding.CheckpointsOf)
	for _, o := range gp.flow.others() {
		if o.Target == gp.flow.Target && o.Source != gp.flow.Source {
			if c := o.checkpoints[checkpointKey{gp.group, gp.remote, gp.part}]; c != nil {
				return o, c
			}
		}
	}
	return nil, nil
}

func translatedTwice(v *View, s subject) bool {
	o, _ := s.gp.rival()
	return o != nil && eligibleRow(v, s)
}

func rivalUnread(_ *View, s subject) *snapshot.Gap {
	o, _ := s.gp.rival()
	return o.settings.gap
}

// checkTwoWriters speaks in the flow that is overruled: MirrorMaker 2 only ever raises T, so the higher number stays.
func checkTwoWriters(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	c, st := gp.checkpoint().Get()
	o, oc := gp.rival()
	if st != snapshot.Known || c.Down > oc.Down || c.Down == oc.Down && f.Name() > o.Name() {
		return nil
	}
	for _, x := range []*flowView{f, o} {
		if on, _, ok := x.flag(connCheckpoint, keySyncEnabled); !ok || !on {
			return nil
		}
		if d := x.groupFilter(gp.group); d.known && !d.passes {
			return nil // its checkpoint is from before it was left out
		}
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: f.Name(), Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)}, {Name: o.Name(), Value: fmt.Sprintf("%d -> %d", oc.Up, oc.Down)}},
		Because:     fmt.Sprintf("%s and %s both have checkpoints for the group on %s-%d and both commit them: %d and %d", f.Name(), o.Name(), gp.remote, gp.part, c.Down, oc.Down),
		Consequence: fmt.Sprintf("The higher one stays: it is the position of the group on %s, of which the group on %s knows nothing, so consumers that fail over skip records, or read again.", o.Source, f.Source),
		Confirm:     []finding.Command{checkpointsCommand(f), checkpointsCommand(o), groupCommand(f.dst, gp.group)},
		Fixes:       []finding.Fix{twoWritersFix(f, []groupPartition{gp}, "")},
	}
	if t, tst := gp.targetOffset().Get(); tst == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "T", Value: t})
	}
	return fd
}

func twoWritersFix(f *flowView, gps []groupPartition, _ string) finding.Fix {
	o, _ := gps[0].rival()
	return excludeAll(o, gps, fmt.Sprintf("Let one flow alone commit the group on %s. If its consumers run on %s, leave it out of %s (else out of %s), or give the two applications group ids of their own", f.Target, f.Source, o.Name(), f.Name()))
}

// overruled says that T is what the other flow wrote.
func overruled(_, effect *raw) bool {
	gp := effect.s.gp
	_, c := gp.rival()
	t, st := gp.targetOffset().Get()
	return c != nil && st == snapshot.Known && t == c.Down
}

// maybeRenamed narrows to groups without members anywhere.
func maybeRenamed(v *View, s subject) bool {
	return anyEligible(v, s) && idle(groupOn(s.flow.src, s.group)) && idle(groupOn(s.flow.dst, s.group)) && s.flow.dst.listed.Known()
}

func idle(g snapshot.Fact[snapshot.Group]) bool {
	v, st := g.Get()
	return st != snapshot.Known || !v.State.Or("").Active()
}

// namesUnread: a group of the target that may be the same application, and of which something decisive was not read.
func namesUnread(v *View, s subject) *snapshot.Gap {
	f := s.flow
	v.touch(finding.OtherGroups)
	for _, g := range f.dst.listed.Or(nil) {
		if f.src.groups[g.ID] != nil || foreignID(g.ID) {
			continue
		}
		switch {
		case g.State.Unknown() && g.State.Why() != nil:
			return g.State.Why()
		case g.State.Or("").Active() && g.Offsets.Unknown() && g.Offsets.Why() != nil:
			return g.Offsets.Why()
		case g.State.Or("").Active() && !f.src.GroupsComplete.Or(false):
			return f.src.GroupsComplete.Why()
		}
	}
	return nil
}

// foreignID are groups that are no applications of anybody: tools and Connect workers.
func foreignID(id string) bool {
	return strings.HasPrefix(id, "console-consumer-") || strings.HasPrefix(id, "connect-") || strings.HasPrefix(id, "__") || strings.HasSuffix(id, "-mm2")
}

// checkRenamed: exactly one group is alive on the target, unknown on the source, with offsets on the copies of exactly the
// topics of this one, and this one is the only idle group of the source to which that applies. It is a remark: two
// applications may read the same topics.
func checkRenamed(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.OtherGroups | finding.SourceGroups)
	mine := f.copiesOf(s.group)
	if len(mine) == 0 || !f.src.GroupsComplete.Or(false) {
		return nil
	}
	var found []*snapshot.Group
	for id, g := range f.dst.groups {
		if id == s.group || f.src.groups[id] != nil || foreignID(id) || !g.State.Or("").Active() || g.ProtocolType != "" && g.ProtocolType != "consumer" {
			continue
		}
		if t := g.Type.Or(""); t != kafka.TypeShare && slices.Equal(committedTopics(g), mine) {
			found = append(found, g)
		}
	}
	if len(found) != 1 || !f.onlyIdleOn(s.group, mine) {
		return nil
	}
	other := found[0].ID
	return &finding.Finding{
		Subject:     finding.Subject{Group: s.group},
		Observed:    finding.Observed{{Name: "group on " + f.Target, Value: other}, {Name: "topics", Value: list(mine, 5)}, {Name: "members there", Value: len(found[0].Members.Or(nil))}},
		Because:     fmt.Sprintf("the group has no members on either cluster, while %s, which does not exist on %s, is alive on %s and has offsets on the copies of the same topics: it may be the same application under another id", other, f.Source, f.Target),
		Consequence: fmt.Sprintf("If it is, the translated offsets of %s are not used by anybody: %s started by auto.offset.reset.", s.group, other),
		Confirm:     []finding.Command{groupCommand(f.dst, other), groupCommand(f.src, s.group)},
	}
}

// copiesOf are the copies of a group's topics, sorted; nil where one of them does not exist.
func (f *flowView) copiesOf(group string) []string {
	var out []string
	for _, gp := range f.rowsOfGroup(group) {
		if !gp.targetTopic().Known() || gp.remote == gp.topic {
			return nil // under one name on both sides it says nothing that a group reads it
		}
		out = append(out, gp.remote)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func committedTopics(g *snapshot.Group) []string {
	var out []string
	for _, o := range g.Offsets.Or(nil) {
		if o.Offset >= 0 {
			out = append(out, o.Topic)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// onlyIdleOn says that no other idle group of the source reads exactly these topics.
func (f *flowView) onlyIdleOn(group string, copies []string) bool {
	seen := map[string]bool{group: true}
	for _, gp := range f.rows {
		if gp.part < 0 || seen[gp.group] {
			continue
		}
		seen[gp.group] = true
		if idle(groupOn(f.src, gp.group)) && slices.Equal(f.copiesOf(gp.group), copies) {
			return false
		}
	}
	return true
}
