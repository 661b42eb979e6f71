package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Keys that decide in the chain.
const (
	keyGroups          = "groups"
	keyGroupsExclude   = "groups.exclude"
	keyTopics          = "topics"
	keyTopicsExclude   = "topics.exclude"
	keyTasksMax        = "tasks.max"
	keySyncEnabled     = "sync.group.offsets.enabled"
	keySyncInterval    = "sync.group.offsets.interval.seconds"
	keyEmitEnabled     = "emit.checkpoints.enabled"
	keyEmitInterval    = "emit.checkpoints.interval.seconds"
	keyRefreshGroups   = "refresh.groups.interval.seconds"
	keyRefreshTopics   = "refresh.topics.interval.seconds"
	keyLocation        = "offset-syncs.topic.location"
	keyFlushInterval   = "offset.flush.interval.ms"
	keyBeatEnabled     = "emit.heartbeats.enabled"
	keyBeatInterval    = "emit.heartbeats.interval.seconds"
	keySyncsEnabled    = "emit.offset-syncs.enabled"
	keyOffsetReset     = "auto.offset.reset"
	keyIsolation       = "isolation.level"
	keyMaxWait         = "fetch.max.wait.ms"
	connSource         = "MirrorSourceConnector"
	connCheckpoint     = "MirrorCheckpointConnector"
	connHeartbeat      = "MirrorHeartbeatConnector"
	worker             = "worker"
	defaultEmitSeconds = 60
)

// settings are the values in force of one flow: what MirrorMaker 2 stored where that can be read, else the operator's
// file. Whoever collects a snapshot fills in the defaults, marked as such.
type settings struct {
	running, configured *snapshot.Connectors
	gap                 *snapshot.Gap
}

func resolveSettings(f *snapshot.Flow) settings {
	var s settings
	if c, st := f.Running.Get(); st == snapshot.Known {
		s.running = &c
	}
	if c, st := f.Configured.Get(); st == snapshot.Known {
		s.configured = &c
	}
	if s.running == nil && s.configured == nil {
		s.gap = f.Running.Why()
		if s.gap == nil || !s.gap.Failed() && f.Configured.Why().Failed() {
			s.gap = f.Configured.Why()
		}
		if s.gap == nil {
			s.gap = &snapshot.Gap{Code: "not-asked", Why: "no configuration file was given, and MirrorMaker 2's own topic mm2-configs." + f.Source + ".internal was not found on " + f.Target}
		}
	}
	return s
}

func entriesOf(c *snapshot.Connectors, connector string) []snapshot.ConfigEntry {
	if c == nil {
		return nil
	}
	switch connector {
	case connSource:
		return c.Source
	case connCheckpoint:
		return c.Checkpoint
	case connHeartbeat:
		return c.Heartbeat
	}
	return c.Worker
}

func find(es []snapshot.ConfigEntry, key string) *snapshot.ConfigEntry {
	for i := range es {
		if es[i].Key == key {
			return &es[i]
		}
	}
	return nil
}

// setting is the value in force. It carries file and line of the operator's file where that says the same.
func (f *flowView) setting(connector, key string) snapshot.Fact[snapshot.ConfigEntry] {
	f.v.touch(finding.Settings)
	return f.settings.get(connector, key)
}

func (s settings) get(connector, key string) snapshot.Fact[snapshot.ConfigEntry] {
	run, file := find(entriesOf(s.running, connector), key), find(entriesOf(s.configured, connector), key)
	switch {
	case run != nil && file != nil && run.Value == file.Value:
		return snapshot.Is(*file)
	case run != nil:
		return snapshot.Is(*run)
	case file != nil:
		return snapshot.Is(*file)
	case s.gap != nil:
		return snapshot.NotKnown[snapshot.ConfigEntry](s.gap)
	}
	return snapshot.None[snapshot.ConfigEntry]()
}

// flag reads a boolean setting; ok is false where it is not known or not a boolean.
func (f *flowView) flag(connector, key string) (value bool, e snapshot.ConfigEntry, ok bool) {
	e, st := f.setting(connector, key).Get()
	if st != snapshot.Known {
		return false, e, false
	}
	b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(e.Value)))
	return b, e, err == nil
}

// seconds reads an interval; def stands in where it is not known.
func (f *flowView) seconds(connector, key string, def int64) int64 {
	e, st := f.setting(connector, key).Get()
	if st != snapshot.Known {
		return def
	}
	n, err := strconv.ParseInt(strings.TrimSpace(e.Value), 10, 64)
	if err != nil || n < 0 {
		return def
	}
	return n
}

// Budgets in milliseconds: how long a healthy MirrorMaker 2 may take, with a margin for scheduling and the reading itself.
const margin = 5_000

// emitBudget: a translation becomes a checkpoint within one interval of the task's loop.
func (f *flowView) emitBudget() int64 {
	return 2*1000*f.seconds(connCheckpoint, keyEmitInterval, defaultEmitSeconds) + margin
}

// commitBudget: a checkpoint becomes T within one refresh and one sync of the idle groups.
func (f *flowView) commitBudget() int64 {
	return 2*1000*f.seconds(connCheckpoint, keySyncInterval, 60) + margin
}

// discoveryBudget: a new group is found at the next refresh and the tasks restart.
func (f *flowView) discoveryBudget() int64 {
	return 1000*f.seconds(connCheckpoint, keyRefreshGroups, 600) + f.emitBudget()
}

// topicBudget: a new topic or partition is found at the next refresh of topics.
func (f *flowView) topicBudget() int64 {
	return 1000*f.seconds(connSource, keyRefreshTopics, 600) + 2*margin
}

// flushBudget: a sync that was held back is sent at the next commit of source offsets.
func (f *flowView) flushBudget() int64 {
	ms := int64(60_000)
	if e, st := f.setting(worker, keyFlushInterval).Get(); st == snapshot.Known {
		if n, err := strconv.ParseInt(strings.TrimSpace(e.Value), 10, 64); err == nil && n > 0 {
			ms = n
		}
	}
	return 2*ms + margin
}

// where says where a setting stands, for a reader.
func where(e snapshot.ConfigEntry) string {
	switch {
	case e.File != "" && e.Line > 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	case e.Default:
		return "default"
	case e.Rule != "":
		return e.Rule
	}
	return "running configuration"
}
