package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestShareOffsets(t *testing.T) {
	k := fake(t, kfake.SeedTopics(2, "orders", shareTopic))
	fillTopic(t, k, "orders", 2, 20)
	commit(t, k, "classic", "orders", 1)
	c := writer(t, k, nil)
	rs, err := c.AlterShareOffsets(ctx(t), "q", []ShareStart{{"orders", 1, 7}, {"orders", 0, 5}, {"orders", 9, 1}})
	if err != nil || rs[0].Err != nil || rs[1].Err != nil || CodeOf(rs[2].Err) != kafka.UnknownTopicOrPartition || rs[0].ShareStart != (ShareStart{"orders", 1, 7}) {
		t.Fatalf("%+v %v", rs, err)
	}
	got := c.DescribeShareOffsets(ctx(t), []string{"q", "nobody", "classic", "q"})
	if len(got) != 3 || len(got["nobody"].Offsets)+len(got["classic"].Offsets) != 0 || got["nobody"].Err != nil || got["classic"].Err != nil {
		t.Errorf("%+v", got)
	}
	if o := got["q"].Offsets; got["q"].Err != nil || len(o) != 2 || o[0].Start != 5 || o[1].Start != 7 || o[0].Partition != 0 || o[0].Lag != 15 || o[1].Lag != 13 || len(o[0].TopicID) != 22 {
		t.Errorf("%+v", got["q"])
	}
	if rs, err := c.AlterShareOffsets(ctx(t), "classic", []ShareStart{{"orders", 0, 5}}); err != nil || CodeOf(rs[0].Err) != kafka.GroupIDNotFound {
		t.Errorf("%+v %v", rs, err)
	}
	del, err := c.DeleteShareOffsets(ctx(t), "q", []string{"orders"})
	if e, ok := del["orders"]; err != nil || !ok || e != nil {
		t.Errorf("%v %v", del, err)
	}
	if o := c.DescribeShareOffsets(ctx(t), []string{"q"})["q"]; o.Err != nil || slices.ContainsFunc(o.Offsets, func(o ShareOffset) bool { return o.Start >= 0 }) {
		t.Errorf("after the removal: %+v", o)
	}
}

func fillTopic(t *testing.T, k *kfake.Cluster, topic string, partitions, n int) {
	t.Helper()
	for p := range partitions {
		produceTo(t, k.ListenAddrs(), topic, int32(p), n)
	}
}

// TestAlterThatChangesNothingHasFailed: Kafka 4.1 answers without an error and names no partition.
func TestAlterThatChangesNothingHasFailed(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"))
	commit(t, k, "some", "orders", 0)
	keep := 0
	k.ControlKey(91, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		resp := r.ResponseKind().(*kmsg.AlterShareGroupOffsetsResponse)
		for p := range keep {
			if p == 0 {
				resp.Topics = append(resp.Topics, kmsg.AlterShareGroupOffsetsResponseTopic{Topic: "orders"})
			}
			resp.Topics[0].Partitions = append(resp.Topics[0].Partitions, kmsg.AlterShareGroupOffsetsResponseTopicPartition{Partition: int32(p)})
		}
		return resp, nil, true
	})
	c := writer(t, k, nil)
	for keep = 0; keep <= 2; keep++ {
		rs, err := c.AlterShareOffsets(ctx(t), "q", []ShareStart{{"orders", 0, 1}, {"orders", 1, 1}})
		for i, r := range rs {
			if (r.Err == nil) != (i < keep) {
				t.Errorf("%d named, partition %d: %v", keep, i, r.Err)
			}
		}
		if err != nil || keep == 0 && !strings.Contains(rs[0].Err.Error(), "as Kafka 4.1 does, which changes nothing") {
			t.Errorf("%+v %v", rs, err)
		}
	}
}

func TestShareOffsetsAreNotAskedForWhereTheyCannotBe(t *testing.T) {
	k := fake(t, kfake.SeedTopics(1, "orders"))
	commit(t, k, "some", "orders", 0)
	rec := &recorder{}
	c := quick(open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add }))
	if r, ok := c.DescribeShareOffsets(ctx(t), []string{"q"})["q"]; !ok || r.Err != nil || len(r.Offsets) != 0 {
		t.Errorf("%+v", r)
	}
	hide := func(code int16) {
		k.ControlKey(3, func(r kmsg.Request) (kmsg.Response, error, bool) {
			req := r.(*kmsg.MetadataRequest)
			if len(req.Topics) != 1 || *req.Topics[0].Topic != shareTopic {
				k.KeepControl()
				return nil, nil, false
			}
			resp := r.ResponseKind().(*kmsg.MetadataResponse)
			resp.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 0, Host: "127.0.0.1", Port: 1}}
			resp.Topics = []kmsg.MetadataResponseTopic{{Topic: req.Topics[0].Topic, ErrorCode: code}}
			return resp, nil, true
		})
	}
	hide(29)
	r := c.DescribeShareOffsets(ctx(t), []string{"q"})["q"]
	if CodeOf(r.Err) != kafka.TopicAuthorizationFailed || !strings.Contains(r.Err.Error(), "of group q") || !strings.Contains(r.Err.Error(), "grant Describe on topic "+shareTopic) {
		t.Errorf("%+v", r)
	}
	if rec.count(90) != 0 {
		t.Errorf("sent %v", rec)
	}
}

