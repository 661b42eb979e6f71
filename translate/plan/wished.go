package plan

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

func (p *planner) matches(pattern, id string) bool {
	m, err := diagnose.Matcher([]string{pattern})
	return err == nil && m(id)
}

// wished takes the rows of a file. The group's position, where there is one, tells what the wish would skip or repeat.
func (p *planner) wished() error {
	groups := map[string]*wanted{}
	seen := map[rowKey]int{}
	home := func(m map[string]string, name string) (string, bool) {
		for from, to := range m {
			if to == name {
				return from, true
			}
		}
		return name, false
	}
	for i := range p.sel.Wished {
		x := &p.sel.Wished[i]
		k := rowKey{x.Group, x.Topic, x.Partition}
		if before := seen[k]; before > 0 {
			return fmt.Errorf("line %d: group %s, %s-%d was given in line %d already: keep one of them", x.Line, x.Group, x.Topic, x.Partition, before)
		}
		seen[k] = x.Line
		if len(p.sel.Groups) > 0 && !p.groups(x.Group) {
			p.leave("rows of the file that --group does not name", x.Group)
			continue
		}
		id, _ := home(p.sel.GroupMap, x.Group)
		w := groups[x.Group]
		if w == nil {
			kind := string(kafka.TypeClassic)
			if g := p.from.groups[id]; g != nil {
				t, _ := typeOf(g)
				kind = string(t)
			} else if g := p.to.groups[x.Group]; g != nil {
				t, _ := typeOf(g)
				kind = string(t)
			}
			w = p.newGroup(id, kind)
			if w.g.TargetGroup != x.Group {
				w = p.newGroup(x.Group, kind)
			}
			groups[x.Group] = w
			p.Wants.groups = append(p.Wants.groups, w)
		}
		topic, ok := home(p.sel.TopicMap, x.Topic)
		if !ok {
			topic = p.originOf(x.Topic)
		}
		var from *Committed
		if o, st := p.from.stored(id, topic, x.Partition).Get(); st == snapshot.Known && o.Offset >= 0 {
			from = &Committed{Offset: o.Offset, Epoch: o.Epoch, Metadata: o.Metadata}
		}
		p.wish(w, topic, x, from)
	}
	p.scope.Of = len(groups)
	p.scope.Rule = "the rows of the file of wanted offsets, and nothing else"
	return nil
}

// originOf is where the positions of a topic of the written cluster come from; the topic itself where nothing leads to it.
func (p *planner) originOf(topic string) string {
	if !p.sel.Reverse {
		if up, ok := p.flow.Upstream(topic); ok {
			return up
		}
		return topic
	}
	if p.back != nil {
		if up, ok := p.back.Upstream(topic); ok {
			return up
		}
	}
	name, _ := p.flow.Remote(topic)
	return name
}

func (p *planner) wish(g *wanted, topic string, x *Wish, from *Committed) {
	offset := x.Offset
	n := len(g.rows)
	w := p.row(g, topic, x.Partition, from, "committed", 0)
	leads := w != nil && w.refusal == nil && w.row.TargetTopic == x.Topic
	if leads {
		w.wish = &offset
		return
	}
	// No way leads from a position to this topic: the wish stands alone, and what it skips cannot be counted.
	g.rows = g.rows[:n]
	w = &want{pos: 0, group: g.g.Group, wish: &offset, row: Row{Topic: topic, TargetTopic: x.Topic, Partition: x.Partition, TargetTopicID: p.to.topicID(x.Topic), FromBasis: "file", Epoch: kafka.NoEpoch, SourceEnd: -1, LogStart: -1, Stable: -1, End: -1, MM2Why: "no flow leads to this topic"}}
	w.target = p.to.partition(x.Topic, x.Partition)
	w.checkpoint = p.checkpointOf(g.g.TargetGroup, x.Topic, x.Partition)
	g.rows = append(g.rows, w)
	switch at, st := w.target.Get(); st {
	case snapshot.Unknown:
		w.pos, w.refusal = -1, notKnown(Unmapped, fmt.Sprintf("line %d: whether %s-%d is on %s", x.Line, x.Topic, x.Partition, p.to.Alias), w.target.Why())
	case snapshot.Absent:
		w.pos, w.refusal = -1, &Refusal{Code: Unmapped, Because: fmt.Sprintf("line %d: there is no %s-%d on %s", x.Line, x.Topic, x.Partition, p.to.Alias), Next: "the file names topics as they are called on " + p.to.Alias + ": correct it, or give --topic-map"}
	default:
		w.row.LogStart, w.row.End = at.Start.Or(-1), at.End.Or(-1)
		w.row.Stable = at.Stable.Or(w.row.End)
		p.before(g, w)
	}
}
