//go:build lab

package apply

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The tests of this file run against the real broker at LAB_BROKER (HOST:PORT, PLAINTEXT, one node) of release LAB_VERSION, which
// fixtures/lab starts. They write topics and groups of their own.
func labBroker(t *testing.T) (addr, version string) {
	addr, version = os.Getenv("LAB_BROKER"), os.Getenv("LAB_VERSION")
	if addr == "" || version == "" {
		t.Skip("LAB_BROKER and LAB_VERSION are not set")
	}
	return addr, version
}

// script runs one of Kafka's own scripts. kafka-consumer-groups.sh ends with 0 when it was not
// answered in time; it is asked again.
func script(t *testing.T, version, name string, args ...string) string {
	t.Helper()
	for try := 0; ; try++ {
		cmd := exec.Command("../../fixtures/lab/bin/"+name, args...)
		cmd.Env = append(os.Environ(), "MM2DOCTOR_KAFKA_VERSION="+version)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if name == "kafka-console-consumer.sh" || err == nil && !strings.Contains(string(out)+stderr.String(), "Error: Executing") {
			return string(out)
		}
		if try == 4 {
			t.Fatalf("%s %v: %v\n%s\n%s", name, args, err, out, stderr.String())
		}
		t.Logf("%s: %v; asked again\n%.800s\n%.800s", name, err, out, stderr.String())
		time.Sleep(time.Second)
	}
}

// described gives "topic-partition=offset" per group as kafka-consumer-groups.sh sees it.
func described(t *testing.T, addr, version string, groups ...string) map[string][]string {
	t.Helper()
	args := []string{"--bootstrap-server", addr, "--describe", "--offsets", "--timeout", "30000"}
	for _, g := range groups {
		args = append(args, "--group", g)
	}
	out := map[string][]string{}
	for _, line := range strings.Split(script(t, version, "kafka-consumer-groups.sh", args...), "\n") {
		if f := strings.Fields(line); len(f) >= 6 && slices.Contains(groups, f[0]) {
			out[f[0]] = append(out[f[0]], f[1]+"-"+f[2]+"="+f[3])
		}
	}
	for _, v := range out {
		slices.Sort(v)
	}
	return out
}

func newTopic(t *testing.T, addr string, partitions int32) string {
	t.Helper()
	name := fmt.Sprintf("apply-%d", time.Now().UnixNano())
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), partitions, 1, nil, name); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	fill(t, []string{addr}, name, partitions)
	return name
}

