package plan

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

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
