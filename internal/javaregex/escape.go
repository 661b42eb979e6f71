package javaregex

// Java's predefined classes; without (?U) they are ASCII only.
var (
	digitSet = chars("09")
	wordSet  = chars("azAZ__09")
	spaceSet = chars("  \t\t\n\r")
	horizSet = chars("  \t\t\u00a0\u00a0\u1680\u1680\u180e\u180e\u2000\u200a\u202f\u202f\u205f\u205f\u3000\u3000")
	vertSet  = chars("\n\r\u0085\u0085\u2028\u2029")
)

// classOf gives the set that an escape stands for, or nil.
func classOf(c rune) ranges {
	switch c {
	case 'd':
		return digitSet
	case 'D':
		return digitSet.negate()
	case 'w':
		return wordSet
	case 'W':
		return wordSet.negate()
	case 's':
		return spaceSet
	case 'S':
		return spaceSet.negate()
	case 'h':
		return horizSet
	case 'H':
		return horizSet.negate()
	case 'v':
		return vertSet
	case 'V':
		return vertSet.negate()
	}
	return nil
}

// escapedAtom reads an escape outside a class.
func (p *parser) escapedAtom() node {
	switch c := p.t[p.at+1]; c {
	case 'p', 'P':
		p.at++
		return set{p.property(c == 'P')}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		p.at += 2
		return p.backReference(int(c - '0'))
	case 'A', 'z':
		p.at += 2
		return mark{byte(c)}
	case 'G': // the end of the previous match: the start, in a first match
		p.at += 2
		return mark{atStart}
	case 'Z':
		p.at += 2
		p.needs.oneLine = true
		return mark{atEnd}
	case 'B':
		p.at += 2
		p.needs.ascii = true
		return mark{notWord}
	case 'b':
		p.at += 2
		if p.peek() == '{' && p.t[p.at+1] == 'g' && p.t[min(p.at+2, len(p.t)-1)] == '}' {
			p.at += 3
			p.giveUp(`\b{g}`)
			return seq{}
		}
		p.needs.ascii = true // Java up to 18 counts letters of all scripts
		return mark{atWord}
	case 'R':
		p.at += 2
		p.needs.oneLine = true
		return set{}
	case 'X':
		p.at += 2
		p.giveUp(`\X`)
		return seq{}
	case 'k':
		p.at += 2
		return p.namedReference()
	}
	r, cls := p.escape(false, false)
	if cls != nil {
		return set{cls}
	}
	return p.literal(r)
}

// backReference reads the rest of \n: further digits belong to it as long as such a group exists.
func (p *parser) backReference(n int) node {
	for {
		c := p.peek()
		if c < '0' || c > '9' || n*10+int(c-'0') > p.groups {
			break
		}
		n = n*10 + int(c-'0')
		p.next()
	}
	return p.reference(n)
}

func (p *parser) reference(n int) node {
	if n > p.groups || p.flags&flagI != 0 {
		p.giveUp("a back reference to a later group or under (?i)")
	}
	return ref{n}
}

func (p *parser) namedReference() node {
	if p.read() != '<' {
		p.fail("\\k is not followed by '<' for named capturing group")
	}
	name := p.groupName(p.read())
	n, ok := p.names[name]
	if !ok {
		p.fail("named capturing group <%s> does not exist", name)
	}
	return p.reference(n)
}

// escape reads a backslash and what follows: a character, or a predefined class. isRange: a '-' follows, where Java takes
// \v for one character.
func (p *parser) escape(inClass, isRange bool) (rune, ranges) {
	p.at += 2
	if p.at > p.n+1 {
		p.at = p.n + 1
	}
	c := p.t[p.at-1]
	if c == 'v' && isRange {
		return '\v', nil
	}
	if s := classOf(c); s != nil {
		return 0, s
	}
	switch c {
	case '0':
		return p.octal(), nil
	case 'a':
		return '\a', nil
	case 'e':
		return 0x1b, nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'c':
		if p.at >= p.n {
			p.fail("Illegal control escape sequence")
		}
		return p.read() ^ 64, nil
	case 'u':
		return p.unicode(), nil
	case 'x':
		return p.hexadecimal(), nil
	case 'N':
		if p.read() != '{' {
			p.fail("Illegal character name escape sequence")
		}
		p.giveUp(`\N{...}`)
		panic(abandon{})
	}
	if isAlpha(c) || c >= '1' && c <= '9' {
		p.fail("Illegal/unsupported escape sequence")
	}
	return c, nil
}

