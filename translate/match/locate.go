package match

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	// ExactRepeat: as Exact, but the target holds more after T than the source after the position, so that a later repeat of the
	// same records cannot be excluded. It skips nothing.
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

// Isolation is which records of the source MirrorMaker 2 copies.
type Isolation uint8

const (
	// IsolationUnknown walks both ways where aborted records stand on the way.
	IsolationUnknown Isolation = iota
	// Uncommitted copies aborted records too: MirrorMaker 2's default.
	Uncommitted
	// Committed leaves aborted records out: consumer.isolation.level=read_committed.
	Committed
)

// Options of a comparison.
type Options struct {
	Isolation Isolation
	// Foreign says that others write to the target topic as well (identity policy, local producers).
	Foreign bool
	// Reverse says that the syncs are swapped: the position is one of a copy and its original is looked for (failback). Across
	// repeats only the lower place is safe then, and none is called exact.
	Reverse bool
	// Most is how many records of both sides together may be read for one position; 0 is without limit.
	Most int
}

// Answer is where a position lies on the target.
type Answer struct {
	T       int64
	Verdict Verdict
	// Low and High are what is possible; equal where the answer is proved.
	Low, High int64
	// Anchor is the offset sync that the comparison started from; nil without one.
	Anchor *translate.Sync
	// Uncopied is how many source records below the position have no copy yet.
	Uncopied int64
	// Gone is how many records at or after the position were mirrored and lie below the target's log start; an upper bound where
	// the verdict is not Gone with an anchor on either side.
	Gone int64
	// Between is how many records a consumer may at most read again from T on because the place is not proved: those of the target
	// from Low up to High. 0 where it is proved.
	Between int64
	// Read is how many records were read.
	Read int
	// Transformed says that headers differ between original and copy (a transformation on the way).
	Transformed bool
	Why         string
}

// Matcher finds positions of one partition. What holds for the whole partition is found out once, when it is first needed. It is
// not safe for concurrent use.
type Matcher struct {
	src, dst Side
	syncs    []translate.Sync
	s, d     Bounds
	o        Options
	ready    bool
	epochs   [][]translate.Sync
	reaches  []int64 // by epoch: the last source offset it copied
	skipped  Flags   // what a copy may leave out of the source: markers, and aborted records where it reads committed ones only

	u     int64 // the position in hand
	spent int   // records read for it
}

// New is for the positions of one partition of src, whose copy is dst. Syncs are the partition's, in the order of the topic. It
// reads nothing.
func New(src, dst Side, syncs []translate.Sync, o Options) *Matcher {
	if o.Most == 0 {
		o.Most = math.MaxInt
	}
	return &Matcher{src: src, dst: dst, syncs: syncs, s: src.Bounds(), d: dst.Bounds(), o: o}
}

// Locate finds the position u: the next record that a consumer of the source reads. Positions that come in ascending order cost
// least. An error is one of reading, and concerns this position only.
func (m *Matcher) Locate(u int64) (Answer, error) {
	m.u, m.spent = min(u, m.s.End), 0
	if !m.ready {
		m.epochs = valid(m.syncs, m.s.End, m.d.End)
		if err := m.hidden(); err != nil {
			return Answer{}, err
		}
		m.ready = true
	}
	a, err := m.find()
	if err != nil {
		return Answer{}, err
	}
	a.Read = m.spent
	if a.T < m.d.Start {
		a.T, a.Low, a.High, a.Verdict = m.d.Start, m.d.Start, m.d.Start, Gone
	}
	a.T = min(a.T, m.d.End)
	if a.Verdict == Exact && m.d.End-a.T > m.s.End-m.u && a.T < m.d.Stable {
		a.Verdict = ExactRepeat
	}
	return a, nil
}

// valid splits the syncs into epochs: a new one begins where an offset falls. One that holds a sync at or beyond an end belongs
// to an earlier topic or to another flow and is dropped whole.
func valid(syncs []translate.Sync, sourceEnd, targetEnd int64) [][]translate.Sync {
	var all [][]translate.Sync
	for i, s := range syncs {
		if i == 0 || s.Upstream <= syncs[i-1].Upstream && s != syncs[i-1] || s.Downstream < syncs[i-1].Downstream {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], s)
	}
	return slices.DeleteFunc(all, func(e []translate.Sync) bool {
		return slices.ContainsFunc(e, func(s translate.Sync) bool { return s.Upstream >= sourceEnd || s.Downstream >= targetEnd })
	})
}

func (m *Matcher) find() (Answer, error) {
	if m.u < m.s.Start {
		return m.original()
	}
	if e, end := m.epoch(); e != nil {
		return m.within(e, end)
	}
	return m.without()
}

