package match

import (
	"errors"
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// side makes a side of records in a row from an offset on.
func side(start int64, rs ...Record) *mem {
	m := &mem{page: 100, bounds: Bounds{Start: start}}
	for i, r := range rs {
		r.Offset = start + int64(i)
		m.rs = append(m.rs, r)
	}
	m.bounds.End = start + int64(len(rs))
	m.bounds.Stable = m.bounds.End
	return m
}

// run gives the records that plain makes of from to to.
func run(from, to int64) []Record {
	var out []Record
	for n := from; n < to; n++ {
		out = append(out, plain(n))
	}
	return out
}

func TestCases(t *testing.T) {
	first := []translate.Sync{{Upstream: 0, Downstream: 0}}
	marker := Record{Flags: Control}
	aborted := func(rs []Record) []Record {
		for i := range rs {
			rs[i].Flags |= Aborted
		}
		return rs
	}
	join := func(parts ...[]Record) (all []Record) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	open := side(0, run(0, 60)...)
	open.bounds.Stable = 50
	tombstones := run(0, 40)
	for i := range tombstones {
		tombstones[i].Key, tombstones[i].Value, tombstones[i].Flags = mixed(int64(i)), 0, NullValue
	}
	noted := run(0, 40)
	for i := range noted {
		noted[i].Headers = 7
	}
	dated := run(0, 40)
	for i := range dated {
		dated[i].Time, dated[i].Flags = int64(i), dated[i].Flags|AppendTime
	}
	for _, c := range []struct {
		name     string
		src, dst *mem
		syncs    []translate.Sync
		o        Options
		u        int64
		want     Answer // T, Verdict, Uncopied, Gone, Transformed are compared
	}{
		{"beyond the end of the source", side(0, run(0, 40)...), side(0, run(0, 40)...), first, Options{}, 47, Answer{T: 40, Verdict: NotMirrored, Uncopied: 7}},
		{"at the end of the source", side(0, run(0, 40)...), side(0, run(0, 40)...), first, Options{}, 40, Answer{T: 40, Verdict: Exact}},
		{"nothing copied yet", side(0, run(0, 40)...), side(0), nil, Options{}, 25, Answer{T: 0, Verdict: NotMirrored, Uncopied: 25}},
		{"the end is a marker on the target", side(0, run(0, 40)...), side(0, join(run(0, 40), []Record{marker})...), first, Options{}, 40, Answer{T: 41, Verdict: Exact}},
		{"open transaction, copied", open, side(0, run(0, 60)...), first, Options{}, 55, Answer{T: 55, Verdict: Exact}},
		{"open transaction, not copied", open, side(0, run(0, 50)...), first, Options{Isolation: Committed}, 55, Answer{T: 50, Verdict: NotMirrored, Uncopied: 5}},
		{"aborted, copied, unknown", side(0, join(run(0, 20), aborted(run(20, 30)), []Record{marker}, run(30, 50))...), side(0, run(0, 50)...), first, Options{}, 41, Answer{T: 40, Verdict: Exact}},
		{"aborted, left out, unknown", side(0, join(run(0, 20), aborted(run(20, 30)), []Record{marker}, run(30, 50))...), side(0, join(run(0, 20), run(30, 50))...), first, Options{}, 41, Answer{T: 30, Verdict: Exact}},
		{"tombstones", side(0, tombstones...), side(0, tombstones...), first, Options{}, 21, Answer{T: 21, Verdict: Exact}},
		{"headers added on the way", side(0, run(0, 40)...), side(0, noted...), first, Options{}, 21, Answer{T: 21, Verdict: Exact, Transformed: true}},
		{"times of the broker", side(0, run(0, 40)...), side(0, dated...), first, Options{}, 21, Answer{T: 21, Verdict: Exact}},
		{"removed from the target", side(0, run(0, 40)...), side(15, run(15, 40)...), first, Options{}, 5, Answer{T: 15, Verdict: Gone, Gone: 10}},
		{"under way once more", side(0, run(0, 60)...), side(0, join(run(0, 60), run(40, 50))...), []translate.Sync{{}, {Upstream: 40, Downstream: 60}}, Options{}, 45, Answer{T: 45, Verdict: Exact}},
		{"mirrored once more", side(0, run(0, 60)...), side(0, join(run(0, 50), run(40, 60))...), []translate.Sync{{}, {Upstream: 40, Downstream: 50}}, Options{}, 45, Answer{T: 55, Verdict: Exact}},
		{"mirrored once more, the sync lost", side(0, run(0, 60)...), side(0, join(run(0, 50), run(40, 60))...), first, Options{}, 45, Answer{T: 45, Verdict: ExactRepeat}},
		{"target made anew", side(0, run(0, 60)...), side(0, run(40, 60)...), []translate.Sync{{}, {Upstream: 30, Downstream: 30}, {Upstream: 40, Downstream: 0}}, Options{}, 35, Answer{T: 0, Verdict: Exact}},
		{"target made anew, its first syncs lost", side(0, run(0, 5200)...), side(0, run(4500, 5200)...), []translate.Sync{{Upstream: 4700, Downstream: 200}}, Options{}, 1395, Answer{T: 0, Verdict: Exact}},
		{"target made anew, its first syncs lost, an old one left", side(0, run(0, 5200)...), side(0, run(4500, 5200)...), []translate.Sync{{Upstream: 100, Downstream: 100}, {Upstream: 4700, Downstream: 200}}, Options{}, 1395, Answer{T: 0, Verdict: Exact}},
		{"syncs of another flow", side(0, run(0, 60)...), side(0, run(20, 60)...), []translate.Sync{{Upstream: 10, Downstream: 10}, {Upstream: 25, Downstream: 25}}, Options{}, 40, Answer{T: 20, Verdict: Exact}},
		{"back to the first of two copies", side(0, join(run(0, 50), run(40, 60))...), side(0, run(0, 60)...), []translate.Sync{{}, {Upstream: 50, Downstream: 40}}, Options{Reverse: true}, 20, Answer{T: 20, Verdict: Exact}},
		{"back to the second of two copies", side(0, join(run(0, 50), run(40, 60))...), side(0, run(0, 60)...), []translate.Sync{{}, {Upstream: 50, Downstream: 40}}, Options{Reverse: true}, 55, Answer{T: 45, Verdict: Ambiguous}},
		{"back behind local records of one topic", side(0, join(run(0, 40), run(100, 107))...), side(0, run(0, 40)...), first, Options{Reverse: true, Foreign: true}, 43, Answer{T: 40, Verdict: NotMirrored, Uncopied: 7}},
		{"back before local records of one topic", side(0, join(run(0, 40), run(100, 107))...), side(0, run(0, 40)...), first, Options{Reverse: true, Foreign: true}, 30, Answer{T: 30, Verdict: Exact}},
		{"back from the end of the copy", side(0, run(0, 50)...), side(0, run(0, 60)...), first, Options{Reverse: true}, 50, Answer{T: 50, Verdict: Exact}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(c.src, c.dst, c.syncs, c.o).Locate(c.u)
			if err != nil {
				t.Fatal(err)
			}
			got := Answer{T: a.T, Verdict: a.Verdict, Uncopied: a.Uncopied, Gone: a.Gone, Transformed: a.Transformed}
			if got != c.want {
				t.Errorf("got %+v\nwant %+v", a, c.want)
			}
		})
	}
}

