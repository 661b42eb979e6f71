package bugs

import "github.com/mm2doctor/mm2doctor/internal/mm2"

var translation = []Bug{
	{
		ID: "KAFKA-12635", Component: Translation, Status: Fixed, Impact: DataLoss, Affects: spans("2.4.0..3.3.0"),
		Title:      "A partition without any offset sync gets the source offset as it is",
		Effect:     "Where nothing was mirrored yet, the committed source offset is written to the target unchanged. On a shorter copy the lag turns negative, and consumers skip or fall back to auto.offset.reset.",
		Conditions: []Condition{noSync},
		Signs: []Sign{
			proof("C.up = C.down and the partition has no offset sync", (*Facts).copied),
		},
		Workaround: "Upgrade to 3.4.1 or later. Until then have a record mirrored on each partition, and delete the wrong target offsets while the group is empty: MirrorMaker 2 never lowers them.",
	},
	{
		ID: "KAFKA-13452", Component: Translation, Status: Fixed, Impact: DataLoss, Affects: spans("2.4.0..3.3.0"),
		Title:      "Checkpoints that no mapping stands behind",
		Effect:     "A second report of KAFKA-12635, closed by the same change.",
		Conditions: []Condition{noSync},
		Signs:      []Sign{proof("C.up = C.down and the partition has no offset sync", (*Facts).copied)},
		Workaround: "As for KAFKA-12635.",
	},
	{
		ID: "KAFKA-12468", Component: Translation, Status: Fixed, Impact: DataLoss, Affects: spans("2.4.0..3.4.1"), Branches: []string{"3.3"},
		Title:  "Offsets are counted on from the newest sync, past what was mirrored",
		Effect: "The target gets S.down + (U - S.up), as if both sides held the same number of offsets. With compaction, transactions or dropped records the result is too far: records are skipped, up to negative lag.",
		Conditions: []Condition{
			when("the group stands beyond the newest offset sync", (*Facts).beyondNewest),
			when("fewer offsets arrive on the target (transactions, compaction, a transformation that drops records)", (*Facts).fewerDownstream),
		},
		Signs:      []Sign{sign("C counts on from the newest sync, to a position past the copy or past the exact one", (*Facts).overshot)},
		Workaround: "Upgrade to 3.4.1 or later, best 3.7.1 or later. Until then offset.lag.max=0 keeps the distance short; set wrong target offsets right by hand.",
	},
	{
		ID: "KAFKA-13659", Component: Translation, Status: Fixed, Impact: Stale, Affects: spans("2.4.0..3.4.1"), Branches: []string{"3.3"}, AtRestart: true,
		Title:  "A starting checkpoint task translates before it has read all syncs",
		Effect: "Right after a task start an obsolete sync is used, because the topic is still being read: target offsets jump to a wrong place and jump again later.",
		Conditions: []Condition{
			when("offset-syncs holds more than one sync of the partition", func(f *Facts) Answer { return test(f.Syncs, func(n int64) bool { return n > 1 }) }),
		},
		Signs:      []Sign{sign("the first checkpoints after a task start contradict the newest sync, later ones do not", nil)},
		Workaround: "Upgrade. Until then make emit.checkpoints.interval.seconds long enough to read all of offset-syncs.",
	},
	{
		ID: "KAFKA-12566", Component: Translation, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..3.4.1"), Branches: []string{"3.3"},
		Title:      "Unstable tests of offset translation",
		Effect:     "The face of KAFKA-12468 and KAFKA-13659 in Kafka's own tests; an operator sees nothing else.",
		Workaround: "None needed.",
	},
	{
		ID: "KAFKA-14666", Component: Translation, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..3.4.1"), Branches: []string{"3.3"}, AtRestart: true,
		Title:      "Groups behind the newest sync are not translated",
		Effect:     "A position before the newest offset sync gets no checkpoint and no target offset: slow or paused groups, and on a busy topic each group after a restart.",
		Conditions: []Condition{behind},
		Signs:      []Sign{sign("the group has no checkpoint, or its checkpoint no longer follows", (*Facts).untranslated)},
		Workaround: "Let the group pass the newest S.up, do not restart MirrorMaker 2 before a failover, upgrade to 3.7.1 or later.",
	},
	{
		ID: "KAFKA-14797", Component: Translation, Status: NeverReleased, Impact: Stale, Since: mm2.V(3, 5, 0), Branches: []string{"3.3"},
		Title:      "A sync whenever translation would lag by more than offset.lag.max",
		Effect:     "Came together with the fix of KAFKA-12468, which alone would have left a plain topic with one sync. From 3.4.1 on such a topic has a sync at least each offset.lag.max + 1 records.",
		Workaround: "None needed.",
	},
	{
		ID: "KAFKA-15202", Component: Translation, Status: Fixed, Impact: Stale, Affects: spans("3.4.1..3.5.2"), Branches: []string{"3.3", "3.4"},
		Title:  "Unevenly spaced syncs make the store forget too many",
		Effect: "A lagging group is translated further back than needed and reads more records twice: the store drops history when syncs come at uneven distances.",
		Conditions: []Condition{
			behind,
			when("uneven distances cost the store a sync that later releases keep", (*Facts).storeForgets),
		},
		Signs:      []Sign{sign("C.down is what the older store gives, and later releases would give more", (*Facts).greedyCheckpoint)},
		Workaround: "Upgrade to 3.7.1 or later, or lower offset.lag.max so that syncs are spaced evenly.",
	},
	{
		ID: "KAFKA-15905", Component: Translation, Status: Fixed, Impact: Missing, Affects: spans("3.4.1..3.7.1"), AtRestart: true,
		Title:      "A start of the checkpoint task forgets all older syncs",
		Effect:     "After a restart, a rebalance or a change of the group list only positions at or after the then newest sync are translated. Lagging groups get no more checkpoints until they pass it.",
		Conditions: []Condition{behind},
		Signs:      []Sign{sign("the task was restarted, and the group has no checkpoint since", (*Facts).untranslatedSinceRestart)},
		Logs: []LogPattern{
			line("DEBUG", `translateDownstream\(.*\): Skipped \(OffsetSync\{.*\} is ahead of upstream consumer group .*\)`, "").
				note("the group stands before the oldest sync that the task holds; fixed releases write it too, for groups before the oldest sync of the topic"),
		},
		Workaround: "Avoid restarts and rebalances, let the group catch up, or upgrade to 3.7.1 or later; its checkpoint task also reads the checkpoints topic and needs READ on it.",
	},
	{
		ID: "KAFKA-16622", Component: Translation, Status: Fixed, Impact: Missing, Affects: spans("3.4.1..3.7.1"),
		Title:      "No first checkpoint before a group has caught up once",
		Effect:     "A group that the task has not met before gets no checkpoint until it has reached the newest sync once. Same cause and change as KAFKA-15905.",
		Conditions: []Condition{behind},
		Signs:      []Sign{sign("no checkpoint, though offset-syncs holds a sync at or below the group's position", (*Facts).neverSeen)},
		Workaround: "As for KAFKA-15905.",
	},
	{
		ID: "KAFKA-15906", Component: Translation, Status: Fixed, Impact: Stale, Affects: spans("3.4.1..3.7.0"),
		Title:      "The last records of a quiet partition never get a sync",
		Effect:     "Where little or nothing more arrives, the target offset remains up to offset.lag.max + 1 records before the end for good, though the group has read everything; these records are read twice after a failover.",
		Conditions: []Condition{when("at most offset.lag.max + 1 records were mirrored since the newest sync", (*Facts).fewSinceSync)},
		Signs:      []Sign{sign("the group is at the source's end, T stands one past the newest sync, before the target's end, and does not move", (*Facts).shortOfEnd)},
		Workaround: "offset.lag.max=0 or a small value for the source connector; upgrade to 3.7.0 or later. 3.6.2 still has it.",
	},
	{
		ID: "KAFKA-15144", Component: Translation, Status: ByDesign, Impact: Stale, Affects: spans("3.4.1..3.7.0"),
		Title:      "Checkpoints stay at offset 1",
		Effect:     "With the first sync (0,0) alone each position translates to 1, however far the group gets.",
		Conditions: []Condition{when("the partition's only sync is (0,0)", (*Facts).onlyFirstSync)},
		Signs:      []Sign{sign("C.down stays 1 while the group is further", (*Facts).stuckAtOne)},
		Workaround: "offset.lag.max=0, or upgrade to 3.7.0 or later (KAFKA-15906).",
	},
	{
		ID: "KAFKA-10048", Component: Translation, Status: Fixed, Impact: DataLoss, Affects: spans("2.4.0..2.7.0"),
		Title:      "No checkpoint for offset 0",
		Effect:     "A position that translates to 0 gets no checkpoint. After a failover auto.offset.reset decides, and latest skips the partition.",
		Conditions: []Condition{when("the position translates to 0", (*Facts).translatesToZero)},
		Signs:      []Sign{sign("no checkpoint here, while other partitions of the group have one", (*Facts).missingThisOnly)},
		Workaround: "auto.offset.reset=earliest for the consumers; upgrade to 2.7.0 or later.",
	},
	{
		ID: "KAFKA-16364", Component: Translation, Status: Open, Impact: Stale, Affects: spans("3.4.1.."),
		Title:      "Wish: finer translation between two syncs",
		Effect:     "Between two kept syncs the answer is one past the lower one, by design. A lagging group reads up to about half its lag again.",
		Signs:      []Sign{sign("C.down is before the exact position", nil)},
		Workaround: "Have groups read close to the end before a failover.",
	},
	{
		ID: "KAFKA-16641", Component: Translation, Status: Open, Impact: Stale, Affects: spans("3.4.1.."),
		Title:      "Wish: interpolate between sparse syncs",
		Effect:     "Two syncs with the same distance on both sides could give an exact answer in between; no release does that.",
		Signs:      []Sign{sign("C.down is before the exact position", nil)},
		Workaround: "None.",
	},
	{
		ID: "KAFKA-20643", Component: Translation, Status: Fixed, Impact: Cosmetic,
		Title:      "One constant for both rules of 'one past the sync'",
		Effect:     "A refactoring without a change of behaviour; it repairs nothing.",
		Workaround: "None needed.",
	},
}
