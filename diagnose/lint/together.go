package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// opposite gives the flows of the other direction between the same clusters, in any of the files.
func (l *linter) opposite(f *flow) []*flow {
	var out []*flow
	all := l.byName()[f.Target+"->"+f.Source]
	copies := len(all) > mostParts || len(l.byName()[f.Name()]) > mostParts
	for _, o := range all {
		if o == f || f.Source == f.Target {
			continue
		}
		if o.in == f.in || !copies && sameCluster(f.in.cluster(f.Source), o.in.cluster(o.Target)) && sameCluster(f.in.cluster(f.Target), o.in.cluster(o.Source)) {
			out = append(out, o)
		}
	}
	return out
}

// mostParts: a flow that stands in more files than that stands there in copies, each of which is judged by itself.
const mostParts = 4

// byName are the flows of all set-ups.
func (l *linter) byName() map[string][]*flow {
	if l.names == nil {
		l.names = map[string][]*flow{}
		for _, s := range l.setups {
			for _, f := range s.flows {
				l.names[f.Name()] = append(l.names[f.Name()], f)
			}
		}
	}
	return l.names
}

// sameCluster: an alias alone does not tell; an address in common does.
func sameCluster(a, b conf.Cluster) bool {
	for x := range strings.SplitSeq(a.Bootstrap.Value, ",") {
		for y := range strings.SplitSeq(b.Bootstrap.Value, ",") {
			if x = strings.TrimSpace(x); x != "" && x == strings.TrimSpace(y) {
				return true
			}
		}
	}
	return false
}

// together are rules over flows that may stand in different files.
func (l *linter) together() {
	done := map[[2]*flow]bool{}
	for _, s := range l.setups {
		for _, f := range s.flows {
			for _, o := range l.opposite(f) {
				if !done[[2]*flow{o, f}] {
					done[[2]*flow{f, o}] = true
					l.twoWay(f, o)
				}
			}
		}
	}
	for _, s := range l.setups {
		l.fanIn(s)
		l.rings(s)
	}
	l.sharedWorkers()
}

func running(f *flow) bool {
	if e, ok := f.State(conf.Source); ok && !strings.EqualFold(e.Value, "running") {
		return false
	}
	return true
}

// twoWay: flows of both directions. f stands first.
func (l *linter) twoWay(f, o *flow) {
	if !f.runs() || !o.runs() {
		return
	}
	bothRun := running(f) && running(o)
	l.twoWaySync(f, o)
	if f.Has(conf.Source) && o.Has(conf.Source) && identity(f.Policy()) && identity(o.Policy()) {
		a, err1 := l.topicFilter(f, conf.Source)
		b, err2 := l.topicFilter(o, conf.Source)
		if err1 == nil && err2 == nil && overlap(a, b) {
			e, _ := o.Get(conf.Source, "replication.policy.class")
			sev, text := finding.Error, "%s and %s both keep topic names and let the same topics through. IdentityReplicationPolicy does not see that a record came from the other side."
			if drops(f) || drops(o) {
				sev, text = finding.Info, "%s and %s both keep topic names and let the same topics through. Only what their transforms drop can keep records from going round."
			} else if !bothRun {
				sev, text = finding.Warning, "%s and %s both keep topic names and let the same topics through; one of them is halted. Once both run, records go round: IdentityReplicationPolicy does not see that a record came from the other side."
			}
			l.add(say{slug: "identity-loop", severity: sev, at: o.where(conf.Source, e, "replication.policy.class"), flow: o.Name(), because: fmt.Sprintf(text, f.Name(), o.Name()), leads: "Each record is copied back and forth for ever.",
				fixes: o.in.advice("Mirror each topic in one direction only, or use DefaultReplicationPolicy."), also: []place{f.at[f.first()]}})
			return
		}
	}
	if l.mixed(f, o) || l.mixed(o, f) {
		return
	}
	if f.in == o.in || bothRun {
		e, _ := o.Get(conf.Source, "enabled")
		at := o.where(conf.Source, e, "enabled")
		if o.in.mode != dedicated {
			at = o.at[o.first()]
		}
		l.add(say{slug: "two-way-flows", severity: finding.Info, at: at, flow: o.Name(), because: fmt.Sprintf("%s and %s are both on. %s; for the way back, offsets on copies are translated by tools only (MM2D-216).", f.Name(), o.Name(), round(f.Policy(), o.Policy()))})
	}
}

