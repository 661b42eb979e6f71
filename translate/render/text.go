// Package render turns a plan into text for people and into files for Kafka's own tools.
//
// What may enter: one renderer per format, each a pure function of the plan and of what the screen can show. No judgement: what
// the text leaves out for want of room it counts.
package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Options for text.
type Options struct {
	Screen  term.Screen
	Verbose bool   // all rows, evidence, and what MirrorMaker 2 would give
	Apply   string // the command that carries the plan out, to be shown as the next step; empty: none
	Keep    bool   // that command only keeps the plan, for steps that come before the write
}

// Text writes the plan for a person: scope, table with the worst rows first, refusals with what to do, what a running MirrorMaker 2
// makes of it, and the sum. It fails only when w does.
func Text(w io.Writer, p *plan.Plan, o Options) error {
	t := &text{p: p, s: o.Screen, o: o}
	t.head()
	if err := t.table(); err != nil {
		return err
	}
	t.refusals()
	t.asTheyAre()
	t.notCompared()
	t.findings()
	t.holds()
	t.remarks()
	t.left()
	t.blank()
	if now := Now(p); now != "" {
		t.line(t.clean(now))
	}
	t.line(Sum(p))
	t.next()
	_, err := w.Write(t.b.Bytes())
	return err
}

// Sum is the plan in one line: "118 to set, 4 already right, 3 refused, re-read 0, skip 0".
func Sum(p *plan.Plan) string {
	s := &p.Summary
	most := ""
	for i := range p.Groups {
		for j := range p.Groups[i].Rows {
			if r := &p.Groups[i].Rows[j]; r.Wanting() && r.Gone > 0 {
				most = cmp.Or(most, atMost(r))
			}
		}
	}
	out := fmt.Sprintf("%d to set, %d already right, %d refused, re-read %s, skip %d", s.Set, s.Right, s.Refused, span(s.ReRead, s.ReReadUpTo), s.Skipped)
	for _, x := range []struct {
		n          int64
		most, what string
	}{{int64(s.Left), "", "left as it is"}, {s.Gone, most, "gone"}, {s.NotMirrored, "", "not yet mirrored"}} {
		if x.n > 0 {
			out += fmt.Sprintf(", %s%d %s", x.most, x.n, x.what)
		}
	}
	return out
}

// atMost marks what is counted from a lower bound: the position itself may lie above the records that are gone.
func atMost(r *plan.Row) string {
	if r.Bound != nil && r.Bound[0] < r.Bound[1] && (r.Verdict == "bound" || r.Verdict == "unverified" || r.Verdict == "ambiguous") {
		return "up to "
	}
	return ""
}

// Now says in one line what the offsets that stand on the cluster to be written would cost consumers that started now, over the
// partitions that are to be set; empty where none is. "at least" stands before what has an end that is not known.
func Now(p *plan.Plan) string {
	var n, without, uncounted int
	var again, againUpTo, skipped, skippedUpTo int64
	for i := range p.Groups {
		for j := range p.Groups[i].Rows {
			r := &p.Groups[i].Rows[j]
			if r.Action != plan.Set {
				continue
			}
			n++
			switch c := r.BeforeCount; {
			case r.Before == nil:
				without++
			case c == nil || c.ReRead < 0 || c.Skipped < 0:
				uncounted++
			case !c.Known:
				againUpTo, skippedUpTo = againUpTo+c.ReRead, skippedUpTo+c.Skipped
			default:
				again, againUpTo, skipped, skippedUpTo = again+c.ReRead, againUpTo+c.ReRead, skipped+c.Skipped, skippedUpTo+c.Skipped
			}
		}
	}
	if n == 0 {
		return ""
	}
	of := finding.Count(n, "partition")
	if without == n {
		return fmt.Sprintf("now on %s: no offset (%s)", p.To.Alias, of)
	}
	if without > 0 {
		of += fmt.Sprintf("; %d without an offset", without)
	}
	cost := func(low, high int64) string {
		if uncounted > 0 {
			return "at least " + strconv.FormatInt(low, 10)
		}
		return span(low, high)
	}
	if uncounted > 0 {
		of += fmt.Sprintf("; %d not counted", uncounted)
	}
	return fmt.Sprintf("now on %s: %s records would be read again, %s skipped (%s)", p.To.Alias, cost(again, againUpTo), cost(skipped, skippedUpTo), of)
}

