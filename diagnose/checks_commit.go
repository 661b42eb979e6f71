package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const rowFacts = finding.CheckpointsOf | finding.TargetOffset

// commitChecks are link 3: from checkpoints to committed offsets on the target.
var commitChecks = []check{
	{Code: 301, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.Settings, Uses: finding.OtherFlows | finding.Configured | finding.TargetGroup | finding.Generation | finding.AssignedTo | finding.TargetTopic, Applies: eligibleRow, Run: checkSyncDisabled},
	{Code: 302, Grain: finding.OnGroupPartition, Needs: finding.TargetGroup | finding.TargetOffset, Uses: finding.CheckpointsOf | finding.SourceOffset | finding.SyncsOf | finding.Settings | finding.Generation | finding.Tasks | finding.SourceGroup | finding.AssignedTo | finding.TargetTopic | finding.EarlierLook, Applies: eligibleRow, Run: checkActive},
	{Code: 303, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup | finding.SyncsOf, Uses: finding.SourceOffset | finding.Generation | finding.Tasks | finding.EarlierLook | finding.Settings | finding.AssignedTo | finding.TargetTopic | finding.TargetLog, Applies: eligibleRow, Run: checkAhead},
	{Code: 304, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup | finding.Settings, Earlier: rowFacts | finding.TargetGroup, Uses: finding.EarlierLook | finding.AssignedTo | finding.TargetTopic | finding.Tasks, Applies: behindAndIdle, Run: checkBehind},
}

// behind says that the checkpoint promises more than the target holds.
func (gp groupPartition) behind() (c snapshot.Checkpoint, t int64, has, behind bool) {
	c, cst := gp.checkpoint().Get()
	if cst != snapshot.Known || c.Down < 0 {
		return c, -1, false, false
	}
	t, tst := gp.targetOffset().Get()
	switch tst {
	case snapshot.Known:
		return c, t, true, t < c.Down
	case snapshot.Absent:
		return c, -1, false, true
	}
	return c, -1, false, false
}

func checkSyncDisabled(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	on, e, ok := f.flag(connCheckpoint, keySyncEnabled)
	tooOld := !f.gens.version.IsZero() && f.gens.version.Before(2, 7, 0)
	if (!ok || on) && !tooOld {
		return nil
	}
	c, t, has, behind := gp.behind()
	if !behind {
		return nil
	}
	v.touch(finding.Configured)
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: keySyncEnabled, Value: e.Value}, {Name: "set in", Value: where(e)}, {Name: "C", Value: fmt.Sprintf("%d -> %d, written %s ago", c.Up, c.Down, age(v.now-c.Time))}, targetNamed(t, has)},
		Because:     fmt.Sprintf("sync.group.offsets.enabled is false (%s), so checkpoints are written and no group offset is committed on %s", where(e), f.Target),
		Consequence: "After a failover consumers of these groups start by auto.offset.reset, or where an older commit left them.",
		Confirm:     []finding.Command{groupCommand(f.dst, gp.group), checkpointsCommand(f)},
		Fixes:       []finding.Fix{propertyFix(f, "Switch group-offset sync on, then restart MirrorMaker 2. Groups that have members on "+f.Target+" are left alone.", keySyncEnabled, "true", f.discoveryStart()+f.emitBudget()+f.commitBudget())},
	}
	fd.Subject = gp.subject()
	fd.Subject.File, fd.Subject.Line, fd.Subject.Key = e.File, e.Line, keySyncEnabled
	switch {
	case tooOld:
		fd.Because = "MirrorMaker 2 before 2.7.0 has no group-offset sync (KIP-545)"
		fix := propertyFix(f, "Upgrade MirrorMaker 2 to 3.7.1 or newer and set sync.group.offsets.enabled = true.", keySyncEnabled, "true", f.discoveryStart()+f.emitBudget()+f.commitBudget())
		fix.Steps = append([]finding.Step{upgradeStep(f, mm2.V(3, 7, 1))}, fix.Steps...)
		fd.Fixes = []finding.Fix{fix}
	case f.oppositeSyncs():
		fd.Severity = finding.Info
		fd.Because += "; the opposite flow has it on"
	case !e.Default:
		fd.Severity = finding.Warning
	}
	return fd
}

