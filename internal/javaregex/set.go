package javaregex

import (
	"slices"
	"unicode"
)

// ranges is a set of characters: sorted, disjoint, not touching pairs of first and last.
type ranges []span

type span struct{ lo, hi rune }

func one(r rune) ranges { return ranges{{r, r}} }

// chars gives the set of the characters of pairs: "az09" is a to z and 0 to 9.
func chars(pairs string) ranges {
	r := []rune(pairs)
	var out ranges
	for i := 0; i+1 < len(r); i += 2 {
		out = append(out, span{r[i], r[i+1]})
	}
	return out.normal()
}

func (s ranges) normal() ranges {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b span) int { return int(a.lo - b.lo) })
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && x.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, x.hi)
			continue
		}
		out = append(out, x)
	}
	return out
}

func (s ranges) union(o ranges) ranges {
	return append(slices.Clone(s), o...).normal()
}

func (s ranges) negate() ranges {
	var out ranges
	next := rune(0)
	for _, x := range s {
		if x.lo > next {
			out = append(out, span{next, x.lo - 1})
		}
		next = x.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, span{next, unicode.MaxRune})
	}
	return out
}

func (s ranges) and(o ranges) ranges {
	return s.negate().union(o.negate()).negate()
}

// foldASCII adds the other case of every ASCII letter: what (?i) means in Java without (?u).
func (s ranges) foldASCII() ranges {
	out := slices.Clone(s)
	for _, x := range s {
		for r := max(x.lo, 'A'); r <= min(x.hi, 'Z'); r++ {
			out = append(out, span{r + 32, r + 32})
		}
		for r := max(x.lo, 'a'); r <= min(x.hi, 'z'); r++ {
			out = append(out, span{r - 32, r - 32})
		}
	}
	return out.normal()
}

// tableRanges turns one of Go's Unicode tables into a set.
func tableRanges(t *unicode.RangeTable) ranges {
	var out ranges
	for _, r := range t.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			out = append(out, span{c, c})
		}
	}
	for _, r := range t.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			out = append(out, span{c, c})
		}
	}
	return out.normal()
}
