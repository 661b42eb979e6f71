package diagnose

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// check looks for one defect at one place of the chain.
type check struct {
	Code  finding.Code
	Grain finding.Grain
	Needs finding.Kinds   // unknown for this subject: NotChecked is written and Run is not called
	Uses  finding.Kinds   // read when known: adds words, never decides alone
	When  mm2.Generations // zero: all
	// Applies narrows the subjects by facts that are known; a subject it turns away is neither checked nor "not checked".
	Applies func(v *View, s subject) bool
	// Earlier are the kinds needed in the look before this one, where there is one.
	Earlier finding.Kinds
	// Gap tells of a fact that is needed and finer than a kind; nil where all is known.
	Gap func(v *View, s subject) *snapshot.Gap
	// Decides says that the link is not known where a read failed that the check needs; a fact that was never asked leaves it.
	Decides bool
	Run     func(v *View, s subject) *finding.Finding
}

// subject is what a check runs on; the fields down to the check's grain are set.
type subject struct {
	cluster *clusterView
	flow    *flowView
	topic   string
	group   string
	gp      groupPartition
}

// raw is a finding on one subject, before consequences are attached and alike findings are merged.
type raw struct {
	f       *finding.Finding
	s       subject
	grain   finding.Grain
	root    *raw
	effects []*raw
	// accepted is the reason for which somebody wants to hear nothing of it, nor of what only follows from it.
	accepted string
}

// top is the finding at the head of the chain of causes.
func (r *raw) top() *raw {
	for r.root != nil {
		r = r.root
	}
	return r
}

type engine struct {
	v          *View
	raws       []*raw
	skips      []skippedCheck
	skippedAt  map[skipSpot]*snapshot.Gap
	notChecked []finding.NotChecked
}

func (e *engine) run(checks []check) {
	for i := range checks {
		c := &checks[i]
		for _, s := range e.v.subjects(c.Grain) {
			e.one(c, s)
		}
	}
}

func (e *engine) one(c *check, s subject) {
	if c.When != 0 && s.flow != nil && c.When&s.flow.gens.set == 0 {
		return
	}
	if c.Applies != nil && !c.Applies(e.v, s) {
		return
	}
	if gap, unknown := s.missing(c.Needs); unknown {
		e.skip(c, s, gap)
		return
	}
	if gap := c.gap(e.v, s); gap != nil {
		e.skip(c, s, gap)
		return
	}
	f := c.Run(e.v, s)
	if f == nil {
		return
	}
	complete(f, c.Code, s, c.Grain)
	e.raws = append(e.raws, &raw{f: f, s: s, grain: c.Grain})
}

// gap is what the check lacks beyond its kinds.
func (c *check) gap(v *View, s subject) *snapshot.Gap {
	if c.Earlier != 0 && s.flow.earlier != nil {
		before := s
		before.flow, before.gp.flow = s.flow.earlier, s.flow.earlier
		if gap, unknown := before.missing(c.Earlier); unknown {
			return &snapshot.Gap{Code: "earlier", Why: "in the look before: " + gap.String()}
		}
	}
	if c.Gap == nil {
		return nil
	}
	return c.Gap(v, s)
}

// skipped finds why a check could not be made for a row, or for its topic.
func (e *engine) skipped(code finding.Code, gp groupPartition) *snapshot.Gap {
	for _, at := range []spot{{gp.flow.Name(), gp.group, gp.topic, gp.part}, {gp.flow.Name(), "", gp.topic, -1}} {
		if gap, ok := e.skippedAt[skipSpot{code, at}]; ok {
			return cmp.Or(gap, &snapshot.Gap{Code: "not-asked", Why: "not asked"})
		}
	}
	return nil
}

// complete fills in what follows from the code and the subject.
func complete(f *finding.Finding, code finding.Code, s subject, g finding.Grain) {
	entry := finding.Lookup(code)
	f.Code, f.ID, f.CodeText = code, cmp.Or(f.ID, code.String()), code.String()
	f.Docs = "docs/codes/" + code.String() + ".md"
	if f.Slug == "" {
		f.Slug = entry.Slug
	}
	if f.Severity == 0 {
		f.Severity = entry.Severity
	}
	f.Link = entry.Link
	if s.flow != nil {
		f.Flow = s.flow.Name()
	}
	s.flow.whenItRuns(f.Fixes)
	inMode(s.flow, f)
	if f.Subject == (finding.Subject{}) {
		switch g {
		case finding.OnGroupPartition, finding.OnPartition:
			f.Subject = s.gp.subject()
		case finding.OnGroup:
			f.Subject = finding.Subject{Group: s.group}
		case finding.OnTopic:
			f.Subject = finding.Subject{Topic: s.topic}
		case finding.OnCluster:
			f.Subject = finding.Subject{Cluster: s.cluster.Alias}
		}
	}
	f.SubjectCount = max(1, len(f.Subjects))
}

