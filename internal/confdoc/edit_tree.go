package confdoc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Scalar is a value to be written: Kind is String, Number, Bool or Null.
type Scalar struct {
	Kind NodeKind
	Text string
}

// SetField gives the edits that give a field of a JSON or YAML text a value. doc is the index of the document; path holds keys
// and "[i]" for list items, as Walk gives them; all but the last must be there. A new field is put behind a sibling on a line of
// its own, where siblings have one. No edits when it has that value already. Each edit is proved: the text is read again, and
// all else must be what it was.
func SetField(name string, b []byte, doc int, path []string, value Scalar) ([]Edit, error) {
	t, parent, err := openTree(name, b, doc, path)
	if err != nil {
		return nil, err
	}
	key := path[len(path)-1]
	want := value.node()
	if f := parent.Field(key); f != nil {
		if f.Value.Kind == value.Kind && (value.Kind == Null || f.Value.Value == value.Text) {
			return nil, nil
		}
		at := slices.IndexFunc(parent.Fields, func(x Field) bool { return x.Key == key && !x.Duplicate })
		return t.proved(t.replacements(f.Value, value), func(target *Node) { target.Fields[at].Value = want })
	}
	var tries []Edit
	for _, literal := range t.literals(value, 0) {
		tries = append(tries, t.insertions(parent, key, literal)...)
	}
	return t.proved(tries, func(target *Node) { target.Fields = append(target.Fields, Field{Key: key, Value: want}) })
}

// RemoveField gives the edit that takes out a field that holds no map or list.
func RemoveField(name string, b []byte, doc int, path []string) ([]Edit, error) {
	t, parent, err := openTree(name, b, doc, path)
	if err != nil {
		return nil, err
	}
	at := lastField(parent, path)
	if at < 0 {
		return nil, nil
	}
	return t.proved(t.removals(parent, at), func(target *Node) {
		target.Fields = slices.Delete(target.Fields, at, at+1)
		target.markDuplicates()
	})
}

// RenameField gives the edit that changes the key of a field, and nothing else of it. A name that stands there already is not made twice.
func RenameField(name string, b []byte, doc int, path []string, key string) ([]Edit, error) {
	t, parent, err := openTree(name, b, doc, path)
	if err != nil {
		return nil, err
	}
	at := lastField(parent, path)
	if at < 0 {
		return nil, nil
	}
	if parent.Field(key) != nil {
		return nil, &Unsafe{name, t.what, key + " stands there already"}
	}
	f := parent.Fields[at]
	start := t.ix.offset(f.Line, f.Column)
	end := start + len(f.Key)
	if q := t.b[start]; q == '"' || q == '\'' {
		end = quoteEnd(t.b, start)
	}
	var tries []Edit
	for _, literal := range t.literals(Scalar{String, key}, t.b[start]) {
		tries = append(tries, t.edit(start, end, literal))
	}
	return t.proved(tries, func(target *Node) {
		target.Fields[at].Key = key
		target.markDuplicates()
	})
}

func lastField(parent *Node, path []string) int {
	return slices.IndexFunc(parent.Fields, func(x Field) bool { return x.Key == path[len(path)-1] && !x.Duplicate })
}

// tree is a text that is being edited; offsets of its nodes count from behind a byte order mark.
type tree struct {
	name  string
	json  bool
	b     []byte
	whole []byte
	bom   int
	ix    lineIndex
	docs  []Doc
	doc   int
	path  []string // of the map that is changed
	what  string
}

func openTree(name string, b []byte, doc int, path []string) (*tree, *Node, error) {
	docs, err := ParseTree(name, b)
	if err != nil {
		return nil, nil, &Unsafe{name, "the file", err.Error()}
	}
	text := WithoutMark(b)
	t := &tree{name: name, json: Sniff(b) == KindJSON, b: text, whole: b, bom: len(b) - len(text), ix: newLineIndex(text), docs: docs, doc: doc, what: strings.Join(path, ".")}
	if doc < 0 || doc >= len(docs) || len(path) == 0 {
		return nil, nil, &Unsafe{name, t.what, "there is no such document"}
	}
	t.path = path[:len(path)-1]
	parent := at(docs[doc].Root, t.path)
	if !parent.Is(Map) {
		return nil, nil, &Unsafe{name, t.what, "what it belongs to is not there, or is no map"}
	}
	return t, parent, nil
}