func journalFor(t *testing.T, name string) *FileJournal {
	t.Helper()
	j, err := CreateJournal(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func reread(t *testing.T, j *FileJournal) *Log {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, l, err := OpenJournal(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	return l
}

// TestLabApply: groups of every kind that the release has, one of them live; applied, verified by Kafka's own tool and by real
// consumers, and taken back.
func TestLabApply(t *testing.T) {
	addr, version := labBroker(t)
	kip848 := version >= "4"
	topic := newTopic(t, addr, 3)
	tag := topic[len(topic)-6:]
	absent, classic, deleted, live, next := "absent-"+tag, "classic-"+tag, "deleted-"+tag, "live-"+tag, "next-"+tag
	addrs := []string{addr}
	tg := NewTarget(dial(t, addrs, wire.Writer(), nil))

	seed(t, addrs, classic, map[kafka.TopicPartition]plan.Committed{tp(topic, 0): *at(1, 0, "old"), tp(topic, 2): *at(9, -1, "")})
	seed(t, addrs, deleted, map[kafka.TopicPartition]plan.Committed{tp(topic, 0): *at(1, -1, ""), tp(topic, 1): *at(2, -1, ""), tp(topic, 2): *at(3, -1, "")})
	script(t, version, "kafka-consumer-groups.sh", "--bootstrap-server", addr, "--timeout", "30000", "--delete-offsets", "--group", deleted, "--topic", topic+":1")
	groups := []string{absent, classic, deleted, live}
	if kip848 {
		groups = append(groups, next)
		script(t, version, "kafka-console-consumer.sh", "--bootstrap-server", addr, "--topic", topic, "--group", next, "--from-beginning", "--timeout-ms", "8000",
			"--consumer-property", "group.protocol=consumer")
	}
	holder, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumerGroup(live), kgo.ConsumeTopics(topic), kgo.ClientID("billing-7"), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	holder.PollFetches(t.Context())

	p := planFor(t, tg, topic, 3, groups...)
	before := stands(t, tg, groups...)
	if kip848 {
		if g := p.Groups[4]; g.TargetType != "consumer" || g.TargetState != "Empty" {
			t.Fatalf("%s is %s %s", next, g.TargetType, g.TargetState)
		}
	}
	if g := p.Groups[2]; g.Rows[1].Before != nil || g.Rows[0].Before == nil {
		t.Fatalf("%s: %+v", deleted, g.Rows)
	}
	j := journalFor(t, "j.json")
	o := Options{IdleProof: 2 * time.Second}
	out, err := Run(t.Context(), p, tg, nil, j, o)
	if err != nil || out.Result != Partial {
		t.Fatalf("%v %+v", err, out)
	}
	for _, g := range out.Groups {
		if g.Group == live {
			if g.Action != Refused || g.Code != 701 || len(g.Holders) != 1 || !strings.Contains(g.Holders[0], "billing-7") {
				t.Errorf("%+v", g)
			}
		} else if g.Action != Written {
			t.Errorf("%s: %s %s %s", g.Group, g.Action, g.Code, g.Because)
		}
	}
	var want []string
	for _, r := range p.Groups[0].Rows {
		want = append(want, fmt.Sprintf("%s-%d=%d", topic, r.Partition, *r.To))
	}
	for g, got := range described(t, addr, version, slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return g == live })...) {
		if !slices.Equal(got, want) {
			t.Errorf("kafka-consumer-groups.sh on %s: %v, want %v", g, got, want)
		}
	}
	v, err := Verify(t.Context(), p, tg, o)
	if err != nil || v.Summary.Holds != 3*(len(groups)-1) || v.Summary.Gone+v.Summary.TakenOver+v.Summary.Other != 3 {
		t.Errorf("%v %+v", err, v.Summary)
	}
	if kip848 {
		if g := v.Groups[4]; g.Type != "consumer" {
			t.Errorf("%s became %s", next, g.Type)
		}
	}
	l := reread(t, j)

	// A real consumer of the group starts where it was put: 3 partitions of 10 records, from 3, 4 and 5.
	got := script(t, version, "kafka-console-consumer.sh", "--bootstrap-server", addr, "--topic", topic, "--group", absent, "--timeout-ms", "8000", "--property", "print.offset=true", "--property", "print.partition=true")
	if n := strings.Count(got, "Partition:"); n != 7+6+5 || !strings.Contains(got, "Partition:0\tOffset:3\t") || strings.Contains(got, "Partition:0\tOffset:2\t") {
		t.Errorf("the consumer read %d records:\n%s", n, got)
	}
	v, err = Verify(t.Context(), p, tg, o)
	if err != nil || v.Groups[0].Partitions[0].Verdict != TakenOver {
		t.Errorf("%v %+v", err, v.Groups[0])
	}

	// Taking back leaves what the consumer moved, and restores the rest.
	back := journalFor(t, "back.json")
	out, err = Rollback(t.Context(), l, tg, back, o)
	if err != nil || out.Result != Partial || out.Summary.Partitions.Left != 3 {
		t.Fatalf("%v %+v", err, out)
	}
	rest := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return g == absent })
	if now := stands(t, tg, rest...); now != before {
		t.Errorf("%swant\n%s", now, before)
	}
	// And forward again.
	again := journalFor(t, "again.json")
	defer again.Close()
	if out, err = Rollback(t.Context(), reread(t, back), tg, again, o); err != nil || out.Result != Done {
		t.Fatalf("%v %+v", err, out)
	}
	if got := described(t, addr, version, classic)[classic]; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}

	// The live group once it is Empty.
	holder.Close()
	time.Sleep(time.Second)
	p = planFor(t, tg, topic, 3, live)
	j = journalFor(t, "live.json")
	defer j.Close()
	if out, err = Run(t.Context(), p, tg, nil, j, o); err != nil || out.Result != Done {
		t.Errorf("%v %+v", err, out)
	}
}

