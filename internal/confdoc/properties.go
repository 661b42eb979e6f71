package confdoc

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Entry is one key of a properties file, in the order of the file.
type Entry struct {
	Key, Value  string
	Line        int // of the key's first character, from 1
	Column      int // of the key's first character, in bytes from 1
	ValueLine   int // where the value begins (another line after a continuation)
	ValueColumn int // in bytes from 1; one past the end of the text when the value is empty
	EndLine     int // last physical line of the entry
	Start, End  int // byte offsets of Raw in the file: whole lines from Line to EndLine, without the last line end
	Raw         string
	Duplicate   bool // a later entry has the same key; java.util.Properties keeps only the last
}

// Diagnostic is something about the text itself that whoever wrote it should know.
type Diagnostic struct {
	File         string
	Line, Column int
	Fatal        bool // Java refuses the whole file
	Text         string
}

// Error makes a fatal diagnostic usable as an error: file:line:column: text.
func (d Diagnostic) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, d.Text)
}

// Properties is a parsed properties file.
type Properties struct {
	Name    string  // as given, for messages
	Entries []Entry // file order, duplicates included
	Lines   int     // physical lines
	last    map[string]int
	inForce []Entry
	sorted  []int // of inForce, by key
}

// Lookup gives the entry in force for a key: the last one.
func (p *Properties) Lookup(key string) (Entry, bool) {
	i, ok := p.last[key]
	if !ok {
		return Entry{}, false
	}
	return p.Entries[i], true
}

// Value gives the value in force, or "".
func (p *Properties) Value(key string) string {
	e, _ := p.Lookup(key)
	return e.Value
}

// Effective gives the entries in force, one per key, in file order. The slice is to be read only.
func (p *Properties) Effective() []Entry { return p.inForce }

// Under gives the entries in force whose key begins with prefix, in file order.
func (p *Properties) Under(prefix string) []Entry {
	from, _ := slices.BinarySearchFunc(p.sorted, prefix, func(i int, s string) int { return strings.Compare(p.inForce[i].Key, s) })
	to := from
	for to < len(p.sorted) && strings.HasPrefix(p.inForce[p.sorted[to]].Key, prefix) {
		to++
	}
	which := slices.Sorted(slices.Values(p.sorted[from:to]))
	out := make([]Entry, len(which))
	for i, at := range which {
		out[i] = p.inForce[at]
	}
	return out
}

// Gather puts all entries at one place: that of a text which stands somewhere else, and whose own lines nobody sees.
func (p *Properties) Gather(line, column int) {
	for _, list := range [][]Entry{p.Entries, p.inForce} {
		for i := range list {
			e := &list[i]
			e.Line, e.EndLine, e.ValueLine, e.Column, e.ValueColumn = line, line, line, column, column
		}
	}
}

func (p *Properties) index() {
	for i, e := range p.Entries {
		if p.last[e.Key] == i {
			p.sorted = append(p.sorted, len(p.inForce))
			p.inForce = append(p.inForce, e)
		}
	}
	slices.SortFunc(p.sorted, func(a, b int) int { return strings.Compare(p.inForce[a].Key, p.inForce[b].Key) })
}

// Duplicates gives the entries that are not in force because the same key comes again, in file order.
func (p *Properties) Duplicates() []Entry {
	var out []Entry
	for _, e := range p.Entries {
		if e.Duplicate {
			out = append(out, e)
		}
	}
	return out
}

// ParseProperties reads b the way java.util.Properties.load(InputStream) of Java 17 does: ISO 8859-1, backslash escapes,
// continued lines, '=', ':' or blanks between key and value, comments only at the start of a line, trailing blanks kept.
//
// It always gives the entries it could read. A fatal diagnostic means that Java refuses the file; the entry concerned is
// left out, so that the rest of the file can still be checked. A \u escape for half of a surrogate pair becomes U+FFFD.
func ParseProperties(name string, b []byte) (*Properties, []Diagnostic) {
	p := &Properties{Name: name, last: map[string]int{}}
	ix := newLineIndex(b)
	p.Lines = ix.lines()
	var diags []Diagnostic
	report := func(at int, fatal bool, format string, args ...any) {
		line, col := ix.position(at)
		diags = append(diags, Diagnostic{File: name, Line: line, Column: col, Fatal: fatal, Text: fmt.Sprintf(format, args...)})
	}
	if len(b) >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		report(0, false, "the file begins with a byte order mark; Java takes it for a part of the first key, which then has no effect: save the file without it")
	}
	r := lineReader{b: b}
	for r.next() {
		e, bad, why := r.entry()
		if why != "" {
			report(bad, true, "%s", why)
			continue
		}
		first := r.startOf(0)
		e.Line, e.Column = ix.position(first)
		e.EndLine = e.Line
		if r.end > first {
			e.EndLine, _ = ix.position(r.end - 1)
		}
		e.Start, e.End = ix.lineStart(e.Line), r.end
		e.Raw = string(b[e.Start:e.End])
		e.ValueLine, e.ValueColumn = ix.position(r.startOf(r.valueStart))
		if !ascii(b[e.Start:e.End]) && utf8.Valid(b[e.Start:e.End]) {
			what := "the value of"
			if !ascii([]byte(e.Key)) {
				what = "the key"
			}
			report(first, false, "%s %q holds characters beyond ASCII: Java reads the file as ISO 8859-1, so each becomes two or more others; write them as \\uXXXX", what, printable(e.Key))
		}
		if i, ok := p.last[e.Key]; ok {
			p.Entries[i].Duplicate = true
		}
		p.last[e.Key] = len(p.Entries)
		p.Entries = append(p.Entries, e)
	}
	p.index()
	return p, diags
}

// Fatal gives the first diagnostic for which Java refuses the file, or nil.
func Fatal(diags []Diagnostic) error {
	for _, d := range diags {
		if d.Fatal {
			return d
		}
	}
	return nil
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func printable(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
