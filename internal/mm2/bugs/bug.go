package bugs

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Component is the part of MirrorMaker 2, or of its surroundings, that misbehaves.
type Component string

// The components.
const (
	Translation    Component = "translation"
	SyncEmission   Component = "sync-emission"
	CheckpointTask Component = "checkpoint-task"
	GroupSync      Component = "group-offset-sync"
	Discovery      Component = "group-discovery"
	InternalTopics Component = "internal-topics"
	Configuration  Component = "configuration"
	Runtime        Component = "connect-runtime"
	Broker         Component = "broker"
)

// Status is what became of the issue.
type Status string

// The statuses. NeverReleased: no release shows the fault alone. Change: a release changed the rule on purpose.
const (
	Fixed         Status = "fixed"
	Open          Status = "open"
	ByDesign      Status = "by-design"
	NotABug       Status = "not-a-bug"
	NeverReleased Status = "never-released"
	Change        Status = "behaviour-change"
)

// Place is whose version decides.
type Place string

// The places.
const (
	OnMM2          Place = "mm2"
	OnSourceBroker Place = "source-broker"
	OnTargetBroker Place = "target-broker"
)

// Impact is the worst realistic outcome for a consumer that fails over.
type Impact string

// The impacts, from the worst: records skipped; no offset; an offset too old; nothing.
const (
	DataLoss Impact = "data-loss"
	Missing  Impact = "missing"
	Stale    Impact = "stale"
	Cosmetic Impact = "cosmetic"
)

// Weight orders impacts: 3 for data loss, 0 for cosmetic.
func (i Impact) Weight() int { return slices.Index([]Impact{Cosmetic, Stale, Missing, DataLoss}, i) }

// Condition is something that must hold besides the version. Test is nil where no fact can show it.
type Condition struct {
	Text string
	Test func(*Facts) Answer
}

// Sign is evidence that the bug is at work. Test is nil where no fact can show it. Proof: it shows the mechanism itself, so
// conditions that cannot be seen need not be known.
type Sign struct {
	Text  string
	Test  func(*Facts) Answer
	Proof bool
}

// LogPattern is a line that MirrorMaker 2 or Connect writes.
type LogPattern struct {
	Level  string // WARN, ERROR ...; REST is the message of an answer of Connect's REST API
	Match  *regexp.Regexp
	Cause  string // exception class in the trace below the line; "" when none is needed
	Frame  string // a frame that the trace holds
	Note   string
	Benign bool // the line shows fixed or normal behaviour, not the fault
	Proof  bool // the line shows the fault itself; any other line is a hint

	literal string // every match contains it
}

// Bug is one entry. All sentences are about what an operator sees.
type Bug struct {
	ID         string // KAFKA-n, KIP-n, MINOR-n and PR-n (pull request), BEHAVIOUR-x (no issue)
	Title      string
	Component  Component
	Status     Status
	Impact     Impact
	RunsOn     []Place
	Affects    []Span
	Branches   []string    // release lines whose branch holds the fix, without any release of it
	Since      mm2.Version // of an entry that no release shows: the first release that holds the change
	AtRestart  bool        // a start of a task or worker does the harm
	Effect     string
	Conditions []Condition // all of them
	Signs      []Sign      // any of them
	Logs       []LogPattern
	Workaround string
}

// Issue is the id in Kafka's tracker, or "" where there is no issue.
func (b Bug) Issue() string {
	if strings.HasPrefix(b.ID, "BEHAVIOUR-") {
		return ""
	}
	return b.ID
}

var catalogue = build()

func build() []Bug {
	out := slices.Concat(translation, emission, checkpoints, commits, discovery, internalTopics, configuration, connectRuntime, brokers)
	for i := range out {
		b := &out[i]
		if b.RunsOn == nil {
			b.RunsOn = []Place{OnMM2}
		}
		for j := range b.Logs {
			b.Logs[j].literal = longestLiteral(b.Logs[j].Match)
		}
	}
	return out
}

// All gives every entry, in the order of the chain. The slices inside are shared: read only.
func All() []Bug { return slices.Clone(catalogue) }

// Lookup finds an entry by its id, written exactly or in another case.
func Lookup(id string) (Bug, bool) {
	for _, b := range catalogue {
		if strings.EqualFold(b.ID, id) {
			return b, true
		}
	}
	return Bug{}, false
}

// Short forms for the tables.

func when(text string, test func(*Facts) Answer) Condition { return Condition{text, test} }
func unseen(text string) Condition                         { return Condition{Text: text} }
func sign(text string, test func(*Facts) Answer) Sign      { return Sign{Text: text, Test: test} }
func proof(text string, test func(*Facts) Answer) Sign {
	return Sign{Text: text, Test: test, Proof: true}
}

func line(level, match, cause string) LogPattern {
	return LogPattern{Level: level, Match: regexp.MustCompile(match), Cause: cause}
}

func (p LogPattern) proves() LogPattern            { p.Proof = true; return p }
func (p LogPattern) benign(note string) LogPattern { p.Benign, p.Note = true, note; return p }
func (p LogPattern) note(note string) LogPattern   { p.Note = note; return p }
func (p LogPattern) frame(frame string) LogPattern { p.Frame = frame; return p }
