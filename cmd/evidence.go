package cmd

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	logs "github.com/mm2doctor/mm2doctor/diagnose/evidence"
	"github.com/mm2doctor/mm2doctor/diagnose/lint"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// evidence are the flags that every command about two clusters shares.
type evidence struct {
	Files        []string
	Source       []string
	Target       []string
	SourceConfig string
	TargetConfig string
	Flows        []string
	Groups       []string
	Topics       []string
	MM2Version   string
	Timeout      time.Duration
	Resolve      []string
	ConnectURL   []string
	ConnectConf  string
}

const defaultTimeout = 60 * time.Second

func (e *evidence) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&e.Source, "source", nil, "source cluster: [ALIAS=]HOST:PORT, repeatable")
	f.StringArrayVar(&e.Target, "target", nil, "target cluster: [ALIAS=]HOST:PORT, repeatable")
	f.StringVar(&e.SourceConfig, "source-config", "", "Kafka client properties for the source, as --command-config of Kafka's tools")
	f.StringVar(&e.TargetConfig, "target-config", "", "Kafka client properties for the target")
	f.StringArrayVar(&e.Flows, "flow", nil, "flow a:b (or 'a->b'), repeatable; default: all enabled ones")
	f.StringArrayVar(&e.Groups, "group", nil, "group: a name, a glob, or /java regex/; repeatable")
	f.StringArrayVar(&e.Topics, "topic", nil, "topic by its name on the source: a name, a glob, or /java regex/; repeatable")
	f.StringVar(&e.MM2Version, "mm2-version", "", "version of MirrorMaker 2: 3.9.1, a vendor's build (7.6.1-ccs, 3.7.0.redhat-00007), or an image (strimzi/kafka:0.45.0-kafka-3.9.0)")
	f.DurationVar(&e.Timeout, "timeout", defaultTimeout, "give up after this long without progress")
	f.StringArrayVar(&e.ConnectURL, "connect-url", nil, "REST address of a Connect worker that runs MirrorMaker 2: http[s]://[USER:PASSWORD@]HOST:8083; repeatable, tried in turn")
	f.StringVar(&e.ConnectConf, "connect-config", "", "properties for TLS to the Connect workers: ssl.truststore.*, ssl.keystore.* (PEM), ssl.endpoint.identification.algorithm")
	f.StringArrayVar(&e.Resolve, "resolve", nil, "HOST:PORT=HOST:PORT: dial the second where brokers advertise the first; repeatable")
}

// loaded is the evidence after its files were read, before anything was dialled.
type loaded struct {
	snapshot *snapshot.Snapshot // from a bundle
	setup    *conf.Setup        // from an mm2.properties
	file     string
	jsons    []collect.MirrorConnector // from connector JSON
	strimzi  []*conf.Setup             // from KafkaMirrorMaker2 resources; setup holds them together in the end
	claimed  string                    // --mm2-version
	version  mm2.Version               // where that is one release, or one line of them
	flows    []string                  // --flow, as a->b
	resolve  map[string]string
	logs     []*logs.Log // MirrorMaker 2's log files
	texts    []lint.File // the configurations among them
	workers  []lint.File // files of Connect workers, which are among texts too
}

func (e *evidence) load(stdin io.Reader) (*loaded, error) {
	l := &loaded{resolve: map[string]string{}}
	var err error
	if l.version, err = claimedVersion(e.MM2Version); err != nil {
		return nil, err
	}
	l.claimed = strings.TrimSpace(e.MM2Version)
	if e.Timeout <= 0 {
		return nil, usage("--timeout %s: must be longer than zero", e.Timeout)
	}
	for _, f := range e.Flows {
		name, err := flowName(f)
		if err != nil {
			return nil, err
		}
		l.flows = append(l.flows, name)
	}
	for _, r := range e.Resolve {
		from, to, ok := strings.Cut(r, "=")
		if !ok || hostPort(from) != nil || hostPort(to) != nil {
			return nil, usage("--resolve %s: must be HOST:PORT=HOST:PORT", r)
		}
		l.resolve[from] = to
	}
	for _, name := range e.Files {
		if err := l.file1(name, stdin); err != nil {
			return nil, err
		}
	}
	return l, l.putTogether()
}

// claimedVersion reads --mm2-version: the release that settings and names are resolved by. The report's judgement goes by the
// whole range of a vendor's build.
func claimedVersion(text string) (mm2.Version, error) {
	if text == "" {
		return mm2.Version{}, nil
	}
	b, err := mm2.ParseBuild(text)
	switch v, exact := b.Exact(); {
	case err != nil:
		return v, usage("--mm2-version %s: %v", text, err)
	case exact && v.WasNeverReleased():
		return v, usage("--mm2-version %s: this version was never released; look at the jar connect-mirror-*.jar for the right one", text)
	}
	return mm2.ReleaseOf(text), nil
}

