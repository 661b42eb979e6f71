package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	logs "github.com/mm2doctor/mm2doctor/diagnose/evidence"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
	"github.com/mm2doctor/mm2doctor/internal/security"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// session answers "what stands there now": from a bundle once, from live clusters as often as asked.
type session struct {
	bundle   *snapshot.Snapshot
	request  collect.Request
	progress func(string)
	clients  []*wire.Client
	configs  map[string]wire.Config // by alias, for further connections
	logs     []*logs.Log
	remarks  snapshot.Fact[[]snapshot.Remark] // of the rules of check
}

func (s *session) live() bool { return s.bundle == nil }

func (s *session) read(ctx context.Context) (*snapshot.Snapshot, error) {
	if s.bundle != nil {
		return s.bundle, nil
	}
	snap := collect.Run(ctx, s.request)
	addLogs(snap, s.logs)
	snap.Remarks = s.remarks
	return snap, ctx.Err()
}

// addLogs gives each flow what the log files say of it.
func addLogs(snap *snapshot.Snapshot, files []*logs.Log) {
	for i := range snap.Flows {
		f := &snap.Flows[i]
		if l, ok := logs.Of(files, f.Name(), f.SourceConnector, f.CheckpointConnector); ok {
			f.Log = snapshot.Is(l)
		}
	}
}

// again takes another look and keeps the one before.
func (s *session) again(ctx context.Context, before *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	snap, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	b := *before
	b.Earlier = nil
	snap.Earlier = &b
	return snap, nil
}

func (s *session) close() {
	for _, c := range s.clients {
		c.Close()
	}
}

// look turns the evidence into a session.
func (o *diagnoseOptions) look(ctx context.Context) (*session, error) {
	l, err := o.load(o.streams.In)
	if err != nil {
		return nil, err
	}
	s := &session{progress: progressTo(o.streams, o.Quiet)}
	if s.request.Want, err = wanted("--group", o.Groups); err != nil {
		return nil, err
	}
	if _, err := wanted("--topic", o.Topics); err != nil {
		return nil, err
	}
	if l.snapshot != nil {
		if len(o.Source)+len(o.Target) > 0 {
			return nil, usage("%s is a snapshot: it is diagnosed as it is, without --source and --target", l.file)
		}
		s.bundle = o.narrow(l)
		s.bundle.Flows = slices.Clone(s.bundle.Flows)
		addLogs(s.bundle, l.logs)
		return s, nil
	}
	if o.Offline {
		return nil, usage("--offline needs a captured snapshot; make one with: mm2doctor capture FILE mm2.properties")
	}
	return s, o.prepare(ctx, s, l)
}

// prepare turns evidence about live clusters into what the collector is asked for.
func (o *diagnoseOptions) prepare(ctx context.Context, s *session, l *loaded) (err error) {
	s.logs = l.logs
	s.remarks = remarksOf(l.texts, l)
	s.request = collect.Request{Want: s.request.Want, MM2Version: l.claimed, Tool: "mm2doctor " + version, Now: o.now, Progress: s.progress,
		Scope: snapshot.Scope{Flows: l.flows, Groups: o.Groups, Topics: o.Topics, MaxReread: o.MaxReread}, Literal: literals(o.Groups)}
	if l.claimed == "" && l.setup != nil {
		s.request.MM2Version = l.setup.Claimed
	}
	if o.MM2Version == "" && s.request.MM2Version != "" {
		s.request.MM2VersionFrom = "the resource in " + l.file
	}
	if o.ConnectConf != "" && len(o.ConnectURL) == 0 {
		return usage("--connect-config is for --connect-url, which is missing; add --connect-url https://HOST:8443")
	}
	switch {
	case len(l.strimzi) > 0 && len(l.jsons) > 0:
		return usage("%s: give the KafkaMirrorMaker2 resource or connector JSON, not both: the operator makes the connectors from the resource", l.file)
	case len(l.strimzi) > 0:
		if err = o.fromSetup(s, l); err == nil && len(o.ConnectURL) > 0 {
			hc, err := o.connectHTTP()
			if err != nil {
				return err
			}
			s.request.Connect = &collect.Connect{URLs: o.ConnectURL, HTTP: hc}
		}
	case len(l.workers) > 0 && (l.setup != nil || len(o.ConnectURL)+len(l.jsons) == 0):
		return usage("%s is the file of a Connect worker, which names no flow: give it beside the JSON of the connectors that it runs, or --connect-url", l.workers[0].Name)
	case l.setup != nil && len(o.ConnectURL)+len(l.jsons) > 0:
		return usage("%s is the file of a dedicated MirrorMaker 2, which has no Connect worker to ask; leave out one of the two", l.file)
	case l.setup != nil:
		err = o.fromSetup(s, l)
	case len(o.ConnectURL)+len(l.jsons) > 0:
		err = o.fromConnect(ctx, s, l)
	default:
		err = o.fromAddresses(ctx, s, l)
	}
	return err
}

