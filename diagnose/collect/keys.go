package collect

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// chainKeys are the connector settings that decide in the chain. Everything else a connector is configured with, client
// settings above all, may hold secrets and stays out of a snapshot.
var chainKeys = []string{
	"enabled", "source.cluster.alias", "target.cluster.alias",
	"topics", "topics.exclude", "groups", "groups.exclude", "topics.blacklist", "groups.blacklist",
	"replication.policy.class", "replication.policy.separator", "replication.policy.internal.topic.separator.enabled",
	"offset-syncs.topic.location", "emit.offset-syncs.enabled", "offset.lag.max",
	"emit.checkpoints.enabled", "emit.checkpoints.interval.seconds",
	"sync.group.offsets.enabled", "sync.group.offsets.interval.seconds",
	"refresh.groups.enabled", "refresh.groups.interval.seconds", "refresh.topics.enabled", "refresh.topics.interval.seconds",
	"emit.heartbeats.enabled", "emit.heartbeats.interval.seconds", "tasks.max",
}

// writtenKeys are settings that are kept only where somebody wrote them: their default is the worker's own setting, which a
// connector's configuration does not tell. producer.override.bootstrap.servers says that a connector writes to another cluster
// than the worker's.
var writtenKeys = []string{"key.converter", "value.converter", "header.converter", "producer.override.bootstrap.servers"}

// workerKeys are the worker settings that decide in the chain.
var workerKeys = []string{"group.id", "config.storage.topic", "status.storage.topic", "offset.storage.topic", "offset.flush.interval.ms", "exactly.once.source.support"}

// defaultOf is the value of a key that is not set. Without a version, the newest release's; only topics.exclude differs
// between releases (KIP-1074, 4.0).
func defaultOf(key string, v mm2.Version) (string, bool) {
	k, ok := conf.LookupKey(key)
	if !ok {
		return "", false
	}
	return k.Default(v)
}

// Configured is what the operator's file says of a flow, as far as it decides in the chain.
func Configured(f *conf.Flow) snapshot.Connectors {
	pick := func(r conf.Reader, keys []string) []snapshot.ConfigEntry {
		var out []snapshot.ConfigEntry
		for _, k := range keys {
			if e, ok := f.Get(r, k); ok {
				out = append(out, snapshot.ConfigEntry{Key: k, Value: e.Value, Default: e.IsDefault(), File: e.File, Line: e.Line, Column: e.Column, Rule: string(e.Rule)})
			}
		}
		return out
	}
	written := func(r conf.Reader) []snapshot.ConfigEntry {
		return slices.DeleteFunc(pick(r, writtenKeys), func(e snapshot.ConfigEntry) bool { return e.File == "" })
	}
	return snapshot.Connectors{Enabled: f.Enabled, Source: append(pick(conf.Source, chainKeys), written(conf.Source)...), Checkpoint: append(pick(conf.Checkpoint, chainKeys), written(conf.Checkpoint)...),
		Heartbeat: append(pick(conf.Heartbeat, chainKeys), written(conf.Heartbeat)...), Worker: append(pick(conf.Worker, workerKeys), written(conf.Worker)...)}
}

// FromConf makes the flow of a resolved configuration.
func FromConf(f *conf.Flow, file string) snapshot.Flow {
	p, n := f.Policy(), f.Names()
	return snapshot.Flow{Source: f.Source, Target: f.Target, Mode: "dedicated", File: file, Configured: snapshot.Is(Configured(f)),
		SyncsTopic: n.OffsetSyncs, SyncsOn: n.OffsetSyncsOn, Checkpoints: n.Checkpoints, Heartbeats: n.Heartbeats,
		Policy: snapshot.Policy{Class: p.Class, Separator: p.Separator, InternalSeparator: p.Internal}}
}
