package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Refusal keeps a group, or a partition of it, from being written: its code, why, and what to do next.
type Refusal struct {
	Code    finding.Code
	Slug    string // the exact rule; empty: the code's own
	Because string
	Next    string
}

// Error makes a refusal an error, in its three parts.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s; %s", r.Code, r.Because, r.Next) }

// The codes of refusals and of what can go wrong when a plan is carried out.
const (
	ActiveGroup       finding.Code = 701
	PlanStale         finding.Code = 702
	WrongCluster      finding.Code = 703
	WouldRewind       finding.Code = 704
	WouldSkip         finding.Code = 705
	VerifyMismatch    finding.Code = 706
	TypeConflict      finding.Code = 707
	SeemsConsumed     finding.Code = 708
	Unmapped          finding.Code = 709
	WillNotHold       finding.Code = 710
	JournalUnwritable finding.Code = 711
	PartialOutcome    finding.Code = 712
	Direction         finding.Code = 713
)

// notKnown refuses because a fact that decides could not be read: not known is never taken for harmless.
func notKnown(code finding.Code, what string, gap *snapshot.Gap) *Refusal {
	next := "read it again; -v shows what could not be read"
	if gap != nil && gap.Code == "denied" {
		next = "give the user that mm2doctor connects as the right to read it (mm2doctor diagnose names the ACL in MM2D-003), then plan again"
	}
	return &Refusal{Code: code, Because: what + " is not known: " + gap.String(), Next: next}
}

// Active is for a group that has members on the cluster that would be written: the broker refuses such a commit
// (UNKNOWN_MEMBER_ID), and a consumer would not read it before its next start.
func Active(cluster, group, state string, members []snapshot.Member) *Refusal {
	return &Refusal{Code: ActiveGroup, Because: fmt.Sprintf("group %s is %s on %s, not Empty: %s", group, state, cluster, held(members)),
		Next: fmt.Sprintf("stop the consumers of %s on %s, wait until its state is Empty (a static member, or one that crashed, stays until its session times out), then plan again", group, cluster)}
}

func held(members []snapshot.Member) string {
	if len(members) == 0 {
		return "its members are not known"
	}
	var out []string
	for i, m := range members {
		if i == 5 {
			out = append(out, fmt.Sprintf("and %d more", len(members)-5))
			break
		}
		s := m.ID
		if m.InstanceID != "" {
			s += " (group.instance.id " + m.InstanceID + ")"
		}
		if m.Host != "" {
			s += " on " + strings.TrimPrefix(m.Host, "/")
		}
		out = append(out, s)
	}
	return "held by " + strings.Join(out, ", ")
}

// Stale says that a plan is too old to be applied; nil where it is not. A clock that stands before the plan was made is no proof
// that it is fresh. limit 0 is MaxAge.
func (p *Plan) Stale(now time.Time, limit time.Duration) *Refusal {
	if limit == 0 {
		limit = MaxAge
	}
	made, err := time.Parse(time.RFC3339, p.Made)
	next := "make the plan again: mm2doctor translate --plan-out"
	switch old := now.Sub(made); {
	case err != nil:
		return &Refusal{Code: PlanStale, Because: "when the plan's facts were read is not known: " + p.Made, Next: next}
	case old > limit:
		return &Refusal{Code: PlanStale, Because: fmt.Sprintf("the plan's facts were read %s ago, and the limit is %s", Span(old.Milliseconds()), Span(limit.Milliseconds())), Next: next}
	case old < -limit:
		return &Refusal{Code: PlanStale, Because: fmt.Sprintf("the plan's facts were read at %s, which lies %s in the future by this host's clock", p.Made, Span(-old.Milliseconds())), Next: "set the clock right, or make the plan again here"}
	}
	return nil
}

// MaxAge is how old a plan may be when it is applied.
const MaxAge = 60 * time.Minute

