package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
	"pgregory.net/rapid"
)

type failer interface {
	Helper()
	Fatal(...any)
}

// fold reads syncs as a capture does.
func fold(t failer, syncs []translate.Sync, keep bool) *snapshot.PartitionSyncs {
	t.Helper()
	f := collect.NewSyncFold("a", &snapshot.Flow{})
	if keep {
		f.KeepRanges()
	}
	for _, s := range syncs {
		k, v, err := formatters.EncodeOffsetSync(mm2.OffsetSync{Topic: "orders", Upstream: s.Upstream, Downstream: s.Downstream})
		if err != nil {
			t.Fatal(err)
		}
		f.Add(&kafka.Record{Key: k, Value: v, Offset: s.Offset})
	}
	got := f.Result(0, int64(len(syncs)))
	if len(got.Partitions) != 1 {
		t.Fatal("no partition")
	}
	return &got.Partitions[0]
}

func syncs(pairs ...[2]int64) (out []translate.Sync) {
	for i, p := range pairs {
		out = append(out, translate.Sync{Upstream: p[0], Downstream: p[1], Offset: int64(i)})
	}
	return out
}

func TestRangeOf(t *testing.T) {
	once := syncs([2]int64{0, 0}, [2]int64{100, 90}, [2]int64{200, 190}, [2]int64{300, 290})
	twice := append(once, syncs([2]int64{150, 300}, [2]int64{301, 451}, [2]int64{400, 550}, [2]int64{500, 650})...)
	thrice := append(twice[:len(twice):len(twice)], syncs([2]int64{450, 700}, [2]int64{501, 760}, [2]int64{900, 1200})...)
	anew := append(twice[:len(twice):len(twice)], syncs([2]int64{501, 0}, [2]int64{900, 399})...)
	twice, thrice, anew = renumber(twice), renumber(thrice), renumber(anew)
	for _, tc := range []struct {
		name       string
		syncs      []translate.Sync
		u          int64
		ends       ranges.Ends
		fold, full string // bound, or part of the reason
	}{
		{"copied once", once, 150, ranges.Ends{Source: 1000, Target: 1000}, "1-190", "91-239"},
		{"before everything", once[1:], 50, ranges.Ends{Source: 1000, Target: 1000}, "no offset sync", "no offset sync"},
		{"copied twice, gone further", twice, 160, ranges.Ends{Source: 1000, Target: 2000}, "301-550", "301-460"},
		{"copied twice, before the second", twice, 120, ranges.Ends{Source: 1000, Target: 2000}, "1-290", "91-209"},
		{"copied three times", thrice, 600, ranges.Ends{Source: 1000, Target: 2000}, "fell back 2 times", "761-1200"},
		{"made anew after two copies", anew, 600, ranges.Ends{Source: 1000, Target: 700}, "1-399", "1-399"},
		{"made anew where one record had been", syncs([2]int64{68, 0}, [2]int64{70, 0}, [2]int64{71, 1}, [2]int64{73, 2}), 70, ranges.Ends{Source: 100, Target: 100}, "0-0", "0-0"},
		{"the same record again, the first copy went further", syncs([2]int64{6, 0}, [2]int64{6, 50}, [2]int64{7, 51}), 8, ranges.Ends{Source: 100, Target: 52}, "1-52", "1-52"},
		{"made anew, a position of the old copy", anew, 300, ranges.Ends{Source: 1000, Target: 700}, "", "no offset sync"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, keep := range []bool{false, true} {
				want := map[bool]string{false: tc.fold, true: tc.full}[keep]
				r, why := RangeOf(fold(t, tc.syncs, keep), tc.u, tc.ends)
				got := why
				if r != nil {
					got = fmt.Sprintf("%d-%d", r.Low, r.High)
				}
				if want == "" && r != nil || !strings.Contains(got, want) {
					t.Errorf("ranges %v: %s, want %s", keep, got, want)
				}
			}
		})
	}
}

func renumber(ss []translate.Sync) (out []translate.Sync) {
	for i, s := range ss {
		s.Offset = int64(i)
		out = append(out, s)
	}
	return out
}

// TestKeptIsNeverAbove: whatever a snapshot keeps, its bound is no narrower than what all syncs say, and absent where they say
// nothing.
func TestKeptIsNeverAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []translate.Sync
		down := int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "copies") {
			up := rapid.Int64Range(0, 300).Draw(t, "from")
			if rapid.IntRange(0, 9).Draw(t, "made anew") == 0 {
				down = 0
			}
			for range rapid.IntRange(1, 80).Draw(t, "syncs") {
				all = append(all, translate.Sync{Upstream: up, Downstream: down, Offset: int64(len(all))})
				up += rapid.Int64Range(1, 12).Draw(t, "step")
				down += rapid.Int64Range(1, 12).Draw(t, "step down")
			}
		}
		ends := ranges.Ends{Source: rapid.Int64Range(100, 2000).Draw(t, "source end"), Target: rapid.Int64Range(100, 4000).Draw(t, "target end")}
		for _, keep := range []bool{false, true} {
			ps := fold(t, all, keep)
			l, why := Kept(ps)
			if l == nil {
				t.Fatal(why)
			}
			for u := int64(0); u < 1200; u += 7 {
				got, ok := l.Locate(u, ends)
				if !ok {
					continue
				}
				want, wok := ranges.Locate(all, u, ends)
				if !wok || got.Low > want.Low || got.High < want.High {
					t.Fatalf("ranges %v, %d: [%d,%d], all say [%d,%d] %v\n%v", keep, u, got.Low, got.High, want.Low, want.High, wok, all)
				}
			}
		}
	})
}

// FuzzKept: no snapshot makes it panic.
func FuzzKept(f *testing.F) {
	f.Add("0,0,100,50 200,190,0,0", int64(2), int64(1), int64(150), int64(7))
	f.Add("", int64(1), int64(0), int64(0), int64(-1))
	f.Fuzz(func(t *testing.T, text string, count, rewinds, u, end int64) {
		ps := &snapshot.PartitionSyncs{Count: count, Rewinds: rewinds, Newest: snapshot.Sync{Up: u, Down: end, Offset: count}, Greedy: []snapshot.Run{{Sync: snapshot.Sync{Up: end, Down: u, Offset: rewinds}}}}
		if rewinds%2 == 0 {
			ps.LastRewind = &snapshot.Rewind{Before: ps.Oldest, After: ps.Newest}
		}
		var e snapshot.Epoch
		if e.UnmarshalText([]byte(text)) == nil && text != "" {
			ps.Epochs = []snapshot.Epoch{e}
		}
		if r, why := RangeOf(ps, u, ranges.Ends{Source: end, Target: end}); (r == nil) == (why == "") || r != nil && r.Low > r.High {
			t.Errorf("%+v %q", r, why)
		}
	})
}
