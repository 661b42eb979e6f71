package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// aclChecks are about rights that MirrorMaker 2 lacks: for its own topics, for a topic, for a group, and for a commit on the
// target. They speak only where the rules of the cluster, its authorizer and MirrorMaker 2's name are known, or its log tells.
var aclChecks = []check{
	{Code: 602, Grain: finding.OnFlow, Uses: aclUses, Applies: mayProveRights, Gap: rightsUnproved, Run: checkOwnRights},
	{Code: 602, Grain: finding.OnTopic, Uses: aclUses, Applies: provesRights, Run: checkTopicRights},
	{Code: 602, Grain: finding.OnGroup, Uses: aclUses, Applies: provesRights, Run: checkGroupRights},
	{Code: 306, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup, Uses: aclUses, Applies: waitsForRights, Run: checkCommitRights},
}

const aclUses = finding.AclRules | finding.BrokerSettings | finding.LogSigns | finding.SyncsTopic | finding.SyncsOf | finding.CheckpointSet | finding.CheckpointsOf | finding.TargetOffset | finding.TargetGroup | finding.SourceTopic | finding.TargetTopic |
	finding.InternalTopics | finding.Settings | finding.Generation | finding.AssignedTo | finding.SourceGroup | finding.SourceOffset

// aclSign is the kind of a line in MirrorMaker 2's log that tells of a refusal: Topic or Group say of what.
const aclSign = "acl-denied"

// recently is how long ago something must have worked to contradict a rule that forbids it, ms.
const recently = 600_000

// principalOn is whom MirrorMaker 2 connects as to a cluster of the flow; empty where not known.
func (f *flowView) principalOn(c *clusterView) string {
	if c == f.src || c.Alias == f.Source {
		return f.Principal.Source
	}
	return f.Principal.Target
}

// refusedOn says that the rules of a cluster prove that MirrorMaker 2 lacks the right.
func (f *flowView) refusedOn(c *clusterView, r right) bool {
	p := f.principalOn(c)
	if p == "" {
		return false
	}
	b, gap := f.v.ruleBook(c)
	return gap == nil && b.judge(p, r) == refused
}

// lacks leaves the rights that are refused; CREATE on a topic is also had from CREATE on the cluster.
func (f *flowView) lacks(c *clusterView, rs ...right) (out []right) {
	for _, r := range rs {
		if f.refusedOn(c, r) && !(r.operation == "CREATE" && !f.refusedOn(c, right{"CREATE", "CLUSTER", clusterResource})) {
			out = append(out, r)
		}
	}
	return out
}

// doubted says that the rules of a cluster forbid what MirrorMaker 2 did there a moment ago: then the broker knows it by another
// name than its configuration tells (principal mapping, a principal builder), and the rules prove nothing.
func (f *flowView) doubted(c *clusterView) bool {
	young := func(at int64) bool { return at > 0 && f.v.now-at < recently }
	f.v.touch(finding.SyncsTopic | finding.CheckpointSet)
	if c == f.syncsCluster() && young(f.Syncs.Or(snapshot.Syncs{}).Last) && f.refusedOn(c, right{"WRITE", "TOPIC", f.SyncsTopic}) {
		return true
	}
	return c == f.dst && young(f.Checkpointed.Or(snapshot.Checkpoints{}).Last) && f.refusedOn(c, right{"WRITE", "TOPIC", f.Checkpoints})
}

func (f *flowView) sides() []*clusterView { return []*clusterView{f.src, f.dst} }

// mayProveRights: there are rules, or somebody asked for them and did not get them, or the log tells.
func mayProveRights(v *View, s subject) bool {
	f := s.flow
	v.touch(finding.AclRules)
	return len(f.signs(aclSign)) > 0 || slices.ContainsFunc(f.sides(), func(c *clusterView) bool {
		return c.Contact == nil && (c.Acls.Known() || c.Acls.Unknown() && c.Acls.Why() != nil)
	})
}

// provesRights turns away subjects of flows of which rightsUnproved says why nothing is proved.
func provesRights(v *View, s subject) bool {
	return mayProveRights(v, s) && (rightsUnproved(v, s) == nil || len(s.flow.signs(aclSign)) > 0)
}

func waitsForRights(v *View, s subject) bool { return provesRights(v, s) && behindAndIdle(v, s) }

