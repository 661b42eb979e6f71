package diagnose

import (
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Report is the answer: schemaVersion 1, additive only. In every list the order is that of importance.
type Report struct {
	SchemaVersion int                  `json:"schemaVersion"`
	Tool          Tool                 `json:"tool"`
	Command       string               `json:"command"`
	Flows         []FlowInfo           `json:"flows"`
	Collected     Collected            `json:"collected"`
	Summary       Summary              `json:"summary"`
	Links         []LinkStatus         `json:"links"`
	Findings      []finding.Finding    `json:"findings"`
	Partitions    []Row                `json:"partitions"`
	NotChecked    []finding.NotChecked `json:"notChecked"`

	// Tree is the decision tree with the path taken, one per flow; text only.
	Trees []Tree `json:"-"`
	// Skipped counts groups left out of the rows: default-excluded and MirrorMaker 2's own worker groups.
	Skipped []SkippedGroups `json:"skippedGroups,omitempty"`
}

// Tool is who made the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Collected is the time span of the readings, RFC 3339 in UTC.
type Collected struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// FlowInfo names a flow and what MirrorMaker 2 it is.
type FlowInfo struct {
	Name   string      `json:"name"`
	Source ClusterInfo `json:"source"`
	Target ClusterInfo `json:"target"`
	MM2    MM2Info     `json:"mm2"`
	Mode   string      `json:"mode"`
	File   string      `json:"file,omitempty"`
	// LastSign is the newest of what MirrorMaker 2 wrote; nil where nothing was read of it. Running is whether it works at the time of
	// the look: "yes", "no", "unknown" (it has been silent for less than a restart takes), "untold" (nothing tells: heartbeats are off).
	LastSign *Sign  `json:"lastSign,omitempty"`
	Running  string `json:"running,omitempty"`
}

// Sign is something that MirrorMaker 2 wrote, and when, RFC 3339 in UTC.
type Sign struct {
	What string `json:"what"` // heartbeat, offset sync, checkpoint, stored position, start of a connector
	At   string `json:"at"`
	// AgeSeconds is how old it was at the time of the look.
	AgeSeconds int64 `json:"ageSeconds"`
}

// ClusterInfo is one end of a flow.
type ClusterInfo struct {
	Alias     string                `json:"alias"`
	ClusterID snapshot.Fact[string] `json:"clusterId,omitzero"`
	Bootstrap []string              `json:"bootstrap"`
	Version   string                `json:"version,omitempty"`
}

// MM2Info is what is known of MirrorMaker 2's version.
type MM2Info struct {
	Claimed     string     `json:"claimed,omitempty"`
	Range       [2]*string `json:"range"` // from, before; nil is open; both the same: that release
	Generations []string   `json:"generations"`
	Basis       string     `json:"basis"`
	// Emissions are the possible rules by which offset syncs are written (E1 to E3), Evidence what the records show of the
	// version, OffsetLagMax the setting as the distances between syncs show it.
	Emissions    []string `json:"emissions,omitempty"`
	Evidence     []string `json:"evidence,omitempty"`
	OffsetLagMax *int64   `json:"offsetLagMaxSeen,omitempty"`
}

// Verdict of a run.
type Verdict string

// Verdicts: broken = a faulty subject with an error; degraded = a warning; unknown = neither, but a link is unknown.
const (
	Healthy  Verdict = "healthy"
	Degraded Verdict = "degraded"
	Broken   Verdict = "broken"
	Unknown  Verdict = "unknown"
)

// Summary is the one-line answer. Link is the first broken one, -1 without.
type Summary struct {
	Verdict    Verdict      `json:"verdict"`
	Link       finding.Link `json:"link"`
	Errors     int          `json:"errors"`
	Warnings   int          `json:"warnings"`
	Infos      int          `json:"infos"`
	NotChecked int          `json:"notChecked"`
	Groups     int          `json:"groups"`     // judged
	Rows       int          `json:"partitions"` // group-partitions judged
}

// LinkStatus is one link of one flow in one line.
type LinkStatus struct {
	Flow   string           `json:"flow"`
	Link   finding.Link     `json:"link"`
	Name   string           `json:"name"`
	Status string           `json:"status"` // ok, broken, degraded, moving, unknown
	Facts  finding.Observed `json:"facts,omitempty"`
	Text   string           `json:"text,omitempty"` // the facts in one line of plain words
	Codes  []string         `json:"codes,omitempty"`
}

// Disposition says what ought to be expected of a row.
type Disposition string

// Dispositions; only faulty counts for verdict and exit code.
const (
	Intended Disposition = "intended"
	Expected Disposition = "expected"
	Faulty   Disposition = "faulty"
	Unsure   Disposition = "unknown"
)

// Row is one (group, source topic, partition) of a flow. A fact that is not known is left out and named in Unknown.
type Row struct {
	Flow        string                 `json:"flow"`
	Group       string                 `json:"group"`
	Topic       string                 `json:"topic"`
	TargetTopic string                 `json:"targetTopic"`
	TargetGroup string                 `json:"targetGroup"`
	Partition   int32                  `json:"partition"`
	Disposition Disposition            `json:"disposition"`
	Committed   CommittedPair          `json:"committed"`
	Sync        snapshot.Fact[SyncRef] `json:"sync,omitzero"`
	Checkpoint  snapshot.Fact[Pair]    `json:"checkpoint,omitzero"`
	MM2Expected snapshot.Fact[int64]   `json:"mm2Expected,omitzero"`
	Exact       snapshot.Fact[int64]   `json:"exact,omitzero"`
	Basis       string                 `json:"basis,omitempty"`
	Bound       *[2]int64              `json:"bound,omitempty"`
	ReRead      snapshot.Fact[int64]   `json:"reRead,omitzero"`
	SkippedRecs snapshot.Fact[int64]   `json:"skipped,omitzero"`
	Gone        snapshot.Fact[int64]   `json:"gone,omitzero"`
	NotMirrored snapshot.Fact[int64]   `json:"notMirrored,omitzero"`
	Status      string                 `json:"status"` // ok, moving, unknown, or the code of its root finding
	Unknown     map[string]string      `json:"unknown,omitempty"`
	TargetState string                 `json:"targetState,omitempty"` // state of the target group
	Note        string                 `json:"note,omitempty"`        // why a row is intended, expected or moving, in a few words
}

// CommittedPair are U and T.
type CommittedPair struct {
	Source snapshot.Fact[int64] `json:"source,omitzero"`
	Target snapshot.Fact[int64] `json:"target,omitzero"`
}

// Pair is an upstream and a downstream offset.
type Pair struct {
	Upstream   int64 `json:"upstream"`
	Downstream int64 `json:"downstream"`
}

// SyncRef is the sync that a translation rests on, with its place in the offset-syncs topic.
type SyncRef struct {
	Upstream   int64 `json:"upstream"`
	Downstream int64 `json:"downstream"`
	Offset     int64 `json:"offset"`
}

// SkippedGroups counts groups that are not rows, and why.
type SkippedGroups struct {
	Flow   string   `json:"flow"`
	Reason string   `json:"reason"`
	Count  int      `json:"count"`
	Some   []string `json:"some"` // the first few
}

// Tree is the well-known decision tree for one flow (and one group where --group names one).
type Tree struct {
	Flow  string
	Group string
	Root  *Node
}

// Node is a question with its answers, or a leaf with a code. Taken marks the path of this run.
type Node struct {
	Text     string
	Answer   string // the answer that leads here from the parent: "yes", "no", ...
	Taken    bool
	Codes    []string
	Children []*Node
}
