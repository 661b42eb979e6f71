package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// contactChecks are about reaching the clusters and finding what was asked for.
var contactChecks = []check{
	{Code: 1, Grain: finding.OnCluster, Needs: finding.FirstContact, Run: contactCheck(1)},
	{Code: 2, Grain: finding.OnCluster, Needs: finding.FirstContact, Run: contactCheck(2)},
	{Code: 3, Grain: finding.OnCluster, Needs: finding.FirstContact, Run: checkDenied},
	{Code: 5, Grain: finding.OnSnapshot, Run: checkUnresolved},
	{Code: 5, Grain: finding.OnFlow, Needs: finding.CheckpointSet | finding.SyncsTopic, Uses: finding.Running | finding.Configured | finding.Settings | finding.SyncsElse, Applies: dedicated, Run: checkNeverRan},
}

// contactCheck turns a failed first contact into the finding that it is.
func contactCheck(code int) func(*View, subject) *finding.Finding {
	return func(v *View, s subject) *finding.Finding {
		v.touch(finding.FirstContact)
		c := s.cluster.Contact
		if c == nil || c.Code != code {
			return nil
		}
		o := finding.Observed{{Name: "bootstrap", Value: strings.Join(s.cluster.Bootstrap, ",")}}
		if c.Listener != "" {
			o = append(o, snapshot.Named{Name: "listener", Value: c.Listener})
		}
		fd := &finding.Finding{Observed: o, Because: c.What + ": " + c.Why,
			Consequence: "Nothing on " + s.cluster.Alias + " could be read; whatever needs it is not checked.",
			Confirm:     []finding.Command{{Cluster: s.cluster.Alias, Command: "kafka-broker-api-versions.sh --bootstrap-server " + bootstrapOf(s.cluster), Shows: "whether Kafka's own client gets further"}},
			Fixes:       []finding.Fix{{Mode: "kafka", Text: c.Next}}}
		if steps := v.withoutSource(s.cluster); code == 1 && len(steps) > 0 {
			fd.Fixes = append(fd.Fixes, finding.Fix{Mode: "kafka", Text: "If " + s.cluster.Alias + " is gone for good, consumers start on the other cluster from what is left there. The plan of that, which writes nothing:", Steps: steps})
		}
		return fd
	}
}

// withoutSource are the commands that translate without a cluster, for the flows that it is the source of.
func (v *View) withoutSource(c *clusterView) []finding.Step {
	var out []finding.Step
	for _, f := range v.flows {
		if f.Source == c.Alias && f.dst.Contact == nil {
			out = append(out, finding.Step{Text: "where the groups of " + f.Name() + " start on " + f.Target, Command: f.translateCommand("--source-lost", "")})
		}
	}
	if len(v.flows) > 0 || len(v.snap.Clusters) != 2 {
		return out
	}
	// Bare addresses of which one does not answer: no flow was found.
	flow, text := "SOURCE:TARGET", "; SOURCE and TARGET are MirrorMaker 2's own aliases of the two clusters"
	source := "source"
	if len(v.snap.Scope.Flows) == 1 {
		flow, text = strings.Replace(v.snap.Scope.Flows[0], "->", ":", 1), ""
		source, _, _ = strings.Cut(v.snap.Scope.Flows[0], "->")
	}
	o := v.clusters[v.snap.Clusters[0].Alias]
	if o == c {
		o = v.clusters[v.snap.Clusters[1].Alias]
	}
	if o.Contact != nil || c.Alias != source {
		return nil
	}
	return []finding.Step{{Text: "where its groups start" + text, Command: "mm2doctor translate " + evidenceOf("--target", "", o) + " --flow " + finding.Quote(flow) + " --source-lost"}}
}

