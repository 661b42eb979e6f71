package wire

// release is the first Kafka release whose brokers have version max of an API (or a later one).
type release struct {
	name string
	key  int16
	max  int16
}

// releases go from the newest down; the first that fits is the release. One row per release suffices, since versions only
// rise. The API sets of 3.3 and 3.4 are the same.
var releases = []release{
	{"4.4", 18, 5},        // ApiVersions
	{"4.3", 35, 5},        // DescribeLogDirs
	{"4.2", 9, 10},        // OffsetFetch
	{"4.1", 1, 18},        // Fetch
	{"4.0", 15, 6},        // DescribeGroups
	{"3.9", 10, 6},        // FindCoordinator
	{"3.8", 16, 5},        // ListGroups
	{"3.7", 9, 9},         // OffsetFetch
	{"3.6", 24, 4},        // AddPartitionsToTxn
	{"3.5", 2, 8},         // ListOffsets
	{"3.3 or 3.4", 29, 3}, // DescribeAcls
	{"3.2", 11, 9},        // JoinGroup
	{"3.1", 1, 13},        // Fetch
	{"3.0", 2, 7},         // ListOffsets
	{"2.8", 60, 0},        // DescribeCluster
	{"2.7", 1, 12},        // Fetch
	{"2.6", 16, 4},        // ListGroups
	{"2.5", 9, 7},         // OffsetFetch
	{"2.4", 16, 3},        // ListGroups
}

// BrokerVersion names the release of the broker that answered first, as far as its API versions tell; empty when unknown or
// older than 2.4. It is read from the versions offered, so vendors' builds look like the release they descend from.
func (c *Client) BrokerVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return releaseOf(c.versions[c.home])
}

func releaseOf(vs map[int16][2]int16) string {
	for _, r := range releases {
		if v, ok := vs[r.key]; ok && v[1] >= r.max {
			return r.name
		}
	}
	return ""
}
