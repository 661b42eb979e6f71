package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// mapped refuses other names for what does not exist: a typing error there would write offsets under a name that nobody meant.
func (p *planner) mapped() error {
	if p.from.lost {
		return nil // what there was is told by what is remembered
	}
	if gs, st := p.from.Groups.Get(); st == snapshot.Known && p.from.GroupsComplete.Or(false) {
		for _, id := range slices.Sorted(maps.Keys(p.sel.GroupMap)) {
			if !slices.ContainsFunc(gs, func(g snapshot.Group) bool { return g.ID == id }) {
				return fmt.Errorf("--group-map %s=%s: there is no group %s on %s; give the id that it has there first", id, p.sel.GroupMap[id], id, p.from.Alias)
			}
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(p.sel.TopicMap)) {
		if p.from.topic(topic).Absent() {
			return fmt.Errorf("--topic-map %s=%s: there is no topic %s on %s; give the name that it has there first", topic, p.sel.TopicMap[topic], topic, p.from.Alias)
		}
	}
	return nil
}

// unnamed tells of --topic patterns that no topic matches: never "nothing to do".
func (p *planner) unnamed() {
	ts, st := p.from.Topics.Get()
	if st != snapshot.Known || p.from.lost || len(p.sel.Wished) > 0 {
		return
	}
	for _, pattern := range p.sel.Topics {
		m, err := diagnose.Matcher([]string{pattern})
		if err != nil || slices.ContainsFunc(ts, func(t snapshot.Topic) bool { return m(t.Name) }) {
			continue
		}
		f := p.finding(&Refusal{Code: 217, Slug: "topic-not-on-source", Because: fmt.Sprintf("--topic %s matches no topic on %s", pattern, p.from.Alias), Next: "give the name that it has on " + p.from.Alias + "; mm2doctor diagnose --topic names the command that lists them"})
		f.Subject.Topic = pattern
		p.findings = append(p.findings, f)
	}
}
