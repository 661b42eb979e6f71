package apply

import (
	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// SchemaVersion of outcomes, verifications and journals; additive only.
const SchemaVersion = 1

// Outcome tells what was done with every group of a plan. Names in JSON are stable.
type Outcome struct {
	SchemaVersion int           `json:"schemaVersion"`
	Tool          diagnose.Tool `json:"tool"`
	Command       string        `json:"command"` // apply, resume, rollback
	Flow          string        `json:"flow"`
	Direction     string        `json:"direction"`
	Cluster       plan.Cluster  `json:"cluster"` // that was written
	Plan          string        `json:"planDigest"`
	Started       string        `json:"started"` // RFC 3339, UTC
	Ended         string        `json:"ended"`
	// Result: done (everything holds what was planned), partial (something was written, something else was not), refused (nothing
	// was written).
	Result  string `json:"result"`
	Wrote   bool   `json:"wrote"`   // a writing request took effect, or may have
	Partial bool   `json:"partial"` // 712
	// Finished says that the run of a resumed journal had come to its end before, so that nothing was left to do.
	Finished bool `json:"finished,omitempty"`
	// Refusal keeps the whole plan from being applied; nil without.
	Refusal *Refusal       `json:"refusal,omitempty"`
	Summary Summary        `json:"summary"`
	Groups  []GroupOutcome `json:"groups"`
	Journal string         `json:"journal,omitempty"` // empty where nothing was noted
	Finish  []string       `json:"finish,omitempty"`  // commands that do what was not done
	Undo    []string       `json:"undo,omitempty"`    // commands that take back what was done
	Remarks []string       `json:"remarks,omitempty"`
}

// Results of an outcome.
const (
	Done    = "done"
	Partial = "partial"
	Nothing = "refused"
)

// Refusal is why something was not written, and what to do.
type Refusal struct {
	Code    finding.Code `json:"code"`
	Because string       `json:"because"`
	Next    string       `json:"next,omitempty"`
}

// Summary counts groups and partitions by what became of them.
type Summary struct {
	Groups     Counts `json:"groups"`
	Partitions Counts `json:"partitions"`
}

// Counts are numbers by State.
type Counts struct {
	Written int `json:"written"`
	Removed int `json:"removed"`
	Already int `json:"already"`
	Refused int `json:"refused"`
	Failed  int `json:"failed"`
	Partly  int `json:"partly"`
	Unknown int `json:"unknown"`
	Differs int `json:"differs"`
	Left    int `json:"left"`
}

func (c *Counts) add(s State) {
	switch s {
	case Written:
		c.Written++
	case Removed:
		c.Removed++
	case Already:
		c.Already++
	case Refused:
		c.Refused++
	case Failed:
		c.Failed++
	case Partly:
		c.Partly++
	case Unknown:
		c.Unknown++
	case Differs:
		c.Differs++
	default:
		c.Left++
	}
}

// State is what became of a partition, or of a group: the gravest of its partitions.
type State string

// States.
const (
	Written State = "written" // read back, as planned
	Removed State = "removed" // had nothing before, has nothing again
	Already State = "already" // held it before anything was written
	Refused State = "refused" // before any request
	Failed  State = "failed"  // the broker refused; nothing changed
	Partly  State = "partly"  // of a group: some partitions written, others refused, failed or left
	Unknown State = "unknown" // a request was sent, and what came of it could not be read
	Differs State = "differs" // read back, and something else is there (706)
	Left    State = "left"    // not touched: nothing planned, or it holds no longer what was written
)

var gravity = map[State]int{Left: 0, Already: 1, Removed: 2, Written: 3, Refused: 4, Failed: 5, Partly: 6, Unknown: 7, Differs: 8}

// GroupOutcome is one group.
type GroupOutcome struct {
	Group       string             `json:"group"`
	TargetGroup string             `json:"targetGroup"`
	Type        string             `json:"type"`
	Action      State              `json:"action"`
	Code        finding.Code       `json:"code,omitempty"`
	Because     string             `json:"because,omitempty"`
	Next        string             `json:"next,omitempty"`
	Holders     []string           `json:"holders,omitempty"` // members that hold an active group
	Remarks     []string           `json:"remarks,omitempty"`
	Partitions  []PartitionOutcome `json:"partitions"`
}

// PartitionOutcome is one partition of a group.
type PartitionOutcome struct {
	Topic     string          `json:"topic"` // on the cluster that is written
	Partition int32           `json:"partition"`
	Action    State           `json:"action"`
	Before    *plan.Committed `json:"before"` // null: nothing
	To        *plan.Committed `json:"to"`     // what was to be there; null: nothing
	Found     *plan.Committed `json:"found"`  // read back; null: nothing, or not read
	Code      finding.Code    `json:"code,omitempty"`
	Because   string          `json:"because,omitempty"`
	Moved     bool            `json:"movedSince,omitempty"` // by others, since the run that is resumed had written it
	Remark    string          `json:"remark,omitempty"`     // what differs from the plan and is right all the same
}
