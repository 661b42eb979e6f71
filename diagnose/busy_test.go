package diagnose

import (
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

const minute = int64(time.Minute / time.Millisecond)

// young is a flow with default intervals whose tasks began ageMs ago: a copy, one offset sync, no checkpoint yet.
func young(t *testing.T, ageMs int64) *snapshot.Snapshot {
	t.Helper()
	setup, err := conf.Parse("mm2.properties", []byte("clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\na->b.sync.group.offsets.enabled = true\n"), mm2.Version{})
	if err != nil {
		t.Fatal(err)
	}
	cf, ok := setup.Flow("a->b")
	if !ok {
		t.Fatal("no flow a->b")
	}
	now := int64(1_700_000_000_000)
	began := now - ageMs
	f := collect.FromConf(cf, "mm2.properties")
	f.Running = f.Configured
	f.Assigned = snapshot.Is(snapshot.Assigned{Groups: []string{"billing"}, Tasks: 1, Time: began})
	for _, c := range []string{connSource, connCheckpoint} {
		ts := f.Tasks.Or(nil)
		f.Tasks = snapshot.Is(append(ts, snapshot.TaskStatus{Connector: c, Task: -1, State: "RUNNING", Time: began}, snapshot.TaskStatus{Connector: c, Task: 0, State: "RUNNING", Time: began}))
	}
	s := snapshot.Sync{Up: 40, Down: 38, Time: began + 1000}
	f.Syncs = snapshot.Is(snapshot.Syncs{Cluster: "a", Topic: f.SyncsTopic, End: 1, Records: 1, Last: s.Time, Partitions: []snapshot.PartitionSyncs{{Topic: "orders", Count: 1, Oldest: s, Newest: s,
		Greedy: []snapshot.Run{{Sync: s}}, TwoPointer: []snapshot.Run{{Sync: s}}}}})
	f.SyncsElsewhere = snapshot.None[snapshot.TopicRef]()
	f.Checkpointed = snapshot.Is(snapshot.Checkpoints{Topic: f.Checkpoints})
	cluster := func(alias, topic string, gs []snapshot.Group) snapshot.Cluster {
		return snapshot.Cluster{Alias: alias, Bootstrap: []string{alias + ":9092"}, TopicsComplete: snapshot.Is(true), GroupsComplete: snapshot.Is(true), Groups: snapshot.Is(gs),
			Topics: snapshot.Is([]snapshot.Topic{{Name: topic, Partitions: []snapshot.Partition{{Leader: 1, Start: snapshot.Is(int64(0)), End: snapshot.Is(int64(90)), First: snapshot.Is(began)}}}})}
	}
	billing := snapshot.Group{ID: "billing", State: snapshot.Is(kafka.StateStable), ProtocolType: "consumer", Offsets: snapshot.Is([]snapshot.Committed{{Topic: "orders", Offset: 50}})}
	return &snapshot.Snapshot{SchemaVersion: snapshot.SchemaVersion, Started: now, Taken: now, Flows: []snapshot.Flow{f},
		Clusters: []snapshot.Cluster{cluster("a", "orders", []snapshot.Group{billing}), cluster("b", "a.orders", []snapshot.Group{})}}
}

// TestFirstCheckpointIsDue: while MirrorMaker 2 has just started, no checkpoint is what one expects, whatever its version;
// later, with a position that some versions translate and others do not, it is an open question and never "healthy".
func TestFirstCheckpointIsDue(t *testing.T) {
	for _, tc := range []struct {
		name    string
		age     int64
		verdict Verdict
		status  string
	}{
		{"tasks began 40 s ago", 2 * minute / 3, Healthy, statusMoving},
		{"tasks began two minutes ago: two intervals and a margin are not over", 2 * minute, Healthy, statusMoving},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, asks := Run(young(t, tc.age), Options{})
			if r.Summary.Verdict != tc.verdict || r.Incomplete() || len(asks) > 0 {
				t.Errorf("verdict %s, incomplete %v, asks %v, findings %v, not checked %v; want %s", r.Summary.Verdict, r.Incomplete(), asks, r.Findings, r.NotChecked, tc.verdict)
			}
			if got := r.Partitions[0].Status; got != tc.status {
				t.Errorf("status %s, want %s", got, tc.status)
			}
		})
	}
	// A refresh of groups gave the tasks a new group five seconds ago; they are not running again yet.
	s := young(t, 10*minute)
	s.Flows[0].Assigned = snapshot.Is(snapshot.Assigned{Groups: []string{"billing"}, Tasks: 1, Time: s.Taken - 5000})
	ts, _ := s.Flows[0].Tasks.Get()
	for i := range ts {
		if ts[i].Connector == connCheckpoint && ts[i].Task == 0 {
			ts[i].State = "UNASSIGNED"
		}
	}
	r, _ := Run(s, Options{})
	if r.Summary.Verdict != Healthy || r.Incomplete() {
		t.Errorf("a group given to the tasks five seconds ago: %s, incomplete %v, not checked %v", r.Summary.Verdict, r.Incomplete(), r.NotChecked)
	}
	r, _ = Run(young(t, 10*minute), Options{})
	if r.Summary.Verdict == Healthy {
		t.Errorf("no checkpoint ten minutes after the start is %s", r.Summary.Verdict)
	}
}

// TestMissingWhileStarting: what MirrorMaker 2 makes first is not there yet in the first minute after its start, even where
// the source's records are old; afterwards its absence is an error.
func TestMissingWhileStarting(t *testing.T) {
	for _, tc := range []struct {
		name string
		age  int64
		want Verdict
		code string
	}{
		{"connectors began 20 s ago", minute / 3, Healthy, ""},
		{"connectors began five minutes ago", 5 * minute, Broken, "MM2D-109"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := young(t, tc.age)
			s.Flows[0].Checkpointed = snapshot.None[snapshot.Checkpoints]()
			s.Flows[0].Syncs = snapshot.None[snapshot.Syncs]()
			src, _ := s.Clusters[0].Topics.Get()
			src[0].Partitions[0].First = snapshot.Is(s.Taken - 24*60*minute)
			s.Clusters[1].Topics = snapshot.Is([]snapshot.Topic{})
			r, _ := Run(s, Options{})
			if r.Summary.Verdict != tc.want || tc.want == Healthy && r.Incomplete() {
				t.Errorf("verdict %s, incomplete %v: %+v, %+v", r.Summary.Verdict, r.Incomplete(), r.Findings, r.NotChecked)
			}
			if tc.code != "" && r.Findings[0].CodeText != tc.code {
				t.Errorf("first finding %s, want %s", r.Findings[0].CodeText, tc.code)
			}
		})
	}
}
