package plan

import "github.com/mm2doctor/mm2doctor/diagnose"

// Build makes the plan from the answers, which stand in the order of Positions. A missing answer is one that nobody could give. The
// plan is not sealed yet.
func Build(w *Wants, answers []Answer, tool diagnose.Tool) *Plan {
	return &Plan{SchemaVersion: SchemaVersion, Tool: tool, Command: "translate"}
}
