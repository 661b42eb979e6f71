package confdoc

import (
	"fmt"
	"strings"
)

// NodeKind is what a node of a JSON or YAML document is.
type NodeKind int

// The kinds. Null stands for `null`, `~` and a key with nothing behind it.
const (
	Null NodeKind = iota
	String
	Number
	Bool
	Map
	List
)

func (k NodeKind) String() string {
	return [...]string{"null", "string", "number", "boolean", "map", "list"}[k]
}

// Node is one value of a JSON or YAML document with its place. All methods take a nil node for one that is not there.
type Node struct {
	Kind  NodeKind
	Value string // of String, Number and Bool: the text that whoever reads the document gets
	// Line and Column are where the value begins, in bytes from 1.
	Line, Column int
	// Start and End are the byte offsets of a scalar in the text, quotes included, so that it can be replaced; End is 0 where
	// the text of the value cannot be told from the text around it (block scalars, lines folded together).
	Start, End int
	Fields     []Field // of a Map, in the order of the text, duplicates included
	Items      []*Node // of a List
	Comment    string  // YAML: the comment on the line of the value, with its #
}

// Field is one key of a map.
type Field struct {
	Key          string
	Line, Column int // of the key, in bytes from 1
	Value        *Node
	Duplicate    bool // the same key comes again; readers keep the last
}

// Doc is one document of a text.
type Doc struct {
	File string
	Root *Node
}

// Syntax is a text that is not what it was taken for: what fails, why, and what to do next.
type Syntax struct {
	File            string
	Line, Column    int // from 1, in bytes; 0 where no place is to blame
	What, Why, Next string
}

func (e *Syntax) Error() string {
	s := e.What + ": " + e.Why + "; " + e.Next
	if e.Line == 0 {
		return e.File + ": " + s
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, s)
}

// Field gives a field of a map, the last one of that name; nil where there is none.
func (n *Node) Field(key string) *Field {
	if n == nil {
		return nil
	}
	for i := len(n.Fields) - 1; i >= 0; i-- {
		if n.Fields[i].Key == key {
			return &n.Fields[i]
		}
	}
	return nil
}

// Get walks down maps; nil where a key is missing.
func (n *Node) Get(path ...string) *Node {
	for _, key := range path {
		f := n.Field(key)
		if f == nil {
			return nil
		}
		n = f.Value
	}
	return n
}

// Text gives the value of a scalar, or "".
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.Value
}

// Is says that the node is there and of that kind.
func (n *Node) Is(k NodeKind) bool { return n != nil && n.Kind == k }

// Scalar says that the node is there and has a value that is no map, list or null.
func (n *Node) Scalar() bool {
	return n != nil && (n.Kind == String || n.Kind == Number || n.Kind == Bool)
}

// List gives the items of a list, or nothing.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Effective gives the fields in force, one per key, in the order of the text.
func (n *Node) Effective() []Field {
	if n == nil {
		return nil
	}
	var out []Field
	for _, f := range n.Fields {
		if !f.Duplicate {
			out = append(out, f)
		}
	}
	return out
}

// Walk visits every field below a node, outer ones first; path holds the keys down to the field and "[i]" for list items.
func (n *Node) Walk(visit func(path []string, f Field)) { n.walk(nil, visit) }

func (n *Node) walk(path []string, visit func([]string, Field)) {
	if n == nil {
		return
	}
	for _, f := range n.Fields {
		p := append(path[:len(path):len(path)], f.Key)
		visit(p, f)
		f.Value.walk(p, visit)
	}
	for i, item := range n.Items {
		item.walk(append(path[:len(path):len(path)], fmt.Sprintf("[%d]", i)), visit)
	}
}

// markDuplicates flags all but the last field of each name.
func (n *Node) markDuplicates() {
	last := make(map[string]int, len(n.Fields))
	for i, f := range n.Fields {
		last[f.Key] = i
	}
	for i := range n.Fields {
		n.Fields[i].Duplicate = last[n.Fields[i].Key] != i
	}
}

// Objects gives the objects that the documents hold: each document, or the items of a list (a JSON array, a Kubernetes List as
// `kubectl get -o yaml` prints it).
func Objects(docs []Doc) []*Node {
	var out []*Node
	for _, d := range docs {
		out = append(out, objects(d.Root)...)
	}
	return out
}

func objects(n *Node) []*Node {
	switch {
	case n.Is(List):
		var out []*Node
		for _, item := range n.Items {
			out = append(out, objects(item)...)
		}
		return out
	case n.Is(Map) && strings.HasSuffix(n.Get("kind").Text(), "List") && n.Get("items").Is(List):
		return objects(n.Get("items"))
	case n.Is(Map):
		return []*Node{n}
	}
	return nil
}

// ParseTree reads a JSON or YAML text, told apart by its content. What was read before an error is given with it.
func ParseTree(name string, b []byte) ([]Doc, error) {
	switch k := Sniff(b); k {
	case KindJSON:
		return ParseJSON(name, b)
	case KindYAML:
		return ParseYAML(name, b)
	default:
		return nil, &Syntax{File: name, What: "neither JSON nor YAML", Why: "the text looks like " + k.String(), Next: "give a file of connector JSON or a Kubernetes resource"}
	}
}
