package diagnose

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// connectChecks are about how connectors agree with each other and with their worker.
var connectChecks = []check{
	{Code: 211, Grain: finding.OnFlow, Uses: finding.CheckpointsElse | finding.CheckpointSet | finding.Settings | finding.TargetLog, Applies: notDedicated, Gap: workerClusterUnknown, Decides: true, Run: checkWorkerCluster},
}

// Keys in which connectors have to agree with each other or with their worker.
const (
	keySourceAlias       = "source.cluster.alias"
	keyTargetAlias       = "target.cluster.alias"
	keyPolicyClass       = "replication.policy.class"
	keySeparator         = "replication.policy.separator"
	keyInternalSeparator = "replication.policy.internal.topic.separator.enabled"
	keyOverride          = "producer.override.bootstrap.servers"
)

// notDedicated: a dedicated MirrorMaker 2 attaches its workers to the target by itself.
func notDedicated(_ *View, s subject) bool { return s.flow.Mode != "dedicated" }

// attachedTo names the cluster of the flow that the Connect worker is attached to: an alias, "" for a third cluster; ok is false
// where that is not known.
func (f *flowView) attachedTo() (alias string, ok bool) {
	src, sst := f.src.ID.Get()
	dst, dst2 := f.dst.ID.Get()
	if r := f.Resource; f.WorkerCluster == "" && r != nil {
		return f.attachedBy(r.WorkerOn)
	}
	if f.WorkerCluster == "" || sst != snapshot.Known || dst2 != snapshot.Known || src == dst {
		return "", false
	}
	switch f.WorkerCluster {
	case dst:
		return f.Target, true
	case src:
		return f.Source, true
	}
	return "", true
}

// attachedBy is the same by a resource, which names an alias. That it names the target tells what is meant, not what runs.
func (f *flowView) attachedBy(alias string) (string, bool) {
	c := f.v.clusters[alias]
	switch {
	case alias == "" || alias == f.Target || sameCluster(f.src, f.dst):
		return "", false
	case alias == f.Source || c != nil && sameCluster(c, f.src):
		return f.Source, true
	case c != nil && sameCluster(c, f.dst):
		return "", false
	}
	return "", true
}

// checkpointsArrive says that the target holds checkpoints: whatever the worker is attached to, they reach it.
func (f *flowView) checkpointsArrive() bool {
	f.v.touch(finding.CheckpointSet)
	c, st := f.Checkpointed.Get()
	return st == snapshot.Known && c.Records > 0
}

// workerClusterUnknown: the worker said which cluster it is attached to, and which one of the flow that is is not known; or no
// checkpoint is on the target, and whether some are on the source is not known.
func workerClusterUnknown(v *View, s subject) *snapshot.Gap {
	f := s.flow
	if f.checkpointsArrive() {
		return nil
	}
	if _, ok := f.attachedTo(); !ok && f.WorkerCluster != "" {
		for _, c := range []*clusterView{f.src, f.dst} {
			if c.ID.Unknown() && c.ID.Why() != nil {
				return c.ID.Why()
			}
		}
	}
	if gap := f.CheckpointsElsewhere.Why(); f.WorkerCluster == "" && gap != nil && gap.Code != "not-asked" {
		return gap
	}
	if f.Checkpointed.Unknown() && f.Checkpointed.Why() != nil {
		return f.Checkpointed.Why()
	}
	return nil
}

