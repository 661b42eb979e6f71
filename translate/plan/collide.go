package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// collisions refuses groups of which two partitions would be written to one.
func (p *planner) collisions() {
	for _, g := range p.Wants.groups {
		places := map[kafka.TopicPartition]*want{}
		for _, x := range g.rows {
			tp := kafka.TopicPartition{Topic: x.row.TargetTopic, Partition: x.row.Partition}
			first := places[tp]
			if first == nil {
				places[tp] = x
				continue
			}
			g.refusals = append(g.refusals, &Refusal{Code: Unmapped, Slug: "two-in-one", Because: fmt.Sprintf("positions of group %s in %s-%d and in %s-%d both lead to %s on %s", g.g.Group, first.row.Topic, first.row.Partition, x.row.Topic, x.row.Partition, tp, p.to.Alias),
				Next: "correct --topic-map, or leave one of the topics out with --topic"})
			break
		}
	}
}

// unusedMaps tells of a --group-map or --topic-map that nothing remembered of a lost cluster comes under: a slip of the pen, never
// "done".
func (p *planner) unusedMaps() {
	if !p.from.lost || len(p.sel.Wished) > 0 {
		return
	}
	groups, topics := map[string]bool{}, map[string]bool{}
	for _, g := range p.Wants.groups {
		groups[g.g.Group], groups[g.g.TargetGroup] = true, true
		for _, x := range g.rows {
			topics[x.row.Topic] = true
		}
	}
	tell := func(flag string, names map[string]string, used map[string]bool, what string) {
		for _, old := range slices.Sorted(maps.Keys(names)) {
			now := names[old]
			if used[old] {
				continue
			}
			f := p.finding(&Refusal{Code: 217, Because: fmt.Sprintf("%s %s=%s: %s", flag, old, now, fmt.Sprintf(what, old, p.from.Alias)), Next: "give the name as it is on " + p.from.Alias})
			f.Subject.Group = old
			p.findings = append(p.findings, f)
		}
	}
	tell("--group-map", p.sel.GroupMap, groups, "no group %s with positions on %s is in this plan")
	tell("--topic-map", p.sel.TopicMap, topics, "no group in this plan has a position in a topic %s of %s")
}
