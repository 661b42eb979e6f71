package fix

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// safe are the slugs whose repair is made unseen: the text says beyond doubt what was meant, and the setting works only after it. Whatever
// switches something on, renames or chooses a number is left to people.
var safe = map[string]func(b []byte, f *finding.Finding) ([]confdoc.Edit, error){
	"comment-after-value": func(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
		value, ok := written(f)
		if !ok {
			return nil, nil
		}
		return confdoc.LiftComment(f.Subject.File, b, f.Subject.Line, value)
	},
	"trailing-whitespace": func(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
		value, ok := written(f)
		p, _ := confdoc.ParseProperties(f.Subject.File, b)
		if e, there := p.Lookup(f.Subject.Key); !ok || !there || e.Line != f.Subject.Line {
			return nil, nil // another entry of the key is in force
		}
		return confdoc.SetProperty(f.Subject.File, b, f.Subject.Key, value, 0)
	},
	"duplicate-key": func(b []byte, f *finding.Finding) ([]confdoc.Edit, error) {
		p, _ := confdoc.ParseProperties(f.Subject.File, b)
		last, ok := p.Lookup(f.Subject.Key)
		i := slices.IndexFunc(p.Entries, func(e confdoc.Entry) bool { return e.Duplicate && e.Key == f.Subject.Key })
		if !ok || i < 0 || p.Entries[i].Value != last.Value {
			return nil, nil // two values: which one is meant nobody knows
		}
		return confdoc.RemoveProperty(f.Subject.File, b, p.Entries[i].Line)
	},
}

// written is the value that the first fix writes.
func written(f *finding.Finding) (string, bool) {
	if len(f.Fixes) == 0 || len(f.Fixes[0].Steps) == 0 || len(f.Fixes[0].Steps[0].Properties) != 1 {
		return "", false
	}
	value, ok := f.Fixes[0].Steps[0].Properties[0].Value.(string)
	return value, ok
}

// Safe gives edits to the first fix of findings in properties files whose repair is safe to make unseen. found is not changed.
func Safe(texts []Text, found []finding.Finding) []finding.Finding {
	out := slices.Clone(found)
	for i := range out {
		f := &out[i]
		edit := safe[f.Slug]
		at := slices.IndexFunc(texts, func(t Text) bool { return t.Name == f.Subject.File })
		if edit == nil || at < 0 || len(f.Fixes) == 0 || confdoc.Sniff(texts[at].Bytes) != confdoc.KindProperties {
			continue
		}
		edits, err := edit(texts[at].Bytes, f)
		if err != nil || len(edits) == 0 {
			continue // the fix stays, in words
		}
		f.Fixes = slices.Clone(f.Fixes)
		f.Fixes[0].Edits = edits
	}
	return out
}
