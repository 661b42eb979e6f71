package plan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// What a row's To rests on.
const (
	byRecords    = "records"
	byRange      = "range"
	byMM2        = "mm2"
	byCheckpoint = "checkpoint"
	byState      = "state"
	byFile       = "file"
	byFallback   = "fallback"
	byEnd        = "end"
	byStart      = "start"
)

// recordsSay stands before why records did not decide.
const recordsSay = "; records: "

// settle chooses To for one row, or says why there is none. Nothing that was not proved is put above what was: the choices stand in
// the order of how much they prove, and each gives its lower end.
func (w *Wants) settle(g *wanted, x *want, a *Answer) {
	r := &x.row
	if a.Target != nil {
		r.LogStart, r.Stable, r.End = a.Target.Start, a.Target.Stable, a.Target.End
	}
	if a.Source != nil {
		r.SourceEnd = a.Source.End
	}
	switch {
	case x.refusal != nil:
		return
	case r.LogStart < 0 || r.End < r.LogStart:
		t, _ := x.target.Get()
		gap := cmp.Or(x.target.Why(), t.End.Why(), t.Start.Why(), notAsked)
		if a.Why != "" {
			gap = &snapshot.Gap{Code: "failed", Why: a.Why}
		}
		x.refusal = notKnown(Unmapped, fmt.Sprintf("where the log of %s-%d on %s begins and ends", r.TargetTopic, r.Partition, w.to.Alias), gap)
		return
	}
	x.also = a.Also
	for i := range a.Also {
		if r.Before != nil && a.Also[i].Offset == r.Before.Offset {
			c := a.Also[i]
			r.BeforeCount = &c
		}
	}
	at, ok := w.choose(x, a)
	if ok {
		at = w.tighten(x, a, at)
	}
	if x.wish != nil {
		at, ok = w.wishedAt(x, a), true
	}
	if !ok {
		if x.refusal == nil {
			at, ok = w.fallback(x, a)
		}
		if !ok {
			return
		}
	}
	w.clamp(r, at, a)
	if x.bound != nil && r.Basis != byFile {
		r.ReReadUpTo = min(r.ReReadUpTo+x.bound[1]-x.bound[0], r.End-*r.To)
	}
	w.guard(g, x)
}

// choose takes the answer that proves most.
func (w *Wants) choose(x *want, a *Answer) (int64, bool) {
	r := &x.row
	if r.From == nil {
		return 0, false
	}
	if m := a.Records; m != nil && m.Verdict != match.Unverified {
		r.Basis, r.Verdict, r.Evidence = byRecords, m.Verdict.String(), m.Why
		r.Bound = &[2]int64{m.Low, m.High}
		r.ReReadUpTo = m.Between
		if m.Anchor != nil {
			r.Sync = &SyncRef{m.Anchor.Upstream, m.Anchor.Downstream, m.Anchor.Offset}
		}
		switch m.Verdict {
		case match.NotMirrored:
			r.Basis, r.NotMirrored = byEnd, m.Uncopied
			if w.sel.Reverse {
				lack := fmt.Sprintf("group %s has read %s of %s-%d on %s that are not on %s: %s", x.group, finding.Count(int(m.Uncopied), "record"), r.Topic, r.Partition, w.from.Alias, w.to.Alias, m.Why)
				if x.syncs.Swapped {
					lack = fmt.Sprintf("%s of %s-%d on %s, read by group %s or yet to be read, are not on %s: %s", finding.Count(int(m.Uncopied), "record"), r.Topic, r.Partition, w.from.Alias, x.group, w.to.Alias, m.Why)
				}
				x.refusal = &Refusal{Code: Unmapped, Slug: "not-mirrored-back", Because: lack,
					Next: fmt.Sprintf("wait until they are mirrored back, then plan again; records that were written on %s into a topic that no flow mirrors back never come", w.from.Alias)}
				return 0, false
			}
		case match.Gone:
			r.Basis = byStart
			r.Gone = cmp.Or(m.Gone, r.LogStart-lowOf(a, r.LogStart))
		}
		return m.T, true
	}
	kept := w.kept(x)
	if kept != nil && kept.Offset == r.From.Offset {
		r.Basis, r.Verdict, r.Evidence = byState, kept.Verdict, fmt.Sprintf("found %s ago, while both clusters answered", Span(max(0, w.now-kept.Time)))
		r.Bound = &[2]int64{kept.Target, kept.Target}
		return kept.Target, true
	}
	if kept != nil && keptIsBest(a, kept.Target) {
		high := r.End
		if a.Range != nil {
			high = max(kept.Target, a.Range.High)
		}
		r.Basis, r.Verdict = byState, "bound"
		r.Bound, r.ReReadUpTo = &[2]int64{kept.Target, high}, max(0, high-kept.Target)
		r.Evidence = fmt.Sprintf("the state file has the place of position %d, below this one, found %s ago", kept.Offset, Span(max(0, w.now-kept.Time)))
		return kept.Target, true
	}
	if b := a.Range; b != nil {
		r.Basis, r.Verdict = byRange, "bound"
		if b.Low == b.High {
			r.Verdict = match.Exact.String()
		}
		low := b.Low
		if m := a.Records; m != nil && b.Low < b.High {
			low = max(low, m.Low) // as far as the comparison came, nothing is skipped
		}
		r.Bound, r.ReReadUpTo = &[2]int64{low, max(low, b.High)}, max(0, b.High-low)
		r.Evidence = fmt.Sprintf("bounded by %s", finding.Count(b.Syncs, "offset sync"))
		if b.Look > 0 {
			r.Evidence += fmt.Sprintf(" of the captured snapshot, %s old", Span(max(0, w.now-b.Look)))
			if b.Low == b.High { // what was mirrored again since is not in it
				r.Verdict = match.ExactRepeat.String()
			}
		}
		if b.Counted {
			r.Evidence += " and the target's records between them"
		}
		if b.Below != nil {
			r.Sync = &SyncRef{b.Below.Upstream, b.Below.Downstream, b.Below.Offset}
		}
		if a.Records != nil {
			r.Evidence += recordsSay + a.Records.Why
		} else if a.Why != "" {
			r.Evidence += recordsSay + a.Why
		}
		return low, true
	}
	if m := a.Records; m != nil && m.Refuted {
		a.Why = cmp.Or(a.Why, "records contradict offset syncs of this partition, from which MirrorMaker 2's own number comes too: "+m.Why)
		return 0, false
	}
	return w.byMirrorMaker(x, a)
}

