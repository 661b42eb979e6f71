package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// last is a position that somebody remembers of a cluster that is gone.
type last struct {
	at       int64 // ms
	basis    string
	from     Committed
	topicKey rowKey
}

// remembered takes the newest position of each partition that the state file, a bundle or a checkpoint still tells.
func (p *planner) remembered() {
	best := map[rowKey]last{}
	kinds := map[string]string{}
	take := func(k rowKey, l last) {
		if o, ok := best[k]; !ok || l.at > o.at {
			l.topicKey = k
			best[k] = l
		}
	}
	f := p.flow.Flow()
	var strange []string
	if s := p.sel.State; s != nil && !p.sel.Reverse {
		for i := range s.Positions {
			x := &s.Positions[i]
			take(rowKey{x.Group, x.Topic, x.Partition}, last{at: x.Time, basis: "state", from: Committed{Offset: x.Offset, Epoch: kafka.NoEpoch, Metadata: x.Metadata}})
			if x.Target >= 0 && strings.HasPrefix(x.Verdict, match.Exact.String()) {
				tp := kafka.TopicPartition{Topic: x.Topic, Partition: x.Partition}
				if p.pairs == nil {
					p.pairs = map[kafka.TopicPartition][]*StatePartition{}
				}
				p.pairs[tp] = append(p.pairs[tp], x)
			}
		}
	}
	if b := p.sel.Bundle; b != nil {
		old := newSide(b, p.from.Alias, false)
		for _, g := range old.Groups.Or(nil) {
			if kind, _ := typeOf(&g); kind != kafka.TypeClassic {
				kinds[g.ID] = string(kind)
			}
			if g.ProtocolType != "" && g.ProtocolType != "consumer" {
				continue
			}
			for _, o := range g.Offsets.Or(nil) {
				take(rowKey{g.ID, o.Topic, o.Partition}, last{at: b.Taken, basis: "bundle", from: Committed{Offset: o.Offset, Epoch: o.Epoch, Metadata: o.Metadata}})
			}
		}
	}
	if c, st := f.Checkpointed.Get(); st == snapshot.Known && !p.sel.Reverse {
		for _, x := range c.Newest {
			topic, ok := p.flow.Upstream(x.Topic)
			if !ok {
				if name, _ := p.flow.Remote(x.Topic); name != x.Topic {
					p.leave("checkpoints of topics that are no copies by the names that this flow gives", x.Group+" "+x.Topic)
					strange = append(strange, x.Topic)
					continue
				}
				topic = x.Topic
			}
			take(rowKey{x.Group, topic, x.Partition}, last{at: x.Time, basis: "checkpoint", from: Committed{Offset: x.Up, Epoch: kafka.NoEpoch, Metadata: x.Metadata}})
		}
	}
	var keys []rowKey
	for k := range best {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.topic, b.topic), cmp.Compare(a.part, b.part))
	})
	groups := map[string]*wanted{}
	seen := map[string]bool{}
	unknownFilter := ""
	for _, k := range keys {
		if !seen[k.group] {
			seen[k.group] = true
			p.scope.Of++
			g := &snapshot.Group{ID: k.group, Type: snapshot.Is(kafka.GroupType(cmp.Or(kinds[k.group], string(kafka.TypeClassic))))}
			reason, unsure := p.outside(g)
			if unsure != "" {
				unknownFilter = unsure
			}
			switch {
			case len(p.sel.Groups) > 0 && !p.groups(k.group):
			case reason != "":
				p.leave(reason, k.group)
			default:
				groups[k.group] = p.newGroup(k.group, string(g.Type.Or("")))
			}
		}
		w := groups[k.group]
		if w == nil || p.skips(k.group, k.topic) {
			continue
		}
		l := best[k]
		if l.from.Offset < 0 {
			p.leave("partitions with a negative committed offset, which is none", fmt.Sprintf("%s %s-%d", k.group, k.topic, k.part))
			continue
		}
		p.row(w, k.topic, k.part, &l.from, l.basis, max(0, p.now-l.at))
	}
	for id, w := range groups {
		if len(w.rows) > 0 || len(w.refusals) > 0 {
			p.Wants.groups = append(p.Wants.groups, w)
		} else {
			p.leave("without any position that is remembered", id)
		}
	}
	p.tellRule(unknownFilter)
	p.scope.Rule += "; " + p.from.Alias + " is given up: positions are the newest of what state file, bundle and checkpoints still tell"
	for _, pattern := range p.sel.Groups {
		if !slices.ContainsFunc(keys, func(k rowKey) bool { return p.matches(pattern, k.group) }) {
			p.nothing(pattern)
		}
	}
	if len(p.Wants.groups) == 0 && len(p.findings) == 0 { // nothing found is not nothing to do
		r := &Refusal{Code: Unmapped, Slug: "nothing-remembered", Because: fmt.Sprintf("no position of %s is remembered: neither checkpoints of %s nor a state file or a captured snapshot tell any", p.from.Alias, f.Name()), Next: "give what was kept while " + p.from.Alias + " answered (--state FILE, a captured snapshot), or set offsets of your own with --from-file"}
		switch {
		case len(strange) > 0:
			r.Because = fmt.Sprintf("the checkpoints of %s are about topics such as %s, which are no copies by the names that this flow gives: another replication policy made them", f.Name(), strange[0])
			r.Next = "give the configuration that names the policy (mm2.properties with replication.policy.class), instead of addresses alone"
		case f.Checkpointed.Unknown():
			r.Because += fmt.Sprintf("; checkpoints could not be read (%s)", f.Checkpointed.Why())
		}
		p.findings = append(p.findings, p.finding(r))
	}
	if f.Checkpointed.Unknown() {
		p.scope.Rule += fmt.Sprintf("; checkpoints could not be read (%s)", f.Checkpointed.Why())
	}
}