// at walks down maps and lists.
func at(n *Node, path []string) *Node {
	for _, key := range path {
		if n.Is(List) {
			i, err := strconv.Atoi(strings.Trim(key, "[]"))
			if err != nil || i < 0 || i >= len(n.Items) {
				return nil
			}
			n = n.Items[i]
			continue
		}
		n = n.Get(key)
	}
	return n
}

func (s Scalar) node() *Node {
	if s.Kind == Null {
		return &Node{}
	}
	return &Node{Kind: s.Kind, Value: s.Text}
}

func (t *tree) edit(start, end int, text string) Edit {
	return Edit{t.name, start + t.bom, end + t.bom, text}
}

// literals are the ways to write a scalar, the one that fits the present style first.
func (t *tree) literals(s Scalar, style byte) []string {
	if s.Kind == Null {
		return []string{"null"}
	}
	quoted := quote(s.Text)
	if s.Kind != String {
		return []string{s.Text}
	}
	if t.json {
		return []string{quoted}
	}
	single := "'" + strings.ReplaceAll(s.Text, "'", "''") + "'"
	if strings.ContainsFunc(s.Text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return []string{quoted} // what cannot be seen is written as an escape
	}
	switch style {
	case '"':
		return []string{quoted}
	case '\'':
		return []string{single, quoted}
	}
	return []string{s.Text, quoted}
}

// quote writes JSON, which YAML reads as well.
func quote(s string) string {
	var w bytes.Buffer
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // cannot happen with a string; it would be found out when the edit is proved
	}
	return strings.NewReplacer("\u0085", `\u0085`, "\ufeff", `\ufeff`, "\u007f", `\u007f`).Replace(strings.TrimSuffix(w.String(), "\n"))
}

func (t *tree) replacements(v *Node, s Scalar) []Edit {
	var out []Edit
	style := byte(0)
	if v.Start < len(t.b) {
		style = t.b[v.Start]
	}
	for _, literal := range t.literals(s, style) {
		switch {
		case v.End > 0:
			out = append(out, t.edit(v.Start, v.End, literal))
		case v.Kind == Null: // YAML: a key with nothing behind it
			out = append(out, t.edit(v.Start, v.Start, " "+literal), t.edit(v.Start, v.Start, literal))
		}
	}
	return out
}

// insertions are places for a new field: behind each sibling with a value of one line, last ones first, then before the first.
func (t *tree) insertions(parent *Node, key, literal string) []Edit {
	var out []Edit
	names := []string{quote(key)}
	if !t.json {
		names = []string{key, quote(key)}
	}
	flow := t.json || parent.Start < len(t.b) && t.b[parent.Start] == '{'
	for _, name := range names {
		field := name + ": " + literal
		for _, f := range slices.Backward(parent.Fields) {
			if f.Value.End == 0 {
				continue
			}
			start := t.ix.offset(f.Line, f.Column)
			if flow {
				out = append(out, t.edit(f.Value.End, f.Value.End, ","+cmp.Or(t.before(start), " ")+field), t.edit(f.Value.End, f.Value.End, ", "+field))
				continue
			}
			end := t.lineStop(f.Value.End)
			out = append(out, t.edit(end, end, lineEnd(t.b)+strings.Repeat(" ", f.Column-1)+field))
		}
		switch {
		case len(parent.Fields) > 0 && flow:
			start := t.ix.offset(parent.Fields[0].Line, parent.Fields[0].Column)
			out = append(out, t.edit(start, start, field+","+cmp.Or(t.before(start), " ")))
		case len(parent.Fields) > 0:
			f := parent.Fields[0]
			start := t.ix.offset(f.Line, f.Column)
			out = append(out, t.edit(start, start, field+lineEnd(t.b)+strings.Repeat(" ", f.Column-1)))
		case flow:
			out = append(out, t.edit(parent.Start+1, parent.Start+1, field))
		}
	}
	return out
}