// checkWorkerCluster: mirrored data and checkpoints are written by the worker's own producer, whatever
// target.cluster.bootstrap.servers says, while group offsets are committed on the target.
func checkWorkerCluster(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.CheckpointsElse | finding.CheckpointSet)
	if f.checkpointsArrive() || f.Checkpointed.Unknown() {
		return nil // a producer override, or what lies on the source is left from before
	}
	if e := f.setting(connCheckpoint, keyOverride); e.Known() {
		return nil // it writes elsewhere than its worker; where to is not told by the worker's cluster
	}
	where, told := f.attachedTo()
	else_, est := f.CheckpointsElsewhere.Get()
	found := est == snapshot.Known && else_.Records > 0
	if told && where == f.Target || !told && !found {
		return nil
	}
	if told && !found && !f.Checkpointed.Absent() && f.eligibleGroups() == 0 {
		return nil // nothing to write: no proof that it goes anywhere
	}
	fd := &finding.Finding{
		Subject:     finding.Subject{Connector: f.connectorName(connCheckpoint)},
		Consequence: fmt.Sprintf("Data and checkpoints do not arrive on %s, while group offsets are committed there: they point into copies that stay empty. Where `topics` admits them, the copies on the wrong cluster are mirrored once more.", f.Target),
		Confirm: []finding.Command{
			{Cluster: f.Target, Command: "kafka-cluster.sh cluster-id --bootstrap-server " + strings.Replace(bootstrapOf(f.dst), " --command-config ", " --config ", 1), Shows: "the target's cluster id, to be compared with kafka_cluster_id"},
			listTopics(f.src, f.Checkpoints+" and copies, which belong on "+f.Target)},
	}
	if f.ConnectURL != "" {
		fd.Confirm = append(fd.Confirm, finding.Command{Cluster: f.Target, Command: "curl -sS " + finding.Quote(f.ConnectURL+"/"), Shows: "kafka_cluster_id: the cluster that the worker is attached to"})
	}
	if told && f.WorkerCluster == "" {
		r := f.resource()
		fd.Slug = "connect-cluster-not-target"
		fd.Observed = finding.Observed{{Name: "spec.connectCluster", Value: r.WorkerOn}, {Name: "targetCluster of the mirror", Value: f.Target}}
		fd.Because = fmt.Sprintf("spec.connectCluster of the resource is %s, and the mirror writes to %s: Strimzi from 0.41 on refuses such a resource; up to 0.40 its worker writes what it mirrors to %s, and no checkpoint is on %s", r.WorkerOn, f.Target, r.WorkerOn, f.Target)
		fd.Confirm = append(fd.Confirm, finding.Command{Cluster: f.Target, Command: f.kubectl("get", "-o jsonpath='{.spec.connectCluster}'"), Shows: "the alias of the cluster that the worker is attached to"})
	} else if told {
		fd.Slug = "connect-cluster-not-target"
		on := f.Source
		if where == "" {
			on = "neither of the two"
		}
		fd.Observed = finding.Observed{{Name: "worker's cluster", Value: f.WorkerCluster + " (" + on + ")"}, {Name: f.Target, Value: f.dst.ID.Or("")}}
		fd.Because = fmt.Sprintf("the Connect worker is attached to the cluster %s", f.WorkerCluster)
		if where != "" {
			fd.Because += ", which is the source " + f.Source
		} else {
			fd.Because += fmt.Sprintf(", which is neither %s nor %s", f.Source, f.Target)
		}
		fd.Because += fmt.Sprintf("; a worker writes what its connectors mirror to its own cluster, and no checkpoint is on %s", f.Target)
	}
	if found {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "checkpoints on " + else_.Cluster, Value: fmt.Sprintf("%s: %d records", else_.Topic, else_.Records)})
		if !told {
			fd.Because = fmt.Sprintf("%s stands on the source %s with %d records, and on the target %s there is no checkpoint: the Connect worker is attached to the source and writes there", else_.Topic, f.Source, else_.Records, f.Target)
		}
	}
	fd.Fixes = []finding.Fix{f.attachFix()}
	return fd
}

// attachFix lets what the connectors write arrive on the target. Only Connect mode leaves a choice: Strimzi from 0.41 on and
// MSK Connect attach a worker as a whole.
func (f *flowView) attachFix() finding.Fix {
	fix := finding.Fix{Mode: f.fixMode(), WaitSeconds: int((f.topicBudget() + f.flushBudget() + f.emitBudget() + f.commitBudget()) / 1000)}
	stay := fmt.Sprintf("Run the three connectors on a Connect cluster that is attached to %s (bootstrap.servers of the worker). ", f.Target)
	switch f.fixMode() {
	case "strimzi":
		fix.Text = fmt.Sprintf("Attach the workers of the resource to %s. They begin anew there: source offsets stay in the topics of the cluster that they were attached to, so everything is mirrored from the start. Mirrors into several targets need a resource for each.", f.Target)
		fix.Steps = f.attachInResource()
	case "msk-connect":
		fix.Text = fmt.Sprintf("Create the connectors again with %s as their kafkaCluster: MSK Connect attaches a connector when it is created.", f.Target)
		fix.Steps = f.mode().stop(f, bothConnectors)
		for _, c := range bothConnectors {
			fix.Steps = append(fix.Steps, createByMSK(f, c, " and "+f.Target+" as kafkaCluster"))
		}
	default: // a dedicated MirrorMaker 2 attaches its workers by itself, so it is Connect where nobody told the mode
		fix.Mode = "connect"
		fix.Text = stay + fmt.Sprintf("Where the worker has to stay: let the connectors' producers write to %s, the heartbeat connector's too, with the target's security settings under the same prefix; before Connect 3.0 the worker needs connector.client.config.override.policy=All for that (KIP-722).", f.Target)
		fix.Steps = setByREST(f, bothConnectors, finding.Observed{{Name: keyOverride, Value: strings.Join(f.dst.Bootstrap, ",")}})
	}
	fix.Steps = append(fix.Steps, finding.Step{Text: "see which copies lie on the wrong cluster; remove them when nobody reads them", Command: topicsCommand(f.src, "--list")})
	return fix
}

