package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// The checks 305 and 316: what the type of a group on the target does to MirrorMaker 2's commits.

// typeOf is a group's type; brokers before 3.8 do not tell and know no other than classic. ok is false where it was not read.
func typeOf(g *snapshot.Group) (t kafka.GroupType, ok bool) {
	if v, st := g.Type.Get(); st == snapshot.Known && v != "" {
		return v, true
	}
	return kafka.TypeClassic, g.Type.Why() == nil
}

// typeUnread: the group is on the target, and a type that decides is not known. A group of the source that has committed
// offsets is no share group, so its type matters against a streams group alone.
func typeUnread(v *View, s subject) *snapshot.Gap {
	v.touch(finding.TargetGroup | finding.SourceGroup)
	b, st := groupOn(s.flow.dst, s.group).Get()
	if st != snapshot.Known {
		return nil
	}
	dst, ok := typeOf(&b)
	if !ok {
		return b.Type.Why()
	}
	if a := s.flow.src.groups[s.group]; a != nil && dst == kafka.TypeStreams {
		if _, ok := typeOf(a); !ok {
			return a.Type.Why()
		}
	}
	return nil
}

// incompatible says that consumers of one type cannot take over a group of the other: share groups convert to nothing
// (KIP-932), an empty consumer group (KIP-848) not to streams (KIP-1071) nor back; classic and consumer convert when empty, and
// so do classic and streams from 4.2 on.
func incompatible(src, dst kafka.GroupType, targetVersion string) bool {
	pair := func(a, b kafka.GroupType) bool { return src == a && dst == b || src == b && dst == a }
	switch {
	case src == dst:
		return false
	case src == kafka.TypeShare || dst == kafka.TypeShare:
		return true
	case pair(kafka.TypeConsumer, kafka.TypeStreams):
		return true
	}
	return src == kafka.TypeStreams && strings.HasPrefix(targetVersion, "4.1")
}

func checkTypeConflict(_ *View, s subject) *finding.Finding {
	f := s.flow
	f.v.touch(finding.SourceGroup)
	a := f.src.groups[s.group]
	b, bst := groupOn(f.dst, s.group).Get()
	if a == nil || bst != snapshot.Known {
		return nil
	}
	src, _ := typeOf(a)
	dst, _ := typeOf(&b)
	if !incompatible(src, dst, f.dst.Version.Or("")) {
		return nil
	}
	fd := typeConflict(f, s.group, src, dst, b.State.Or(""))
	if on, _, ok := f.flag(connCheckpoint, keySyncEnabled); ok && !on {
		fd.Severity = finding.Warning
		return fd
	}
	if dst == kafka.TypeShare {
		fd.Because += "; the broker refuses MirrorMaker 2's commit at each pass (GROUP_ID_NOT_FOUND)"
	}
	return fd
}

func typeConflict(f *flowView, group string, src, dst kafka.GroupType, state kafka.GroupState) *finding.Finding {
	fd := &finding.Finding{
		Subject:     finding.Subject{Group: group},
		Observed:    finding.Observed{{Name: "type on " + f.Source, Value: string(src)}, {Name: "type on " + f.Target, Value: string(dst)}, {Name: "state on " + f.Target, Value: string(state)}},
		Because:     fmt.Sprintf("group %s is a %s group on %s and a %s group on %s, and the one never becomes the other", group, src, f.Source, dst, f.Target),
		Consequence: fmt.Sprintf("The application cannot join the group on %s (GROUP_ID_NOT_FOUND or INCONSISTENT_GROUP_PROTOCOL), and its translated positions are not used there.", f.Target),
		Confirm: []finding.Command{{Cluster: f.Target, Command: "kafka-groups.sh --bootstrap-server " + bootstrapOf(f.dst) + " --list", Shows: "the type of " + group},
			{Cluster: f.Source, Command: "kafka-groups.sh --bootstrap-server " + bootstrapOf(f.src) + " --list", Shows: "the type of " + group}},
	}
	tool := map[kafka.GroupType]string{kafka.TypeShare: "kafka-share-groups.sh", kafka.TypeStreams: "kafka-streams-groups.sh"}[dst]
	fd.Fixes = []finding.Fix{{Mode: "kafka", WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000),
		Text: fmt.Sprintf("If the group on %s is another application, give one of the two another id. If it is a left-over of this one, stop its members and delete it there; MirrorMaker 2 then makes the group anew.", f.Target),
		Steps: []finding.Step{
			{Text: "stop the consumers of the group on " + f.Target + " and keep them stopped until the next step is done", Stops: []string{"consumers of " + group + " on " + f.Target}, Undo: "start them again"},
			{Text: "delete the group with its positions on " + f.Target, Destructive: true, Undo: "none: its positions there are gone",
				Command: cmp.Or(tool, "kafka-consumer-groups.sh") + " --bootstrap-server " + bootstrapOf(f.dst) + " --delete --group " + finding.Quote(group)}}}}
	return fd
}

