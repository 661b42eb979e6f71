package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const strayUses = finding.CheckpointSet | finding.TargetTopic | finding.TargetLog | finding.SourceTopic | finding.SyncsTopic | finding.Settings | finding.Running | finding.OtherFlows | finding.Generation

// strayChecks are about checkpoints and commits that belong to no link of this flow.
var strayChecks = []check{
	{Code: 209, Grain: finding.OnFlow, Uses: strayUses, Gap: targetTopicsUnknown, Decides: true, Run: checkTopicUnknown},
	{Code: 213, Grain: finding.OnFlow, Needs: finding.SourceGroups | finding.CheckpointSet, Uses: finding.SourceTopic | finding.SourceOffset, Applies: holdsCheckpoints, Gap: sourceGroupsIncomplete, Run: checkOrphaned},
	{Code: 216, Grain: finding.OnFlow, Needs: finding.SourceGroups, Uses: finding.Settings | finding.CheckpointSet | finding.Generation, Run: checkForeignCommits},
	{Code: 218, Grain: finding.OnFlow, Uses: strayUses | finding.AssignedTo | finding.Tasks | finding.LogSigns | finding.CheckpointsOf | finding.TargetOffset | finding.SourceOffset, Gap: targetTopicsUnknown, Decides: true, Run: checkDeletedTopic},
}

func holdsCheckpoints(_ *View, s subject) bool {
	c, st := s.flow.Checkpointed.Get()
	return st != snapshot.Known || len(c.Newest) > 0
}

// stranger is a topic that checkpoints name and the target does not have.
type stranger struct {
	topic    string // as the checkpoints have it
	upstream string // on the source
	all      []*snapshot.Checkpoint
}

// strangers lists them by name; others is how many topics of checkpoints the target has. A checkpoint of after the reading began
// may speak of a copy that was made since the topics were listed.
func (f *flowView) strangers() (out []stranger, others int) {
	f.v.touch(finding.CheckpointSet | finding.TargetTopic)
	c, st := f.Checkpointed.Get()
	if st != snapshot.Known {
		return nil, 0
	}
	at := map[string]int{}
	for i := range c.Newest {
		n := &c.Newest[i]
		j, seen := at[n.Topic]
		if !seen {
			j = -1
			switch t := f.v.topicOn(f.dst, n.Topic); {
			case t.Absent() && n.Time < f.v.snap.Started-margin:
				j = len(out)
				out = append(out, stranger{topic: n.Topic, upstream: f.upstreamOf(n.Topic)})
			case t.Known():
				others++
			}
			at[n.Topic] = j
		}
		if j >= 0 {
			out[j].all = append(out[j].all, n)
		}
	}
	return out, others
}

// separators that are in use, for reading a name whose policy is not known.
var separators = []string{".", "_", "-"}

// upstreamOf is the source topic that a checkpoint speaks of: by the flow's naming, else by what the source has.
func (f *flowView) upstreamOf(topic string) string {
	f.v.touch(finding.SourceTopic)
	for _, sep := range separators {
		if rest, ok := strings.CutPrefix(topic, f.Source+sep); ok && f.src.topics[rest] != nil {
			return rest
		}
	}
	if up, ok := f.upstream(topic); ok {
		return up
	}
	return topic
}

// copyByOtherName finds the copy of a source topic under a name that another policy gives. The offset syncs prove it: on every
// partition the newest one lies within that topic, no further from its end than the source has records after it (transaction
// markers may double that).
func (f *flowView) copyByOtherName(upstream, not string) (string, bool) {
	f.v.touch(finding.SyncsTopic | finding.TargetLog | finding.SourceTopic)
	names := []string{upstream}
	for _, sep := range separators {
		names = append(names, f.Source+sep+upstream)
	}
	for _, name := range names {
		t := f.dst.topics[name]
		if t == nil || name == not {
			continue
		}
		fits, against := 0, 0
		for _, p := range t.Partitions {
			ps := f.syncs[kafka.TopicPartition{Topic: upstream, Partition: p.ID}]
			end, known := p.End.Get()
			src, sst := partition(f.v.topicOn(f.src, upstream), p.ID).Get()
			srcEnd, est := src.End.Get()
			if ps == nil || known != snapshot.Known || sst != snapshot.Known || est != snapshot.Known || ps.Newest.Down == 0 {
				continue
			}
			if after := end - ps.Newest.Down; after > 0 && after <= 2*(srcEnd-ps.Newest.Up)+2 {
				fits++
			} else {
				against++
			}
		}
		if fits > 0 && against == 0 {
			return name, true
		}
	}
	return "", false
}

