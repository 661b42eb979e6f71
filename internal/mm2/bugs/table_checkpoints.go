package bugs

var checkpoints = []Bug{
	{
		ID: "KAFKA-14545", Component: CheckpointTask, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..3.4.1"), Branches: []string{"3.3"},
		Title:      "One null commit stops the checkpoints of all groups of a task",
		Effect:     "A group with a null offset on one partition makes each round of its task fail. None of the task's groups gets checkpoints, and the task says RUNNING.",
		Conditions: []Condition{when("a group of the task has a null commit on the source", func(f *Facts) Answer { return f.SourceNullOffset })},
		Signs:      []Sign{signSilent},
		Logs:       []LogPattern{line("WARN", `Failure polling consumer state for checkpoints\.`, npe).proves()},
		Workaround: "Exclude that group, or commit a real offset on the partition; upgrade to 3.4.1 or later.",
	},
	{
		ID: "KAFKA-14072", Component: CheckpointTask, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..3.4.1"),
		Title:      "A checkpoint connector that does nothing is reported as running",
		Effect:     "KAFKA-14545 as the operator sees it: RUNNING, and no checkpoints.",
		Signs:      []Sign{sign("one group has a null commit, and an eligible group has no checkpoint", func(f *Facts) Answer { return all(f.SourceNullOffset, f.silentTask()) })},
		Logs:       []LogPattern{line("WARN", `Failure polling consumer state for checkpoints\.`, npe).proves()},
		Workaround: "As for KAFKA-14545.",
	},
	{
		ID: "KAFKA-14401", Component: CheckpointTask, Status: Fixed, Impact: Stale, Affects: spans("3.4.1..3.9.0"),
		Title:      "The thread that reads offset-syncs dies, the task goes on",
		Effect:     "An exception in the reader, such as one malformed or null record while MirrorMaker 2 runs, freezes the store: translations stay at the last sync seen. From 3.9.0 on the thread survives and only the rest of that batch is lost.",
		Conditions: []Condition{unseen("an exception in the thread that reads offset-syncs")},
		Signs:      []Sign{sign("offset-syncs holds a null or malformed record, and checkpoints no longer follow", func(f *Facts) Answer { return all(f.BadSyncRecord, f.untranslated()) })},
		Logs:       []LogPattern{line("ERROR", `Unexpected exception in Thread\[KafkaBasedLog Work Thread - mm2-offset-syncs\..*`, "").proves()},
		Workaround: "Restart the checkpoint task. With a bad record in the topic, recreate the topic; only new records fill it again.",
	},
	{
		ID: "KAFKA-17242", Component: CheckpointTask, Status: Fixed, Impact: Cosmetic, Affects: spans("3.4.1..3.9.0"),
		Title:      "A timeout is reported though loading goes on",
		Effect:     "Loading the stores takes longer than admin.timeout.ms and is called timed out; it continues all the same.",
		Conditions: []Condition{unseen("loading takes longer than admin.timeout.ms")},
		Logs:       []LogPattern{line("ERROR", `Scheduler for MirrorCheckpointTask.* timed out running task: starting (checkpoint and )?offset sync stores?`, "").proves()},
		Workaround: "Ignore it, or raise admin.timeout.ms.",
	},
	{
		ID: "KAFKA-12922", Component: CheckpointTask, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..3.0.0"),
		Title:      "The topic filter is not closed",
		Effect:     "A filter of one's own leaks at each task restart. Nothing shows outside.",
		Workaround: "None needed.",
	},
	{
		ID: "KAFKA-15827", Component: CheckpointTask, Status: Fixed, Impact: Cosmetic, Affects: spans("3.4.1..3.8.0"),
		Title:      "Clients leak when a task fails at start",
		Effect:     "Each failed start of a checkpoint task leaves the clients of its store open.",
		Signs:      []Sign{sign("more and more connections of MirrorMaker 2 after repeated starts", nil)},
		Workaround: "Restart the worker.",
	},
	{
		ID: "KAFKA-15517", Component: CheckpointTask, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..3.8.0"),
		Title:  "A missing permission is not named",
		Effect: "Up to 3.7 a missing ACL shows as a general failure only.",
		Logs: []LogPattern{
			line("ERROR", `(TopicAuthorization|ClusterAuthorization|GroupAuthorization)Exception occurred while trying to .*`, "").
				benign("fixed releases name the permission that is missing"),
		},
		Workaround: "Look for GroupAuthorizationException and TopicAuthorizationException in the log.",
	},
	{
		ID: "KAFKA-12798", Component: CheckpointTask, Status: Open, Impact: Stale, Affects: spans("2.4.0.."),
		Title:      "An unreachable source cluster makes rebalances time out",
		Effect:     "Connectors and tasks wait for the source cluster while they start, the rebalance times out, and other flows of the worker suffer.",
		Signs:      []Sign{sign("tasks are UNASSIGNED while the source cluster does not answer", func(f *Facts) Answer { return all(f.SourceUnreachable, f.unassigned()) })},
		Workaround: "Workers of its own for each source cluster; a larger rebalance.timeout.ms.",
	},
	{
		ID: "KAFKA-17828", Component: CheckpointTask, Status: Open, Impact: Missing, Affects: spans("2.4.0.."),
		Title:      "No way back: progress on the remote topic is not carried to the original",
		Effect:     "What a group reads on the target after a failover is not translated back (KIP-1098), so a failback reads again or loses its place. Up to 3.2 these offsets are copied one to one, which is wrong.",
		Signs:      []Sign{sign("the group has commits on the remote topic, and the opposite flow has no checkpoint of the original", nil)},
		Workaround: "Plan the failback by other means than MirrorMaker 2's checkpoints, for example by timestamp.",
	},
	{
		ID: "BEHAVIOUR-store-start-failure", Component: CheckpointTask, Status: ByDesign, Impact: Missing, Affects: spans("3.4.1.."), AtRestart: true,
		Title:      "A checkpoint task whose store did not load stays RUNNING and does nothing",
		Effect:     "When offset-syncs cannot be read at task start (missing, denied, one malformed or null record), one error is logged. From then on nothing is translated or committed.",
		Conditions: []Condition{when("offset-syncs cannot be read to its end, or holds a null or malformed record", func(f *Facts) Answer { return either(f.BadSyncRecord, f.SyncsUnreadable) })},
		Signs:      []Sign{sign("no checkpoint of an eligible group since the restart, the task RUNNING", func(f *Facts) Answer { return all(f.RestartSeen, f.silentTask()) })},
		Logs: []LogPattern{
			line("ERROR", `Scheduler for MirrorCheckpointTask.* caught exception in scheduled task: starting (checkpoint and )?offset sync stores?`, "").proves(),
			line("ERROR", `Could not look up partition metadata for topic 'mm2-offset-syncs.*' in the allotted period`, "").proves(),
		},
		Workaround: "Repair or recreate the topic, then restart the task; restarting the connector alone does not help.",
	},
}
