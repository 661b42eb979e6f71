package bugs

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func up(p Pair) int64   { return p.Up }
func down(p Pair) int64 { return p.Down }

func (f *Facts) noSync() Answer       { return all(f.Committed.Present(), f.NewestSync.Absent()) }
func (f *Facts) noCheckpoint() Answer { return all(f.Eligible, f.Checkpoint.Absent()) }

// settled: nothing moved for longer than the three intervals of the chain together, so nothing is still on its way.
func (f *Facts) settled() Answer {
	known := all(f.FlushInterval.Present(), f.EmitInterval.Present(), f.SyncInterval.Present(), f.Quiet.Present())
	if known != Yes {
		return Unknown
	}
	return If(f.Quiet.v > f.FlushInterval.v+f.EmitInterval.v+f.SyncInterval.v)
}

// copied: KAFKA-12635. 0 says nothing, it is the translation of 0 by any rule.
func (f *Facts) copied() Answer {
	return all(f.noSync(), test(f.Checkpoint, func(c Pair) bool { return c.Up == c.Down && c.Down > 0 }))
}

func (f *Facts) beyondNewest() Answer { return less(part(f.NewestSync, up), f.Committed) }
func (f *Facts) behindNewest() Answer { return less(f.Committed, part(f.NewestSync, up)) }

func (f *Facts) fewerDownstream() Answer {
	return either(f.Transactional, f.Compacted, f.DropsRecords)
}

// overshot: counted on from the newest sync (KAFKA-12468) to a position that the target does not have, or that skips
// records. Up to one past the sync both rules of translation give the same.
func (f *Facts) overshot() Answer {
	linear := test2(f.Checkpoint, f.NewestSync, func(c, s Pair) bool {
		return c.Up > s.Up+1 && c.Down-s.Down == c.Up-s.Up
	})
	at := part(f.Checkpoint, down)
	return all(linear, either(less(f.TargetEnd, at), less(f.Exact, at)))
}

// chainWorks: something else shows that the checkpoint task does its work, so a missing checkpoint is not its silence.
func (f *Facts) chainWorks() Answer {
	return either(f.OtherGroups, f.OtherPartitions, is(f.CheckpointTask, "RUNNING"))
}

// untranslated: no checkpoint, or one that stopped following U.
func (f *Facts) untranslated() Answer {
	stopped := all(f.Eligible, less(part(f.Checkpoint, up), f.Committed), f.settled())
	return either(all(f.noCheckpoint(), f.chainWorks()), stopped)
}

func (f *Facts) untranslatedSinceRestart() Answer { return all(f.RestartSeen, f.untranslated()) }

func (f *Facts) neverSeen() Answer {
	return all(f.noCheckpoint(), f.SyncBelow.Present(), f.chainWorks())
}

func (f *Facts) storeForgets() Answer { return less(f.GreedyAnswer, f.TwoPointerAnswer) }

func (f *Facts) greedyCheckpoint() Answer {
	same := test2(f.Checkpoint, f.Committed, func(c Pair, u int64) bool { return c.Up == u })
	return all(f.storeForgets(), same, test2(f.Checkpoint, f.GreedyAnswer, func(c Pair, d int64) bool { return c.Down == d }))
}

func (f *Facts) fewSinceSync() Answer {
	gap := test2(f.NewestSync, f.TargetEnd, func(s Pair, end int64) bool { return s.Down < end })
	if gap != Yes {
		return gap
	}
	return test(f.OffsetLagMax, func(m int64) bool { return f.TargetEnd.v-f.NewestSync.v.Down <= m+1 })
}

// shortOfEnd: KAFKA-15906. With exactly-once one offset before the end is a transaction marker, not a record.
func (f *Facts) shortOfEnd() Answer {
	caughtUp := test2(f.Committed, f.SourceEnd, func(u, end int64) bool { return u == end })
	atSync := test2(f.TargetCommitted, f.NewestSync, func(t int64, s Pair) bool { return t == s.Down+1 })
	missing := test2(f.TargetCommitted, f.TargetEnd, func(t, end int64) bool { return end-t > 1 })
	if f.ExactlyOnce == No {
		missing = less(f.TargetCommitted, f.TargetEnd)
	}
	return all(caughtUp, atSync, missing, f.settled())
}

