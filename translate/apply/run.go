package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// engine carries one plan out: a new one, what a journal left open, or what takes a journal back.
type engine struct {
	p      *plan.Plan // amended as it goes: what the header of the journal holds
	t      Target
	s      Source
	j      Journal
	o      Options
	l      *Log // nil for a new run
	head   Header
	back   bool // pre-images are restored
	tooOld *Refusal
	out    *Outcome
	jobs   []*job
	begun  bool // the journal has its header, or the entry of a resumed run
	dead   *Refusal
}

// Run carries a plan out. Refusals stand in the outcome; the error is about a cluster that could not be asked at all, or a
// context that ended, before anything was written. The journal gets its first entry right before the first write.
func Run(ctx context.Context, p *plan.Plan, t Target, s Source, j Journal, o Options) (*Outcome, error) {
	e := &engine{p: clone(p), t: t, s: s, j: j, o: o, head: Header{SchemaVersion: SchemaVersion, Command: "apply", Tool: o.Tool, PlanDigest: p.Digest}}
	return e.run(ctx, "apply")
}

// Resume finishes what a journal left open: of an apply or of a rollback. Groups that have an intent without a result are read
// back. What was written is noted; what was not is written now, under the same rules as at first; what holds a third value is
// refused. j adds to the same journal (OpenJournal gives both).
func Resume(ctx context.Context, l *Log, t Target, s Source, j Journal, o Options) (*Outcome, error) {
	e := &engine{p: clone(l.Header.Plan), t: t, s: s, j: j, o: o, l: l, head: l.Header, back: l.Header.Command == rollbackCommand}
	return e.run(ctx, "resume")
}

func (e *engine) run(ctx context.Context, command string) (*Outcome, error) {
	e.o.fill()
	p := e.p
	e.out = &Outcome{SchemaVersion: SchemaVersion, Tool: e.o.Tool, Command: command, Flow: p.Flow, Direction: p.Direction, Cluster: p.To, Plan: cmp.Or(e.head.PlanDigest, p.Digest), Started: e.o.stamp()}
	ref, err := e.whole(ctx)
	if err != nil {
		return nil, err
	}
	if ref != nil {
		e.out.Refusal = ref
		e.jobs = jobs(p, e.l)
		for _, j := range e.jobs {
			j.refuse(ref.Code, ref.Because, ref.Next)
		}
		return e.finish(), nil
	}
	if p.Options.StampEpoch && p.Options.KeepMs > 0 {
		e.out.Remarks = append(e.out.Remarks, "an explicit life goes by versions of OffsetCommit that have no leader epoch: committed without, which is always right")
	}
	e.jobs = jobs(p, e.l)
	if e.l == nil {
		for _, j := range e.jobs {
			j.vanish = slices.Contains(e.head.DeleteGroups, j.group)
		}
	}
	if err := e.precheck(ctx, e.jobs); err != nil {
		return nil, err
	}
	if err := e.refresh(ctx); err != nil {
		return nil, err
	}
	if e.tooOld != nil {
		for _, j := range e.jobs {
			if len(j.writes()) > 0 {
				j.refusal = e.tooOld
			}
		}
	}
	e.allOrNothing()
	e.write(ctx)
	return e.finish(), nil
}

// refresh makes groups anew whose source position moved, once.
func (e *engine) refresh(ctx context.Context) error {
	var ids []string
	for _, j := range e.jobs {
		if j.moved && !slices.ContainsFunc(j.rows, func(r *row) bool { return r.past != nil }) {
			ids = append(ids, j.plan.Group)
		}
	}
	if e.o.Refresh == nil || len(ids) == 0 {
		return nil
	}
	e.o.Progress(fmt.Sprintf("planning %s anew: source positions moved", finding.Count(len(ids), "group")))
	made, err := e.o.Refresh(ctx, ids)
	if err != nil {
		return fmt.Errorf("planning groups anew whose source positions moved: %w", err)
	}
	anew := map[string]bool{}
	for _, g := range made {
		if i := slices.IndexFunc(e.p.Groups, func(h plan.Group) bool { return h.Group == g.Group && h.TargetGroup == g.TargetGroup }); i >= 0 {
			e.p.Groups[i], anew[e.jobs[i].group] = g, true
		}
	}
	all := jobs(e.p, e.l)
	var again []*job
	for i, j := range all {
		if anew[j.group] {
			j.remarks = append(j.remarks, "planned anew: its source position had moved")
			e.jobs[i] = j
			again = append(again, j)
		}
	}
	return e.precheck(ctx, again)
}

