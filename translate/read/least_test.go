package read

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// TestAtLeast: an answer that is not proved never lies below what the syncs leave, unless they cannot be relied on.
func TestAtLeast(t *testing.T) {
	low := match.Answer{T: 10, Low: 10, High: 60, Between: 50, Verdict: match.Ambiguous}
	refuted, proved := low, low
	refuted.Refuted, proved.Verdict = true, match.Exact
	for _, c := range []struct {
		name    string
		answer  match.Answer
		r       *plan.Range
		t, high int64
		between int64
		verdict match.Verdict
	}{
		{"no syncs", low, nil, 10, 60, 50, match.Ambiguous},
		{"a sync below", low, &plan.Range{Low: 41, High: 90}, 41, 60, 19, match.Ambiguous},
		{"the sync of this record", low, &plan.Range{Low: 41, High: 41}, 41, 41, 0, match.Exact},
		{"beyond what seemed possible", low, &plan.Range{Low: 71, High: 90}, 71, 90, 19, match.Ambiguous},
		{"not higher", low, &plan.Range{Low: 5, High: 90}, 10, 60, 50, match.Ambiguous},
		{"an older copy may have gone further", low, &plan.Range{Low: 41, High: 90, Again: true}, 10, 60, 50, match.Ambiguous},
		{"records contradict the syncs", refuted, &plan.Range{Low: 41, High: 90}, 10, 60, 50, match.Ambiguous},
		{"records prove it", proved, &plan.Range{Low: 41, High: 90}, 10, 60, 50, match.Exact},
	} {
		a := c.answer
		atLeast(&a, c.r)
		if a.T != c.t || a.Low != c.t || a.High != c.high || a.Between != c.between || a.Verdict != c.verdict {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}
