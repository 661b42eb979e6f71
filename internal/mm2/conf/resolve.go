package conf

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Parse reads the text of an mm2.properties and resolves it. A file that Java refuses, or that is no properties file, gives
// an *Error and no Setup; otherwise as Resolve.
func Parse(name string, b []byte, v mm2.Version) (*Setup, error) {
	if err := wrongKind(name, b); err != nil {
		return nil, err
	}
	p, diags := confdoc.ParseProperties(name, b)
	for _, d := range diags {
		if d.Fatal {
			return nil, &Error{File: name, Line: d.Line, What: "the properties file cannot be read", Why: d.Text, Next: "correct the line; MirrorMaker 2 does not start with it"}
		}
	}
	s, err := Resolve(p, v)
	if s != nil {
		for _, d := range diags {
			s.Notes = append(s.Notes, Note{Kind: TextDiagnostic, File: d.File, Line: d.Line, Column: d.Column, Text: d.Text})
		}
		s.sortNotes()
	}
	return s, err
}

// Resolve applies the rules of connect-mirror-maker in release v; the newest ones for the zero version.
//
// The error is the first of Setup.Problems, an *Error. Without usable clusters there is no Setup; with any other problem
// the Setup is complete and can still be looked at.
func Resolve(p *confdoc.Properties, v mm2.Version) (*Setup, error) {
	r := &resolver{p: p, v: v, file: p.Name, entries: p.Effective()}
	s := &Setup{File: p.Name, Version: v}
	aliases, err := r.clusters()
	if err != nil {
		return nil, err
	}
	for _, a := range aliases {
		c := Cluster{Alias: a, client: r.cluster(a)}
		c.Bootstrap = c.client["bootstrap.servers"]
		s.Clusters = append(s.Clusters, c)
	}
	r.common()
	for i, a := range s.Clusters {
		for j, b := range s.Clusters {
			if i != j {
				s.Flows = append(s.Flows, r.flow(a, b))
			}
		}
	}
	s.Notes = r.notes(aliases)
	s.sortNotes()
	s.Problems = r.problems(s)
	if len(s.Problems) > 0 {
		return s, s.Problems[0]
	}
	return s, nil
}

func (s *Setup) sortNotes() {
	slices.SortStableFunc(s.Notes, func(a, b Note) int { return a.Line - b.Line })
}

type resolver struct {
	p       *confdoc.Properties
	v       mm2.Version
	file    string
	entries []confdoc.Entry // in force
	forAll  []Effective     // of those, what every flow's connectors get
}

// common finds what connectors get of the lines that name neither cluster nor flow.
func (r *resolver) common() {
	for _, e := range r.entries {
		switch {
		case strings.HasPrefix(e.Key, "replication.policy") && r.is(3, 0, 0) && !r.lost(e.Key, "replication.policy"):
			r.forAll = append(r.forAll, r.effective(e.Key, e, RulePolicy))
		case strings.HasPrefix(e.Key, "config.providers") && !r.lost(e.Key, "config.providers"):
			r.forAll = append(r.forAll, r.effective(e.Key, e, RuleProviders))
		case IsConnectorKey(e.Key, r.v):
			r.forAll = append(r.forAll, r.effective(e.Key, e, RuleBare))
		}
	}
}

func (r *resolver) is(major, minor, patch int) bool {
	return r.v.IsZero() || r.v.AtLeast(major, minor, patch)
}

func (r *resolver) effective(key string, e confdoc.Entry, rule Rule) Effective {
	return Effective{Key: key, Value: e.Value, Written: e.Key, File: r.file, Line: e.Line, Column: e.Column, Rule: rule}
}

func filledIn(value string) Effective { return Effective{Value: value, Rule: RuleFilledIn} }

var clientKinds = []string{"producer.", "consumer.", "admin."}

// cluster gives the properties of cluster x: everything behind "x.", client keys copied to the three kinds of clients, then
// bare client keys where nothing is set.
func (r *resolver) cluster(x string) settings {
	s := settings{}
	for _, e := range r.p.Under(x + ".") {
		k := e.Key[len(x)+1:]
		s.put(k, r.effective(k, e, RuleCluster))
	}
	for k, e := range s {
		if IsClientKey(k, r.v) {
			e.Rule = RuleClusterCopy
			for _, kind := range clientKinds {
				s.putIfAbsent(kind+k, e)
			}
		}
	}
	for _, e := range r.entries {
		if !IsClientKey(e.Key, r.v) {
			continue
		}
		bare := r.effective(e.Key, e, RuleBareClient)
		for _, kind := range clientKinds {
			s.putIfAbsent(kind+e.Key, bare)
		}
		s.putIfAbsent(e.Key, bare)
	}
	return s
}

