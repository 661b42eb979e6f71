package collect

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// TestOrder: effects are read before their causes, ends last, so that every value's cause is in the same snapshot.
func TestOrder(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	b.topic("mm2-configs.a.internal", 1, stored("connector-MirrorCheckpointConnector", nil))
	var l log
	l.watch("a", a.Cluster)
	l.watch("b", b.Cluster)
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	steps := []string{"b OffsetFetch", "b Fetch a.checkpoints.internal", "b Fetch mm2-configs.a.internal", "a Fetch mm2-offset-syncs.b.internal", "a OffsetFetch", "b ListOffsets a.orders", "a ListOffsets orders"}
	for i, step := range steps {
		if l.first(step) < 0 {
			t.Fatalf("%q is missing in %q", step, l.seen)
		}
		if i > 0 && l.last(steps[i-1]) > l.first(step) {
			t.Errorf("%q at %d, %q already at %d: %q", steps[i-1], l.last(steps[i-1]), step, l.first(step), l.seen)
		}
	}
	for _, never := range []string{"a Fetch orders", "b Fetch a.orders"} {
		if l.first(never) >= 0 {
			t.Errorf("%q: records of users are none of collect's business", never)
		}
	}
	cs, st := s.Flows[0].Checkpointed.Get()
	if st != snapshot.Known || len(cs.Newest) != 1 || cs.Newest[0].Up != 7 || cs.Newest[0].Topic != "a.orders" || cs.End != 1 {
		t.Errorf("checkpoints %+v", cs)
	}
	ss, st := s.Flows[0].Syncs.Get()
	if st != snapshot.Known || ss.Cluster != "a" || ss.Records != 2 || len(ss.Partitions) != 1 || ss.Partitions[0].Newest.Up != 6 || ss.Partitions[0].Oldest.Up != 0 {
		t.Errorf("syncs %+v", ss)
	}
	for alias, topic := range map[string]string{"a": "orders", "b": "a.orders"} {
		c := clusterOf(t, s, alias)
		os, _ := groupOf(c, "billing").Offsets.Get()
		if len(os) != 1 || os[0].Topic != topic || os[0].Offset != 7 {
			t.Errorf("billing on %s: %+v", alias, os)
		}
		if p := topicOf(c, topic).Partitions[0]; p.Start.Or(-1) != 0 || p.End.Or(-1) != 10 {
			t.Errorf("%s %+v", topic, p)
		}
		if !c.GroupsComplete.Or(false) || !c.TopicsComplete.Or(false) || c.ID.Or("") != alias {
			t.Errorf("%+v", c)
		}
	}
	if len(s.Gaps) != 0 || s.Started == 0 || s.Taken < s.Started {
		t.Errorf("gaps %+v, %d to %d", s.Gaps, s.Started, s.Taken)
	}
}

// TestBothDirections: a cluster that is target of one flow and source of the other is read at the beginning and again at the end.
func TestBothDirections(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	ab := mirror(a, b, flowAB(), "a.orders")
	ba := NewFlow(FlowSettings{Source: "b", Target: "a", InternalSeparatorEnabled: true})
	b.topic("bills", 1, payloads(4)...)
	a.topic("b.bills", 1, payloads(4)...)
	b.topic(ba.SyncsTopic, 1, sync1(t, "bills", 0, 0))
	a.topic(ba.Checkpoints, 1, checkpoint1(t, "clerks", "b.bills", 3, 1))
	b.commit("clerks", map[string]int64{"bills": 3})
	// The first reading lets the group move on: the later one must show the later position.
	var moved sync.Once
	moving := make(chan error, 1)
	later := kadm.Offsets{}
	later.AddOffset("bills", 0, 4, -1)
	b.ControlKey(int16(kmsg.OffsetFetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		moved.Do(func() {
			go func() { moving <- b.admin.CommitAllOffsets(t.Context(), "clerks", later) }()
		})
		return nil, nil, false
	})
	s := run(t, []snapshot.Flow{ba, ab}, a.open("a", "", nil), b.open("b", "", nil))
	if err := <-moving; err != nil {
		t.Fatal(err)
	}
	if s.Flows[0].Name() != "a->b" || s.Flows[1].Name() != "b->a" {
		t.Fatalf("flows %s, %s", s.Flows[0].Name(), s.Flows[1].Name())
	}
	for _, alias := range []string{"a", "b"} {
		c := clusterOf(t, s, alias)
		if c.First.Unknown() || c.Groups.Unknown() {
			t.Errorf("%s: first %v, groups %v", alias, c.First.Why(), c.Groups.Why())
		}
	}
	c := clusterOf(t, s, "b")
	for what, want := range map[string]int64{"first": 3, "groups": 4} {
		seen := *c
		if what == "first" {
			seen.Groups = c.First
		}
		if os, _ := groupOf(&seen, "clerks").Offsets.Get(); len(os) != 1 || os[0].Offset != want {
			t.Errorf("%s: clerks %+v, want %d", what, os, want)
		}
	}
	for _, f := range s.Flows {
		if !f.Checkpointed.Known() || !f.Syncs.Known() {
			t.Errorf("%s: checkpoints %v, syncs %v", f.Name(), f.Checkpointed.Why(), f.Syncs.Why())
		}
	}
}