// allOrNothing leaves every group alone when one is refused.
func (e *engine) allOrNothing() {
	if !e.p.Options.AllOrNothing {
		return
	}
	i := slices.IndexFunc(e.jobs, func(j *job) bool {
		return j.refusal != nil || slices.ContainsFunc(j.rows, func(r *row) bool { return r.state == Refused || r.state == Differs })
	})
	if i < 0 {
		return
	}
	for _, j := range e.jobs {
		if len(j.writes()) > 0 {
			j.refuse(plan.PartialOutcome, fmt.Sprintf("group %s is refused, and all or nothing was asked for", e.jobs[i].group), "settle that group, or leave out --all-or-nothing")
		}
	}
}

// write writes all groups that may be, chunk by chunk.
func (e *engine) write(ctx context.Context) {
	var todo []*job
	for _, j := range e.jobs {
		if len(j.writes()) > 0 || j.vanish && j.refusal == nil && j.existed {
			todo = append(todo, j)
		}
	}
	settled := e.settled()
	if len(todo) == 0 && len(settled) == 0 {
		return
	}
	if e.begin(settled); e.dead != nil {
		e.stop(todo)
		return
	}
	n := e.o.Chunk
	if e.p.Options.AllOrNothing {
		n = max(len(todo), 1)
	}
	done := 0
	for part := range slices.Chunk(todo, n) {
		if e.dead != nil || ctx.Err() != nil {
			e.stop(part)
			continue
		}
		e.chunk(ctx, part)
		done += len(part)
		e.o.Progress(fmt.Sprintf("written: %d of %s", done, finding.Count(len(todo), "group")))
	}
	if e.dead == nil {
		e.note(append(e.refusals(), Entry{Kind: KindEnd, Summary: e.count()})...)
	}
}

// settled are results that a resumed run found by reading back.
func (e *engine) settled() (out []Entry) {
	for _, j := range e.jobs {
		var done []EntryRow
		for _, r := range j.rows {
			if r.past != nil && r.past.result != KindVerified && (r.state == Written || r.state == Removed || r.state == Differs) {
				done = append(done, r.entry(true))
			}
		}
		if len(done) > 0 {
			out = append(out, Entry{Kind: KindVerified, Group: j.group, Partitions: done})
		}
	}
	return out
}

// begin writes the header, or where a resumed run begins. Whether a journal can be written shows here, before any request.
func (e *engine) begin(settled []Entry) {
	if e.l != nil {
		e.note(append([]Entry{{Kind: KindResume}}, settled...)...)
	} else {
		e.p.Seal()
		e.head.Plan = e.p
		e.note(Entry{Kind: KindHeader, Header: &e.head})
	}
	e.begun = e.dead == nil
}

// note appends entries; after the first failure nothing more is written anywhere.
func (e *engine) note(es ...Entry) {
	if e.dead != nil || len(es) == 0 {
		return
	}
	for i := range es {
		es[i].Time = e.o.stamp()
	}
	if err := e.j.Append(es...); err != nil {
		e.dead = &Refusal{Code: plan.JournalUnwritable, Because: "the journal cannot be written: " + err.Error(), Next: "make room, or give a place that can be written; nothing is written to Kafka without a journal"}
	}
}

// stop leaves groups that were not reached.
func (e *engine) stop(js []*job) {
	for _, j := range js {
		if e.dead != nil {
			j.refuse(e.dead.Code, e.dead.Because, e.dead.Next)
		} else {
			j.refuse(plan.PartialOutcome, "the run was interrupted before this group", "go on with the journal")
		}
	}
}

// refusals are those that the journal does not have yet.
func (e *engine) refusals() (out []Entry) {
	for _, j := range e.jobs {
		if j.refusal != nil && !j.noted {
			j.noted = true
			out = append(out, Entry{Kind: KindRefused, Group: j.group, Code: j.refusal.Code, Because: j.refusal.Because})
		}
	}
	return out
}

