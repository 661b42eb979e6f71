package render

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mm2doctor/mm2doctor/diagnose"
)

const schemaFile = "../../docs/schema/report.schema.json"

// compile gives the published schema; strict also forbids keys that it does not describe, so that no key of the report
// goes undocumented. Readers get the open form: additions must not break them.
func compile(t *testing.T, strict bool) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if strict {
		closeObjects(doc)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeObjects(node any) {
	switch n := node.(type) {
	case map[string]any:
		for _, child := range n {
			closeObjects(child)
		}
		// A schema is told from a map of properties by its type being a word or a list of words.
		_, isMap := n["properties"].(map[string]any)
		_, typed := n["type"].(map[string]any)
		if isMap && !typed && n["type"] != nil {
			if _, set := n["additionalProperties"]; !set {
				n["additionalProperties"] = false
			}
		}
	case []any:
		for _, child := range n {
			closeObjects(child)
		}
	}
}

func asJSON(t *testing.T, r *diagnose.Report) any {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReportsMatchTheSchema(t *testing.T) {
	open, strict := compile(t, false), compile(t, true)
	for name, make := range reports {
		v := asJSON(t, make())
		if err := open.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := strict.Validate(v); err != nil {
			t.Errorf("%s has keys that the schema does not describe: %v", name, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	open, strict := compile(t, false), compile(t, true)
	for name, change := range map[string]func(m map[string]any){
		"a missing list":       func(m map[string]any) { delete(m, "notChecked") },
		"null for a list":      func(m map[string]any) { m["findings"] = nil },
		"another verdict":      func(m map[string]any) { m["summary"].(map[string]any)["verdict"] = "fine" },
		"a link that is no":    func(m map[string]any) { m["summary"].(map[string]any)["link"] = json.Number("5") },
		"an unmarked unknown":  func(m map[string]any) { first(m, "partitions")["exact"] = map[string]any{"$unknown": nil} },
		"a status of no code":  func(m map[string]any) { first(m, "partitions")["status"] = "bad" },
		"a finding without id": func(m map[string]any) { delete(first(m, "findings"), "id") },
	} {
		m := asJSON(t, broken()).(map[string]any)
		change(m)
		if err := open.Validate(m); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	m := asJSON(t, broken()).(map[string]any)
	first(m, "findings")["later"] = "addition"
	if err := open.Validate(m); err != nil {
		t.Errorf("the schema must allow additions: %v", err)
	}
	if err := strict.Validate(m); err == nil || !strings.Contains(err.Error(), "later") {
		t.Errorf("the strict form must not: %v", err)
	}
}

func first(m map[string]any, list string) map[string]any {
	return m[list].([]any)[0].(map[string]any)
}
