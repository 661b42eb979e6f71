package security

import (
	"errors"
	"fmt"
	"strings"
)

// module is one login module of a JAAS text: CLASS FLAG key=value … ;
type module struct {
	class, flag string
	options     map[string]string
}

type kind int

const (
	end kind = iota
	word
	quoted
	number // Java's tokenizer gives a number no text, so Kafka refuses an unquoted one
	mark   // any other character
)

type token struct {
	kind kind
	text string
}

// parseJAAS reads the value of sasl.jaas.config by the rules of Kafka's own parser, that is Java's StreamTokenizer: words,
// 'single' and "double" quotes with backslash escapes, // and /* */ comments. Its errors never show a value.
func parseJAAS(s string) ([]module, error) {
	t := tokenizer{s: s}
	var out []module
	for {
		tok := t.next()
		if tok.kind == end {
			if len(out) == 0 {
				return nil, errors.New("it names no login module")
			}
			return out, nil
		}
		if tok.kind != word && tok.kind != quoted {
			return nil, errors.New("it does not begin with the class of a login module")
		}
		m := module{class: tok.text, options: map[string]string{}}
		tok = t.next()
		switch m.flag = strings.ToUpper(tok.text); {
		case tok.kind != word && tok.kind != quoted:
			return nil, errors.New("the flag behind the login module is missing")
		case m.flag != "REQUIRED" && m.flag != "REQUISITE" && m.flag != "SUFFICIENT" && m.flag != "OPTIONAL":
			return nil, errors.New("the word behind the login module is not required, requisite, sufficient or optional")
		}
		if err := t.options(m.options); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
}

func (t *tokenizer) options(into map[string]string) error {
	last := ""
	behind := func() string {
		if last == "" {
			return "the flag"
		}
		return named(last)
	}
	for {
		key := t.next()
		switch {
		case key.kind == end:
			return fmt.Errorf("the semicolon at the end is missing (behind %s)", behind())
		case key.kind == mark && key.text == ";":
			return nil
		case key.kind != word:
			return fmt.Errorf("behind %s stands something that is not key=value; a value with special characters needs quotes, a quote within them a backslash", behind())
		}
		if eq := t.next(); eq.kind != mark || eq.text != "=" {
			return fmt.Errorf("behind %s a word is not followed by =; a value with special characters needs quotes", behind())
		}
		v := t.next()
		switch v.kind {
		case word, quoted:
			into[key.text] = v.text
		case number:
			return fmt.Errorf("the value of %s begins like a number and is not quoted, which Kafka refuses: put it in quotes", named(key.text))
		default:
			return fmt.Errorf("%s has no value, or one that needs quotes", named(key.text))
		}
		last = key.text
	}
}

// named shows the name of a known option only: in a text with wrong quotes a piece of a password may look like a name.
func named(option string) string {
	switch option {
	case "username", "password", "tokenauth":
		return fmt.Sprintf("option %q", option)
	}
	return "an option"
}

type tokenizer struct {
	s   string
	pos int
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || c == '_' || c == '$' || c == '-'
}
func isNumeric(c byte) bool { return c >= '0' && c <= '9' || c == '.' || c == '-' }

func (t *tokenizer) next() token {
	t.skip()
	if t.pos >= len(t.s) {
		return token{}
	}
	c := t.s[t.pos]
	switch {
	case c == '"' || c == '\'':
		return token{quoted, t.quoted(c)}
	case isNumeric(c):
		from := t.pos
		for t.pos < len(t.s) && isNumeric(t.s[t.pos]) {
			t.pos++
		}
		if t.s[from:t.pos] == "-" { // a minus sign begins a number or stands alone, though it may go on a word
			return token{mark, "-"}
		}
		return token{number, t.s[from:t.pos]}
	case isWord(c):
		return token{word, t.word()}
	}
	t.pos++
	return token{mark, string(c)}
}

func (t *tokenizer) word() string {
	from := t.pos
	for t.pos < len(t.s) && (isWord(t.s[t.pos]) || isNumeric(t.s[t.pos])) {
		t.pos++
	}
	return t.s[from:t.pos]
}

// skip passes white space and comments; a lone slash begins a comment as well.
func (t *tokenizer) skip() {
	for t.pos < len(t.s) {
		rest := t.s[t.pos:]
		switch {
		case rest[0] <= ' ':
			t.pos++
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				t.pos = len(t.s)
				return
			}
			t.pos += i + 4
		case rest[0] == '/':
			i := strings.IndexAny(rest, "\r\n")
			if i < 0 {
				t.pos = len(t.s)
				return
			}
			t.pos += i
		default:
			return
		}
	}
}

var escapes = map[byte]byte{'a': 7, 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': 11}

// quoted reads to the closing quote, or to the end of the line as Java does.
func (t *tokenizer) quoted(q byte) string {
	var b strings.Builder
	for t.pos++; t.pos < len(t.s); t.pos++ {
		c := t.s[t.pos]
		switch {
		case c == q:
			t.pos++
			return b.String()
		case c == '\n' || c == '\r':
			return b.String()
		case c == '\\' && t.pos+1 < len(t.s):
			t.pos++
			c = t.s[t.pos]
			if e, ok := escapes[c]; ok {
				c = e
			} else if c >= '0' && c <= '7' {
				t.octal(&b)
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// octal reads up to three digits, the first at most 3 when there are three.
func (t *tokenizer) octal(b *strings.Builder) {
	first := t.s[t.pos]
	v, n := int(first-'0'), 1
	for n < 3 && t.pos+1 < len(t.s) && t.s[t.pos+1] >= '0' && t.s[t.pos+1] <= '7' {
		if n == 2 && first > '3' {
			break
		}
		t.pos++
		v, n = v*8+int(t.s[t.pos]-'0'), n+1
	}
	b.WriteRune(rune(v))
}
