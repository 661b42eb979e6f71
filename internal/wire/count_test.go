package wire

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// TestCountIsWhatReadingGives compares every range with the records that are read one by one.
func TestCountIsWhatReadingGives(t *testing.T) {
	s := transactions()
	for i := range s.batches {
		if s.batches[i].attr&attrControl == 0 && i%2 == 0 {
			s.batches[i].codec = "lz4"
		}
	}
	c := serve(t, s)
	for _, committed := range []bool{true, false} {
		var all []int64
		if _, err := c.ReadPartition(ctx(t), "log", 0, 0, 20, ReadOptions{Committed: committed}, func(r *kafka.Record) error { all = append(all, r.Offset); return nil }); err != nil {
			t.Fatal(err)
		}
		for from := int64(0); from <= 20; from++ {
			for to := from; to <= 20; to++ {
				want := int64(0)
				for _, o := range all {
					if o >= from && o < to {
						want++
					}
				}
				most := int64(1 << 20)
				if to%2 == 0 {
					most = 2000 // several requests
				}
				if n, known, err := c.CountRecords(ctx(t), "log", 0, from, to, most, committed); err != nil || !known || n != want {
					t.Fatalf("[%d, %d) committed %v: %d %v %v, want %d", from, to, committed, n, known, err, want)
				}
			}
		}
	}
}

func TestCountSaysWhatItDoesNotKnow(t *testing.T) {
	c := serve(t, transactions())
	if n, known, err := c.CountRecords(ctx(t), "log", 0, 0, 20, 200, false); err != nil || known || n < 2 || n >= 13 {
		t.Errorf("over the limit: %d %v %v", n, known, err)
	}
	if n, known, err := c.CountRecords(ctx(t), "log", 0, 0, 20, 0, false); err != nil || known || n != 0 {
		t.Errorf("nothing may be read: %d %v %v", n, known, err)
	}
	if n, known, err := c.CountRecords(ctx(t), "log", 0, 17, 99, 1<<20, true); err != nil || !known || n != 2 {
		t.Errorf("beyond the end: %d %v %v", n, known, err)
	}
	s := transactions()
	s.start = 2
	if _, known, err := serve(t, s).CountRecords(ctx(t), "log", 0, 1, 20, 1<<20, false); known || CodeOf(err) != kafka.OffsetOutOfRange {
		t.Errorf("below the log start: %v %v", known, err)
	}
}
