package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Journal keeps what is about to be done and what was done. When Append returns nil, all its entries survive the death of the
// process and of the machine; when it returns an error, any first part of them may.
type Journal interface {
	Append(...Entry) error
}

// Kind of an entry.
type Kind string

// Kinds, in the order in which they come: one header, per group intent, then written, failed or unknown, then verified; refused
// where a group was left alone; end when the run came to its end. resume begins what a later run adds.
const (
	KindHeader   Kind = "header"
	KindIntent   Kind = "intent"
	KindWritten  Kind = "written"
	KindFailed   Kind = "failed"
	KindUnknown  Kind = "unknown"
	KindVerified Kind = "verified"
	KindRefused  Kind = "refused"
	KindEnd      Kind = "end"
	KindResume   Kind = "resume"
)

// Entry is one line of a journal.
type Entry struct {
	Kind   Kind    `json:"kind"`
	Time   string  `json:"time"` // RFC 3339, UTC
	Header *Header `json:"header,omitempty"`
	Group  string  `json:"group,omitempty"` // on the cluster that is written
	// Existed, of an intent: the group was there. DeleteGroup: it is removed, too, once it has no offsets.
	Existed     bool         `json:"existed,omitempty"`
	DeleteGroup bool         `json:"deleteGroup,omitempty"`
	Partitions  []EntryRow   `json:"partitions,omitempty"`
	Code        finding.Code `json:"code,omitempty"`
	Because     string       `json:"because,omitempty"`
	Summary     *Summary     `json:"summary,omitempty"` // of the end
}

// Header is the first line: everything a later run needs.
type Header struct {
	SchemaVersion int           `json:"schemaVersion"`
	Command       string        `json:"command"` // apply, rollback
	Tool          diagnose.Tool `json:"tool"`
	Plan          *plan.Plan    `json:"plan"` // as carried out: with the groups that were made anew, raised log starts, epochs
	// PlanDigest is that of the plan that was handed in; the plan above has another where a run amended it.
	PlanDigest string `json:"planDigest"`
	// Undoes is the journal that a rollback takes back; DeleteGroups are the groups that did not exist before it.
	Undoes       string   `json:"undoes,omitempty"`
	DeleteGroups []string `json:"deleteGroups,omitempty"`
}

// EntryRow is one partition of an entry. An intent has Before and To, null for "nothing"; a result has State and, once read
// back, Found.
type EntryRow struct {
	Topic     string          `json:"topic"` // on the cluster that is written
	Partition int32           `json:"partition"`
	Before    *plan.Committed `json:"before,omitempty"`
	To        *plan.Committed `json:"to,omitempty"`
	Found     *plan.Committed `json:"found,omitempty"`
	State     State           `json:"state,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// FileJournal is a journal in a file of JSON lines. It is locked against a second process (on Unix) and only ever added to.
type FileJournal struct {
	path    string
	f       *os.File
	bytes   int64
	created bool
	broken  error
}

// CreateJournal creates the file; one that exists is an error, never overwritten. Until the first entry the file is empty, and
// Close removes it again.
func CreateJournal(path string) (*FileJournal, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("creating the journal %s: it exists, and a journal is never overwritten; give another name, or go on with it by --resume", path)
	}
	if err != nil {
		return nil, fmt.Errorf("creating the journal: %w; give a place that can be written, since nothing is written to Kafka without one", err)
	}
	j := &FileJournal{path: path, f: f, created: true}
	if err := lock(f); err != nil {
		j.Close()
		return nil, fmt.Errorf("locking the journal %s: %w", path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		j.Close()
		return nil, fmt.Errorf("flushing the directory of the journal %s: %w", path, err)
	}
	return j, nil
}

// OpenJournal opens a journal to go on with it, and reads it.
func OpenJournal(path string) (*FileJournal, *Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the journal: %w; name the journal that the run that wrote has printed", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("locking the journal %s: %w; another mm2doctor is at work with it", path, err)
	}
	l, err := ReadLog(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("reading the journal %s: %w; name the journal that the run that wrote has printed", path, err)
	}
	l.Path = path
	j := &FileJournal{path: path, f: f, bytes: l.size}
	if l.open {
		// What follows must stand on a line of its own; a torn line stays where it is.
		if err := j.write([]byte{'\n'}); err != nil {
			f.Close()
			return nil, nil, err
		}
	}
	return j, l, nil
}

// Path is the name of the file.
func (j *FileJournal) Path() string { return j.path }

// Append writes entries, one a line, and flushes them to disk together.
func (j *FileJournal) Append(es ...Entry) error {
	var b bytes.Buffer
	for _, e := range es {
		line, err := encodeEntry(e)
		if err != nil {
			return fmt.Errorf("journal %s: %w", j.path, err)
		}
		b.Write(line)
	}
	return j.write(b.Bytes())
}

func (j *FileJournal) write(b []byte) error {
	if j.broken != nil {
		return j.broken
	}
	n, err := j.f.Write(b)
	j.bytes += int64(n)
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		j.broken = fmt.Errorf("writing the journal %s: %w", j.path, err)
	}
	return j.broken
}

// Close releases the file, and removes it where nothing was ever noted.
func (j *FileJournal) Close() error {
	err := j.f.Close()
	if j.created && j.bytes == 0 {
		err = errors.Join(err, os.Remove(j.path))
	}
	return err
}

func encodeEntry(e Entry) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	// Some file systems cannot flush a directory; the file itself is flushed all the same.
	if err := d.Sync(); err != nil && !errors.Is(err, os.ErrInvalid) && !notSupported(err) {
		return err
	}
	return nil
}
