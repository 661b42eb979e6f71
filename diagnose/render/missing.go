package render

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// missing is one reason with all the checks that it hides.
type missing struct {
	checks  []string
	subject *finding.Subject
	count   int
	why, by string
}

// notChecked prints what could not be decided, equal reasons once.
func (p *printer) notChecked() {
	var list []*missing
	at := map[[2]string]*missing{}
	for i := range p.r.NotChecked {
		n := &p.r.NotChecked[i]
		k := [2]string{n.Why, n.DecidedBy}
		m := at[k]
		if m == nil {
			m = &missing{why: n.Why, by: n.DecidedBy, subject: n.Subject}
			at[k], list = m, append(list, m)
		}
		m.checks = add(m.checks, p.clean(n.Check))
		m.count = max(m.count, n.Count)
		if n.Subject == nil || m.subject != nil && !same(m.subject, n.Subject) {
			m.subject = nil
		}
	}
	for i, m := range list {
		if i == 0 {
			p.blank()
		}
		if i >= someMissing && !p.o.Verbose {
			p.line(fmt.Sprintf("  %s %d more %s (-v)", p.s.Ellipsis(), len(list)-i, plural("reason", len(list)-i)))
			break
		}
		head := "not checked: "
		text := some(p.s, m.checks, 4) + " " + p.s.Dash() + " "
		if m.subject != nil {
			text += subjects(p.s, *m.subject, nil, 1)
			if m.count > 1 {
				text += fmt.Sprintf(" and %d more", m.count-1)
			}
			text += ": "
		}
		text += strings.TrimRight(p.prose(m.why), ".")
		if m.by != "" {
			text += "; decided by: " + p.prose(m.by)
		}
		p.hang(p.s.Mark(term.Unknown)+" "+p.s.Paint(term.Unsure, head), p.s.MarkWidth()+1+len(head), text)
	}
}

func same(a, b *finding.Subject) bool {
	return a.Group == b.Group && a.Topic == b.Topic && a.Connector == b.Connector && a.Cluster == b.Cluster && a.File == b.File && a.Key == b.Key
}

func (p *printer) skipped() {
	if len(p.r.Skipped) == 0 {
		return
	}
	parts := make([]string, len(p.r.Skipped))
	for i := range p.r.Skipped {
		parts[i] = p.skippedOne(&p.r.Skipped[i])
	}
	if len(p.r.NotChecked) == 0 {
		p.blank()
	}
	p.hang(p.s.Mark(term.None)+" left out: ", p.s.MarkWidth()+11, strings.Join(parts, "; "))
}

func (p *printer) skippedOne(g *diagnose.SkippedGroups) string {
	text := finding.Count(g.Count, "group") + ", " + p.prose(g.Reason)
	if len(p.r.Flows) > 1 {
		text = p.clean(g.Flow) + ": " + text
	}
	if len(g.Some) == 0 {
		return text
	}
	names := make([]string, len(g.Some))
	for i, n := range g.Some {
		names[i] = p.clean(n)
	}
	if g.Count > len(names) {
		names = append(names, p.s.Ellipsis())
	}
	return text + " (" + strings.Join(names, ", ") + ")"
}