// TestScope: --group keeps the others as names only; a literal that does not exist is known to be absent.
func TestScope(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	a.commit("other", map[string]int64{"orders": 2})
	var l log
	l.watch("a", a.Cluster)
	want := []string{"billing", "nobody"}
	s := Run(t.Context(), Request{Clusters: []Cluster{a.open("a", "", nil), b.open("b", "", nil)}, Flows: []snapshot.Flow{f}, Now: time.Now,
		Scope: snapshot.Scope{Groups: want}, Literal: want, Want: func(g string) bool { return slices.Contains(want, g) }})
	c := clusterOf(t, s, "a")
	if g := groupOf(c, "billing"); g == nil || !g.Offsets.Known() {
		t.Errorf("billing %+v", g)
	}
	if g := groupOf(c, "other"); g == nil || g.Offsets.Known() || g.Offsets.Why() != nil {
		t.Errorf("other must be listed and not asked: %+v", g)
	}
	if g := groupOf(c, "nobody"); g == nil || !g.State.Absent() {
		t.Errorf("nobody %+v", g)
	}
	for _, r := range l.seen {
		if strings.HasPrefix(r, "a OffsetFetch") && strings.Contains(r, "other") {
			t.Errorf("asked for a group out of scope: %s", r)
		}
	}
	if !slices.Equal(s.Scope.Groups, want) {
		t.Errorf("scope %+v", s.Scope)
	}
}

// TestOneBrokerFails: groups of a broker that does not answer are missing from the list, so that the list is not complete.
func TestOneBrokerFails(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b", kfake.NumBrokers(3)).login()
	f := mirror(a, b, flowAB(), "a.orders")
	b.ControlKey(int16(kmsg.ListGroups), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		if b.CurrentNode() != 1 {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.ListGroupsResponse)
		resp.ErrorCode = kerr.CoordinatorNotAvailable.Code
		return resp, nil, true
	})
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	c := clusterOf(t, s, "b")
	if !c.GroupsComplete.Unknown() || c.GroupsComplete.Why() == nil || !strings.Contains(c.GroupsComplete.Why().API, "broker 1") {
		t.Errorf("complete %v, %v", c.GroupsComplete.State(), c.GroupsComplete.Why())
	}
	if !slices.ContainsFunc(s.Gaps, func(g snapshot.Gap) bool { return g.Cluster == "b" && g.API == "ListGroups broker 1" }) {
		t.Errorf("gaps %+v", s.Gaps)
	}
	if g := groupOf(c, "billing"); g == nil || !g.Offsets.Known() {
		t.Errorf("billing is asked by name because the source has it: %+v", g)
	}
}

