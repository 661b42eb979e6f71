package bugs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Span is a half-open range of versions, [From, Before). A zero Before: still so in the newest release known.
type Span struct{ From, Before mm2.Version }

// Contains says that v lies in the span; a suffix does not count.
func (s Span) Contains(v mm2.Version) bool {
	return v.Compare(s.From) >= 0 && (s.Before.IsZero() || v.Compare(s.Before) < 0)
}

func (s Span) String() string {
	if s.Before.IsZero() {
		return s.From.String() + " and later"
	}
	return fmt.Sprintf("%v up to, not including, %v", s.From, s.Before)
}

// spans reads "2.4.0..3.3.0" and "3.4.1..". It panics on anything else, so only the tables may call it.
func spans(texts ...string) []Span {
	var out []Span
	for _, t := range texts {
		from, before, _ := strings.Cut(t, "..")
		s := Span{From: version(from)}
		if before != "" {
			s.Before = version(before)
		}
		out = append(out, s)
	}
	return out
}

func version(s string) mm2.Version {
	v, err := mm2.ParseVersion(s)
	if err != nil {
		panic(err)
	}
	return v
}

// Affected says whether the version shows the fault.
func (b Bug) Affected(v mm2.Version) bool {
	return slices.ContainsFunc(b.Affects, func(s Span) bool { return s.Contains(v) })
}

func (b Bug) affectedWords() string {
	if len(b.Affects) == 0 {
		return "no release"
	}
	var out []string
	for _, s := range b.Affects {
		out = append(out, s.String())
	}
	return strings.Join(out, ", and ")
}

// inRange is Yes when every release of the range is affected, No when none is.
func (b Bug) inRange(r mm2.Range) Answer {
	if len(b.Affects) == 0 {
		return No
	}
	if !r.From.IsZero() && r.From.Compare(r.To) == 0 { // a version that is no known release counts all the same
		return If(b.Affected(r.From))
	}
	in, out := 0, 0
	for _, v := range mm2.Releases() {
		if !r.Contains(v) {
			continue
		}
		if b.Affected(v) {
			in++
		} else {
			out++
		}
	}
	switch {
	case in > 0 && out == 0 && (!r.To.IsZero() || b.open()):
		return Yes
	case in == 0 && out > 0:
		return No
	}
	return Unknown
}

func (b Bug) open() bool {
	return slices.ContainsFunc(b.Affects, func(s Span) bool { return s.Before.IsZero() })
}

// Line is a release line, such as 3.4.
type Line struct{ Major, Minor int }

func (l Line) String() string { return fmt.Sprintf("%d.%d", l.Major, l.Minor) }

// lines gives the releases by line, ascending.
func lines() (order []Line, of map[Line][]mm2.Version) {
	of = map[Line][]mm2.Version{}
	for _, v := range mm2.Releases() {
		l := Line{v.Major, v.Minor}
		if of[l] == nil {
			order = append(order, l)
		}
		of[l] = append(of[l], v)
	}
	return order, of
}

// FixedIn tells the first release of a line ("3.4") from which on the bug is gone: the line's .0 where it never had it. ok is
// false where no release of the line is free of it, and for lines that are not known.
func FixedIn(b Bug, line string) (v mm2.Version, ok bool) {
	_, of := lines()
	for l, releases := range of {
		if l.String() != line {
			continue
		}
		for i := len(releases) - 1; i >= 0 && !b.Affected(releases[i]) && !releases[i].Before(b.Since.Major, b.Since.Minor, b.Since.Patch); i-- {
			v, ok = releases[i], true
		}
	}
	return v, ok
}

// Fixes gives, ascending, the first fixed release of each line that has one with and one without the fault, and then the
// first release of the lines after all affected ones. Empty for what is not fixed.
func (b Bug) Fixes() []mm2.Version {
	if len(b.Affects) == 0 {
		if b.Since.IsZero() {
			return nil
		}
		return []mm2.Version{b.Since}
	}
	if b.open() {
		return nil
	}
	order, of := lines()
	var out []mm2.Version
	var after mm2.Version
	for _, l := range order {
		first := of[l][0]
		switch v, ok := FixedIn(b, l.String()); {
		case !slices.ContainsFunc(of[l], b.Affected):
			if after.IsZero() {
				after = first
			}
		default:
			after = mm2.Version{}
			if ok {
				out = append(out, v)
			}
		}
		if first.Compare(b.Affects[0].From) < 0 {
			after = mm2.Version{}
		}
	}
	if !after.IsZero() {
		out = append(out, after)
	}
	return out
}

// NotFixedOn gives the affected lines without any release that has the fix; empty for what is not fixed at all.
func (b Bug) NotFixedOn() []string {
	if b.open() {
		return nil
	}
	order, of := lines()
	var out []string
	for _, l := range order {
		if _, ok := FixedIn(b, l.String()); !ok && slices.ContainsFunc(of[l], b.Affected) {
			out = append(out, l.String())
		}
	}
	return out
}
