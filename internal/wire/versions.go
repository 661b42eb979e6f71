package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type span struct{ lo, hi int16 }

// spans holds, for each API, the versions that the doctor writes and reads. Lower bounds are what its questions need, upper
// bounds where an answer changes its meaning: Fetch 13 and OffsetFetch 10 name topics by id only.
var spans = map[int16]span{
	1:  {4, 11}, // Fetch
	2:  {1, 9},  // ListOffsets
	3:  {4, 12}, // Metadata: from 4 on it can be told not to create topics
	8:  {2, 9},  // OffsetCommit
	9:  {2, 9},  // OffsetFetch: from 2 on "all topics"
	10: {0, 6},  // FindCoordinator
	15: {0, 6},  // DescribeGroups
	16: {0, 5},  // ListGroups
	17: {1, 1},  // SaslHandshake
	18: {0, 3},  // ApiVersions
	23: {2, 4},  // OffsetForLeaderEpoch
	29: {1, 3},  // DescribeAcls: from 1 on with the type of the pattern
	32: {1, 4},  // DescribeConfigs
	42: {0, 2},  // DeleteGroups
	47: {0, 0},  // OffsetDelete
	60: {0, 1},  // DescribeCluster
	69: {0, 1},  // ConsumerGroupDescribe
	77: {1, 1},  // ShareGroupDescribe
	84: {0, 0},  // ReadShareGroupState
	89: {0, 0},  // StreamsGroupDescribe
	90: {0, 1},  // DescribeShareGroupOffsets
	91: {0, 0},  // AlterShareGroupOffsets
	92: {0, 0},  // DeleteShareGroupOffsets
}

func spanOf(key int16) span { return spans[key] }

// errUnsupported says that the broker has no version of an API that the doctor knows.
var errUnsupported = fmt.Errorf("the broker does not offer it in a usable version: %w", kafka.UnsupportedVersion)

// ranges gives the API versions of a broker, asked once.
func (c *Client) ranges(ctx context.Context, n node) (map[int16][2]int16, error) {
	c.mu.Lock()
	v := c.versions[n.addr]
	c.mu.Unlock()
	if v != nil {
		return v, nil
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = 3, "mm2doctor", "1"
	resp := kmsg.NewPtrApiVersionsResponse()
	raw, err := c.send(ctx, n, req, nil, nil)
	if err != nil {
		return nil, err // no second try: after a refused login it would be one more refused login
	}
	// A broker that does not know version 3 answers UNSUPPORTED_VERSION in the form of version 0 (KIP-511).
	resp.SetVersion(req.Version)
	if len(raw) >= 2 && int16(raw[0])<<8|int16(raw[1]) == int16(kafka.UnsupportedVersion) {
		resp.SetVersion(0)
	}
	if err := resp.ReadFrom(raw); err != nil {
		return nil, fmt.Errorf("ApiVersions: %w", err)
	}
	if resp.ErrorCode == int16(kafka.UnsupportedVersion) {
		req.Version = 0
		resp = kmsg.NewPtrApiVersionsResponse()
		if _, err := c.send(ctx, n, req, resp, nil); err != nil {
			return nil, err
		}
	}
	if resp.ErrorCode != 0 {
		return nil, kafka.ErrorCode(resp.ErrorCode)
	}
	v = make(map[int16][2]int16, len(resp.ApiKeys))
	for _, k := range resp.ApiKeys {
		v[k.ApiKey] = [2]int16{k.MinVersion, k.MaxVersion}
	}
	if len(v) == 0 {
		return nil, errors.New("ApiVersions names no API")
	}
	c.mu.Lock()
	c.versions[n.addr] = v
	c.mu.Unlock()
	return v, nil
}

func (c *Client) negotiate(ctx context.Context, n node, req kmsg.Request, lo, hi int16) error {
	vs, err := c.ranges(ctx, n)
	if err != nil {
		return err
	}
	v, ok := pick(vs, req.Key(), lo, min(hi, req.MaxVersion()))
	if !ok {
		return errUnsupported
	}
	req.SetVersion(v)
	return nil
}

// pick gives the highest version that both sides have.
func pick(vs map[int16][2]int16, key, lo, hi int16) (int16, bool) {
	r, ok := vs[key]
	v := min(hi, r[1])
	return v, ok && v >= max(lo, r[0])
}

// offers says whether the broker has version v of the API or a later one.
func (c *Client) offers(ctx context.Context, n node, key, v int16) (bool, error) {
	vs, err := c.ranges(ctx, n)
	if err != nil {
		return false, err
	}
	r, ok := vs[key]
	return ok && r[1] >= v, nil
}
