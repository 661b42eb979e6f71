package collect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// brokerKeys are the broker settings that decide over offsets, groups, MirrorMaker 2's topics and rights. Names that a
// release lacks are left out by the broker.
var brokerKeys = []string{
	"offsets.retention.minutes", "offsets.retention.check.interval.ms", "offset.metadata.max.bytes", "offsets.topic.replication.factor",
	"auto.create.topics.enable", "default.replication.factor", "min.insync.replicas",
	"log.retention.hours", "log.retention.minutes", "log.retention.ms", "log.retention.bytes", "log.retention.check.interval.ms",
	"group.min.session.timeout.ms", "group.max.session.timeout.ms",
	"group.coordinator.rebalance.protocols", "group.coordinator.new.enable", "group.share.enable",
	"authorizer.class.name", "allow.everyone.if.no.acl.found", "super.users",
}

// topicKeys are the topic settings that decide whether records, and MirrorMaker 2's own above all, stay and are accepted.
var topicKeys = []string{"cleanup.policy", "retention.ms", "retention.bytes", "delete.retention.ms", "min.insync.replicas", "message.timestamp.type", "segment.ms", "max.message.bytes"}

func configEntries(es []wire.ConfigEntry) []snapshot.ConfigEntry {
	out := make([]snapshot.ConfigEntry, 0, len(es))
	for _, e := range es {
		c := snapshot.ConfigEntry{Key: e.Name, Default: e.Default, Hidden: e.Value == nil && !e.Default}
		if e.Value != nil {
			c.Value = *e.Value
		} else if e.Default {
			continue // neither set nor with a default
		}
		out = append(out, c)
	}
	return out
}

// brokerSettings asks one broker: what decides here is the same on all brokers of a sound cluster.
func (cl *cluster) brokerSettings(ctx context.Context) {
	r := cl.Client.DescribeBrokerConfigs(ctx, brokerKeys...)
	if r.Err != nil {
		cl.out.Settings = snapshot.NotKnown[[]snapshot.ConfigEntry](gapOf(cl.Alias, "DescribeConfigs", "broker", r.Err))
		return
	}
	cl.out.Settings = snapshot.Is(configEntries(r.Entries))
}

// acls lists the cluster's rules, as far as they concern the flows: names gives their topics and groups.
func (cl *cluster) acls(ctx context.Context, names ruleNames) {
	as, err := cl.Client.DescribeAcls(ctx)
	switch {
	case wire.CodeOf(err) == kafka.SecurityDisabled:
		cl.out.Acls = snapshot.None[[]snapshot.Acl]()
		return
	case err != nil:
		cl.out.Acls = snapshot.NotKnown[[]snapshot.Acl](gapOf(cl.Alias, "DescribeAcls", "", err))
		return
	}
	out := []snapshot.Acl{}
	for _, a := range as {
		if names.concerns(a) {
			out = append(out, snapshot.Acl{Principal: a.Principal, Host: a.Host, Resource: a.Resource, Name: a.Name, Pattern: a.Pattern, Operation: a.Operation, Permission: a.Permission})
		}
	}
	slices.SortFunc(out, func(a, b snapshot.Acl) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Principal, b.Principal),
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Permission, b.Permission))
	})
	cl.out.Acls = snapshot.Is(out)
}

// ruleNames are the topics and groups that the flows touch on a cluster, sorted; also names that are not there yet.
type ruleNames struct{ topics, groups []string }

func (n ruleNames) concerns(a wire.Acl) bool {
	switch a.Resource {
	case "TOPIC":
		return covers(a, n.topics)
	case "GROUP":
		return covers(a, n.groups)
	}
	return a.Resource == "CLUSTER" || a.Resource == "TRANSACTIONAL_ID"
}

// covers says whether the rule's pattern fits one of the sorted names.
func covers(a wire.Acl, names []string) bool {
	if a.Pattern == "LITERAL" && a.Name == "*" {
		return true
	}
	i, found := slices.BinarySearch(names, a.Name)
	if a.Pattern == "PREFIXED" {
		return i < len(names) && strings.HasPrefix(names[i], a.Name)
	}
	return found
}
