package formatters

import "fmt"

// Kind is one of MirrorMaker 2's three record kinds; the text is the word used in messages.
type Kind string

// The kinds.
const (
	OffsetSync Kind = "offset sync"
	Checkpoint Kind = "checkpoint"
	Heartbeat  Kind = "heartbeat"
)

// Fault says in which way a record is not of its kind.
type Fault uint8

// The faults. What MirrorMaker 2 does with them differs: a null breaks its readers in another way than a short field.
const (
	NullKey   Fault = 1 + iota
	NullValue       // a tombstone; MirrorMaker 2 never writes one
	Short           // a field lies beyond the end
	Foreign         // lengths or bytes that this kind cannot have: another program's record
)

// RecordError is a record that does not decode. Part is "key" or "value".
type RecordError struct {
	Kind   Kind
	Fault  Fault
	Part   string
	Reason string
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("not a MirrorMaker 2 %s: %s", e.Kind, e.Reason)
}

func null(k Kind, part string) *RecordError {
	f, why := NullKey, "the key is null, which MirrorMaker 2 never writes"
	if part == "value" {
		f, why = NullValue, "the value is null (a tombstone), which MirrorMaker 2 never writes"
	}
	return &RecordError{k, f, part, why}
}
