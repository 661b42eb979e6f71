package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// whole judges what concerns every group: which clusters these are, and which way the data goes.
func (p *planner) whole() {
	if a, b := p.from.ID.Or(""), p.to.ID.Or(""); a != "" && a == b {
		p.all = append(p.all, &Refusal{Code: WrongCluster, Because: fmt.Sprintf("%s and %s are the same cluster, %s: both addresses lead to it", p.from.Alias, p.to.Alias, a), Next: "correct the address of one of them"})
	}
	if s := p.sel.State; s != nil && p.sel.SourceLost {
		if r := p.stateFits(s); r != nil {
			p.all = append(p.all, r)
		}
	}
	if b := p.sel.Bundle; b != nil && p.sel.SourceLost {
		if r := p.bundleFits(b); r != nil {
			p.all = append(p.all, r)
		}
	}
	if r := p.direction(); r != nil {
		p.all = append(p.all, r)
	}
	if p.to.ID.Or("") == "" {
		f := p.finding(&Refusal{Code: WrongCluster, Because: fmt.Sprintf("the cluster id of %s is not known (%s): apply could not prove that it writes the cluster that was planned for, and refuses this plan", p.to.Alias, cmp.Or(p.to.ID.Why(), notAsked)), Next: "plan with a connection to " + p.to.Alias})
		f.Severity = finding.Warning
		p.findings = append(p.findings, f)
	}
	limit := cmp.Or(p.sel.MaxAgeMs, MaxAge.Milliseconds())
	if old := p.now - p.snap.Taken; old > limit {
		f := p.finding(&Refusal{Code: PlanStale, Because: fmt.Sprintf("the facts of this plan were read %s ago, and the limit is %s: apply refuses it", Span(old), Span(limit)), Next: "plan again with a connection to the clusters"})
		f.Severity = finding.Warning
		p.findings = append(p.findings, f)
	}
	for _, g := range p.Wants.groups {
		remarkStreams(g)
		p.remarkLocal(g)
	}
}

// remarkLocal says what a failback of topics that keep their name does not look for: records that others wrote on this side.
func (p *planner) remarkLocal(g *wanted) {
	for _, x := range g.rows {
		if x.syncs.Swapped && x.syncs.OneTopic && x.refusal == nil {
			g.g.Remarks = append(g.g.Remarks, fmt.Sprintf("%s has the same name on both clusters: records that producers wrote to it on %s are on %s only where they were mirrored back, and are looked for around the positions and at the end, not in between", x.row.Topic, p.from.Alias, p.to.Alias))
			return
		}
	}
}

func (p *planner) stateFits(s *State) *Refusal {
	f := p.flow.Flow()
	next := "give the state file of this flow"
	switch id := p.to.ID.Or(""); {
	case s.Flow != f.Name():
		return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the state file speaks of flow %s, not %s", s.Flow, f.Name()), Next: next}
	case id != "" && s.TargetID != "" && id != s.TargetID:
		return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the state file was kept for target cluster %s, and %s is %s", s.TargetID, p.to.Alias, id), Next: next}
	}
	return nil
}

// bundleFits refuses a captured snapshot of other clusters: its positions would be those of other topics.
func (p *planner) bundleFits(b *snapshot.Snapshot) *Refusal {
	next := "give the snapshot that was captured of this flow"
	old := newSide(b, p.to.Alias, false).ID.Or("")
	switch id := p.to.ID.Or(""); {
	case p.olderFlow() == nil:
		return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the captured snapshot does not hold the flow %s", p.flow.Flow().Name()), Next: next}
	case id != "" && old != "" && id != old:
		return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the captured snapshot is of target cluster %s, and %s is %s", old, p.to.Alias, id), Next: next}
	}
	if s := p.sel.State; s != nil {
		if src := newSide(b, p.from.Alias, false).ID.Or(""); src != "" && s.SourceID != "" && src != s.SourceID {
			return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the captured snapshot is of source cluster %s, and the state file was kept of %s", src, s.SourceID), Next: "leave out the one that is not of this flow"}
		}
	}
	return nil
}

