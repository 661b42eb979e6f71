// Package render turns a plan into text for people and into files for Kafka's own tools.
//
// What may enter: one renderer per format, each a pure function of the plan and of what the screen can show. No judgement.
package render

import (
	"encoding/json"
	"io"

	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Options for text.
type Options struct {
	Screen  term.Screen
	Verbose bool   // all rows, evidence, and what MirrorMaker 2 would give
	Apply   string // the command that carries the plan out, to be shown as the next step; empty: none
}

// Text writes the plan for a person.
func Text(w io.Writer, p *plan.Plan, o Options) error { return nil }

// Sum is the plan in one line: "118 to set, 4 already right, 3 refused, re-read 0, skip 0".
func Sum(p *plan.Plan) string { return "" }

// JSON writes the plan as one object.
func JSON(w io.Writer, p *plan.Plan) error { e := json.NewEncoder(w); e.SetIndent("", " "); return e.Encode(p) }

// CSV writes group,topic,partition,offset of all rows that are set or right, as kafka-consumer-groups.sh --reset-offsets
// --from-file reads it for several groups.
func CSV(w io.Writer, p *plan.Plan) error { return nil }

// Rpk writes the rows of one group as rpk group seek --to-file reads them: topic partition offset.
func Rpk(w io.Writer, p *plan.Plan, group string) error { return nil }