// checkDenied collects every read that an ACL refused on one cluster.
func checkDenied(v *View, s subject) *finding.Finding {
	v.touch(finding.FirstContact)
	if c := s.cluster.Contact; c != nil && c.Code == 3 {
		return contactCheck(3)(v, s)
	}
	var whys []string
	var rights []right
	for _, g := range v.gapsOn(s.cluster, "denied") {
		whys = append(whys, g.API+": "+g.Why)
		rights = append(rights, rightsFor(g)...)
	}
	if len(whys) == 0 {
		return nil
	}
	slices.Sort(whys)
	whys = slices.Compact(whys)
	who, text := s.cluster.Login, "Give the doctor's principal the right to read, or run it as a principal that has it."
	if who == "" {
		who = "User:PRINCIPAL"
		text += " PRINCIPAL is the name that the doctor logs in with."
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "refused", Value: len(whys)}, {Name: "first", Value: whys[0]}},
		Because:     fmt.Sprintf("%s refuses %d of the doctor's reads: %s", s.cluster.Alias, len(whys), strings.Join(whys[:min(3, len(whys))], "; ")),
		Consequence: "Links that need these facts are not checked.",
		Confirm:     []finding.Command{{Cluster: s.cluster.Alias, Command: "kafka-acls.sh --bootstrap-server " + bootstrapOf(s.cluster) + " --list", Shows: "what the doctor's principal may do"}},
		Fixes:       []finding.Fix{{Mode: "kafka", Text: text}},
	}
	if s.cluster.Login != "" {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "principal", Value: s.cluster.Login})
	}
	if len(rights) > 0 {
		fd.Fixes = grantFixes(s.cluster, who, text, widened(rights))
	}
	return fd
}

// gapsOn lists the gaps of a cluster by their code: "denied" by an ACL, "unsupported" by its brokers.
func (v *View) gapsOn(c *clusterView, code string) []*snapshot.Gap {
	var out []*snapshot.Gap
	add := func(g *snapshot.Gap) {
		if g != nil && g.Code == code && g.Cluster == c.Alias && !slices.ContainsFunc(out, func(o *snapshot.Gap) bool { return *o == *g }) {
			out = append(out, g)
		}
	}
	for i := range v.snap.Gaps {
		add(&v.snap.Gaps[i])
	}
	add(c.Topics.Why())
	add(c.listed.Why())
	if code == "unsupported" {
		add(c.GroupsComplete.Why()) // where an ACL is in the way, what it hides has gaps of its own
		add(c.Acls.Why())
		add(c.Settings.Why())
	}
	for _, g := range c.groups {
		add(g.State.Why())
		add(g.Offsets.Why())
	}
	for _, t := range c.topics {
		add(t.Gap)
		for _, p := range t.Partitions {
			add(p.End.Why())
		}
	}
	for _, f := range v.flows {
		add(f.Syncs.Why())
		add(f.Checkpointed.Why())
	}
	if code == "denied" && slices.ContainsFunc(v.flows, func(f *flowView) bool { return f.src == c && f.groupsHidden() }) {
		add(c.hidesGroups())
	}
	slices.SortFunc(out, func(a, b *snapshot.Gap) int { return strings.Compare(a.API+a.Why, b.API+b.Why) })
	return out
}

// mostNamed is how many groups or topics are named one by one in commands that grant rights; more are granted by one wildcard.
const mostNamed = 5

