package match

import (
	"fmt"
	"math"

	"github.com/mm2doctor/mm2doctor/translate"
)

// Isolation is which records of the source MirrorMaker 2 copies.
type Isolation uint8

const (
	// IsolationUnknown walks both ways where aborted records stand on the way, until one place of the partition decides.
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

// Matcher finds positions of one partition. What holds for the whole partition is found out once, when it is first needed. It is
// not safe for concurrent use.
type Matcher struct {
	src, dst Side
	syncs    []translate.Sync
	s, d     Bounds
	o        Options
	built    bool // the chain stands
	ready    bool // and what holds for it as a whole is known

	chain   []link
	base    int   // links before this one belong to an earlier topic
	firstOf int   // the base for which the target's first records were looked up
	runs    []int // where S.up falls: the first link of each run, ascending
	borders map[int]border
	far     int64 // the last source offset that is known to be copied by the newest run
	farSure bool  // and no further
	past    bool  // nothing that the source still holds is copied
	cut     int   // only links before this one count: later ones are a copy that has not come as far yet
	end     int64 // where the copy that counts ends on the target
	doubts  []doubt
	widest  []int64 // by link: the most target offsets between two neighbours from here on

	known   known
	heads   head
	even    even
	tail    int64     // records of the target after the newest sync's copy for which the source holds none, where records repeat
	mode    Isolation // as given, or as decided by comparing
	skipped Flags     // what the walk in hand leaves out of the source

	bufs [2][]Record // of walks
	seen counted     // what was counted on the target

	u         int64 // the position in hand
	prev, hit *pair // the pairs around it that the answer rests on
	spent     int   // records read for it
	most      int
}

// known is the last proved pair of an earlier position: the next one goes on from there.
type known struct {
	at    pair
	mask  Mask
	link  int
	valid bool
}

// New is for the positions of one partition of src, whose copy is dst. Syncs are the partition's, in the order of the topic. It
// reads nothing.
func New(src, dst Side, syncs []translate.Sync, o Options) *Matcher {
	if o.Most == 0 {
		o.Most = math.MaxInt
	}
	return &Matcher{src: src, dst: dst, syncs: syncs, s: src.Bounds(), d: dst.Bounds(), o: o, mode: o.Isolation}
}

// Locate finds the position u: the next record that a consumer of the source reads. Positions that come in ascending order cost
// least. An error is one of reading, and concerns this position only.
func (m *Matcher) Locate(u int64) (Answer, error) {
	if err := m.prepare(); err != nil {
		return Answer{}, err
	}
	m.u, m.spent, m.most = min(u, m.s.End), 0, m.o.Most
	base := m.base
	a, err := m.locate()
	if err == nil && m.base != base {
		// Syncs turned out to belong to an earlier topic: what holds for the whole is to be found out again without them.
		m.ready = false
		return m.Locate(u)
	}
	if err != nil {
		return Answer{}, err
	}
	if u > m.s.End && a.Verdict == NotMirrored || u > m.s.End && a.T >= m.d.Stable {
		a.Verdict = NotMirrored
		a.Uncopied += u - m.s.End
	}
	a.Read, a.Refuted = m.spent, m.base > 0 || m.tail > 0
	return a, nil
}

func (m *Matcher) locate() (Answer, error) {
	if m.d.End == m.d.Start {
		return m.empty()
	}
	if m.o.Reverse {
		a, err := m.reversed()
		if err != nil {
			return Answer{}, err
		}
		return m.finish(a)
	}
	if m.past && m.u >= m.s.Start {
		return m.beyond()
	}
	a, err := m.within(m.cut, m.end)
	if err != nil {
		return Answer{}, err
	}
	low, doubted, err := m.doubted()
	if err != nil {
		return Answer{}, err
	}
	if doubted && low < a.T {
		a.T, a.Low, a.High, a.Verdict = low, low, max(a.High, a.T), Unverified
		a.Why = "the partition was mirrored again, and whether the newest copy has come as far as an earlier one cannot be told"
	} else if doubted && a.Verdict == Exact {
		a.Verdict = ExactRepeat
	}
	return m.finish(a)
}

// finish keeps the answer within the log and counts what is not proved.
func (m *Matcher) finish(a Answer) (Answer, error) {
	if a.T < m.d.Start {
		a.Gone = max(a.Gone, m.d.Start-a.T)
		a.T, a.Low, a.High, a.Verdict = m.d.Start, m.d.Start, m.d.Start, Gone
	}
	a.T, a.Low = min(a.T, m.d.End), min(a.Low, m.d.End)
	a.High = min(max(a.High, a.T), m.d.End)
	if m.tail > 0 && a.Verdict >= Ambiguous && a.T < m.d.Stable {
		a.Low, a.High, a.Verdict, a.Gone = a.T, m.d.End, Ambiguous, 0
		a.Why = fmt.Sprintf("after the newest offset sync the target holds more records than the source (%d), and they are alike: the syncs may be of another flow, or of an earlier copy", m.tail)
	}
	if a.Verdict == Exact && a.T < m.d.Stable && !m.o.Reverse {
		if repeats, err := m.repeats(a); err != nil {
			return Answer{}, err
		} else if repeats {
			a.Verdict = ExactRepeat
		}
	}
	if a.Verdict == Ambiguous || a.Verdict == Unverified {
		a.Between = a.High - a.Low
		if a.Between <= 256 {
			if rs, err := m.all(m.dst, a.Low, a.High, committed); err == nil {
				a.Between = int64(len(rs))
			} else if err != errBudget {
				return Answer{}, err
			}
		}
	}
	return a, nil
}

// beyond is for a position after everything that was copied.
func (m *Matcher) beyond() (Answer, error) {
	a := Answer{T: m.d.Stable, Low: m.d.Stable, High: m.d.Stable, Verdict: NotMirrored, Why: "nothing that the source still holds has a copy yet"}
	return m.noneCopied(a)
}

// empty is for a target that holds nothing: there is only one place, and nothing can be skipped.
func (m *Matcher) empty() (Answer, error) {
	a := Answer{T: m.d.End, Low: m.d.End, High: m.d.End, Verdict: NotMirrored, Why: "the target holds no records"}
	if m.d.End > 0 {
		a.Verdict, a.Why = Gone, "the target holds no records any more"
		return a, nil
	}
	if m.o.Reverse || m.u <= m.s.Start {
		a.Verdict = Exact
		return a, nil
	}
	return m.noneCopied(a)
}

// noneCopied counts the records below the position, none of which has a copy.
func (m *Matcher) noneCopied(a Answer) (Answer, error) {
	a.Uncopied = m.u - m.s.Start
	if a.Uncopied <= mostRest {
		rs, err := m.all(m.src, m.s.Start, m.u, m.keeps())
		if err == nil {
			a.Uncopied = int64(len(rs))
		} else if err != errBudget {
			return a, err
		}
	}
	return a, nil
}
