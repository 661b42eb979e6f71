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
	yamlParent = regexp.MustCompile(`^\s*(?:- )?["']?[\w.$/-]+["']?:\s*(?:\||>[-+]?|#.*)?$`)
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
	if jsonStart.Match(bytes.TrimSpace(b)) {
		return KindJSON
	}
	var assignments, nested, first int
	var head, mark, parent, any bool
	for _, line := range bytes.FieldsFunc(b, func(r rune) bool { return r == '\n' || r == '\r' }) {
		text := bytes.TrimSpace(line)
		if len(text) == 0 || text[0] == '#' || text[0] == '!' {
			continue
		}
		any = true
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
