package collect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

func value(es snapshot.Fact[[]snapshot.ConfigEntry], key string) string {
	for _, e := range es.Or(nil) {
		if e.Key == key {
			return e.Value
		}
	}
	return "none"
}

// TestDetails: settings, epochs, further topics and the times of commits, of two clusters without an authorizer.
func TestDetails(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	b.topic("mm2-offset-syncs.a.internal", 1, sync1(t, "orders", 0, 0))
	a.topic("mm2-offset-syncs_old_internal", 1)
	a.topic("b.checkpoints.internal", 1, checkpoint1(t, "billing", "orders", 1, 1)) // of the other direction: as it should be
	os := kafkaCommit("billing", "a.orders", 7, 1700000000000)
	gone := kafkaCommit("left", "a.orders", 3, 0)
	gone.Value = nil
	gk, gv := kmsg.GroupMetadataKey{Version: 2, Group: "billing"}, kmsg.GroupMetadataValue{Version: 3, ProtocolType: "consumer", CurrentStateTimestamp: 1699999999999}
	b.topic("__consumer_offsets", 1, &kgo.Record{Key: gk.AppendTo(nil), Value: gv.AppendTo(nil)}, kafkaCommit("billing", "a.orders", 5, 1600000000000), os, kafkaCommit("other", "x", 9, 1), gone)
	b.topic("more.checkpoints", 1)
	f.Checkpoints = "a.checkpoints.internal"
	if err := b.client.ProduceSync(t.Context(), withTopic(checkpoint1(t, "left", "a.orders", 3, 3), f.Checkpoints)).FirstErr(); err != nil {
		t.Fatal(err)
	}
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	ca, cb := clusterOf(t, s, "a"), clusterOf(t, s, "b")

	for _, c := range []*snapshot.Cluster{ca, cb} {
		if got := value(c.Settings, "offsets.retention.minutes"); got != "10080" {
			t.Errorf("%s: offsets.retention.minutes %s, %v", c.Alias, got, c.Settings.Why())
		}
	}
	for c, names := range map[*snapshot.Cluster][]string{ca: {"orders", "mm2-offset-syncs.b.internal", "mm2-offset-syncs_old_internal"}, cb: {"a.orders", "a.checkpoints.internal", "mm2-offset-syncs.a.internal"}} {
		for _, n := range names {
			if tc := topicOf(c, n).Config; value(tc, "cleanup.policy") != "delete" || value(tc, "retention.ms") != "604800000" || value(tc, "compression.type") != "none" {
				t.Errorf("%s on %s: %+v, %v", n, c.Alias, tc.Or(nil), tc.Why())
			}
		}
	}
	if x := topicOf(cb, "more.checkpoints").Config; !x.Unknown() || x.Why() != nil {
		t.Errorf("a topic of no flow was asked about: %+v", x)
	}
	fl := &s.Flows[0]
	others := slices.Clone(fl.SyncsOthers.Or(nil))
	for i := range others {
		if (others[i].Last > 0) != (others[i].Records > 0) {
			t.Errorf("the newest record of %+v", others[i])
		}
		others[i].Last = 0
	}
	if got, want := others, []snapshot.TopicRef{{Cluster: "a", Topic: "mm2-offset-syncs_old_internal"}, {Cluster: "b", Topic: "mm2-offset-syncs.a.internal", Records: 1}}; !slices.Equal(got, want) {
		t.Errorf("others %+v, %v", got, fl.SyncsOthers.Why())
	}
	if fl.SyncsElsewhere.Or(snapshot.TopicRef{}).Topic != "mm2-offset-syncs.a.internal" || !fl.CheckpointsElsewhere.Absent() {
		t.Errorf("elsewhere: %+v, checkpoints %v %+v", fl.SyncsElsewhere.Or(snapshot.TopicRef{}), fl.CheckpointsElsewhere.State(), fl.CheckpointsElsewhere.Why())
	}
	g := groupOf(cb, "billing")
	if got := g.Offsets.Or(nil); len(got) != 1 || got[0].Time != 1700000000000 || g.Since != 1699999999999 {
		t.Errorf("billing %+v since %d", got, g.Since)
	}
	if !g.Removed.Known() || len(g.Removed.Or(nil)) != 0 {
		t.Errorf("removed of billing: %+v, %v", g.Removed.Or(nil), g.Removed.Why())
	}
	left := groupOf(cb, "left")
	if left == nil || !left.State.Absent() || len(left.Removed.Or(nil)) != 1 || left.Removed.Or(nil)[0].Topic != "a.orders" || left.Removed.Or(nil)[0].Time == 0 {
		t.Errorf("left %+v", left)
	}
	if groupOf(cb, "other") != nil {
		t.Error("a group that no flow follows was added")
	}
	if p := topicOf(cb, "a.orders").Partitions[0]; !p.Epoch.Known() || !p.Epochs.Unknown() {
		t.Errorf("without a committed epoch there is nothing to ask: %+v", p)
	}
}