// olderFlow is the flow in the captured snapshot that stands for a lost source; nil without.
func (p *planner) olderFlow() *snapshot.Flow {
	if b := p.sel.Bundle; b != nil {
		for i := range b.Flows {
			if b.Flows[i].Name() == p.flow.Flow().Name() {
				return &b.Flows[i]
			}
		}
	}
	return nil
}

// direction proves that the flow mirrors the way it is said to: its checkpoints lie on its target, and each sync's offsets fit the
// logs they name. What fits only when exchanged, all over, was exchanged.
func (p *planner) direction() *Refusal {
	f := p.flow.Flow()
	src, dst := newSide(p.snap, f.Source, false), newSide(p.snap, f.Target, false)
	s, st := f.Syncs.Get()
	straight, crossed := 0, 0
	var shown string
	if st == snapshot.Known {
		for i := range s.Partitions {
			x := &s.Partitions[i]
			name, _ := p.flow.Remote(x.Topic)
			a, b := endOf(src, x.Topic, x.Partition), endOf(dst, name, x.Partition)
			if a < 0 || b < 0 {
				continue
			}
			fits, fitsCrossed := x.Newest.Up < a && x.Newest.Down < b, x.Newest.Up < b && x.Newest.Down < a
			switch {
			case fits && !fitsCrossed:
				straight++
			case !fits && fitsCrossed:
				crossed++
				if shown == "" {
					shown = fmt.Sprintf("%s-%d has an offset sync %d -> %d, and its log ends at %d on %s and at %d on %s", x.Topic, x.Partition, x.Newest.Up, x.Newest.Down, a, f.Source, b, f.Target)
				}
			}
		}
	}
	if crossed > 0 && straight == 0 {
		return &Refusal{Code: Direction, Because: shown + fmt.Sprintf("; you have probably exchanged source and target (%s)", finding.Count(crossed, "partition")), Next: "exchange the addresses, or the aliases, or name the other flow"}
	}
	c, cst := f.Checkpointed.Get()
	proved := st == snapshot.Known && len(s.Partitions) > 0 || cst == snapshot.Known && len(c.Newest) > 0
	if proved {
		return nil
	}
	if x, ok := f.CheckpointsElsewhere.Get(); ok == snapshot.Known {
		return &Refusal{Code: Direction, Because: fmt.Sprintf("the checkpoints of %s lie on %s (%s), the cluster they should speak of", f.Name(), x.Cluster, x.Topic), Next: "you have probably exchanged the clusters, or the worker is attached to the source: mm2doctor diagnose tells (MM2D-211)"}
	}
	var against []string
	if p.back != nil {
		b := p.back.Flow()
		if v, st := b.Syncs.Get(); st == snapshot.Known && len(v.Partitions) > 0 {
			against = append(against, "offset syncs of "+b.Name()+" in "+v.Topic+" on "+v.Cluster)
		}
		if v, st := b.Checkpointed.Get(); st == snapshot.Known && len(v.Newest) > 0 {
			against = append(against, "checkpoints of "+b.Name()+" in "+v.Topic)
		}
	}
	if len(against) > 0 && !p.sel.Reverse {
		return &Refusal{Code: Direction, Because: fmt.Sprintf("nothing of %s was found, but %s: you have probably exchanged source and target", f.Name(), strings.Join(against, " and ")), Next: "exchange them, or name the other flow (--flow), or say --reverse for a failback"}
	}
	if len(p.pairs) > 0 {
		return nil // the state file was kept while both clusters answered
	}
	if old := p.olderFlow(); old != nil {
		if v, ok := old.Syncs.Get(); ok == snapshot.Known && len(v.Partitions) > 0 {
			return nil
		}
	}
	if p.named(src, dst) || p.beats() {
		return nil
	}
	why := func(name string, st snapshot.State, gap *snapshot.Gap) string {
		if st == snapshot.Unknown {
			return name + " could not be read (" + gap.String() + ")"
		}
		return "there are no " + name
	}
	return &Refusal{Code: Direction, Because: fmt.Sprintf("nothing proves that %s is mirrored to %s: %s, and %s", f.Source, f.Target, why("offset syncs", st, f.Syncs.Why()), why("checkpoints", cst, f.Checkpointed.Why())),
		Next: fmt.Sprintf("an offset sync proves it, and MirrorMaker 2 writes one with the first record that it mirrors after a start: let it run, write a record to a mirrored topic of %s, and plan again; a plan that was kept before (--plan-out) can be applied as it is; mm2doctor diagnose tells which flows there are and what keeps them from being read", f.Source)}
}

