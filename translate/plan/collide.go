package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// collisions refuses what would be written twice: two groups under one id, or two partitions of a group in one.
func (p *planner) collisions() {
	by := map[string][]*wanted{}
	for _, g := range p.Wants.groups {
		by[g.g.TargetGroup] = append(by[g.g.TargetGroup], g)
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
	for id, gs := range by {
		if len(gs) < 2 {
			continue
		}
		var names []string
		for _, g := range gs {
			names = append(names, g.g.Group)
		}
		slices.Sort(names)
		for _, g := range gs {
			g.refusals = append(g.refusals, &Refusal{Code: Unmapped, Slug: "two-in-one", Because: fmt.Sprintf("groups %s of %s would both be written to group %s on %s", strings.Join(names, " and "), p.from.Alias, id, p.to.Alias),
				Next: "give another id with --group-map, or choose one of them with --group"})
		}
	}
}

// unusedMaps tells of a --group-map or --topic-map that nothing comes under: it is a slip of the pen, never "done".
func (p *planner) unusedMaps() {
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
			if used[old] || flag == "--group-map" && p.from.groups[old] != nil && len(p.sel.Groups) > 0 {
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
