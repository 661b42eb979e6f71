package wire

import (
	"context"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConfigEntry is one setting of a topic. Value is nil where the broker keeps it secret. Default says that the topic does not
// set it itself.
type ConfigEntry struct {
	Name    string
	Value   *string
	Default bool
}

// ConfigResult holds a topic's settings, sorted by name.
type ConfigResult struct {
	Entries []ConfigEntry
	Err     error
}

const configsPerRequest = 1000

// DescribeTopicConfigs asks for all settings of topics. Every topic asked for has an entry.
func (c *Client) DescribeTopicConfigs(ctx context.Context, topics []string) map[string]ConfigResult {
	const api = "DescribeConfigs"
	out := map[string]ConfigResult{}
	topics = slices.Clone(topics)
	slices.Sort(topics)
	for part := range slices.Chunk(slices.Compact(topics), configsPerRequest) {
		left := part
		// Each broker answers for topics from its own metadata, which may lag behind: what it does not know is asked again.
		err := c.retry(ctx, func(try int) error {
			n := c.anyNode(try)
			req := kmsg.NewPtrDescribeConfigsRequest()
			for _, t := range left {
				r := kmsg.NewDescribeConfigsRequestResource()
				r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, t
				req.Resources = append(req.Resources, r)
			}
			r, err := c.ask(ctx, n, req)
			if err != nil {
				return c.fail(api, n, err)
			}
			got := map[string]kmsg.DescribeConfigsResponseResource{}
			for _, res := range r.(*kmsg.DescribeConfigsResponse).Resources {
				got[res.ResourceName] = res
			}
			var again []string
			var first error
			for _, t := range left {
				res, ok := got[t]
				if !ok {
					out[t] = ConfigResult{Err: c.fail(api, n, missing("topic "+t))}
					continue
				}
				cr := ConfigResult{Err: about(c.code(api, n, res.ErrorCode, res.ErrorMessage), "topic "+t)}
				if cr.Err == nil {
					cr.Entries = entries(res.Configs)
				} else if kafka.ErrorCode(res.ErrorCode).Retriable() {
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

func entries(cs []kmsg.DescribeConfigsResponseResourceConfig) []ConfigEntry {
	out := make([]ConfigEntry, 0, len(cs))
	for _, e := range cs {
		out = append(out, ConfigEntry{Name: e.Name, Value: e.Value, Default: e.Source != kmsg.ConfigSourceDynamicTopicConfig})
	}
	slices.SortFunc(out, func(a, b ConfigEntry) int { return strings.Compare(a.Name, b.Name) })
	return out
}
