package diagnose

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// onConnect is the fixture of 211 repaired: connectors on a worker that is attached to the target, in Connect's own words.
func onConnect(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	s := readBundle(t, "../fixtures/codes/MM2D-211/near.json")
	s.Flows[0].CheckpointsElsewhere = snapshot.None[snapshot.TopicRef]()
	s.Clusters[1].Groups = snapshot.Is([]snapshot.Group{})
	fill(s, "a.orders")
	return s
}

// fill lets a copy hold what the source has, so that the offset syncs fit it.
func fill(s *snapshot.Snapshot, copied string) {
	from := map[int32]snapshot.Partition{}
	for _, t := range s.Clusters[0].Topics.Or(nil) {
		if t.Name == "orders" {
			for _, p := range t.Partitions {
				from[p.ID] = p
			}
		}
	}
	ts := s.Clusters[1].Topics.Or(nil)
	for i := range ts {
		if ts[i].Name == copied {
			for j := range ts[i].Partitions {
				ts[i].Partitions[j].End, ts[i].Partitions[j].Stable = from[ts[i].Partitions[j].ID].End, from[ts[i].Partitions[j].ID].End
			}
		}
	}
}

func put(es *[]snapshot.ConfigEntry, key, value string) {
	for i := range *es {
		if (*es)[i].Key == key {
			(*es)[i].Value, (*es)[i].Default = value, false
			return
		}
	}
	*es = append(*es, snapshot.ConfigEntry{Key: key, Value: value})
}

func change[T any](f *snapshot.Fact[T], with func(*T)) {
	v, _ := f.Get()
	with(&v)
	*f = snapshot.Is(v)
}

func find1(r *Report, code string) *finding.Finding {
	for i := range r.Findings {
		if r.Findings[i].CodeText == code {
			return &r.Findings[i]
		}
	}
	return nil
}

// TestRestartNamesTheConnector: what is restarted in Connect mode is what the fault belongs to.
func TestRestartNamesTheConnector(t *testing.T) {
	f := &flowView{Flow: &snapshot.Flow{Source: "a", Target: "b", Mode: "connect", ConnectURL: "http://c:8083", SourceConnector: "msc", CheckpointConnector: "mcc", WorkerVersion: "3.9.1"}}
	for _, c := range []struct {
		name, version string
		fix           finding.Fix
		want          []string
	}{
		{"checkpoint connector", "3.9.1", restartFix(f, "", 0), []string{"http://c:8083/connectors/mcc/restart?includeTasks=true"}},
		{"source connector", "3.9.1", restartSourceFix(f, "", 0), []string{"http://c:8083/connectors/msc/restart?includeTasks=true"}},
		{"both", "3.9.1", restartOf(f, []string{connSource, connCheckpoint}, "", 0), []string{"/msc/restart", "/mcc/restart"}},
	} {
		if len(c.fix.Steps) != len(c.want) {
			t.Fatalf("%s: %d steps", c.name, len(c.fix.Steps))
		}
		for i, w := range c.want {
			if !strings.Contains(c.fix.Steps[i].Command, w) {
				t.Errorf("%s: %s, want %s", c.name, c.fix.Steps[i].Command, w)
			}
		}
	}
	f.WorkerVersion = "2.8.2" // no includeTasks before KIP-745
	f.Tasks = snapshot.Is([]snapshot.TaskStatus{{Connector: connSource, Task: -1}, {Connector: connSource, Task: 0}, {Connector: connCheckpoint, Task: 0}})
	want := "curl -sS -X POST http://c:8083/connectors/msc/restart && curl -sS -X POST http://c:8083/connectors/msc/tasks/0/restart"
	if got := restartSourceFix(f, "", 0).Steps[0].Command; got != want {
		t.Errorf("2.8.2: %s", got)
	}
}

