package ranges

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/mm2doctor/mm2doctor/translate"
)

func syncs(pairs ...[2]int64) []translate.Sync {
	out := make([]translate.Sync, len(pairs))
	for i, p := range pairs {
		out[i] = translate.Sync{Upstream: p[0], Downstream: p[1], Offset: int64(i)}
	}
	return out
}

func index(ss []translate.Sync) *Index {
	x := &Index{}
	for _, s := range ss {
		x.Add(s)
	}
	return x
}

func words(b Bound, ok bool) string {
	if !ok {
		return "none"
	}
	got := fmt.Sprintf("[%d,%d]", b.Low, b.High)
	if b.Open {
		got += " open"
	}
	if b.Again {
		got += " again"
	}
	return got
}

func TestLocate(t *testing.T) {
	all := Ends{Source: 1 << 40, Target: 1 << 40}
	for _, tc := range []struct {
		name  string
		syncs []translate.Sync
		u     int64
		ends  Ends
		want  string
	}{
		{"nothing known", nil, 5, all, "none"},
		{"before the first", syncs([2]int64{10, 10}), 9, all, "none"},
		{"at a sync", syncs([2]int64{10, 7}, [2]int64{111, 108}), 111, all, "[108,108]"},
		{"inside a stretch of two", syncs([2]int64{10, 7}, [2]int64{111, 108}), 60, all, "[8,108]"},
		{"inside a stretch of many", syncs([2]int64{0, 0}, [2]int64{10, 10}, [2]int64{15, 15}, [2]int64{100, 100}, [2]int64{110, 110}), 12, all, "[11,15]; index [1,96]"},
		{"between shifts", syncs([2]int64{10, 7}, [2]int64{111, 112}), 60, all, "[8,112]"},
		{"one past a sync", syncs([2]int64{10, 7}, [2]int64{111, 112}), 11, all, "[8,112]"},
		{"neighbours", syncs([2]int64{10, 7}, [2]int64{11, 9}), 11, all, "[9,9]"},
		{"past the last", syncs([2]int64{10, 7}), 60, Ends{Source: 100, Target: 50}, "[8,50] open"},
		{"past the last, at its end", syncs([2]int64{10, 7}), 11, Ends{Source: 11, Target: 8}, "[8,8] open"},
		{"read again, gone further than before", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{200, 601}, [2]int64{400, 801}, [2]int64{501, 902}, [2]int64{800, 1201}), 300, all, "[602,801]; index [1,999] again"},
		{"read again, perhaps not as far as before", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{200, 601}, [2]int64{400, 801}, [2]int64{501, 902}, [2]int64{600, 1001}), 300, all, "[1,801] again; index [1,900] again"},
		{"read again, not as far as before", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{200, 601}, [2]int64{400, 801}), 300, all, "[1,801] again"},
		{"read again, not as far as before, past its end", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{200, 601}, [2]int64{400, 801}), 700, Ends{Source: 1000, Target: 900}, "[501,900] open again"},
		{"read again from before the oldest sync, not as far", syncs([2]int64{300, 0}, [2]int64{500, 200}, [2]int64{100, 301}, [2]int64{400, 601}), 250, all, "[0,601] again"},
		{"three copies, the first was overtaken by the second", syncs([2]int64{0, 0}, [2]int64{100, 100}, [2]int64{50, 101}, [2]int64{101, 152}, [2]int64{400, 451}, [2]int64{50, 452}), 60, Ends{Source: 1000, Target: 500}, "[102,500] open again"},
		{"the copy was made anew and has grown beyond the old one's end", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{501, 0}, [2]int64{2000, 1499}), 300, Ends{Source: 2001, Target: 1500}, "none"},
		{"what came before an epoch that cannot be is of an earlier topic too", syncs([2]int64{0, 0}, [2]int64{100, 100}, [2]int64{50, 5000}, [2]int64{600, 1}, [2]int64{700, 101}), 60, Ends{Source: 1000, Target: 200}, "none"},
		{"no end of the source: the old topic's copies count as further ones", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{0, 501}, [2]int64{5, 506}), 3, Ends{Source: -1, Target: 511}, "[1,506] again"},
		{"no end of the target", syncs([2]int64{10, 7}), 60, Ends{Source: 100, Target: -1}, "[8,9223372036854775807] open"},
		{"a position before the newest epoch", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{200, 601}), 100, all, "[1,500]"},
		{"the copy was made anew: the old epoch is beyond its end", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{600, 0}, [2]int64{700, 100}), 300, Ends{Source: 1000, Target: 200}, "none"},
		{"the source was made anew", syncs([2]int64{0, 0}, [2]int64{500, 500}, [2]int64{0, 501}), 0, Ends{Source: 10, Target: 511}, "[501,501]"},
		{"the same sync twice", syncs([2]int64{10, 7}, [2]int64{10, 7}, [2]int64{20, 17}), 15, all, "[8,17]"},
		{"a record copied twice begins an epoch", syncs([2]int64{10, 7}, [2]int64{10, 8}), 10, all, "[7,8] again"},
		{"a record copied twice, gone on", syncs([2]int64{10, 7}, [2]int64{10, 8}, [2]int64{11, 9}), 10, all, "[8,8]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want, inIndex, differs := strings.Cut(tc.want, "; index ") // an index merges stretches
			if !differs {
				inIndex = want
			}
			if got := words(Locate(tc.syncs, tc.u, tc.ends)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := words(index(tc.syncs).Locate(tc.u, tc.ends)); got != inIndex {
				t.Errorf("index: got %s, want %s", got, inIndex)
			}
		})
	}
}

func TestRangeIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Range{}); n > 32 {
		t.Errorf("a range takes %d bytes, more than 32", n)
	}
}

// BenchmarkLocate looks up in ten million ranges, the worst case of no two syncs of equal shift.
func BenchmarkLocate(b *testing.B) {
	x := &Index{}
	const n = 10_000_000
	for i := range int64(n) {
		x.Add(translate.Sync{Upstream: i * 101, Downstream: i * 102})
	}
	for i := 0; b.Loop(); i++ {
		if _, ok := x.Locate(int64(i)*7919%(n*101), Ends{Source: 1 << 60, Target: 1 << 60}); !ok {
			b.Fatal("not found")
		}
	}
	b.ReportMetric(float64(cap(x.epochs[0].ranges))*float64(unsafe.Sizeof(Range{}))/(1<<20), "MiB")
}
