// Package javaregex compiles Java's regular expressions and tells whether one matches a whole string, as Java would.
//
// MirrorMaker 2 is configured with Java patterns, and no Go engine agrees with Java on what is valid or what it means. So
// a pattern is first parsed by Java's own rules (what Java 17 rejects is rejected here with Java's reason and index), and
// the result is handed to RE2 where the meaning is the same, to regexp2 where only a backtracking engine has it, or
// declared unknown. Unknown depends on the shape of pattern and string alone, never on time.
//
// What may enter: parsing, translation and matching of Java patterns. Nothing about lists, topics or groups.
package javaregex

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// SyntaxError is what Java's PatternSyntaxException says. Index counts characters from 0 the way Java does (in the pattern
// after \Q...\E was rewritten) and is -1 where Java names none.
type SyntaxError struct {
	Pattern string
	Reason  string
	Index   int
}

func (e *SyntaxError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("Java rejects the regular expression %q: %s", e.Pattern, e.Reason)
	}
	return fmt.Sprintf("Java rejects the regular expression %q: %s near index %d", e.Pattern, e.Reason, e.Index)
}

// Regexp is a pattern that Java accepts.
type Regexp struct {
	pattern string
	re2     *regexp.Regexp
	back    *regexp2.Regexp
	unknown string // why nothing can be said of any string
	needs   needs
}

// needs are limits on the strings for which the translation is right.
type needs struct {
	ascii   bool // Unicode tables or case rules of Java are involved
	oneLine bool // ^, $, \Z, \R treat line ends in Java's own way
}

// maxBacktrack bounds the length of strings given to the backtracking engine; with the shapes let through, work grows with
// the square of the length. Topic names have at most 249 characters.
const maxBacktrack = 1000

// Compile parses a pattern. The error is a *SyntaxError when Java rejects the pattern; there is no other.
func Compile(pattern string) (*Regexp, error) {
	if !utf8.ValidString(pattern) {
		return &Regexp{pattern: pattern, unknown: "the pattern is not valid UTF-8"}, nil
	}
	p := newParser(pattern)
	tree, err := p.parse()
	if err != nil {
		return nil, err
	}
	r := &Regexp{pattern: pattern, needs: p.needs, unknown: p.unknown}
	if r.unknown != "" {
		return r, nil
	}
	if !backtracks(tree) {
		if re, err := regexp.Compile(`\A(?:` + emit(tree, re2Dialect) + `)\z`); err == nil {
			r.re2 = re
			return r, nil
		}
		r.unknown = "the pattern is too large for the RE2 engine"
		return r, nil
	}
	if !p.cheap(tree) {
		r.unknown = "the pattern backtracks without a bound"
		return r, nil
	}
	re, err := regexp2.Compile(`\A(?:`+emit(tree, backDialect)+`)\z`, regexp2.None)
	if err != nil {
		r.unknown = "the pattern has no equivalent outside Java"
		return r, nil
	}
	r.back = re
	return r, nil
}

// String gives the pattern as it was written.
func (r *Regexp) String() string { return r.pattern }

// Unknown tells why Match never knows, or "".
func (r *Regexp) Unknown() string { return r.unknown }

// Match tells whether Java's Matcher.matches() holds: the whole of s, not a part. When known is false, matched says nothing.
func (r *Regexp) Match(s string) (matched, known bool) {
	switch {
	case r.unknown != "", !utf8.ValidString(s):
		return false, false
	case r.needs.ascii && strings.IndexFunc(s, func(c rune) bool { return c >= utf8.RuneSelf }) >= 0:
		return false, false
	case r.needs.oneLine && strings.ContainsAny(s, "\n\r\u0085\u2028\u2029\v\f"):
		return false, false
	case r.re2 != nil:
		return r.re2.MatchString(s), true
	case len(s) > maxBacktrack:
		return false, false
	}
	m, err := r.back.MatchString(s)
	return m && err == nil, err == nil
}
