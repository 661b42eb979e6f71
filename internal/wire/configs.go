package wire

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConfigEntry is one setting of a topic or broker. Value is nil where the broker keeps it secret. Default says that neither
// the topic, nor for a broker its file or a dynamic setting, says it.
type ConfigEntry struct {
	Name    string
	Value   *string
	Default bool
}

// ConfigResult holds the settings of a topic or broker, sorted by name.
type ConfigResult struct {
	Entries []ConfigEntry
	Err     error
}

const configsPerRequest = 1000

// DescribeTopicConfigs asks for settings of topics: those named by keys, all without. Every topic asked for has an entry.
func (c *Client) DescribeTopicConfigs(ctx context.Context, topics []string, keys ...string) map[string]ConfigResult {
	out := map[string]ConfigResult{}
	topics = slices.Clone(topics)
	slices.Sort(topics)
	for part := range slices.Chunk(slices.Compact(topics), configsPerRequest) {
		left := part
		// Each broker answers for topics from its own metadata, which may lag behind: what it does not know is asked again.
		err := c.retry(ctx, func(try int) error {
			n := c.anyNode(try)
			got, err := c.describeConfigs(ctx, n, kmsg.ConfigResourceTypeTopic, left, keys)
			if err != nil {
				return err
			}
			var again []string
			var first error
			for _, t := range left {
				cr := got[t]
				cr.Err = about(cr.Err, "topic "+t)
				if CodeOf(cr.Err).Retriable() {
					again, first = append(again, t), cr.Err
				}
				out[t] = cr
			}
			left = again
			return first
		})
		if err != nil {
			for _, t := range left {
				out[t] = ConfigResult{Err: err}
			}
		}
	}
	return out
}

// DescribeBrokerConfigs asks one broker, of the lowest id that answers, for its settings named by keys, all without.
func (c *Client) DescribeBrokerConfigs(ctx context.Context, keys ...string) ConfigResult {
	var out ConfigResult
	err := c.retry(ctx, func(try int) error {
		n, err := c.someBroker(ctx, try)
		if err != nil {
			return err
		}
		name := strconv.Itoa(int(n.id))
		got, err := c.describeConfigs(ctx, n, kmsg.ConfigResourceTypeBroker, []string{name}, keys)
		if err != nil {
			return err
		}
		out = got[name]
		return out.Err
	})
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Code.Denied() {
			denied := *e
			denied.Hint = "grant DescribeConfigs on the cluster"
			err = &denied
		}
		return ConfigResult{Err: err}
	}
	return out
}

// someBroker gives a broker whose id is known: settings of a broker are told by that broker only.
func (c *Client) someBroker(ctx context.Context, try int) (node, error) {
	ids := func() []int32 {
		c.mu.Lock()
		defer c.mu.Unlock()
		var out []int32
		for id := range c.brokers {
			out = append(out, id)
		}
		slices.Sort(out)
		return out
	}
	known := ids()
	if len(known) == 0 {
		if _, err := c.Metadata(ctx, []string{}); err != nil {
			return node{}, err
		}
		known = ids()
	}
	n, ok := c.nodeOf(known[try%len(known)])
	if !ok {
		return node{}, c.fail("routing", n, errGone)
	}
	return n, nil
}

// describeConfigs sends one request. Each name has an entry in the answer; the error is about the whole request.
func (c *Client) describeConfigs(ctx context.Context, n node, kind kmsg.ConfigResourceType, names, keys []string) (map[string]ConfigResult, error) {
	const api = "DescribeConfigs"
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range names {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = kind, name
		if len(keys) > 0 {
			r.ConfigNames = keys
		}
		req.Resources = append(req.Resources, r)
	}
	r, err := c.ask(ctx, n, req)
	if err != nil {
		return nil, c.fail(api, n, err)
	}
	out := map[string]ConfigResult{}
	for _, res := range r.(*kmsg.DescribeConfigsResponse).Resources {
		cr := ConfigResult{Err: c.code(api, n, res.ErrorCode, res.ErrorMessage)}
		if cr.Err == nil {
			cr.Entries = entries(res.Configs, kind, keys)
		}
		out[res.ResourceName] = cr
	}
	for _, name := range names {
		if _, ok := out[name]; !ok {
			out[name] = ConfigResult{Err: c.fail(api, n, errors.New("the answer has no entry for "+name))}
		}
	}
	return out, nil
}

func entries(cs []kmsg.DescribeConfigsResponseResourceConfig, kind kmsg.ConfigResourceType, keys []string) []ConfigEntry {
	out := make([]ConfigEntry, 0, len(cs))
	for _, e := range cs {
		if len(keys) > 0 && !slices.Contains(keys, e.Name) {
			continue
		}
		def := e.Source != kmsg.ConfigSourceDynamicTopicConfig
		if kind == kmsg.ConfigResourceTypeBroker {
			def = e.Source == kmsg.ConfigSourceDefaultConfig
		}
		out = append(out, ConfigEntry{Name: e.Name, Value: e.Value, Default: def})
	}
	slices.SortFunc(out, func(a, b ConfigEntry) int { return strings.Compare(a.Name, b.Name) })
	return out
}
