package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// strimziGroup is the API group of Strimzi's own resources; others offer the same schema, and may add to it.
const strimziGroup = "kafka.strimzi.io/"

// apiVersion: KafkaMirrorMaker2 was served as v1alpha1 (Strimzi 0.17 - 0.22), v1beta2 (0.23 - 0.51) and v1 (from 0.49 on), and never as v1beta1,
// which other kinds had.
func (l *linter) apiVersion(s *setup) {
	f := s.resource.Field("apiVersion")
	version, ok := strings.CutPrefix(s.resource.Get("apiVersion").Text(), strimziGroup)
	if !ok || opaque(version) || slices.Contains([]string{"v1alpha1", "v1beta2", "v1"}, version) {
		return
	}
	l.add(say{slug: "strimzi-unknown-field", severity: finding.Error, at: place{s.file, f.Line, f.Column, "apiVersion"}, because: fmt.Sprintf("KafkaMirrorMaker2 does not exist in the version %s: Strimzi serves v1alpha1 up to 0.22, v1beta2 from 0.23 to 0.51, and v1 from 0.49 on.", printable(version)),
		leads: "Kubernetes does not know the resource.", fixes: s.advice("Write apiVersion: kafka.strimzi.io/v1beta2, or v1 and its fields.")})
}

// shapes: what kind of value the schema wants. Kubernetes refuses any other.
func (l *linter) shapes(s *setup) {
	spec := s.resource.Get("spec")
	bad := func(f *confdoc.Field, path, fix, format string, args ...any) {
		l.add(say{slug: "malformed-value", severity: finding.Error, at: place{s.file, f.Line, f.Column, path}, because: fmt.Sprintf(format, args...), leads: "Kubernetes refuses the resource.", fixes: s.advice("%s", fix)})
	}
	// want looks at one field. Template text can become anything.
	want := func(n *confdoc.Node, path, name string, kind confdoc.NodeKind) *confdoc.Field {
		f := n.Field(name)
		if f == nil || f.Value.Is(confdoc.Null) || f.Value.Scalar() && template(f.Value.Text()) != "" {
			return nil
		}
		if v := f.Value; kind != confdoc.Map && v.Is(confdoc.Map) && len(v.Fields) == 1 && v.Fields[0].Value.Is(confdoc.Null) { // {NAME}, to be filled in
			l.mark(place{s.file, v.Line, v.Column, path + name})
			return nil
		}
		if !f.Value.Is(kind) {
			fix := map[confdoc.NodeKind]string{confdoc.String: "Write one text, in quotes; lists with commas within it.", confdoc.Number: "Write a number without quotes.", confdoc.Bool: "Write true or false without quotes.", confdoc.Map: "Write fields below it.", confdoc.List: "Begin each entry with a hyphen."}[kind]
			bad(f, path+name, fix, "%s is a %s, and a %s is wanted.", name, f.Value.Kind, kind)
			return nil
		}
		return f
	}
	cluster := func(n *confdoc.Node, path string) {
		want(n, path, "alias", confdoc.String)
		want(n, path, "bootstrapServers", confdoc.String)
		want(n, path, "config", confdoc.Map)
		want(n, path, "tls", confdoc.Map)
		if want(n, path, "authentication", confdoc.Map) != nil {
			l.loginType(s, n.Get("authentication").Field("type"), path)
		}
	}
	want(spec, "spec.", "version", confdoc.String)
	want(spec, "spec.", "connectCluster", confdoc.String)
	want(spec, "spec.", "replicas", confdoc.Number)
	want(spec, "spec.", "clusters", confdoc.List)
	want(spec, "spec.", "mirrors", confdoc.List)
	want(spec, "spec.", "target", confdoc.Map)
	for i, c := range spec.Get("clusters").List() {
		cluster(c, fmt.Sprintf("spec.clusters[%d].", i))
	}
	cluster(spec.Get("target"), "spec.target.")
	for i, m := range spec.Get("mirrors").List() {
		path := fmt.Sprintf("spec.mirrors[%d].", i)
		for _, name := range []string{"sourceCluster", "targetCluster", "topicsPattern", "topicsExcludePattern", "topicsBlacklistPattern", "groupsPattern", "groupsExcludePattern", "groupsBlacklistPattern"} {
			want(m, path, name, confdoc.String)
		}
		want(m, path, "source", confdoc.Map)
		cluster(m.Get("source"), path+"source.")
		for _, name := range []string{"sourceConnector", "checkpointConnector", "heartbeatConnector"} {
			if want(m, path, name, confdoc.Map) == nil {
				continue
			}
			c, path := m.Get(name), path+name+"."
			want(c, path, "config", confdoc.Map)
			want(c, path, "pause", confdoc.Bool)
			if f := want(c, path, "tasksMax", confdoc.Number); f != nil {
				if n, err := strconv.Atoi(f.Value.Text()); err != nil || n < 1 {
					bad(f, path+"tasksMax", "Write a whole number from 1.", "tasksMax is %s, and must be at least 1.", f.Value.Text())
				}
			}
			if f := want(c, path, "state", confdoc.String); f != nil && !slices.Contains([]string{"running", "paused", "stopped"}, f.Value.Text()) {
				bad(f, path+"state", "Write running, paused or stopped.", "%q is none of running, paused, stopped.", printable(f.Value.Text()))
			}
		}
	}
	spec.Walk(func(at []string, f confdoc.Field) {
		if f.Duplicate && !slices.ContainsFunc(at[:len(at)-1], func(p string) bool { return strings.HasSuffix(p, "Connector") }) {
			l.add(say{slug: "duplicate-key", severity: finding.Warning, at: place{s.file, f.Line, f.Column, "spec." + strings.Join(at, ".")}, because: fmt.Sprintf("%s stands again further down; where kubectl does not refuse it, the last one counts.", f.Key), fixes: s.advice("Put the two together.")})
		}
	})
}

