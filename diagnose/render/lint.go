package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// Lint writes findings about files for a person: each with file:line:column, the line, a mark under the place, the reason and the
// repair; with Verbose also what it leads to, further repairs and how to confirm it. The last line counts.
func Lint(w io.Writer, r *Result, o Options) error {
	p := &printer{s: o.Screen, o: o, r: &diagnose.Report{Tool: r.Tool, Command: r.Command, Findings: r.Findings}}
	for i := range r.Findings {
		f := &r.Findings[i]
		p.blank()
		places := r.places(f)
		p.lintHead(f, places[0])
		for n, s := range places {
			if n > 0 {
				p.label("also", p.clean(s.where(f)))
			}
			p.excerpt(s)
			if n >= someConfirms && !o.Verbose && n+1 < len(places) {
				p.label("", fmt.Sprintf("%s %d more (-v)", p.s.Ellipsis(), len(places)-n-1))
				break
			}
		}
		p.label("because", p.prose(f.Because))
		if o.Verbose {
			p.label("observed", observed(p.s, f.Observed))
			p.label("leads to", p.prose(f.Consequence))
		}
		switch {
		case o.Verbose:
			p.fixes(f)
		case f.Severity > finding.Info && len(f.Fixes) > 0:
			p.label("fix", p.prose(brief(f.Fixes[0].Text, longText)))
		}
		for n := range f.Confirm {
			if o.Verbose {
				p.confirm(&f.Confirm[n])
			}
		}
		last := i+1 == len(r.Findings) || r.Findings[i+1].Code != f.Code
		if f.Code > 0 && last {
			p.label("docs", "mm2doctor explain "+f.Code.String())
		}
	}
	p.blank()
	p.line(r.lintVerdict(p))
	_, err := w.Write(p.b.Bytes())
	return err
}

// lintHead begins with file:line:column, as editors and CI servers look for it; what is about no file begins as in a report.
func (p *printer) lintHead(f *finding.Finding, s spot) {
	if s.File == "" {
		p.titleLines(f)
		return
	}
	at := finding.Subject{File: s.File, Line: s.Line, Column: s.column()}
	style, _ := severityLook(f.Severity)
	words := f.Severity.String() + " " + p.clean(codeOf(f)) + " " + p.clean(f.Slug)
	head := place(p.s, at) + ": " + p.s.Paint(style, words)
	if key := p.clean(s.Key); key != "" {
		head += "  " + key
	}
	p.line(head)
}

// LintJSON writes the envelope of JSON with the findings alone. Columns count as in the other formats.
func LintJSON(w io.Writer, r *Result) error {
	out := &diagnose.Report{SchemaVersion: 1, Tool: r.Tool, Command: r.Command, Findings: slices.Clone(r.Findings), NotChecked: r.NotChecked}
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Subject.Column = r.spot(f.Subject).column()
		f.Subjects = slices.Clone(f.Subjects)
		for k := range f.Subjects {
			f.Subjects[k].Column = r.spot(f.Subjects[k]).column()
		}
	}
	out.Summary = diagnose.Summary{Verdict: diagnose.Healthy, Link: finding.LinkNone, NotChecked: len(r.NotChecked)}
	for i := range r.Findings {
		switch r.Findings[i].Severity {
		case finding.Error:
			out.Summary.Errors++
		case finding.Warning:
			out.Summary.Warnings++
		default:
			out.Summary.Infos++
		}
	}
	switch {
	case out.Summary.Errors > 0:
		out.Summary.Verdict = diagnose.Broken
	case out.Summary.Warnings > 0:
		out.Summary.Verdict = diagnose.Degraded
	}
	return JSON(w, out)
}

// LintSummary writes the last line of Lint alone, for -q.
func LintSummary(w io.Writer, r *Result, o Options) error {
	p := &printer{s: o.Screen, o: o, r: &diagnose.Report{}}
	_, err := fmt.Fprintln(w, r.lintVerdict(p))
	return err
}

func (r *Result) lintVerdict(p *printer) string {
	worst := finding.Severity(0)
	for i := range r.Findings {
		worst = max(worst, r.Findings[i].Severity)
	}
	word, style := "OK", term.Good
	switch worst {
	case finding.Error:
		word, style = "ERRORS", term.Bad
	case finding.Warning:
		word, style = "WARNINGS", term.Caution
	}
	text := p.s.Paint(style, word) + ": " + r.verdict()
	if p.o.Exit >= 0 {
		text += fmt.Sprintf(" %s exit %d", p.s.Dash(), p.o.Exit)
	}
	return text
}

// excerpt shows the line of a place with a mark under what is meant. What does not fit the screen is cut at both sides.
func (p *printer) excerpt(s spot) {
	line, start, end, ok := s.span()
	if strings.TrimSpace(line) == "" {
		return
	}
	shown := s.shown()
	if !strings.HasPrefix(shown, line[:min(start, len(line))]) {
		ok = false
	}
	number := fmt.Sprintf("%6d", s.Line)
	bar := p.s.Pick("│", "|")
	room := max(p.s.Columns()-len(number)-3, 20)
	before, word, after := shown, "", ""
	if ok {
		before, word, after = shown[:start], shown[start:min(end, len(shown))], shown[min(end, len(shown)):]
	}
	// Far more than any screen shows is not looked at: a minified file is one line.
	from, to := max(0, len(before)-longLine), len(before)+len(word)+longLine
	before, word, after = before[from:], word[:min(len(word), longLine)], after[:min(len(after), longLine)]
	show := func(t string) string {
		if utf8.ValidString(line) {
			t = strings.ToValidUTF8(t, "") // what the cut left of a character
		}
		return p.clean(utf8Of(strings.ReplaceAll(t, "\t", " ")))
	}
	before, word, after = show(before), show(word), show(after)
	if from > 0 {
		before = p.s.Ellipsis() + before
	}
	if to < len(shown) {
		after += p.s.Ellipsis()
	}
	if over := term.Columns(before) + term.Columns(word) - room; ok && over > 0 {
		before = p.s.Ellipsis() + term.CutLeft(before, over+term.Columns(p.s.Ellipsis()))
	}
	text := before + word + after
	if term.Columns(text) > room {
		text = term.CutRight(text, room-term.Columns(p.s.Ellipsis())) + p.s.Ellipsis()
	}
	p.line(p.s.Paint(term.Faint, number+" "+bar) + " " + text)
	if ok {
		p.line(p.s.Paint(term.Faint, strings.Repeat(" ", len(number))+" "+bar) + " " + strings.Repeat(" ", term.Columns(before)) + p.s.Paint(term.Bad, strings.Repeat("^", min(max(term.Columns(word), 1), room))))
	}
}
