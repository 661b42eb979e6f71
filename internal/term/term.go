// Package term knows where output goes: streams, width, colour, symbols, wrapping and tables.
//
// What may enter: what makes text fit a terminal, a pipe or a file. Nothing about Kafka, nothing about reports. lipgloss and
// tablewriter are used here only, so that no other room depends on them.
package term

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"golang.org/x/term"
)

// Widths in columns. Prose is hard to read above MaxWidth, and nothing can be laid out below MinWidth.
const (
	DefaultWidth = 100 // of prose in pipes and files
	MaxWidth     = 120
	MinWidth     = 40
)

// Streams are the three standard streams of one run. Out carries the result; Err progress, warnings and prompts.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	Env func(string) string // os.Getenv, or a map in tests; never nil after Standard
}

// Standard gives the process's own streams.
func Standard() *Streams {
	return &Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv}
}

// CanPrompt tells whether a question would reach a person: both stdin and stderr are terminals.
func (s *Streams) CanPrompt() bool {
	_, in := terminal(s.In)
	_, err := terminal(s.Err)
	return in && err
}

// OutScreen and ErrScreen describe the two output streams.
func (s *Streams) OutScreen() Screen { return NewScreen(s.Out, s.Env) }
func (s *Streams) ErrScreen() Screen { return NewScreen(s.Err, s.Env) }

// Screen is what one writer can show. The zero value is a pipe of DefaultWidth in plain ASCII.
type Screen struct {
	Width   int  // columns for prose; 0 means DefaultWidth
	Limit   int  // columns that a table must fit, 0 for no limit: a pipe never loses a character of a name
	TTY     bool // a person is looking
	Colour  bool // only ever an addition to symbol and word
	Unicode bool // the locale can show more than ASCII

	styles map[Style]lipgloss.Style
}

// NewScreen finds out what w can show. Colour needs a terminal, or CLICOLOR_FORCE, and neither NO_COLOR nor TERM=dumb.
// The width is COLUMNS, else the terminal's, else DefaultWidth. env is usually os.Getenv.
func NewScreen(w io.Writer, env func(string) string) Screen {
	if env == nil {
		env = func(string) string { return "" }
	}
	fd, tty := terminal(w)
	s := Screen{TTY: tty, Colour: colour(tty, env), Unicode: unicodeLocale(env)}
	columns, err := strconv.Atoi(env("COLUMNS"))
	if (err != nil || columns <= 0) && tty {
		if columns, _, err = term.GetSize(fd); err != nil {
			columns = 0
		}
	}
	if columns > 0 {
		s.Width = min(max(columns, MinWidth), MaxWidth)
		if tty {
			s.Limit = max(columns, MinWidth)
		}
	}
	if s.Colour {
		s.styles = newStyles(w)
	}
	return s
}

// Columns is the width for prose, always positive.
func (s Screen) Columns() int {
	if s.Width <= 0 {
		return DefaultWidth
	}
	return s.Width
}

func terminal(stream any) (fd int, is bool) {
	f, ok := stream.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// colour follows no-color.org and bixense.com/clicolors. What says no wins over what says yes.
func colour(tty bool, env func(string) string) bool {
	if env("NO_COLOR") != "" || env("TERM") == "dumb" {
		return false
	}
	if force := env("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return tty && env("CLICOLOR") != "0"
}

// unicodeLocale looks at the locale's character set as setlocale(LC_CTYPE) does: the first variable that is set decides.
// Windows has no such variables, and its consoles show Unicode.
func unicodeLocale(env func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(key)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return runtime.GOOS == "windows"
}

// Style is a meaning that may have a colour.
type Style int

// Styles.
const (
	Plain Style = iota
	Strong
	Faint
	Good
	Caution
	Bad
	Unsure
)

// newStyles binds lipgloss to the writer. The profile is fixed: what w can do was decided already, and lipgloss must not ask
// the terminal again. Sixteen colours are enough, and they follow the reader's own theme.
func newStyles(w io.Writer) map[Style]lipgloss.Style {
	r := lipgloss.NewRenderer(w)
	r.SetColorProfile(termenv.ANSI)
	return map[Style]lipgloss.Style{
		Strong:  r.NewStyle().Bold(true),
		Faint:   r.NewStyle().Faint(true),
		Good:    r.NewStyle().Foreground(lipgloss.Color("2")),
		Caution: r.NewStyle().Foreground(lipgloss.Color("3")),
		Bad:     r.NewStyle().Foreground(lipgloss.Color("1")).Bold(true),
		Unsure:  r.NewStyle().Foreground(lipgloss.Color("6")),
	}
}

// Paint colours text of one line; without colour it gives the text unchanged.
func (s Screen) Paint(style Style, text string) string {
	st, ok := s.styles[style]
	if !s.Colour || !ok || text == "" {
		return text
	}
	return st.Render(text)
}