// rightsUnproved is why the rules of neither cluster prove anything.
func rightsUnproved(v *View, s subject) *snapshot.Gap {
	f := s.flow
	if len(f.signs(aclSign)) > 0 {
		return nil
	}
	var why *snapshot.Gap
	for _, c := range f.sides() {
		_, gap := v.ruleBook(c)
		switch {
		case gap != nil && gap.Code == "none":
			continue
		case gap == nil && f.principalOn(c) == "":
			gap = &snapshot.Gap{Code: "undetermined", Cluster: c.Alias, Why: "as whom MirrorMaker 2 connects is not known, so that its rights cannot be told from the rules"}
		case gap == nil && f.doubted(c):
			gap = &snapshot.Gap{Code: "undetermined", Cluster: c.Alias, Why: fmt.Sprintf("the rules forbid %s what MirrorMaker 2 has just done: the brokers know it by another name", f.principalOn(c))}
		}
		if gap != nil {
			why = cmp.Or(why, gap)
		} else {
			return nil
		}
	}
	return why
}

// missingRights are the rights that are proved to be missing, by cluster.
type missingRights struct {
	src, dst []right
	log      *snapshot.LogSign // the line that tells, where the rules do not
	failed   bool              // what needs them is not there: it does not work now
}

func (m missingRights) none() bool { return len(m.src)+len(m.dst) == 0 && m.log == nil }

func (f *flowView) on(m *missingRights, c *clusterView, rs ...right) {
	if f.doubted(c) {
		return
	}
	rs = f.lacks(c, rs...)
	if c == f.src {
		m.src = append(m.src, rs...)
	} else {
		m.dst = append(m.dst, rs...)
	}
}

// sign finds a line of the log that is still being written at its end.
func (f *flowView) sign(fits func(snapshot.LogSign) bool) *snapshot.LogSign {
	last := f.Log.Or(snapshot.Log{}).Last
	for _, s := range f.signs(aclSign) {
		if fits(s) && (s.Last == 0 || last-s.Last < recently) {
			return &s
		}
	}
	return nil
}

func checkOwnRights(_ *View, s subject) *finding.Finding {
	f := s.flow
	return f.aclFinding(f.ownRights(), finding.Subject{})
}

// ownRights are those for MirrorMaker 2's own topics.
func (f *flowView) ownRights() (m missingRights) {
	f.v.touch(finding.SyncsTopic | finding.CheckpointSet | finding.InternalTopics)
	syncs, checkpoints := f.Syncs.Or(snapshot.Syncs{}), f.Checkpointed.Or(snapshot.Checkpoints{})
	on := f.syncsCluster()
	f.on(&m, on, right{"WRITE", "TOPIC", f.SyncsTopic}, right{"READ", "TOPIC", f.SyncsTopic})
	if f.Syncs.Absent() {
		f.on(&m, on, right{"CREATE", "TOPIC", f.SyncsTopic})
	}
	f.on(&m, f.dst, right{"WRITE", "TOPIC", f.Checkpoints})
	if v := f.gens.version; !v.IsZero() && !v.Before(3, 7, 1) {
		f.on(&m, f.dst, right{"READ", "TOPIC", f.Checkpoints}) // to keep its history over a restart (KAFKA-15905)
	}
	if f.Checkpointed.Absent() {
		f.on(&m, f.dst, right{"CREATE", "TOPIC", f.Checkpoints})
	}
	if m.none() {
		m.log = f.sign(func(s snapshot.LogSign) bool {
			return s.Group == "" && (s.Topic == f.SyncsTopic || s.Topic == f.Checkpoints)
		})
	}
	m.failed = !f.Syncs.Unknown() && syncs.Records == 0 || !f.Checkpointed.Unknown() && checkpoints.Records == 0 || m.log != nil
	return m
}

func checkTopicRights(_ *View, s subject) *finding.Finding {
	f := s.flow
	if s.gp.topic == "" || !f.topicFilter(s.gp.topic).passes {
		return nil
	}
	fd := f.aclFinding(f.topicRights(s.gp), finding.Subject{Topic: s.gp.topic})
	if fd != nil {
		fd.Slug = "acl-missing-topic"
	}
	return fd
}

// topicRights are those for reading a topic and writing its copy.
func (f *flowView) topicRights(gp groupPartition) (m missingRights) {
	here, copied := gp.sourceTopic(), gp.targetTopic()
	f.on(&m, f.src, right{"READ", "TOPIC", gp.topic})
	f.on(&m, f.dst, right{"WRITE", "TOPIC", gp.remote})
	if copied.Absent() {
		f.on(&m, f.dst, right{"CREATE", "TOPIC", gp.remote})
	}
	if m.none() {
		m.log = f.sign(func(s snapshot.LogSign) bool { return s.Group == "" && (s.Topic == gp.topic || s.Topic == gp.remote) })
	}
	m.failed = here.Known() && copied.Absent() || m.log != nil
	return m
}