// attachInResource changes connectCluster; v1 of the resource has none, there spec.target leads to the wrong cluster.
func (f *flowView) attachInResource() []finding.Step {
	stops := []string{"mirroring of all mirrors of the resource, for the time of a restart"}
	if f.v1() {
		servers := strings.Join(f.dst.Bootstrap, ",")
		return []finding.Step{{Text: "let spec.target lead to " + f.Target, File: f.File, Stops: stops, Properties: finding.Observed{{Name: "spec.target.bootstrapServers", Value: servers}},
			Command: f.patch(patchOp{Op: "add", Path: "/spec/target/bootstrapServers", Value: servers})}}
	}
	st := finding.Step{Text: "attach the workers to " + f.Target, File: f.File, Stops: stops, Properties: finding.Observed{{Name: "spec.connectCluster", Value: f.Target}},
		Command: f.patch(patchOp{Op: "add", Path: "/spec/connectCluster", Value: f.Target})}
	if on := f.resource().WorkerOn; on != "" && on != f.Target {
		st.Undo = "set it back to " + on
	}
	return []finding.Step{st}
}

// naming is how the two connectors disagree about names; a zero naming is agreement, as far as it is known.
type naming struct {
	proved bool   // names differ
	maybe  bool   // a class whose rule is not known stands against another
	topics bool   // names of copies differ, not only those of internal topics
	rule   string // in words
	facts  finding.Observed
	source mm2.Policy
	values finding.Observed // what the checkpoint connector has to be given
}

// policyOf is how a connector names topics, by its own settings.
func (f *flowView) policyOf(connector string) (mm2.Policy, bool) {
	class, st := f.setting(connector, keyPolicyClass).Get()
	if st != snapshot.Known {
		return mm2.Policy{}, false
	}
	sep, sst := f.setting(connector, keySeparator).Get()
	flag, _, ok := f.flag(connector, keyInternalSeparator)
	return mm2.NewPolicy(mm2.PolicyConfig{Class: class.Value, Separator: sep.Value, SeparatorSet: sst == snapshot.Known && !sep.Default, InternalSeparatorEnabled: !ok || flag, SourceAlias: f.Source}, f.gens.version), true
}

// namingMismatch compares the policies of source and checkpoint connector.
func (f *flowView) namingMismatch() naming {
	src, sok := f.policyOf(connSource)
	chk, cok := f.policyOf(connCheckpoint)
	if !sok || !cok {
		return naming{}
	}
	if run, st := f.Running.Get(); st == snapshot.Known && run.Time > 0 && f.v.now-run.Time < startGrace {
		return naming{} // one connector's new settings may be stored and the other's not yet
	}
	n := naming{source: src}
	for _, key := range []string{keyPolicyClass, keySeparator, keyInternalSeparator} {
		s, sst := f.setting(connSource, key).Get()
		c, cst := f.setting(connCheckpoint, key).Get()
		if sst != snapshot.Known || cst != snapshot.Known || strings.TrimSpace(s.Value) == strings.TrimSpace(c.Value) && s.Default == c.Default {
			continue
		}
		n.facts = append(n.facts, snapshot.Named{Name: key, Value: fmt.Sprintf("%s: %q (%s), %s: %q (%s)", f.connectorName(connSource), s.Value, where(s), f.connectorName(connCheckpoint), c.Value, where(c))})
		n.values = append(n.values, snapshot.Named{Name: key, Value: s.Value})
	}
	sName, sKnown := src.FormatRemoteTopic(f.Source, "orders")
	cName, cKnown := chk.FormatRemoteTopic(f.Source, "orders")
	switch {
	case sKnown && cKnown:
		n.topics = sName != cName
		n.proved = n.topics || src.Internal != chk.Internal && f.sharesNames(src, chk)
	default:
		n.maybe = src.Class != chk.Class
	}
	n.rule = fmt.Sprintf("MirrorSourceConnector names copies by %s, MirrorCheckpointConnector by %s", described(src), described(chk))
	return n
}

// sharesNames: internal names decide only through the offset-syncs topic, which both connectors have to call the same.
func (f *flowView) sharesNames(src, chk mm2.Policy) bool {
	return mm2.OffsetSyncsTopic(f.Target, src.Internal) != mm2.OffsetSyncsTopic(f.Target, chk.Internal)
}

