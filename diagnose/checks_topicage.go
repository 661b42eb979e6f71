package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// topicAgeChecks are about numbers that belong to an earlier topic of the same name, or to records that are gone.
var topicAgeChecks = []check{
	{Code: 406, Grain: finding.OnGroupPartition, Needs: finding.SourceOffset | finding.SyncsOf | finding.SourceLog | finding.TargetLog, Uses: finding.TargetOffset | finding.CheckpointsOf | finding.TargetGroup | finding.EarlierLook | finding.Generation | finding.Tasks | finding.Settings |
		finding.AssignedTo | finding.SourceTopic | finding.TargetTopic | finding.SyncsTopic | finding.Running | finding.OtherFlows, Applies: eligibleRow, Run: checkEarlierTopic},
	{Code: 407, Grain: finding.OnFlow, Uses: finding.OtherFlows | finding.Settings | finding.Running | finding.Configured | finding.SourceTopic | finding.TargetTopic, Applies: keepsNames, Gap: loopUndecided, Run: checkReinjects},
}

// anew is the proof that a topic was made anew, or cut, after some of the numbers were written.
type anew struct {
	onSource, onTarget bool
	because            []string
	observed           finding.Observed
}

// remade compares what was written of the two logs with what they are now. Ends were read after the syncs and only grow, so a
// sync of a record at or beyond an end speaks of another log. A group's own position proves nothing: it can be set anywhere.
func (gp groupPartition) remade(ps *snapshot.PartitionSyncs) (a anew) {
	f := gp.flow
	if e, ok := gp.earlier(); ok {
		if was, is := topicID(e.sourceTopic()), topicID(gp.sourceTopic()); was != "" && is != "" && was != is {
			a.onSource = true
			a.because = append(a.because, fmt.Sprintf("topic %s on %s has another id than in the look before: it was deleted and made anew in between", gp.topic, f.Source))
			a.observed = append(a.observed, snapshot.Named{Name: "topic id on " + f.Source, Value: was + ", now " + is})
		}
		if was, is := topicID(e.targetTopic()), topicID(gp.targetTopic()); was != "" && is != "" && was != is {
			a.onTarget = true
			a.because = append(a.because, fmt.Sprintf("topic %s on %s has another id than in the look before: it was deleted and made anew in between", gp.remote, f.Target))
			a.observed = append(a.observed, snapshot.Named{Name: "topic id on " + f.Target, Value: was + ", now " + is})
		}
	}
	up, down := furthest(ps)
	if src, st := gp.sourcePartition().Get(); st == snapshot.Known {
		if end, known := src.End.Get(); known == snapshot.Known && up.Up >= end {
			a.onSource = true
			a.because = append(a.because, fmt.Sprintf("an offset sync speaks of record %d of %s-%d (offset %d), whose log on %s ends at %d: the source topic was made anew, or cut", up.Up, gp.topic, gp.part, up.Offset, f.Source, end))
			a.observed = append(a.observed, snapshot.Named{Name: "sync", Value: fmt.Sprintf("%d -> %d (offset %d)", up.Up, up.Down, up.Offset)}, snapshot.Named{Name: "end on " + f.Source, Value: end})
		}
	}
	if end, ok := gp.targetEnd(); ok && down.Down >= end {
		a.onTarget = true
		a.because = append(a.because, fmt.Sprintf("an offset sync speaks of record %d of %s-%d (offset %d), whose log on %s ends at %d: the copy was made anew, or cut", down.Down, gp.remote, gp.part, down.Offset, f.Target, end))
		a.observed = append(a.observed, snapshot.Named{Name: "sync", Value: fmt.Sprintf("%d -> %d (offset %d)", down.Up, down.Down, down.Offset)}, snapshot.Named{Name: "end of the copy", Value: end})
	}
	// Offset syncs of two copies under one alias step back all the time (117); one log that was made anew does so once.
	if r := ps.LastRewind; r != nil && ps.Rewinds == 1 && !a.onTarget && r.After.Up > r.Before.Up && r.After.Down < r.Before.Down {
		a.onTarget = true
		a.because = append(a.because, fmt.Sprintf("the offset syncs went on from %d to %d upstream and back from %d to %d downstream: the copy was made anew, or cut, in between", r.Before.Up, r.After.Up, r.Before.Down, r.After.Down))
		a.observed = append(a.observed, snapshot.Named{Name: "syncs", Value: fmt.Sprintf("%d -> %d, then %d -> %d", r.Before.Up, r.Before.Down, r.After.Up, r.After.Down)})
	}
	return a
}

