package collect

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// chainKeys are the connector settings that decide in the chain. Everything else a connector is configured with, client
// settings above all, may hold secrets and stays out of a snapshot.
var chainKeys = []string{
	"enabled", "source.cluster.alias", "target.cluster.alias",
	"source.cluster.isolation.level", "consumer.isolation.level", "source.consumer.isolation.level", "source.cluster.auto.offset.reset",
	"topics", "topics.exclude", "groups", "groups.exclude", "topics.blacklist", "groups.blacklist",
	"replication.policy.class", "replication.policy.separator", "replication.policy.internal.topic.separator.enabled",
	"offset-syncs.topic.location", "emit.offset-syncs.enabled", "offset.lag.max",
	"emit.checkpoints.enabled", "emit.checkpoints.interval.seconds",
	"sync.group.offsets.enabled", "sync.group.offsets.interval.seconds",
	"refresh.groups.enabled", "refresh.groups.interval.seconds", "refresh.topics.enabled", "refresh.topics.interval.seconds",
	"emit.heartbeats.enabled", "emit.heartbeats.interval.seconds", "tasks.max",
}

// ownKeys are further settings, each kept for the connectors that read it; those that MirrorMaker 2's table of keys lacks, where
// they are written.
var ownKeys = []string{
	"replication.factor", "offset-syncs.topic.replication.factor", "checkpoints.topic.replication.factor", "heartbeats.topic.replication.factor",
	"sync.topic.acls.enabled", "sync.topic.configs.enabled", "use.defaults.from", "add.source.alias.to.metrics",
	"config.action.reload", "transaction.boundary",
	"consumer.auto.offset.reset", "source.consumer.auto.offset.reset", "producer.acks", "target.producer.acks", "producer.override.acks",
}

// readBy says whether a connector reads a key; client settings and what the table lacks may matter to any of them.
func readBy(key string, r conf.Reader) bool {
	k, ok := conf.LookupKey(key)
	return !ok || k.ReadBy&r != 0
}

// writtenKeys are settings that are kept only where somebody wrote them: their default is the worker's own setting, which a
// connector's configuration does not tell. producer.override.bootstrap.servers says that a connector writes to another cluster
// than the worker's.
var writtenKeys = []string{"key.converter", "value.converter", "header.converter", "producer.override.bootstrap.servers"}

// workerKeys are the worker settings that decide in the chain.
var workerKeys = []string{"group.id", "config.storage.topic", "status.storage.topic", "offset.storage.topic", "offset.flush.interval.ms", "offset.flush.timeout.ms", "exactly.once.source.support",
	"producer.acks", "consumer.auto.offset.reset"}

// defaultOf is the value of a key that is not set, for the releases that have the key. Without a version, the newest release's;
// only topics.exclude differs between releases (KIP-1074, 4.0).
func defaultOf(key string, v mm2.Version) (string, bool) {
	k, ok := conf.LookupKey(key)
	if !ok || !v.IsZero() && !k.In(v) {
		return "", false
	}
	return k.Default(v)
}

// Configured is what the operator's file says of a flow, as far as it decides in the chain.
func Configured(f *conf.Flow) snapshot.Connectors {
	pick := func(r conf.Reader, keys []string) []snapshot.ConfigEntry {
		var out []snapshot.ConfigEntry
		for _, k := range slices.Concat(keys, writtenKeys) {
			if e, ok := f.Get(r, k); ok && (e.File != "" || !slices.Contains(writtenKeys, k)) {
				out = append(out, snapshot.ConfigEntry{Key: k, Value: e.Value, Default: e.IsDefault(), File: e.File, Line: e.Line, Column: e.Column, Rule: string(e.Rule)})
			}
		}
		if e, ok := f.State(r); ok {
			out = append(out, snapshot.ConfigEntry{Key: stateKey, Value: e.Value, File: e.File, Line: e.Line, Column: e.Column, Rule: string(e.Rule)})
		}
		slices.SortFunc(out, func(a, b snapshot.ConfigEntry) int { return cmp.Compare(a.Key, b.Key) })
		return out
	}
	connector := func(r conf.Reader) []snapshot.ConfigEntry {
		own := slices.DeleteFunc(slices.Clone(ownKeys), func(k string) bool { return !readBy(k, r) })
		return pick(r, slices.Concat(chainKeys, own))
	}
	return snapshot.Connectors{Enabled: f.Enabled, Source: connector(conf.Source), Checkpoint: connector(conf.Checkpoint), Heartbeat: connector(conf.Heartbeat), Worker: pick(conf.Worker, workerKeys)}
}

// stateKey stands for the state that a resource asks of a connector; it is no setting of the connector itself.
const stateKey = "state"

// FromConf makes the flow of a resolved configuration.
func FromConf(f *conf.Flow, file string) snapshot.Flow {
	out := fromConf(f, file)
	if m := f.Mirror; m != nil {
		out.Mode = "strimzi"
		out.Resource = &snapshot.Resource{APIVersion: m.APIVersion, Namespace: m.Namespace, Name: m.Name, Mirror: m.Index, Sections: m.Sections, WorkerOn: m.WorkerOn, WorkerPath: m.WorkerPath}
		out.SourceConnector, out.CheckpointConnector = storedName(&out, "MirrorSourceConnector"), storedName(&out, "MirrorCheckpointConnector")
	}
	return out
}

func fromConf(f *conf.Flow, file string) snapshot.Flow {
	p, n := f.Policy(), f.Names()
	return snapshot.Flow{Source: f.Source, Target: f.Target, Mode: "dedicated", File: file, Configured: snapshot.Is(Configured(f)),
		SyncsTopic: n.OffsetSyncs, SyncsOn: n.OffsetSyncsOn, Checkpoints: n.Checkpoints, Heartbeats: n.Heartbeats,
		Policy: snapshot.Policy{Class: p.Class, Separator: p.Separator, InternalSeparator: p.Internal}}
}

// WorkerEntries are the settings of a Connect worker's own file (connect-distributed.properties) that decide in the chain.
func WorkerEntries(file string, text []byte) []snapshot.ConfigEntry {
	p, _ := confdoc.ParseProperties(file, text)
	var out []snapshot.ConfigEntry
	for _, k := range slices.Concat(workerKeys, writtenKeys) { // a connector without converters takes the worker's
		if e, ok := p.Lookup(k); ok {
			out = append(out, snapshot.ConfigEntry{Key: k, Value: e.Value, File: file, Line: e.Line, Column: e.Column})
		}
	}
	slices.SortFunc(out, func(a, b snapshot.ConfigEntry) int { return cmp.Compare(a.Key, b.Key) })
	return out
}