// targetTopicsUnknown: settings that decide could not be read; or some topic of a checkpoint is not among those the doctor sees on the target, and the list may lack some.
func targetTopicsUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	c, st := f.Checkpointed.Get()
	if st != snapshot.Known {
		return nil
	}
	if ss, _ := f.strangers(); len(ss) > 0 && f.settings.gap.Failed() {
		return f.settings.gap // both connectors' policies, and whether offsets are committed
	}
	for i := range c.Newest {
		if t := f.v.topicOn(f.dst, c.Newest[i].Topic); t.Unknown() && t.Why() != nil {
			return t.Why()
		}
	}
	return nil
}

// misnamed says that checkpoints speak of topics by names that the copies do not have, and how that is known: by the settings of
// both connectors, else by what stands on the target.
func (f *flowView) misnamed() (n naming, ss []stranger, copied string, yes bool) {
	ss, others := f.strangers()
	n = f.namingMismatch()
	for i := range ss {
		if name, ok := f.copyByOtherName(ss[i].upstream, ss[i].topic); ok {
			ss[0], ss[i], copied = ss[i], ss[0], name // that one is named
			break
		}
	}
	switch {
	case n.proved:
		return n, ss, copied, true
	case len(ss) == 0 || others > 0:
		return n, ss, copied, false // they fit where they have to
	case n.maybe:
		return n, ss, copied, true
	}
	// One policy for both, as far as the settings are known: then the copies were deleted (218).
	_, src := f.policyOf(connSource)
	_, chk := f.policyOf(connCheckpoint)
	return n, ss, copied, copied != "" && f.Mode != "dedicated" && !(src && chk) && !f.settings.gap.Failed()
}

func checkTopicUnknown(_ *View, s subject) *finding.Finding {
	f := s.flow
	if o, lacks := f.aliasMismatch(); o != nil {
		return f.aliasFinding(o, lacks)
	}
	n, ss, copied, ok := f.misnamed()
	if !ok {
		return nil
	}
	fd := &finding.Finding{Subject: finding.Subject{Connector: f.connectorName(connCheckpoint)}, Observed: slices.Clone(n.facts),
		Consequence: fmt.Sprintf("MirrorMaker 2 commits offsets for topics that %s does not have; the broker refuses them (UNKNOWN_TOPIC_OR_PARTITION), up to 3.3 without a line in the log. No group gets an offset for its copies.", f.Target),
		Confirm: []finding.Command{checkpointsCommand(f),
			listTopics(f.dst, "what the copies are called")}}
	if n.proved || n.maybe {
		fd.Slug, fd.Because = "policy-mismatch", n.rule
		if f.onConnect() {
			fd.Confirm = append(fd.Confirm, configOf(f, connSource, "replication.policy.class and replication.policy.separator"), configOf(f, connCheckpoint, "the same"))
		}
	}
	if n.proved && !n.topics {
		fd.Because += fmt.Sprintf("; copies have the same names, the offset-syncs topic has not: it is written as %s and read as %s", mm2.OffsetSyncsTopic(f.Target, n.source.Internal), f.SyncsTopic)
		fd.Consequence = "The checkpoint connector reads an offset-syncs topic that nobody writes; nothing is translated."
	}
	if len(ss) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "checkpoints name", Value: list(topicsOf(ss), 3) + ", not on " + f.Target})
		if fd.Because != "" {
			fd.Because += "; "
		}
		fd.Because += fmt.Sprintf("the checkpoints name %s, which %s does not have", ss[0].topic, f.Target)
	}
	if copied != "" {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "mirrored as", Value: copied})
		fd.Because += fmt.Sprintf("; %s is mirrored into %s", ss[0].upstream, copied)
	}
	fd.Fixes = []finding.Fix{f.renameFix(n, append(ss, stranger{})[0], copied)}
	return fd
}

