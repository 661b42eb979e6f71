package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestGuardTable(t *testing.T) {
	meta := func(v int16, create bool) kmsg.Request {
		r := kmsg.NewPtrMetadataRequest()
		r.Version, r.AllowAutoTopicCreation = v, create
		return r
	}
	coord := func(typ int8) kmsg.Request {
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.CoordinatorType = typ
		return r
	}
	state := func(group string, epochs ...int32) kmsg.Request {
		r := kmsg.NewPtrReadShareGroupStateRequest()
		r.GroupID = group
		for i, e := range epochs {
			p := kmsg.NewReadShareGroupStateRequestTopicPartition()
			p.Partition, p.LeaderEpoch = int32(i), e
			r.Topics = append(r.Topics, kmsg.ReadShareGroupStateRequestTopic{Partitions: []kmsg.ReadShareGroupStateRequestTopicPartition{p}})
		}
		return r
	}
	replica := kmsg.NewPtrFetchRequest()
	replica.ReplicaID = 2
	replicaState := kmsg.NewPtrFetchRequest()
	replicaState.ReplicaState.ID = 2
	offsetsAsReplica := kmsg.NewPtrListOffsetsRequest()
	offsetsAsReplica.ReplicaID = 0
	epochAsReplica := kmsg.NewPtrOffsetForLeaderEpochRequest()
	epochAsReplica.ReplicaID = 0
	for _, tt := range []struct {
		name   string
		req    kmsg.Request
		topics string // internal topics that are known
		read   bool
		write  bool
	}{
		{"metadata", meta(4, false), "", true, true},
		{"metadata that creates", meta(12, true), "", false, false},
		{"metadata v3", meta(3, false), "", false, false},
		{"fetch", fetchRequest("t", 0, 0, 1, false), "", true, true},
		{"fetch as replica", replica, "", false, false},
		{"fetch as replica, v15", replicaState, "", false, false},
		{"list offsets as replica", offsetsAsReplica, "", false, false},
		{"leader epoch as replica", epochAsReplica, "", false, false},
		{"coordinator unknown topic", coord(0), "", false, true},
		{"coordinator", coord(0), offsetsTopic, true, true},
		{"transaction coordinator", coord(1), offsetsTopic, false, false},
		{"share coordinator", coord(2), offsetsTopic + shareTopic, true, true},
		{"share coordinator unknown topic", coord(2), offsetsTopic, false, false},
		{"coordinator of an unknown kind", coord(3), offsetsTopic + shareTopic, false, false},
		{"share offsets unknown topic", kmsg.NewPtrDescribeShareGroupOffsetsRequest(), offsetsTopic, false, false},
		{"share offsets", kmsg.NewPtrDescribeShareGroupOffsetsRequest(), shareTopic, true, true},
		{"share state without epoch", state("queue", -1), shareTopic, true, true},
		{"share state, the epoch that was read", state("queue", 3), shareTopic, true, true},
		{"share state, a lower epoch", state("queue", 0), shareTopic, true, true},
		{"share state, a higher epoch", state("queue", 4), shareTopic, false, false},
		{"share state, an epoch of no meaning", state("queue", -2), shareTopic, false, false},
		{"share state, an epoch that was not read", state("other", 0), shareTopic, false, false},
		{"share state, one of two too high", state("queue", 3, 9), shareTopic, false, false},
		{"write share state", kmsg.NewPtrWriteShareGroupStateRequest(), shareTopic, false, false},
		{"initialize share state", kmsg.NewPtrInitializeShareGroupStateRequest(), shareTopic, false, false},
		{"delete share state", kmsg.NewPtrDeleteShareGroupStateRequest(), shareTopic, false, false},
		{"commit", kmsg.NewPtrOffsetCommitRequest(), "", false, true},
		{"offset delete", kmsg.NewPtrOffsetDeleteRequest(), "", false, true},
		{"alter share offsets", kmsg.NewPtrAlterShareGroupOffsetsRequest(), "", false, true},
		{"produce", kmsg.NewPtrProduceRequest(), "", false, false},
		{"create topics", kmsg.NewPtrCreateTopicsRequest(), "", false, false},
		{"delete groups", kmsg.NewPtrDeleteGroupsRequest(), "", false, true},
		{"delete share offsets", kmsg.NewPtrDeleteShareGroupOffsetsRequest(), "", false, true},
		{"leave group", kmsg.NewPtrLeaveGroupRequest(), "", false, false},
		{"commit in a transaction", kmsg.NewPtrTxnOffsetCommitRequest(), "", false, false},
		{"delete topics", kmsg.NewPtrDeleteTopicsRequest(), "", false, false},
		{"delete records", kmsg.NewPtrDeleteRecordsRequest(), "", false, false},
		{"join group", kmsg.NewPtrJoinGroupRequest(), "", false, false},
		{"heartbeat", kmsg.NewPtrConsumerGroupHeartbeatRequest(), "", false, false},
		{"incremental alter configs", kmsg.NewPtrIncrementalAlterConfigsRequest(), "", false, false},
		{"init producer id", kmsg.NewPtrInitProducerIDRequest(), "", false, false},
		{"create acls", kmsg.NewPtrCreateACLsRequest(), "", false, false},
	} {
		exists := knows{topics: tt.topics, epoch: 3}
		if err := ReadOnly().check(tt.req, exists); (err == nil) != tt.read {
			t.Errorf("%s, read-only: %v", tt.name, err)
		}
		if err := Writer().check(tt.req, exists); (err == nil) != tt.write {
			t.Errorf("%s, writer: %v", tt.name, err)
		}
	}
}

