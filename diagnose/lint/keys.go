package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// connector judges the keys of one connector's JSON.
func (l *linter) connector(c conf.Connector, blocks bool) {
	s := &setup{mode: connect, file: c.File, version: l.o.Version, partial: map[string]bool{c.File: blocks}}
	if c.Managed {
		s.mode = managed
	}
	l.configKeys(s, c.File, c.Config, "", c.Reader, nil)
}

// configKeys judges the keys of one connector; path is what stands before a key in a resource.
func (l *linter) configKeys(s *setup, file string, config *confdoc.Node, path string, r conf.Reader, other func(conf.Reader, string) (bool, bool)) {
	own := false
	for _, f := range config.Effective() {
		own = own || strings.HasSuffix(f.Key, ".class") && f.Key != "connector.class" && !strings.HasPrefix(strings.TrimSpace(f.Value.Text()), "org.apache.kafka.") && !strings.Contains(f.Key, "sasl.")
	}
	if config == nil {
		return
	}
	for _, f := range config.Fields {
		at := place{file, f.Line, f.Column, path + f.Key}
		if template(f.Key) != "" {
			l.mark(at)
			continue
		}
		if f.Duplicate {
			last := config.Field(f.Key)
			l.add(say{slug: "duplicate-key", severity: finding.Warning, at: place{file, last.Line, last.Column, path + f.Key}, because: fmt.Sprintf("%s stands in line %d already; the last one counts.", f.Key, f.Line), fixes: s.advice("Remove the line that is not meant.")})
			continue
		}
		value := conf.Truth(f.Value)
		v := connectorKey(f.Key, level{reader: r, version: s.version, mode: s.mode, other: other, value: value, own: own})
		if s.mode == strimzi {
			v = operatorKey(f.Key, v, r)
			if field := patterns[f.Key]; field != "" && v.slug == "" {
				v = v.but("operator-managed-key", finding.Info, field+" of the mirror", "%s of the mirror is the place for it, and reaches both connectors; where it is set, it wins over what stands here.", field)
			}
		}
		bad := false
		switch {
		case f.Value.Is(confdoc.Map) || f.Value.Is(confdoc.List):
			l.add(say{slug: "malformed-value", severity: finding.Error, at: at, because: fmt.Sprintf("%s is a %s; settings of a connector are one text, number or boolean each.", f.Key, f.Value.Kind), fixes: s.advice("Write lists as one text with commas, and nested keys with dots.")})
			continue
		case v.typed && !f.Value.Is(confdoc.Null):
			bad = l.value(s, at, v, value, nil)
		case !v.typed && secretKey(f.Key) && literalSecret(f.Key, value):
			l.secrets[file] = append(l.secrets[file], at)
		case v.slug == "" && template(value) != "":
			l.mark(at)
		}
		if v.slug != "" && !(bad && v.severity == finding.Info) {
			l.key(s, at, v)
		}
	}
}

// patterns are fields of a mirror that become settings of its connectors.
var patterns = map[string]string{"topics": "topicsPattern", "topics.exclude": "topicsExcludePattern", "groups": "groupsPattern", "groups.exclude": "groupsExcludePattern"}

// operatorKey: what the operator writes itself.
func operatorKey(key string, v verdict, r conf.Reader) verdict {
	switch {
	case slices.Contains([]string{"name", "connector.class", "tasks.max"}, key):
		meant := ""
		if key == "tasks.max" {
			meant = sectionOf(r) + ".tasksMax"
		}
		return v.but("operator-managed-key", finding.Info, meant, "The operator sets %s itself and drops what stands here.", key)
	case key == "connector.plugin.version":
		return v.but("operator-managed-key", finding.Info, sectionOf(r)+".version", "The operator sets %s from the connector's version.", key)
	}
	for _, side := range []string{"source.cluster.", "target.cluster."} {
		if rest, ok := strings.CutPrefix(key, side); ok && slices.Contains([]string{"alias", "bootstrap.servers", "security.protocol"}, rest) {
			return v.but("operator-managed-key", finding.Info, "", "The operator sets %s from the cluster's own section. Up to Strimzi 0.48 that wins, from 0.49 on what stands here.", key)
		}
	}
	return v
}

