package confdoc

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// mostNodes bounds what aliases may unfold to.
const mostNodes = 1_000_000

// ParseYAML reads the documents of a YAML text. Aliases and merge keys are unfolded; duplicate keys are kept, with their
// places. Documents that hold nothing are left out.
func ParseYAML(name string, b []byte) ([]Doc, error) {
	text := WithoutMark(b)
	r := &yamlReader{name: name, b: text, ix: newLineIndex(text), open: map[*yaml.Node]bool{}}
	if err := r.template(); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var out []Doc
	for {
		var d yaml.Node
		err := decode(dec, &d)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, r.fail(err)
		}
		if len(d.Content) == 0 {
			continue
		}
		n, err := r.node(d.Content[0], 0)
		if err != nil {
			return out, err
		}
		if n.Kind != Null {
			out = append(out, Doc{File: name, Root: n})
		}
	}
}

// decode turns a panic of the library on a text it was not made for into an error.
func decode(dec *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	return dec.Decode(into)
}

type yamlReader struct {
	name  string
	b     []byte
	ix    lineIndex
	nodes int
	open  map[*yaml.Node]bool // aliases being unfolded
}

// templateMark is what Helm, Jinja and the like leave in a file before it is rendered, at the start of a line or of a value.
var templateMark = regexp.MustCompile(`(?m)^[ \t]*(?:- +)?(?:[\w.$/"'-]+:[ \t]+)?(\{\{|\{%)`)

func (r *yamlReader) template() error {
	m := templateMark.FindSubmatchIndex(r.b)
	if m == nil {
		return nil
	}
	line, col := r.ix.position(m[2])
	return &Syntax{File: r.name, Line: line, Column: col, What: "the file is a template, not YAML", Why: "a placeholder stands here that is filled in later", Next: "render it first (such as: helm template), and give the result"}
}

var (
	yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)`)
	// byParser are messages of the parser, which counts lines from 0; the scanner behind it counts from 1.
	byParser = regexp.MustCompile(`^did not find expected (?:key|node content|',' or|'-' indicator|<|'<)|^found (?:undefined tag handle|duplicate %|incompatible)`)
	anchor   = regexp.MustCompile(`unknown anchor '([^']*)'`)
)

func (r *yamlReader) fail(err error) error {
	e := &Syntax{File: r.name, What: "the YAML cannot be read", Why: strings.TrimPrefix(err.Error(), "yaml: "), Next: "correct this place"}
	off := -1
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		e.Why = m[2]
		line, _ := strconv.Atoi(m[1])
		if byParser.MatchString(m[2]) {
			line++
		}
		off = r.ix.lineStart(min(max(line, 1), r.ix.lines()))
		for off < len(r.b) && blank(r.b[off]) {
			off++
		}
	} else if m := anchor.FindStringSubmatch(err.Error()); m != nil {
		off = bytes.Index(r.b, []byte("*"+m[1]))
	}
	if off >= 0 {
		e.Line, e.Column = r.ix.position(off)
		if line := r.lineAt(off); bytes.IndexByte(line[:len(line)-len(bytes.TrimLeft(line, " \t"))], '\t') >= 0 {
			e.Why, e.Next = "the line is indented with a tab, which YAML does not allow", "indent with blanks"
		}
	}
	return e
}

func (r *yamlReader) lineAt(off int) []byte {
	line, _ := r.ix.position(off)
	end := bytes.IndexAny(r.b[off:], "\r\n")
	if end < 0 {
		return r.b[r.ix.lineStart(line):]
	}
	return r.b[r.ix.lineStart(line) : off+end]
}

// place turns the library's line and column, which counts characters, into a byte offset.
func (r *yamlReader) place(n *yaml.Node) int {
	if n.Line < 1 || n.Line > r.ix.lines() {
		return 0
	}
	off := r.ix.lineStart(n.Line)
	for i := 1; i < n.Column && off < len(r.b); i++ {
		_, size := utf8.DecodeRune(r.b[off:])
		off += size
	}
	return off
}

func (r *yamlReader) node(y *yaml.Node, depth int) (*Node, error) {
	at := r.place(y)
	n := &Node{Start: at, Comment: y.LineComment}
	n.Line, n.Column = r.ix.position(at)
	if r.nodes++; r.nodes > mostNodes || depth > mostDepth {
		return nil, &Syntax{File: r.name, Line: n.Line, Column: n.Column, What: "the YAML cannot be read", Why: fmt.Sprintf("it unfolds to more than %d values or is nested more than %d deep", mostNodes, mostDepth), Next: "give a configuration"}
	}
	switch y.Kind {
	case yaml.AliasNode:
		if y.Alias == nil || r.open[y.Alias] {
			return nil, &Syntax{File: r.name, Line: n.Line, Column: n.Column, What: "the YAML cannot be read", Why: "the alias *" + y.Value + " contains itself", Next: "write the value out"}
		}
		r.open[y.Alias] = true
		v, err := r.node(y.Alias, depth+1)
		delete(r.open, y.Alias)
		return v, err
	case yaml.ScalarNode:
		r.scalar(n, y)
	case yaml.SequenceNode:
		n.Kind = List
		for _, c := range y.Content {
			item, err := r.node(c, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case yaml.MappingNode:
		n.Kind = Map
		return n, r.fields(n, y, depth)
	}
	return n, nil
}

func (r *yamlReader) scalar(n *Node, y *yaml.Node) {
	n.Value = y.Value
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Value = Null, ""
	case "!!bool":
		n.Kind = Bool
	case "!!int", "!!float":
		n.Kind = Number
	default:
		n.Kind = String
	}
	n.End = r.end(n.Start, y)
}

// end finds where a scalar of one line ends.
func (r *yamlReader) end(at int, y *yaml.Node) int {
	rest := r.b[at:]
	quote := byte(0)
	switch y.Style &^ yaml.TaggedStyle {
	case yaml.DoubleQuotedStyle:
		quote = '"'
	case yaml.SingleQuotedStyle:
		quote = '\''
	case 0:
		if y.Value != "" && bytes.HasPrefix(rest, []byte(y.Value)) {
			return at + len(y.Value)
		}
		return 0
	default:
		return 0
	}
	if len(rest) == 0 || rest[0] != quote {
		return 0
	}
	for i := 1; i < len(rest) && rest[i] != '\n' && rest[i] != '\r'; i++ {
		switch {
		case quote == '"' && rest[i] == '\\':
			i++
		case rest[i] == quote && quote == '\'' && i+1 < len(rest) && rest[i+1] == quote:
			i++
		case rest[i] == quote:
			return at + i + 1
		}
	}
	return 0
}

func (r *yamlReader) fields(n *Node, y *yaml.Node, depth int) error {
	var merged []Field
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		v, err := r.node(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			for _, m := range append([]*Node{v}, v.Items...) {
				merged = append(merged, m.Fields...)
			}
			continue
		}
		key := k.Value
		if k.Kind == yaml.AliasNode && k.Alias != nil {
			key = k.Alias.Value
		}
		f := Field{Key: key, Value: v}
		f.Line, f.Column = r.ix.position(r.place(k))
		n.Fields = append(n.Fields, f)
	}
	for _, m := range merged { // what the map has itself wins, and the first of several merged maps
		if n.Field(m.Key) == nil {
			n.Fields = append(n.Fields, m)
		}
	}
	n.markDuplicates()
	return nil
}