// knows is what the guard is told of the cluster: the internal topics, and the leader epoch of every share partition.
type knows struct {
	topics string
	epoch  int32
}

func (k knows) known(topic string) bool { return strings.Contains(k.topics, topic) }

func (k knows) shareEpoch(group string, _ [16]byte, _ int32) (int32, bool) {
	return k.epoch, group == "queue"
}

// TestGuardKeys: of all keys there are, only the listed ones pass with their default fields, whatever kmsg learns later.
func TestGuardKeys(t *testing.T) {
	var pass []int16
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		r := kmsg.RequestForKey(key)
		if r == nil {
			continue
		}
		r.SetVersion(r.MaxVersion())
		if (Guard{}).check(r, knows{topics: offsetsTopic + shareTopic}) == nil {
			pass = append(pass, key)
		}
	}
	if want := []int16{2, 3, 9, 10, 15, 16, 17, 18, 23, 29, 32, 35, 60, 61, 66, 69, 75, 77, 84, 89, 90}; !slices.Equal(without(pass, 1, 3), without(want, 3)) {
		t.Errorf("keys that pass: %v", pass)
	}
}

// TestWriterKeys: a Writer sends what a reader sends, and these.
func TestWriterKeys(t *testing.T) {
	var more []int16
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		r := kmsg.RequestForKey(key)
		if r == nil {
			continue
		}
		r.SetVersion(r.MaxVersion())
		k := knows{topics: offsetsTopic + shareTopic}
		if (ReadOnly().check(r, k) == nil) != (Writer().check(r, k) == nil) {
			more = append(more, key)
		}
	}
	if want := []int16{8, 42, 47, 91, 92}; !slices.Equal(more, want) {
		t.Errorf("a Writer sends in addition %v", more)
	}
}

func without(s []int16, drop ...int16) []int16 {
	return slices.DeleteFunc(slices.Clone(s), func(k int16) bool { return slices.Contains(drop, k) })
}

func TestRefusedRequestIsNotSent(t *testing.T) {
	k := fake(t)
	rec := &recorder{}
	c := open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Recorder = rec.add })
	if err := c.Contact(ctx(t)); err != nil {
		t.Fatal(err)
	}
	_, err := c.askWithin(ctx(t), c.anyNode(0), kmsg.NewPtrOffsetCommitRequest(), 2, 9)
	var refused *Refused
	if !errors.As(err, &refused) || rec.count(8) != 0 {
		t.Errorf("%v; sent %d", err, rec.count(8))
	}
}

// tap is a proxy that parses what really goes over TCP towards the broker.
type tap struct {
	mu   sync.Mutex
	seen []string // "key/version", and what a read must never say
	bad  []string
}

func (tp *tap) note(frame []byte) {
	if len(frame) < 8 {
		return
	}
	key, v := int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.seen = append(tp.seen, fmt.Sprintf("%d/%d", key, v))
	if key != 3 {
		return
	}
	r := kmsg.NewPtrMetadataRequest()
	r.SetVersion(v)
	body := frame[8:] // key, version, correlation id
	n := int(int16(binary.BigEndian.Uint16(body)))
	body = body[2+max(n, 0):]
	if r.IsFlexible() {
		body = body[1:]
	}
	if err := r.ReadFrom(body); err != nil || r.AllowAutoTopicCreation || v < 4 && (r.Topics == nil || len(r.Topics) > 0) {
		tp.bad = append(tp.bad, fmt.Sprintf("Metadata v%d %+v %v", v, r, err))
	}
}

