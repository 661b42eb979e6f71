package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// JSON writes the plan as one object and a line feed. Lists are never null.
func JSON(w io.Writer, p *plan.Plan) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // "a->b" is a name people search for
	enc.SetIndent("", "  ")
	out := *p
	if out.Groups == nil {
		out.Groups = []plan.Group{}
	}
	if out.Findings == nil {
		out.Findings = []finding.Finding{}
	}
	if err := enc.Encode(&out); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

// CSV writes group,topic,partition,offset of all rows that are set or right, without a head, as kafka-consumer-groups.sh
// --reset-offsets --from-file reads it for several groups (2.6 and later). That tool reads line by line, so that a name with a line
// feed cannot be written; it is an error, and nothing is written.
func CSV(w io.Writer, p *plan.Plan) error {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	for i := range p.Groups {
		g := &p.Groups[i]
		for j := range g.Rows {
			r := &g.Rows[j]
			if !r.Wanting() {
				continue
			}
			if strings.ContainsAny(g.TargetGroup+r.TargetTopic, "\r\n") {
				return fmt.Errorf("group %q cannot be written as CSV for kafka-consumer-groups.sh, which reads line by line and would take it for two; use -o json", g.TargetGroup)
			}
			if err := c.Write([]string{g.TargetGroup, r.TargetTopic, strconv.Itoa(int(r.Partition)), strconv.FormatInt(*r.To, 10)}); err != nil {
				return fmt.Errorf("writing the plan as CSV: %w", err)
			}
		}
	}
	c.Flush()
	_, err := w.Write(b.Bytes())
	return err
}

// Rpk writes the rows of one group as rpk group seek GROUP --to-file reads them: topic, partition and offset with one blank
// between. group is its id on the cluster that is written.
func Rpk(w io.Writer, p *plan.Plan, group string) error {
	var b bytes.Buffer
	found := false
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.TargetGroup != group {
			continue
		}
		found = true
		for j := range g.Rows {
			if r := &g.Rows[j]; r.Wanting() {
				fmt.Fprintf(&b, "%s %d %d\n", r.TargetTopic, r.Partition, *r.To)
			}
		}
	}
	if !found {
		return fmt.Errorf("the plan has no group %q; rpk seeks one group at a time: name one of the plan's", group)
	}
	_, err := w.Write(b.Bytes())
	return err
}