// epoch chooses the newest epoch that begins at or below the position, unless an older one copied further: then the newest is
// still going over what the older one had done, and only the older copy holds everything in order.
func (m *Matcher) epoch() (e []translate.Sync, end int64) {
	best := -1
	for i := len(m.epochs) - 1; i >= 0; i-- {
		if m.epochs[i][0].Upstream <= m.u {
			best = i
			break
		}
	}
	if best < 0 {
		return nil, m.d.End
	}
	for i := range m.epochs {
		if m.reaches[i] > m.reaches[best] {
			best = i
		}
	}
	return m.epochs[best], m.epochEnd(best)
}

// epochEnd is where the next copy begins on the target.
func (m *Matcher) epochEnd(i int) int64 {
	if i+1 < len(m.epochs) {
		return m.epochs[i+1][0].Downstream
	}
	return m.d.End
}

// mostSplits is how many stretches are looked into for a copy that began again without a step back in the syncs.
const mostSplits = 16

// hidden finds copies that began again without a step back in the syncs: the earlier copy had gone on beyond its last sync. It
// matters only where the newest copy has not come as far yet, so only stretches that hold enough records to reach further are
// compared.
func (m *Matcher) hidden() error {
	if len(m.epochs) == 0 {
		return nil
	}
	last := len(m.epochs) - 1
	far, err := m.reach(m.epochs[last], m.d.End)
	if err != nil {
		return err
	}
	var out [][]translate.Sync
	splits := 0
	for _, e := range m.epochs {
		from := 0
		for i := 1; i < len(e); i++ {
			y, x := e[i-1], e[i]
			if y.Upstream+x.Downstream-y.Downstream-1 <= max(far, x.Upstream-1) || splits == mostSplits {
				continue
			}
			r, err := m.reach(e[i-1:i], x.Downstream)
			if err != nil {
				return err
			}
			if r >= x.Upstream {
				out = append(out, e[from:i])
				from = i
				splits++
			}
		}
		out = append(out, e[from:])
	}
	m.epochs = out
	m.reaches = make([]int64, len(out))
	if len(out) == 1 {
		m.reaches[0] = far
		return nil
	}
	for i, e := range out {
		if m.reaches[i], err = m.reach(e, m.epochEnd(i)); err != nil {
			return err
		}
	}
	return nil
}

// reach is the last source offset that an epoch copied.
func (m *Matcher) reach(e []translate.Sync, end int64) (int64, error) {
	last := e[len(e)-1]
	a, err := m.anchor(last)
	if err != nil || a.state != agrees {
		return last.Upstream, err
	}
	s, d := m.cursors(last.Upstream, last.Downstream, end, data)
	t, err := walk(s, d, math.MaxInt64, a.mask, false)
	if err != nil || t.p == nil {
		return last.Upstream, err
	}
	return t.p.s.Offset, nil
}

func (m *Matcher) cursors(up, down, end int64, keep func(Record) bool) (s, d *cursor) {
	return &cursor{side: m.src, next: max(up, m.s.Start), end: m.s.End, keep: keep, spent: &m.spent, most: m.o.Most},
		&cursor{side: m.dst, next: max(down, m.d.Start), end: end, keep: committed, spent: &m.spent, most: m.o.Most}
}

// anchorState is what became of the two records of a sync.
type anchorState uint8

const (
	missing anchorState = iota // one of them is gone: the sync is only a place
	differs                    // both are there and are not the same record
	agrees
)

type anchorAt struct {
	state anchorState
	mask  Mask
}

func (m *Matcher) anchor(x translate.Sync) (anchorAt, error) {
	s, sok, err := m.at(m.src, m.s, x.Upstream)
	if err != nil {
		return anchorAt{}, err
	}
	d, dok, err := m.at(m.dst, m.d, x.Downstream)
	if err != nil || !sok || !dok {
		return anchorAt{}, err
	}
	mask, ok := agreement(s, d)
	if !ok {
		return anchorAt{state: differs}, nil
	}
	return anchorAt{agrees, mask}, nil
}

// at reads the record of one offset; ok is false where there is none.
func (m *Matcher) at(side Side, b Bounds, offset int64) (r Record, ok bool, err error) {
	if offset < b.Start || offset >= b.End {
		return Record{}, false, nil
	}
	for from := offset; from <= offset; {
		rs, next, err := side.Read(from, offset+1)
		if err != nil {
			return Record{}, false, err
		}
		m.spent += len(rs)
		for _, r := range rs {
			if r.Offset == offset && !r.Has(Control) {
				return r, true, nil
			}
		}
		if next <= from {
			break
		}
		from = next
	}
	return Record{}, false, nil
}

// tries is how many syncs below the position are tried as an anchor.
const tries = 8

func (m *Matcher) within(e []translate.Sync, end int64) (Answer, error) {
	i, _ := slices.BinarySearchFunc(e, m.u, func(s translate.Sync, u int64) int { return cmp.Compare(s.Upstream, u+1) })
	below := e[:i] // at or below the position
	var place *translate.Sync
	for k := len(below) - 1; k >= max(0, len(below)-tries); k-- {
		x := below[k]
		a, err := m.anchor(x)
		if err != nil {
			return Answer{}, err
		}
		switch a.state {
		case agrees:
			return m.from(x, end, a.mask, false)
		case missing:
			if place == nil {
				place = &x
			}
		}
	}
	if i < len(e) {
		if a, ok, err := m.backwards(e[i]); err != nil || ok {
			return a, err
		}
	}
	if place != nil {
		return m.from(*place, end, guess, true)
	}
	return Answer{T: m.d.Start, Low: m.d.Start, High: m.d.End, Why: "no offset sync points at two records that agree"}, nil
}