// listen starts the proxy in front of addr.
func (tp *tap) listen(t *testing.T, addr string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", addr)
			if err != nil {
				in.Close()
				return
			}
			go func() { io.Copy(in, out); in.Close() }()
			go func() {
				defer out.Close()
				for {
					var h [4]byte
					if _, err := io.ReadFull(in, h[:]); err != nil {
						return
					}
					f := make([]byte, binary.BigEndian.Uint32(h[:]))
					if _, err := io.ReadFull(in, f); err != nil {
						return
					}
					tp.note(f)
					out.Write(append(h[:], f...))
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestOnlyReadsGoOverTheWire calls every exported read, through a tap in front of each broker.
func TestOnlyReadsGoOverTheWire(t *testing.T) {
	k := fake(t, kfake.SeedTopics(2, "orders"))
	produce(t, k, "orders", 3)
	commit(t, k, "billing", "orders", 2)
	tp := &tap{}
	resolve := map[string]string{}
	for _, a := range k.ListenAddrs() {
		resolve[a] = tp.listen(t, a)
	}
	rec := &recorder{}
	c := open(t, k.ListenAddrs(), func(cfg *Config) { cfg.Resolve, cfg.Recorder = resolve, rec.add })
	c.unknownFor = 0
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Contact(ctx(t)))
	_, err := c.Metadata(ctx(t), nil)
	must(err)
	_, err = c.Metadata(ctx(t), []string{"orders", "not-there"})
	must(err)
	_, err = c.ListGroups(ctx(t))
	must(err)
	_, _, err = c.ClusterOperations(ctx(t))
	must(err)
	must(c.DescribeGroups(ctx(t), []GroupRef{{ID: "billing"}, {ID: "nope"}, {ID: "x", Type: kafka.TypeConsumer}, {ID: "y", Type: kafka.TypeShare}, {ID: "z", Type: kafka.TypeStreams}})["billing"].Err)
	must(c.FetchOffsets(ctx(t), []string{"billing", "nope"})["billing"].Err)
	must(c.ListOffsets(ctx(t), []OffsetQuery{{"orders", 0, AtEnd, true}, {"orders", 0, AtMax, false}, {"not-there", 0, AtEnd, false}})[0].Err)
	must(c.DescribeTopicConfigs(ctx(t), []string{"orders", "not-there"})["orders"].Err)
	must(c.DescribeBrokerConfigs(ctx(t), "offsets.retention.minutes").Err)
	_, err = c.DescribeAcls(ctx(t))
	must(err)
	c.ReadCommits(ctx(t), []string{"billing", "nope"}, 1<<20, CommitLog{func(LoggedCommit) {}, func(Entered) {}})
	_, err = c.ReadPartition(ctx(t), "orders", 0, 0, 3, ReadOptions{Committed: true}, func(*kafka.Record) error { return nil })
	must(err)
	must(c.OffsetForLeaderEpoch(ctx(t), []EpochQuery{{"orders", 0, 0}})[0].Err)
	c.probe(ctx(t), k.ListenAddrs()[0])

	tp.mu.Lock()
	defer tp.mu.Unlock()
	if len(tp.bad) > 0 {
		t.Errorf("%v", tp.bad)
	}
	reads := []string{"1", "2", "3", "9", "10", "15", "16", "17", "18", "23", "29", "32", "60", "69", "77", "89"}
	got := map[string]bool{}
	for _, s := range tp.seen {
		key, _, _ := strings.Cut(s, "/")
		got[key] = true
		if !slices.Contains(reads, key) {
			t.Errorf("request %s went over the wire", s)
		}
	}
	for _, key := range reads {
		if !got[key] && key != "89" { // kfake has no streams groups
			t.Errorf("request %s was never made: the test does not cover it", key)
		}
	}
	// What the recorder is told is what goes over the wire (beside the transport's own handshakes, keys 3 and 18).
	rec.mu.Lock()
	defer rec.mu.Unlock()
	wire := slices.Clone(tp.seen)
	for _, s := range rec.sent {
		i := slices.Index(wire, fmt.Sprintf("%d/%d", s.Key, s.Version))
		if i < 0 {
			t.Errorf("%+v was recorded and not sent", s)
			continue
		}
		wire = slices.Delete(wire, i, i+1)
	}
	for _, s := range wire {
		if !strings.HasPrefix(s, "3/") && !strings.HasPrefix(s, "18/") {
			t.Errorf("%s was sent and not recorded", s)
		}
	}
	if md, err := open(t, k.ListenAddrs(), nil).Metadata(context.Background(), nil); err != nil || len(md.Topics) != 1 {
		t.Errorf("topics afterwards: %+v %v", md, err)
	}
}