func topicsOf(ss []stranger) []string {
	out := make([]string, len(ss))
	for i := range ss {
		out[i] = ss[i].topic
	}
	return out
}

// renameFix gives the checkpoint connector the policy of the source connector and removes what it wrote under the old names,
// which MirrorMaker 2 from 3.7.1 on would read again (KAFKA-19107). The policy comes first: before Connect 3.5 a stopped
// connector is a deleted one, which takes no setting.
func (f *flowView) renameFix(n naming, s stranger, copied string) finding.Fix {
	fix := finding.Fix{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.emitBudget() + f.commitBudget()) / 1000),
		Text: "Give both connectors the same replication.policy.class and replication.policy.separator, those by which the copies are named, and remove the checkpoints that were written under the other names."}
	values := n.values
	if len(values) == 0 {
		values = f.policyBy(s.upstream, copied)
	}
	if f.fixMode() == "dedicated" {
		fix.Steps = []finding.Step{{Text: "write the policy once, without a flow's prefix", File: cmp.Or(f.File, "mm2.properties"), Properties: values}}
	} else {
		fix.Steps = f.mode().set(f, []string{connCheckpoint}, values)
	}
	fix.Steps = append(fix.Steps, f.whileStopped([]string{connCheckpoint}, f.forgetStep())...)
	return fix
}

// policyBy is the policy by which a copy got its name.
func (f *flowView) policyBy(upstream, copied string) finding.Observed {
	if sep, ok := strings.CutSuffix(strings.TrimPrefix(copied, f.Source), upstream); ok && copied != upstream {
		return finding.Observed{{Name: keyPolicyClass, Value: mm2.DefaultPolicyClass}, {Name: keySeparator, Value: sep}}
	}
	return finding.Observed{{Name: keyPolicyClass, Value: mm2.IdentityPolicyClass}}
}

// checkDeletedTopic: a checkpoint stays in the compacted topic, and in a task's memory, when its copy is gone (KAFKA-19107).
func checkDeletedTopic(v *View, s subject) *finding.Finding {
	f := s.flow
	if _, _, _, named := f.misnamed(); named {
		return nil // by other names: 209
	}
	ss, _ := f.strangers()
	if len(ss) == 0 {
		return nil
	}
	fd := &finding.Finding{Severity: finding.Info, Bugs: []string{"KAFKA-19107"}}
	groups := map[string]bool{}
	n, trying := 0, ""
	for _, st := range ss {
		for _, c := range st.all {
			n++
			if len(fd.Subjects) < mostSubjects && !groups[c.Group+"\x00"+st.upstream] {
				fd.Subjects = append(fd.Subjects, finding.Subject{Group: c.Group, Topic: st.upstream})
			}
			groups[c.Group+"\x00"+st.upstream] = true
			if why := f.stillCommitted(c); why != "" && trying == "" {
				trying = why
				fd.Subject = finding.Subject{Group: c.Group, Topic: st.upstream}
				fd.Observed = finding.Observed{{Name: "C of " + c.Group, Value: fmt.Sprintf("%s-%d: %d -> %d, written %s ago", c.Topic, c.Partition, c.Up, c.Down, age(v.now-c.Time))}}
				fd.Observed = append(fd.Observed, f.othersOf(c)...)
			}
		}
	}
	first := ss[0].all[0]
	if fd.Subject == (finding.Subject{}) {
		fd.Subject = finding.Subject{Group: first.Group, Topic: ss[0].upstream}
		fd.Observed = finding.Observed{{Name: "C of " + first.Group, Value: fmt.Sprintf("%s-%d: %d -> %d, written %s ago", first.Topic, first.Partition, first.Up, first.Down, age(v.now-first.Time))}}
	}
	fd.Observed = append(finding.Observed{{Name: "topics that are not on " + f.Target, Value: list(topicsOf(ss), 3)}, {Name: "checkpoints of them", Value: n}}, fd.Observed...)
	fd.Because = fmt.Sprintf("%s holds %s of %s, which %s no longer has: the copy was deleted, and MirrorMaker 2 never takes a checkpoint back", f.Checkpoints, finding.Count(n, "checkpoint"), list(topicsOf(ss), 3), f.Target)
	fd.Confirm = []finding.Command{checkpointsCommand(f), describeTopic(f.dst, ss[0].topic, "that the topic does not exist")}
	if trying == "" {
		fd.Consequence = "Tools that translate by checkpoints still name these topics."
		return fd
	}
	fd.Severity = finding.Warning
	fd.Because += "; " + trying
	fd.Consequence = "Each pass the broker refuses these partitions (UNKNOWN_TOPIC_OR_PARTITION) and commits the group's others, which stand in the same request; from 3.4.0 on MirrorMaker 2 logs `Unable to sync offsets for consumer group` for the whole group."
	fd.Fixes = []finding.Fix{f.forgetFix(ss)}
	return fd
}