// Forbidden prefixes of a cluster's config in a resource, and what is allowed all the same.
var (
	forbiddenPrefixes = []string{"ssl.", "sasl.", "security.", "listeners", "plugin.path", "rest.", "bootstrap.servers", "consumer.interceptor.classes", "producer.interceptor.classes"}
	allowedAnyway     = []string{"ssl.endpoint.identification.algorithm", "ssl.cipher.suites", "ssl.protocol", "ssl.enabled.protocols"}
)

// resourceKeys judges the settings within a resource.
func (l *linter) resourceKeys(s *setup) {
	file, spec := s.file, s.resource.Get("spec")
	for _, f := range s.flows {
		m := spec.Get("mirrors").List()[f.Mirror.Index]
		path := fmt.Sprintf("spec.mirrors[%d].", f.Mirror.Index)
		for _, r := range threeConnectors {
			name := sectionOf(r)
			l.configKeys(s, file, m.Get(name, "config"), path+name+".config.", r, func(o conf.Reader, key string) (bool, bool) {
				if !f.Has(o) {
					return false, false
				}
				e, ok := f.Get(o, key)
				return ok && !e.IsDefault(), true
			})
		}
		for _, x := range []struct{ field, key string }{{"topicsPattern", "topics"}, {"topicsExcludePattern", "topics.exclude"}, {"topicsBlacklistPattern", "topics.exclude"}, {"groupsPattern", "groups"}, {"groupsExcludePattern", "groups.exclude"}, {"groupsBlacklistPattern", "groups.exclude"}} {
			p := m.Field(x.field)
			if p == nil || !p.Value.Scalar() {
				continue
			}
			at := place{file, p.Line, p.Column, path + x.field}
			l.value(s, at, reads(x.key, conf.List), p.Value.Text(), nil)
			if strings.Contains(x.field, "Blacklist") && !isV1(s) {
				meant := strings.Replace(x.field, "Blacklist", "Exclude", 1)
				l.key(s, at, verdict{sure: true}.but("removed-key", finding.Warning, path+meant, "%s is deprecated and gone in v1 of the resource; %s is its new name.", x.field, meant))
			}
		}
	}
	worker := spec.Get("connectCluster").Text()
	clusters := spec.Get("clusters").List()
	for i, c := range clusters {
		l.clusterConfig(s, c, fmt.Sprintf("spec.clusters[%d].config.", i), isV1(s) || worker == "" || c.Get("alias").Text() == worker)
	}
	l.clusterConfig(s, spec.Get("target"), "spec.target.config.", true)
	for i, m := range spec.Get("mirrors").List() {
		l.clusterConfig(s, m.Get("source"), fmt.Sprintf("spec.mirrors[%d].source.config.", i), false)
	}
}

// clusterConfig judges the config of a cluster: the worker reads it where it is attached to that cluster.
func (l *linter) clusterConfig(s *setup, c *confdoc.Node, path string, worker bool) {
	if b := c.Field("bootstrapServers"); b != nil && b.Value.Scalar() {
		l.value(s, place{s.file, b.Value.Line, b.Value.Column, strings.TrimSuffix(path, "config.") + "bootstrapServers"}, reads("bootstrap.servers", conf.List), b.Value.Text(), nil)
	}
	for _, f := range c.Get("config").Effective() {
		at := place{s.file, f.Line, f.Column, path + f.Key}
		if template(f.Key) != "" {
			l.mark(at)
			continue
		}
		v := workerKey(f.Key, level{reader: conf.Worker, version: s.version, mode: s.mode, value: f.Value.Text()})
		if kind, rest, ok := clientOfCluster(f.Key, v); ok && !(worker && kind != "consumer") && !hasPrefix(f.Key, forbiddenPrefixes) {
			meant := "consumer." + rest + " under sourceConnector.config"
			if kind == "producer" {
				meant = "producer." + rest + " under the config of the target cluster"
			} else if kind == "admin" {
				meant = "admin." + rest + " under the connectors' config"
			}
			v = v.but("wrong-prefix", finding.Warning, meant, "The clients of MirrorMaker 2 take addresses and security from a cluster's config, and nothing else: %s has no effect there.", f.Key)
		}
		switch {
		case worker && isV1(s) && newFields[f.Key] != "":
			v = v.but("operator-managed-key", finding.Info, newFields[f.Key], "v1 of the resource has a field of its own for %s, %s, which wins.", f.Key, newFields[f.Key])
		case worker && hasPrefix(f.Key, forbiddenPrefixes) && !slices.Contains(allowedAnyway, f.Key):
			v = v.but("operator-managed-key", finding.Info, "", "The operator does not give %s to the worker: it sets addresses and security from tls and authentication.", f.Key)
		case v.slug == "" && !worker && isWorkerKey(f.Key) && !isClient(f.Key):
			v = v.but("no-effect-key", finding.Info, "", "%s is a setting of the worker, which is attached to another cluster; here nobody reads it.", f.Key)
		}
		bad := false
		if v.typed && f.Value.Scalar() {
			bad = l.value(s, at, v, conf.Truth(f.Value), nil)
		}
		if v.slug != "" && !(bad && v.severity == finding.Info) {
			l.key(s, at, v)
		}
	}
}

