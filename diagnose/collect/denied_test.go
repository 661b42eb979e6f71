package collect

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

func allow(r kmsg.ACLResourceType, name string, op kmsg.ACLOperation) kfake.ACL {
	return kfake.ACL{Resource: r, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true}
}

const (
	aclTopic, aclGroup, aclCluster = kmsg.ACLResourceTypeTopic, kmsg.ACLResourceTypeGroup, kmsg.ACLResourceTypeCluster
	opRead, opDescribe             = kmsg.ACLOperationRead, kmsg.ACLOperationDescribe
)

func secured(t *testing.T, id string, acls ...kfake.ACL) *fake {
	t.Helper()
	return start(t, id, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "root", "pw"), kfake.User("PLAIN", "doctor", "pw", acls...)).
		login(kgo.SASL(plain.Auth{User: "root", Pass: "pw"}.AsMechanism()))
}

// TestDenied: what an ACL keeps back is a gap with code "denied", never an absence.
func TestDenied(t *testing.T) {
	everything := []kfake.ACL{allow(aclTopic, "*", opRead), allow(aclTopic, "*", opDescribe), allow(aclGroup, "*", opDescribe), allow(aclCluster, "kafka-cluster", opDescribe)}
	reads := func(names ...string) (out []kfake.ACL) {
		for _, n := range names {
			out = append(out, allow(aclTopic, n, opRead))
		}
		return out
	}
	type facts struct{ syncs, checkpoints, billingSource, billingTarget string }
	all := facts{"known", "known", "known", "known"}
	for _, tt := range []struct {
		name string
		a, b []kfake.ACL
		want facts
		more func(*testing.T, *snapshot.Snapshot)
	}{
		{"all rights", everything, everything, all, func(t *testing.T, s *snapshot.Snapshot) {
			if !clusterOf(t, s, "a").GroupsComplete.Or(false) {
				t.Error("all groups are shown to who may describe the cluster")
			}
		}},
		{"no right on offset-syncs", append(reads("orders"), everything[2:]...), everything, facts{"denied", "known", "known", "known"}, nil},
		{"no right on checkpoints", everything, append(reads("a.orders"), everything[2:]...), facts{"known", "denied", "known", "known"}, nil},
		{"no right on any group of the target", everything, everything[:2], facts{"known", "known", "known", "denied"}, nil},
		{"group hidden in the target's list", everything, []kfake.ACL{everything[0], everything[1], allow(aclGroup, "another", opDescribe)}, facts{"known", "known", "known", "denied"}, func(t *testing.T, s *snapshot.Snapshot) {
			if g := clusterOf(t, s, "b").GroupsComplete; !g.Unknown() || g.Why() == nil || g.Why().Code != "denied" {
				t.Errorf("complete %v, %v", g.State(), g.Why())
			}
		}},
		{"no right on the source topic", append(reads("mm2-offset-syncs.b.internal"), everything[2:]...), everything, facts{"known", "known", "known", "known"}, func(t *testing.T, s *snapshot.Snapshot) {
			if x := topicOf(clusterOf(t, s, "a"), "orders"); x == nil || x.Gap == nil || x.Gap.Code != "denied" {
				t.Errorf("orders %+v", x)
			}
		}},
		{"no right on the copy", everything, append(reads("a.checkpoints.internal"), everything[2:]...), all, func(t *testing.T, s *snapshot.Snapshot) {
			if x := topicOf(clusterOf(t, s, "b"), "a.orders"); x == nil || x.Gap == nil || x.Gap.Code != "denied" {
				t.Errorf("a.orders %+v", x)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := secured(t, "a", tt.a...), secured(t, "b", tt.b...)
			f := mirror(a, b, flowAB(), "a.orders")
			b.topic("__consumer_offsets", 1) // a real broker has it once a group exists; kfake keeps groups without
			s := run(t, []snapshot.Flow{f}, a.open("a", "doctor", nil), b.open("b", "doctor", nil))
			got := facts{stateOf(s.Flows[0].Syncs), stateOf(s.Flows[0].Checkpointed), offsetsOf(t, s, "a"), offsetsOf(t, s, "b")}
			if got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if tt.more != nil {
				tt.more(t, s)
			}
		})
	}
}

func stateOf[T any](f snapshot.Fact[T]) string {
	switch f.State() {
	case snapshot.Known:
		return "known"
	case snapshot.Absent:
		return "absent"
	}
	if f.Why() == nil {
		return "not asked"
	}
	return f.Why().Code
}

func offsetsOf(t *testing.T, s *snapshot.Snapshot, alias string) string {
	c := clusterOf(t, s, alias)
	if c.Groups.Unknown() {
		return stateOf(c.Groups)
	}
	g := groupOf(c, "billing")
	if g == nil {
		return "missing"
	}
	return stateOf(g.Offsets)
}
