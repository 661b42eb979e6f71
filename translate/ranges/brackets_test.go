package ranges

import (
	"runtime"
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// TestBracketsDropOldEpochs: a topic that begins again and again keeps the newest epochs only, and answers nothing where one that
// was given up may have gone further.
func TestBracketsDropOldEpochs(t *testing.T) {
	b := NewBrackets([]int64{5, 950})
	b.Add(translate.Sync{Upstream: 0, Downstream: 0})
	b.Add(translate.Sync{Upstream: 900, Downstream: 900})
	down := int64(950)
	for range mostEpochs {
		b.Add(translate.Sync{Upstream: 0, Downstream: down})
		b.Add(translate.Sync{Upstream: 10, Downstream: down + 10})
		down += 11
	}
	dropped, furthest := b.Dropped()
	if dropped != 1 || furthest != 998 || len(b.Syncs()) != 2*mostEpochs {
		t.Fatalf("%d epochs dropped, furthest %d, %d syncs kept", dropped, furthest, len(b.Syncs()))
	}
	ends := Ends{Source: 5000, Target: 5000}
	for _, u := range []int64{5, 950} {
		if got, ok := b.Locate(u, ends); ok {
			t.Errorf("%d: %s, though the dropped epoch went further", u, words(got, ok))
		}
	}
	b.Add(translate.Sync{Upstream: 998, Downstream: down + 1000})
	if got, ok := b.Locate(950, ends); ok {
		t.Errorf("%s, though the dropped epoch may have gone as far", words(got, ok))
	}
	b.Add(translate.Sync{Upstream: 1100, Downstream: down + 1102})
	if got := words(b.Locate(950, ends)); got != "[1654,2654]" {
		t.Errorf("gone further than the dropped epoch: %s", got)
	}
}

func TestBracketsAreFew(t *testing.T) {
	var positions []int64
	for i := range int64(100) {
		positions = append(positions, i*7919)
	}
	b := NewBrackets(positions)
	for i := range int64(1_000_000) {
		b.Add(translate.Sync{Upstream: i, Downstream: 2 * i}) // every pair a jump
	}
	if n := len(b.Syncs()); n < 1000 || n > 100*(nearBelow+nearAbove)+100 {
		t.Errorf("%d syncs kept for 100 positions", n)
	}
}

// BenchmarkBrackets streams ten million syncs past a thousand positions.
func BenchmarkBrackets(b *testing.B) {
	const n, asked = 10_000_000, 1000
	var positions []int64
	for i := range int64(asked) {
		positions = append(positions, i*(n*101/asked)+17)
	}
	var kept int
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := NewBrackets(positions)
		for i := range int64(n) {
			x.Add(translate.Sync{Upstream: i * 101, Downstream: i*101 + i/50, Offset: i})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		kept = len(x.Syncs())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sync")
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024, "KiB")
	b.ReportMetric(float64(kept), "kept")
}