func checkGroupRights(_ *View, s subject) *finding.Finding {
	f := s.flow
	if d := f.groupFilter(s.group); d.known && !d.passes {
		return nil
	}
	fd := f.aclFinding(f.groupRights(s.group), finding.Subject{Group: s.group})
	if fd != nil {
		fd.Slug = "acl-missing-group"
	}
	return fd
}

// groupRights are those for reading a group's offsets on the source.
func (f *flowView) groupRights(group string) (m missingRights) {
	f.v.touch(finding.CheckpointSet | finding.SourceGroup)
	f.on(&m, f.src, right{"DESCRIBE", "GROUP", group})
	if m.none() {
		m.log = f.sign(func(s snapshot.LogSign) bool { return s.Group == group && !aboutCommit(s) })
	}
	m.failed = f.Checkpointed.Known() && !slices.ContainsFunc(f.Checkpointed.Or(snapshot.Checkpoints{}).Newest, func(c snapshot.Checkpoint) bool { return c.Group == group }) || m.log != nil
	return m
}

// aboutCommit says that a refusal was met when offsets were committed on the target, not when they were read on the source.
func aboutCommit(s snapshot.LogSign) bool {
	text := strings.ToLower(s.Text)
	return strings.Contains(text, "unable to sync offsets") || strings.Contains(text, "alter offsets") || strings.Contains(text, "altering consumer group offsets")
}

func (f *flowView) aclFinding(m missingRights, sub finding.Subject) *finding.Finding {
	if m.none() {
		return nil
	}
	fd := &finding.Finding{Subject: sub, Consequence: "What needs the right does not work, in most versions without a clear word in the log.", Fixes: f.rightsFixes([]missingRights{m})}
	var words []string
	for _, x := range []struct {
		c  *clusterView
		rs []right
	}{{f.src, m.src}, {f.dst, m.dst}} {
		if len(x.rs) == 0 {
			continue
		}
		names := make([]string, len(x.rs))
		for i, r := range x.rs {
			names[i] = r.String()
		}
		who := f.principalOn(x.c)
		words = append(words, fmt.Sprintf("the rules of %s do not give %s %s", x.c.Alias, who, strings.Join(names, ", ")))
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "principal on " + x.c.Alias, Value: who}, snapshot.Named{Name: "missing on " + x.c.Alias, Value: strings.Join(names, ", ")})
		fd.Confirm = append(fd.Confirm, finding.Command{Cluster: x.c.Alias, Command: "kafka-acls.sh --bootstrap-server " + bootstrapOf(x.c) + " --list --principal " + finding.Quote(who), Shows: "no line that allows it, or one that denies"})
	}
	if m.log != nil {
		words = append(words, fmt.Sprintf("MirrorMaker 2's log tells of a refusal: %s (%d times)", m.log.Text, m.log.Count))
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "log", Value: m.log.Text}, snapshot.Named{Name: "times", Value: m.log.Count})
		fd.Confirm = append(fd.Confirm, finding.Command{Cluster: f.Target, Command: "kafka-acls.sh --bootstrap-server " + bootstrapOf(f.dst) + " --list", Shows: "what MirrorMaker 2's principal may do"})
	}
	fd.Because = strings.Join(words, "; ")
	if !m.failed {
		fd.Severity = finding.Warning
		fd.Because += "; what was written before still stands"
		fd.Consequence = "What needs the right fails from its next try on, or has failed already."
	}
	return fd
}

// rightsFixes grant what is missing, cluster by cluster.
func (f *flowView) rightsFixes(ms []missingRights) []finding.Fix {
	var src, dst []right
	log := false
	for _, m := range ms {
		src, dst = append(src, m.src...), append(dst, m.dst...)
		log = log || m.log != nil
	}
	wait := int((f.discoveryStart() + f.emitBudget() + f.commitBudget()) / 1000)
	var out []finding.Fix
	for _, x := range []struct {
		c  *clusterView
		rs []right
	}{{f.src, src}, {f.dst, dst}} {
		if len(x.rs) == 0 {
			continue
		}
		text := fmt.Sprintf("Give MirrorMaker 2 what it lacks on %s, as a principal that may; then restart it, since some of its parts try only when they start.", x.c.Alias)
		grant, remove := f.toGrant(x.c, x.rs)
		if len(remove) > 0 {
			text += " A rule that denies outranks every grant: it has to go."
		}
		for _, fix := range grantFixes(x.c, f.principalOn(x.c), text, grant) {
			if fix.Mode == "strimzi" && (len(grant) == 0 || f.fixMode() != "strimzi") {
				continue // its users have rules that deny only where their resource says so
			}
			fix.Steps = append(slices.Concat(remove, fix.Steps), restartSteps(f, f.startedFor(x.c, x.rs)...)...)
			fix.WaitSeconds = wait
			out = append(out, fix)
		}
	}
	if len(out) == 0 && log {
		out = append(out, finding.Fix{Mode: "kafka", Text: "Grant MirrorMaker 2's principal the right that the line names, then restart it.", WaitSeconds: wait, Steps: []finding.Step{restartStep(f)}})
	}
	return out
}