// guess is what should agree where no pair of records tells: everything but the headers.
const guess = Keys | Values | Times

// without is for a position below every sync, or for a partition without any.
func (m *Matcher) without() (Answer, error) {
	if len(m.epochs) == 1 {
		if a, ok, err := m.backwards(m.epochs[0][0]); err != nil || ok {
			return a, err
		}
	}
	if len(m.epochs) > 1 {
		return Answer{T: m.d.Start, Low: m.d.Start, High: m.d.End, Why: "the position lies before every offset sync, and the partition was mirrored more than once"}, nil
	}
	return m.both(m.s.Start, m.d.Start, m.d.End, guess, true)
}

// backwards compares the records between the position and a sync above it, without any gap.
func (m *Matcher) backwards(x translate.Sync) (Answer, bool, error) {
	a, err := m.anchor(x)
	if err != nil || a.state != agrees {
		return Answer{}, false, err
	}
	ss, err := m.all(m.src, m.u, x.Upstream+1, data)
	if err != nil {
		return Answer{}, false, quiet(err)
	}
	from := max(m.d.Start, x.Downstream-2*(x.Upstream-m.u)-first)
	ds, err := m.all(m.dst, from, x.Downstream+1, committed)
	if err != nil || len(ds) < len(ss) || slices.ContainsFunc(ss, func(r Record) bool { return r.Has(Aborted) }) {
		return Answer{}, false, quiet(err)
	}
	if ss[0].Offset != m.u {
		if dense, err := m.nothingBetween(m.u-1, ss[0].Offset); err != nil || !dense {
			return Answer{}, false, err
		}
	}
	ds = ds[len(ds)-len(ss):]
	for i := range ss {
		if a.mask.of(ss[i]) != a.mask.of(ds[i]) {
			return Answer{}, false, nil
		}
	}
	t := ds[0].Offset
	return Answer{T: t, Low: t, High: t, Verdict: Exact, Anchor: &x, Transformed: a.mask&HeaderSets == 0, Why: "compared backwards from the offset sync above"}, true, nil
}

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
	for from < to {
		if m.spent >= m.o.Most {
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

func (m *Matcher) from(x translate.Sync, end int64, mask Mask, strict bool) (Answer, error) {
	a, err := m.both(x.Upstream, x.Downstream, end, mask, strict)
	a.Anchor = &x
	return a, err
}

// fewest is how many records must agree where no offset sync vouches for the place.
const fewest = 8

// both walks as MirrorMaker 2 copies, in both ways where it is not known whether it copies aborted records.
func (m *Matcher) both(up, down, end int64, mask Mask, strict bool) (Answer, error) {
	one := func(keep func(Record) bool) (Answer, trail, bool, error) {
		aborted := false
		m.skipped = Control
		if !keep(Record{Flags: Aborted}) {
			m.skipped |= Aborted
		}
		s, d := m.cursors(up, down, end, func(r Record) bool {
			aborted = aborted || r.Has(Aborted)
			return keep(r)
		})
		t, err := walk(s, d, m.u, mask, strict)
		if err != nil {
			return Answer{}, t, false, err
		}
		a, err := m.answer(t, down)
		if strict && t.matches < fewest && a.Verdict == Exact {
			a.Low = max(down, m.d.Start)
			a.T, a.Verdict, a.Why = a.Low, Ambiguous, "too few records agree to be sure that they are the same"
		}
		a.Transformed = mask&HeaderSets == 0 && !strict
		return a, t, aborted, err
	}
	if m.o.Isolation == Committed {
		a, _, _, err := one(committed)
		return a, err
	}
	a, t, aborted, err := one(data)
	if err != nil || !aborted || m.o.Isolation == Uncommitted {
		return a, err
	}
	b, bt, _, err := one(committed)
	if err != nil || a.T == b.T && a.Verdict == b.Verdict {
		return a, err
	}
	switch x, y := t.doubts(), bt.doubts(); {
	case x < y:
		return a, nil
	case y < x:
		return b, nil
	}
	low := a
	if b.T < a.T {
		low = b
	}
	low.Low, low.High, low.Verdict, low.Why = low.T, max(a.T, b.T), Ambiguous, "whether aborted records were mirrored cannot be told here"
	return low, nil
}

// doubts counts what a walk could not explain.
func (t trail) doubts() int {
	n := t.passed
	if t.lost || t.short {
		n += 1 << 20
	}
	if t.ambiguous {
		n += 1 << 10
	}
	return n
}
