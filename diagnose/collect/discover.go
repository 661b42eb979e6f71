package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// Pair is two clusters of which only the addresses are known. An alias is empty where the operator gave none.
type Pair struct {
	Source, Target           *wire.Client
	SourceAlias, TargetAlias string
}

// Found is what the topics of two clusters tell of the flows between them.
type Found struct {
	Flows    []snapshot.Flow
	Problems []snapshot.Problem
	Gaps     []snapshot.Gap // why there may be flows that could not be seen
	// Aliases as found; those given stay. "source" and "target" where nothing tells.
	SourceAlias, TargetAlias string
}

var (
	checkpointsName = regexp.MustCompile(`^(.+?)([^A-Za-z0-9]{0,3})checkpoints([^A-Za-z0-9]{0,3})internal$`)
	syncsName       = regexp.MustCompile(`^mm2-offset-syncs([^A-Za-z0-9]{0,3})(.+?)([^A-Za-z0-9]{0,3})internal$`)
	configsName     = regexp.MustCompile(`^mm2-configs\.(.+)\.internal$`)
)

// side is what one cluster's topic names tell.
type side struct {
	topics      map[string]bool
	checkpoints map[string]string // alias of a source → separator
	syncs       map[string]string // alias of the other cluster → separator
	configs     map[string]bool   // alias of a source with dedicated worker topics here
}

func readSide(ctx context.Context, c *wire.Client) (side, error) {
	s := side{topics: map[string]bool{}, checkpoints: map[string]string{}, syncs: map[string]string{}, configs: map[string]bool{}}
	md, err := c.Metadata(ctx, nil)
	if err != nil {
		return s, err
	}
	for _, t := range md.Topics {
		s.topics[t.Name] = true
		if m := checkpointsName.FindStringSubmatch(t.Name); m != nil && m[2] == m[3] {
			s.checkpoints[m[1]] = m[2]
		}
		if m := syncsName.FindStringSubmatch(t.Name); m != nil && m[1] == m[3] {
			s.syncs[m[2]] = m[1]
		}
		if m := configsName.FindStringSubmatch(t.Name); m != nil {
			s.configs[m[1]] = true
		}
	}
	return s, nil
}

// Discover finds the flows from one cluster to another by their topics: the checkpoints topic and the worker topics on the
// target carry the source's alias, the offset-syncs topic carries the alias of the other cluster, heartbeats carry both.
func Discover(ctx context.Context, p Pair) (Found, error) {
	out := Found{SourceAlias: p.SourceAlias, TargetAlias: p.TargetAlias}
	src, err := readSide(ctx, p.Source)
	if err != nil {
		return out, err
	}
	dst, err := readSide(ctx, p.Target)
	if err != nil {
		return out, err
	}
	beats := heartbeats(ctx, p.Target, dst)
	var nameless []string // sources whose flow was found, and not how the target is called in it
	candidates := sourcesOf(src, dst, p.SourceAlias)
	for _, a := range candidates {
		props := runningProperties(ctx, p.Target, dst, a)
		b := p.TargetAlias
		if b == "" {
			b = targetAlias(src, dst, a, props, beats)
		}
		if b == "" {
			nameless = append(nameless, a)
			continue
		}
		out.Flows = append(out.Flows, discovered(src, dst, a, b, props))
	}
	out.name()
	if len(nameless) > 0 {
		out.Problems = append(out.Problems, namelessTarget(nameless, src))
	}
	if len(out.Flows) == 0 {
		out.Gaps = append(hiddenTopics(ctx, p.Source, out.SourceAlias), hiddenTopics(ctx, p.Target, out.TargetAlias)...)
	}
	if len(out.Flows) == 0 && len(out.Problems) == 0 && len(out.Gaps) == 0 {
		out.Problems = []snapshot.Problem{missingFlow(src, dst, p)}
	}
	return out, nil
}

// namelessTarget: the flow is there, and several topics tell of targets, of which one has to be named. Without heartbeats and without a
// dedicated MirrorMaker 2's own topics nothing else tells.
func namelessTarget(sources []string, src side) snapshot.Problem {
	targets := slices.Sorted(maps.Keys(src.syncs))
	pr := snapshot.Problem{Code: 5, Slug: "alias-unknown", Because: fmt.Sprintf("MirrorMaker 2 writes to the target from %s, and nothing tells how it calls the target: there is no heartbeat of that flow, and the source has offset syncs for %s", list(sources), cmp.Or(list(targets), "no target")),
		Fix: "Name the target: --target ALIAS=HOST:PORT, with the alias that MirrorMaker 2 uses (target.cluster.alias)"}
	if len(targets) > 0 {
		pr.Fix = fmt.Sprintf("Name the target: --target %s=HOST:PORT, or another of these", targets[0])
	}
	return pr
}

