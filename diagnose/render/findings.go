package render

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// How much is shown without -v. The first finding is the root cause: it gets the room.
const (
	fullFindings = 5 // errors and warnings printed whole
	someShorts   = 6 // further findings, and remarks, in two lines each
	someConfirms = 1 // confirming commands of each
	someEffects  = 4 // of what a finding explains
	someMissing  = 5 // reasons why something was not checked
	labelWidth   = 12
)

func (p *printer) findings() {
	var shorts, remarks []*finding.Finding
	full := 0
	for i := range p.r.Findings {
		f := &p.r.Findings[i]
		switch {
		case p.o.Verbose || f.Severity > finding.Info && full < fullFindings:
			full++
			p.finding(f)
			// The page of a code is named once, under the last of several findings of it.
			last := i+1 == len(p.r.Findings) || !p.o.Verbose && full == fullFindings
			if f.Code > 0 && (last || p.r.Findings[i+1].Code != f.Code) {
				p.label("docs", "mm2doctor explain "+f.Code.String())
			}
		case f.Severity > finding.Info:
			shorts = append(shorts, f)
		default:
			remarks = append(remarks, f)
		}
	}
	p.shorts(shorts, "finding")
	p.shorts(remarks, "remark")
}

// shorts prints each finding as its title and one sentence, and counts those beyond someShorts.
func (p *printer) shorts(list []*finding.Finding, noun string) {
	for i, f := range list {
		if i == 0 {
			p.blank()
		}
		if i >= someShorts {
			p.line(fmt.Sprintf("  %s %d more %s (-v)", p.s.Ellipsis(), len(list)-i, plural(noun, len(list)-i)))
			return
		}
		p.titleLines(f)
		p.hang("    ", 4, p.prose(f.Because))
	}
}

func severityLook(s finding.Severity) (term.Style, term.Symbol) {
	switch s {
	case finding.Error:
		return term.Bad, term.Err
	case finding.Warning:
		return term.Caution, term.Warn
	}
	return term.Plain, term.Note
}

// title is "✖ error MM2D-302 group-active-on-target  group billing, topic orders, partitions 0-2".
func (p *printer) title(f *finding.Finding) (head string, width int, text string) {
	style, mark := severityLook(f.Severity)
	words := f.Severity.String() + " " + p.clean(codeOf(f)) + " " + p.clean(f.Slug)
	head = p.s.Mark(mark) + " " + p.s.Paint(style, words) + "  "
	width = p.s.MarkWidth() + 1 + term.Columns(words) + 2
	text = subjects(p.s, f.Subject, f.Subjects, f.SubjectCount)
	if len(p.r.Flows) > 1 && f.Flow != "" {
		text = strings.TrimSuffix(p.clean(f.Flow)+": "+text, ": ")
	}
	return head, width, text
}

// titleLines puts long subjects on lines of their own.
func (p *printer) titleLines(f *finding.Finding) {
	head, width, text := p.title(f)
	if width+term.Columns(text) <= p.s.Columns() {
		p.line(head + text)
		return
	}
	p.line(head)
	p.hang("    ", 4, text)
}

func (p *printer) label(name, text string) {
	if text == "" {
		return
	}
	p.hang("  "+p.s.Paint(term.Faint, term.Pad(name, labelWidth-2)), labelWidth, text)
}

// causes are what the configuration has to do with it, each with its place.
func (p *printer) causes(f *finding.Finding) {
	for _, c := range f.CausedBy {
		text := ""
		if len(c.Subjects) > 0 {
			if s := c.Subjects[0]; s.File != "" {
				text = fmt.Sprintf("%s:%d ", p.clean(s.File), s.Line)
			} else if s.Connector != "" {
				text = p.clean(s.Connector) + " "
			}
		}
		p.label("caused by", text+p.clean(c.Code)+" "+p.clean(c.Slug)+": "+p.prose(c.Because))
	}
}

func (p *printer) finding(f *finding.Finding) {
	p.blank()
	p.titleLines(f)
	if lines := each(p.s, f.Subjects); p.o.Verbose && len(lines) > 1 {
		for i, s := range lines {
			if i > 0 {
				p.label("", s)
			} else {
				p.label("subjects", s)
			}
		}
		if more := f.SubjectCount - len(f.Subjects); more > 0 {
			p.label("", fmt.Sprintf("%s %s more (-o json)", p.s.Ellipsis(), p.s.Number(int64(more))))
		}
	}
	p.label("observed", observed(p.s, f.Observed))
	p.label("because", p.prose(f.Because))
	p.causes(f)
	p.label("leads to", p.prose(f.Consequence))
	for i := range f.Explains {
		if i >= someEffects && !p.o.Verbose {
			p.label("", fmt.Sprintf("%s %d more (-v)", p.s.Ellipsis(), len(f.Explains)-i))
			break
		}
		e := &f.Explains[i]
		text := p.clean(e.Code) + " " + p.clean(e.Slug)
		if len(e.Subjects) > 0 {
			if who := subjects(p.s, e.Subjects[0], e.Subjects, e.Count); who != "" {
				text += ": " + who
			}
		}
		if p.o.Verbose && e.Because != "" {
			text += " " + p.s.Dash() + " " + p.prose(e.Because)
		}
		p.label("explains", text)
	}
	if len(f.Bugs) > 0 {
		p.label("known bug", p.clean(strings.Join(f.Bugs, ", ")))
	}
	p.fixes(f)
	for i, c := range f.Confirm {
		if i >= someConfirms && !p.o.Verbose {
			break
		}
		p.confirm(&c)
	}
}

func (p *printer) confirm(c *finding.Command) {
	text := ""
	if c.Cluster != "" { // none for a file
		text = "on " + p.clean(c.Cluster) + ", "
	}
	if c.Shows != "" {
		text += "look for: " + p.prose(c.Shows)
	}
	if text = strings.TrimSuffix(text, ", "); text == "" {
		text = "run"
	}
	p.label("confirm", text)
	p.command(labelWidth, c.Command)
}
