package plan

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLine is the longest line of a file of wanted offsets: a group id and a topic name have at most some 32 KiB together.
const maxLine = 1 << 16

// ReadWishes reads wanted offsets as kafka-consumer-groups.sh --reset-offsets --from-file does: one record a line, without a head,
// "group,topic,partition,offset"; or "topic,partition,offset" for the one group that is given. The first line tells which. Fields in
// double quotes may hold commas. Empty lines are left out. Errors tell the line.
func ReadWishes(r io.Reader, group string) ([]Wish, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	var out []Wish
	columns, n := 0, 0
	for sc.Scan() {
		n++
		line := strings.TrimSuffix(sc.Text(), "\r")
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		f, err := fields(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if columns == 0 {
			columns = len(f)
			switch {
			case columns != 3 && columns != 4:
				return nil, fmt.Errorf("line %d: %d fields; a row is group,topic,partition,offset, or topic,partition,offset for one group", n, columns)
			case columns == 3 && group == "":
				return nil, fmt.Errorf("line %d: topic,partition,offset without a group: name the one group with --group", n)
			}
		}
		if len(f) != columns {
			return nil, fmt.Errorf("line %d: %d fields, where the first row has %d", n, len(f), columns)
		}
		w := Wish{Group: group, Line: n}
		if columns == 4 {
			w.Group, f = f[0], f[1:]
		}
		if err := w.read(f); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, w)
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes: this is no file of offsets", n+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("reading line %d: %w", n+1, err)
	}
	if len(out) == 0 {
		return nil, errors.New("the file holds no row: group,topic,partition,offset, one a line")
	}
	return out, nil
}

func fields(line string) ([]string, error) {
	c := csv.NewReader(strings.NewReader(line))
	c.FieldsPerRecord = -1
	f, err := c.Read()
	var p *csv.ParseError
	if errors.As(err, &p) {
		return nil, fmt.Errorf("column %d: %w", p.Column, p.Err)
	}
	return f, err
}

func (w *Wish) read(f []string) error {
	w.Topic = f[0]
	if w.Topic == "" {
		return errors.New("the topic is empty")
	}
	if w.Group == "" {
		return errors.New("the group is empty")
	}
	part, err := strconv.ParseInt(strings.TrimSpace(f[1]), 10, 32)
	if err != nil || part < 0 {
		return fmt.Errorf("%q is no partition", f[1])
	}
	offset, err := strconv.ParseInt(strings.TrimSpace(f[2]), 10, 64)
	if err != nil || offset < 0 {
		return fmt.Errorf("%q is no offset", f[2])
	}
	w.Partition, w.Offset = int32(part), offset
	return nil
}

// Wanting reports rows that hold, or will hold, their value: what a file for another tool has.
func (r *Row) Wanting() bool { return r.To != nil && (r.Action == Set || r.Action == Right) }
