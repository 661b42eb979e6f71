package collect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

const identity = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"

// TestDiscover: what the topics of two clusters tell of the flow from one to the other.
func TestDiscover(t *testing.T) {
	type filled map[string][]*kgo.Record
	beat := func(source string) []*kgo.Record { return []*kgo.Record{heartbeat1(t, source, "b")} }
	conf := func(more ...string) []*kgo.Record {
		p := map[string]string{"source.cluster.alias": "a", "target.cluster.alias": "b"}
		for _, m := range more {
			k, v, _ := strings.Cut(m, "=")
			p[k] = v
		}
		return []*kgo.Record{stored("connector-MirrorSourceConnector", p), stored("connector-MirrorCheckpointConnector", p)}
	}
	for _, tt := range []struct {
		name           string
		source, target filled
		given          string // alias of the source
		want           string // flow, offset-syncs topic and its cluster, checkpoints topic, policy; or slug of the problem
		words          string // in the problem
	}{
		{name: "default policy, names alone", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil},
			want: "a->b mm2-offset-syncs.b.internal on a, a.checkpoints.internal, default ."},
		{name: "default policy, stored configuration", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil, "mm2-configs.a.internal": conf()},
			want: "a->b mm2-offset-syncs.b.internal on a, a.checkpoints.internal, default ."},
		{name: "only the worker's topics: checkpoints were never written", source: filled{"orders": nil}, target: filled{"mm2-configs.a.internal": conf()},
			want: "a->b mm2-offset-syncs.b.internal on a, a.checkpoints.internal, default ."},
		{name: "flows from others alone", source: filled{"stock": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil, "mm2-configs.a.internal": conf()},
			want: "flow-not-found", words: "from a, and no topic"},
		{name: "separator, names alone", source: filled{"orders": nil, "mm2-offset-syncs_b_internal": nil}, target: filled{"a_orders": nil, "a_checkpoints_internal": nil},
			want: "a->b mm2-offset-syncs_b_internal on a, a_checkpoints_internal, default _"},
		{name: "separator, stored configuration", source: filled{"orders": nil, "mm2-offset-syncs_b_internal": nil}, target: filled{"a_orders": nil, "a_checkpoints_internal": nil, "mm2-configs.a.internal": conf("replication.policy.separator=_")},
			want: "a->b mm2-offset-syncs_b_internal on a, a_checkpoints_internal, default _"},
		{name: "separator not for internal topics", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"a_orders": nil, "a.checkpoints.internal": nil, "mm2-configs.a.internal": conf("replication.policy.separator=_", "replication.policy.internal.topic.separator.enabled=false")},
			want: "a->b mm2-offset-syncs.b.internal on a, a.checkpoints.internal, default _"},
		{name: "identity policy, stored configuration", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"orders": nil, "a.checkpoints.internal": nil, "mm2-configs.a.internal": conf("replication.policy.class=" + identity)},
			want: "a->b mm2-offset-syncs.b.internal on a, a.checkpoints.internal, identity ."},
		{name: "identity policy, names alone", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"orders": nil, "a.checkpoints.internal": nil},
			want: "a->b mm2-offset-syncs.b.internal on a, a.checkpoints.internal, identity ."},
		{name: "location=target, heartbeats", source: filled{"orders": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil, "mm2-offset-syncs.a.internal": nil, "heartbeats": beat("a")},
			want: "a->b mm2-offset-syncs.a.internal on b, a.checkpoints.internal, default ."},
		{name: "location=target, stored configuration", source: filled{"orders": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil, "mm2-offset-syncs.a.internal": nil, "mm2-configs.a.internal": conf("offset-syncs.topic.location=target")},
			want: "a->b mm2-offset-syncs.a.internal on b, a.checkpoints.internal, default ."},
		{name: "two sources, told apart by their topics", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil, "c.bills": nil, "c.checkpoints.internal": nil},
			want: "a->b mm2-offset-syncs.b.internal on a, a.checkpoints.internal, default ."},
		{name: "two sources with the same topics", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil, "c.orders": nil, "c.checkpoints.internal": nil},
			want: "flow-not-found", words: "a, c"},
		{name: "two targets of the source, and no heartbeat tells which one this is", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil, "mm2-offset-syncs.d.internal": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil},
			want: "alias-unknown", words: "offset syncs for b, d"},
		{name: "two sources, one named", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil, "c.orders": nil, "c.checkpoints.internal": nil}, given: "c",
			want: "c->b mm2-offset-syncs.b.internal on c, c.checkpoints.internal, default ."},
		{name: "exchanged", source: filled{"a.orders": nil, "a.checkpoints.internal": nil}, target: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil},
			want: "source-target-exchanged", words: "a.checkpoints.internal"},
		{name: "unknown alias", source: filled{"orders": nil, "mm2-offset-syncs.b.internal": nil}, target: filled{"a.orders": nil, "a.checkpoints.internal": nil}, given: "z",
			want: "alias-unknown", words: "it knows a"},
		{name: "no MirrorMaker 2", source: filled{"orders": nil}, target: filled{"bills": nil}, want: "flow-not-found", words: "no topic of MirrorMaker 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, dst := start(t, "s").login(), start(t, "d").login()
			for n, rs := range tt.source {
				src.topic(n, 1, rs...)
			}
			for n, rs := range tt.target {
				dst.topic(n, 1, rs...)
			}
			found, err := Discover(t.Context(), Pair{Source: src.open("", "", nil).Client, Target: dst.open("", "", nil).Client, SourceAlias: tt.given})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range found.Flows {
				class := "default"
				if f.Policy.Class == identity {
					class = "identity"
				}
				got += fmt.Sprintf("%s %s on %s, %s, %s %s", f.Name(), f.SyncsTopic, f.SyncsOn, f.Checkpoints, class, f.Policy.Separator)
			}
			for _, p := range found.Problems {
				got += p.Slug
				if !strings.Contains(p.Because, tt.words) || p.Fix == "" || p.Code != 5 {
					t.Errorf("%+v", p)
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
