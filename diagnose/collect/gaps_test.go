package collect

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// TestGapCodes: what a refused read is, by the broker's code.
func TestGapCodes(t *testing.T) {
	for _, c := range []struct {
		err  wire.Error
		want string
	}{
		{wire.Error{Code: kafka.CoordinatorNotAvailable}, "coordinator"},
		{wire.Error{Code: kafka.CoordinatorLoadInProgress}, "coordinator"},
		{wire.Error{Code: kafka.NotCoordinator}, "coordinator"},
		{wire.Error{Code: kafka.NotCoordinator, Hint: "grant Describe on topic __consumer_offsets"}, "failed"},
		{wire.Error{Code: kafka.UnsupportedVersion}, "unsupported"},
		{wire.Error{Code: kafka.GroupAuthorizationFailed}, "denied"},
		{wire.Error{Code: kafka.LeaderNotAvailable}, "failed"},
	} {
		if g := gapOf("b", "OffsetFetch", "g", &c.err); g.Code != c.want || g.API != "OffsetFetch g" {
			t.Errorf("%v: %+v, want %s", c.err.Code, g, c.want)
		}
	}
}