// hiddenTopics says that a cluster may hide topics from this principal: an ACL leaves them out of the list without an error.
// Whoever may describe the cluster is not known to be limited.
func hiddenTopics(ctx context.Context, c *wire.Client, alias string) []snapshot.Gap {
	ops, known, err := c.ClusterOperations(ctx)
	if err != nil || known && ops.Has(wire.Describe) || !known {
		return nil
	}
	return []snapshot.Gap{{Code: "denied", Cluster: alias, API: "DescribeCluster cluster", Why: "topics that this principal may not describe are left out of the list without an error, so MirrorMaker 2's topics cannot be told from missing ones"}}
}

// name settles the aliases; several flows into one target are told apart by the source alias that was given.
func (f *Found) name() {
	if len(f.Flows) > 1 && f.SourceAlias == "" {
		var as []string
		for _, fl := range f.Flows {
			as = append(as, fl.Source)
		}
		f.Problems = append(f.Problems, snapshot.Problem{Code: 5, Slug: "flow-not-found", Because: "topics of several sources are on the target, and the addresses do not tell which one was given: " + strings.Join(as, ", "),
			Fix: "Name the source: --source " + as[0] + "=HOST:PORT"})
		f.Flows = nil
	}
	if len(f.Flows) > 0 {
		f.SourceAlias, f.TargetAlias = f.Flows[0].Source, f.Flows[0].Target
	}
	f.SourceAlias, f.TargetAlias = cmp.Or(f.SourceAlias, "source"), cmp.Or(f.TargetAlias, "target")
}

// sourcesOf gives the aliases of sources that the target knows and that the given source cluster can be: one of its topics
// has a copy under that alias, or nothing speaks against it.
func sourcesOf(src, dst side, given string) []string {
	all := map[string]bool{}
	for a := range dst.checkpoints {
		all[a] = true
	}
	for a := range dst.configs {
		all[a] = true
	}
	if given != "" {
		if all[given] {
			return []string{given}
		}
		return nil
	}
	var copied, rest []string
	for _, a := range slices.Sorted(maps.Keys(all)) {
		sep := cmp.Or(dst.checkpoints[a], mm2.DefaultSeparator)
		n := 0
		for t := range src.topics {
			if dst.topics[a+sep+t] {
				n++
			}
		}
		if n > 0 {
			copied = append(copied, a)
		} else if !dst.anyCopyOf(a, sep) {
			rest = append(rest, a) // identity policy, or nothing mirrored yet
		}
	}
	if len(copied) > 0 {
		return copied
	}
	// Nothing mirrored yet: syncs prove a flow, and so does the configuration that a worker stored for the only source.
	if src.hasSyncs() || dst.syncsOf(rest) || len(rest) == 1 && dst.configs[rest[0]] {
		return rest
	}
	return nil
}

func (s side) hasSyncs() bool { return len(s.syncs) > 0 }

func (s side) syncsOf(aliases []string) bool {
	return slices.ContainsFunc(aliases, func(a string) bool { _, ok := s.syncs[a]; return ok })
}

func (s side) anyCopyOf(alias, sep string) bool {
	for t := range s.topics {
		if rest, ok := strings.CutPrefix(t, alias+sep); ok && !strings.HasSuffix(rest, "checkpoints"+sep+"internal") && rest != mm2.HeartbeatsTopic {
			return true
		}
	}
	return false
}

// targetAlias finds how MirrorMaker 2 calls the target: its stored configuration, the only offset-syncs topic on the source,
// a heartbeat.
func targetAlias(src, dst side, a string, props map[string]map[string]string, beats map[string]string) string {
	for _, class := range connectorClasses {
		if t := props[class]["target.cluster.alias"]; t != "" {
			return t
		}
	}
	if b := beats[a]; b != "" {
		return b
	}
	if len(src.syncs) == 1 {
		for b := range src.syncs {
			return b
		}
	}
	if _, ok := dst.syncs[a]; ok {
		return "target"
	}
	return ""
}

// discovered names a found flow's topics: by the stored configuration where it could be read, else by what is there.
func discovered(src, dst side, a, b string, props map[string]map[string]string) snapshot.Flow {
	chk := props["MirrorCheckpointConnector"]
	if chk == nil {
		chk = props["MirrorSourceConnector"]
	}
	s := FlowSettings{Source: a, Target: b, InternalSeparatorEnabled: chk["replication.policy.internal.topic.separator.enabled"] != "false", Location: chk["offset-syncs.topic.location"], PolicyClass: chk["replication.policy.class"]}
	s.Separator, s.SeparatorSet = chk["replication.policy.separator"]
	if chk == nil {
		if sep, ok := dst.checkpoints[a]; ok && sep != mm2.DefaultSeparator {
			s.Separator, s.SeparatorSet, s.InternalSeparatorEnabled = sep, true, true
		}
		_, onSource := src.syncs[b]
		if _, onTarget := dst.syncs[a]; onTarget && !onSource {
			s.Location = string(mm2.OnTarget)
		}
		sep := cmp.Or(s.Separator, mm2.DefaultSeparator)
		if !dst.anyCopyOf(a, sep) && sameNames(src, dst) > 0 {
			s.PolicyClass = mm2.IdentityPolicyClass
		}
	}
	f := NewFlow(s)
	f.Mode = "discovered"
	if len(props) > 0 {
		f.Mode = "dedicated"
	}
	return f
}

