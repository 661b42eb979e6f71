package plan

import (
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// Place is one partition of one cluster.
type Place struct {
	Cluster string // alias
	kafka.TopicPartition
}

// SyncsRef names the offset syncs that connect two places. Swapped says that the flow that wrote them went from To to From: its
// upstream offsets are those of the cluster that is written to.
type SyncsRef struct {
	Flow      string // "a->b": the flow that wrote them
	Cluster   string // alias of the cluster that holds the topic; empty where the topic does not exist or may not be read
	Topic     string
	Of        kafka.TopicPartition // as the syncs name it
	Swapped   bool
	OneTopic  bool // both places have the same topic name (identity policy): others may write to the copy
	Isolation match.Isolation
}

// Position is one offset that is to be found on the other cluster: the next record that a group reads. An Offset below 0 asks for
// nothing but the log ends of To, the counts of Also where that can be done, and Time.
type Position struct {
	Group  string
	From   Place // where Offset counts
	To     Place // where its copy is looked for
	Syncs  SyncsRef
	Offset int64
	// Also are offsets of To to be compared with the answer: what the group has there now, what MirrorMaker 2 would give, what an
	// operator wishes.
	Also []int64
	// Time, in ms, asks for the first offset of To at or after it (ListOffsets); 0 asks for nothing.
	Time int64
}

// Answer is what was found for a position. What could not be found out is nil, with the reason in Why.
type Answer struct {
	// Source and Target are the log ends as read for this comparison, the target's first. nil where a cluster did not answer.
	Source, Target *match.Bounds
	// Range bounds the copy by the offset syncs alone.
	Range *Range
	// Records is the answer of comparing records; nil where none were compared.
	Records *match.Answer
	// Also has one count for each offset of Position.Also.
	Also []Count
	// AtTime answers Position.Time: the end of the log where no record is that young; nil where it was not asked or not answered.
	AtTime *int64
	// Why says why Range or Records are missing.
	Why string
	// Unread says what could not be read on the side where the position comes from although it was to be: without it, that nothing
	// maps the position is not known.
	Unread string
}

// Range is a bound from offset syncs: T lies in [Low, High], and Low skips nothing that was copied.
type Range struct {
	Low, High int64
	Open      bool // no sync stands at or above the position: High is only the end of the log
	// Again says that the partition was copied again and the newer copy may not have come as far: Low lies in the older, High in the
	// newer one.
	Again bool
	// Counted says that the target's records between the two syncs were counted, which made the bound narrower.
	Counted      bool
	Below, Above *translate.Sync
	Syncs        int // how many syncs of the partition the topic still holds
	// Look is when the syncs were read, in ms, where that was in a captured snapshot of before; 0: now.
	Look int64
}

// Count compares one offset with the position that was found, in records: of those that a consumer starting there reads again,
// and of those that it never reads. Known is false where counting went beyond the read budget or there is nothing to count from;
// both are then bounds by offsets, -1 where the target's log is not known either.
type Count struct {
	Offset  int64 `json:"offset"`
	ReRead  int64 `json:"reRead"`
	Skipped int64 `json:"skipped"`
	Known   bool  `json:"known"`
}
