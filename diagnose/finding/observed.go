package finding

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Observed are names with values in the order they are to be read: the numbers that prove a finding, or the properties of
// a step. In JSON they are one object {"name": value} that keeps this order.
type Observed []snapshot.Named

// MarshalJSON writes an object in the order of the list. A name that comes again gets "#2", "#3": nothing is lost, and the
// object stays valid.
func (o Observed) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // "a->b" stays readable
	seen := make(map[string]int, len(o))
	b.WriteByte('{')
	for i, n := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name := n.Name
		if seen[n.Name]++; seen[n.Name] > 1 {
			name = fmt.Sprintf("%s#%d", n.Name, seen[n.Name])
		}
		if err := enc.Encode(name); err != nil {
			return nil, fmt.Errorf("observed name %q: %w", n.Name, err)
		}
		b.Truncate(b.Len() - 1) // the encoder's line feed
		b.WriteByte(':')
		if err := enc.Encode(n.Value); err != nil {
			return nil, fmt.Errorf("observed value of %q: %w", n.Name, err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object and keeps its order. Whole numbers become int64, other numbers float64.
func (o *Observed) UnmarshalJSON(data []byte) error {
	*o = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open == nil {
		return nil
	}
	if open != json.Delim('{') {
		return fmt.Errorf("observed: expected an object, found %v", open)
	}
	*o = Observed{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var v any
		if err := dec.Decode(&v); err != nil {
			return fmt.Errorf("observed value of %q: %w", key, err)
		}
		*o = append(*o, snapshot.Named{Name: key.(string), Value: plain(v)})
	}
	_, err = dec.Token()
	return err
}

func plain(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n.String()
}
