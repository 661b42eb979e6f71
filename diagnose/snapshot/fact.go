package snapshot

import (
	"encoding/json"
	"fmt"
)

// State says what is known of a fact.
type State uint8

// The zero state is Unknown: a fact that nobody filled in was not asked, and is never taken for absent.
const (
	Unknown State = iota
	Absent
	Known
)

// Gap says why a fact is not known. One gap stands for one failed request and is shared by all facts it hides.
type Gap struct {
	Code    string `json:"code"`              // "denied", "timeout", "unreachable", "unsupported", "not-asked", "coordinator", "failed"
	Cluster string `json:"cluster,omitempty"` // alias
	API     string `json:"api,omitempty"`     // the Kafka API or file that did not answer
	Why     string `json:"why"`               // the broker's words and plain words
}

// Failed says that the fact was asked for and the answer failed; else it was never asked, or no answer could decide.
func (g *Gap) Failed() bool {
	return g != nil && (g.Code == "denied" || g.Code == "timeout" || g.Code == "unreachable" || g.Code == "failed")
}

func (g *Gap) String() string {
	if g == nil {
		return "not asked"
	}
	s := g.Why
	if g.API != "" {
		s = g.API + ": " + s
	}
	if g.Cluster != "" {
		s = g.Cluster + ": " + s
	}
	return s
}

// Fact is a three-valued value: known, known to be absent, or not known (with the gap that hides it).
type Fact[T any] struct {
	v   T
	st  State
	gap *Gap
}

// Is makes a known fact.
func Is[T any](v T) Fact[T] { return Fact[T]{v: v, st: Known} }

// None makes a fact that is known to be absent.
func None[T any]() Fact[T] { return Fact[T]{st: Absent} }

// NotKnown makes an unknown fact; gap says why.
func NotKnown[T any](gap *Gap) Fact[T] { return Fact[T]{gap: gap} }

// Get gives the value and the state. The value is meaningful only when the state is Known.
func (f Fact[T]) Get() (T, State) { return f.v, f.st }

// Or gives the value, or d when it is not known.
func (f Fact[T]) Or(d T) T {
	if f.st == Known {
		return f.v
	}
	return d
}

// Known, Absent and Unknown test the state.
func (f Fact[T]) Known() bool   { return f.st == Known }
func (f Fact[T]) Absent() bool  { return f.st == Absent }
func (f Fact[T]) Unknown() bool { return f.st == Unknown }

// State gives the state alone.
func (f Fact[T]) State() State { return f.st }

// Why gives the gap of an unknown fact; nil when it was not asked, or is known.
func (f Fact[T]) Why() *Gap { return f.gap }

// IsZero lets encoding/json leave out a fact that was never asked (omitzero).
func (f Fact[T]) IsZero() bool { return f.st == Unknown && f.gap == nil }

type gapJSON struct {
	Gap *Gap `json:"$unknown"`
}

// MarshalJSON writes the value, null for absence, {"$unknown": gap} for what is not known.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	switch f.st {
	case Known:
		return json.Marshal(f.v)
	case Absent:
		return []byte("null"), nil
	}
	return json.Marshal(gapJSON{f.gap})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Fact[T]) UnmarshalJSON(b []byte) error {
	*f = Fact[T]{}
	if string(b) == "null" {
		f.st = Absent
		return nil
	}
	if len(b) > 0 && b[0] == '{' {
		var probe map[string]json.RawMessage
		if err := json.Unmarshal(b, &probe); err != nil {
			return err
		}
		if raw, ok := probe["$unknown"]; ok && len(probe) == 1 {
			if string(raw) == "null" {
				return nil
			}
			f.gap = &Gap{}
			return json.Unmarshal(raw, f.gap)
		}
	}
	if err := json.Unmarshal(b, &f.v); err != nil {
		return fmt.Errorf("fact: %w", err)
	}
	f.st = Known
	return nil
}
