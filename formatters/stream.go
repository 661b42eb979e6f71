package formatters

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// MaxLine is the longest line that Read takes, in bytes: far more than any record of the three kinds can need.
const MaxLine = 1 << 20

// Entry is one decoded record, or one line that is none. Line counts from 1. Place is nil for text forms, which do not
// tell it. Of the three records the one that Kind names is filled, unless Err is set.
type Entry struct {
	Line       int
	Place      *Place
	Kind       Kind
	OffsetSync mm2.OffsetSync
	Checkpoint mm2.Checkpoint
	Heartbeat  mm2.Heartbeat
	Notes      Notes
	Err        error // *RecordError, *TextError or *LineError
}

// LineError is a line that is no record at all, such as a prompt or a tool's last words in pasted output.
type LineError struct{ Reason string }

func (e *LineError) Error() string { return "not a record: " + e.Reason }

// Read gives the records of one kind in r: lines of JSON objects {partition, offset, timestamp, key_b64, value_b64}, or
// lines of Kafka's text form, mixed as they come. Blank lines are passed over; every other line gives an Entry, with Err
// set when it is not of the kind. The second value is set once, at the end, when r itself fails.
func Read(r io.Reader, kind Kind) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines := bufio.NewReaderSize(r, 64<<10)
		for n := 1; ; n++ {
			line, long, err := readLine(lines)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Entry{Line: n, Kind: kind}, fmt.Errorf("reading line %d failed: %w", n, err))
				return
			}
			if long {
				if !yield(Entry{Line: n, Kind: kind, Err: &LineError{fmt.Sprintf("the line is longer than %d bytes", MaxLine)}}, nil) {
					return
				}
			} else if text := strings.TrimSpace(line); text != "" {
				e := Entry{Line: n, Kind: kind}
				e.decode(line)
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// readLine gives a line without its end; a long one is read to its end and dropped.
func readLine(r *bufio.Reader) (line string, long bool, err error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			b.Write(part)
		}
		long = long || b.Len() > MaxLine
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(b.String(), "\r\n"), long, err
		}
	}
}

func (e *Entry) decode(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed[0] == '{':
		e.decodeJSON(trimmed)
	case !IsText(trimmed):
		e.Err = &LineError{"it is neither a JSON object nor a line of Kafka's formatter"}
	case e.Kind == OffsetSync:
		e.OffsetSync, e.Err = ParseOffsetSync(line)
	case e.Kind == Checkpoint:
		e.Checkpoint, e.Err = ParseCheckpoint(line)
	case e.Kind == Heartbeat:
		e.Heartbeat, e.Err = ParseHeartbeat(line)
	}
}

// raw is a record as captures hold it. A null key or value is null there as well.
type raw struct {
	Partition *int32  `json:"partition"`
	Offset    *int64  `json:"offset"`
	Timestamp *int64  `json:"timestamp"`
	Key       *string `json:"key_b64"`
	Value     *string `json:"value_b64"`
}

func (e *Entry) decodeJSON(line string) {
	var r raw
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		e.Err = &LineError{"it is no JSON object with partition, offset, timestamp, key_b64 and value_b64: " + err.Error()}
		return
	}
	if r.Partition == nil || r.Offset == nil || r.Timestamp == nil {
		e.Err = &LineError{"the JSON object lacks partition, offset or timestamp"}
		return
	}
	e.Place = &Place{*r.Partition, *r.Offset, *r.Timestamp}
	key, err := unbase64("key_b64", r.Key)
	value, err2 := unbase64("value_b64", r.Value)
	if err = errors.Join(err, err2); err != nil {
		e.Err = &LineError{err.Error()}
		return
	}
	switch e.Kind {
	case OffsetSync:
		e.OffsetSync, e.Notes, e.Err = DecodeOffsetSync(key, value)
	case Checkpoint:
		e.Checkpoint, e.Notes, e.Err = DecodeCheckpoint(key, value)
	case Heartbeat:
		e.Heartbeat, e.Notes, e.Err = DecodeHeartbeat(key, value)
	}
}

func unbase64(name string, s *string) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	b, err := base64.StdEncoding.DecodeString(*s)
	if err != nil {
		return nil, fmt.Errorf("%s is not base64: %w", name, err)
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}

// Text gives the entry as Kafka's formatter of version v prints it; empty for an entry with Err.
func (e *Entry) Text(v mm2.Version) string {
	switch {
	case e.Err != nil:
	case e.Kind == OffsetSync:
		return OffsetSyncText(e.OffsetSync)
	case e.Kind == Checkpoint:
		return CheckpointText(e.Checkpoint, v)
	case e.Kind == Heartbeat:
		return HeartbeatText(e.Heartbeat)
	}
	return ""
}

// JSON gives the entry as one JSON object, also when it has Err.
func (e *Entry) JSON() []byte {
	switch {
	case e.Err != nil:
	case e.Kind == OffsetSync:
		return OffsetSyncJSON(e.OffsetSync, e.Notes, e.Place)
	case e.Kind == Checkpoint:
		return CheckpointJSON(e.Checkpoint, e.Notes, e.Place)
	case e.Kind == Heartbeat:
		return HeartbeatJSON(e.Heartbeat, e.Notes, e.Place)
	}
	err := e.Err
	if err == nil {
		err = &LineError{"its kind is not known"}
	}
	return BadJSON(e.Kind, err, e.Place)
}