// named says that a topic of the source has a copy on the target whose name holds the source's alias: no flow in the other direction
// makes such a name there.
func (p *planner) named(src, dst *side) bool {
	return slices.ContainsFunc(src.Topics.Or(nil), func(t snapshot.Topic) bool {
		name, sure := p.flow.Remote(t.Name)
		return sure && name != t.Name && !p.flow.OwnTopic(t.Name) && !p.flow.FromTarget(t.Name) && slices.ContainsFunc(t.Partitions, func(x snapshot.Partition) bool { return endOf(dst, name, x.ID) > 0 })
	})
}

// beats says that MirrorMaker 2 wrote heartbeats of the flow to its target. The policies of Kafka give copies of heartbeats another name,
// also IdentityReplicationPolicy, so that these are no copies.
func (p *planner) beats() bool {
	_, known := p.flow.Flow().Heartbeat.Get()
	_, sure := p.flow.Remote("heartbeats")
	return known == snapshot.Known && sure
}

func endOf(s *side, topic string, part int32) int64 {
	x, st := s.partition(topic, part).Get()
	if st != snapshot.Known {
		return -1
	}
	return x.End.Or(-1)
}

func findCheckpoint(cs []snapshot.Checkpoint, group, topic string, part int32) (int, bool) {
	return slices.BinarySearchFunc(cs, snapshot.Checkpoint{Group: group, Topic: topic, Partition: part}, func(a, b snapshot.Checkpoint) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

// position is what the reader is asked for a row.
func (p *planner) position(g *wanted, w *want) Position {
	r := &w.row
	x := Position{Group: g.g.Group, Offset: kafka.NoOffset, Syncs: w.syncs,
		From: Place{p.from.Alias, kafka.TopicPartition{Topic: r.Topic, Partition: r.Partition}},
		To:   Place{p.to.Alias, kafka.TopicPartition{Topic: r.TargetTopic, Partition: r.Partition}}}
	if r.From != nil {
		x.Offset = r.From.Offset
	}
	add := func(at int64) {
		if at >= 0 && !slices.Contains(x.Also, at) {
			x.Also = append(x.Also, at)
		}
	}
	if r.Before != nil {
		add(r.Before.Offset)
	}
	if r.MM2 != nil {
		add(*r.MM2)
	}
	if w.wish != nil {
		add(*w.wish)
	}
	if c, st := w.checkpoint.Get(); st == snapshot.Known {
		add(c.Down)
	}
	x.Time, _ = fallbackTime(p.sel.Options.Fallback)
	return x
}

// finding puts a refusal into the form of the reports.
func (w *Wants) finding(r *Refusal) finding.Finding {
	e := finding.Lookup(r.Code)
	f := finding.Finding{Code: r.Code, ID: r.Code.String(), CodeText: r.Code.String(), Severity: finding.Error, Link: finding.LinkNone, Flow: w.flow.Flow().Name(), Because: r.Because, Docs: "docs/codes/" + r.Code.String() + ".md", SubjectCount: 1}
	if e != nil {
		f.Slug, f.Severity, f.Link = e.Slug, e.Severity, e.Link
	}
	f.Slug = cmp.Or(r.Slug, f.Slug)
	if r.Next != "" {
		f.Fixes = []finding.Fix{{Mode: "kafka", Text: r.Next}}
	}
	return f
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
