package plan

import (
	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// SchemaVersion of plan files; additive only.
const SchemaVersion = 1

// Plan is what will be written, complete before anything is. It holds no secrets.
type Plan struct {
	SchemaVersion int               `json:"schemaVersion"`
	Tool          diagnose.Tool     `json:"tool"`
	Command       string            `json:"command"`   // translate
	Made          string            `json:"made"`      // RFC 3339, UTC: when the facts were read
	Flow          string            `json:"flow"`      // "a->b": the flow whose positions are carried over
	Direction     string            `json:"direction"` // forward, reverse (failback: from the flow's target to its source)
	From          Cluster           `json:"from"`
	To            Cluster           `json:"to"` // will be written
	Options       Options           `json:"options"`
	Scope         Scope             `json:"scope"`
	Summary       Summary           `json:"summary"`
	Findings      []finding.Finding `json:"findings"` // of the plan as a whole and of its groups, codes 7xx
	Groups        []Group           `json:"groups"`   // by id
	Digest        string            `json:"digest"`   // SHA-256 over everything else
}

// Cluster is one side of a plan. ID is empty where the cluster did not answer (--source-lost).
type Cluster struct {
	Alias     string   `json:"alias"`
	ID        string   `json:"clusterId,omitempty"`
	Bootstrap []string `json:"bootstrap,omitempty"`
	Lost      bool     `json:"lost,omitempty"` // given up by the operator
}

// Options are the operator's words that decide over refusals; they are part of the plan.
type Options struct {
	AllowRewind    bool   `json:"allowRewind,omitempty"`
	AllowSkip      bool   `json:"allowSkip,omitempty"`
	AllGroups      bool   `json:"allGroups,omitempty"`
	IncludeStreams bool   `json:"includeStreams,omitempty"`
	AllOrNothing   bool   `json:"allOrNothing,omitempty"`
	StampEpoch     bool   `json:"stampEpoch,omitempty"`
	TagMetadata    bool   `json:"tagMetadata,omitempty"`
	KeepMs         int64  `json:"keepMs,omitempty"`   // explicit life of the commits; 0: the broker's rule
	Fallback       string `json:"fallback,omitempty"` // leave, earliest, latest, timestamp:MS: for what has no mapping
}

// Scope says which groups the plan is about: "scope: N of M source groups, rule ...".
type Scope struct {
	Groups int    `json:"groups"`
	Of     int    `json:"of"`
	Rule   string `json:"rule"`
	Left   []Left `json:"left,omitempty"` // left out, by reason
}

// Left are groups, or partitions of them, that the plan does not touch without refusing them.
type Left struct {
	Reason string   `json:"reason"`
	Count  int      `json:"count"`
	Some   []string `json:"some"` // the first few
}

// Summary counts partitions, and records over all that are to be set.
type Summary struct {
	Set         int   `json:"set"`
	Right       int   `json:"right"` // hold the wanted value already
	Refused     int   `json:"refused"`
	Left        int   `json:"left"` // no mapping, and nothing is done (--fallback leave)
	ReRead      int64 `json:"reRead"`
	ReReadUpTo  int64 `json:"reReadUpTo"` // where not everything is proved
	Skipped     int64 `json:"skipped"`
	Gone        int64 `json:"gone"`
	NotMirrored int64 `json:"notMirrored"`
	Groups      int   `json:"groups"`
	// RefusedGroups are groups of which nothing will be written.
	RefusedGroups int `json:"refusedGroups"`
}

// Action is what a plan does with a group or a partition.
type Action string

// Actions.
const (
	Set     Action = "set"
	Right   Action = "right"   // nothing to do
	Refused Action = "refused" // with the code of the refusal
	Leave   Action = "left"    // nothing to go by, left as it is
)

// Group is one group of the plan. Refusals are per group, since its offsets are committed in one request.
type Group struct {
	Group       string `json:"group"`
	TargetGroup string `json:"targetGroup"`
	Type        string `json:"type"`        // of the group where its positions come from: classic, consumer, share, streams
	TargetType  string `json:"targetType"`  // empty: the group does not exist there
	TargetState string `json:"targetState"` // Empty, Dead (absent), ...
	Action      Action `json:"action"`
	// Refusal is the code (701 and so on) that keeps the group from being written; 0 without. Because and Next say why and what to
	// do.
	Refusal finding.Code `json:"refusal,omitempty"`
	Because string       `json:"because,omitempty"`
	Next    string       `json:"next,omitempty"`
	// Holds tells what MirrorMaker 2 will make of the values while it runs.
	Holds Holds `json:"holds"`
	// Remarks are said once per group: state of stream processors, expiry, delivery counts of share groups.
	Remarks []string `json:"remarks,omitempty"`
	Rows    []Row    `json:"partitions"` // by topic, partition
}

// Holds says whether the values of a group stay as they are written.
type Holds struct {
	// Status: holds (nothing writes the group), raised (MirrorMaker 2 moves it forward, never back), overwritten (MirrorMaker 2
	// puts its own value back, lower or wrong), unknown.
	Status  string `json:"status"`
	Because string `json:"because,omitempty"`
	// First are the steps to take before the plan is applied, in order; empty where none are needed.
	First []finding.Step `json:"first,omitempty"`
}

// Committed is a committed offset, as a pre-image or as the position of a group.
type Committed struct {
	Offset   int64  `json:"offset"`
	Epoch    int32  `json:"epoch"` // -1 without
	Metadata string `json:"metadata,omitempty"`
}

// Row is one partition of a group.
type Row struct {
	Topic         string `json:"topic"` // on the cluster the position comes from
	TargetTopic   string `json:"targetTopic"`
	Partition     int32  `json:"partition"`
	TopicID       string `json:"topicId,omitempty"`
	TargetTopicID string `json:"targetTopicId,omitempty"`

	Action  Action       `json:"action"`
	Refusal finding.Code `json:"refusal,omitempty"`
	Because string       `json:"because,omitempty"`

	From *Committed `json:"from"` // the position; null where the group has none
	// FromBasis says where the position comes from: committed, state, bundle, checkpoint, file. FromAgeMs is how old it is.
	FromBasis string     `json:"fromBasis"`
	FromAgeMs int64      `json:"fromAgeMs,omitempty"`
	Before    *Committed `json:"before"` // what the group has on the target now, the pre-image; null: nothing
	// BeforeLag counts, of a share group, the records from Before to the end that were not done; null where the broker does not tell.
	BeforeLag *int64 `json:"beforeLag,omitempty"`
	To        *int64 `json:"to"` // what will be committed; null where nothing is
	// Would is what would be committed if the row were not refused; null where that is not known either.
	Would *int64 `json:"wouldBe,omitempty"`
	Epoch int32  `json:"epoch"` // to be committed with it; -1: none

	// Basis is the answer that To rests on: records, range, mm2, checkpoint, file, fallback, end, start.
	Basis    string    `json:"basis,omitempty"`
	Verdict  string    `json:"verdict,omitempty"` // exact, ambiguous, ...: the words of translate/match; "bound" for a range
	Bound    *[2]int64 `json:"bound,omitempty"`
	Clamped  string    `json:"clamped,omitempty"` // what max(log start, min(x, LEO)) did, in words
	Evidence string    `json:"evidence,omitempty"`
	Sync     *SyncRef  `json:"sync,omitempty"`
	MM2      *int64    `json:"mm2Expected,omitempty"` // what MirrorMaker 2 of this version gives
	MM2Why   string    `json:"mm2Why,omitempty"`      // why it gives nothing, or cannot be told
	// Unknown names what is not known and why, by the name of its key: before, mm2Expected. What is missing and not named here is
	// known not to be there.
	Unknown map[string]string `json:"unknown,omitempty"`

	// Counts in records, for a consumer that starts at To. ReReadUpTo is above ReRead where the place is not proved.
	ReRead      int64 `json:"reRead"`
	ReReadUpTo  int64 `json:"reReadUpTo"`
	Skipped     int64 `json:"skipped"`
	Gone        int64 `json:"gone"`
	NotMirrored int64 `json:"notMirrored"`
	// BeforeCount is the same for what the group has now: what the write improves.
	BeforeCount *Count `json:"beforeCount,omitempty"`

	LogStart  int64 `json:"targetLogStart"`
	Stable    int64 `json:"targetStable"`
	End       int64 `json:"targetEnd"`
	SourceEnd int64 `json:"sourceEnd"` // -1 where not known
}

// SyncRef is the offset sync that an answer rests on, with its place in the offset-syncs topic.
type SyncRef struct {
	Upstream   int64 `json:"upstream"`
	Downstream int64 `json:"downstream"`
	Offset     int64 `json:"offset"`
}