func (f *Facts) onlyFirstSync() Answer {
	return all(is(f.Syncs, 1), is(f.NewestSync, Pair{}))
}

func (f *Facts) stuckAtOne() Answer {
	return all(is(part(f.Checkpoint, down), 1), test(f.Committed, func(u int64) bool { return u > 1 }), f.settled())
}

func (f *Facts) translatesToZero() Answer {
	counted := test2(f.NewestSync, f.Committed, func(s Pair, u int64) bool { return u >= s.Up && s.Down+u-s.Up == 0 })
	return either(is(f.Committed, 0), counted)
}

func (f *Facts) missingThisOnly() Answer { return all(f.noCheckpoint(), f.OtherPartitions) }
func (f *Facts) recordsOnTarget() Answer { return less(f.TargetStart, f.TargetEnd) }

func (f *Facts) copyWithoutSync() Answer { return all(f.NewestSync.Absent(), f.recordsOnTarget()) }

func (f *Facts) emptyCopy() Answer {
	empty := test2(f.TargetStart, f.TargetEnd, func(a, b int64) bool { return a == b })
	return all(f.TargetTopicExists, empty, less(f.SourceStart, f.SourceEnd), f.NewestSync.Absent(), is(f.SourceTask, "RUNNING"))
}

// anotherLife: the newest sync names an offset that the source does not have (yet, or any more).
func (f *Facts) anotherLife() Answer {
	beyond := test2(f.NewestSync, f.SourceEnd, func(s Pair, end int64) bool { return s.Up >= end })
	return either(f.SyncsRewound, beyond)
}

func (f *Facts) belowOldestSync() Answer {
	return all(f.noCheckpoint(), less(f.Committed, part(f.OldestSync, up)), less(f.SourceStart, part(f.OldestSync, up)))
}

func (f *Facts) sourceFailed() Answer { return is(f.SourceTask, "FAILED") }

func (f *Facts) failedWith(what string) Answer {
	in := func(state, trace Value[string]) Answer {
		return all(is(state, "FAILED"), test(trace, func(t string) bool { return strings.Contains(t, what) }))
	}
	return either(in(f.SourceTask, f.SourceTrace), in(f.CheckpointTask, f.CheckpointTrace))
}

func (f *Facts) unassigned() Answer {
	return either(is(f.SourceTask, "UNASSIGNED"), is(f.CheckpointTask, "UNASSIGNED"))
}

func (f *Facts) silentTask() Answer { return all(f.noCheckpoint(), is(f.CheckpointTask, "RUNNING")) }

// notCommitted: the checkpoint waits, the group is idle on the target, and nothing is still on its way.
func (f *Facts) notCommitted() Answer {
	behind := either(less(f.TargetCommitted, part(f.Checkpoint, down)), all(f.Checkpoint.Present(), f.TargetCommitted.Absent()))
	return all(behind, f.settled())
}

func (f *Facts) idleOnTarget() Answer { return is(f.TargetState, kafka.StateEmpty) }

func (f *Facts) heldBack() Answer {
	return all(less(part(f.Checkpoint, down), f.TargetCommitted), f.idleOnTarget(), f.settled())
}

func (f *Facts) rewoundToCheckpoint() Answer {
	return all(f.TargetFell, test2(f.TargetCommitted, f.Checkpoint, func(t int64, c Pair) bool { return t == c.Down }))
}

func (f *Facts) checkpointWithoutTopic() Answer {
	return all(f.Checkpoint.Present(), f.TargetTopicExists.Not())
}

func (f *Facts) uncommitted() Answer { return all(f.Checkpoint.Present(), f.TargetCommitted.Absent()) }

