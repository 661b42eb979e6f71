package diagnose

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// TestRemarks: what a rule found beside what the chain sees.
func TestRemarks(t *testing.T) {
	const broken, well = "301/bundle", "301/near"
	for _, tc := range []struct {
		name     string
		of       string
		remark   snapshot.Remark
		accepted string
		verdict  Verdict
		want     string // slug and severity of the first finding, "" for none
		n        int
		cause    string // slug of what the first finding is caused by
	}{
		{"the same fact", broken, snapshot.Remark{Code: 301, Slug: "group-offset-sync-disabled", Severity: "error", File: "m", Line: 7}, "", Broken, "group-offset-sync-disabled error", 1, ""},
		{"the same fact, accepted in the file", broken, snapshot.Remark{Code: 301, Slug: "group-offset-sync-disabled", Severity: "error", File: "m", Line: 7, Accepted: "why not"}, "", Healthy, "", 0, ""},
		{"its cause", broken, snapshot.Remark{Code: 507, Slug: "misspelt-key", Severity: "error", File: "m", Line: 7, Key: "sync.group.offset.enabled", Setting: keySyncEnabled, Because: "x"}, "", Broken, "group-offset-sync-disabled error", 1, "misspelt-key"},
		{"a cause that somebody accepts is none", broken, snapshot.Remark{Code: 507, Slug: "misspelt-key", Severity: "error", Setting: keySyncEnabled, Accepted: "old"}, "", Broken, "group-offset-sync-disabled error", 1, ""},
		{"another flow's", broken, snapshot.Remark{Code: 507, Slug: "misspelt-key", Severity: "error", Setting: keySyncEnabled, Flow: "x->y"}, "", Broken, "group-offset-sync-disabled error", 1, ""},
		{"an error without an effect, in trouble", broken, snapshot.Remark{Code: 504, Slug: "malformed-value", Severity: "error", Because: "x"}, "", Broken, "group-offset-sync-disabled error", 2, ""},
		{"an error without an effect, all well", well, snapshot.Remark{Code: 504, Slug: "malformed-value", Severity: "error", Because: "x"}, "", Healthy, "malformed-value info", 1, ""},
		{"a danger, all well", well, snapshot.Remark{Code: 515, Slug: "identity-fan-in", Severity: "warning", Because: "x"}, "", Degraded, "identity-fan-in warning", 1, ""},
		{"a danger is never an error", well, snapshot.Remark{Code: 515, Slug: "identity-loop", Severity: "error", Because: "x"}, "", Degraded, "identity-loop warning", 1, ""},
		{"a remark of check", well, snapshot.Remark{Code: 518, Slug: "two-way-flows", Severity: "info", Because: "x"}, "", Healthy, "", 0, ""},
		{"the chain has judged it", well, snapshot.Remark{Code: 301, Slug: "group-offset-sync-disabled", Severity: "error", Because: "x"}, "", Healthy, "", 0, ""},
		{"known bugs are the chain's", well, snapshot.Remark{Code: 601, Slug: "version-known-bugs", Severity: "warning", Because: "x"}, "", Healthy, "", 0, ""},
		{"the settings accept it", broken, snapshot.Remark{}, "group-offset-sync-disabled", Healthy, "", 0, ""},
	} {
		name := map[string]string{broken: "../fixtures/codes/MM2D-301/bundle.json", well: "../fixtures/codes/MM2D-301/near.json"}[tc.of]
		s := *readBundle(t, name)
		s.Remarks = snapshot.Is([]snapshot.Remark{tc.remark})
		if tc.remark.Slug == "" {
			s.Remarks = snapshot.Is([]snapshot.Remark{})
		}
		r, _ := Run(&s, Options{Accepted: func(f *finding.Finding) string {
			if f.Slug == tc.accepted {
				return "a reason"
			}
			return ""
		}})
		first, cause := "", ""
		if len(r.Findings) > 0 {
			f := r.Findings[0]
			first = f.Slug + " " + f.Severity.String()
			if len(f.CausedBy) > 0 {
				cause = f.CausedBy[0].Slug
			}
		}
		if r.Summary.Verdict != tc.verdict || first != tc.want || len(r.Findings) != tc.n || cause != tc.cause {
			t.Errorf("%s: %s, first %q of %d, caused by %q", tc.name, r.Summary.Verdict, first, len(r.Findings), cause)
		}
		for _, row := range r.Partitions {
			if tc.verdict == Healthy && row.Disposition == Faulty {
				t.Errorf("%s: %s is faulty in a healthy flow", tc.name, row.Group)
			}
		}
	}
}

// TestStoredRemarks: without a text, what MirrorMaker 2 stored is judged by the rules about what is in force.
func TestStoredRemarks(t *testing.T) {
	s := *readBundle(t, "../fixtures/codes/MM2D-302/near.json")
	s.Flows = append([]snapshot.Flow(nil), s.Flows...)
	for i := range s.Flows {
		c := s.Flows[i].Running.Or(snapshot.Connectors{Enabled: true})
		c.Checkpoint = append([]snapshot.ConfigEntry{{Key: "refresh.groups.enabled", Value: "false"}}, c.Checkpoint...)
		s.Flows[i].Running = snapshot.Is(c)
	}
	has := func() (out finding.Finding) {
		r, _ := Run(&s, Options{})
		for _, f := range r.Findings {
			if f.Slug == "refresh-disabled" {
				out = f
			}
		}
		return out
	}
	if f := has(); f.Severity != finding.Warning || f.Subject.Connector != "MirrorCheckpointConnector" || f.Subject.Key != "refresh.groups.enabled" || f.Subject.File != "" {
		t.Errorf("%+v", f)
	}
	s.Remarks = snapshot.Is([]snapshot.Remark{}) // a text was read and is fine
	if f := has(); f.Slug != "" {
		t.Errorf("%+v", f)
	}
}
