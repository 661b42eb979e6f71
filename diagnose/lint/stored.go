package lint

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// Stored judges the settings that MirrorMaker 2 itself stored, where no text was read. Only rules about what is in force can be: which
// keys somebody wrote, and how, is not known any more.
func Stored(flows []snapshot.Flow, v mm2.Version) []finding.Finding {
	l := read(nil, Options{Version: v})
	var cs []conf.Connector
	mode := connect
	for _, f := range flows {
		run, st := f.Running.Get()
		if st != snapshot.Known {
			continue
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
		f.Subject = finding.Subject{Connector: f.Subject.File, Key: f.Subject.Key}
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
	put := func(key, value string) {
		n.Fields = append(n.Fields, confdoc.Field{Key: key, Value: &confdoc.Node{Kind: confdoc.String, Value: value}})
	}
	put("connector.class", "org.apache.kafka.connect.mirror."+class)
	put("source.cluster.alias", f.Source)
	put("target.cluster.alias", f.Target)
	for _, e := range entries {
		if !e.Default && !e.Hidden && !strings.HasPrefix(e.Key, "source.cluster.alias") && !strings.HasPrefix(e.Key, "target.cluster.alias") {
			put(e.Key, e.Value)
		}
	}
	r := conf.Source
	if class == "MirrorCheckpointConnector" {
		r = conf.Checkpoint
	}
	return conf.Connector{Reader: r, Name: name, File: name, Config: n}
}
