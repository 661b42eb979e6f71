// Package fix makes the repairs that are safe to make unseen: those whose fixes carry edits.
//
// What may enter: which repairs are safe, choosing edits, making them in texts, looking again. No file is touched.
package fix

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// Text is one file.
type Text struct {
	Name  string
	Bytes []byte
}

// Result is what has become of the texts.
type Result struct {
	Texts []Text // as given, with the edits made
	Made  []finding.Finding
	Left  []finding.Finding // of the last look
}

// rounds bounds how often edits give rise to further ones.
const rounds = 20

// All makes the edits of all findings, looks again, and goes on until nothing is left to make. Of edits that exclude each other
// those of the earlier finding are made, and the look after that decides about the rest. A finding whose edits were made once and that is
// there still is left alone.
func All(texts []Text, look func([]Text) []finding.Finding) (Result, error) {
	r := Result{Texts: append([]Text(nil), texts...), Left: look(texts)}
	made := map[string]bool{}
	for range rounds {
		var groups [][]confdoc.Edit
		var of []finding.Finding
		for _, f := range r.Left {
			if edits := editsOf(&f); len(edits) > 0 && !made[id(&f)] {
				groups, of = append(groups, edits), append(of, f)
			}
		}
		edits, taken := confdoc.Choose(groups)
		if len(edits) == 0 {
			return r, nil
		}
		texts, err := applied(r.Texts, edits)
		if err != nil {
			return r, err
		}
		left := look(texts)
		awake := false
		for i := range of {
			if taken[i] && awakes(&of[i], r.Left, left) {
				made[id(&of[i])], awake = true, true // never again
			}
		}
		if awake {
			look(r.Texts) // the last look is at what is given back
			continue
		}
		for i := range of {
			if taken[i] {
				made[id(&of[i])] = true
				r.Made = append(r.Made, of[i])
			}
		}
		r.Texts, r.Left = texts, left
	}
	return r, nil
}

// applied makes edits in copies of the texts.
func applied(texts []Text, edits []confdoc.Edit) ([]Text, error) {
	out := append([]Text(nil), texts...)
	for i, t := range texts {
		var own []confdoc.Edit
		for _, e := range edits {
			if e.File == t.Name {
				own = append(own, e)
			}
		}
		b, err := confdoc.Apply(t.Bytes, own)
		if err != nil {
			return nil, err
		}
		out[i].Bytes = b
	}
	return out, nil
}

// awakes says that a new name, or a value without its quotes, brings something into force that is an error itself: asleep it did no harm.
func awakes(f *finding.Finding, before, after []finding.Finding) bool {
	name, ok := renamed(f)
	if !ok {
		name = f.Subject.Key
	}
	worse := func(fs []finding.Finding) int {
		n := 0
		for _, x := range fs {
			if x.Severity == finding.Error && x.Subject.File == f.Subject.File && strings.HasSuffix(x.Subject.Key, name) {
				n++
			}
		}
		return n
	}
	return worse(after) > worse(before)
}

// editsOf gives the edits of the first fix that has some.
func editsOf(f *finding.Finding) []confdoc.Edit {
	for _, x := range f.Fixes {
		if len(x.Edits) > 0 {
			return x.Edits
		}
	}
	return nil
}

func id(f *finding.Finding) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s", f.ID, f.Slug, f.Flow, f.Subject.File, f.Subject.Key)
}

// Diff writes what All has changed as unified diffs. secret marks lines that are left out where they did not change.
func Diff(before, after []Text, secret func(string) bool) (string, error) {
	out := ""
	for i, t := range before {
		d, err := confdoc.Diff(t.Name, t.Bytes, confdoc.Between(t.Name, t.Bytes, after[i].Bytes), secret)
		if err != nil {
			return "", err
		}
		out += d
	}
	return out, nil
}
