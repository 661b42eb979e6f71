package plan

import (
	"cmp"
	"io"
	"slices"
)

// StateVersion is the schema of state files; additive only.
const StateVersion = 1

// State is what is remembered of a flow while both clusters answer: the newest position of each group and where it was found. When
// the source is gone, it is better than MirrorMaker 2's last checkpoint. It is replaced as a whole, atomically, by who writes it.
type State struct {
	SchemaVersion int              `json:"schemaVersion"`
	Tool          string           `json:"tool"`
	Flow          string           `json:"flow"` // "a->b"
	SourceID      string           `json:"sourceClusterId,omitempty"`
	TargetID      string           `json:"targetClusterId,omitempty"`
	Written       int64            `json:"written"` // ms
	Positions     []StatePartition `json:"positions"`
}

// StatePartition is one partition of one group, with the ids of the topics that the numbers belong to.
type StatePartition struct {
	Group         string `json:"group"`
	Topic         string `json:"topic"` // on the source
	TargetTopic   string `json:"targetTopic"`
	Partition     int32  `json:"partition"`
	TopicID       string `json:"topicId,omitempty"`
	TargetTopicID string `json:"targetTopicId,omitempty"`
	Offset        int64  `json:"offset"` // U
	Metadata      string `json:"metadata,omitempty"`
	// Target is T, and Verdict how far it is proved, in the words of translate/match; Target is -1 where none was found.
	Target  int64  `json:"target"`
	Verdict string `json:"verdict,omitempty"`
	Time    int64  `json:"time"` // ms, when it was read
}

func (p StatePartition) compare(o StatePartition) int {
	return cmp.Or(cmp.Compare(p.Group, o.Group), cmp.Compare(p.Topic, o.Topic), cmp.Compare(p.Partition, o.Partition))
}

// Write writes a state file, sorted by group, topic, partition.
func (s *State) Write(w io.Writer) error {
	c := *s
	c.SchemaVersion = StateVersion
	c.Positions = slices.SortedFunc(slices.Values(s.Positions), StatePartition.compare)
	b, err := encode(&c, " ")
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// ReadState reads a state file.
func ReadState(r io.Reader) (*State, error) {
	var s State
	if err := decode(r, "state file", MaxFile, StateVersion, &s); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.Positions, StatePartition.compare)
	return &s, nil
}
