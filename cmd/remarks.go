package cmd

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/lint"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/diagnose/suppress"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// remarksOf runs the rules of check over the configurations that were given.
func remarksOf(texts []lint.File, l *loaded) snapshot.Fact[[]snapshot.Remark] {
	if len(texts) == 0 {
		return snapshot.Fact[[]snapshot.Remark]{}
	}
	var sources []suppress.Source
	for _, t := range texts {
		sources = append(sources, suppress.Source{Name: t.Name, Text: t.Bytes})
	}
	return snapshot.Is(lint.Remarks(lint.Run(texts, lintOptions(l)), suppress.Accepted(suppress.Options{Sources: sources})))
}

func lintOptions(l *loaded) lint.Options {
	o := lint.Options{Version: l.version}
	if b, err := mm2.ParseBuild(l.claimed); err == nil && l.claimed != "" {
		o.Range = b.Range
	}
	return o
}

// connectorRemarks runs them over the connectors that a Connect cluster holds. They stand in no file: the place is the connector.
func connectorRemarks(ms []collect.MirrorConnector, w collect.ConnectWorker, l *loaded) snapshot.Fact[[]snapshot.Remark] {
	var texts []lint.File
	for _, m := range ms {
		b, err := json.Marshal(map[string]any{"name": m.Name, "config": m.Properties})
		if err != nil {
			continue
		}
		texts = append(texts, lint.File{Name: m.Name, Bytes: b})
	}
	files := map[string]bool{}
	for _, w := range l.workers {
		texts, files[w.Name] = append(texts, w), true
	}
	o := lintOptions(l)
	if o.Version.IsZero() && o.Range == (mm2.Range{}) {
		o.Version = mm2.ReleaseOf(w.Version)
	}
	found := lint.Run(texts, o)
	for i := range found {
		s := &found[i].Subject
		if files[s.File] {
			continue
		}
		found[i].Subject = finding.Subject{Connector: s.File, Key: s.Key}
		for j := range found[i].Fixes {
			for k := range found[i].Fixes[j].Steps {
				found[i].Fixes[j].Steps[k].File = ""
			}
		}
	}
	return snapshot.Is(lint.Remarks(found, func(*finding.Finding) string { return "" }))
}

// acceptance gives a run what .mm2doctor.yaml accepts, and the severities that it sets.
func (o *diagnoseOptions) acceptance(opts *diagnose.Options) error {
	s, err := readSettings(o.Settings)
	if err != nil || s == nil {
		return err
	}
	x := suppress.Options{Settings: s, Today: o.now().UTC().Format(time.DateOnly)}
	for _, name := range o.Files {
		x.Sources = append(x.Sources, suppress.Source{Name: name, Path: relative(filepath.Dir(cmp.Or(o.Settings, settingsFile)), name)})
	}
	opts.Accepted, opts.Severity = suppress.Accepted(x), s.Severities()
	return nil
}
