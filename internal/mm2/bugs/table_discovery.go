package bugs

import "github.com/mm2doctor/mm2doctor/internal/mm2"

var (
	checkpointsOff = when("the flow or its checkpoints are switched off", func(f *Facts) Answer { return either(f.FlowDisabled, f.CheckpointsDisabled) })
	churn          = sign("groups come and go from one refresh to the next", func(f *Facts) Answer { return f.GroupChurn })
)

var discovery = []Bug{
	{
		ID: "KAFKA-9360", Component: Discovery, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..2.5.0"),
		Title:      "Switching checkpoints or heartbeats off makes them come without a pause",
		Effect:     "The switch set to false gives a negative interval: the task spins and emits all the time instead of stopping.",
		Conditions: []Condition{when("emit.checkpoints.enabled or emit.heartbeats.enabled is false", func(f *Facts) Answer { return either(f.CheckpointsDisabled, f.HeartbeatsDisabled) })},
		Signs:      []Sign{sign("checkpoints or heartbeats arrive at a high rate all the same", nil)},
		Workaround: "Do not switch them off on 2.4; leave the connector out.",
	},
	{
		ID: "MINOR-9545", Component: Discovery, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..2.8.0"),
		Title:      "Groups that only commit are left out",
		Effect:     "Groups of consumers that assign partitions themselves, and those committed by admin tools or by another MirrorMaker 2, get no checkpoints.",
		Conditions: []Condition{when("the group has no protocol type", func(f *Facts) Answer { return f.ManualGroup })},
		Signs:      []Sign{signNone},
		Workaround: "Upgrade to 2.8.0 or later.",
	},
	{
		ID: "KAFKA-14837", Component: Discovery, Status: Fixed, Impact: Stale, Affects: spans("2.4.0..3.4.1"), Branches: []string{"3.3"},
		Title:  "Groups without a mirrored topic restart all checkpoint tasks",
		Effect: "A group that comes or goes makes all checkpoint tasks restart with the next refresh, whether it matters or not. From 3.4.1 on such groups are left out; a checkpoint connector whose own topics filter matches nothing then has no task.",
		Signs:  []Sign{churn},
		Logs: []LogPattern{
			line("DEBUG", `Ignoring the following groups which do not have any offsets for topics that are accepted by the topic filter: .*`, "").
				benign("3.4.1 and later: these groups are left out on purpose"),
		},
		Workaround: "Narrow groups, or a longer refresh.groups.interval.seconds. In Connect mode give topics and topics.exclude to the checkpoint connector too.",
	},
	{
		ID: "KAFKA-14842", Component: Discovery, Status: Fixed, Impact: Stale, Affects: spans("2.4.0..3.4.1"), Branches: []string{"3.3"},
		Title:      "Offsets are asked for groups that do not matter",
		Effect:     "Part of the change of KAFKA-14837.",
		Signs:      []Sign{churn},
		Workaround: "As for KAFKA-14837.",
	},
	{
		ID: "KAFKA-15139", Component: Discovery, Status: Fixed, Impact: Stale, Affects: spans("2.4.0..3.6.0"),
		Title:      "The group refresh is slow with very many groups",
		Effect:     "With tens of thousands of groups the refresh takes time by the square of their number, and new groups appear late.",
		Logs:       []LogPattern{line("WARN", `took too long \(\d+ ms\) running task: refreshing consumer groups`, "").proves()},
		Workaround: "Narrow groups; upgrade.",
	},
	{
		ID: "KAFKA-17232", Component: Discovery, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..3.9.0"),
		Title:      "A slow first listing of groups leaves the connector without tasks",
		Effect:     "When groups and their offsets are not listed within admin.timeout.ms at start, the connector counts none and makes no task. The later refresh sees no change, so checkpoints stay off while everything says RUNNING.",
		Conditions: []Condition{unseen("listing groups and offsets at connector start takes longer than admin.timeout.ms")},
		Signs:      []Sign{sign("the checkpoint connector has no task, though a group is eligible", (*Facts).noTasks)},
		Logs: []LogPattern{
			line("INFO", `Started MirrorCheckpointConnector.* with 0 consumer groups\.`, "").note("right where no group passes the filter"),
			line("ERROR", `Scheduler for MirrorCheckpointConnector.* timed out running task: loading initial consumer groups`, "").proves(),
		},
		Workaround: "A longer admin.timeout.ms, fewer groups, and a restart of the connector; or 3.9.0 and later, best 4.0 (KAFKA-18021).",
	},
	{
		ID: "KAFKA-18021", Component: Discovery, Status: Fixed, Impact: Cosmetic, Affects: spans("3.9.0..4.0.0"),
		Title:      "A disabled checkpoint connector is retried for ever",
		Effect:     "With the flow or checkpoints disabled the worker tries again without end, logs an error each time, and does not stop tasks that ran already. It came with the fix of KAFKA-17232.",
		Conditions: []Condition{checkpointsOff},
		Logs: []LogPattern{
			line("ERROR", `Failed to reconfigure connector's tasks \(MirrorCheckpointConnector\), retrying after backoff`, "org.apache.kafka.connect.errors.RetriableException").proves(),
		},
		Workaround: "Ignore it for unused flows; delete the connector instead of disabling it; upgrade to 4.0. 3.9.1 and 3.9.2 still have it.",
	},
	{
		ID: "KAFKA-17233", Component: Discovery, Status: Change, Impact: Missing, Affects: spans("4.0.0.."),
		Title:      "One group that cannot be read spoils the listing of all",
		Effect:     "From 4.0 on one call asks for the offsets of all groups. It is faster, but one group that fails (no DESCRIBE, a coordinator error) makes the whole discovery fail.",
		Conditions: []Condition{unseen("one group of many cannot be read")},
		Logs: []LogPattern{
			line("ERROR", `caught exception in (scheduled )?task: (loading initial|refreshing) consumer groups`, commonErrors+"GroupAuthorizationException").proves(),
		},
		Workaround: "Grant DESCRIBE on all groups of the source, or exclude the group; excluded ones are not asked for.",
	},
	{
		ID: "KAFKA-9950", Component: Discovery, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..2.5.1"), Branches: []string{"2.4"},
		Title:      "Tasks share one definition of their settings",
		Effect:     "When several tasks start at once, one may fail with a ConcurrentModificationException.",
		Signs:      []Sign{sign("a task FAILED with ConcurrentModificationException", func(f *Facts) Answer { return f.failedWith("ConcurrentModificationException") })},
		Logs:       []LogPattern{line("ERROR", `.*`, cme).frame("ConfigDef").proves()},
		Workaround: "Restart the task.",
	},
	{
		ID: "KAFKA-10572", Component: Discovery, Status: Change, Impact: Cosmetic, Affects: spans("2.4.0..2.7.0"),
		Title:      "groups.exclude and topics.exclude came with 2.7.0 (KIP-629)",
		Effect:     "Before 2.7.0 both keys are unknown and ignored in silence: what was meant to be excluded is checkpointed.",
		Conditions: []Condition{when("the configuration has groups.exclude or topics.exclude", keyEnds("groups.exclude", "topics.exclude"))},
		Workaround: "groups.blacklist and topics.blacklist on 2.4 to 2.6.",
	},
	{
		ID: "KAFKA-17529", Component: Discovery, Status: Change, Impact: Stale, Affects: spans("4.0.0.."),
		Title:      "4.0 no longer reads the blacklist keys",
		Effect:     "The exclusion disappears in silence, and groups that were excluded are synced.",
		Conditions: []Condition{when("the configuration has a blacklist key", keyEnds("groups.blacklist", "topics.blacklist", "config.properties.blacklist"))},
		Workaround: "Rename the keys to groups.exclude and topics.exclude before upgrading.",
	},
	{
		ID: "KAFKA-17200", Component: Discovery, Status: Change, Impact: Cosmetic, Affects: spans("4.0.0.."),
		Title:      "4.0 mirrors user topics whose name ends in internal (KIP-1074)",
		Effect:     "Such topics were never mirrored before; now they are, and their groups are checkpointed. The built-in topics.exclude became narrower.",
		Conditions: []Condition{internal},
		Workaround: "Set topics.exclude.",
	},
	{
		ID: "KAFKA-13397", Component: Discovery, Status: Fixed, Impact: Missing, Since: mm2.V(3, 1, 0),
		Title:      "Topics whose name ends in .internal",
		Effect:     "A fault that was repaired before any release had it. What remains: a topic with such a name is not mirrored before 4.0.",
		Conditions: []Condition{internal},
		Workaround: "Rename the topic, use a policy of one's own, or upgrade to 4.0.",
	},
	{
		ID: "KAFKA-13358", Component: Discovery, Status: ByDesign, Impact: Missing, Affects: spans("2.4.0.."),
		Title:      "Groups of the console consumer are not mirrored",
		Effect:     "Tests with kafka-console-consumer without --group use ids that the built-in groups.exclude leaves out, as it does for Connect's sink groups.",
		Conditions: []Condition{when("the built-in groups.exclude matches the group", (*Facts).excludedByDefault)},
		Signs:      []Sign{sign("no checkpoint of the group", func(f *Facts) Answer { return f.Checkpoint.Absent() })},
		Workaround: "Name the group with --group, or set groups.exclude.",
	},
	{
		ID: "KAFKA-14898", Component: Discovery, Status: NotABug, Impact: Cosmetic, Affects: spans("2.4.0.."),
		Title:      "A misspelt key has no effect and gives no error",
		Effect:     "Keys that MirrorMaker 2 does not know are ignored without a word.",
		Signs:      []Sign{sign("the configuration has a key that MirrorMaker 2 does not know", func(f *Facts) Answer { return f.MisspeltKeys })},
		Workaround: "Check the file with mm2doctor check.",
	},
	{
		ID: "KAFKA-16303", Component: Discovery, Status: Fixed, Impact: Cosmetic, Since: mm2.V(3, 8, 0),
		Title:      "Upgrade notes about offset translation",
		Effect:     "Documentation only. The notes name 3.5.0 to 3.6.1 for KAFKA-15906; 3.4.1 and 3.6.2 have it too.",
		Workaround: "None needed.",
	},
	{
		ID: "KAFKA-16254", Component: Discovery, Status: Change, Impact: Missing, Affects: spans("3.9.0.."),
		Title:      "Offset syncs can be switched off, and contradictions are refused (KIP-1031)",
		Effect:     "From 3.9.0 on emit.offset-syncs.enabled exists. A checkpoint connector without checkpoints or without offset syncs is refused, and so is a source connector that switches syncs off and sets any offset-syncs key.",
		Conditions: []Condition{when("emit.checkpoints.enabled or emit.offset-syncs.enabled is false", func(f *Facts) Answer { return either(f.CheckpointsDisabled, f.SyncsDisabled) })},
		Signs:      []Sign{sign("offset syncs are off, and an eligible group is not translated", func(f *Facts) Answer { return all(f.SyncsDisabled, f.untranslated()) })},
		Logs: []LogPattern{
			line("REST", `MirrorCheckpointConnector can't run with emit\.checkpoints\.enabled set to false`, "").proves(),
			line("REST", `MirrorCheckpointConnector can't run without offset syncs`, "").proves(),
			line("REST", `MirrorSourceConnector can't setup offset-syncs feature while emit\.offset-syncs\.enabled set to false`, "").proves(),
			line("ERROR", `Failed to configure MirrorCheckpointConnector connector for .*`, ""),
		},
		Workaround: "Do not run the checkpoint connector, instead of disabling it.",
	},
	{
		ID: "BEHAVIOUR-comma-group", Component: Discovery, Status: ByDesign, Impact: Missing, Affects: spans("2.4.0.."),
		Title:      "A group id with a comma is taken apart",
		Effect:     "Groups reach the tasks as one list joined by commas, so the group a,b becomes the groups a and b, and is itself never translated.",
		Conditions: []Condition{when("the group id holds a comma", (*Facts).commaInGroup)},
		Signs:      []Sign{signNone},
		Workaround: "Rename the group, or exclude it.",
	},
}
