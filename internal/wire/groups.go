package wire

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListedGroup is one row of ListGroups. State is empty before Kafka 2.6, Type before 3.8.
type ListedGroup struct {
	ID           string
	State        kafka.GroupState
	Type         kafka.GroupType
	ProtocolType string
	Broker       int32 // its coordinator
}

// ListedGroups are the groups of all brokers, sorted by id, each once. Errs names the brokers whose groups are missing: with
// any entry there the list is not complete. Groups that an ACL hides are missing without an error: see ClusterOperations.
type ListedGroups struct {
	Groups []ListedGroup
	Errs   map[int32]error
}

// ListGroups asks every broker. When one fails, all are asked again: its groups may have moved to a broker that answered before.
// The error is about the list of brokers; failed brokers are in Errs.
func (c *Client) ListGroups(ctx context.Context) (ListedGroups, error) {
	found := map[string]ListedGroup{}
	since, wait := time.Now(), firstWait
	for {
		md, err := c.Metadata(ctx, []string{})
		if err != nil {
			return ListedGroups{}, err
		}
		errs := c.listOnce(ctx, md.Brokers, found)
		again := false
		for _, err := range errs {
			again = again || c.worthIt(ctx, err, since)
		}
		if !again || pause(ctx, wait) != nil {
			return c.listed(found, errs), nil
		}
		c.logf("ListGroups: %d of %d brokers failed; all are asked again", len(errs), len(md.Brokers))
		wait = min(2*wait, lastWait)
	}
}

func (c *Client) listed(found map[string]ListedGroup, errs map[int32]error) ListedGroups {
	out := ListedGroups{Groups: slices.Collect(maps.Values(found)), Errs: errs}
	slices.SortFunc(out.Groups, func(a, b ListedGroup) int { return cmp.Compare(a.ID, b.ID) })
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(found) > 0 {
		c.internal[offsetsTopic] = true
	}
	for _, g := range out.Groups {
		c.coords[g.ID] = g.Broker
	}
	return out
}

func (c *Client) listOnce(ctx context.Context, brokers []Broker, found map[string]ListedGroup) map[int32]error {
	errs := map[int32]error{}
	seen := map[string]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, b := range brokers {
		n := node{b.ID, b.Addr()}
		wg.Add(1)
		go func() {
			defer wg.Done()
			r, err := c.ask(ctx, n, kmsg.NewPtrListGroupsRequest())
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs[n.id] = c.fail("ListGroups", n, err)
				return
			}
			resp := r.(*kmsg.ListGroupsResponse)
			if err := c.code("ListGroups", n, resp.ErrorCode, nil); err != nil {
				errs[n.id] = err // what it lists beside an error is not its whole list, but it is true
			}
			for _, g := range resp.Groups {
				// While a coordinator moves, two brokers list its groups: the first entry of a pass stands.
				if !seen[g.Group] {
					seen[g.Group] = true
					found[g.Group] = ListedGroup{ID: g.Group, State: kafka.GroupState(g.GroupState), Type: kafka.GroupType(g.GroupType), ProtocolType: g.ProtocolType, Broker: n.id}
				}
			}
		}()
	}
	wg.Wait()
	return errs
}

// Operations is a set of ACL operations.
type Operations uint32

// Has says whether an operation (Kafka's AclOperation number) is in the set.
func (o Operations) Has(op int) bool { return o>>op&1 == 1 }

// Describe is Kafka's number for the operation that lists everything: on the cluster it shows all groups.
const Describe = 8

// ClusterOperations gives what this principal may do on the cluster; known is false where the broker does not tell. With
// Describe among them ListGroups is not thinned out by ACLs.
func (c *Client) ClusterOperations(ctx context.Context) (ops Operations, known bool, err error) {
	err = c.retry(ctx, func(try int) error {
		n := c.anyNode(try)
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeClusterAuthorizedOperations = true
		r, err := c.ask(ctx, n, req)
		if CodeOf(err) == kafka.UnsupportedVersion {
			return nil
		}
		if err != nil {
			return c.fail("DescribeCluster", n, err)
		}
		resp := r.(*kmsg.DescribeClusterResponse)
		if resp.ErrorCode == 0 && resp.ClusterAuthorizedOperations != -2147483648 {
			ops, known = Operations(uint32(resp.ClusterAuthorizedOperations)), true
		}
		return c.code("DescribeCluster", n, resp.ErrorCode, resp.ErrorMessage)
	})
	return ops, known, err
}
