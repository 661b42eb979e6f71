package match

import "fmt"

// quiet takes a used-up budget for "not this way".
func quiet(err error) error {
	if err == errBudget {
		return nil
	}
	return err
}

// all reads a stretch.
func (m *Matcher) all(side Side, from, to int64, keep func(Record) bool) ([]Record, error) {
	var out []Record
	if from < to {
		out = make([]Record, 0, min(to-from, 512))
	}
	for from < to {
		if m.spent >= m.most {
			return nil, errBudget
		}
		rs, next, err := side.Read(from, to)
		if err != nil {
			return nil, err
		}
		if next <= from {
			return nil, fmt.Errorf("reading makes no progress at %d", from)
		}
		m.spent += len(rs)
		from = next
		for _, r := range rs {
			if keep(r) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// full says that each offset of a stretch is held by a record or a marker: nothing was compacted away there.
func (m *Matcher) full(side Side, from, to int64) (bool, error) {
	if to-from > mostRoom {
		return false, nil
	}
	rs, err := m.all(side, from, to, func(Record) bool { return true })
	return err == nil && int64(len(rs)) == to-from, quiet(err)
}

func (m *Matcher) cursors(up, down, end int64, keep func(Record) bool) (s, d *cursor) {
	return &cursor{side: m.src, next: max(up, m.s.Start), end: m.s.End, keep: keep, buf: m.bufs[0][:0], spent: &m.spent, most: m.most},
		&cursor{side: m.dst, next: max(down, m.d.Start), end: end, keep: committed, buf: m.bufs[1][:0], spent: &m.spent, most: m.most}
}

// keeps is what a copy takes of the source as far as it is decided, and committed records alone where it is not.
func (m *Matcher) keeps() func(Record) bool {
	if m.mode == Uncommitted {
		return data
	}
	return committed
}

// compare walks from a place on both sides as MirrorMaker 2 copies, in both ways where it is not known whether it copies aborted
// records. torn says that the two ways differ and nothing decides between them: other is then the second.
func (m *Matcher) compare(up, down, end, u int64, mask Mask, strict bool, x *pair) (t, other trail, torn bool, err error) {
	aborted := false
	one := func(keep func(Record) bool, skipped Flags) (trail, error) {
		m.skipped = skipped
		s, d := m.cursors(up, down, end, func(r Record) bool {
			aborted = aborted || r.Has(Aborted)
			return keep(r)
		})
		if x != nil {
			s.end, d.end = min(s.end, x.s.Offset), min(d.end, x.d.Offset)
		}
		t, err := bounded(s, d, u, mask, strict, x)
		m.bufs = [2][]Record{s.buf, d.buf} // what a walk found are copies
		return t, err
	}
	if m.mode == Committed {
		t, err = one(committed, Control|Aborted)
		return t, t, false, err
	}
	t, err = one(data, Control)
	if err != nil || !aborted || m.mode == Uncommitted {
		return t, t, false, err
	}
	other, err = one(committed, Control|Aborted)
	m.skipped = Control
	if err != nil {
		return t, other, false, err
	}
	// A way that had to step over records is the wrong one where the other had not, and each step was one to a record that stands
	// once: records that repeat agree in the wrong way too.
	switch {
	case t.smooth() && other.stepped():
		m.mode = Uncommitted
		return t, t, false, nil
	case other.smooth() && t.stepped():
		m.mode, m.skipped = Committed, Control|Aborted
		return other, other, false, nil
	}
	return t, other, true, nil
}

// fewest is how many records must agree where no offset sync vouches for the place.
const fewest = 8

func (t trail) smooth() bool { return t.matches >= fewest && t.passed == 0 && !t.lost && !t.short }

func (t trail) stepped() bool { return t.passed > 0 && !t.lost && !t.short && !t.ambiguous }
