package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// syncsNamed says that a topic is an offset-syncs topic that carries the alias, and with which separator.
func syncsNamed(topic, alias string) (separator string, ok bool) {
	mid, pre := strings.CutPrefix(topic, "mm2-offset-syncs")
	mid, post := strings.CutSuffix(mid, "internal")
	n := len(mid) - len(alias)
	if !pre || !post || n < 0 || n%2 != 0 {
		return "", false
	}
	sep := mid[:n/2]
	return sep, mid == sep+alias+sep
}

// otherAlias is the alias that the offset-syncs topic of the flow carries on a cluster: always that of the other one.
func (f *flowView) otherAlias(cluster string) string {
	if cluster == f.Target {
		return f.Source
	}
	return f.Target
}

// reverseFlow says whether a flow in the other direction may own a topic that looks like this one's in the other place: its
// offset-syncs topic on its source has the name of ours on our target.
func (f *flowView) reverseFlow() snapshot.Fact[bool] {
	if f.opposite() != nil {
		return snapshot.Is(true)
	}
	t := f.internalTopic(f.src, mm2.CheckpointsTopic(f.Target, f.Policy.InternalSeparator))
	if t.Unknown() {
		return snapshot.NotKnown[bool](t.Why())
	}
	return snapshot.Is(t.Known())
}

// abandoned is another topic with syncs of this flow, and what was changed.
type abandoned struct {
	ref  snapshot.TopicRef
	what string // "separator", "location"
	sep  string
}

func (f *flowView) abandonedSyncs() []abandoned {
	var out []abandoned
	f.v.touch(finding.SyncsOthers)
	for _, r := range f.SyncsOthers.Or(nil) {
		sep, ok := syncsNamed(r.Topic, f.otherAlias(r.Cluster))
		switch {
		case !ok || r.Records == 0 || r.Cluster != f.Source && r.Cluster != f.Target:
		case r.Cluster == f.SyncsOn && r.Topic != f.SyncsTopic:
			out = append(out, abandoned{r, "separator", sep})
		case r.Cluster != f.SyncsOn:
			if rev, st := f.reverseFlow().Get(); st == snapshot.Known && !rev {
				out = append(out, abandoned{r, "location", sep})
			}
		}
	}
	return out
}

// twiceUnknown: a topic in the other place may belong to the flow in the other direction.
func twiceUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	if !f.Syncs.Known() {
		return nil
	}
	for _, r := range f.SyncsOthers.Or(nil) {
		if _, ok := syncsNamed(r.Topic, f.otherAlias(r.Cluster)); !ok || r.Cluster == f.SyncsOn || r.Records == 0 {
			continue
		}
		if rev := f.reverseFlow(); rev.Unknown() {
			return cmp.Or(rev.Why(), &snapshot.Gap{Code: "not-asked", Why: "whether there is a flow " + f.Target + "->" + f.Source + ", which may own " + r.Topic + ", was not asked"})
		}
	}
	return nil
}

// uncovered are followed partitions whose syncs in the present topic begin after the source's log start and after the copy's
// first record: older positions had their mapping in the other topic.
func (f *flowView) uncovered() (partitions int, groups []string) {
	seen := map[string]bool{}
	for _, s := range f.v.subjects(finding.OnPartition) {
		if s.flow != f {
			continue
		}
		ps, st := s.gp.syncsOf().Get()
		src, pst := s.gp.sourcePartition().Get()
		if st != snapshot.Known || ps.Oldest.Down == 0 || pst == snapshot.Known && src.Start.Known() && ps.Oldest.Up <= src.Start.Or(0) {
			continue
		}
		partitions++
		gs, _ := s.gp.standingBefore(ps.Oldest.Up)
		for _, g := range gs {
			if !seen[g] {
				seen[g] = true
				groups = append(groups, g)
			}
		}
	}
	return partitions, groups
}