func withTopic(r *kgo.Record, topic string) *kgo.Record {
	r.Topic = topic
	return r
}

// kafkaCommit is a record of __consumer_offsets as Kafka 4 writes it.
func kafkaCommit(group, topic string, offset, at int64) *kgo.Record {
	k := kmsg.OffsetCommitKey{Version: 1, Group: group, Topic: topic}
	v := kmsg.OffsetCommitValue{Version: 3, Offset: offset, LeaderEpoch: -1, CommitTimestamp: at}
	return &kgo.Record{Key: k.AppendTo(nil), Value: v.AppendTo(nil)}
}

// TestEpochs: each epoch that a group committed on a copy is asked for once, with its partition.
func TestEpochs(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	b.topic("own", 1, payloads(1)...)
	for group, epoch := range map[string]int32{"billing": 0, "second": 0, "third": 7} {
		b.commitEpoch(group, "a.orders", 7, epoch)
		b.commitEpoch(group, "own", 1, epoch)
	}
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	p := topicOf(clusterOf(t, s, "b"), "a.orders").Partitions[0]
	got, st := p.Epochs.Get()
	if st != snapshot.Known || len(got) != 2 || got[0] != (snapshot.EpochEnd{Asked: 0, Found: 0, End: 10}) || got[1].Asked != 7 {
		t.Errorf("epochs %+v, %v", got, p.Epochs.Why())
	}
	if p := topicOf(clusterOf(t, s, "b"), "own").Partitions[0]; !p.Epochs.Unknown() || p.Epochs.Why() != nil {
		t.Errorf("a topic that is no copy: %+v", p.Epochs)
	}
}

func (f *fake) commitEpoch(group, topic string, at int64, epoch int32) {
	f.Helper()
	os := kadm.Offsets{}
	os.AddOffset(topic, 0, at, epoch)
	if err := f.admin.CommitAllOffsets(f.Context(), group, os); err != nil {
		f.Fatal(err)
	}
}

// TestRules: rules are kept as far as they concern the flows; what may not be listed is a gap, no authorizer is absence.
func TestRules(t *testing.T) {
	everything := allow(aclCluster, "kafka-cluster", opDescribe)
	acls := []struct {
		name, pattern, resource string
		kept                    bool
	}{
		{"orders", "LITERAL", "TOPIC", true}, {"ord", "PREFIXED", "TOPIC", true}, {"ord", "LITERAL", "TOPIC", false}, {"*", "LITERAL", "TOPIC", true},
		{"orders2", "PREFIXED", "TOPIC", false}, {"salaries", "LITERAL", "TOPIC", false}, {"mm2-", "PREFIXED", "TOPIC", true},
		{"billing", "LITERAL", "GROUP", true}, {"bill", "PREFIXED", "GROUP", true}, {"nobody", "LITERAL", "GROUP", false}, {"a-mm2", "LITERAL", "GROUP", true},
		{"kafka-cluster", "LITERAL", "CLUSTER", true}, {"tx", "PREFIXED", "TRANSACTIONAL_ID", true},
	}
	a := secured(t, "a", everything, allow(aclTopic, "*", opRead), allow(aclTopic, "*", opDescribe), allow(aclGroup, "*", opDescribe))
	b := secured(t, "b", allow(aclTopic, "*", opRead), allow(aclGroup, "*", opDescribe))
	f := mirror(a, b, flowAB(), "a.orders")
	b.topic("__consumer_offsets", 1)
	req := kmsg.NewPtrCreateACLsRequest()
	for _, x := range acls {
		c := kmsg.NewCreateACLsRequestCreation()
		c.ResourceType, _ = kmsg.ParseACLResourceType(x.resource)
		c.ResourcePatternType, _ = kmsg.ParseACLResourcePatternType(x.pattern)
		c.ResourceName, c.Principal, c.Host = x.name, "User:mm2", "*"
		c.Operation, c.PermissionType = kmsg.ACLOperationAll, kmsg.ACLPermissionTypeAllow
		req.Creations = append(req.Creations, c)
	}
	if r, err := req.RequestWith(t.Context(), a.client); err != nil || r.Results[0].ErrorCode != 0 {
		t.Fatal(r, err)
	}
	s := run(t, []snapshot.Flow{f}, a.open("a", "doctor", nil), b.open("b", "doctor", nil))
	got, st := clusterOf(t, s, "a").Acls.Get()
	if st != snapshot.Known || !slices.IsSortedFunc(got, func(x, y snapshot.Acl) int {
		return cmp.Or(cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Name, y.Name))
	}) {
		t.Fatalf("%v %+v, %v", st, got, clusterOf(t, s, "a").Acls.Why())
	}
	for _, x := range acls {
		want := snapshot.Acl{Principal: "User:mm2", Host: "*", Resource: x.resource, Name: x.name, Pattern: x.pattern, Operation: "ALL", Permission: "ALLOW"}
		if slices.Contains(got, want) != x.kept {
			t.Errorf("%+v: kept is %v", want, !x.kept)
		}
	}
	cb := clusterOf(t, s, "b")
	if stateOf(cb.Acls) != "denied" || stateOf(cb.Settings) != "denied" || stateOf(topicOf(cb, "a.orders").Config) != "denied" {
		t.Errorf("rules %s, settings %s, topic settings %s", stateOf(cb.Acls), stateOf(cb.Settings), stateOf(topicOf(cb, "a.orders").Config))
	}
	if w := cb.Settings.Why(); w == nil || !strings.Contains(w.Why, "grant DescribeConfigs on the cluster") {
		t.Errorf("settings: %v", w)
	}
	if stateOf(s.Flows[0].SyncsOthers) != "incomplete" {
		t.Errorf("that there are no further topics cannot be told: %s", stateOf(s.Flows[0].SyncsOthers))
	}
}

