package diagnose

import (
	"encoding/json"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// TestBeyondAGrowingCopy: MirrorMaker 2 up to 3.4.0 counts on from a sync, so a group that is ahead of the copy has a target
// offset beyond its end until the records arrive. Only where they have arrived, or nothing moves any more, is it wrong.
func TestBeyondAGrowingCopy(t *testing.T) {
	const u, end = 485, 416
	ends := func(s *snapshot.Snapshot, source, copied int64) {
		for i, n := range []int64{source, copied} {
			ts, _ := s.Clusters[i].Topics.Get()
			for j := range ts {
				if ts[j].Name == "profiles" || ts[j].Name == "a.profiles" {
					ts[j].Partitions[0].End = snapshot.Is(n)
				}
			}
		}
	}
	for _, tc := range []struct {
		name     string
		before   *[2]int64 // ends of source and copy in the look before
		position int64     // of the source connector; -1: not known
		want     finding.Code
	}{
		{"one look", nil, -1, 405},
		{"two looks, nothing moves", &[2]int64{500, end}, -1, 405},
		{"the copy grows", &[2]int64{500, end - 20}, -1, 0},
		{"the source grows", &[2]int64{480, end}, -1, 0},
		{"the copy grows, but has passed the group's position", &[2]int64{500, end - 20}, u - 1, 405},
		{"the copy grows and has not come to the group's position", &[2]int64{500, end - 20}, u - 2, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := readBundle(t, "../fixtures/codes/MM2D-405/bundle.json")
			if tc.before != nil {
				s.Earlier = readBundle(t, "../fixtures/codes/MM2D-405/bundle.json")
				ends(s.Earlier, tc.before[0], tc.before[1])
			}
			if tc.position >= 0 {
				s.Flows[0].Positions = snapshot.Is([]snapshot.Position{{Topic: "profiles", Offset: tc.position}})
			}
			r, _ := Run(s, Options{})
			var got finding.Code
			for _, f := range r.Findings {
				if f.Severity == finding.Error {
					got = f.Code
				}
			}
			if got != tc.want {
				b, _ := json.Marshal(r.Findings)
				t.Fatalf("error %v, want %v: %s", got, tc.want, b)
			}
			if tc.want == 0 && (r.Summary.Verdict == Healthy || r.Partitions[0].Status != statusUnknown) {
				t.Errorf("verdict %s, status %s: neither proved nor healthy", r.Summary.Verdict, r.Partitions[0].Status)
			}
		})
	}
}
