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
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// many commits for n groups g00, g01, …
func many(t *testing.T, k *kfake.Cluster, n int) (ids []string) {
	for i := range n {
		id := fmt.Sprintf("g%02d", i)
		commit(t, k, id, "orders", int64(i))
		ids = append(ids, id)
	}
	return ids
}

func quick(c *Client) *Client {
	c.patience, c.unknownFor = 500*time.Millisecond, 200*time.Millisecond
	return c
}

func TestListGroupsLosesNoBroker(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	ids := many(t, k, 12)
	c := quick(open(t, k.ListenAddrs(), nil))
	for _, tt := range []struct {
		name  string
		count int
		bad   int
	}{{"for a moment", 2, 0}, {"for good", -1, 1}} {
		h := k.Fault(kfake.Fault{Keys: []kmsg.Key{16}, Nodes: []int32{1}, TopLevel: true, Err: kerr.CoordinatorLoadInProgress, Count: tt.count})
		l, err := c.ListGroups(ctx(t))
		h.Remove()
		if err != nil || len(l.Errs) != tt.bad {
			t.Fatalf("%s: %+v %v", tt.name, l.Errs, err)
		}
		if tt.bad == 0 {
			var got []string
			for _, g := range l.Groups {
				got = append(got, g.ID)
			}
			if !slices.Equal(got, ids) {
				t.Errorf("%s: %v", tt.name, got)
			}
			continue
		}
		e := l.Errs[1]
		if CodeOf(e) != kafka.CoordinatorLoadInProgress || !strings.Contains(e.Error(), "broker 1") {
			t.Errorf("%s: %v", tt.name, e)
		}
	}
}

func TestDeadBrokerIsAnErrorOfItsEntries(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	ids := many(t, k, 12)
	c := quick(open(t, k.ListenAddrs(), nil))
	if _, err := c.ListGroups(ctx(t)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []int16{9, 15, 16} { // broker 2 hangs up on every request
		k.ControlKey(key, func(kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			if k.CurrentNode() == 2 {
				return nil, errors.New("cut"), true
			}
			return nil, nil, false
		})
	}
	of, dg := c.FetchOffsets(ctx(t), ids), c.DescribeGroups(ctx(t), refs(ids))
	cut := 0
	for i, id := range ids {
		dead := k.CoordinatorFor(id) == 2
		if dead {
			cut++
		}
		if r, ok := of[id]; !ok || (r.Err != nil) != dead || !dead && (len(r.Offsets) != 1 || r.Offsets[0].Offset != int64(i)) {
			t.Errorf("offsets of %s (dead %v): %+v", id, dead, r)
		}
		if r, ok := dg[id]; !ok || (r.Err != nil) != dead || !dead && r.State != kafka.StateEmpty || dead && r.State != kafka.StateUnknown {
			t.Errorf("%s (dead %v): %+v", id, dead, r)
		}
	}
	if cut == 0 || cut == len(ids) {
		t.Fatalf("%d of %d groups on the dead broker prove nothing", cut, len(ids))
	}
	l, err := c.ListGroups(ctx(t))
	if err != nil || len(l.Groups) != len(ids)-cut || len(l.Errs) != 1 || l.Errs[2] == nil {
		t.Errorf("%d groups, %v %v", len(l.Groups), l.Errs, err)
	}
}

func refs(ids []string) (out []GroupRef) {
	for _, id := range ids {
		out = append(out, GroupRef{ID: id})
	}
	return out
}

func TestMovedCoordinatorIsLookedUpAgain(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	ids := many(t, k, 8)
	c := quick(open(t, k.ListenAddrs(), nil))
	if _, err := c.ListGroups(ctx(t)); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	for id, b := range c.coords {
		c.coords[id] = (b + 1) % 3 // all wrong now
	}
	c.mu.Unlock()
	for id, r := range c.FetchOffsets(ctx(t), ids) {
		if r.Err != nil || len(r.Offsets) != 1 {
			t.Errorf("%s: %+v", id, r)
		}
	}
	if r := c.DescribeGroups(ctx(t), refs(ids)); len(r) != 8 || !r["g03"].Exists {
		t.Errorf("%+v", r)
	}
}

func TestPassingAndLastingErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  *kerr.Error
		n    int
		want kafka.ErrorCode
	}{
		{"loading twice", kerr.CoordinatorLoadInProgress, 2, 0},
		{"denied once is final", kerr.GroupAuthorizationFailed, 1, kafka.GroupAuthorizationFailed},
		{"loading for ever", kerr.CoordinatorLoadInProgress, -1, kafka.CoordinatorLoadInProgress},
	} {
		for _, release := range []string{"v2.8", "v4.1"} { // one group a request, and batched
			k := fake(t, kfake.SeedTopics(1, "orders"), kfake.MaxVersions(kversion.FromString(release)))
			commit(t, k, "g", "orders", 4)
			c := quick(open(t, k.ListenAddrs(), nil))
			if _, err := c.ListGroups(ctx(t)); err != nil {
				t.Fatal(err)
			}
			k.Fault(kfake.Fault{Keys: []kmsg.Key{9}, Group: "g", Err: tt.err, Count: tt.n})
			r := c.FetchOffsets(ctx(t), []string{"g"})["g"]
			if CodeOf(r.Err) != tt.want || (r.Err == nil) != (tt.want == 0) || r.Err == nil && (len(r.Offsets) != 1 || r.Offsets[0].Offset != 4) {
				t.Errorf("%s on %s: %+v", tt.name, release, r)
			}
		}
	}
}

