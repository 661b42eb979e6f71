package bugs

// Conditions that several entries share.
var (
	syncOn      = when("group-offset sync is on", func(f *Facts) Answer { return f.SyncGroupOffsets })
	dedicated   = when("dedicated mode", func(f *Facts) Answer { return f.Dedicated })
	manyNodes   = when("more than one node runs the flow", func(f *Facts) Answer { return f.ManyNodes })
	exactlyOnce = when("exactly-once source support is on", func(f *Facts) Answer { return f.ExactlyOnce })
	tolerates   = when("errors.tolerance=all", func(f *Facts) Answer { return f.ToleratesErrors })
	noSync      = when("the partition has a commit and no offset sync", (*Facts).noSync)
	behind      = when("the group stands before the newest offset sync", (*Facts).behindNewest)
	internal    = when("the topic's name ends in .internal or -internal", (*Facts).internalSuffix)
	separator   = when("replication.policy.separator is not a dot", (*Facts).ownSeparator)
	topicGone   = when("the checkpoint's topic is not on the target", func(f *Facts) Answer { return f.TargetTopicExists.Not() })
	lowerCase   = when("security.protocol is not in capitals", func(f *Facts) Answer { return f.LowerCaseProtocol })
)

// Signs that several entries share.
var (
	signRewound  = sign("S.up went back", func(f *Facts) Answer { return f.SyncsRewound })
	signInForce  = sign("what runs differs from what is written", func(f *Facts) Answer { return f.ConfigNotInForce })
	signSilent   = sign("the checkpoint task says RUNNING and an eligible group has no checkpoint", (*Facts).silentTask)
	signNone     = sign("an eligible group has no checkpoint", (*Facts).noCheckpoint)
	signUnassign = sign("tasks are UNASSIGNED", (*Facts).unassigned)
	signRewind   = sign("T went back to C.down", (*Facts).rewoundToCheckpoint)
)

const (
	npe          = "java.lang.NullPointerException"
	cme          = "java.util.ConcurrentModificationException"
	commonErrors = "org.apache.kafka.common.errors."
	unableToSync = `Unable to sync offsets for consumer group .*\.`
)
