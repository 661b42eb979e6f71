package plan

import (
	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Selection is what an operator asks to be translated. The zero value is the default scope of the snapshot's only flow.
type Selection struct {
	Flow    string   // "a->b"; empty: the snapshot's only one
	Reverse bool     // failback: from the flow's target to its source
	Groups  []string // --group, as given: a name, a glob, or a /Java regular expression/
	Topics  []string // --topic, the same, by the name where the positions come from
	Options Options
	// GroupMap and TopicMap give other names on the cluster that is written.
	GroupMap, TopicMap map[string]string
	// Wished are offsets that the operator brings (--from-file) instead of those that would be found. Such a plan touches nothing else.
	Wished []Wish
	// SourceLost gives up the cluster where the positions come from: its facts are not unknown, they are gone, and refuse nothing.
	// Then State and Bundle (an older look at both clusters) may still tell positions, each with its age.
	SourceLost bool
	State      *State
	Bundle     *snapshot.Snapshot
	Now        string // RFC 3339: what ages are counted to; empty: when the snapshot was taken
	// MaxAgeMs is how old the facts may be until apply refuses the plan (702); 0 is MaxAgeMs.
	MaxAgeMs int64
}

// Wish is one row of a file of wanted offsets. Topic is a name on the cluster that is written.
type Wish struct {
	Group     string
	Topic     string
	Partition int32
	Offset    int64
	Line      int // in the file, from 1
}

// Wants are the groups and positions that a plan is about, before anybody has looked for the answers.
type Wants struct {
	positions []Position
}

// Wanted chooses groups and positions from a snapshot and the report over it. It fails where the selection itself cannot be
// followed (no such flow, a pattern that does not compile, a time that cannot be read); what cannot be translated becomes a refusal
// of the plan.
func Wanted(s *snapshot.Snapshot, r *diagnose.Report, sel Selection) (*Wants, error) {
	return &Wants{}, nil
}

// Positions are what is to be found on the cluster that is written; Build wants the answers in the same order.
func (w *Wants) Positions() []Position { return w.positions }