// newFields are fields of the target that v1 has in the place of settings of the worker.
var newFields = map[string]string{"group.id": "spec.target.groupId", "config.storage.topic": "spec.target.configStorageTopic", "offset.storage.topic": "spec.target.offsetStorageTopic", "status.storage.topic": "spec.target.statusStorageTopic"}

// clientOfCluster tells which client a setting in a cluster's config was meant for. Behind source.cluster. and target.cluster., where the
// operator puts them, MirrorMaker 2 knows no settings of single clients; only the worker reads its producer's and admin client's.
func clientOfCluster(key string, v verdict) (kind, rest string, ok bool) {
	for _, kind := range []string{"consumer", "producer", "admin"} {
		if rest, ok := strings.CutPrefix(key, kind+"."); ok && !isMM2(key) {
			return kind, rest, true
		}
	}
	if k, known := conf.LookupKafkaKey(key); known && v.slug == "wrong-prefix" && k.Of&(conf.OfProducer|conf.OfConsumer) != 0 {
		return strings.TrimSuffix(clientOf(k.Of), "."), key, true
	}
	return "", "", false
}

func isClient(key string) bool {
	k, ok := conf.LookupKafkaKey(key)
	return ok && k.Of&(conf.OfProducer|conf.OfConsumer|conf.OfAdmin) != 0 && key != "group.id"
}

func isV1(s *setup) bool { return strings.HasSuffix(s.resource.Get("apiVersion").Text(), "/v1") }

// Fields of the resource by API version. Those of v1beta2 hold for v1alpha1 too, and contain those that newer operators added.
var (
	specFields      = []string{"version", "replicas", "image", "target", "mirrors", "resources", "livenessProbe", "readinessProbe", "jvmOptions", "jmxOptions", "logging", "clientRackInitImage", "rack", "metricsConfig", "tracing", "template", "plugins"}
	specFieldsBeta2 = append([]string{"connectCluster", "clusters", "externalConfiguration"}, specFields...)
	specFieldsOld   = append([]string{"metrics", "affinity", "tolerations"}, specFieldsBeta2...)
	mirrorFields    = []string{"source", "sourceConnector", "checkpointConnector", "topicsPattern", "topicsExcludePattern", "groupsPattern", "groupsExcludePattern"}
	mirrorFieldsOld = append([]string{"sourceCluster", "targetCluster", "heartbeatConnector", "topicsBlacklistPattern", "groupsBlacklistPattern"}, mirrorFields...)
	connectorFields = []string{"tasksMax", "config", "state", "autoRestart", "listOffsets", "alterOffsets", "version"}
	clusterFields   = []string{"alias", "bootstrapServers", "tls", "authentication", "config"}
	targetFields    = append([]string{"groupId", "configStorageTopic", "offsetStorageTopic", "statusStorageTopic"}, clusterFields...)
)

