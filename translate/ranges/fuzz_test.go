package ranges

import (
	"encoding/binary"
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// FuzzBrackets: any numbers, the greatest too: no panic, and the kept syncs answer as all do.
func FuzzBrackets(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), int64(5), int64(1000), int64(2000))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 127}, int64(0), int64(-1), int64(-1))
	f.Fuzz(func(t *testing.T, data []byte, u, source, target int64) {
		var all []translate.Sync
		b, x := NewBrackets([]int64{u, u / 2}), &Index{}
		for len(data) >= 16 && len(all) < 400 {
			s := translate.Sync{Upstream: int64(binary.LittleEndian.Uint64(data)), Downstream: int64(binary.LittleEndian.Uint64(data[8:])), Offset: int64(len(all))}
			data = data[16:]
			all = append(all, s)
			b.Add(s)
			x.Add(s)
		}
		x.Locate(u, Ends{source, target})
		for x.Thin() {
		}
		x.DropOldest()
		x.Locate(u, Ends{source, target})
		if d, _ := b.Dropped(); d > 0 {
			return
		}
		want, wok := Locate(all, u, Ends{source, target})
		got, ok := b.Locate(u, Ends{source, target})
		if describe(want, wok) != describe(got, ok) {
			t.Errorf("all say %s, the kept say %s", describe(want, wok), describe(got, ok))
		}
	})
}
