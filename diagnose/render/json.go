// Package render turns a report into text, JSON and the decision tree.
//
// What may enter: one renderer per format, each a pure function of the report and of what the screen can show. No
// judgement: what a renderer leaves out for want of room it counts, and JSON leaves out nothing.
package render

import (
	"encoding/json"
	"io"
	"maps"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// JSON writes the report as one object and a line feed, the same bytes for the same report. A known fact is its value, a
// fact known to be absent is null, and one that is not known is left out and named in the row's "unknown". Lists of the
// envelope are never null. r is not changed.
func JSON(w io.Writer, r *diagnose.Report) error {
	out := *r
	out.Flows = listOf(r.Flows)
	for i := range out.Flows {
		f := &out.Flows[i]
		f.Source, f.Target = cluster(f.Source), cluster(f.Target)
		f.MM2.Generations = listOf(f.MM2.Generations)
	}
	out.Links = listOf(r.Links)
	out.Findings = listOf(r.Findings)
	out.NotChecked = listOf(r.NotChecked)
	out.Partitions = listOf(r.Partitions)
	for i := range out.Partitions {
		out.Partitions[i] = row(out.Partitions[i])
	}
	out.Skipped = append([]diagnose.SkippedGroups(nil), r.Skipped...)
	for i := range out.Skipped {
		out.Skipped[i].Some = listOf(out.Skipped[i].Some)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // "a->b" is a name people search for
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// listOf copies a list, and makes [] of none.
func listOf[T any](in []T) []T { return append(make([]T, 0, len(in)), in...) }

func cluster(c diagnose.ClusterInfo) diagnose.ClusterInfo {
	c.Bootstrap = listOf(c.Bootstrap)
	if c.ClusterID.Unknown() {
		c.ClusterID = snapshot.Fact[string]{}
	}
	return c
}

// row leaves the unknown facts out of a row and names them.
func row(p diagnose.Row) diagnose.Row {
	p.Unknown = maps.Clone(p.Unknown)
	if p.Unknown == nil {
		p.Unknown = map[string]string{}
	}
	leaveOut(p.Unknown, "committed.source", &p.Committed.Source)
	leaveOut(p.Unknown, "committed.target", &p.Committed.Target)
	leaveOut(p.Unknown, "sync", &p.Sync)
	leaveOut(p.Unknown, "checkpoint", &p.Checkpoint)
	leaveOut(p.Unknown, "mm2Expected", &p.MM2Expected)
	leaveOut(p.Unknown, "exact", &p.Exact)
	leaveOut(p.Unknown, "reRead", &p.ReRead)
	leaveOut(p.Unknown, "skipped", &p.SkippedRecs)
	leaveOut(p.Unknown, "gone", &p.Gone)
	leaveOut(p.Unknown, "notMirrored", &p.NotMirrored)
	return p
}

// leaveOut names an unknown fact by its path in the row. A reason that the engine already gave stays.
func leaveOut[T any](unknown map[string]string, name string, f *snapshot.Fact[T]) {
	if !f.Unknown() {
		return
	}
	if unknown[name] == "" {
		unknown[name] = f.Why().String()
	}
	*f = snapshot.Fact[T]{}
}

// codeOf is what a finding is called everywhere: MM2D-302, or MM2D-601/KAFKA-15905.
func codeOf(f *finding.Finding) string {
	if f.ID != "" {
		return f.ID
	}
	return f.Code.String()
}