func octalDigit(c rune) bool { return c >= '0' && c <= '7' }

func (p *parser) octal() rune {
	n := p.read()
	if !octalDigit(n) {
		p.fail("Illegal octal escape sequence")
	}
	v := n - '0'
	if !octalDigit(p.peek()) {
		return v
	}
	v = v*8 + p.read() - '0'
	if n <= '3' && octalDigit(p.peek()) {
		v = v*8 + p.read() - '0'
	}
	return v
}

func hexDigit(c rune) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (p *parser) hexadecimal() rune {
	n := p.read()
	if hexDigit(n) >= 0 {
		m := p.read()
		if hexDigit(m) >= 0 {
			return rune(hexDigit(n)*16 + hexDigit(m))
		}
	} else if n == '{' && hexDigit(p.peek()) >= 0 {
		v := 0
		for n = p.read(); hexDigit(n) >= 0; n = p.read() {
			if v = v<<4 + hexDigit(n); v > 0x10FFFF {
				p.fail("Hexadecimal codepoint is too big")
			}
		}
		if n != '}' {
			p.fail("Unclosed hexadecimal escape sequence")
		}
		return p.scalar(rune(v))
	}
	p.fail("Illegal hexadecimal escape sequence")
	return 0
}

func (p *parser) unicode() rune {
	v := p.unit()
	if v >= 0xD800 && v < 0xDC00 && p.peek() == '\\' && p.t[p.at+1] == 'u' {
		at := p.at
		p.at += 2
		if low := p.unit(); low >= 0xDC00 && low < 0xE000 {
			return (v-0xD800)<<10 + (low - 0xDC00) + 0x10000
		}
		p.at = at
	}
	return p.scalar(v)
}

func (p *parser) unit() rune {
	v := 0
	for range 4 {
		d := hexDigit(p.read())
		if d < 0 {
			p.fail("Illegal Unicode escape sequence")
		}
		v = v<<4 + d
	}
	return rune(v)
}

// scalar refuses halves of surrogate pairs: Go's strings cannot hold what they would match.
func (p *parser) scalar(r rune) rune {
	if r >= 0xD800 && r < 0xE000 {
		p.giveUp("half of a surrogate pair")
	}
	return r
}

// unquote replaces \Q...\E by escapes, as Java does before it parses: letters stay (and obey (?i)), digits at the start of
// a quotation become \x3n, everything else of ASCII gets a backslash.
func unquote(t []rune) []rune {
	i := 0
	for i+1 < len(t) && !(t[i] == '\\' && t[i+1] == 'Q') {
		if t[i] == '\\' {
			i++
		}
		i++
	}
	if i+1 >= len(t) {
		return t
	}
	at := func(i int) rune {
		if i < len(t) {
			return t[i]
		}
		return 0
	}
	out := append([]rune{}, t[:i]...)
	i += 2
	quoted, begin := true, true
	for i < len(t) {
		c := t[i]
		i++
		switch {
		case c > 0x7f || isAlpha(c):
			out = append(out, c)
		case c >= '0' && c <= '9':
			if begin {
				out = append(out, '\\', 'x', '3')
			}
			out = append(out, c)
		case c != '\\':
			if quoted {
				out = append(out, '\\')
			}
			out = append(out, c)
		case quoted && at(i) == 'E':
			i++
			quoted = false
		case quoted:
			out = append(out, '\\', '\\')
		case at(i) == 'Q':
			i++
			quoted, begin = true, true
			continue
		default:
			out = append(out, c)
			if i < len(t) {
				out = append(out, t[i])
				i++
			}
		}
		begin = false
	}
	return out
}
