package diagnose

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// heldFact is one fact somewhere in a snapshot, with its place.
type heldFact struct {
	path  string
	value reflect.Value // addressable
}

// factsIn lists every fact of a snapshot that is known or known to be absent.
func factsIn(s *snapshot.Snapshot) []heldFact {
	var out []heldFact
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem(), path)
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
			}
		case reflect.Struct:
			if isFact(v.Type()) {
				if !v.MethodByName("Unknown").Call(nil)[0].Bool() {
					out = append(out, heldFact{path, v})
				}
				inner := v.FieldByName("v")
				walk(reflect.NewAt(inner.Type(), unsafe.Pointer(inner.UnsafeAddr())).Elem(), path)
				return
			}
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					walk(v.Field(i), path+"."+f.Name)
				}
			}
		}
	}
	walk(reflect.ValueOf(s), "")
	return out
}

func isFact(t reflect.Type) bool {
	return strings.HasPrefix(t.Name(), "Fact[") && strings.HasSuffix(t.PkgPath(), "/snapshot")
}

// knock makes the fact unknown and gives back what puts it right again.
func (f heldFact) knock() (undo func()) {
	old := reflect.New(f.value.Type()).Elem()
	old.Set(f.value)
	u := f.value.Addr().Interface().(json.Unmarshaler)
	if err := u.UnmarshalJSON([]byte(`{"$unknown":{"code":"timeout","why":"no answer within 60 s"}}`)); err != nil {
		panic(err)
	}
	return func() { f.value.Set(old) }
}

// TestKnockOut: a fact that is not known never makes an error that was not there, and a flow with a fault is never called
// healthy for want of the fact that proves it.
func TestKnockOut(t *testing.T) {
	// A flow that has just begun: without the facts that say so, nothing may be called broken either.
	all := allFixtures(t)
	if testing.Short() {
		all = fixturesOf(t, "bundle")
	}
	for _, f := range append(all, fixture{name: "young", snap: young(t, 20_000)}, fixture{name: "younger", snap: withoutCheckpoints(young(t, 20_000))}) {
		t.Run(f.name, func(t *testing.T) {
			base, _ := Run(f.snap, Options{})
			before := sayings(base)
			for _, fact := range factsIn(f.snap) {
				undo := fact.knock()
				r, _ := Run(f.snap, Options{})
				undo()
				for code, places := range sayings(r) {
					for pl, sev := range places {
						if sev == finding.Error && before[code][pl] < finding.Warning {
							t.Errorf("without %s: a new error %v of %v", fact.path, code, pl)
						}
					}
				}
				faulty := base.Summary.Verdict == Broken || base.Summary.Verdict == Degraded
				if r.Summary.Verdict != Healthy {
					continue
				}
				// Without the look before, one look says "moving", which is known.
				if faulty && !strings.HasPrefix(fact.path, ".Earlier") {
					t.Errorf("without %s: healthy, %d not checked", fact.path, len(r.NotChecked))
				}
				if lost := missingCodes(before, sayings(r)); len(lost) > 0 && len(r.NotChecked) == 0 {
					t.Errorf("without %s: %v is gone and everything was checked", fact.path, lost)
				}
			}
		})
	}
}

// withoutCheckpoints takes the checkpoints topic away, which is made a moment after the start, and what tells of the start in
// MirrorMaker 2's own topics.
func withoutCheckpoints(s *snapshot.Snapshot) *snapshot.Snapshot {
	f := &s.Flows[0]
	f.Checkpointed = snapshot.None[snapshot.Checkpoints]()
	gap := &snapshot.Gap{Code: "denied", Why: "TOPIC_AUTHORIZATION_FAILED"}
	f.Tasks, f.Running = snapshot.NotKnown[[]snapshot.TaskStatus](gap), snapshot.NotKnown[snapshot.Connectors](gap)
	sy, _ := f.Syncs.Get()
	sy.First = sy.Last
	f.Syncs = snapshot.Is(sy)
	return s
}

// missingCodes are codes that were said and are said no more.
func missingCodes(before, after said) []finding.Code {
	var out []finding.Code
	for c := range before {
		if len(after[c]) == 0 {
			out = append(out, c)
		}
	}
	return out
}
