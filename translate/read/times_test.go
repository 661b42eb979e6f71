package read

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// TestWithoutPosition: an offset below 0 asks for the log's ends, and for a time where one is given; nothing is compared.
func TestWithoutPosition(t *testing.T) {
	t.Parallel()
	w := mirror(t, 1, shape{partitions: 1, records: 400, every: 50})
	end := w.truth[0][400]
	bare := w.position("g", 0, -1)
	timed := bare
	timed.Time = 1_700_000_000_100
	late := bare
	late.Time = 1_700_003_600_000
	unmapped := bare
	unmapped.From, unmapped.Syncs = plan.Place{}, plan.SyncsRef{}
	as, st := locate(t, w, []plan.Position{bare, timed, late, unmapped, w.position("g", 0, 7)}, Options{Records: true})
	for i, a := range as[:4] {
		if a.Target == nil || a.Target.End != end {
			t.Fatalf("%d: ends %+v", i, a.Target)
		}
		if a.Range != nil || a.Records != nil || a.Why == "" {
			t.Errorf("%d: an answer without a position: %+v", i, a)
		}
	}
	if as[0].AtTime != nil || as[3].AtTime != nil {
		t.Error("a time that nobody asked for")
	}
	if as[1].AtTime == nil || *as[1].AtTime != w.truth[0][100] {
		t.Errorf("the record of that time: %v", as[1].AtTime)
	}
	if as[2].AtTime == nil || *as[2].AtTime != end {
		t.Errorf("later than every record: %v", as[2].AtTime)
	}
	if as[4].Records == nil || as[4].Records.T != w.truth[0][7] || st.Compared != 1 {
		t.Errorf("the position beside them: %+v, %d compared", as[4], st.Compared)
	}
}
