package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// whole says why a plan as a whole may not be carried out; nil when it may.
func (e *engine) whole(ctx context.Context) (*Refusal, error) {
	p := e.p
	if err := p.Check(); err != nil {
		return &Refusal{Code: plan.PlanStale, Because: err.Error(), Next: nextReplan}, nil
	}
	seen := map[string]bool{}
	for _, j := range jobs(p, nil) {
		if seen[j.group] {
			return &Refusal{Code: plan.PlanStale, Because: fmt.Sprintf("the plan names group %s of the target twice", j.group), Next: nextReplan}, nil
		}
		seen[j.group] = true
	}
	// A rollback rests on nothing that ages: it compares with what was written. What a resumed run finds written is told at any age.
	if old := p.Stale(e.o.Now(), e.o.MaxAge); old != nil && !e.back {
		e.tooOld = refusal(old)
		if e.l == nil {
			return e.tooOld, nil
		}
	}
	id, err := e.t.ClusterID(ctx)
	if err != nil {
		return nil, err
	}
	if wrong := p.WrongCluster(id); wrong != nil {
		if id != "" && id == p.From.ID {
			wrong.Next = "this is the cluster that the positions come from, so that source and target are exchanged: " + wrong.Next
		}
		return refusal(wrong), nil
	}
	return nil, nil
}

func refusal(r *plan.Refusal) *Refusal {
	return &Refusal{Code: r.Code, Because: r.Because, Next: r.Next}
}

// precheck reads again what the plan assumes, twice, and refuses groups.
func (e *engine) precheck(ctx context.Context, js []*job) error {
	js = slices.DeleteFunc(slices.Clone(js), func(j *job) bool { return j.refusal != nil || !j.busy() })
	if len(js) == 0 {
		return nil
	}
	if err := e.reachable(ctx, js); err != nil {
		return err
	}
	topics := e.t.Topics(ctx, topicsOf(js))
	first := e.t.Groups(ctx, idsOf(js))
	if e.o.IdleProof > 0 && slices.ContainsFunc(js, func(j *job) bool { return !e.ended(j) }) {
		e.o.Progress(fmt.Sprintf("watching %s on %s for %s: nobody may move the offsets", finding.Count(len(js), "group"), e.p.To.Alias, e.o.IdleProof))
		if err := e.o.Sleep(ctx, e.o.IdleProof); err != nil {
			return err
		}
	}
	now := e.t.Groups(ctx, idsOf(js))
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, j := range js {
		e.still(j, first[j.group])
		e.still(j, now[j.group])
		e.logs(j, topics)
	}
	if err := e.sources(ctx, js); err != nil {
		return err
	}
	e.prove(ctx, js)
	return nil
}

// done says that a journal has a value as written and read back: whoever moved it since, the run had come to its end with it.
func (r *row) done() bool {
	return r.past != nil && r.past.result == KindVerified && r.past.state != Differs
}

// ended says that the run of a journal came to its end and left nothing of a group to be written: what moved since is nobody's refusal.
func (e *engine) ended(j *job) bool {
	if e.l == nil || !e.l.Ended || j.vanish && !j.gone {
		return false
	}
	if j.plan.Action == plan.Refused {
		return true
	}
	refused := slices.ContainsFunc(e.l.Entries, func(x Entry) bool { return x.Kind == KindRefused && x.Group == j.group })
	return !slices.ContainsFunc(j.rows, func(r *row) bool {
		// What has no intent there held its value already, where the group was not refused.
		return (r.plan.Action == plan.Set || r.plan.Action == Remove) && !r.done() && (r.past != nil || refused)
	})
}

// busy says that a group has something to be looked at.
func (j *job) busy() bool {
	return j.vanish && !j.gone || slices.ContainsFunc(j.rows, func(r *row) bool { return r.planned() && r.state == Left })
}

func idsOf(js []*job) (out []string) {
	for _, j := range js {
		out = append(out, j.group)
	}
	return out
}

