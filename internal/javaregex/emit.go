package javaregex

import (
	"fmt"
	"strings"
	"unicode"
)

// dialect is the engine that a translation is for.
type dialect int

const (
	re2Dialect dialect = iota
	backDialect
)

// emit writes a tree as a pattern of the engine. Everything that engines differ in was resolved by the parser: sets are
// explicit, flags are gone.
func emit(n node, d dialect) string {
	var b strings.Builder
	write(&b, n, d)
	return b.String()
}

func write(b *strings.Builder, n node, d dialect) {
	switch n := n.(type) {
	case seq:
		for _, c := range n {
			write(b, c, d)
		}
	case alt:
		b.WriteString("(?:")
		for i, c := range n {
			if i > 0 {
				b.WriteByte('|')
			}
			write(b, c, d)
		}
		b.WriteByte(')')
	case set:
		writeSet(b, n.r, d)
	case mark:
		b.WriteByte('\\')
		b.WriteByte(n.kind)
	case group:
		if d == backDialect && n.index > 0 {
			b.WriteString("(")
		} else {
			b.WriteString("(?:")
		}
		write(b, n.body, d)
		b.WriteByte(')')
	case atomic:
		b.WriteString("(?>")
		write(b, n.body, d)
		b.WriteByte(')')
	case look:
		b.WriteString("(?")
		if n.behind {
			b.WriteByte('<')
		}
		if n.negate {
			b.WriteByte('!')
		} else {
			b.WriteByte('=')
		}
		write(b, n.body, d)
		b.WriteByte(')')
	case ref:
		fmt.Fprintf(b, "(?:\\%d)", n.index)
	case rep:
		writeRep(b, n, d)
	}
}

func writeRep(b *strings.Builder, n rep, d dialect) {
	if n.mode == possess {
		b.WriteString("(?>")
	}
	b.WriteString("(?:")
	write(b, n.body, d)
	b.WriteByte(')')
	switch {
	case n.max == maxReps && n.min == 0:
		b.WriteByte('*')
	case n.max == maxReps && n.min == 1:
		b.WriteByte('+')
	case n.max == maxReps:
		fmt.Fprintf(b, "{%d,}", n.min)
	case n.min == n.max:
		fmt.Fprintf(b, "{%d}", n.min)
	default:
		fmt.Fprintf(b, "{%d,%d}", n.min, n.max)
	}
	if n.mode == lazy {
		b.WriteByte('?')
	}
	if n.mode == possess {
		b.WriteByte(')')
	}
}

func writeSet(b *strings.Builder, s ranges, d dialect) {
	if len(s) == 0 { // no character at all
		if d == backDialect {
			b.WriteString("(?!)")
		} else {
			b.WriteString(`[^\x{0}-\x{10FFFF}]`)
		}
		return
	}
	if len(s) == 1 && s[0].lo == s[0].hi {
		writeRune(b, s[0].lo, d)
		return
	}
	if d == backDialect && len(s) == 1 && s[0] == (span{0, unicode.MaxRune}) {
		b.WriteString(`[\s\S]`)
		return
	}
	b.WriteByte('[')
	for _, x := range s {
		writeRune(b, x.lo, d)
		if x.hi > x.lo {
			b.WriteByte('-')
			writeRune(b, x.hi, d)
		}
	}
	b.WriteByte(']')
}

func writeRune(b *strings.Builder, r rune, d dialect) {
	switch {
	case r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
		b.WriteRune(r)
	case d == re2Dialect:
		fmt.Fprintf(b, `\x{%X}`, r)
	case r <= 0xFFFF:
		fmt.Fprintf(b, `\u%04X`, r)
	default:
		b.WriteRune(r)
	}
}
