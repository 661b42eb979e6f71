package apply

import "github.com/mm2doctor/mm2doctor/translate/plan"

// Unwritten is the outcome of a plan of which nothing is written: for a reason that stands before any reading, or, where why is
// nil, because nothing of it is to be written. Nothing is read. command is apply, resume or rollback.
func Unwritten(p *plan.Plan, command string, why *Refusal, o Options) *Outcome {
	o.fill()
	e := &engine{p: clone(p), o: o, out: &Outcome{SchemaVersion: SchemaVersion, Tool: o.Tool, Command: command, Flow: p.Flow, Direction: p.Direction, Cluster: p.To, Plan: p.Digest, Refusal: why, Started: o.stamp()}}
	e.jobs = jobs(e.p, nil)
	for _, j := range e.jobs {
		if why != nil {
			j.refuse(why.Code, why.Because, why.Next)
			continue
		}
		for _, r := range j.rows {
			if r.plan.Action == plan.Right && j.refusal == nil {
				r.state, r.found = Already, r.before
			}
		}
	}
	return e.finish()
}
