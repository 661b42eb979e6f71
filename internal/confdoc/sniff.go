package confdoc

import (
	"bytes"
	"regexp"
)

// Kind is what a text looks like, judged by its content, never by its name.
type Kind int

// The kinds that Sniff tells apart.
const (
	KindProperties Kind = iota // also anything that is none of the others
	KindJSON
	KindYAML
	KindEmpty  // nothing but blanks and comments
	KindBinary // not a text
)

func (k Kind) String() string {
	return [...]string{"properties", "JSON", "YAML", "empty", "binary"}[k]
}

var (
	jsonStart  = regexp.MustCompile(`^(?:\{\s*["}]|\[\s*(?:["{\[\]]|-?[0-9]))`)
	assignment = regexp.MustCompile(`^\s*[^\s=:{}"'-][^\s=:]*\s*=`)
	yamlParent = regexp.MustCompile(`^\s*(?:- )?["']?[\w.$/-]+["']?:\s*(?:[|>][-+0-9]*|#.*)?$`)
	yamlFlow   = regexp.MustCompile(`^\{\s*[\w./-]+\s*:\s`)
	yamlBlock  = regexp.MustCompile(`^(\s*(?:- +)*)(["']?[\w.$/-]+["']?:\s+)?[|>][-+0-9]*\s*(?:#.*)?$`)
	yamlPair   = regexp.MustCompile(`^\s*(?:- )?["']?[\w.$/-]+["']?:\s+\S`)
	yamlHead   = regexp.MustCompile(`^(?:apiVersion|kind|metadata|spec):(?:\s|$)`)
)

// Sniff tells what b looks like. A properties file may use ':' as separator, so YAML needs structure: a document mark, a
// Kubernetes head, or a key without a value with an indented line or a list item below it.
func Sniff(b []byte) Kind {
	b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	if bytes.IndexByte(b, 0) >= 0 || bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		return KindBinary
	}
	switch start := bytes.TrimSpace(b); {
	case jsonStart.Match(start):
		return KindJSON
	case yamlFlow.Match(start):
		return KindYAML
	}
	block := -1 // the indentation of what a block scalar belongs to, while its lines go by
	var assignments, nested, first int
	var head, mark, parent, any bool
	for _, line := range bytes.FieldsFunc(b, func(r rune) bool { return r == '\n' || r == '\r' }) {
		text := bytes.TrimSpace(line)
		if len(text) == 0 || text[0] == '#' || text[0] == '!' {
			continue
		}
		any = true
		if block >= 0 && len(line)-len(bytes.TrimLeft(line, " ")) > block {
			continue
		}
		block = blockUnder(line)
		first++
		switch {
		case first == 1 && bytes.Equal(text, []byte("---")):
			mark = true
		case assignment.Match(line):
			assignments++
			parent = false
		case yamlHead.Match(line):
			head = true
			parent = yamlParent.Match(line)
		default:
			indented := line[0] == ' ' || bytes.HasPrefix(text, []byte("- "))
			if parent && indented && (yamlPair.Match(line) || yamlParent.Match(line) || bytes.HasPrefix(text, []byte("- "))) {
				nested++
			}
			parent = yamlParent.Match(line)
		}
	}
	switch {
	case !any:
		return KindEmpty
	case mark && assignments == 0, head && assignments <= nested+1, nested > 0 && nested >= assignments:
		return KindYAML
	}
	return KindProperties
}

// blockUnder gives the indentation of what a block scalar that begins on the line belongs to; -1 where none begins. What stands in it, such
// as a properties file, does not tell what the text is.
func blockUnder(line []byte) int {
	m := yamlBlock.FindSubmatch(line)
	switch {
	case m == nil || len(m[1]) < 2 && len(m[2]) == 0:
		return -1
	case len(m[2]) == 0: // an item of a list
		return len(m[1]) - 2
	}
	return len(m[1])
}
