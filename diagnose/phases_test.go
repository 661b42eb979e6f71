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
			s, err := looks.Of(c, p.Phase, looks.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, _ := Run(s, Options{})
			sy, _ := s.Flows[0].Syncs.Get()
			fmt.Println(name, p.Phase, r.Flows[0].MM2.Generations, r.Flows[0].MM2.Basis, sy.CountedOn, sy.CountedOnLast, sy.OnePast, sy.OnePastLast)
		}
	}
}
