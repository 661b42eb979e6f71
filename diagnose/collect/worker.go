package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// worker reads what MirrorMaker 2 in dedicated mode stores on the target: the configuration in force and the groups of the
// checkpoint tasks (mm2-configs), and the states of connectors and tasks (mm2-status).
func (c *collector) worker(ctx context.Context, f *snapshot.Flow) {
	if (f.Mode == "connect" || f.Mode == "strimzi") && c.Connect != nil {
		c.readConnect(ctx, f)
		return
	}
	if f.Mode == "connect" || f.Mode == "msk-connect" {
		g := &snapshot.Gap{Code: "not-asked", Why: "in Connect mode the worker's own topics and its REST interface hold it"}
		f.Running, f.Assigned, f.Tasks = snapshot.NotKnown[snapshot.Connectors](g), snapshot.NotKnown[snapshot.Assigned](g), snapshot.NotKnown[[]snapshot.TaskStatus](g)
		f.Positions, f.CheckpointStarts = snapshot.NotKnown[[]snapshot.Position](g), snapshot.NotKnown[[]int64](g)
		return
	}
	configs, status, positions := *f, *f, *f // each reading fills a flow of its own
	var wg sync.WaitGroup
	wg.Go(func() { c.readConfigs(ctx, &configs) })
	wg.Go(func() { c.readStatus(ctx, &status) })
	wg.Go(func() { c.readPositions(ctx, &positions) })
	wg.Wait()
	f.Running, f.Assigned, f.Principal = configs.Running, configs.Assigned, configs.Principal
	f.Tasks, f.CheckpointStarts, f.Positions = status.Tasks, status.CheckpointStarts, positions.Positions
}

// workerTopic is the name of a worker topic: the worker's own setting, else the driver's default.
func workerTopic(f *snapshot.Flow, key, kind string) string {
	if cs, st := f.Configured.Get(); st == snapshot.Known {
		for _, e := range cs.Worker {
			if e.Key == key && e.Value != "" {
				return e.Value
			}
		}
	}
	return "mm2-" + kind + "." + f.Source + ".internal"
}

// storedConfig is one record of mm2-configs.
type storedConfig struct {
	Properties map[string]string `json:"properties"`
	Tasks      int               `json:"tasks"`
	State      string            `json:"state"`
}

type configRecord struct {
	value *storedConfig // nil: deleted
	time  int64
}

func (c *collector) readConfigs(ctx context.Context, f *snapshot.Flow) {
	cl := c.workerOf(f)
	topic := workerTopic(f, "config.storage.topic", "configs")
	recs := map[string]configRecord{}
	gap := c.readJSON(ctx, cl, topic, func(r *kafka.Record) error {
		rec := configRecord{time: r.Timestamp}
		if r.Value != nil {
			rec.value = &storedConfig{}
			if err := json.Unmarshal(r.Value, rec.value); err != nil {
				return err
			}
		}
		recs[string(r.Key)] = rec
		return nil
	})
	if gap = ofResource(f, gap); gap != nil {
		f.Running, f.Assigned = snapshot.NotKnown[snapshot.Connectors](gap), snapshot.NotKnown[snapshot.Assigned](gap)
		return
	}
	v := mm2.ReleaseOf(c.MM2Version)
	recs = ofFlow(f, recs)
	f.Running, f.Assigned = runningConfig(recs, v), assignedGroups(recs)
	if r, ok := recs["connector-MirrorSourceConnector"]; ok && r.value != nil && f.Principal == (snapshot.Principals{}) {
		f.Principal = principalsOf(r.value.Properties)
	}
}

