package apply

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// ErrNothingNoted is a journal without a header: the run died before it wrote anything to Kafka.
var ErrNothingNoted = errors.New("the journal holds no complete header, so that nothing was written to Kafka; make a new plan, and remove the journal")

// Log is a journal as read back.
type Log struct {
	Path    string
	Header  Header
	Entries []Entry // without the header
	// Torn says that the last line was cut: the run was killed while it noted something. What it noted there had not been done
	// (an intent) or is found out by reading back (a result).
	Torn  bool
	Ended bool // the last run came to its end

	size   int64
	open   bool // the last line has no line end
	traces map[string]*groupTrace
}

// Of says that the journal is of a run of p.
func (l *Log) Of(p *plan.Plan) bool {
	return p.Digest != "" && (p.Digest == l.Header.PlanDigest || p.Digest == l.Header.Plan.Digest)
}

// groupTrace is what a journal knows of one group.
type groupTrace struct {
	existed bool
	rows    map[kafka.TopicPartition]*trace
	order   []kafka.TopicPartition
}

// trace is what a journal knows of one partition: the newest intent and what came of it.
type trace struct {
	before, to *plan.Committed
	result     Kind // KindIntent where none is known
	state      State
}

// ReadLog reads a journal. Its last line may be torn, and so may a line that a later run stands behind; any other line that is
// not an entry is an error with its number.
func ReadLog(r io.Reader) (*Log, error) {
	l := &Log{traces: map[string]*groupTrace{}}
	br := bufio.NewReaderSize(r, 1<<16)
	var cut error // lines that were cut and are not yet followed by anything
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		l.size += int64(len(line))
		whole := err == nil
		if len(line) > 0 {
			l.open = !whole
		}
		if text := trim(line); len(text) > 0 {
			e, err := parse(text)
			switch {
			case err != nil && (!whole || torn(text, err)):
				cut = cmp.Or(cut, fmt.Errorf("line %d: %w", n, err))
			case err != nil:
				return nil, fmt.Errorf("line %d: %w", n, err)
			case cut != nil && e.Kind != KindResume:
				return nil, cut
			default:
				cut = nil
				if err := l.add(e); err != nil {
					return nil, fmt.Errorf("line %d: %w", n, err)
				}
			}
		}
		if !whole {
			break
		}
	}
	l.Torn = cut != nil
	if l.Header.Plan == nil {
		return nil, ErrNothingNoted
	}
	return l, nil
}

// torn says that a line ends before its value does, or has the zero bytes that a file system leaves for what it lost.
func torn(line []byte, err error) bool {
	var s *json.SyntaxError
	return errors.As(err, &s) && s.Offset >= int64(len(line)) || bytes.IndexByte(line, 0) >= 0
}

func trim(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

func parse(b []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("not an entry of a journal: %w", err)
	}
	return e, nil
}

func (l *Log) add(e Entry) error {
	if e.Kind == KindHeader {
		switch {
		case l.Header.Plan != nil:
			return errors.New("a second header")
		case e.Header == nil || e.Header.Plan == nil:
			return errors.New("a header without a plan")
		case e.Header.SchemaVersion != SchemaVersion:
			return fmt.Errorf("a journal of schema version %d, and this mm2doctor knows %d", e.Header.SchemaVersion, SchemaVersion)
		}
		if err := e.Header.Plan.Check(); err != nil {
			return err
		}
		l.Header = *e.Header
		return nil
	}
	if l.Header.Plan == nil {
		return errors.New("the first line is not the header of a journal")
	}
	l.Entries = append(l.Entries, e)
	l.Ended = e.Kind == KindEnd
	switch e.Kind {
	case KindEnd, KindResume, KindRefused:
		return nil
	case KindIntent:
		g := l.traces[e.Group]
		if g == nil {
			g = &groupTrace{existed: true, rows: map[kafka.TopicPartition]*trace{}}
			l.traces[e.Group] = g
		}
		g.existed = g.existed && e.Existed
		for _, r := range e.Partitions {
			tp := kafka.TopicPartition{Topic: r.Topic, Partition: r.Partition}
			if g.rows[tp] == nil {
				g.order = append(g.order, tp)
			}
			g.rows[tp] = &trace{before: r.Before, to: r.To, result: KindIntent}
		}
		return nil
	case KindWritten, KindFailed, KindUnknown, KindVerified:
		g := l.traces[e.Group]
		if g == nil {
			return fmt.Errorf("a result of group %s without its intent", e.Group)
		}
		for _, r := range e.Partitions {
			t := g.rows[kafka.TopicPartition{Topic: r.Topic, Partition: r.Partition}]
			if t == nil {
				return fmt.Errorf("a result of group %s, %s-%d, without its intent", e.Group, r.Topic, r.Partition)
			}
			t.result, t.state = e.Kind, r.State
		}
		return nil
	}
	return fmt.Errorf("an entry of unknown kind %q", e.Kind)
}
