package match

import "github.com/mm2doctor/mm2doctor/translate"

// tries is how many syncs below the position are tried as an anchor.
const tries = 8

// near is how many source offsets are walked from a sync without looking for a nearer place first.
const near = 2048

// guess is what should agree where no pair of records tells: everything but the headers.
const guess = Keys | Values | Times

// start is a place on both sides to walk from. strict says that it is only a place: the first agreement must prove itself.
type start struct {
	up, down int64
	mask     Mask
	link     int // -1 without one
	strict   bool
	above    *pair // the first pair above the position, where none is known below it
}

// within finds the place by the first cut links, on the target up to end.
func (m *Matcher) within(cut int, end int64) (Answer, error) {
	for {
		base := m.base
		a, err := m.place(cut, end)
		if err != nil || m.base == base || base >= cut {
			return a, err
		}
		// A sync turned out to belong to an earlier topic: without it, and all before it, again.
		m.known.valid = false
	}
}

func (m *Matcher) place(cut int, end int64) (Answer, error) {
	m.prev, m.hit = nil, nil
	i := m.below(m.u, cut)
	floor, trust, err := m.floor(i)
	if err != nil {
		return Answer{}, err
	}
	if m.u < m.s.Start {
		return m.original(i, cut, end, floor, trust)
	}
	from, ok, err := m.start(i)
	if k := m.known; k.valid && k.link == i && k.at.s.Offset <= m.u {
		from, ok = start{up: k.at.s.Offset, down: k.at.d.Offset, mask: k.mask, link: i}, true
	}
	if err != nil {
		return Answer{}, err
	}
	if i >= 0 && !ok && trust && m.chain[i].Upstream == m.u && !m.o.Foreign {
		a, _ := exact(m.chain[i].Downstream, "an offset sync of this very record")
		a.Anchor = m.sync(i)
		return a, nil
	}
	if !ok {
		if x, level, err := m.level(i, cut); err != nil && err != errBudget {
			return Answer{}, err
		} else if level && err == nil {
			from, ok = x, true
		}
	}
	top, err := m.top(i, cut, trust)
	if err != nil {
		return Answer{}, err
	}
	if i < 0 && top != nil && top.d.Offset-m.d.Start <= 64 {
		if rs, err := m.all(m.dst, m.d.Start, top.d.Offset, committed); err != nil && err != errBudget {
			return Answer{}, err
		} else if err == nil && len(rs) == 0 {
			m.hit = top
			a, err := m.first(*top, "the first copy")
			a.Anchor = m.sync(m.base)
			return a, err
		}
	}
	var best Answer
	if ok && (m.u-from.up <= near || m.room(i) <= near) {
		if best, err = m.from(from, top, end, floor); err != nil || best.Verdict > Ambiguous {
			return best, err
		}
	}
	if best.Why == "" || best.Verdict == Unverified {
		x, found, err := m.narrow(i, cut, floor, end)
		if err != nil {
			return Answer{}, err
		}
		if found {
			a, err := m.from(x, top, end, max(floor, x.floor(m)))
			if err != nil || best.Why == "" || a.Verdict > best.Verdict || a.Low > best.Low {
				return a, err
			}
		}
	}
	if best.Why == "" && ok {
		return m.from(from, top, end, floor)
	}
	if best.Why != "" {
		return best, nil
	}
	if i < m.base {
		if x, even, err := m.evenly(); err != nil && err != errBudget {
			return Answer{}, err
		} else if even && err == nil {
			return m.from(x, top, end, floor)
		}
	}
	return Answer{T: floor, Low: floor, High: end, Why: "no record near the position could be matched"}, nil
}

func (x start) floor(m *Matcher) int64 {
	if x.above == nil && x.up < m.u {
		return x.down + 1
	}
	return m.d.Start
}

func (m *Matcher) sync(i int) *translate.Sync {
	if i < 0 || i >= len(m.chain) || m.chain[i].found {
		return nil
	}
	return &m.chain[i].Sync
}

