package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// partitions prints the rows with a problem in the report's order, faulty ones before those that nobody could judge; with
// -v all rows.
func (p *printer) partitions() error {
	var rows []*diagnose.Row
	faulty, unsure := 0, 0
	for i := range p.r.Partitions {
		x := &p.r.Partitions[i]
		switch x.Disposition {
		case diagnose.Faulty:
			faulty++
		case diagnose.Unsure:
			unsure++
		default:
			if !p.o.Verbose {
				continue
			}
		}
		rows = append(rows, x)
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b *diagnose.Row) int { return cmp.Compare(rank(a), rank(b)) })
	several, reRead, notes := len(p.r.Flows) > 1, false, false
	for _, x := range rows {
		n, state := x.ReRead.Get()
		reRead = reRead || state == snapshot.Known && n > 0
		notes = notes || p.o.Verbose && x.Note != ""
	}
	t := term.Table{Indent: 2, More: "(-o json)"}
	if several {
		t.Columns = append(t.Columns, term.Column{Title: "flow"})
	}
	t.Columns = append(t.Columns, term.Column{Title: "group", Elastic: true}, term.Column{Title: "topic", Elastic: true},
		term.Column{Title: "part", Number: true}, term.Column{Title: "U", Number: true}, term.Column{Title: "C", Number: true},
		term.Column{Title: "T", Number: true}, term.Column{Title: "MM2 gives", Number: true})
	if reRead {
		t.Columns = append(t.Columns, term.Column{Title: "re-read", Number: true, Optional: true})
	}
	t.Columns = append(t.Columns, term.Column{Title: "status"})
	if notes {
		t.Columns = append(t.Columns, term.Column{Title: "note"})
	}
	shown := rows
	if !p.o.Verbose && len(rows) > someRows+3 {
		shown = rows[:someRows]
	}
	for _, x := range shown {
		var cells []string
		if several {
			cells = append(cells, p.clean(x.Flow))
		}
		cells = append(cells, p.clean(x.Group), p.clean(x.Topic), strconv.Itoa(int(x.Partition)), fact(p.s, x.Committed.Source),
			fact(p.s, downstream(x.Checkpoint)), fact(p.s, x.Committed.Target), fact(p.s, x.MM2Expected))
		if reRead {
			cells = append(cells, fact(p.s, x.ReRead))
		}
		cells = append(cells, p.clean(x.Status))
		if notes {
			cells = append(cells, p.prose(x.Note))
		}
		t.Add(cells...)
	}
	title := "Partitions with a problem: "
	switch {
	case p.o.Verbose:
		title = "Partitions: "
	case faulty == 0:
		title = "Partitions that cannot be judged: "
	case unsure > 0:
		title = "Partitions with a problem or not judged: "
	}
	p.blank()
	p.hang("", 0, title+p.s.Number(int64(len(rows)))+" of "+p.s.Number(int64(max(p.r.Summary.Rows, len(p.r.Partitions))))+
		" (U on source, C checkpoint, T on target; ? not known)")
	if err := t.Render(&p.b, p.s); err != nil {
		return err
	}
	if n := len(rows) - len(shown); n > 0 {
		p.line("  " + p.s.Ellipsis() + " " + p.s.Number(int64(n)) + " more (-v)")
	}
	return nil
}

// someRows keeps the diagnosis on the screen: the rows below it are mostly alike.
const someRows = 10

// rank puts what is faulty first and what is meant to be so last.
func rank(x *diagnose.Row) int {
	switch x.Disposition {
	case diagnose.Faulty:
		return 0
	case diagnose.Unsure:
		return 1
	case diagnose.Intended:
		return 3
	}
	return 2
}

// downstream is the translated offset of a checkpoint.
func downstream(c snapshot.Fact[diagnose.Pair]) snapshot.Fact[int64] {
	pair, state := c.Get()
	switch state {
	case snapshot.Known:
		return snapshot.Is(pair.Downstream)
	case snapshot.Absent:
		return snapshot.None[int64]()
	}
	return snapshot.NotKnown[int64](c.Why())
}