// narrow applies the scope flags to a bundle.
func (o *diagnoseOptions) narrow(l *loaded) *snapshot.Snapshot {
	s := *l.snapshot
	if len(o.Groups) > 0 {
		s.Scope.Groups = o.Groups
	}
	if len(o.Topics) > 0 {
		s.Scope.Topics = o.Topics
	}
	if o.MaxReread > 0 {
		s.Scope.MaxReread = o.MaxReread
	}
	if l.claimed != "" {
		s.MM2Version, s.MM2VersionFrom = l.claimed, ""
	}
	if len(l.flows) > 0 {
		s.Scope.Flows = l.flows
		var all []string
		for i := range s.Flows {
			all = append(all, s.Flows[i].Name())
		}
		for _, name := range l.flows {
			if !slices.Contains(all, name) {
				s.Unresolved = append(slices.Clone(s.Unresolved), snapshot.Problem{Code: 5, Slug: "flow-not-found", Flow: name, Because: fmt.Sprintf("the snapshot %s holds no flow %s; it holds %s", l.file, name, cmp.Or(strings.Join(all, ", "), "none")),
					Fix: "Name one of its flows with --flow, or capture again from a configuration that has this flow."})
			}
		}
		s.Flows = slices.DeleteFunc(slices.Clone(s.Flows), func(f snapshot.Flow) bool { return !slices.Contains(l.flows, f.Name()) })
	}
	return &s
}

func literals(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		if diagnose.Literal(p) {
			out = append(out, p)
		}
	}
	return out
}

func wanted(flag string, patterns []string) (func(string) bool, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	if slices.Contains(patterns, "") {
		return nil, usage("%s: an empty value matches nothing; give a name, a glob, or /java regex/", flag)
	}
	m, err := diagnose.Matcher(patterns)
	if err != nil {
		return nil, usage("%s: %v; give a name, a glob, or /java regex/", flag, err)
	}
	return m, nil
}

// fromSetup takes clusters and flows from a resolved mm2.properties; --source and --target override the addresses of one flow.
func (o *diagnoseOptions) fromSetup(s *session, l *loaded) error {
	flows, problem, err := chosenFlows(l)
	if err != nil {
		return err
	}
	if problem != nil {
		s.request.Unresolved = append(s.request.Unresolved, *problem)
	}
	if len(o.Source)+len(o.Target) > 0 && len(flows) != 1 {
		return usage("--source and --target beside %s need one flow: add --flow", l.file)
	}
	over := map[string][]string{}
	for _, f := range flows {
		for _, x := range []struct {
			flag, alias string
			values      []string
		}{{"--source", f.Source, o.Source}, {"--target", f.Target, o.Target}} {
			alias, addrs, err := addresses(x.flag, x.values)
			if err != nil {
				return err
			}
			if alias != "" && alias != x.alias {
				return usage("%s %s: the alias in flow %s is %s; leave the alias out, or choose another flow with --flow", x.flag, x.values[0], f.Name(), x.alias)
			}
			if len(addrs) > 0 {
				over[x.alias] = addrs
			}
		}
	}
	for _, f := range l.setup.Enabled() {
		if !slices.Contains(flows, f) {
			s.request.Others = append(s.request.Others, collect.FromConf(f, l.file))
		}
	}
	var aliases []string
	for _, f := range flows {
		cf := collect.FromConf(f, l.file)
		cf.Principal = collect.Principals(l.setup, f)
		s.request.Flows = append(s.request.Flows, cf)
		aliases = append(aliases, f.Source, f.Target)
	}
	slices.Sort(aliases)
	for _, a := range slices.Compact(aliases) {
		file, flag := "", "--target-config"
		for _, f := range flows {
			if a == f.Source {
				file, flag = cmp.Or(o.SourceConfig, file), "--source-config"
			}
			if a == f.Target {
				file = cmp.Or(o.TargetConfig, file)
			}
		}
		if err := inSecrets(l, a, flag); err != nil && file == "" {
			return err
		}
		cl, err := o.clusterOf(s, l, a, over[a], file)
		if err != nil {
			return err
		}
		s.request.Clusters = append(s.request.Clusters, cl)
	}
	return nil
}

