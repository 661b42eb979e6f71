package conf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Mirror is one entry of spec.mirrors of a KafkaMirrorMaker2 resource.
type Mirror struct {
	APIVersion, Namespace, Name string // of the resource; an empty namespace is the one in use
	Index                       int    // in spec.mirrors
	// Sections are the maps that the entry has, which decides what a patch must create: sourceConnector,
	// sourceConnector.config, checkpointConnector, ...; sourceConnector.pause where that older field is used; and the config of
	// the cluster at WorkerPath.
	Sections []string
	// WorkerOn is the alias of the cluster that the worker is attached to (connectCluster, or the target from v1 on), and
	// WorkerPath where that cluster's entry stands: spec.target, spec.clusters[1].
	WorkerOn, WorkerPath string
}

// isV1 says that a resource is written in the form of v1: one spec.target, and each source within its mirror. Operators that
// serve it are of Strimzi 0.49 or newer.
func isV1(apiVersion string) bool { return strings.HasSuffix(apiVersion, "/v1") }

// kindMirrorMaker2 is Strimzi's kind; others offer the same schema in an API group of their own.
const kindMirrorMaker2 = "KafkaMirrorMaker2"

// HoldsMirrorMaker2 says that a tree has a KafkaMirrorMaker2 resource.
func HoldsMirrorMaker2(docs []confdoc.Doc) bool {
	return slices.ContainsFunc(confdoc.Objects(docs), IsMirrorMaker2)
}

// IsMirrorMaker2 says that an object is a KafkaMirrorMaker2 resource.
func IsMirrorMaker2(n *confdoc.Node) bool { return n.Get("kind").Text() == kindMirrorMaker2 }

