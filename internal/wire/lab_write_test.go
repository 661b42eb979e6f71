//go:build lab

package wire

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestLabWrites writes to absent, empty and live groups at LAB_BROKER. On a broker without groups (LAB_FRESH) the first commit
// creates __consumer_offsets.
func TestLabWrites(t *testing.T) {
	l := openLab(t)
	version := os.Getenv("LAB_VERSION")
	topic := l.topic(3, nil)
	l.put(l.kgo(), &kgo.Record{Topic: topic, Value: []byte("v")}, &kgo.Record{Topic: topic, Partition: 1, Value: []byte("v")})
	g := func(s string) string { return s + "-" + topic }
	tp := func(p int32) kafka.TopicPartition { return kafka.TopicPartition{Topic: topic, Partition: p} }
	state := func(group string) DescribeResult { return l.c.DescribeGroups(ctx(t), []GroupRef{{ID: group}})[group] }
	if os.Getenv("LAB_FRESH") != "" {
		if md, err := l.c.Metadata(ctx(t), []string{offsetsTopic}); err != nil || md.Topics[0].Err == nil {
			t.Fatalf("not fresh: %+v %v", md, err)
		}
	}
	commit := func(group string, o CommitOptions, cs ...Commit) []CommitResult {
		t.Helper()
		rs, err := l.c.CommitOffsets(ctx(t), group, cs, o)
		if err != nil || len(rs) != len(cs) {
			t.Fatal(rs, err)
		}
		return rs
	}
	good := func(rs []CommitResult) {
		t.Helper()
		for _, r := range rs {
			if r.Err != nil {
				t.Error(r.Err)
			}
		}
	}
	has := func(group, want string) {
		t.Helper()
		if got := strings.ReplaceAll(offsets(t, l.c, group), topic, "t"); got != want {
			t.Errorf("%s has %s, want %s", group, got, want)
		}
	}

	// Absent: created as a simple classic group. Again: overwritten.
	good(commit(g("absent"), CommitOptions{}, Commit{topic, 0, 1, -1, "m"}, Commit{topic, 1, 0, 0, ""}))
	has(g("absent"), `t-0=1/-1 "m", t-1=0/0 ""`)
	if d := state(g("absent")); !d.Exists || d.State != kafka.StateEmpty || d.Type != kafka.TypeClassic || d.ProtocolType != "" {
		t.Errorf("created as %+v", d)
	}
	good(commit(g("absent"), CommitOptions{}, Commit{topic, 0, 0, -1, ""}))
	has(g("absent"), `t-0=0/-1 "", t-1=0/0 ""`)

	// What brokers take and refuse.
	rs := commit(g("absent"), CommitOptions{}, Commit{topic, 2, 99, -1, "beyond the end"}, Commit{topic, 9, 1, -1, ""}, Commit{topic, 1, 1, -1, strings.Repeat("x", 5000)}, Commit{"not-there", 0, 1, -1, ""})
	for i, want := range []kafka.ErrorCode{0, kafka.UnknownTopicOrPartition, kafka.OffsetMetadataTooLarge, kafka.UnknownTopicOrPartition} {
		if CodeOf(rs[i].Err) != want || InDoubt(rs[i].Err) {
			t.Errorf("%d: %v", i, rs[i].Err)
		}
	}
	has(g("absent"), `t-0=0/-1 "", t-1=0/0 "", t-2=99/-1 "beyond the end"`)

	// Explicit retention stands in the log as the time at which the offset expires.
	keep := g("keep")
	good(commit(keep, CommitOptions{RetentionMs: 3_600_000}, Commit{topic, 0, 1, 5, "m"}))
	has(keep, `t-0=1/-1 "m"`)
	var logged []LoggedCommit
	if bad := l.c.ReadCommits(ctx(t), []string{keep, g("absent")}, 1<<20, CommitLog{func(cm LoggedCommit) { logged = append(logged, cm) }, func(Entered) {}}); len(bad) > 0 {
		t.Error(bad)
	}
	for _, cm := range logged {
		want := int64(0)
		if cm.Group == keep {
			want = cm.Time + 3_600_000
		}
		if cm.Expires != want {
			t.Errorf("%+v: expires %d, want %d", cm, cm.Expires, want)
		}
	}

	// Live groups refuse, and change nothing.
	live := map[string]kafka.GroupType{g("classic"): kafka.TypeClassic}
	memberOf := func(group string, opts ...kgo.Opt) *kgo.Client {
		cl := l.kgo(append([]kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit()}, opts...)...)
		go func() {
			for t.Context().Err() == nil && !cl.PollFetches(t.Context()).IsClientClosed() {
			}
		}()
		return cl
	}
	stops := map[string]func(){}
	good(commit(g("classic"), CommitOptions{}, Commit{topic, 0, 1, -1, ""}))
	stops[g("classic")] = memberOf(g("classic")).Close
	switch {
	case strings.HasPrefix(version, "4."):
		stops[g("modern")] = memberOf(g("modern"), kgo.ServerSideBalancer()).Close
		live[g("modern")] = kafka.TypeConsumer
	case version == "3.9" && os.Getenv("LAB_SH") != "": // the broker needs group.coordinator.rebalance.protocols=classic,consumer
		cc, cancel := context.WithCancel(t.Context())
		cmd := exec.CommandContext(cc, os.Getenv("LAB_SH"), "tool", "3.9.1", "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", l.addr, "--topic", topic, "--group", g("modern"), "--consumer-property", "group.protocol=consumer", "--consumer-property", "enable.auto.commit=false")
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stops[g("modern")] = func() { cancel(); cmd.Wait() }
		live[g("modern")] = kafka.TypeConsumer
	}
	for group, typ := range live {
		var d DescribeResult
		for range 150 {
			if d = state(group); d.State == kafka.StateStable && len(d.Members) > 0 {
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
		if d.Type != typ || d.State != kafka.StateStable {
			t.Fatalf("%s: %+v", group, d)
		}
		before := offsets(t, l.c, group)
		for _, o := range []CommitOptions{{}, {RetentionMs: 1000}} {
			if r := commit(group, o, Commit{topic, 0, 0, -1, ""})[0]; CodeOf(r.Err) != kafka.UnknownMemberID || InDoubt(r.Err) {
				t.Errorf("%s, live, %+v: %v", typ, o, r.Err)
			} else {
				t.Log(r.Err)
			}
		}
		del, err := l.c.DeleteOffsets(ctx(t), group, []kafka.TopicPartition{tp(0)})
		if err != nil || CodeOf(del[tp(0)]) != kafka.GroupSubscribedToTopic {
			t.Errorf("%s, live: %v %v", typ, del, err)
		}
		if err := l.c.DeleteGroup(ctx(t), group); CodeOf(err) != kafka.NonEmptyGroup {
			t.Errorf("%s, live: %v", typ, err)
		}
		if after := offsets(t, l.c, group); after != before {
			t.Errorf("%s: %s became %s", typ, before, after)
		}
		// The same group without its members.
		stops[group]()
		for range 150 {
			if d = state(group); d.State == kafka.StateEmpty {
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
		if d.State != kafka.StateEmpty {
			t.Fatalf("%s after its members left: %+v", group, d)
		}
		good(commit(group, CommitOptions{}, Commit{topic, 0, 1, -1, "empty"}, Commit{topic, 1, 1, -1, ""}))
		good(commit(group, CommitOptions{RetentionMs: 3_600_000}, Commit{topic, 2, 0, -1, "kept"}))
		has(group, `t-0=1/-1 "empty", t-1=1/-1 "", t-2=0/-1 "kept"`)
		if d := state(group); d.Type != typ || d.State != kafka.StateEmpty {
			t.Errorf("%s after a commit: %+v", group, d)
		}
		del, err = l.c.DeleteOffsets(ctx(t), group, []kafka.TopicPartition{tp(1), tp(2), {Topic: topic, Partition: 7}})
		t.Logf("%s, empty: %v %v", typ, del, err)
		if err != nil || len(del) != 3 || del[tp(1)] != nil || del[tp(2)] != nil {
			t.Errorf("%v %v", del, err)
		}
		has(group, `t-0=1/-1 "empty"`)
		if err := l.c.DeleteGroup(ctx(t), group); err != nil {
			t.Error(err)
		}
		if d := state(group); d.Exists || d.Err != nil {
			t.Errorf("after its removal: %+v", d)
		}
	}

	// The last offset of a simple group goes with the group, or without it.
	if del, err := l.c.DeleteOffsets(ctx(t), keep, []kafka.TopicPartition{tp(0), tp(1)}); err != nil || del[tp(0)] != nil || del[tp(1)] != nil {
		t.Errorf("%v %v", del, err)
	}
	has(keep, "")
	t.Logf("a simple group without offsets: %+v", state(keep))
	if err := l.c.DeleteGroup(ctx(t), g("absent")); err != nil {
		t.Error(err)
	}
	if err := l.c.DeleteGroup(ctx(t), g("absent")); CodeOf(err) != kafka.GroupIDNotFound {
		t.Error(err)
	}
	del, err := l.c.DeleteOffsets(ctx(t), g("absent"), []kafka.TopicPartition{tp(0)})
	if err != nil || CodeOf(del[tp(0)]) != kafka.GroupIDNotFound {
		t.Errorf("%v %v", del, err)
	}
	vs, err := l.c.ranges(ctx(t), l.c.anyNode(0))
	if err != nil {
		t.Fatal(err)
	}
	s := ""
	for _, key := range []int16{8, 42, 47, 84, 90, 91, 92} {
		if r, ok := vs[key]; ok {
			s += fmt.Sprintf("%d: {%d, %d}, ", key, r[0], r[1])
		}
	}
	t.Log(s)
}

// TestLabShareGroups needs share groups (LAB_VERSION 4.2 and later), or with 4.1 shows what is answered where they are off or, with
// LAB_SHARE_ON, preview.
func TestLabShareGroups(t *testing.T) {
	l := openLab(t)
	version := os.Getenv("LAB_VERSION")
	topic, other := l.topic(2, nil), l.topic(1, nil)
	var rs []*kgo.Record
	for p := range int32(2) {
		for i := range 20 {
			rs = append(rs, &kgo.Record{Topic: topic, Partition: p, Value: fmt.Appendf(nil, "%d", i)})
		}
	}
	l.put(l.kgo(), rs...)
	l.put(l.kgo(), &kgo.Record{Topic: other, Value: []byte("v")})
	g := func(s string) string { return s + "-" + topic }
	if r, err := l.c.CommitOffsets(ctx(t), g("classic"), []Commit{{topic, 0, 1, -1, ""}}, CommitOptions{}); err != nil || r[0].Err != nil {
		t.Fatal(r, err)
	}
	level, known, err := l.c.ShareFeature(ctx(t))
	t.Logf("share.version %d, known %v, %v", level, known, err)
	if level == 0 && version == "4.1" && os.Getenv("LAB_SHARE_ON") != "" {
		req := kmsg.NewPtrUpdateFeaturesRequest()
		req.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{Feature: "share.version", MaxVersionLevel: 1, UpgradeType: 1}}
		if _, err := req.RequestWith(t.Context(), l.kgo()); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if level, known, err = l.c.ShareFeature(ctx(t)); level == 1 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("now share.version %d, known %v, %v", level, known, err)
	}
	if err != nil || !known && !strings.HasPrefix(version, "2.") {
		t.Errorf("share.version %d, known %v, %v", level, known, err)
	}
	starts := []ShareStart{{topic, 0, 5}, {topic, 1, 7}}
	alter := func(group string, starts ...ShareStart) []ShareStartResult {
		t.Helper()
		rs, err := l.c.AlterShareOffsets(ctx(t), group, starts)
		if err != nil || len(rs) != len(starts) {
			t.Fatal(rs, err)
		}
		return rs
	}
	describe := func(group string) string {
		t.Helper()
		r := l.c.DescribeShareOffsets(ctx(t), []string{group})[group]
		if r.Err != nil {
			return r.Err.Error()
		}
		s := ""
		for _, o := range r.Offsets {
			s += fmt.Sprintf("%s-%d=%d lag %d epoch %d, ", strings.ReplaceAll(strings.ReplaceAll(o.Topic, topic, "t"), other, "o"), o.Partition, o.Start, o.Lag, o.Epoch)
			if o.Err != nil {
				s += o.Err.Error()
			}
		}
		return s
	}
	if level == 0 || version == "4.1" {
		for _, r := range alter(g("queue"), starts...) {
			t.Log(r.Err)
			if r.Err == nil {
				t.Error("an alter that does nothing is taken for done")
			}
		}
		if s := describe(g("queue")); s != "" {
			t.Error(s)
		}
		return
	}
	for _, r := range alter(g("queue"), append(starts, ShareStart{topic, 9, 1}, ShareStart{"not-there", 0, 1})...) {
		if (r.Err == nil) != (r.Topic == topic && r.Partition < 2) || r.Err != nil && CodeOf(r.Err) != kafka.UnknownTopicOrPartition {
			t.Errorf("%+v", r)
		}
	}
	t.Log(describe(g("queue")))
	if s := describe(g("queue")); !strings.Contains(s, "t-0=5 ") || !strings.Contains(s, "t-1=7 ") {
		t.Error(s)
	}
	if r := alter(g("classic"), starts...); CodeOf(r[0].Err) != kafka.GroupIDNotFound || CodeOf(r[1].Err) != kafka.GroupIDNotFound {
		t.Errorf("%+v", r)
	}
	// A member reads and acknowledges: 5..9 accepted, 10 rejected, 11 released, the rest accepted from 12 to 14.
	queue := g("queue")
	done := int64(11) // the first record that is not done afterwards
	l.shareSome(queue, topic, starts)
	for range 100 {
		if l.c.DescribeGroups(ctx(t), []GroupRef{{ID: queue, Type: kafka.TypeShare}})[queue].State == kafka.StateEmpty {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second)
	t.Log(describe(queue))
	rec := &recorder{}
	ro := open(t, []string{l.addr}, func(cfg *Config) { cfg.Recorder = rec.add })
	o := ro.DescribeShareOffsets(ctx(t), []string{queue})[queue]
	if o.Err != nil || len(o.Offsets) != 2 {
		t.Errorf("%+v", o)
	}
	for range 2 { // a read changes nothing
		for i, s := range ro.ReadShareState(ctx(t), queue, o.Offsets) {
			t.Logf("%s-%d epoch %d: %+v, open %d", "t", o.Offsets[i].Partition, o.Offsets[i].Epoch, s, s.Open())
			if !s.Known || s.Err != nil || s.Start != o.Offsets[i].Start {
				t.Errorf("%+v", s)
			}
			if s.Open() != done {
				t.Errorf("open at %d, want %d", s.Open(), done)
			}
		}
	}
	if again := ro.DescribeShareOffsets(ctx(t), []string{queue})[queue]; fmt.Sprint(again) != fmt.Sprint(o) {
		t.Errorf("%+v became %+v", o, again)
	}
	t.Log(rec)
	// The group still reads afterwards.
	cl, _ := kgo.NewClient(kgo.SeedBrokers(l.addr), kgo.ShareGroup(queue), kgo.ConsumeTopics(topic))
	cc, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	first := int64(-1)
	cl.PollFetches(cc).EachRecord(func(r *kgo.Record) {
		if first < 0 {
			first = r.Offset
		}
		r.Ack(kgo.AckRelease)
	})
	cancel()
	cl.Close()
	if first != 11 {
		t.Errorf("after the reads the group goes on at %d", first)
	}
	for range 100 {
		if l.c.DescribeGroups(ctx(t), []GroupRef{{ID: queue, Type: kafka.TypeShare}})[queue].State == kafka.StateEmpty {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, r := range alter(queue, ShareStart{topic, 0, 2}, ShareStart{topic, 1, 20}) {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	s := describe(queue)
	t.Log(s)
	if !strings.Contains(s, "t-0=2 ") || !strings.Contains(s, "t-1=20 ") {
		t.Error(s)
	}
	o = ro.DescribeShareOffsets(ctx(t), []string{queue})[queue]
	for _, s := range ro.ReadShareState(ctx(t), queue, o.Offsets) {
		t.Logf("after an alter: %+v", s)
		if !s.Known || len(s.Batches) > 0 {
			t.Errorf("%+v", s)
		}
	}
	m, err := l.c.DeleteShareOffsets(ctx(t), queue, []string{topic, other})
	t.Log(m, err)
	if err != nil || m[topic] != nil || len(m) != 2 {
		t.Error(m, err)
	}
	if s := describe(queue); s != "" {
		t.Error(s)
	}
	if m, err := l.c.DeleteShareOffsets(ctx(t), g("nobody"), []string{topic}); err != nil || CodeOf(m[topic]) != kafka.GroupIDNotFound {
		t.Error(m, err)
	}
	if err := l.c.DeleteGroup(ctx(t), queue); err != nil {
		t.Error(err)
	}
}

// shareSome reads as a member: up to 9 accepted, 10 rejected, 11 released, 12 to 14 accepted, the rest released. While it is there
// the group may not be written.
func (l *lab) shareSome(group, topic string, starts []ShareStart) {
	t := l.t
	cl, err := kgo.NewClient(kgo.SeedBrokers(l.addr), kgo.ShareGroup(group), kgo.ConsumeTopics(topic))
	if err != nil {
		t.Fatal(err)
	}
	read := map[int32][]int64{}
	deadline := time.Now().Add(15 * time.Second)
	for n := 0; n < 28 && time.Now().Before(deadline); {
		cc, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		fs := cl.PollFetches(cc)
		cancel()
		fs.EachRecord(func(r *kgo.Record) {
			n++
			read[r.Partition] = append(read[r.Partition], r.Offset)
			switch i := r.Offset % 20; {
			case i == 10:
				r.Ack(kgo.AckReject)
			case i == 11, i > 14:
				r.Ack(kgo.AckRelease)
				n-- // comes again
				if r.DeliveryCount() > 2 {
					n = 28
				}
			default:
				r.Ack(kgo.AckAccept)
			}
		})
	}
	if r := l.c.DescribeGroups(ctx(t), []GroupRef{{ID: group, Type: kafka.TypeShare}})[group]; r.State != kafka.StateStable {
		t.Errorf("%+v", r)
	}
	altered, err := l.c.AlterShareOffsets(ctx(t), group, starts)
	if err != nil || len(altered) != len(starts) {
		t.Error(altered, err)
	}
	for _, r := range altered {
		if CodeOf(r.Err) != kafka.NonEmptyGroup {
			t.Errorf("a group with members: %+v", r)
		}
	}
	if err := l.c.DeleteGroup(ctx(t), group); CodeOf(err) != kafka.NonEmptyGroup {
		t.Error(err)
	}
	if m, err := l.c.DeleteShareOffsets(ctx(t), group, []string{topic}); err != nil || CodeOf(m[topic]) != kafka.NonEmptyGroup {
		t.Error(m, err)
	}
	cl.Close()
	t.Logf("read %v", read)
}
