package diagnose

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestHiddenGroups: where ACLs leave groups out of the list without an error, an empty list is not "no group". Kafka lists a group
// to whoever may describe the cluster or that group.
func TestHiddenGroups(t *testing.T) {
	denied := snapshot.NotKnown[bool](&snapshot.Gap{Code: "denied", Cluster: "a", API: "ListGroups cluster", Why: "left out"})
	for _, tt := range []struct {
		name     string
		complete snapshot.Fact[bool]
		unknown  []finding.Link
		rights   []string
	}{
		{"the list is whole", snapshot.Is(true), nil, nil},
		{"an ACL may hide groups", denied, []finding.Link{2, 3, 4}, []string{"--operation Describe --cluster", "--operation Describe --group '*'"}},
	} {
		s := look(t, captured(t)[0], "p1", told)
		s.Clusters[0].Groups, s.Clusters[0].GroupsComplete = snapshot.Is([]snapshot.Group{}), tt.complete
		r, _ := Run(s, Options{})
		var unknown []finding.Link
		for _, l := range r.Links {
			if l.Status == "unknown" {
				unknown = append(unknown, l.Link)
			}
		}
		if !slices.Equal(unknown, tt.unknown) || r.Incomplete() != (tt.unknown != nil) {
			t.Errorf("%s: links %v are unknown, incomplete %v", tt.name, unknown, r.Incomplete())
		}
		var commands string
		for _, fd := range r.Findings {
			if fd.Code == 3 {
				for _, st := range fd.Fixes[0].Steps {
					commands += st.Command + "\n"
				}
			}
		}
		for _, w := range tt.rights {
			if !strings.Contains(commands, w) {
				t.Errorf("%s: no %q in %q", tt.name, w, commands)
			}
		}
	}
}

