package wire

import (
	"errors"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestGroupPartition: where Kafka keeps a group, by Java's hash; the values are those of a Java run.
func TestGroupPartition(t *testing.T) {
	for _, tt := range []struct {
		group string
		hash  int32 // of String.hashCode
	}{{"", 0}, {"billing", -109829509}, {"clerks", -1357819202}, {"polygenelubricants", -1 << 31}, {"grüße-😀", 347391577}} {
		want := tt.hash
		if want == -1<<31 {
			want = 0
		} else if want < 0 {
			want = -want
		}
		if got := groupPartition(tt.group, 50); got != want%50 {
			t.Errorf("%s: %d, want %d", tt.group, got, want%50)
		}
	}
}

func commitRecord(version int16, group string, offset int64) *kgo.Record {
	k := kmsg.OffsetCommitKey{Version: 1, Group: group, Topic: "orders", Partition: 2}
	v := kmsg.OffsetCommitValue{Version: version, Offset: offset, LeaderEpoch: 4, Metadata: "m", CommitTimestamp: 1000 + offset, ExpireTimestamp: 5000}
	return &kgo.Record{Topic: offsetsTopic, Key: k.AppendTo(nil), Value: v.AppendTo(nil)}
}

// TestReadCommits: values of every version, tombstones and foreign records; the bound is an error of the groups it concerns.
func TestReadCommits(t *testing.T) {
	k := fake(t)
	if err := k.CreateTopic(offsetsTopic, 1, nil); err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(k.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	gm := kmsg.GroupMetadataKey{Version: 2, Group: "billing"}
	empty := kmsg.GroupMetadataValue{Version: 3, ProtocolType: "consumer", CurrentStateTimestamp: 77}
	stable := kmsg.GroupMetadataValue{Version: 3, ProtocolType: "consumer", CurrentStateTimestamp: 88, Members: []kmsg.GroupMetadataValueMember{{MemberID: "m"}}}
	gone := commitRecord(3, "billing", 9)
	gone.Value = nil
	rs := []*kgo.Record{commitRecord(0, "billing", 1), commitRecord(1, "billing", 2), commitRecord(2, "billing", 3), commitRecord(3, "billing", 4), commitRecord(4, "billing", 5),
		commitRecord(3, "other", 8), {Topic: offsetsTopic, Key: gm.AppendTo(nil), Value: []byte{0, 3}}, {Topic: offsetsTopic, Key: gm.AppendTo(nil), Value: empty.AppendTo(nil)},
		{Topic: offsetsTopic, Key: gm.AppendTo(nil), Value: stable.AppendTo(nil)}, {Topic: offsetsTopic, Value: []byte("x")}, gone}
	if err := cl.ProduceSync(t.Context(), rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	c := open(t, k.ListenAddrs(), nil)
	var got []LoggedCommit
	var entered []Entered
	if bad := c.ReadCommits(ctx(t), []string{"billing", "nobody"}, 1<<20, CommitLog{func(cm LoggedCommit) { got = append(got, cm) }, func(e Entered) { entered = append(entered, e) }}); len(bad) > 0 {
		t.Fatal(bad)
	}
	if want := []Entered{{"billing", 77, true}, {"billing", 88, false}}; !slices.Equal(entered, want) {
		t.Errorf("entered %+v, want %+v", entered, want)
	}
	if len(got) != 6 {
		t.Fatalf("%+v", got)
	}
	for i, cm := range got[:5] {
		want := LoggedCommit{Group: "billing", Topic: "orders", Partition: 2, Offset: int64(i + 1), Time: int64(1001 + i)}
		if i == 1 {
			want.Expires = 5000
		}
		if cm != want {
			t.Errorf("version %d: %+v, want %+v", i, cm, want)
		}
	}
	if cm := got[5]; !cm.Removed || cm.Time == 0 {
		t.Errorf("tombstone %+v", cm)
	}
	bad := c.ReadCommits(ctx(t), []string{"billing"}, 50, CommitLog{func(LoggedCommit) {}, func(Entered) {}})
	var large *TooLarge
	if !errors.As(bad["billing"], &large) || large.Most != 50 {
		t.Errorf("bound: %v", bad)
	}
}

// TestBrokerConfigs: only the keys asked for, of one broker.
func TestBrokerConfigs(t *testing.T) {
	c := open(t, fake(t).ListenAddrs(), nil)
	r := c.DescribeBrokerConfigs(ctx(t), "offsets.retention.minutes", "min.insync.replicas", "no.such.key")
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var names []string
	for _, e := range r.Entries {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"min.insync.replicas", "offsets.retention.minutes"}) {
		t.Errorf("%q", names)
	}
	if CodeOf(c.fail("X", node{}, kafka.SecurityDisabled)) != kafka.SecurityDisabled {
		t.Error("SECURITY_DISABLED is lost")
	}
}
