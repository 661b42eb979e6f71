package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// Tree writes the decision tree of each flow with the path of this run ticked. A question that leads to just one further
// question keeps its level, so the long way down the chain reads as a list.
func Tree(w io.Writer, r *diagnose.Report, o Options) error {
	p := &printer{s: o.Screen, o: o, r: r}
	for i := range r.Trees {
		t := &r.Trees[i]
		p.blank()
		title := p.clean(t.Flow)
		if t.Group != "" {
			title += ", group " + p.clean(t.Group)
		}
		p.line(p.s.Paint(term.Strong, title))
		if t.Root != nil {
			p.node(t.Root, 0)
		}
	}
	if _, err := w.Write(bytes.TrimLeft(p.b.Bytes(), "\n")); err != nil {
		return fmt.Errorf("writing the decision tree: %w", err)
	}
	return nil
}

// node prints a question, its answers, and what the answers lead to.
func (p *printer) node(n *diagnose.Node, depth int) {
	p.branch(depth, n.Taken, "", n.Text, n.Codes)
	width, deeper := 0, 0
	for _, c := range n.Children {
		width = max(width, term.Columns(p.clean(c.Answer)))
		if len(c.Children) > 0 {
			deeper++
		}
	}
	var next *diagnose.Node
	for _, c := range n.Children {
		answer := term.Pad(p.clean(c.Answer), width) + "  "
		switch {
		case len(c.Children) == 0:
			text := c.Text
			if c.Taken {
				text += " <- this run"
			}
			p.branch(depth+1, c.Taken, answer, text, c.Codes)
		case deeper == 1:
			next = c
			p.branch(depth+1, c.Taken, answer, "go on", nil)
		default:
			p.branch(depth+1, c.Taken, answer, "", nil)
			p.node(c, depth+2)
		}
	}
	if next != nil {
		p.node(next, depth)
	}
}

// branch is one line of the tree: tick, answer, text, codes.
func (p *printer) branch(depth int, taken bool, answer, text string, codes []string) {
	tick, style := p.s.Pick("·", "[ ]"), term.Faint
	if taken {
		tick, style = p.s.Pick("✔", "[x]"), term.Good
	}
	indent := strings.Repeat("    ", depth)
	body := p.prose(text)
	if len(codes) > 0 {
		body = strings.TrimSpace(body + "  " + nbsp("["+p.clean(strings.Join(codes, ", "))+"]"))
	}
	head := p.s.Paint(style, tick) + " " + indent + answer
	p.hang(head, term.Columns(tick)+1+len(indent)+term.Columns(answer), body)
}
