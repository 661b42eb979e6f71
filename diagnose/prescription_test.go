package diagnose

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// TestEveryFindingIsConfirmable: whoever does not trust the doctor gets a command with the real names filled in; an error or
// a warning also comes with a repair.
func TestEveryFindingIsConfirmable(t *testing.T) {
	for _, x := range fixturesOf(t, "bundle") {
		name := x.name
		r, _ := Run(x.snap, Options{})
		for _, f := range r.Findings {
			if len(f.Confirm) == 0 && f.Code != 5 && f.Code != 217 {
				t.Errorf("%s: %s %s has no command that confirms it", name, f.CodeText, f.Slug)
			}
			for _, c := range f.Confirm {
				if strings.Contains(c.Command, "BOOTSTRAP") || strings.Contains(c.Command, "%!") || c.Cluster == "" {
					t.Errorf("%s: %s: %+v", name, f.CodeText, c)
				}
			}
			if f.Severity > finding.Info && len(f.Fixes) == 0 && f.Code != 217 {
				t.Errorf("%s: %s %s has no repair", name, f.CodeText, f.Slug)
			}
		}
	}
}
