package wire

import (
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// checkGroupTypes runs a classic, a KIP-848 and a share group with one member each, and asks for them with and without their
// types. It serves kfake and, in the lab, real brokers from 4.1.
func checkGroupTypes(t *testing.T, c *Client, addrs []string, topic, suffix string, share bool) {
	want := map[string]kafka.GroupType{"classic" + suffix: kafka.TypeClassic, "modern" + suffix: kafka.TypeConsumer, "queue" + suffix: kafka.TypeShare}
	if !share { // a preview that is off by default in Kafka 4.1
		delete(want, "queue"+suffix)
	}
	for id, typ := range want {
		opts := []kgo.Opt{kgo.SeedBrokers(addrs...), kgo.ConsumeTopics(topic), kgo.ClientID("app")}
		switch typ {
		case kafka.TypeClassic:
			opts = append(opts, kgo.ConsumerGroup(id), kgo.InstanceID("static-1"), kgo.DisableAutoCommit())
		case kafka.TypeConsumer:
			opts = append(opts, kgo.ConsumerGroup(id), kgo.ServerSideBalancer(), kgo.DisableAutoCommit())
		default:
			opts = append(opts, kgo.ShareGroup(id))
		}
		cl, err := kgo.NewClient(opts...)
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		go func() {
			for {
				cl.PollFetches(t.Context())
				select {
				case <-stop:
					return
				case <-t.Context().Done():
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		}()
		t.Cleanup(func() { close(stop); cl.Close() })
	}
	stable := func(r map[string]DescribeResult) bool {
		for id := range want {
			if r[id].State != kafka.StateStable || len(r[id].Members) != 1 {
				return false
			}
		}
		return true
	}
	for _, typed := range []bool{false, true} {
		var got map[string]DescribeResult
		for range 80 {
			gs := []GroupRef{{ID: "nobody" + suffix}}
			for id, typ := range want {
				if !typed {
					typ = ""
				}
				gs = append(gs, GroupRef{ID: id, Type: typ})
			}
			if got = c.DescribeGroups(ctx(t), gs); stable(got) {
				break
			}
			time.Sleep(250 * time.Millisecond)
		}
		for id, typ := range want {
			r := got[id]
			if r.Err != nil || !r.Exists || r.Type != typ || len(r.Members) != 1 || r.Members[0].ClientID != "app" || r.Members[0].Host == "" {
				t.Errorf("typed %v, %s: %+v", typed, id, r)
			}
		}
		if m := got["classic"+suffix].Members; len(m) == 1 && m[0].InstanceID != "static-1" {
			t.Errorf("%+v", m)
		}
		if r := got["nobody"+suffix]; r.Exists || r.Err != nil || r.State != kafka.StateDead {
			t.Errorf("nobody: %+v", r)
		}
	}
	l, err := c.ListGroups(ctx(t))
	if err != nil || len(l.Errs) != 0 {
		t.Fatalf("%+v %v", l.Errs, err)
	}
	seen := 0
	for _, g := range l.Groups {
		if typ, ok := want[g.ID]; ok {
			seen++
			if g.Type != typ || g.State != kafka.StateStable {
				t.Errorf("listed %+v", g)
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d groups of %d are listed", seen, len(want))
	}
}

func TestGroupTypes(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	commit(t, k, "some", "orders", 0) // so that groups exist at all
	c := quick(open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Log = nil }))
	checkGroupTypes(t, c, k.ListenAddrs(), "orders", "", true)
}
