package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// epochChecks are about the leader epoch that is committed beside an offset (KIP-320).
var epochChecks = []check{
	{Code: 311, Grain: finding.OnGroupPartition, Needs: finding.TargetOffset | finding.TargetLog | finding.TargetGroup, Uses: eligibility | finding.TargetEpochs | finding.SourceOffset, Applies: hasEpoch, Gap: epochUnread, Run: checkEpoch},
}

// hasEpoch narrows to idle groups that committed an epoch: MirrorMaker 2 itself commits none, which is always right.
func hasEpoch(v *View, s subject) bool {
	o, st := s.gp.storedOnTarget().Get()
	return st == snapshot.Known && o.Epoch >= 0 && o.Offset >= 0 && eligibleRow(v, s) && idle(s.gp.targetGroup()) && !s.gp.targetPartition().Absent()
}

// epochEnd is the broker's answer for the committed epoch.
func (gp groupPartition) epochEnd() (end snapshot.EpochEnd, current int32, gap *snapshot.Gap) {
	gp.flow.v.touch(finding.TargetEpochs)
	p, st := gp.targetPartition().Get()
	o, ost := gp.storedOnTarget().Get()
	if st != snapshot.Known || ost != snapshot.Known {
		return end, 0, nil
	}
	current, st = p.Epoch.Get()
	if st != snapshot.Known {
		return end, 0, orNotAsked(p.Epoch.Why())
	}
	es, st := p.Epochs.Get()
	if st != snapshot.Known {
		return end, current, orNotAsked(p.Epochs.Why())
	}
	for _, e := range es {
		if e.Asked != o.Epoch {
			continue
		}
		if e.End < 0 && o.Epoch <= current {
			return e, current, &snapshot.Gap{Code: "undetermined", Cluster: gp.flow.Target, API: "OffsetForLeaderEpoch", Why: fmt.Sprintf("the broker does not know where epoch %d ends, although the partition is at epoch %d", o.Epoch, current)}
		}
		return e, current, nil
	}
	return end, current, &snapshot.Gap{Code: "not-asked", Cluster: gp.flow.Target, API: "OffsetForLeaderEpoch", Why: fmt.Sprintf("where epoch %d ends was not asked", o.Epoch)}
}

func orNotAsked(g *snapshot.Gap) *snapshot.Gap {
	if g == nil {
		return &snapshot.Gap{Code: "not-asked", Why: "not asked"}
	}
	return g
}

func epochUnread(_ *View, s subject) *snapshot.Gap {
	_, _, gap := s.gp.epochEnd()
	return gap
}

// checkEpoch: a Java consumer asks where the committed epoch ends before it reads. Below the committed offset it starts there,
// whatever auto.offset.reset says; an epoch above the current one keeps it waiting for a leader that knows it.
func checkEpoch(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	o, _ := gp.storedOnTarget().Get()
	e, current, gap := gp.epochEnd()
	if gap != nil {
		return nil
	}
	fd := &finding.Finding{
		Observed: finding.Observed{{Name: "T", Value: o.Offset}, {Name: "committed epoch", Value: o.Epoch}, {Name: "current epoch", Value: current}},
		Confirm: []finding.Command{{Cluster: f.Target, Command: groupsCommand(f.dst, "--describe --group "+finding.Quote(gp.group)+" --verbose"), Shows: "CURRENT-OFFSET, and LEADER-EPOCH (tools of 4.0 and later)"},
			describeTopic(f.dst, gp.remote, "the partition's leader, whose log folder has leader-epoch-checkpoint: epochs and where they begin")},
		Fixes: []finding.Fix{epochFix(f, []groupPartition{gp})},
	}
	from := ""
	if u, st := gp.storedOnSource().Get(); st == snapshot.Known && u.Epoch == o.Epoch && o.Epoch > 0 {
		from = fmt.Sprintf("; the group's offset on %s carries the same epoch, as it does where a commit is copied with all that belongs to it", f.Source)
	}
	switch {
	case e.End < 0 && o.Epoch > current:
		fd.Because = fmt.Sprintf("the offset was committed with leader epoch %d, and %s-%d is only at epoch %d%s", o.Epoch, gp.remote, gp.part, current, from)
		fd.Consequence = "Java consumers that start there read nothing, and say nothing, until the partition has come to that epoch."
	case e.End >= 0 && e.End < o.Offset:
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "end of that epoch", Value: e.End})
		fd.Because = fmt.Sprintf("the offset %d was committed with leader epoch %d, which ends at %d in %s-%d%s", o.Offset, o.Epoch, e.End, gp.remote, gp.part, from)
		fd.Consequence = fmt.Sprintf("Java consumers take the log for truncated and start at %d, %d offsets before T, whatever auto.offset.reset says (with none they fail).", e.End, o.Offset-e.End)
		if end, ok := gp.targetEnd(); ok && e.End == end {
			fd.Consequence = fmt.Sprintf("Java consumers start at the end (%d), whatever auto.offset.reset says: no reset takes place.", e.End)
		}
	default:
		return nil
	}
	return fd
}

// epochFix commits the same offsets again, without an epoch.
func epochFix(f *flowView, gps []groupPartition) finding.Fix {
	fix := finding.Fix{Mode: "kafka", Text: fmt.Sprintf("Commit the same offset again without an epoch, while the group is empty on %s; Kafka's tool does. Whoever copied the commit must leave the epoch out: it belongs to the other cluster's log.", f.Target)}
	for _, gp := range gps {
		o, _ := gp.storedOnTarget().Get()
		fix.Steps = append(fix.Steps, finding.Step{Text: "commit the offset again on " + f.Target,
			Command: groupsCommand(f.dst, fmt.Sprintf("--reset-offsets --group %s --topic %s --to-offset %d --execute", finding.Quote(gp.group), finding.Quote(fmt.Sprintf("%s:%d", gp.remote, gp.part)), o.Offset)),
			Undo:    "none needed: the offset is the same"})
	}
	return fix
}
