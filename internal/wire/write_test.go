package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func writer(t *testing.T, k *kfake.Cluster, mod func(*Config)) *Client {
	return quick(open(t, k.ListenAddrs(), func(cfg *Config) {
		cfg.Guard = Writer()
		if mod != nil {
			mod(cfg)
		}
	}))
}

// member joins a group and stays until the test ends.
func member(t *testing.T, addrs []string, group, topic string, opts ...kgo.Opt) {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addrs...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	go func() {
		for t.Context().Err() == nil {
			cl.PollFetches(t.Context())
		}
	}()
	c := open(t, addrs, nil)
	for range 100 {
		if d := c.DescribeGroups(ctx(t), []GroupRef{{ID: group}})[group]; d.State == kafka.StateStable && len(d.Members) > 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("group %s did not become Stable", group)
}

// offsets are what a group has, as topic-partition=offset/epoch "metadata".
func offsets(t *testing.T, c *Client, group string) string {
	t.Helper()
	r := c.FetchOffsets(ctx(t), []string{group})[group]
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var out []string
	for _, o := range r.Offsets {
		out = append(out, fmt.Sprintf("%s-%d=%d/%d %q", o.Topic, o.Partition, o.Offset, o.Epoch, o.Metadata))
	}
	return strings.Join(out, ", ")
}

func TestCommitOffsets(t *testing.T) {
	k := fake(t, kfake.SeedTopics(2, "orders", "bills"))
	rec := &recorder{}
	c := writer(t, k, func(cfg *Config) { cfg.Recorder = rec.add })
	rs, err := c.CommitOffsets(ctx(t), "new", []Commit{{"orders", 0, 7, -1, ""}, {"bills", 1, 9, 0, "why"}, {"orders", 1, 8, -1, "x"}}, CommitOptions{})
	if err != nil || len(rs) != 3 || rs[0].Err != nil || rs[1].Err != nil || rs[2].Err != nil || rs[1].Commit != (Commit{"bills", 1, 9, 0, "why"}) {
		t.Fatalf("%+v %v", rs, err)
	}
	if got := offsets(t, c, "new"); got != `bills-1=9/0 "why", orders-0=7/-1 "", orders-1=8/-1 "x"` {
		t.Error(got)
	}
	if rec.count(8) != 1 {
		t.Errorf("%d requests: %v", rec.count(8), rec)
	}
	// One partition that does not exist fails alone.
	rs, err = c.CommitOffsets(ctx(t), "new", []Commit{{"orders", 9, 1, -1, ""}, {"orders", 0, 6, -1, ""}}, CommitOptions{})
	if err != nil || rs[1].Err != nil || CodeOf(rs[0].Err) != kafka.UnknownTopicOrPartition || InDoubt(rs[0].Err) {
		t.Errorf("%+v %v", rs, err)
	}
	if s := rs[0].Err.Error(); !strings.Contains(s, "cluster a: OffsetCommit of group new, orders-9 on broker ") || !strings.Contains(s, "check the name") {
		t.Error(s)
	}
	if got := offsets(t, c, "new"); !strings.Contains(got, "orders-0=6/-1") || strings.Contains(got, "orders-9") {
		t.Error(got)
	}
	// Nothing to commit sends nothing; a contradiction neither.
	before := rec.count(8)
	if rs, err := c.CommitOffsets(ctx(t), "new", nil, CommitOptions{}); err != nil || len(rs) != 0 {
		t.Errorf("%+v %v", rs, err)
	}
	if _, err := c.CommitOffsets(ctx(t), "new", []Commit{{"orders", 0, 1, -1, ""}, {"orders", 0, 2, -1, ""}}, CommitOptions{}); err == nil || !strings.Contains(err.Error(), "orders-0 is named twice; nothing was sent") {
		t.Error(err)
	}
	if rec.count(8) != before {
		t.Error("sent")
	}
}

func TestCommitWithRetention(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	var sent []*kmsg.OffsetCommitRequest
	k.ControlKey(8, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		sent = append(sent, r.(*kmsg.OffsetCommitRequest))
		return nil, nil, false
	})
	c := writer(t, k, nil)
	for i, tt := range []struct {
		o         CommitOptions
		version   int16
		retention int64
		epoch     int32
	}{{CommitOptions{}, 9, -1, 5}, {CommitOptions{RetentionMs: 3_600_000}, 4, 3_600_000, -1}} {
		rs, err := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 7, 5, "m"}}, tt.o)
		if err != nil || rs[0].Err != nil {
			t.Fatal(rs, err)
		}
		r := sent[i]
		if p := r.Topics[0].Partitions[0]; r.Version != tt.version || r.RetentionTimeMillis != tt.retention || r.Generation != -1 || r.MemberID != "" || p.LeaderEpoch != tt.epoch || *p.Metadata != "m" || r.InstanceID != nil {
			t.Errorf("%+v: v%d %+v", tt.o, r.Version, r)
		}
	}
}

