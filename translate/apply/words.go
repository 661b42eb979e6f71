package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Codes of what can happen here beside those of package plan.
const (
	codeDenied    finding.Code = 3
	codeCommitACL finding.Code = 306
	codeEpoch     finding.Code = 311
	codeMetadata  finding.Code = 315
	codeRecreated finding.Code = 406
	codeCoord     finding.Code = 607

	nextReplan   = "make a new plan and apply that"
	nextLeave    = "stop its consumers on this cluster (a member that does not leave is dropped after session.timeout.ms), then go on"
	nextReadable = "make it readable, then go on"
	someHolders  = 5 // are named in a sentence
)

// codeOf gives the broker's code inside an error, 0 without.
func codeOf(err error) kafka.ErrorCode {
	var c kafka.ErrorCode
	if errors.As(err, &c) {
		return c
	}
	return wire.CodeOf(err)
}

// definite says that a failed request changed nothing and will not.
func definite(err error) bool {
	var refused *wire.Refused
	var e *wire.Error
	if errors.As(err, &refused) {
		return true
	}
	if errors.As(err, &e) {
		return !wire.InDoubt(err)
	}
	c := codeOf(err)
	return c > 0 && !c.Retriable()
}

// about gives the code that stands for a broker's refusal of a write.
func about(err error) finding.Code {
	switch c := codeOf(err); {
	case slices.Contains([]kafka.ErrorCode{kafka.UnknownMemberID, kafka.IllegalGeneration, kafka.RebalanceInProgress, kafka.NonEmptyGroup, kafka.GroupSubscribedToTopic, kafka.StaleMemberEpoch}, c):
		return plan.ActiveGroup
	case c.Denied():
		return codeCommitACL
	case c == kafka.OffsetMetadataTooLarge:
		return codeMetadata
	case c == kafka.GroupIDNotFound, c == 23:
		return plan.TypeConflict
	case c == kafka.UnknownTopicOrPartition:
		return plan.PlanStale
	case c.Retriable():
		return codeCoord
	}
	return plan.PartialOutcome
}

func nextAfter(c finding.Code) string {
	switch c {
	case plan.ActiveGroup:
		return nextLeave
	case codeCommitACL:
		return "grant Read on the group and on the topic, then go on"
	case codeMetadata:
		return "raise offset.metadata.max.bytes on the brokers of this cluster, then go on"
	case plan.PlanStale, plan.TypeConflict:
		return nextReplan
	}
	return "go on when the cause is gone"
}

func reading(err error) finding.Code {
	if codeOf(err).Denied() {
		return codeDenied
	}
	return codeCoord
}

// show gives a value in words.
func show(c *plan.Committed) string {
	if c == nil {
		return "nothing"
	}
	s := fmt.Sprint(c.Offset)
	var more []string
	if c.Epoch != kafka.NoEpoch {
		more = append(more, fmt.Sprintf("epoch %d", c.Epoch))
	}
	if c.Metadata != "" {
		more = append(more, fmt.Sprintf("metadata %.40q", c.Metadata))
	}
	if len(more) > 0 {
		s += " (" + strings.Join(more, ", ") + ")"
	}
	return s
}

func held(h []string) string {
	if len(h) == 0 {
		return ""
	}
	s := strings.Join(h[:min(len(h), someHolders)], "; ")
	if n := len(h) - someHolders; n > 0 {
		s += fmt.Sprintf("; and %d more", n)
	}
	return s
}
