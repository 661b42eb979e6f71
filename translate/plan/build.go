package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// Build makes the plan from the answers, which stand in the order of Positions. A missing answer is one that nobody could give. The
// plan is not sealed yet. The same wants may be built once.
func Build(w *Wants, answers []Answer, tool diagnose.Tool) *Plan {
	p := &Plan{SchemaVersion: SchemaVersion, Tool: tool, Command: "translate", Made: stamp(w.snap.Taken), Flow: w.flow.Flow().Name(), Direction: "forward",
		From: w.from.info(), To: w.to.info(), Options: w.sel.Options, Scope: w.scope, Groups: []Group{}}
	if w.sel.Reverse {
		p.Direction = "reverse"
	}
	for _, g := range w.groups {
		for _, x := range g.rows {
			a := Answer{Why: "nobody looked for it"}
			if x.pos >= 0 && x.pos < len(answers) {
				a = answers[x.pos]
			}
			w.settle(g, x, &a)
		}
		w.decide(g)
	}
	if w.sel.Options.AllOrNothing {
		w.allOrNothing()
	}
	told := &teller{w: w, at: map[string]int{}}
	for _, r := range w.all {
		told.add(r, finding.Subject{})
	}
	for _, g := range w.groups {
		g.g.Holds = Holds{Status: staysPut, Because: "nothing is written"}
		if g.g.Action == Set || g.g.Action == Right {
			g.g.Holds = w.holds(g)
		}
		told.group(g)
		for _, x := range g.rows {
			g.g.Rows = append(g.g.Rows, x.row)
		}
		p.Groups = append(p.Groups, g.g)
		p.Summary.add(&g.g)
	}
	p.Findings = append(slices.Clone(w.findings), told.out...)
	if f := w.tellUnsure(); f != nil {
		p.Findings = append(p.Findings, *f)
	}
	slices.SortStableFunc(p.Findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Code, b.Code))
	})
	if p.Findings == nil {
		p.Findings = []finding.Finding{}
	}
	return p
}

// ofGroup are refusals of a row that keep the whole group from being written: its positions belong together.
func ofGroup(c finding.Code) bool { return c != Unmapped }

// decide puts the refusals of a group and its rows together.
func (w *Wants) decide(g *wanted) {
	var r *Refusal
	for _, x := range slices.Concat(w.all, g.refusals) {
		r = cmp.Or(r, x)
	}
	for _, x := range g.rows {
		if x.refusal != nil && (ofGroup(x.refusal.Code) || g.share) {
			r = cmp.Or(r, x.refusal)
		}
	}
	set, right, refused := 0, 0, 0
	for _, x := range g.rows {
		switch own := x.refusal; {
		case own != nil:
			x.refuse(own.Code, own.Because)
		case r != nil && x.row.Action != Leave:
			x.refuse(r.Code, "with the group")
		}
		switch x.row.Action {
		case Set:
			set++
		case Right:
			right++
		case Refused:
			refused++
		}
	}
	switch {
	case r != nil:
		g.refuse(r)
	case set > 0:
		g.g.Action = Set
	case right > 0:
		g.g.Action = Right
	case refused > 0:
		for _, x := range g.rows {
			if x.refusal != nil {
				g.refuse(x.refusal)
				break
			}
		}
	default:
		g.g.Action = Leave
	}
}

func (g *wanted) refuse(r *Refusal) {
	g.g.Action, g.g.Refusal, g.g.Because, g.g.Next = Refused, r.Code, r.Because, r.Next
}

func (x *want) refuse(c finding.Code, because string) {
	x.row.Action, x.row.Refusal, x.row.Because = Refused, c, because
	// Of clusters or directions that are not what they seem no number means anything.
	if x.row.Would = x.row.To; c == WrongCluster || c == Direction {
		x.row.Would = nil
	}
	x.row.To = nil
}

// allOrNothing: one refusal keeps everything from being written.
func (w *Wants) allOrNothing() {
	var first *Refusal
	id := ""
	for _, g := range w.groups {
		for _, x := range g.rows {
			if x.row.Action == Refused && first == nil {
				first, id = &Refusal{Code: x.row.Refusal, Because: x.row.Because}, g.g.Group
			}
		}
		if g.g.Action == Refused && first == nil {
			first, id = &Refusal{Code: g.g.Refusal, Because: g.g.Because}, g.g.Group
		}
	}
	if first == nil {
		return
	}
	for _, g := range w.groups {
		if g.g.Action == Refused {
			continue
		}
		r := &Refusal{Code: first.Code, Because: "--all-or-nothing, and group " + id + " is refused: " + first.Because, Next: "repair that one, or leave --all-or-nothing out"}
		g.refuse(r)
		for _, x := range g.rows {
			if x.row.Action == Set || x.row.Action == Right {
				x.refuse(r.Code, "--all-or-nothing")
			}
		}
	}
}

// add counts a group. One that is refused before its partitions are known counts as one.
func (s *Summary) add(g *Group) {
	s.Groups++
	if g.Action == Refused {
		s.RefusedGroups++
		if len(g.Rows) == 0 {
			s.Refused++
		}
	}
	for i := range g.Rows {
		r := &g.Rows[i]
		switch r.Action {
		case Set, Right:
			if r.Action == Set {
				s.Set++
			} else {
				s.Right++
			}
			s.ReRead += r.ReRead
			s.ReReadUpTo += r.ReReadUpTo
			s.Skipped += r.Skipped
			s.Gone += r.Gone
			s.NotMirrored += r.NotMirrored
		case Refused:
			s.Refused++
		case Leave:
			s.Left++
		}
	}
}

// teller makes one finding of each kind of refusal, with all that it concerns.
type teller struct {
	w   *Wants
	out []finding.Finding
	at  map[string]int
}

const mostSubjects = 100

func (t *teller) add(r *Refusal, s finding.Subject) *finding.Finding {
	key := r.Code.String() + r.Slug
	if s.Group == "" {
		key += r.Because
	}
	i, ok := t.at[key]
	if !ok {
		f := t.w.finding(r)
		f.Subject, f.SubjectCount = s, 0
		i = len(t.out)
		t.at[key] = i
		t.out = append(t.out, f)
	}
	f := &t.out[i]
	f.SubjectCount++
	if s != (finding.Subject{}) && len(f.Subjects) < mostSubjects {
		f.Subjects = append(f.Subjects, s)
	}
	return f
}

func (t *teller) group(g *wanted) {
	whole := len(t.w.all) > 0
	for _, r := range g.refusals {
		if !whole {
			t.add(r, finding.Subject{Group: g.g.Group})
		}
	}
	for _, x := range g.rows {
		if x.refusal != nil && !whole {
			part := x.row.Partition
			t.add(x.refusal, finding.Subject{Group: g.g.Group, Topic: x.row.Topic, Partition: &part})
		}
	}
	if h := g.g.Holds; h.Status == isOverwrite || h.Status == notTold {
		r := &Refusal{Code: WillNotHold, Because: "group " + g.g.TargetGroup + ": " + h.Because}
		if h.Status == notTold {
			r.Slug = "may-not-hold"
		}
		f := t.add(r, finding.Subject{Group: g.g.Group})
		if h.Status == notTold {
			f.Severity = finding.Warning
		}
		if len(f.Fixes) == 0 {
			var texts []string
			for _, s := range h.First {
				texts = append(texts, s.Text)
			}
			f.Fixes = []finding.Fix{{Mode: cmp.Or(t.w.writer.Flow().Mode, "dedicated"), Text: "In this order: " + strings.Join(texts, "; ") + ".", Steps: h.First}}
		}
	}
}
