package match

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/translate"
)

// Verdict says how far a position is proved.
type Verdict uint8

const (
	// Unverified: the records could not decide (too far, too many alike, over the budget); T is the lower end of what the offset
	// syncs allow.
	Unverified Verdict = iota
	// Ambiguous: several places are possible; T is the lowest.
	Ambiguous
	// Exact: the copies at or after T hold every mirrored record at or after the position, in order, and no higher T does.
	Exact
	// ExactRepeat: the copies at or after T hold every mirrored record at or after the position, in order, and T is the place of
	// a copy of it; but that the same records stand on the target once more later could not be excluded. It skips nothing.
	ExactRepeat
	// NotMirrored: records below the position have no copy yet; T is the end of the target.
	NotMirrored
	// Gone: what the position pointed at is no longer on the target; T is its log start.
	Gone
)

// String gives the verdict in plain words.
func (v Verdict) String() string {
	switch v {
	case Unverified:
		return "unverified"
	case Ambiguous:
		return "ambiguous"
	case Exact:
		return "exact"
	case ExactRepeat:
		return "exact, a later repeat is not excluded"
	case NotMirrored:
		return "not yet mirrored"
	case Gone:
		return "gone"
	}
	return "unknown"
}

// Answer is where a position lies on the target. Counts are in records.
type Answer struct {
	T       int64
	Verdict Verdict
	// Low and High are what is possible; equal where the answer is proved.
	Low, High int64
	// Anchor is the offset sync that the comparison started from; nil without one.
	Anchor *translate.Sync
	// Uncopied is how many source records below the position have no copy yet. Beyond the source's end, offsets count.
	Uncopied int64
	// Gone is how many records at or after the position stood on the target below its log start; an upper bound where the source
	// has lost them too, or never had all of them mirrored.
	Gone int64
	// Between is how many records a consumer may at most read again from T on because the place is not proved: those of the target
	// from Low up to High. 0 where it is proved.
	Between int64
	// Refuted says that records of the partition contradict its offset syncs: nothing may be concluded from them alone.
	Refuted bool
	// Read is how many records were read.
	Read int
	// Transformed says that headers differ between original and copy (a transformation on the way).
	Transformed bool
	Why         string
}

// answer reads a walk. floor is the lowest place that is possible.
func (m *Matcher) answer(t trail, floor int64, mask Mask) (Answer, error) {
	low := floor
	if t.sure != nil {
		low = max(low, t.sure.d.Offset+1)
	}
	doubt := func(v Verdict, high int64, why string) (Answer, error) {
		return Answer{T: low, Low: low, High: max(low, high), Verdict: v, Uncopied: t.uncopied, Why: why}, nil
	}
	switch {
	case t.short:
		return doubt(Unverified, m.d.End, "the read budget ended before the position was reached")
	case t.lost:
		return doubt(Unverified, m.d.End, fmt.Sprintf("no record agrees within %d records", windows[len(windows)-1]))
	case t.ambiguous:
		high := m.d.End
		if t.r != nil {
			high = t.r.d.Offset
		}
		return doubt(Ambiguous, high, "only records that stand more than once agree")
	case t.p == nil && t.r == nil:
		return doubt(Unverified, m.d.End, "no record agrees")
	case t.p == nil:
		return m.withoutLower(t, floor)
	case t.r == nil:
		return m.withoutUpper(t)
	}
	return m.between(t, mask)
}

func exact(at int64, why string) (Answer, error) {
	return Answer{T: at, Low: at, High: at, Verdict: Exact, Why: why}, nil
}

// between has a pair below the position and one at or above it.
func (m *Matcher) between(t trail, mask Mask) (Answer, error) {
	p, r, e := t.p, t.r, t.extras
	if r.s.Offset == m.u && !m.o.Foreign || len(e) == 0 {
		return exact(r.d.Offset, "the record at the position, or the next that has a copy")
	}
	if dense, err := m.nothingBetween(p.s.Offset, m.u); err != nil {
		return Answer{}, err
	} else if dense {
		return exact(e[0].Offset, "after the copy of the record before the position")
	}
	ambiguous := func(low, high int64, why string) (Answer, error) {
		return Answer{T: low, Low: low, High: max(low, high), Verdict: Ambiguous, Why: why}, nil
	}
	if m.o.Foreign {
		return ambiguous(p.d.Offset+1, r.d.Offset, "which of the records between the two nearest copies were mirrored cannot be told")
	}
	// Compaction would have left one of two copies, in another order than they were made.
	full, err := m.full(m.dst, p.d.Offset, r.d.Offset)
	if err != nil {
		return Answer{}, err
	}
	if !full || !distinct(e, mask, p.d, r.d) {
		return ambiguous(p.d.Offset+1, r.d.Offset, "the originals between the two nearest copies are gone, and their copies are alike or stand there twice")
	}
	// The originals of e are gone. At most r-u of them stood at or above the position, at most u-p-1 below it.
	low, high := at(e, int64(len(e))-(r.s.Offset-m.u), r.d.Offset), at(e, m.u-p.s.Offset-1, r.d.Offset)
	low = max(low, p.d.Offset+1)
	if low >= high {
		return exact(low, "counted between the two nearest copies")
	}
	return ambiguous(low, high, "the originals between the two nearest copies are gone")
}

