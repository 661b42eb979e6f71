package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Rules answers single questions about one flow of a snapshot by the rules that Run judges by: filters, names, what MirrorMaker 2
// translates, and how it is stopped in the flow's mode. It serves those who plan a translation.
type Rules struct{ f *flowView }

// RulesOf gives the rules of each flow, in the order of the snapshot.
func RulesOf(s *snapshot.Snapshot) []Rules {
	var out []Rules
	for _, f := range newView(s).flows {
		out = append(out, Rules{f})
	}
	return out
}

// Flow is the flow that the rules are about.
func (r Rules) Flow() *snapshot.Flow { return r.f.Flow }

// Version is the release of MirrorMaker 2; zero where it is not known.
func (r Rules) Version() mm2.Version { return r.f.gens.version }

// CountsOn says whether the release at work may be, and whether it must be, one that counts on linearly from the newest offset
// sync (up to 3.4.0), so that its translations may lie behind records that were never read.
func (r Rules) CountsOn() (may, must bool) {
	s := r.f.gens.set
	may = s.Has(mm2.G1) || s.Has(mm2.G2)
	return may, may && !s.Has(mm2.G3) && !s.Has(mm2.G4) && !s.Has(mm2.G5)
}

// Remote is the name of a source topic's copy. Where the policy's rule is not known it is a guess, and sure is false.
func (r Rules) Remote(topic string) (name string, sure bool) {
	_, known := r.f.policy().FormatRemoteTopic(r.f.Source, topic)
	return r.f.remote(topic), known
}

// Upstream is the source topic that a topic on the target is the copy of.
func (r Rules) Upstream(topic string) (string, bool) { return r.f.upstream(topic) }

// OwnTopic says that a topic is one of Kafka's or MirrorMaker 2's own.
func (r Rules) OwnTopic(topic string) bool { return r.f.isMM2Topic(topic) }

// FromTarget says that a source topic was itself mirrored from the target.
func (r Rules) FromTarget(topic string) bool { return r.f.comesFromTarget(topic) }

// Passes is what MirrorMaker 2's filters make of a name. Why says which pattern decides, or why it is not known.
type Passes struct {
	Known, Passes, ByDefault bool
	Why                      string
}

func (d decision) told(what string) Passes {
	p := Passes{Known: d.known, Passes: d.passes, Why: d.why}
	if d.known && !d.passes {
		p.ByDefault = d.excluded && d.entry.Default
		p.Why = d.left(what)
	}
	return p
}

// Group is the checkpoint connector's filter for groups.
func (r Rules) Group(id string) Passes { return r.f.groupFilter(id).told("group id") }

// Topic is its filter for topics.
func (r Rules) Topic(name string) Passes { return r.f.topicFilter(name).told("topic name") }

// Translation is what MirrorMaker 2 of this version makes of a position by the offset syncs it holds.
type Translation struct {
	Known  bool // the topics alone can tell
	None   bool // and the answer is that there is no translation
	Offset int64
	Sync   SyncRef
	Why    string
}

// Translate gives MirrorMaker 2's translation of a source position.
func (r Rules) Translate(topic string, part int32, up int64) Translation {
	gp := groupPartition{flow: r.f, topic: topic, part: part, remote: r.f.remote(topic)}
	t, st, gap := gp.translate(up)
	switch {
	case st == snapshot.Unknown:
		return Translation{Why: gap.String()}
	case st == snapshot.Absent:
		return Translation{Known: true, None: true, Why: "there is no offset sync for the partition"}
	case !t.known:
		return Translation{Why: t.why}
	case t.none:
		return Translation{Known: true, None: true, Why: "the position lies before the oldest offset sync that MirrorMaker 2 holds"}
	}
	return Translation{Known: true, Offset: t.value, Sync: SyncRef{t.sync.Up, t.sync.Down, t.sync.Offset}}
}