// TestNoAuthorizer: SECURITY_DISABLED is the answer of a cluster without an authorizer.
func TestNoAuthorizer(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	b.ControlKey(int16(kmsg.DescribeACLs), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		resp := r.ResponseKind().(*kmsg.DescribeACLsResponse)
		resp.ErrorCode = int16(kafka.SecurityDisabled)
		return resp, nil, true
	})
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	if x := clusterOf(t, s, "b").Acls; !x.Absent() {
		t.Errorf("%v %v", x.State(), x.Why())
	}
}

// TestWrongCluster: checkpoints of a->b on a are those of a worker that is attached to the source.
func TestWrongCluster(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	a.topic("a.checkpoints.internal", 1, checkpoint1(t, "billing", "a.orders", 1, 1), checkpoint1(t, "billing", "a.orders", 2, 2))
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	if got := s.Flows[0].CheckpointsElsewhere.Or(snapshot.TopicRef{}); got != (snapshot.TopicRef{Cluster: "a", Topic: "a.checkpoints.internal", Records: 2}) {
		t.Errorf("%+v", got)
	}
	if topicOf(clusterOf(t, s, "a"), "a.checkpoints.internal").Config.Unknown() {
		t.Error("its settings are not there")
	}
}

func raw(key, value string) *kgo.Record {
	r := &kgo.Record{Key: []byte(key), Value: []byte(value), Timestamp: time.UnixMilli(1700000000123)}
	if value == "" {
		r.Value = nil
	}
	return r
}

