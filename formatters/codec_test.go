package formatters

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOffsetSyncBytes(t *testing.T) {
	key, value := unhex(t, "00 02 74 31 00 00 00 00"), unhex(t, "0000000000000005 0000000000000007")
	s := mm2.OffsetSync{Topic: "t1", Upstream: 5, Downstream: 7}
	got, notes, err := DecodeOffsetSync(key, value)
	if err != nil || got != s || notes != nil {
		t.Errorf("%+v, %v, %v", got, notes, err)
	}
	k, v, err := EncodeOffsetSync(s)
	if err != nil || !bytes.Equal(k, key) || !bytes.Equal(v, value) {
		t.Errorf("% x  % x  %v", k, v, err)
	}
}

func TestCheckpointBytes(t *testing.T) {
	key, value := unhex(t, "00 01 67 00 04 41 2E 74 31 00 00 00 00"), unhex(t, "0000 0000000000000006 0000000000000008 0000")
	c := mm2.Checkpoint{Group: "g", Topic: "A.t1", Upstream: 6, Downstream: 8}
	got, notes, err := DecodeCheckpoint(key, value)
	if err != nil || got != c || notes != nil {
		t.Errorf("%+v, %v, %v", got, notes, err)
	}
	k, v, err := EncodeCheckpoint(c)
	if err != nil || !bytes.Equal(k, key) || !bytes.Equal(v, value) {
		t.Errorf("% x  % x  %v", k, v, err)
	}
}

func TestHeartbeatBytes(t *testing.T) {
	key, value := unhex(t, "0001 61 0001 62"), unhex(t, "0000 00000000000003e8")
	h := mm2.Heartbeat{Source: "a", Target: "b", Timestamp: 1000}
	got, notes, err := DecodeHeartbeat(key, value)
	if err != nil || got != h || notes != nil {
		t.Errorf("%+v, %v, %v", got, notes, err)
	}
	k, v, err := EncodeHeartbeat(h)
	if err != nil || !bytes.Equal(k, key) || !bytes.Equal(v, value) {
		t.Errorf("% x  % x  %v", k, v, err)
	}
}

// Kafka reads any version with the layout of version 0 and ignores what follows; so do we, and say it.
func TestTolerance(t *testing.T) {
	c, notes, err := DecodeCheckpoint(unhex(t, "0001 67 0001 74 00000003 ff"), unhex(t, "0002 0000000000000006 0000000000000008 0001 6d aabb"))
	want := mm2.Checkpoint{Group: "g", Topic: "t", Partition: 3, Upstream: 6, Downstream: 8, Metadata: "m", Version: 2}
	if err != nil || c != want || len(notes) != 3 {
		t.Fatalf("%+v, %q, %v", c, notes, err)
	}
	for i, part := range []string{"version 2", "1 bytes follow the last field of the key", "2 bytes follow the last field of the value"} {
		if !strings.Contains(notes[i], part) {
			t.Errorf("note %q lacks %q", notes[i], part)
		}
	}
}