// loginType: v1 has no oauth any more, v1alpha1 only some of the types.
func (l *linter) loginType(s *setup, f *confdoc.Field, path string) {
	api, ok := strings.CutPrefix(s.resource.Get("apiVersion").Text(), strimziGroup)
	if f == nil || !ok || !f.Value.Scalar() || opaque(f.Value.Text()) {
		return
	}
	types := []string{"tls", "scram-sha-256", "scram-sha-512", "plain", "oauth", "custom"}
	if api == "v1" {
		types = []string{"tls", "scram-sha-256", "scram-sha-512", "plain", "custom"}
	}
	if slices.Contains(types, f.Value.Text()) {
		return
	}
	fix := "Write one of " + strings.Join(types, ", ") + "."
	if f.Value.Text() == "oauth" {
		fix = "Write type: custom, sasl: true, and the settings of the login under config."
	}
	l.add(say{slug: "malformed-value", severity: finding.Error, at: place{s.file, f.Line, f.Column, path + "authentication.type"}, because: fmt.Sprintf("%q is none of %s, which %s of the resource has.", printable(f.Value.Text()), strings.Join(types, ", "), api), leads: "Kubernetes refuses the resource.", fixes: s.advice("%s", fix)})
}

// problems are those for which the operator refuses a resource, or makes less of it than stands there.
func (l *linter) problems(s *setup) {
	if len(s.Problems) == 0 {
		return
	}
	columns := columnsOf(s.resource)
	for _, p := range s.Problems {
		at := place{file: s.file, line: p.Line, col: max(columns[p.Line], 1)}
		switch {
		case strings.Contains(p.What, "unknown cluster") && !strings.Contains(p.Why, ` is ""`) && !s.partial[s.file]:
			at.key, _, _ = strings.Cut(p.Why, " ")
			l.add(say{slug: "unknown-alias-in-flow", severity: finding.Error, at: at, because: sentence(p.Why), leads: "The operator refuses the resource.", fixes: s.advice("%s", sentence(p.Next))})
		case strings.HasPrefix(p.What, "two clusters are called"), strings.Contains(p.What, "stands twice"):
			at.key = "alias"
			if strings.Contains(p.What, "stands twice") {
				at.key = "spec.mirrors"
			}
			l.add(say{slug: "duplicate-key", severity: finding.Error, at: at, because: sentence(p.What + ": " + p.Why), leads: "The operator refuses the resource, or one of the two takes the place of the other.", fixes: s.advice("%s", sentence(p.Next))})
		case p.What == "no mirror" && s.resource.Get("spec", "mirrors") != nil && len(s.resource.Get("spec", "mirrors").List()) == 0 && !s.partial[s.file]:
			f := s.resource.Get("spec").Field("mirrors")
			l.add(say{slug: "strimzi-missing-field", severity: finding.Warning, at: place{s.file, f.Line, f.Column, "spec.mirrors"}, because: "spec.mirrors is empty, so that nothing is mirrored.", fixes: s.advice("Add an entry with the source and its connectors.")})
		}
	}
}

// columnsOf gives the column of the first field of each line.
func columnsOf(n *confdoc.Node) map[int]int {
	out := map[int]int{}
	n.Walk(func(_ []string, f confdoc.Field) {
		if out[f.Line] == 0 {
			out[f.Line] = f.Column
		}
	})
	return out
}