// clientLike is connect-mirror-maker's own test for "this is for one kind of client": a prefix without the dot.
var clientLike = regexp.MustCompile(`^(?:consumer|producer|admin)`)

func (r *resolver) flow(a, b Cluster) *Flow {
	f := &Flow{Source: a.Alias, Target: b.Alias, version: r.v, base: settings{}}
	r.connector(f, a, b)
	r.worker(f, b)
	r.herder(f)
	return f
}

func (r *resolver) connector(f *Flow, a, b Cluster) {
	for _, e := range r.forAll {
		f.base.put(e.Key, e)
	}
	for _, side := range []struct {
		prefix string
		c      Cluster
	}{{"source.", a}, {"target.", b}} {
		for k, e := range side.c.client {
			switch {
			case !clientLike.MatchString(k):
				f.base.put(side.prefix+"cluster."+k, e)
			case r.is(2, 8, 0): // before, settings for one kind of client were thrown away
				f.base.put(side.prefix+k, e)
			}
		}
	}
	f.base.putIfAbsent("source.cluster.alias", filledIn(f.Source))
	f.base.putIfAbsent("target.cluster.alias", filledIn(f.Target))
	for _, e := range r.p.Under(f.Name() + ".") {
		k := e.Key[len(f.Name())+1:]
		f.base.put(k, r.effective(k, e, RuleFlow))
	}
	f.base.putIfAbsent("enabled", filledIn("false"))
}

// lost is KAFKA-17192: in 3.5.0 - 3.7.1 and 3.8.0 a key that equals a forwarded prefix is not forwarded.
func (r *resolver) lost(key, prefix string) bool {
	if key != prefix || r.v.IsZero() {
		return false
	}
	return r.v.AtLeast(3, 5, 0) && r.v.Before(3, 7, 2) || r.v.Compare(mm2.V(3, 8, 0)) == 0
}

var workerPrefixes = []string{"offset.storage", "config.storage", "status.storage", "key.converter", "value.converter",
	"header.converter", "task", "worker"}

func (r *resolver) worker(f *Flow, b Cluster) {
	f.worker = settings{}
	for k, e := range b.client {
		f.worker.put(k, e)
	}
	prefixes := workerPrefixes
	if r.is(3, 0, 0) {
		prefixes = append(slices.Clone(prefixes), "replication.policy")
	}
	for _, p := range prefixes {
		for _, e := range r.p.Under(p) {
			if !r.lost(e.Key, p) {
				f.worker.put(e.Key, r.effective(e.Key, e, RuleWorkerPrefix))
			}
		}
	}
	for _, e := range r.p.Under("config.providers") {
		if !r.lost(e.Key, "config.providers") {
			f.worker.put(e.Key, r.effective(e.Key, e, RuleProviders))
		}
	}
	if r.is(3, 5, 0) {
		f.worker.putIfAbsent("client.id", filledIn(f.Name()))
	}
	f.worker.putIfAbsent("group.id", filledIn(f.Source+"-mm2"))
	for _, kind := range []string{"offset", "status", "config"} {
		plural := kind
		if kind != "status" {
			plural += "s"
		}
		f.worker.putIfAbsent(kind+".storage.topic", filledIn("mm2-"+plural+"."+f.Source+".internal"))
	}
	for _, part := range []string{"key", "value", "header"} {
		f.worker.putIfAbsent(part+".converter", filledIn("org.apache.kafka.connect.converters.ByteArrayConverter"))
	}
}

// herder decides which pairs get a worker and which flows run. Before 2.7.1 every pair got one; since then (KAFKA-10710) a
// pair that is neither enabled nor needed for heartbeats gets none. The look at these two keys is Java's parseBoolean
// without trimming: "true " is false there.
func (r *resolver) herder(f *Flow) {
	f.Herder = true
	if r.is(2, 7, 1) {
		parse := func(key string, otherwise bool) bool {
			e, ok := r.p.Lookup(key)
			if !ok {
				return otherwise
			}
			return strings.EqualFold(e.Value, "true")
		}
		heartbeats := parse("emit.heartbeats.enabled", true)
		f.Herder = parse(f.Name()+".enabled", false) || parse(f.Name()+".emit.heartbeats.enabled", heartbeats)
	}
	on, _, err := f.Bool(Source, "enabled")
	f.Enabled = f.Herder && on && err == nil
}
