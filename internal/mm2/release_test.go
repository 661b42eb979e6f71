package mm2

import (
	"slices"
	"testing"
)

func TestParseVersion(t *testing.T) {
	for in, want := range map[string]Version{
		"3.9.1": V(3, 9, 1), "v2.4.0": V(2, 4, 0), "3.10.0": V(3, 10, 0), "4.1": V(4, 1, 0), " 3.5.2 ": V(3, 5, 2),
		"3.9.1-ccs": {3, 9, 1, "ccs"}, "3.7.0.redhat-00007": {3, 7, 0, "redhat-00007"}, "3.6-IV2": {3, 6, 0, "IV2"},
		"3.1.1.7.2.17": {3, 1, 1, "7.2.17"}, "2.8.tiered": {2, 8, 0, "tiered"},
	} {
		got, err := ParseVersion(in)
		if err != nil || got != want {
			t.Errorf("ParseVersion(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "3", "v", "3.", "three.nine", "3.9.1x", "3.9.1-", "-3.9.1", "3..9", "3.9999999.1", "latest"} {
		if got, err := ParseVersion(in); err == nil {
			t.Errorf("ParseVersion(%q) = %+v, want an error", in, got)
		}
	}
}

func TestVersionsCompareByNumber(t *testing.T) {
	if V(3, 10, 0).Compare(V(3, 9, 2)) <= 0 || V(3, 9, 0).Compare(V(3, 9, 0)) != 0 || !V(2, 8, 2).Before(3, 0, 0) {
		t.Error("versions do not compare by number")
	}
	if (Version{3, 9, 1, "ccs"}).Compare(V(3, 9, 1)) != 0 {
		t.Error("a suffix must not count")
	}
}

func TestReleasesAndGenerations(t *testing.T) {
	all := Releases()
	if len(all) != 54 || !slices.IsSortedFunc(all, Version.Compare) {
		t.Fatalf("%d releases, sorted %v", len(all), slices.IsSortedFunc(all, Version.Compare))
	}
	count := map[Generation]int{}
	emit := map[Emission]int{}
	for _, v := range all {
		count[v.Generation()]++
		emit[v.Emission()]++
		if !v.Exists() || v.WasNeverReleased() {
			t.Errorf("%s exists", v)
		}
	}
	want := map[Generation]int{G1: 24, G2: 4, G3: 3, G4: 5, G5: 18}
	for g, n := range want {
		if count[g] != n {
			t.Errorf("%s: %d releases, want %d", g, count[g], n)
		}
	}
	if emit[E1] != 28 || emit[E2] != 7 || emit[E3] != 19 {
		t.Errorf("emissions %v", emit)
	}
	for _, v := range NeverReleased() {
		if v.Exists() || !v.WasNeverReleased() {
			t.Errorf("%s was never released", v)
		}
	}
	for v, g := range map[Version]Generation{
		V(2, 3, 1): 0, V(2, 4, 0): G1, V(3, 2, 3): G1, V(3, 3, 0): G2, V(3, 4, 0): G2, V(3, 4, 1): G3, V(3, 5, 1): G3,
		V(3, 5, 2): G4, V(3, 6, 2): G4, V(3, 7, 0): G4, V(3, 7, 1): G5, V(4, 4, 0): G5, {}: 0,
	} {
		if v.Generation() != g {
			t.Errorf("%s: %s, want %s", v, v.Generation(), g)
		}
	}
	if V(3, 4, 0).Emission() != E1 || V(3, 4, 1).Emission() != E2 || V(3, 6, 2).Emission() != E2 || V(3, 7, 0).Emission() != E3 {
		t.Error("emission boundaries")
	}
}

func TestSetsAndRanges(t *testing.T) {
	s := SetOf(G3, G5)
	if !s.Has(G3) || s.Has(G4) || s.String() != "G3, G5" || AllGenerations != Between(G1, G5) || Generations(0).String() != "none" {
		t.Errorf("set %s", s)
	}
	if g, ok := SetOf(G4).Only(); !ok || g != G4 {
		t.Error("a set of one")
	}
	if _, ok := s.Only(); ok {
		t.Error("a set of two")
	}
	r := Range{V(3, 4, 1), V(3, 7, 0)}
	if r.Generations() != SetOf(G3, G4) || !r.Contains(V(3, 5, 0)) || r.Contains(V(3, 7, 1)) || r.String() != "3.4.1 - 3.7.0" {
		t.Errorf("range %s: %s", r, r.Generations())
	}
	if (Range{}).Generations() != AllGenerations || (Range{From: V(3, 7, 1)}).Generations() != SetOf(G5) || (Range{To: V(2, 3, 0)}).Generations() != 0 {
		t.Error("open ranges")
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"3.9.1", "4.1", "3.7.0.redhat-1", "x", "3.9.1-ccs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseVersion(s)
		if err != nil {
			return
		}
		again, err := ParseVersion(v.String())
		if err != nil || again != v {
			t.Errorf("%q gave %+v, printed as %q, read as %+v, %v", s, v, v.String(), again, err)
		}
	})
}
