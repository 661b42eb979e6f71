// Package snapshot holds everything the doctor knows of two clusters and the flows between them, as values, and their JSON.
//
// What may enter: plain data with deterministic encoding (sorted slices, no maps, UTC milliseconds). No client, no clock,
// no judgement. A fact is known, known to be absent, or not known and why.
package snapshot

import "github.com/mm2doctor/mm2doctor/internal/kafka"

// SchemaVersion of snapshot.json. Only additions are made within one version.
const SchemaVersion = 1

// Snapshot is one look at all clusters and flows. Effects are read before their causes (target group offsets, checkpoints,
// offset syncs, source group offsets, target ends, source ends), so every value has its cause in the same snapshot; only
// missing effects need an allowance for MirrorMaker 2's intervals.
type Snapshot struct {
	SchemaVersion int    `json:"schemaVersion"`
	Tool          string `json:"tool"`                 // name and version of what collected it
	Origin        string `json:"origin,omitempty"`     // the command that makes it again, for captures
	Started       int64  `json:"started"`              // ms, when reading began
	Taken         int64  `json:"taken"`                // ms, when reading ended: the report's only clock
	MM2Version    string `json:"mm2Version,omitempty"` // as claimed by the operator (--mm2-version), Apache numbering
	// MM2VersionFrom is who tells MM2Version where that is not the option: a resource.
	MM2VersionFrom string    `json:"mm2VersionFrom,omitempty"`
	Scope          Scope     `json:"scope"`
	Clusters       []Cluster `json:"clusters"`             // by alias
	Flows          []Flow    `json:"flows"`                // by source, target
	Unresolved     []Problem `json:"unresolved,omitempty"` // what was asked for and could not be turned into a flow
	Gaps           []Gap     `json:"gaps,omitempty"`       // failed reads that no single fact stands for
	// Remarks are what the rules of check found in the configuration that was given or that Connect holds; unknown where no
	// text of it was read.
	Remarks Fact[[]Remark] `json:"remarks,omitzero"`
	Earlier *Snapshot      `json:"earlier,omitempty"` // the look before this one (a recheck, or --observe); has no Earlier itself
}

// Scope is what the operator asked for. Patterns are kept as given.
type Scope struct {
	Flows  []string `json:"flows,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Topics []string `json:"topics,omitempty"`
	// MaxReread is --max-reread, in records; 0 leaves it to the default rule.
	MaxReread int64 `json:"maxReread,omitempty"`
}

// Problem says that something asked for has no flow: Code is the number of a finding (5 for flow-not-found).
type Problem struct {
	Code     int     `json:"code"`
	Slug     string  `json:"slug"`
	Flow     string  `json:"flow,omitempty"`
	Because  string  `json:"because"`
	Fix      string  `json:"fix,omitempty"`
	Mode     string  `json:"mode,omitempty"` // that the repair is for; "dedicated" where it says nothing
	Observed []Named `json:"observed,omitempty"`
	Source   string  `json:"source,omitempty"` // cluster alias or bootstrap
	Target   string  `json:"target,omitempty"`
	File     string  `json:"file,omitempty"` // where Key = Value repairs it
	Key      string  `json:"key,omitempty"`
	Value    string  `json:"value,omitempty"`
}

// Named is a name and a value in a fixed order.
type Named struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Cluster is one Kafka cluster.
type Cluster struct {
	Alias         string         `json:"alias"`
	Bootstrap     []string       `json:"bootstrap"`
	CommandConfig string         `json:"commandConfig,omitempty"` // the operator's client properties file, for printed commands
	ID            Fact[string]   `json:"id,omitzero"`
	Brokers       Fact[[]Broker] `json:"brokers,omitzero"`
	// Topics are all topics the doctor may see. ACLs hide topics without an error: TopicsComplete is known and true only
	// where every name that a flow needs and that is missing from the list was asked for by name.
	Topics         Fact[[]Topic] `json:"topics,omitzero"`
	TopicsComplete Fact[bool]    `json:"topicsComplete,omitzero"`
	Groups         Fact[[]Group] `json:"groups,omitzero"` // listed ones, and those asked for by name
	GroupsComplete Fact[bool]    `json:"groupsComplete,omitzero"`
	// First are the groups as read at the beginning, for a cluster that is the target of one flow and the source of another:
	// there it must be read before the checkpoints, here after them.
	First   Fact[[]Group] `json:"groupsFirst,omitzero"`
	Version Fact[string]  `json:"version,omitzero"` // broker release as far as its API versions tell
	// Settings are broker settings that decide over offsets: retention of offsets, size of metadata, the authorizer, and so on.
	Settings Fact[[]ConfigEntry] `json:"settings,omitzero"`
	// Acls are the cluster's rules as DescribeAcls tells them. Absent: the cluster has no authorizer.
	Acls Fact[[]Acl] `json:"acls,omitzero"`
	// Login is whom the doctor connects as, as far as its client settings tell ("User:ops"); empty where not known.
	Login string `json:"login,omitempty"`
	// Contact is how the first contact went wrong: unknown = it went well.
	Contact *Contact `json:"contact,omitempty"`
}

// Acl is one rule of a cluster. Words are those of kafka-acls.sh: Resource "TOPIC", Pattern "LITERAL" or "PREFIXED",
// Operation "READ", Permission "ALLOW" or "DENY".
type Acl struct {
	Principal  string `json:"principal"`
	Host       string `json:"host"`
	Resource   string `json:"resource"`
	Name       string `json:"name"`
	Pattern    string `json:"pattern"`
	Operation  string `json:"operation"`
	Permission string `json:"permission"`
}

// Contact is a failed first contact with a cluster: codes 001 (unreachable), 002 (authentication) or 003 (denied).
type Contact struct {
	Code     int    `json:"code"`
	What     string `json:"what"`
	Why      string `json:"why"`
	Next     string `json:"next"`
	Listener string `json:"listener,omitempty"` // what a probe without credentials found there
}

// Broker is one node; Host:Port is what it advertises.
type Broker struct {
	ID   int32  `json:"id"`
	Host string `json:"host"`
	Port int32  `json:"port"`
	Rack string `json:"rack,omitempty"`
}

// Topic is one topic; Partitions are sorted by number.
type Topic struct {
	Name       string              `json:"name"`
	ID         string              `json:"id,omitempty"` // UUID, brokers from 2.8
	Internal   bool                `json:"internal,omitempty"`
	Gap        *Gap                `json:"gap,omitempty"`
	Partitions []Partition         `json:"partitions"`
	Config     Fact[[]ConfigEntry] `json:"config,omitzero"`
}

// Partition is one partition. Start is the log start offset, End the log end offset (high watermark of the leader),
// Stable the last stable offset. First is the timestamp (ms) of the oldest record, Last of the newest.
type Partition struct {
	ID       int32       `json:"id"`
	Leader   int32       `json:"leader"` // -1 without a leader
	Replicas int         `json:"replicas,omitempty"`
	ISR      int         `json:"isr,omitempty"`
	Start    Fact[int64] `json:"start,omitzero"`
	End      Fact[int64] `json:"end,omitzero"`
	Stable   Fact[int64] `json:"stable,omitzero"`
	First    Fact[int64] `json:"first,omitzero"`
	Last     Fact[int64] `json:"last,omitzero"`
	// Epoch is the leader epoch as Metadata tells it. Epochs answer, for each epoch that a group committed with its offset,
	// where the log of that epoch ends (OffsetForLeaderEpoch, KIP-320); sorted by epoch.
	Epoch  Fact[int32]      `json:"leaderEpoch,omitzero"`
	Epochs Fact[[]EpochEnd] `json:"epochs,omitzero"`
}

// EpochEnd is the broker's answer for one committed leader epoch: Found is the epoch it knows at or below the one asked for
// (-1: none), End the offset at which that epoch ends (-1: none).
type EpochEnd struct {
	Asked int32 `json:"asked"`
	Found int32 `json:"found"`
	End   int64 `json:"end"`
}

// ConfigEntry is one setting. Line is 1-based, 0 where the value has no file.
type ConfigEntry struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Hidden  bool   `json:"hidden,omitempty"` // it is set, and the broker does not tell the value: Value is empty
	Default bool   `json:"default,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Rule    string `json:"rule,omitempty"` // why this value won, for resolved files
}