// distinct says that no two records are alike, so that nothing among them stands there twice.
func distinct(rs []Record, mask Mask, more ...Record) bool {
	if len(rs) == mostExtras {
		return false
	}
	mask &^= HeaderSets
	seen := make(map[print]bool, len(rs)+len(more))
	for _, x := range [2][]Record{rs, more} {
		for _, r := range x {
			p := mask.of(r)
			if seen[p] {
				return false
			}
			seen[p] = true
		}
	}
	return true
}

// nothingBetween says that no record that is copied can ever have stood between two offsets: each offset there is still held by
// a marker, or by an aborted record that is not copied, or there is none.
func (m *Matcher) nothingBetween(after, before int64) (bool, error) {
	if after+1 >= before {
		return true, nil
	}
	if before-after > 1024 {
		return false, nil
	}
	held, err := m.all(m.src, after+1, before, func(r Record) bool { return r.Flags&m.skipped != 0 })
	if err != nil {
		return false, quiet(err)
	}
	return int64(len(held)) == before-after-1, nil
}

// withoutLower has nothing below the position that has a copy.
func (m *Matcher) withoutLower(t trail, floor int64) (Answer, error) {
	r := t.r
	local := false
	if m.o.Foreign && r.d.Offset > floor {
		local = true
		if r.d.Offset-floor <= mostExtras {
			rs, err := m.all(m.dst, floor, r.d.Offset, committed)
			if err != nil && err != errBudget {
				return Answer{}, err
			}
			local = err != nil || len(rs) > 0
		}
	}
	if len(t.extras) == 0 && !local {
		return m.first(*r, "the first copy")
	}
	return Answer{T: floor, Low: floor, High: r.d.Offset, Verdict: Ambiguous, Why: "records of the target before the first agreement have no original any more"}, nil
}

// first is the first pair that the target holds. Records between the position and it were removed from the target, unless the
// target begins at its first offset: then they were never mirrored.
func (m *Matcher) first(r pair, why string) (Answer, error) {
	a, _ := exact(r.d.Offset, why)
	if r.s.Offset == m.u || m.d.Start == 0 || m.o.Reverse {
		return a, nil
	}
	before, err := m.all(m.dst, m.d.Start, min(r.d.Offset, m.d.Start+64), committed)
	if err != nil || len(before) > 0 || r.d.Offset-m.d.Start > 64 {
		return a, quiet(err)
	}
	if r.s.Offset-m.u > 4096 {
		a.Gone = r.s.Offset - m.u
	} else if rs, err := m.all(m.src, max(m.u, m.s.Start), r.s.Offset, func(r Record) bool { return r.Flags&m.skipped == 0 }); err == nil {
		a.Gone = int64(len(rs)) + max(0, min(m.s.Start, r.s.Offset)-m.u)
	} else if err != errBudget {
		return a, err
	}
	if a.Gone > 0 {
		a.T, a.Low, a.High, a.Verdict, a.Why = m.d.Start, m.d.Start, m.d.Start, Gone, "the target holds nothing before its log start any more"
	}
	return a, nil
}

// withoutUpper has come to the end of the target, or of the source.
func (m *Matcher) withoutUpper(t trail) (Answer, error) {
	end := max(m.d.Stable, t.p.d.Offset+1)
	if len(t.extras) > 0 {
		if dense, err := m.nothingBetween(t.p.s.Offset, m.u); err != nil {
			return Answer{}, err
		} else if dense {
			a, err := exact(t.extras[0].Offset, "after the copy of the record before the position")
			if !m.o.Foreign {
				a.Verdict = ExactRepeat // what follows has no original at or above the position: it may stand there once more
			}
			return a, err
		}
		low := t.p.d.Offset + 1
		return Answer{T: low, Low: low, High: end, Verdict: Ambiguous, Uncopied: t.uncopied, Why: "records after the last agreement have no original"}, nil
	}
	if t.uncopied > 0 {
		return Answer{T: end, Low: end, High: end, Verdict: NotMirrored, Uncopied: t.uncopied, Why: fmt.Sprintf("%d records below the position have no copy yet", t.uncopied)}, nil
	}
	return exact(end, "everything below the position is copied, nothing at or above it")
}

// at is the offset of the i-th record, the first for what lies before, or end beyond the last.
func at(rs []Record, i, end int64) int64 {
	if i < int64(len(rs)) {
		return rs[max(i, 0)].Offset
	}
	return end
}
