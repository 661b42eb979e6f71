package confdoc

import (
	"cmp"
	"fmt"
	"slices"
)

// Edit replaces the bytes from Start up to End of a file, as they stand on disk, by Text. Start = End inserts.
type Edit struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Conflict is two edits of one file that cannot both be made.
type Conflict struct{ First, Second Edit }

func (c *Conflict) Error() string {
	return fmt.Sprintf("%s: two edits of the same place (bytes %d-%d and %d-%d); make one of them, then look again", c.First.File, c.First.Start, c.First.End, c.Second.Start, c.Second.End)
}

// Apply makes the edits of one file; their order and their field File do not matter, and the same edit twice is one. Nothing is
// made when two edits touch the same bytes, or insert at the same place: which comes first would be a guess.
func Apply(b []byte, edits []Edit) ([]byte, error) {
	edits, err := ordered(edits)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(b))
	at := 0
	for _, e := range edits {
		if e.Start < 0 || e.End < e.Start || e.End > len(b) {
			return nil, fmt.Errorf("%s: an edit of bytes %d-%d does not fit a text of %d bytes; the file has changed, so look again", e.File, e.Start, e.End, len(b))
		}
		out = append(append(out, b[at:e.Start]...), e.Text...)
		at = e.End
	}
	return append(out, b[at:]...), nil
}

// ordered sorts the edits of one file by place and finds conflicts.
func ordered(edits []Edit) ([]Edit, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Text, b.Text))
	})
	edits = slices.CompactFunc(edits, func(a, b Edit) bool { return a.Start == b.Start && a.End == b.End && a.Text == b.Text })
	for i := 1; i < len(edits); i++ {
		if p, e := edits[i-1], edits[i]; e.Start < p.End || e.Start == p.Start {
			return nil, &Conflict{p, e}
		}
	}
	return edits, nil
}

// Choose takes as many groups of edits as go together, the first ones first. A group is made whole or not at all. taken[i]
// says whether groups[i] is; one that is not conflicts with one that is, and may be made when the others have been.
func Choose(groups [][]Edit) (edits []Edit, taken []bool) {
	taken = make([]bool, len(groups))
	byFile := map[string][]Edit{}
	for i, g := range groups {
		with := map[string][]Edit{}
		fits := true
		for _, e := range g {
			if with[e.File] == nil {
				with[e.File] = slices.Clone(byFile[e.File])
			}
			with[e.File] = append(with[e.File], e)
		}
		for _, list := range with {
			_, err := ordered(list)
			fits = fits && err == nil
		}
		if taken[i] = fits; !fits {
			continue
		}
		edits = append(edits, g...)
		for f, list := range with {
			byFile[f] = list
		}
	}
	return edits, taken
}

// Unsafe is an edit that is not made because its result could not be shown to mean what it should.
type Unsafe struct{ File, What, Why string }

func (e *Unsafe) Error() string {
	return fmt.Sprintf("%s: %s cannot be edited safely: %s; change it by hand", e.File, e.What, e.Why)
}

// lineEnd gives the line end of a text: that of its first line, "\n" where there is none.
func lineEnd(b []byte) string {
	for i, c := range b {
		switch {
		case c == '\n':
			return "\n"
		case c == '\r' && i+1 < len(b) && b[i+1] == '\n':
			return "\r\n"
		case c == '\r':
			return "\r"
		}
	}
	return "\n"
}