// SyncsGroups says whether group-offset sync is in force; why where that is not known.
func (r Rules) SyncsGroups() (on, known bool, why string) {
	if v := r.Version(); !v.IsZero() && v.Before(2, 7, 0) {
		return false, true, "MirrorMaker 2 before 2.7.0 commits no group offsets"
	}
	on, e, ok := r.f.flag(connCheckpoint, keySyncEnabled)
	switch {
	case ok:
		return on, true, keySyncEnabled + "=" + e.Value + " (" + where(e) + ")"
	case r.f.settings.gap != nil:
		return false, false, r.f.settings.gap.String()
	}
	return false, false, keySyncEnabled + " is not known"
}

// Works says whether the checkpoint connector runs, by its stored states and by heartbeats; known is false where neither tells.
func (r Rules) Works() (yes, known bool, why string) {
	f := r.f
	if down := f.connectorDown(connCheckpoint); down != "" {
		return false, true, down
	}
	if beat, st := f.Heartbeat.Get(); st == snapshot.Known && beat > 0 {
		if old := f.v.began - beat; old < silence {
			return true, true, fmt.Sprintf("its newest heartbeat is %s old", age(max(0, old)))
		} else if on, _, ok := f.flag(connHeartbeat, keyBeatEnabled); ok && on && !f.onConnect() {
			return false, true, fmt.Sprintf("its newest heartbeat is %s old", age(old))
		}
	}
	if e := f.earlier; e != nil {
		if a, st := f.Positions.Get(); st == snapshot.Known {
			if b, st := e.Positions.Get(); st == snapshot.Known && fmt.Sprint(a) != fmt.Sprint(b) {
				return true, true, "its stored positions advance"
			}
		}
	}
	for _, t := range f.Tasks.Or(nil) {
		if t.Connector == connCheckpoint && t.Task >= 0 && t.State == "RUNNING" {
			return true, true, fmt.Sprintf("its checkpoint task %d says RUNNING", t.Task)
		}
	}
	return false, false, "whether MirrorMaker 2 runs is not known: " + f.Tasks.Why().String()
}

// CommitSeconds is the interval at which MirrorMaker 2 commits to idle groups.
func (r Rules) CommitSeconds() int64 { return r.f.seconds(connCheckpoint, keySyncInterval, 60) }

// BlindTo says that this MirrorMaker 2 cannot compare with what an empty group of the type has on the target, and so writes its
// checkpoints over it at each pass.
func (r Rules) BlindTo(t kafka.GroupType) (blind, known bool) {
	a := r.f.blindTo(t)
	return a == yes, a != dunno
}

// ReadsCommitted says whether the source is read with isolation.level=read_committed.
func (r Rules) ReadsCommitted() (yes, known bool) {
	return r.f.readsCommitted(), r.f.sourceConsumer(keyIsolation).State() != snapshot.Unknown
}

// Incompatible says that consumers of one type of group cannot take over a group of the other; version is the broker's.
func Incompatible(a, b kafka.GroupType, version string) bool { return incompatible(a, b, version) }

// Stop ends what MirrorMaker 2 writes to groups on the target, in the words of the flow's mode; Start takes it up again.
func (r Rules) Stop() []finding.Step  { return r.f.mode().stop(r.f, []string{connCheckpoint}) }
func (r Rules) Start() []finding.Step { return r.f.mode().start(r.f, []string{connCheckpoint}) }

// StopBoth and StartBoth are for the source connector too.
func (r Rules) StopBoth() []finding.Step  { return r.f.mode().stop(r.f, bothConnectors) }
func (r Rules) StartBoth() []finding.Step { return r.f.mode().start(r.f, bothConnectors) }

// Restart starts the checkpoint connector again.
func (r Rules) Restart() []finding.Step { return restartSteps(r.f, connCheckpoint) }

// Keep writes down what there is before something is deleted.
func (r Rules) Keep() finding.Step { return captureStep(r.f) }

// ForgetCheckpoints deletes the checkpoints topic, ForgetSyncs the offset syncs, while nothing writes them.
func (r Rules) ForgetCheckpoints() finding.Step { return r.f.forgetStep() }
func (r Rules) ForgetSyncs() finding.Step {
	return finding.Step{Text: "delete the offset syncs, which speak of a topic of before; they are made again at the start", Command: topicsCommand(r.f.syncsCluster(), "--delete --topic "+finding.Quote(r.f.SyncsTopic)), Destructive: true, Undo: "none: the old mappings are gone"}
}
