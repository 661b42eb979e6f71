package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/apply"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// OutcomeText writes what was done with a plan, for a person: the sum, what was not done and what to do about it, the partitions that
// are not as planned (all with Verbose), and the commands that go on or go back. It fails only when w does.
func OutcomeText(w io.Writer, out *apply.Outcome, o Options) error {
	t := &text{s: o.Screen, o: o}
	mark := map[string]term.Symbol{apply.Done: term.OK, apply.Partial: term.Warn, apply.Nothing: term.Err}[out.Result]
	t.hang(t.s.Mark(mark)+" ", t.s.MarkWidth()+1, OutcomeSum(out))
	if r := out.Refusal; r != nil {
		t.blank()
		t.line(t.s.Paint(term.Strong, r.Code.String()) + " " + slug(r.Code))
		t.hang("  because  ", 11, r.Because)
		if r.Next != "" {
			t.hang("  next     ", 11, r.Next)
		}
	} else {
		t.undone(out)
		if err := t.outcomeRows(out); err != nil {
			return err
		}
		t.outcomeRemarks(out)
	}
	if out.Journal != "" {
		t.blank()
		t.line("journal: " + t.clean(out.Journal))
	}
	for _, c := range out.Finish {
		t.line("go on:   " + t.clean(c))
	}
	for _, c := range out.Undo {
		t.line("undo:    " + t.clean(c))
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

// OutcomeSum is the outcome in one line.
func OutcomeSum(out *apply.Outcome) string {
	p, g := out.Summary.Partitions, out.Summary.Groups
	where := "on " + cluster(out.Cluster)
	var parts []string
	for _, x := range []struct {
		n    int
		what string
	}{{p.Written, "written"}, {p.Removed, "removed"}, {p.Already, "right already"}, {p.Refused, "refused"}, {p.Failed, "failed"}, {p.Unknown, "not known"}, {p.Differs, "different"}, {p.Left, "left as they are"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"none to write"}
	}
	sum := "partitions: " + strings.Join(parts, ", ")
	moved := 0
	for _, g := range out.Groups {
		for _, p := range g.Partitions {
			if p.Moved {
				moved++
			}
		}
	}
	if moved > 0 {
		sum += fmt.Sprintf("; %d of them moved since", moved)
	}
	switch {
	case out.Finished && out.Result == apply.Done:
		return fmt.Sprintf("that run had come to its end %s, and nothing was left to do; %s", where, sum)
	case out.Result == apply.Nothing:
		return fmt.Sprintf("nothing was written %s; %s", where, sum)
	case out.Result == apply.Partial:
		bad := g.Refused + g.Failed + g.Unknown + g.Differs + g.Partly
		if len(out.Groups) == 1 && bad == 1 {
			return fmt.Sprintf("%s: the group is not wholly as planned %s; %s", plan.PartialOutcome, where, sum)
		}
		not := map[bool]string{true: "is not", false: "are not"}[bad == 1]
		return fmt.Sprintf("%s: %d of %d groups are as planned %s, %d %s; %s", plan.PartialOutcome, len(out.Groups)-bad, len(out.Groups), where, bad, not, sum)
	case !out.Wrote:
		return fmt.Sprintf("nothing to write %s; %s", where, sum)
	case out.Command == "rollback":
		return fmt.Sprintf("%s as they were %s; %s", are(len(out.Groups)), where, sum)
	}
	return fmt.Sprintf("%s as planned %s; %s", are(len(out.Groups)), where, sum)
}

func are(groups int) string {
	if groups == 1 {
		return "1 group is"
	}
	return fmt.Sprintf("%d groups are", groups)
}

// undone tells of the groups that are not as planned, equal reasons once.
func (t *text) undone(out *apply.Outcome) {
	type reason struct {
		head, because, next string
		groups              []string
	}
	var all []*reason
	at := map[string]*reason{}
	for _, g := range out.Groups {
		if g.Code == 0 {
			continue
		}
		key := string(g.Action) + g.Code.String() + g.Because
		r := at[key]
		if r == nil {
			r = &reason{head: string(g.Action) + "  " + g.Code.String() + " " + slug(g.Code), because: g.Because, next: g.Next}
			at[key], all = r, append(all, r)
		}
		r.groups = append(r.groups, g.TargetGroup)
	}
	for i, r := range all {
		if i == 0 {
			t.blank()
			t.line(map[bool]string{true: "Not taken back:", false: "Not as planned:"}[out.Command == "rollback"])
		}
		if i == someGroups && !t.o.Verbose {
			t.line(fmt.Sprintf("  %s %d more (-v)", t.s.Ellipsis(), len(all)-i))
			return
		}
		t.line("  " + t.s.Mark(term.Err) + " " + t.s.Paint(term.Strong, t.clean(listed(r.groups))) + "  " + r.head)
		t.hang("      because  ", 15, r.because)
		if r.next != "" {
			t.hang("      next     ", 15, r.next)
		}
	}
}

func (t *text) outcomeRows(out *apply.Outcome) error {
	tab := term.Table{Indent: 2, More: "(-o json)", Columns: []term.Column{{Title: "group", Elastic: true}, {Title: "topic", Elastic: true}, {Title: "part", Number: true},
		{Title: "before", Number: true}, {Title: "to", Number: true}, {Title: "found", Number: true}, {Title: "what"}}}
	for _, bad := range []bool{true, false} {
		for _, g := range out.Groups {
			for _, p := range g.Partitions {
				good := p.Action == apply.Written || p.Action == apply.Removed || p.Action == apply.Already || p.Action == apply.Left && p.Code == 0
				// A group that was refused whole is told above.
				if good == bad || good && !t.o.Verbose && p.Remark == "" || p.Action == apply.Refused && (p.Code == 0 || g.Action == apply.Refused && p.Code == g.Code) && !t.o.Verbose {
					continue
				}
				what := string(p.Action)
				if p.Code != 0 {
					what += " " + p.Code.String()
				}
				if p.Remark != "" {
					what += " (" + p.Remark + ")"
				}
				tab.Add(t.clean(g.TargetGroup), t.clean(p.Topic), strconv.Itoa(int(p.Partition)), committed(p.Before), committed(p.To), committed(p.Found), t.clean(what))
			}
		}
	}
	if tab.Len() == 0 {
		return nil
	}
	t.blank()
	t.line("Partitions:")
	return tab.Render(&t.b, t.s)
}

func (t *text) outcomeRemarks(out *apply.Outcome) {
	ids := map[string][]string{}
	var order []string
	for _, g := range out.Groups {
		for _, r := range g.Remarks {
			if ids[r] == nil {
				order = append(order, r)
			}
			ids[r] = append(ids[r], g.TargetGroup)
		}
	}
	if len(order)+len(out.Remarks) == 0 {
		return
	}
	t.blank()
	t.line("To know:")
	for _, r := range out.Remarks {
		t.hang("  ", 2, r)
	}
	for _, r := range order {
		t.hang("  ", 2, listed(ids[r])+": "+r)
	}
}

// OutcomeJSON writes the outcome as one object.
func OutcomeJSON(w io.Writer, out *apply.Outcome) error { return object(w, out) }

func object(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
