package formatters

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func TestStream(t *testing.T) {
	input := strings.Join([]string{
		"$ kafka-console-consumer.sh --topic mm2-offset-syncs.b.internal",
		`{"partition":0,"offset":4,"timestamp":9,"key_b64":"AAJ0MQAAAAA=","value_b64":"AAAAAAAAAAUAAAAAAAAABw=="}`,
		"",
		"OffsetSync{topicPartition=t1-0, upstreamOffset=6, downstreamOffset=8}\r",
		`{"partition":0,"offset":5,"timestamp":9,"key_b64":"AAJ0MQAAAAA=","value_b64":null}`,
		`{"partition":0,"offset":6,"timestamp":9,"key_b64":"","value_b64":"!"}`,
		`{"offset":6}`,
		`{"partition":`,
		"Checkpoint{consumerGroupId=g}",
		strings.Repeat("x", MaxLine+10),
		"OffsetSync{topicPartition=t1-0, upstreamOffset=7, downstreamOffset=9}",
	}, "\n")
	want := []struct {
		line int
		says string // of the error; empty: a sync
		up   int64
	}{
		{1, "neither a JSON object nor", 0}, {2, "", 5}, {4, "", 6}, {5, "tombstone", 0}, {6, "value_b64 is not base64", 0}, {7, "lacks partition", 0},
		{8, "no JSON object", 0}, {9, "does not begin with OffsetSync{", 0}, {10, "longer than", 0}, {11, "", 7},
	}
	i := 0
	for e, err := range Read(strings.NewReader(input), OffsetSync) {
		if err != nil || i >= len(want) {
			t.Fatalf("entry %d: %+v, %v", i, e, err)
		}
		w := want[i]
		i++
		if e.Line != w.line || (e.Err == nil) != (w.says == "") || e.OffsetSync.Upstream != w.up {
			t.Errorf("line %d: %+v", w.line, e)
		}
		if e.Err != nil && (!strings.Contains(e.Err.Error(), w.says) || e.Text(mm2.Version{}) != "" || !strings.Contains(string(e.JSON()), "undecodable")) {
			t.Errorf("line %d: %v, want %q", w.line, e.Err, w.says)
		}
	}
	if i != len(want) {
		t.Errorf("%d entries, want %d", i, len(want))
	}
}

func TestStreamEndsWithTheReadersError(t *testing.T) {
	broken := errors.New("disk gone")
	r := io.MultiReader(strings.NewReader("Heartbeat{sourceClusterAlias=a, targetClusterAlias=b, timestamp=1}\n"), iotest.ErrReader(broken))
	var entries []Entry
	var last error
	for e, err := range Read(r, Heartbeat) {
		if err != nil {
			last = err
			continue
		}
		entries = append(entries, e)
	}
	if len(entries) != 1 || entries[0].Heartbeat.Source != "a" || !errors.Is(last, broken) {
		t.Errorf("%+v, %v", entries, last)
	}
	if got := entries[0].Text(mm2.Version{}); got != "Heartbeat{sourceClusterAlias=a, targetClusterAlias=b, timestamp=1}" {
		t.Error(got)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("OffsetSync{topicPartition=t1-0, upstreamOffset=6, downstreamOffset=8}\n{}\nx")
	f.Add(`{"partition":0,"offset":4,"timestamp":9,"key_b64":"AAJ0MQAAAAA=","value_b64":"AAAAAAAAAAUAAAAAAAAABw=="}`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range []Kind{OffsetSync, Checkpoint, Heartbeat} {
			for e, err := range Read(strings.NewReader(s), k) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Err == nil && e.Text(mm2.Version{}) == "" {
					t.Errorf("%+v has neither error nor text", e)
				}
			}
		}
	})
}
