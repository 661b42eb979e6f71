package confdoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// mostDepth bounds how deep documents may be nested; a reader that recurses would otherwise run out of stack.
const mostDepth = 500

// ParseJSON reads JSON, also several values one after the other. Duplicate keys are kept, with their places.
func ParseJSON(name string, b []byte) ([]Doc, error) {
	text := WithoutMark(b)
	r := &jsonReader{name: name, b: text, dec: json.NewDecoder(bytes.NewReader(text)), ix: newLineIndex(text)}
	r.dec.UseNumber()
	var out []Doc
	for {
		at := r.begin()
		t, err := r.dec.Token()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, r.fail(err)
		}
		n, err := r.value(t, at, 0)
		if err != nil {
			return out, err
		}
		out = append(out, Doc{File: name, Root: n})
	}
}

type jsonReader struct {
	name string
	b    []byte
	dec  *json.Decoder
	ix   lineIndex
}

// begin is the offset of the next token: what lies between tokens is blanks, commas and colons.
func (r *jsonReader) begin() int {
	i := int(r.dec.InputOffset())
	for i < len(r.b) && bytes.IndexByte([]byte(" \t\r\n,:"), r.b[i]) >= 0 {
		i++
	}
	return i
}

func (r *jsonReader) fail(err error) error {
	e := &Syntax{File: r.name, What: "the JSON cannot be read", Why: err.Error(), Next: "correct this place"}
	var syn *json.SyntaxError
	switch {
	case errors.As(err, &syn) && syn.Offset == r.dec.InputOffset(): // a token in the wrong place; blanks before it are not skipped
		e.Line, e.Column = r.ix.position(min(r.begin(), len(r.b)))
	case errors.As(err, &syn):
		e.Line, e.Column = r.ix.position(min(max(int(syn.Offset)-1, 0), len(r.b)))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Line, e.Column = r.ix.position(len(r.b))
		e.Why, e.Next = "the text ends before the value does", "give the whole file"
	default:
		e.Line, e.Column = r.ix.position(min(r.begin(), len(r.b)))
	}
	return e
}

func (r *jsonReader) value(t json.Token, at, depth int) (*Node, error) {
	n := &Node{Start: at, End: int(r.dec.InputOffset())}
	n.Line, n.Column = r.ix.position(at)
	switch t := t.(type) {
	case nil:
		n.Kind = Null
	case bool:
		n.Kind, n.Value = Bool, fmt.Sprint(t)
	case json.Number:
		n.Kind, n.Value = Number, t.String()
	case string:
		n.Kind, n.Value = String, t
	case json.Delim:
		if depth >= mostDepth {
			return nil, &Syntax{File: r.name, Line: n.Line, Column: n.Column, What: "the JSON cannot be read", Why: fmt.Sprintf("it is nested more than %d deep", mostDepth), Next: "give a configuration"}
		}
		n.Kind, n.End = List, 0
		if t == '{' {
			n.Kind = Map
		}
		if err := r.fill(n, depth); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// fill reads the inside of a map or list and its closing bracket.
func (r *jsonReader) fill(n *Node, depth int) error {
	for r.dec.More() {
		at := r.begin()
		t, err := r.dec.Token()
		if err != nil {
			return r.fail(err)
		}
		var key *Field
		if n.Kind == Map {
			name, ok := t.(string)
			if !ok {
				return r.fail(errors.New("a key must be a string"))
			}
			key = &Field{Key: name}
			key.Line, key.Column = r.ix.position(at)
			at = r.begin()
			if t, err = r.dec.Token(); err != nil {
				return r.fail(err)
			}
		}
		v, err := r.value(t, at, depth+1)
		if err != nil {
			return err
		}
		if key == nil {
			n.Items = append(n.Items, v)
			continue
		}
		key.Value = v
		n.Fields = append(n.Fields, *key)
	}
	if _, err := r.dec.Token(); err != nil {
		return r.fail(err)
	}
	n.markDuplicates()
	return nil
}
