package match

import "math"

// pair is a record and its copy.
type pair struct{ s, d Record }

// trail is what a walk along both logs found around a position.
type trail struct {
	p, r      *pair // the last pair below the position, the first at or above it
	extras    []Record
	uncopied  int64   // source records below the position that come after the last pair and have no copy
	sure      *pair   // the last pair before a doubtful step
	aside     *Record // the first record of the target that was stepped over
	passed    int     // records of either side that were stepped over
	missed    int     // those of them that stand on the source only
	extra     int     // and those that stand on the target only
	matches   int
	ambiguous bool // a step was taken on a record that stands more than once
	lost      bool // nothing agrees any more within the widest window
	short     bool // the budget ended the walk
	ended     bool // the target ended before the position
}

// windows are how far ahead an agreement is looked for after a difference.
var windows = []int{64, 256, 1024, 4096, 16384}

// first is how many records of both sides the first agreement must be alone among, where the start is only a position.
const first = 256

// bounded is a walk up to a known pair: both cursors end right before it. Where they end without an agreement at or above the
// position, the pair is that agreement.
func bounded(s, d *cursor, u int64, m Mask, strict bool, x *pair) (trail, error) {
	t, err := walk(s, d, u, m, strict)
	if err != nil || x == nil || t.r != nil || t.short || t.lost {
		return t, err
	}
	// Source records that were passed on the way may slide: nothing is sure where they look like the last pair.
	const some = 256
	if n := len(s.buf) - s.head; t.p != nil && stands(s, min(n, some), m, m.of(t.p.s)) {
		t.ambiguous, t.sure = true, nil
	}
	t.uncopied, t.ended = 0, false
	t.r = x
	return t, nil
}

// walk goes along both logs from a place where they agree, or, with strict, from places that only stand beside each other: the
// first agreement must then be a record that stands once on both sides.
func walk(s, d *cursor, u int64, m Mask, strict bool) (t trail, err error) {
	for {
		sr, sok, err := s.peek(0)
		if err != nil {
			return t.cut(err)
		}
		dr, dok, err := d.peek(0)
		if err != nil {
			return t.cut(err)
		}
		switch {
		case !dok:
			t.ended = true
			if u == math.MaxInt64 {
				return t, nil
			}
			return t.rest(s, u)
		case !sok:
			return t.tail(d)
		case m.of(sr) == m.of(dr) && !(strict && t.matches == 0):
			t.matches++
			x := &pair{sr, dr}
			if sr.Offset >= u {
				t.r = x
				return t, nil
			}
			t.p, t.extras = x, nil
			if !t.ambiguous {
				t.sure = x
			}
			s.skip(1)
			d.skip(1)
			continue
		}
		a, b, how, err := ahead(s, d, m, strict && t.matches == 0)
		if err != nil {
			return t.cut(err)
		}
		switch how {
		case nothing:
			t.lost = true
			return t, nil
		case over: // neither side has anything left that agrees
			t.ended = true
			if u != math.MaxInt64 {
				if _, err := t.rest(s, u); err != nil {
					return t.cut(err)
				}
			}
			return t.tail(d)
		case repeated:
			t.ambiguous = true
		case unique:
			// The last pair may be another than it seems where its like is among what is stepped over: nothing before is sure then.
			if t.p != nil && stands(s, a, m, m.of(t.p.s)) || t.p != nil && stands(d, b, m, m.of(t.p.s)) {
				t.ambiguous, t.sure = true, nil
			}
		}
		t.missed += a
		t.extra += b
		for i := range b {
			r, _, _ := d.peek(i)
			t.extras = append(t.extras, r)
			if t.aside == nil {
				t.aside = &r
			}
		}
		t.passed += a + b
		s.skip(a)
		d.skip(b)
		strict = false
	}
}

// stands says whether a record like p is among the next n.
func stands(c *cursor, n int, m Mask, p print) bool {
	for i := range n {
		if r, ok, err := c.peek(i); err != nil || !ok || m.of(r) == p {
			return err == nil && ok
		}
	}
	return false
}

// cut ends a walk whose budget is used up.
func (t trail) cut(err error) (trail, error) {
	if err == errBudget {
		t.short = true
		return t, nil
	}
	return t, err
}

// mostRest is how many source records without a copy are counted one by one; beyond, their offsets count.
const mostRest = 4096

// rest counts the source records below the position that are left when the target has ended.
func (t *trail) rest(s *cursor, u int64) (trail, error) {
	for i := 0; ; i++ {
		if i == mostRest {
			r, _, _ := s.peek(i - 1)
			t.uncopied += max(0, u-r.Offset-1)
			return *t, nil
		}
		r, ok, err := s.peek(i)
		if err != nil {
			return t.cut(err)
		}
		if !ok || r.Offset >= u {
			return *t, nil
		}
		t.uncopied++
	}
}

// mostExtras is how many records of the target without an original are kept; the first of them decide.
const mostExtras = 4096

// tail takes what is left of the target when the source has ended.
func (t *trail) tail(d *cursor) (trail, error) {
	for i := 0; len(t.extras) < mostExtras; i++ {
		r, ok, err := d.peek(i)
		if err != nil {
			return t.cut(err)
		}
		if !ok {
			break
		}
		t.extras = append(t.extras, r)
		if t.aside == nil {
			t.aside = &r
		}
		t.extra++
	}
	return *t, nil
}

// how an agreement ahead was found.
type found uint8

const (
	nothing  found = iota // not within the widest window
	unique                // a record that stands once in both windows
	repeated              // only records that stand more often
	over                  // both sides were seen to their ends
)

// ahead finds the nearest place, by the sum of the steps on both sides, where a record that stands once in both windows agrees.
func ahead(s, d *cursor, m Mask, strict bool) (a, b int, how found, err error) {
	sizes := windows
	if strict {
		sizes = []int{first, 4096, 16384}
	}
	for _, n := range sizes {
		ss, slast, err := s.window(n)
		if err != nil {
			return 0, 0, nothing, err
		}
		ds, dlast, err := d.window(n)
		if err != nil {
			return 0, 0, nothing, err
		}
		if a, b, ok := nearest(ss, ds, m, true); ok {
			return a, b, unique, nil
		}
		if slast && dlast {
			if a, b, ok := nearest(ss, ds, m, false); ok && !strict {
				return a, b, repeated, nil
			}
			return 0, 0, over, nil
		}
		if n == sizes[len(sizes)-1] {
			if a, b, ok := nearest(ss, ds, m, false); ok && !strict {
				return a, b, repeated, nil
			}
		}
	}
	return 0, 0, nothing, nil
}

// seen is where a fingerprint stands in a window, and how often.
type seen struct{ at, n int }

// index tells of each fingerprint where it first stands.
func (m Mask) index(rs []Record) map[print]seen {
	in := make(map[print]seen, len(rs))
	for i, r := range rs {
		p := m.of(r)
		x, has := in[p]
		if !has {
			x.at = i
		}
		x.n++
		in[p] = x
	}
	return in
}

func nearest(ss, ds []Record, m Mask, alone bool) (a, b int, ok bool) {
	in := m.index(ss)
	counts := map[print]int{}
	if alone {
		for _, r := range ds {
			counts[m.of(r)]++
		}
	}
	best := math.MaxInt
	for j, r := range ds {
		p := m.of(r)
		x, has := in[p]
		if !has || alone && (x.n != 1 || counts[p] != 1) || x.at+j >= best {
			continue
		}
		a, b, ok, best = x.at, j, true, x.at+j
	}
	return a, b, ok
}
