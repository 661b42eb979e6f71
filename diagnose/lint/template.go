package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// masked stands where template text was, in a text that could not be parsed with it.
const masked = "¤"

var (
	// valueMark finds template text in a value: Jinja, Helm, ERB, Terraform, make and envsubst, :NAME:, @NAME@, %NAME%, <NAME>.
	// ${provider:key} is a reference to a config provider and no template text.
	valueMark = regexp.MustCompile(`\{\{.*?\}\}|\{[%#].*?[%#]\}|<%.*?%>|%\{.*?\}|\$\{[^}:]*\}|\$\{[A-Za-z_]\w*:[-=?+][^}]*\}|\$\([A-Za-z_]\w*\)`)
	wordMark  = regexp.MustCompile(`(?:^|["'=,\s])(?::[A-Z][A-Z0-9_]*:|@[A-Za-z_][\w.]*@|%[A-Z][A-Z0-9_]*%|\$[A-Z][A-Z0-9_]{2,}|<[A-Za-z][^<>]*>)(?:$|["',;:.\s])`)
	// statement is a template's line that gives no text of its own: a condition, a loop, an include.
	statement = regexp.MustCompile(`^\s*(?:\{\{.*\}\}|\{[%#].*[%#]\}|<%.*%>|%\{.*\})\s*,?\s*$`)
	inlineIf  = regexp.MustCompile(`\{%|%\{|<%-?\s*(?:if|for)|\{\{-?\s*(?:if|range|with|end|else|include|template|toYaml|tpl)\b`)
)

// template gives the template text in a value, or "".
func template(value string) string {
	if !strings.ContainsAny(value, "{%<@:$"+masked) {
		return ""
	}
	if m := valueMark.FindString(value); m != "" {
		return m
	}
	if hasMask(value) {
		return masked
	}
	return strings.Trim(wordMark.FindString(value), `"'=,; `+"\t")
}

// hasMask looks for the sign alone: read as ISO 8859-1 it is also the second half of letters of UTF-8, such as ä.
func hasMask(value string) bool {
	for before, rest, ok := strings.Cut(value, masked); ok; before, rest, ok = strings.Cut(rest, masked) {
		if r, _ := utf8.DecodeLastRuneInString(before); r < 0x80 || r == 0xC2 || r > 0xF4 { // 0xC2: the sign itself
			return true
		}
	}
	return false
}

// mask replaces template text by as many bytes that YAML and JSON can read, so that lines and columns stay. It gives the offset of
// each mark in b, and whether some are statements.
func mask(b []byte, json bool) (text []byte, marks []int, blocks bool) {
	if !bytes.Contains(b, []byte("{{")) && !bytes.Contains(b, []byte("{%")) && !bytes.Contains(b, []byte("%{")) && !bytes.Contains(b, []byte("<%")) && !(json && bytes.Contains(b, []byte("${"))) {
		return b, nil, false
	}
	text = bytes.Clone(b)
	quoted := false
	var empty [][2]int // statements in YAML, where blanks before a text in a block would be a fault
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		line := text[at : at+end]
		if statement.Match(line) {
			marks = append(marks, at+bytes.IndexFunc(line, func(r rune) bool { return r != ' ' && r != '\t' }))
			blocks = true
			for i := range line {
				if line[i] != '\r' {
					line[i] = ' '
				}
			}
			if !json {
				empty = append(empty, [2]int{at, at + len(bytes.TrimSuffix(line, []byte("\r")))})
			}
		} else {
			blocks = blocks || inlineIf.Match(line)
			quoted = maskLine(line, at, json, quoted, &marks)
		}
		at += end + 1
	}
	if len(empty) == 0 {
		return text, marks, blocks
	}
	out, from := make([]byte, 0, len(text)), 0
	for _, e := range empty {
		out, from = append(out, text[from:e[0]]...), e[1]
	}
	return append(out, text[from:]...), marks, blocks
}

var span = regexp.MustCompile(`\{\{.*?\}\}|\{[%#].*?[%#]\}|<%.*?%>|%\{.*?\}`)

// maskLine masks what stands within a line. In JSON a mark outside of quotes becomes a string.
func maskLine(line []byte, at int, json, quoted bool, marks *[]int) bool {
	pos := 0
	for _, m := range span.FindAllIndex(line, -1) {
		*marks = append(*marks, at+m[0])
		if json {
			quoted = inString(line[pos:m[0]], quoted)
		}
		pos = m[1]
		fill(line[m[0]:m[1]])
		if json && !quoted {
			line[m[0]], line[m[1]-1] = '"', '"'
		}
	}
	if !json {
		return false
	}
	inString(line[pos:], quoted)
	return false // a JSON string ends on its line
}

// unmask gives values that hold marks the text that stands in the file.
func unmask(docs []confdoc.Doc, file []byte) {
	lines := bytes.Split(confdoc.WithoutMark(file), []byte("\n"))
	var walk func(n *confdoc.Node)
	walk = func(n *confdoc.Node) {
		if n == nil {
			return
		}
		if long := n.End - n.Start; n.Is(confdoc.String) && long > 0 && strings.Contains(n.Value, masked) && n.Line <= len(lines) && n.Column-1+long <= len(lines[n.Line-1]) {
			text := string(lines[n.Line-1][n.Column-1 : n.Column-1+long])
			if q := text[0]; (q == '"' || q == '\'') && len(text) > 1 && text[len(text)-1] == q {
				text = text[1 : len(text)-1]
			}
			n.Value = text
		}
		for _, f := range n.Fields {
			walk(f.Value)
		}
		for _, item := range n.Items {
			walk(item)
		}
	}
	for _, d := range docs {
		walk(d.Root)
	}
}

func fill(b []byte) {
	for i := 0; i < len(b); {
		if i+len(masked) <= len(b)-1 || i+len(masked) == len(b) {
			i += copy(b[i:], masked)
		} else {
			b[i] = '_'
			i++
		}
	}
}

func inString(b []byte, quoted bool) bool {
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\' && quoted:
			i++
		case b[i] == '"':
			quoted = !quoted
		}
	}
	return quoted
}

// mark notes template text; what it stands for is not judged.
func (l *linter) mark(at place) { l.marks[at.file] = append(l.marks[at.file], at) }

// templates says once for each file that it is a template.
func (l *linter) templates() {
	for file, marks := range l.marks {
		first := 0
		for i, m := range marks {
			if m.line < marks[first].line {
				first = i
			}
		}
		at := marks[first]
		rest := append(append([]place(nil), marks[:first]...), marks[first+1:]...)
		why := "Template text stands here that is filled in before MirrorMaker 2 starts; what it will be cannot be judged."
		if len(rest) > 0 {
			why = fmt.Sprintf("Template text stands here and in %s; it is filled in before MirrorMaker 2 starts, and what it will be cannot be judged.", finding.Count(len(rest), "more place"))
		}
		l.add(say{slug: "placeholder-unresolved", severity: finding.Info, at: at, also: rest, because: why,
			fixes: []finding.Fix{{Mode: dedicated, Text: fmt.Sprintf("Render %s first (helm template, ansible, terraform, envsubst) and check the result.", file)}}})
	}
}

func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, s)
	s = finding.Masked(s)
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
