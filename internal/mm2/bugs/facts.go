package bugs

import (
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Pair is the offset of the same position on both sides: an offset sync (S) or a checkpoint (C).
type Pair struct{ Up, Down int64 }

// Facts is what an evaluation looks at: one flow, and as far as it is filled in one group and one source partition.
// Whatever is left at its zero value is unknown. Offsets are those of Kafka (the position of the next record for U, T, C).
type Facts struct {
	// Versions. A zero bound is open; the zero Range says nothing is known.
	MM2, SourceBroker, TargetBroker mm2.Range

	// How MirrorMaker 2 runs and is set up.
	Dedicated           Answer // connect-mirror-maker, not a Connect cluster
	ManyNodes           Answer // more than one worker runs the flow
	ExactlyOnce         Answer // exactly.once.source.support=enabled
	SyncGroupOffsets    Answer // sync.group.offsets.enabled of this flow
	ReverseSyncsGroup   Answer // the opposite flow commits offsets of the same group
	FlowDisabled        Answer // enabled=false
	CheckpointsDisabled Answer // emit.checkpoints.enabled=false
	HeartbeatsDisabled  Answer // emit.heartbeats.enabled=false
	SyncsDisabled       Answer // emit.offset-syncs.enabled=false
	SyncsTopicACLs      Answer // sync.topic.acls.enabled
	NoAuthorizer        Answer // the source brokers have none
	MayNotCreate        Answer // MM2's principal may not create its internal topics
	DropsRecords        Answer // a transformation of the source connector drops records
	ToleratesErrors     Answer // errors.tolerance=all
	ResetLatest         Answer // the source consumer is given auto.offset.reset=latest
	ConfigProviders     Answer // config.providers is used
	LowerCaseProtocol   Answer // security.protocol is not written in capitals
	NoRebalanceDelay    Answer // scheduled.rebalance.max.delay.ms=0
	DefaultExclude      Answer // groups.exclude is the built-in list
	MisspeltKeys        Answer // a key that MirrorMaker 2 does not know
	ConfigChanged       Answer // settings were changed by a rolling restart
	ConfigNotInForce    Answer // what runs differs from what is written
	Keys                Value[[]string]
	Separator           Value[string] // replication.policy.separator
	// Location is offset-syncs.topic.location, "source" or "target"; Policy the class of replication.policy.class.
	SourceLocation, CheckpointLocation Value[string]
	SourcePolicy, CheckpointPolicy     Value[string]
	OffsetLagMax                       Value[int64]
	// Intervals of the source offset flush, of checkpoints and of group-offset syncs; Quiet is how long U, C and T and the ends
	// of the partition are known to have stood still.
	FlushInterval, EmitInterval, SyncInterval, Quiet Value[time.Duration]

	// Tasks: states in Connect's words (RUNNING, FAILED, UNASSIGNED ...; the worst of several), first lines of traces.
	SourceTask, CheckpointTask   Value[string]
	SourceTrace, CheckpointTrace Value[string]
	CheckpointTasks              Value[int] // how many there are
	RestartSeen                  Answer     // the checkpoint task started after the newest sync at or below U was written
	SourceUnreachable            Answer
	GroupChurn                   Answer // groups come and go from refresh to refresh

	// Internal topics.
	BadSyncRecord     Answer // offset-syncs holds a null or malformed record
	SyncsUnreadable   Answer // MM2 cannot read offset-syncs to its end (missing, denied)
	SyncsNotCompacted Answer // offset-syncs or checkpoints has cleanup.policy without compact
	TwoSyncTopics     Answer // both spellings of the internal topics exist
	MixedSyncs        Answer // syncs of two targets in one topic

	// The topic. Eligible: group and topic pass the filters, and the group has a commit on it.
	Topic                Value[string]
	Transactional        Answer
	Compacted            Answer
	TargetTopicExists    Answer
	SourceTopicRecreated Answer
	MirrorOvertaken      Answer // retention passed the position of the mirror
	Eligible             Answer

	// The partition. Absent: there is none (no sync, no checkpoint, no commit).
	Committed, TargetCommitted     Value[int64] // U, T
	Checkpoint                     Value[Pair]  // C, newest
	OldestSync, NewestSync         Value[Pair]
	SyncBelow                      Value[Pair] // newest in the topic with S.up <= U
	Syncs                          Value[int64]
	SyncsRewound                   Answer       // S.up went back
	GreedyAnswer, TwoPointerAnswer Value[int64] // translation of U by the store of 3.4.1 - 3.5.1, and by that of 3.5.2 and later
	Exact                          Value[int64] // proved position on the target
	SourceStart, SourceEnd         Value[int64]
	TargetStart, TargetEnd         Value[int64]
	OtherPartitions                Answer // other partitions of the group have checkpoints
	OtherGroups                    Answer // other groups have checkpoints of the partition
	SourceNullOffset               Answer // a group of this task has a null commit on the source
	TargetNullOffset               Answer // a group of this task holds -1 on the target
	TargetFell                     Answer // T went back between two looks, and no operator did it
	MetadataTooLarge               Answer // commit metadata exceeds the target's offset.metadata.max.bytes

	// The group.
	Group              Value[string]
	SourceType         Value[kafka.GroupType]
	TargetType         Value[kafka.GroupType]
	TargetState        Value[kafka.GroupState]
	ManualGroup        Answer // empty protocol type: assign() only, or committed by an admin tool
	SourceIdle         Answer // the source group no longer commits
	SourceRewound      Answer // the source group was set back
	RanOnTarget        Answer // members on the target now, or a moment ago
	MigratingToStreams Answer // a Kafka Streams application changes to the streams protocol
	Logs               []Hit  // from MatchLog; no hits say nothing
}
