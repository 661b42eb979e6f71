package apply

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Remove is the action of a row of a rollback whose partition had no offset before.
const Remove plan.Action = "remove"

// rollbackCommand marks a plan that takes a journal back: its values are pre-images, restored to the letter.
const rollbackCommand = "rollback"

// job is one group on its way through a run.
type job struct {
	plan    *plan.Group
	group   string
	kind    kafka.GroupType // of the group where the positions come from
	rows    []*row
	vanish  bool // the group did not exist: it is removed when nothing is left in it
	existed bool // as last read

	refusal    *Refusal
	holders    []string
	remarks    []string
	moved      bool // refused because the source position moved
	noted      bool // a refusal stands in the journal
	gone       bool // vanish is done
	vanishFail error
}

// row is one partition of a job.
type row struct {
	plan   *plan.Row
	tp     kafka.TopicPartition
	want   *plan.Committed // nil: nothing is to be there
	before *plan.Committed // as the plan has it, then as last read
	past   *trace          // what a journal knows of it; nil without
	write  bool            // to be written
	state  State
	found  *plan.Committed
	lag    *int64 // beside found
	code   finding.Code
	why    string
	remark string
	moved  bool  // by others, since a run that is resumed had written it
	fault  error // of the request
}

func (j *job) share() bool { return j.kind == kafka.TypeShare }

// same compares values. Of a share group only the start offset is one, and a negative one is none.
func (j *job) same(a, b *plan.Committed) bool {
	if j.share() {
		return start(a) == start(b)
	}
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func start(c *plan.Committed) int64 {
	if c == nil || c.Offset < 0 {
		return -1
	}
	return c.Offset
}

// writes are the rows to be written.
func (j *job) writes() []*row {
	if j.refusal != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(j.rows), func(r *row) bool { return !r.write })
}

func (j *job) refuse(code finding.Code, because, next string) {
	if j.refusal == nil {
		j.refusal = &Refusal{Code: code, Because: because, Next: next}
	}
}

// wanted is the value that a row of a plan puts; nil where it puts nothing.
func wanted(p *plan.Plan, g *plan.Group, r *plan.Row) *plan.Committed {
	if r.To == nil {
		return nil
	}
	c := plan.Committed{Offset: *r.To, Epoch: kafka.NoEpoch}
	if kafka.GroupType(g.Type) == kafka.TypeShare {
		return &c
	}
	if r.From != nil {
		c.Metadata = r.From.Metadata
	}
	if p.Options.TagMetadata && c.Metadata == "" {
		c.Metadata = "mm2doctor " + p.Flow + " " + p.Made
	}
	// OffsetCommit with an explicit life has no field for an epoch.
	if p.Command == rollbackCommand || p.Options.StampEpoch && p.Options.KeepMs <= 0 {
		c.Epoch = r.Epoch
	}
	return &c
}

// jobs makes the work of a plan. l may be nil.
func jobs(p *plan.Plan, l *Log) []*job {
	var out []*job
	for i := range p.Groups {
		g := &p.Groups[i]
		j := &job{plan: g, group: g.TargetGroup, kind: kafka.GroupType(g.Type)}
		if j.group == "" {
			j.group = g.Group
		}
		var tr *groupTrace
		if l != nil {
			j.vanish = slices.Contains(l.Header.DeleteGroups, j.group)
			tr = l.traces[j.group]
		}
		for k := range g.Rows {
			pr := &g.Rows[k]
			r := &row{plan: pr, tp: kafka.TopicPartition{Topic: pr.TargetTopic, Partition: pr.Partition}, before: pr.Before, state: Left}
			switch pr.Action {
			case plan.Set, Remove, plan.Right:
				r.want = wanted(p, g, pr)
			case plan.Refused:
				r.state, r.code, r.why = Refused, pr.Refusal, pr.Because
			default:
				r.why = pr.Because
			}
			if tr != nil {
				if r.past = tr.rows[r.tp]; r.past != nil {
					r.want, r.before = r.past.to, r.past.before
				}
			}
			j.rows = append(j.rows, r)
		}
		switch g.Action {
		case plan.Refused:
			j.refuse(g.Refusal, "when the plan was made: "+g.Because, g.Next)
		case plan.Leave:
			for _, r := range j.rows {
				if r.state != Refused {
					r.plan, r.state = leave(r.plan), Left
				}
			}
		}
		out = append(out, j)
	}
	return out
}

func leave(r *plan.Row) *plan.Row {
	c := *r
	c.Action = plan.Leave
	return &c
}

// planned says that the row is about a value that is to be there.
func (r *row) planned() bool {
	return r.plan.Action == plan.Set || r.plan.Action == Remove || r.plan.Action == plan.Right
}

// clone copies what a run may amend: the groups and their rows.
func clone(p *plan.Plan) *plan.Plan {
	c := *p
	c.Groups = slices.Clone(p.Groups)
	for i := range c.Groups {
		c.Groups[i].Rows = slices.Clone(p.Groups[i].Rows)
	}
	return &c
}