// schema judges the fields of a resource: Kubernetes drops or refuses what the API version does not have.
func (l *linter) schema(s *setup) {
	spec := s.resource.Get("spec")
	specAt := s.resource.Field("spec")
	if specAt == nil {
		l.add(say{slug: "strimzi-missing-field", severity: finding.Error, at: place{s.file, s.resource.Line, s.resource.Column, "spec"}, because: "The resource has no spec.", fixes: s.advice("Add spec.")})
		return
	}
	v1 := isV1(s)
	api := "v1beta2"
	fields, mirror, connector := specFieldsOld, mirrorFieldsOld, append([]string{"pause"}, connectorFields...)
	switch s.resource.Get("apiVersion").Text() {
	case "kafka.strimzi.io/v1alpha1":
		api = "v1alpha1"
	case "kafka.strimzi.io/v1beta2":
		fields = specFieldsBeta2
	}
	if v1 {
		api, fields, mirror, connector = "v1", specFields, mirrorFields, connectorFields
	}
	l.apiVersion(s)
	l.fieldsOf(s, spec, "spec.", fields, api)
	missing := func(at place, names ...string) {
		at.key = names[0]
		l.add(say{slug: "strimzi-missing-field", severity: finding.Error, at: at, because: fmt.Sprintf("%s of the resource requires %s.", api, strings.Join(names, ", ")), leads: "Kubernetes or the operator refuses the resource.", fixes: s.advice("Add %s.", strings.Join(names, ", "))})
	}
	at := place{s.file, specAt.Line, specAt.Column, ""}
	if patch(spec, v1) && !s.partial[s.file] {
		s.partial[s.file] = true
		l.add(say{slug: "strimzi-missing-field", severity: finding.Info, at: place{s.file, specAt.Line, specAt.Column, "spec"}, because: "The resource lacks clusters or mirrors, as a patch of another file does. What is missing is not judged; on its own the operator refuses it.", fixes: s.advice("Give the whole resource: kustomize build, or kubectl get kafkamirrormaker2 -o yaml.")})
	}
	if v1 || given(spec.Get("target")) {
		t := spec.Field("target")
		if !given(spec.Get("target")) && !s.partial[s.file] {
			missing(at, "spec.target")
		} else if given(spec.Get("target")) {
			l.fieldsOf(s, t.Value, "spec.target.", targetFields, api)
			var gone []string
			for _, name := range []string{"alias", "bootstrapServers", "groupId", "configStorageTopic", "offsetStorageTopic", "statusStorageTopic"} {
				if !given(t.Value.Get(name)) {
					gone = append(gone, "spec.target."+name)
				}
			}
			if len(gone) > 0 && !s.partial[s.file] {
				missing(place{s.file, t.Line, t.Column, ""}, gone...)
			}
		}
	} else if !s.partial[s.file] {
		for _, name := range []string{"connectCluster", "clusters"} {
			if !given(spec.Get(name)) {
				missing(at, "spec."+name)
			}
		}
	}
	if v1 && !given(spec.Get("replicas")) && !s.partial[s.file] {
		missing(at, "spec.replicas")
	}
	if !given(spec.Get("mirrors")) && !s.partial[s.file] {
		missing(at, "spec.mirrors")
	}
	for i, c := range spec.Get("clusters").List() {
		path := fmt.Sprintf("spec.clusters[%d].", i)
		l.fieldsOf(s, c, path, clusterFields, api)
		l.clusterFieldsMissing(s, c, path, missing)
	}
	for i, m := range spec.Get("mirrors").List() {
		path := fmt.Sprintf("spec.mirrors[%d].", i)
		l.fieldsOf(s, m, path, mirror, api)
		if v1 {
			if !given(m.Get("source")) {
				missing(place{s.file, m.Line, m.Column, ""}, path+"source")
			} else {
				l.fieldsOf(s, m.Get("source"), path+"source.", clusterFields, api)
				l.clusterFieldsMissing(s, m.Get("source"), path+"source.", missing)
			}
		} else if !given(m.Get("source")) && !s.partial[s.file] {
			for _, name := range []string{"sourceCluster", "targetCluster"} {
				if !given(m.Get(name)) {
					missing(place{s.file, m.Line, m.Column, ""}, path+name)
				}
			}
		}
		for _, r := range threeConnectors {
			l.fieldsOf(s, m.Get(sectionOf(r)), path+sectionOf(r)+".", connector, api)
		}
	}
	l.shapes(s)
	l.problems(s)
	l.workerElsewhere(s)
}

// patch says that so much is missing from a resource that it can only be laid over another one.
func patch(spec *confdoc.Node, v1 bool) bool {
	has := func(name string) bool { return given(spec.Get(name)) }
	ends := has("target") || !v1 && (has("clusters") || has("connectCluster"))
	if has("mirrors") {
		return !v1 && !has("target") && !has("clusters")
	}
	return !ends || !v1 && !has("target") && !(has("clusters") && has("connectCluster")) || v1 && !has("replicas")
}