// flowName accepts a:b and a->b. A shell that took the rest after > leaves a value that ends in "-".
func flowName(s string) (string, error) {
	if a, b, ok := strings.Cut(s, "->"); ok && a != "" && b != "" {
		return s, nil
	}
	if strings.HasSuffix(s, "-") {
		return "", usage("--flow %s: the shell took the rest of the value for a redirection; quote it ('a->b') or write a:b", s)
	}
	if a, b, ok := strings.Cut(s, ":"); ok && a != "" && b != "" && !strings.Contains(b, ":") {
		return a + "->" + b, nil
	}
	return "", usage("--flow %s: must be SOURCE:TARGET, the two aliases", s)
}

// maxFile bounds a snapshot, maxConfig any other file that is held whole: Kubernetes stores no resource above 1.5 MiB.
const (
	maxFile   = 256 << 20
	maxConfig = 16 << 20
)

// headSize is how much of a file decides what it is.
const headSize = 64 << 10

func (l *loaded) file1(name string, stdin io.Reader) error {
	in := stdin
	if name != "-" {
		fi, err := os.Stat(name)
		if err == nil && fi.IsDir() {
			return usage("%s: is a directory; name the file", name)
		}
		f, err := os.Open(name)
		if err != nil {
			return usage("%v; name a readable mm2.properties, a captured snapshot or a log", err)
		}
		defer f.Close()
		in = f
	}
	r := bufio.NewReaderSize(in, headSize)
	if head, _ := r.Peek(headSize); logs.IsLog(head) {
		log, err := logs.ReadLog(name, r) // may be long: never whole in memory
		if err != nil {
			return &exitError{exitUsage, err}
		}
		l.logs = append(l.logs, log)
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return usage("%v; name a readable mm2.properties, a captured snapshot or a log", err)
	case len(b) > maxFile:
		return usage("%s: is larger than %d MiB, which no snapshot may be; capture again with --flow, --group or --topic", name, maxFile>>20)
	case len(b) > maxConfig && !bundle.Is(b):
		return usage("%s: is larger than %d MiB, which no configuration is; give the configuration of MirrorMaker 2 alone", name, maxConfig>>20)
	}
	if bundle.Is(b) {
		if l.snapshot != nil || l.setup != nil || len(l.strimzi) > 0 {
			return usage("%s: only one configuration or snapshot can be diagnosed at a time", name)
		}
		if l.snapshot, err = bundle.Read(name, strings.NewReader(string(b))); err != nil {
			return &exitError{exitUsage, err}
		}
		l.file = name
		return nil
	}
	l.texts = append(l.texts, lint.File{Name: name, Bytes: b})
	if lint.Worker(b) { // beside connectors; by itself it names no flow
		l.workers = append(l.workers, lint.File{Name: name, Bytes: b})
		return nil
	}
	if k := confdoc.Sniff(b); k == confdoc.KindJSON || k == confdoc.KindYAML {
		return l.tree(name, b, k)
	}
	if l.setup != nil || l.snapshot != nil || len(l.strimzi) > 0 {
		return usage("%s: only one configuration or snapshot can be diagnosed at a time, and %s is one already; if it is meant as a log, its lines need a time and a level, as log4j writes them", name, l.file)
	}
	if l.setup, err = conf.Parse(name, b, l.version); l.setup == nil {
		return &exitError{exitUsage, err}
	}
	l.file = name
	return nil
}

// hostPort checks an address.
func hostPort(s string) error {
	h, p, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q has no port: write HOST:PORT", s)
	}
	if h == "" || p == "" {
		return fmt.Errorf("%q: write HOST:PORT", s)
	}
	if _, err := net.LookupPort("tcp", p); err != nil {
		return fmt.Errorf("%q: the port is no number from 1 to 65535", s)
	}
	return nil
}

// addresses reads --source or --target values: [ALIAS=]HOST:PORT, also comma-separated as in bootstrap.servers.
func addresses(flag string, values []string) (alias string, addrs []string, err error) {
	for _, v := range values {
		if a, rest, ok := strings.Cut(v, "="); ok {
			if alias != "" && alias != a {
				return "", nil, usage("%s: two aliases, %s and %s; all addresses belong to one cluster", flag, alias, a)
			}
			alias, v = a, rest
		}
		for one := range strings.SplitSeq(v, ",") {
			one = strings.TrimSpace(one)
			if err := hostPort(one); err != nil {
				return "", nil, usage("%s: %v", flag, err)
			}
			addrs = append(addrs, one)
		}
	}
	return alias, addrs, nil
}
