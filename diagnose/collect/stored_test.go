package collect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestStoredByStrimzi: one worker's topic holds the connectors of several flows, each under the flow's name.
func TestStoredByStrimzi(t *testing.T) {
	props := func(key, value string) configRecord {
		return configRecord{value: &storedConfig{Properties: map[string]string{key: value}, Tasks: 1}, time: 7}
	}
	recs := map[string]configRecord{
		"connector-a->b.MirrorCheckpointConnector": props("sync.group.offsets.enabled", "true"),
		"connector-c->b.MirrorCheckpointConnector": props("sync.group.offsets.enabled", "false"),
		"connector-c->b.MirrorSourceConnector":     props("topics", "x"),
		"commit-a->b.MirrorCheckpointConnector":    props("", ""),
		"task-a->b.MirrorCheckpointConnector-0":    props("task.assigned.groups", "billing,audit"),
		"task-c->b.MirrorCheckpointConnector-0":    props("task.assigned.groups", "other"),
		"session-key":                              {},
	}
	f := &snapshot.Flow{Source: "a", Target: "b", Mode: "strimzi"}
	own := ofFlow(f, recs)
	run, _ := runningConfig(own, mm2.Version{}).Get()
	if len(run.Source) > 0 {
		t.Errorf("the source connector of another flow was taken: %+v", run.Source)
	}
	found := false
	for _, e := range run.Checkpoint {
		found = found || e.Key == "sync.group.offsets.enabled" && e.Value == "true" && !e.Default
	}
	if !found {
		t.Errorf("%+v", run.Checkpoint)
	}
	assigned, _ := assignedGroups(own).Get()
	if d := cmp.Diff(snapshot.Assigned{Groups: []string{"audit", "billing"}, Tasks: 1, Time: 7}, assigned); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for name, want := range map[string]bool{"a->b.MirrorSourceConnector": true, "c->b.MirrorSourceConnector": false, "MirrorSourceConnector": false} {
		if class, ok := classOf(f, name); ok != want || ok && class != "MirrorSourceConnector" {
			t.Errorf("%s: %s, %v", name, class, ok)
		}
	}
	dedicated := &snapshot.Flow{Source: "a", Target: "b", Mode: "dedicated"}
	if class, ok := classOf(dedicated, "MirrorSourceConnector"); !ok || class != "MirrorSourceConnector" {
		t.Errorf("dedicated: %s, %v", class, ok)
	}
}
