package diagnose

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// question is one node of the well-known decision tree. ask answers it for one row: yes, no, or unknown.
type question struct {
	text    string
	ask     func(groupPartition) answer
	yes, no any // *question or leaf
}

type leaf struct {
	text  string
	codes []finding.Code
}

type answer int

const (
	dunno answer = iota
	yes
	no
)

func answerOf(b bool) answer {
	if b {
		return yes
	}
	return no
}

// decisionTree is the tree; each leaf names the codes that stand there.
var decisionTree = &question{"Is the group on the target, with an offset for this partition?", hasTargetOffset, onTarget, notOnTarget}

var onTarget = &question{"Is the offset beyond the end of the copy (negative lag)?", isBeyond,
	leaf{"untranslated or extrapolated offsets of an old version, or a recreated copy", []finding.Code{401, 403, 405}},
	&question{"Do the filters admit group and topic?", filtersAdmit,
		&question{"Is it frozen below the checkpoint?", isBelow,
			&question{"Is group-offset sync on?", syncOn,
				&question{"Does the group have members on the target?", isActive,
					leaf{"consumers run on the target: the broker answers UNKNOWN_MEMBER_ID", []finding.Code{302}},
					leaf{"the next pass is due, or the sync job is dead", []finding.Code{304}}},
				leaf{"group-offset sync is off", []finding.Code{301}}},
			&question{"Is it above the checkpoint?", isAbove,
				leaf{"MirrorMaker 2 never lowers it: rewind, old test, local commits", []finding.Code{303}},
				leaf{"the chain is whole", nil}}},
		leaf{"left out by a filter or a default exclude: its offset is from before, or others'", []finding.Code{203, 204}}}}

var notOnTarget = &question{"Is there a checkpoint for it?", hasCheckpoint,
	&question{"Is group-offset sync on?", syncOn,
		&question{"Does the group have members on the target?", isActive,
			leaf{"consumers run on the target: the broker answers UNKNOWN_MEMBER_ID", []finding.Code{302}},
			leaf{"the next pass is due, or the sync job is dead", []finding.Code{304}}},
		leaf{"group-offset sync is off", []finding.Code{301}}},
	&question{"Do the filters admit group and topic?", filtersAdmit,
		&question{"Has the topic a copy with records?", hasCopy,
			&question{"Are there offset syncs for the partition?", hasSyncs,
				&question{"Does the checkpoint connector run?", connectorRuns,
					&question{"Was the group given to a checkpoint task?", givenToTask,
						&question{"Is the position at or after the oldest usable sync?", afterOldest,
							leaf{"a first checkpoint is due, or the task does not write it", []finding.Code{202, 214}},
							leaf{"the position lies before every usable sync", []finding.Code{206}}},
						leaf{"not discovered yet: wait refresh.groups.interval", []finding.Code{205}}},
					leaf{"the checkpoint connector is missing, disabled, failed or has no tasks, or MirrorMaker 2 does not run", []finding.Code{208, 201, 112}}},
				leaf{"no syncs: location on one connector only, topic missing, or lost", []finding.Code{101, 102, 103}}},
			leaf{"not mirrored, or nothing to translate yet", []finding.Code{109, 604}}},
		leaf{"left out by a filter or a default exclude", []finding.Code{203, 204}}}}

func hasTargetOffset(gp groupPartition) answer { return threeWay(gp.targetOffset().State()) }
func hasCheckpoint(gp groupPartition) answer   { return threeWay(gp.checkpoint().State()) }
func hasSyncs(gp groupPartition) answer        { return threeWay(gp.syncsOf().State()) }

func threeWay(s snapshot.State) answer {
	switch s {
	case snapshot.Known:
		return yes
	case snapshot.Absent:
		return no
	}
	return dunno
}

func isBeyond(gp groupPartition) answer {
	t, st := gp.targetOffset().Get()
	end, ok := gp.targetEnd()
	if st != snapshot.Known || !ok {
		return dunno
	}
	return answerOf(t > end)
}

func isBelow(gp groupPartition) answer {
	return againstCheckpoint(gp, func(t, down int64) bool { return t < down })
}

