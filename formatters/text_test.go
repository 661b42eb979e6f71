package formatters

import (
	"errors"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func TestMetadataSpelling(t *testing.T) {
	c := mm2.Checkpoint{Group: "g", Topic: "a.t", Partition: 1, Upstream: 2, Downstream: 3, Metadata: "m"}
	for v, word := range map[mm2.Version]string{
		{}: "metadata", mm2.V(2, 7, 0): "metatadata", mm2.V(3, 4, 1): "metatadata", mm2.V(3, 5, 0): "metatadata",
		mm2.V(3, 5, 1): "metadata", mm2.V(3, 6, 0): "metadata", mm2.V(4, 1, 1): "metadata",
	} {
		want := "Checkpoint{consumerGroupId=g, topicPartition=a.t-1, upstreamOffset=2, downstreamOffset=3, " + word + "=m}"
		if got := CheckpointText(c, v); got != want {
			t.Errorf("%s: %s", v, got)
		}
		if back, err := ParseCheckpoint(want + "\r\n"); err != nil || back != c {
			t.Errorf("%s: %+v, %v", want, back, err)
		}
	}
}

func TestParseHardLines(t *testing.T) {
	for line, want := range map[string]mm2.Checkpoint{
		"Checkpoint{consumerGroupId=a, b}, topicPartition=x-1, topicPartition=a.t-b-12, upstreamOffset=5, downstreamOffset=6, metadata={\"k\": 1}, z}": {
			Group: "a, b}, topicPartition=x-1", Topic: "a.t-b", Partition: 12, Upstream: 5, Downstream: 6, Metadata: "{\"k\": 1}, z"},
		"  Checkpoint{consumerGroupId=, topicPartition=t-0, upstreamOffset=-1, downstreamOffset=9223372036854775807, metatadata=, upstreamOffset=7, downstreamOffset=8, metadata=}": {
			Topic: "t", Upstream: -1, Downstream: 1<<63 - 1, Metadata: ", upstreamOffset=7, downstreamOffset=8, metadata="},
		"Checkpoint{consumerGroupId=g, upstreamOffset=1, topicPartition=t-0, upstreamOffset=2, downstreamOffset=3, metadata=x=y}": {
			Group: "g, upstreamOffset=1", Topic: "t", Upstream: 2, Downstream: 3, Metadata: "x=y"},
	} {
		if got, err := ParseCheckpoint(line); err != nil || got != want {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	s, err := ParseOffsetSync("OffsetSync{topicPartition=a-b-3-4, upstreamOffset=1, downstreamOffset=2}")
	if err != nil || s != (mm2.OffsetSync{Topic: "a-b-3", Partition: 4, Upstream: 1, Downstream: 2}) {
		t.Errorf("%+v, %v", s, err)
	}
	h, err := ParseHeartbeat("Heartbeat{sourceClusterAlias=eu, west, targetClusterAlias=b, timestamp=12}")
	if err != nil || h != (mm2.Heartbeat{Source: "eu, west", Target: "b", Timestamp: 12}) {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for line, says := range map[string]string{
		"":                               "does not begin with OffsetSync{",
		"OffsetSync{topicPartition=t-0":  "does not end with }",
		"OffsetSync{topicPartition=t-0}": "no field downstreamOffset",
		"Checkpoint{x}":                  "does not begin with OffsetSync{",
		"OffsetSync{topicPartition=t-0, upstreamOffset=x, downstreamOffset=2}":                   `upstreamOffset is "x"`,
		"OffsetSync{topicPartition=t-0, upstreamOffset=1, downstreamOffset=9223372036854775808}": "not a number of 64 bits",
		"OffsetSync{topicPartition=t, upstreamOffset=1, downstreamOffset=2}":                     "not a topic and a partition",
		"OffsetSync{topicPartition=t-x, upstreamOffset=1, downstreamOffset=2}":                   "no partition",
		"OffsetSync{topic=t-0, upstreamOffset=1, downstreamOffset=2}":                            "does not begin with topicPartition",
	} {
		_, err := ParseOffsetSync(line)
		var e *TextError
		if !errors.As(err, &e) || e.Kind != OffsetSync || !strings.Contains(e.Reason, says) {
			t.Errorf("%q: %v, want %q", line, err, says)
		}
	}
	for _, line := range []string{
		"Checkpoint{}", "Checkpoint{consumerGroupId=g, topicPartition=t-0, upstreamOffset=1, downstreamOffset=2}",
		"Checkpoint{consumerGroupId=g, upstreamOffset=1, downstreamOffset=2, metadata=}",
		"Checkpoint{consumerGroupId=g, topicPartition=t-0, upstreamOffset=1, downstreamOffset=2, meta=}",
	} {
		if c, err := ParseCheckpoint(line); err == nil {
			t.Errorf("%s: %+v", line, c)
		}
	}
	for _, line := range []string{"Heartbeat{}", "Heartbeat{sourceClusterAlias=a, timestamp=1}", "Heartbeat{targetClusterAlias=a, timestamp=1}"} {
		if h, err := ParseHeartbeat(line); err == nil {
			t.Errorf("%s: %+v", line, h)
		}
	}
}

func TestJSONObjects(t *testing.T) {
	p := &Place{Partition: 0, Offset: 7, Timestamp: 1000}
	for got, want := range map[string]string{
		string(OffsetSyncJSON(mm2.OffsetSync{Topic: "a->b", Upstream: 1, Downstream: 2}, nil, p)): `{"kind":"offset-sync","recordPartition":0,"recordOffset":7,"recordTimestamp":1000,` +
			`"topic":"a->b","partition":0,"upstreamOffset":1,"downstreamOffset":2}`,
		string(CheckpointJSON(mm2.Checkpoint{Group: "g", Topic: "t", Version: 1}, Notes{"n"}, nil)): `{"kind":"checkpoint","group":"g","topic":"t","partition":0,` +
			`"upstreamOffset":0,"downstreamOffset":0,"metadata":"","version":1,"notes":["n"]}`,
		string(HeartbeatJSON(mm2.Heartbeat{Source: "a", Target: "b", Timestamp: 3}, nil, nil)): `{"kind":"heartbeat","sourceClusterAlias":"a","targetClusterAlias":"b","timestamp":3,"version":0}`,
		string(BadJSON(Checkpoint, errors.New("why"), p)):                                      `{"kind":"undecodable","recordPartition":0,"recordOffset":7,"recordTimestamp":1000,"expected":"checkpoint","error":"why"}`,
	} {
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("OffsetSync{topicPartition=t-0, upstreamOffset=1, downstreamOffset=2}")
	f.Add("Checkpoint{consumerGroupId=g, topicPartition=t-0, upstreamOffset=1, downstreamOffset=2, metadata=}")
	f.Add("Checkpoint{consumerGroupId=g, x}, topicPartition=t-0, upstreamOffset=1, downstreamOffset=2, metatadata=a, b}")
	f.Add("Heartbeat{sourceClusterAlias=a, targetClusterAlias=b, timestamp=1}")
	f.Fuzz(func(t *testing.T, line string) {
		if s, err := ParseOffsetSync(line); err == nil {
			if again, err := ParseOffsetSync(OffsetSyncText(s)); err != nil || again != s {
				t.Errorf("%+v, %v, want %+v", again, err, s)
			}
		}
		if s, err := ParseCheckpoint(line); err == nil {
			if again, err := ParseCheckpoint(CheckpointText(s, mm2.Version{})); err != nil || again != s {
				t.Errorf("%+v, %v, want %+v", again, err, s)
			}
		}
		if s, err := ParseHeartbeat(line); err == nil {
			if again, err := ParseHeartbeat(HeartbeatText(s)); err != nil || again != s {
				t.Errorf("%+v, %v, want %+v", again, err, s)
			}
		}
	})
}
