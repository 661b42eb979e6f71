package match

import "testing"

// TestCountTogether: counts of many positions, whose stretches overlap and lie apart, are what each gives alone.
func TestCountTogether(t *testing.T) {
	for seed := range uint64(200) {
		g := newDraw(seed)
		w := drawWorld(g, life{crash: seed%2 == 1, keep: anySyncs})
		m := New(&w.src, &w.dst, w.syncs, Options{})
		for range 30 {
			at, o := g.between64(-5, w.dst.bounds.End+5), g.between64(-5, w.dst.bounds.End+5)
			got, err := m.Count(Answer{T: at}, []int64{o})
			if err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for _, r := range w.dst.rs {
				if committed(r) && r.Offset >= min(at, o) && r.Offset < max(at, o) && r.Offset >= w.dst.bounds.Start {
					n++
				}
			}
			want := Count{Offset: o, ReRead: n, Known: true}
			if o >= at {
				want = Count{Offset: o, Skipped: n, Known: true}
			}
			if got[0] != want {
				t.Fatalf("seed %d: from %d to %d: %+v, want %+v", seed, o, at, got[0], want)
			}
		}
	}
}

// TestCountReadsOnce: the positions of a partition share what is counted, and the budget holds for what each has to read.
func TestCountReadsOnce(t *testing.T) {
	w := &world{}
	for i := range int64(1000) {
		w.dst.rs = append(w.dst.rs, Record{Offset: i})
	}
	w.dst.page, w.dst.bounds = 100, Bounds{Stable: 1000, End: 1000}
	m := New(&w.src, &w.dst, nil, Options{Most: 400})
	for _, c := range []struct {
		at, o int64
		known bool
		read  int
	}{{300, 0, true, 300}, {350, 100, true, 50}, {349, 1, true, 0}, {1000, 350, false, 400}, {500, 400, true, 100}} {
		got, err := m.Count(Answer{T: c.at}, []int64{c.o})
		if err != nil || got[0].Known != c.known || got[0].ReRead != c.at-c.o || m.spent != c.read {
			t.Errorf("%d to %d: %+v, %d read, %v; want %+v", c.o, c.at, got[0], m.spent, err, c)
		}
	}
}
