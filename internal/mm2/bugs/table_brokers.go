package bugs

import "github.com/mm2doctor/mm2doctor/internal/kafka"

var bothBrokers = []Place{OnSourceBroker, OnTargetBroker}

var brokers = []Bug{
	{
		ID: "KAFKA-13636", Component: Broker, Status: Fixed, Impact: DataLoss, RunsOn: bothBrokers, Affects: spans("2.4.0..2.8.2", "3.0.0..3.0.1", "3.1.0..3.1.1"),
		Title:      "Brokers delete offsets of live groups that commit rarely",
		Effect:     "During a rebalance the offset of a group in use may be deleted. On the source MirrorMaker 2 loses its position, on the target the synced one goes.",
		Conditions: []Condition{unseen("a live group that commits rarely")},
		Signs:      []Sign{sign("U or T of a live group disappears", nil)},
		Workaround: "A larger offsets.retention.minutes; upgrade the brokers.",
	},
	{
		ID: "KIP-1043", Component: Broker, Status: Change, Impact: Cosmetic, RunsOn: []Place{OnMM2, OnTargetBroker}, Affects: spans("4.0.0.."),
		Title:      "A group that does not exist is an error instead of the state Dead",
		Effect:     "From 4.0 on describing a missing group gives GROUP_ID_NOT_FOUND. MirrorMaker 2 4.0 takes it for a new group; older tools expect Dead.",
		Logs:       []LogPattern{line("ERROR", `Error querying for consumer group .* on cluster .*\.`, commonErrors+"GroupIdNotFoundException").proves()},
		Workaround: "None needed.",
	},
	{
		ID: "KAFKA-16371", Component: Broker, Status: Fixed, Impact: Stale, RunsOn: []Place{OnTargetBroker}, Affects: spans("2.4.0..3.7.1"),
		Title:      "A commit refused for its metadata leaves something pending",
		Effect:     "MirrorMaker 2 copies the commit's metadata. A target that allows less refuses these partitions, and up to the fix keeps a pending commit.",
		Conditions: []Condition{when("commit metadata exceeds the target's offset.metadata.max.bytes", func(f *Facts) Answer { return f.MetadataTooLarge })},
		Signs:      []Sign{sign("the checkpoint is ahead of T, and nothing moves", (*Facts).notCommitted)},
		Logs:       []LogPattern{line("ERROR", unableToSync, commonErrors+"OffsetMetadataTooLarge").proves()},
		Workaround: "The same offset.metadata.max.bytes on both clusters.",
	},
	{
		ID: "KIP-848", Component: Broker, Status: Change, Impact: Cosmetic, RunsOn: bothBrokers, Affects: spans("4.0.0.."),
		Title:      "Groups of the new consumer protocol",
		Effect:     "They are listed and checkpointed. On the target a commit is refused with UNKNOWN_MEMBER_ID while the group has members, and accepted when it is empty.",
		Conditions: []Condition{when("the group uses the consumer protocol", onEitherSide(kafka.TypeConsumer))},
		Workaround: "As for classic groups: no consumers on the target before a failover.",
	},
	{
		ID: "KIP-932", Component: Broker, Status: Change, Impact: Missing, RunsOn: []Place{OnSourceBroker}, Affects: spans("4.0.0.."),
		Title:      "Share groups are invisible to MirrorMaker 2",
		Effect:     "Positions of share groups are no consumer offsets: they are never listed, checkpointed or committed. Streams groups (KIP-1071) are not listed either.",
		Conditions: []Condition{when("the group is a share or streams group", sourceType(kafka.TypeShare, kafka.TypeStreams))},
		Signs:      []Sign{sign("no checkpoint of the group", func(f *Facts) Answer { return f.Checkpoint.Absent() })},
		Workaround: "None.",
	},
	{
		ID: "KAFKA-20254", Component: Broker, Status: Fixed, Impact: Stale, RunsOn: bothBrokers, Affects: spans("4.2.0..4.2.1"),
		Title:      "Changing a classic group to a streams group goes wrong on 4.2.0",
		Effect:     "Concerns groups of Kafka Streams applications that change to the streams protocol.",
		Conditions: []Condition{when("a Streams application changes its group to the streams protocol", func(f *Facts) Answer { return f.MigratingToStreams })},
		Workaround: "4.2.1.",
	},
}