// lowOf is the lowest offset that the position may have had on the target, for counting what is gone.
func lowOf(a *Answer, end int64) int64 {
	if a.Range != nil {
		return min(a.Range.Low, end)
	}
	return end
}

// byMirrorMaker falls back to what MirrorMaker 2 itself made of the position, or of one before it. From 3.4.1 on that never skips;
// before, it counts on linearly and may.
func (w *Wants) byMirrorMaker(x *want, a *Answer) (int64, bool) {
	r := &x.row
	if x.syncs.Swapped || w.writer == nil || x.syncs.Flow != w.writer.Flow().Name() {
		return 0, false
	}
	take := func(basis string, at int64, evidence string) (int64, bool) {
		r.Basis, r.Verdict, r.Evidence = basis, "bound", evidence
		r.Bound, r.ReReadUpTo = &[2]int64{at, max(at, r.End)}, max(0, r.End-at)
		if may, must := w.countsOn(); may {
			r.Verdict = match.Unverified.String()
			switch {
			case at <= r.LogStart || w.sel.Options.AllowSkip:
			case w.sel.Options.Fallback == "earliest":
				return 0, false
			case !must && w.sel.SourceLost: // what would tell the release is given up
				r.Evidence += "; which release wrote it is not known, and up to 3.4.0 the number may lie behind records that were never read: --mm2-version tells"
				w.unsure = append(w.unsure, x)
			default:
				x.refusal = &Refusal{Code: WouldSkip, Because: fmt.Sprintf("only MirrorMaker 2's own number %d is left for %s-%d, and a release up to 3.4.0 counts on linearly: whether it skips records cannot be told", at, r.TargetTopic, r.Partition), Next: "--mm2-version where the release is newer; --allow-skip to take it; --fallback earliest to read all again"}
			}
		}
		return at, x.refusal == nil
	}
	if x.elsewhere {
		return 0, false // MirrorMaker 2's number is one of another topic
	}
	if r.MM2 != nil {
		return take(byMM2, *r.MM2, "what MirrorMaker 2 gives: "+cmp.Or(a.Why, "nothing better was found"))
	}
	if c, st := x.checkpoint.Get(); st == snapshot.Known && c.Up <= r.From.Offset && c.Down >= 0 && !w.anewSince(r, c.Time) {
		what := fmt.Sprintf("equal to MirrorMaker 2's last checkpoint, %s old: nothing better exists", Span(w.now-c.Time))
		if c.Up < r.From.Offset {
			what = fmt.Sprintf("MirrorMaker 2's last checkpoint, %s old, of an earlier position (%d): nothing better exists", Span(w.now-c.Time), c.Up)
		}
		return take(byCheckpoint, c.Down, what)
	}
	if c := w.floor(x, a); c != nil {
		return take(byCheckpoint, c.Down, fmt.Sprintf("MirrorMaker 2's checkpoint %d -> %d of group %s, %s old: nothing better exists", c.Up, c.Down, c.Group, Span(max(0, w.now-c.Time))))
	}
	return 0, false
}

