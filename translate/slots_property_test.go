package translate

import (
	"fmt"
	"math"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"pgregory.net/rapid"
)

// plain is the store as MirrorMaker 2 has it: 64 references. Two slots hold the same sync when the pointers are equal.
type plain struct {
	keeping Keeping
	slots   [slotCount]*Sync
}

func plainNear(x, y *Sync, i, j int) bool {
	bound := y.Upstream + int64(uint64(1)<<j) - int64(uint64(1)<<i)
	return x == y || bound < 0 || x.Upstream <= bound
}

func plainApart(x, y *Sync, i int) bool {
	bound := y.Upstream + int64(uint64(1)<<max(i-2, 0))
	return x == y || bound >= 0 && x.Upstream >= bound
}

func (p *plain) apply(s Sync) {
	n := &s
	old := p.slots
	if old[0] == nil || n.Upstream < old[0].Upstream {
		for i := range p.slots {
			p.slots[i] = n
		}
		return
	}
	a := old
	a[0] = n
	fill := n
	r := 0
	cand := old[0]
	for c := 1; c < slotCount; c++ {
		fits := func(x *Sync) bool {
			return plainNear(a[c-1], x, c-1, c) && plainApart(a[c-1], x, c-1) && (c == 63 || plainApart(x, a[c+1], c))
		}
		if p.keeping == TwoPointer {
			for {
				x := old[r]
				ok := fits(x)
				if ok {
					fill = x
				}
				skip := r+1 < slotCount && x == old[r+1] || !plainApart(a[c-1], x, c-1)
				if ok || skip {
					r++
				}
				if r >= c || !skip {
					break
				}
			}
		} else if fits(cand) {
			fill = cand
		}
		if plainNear(a[c-1], a[c], c-1, c) {
			break
		}
		cand = a[c]
		a[c] = fill
	}
	p.slots = a
}

func (p *plain) runs() []Run {
	var out []Run
	for i, s := range p.slots {
		if s != nil && (i == 0 || s != p.slots[i-1]) {
			out = append(out, Run{i, *s})
		}
	}
	return out
}

// history draws syncs of every temper: dense, sparse, equal, rewinding, near the ends of 64 bits.
func history(t *rapid.T) []Sync {
	n := rapid.IntRange(1, 400).Draw(t, "n")
	wide := rapid.SampledFrom([]int64{1, 3, 101, 5000, 1 << 40}).Draw(t, "wide")
	up := rapid.SampledFrom([]int64{0, 137, 1 << 50, math.MaxInt64 - 1<<42}).Draw(t, "from")
	rewinds := rapid.IntRange(0, 40).Draw(t, "rewinds")
	out := make([]Sync, 0, n)
	for i := range n {
		step := rapid.Int64Range(0, wide).Draw(t, "step")
		if rapid.IntRange(0, 999).Draw(t, "dice") < rewinds {
			step = -rapid.Int64Range(0, min(up, 1000)).Draw(t, "back")
		}
		if up > math.MaxInt64-max(step, 0) {
			step = 0
		}
		up += step
		out = append(out, Sync{Upstream: up, Downstream: up / 2, Offset: int64(i)})
	}
	return out
}

func TestSlotsAreMirrorMakers(t *testing.T) {
	for _, k := range []Keeping{Greedy, TwoPointer} {
		t.Run(fmt.Sprint(k), rapid.MakeCheck(func(t *rapid.T) {
			s, p := NewSlots(k), plain{keeping: k}
			oldest, strict := int64(0), true
			for _, x := range history(t) {
				if newest, ok := s.Newest(); ok && newest.Upstream == x.Upstream || x.Upstream > 1<<61 {
					strict = false
				}
				first := s.Empty()
				if s.Apply(x) || first {
					oldest = x.Offset
				}
				p.apply(x)
				got, want := s.Runs(), p.runs()
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("after %v: %v, want %v", x, got, want)
				}
				if got[0].Sync != x {
					t.Fatalf("A: slot 0 holds %v, not the newest %v", got[0], x)
				}
				if last := got[len(got)-1].Sync; last.Offset != oldest {
					t.Fatalf("D: slot 63 holds %v, not the sync since the last reset (%d)", last, oldest)
				}
				again, ok := SlotsFromRuns(k, got)
				if !ok || fmt.Sprint(again.Runs()) != fmt.Sprint(got) {
					t.Fatalf("runs %v do not come back", got)
				}
			}
			// B and C are promised for offsets that ascend strictly and whose bounds fit in 64 bits.
			if !strict {
				return
			}
			for i := range slotCount {
				for j := i + 1; j < slotCount; j++ {
					x, y := p.slots[i], p.slots[j]
					if !plainNear(x, y, i, j) || !plainApart(x, y, i) {
						t.Fatalf("B, C: slots %d and %d hold %v and %v", i, j, *x, *y)
					}
				}
			}
		}))
	}
}

func TestTranslationNeverDescends(t *testing.T) {
	for _, k := range []Keeping{Greedy, TwoPointer} {
		t.Run(fmt.Sprint(k), rapid.MakeCheck(func(t *rapid.T) {
			s := NewSlots(k)
			down := int64(0)
			up := rapid.Int64Range(0, 1000).Draw(t, "from")
			for range rapid.IntRange(1, 200).Draw(t, "n") {
				up += rapid.Int64Range(1, 300).Draw(t, "up")
				down += rapid.Int64Range(1, 300).Draw(t, "down")
				s.Apply(Sync{Upstream: up, Downstream: down})
			}
			store := FromSlots(map[Keeping]mm2.Generation{Greedy: mm2.G3, TwoPointer: mm2.G5}[k], s)
			last := int64(-1)
			for u := int64(0); u < up+300; u += rapid.Int64Range(1, 200).Draw(t, "u") {
				r := store.Translate(u)
				if r.Offset < last || r.Offset > down+1 {
					t.Fatalf("Translate(%d) = %+v after %d, newest %d", u, r, last, down)
				}
				if r.Known() == (r.Status == SyncAhead) || r.Known() && r.Sync.Upstream > u {
					t.Fatalf("Translate(%d) = %+v", u, r)
				}
				last = r.Offset
			}
		}))
	}
}

func FuzzSlots(f *testing.F) {
	f.Add([]byte{1, 0, 200, 3, 3, 3, 128, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		for _, k := range []Keeping{Greedy, TwoPointer} {
			s, p := NewSlots(k), plain{keeping: k}
			up := int64(0)
			for _, b := range steps {
				up += int64(int8(b)) + 64 // mostly forward, from -64 to 191
				s.Apply(Sync{Upstream: up})
				p.apply(Sync{Upstream: up})
			}
			if fmt.Sprint(s.Runs()) != fmt.Sprint(p.runs()) {
				t.Fatalf("%v, want %v", s.Runs(), p.runs())
			}
		}
	})
}
