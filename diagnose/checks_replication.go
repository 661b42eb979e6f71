package diagnose

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// replicationChecks are link 0: is there a copy at all.
var replicationChecks = []check{
	{Code: 109, Grain: finding.OnTopic, Needs: finding.SourceTopic | finding.TargetTopic | finding.Settings, Uses: finding.Running | pulseFacts, Applies: topicWithoutCopy, Gap: topicAgeUnknown, Run: checkNotMirrored},
	{Code: 604, Grain: finding.OnTopic, Needs: finding.SourceTopic | finding.TargetTopic, Uses: pulseFacts, Applies: topicOfFlow, Gap: surplusAgeUnknown, Run: checkPartitionCount},
}

// topicOfFlow narrows to topics that the source connector's list admits, as far as the list is known.
func topicOfFlow(_ *View, s subject) bool {
	d := s.flow.sourceTopicFilter(s.topic)
	return !d.known || d.passes
}

func topicWithoutCopy(v *View, s subject) bool {
	return topicOfFlow(v, s) && !s.gp.targetTopic().Known()
}

func checkNotMirrored(v *View, s subject) *finding.Finding {
	f := s.flow
	src, st := s.gp.sourceTopic().Get()
	if st != snapshot.Known || !s.gp.targetTopic().Absent() {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "partitions on " + f.Source, Value: len(src.Partitions)}, {Name: "copy on " + f.Target, Value: s.gp.remote + " does not exist"}},
		Consequence: "No data and no offsets of this topic are on " + f.Target + ".",
		Confirm: []finding.Command{
			describeTopic(f.dst, s.gp.remote, "that the copy does not exist")},
	}
	switch {
	case f.isInternal(s.topic):
		fd.Because = fmt.Sprintf("MirrorMaker 2 takes `%s` for an internal topic by its name and never mirrors it, whatever `topics` says", s.topic)
		fd.Fixes = []finding.Fix{{Mode: f.fixMode(), Text: "Mirror a topic of another name: up to 3.9 a name that ends in .internal or -internal is never mirrored; from 4.0 on (KIP-1074) only MirrorMaker 2's own are left out, so an upgrade mirrors it too.", WaitSeconds: int(f.topicBudget() / 1000)}}
		return fd
	case f.sourceConnectorDown() != "":
		fd.Because = "MirrorSourceConnector does not work: " + f.sourceConnectorDown()
		fd.Fixes = []finding.Fix{restartSourceFix(f, "Repair what the trace names, then restart MirrorMaker 2.", f.topicBudget())}
		return fd
	}
	if f.justStarted(connSource) {
		fd.Severity = finding.Info
		fd.Because = "MirrorMaker 2 has just started; it makes the copies now"
		return fd
	}
	// A topic younger than one refresh has no copy yet; only its oldest record tells its age.
	oldest, any := oldestRecord(src)
	if any && v.now-oldest < f.topicBudget() || !any {
		fd.Severity = finding.Info
		fd.Because = fmt.Sprintf("the topic is new or empty; MirrorMaker 2 looks for new topics every %d s%s", f.seconds(connSource, keyRefreshTopics, 600), f.unlessDown())
		return fd
	}
	fd.Because = fmt.Sprintf("`topics` admits it, its oldest record is %s old, and MirrorMaker 2 looks for new topics every %d s, yet no copy was made", age(v.now-oldest), f.seconds(connSource, keyRefreshTopics, 600))
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "oldest record", Value: age(v.now - oldest)})
	fd.Fixes = []finding.Fix{restartSourceFix(f, "Look into MirrorMaker 2's log for errors about this topic (missing Create or Describe rights are the most frequent), then restart it.", f.topicBudget())}
	return fd
}

// topicAgeUnknown: no copy, and no time of a record tells whether the topic is older than a refresh of topics.
func topicAgeUnknown(v *View, s subject) *snapshot.Gap {
	f := s.flow
	src, st := s.gp.sourceTopic().Get()
	if st != snapshot.Known || f.isInternal(s.topic) || f.sourceConnectorDown() != "" {
		return nil
	}
	return ageGap(v, f, src, 0)
}

// surplusAgeUnknown: the source has more partitions, and no time of a record tells for how long.
func surplusAgeUnknown(v *View, s subject) *snapshot.Gap {
	src, sst := s.gp.sourceTopic().Get()
	dst, dst2 := s.gp.targetTopic().Get()
	if sst != snapshot.Known || dst2 != snapshot.Known || len(src.Partitions) <= len(dst.Partitions) {
		return nil
	}
	if gap := s.flow.settings.gap; gap != nil {
		return gap // how long MirrorMaker 2 may take is a setting
	}
	return ageGap(v, s.flow, src, len(dst.Partitions))
}