// floor is the lowest place that a sync below the position leaves.
func (m *Matcher) floor(i int) (int64, bool, error) {
	if i < 0 {
		return m.d.Start, false, nil
	}
	x := m.chain[i]
	if m.o.Foreign && x.Upstream == m.u {
		// Records of others may stand before its copy: the lowest place lies after the copy before.
		if i == m.base || m.chain[i-1].Upstream >= m.u {
			return m.d.Start, false, nil
		}
		return m.floor(i - 1)
	}
	ok, err := m.trusted(i)
	if err != nil || !ok || m.o.Reverse {
		return m.d.Start, false, err
	}
	if x.Upstream < m.u {
		return max(m.d.Start, x.Downstream+1), true, nil
	}
	return max(m.d.Start, x.Downstream), true, nil
}

// top is the link above the position, as a pair: the copy cannot lie behind it.
func (m *Matcher) top(i, cut int, trust bool) (*pair, error) {
	i = max(i+1, m.base)
	if i >= cut {
		return nil, nil
	}
	x := m.chain[i]
	st, err := m.anchor(i)
	if err != nil || st == differs || st == missing && !trust {
		return nil, err
	}
	return &pair{Record{Offset: x.Upstream}, Record{Offset: x.Downstream}}, nil
}

// start is where a walk to the position can begin: the nearest link of the same run whose records agree.
func (m *Matcher) start(i int) (start, bool, error) {
	for k := i; k >= m.base && k > i-tries && m.chain[k].Upstream <= m.u; k-- {
		x := m.chain[k]
		if m.o.Foreign && x.Upstream == m.u {
			continue // the records of others before it are to be seen
		}
		if x.Downstream > m.chain[i].Downstream {
			break
		}
		st, err := m.anchor(k)
		if err != nil || st == differs {
			return start{}, false, err
		}
		if st == agrees {
			return start{up: x.Upstream, down: x.Downstream, mask: m.chain[k].mask, link: k}, true, nil
		}
	}
	return start{}, false, nil
}

// from walks to the position and answers.
func (m *Matcher) from(x start, top *pair, end, floor int64) (Answer, error) {
	if x.above != nil {
		m.prev, m.hit = nil, x.above
		return m.before(x, floor)
	}
	m.prev, m.hit = nil, nil
	t, other, torn, err := m.compare(x.up, x.down, end, m.u, x.mask, x.strict, top)
	if err != nil {
		return Answer{}, err
	}
	m.prev, m.hit = t.p, t.r
	a, err := m.answer(t, floor, x.mask)
	if err != nil {
		return Answer{}, err
	}
	if torn {
		m.skipped = Control | Aborted
		b, err := m.answer(other, floor, x.mask)
		m.skipped = Control
		if err != nil {
			return Answer{}, err
		}
		if a.T != b.T || a.Verdict != b.Verdict {
			low := a
			if b.T < a.T || b.T == a.T && b.Verdict < a.Verdict {
				low = b
			}
			low.Low, low.High = low.T, max(a.T, b.T, low.High)
			if low.Verdict > Ambiguous {
				low.Verdict, low.Why = Ambiguous, "whether aborted records were mirrored cannot be told here"
			}
			a = low
		}
	} else if p := t.p; p != nil && !t.ambiguous && !t.lost && !m.o.Reverse {
		if k := m.below(m.u, m.cut); k < 0 || p.d.Offset >= m.chain[k].Downstream {
			m.known = known{at: *p, mask: x.mask, link: k, valid: true}
		}
	}
	a.Anchor = m.sync(x.link)
	a.Transformed = x.mask&HeaderSets == 0
	return a, nil
}

// before answers from a pair above the position.
func (m *Matcher) before(x start, floor int64) (Answer, error) {
	t := trail{r: x.above}
	low := Answer{T: floor, Low: floor, High: x.above.d.Offset, Verdict: Ambiguous, Why: "nothing below the position agrees"}
	if x.above.d.Offset-floor > mostExtras {
		return low, nil
	}
	var err error
	if t.extras, err = m.all(m.dst, floor, x.above.d.Offset, committed); err != nil {
		return low, quiet(err)
	}
	a, err := m.withoutLower(t, floor)
	a.Transformed = x.mask&HeaderSets == 0
	return a, err
}