// TestWorkerCluster: a worker elsewhere is a fault only while nothing arrives on the target.
func TestWorkerCluster(t *testing.T) {
	idOfA := readBundle(t, "../fixtures/codes/MM2D-211/bundle.json").Flows[0].WorkerCluster
	for _, c := range []struct {
		name   string
		change func(*snapshot.Flow)
		slug   string // empty: no finding
	}{
		{"attached to the target", func(*snapshot.Flow) {}, ""},
		{"attached to the source", func(f *snapshot.Flow) { f.WorkerCluster = idOfA }, "connect-cluster-not-target"},
		{"attached to a third cluster", func(f *snapshot.Flow) { f.WorkerCluster = "third" }, "connect-cluster-not-target"},
		{"attached to the source, and checkpoints arrive", func(f *snapshot.Flow) {
			f.WorkerCluster = idOfA
			change(&f.Checkpointed, func(c *snapshot.Checkpoints) { c.Records = 1 })
		}, ""},
		{"attached to the source, with a producer of its own", func(f *snapshot.Flow) {
			f.WorkerCluster = idOfA
			change(&f.Running, func(c *snapshot.Connectors) { put(&c.Checkpoint, keyOverride, "b:9092") })
		}, ""},
		{"not told, checkpoints on the source", func(f *snapshot.Flow) {
			f.WorkerCluster = ""
			f.CheckpointsElsewhere = snapshot.Is(snapshot.TopicRef{Cluster: "a", Topic: f.Checkpoints, Records: 3})
		}, "checkpoints-on-wrong-cluster"},
		{"not told, an empty topic on the source", func(f *snapshot.Flow) {
			f.WorkerCluster = ""
			f.CheckpointsElsewhere = snapshot.Is(snapshot.TopicRef{Cluster: "a", Topic: f.Checkpoints})
		}, ""},
	} {
		s := onConnect(t)
		c.change(&s.Flows[0])
		r, _ := Run(s, Options{})
		slug := ""
		if f := find1(r, "MM2D-211"); f != nil {
			slug = f.Slug
		}
		if slug != c.slug {
			t.Errorf("%s: %q, want %q", c.name, slug, c.slug)
		}
	}
}

// TestConverters: by what the connectors run with; the worker's default counts where a connector has none.
func TestConverters(t *testing.T) {
	const json, own = "org.apache.kafka.connect.json.JsonConverter", "com.example.RawConverter"
	for _, c := range []struct {
		name              string
		checkpoint, src   string
		workers           string
		slug, severity    string
		connectorIsNotOwn bool
	}{
		{name: "nothing is known of converters"},
		{name: "bytes", checkpoint: byteArrayConverter, src: byteArrayConverter, workers: json},
		{name: "JSON on the checkpoint connector", checkpoint: json, src: byteArrayConverter, slug: "non-bytearray-converter", severity: "warning"},
		{name: "JSON on the source connector", checkpoint: byteArrayConverter, src: json, slug: "non-bytearray-converter", severity: "error"},
		{name: "none, and JSON by the worker", workers: json, slug: "converter-missing", severity: "error"},
		{name: "a class that nobody knows", checkpoint: own, src: own},
	} {
		s := onConnect(t)
		f := &s.Flows[0]
		change(&f.Running, func(cs *snapshot.Connectors) {
			for _, x := range []struct {
				es    *[]snapshot.ConfigEntry
				value string
			}{{&cs.Checkpoint, c.checkpoint}, {&cs.Source, c.src}} {
				if x.value != "" {
					put(x.es, keyConverter, x.value)
					put(x.es, valueConverter, x.value)
				}
			}
		})
		if c.workers != "" {
			f.Configured = snapshot.Is(snapshot.Connectors{Worker: []snapshot.ConfigEntry{{Key: keyConverter, Value: c.workers, File: "worker.properties", Line: 4}, {Key: valueConverter, Value: c.workers}}})
		}
		r, _ := Run(s, Options{})
		slug, severity := "", ""
		if fd := find1(r, "MM2D-210"); fd != nil {
			slug, severity = fd.Slug, fd.Severity.String()
		}
		if slug != c.slug || severity != c.severity {
			t.Errorf("%s: %q %s, want %q %s", c.name, slug, severity, c.slug, c.severity)
		}
	}
}

