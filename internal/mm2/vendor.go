package mm2

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Build is a build of Kafka as somebody names it, and the releases of Apache Kafka that it may behave like. A vendor takes
// over single changes without saying which, so only Apache's own build, and one that is known to be unchanged, is a single
// release.
type Build struct {
	Text   string
	Range  Range
	Vendor string // "" for Apache's own numbering
	Why    string // how the range follows from the text; "" for a plain release
}

// Exact gives the release of a build that is one.
func (b Build) Exact() (Version, bool) {
	return b.Range.From, !b.Range.From.IsZero() && b.Range.From.Compare(b.Range.To) == 0
}

// ReleaseOf gives the release by which settings and names of a build are resolved: the one, or the first where all that it may be
// are of one line; zero where that is open.
func ReleaseOf(text string) Version {
	b, err := ParseBuild(text)
	if err != nil || b.Range.From.Major != b.Range.To.Major || b.Range.From.Minor != b.Range.To.Minor {
		return Version{}
	}
	return b.Range.From
}

// confluent maps lines of Confluent Platform to lines of Apache Kafka (docs.confluent.io, "Supported Versions and
// Interoperability").
var confluent = map[string][2]int{
	"5.4": {2, 4}, "5.5": {2, 5}, "6.0": {2, 6}, "6.1": {2, 7}, "6.2": {2, 8}, "7.0": {3, 0}, "7.1": {3, 1}, "7.2": {3, 2}, "7.3": {3, 3}, "7.4": {3, 4},
	"7.5": {3, 5}, "7.6": {3, 6}, "7.7": {3, 7}, "7.8": {3, 8}, "7.9": {3, 9}, "8.0": {4, 0}, "8.1": {4, 1}, "8.2": {4, 2},
}

var (
	strimziTag = regexp.MustCompile(`^(?:.*:)?\d+\.\d+\.\d+[^/:]*-kafka-(\d+\.\d+\.\d+)$`)
	// imageTag is the reference of a container image: a path, a colon, a tag that begins with a number.
	imageTag     = regexp.MustCompile(`^(?:[\w.-]+(?::\d+)?/)*([\w.-]+):v?(\d[^/:@]*)(?:@sha256:[0-9a-f]+)?$`)
	amqStreams   = regexp.MustCompile(`^kafka-(\d)(\d+)-rhel\d+$`)
	scalaPrefix  = regexp.MustCompile(`^2\.1[123]-(\d+\.\d+)`)
	confluentTag = regexp.MustCompile(`^(?:cp|confluent)-`)
	buildNumbers = regexp.MustCompile(`^v?(\d+)\.(\d+)(?:\.(\d+|x))?(.*)$`)
	// vendors are what follows the numbers.
	redhatSuffix   = regexp.MustCompile(`^[.-]redhat-\d+`)
	clouderaSuffix = regexp.MustCompile(`^\.7\.\d+\.\d+`)
	amazonSuffix   = regexp.MustCompile(`^(?:\.tiered|\.kraft|\.\d+|-amzn-\d+)(?:\.kraft|\.tiered)?$`)
	packaging      = regexp.MustCompile(`^-(?:debian|ubuntu|alpine|r\d|rhel|ubi)`)
)

