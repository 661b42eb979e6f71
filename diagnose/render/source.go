package render

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// lines of a file as positions count them: \n, \r and \r\n end one. The mark at the start of JSON and YAML belongs to none.
func (f *File) lines() []string {
	if f.split != nil {
		return f.split
	}
	text := f.Text
	if t := bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")); len(t) < len(text) && len(t) > 0 && !bytes.ContainsRune([]byte("#!"), rune(t[0])) {
		text = t
	}
	f.split = strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n")
	return f.split
}

// line is the line that a place speaks of, as it stands in the file.
func (s spot) line() string {
	if s.file == nil || s.Line < 1 || len(s.file.Text) == 0 {
		return ""
	}
	if l := s.file.lines(); s.Line <= len(l) {
		return l[s.Line-1]
	}
	return ""
}

// shown is the line of a place without secrets, in the encoding of the file.
func (s spot) shown() string {
	line := s.line()
	if len(line) <= longLine {
		return finding.Masked(line)
	}
	text, ok := s.file.shown[s.Line]
	if !ok {
		if text = finding.Masked(line); s.file.shown == nil {
			s.file.shown = map[int]string{}
		}
		s.file.shown[s.Line] = text
	}
	return text
}

// span gives the bytes of a line that a place means: the key or value that begins there. ok is false where the column is not
// known.
func (s spot) span() (line string, start, end int, ok bool) {
	line = s.line()
	start = s.Column - 1
	if start < 0 || start >= len(line) {
		return line, 0, 0, false
	}
	rest := line[start:]
	switch {
	case s.Key != "" && strings.HasPrefix(rest, s.Key):
		end = start + len(s.Key)
	case rest[0] == '"' || rest[0] == '\'':
		if i := strings.IndexByte(rest[1:], rest[0]); i >= 0 {
			end = start + i + 2
		} else {
			end = start + len(rest)
		}
	default:
		if i := strings.IndexAny(rest, "=: \t,"); i > 0 {
			end = start + i
		} else {
			end = start + len(strings.TrimRight(rest, " \t"))
		}
	}
	return line, start, max(end, start+1), true
}

// around is the line of a place without secrets; of a long one, the part about the place.
func (s spot) around() string {
	line, start, end, ok := s.span()
	shown := s.shown()
	if len(line) <= longLine {
		return utf8Of(shown)
	}
	if !ok || end > len(shown) {
		start = 0
	}
	from := max(0, start-longLine/4)
	cut := shown[min(from, len(shown)):min(from+longLine, len(shown))]
	if utf8.ValidString(line) {
		cut = strings.ToValidUTF8(cut, "") // half a character at either end
	}
	if cut = utf8Of(cut); from > 0 {
		cut = "…" + cut
	}
	if from+longLine < len(shown) {
		cut += "…"
	}
	return cut
}

// column counts characters as editors and code hosts do: UTF-16 units, from 1. A file that is not UTF-8 has one byte each.
func (s spot) column() int {
	line := s.line()
	if s.Column < 1 || s.Column-1 > len(line) {
		return s.Column
	}
	return units(line[:s.Column-1]) + 1
}

func units(text string) int {
	if !utf8.ValidString(text) {
		return len(text)
	}
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// utf8Of shows a line of any encoding as UTF-8: what is not, is ISO 8859-1 as Java reads it.
func utf8Of(line string) string {
	if utf8.ValidString(line) {
		return line
	}
	r := make([]rune, len(line))
	for i := range len(line) {
		r[i] = rune(line[i])
	}
	return string(r)
}