func TestCommitToALiveGroupIsRefused(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	commit(t, k, "live", "orders", 3)
	member(t, k.ListenAddrs(), "live", "orders")
	c := writer(t, k, nil)
	rs, err := c.CommitOffsets(ctx(t), "live", []Commit{{"orders", 0, 1, -1, ""}}, CommitOptions{})
	if err != nil || CodeOf(rs[0].Err) != kafka.UnknownMemberID || InDoubt(rs[0].Err) || !strings.Contains(rs[0].Err.Error(), "the group has members") || !strings.Contains(rs[0].Err.Error(), "stop its consumers") {
		t.Errorf("%+v %v", rs, err)
	}
	if got := offsets(t, c, "live"); got != `orders-0=3/-1 ""` {
		t.Error(got)
	}
	if err := c.DeleteGroup(ctx(t), "live"); CodeOf(err) != kafka.NonEmptyGroup || !strings.Contains(err.Error(), "DeleteGroups of group live on broker") {
		t.Error(err)
	}
	del, err := c.DeleteOffsets(ctx(t), "live", []kafka.TopicPartition{{Topic: "orders"}})
	if err != nil || CodeOf(del[kafka.TopicPartition{Topic: "orders"}]) != kafka.GroupSubscribedToTopic {
		t.Errorf("%v %v", del, err)
	}
}

// TestCommitRetriesThePartitionsThatFailed: only they are sent again.
func TestCommitRetriesThePartitionsThatFailed(t *testing.T) {
	k := fake(t, kfake.SeedTopics(3, "orders"))
	commit(t, k, "g", "orders", 0)
	var sent []string
	k.ControlKey(8, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		s := ""
		for _, p := range r.(*kmsg.OffsetCommitRequest).Topics[0].Partitions {
			s += fmt.Sprint(p.Partition)
		}
		sent = append(sent, s)
		return nil, nil, false
	})
	k.Fault(kfake.Fault{Keys: []kmsg.Key{8}, Topic: "orders", Partitions: []int32{1}, Err: kerr.CoordinatorLoadInProgress, Count: 2})
	c := writer(t, k, nil)
	rs, err := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 1, -1, ""}, {"orders", 1, 2, -1, ""}, {"orders", 2, 3, -1, ""}}, CommitOptions{})
	for _, r := range rs {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	if err != nil || !slices.Equal(sent, []string{"012", "1", "1"}) {
		t.Errorf("%v %v", sent, err)
	}
	if got := offsets(t, c, "g"); got != `orders-0=1/-1 "", orders-1=2/-1 "", orders-2=3/-1 ""` {
		t.Error(got)
	}
}

// cut breaks the connection at the first n requests of a key, n < 0 at all of them.
func cut(k *kfake.Cluster, key int16, n int) {
	k.ControlKey(key, func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if n == 0 {
			return nil, nil, false
		}
		n--
		return nil, errors.New("cut"), true
	})
}