// ParseBuild reads the version of a build: Apache's numbers, those with a vendor's suffix, Confluent's own numbering, and
// references of container images. A vendor that is not known gives the releases of the named line from the named one on.
func ParseBuild(text string) (Build, error) {
	s := strings.TrimSpace(text)
	b := Build{Text: s}
	if m := strimziTag.FindStringSubmatch(s); m != nil {
		v, err := ParseVersion(m[1])
		b.Range, b.Vendor, b.Why = Exactly(v), "Strimzi", "a Strimzi image holds Apache Kafka unchanged"
		return b.check(v, err)
	}
	image := ""
	if m := imageTag.FindStringSubmatch(s); m != nil {
		image, s = m[1], m[2]
		if m := amqStreams.FindStringSubmatch(image); m != nil {
			return vendorBuild(b, "Red Hat", number(m[1]), number(m[2]), 0, "the image is named for the release line")
		}
	}
	if m := scalaPrefix.FindStringSubmatch(s); m != nil {
		s = s[strings.Index(s, "-")+1:]
	}
	m := buildNumbers.FindStringSubmatch(s)
	if m == nil {
		return b, fmt.Errorf("%q is not a Kafka version: expected numbers such as 3.9.1, a vendor's such as 7.6.1-ccs, or an image such as strimzi/kafka:0.45.0-kafka-3.9.0", text)
	}
	major, minor, rest := number(m[1]), number(m[2]), m[4]
	patch := number(m[3])
	if line, ok := confluent[fmt.Sprintf("%d.%d", major, minor)]; ok {
		return vendorBuild(b, "Confluent", line[0], line[1], 0, fmt.Sprintf("Confluent %d.%d is built from Apache Kafka %d.%d", major, minor, line[0], line[1]))
	}
	if major > releases[len(releases)-1].major || confluentTag.MatchString(image) {
		return Build{b.Text, Range{From: V(2, 4, 0)}, "unknown", fmt.Sprintf("the numbering %d.%d is not Apache's, and no vendor's that is known", major, minor)}, nil
	}
	switch {
	case m[3] == "" && rest == "", m[3] == "x" && rest == "":
		return vendorBuild(b, "", major, minor, 0, "only the release line is named")
	case m[3] == "x" && amazonSuffix.MatchString(rest):
		return vendorBuild(b, "Amazon MSK", major, minor, 0, "Amazon MSK chooses the patch")
	case rest == "" || packaging.MatchString(rest) && image != "":
		v := V(major, minor, patch)
		b.Range = Exactly(v)
		return b.check(v, nil)
	case redhatSuffix.MatchString(rest):
		return vendorBuild(b, "Red Hat", major, minor, patch, "Red Hat builds Apache Kafka with changes of later releases")
	case clouderaSuffix.MatchString(rest):
		return vendorBuild(b, "Cloudera", major, minor, patch, "Cloudera builds Apache Kafka with changes of later releases")
	case amazonSuffix.MatchString(rest):
		return vendorBuild(b, "Amazon", major, minor, patch, "Amazon builds Apache Kafka with changes of its own")
	case strings.HasPrefix(rest, "-ccs"), strings.HasPrefix(rest, "-ce"):
		return vendorBuild(b, "Confluent", major, minor, patch, "the suffix is Confluent's, the numbers are not")
	case len(rest) > 1 && strings.ContainsRune(".-+_", rune(rest[0])):
		return vendorBuild(b, "unknown", major, minor, patch, fmt.Sprintf("what %q stands for is not known", rest[1:]))
	}
	return b, fmt.Errorf("%q is not a Kafka version: expected numbers such as 3.9.1", text)
}

// vendorBuild is a build that may behave like any release of a line from a patch on.
func vendorBuild(b Build, vendor string, major, minor, patch int, why string) (Build, error) {
	from := V(major, minor, patch)
	b.Vendor, b.Why, b.Range = vendor, why, Range{from, lastLike(from, vendor != "")}
	return b.check(from, nil)
}

// lastLike is the last release that a build of the line may behave like. The branches 3.3 and 3.4 hold the changes of 3.4.1
// (KAFKA-12468, KAFKA-14666) and 3.5.2 (KAFKA-15202) without an Apache release of those lines that has them; whoever builds
// from a branch has them.
func lastLike(from Version, ownBuild bool) Version {
	if ownBuild && from.Major == 3 && (from.Minor == 3 || from.Minor == 4) {
		return V(3, 5, 2)
	}
	last := from
	for _, l := range releases {
		if l.major == from.Major && l.minor == from.Minor && l.last > last.Patch {
			last.Patch = l.last
		}
	}
	return last
}

// check refuses what cannot be a MirrorMaker 2.
func (b Build) check(v Version, err error) (Build, error) {
	switch {
	case err != nil:
		return b, err
	case v.Before(2, 4, 0):
		return b, fmt.Errorf("%q: MirrorMaker 2 exists from Kafka 2.4.0 on", b.Text)
	}
	return b, nil
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

// Releases gives the known releases in the range, ascending.
func (r Range) Releases() []Version {
	var out []Version
	for _, v := range Releases() {
		if r.Contains(v) {
			out = append(out, v)
		}
	}
	return out
}

// Emissions is a set of emissions.
type Emissions uint8

// AllEmissions holds E1 to E3.
const AllEmissions Emissions = 1<<E1 | 1<<E2 | 1<<E3

// EmissionsOf gives the set of the given emissions.
func EmissionsOf(es ...Emission) Emissions {
	var s Emissions
	for _, e := range es {
		if e >= E1 && e <= E3 {
			s |= 1 << e
		}
	}
	return s
}

// Has says that e is in the set.
func (s Emissions) Has(e Emission) bool { return e >= E1 && e <= E3 && s&(1<<e) != 0 }

// All gives the members, ascending.
func (s Emissions) All() []Emission {
	var out []Emission
	for e := E1; e <= E3; e++ {
		if s.Has(e) {
			out = append(out, e)
		}
	}
	return out
}

// Generations gives the translation generations of the releases that emit so: 3.7.0 is the one release of E3 in G4.
func (s Emissions) Generations() Generations {
	var out Generations
	for _, v := range Releases() {
		if s.Has(v.Emission()) {
			out |= SetOf(v.Generation())
		}
	}
	return out
}

// Emissions gives the emissions of the releases that translate so.
func (s Generations) Emissions() Emissions {
	var out Emissions
	for _, v := range Releases() {
		if s.Has(v.Generation()) {
			out |= EmissionsOf(v.Emission())
		}
	}
	return out
}
