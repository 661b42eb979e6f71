package match

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// near is a partition of 5,000 records with a sync each hundred, and a lag of 100.
func nearSyncs() (src, dst *mem, syncs []translate.Sync) {
	src = &mem{page: 500, bounds: Bounds{0, 5000, 5000}}
	dst = &mem{page: 500, bounds: Bounds{0, 4900, 4900}}
	for i := range int64(5000) {
		r := plain(i)
		r.Offset = i
		src.rs = append(src.rs, r)
		if i < 4900 {
			dst.rs = append(dst.rs, r)
		}
		if i%100 == 0 && i < 4900 {
			syncs = append(syncs, translate.Sync{Upstream: i, Downstream: i})
		}
	}
	return src, dst, syncs
}

// BenchmarkLocate is one position of one partition, near a sync.
func BenchmarkLocate(b *testing.B) {
	src, dst, syncs := nearSyncs()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		u := int64(i*37) % 4900
		a, err := New(src, dst, syncs, Options{Isolation: Uncommitted}).Locate(u)
		if err != nil || a.T != u || a.Verdict != Exact {
			b.Fatal(u, a, err)
		}
	}
}

// BenchmarkPartition is 1,000 positions of one partition, in ascending order; one operation is all of them.
func BenchmarkPartition(b *testing.B) {
	src, dst, syncs := nearSyncs()
	b.ReportAllocs()
	for b.Loop() {
		m := New(src, dst, syncs, Options{})
		for i := range int64(1000) {
			u := i * 49 / 10
			a, err := m.Locate(u)
			if err != nil || a.T != u || a.Verdict != Exact {
				b.Fatal(u, a, err)
			}
		}
	}
}

// BenchmarkFar is one position in a topic of a million records of which only the first sync is left.
func BenchmarkFar(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		src, dst := published(plain, nil, nil, false)
		a, err := New(madeTimed{src}, madeTimed{dst}, []translate.Sync{{Upstream: 100_000}}, Options{}).Locate(600_000)
		if err != nil || a.T != 500_000 || a.Verdict != Exact {
			b.Fatal(a, err)
		}
	}
}
