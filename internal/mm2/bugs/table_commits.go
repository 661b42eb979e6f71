package bugs

import "github.com/mm2doctor/mm2doctor/internal/kafka"

var commits = []Bug{
	{
		ID: "KAFKA-15607", Component: GroupSync, Status: Fixed, Impact: Stale, Affects: spans("2.7.0..3.5.2", "3.6.0..3.6.1"),
		Title:      "An offset of -1 on the target stops all commits of a task",
		Effect:     "Clients other than Java's can leave -1 on the target. Each pass then ends in a NullPointerException, and no group of that task is committed. Up to 3.2 groups not yet looked at are written without the check against T.",
		Conditions: []Condition{syncOn, when("a group holds -1 on the target", func(f *Facts) Answer { return f.TargetNullOffset })},
		Signs:      []Sign{sign("checkpoints wait, T does not move", (*Facts).notCommitted)},
		Logs: []LogPattern{
			line("ERROR", `caught exception in scheduled task: sync idle consumer group offset from source to target`, npe).proves(),
			line("WARN", `Group .* offset for partition .* may has been reset to a negative offset, just sync the offset to target\.`, "").
				benign("a fixed release met such an offset and wrote over it"),
		},
		Workaround: "Delete the -1 on the target while the group is empty (kafka-consumer-groups --delete-offsets); upgrade.",
	},
	{
		ID: "KAFKA-14095", Component: GroupSync, Status: Fixed, Impact: Stale, Affects: spans("2.7.0..3.4.0"),
		Title:      "Failed commits on the target are not logged",
		Effect:     "Whatever keeps the commit from working (members, missing topic, permission) leaves no trace; a TRACE line even says it worked.",
		Conditions: []Condition{syncOn},
		Signs:      []Sign{sign("the checkpoint is ahead of T, and nothing moves", (*Facts).notCommitted)},
		Logs: []LogPattern{
			line("WARN", unableToSync+` This is likely caused by consumers currently using this group in the target cluster\.`, "").
				benign("fixed releases say so: the group has members on the target"),
			line("ERROR", unableToSync+`$`, "").benign("fixed releases say so: the cause is in the trace"),
		},
		Workaround: "Look at the group's state, the topic and the ACLs on the target by hand.",
	},
	{
		ID: "KAFKA-19794", Component: GroupSync, Status: Open, Impact: DataLoss, Affects: spans("2.7.0.."),
		Title:  "Offsets of groups in use on the target are rewound or skipped",
		Effect: "A group that was not EMPTY when last looked at counts as new, and all its checkpoints are written without comparing with T. When the broker does not refuse, T goes back, or to a position that is no longer kept.",
		Conditions: []Condition{
			syncOn,
			when("the group runs on the target, or did a moment ago", func(f *Facts) Answer { return f.RanOnTarget }),
		},
		Signs: []Sign{signRewind},
		Logs: []LogPattern{
			line("ERROR", `Error querying for consumer group .* on cluster .*\.`, "").note("the group was not described, so it counts as new"),
			line("WARN", `Unable to sync offsets for consumer group .*likely caused by consumers currently using this group`, "").
				benign("the broker refused, nothing was changed this time"),
		},
		Workaround: "Exclude groups from the flow (groups.exclude) as soon as they run on the target.",
	},
	{
		ID: "KAFKA-13856", Component: GroupSync, Status: Open, Impact: Stale, Affects: spans("2.7.0.."),
		Title:      "Two threads share the checkpoints of a task",
		Effect:     "Now and then a pass of the group-offset sync dies half-way; the next one normally works.",
		Logs:       []LogPattern{line("ERROR", `caught exception in scheduled task: sync idle consumer group offset from source to target`, cme).proves()},
		Workaround: "None needed; give the two intervals different values.",
	},
	{
		ID: "KAFKA-14023", Component: GroupSync, Status: ByDesign, Impact: Stale, Affects: spans("2.7.0.."),
		Title:      "A rewind of the source group is not committed on the target",
		Effect:     "The lower position is checkpointed and never committed, because T only ever grows, and only with an EMPTY group.",
		Conditions: []Condition{syncOn, when("the source group was set back", func(f *Facts) Answer { return f.SourceRewound })},
		Signs:      []Sign{sign("C.down stays below T, the group is EMPTY on the target", (*Facts).heldBack)},
		Workaround: "Reset or delete the target offsets by hand; the current checkpoint is then written.",
	},
	{
		ID: "KAFKA-19107", Component: GroupSync, Status: Open, Impact: Cosmetic, Affects: spans("2.7.0.."),
		Title:      "Checkpoints of deleted target topics are kept for ever",
		Effect:     "The checkpoint stays in the task, and from 3.7.1 on is loaded again at each start, so each pass reports an error for the group. Its other partitions are committed.",
		Conditions: []Condition{syncOn, topicGone},
		Signs:      []Sign{sign("a checkpoint names a topic that the target does not have", (*Facts).checkpointWithoutTopic)},
		Logs:       []LogPattern{line("ERROR", unableToSync, commonErrors+"UnknownTopicOrPartitionException").note("3.4.0 and later; silent before").proves()},
		Workaround: "Recreate the topic, or stop MirrorMaker 2, delete the checkpoints topic, which is built anew, and start. Never write a tombstone: readers fail on it.",
	},
	{
		ID: "KAFKA-9076", Component: GroupSync, Status: Change, Impact: Missing, Affects: spans("2.4.0..2.7.0"),
		Title:      "Group-offset sync came with 2.7.0 (KIP-545)",
		Effect:     "Before 2.7.0 nothing commits on the target, and sync.group.offsets.enabled is ignored in silence.",
		Signs:      []Sign{sign("a checkpoint exists, T does not", (*Facts).uncommitted)},
		Workaround: "RemoteClusterUtils.translateOffsets in the application, or upgrade.",
	},
	{
		ID: "KAFKA-18995", Component: GroupSync, Status: Open, Impact: Stale, Affects: spans("2.7.0.."),
		Title:  "The opposite flow overwrites a group that lives on its own target",
		Effect: "With group-offset sync in both directions the opposite flow writes older, translated offsets over those of a group as soon as it is empty for a moment.",
		Conditions: []Condition{
			when("both flows sync offsets of the group", func(f *Facts) Answer { return all(f.SyncGroupOffsets, f.ReverseSyncsGroup) }),
		},
		Signs:      []Sign{sign("T goes back and no operator did it", func(f *Facts) Answer { return f.TargetFell })},
		Workaround: "Let one direction alone sync groups, or keep the group out of the opposite flow until its failback.",
	},
	{
		ID: "BEHAVIOUR-target-expiry", Component: GroupSync, Status: ByDesign, Impact: Stale, Affects: spans("2.7.0.."),
		Title:      "Synced offsets expire on the target when the source group rests",
		Effect:     "Equal offsets are not committed again, so the broker deletes them after offsets.retention.minutes. The next pass writes them from memory; after a restart only if the checkpoint is loaded or emitted again.",
		Conditions: []Condition{syncOn, when("the source group no longer commits", func(f *Facts) Answer { return f.SourceIdle })},
		Signs:      []Sign{sign("a checkpoint exists, T does not", (*Facts).uncommitted)},
		Workaround: "A larger offsets.retention.minutes on the target.",
	},
	{
		ID: "BEHAVIOUR-missing-target-topic", Component: GroupSync, Status: ByDesign, Impact: Missing, Affects: spans("2.7.0.."),
		Title:  "Commits on a topic that the target does not have are refused",
		Effect: "Each pass is refused for these partitions, in silence before 3.4.0. Mostly the connectors have different policies, or the topic was deleted.",
		Conditions: []Condition{
			syncOn,
			when("the connectors' policies differ, or the topic is not on the target", func(f *Facts) Answer { return either(f.policiesDiffer(), f.TargetTopicExists.Not()) }),
		},
		Signs:      []Sign{sign("a checkpoint names a topic that the target does not have", (*Facts).checkpointWithoutTopic)},
		Logs:       []LogPattern{line("ERROR", unableToSync, commonErrors+"UnknownTopicOrPartitionException").note("3.4.0 and later; silent before").proves()},
		Workaround: "Give the source and the checkpoint connector the same replication.policy settings.",
	},
	{
		ID: "BEHAVIOUR-streams-target-rewound", Component: GroupSync, Status: Change, Impact: Stale, Affects: spans("3.8.0.."),
		Title:      "Each pass writes over an empty streams group",
		Effect:     "MirrorMaker 2 cannot describe streams groups, so nothing is compared, and each pass writes all checkpoints, backwards too, while the group has no members.",
		Conditions: []Condition{when("the group is an empty streams group on the target", idleTargetType(kafka.TypeStreams))},
		Signs:      []Sign{signRewind},
		Workaround: "Take the group out of the flow before its application moves, or leave it running there.",
	},
	{
		ID: "BEHAVIOUR-kip848-target-rewound", Component: GroupSync, Status: Change, Impact: Stale, Affects: spans("3.7.0..3.8.0"),
		Title:      "Each pass of 3.7 writes over an empty KIP-848 group",
		Effect:     "The client of 3.7 cannot describe groups of the consumer protocol, so nothing is compared, and each pass writes all checkpoints, backwards too.",
		Conditions: []Condition{when("the group is an empty group of the consumer protocol on the target", idleTargetType(kafka.TypeConsumer))},
		Signs:      []Sign{signRewind},
		Workaround: "Upgrade to 3.8.0 or later, or exclude the group from the flow before it moves.",
	},
}