// chunk writes some groups: read again, intents on disk, one request each, results on disk, read back, findings on disk.
func (e *engine) chunk(ctx context.Context, js []*job) {
	now := e.t.Groups(ctx, idsOf(js))
	if ctx.Err() != nil {
		e.stop(js)
		return
	}
	for _, j := range js {
		e.still(j, now[j.group])
	}
	e.allOrNothing()
	var todo []*job
	es := e.refusals()
	for _, j := range js {
		ws := j.writes()
		if j.refusal != nil || len(ws) == 0 && !(j.vanish && j.existed) {
			continue
		}
		in := Entry{Kind: KindIntent, Group: j.group, Existed: j.existed, DeleteGroup: j.vanish}
		for _, r := range ws {
			in.Partitions = append(in.Partitions, EntryRow{Topic: r.tp.Topic, Partition: r.tp.Partition, Before: r.before, To: r.want})
		}
		es, todo = append(es, in), append(todo, j)
	}
	if e.note(es...); e.dead != nil {
		e.stop(todo)
		return
	}
	// An interrupt ends the run after the group in hand: a request that was sent is waited for.
	sure := context.WithoutCancel(ctx)
	sent := e.requests(ctx, sure, todo)
	back := e.t.Groups(sure, idsOf(sent))
	e.results(sent)
	for _, j := range sent {
		j.readBack(e, back[j.group])
	}
	e.vanish(sure, sent, back)
	e.proveAgain(sure, sent)
	var seen []Entry
	for _, j := range sent {
		v := Entry{Kind: KindVerified, Group: j.group}
		for _, r := range j.rows {
			if r.write && r.state != Unknown && r.state != Failed {
				v.Partitions = append(v.Partitions, r.entry(true))
			}
		}
		if len(v.Partitions) > 0 {
			seen = append(seen, v)
		}
	}
	e.note(seen...)
}

// requests sends one request per group, a few side by side, and gives the groups that were sent.
func (e *engine) requests(ctx, sure context.Context, js []*job) []*job {
	if e.o.Parallel == 1 {
		for i, j := range js {
			if ctx.Err() != nil {
				e.stop(js[i:])
				return js[:i]
			}
			e.request(sure, j)
		}
		return js
	}
	var wg sync.WaitGroup
	var sent []*job
	slots := make(chan struct{}, e.o.Parallel)
	for i, j := range js {
		if ctx.Err() != nil {
			e.stop(js[i:])
			break
		}
		sent = append(sent, j)
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			e.request(sure, j)
			<-slots
		}()
	}
	wg.Wait()
	return sent
}

// request makes the writing request of a group; a rollback may need one more, to remove what was not there.
func (e *engine) request(ctx context.Context, j *job) {
	var values []Value
	var none []kafka.TopicPartition
	for _, r := range j.writes() {
		if r.want == nil {
			none = append(none, r.tp)
		} else {
			values = append(values, Value{r.tp, *r.want})
		}
	}
	if j.share() {
		e.requestShare(ctx, j, values, none)
		return
	}
	if len(values) > 0 {
		j.fault(values, e.t.Commit(ctx, j.group, values, e.p.Options.KeepMs))
	}
	if len(none) > 0 {
		a := e.t.Delete(ctx, j.group, none)
		for _, r := range j.writes() {
			if r.want == nil {
				r.fault = a.at(r.tp)
			}
		}
	}
}

// requestShare sets start offsets. Removing goes by whole topics; within a topic -1 stands for "not initialised".
func (e *engine) requestShare(ctx context.Context, j *job, values []Value, none []kafka.TopicPartition) {
	kept := map[string]bool{}
	for _, r := range j.rows {
		if r.want != nil && r.planned() {
			kept[r.tp.Topic] = true
		}
	}
	var topics []string
	for _, tp := range none {
		if kept[tp.Topic] {
			values = append(values, Value{tp, plan.Committed{Offset: kafka.NoOffset, Epoch: kafka.NoEpoch}})
		} else if !slices.Contains(topics, tp.Topic) {
			topics = append(topics, tp.Topic)
		}
	}
	if len(values) > 0 {
		j.fault(values, e.t.AlterShare(ctx, j.group, values))
	}
	if len(topics) > 0 {
		a := e.t.DeleteShare(ctx, j.group, topics)
		for _, r := range j.writes() {
			if slices.Contains(topics, r.tp.Topic) {
				r.fault = a.at(kafka.TopicPartition{Topic: r.tp.Topic, Partition: -1})
			}
		}
	}
}

func (j *job) fault(values []Value, a Answer) {
	at := map[kafka.TopicPartition]bool{}
	for _, v := range values {
		at[v.TopicPartition] = true
	}
	for _, r := range j.writes() {
		if at[r.tp] {
			r.fault = a.at(r.tp)
		}
	}
}

// results notes what the brokers answered.
func (e *engine) results(js []*job) {
	var es []Entry
	for _, j := range js {
		by := map[Kind][]EntryRow{}
		for _, r := range j.writes() {
			k := KindWritten
			if r.fault != nil {
				if k = KindUnknown; definite(r.fault) {
					k = KindFailed
				}
			}
			by[k] = append(by[k], r.entry(false))
		}
		for _, k := range []Kind{KindWritten, KindFailed, KindUnknown} {
			if len(by[k]) > 0 {
				es = append(es, Entry{Kind: k, Group: j.group, Partitions: by[k]})
			}
		}
	}
	e.note(es...)
}

