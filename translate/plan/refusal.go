package plan

import (
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// Refusal keeps a group, or a partition of it, from being written.
type Refusal struct {
	Code    finding.Code
	Because string
	Next    string
}
