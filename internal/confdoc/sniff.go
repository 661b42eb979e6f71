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
	if rest[0] == '>' {
		rest = bytes.TrimLeft(rest, ">-+")
		return len(rest) == 0
	}
	return len(rest) == 1 && rest[0] == '|'
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
	b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	if bytes.IndexByte(b, 0) >= 0 || bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		return KindBinary
	}
	if jsonStart(b) {
		return KindJSON
	}
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
