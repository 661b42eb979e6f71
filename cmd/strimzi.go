package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// tree takes a JSON or YAML text: KafkaMirrorMaker2 resources in either, or connector configurations in JSON.
func (l *loaded) tree(name string, b []byte, k confdoc.Kind) error {
	docs, err := confdoc.ParseTree(name, b)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if k == confdoc.KindYAML || conf.HoldsMirrorMaker2(docs) {
		return l.resources(name, b)
	}
	ms := collect.ConnectorTree(docs)
	if len(ms) == 0 {
		return usage("%s: this is JSON, and neither a captured snapshot nor the configuration of a MirrorMaker 2 connector (connector.class); give an mm2.properties, connector JSON, or --source and --target", name)
	}
	l.jsons, l.file = append(l.jsons, ms...), name
	return nil
}

// resources takes KafkaMirrorMaker2 resources.
func (l *loaded) resources(name string, b []byte) error {
	if l.setup != nil || l.snapshot != nil {
		return usage("%s: only one configuration or snapshot can be diagnosed at a time", name)
	}
	all, err := conf.ParseStrimzi(name, b, l.version)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	l.strimzi = append(l.strimzi, all...)
	l.file = name
	return nil
}

// putTogether makes one set-up of all resources that have a flow which is asked for.
func (l *loaded) putTogether() error {
	if len(l.strimzi) == 0 {
		return nil
	}
	wanted := slices.DeleteFunc(slices.Clone(l.strimzi), func(s *conf.Setup) bool {
		return len(l.flows) > 0 && !slices.ContainsFunc(l.flows, func(name string) bool { _, ok := s.Flow(name); return ok })
	})
	if len(wanted) == 0 {
		wanted = l.strimzi // the flow is missed later, with the names of those that are there
	}
	s, err := conf.Merge(wanted)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	l.setup = s
	if len(wanted) == 1 {
		l.file = s.File
	}
	if l.version.IsZero() {
		l.version = s.Version
	}
	return nil
}

// inSecrets says, for a cluster whose credentials stand in Kubernetes secrets, what to do.
func inSecrets(l *loaded, alias, flag string) error {
	i := slices.IndexFunc(l.setup.Clusters, func(c conf.Cluster) bool { return c.Alias == alias })
	if i < 0 || len(l.setup.Clusters[i].Secrets) == 0 {
		return nil
	}
	var what []string
	for _, e := range l.setup.Clusters[i].Secrets {
		what = append(what, fmt.Sprintf("%s at %s", e.Value, e.Where()))
	}
	return &exitError{exitUsage, errors.New("cluster " + alias + ": cannot connect with the resource alone: its credentials (" + strings.Join(what, ", ") +
		") stand in Kubernetes secrets, which are not readable here; write them into a file of Kafka client properties, as for --command-config of Kafka's tools, and give it as " + flag + " FILE")}
}
