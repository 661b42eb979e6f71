package javaregex

import (
	"strings"
	"unicode"
)

// asciiProperties are the names whose meaning is the same in every Java version.
var asciiProperties = map[string]ranges{
	"Lower":  chars("az"),
	"Upper":  chars("AZ"),
	"ASCII":  chars("\x00\x7f"),
	"Alpha":  chars("azAZ"),
	"Digit":  chars("09"),
	"Alnum":  chars("azAZ09"),
	"Punct":  chars("!/:@[`{~"),
	"Graph":  chars("!~"),
	"Print":  chars(" ~"),
	"Blank":  chars("  \t\t"),
	"Cntrl":  chars("\x00\x1f\x7f\x7f"),
	"XDigit": chars("09afAF"),
	"Space":  chars("  \t\r"),
	"all":    ranges{}.negate(),
	"L1":     chars("\x00\u00ff"),
}

// tableProperties are names defined by Unicode's tables, which differ between Java's and Go's versions beyond ASCII.
var tableProperties = map[string]*unicode.RangeTable{
	"LC": nil, "LD": nil, // letters with case; letters and digits
	"javaLowerCase": unicode.Ll, "javaUpperCase": unicode.Lu, "javaTitleCase": unicode.Lt, "javaDigit": unicode.Nd,
	"javaLetter": unicode.L, "javaAlphabetic": unicode.L, "javaIdeographic": unicode.Ideographic, "javaMirrored": nil,
	"javaLetterOrDigit": nil, "javaJavaIdentifierStart": nil, "javaJavaIdentifierPart": nil, "javaUnicodeIdentifierStart": nil,
	"javaUnicodeIdentifierPart": nil, "javaIdentifierIgnorable": nil, "javaSpaceChar": nil, "javaWhitespace": nil,
	"javaISOControl": nil, "javaDefined": nil,
}

// categories are the general categories that Java knows by name.
const categories = " Cn Lu Ll Lt Lm Lo Mn Me Mc Nd Nl No Zs Zl Zp Cc Cf Co Cs Pd Ps Pe Pc Po Sm Sc Sk So Pi Pf L M N Z C P S "

// binary properties of \p{IsX}, compared in upper case.
const binaries = " ALPHABETIC LETTER IDEOGRAPHIC LOWERCASE UPPERCASE TITLECASE WHITE_SPACE CONTROL PUNCTUATION HEX_DIGIT ASSIGNED NONCHARACTER_CODE_POINT DIGIT ALNUM BLANK GRAPH PRINT WORD JOIN_CONTROL HEXDIGIT JOINCONTROL NONCHARACTERCODEPOINT WHITESPACE "

// property reads \p{...}; the cursor stands on the p.
func (p *parser) property(complement bool) ranges {
	var name string
	if p.next() != '{' {
		name = string(p.read())
	} else {
		p.next()
		start := p.at
		end := start
		for end < p.n && p.t[end] != '}' {
			end++
		}
		p.at = end + 1
		if end >= p.n {
			p.at = p.n + 1
			p.fail("Unclosed character family")
		}
		if end == start {
			p.fail("Empty character family")
		}
		name = string(p.t[start:end])
	}
	s := p.named(name)
	if complement {
		return s.negate()
	}
	return s
}

func (p *parser) named(name string) ranges {
	if s, ok := asciiProperties[name]; ok {
		if p.flags&flagI != 0 && (name == "Lower" || name == "Upper") {
			p.giveUp(`\p{` + name + `} under (?i)`) // differs between Java versions
		}
		return s
	}
	if key, value, ok := strings.Cut(name, "="); ok {
		switch strings.ToLower(key) {
		case "sc", "script", "blk", "block", "gc", "general_category":
			p.giveUp(`\p{` + name + `}`)
			return one(0)
		}
		p.fail("Unknown Unicode property {name=<%s>, value=<%s>}", strings.ToLower(key), value)
	}
	if strings.HasPrefix(name, "In") {
		p.giveUp(`\p{` + name + `}`) // a block; Java's list of them is not kept here
		return one(0)
	}
	short, is := strings.CutPrefix(name, "Is")
	if is && strings.Contains(binaries, " "+strings.ToUpper(short)+" ") {
		p.giveUp(`\p{` + name + `}`)
		return one(0)
	}
	if len(short) <= 2 && strings.Contains(categories, " "+short+" ") {
		p.needs.ascii = true
		if p.flags&flagI != 0 && strings.HasPrefix(short, "L") {
			p.giveUp(`\p{` + name + `} under (?i)`)
		}
		if t := unicode.Categories[short]; t != nil {
			return tableRanges(t)
		}
		return nil // Cn: no ASCII character is unassigned
	}
	if _, ok := asciiProperties[short]; ok && is {
		p.giveUp(`\p{` + name + `}`)
		return one(0)
	}
	if t, ok := tableProperties[short]; ok {
		p.needs.ascii = true
		if t == nil || p.flags&flagI != 0 {
			p.giveUp(`\p{` + name + `}`)
			return one(0)
		}
		return tableRanges(t)
	}
	if is {
		p.giveUp(`\p{` + name + `}`) // a script, by name or alias
		return one(0)
	}
	p.fail("Unknown character property name {%s}", name)
	return nil
}
