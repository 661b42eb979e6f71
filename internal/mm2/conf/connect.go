package conf

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// RuleConnect is why a setting of a connector on a Connect cluster is in force.
const RuleConnect Rule = "config of the connector"

// Connector is one connector of MirrorMaker 2 as a file has it for Connect's REST interface.
type Connector struct {
	Reader       Reader
	Name         string
	File         string
	Line, Column int // of connector.class
	Config       *confdoc.Node
	// Managed: the worker is a service's, such as MSK Connect.
	Managed bool
	// State is what a KafkaConnector resource asks for: running, paused, stopped; without a file where it asks for nothing.
	State Effective
}

// Connectors finds the connectors of MirrorMaker 2 in a tree: {"name", "config"}, a flat object with connector.class, lists of
// either, answers of GET /connectors?expand=info and GET /connectors/NAME, MSK Connect's connectorConfiguration, and Strimzi's
// KafkaConnector resources.
func Connectors(docs []confdoc.Doc) []Connector {
	var out []Connector
	for _, d := range docs {
		for _, n := range confdoc.Objects([]confdoc.Doc{d}) {
			out = append(out, connectorsOf(d.File, n)...)
		}
	}
	return out
}

func connectorsOf(file string, n *confdoc.Node) []Connector {
	if n.Get("kind").Text() == "KafkaConnector" {
		r, ok := readerOf(n.Get("spec", "class").Text())
		if !ok {
			return nil
		}
		at := n.Get("spec").Field("class")
		state, _ := (&resource{file: file, m: Mirror{APIVersion: n.Get("apiVersion").Text()}}).state(n.Get("spec"), "spec")
		return []Connector{{Reader: r, Name: n.Get("metadata", "name").Text(), File: file, Line: at.Line, Column: at.Column, Config: n.Get("spec", "config"), State: state}}
	}
	config, managed := n, false
	if c := n.Get("config"); c.Is(confdoc.Map) {
		config = c
	}
	if c := n.Get("connectorConfiguration"); c.Is(confdoc.Map) {
		config, managed = c, true
	}
	if c, ok := connectorOf(file, config); ok {
		c.Name, c.Managed = cmp.Or(n.Get("name").Text(), n.Get("connectorName").Text(), c.Name), managed
		return []Connector{c}
	}
	var out []Connector
	for _, f := range n.Effective() {
		info := f.Value.Get("info")
		if info == nil {
			info = f.Value
		}
		config := info.Get("config")
		if config == nil {
			config = info
		}
		if c, ok := connectorOf(file, config); ok {
			c.Name = cmp.Or(info.Get("name").Text(), f.Key)
			out = append(out, c)
		}
	}
	return out
}

func connectorOf(file string, config *confdoc.Node) (Connector, bool) {
	at := config.Field("connector.class")
	if at == nil {
		return Connector{}, false
	}
	r, ok := readerOf(at.Value.Text())
	return Connector{Reader: r, Name: config.Get("name").Text(), File: file, Line: at.Line, Column: at.Column, Config: config}, ok
}

// readerOf takes class names as Connect does: whole, or the simple name, with or without "Connector".
func readerOf(class string) (Reader, bool) {
	class = trim(class)
	class = class[strings.LastIndexByte(class, '.')+1:]
	for _, r := range []Reader{Source, Checkpoint, Heartbeat} {
		if class == r.String() || class == strings.TrimSuffix(r.String(), "Connector") {
			return r, true
		}
	}
	return 0, false
}

// RuleWorker says that a value comes from the file of the Connect worker.
const RuleWorker Rule = "config of the worker"

// FlowOf names the flow that a connector belongs to.
func FlowOf(c Connector) string {
	target := "target" // the ConfigDef's default
	if f := c.Config.Field("target.cluster.alias"); f != nil {
		target = trim(f.Value.Text())
	}
	return trim(c.Config.Get("source.cluster.alias").Text()) + "->" + target
}

// SetWorker gives all flows the settings of the Connect worker that runs their connectors.
func (s *Setup) SetWorker(file string, p *confdoc.Properties) {
	for _, f := range s.Flows {
		f.worker = settings{}
		for _, e := range p.Effective() {
			f.worker.put(e.Key, Effective{Value: e.Value, Written: e.Key, File: file, Line: e.Line, Column: e.Column, Rule: RuleWorker})
		}
	}
}

// ResolveConnectors puts connectors together by source and target alias: one flow for each pair. Of two connectors of a class
// for the same pair the first counts.
func ResolveConnectors(cs []Connector, v mm2.Version) *Setup {
	s := &Setup{Version: v}
	if len(cs) > 0 {
		s.File = cs[0].File
	}
	for _, c := range cs {
		given := settings{}
		for _, f := range c.Config.Effective() {
			if f.Value.Scalar() {
				given.put(f.Key, Effective{Value: Truth(f.Value), Written: f.Key, File: c.File, Line: f.Line, Column: f.Column, Rule: RuleConnect})
			}
		}
		source, target := trim(given["source.cluster.alias"].Value), trim(given["target.cluster.alias"].Value)
		if _, ok := given["target.cluster.alias"]; !ok {
			target = "target" // the ConfigDef's default
		}
		f, ok := s.Flow(source + "->" + target)
		if !ok {
			f = &Flow{Source: source, Target: target, version: v, own: map[Reader]settings{}, base: given, worker: settings{}, states: map[Reader]Effective{}}
			s.Flows = append(s.Flows, f)
		}
		if _, ok := f.own[c.Reader]; !ok {
			f.own[c.Reader] = given
			if c.State.File != "" {
				f.states[c.Reader] = c.State
			}
		}
		f.Enabled = f.Enabled || c.Reader != Heartbeat
		f.base = f.own[f.lead()]
		for _, end := range []struct{ alias, prefix string }{{source, "source.cluster."}, {target, "target.cluster."}} {
			i := slices.IndexFunc(s.Clusters, func(c Cluster) bool { return c.Alias == end.alias })
			if i < 0 {
				i = len(s.Clusters)
				s.Clusters = append(s.Clusters, Cluster{Alias: end.alias, client: settings{}})
			}
			for k, e := range given {
				if k, ok := strings.CutPrefix(k, end.prefix); ok {
					s.Clusters[i].client.putIfAbsent(k, e)
				}
			}
			s.Clusters[i].Bootstrap = s.Clusters[i].client["bootstrap.servers"]
		}
	}
	return s
}