// stillCommitted says why MirrorMaker 2 is known to go on committing a checkpoint: up to 3.4.0 it commits the last round's, up to
// 3.7.0 those since the task's start, from 3.7.1 on also what it reads back at its start, for the groups of its tasks.
func (f *flowView) stillCommitted(c *snapshot.Checkpoint) string {
	for _, sign := range f.signs("KAFKA-19107") {
		if sign.Group == c.Group {
			return "its log says so for " + c.Group
		}
	}
	if on, _, ok := f.flag(connCheckpoint, keySyncEnabled); !ok || !on {
		return ""
	}
	f.v.touch(finding.Generation)
	old, since, all := f.gens.set.Has(mm2.G1) || f.gens.set.Has(mm2.G2), f.gens.set.Has(mm2.G3) || f.gens.set.Has(mm2.G4), f.gens.set.Has(mm2.G5)
	recent := f.v.snap.Started-c.Time < f.emitBudget()
	if old && !recent {
		return ""
	}
	if start, ok := f.checkpointTaskStart(); since && !recent && !(ok && c.Time > start) {
		return ""
	}
	if all && !recent && !f.isGiven(c.Group) {
		return ""
	}
	return "it still commits the checkpoint of " + c.Group
}

// isGiven says that a checkpoint task has the group: by its list, else by a position on a topic that the filters admit.
func (f *flowView) isGiven(group string) bool {
	f.v.touch(finding.AssignedTo)
	if f.Assigned.Known() {
		return f.assigned[group]
	}
	return slices.ContainsFunc(f.rowsOfGroup(group), groupPartition.isEligible)
}

// othersOf shows that the rest of the group is committed.
func (f *flowView) othersOf(c *snapshot.Checkpoint) finding.Observed {
	for _, gp := range f.rowsOfGroup(c.Group) {
		if gp.remote == c.Topic {
			continue
		}
		t, tst := gp.targetOffset().Get()
		if o, st := gp.checkpoint().Get(); st == snapshot.Known && tst == snapshot.Known {
			return finding.Observed{{Name: fmt.Sprintf("%s-%d of the same group", gp.remote, gp.part), Value: fmt.Sprintf("T %d, C %d -> %d", t, o.Up, o.Down)}}
		}
	}
	return nil
}