// widened puts one wildcard in the place of many resources of one kind.
func widened(rs []right) []right {
	names := map[string]map[string]bool{}
	for _, r := range rs {
		if names[r.resource] == nil {
			names[r.resource] = map[string]bool{}
		}
		names[r.resource][r.name] = true
	}
	var out []right
	for _, r := range rs {
		if r.resource != "CLUSTER" && len(names[r.resource]) > mostNamed {
			r.name = "*"
		}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// rightsFor names the missing rights where the gap says which resource it is about.
func rightsFor(g *snapshot.Gap) []right {
	kind, name, ok := strings.Cut(g.API, " ")
	if !ok {
		return nil
	}
	switch kind {
	case "DescribeGroups", "OffsetFetch", "FindCoordinator", "ConsumerGroupDescribe":
		return []right{{"DESCRIBE", "GROUP", name}}
	case "Fetch", "ListOffsets", "Metadata":
		return []right{{"READ", "TOPIC", name}, {"DESCRIBE", "TOPIC", name}}
	case "ListGroups": // listing is not enough: each group refuses to be described
		return []right{{"DESCRIBE", "CLUSTER", clusterResource}, {"DESCRIBE", "GROUP", "*"}}
	case "DescribeCluster":
		return []right{{"DESCRIBE", "CLUSTER", clusterResource}}
	}
	return nil
}

// checkUnresolved says what was asked for and is no flow.
func checkUnresolved(v *View, _ subject) *finding.Finding {
	if len(v.snap.Unresolved) == 0 {
		return nil
	}
	p := v.snap.Unresolved[0]
	f := &finding.Finding{Slug: p.Slug, Flow: p.Flow, Because: p.Because, Observed: finding.Observed(p.Observed),
		Consequence: "Nothing was diagnosed for it."}
	if p.Fix != "" {
		f.Fixes = []finding.Fix{{Mode: cmp.Or(p.Mode, "dedicated"), Text: p.Fix}}
		if p.Key != "" {
			f.Fixes[0].Steps = []finding.Step{{Text: "add the line", File: p.File, Properties: finding.Observed{{Name: p.Key, Value: p.Value}}}, {Text: restartText}}
		}
	}
	return f
}

func dedicated(_ *View, s subject) bool {
	return (s.flow.Mode == "dedicated" || s.flow.Mode == "strimzi") && s.flow.Configured.Known() && s.flow.src.Contact == nil && s.flow.dst.Contact == nil
}

// checkNeverRan: none of the topics that MirrorMaker 2 makes when it starts exists on either cluster.
func checkNeverRan(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.Running | finding.Configured | finding.SyncsElse | finding.CheckpointSet | finding.SyncsTopic)
	g := f.Running.Why()
	if !f.Checkpointed.Absent() || !f.Syncs.Absent() || f.SyncsElsewhere.Known() || g == nil || g.Code != "absent" {
		return nil
	}
	if f.src.topics[f.Checkpoints] != nil {
		return &finding.Finding{
			Slug:        "source-target-exchanged",
			Observed:    finding.Observed{{Name: "found", Value: f.Checkpoints + " on the cluster given as " + f.Source}, {Name: "belongs on", Value: f.Target}},
			Because:     fmt.Sprintf("source and target are exchanged: %s, which %s writes on its target, stands on the cluster whose address is given for %s", f.Checkpoints, f.Name(), f.Source),
			Consequence: "Nothing was diagnosed for it.",
			Fixes: []finding.Fix{{Mode: f.fixMode(), Text: fmt.Sprintf("Exchange the addresses of %s and %s.", f.Source, f.Target), Steps: []finding.Step{{Text: "exchange the two addresses", File: f.File,
				Properties: finding.Observed{{Name: f.Source + ".bootstrap.servers", Value: strings.Join(f.dst.Bootstrap, ",")}, {Name: f.Target + ".bootstrap.servers", Value: strings.Join(f.src.Bootstrap, ",")}}}}}},
		}
	}
	fix := restartFix(f, "Start MirrorMaker 2 with this file, or correct the aliases in `clusters` to those it was started with.", f.discoveryStart()+f.emitBudget()+f.commitBudget())
	if f.fixMode() == "strimzi" {
		fix = finding.Fix{Mode: "strimzi", Text: "See that the resource was applied and that the operator could roll it out, or correct its aliases to those it was applied with.", WaitSeconds: fix.WaitSeconds,
			Steps: []finding.Step{{Text: "what the operator says of the resource", Command: f.kubectl("get", "-o jsonpath='{.status.conditions}'")}}}
	}
	return &finding.Finding{
		Observed:    finding.Observed{{Name: "looked for", Value: f.Checkpoints + " and " + f.workerTopic("config") + " on " + f.Target + ", " + f.SyncsTopic + " on " + f.SyncsOn}},
		Because:     fmt.Sprintf("none of the topics that MirrorMaker 2 makes at its start exists: it never ran %s between these clusters, or under other aliases", f.Name()),
		Consequence: "Nothing is mirrored and no offset is translated.",
		Confirm:     []finding.Command{listTopics(f.dst, "the topics of other aliases, if there are any")},
		Fixes:       []finding.Fix{fix},
	}
}

// namedChecks are about --group and --topic values; they run once per flow and value.
func (e *engine) named(groups, topics []matcher) {
	for _, f := range e.v.flows {
		for _, m := range groups {
			e.namedGroup(f, m)
		}
		for _, m := range topics {
			e.namedTopic(f, m)
		}
	}
}

func (e *engine) namedGroup(f *flowView, m matcher) {
	gs, st := f.src.listed.Get()
	if st != snapshot.Known {
		e.skip(&check{Code: 217}, subject{flow: f}, f.src.listed.Why())
		return
	}
	var ids []string
	for i := range gs {
		if gs[i].State.Absent() || gs[i].State.Or("") == "Dead" {
			continue
		}
		if m.fits(gs[i].ID) {
			return
		}
		ids = append(ids, gs[i].ID)
	}
	complete, known := f.src.GroupsComplete.Get()
	fd := &finding.Finding{Subject: finding.Subject{Group: m.text}, Because: fmt.Sprintf("no group on %s matches `%s`", f.Source, m.text),
		Consequence: "Without a group on the source there is nothing to translate; on " + f.Target + " consumers of this group start by auto.offset.reset.",
		Confirm:     []finding.Command{{Cluster: f.Source, Command: groupsCommand(f.src, "--list"), Shows: "the groups that exist"}}}
	near := nearest(ids, m.text)
	fd.Observed = finding.Observed{{Name: "groups on " + f.Source, Value: len(ids)}}
	if len(near) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "nearest", Value: strings.Join(near, ", ")})
		fd.Because += "; nearest: " + strings.Join(near, ", ")
	}
	for id, g := range f.dst.groups {
		if m.fits(id) && !g.State.Absent() && g.State.Or("Dead") != "Dead" {
			fd.Because += "; on " + f.Target + " there is one of that name"
			fd.Observed = append(fd.Observed, snapshot.Named{Name: "on " + f.Target, Value: string(g.State.Or(""))})
			break
		}
	}
	if known != snapshot.Known || !complete {
		fd.Because += "; the listing may be incomplete: " + f.src.GroupsComplete.Why().String()
	}
	s := subject{flow: f, group: m.text}
	completeFinding(e, fd, 217, s, finding.OnGroup)
}