// given: to Kubernetes, a field with nothing behind it is not there.
func given(n *confdoc.Node) bool { return n != nil && !n.Is(confdoc.Null) }

func (l *linter) clusterFieldsMissing(s *setup, c *confdoc.Node, path string, missing func(place, ...string)) {
	if s.partial[s.file] || c == nil {
		return
	}
	at := place{s.file, c.Line, c.Column, ""}
	if !given(c.Get("alias")) {
		missing(at, path+"alias")
	}
	auth := c.Get("authentication")
	if !auth.Is(confdoc.Map) {
		return
	}
	at = place{s.file, c.Field("authentication").Line, c.Field("authentication").Column, ""}
	if !given(auth.Get("type")) {
		missing(at, path+"authentication.type")
	}
	need := map[string][]string{"plain": {"username", "passwordSecret"}, "scram-sha-256": {"username", "passwordSecret"}, "scram-sha-512": {"username", "passwordSecret"}, "tls": {"certificateAndKey"}}[auth.Get("type").Text()]
	for _, n := range need {
		if !given(auth.Get(n)) {
			missing(at, path+"authentication."+n)
		}
	}
}

// fieldsOf reports fields that the API version does not have.
func (l *linter) fieldsOf(s *setup, n *confdoc.Node, path string, known []string, api string) {
	if !n.Is(confdoc.Map) {
		return
	}
	for _, f := range n.Fields {
		if slices.Contains(known, f.Key) || template(f.Key) != "" || f.Key == "" {
			continue
		}
		text := fmt.Sprintf("%s of KafkaMirrorMaker2 has no field %s%s.", api, path, f.Key)
		fix := s.advice("Remove the field.")
		switch near := nearest(f.Key, known); {
		case near != "" && !strings.HasSuffix(f.Key, "BlacklistPattern"):
			text += " " + near + " may be meant."
			fix = s.advice("Write %s instead of %s.", near, f.Key)
			if onlyNear(f.Key, near, known) {
				fix[0].Steps = []finding.Step{{Text: fmt.Sprintf("rename %s to %s", path+f.Key, path+near), File: s.file, Rename: path + near}}
			}
		case strings.HasSuffix(f.Key, "BlacklistPattern"):
			meant := strings.Replace(f.Key, "Blacklist", "Exclude", 1)
			text += " " + meant + " is its new name."
			fix = s.advice("Write %s instead of %s.", meant, f.Key)
			fix[0].Steps = []finding.Step{{Text: fmt.Sprintf("rename %s to %s", path+f.Key, path+meant), File: s.file, Rename: path + meant}}
		case f.Key == "pause":
			fix = s.advice("Write state: paused.")
		case f.Key == "trustedCertificates":
			text += " It belongs under tls."
			fix = s.advice("Move %s under tls.", f.Key)
		case strings.Contains(f.Key, ".") && !strings.HasSuffix(path, "config."):
			text += " Settings of Kafka belong under config."
			fix = s.advice("Move %s under config.", f.Key)
		case f.Key == "heartbeatConnector" && api == "v1":
			text += " v1 took it away: nothing depends on heartbeats."
		case f.Key == "connectCluster" || f.Key == "clusters" || f.Key == "sourceCluster" || f.Key == "targetCluster":
			text += " v1 has spec.target, and the source within each mirror."
		}
		l.add(say{slug: "strimzi-unknown-field", severity: finding.Error, at: place{s.file, f.Line, f.Column, path + f.Key}, because: text, leads: "Kubernetes drops the field or refuses the resource.", fixes: fix})
	}
}

// workerElsewhere: the worker is attached to another cluster than the one a mirror writes to.
func (l *linter) workerElsewhere(s *setup) {
	for _, n := range s.Notes {
		if n.Kind == conf.WorkerElsewhere {
			because, _, _ := strings.Cut(n.Text, "; set ")
			l.add(say{slug: "connect-cluster-not-target", severity: finding.Error, at: place{s.file, n.Line, n.Column, "spec.connectCluster"}, because: sentence(because), leads: "Data and checkpoints go to the wrong cluster.",
				fixes: s.advice("Set connectCluster to the alias of the target cluster.")})
		}
	}
}