// oppositeSyncs says that the flow in the other direction commits group offsets: then leaving it off here is the usual set-up.
func (f *flowView) oppositeSyncs() bool {
	o := f.opposite()
	if o == nil {
		return false
	}
	on, _, ok := o.flag(connCheckpoint, keySyncEnabled)
	return ok && on
}

func targetNamed(t int64, has bool) snapshot.Named {
	if !has {
		return snapshot.Named{Name: "T", Value: nil}
	}
	return snapshot.Named{Name: "T", Value: t}
}

func checkActive(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	g, st := gp.targetGroup().Get()
	if st != snapshot.Known || !g.State.Or("").Active() {
		return nil
	}
	c, _, _, behind := gp.behind()
	t, tst := gp.targetOffset().Get()
	has := tst == snapshot.Known
	want, wantName := c.Down, "C"
	if u, st := gp.sourceOffset().Get(); st == snapshot.Known {
		if tr, st, _ := gp.translate(u); st == snapshot.Known && tr.known && !tr.none && tr.value > want {
			want, wantName = tr.value, "translate(U)"
			behind = !has || t < want
		}
	}
	ms := g.Members.Or(nil)
	fd := &finding.Finding{
		Observed: finding.Observed{{Name: "state on " + f.Target, Value: string(g.State.Or(""))}, {Name: "members", Value: len(ms)}},
		Because:  fmt.Sprintf("group %s is %s on %s with %s", gp.group, g.State.Or(""), f.Target, members(ms)),
		Confirm: []finding.Command{
			{Cluster: f.Target, Command: groupsCommand(f.dst, "--describe --group "+finding.Quote(gp.group)+" --members"), Shows: "who is in the group"},
			groupCommand(f.dst, gp.group)},
	}
	if u, st := gp.sourceOffset().Get(); st == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "U", Value: u})
	}
	if c.Group != "" {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "C", Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)})
	}
	fd.Observed = append(fd.Observed, targetNamed(t, has))
	on, _, known := f.flag(connCheckpoint, keySyncEnabled)
	if !behind || known && !on || want == 0 && c.Group == "" {
		fd.Severity = finding.Info
		fd.Because += "; nothing waits to be written"
		fd.Consequence = "MirrorMaker 2 leaves the offsets of a group with members alone. That is as it should be after a failover has moved the group to " + f.Target + "; where it is still read on " + f.Source + " as well, each record is processed twice: `--observe 20s` tells whether both sides commit (MM2D-308)."
		return fd
	}
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "waiting", Value: fmt.Sprintf("%s = %d", wantName, want)})
	fd.Because += fmt.Sprintf("; the broker refuses MirrorMaker 2's commit while it has members (UNKNOWN_MEMBER_ID), so its offset stays at %s although %d is waiting", offsetWord(t, has), want)
	fd.Consequence = "The group's offsets on " + f.Target + " are frozen; what its members read there is not what the group reads on " + f.Source + "."
	hosts := memberList(ms)
	fd.Fixes = []finding.Fix{{Mode: "kafka", Text: fmt.Sprintf("Decide which side is active. If it is %s: stop the consumers of %s on %s (%s). MirrorMaker 2 writes the offset once the group is empty.", f.Source, gp.group, f.Target, hosts),
		Steps: []finding.Step{
			{Text: "stop the consumers of the group on " + f.Target + ": " + hosts, Stops: []string{"consumers of " + gp.group + " on " + f.Target}, Undo: "start them again"},
			{Text: "see that the group is empty", Command: groupsCommand(f.dst, "--describe --group "+finding.Quote(gp.group)+" --state")}},
		WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000)}}
	if slices.ContainsFunc(ms, func(m snapshot.Member) bool { return m.InstanceID != "" }) {
		fd.Fixes[0].Text += " A static member (group.instance.id) stays in the group until its session times out."
	}
	return fd
}

