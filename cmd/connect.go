package cmd

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/security"
)

// fromConnect takes flows and clusters from the connectors of a Connect cluster: asked by REST, or as JSON files hold them.
func (o *diagnoseOptions) fromConnect(ctx context.Context, s *session, l *loaded) error {
	ms := l.jsons
	var worker collect.ConnectWorker
	if len(o.ConnectURL) > 0 {
		hc, err := o.connectHTTP()
		if err != nil {
			return err
		}
		s.request.Connect = &collect.Connect{URLs: o.ConnectURL, HTTP: hc}
		if worker, err = s.request.Connect.Worker(ctx); err == nil {
			ms, err = s.request.Connect.Connectors(ctx)
		}
		if err != nil {
			return &exitError{exitIncomplete, err}
		}
	}
	if len(l.texts) == len(l.workers) {
		s.remarks = connectorRemarks(ms, worker, l)
	}
	flows := connectFlows(l, ms, worker)
	if len(flows) == 0 {
		s.request.Unresolved = []snapshot.Problem{noConnectors(l, ms, worker)}
		return nil
	}
	clusters := map[string]bool{}
	for _, f := range flows {
		if len(l.jsons) > 0 || len(l.workers) == 1 {
			cs := collect.ConnectFlow(f.Source, f.Target, l.jsons, l.version).Running.Or(snapshot.Connectors{})
			cs.Enabled = true
			if len(l.workers) == 1 { // of several it is not known which one runs the flow
				cs.Worker = collect.WorkerEntries(l.workers[0].Name, l.workers[0].Bytes)
			}
			f.Configured = snapshot.Is(cs)
		}
		s.request.Flows = append(s.request.Flows, f)
		for _, end := range []struct {
			alias, prefix, flag, config string
			given                       []string
		}{{f.Source, "source.cluster.", "--source", o.SourceConfig, o.Source}, {f.Target, "target.cluster.", "--target", o.TargetConfig, o.Target}} {
			if clusters[end.alias] {
				continue
			}
			clusters[end.alias] = true
			cl, err := o.connectCluster(s, l, ms, f, end.alias, end.prefix, end.flag, end.config, end.given)
			if err != nil {
				return err
			}
			s.request.Clusters = append(s.request.Clusters, cl)
		}
	}
	return nil
}

// connectHTTP is a client with the TLS settings of --connect-config and the patience of --timeout. Addresses are checked.
func (o *diagnoseOptions) connectHTTP() (*http.Client, error) {
	for _, text := range o.ConnectURL {
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, usage("--connect-url: not the address of a Connect worker; write http://HOST:8083 or https://HOST:8443")
		}
	}
	timeout := min(o.Timeout, collect.RESTTimeout)
	if o.ConnectConf == "" {
		return &http.Client{Timeout: timeout}, nil
	}
	props, err := clientProperties(o.ConnectConf)
	if err != nil {
		return nil, err
	}
	cfg, err := security.ClientTLS(props)
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("--connect-config: %w", err)}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = cfg
	return &http.Client{Transport: t, Timeout: timeout}, nil
}

// connectFlows lists the flows that the connectors make, those of --flow when given.
func connectFlows(l *loaded, ms []collect.MirrorConnector, w collect.ConnectWorker) []snapshot.Flow {
	var out []snapshot.Flow
	for _, m := range ms {
		name := m.Source() + "->" + m.Target()
		if m.Class == "MirrorHeartbeatConnector" || m.Source() == "" || len(l.flows) > 0 && !slices.Contains(l.flows, name) {
			continue
		}
		if slices.ContainsFunc(out, func(f snapshot.Flow) bool { return f.Name() == name }) {
			continue
		}
		f := collect.ConnectFlow(m.Source(), m.Target(), ms, l.version)
		f.ConnectURL, f.WorkerVersion, f.WorkerCluster, f.File = w.URL, w.Version, w.ClusterID, l.file
		out = append(out, f)
	}
	return out
}

func noConnectors(l *loaded, ms []collect.MirrorConnector, w collect.ConnectWorker) snapshot.Problem {
	where := "the given JSON"
	if w.URL != "" {
		where = "the Connect cluster at " + w.URL
	}
	p := snapshot.Problem{Code: 5, Slug: "flow-not-found", Mode: "connect", Because: where + " has no MirrorMaker 2 connector", Fix: "Name the Connect cluster that runs MirrorSourceConnector and MirrorCheckpointConnector."}
	if len(ms) > 0 {
		var names []string
		for _, m := range ms {
			names = append(names, m.Source()+"->"+m.Target())
		}
		slices.Sort(names)
		p.Because = fmt.Sprintf("%s has no flow %s; it has %s", where, strings.Join(l.flows, ", "), strings.Join(slices.Compact(names), ", "))
		p.Fix = "Name one of these flows with --flow."
	}
	return p
}

// connectCluster connects to one end as the connectors do: by source.cluster.* or target.cluster.* of any of them.
func (o *diagnoseOptions) connectCluster(s *session, l *loaded, ms []collect.MirrorConnector, f snapshot.Flow, alias, prefix, flag, config string, given []string) (collect.Cluster, error) {
	_, addrs, err := addresses(flag, given)
	if err != nil {
		return collect.Cluster{}, err
	}
	var props []security.Entry
	for _, m := range ms {
		if m.Source() != f.Source || m.Target() != f.Target {
			continue
		}
		for k, v := range m.Properties {
			key, ok := strings.CutPrefix(k, prefix)
			switch {
			case !ok:
			case key == "bootstrap.servers" && len(addrs) == 0:
				for a := range strings.SplitSeq(v, ",") {
					addrs = append(addrs, strings.TrimSpace(a))
				}
			default:
				props = append(props, security.Entry{Key: key, Value: v, Origin: "connector " + m.Name + ", " + k})
			}
		}
		if len(addrs) > 0 {
			break
		}
	}
	if len(addrs) == 0 {
		return collect.Cluster{}, usage("no connector of %s has %sbootstrap.servers; give the address with %s HOST:PORT", f.Name(), prefix, flag)
	}
	for _, a := range addrs {
		if err := hostPort(a); err != nil {
			return collect.Cluster{}, usage("%sbootstrap.servers of %s: %v", prefix, f.Name(), err)
		}
	}
	return o.open(s, l, alias, addrs, props, config)
}