// before gives the blanks and line ends in front of a place.
func (t *tree) before(at int) string {
	start := at
	for start > 0 && strings.IndexByte(" \t\r\n", t.b[start-1]) >= 0 {
		start--
	}
	return string(t.b[start:at])
}

func (t *tree) lineStop(at int) int {
	if i := bytes.IndexAny(t.b[at:], "\r\n"); i >= 0 {
		return at + i
	}
	return len(t.b)
}

// removals are ways to take out a field of one line: its whole line, or with the comma behind or before it.
func (t *tree) removals(parent *Node, i int) []Edit {
	f := parent.Fields[i]
	if f.Value.End == 0 {
		return nil
	}
	start, end := t.ix.offset(f.Line, f.Column), f.Value.End
	var out []Edit
	first := t.ix.lineStart(f.Line)
	if stop := t.lineStop(end); !t.json && strings.TrimLeft(string(t.b[first:start]), " ") == "" {
		next := stop
		if rest := t.b[stop:]; bytes.HasPrefix(rest, []byte("\r\n")) {
			next += 2
		} else if len(rest) > 0 {
			next++
		}
		out = append(out, t.edit(first, next, ""))
	}
	if i+1 < len(parent.Fields) {
		next := parent.Fields[i+1]
		if at := t.ix.offset(next.Line, next.Column); at > end {
			out = append(out, t.edit(start, at, ""))
		}
	}
	comma := start - len(t.before(start)) - 1
	if comma >= 0 && t.b[comma] == ',' {
		out = append(out, t.edit(comma, end, ""))
	}
	return append(out, t.edit(start, end, ""))
}

func quoteEnd(b []byte, start int) int {
	for i := start + 1; i < len(b); i++ {
		switch {
		case b[start] == '"' && b[i] == '\\':
			i++
		case b[i] == b[start] && b[start] == '\'' && i+1 < len(b) && b[i+1] == '\'':
			i++
		case b[i] == b[start]:
			return i + 1
		}
	}
	return len(b)
}

// proved gives the first edit after which the text is what it was, but for what change does to the map concerned.
func (t *tree) proved(tries []Edit, change func(*Node)) ([]Edit, error) {
	docs, err := ParseTree(t.name, t.whole) // a copy of its own to change
	if err != nil {
		return nil, err
	}
	change(at(docs[t.doc].Root, t.path))
	want := meaning(docs)
	for _, e := range tries {
		if e.End < e.Start {
			continue
		}
		out, err := Apply(t.whole, []Edit{e})
		if err != nil {
			return nil, err
		}
		parse := ParseYAML
		if t.json {
			parse = ParseJSON
		}
		if docs, err := parse(t.name, out); err == nil && slices.Equal(want, meaning(docs)) && Sniff(out) == Sniff(t.whole) {
			return []Edit{e}, nil
		}
	}
	return nil, &Unsafe{t.name, t.what, "the lines around it are written in a way that leaves no room for it, or that other places share"}
}

// meaning writes what documents say, in an order of keys that does not depend on the text.
func meaning(docs []Doc) []string {
	var out []string
	for _, d := range docs {
		out = append(out, said(d.Root))
	}
	return out
}

func said(n *Node) string {
	if n == nil {
		return "nothing"
	}
	switch n.Kind {
	case Map:
		parts := make([]string, len(n.Fields))
		for i, f := range n.Fields {
			parts[i] = strconv.Quote(f.Key) + ":" + said(f.Value)
		}
		// Of duplicates the last one counts: their order is kept.
		slices.SortStableFunc(parts, func(a, b string) int {
			ka, _, _ := strings.Cut(a, "\":")
			kb, _, _ := strings.Cut(b, "\":")
			return cmp.Compare(ka, kb)
		})
		return "{" + strings.Join(parts, ",") + "}"
	case List:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = said(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return fmt.Sprint(n.Kind) + strconv.Quote(n.Value)
}