func described(p mm2.Policy) string {
	s := p.ShortClass()
	if p.Separator != mm2.DefaultSeparator || p.Internal != mm2.DefaultSeparator {
		s += fmt.Sprintf(" with separator %q (in internal names %q)", p.Separator, p.Internal)
	}
	return s
}

// aliasMismatch finds, in Connect mode, the connector that this flow lacks in another flow between the same two clusters: the two
// were given different aliases, so that each looks like a flow without its half.
func (f *flowView) aliasMismatch() (other *flowView, lacks string) {
	f.v.touch(finding.Running)
	run, st := f.Running.Get()
	if st != snapshot.Known || !f.onConnect() || len(run.Source) > 0 == (len(run.Checkpoint) > 0) {
		return nil, ""
	}
	lacks = connCheckpoint
	if len(run.Source) == 0 {
		lacks = connSource
	}
	for _, o := range f.others() {
		or, st := o.Running.Get()
		if st != snapshot.Known || o.ConnectURL != f.ConnectURL || len(entriesOf(&or, lacks)) == 0 || len(or.Source) > 0 == (len(or.Checkpoint) > 0) {
			continue
		}
		if sameCluster(f.src, o.src) && sameCluster(f.dst, o.dst) {
			return o, lacks
		}
	}
	return nil, ""
}

// sameCluster goes by cluster ids.
func sameCluster(a, b *clusterView) bool {
	x, xst := a.ID.Get()
	y, yst := b.ID.Get()
	return xst == snapshot.Known && yst == snapshot.Known && x == y
}

// aliasFinding says what different aliases break: they stand in the names of copies and of MirrorMaker 2's own topics.
func (f *flowView) aliasFinding(o *flowView, lacks string) *finding.Finding {
	src, chk := f, o // who mirrors, who translates
	if lacks == connSource {
		src, chk = o, f
	}
	fd := &finding.Finding{Slug: "alias-mismatch", Subject: finding.Subject{Connector: chk.connectorName(connCheckpoint)},
		Observed: finding.Observed{{Name: src.connectorName(connSource), Value: src.Name()}, {Name: chk.connectorName(connCheckpoint), Value: chk.Name()}},
		Because:  fmt.Sprintf("%s and %s run between the same two clusters under different aliases: %s and %s", src.connectorName(connSource), chk.connectorName(connCheckpoint), src.Name(), chk.Name())}
	var broken []string
	values := finding.Observed{}
	if src.Source != chk.Source {
		broken = append(broken, fmt.Sprintf("copies are called %s, checkpoints and commits speak of %s", src.remote("TOPIC"), chk.remote("TOPIC")))
		values = append(values, snapshot.Named{Name: keySourceAlias, Value: src.Source})
	}
	if src.Target != chk.Target {
		values = append(values, snapshot.Named{Name: keyTargetAlias, Value: src.Target})
	}
	if src.SyncsTopic != chk.SyncsTopic {
		broken = append(broken, fmt.Sprintf("offset syncs are written to %s and read from %s", src.SyncsTopic, chk.SyncsTopic))
	}
	fd.Consequence = "No group gets an offset: " + strings.Join(broken, "; ") + "."
	fd.Confirm = []finding.Command{configOf(src, connSource, keySourceAlias+" and "+keyTargetAlias), configOf(chk, connCheckpoint, keySourceAlias+" and "+keyTargetAlias)}
	fd.Fixes = []finding.Fix{aliasFix(src, chk, values)}
	return fd
}

// aliasFix gives the checkpoint connector the aliases of the source connector. Strimzi takes them from the mirror, so there the
// connector moves into the other mirror.
func aliasFix(src, chk *flowView, values finding.Observed) finding.Fix {
	wait := chk.discoveryStart() + chk.emitBudget() + chk.commitBudget()
	if chk.fixMode() != "strimzi" {
		return finding.Fix{Mode: chk.fixMode(), Text: "Give the checkpoint connector the aliases of the source connector; without target.cluster.alias it is called target.", WaitSeconds: int(wait / 1000),
			Steps: chk.mode().set(chk, []string{connCheckpoint}, values)}
	}
	fix := addSectionFix(src, wait)
	fix.Text = "Make the checkpoint connector in the mirror of the source connector: the operator takes the aliases from the mirror."
	ch := patchOp{Op: "remove", Path: chk.mirrorPath() + "/checkpointConnector"}
	fix.Steps = append(fix.Steps, finding.Step{Text: "take it out of the mirror " + chk.Name(), File: chk.File, Command: chk.patch(ch), Stops: []string{chk.connectorName(connCheckpoint)}, Undo: "put the section back"})
	return fix
}
