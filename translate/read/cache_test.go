package read

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// disk is a log in memory: batches with holes in and between them, read as a broker reads.
type disk struct {
	batches []disk1
	end     int64
	asked   map[[2]int64]int
	fetches int
	err     error
}

type disk1 struct {
	base, last int64
	bytes      int
	recs       []match.Record
}

func (d *disk) page(_ context.Context, _ kafka.TopicPartition, from int64, size int, committed bool) (*page, error) {
	if d.err != nil {
		return nil, d.err
	}
	d.fetches++
	p := &page{from: from, next: from, size: size}
	for _, b := range d.batches {
		if b.last < from {
			continue
		}
		if p.next > from && int(p.bytes)+b.bytes > size {
			break
		}
		if p.bytes == 0 {
			p.from = min(from, b.base)
		}
		p.recs = append(p.recs, b.recs...)
		p.bytes += int64(b.bytes)
		p.next = b.last + 1
	}
	if p.next == from {
		p.next = d.end
	}
	if d.asked != nil {
		d.asked[[2]int64{from, int64(size)}]++
	}
	return p, nil
}

func (d *disk) all() []match.Record {
	var out []match.Record
	for _, b := range d.batches {
		out = append(out, b.recs...)
	}
	return out
}

// log draws batches: emptied ones, holes inside and between, markers.
func log(r *rand.Rand, batches int) *disk {
	d := &disk{asked: map[[2]int64]int{}}
	at := int64(r.IntN(50))
	for range batches {
		at += int64(r.IntN(3) * r.IntN(20))
		b := disk1{base: at, bytes: 100 + r.IntN(20<<10)}
		n := 1 + r.IntN(80)
		for range n {
			if r.IntN(4) > 0 {
				x := match.Record{Offset: at, Time: at, Value: r.Uint64()}
				if r.IntN(9) == 0 {
					x.Flags = match.Aborted
				}
				b.recs = append(b.recs, x)
			}
			at++
		}
		b.last = at - 1
		d.batches = append(d.batches, b)
	}
	d.end = at
	return d
}

func free() *meter { return &meter{budget: &budget{}, left: 1 << 60} }

func (d *disk) side(first, most int) *side {
	c := newCache(kafka.TopicPartition{Topic: "t"}, d, first, most)
	return &side{ctx: context.Background(), cache: c, bounds: match.Bounds{Start: 0, Stable: d.end, End: d.end}, meter: free(), times: func(_ context.Context, ms int64) (int64, bool, error) {
		o, ok := firstAt(d.all(), ms)
		return o, ok, nil
	}}
}

// firstAt is the first record as late as a time.
func firstAt(rs []match.Record, ms int64) (int64, bool) {
	for _, r := range rs {
		if r.Time >= ms {
			return r.Offset, true
		}
	}
	return 0, false
}

// TestCacheGivesEverything reads stretches in any order, with caches that must drop pages, and holds them against the whole log.
func TestCacheGivesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rnd := rand.New(rand.NewPCG(seed, 3))
		d := log(rnd, rapid.IntRange(1, 60).Draw(t, "batches"))
		all := d.all()
		s := d.side(rapid.SampledFrom([]int{1, 4 << 10, firstPage}).Draw(t, "first"), rapid.SampledFrom([]int{1, 100, 1 << 20}).Draw(t, "kept"))
		s.bounds.Start = rapid.Int64Range(0, d.end-1).Draw(t, "start")
		for range rapid.IntRange(1, 12).Draw(t, "reads") {
			from := rapid.Int64Range(-5, d.end+5).Draw(t, "from")
			to := rapid.Int64Range(from, d.end+10).Draw(t, "to")
			var got []match.Record
			for at := from; at < to; {
				rs, next, err := s.Read(at, to)
				if err != nil || next <= at {
					t.Fatalf("at %d: next %d, %v", at, next, err)
				}
				got = append(got, rs...)
				at = next
			}
			var want []match.Record
			for _, r := range all {
				if r.Offset >= max(from, s.bounds.Start) && r.Offset < min(to, s.bounds.End) {
					want = append(want, r)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("[%d, %d): %d records, want %d", from, to, len(got), len(want))
			}
		}
	})
}

func TestWalkDoubles(t *testing.T) {
	d := &disk{asked: map[[2]int64]int{}}
	for i := range int64(4000) {
		d.batches = append(d.batches, disk1{base: i, last: i, bytes: 2 << 10, recs: []match.Record{{Offset: i}}})
	}
	d.end = 4000
	s := d.side(firstPage, 1<<20)
	walk := func() {
		for at := int64(0); at < d.end; {
			_, next, err := s.Read(at, d.end)
			if err != nil {
				t.Fatal(err)
			}
			at = next
		}
	}
	walk()
	var sizes []int
	for k := range d.asked {
		sizes = append(sizes, int(k[1]))
	}
	slices.Sort(sizes)
	if want := []int{64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 1 << 20}; !slices.Equal(sizes[:6], want) || sizes[len(sizes)-1] != 1<<20 {
		t.Errorf("sizes %v", sizes)
	}
	n := d.fetches
	walk()
	if d.fetches != n {
		t.Errorf("%d fetches for what was there", d.fetches-n)
	}
}