func invisible(g *snapshot.Group) bool {
	t := g.Type.Or("")
	return t == kafka.TypeShare || t == kafka.TypeStreams
}

// hasOtherTypes: there are groups on the source that MirrorMaker 2 does not see (219) and that the filters would admit.
func hasOtherTypes(_ *View, s subject) bool { return len(s.flow.invisibleGroups()) > 0 }

func (f *flowView) invisibleGroups() []*snapshot.Group {
	f.v.touch(finding.SourceGroups)
	var out []*snapshot.Group
	gs := f.src.listed.Or(nil)
	for i := range gs {
		if invisible(&gs[i]) && f.inScope(gs[i].ID) {
			if d := f.groupFilter(gs[i].ID); d.known && d.passes {
				out = append(out, &gs[i])
			}
		}
	}
	return out
}

func targetGroupsUnread(v *View, s subject) *snapshot.Gap {
	v.touch(finding.OtherGroups)
	f := s.flow
	if f.dst.listed.Unknown() {
		return cmp.Or(f.dst.listed.Why(), &snapshot.Gap{Code: "not-asked", Why: "not asked"})
	}
	for _, g := range f.invisibleGroups() {
		if on := f.dst.groups[g.ID]; on != nil && on.Type.Unknown() {
			return on.Type.Why()
		}
	}
	return nil
}

// checkOtherTypes: MirrorMaker 2 has nothing to do with these groups; the application that moves has.
func checkOtherTypes(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.OtherGroups)
	var fd *finding.Finding
	var ids []string
	for _, g := range f.invisibleGroups() {
		on, st := groupOn(f.dst, g.ID).Get()
		if st != snapshot.Known {
			continue
		}
		src, _ := typeOf(g)
		dst, _ := typeOf(&on)
		if incompatible(src, dst, f.dst.Version.Or("")) {
			if fd == nil {
				fd = typeConflict(f, g.ID, src, dst, on.State.Or(""))
				fd.Severity = finding.Warning
				fd.Fixes[0].Text = strings.ReplaceAll(fd.Fixes[0].Text, "; MirrorMaker 2 then makes the group anew", "")
			}
			ids = append(ids, g.ID)
		}
	}
	if len(ids) > 1 {
		slices.Sort(ids)
		fd.Subjects = groupSubjects(ids)
		fd.Because += fmt.Sprintf("; the same goes for %s", list(slices.DeleteFunc(ids, func(id string) bool { return id == fd.Subject.Group }), 5))
	}
	return fd
}

// blindTo says that this MirrorMaker 2 cannot describe groups of a type, so that it has nothing to compare with while such a
// group is empty and commits all its checkpoints at each pass: streams groups in every version, KIP-848 groups before 3.8.0.
func (f *flowView) blindTo(t kafka.GroupType) answer {
	f.v.touch(finding.Generation)
	switch {
	case t == kafka.TypeStreams:
		return yes
	case t != kafka.TypeConsumer:
		return no
	case !f.gens.version.IsZero():
		return answerOf(f.gens.version.Before(3, 8, 0))
	case !f.gens.set.Has(5): // 3.7.1 and 3.7.2 are of the same generation as 3.8.0
		return yes
	}
	return dunno
}

// overwritten narrows to rows of an empty group of a type that some MirrorMaker 2 is blind to, where T is, or was, above the
// checkpoint.
func overwritten(v *View, s subject) bool {
	gp := s.gp
	if !eligibleRow(v, s) {
		return false
	}
	g, st := gp.targetGroup().Get()
	if st != snapshot.Known || g.State.Or("") != kafka.StateEmpty {
		return false
	}
	if t, ok := typeOf(&g); ok && s.flow.blindTo(t) == no {
		return false
	}
	c, cst := gp.checkpoint().Get()
	t, tst := gp.targetOffset().Get()
	if cst != snapshot.Known || tst != snapshot.Known {
		return cst != snapshot.Absent && tst != snapshot.Absent
	}
	_, fell := gp.fellTo(c, t)
	e, ok := gp.earlier()
	return t > c.Down || fell || ok && t == c.Down && e.targetOffset().Unknown()
}

// fellTo says that T was higher in the look before and is what the checkpoint says now.
func (gp groupPartition) fellTo(c snapshot.Checkpoint, t int64) (before int64, fell bool) {
	e, ok := gp.earlier()
	if !ok || t != c.Down {
		return 0, false
	}
	before, st := e.targetOffset().Get()
	return before, st == snapshot.Known && before > t
}

func blindnessUnknown(_ *View, s subject) *snapshot.Gap {
	g, st := s.gp.targetGroup().Get()
	if st != snapshot.Known {
		return nil
	}
	t, ok := typeOf(&g)
	c, _ := s.gp.checkpoint().Get()
	at, _ := s.gp.targetOffset().Get()
	_, fell := s.gp.fellTo(c, at)
	switch {
	case !ok:
		return g.Type.Why()
	case s.flow.blindTo(t) == dunno:
		return &snapshot.Gap{Code: "undetermined", Why: "MirrorMaker 2 before 3.8.0 overwrites an empty KIP-848 group at each pass, later ones do not, and the version is not known: --mm2-version decides"}
	case !fell && s.flow.settings.gap != nil:
		return s.flow.settings.gap // that T fell to the checkpoint shows that it is committed
	}
	return nil
}

