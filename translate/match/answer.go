package match

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/translate"
)

// answer reads a walk. started is the place on the target where it began.
func (m *Matcher) answer(t trail, started int64) (Answer, error) {
	low := max(started, m.d.Start) // nothing of the position can lie before
	if t.sure != nil {
		low = t.sure.d.Offset + 1
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
		return m.withoutLower(t, started)
	case t.r == nil:
		return m.withoutUpper(t)
	}
	return m.between(t)
}

func exact(at int64, why string) (Answer, error) {
	return Answer{T: at, Low: at, High: at, Verdict: Exact, Why: why}, nil
}

// between has a pair below the position and one at or above it.
func (m *Matcher) between(t trail) (Answer, error) {
	p, r, e := t.p, t.r, t.extras
	switch {
	case r.s.Offset == m.u && !m.o.Foreign, len(e) == 0:
		return exact(r.d.Offset, "the record at the position, or the next that has a copy")
	}
	if dense, err := m.nothingBetween(p.s.Offset, m.u); err != nil {
		return Answer{}, err
	} else if dense {
		return exact(e[0].Offset, "after the copy of the record before the position")
	}
	if m.o.Foreign {
		return Answer{T: p.d.Offset + 1, Low: p.d.Offset + 1, High: r.d.Offset, Verdict: Ambiguous, Why: "which of the records between the two nearest copies were mirrored cannot be told"}, nil
	}
	// The originals of e are gone. At most r-u of them stood at or above the position, at most u-p-1 below it.
	low, high := p.d.Offset+1, r.d.Offset
	if i := int64(len(e)) - (r.s.Offset - m.u); i >= 0 && i < int64(len(e)) {
		low = e[i].Offset
	} else if i >= int64(len(e)) {
		low = r.d.Offset
	}
	if i := m.u - p.s.Offset - 1; i < int64(len(e)) {
		high = e[i].Offset
	}
	if low >= high {
		return exact(low, "counted between the two nearest copies")
	}
	return Answer{T: low, Low: low, High: high, Verdict: Ambiguous, Why: "the originals between the two nearest copies are gone"}, nil
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
func (m *Matcher) withoutLower(t trail, started int64) (Answer, error) {
	r := t.r
	if len(t.extras) == 0 && (started <= m.d.Start || r.s.Offset == m.u) {
		return exact(r.d.Offset, "the first copy")
	}
	low := max(started, m.d.Start)
	return Answer{T: low, Low: low, High: r.d.Offset, Verdict: Ambiguous, Why: "records of the target before the first agreement have no original any more"}, nil
}

// withoutUpper has come to the end of the target, or of the source.
func (m *Matcher) withoutUpper(t trail) (Answer, error) {
	end := max(m.d.Stable, t.p.d.Offset+1)
	if len(t.extras) > 0 {
		if dense, err := m.nothingBetween(t.p.s.Offset, m.u); err != nil {
			return Answer{}, err
		} else if dense {
			return exact(t.extras[0].Offset, "after the copy of the record before the position")
		}
		low := t.p.d.Offset + 1
		return Answer{T: low, Low: low, High: end, Verdict: Ambiguous, Uncopied: t.uncopied, Why: "records after the last agreement have no original"}, nil
	}
	if t.uncopied > 0 {
		return Answer{T: end, Low: end, High: end, Verdict: NotMirrored, Uncopied: t.uncopied, Why: fmt.Sprintf("%d records below the position have no copy yet", t.uncopied)}, nil
	}
	return exact(end, "everything below the position is copied, nothing at or above it")
}

// original is for a position whose record is gone on the source: the syncs around it and the number of records between their
// copies bound the place.
func (m *Matcher) original() (Answer, error) {
	var below, above *translate.Sync
	e, _ := m.epoch()
	if e == nil && len(m.epochs) == 1 {
		e = m.epochs[0]
	}
	for i := range e {
		if e[i].Upstream <= m.u {
			below = &e[i]
		} else if above == nil {
			above = &e[i]
		}
	}
	d1, d2 := m.d.Start-1, m.d.End
	if below != nil {
		if below.Upstream == m.u {
			return exact(below.Downstream, "an offset sync of this very record")
		}
		d1 = max(d1, below.Downstream)
	}
	if above != nil {
		d2 = above.Downstream
	}
	if d2 <= d1+1 {
		return exact(max(d1+1, m.d.Start), "between two offset syncs there is only one place")
	}
	low, high := d1+1, d2
	rs, err := m.all(m.dst, d1+1, d2, committed)
	if err != nil && err != errBudget {
		return Answer{}, err
	}
	if err == nil {
		if above != nil && !m.o.Foreign {
			if i := int64(len(rs)) - (above.Upstream - m.u); i >= 0 {
				low = at(rs, i, d2)
			}
		}
		if below != nil {
			high = at(rs, m.u-below.Upstream-1, d2)
		}
	}
	a := Answer{T: low, Low: low, High: max(low, high), Verdict: Ambiguous, Anchor: below, Why: "the record is gone on the source; the offset syncs around it and the records between their copies bound it"}
	if low >= high {
		a.High, a.Verdict = low, Exact
	}
	return a, nil
}

// at is the offset of the i-th record, or end beyond the last.
func at(rs []Record, i, end int64) int64 {
	if i < int64(len(rs)) {
		return rs[i].Offset
	}
	return end
}
