package javaregex

// group reads a parenthesis with its quantifier; nil when it only sets flags.
func (p *parser) group() node {
	save := p.flags
	var n node
	if p.next() != '?' {
		n = p.capture()
	} else {
		p.at++
		switch c := p.read(); c {
		case ':':
			n = group{body: p.expr()}
		case '=', '!':
			n = look{body: p.expr(), negate: c == '!'}
		case '>':
			n = atomic{p.expr()}
		case '<':
			n = p.angle()
		case '$', '@':
			p.fail("Unknown group type")
		default:
			p.at--
			p.setFlags()
			switch p.read() {
			case ')':
				return nil
			case ':':
			default:
				p.fail("Unknown inline modifier")
			}
			n = group{body: p.expr()}
		}
	}
	if p.read() != ')' {
		p.fail("Unclosed group")
	}
	p.flags = save
	return p.closure(n)
}

func (p *parser) capture() node {
	p.groups++
	g := group{index: p.groups}
	g.body = p.expr()
	return g
}

// angle reads what follows "(?<": a look-behind or a named group.
func (p *parser) angle() node {
	c := p.read()
	if c != '=' && c != '!' {
		name := p.groupName(c)
		if _, ok := p.names[name]; ok {
			p.fail("Named capturing group <%s> is already defined", name)
		}
		p.names[name] = p.groups + 1
		return p.capture()
	}
	l := look{body: p.expr(), behind: true, negate: c == '!'}
	if anyNode(l.body, doubtfulBehind) {
		p.giveUp("a look-behind whose length Java may or may not find obvious")
	}
	return l
}

// doubtfulBehind: Java refuses a look-behind without an obvious maximum length, but its versions differ in what they find
// obvious: Java 17 accepts (?<=x*) and refuses (?<=(a|b){1,2}).
func doubtfulBehind(n node) bool {
	switch n := n.(type) {
	case rep:
		_, simple := n.body.(set)
		return !simple || n.max == maxReps
	case ref, look, atomic:
		return true
	}
	return false
}

func (p *parser) groupName(c rune) string {
	if !isAlpha(c) {
		p.fail("capturing group name does not start with a Latin letter")
	}
	var name []rune
	for ; isAlpha(c) || c >= '0' && c <= '9'; c = p.read() {
		name = append(name, c)
	}
	if c != '>' {
		p.fail("named capturing group is missing trailing '>'")
	}
	return string(name)
}

func isAlpha(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// setFlags reads "ims-x" of an inline modifier and stops at the first other character.
func (p *parser) setFlags() {
	off := false
	for {
		c := p.peek()
		if c == '-' && !off {
			off = true
			p.next()
			continue
		}
		f, ok := flagLetters[c]
		if !ok {
			return
		}
		if off {
			p.flags &^= f
		} else {
			p.flags |= f
			if f == flagX || f == flagC || f == flagW {
				p.giveUp("the flag (?" + string(c) + ")")
			}
			if f == flagX {
				panic(abandon{}) // blanks and comments change where everything ends
			}
		}
		p.next()
	}
}
