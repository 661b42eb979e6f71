package plan

import (
	"cmp"
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// route is how a topic leads to the other cluster.
type route struct {
	target  string
	syncs   SyncsRef
	rules   *diagnose.Rules // whose MirrorMaker 2 translates positions this way; nil: none does
	left    string          // why the topic is none of the translation's business
	refusal *Refusal        // why it leads nowhere
}

// route finds the copy of a topic. Only what is mirrored is touched, and what another flow brought is not carried on.
func (p *planner) route(topic string, part int32) route {
	r := p.wayTo(topic)
	if r.left != "" || r.refusal != nil {
		return r
	}
	if to := p.sel.TopicMap[topic]; to != "" {
		r.target, r.syncs.OneTopic = to, to == topic
	}
	r.syncs.Of.Partition = part
	return r
}

func (p *planner) wayTo(topic string) route {
	if p.sel.Reverse {
		return p.wayBack(topic)
	}
	f := &p.flow
	name, sure := f.Remote(topic)
	switch {
	case f.FromTarget(topic):
		return route{left: "commits on topics that came from " + p.to.Alias + ", which go back there by --flow " + p.to.Alias + ":" + p.from.Alias + " --reverse"}
	case p.brought(topic) != "" && !literally(p.sel.Topics, topic):
		return route{left: "commits on topics that another flow brought (" + p.brought(topic) + "), not carried onward unless --topic names them"}
	}
	mapped := p.sel.TopicMap[topic] != ""
	if !sure && !mapped && p.to.topic(name).State() != snapshot.Known {
		return route{refusal: &Refusal{Code: Unmapped, Because: fmt.Sprintf("what the copy of %s is called is not known: the replication policy is not one of Kafka's own", topic), Next: "give its name: --topic-map " + topic + "=NAME"}}
	}
	if d := f.Topic(topic); d.Known && !d.Passes && !mapped && !literally(p.sel.Topics, topic) && !(p.sel.Options.AllGroups && p.to.topic(name).Known()) {
		return route{left: "commits on topics that the filters leave out, so that they are not mirrored"}
	} else if !d.Known && !mapped && p.to.topic(name).Absent() {
		return route{left: "commits on topics without a copy on " + p.to.Alias}
	}
	return route{target: name, rules: f, syncs: p.syncsOf(f, topic, false, name == topic)}
}

// wayBack: a copy leads to its original by the inverse of the flow; the cluster's own topics by the flow in the other direction.
func (p *planner) wayBack(topic string) route {
	f := &p.flow
	if up, ok := f.Upstream(topic); ok {
		return route{target: up, syncs: p.syncsOf(f, up, true, up == topic)}
	}
	if name, sure := f.Remote(topic); sure && name == topic && p.to.topic(topic).State() != snapshot.Absent {
		return route{target: topic, syncs: p.syncsOf(f, topic, true, true)} // identity policy: originals and local records mixed
	}
	if p.back != nil {
		if d := p.back.Topic(topic); d.Known && !d.Passes && !literally(p.sel.Topics, topic) {
			return route{left: "commits on topics that the filters of " + p.back.Flow().Name() + " leave out, so that they are not mirrored back"}
		}
		if name, sure := p.back.Remote(topic); sure || p.to.topic(name).Known() {
			return route{target: name, rules: p.back, syncs: p.syncsOf(p.back, topic, false, name == topic)}
		}
	}
	if to := p.sel.TopicMap[topic]; to != "" {
		return route{target: to, syncs: p.syncsOf(f, topic, true, to == topic)}
	}
	return route{refusal: &Refusal{Code: Unmapped, Because: fmt.Sprintf("%s is %s's own topic, and no flow mirrors it back to %s", topic, p.from.Alias, p.to.Alias), Next: fmt.Sprintf("mirror it (a flow %s->%s) before the application goes back, or leave the topic out with --topic", p.from.Alias, p.to.Alias)}}
}

// brought names the flow that wrote a topic of the cluster that positions come from.
func (p *planner) brought(topic string) string {
	for _, o := range p.others {
		if name, ok := o.Upstream(topic); ok && name != topic {
			return o.Flow().Name()
		}
	}
	return ""
}

func (p *planner) syncsOf(r *diagnose.Rules, topic string, swapped, one bool) SyncsRef {
	f := r.Flow()
	s := SyncsRef{Flow: f.Name(), Cluster: f.SyncsOn, Topic: f.SyncsTopic, Of: kafka.TopicPartition{Topic: topic}, Swapped: swapped, OneTopic: one}
	switch v, st := f.Syncs.Get(); st {
	case snapshot.Known:
		s.Cluster, s.Topic = v.Cluster, v.Topic
	case snapshot.Absent:
		s.Cluster = ""
	}
	if p.from.lost && s.Cluster == p.from.Alias {
		s.Cluster = ""
	}
	if yes, known := r.ReadsCommitted(); known {
		s.Isolation = match.Uncommitted
		if yes {
			s.Isolation = match.Committed
		}
	}
	return s
}

// row adds one partition of a group.
func (p *planner) row(g *wanted, topic string, part int32, from *Committed, basis string, age int64) *want {
	r := p.route(topic, part)
	if r.left != "" {
		p.leave(r.left, g.g.Group)
		return nil
	}
	w := &want{pos: -1, group: g.g.Group, row: Row{Topic: topic, TargetTopic: r.target, Partition: part, TopicID: p.from.topicID(topic), TargetTopicID: p.to.topicID(r.target), From: from, FromBasis: basis, FromAgeMs: age, Epoch: kafka.NoEpoch, SourceEnd: -1, LogStart: -1, Stable: -1, End: -1}}
	w.checkpoint = snapshot.NotKnown[snapshot.Checkpoint](notAsked)
	if to := p.sel.TopicMap[topic]; to != "" && r.rules != nil {
		name, sure := r.rules.Remote(topic)
		w.elsewhere = sure && name != to && p.to.topic(name).Known()
	}
	g.rows = append(g.rows, w)
	if r.refusal != nil {
		w.refusal = r.refusal
		return w
	}
	w.target = p.to.partition(r.target, part)
	switch w.target.State() {
	case snapshot.Unknown:
		w.refusal = notKnown(Unmapped, fmt.Sprintf("whether %s-%d is on %s", r.target, part, p.to.Alias), w.target.Why())
		return w
	case snapshot.Absent:
		w.refusal = &Refusal{Code: Unmapped, Because: fmt.Sprintf("%s-%d, which has no copy on %s: %s", topic, part, p.to.Alias, p.whyNoCopy(topic, r.target)), Next: "mm2doctor diagnose --topic " + topic + " tells why it is not mirrored; or leave the topic out with --topic"}
		return w
	}
	w.mapped, w.pos = true, 0
	w.syncs = r.syncs
	p.before(g, w)
	p.mm2(g, w, r.rules)
	if at, st := w.target.Get(); st == snapshot.Known {
		w.row.LogStart, w.row.End = at.Start.Or(-1), at.End.Or(-1)
		w.row.Stable = at.Stable.Or(w.row.End)
	}
	if at, st := p.from.partition(topic, part).Get(); st == snapshot.Known {
		w.row.SourceEnd = at.End.Or(-1)
	}
	return w
}

func (p *planner) whyNoCopy(topic, target string) string {
	if t, st := p.to.topic(target).Get(); st == snapshot.Known {
		return fmt.Sprintf("%s there has %s", target, finding.Count(len(t.Partitions), "partition"))
	}
	return "there is no topic " + target
}

// before is what the group has on the target: without it nobody can tell whether the plan would rewind.
func (p *planner) before(g *wanted, w *want) {
	if g.share {
		p.shareBefore(g, w)
		return
	}
	o, st := p.to.stored(g.g.TargetGroup, w.row.TargetTopic, w.row.Partition).Get()
	switch st {
	case snapshot.Known:
		w.row.Before = &Committed{Offset: o.Offset, Epoch: o.Epoch, Metadata: o.Metadata}
	case snapshot.Unknown:
		w.row.unknown("before", p.to.stored(g.g.TargetGroup, w.row.TargetTopic, w.row.Partition).Why().String())
		if len(g.refusals) == 0 { // else the group's own state is not known, which is said once
			w.refusal = notKnown(WouldRewind, fmt.Sprintf("what group %s has in %s-%d on %s", g.g.TargetGroup, w.row.TargetTopic, w.row.Partition, p.to.Alias), p.to.stored(g.g.TargetGroup, w.row.TargetTopic, w.row.Partition).Why())
		}
	}
}

// mm2 is what MirrorMaker 2 makes of the position, by the report where that has the row, and its checkpoint.
func (p *planner) mm2(g *wanted, w *want, rules *diagnose.Rules) {
	r := &w.row
	w.checkpoint = p.checkpointOf(g.g.TargetGroup, r.TargetTopic, r.Partition) // also of another group that is mirrored under this id
	switch {
	case g.share:
		r.MM2Why = "MirrorMaker 2 does not see share groups"
		return
	case g.g.Type == string(kafka.TypeStreams):
		r.MM2Why = "MirrorMaker 2 does not see streams groups"
		return
	case rules == nil:
		r.MM2Why = "MirrorMaker 2 does not translate positions on copies back"
	case r.From == nil:
		r.MM2Why = "there is no position"
	default:
		t := p.translation(g, w, rules)
		switch {
		case !t.Known:
			r.MM2Why = cmp.Or(t.Why, "it cannot be told")
			r.unknown("mm2Expected", r.MM2Why)
		case t.None:
			r.MM2Why = cmp.Or(t.Why, "it has no translation for the position")
		default:
			r.MM2 = &t.Offset
			r.Sync = &SyncRef{t.Sync.Upstream, t.Sync.Downstream, t.Sync.Offset}
		}
	}
}

func (r *Row) unknown(key, why string) {
	if r.Unknown == nil {
		r.Unknown = map[string]string{}
	}
	r.Unknown[key] = why
}

func (p *planner) translation(g *wanted, w *want, rules *diagnose.Rules) diagnose.Translation {
	r := &w.row
	if x := p.rows[rowKey{g.g.Group, r.Topic, r.Partition}]; x != nil && !p.sel.Reverse && x.Committed.Source.Or(-1) == r.From.Offset {
		v, st := x.MM2Expected.Get()
		switch st {
		case snapshot.Known:
			s := x.Sync.Or(diagnose.SyncRef{})
			return diagnose.Translation{Known: true, Offset: v, Sync: s}
		case snapshot.Unknown:
			if why := x.Unknown["mm2Expected"]; why != "" {
				return diagnose.Translation{Why: why}
			}
		}
	}
	return rules.Translate(r.Topic, r.Partition, r.From.Offset)
}

// checkpointOf is the newest checkpoint of the flow that commits to the cluster that is written.
func (p *planner) checkpointOf(group, topic string, part int32) snapshot.Fact[snapshot.Checkpoint] {
	if p.writer == nil {
		return snapshot.None[snapshot.Checkpoint]()
	}
	return checkpointIn(p.writer.Flow(), group, topic, part)
}

func checkpointIn(f *snapshot.Flow, group, topic string, part int32) snapshot.Fact[snapshot.Checkpoint] {
	c, st := f.Checkpointed.Get()
	switch st {
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Checkpoint](cmp.Or(f.Checkpointed.Why(), notAsked))
	case snapshot.Known:
		if i, ok := findCheckpoint(c.Newest, group, topic, part); ok {
			return snapshot.Is(c.Newest[i])
		}
	}
	return snapshot.None[snapshot.Checkpoint]()
}
