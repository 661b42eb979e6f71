package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// Options for text.
type Options struct {
	Screen  term.Screen
	Verbose bool // everything: all subjects, all ways to repair, all confirming commands, all rows
	Exit    int  // the exit code to print at the end; negative prints none
}

// Text writes the report for a person: head, links, findings in order of importance, what was not checked or left
// out, the partitions with a problem, and the verdict as the last line. It fails only when w does.
func Text(w io.Writer, r *diagnose.Report, o Options) error {
	p := &printer{s: o.Screen, o: o, r: r}
	p.head()
	p.links()
	p.findings()
	p.notChecked()
	p.skipped()
	if err := p.partitions(); err != nil {
		return err
	}
	p.blank()
	p.line(p.verdict())
	if _, err := w.Write(p.b.Bytes()); err != nil {
		return err
	}
	return nil
}

// Summary writes the verdict line alone, for -q.
func Summary(w io.Writer, r *diagnose.Report, o Options) error {
	p := &printer{s: o.Screen, o: o, r: r}
	if _, err := fmt.Fprintln(w, p.verdict()); err != nil {
		return fmt.Errorf("writing the verdict: %w", err)
	}
	return nil
}

// printer collects the text. Everything that comes from outside goes through clean or prose.
type printer struct {
	b bytes.Buffer
	s term.Screen
	o Options
	r *diagnose.Report
}

func (p *printer) line(text string) {
	p.b.WriteString(strings.TrimRight(text, " "))
	p.b.WriteByte('\n')
}

// blank separates two parts; never two in a row, none at the top.
func (p *printer) blank() {
	if p.b.Len() > 0 && !bytes.HasSuffix(p.b.Bytes(), []byte("\n\n")) {
		p.b.WriteByte('\n')
	}
}

// hang writes cleaned prose after a head that is already coloured and headWidth columns wide; further lines are indented
// to where the prose began.
func (p *printer) hang(head string, headWidth int, text string) {
	for i, l := range term.Wrap(text, p.s.Columns()-headWidth) {
		if i > 0 {
			head = strings.Repeat(" ", headWidth)
		}
		// Wrap keeps what a no-break space holds together; on the screen it is a plain space.
		p.line(head + strings.ReplaceAll(l, "\u00a0", " "))
	}
}

func (p *printer) clean(text string) string { return p.s.Clean(text) }

// prose is clean for sentences: their line feeds are only spaces.
func (p *printer) prose(text string) string {
	return p.s.Clean(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " "))
}

func (p *printer) head() {
	p.hang(p.s.Paint(term.Strong, p.clean(p.r.Tool.Name+" "+p.r.Command))+"  ", term.Columns(p.clean(p.r.Tool.Name+" "+p.r.Command))+2, p.taken())
	if len(p.r.Flows) == 1 {
		p.flow(&p.r.Flows[0])
	}
}

// taken is when the facts were read, from the report's own clock.
func (p *printer) taken() string {
	var what string
	if len(p.r.Flows) == 1 {
		what = p.clean(p.r.Flows[0].Name) + "  "
	} else if len(p.r.Flows) > 1 {
		what = finding.Count(len(p.r.Flows), "flow") + "  "
	}
	from, err1 := time.Parse(time.RFC3339, p.r.Collected.From)
	to, err2 := time.Parse(time.RFC3339, p.r.Collected.To)
	if err1 != nil || err2 != nil {
		return nbsp(what + p.clean(p.r.Collected.To))
	}
	what += "at " + to.UTC().Format("2006-01-02 15:04:05Z")
	if took := int64(to.Sub(from).Round(time.Second) / time.Second); took > 0 {
		what += ", read in " + seconds(took)
	}
	return nbsp(what)
}

// nbsp keeps words together when prose is wrapped.
func nbsp(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }

func (p *printer) flow(f *diagnose.FlowInfo) {
	parts := []string{version(p, &f.MM2), p.cluster("source", &f.Source), p.cluster("target", &f.Target)}
	if f.File != "" {
		parts = append(parts, p.clean(f.File))
	}
	for i := range parts {
		parts[i] = nbsp(parts[i])
	}
	p.hang("", 0, strings.Join(parts, " "+p.s.Dot()+" "))
	if p.o.Verbose && f.MM2.Basis != "" {
		p.hang("version from: ", 14, p.prose(f.MM2.Basis))
		for _, e := range f.MM2.Evidence {
			if !strings.Contains(f.MM2.Basis, e) {
				p.hang("version sign: ", 14, p.prose(e))
			}
		}
	}
}

func (p *printer) cluster(role string, c *diagnose.ClusterInfo) string {
	text := role + " " + p.clean(c.Alias)
	if len(c.Bootstrap) > 0 {
		text += " " + p.clean(c.Bootstrap[0])
		switch {
		case p.o.Verbose:
			for _, b := range c.Bootstrap[1:] {
				text += "," + p.clean(b)
			}
		case len(c.Bootstrap) > 1:
			text += fmt.Sprintf(" +%d", len(c.Bootstrap)-1)
		}
	}
	if p.o.Verbose {
		if id := c.ClusterID.Or(""); id != "" {
			text += " id " + p.clean(id)
		}
		if c.Version != "" {
			text += " Kafka " + p.clean(c.Version)
		}
	}
	return text
}

