package term

// Symbol is a mark at the head of a line. A word always stands beside it, so nobody needs to know it.
type Symbol int

// Symbols.
const (
	None Symbol = iota
	OK
	Err
	Warn
	Unknown
	Moving
	Note
)

var symbols = [...]struct {
	unicode, ascii string
	style          Style
}{
	None:    {" ", "", Plain},
	OK:      {"✔", "OK", Good},
	Err:     {"✖", "ERR", Bad},
	Warn:    {"!", "WARN", Caution},
	Unknown: {"?", "??", Unsure},
	Moving:  {"~", "~", Unsure},
	Note:    {"i", "INFO", Faint},
}

// Mark gives the symbol padded to the width that all symbols have on this screen: one column, or four in ASCII.
func (s Screen) Mark(sym Symbol) string {
	if sym < None || sym > Note {
		sym = None
	}
	m := symbols[sym]
	if s.Unicode {
		return s.Paint(m.style, m.unicode)
	}
	return s.Paint(m.style, m.ascii) + spaces(s.MarkWidth()-len(m.ascii))
}

// MarkWidth is the width of a Mark in columns.
func (s Screen) MarkWidth() int {
	if s.Unicode {
		return 1
	}
	return 4
}

// Pick gives the first form where the locale can show it, else the second.
func (s Screen) Pick(unicode, ascii string) string {
	if s.Unicode {
		return unicode
	}
	return ascii
}

// Dash, Dot, Arrow and Ellipsis are the punctuation of all text output.
func (s Screen) Dash() string     { return s.Pick("—", "-") }
func (s Screen) Dot() string      { return s.Pick("·", "|") }
func (s Screen) Arrow() string    { return s.Pick("→", "->") }
func (s Screen) Ellipsis() string { return s.Pick("…", "...") }