func TestShareFeature(t *testing.T) {
	for _, tt := range []struct {
		name     string
		features []kmsg.ApiVersionsResponseFinalizedFeature
		epoch    int64
		offered  bool
		level    int16
		known    bool
	}{
		{"on", []kmsg.ApiVersionsResponseFinalizedFeature{{Name: "metadata.version", MaxVersionLevel: 30}, {Name: "share.version", MaxVersionLevel: 1}}, 5, true, 1, true},
		{"off", []kmsg.ApiVersionsResponseFinalizedFeature{{Name: "metadata.version", MaxVersionLevel: 27}}, 5, true, 0, true},
		{"not told", nil, -1, true, 0, false},
		{"not offered", nil, -1, false, 0, true},
	} {
		k := fake(t, kfake.NumBrokers(1))
		k.ControlKey(18, func(r kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			resp := r.ResponseKind().(*kmsg.ApiVersionsResponse)
			for _, key := range []int16{3, 18, 90} {
				if key != 90 || tt.offered {
					resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: 4})
				}
			}
			resp.FinalizedFeaturesEpoch, resp.FinalizedFeatures = tt.epoch, tt.features
			return resp, nil, true
		})
		level, known, err := open(t, k.ListenAddrs(), nil).ShareFeature(ctx(t))
		if level != tt.level || known != tt.known || err != nil {
			t.Errorf("%s: %d %v %v", tt.name, level, known, err)
		}
	}
}

func TestOpenIsTheFirstRecordThatIsNotDone(t *testing.T) {
	for _, tt := range []struct {
		start   int64
		batches []ShareBatch
		want    int64
	}{
		{4, nil, 4},
		{4, []ShareBatch{{5, 5, Archived, 1}, {6, 7, Acknowledged, 1}}, 4},                       // 4 was released
		{4, []ShareBatch{{4, 4, Available, 1}, {5, 7, Acknowledged, 1}}, 4},                      //
		{4, []ShareBatch{{4, 5, Archived, 5}, {6, 7, Acknowledged, 1}, {8, 9, Available, 1}}, 8}, //
		{4, []ShareBatch{{4, 5, Acknowledged, 1}, {7, 9, Acknowledged, 1}}, 6},                   // 6 was never given
		{5, []ShareBatch{{0, 3, Acknowledged, 1}, {3, 6, Acknowledged, 1}}, 7},                   // below the start
		{5, []ShareBatch{{0, 3, Available, 1}, {5, 6, Acknowledged, 1}}, 7},                      //
		{0, []ShareBatch{{0, 19, Acknowledged, 1}}, 20},                                          //
	} {
		if got := (ShareState{Known: true, Start: tt.start, Batches: tt.batches}).Open(); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

// TestReadShareStateSendsNoEpochThatWasNotRead: first none, then the one that was described, and nothing where that fails.
func TestReadShareStateSendsNoEpochThatWasNotRead(t *testing.T) {
	k := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders", shareTopic))
	commit(t, k, "some", "orders", 0)
	rec := &recorder{}
	c := quick(open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add }))
	id := [16]byte{1, 2, 3}
	// kfake has no share coordinator's state: without the request nothing is known, and says so.
	part := []ShareOffset{{Topic: "orders", TopicID: uuid(id), Start: 5, Epoch: 9}, {Topic: "orders", TopicID: uuid(id), Partition: 1, Start: -1}, {Topic: "orders", TopicID: "x"}}
	st := c.ReadShareState(ctx(t), "q", part)
	if st[0].Known || st[0].Err != nil || !strings.Contains(st[0].Why, "ReadShareGroupState") || !strings.Contains(st[0].Why, "group q, orders-0") ||
		st[1].Known || st[1].Why == "" || st[1].Err != nil || st[2].Err == nil {
		t.Errorf("%+v", st)
	}
	if rec.count(84) != 0 {
		t.Errorf("%v", rec)
	}
	req := kmsg.NewPtrReadShareGroupStateRequest()
	p := kmsg.NewReadShareGroupStateRequestTopicPartition()
	p.LeaderEpoch = 9
	req.GroupID, req.Topics = "q", []kmsg.ReadShareGroupStateRequestTopic{{TopicID: id, Partitions: []kmsg.ReadShareGroupStateRequestTopicPartition{p}}}
	if err := c.cfg.Guard.check(req, c); err == nil {
		t.Error("the epoch of a caller passed, which was never read")
	}
}
