package javaregex

import (
	"fmt"
)

// flags are Java's inline flags.
type flags uint8

const (
	flagI flags = 1 << iota // case-insensitive, ASCII only without flagU
	flagM                   // ^ and $ at line ends
	flagS                   // . matches line ends
	flagD                   // only \n ends lines
	flagU                   // case-insensitivity beyond ASCII
	flagC                   // canonical equivalence
	flagX                   // comments
	flagW                   // (?U): Unicode character classes
)

var flagLetters = map[rune]flags{'i': flagI, 'm': flagM, 's': flagS, 'd': flagD, 'u': flagU, 'c': flagC, 'x': flagX, 'U': flagW}

// parser follows the order in which Java's own parser looks at the characters, so that the same things are errors, with
// the same index. t ends with zeros that do not belong to the pattern.
type parser struct {
	pattern string
	t       []rune
	n       int
	at      int
	flags   flags
	groups  int
	names   map[string]int
	needs   needs
	unknown string
	depth   int
}

// maxDepth bounds nesting; Java itself overflows its stack somewhere beyond.
const maxDepth = 250

func newParser(pattern string) *parser {
	t := []rune(pattern)
	t = unquote(t)
	return &parser{pattern: pattern, n: len(t), t: append(t, 0, 0, 0), names: map[string]int{}}
}

func (p *parser) peek() rune { return p.t[p.at] }

// next steps forward and looks; it stays inside the zeros at the end.
func (p *parser) next() rune {
	p.at = min(p.at+1, len(p.t)-1)
	return p.t[p.at]
}

// read looks and steps forward.
func (p *parser) read() rune {
	c := p.t[p.at]
	p.at = min(p.at+1, len(p.t)-1)
	return c
}

func (p *parser) fail(format string, args ...any) {
	panic(&SyntaxError{Pattern: p.pattern, Reason: fmt.Sprintf(format, args...), Index: p.at - 1})
}

// giveUp says that the pattern is beyond what is translated; the first reason stays.
func (p *parser) giveUp(why string) {
	if p.unknown == "" {
		p.unknown = why
	}
}

// abandon ends parsing: what follows cannot even be judged.
type abandon struct{}

func (p *parser) parse() (tree node, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *SyntaxError:
			tree, err = nil, e
		case abandon:
			tree, err = seq{}, nil
		default:
			panic(e)
		}
	}()
	tree = p.expr()
	if p.at != p.n {
		if p.peek() == ')' {
			p.fail("Unmatched closing ')'")
		}
		p.fail("Unexpected internal error")
	}
	return tree, nil
}

func (p *parser) expr() node {
	if p.depth++; p.depth > maxDepth {
		p.giveUp("the pattern is nested too deeply")
		panic(abandon{})
	}
	defer func() { p.depth-- }()
	branches := alt{p.sequence()}
	for p.peek() == '|' {
		p.next()
		branches = append(branches, p.sequence())
	}
	if len(branches) == 1 {
		return branches[0]
	}
	return branches
}

func (p *parser) sequence() node {
	var out seq
	for {
		var n node
		switch c := p.peek(); c {
		case '(':
			if g := p.group(); g != nil {
				out = append(out, g)
			}
			continue
		case '[':
			n = set{p.class(true)}
		case '\\':
			n = p.escapedAtom()
		case '^':
			p.next()
			p.needs.oneLine = p.needs.oneLine || p.flags&flagM != 0
			n = mark{atStart}
		case '$':
			p.next()
			p.needs.oneLine = true
			n = mark{atEnd}
		case '.':
			p.next()
			n = set{p.dot()}
		case '|', ')':
			return out
		case '?', '*', '+':
			p.next()
			p.fail("Dangling meta character '%c'", c)
		case '{': // Java takes nothing for the atom, then reads a repetition of it
			n = seq{}
		case 0:
			if p.at >= p.n {
				return out
			}
			n = p.literal(p.read())
		default:
			n = p.literal(p.read())
		}
		out = append(out, p.closure(n))
	}
}

func (p *parser) dot() ranges {
	switch {
	case p.flags&flagS != 0:
		return ranges{}.negate()
	case p.flags&flagD != 0:
		return one('\n').negate()
	}
	return chars("\n\n\r\r\u0085\u0085\u2028\u2029").negate()
}

func (p *parser) literal(r rune) node {
	return set{p.fold(one(r))}
}

// fold applies (?i) to a set of characters written out in the pattern.
func (p *parser) fold(s ranges) ranges {
	if p.flags&flagI == 0 {
		return s
	}
	if p.flags&flagU != 0 {
		p.needs.ascii = true
		if s[len(s)-1].hi > 0x7f {
			p.giveUp("(?iu) with characters beyond ASCII")
		}
	}
	return s.foldASCII()
}

// closure reads the quantifier behind an atom, if there is one.
func (p *parser) closure(body node) node {
	r := rep{body: body, max: maxReps}
	switch p.peek() {
	case '?':
		r.max = 1
	case '*':
	case '+':
		r.min = 1
	case '{':
		return p.counted(body)
	default:
		return body
	}
	p.next()
	return p.mode(r)
}

func (p *parser) counted(body node) node {
	if c := p.t[p.at+1]; c < '0' || c > '9' {
		p.at += 2
		p.fail("Illegal repetition")
	}
	p.at++
	r := rep{body: body}
	r.min = p.number(p.read())
	r.max = r.min
	// p.at is now behind the character that ended the number, as Java's cursor is.
	c := p.t[p.at-1]
	if c == ',' {
		r.max = maxReps
		if c = p.read(); c != '}' {
			r.max = 0
			if c >= '0' && c <= '9' {
				r.max = p.number(c)
				c = p.t[p.at-1]
			}
		}
	}
	if c != '}' {
		p.fail("Unclosed counted closure")
	}
	if r.max != maxReps && r.max < r.min {
		p.fail("Illegal repetition range")
	}
	return p.mode(r)
}

// number reads digits from c on, and one character more.
func (p *parser) number(c rune) int {
	n := 0
	for ; c >= '0' && c <= '9'; c = p.read() {
		if n = n*10 + int(c-'0'); n > maxCount {
			p.fail("Illegal repetition range")
		}
	}
	return n
}

func (p *parser) mode(r rep) node {
	switch p.peek() {
	case '?':
		p.next()
		r.mode = lazy
	case '+':
		p.next()
		r.mode = possess
	}
	return r
}
