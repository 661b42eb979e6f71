package evidence

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

func read(t *testing.T, text string) *Log {
	t.Helper()
	l, err := ReadLog("mm2.log", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRealLogs: what real MirrorMaker 2 3.9.1 wrote while a group was active on the target, and when it met a malformed offset
// sync. Each clean stop writes a refused commit, which is none.
func TestRealLogs(t *testing.T) {
	for file, want := range map[string]snapshot.LogSign{
		"3.9.1-group-active.log": {Kind: GroupActive, Group: "g-billing", Count: 13},
		"3.9.1-bad-sync.log":     {Kind: SyncLost, Count: 1},
	} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		l := read(t, string(b))
		if !IsLog(b) || l.Version != "3.9.1" || !slices.Equal(l.Flows, []string{"a->b"}) || l.First == 0 || l.Last <= l.First {
			t.Errorf("%s: version %q, flows %v, from %d to %d", file, l.Version, l.Flows, l.First, l.Last)
		}
		if len(l.Signs) != 1 || l.Signs[0].Kind != want.Kind || l.Signs[0].Group != want.Group || l.Signs[0].Count != want.Count {
			t.Errorf("%s: %+v, want %+v", file, l.Signs, want)
		}
	}
}

// TestCapturedLogs: the logs of eight versions hold no sign but the group that was made active in the last phase, which is told
// from 3.4.0 on.
func TestCapturedLogs(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/captures/*/mm2-?.log.gz")
	if err != nil || len(files) != 18 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		r, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ReadLog(f, r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		silent := strings.Contains(f, "mm2-1") || strings.Contains(f, "/2.8.2/") || strings.Contains(f, "/3.3.1/")
		switch {
		case silent && len(l.Signs) > 0, !silent && (len(l.Signs) != 1 || l.Signs[0].Kind != GroupActive || l.Signs[0].Group != "g-head"):
			t.Errorf("%s: %+v", f, l.Signs)
		case !slices.Equal(l.Flows, []string{"a->b"}):
			t.Errorf("%s: flows %v", f, l.Flows)
		}
	}
}

const active = "Unable to sync offsets for consumer group billing. This is likely caused by consumers currently using this group in the target cluster."

// TestLayouts: the same line as different tools write it.
func TestLayouts(t *testing.T) {
	const at = 1714557600123 // 2024-05-01 10:00:00.123 UTC
	for name, line := range map[string]string{
		"log4j default of Kafka":        "[2024-05-01 10:00:00,123] WARN [a->b.MirrorCheckpointConnector|task-0] " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask:388)",
		"Strimzi":                       "2024-05-01 10:00:00,123 WARN [a->b.MirrorCheckpointConnector|task-0] " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask) [task-thread-a->b.MirrorCheckpointConnector-0]",
		"ISO":                           "2024-05-01T12:00:00.123+02:00 WARN " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask:388)",
		"thread first":                  "2024-05-01 10:00:00.123 [Scheduler for MirrorCheckpointTask] WARN " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask)",
		"kubectl --prefix":              "[pod/mm2-mirrormaker2-0/mm2-mirrormaker2] 2024-05-01 10:00:00,123 WARN " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask) [t]",
		"kubectl --timestamps":          "2024-05-01T10:00:01.000000000Z 2024-05-01 10:00:00,123 WARN " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask) [t]",
		"containerd":                    "2024-05-01T10:00:01.000000000Z stdout F [2024-05-01 10:00:00,123] WARN " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask:388)",
		"docker compose":                "mm2-1  | [2024-05-01 10:00:00,123] WARN " + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask:388)\r",
		"docker json-file":              `{"log":"[2024-05-01 10:00:00,123] WARN ` + active + ` (org.apache.kafka.connect.mirror.MirrorCheckpointTask:388)\n","stream":"stdout","time":"2024-05-01T10:00:01Z"}`,
		"log4j2 JsonLayout":             `{"instant":{"epochSecond":1714557600,"nanoOfSecond":123000000},"level":"WARN","loggerName":"org.apache.kafka.connect.mirror.MirrorCheckpointTask","message":"` + active + `"}`,
		"JSON of Strimzi and logstash":  `{"@timestamp":"2024-05-01T10:00:00.123Z","level":"WARN","logger_name":"org.apache.kafka.connect.mirror.MirrorCheckpointTask","message":"` + active + `","mdc":{"connector.context":"[a->b.MirrorCheckpointConnector|task-0] "}}`,
		"JSON with milliseconds":        `{"timeMillis":1714557600123,"level":"warning","logger":"org.apache.kafka.connect.mirror.MirrorCheckpointTask","message":"` + active + `"}`,
		"JSON behind the name of a pod": `mm2-0 {"timestamp":"2024-05-01T10:00:00.123Z","level":"WARN","logger":"org.apache.kafka.connect.mirror.MirrorCheckpointTask","message":"` + active + `"}`,
	} {
		if !IsLog([]byte(line + "\n")) {
			t.Errorf("%s: not recognised", name)
			continue
		}
		l := read(t, line)
		if len(l.Signs) != 1 || l.Signs[0].Kind != GroupActive || l.Signs[0].Group != "billing" || l.Signs[0].Text != active || l.Last != at {
			t.Errorf("%s: %+v at %d", name, l.Signs, l.Last)
		}
	}
}

const mm2Line = "[2024-05-01 09:00:00,000] INFO Kafka MirrorMaker started (org.apache.kafka.connect.mirror.MirrorMaker:200)\n"

// TestKinds: which line is a sign of what, and which looks like one and is none.
func TestKinds(t *testing.T) {
	for _, c := range []struct{ name, line, trace, kinds, group, topic string }{
		{"start of 3.4.1", "ERROR Scheduler for MirrorCheckpointTask caught exception in scheduled task: starting offset sync store", "java.lang.RuntimeException: x", "BEHAVIOUR-store-start-failure store-load-failed", "", ""},
		{"topic not found", "ERROR Could not look up partition metadata for topic 'mm2-offset-syncs.b.internal' in the allotted period. x", "", "BEHAVIOUR-store-start-failure store-load-failed", "", ""},
		{"lost sync", "ERROR Failure sending offset sync.", "org.apache.kafka.common.errors.TimeoutException: x", "sync-lost", "", ""},
		{"lost sync, denied", "ERROR Failure sending offset sync.", "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [mm2-offset-syncs.b.internal]", "acl-denied sync-lost", "", "mm2-offset-syncs.b.internal"},
		{"reader thread", "ERROR Unexpected exception in Thread[KafkaBasedLog Work Thread - mm2-offset-syncs.b.internal,5,main]", "java.lang.NullPointerException", "KAFKA-14401 sync-lost", "", ""},
		{"task", "ERROR WorkerSourceTask{id=MirrorSourceConnector-0} Task threw an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted", "org.apache.kafka.connect.errors.ConnectException: x\n\tat a.b", "task-failed", "", ""},
		{"null commit", "WARN Failure polling consumer state for checkpoints.", "java.lang.NullPointerException\n\tat a.b", "KAFKA-14072 KAFKA-14545", "", ""},
		{"another failure", "WARN Failure polling consumer state for checkpoints.", "java.util.concurrent.TimeoutException", "", "", ""},
		{"group right", "ERROR GroupAuthorizationException occurred while trying to alter offsets for consumer group billing on b cluster", "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: billing", "acl-denied", "billing", ""},
		{"commit, denied", "ERROR Unable to sync offsets for consumer group billing.", "java.util.concurrent.CompletionException: org.apache.kafka.common.errors.TopicAuthorizationException: Failed altering consumer group offsets for the following partitions: [a.orders-0, a.orders-1]", "acl-denied", "billing", "a.orders"},
		{"commit, no topic", "ERROR Unable to sync offsets for consumer group billing.", "java.util.concurrent.CompletionException: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: x", "BEHAVIOUR-missing-target-topic KAFKA-19107 KAFKA-9726 commit-refused", "billing", ""},
		{"commit while stopping", "ERROR Unable to sync offsets for consumer group billing.", "java.util.concurrent.CompletionException: java.lang.IllegalStateException: Cannot accept new calls when AdminClient is closing.", "", "", ""},
		{"checkpoints not readable", "WARN Not authorized to access checkpoints topic a.checkpoints.internal - this may degrade offset translation as only checkpoints for offsets which were mirrored after the task started will be emitted", "", "acl-denied", "", "a.checkpoints.internal"},
		{"polling denied", "ERROR Error polling: org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [mm2-offset-syncs.b.internal]", "", "acl-denied", "", "mm2-offset-syncs.b.internal"},
		{"information", "INFO Failure sending offset sync.", "", "", "", ""},
		{"null offset on the target", "ERROR Scheduler for MirrorCheckpointTask caught exception in scheduled task: sync idle consumer group offset from source to target", "java.lang.NullPointerException: x", "KAFKA-15607", "", ""},
	} {
		l := read(t, mm2Line+"[2024-05-01 10:00:00,123] "+c.line+" (org.apache.kafka.connect.mirror.MirrorCheckpointTask:1)\n"+c.trace+"\n")
		var kinds []string
		group, topic := "", ""
		for _, s := range l.Signs {
			kinds = append(kinds, s.Kind)
			group, topic = max(group, s.Group), max(topic, s.Topic)
		}
		if got := strings.Join(kinds, " "); got != c.kinds || group != c.group || topic != c.topic {
			t.Errorf("%s: %q, group %q, topic %q, want %q, %q, %q", c.name, got, group, topic, c.kinds, c.group, c.topic)
		}
	}
}

// TestSecretsStay: neither settings nor credentials leave a log.
func TestSecretsStay(t *testing.T) {
	l := read(t, mm2Line+`[2024-05-01 10:00:00,000] WARN MirrorCheckpointConfig values:
	sasl.jaas.config = org.apache.kafka.X required username="u" password="hunter2";
	Failure sending offset sync. hunter2
[2024-05-01 10:00:00,001] ERROR WorkerSourceTask{id=x-0} Task threw an uncaught and unrecoverable exception (org.apache.kafka.connect.runtime.WorkerTask:1)
org.apache.kafka.common.KafkaException: cannot reach https://admin:hunter2@host/ with password=hunter2, sasl.jaas.config="hunter2", token: hunter2, Authorization: Bearer hunter2hunter2
`)
	if len(l.Signs) != 1 || l.Signs[0].Kind != TaskFailed {
		t.Fatalf("%+v", l.Signs)
	}
	if s := fmt.Sprint(l); strings.Contains(s, "hunter2") || !strings.Contains(l.Signs[0].Text, "cannot reach https://[removed]host/") {
		t.Errorf("kept: %s", l.Signs[0].Text)
	}
}

// TestFlows: a line counts for the flow that it, or its connector, names; one without either only where the file speaks of one flow.
func TestFlows(t *testing.T) {
	line := "[2024-05-01 10:00:00,000] WARN %s" + active + " (org.apache.kafka.connect.mirror.MirrorCheckpointTask:388)\n"
	two := "[2024-05-01 09:00:00,000] INFO creating herder for a->b (org.apache.kafka.connect.mirror.MirrorMaker:1)\n[2024-05-01 09:00:00,000] INFO creating herder for us-east->b (org.apache.kafka.connect.mirror.MirrorMaker:1)\n"
	one := read(t, mm2Line+fmt.Sprintf(line, ""))
	both := read(t, two+fmt.Sprintf(line, "")+fmt.Sprintf(line, "[us-east->b.MirrorCheckpointConnector|task-0] ")+fmt.Sprintf(line, "[cp|task-0] "))
	if !slices.Equal(both.Flows, []string{"a->b", "us-east->b"}) {
		t.Fatalf("flows %v", both.Flows)
	}
	for _, c := range []struct {
		name, flow, connector string
		log                   *Log
		count                 int
	}{
		{"one flow", "a->b", "", one, 1},
		{"its own flow", "us-east->b", "", both, 1},
		{"another flow's line", "a->b", "", both, 0},
		{"by the connector", "a->b", "cp", both, 1},
	} {
		l, ok := Of([]*Log{c.log}, c.flow, c.connector)
		if !ok || len(l.Signs) != c.count || !slices.Equal(l.Files, []string{"mm2.log"}) {
			t.Errorf("%s: %v %+v", c.name, ok, l)
		}
	}
	if l, ok := Of([]*Log{both}, "x->y"); ok {
		t.Errorf("a log of other flows counts for x->y: %+v", l)
	}
	old, young := *one, *one
	old.Version, young.Version, young.Last = "3.6.2", "3.9.1", one.Last+1
	for _, order := range [][]*Log{{&old, &young}, {&young, &old}} {
		if l, _ := Of(order, "a->b"); l.Version != "3.9.1" || len(l.Files) != 2 {
			t.Errorf("%+v", l)
		}
	}
}

func TestDamagedAndForeign(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	for i := range 5000 {
		fmt.Fprintf(w, "[2024-05-01 10:00:00,%03d] INFO %d %x (org.apache.kafka.connect.mirror.X:1)\n", i%1000, i*i*7919, i*104729)
	}
	w.Close()
	for name, c := range map[string]struct{ text, why string }{
		"empty":        {"", "it is empty"},
		"no log":       {"clusters = a, b\n", "no line has a time and a level"},
		"broker":       {"[2024-05-01 10:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n", "nothing in it comes from Kafka Connect"},
		"cut gzip":     {z.String()[:z.Len()/2], "it is damaged after"},
		"no real gzip": {"\x1f\x8bnonsense", "it begins like a gzip file"},
	} {
		_, err := ReadLog("x.log", strings.NewReader(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.why) || e.Next == "" || !strings.HasPrefix(err.Error(), "x.log: cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l, err := ReadLog("x.log.gz", &z); err != nil || l.Lines != 5000 {
		t.Errorf("packed: %v %v", l, err)
	}
	for name, text := range map[string]string{"properties": "# [2024-05-01 10:00:00,000] INFO x\nclusters = a, b\n", "json": `{"name":"x","config":{"connector.class":"y"}}`, "yaml": "apiVersion: v1\nkind: x\n", "nothing": ""} {
		if IsLog([]byte(text)) {
			t.Errorf("%s is taken for a log", name)
		}
	}
}

// TestBounded: many different signs, endless lines and endless traces cost no more than the bounds.
func TestBounded(t *testing.T) {
	pr, pw := io.Pipe()
	go func() {
		io.WriteString(pw, mm2Line)
		for i := range 3000 {
			fmt.Fprintf(pw, "[2024-05-01 10:00:00,000] ERROR GroupAuthorizationException occurred while trying to x. Not authorized to access group: g%c%d (x.Y:1)\n", 'a'+i%26, i)
		}
		long := strings.Repeat("x", 1<<20)
		for range 8 {
			io.WriteString(pw, "\tat "+long+"\n")
		}
		pw.Close()
	}()
	l, err := ReadLog("x", pr)
	if err != nil || len(l.Signs) != mostSigns || l.Dropped != 2500 {
		t.Errorf("%v, %d signs, %d dropped", err, len(l.Signs), l.Dropped)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(mm2Line + "[2024-05-01 10:00:00,123] WARN " + active + " (x:1)\n\tat x\n"))
	f.Add([]byte(`{"instant":{"epochSecond":1,"nanoOfSecond":2},"level":"ERROR","message":"x","thrown":{"name":"a","cause":{"name":"b"}}}`))
	f.Add([]byte(`{"log":"{\"level\":\"WARN\",\"message\":\"x\"}"}`))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, b []byte) {
		IsLog(b)
		l, err := ReadLog("x", bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, s := range l.Signs {
			if s.Kind == "" || s.Count < 1 || len([]rune(s.Text)) > longestText || strings.ContainsAny(s.Text, "\n\r\x1b") {
				t.Errorf("%+v", s)
			}
		}
		for _, fl := range l.Flows {
			Of([]*Log{l}, fl)
		}
	})
}