func checkRewound(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	g, _ := gp.targetGroup().Get()
	kind, _ := typeOf(&g)
	c, _ := gp.checkpoint().Get()
	t, _ := gp.targetOffset().Get()
	before, fell := gp.fellTo(c, t)
	if on, _, ok := f.flag(connCheckpoint, keySyncEnabled); ok && !on || !fell && t <= c.Down {
		return nil
	}
	back := t
	if fell {
		back = before
	}
	fd := &finding.Finding{
		Severity: finding.Warning,
		Observed: finding.Observed{{Name: "type on " + f.Target, Value: string(kind)}, {Name: "T", Value: t}, {Name: "C", Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)}, {Name: "state on " + f.Source, Value: stateWord(f.src, gp.group)}},
		Because: fmt.Sprintf("the group is an empty %s group on %s, which this MirrorMaker 2 cannot describe, so it commits its checkpoint there at each pass (every %d s) without comparing: T = %d becomes %d",
			kind, f.Target, f.seconds(connCheckpoint, keySyncInterval, 60), t, c.Down),
		Consequence: fmt.Sprintf("If the group has moved to %s, it starts %d offsets back whenever it was stopped there for one interval.", f.Target, back-c.Down),
		Confirm: []finding.Command{groupCommand(f.dst, gp.group), checkpointsCommand(f),
			{Cluster: f.Target, Command: "kafka-groups.sh --bootstrap-server " + bootstrapOf(f.dst) + " --list", Shows: "the type of " + gp.group}},
		Fixes: []finding.Fix{rewoundFix(f, []groupPartition{gp})},
	}
	if fell {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "T before", Value: before})
		fd.Because = fmt.Sprintf("T went back from %d to %d, which is the checkpoint: the group is an empty %s group on %s, which this MirrorMaker 2 cannot describe, so it commits its checkpoint there at each pass (every %d s) without comparing",
			before, t, kind, f.Target, f.seconds(connCheckpoint, keySyncInterval, 60))
	}
	src := groupOn(f.src, gp.group)
	f.v.touch(finding.SourceGroup)
	switch a, st := src.Get(); {
	case st == snapshot.Known && a.State.Or("").Active(), gp.advanced():
		fd.Severity = finding.Info // the group runs on the source, and its checkpoint is the right position
		fd.Because += fmt.Sprintf("; the group runs on %s, so that is the right position", f.Source)
		fd.Consequence = ""
	case fell && st != snapshot.Unknown:
		fd.Severity = finding.Error
		fd.Because += fmt.Sprintf(". The group does not run on %s", f.Source)
	}
	return fd
}

// advanced says that U moved since the look before.
func (gp groupPartition) advanced() bool {
	e, ok := gp.earlier()
	if !ok {
		return false
	}
	u, ust := gp.sourceOffset().Get()
	before, bst := e.sourceOffset().Get()
	return ust == snapshot.Known && bst == snapshot.Known && u != before
}

// rewoundFix takes the groups out of the flow first: what is set before is overwritten again.
func rewoundFix(f *flowView, gps []groupPartition) finding.Fix {
	fix := excludeAll(f, gps, fmt.Sprintf("If the group has moved to %s, leave it out of %s", f.Target, f.Name()))
	fix.Text += " After that set its position there: one that is set before is overwritten again."
	for _, gp := range gps {
		g, _ := gp.targetGroup().Get()
		kind, _ := typeOf(&g)
		c, _ := gp.checkpoint().Get()
		t, _ := gp.targetOffset().Get()
		if before, fell := gp.fellTo(c, t); fell {
			t = before
		}
		at := finding.Quote(fmt.Sprintf("%s:%d", gp.remote, gp.part))
		cmd := groupsCommand(f.dst, fmt.Sprintf("--reset-offsets --group %s --topic %s --to-offset %d --execute", finding.Quote(gp.group), at, t))
		if kind == kafka.TypeStreams {
			cmd = fmt.Sprintf("kafka-streams-groups.sh --bootstrap-server %s --reset-offsets --group %s --input-topic %s --to-offset %d --execute", bootstrapOf(f.dst), finding.Quote(gp.group), at, t)
		}
		fix.Steps = append(fix.Steps, finding.Step{Text: "set the position on " + f.Target + " to where it stood, while the group is empty", Command: cmd})
		if kind == kafka.TypeConsumer && !strings.Contains(fix.Text, "3.8.0") {
			fix.Text += " MirrorMaker 2 from 3.8.0 on compares with KIP-848 groups, too."
		}
	}
	return fix
}
