package match

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// alike gives n records that differ in nothing.
func alike(n int) []Record {
	out := make([]Record, n)
	for i := range out {
		out[i] = Record{Time: 1_700_000_000_000, Value: 7, Flags: NullKey}
	}
	return out
}

// turns gives n records of few payloads, one after the other or in no order.
func turns(n, payloads int, mixed bool) []Record {
	out, x := alike(n), uint64(1)
	for i := range out {
		x = x*6364136223846793005 + 1442695040888963407
		if out[i].Value = uint64(i % payloads); mixed {
			out[i].Value = x >> 33 % uint64(payloads)
		}
	}
	return out
}

// hurried gives n records of one payload, seventy in each millisecond.
func hurried(n int) []Record {
	out := alike(n)
	for i := range out {
		out[i].Time += int64(i / 70)
	}
	return out
}

// pairs are syncs at the same offsets on both sides, moved by a shift on the target.
func pairs(shift int64, up ...int64) (out []translate.Sync) {
	for _, u := range up {
		out = append(out, translate.Sync{Upstream: u, Downstream: u + shift})
	}
	return out
}

// TestProvedByCounting: where no record tells a place, counting does.
func TestProvedByCounting(t *testing.T) {
	marker := Record{Flags: Control}
	join := func(parts ...[]Record) (all []Record) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	dated := alike(300)
	for i := range dated {
		dated[i].Time, dated[i].Flags = int64(i/9), dated[i].Flags|AppendTime
	}
	for _, c := range []struct {
		name     string
		src, dst *mem
		syncs    []translate.Sync
		o        Options
		u        int64
		want     Answer // T, Low, High and Verdict are compared
	}{
		// Retention removed the originals.
		{"the source's head is gone, a sync below", side(40, run(40, 100)...), side(0, run(0, 100)...), pairs(0, 0, 20, 60), Options{}, 25, Answer{T: 25, Low: 25, High: 25, Verdict: Exact}},
		{"the source's head is gone, no syncs", side(40, run(40, 100)...), side(0, run(0, 100)...), nil, Options{}, 25, Answer{T: 25, Low: 25, High: 25, Verdict: Exact}},
		{"the source's head is gone, the position of a sync", side(40, run(40, 100)...), side(0, run(0, 100)...), pairs(0, 0, 20, 60), Options{}, 20, Answer{T: 20, Low: 20, High: 20, Verdict: Exact}},
		{"a marker of the target between", side(40, run(40, 100)...), side(0, join(run(0, 30), []Record{marker}, run(30, 100))...), pairs(0, 0, 20), Options{}, 25, Answer{T: 25, Low: 25, High: 25, Verdict: Exact}},
		{"fewer copies than offsets: two places", side(40, run(40, 100)...), side(0, join(run(0, 30), run(34, 100))...), pairs(0, 0, 20), Options{}, 27, Answer{T: 23, Low: 23, High: 27, Verdict: Ambiguous}},
		{"both heads are gone", side(60, run(60, 100)...), side(30, run(30, 100)...), pairs(0, 0, 20, 40, 80), Options{}, 45, Answer{T: 45, Low: 45, High: 45, Verdict: Exact}},
		{"mirrored twice, the sync lost", side(40, run(40, 100)...), side(0, join(run(0, 35), run(20, 100))...), pairs(0, 0), Options{}, 25, Answer{T: 40, Low: 40, High: 55, Verdict: Ambiguous}},
		{"mirrored twice beyond what is left, the sync lost", side(40, run(40, 100)...), side(0, join(run(0, 60), run(20, 100))...), pairs(0, 0), Options{}, 15, Answer{T: 0, Low: 0, High: 139, Verdict: Ambiguous}},
		{"mirrored from the middle", side(40, run(40, 100)...), side(0, run(50, 100)...), pairs(-50, 50, 80), Options{}, 20, Answer{T: 0, Low: 0, High: 0, Verdict: Exact}},
		// Nothing but the number of records tells the place: a repeat that makes up for as many left out is not excluded.
		{"alike, no syncs", side(0, alike(300)...), side(0, alike(300)...), nil, Options{}, 120, Answer{T: 120, Low: 120, High: 120, Verdict: ExactRepeat}},
		{"alike, no syncs, times of the broker", side(0, alike(300)...), side(0, dated...), nil, Options{}, 120, Answer{T: 120, Low: 120, High: 120, Verdict: ExactRepeat}},
		{"alike, a late sync alone", side(0, alike(300)...), side(0, alike(300)...), pairs(0, 280), Options{}, 120, Answer{T: 120, Low: 120, High: 120, Verdict: ExactRepeat}},
		{"alike, markers on the source", side(0, join(alike(90), []Record{marker}, alike(109))...), side(0, alike(199)...), nil, Options{}, 120, Answer{T: 119, Low: 119, High: 119, Verdict: ExactRepeat}},
		{"alike, one more on the target", side(0, alike(300)...), side(0, alike(301)...), nil, Options{}, 120, Answer{T: 0, Low: 0, High: 301, Verdict: Unverified}},
		{"alike, one fewer on the target", side(0, alike(300)...), side(0, alike(299)...), nil, Options{}, 120, Answer{T: 0, Low: 0, High: 299, Verdict: Unverified}},
		{"alike, the source's head is gone", side(1, alike(299)...), side(0, alike(299)...), nil, Options{}, 120, Answer{T: 0, Low: 0, High: 299, Verdict: Unverified}},
		{"alike, others write too", side(0, alike(300)...), side(0, alike(300)...), nil, Options{Foreign: true}, 120, Answer{T: 0, Low: 0, High: 300, Verdict: Unverified}},
		{"alike, both heads are gone, between a sync that is gone and the next", side(10, alike(290)...), side(140, alike(160)...), pairs(0, 0, 100, 200, 280), Options{}, 150, Answer{T: 150, Low: 150, High: 150, Verdict: ExactRepeat}},
		{"alike, both heads are gone, another shift", side(10, alike(290)...), side(140, alike(161)...), []translate.Sync{{}, {Upstream: 100, Downstream: 100}, {Upstream: 200, Downstream: 201}, {Upstream: 280, Downstream: 281}}, Options{}, 150, Answer{T: 140, Low: 140, High: 301, Verdict: Unverified}},
		// Syncs of another flow about the same source: its copy began at 50.
		{"alike, syncs of another flow", side(0, alike(200)...), side(0, alike(200)...), pairs(-50, 50, 90, 150), Options{}, 120, Answer{T: 70, Low: 70, High: 200, Verdict: Ambiguous}},
		{"alike, syncs of another flow, before them", side(40, alike(160)...), side(0, alike(200)...), pairs(-50, 50, 90, 150), Options{}, 1, Answer{T: 0, Low: 0, High: 200, Verdict: Ambiguous}},
		// Back. Records that differ in nothing may be those of a topic that was made anew since; times or payloads that go along tell.
		{"back, alike", side(0, alike(300)...), side(0, alike(300)...), pairs(0, 0, 100, 200), Options{Reverse: true}, 120, Answer{T: 0, Low: 0, High: 120, Verdict: Unverified}},
		{"back, alike, the end", side(0, alike(300)...), side(0, alike(300)...), pairs(0, 0, 100, 200), Options{Reverse: true}, 300, Answer{T: 0, Low: 0, High: 300, Verdict: Unverified}},
		{"back, alike by turns", side(0, turns(300, 3, false)...), side(0, turns(300, 3, false)...), pairs(0, 0, 100, 200), Options{Reverse: true}, 120, Answer{T: 0, Low: 0, High: 120, Verdict: Unverified}},
		{"back, payloads that repeat in no order", side(0, turns(300, 3, true)...), side(0, turns(300, 3, true)...), pairs(0, 0, 100, 200), Options{Reverse: true}, 120, Answer{T: 120, Low: 120, High: 120, Verdict: Exact}},
		{"back, one payload, several in each millisecond", side(0, hurried(300)...), side(0, hurried(300)...), pairs(0, 0, 100, 200), Options{Reverse: true}, 120, Answer{T: 120, Low: 120, High: 120, Verdict: Exact}},
		{"back, one payload, several in each millisecond, the end", side(0, hurried(300)...), side(0, hurried(300)...), pairs(0, 0, 100, 200), Options{Reverse: true}, 300, Answer{T: 300, Low: 300, High: 300, Verdict: Exact}},
		{"back, alike, the copy holds more", side(0, alike(301)...), side(0, alike(300)...), pairs(0, 0, 100, 200), Options{Reverse: true}, 120, Answer{T: 0, Low: 0, High: 120, Verdict: Unverified}},
		{"back, alike, a fall", side(0, alike(300)...), side(0, alike(280)...), []translate.Sync{{}, {Upstream: 100, Downstream: 100}, {Upstream: 200, Downstream: 180}}, Options{Reverse: true}, 150, Answer{T: 0, Low: 0, High: 150, Verdict: Unverified}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(c.src, c.dst, c.syncs, c.o).Locate(c.u)
			if err != nil {
				t.Fatal(err)
			}
			if got := (Answer{T: a.T, Low: a.Low, High: a.High, Verdict: a.Verdict}); got != c.want {
				t.Errorf("got %+v\nwant %+v", a, c.want)
			}
		})
	}
}
