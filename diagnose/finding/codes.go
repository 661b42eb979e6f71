package finding

// Entry is one row of the table of codes: the default severity (a finding may differ where its rule says so), the place,
// the slugs, and what the code says.
type Entry struct {
	Code     Code
	Slug     string   // the main one
	Slugs    []string // further exact rules under this code; a slug belongs to one code
	Severity Severity
	Link     Link
	Title    string
}

// OfTranslation says that the code belongs to plans of a translation and to what carries them out: it has fixtures in
// fixtures/plans instead of snapshots.
func (e Entry) OfTranslation() bool { return e.Code/100 == 7 }

// OfConfiguration says that only rules over configurations find the code: it has fixtures in fixtures/lint instead of snapshots.
func (e Entry) OfConfiguration() bool { return e.Code/100 == 5 }

// Codes is the table. Every entry has a page docs/codes/MM2D-nnn.md, a fixture, a near miss and a golden report.
var Codes = []Entry{
	{1, "cluster-unreachable", nil, Error, LinkNone, "A bootstrap address or an advertised listener does not answer"},
	{2, "authentication-failed", nil, Error, LinkNone, "The cluster refuses the credentials or the mechanism"},
	{3, "evidence-denied", nil, Warning, LinkNone, "An ACL keeps the doctor from reading a fact"},
	{4, "api-unsupported", nil, Info, LinkNone, "A broker is too old for a question"},
	{5, "flow-not-found", []string{"source-target-exchanged", "flow-not-enabled", "alias-unknown"}, Error, LinkNone, "There is no such flow between these clusters"},
	{6, "not-mm2", nil, Info, LinkNone, "The topics look like those of another replicator"},
	{101, "offset-syncs-missing", nil, Error, LinkSyncs, "There is no offset-syncs topic where it should be"},
	{102, "location-mismatch", nil, Error, LinkSyncs, "The two connectors look for the offset-syncs topic on different clusters"},
	{103, "no-sync-for-partition", nil, Error, LinkSyncs, "Mirrored data and groups, but no offset sync for the partition"},
	{104, "offset-sync-stale", nil, Warning, LinkSyncs, "Records were mirrored, and the offset sync that this version owes for them was not written"},
	{105, "offset-syncs-not-compacted", nil, Warning, LinkSyncs, "The broker deletes records of the offset-syncs topic by age"},
	{106, "offset-sync-rewound", []string{"source-read-again", "target-recreated"}, Warning, LinkSyncs, "Offset syncs went back: the source was read again, or a topic was recreated"},
	{107, "offset-syncs-twice", nil, Warning, LinkSyncs, "There are two offset-syncs topics of the flow; one is abandoned"},
	{108, "offset-syncs-unreadable", nil, Error, LinkSyncs, "The offset-syncs topic holds records that are no offset syncs"},
	{109, "topic-not-mirrored", nil, Error, LinkReplication, "The filters admit the topic, yet it has no copy on the target"},
	{110, "replication-stalled", nil, Error, LinkReplication, "The source goes on, and nothing more is written to its copy"},
	{111, "offset-syncs-disabled", nil, Error, LinkSyncs, "The source connector is told to write no offset syncs, though checkpoints are wanted"},
	{112, "source-connector-not-working", []string{"mm2-not-running"}, Error, LinkReplication, "MirrorSourceConnector does not work, or MirrorMaker 2 does not run"},
	{113, "mirrored-from-the-middle", nil, Warning, LinkReplication, "Mirroring began after the oldest record of the source: what lies before has no copy"},
	{114, "replication-lagging", nil, Warning, LinkReplication, "Records wait for long until they are mirrored"},
	{115, "offset-syncs-wrong-alias", nil, Error, LinkSyncs, "An offset-syncs topic carries the alias of the cluster it lies on"},
	{116, "internal-topic-fragile", []string{"replication-factor-low", "min-isr-not-met"}, Warning, LinkSyncs, "An internal topic has one replica only, or too few in sync to be written"},
	{117, "offset-syncs-shared", nil, Warning, LinkSyncs, "Two set-ups write into one offset-syncs topic"},
	{201, "checkpoints-missing", nil, Error, LinkCheckpoints, "There is no checkpoints topic on the target"},
	{202, "checkpoints-empty", nil, Error, LinkCheckpoints, "The checkpoints topic has no record for any group that should have one"},
	{203, "group-filtered-out", nil, Warning, LinkCheckpoints, "The group is left out by groups or groups.exclude"},
	{204, "group-topic-filtered-out", nil, Warning, LinkCheckpoints, "The group passes, but its topic is left out by topics or topics.exclude"},
	{205, "group-not-yet-discovered", nil, Info, LinkCheckpoints, "MirrorMaker 2 has not seen the group yet"},
	{206, "offset-before-oldest-sync", nil, Error, LinkCheckpoints, "The committed offset lies before every usable offset sync"},
	{207, "checkpoint-behind", nil, Error, LinkCheckpoints, "The position translates above its checkpoint for longer than this version needs to write it"},
	{208, "checkpoint-connector-not-working", []string{"checkpoint-connector-missing", "checkpoints-disabled", "checkpoint-connector-failed", "no-checkpoint-tasks"}, Error, LinkCheckpoints, "MirrorCheckpointConnector does not work"},
	{209, "checkpoint-topic-unknown", []string{"policy-mismatch", "alias-mismatch", "separator-mismatch"}, Error, LinkCheckpoints, "Checkpoints name topics that the target does not have, because the two connectors name topics differently"},
	{210, "checkpoints-unreadable", []string{"non-bytearray-converter", "converter-missing"}, Warning, LinkCheckpoints, "The checkpoints topic holds records that are no checkpoints"},
	{211, "checkpoints-on-wrong-cluster", []string{"connect-cluster-not-target"}, Error, LinkCheckpoints, "The Connect worker is not attached to the target, so checkpoints and data go elsewhere"},
	{212, "group-id-unmirrorable", nil, Warning, LinkCheckpoints, "MirrorMaker 2 cannot hand a group of this name to its tasks"},
	{213, "checkpoint-orphaned", nil, Info, LinkCheckpoints, "A checkpoint speaks of a group or partition that the source no longer has"},
	{214, "group-without-checkpoint", nil, Error, LinkCheckpoints, "An eligible group or partition has no checkpoint although others do"},
	{215, "group-never-committed", nil, Info, LinkCheckpoints, "The group exists on the source without any committed offset"},
	{216, "commit-on-foreign-remote-topic", nil, Info, LinkCheckpoints, "Groups read topics on the source that came from the target; not translatable in this flow"},
	{217, "group-not-on-source", []string{"topic-not-on-source"}, Error, LinkCheckpoints, "A named group or topic matches nothing on the source"},
	{218, "checkpoint-for-deleted-topic", nil, Warning, LinkCheckpoints, "The topic of a checkpoint was deleted on the target, so each pass fails for it"},
	{219, "group-type-not-translated", nil, Info, LinkCheckpoints, "MirrorMaker 2 does not see groups of this type"},
	{301, "group-offset-sync-disabled", nil, Error, LinkCommit, "Checkpoints go on, but group offsets are not committed on the target"},
	{302, "group-active-on-target", nil, Error, LinkCommit, "The group has members on the target, so its offsets cannot be written"},
	{303, "target-ahead-of-checkpoint", nil, Error, LinkCommit, "The target offset is above the checkpoint and is never lowered"},
	{304, "target-behind-checkpoint", nil, Error, LinkCommit, "The group is idle on the target and its offset stays below the checkpoint"},
	{305, "group-type-conflict", nil, Error, LinkCommit, "The id belongs to a group on the target that never becomes one of the source's type"},
	{307, "target-offsets-expired", nil, Warning, LinkCommit, "The broker dropped the committed offset, or is about to, and nothing writes it again"},
	{308, "group-active-on-both", nil, Error, LinkCommit, "The group is read on both clusters, each going its own way"},
	{309, "target-offset-out-of-range", nil, Error, LinkCommit, "The target offset lies before the log start of the copy: auto.offset.reset decides"},
	{310, "both-flows-sync-group", []string{"two-way-group-sync"}, Warning, LinkCommit, "The flows of both directions commit offsets of the same group"},
	{311, "target-leader-epoch-wrong", nil, Error, LinkCommit, "The leader epoch committed with the target offset does not fit the copy"},
	{312, "group-written-by-two-flows", nil, Warning, LinkCommit, "Two flows into the target commit the same group and partition"},
	{313, "group-renamed", nil, Info, LinkCommit, "The same application may run under another group id on the target"},
	{314, "target-offset-negative", nil, Error, LinkCommit, "A negative offset is stored for the group on the target"},
	{315, "commit-metadata-too-large", nil, Error, LinkCommit, "The target refuses the commit because its metadata is too long"},
	{316, "target-rewound-every-pass", nil, Error, LinkCommit, "MirrorMaker 2 writes its checkpoint over the target offset at each pass, backwards too"},
	{306, "group-offset-commit-denied", nil, Error, LinkCommit, "An ACL keeps MirrorMaker 2 from committing the group's offsets on the target"},
	{401, "negative-lag", nil, Error, LinkAccuracy, "The target offset lies beyond the end of the copy"},
	{402, "re-read-over-budget", nil, Warning, LinkAccuracy, "The target offset is right, but further back than allowed"},
	{403, "offset-copied-untranslated", nil, Error, LinkAccuracy, "The source offset was copied where the copy has other offsets"},
	{404, "would-skip-records", nil, Error, LinkAccuracy, "The target offset lies after records that the group has not read"},
	{405, "sync-too-old-to-extrapolate", nil, Error, LinkAccuracy, "An old MirrorMaker 2 counted on from an offset sync that has drifted"},
	{601, "known-bug", []string{"version-known-bugs"}, Warning, LinkNone, "A known fault of the MirrorMaker 2 at work, with the data that shows it"},
	{603, "mixed-mm2-generations", []string{"claimed-version-contradicted"}, Info, LinkNone, "Records of more than one generation of MirrorMaker 2, or of another than the one that is claimed"},
	{406, "offset-from-earlier-topic", nil, Error, LinkAccuracy, "Numbers belong to a topic that has been made anew since"},
	{591, "suppression-unused", nil, Info, LinkNone, "A suppression silences nothing in this run"},
	{592, "suppression-expired", nil, Warning, LinkNone, "A suppression is past its date and no longer silences anything"},
	{593, "suppression-invalid", nil, Warning, LinkNone, "A suppression comment cannot be understood, so it silences nothing"},
	{407, "failback-reinjects", []string{"identity-loop"}, Error, LinkReplication, "Two flows keep topic names and copy each other's records back"},
	{501, "syntax-error", nil, Error, LinkNone, "The file does not parse, so that nothing of it is applied"},
	{502, "malformed-line", []string{"malformed-flow-key", "duplicate-key"}, Error, LinkNone, "Java reads a line as something else than was meant"},
	{503, "comment-after-value", []string{"trailing-whitespace", "quoted-value", "backslash-lost"}, Error, LinkNone, "The value holds, or lacks, characters because of how the file is read"},
	{504, "malformed-value", []string{"interval-unit-suspect"}, Error, LinkNone, "The value cannot be, or cannot mean, what was intended"},
	{505, "regex-comma", []string{"filter-too-narrow"}, Error, LinkNone, "A list of patterns matches something else than was meant"},
	{506, "placeholder-unresolved", nil, Info, LinkNone, "Template text stands where a value will be"},
	{507, "unknown-key", []string{"misspelt-key"}, Warning, LinkNone, "Nobody has a setting of that name"},
	{508, "no-effect-key", []string{"wrong-prefix", "key-on-wrong-connector", "operator-managed-key", "setting-outranked"}, Info, LinkNone, "A real setting in a place where nobody reads it"},
	{509, "removed-key", []string{"version-too-old-for-key", "group-offset-sync-unsupported"}, Warning, LinkNone, "The release does not know the setting any more, or not yet"},
	{510, "clusters-missing", []string{"unknown-alias-in-flow"}, Error, LinkNone, "The list of clusters is missing, or an alias is not in it"},
	{511, "bootstrap-servers-missing", []string{"bootstrap-port-missing"}, Error, LinkNone, "A cluster has no usable address"},
	{512, "worker-group-collision", nil, Error, LinkNone, "Two workers share a group or its topics"},
	{513, "blank-alias", []string{"alias-override", "blank-separator"}, Warning, LinkNone, "Alias or separator are blank or replaced, and internal topics change their names"},
	{514, "custom-policy", []string{"legacy-policy-class"}, Info, LinkNone, "The replication policy is no class of Kafka's own"},
	{515, "identity-fan-in", nil, Warning, LinkNone, "Several flows that keep topic names write the same topics"},
	{516, "state-mismatch", nil, Warning, LinkNone, "One of two connectors that need each other is halted"},
	{517, "refresh-disabled", []string{"intervals-disagree"}, Warning, LinkNone, "What appears later is not looked for, or not as often as it seems"},
	{518, "two-way-flows", nil, Info, LinkNone, "Flows of both directions are on"},
	{519, "default-exclude-lost", []string{"filter-not-shared"}, Warning, LinkNone, "A filter does not say what it seems to say"},
	{520, "replication-factor-too-high", []string{"replication-factor-default"}, Warning, LinkNone, "An internal topic is to have more replicas than there seem to be brokers"},
	{521, "credentials-missing", []string{"credentials-overwritten"}, Error, LinkNone, "A login lacks a half"},
	{522, "secrets-inline", nil, Info, LinkNone, "A secret stands in clear text"},
	{523, "strimzi-missing-field", []string{"strimzi-unknown-field"}, Error, LinkNone, "The resource lacks a field of its API version, or has one that it does not know"},
	{524, "exactly-once-incomplete", nil, Info, LinkNone, "Exactly-once is switched on and lacks a condition"},
	{525, "offset-syncs-conflict", nil, Error, LinkNone, "Offset syncs are off and set up at once, which the source connector refuses"},
	{602, "acl-missing", []string{"acl-missing-topic", "acl-missing-group"}, Error, LinkNone, "MirrorMaker 2's principal lacks a right"},
	{604, "partition-count-differs", nil, Info, LinkReplication, "Source topic and copy differ in their number of partitions"},
	{611, "partition-leaderless", nil, Error, LinkReplication, "A partition of a topic in the chain has no leader"},
	{605, "target-retention-shorter", nil, Warning, LinkAccuracy, "Records that the group has not read are already gone from the copy"},
	{606, "clocks-differ", nil, Info, LinkNone, "The clocks of MirrorMaker 2 and of the doctor differ"},
	{607, "group-coordinator-unavailable", nil, Error, LinkCheckpoints, "The group's coordinator does not answer, so its state cannot be told"},
	{608, "config-not-in-force", nil, Warning, LinkNone, "What runs differs from the configuration file"},
	{609, "checkpoint-task-storm", nil, Warning, LinkCheckpoints, "The checkpoint tasks are started anew again and again"},
	{610, "latency-budget", nil, Info, LinkCommit, "The intervals add up to a long time for an offset to arrive"},
	{701, "refused-active-group", nil, Error, LinkNone, "The group has members on the cluster that would be written"},
	{702, "plan-stale", nil, Error, LinkNone, "The plan is too old, or what it saw has changed since"},
	{703, "wrong-cluster", nil, Error, LinkNone, "The cluster is not the one that was planned for"},
	{704, "would-rewind", nil, Error, LinkNone, "The group would go back on the cluster that is written"},
	{705, "would-skip", nil, Error, LinkNone, "The group would never read records that are there"},
	{706, "verify-mismatch", nil, Error, LinkNone, "What was read back is not what was written"},
	{707, "type-conflict", nil, Error, LinkNone, "The group cannot be written, or not be taken over, because of its type"},
	{708, "seems-consumed", nil, Error, LinkNone, "The group has no members, and yet its offsets move"},
	{709, "unmapped", []string{"not-mirrored-back"}, Error, LinkNone, "Nothing leads from the position to the other cluster"},
	{710, "will-not-hold-while-mm2-runs", []string{"may-not-hold"}, Error, LinkNone, "MirrorMaker 2 puts its own number over the one that is set"},
	{711, "journal-unwritable", nil, Error, LinkNone, "The journal cannot be written, so nothing is"},
	{712, "partial", nil, Error, LinkNone, "Some groups were written, others were not"},
	{713, "direction-contradicts", nil, Error, LinkNone, "The data does not go the way that the flow says"},
	{612, "store-load-failed", nil, Error, LinkCheckpoints, "The checkpoint task says RUNNING and never loaded its offset syncs"},
}

// Lookup finds a code's entry; nil for an unknown one.
func Lookup(c Code) *Entry {
	for i := range Codes {
		if Codes[i].Code == c {
			return &Codes[i]
		}
	}
	return nil
}

// BySlug finds the entry that a slug belongs to; nil without.
func BySlug(slug string) *Entry {
	for i := range Codes {
		e := &Codes[i]
		if e.Slug == slug {
			return e
		}
		for _, s := range e.Slugs {
			if s == slug {
				return e
			}
		}
	}
	return nil
}