// chosenFlows are the enabled flows, or those that --flow names; a named one that is not enabled is diagnosed as a problem.
func chosenFlows(l *loaded) ([]*conf.Flow, *snapshot.Problem, error) {
	if len(l.flows) == 0 {
		flows := l.setup.Enabled()
		if len(flows) == 0 {
			out := &snapshot.Problem{Code: 5, Slug: "flow-not-enabled", Because: "no flow is enabled in " + l.file, Fix: "Enable the flow: " + anyFlow(l.setup) + ".enabled = true"}
			if len(l.strimzi) > 0 {
				out.Mode, out.Fix = "strimzi", "Add a mirror with a sourceConnector and a checkpointConnector to spec.mirrors."
			}
			if n := len(l.setup.Problems); n > 0 { // the last one is about the flows, where there is one
				p := l.setup.Problems[n-1]
				out.Because, out.Fix = p.Error(), p.Next
			}
			return nil, out, nil
		}
		return flows, nil, nil
	}
	var out []*conf.Flow
	for _, name := range l.flows {
		f, ok := l.setup.Flow(name)
		switch {
		case !ok:
			var all []string
			for _, x := range l.setup.Flows {
				all = append(all, x.Name())
			}
			if len(l.strimzi) > 0 {
				return nil, &snapshot.Problem{Code: 5, Slug: "alias-unknown", Mode: "strimzi", Flow: name, Because: fmt.Sprintf("%s has no flow %s; its mirrors make %s", l.file, name, strings.Join(all, ", ")), Fix: "Name one of these flows with --flow, or add the mirror to spec.mirrors."}, nil
			}
			return nil, &snapshot.Problem{Code: 5, Slug: "alias-unknown", Flow: name, Because: fmt.Sprintf("%s has no flow %s; its clusters make %s", l.file, name, strings.Join(all, ", ")), Fix: "Name one of these flows, or correct `clusters`."}, nil
		case !f.Enabled && f.Mirror != nil:
			at := fmt.Sprintf("spec.mirrors[%d]", f.Mirror.Index)
			return nil, &snapshot.Problem{Code: 5, Slug: "flow-not-enabled", Mode: "strimzi", Flow: name, Because: fmt.Sprintf("%s of %s has neither a sourceConnector nor a checkpointConnector, so that nothing of %s runs", at, l.file, name), Fix: "Add sourceConnector and checkpointConnector to " + at + "."}, nil
		case !f.Enabled:
			return nil, &snapshot.Problem{Code: 5, Slug: "flow-not-enabled", Flow: name, Because: fmt.Sprintf("%s is not enabled in %s; in dedicated mode a flow runs only with %s.enabled = true", name, l.file, name), Fix: name + ".enabled = true", File: l.file, Key: name + ".enabled", Value: "true"}, nil
		}
		out = append(out, f)
	}
	return out, nil, nil
}

func anyFlow(s *conf.Setup) string {
	if len(s.Flows) > 0 {
		return s.Flows[0].Name()
	}
	return "SOURCE->TARGET"
}

// clusterOf opens one cluster of a configuration: with MirrorMaker 2's own client settings, or those of a given file.
func (o *diagnoseOptions) clusterOf(s *session, l *loaded, alias string, addrs []string, file string) (collect.Cluster, error) {
	entries, _ := l.setup.Client(alias)
	var props []security.Entry
	for _, e := range entries {
		if e.Key == "bootstrap.servers" {
			if len(addrs) == 0 {
				for a := range strings.SplitSeq(e.Value, ",") {
					if a = strings.TrimSpace(a); a != "" {
						if err := hostPort(a); err != nil {
							return collect.Cluster{}, usage("%s: bootstrap.servers of %s: %v", e.Where(), alias, err)
						}
						addrs = append(addrs, a)
					}
				}
			}
			continue
		}
		props = append(props, security.Entry{Key: e.Key, Value: e.Value, Origin: e.Where()})
	}
	if len(addrs) == 0 && len(l.strimzi) > 0 {
		return collect.Cluster{}, usage("%s: cluster %s has no bootstrapServers; add it", l.file, alias)
	}
	if len(addrs) == 0 {
		return collect.Cluster{}, usage("%s: cluster %s has no %s.bootstrap.servers; add it", l.file, alias, alias)
	}
	return o.open(s, l, alias, addrs, props, file)
}