// wishedAt takes the operator's own number and counts what it costs.
func (w *Wants) wishedAt(x *want, a *Answer) int64 {
	r, at := &x.row, *x.wish
	low, proved := r.LogStart, false
	if r.Bound != nil {
		low, proved = r.Bound[0], true
	}
	found := cmp.Or(r.Basis, "no position")
	*r = Row{Topic: r.Topic, TargetTopic: r.TargetTopic, Partition: r.Partition, TopicID: r.TopicID, TargetTopicID: r.TargetTopicID, From: r.From, FromBasis: byFile, Before: r.Before, BeforeCount: r.BeforeCount, Epoch: r.Epoch,
		Basis: byFile, Bound: r.Bound, Sync: r.Sync, MM2: r.MM2, MM2Why: r.MM2Why, Unknown: r.Unknown, Verdict: r.Verdict, LogStart: r.LogStart, Stable: r.Stable, End: r.End, SourceEnd: r.SourceEnd}
	x.refusal = nil
	to := r.within(at)
	skip := to > low
	for _, c := range a.Also {
		if c.Offset == at {
			r.ReRead, r.ReReadUpTo, r.Skipped = c.ReRead, c.ReRead, c.Skipped
			skip = c.Skipped > 0
			if !c.Known {
				r.ReRead = 0
				r.Evidence = "counted by offsets, at most"
			}
			proved = true
		}
	}
	if r.Bound != nil && r.Evidence == "" {
		r.Evidence = fmt.Sprintf("by %s the position lies in [%d, %d]", found, r.Bound[0], r.Bound[1])
	}
	switch {
	case !proved:
		r.Skipped = max(0, to-low)
		r.ReReadUpTo = max(0, r.End-to)
		r.Evidence = "where the group stands is not known: what the wish skips is bounded by offsets"
	case skip && r.Skipped == 0:
		r.Skipped = to - low
		r.Evidence = cmp.Or(r.Evidence, "counted by offsets, at most")
	}
	return at
}

// fallback is for what has no mapping at all.
func (w *Wants) fallback(x *want, a *Answer) (int64, bool) {
	r := &x.row
	why := cmp.Or(a.Why, "no offset sync, no checkpoint and no agreeing records")
	if r.From == nil && x.wish == nil {
		why = "the group has no position there"
	}
	name := cmp.Or(w.sel.Options.Fallback, "")
	take := func(at int64) (int64, bool) {
		r.Basis, r.Verdict = byFallback, match.Unverified.String()
		r.Evidence = "--fallback " + name + ": " + why
		r.Skipped, r.ReReadUpTo = max(0, at-r.LogStart), max(0, r.End-at)
		return at, true
	}
	switch ms, timed := fallbackTime(name); {
	case name == "earliest":
		return take(r.LogStart)
	case name == "latest":
		return take(r.End)
	case timed && a.AtTime != nil:
		return take(*a.AtTime)
	case timed:
		x.refusal = notKnown(Unmapped, fmt.Sprintf("which record of %s-%d is the first at or after %s", r.TargetTopic, r.Partition, stamp(ms)), &snapshot.Gap{Code: "failed", Why: cmp.Or(a.Why, "not answered")})
		return 0, false
	case name == "leave" && a.Unread != "" && r.From != nil && x.wish == nil:
		x.refusal = notKnown(Unmapped, fmt.Sprintf("where the position %d of %s-%d lies on %s", r.From.Offset, r.Topic, r.Partition, w.to.Alias), &snapshot.Gap{Code: "failed", Why: a.Unread})
		return 0, false
	case name == "leave":
		r.Action, r.Because = Leave, why
		return 0, false
	}
	x.refusal = &Refusal{Code: Unmapped, Because: fmt.Sprintf("%s-%d has no mapping to %s-%d: %s", r.Topic, r.Partition, r.TargetTopic, r.Partition, why),
		Next: "--fallback earliest reads all again, latest and timestamp:TIME skip what lies before, leave writes nothing, so that consumers start by auto.offset.reset"}
	return 0, false
}

func (r *Row) within(o int64) int64 { return match.Bounds{Start: r.LogStart, End: r.End}.Within(o) }