func TestFewerEntriesThanAskedIsAnError(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"))
	commit(t, k, "g", "orders", 4)
	c := quick(open(t, k.ListenAddrs(), nil))
	if _, err := c.ListGroups(ctx(t)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []int16{2, 9, 15, 32} {
		k.ControlKey(key, func(r kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			return r.ResponseKind(), nil, true
		})
	}
	if r := c.FetchOffsets(ctx(t), []string{"g"})["g"]; r.Err == nil || !strings.Contains(r.Err.Error(), "no entry for group g") {
		t.Errorf("%+v", r)
	}
	if r := c.DescribeGroups(ctx(t), []GroupRef{{ID: "g"}})["g"]; r.Err == nil || r.Exists || r.State != kafka.StateUnknown {
		t.Errorf("%+v", r)
	}
	if r := c.ListOffsets(ctx(t), []OffsetQuery{{"orders", 1, AtEnd, false}})[0]; r.Err == nil || r.Offset != -1 {
		t.Errorf("%+v", r)
	}
	if r := c.DescribeTopicConfigs(ctx(t), []string{"orders"})["orders"]; r.Err == nil {
		t.Errorf("%+v", r)
	}
}

// Kafka 3.9.1 answers ConsumerGroupDescribe with the product of groups and shards, in any order, and with its default
// settings with UNSUPPORTED_VERSION for all.
func TestConsumerGroupDescribeOf39(t *testing.T) {
	for _, tt := range []struct {
		name  string
		codes []int16
		want  DescribeResult
	}{
		{"ok in the middle", []int16{69, 0, 69, 69}, DescribeResult{Exists: true, State: kafka.StateStable, Type: kafka.TypeConsumer, ProtocolType: "consumer"}},
		{"ok first", []int16{0, 69, 69, 69}, DescribeResult{Exists: true, State: kafka.StateStable, Type: kafka.TypeConsumer, ProtocolType: "consumer"}},
		{"none", []int16{69, 69}, dead},
		{"off", []int16{35}, dead},
	} {
		k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
		commit(t, k, "other", "orders", 1)
		k.ControlKey(69, func(r kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			resp := r.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
			for _, code := range tt.codes {
				g := kmsg.NewConsumerGroupDescribeResponseGroup()
				if g.Group, g.ErrorCode = "modern", code; code == 0 {
					g.State = "Stable"
				}
				resp.Groups = append(resp.Groups, g)
			}
			return resp, nil, true
		})
		c := quick(open(t, k.ListenAddrs(), nil))
		if got := c.DescribeGroups(ctx(t), []GroupRef{{ID: "modern", Type: kafka.TypeConsumer}})["modern"]; fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// Without __consumer_offsets no group can exist, and FindCoordinator, which would create it, is not sent.
func TestNothingIsCreatedByAsking(t *testing.T) {
	k := fake(t)
	rec := &recorder{}
	c := quick(open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add }))
	if r := c.DescribeGroups(ctx(t), []GroupRef{{ID: "g"}})["g"]; r.Exists || r.State != kafka.StateDead || r.Err != nil {
		t.Errorf("%+v", r)
	}
	if r, ok := c.FetchOffsets(ctx(t), []string{"g"})["g"]; !ok || r.Err != nil || r.Offsets != nil {
		t.Errorf("%+v", r)
	}
	if rec.count(10) != 0 {
		t.Errorf("FindCoordinator was sent: %v", rec)
	}
	// Where an ACL hides the topic, the brokers are asked instead, and no answer is no absence.
	k.ControlKey(3, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		req := r.(*kmsg.MetadataRequest)
		if len(req.Topics) == 0 || *req.Topics[0].Topic != offsetsTopic {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.MetadataResponse)
		for i, a := range k.ListenAddrs() {
			b := kmsg.NewMetadataResponseBroker()
			b.NodeID = int32(i)
			b.Host = a[:strings.LastIndex(a, ":")]
			fmt.Sscan(a[strings.LastIndex(a, ":")+1:], &b.Port)
			resp.Brokers = append(resp.Brokers, b)
		}
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.ErrorCode = ptrTo(offsetsTopic), 29
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	k.ControlKey(15, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		resp := r.ResponseKind().(*kmsg.DescribeGroupsResponse)
		for _, id := range r.(*kmsg.DescribeGroupsRequest).Groups {
			g := kmsg.NewDescribeGroupsResponseGroup()
			g.Group, g.ErrorCode = id, 16
			if id == "here" && k.CurrentNode() == 1 {
				g.ErrorCode, g.State = 0, "Empty"
			}
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
	got := c.DescribeGroups(ctx(t), []GroupRef{{ID: "g", Type: kafka.TypeClassic}, {ID: "here", Type: kafka.TypeClassic}})
	if r := got["g"]; r.Err == nil || !strings.Contains(r.Err.Error(), "grant Describe on topic __consumer_offsets") {
		t.Errorf("%+v", r)
	}
	if r := got["here"]; r.Err != nil || r.State != kafka.StateEmpty {
		t.Errorf("%+v", r)
	}
	if rec.count(10) != 0 {
		t.Errorf("FindCoordinator was sent: %v", rec)
	}
}

func ptrTo[T any](v T) *T { return &v }

func TestListOffsetsFollowsTheLeader(t *testing.T) {
	k := fake(t, kfake.SeedTopics(3, "orders"))
	produce(t, k, "orders", 7)
	rec := &recorder{}
	c := quick(open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add }))
	if _, err := c.Metadata(ctx(t), nil); err != nil {
		t.Fatal(err)
	}
	k.MoveTopicPartition("orders", 0, (k.LeaderFor("orders", 0)+1)%3)
	qs := []OffsetQuery{{"orders", 0, AtEnd, false}, {"orders", 0, AtStart, false}, {"orders", 0, AtEnd, true}, {"orders", 0, AtMax, false}, {"orders", 1, AtEnd, false}, {"orders", 2, AtEnd, false}, {"orders", 9, AtEnd, false}, {"orders", 0, 1 << 60, false}}
	as := c.ListOffsets(ctx(t), qs)
	for i, want := range []int64{7, 0, 7, 6, 0, 0, -1, -1} {
		a := as[i]
		if i == 3 && a.Offset >= 0 && a.Timestamp > 1e12 { // the first of the records that share the greatest millisecond
			continue
		}
		if a.Offset != want || a.Partition != qs[i].Partition || (a.Err != nil) != (i == 6) {
			t.Errorf("%+v: %+v, want %d", qs[i], a, want)
		}
	}
	if CodeOf(as[6].Err) != kafka.UnknownTopicOrPartition || !strings.Contains(as[6].Err.Error(), "orders-9") {
		t.Errorf("%v", as[6].Err)
	}
	rec.sent = nil
	c.ListOffsets(ctx(t), qs[4:6])
	if n := rec.count(2); n > 2 {
		t.Errorf("%d requests for two partitions", n)
	}
}

func TestAtMaxOnAnOldBrokerIsUnsupported(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"), kfake.MaxVersions(kversion.V2_8_0()))
	as := quick(open(t, k.ListenAddrs(), nil)).ListOffsets(ctx(t), []OffsetQuery{{"orders", 0, AtMax, false}, {"orders", 0, AtEnd, false}})
	if CodeOf(as[0].Err) != kafka.UnsupportedVersion || as[1].Err != nil || as[1].Offset != 0 {
		t.Errorf("%+v", as)
	}
}

func TestSilentBrokerEndsAfterTheTimeout(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	c := open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Timeout = 300 * time.Millisecond })
	if err := c.Contact(ctx(t)); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	k.ControlKey(2, func(kmsg.Request) (kmsg.Response, error, bool) {
		k.SleepControl(func() { <-stopped })
		return nil, nil, false
	})
	begin := time.Now()
	a := c.ListOffsets(ctx(t), []OffsetQuery{{"orders", 0, AtEnd, false}})[0]
	close(stopped)
	if a.Err == nil || !errors.Is(a.Err, errNoProgress) || time.Since(begin) > 3*time.Second {
		t.Errorf("%v after %v", a.Err, time.Since(begin))
	}
	if !strings.Contains(a.Err.Error(), "--timeout") {
		t.Errorf("no advice: %v", a.Err)
	}
}

func TestManyGroupsInFewRequests(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	ids := many(t, k, 30)
	rec := &recorder{}
	c := open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add })
	if _, err := c.ListGroups(ctx(t)); err != nil {
		t.Fatal(err)
	}
	c.FetchOffsets(ctx(t), ids)
	c.DescribeGroups(ctx(t), refs(ids))
	if rec.count(9) != 3 || rec.count(15) != 3 || rec.count(10) != 0 {
		t.Errorf("%v", rec)
	}
}