// Group is one group on one cluster. A group that was asked for and does not exist has State absent.
type Group struct {
	ID           string                 `json:"id"`
	State        Fact[kafka.GroupState] `json:"state,omitzero"`
	Type         Fact[kafka.GroupType]  `json:"type,omitzero"`
	ProtocolType string                 `json:"protocolType,omitempty"`
	Members      Fact[[]Member]         `json:"members,omitzero"`
	Offsets      Fact[[]Committed]      `json:"offsets,omitzero"` // sorted by topic, partition
	// Removed are offsets that the broker removed (expiry, or deletion) and has not committed again since, as far as
	// __consumer_offsets still tells: compaction forgets. Sorted by topic, partition. Read for groups of a flow on its target.
	Removed Fact[[]Removed] `json:"removed,omitzero"`
	// Since is when a classic group came into the state it is in, ms by the broker's clock, from its record in
	// __consumer_offsets (currentStateTimestamp); 0 where that is not known.
	Since int64 `json:"since,omitempty"`
	// Shares are the positions of a share group (KIP-932), which has no committed offsets. Sorted by topic, partition.
	Shares Fact[[]SharePosition] `json:"shares,omitzero"`
}

// SharePosition is how far a share group has come in one partition. Start is the start offset that the broker stores (-1: the
// partition was never read), Lag how many records from it to End are not done (KIP-1226; -1 where the broker does not tell), Open
// the lowest record that is not done, where the acknowledgements could be read.
type SharePosition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Start     int64  `json:"start"`
	Lag       int64  `json:"lag"`
	End       int64  `json:"end"` // log end taken after the lag; -1 where it was not read
	Open      *int64 `json:"open,omitempty"`
}

// Removed is a tombstone of __consumer_offsets; Time is the broker's clock then, ms.
type Removed struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Time      int64  `json:"time"`
}

// Member is one member of an active group.
type Member struct {
	ID         string `json:"id"`
	InstanceID string `json:"instanceId,omitempty"`
	ClientID   string `json:"clientId,omitempty"`
	Host       string `json:"host,omitempty"`
}

// Committed is a committed offset as the broker answers it. Offset may be negative (-1 can be stored).
type Committed struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Epoch     int32  `json:"epoch"` // -1 without
	Metadata  string `json:"metadata,omitempty"`
	// Time is when this offset was committed, ms by the broker's clock, and Expires the end that the commit itself asked for
	// (OffsetCommit below version 5), from __consumer_offsets; 0 where that is not known.
	Time    int64 `json:"time,omitempty"`
	Expires int64 `json:"expires,omitempty"`
}
