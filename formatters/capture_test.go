package formatters

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// The text must be that of the version's own formatters, byte for byte, and read back to the same record.
func TestCaptures(t *testing.T) {
	names := captures.Names()
	if len(names) != 9 {
		t.Fatalf("captures %v", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c, err := captures.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			v, err := mm2.ParseVersion(c.Scenario.MM2)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, c, "formatter-offset-syncs.txt", c.OffsetSyncs, func(r kafka.Record) string {
				s, notes, err := DecodeOffsetSync(r.Key, r.Value)
				k, w, err2 := EncodeOffsetSync(s)
				text := OffsetSyncText(s)
				back, err3 := ParseOffsetSync(text)
				if err != nil || err2 != nil || err3 != nil || notes != nil || back != s || !bytes.Equal(k, r.Key) || !bytes.Equal(w, r.Value) {
					t.Fatalf("record %d: %+v, %v, %v, %v, %v", r.Offset, s, notes, err, err2, err3)
				}
				return text
			})
			compare(t, c, "formatter-checkpoints.txt", c.Checkpoints, func(r kafka.Record) string {
				s, notes, err := DecodeCheckpoint(r.Key, r.Value)
				k, w, err2 := EncodeCheckpoint(s)
				text := CheckpointText(s, v)
				back, err3 := ParseCheckpoint(text)
				if err != nil || err2 != nil || err3 != nil || notes != nil || back != s || !bytes.Equal(k, r.Key) || !bytes.Equal(w, r.Value) {
					t.Fatalf("record %d: %+v, %v, %v, %v, %v", r.Offset, s, notes, err, err2, err3)
				}
				return text
			})
			compare(t, c, "formatter-heartbeats.txt", c.Heartbeats, func(r kafka.Record) string {
				s, notes, err := DecodeHeartbeat(r.Key, r.Value)
				k, w, err2 := EncodeHeartbeat(s)
				text := HeartbeatText(s)
				back, err3 := ParseHeartbeat(text)
				if err != nil || err2 != nil || err3 != nil || notes != nil || back != s || !bytes.Equal(k, r.Key) || !bytes.Equal(w, r.Value) {
					t.Fatalf("record %d: %+v, %v, %v, %v, %v", r.Offset, s, notes, err, err2, err3)
				}
				return text
			})
		})
	}
}

// compare prints all records and holds the first 25 against Kafka's. With fewer records the consumer waited in vain and
// its last words are in the file as well.
func compare(t *testing.T, c *captures.Capture, file string, records []kafka.Record, print func(kafka.Record) string) {
	t.Helper()
	b, err := c.File(file)
	if err != nil {
		t.Fatal(err)
	}
	var kafkas []string
	for line := range strings.Lines(string(b)) {
		if IsText(line) {
			kafkas = append(kafkas, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(records) < 8 || len(kafkas) != min(25, len(records)) {
		t.Fatalf("%s: %d lines of %d records", file, len(kafkas), len(records))
	}
	for i, r := range records {
		if text := print(r); i < len(kafkas) && text != kafkas[i] {
			t.Errorf("%s:%d: %s\nwant %s", file, i+1, text, kafkas[i])
		}
	}
}

func TestStreamOfCapture(t *testing.T) {
	c, err := captures.Load("3.9.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		kind    Kind
		file    string
		records int
	}{{OffsetSync, "offset-syncs.jsonl", len(c.OffsetSyncs)}, {Checkpoint, "checkpoints.jsonl", len(c.Checkpoints)}, {Heartbeat, "heartbeats.jsonl", len(c.Heartbeats)}} {
		b, err := c.File(x.file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for e, err := range Read(bytes.NewReader(b), x.kind) {
			if err != nil || e.Err != nil || e.Place == nil || e.Place.Offset != int64(n) || e.Line != n+1 {
				t.Fatalf("%s: %+v, %v", x.file, e, err)
			}
			n++
		}
		if n != x.records || n == 0 {
			t.Errorf("%s: %d records, want %d", x.file, n, x.records)
		}
	}
}