// ageGap looks at the partitions from a number on: nil where one is known to be old, or the age of all that hold records is.
func ageGap(v *View, f *flowView, src *snapshot.Topic, from int) *snapshot.Gap {
	var gap *snapshot.Gap
	for _, p := range src.Partitions {
		if int(p.ID) < from {
			continue
		}
		at, st := p.First.Get()
		if st == snapshot.Known && at > 0 && v.now-at >= f.topicBudget() {
			return nil
		}
		if end, est := p.End.Get(); st == snapshot.Unknown && (est != snapshot.Known || end > p.Start.Or(0)) && gap == nil {
			gap = &snapshot.Gap{Code: "unknown-age", Why: fmt.Sprintf("the time of the oldest record of %s-%d is not known: %s", src.Name, p.ID, p.First.Why())}
		}
	}
	return gap
}

// oldestRecord is the least timestamp of the topic's partitions, ms; false where no partition tells.
func oldestRecord(t *snapshot.Topic) (int64, bool) {
	var at int64
	ok := false
	for _, p := range t.Partitions {
		if ts, st := p.First.Get(); st == snapshot.Known && ts > 0 && (!ok || ts < at) {
			at, ok = ts, true
		}
	}
	return at, ok
}

func checkPartitionCount(v *View, s subject) *finding.Finding {
	f := s.flow
	src, _ := s.gp.sourceTopic().Get()
	dst, st := s.gp.targetTopic().Get()
	if st != snapshot.Known || src == nil || len(src.Partitions) == len(dst.Partitions) {
		return nil
	}
	fd := &finding.Finding{
		Severity: finding.Info,
		Observed: finding.Observed{{Name: "partitions on " + f.Source, Value: len(src.Partitions)}, {Name: "partitions on " + f.Target, Value: len(dst.Partitions)}},
		Confirm: []finding.Command{
			describeTopic(f.src, s.topic, "PartitionCount"),
			describeTopic(f.dst, s.gp.remote, "PartitionCount")},
	}
	if len(src.Partitions) < len(dst.Partitions) {
		fd.Because = "the copy has more partitions than the source; the surplus ones stay empty"
		return fd
	}
	fd.Because = fmt.Sprintf("the source has %d partitions that the copy lacks; MirrorMaker 2 adds them at its next refresh of topics (%d s)%s", len(src.Partitions)-len(dst.Partitions), f.seconds(connSource, keyRefreshTopics, 600), f.unlessDown())
	for _, p := range src.Partitions {
		if int(p.ID) < len(dst.Partitions) {
			continue
		}
		if ts, st := p.First.Get(); st == snapshot.Known && ts > 0 && v.now-ts > f.topicBudget() {
			fd.Severity = finding.Error
			fd.Because = fmt.Sprintf("the source has %d partitions that the copy lacks, and partition %d has had records for %s, longer than a refresh of topics (%d s)", len(src.Partitions)-len(dst.Partitions), p.ID, age(v.now-ts), f.seconds(connSource, keyRefreshTopics, 600))
			fd.Consequence = "Records and offsets of these partitions are not on " + f.Target + "."
			fd.Fixes = []finding.Fix{restartSourceFix(f, "Look into MirrorMaker 2's log for errors about this topic (missing Alter right on the target's topic), or add the partitions by hand, then restart it.", f.topicBudget(),
				finding.Step{Text: "give the copy as many partitions as the source", Command: fmt.Sprintf("kafka-topics.sh --bootstrap-server %s --alter --topic %s --partitions %d", bootstrapOf(f.dst), finding.Quote(s.gp.remote), len(src.Partitions)), Undo: "none: partitions cannot be taken away"})}
			break
		}
	}
	return fd
}

// sourceConnectorDown says in words why the source connector does not work; empty when it does or when that is not known.
func (f *flowView) sourceConnectorDown() string { return f.connectorDown(connSource) }

// connectorDown reads mm2-status: a failed or stopped connector or task.
func (f *flowView) connectorDown(name string) string {
	f.v.touch(finding.Tasks)
	ts, st := f.Tasks.Get()
	e, asked := f.askedToRest(name)
	if st != snapshot.Known {
		if asked && !f.stillWrites(name) {
			return fmt.Sprintf("the connector is %s by the resource (%s)", strings.ToUpper(e.Value), where(e))
		}
		return ""
	}
	for _, t := range ts {
		if t.Connector != name {
			continue
		}
		switch t.State {
		case "FAILED":
			if t.Task < 0 {
				return "the connector failed: " + t.Trace
			}
			return fmt.Sprintf("task %d failed: %s", t.Task, t.Trace)
		case "PAUSED", "STOPPED":
			if asked {
				return fmt.Sprintf("the connector is %s, as the resource asks (%s)", t.State, where(e))
			}
			return "the connector is " + t.State
		}
	}
	return ""
}