// TestStored: source offsets, starts of the checkpoint task and the principal from what MirrorMaker 2 stored.
func TestStored(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	f.Mode = "dedicated"
	b.topic("mm2-configs.a.internal", 1, stored("connector-MirrorSourceConnector", map[string]string{"source.cluster.security.protocol": "SASL_SSL", "source.cluster.sasl.mechanism": "PLAIN",
		"source.cluster.sasl.jaas.config": `x.PlainLoginModule required username="mirror" password="hunter2";`, "replication.factor": "1", "transaction.boundary": "poll"}))
	key := func(connector, topic string, part int) string {
		return fmt.Sprintf(`[%q,{"cluster":"a","partition":%d,"topic":%q}]`, connector, part, topic)
	}
	b.topic("mm2-offsets.a.internal", 3, raw(key("MirrorSourceConnector", "orders", 0), `{"offset":3}`), raw(key("MirrorSourceConnector", "orders", 0), `{"offset":9}`),
		raw(key("MirrorSourceConnector", "bills", 1), `{"offset":1}`), raw(key("MirrorSourceConnector", "reset", 0), `{"offset":1}`), raw(key("MirrorSourceConnector", "reset", 0), ""),
		raw(`["MirrorSourceConnector",{"cluster":"z","partition":0,"topic":"orders"}]`, `{"offset":99}`),
		raw(`["MirrorCheckpointConnector",{"group":"billing","partition":0,"topic":"orders"}]`, `{"offset":0}`), raw(`["MirrorHeartbeatConnector",{"sourceClusterAlias":"a","targetClusterAlias":"b"}]`, `{"offset":0}`))
	var status []*kgo.Record
	for i := range 60 {
		r := raw("status-task-MirrorCheckpointConnector-0", `{"state":"RUNNING","worker_id":"w","generation":1}`)
		r.Timestamp = time.UnixMilli(int64(1000 + i))
		status = append(status, r, raw("status-task-MirrorCheckpointConnector-0", `{"state":"UNASSIGNED","worker_id":"w","generation":1}`))
	}
	status = append(status, raw("status-task-MirrorSourceConnector-0", `{"state":"RUNNING","worker_id":"w"}`), raw("status-connector-MirrorCheckpointConnector", `{"state":"RUNNING","worker_id":"w"}`))
	b.topic("mm2-status.a.internal", 1, status...)
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	fl := &s.Flows[0]
	want := []snapshot.Position{{Topic: "bills", Partition: 1, Offset: 1, Time: 1700000000123}, {Topic: "orders", Partition: 0, Offset: 9, Time: 1700000000123}}
	if got := fl.Positions.Or(nil); !slices.Equal(got, want) {
		t.Errorf("positions %+v, %v", got, fl.Positions.Why())
	}
	if got := fl.CheckpointStarts.Or(nil); len(got) != 50 || got[0] != 1010 || got[49] != 1059 {
		t.Errorf("starts %v, %v", got, fl.CheckpointStarts.Why())
	}
	if b, _ := json.Marshal(s); strings.Contains(string(b), "hunter2") {
		t.Error("a password is in the snapshot")
	}
	if fl.Principal != (snapshot.Principals{Source: "User:mirror"}) {
		t.Errorf("principal %+v", fl.Principal)
	}
	source := snapshot.Is(fl.Running.Or(snapshot.Connectors{}).Source)
	if value(source, "replication.factor") != "1" || value(source, "transaction.boundary") != "poll" || value(source, "value.converter") != "none" {
		t.Errorf("running %+v", source.Or(nil))
	}
	if len(s.Gaps) > 0 {
		t.Errorf("gaps %+v", s.Gaps)
	}
}

// TestStoredByResource: one worker of Strimzi runs several flows and may be attached to the source; each flow takes its own.
func TestStoredByResource(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	f.Mode, f.Resource = "strimzi", &snapshot.Resource{Name: "mm", WorkerOn: "a"}
	f.Configured = snapshot.Is(snapshot.Connectors{Worker: []snapshot.ConfigEntry{{Key: "offset.storage.topic", Value: "mirrormaker2-cluster-offsets"}}})
	a.topic("mirrormaker2-cluster-offsets", 2, raw(`["a->b.MirrorSourceConnector",{"cluster":"a","partition":0,"topic":"orders"}]`, `{"offset":4}`),
		raw(`["a->c.MirrorSourceConnector",{"cluster":"a","partition":0,"topic":"orders"}]`, `{"offset":5}`), raw(`["MirrorSourceConnector",{"cluster":"a","partition":0,"topic":"orders"}]`, `{"offset":6}`))
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	if got := s.Flows[0].Positions.Or(nil); len(got) != 1 || got[0].Offset != 4 {
		t.Errorf("%+v, %v", got, s.Flows[0].Positions.Why())
	}
	if topicOf(clusterOf(t, s, "a"), "mirrormaker2-cluster-offsets").Config.Unknown() {
		t.Error("the settings of the worker's topic were not asked for")
	}
	if st := stateOf(s.Flows[0].CheckpointStarts); st != "absent" {
		t.Errorf("starts: %s", st)
	}
}

// TestOthersKnown: the topic of a flow that the configuration names and nobody asked about is no stray one.
func TestOthersKnown(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	back := NewFlow(FlowSettings{Source: "b", Target: "a", InternalSeparatorEnabled: true})
	b.topic(back.SyncsTopic, 1)
	for _, tt := range []struct {
		others []snapshot.Flow
		want   int
	}{{nil, 1}, {[]snapshot.Flow{back}, 0}} {
		s := Run(t.Context(), Request{Clusters: []Cluster{a.open("a", "", nil), b.open("b", "", nil)}, Flows: []snapshot.Flow{f}, Others: tt.others, Now: time.Now})
		if got, st := s.Flows[0].SyncsOthers.Get(); st != snapshot.Known || len(got) != tt.want {
			t.Errorf("%d others: %v %+v", len(tt.others), st, got)
		}
	}
}