func isAbove(gp groupPartition) answer {
	return againstCheckpoint(gp, func(t, down int64) bool { return t > down })
}

// againstCheckpoint compares T with C.down; without a checkpoint T is neither below nor above it.
func againstCheckpoint(gp groupPartition, holds func(t, down int64) bool) answer {
	c, st := gp.checkpoint().Get()
	t, tst := gp.targetOffset().Get()
	if st == snapshot.Absent {
		return no
	}
	if st != snapshot.Known || tst != snapshot.Known {
		return dunno
	}
	return answerOf(holds(t, c.Down))
}

func syncOn(gp groupPartition) answer {
	on, _, ok := gp.flow.flag(connCheckpoint, keySyncEnabled)
	if !ok {
		return dunno
	}
	return answerOf(on)
}

func isActive(gp groupPartition) answer {
	g, st := gp.targetGroup().Get()
	if st == snapshot.Unknown {
		return dunno
	}
	return answerOf(st == snapshot.Known && g.State.Or("").Active())
}

func filtersAdmit(gp groupPartition) answer {
	e, st := gp.eligible().Get()
	if st != snapshot.Known {
		return dunno
	}
	return answerOf(e)
}

func hasCopy(gp groupPartition) answer {
	p, st := gp.targetPartition().Get()
	if st != snapshot.Known {
		return threeWay(st)
	}
	return answerOf(p.End.Or(0) > 0)
}

func connectorRuns(gp groupPartition) answer {
	f := gp.flow
	if on, _, ok := f.flag(connCheckpoint, keyEmitEnabled); ok && !on || f.connectorDown(connCheckpoint) != "" || f.Checkpointed.Absent() {
		return no
	}
	switch p, _ := f.pulse(); {
	case p == silent:
		return no
	case p == faint || !f.Tasks.Known():
		return dunno
	}
	return yes
}

func givenToTask(gp groupPartition) answer {
	a, st := gp.isAssigned().Get()
	if st != snapshot.Known {
		return dunno
	}
	return answerOf(a)
}

func afterOldest(gp groupPartition) answer {
	u, st := gp.sourceOffset().Get()
	if st != snapshot.Known {
		return dunno
	}
	t, tst, _ := gp.translate(u)
	if tst != snapshot.Known || !t.known {
		return dunno
	}
	return answerOf(!t.none)
}

// tree ticks the path of the flow's worst row; without rows only the questions are shown.
func (f *flowView) tree(rows []judged) Tree {
	t := Tree{Flow: f.Name()}
	var worst *judged
	for i := range rows {
		if worst == nil || badness(&rows[i]) > badness(worst) {
			worst = &rows[i]
		}
	}
	var gp *groupPartition
	if worst != nil && worst.gp.part >= 0 {
		gp = &worst.gp
		t.Group = fmt.Sprintf("%s, %s-%d", gp.group, gp.topic, gp.part)
	}
	t.Root = node(decisionTree, "", gp)
	return t
}

func badness(j *judged) int {
	switch {
	case j.row.Disposition == Faulty:
		return 4
	case j.row.Status != statusOK && j.row.Status != statusMoving && j.row.Status != statusUnknown:
		return 3
	case j.row.Disposition == Unsure:
		return 2
	case j.row.Status == statusMoving:
		return 1
	}
	return 0
}

func node(x any, how string, gp *groupPartition) *Node {
	switch x := x.(type) {
	case leaf:
		n := &Node{Text: x.text, Answer: how, Taken: gp != nil}
		for _, c := range x.codes {
			n.Codes = append(n.Codes, c.String())
		}
		return n
	case *question:
		n := &Node{Text: x.text, Answer: how, Taken: gp != nil}
		a := dunno
		if gp != nil {
			a = x.ask(*gp)
			if a == dunno {
				n.Text += " (not known)"
			}
		}
		pick := func(want answer) *groupPartition {
			if a == want {
				return gp
			}
			return nil
		}
		n.Children = []*Node{node(x.yes, "yes", pick(yes)), node(x.no, "no", pick(no))}
		return n
	}
	return &Node{}
}