// TestLabAssigned: a consumer that assigns partitions itself is no member; its commits give it away.
func TestLabAssigned(t *testing.T) {
	addr, _ := labBroker(t)
	topic := newTopic(t, addr, 1)
	tg := NewTarget(dial(t, []string{addr}, wire.Writer(), nil))
	group := "assigned-" + topic
	seed(t, []string{addr}, group, map[kafka.TopicPartition]plan.Committed{tp(topic, 0): *at(1, -1, "")})
	p := planFor(t, tg, topic, 1, group)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := int64(2); ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(300 * time.Millisecond):
				seed(t, []string{addr}, group, map[kafka.TopicPartition]plan.Committed{tp(topic, 0): *at(i, 0, "")})
			}
		}
	}()
	time.Sleep(100 * time.Millisecond)
	out, err := Run(t.Context(), p, tg, nil, &paper{fuse: &fuse{}}, Options{IdleProof: 2 * time.Second})
	close(stop)
	<-done
	if err != nil || out.Result != Nothing || out.Groups[0].Code != 708 {
		t.Errorf("%v %+v", err, out.Groups)
	}
}

// TestLabEpochAndLife: the current leader epoch is proved and committed; an explicit life is sent without one.
func TestLabEpochAndLife(t *testing.T) {
	addr, _ := labBroker(t)
	topic := newTopic(t, addr, 2)
	tg := NewTarget(dial(t, []string{addr}, wire.Writer(), nil))
	for _, tt := range []struct {
		name  string
		o     plan.Options
		epoch int32
	}{{"stamped", plan.Options{StampEpoch: true}, 0}, {"kept", plan.Options{KeepMs: 3600_000}, -1}} {
		p := planFor(t, tg, topic, 2, tt.name+"-"+topic)
		p.Options = tt.o
		p.Seal()
		out, err := Run(t.Context(), p, tg, nil, &paper{fuse: &fuse{}}, hasty)
		if err != nil || out.Result != Done || out.Groups[0].Partitions[0].Found.Epoch != tt.epoch {
			t.Errorf("%s: %v %+v", tt.name, err, out.Groups)
		}
		if v, err := Verify(t.Context(), p, tg, hasty); err != nil || v.Summary.Holds != 2 {
			t.Errorf("%s: %v %+v", tt.name, err, v)
		}
	}
}

// TestLabMetadataTooLarge: one partition of a commit is refused, the others are written.
func TestLabMetadataTooLarge(t *testing.T) {
	addr, _ := labBroker(t)
	topic := newTopic(t, addr, 2)
	tg := NewTarget(dial(t, []string{addr}, wire.Writer(), nil))
	p := planFor(t, tg, topic, 2, "long-"+topic)
	p.Groups[0].Rows[1].From.Metadata = strings.Repeat("x", 5000)
	p.Seal()
	out, err := Run(t.Context(), p, tg, nil, &paper{fuse: &fuse{}}, hasty)
	if err != nil {
		t.Fatal(err)
	}
	if r := out.Groups[0].Partitions; out.Result != Partial || r[0].Action != Written || r[1].Action != Failed || r[1].Code != 315 {
		t.Errorf("%+v", out.Groups[0])
	}
}

