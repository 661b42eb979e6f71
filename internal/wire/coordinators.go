package wire

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	groupsPerRequest = 500
	singlesAtOnce    = 16 // requests side by side where a broker takes one group each
)

// errNoGroups says that the cluster has no __consumer_offsets yet, so that no group can exist.
var errNoGroups = errors.New("the cluster has no " + offsetsTopic + ": no group exists")

type existence int

const (
	hidden existence = iota
	present
	absent
)

// groupsExist says whether __consumer_offsets exists. It must be known before FindCoordinator, which would create it.
// A listed group proves it where an ACL hides the topic.
func (c *Client) groupsExist(ctx context.Context) (existence, error) {
	if c.known(offsetsTopic) {
		return present, nil
	}
	md, err := c.Metadata(ctx, []string{offsetsTopic})
	if err != nil {
		return hidden, err
	}
	t, _ := md.Topic(offsetsTopic)
	code := CodeOf(t.Err)
	switch {
	case t.Err == nil:
		return present, nil
	case code == kafka.UnknownTopicOrPartition, code == kafka.TopicAuthorizationFailed:
	case code.Retriable(): // the topic is there, in trouble
		return present, c.exists(offsetsTopic)
	default:
		return hidden, t.Err
	}
	l, err := c.ListGroups(ctx)
	switch {
	case err != nil:
		return hidden, err
	case len(l.Groups) > 0:
		return present, nil
	case code == kafka.UnknownTopicOrPartition && len(l.Errs) == 0:
		return absent, nil
	}
	return hidden, nil
}

func (c *Client) exists(topic string) error {
	c.mu.Lock()
	c.internal[topic] = true
	c.mu.Unlock()
	return nil
}

// placeGroups places groups on their coordinators: the broker that listed a group coordinates it, the rest is looked up.
func (c *Client) placeGroups(ctx context.Context, groups []string, try int) (map[int32][]string, map[string]error) {
	parts, bad := map[int32][]string{}, map[string]error{}
	var look []string
	c.mu.Lock()
	for _, g := range groups {
		id, ok := c.coords[g]
		if _, alive := c.brokers[id]; ok && alive && try == 0 {
			parts[id] = append(parts[id], g)
		} else {
			look = append(look, g)
		}
	}
	c.mu.Unlock()
	if len(look) == 0 {
		return parts, bad
	}
	ex, err := c.groupsExist(ctx)
	if err != nil {
		return parts, all(look, err)
	}
	switch ex {
	case absent:
		return parts, all(look, errNoGroups)
	case hidden: // whether FindCoordinator would create the topic cannot be told: ask all brokers instead
		md, err := c.Metadata(ctx, []string{})
		if err != nil {
			return parts, all(look, err)
		}
		for _, b := range md.Brokers {
			parts[b.ID] = append(parts[b.ID], look...)
		}
		return parts, bad
	}
	var mu sync.Mutex
	keep := func(g string, id int32, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			bad[g] = err
			return
		}
		parts[id] = append(parts[id], g)
	}
	if err := c.findCoordinators(ctx, c.anyNode(try), look, keep); err != nil {
		for _, g := range look {
			if _, done := bad[g]; !done && !slices.ContainsFunc(values(parts), func(gs []string) bool { return slices.Contains(gs, g) }) {
				bad[g] = err
			}
		}
	}
	return parts, bad
}

func values(m map[int32][]string) (out [][]string) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// groupError names the group, and what hides whether there is a coordinator at all.
func (c *Client) groupError(err error, group string) error {
	err = about(err, "group "+group)
	var e *Error
	if errors.As(err, &e) && e.Code == kafka.NotCoordinator && !c.known(offsetsTopic) {
		named := *e
		named.Err = errors.New("no broker coordinates the group, and an ACL hides whether " + offsetsTopic + " exists; looking further would create it")
		named.Hint = "grant Describe on topic " + offsetsTopic
		return &named
	}
	return err
}

// known says whether an internal topic is known to exist.
func (c *Client) known(topic string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.internal[topic]
}

// findCoordinators tells keep the coordinator of each group; an error is about those that keep was not told of.
func (c *Client) findCoordinators(ctx context.Context, n node, groups []string, keep func(g string, id int32, err error)) error {
	const api = "FindCoordinator"
	batched, err := c.offers(ctx, n, 10, 4) // v4: Kafka 3.0 (KIP-699)
	if err != nil {
		return c.fail(api, n, err)
	}
	found := func(g string, id int32, code int16, text *string) {
		if code != 0 {
			keep(g, -1, c.code(api, n, code, text))
			return
		}
		c.mu.Lock()
		c.coords[g], c.internal[offsetsTopic] = id, true
		_, known := c.brokers[id]
		c.mu.Unlock()
		if !known {
			if _, err := c.Metadata(ctx, []string{}); err != nil {
				keep(g, -1, err)
				return
			}
		}
		keep(g, id, nil)
	}
	if !batched {
		return singles(groups, func(g string) error {
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorKey = g
			r, err := c.askWithin(ctx, n, req, 0, 3)
			if err != nil {
				return c.fail(api, n, err)
			}
			resp := r.(*kmsg.FindCoordinatorResponse)
			found(g, resp.NodeID, resp.ErrorCode, resp.ErrorMessage)
			return nil
		})
	}
	for part := range slices.Chunk(groups, groupsPerRequest) {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKeys = part
		r, err := c.askWithin(ctx, n, req, 4, spanOf(10).hi)
		if err != nil {
			return c.fail(api, n, err)
		}
		got := map[string]bool{}
		for _, co := range r.(*kmsg.FindCoordinatorResponse).Coordinators {
			if slices.Contains(part, co.Key) && !got[co.Key] {
				got[co.Key] = true
				found(co.Key, co.NodeID, co.ErrorCode, co.ErrorMessage)
			}
		}
		for _, g := range part {
			if !got[g] {
				keep(g, -1, c.fail(api, n, missing("group "+g)))
			}
		}
	}
	return nil
}

// singles runs f for each key, some at once, and gives the first error.
func singles[K any](keys []K, f func(K) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	slots := make(chan struct{}, singlesAtOnce)
	for _, k := range keys {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			if err := f(k); err != nil {
				mu.Lock()
				first = cmpErr(first, err)
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	return first
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