func offsetWord(t int64, has bool) string {
	if !has {
		return "none"
	}
	return fmt.Sprint(t)
}

func members(ms []snapshot.Member) string {
	if len(ms) == 0 {
		return "members that the broker does not show"
	}
	return finding.Count(len(ms), "member")
}

func memberList(ms []snapshot.Member) string {
	var out []string
	for _, m := range ms {
		s := m.ClientID
		if m.Host != "" {
			s += " at " + strings.TrimPrefix(m.Host, "/")
		}
		out = append(out, s)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 {
		return "see --members"
	}
	return list(out, 3)
}

// checkAhead: the target is above the checkpoint, or the group went back behind the checkpoint that the target follows, and
// MirrorMaker 2 never lowers T while the group is empty. Only a T above every position that the syncs allow is a fault: as
// newer syncs come in, the store forgets older ones, and a checkpoint after a rewind may be coarser than the T of before.
func checkAhead(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	g, gst := gp.targetGroup().Get()
	if kind, _ := typeOf(&g); gst != snapshot.Known || g.State.Or("").Active() || f.blindTo(kind) == yes {
		return nil // of a group that it cannot describe MirrorMaker 2 lowers T, too: 316
	}
	c, cst := gp.checkpoint().Get()
	t, tst := gp.targetOffset().Get()
	if cst != snapshot.Known || tst != snapshot.Known {
		return nil
	}
	u, ust := gp.sourceOffset().Get()
	most, safe := noLimit, false
	if ust == snapshot.Known {
		if tr, st, _ := gp.translate(u); st == snapshot.Known {
			most, safe = tr.most, tr.known && !tr.none && t <= tr.value
		}
	}
	// U was read after C, so a U below C.up went back; up to 3.7.0 no new checkpoint may ever follow it (206).
	stale := t <= c.Down && ust == snapshot.Known && u >= 0 && u < c.Up && !safe
	if t <= c.Down && !stale {
		return nil
	}
	end, endKnown := gp.targetEnd()
	beyond := endKnown && t > end // where no consumer can have put it
	// A restarted task of G3 and G4 writes coarser checkpoints than before; a T from an earlier one is not above the position.
	coarser := t <= most && !stale && !beyond && (f.gens.set.Has(mm2.G3) || f.gens.set.Has(mm2.G4))
	fd := &finding.Finding{
		Severity:    finding.Warning,
		Observed:    finding.Observed{{Name: "T", Value: t}, {Name: "C", Value: fmt.Sprintf("%d -> %d, written %s ago", c.Up, c.Down, age(v.now-c.Time))}},
		Because:     fmt.Sprintf("T = %d is above the checkpoint's %d, and while the group is empty MirrorMaker 2 only ever raises it", t, c.Down),
		Consequence: fmt.Sprintf("If the position on %s is right, a consumer that fails over skips up to %d offsets.", f.Source, t-c.Down),
		Confirm:     []finding.Command{groupCommand(f.dst, gp.group), checkpointsCommand(f), groupCommand(f.src, gp.group)},
	}
	if ust == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "U", Value: u})
	}
	if stale {
		fd.Because = fmt.Sprintf("the group went back on %s from at least %d to %d, T = %d follows the checkpoint of before, and while the group is empty MirrorMaker 2 only ever raises it", f.Source, c.Up, u, t)
	}
	if t > most {
		fd.Consequence = fmt.Sprintf("If the position on %s is right, a consumer that fails over skips at least %d offsets.", f.Source, t-most)
	}
	moved := false
	if e, ok := gp.earlier(); ok && ust == snapshot.Known {
		if before, st := e.sourceOffset().Get(); st == snapshot.Known && before != u {
			moved = true
			fd.Observed = append(fd.Observed, snapshot.Named{Name: "U before", Value: before})
		}
	}
	switch {
	case coarser:
		fd.Severity = finding.Info
		fd.Because += "; up to 3.7.0 that is normal after a restart, which makes checkpoints coarser; from 3.7.1 on it means a rewind or a commit by someone else: --mm2-version decides"
		fd.Consequence = ""
		return fd
	case beyond:
		fd.Because += fmt.Sprintf("; it lies beyond the end of the copy (%d), so that no consumer on %s put it there: it is left from an earlier checkpoint that was too high, or from a copy that was longer", end, f.Target)
	case t <= most:
		fd.Severity = finding.Info
		fd.Because += "; the offset syncs do not tell whether it is too high: after a rewind a checkpoint may be coarser than the one before"
		fd.Consequence = ""
		return fd
	case stale && !moved:
		fd.Because += fmt.Sprintf("; the position lies at most at %d on %s. Whether the group goes on from there decides: --observe", most, f.Target)
	case moved:
		fd.Severity = finding.Error
		fd.Because += fmt.Sprintf("; the group is consuming on %s, so its lower translation is the right one", f.Source)
	default:
		fd.Because += fmt.Sprintf("; the position %d on %s lies at most at %d. Two readings: the group was rewound on %s (then T skips records), or it was consumed on %s in a drill or failover (then T is right). Whether U moves decides: --observe", u, f.Source, most, f.Source, f.Target)
	}
	fd.Fixes = []finding.Fix{lowerFix(f, []groupPartition{gp})}
	if !stale { // MirrorMaker 2 would raise a value below its checkpoint again
		fd.Fixes = append(fd.Fixes, setFix(f, []groupPartition{gp}))
	}
	return fd
}

