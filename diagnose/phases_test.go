package diagnose

import (
	"fmt"
	"os"
	"testing"

	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/fixtures/looks"
)

func TestDump(t *testing.T) {
	fsys := os.DirFS("../fixtures/captures")
	for _, name := range captures.Names() {
		c, err := captures.LoadFrom(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Phases {
			for _, o := range []looks.Options{{}, {Claim: true, Worker: true}} {
				s, err := looks.Of(c, p.Phase, o)
				if err != nil {
					t.Fatal(err)
				}
				r, _ := Run(s, Options{})
				fmt.Printf("== %s %s %+v: %s gens %v rows %d groups %d\n", name, p.Phase, o, r.Summary.Verdict, r.Flows[0].MM2.Generations, r.Summary.Rows, r.Summary.Groups)
				for _, f := range r.Findings {
					fmt.Printf("   %s %s %s n=%d %v: %s\n", f.CodeText, f.Slug, f.Severity, f.SubjectCount, f.Subject.Group+"/"+f.Subject.Topic, f.Because)
					for _, e := range f.Explains {
						fmt.Printf("        explains %s %s n=%d %s\n", e.Code, e.Severity, e.Count, e.Because)
					}
				}
				for _, n := range r.NotChecked {
					fmt.Printf("   notChecked %s n=%d %s\n", n.Check, n.Count, n.Why)
				}
			}
		}
	}
}
