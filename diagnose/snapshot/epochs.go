package snapshot

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Stretch is a run of syncs of equal shift: both offsets of the first, how far the last lies after it, and the widest distance
// between two that follow each other.
type Stretch struct{ Up, Down, Span, Gap int64 }

// Epoch is the stretches of a time in which both offsets only grew, ascending. In JSON it is one text, "up,down,span,gap" for each
// stretch, with blanks between: there may be very many.
type Epoch []Stretch

// MarshalText gives the text form.
func (e Epoch) MarshalText() ([]byte, error) {
	out := make([]byte, 0, 24*len(e))
	for i, s := range e {
		if i > 0 {
			out = append(out, ' ')
		}
		for j, n := range [...]int64{s.Up, s.Down, s.Span, s.Gap} {
			if j > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendInt(out, n, 10)
		}
	}
	return out, nil
}

// UnmarshalText reads the text form; whether the numbers can be an epoch is not looked at.
func (e *Epoch) UnmarshalText(b []byte) error {
	var out Epoch
	for word := range strings.FieldsSeq(string(b)) {
		parts := strings.Split(word, ",")
		if len(parts) != 4 {
			return fmt.Errorf("%.40q is no stretch of offset syncs: want up,down,span,gap", word)
		}
		var n [4]int64
		for i, p := range parts {
			var err error
			if n[i], err = strconv.ParseInt(p, 10, 64); err != nil {
				return fmt.Errorf("%.40q is no stretch of offset syncs: %w", word, errors.Unwrap(err))
			}
		}
		out = append(out, Stretch{n[0], n[1], n[2], n[3]})
	}
	*e = out
	return nil
}

// LostEpochs is what is known of the oldest epochs that were given up: how many, the highest source offset in them, and the most
// records that one can have copied after its last sync.
type LostEpochs struct {
	Count int   `json:"count"`
	Top   int64 `json:"top"`
	Tail  int64 `json:"tail"`
}
