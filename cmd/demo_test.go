package cmd

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/mm2doctor/mm2doctor/fixtures/demo"
)

// TestDemoScenarios: demo NAME exits like the diagnose it runs, and finds what the list says; --fixed exits 0.
func TestDemoScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range demo.Scenarios() {
		for _, fixed := range []bool{false, true} {
			args := []string{"demo", s.Name, "-o", "json"}
			if fixed {
				args = append(args, "--fixed")
			}
			var out, errs bytes.Buffer
			c := exec.Command("mm2doctor", args...)
			c.Stdout, c.Stderr = &out, &errs
			_ = c.Run()
			var r struct {
				Findings []struct{ Code, Severity string }
			}
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Errorf("%q: %v\n%s", args, err, errs.String())
				continue
			}
			want, found := 0, s.Code == "" || fixed
			for _, f := range r.Findings {
				if f.Severity == "error" {
					want = 1
				}
				found = found || f.Code == s.Code
			}
			if got := c.ProcessState.ExitCode(); got != want || !found || fixed && want != 0 {
				t.Errorf("%q: exit %d, findings %+v, listed %s", args, got, r.Findings, s.Code)
			}
		}
	}
}
