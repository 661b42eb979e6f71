package render

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mm2doctor/mm2doctor/translate/plan"
)

const schemas = "../../docs/schema/"

// compile gives a published schema. Strict also forbids keys that it does not describe, so that none goes undocumented; readers get
// the open form, as additions must not break them.
func compile(t *testing.T, name string, strict bool) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, file := range []string{"report.schema.json", name} {
		data, err := os.ReadFile(schemas + file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if strict && file == name {
			closeObjects(doc)
		}
		if err := c.AddResource(doc.(map[string]any)["$id"].(string), doc); err != nil {
			t.Fatal(err)
		}
		if file == name {
			s, err := c.Compile(doc.(map[string]any)["$id"].(string))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	return nil
}

func closeObjects(node any) {
	switch n := node.(type) {
	case map[string]any:
		for _, child := range n {
			closeObjects(child)
		}
		_, isMap := n["properties"].(map[string]any)
		_, typed := n["type"].(map[string]any)
		if isMap && !typed && n["type"] != nil {
			n["additionalProperties"] = false
		}
	case []any:
		for _, child := range n {
			closeObjects(child)
		}
	}
}

func validate(t *testing.T, schema string, write func(*bytes.Buffer) error) {
	t.Helper()
	for _, strict := range []bool{false, true} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := compile(t, schema, strict).Validate(v); err != nil {
			t.Errorf("%s, strict %v: %v", schema, strict, err)
		}
		var broken map[string]any
		raw, _ := json.Marshal(v)
		if err := json.Unmarshal(raw, &broken); err != nil {
			t.Fatal(err)
		}
		delete(broken, "groups")
		if compile(t, schema, strict).Validate(broken) == nil {
			t.Errorf("%s, strict %v: takes an object without groups", schema, strict)
		}
	}
}

func TestPlansMatchTheSchema(t *testing.T) {
	plans := map[string]func(*testing.T) *plan.Plan{"base": base, "many": many, "hostile": hostile}
	for _, slug := range []string{"direction-contradicts", "refused-active-group", "seems-consumed", "type-conflict", "unmapped", "will-not-hold-while-mm2-runs", "would-rewind", "would-skip"} {
		plans[slug] = func(t *testing.T) *plan.Plan { return situation(t, slug) }
	}
	for name, make := range plans {
		t.Run(name, func(t *testing.T) {
			p := make(t)
			p.Seal()
			validate(t, "plan.schema.json", func(b *bytes.Buffer) error { return JSON(b, p) })
		})
	}
}

func TestOutcomesMatchTheSchema(t *testing.T) {
	o := outcome()
	o.SchemaVersion, o.Direction = 1, "forward"
	validate(t, "outcome.schema.json", func(b *bytes.Buffer) error { return OutcomeJSON(b, o) })
}
