// Package finding holds the words of a judgement: codes, findings, checks and what one finding explains of another.
//
// What may enter: the types that chain checks and lint rules are made of, and the one table of codes. No check itself.
package finding

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// Code is the number behind MM2D-; the first digit is the place in the chain. A retired code is never used again.
type Code int

// String gives "MM2D-302".
func (c Code) String() string { return fmt.Sprintf("MM2D-%03d", int(c)) }

// MarshalText makes codes readable in JSON.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (c *Code) UnmarshalText(b []byte) error {
	var n int
	if _, err := fmt.Sscanf(string(b), "MM2D-%d", &n); err != nil || Code(n).String() != string(b) {
		return fmt.Errorf("%q is no code", b)
	}
	*c = Code(n)
	return nil
}

// Severity: only errors and warnings change the verdict.
type Severity int

// Severities in ascending order.
const (
	Info Severity = iota + 1
	Warning
	Error
)

func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "none"
}

// MarshalText makes severities readable in JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(b []byte) error {
	for x := Info; x <= Error; x++ {
		if x.String() == string(b) {
			*s = x
			return nil
		}
	}
	if string(b) == "none" {
		*s = 0
		return nil
	}
	return fmt.Errorf("%q is no severity", b)
}

// Link is one arrow of the chain. LinkNone is for findings about the tool's own connection or a configuration.
type Link int

// The links, in the order of the data.
const (
	LinkReplication Link = 0 // source topic to target topic
	LinkSyncs       Link = 1 // MirrorSourceConnector to offset-syncs
	LinkCheckpoints Link = 2 // source group and offset-syncs to checkpoints
	LinkCommit      Link = 3 // checkpoints to __consumer_offsets on the target
	LinkAccuracy    Link = 4 // committed offset to the first record read
	LinkNone        Link = -1
)

// Subject is what a finding speaks of. Topic is always the source's name. Partition is -1 when it is no single one.
type Subject struct {
	Group     string `json:"group,omitempty"`
	Topic     string `json:"topic,omitempty"`
	Partition *int32 `json:"partition,omitempty"`
	Connector string `json:"connector,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	Key       string `json:"key,omitempty"`
}

// Finding is one proved fault, warning or remark, with its consequences attached.
type Finding struct {
	Code         Code      `json:"-"`
	ID           string    `json:"id"`   // MM2D-nnn, or MM2D-601/KAFKA-n
	CodeText     string    `json:"code"` // MM2D-nnn
	Slug         string    `json:"slug"`
	Severity     Severity  `json:"severity"`
	Link         Link      `json:"link"`
	Flow         string    `json:"flow,omitempty"`
	Subject      Subject   `json:"subject"`
	Subjects     []Subject `json:"subjects,omitempty"` // the first 100
	SubjectCount int       `json:"subjectCount"`
	Observed     Observed  `json:"observed,omitempty"`
	Because      string    `json:"because"`
	Consequence  string    `json:"consequence,omitempty"`
	Explains     []Effect  `json:"explains,omitempty"`
	CausedBy     []Effect  `json:"causedBy,omitempty"` // what a rule of check found in the configuration and this follows from
	Bugs         []string  `json:"bugs,omitempty"`
	Confirm      []Command `json:"confirm,omitempty"`
	Fixes        []Fix     `json:"fixes,omitempty"`
	Docs         string    `json:"docs,omitempty"`
}

// Effect is a finding that only follows from another one, or one that another follows from.
type Effect struct {
	Code     string    `json:"code"`
	Slug     string    `json:"slug"`
	Severity Severity  `json:"severity"`
	Subjects []Subject `json:"subjects,omitempty"`
	Count    int       `json:"subjectCount"`
	Observed Observed  `json:"observed,omitempty"`
	Because  string    `json:"because,omitempty"`
}

// Command is one of Kafka's own commands with the real names filled in.
type Command struct {
	Cluster string `json:"cluster"`
	Command string `json:"command"`
	Shows   string `json:"shows,omitempty"` // what to look for in its output
}

// Fix is one way to repair, for one way of running MirrorMaker 2.
type Fix struct {
	Mode        string `json:"mode"` // dedicated, connect, strimzi, msk-connect, kafka
	Text        string `json:"text"`
	Steps       []Step `json:"steps,omitempty"`
	WaitSeconds int    `json:"waitSeconds"` // how long until it shows
	// Edits make the fix in the files that were checked, and nothing else; only fixes that are safe to make unseen have them.
	Edits []confdoc.Edit `json:"edits,omitempty"`
}

// Step is one action. Stops names what it interrupts; Undo how to take it back.
type Step struct {
	Text        string   `json:"text"`
	Command     string   `json:"command,omitempty"`
	Properties  Observed `json:"properties,omitempty"`
	File        string   `json:"file,omitempty"`   // where the properties go
	Rename      string   `json:"rename,omitempty"` // the new name of the key that the finding is about; nothing else can be meant
	Stops       []string `json:"stops,omitempty"`
	Destructive bool     `json:"destructive"`
	Undo        string   `json:"undo,omitempty"`
}

// NotChecked is a check that could not be decided, why, and what would decide it.
type NotChecked struct {
	Check     string   `json:"check"` // MM2D-nnn
	Flow      string   `json:"flow,omitempty"`
	Subject   *Subject `json:"subject,omitempty"`
	Count     int      `json:"subjectCount,omitempty"`
	Why       string   `json:"why"`
	DecidedBy string   `json:"decidedBy,omitempty"`
}