// round says whether records of flows in both directions go round.
func round(p, q mm2.Policy) string {
	switch {
	case p.Kind == mm2.PolicyDefault && q.Kind == mm2.PolicyDefault && p.Separator != "" && q.Separator != "":
		return "With DefaultReplicationPolicy no record goes round"
	case identity(p) && identity(q):
		return "Their lists of topics alone keep records from going round"
	case identity(p) || identity(q):
		return "Their policies differ, and their lists of topics alone keep records from going round"
	}
	return "Whether records go round is up to the names that the policy gives"
}

// mixed: f keeps names, and o puts its source's alias before them. What comes back over f has o's prefix, is no copy to o's policy, and
// gets the prefix once more, for ever, where both lists let such names through.
func (l *linter) mixed(f, o *flow) bool {
	p := o.Policy()
	if !f.Has(conf.Source) || !o.Has(conf.Source) || !identity(f.Policy()) || p.Kind != mm2.PolicyDefault || p.Separator == "" || drops(f) || drops(o) {
		return false
	}
	a, err1 := l.topicFilter(f, conf.Source)
	b, err2 := l.topicFilter(o, conf.Source)
	if err1 != nil || err2 != nil || a == nil || b == nil {
		return false
	}
	names, all := spelled(b)
	if !all {
		names = []string{"x"}
	}
	for _, n := range names {
		if back := o.Source + p.Separator + n; !a.Decide(back).Passes() || !b.Decide(back).Passes() || !b.Decide(n).Passes() {
			continue
		}
		e, _ := f.Get(conf.Source, "replication.policy.class")
		l.add(say{slug: "identity-loop", severity: finding.Error, at: f.where(conf.Source, e, "replication.policy.class"), flow: f.Name(), because: fmt.Sprintf("%s keeps topic names, and %s puts %s%s before them. Its copies come back over %s under their new names and are copied anew: %s%s, %s%s%s%s, and so on.", f.Name(), o.Name(), o.Source, p.Separator, f.Name(), o.Source+p.Separator, n, o.Source, p.Separator, o.Source, p.Separator+n), leads: "Each record is copied back and forth for ever, into more and more topics.",
			fixes: f.in.advice("Give both flows the same policy, and with IdentityReplicationPolicy mirror each topic in one direction only."), also: []place{o.at[o.first()]}})
		return true
	}
	return false
}

// rings: three and more flows that keep topic names and lead back to where they began.
func (l *linter) rings(s *setup) {
	if s.Setup == nil || len(s.Clusters) > mostRing {
		return
	}
	next := map[string][]*flow{}
	for _, f := range s.flows {
		if f.runs() && running(f) && f.Has(conf.Source) && identity(f.Policy()) && !drops(f) {
			next[f.Source] = append(next[f.Source], f)
		}
	}
	var path []*flow
	var walk func(from, at string)
	walk = func(from, at string) {
		for _, f := range next[at] {
			if f.Target == from && len(path) >= 2 && l.alike(append(path, f)) {
				l.ring(append(path, f))
			}
			if f.Target > from && !slices.ContainsFunc(path, func(p *flow) bool { return p.Source == f.Target || p.Target == f.Target }) {
				path = append(path, f)
				walk(from, f.Target)
				path = path[:len(path)-1]
			}
		}
	}
	for _, c := range s.Clusters {
		walk(c.Alias, c.Alias)
	}
}

// mostRing bounds the search for rings.
const mostRing = 8

// alike says that a topic may pass all flows.
func (l *linter) alike(flows []*flow) bool {
	for i, f := range flows {
		for _, o := range flows[:i] {
			a, err1 := l.topicFilter(f, conf.Source)
			b, err2 := l.topicFilter(o, conf.Source)
			if err1 != nil || err2 != nil || !overlap(a, b) {
				return false
			}
		}
	}
	return true
}

func (l *linter) ring(flows []*flow) {
	var names []string
	var also []place
	for _, f := range flows {
		names, also = append(names, f.Name()), append(also, f.at[f.first()])
	}
	o := flows[len(flows)-1]
	e, _ := o.Get(conf.Source, "replication.policy.class")
	l.add(say{slug: "identity-loop", severity: finding.Error, at: o.where(conf.Source, e, "replication.policy.class"), flow: o.Name(), because: fmt.Sprintf("%s make a ring, keep topic names, and let the same topics through. IdentityReplicationPolicy does not see that a record came from the other side.", strings.Join(names, ", ")), leads: "Each record goes round for ever.",
		fixes: o.in.advice("Leave one of the flows out, or use DefaultReplicationPolicy."), also: also})
}

// drops: a transform of the source connector may drop records that came from the other side.
func drops(f *flow) bool {
	v, e := f.Text(conf.Source, "transforms")
	return !e.IsDefault() && v != ""
}

