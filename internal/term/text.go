package term

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// widths ignores the environment: ambiguous characters count one column everywhere, so the same text wraps the same way.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// Columns counts the columns that s takes, without escape sequences in it.
func Columns(s string) int { return widths.StringWidth(s) }

// Clean makes text from outside safe to print on one line: control characters, what reverses or hides text, broken UTF-8,
// and on an ASCII screen everything else beyond ASCII, become escapes such as \x1b, \n or \u202e.
func (s Screen) Clean(text string) string { return s.clean(text, false) }

// CleanLines is Clean that keeps line feeds and tabs, for commands of several lines.
func (s Screen) CleanLines(text string) string { return s.clean(text, true) }

func (s Screen) clean(text string, lines bool) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t' || r == '\r':
			if lines && r != '\r' {
				b.WriteRune(r)
			} else {
				b.WriteString(map[rune]string{'\n': `\n`, '\t': `\t`, '\r': `\r`}[r])
			}
		case r < 0x20 || r >= 0x7f && r <= 0x9f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x7f:
			b.WriteRune(r)
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
			b.WriteString(escape(r))
		case !s.Unicode:
			b.WriteString(ascii(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ascii writes common punctuation as one would type it, and the rest as an escape.
func ascii(r rune) string {
	switch r {
	case '—', '–', '‑', '−':
		return "-"
	case '→', '⇒':
		return "->"
	case '←':
		return "<-"
	case '≤':
		return "<="
	case '≥':
		return ">="
	case '≈':
		return "~"
	case '…':
		return "..."
	case '·':
		return "|"
	case '‘', '’':
		return "'"
	case '“', '”':
		return `"`
	case '\u00a0', '\u2009', '\u202f':
		return " "
	}
	return escape(r)
}

func escape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Wrap breaks cleaned prose into lines of at most width columns, at spaces only: a word that is longer than a line stays
// whole, so names can be copied. It gives at least one line.
func Wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }) {
		n := Columns(word)
		if used > 0 && used+1+n > width {
			lines, line, used = append(lines, line), "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// Number writes n as it is typed into a command: readers copy offsets from a report.
func (s Screen) Number(n int64) string { return strconv.FormatInt(n, 10) }

// Shorten cuts the middle out of text that is wider than width columns: both ends of a topic name tell topics apart.
func (s Screen) Shorten(text string, width int) string {
	if Columns(text) <= width {
		return text
	}
	dots := s.Ellipsis()
	room := width - Columns(dots)
	if room < 2 {
		return runewidth.Truncate(text, width, "")
	}
	head := widths.Truncate(text, (room+1)/2, "")
	runes := []rune(text)
	start, tail := len(runes), 0
	for start > 0 && tail+widths.RuneWidth(runes[start-1]) <= room-Columns(head) {
		start--
		tail += widths.RuneWidth(runes[start])
	}
	return head + dots + string(runes[start:])
}

// CutLeft takes the given number of columns from the start of text, CutRight all behind that number of columns. Both take time in
// proportion to the text: a minified file is one line.
func CutLeft(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	return widths.TruncateLeft(text, columns, "")
}

// CutRight: see CutLeft.
func CutRight(text string, columns int) string {
	if columns <= 0 {
		return ""
	}
	return widths.Truncate(text, columns, "")
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Pad fills text with spaces up to width columns.
func Pad(text string, width int) string { return text + spaces(width-Columns(text)) }
