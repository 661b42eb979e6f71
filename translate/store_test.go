package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func steps(from, to, by int64) []Sync {
	var out []Sync
	for x := from; x <= to; x += by {
		out = append(out, Sync{Upstream: x, Downstream: x})
	}
	return out
}

func gaps(gs ...int64) []Sync {
	out := []Sync{{}}
	x := int64(0)
	for _, g := range gs {
		x += g
		out = append(out, Sync{Upstream: x, Downstream: x})
	}
	return out
}

// lcg gives 500 gaps of 100 or 200.
func lcg() []int64 {
	var out []int64
	x := uint64(12345)
	for range 500 {
		x = (1103515245*x + 12345) % (1 << 31)
		out = append(out, 100+100*int64(x>>16&1))
	}
	return out
}

func state(s *Store) string {
	var out []string
	for _, r := range s.Runs() {
		out = append(out, fmt.Sprint(r.Sync.Upstream))
	}
	return strings.Join(out, " ")
}

// all runs the generations that keep slots; G5 also as it is when the checkpoints could not be read.
var all = map[string]func() *Store{
	"G3":      func() *Store { return New(mm2.G3, Options{}) },
	"G4":      func() *Store { return New(mm2.G4, Options{}) },
	"G5":      func() *Store { return New(mm2.G5, Options{}) },
	"G5 must": func() *Store { return New(mm2.G5, Options{MustReadToEnd: true}) },
}

func TestStates(t *testing.T) {
	load, later := steps(0, 1000, 10), steps(1000, 10000, 10)
	for _, c := range []struct {
		what         string
		load, online []Sync
		want         map[string]string // "" is every other generation
	}{
		{"history", load, nil, map[string]string{"": "1000", "G5": "1000 990 960 900 840 720 480 0"}},
		{"history, then online", load, later, map[string]string{
			"": "10000 9990 9970 9940 9880 9640 9160 8680 6760 4840 1000", "G5": "10000 9990 9960 9900 9840 9600 9120 8640 7680 3840 0"}},
		{"every 101", nil, steps(0, 999900, 101), map[string]string{
			"": "999900 999799 999698 999496 998688 997072 995456 988992 982528 956672 930816 827392 620544 413696 0"}},
		{"every record", nil, steps(0, 20000, 1), map[string]string{
			"": "20000 19999 19998 19996 19992 19984 19968 19904 19840 19712 19456 18432 16384 12288 8192 0"}},
		{"a wide gap", nil, gaps(100, 100, 100, 100, 100, 200), map[string]string{"": "700 500 0", "G3": "700 0"}},
		{"one and two", nil, gaps(1, 2), map[string]string{"": "3 1 0", "G3": "3 0"}},
		{"irregular gaps", nil, gaps(lcg()...), map[string]string{
			"": "73500 73300 73000 72100 70400 68500 61700 54800 27300 0", "G3": "73500 73000 72600 71600 70100 66600 53400 26800 0"}},
		{"the target was recreated", nil, append(steps(0, 909, 101), []Sync{{Upstream: 999, Downstream: 999}, {Upstream: 1000}, {Upstream: 1019, Downstream: 19}}...),
			map[string]string{"": "1019 999 909 808 404 0", "G3": "1019 999 909 808 404 0"}},
	} {
		for gen, make := range all {
			want, ok := c.want[gen]
			if !ok {
				want = c.want[""]
			}
			s := make()
			for _, x := range c.load {
				s.Apply(x)
			}
			s.LoadingFinished()
			for _, x := range c.online {
				s.Apply(x)
			}
			if got := state(s); got != want {
				t.Errorf("%s, %s: %s, want %s", c.what, gen, got, want)
			}
		}
	}
}

