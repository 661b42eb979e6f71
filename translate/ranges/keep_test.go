package ranges

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func kept(x *Index) (out [][]Range) {
	for i := range x.epochs {
		out = append(out, slices.Clone(x.epochs[i].Ranges()))
	}
	return out
}

// TestKept: an index comes back from its ranges and bounds as before; thinned out it bounds wider and is still true; without its
// oldest epochs it knows less and says nothing else.
func TestKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := draw(t)
		x := index(h.syncs)
		size := 0
		for i := range x.epochs {
			size += epochSize + len(x.epochs[i].ranges) - 1
		}
		if x.Size() != size {
			t.Fatalf("size %d, counted %d", x.Size(), size)
		}
		ends := Ends{Source: h.source[len(h.source)-1] + 1, Target: h.end}
		back := remade(t, x)
		thin := remade(t, x)
		for range rapid.IntRange(0, 3).Draw(t, "thinned") {
			thin.Thin()
		}
		thin = remade(t, thin)
		short := remade(t, x)
		for range rapid.IntRange(1, 2).Draw(t, "dropped") {
			short.DropOldest()
		}
		short = remade(t, short)
		for _, u := range append(h.source, ends.Source) {
			want, wok := x.Locate(u, ends)
			if got, ok := back.Locate(u, ends); words(got, ok) != words(want, wok) {
				t.Fatalf("%d: %s, made again %s", u, words(want, wok), words(got, ok))
			}
			truth, known := h.truth(u)
			if got, ok := thin.Locate(u, ends); ok != known || ok && (truth < got.Low || truth > got.High || got.Low > want.Low || got.High < want.High) {
				t.Fatalf("%d: thinned %s, whole %s, truth %d", u, words(got, ok), words(want, wok), truth)
			}
			if got, ok := short.Locate(u, ends); ok && got.Low > truth {
				t.Fatalf("%d: without the oldest %s, truth %d", u, words(got, ok), truth)
			}
		}
	})
}

func remade(t *rapid.T, x *Index) *Index {
	out, err := FromRanges(kept(x), x.Lost())
	if err != nil {
		t.Fatalf("%v\n%v", err, kept(x))
	}
	if out.Size() != x.Size() {
		t.Fatalf("size %d, made again %d", x.Size(), out.Size())
	}
	return out
}

func TestFromRangesRefuses(t *testing.T) {
	const most = 1<<63 - 1
	for name, epochs := range map[string][][]Range{
		"empty epoch":      {{}},
		"negative":         {{{Up: -1}}},
		"span beyond":      {{{Up: most, Span: 1, Gap: 1}}},
		"gap above span":   {{{Span: 5, Gap: 6}}},
		"gap without span": {{{Gap: 1}}},
		"falls":            {{{Up: 5, Down: 5}, {Up: 4, Down: 6}}},
		"same again":       {{{Up: 5, Down: 5}}, {{Up: 5, Down: 5}}},
		"no new epoch":     {{{Up: 5, Down: 5}}, {{Up: 6, Down: 6}}},
	} {
		if _, err := FromRanges(epochs, Lost{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := FromRanges(nil, Lost{Epochs: -1}); err == nil {
		t.Error("fewer than no epochs: accepted")
	}
}
