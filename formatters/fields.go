package formatters

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// fields reads the classic protocol types, big-endian: int16, int32, int64, and strings with an int16 length in bytes. It
// stops at the first fault; later reads give zero values.
type fields struct {
	kind Kind
	part string
	size int
	rest []byte
	err  *RecordError
}

func open(k Kind, part string, b []byte) fields {
	f := fields{kind: k, part: part, size: len(b), rest: b}
	if b == nil {
		f.err = null(k, part)
	}
	return f
}

func (f *fields) take(name string, n int) []byte {
	if f.err != nil {
		return nil
	}
	if len(f.rest) < n {
		f.err = &RecordError{f.kind, Short, f.part, fmt.Sprintf(
			"the %s is too short: field %s needs %d bytes, %d of %d are left", f.part, name, n, len(f.rest), f.size)}
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *fields) int16(name string) int16 {
	if b := f.take(name, 2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (f *fields) int32(name string) int32 {
	if b := f.take(name, 4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (f *fields) int64(name string) int64 {
	if b := f.take(name, 8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (f *fields) string(name string) string {
	n := f.int16(name)
	if f.err == nil && n < 0 {
		f.err = &RecordError{f.kind, Foreign, f.part, fmt.Sprintf("field %s of the %s has the length %d", name, f.part, n)}
	}
	b := f.take(name, int(n))
	if f.err == nil && !utf8.Valid(b) {
		f.err = &RecordError{f.kind, Foreign, f.part, fmt.Sprintf("field %s of the %s is not text (UTF-8)", name, f.part)}
	}
	return string(b)
}

// foreign marks the record as another program's unless a fault is known already.
func (f *fields) foreign(format string, args ...any) {
	if f.err == nil {
		f.err = &RecordError{f.kind, Foreign, f.part, fmt.Sprintf(format, args...)}
	}
}

func appendString(b []byte, name, s string) ([]byte, error) {
	if len(s) > 1<<15-1 {
		return nil, fmt.Errorf("field %s has %d bytes, 32767 fit", name, len(s))
	}
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("field %s is not text (UTF-8)", name)
	}
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...), nil
}