// TestLabKilled kills a process twenty times at random moments; Kafka's own tool sees the plan after going on, and the
// pre-image after taking back.
func TestLabKilled(t *testing.T) {
	addr, version := labBroker(t)
	topic := newTopic(t, addr, 4)
	tg := NewTarget(dial(t, []string{addr}, wire.Writer(), nil))
	var groups []string
	for i := range 24 {
		groups = append(groups, fmt.Sprintf("k%02d-%s", i, topic))
		if i%2 == 0 {
			seed(t, []string{addr}, groups[i], map[kafka.TopicPartition]plan.Committed{tp(topic, 1): *at(int64(i%9), 0, "old"), tp(topic, 3): *at(1, -1, "")})
		}
	}
	p := planFor(t, tg, topic, 4, groups...)
	before := stands(t, tg, groups...)
	want := map[string][]string{}
	for _, g := range p.Groups {
		for _, r := range g.Rows {
			want[g.Group] = append(want[g.Group], fmt.Sprintf("%s-%d=%d", topic, r.Partition, *r.To))
		}
	}
	// The tool of Kafka 4 gives up at the first group that is not there.
	there := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return !strings.Contains(before, g) })
	seen := described(t, addr, version, there...)
	look := func(applied bool) {
		t.Helper()
		ask, expect := there, seen
		if applied {
			ask, expect = groups, want
		}
		now := described(t, addr, version, ask...)
		for _, g := range ask {
			if !slices.Equal(now[g], expect[g]) {
				t.Errorf("kafka-consumer-groups.sh on %s: %v, want %v", g, now[g], expect[g])
			}
		}
		if listed := strings.Fields(script(t, version, "kafka-consumer-groups.sh", "--bootstrap-server", addr, "--timeout", "30000", "--list")); !applied {
			for _, g := range groups {
				if slices.Contains(listed, g) != slices.Contains(there, g) {
					t.Errorf("kafka-consumer-groups.sh lists %s: %v", g, slices.Contains(listed, g))
				}
			}
		}
	}
	// A look by the tool takes a JVM: LAB_LOOK=N looks each N-th time only.
	every := 1
	if n, err := strconv.Atoi(os.Getenv("LAB_LOOK")); err == nil && n > 0 {
		every = n
	}
	rnd := rand.New(rand.NewSource(time.Now().UnixNano()))
	for i := range 20 {
		after := time.Duration(rnd.Intn(160)) * time.Millisecond
		path, early := killed(t, addr, p, after)
		tool := look
		if i%every != 0 {
			tool = func(bool) {}
		}
		t.Logf("%s, killed %v: %s", after, early, settle(t, tg, path, p, before, i%2 == 0, groups, tool))
	}
}

// TestLabShare: share groups, absent and there, get start offsets and lose them again; before Kafka 4.2 nothing is written, and
// the outcome says so.
func TestLabShare(t *testing.T) {
	addr, version := labBroker(t)
	if version < "4" {
		t.Skip("no share groups")
	}
	topic := newTopic(t, addr, 2)
	tg := NewTarget(dial(t, []string{addr}, wire.Writer(), nil))
	there, absent := "there-"+topic, "absent-"+topic
	works := version >= "4.2"
	if works {
		a := tg.AlterShare(t.Context(), there, []Value{{tp(topic, 0), *at(2, -1, "")}})
		if a.Err != nil || len(a.Places) > 0 {
			t.Fatal(a)
		}
	}
	groups := []string{absent, there}
	p := planFor(t, tg, topic, 2, groups...)
	for i := range p.Groups {
		p.Groups[i].Type = "share"
	}
	p.Seal()
	before := stands(t, tg, groups...)
	j := journalFor(t, "j.json")
	out, err := Run(t.Context(), p, tg, nil, j, Options{IdleProof: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if !works {
		if out.Wrote || out.Groups[0].Action != Failed {
			t.Errorf("%+v", out)
		}
		t.Logf("%s: %s", version, out.Groups[0].Because)
		return
	}
	if out.Result != Done {
		t.Fatalf("%+v", out)
	}
	for _, g := range groups {
		got := script(t, version, "kafka-share-groups.sh", "--bootstrap-server", addr, "--describe", "--offsets", "--group", g)
		for i := range 2 {
			if !strings.Contains(strings.Join(strings.Fields(got), " "), fmt.Sprintf("%s %s %d %d ", g, topic, i, 3+i)) {
				t.Errorf("kafka-share-groups.sh: %s", got)
			}
		}
	}
	if v, err := Verify(t.Context(), p, tg, hasty); err != nil || v.Summary.Holds != 4 {
		t.Errorf("%v %+v", err, v)
	}
	back := journalFor(t, "back.json")
	defer back.Close()
	if out, err = Rollback(t.Context(), reread(t, j), tg, back, hasty); err != nil || out.Result != Done {
		t.Fatalf("%v %+v", err, out)
	}
	if now := stands(t, tg, groups...); now != before {
		t.Errorf("%swant\n%s", now, before)
	}
	for _, g := range out.Groups {
		if !slices.ContainsFunc(g.Remarks, func(s string) bool { return strings.Contains(s, "acknowledgements") }) {
			t.Errorf("%s: %v", g.Group, g.Remarks)
		}
	}
}