// ParseStrimzi reads the KafkaMirrorMaker2 resources of a YAML or JSON text and resolves each as the operator does. Without a
// version, that of the resource counts. The error is a *confdoc.Syntax or an *Error; a Setup with Problems is complete and
// can still be looked at.
func ParseStrimzi(name string, b []byte, v mm2.Version) ([]*Setup, error) {
	docs, err := confdoc.ParseTree(name, b)
	if err != nil {
		return nil, err
	}
	var out []*Setup
	var others []string
	for _, n := range confdoc.Objects(docs) {
		if IsMirrorMaker2(n) {
			out = append(out, ResolveResource(name, n, v))
		} else if k := n.Get("kind").Text(); k != "" {
			others = append(others, k)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	e := &Error{File: name, What: "no KafkaMirrorMaker2 resource", Why: "the file holds nothing of that kind", Next: "give the resource, such as: kubectl get kafkamirrormaker2 NAME -o yaml"}
	if len(others) > 0 {
		slices.Sort(others)
		e.Why = "the file holds " + strings.Join(slices.Compact(others), ", ")
	}
	return nil, e
}

// Merge puts resources together. One alias that stands for two addresses is an *Error: flows are named by alias.
func Merge(all []*Setup) (*Setup, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	out := &Setup{File: all[0].File, Version: all[0].Version, Claimed: all[0].Claimed}
	for _, s := range all {
		if s.Claimed != out.Claimed || s.Version.Compare(out.Version) != 0 {
			out.Claimed, out.Version = "", mm2.Version{}
		}
		for _, c := range s.Clusters {
			i := slices.IndexFunc(out.Clusters, func(o Cluster) bool { return o.Alias == c.Alias })
			if i < 0 {
				out.Clusters = append(out.Clusters, c)
				continue
			}
			if o := out.Clusters[i]; o.Bootstrap.Value != c.Bootstrap.Value {
				return nil, &Error{File: c.Bootstrap.File, Line: c.Bootstrap.Line, What: "two clusters are called " + c.Alias,
					Why: fmt.Sprintf("%s has %s, and %s has %s", o.Bootstrap.Where(), o.Bootstrap.Value, c.Bootstrap.Where(), c.Bootstrap.Value), Next: "choose one with --flow, or give the resources one at a time"}
			}
		}
		for _, f := range s.Flows {
			if other, ok := out.Flow(f.Name()); ok {
				return nil, &Error{File: f.file(), What: "the flow " + f.Name() + " stands in two resources", Why: other.Mirror.Name + " and " + f.Mirror.Name + " both have it", Next: "give the resource that is meant"}
			}
			out.Flows = append(out.Flows, f)
		}
		out.Notes, out.Problems = append(out.Notes, s.Notes...), append(out.Problems, s.Problems...)
	}
	return out, nil
}

func (f *Flow) file() string {
	e, _ := f.Get(f.lead(), "source.cluster.alias")
	return e.File
}

// imageVersion finds the Kafka version in a tag as Strimzi makes them: 0.45.0-kafka-3.9.0.
var imageVersion = regexp.MustCompile(`[:-]kafka-([0-9][\w.+-]*)$`)

// claimed is the version that runs, as the resource tells it: by the image, which wins over spec.version, where its tag tells;
// another image may hold anything.
func claimed(spec *confdoc.Node) string {
	image := spec.Get("image").Text()
	if m := imageVersion.FindStringSubmatch(image); m != nil {
		return m[1]
	}
	if image != "" {
		return ""
	}
	return spec.Get("version").Text()
}

type resource struct {
	file string
	s    *Setup
	spec *confdoc.Node
	v    mm2.Version
	m    Mirror // what all mirrors share
}

// ResolveResource resolves one KafkaMirrorMaker2 resource as the operator does; without a version, that of the resource counts.
func ResolveResource(file string, n *confdoc.Node, v mm2.Version) *Setup {
	spec := n.Get("spec")
	r := &resource{file: file, spec: spec, v: v, s: &Setup{File: file, Claimed: claimed(spec)},
		m: Mirror{APIVersion: n.Get("apiVersion").Text(), Namespace: n.Get("metadata", "namespace").Text(), Name: n.Get("metadata", "name").Text()}}
	if r.v.IsZero() {
		r.v, _ = mm2.ParseVersion(r.s.Claimed)
	}
	r.s.Version = r.v
	r.duplicates(n)
	if isV1(r.m.APIVersion) || spec.Get("target").Is(confdoc.Map) && spec.Get("clusters") == nil {
		r.v1()
	} else {
		r.v1beta2()
	}
	if len(r.s.Flows) == 0 && len(r.s.Problems) == 0 {
		r.problem(n, "no mirror", "spec.mirrors of "+r.m.Name+" is empty", "add an entry with the source and its connectors")
	}
	return r.s
}

func (r *resource) duplicates(n *confdoc.Node) {
	n.Walk(func(path []string, f confdoc.Field) {
		if f.Duplicate {
			key := strings.Join(path, ".")
			r.s.Notes = append(r.s.Notes, Note{Kind: DuplicateKey, File: r.file, Line: f.Line, Column: f.Column, Key: key, Text: key + " is set again further down; only the last one counts"})
		}
	})
}

func (r *resource) problem(at *confdoc.Node, what, why, next string) {
	e := &Error{File: r.file, What: what, Why: why, Next: next}
	if at != nil {
		e.Line = at.Line
	}
	r.s.Problems = append(r.s.Problems, e)
}

// resourceCluster is an entry of spec.clusters, spec.target, or the source of a mirror.
type resourceCluster struct {
	n     *confdoc.Node
	path  string
	alias string
}

func (r *resource) v1() {
	target := resourceCluster{r.spec.Get("target"), "spec.target", r.spec.Get("target", "alias").Text()}
	if target.alias == "" {
		r.problem(r.spec, "no target", "spec.target.alias is missing, which v1 of the resource requires", "add spec.target with alias and bootstrapServers")
		return
	}
	r.add(target)
	r.m.WorkerOn, r.m.WorkerPath = target.alias, target.path
	for i, m := range r.spec.Get("mirrors").List() {
		path := fmt.Sprintf("spec.mirrors[%d]", i)
		source := resourceCluster{m.Get("source"), path + ".source", m.Get("source", "alias").Text()}
		if source.alias == "" {
			r.problem(m, "a mirror without a source", path+".source.alias is missing, which v1 of the resource requires", "add the source with alias and bootstrapServers")
			continue
		}
		r.add(source)
		r.mirror(m, i, source, target, target)
	}
}

func (r *resource) v1beta2() {
	byAlias := map[string]resourceCluster{}
	for i, c := range r.spec.Get("clusters").List() {
		rc := resourceCluster{c, fmt.Sprintf("spec.clusters[%d]", i), c.Get("alias").Text()}
		if rc.alias == "" {
			r.problem(c, "a cluster without an alias", rc.path+".alias is missing", "add it")
			continue
		}
		byAlias[rc.alias] = rc
		r.add(rc)
	}
	connect := r.spec.Get("connectCluster")
	r.m.WorkerOn, r.m.WorkerPath = connect.Text(), byAlias[connect.Text()].path
	for i, m := range r.spec.Get("mirrors").List() {
		ends := [2]resourceCluster{}
		ok := true
		for j, key := range []string{"sourceCluster", "targetCluster"} {
			alias := m.Get(key).Text()
			if ends[j], ok = byAlias[alias]; !ok {
				at := m
				if x := m.Get(key); x != nil {
					at = x
				}
				r.problem(at, "a mirror of an unknown cluster", fmt.Sprintf("spec.mirrors[%d].%s is %q, and spec.clusters has %s", i, key, alias, strings.Join(r.aliases(), ", ")), "name one of the aliases")
				break
			}
		}
		if !ok {
			continue
		}
		if r.m.WorkerOn != ends[1].alias && !sameAddress(byAlias[r.m.WorkerOn].n, ends[1].n) {
			at := connect
			if at == nil {
				at = r.spec
			}
			r.s.Notes = append(r.s.Notes, Note{Kind: WorkerElsewhere, File: r.file, Line: at.Line, Column: at.Column, Key: "connectCluster",
				Text: fmt.Sprintf("connectCluster is %q, and the mirror writes to %s: Strimzi from 0.41 on refuses the resource, an older one lets the worker write into the wrong cluster; set connectCluster: %s", r.m.WorkerOn, ends[1].alias, ends[1].alias)})
		}
		worker, known := byAlias[r.m.WorkerOn]
		if !known {
			worker = ends[1]
		}
		r.mirror(m, i, ends[0], ends[1], worker)
	}
}

// sameAddress: the worker may be attached to the target under another alias.
func sameAddress(a, b *confdoc.Node) bool {
	return a.Get("bootstrapServers").Scalar() && a.Get("bootstrapServers").Text() == b.Get("bootstrapServers").Text()
}

func (r *resource) aliases() []string {
	var out []string
	for _, c := range r.s.Clusters {
		out = append(out, c.Alias)
	}
	return out
}

// add makes a cluster: its address, and the client settings that the operator writes for it.
func (r *resource) add(rc resourceCluster) {
	if slices.Contains(r.aliases(), rc.alias) {
		r.problem(rc.n, "two clusters are called "+rc.alias, "aliases tell clusters apart", "rename one of them")
		return
	}
	c := Cluster{Alias: rc.alias, client: settings{}}
	for k, e := range r.clusterSettings(rc) {
		c.client.put(k, e)
	}
	c.Bootstrap = c.client["bootstrap.servers"]
	if strings.TrimSpace(c.Bootstrap.Value) == "" {
		r.problem(rc.n, "cluster "+rc.alias+" has no addresses", rc.path+".bootstrapServers is missing", "add it: bootstrapServers: host:9092")
	}
	c.Secrets = r.secrets(rc)
	r.s.Clusters = append(r.s.Clusters, c)
}

// clusterSettings are the settings behind source.cluster. or target.cluster. that a cluster's entry gives.
func (r *resource) clusterSettings(rc resourceCluster) settings {
	out := settings{}
	out.put("alias", r.written(rc.n.Get("alias"), rc.path+".alias", RuleResourceCluster))
	if b := rc.n.Get("bootstrapServers"); b != nil {
		out.put("bootstrap.servers", r.written(b, rc.path+".bootstrapServers", RuleResourceCluster))
	}
	protocol, sasl := "PLAINTEXT", saslOf(rc.n.Get("authentication"))
	switch tls := present(rc.n.Get("tls")); {
	case tls && sasl != "":
		protocol = "SASL_SSL"
	case sasl != "":
		protocol = "SASL_PLAINTEXT"
	case tls:
		protocol = "SSL"
	}
	out.put("security.protocol", operator(protocol))
	if sasl != "" {
		out.put("sasl.mechanism", operator(sasl))
	}
	for _, f := range rc.n.Get("config").Effective() {
		if f.Value.Scalar() {
			out.put(f.Key, r.field(f, rc.path+".config."+f.Key, RuleResourceCluster))
		}
	}
	return out
}

// saslOf gives the mechanism of an authentication; "" for none and for client certificates.
func saslOf(auth *confdoc.Node) string {
	switch t := auth.Get("type").Text(); t {
	case "plain":
		return "PLAIN"
	case "scram-sha-256", "scram-sha-512":
		return strings.ToUpper(t)
	case "oauth":
		return "OAUTHBEARER"
	case "custom":
		if m := auth.Get("config", "sasl.mechanism"); m.Scalar() {
			return m.Text()
		}
	}
	return ""
}

// secrets are the credentials of a cluster that stand in Kubernetes secrets.
func (r *resource) secrets(rc resourceCluster) []Effective {
	var out []Effective
	if auth := rc.n.Get("authentication"); present(auth) {
		e := r.written(auth, rc.path+".authentication", RuleResourceCluster)
		e.Value = auth.Get("type").Text()
		out = append(out, e)
	}
	if certs := rc.n.Get("tls", "trustedCertificates"); len(certs.List()) > 0 {
		e := r.written(certs, rc.path+".tls.trustedCertificates", RuleResourceCluster)
		e.Value = "trusted certificates"
		out = append(out, e)
	}
	return out
}

// sections of a mirror, by connector.
var sectionOf = []struct {
	r    Reader
	name string
}{{Source, "sourceConnector"}, {Checkpoint, "checkpointConnector"}, {Heartbeat, "heartbeatConnector"}}

func (r *resource) mirror(n *confdoc.Node, index int, source, target, worker resourceCluster) {
	m := r.m
	m.Index = index
	path := fmt.Sprintf("spec.mirrors[%d]", index)
	f := &Flow{Source: source.alias, Target: target.alias, Mirror: &m, version: r.v, own: map[Reader]settings{}, states: map[Reader]Effective{}, base: settings{}, worker: r.worker(worker)}
	if other, ok := r.s.Flow(f.Name()); ok {
		r.problem(n, "the flow "+f.Name()+" stands twice in spec.mirrors", fmt.Sprintf("entry %d has it already; both make connectors of the same name", other.Mirror.Index), "put the two entries together")
		return
	}
	if worker.n.Get("config").Is(confdoc.Map) {
		m.Sections = append(m.Sections, m.WorkerPath+".config")
	}
	for _, sec := range sectionOf {
		c := n.Get(sec.name)
		if !present(c) || sec.r == Heartbeat && isV1(m.APIVersion) { // v1 has no heartbeatConnector: the operator drops it
			continue
		}
		m.Sections = append(m.Sections, sec.name)
		if c.Get("config").Is(confdoc.Map) {
			m.Sections = append(m.Sections, sec.name+".config")
		}
		if present(c.Get("pause")) {
			m.Sections = append(m.Sections, sec.name+".pause")
		}
		f.own[sec.r] = r.connector(n, c, path, sec.name, sec.r, source, target)
		if e, ok := r.state(c, path+"."+sec.name); ok {
			f.states[sec.r] = e
		}
		f.Enabled = f.Enabled || sec.r != Heartbeat
	}
	f.Herder = f.Enabled
	f.base = f.own[f.lead()]
	r.s.Flows = append(r.s.Flows, f)
}

// patterns are the fields of a mirror and the settings that they become on every connector; the newer name wins.
var patterns = []struct{ field, old, key, oldKey string }{
	{"topicsPattern", "", "topics", ""}, {"topicsExcludePattern", "topicsBlacklistPattern", "topics.exclude", "topics.blacklist"},
	{"groupsPattern", "", "groups", ""}, {"groupsExcludePattern", "groupsBlacklistPattern", "groups.exclude", "groups.blacklist"},
}

// connector gives the settings of one connector as the operator writes them: the clusters, the connector's own config, and
// over both the patterns of the mirror. Up to v1beta2 the clusters' settings win over the connector's.
func (r *resource) connector(mirror, c *confdoc.Node, path, section string, reader Reader, source, target resourceCluster) settings {
	s := settings{}
	clusters := func() {
		for k, e := range r.clusterSettings(target) {
			s.put("target.cluster."+k, e)
		}
		for k, e := range r.clusterSettings(source) {
			s.put("source.cluster."+k, e)
		}
	}
	clusters()
	for _, f := range c.Get("config").Effective() {
		if f.Value.Scalar() && !slices.Contains([]string{"name", "connector.class", "tasks.max"}, f.Key) { // the operator ignores these three
			s.put(f.Key, r.field(f, path+"."+section+".config."+f.Key, RuleConnector))
		}
	}
	if !isV1(r.m.APIVersion) {
		clusters()
	}
	for _, p := range patterns {
		field := mirror.Field(p.field)
		if field == nil && p.old != "" {
			field = mirror.Field(p.old)
		}
		if field == nil || !field.Value.Scalar() {
			continue
		}
		key := p.key
		if p.oldKey != "" && !r.v.IsZero() && r.v.Before(2, 7, 0) {
			key = p.oldKey
		}
		s.put(key, r.field(*field, path+"."+field.Key, RuleMirror))
	}
	if f := c.Field("tasksMax"); f != nil && f.Value.Scalar() {
		s.put("tasks.max", r.field(*f, path+"."+section+".tasksMax", RuleConnector))
	}
	s.putIfAbsent("name", operator(source.alias+"->"+target.alias+"."+reader.String()))
	s.putIfAbsent("connector.class", operator("org.apache.kafka.connect.mirror."+reader.String()))
	return s
}

// state gives what the resource asks of a connector (running, paused, stopped): by state, or by pause up to v1beta2. False
// where it asks for nothing.
func (r *resource) state(c *confdoc.Node, path string) (Effective, bool) {
	if f := c.Field("state"); f != nil && f.Value.Scalar() {
		return r.field(*f, path+".state", RuleConnector), true
	}
	if f := c.Field("pause"); f != nil && Truth(f.Value) == "true" && !isV1(r.m.APIVersion) { // v1 has no such field
		e := r.field(*f, path+".pause", RuleConnector)
		e.Value = "paused"
		return e, true
	}
	return Effective{}, false
}

// forbidden are prefixes of worker settings that the operator drops from a cluster's config.
var forbidden = []string{"ssl.", "sasl.", "security.", "listeners", "plugin.path", "rest.", "bootstrap.servers", "consumer.interceptor.classes", "producer.interceptor.classes"}

// worker gives the settings of the worker: the config of the cluster it is attached to, over the operator's own.
func (r *resource) worker(rc resourceCluster) settings {
	s := settings{}
	for _, part := range []string{"key", "value", "header"} {
		s.put(part+".converter", operator("org.apache.kafka.connect.converters.ByteArrayConverter"))
	}
	if !isV1(r.m.APIVersion) {
		for k, v := range map[string]string{"group.id": "mirrormaker2-cluster", "offset.storage.topic": "mirrormaker2-cluster-offsets",
			"config.storage.topic": "mirrormaker2-cluster-configs", "status.storage.topic": "mirrormaker2-cluster-status"} {
			s.put(k, operator(v))
		}
	}
	for _, f := range rc.n.Get("config").Effective() {
		if f.Value.Scalar() && !slices.ContainsFunc(forbidden, func(p string) bool { return strings.HasPrefix(f.Key, p) }) {
			s.put(f.Key, r.field(f, rc.path+".config."+f.Key, RuleResourceCluster))
		}
	}
	for field, key := range map[string]string{"groupId": "group.id", "offsetStorageTopic": "offset.storage.topic", "configStorageTopic": "config.storage.topic", "statusStorageTopic": "status.storage.topic"} {
		if f := rc.n.Field(field); f != nil && f.Value.Scalar() {
			s.put(key, r.field(*f, rc.path+"."+field, RuleResourceCluster))
		}
	}
	return s
}

// present: to Kubernetes, a field with nothing behind it is not there.
func present(n *confdoc.Node) bool { return n != nil && n.Kind != confdoc.Null }

func operator(value string) Effective { return Effective{Value: value, Rule: RuleOperator} }

func (r *resource) written(n *confdoc.Node, path string, rule Rule) Effective {
	if n == nil {
		return operator("")
	}
	return Effective{Value: Truth(n), Written: path, File: r.file, Line: n.Line, Column: n.Column, Rule: rule}
}

// field places a value at its key.
func (r *resource) field(f confdoc.Field, path string, rule Rule) Effective {
	return Effective{Value: Truth(f.Value), Written: path, File: r.file, Line: f.Line, Column: f.Column, Rule: rule}
}

// Truth gives the value of a scalar as Kubernetes reads it: by YAML 1.1, in which a plain yes, no, on, off, y and n are booleans.
func Truth(n *confdoc.Node) string {
	v := n.Text()
	plain := n.End-n.Start == len(v)
	switch n.Kind {
	case confdoc.Bool:
		return strings.ToLower(v)
	case confdoc.Number:
		if i, err := strconv.ParseInt(v, 0, 64); err == nil && strings.ContainsAny(v, "_0x") {
			return strconv.FormatInt(i, 10) // YAML's 0600 and 1_000
		}
	case confdoc.String:
		if plain && slices.Contains([]string{"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"}, v) {
			return "true"
		}
		if plain && slices.Contains([]string{"n", "N", "no", "No", "NO", "off", "Off", "OFF"}, v) {
			return "false"
		}
	}
	return v
}
