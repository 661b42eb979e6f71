package diagnose

import (
	"fmt"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// manyGroups is a flow with groups x 10 group-partitions: all translated rightly, or all beyond the end of the copy.
func manyGroups(groups int, beyond bool) *snapshot.Snapshot {
	const parts, now = 10, int64(1_700_000_000_000)
	at := int64(500)
	if beyond {
		at = 5000
	}
	topic := func(name string) snapshot.Topic {
		t := snapshot.Topic{Name: name}
		for p := range int32(parts) {
			t.Partitions = append(t.Partitions, snapshot.Partition{ID: p, Start: snapshot.Is[int64](0), End: snapshot.Is[int64](1000)})
		}
		return t
	}
	group := func(i int, topic string, at int64) snapshot.Group {
		var os []snapshot.Committed
		for p := range int32(parts) {
			os = append(os, snapshot.Committed{Topic: topic, Partition: p, Offset: at, Epoch: -1})
		}
		return snapshot.Group{ID: fmt.Sprintf("g-%05d", i), State: snapshot.Is(kafka.StateEmpty), Members: snapshot.Is([]snapshot.Member{}), Offsets: snapshot.Is(os)}
	}
	var src, dst []snapshot.Group
	cs := snapshot.Checkpoints{Topic: "a.checkpoints.internal", Records: 1, Last: now}
	for i := range groups {
		src, dst = append(src, group(i, "t", 500)), append(dst, group(i, "a.t", at))
		for p := range int32(parts) {
			cs.Newest = append(cs.Newest, snapshot.Checkpoint{Group: src[i].ID, Topic: "a.t", Partition: p, Up: 500, Down: 500, Time: now})
		}
	}
	syncs := snapshot.Syncs{Cluster: "a", Topic: "mm2-offset-syncs.b.internal", History: "fold", Records: parts, Last: now}
	for p := range int32(parts) {
		s := snapshot.Sync{Up: 500, Down: 500, Time: now}
		syncs.Partitions = append(syncs.Partitions, snapshot.PartitionSyncs{Topic: "t", Partition: p, Count: 1, Oldest: s, Newest: s, Greedy: []snapshot.Run{{Sync: s}}, TwoPointer: []snapshot.Run{{Sync: s}}})
	}
	return &snapshot.Snapshot{SchemaVersion: 1, Started: now, Taken: now, MM2Version: "3.9.1",
		Clusters: []snapshot.Cluster{
			{Alias: "a", Topics: snapshot.Is([]snapshot.Topic{topic("t")}), TopicsComplete: snapshot.Is(true), Groups: snapshot.Is(src), GroupsComplete: snapshot.Is(true)},
			{Alias: "b", Topics: snapshot.Is([]snapshot.Topic{topic("a.t")}), TopicsComplete: snapshot.Is(true), Groups: snapshot.Is(dst), GroupsComplete: snapshot.Is(true)}},
		Flows: []snapshot.Flow{{Source: "a", Target: "b", Mode: "discovered", SyncsTopic: syncs.Topic, SyncsOn: "a", Checkpoints: cs.Topic, Syncs: snapshot.Is(syncs), Checkpointed: snapshot.Is(cs),
			SyncsElsewhere: snapshot.None[snapshot.TopicRef](), Heartbeat: snapshot.None[int64]()}}}
}

// BenchmarkRun: the time must grow with the number of groups, not with its square, also when every row has a fault.
func BenchmarkRun(b *testing.B) {
	for _, groups := range []int{500, 1000, 2000} {
		for _, beyond := range []bool{false, true} {
			b.Run(fmt.Sprintf("groups=%d/beyond=%v", groups, beyond), func(b *testing.B) {
				s := manyGroups(groups, beyond)
				b.ReportAllocs()
				for b.Loop() {
					r, _ := Run(s, Options{})
					if broken := r.Summary.Verdict == Broken; broken != beyond {
						b.Fatalf("%s: %+v", r.Summary.Verdict, r.Findings)
					}
				}
			})
		}
	}
}