func topicID(t snapshot.Fact[*snapshot.Topic]) string {
	if top, st := t.Get(); st == snapshot.Known {
		return top.ID
	}
	return ""
}

// furthest are the syncs that reach furthest on the two sides, of all that are kept.
func furthest(ps *snapshot.PartitionSyncs) (up, down snapshot.Sync) {
	all := []snapshot.Sync{ps.Newest, ps.Oldest}
	for _, r := range slices.Concat(ps.TwoPointer, ps.Greedy) {
		all = append(all, r.Sync)
	}
	if ps.LastRewind != nil {
		all = append(all, ps.LastRewind.Before, ps.LastRewind.After)
	}
	up, down = all[0], all[0]
	for _, s := range all[1:] {
		if s.Up > up.Up {
			up = s
		}
		if s.Down > down.Down {
			down = s
		}
	}
	return up, down
}

// checkEarlierTopic: an error where a number of the row itself is of the topic of before, a warning where U and T lie in the new
// one already.
func checkEarlierTopic(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	ps, st := gp.syncsOf().Get()
	if st != snapshot.Known || f.readsOthersSyncs() {
		return nil
	}
	a := gp.remade(ps)
	if !a.onSource && !a.onTarget {
		return nil
	}
	stale := gp.staleNumbers(ps, a)
	fd := &finding.Finding{
		Severity:    finding.Warning,
		Observed:    a.observed,
		Because:     strings.Join(a.because, "; "),
		Consequence: "The numbers of this row lie in the new topic already. Offset syncs and checkpoints of the one before are still there, and a group that comes late may be translated by them.",
		Confirm:     []finding.Command{syncsCommand(f), logEnds(f.src, gp.topic, "", "the end of each partition"), logEnds(f.dst, gp.remote, "", "the end of each partition"), groupCommand(f.dst, gp.group)},
		Fixes:       []finding.Fix{{Mode: f.fixMode(), Text: fmt.Sprintf("Leave this group as it is. The remark ends by itself when %s-%d has grown past the old offset syncs. Until then see that a group that comes late stands in the new topic on %s before it fails over.", gp.topic, gp.part, f.Source)}},
	}
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "U", Value: gp.sourceOffset().Or(-1)})
	t, tst := gp.targetOffset().Get()
	fd.Observed = append(fd.Observed, targetNamed(t, tst == snapshot.Known))
	if c, st := gp.checkpoint().Get(); st == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "C", Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)})
	}
	if len(stale) > 0 {
		fd.Fixes = []finding.Fix{anewFix(f, []groupPartition{gp}, a.onTarget)}
		fd.Severity = finding.Error
		fd.Because += "; " + strings.Join(stale, ", ")
		fd.Consequence = "These numbers mean records that no longer exist: a consumer that starts there finds its offset out of range, or skips what is written until the log has grown past it."
	}
	return fd
}

// readsOthersSyncs: the source connector belongs to a flow of another source alias, so that the syncs speak of its copies, which
// have other names than this flow's.
func (f *flowView) readsOthersSyncs() bool {
	o, lacks := f.aliasMismatch()
	return o != nil && lacks == connSource && o.Source != f.Source
}

// bySyncs: a topic is taken for a new one by its syncs alone. Where the two connectors call the copy by different names, these
// are of another log. Different aliases make two flows, of which the one with the syncs judges by copies of its own.
func bySyncs(cause, effect *raw) bool {
	return cause.f.Slug != "alias-mismatch" && !slices.ContainsFunc(effect.f.Observed, func(n snapshot.Named) bool { return strings.HasPrefix(n.Name, "topic id") })
}

