package fix

import (
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// editor gives the edits that repair a finding in a text; none where it is not safe.
type editor func(b []byte, f *finding.Finding) ([]confdoc.Edit, error)

// What is repaired unseen: the text says beyond doubt what was meant, and the setting works only after it. Whatever chooses a number,
// or switches on what nobody wrote, is left to people. Two values for one key, and a new name that stands there already, are left alone.
var (
	inProperties = map[string]editor{"comment-after-value": liftComment, "trailing-whitespace": setProperty, "quoted-value": setProperty, "malformed-value": otherCase(setProperty),
		"duplicate-key": removeEqual, "misspelt-key": renameProperty, "removed-key": renameProperty, "wrong-prefix": renameProperty}
	inTree = map[string]editor{"quoted-value": setField, "malformed-value": otherCase(setField), "misspelt-key": renameField, "removed-key": renameField, "strimzi-unknown-field": renameField}
)

func liftComment(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
	value, ok := written(f)
	if !ok {
		return nil, nil
	}
	return confdoc.LiftComment(f.Subject.File, b, f.Subject.Line, value)
}

func setProperty(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
	value, ok := written(f)
	p, _ := confdoc.ParseProperties(f.Subject.File, b)
	if e, there := p.Lookup(f.Subject.Key); !ok || !there || e.Line != f.Subject.Line {
		return nil, nil // another entry of the key is in force
	}
	return confdoc.SetProperty(f.Subject.File, b, f.Subject.Key, value, 0)
}

func removeEqual(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
	p, _ := confdoc.ParseProperties(f.Subject.File, b)
	last, ok := p.Lookup(f.Subject.Key)
	i := -1 // each finding takes out the entry before its own, so that the last remains
	for at, e := range p.Entries {
		if e.Key == f.Subject.Key && e.Line < f.Subject.Line {
			i = at
		}
	}
	if !ok || i < 0 || p.Entries[i].Value != last.Value {
		return nil, nil // two values: which one is meant nobody knows
	}
	return confdoc.RemoveProperty(f.Subject.File, b, p.Entries[i].Line)
}

// namesCopies: a setting that comes into force and gives all copies of a running flow other names, or chooses other topics, is not made unseen.
func namesCopies(name string) bool {
	for _, s := range []string{"replication.policy.separator", "replication.policy.class", "topics"} {
		if name == s || strings.HasSuffix(name, "."+s) {
			return true
		}
	}
	return false
}

func renameProperty(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
	name, ok := renamed(f)
	p, _ := confdoc.ParseProperties(f.Subject.File, b)
	e, there := p.Lookup(f.Subject.Key)
	if _, taken := p.Lookup(name); !ok || taken || !there || e.Line != f.Subject.Line {
		return nil, nil
	}
	return confdoc.RenameProperty(f.Subject.File, b, e.Line, name)
}

// otherCase lets through repairs that change nothing but capitals.
func otherCase(edit editor) editor {
	return func(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
		value, ok := written(f)
		if !ok || !strings.Contains(f.Because, "capitals") && !strings.Contains(f.Because, "must be written "+value) {
			return nil, nil
		}
		return edit(b, f)
	}
}

func setField(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
	value, ok := written(f)
	doc, path, field := fieldAt(b, f)
	if !ok || field == nil || !field.Value.Is(confdoc.String) {
		return nil, nil
	}
	return confdoc.SetField(f.Subject.File, b, doc, path, confdoc.Scalar{Kind: confdoc.String, Text: value})
}

func renameField(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
	name, ok := renamed(f)
	doc, path, field := fieldAt(b, f)
	if !ok || field == nil || !strings.HasSuffix(f.Subject.Key, field.Key) || name == "" {
		return nil, nil
	}
	name = strings.TrimPrefix(name, strings.TrimSuffix(f.Subject.Key, field.Key)) // what stands before it in the resource
	return confdoc.RenameField(f.Subject.File, b, doc, path, name)
}

// fieldAt finds the field of a JSON or YAML text that a finding is about.
func fieldAt(b []byte, f *finding.Finding) (doc int, path []string, field *confdoc.Field) {
	docs, err := confdoc.ParseTree(f.Subject.File, b)
	if err != nil {
		return 0, nil, nil // such as template text
	}
	for i, d := range docs {
		d.Root.Walk(func(p []string, x confdoc.Field) {
			if field == nil && x.Line == f.Subject.Line && x.Column == f.Subject.Column && !x.Duplicate {
				doc, path, field = i, p, &x
			}
		})
	}
	return doc, path, field
}

// written is the value that the first fix writes.
func written(f *finding.Finding) (string, bool) {
	if len(f.Fixes) == 0 || len(f.Fixes[0].Steps) == 0 || len(f.Fixes[0].Steps[0].Properties) != 1 {
		return "", false
	}
	value, ok := f.Fixes[0].Steps[0].Properties[0].Value.(string)
	return value, ok
}

// renamed is the new name that the first fix gives the key, where nothing else can be meant.
func renamed(f *finding.Finding) (string, bool) {
	if len(f.Fixes) == 0 || len(f.Fixes[0].Steps) == 0 || f.Fixes[0].Steps[0].Rename == "" {
		return "", false
	}
	return f.Fixes[0].Steps[0].Rename, true
}

// newNames counts findings that would give keys of one file the same new name: which of their values is meant nobody knows.
func newNames(found []finding.Finding) map[string]int {
	out := map[string]int{}
	for i := range found {
		if n := newName(&found[i]); n != "" {
			out[n]++
		}
	}
	return out
}

func newName(f *finding.Finding) string {
	if name, ok := renamed(f); ok {
		return f.Subject.File + "\x00" + name
	}
	return ""
}

// mostRead bounds how much text is read to prove the edits of one text, in bytes: each proof reads it whole. The findings of a
// text of 10 KB that are past it are those after the 1,600th; --fix comes to them when it looks again.
const mostRead = 16 << 20

// mixedBlocks are keys of a block that was written behind the wrong alias. Its lines that are equal by chance belong to it: without them
// nobody would see any more what was meant.
func mixedBlocks(found []finding.Finding) map[string]bool {
	out := map[string]bool{}
	for _, f := range found {
		if f.Slug != "credentials-overwritten" {
			continue
		}
		for _, s := range f.Subjects {
			out[s.File+"\x00"+s.Key] = true
		}
	}
	return out
}

// Safe gives edits to the first fix of findings whose repair is safe to make unseen. found is not changed.
func Safe(texts []Text, found []finding.Finding) []finding.Finding {
	out := slices.Clone(found)
	at := make(map[string]int, len(texts))
	for i := len(texts) - 1; i >= 0; i-- {
		at[texts[i].Name] = i
	}
	kinds := map[int]confdoc.Kind{} // of the texts that a repair looks at
	spent := map[int]int{}
	mixed, names := mixedBlocks(found), newNames(found)
	for i := range out {
		f := &out[i]
		t, ok := at[f.Subject.File]
		if !ok || f.Slug == "duplicate-key" && mixed[f.Subject.File+"\x00"+f.Subject.Key] || len(f.Fixes) == 0 || inProperties[f.Slug] == nil && inTree[f.Slug] == nil {
			continue
		}
		kind, known := kinds[t]
		if !known {
			kind = confdoc.Sniff(texts[t].Bytes)
			kinds[t] = kind
		}
		edit := inTree[f.Slug]
		if kind == confdoc.KindProperties {
			edit = inProperties[f.Slug]
		}
		if name, _ := renamed(f); edit == nil || namesCopies(name) || kind == confdoc.KindProperties && names[newName(f)] > 1 {
			continue
		}
		cost := len(texts[t].Bytes)
		if kind != confdoc.KindProperties {
			cost *= 8 // YAML is that much slower to read
		}
		if spent[t] += cost; spent[t] > mostRead {
			continue
		}
		edits, err := edit(texts[t].Bytes, f)
		if err != nil || len(edits) == 0 {
			continue // the fix stays, in words
		}
		f.Fixes = slices.Clone(f.Fixes)
		f.Fixes[0].Edits = edits
	}
	return out
}
