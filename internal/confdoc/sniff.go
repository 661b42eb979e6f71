package confdoc

import "bytes"

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

// WithoutMark gives a text without its byte order mark.
func WithoutMark(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")) }

// jsonStart: an object with a key or without any, an array of values. A template's {{ or {% is neither.
func jsonStart(b []byte) bool {
	b = bytes.TrimSpace(b)
	if len(b) < 2 {
		return false
	}
	switch next := bytes.TrimLeft(b[1:], " \t\r\n\f"); {
	case len(next) == 0:
		return false
	case b[0] == '{':
		return next[0] == '"' || next[0] == '}'
	case b[0] == '[':
		return bytes.IndexByte([]byte(`"{[]`), next[0]) >= 0 || digit(next[0]) || next[0] == '-' && len(next) > 1 && digit(next[1])
	}
	return false
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// assignment: the line begins with a word and '='.
func assignment(text []byte) bool {
	if bytes.IndexByte([]byte(`={}"'-:`), text[0]) >= 0 {
		return false
	}
	i := bytes.IndexAny(text, "= \t\f:")
	return i >= 0 && bytes.HasPrefix(bytes.TrimLeft(text[i:], " \t\f"), []byte("="))
}

// yamlKey gives what stands behind "key:", a list's dash and quotes around the key apart.
func yamlKey(text []byte) (rest []byte, ok bool) {
	text = bytes.TrimPrefix(text, []byte("- "))
	if len(text) > 0 && (text[0] == '"' || text[0] == '\'') {
		text = text[1:]
	}
	n := 0
	for n < len(text) && (text[n] == '_' || text[n] >= '-' && text[n] <= '9' || text[n] == '$' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 {
		return nil, false
	}
	if text = text[n:]; len(text) > 0 && (text[0] == '"' || text[0] == '\'') {
		text = text[1:]
	}
	return bytes.CutPrefix(text, []byte(":"))
}

// yamlParent: a key whose value stands below it.
func yamlParent(text []byte) bool {
	rest, ok := yamlKey(text)
	if rest = bytes.TrimSpace(rest); !ok || len(rest) == 0 || rest[0] == '#' {
		return ok
	}
	return yamlBlock(rest)
}

// yamlBlock: a block scalar begins.
func yamlBlock(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '|' && text[0] != '>' {
		return false
	}
	text = bytes.TrimLeft(bytes.TrimLeft(text[1:], "-+0123456789"), " \t")
	return len(text) == 0 || text[0] == '#'
}

// yamlFlow: a map in braces whose first key has no quotes.
func yamlFlow(b []byte) bool {
	b, ok := bytes.CutPrefix(bytes.TrimSpace(b), []byte("{"))
	if !ok {
		return false
	}
	rest, ok := yamlKey(bytes.TrimSpace(b))
	return ok && len(rest) > 0 && bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0
}

// yamlPair: a key and its value.
func yamlPair(text []byte) bool {
	rest, ok := yamlKey(text)
	return ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t')
}

func yamlHead(line []byte) bool {
	for _, k := range []string{"apiVersion:", "kind:", "metadata:", "spec:"} {
		if rest, ok := bytes.CutPrefix(line, []byte(k)); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			return true
		}
	}
	return false
}

// Sniff tells what b looks like. A properties file may use ':' as separator, so YAML needs structure: a document mark, a
// Kubernetes head, or a key without a value with an indented line or a list item below it.
func Sniff(b []byte) Kind {
	b = WithoutMark(b)
	if bytes.IndexByte(b, 0) >= 0 || bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		return KindBinary
	}
	switch {
	case jsonStart(b):
		return KindJSON
	case yamlFlow(b):
		return KindYAML
	}
	block := -1 // the indentation of what a block scalar belongs to, while its lines go by
	var assignments, nested, first int
	var head, mark, parent bool
	for len(b) > 0 {
		line := b
		if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 || text[0] == '#' || text[0] == '!' {
			continue
		}
		if block >= 0 && len(line)-len(bytes.TrimLeft(line, " ")) > block {
			continue
		}
		block = blockUnder(line)
		first++
		switch {
		case first == 1 && string(text) == "---":
			mark = true
		case assignment(text):
			assignments++
			parent = false
		case yamlHead(line):
			head = true
			parent = yamlParent(text)
		default:
			item := bytes.HasPrefix(text, []byte("- "))
			own := yamlParent(text)
			if parent && (line[0] == ' ' || item) && (item || own || yamlPair(text)) {
				nested++
			}
			parent = own
		}
	}
	switch {
	case first == 0:
		return KindEmpty
	case mark && assignments == 0, head && assignments <= nested+1, nested > 0 && nested >= assignments:
		return KindYAML
	}
	return KindProperties
}

// blockUnder gives the indentation of what a block scalar that begins on the line belongs to; -1 where none begins. What stands in it, such
// as a properties file, does not tell what the text is.
func blockUnder(line []byte) int {
	text := bytes.TrimLeft(line, " ")
	item := false
	for bytes.HasPrefix(text, []byte("- ")) {
		text, item = bytes.TrimLeft(text[2:], " "), true
	}
	at := len(line) - len(text)
	if rest, ok := yamlKey(text); ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') && yamlBlock(rest) {
		return at
	}
	if item && yamlBlock(text) {
		return at - 2
	}
	return -1
}
