package diagnose

import (
	"fmt"
	"os"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/fixtures/looks"
)

// place is a row of the truth or of a report.
type place struct {
	group, topic string
	part         int32
}

// spoken gives the places that each code names, as a finding or as the consequence of one.
func spoken(r *Report) map[finding.Code]map[place]finding.Severity {
	out := map[finding.Code]map[place]finding.Severity{}
	add := func(text string, sev finding.Severity, ss []finding.Subject) {
		var n int
		fmt.Sscanf(text, "MM2D-%d", &n)
		c := finding.Code(n)
		if out[c] == nil {
			out[c] = map[place]finding.Severity{}
		}
		for _, s := range ss {
			p := place{s.Group, s.Topic, -1}
			if s.Partition != nil {
				p.part = *s.Partition
			}
			out[c][p] = sev
		}
	}
	for _, f := range r.Findings {
		add(f.CodeText, f.Severity, append(f.Subjects, f.Subject))
		for _, e := range f.Explains {
			add(e.Code, e.Severity, e.Subjects)
		}
	}
	return out
}

func truthOf(t *testing.T, c *captures.Capture, phase string) map[place]captures.Accuracy {
	t.Helper()
	rows, err := c.Accuracy()
	if err != nil {
		t.Fatal(err)
	}
	out := map[place]captures.Accuracy{}
	for _, a := range rows {
		if a.Phase == phase {
			out[place{a.Group, a.Topic, a.Partition}] = a
		}
	}
	return out
}

func TestDump(t *testing.T) {
	fsys := os.DirFS("../fixtures/captures")
	for _, name := range captures.Names() {
		c, err := captures.LoadFrom(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Phases {
			truth := truthOf(t, c, p.Phase)
			for _, o := range []looks.Options{{}, {Claim: true, Worker: true}} {
				s, err := looks.Of(c, p.Phase, o)
				if err != nil {
					t.Fatal(err)
				}
				r, _ := Run(s, Options{})
				said := spoken(r)
				w := fmt.Sprintf("%s %s %v %s", name, p.Phase, o.Claim, r.Summary.Verdict)
				counts := map[finding.Code]int{}
				for code, ps := range said {
					counts[code] = len(ps)
					for pl := range ps {
						a, ok := truth[pl]
						wrong := ok && a.T != nil && (a.Skip > 0 || a.BeyondEnd > 0)
						tt := "nil"
						if a.T != nil {
							tt = fmt.Sprint(*a.T)
						}
						d := fmt.Sprintf("%s: %v %+v U %d T %s exact %d lag %d reread %d skip %d beyond %d", w, code, pl, a.U, tt, a.Exact, a.Lag, a.Reread, a.Skip, a.BeyondEnd)
						switch code {
						case 401:
							if a.BeyondEnd == 0 {
								fmt.Println("FALSE", d)
							}
						case 403, 405, 303:
							if !wrong {
								fmt.Println("FALSE", d)
							}
						case 206, 103, 214:
							if !ok || a.T != nil && a.Skip == 0 && a.BeyondEnd == 0 {
								fmt.Println("ODD", d)
							}
						}
					}
				}
				fmt.Println(w, counts)
				miss := 0
				for pl, a := range truth {
					_, f1 := said[401][pl]
					if a.BeyondEnd > 0 && !f1 {
						fmt.Println("MISSED beyond", w, pl, a.BeyondEnd)
					}
					found := false
					for _, code := range []finding.Code{401, 403, 405, 303, 206, 103} {
						if _, ok := said[code][pl]; ok {
							found = true
						}
					}
					if a.T != nil && a.Skip > 0 && !found {
						miss++
						if miss < 4 {
							fmt.Printf("   missed skip %s %v U %d T %d exact %d skip %d\n", w, pl, a.U, *a.T, a.Exact, a.Skip)
						}
					}
				}
				if miss > 0 {
					fmt.Println("   missed skips", miss)
				}
			}
		}
	}
}
