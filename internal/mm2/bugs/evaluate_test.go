package bugs

import (
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

type set func(*Facts)

// evidence holds, for an entry: what makes its conditions true (nil: it has none that a fact shows), what makes one of them
// false, and what shows a sign of it; and the ranks on an affected version without and with the sign.
type evidence struct {
	id        string
	yes, no   set
	show      set
	bare      Rank
	withSign  Rank
	noteCause string // a part of Because with the sign
}

func p(up, down int64) Value[Pair] { return Is(Pair{up, down}) }

func still(f *Facts) {
	f.FlushInterval, f.EmitInterval, f.SyncInterval, f.Quiet = Is(time.Minute), Is(time.Minute), Is(time.Minute), Is(4*time.Minute)
}

func behindIt(f *Facts)    { f.Committed, f.NewestSync = Is[int64](100), p(500, 500) }
func notBehindIt(f *Facts) { f.Committed, f.NewestSync = Is[int64](500), p(500, 500) }
func unmet(f *Facts) {
	f.Eligible, f.Checkpoint, f.CheckpointTask = Yes, None[Pair](), Is("RUNNING")
}
func waiting(f *Facts) {
	still(f)
	f.Checkpoint, f.TargetCommitted = p(50, 50), Is[int64](40)
}
func orphan(f *Facts) { f.Checkpoint, f.TargetTopicExists = p(5, 5), No }
func fell(f *Facts) {
	f.TargetFell, f.TargetCommitted, f.Checkpoint = Yes, Is[int64](4), p(4, 4)
}
func syncIs(a Answer) set { return func(f *Facts) { f.SyncGroupOffsets = a } }
func onePartitionWithout(f *Facts) {
	f.Committed, f.NewestSync = Is[int64](10), None[Pair]()
}
func keys(k ...string) set { return func(f *Facts) { f.Keys = Is(k) } }
func many(sets ...set) set {
	return func(f *Facts) {
		for _, s := range sets {
			s(f)
		}
	}
}
func logged(text string) set { return func(f *Facts) { f.Logs = MatchLog(text) } }
func dedicatedIs(a Answer) set {
	return func(f *Facts) { f.Dedicated = a }
}
func rewoundSyncs(f *Facts) { f.SyncsRewound = Yes }
func unassignedTask(f *Facts) {
	f.SourceTask, f.CheckpointTask = Is("RUNNING"), Is("UNASSIGNED")
}

var evidences = []evidence{
	{id: "KAFKA-12635", yes: onePartitionWithout, no: func(f *Facts) { f.Committed, f.NewestSync = Is[int64](10), p(0, 0) }, show: func(f *Facts) { f.Checkpoint = p(10, 10) }, bare: Exposed, withSign: DoesDamageNow, noteCause: "MirrorMaker 2 (2.4.0) is in the affected range: 2.4.0 up to, not including, 3.3.0; holds: the partition has a commit and no offset sync; seen: C.up = C.down"},
	{id: "KAFKA-13452", yes: onePartitionWithout, no: func(f *Facts) { f.Committed = None[int64]() }, show: func(f *Facts) { f.Checkpoint = p(10, 10) }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-12468", yes: func(f *Facts) { f.Committed, f.NewestSync, f.Compacted = Is[int64](900), p(500, 400), Yes }, no: func(f *Facts) { f.Transactional, f.Compacted, f.DropsRecords = No, No, No }, show: func(f *Facts) { f.Checkpoint, f.TargetEnd = p(900, 800), Is[int64](700) }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-13659", yes: func(f *Facts) { f.Syncs = Is[int64](2) }, no: func(f *Facts) { f.Syncs = Is[int64](1) }, bare: WillOnRestart},
	{id: "KAFKA-14666", yes: behindIt, no: notBehindIt, show: unmet, bare: WillOnRestart, withSign: DoesDamageNow},
	{id: "KAFKA-15202", yes: many(behindIt, func(f *Facts) { f.GreedyAnswer, f.TwoPointerAnswer = Is[int64](1), Is[int64](51) }), no: func(f *Facts) { f.GreedyAnswer, f.TwoPointerAnswer = Is[int64](51), Is[int64](51) }, show: func(f *Facts) { f.Checkpoint = p(100, 1) }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-15905", yes: behindIt, no: notBehindIt, show: many(unmet, func(f *Facts) { f.RestartSeen = Yes }), bare: WillOnRestart, withSign: DoesDamageNow},
	{id: "KAFKA-16622", yes: behindIt, no: notBehindIt, show: many(unmet, func(f *Facts) { f.SyncBelow = p(50, 50) }), bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-15906", yes: func(f *Facts) { f.NewestSync, f.TargetEnd, f.OffsetLagMax = p(0, 0), Is[int64](60), Is[int64](100) }, no: func(f *Facts) { f.NewestSync, f.TargetEnd, f.OffsetLagMax = p(0, 0), Is[int64](102), Is[int64](100) }, show: many(still, func(f *Facts) {
		f.Committed, f.SourceEnd, f.TargetCommitted = Is[int64](60), Is[int64](60), Is[int64](1)
	}), bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-15144", yes: func(f *Facts) { f.Syncs, f.NewestSync = Is[int64](1), p(0, 0) }, no: func(f *Facts) { f.Syncs, f.NewestSync = Is[int64](2), p(101, 101) }, show: many(still, func(f *Facts) { f.Checkpoint, f.Committed = p(60, 1), Is[int64](60) }), bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-10048", yes: func(f *Facts) { f.Committed = Is[int64](0) }, no: func(f *Facts) { f.Committed, f.NewestSync = Is[int64](9), p(0, 0) }, show: many(unmet, func(f *Facts) { f.OtherPartitions = Yes }), bare: Exposed, withSign: DoesDamageNow},

	{id: "KAFKA-12558", show: func(f *Facts) { f.NewestSync, f.TargetStart, f.TargetEnd = None[Pair](), Is[int64](0), Is[int64](9) }, bare: MayApply, withSign: MayApply, noteCause: "other causes give the same signs"},
	{id: "KAFKA-14727", yes: func(f *Facts) { f.ExactlyOnce = Yes }, no: func(f *Facts) { f.ExactlyOnce = No }, bare: Exposed},
	{id: "KAFKA-13985", yes: func(f *Facts) { f.DropsRecords = Yes }, no: func(f *Facts) { f.DropsRecords, f.ToleratesErrors = No, No }, show: logged("WARN Failure committing record. (x.Y:1)\njava.lang.NullPointerException"), bare: Exposed, withSign: Exposed},
	{id: "KAFKA-14079", yes: func(f *Facts) { f.ToleratesErrors = Yes }, no: func(f *Facts) { f.ToleratesErrors = No }, show: rewoundSyncs, bare: WillOnRestart, withSign: DoesDamageNow},
	{id: "KAFKA-12226", show: rewoundSyncs, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-13988", yes: func(f *Facts) { f.ResetLatest = Yes }, no: func(f *Facts) { f.ResetLatest = No }, bare: Exposed},
	{id: "KAFKA-9218", show: func(f *Facts) { f.Eligible, f.TargetTopicExists = Yes, No }, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-10332", show: func(f *Facts) {
		f.TargetTopicExists, f.SourceTask, f.NewestSync = Yes, Is("RUNNING"), None[Pair]()
		f.TargetStart, f.TargetEnd, f.SourceStart, f.SourceEnd = Is[int64](0), Is[int64](0), Is[int64](0), Is[int64](5)
	}, bare: MayApply, withSign: MayApply},
	{id: "PR-23091", yes: func(f *Facts) { f.SourceTopicRecreated = Yes }, no: func(f *Facts) { f.SourceTopicRecreated, f.MirrorOvertaken = No, No }, show: func(f *Facts) { f.NewestSync, f.SourceEnd = p(900, 900), Is[int64](10) }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14250", show: func(f *Facts) { f.SourceTask = Is("FAILED") }, bare: MayApply, withSign: DoesDamageNow},
	{id: "BEHAVIOUR-sync-overtaken", show: many(unmet, func(f *Facts) { f.Committed, f.OldestSync, f.SourceStart = Is[int64](5), p(300, 300), Is[int64](0) }), bare: MayApply, withSign: MayApply},

	{id: "KAFKA-14545", yes: func(f *Facts) { f.SourceNullOffset = Yes }, no: func(f *Facts) { f.SourceNullOffset = No }, show: unmet, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14072", show: many(unmet, func(f *Facts) { f.SourceNullOffset = Yes }), bare: MayApply, withSign: DoesDamageNow},
	{id: "KAFKA-14401", show: many(unmet, func(f *Facts) { f.BadSyncRecord = Yes }), bare: MayApply, withSign: MayApply},
	{id: "KAFKA-12798", show: many(unassignedTask, func(f *Facts) { f.SourceUnreachable = Yes }), bare: MayApply, withSign: DoesDamageNow},
	{id: "BEHAVIOUR-store-start-failure", yes: func(f *Facts) { f.BadSyncRecord = Yes }, no: func(f *Facts) { f.BadSyncRecord, f.SyncsUnreadable = No, No }, show: many(unmet, func(f *Facts) { f.RestartSeen = Yes }), bare: WillOnRestart, withSign: DoesDamageNow},

	{id: "KAFKA-15607", yes: many(syncIs(Yes), func(f *Facts) { f.TargetNullOffset = Yes }), no: func(f *Facts) { f.TargetNullOffset = No }, show: waiting, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14095", yes: syncIs(Yes), no: syncIs(No), show: waiting, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-19794", yes: many(syncIs(Yes), func(f *Facts) { f.RanOnTarget = Yes }), no: func(f *Facts) { f.RanOnTarget = No }, show: fell, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-13856", show: logged("ERROR caught exception in scheduled task: sync idle consumer group offset from source to target\njava.util.ConcurrentModificationException"), bare: MayApply, withSign: DoesDamageNow, noteCause: "the log says"},
	{id: "KAFKA-14023", yes: many(syncIs(Yes), func(f *Facts) { f.SourceRewound = Yes }), no: func(f *Facts) { f.SourceRewound = No }, show: many(still, func(f *Facts) {
		f.Checkpoint, f.TargetCommitted, f.TargetState = p(5, 5), Is[int64](50), Is(kafka.StateEmpty)
	}), bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-19107", yes: many(syncIs(Yes), func(f *Facts) { f.TargetTopicExists = No }), no: func(f *Facts) { f.TargetTopicExists = Yes }, show: orphan, bare: Exposed, withSign: Exposed},
	{id: "KAFKA-9076", show: func(f *Facts) { f.Checkpoint, f.TargetCommitted = p(5, 5), None[int64]() }, bare: MayApply, withSign: DoesDamageNow},
	{id: "KAFKA-18995", yes: func(f *Facts) { f.SyncGroupOffsets, f.ReverseSyncsGroup = Yes, Yes }, no: func(f *Facts) { f.SyncGroupOffsets, f.ReverseSyncsGroup = Yes, No }, show: fell, bare: Exposed, withSign: DoesDamageNow},
	{id: "BEHAVIOUR-target-expiry", yes: many(syncIs(Yes), func(f *Facts) { f.SourceIdle = Yes }), no: func(f *Facts) { f.SourceIdle = No }, show: func(f *Facts) { f.Checkpoint, f.TargetCommitted = p(5, 5), None[int64]() }, bare: Exposed, withSign: DoesDamageNow},
	{id: "BEHAVIOUR-missing-target-topic", yes: many(syncIs(Yes), func(f *Facts) { f.SourcePolicy, f.CheckpointPolicy = Is("x"), Is("") }), no: func(f *Facts) { f.SourcePolicy, f.CheckpointPolicy, f.TargetTopicExists = Is(""), Is(""), Yes }, show: orphan, bare: Exposed, withSign: DoesDamageNow},
	{id: "BEHAVIOUR-streams-target-rewound", yes: func(f *Facts) { f.TargetType, f.TargetState = Is(kafka.TypeStreams), Is(kafka.StateEmpty) }, no: func(f *Facts) { f.TargetType, f.TargetState = Is(kafka.TypeStreams), Is(kafka.StateStable) }, show: fell, bare: Exposed, withSign: DoesDamageNow},
	{id: "BEHAVIOUR-kip848-target-rewound", yes: func(f *Facts) { f.TargetType, f.TargetState = Is(kafka.TypeConsumer), Is(kafka.StateEmpty) }, no: func(f *Facts) { f.TargetType = Is(kafka.TypeClassic) }, show: fell, bare: Exposed, withSign: DoesDamageNow},

	{id: "KAFKA-9360", yes: func(f *Facts) { f.HeartbeatsDisabled = Yes }, no: func(f *Facts) { f.CheckpointsDisabled, f.HeartbeatsDisabled = No, No }, bare: Exposed},
	{id: "MINOR-9545", yes: func(f *Facts) { f.ManualGroup = Yes }, no: func(f *Facts) { f.ManualGroup = No }, show: unmet, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14837", show: func(f *Facts) { f.GroupChurn = Yes }, bare: MayApply, withSign: DoesDamageNow},
	{id: "KAFKA-14842", show: func(f *Facts) { f.GroupChurn = Yes }, bare: MayApply, withSign: DoesDamageNow},
	{id: "KAFKA-17232", show: func(f *Facts) { f.Eligible, f.CheckpointTasks = Yes, Is(0) }, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-18021", yes: func(f *Facts) { f.FlowDisabled = Yes }, no: func(f *Facts) { f.FlowDisabled, f.CheckpointsDisabled = No, No }, bare: Exposed},
	{id: "KAFKA-9950", show: func(f *Facts) {
		f.CheckpointTask, f.CheckpointTrace = Is("FAILED"), Is("java.util.ConcurrentModificationException")
	}, bare: MayApply, withSign: DoesDamageNow},
	{id: "KAFKA-10572", yes: keys("a->b.groups.exclude"), no: keys("groups.blacklist", "x.groups.excluded"), bare: Exposed},
	{id: "KAFKA-17529", yes: keys("topics.blacklist"), no: keys("groups.exclude"), bare: Exposed},
	{id: "KAFKA-17200", yes: func(f *Facts) { f.Topic = Is("payments-internal") }, no: func(f *Facts) { f.Topic = Is("mm2-offset-syncs.b.internal") }, bare: Exposed},
	{id: "KAFKA-13358", yes: func(f *Facts) { f.DefaultExclude, f.Group = Yes, Is("console-consumer-1") }, no: func(f *Facts) { f.DefaultExclude, f.Group = Yes, Is("billing") }, show: func(f *Facts) { f.Checkpoint = None[Pair]() }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14898", show: func(f *Facts) { f.MisspeltKeys = Yes }, bare: MayApply, withSign: Exposed},
	{id: "KAFKA-16254", yes: func(f *Facts) { f.SyncsDisabled = Yes }, no: func(f *Facts) { f.SyncsDisabled, f.CheckpointsDisabled = No, No }, show: unmet, bare: Exposed, withSign: DoesDamageNow},
	{id: "BEHAVIOUR-comma-group", yes: func(f *Facts) { f.Group = Is("a,b") }, no: func(f *Facts) { f.Group = Is("a.b") }, show: unmet, bare: Exposed, withSign: DoesDamageNow},

	{id: "KAFKA-10777", yes: func(f *Facts) { f.Separator = Is("_") }, no: func(f *Facts) { f.Separator = Is(".") }, show: func(f *Facts) { f.TwoSyncTopics = Yes }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-15102", yes: func(f *Facts) { f.Separator = Is("_") }, no: func(f *Facts) { f.Separator = None[string]() }, show: func(f *Facts) { f.TwoSyncTopics = Yes }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-12379", yes: func(f *Facts) { f.SourceLocation, f.CheckpointLocation = Is("target"), Is("source") }, no: func(f *Facts) { f.SourceLocation, f.CheckpointLocation = Is("target"), Is("target") }, show: unmet, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-9726", yes: func(f *Facts) { f.SourcePolicy, f.CheckpointPolicy = Is(mm2.IdentityPolicyClass), Is("") }, no: func(f *Facts) { f.SourcePolicy, f.CheckpointPolicy = Is(""), Is("") }, show: orphan, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14314", yes: func(f *Facts) { f.SourcePolicy, f.Topic = Is(mm2.IdentityPolicyClass), Is("device-heartbeats") }, no: func(f *Facts) { f.SourcePolicy, f.Topic = Is(mm2.DefaultPolicyClass), Is("device-heartbeats") }, bare: Exposed},
	{id: "KAFKA-15465", yes: func(f *Facts) { f.MayNotCreate = Yes }, no: func(f *Facts) { f.MayNotCreate = No }, show: func(f *Facts) { f.SyncsNotCompacted = Yes }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14781", yes: func(f *Facts) { f.NoAuthorizer, f.SyncsTopicACLs = Yes, Yes }, no: func(f *Facts) { f.NoAuthorizer, f.SyncsTopicACLs = Yes, No }, bare: Exposed},
	{id: "KAFKA-15177", show: rewoundSyncs, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-14420", show: func(f *Facts) { f.TargetCommitted, f.TargetStart = Is[int64](5), Is[int64](50) }, bare: MayApply, withSign: MayApply},
	{id: "BEHAVIOUR-shared-offset-syncs", show: func(f *Facts) { f.MixedSyncs = Yes }, bare: MayApply, withSign: DoesDamageNow},

	{id: "MINOR-9313", yes: many(dedicatedIs(Yes), keys("a.consumer.isolation.level")), no: keys("a->b.consumer.isolation.level"), bare: Exposed},
	{id: "KAFKA-13365", yes: keys("a->b.producer.acks"), no: keys("a->b.producer.override.acks", "b.producer.acks"), bare: Exposed},
	{id: "KAFKA-10710", yes: dedicatedIs(Yes), no: dedicatedIs(No), bare: Exposed},
	{id: "KAFKA-13793", yes: func(f *Facts) { f.LowerCaseProtocol = Yes }, no: func(f *Facts) { f.LowerCaseProtocol = No }, bare: Exposed},
	{id: "KAFKA-15053", yes: func(f *Facts) { f.LowerCaseProtocol = Yes }, no: func(f *Facts) { f.LowerCaseProtocol = No }, show: logged("ERROR Invalid value sasl_ssl for configuration security.protocol: String must be one of: SSL\norg.apache.kafka.common.config.ConfigException: x"), bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14653", yes: func(f *Facts) { f.Dedicated, f.ConfigProviders = Yes, Yes }, no: func(f *Facts) { f.ConfigProviders = No }, bare: Exposed},
	{id: "KAFKA-17192", yes: many(dedicatedIs(Yes), keys("key.converter")), no: many(func(f *Facts) { f.ConfigProviders = No }, keys("a->b.key.converter")), bare: Exposed},
	{id: "KAFKA-15086", yes: func(f *Facts) { f.Dedicated, f.ManyNodes = Yes, Yes }, no: func(f *Facts) { f.ManyNodes = No }, show: unmet, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-9981", yes: func(f *Facts) { f.Dedicated, f.ManyNodes = Yes, Yes }, no: dedicatedIs(No), show: unmet, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-15372", yes: func(f *Facts) { f.Dedicated, f.ManyNodes, f.ConfigChanged = Yes, Yes, Yes }, no: func(f *Facts) { f.ConfigChanged = No }, show: func(f *Facts) { f.ConfigNotInForce = Yes }, bare: WillOnRestart, withSign: DoesDamageNow},
	{id: "KAFKA-17435", show: keys("use.incremental.alter.configs"), bare: MayApply, withSign: Exposed},

	{id: "KAFKA-12495", show: unassignedTask, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-15693", yes: func(f *Facts) { f.NoRebalanceDelay = Yes }, no: func(f *Facts) { f.NoRebalanceDelay = No }, show: unassignedTask, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-14455", yes: dedicatedIs(No), no: dedicatedIs(Yes), show: func(f *Facts) { f.ConfigNotInForce = Yes }, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-15059", yes: func(f *Facts) { f.ExactlyOnce = Yes }, no: func(f *Facts) { f.ExactlyOnce = No }, show: func(f *Facts) { f.SourceTask = Is("FAILED") }, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-15575", show: func(f *Facts) { f.SourceTask, f.SourceTrace = Is("FAILED"), Is("TooManyTasksException: x") }, bare: MayApply, withSign: DoesDamageNow},
	{id: "KAFKA-9228", show: func(f *Facts) { f.ConfigNotInForce = Yes }, bare: MayApply, withSign: MayApply},
	{id: "KAFKA-14021", yes: func(f *Facts) { f.ExactlyOnce = Yes }, no: func(f *Facts) { f.ExactlyOnce = No }, show: func(f *Facts) { f.OldestSync, f.NewestSync = p(0, 0), p(100, 120) }, bare: Exposed, withSign: Exposed},

	{id: "KAFKA-16371", yes: func(f *Facts) { f.MetadataTooLarge = Yes }, no: func(f *Facts) { f.MetadataTooLarge = No }, show: waiting, bare: Exposed, withSign: DoesDamageNow},
	{id: "KIP-848", yes: func(f *Facts) { f.TargetType = Is(kafka.TypeConsumer) }, no: func(f *Facts) { f.SourceType, f.TargetType = Is(kafka.TypeClassic), Is(kafka.TypeClassic) }, bare: Exposed},
	{id: "KIP-932", yes: func(f *Facts) { f.SourceType = Is(kafka.TypeShare) }, no: func(f *Facts) { f.SourceType = Is(kafka.TypeConsumer) }, show: func(f *Facts) { f.Checkpoint = None[Pair]() }, bare: Exposed, withSign: DoesDamageNow},
	{id: "KAFKA-20254", yes: func(f *Facts) { f.MigratingToStreams = Yes }, no: func(f *Facts) { f.MigratingToStreams = No }, bare: Exposed},
}

func onVersion(b Bug, r mm2.Range) Facts {
	var f Facts
	for _, place := range b.RunsOn {
		switch place {
		case OnMM2:
			f.MM2 = r
		case OnSourceBroker:
			f.SourceBroker = r
		case OnTargetBroker:
			f.TargetBroker = r
		}
	}
	return f
}

func TestEvidence(t *testing.T) {
	for _, e := range evidences {
		t.Run(e.id, func(t *testing.T) {
			b, ok := Lookup(e.id)
			if !ok {
				t.Fatal("no such entry")
			}
			in := mm2.Exactly(b.Affects[0].From)
			want := func(stage string, rank Rank, sets ...set) Assessment {
				t.Helper()
				f := onVersion(b, in)
				for _, s := range sets {
					if s != nil {
						s(&f)
					}
				}
				a := b.Assess(f)
				if a.Rank != rank {
					t.Errorf("%s: %v (%s; unknown: %q), want %v", stage, a.Rank, a.Because, a.Unknown, rank)
				}
				return a
			}
			a := want("conditions unknown", MayApply)
			if !strings.Contains(a.Because, "nothing that was looked at shows it") {
				t.Errorf("conditions unknown: because %q", a.Because)
			}
			if e.yes != nil && len(a.Unknown) == 0 {
				t.Error("conditions unknown: nothing is named as unknown")
			}
			want("conditions hold", e.bare, e.yes)
			if e.no != nil {
				a = want("a condition does not hold", DoesNotApply, e.yes, e.no)
				if !strings.HasPrefix(a.Because, "not the case: ") {
					t.Errorf("a condition does not hold: because %q", a.Because)
				}
			}
			if e.show != nil {
				a = want("a sign is seen", e.withSign, e.yes, e.show)
				if !strings.Contains(a.Because, "seen: ") || !strings.Contains(a.Because, e.noteCause) {
					t.Errorf("a sign is seen: because %q", a.Because)
				}
				f := onVersion(b, mm2.Range{})
				if e.yes != nil {
					e.yes(&f)
				}
				e.show(&f)
				if a := b.Assess(f); b.inRange(mm2.Range{}) == Unknown && (a.Rank != MayApply || !strings.HasPrefix(a.Because, "not known: the version of ")) {
					t.Errorf("version unknown: %v, %q", a.Rank, a.Because)
				}
			}
		})
	}
}

// Every condition or sign that facts can show is shown above: an entry cannot be added without its evidence.
func TestEvidenceIsComplete(t *testing.T) {
	have := map[string]evidence{}
	for _, e := range evidences {
		if _, twice := have[e.id]; twice {
			t.Errorf("%s twice", e.id)
		}
		have[e.id] = e
	}
	for _, b := range All() {
		conditions, signs := 0, 0
		for _, c := range b.Conditions {
			if c.Test != nil {
				conditions++
			}
		}
		for _, s := range b.Signs {
			if s.Test != nil {
				signs++
			}
		}
		e := have[b.ID]
		if len(b.Affects) > 0 && ((conditions > 0) != (e.yes != nil) || (conditions > 0) != (e.no != nil)) {
			t.Errorf("%s: %d conditions that facts can show, and evidence yes %v, no %v", b.ID, conditions, e.yes != nil, e.no != nil)
		}
		if signs > 0 && e.show == nil {
			t.Errorf("%s: no evidence of its sign", b.ID)
		}
	}
}