// readJSON reads all partitions of a worker topic; a record that is not what it should be is a gap, not a silent skip.
func (c *collector) readJSON(ctx context.Context, cl *cluster, topic string, fn func(*kafka.Record) error) *snapshot.Gap {
	st, gap := c.topicState(ctx, cl, topic)
	switch st {
	case snapshot.Absent:
		return &snapshot.Gap{Code: "absent", Cluster: cl.Alias, API: "Metadata " + topic, Why: "there is no such topic: no MirrorMaker 2 in dedicated mode ran this flow, or its worker uses other names"}
	case snapshot.Unknown:
		return gap
	}
	c.mu.Lock()
	parts := cl.topics[topic].Partitions
	c.mu.Unlock()
	var qs []wire.OffsetQuery
	for _, p := range parts {
		qs = append(qs, wire.OffsetQuery{Topic: topic, Partition: p.ID, Timestamp: wire.AtStart}, wire.OffsetQuery{Topic: topic, Partition: p.ID, Timestamp: wire.AtEnd, Committed: true})
	}
	as := cl.Client.ListOffsets(ctx, qs)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var fault error
	read := 0
	slots := make(chan struct{}, partsAtOnce)
	for ext := range slices.Chunk(as, 2) {
		err := cmp.Or(ext[0].Err, ext[1].Err)
		if err == nil && ext[0].Offset >= ext[1].Offset {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err == nil {
				_, err = cl.Client.ReadPartition(ctx, topic, ext[0].Partition, ext[0].Offset, ext[1].Offset, wire.ReadOptions{Committed: true}, func(r *kafka.Record) error {
					mu.Lock()
					defer mu.Unlock()
					if read++; read > mostStored {
						return errTooMany
					}
					if err := fn(r); err != nil {
						c.addGap(&snapshot.Gap{Code: "unreadable", Cluster: cl.Alias, API: "Fetch " + topic, Why: "record at offset " + strconv.FormatInt(r.Offset, 10) + " of partition " + strconv.Itoa(int(r.Partition)) + ": " + err.Error()})
					}
					return nil
				})
			}
			if err != nil {
				mu.Lock()
				fault = cmp.Or(fault, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if fault != nil {
		g := gapOf(cl.Alias, "Fetch", topic, fault)
		if errors.Is(fault, errTooMany) {
			g.Code = "too-large"
		}
		return g
	}
	return nil
}

const (
	partsAtOnce = 8
	// mostStored bounds what is read of a worker topic: compaction keeps it small, an active segment may hold millions.
	mostStored = 1_000_000
)

var errTooMany = fmt.Errorf("it holds more than %d records", mostStored)

// connectors by the short name of their class.
var connectorClasses = []string{"MirrorSourceConnector", "MirrorCheckpointConnector", "MirrorHeartbeatConnector"}

func runningConfig(recs map[string]configRecord, v mm2.Version) snapshot.Fact[snapshot.Connectors] {
	var out snapshot.Connectors
	for _, class := range connectorClasses {
		r, ok := recs["connector-"+class]
		if !ok || r.value == nil {
			continue
		}
		es := SafeEntries(class, r.value.Properties, v)
		out.Enabled = true
		out.Time = max(out.Time, r.time)
		switch class {
		case "MirrorSourceConnector":
			out.Source = es
		case "MirrorCheckpointConnector":
			out.Checkpoint = es
		default:
			out.Heartbeat = es
		}
	}
	if !out.Enabled {
		return snapshot.None[snapshot.Connectors]()
	}
	return snapshot.Is(out)
}

// readers are the connectors in the words of the table of keys.
var readers = map[string]conf.Reader{"MirrorSourceConnector": conf.Source, "MirrorCheckpointConnector": conf.Checkpoint, "MirrorHeartbeatConnector": conf.Heartbeat}

// SafeEntries keeps the settings that decide in the chain and no other: client settings hold secrets and are dropped whole.
// Defaults are filled in for what is not set.
func SafeEntries(class string, props map[string]string, v mm2.Version) []snapshot.ConfigEntry {
	var out []snapshot.ConfigEntry
	for _, k := range slices.Concat(chainKeys, ownKeys) {
		if slices.Contains(ownKeys, k) && !readBy(k, readers[class]) {
			continue
		}
		if val, ok := props[k]; ok {
			out = append(out, snapshot.ConfigEntry{Key: k, Value: val, Rule: "stored by MirrorMaker 2"})
		} else if def, ok := defaultOf(k, v); ok {
			out = append(out, snapshot.ConfigEntry{Key: k, Value: def, Default: true})
		}
	}
	for _, k := range writtenKeys {
		if val, ok := props[k]; ok {
			out = append(out, snapshot.ConfigEntry{Key: k, Value: val, Rule: "stored by MirrorMaker 2"})
		}
	}
	slices.SortFunc(out, func(a, b snapshot.ConfigEntry) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

func assignedGroups(recs map[string]configRecord) snapshot.Fact[snapshot.Assigned] {
	const prefix = "task-MirrorCheckpointConnector-"
	commit, ok := recs["commit-MirrorCheckpointConnector"]
	if !ok || commit.value == nil {
		if _, has := recs["connector-MirrorCheckpointConnector"]; !has {
			return snapshot.NotKnown[snapshot.Assigned](&snapshot.Gap{Code: "absent", Why: "the worker holds no checkpoint connector"})
		}
		return snapshot.Is(snapshot.Assigned{Time: recs["connector-MirrorCheckpointConnector"].time, Groups: []string{}})
	}
	out := snapshot.Assigned{Tasks: commit.value.Tasks, Time: commit.time, Groups: []string{}}
	for key, r := range recs {
		n, err := strconv.Atoi(strings.TrimPrefix(key, prefix))
		if !strings.HasPrefix(key, prefix) || err != nil || n >= commit.value.Tasks || r.value == nil {
			continue // tasks of an older, larger set stay in the topic
		}
		for g := range strings.SplitSeq(r.value.Properties["task.assigned.groups"], ",") {
			if g != "" {
				out.Groups = append(out.Groups, g)
			}
		}
	}
	slices.Sort(out.Groups)
	return snapshot.Is(out)
}

// storedStatus is one record of mm2-status.
type storedStatus struct {
	State    string `json:"state"`
	Trace    string `json:"trace"`
	WorkerID string `json:"worker_id"`
	Version  string `json:"version"` // from 4.1 on (KIP-891)
}

func (c *collector) readStatus(ctx context.Context, f *snapshot.Flow) {
	cl := c.workerOf(f)
	topic := workerTopic(f, "status.storage.topic", "status")
	rows := map[string]snapshot.TaskStatus{}
	var starts []int64
	gap := c.readJSON(ctx, cl, topic, func(r *kafka.Record) error {
		t, ok := statusKey(string(r.Key))
		if ok {
			t.Connector, ok = classOf(f, t.Connector)
		}
		if !ok {
			return nil // another flow's; and topics that connectors use are tracked in the same topic
		}
		if r.Value == nil {
			delete(rows, string(r.Key))
			return nil
		}
		var s storedStatus
		if err := json.Unmarshal(r.Value, &s); err != nil {
			return err
		}
		t.State, t.Worker, t.Version, t.Time = s.State, s.WorkerID, s.Version, r.Timestamp
		t.Trace = shortTrace(s.Trace)
		if t.Connector == "MirrorCheckpointConnector" && t.Task == 0 && s.State == "RUNNING" {
			starts = append(starts, r.Timestamp)
		}
		rows[string(r.Key)] = t
		return nil
	})
	if gap = ofResource(f, gap); gap != nil {
		f.Tasks, f.CheckpointStarts = snapshot.NotKnown[[]snapshot.TaskStatus](gap), snapshot.NotKnown[[]int64](gap)
		return
	}
	f.CheckpointStarts = snapshot.Is(newestStarts(starts))
	out := make([]snapshot.TaskStatus, 0, len(rows))
	for _, t := range rows {
		if t.State != "DESTROYED" {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b snapshot.TaskStatus) int {
		return cmp.Or(cmp.Compare(a.Connector, b.Connector), cmp.Compare(a.Task, b.Task))
	})
	f.Tasks = snapshot.Is(out)
}

// mostStarts is how many starts of the checkpoint task are kept.
const mostStarts = 50

// newestStarts sorts times, oldest first, and keeps the newest.
func newestStarts(ts []int64) []int64 {
	slices.Sort(ts)
	ts = slices.Compact(ts)
	return append([]int64{}, ts[max(0, len(ts)-mostStarts):]...)
}

// shortTrace keeps the message of a stack trace and of its last cause, which names the setting or the right that is missing.
func shortTrace(trace string) string {
	out := message(trace)
	if i := strings.LastIndex(trace, "Caused by: "); i >= 0 {
		out += "; " + message(trace[i:])
	}
	return redact(out)
}

func message(trace string) string {
	m, _, _ := strings.Cut(trace, "\n\tat ")
	return strings.Join(strings.Fields(m), " ")
}

// secret finds what looks like a credential in a free text: a setting or field with a telling name, a password within a URL,
// the header of a request.
var secret = regexp.MustCompile(`(?i)([\w.-]*(?:passw(?:or)?d|secret|token|credential|jaas\.config|user\.info|(?:api|access|private|account)[._-]?key)[\w.-]*["' ]*[=:] *)("[^"]*"|'[^']*'|[^\s,;]+)|(://[^\s/:@]*:)[^\s/@]+(@)|(\b(?:basic|bearer) )[\w.~+/=-]{8,}`)

func redact(s string) string { return secret.ReplaceAllString(s, "$1$3$5[removed]$4") }

// statusKey reads status-connector-NAME and status-task-NAME-N.
func statusKey(key string) (snapshot.TaskStatus, bool) {
	if name, ok := strings.CutPrefix(key, "status-connector-"); ok {
		return snapshot.TaskStatus{Connector: name, Task: -1}, true
	}
	name, ok := strings.CutPrefix(key, "status-task-")
	i := strings.LastIndexByte(name, '-')
	if !ok || i < 0 {
		return snapshot.TaskStatus{}, false
	}
	n, err := strconv.Atoi(name[i+1:])
	return snapshot.TaskStatus{Connector: name[:i], Task: n}, err == nil
}