// TestNamingMismatch: settings that give other names, and settings that only look different.
func TestNamingMismatch(t *testing.T) {
	for _, c := range []struct {
		name       string
		src, chk   map[string]string
		want, says string
	}{
		{"both default", nil, nil, "", ""},
		{"the default, written out", map[string]string{keyPolicyClass: mm2.DefaultPolicyClass, keySeparator: "."}, nil, "", ""},
		{"another separator", map[string]string{keySeparator: "_"}, nil, "policy-mismatch", `separator "_"`},
		{"the same separator, other internal names", map[string]string{keySeparator: "_"}, map[string]string{keySeparator: "_", keyInternalSeparator: "false"}, "policy-mismatch", "mm2-offset-syncs_b_internal"},
		{"identity on one", map[string]string{keyPolicyClass: mm2.IdentityPolicyClass}, nil, "policy-mismatch", "IdentityReplicationPolicy"},
		{"a class that nobody knows, and its copies are where the checkpoints say", map[string]string{keyPolicyClass: "com.example.P"}, nil, "", ""},
	} {
		s := onConnect(t)
		change(&s.Flows[0].Running, func(cs *snapshot.Connectors) {
			for k, v := range c.src {
				put(&cs.Source, k, v)
			}
			for k, v := range c.chk {
				put(&cs.Checkpoint, k, v)
			}
		})
		r, _ := Run(s, Options{})
		slug, because := "", ""
		if f := find1(r, "MM2D-209"); f != nil {
			slug, because = f.Slug, f.Because
		}
		if slug != c.want || !strings.Contains(because, c.says) {
			t.Errorf("%s: %q (%s), want %q with %s", c.name, slug, because, c.want, c.says)
		}
	}
}

