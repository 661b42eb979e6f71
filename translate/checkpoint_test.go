package translate

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func TestDecide(t *testing.T) {
	got := func(offset int64) Result { return Result{Status: Translated, Offset: offset} }
	last := &Checkpoint{Upstream: 100, Downstream: 90}
	for _, c := range []struct {
		v    mm2.Version
		last *Checkpoint
		up   int64
		r    Result
		want Decision
	}{
		{mm2.V(2, 4, 0), nil, 5, got(0), SkipUntranslated},
		{mm2.V(2, 6, 3), nil, 5, got(1), EmitAlways},
		{mm2.V(2, 7, 0), nil, 5, got(0), EmitAlways},
		{mm2.V(2, 8, 2), last, 100, Result{Status: Copied, Offset: 100}, EmitAlways},
		{mm2.V(3, 4, 0), last, 100, got(90), EmitAlways},
		{mm2.V(3, 4, 0), last, 100, Result{Status: SyncAhead, Offset: -1}, SkipUntranslated},
		{mm2.V(3, 4, 1), nil, 100, got(0), EmitFirst},
		{mm2.V(3, 4, 1), last, 100, got(90), SkipRepeated},
		{mm2.V(3, 9, 1), last, 150, got(90), SkipRepeated},
		{mm2.V(3, 9, 1), last, 150, got(80), SkipDownstreamRewind},
		{mm2.V(3, 9, 1), last, 99, got(80), EmitUpstreamRewind},
		{mm2.V(3, 9, 1), last, 99, got(90), EmitUpstreamRewind},
		{mm2.V(3, 9, 1), last, 101, got(91), EmitAdvanced},
		{mm2.V(4, 3, 1), last, 101, Result{Status: StillLoading, Offset: -1}, SkipUntranslated},
		{mm2.V(4, 3, 1), nil, 101, Result{Status: NoSync, Offset: -1}, SkipUntranslated},
	} {
		d := Decide(c.v, c.last, c.up, c.r)
		if d != c.want || d.Emits() != (c.want >= EmitAlways) {
			t.Errorf("%s, %+v, %d, %+v: %s, want %s", c.v, c.last, c.up, c.r, d, c.want)
		}
	}
}
