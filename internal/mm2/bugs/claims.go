package bugs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Claim is a statement about an issue that is often repeated, and what the releases say.
type Claim struct {
	ID       string
	Versions []string // the fix versions that are named
	Holds    string   // "yes", "partly" or "no"
	Finding  string
}

// Claims gives the statements that were checked against the releases.
func Claims() []Claim {
	return []Claim{
		{"KAFKA-12468", []string{"3.3.3", "3.4.1", "3.5.0"}, "partly",
			"3.4.1 and 3.5.0 have the fix. 3.3.3 was never released, so 3.3.0 to 3.3.2 stay affected. What was repaired is counting on from the newest sync; the copy of source offsets as they are had gone before, with KAFKA-12635 in 3.3.0."},
		{"KAFKA-12635", []string{"3.3.0"}, "yes",
			"3.3.0 is the first release with the fix; no older line ever got it."},
		{"KAFKA-14666", []string{"3.3.3", "3.4.1", "3.5.0"}, "partly",
			"3.4.1 and 3.5.0 translate positions behind the newest sync; 3.3.3 was never released. The first form is held back by KAFKA-15202, KAFKA-15905 and KAFKA-15906: in practice 3.7.1 or later is meant."},
		{"KAFKA-15906", []string{"3.6.2", "3.7.0"}, "partly",
			"3.7.0 has the fix, 3.6.2 does not. The upgrade notes (KAFKA-16303) name 3.5.0 to 3.6.1 as affected; 3.4.1 and 3.6.2 are affected too."},
	}
}

// CorrectClaim judges the statement that an issue is fixed in a version. wrong is true when the version was never released, is
// no known release, or still shows the fault. text says which releases have the fix, and is "" for an issue that is not in the
// catalogue; then nothing can be said.
func CorrectClaim(id, version string) (text string, wrong bool) {
	b, ok := Lookup(id)
	if !ok {
		return "", false
	}
	v, err := mm2.ParseVersion(version)
	switch {
	case err != nil:
		return fmt.Sprintf("%q is no release of Kafka; %s: %s.", version, b.ID, b.fixWords()), true
	case v.WasNeverReleased():
		return fmt.Sprintf("%v was never released; %s: %s.", v, b.ID, b.fixWords()), true
	case !v.Exists():
		return fmt.Sprintf("%v is no release that is known; %s: %s.", v, b.ID, b.fixWords()), true
	case len(b.Affects) == 0:
		return fmt.Sprintf("%s: %s.", b.ID, b.fixWords()), b.Since.IsZero() || v.Compare(b.Since) < 0
	case b.Affected(v):
		return fmt.Sprintf("%v still shows %s; %s.", v, b.ID, b.fixWords()), true
	case v.Compare(b.Affects[0].From) < 0:
		return fmt.Sprintf("%v never had %s, it came with %v; %s.", v, b.ID, b.Affects[0].From, b.fixWords()), true
	case slices.Contains(b.Fixes(), v):
		return fmt.Sprintf("right: %s is %s.", b.ID, b.fixWords()), false
	}
	return fmt.Sprintf("%v does not show %s, and is not the first; %s.", v, b.ID, b.fixWords()), false
}

// fixWords says which releases have the fix.
func (b Bug) fixWords() string {
	fixes := b.Fixes()
	if len(fixes) == 0 {
		if len(b.Affects) == 0 {
			return "there is nothing to fix in any release"
		}
		return "no release has a fix"
	}
	var names []string
	for _, v := range fixes {
		names = append(names, v.String())
	}
	if len(b.Affects) == 0 {
		return "the change came with " + names[0]
	}
	text := "fixed in " + strings.Join(names, ", ") + " and the lines after"
	if not := b.NotFixedOn(); len(not) > 0 {
		text += "; no fixed release of " + strings.Join(not, ", ")
	}
	return text
}
