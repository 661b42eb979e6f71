package diagnose

import (
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		t    conf.Type
		a, b string
		want bool
	}{
		{conf.Boolean, "true", "TRUE ", true},
		{conf.Boolean, "true", "false", false},
		{conf.List, "a, b", "b,a", true},
		{conf.List, "a,b,", "a, b", true},
		{conf.List, "a", "a, b", false},
		{conf.Long, " 60", "+60", true},
		{conf.Long, "60", "600", false},
		{conf.String, "a.b", "A.b", false},
	} {
		if got := sameValue(c.t, c.a, c.b); got != c.want {
			t.Errorf("%q %q: %v", c.a, c.b, got)
		}
	}
}

// TestInForce: what is another value in effect, and what only looks like one.
func TestInForce(t *testing.T) {
	for _, c := range []struct {
		name      string
		file, run func(*snapshot.Connectors)
		change    func(*snapshot.Snapshot)
		keys      []string
	}{
		{name: "as given", keys: nil},
		{name: "group-offset sync runs off", run: func(c *snapshot.Connectors) { put(&c.Checkpoint, keySyncEnabled, "false") }, keys: []string{keySyncEnabled}},
		{name: "the file was written out", file: func(c *snapshot.Connectors) { put(&c.Checkpoint, keyGroups, ".*,") }, keys: nil},
		{name: "the older name of a list", run: func(c *snapshot.Connectors) { put(&c.Checkpoint, "groups.blacklist", "x") }, file: func(c *snapshot.Connectors) { put(&c.Checkpoint, keyGroupsExclude, "x") }, keys: nil},
		{name: "a value from a provider", file: func(c *snapshot.Connectors) { put(&c.Checkpoint, keyGroups, "${file:/x:y}") }, keys: nil},
		{name: "the flow is off in the file", file: func(c *snapshot.Connectors) { c.Enabled = false }, run: func(c *snapshot.Connectors) { put(&c.Checkpoint, keySyncEnabled, "false") }, keys: nil},
		{name: "started a moment ago", run: func(c *snapshot.Connectors) { put(&c.Checkpoint, keySyncEnabled, "false") }, change: func(s *snapshot.Snapshot) {
			change(&s.Flows[0].Tasks, func(ts *[]snapshot.TaskStatus) {
				for i := range *ts {
					(*ts)[i].Time = s.Taken - 2000
				}
			})
		}, keys: nil},
		{name: "topics on both connectors is one difference", run: func(c *snapshot.Connectors) { put(&c.Source, keyTopics, "x"); put(&c.Checkpoint, keyTopics, "x") }, keys: []string{keyTopics}},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-608/near.json")
		f := &s.Flows[0]
		if c.file != nil {
			change(&f.Configured, c.file)
		}
		if c.run != nil {
			change(&f.Running, c.run)
		}
		if c.change != nil {
			c.change(s)
		}
		v := newView(s)
		fd := (*finding.Finding)(nil)
		if sub := (subject{flow: v.flows[0]}); fileAndWorkerRead(v, sub) {
			fd = checkInForce(v, sub)
		}
		var keys []string
		if fd != nil {
			for _, n := range fd.Observed {
				if n.Name != "stored" && n.Name != "connector started" {
					keys = append(keys, n.Name)
				}
			}
		}
		if !slices.Equal(keys, c.keys) {
			t.Errorf("%s: %v, want %v", c.name, keys, c.keys)
		}
	}
}

// TestInForceLeads: sync is off because the file's value is not in force; the repair is to bring the file into force.
func TestInForceLeads(t *testing.T) {
	s := readBundle(t, "../fixtures/codes/MM2D-608/near.json")
	change(&s.Flows[0].Running, func(c *snapshot.Connectors) { put(&c.Checkpoint, keySyncEnabled, "false") })
	s.Clusters[1].Groups = snapshot.Is([]snapshot.Group{})
	r, _ := Run(s, Options{})
	if f := r.Findings[0]; f.CodeText != "MM2D-608" || f.Severity != finding.Warning || len(f.Explains) != 1 || f.Explains[0].Code != "MM2D-301" {
		t.Errorf("%s %v explains %v", f.CodeText, f.Severity, f.Explains)
	}
}