// setFix sets the exact place by the records of both clusters, which lies at or above the checkpoint and so holds: a plan for each group,
// of no other topics than those in question.
func setFix(f *flowView, gps []groupPartition) finding.Fix {
	var groups []string
	topics := map[string][]string{}
	for _, gp := range gps {
		if topics[gp.group] == nil {
			groups = append(groups, gp.group)
		}
		if !slices.Contains(topics[gp.group], gp.topic) {
			topics[gp.group] = append(topics[gp.group], gp.topic)
		}
	}
	fix := finding.Fix{Mode: "kafka", Text: fmt.Sprintf("In that case set the exact place at once, while the group is empty on %s, also where MirrorMaker 2 does not run: the records of both clusters tell it, and what stood there is kept in a journal.", f.Target)}
	for _, g := range groups {
		args := []string{"--group", exactly(g)}
		for _, t := range topics[g] {
			args = append(args, "--topic", exactly(t))
		}
		cmd := f.translateCommand(append(args, "--allow-rewind", "")...)
		fix.Steps = append(fix.Steps, finding.Step{Text: "see the plan; nothing is written", Command: cmd},
			finding.Step{Text: "carry it out; it asks for the alias of the cluster that is written, and --yes answers", Command: cmd + " --apply", Undo: "mm2doctor translate rollback with the journal that it names"})
	}
	return fix
}

// exactly is a --group or --topic value that matches one name only.
func exactly(name string) string {
	if literal(name) {
		return name
	}
	return "/" + regexp.QuoteMeta(name) + "/"
}

// lowerFix deletes the offsets on the target, so that MirrorMaker 2 writes its checkpoint.
func lowerFix(f *flowView, gps []groupPartition) finding.Fix {
	return finding.Fix{Mode: "kafka", Text: fmt.Sprintf("If the position on %s is the right one: delete the group's offsets for the copy while the group is empty on %s; MirrorMaker 2 then writes its checkpoint. Stop nothing else.", f.Source, f.Target),
		Steps: deleteOffsets(f, gps), WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000)}
}

