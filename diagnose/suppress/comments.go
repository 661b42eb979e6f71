package suppress

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// comment is one "mm2doctor:ignore" with the lines that it speaks of.
type comment struct {
	file         string
	line, column int // of the comment, from 1
	from, to     int // lines that it covers; 0 for none
	names        []Name
	reason       string
}

// mark begins a suppression; what follows a colon in another spelling is shown as a mistake, not passed over.
var mark = regexp.MustCompile(`^[#!]+\s*(?i:mm2doctor)\s*:\s*(\S*)\s*(.*)$`)

// comments reads the suppressions of one file. JSON has no comments: there .mm2doctor.yaml is the only way.
func comments(s Source) (rules []*rule, broken []finding.Finding) {
	if !bytes.Contains(bytes.ToLower(s.Text), []byte("mm2doctor")) {
		return nil, nil
	}
	var found []spot
	switch confdoc.Sniff(s.Text) {
	case confdoc.KindProperties:
		found = inProperties(s)
	case confdoc.KindYAML:
		found = inYAML(s)
	}
	for _, sp := range found {
		m := mark.FindStringSubmatch(sp.text)
		if m == nil {
			continue
		}
		c := &comment{file: s.Name, line: sp.line, column: sp.column, from: sp.from, to: sp.to}
		why := ""
		switch {
		case m[1] != "ignore":
			why = "the word after mm2doctor: is not ignore"
		case sp.inValue:
			why = "in a properties file a # behind a value is a part of the value"
		default:
			why = c.parse(m[2])
		}
		if why != "" {
			broken = append(broken, invalid(c, why))
			continue
		}
		rules = append(rules, &rule{comment: c, used: make([]int, len(c.names))})
	}
	return rules, broken
}

// parse reads "CODE[,CODE...] reason".
func (c *comment) parse(text string) (why string) {
	for {
		word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		open := strings.HasSuffix(word, ",")
		for n := range strings.SplitSeq(word, ",") {
			if n == "" {
				continue
			}
			if why := Name(n).known(); why != "" {
				return why
			}
			c.names = append(c.names, Name(n))
		}
		text = strings.TrimSpace(rest)
		if !open || text == "" {
			break
		}
	}
	c.reason = strings.TrimSpace(strings.TrimLeft(text, "-:— "))
	switch {
	case len(c.names) == 0:
		return "it names no code or slug"
	case c.reason == "":
		return "it gives no reason"
	}
	return ""
}

// spot is a comment of a file, with the lines that it stands before or on.
type spot struct {
	line, column, from, to int
	text                   string
	inValue                bool // looks like a comment, but is a part of a value
}

var behindValue = regexp.MustCompile(`\s#+\s*(?i:mm2doctor)\s*:\s*ignore\b.*`)

// inProperties: a comment covers the entry that follows it, with only comments between.
func inProperties(s Source) []spot {
	p, _ := confdoc.ParseProperties(s.Name, s.Text)
	inEntry := map[int]*confdoc.Entry{}
	for i := range p.Entries {
		e := &p.Entries[i]
		for l := e.Line; l <= e.EndLine; l++ {
			inEntry[l] = e
		}
	}
	var out []spot
	open := 0
	for n, line := range splitLines(s.Text) {
		text := strings.TrimLeft(line, " \t\f")
		switch e := inEntry[n+1]; {
		case e != nil:
			for i := open; i < len(out); i++ {
				out[i].from, out[i].to = e.Line, e.EndLine
			}
			if at := behindValue.FindStringIndex(line); at != nil {
				out = append(out, spot{line: n + 1, column: at[0] + 2, text: strings.TrimSpace(line[at[0]:]), inValue: true})
			}
			open = len(out)
		case strings.HasPrefix(text, "#") || strings.HasPrefix(text, "!"):
			out = append(out, spot{line: n + 1, column: len(line) - len(text) + 1, text: text})
		default:
			open = len(out)
		}
	}
	return out
}

// blockHead ends with what begins a block of text, in which # is no comment.
var blockHead = regexp.MustCompile(`(?:^|[:\-]|\s)\s*[|>][-+0-9]*\s*(?:#.*)?$`)

// inYAML: a comment behind a value covers its line, one on a line of its own the next line that is none.
func inYAML(s Source) []spot {
	var out []spot
	open := 0
	block := -1 // indentation of the line that opened a block of text
	for n, line := range splitLines(s.Text) {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if block >= 0 && (strings.TrimSpace(text) == "" || indent > block) {
			continue
		}
		block = -1
		switch {
		case strings.HasPrefix(text, "#"):
			out = append(out, spot{line: n + 1, column: indent + 1, text: text})
		case strings.TrimSpace(text) == "":
			open = len(out)
		default:
			for i := open; i < len(out); i++ {
				out[i].from, out[i].to = n+1, n+1
			}
			if at := yamlComment(line); at >= 0 {
				out = append(out, spot{line: n + 1, column: at + 1, from: n + 1, to: n + 1, text: line[at:]})
				line = line[:at]
			}
			open = len(out)
			if blockHead.MatchString(strings.TrimRight(line, " ")) {
				block = indent
			}
		}
	}
	return out
}

// yamlComment finds the # that begins a comment behind a value: outside of quotes, after a blank. -1 without one.
func yamlComment(line string) int {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [{,:-", line[i-1]) >= 0):
			quote = c
		case c == '#' && i > 0 && (line[i-1] == ' ' || line[i-1] == '\t'):
			return i
		}
	}
	return -1
}

// splitLines cuts at \n, \r and \r\n, as positions count lines.
func splitLines(b []byte) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(b)), "\n")
}
