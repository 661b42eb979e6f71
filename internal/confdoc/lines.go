package confdoc

import (
	"strings"
	"unicode/utf16"
)

// lineReader takes a properties file apart into logical lines: comments and blank lines gone, continued lines joined.
// chars are the characters of the current logical line and at the byte offset of each.
type lineReader struct {
	b          []byte
	pos        int
	chars      []byte
	at         []int
	end        int // byte offset behind the last character of the logical line, line end excluded
	valueStart int // index into chars, set by entry
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }

// next advances to the next logical line. A backslash at the very end of the file is dropped, as Java does; a line that
// consists of nothing but continuations is an entry with an empty key only when the file ends with a backslash.
func (r *lineReader) next() bool {
	r.chars, r.at = r.chars[:0], r.at[:0]
	skipping, continued, escaped := true, false, false
	for r.pos < len(r.b) {
		off := r.pos
		c := r.b[off]
		r.pos++
		if skipping {
			if blank(c) || !continued && (c == '\r' || c == '\n') {
				continue
			}
			skipping, continued = false, false
		}
		// Since Java 9 a comment may also follow a line that held only a backslash: what counts is that nothing was read yet.
		if len(r.chars) == 0 && (c == '#' || c == '!') {
			for r.pos < len(r.b) && r.b[r.pos] != '\n' && r.b[r.pos] != '\r' {
				r.pos++
			}
			skipping = true
			continue
		}
		if c != '\n' && c != '\r' {
			r.chars, r.at = append(r.chars, c), append(r.at, off)
			r.end = off + 1
			escaped = c == '\\' && !escaped
			continue
		}
		if len(r.chars) == 0 {
			skipping = true
			continue
		}
		if !escaped {
			return true
		}
		if r.pos >= len(r.b) {
			break
		}
		r.chars, r.at = r.chars[:len(r.chars)-1], r.at[:len(r.at)-1]
		skipping, continued, escaped = true, true, false
		if c == '\r' && r.b[r.pos] == '\n' {
			r.pos++
		}
	}
	if len(r.chars) == 0 {
		return false
	}
	if escaped {
		r.chars, r.at = r.chars[:len(r.chars)-1], r.at[:len(r.at)-1]
	}
	return true
}

// startOf gives the byte offset of character i of the logical line, or the end of the line.
func (r *lineReader) startOf(i int) int {
	if i < len(r.at) {
		return r.at[i]
	}
	return r.end
}

// entry splits the logical line into key and value. A non-empty why tells what is wrong at byte offset bad.
func (r *lineReader) entry() (e Entry, bad int, why string) {
	n := len(r.chars)
	keyEnd, separated, escaped := 0, false, false
	value := n
	for keyEnd < n {
		c := r.chars[keyEnd]
		if !escaped && (c == '=' || c == ':') {
			value, separated = keyEnd+1, true
			break
		}
		if !escaped && blank(c) {
			value = keyEnd + 1
			break
		}
		escaped = c == '\\' && !escaped
		keyEnd++
	}
	for value < n {
		c := r.chars[value]
		if !blank(c) {
			if separated || c != '=' && c != ':' {
				break
			}
			separated = true
		}
		value++
	}
	r.valueStart = value
	var at int
	if e.Key, at, why = unescape(r.chars[:keyEnd]); why != "" {
		return e, r.startOf(at), why
	}
	if e.Value, at, why = unescape(r.chars[value:]); why != "" {
		return e, r.startOf(value + at), why
	}
	return e, 0, ""
}

// unescape resolves backslash escapes. at is the index of a malformed escape's backslash.
func unescape(c []byte) (s string, at int, why string) {
	units := make([]uint16, 0, len(c))
	for i := 0; i < len(c); i++ {
		if c[i] != '\\' || i+1 >= len(c) {
			units = append(units, uint16(c[i]))
			continue
		}
		start := i
		i++
		switch c[i] {
		case 'u':
			u, ok := hex4(c[i+1:])
			if !ok {
				return "", start, "malformed \\u escape (four hexadecimal digits must follow): Java refuses the whole file; write a backslash as \\\\"
			}
			units = append(units, u)
			i += 4
		case 't':
			units = append(units, '\t')
		case 'n':
			units = append(units, '\n')
		case 'r':
			units = append(units, '\r')
		case 'f':
			units = append(units, '\f')
		default:
			units = append(units, uint16(c[i]))
		}
	}
	return string(utf16.Decode(units)), 0, ""
}

func hex4(c []byte) (uint16, bool) {
	if len(c) < 4 {
		return 0, false
	}
	var v uint16
	for _, d := range c[:4] {
		i := strings.IndexByte("0123456789abcdef", d|0x20)
		if i < 0 || d < '0' {
			return 0, false
		}
		v = v<<4 | uint16(i)
	}
	return v, true
}

// lineIndex turns byte offsets into lines and columns. A line ends with \n, \r or \r\n.
type lineIndex struct{ starts []int }

func newLineIndex(b []byte) lineIndex {
	ix := lineIndex{starts: []int{0}}
	for i, c := range b {
		if c == '\n' || c == '\r' && (i+1 == len(b) || b[i+1] != '\n') {
			ix.starts = append(ix.starts, i+1)
		}
	}
	if n := len(ix.starts); n > 1 && ix.starts[n-1] == len(b) {
		ix.starts = ix.starts[:n-1]
	}
	return ix
}

func (ix lineIndex) lines() int { return len(ix.starts) }

func (ix lineIndex) lineStart(line int) int { return ix.starts[line-1] }

// offset is the opposite of position.
func (ix lineIndex) offset(line, column int) int { return ix.starts[line-1] + column - 1 }

func (ix lineIndex) position(off int) (line, column int) {
	lo, hi := 0, len(ix.starts)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if ix.starts[mid] <= off {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1, off - ix.starts[lo] + 1
}