// TestStorm: starts that a restart of the process, or several tasks, explain are none.
func TestStorm(t *testing.T) {
	every := func(s *snapshot.Snapshot, n int, ms int64) []int64 {
		var out []int64
		for i := range n {
			out = append(out, s.Taken-int64(n-i)*ms)
		}
		return out
	}
	for _, c := range []struct {
		name      string
		version   string
		starts    func(*snapshot.Snapshot) []int64
		connector int64 // ms ago
		want      finding.Severity
		refresh   string // of groups, s
	}{
		{name: "every other second, the newest counted start seconds old", version: "3.9.1", starts: func(s *snapshot.Snapshot) []int64 {
			return every(s, 40, 2000)
		}, connector: 60 * minute, want: finding.Warning, refresh: "2"},
		{"each refresh for fifty minutes", "3.6.2", func(s *snapshot.Snapshot) []int64 { return every(s, 5, 10*minute) }, 60 * minute, finding.Warning, ""},
		{"the same, and history is kept", "3.9.1", func(s *snapshot.Snapshot) []int64 { return every(s, 5, 10*minute) }, 60 * minute, finding.Info, ""},
		{"every twenty seconds", "3.9.1", func(s *snapshot.Snapshot) []int64 { return every(s, 5, 20_000) }, 60 * minute, finding.Warning, ""},
		{"three starts", "3.6.2", func(s *snapshot.Snapshot) []int64 { return every(s, 3, 10*minute) }, 60 * minute, 0, ""},
		{"five tasks started once", "3.6.2", func(s *snapshot.Snapshot) []int64 { return every(s, 5, 1000) }, 60 * minute, 0, ""},
		{"the connector was started after them", "3.6.2", func(s *snapshot.Snapshot) []int64 { return every(s, 5, 10*minute) }, 5 * minute, 0, ""},
		{"long ago", "3.6.2", func(s *snapshot.Snapshot) []int64 {
			return []int64{s.Taken - 59*minute, s.Taken - 58*minute, s.Taken - 57*minute, s.Taken - 56*minute, s.Taken - 55*minute}
		}, 90 * minute, 0, ""},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-609/bundle.json")
		s.MM2Version = c.version
		f := &s.Flows[0]
		f.CheckpointStarts = snapshot.Is(c.starts(s))
		change(&f.Configured, func(cs *snapshot.Connectors) {
			put(&cs.Checkpoint, keyEmitInterval, "60")
			put(&cs.Checkpoint, keySyncInterval, "60")
			if c.refresh != "" {
				put(&cs.Checkpoint, keyRefreshGroups, c.refresh)
			}
		})
		change(&f.Tasks, func(ts *[]snapshot.TaskStatus) {
			for i := range *ts {
				if (*ts)[i].Task < 0 {
					(*ts)[i].Time = s.Taken - c.connector
				}
			}
		})
		v := newView(s)
		got := finding.Severity(0)
		if fd := checkStorm(v, subject{flow: v.flows[0]}); fd != nil {
			if got = fd.Severity; got == 0 {
				got = finding.Warning
			}
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLoadSign: the log's line counts while no checkpoint and no start came after it.
func TestLoadSign(t *testing.T) {
	for _, c := range []struct {
		name       string
		line, last int64 // ms before the reading: the line, the newest checkpoint
		start      int64 // 0: not told
		want       finding.Severity
	}{
		{"after the start, nothing since", 8 * minute, 10 * minute, 9 * minute, finding.Error},
		{"a checkpoint since", 8 * minute, minute, 9 * minute, 0},
		{"started anew since", 12 * minute, 20 * minute, minute / 2, 0},
		{"the start is not told", 8 * minute, 10 * minute, 0, finding.Warning},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-612/near.json")
		f := &s.Flows[0]
		f.Log = snapshot.Is(snapshot.Log{Signs: []snapshot.LogSign{{Kind: loadSign, Text: "caught exception in scheduled task: starting offset sync store", Count: 1, Last: s.Taken - c.line}}})
		change(&f.Checkpointed, func(x *snapshot.Checkpoints) { x.Last = s.Taken - c.last })
		change(&f.Tasks, func(ts *[]snapshot.TaskStatus) {
			for i := range *ts {
				(*ts)[i].Time = s.Taken - c.start
				if c.start == 0 {
					(*ts)[i].Time = 0
				}
			}
		})
		change(&f.Assigned, func(a *snapshot.Assigned) { a.Groups = nil }) // the log alone
		r, _ := Run(s, Options{})
		got := finding.Severity(0)
		if fd := find1(r, "MM2D-612"); fd != nil {
			got = fd.Severity
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestDeletedTopicByVersion: whether a checkpoint of a deleted copy is still committed is a matter of the version.
func TestDeletedTopicByVersion(t *testing.T) {
	for _, c := range []struct {
		version string
		start   int64 // of the task, ms before the reading; the checkpoints are a minute old and older
		want    finding.Severity
	}{
		{"3.3.1", 10 * minute, finding.Info},
		{"3.6.2", 10 * minute, finding.Warning},
		{"3.6.2", minute / 4, finding.Info},
		{"3.9.1", minute / 4, finding.Warning},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-218/bundle.json")
		s.MM2Version = c.version
		change(&s.Flows[0].Tasks, func(ts *[]snapshot.TaskStatus) {
			for i := range *ts {
				(*ts)[i].Time = s.Taken - c.start
			}
		})
		r, _ := Run(s, Options{})
		if fd := find1(r, "MM2D-218"); fd == nil || fd.Severity != c.want {
			t.Errorf("%s, task %d s old: %+v, want %v", c.version, c.start/1000, fd, c.want)
		}
	}
}
