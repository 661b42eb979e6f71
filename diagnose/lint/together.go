package lint

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// opposite gives the flows of the other direction between the same clusters, in any of the files.
func (l *linter) opposite(f *flow) []*flow {
	var out []*flow
	all := l.byName()[f.Target+"->"+f.Source]
	copies := len(all) > mostParts || len(l.byName()[f.Name()]) > mostParts
	for _, o := range all {
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
	if f.in == o.in || bothRun {
		e, _ := o.Get(conf.Source, "enabled")
		at := o.where(conf.Source, e, "enabled")
		if o.in.mode != dedicated {
			at = o.at[o.first()]
		}
		l.add(say{slug: "two-way-flows", severity: finding.Info, at: at, flow: o.Name(), because: fmt.Sprintf("%s and %s are both on. With DefaultReplicationPolicy no record goes round; for the way back, offsets on copies are translated by tools only (MM2D-216).", f.Name(), o.Name())})
	}
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
