// Package conf turns the settings of MirrorMaker 2 into what is in force: for each flow the configuration of the three
// connectors and of the worker, each value with the place it comes from and the rule that chose it.
//
// What may enter: the precedence rules of connect-mirror-maker by release, the table of keys and defaults, typed access.
// Bytes in, values out: no files, no network. Judging a configuration is not done here.
package conf

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Effective is one value in force.
type Effective struct {
	Key     string // as the connector or worker sees it
	Value   string
	Written string // the key as it stands in the file; "" for values that stand in none
	File    string // "" for values that stand in no file
	Line    int    // of the key, from 1; 0 without a file
	Column  int    // in bytes, from 1; 0 without a file
	Rule    Rule
}

// IsDefault says that nobody wrote the value: it is a default of the release or filled in by MirrorMaker 2.
func (e Effective) IsDefault() bool { return e.File == "" }

// Where gives "file:line" of the value, or the rule where it has none.
func (e Effective) Where() string {
	if e.File == "" {
		return string(e.Rule)
	}
	return at(e.File, e.Line)
}

// Rule is why a value is in force.
type Rule string

// The rules, weakest first.
const (
	RuleDefault      Rule = "default of MirrorMaker 2"
	RuleFilledIn     Rule = "filled in by connect-mirror-maker"
	RuleBare         Rule = "key without prefix, for all flows"
	RuleBareClient   Rule = "client key without prefix, for all clusters"
	RuleProviders    Rule = "config providers"
	RulePolicy       Rule = "replication policy, for all flows"
	RuleCluster      Rule = "key of the cluster"
	RuleClusterCopy  Rule = "client key of the cluster, copied to producer, consumer and admin"
	RuleWorkerPrefix Rule = "worker key without prefix, for all flows"
	RuleFlow         Rule = "key of the flow"
)

// The rules of a KafkaMirrorMaker2 resource, weakest first.
const (
	RuleOperator        Rule = "set by the operator"
	RuleResourceCluster Rule = "config of the cluster in the resource"
	RuleConnector       Rule = "config of the connector in the resource"
	RuleMirror          Rule = "field of the mirror in the resource"
)

// settings is a configuration by key.
type settings map[string]Effective

func (s settings) put(key string, e Effective) {
	e.Key = key
	s[key] = e
}

func (s settings) putIfAbsent(key string, e Effective) {
	if _, ok := s[key]; !ok {
		s.put(key, e)
	}
}

func (s settings) sorted() []Effective {
	out := make([]Effective, 0, len(s))
	for _, e := range s {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Effective) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// Cluster is one entry of the clusters key.
type Cluster struct {
	Alias     string
	Bootstrap Effective // zero when the cluster has none
	// Secrets are the credentials that a resource keeps in Kubernetes secrets, which nobody can read from here.
	Secrets []Effective
	client  settings
}

// Flow is one ordered pair of clusters.
type Flow struct {
	Source, Target string // aliases, as in the clusters key
	// Enabled: the connectors of this flow run. Herder: connect-mirror-maker starts a worker for the pair, which it also
	// does for the heartbeats of disabled pairs.
	Enabled, Herder bool
	// Mirror is where the flow stands in a KafkaMirrorMaker2 resource; nil in dedicated mode.
	Mirror  *Mirror
	base    settings
	own     map[Reader]settings  // of the connectors that the resource has; nil in dedicated mode, where all have the same
	states  map[Reader]Effective // that the resource asks for
	worker  settings
	version mm2.Version
}

// of gives what a connector or the worker is given; false for a connector that the flow does not have.
func (f *Flow) of(r Reader) (settings, bool) {
	if r == Worker {
		return f.worker, true
	}
	if f.own == nil {
		return f.base, true
	}
	s, ok := f.own[r]
	return s, ok
}

// State gives the state that a resource asks of a connector: running, paused or stopped. False where it asks for none, which
// means running.
func (f *Flow) State(r Reader) (Effective, bool) {
	e, ok := f.states[r]
	return e, ok
}

// Has says that the flow has the connector.
func (f *Flow) Has(r Reader) bool {
	_, ok := f.of(r)
	return ok
}

// lead is the connector whose settings name the flow's topics: the one that makes checkpoints, where there is one.
func (f *Flow) lead() Reader {
	if f.own != nil && f.Has(Checkpoint) {
		return Checkpoint
	}
	return Source
}

// Name gives "a->b".
func (f *Flow) Name() string { return f.Source + "->" + f.Target }

// Setup is a resolved mm2.properties, or a resolved KafkaMirrorMaker2 resource.
type Setup struct {
	File     string
	Version  mm2.Version // zero: the newest release's rules were used
	Claimed  string      // the version as a resource states it
	Clusters []Cluster   // as listed
	Flows    []*Flow     // every ordered pair, by the order of Clusters
	Notes    []Note      // by line
	Problems []*Error    // what keeps MirrorMaker 2 from working at all
}

// Flow gives the flow by its name "a->b".
func (s *Setup) Flow(name string) (*Flow, bool) {
	i := slices.IndexFunc(s.Flows, func(f *Flow) bool { return f.Name() == name })
	if i < 0 {
		return nil, false
	}
	return s.Flows[i], true
}

// Enabled gives the flows whose connectors run.
func (s *Setup) Enabled() []*Flow {
	var out []*Flow
	for _, f := range s.Flows {
		if f.Enabled {
			out = append(out, f)
		}
	}
	return out
}

// Client gives the settings by which MirrorMaker 2's admin client reaches a cluster, by key: bootstrap.servers,
// security.protocol, sasl.*, ssl.*. What stands behind "X.admin." wins over "X." and over bare keys; "X.consumer." counts
// only where neither is set. Config provider references are left as they are (see Placeholders). False for an alias that is
// not listed.
func (s *Setup) Client(alias string) ([]Effective, bool) {
	i := slices.IndexFunc(s.Clusters, func(c Cluster) bool { return c.Alias == alias })
	if i < 0 {
		return nil, false
	}
	out := settings{}
	for _, prefix := range []string{"admin.", "", "consumer."} {
		for k, e := range s.Clusters[i].client {
			key, ok := strings.CutPrefix(k, prefix)
			if ok && IsClientKey(key, s.Version) {
				out.putIfAbsent(key, e)
			}
		}
	}
	return out.sorted(), true
}

// Note is something that whoever wrote the file probably did not mean.
type Note struct {
	Kind   NoteKind
	File   string
	Line   int
	Column int
	Key    string
	Text   string
}

// NoteKind tells notes apart.
type NoteKind string

// The kinds of notes.
const (
	DuplicateKey     NoteKind = "duplicate-key"
	UnknownAlias     NoteKind = "unknown-alias"
	DuplicateCluster NoteKind = "duplicate-cluster"
	BlankInFlow      NoteKind = "blank-in-flow"
	TextDiagnostic   NoteKind = "text"
	WorkerElsewhere  NoteKind = "worker-elsewhere"
)
