package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// TestTreeAgrees: the leaf that the tree ends at says the same as the row.
func TestTreeAgrees(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		leaf   string
		row    Disposition
	}{
		{"the chain is whole", func(*snapshot.Snapshot) {}, "the chain is whole", Expected},
		{"translated once, left out by a filter since", func(s *snapshot.Snapshot) {
			s.Scope.Groups = []string{"billing"}
			for _, c := range []*snapshot.Fact[snapshot.Connectors]{&s.Flows[0].Configured, &s.Flows[0].Running} {
				change(c, func(c *snapshot.Connectors) { put(&c.Checkpoint, keyGroupsExclude, "billing") })
			}
		}, "left out by a filter or a default exclude: its offset is from before, or others'", Intended},
		{"MirrorMaker 2 is dead, and the group was never found", func(s *snapshot.Snapshot) {
			s.Flows[0].Heartbeat = snapshot.Is(s.Taken - 10*minute)
			s.Flows[0].Checkpointed = snapshot.Is(snapshot.Checkpoints{Topic: s.Flows[0].Checkpoints})
			s.Flows[0].Assigned = snapshot.Is(snapshot.Assigned{Groups: []string{}, Time: s.Taken - 60*minute})
			s.Clusters[1].Groups = snapshot.Is([]snapshot.Group{})
		}, "the checkpoint connector is missing, disabled, failed or has no tasks, or MirrorMaker 2 does not run", Faulty},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := works(t)
			tc.change(s)
			r, _ := Run(s, Options{})
			n := r.Trees[0].Root
			for len(n.Children) > 0 {
				i := slices.IndexFunc(n.Children, func(c *Node) bool { return c.Taken })
				if i < 0 {
					break
				}
				n = n.Children[i]
			}
			if n.Text != tc.leaf || r.Partitions[0].Disposition != tc.row {
				t.Errorf("leaf %q, want %q; row %s %s (%s)", n.Text, tc.leaf, r.Partitions[0].Disposition, r.Partitions[0].Status, r.Partitions[0].Note)
			}
		})
	}
}

// TestOrder: a file that differs from what runs does not stand before what was seen, unless it explains something.
func TestOrder(t *testing.T) {
	seen := finding.Finding{Code: 303, Severity: finding.Warning, Link: finding.LinkCommit}
	file := finding.Finding{Code: 608, Severity: finding.Warning, Link: finding.LinkNone}
	leads := file
	leads.Explains = []finding.Effect{{Code: "MM2D-301"}}
	for _, tc := range []struct {
		fs    []finding.Finding
		first finding.Code
	}{{[]finding.Finding{file, seen}, 303}, {[]finding.Finding{seen, leads}, 608}} {
		if sortFindings(tc.fs); tc.fs[0].Code != tc.first {
			t.Errorf("%v leads, want %v", tc.fs[0].Code, tc.first)
		}
	}
}

// TestAheadIsSet: 303 names the command that sets the exact place, group by group, unless MirrorMaker 2 would raise it again.
func TestAheadIsSet(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		want   []string
	}{
		{"one group", func(*snapshot.Snapshot) {}, []string{"mm2doctor translate mm2.properties --flow a:b --group billing --topic orders --allow-rewind"}},
		{"two groups, client properties, a name like a pattern", func(s *snapshot.Snapshot) {
			s.Clusters[1].CommandConfig = "b client.properties"
			for i := range s.Clusters {
				gs, _ := s.Clusters[i].Groups.Get()
				other := gs[0]
				other.ID = "x*"
				s.Clusters[i].Groups = snapshot.Is(append(gs, other))
			}
			change(&s.Flows[0].Checkpointed, func(c *snapshot.Checkpoints) {
				x := c.Newest[0]
				x.Group = "x*"
				c.Newest = append(c.Newest, x)
			})
			change(&s.Flows[0].Assigned, func(a *snapshot.Assigned) { a.Groups = append(a.Groups, "x*") })
		}, []string{"mm2doctor translate mm2.properties --target-config 'b client.properties' --flow a:b --group billing --topic orders --allow-rewind",
			`mm2doctor translate mm2.properties --target-config 'b client.properties' --flow a:b --group '/x\*/' --topic orders --allow-rewind`}},
		{"rewound on the source", func(s *snapshot.Snapshot) {
			change(&s.Flows[0].Checkpointed, func(c *snapshot.Checkpoints) { c.Newest[0].Up, c.Newest[0].Down = 206, 205 })
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := works(t)
			for i, u := range []int64{150, 205} {
				gs, _ := s.Clusters[i].Groups.Get()
				os, _ := gs[0].Offsets.Get()
				os[0].Offset = u
			}
			tc.change(s)
			r, _ := Run(s, Options{})
			if r.Findings[0].Code != 303 {
				t.Fatalf("%+v", r.Findings)
			}
			var got []string
			for _, f := range r.Findings {
				if f.Code != 303 {
					continue
				}
				for _, fix := range f.Fixes[1:] {
					for i, st := range fix.Steps {
						if i%2 == 0 {
							got = append(got, st.Command)
						} else if st.Command != got[len(got)-1]+" --apply" {
							t.Errorf("applied by %s", st.Command)
						}
					}
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}