// version is what is known of MirrorMaker 2: what the operator says, or the range that the data allows.
func version(p *printer, m *diagnose.MM2Info) string {
	text := "version not known"
	from, before := m.Range[0], m.Range[1]
	switch {
	case m.Claimed != "":
		text = p.clean(m.Claimed) + " (as given)"
	case from != nil && before != nil && *from == *before: // one release is known
		text = p.clean(*from)
	case from != nil && before != nil:
		text = p.clean(*from) + " or newer, before " + p.clean(*before)
	case from != nil:
		text = p.clean(*from) + " or newer"
	case before != nil:
		text = "before " + p.clean(*before)
	}
	return "MirrorMaker 2 " + text
}

func (p *printer) links() {
	if len(p.r.Links) == 0 {
		return
	}
	name, status := 0, 0
	for _, l := range p.r.Links {
		name, status = max(name, term.Columns(p.clean(l.Name))), max(status, len(l.Status))
	}
	flow := ""
	p.blank()
	for _, l := range p.r.Links {
		if len(p.r.Flows) > 1 && l.Flow != flow {
			flow = l.Flow
			p.flowHead(flow)
		}
		style, mark := statusLook(l.Status)
		fixed := fmt.Sprintf(" %d %s  ", l.Link, term.Pad(p.clean(l.Name), name))
		word := term.Pad(l.Status, status)
		head := p.s.Mark(mark) + fixed + p.s.Paint(style, word) + "  "
		text := p.prose(l.Text)
		if text == "" {
			text = observed(p.s, l.Facts)
		}
		if len(l.Codes) > 0 {
			text = strings.TrimSpace(text + "  " + nbsp("["+p.clean(strings.Join(l.Codes, ", "))+"]"))
		}
		p.hang(head, p.s.MarkWidth()+term.Columns(fixed)+len(word)+2, text)
	}
}

func (p *printer) flowHead(name string) {
	p.blank()
	p.line(p.s.Paint(term.Strong, p.clean(name)))
	for i := range p.r.Flows {
		if p.r.Flows[i].Name == name {
			p.flow(&p.r.Flows[i])
		}
	}
}

func statusLook(status string) (term.Style, term.Symbol) {
	switch status {
	case "ok":
		return term.Good, term.OK
	case "broken":
		return term.Bad, term.Err
	case "degraded":
		return term.Caution, term.Warn
	case "moving":
		return term.Unsure, term.Moving
	}
	return term.Unsure, term.Unknown
}

// verdict is the last line. It names the first link that is broken, or that nobody could judge.
func (p *printer) verdict() string {
	v := p.r.Summary
	link := v.Link
	if v.Verdict == diagnose.Unknown && link == finding.LinkNone {
		for _, l := range p.r.Links {
			if l.Status == "unknown" {
				link = l.Link
				break
			}
		}
	}
	word, style := strings.ToUpper(string(v.Verdict)), term.Unsure
	switch v.Verdict {
	case diagnose.Healthy:
		style = term.Good
	case diagnose.Degraded:
		style = term.Caution
	case diagnose.Broken:
		style = term.Bad
	}
	text := p.s.Paint(style, word)
	if link != finding.LinkNone && v.Verdict != diagnose.Healthy {
		text += fmt.Sprintf(" at link %d", link)
		if name := p.linkName(link); name != "" {
			text += " (" + name + ")"
		}
	}
	text += ": "
	if len(p.r.Findings) > 0 && p.r.Findings[0].Severity > finding.Info {
		text += p.clean(p.r.Findings[0].ID+" "+p.r.Findings[0].Slug) + "; "
	}
	text += finding.Count(v.Errors, "error") + ", " + finding.Count(v.Warnings, "warning")
	if v.Infos > 0 && v.Errors == 0 {
		text += ", " + finding.Count(v.Infos, "remark")
	}
	text += fmt.Sprintf(", %d not checked", v.NotChecked)
	if v.Verdict == diagnose.Healthy {
		text += "; " + finding.Count(v.Groups, "group") + ", " + finding.Count(v.Rows, "partition") + p.lastSign()
	}
	if p.o.Exit >= 0 {
		text += fmt.Sprintf(" %s exit %d", p.s.Dash(), p.o.Exit)
	}
	return text
}

// lastSign says how old the proof is that MirrorMaker 2 works: of the flow where it is oldest.
func (p *printer) lastSign() string {
	var oldest *diagnose.FlowInfo
	for i := range p.r.Flows {
		f := &p.r.Flows[i]
		if f.LastSign != nil && (oldest == nil || f.LastSign.AgeSeconds > oldest.LastSign.AgeSeconds) {
			oldest = f
		}
	}
	if oldest == nil {
		return ""
	}
	text := fmt.Sprintf("; last sign of MirrorMaker 2 %s old (%s", seconds(oldest.LastSign.AgeSeconds), p.clean(oldest.LastSign.What))
	if len(p.r.Flows) > 1 {
		text += ", " + p.clean(oldest.Name)
	}
	if oldest.Running == "untold" {
		text += ", nothing tells whether it runs now"
	}
	return text + ")"
}

func (p *printer) linkName(link finding.Link) string {
	for _, l := range p.r.Links {
		if l.Link == link {
			return p.clean(l.Name)
		}
	}
	return ""
}