// span is a count, or its two ends where it is not proved.
func span(low, high int64) string {
	if high > low {
		return fmt.Sprintf("%d to %d", low, high)
	}
	return strconv.FormatInt(low, 10)
}

type text struct {
	b bytes.Buffer
	p *plan.Plan
	s term.Screen
	o Options
}

func (t *text) line(x string) { t.b.WriteString(strings.TrimRight(x, " ") + "\n") }

func (t *text) blank() {
	if t.b.Len() > 0 && !bytes.HasSuffix(t.b.Bytes(), []byte("\n\n")) {
		t.b.WriteByte('\n')
	}
}

// hang writes prose after a head that is width columns wide; further lines begin where the prose began.
func (t *text) hang(head string, width int, x string) {
	x = t.clean(strings.Join(strings.Fields(x), " "))
	for i, l := range term.Wrap(x, t.s.Columns()-width) {
		if i > 0 {
			head = strings.Repeat(" ", width)
		}
		t.line(head + l)
	}
}

func (t *text) clean(x string) string { return t.s.Clean(x) }

func (t *text) head() {
	p := t.p
	groups := map[bool]string{true: "source group", false: "source groups"}[p.Scope.Of == 1]
	if p.Direction == "reverse" {
		groups = strings.TrimPrefix(groups, "source ") + " of " + p.From.Alias
	}
	t.hang("", 0, fmt.Sprintf("scope: %d of %d %s, rule: %s", p.Scope.Groups, p.Scope.Of, groups, p.Scope.Rule))
	way := fmt.Sprintf("positions from %s, to be written to %s, by flow %s", cluster(p.From), cluster(p.To), p.Flow)
	if p.Direction == "reverse" {
		way += ", in reverse"
	}
	t.hang("", 0, way+", read "+p.Made)
}

func cluster(c plan.Cluster) string {
	out := c.Alias
	if c.ID != "" {
		out += " (" + c.ID + ")"
	}
	if c.Lost {
		out += " (given up)"
	}
	return out
}

// line of the table: a row with its group.
type entry struct {
	g *plan.Group
	r *plan.Row
}

// rank puts first what is not done, then what costs, then the rest.
func (e entry) rank() int {
	switch {
	case e.r.Action == plan.Refused:
		return 0
	case e.r.Skipped > 0:
		return 1
	case e.r.Action == plan.Leave:
		return 2
	case e.r.Gone > 0 || e.r.NotMirrored > 0:
		return 3
	case e.r.ReReadUpTo > 0:
		return 4
	case e.r.Action == plan.Set:
		return 5
	}
	return 6
}

func (t *text) table() error {
	var rows []entry
	for i := range t.p.Groups {
		for j := range t.p.Groups[i].Rows {
			rows = append(rows, entry{&t.p.Groups[i], &t.p.Groups[i].Rows[j]})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.r.ReReadUpTo, a.r.ReReadUpTo))
	})
	tab := term.Table{Indent: 2, More: "(-o csv)", Columns: []term.Column{{Title: "group", Elastic: true}, {Title: "topic", Elastic: true}, {Title: "part", Number: true},
		{Title: "from", Number: true}, {Title: "to", Number: true}, {Title: "now", Number: true}, {Title: "by"}, {Title: "re-read", Number: true}, {Title: "skip", Number: true}, {Title: "what"}}}
	if t.o.Verbose {
		tab.Columns = append(tab.Columns, term.Column{Title: "MM2 gives", Number: true}, term.Column{Title: "why"})
	}
	would := ""
	for _, e := range rows {
		r := e.r
		cells := []string{t.clean(e.g.TargetGroup), t.clean(r.TargetTopic), strconv.Itoa(int(r.Partition)), committed(r.From), number(r.To), or(r, "before", committed(r.Before)), t.clean(by(r)), "-", "-", t.clean(what(r))}
		if r.To != nil || r.Would != nil {
			cells[7], cells[8] = span(r.ReRead, r.ReReadUpTo), strconv.FormatInt(r.Skipped, 10)
		}
		if r.Would != nil {
			cells[4] = "(" + number(r.Would) + ")"
			would = "; in brackets: would be set, were it not refused"
		}
		if cells[1] == "" {
			cells[1] = t.clean(r.Topic)
		}
		if t.o.Verbose {
			cells = append(cells, or(r, "mm2Expected", given(r.MM2)), t.clean(strings.Join(some(r.Because, r.Clamped, r.Evidence, r.MM2Why), "; ")))
		}
		tab.Add(cells...)
	}
	t.blank()
	t.hang("", 0, fmt.Sprintf("Partitions (names and offsets of %s; from: the position on %s, now: what the group has on %s%s):", t.p.To.Alias, t.p.From.Alias, t.p.To.Alias, would))
	return tab.Render(&t.b, t.s)
}