// staleNumbers names the row's numbers that cannot be of the topics as they are now.
func (gp groupPartition) staleNumbers(ps *snapshot.PartitionSyncs, a anew) (out []string) {
	f := gp.flow
	u, ust := gp.sourceOffset().Get()
	src, _ := gp.sourcePartition().Get()
	if end, st := src.End.Get(); a.onSource && ust == snapshot.Known && st == snapshot.Known && u > end {
		out = append(out, fmt.Sprintf("U = %d is a position of the topic before (the log on %s ends at %d)", u, f.Source, end))
	}
	end, ok := gp.targetEnd()
	if !a.onTarget || !ok {
		return out
	}
	t, tst := gp.targetOffset().Get()
	if tst == snapshot.Known && t > end {
		out = append(out, fmt.Sprintf("T = %d is a position of the copy before (it ends at %d)", t, end))
	} else if tst == snapshot.Known && ust == snapshot.Known {
		if proof, skips := skippedBy(ps, t, u); skips {
			out = append(out, fmt.Sprintf("T = %d is a position of the copy before: the sync %d -> %d puts %d at %d or before", t, proof.Up, proof.Down, u, proof.Down))
		}
	}
	if c, st := gp.checkpoint().Get(); st == snapshot.Known && c.Down > end {
		out = append(out, fmt.Sprintf("the checkpoint's %d lies beyond the end of the copy", c.Down))
	} else if tr, st, _ := gp.translate(u); ust == snapshot.Known && st == snapshot.Known && tr.known && !tr.none && tr.value > end {
		out = append(out, fmt.Sprintf("MirrorMaker 2 translates U = %d to %d, beyond the end of the copy", u, tr.value))
	}
	return out
}

// anewFix removes what MirrorMaker 2 knows of the topic before. A copy that was made anew does not reset its store of syncs, for
// upstream they go on; so the offset-syncs topic goes as well.
func anewFix(f *flowView, gps []groupPartition, onTarget bool) finding.Fix {
	if !onTarget {
		fix := lowerFix(f, gps)
		fix.Text = fmt.Sprintf("Give the groups a position in the new topic on %s, where they are not consuming it, and delete their old offsets on %s; MirrorMaker 2 then writes what follows from the new ones.", f.Source, f.Target)
		var first []finding.Step
		for _, gp := range gps {
			reset := "--reset-offsets --group " + finding.Quote(gp.group) + " --topic " + finding.Quote(fmt.Sprintf("%s:%d", gp.topic, gp.part)) + " "
			first = append(first, finding.Step{Text: "set the group to the start of the new topic on " + f.Source + "; it must be empty there", Command: groupsCommand(f.src, reset+"--to-earliest --execute"), Destructive: true,
				Undo: groupsCommand(f.src, reset+fmt.Sprintf("--to-offset %d --execute", gp.sourceOffset().Or(0)))})
		}
		fix.Steps = append(first, fix.Steps...)
		return fix
	}
	who := "MirrorMaker 2"
	if f.onConnect() {
		who = "the source and the checkpoint connector"
	}
	fix := rewriteWhile(f, bothConnectors, gps, "", captureStep(f),
		finding.Step{Text: "delete the offset-syncs topic; it is made again at the start. All groups are then translated by what is mirrored from then on: a lagging one keeps its offset until it has passed the first new record",
			Command: topicsCommand(f.syncsCluster(), "--delete --topic "+finding.Quote(f.SyncsTopic)), Destructive: true, Undo: "none"})
	fix.Text = fmt.Sprintf("Stop %s, delete offset syncs and checkpoints and the old offsets of idle groups on %s, then start again. Records that were mirrored before the copy was made anew are not in it: to mirror %s again, reset the source connector's offsets of it while it is stopped%s.", who, f.Target, gps[0].topic, f.sourceOffsetsBy())
	return fix
}

// sourceOffsetsBy says how source offsets are given to a stopped source connector (KIP-875, 3.6.0). Dedicated mode has no REST
// interface for it.
func (f *flowView) sourceOffsetsBy() string {
	switch f.fixMode() {
	case "strimzi":
		return " (alterOffsets of the sourceConnector, Strimzi 0.44 or newer with Kafka 3.6 or newer)"
	case "msk-connect":
		return " (MSK Connect cannot; it needs a Connect cluster of one's own)"
	case "connect":
		return fmt.Sprintf(" (PATCH /connectors/%s/offsets, Connect 3.6 or newer)", f.connectorName(connSource))
	}
	return fmt.Sprintf(" (by records in %s, with the keys that stand there: dedicated mode has no REST interface)", f.workerTopic("offset"))
}

