package diagnose

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

func bundleBytes(t testing.TB, s *snapshot.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bundle.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzRun: whatever bytes pass for a bundle, judging them does not panic.
func FuzzRun(f *testing.F) {
	for _, x := range fixturesOf(f, "bundle") {
		f.Add(bundleBytes(f, x.snap))
	}
	f.Add([]byte(`{"schemaVersion":1,"taken":0,"clusters":[],"flows":[{"source":"a","target":"a"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := bundle.Read("fuzz", bytes.NewReader(b))
		if err != nil {
			return
		}
		reportBytes(t, s)
	})
}

// TestMutatedBundles: a bundle with values that no cluster gives, or with parts missing, is refused or judged, without a panic.
func TestMutatedBundles(t *testing.T) {
	var docs []any
	for _, x := range fixturesOf(t, "bundle") {
		var v any
		if err := json.Unmarshal(bundleBytes(t, x.snap), &v); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, v)
	}
	judged := 0
	rapid.Check(t, func(t *rapid.T) {
		doc := rapid.SampledFrom(docs).Draw(t, "bundle")
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			doc = mutate(t, doc)
		}
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		s, err := bundle.Read("mutated", bytes.NewReader(b))
		if err != nil {
			return
		}
		judged++
		if _, err := json.Marshal(first(Run(s, Options{}))); err != nil {
			t.Fatal(err)
		}
	})
	if judged == 0 {
		t.Error("no mutated bundle was judged")
	}
}

func first(r *Report, _ []Ask) *Report { return r }

var odd = []any{nil, "", "x", -1.0, 0.0, 1e15, float64(math.MaxInt64), float64(math.MinInt64), true, []any{}, map[string]any{}, map[string]any{"$unknown": nil}}

// mutate gives a copy with one place changed.
func mutate(t *rapid.T, v any) any {
	if rapid.IntRange(0, 7).Draw(t, "here") == 0 {
		return rapid.SampledFrom(odd).Draw(t, "value")
	}
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 {
			return v
		}
		k := rapid.SampledFrom(sortedKeys(x)).Draw(t, "key")
		out := make(map[string]any, len(x))
		for n, e := range x {
			out[n] = e
		}
		if rapid.IntRange(0, 9).Draw(t, "drop") == 0 {
			delete(out, k)
		} else {
			out[k] = mutate(t, x[k])
		}
		return out
	case []any:
		if len(x) == 0 {
			return v
		}
		i := rapid.IntRange(0, len(x)-1).Draw(t, "index")
		out := append([]any{}, x...)
		switch rapid.IntRange(0, 9).Draw(t, "list") {
		case 0:
			return append(out[:i], out[i+1:]...)
		case 1:
			return append(out, out[i])
		}
		out[i] = mutate(t, x[i])
		return out
	}
	return rapid.SampledFrom(odd).Draw(t, "value")
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