func (r *row) entry(found bool) EntryRow {
	out := EntryRow{Topic: r.tp.Topic, Partition: r.tp.Partition}
	if found {
		out.Found, out.State = r.found, r.state
	}
	if r.fault != nil {
		out.Error = r.fault.Error()
	}
	return out
}

// readBack compares what a group holds after its request with what was sent.
func (j *job) readBack(e *engine, now GroupNow) {
	j.holders = now.Holders
	for _, r := range j.writes() {
		o, ok := now.Offsets[r.tp]
		err := errors.Join(now.Err, o.Err)
		if r.found = nil; ok && err == nil && !(j.share() && o.Offset < 0) {
			r.found = &o.Committed
		}
		switch {
		case err != nil:
			r.state, r.code, r.why = Unknown, reading(err), "it was sent, and cannot be read back: "+err.Error()
			if r.fault != nil {
				r.why = r.fault.Error() + "; and it cannot be read back: " + err.Error()
			}
		case j.same(r.found, r.want):
			if r.state = Written; r.want == nil {
				r.state = Removed
			}
		case r.fault == nil:
			r.state, r.code, r.why = Differs, plan.VerifyMismatch, fmt.Sprintf("%s was sent and %s is there", show(r.want), show(r.found))
			if why := e.overwritten(j, r); why != "" {
				r.code, r.why = plan.WillNotHold, r.why+": "+why
			}
		case j.same(r.found, r.before) && definite(r.fault):
			r.state, r.code, r.why = Failed, about(r.fault), r.fault.Error()
		case j.same(r.found, r.before):
			r.state, r.code, r.why = Unknown, about(r.fault), r.fault.Error()+"; it was not written yet, and the request may still be under way"
		default:
			r.state, r.code, r.why = Differs, plan.VerifyMismatch, fmt.Sprintf("%v; %s is there, neither what was (%s) nor what was sent (%s)", r.fault, show(r.found), show(r.before), show(r.want))
		}
	}
}

// overwritten explains a value that MirrorMaker 2 put right after the write.
func (e *engine) overwritten(j *job, r *row) string {
	if e.back || r.found == nil || r.found.Epoch != kafka.NoEpoch {
		return ""
	}
	if r.plan.MM2 != nil && *r.plan.MM2 == r.found.Offset {
		return "MirrorMaker 2 put its own translation over it; stop its group-offset sync first"
	}
	if e.o.Moved != nil {
		return e.o.Moved(j.group, *r.plan, *r.found)
	}
	return ""
}

// vanish removes groups that did not exist before, when nothing is left in them.
func (e *engine) vanish(ctx context.Context, js []*job, back map[string]GroupNow) {
	for _, j := range js {
		now := back[j.group]
		if !j.vanish || !now.Exists || now.Err != nil || len(now.Holders) > 0 || now.State != kafka.StateEmpty {
			j.gone = j.vanish && now.Err == nil && !now.Exists
			continue
		}
		left := 0
		for _, o := range now.Offsets {
			if !(j.share() && o.Offset < 0) {
				left++
			}
		}
		if left > 0 {
			j.remarks = append(j.remarks, fmt.Sprintf("the group did not exist before and stays: it holds %d offsets of others", left))
			continue
		}
		if j.vanishFail = e.t.DeleteGroup(ctx, j.group); j.vanishFail == nil {
			j.gone = true
			j.remarks = append(j.remarks, "the group did not exist before and was removed")
		}
	}
}

// proveAgain looks at committed epochs after the write: an election in between may have cut them short.
func (e *engine) proveAgain(ctx context.Context, js []*job) {
	var qs []EpochQuery
	var rows []*row
	for _, j := range js {
		for _, r := range j.writes() {
			if r.state == Written && r.want.Epoch >= 0 && !e.back && !j.share() {
				qs, rows = append(qs, EpochQuery{r.tp, r.want.Epoch}), append(rows, r)
			}
		}
	}
	if len(qs) == 0 {
		return
	}
	for i, a := range e.t.Epochs(ctx, qs) {
		if r := rows[i]; a.Err != nil {
			r.remark = fmt.Sprintf("where leader epoch %d ends could not be read after the write: %v", r.want.Epoch, a.Err)
		} else if a.End < r.want.Offset {
			r.state, r.code, r.why = Differs, codeEpoch, fmt.Sprintf("leader epoch %d ends at %d now, below %d: consumers would start there", r.want.Epoch, a.End, r.want.Offset)
		}
	}
}