func some(parts ...string) []string {
	return slices.DeleteFunc(parts, func(x string) bool { return x == "" })
}

// or gives the sign of what is not known in place of a value.
func or(r *plan.Row, key, value string) string {
	if r.Unknown[key] != "" {
		return "?"
	}
	return value
}

// given is a number that may be known not to be there.
func given(n *int64) string {
	if n == nil {
		return "none"
	}
	return strconv.FormatInt(*n, 10)
}

func committed(c *plan.Committed) string {
	if c == nil {
		return "none"
	}
	return strconv.FormatInt(c.Offset, 10)
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// by is what a row's number rests on, and how far it is proved.
func by(r *plan.Row) string {
	switch {
	case r.Basis == "":
		return "-"
	case r.Verdict == "" || r.Verdict == r.Basis:
		return r.Basis
	}
	return r.Basis + ", " + r.Verdict
}

// what is done with a row, in few words.
func what(r *plan.Row) string {
	out := string(r.Action)
	switch {
	case r.Action == plan.Refused:
		out += " " + r.Refusal.String()
	case r.Action == plan.Leave:
	case r.Clamped != "" && r.Gone > 0:
		out += fmt.Sprintf(", %s%d gone", atMost(r), r.Gone)
	case r.Clamped != "":
		out += ", " + r.Clamped
	}
	if r.NotMirrored > 0 {
		out += fmt.Sprintf(", %d not mirrored", r.NotMirrored)
	}
	if r.FromAgeMs > 0 && r.FromBasis != "committed" {
		out += fmt.Sprintf(", from %s %s old", r.FromBasis, plan.Span(r.FromAgeMs))
	}
	return out
}

// reasons are groups under one reason, in the order in which they come.
type reasons struct {
	order []string
	ids   map[string][]string
	group map[string]*plan.Group
}

func (x *reasons) add(key string, g *plan.Group) {
	if x.ids == nil {
		x.ids, x.group = map[string][]string{}, map[string]*plan.Group{}
	}
	if x.ids[key] == nil {
		x.order = append(x.order, key)
		x.group[key] = g
	}
	x.ids[key] = append(x.ids[key], cmp.Or(g.TargetGroup, g.Group))
}

const someGroups = 20

// refusals come by what they say: one reason often keeps many groups.
func (t *text) refusals() {
	var whole, parts reasons
	for i := range t.p.Groups {
		g := &t.p.Groups[i]
		if g.Action == plan.Refused {
			whole.add(g.Refusal.String()+"\x00"+g.Because+"\x00"+g.Next, g)
			continue
		}
		for j := range g.Rows {
			if r := &g.Rows[j]; r.Action == plan.Refused {
				parts.add(r.Refusal.String()+"\x00"+r.Because, g)
			}
		}
	}
	t.reasons("Refused:", &whole)
	t.reasons("Partitions refused in groups that go on:", &parts)
}

// asTheyAre tells what becomes of partitions that are left, which is not nothing.
func (t *text) asTheyAre() {
	var all reasons
	for i := range t.p.Groups {
		for _, r := range t.p.Groups[i].Rows {
			if r.Action == plan.Leave && t.p.Groups[i].Action != plan.Refused {
				all.add(r.Because, &t.p.Groups[i])
			}
		}
	}
	if len(all.order) == 0 {
		return
	}
	t.blank()
	t.hang("", 0, fmt.Sprintf("Left as they are (without an offset on %s consumers start by auto.offset.reset, by default at the end, past all that is there):", t.p.To.Alias))
	for _, because := range all.order {
		t.hang("  ", 2, listed(all.ids[because])+": "+because)
	}
}

func (t *text) reasons(title string, x *reasons) {
	if len(x.order) == 0 {
		return
	}
	t.blank()
	t.line(title)
	for i, key := range x.order {
		if i == someGroups && !t.o.Verbose {
			t.line(fmt.Sprintf("  %s %d more (-v)", t.s.Ellipsis(), len(x.order)-i))
			return
		}
		f := strings.Split(key, "\x00")
		var code finding.Code
		_ = code.UnmarshalText([]byte(f[0])) // a code of a plan is one
		t.line("  " + t.s.Mark(term.Err) + " " + t.s.Paint(term.Strong, t.clean(listed(x.ids[key]))) + "  " + strings.TrimSpace(f[0]+" "+slug(code)))
		t.hang("      because  ", 15, f[1])
		next := t.nextOf(f[0])
		if len(f) > 2 {
			next = f[2]
		}
		if next != "" {
			t.hang("      next     ", 15, next)
		}
	}
}

// nextOf is what the finding of a code says to do.
func (t *text) nextOf(code string) string {
	for _, f := range t.p.Findings {
		if f.CodeText == code && len(f.Fixes) > 0 {
			return f.Fixes[0].Text
		}
	}
	return ""
}

func listed(ids []string) string {
	ids = slices.Compact(slices.Clone(ids))
	if len(ids) > 5 {
		return strings.Join(ids[:5], ", ") + fmt.Sprintf(" and %d more", len(ids)-5)
	}
	return strings.Join(ids, ", ")
}

// findings of the plan as a whole: those of its groups stand with the groups.
func (t *text) findings() {
	first := true
	for i := range t.p.Findings {
		f := &t.p.Findings[i]
		if f.Code == plan.WillNotHold || f.Subject.Group != "" && f.Code != 217 || slices.ContainsFunc(t.p.Groups, func(g plan.Group) bool { return g.Because == f.Because }) {
			continue
		}
		if first {
			t.blank()
			first = false
		}
		mark := term.Err
		if f.Severity < finding.Error {
			mark = term.Warn
		}
		t.hang(t.s.Mark(mark)+" "+f.CodeText+"  ", t.s.MarkWidth()+3+len(f.CodeText), f.Because)
		for _, x := range f.Fixes {
			t.hang("      next     ", 15, x.Text)
		}
	}
}

// notCompared says why records did not decide where they might have: a bound for want of a right is no bound for want of records.
func (t *text) notCompared() {
	var order []string
	at, first := map[string]int{}, map[string]string{}
	for i := range t.p.Groups {
		g := &t.p.Groups[i]
		for j := range g.Rows {
			r := &g.Rows[j]
			_, why, ok := strings.Cut(r.Evidence, "; records: ")
			if !ok || !r.Wanting() || t.p.From.Lost {
				continue
			}
			if _, after, cut := strings.Cut(why, "could not be compared: "); cut {
				why = after
			}
			key := strings.NewReplacer(fmt.Sprintf("%s-%d", r.TargetTopic, r.Partition), "", fmt.Sprintf("%s-%d", r.Topic, r.Partition), "").Replace(why)
			if at[key]++; at[key] == 1 {
				order, first[key] = append(order, key), why
			}
		}
	}
	for i, key := range order {
		if i == 0 {
			t.blank()
		}
		if i == 3 {
			t.line(fmt.Sprintf("%d more reasons: -v", len(order)-i))
			break
		}
		t.line(fmt.Sprintf("Records did not decide in %s:", finding.Count(at[key], "partition")))
		t.hang("  ", 2, first[key])
	}
}

// holds says of each kind of group what MirrorMaker 2 will make of the values, with the steps in their order.
func (t *text) holds() {
	var kinds reasons
	for i := range t.p.Groups {
		g := &t.p.Groups[i]
		if g.Action != plan.Set && g.Action != plan.Right {
			continue
		}
		key := g.Holds.Status + "\x00" + strings.Join(texts(g.Holds.First), "\x00")
		if g.Holds.Status != "overwritten" && g.Holds.Status != "unknown" {
			key = g.Holds.Status + "\x00" + g.Holds.Because
		}
		kinds.add(key, g)
	}
	if len(kinds.order) == 0 {
		return
	}
	slices.SortStableFunc(kinds.order, func(a, b string) int { return cmp.Compare(worse(kinds.group[a]), worse(kinds.group[b])) })
	t.blank()
	t.line("While MirrorMaker 2 runs:")
	for _, key := range kinds.order {
		g := kinds.group[key]
		word := map[string]string{"holds": "holds", "raised": "holds, raised later", "overwritten": plan.WillNotHold.String() + " will not hold", "unknown": plan.WillNotHold.String() + " not known"}[g.Holds.Status]
		t.hang("  ", 2, fmt.Sprintf("%s (%s): %s", word, listed(kinds.ids[key]), g.Holds.Because))
		for i, s := range g.Holds.First {
			t.hang(fmt.Sprintf("    %d. ", i+1), 7, s.Text)
			if s.Command != "" {
				t.line("       " + t.clean(s.Command))
			}
			for _, p := range s.Properties {
				t.line("       " + t.clean(fmt.Sprintf("%s = %v", p.Name, p.Value)))
			}
		}
	}
}

func texts(steps []finding.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Text)
	}
	return out
}