// TestRESTPositions: a Connect worker tells source offsets from 3.5 on; before, the path is not there.
func TestRESTPositions(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   string
		at     []snapshot.Position
	}{
		{200, `{"offsets":[{"partition":{"cluster":"a","partition":2,"topic":"orders"},"offset":{"offset":41}},{"partition":{"cluster":"a","partition":1,"topic":"orders"},"offset":null}]}`, "known", []snapshot.Position{{Topic: "orders", Partition: 2, Offset: 41}}},
		{200, `{"offsets":[]}`, "known", []snapshot.Position{}},
		{404, `{"error_code":404,"message":"HTTP 404 Not Found"}`, "unsupported", nil},
		{409, `{"error_code":409,"message":"Cannot complete request momentarily due to stale configuration"}`, "failed", nil},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/connectors/my source/offsets" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			w.WriteHeader(tt.status)
			w.Write([]byte(tt.body))
		}))
		c := &collector{Request: Request{Connect: &Connect{URLs: []string{srv.URL}}}}
		f := snapshot.Flow{Source: "a", Target: "b", SourceConnector: "my source"}
		c.restPositions(t.Context(), &f)
		srv.Close()
		if stateOf(f.Positions) != tt.want || !reflect.DeepEqual(f.Positions.Or(nil), tt.at) {
			t.Errorf("%d %s: %s %+v, %v", tt.status, tt.body, stateOf(f.Positions), f.Positions.Or(nil), f.Positions.Why())
		}
	}
}

// TestPrincipals: the name comes out of the operator's file, the password does not.
func TestPrincipals(t *testing.T) {
	s, err := conf.Parse("mm2.properties", []byte(`clusters = a, b
a->b.enabled = true
a.bootstrap.servers = a:9092
a.security.protocol = SASL_SSL
a.sasl.mechanism = SCRAM-SHA-512
a.sasl.jaas.config = org.apache.kafka.common.security.scram.ScramLoginModule required username="mm2 a" password="hunter2";
b.bootstrap.servers = b:9092
b.security.protocol = SSL
b.consumer.auto.offset.reset = latest
a.consumer.auto.offset.reset = earliest
`), mm2.V(3, 9, 1))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := s.Flow("a->b")
	if got := Principals(s, f); got != (snapshot.Principals{Source: "User:mm2 a"}) {
		t.Errorf("%+v", got)
	}
	c := Configured(f)
	for key, want := range map[string]string{"source.consumer.auto.offset.reset": "earliest", "consumer.auto.offset.reset": "none", "offset-syncs.topic.replication.factor": "3", "key.converter": "none", "sasl.jaas.config": "none"} {
		if got := value(snapshot.Is(c.Source), key); got != want {
			t.Errorf("source connector: %s is %s, want %s", key, got, want)
		}
	}
	for key, want := range map[string]string{"consumer.auto.offset.reset": "latest", "offset.flush.timeout.ms": "5000"} {
		if got := value(snapshot.Is(c.Worker), key); got != want {
			t.Errorf("worker: %s is %s, want %s", key, got, want)
		}
	}
}

// TestLastRewind: the newest step back, with the syncs before and after it.
func TestLastRewind(t *testing.T) {
	f := NewFlow(flowAB())
	fold := NewSyncFold("a", &f)
	for i, at := range [][2]int64{{0, 0}, {10, 9}, {5, 20}, {30, 40}, {31, 2}, {32, 50}} {
		r := sync1(t, "orders", at[0], at[1])
		fold.Add(&kafka.Record{Offset: int64(i), Timestamp: int64(100 + i), Key: r.Key, Value: r.Value})
	}
	p := fold.Result(0, 6).Partitions[0]
	if p.Rewinds != 2 || p.LastRewind == nil || *p.LastRewind != (snapshot.Rewind{Before: snapshot.Sync{Up: 30, Down: 40, Offset: 3, Time: 103}, After: snapshot.Sync{Up: 31, Down: 2, Offset: 4, Time: 104}}) {
		t.Errorf("%d, %+v", p.Rewinds, p.LastRewind)
	}
}
