package confdoc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// pair is what an entry means.
type pair struct{ key, value string }

// SetProperty gives the edits that give a key a value: in the entry in force, or in a new line behind the entry that begins on
// line after (0: at the end). No edits when it has that value already. Each edit is proved: the text is read again as Java
// reads it, and all other entries must mean what they meant.
func SetProperty(name string, b []byte, key, value string, after int) ([]Edit, error) {
	p, diags := ParseProperties(name, b)
	if err := Fatal(diags); err != nil {
		return nil, &Unsafe{name, "the file", err.Error()}
	}
	meaning := pairs(p)
	if i, ok := p.last[key]; ok {
		e := p.Entries[i]
		if e.Value == value {
			return nil, nil
		}
		meaning[i].value = value
		start := newLineIndex(b).offset(e.ValueLine, e.ValueColumn)
		indent := e.Raw[:e.Column-1]
		return proved(name, b, key, meaning,
			Edit{name, start, e.End, escapeValue(value)},
			Edit{name, start, e.End, " = " + escapeValue(value)}, // a key without a separator
			Edit{name, e.Start, e.End, indent + escapeKey(key) + " = " + escapeValue(value)})
	}
	eol := lineEnd(b)
	at := slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Line == after })
	line := escapeKey(key) + separator(p, at) + escapeValue(value)
	if at < 0 {
		meaning = append(meaning, pair{key, value})
		text := eol + line
		if len(b) == 0 || b[len(b)-1] == '\n' || b[len(b)-1] == '\r' {
			text = line + eol
		}
		return proved(name, b, key, meaning, Edit{name, len(b), len(b), text})
	}
	e := p.Entries[at]
	meaning = slices.Insert(meaning, at+1, pair{key, value})
	return proved(name, b, key, meaning, Edit{name, e.End, e.End, eol + e.Raw[:e.Column-1] + line})
}

// RemoveProperty gives the edit that takes out the whole lines of the entry that begins on a line.
func RemoveProperty(name string, b []byte, line int) ([]Edit, error) {
	p, _ := ParseProperties(name, b)
	i := slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Line == line })
	if i < 0 {
		return nil, nil
	}
	e := p.Entries[i]
	end := e.End
	switch rest := b[end:]; {
	case bytes.HasPrefix(rest, []byte("\r\n")):
		end += 2
	case len(rest) > 0:
		end++
	}
	return proved(name, b, e.Key, slices.Delete(pairs(p), i, i+1), Edit{name, e.Start, end, ""})
}

// RenameProperty gives the edit that changes the key of the entry that begins on a line, and nothing else of it.
func RenameProperty(name string, b []byte, line int, key string) ([]Edit, error) {
	p, _ := ParseProperties(name, b)
	i := slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Line == line })
	if i < 0 || p.Entries[i].Key == key {
		return nil, nil
	}
	e := p.Entries[i]
	start := e.Start + e.Column - 1
	end := start
	for escaped := false; end < e.End; end++ {
		if c := b[end]; !escaped && (c == '=' || c == ':' || blank(c)) {
			break
		} else {
			escaped = c == '\\' && !escaped
		}
	}
	meaning := pairs(p)
	meaning[i].key = key
	return proved(name, b, e.Key, meaning, Edit{name, start, end, escapeKey(key)})
}

func pairs(p *Properties) []pair {
	out := make([]pair, len(p.Entries))
	for i, e := range p.Entries {
		out[i] = pair{e.Key, e.Value}
	}
	return out
}

// proved gives the first edit after which the text means what it should.
func proved(name string, b []byte, key string, meaning []pair, tries ...Edit) ([]Edit, error) {
	for _, e := range tries {
		out, err := Apply(b, []Edit{e})
		if err != nil {
			return nil, err
		}
		if p, diags := ParseProperties(name, out); Fatal(diags) == nil && slices.Equal(pairs(p), meaning) {
			return []Edit{e}, nil
		}
	}
	return nil, &Unsafe{name, fmt.Sprintf("%q", key), "the lines around it are written in a way that changes what a new line means"}
}

// separator is how a neighbour separates key from value: that of the entry, else that of most of the file.
func separator(p *Properties, at int) string {
	tight := 0
	for i, e := range p.Entries {
		rest := strings.TrimPrefix(strings.TrimSpace(e.Raw), e.Key)
		vote := 0
		switch {
		case strings.HasPrefix(rest, "="):
			vote = 1
		case strings.HasPrefix(strings.TrimLeft(rest, " \t"), "="):
			vote = -1
		}
		if i == at && vote != 0 {
			tight = vote
			break
		}
		tight += vote
	}
	if tight > 0 {
		return "="
	}
	return " = "
}

func escapeKey(s string) string {
	var w strings.Builder
	for _, r := range s {
		if strings.ContainsRune(" =:", r) || w.Len() == 0 && (r == '#' || r == '!') {
			w.WriteByte('\\')
		}
		escapeRune(&w, r)
	}
	return w.String()
}

func escapeValue(s string) string {
	var w strings.Builder
	for _, r := range s {
		if w.Len() == 0 && strings.ContainsRune(" =:", r) {
			w.WriteByte('\\')
		}
		escapeRune(&w, r)
	}
	return w.String()
}

// escapeRune writes ASCII only: Java reads the file as ISO 8859-1.
func escapeRune(w *strings.Builder, r rune) {
	switch {
	case r == '\\':
		w.WriteString(`\\`)
	case r == '\t':
		w.WriteString(`\t`)
	case r == '\n':
		w.WriteString(`\n`)
	case r == '\r':
		w.WriteString(`\r`)
	case r == '\f':
		w.WriteString(`\f`)
	case r < ' ' || r > '~':
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(w, `\u%04X`, u)
		}
	default:
		w.WriteRune(r)
	}
}

// LiftComment gives the edit that puts what was meant as a comment behind a value on a line of its own before the entry; value is what
// is to remain of the value. Only for entries of one line.
func LiftComment(name string, b []byte, line int, value string) ([]Edit, error) {
	p, _ := ParseProperties(name, b)
	i := slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Line == line })
	if i < 0 || p.Entries[i].Value == value {
		return nil, nil
	}
	e := p.Entries[i]
	unsafe := &Unsafe{name, fmt.Sprintf("%q", e.Key), "its value does not end in a comment on the same line"}
	if e.Line != e.EndLine {
		return nil, unsafe
	}
	from := e.ValueColumn - 1
	at := strings.IndexByte(e.Raw[from:], '#')
	if at < 0 {
		return nil, unsafe
	}
	indent := e.Raw[:e.Column-1]
	comment := strings.TrimRight(e.Raw[from+at:], " \t\f")
	kept := strings.TrimRight(e.Raw[:from+at], " \t\f")
	meaning := pairs(p)
	meaning[i].value = value
	return proved(name, b, e.Key, meaning, Edit{name, e.Start, e.End, indent + comment + lineEnd(b) + kept})
}