// TestAliasMismatch: the two connectors were given other names of the target; each flow lacks its half and says why.
func TestAliasMismatch(t *testing.T) {
	s := onConnect(t)
	half := s.Flows[0]
	change(&s.Flows[0].Running, func(c *snapshot.Connectors) { c.Checkpoint = nil })
	half.Target, half.SyncsTopic = "target", "mm2-offset-syncs.target.internal"
	half.Syncs = snapshot.Is(snapshot.Syncs{Cluster: "a", Topic: half.SyncsTopic})
	change(&half.Running, func(c *snapshot.Connectors) { c.Source = nil })
	s.Flows = append(s.Flows, half)
	other := s.Clusters[1]
	other.Alias = "target"
	s.Clusters = append(s.Clusters, other)
	r, _ := Run(s, Options{})
	n := 0
	for _, f := range r.Findings {
		if f.Severity < finding.Warning {
			continue
		}
		if f.Slug != "alias-mismatch" || !strings.Contains(f.Consequence, "mm2-offset-syncs.b.internal and read from mm2-offset-syncs.target.internal") {
			t.Errorf("%s %s: %s", f.CodeText, f.Slug, f.Consequence)
		}
		if got := f.Fixes[0].Steps[0].Properties; len(got) != 1 || got[0].Name != keyTargetAlias || got[0].Value != "b" {
			t.Errorf("repair %v", got)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d findings, want one for each half", n)
	}
	if f := find1(r, "MM2D-406"); f != nil {
		t.Errorf("the copies are those that the syncs speak of: %s", f.Because)
	}
	s.Clusters[2].ID = snapshot.Is("elsewhere")
	r, _ = Run(s, Options{})
	if f := find1(r, "MM2D-209"); f != nil {
		t.Errorf("two targets: %s", f.Because)
	}
}

// TestForeignSyncs: an empty copy is no proof of a deleted one where the syncs speak of copies by another name.
func TestForeignSyncs(t *testing.T) {
	says := func(s *snapshot.Snapshot) (own bool, under string) {
		r, _ := Run(s, Options{})
		for _, f := range r.Findings {
			for _, e := range f.Explains {
				if e.Code == "MM2D-406" {
					under = f.Slug
				}
			}
		}
		return find1(r, "MM2D-406") != nil, under
	}
	empty := func() *snapshot.Snapshot {
		s := onConnect(t)
		s.Clusters[1].Topics = readBundle(t, "../fixtures/codes/MM2D-211/near.json").Clusters[1].Topics
		return s
	}
	if own, _ := says(empty()); !own {
		t.Error("one flow, its copy is empty: not told")
	}
	s := empty()
	change(&s.Flows[0].Running, func(cs *snapshot.Connectors) {
		put(&cs.Source, keyPolicyClass, mm2.IdentityPolicyClass)
		put(&cs.Checkpoint, keyPolicyClass, mm2.DefaultPolicyClass)
	})
	if own, under := says(s); own || under != "policy-mismatch" {
		t.Errorf("another policy: by itself %v, under %q", own, under)
	}
	s = empty()
	half := s.Flows[0]
	half.Source = "x"
	change(&half.Running, func(c *snapshot.Connectors) { c.Checkpoint = nil })
	change(&s.Flows[0].Running, func(c *snapshot.Connectors) { c.Source = nil })
	s.Flows = append(s.Flows, half)
	other := s.Clusters[0]
	other.Alias = "x"
	s.Clusters = append(s.Clusters, other)
	if own, under := says(s); own || under != "" {
		t.Errorf("the source connector has another alias: by itself %v, under %q", own, under)
	}
}

// TestWorkerOfResource: what a resource says of its worker counts where nobody asked the worker.
func TestWorkerOfResource(t *testing.T) {
	idOfA := onConnect(t).Clusters[0].ID.Or("")
	for _, c := range []struct {
		name, on, id string // WorkerOn, and the id of that alias where it is a third
		arrive       bool
		slug         string
	}{
		{name: "the target", on: "b"},
		{name: "the source", on: "a", slug: "connect-cluster-not-target"},
		{name: "the source, and checkpoints arrive", on: "a", arrive: true},
		{name: "another alias of the source", on: "c", id: idOfA, slug: "connect-cluster-not-target"},
		{name: "another alias of the target", on: "c", id: onConnect(t).Clusters[1].ID.Or("")},
		{name: "a third cluster", on: "c", id: "third", slug: "connect-cluster-not-target"},
		{name: "a resource without connectCluster"},
	} {
		s := onConnect(t)
		f := &s.Flows[0]
		inResource(f, "kafka.strimzi.io/v1beta2")
		f.WorkerCluster, f.Resource.WorkerOn = "", c.on
		if c.id != "" {
			s.Clusters = append(s.Clusters, snapshot.Cluster{Alias: c.on, ID: snapshot.Is(c.id)})
		}
		if c.arrive {
			change(&f.Checkpointed, func(c *snapshot.Checkpoints) { c.Records = 1 })
		}
		r, _ := Run(s, Options{})
		fd := find1(r, "MM2D-211")
		slug := ""
		if fd != nil {
			slug = fd.Slug
			if cmd := fd.Fixes[0].Steps[0].Command; !strings.Contains(cmd, `{"op":"add","path":"/spec/connectCluster","value":"b"}`) || fd.Fixes[0].Steps[0].Undo != "set it back to "+c.on {
				t.Errorf("%s: %s", c.name, cmd)
			}
		}
		if slug != c.slug {
			t.Errorf("%s: %q, want %q", c.name, slug, c.slug)
		}
	}
}

// TestRestAskedByResource: a state that the resource asks for explains what the connector does, and stands for it where its
// status is not known and nothing contradicts.
func TestRestAskedByResource(t *testing.T) {
	for _, c := range []struct {
		name, mode, state, version string
		status                     string // of the connector; empty: not known
		fresh                      bool   // a checkpoint came a moment ago
		because                    string
	}{
		{name: "stopped, and is", mode: "strimzi", state: "stopped", status: "STOPPED", because: "the connector is STOPPED, as the resource asks (mm2.yaml:17)"},
		{name: "nobody asked", mode: "strimzi", state: "running", status: "PAUSED", because: "the connector is PAUSED"},
		{name: "stopped, and runs", mode: "strimzi", state: "stopped", status: "RUNNING"},
		{name: "stopped, status not known", mode: "strimzi", state: "stopped", because: "the connector is STOPPED by the resource (mm2.yaml:17)"},
		{name: "stopped, status not known, and it writes", mode: "strimzi", state: "stopped", fresh: true},
		{name: "stopped, by an operator that ignores it", mode: "strimzi", state: "stopped", version: "3.4.0"},
		{name: "not a resource", mode: "connect", state: "stopped"},
	} {
		f := flowIn(c.mode, func(f *snapshot.Flow) {
			f.Configured = snapshot.Is(snapshot.Connectors{Checkpoint: []snapshot.ConfigEntry{{Key: "state", Value: c.state, File: "mm2.yaml", Line: 17}}})
			if c.status != "" {
				f.Tasks = snapshot.Is([]snapshot.TaskStatus{{Connector: connCheckpoint, Task: -1, State: c.status}})
			}
		})
		if c.fresh {
			f.v.now = 1000
			f.Checkpointed = snapshot.Is(snapshot.Checkpoints{Last: 999})
		}
		if c.version != "" {
			f.gens.version, _ = mm2.ParseVersion(c.version)
		}
		if got := f.connectorDown(connCheckpoint); got != c.because {
			t.Errorf("%s: %q, want %q", c.name, got, c.because)
		}
	}
}
