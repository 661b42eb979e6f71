package mm2

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/javaregex"
)

// Verdict is what a filter or a connector makes of a name.
type Verdict int

// The verdicts. The last three come from the source connector only (see TopicRules).
const (
	Unknown     Verdict = iota // Why tells the reason
	Included                   // Pattern is the alternative that decided
	Excluded                   // Pattern is the alternative that decided; Default tells whether it is one of the built-in list
	NotIncluded                // no alternative of the include list matches
	Heartbeats                 // not in the filter, but mirrored all the same
	Internal                   // never mirrored
	Cycle                      // came from the target
)

func (v Verdict) String() string {
	return [...]string{"unknown", "included", "excluded", "not included", "heartbeats", "internal", "cycle"}[v]
}

// Decision is a verdict with its reason.
type Decision struct {
	Verdict Verdict
	Pattern string // "" where no pattern decided, or where no single one can be named
	Default bool
	Why     string // for Unknown
}

// Passes says that the name is let through; false for Unknown too.
func (d Decision) Passes() bool { return d.Verdict == Included || d.Verdict == Heartbeats }

// The built-in exclude lists; setting the key replaces them.
const (
	DefaultGroupsExclude    = `console-consumer-.*, connect-.*, __.*`
	defaultTopicsExclude    = `mm2.*\.internal, .*\.replica, __.*`  // 4.0.0+ (KIP-1074)
	defaultTopicsExcludeOld = `.*[\-\.]internal, .*\.replica, __.*` // before
)

// DefaultTopicsExclude gives the built-in exclude list for topics; without a version, the newest.
func DefaultTopicsExclude(v Version) string {
	if !v.IsZero() && v.Before(4, 0, 0) {
		return defaultTopicsExcludeOld
	}
	return defaultTopicsExclude
}

var listComma = regexp.MustCompile(`[ \t\n\x0B\f\r]*,[ \t\n\x0B\f\r]*`)

// SplitList takes a LIST setting apart as Kafka's ConfigDef does: blanks around the whole and around commas go, an empty
// text is an empty list, an empty element stays one.
func SplitList(s string) []string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	if s == "" {
		return nil
	}
	return listComma.Split(s, -1)
}

// list is a compiled LIST of Java patterns: one pattern, joined with "|".
type list struct {
	patterns []string
	joined   *javaregex.Regexp // nil for an empty list
	single   *alternatives
}

func compileList(s string) (list, error) {
	l := list{patterns: SplitList(s)}
	if len(l.patterns) == 0 {
		return l, nil
	}
	var err error
	if l.joined, err = javaregex.Compile(strings.Join(l.patterns, "|")); err != nil {
		return l, err
	}
	l.single = &alternatives{patterns: l.patterns}
	return l, nil
}

func (l list) match(name string) (matched, known bool, pattern string) {
	if l.joined == nil { // an empty list matches nothing, not even the empty name
		return false, true, ""
	}
	if matched, known = l.joined.Match(name); known && !matched {
		return false, true, ""
	}
	i, sure := l.single.first(name)
	if i >= 0 && (sure || !known) {
		pattern = l.patterns[i]
	}
	if known {
		return true, true, pattern
	}
	// Where one alternative makes the whole unknown, the ones before it can still decide.
	return sure && i >= 0, sure, pattern
}

// alternatives tells which pattern of a list matches a name. Lists of thousands of names occur, so patterns are compiled when
// a name is first asked for, and alone where that says what they do in their place.
type alternatives struct {
	patterns []string
	once     sync.Once
	compiled []*javaregex.Regexp // nil where one is no pattern
	apart    bool                // each stands for itself
	names    map[string]int      // patterns that are a topic's or group's own name, when apart
}

// reaching is what makes a pattern act on later alternatives, or depend on earlier ones: flags such as (?i), quoting, and
// references to groups by number.
var reaching = regexp.MustCompile(`\(\?[^:=!<>]|\\[Q1-9k]`)

// mostDependent is the length of a list up to which patterns that depend on each other are told apart: each costs compiling
// all before it.
const mostDependent = 100

// plain is a pattern that matches one name, its own but for backslashes.
var plain = regexp.MustCompile(`^(?:[\w.-]|\\[.-])+$`)

// first gives the pattern that spells out the name, else the first that matches (sure), or of which it cannot be told (not
// sure); -1 and sure: none matches.
func (a *alternatives) first(name string) (i int, sure bool) {
	a.once.Do(a.compile)
	if i, ok := a.names[name]; ok {
		return i, true
	}
	for i, re := range a.compiled {
		if re == nil {
			continue
		}
		if m, known := re.Match(name); m || !known {
			return i, known
		}
	}
	return -1, a.apart
}