func TestWriteWithoutAnAnswerIsInDoubt(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	c := writer(t, k, nil)
	commit(t, k, "g", "orders", 1)
	cut(k, 8, 2)
	rs, err := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 5, -1, ""}}, CommitOptions{})
	if err != nil || rs[0].Err != nil || offsets(t, c, "g") != `orders-0=5/-1 ""` {
		t.Fatalf("twice broken: %+v %v", rs, err)
	}
	for key, do := range map[int16]func() error{
		8: func() error {
			rs, err := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 6, -1, ""}}, CommitOptions{})
			return cmpErr(err, rs[0].Err)
		},
		47: func() error {
			m, err := c.DeleteOffsets(ctx(t), "g", []kafka.TopicPartition{{Topic: "orders"}})
			return cmpErr(err, m[kafka.TopicPartition{Topic: "orders"}])
		},
		42: func() error { return c.DeleteGroup(ctx(t), "g") },
		91: func() error {
			rs, err := c.AlterShareOffsets(ctx(t), "q", []ShareStart{{"orders", 0, 1}})
			return cmpErr(err, rs[0].Err)
		},
		92: func() error {
			m, err := c.DeleteShareOffsets(ctx(t), "q", []string{"orders"})
			return cmpErr(err, m["orders"])
		},
	} {
		cut(k, key, -1)
		err := do()
		if !InDoubt(err) || !strings.Contains(err.Error(), "it may have been written all the same") || !strings.Contains(err.Error(), "broker ") {
			t.Errorf("key %d: %v", key, err)
		}
	}
}

func TestDoubtStaysUntilItIsCleared(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	commit(t, k, "g", "orders", 1)
	// The first try is lost, the second is refused: the first may still have been done.
	n := 0
	k.ControlKey(8, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if n++; n == 1 {
			return nil, errors.New("cut"), true
		}
		resp := r.ResponseKind().(*kmsg.OffsetCommitResponse)
		resp.Topics = []kmsg.OffsetCommitResponseTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitResponseTopicPartition{{ErrorCode: 25}}}}
		return resp, nil, true
	})
	rs, err := writer(t, k, nil).CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 5, -1, ""}}, CommitOptions{})
	if err != nil || !InDoubt(rs[0].Err) || CodeOf(rs[0].Err) != kafka.UnknownMemberID || n != 2 {
		t.Errorf("%d requests, %+v %v", n, rs, err)
	}
	// A group that is gone after a lost answer was removed.
	n = 0
	k.ControlKey(42, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if n++; n == 1 {
			return nil, errors.New("cut"), true
		}
		resp := r.ResponseKind().(*kmsg.DeleteGroupsResponse)
		resp.Groups = []kmsg.DeleteGroupsResponseGroup{{Group: "g", ErrorCode: 69}}
		return resp, nil, true
	})
	if err := writer(t, k, nil).DeleteGroup(ctx(t), "g"); err != nil || n != 2 {
		t.Errorf("%d requests, %v", n, err)
	}
}

func TestNoDoubtWhereNothingLeft(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1))
	c := writer(t, k, nil)
	if err := c.Contact(ctx(t)); err != nil {
		t.Fatal(err)
	}
	n := node{0, "127.0.0.1:1"}
	c.versions[n.addr] = map[int16][2]int16{8: {2, 9}}
	_, err := c.ask(ctx(t), n, kmsg.NewPtrOffsetCommitRequest())
	if err == nil || uncertain(err) {
		t.Errorf("%v", err)
	}
}

