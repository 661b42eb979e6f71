package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/apply"
)

// VerificationText writes what became of the values of a plan, for a person: the sum, and the partitions that do not hold (all with
// Verbose), the worst first. It fails only when w does.
func VerificationText(w io.Writer, v *apply.Verification, o Options) error {
	t := &text{s: o.Screen, o: o}
	mark := term.OK
	switch {
	case v.Refusal != nil, v.Summary.Other+v.Summary.Gone > 0:
		mark = term.Err
	case !v.Summary.Good():
		mark = term.Warn
	}
	t.hang(t.s.Mark(mark)+" ", t.s.MarkWidth()+1, VerificationSum(v))
	if r := v.Refusal; r != nil {
		t.blank()
		t.line(t.s.Paint(term.Strong, r.Code.String()) + " " + slug(r.Code))
		t.hang("  because  ", 11, r.Because)
		if r.Next != "" {
			t.hang("  next     ", 11, r.Next)
		}
	}
	tab := term.Table{Indent: 2, More: "(-o json)", Columns: []term.Column{{Title: "group", Elastic: true}, {Title: "topic", Elastic: true}, {Title: "part", Number: true},
		{Title: "planned", Number: true}, {Title: "found", Number: true}, {Title: "what"}, {Title: "why"}}}
	for _, d := range []apply.Verdict{apply.Other, apply.Gone, apply.NotRead, apply.ByMM2, apply.TakenOver, apply.Holds} {
		for _, g := range v.Groups {
			for _, p := range g.Partitions {
				if p.Verdict != d || d == apply.Holds && p.Because == "" && !o.Verbose {
					continue
				}
				what := string(d)
				if p.Code != 0 {
					what += " " + p.Code.String()
				}
				found := committed(p.Found)
				if d == apply.NotRead {
					found = "?"
				}
				tab.Add(t.clean(g.TargetGroup), t.clean(p.Topic), strconv.Itoa(int(p.Partition)), committed(p.Planned), found, t.clean(what), t.clean(p.Because))
			}
		}
	}
	if tab.Len() > 0 {
		t.blank()
		if err := tab.Render(&t.b, t.s); err != nil {
			return err
		}
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

// VerificationSum is the verification in one line: "118 hold, 2 taken over by consumers, ... on b".
func VerificationSum(v *apply.Verification) string {
	s := v.Summary
	out := fmt.Sprintf("%d hold", s.Holds)
	for _, x := range []struct {
		n    int
		what string
	}{{s.TakenOver, "taken over by consumers"}, {s.ByMM2, "moved by MirrorMaker 2"}, {s.Other, "different"}, {s.Gone, "gone"}, {s.NotRead, "could not be read"}, {s.NotSet, "were not to be set"}} {
		if x.n > 0 {
			out += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	return out + " on " + cluster(v.Cluster)
}

// VerificationJSON writes the verification as one object.
func VerificationJSON(w io.Writer, v *apply.Verification) error { return object(w, v) }