// deleteOffsets has a step for each group and topic, and names the partitions: the group's other offsets stay. What stands
// there is printed first.
func deleteOffsets(f *flowView, gps []groupPartition) []finding.Step {
	type key struct{ group, topic string }
	var order []key
	parts := map[key][]string{}
	var look, del []finding.Step
	for _, gp := range gps {
		k := key{gp.group, gp.remote}
		if parts[k] == nil {
			order = append(order, k)
		}
		parts[k] = append(parts[k], strconv.Itoa(int(gp.part)))
	}
	seen := map[string]bool{}
	for _, k := range order {
		if !seen[k.group] {
			seen[k.group] = true
			look = append(look, finding.Step{Text: "keep what stands there now; the group must be empty", Command: groupsCommand(f.dst, "--describe --group "+finding.Quote(k.group)+" --offsets")})
		}
		which := finding.Quote(k.topic + ":" + strings.Join(parts[k], ","))
		del = append(del, finding.Step{Text: "delete the group's offsets of the copy on " + f.Target, Command: groupsCommand(f.dst, "--delete-offsets --group "+finding.Quote(k.group)+" --topic "+which), Destructive: true,
			Undo: "for each partition, set it back to what was printed: " + groupsCommand(f.dst, "--reset-offsets --group "+finding.Quote(k.group)+" --topic "+finding.Quote(k.topic+":PARTITION")+" --to-offset OLD --execute")})
	}
	return append(look, del...)
}

// behindAndIdle narrows to rows whose checkpoint waits although nobody is in the group and the sync is on.
func behindAndIdle(v *View, s subject) bool {
	if !eligibleRow(v, s) {
		return false
	}
	if on, _, ok := s.flow.flag(connCheckpoint, keySyncEnabled); ok && !on {
		return false
	}
	_, _, _, behind := s.gp.behind()
	g, st := s.gp.targetGroup().Get()
	return behind && !(st == snapshot.Known && g.State.Or("").Active())
}

// checkBehind needs proof of time: the checkpoint waited longer than two passes, and the group cannot have been active in
// between: it is absent, or an earlier look saw it idle and at the same offset.
func checkBehind(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	c, t, has, _ := gp.behind()
	budget := f.commitBudget()
	if v.began-c.Time < budget {
		return nil
	}
	for _, conn := range []string{connCheckpoint} {
		if start, ok := f.taskStart(conn); ok && v.began-start < budget+f.emitBudget() {
			return nil
		}
	}
	proved := false
	if e, ok := gp.earlier(); ok && f.sinceBefore() >= budget {
		ec, et, ehas, ebehind := e.behind()
		g, st := e.targetGroup().Get()
		proved = ebehind && ec.Down == c.Down && et == t && ehas == has && !(st == snapshot.Known && g.State.Or("").Active())
	}
	if !proved {
		return nil
	}
	return &finding.Finding{
		Observed:    finding.Observed{{Name: "C", Value: fmt.Sprintf("%d -> %d, written %s ago", c.Up, c.Down, age(v.now-c.Time))}, targetNamed(t, has), {Name: keySyncInterval, Value: f.seconds(connCheckpoint, keySyncInterval, 60)}},
		Because:     fmt.Sprintf("the checkpoint has said %d for %s, the group is idle on %s, and its offset there is %s in two looks", c.Down, age(v.now-c.Time), f.Target, offsetWord(t, has)),
		Consequence: "After a failover the group starts too early, or by auto.offset.reset.",
		Confirm:     []finding.Command{groupCommand(f.dst, gp.group), checkpointsCommand(f)},
		Fixes:       []finding.Fix{restartFix(f, "Look for `Unable to sync offsets for consumer group` in MirrorMaker 2's log (missing Read right on group or topic), repair what it names, then restart it.", f.emitBudget()+f.commitBudget())},
	}
}
