package lint

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// Stored judges the settings that MirrorMaker 2 itself stored, else those that a snapshot keeps of a file, where no text was read. Only rules about what is in force can be: which
// keys somebody wrote, and how, is not known any more.
func Stored(flows []snapshot.Flow, v mm2.Version) []finding.Finding {
	l := read(nil, Options{Version: v})
	var cs []conf.Connector
	mode := connect
	for _, f := range flows {
		run, st := f.Running.Get()
		if st != snapshot.Known {
			if run, st = f.Configured.Get(); st != snapshot.Known || !run.Enabled {
				continue
			}
		}
		if f.Mode == "dedicated" || f.Mode == "discovered" {
			mode = dedicated
		}
		for _, x := range []struct {
			class string
			of    []snapshot.ConfigEntry
		}{{"MirrorSourceConnector", run.Source}, {"MirrorCheckpointConnector", run.Checkpoint}} {
			if len(x.of) > 0 {
				cs = append(cs, storedConnector(f, x.class, x.of))
			}
		}
	}
	if len(cs) == 0 {
		return nil
	}
	s := &setup{Setup: conf.ResolveConnectors(cs, v), mode: mode, version: v, partial: map[string]bool{}}
	for _, f := range s.Flows {
		s.flows = append(s.flows, &flow{Flow: f, in: s, at: map[conf.Reader]place{}})
	}
	l.setups = append(l.setups, s)
	for _, f := range s.flows {
		l.refreshing(f)
		l.lostDefaults(f)
	}
	l.together()
	for i := range l.out {
		f := &l.out[i]
		if at := &f.Subject; at.Line == 0 {
			*at = finding.Subject{Connector: at.File, Key: at.Key}
		}
		f.Subjects, f.SubjectCount = nil, 1
		for j := range f.Fixes {
			f.Fixes[j].Steps = nil
		}
	}
	return l.findings()
}

// storedConnector is a connector of stored settings; in the place of its file stands its name.
func storedConnector(f snapshot.Flow, class string, entries []snapshot.ConfigEntry) conf.Connector {
	name := map[string]string{"MirrorSourceConnector": f.SourceConnector, "MirrorCheckpointConnector": f.CheckpointConnector}[class]
	if name == "" {
		name = class
	}
	n := &confdoc.Node{Kind: confdoc.Map}
	file := name
	put := func(key, value string, e snapshot.ConfigEntry) {
		if e.File != "" {
			file = e.File
		}
		n.Fields = append(n.Fields, confdoc.Field{Key: key, Line: e.Line, Column: e.Column, Value: &confdoc.Node{Kind: confdoc.String, Value: value}})
	}
	put("connector.class", "org.apache.kafka.connect.mirror."+class, snapshot.ConfigEntry{})
	put("source.cluster.alias", f.Source, snapshot.ConfigEntry{})
	put("target.cluster.alias", f.Target, snapshot.ConfigEntry{})
	for _, e := range entries {
		if !e.Default && !e.Hidden && !strings.HasPrefix(e.Key, "source.cluster.alias") && !strings.HasPrefix(e.Key, "target.cluster.alias") {
			put(e.Key, e.Value, e)
		}
	}
	r := conf.Source
	if class == "MirrorCheckpointConnector" {
		r = conf.Checkpoint
	}
	return conf.Connector{Reader: r, Name: name, File: file, Config: n}
}