// clamp keeps To within the log, always, and says what that did.
func (w *Wants) clamp(r *Row, at int64, a *Answer) {
	to := r.within(at)
	switch {
	case at < r.LogStart:
		r.Gone = max(r.Gone, r.LogStart-at)
		r.Clamped = fmt.Sprintf("raised from %d to the log start %d: the records before it are gone (at most %d)", at, r.LogStart, r.LogStart-at)
	case at > r.End:
		r.Clamped = fmt.Sprintf("lowered from %d to the end of the log, %d", at, r.End)
	case r.Gone > 0:
		r.Clamped = fmt.Sprintf("at the log start %d: records before it are gone", r.LogStart)
	}
	r.ReReadUpTo = max(r.ReRead, min(r.ReReadUpTo, r.End-to))
	r.To = &to
}

// guard refuses what takes a group back, or past records that it has not read.
func (w *Wants) guard(g *wanted, x *want) {
	r, o := &x.row, w.sel.Options
	to := *r.To
	if r.Skipped > 0 && !o.AllowSkip {
		what := finding.Count(int(r.Skipped), "record")
		if r.Evidence != "" && (r.Basis == byFallback || strings.Contains(r.Evidence, "offsets")) {
			what = "up to " + what
		}
		x.refusal = &Refusal{Code: WouldSkip, Because: fmt.Sprintf("group %s would never read %s of %s-%d that lie before %d (%s)", g.g.TargetGroup, what, r.TargetTopic, r.Partition, to, r.Basis), Next: "give a lower offset, or say --allow-skip"}
		return
	}
	if b := r.Before; b != nil && to < b.Offset && to < r.End && !o.AllowRewind {
		again := "up to " + finding.Count(int(min(b.Offset, r.End)-to), "record")
		if c := r.BeforeCount; c != nil && c.Known && r.Verdict == match.Exact.String() {
			again = finding.Count(int(max(0, c.Skipped-r.Skipped)+max(0, r.ReRead-c.ReRead)), "record")
		}
		beyond := ""
		if b.Offset > r.End {
			beyond = fmt.Sprintf("; %d lies beyond the end of the log, %d, where nobody has read yet", b.Offset, r.End)
		}
		next := fmt.Sprintf("if the group on %s has not really read them (a drill, a wrong commit of MirrorMaker 2), say --allow-rewind; else leave it: the other groups are written", w.to.Alias)
		if c, st := x.checkpoint.Get(); st == snapshot.Known && c.Down == b.Offset && r.Verdict != match.Exact.String() {
			if may, must := w.countsOn(); may && !must {
				next = fmt.Sprintf("%d is MirrorMaker 2's own checkpoint, and which release wrote it is not known: say it (--mm2-version 3.9.1), since from 3.4.1 on it skips nothing and is taken as a bound; ", b.Offset) + next
			}
		}
		x.refusal = &Refusal{Code: WouldRewind, Because: fmt.Sprintf("group %s would go back in %s-%d from %d to %d, and read %s (again)", g.g.TargetGroup, r.TargetTopic, r.Partition, b.Offset, to, again) + beyond, Next: next}
		return
	}
	if x.come != nil && to < *x.come && !o.AllowRewind {
		x.refusal = &Refusal{Code: WouldRewind, Because: fmt.Sprintf("share group %s has come as far as %d in %s-%d, and setting its start to %d delivers again what it has done there since, up to %s", g.g.TargetGroup, *x.come, r.TargetTopic, r.Partition, to, finding.Count(int(*x.come-to), "record")), Next: fmt.Sprintf("if what was done on %s does not count (a drill), say --allow-rewind; else leave it: the other groups are written", w.to.Alias)}
		return
	}
	r.Action = Set
	if w.holdsAlready(g, x) {
		r.Action = Right
	}
}

// holdsAlready says that nothing has to be written: the same offset, with an epoch that lets consumers begin there.
func (w *Wants) holdsAlready(g *wanted, x *want) bool {
	r := &x.row
	b := r.Before
	if b == nil || b.Offset != *r.To || w.sel.Options.KeepMs > 0 {
		return false
	}
	if g.share { // acknowledgements beyond the start are wiped by setting it
		return x.come != nil && *x.come == *r.To
	}
	if r.From != nil && strings.HasPrefix(r.From.Metadata, streamsMetadata) && r.From.Metadata != b.Metadata {
		r.Because = "the offset is right, the stream time beside it is not"
		return false
	}
	if b.Epoch < 0 {
		return true
	}
	t, _ := x.target.Get()
	for _, e := range t.Epochs.Or(nil) {
		if e.Asked == b.Epoch && e.End >= b.Offset {
			return true
		}
	}
	r.Because = fmt.Sprintf("the offset is right; whether consumers begin there with the leader epoch %d beside it is not proved", b.Epoch)
	return false
}
