// Package bundle writes a snapshot to one file and reads it back.
//
// What may enter: readers and writers of the file format, its limits and its version. No file system, no clock.
package bundle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// MaxBytes is the largest snapshot that is read.
const MaxBytes = 1 << 30

// Is says by its content that a file is a snapshot: a JSON object that names schemaVersion, tool and clusters.
func Is(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\ufeff")
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	var head struct {
		SchemaVersion *int             `json:"schemaVersion"`
		Taken         *int64           `json:"taken"`
		Clusters      *json.RawMessage `json:"clusters"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return bytes.Contains(b[:min(len(b), 400)], []byte(`"schemaVersion"`)) && bytes.Contains(b[:min(len(b), 400)], []byte(`"taken"`))
	}
	return head.SchemaVersion != nil && head.Taken != nil && head.Clusters != nil
}

// Write gives snapshot.json: indented, in a fixed order, the same bytes for the same snapshot.
func Write(w io.Writer, s *snapshot.Snapshot) error {
	bw := bufio.NewWriter(w)
	e := json.NewEncoder(bw)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return bw.Flush()
}

// Read reads a snapshot. name stands in the error texts.
func Read(name string, r io.Reader) (*snapshot.Snapshot, error) { return read(name, r, MaxBytes) }

func read(name string, r io.Reader, limit int64) (*snapshot.Snapshot, error) {
	counted := &io.LimitedReader{R: r, N: limit + 1}
	br := bufio.NewReader(counted)
	if mark, _ := br.Peek(3); string(mark) == "\ufeff" {
		br.Discard(3)
	}
	d := json.NewDecoder(br)
	var s snapshot.Snapshot
	err := d.Decode(&s)
	var more any
	if err == nil {
		if err = d.Decode(&more); errors.Is(err, io.EOF) {
			err = nil
		} else {
			err = errors.New("more follows after the snapshot")
		}
	}
	if counted.N <= 0 {
		return nil, fmt.Errorf("%s: larger than %d bytes, the most that is read; capture it again with --group or --flow", name, limit)
	}
	if err != nil {
		var syn *json.SyntaxError
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%s: not a whole snapshot: the file is cut off; capture it again", name)
		}
		if errors.As(err, &syn) {
			return nil, fmt.Errorf("%s: not a whole snapshot (byte %d: %v); capture it again", name, syn.Offset, err)
		}
		return nil, fmt.Errorf("%s: not a snapshot that this version can read: %v; capture it again", name, err)
	}
	if s.SchemaVersion < 1 || s.SchemaVersion > snapshot.SchemaVersion {
		return nil, fmt.Errorf("%s: schemaVersion %d; this mm2doctor reads up to %d; use the version that wrote it (%s)", name, s.SchemaVersion, snapshot.SchemaVersion, s.Tool)
	}
	if s.Earlier != nil && s.Earlier.Earlier != nil {
		return nil, fmt.Errorf("%s: an earlier look holds another earlier look; the file was not written by mm2doctor", name)
	}
	return &s, nil
}
