package apply

import (
	"context"
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Verdict is what became of a value since it was written.
type Verdict string

// Verdicts.
const (
	Holds     Verdict = "holds"
	TakenOver Verdict = "taken-over" // by consumers: they are members, or moved it forward
	ByMM2     Verdict = "moved-by-mm2"
	Other     Verdict = "differs" // 706: neither the plan nor anybody known
	Gone      Verdict = "gone"    // no offset any more: expired, deleted, or its topic was
	NotRead   Verdict = "unknown"
)

// Verification tells for each value of a plan whether it still is there. Names in JSON are stable.
type Verification struct {
	SchemaVersion int             `json:"schemaVersion"`
	Tool          diagnose.Tool   `json:"tool"`
	Command       string          `json:"command"` // verify
	Flow          string          `json:"flow"`
	Cluster       plan.Cluster    `json:"cluster"`
	Plan          string          `json:"planDigest"`
	Read          string          `json:"read"` // RFC 3339, UTC
	Refusal       *Refusal        `json:"refusal,omitempty"`
	Summary       Verdicts        `json:"summary"` // partitions
	Groups        []GroupVerified `json:"groups"`
}

// Verdicts counts partitions. Skipped are those that the plan did not want to set.
type Verdicts struct {
	Holds     int `json:"holds"`
	TakenOver int `json:"takenOver"`
	ByMM2     int `json:"movedByMm2"`
	Other     int `json:"differs"`
	Gone      int `json:"gone"`
	NotRead   int `json:"unknown"`
	NotSet    int `json:"notSet"`
}

// Good says that nothing differs, is gone or could not be read.
func (v Verdicts) Good() bool { return v.Other+v.Gone+v.NotRead+v.ByMM2 == 0 }

// GroupVerified is one group.
type GroupVerified struct {
	Group       string              `json:"group"`
	TargetGroup string              `json:"targetGroup"`
	State       kafka.GroupState    `json:"state"`
	Type        kafka.GroupType     `json:"type,omitempty"`
	Holders     []string            `json:"holders,omitempty"`
	Partitions  []PartitionVerified `json:"partitions"`
}

// PartitionVerified is one partition of a group.
type PartitionVerified struct {
	Topic     string          `json:"topic"`
	Partition int32           `json:"partition"`
	Verdict   Verdict         `json:"verdict"`
	Planned   *plan.Committed `json:"planned"` // null: nothing is to be there
	Found     *plan.Committed `json:"found"`   // null: nothing, or not read
	Code      finding.Code    `json:"code,omitempty"`
	Because   string          `json:"because,omitempty"`
}

// Verify reads what the groups of a plan hold now. It writes nothing and refuses nothing but another cluster; a plan of any age
// will do. Options.Moved explains values of MirrorMaker 2.
func Verify(ctx context.Context, p *plan.Plan, t Target, o Options) (*Verification, error) {
	o.fill()
	v := &Verification{SchemaVersion: SchemaVersion, Tool: o.Tool, Command: "verify", Flow: p.Flow, Cluster: p.To, Plan: p.Digest, Read: o.stamp(), Groups: []GroupVerified{}}
	e := &engine{p: clone(p), t: t, o: o, back: p.Command == rollbackCommand}
	e.o.MaxAge = 1<<63 - 1
	ref, err := e.whole(ctx)
	if err != nil {
		return nil, err
	}
	if ref != nil {
		v.Refusal = ref
		return v, nil
	}
	var js []*job
	for _, j := range jobs(e.p, nil) {
		if j.refusal == nil {
			js = append(js, j)
			continue
		}
		v.Summary.NotSet += len(j.rows)
	}
	now := t.Groups(ctx, idsOf(js))
	topics := t.Topics(ctx, topicsOf(js))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ends := e.ends(ctx, js, now)
	for _, j := range js {
		g := now[j.group]
		out := GroupVerified{Group: j.plan.Group, TargetGroup: j.group, State: g.State, Type: g.Type, Holders: g.Holders, Partitions: []PartitionVerified{}}
		for _, r := range j.rows {
			if !r.planned() {
				v.Summary.NotSet++
				continue
			}
			pv := e.verify(j, r, g, topics[r.tp.Topic], ends)
			v.Summary.add(pv.Verdict)
			out.Partitions = append(out.Partitions, pv)
		}
		if len(out.Partitions) > 0 {
			v.Groups = append(v.Groups, out)
		}
	}
	return v, nil
}

func (v *Verdicts) add(d Verdict) {
	switch d {
	case Holds:
		v.Holds++
	case TakenOver:
		v.TakenOver++
	case ByMM2:
		v.ByMM2++
	case Other:
		v.Other++
	case Gone:
		v.Gone++
	default:
		v.NotRead++
	}
}

// ends asks where the committed epochs end.
func (e *engine) ends(ctx context.Context, js []*job, now map[string]GroupNow) map[EpochQuery]EpochEnd {
	seen := map[EpochQuery]bool{}
	var qs []EpochQuery
	for _, j := range js {
		for _, r := range j.rows {
			q := EpochQuery{r.tp, now[j.group].Offsets[r.tp].Epoch}
			if _, ok := now[j.group].Offsets[r.tp]; ok && q.Epoch >= 0 && !j.share() && r.planned() && !seen[q] {
				seen[q] = true
				qs = append(qs, q)
			}
		}
	}
	out := map[EpochQuery]EpochEnd{}
	if len(qs) == 0 {
		return out
	}
	for i, a := range e.t.Epochs(ctx, qs) {
		out[qs[i]] = a
	}
	return out
}

func (e *engine) verify(j *job, r *row, g GroupNow, t TopicNow, ends map[EpochQuery]EpochEnd) PartitionVerified {
	o, ok := g.Offsets[r.tp]
	out := PartitionVerified{Topic: r.tp.Topic, Partition: r.tp.Partition, Planned: r.want}
	say := func(v Verdict, code finding.Code, format string, a ...any) PartitionVerified {
		out.Verdict, out.Code, out.Because = v, code, fmt.Sprintf(format, a...)
		return out
	}
	switch {
	case g.Err != nil:
		return say(NotRead, reading(g.Err), "%v", g.Err)
	case o.Err != nil:
		return say(NotRead, reading(o.Err), "%v", o.Err)
	}
	if ok && !(j.share() && o.Offset < 0) {
		out.Found = &o.Committed
	}
	now := out.Found
	same := j.same(now, r.want)
	if now != nil && r.want != nil && now.Offset == r.want.Offset {
		// The epoch was taken on the spot where the plan has none; a value that was right already may have any.
		like := *r.want
		if like.Epoch = now.Epoch; r.plan.Action == plan.Right {
			like.Metadata = now.Metadata
		}
		same = same || (r.plan.Action == plan.Right || e.p.Options.StampEpoch) && *now == like
	}
	switch {
	case same && now != nil && now.Epoch >= 0 && !j.share():
		a := ends[EpochQuery{r.tp, now.Epoch}]
		if a.Err == nil && a.End < now.Offset {
			return say(Other, codeEpoch, "the value is there, but its leader epoch %d ends at %d: consumers start there", now.Epoch, a.End)
		}
		if a.Err != nil {
			return say(Holds, 0, "where its leader epoch %d ends could not be read: %v", now.Epoch, a.Err)
		}
		return say(Holds, 0, "")
	case same && len(g.Holders) > 0:
		return say(Holds, 0, "the group has members and has not committed anything else yet")
	case same:
		return say(Holds, 0, "")
	case now == nil:
		if codeOf(t.Err) == kafka.UnknownTopicOrPartition {
			return say(Gone, codeRecreated, "the topic is not on this cluster any more, and its committed offsets went with it")
		}
		if r.plan.TargetTopicID != "" && t.ID != "" && r.plan.TargetTopicID != t.ID {
			return say(Gone, codeRecreated, "the topic was deleted and created anew, and its committed offsets went with the old one")
		}
		if !g.Exists {
			return say(Gone, plan.VerifyMismatch, "the group is not on this cluster: it was never written, it was deleted, or its offsets expired (offsets.retention.minutes)")
		}
		return say(Gone, plan.VerifyMismatch, "the group has no offset there: it was never written, it was deleted, or it expired (offsets.retention.minutes)")
	case len(g.Holders) > 0:
		if r.want != nil && now.Offset < r.want.Offset {
			return say(TakenOver, 0, "the group has members (%s), which went back below the planned offset", held(g.Holders))
		}
		return say(TakenOver, 0, "the group has members (%s)", held(g.Holders))
	}
	r.found = now
	if b := r.plan.Before; b != nil && b.Offset == now.Offset {
		return say(Other, plan.VerifyMismatch, "it is what stood there before the plan: never applied, or taken back")
	}
	if why := e.overwritten(j, r); why != "" {
		return say(ByMM2, plan.WillNotHold, "%s", why)
	}
	switch {
	case r.want != nil && now.Offset > r.want.Offset && now.Epoch >= 0:
		return say(TakenOver, 0, "it moved forward and has a leader epoch, as consumers commit it; they are not members now")
	case r.want != nil && now.Offset == r.want.Offset && now.Epoch >= 0:
		return say(TakenOver, 0, "a consumer committed the same offset, with its leader epoch")
	}
	if r.want == nil {
		return say(Other, plan.VerifyMismatch, "nothing was to be there")
	}
	if now.Offset > r.want.Offset && g.ProtocolType != "" {
		return say(TakenOver, 0, "it moved forward and the group has had consumers here; they are not members now")
	}
	return say(Other, plan.VerifyMismatch, "planned was %s; no member and not MirrorMaker 2's translation: somebody else wrote it", show(r.want))
}
