package render

import (
	"encoding/json"
	"io"

	"github.com/mm2doctor/mm2doctor/translate/apply"
)

func OutcomeJSON(w io.Writer, o *apply.Outcome) error             { return json.NewEncoder(w).Encode(o) }
func OutcomeText(w io.Writer, o *apply.Outcome, x Options) error  { return json.NewEncoder(w).Encode(o) }
func VerificationJSON(w io.Writer, o *apply.Verification) error   { return json.NewEncoder(w).Encode(o) }
func VerificationText(w io.Writer, o *apply.Verification, x Options) error {
	return json.NewEncoder(w).Encode(o)
}
