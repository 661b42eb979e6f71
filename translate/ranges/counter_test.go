package ranges

import (
	"errors"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
	"pgregory.net/rapid"
)

// TestCounted: in a partition that was copied once, with holes of the source, markers on the target and both thinned out by
// compaction, counting never narrows past the place of the record, and never widens.
func TestCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := draw(t)
		l := h.lives[0]
		end := l.down[len(l.down)-1] + 1
		var left log
		markers := l.down[len(l.down)-1]-l.down[0] >= int64(len(l.down))
		keep := rapid.IntRange(1, 3).Draw(t, "kept")
		for i := range l.up {
			if rapid.IntRange(1, keep).Draw(t, "cleaner") == 1 {
				left = append(left, copied{l.up[i], l.down[i]})
			}
		}
		for _, u := range append(slices.Clone(l.up), l.up[len(l.up)-1]+1) {
			b, ok := Locate(l.syncs, u, Ends{Source: 1 << 40, Target: end})
			if !ok {
				t.Fatalf("no bound for %d", u)
			}
			got, ok, err := b.Counted(u, headers{left, markers})
			if err != nil || !ok {
				t.Fatalf("%d: %v %v", u, ok, err)
			}
			if got.Low < b.Low || got.High > b.High || got.Low > got.High {
				t.Fatalf("%d: %s became %s", u, words(b, true), words(got, true))
			}
			if _, skipped := left.judge(u, got.Low, end); skipped > 0 {
				t.Fatalf("%d: %s became %s and skips %d", u, words(b, true), words(got, true), skipped)
			}
			if again, _ := left.judge(u, got.High, end); again > 0 && !got.Exact() {
				t.Fatalf("%d: %s became %s, even High reads %d again", u, words(b, true), words(got, true), again)
			}
		}
	})
}

func TestCountedTable(t *testing.T) {
	dense := func(up, down, n int64) (l log) {
		for i := range n {
			l = append(l, copied{up + i, down + i})
		}
		return l
	}
	pair := syncs([2]int64{100, 50}, [2]int64{110, 60})
	for _, tc := range []struct {
		name  string
		syncs []translate.Sync
		u     int64
		h     headers
		want  string
	}{
		{"equal shift, no transactions", pair, 104, headers{dense(100, 50, 11), false}, "[54,54]"},
		{"equal shift, compacted to the two syncs", pair, 104, headers{log{{100, 50}, {110, 60}}, false}, "[54,54]"},
		{"equal shift, nothing is left to tell how it was written", pair, 104, headers{nil, false}, "[51,51]"},
		{"equal shift, transactions: a marker and a hole cancel", pair, 104, headers{append(dense(100, 50, 4), dense(105, 55, 6)...), true}, "[53,55]"},
		{"more records than the source can have had", syncs([2]int64{100, 50}, [2]int64{105, 60}), 102, headers{dense(100, 50, 11), false}, "[51,60] refused"},
		{"holes of the source", syncs([2]int64{100, 50}, [2]int64{110, 55}), 108, headers{dense(100, 50, 6), false}, "[53,55]"},
		{"markers alone, counted from both sides", syncs([2]int64{100, 50}, [2]int64{104, 60}), 102, headers{log{{100, 50}, {101, 52}, {102, 55}, {103, 57}, {104, 60}}, true}, "[55,55]"},
		{"past the last sync", syncs([2]int64{100, 50}), 102, headers{dense(100, 50, 11), false}, "[51,52] open"},
		{"past the last sync, not mirrored yet", syncs([2]int64{100, 50}), 200, headers{dense(100, 50, 3), false}, "[51,70] open"},
		{"past the last sync, only markers after it", syncs([2]int64{100, 50}), 102, headers{dense(100, 50, 1), true}, "[51,51] open"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, ok := Locate(tc.syncs, tc.u, Ends{Source: 300, Target: 70})
			if !ok {
				t.Fatal("no bound")
			}
			b, sure, err := b.Counted(tc.u, tc.h)
			if err != nil {
				t.Fatal(err)
			}
			got := words(b, true)
			if !sure {
				got += " refused"
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

type broken struct{ after int }

var errCount = errors.New("no answer")

func (b *broken) Count(from, to int64) (int64, error) {
	if b.after--; b.after < 0 {
		return 0, errCount
	}
	return (to - from) / 2, nil
}
func (b *broken) Plain(from, to int64) (bool, error) { return false, nil }

// TestCountedFails: a count that fails leaves the bound as it was, with the error.
func TestCountedFails(t *testing.T) {
	b, _ := Locate(syncs([2]int64{100, 50}, [2]int64{200, 150}), 160, Ends{Source: 300, Target: 300})
	for after := range 6 {
		got, ok, err := b.Counted(160, &broken{after})
		if !errors.Is(err, errCount) || ok || got != b {
			t.Errorf("after %d counts: %s %v %v", after, words(got, true), ok, err)
		}
	}
}