// TestNothingIsCreated: empty brokers with auto-creation on are the same after a diagnosis, __consumer_offsets included.
func TestNothingIsCreated(t *testing.T) {
	a, b := start(t, "a", kfake.AllowAutoTopicCreation()).login(), start(t, "b", kfake.AllowAutoTopicCreation()).login()
	var mu sync.Mutex
	keys := map[int16]bool{}
	rec := func(s wire.Sent) { mu.Lock(); keys[s.Key] = true; mu.Unlock() }
	for _, f := range []FlowSettings{flowAB(), {Source: "a", Target: "b", InternalSeparatorEnabled: true, Location: "target"}} {
		s := Run(t.Context(), Request{Clusters: []Cluster{a.open("a", "", rec), b.open("b", "", rec)}, Flows: []snapshot.Flow{NewFlow(f)}, Now: time.Now, Literal: []string{"billing"}})
		if !s.Flows[0].Syncs.Absent() || !s.Flows[0].Checkpointed.Absent() {
			t.Errorf("syncs %v, checkpoints %v", s.Flows[0].Syncs.Why(), s.Flows[0].Checkpointed.Why())
		}
		if g := groupOf(clusterOf(t, s, "a"), "billing"); g == nil || !g.State.Absent() {
			t.Errorf("billing %+v", g)
		}
	}
	pa, pb := a.open("a", "", rec), b.open("b", "", rec)
	if _, err := Discover(t.Context(), Pair{Source: pa.Client, Target: pb.Client}); err != nil {
		t.Error(err)
	}
	for _, f := range []*fake{a, b} {
		ts, err1 := f.admin.ListTopicsWithInternal(t.Context())
		gs, err2 := f.admin.ListGroups(t.Context())
		if err1 != nil || err2 != nil || len(ts) != 0 || len(gs) != 0 {
			t.Errorf("topics %v, groups %v, %v %v", ts.Names(), gs.Groups(), err1, err2)
		}
	}
	if keys[int16(kmsg.FindCoordinator)] {
		t.Error("FindCoordinator was sent: on a real broker it creates __consumer_offsets")
	}
	if !keys[int16(kmsg.Metadata)] || !keys[int16(kmsg.ListGroups)] {
		t.Errorf("keys %v: the recorder sees nothing", keys)
	}
}

// TestSecrets: what a worker stores holds passwords; none of them is in a snapshot.
func TestSecrets(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	secrets := []string{"s3cret-jaas", "s3cret-truststore", "s3cret-key", "s3cret-trace", "s3cret-token", "s3cret-client", "payload-3"}
	b.topic("mm2-configs.a.internal", 1,
		stored("connector-MirrorCheckpointConnector", map[string]string{
			"source.cluster.alias": "a", "target.cluster.alias": "b", "groups": "billing", "emit.checkpoints.interval.seconds": "5",
			"source.cluster.sasl.jaas.config":           `x.PlainLoginModule required username="u" password="s3cret-jaas";`,
			"target.admin.ssl.truststore.password":      "s3cret-truststore",
			"source.consumer.ssl.key.password":          "s3cret-key",
			"target.cluster.sasl.oauthbearer.something": "s3cret-client",
		}),
		stored("task-MirrorCheckpointConnector-0", map[string]string{"task.assigned.groups": "billing", "source.cluster.sasl.jaas.config": `password="s3cret-jaas"`}),
		stored("commit-MirrorCheckpointConnector", nil),
		&kgo.Record{Key: []byte("session-key"), Value: []byte(`{"key":"s3cret-key","algorithm":"HmacSHA256"}`)})
	trace := "org.apache.kafka.common.config.ConfigException: Invalid value\n\tat x.y(Z.java:1)\nCaused by: java.lang.Exception: login failed for sasl.jaas.config=x required password=\"s3cret-trace\"; token: s3cret-token\n\tat a.b(C.java:2)"
	status, _ := json.Marshal(map[string]any{"state": "FAILED", "trace": trace, "worker_id": "a->b", "generation": 3})
	b.topic("mm2-status.a.internal", 1, &kgo.Record{Key: []byte("status-connector-MirrorCheckpointConnector"), Value: status})
	pa, pb := a.open("a", "", nil), b.open("b", "", nil)
	s := run(t, []snapshot.Flow{f}, pa, pb)
	found, err := Discover(t.Context(), Pair{Source: pa.Client, Target: pb.Client})
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]any{"snapshot": s, "discovery": found} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range append(secrets, "s3cret") {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s holds %s", what, secret)
			}
		}
	}
	ts, _ := s.Flows[0].Tasks.Get()
	if len(ts) != 1 || ts[0].State != "FAILED" || !strings.Contains(ts[0].Trace, "ConfigException: Invalid value; Caused by: java.lang.Exception: login failed") || !strings.Contains(ts[0].Trace, "[removed]") {
		t.Errorf("tasks %+v", ts)
	}
	r, st := s.Flows[0].Running.Get()
	if st != snapshot.Known || !slices.ContainsFunc(r.Checkpoint, func(e snapshot.ConfigEntry) bool {
		return e.Key == "emit.checkpoints.interval.seconds" && e.Value == "5" && !e.Default
	}) {
		t.Errorf("running %+v", r)
	}
	if as, _ := s.Flows[0].Assigned.Get(); !slices.Equal(as.Groups, []string{"billing"}) {
		t.Errorf("assigned %+v", as)
	}
}