func (f *Facts) noTasks() Answer { return all(f.Eligible, is(f.CheckpointTasks, 0)) }

func (f *Facts) belowTargetStart() Answer { return less(f.TargetCommitted, f.TargetStart) }

func (f *Facts) hasKey(ask func(string) bool) Answer {
	return test(f.Keys, func(keys []string) bool {
		for _, k := range keys {
			if ask(k) {
				return true
			}
		}
		return false
	})
}

func keyEnds(ends ...string) func(*Facts) Answer {
	return func(f *Facts) Answer {
		return f.hasKey(func(k string) bool {
			for _, e := range ends {
				if k == e || strings.HasSuffix(k, "."+e) {
					return true
				}
			}
			return false
		})
	}
}

// clusterClientKeys: A.consumer.x and A.producer.x, as against A->B.consumer.x.
func (f *Facts) clusterClientKeys() Answer {
	return f.hasKey(func(k string) bool {
		return !strings.Contains(k, "->") && (strings.Contains(k, ".consumer.") || strings.Contains(k, ".producer."))
	})
}

func (f *Facts) flowProducerKeys() Answer {
	return f.hasKey(func(k string) bool {
		_, rest, flow := strings.Cut(k, "->")
		return flow && strings.Contains(rest, ".producer.") && !strings.Contains(rest, ".producer.override.")
	})
}

func (f *Facts) bareConverters() Answer {
	return f.hasKey(func(k string) bool { return k == "key.converter" || k == "value.converter" || k == "header.converter" })
}

func (f *Facts) internalSuffix() Answer {
	return test(f.Topic, func(t string) bool {
		return !strings.HasPrefix(t, "mm2") && (strings.HasSuffix(t, ".internal") || strings.HasSuffix(t, "-internal"))
	})
}

// excludedByDefault: the built-in groups.exclude.
func (f *Facts) excludedByDefault() Answer {
	return all(f.DefaultExclude, test(f.Group, func(g string) bool {
		return strings.HasPrefix(g, "console-consumer-") || strings.HasPrefix(g, "connect-") || strings.HasPrefix(g, "__")
	}))
}

func (f *Facts) commaInGroup() Answer {
	return test(f.Group, func(g string) bool { return strings.Contains(g, ",") })
}

func (f *Facts) locationsDiffer() Answer {
	return test2(f.SourceLocation, f.CheckpointLocation, func(a, b string) bool { return a != b })
}

func (f *Facts) policiesDiffer() Answer {
	return test2(f.SourcePolicy, f.CheckpointPolicy, func(a, b string) bool { return a != b })
}

func (f *Facts) ownSeparator() Answer {
	if f.Separator.st == No { // not set: the default
		return No
	}
	return test(f.Separator, func(s string) bool { return s != mm2.DefaultSeparator })
}

// nullUpstream: what makes isCycle fail (KAFKA-14314). What a policy of somebody else returns is not known.
func (f *Facts) nullUpstream() Answer {
	class, ok := f.SourcePolicy.Get()
	switch {
	case !ok && f.SourcePolicy.st == Unknown:
		return Unknown
	case !ok || class == "" || class == mm2.DefaultPolicyClass:
		return No
	case class == mm2.IdentityPolicyClass:
		return test(f.Topic, func(t string) bool { return strings.HasSuffix(t, "heartbeats") })
	}
	return Unknown
}

func onEitherSide(t ...kafka.GroupType) func(*Facts) Answer {
	return func(f *Facts) Answer { return either(is(f.SourceType, t...), is(f.TargetType, t...)) }
}

func sourceType(t ...kafka.GroupType) func(*Facts) Answer {
	return func(f *Facts) Answer { return is(f.SourceType, t...) }
}

func idleTargetType(t kafka.GroupType) func(*Facts) Answer {
	return func(f *Facts) Answer { return all(is(f.TargetType, t), f.idleOnTarget()) }
}
