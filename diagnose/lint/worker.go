package lint

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// Worker says that a text is the file of a Connect worker, as connect-distributed takes it. It is judged together with the connectors that
// the worker runs, and not by itself.
func Worker(b []byte) bool {
	if !bytes.Contains(b, []byte("config.storage.topic")) || kindOf(b) != confdoc.KindProperties || Recognised(b) {
		return false
	}
	p, _ := confdoc.ParseProperties("", b)
	return p.Value("group.id") != "" && p.Value("config.storage.topic") != "" && p.Value("bootstrap.servers") != ""
}

// workerFile is one such file.
type workerFile struct {
	file  string
	props *confdoc.Properties
}

func (w workerFile) at(key string) place {
	e, ok := w.props.Lookup(key)
	if !ok {
		return place{file: w.file, line: 1, col: 1, key: key}
	}
	return place{w.file, e.Line, e.Column, e.Key}
}

var storageTopics = []string{"offset.storage.topic", "config.storage.topic", "status.storage.topic"}

// workers judges worker files by themselves and against each other, and gives the only one to the connectors.
func (l *linter) workers(s *setup) {
	for i, w := range l.workerFiles {
		for j, key := range storageTopics {
			for _, other := range storageTopics[:j] {
				if v := strings.TrimSpace(w.props.Value(key)); v != "" && v == strings.TrimSpace(w.props.Value(other)) {
					l.add(say{slug: "worker-group-collision", severity: finding.Error, at: w.at(key), because: fmt.Sprintf("%s and %s are the same topic, %s: the worker takes its own records for faults.", other, key, v), leads: "The worker does not start, or loses connectors and offsets.",
						fixes: s.advice("Give each of the three a topic of its own."), also: []place{w.at(other)}})
				}
			}
		}
		for _, o := range l.workerFiles[:i] {
			if !sameCluster(conf.Cluster{Bootstrap: conf.Effective{Value: w.props.Value("bootstrap.servers")}}, conf.Cluster{Bootstrap: conf.Effective{Value: o.props.Value("bootstrap.servers")}}) {
				continue
			}
			if v := strings.TrimSpace(w.props.Value("group.id")); v == strings.TrimSpace(o.props.Value("group.id")) {
				continue // workers of one Connect cluster
			}
			for _, key := range storageTopics {
				if v := strings.TrimSpace(w.props.Value(key)); v != "" && v == strings.TrimSpace(o.props.Value(key)) {
					l.add(say{slug: "worker-group-collision", severity: finding.Error, at: w.at(key), because: fmt.Sprintf("Workers of two groups on one cluster share %s = %s.", key, v), leads: "They overwrite each other's connectors and offsets.",
						fixes: s.advice("Give each Connect cluster topics of its own."), also: []place{o.at(key)}})
				}
			}
		}
	}
	if len(l.workerFiles) != 1 {
		return
	}
	w := l.workerFiles[0]
	s.worker = &w
	s.SetWorker(w.file, w.props)
	on := conf.Cluster{Bootstrap: conf.Effective{Value: w.props.Value("bootstrap.servers")}}
	for _, f := range s.flows {
		_, elsewhere := f.Given(conf.Source, "producer.override.bootstrap.servers")
		if elsewhere || opaque(on.Bootstrap.Value) || !sameCluster(on, s.cluster(f.Source)) || sameCluster(on, s.cluster(f.Target)) {
			continue
		}
		l.add(say{slug: "connect-cluster-not-target", severity: finding.Error, at: w.at("bootstrap.servers"), flow: f.Name(), because: fmt.Sprintf("The worker is attached to %s, the source of %s: what connectors produce, the worker writes to its own cluster.", f.Source, f.Name()), leads: "Data and checkpoints go to the wrong cluster.",
			fixes: s.advice("Run the connectors on a worker that is attached to %s.", f.Target)})
	}
}

// byWorker judges the converter that a connector leaves to the worker.
func (l *linter) byWorker(f *flow, r conf.Reader, key string) {
	e, ok := f.in.worker.props.Lookup(key)
	class := strings.TrimSpace(e.Value)
	switch {
	case !ok || opaque(class) || strings.HasSuffix(class, byteArray) || class == "ByteArray":
		return // a worker without one does not start, and says so
	}
	at := f.at[r]
	at.key = key
	l.add(say{slug: "converter-missing", severity: finding.Error, at: at, flow: f.Name(), because: fmt.Sprintf("The %s has no %s, and the worker's is %s (%s). MirrorMaker 2's records are bytes; with it they are encoded anew.", r, key, name(class), f.in.worker.at(key)),
		leads: "Data and checkpoints become unreadable.", fixes: f.set(r, key, "org.apache.kafka.connect.converters."+byteArray), also: []place{f.in.worker.at(key)}})
}