// skippedCheck is a check that could not be decided for one subject.
type skippedCheck struct {
	code  finding.Code
	grain finding.Grain
	s     subject
	gap   *snapshot.Gap
}

// skipSpot is where a check was skipped, for looking it up row by row.
type skipSpot struct {
	code finding.Code
	at   spot
}

func (e *engine) skip(c *check, s subject, gap *snapshot.Gap) {
	e.skips = append(e.skips, skippedCheck{c.Code, c.Grain, s, gap})
	failed := gap.Failed() && gap.Code != "unreachable" // a whole cluster is told once (001)
	if c.Decides && s.flow != nil && (failed || gap != nil && gap.Code == codePaused) {
		s.flow.unread[finding.Lookup(c.Code).Link] = true
	}
	var at spot
	switch c.Grain {
	case finding.OnTopic:
		at = spot{s.flow.Name(), "", s.topic, -1}
	case finding.OnGroupPartition:
		at = spot{s.flow.Name(), s.gp.group, s.gp.topic, s.gp.part}
	default:
		return
	}
	if e.skippedAt == nil {
		e.skippedAt = map[skipSpot]*snapshot.Gap{}
	}
	if _, ok := e.skippedAt[skipSpot{c.Code, at}]; !ok {
		e.skippedAt[skipSpot{c.Code, at}] = gap
	}
}

// settleSkips counts what was not checked, check by check and reason by reason. A question about a group or partition that a
// proved error already answers is no longer open.
func (e *engine) settleSkips() {
	index := e.index()
	seen := map[[3]string]int{}
	for _, k := range e.skips {
		if k.grain >= finding.OnTopic && index.answered(k) {
			continue
		}
		n := finding.NotChecked{Check: k.code.String(), Why: k.gap.String(), Count: 1}
		if k.s.flow != nil {
			n.Flow = k.s.flow.Name()
		}
		if k.gap != nil && k.gap.Code == "denied" {
			n.DecidedBy = "the ACL named in MM2D-003"
		}
		key := [3]string{n.Check, n.Flow, n.Why}
		if i, ok := seen[key]; ok {
			e.notChecked[i].Count++
			continue
		}
		seen[key] = len(e.notChecked)
		e.notChecked = append(e.notChecked, n)
	}
}

func (x rawIndex) answered(k skippedCheck) bool {
	sub := finding.Subject{Group: k.s.group, Topic: k.s.topic}
	if k.grain == finding.OnGroup {
		sub.Topic = ""
	}
	if k.grain == finding.OnGroupPartition || k.grain == finding.OnPartition {
		sub = k.s.gp.subject()
	}
	at := &finding.Finding{Flow: k.s.flow.Name(), Subject: sub}
	for c := range x.byCode {
		for _, r := range x.covering(c, at) {
			if r.root == nil && r.f.Severity == finding.Error && r.f.Link >= 0 {
				return true
			}
		}
	}
	return false
}

// subjects lists everything of a grain.
func (v *View) subjects(g finding.Grain) []subject {
	var out []subject
	switch g {
	case finding.OnSnapshot:
		return []subject{{}}
	case finding.OnCluster:
		for i := range v.snap.Clusters {
			out = append(out, subject{cluster: v.clusters[v.snap.Clusters[i].Alias]})
		}
	case finding.OnFlow:
		for _, f := range v.flows {
			out = append(out, subject{flow: f})
		}
	case finding.OnTopic, finding.OnGroup:
		for _, f := range v.flows {
			seen := map[string]bool{}
			for _, gp := range f.rows {
				key := gp.topic
				if g == finding.OnGroup {
					key = gp.group
				}
				if key == "" || seen[key] {
					continue
				}
				seen[key] = true
				out = append(out, subject{flow: f, topic: gp.topic, group: gp.group, gp: gp})
			}
		}
	case finding.OnPartition:
		for _, f := range v.flows {
			seen := map[kafka.TopicPartition]bool{}
			for _, gp := range f.rows {
				if tp := (kafka.TopicPartition{Topic: gp.topic, Partition: gp.part}); gp.part >= 0 && !seen[tp] {
					seen[tp] = true
					gp.group = ""
					out = append(out, subject{flow: f, topic: gp.topic, gp: gp})
				}
			}
		}
	case finding.OnGroupPartition:
		for _, f := range v.flows {
			for _, gp := range f.rows {
				if gp.part >= 0 {
					out = append(out, subject{flow: f, topic: gp.topic, group: gp.group, gp: gp})
				}
			}
		}
	}
	return out
}