// startedFor are the connectors that have to try again once they have these rights. The source connector reads topics, and
// writes copies and offset syncs; all else is the checkpoint connector's.
func (f *flowView) startedFor(c *clusterView, rs []right) []string {
	sources := func(r right) bool {
		return r.resource == "TOPIC" && r.name != f.Checkpoints && !(r.operation == "READ" && (c == f.dst || r.name == f.SyncsTopic))
	}
	source := slices.ContainsFunc(rs, sources)
	checkpoint := slices.ContainsFunc(rs, func(r right) bool { return !sources(r) })
	switch {
	case source && checkpoint:
		return bothConnectors
	case source:
		return []string{connSource}
	}
	return []string{connCheckpoint}
}

// toGrant tells rights that have to be granted from those that a denying rule alone takes away.
func (f *flowView) toGrant(c *clusterView, rs []right) (grant []right, remove []finding.Step) {
	b, _ := f.v.ruleBook(c)
	p := f.principalOn(c)
	for _, r := range rs {
		deny := b.denying(p, r)
		for _, a := range deny {
			cmd := removeCommand(c, a)
			if !slices.ContainsFunc(remove, func(s finding.Step) bool { return s.Command == cmd }) {
				remove = append(remove, finding.Step{Text: "remove the rule that denies it on " + c.Alias, Command: cmd, Undo: strings.Replace(cmd, " --remove ", " --add ", 1)})
			}
		}
		if len(deny) == 0 || b.without(deny).judge(p, r) == refused {
			grant = append(grant, r)
		}
	}
	return grant, remove
}

// checkCommitRights: MirrorMaker 2 may not commit for the group or for the copy, and a checkpoint waits.
func checkCommitRights(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	c, t, has, _ := gp.behind()
	if on, _, ok := f.flag(connCheckpoint, keySyncEnabled); !ok || !on {
		return nil // no commit is tried
	}
	m := f.commitRights(gp)
	fd := f.aclFinding(m, gp.subject())
	if fd == nil {
		return nil
	}
	fd.Severity = finding.Error
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "C", Value: fmt.Sprintf("%d -> %d, written %s ago", c.Up, c.Down, age(f.v.now-c.Time))}, targetNamed(t, has))
	fd.Because += fmt.Sprintf("; the checkpoint %d of %s waits, and its offset on %s is %s", c.Down, gp.group, f.Target, offsetWord(t, has))
	fd.Consequence = "The broker refuses each commit of MirrorMaker 2 (GROUP_ or TOPIC_AUTHORIZATION_FAILED): after a failover the group starts too early, or by auto.offset.reset. Before 3.4.0 nothing is logged."
	fd.Confirm = append(fd.Confirm, groupCommand(f.dst, gp.group))
	return fd
}

// commitRights are those for committing offsets of a group for the copy.
func (f *flowView) commitRights(gp groupPartition) (m missingRights) {
	f.on(&m, f.dst, right{"READ", "GROUP", gp.group}, right{"READ", "TOPIC", gp.remote})
	if m.none() {
		m.log = f.sign(func(s snapshot.LogSign) bool {
			return s.Group == gp.group && aboutCommit(s) && (s.Topic == "" || s.Topic == gp.remote)
		})
	}
	m.failed = true
	return m
}

// aclFixesOfAll grants everything that the findings of one kind miss.
func aclFixesOfAll(rs []*raw) []finding.Fix {
	var ms []missingRights
	f := rs[0].s.flow
	for _, r := range rs {
		switch {
		case r.f.Code == 306:
			ms = append(ms, f.commitRights(r.s.gp))
		case r.grain == finding.OnTopic:
			ms = append(ms, f.topicRights(r.s.gp))
		case r.grain == finding.OnGroup:
			ms = append(ms, f.groupRights(r.s.group))
		default:
			ms = append(ms, f.ownRights())
		}
	}
	return f.rightsFixes(ms)
}
