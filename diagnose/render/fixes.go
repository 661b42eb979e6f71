package render

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// fixes shows the ways to repair that fit how this MirrorMaker 2 is run, and names the others.
func (p *printer) fixes(f *finding.Finding) {
	mode := ""
	for _, info := range p.r.Flows {
		if info.Name == f.Flow || len(p.r.Flows) == 1 {
			mode = info.Mode
		}
	}
	var show, other []int
	for i := range f.Fixes {
		if p.o.Verbose || f.Fixes[i].Mode == mode || f.Fixes[i].Mode == "kafka" || f.Fixes[i].Mode == "" {
			show = append(show, i)
		} else {
			other = append(other, i)
		}
	}
	if len(show) == 0 && len(other) > 0 {
		show, other = other[:1], other[1:]
	}
	for n, i := range show {
		label := "fix"
		if n > 0 {
			label = "or"
		}
		p.fix(label, &f.Fixes[i], len(f.Fixes) > 1)
	}
	if len(other) > 0 {
		modes := make([]string, len(other))
		for i, o := range other {
			modes[i] = f.Fixes[o].Mode
		}
		p.label("", "for "+p.clean(strings.Join(modes, ", "))+": -v")
	}
}

func (p *printer) fix(label string, x *finding.Fix, several bool) {
	text := p.prose(x.Text)
	if several && x.Mode != "" {
		text = p.clean(x.Mode) + ": " + text
	}
	if x.WaitSeconds > 0 {
		text += " (shows within " + nbsp(seconds(int64(x.WaitSeconds))) + ")"
	}
	p.label(label, text)
	for i := range x.Steps {
		p.step(i+1, &x.Steps[i], len(x.Steps) > 1)
	}
}

func (p *printer) step(n int, st *finding.Step, several bool) {
	indent := labelWidth
	head := strings.Repeat(" ", indent)
	if several {
		number := fmt.Sprintf("%d. ", n)
		head, indent = head+number, indent+len(number)
	}
	text := p.prose(st.Text)
	if st.Destructive {
		text += " (destroys data)"
	}
	if len(st.Stops) > 0 {
		text += " (stops " + p.clean(strings.Join(st.Stops, ", ")) + ")"
	}
	p.hang(head, indent, text)
	p.command(indent, st.Command)
	if len(st.Properties) > 0 {
		if st.File != "" {
			p.line(strings.Repeat(" ", indent) + "# " + p.clean(st.File))
		}
		for _, kv := range st.Properties {
			p.line(strings.Repeat(" ", indent) + p.clean(kv.Name) + " = " + p.clean(fmt.Sprint(kv.Value)))
		}
	}
	if st.Undo != "" && (p.o.Verbose || st.Destructive) {
		p.hang(strings.Repeat(" ", indent)+"undo: ", indent+6, p.prose(st.Undo))
	}
}

// command prints a command as it is typed: never wrapped. What the screen cannot show is escaped, and that is said.
func (p *printer) command(indent int, cmd string) {
	if cmd == "" {
		return
	}
	shown := p.s.CleanLines(cmd)
	for l := range strings.Lines(shown) {
		p.line(strings.Repeat(" ", indent) + p.s.Paint(term.Strong, strings.TrimRight(l, "\n")))
	}
	if shown != cmd {
		p.line(strings.Repeat(" ", indent) + "(characters that this screen cannot show are escaped; -o json has the exact command)")
	}
}