func TestDelete(t *testing.T) {
	k := fake(t, kfake.SeedTopics(2, "orders"))
	c := writer(t, k, nil)
	if _, err := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 7, -1, ""}, {"orders", 1, 8, -1, ""}}, CommitOptions{}); err != nil {
		t.Fatal(err)
	}
	p := func(i int32) kafka.TopicPartition { return kafka.TopicPartition{Topic: "orders", Partition: i} }
	del, err := c.DeleteOffsets(ctx(t), "g", []kafka.TopicPartition{p(0)})
	if e, ok := del[p(0)]; err != nil || !ok || e != nil || offsets(t, c, "g") != `orders-1=8/-1 ""` {
		t.Errorf("%v %v, left %s", del, err, offsets(t, c, "g"))
	}
	if err := c.DeleteGroup(ctx(t), "g"); err != nil {
		t.Error(err)
	}
	if d := c.DescribeGroups(ctx(t), []GroupRef{{ID: "g"}})["g"]; d.Exists || d.Err != nil {
		t.Errorf("%+v", d)
	}
	if err := c.DeleteGroup(ctx(t), "g"); CodeOf(err) != kafka.GroupIDNotFound || InDoubt(err) {
		t.Error(err)
	}
	del, err = c.DeleteOffsets(ctx(t), "g", []kafka.TopicPartition{p(0)})
	if err != nil || CodeOf(del[p(0)]) != kafka.GroupIDNotFound {
		t.Errorf("%v %v", del, err)
	}
}

func TestDeniedWritesNameTheRight(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	commit(t, k, "g", "orders", 1)
	k.Fault(kfake.Fault{Keys: []kmsg.Key{8, 42, 47}, Err: kerr.GroupAuthorizationFailed, Count: -1})
	c := writer(t, k, nil)
	rs, err := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 1, -1, ""}}, CommitOptions{})
	if err != nil || CodeOf(rs[0].Err) != kafka.GroupAuthorizationFailed || !strings.HasSuffix(rs[0].Err.Error(), "grant Read on the group and on the topic") {
		t.Errorf("%+v %v", rs, err)
	}
	if err := c.DeleteGroup(ctx(t), "g"); CodeOf(err) != kafka.GroupAuthorizationFailed || !strings.HasSuffix(err.Error(), "grant Delete on the group") {
		t.Error(err)
	}
}

// everyWrite calls all that writes.
func everyWrite(t *testing.T, c *Client) []error {
	_, commit := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 1, -1, ""}}, CommitOptions{})
	_, keep := c.CommitOffsets(ctx(t), "g", []Commit{{"orders", 0, 1, -1, ""}}, CommitOptions{RetentionMs: 1})
	_, del := c.DeleteOffsets(ctx(t), "g", []kafka.TopicPartition{{Topic: "orders"}})
	_, alter := c.AlterShareOffsets(ctx(t), "q", []ShareStart{{"orders", 0, 1}})
	_, delShare := c.DeleteShareOffsets(ctx(t), "q", []string{"orders"})
	return []error{commit, keep, del, alter, delShare, c.DeleteGroup(ctx(t), "g")}
}

func TestAReadOnlyConnectionSendsNoWrite(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	rec := &recorder{}
	c := open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add })
	for i, err := range everyWrite(t, c) {
		var refused *Refused
		if !errors.As(err, &refused) || !strings.HasSuffix(err.Error(), "it writes; this connection only reads") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if len(rec.sent) != 0 {
		t.Errorf("sent %v", rec)
	}
}

// TestOnlyTheseWritesGoOverTheWire calls every write through a tap in front of each broker.
func TestOnlyTheseWritesGoOverTheWire(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders", shareTopic))
	tp := &tap{}
	resolve := map[string]string{}
	for _, a := range k.ListenAddrs() {
		resolve[a] = tp.listen(t, a)
	}
	c := writer(t, k, func(cfg *Config) { cfg.Resolve = resolve })
	for i, err := range everyWrite(t, c) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	c.DescribeShareOffsets(ctx(t), []string{"q"})
	tp.mu.Lock()
	defer tp.mu.Unlock()
	var keys []string
	for _, s := range tp.seen {
		if !strings.HasPrefix(s, "18/") && !slices.Contains(keys, s) {
			keys = append(keys, s)
		}
	}
	slices.Sort(keys)
	keys = slices.DeleteFunc(keys, func(s string) bool { return strings.HasPrefix(s, "3/") })
	if want := []string{"10/6", "42/2", "47/0", "8/4", "8/9", "90/1", "91/0", "92/0"}; !slices.Equal(keys, want) || len(tp.bad) > 0 {
		t.Errorf("sent %v, %v", keys, tp.bad)
	}
}