// open makes the client; it does not dial.
func (o *diagnoseOptions) open(s *session, l *loaded, alias string, addrs []string, props []security.Entry, file string) (collect.Cluster, error) {
	if file != "" {
		var err error
		if props, err = clientProperties(file); err != nil {
			return collect.Cluster{}, err
		}
	}
	set, err := security.FromEntries(props)
	if err != nil {
		return collect.Cluster{}, &exitError{exitUsage, fmt.Errorf("cluster %s: %w", alias, err)}
	}
	cfg := wire.Config{Bootstrap: addrs, TLS: set.TLS, SASL: set.SASL, Timeout: o.Timeout, Alias: alias, Resolve: l.resolve}
	c, err := wire.Open(cfg)
	if err != nil {
		return collect.Cluster{}, &exitError{exitUsage, err}
	}
	s.clients = append(s.clients, c)
	if s.configs == nil {
		s.configs = map[string]wire.Config{}
	}
	s.configs[alias] = cfg
	return collect.Cluster{Alias: alias, Bootstrap: addrs, CommandConfig: file, Client: c, Login: set.Login()}, nil
}

// clientProperties reads a Kafka client properties file.
func clientProperties(file string) ([]security.Entry, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("%v; name a file of Kafka client properties", err)
	}
	p, diags := confdoc.ParseProperties(file, b)
	if err := confdoc.Fatal(diags); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	var out []security.Entry
	for _, e := range p.Effective() {
		out = append(out, security.Entry{Key: e.Key, Value: e.Value, Origin: fmt.Sprintf("%s:%d", file, e.Line)})
	}
	return out, nil
}

// fromAddresses finds the flows from the clusters' own topics.
func (o *diagnoseOptions) fromAddresses(ctx context.Context, s *session, l *loaded) error {
	if len(o.Source) == 0 || len(o.Target) == 0 {
		return usage("nothing to read: give an mm2.properties, or --source HOST:PORT and --target HOST:PORT")
	}
	sa, saddrs, err := addresses("--source", o.Source)
	if err != nil {
		return err
	}
	ta, taddrs, err := addresses("--target", o.Target)
	if err != nil {
		return err
	}
	if len(l.flows) == 1 {
		a, b, _ := strings.Cut(l.flows[0], "->")
		sa, ta = orAlias(sa, a), orAlias(ta, b)
	}
	src, err := o.open(s, l, orAlias(sa, "source"), saddrs, nil, o.SourceConfig)
	if err != nil {
		return err
	}
	dst, err := o.open(s, l, orAlias(ta, "target"), taddrs, nil, o.TargetConfig)
	if err != nil {
		return err
	}
	s.progress("finding flows")
	if src.Client.Contact(ctx) == nil && dst.Client.Contact(ctx) == nil {
		found, err := collect.Discover(ctx, collect.Pair{Source: src.Client, Target: dst.Client, SourceAlias: sa, TargetAlias: ta})
		if err == nil {
			src.Alias, dst.Alias = found.SourceAlias, found.TargetAlias
			s.request.Flows, s.request.Unresolved, s.request.Gaps = found.Flows, found.Problems, found.Gaps
		}
	}
	if src.Alias == dst.Alias {
		src.Alias, dst.Alias = "source", "target"
	}
	s.name(src.Alias, orAlias(sa, "source"), dst.Alias, orAlias(ta, "target"))
	s.request.Clusters = []collect.Cluster{src, dst}
	return ctx.Err()
}

// name keeps the connections' settings under the aliases that were found.
func (s *session) name(source, sourceWas, target, targetWas string) {
	a, b := s.configs[sourceWas], s.configs[targetWas]
	a.Alias, b.Alias = source, target
	s.configs = map[string]wire.Config{source: a, target: b}
}

func orAlias(a, d string) string {
	if a == "" {
		return d
	}
	return a
}

// stepsTo is progressTo for steps that are few and may take long: without a terminal each is a line of its own, as a log wants it.
func stepsTo(st *term.Streams, quiet bool, rewriting func(string)) func(string) {
	if quiet || st.ErrScreen().TTY {
		return rewriting
	}
	return func(s string) { fmt.Fprintln(st.Err, s) }
}

// progressTo writes what is being read: one line that rewrites itself on a terminal, nothing elsewhere.
func progressTo(st *term.Streams, quiet bool) func(string) {
	screen := st.ErrScreen()
	if quiet || !screen.TTY {
		return func(string) {}
	}
	start := time.Now()
	return func(s string) {
		if time.Since(start) > 300*time.Millisecond {
			fmt.Fprintf(st.Err, "\r\x1b[K%s ...", s)
		}
	}
}
