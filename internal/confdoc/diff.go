package confdoc

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Diff writes the edits of one file as a unified diff, as `patch -p1` and `git apply --unidiff-zero` take it where the name is relative to their folder; nothing for no change. Unchanged lines
// around a change are left out where secret says so (nil: never); a hunk with fewer of them is still a right one.
func Diff(name string, b []byte, edits []Edit, secret func(line string) bool) (string, error) {
	after, err := Apply(b, edits)
	if err != nil || bytes.Equal(b, after) {
		return "", err
	}
	old := lines(b)
	hunks := between(old, lines(after))
	hidden := hiddenLines(old, secret)
	var w strings.Builder
	path := strings.TrimPrefix(filepath.ToSlash(name), "./")
	fmt.Fprintf(&w, "--- %s\n+++ %s\n", headName("a/"+path), headName("b/"+path))
	shift := 0
	for i := 0; i < len(hunks); {
		j := i + 1
		for j < len(hunks) && hunks[j].from-hunks[j-1].to <= 2*around && !slices.Contains(hidden[hunks[j-1].to:hunks[j].from], true) {
			j++
		}
		shift += writeHunk(&w, old, hunks[i:j], shift, hidden)
		i = j
	}
	return w.String(), nil
}

// headName writes a name so that patch and git read it back: a tab ends one with blanks, and one that would end the line or begin a quotation
// is quoted as in C.
func headName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		var b strings.Builder
		for _, c := range []byte(name) {
			switch {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c >= 0x7f:
				fmt.Fprintf(&b, `\%03o`, c)
			default:
				b.WriteByte(c)
			}
		}
		return `"` + b.String() + `"`
	}
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

// around is how many unchanged lines stand before and behind a change.
const around = 3

// hunk replaces whole lines [from, to) of the old text.
type hunk struct {
	from, to int
	text     []string
}

// hiddenLines marks the lines that hold a secret, and those that go on with one: behind a backslash, or deeper in than a line that names
// it. One line too many does no harm.
func hiddenLines(old []string, secret func(string) bool) []bool {
	hidden := make([]bool, len(old))
	if secret == nil {
		return hidden
	}
	text := func(i int) string { return strings.TrimRight(old[i], " \t\r\n") }
	for from := 0; from < len(old); {
		to, entry, found := from, "", false
		for going := true; going && to < len(old); to++ {
			line := text(to)
			found = found || secret(line)
			going = (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
			entry += strings.TrimLeft(strings.TrimSuffix(line, `\`), " \t")
		}
		for found = found || secret(entry); from < to; from++ {
			hidden[from] = found
		}
	}
	indent := func(i int) int { return len(text(i)) - len(strings.TrimLeft(text(i), " \t")) }
	for i := range old {
		if t := text(i); t == "" || !hidden[i] && !secret(t+" x") && !secret(t+": x") {
			continue
		}
		for j := i + 1; j < len(old) && (text(j) == "" || indent(j) > indent(i)); j++ {
			hidden[j] = true
		}
	}
	return hidden
}

// writeHunk gives by how many lines the text behind has moved.
func writeHunk(w *strings.Builder, old []string, hunks []hunk, shift int, hidden []bool) int {
	from, to := hunks[0].from, hunks[len(hunks)-1].to
	for n := 0; n < around && from > 0 && !hidden[from-1]; n++ {
		from--
	}
	for n := 0; n < around && to < len(old) && !hidden[to]; n++ {
		to++
	}
	added, removed := 0, 0
	var body strings.Builder
	at := from
	for _, h := range hunks {
		for ; at < h.from; at++ {
			diffLine(&body, ' ', old[at])
		}
		for ; at < h.to; at++ {
			diffLine(&body, '-', old[at])
			removed++
		}
		for _, l := range h.text {
			diffLine(&body, '+', l)
			added++
		}
	}
	for ; at < to; at++ {
		diffLine(&body, ' ', old[at])
	}
	fmt.Fprintf(w, "@@ -%s +%s @@\n%s", span(from, to-from), span(from+shift, to-from+added-removed), body.String())
	return added - removed
}

// span writes a range of lines; one of no lines names the line before it.
func span(from, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}

func diffLine(w *strings.Builder, mark byte, line string) {
	w.WriteByte(mark)
	w.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		w.WriteString("\n\\ No newline at end of file\n")
	}
}

// lines cuts behind each line feed, as diff and patch do.
func lines(b []byte) []string {
	var out []string
	for l := range bytes.Lines(b) {
		out = append(out, string(l))
	}
	return out
}