func (a *alternatives) compile() {
	for _, p := range a.patterns {
		re, err := javaregex.Compile(p)
		if err != nil || reaching.MatchString(p) { // err: a comma within brackets or parentheses
			a.compiled = nil
			a.prefixes()
			return
		}
		a.compiled = append(a.compiled, re)
	}
	a.apart, a.names = true, map[string]int{}
	for i, p := range a.patterns {
		if name := strings.ReplaceAll(p, `\`, ""); plain.MatchString(p) {
			if _, again := a.names[name]; !again {
				a.names[name] = i
			}
		}
	}
}

func (a *alternatives) prefixes() {
	if len(a.patterns) > mostDependent {
		return
	}
	for i := range a.patterns {
		re, err := javaregex.Compile(strings.Join(a.patterns[:i+1], "|"))
		if err != nil {
			re = nil
		}
		a.compiled = append(a.compiled, re)
	}
}

// Filter is a pair of an include and an exclude list, as DefaultGroupFilter and DefaultTopicFilter have them: comma-
// separated Java patterns, full match, case-sensitive; exclude wins; an empty include list lets nothing through.
type Filter struct {
	include, exclude list
	defaultExclude   bool
}

// FilterError is a list that Java cannot compile; the connector fails at start.
type FilterError struct {
	Exclude bool
	List    string
	Err     *javaregex.SyntaxError
}

func (e *FilterError) Error() string {
	which := "include"
	if e.Exclude {
		which = "exclude"
	}
	hint := ""
	if e.Err.Reason == "Unclosed counted closure" {
		hint = "; a comma always separates list elements, so {1,3} cannot be written"
	}
	return fmt.Sprintf("%s list %q: %v%s", which, e.List, e.Err, hint)
}

func (e *FilterError) Unwrap() error { return e.Err }

// NewFilter compiles the two lists. excludeIsDefault says that the exclude list is the built-in one, because the key is not
// set. The error is a *FilterError.
func NewFilter(include, exclude string, excludeIsDefault bool) (*Filter, error) {
	f := &Filter{defaultExclude: excludeIsDefault}
	for _, part := range []struct {
		into    *list
		text    string
		exclude bool
	}{{&f.include, include, false}, {&f.exclude, exclude, true}} {
		l, err := compileList(part.text)
		if err != nil {
			syntax, ok := err.(*javaregex.SyntaxError)
			if !ok {
				return nil, err
			}
			return nil, &FilterError{Exclude: part.exclude, List: part.text, Err: syntax}
		}
		*part.into = l
	}
	return f, nil
}

// Include gives the elements of the include list, Exclude those of the exclude list.
func (f *Filter) Include() []string { return f.include.patterns }

// Exclude gives the elements of the exclude list.
func (f *Filter) Exclude() []string { return f.exclude.patterns }

// DefaultExclude says that the exclude list is the built-in one.
func (f *Filter) DefaultExclude() bool { return f.defaultExclude }

// Decide tells what the filter makes of a name.
func (f *Filter) Decide(name string) Decision {
	out, outKnown, by := f.exclude.match(name)
	if outKnown && out {
		return Decision{Verdict: Excluded, Pattern: by, Default: f.defaultExclude}
	}
	in, inKnown, pattern := f.include.match(name)
	switch {
	case inKnown && !in:
		return Decision{Verdict: NotIncluded}
	case !outKnown:
		return unknownPattern("exclude", by)
	case !inKnown:
		return unknownPattern("include", pattern)
	}
	return Decision{Verdict: Included, Pattern: pattern}
}

func unknownPattern(which, pattern string) Decision {
	return Decision{Verdict: Unknown, Pattern: pattern, Why: fmt.Sprintf("the %s pattern %q means something for this name that only Java can tell", which, pattern)}
}

// TopicRules are what MirrorSourceConnector decides by. The checkpoint connector and its tasks use the filter alone.
type TopicRules struct {
	Filter  *Filter // nil for a topic.filter.class that is not the default one: what it lets through is not known
	Policy  Policy
	Target  string // alias
	Version Version
	// NoHeartbeats is heartbeats.replication.enabled=false (KIP-1089, 4.0.0+).
	NoHeartbeats bool
}

// Decide tells whether the source connector mirrors a topic: (filter or heartbeats) and not internal and not a cycle.
func (r TopicRules) Decide(topic string) Decision {
	internal, internalKnown := r.Policy.IsInternal(topic, r.Version)
	if internalKnown && internal {
		return Decision{Verdict: Internal}
	}
	cycle, cycleKnown := r.Policy.IsCycle(topic, r.Target)
	if cycleKnown && cycle {
		return Decision{Verdict: Cycle}
	}
	d := Decision{Verdict: Unknown, Why: "the topic filter is not Kafka's own"}
	if r.Filter != nil {
		d = r.Filter.Decide(topic)
	}
	if !d.Passes() && !r.NoHeartbeats {
		switch yes, known := r.Policy.IsHeartbeats(topic); {
		case known && yes:
			d = Decision{Verdict: Heartbeats}
		case !known && d.Verdict != Unknown:
			d = Decision{Verdict: Unknown, Why: r.policyWhy()}
		}
	}
	if d.Passes() && (!internalKnown || !cycleKnown) {
		return Decision{Verdict: Unknown, Why: r.policyWhy()}
	}
	return d
}

func (r TopicRules) policyWhy() string {
	return fmt.Sprintf("the rules of replication policy %s are not known", r.Policy.Class)
}