func TestTranslations(t *testing.T) {
	s := New(mm2.G4, Options{})
	check := func(up, want int64, status Status) {
		t.Helper()
		if got := s.Translate(up); got.Offset != want || got.Status != status {
			t.Errorf("Translate(%d) = %+v, want %d, %s", up, got, want, status)
		}
	}
	check(5, -1, StillLoading)
	for _, x := range steps(0, 1000, 10) {
		if reset := s.Apply(x); reset != (x.Upstream > 0) {
			t.Errorf("sync %d while loading: reset %v", x.Upstream, reset)
		}
	}
	check(1000, -1, StillLoading)
	s.LoadingFinished()
	for _, x := range steps(1000, 10000, 10) {
		s.Apply(x)
	}
	for up, want := range map[int64]int64{1000: 1000, 4839: 1001, 4840: 4840, 4841: 4841, 9999: 9991, 10000: 10000, 10001: 10001, 999999: 10001} {
		check(up, want, Translated)
	}
	check(999, -1, SyncAhead)
	if reset := s.Apply(Sync{Upstream: 1500, Downstream: 11000}); !reset {
		t.Error("an upstream rewind resets")
	}
	check(1499, -1, SyncAhead)
	check(1500, 11000, Translated)
	check(2000, 11001, Translated)
}

func TestSingleSteps(t *testing.T) {
	for gen, make := range all {
		s := make()
		if got := s.Translate(1); got.Status != StillLoading {
			t.Errorf("%s: %+v", gen, got)
		}
		s.LoadingFinished()
		if got := s.Translate(1); got.Status != NoSync || got.Known() {
			t.Errorf("%s: %+v", gen, got)
		}
		for _, c := range []struct {
			sync     Sync
			up, want int64
		}{
			{Sync{Upstream: 100, Downstream: 200}, 150, 201},
			{Sync{Upstream: 150, Downstream: 251}, 150, 251},
			{Sync{Upstream: 150, Downstream: 251}, 5, -1},
			{Sync{Upstream: 200, Downstream: 10}, 200, 10},
			{Sync{Upstream: 20, Downstream: 20}, 20, 20},
		} {
			s.Apply(c.sync)
			if got := s.Translate(c.up); got.Offset != c.want || got.Known() != (c.want >= 0) {
				t.Errorf("%s: after %v, Translate(%d) = %+v, want %d", gen, c.sync, c.up, got, c.want)
			}
		}
	}
}

func TestNewestOnly(t *testing.T) {
	for gen, none := range map[mm2.Generation]Result{mm2.G1: {Status: Copied, Offset: 77}, mm2.G2: {Status: NoSync, Offset: -1}} {
		s := New(gen, Options{})
		if got := s.Translate(77); got != none || s.Runs() != nil {
			t.Errorf("%s without sync: %+v", gen, got)
		}
		s.Apply(Sync{Upstream: 100, Downstream: 90})
		s.Apply(Sync{Upstream: 50, Downstream: 200, Offset: 7})
		for up, want := range map[int64]int64{50: 200, 60: 210, 1050: 1200} {
			if got := s.Translate(up); got.Offset != want || got.Status != Translated || got.Sync.Offset != 7 {
				t.Errorf("%s: Translate(%d) = %+v, want %d", gen, up, got, want)
			}
		}
		if got := s.Translate(49); got.Status != SyncAhead || got.Offset != -1 || got.Known() {
			t.Errorf("%s: %+v", gen, got)
		}
		if len(s.Runs()) != 1 {
			t.Errorf("%s: runs %v", gen, s.Runs())
		}
	}
}

// A downstream rewind alone does not reset: U=1010 still goes to 1000, beyond the new end (seen on 3.9.1).
func TestTargetRecreated(t *testing.T) {
	s := New(mm2.G5, Options{})
	s.LoadingFinished()
	for _, x := range append(steps(0, 909, 101), []Sync{{Upstream: 999, Downstream: 999}, {Upstream: 1000}, {Upstream: 1019, Downstream: 19}}...) {
		if s.Apply(x) {
			t.Errorf("sync %v reset the store", x)
		}
	}
	if got := s.Translate(1010); got.Offset != 1000 || got.Sync.Upstream != 999 {
		t.Errorf("%+v", got)
	}
}