// missing gives the first needed kind of fact that is not known for the subject.
func (s subject) missing(needs finding.Kinds) (*snapshot.Gap, bool) {
	for ; needs != 0; needs &= needs - 1 {
		k := needs & -needs // the lowest kind that is left
		if st, gap := s.state(k); st == snapshot.Unknown {
			return gap, true
		}
	}
	return nil, false
}

// state tells what is known of one kind of fact.
func (s subject) state(k finding.Kinds) (snapshot.State, *snapshot.Gap) {
	f := s.flow
	switch k {
	case finding.SourceOffset:
		return stateOf(s.gp.sourceOffset())
	case finding.TargetOffset:
		return stateOf(s.gp.targetOffset())
	case finding.CheckpointsOf:
		return stateOf(s.gp.checkpoint())
	case finding.SyncsOf:
		return stateOf(s.gp.syncsOf())
	case finding.SourceTopic:
		return stateOf(s.gp.sourceTopic())
	case finding.TargetTopic:
		return stateOf(s.gp.targetTopic())
	case finding.SourceLog:
		return endState(s.gp.sourcePartition())
	case finding.TargetLog:
		return endState(s.gp.targetPartition())
	case finding.TargetGroup:
		return stateOf(s.gp.targetGroup())
	case finding.SourceGroup:
		return stateOf(groupOn(f.src, s.group))
	case finding.SourceGroups:
		return stateOf(f.src.listed)
	case finding.AssignedTo:
		return stateOf(f.Assigned)
	case finding.Tasks:
		return stateOf(f.Tasks)
	case finding.Running:
		return stateOf(f.Running)
	case finding.Configured:
		return stateOf(f.Configured)
	case finding.SyncsTopic:
		return stateOf(f.Syncs)
	case finding.SyncsElse:
		return stateOf(f.SyncsElsewhere)
	case finding.CheckpointSet:
		return stateOf(f.Checkpointed)
	case finding.SyncsOthers:
		return stateOf(f.SyncsOthers)
	case finding.CheckpointsElse:
		return stateOf(f.CheckpointsElsewhere)
	case finding.CheckpointStarts:
		return stateOf(f.CheckpointStarts)
	case finding.SourcePositions:
		return stateOf(f.Positions)
	case finding.LogSigns:
		return stateOf(f.Log)
	case finding.Heartbeats:
		return stateOf(f.Heartbeat)
	case finding.Settings:
		if f.settings.gap != nil {
			return snapshot.Unknown, f.settings.gap
		}
	case finding.EarlierLook:
		if f.earlier == nil {
			return snapshot.Unknown, &snapshot.Gap{Code: "not-asked", Why: "one look cannot tell; --observe takes two"}
		}
	}
	return snapshot.Known, nil
}

func stateOf[T any](f snapshot.Fact[T]) (snapshot.State, *snapshot.Gap) { return f.State(), f.Why() }

func endState(f snapshot.Fact[snapshot.Partition]) (snapshot.State, *snapshot.Gap) {
	p, st := f.Get()
	if st != snapshot.Known {
		return st, f.Why()
	}
	return p.End.State(), p.End.Why()
}

// sortFindings puts the most important first: by severity, then what was seen before what only a configuration says, then the
// earliest link, then the code.
func sortFindings(fs []finding.Finding) {
	alone := func(f finding.Finding) int {
		if (f.Code/100 == 5 || f.Code == 608) && len(f.Explains) == 0 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(fs, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(alone(a), alone(b)), cmp.Compare(a.Link, b.Link), cmp.Compare(b.SubjectCount, a.SubjectCount), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.Subject.Group, b.Subject.Group), cmp.Compare(a.Subject.Topic, b.Subject.Topic))
	})
}