// WrongCluster says that a cluster that answers is not the one that was planned for; nil where it is. A plan without an id fits none.
func (p *Plan) WrongCluster(id string) *Refusal {
	next := fmt.Sprintf("check the address given for %s, or make the plan again against the cluster that is meant", p.To.Alias)
	switch {
	case p.To.ID == "":
		return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the plan does not hold the cluster id of %s, so that nothing proves that it is written to the cluster it was made for", p.To.Alias), Next: "make the plan again with a connection to " + p.To.Alias}
	case id == "":
		return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the cluster that answers for %s does not tell its id", p.To.Alias), Next: next}
	case id != p.To.ID:
		return &Refusal{Code: WrongCluster, Because: fmt.Sprintf("the plan is for cluster %s (%s), and the address given leads to %s", p.To.ID, p.To.Alias, id), Next: next}
	}
	return nil
}

// Changed says that what the group has on the target is no longer what the plan saw, so that somebody else moved it; nil where it
// is the same, or where MirrorMaker 2 moved it to its own translation meanwhile, which does not pass what will be written.
func (r *Row) Changed(group string, now *Committed, checkpoint *int64) *Refusal {
	same := r.Before == nil && now == nil || r.Before != nil && now != nil && r.Before.Offset == now.Offset
	if same || now != nil && r.To != nil && now.Offset <= *r.To && (checkpoint != nil && now.Offset == *checkpoint || r.MM2 != nil && now.Offset == *r.MM2) {
		return nil
	}
	return &Refusal{Code: PlanStale, Because: fmt.Sprintf("group %s had %s in %s-%d when the plan was made and has %s now, which is not MirrorMaker 2's own translation: somebody else moved it", group, shown(r.Before), r.TargetTopic, r.Partition, shown(now)),
		Next: "find out who did, then plan again"}
}

// Moved says that the position that a row rests on has changed since the plan was made; nil where it is the same.
func (r *Row) Moved(group string, now *Committed) *Refusal {
	if r.From == nil && now == nil || r.From != nil && now != nil && r.From.Offset == now.Offset {
		return nil
	}
	return &Refusal{Code: PlanStale, Because: fmt.Sprintf("group %s stood at %s in %s-%d when the plan was made and stands at %s now: its consumers still run", group, shown(r.From), r.Topic, r.Partition, shown(now)),
		Next: "stop the consumers where they run now, then plan again, or plan just the changed ones anew (--refresh)"}
}

func shown(c *Committed) string {
	if c == nil {
		return "nothing"
	}
	return fmt.Sprint(c.Offset)
}

// Verify says that what was read back is not what was written; nil where it is.
func (r *Row) Verify(group string, got *Committed) *Refusal {
	if r.To == nil || got != nil && got.Offset == *r.To && got.Epoch == r.Epoch {
		return nil
	}
	what := shown(got)
	if got != nil && got.Offset == *r.To {
		what = fmt.Sprintf("%d with leader epoch %d, planned %d", got.Offset, got.Epoch, r.Epoch)
	}
	return &Refusal{Code: VerifyMismatch, Because: fmt.Sprintf("group %s was to have %d in %s-%d and has %s", group, *r.To, r.TargetTopic, r.Partition, what),
		Next: "mm2doctor translate verify tells whether consumers, MirrorMaker 2 or somebody else moved it; translate rollback takes back only what still holds the value that was written"}
}

// Journal is for a journal that cannot be written: without it nothing could be taken back, so nothing is written.
func Journal(path string, err error) *Refusal {
	return &Refusal{Code: JournalUnwritable, Because: fmt.Sprintf("the journal %s cannot be written: %v", path, err), Next: "give another place for it (--journal FILE) on a disk with room, then apply again"}
}

// Partial is the outcome of an apply of which some groups are done and others are not; nil where all are, or none.
func Partial(done, refused, failed int, journal string) *Refusal {
	if done == 0 || refused+failed == 0 {
		return nil
	}
	return &Refusal{Code: PartialOutcome, Because: fmt.Sprintf("%s written, %d refused, %d failed", finding.Count(done, "group"), refused, failed),
		Next: fmt.Sprintf("what was done stands in %s: mm2doctor translate rollback %s takes it back; repair what refused the others and plan again, which leaves those that are right alone", journal, journal)}
}

// Span is a length of time in the words of the reports.
func Span(ms int64) string {
	switch s := ms / 1000; {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 2*3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%d h", s/3600)
	default:
		return fmt.Sprintf("%d days", s/86400)
	}
}