// TestBrokenRecords: what does not decode is counted and listed; an unreadable worker record is a gap.
func TestBrokenRecords(t *testing.T) {
	a, b := start(t, "a").login(), start(t, "b").login()
	f := mirror(a, b, flowAB(), "a.orders")
	bad := func() *kgo.Record { return &kgo.Record{Topic: f.Checkpoints, Key: []byte("x"), Value: []byte("y")} }
	if err := b.client.ProduceSync(t.Context(), bad(), bad()).FirstErr(); err != nil {
		t.Fatal(err)
	}
	b.topic("mm2-configs.a.internal", 1, &kgo.Record{Key: []byte("connector-MirrorSourceConnector"), Value: []byte("not json")})
	s := run(t, []snapshot.Flow{f}, a.open("a", "", nil), b.open("b", "", nil))
	cs, _ := s.Flows[0].Checkpointed.Get()
	if cs.BadCount != 2 || len(cs.Bad) != 2 || cs.Bad[0].Offset != 1 || cs.Records != 3 || len(cs.Newest) != 1 {
		t.Errorf("%+v", cs)
	}
	if len(s.Gaps) != 1 || s.Gaps[0].Code != "unreadable" || s.Gaps[0].Cluster != "b" {
		t.Errorf("gaps %+v", s.Gaps)
	}
}

// TestBigTopic: memory grows with partitions, not with records.
func TestBigTopic(t *testing.T) {
	f := NewFlow(flowAB())
	fold := NewSyncFold("a", &f)
	const n, parts = 100_000, 10
	key := make([][]byte, parts)
	for p := range key {
		r := sync1(t, fmt.Sprintf("topic-%d", p), 0, 0)
		key[p] = r.Key
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range int64(n) {
		r := sync1(t, "x", i*100, i*90)
		fold.Add(&kafka.Record{Offset: i, Timestamp: i, Key: key[i%parts], Value: r.Value})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d syncs of %d partitions keep %d bytes", n, parts, grown)
	}
	out := fold.Result(0, n)
	if out.Records != n || len(out.Partitions) != parts || out.Partitions[3].Count != n/parts || out.Partitions[3].Newest.Up != (n-parts+3)*100 || len(out.Partitions[3].Greedy) > 64 {
		t.Errorf("%d records, %d partitions, %+v", out.Records, len(out.Partitions), out.Partitions[3].Newest)
	}
}

// TestDead: without any connection all is unknown, and nothing absent.
func TestDead(t *testing.T) {
	b := start(t, "b").login()
	b.topic("a.checkpoints.internal", 1, checkpoint1(t, "billing", "a.orders", 7, 7))
	c, err := wire.Open(wire.Config{Bootstrap: []string{"127.0.0.1:1"}, Alias: "a", Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := run(t, []snapshot.Flow{NewFlow(flowAB())}, Cluster{Alias: "a", Bootstrap: []string{"127.0.0.1:1"}, Client: c}, b.open("b", "", nil))
	a := clusterOf(t, s, "a")
	if a.Contact == nil || a.Contact.Code != 1 || stateOf(a.Groups) != "unreachable" || stateOf(a.Topics) != "unreachable" || stateOf(s.Flows[0].Syncs) != "unreachable" {
		t.Errorf("%+v %v", a, s.Flows[0].Syncs.Why())
	}
	if !s.Flows[0].Checkpointed.Known() {
		t.Errorf("the other cluster is read all the same: %v", s.Flows[0].Checkpointed.Why())
	}
}