func sameNames(src, dst side) int {
	n := 0
	for t := range src.topics {
		if dst.topics[t] && !strings.HasPrefix(t, "__") && !strings.HasPrefix(t, "mm2-") && t != mm2.HeartbeatsTopic {
			n++
		}
	}
	return n
}

// runningProperties reads the connector configurations that a dedicated MirrorMaker 2 stored on the target. They may hold
// secrets and do not leave this function but for the keys that names depend on.
func runningProperties(ctx context.Context, c *wire.Client, dst side, a string) map[string]map[string]string {
	out := map[string]map[string]string{}
	topic := "mm2-configs." + a + ".internal"
	if !dst.topics[topic] {
		return out
	}
	cl := &cluster{Cluster: Cluster{Client: c}}
	_, err := readAll(ctx, cl, topic, 0, func(r *kafka.Record) {
		class, ok := strings.CutPrefix(string(r.Key), "connector-")
		if !ok || r.Value == nil {
			return
		}
		var s storedConfig
		if json.Unmarshal(r.Value, &s) != nil {
			return
		}
		keep := map[string]string{}
		for k, v := range s.Properties {
			if strings.HasPrefix(k, "replication.policy") || k == "target.cluster.alias" || k == "offset-syncs.topic.location" {
				keep[k] = v
			}
		}
		out[class] = keep
	})
	if err != nil {
		return map[string]map[string]string{} // the collector reports the same failure where it needs the topic
	}
	return out
}

// heartbeats gives, for each source alias that heartbeats on the target name, the target alias of the newest one.
func heartbeats(ctx context.Context, c *wire.Client, dst side) map[string]string {
	out := map[string]string{}
	if !dst.topics[mm2.HeartbeatsTopic] {
		return out
	}
	// Without heartbeats the aliases are found otherwise, or asked for.
	_ = readBeats(ctx, c, mm2.HeartbeatsTopic, func(h mm2.Heartbeat) { out[h.Source] = h.Target })
	return out
}

func missingFlow(src, dst side, p Pair) snapshot.Problem {
	pr := snapshot.Problem{Code: 5, Slug: "flow-not-found", Source: p.SourceAlias, Target: p.TargetAlias,
		Because: "no topic of MirrorMaker 2 on the target speaks of a flow from this source: no checkpoints topic (ALIAS.checkpoints.internal), no worker topic (mm2-configs.ALIAS.internal)",
		Fix:     "Check that the two addresses are the two ends of the flow and that MirrorMaker 2 has been started; with a configuration file: mm2doctor diagnose mm2.properties"}
	pr.Observed = []snapshot.Named{{Name: "checkpoints topics on the target", Value: strings.Join(slices.Sorted(maps.Keys(dst.checkpoints)), ", ")}, {Name: "offset-syncs topics on the source", Value: strings.Join(slices.Sorted(maps.Keys(src.syncs)), ", ")}}
	known := maps.Clone(dst.configs)
	for a := range dst.checkpoints {
		known[a] = true
	}
	if len(known) > 0 {
		pr.Because = fmt.Sprintf("MirrorMaker 2 writes to the target from %s, and no topic of the cluster given as source has a copy there under such a name", list(slices.Sorted(maps.Keys(known))))
	}
	reverse := slices.DeleteFunc(sourcesOf(dst, src, p.TargetAlias), func(a string) bool {
		_, really := src.checkpoints[a] // worker topics alone are made for both directions
		return !really
	})
	if len(reverse) > 0 {
		pr.Slug = "source-target-exchanged"
		pr.Because = fmt.Sprintf("source and target are exchanged: the cluster given as source holds what a flow from %s writes on its target (%s), and the one given as target does not", list(reverse), checkpointsOf(src, reverse[0]))
		pr.Fix = "Exchange --source and --target."
	}
	if p.SourceAlias != "" && len(dst.checkpoints) > 0 && len(reverse) == 0 {
		pr.Slug = "alias-unknown"
		pr.Because = fmt.Sprintf("the target knows no source of the alias %s; it knows %s", p.SourceAlias, strings.Join(slices.Sorted(maps.Keys(dst.checkpoints)), ", "))
		pr.Fix = "Give the alias that MirrorMaker 2 uses, or leave it out: --source HOST:PORT"
	}
	return pr
}

func checkpointsOf(s side, a string) string {
	sep := cmp.Or(s.checkpoints[a], mm2.DefaultSeparator)
	return mm2.CheckpointsTopic(a, sep)
}

func list(ss []string) string { return strings.Join(ss, ", ") }
