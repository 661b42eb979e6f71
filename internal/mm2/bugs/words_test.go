package bugs

import (
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// What stands in a report, word by word.
func TestBecause(t *testing.T) {
	npeLog := "ERROR Scheduler for MirrorCheckpointTask-0: caught exception in scheduled task: sync idle consumer group offset from source to target (x.S:1)\njava.lang.NullPointerException"
	for _, tc := range []struct {
		id, mm2 string
		sets    []set
		rank    Rank
		because string
		unknown string
	}{
		{"KAFKA-15905", "3.6.2", []set{behindIt}, WillOnRestart,
			"MirrorMaker 2 (3.6.2) is in the affected range: 3.4.1 up to, not including, 3.7.1; holds: the group stands before the newest offset sync",
			"sign: the task was restarted, and the group has no checkpoint since"},
		{"KAFKA-15905", "3.7.1", []set{behindIt}, DoesNotApply,
			"not affected: MirrorMaker 2 (3.7.1); affected is 3.4.1 up to, not including, 3.7.1", ""},
		{"KAFKA-15905", "3.6.2", []set{notBehindIt}, DoesNotApply, "not the case: the group stands before the newest offset sync", ""},
		{"KAFKA-15905", "", []set{behindIt, unmet, func(f *Facts) { f.RestartSeen = Yes }}, MayApply,
			"not known: the version of MirrorMaker 2 (any version); affected is 3.4.1 up to, not including, 3.7.1; holds: the group stands before the newest offset sync; seen: the task was restarted, and the group has no checkpoint since; the version would decide",
			"the version of MirrorMaker 2 (any version); affected is 3.4.1 up to, not including, 3.7.1"},
		{"KAFKA-15607", "3.5.1", []set{logged(npeLog)}, MayApply,
			`MirrorMaker 2 (3.5.1) is in the affected range: 2.7.0 up to, not including, 3.5.2, and 3.6.0 up to, not including, 3.6.1; seen: the log says "caught exception in scheduled task: sync idle consumer group offset from source to target"; whether all its conditions hold is not known`,
			"group-offset sync is on|a group holds -1 on the target|sign: checkpoints wait, T does not move"},
		{"KAFKA-14401", "3.8.0", []set{logged("ERROR Unexpected exception in Thread[KafkaBasedLog Work Thread - mm2-offset-syncs.b.internal,5,main] (x.K:1)")}, DoesDamageNow,
			`MirrorMaker 2 (3.8.0) is in the affected range: 3.4.1 up to, not including, 3.9.0; seen: the log says "Unexpected exception in Thread[KafkaBasedLog Work Thread - mm2-offset-syncs…"`,
			"an exception in the thread that reads offset-syncs|sign: offset-syncs holds a null or malformed record, and checkpoints no longer follow"},
	} {
		f := Facts{}
		if tc.mm2 != "" {
			f.MM2 = mm2.Exactly(version(tc.mm2))
		}
		for _, s := range tc.sets {
			s(&f)
		}
		b, _ := Lookup(tc.id)
		a := b.Assess(f)
		if a.Rank != tc.rank || a.Because != tc.because || strings.Join(a.Unknown, "|") != tc.unknown {
			t.Errorf("%s on %s: %v\n%s\n%s", tc.id, tc.mm2, a.Rank, a.Because, strings.Join(a.Unknown, "|"))
		}
	}
}

// The edges of the questions that count: one offset decides.
func TestQuestions(t *testing.T) {
	for _, tc := range []struct {
		name string
		ask  func(*Facts) Answer
		set  set
		want Answer
	}{
		{"copied: nothing at 0", (*Facts).copied, many(onePartitionWithout, func(f *Facts) { f.Checkpoint = p(0, 0) }), No},
		{"copied: a sync exists", (*Facts).copied, func(f *Facts) { f.Committed, f.NewestSync, f.Checkpoint = Is[int64](9), p(0, 0), p(9, 9) }, No},
		{"overshot: one past the sync is right by both rules", (*Facts).overshot, func(f *Facts) { f.NewestSync, f.Checkpoint, f.TargetEnd = p(10, 10), p(11, 11), Is[int64](5) }, No},
		{"overshot: at the end is no overshoot", (*Facts).overshot, func(f *Facts) {
			f.NewestSync, f.Checkpoint, f.TargetEnd, f.Exact = p(10, 10), p(20, 20), Is[int64](20), Is[int64](20)
		}, No},
		{"overshot: past the exact position", (*Facts).overshot, func(f *Facts) { f.NewestSync, f.Checkpoint, f.Exact = p(10, 10), p(20, 20), Is[int64](19) }, Yes},
		{"overshot: end unknown", (*Facts).overshot, func(f *Facts) { f.NewestSync, f.Checkpoint = p(10, 10), p(20, 20) }, Unknown},
		{"few: offset.lag.max + 1 are few", (*Facts).fewSinceSync, func(f *Facts) { f.NewestSync, f.TargetEnd, f.OffsetLagMax = p(0, 0), Is[int64](101), Is[int64](100) }, Yes},
		{"few: nothing since", (*Facts).fewSinceSync, func(f *Facts) { f.NewestSync, f.TargetEnd, f.OffsetLagMax = p(0, 5), Is[int64](5), Is[int64](100) }, No},
		{"short of the end: a marker with exactly-once", (*Facts).shortOfEnd, many(still, func(f *Facts) {
			f.ExactlyOnce, f.Committed, f.SourceEnd, f.TargetCommitted, f.NewestSync, f.TargetEnd = Yes, Is[int64](9), Is[int64](9), Is[int64](9), p(8, 8), Is[int64](10)
		}), No},
		{"short of the end: a record without", (*Facts).shortOfEnd, many(still, func(f *Facts) {
			f.ExactlyOnce, f.Committed, f.SourceEnd, f.TargetCommitted, f.NewestSync, f.TargetEnd = No, Is[int64](9), Is[int64](9), Is[int64](9), p(8, 8), Is[int64](10)
		}), Yes},
		{"settled: the three intervals are not over", (*Facts).settled, many(still, func(f *Facts) { f.Quiet = Is(3 * time.Minute) }), No},
		{"settled: intervals not known", (*Facts).settled, func(f *Facts) { f.Quiet = Is(time.Hour) }, Unknown},
		{"to zero: by the sync", (*Facts).translatesToZero, func(f *Facts) { f.Committed, f.NewestSync = Is[int64](7), p(7, 0) }, Yes},
		{"null upstream: somebody else's policy", (*Facts).nullUpstream, func(f *Facts) { f.SourcePolicy, f.Topic = Is("x.Policy"), Is("t") }, Unknown},
		{"null upstream: no policy set", (*Facts).nullUpstream, func(f *Facts) { f.SourcePolicy = None[string]() }, No},
		{"another life: the newest sync is the last record", (*Facts).anotherLife, func(f *Facts) { f.SyncsRewound, f.NewestSync, f.SourceEnd = No, p(9, 9), Is[int64](10) }, No},
		{"another life: beyond the end", (*Facts).anotherLife, func(f *Facts) { f.SyncsRewound, f.NewestSync, f.SourceEnd = No, p(10, 9), Is[int64](10) }, Yes},
		{"untranslated: nothing shows that the task works", (*Facts).untranslated, func(f *Facts) { f.Eligible, f.Checkpoint, f.OtherGroups, f.OtherPartitions = Yes, None[Pair](), No, No }, Unknown},
		{"untranslated: the checkpoint follows", (*Facts).untranslated, many(still, func(f *Facts) { f.Eligible, f.Checkpoint, f.Committed = Yes, p(9, 9), Is[int64](9) }), No},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var f Facts
			tc.set(&f)
			if got := tc.ask(&f); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