func (e *engine) namedTopic(f *flowView, m matcher) {
	ts, st := f.src.Topics.Get()
	if st != snapshot.Known {
		e.skip(&check{Code: 217}, subject{flow: f}, f.src.Topics.Why())
		return
	}
	var names []string
	for i := range ts {
		if m.fits(ts[i].Name) {
			return
		}
		names = append(names, ts[i].Name)
	}
	fd := &finding.Finding{Slug: "topic-not-on-source", Subject: finding.Subject{Topic: m.text}, Because: fmt.Sprintf("no topic on %s matches `%s`", f.Source, m.text),
		Observed: finding.Observed{{Name: "topics on " + f.Source, Value: len(names)}},
		Confirm:  []finding.Command{listTopics(f.src, "the topics that exist (source names, without the alias)")}}
	if up, ok := f.upstream(m.text); ok && slices.Contains(names, up) {
		fd.Because += "; that is the name of the copy, name the source's: " + up
	} else if near := nearest(names, m.text); len(near) > 0 {
		fd.Because += "; nearest: " + strings.Join(near, ", ")
	}
	completeFinding(e, fd, 217, subject{flow: f, topic: m.text}, finding.OnTopic)
}

func completeFinding(e *engine, fd *finding.Finding, code finding.Code, s subject, g finding.Grain) {
	complete(fd, code, s, g)
	e.raws = append(e.raws, &raw{f: fd, s: s, grain: g})
}

// nearest gives up to three names that look like the one that was typed.
func nearest(names []string, typed string) []string {
	type cand struct {
		name string
		d    int
	}
	var cs []cand
	low := strings.ToLower(typed)
	for _, n := range names {
		d := levenshtein.ComputeDistance(strings.ToLower(n), low)
		if strings.Contains(strings.ToLower(n), low) {
			d = min(d, 1)
		}
		if d <= max(2, len(typed)/3) {
			cs = append(cs, cand{n, d})
		}
	}
	slices.SortFunc(cs, func(a, b cand) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, c := range cs[:min(3, len(cs))] {
		out = append(out, c.name)
	}
	return out
}