func TestFaults(t *testing.T) {
	sync := func(k, v []byte) error { _, _, err := DecodeOffsetSync(k, v); return err }
	check := func(k, v []byte) error { _, _, err := DecodeCheckpoint(k, v); return err }
	beat := func(k, v []byte) error { _, _, err := DecodeHeartbeat(k, v); return err }
	key := unhex(t, "00 02 74 31 00 00 00 00")
	ok := make([]byte, 16)
	for _, c := range []struct {
		err   error
		fault Fault
		kind  Kind
		part  string
		says  string
	}{
		{sync(nil, ok), NullKey, OffsetSync, "key", "the key is null"},
		{sync(key, nil), NullValue, OffsetSync, "value", "tombstone"},
		{sync([]byte{}, ok), Short, OffsetSync, "key", "field topic needs 2 bytes, 0 of 0 are left"},
		{sync(key[:6], ok), Short, OffsetSync, "key", "field partition needs 4 bytes, 2 of 6 are left"},
		{sync(key, ok[:15]), Short, OffsetSync, "value", "field offset needs 8 bytes, 7 of 15 are left"},
		{sync(unhex(t, "ffff 00000000"), ok), Foreign, OffsetSync, "key", "length -1"},
		{sync(unhex(t, "0002 c328 00000000"), ok), Foreign, OffsetSync, "key", "not text"},
		{sync(unhex(t, "0000 00000000"), ok), Foreign, OffsetSync, "key", "empty"},
		{sync(unhex(t, "0001 74 ffffffff"), ok), Foreign, OffsetSync, "key", "partition in the key is -1"},
		{sync([]byte("order-4711"), ok), Short, OffsetSync, "key", "field topic needs 28530 bytes"},
		{check(key, ok), Short, Checkpoint, "key", "field partition needs 4 bytes, 2 of 8 are left"},
		{check(nil, nil), NullKey, Checkpoint, "key", "null"},
		{check(unhex(t, "0001 67 0001 74 00000003"), ok), Short, Checkpoint, "value", "field offset needs 8 bytes, 6 of 16 are left"},
		{beat(unhex(t, "0001 61 0001 62"), []byte{0, 0}), Short, Heartbeat, "value", "field timestamp"},
		{beat(unhex(t, "0001 61 0001 62"), nil), NullValue, Heartbeat, "value", "null"},
	} {
		var e *RecordError
		if !errors.As(c.err, &e) {
			t.Errorf("want %q, got %v", c.says, c.err)
			continue
		}
		if e.Fault != c.fault || e.Kind != c.kind || e.Part != c.part || !strings.Contains(e.Reason, c.says) {
			t.Errorf("want %d %s %s %q, got %+v", c.fault, c.kind, c.part, c.says, e)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	if _, _, err := EncodeOffsetSync(mm2.OffsetSync{Topic: strings.Repeat("x", 32768)}); err == nil {
		t.Error("a name of 32768 bytes does not fit")
	}
	if _, _, err := EncodeCheckpoint(mm2.Checkpoint{Topic: "t", Metadata: "\xc3("}); err == nil {
		t.Error("metadata that is not UTF-8 does not fit")
	}
	if _, _, err := EncodeHeartbeat(mm2.Heartbeat{Target: strings.Repeat("x", 40000)}); err == nil {
		t.Error("an alias of 40000 bytes does not fit")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(unhex(f, "0002 7431 00000000"), make([]byte, 16))
	f.Add(unhex(f, "0001 67 0004 412E7431 00000000"), unhex(f, "0000 0000000000000006 0000000000000008 0000"))
	f.Add(unhex(f, "0001 61 0001 62"), unhex(f, "0000 00000000000003e8"))
	f.Add([]byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if s, notes, err := DecodeOffsetSync(key, value); err == nil {
			k, v, err := EncodeOffsetSync(s)
			if err != nil || !bytes.HasPrefix(key, k) || !bytes.HasPrefix(value, v) || (len(k) == len(key) && len(v) == len(value)) != (notes == nil) {
				t.Errorf("offset sync %+v encodes to % x % x, %v; notes %q", s, k, v, err, notes)
			}
		}
		if c, _, err := DecodeCheckpoint(key, value); err == nil {
			k, v, err := EncodeCheckpoint(c)
			if err != nil || !bytes.HasPrefix(key, k) || !bytes.HasPrefix(value, v) {
				t.Errorf("checkpoint %+v encodes to % x % x, %v", c, k, v, err)
			}
		}
		if h, _, err := DecodeHeartbeat(key, value); err == nil {
			k, v, err := EncodeHeartbeat(h)
			if err != nil || !bytes.HasPrefix(key, k) || !bytes.HasPrefix(value, v) {
				t.Errorf("heartbeat %+v encodes to % x % x, %v", h, k, v, err)
			}
		}
	})
}
