package javaregex

// class reads a character class, with Java's unions and intersections. The cursor stands on '[', or, for the operand of
// &&, on the character before its first; consume says whether the closing bracket belongs to it.
//
// Plain members are collected in bits and only joined at && and at the end, as in Java: the difference shows in classes
// such as [a&&b[c]].
func (p *parser) class(consume bool) ranges {
	if p.depth++; p.depth > maxDepth {
		p.giveUp("the pattern is nested too deeply")
		panic(abandon{})
	}
	defer func() { p.depth-- }()
	var prev, bits ranges
	hasPrev, hasBits, negated := false, false, false
	c := p.next()
	if c == '^' && p.t[p.at-1] == '[' {
		negated = true
		c = p.next()
	}
	add := func(s ranges) {
		prev, hasPrev = prev.union(s), true
	}
	for {
		switch c {
		case '[':
			add(p.class(true))
			c = p.peek()
			continue
		case '&':
			if p.next() != '&' {
				p.at--
				break
			}
			right, hasRight := p.operand()
			if hasBits {
				add(bits)
				bits, hasBits = nil, false
			}
			switch {
			case hasRight && hasPrev:
				prev = prev.and(right)
			case hasRight:
				prev, hasPrev = right, true
			case !hasPrev:
				p.fail("Bad class syntax")
			default:
				p.giveUp("&& with nothing behind it")
			}
			c = p.peek()
			continue
		case 0:
			if p.at >= p.n {
				p.fail("Unclosed character class")
			}
		case ']':
			if hasPrev || hasBits {
				if consume {
					p.next()
				}
				if hasBits {
					add(bits)
				}
				if negated {
					return prev.negate()
				}
				return prev
			}
		}
		s, plain := p.member()
		if plain {
			bits, hasBits = bits.union(s), true
		} else {
			add(s)
		}
		c = p.peek()
	}
}

// operand reads what stands on the right of &&: everything up to the next && or the end.
func (p *parser) operand() (right ranges, has bool) {
	for c := p.next(); c != ']' && c != '&'; c = p.peek() {
		if c == '[' {
			right = right.union(p.class(true))
		} else {
			p.at--
			right = right.union(p.class(false))
		}
		has = true
	}
	return right, has
}

// member reads one character, range or predefined class. plain members are those below U+0100 that Java keeps as bits.
func (p *parser) member() (s ranges, plain bool) {
	var first rune
	if c := p.peek(); c == '\\' {
		if c = p.t[p.at+1]; c == 'p' || c == 'P' {
			p.at++
			return p.property(c == 'P'), false
		}
		isRange := p.t[min(p.at+2, len(p.t)-1)] == '-'
		r, cls := p.escape(true, isRange)
		if cls != nil {
			return cls, false
		}
		first = r
	} else {
		first = c
		p.next()
	}
	if p.peek() == '-' {
		end := p.t[p.at+1]
		if end != '[' && end != ']' {
			last := p.next()
			if last == '\\' {
				var cls ranges
				if last, cls = p.escape(true, true); cls != nil {
					last = -1
				}
			} else {
				p.next()
			}
			if last < first {
				p.fail("Illegal character range")
			}
			return p.fold(ranges{{first, last}}), false
		}
	}
	return p.fold(one(first)), first < 256
}
