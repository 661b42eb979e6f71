package term

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/tw"
)

// MaxRows is how many rows a table shows. More do not help a reader, and tablewriter needs seconds for 100,000.
const MaxRows = 50

// Column is one column. Number columns are right-aligned and never cut. On a terminal that is too narrow Elastic ones may
// lose their middle, and Optional ones disappear before that.
type Column struct {
	Title    string
	Number   bool
	Elastic  bool
	Optional bool
}

// Table collects rows and prints them without lines, two spaces between columns.
type Table struct {
	Columns []Column
	Indent  int    // spaces before each line
	More    string // follows "… N more " when rows were left out, e.g. "(-o csv)"

	rows [][]string
	left int
}

// Add appends a row of cleaned cells; beyond MaxRows it only counts.
func (t *Table) Add(cells ...string) {
	if len(t.rows) >= MaxRows {
		t.left++
		return
	}
	t.rows = append(t.rows, cells)
}

// Len is the number of rows added, shown or not.
func (t *Table) Len() int { return len(t.rows) + t.left }

// Render prints the table; an empty one prints nothing. It fails only when w does, or on a row of a wrong length.
func (t *Table) Render(w io.Writer, s Screen) error {
	if len(t.rows) == 0 {
		return nil
	}
	for i, row := range t.rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("table row %d has %d cells for %d columns", i, len(row), len(t.Columns))
		}
	}
	shown := t.dropped(s)
	var b strings.Builder
	if err := shown.draw(&b, shown.fit(s)); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, " \n")
		if line == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s%s\n", spaces(t.Indent), line); err != nil {
			return err
		}
	}
	if t.left > 0 {
		more := strings.TrimRight(fmt.Sprintf("%s %s more %s", s.Ellipsis(), s.Number(int64(t.left)), t.More), " ")
		if _, err := fmt.Fprintf(w, "%s%s\n", spaces(t.Indent), more); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) draw(b *strings.Builder, rows [][]string) error {
	// The table's own guess from the locale would make columns differ between two machines.
	twwidth.SetCondition(widths)
	align := make([]tw.Align, len(t.Columns))
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		align[i], titles[i] = tw.AlignLeft, c.Title
		if c.Number {
			align[i] = tw.AlignRight
		}
	}
	table := tablewriter.NewTable(b,
		tablewriter.WithRendition(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "  ", Overwrite: true}),
		tablewriter.WithAlignment(align),
	)
	table.Header(titles)
	for _, row := range rows {
		if err := table.Append(row); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// dropped gives the table without the optional columns that do not fit, the last one first.
func (t *Table) dropped(s Screen) *Table {
	out := *t
	for i := len(t.Columns) - 1; i >= 0 && s.Limit > 0; i-- {
		if _, total := out.widths(); total <= s.Limit {
			break
		}
		if !t.Columns[i].Optional {
			continue
		}
		out.Columns = without(out.Columns, i)
		rows := make([][]string, len(out.rows))
		for r, row := range out.rows {
			rows[r] = without(row, i)
		}
		out.rows = rows
	}
	return &out
}

func without[T any](list []T, i int) []T {
	return append(append(make([]T, 0, len(list)-1), list[:i]...), list[i+1:]...)
}

// widths gives the columns' widths and that of the whole table.
func (t *Table) widths() (width []int, total int) {
	width = make([]int, len(t.Columns))
	total = t.Indent + 2*(len(t.Columns)-1)
	for i, c := range t.Columns {
		width[i] = Columns(c.Title)
		for _, row := range t.rows {
			width[i] = max(width[i], Columns(row[i]))
		}
		total += width[i]
	}
	return width, total
}

// fit shortens the widest elastic cells until the table fits the screen's limit, to 12 columns at the least.
func (t *Table) fit(s Screen) [][]string {
	if s.Limit <= 0 {
		return t.rows
	}
	width, total := t.widths()
	const least = 12
	for total > s.Limit {
		widest := -1
		for i, c := range t.Columns {
			if c.Elastic && width[i] > least && (widest < 0 || width[i] > width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		width[widest]--
		total--
	}
	out := make([][]string, len(t.rows))
	for r, row := range t.rows {
		out[r] = append([]string(nil), row...)
		for i, c := range t.Columns {
			if c.Elastic {
				out[r][i] = s.Shorten(row[i], width[i])
			}
		}
	}
	return out
}
