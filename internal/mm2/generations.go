package mm2

import "strings"

// Generations is a set of generations. The zero value is the empty set: nothing is known to be possible.
type Generations uint8

// AllGenerations holds G1 to G5: nothing is known about the version.
const AllGenerations Generations = 1<<G1 | 1<<G2 | 1<<G3 | 1<<G4 | 1<<G5

// SetOf gives the set of the given generations; unknown ones are left out.
func SetOf(gs ...Generation) Generations {
	var s Generations
	for _, g := range gs {
		if g >= G1 && g <= G5 {
			s |= 1 << g
		}
	}
	return s
}

// Between gives the set from a to b, both included.
func Between(a, b Generation) Generations {
	var s Generations
	for g := max(a, G1); g <= min(b, G5); g++ {
		s |= 1 << g
	}
	return s
}

// Has says that g is in the set.
func (s Generations) Has(g Generation) bool { return g >= G1 && g <= G5 && s&(1<<g) != 0 }

// All gives the members, ascending.
func (s Generations) All() []Generation {
	var out []Generation
	for g := G1; g <= G5; g++ {
		if s.Has(g) {
			out = append(out, g)
		}
	}
	return out
}

// Only gives the one member of a set of one.
func (s Generations) Only() (Generation, bool) {
	all := s.All()
	if len(all) != 1 {
		return 0, false
	}
	return all[0], true
}

// String gives "G3, G4", or "none".
func (s Generations) String() string {
	var out []string
	for _, g := range s.All() {
		out = append(out, g.String())
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

// Range is an inclusive span of versions, for builds whose Apache version is only known within bounds. A zero bound is open.
type Range struct{ From, To Version }

// Exactly is the range of one version.
func Exactly(v Version) Range { return Range{v, v} }

// Contains says that v lies in the range.
func (r Range) Contains(v Version) bool {
	return (r.From.IsZero() || v.Compare(r.From) >= 0) && (r.To.IsZero() || v.Compare(r.To) <= 0)
}

// Generations gives those of all releases in the range.
func (r Range) Generations() Generations {
	lo, hi := G1, G5
	if !r.From.IsZero() {
		lo = max(lo, r.From.Generation())
	}
	if !r.To.IsZero() {
		hi = r.To.Generation()
	}
	return Between(lo, hi)
}

// String gives "3.9.1", "3.4.1 - 3.7.0", "3.4.1 and later" or "any version".
func (r Range) String() string {
	switch {
	case r.From.IsZero() && r.To.IsZero():
		return "any version"
	case r.To.IsZero():
		return r.From.String() + " and later"
	case r.From.IsZero():
		return "up to " + r.To.String()
	case r.From == r.To:
		return r.From.String()
	}
	return r.From.String() + " - " + r.To.String()
}
