package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// originChecks are about what the clusters are, before MirrorMaker 2 comes in: what a broker is too old to tell, and topics of other replicators.
var originChecks = []check{
	{Code: 4, Grain: finding.OnCluster, Needs: finding.FirstContact, Run: checkUnsupported},
	{Code: 6, Grain: finding.OnSnapshot, Gap: topicsUnlisted, Run: checkNotMM2},
}

// checkUnsupported says in one remark what a cluster's brokers could not be asked.
func checkUnsupported(v *View, s subject) *finding.Finding {
	v.touch(finding.FirstContact)
	gaps := v.gapsOn(s.cluster, "unsupported")
	if len(gaps) == 0 {
		return nil
	}
	var apis []string
	for _, g := range gaps {
		api, _, _ := strings.Cut(g.API, " ")
		apis = append(apis, api)
	}
	slices.Sort(apis)
	apis = slices.Compact(apis)
	release := s.cluster.Version.Or("a release that its APIs do not tell")
	return &finding.Finding{
		Observed:    finding.Observed{{Name: "brokers", Value: release}, {Name: "not answered", Value: strings.Join(apis, ", ")}, {Name: "facts not known", Value: len(gaps)}},
		Because:     fmt.Sprintf("the brokers of %s (%s) are too old for %s, or have it switched off: %s", s.cluster.Alias, release, list(apis, 3), gaps[0].Why),
		Consequence: "What rests on it is listed under not checked; the rest of the diagnosis does not suffer.",
		Confirm:     []finding.Command{{Cluster: s.cluster.Alias, Command: "kafka-broker-api-versions.sh --bootstrap-server " + bootstrapOf(s.cluster), Shows: "the versions of " + list(apis, 3)}},
	}
}

// foreign are topics that other replicators make, by exact name.
var foreign = []struct{ topic, replicator, how string }{
	{"__consumer_timestamps", "Confluent Replicator", "it translates by the timestamps that an interceptor of the consumers writes there"},
	{"_confluent-link-metadata", "Confluent Cluster Linking", "its mirror topics keep the source's offsets, so that nothing has to be translated"},
}

func topicsUnlisted(v *View, _ subject) *snapshot.Gap {
	if !v.noFlow() {
		return nil
	}
	for i := range v.snap.Clusters {
		if c := &v.snap.Clusters[i]; c.Topics.Unknown() && c.Contact == nil {
			if c.Topics.Why() == nil {
				return &snapshot.Gap{Code: "not-asked", Why: "not asked"}
			}
			return c.Topics.Why()
		}
	}
	return nil
}

// noFlow says that what was asked for is no flow of MirrorMaker 2.
func (v *View) noFlow() bool {
	return slices.ContainsFunc(v.snap.Unresolved, func(p snapshot.Problem) bool { return p.Code == 5 && p.Slug == "flow-not-found" })
}

// checkNotMM2: no flow was found, and another replicator has left its marks.
func checkNotMM2(v *View, _ subject) *finding.Finding {
	if !v.noFlow() {
		return nil
	}
	var names, where []string
	o := finding.Observed{}
	how := ""
	var at *clusterView
	for i := range v.snap.Clusters {
		c := v.clusters[v.snap.Clusters[i].Alias]
		for _, x := range foreign {
			if c.topics[x.topic] == nil {
				continue
			}
			o = append(o, snapshot.Named{Name: x.topic, Value: "on " + c.Alias})
			where = append(where, x.topic+" on "+c.Alias)
			if at == nil {
				at = c
			}
			if !slices.Contains(names, x.replicator) {
				names, how = append(names, x.replicator), x.how
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	fd := &finding.Finding{Observed: o,
		Because:     fmt.Sprintf("no topic of MirrorMaker 2 was found, and there are topics of %s (%s); %s", strings.Join(names, " and of "), strings.Join(where, ", "), how),
		Consequence: "If that is what mirrors here, MirrorMaker 2's chain of offset syncs, checkpoints and commits does not exist, and this doctor has nothing to follow. MirrorMaker 1, Brooklin and uReplicator leave no topic by which they could be told, and do not translate offsets.",
		Confirm:     []finding.Command{listTopics(at, where[0])},
	}
	if n, some := v.sameNames(); n > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "topics of the same name on both", Value: n})
		fd.Because += fmt.Sprintf("; %s on both clusters under the same name, such as %s", finding.Count(n, "topic"), some)
	}
	return fd
}

// sameNames counts users' topics that stand on both of two clusters.
func (v *View) sameNames() (n int, some string) {
	if len(v.snap.Clusters) != 2 {
		return 0, ""
	}
	a, b := v.clusters[v.snap.Clusters[0].Alias], v.clusters[v.snap.Clusters[1].Alias]
	var names []string
	for t := range a.topics {
		if b.topics[t] != nil && !strings.HasPrefix(t, "_") && !a.topics[t].Internal {
			names = append(names, t)
		}
	}
	if len(names) == 0 {
		return 0, ""
	}
	slices.Sort(names)
	return len(names), names[0]
}
