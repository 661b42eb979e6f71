package plan

import "time"

// StateOf keeps what a plan found, for a source that dies: every position that was read from the source itself, with its place on
// the target.
func StateOf(p *Plan) *State {
	at := int64(0)
	if t, err := time.Parse(time.RFC3339, p.Made); err == nil {
		at = t.UnixMilli()
	}
	s := &State{Tool: p.Tool.Name + " " + p.Tool.Version, Flow: p.Flow, SourceID: p.From.ID, TargetID: p.To.ID, Written: at, Positions: []StatePartition{}}
	for _, g := range p.Groups {
		for _, r := range g.Rows {
			if r.From == nil || r.FromBasis != "committed" {
				continue
			}
			x := StatePartition{Group: g.Group, Topic: r.Topic, TargetTopic: r.TargetTopic, Partition: r.Partition, TopicID: r.TopicID, TargetTopicID: r.TargetTopicID,
				Offset: r.From.Offset, Metadata: r.From.Metadata, Target: -1, Verdict: r.Verdict, Time: at}
			switch {
			case r.To != nil:
				x.Target = *r.To
			case r.Bound != nil && r.Bound[0] == r.Bound[1]: // refused for now; where it is was found all the same
				x.Target = r.Bound[0]
			}
			s.Positions = append(s.Positions, x)
		}
	}
	return s
}
