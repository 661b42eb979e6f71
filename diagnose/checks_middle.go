package diagnose

import (
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// firstMirrored is the source offset of the copy's very first record, where the syncs still show it: the oldest sync stands at
// downstream offset 0. start is the source's log start, which lies before it.
func (gp groupPartition) firstMirrored() (first, start int64, ok bool) {
	ps, st := gp.syncsOf().Get()
	p, pst := gp.sourcePartition().Get()
	if st != snapshot.Known || pst != snapshot.Known || !p.Start.Known() || ps.Rewinds > 0 || ps.Oldest.Down != 0 {
		return 0, 0, false // after a step back the first record of the present copy is another (106)
	}
	return ps.Oldest.Up, p.Start.Or(0), p.Start.Or(0) < ps.Oldest.Up
}

// readsFromEnd says that the source connector begins at the end of a partition it has no position of. Up to 3.6.1 the setting is
// ignored: the connector seeks to 0 (KAFKA-13988).
func (f *flowView) readsFromEnd() (e snapshot.ConfigEntry, yes bool) {
	e, st := f.sourceConsumer(keyOffsetReset).Get()
	if st != snapshot.Known || strings.TrimSpace(strings.ToLower(e.Value)) != "latest" {
		return e, false
	}
	f.v.touch(finding.Generation)
	v := f.gens.version
	if v.IsZero() {
		g, one := f.gens.set.Only()
		return e, one && g == mm2.G5
	}
	return e, v.AtLeast(3, 6, 2)
}

// compacted is whether the topic on a cluster loses records in the middle.
func (f *flowView) compacted(c *clusterView, topic string) snapshot.Fact[bool] {
	e := f.topicSetting(c, topic, "cleanup.policy")
	x, st := e.Get()
	if st == snapshot.Unknown {
		return snapshot.NotKnown[bool](e.Why())
	}
	return snapshot.Is(strings.Contains(x.Value, "compact"))
}

// middleUnknown: whether anything stood before the first mirrored record depends on how the source topic is cleaned.
func middleUnknown(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	if p, st := s.gp.sourcePartition().Get(); st == snapshot.Known && p.Start.Unknown() {
		return p.Start.Why()
	}
	first, start, ok := s.gp.firstMirrored()
	if !ok || first-start <= 1 {
		return nil
	}
	if _, latest := f.readsFromEnd(); latest || f.readsCommitted() {
		return nil
	}
	if c := f.compacted(f.src, s.topic); c.Unknown() {
		if c.Why() == nil {
			return &snapshot.Gap{Code: "not-asked", Cluster: f.Source, API: "DescribeConfigs topic", Why: "how the topic is cleaned was not asked"}
		}
		return c.Why()
	}
	return nil
}

// checkMiddle: the copy's first record is not the source's. Offsets alone prove no record where compaction, or a transaction that
// was aborted, leaves holes; there the setting that makes the connector begin at the end must say so too.
func checkMiddle(_ *View, s subject) *finding.Finding {
	f := s.flow
	first, start, ok := s.gp.firstMirrored()
	if !ok || first-start <= 1 {
		return nil
	}
	e, latest := f.readsFromEnd()
	if !latest {
		if f.readsCommitted() || f.compacted(f.src, s.topic).Or(true) {
			return nil
		}
	}
	groups, least := s.gp.standingBefore(first)
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "first record mirrored", Value: first}, {Name: "log start on " + f.Source, Value: start}, {Name: "offsets without a copy", Value: first - start}, {Name: "groups before it", Value: len(groups)}},
		Because:     fmt.Sprintf("the first record of %s-%d is source offset %d, and %s still holds the log from %d on: mirroring began in the middle", s.gp.remote, s.gp.part, first, f.Source, start),
		Consequence: fmt.Sprintf("The offsets %d to %d have no copy on %s, and no position among them can be translated.", start, first-1, f.Target),
		Confirm:     []finding.Command{syncsCommand(f), logEnds(f.src, s.topic, " --time -2", "the log start")},
		Fixes: []finding.Fix{{Mode: f.fixMode(), WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000), Steps: f.fromStartSteps(latest),
			Text: fmt.Sprintf("Let each group read on %s past %d before a failover; what lies before is not on %s, and its start there skips it. To have it mirrored after all, the connector must begin anew, which writes everything a second time: only into a new alias or after the copy was deleted.%s", f.Source, first, f.Target, newPartitions(latest))}},
	}
	if len(groups) > 0 {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "least position", Value: least})
		fd.Consequence += fmt.Sprintf(" Groups before it (%d): %s, the lowest at %d; a consumer of theirs that fails over never sees the records from there to %d.", len(groups), list(groups, 5), least, first-1)
	}
	if latest {
		fd.Because += fmt.Sprintf(" (auto.offset.reset of its consumer is latest, %s)", where(e))
		fd.Observed = append(fd.Observed, snapshot.Named{Name: e.Key, Value: e.Value})
		fd.Subject = s.gp.subject()
		fd.Subject.File, fd.Subject.Line, fd.Subject.Key = e.File, e.Line, e.Key
	}
	return fd
}

// fromStartSteps makes partitions that are new to the connector begin at their start.
func (f *flowView) fromStartSteps(latest bool) []finding.Step {
	if !latest {
		return nil
	}
	return setSource(f, "source.consumer."+keyOffsetReset, "earliest")
}

func newPartitions(latest bool) string {
	if !latest {
		return ""
	}
	return " The setting makes partitions that are new to the connector begin at their start; those it knows go on from where they are."
}