// failing is a side whose reading fails while down is set.
type failing struct {
	*mem
	down error
}

func (f *failing) Read(from, to int64) ([]Record, int64, error) {
	if f.down != nil {
		return nil, 0, f.down
	}
	return f.mem.Read(from, to)
}

// TestErrorsPass: a read that fails is an error of that position, never an answer, and the next position is found.
func TestErrorsPass(t *testing.T) {
	down := errors.New("no leader")
	for range 2 {
		src, dst := &failing{mem: side(0, run(0, 60)...)}, &failing{mem: side(0, run(0, 60)...)}
		m := New(src, dst, []translate.Sync{{}}, Options{})
		for i, f := range []*failing{src, dst, src} {
			f.down = down
			if _, err := m.Locate(int64(20 + i)); !errors.Is(err, down) {
				t.Errorf("error %v", err)
			}
			f.down = nil
			if a, err := m.Locate(int64(30 + i)); err != nil || a.T != int64(30+i) || a.Verdict != Exact {
				t.Errorf("%+v, %v", a, err)
			}
		}
	}
}

func TestCount(t *testing.T) {
	marker := Record{Flags: Control}
	rs := append(append(run(0, 30), marker), run(30, 60)...)
	m := New(side(0, run(0, 60)...), side(0, rs...), []translate.Sync{{}}, Options{Most: 200})
	a, err := m.Locate(40)
	if err != nil || a.T != 41 {
		t.Fatal(a, err)
	}
	got, err := m.Count(a, []int64{20, 41, 51, 0, 61, 99})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Count{{20, 20, 0, true}, {41, 0, 0, true}, {51, 0, 10, true}, {0, 40, 0, true}, {61, 0, 20, true}, {99, 0, 20, true}} {
		if got[i] != want {
			t.Errorf("got %+v, want %+v", got[i], want)
		}
	}
	m = New(side(0, run(0, 600)...), side(0, run(0, 600)...), []translate.Sync{{}}, Options{Most: 50})
	got, err = m.Count(Answer{T: 500}, []int64{100})
	if want := (Count{100, 400, 0, false}); err != nil || got[0] != want {
		t.Errorf("got %+v, want %+v, %v", got, want, err)
	}
}