func TestPageHoldsSeveralBatches(t *testing.T) {
	d := &disk{asked: map[[2]int64]int{}}
	for i := range int64(20) {
		d.batches = append(d.batches, disk1{base: i, last: i, bytes: 600 << 10, recs: []match.Record{{Offset: i}}})
	}
	d.end = 20
	s := d.side(firstPage, 1<<20)
	s.cache.pages = batchSeen{d}
	for at := int64(0); at < d.end; {
		_, next, err := s.Read(at, d.end)
		if err != nil {
			t.Fatal(err)
		}
		at = next
	}
	if d.fetches > 7 {
		t.Errorf("%d fetches of %v", d.fetches, d.asked)
	}
}

// batchSeen tells the size of a batch that is larger than the page, as the reader of pages does.
type batchSeen struct{ *disk }

func (b batchSeen) page(ctx context.Context, tp kafka.TopicPartition, from int64, size int, committed bool) (*page, error) {
	p, err := b.disk.page(ctx, tp, from, size, committed)
	if err == nil && p.bytes > int64(size) {
		p.batch = int(p.bytes)
	}
	return p, err
}

func TestMeter(t *testing.T) {
	d := log(rand.New(rand.NewPCG(1, 1)), 40)
	s := d.side(4<<10, 1<<20)
	s.meter.left = 10 << 10
	at := int64(0)
	for {
		_, next, err := s.Read(at, d.end)
		if errors.Is(err, errSpent) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		at = next
	}
	if !s.meter.refused || s.meter.left > 0 || at == 0 || at == d.end {
		t.Errorf("%+v at %d", s.meter, at)
	}
	if rs, _, err := s.Read(0, at); err != nil || len(rs) == 0 {
		t.Errorf("what is there costs nothing: %v", err)
	}
	d.err = errors.New("broken")
	s.meter = free()
	if _, _, err := s.Read(at, d.end); !errors.Is(err, d.err) {
		t.Errorf("%v", err)
	}
}

// memory is a side as a slice.
type memory struct {
	rs []match.Record
	b  match.Bounds
}

func (m *memory) Bounds() match.Bounds { return m.b }

func (m *memory) Read(from, to int64) ([]match.Record, int64, error) {
	i, j := at(m.rs, from), at(m.rs, to)
	return m.rs[i:max(i, j)], to, nil
}

func (m *memory) OffsetAt(ms int64) (int64, bool, error) {
	o, ok := firstAt(m.rs, ms)
	return o, ok, nil
}

// TestSameAsMemory compares answers over pages with those over slices: what is cached, dropped and cut must not show.
func TestSameAsMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		src := log(rnd, 25)
		dst := &disk{}
		var syncs []translate.Sync
		b := disk1{base: 0}
		down := int64(0)
		for _, r := range src.all() {
			if r.Has(match.Aborted) || rnd.IntN(10) == 0 {
				continue
			}
			if rnd.IntN(30) == 0 {
				syncs = append(syncs, translate.Sync{Upstream: r.Offset, Downstream: down})
			}
			x := r
			x.Offset = down
			b.recs = append(b.recs, x)
			down++
			if len(b.recs) == 20 {
				b.last, b.bytes = down-1, 5000
				dst.batches = append(dst.batches, b)
				b = disk1{base: down}
			}
		}
		if len(b.recs) > 0 {
			b.last, b.bytes = down-1, 5000
			dst.batches = append(dst.batches, b)
		}
		dst.end = down
		first := rapid.SampledFrom([]int{1, 4 << 10, firstPage}).Draw(t, "first")
		most := rapid.SampledFrom([]int{1, 200, 1 << 20}).Draw(t, "kept")
		ps, pd := src.side(first, most), dst.side(first, most)
		ms, md := &memory{src.all(), ps.bounds}, &memory{dst.all(), pd.bounds}
		a, b2 := match.New(ps, pd, syncs, match.Options{}), match.New(ms, md, syncs, match.Options{})
		for range 8 {
			u := rapid.Int64Range(0, src.end).Draw(t, "u")
			x, err := a.Locate(u)
			y, err2 := b2.Locate(u)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if x.T != y.T || x.Verdict != y.Verdict || x.Low != y.Low || x.High != y.High {
				t.Fatalf("u %d: pages %+v, memory %+v", u, x, y)
			}
		}
	})
}