// TestWidened: a few resources are named, more are granted by one wildcard, each kind for itself.
func TestWidened(t *testing.T) {
	var rs []right
	for _, g := range []string{"a", "b", "c", "d", "e"} {
		rs = append(rs, right{"DESCRIBE", "GROUP", g})
	}
	rs = append(rs, right{"READ", "TOPIC", "t"}, right{"DESCRIBE", "CLUSTER", clusterResource})
	if got := widened(rs); !slices.Equal(got, rs) {
		t.Errorf("%v", got)
	}
	want := []right{{"DESCRIBE", "GROUP", "*"}, {"READ", "TOPIC", "t"}, {"DESCRIBE", "CLUSTER", clusterResource}}
	if got := widened(append([]right{{"DESCRIBE", "GROUP", "f"}}, rs...)); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestOldLog: the version in a log counts where the log reaches into the time of what runs now. Without the tasks' start, newer
// records that exclude the version show that it does not.
func TestOldLog(t *testing.T) {
	c := captured(t)[slices.IndexFunc(captured(t), func(c *captures.Capture) bool { return c.Name == "3.9.1" })]
	for _, tt := range []struct {
		name   string
		worker bool
		last   func(start, taken int64) int64
		want   bool // the log is believed
	}{
		{"the log reaches to now", true, func(_, taken int64) int64 { return taken }, true},
		{"the log ends before the last start", true, func(start, _ int64) int64 { return start - 1 }, false},
		{"the start is not known, the records are older than the log's end", false, func(_, taken int64) int64 { return taken }, true},
		{"the start is not known, newer records exclude it", false, func(_, _ int64) int64 { return 1 }, false},
		{"the log tells no time", true, func(_, _ int64) int64 { return 0 }, true},
	} {
		o := untold
		o.Worker = tt.worker
		s := look(t, c, "p6", o)
		start := int64(0)
		if f := newView(s).flows[0]; tt.worker {
			a, _ := f.checkpointTaskStart()
			b, _ := f.sourceTaskStart()
			start = max(a, b)
		}
		s.Flows[0].Log = snapshot.Is(snapshot.Log{Version: "3.4.0", Last: tt.last(start, s.Taken)})
		g := newView(s).flows[0].gens
		if got := g.set == mm2.SetOf(mm2.G2); got != tt.want {
			t.Errorf("%s: %s from %q", tt.name, g.set, g.basis)
		}
		if said := strings.Contains(strings.Join(g.evidence, "; "), "not counted"); said == tt.want {
			t.Errorf("%s: %q", tt.name, g.evidence)
		}
	}
}

// TestOwnTopics: groups that read MirrorMaker 2's own topics, or topics named like them, are left out under a reason that is true,
// and are followed when they are named.
func TestOwnTopics(t *testing.T) {
	for _, tt := range []struct {
		topic, name string
		left        string
		rows        int
	}{
		{"heartbeats", "", "own topics", 0},
		{"x.checkpoints.internal", "", "own topics", 0},
		{"b.orders", "", "came from b", 0},
		{"heartbeats", "monitor", "", 1},
		{"__consumer_offsets", "monitor", "own topics", 0},
	} {
		s := look(t, captured(t)[0], "p1", told)
		gs, _ := s.Clusters[0].Groups.Get()
		s.Clusters[0].Groups = snapshot.Is(append(slices.Clone(gs), snapshot.Group{ID: "monitor", ProtocolType: "consumer", State: snapshot.Is(kafka.StateEmpty),
			Offsets: snapshot.Is([]snapshot.Committed{{Topic: tt.topic, Offset: 5, Epoch: -1}})}))
		if tt.name != "" {
			s.Scope.Groups = []string{tt.name}
		}
		r, _ := Run(s, Options{})
		left := ""
		for _, x := range r.Skipped {
			if slices.Contains(x.Some, "monitor") {
				left = x.Reason
			}
		}
		rows := 0
		for _, p := range r.Partitions {
			if p.Group == "monitor" {
				rows++
			}
		}
		if (left == "") != (tt.left == "") || !strings.Contains(left, tt.left) || rows != tt.rows {
			t.Errorf("%s %q: left out as %q, %d rows", tt.topic, tt.name, left, rows)
		}
	}
}

// TestNamesNotInForce: where what runs names topics otherwise than the file, that difference leads, and nothing that is missing by
// the file's names stands beside it as an error.
func TestNamesNotInForce(t *testing.T) {
	for _, key := range []string{"", keySeparator} {
		b, err := os.ReadFile("../fixtures/codes/MM2D-608/near.json")
		if err != nil {
			t.Fatal(err)
		}
		s, err := bundle.Read("near.json", bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		f := &s.Flows[0]
		if key != "" {
			set := func(es []snapshot.ConfigEntry) []snapshot.ConfigEntry {
				out := slices.DeleteFunc(slices.Clone(es), func(e snapshot.ConfigEntry) bool { return e.Key == key })
				out = append(out, snapshot.ConfigEntry{Key: key, Value: "-", File: "mm2.properties", Line: 9})
				slices.SortFunc(out, func(a, b snapshot.ConfigEntry) int { return strings.Compare(a.Key, b.Key) })
				return out
			}
			c, _ := f.Configured.Get()
			c.Source, c.Checkpoint = set(c.Source), set(c.Checkpoint)
			f.Configured = snapshot.Is(c)
			f.Policy.Separator, f.Policy.InternalSeparator = "-", "-"
			f.SyncsTopic, f.Checkpoints = "mm2-offset-syncs-b-internal", "a-checkpoints-internal"
			f.Syncs, f.Checkpointed = snapshot.None[snapshot.Syncs](), snapshot.None[snapshot.Checkpoints]()
		}
		r, _ := Run(s, Options{})
		var errs []finding.Code
		for _, fd := range r.Findings {
			if fd.Severity == finding.Error {
				errs = append(errs, fd.Code)
			}
		}
		if slices.Contains(errs, 608) != (key != "") {
			t.Errorf("%q: errors %v", key, errs)
		}
		if key != "" && (len(errs) != 1 || !strings.Contains(r.Findings[0].Consequence, "diagnose again")) {
			t.Errorf("%q: errors %v, %s", key, errs, r.Findings[0].Consequence)
		}
	}
}
