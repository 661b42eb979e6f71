package apply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Rollback takes back what a journal's run wrote, and only what still holds the value that was written: it restores offset,
// epoch and metadata, removes what had nothing, and removes groups that did not exist. What was moved since is left and listed.
// It writes a journal of its own, which can be resumed and taken back in turn. Share groups get their start offset back and
// nothing of their acknowledgements.
func Rollback(ctx context.Context, l *Log, t Target, j Journal, o Options) (*Outcome, error) {
	o.fill()
	p, gone := undo(l, o)
	e := &engine{p: p, t: t, j: j, o: o, back: true, head: Header{SchemaVersion: SchemaVersion, Command: rollbackCommand, Tool: o.Tool, PlanDigest: p.Digest, Undoes: l.Path, DeleteGroups: gone}}
	return e.run(ctx, rollbackCommand)
}

// undo makes the plan that takes a journal back, and the groups that did not exist.
func undo(l *Log, o Options) (*plan.Plan, []string) {
	was := l.Header.Plan
	p := &plan.Plan{
		SchemaVersion: plan.SchemaVersion, Tool: o.Tool, Command: rollbackCommand, Made: o.Now().UTC().Format(time.RFC3339),
		Flow: was.Flow, Direction: was.Direction, From: was.From, To: was.To,
		Scope: plan.Scope{Rule: "what " + l.Path + " wrote"},
	}
	var gone []string
	for _, g := range was.Groups {
		id := g.TargetGroup
		if id == "" {
			id = g.Group
		}
		tr := l.traces[id]
		if tr == nil {
			continue
		}
		rows := map[kafka.TopicPartition]plan.Row{}
		for _, r := range g.Rows {
			rows[kafka.TopicPartition{Topic: r.TargetTopic, Partition: r.Partition}] = r
		}
		b := plan.Group{Group: g.Group, TargetGroup: id, Type: g.Type, Action: plan.Set}
		if kafka.GroupType(g.Type) == kafka.TypeShare {
			b.Remarks = append(b.Remarks, "only start offsets go back: acknowledgements and delivery counts from before are lost")
		}
		if was.Options.KeepMs > 0 && slices.ContainsFunc(g.Rows, func(r plan.Row) bool { return r.Before != nil }) {
			b.Remarks = append(b.Remarks, "the restored offsets live by the broker's rule again")
		}
		for _, tp := range tr.order {
			t, r := tr.rows[tp], rows[tp]
			n := plan.Row{
				Topic: r.Topic, TargetTopic: tp.Topic, Partition: tp.Partition, TopicID: r.TopicID, TargetTopicID: r.TargetTopicID,
				Action: plan.Set, From: t.before, FromBasis: "journal", Before: t.to, Epoch: kafka.NoEpoch, Basis: "journal", SourceEnd: -1,
			}
			if t.before == nil {
				n.Action = Remove
			} else {
				n.To, n.Epoch = &t.before.Offset, t.before.Epoch
			}
			b.Rows = append(b.Rows, n)
		}
		p.Groups = append(p.Groups, b)
		p.Scope.Groups++
		if !tr.existed {
			gone = append(gone, id)
		}
	}
	p.Scope.Of = len(was.Groups)
	p.Summary = plan.Summary{Groups: len(p.Groups)}
	if len(p.Groups) == 0 {
		p.Scope.Rule = fmt.Sprintf("%s holds no intent: nothing was written", l.Path)
	}
	p.Seal()
	return p, gone
}