// anewFixOfAll repairs all rows of a topic; those whose copy was made anew differ in their mode from the rest.
func anewFixOfAll(f *flowView, gps []groupPartition, mode string) finding.Fix {
	return anewFix(f, gps, mode != "kafka")
}

// keepsNames narrows to pairs of flows that both leave topics their names, once for each pair: with IdentityReplicationPolicy
// there is no test for cycles.
func keepsNames(_ *View, s subject) bool {
	f := s.flow
	b := f.opposite()
	if b == nil || f.Name() > b.Name() {
		return false
	}
	return identity(f) && identity(b)
}

func identity(f *flowView) bool {
	k := f.policy().Kind
	return k == mm2.PolicyIdentity || k == mm2.PolicyLegacyIdentity
}

// loopUndecided: a transform may drop what came from the other side, and which topics both filters admit has to be known.
func loopUndecided(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	b := f.opposite()
	for _, x := range []*flowView{f, b} {
		if x.settings.gap != nil {
			return x.settings.gap
		}
		if e, st := x.setting(connSource, "transforms").Get(); st == snapshot.Known && strings.TrimSpace(e.Value) != "" {
			return &snapshot.Gap{Code: "undetermined", Why: fmt.Sprintf("%s has transforms (%s), which may drop the records that came from the other side", x.Name(), e.Value)}
		}
		if x.src.Topics.Unknown() {
			return x.src.Topics.Why()
		}
	}
	return nil
}

// checkReinjects: both flows mirror a topic into one of the same name, so each record comes back as a new one, without end.
func checkReinjects(v *View, s subject) *finding.Finding {
	f := s.flow
	b := f.opposite()
	v.touch(finding.SourceTopic | finding.TargetTopic)
	var both []string
	for name := range f.src.topics {
		if f.isMM2Topic(name) || f.isInternal(name) || b.src.topics[name] == nil || strings.HasSuffix(name, mm2.HeartbeatsTopic) {
			continue
		}
		if x, y := f.sourceTopicFilter(name), b.sourceTopicFilter(name); x.known && x.passes && y.known && y.passes {
			both = append(both, name)
		}
	}
	if len(both) == 0 {
		return nil
	}
	slices.Sort(both)
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "policy of both", Value: short(f.Policy.Class)}, {Name: "topics in both", Value: list(both, 5)}},
		Because:     fmt.Sprintf("%s and %s both mirror %s under the same name: %s has no test for cycles, so that each takes what the other has written for new records", f.Name(), b.Name(), list(both, 3), short(f.Policy.Class)),
		Consequence: "Every record comes back to where it was written, again and again; a flow back that begins at the start first re-injects the whole backlog. Offsets of groups on both sides lose their meaning.",
		Fixes:       []finding.Fix{switchOffFix(b, "Let one direction at a time mirror a topic. For a failback: stop the forward flow, note the ends of the topics on "+f.Target+", give the source connector of the flow back these ends as its offsets while it is stopped"+b.sourceOffsetsBy()+", and only then start it. For both directions at once use the default policy, which keeps copies apart by a prefix.")},
	}
	for _, c := range []*clusterView{f.src, f.dst} {
		fd.Confirm = append(fd.Confirm, logEnds(c, both[0], "", "the end of each partition"))
		for _, p := range c.topics[both[0]].Partitions {
			if end, st := p.End.Get(); st == snapshot.Known {
				fd.Observed = append(fd.Observed, snapshot.Named{Name: fmt.Sprintf("end of %s-%d on %s", both[0], p.ID, c.Alias), Value: end})
				break
			}
		}
	}
	return fd
}

// switchOffFix takes the flow back out of work.
func switchOffFix(b *flowView, text string) finding.Fix {
	fix := finding.Fix{Mode: b.fixMode(), Text: text}
	if b.fixMode() != "dedicated" {
		fix.Steps = b.mode().stop(b, []string{connSource})
		return fix
	}
	fix.Steps = []finding.Step{{Text: "switch the flow back off until it is needed", File: cmp.Or(b.File, "mm2.properties"), Properties: finding.Observed{{Name: b.Name() + ".enabled", Value: "false"}}, Undo: "set it back to true"}, restartStep(b)}
	return fix
}

// short is a class name without its package.
func short(class string) string {
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		return class[i+1:]
	}
	return class
}