// forgetFix lets MirrorMaker 2 forget a checkpoint. A tombstone is no way: a null value breaks readers.
func (f *flowView) forgetFix(ss []stranger) finding.Fix {
	wait := f.discoveryStart() + f.emitBudget() + f.commitBudget()
	v := f.gens.version
	if !v.IsZero() && v.Before(3, 7, 1) {
		return restartFix(f, fmt.Sprintf("Make the topic again, or restart MirrorMaker 2: up to 3.7.0 it does not read old checkpoints back. A restart of 3.4.1 to 3.7.0 leaves lagging groups of other topics without new checkpoints for a while (KAFKA-15905). Never write a tombstone into %s.", f.Checkpoints), wait)
	}
	fix := finding.Fix{Mode: f.fixMode(), WaitSeconds: int(wait / 1000),
		Text: fmt.Sprintf("Make %s again where it is to be mirrored: the source connector does so at its next refresh of topics. Else stop the checkpoint connector, delete the checkpoints topic and start it again: it is written anew. Never write a tombstone into it: readers break.", list(topicsOf(ss), 3))}
	fix.Steps = f.whileStopped([]string{connCheckpoint}, f.forgetStep())
	return fix
}

// sourceGroupsIncomplete: a checkpoint's group is not in the source's list, and the list may lack some.
func sourceGroupsIncomplete(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	for _, c := range f.Checkpointed.Or(snapshot.Checkpoints{}).Newest {
		if g := groupOn(f.src, c.Group); f.inScope(c.Group) && g.Unknown() && g.Why() != nil {
			return g.Why()
		}
	}
	return nil
}

// checkOrphaned: checkpoints outlive what they speak of. A group's id that never existed on the source cannot be told from one
// that was deleted.
func checkOrphaned(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.CheckpointSet | finding.SourceGroups | finding.SourceTopic | finding.SourceOffset)
	var gone, topics []string
	parts := map[string]int{} // group → partitions without an offset
	c, _ := f.Checkpointed.Get()
	n := 0
	for i := range c.Newest {
		k := &c.Newest[i]
		if !f.inScope(k.Group) {
			continue
		}
		g := groupOn(f.src, k.Group)
		up, mine := f.upstream(k.Topic)
		switch {
		case g.Absent():
			n++
			gone = append(gone, k.Group)
		case g.Known() && mine && committed(f.src, k.Group, up, k.Partition).Absent():
			n++
			parts[k.Group]++
			if f.v.topicOn(f.src, up).Absent() {
				topics = append(topics, up)
			}
		}
	}
	if n == 0 {
		return nil
	}
	slices.Sort(gone)
	slices.Sort(topics)
	gone, topics = slices.Compact(gone), slices.Compact(topics)
	var some []string
	for g := range parts {
		some = append(some, g)
	}
	slices.Sort(some)
	fd := &finding.Finding{Observed: finding.Observed{{Name: "checkpoints", Value: n}}, Subjects: groupSubjects(append(slices.Clone(gone), some...)), SubjectCount: len(gone) + len(some),
		Confirm: []finding.Command{{Cluster: f.Source, Command: groupsCommand(f.src, "--list"), Shows: "the groups that exist"}, checkpointsCommand(f)}}
	fd.Subject = fd.Subjects[0]
	var why []string
	if len(gone) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "groups not on " + f.Source, Value: list(gone, 5)})
		why = append(why, fmt.Sprintf("%s no longer on %s (%s)", finding.Count(len(gone), "group"), f.Source, list(gone, 5)))
	}
	if len(some) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "groups without the partition's offset", Value: list(some, 5)})
		why = append(why, fmt.Sprintf("partitions on which %s committed no offset any more (%s)", finding.Count(len(some), "group"), list(some, 5)))
	}
	if len(topics) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "topics not on " + f.Source, Value: list(topics, 5)})
	}
	fd.Because = fmt.Sprintf("%s holds %s for %s: a deletion or an expiry on %s is not carried over, and MirrorMaker 2 never takes a checkpoint back", f.Checkpoints, finding.Count(n, "checkpoint"), strings.Join(why, " and for "), f.Source)
	fd.Consequence = "They do no harm. The group's offset on " + f.Target + " stays until it expires there; from 3.7.1 on MirrorMaker 2 commits old checkpoints of groups that its tasks still have."
	return fd
}

