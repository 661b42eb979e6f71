package apply

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// outcomes fills in the groups and counts.
func (e *engine) outcomes() {
	e.out.Groups, e.out.Summary = []GroupOutcome{}, Summary{}
	for _, j := range e.jobs {
		g := j.outcome()
		if g.Action == Left && !e.back && j.plan.Action == "" {
			continue
		}
		for _, p := range g.Partitions {
			e.out.Summary.Partitions.add(p.Action)
		}
		e.out.Summary.Groups.add(g.Action)
		e.out.Groups = append(e.out.Groups, g)
	}
}

func (e *engine) count() *Summary {
	e.outcomes()
	s := e.out.Summary
	return &s
}

func (j *job) outcome() GroupOutcome {
	out := GroupOutcome{Group: j.plan.Group, TargetGroup: j.group, Type: j.plan.Type, Action: Left, Remarks: slices.Concat(j.plan.Remarks, j.remarks), Partitions: []PartitionOutcome{}}
	grave := func(s State) {
		if gravity[s] > gravity[out.Action] {
			out.Action = s
		}
	}
	done, undone := false, false
	for _, r := range j.rows {
		p := PartitionOutcome{Topic: r.tp.Topic, Partition: r.tp.Partition, Action: r.state, Before: r.before, To: r.want, Found: r.found, Code: r.code, Because: r.why, Moved: r.moved, Remark: r.remark}
		if j.refusal != nil && r.planned() && r.state == Left {
			p.Action = Refused
		}
		grave(p.Action)
		done = done || p.Action == Written || p.Action == Removed
		undone = undone || p.Action == Refused || p.Action == Failed || p.Action == Left && p.Code != 0
		if p.Code != 0 && (out.Code == 0 || gravity[p.Action] > 4) {
			out.Code, out.Because, out.Next = p.Code, fmt.Sprintf("%s: %s", r.tp, p.Because), nextAfter(p.Code)
			if p.Action == Left && p.Code == plan.PlanStale { // of a rollback
				out.Next = "nothing, where its consumers moved it (translate verify tells who did); to set it all the same, give your own offset with --from-file"
			}
		}
		out.Partitions = append(out.Partitions, p)
	}
	if j.refusal != nil {
		grave(Refused)
		out.Code, out.Because, out.Next = j.refusal.Code, j.refusal.Because, j.refusal.Next
	}
	if j.vanishFail != nil {
		grave(Failed)
		out.Code, out.Because, out.Next = about(j.vanishFail), "the group did not exist before and could not be removed: "+j.vanishFail.Error(), "it is empty of offsets and harmless; delete it when the cause is gone"
	}
	if done && undone && gravity[out.Action] < gravity[Partly] {
		out.Action = Partly
	}
	if out.Code == plan.ActiveGroup {
		out.Holders = j.holders
	}
	return out
}

// finish sums the run up: what was done, and the commands that go on or go back.
func (e *engine) finish() *Outcome {
	e.outcomes()
	o := e.out
	o.Ended = e.o.stamp()
	o.Finished = e.l != nil && e.l.Ended && o.Refusal == nil && !slices.ContainsFunc(e.jobs, func(j *job) bool { return !e.ended(j) })
	s := o.Summary.Partitions
	o.Wrote = s.Written+s.Removed+s.Differs+s.Unknown > 0
	bad := s.Refused + s.Failed + s.Unknown + s.Differs
	if e.back {
		bad += s.Left
	}
	for _, g := range o.Groups {
		if gravity[g.Action] >= gravity[Refused] {
			bad++
		}
	}
	switch {
	case o.Refusal != nil:
		o.Result = Nothing
	case bad == 0 && e.dead == nil:
		o.Result = Done
	case o.Wrote:
		o.Result, o.Partial = Partial, true
	default:
		o.Result = Nothing
	}
	if e.dead != nil && o.Refusal == nil && !o.Wrote {
		o.Refusal = e.dead
	}
	if e.dead != nil && o.Wrote {
		o.Remarks = append(o.Remarks, e.dead.Because+"; what was written before stands in it as an intent, so that going on and taking back work all the same")
	}
	if p, ok := e.j.(interface{ Path() string }); ok && (e.begun || o.Finished) {
		o.Journal = p.Path()
	}
	if o.Journal == "" {
		return o
	}
	resume, rollback := e.o.Commands(o.Journal)
	if e.resumable(o) {
		o.Finish = append(o.Finish, resume)
	}
	if o.Wrote {
		o.Undo = append(o.Undo, rollback)
	}
	return o
}

// resumable says that going on with the journal can do what was not done. What the plan itself refuses needs another plan.
func (e *engine) resumable(o *Outcome) bool {
	return slices.ContainsFunc(o.Groups, func(g GroupOutcome) bool {
		if slices.ContainsFunc(e.jobs, func(j *job) bool { return j.group == g.TargetGroup && j.plan.Action == plan.Refused }) {
			return false
		}
		switch g.Action {
		case Unknown, Failed:
			return true
		case Refused, Partly:
			return slices.ContainsFunc(g.Partitions, func(p PartitionOutcome) bool { return p.Action == Failed }) ||
				slices.Contains([]finding.Code{plan.ActiveGroup, plan.JournalUnwritable, plan.SeemsConsumed, plan.PartialOutcome, codeCoord, codeDenied}, g.Code)
		}
		return false
	})
}