func topicsOf(js []*job) (out []string) {
	for _, j := range js {
		for _, r := range j.rows {
			if r.planned() {
				out = append(out, r.tp.Topic)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// still compares a reading of a group with what is known of it: the plan at first, the last reading then.
func (e *engine) still(j *job, now GroupNow) {
	if j.refusal != nil {
		return
	}
	if now.Err != nil {
		j.refuse(reading(now.Err), "what the group holds cannot be read: "+now.Err.Error(), nextReadable)
		return
	}
	if e.types(j, now); j.refusal != nil {
		return
	}
	j.existed = now.Exists
	j.gone = j.gone || j.vanish && !now.Exists
	if len(now.Holders) > 0 || now.Exists && now.State != kafka.StateEmpty && now.State != kafka.StateDead {
		j.holders = now.Holders
		who := held(now.Holders)
		if who == "" {
			who = "the broker names no member"
		}
		e.taken(j, now)
		if j.busy() {
			j.refuse(plan.ActiveGroup, fmt.Sprintf("the group is %s on this cluster: %s", now.State, who), nextLeave)
		}
		return
	}
	for _, r := range j.rows {
		if r.planned() && j.refusal == nil {
			e.stillRow(j, r, now)
		}
	}
}

// taken settles what a journal knows of a group that has members now: its own value, or that of the journal's last word, cannot
// be written again, and what consumers made of it is not known.
func (e *engine) taken(j *job, now GroupNow) {
	for _, r := range j.rows {
		already := r.past == nil && r.planned() && e.ended(j)
		if r.past == nil && !already || r.state != Left {
			continue
		}
		o, ok := now.Offsets[r.tp]
		if r.found = nil; ok && o.Err == nil && !(j.share() && o.Offset < 0) {
			r.found = &o.Committed
		}
		if already {
			if r.state, r.moved = Already, o.Err == nil && !j.same(r.found, r.want); r.moved {
				r.remark = fmt.Sprintf("its consumers have taken over; it holds %s now", show(r.found))
			}
			continue
		}
		written := r.past.result == KindWritten || r.past.result == KindVerified && r.past.state != Differs
		switch {
		case written || o.Err == nil && j.same(r.found, r.want):
			if r.state = Written; r.want == nil {
				r.state = Removed
			}
			if r.moved = o.Err == nil && !j.same(r.found, r.want); r.moved || !r.done() {
				r.remark = fmt.Sprintf("its consumers have taken over; it holds %s now", show(r.found))
			} else {
				r.remark = "its consumers have taken over, and have not committed anything else yet"
			}
		case o.Err == nil && !j.same(r.found, r.before) && r.past.result != KindFailed:
			r.state, r.code, r.why = Unknown, plan.ActiveGroup, fmt.Sprintf("its consumers have taken over; it holds %s now, and whether they began at %s cannot be told", show(r.found), show(r.want))
		}
	}
}

// types refuses what a group's type on the target cannot become.
func (e *engine) types(j *job, now GroupNow) {
	if !now.Exists {
		return
	}
	was := kafka.GroupType(j.plan.TargetType)
	switch {
	case j.share() != (now.Type == kafka.TypeShare):
		j.refuse(plan.TypeConflict, fmt.Sprintf("the group is of type %s on this cluster and its positions are those of a %s group: share groups and others never convert", orClassic(now.Type), orClassic(j.kind)), "delete the group while it is empty, or map it to another id by --group-map")
	case now.Type == kafka.TypeStreams && !e.p.Options.IncludeStreams && !e.back:
		j.refuse(plan.TypeConflict, "the group is of type streams on this cluster", "plan with --include-streams if that is meant")
	case j.kind == kafka.TypeStreams && now.Type == kafka.TypeConsumer:
		j.refuse(plan.TypeConflict, "the group is of type consumer on this cluster, which a streams application cannot take over", "delete the group while it is empty, or map it to another id by --group-map")
	case was != "" && now.Type != "" && was != now.Type && !e.back:
		j.refuse(plan.PlanStale, fmt.Sprintf("the group was of type %s when the plan was made and is of type %s now", was, now.Type), nextReplan)
	}
}

func orClassic(t kafka.GroupType) string {
	if t == "" {
		return "classic"
	}
	return string(t)
}

func (e *engine) stillRow(j *job, r *row, g GroupNow) {
	o, ok := g.Offsets[r.tp]
	if o.Err != nil {
		j.refuse(reading(o.Err), fmt.Sprintf("what %s holds cannot be read: %v", r.tp, o.Err), nextReadable)
		return
	}
	var now *plan.Committed
	if ok && !(j.share() && o.Offset < 0) {
		now = &o.Committed
	}
	seen := r.state != Left || r.write // not the first reading
	before := r.before
	r.found, r.lag = now, o.Lag
	// The start of a share group may stand where it is to be, and its acknowledgements beyond.
	anew := j.share() && r.plan.Action == plan.Set && r.past == nil && !e.back && j.same(before, r.want)
	switch {
	case r.done() || r.past != nil && r.past.result == KindWritten && !e.back:
		// The journal knows it as done: only whether it is still there is looked at.
		r.write, r.code, r.why, r.moved = false, 0, "", false
		if r.state = Written; r.want == nil {
			r.state = Removed
		}
		if !j.same(now, r.want) {
			// What was read back by that run, or moved as only consumers do, was moved since.
			if v := e.verify(j, r, g, TopicNow{}, nil); r.done() || v.Verdict == TakenOver {
				r.found, r.moved, r.remark = now, true, fmt.Sprintf("moved since, to %s: %s", show(now), v.Because)
				return
			}
			r.found = now
			r.state, r.code, r.why = Differs, plan.VerifyMismatch, fmt.Sprintf("%s was written, and %s is there now", show(r.want), show(now))
		}
	case j.same(now, r.want) && !anew, r.plan.Action == plan.Right && now != nil && r.plan.To != nil && now.Offset == *r.plan.To:
		r.write, r.state = false, Already
		if r.past != nil {
			if r.state = Written; r.want == nil {
				r.state = Removed
			}
		}
	case r.past == nil && e.ended(j):
		r.state, r.moved, r.remark = Already, true, fmt.Sprintf("moved since, to %s", show(now))
	case r.plan.Action == plan.Right && j.same(now, before) && r.want == nil:
		r.write, r.state = false, Already
	case j.same(now, before) && r.plan.Action != plan.Right:
		r.write, r.state = true, Left
	case e.back:
		r.write, r.state = false, Left
		r.code, r.why = plan.PlanStale, fmt.Sprintf("it holds %s, no longer the %s that was written: left alone", show(now), show(before))
	case r.past != nil && r.past.result != KindFailed && !seen:
		j.refuse(plan.PlanStale, fmt.Sprintf("%s holds %s: neither what it had (%s) nor what was to be written (%s), so that somebody else wrote it since the run that was killed", r.tp, show(now), show(before), show(r.want)), nextReplan)
	default:
		if why := e.mirrored(j, r, now); why != "" {
			r.before, r.write, r.state, r.remark = now, true, Left, why
			return
		}
		if seen && !e.back {
			j.refuse(plan.SeemsConsumed, fmt.Sprintf("%s went from %s to %s while nobody is a member: a consumer that assigns partitions itself, or a tool, moves the offsets", r.tp, show(before), show(now)), "find and stop what commits for this group on this cluster, then go on")
			return
		}
		j.refuse(plan.PlanStale, fmt.Sprintf("%s had %s when the plan was made and has %s now", r.tp, show(before), show(now)), nextReplan)
	}
}

// mirrored explains a value that MirrorMaker 2 put since the plan; empty where it did not, or where it lies above what is to
// be written.
func (e *engine) mirrored(j *job, r *row, now *plan.Committed) string {
	// MirrorMaker 2 commits by the admin client, never with an epoch.
	if e.back || j.share() || now == nil || r.want == nil || now.Epoch != kafka.NoEpoch || now.Offset > r.want.Offset || r.plan.Action != plan.Set {
		return ""
	}
	if r.plan.MM2 != nil && *r.plan.MM2 == now.Offset {
		return fmt.Sprintf("MirrorMaker 2 put its own translation %d meanwhile, in place of %s", now.Offset, show(r.before))
	}
	if e.o.Moved != nil {
		return e.o.Moved(j.group, *r.plan, *now)
	}
	return ""
}

// logs compares topics and log ends with the plan.
func (e *engine) logs(j *job, topics map[string]TopicNow) {
	if j.refusal != nil {
		return
	}
	named := map[string]map[int32]bool{}
	for _, r := range j.rows {
		if !r.planned() {
			continue
		}
		if named[r.tp.Topic] == nil {
			named[r.tp.Topic] = map[int32]bool{}
		}
		named[r.tp.Topic][r.tp.Partition] = true
		if !r.write {
			continue
		}
		t := topics[r.tp.Topic]
		part, ok := t.Partitions[r.tp.Partition]
		switch {
		case t.Err != nil && codeOf(t.Err) == kafka.UnknownTopicOrPartition:
			j.refuse(codeRecreated, fmt.Sprintf("topic %s is not on this cluster any more", r.tp.Topic), nextReplan)
		case t.Err != nil:
			j.refuse(reading(t.Err), fmt.Sprintf("topic %s cannot be read: %v", r.tp.Topic, t.Err), nextReadable)
		case r.plan.TargetTopicID != "" && t.ID != "" && r.plan.TargetTopicID != t.ID:
			j.refuse(codeRecreated, fmt.Sprintf("topic %s was deleted and created anew since the plan was made (id %s, now %s): its offsets mean other records", r.tp.Topic, r.plan.TargetTopicID, t.ID), nextReplan)
		case !ok:
			j.refuse(plan.PlanStale, fmt.Sprintf("%s is not on this cluster any more", r.tp), nextReplan)
		case part.Err != nil:
			j.refuse(reading(part.Err), fmt.Sprintf("the log ends of %s cannot be read: %v", r.tp, part.Err), nextReadable)
		case e.back || r.want == nil || r.past != nil:
			// A pre-image goes back as it was, and what a journal holds was checked before it was written there.
		case part.End < r.plan.End || r.want.Offset > part.End:
			j.refuse(plan.PlanStale, fmt.Sprintf("the log of %s ends at %d, below its end %d when the plan was made: it was cut", r.tp, part.End, r.plan.End), nextReplan)
		case r.want.Offset < part.LogStart:
			e.raise(r, part.LogStart)
		}
		if was := r.plan.BeforeLag; was != nil && r.lag != nil && !e.back && r.past == nil && part.Err == nil && part.End-*r.lag > r.plan.End-*was {
			// The plan took its end after the lag, and this end was taken before: growth alone cannot look like this.
			j.refuse(plan.PlanStale, fmt.Sprintf("the share group has done records of %s since the plan was made: %d were open of a log to %d, and %d are of one to %d", r.tp, *was, r.plan.End, *r.lag, part.End), nextReplan)
		}
		if j.refusal != nil {
			return
		}
		if r.want != nil && r.want.Epoch < 0 && e.p.Options.StampEpoch && e.p.Options.KeepMs <= 0 && !e.back && !j.share() && r.past == nil && part.Epoch >= 0 {
			r.want.Epoch, r.plan.Epoch = part.Epoch, part.Epoch
		}
	}
	if !j.share() || e.back {
		return
	}
	// A partition of a topic that is not named falls to share.auto.offset.reset, by default the end.
	for topic, parts := range named {
		for p := range topics[topic].Partitions {
			if !parts[p] {
				j.refuse(plan.PlanStale, fmt.Sprintf("the plan does not name %s-%d: a share group starts a partition without an offset by share.auto.offset.reset, by default at the end", topic, p), nextReplan)
			}
		}
	}
}

// raise puts a value to the log start, where the records before it are gone since the plan.
func (e *engine) raise(r *row, to int64) {
	r.remark = fmt.Sprintf("retention moved the log start to %d since the plan, above the planned %d: the records between are gone", to, r.want.Offset)
	c := *r.want
	c.Offset = to
	r.want = &c
	r.plan.To, r.plan.Clamped, r.plan.LogStart = &to, r.remark, to
}

// reachable asks the cluster where the positions come from for one group, before time is spent on watching the others: positions are
// read after it, as late as can be.
func (e *engine) reachable(ctx context.Context, js []*job) error {
	i := slices.IndexFunc(js, func(j *job) bool { return slices.ContainsFunc(j.rows, fromCommit) })
	if i < 0 || e.s == nil || e.back || e.p.From.Lost || e.o.SourceLost {
		return nil
	}
	if err := silent(e.s.Offsets(ctx, []string{js[i].plan.Group})); err != nil {
		return &Unreached{Cluster: e.p.From.Alias, Made: e.p.Made, Err: err}
	}
	return nil
}

// sources refuses groups whose position moved on the cluster where it comes from. It fails where that cluster does not answer at all.
func (e *engine) sources(ctx context.Context, js []*job) error {
	if e.back || e.p.From.Lost || e.s == nil && !e.o.SourceLost {
		return nil
	}
	var ask []string
	var topics []string
	for _, j := range js {
		if j.refusal == nil && slices.ContainsFunc(j.rows, fromCommit) {
			ask = append(ask, j.plan.Group)
			for _, r := range j.rows {
				topics = append(topics, r.plan.Topic)
			}
		}
	}
	if len(ask) == 0 {
		return nil
	}
	if e.o.SourceLost {
		e.out.Remarks = append(e.out.Remarks, fmt.Sprintf("--source-lost: the positions are those that %s had at %s, and were not read again there. What its consumers read there since is read again on %s. Not proved: that nobody set a group back there since, and that its topics are still the same", e.p.From.Alias, e.p.Made, e.p.To.Alias))
		return nil
	}
	slices.Sort(topics)
	now := e.s.Offsets(ctx, ask)
	if err := silent(now); err != nil {
		return &Unreached{Cluster: e.p.From.Alias, Made: e.p.Made, Err: err}
	}
	ids := e.s.TopicIDs(ctx, slices.Compact(topics))
	for _, j := range js {
		g, asked := now[j.plan.Group]
		if j.refusal != nil || !asked {
			continue
		}
		if j.share() {
			j.remarks = append(j.remarks, "the position of a share group is not compared with the source again: its stored start offset is not its position")
			continue
		}
		for _, r := range j.rows {
			if j.refusal == nil && r.write && fromCommit(r) {
				e.source(j, r, g, ids[r.plan.Topic])
			}
		}
	}
	return nil
}

// Unreached says that the cluster where a plan's positions come from does not answer, so that nobody can tell whether they still stand.
type Unreached struct {
	Cluster string // alias
	Made    string // when the plan's facts were read
	Err     error
}

func (u *Unreached) Error() string {
	return fmt.Sprintf("cluster %s, where the positions of the plan come from, does not answer, so that whether they still stand since %s cannot be told (%v)", u.Cluster, u.Made, u.Err)
}

// Unwrap gives what the cluster was asked in vain.
func (u *Unreached) Unwrap() error { return u.Err }

// silent is the error of a cluster of which no group could be asked; nil where a broker answered for any.
func silent(now map[string]GroupNow) error {
	var first error
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if err := now[id].Err; err == nil || codeOf(err) != 0 {
			return nil
		} else if first == nil {
			first = err
		}
	}
	return first
}

func fromCommit(r *row) bool {
	return r.planned() && r.plan.From != nil && r.plan.FromBasis == "committed"
}

func (e *engine) source(j *job, r *row, g GroupNow, id string) {
	tp := kafka.TopicPartition{Topic: r.plan.Topic, Partition: r.plan.Partition}
	o, ok := g.Offsets[tp]
	err := g.Err
	if err == nil {
		err = o.Err
	}
	switch {
	case err != nil:
		j.refuse(reading(err), fmt.Sprintf("whether its position of %s on %s still stands cannot be read: %v", tp, e.p.From.Alias, err), "make it readable, or give --source-lost if that cluster is given up")
	case id != "" && r.plan.TopicID != "" && id != r.plan.TopicID:
		j.refuse(codeRecreated, fmt.Sprintf("topic %s of %s was deleted and created anew since the plan was made", tp.Topic, e.p.From.Alias), nextReplan)
	case !ok:
		j.moved = true
		j.refuse(plan.PlanStale, fmt.Sprintf("its committed offset of %s on %s was %d when the plan was made and is gone", tp, e.p.From.Alias, r.plan.From.Offset), nextReplan)
	case o.Offset != r.plan.From.Offset:
		j.moved = true
		j.refuse(plan.PlanStale, fmt.Sprintf("its committed offset of %s on %s was %d when the plan was made and is %d now", tp, e.p.From.Alias, r.plan.From.Offset, o.Offset), "stop its consumers there, then "+nextReplan+", or give --refresh")
	}
}

// prove takes epochs off that would send a consumer elsewhere: a committed epoch is right when its end is at or above the
// offset and it is not above the leader's own (KIP-320; a consumer starts at the lower end, or reads nothing).
func (e *engine) prove(ctx context.Context, js []*job) {
	var qs []EpochQuery
	var rows []*row
	for _, j := range js {
		for _, r := range j.writes() {
			if r.want != nil && r.want.Epoch >= 0 && !e.back && !j.share() {
				qs, rows = append(qs, EpochQuery{r.tp, r.want.Epoch}), append(rows, r)
			}
		}
	}
	if len(qs) == 0 {
		return
	}
	for i, a := range e.t.Epochs(ctx, qs) {
		r := rows[i]
		if a.Err == nil && a.End >= r.want.Offset {
			continue
		}
		why := fmt.Sprintf("leader epoch %d ends at %d, below %d", r.want.Epoch, a.End, r.want.Offset)
		if a.Err != nil {
			why = fmt.Sprintf("where leader epoch %d ends cannot be read (%v)", r.want.Epoch, a.Err)
		} else if a.End < 0 {
			why = fmt.Sprintf("the log has no leader epoch %d", r.want.Epoch)
		}
		c := *r.want
		c.Epoch = kafka.NoEpoch
		r.want, r.plan.Epoch = &c, kafka.NoEpoch
		r.remark = why + ": committed without an epoch, which is always right"
	}
}