// checkForeignCommits: positions on topics that came from the target belong to the opposite flow's copies. They stand on no link
// of this one.
func checkForeignCommits(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.SourceGroups | finding.CheckpointSet | finding.Generation)
	gs, _ := f.src.listed.Get()
	var groups, topics []string
	positions, copied := 0, ""
	for i := range gs {
		g := &gs[i]
		if g.State.Absent() || g.ProtocolType != "" && g.ProtocolType != "consumer" || !f.inScope(g.ID) {
			continue
		}
		if d := f.groupFilter(g.ID); d.known && !d.passes {
			continue
		}
		for _, o := range g.Offsets.Or(nil) {
			if !f.comesFromTarget(o.Topic) || f.isMM2Topic(o.Topic) {
				continue
			}
			if d := f.topicFilter(o.Topic); d.known && !d.passes {
				continue
			}
			positions++
			groups, topics = append(groups, g.ID), append(topics, o.Topic)
			own, _, _ := f.policy().UpstreamTopic(o.Topic)
			if c := f.checkpoints[checkpointKey{g.ID, own, o.Partition}]; c != nil && c.Up == c.Down && f.gens.set.Has(mm2.G1) && copied == "" {
				copied = fmt.Sprintf("%s-%d of %s: %d -> %d", own, o.Partition, g.ID, c.Up, c.Down)
			}
		}
	}
	if positions == 0 {
		return nil
	}
	slices.Sort(groups)
	slices.Sort(topics)
	groups, topics = slices.Compact(groups), slices.Compact(topics)
	fd := &finding.Finding{Subject: finding.Subject{Group: groups[0], Topic: topics[0]}, Subjects: groupSubjects(groups), SubjectCount: len(groups),
		Observed:    finding.Observed{{Name: "groups", Value: len(groups)}, {Name: "positions", Value: positions}, {Name: "topics", Value: list(topics, 5)}},
		Because:     fmt.Sprintf("%s on %s read %s that came from %s (%s); the flow %s->%s has the offset syncs of these copies, %s has none", finding.Count(len(groups), "group"), f.Source, finding.Count(len(topics), "topic"), f.Target, list(topics, 5), f.Target, f.Source, f.Name()),
		Consequence: fmt.Sprintf("Their progress there is not carried back to %s by any version; on %s these consumers start where their own offset of the original topic stands.", f.Target, f.Target),
		Confirm:     []finding.Command{groupCommand(f.src, groups[0])}}
	if copied != "" {
		fd.Severity = finding.Warning
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "copied unchanged", Value: copied})
		fd.Because += "; up to 3.2 MirrorMaker 2 copies such a position unchanged to the original topic (KAFKA-12635): " + copied
		fd.Bugs = []string{"KAFKA-12635"}
		fd.Fixes = []finding.Fix{f.leaveOutCopies(f.discoveryStart() + f.emitBudget())}
	}
	return fd
}

// leaveOutCopies keeps the checkpoint connector from topics that the opposite flow writes; the source connector leaves them out
// by itself. The value replaces the default, so what was excluded stays in it.
func (f *flowView) leaveOutCopies(waitMs int64) finding.Fix {
	text := "Upgrade MirrorMaker 2 to 3.7.1 or newer, or leave these topics out with topics.exclude of the checkpoint connector, then restart MirrorMaker 2."
	key, value := keyTopicsExclude, regexQuote(f.Target+cmp.Or(f.Policy.Separator, mm2.DefaultSeparator))+".*"
	if v := f.gens.version; !v.IsZero() && v.Before(2, 7, 0) {
		key = olderName[key]
	}
	if e, st := f.setting(connCheckpoint, key).Get(); st != snapshot.Known {
		value = mm2.DefaultTopicsExclude(f.gens.version) + ", " + value
		text += " Keep what topics.exclude holds already."
	} else if e.Value != "" {
		value = e.Value + ", " + value
	}
	return settingsFix(f, text, []string{connCheckpoint}, finding.Observed{{Name: key, Value: value}}, waitMs)
}

// ofOneTopic: the effect lists several subjects and must not vanish under a cause that covers only the first.
func ofOneTopic(cause, effect *raw) bool {
	return !slices.ContainsFunc(effect.f.Subjects, func(s finding.Subject) bool { return s.Topic != cause.f.Subject.Topic })
}