// twoWaySync: both flows commit offsets of the same groups (KAFKA-18995).
func (l *linter) twoWaySync(f, o *flow) {
	if !f.Has(conf.Checkpoint) || !o.Has(conf.Checkpoint) {
		return
	}
	a, ea, ok1 := l.flag(f, conf.Checkpoint, keySync)
	b, eb, ok2 := l.flag(o, conf.Checkpoint, keySync)
	if !ok1 || !ok2 || !a || !b {
		return
	}
	fa, err1 := l.groupFilter(f)
	fb, err2 := l.groupFilter(o)
	if err1 != nil || err2 != nil || !overlap(fa, fb) {
		return
	}
	if !running(f) && !running(o) {
		return
	}
	at, also := f.where(conf.Checkpoint, ea, keySync), o.where(conf.Checkpoint, eb, keySync)
	if f.in == o.in && also.line < at.line {
		at, also = also, at
	}
	l.add(say{slug: "two-way-group-sync", severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("%s and %s commit offsets of the same groups. MirrorMaker 2 does not know which side is ahead (KAFKA-18995, open): the flow into the side where a group runs writes translations of older positions.", f.Name(), o.Name()),
		bugs: []string{"KAFKA-18995"}, leads: "A group that is idle for a moment can be set back on the side where it is active.", also: []place{also},
		fixes: o.in.advice("Commit in one direction only: %s of the flow into the active side = false, until the groups have failed over.", keySync)})
}

// fanIn: several sources write topics of the same names into one target.
func (l *linter) fanIn(s *setup) {
	if s.Setup == nil {
		return
	}
	first := map[string]*flow{}
	for _, f := range s.flows {
		if !f.runs() || !f.Has(conf.Source) || !identity(f.Policy()) {
			continue
		}
		o, ok := first[f.Target]
		if !ok {
			first[f.Target] = f
			continue
		}
		a, err1 := l.topicFilter(o, conf.Source)
		b, err2 := l.topicFilter(f, conf.Source)
		if err1 != nil || err2 != nil || !overlap(a, b) {
			continue
		}
		e, _ := f.Get(conf.Source, "replication.policy.class")
		at := f.where(conf.Source, e, "replication.policy.class")
		l.add(say{slug: "identity-fan-in", severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("%s and %s both keep topic names, and write the same topics of %s.", o.Name(), f.Name(), f.Target), leads: "Records of the two sources lie in one topic, and the offsets of groups of the same name overwrite each other.",
			fixes: s.advice("Use DefaultReplicationPolicy, or let each flow mirror topics of its own.")})
	}
}

// sharedWorkers: resources whose workers meet in one group on one cluster.
func (l *linter) sharedWorkers() {
	type worker struct {
		f  *flow
		at place
	}
	first := map[string]worker{}
	for _, s := range l.setups {
		if s.mode != strimzi || len(s.flows) == 0 {
			continue
		}
		f := s.flows[0]
		on := s.cluster(f.Mirror.WorkerOn)
		for _, key := range []string{"group.id", "offset.storage.topic", "config.storage.topic", "status.storage.topic"} {
			e, ok := f.Get(conf.Worker, key)
			if !ok || opaque(e.Value) || on.Bootstrap.Value == "" || opaque(on.Bootstrap.Value) {
				continue
			}
			id := key + "\x00" + e.Value + "\x00" + strings.TrimSpace(on.Bootstrap.Value)
			if host, _, _ := strings.Cut(on.Bootstrap.Value, ":"); !strings.Contains(host, ".") {
				id += "\x00" + f.Mirror.Namespace // a service of the namespace
			}
			o, taken := first[id]
			at := place{e.File, e.Line, e.Column, e.Written}
			if e.File == "" {
				at = place{s.file, s.resource.Line, s.resource.Column, key}
			}
			if !taken {
				first[id] = worker{f, at}
				continue
			}
			if o.f.Mirror.Name == f.Mirror.Name && o.f.Mirror.Namespace == f.Mirror.Namespace {
				continue // the same resource twice
			}
			l.add(say{slug: "worker-group-collision", severity: finding.Error, at: at, because: fmt.Sprintf("The workers of %s and %s are attached to the same cluster with the same %s, %s.", o.f.Mirror.Name, f.Mirror.Name, key, e.Value), leads: "They take each other for members of one Connect cluster and overwrite each other's connectors.",
				fixes: s.advice("Give each resource a group.id and storage topics of its own."), also: []place{o.at}})
		}
	}
}
