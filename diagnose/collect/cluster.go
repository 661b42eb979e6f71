package collect

import (
	"context"
	"errors"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// contact opens the conversation with a cluster and lists its topics.
func (c *collector) contact(ctx context.Context, cl *cluster) {
	fail := func(ct *snapshot.Contact) {
		cl.out.Contact = ct
		cl.contactFailed = true
		g := cl.unreachable()
		cl.out.ID, cl.out.Topics, cl.out.Groups = snapshot.NotKnown[string](g), snapshot.NotKnown[[]snapshot.Topic](g), snapshot.NotKnown[[]snapshot.Group](g)
	}
	if cl.Client == nil {
		fail(cl.Failed)
		return
	}
	c.progress("connecting to " + cl.Alias)
	if err := cl.Client.Contact(ctx); err != nil {
		var ce *wire.ContactError
		if errors.As(err, &ce) {
			fail(&snapshot.Contact{Code: ce.Code, What: ce.What, Why: ce.Why, Next: ce.Next, Listener: ce.Listener})
			return
		}
		fail(&snapshot.Contact{Code: 1, What: "first contact with " + cl.Alias, Why: err.Error(), Next: "check the address and the network"})
		return
	}
	cl.readMetadata(ctx, c)
	cl.out.Version = snapshot.Is(cl.Client.BrokerVersion())
	if cl.out.Version.Or("") == "" {
		cl.out.Version = snapshot.NotKnown[string](&snapshot.Gap{Code: "unknown", Cluster: cl.Alias, API: "ApiVersions", Why: "the set of APIs fits no release"})
	}
	ops, known, err := cl.Client.ClusterOperations(ctx)
	switch {
	case err != nil:
		cl.out.GroupsComplete = snapshot.NotKnown[bool](gapOf(cl.Alias, "DescribeCluster", "", err))
	case !known:
		cl.out.GroupsComplete = snapshot.NotKnown[bool](&snapshot.Gap{Code: "unsupported", Cluster: cl.Alias, API: "DescribeCluster", Why: "the broker does not tell whether all groups are shown"})
	case ops.Has(wire.Describe):
		cl.out.GroupsComplete = snapshot.Is(true)
	default:
		cl.out.GroupsComplete = snapshot.NotKnown[bool](&snapshot.Gap{Code: "denied", Cluster: cl.Alias, API: "ListGroups cluster", Why: "without Describe on the cluster, groups are left out of the list without an error"})
	}
}

// readMetadata lists all topics; a later call brings the list up to date.
func (cl *cluster) readMetadata(ctx context.Context, c *collector) {
	md, err := cl.Client.Metadata(ctx, nil)
	if err != nil {
		g := gapOf(cl.Alias, "Metadata", "", err)
		if len(cl.topics) > 0 { // the list of before stands; what is missing from it is not known
			c.addGap(g)
			return
		}
		cl.out.Topics = snapshot.NotKnown[[]snapshot.Topic](g)
		if cl.out.ID.IsZero() {
			cl.out.ID = snapshot.NotKnown[string](g)
		}
		return
	}
	cl.out.ID = snapshot.Is(md.ClusterID)
	var bs []snapshot.Broker
	for _, b := range md.Brokers {
		bs = append(bs, snapshot.Broker{ID: b.ID, Host: b.Host, Port: b.Port, Rack: b.Rack})
	}
	cl.out.Brokers = snapshot.Is(bs)
	seen := map[string]bool{}
	for i := range md.Topics {
		cl.addTopic(&md.Topics[i])
		seen[md.Topics[i].Name] = true
	}
	for n := range cl.topics {
		if !seen[n] {
			delete(cl.topics, n)
		}
	}
}

func (cl *cluster) addTopic(t *wire.Topic) {
	if wire.CodeOf(t.Err) == kafka.UnknownTopicOrPartition {
		return
	}
	out := &snapshot.Topic{Name: t.Name, ID: t.ID, Internal: t.Internal}
	if t.Err != nil {
		out.Gap = gapOf(cl.Alias, "Metadata", t.Name, t.Err)
	}
	for _, p := range t.Partitions {
		epoch := snapshot.Is(p.Epoch)
		if p.Epoch < 0 {
			epoch = snapshot.NotKnown[int32](&snapshot.Gap{Code: "unsupported", Cluster: cl.Alias, API: "Metadata", Why: "the broker does not tell the leader epoch"})
		}
		out.Partitions = append(out.Partitions, snapshot.Partition{ID: p.ID, Leader: p.Leader, Replicas: len(p.Replicas), ISR: len(p.ISR), Epoch: epoch})
	}
	cl.topics[t.Name] = out
}

// lookUp asks by name for the topics that a flow needs and the list does not show: an ACL hides a topic from the list without
// an error, but a question by name is answered with TOPIC_AUTHORIZATION_FAILED.
func (cl *cluster) lookUp(ctx context.Context, names []string) {
	var missing []string
	for _, n := range names {
		if cl.topics[n] == nil {
			missing = append(missing, n)
		}
	}
	cl.out.TopicsComplete = snapshot.Is(true)
	if len(missing) == 0 {
		return
	}
	md, err := cl.Client.Metadata(ctx, missing)
	if err != nil {
		cl.out.TopicsComplete = snapshot.NotKnown[bool](gapOf(cl.Alias, "Metadata", missing[0], err))
		return
	}
	for i := range md.Topics {
		cl.addTopic(&md.Topics[i])
	}
}
