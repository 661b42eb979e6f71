package conf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

func properties(t *testing.T, path string) *confdoc.Properties {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, diags := confdoc.ParseProperties(filepath.Base(path), b)
	if err := confdoc.Fatal(diags); err != nil {
		t.Fatal(err)
	}
	return p
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// written gives a configuration as a plain map, without name and class, which the base that MirrorMaker 2 showed lacks.
func written(f *Flow, r Reader) map[string]string {
	m := map[string]string{}
	for _, e := range f.Settings(r) {
		if r == Worker || e.Key != "name" && e.Key != "connector.class" {
			m[e.Key] = e.Value
		}
	}
	return m
}

// TestCorpusAsReal: what Kafka 4.3.1 itself makes of public configuration shapes.
func TestCorpusAsReal(t *testing.T) {
	var corpus map[string]struct {
		Properties  map[string]string
		Clusters    []string
		DriverError string `json:"driver_error"`
		Flows       map[string]struct {
			Enabled           bool
			Connector, Worker map[string]string
			OffsetSyncsTopic  string `json:"offset_syncs_topic"`
		}
	}
	decode(t, "testdata/effective.json", &corpus)
	if len(corpus) != 22 {
		t.Fatalf("%d files, want 22", len(corpus))
	}
	for file, want := range corpus {
		t.Run(file, func(t *testing.T) {
			p := properties(t, filepath.Join("testdata", file))
			props := map[string]string{}
			for _, e := range p.Effective() {
				props[e.Key] = e.Value
			}
			if d := cmp.Diff(want.Properties, props); d != "" {
				t.Errorf("properties (-MirrorMaker +here):\n%s", d)
			}
			s, err := Resolve(p, mm2.V(4, 3, 1))
			if s == nil {
				if want.DriverError == "" {
					t.Errorf("got no set-up: %v", err)
				}
				return
			}
			for name, flow := range want.Flows {
				f, ok := s.Flow(name)
				if !ok {
					t.Errorf("no flow %s", name)
					continue
				}
				if f.Enabled != flow.Enabled {
					t.Errorf("%s enabled = %v, MirrorMaker: %v", name, f.Enabled, flow.Enabled)
				}
				if flow.Connector == nil {
					continue
				}
				if d := cmp.Diff(flow.Connector, written(f, Checkpoint)); d != "" {
					t.Errorf("%s connectors (-MirrorMaker +here):\n%s", name, d)
				}
				if d := cmp.Diff(flow.Worker, written(f, Worker)); d != "" {
					t.Errorf("%s worker (-MirrorMaker +here):\n%s", name, d)
				}
				if got := f.Names().OffsetSyncs; flow.OffsetSyncsTopic != "" && got != flow.OffsetSyncsTopic {
					t.Errorf("%s offset-syncs topic %q, MirrorMaker: %q", name, got, flow.OffsetSyncsTopic)
				}
			}
			herders := 0
			for _, f := range s.Flows {
				if f.Herder {
					herders++
				}
			}
			if want.DriverError == "" && herders != len(want.Flows) {
				t.Errorf("%d pairs with a worker, MirrorMaker: %d", herders, len(want.Flows))
			}
		})
	}
}

// TestRulesAsReal: files that hold every rule of precedence, through MirrorMakerConfig of seven releases
// (testdata/rules/Effective.java).
func TestRulesAsReal(t *testing.T) {
	for _, release := range []string{"2.8.2", "3.3.1", "3.4.0", "3.7.0", "3.9.1", "4.1.1", "4.3.1"} {
		t.Run(release, func(t *testing.T) {
			var files map[string]struct {
				Clusters, Herders []string
				Flows             map[string]struct{ Connector, Worker map[string]string }
			}
			decode(t, "testdata/rules/effective-"+release+".json", &files)
			v, err := mm2.ParseVersion(release)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != 3 {
				t.Fatalf("%d files, want 3", len(files))
			}
			for file, want := range files {
				s, _ := Resolve(properties(t, filepath.Join("testdata/rules", file)), v)
				if s == nil {
					t.Fatalf("%s: no set-up", file)
				}
				var herders []string
				for _, f := range s.Flows {
					if f.Herder {
						herders = append(herders, f.Name())
					}
				}
				slices.Sort(herders)
				if d := cmp.Diff(want.Herders, herders); d != "" {
					t.Errorf("%s pairs with a worker (-MirrorMaker +here):\n%s", file, d)
				}
				if len(want.Flows) != len(s.Flows) {
					t.Errorf("%s: %d flows, MirrorMaker: %d", file, len(s.Flows), len(want.Flows))
				}
				for name, flow := range want.Flows {
					f, ok := s.Flow(name)
					if !ok {
						t.Errorf("%s: no flow %s", file, name)
						continue
					}
					got := written(f, Source)
					if d := cmp.Diff(flow.Connector, got); d != "" {
						t.Errorf("%s %s connectors (-MirrorMaker +here):\n%s", file, name, d)
					}
					if d := cmp.Diff(flow.Worker, written(f, Worker)); d != "" {
						t.Errorf("%s %s worker (-MirrorMaker +here):\n%s", file, name, d)
					}
				}
			}
		})
	}
}

// TestForwardedPrefixLost: KAFKA-17192 by release; the fix is in 3.7.2, 3.8.1 and 3.9.0.
func TestForwardedPrefixLost(t *testing.T) {
	for release, lost := range map[mm2.Version]bool{
		mm2.V(3, 4, 1): false, mm2.V(3, 5, 0): true, mm2.V(3, 7, 1): true, mm2.V(3, 7, 2): false, mm2.V(3, 8, 0): true, mm2.V(3, 8, 1): false, {}: false,
	} {
		s, err := Resolve(properties(t, "testdata/rules/providers.properties"), release)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := s.Flow("s->t")
		e, _ := f.Get(Worker, "key.converter")
		if got := e.IsDefault(); got != lost {
			t.Errorf("%v: bare key.converter lost = %v, want %v", release, got, lost)
		}
	}
}