// checkTwice: names or place of the topic were changed while the flow ran. MirrorMaker 2 begins with an empty topic then; what
// stands in the other one is not read any more.
func checkTwice(_ *View, s subject) *finding.Finding {
	f := s.flow
	sy, st := f.Syncs.Get()
	if st != snapshot.Known || sy.Records == 0 {
		return nil // none where it is looked for: 101, 102, 115
	}
	as := f.abandonedSyncs()
	if len(as) == 0 {
		return nil
	}
	a := as[0]
	parts, groups := f.uncovered()
	fd := &finding.Finding{
		Observed: finding.Observed{{Name: "in use", Value: fmt.Sprintf("%s on %s, %d records, newest %s old", f.SyncsTopic, f.SyncsOn, sy.Records, age(f.v.now-sy.Last))}, {Name: "the other", Value: a.words(f.v.now)},
			{Name: "partitions whose older positions have no mapping", Value: parts}, {Name: "groups before it", Value: len(groups)}},
		Because:     fmt.Sprintf("there are two offset-syncs topics of %s: %s on %s, which is in use, and %s", f.Name(), f.SyncsTopic, f.SyncsOn, a.words(f.v.now)),
		Consequence: fmt.Sprintf("Mappings of before the change stand in the other topic alone and are not read: positions of %s before their first sync in the topic in use are not translated.", finding.Count(parts, "partition")),
		Confirm: []finding.Command{recordsCommand(f.syncsCluster(), f.SyncsTopic, sy.Records, "OffsetSyncFormatter", "the syncs in use"),
			recordsCommand(f.v.clusters[a.ref.Cluster], a.ref.Topic, a.ref.Records, "OffsetSyncFormatter", "those of before")},
	}
	wait := int((f.emitBudget() + f.commitBudget()) / 1000)
	c := f.v.clusters[a.ref.Cluster]
	drop := finding.Step{Text: "delete the abandoned topic, once no group stands before the first sync of the one in use", Command: topicsCommand(c, "--delete --topic "+finding.Quote(a.ref.Topic)), Destructive: true, Undo: "none: the old mappings are gone"}
	fd.Fixes = []finding.Fix{{Mode: "kafka", WaitSeconds: wait, Steps: []finding.Step{captureStep(f), drop},
		Text: fmt.Sprintf("Let the groups on %s read past the first sync of the topic in use before a failover; then delete the other one.", f.Source)}}
	switch {
	case a.ref.Last > 0 && a.ref.Last > sy.Last+f.flushBudget():
		fd.Because += "; the other one is the newer: MirrorMaker 2 writes there now, by another configuration or release than the doctor was told"
		fd.Consequence = "What is said of this flow rests on a topic that is no longer written."
		fd.Fixes[0].Text = "Give the doctor the configuration that is in force (and --mm2-version), or set MirrorMaker 2 back to the names it had."
		fd.Fixes[0].Steps = nil
	case a.what == "separator":
		fd.Because += fmt.Sprintf("; they differ in the separator (%q and %q): from 3.1.0 on replication.policy.separator also makes the names of internal topics", f.Policy.InternalSeparator, a.sep)
		fd.Bugs = []string{"KAFKA-10777"}
		fd.Fixes[0].Text += " To go back to the old names instead: 3.5.2 and 3.6.0 or later, replication.policy.internal.topic.separator.enabled=false with replication.policy.separator set, on all connectors and clients."
	default:
		fd.Because += "; offset-syncs.topic.location was changed"
	}
	if len(groups) > 0 {
		fd.Because += fmt.Sprintf("; groups that stand before the first sync of the topic in use (%d): %s", len(groups), list(groups, 5))
	} else if parts == 0 && (a.ref.Last == 0 || a.ref.Last <= sy.Last+f.flushBudget()) {
		fd.Severity = finding.Info
		fd.Consequence = "The topic in use covers all that the source still holds; the other one is a leftover."
	}
	return fd
}

func (a abandoned) words(now int64) string {
	w := fmt.Sprintf("%s on %s, %d records", a.ref.Topic, a.ref.Cluster, a.ref.Records)
	if a.ref.Last > 0 {
		w += ", newest " + age(now-a.ref.Last) + " old"
	}
	return w
}

// ownAlias finds a topic on a cluster that carries that cluster's own alias, or the default of target.cluster.alias, "target",
// where that is no alias of the flow: MirrorMaker 2 puts the alias of the other cluster into the name.
func (f *flowView) ownAlias() (ref snapshot.TopicRef, key string, ok bool) {
	f.v.touch(finding.SyncsOthers)
	for _, r := range f.SyncsOthers.Or(nil) {
		if r.Records == 0 {
			continue
		}
		wrong, key := f.Source, "target.cluster.alias"
		if r.Cluster == f.Target {
			wrong, key = f.Target, "source.cluster.alias"
		}
		if _, own := syncsNamed(r.Topic, wrong); own {
			return r, key, true
		}
		if _, def := syncsNamed(r.Topic, "target"); def && r.Cluster == f.Source && f.Target != "target" && f.onConnect() && f.Mode != "strimzi" { // the default of a connector that was given none
			return r, key, true
		}
	}
	return ref, "", false
}

// checkOwnAlias: an error where the flow's own topic is missing, empty or older; else a topic of someone else's naming.
func checkOwnAlias(_ *View, s subject) *finding.Finding {
	f := s.flow
	sy, st := f.Syncs.Get()
	r, key, ok := f.ownAlias()
	if !ok || st == snapshot.Unknown {
		return nil
	}
	right := f.otherAlias(r.Cluster)
	have := "not known"
	if e, st := f.setting(connSource, key).Get(); st == snapshot.Known {
		have = e.Value + " (" + where(e) + ")"
	}
	fix := finding.Fix{Mode: f.fixMode(), WaitSeconds: int((f.discoveryStart() + f.flushBudget() + f.emitBudget() + f.commitBudget()) / 1000), Steps: setSource(f, key, right),
		Text: fmt.Sprintf("Set %s=%s on the source connector, as in the others. It begins with a new topic then; groups that stand before its first sync on %s are translated once they have read past it.", key, right, f.Source)}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "found", Value: fmt.Sprintf("%s on %s, %d records", r.Topic, r.Cluster, r.Records)}, {Name: "expected", Value: f.SyncsTopic + " on " + f.SyncsOn}, {Name: key + " of the source connector", Value: have}},
		Because:     fmt.Sprintf("%s lies on %s itself: an offset-syncs topic carries the alias of the other cluster, so a source connector that writes to it has a wrong %s", r.Topic, r.Cluster, key),
		Consequence: fmt.Sprintf("MirrorCheckpointConnector reads %s on %s, where nothing new arrives: no position is translated.", f.SyncsTopic, f.SyncsOn),
		Confirm:     []finding.Command{listTopics(f.v.clusters[r.Cluster], "both names"), recordsCommand(f.v.clusters[r.Cluster], r.Topic, r.Records, "OffsetSyncFormatter", "syncs of this flow's topics")},
		Fixes:       []finding.Fix{fix},
	}
	if st == snapshot.Known && sy.Records > 0 && (r.Last == 0 || r.Last <= sy.Last+f.flushBudget()) {
		fd.Severity = finding.Info
		fd.Consequence = fmt.Sprintf("The flow's own topic is written all the same; the other one is of an earlier configuration, or of a set-up that gives %s another alias.", r.Cluster)
	}
	return fd
}
