package mm2

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version is a release of Apache Kafka, or a vendor's build of one. Suffix is what follows the numbers, such as "ccs" of
// "3.9.1-ccs"; a vendor's own numbering (7.6.0) is not mapped here. The zero value means "no version".
type Version struct {
	Major, Minor, Patch int
	Suffix              string
}

// ParseVersion reads "3.9", "3.9.1", "v3.9.1" and "3.9.1-anything" or "3.9.1.anything". A missing patch is 0. It fails on
// anything else; the numbers are not checked against the list of releases (see Exists).
func ParseVersion(s string) (Version, error) {
	bad := func() (Version, error) {
		return Version{}, fmt.Errorf("%q is not a Kafka version: expected numbers such as 3.9.1", s)
	}
	rest := strings.TrimPrefix(strings.TrimSpace(s), "v")
	var n [3]int
	i := 0
	for ; i < 3; i++ {
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if end == 0 || end > 6 {
			return bad()
		}
		n[i], _ = strconv.Atoi(rest[:end])
		rest = rest[end:]
		if rest == "" || rest[0] != '.' || i == 2 {
			i++
			break
		}
		if i == 1 && (len(rest) < 2 || rest[1] < '0' || rest[1] > '9') {
			i++
			break
		}
		rest = rest[1:]
	}
	if i < 2 {
		return bad()
	}
	if rest != "" {
		if len(rest) < 2 || !strings.ContainsRune(".-+_", rune(rest[0])) {
			return bad()
		}
		rest = rest[1:]
	}
	return Version{n[0], n[1], n[2], rest}, nil
}

// V gives a plain version; for tables and tests.
func V(major, minor, patch int) Version { return Version{Major: major, Minor: minor, Patch: patch} }

// IsZero says that no version is known.
func (v Version) IsZero() bool { return v == Version{} }

// String gives the text that ParseVersion reads.
func (v Version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Suffix != "" {
		s += "-" + v.Suffix
	}
	return s
}

// Compare orders by the numbers, never as text; the suffix does not count.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch))
}

// AtLeast says that v is the given release or a later one.
func (v Version) AtLeast(major, minor, patch int) bool { return v.Compare(V(major, minor, patch)) >= 0 }

// Before says that v is earlier than the given release.
func (v Version) Before(major, minor, patch int) bool { return !v.AtLeast(major, minor, patch) }

// releases holds, for each line, its released patches: from 0 to the number given.
var releases = []struct{ major, minor, last int }{
	{2, 4, 1}, {2, 5, 1}, {2, 6, 3}, {2, 7, 2}, {2, 8, 2}, {3, 0, 2}, {3, 1, 2}, {3, 2, 3}, {3, 3, 2}, {3, 4, 1}, {3, 5, 2},
	{3, 6, 2}, {3, 7, 2}, {3, 8, 1}, {3, 9, 2}, {4, 0, 2}, {4, 1, 2}, {4, 2, 1}, {4, 3, 1}, {4, 4, 0},
}

// Releases gives every release of Kafka with MirrorMaker 2 that the rules here are about, ascending.
func Releases() []Version {
	var out []Version
	for _, l := range releases {
		for p := 0; p <= l.last; p++ {
			out = append(out, V(l.major, l.minor, p))
		}
	}
	return out
}

// NeverReleased gives versions that issue trackers name as "fixed in" but that nobody can run.
func NeverReleased() []Version { return []Version{V(3, 3, 3), V(3, 4, 2), V(3, 5, 3), V(3, 6, 3)} }

// Exists says that the numbers name a known release.
func (v Version) Exists() bool {
	for _, l := range releases {
		if l.major == v.Major && l.minor == v.Minor {
			return v.Patch >= 0 && v.Patch <= l.last
		}
	}
	return false
}

// WasNeverReleased says that the numbers name one of NeverReleased.
func (v Version) WasNeverReleased() bool {
	return slices.Contains(NeverReleased(), V(v.Major, v.Minor, v.Patch))
}

// Generation is one of the five ways in which released versions translate offsets; 0 is "not known".
type Generation uint8

// The generations. G1 copies the source offset where there is no sync; G2 does not (KAFKA-12635); G3 keeps 64 syncs
// (KAFKA-12468, KAFKA-13659, KAFKA-14666); G4 keeps them better (KAFKA-15202); G5 keeps history over a start (KAFKA-15905).
const (
	G1 Generation = 1 + iota // 2.4.0 - 3.2.3
	G2                       // 3.3.0 - 3.4.0
	G3                       // 3.4.1, 3.5.0, 3.5.1
	G4                       // 3.5.2, 3.6.x, 3.7.0
	G5                       // 3.7.1 and later
)

// String gives "G1" to "G5".
func (g Generation) String() string {
	if g < G1 || g > G5 {
		return "unknown generation"
	}
	return "G" + strconv.Itoa(int(g))
}

// Releases gives the releases of the generation in words.
func (g Generation) Releases() string {
	switch g {
	case G1:
		return "2.4.0 - 3.2.3"
	case G2:
		return "3.3.0 - 3.4.0"
	case G3:
		return "3.4.1, 3.5.0, 3.5.1"
	case G4:
		return "3.5.2, 3.6.0 - 3.6.2, 3.7.0"
	case G5:
		return "3.7.1 and later"
	}
	return "no release"
}

// Generation tells how the version translates; 0 for versions before MirrorMaker 2 (2.4.0) and for the zero value.
func (v Version) Generation() Generation {
	switch {
	case v.Before(2, 4, 0):
		return 0
	case v.Before(3, 3, 0):
		return G1
	case v.Before(3, 4, 1):
		return G2
	case v.Before(3, 5, 2):
		return G3
	case v.Before(3, 7, 1):
		return G4
	}
	return G5
}

// Emission is one of the three ways in which the source task decides to write an offset sync; 0 is "not known".
type Emission uint8

// The emissions: E1 looks at drift and drops what does not fit in flight (KAFKA-12558); E2 looks at distance and keeps
// the newest per partition (KAFKA-14610); E3 also writes the last record's sync at each commit (KAFKA-15906).
const (
	E1 Emission = 1 + iota // 2.4.0 - 3.4.0
	E2                     // 3.4.1 - 3.6.2
	E3                     // 3.7.0 and later
)

// String gives "E1" to "E3".
func (e Emission) String() string {
	if e < E1 || e > E3 {
		return "unknown emission"
	}
	return "E" + strconv.Itoa(int(e))
}

// Emission tells how the version writes offset syncs; 0 for versions before 2.4.0.
func (v Version) Emission() Emission {
	switch {
	case v.Before(2, 4, 0):
		return 0
	case v.Before(3, 4, 1):
		return E1
	case v.Before(3, 7, 0):
		return E2
	}
	return E3
}
