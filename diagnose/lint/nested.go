package lint

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// elsewhere are fields that repeat what stands in force at another place: what kubectl applied last, and the state before a change or
// the change itself in what Terraform prints.
var elsewhere = map[string]bool{"annotations": true, "prior_state": true, "before": true, "resource_changes": true}

// nested looks for what stands deeper in a document: resources and connectors, as in a playbook of Ansible or in JSON of Terraform, and
// whole files as texts, as in a ConfigMap.
func (l *linter) nested(f File, n *confdoc.Node, blocks bool) []conf.Connector {
	var out []conf.Connector
	below := func(v *confdoc.Node) {
		switch {
		case v.Is(confdoc.Map) && conf.IsMirrorMaker2(v) && !v.Get("spec").Is(confdoc.Map): // such as the names that a CRD defines
		case v.Is(confdoc.Map):
			out = append(out, l.object(f, v, blocks)...)
		case v.Is(confdoc.List):
			out = append(out, l.nested(f, v, blocks)...)
		case v.Is(confdoc.String):
			out = append(out, l.within(f, v, blocks)...)
		}
	}
	for _, x := range n.Effective() {
		if !elsewhere[x.Key] {
			below(x.Value)
		}
	}
	for _, item := range n.List() {
		below(item)
	}
	return out
}

// within reads a file that stands as a text in a document.
func (l *linter) within(f File, v *confdoc.Node, blocks bool) []conf.Connector {
	if strings.Count(v.Value, "\n") < 3 {
		return nil
	}
	text, kind := []byte(v.Value), confdoc.Sniff([]byte(v.Value))
	tree := kind == confdoc.KindJSON && mirrorClass(text) || kind == confdoc.KindYAML && bytes.Contains(text, []byte("KafkaMirrorMaker2")) && resourceHead.Match(text)
	if !tree && (!embedded(text) || kind == confdoc.KindJSON) {
		return nil
	}
	if !tree {
		if text = heredoc(text); scripted(text) {
			return nil
		}
	}
	padded, placed := pad(f.Bytes, v, text)
	if placed {
		text = padded
	}
	if !tree {
		text = inASCII(text)
		p, diags := confdoc.ParseProperties(f.Name, text)
		if !placed {
			p.Gather(v.Line, v.Column)
			for i := range diags {
				diags[i].Line, diags[i].Column = v.Line, v.Column
			}
		}
		l.parsed(f.Name, p, diags)
		return nil
	}
	docs, err := confdoc.ParseTree(f.Name, text)
	if err != nil {
		if !placed {
			err = &confdoc.Syntax{File: f.Name, Line: v.Line, Column: v.Column, What: "the text cannot be read", Why: err.Error(), Next: "correct it"}
		}
		if len(l.marks[f.Name]) == 0 {
			l.syntax(File{f.Name, text}, err)
		}
		return nil
	}
	if !placed {
		for _, d := range docs {
			gather(d.Root, v)
		}
	}
	return l.documents(File{f.Name, text}, docs, blocks)
}

// gather puts all of a tree where the text stands that it was read from.
func gather(n, at *confdoc.Node) {
	if n == nil {
		return
	}
	n.Line, n.Column, n.Start, n.End = at.Line, at.Column, 0, 0
	for i := range n.Fields {
		n.Fields[i].Line, n.Fields[i].Column = at.Line, at.Column
		gather(n.Fields[i].Value, at)
	}
	for _, item := range n.Items {
		gather(item, at)
	}
}

// pad puts the lines of a block scalar back where they stand in the file, so that places in them are places in it. False where the lines of
// the file are others, as those of a text in quotes. Blanks at the start of a line mean nothing to Java, JSON and, where all lines have
// them, YAML.
func pad(file []byte, v *confdoc.Node, text []byte) ([]byte, bool) {
	lines := strings.Split(string(confdoc.WithoutMark(file)), "\n")
	out := bytes.Repeat([]byte("\n"), v.Line)
	shown := strings.Split(string(text), "\n")
	for i, s := range strings.Split(v.Value, "\n") {
		at := v.Line + i                // the text begins on the line after its key
		if strings.TrimSpace(s) == "" { // also a template's statement, in whose place blanks stand
			out = append(out, '\n')
			continue
		}
		if at >= len(lines) {
			return nil, false
		}
		line := strings.TrimSuffix(lines[at], "\r")
		indent := len(line) - len(s)
		if indent < 0 || strings.Trim(line[:indent], " ") != "" || line[indent:] != s {
			return nil, false
		}
		if i < len(shown) && shown[i] != "" {
			out = append(append(out, strings.Repeat(" ", indent)...), shown[i]...)
		}
		out = append(out, '\n')
	}
	return out, true
}

var maskRun = regexp.MustCompile(`(?:` + masked + `)+_*`)

// inASCII writes template text that was masked as template text again, as long as it was: Java reads ISO 8859-1.
func inASCII(text []byte) []byte {
	return maskRun.ReplaceAllFunc(text, func(m []byte) []byte {
		if len(m) < 5 {
			return m
		}
		return []byte("{{" + strings.Repeat("_", len(m)-4) + "}}")
	})
}

var heredocStart = regexp.MustCompile(`<<-?[ \t]*["']?([A-Za-z_]\w*)["']?`)

// heredoc keeps the lines that a script writes into a file, at their places; a text without any stays as it is.
func heredoc(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	out := make([]string, len(lines))
	end, any := "", false
	for i, s := range lines {
		switch m := heredocStart.FindStringSubmatch(s); {
		case end != "" && strings.TrimSpace(s) == end:
			end = ""
		case end != "":
			out[i] = s
		case m != nil:
			end, any = m[1], true
		}
	}
	if !any {
		return text
	}
	return []byte(strings.Join(out, "\n"))
}

var command = regexp.MustCompile(`(?m)^\s*(?:#!|(?:exec|cat|echo|printf|export|set|cd|cp|mv|mkdir|chmod|sed|envsubst|sleep|if|then|fi|for|while|do|done)(?:\s|$))`)

// scripted says that a text is a script, whose lines nobody reads as properties.
func scripted(text []byte) bool { return command.Match(text) }

// silent says that reading a text gives nothing to judge.
func silent(b []byte) bool {
	switch kindOf(b) {
	case confdoc.KindJSON, confdoc.KindYAML:
	default:
		return false
	}
	l := newLinter(Options{})
	return len(l.file(File{Bytes: b})) == 0 && len(l.setups) == 0 && len(l.out) == 0 && len(l.marks) == 0
}