func TestFromSlots(t *testing.T) {
	for k, gen := range map[Keeping]mm2.Generation{Greedy: mm2.G3, TwoPointer: mm2.G5} {
		slots := NewSlots(k)
		s := New(gen, Options{})
		s.LoadingFinished()
		for _, x := range gaps(lcg()...) {
			slots.Apply(x)
			s.Apply(x)
		}
		again, ok := SlotsFromRuns(k, slots.Runs())
		if !ok {
			t.Fatalf("%v: own runs were refused", k)
		}
		r := FromSlots(gen, again)
		for up := int64(-1); up < 80000; up += 37 {
			if r.Translate(up) != s.Translate(up) {
				t.Fatalf("%s: Translate(%d) = %+v, want %+v", gen, up, r.Translate(up), s.Translate(up))
			}
		}
		r.Apply(Sync{Upstream: 90000})
		s.Apply(Sync{Upstream: 90000})
		if state(r) != state(s) {
			t.Errorf("%s: %s, want %s", gen, state(r), state(s))
		}
		if g1 := FromSlots(mm2.G1, slots).Translate(73501); g1.Offset != 73501 || g1.Sync.Upstream != 73500 {
			t.Errorf("newest only: %+v", g1)
		}
	}
	for _, bad := range [][]Run{
		{{Slot: 1}}, {{Slot: 0}, {Slot: 0}}, {{Slot: 0}, {Slot: 64}}, {{Slot: 0}, {Slot: 2, Sync: Sync{Upstream: 1}}}, {{Slot: -1}},
	} {
		if _, ok := SlotsFromRuns(Greedy, bad); ok {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestRestarted(t *testing.T) {
	slots := NewSlots(TwoPointer)
	for _, x := range steps(0, 1000, 10) {
		slots.Apply(x)
	}
	for _, c := range []struct {
		gen  mm2.Generation
		o    Options
		want string
	}{
		{mm2.G1, Options{}, "1000"}, {mm2.G2, Options{}, "1000"}, {mm2.G4, Options{}, "1000"},
		{mm2.G5, Options{MustReadToEnd: true}, "1000"}, {mm2.G5, Options{}, "1000 990 960 900 840 720 480 0"},
	} {
		s := Restarted(c.gen, slots, c.o)
		if got := state(s); got != c.want || s.Translate(1001).Offset != 1001 {
			t.Errorf("%s %+v: %s, want %s; %+v", c.gen, c.o, got, c.want, s.Translate(1001))
		}
	}
	if state(FromSlots(mm2.G5, slots)) != "1000 990 960 900 840 720 480 0" {
		t.Error("the slots given were changed")
	}
	if r := Restarted(mm2.G4, NewSlots(TwoPointer), Options{}).Translate(5); r.Status != NoSync {
		t.Errorf("%+v", r)
	}
}

func TestSlotAt(t *testing.T) {
	s := NewSlots(TwoPointer)
	if _, ok := s.At(0); ok {
		t.Error("an empty store has no sync")
	}
	for _, x := range gaps(1, 2) {
		s.Apply(x)
	}
	for slot, want := range map[int]int64{0: 3, 1: 3, 2: 1, 63: 0} {
		if got, ok := s.At(slot); !ok || got.Upstream != want {
			t.Errorf("slot %d: %+v %v, want %d", slot, got, ok, want)
		}
	}
	if _, ok := s.At(64); ok {
		t.Error("there is no slot 64")
	}
}

func BenchmarkApply(b *testing.B) {
	for name, k := range map[string]Keeping{"greedy": Greedy, "two-pointer": TwoPointer} {
		b.Run(name, func(b *testing.B) {
			s := NewSlots(k)
			b.ReportAllocs()
			for i := range b.N {
				s.Apply(Sync{Upstream: int64(i) * 101, Downstream: int64(i) * 101})
			}
		})
	}
}
