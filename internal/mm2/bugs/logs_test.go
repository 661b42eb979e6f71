package bugs

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func ids(hits []Hit) string {
	var out []string
	for _, h := range hits {
		word := h.ID
		if h.Cause == Unknown {
			word += "?"
		}
		if h.Shows() {
			word += "!"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestMatchLog(t *testing.T) {
	const head = "[2026-01-02 03:04:05,678] "
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"plain line", head + "INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser:125)", ""},
		{"cause in the trace", head + "WARN Failure polling consumer state for checkpoints. (org.apache.kafka.connect.mirror.MirrorCheckpointTask:199)\njava.lang.NullPointerException\n\tat x.Y(Y.java:1)", "KAFKA-14545! KAFKA-14072!"},
		{"no trace at hand", head + "WARN Failure polling consumer state for checkpoints. (org.apache.kafka.connect.mirror.MirrorCheckpointTask:199)", "KAFKA-14545? KAFKA-14072?"},
		{"another cause", head + "WARN Failure polling consumer state for checkpoints. (x.Y:1)\njava.lang.IllegalStateException: x", ""},
		{"another level", head + "INFO Failure polling consumer state for checkpoints. (x.Y:1)\njava.lang.NullPointerException", ""},
		{"no level", "Failure polling consumer state for checkpoints.\njava.lang.NullPointerException", "KAFKA-14545! KAFKA-14072!"},
		{"group active on the target", head + "WARN Unable to sync offsets for consumer group g. This is likely caused by consumers currently using this group in the target cluster. (org.apache.kafka.connect.mirror.MirrorCheckpointTask:300)", "KAFKA-14095 KAFKA-19794"},
		{"topic missing on the target", head + "ERROR Unable to sync offsets for consumer group g. (org.apache.kafka.connect.mirror.MirrorCheckpointTask:300)\norg.apache.kafka.common.errors.UnknownTopicOrPartitionException: x", "KAFKA-14095 KAFKA-19107! BEHAVIOUR-missing-target-topic! KAFKA-9726!"},
		{"store not loaded", head + "ERROR [a->b.MirrorCheckpointConnector|task-0] Scheduler for MirrorCheckpointTask-0: caught exception in scheduled task: starting checkpoint and offset sync stores (org.apache.kafka.connect.mirror.Scheduler:102)", "BEHAVIOUR-store-start-failure!"},
		{"sync job dead", head + "ERROR Scheduler for MirrorCheckpointTask-0: caught exception in scheduled task: sync idle consumer group offset from source to target (x.Scheduler:1)\njava.lang.NullPointerException\n\tat org.apache.kafka.connect.mirror.MirrorCheckpointTask.syncGroupOffset", "KAFKA-15607!"},
		{"cycle search", head + "ERROR caught exception in scheduled task: refreshing topics (x.Scheduler:1)\njava.lang.NullPointerException\n\tat org.apache.kafka.connect.mirror.MirrorSourceConnector.isCycle(MirrorSourceConnector.java:1)", "KAFKA-14314!"},
		{"topic exists", head + "ERROR Unable to create topic mm2-offset-syncs.b.internal (x.Y:1)\norg.apache.kafka.common.errors.TopicExistsException: x", "MINOR-13005!"},
		{"needs its cause", head + "ERROR Unable to create topic mm2-offset-syncs.b.internal (x.Y:1)", ""},
		{"REST answer", `{"error_code":400,"message":"MirrorCheckpointConnector can't run without offset syncs"}`, "KAFKA-16254!"},
		{"follower", head + "INFO This node is a follower for a->b. Using existing connector configuration. (org.apache.kafka.connect.mirror.MirrorMaker:1)", "KAFKA-15372"},
		{"with thread", "2026-01-02 03:04:05,678 WARN took too long (12345 ms) running task: refreshing consumer groups (org.apache.kafka.connect.mirror.Scheduler) [Scheduler-1]", "KAFKA-15139!"},
		{"carriage return", head + "WARN Could not alter configuration of topic a.orders. (x.Y:1)\r\n", "KAFKA-20017"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ids(MatchLog(tc.text)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// The logs of real MirrorMaker 2 hold exactly these lines that the catalogue knows, counted by entry; a trace belongs to the
// line above it.
func TestMatchLogOnCaptures(t *testing.T) {
	files, err := filepath.Glob("../../../fixtures/captures/*/mm2-*.log.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captured logs: %v", err)
	}
	got := map[string]map[string]int{}
	for _, file := range files {
		release := filepath.Base(filepath.Dir(file))
		if got[release] == nil {
			got[release] = map[string]int{}
		}
		for _, event := range events(t, file) {
			for _, h := range MatchLog(event) {
				got[release][h.ID]++
				if h.Shows() {
					got[release]["shown "+h.ID]++
				}
			}
		}
	}
	want, err := os.ReadFile("testdata/captures.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for release, counts := range got {
		if !strings.Contains(string(want), release+":") { // a capture that came later
			continue
		}
		var words []string
		for id, n := range counts {
			words = append(words, fmt.Sprintf("%s=%d", id, n))
		}
		slices.Sort(words)
		lines = append(lines, release+": "+strings.Join(words, " "))
	}
	slices.Sort(lines)
	if text := strings.Join(lines, "\n") + "\n"; text != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func events(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	r := bufio.NewReader(z)
	for {
		text, err := r.ReadString('\n')
		switch {
		case strings.HasPrefix(text, "[") || len(out) == 0:
			out = append(out, text)
		default:
			out[len(out)-1] += text
		}
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLiterals(t *testing.T) {
	for _, b := range All() {
		for _, p := range b.Logs {
			if p.literal == "" && p.Match.String() != ".*" {
				t.Errorf("%s: %v has no literal to look for first", b.ID, p.Match)
			}
		}
	}
}

func FuzzMatchLog(f *testing.F) {
	for _, b := range catalogue {
		for _, p := range b.Logs {
			f.Add(p.Level + " " + p.literal + "\n" + p.Cause + "\n\tat " + p.Frame)
		}
	}
	f.Add("[2026-01-02 03:04:05,678] WARN x (y.Z:1) [t]")
	f.Fuzz(func(t *testing.T, text string) {
		for _, h := range MatchLog(text) {
			first, _, _ := strings.Cut(text, "\n")
			if !h.Pattern.Match.MatchString(first) && !h.Pattern.Match.MatchString(strings.TrimSpace(first)) && !strings.HasSuffix(h.Pattern.Match.String(), "$") {
				t.Errorf("%s: %v does not match %q", h.ID, h.Pattern.Match, first)
			}
			if h.Cause == Yes && !strings.Contains(text, h.Pattern.Cause) {
				t.Errorf("%s: cause not in %q", h.ID, text)
			}
			if h.Cause == No {
				t.Errorf("%s: a hit without its cause", h.ID)
			}
		}
	})
}