func worse(g *plan.Group) int {
	return slices.Index([]string{"overwritten", "unknown", "raised", "holds"}, g.Holds.Status)
}

func (t *text) remarks() {
	var all reasons
	for i := range t.p.Groups {
		for _, r := range t.p.Groups[i].Remarks {
			all.add(r, &t.p.Groups[i])
		}
	}
	if len(all.order) == 0 {
		return
	}
	t.blank()
	t.line("To know:")
	for _, r := range all.order {
		t.hang("  ", 2, listed(all.ids[r])+": "+r)
	}
}

func (t *text) left() {
	if len(t.p.Scope.Left) == 0 {
		return
	}
	t.blank()
	t.line("Left out:")
	for _, l := range t.p.Scope.Left {
		t.hang("  ", 2, fmt.Sprintf("%s: %s%s", l.Reason, strings.Join(l.Some[:min(3, len(l.Some))], ", "), more(l.Count-3, t.s)))
	}
}

func more(n int, s term.Screen) string {
	if n > 0 {
		return fmt.Sprintf(", %s %d more", s.Ellipsis(), n)
	}
	return ""
}

func (t *text) next() {
	switch {
	case t.p.Summary.Set == 0 && t.p.Summary.Refused == 0 && t.p.Summary.Left > 0 && t.p.Summary.Right == 0:
		t.line("nothing is written as it is")
	case t.p.Summary.Set == 0 && t.p.Summary.Refused == 0 && !slices.ContainsFunc(t.p.Findings, func(f finding.Finding) bool { return f.Severity == finding.Error }):
		t.line("nothing to do")
	case t.p.Summary.Set == 0:
		t.line("nothing can be written as it is")
	case t.o.Apply != "":
		t.hang("not checked yet: ", 17, "whether somebody without membership moves these offsets, which one look does not show; apply watches them first (--idle-proof)")
		if i := slices.IndexFunc(t.p.Groups, func(g plan.Group) bool {
			return (g.Action == plan.Set || g.Action == plan.Right) && len(g.Holds.First) > 0 && worse(&g) < 2
		}); i >= 0 && t.o.Keep {
			t.hang("", 0, "the plan is kept first, then the steps above follow (MM2D-710), the write among them:")
		} else if i >= 0 {
			t.hang("", 0, "this is the write among the steps above (MM2D-710), in their order:")
		}
		t.line("next: " + t.clean(t.o.Apply)) // in one line, to be copied
	}
}

func slug(c finding.Code) string {
	if e := finding.Lookup(c); e != nil {
		return e.Slug
	}
	return ""
}
