package render

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/lint"
)

// TestCheckBySchema: findings of configurations are reports by the published schema.
func TestCheckBySchema(t *testing.T) {
	names, err := filepath.Glob("../../fixtures/lint/*/bad.*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	schema := compile(t, true)
	for _, n := range names {
		if filepath.Ext(n) == ".txt" {
			continue
		}
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		r := &diagnose.Report{SchemaVersion: 1, Tool: diagnose.Tool{Name: "mm2doctor", Version: "x"}, Command: "check", Findings: lint.Run([]lint.File{{Name: n, Bytes: b}}, lint.Options{})}
		r.Summary.Verdict, r.Summary.Link = diagnose.Degraded, -1
		var out bytes.Buffer
		if err := JSON(&out, r); err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
}
