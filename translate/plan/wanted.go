package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// Selection is what an operator asks to be translated. The zero value is the default scope of the snapshot's only flow.
type Selection struct {
	Flow    string   // "a->b" or "a:b"; empty: the snapshot's only one
	Reverse bool     // failback: from the flow's target to its source
	Groups  []string // --group, as given: a name, a glob, or a /Java regular expression/
	Topics  []string // --topic, the same, by the name where the positions come from
	Options Options
	// GroupMap and TopicMap give other names on the cluster that is written.
	GroupMap, TopicMap map[string]string
	// Wished are offsets that the operator brings (--from-file) instead of those that would be found. Such a plan touches nothing else.
	Wished []Wish
	// SourceLost gives up the cluster where the positions come from: its facts are not unknown, they are gone, and refuse nothing.
	// Then State and Bundle (an older look at both clusters) may still tell positions, each with its age.
	SourceLost bool
	State      *State
	Bundle     *snapshot.Snapshot
	Now        string // RFC 3339: what ages are counted to; empty: when the snapshot was taken
	// MaxAgeMs is how old the facts may be until apply refuses the plan (702); 0 is MaxAge.
	MaxAgeMs int64
}

// Wish is one row of a file of wanted offsets. Group and Topic are names on the cluster that is written.
type Wish struct {
	Group     string
	Topic     string
	Partition int32
	Offset    int64
	Line      int // in the file, from 1
}

// Wants are the groups and positions that a plan is about, before anybody has looked for the answers.
type Wants struct {
	sel       Selection
	flow      diagnose.Rules  // the flow, as it mirrors
	writer    *diagnose.Rules // the flow whose MirrorMaker 2 commits to groups of the cluster that is written; nil without
	snap      *snapshot.Snapshot
	report    *diagnose.Report
	from, to  *side
	groups    []*wanted
	positions []Position
	scope     Scope
	findings  []finding.Finding
	all       []*Refusal                                 // of the whole plan
	now       int64                                      // ms
	pairs     map[kafka.TopicPartition][]*StatePartition // positions of a state file whose place is proved, by offset
	// byPartition are the checkpoints of the flow that commits, by partition of the target.
	byPartition map[kafka.TopicPartition][]*snapshot.Checkpoint
	unsure      []*want // taken although the release that wrote them is not known
}

// wanted is one group with the rows that it will have.
type wanted struct {
	g        Group
	refusals []*Refusal // of the whole group
	target   *snapshot.Group
	rows     []*want
	share    bool
}

// want is one row before its answer.
type want struct {
	row        Row
	group      string // on the cluster that positions come from
	pos        int    // index in Positions; -1: nothing can be looked for
	refusal    *Refusal
	wish       *int64
	bound      *[2]int64 // of the position itself, for a share group
	come       *int64    // how far a share group has come on the cluster that is written, at most; nil where it has not begun
	also       []Count   // what offsets of the target would cost
	mapped     bool      // some mapping leads to the target's partition
	syncs      SyncsRef
	target     snapshot.Fact[snapshot.Partition]
	checkpoint snapshot.Fact[snapshot.Checkpoint] // of the flow that writes the target
	elsewhere  bool                               // --topic-map names another topic than MirrorMaker 2's own
}

// planner chooses.
type planner struct {
	*Wants
	back   *diagnose.Rules // the flow in the other direction
	groups func(string) bool
	topics func(string) bool
	rows   map[rowKey]*diagnose.Row
	left   map[string][]string
	others []diagnose.Rules // flows into the cluster that positions come from

	first, earlier *side          // other looks at the cluster that is written; nil without
	oldWriter      *snapshot.Flow // the writer in the look before
}

type rowKey struct {
	group, topic string
	part         int32
}

// Wanted chooses groups and positions from a snapshot and the report over it. It fails where the selection itself cannot be
// followed (no such flow, a pattern that does not compile, groups that could not be listed); what cannot be translated becomes a
// refusal of the plan.
func Wanted(s *snapshot.Snapshot, r *diagnose.Report, sel Selection) (*Wants, error) {
	p := &planner{Wants: &Wants{sel: sel, snap: s, report: r, now: s.Taken}, rows: map[rowKey]*diagnose.Row{}, left: map[string][]string{}}
	if err := p.choose(s); err != nil {
		return nil, err
	}
	if r != nil {
		for i := range r.Partitions {
			if x := &r.Partitions[i]; x.Flow == p.flow.Flow().Name() {
				p.rows[rowKey{x.Group, x.Topic, x.Partition}] = x
			}
		}
	}
	if p.to.Groups.Unknown() {
		return nil, Unread{fmt.Errorf("the groups of %s could not be listed (%s), so nothing can be planned there; connect to it, or give the user the right to Describe the groups", p.to.Alias, p.to.Groups.Why())}
	}
	if err := p.mapped(); err != nil {
		return nil, err
	}
	var err error
	switch {
	case len(sel.Wished) > 0:
		err = p.wished()
	case sel.SourceLost:
		p.remembered()
	default:
		err = p.committed()
	}
	if err != nil {
		return nil, err
	}
	p.collisions()
	p.unnamed()
	p.unusedMaps()
	p.whole()
	slices.SortFunc(p.Wants.groups, func(a, b *wanted) int { return cmp.Compare(a.g.Group, b.g.Group) })
	for _, g := range p.Wants.groups {
		slices.SortFunc(g.rows, func(a, b *want) int {
			return cmp.Or(cmp.Compare(a.row.Topic, b.row.Topic), cmp.Compare(a.row.TargetTopic, b.row.TargetTopic), cmp.Compare(a.row.Partition, b.row.Partition))
		})
	}
	p.number()
	p.tellLeft()
	return p.Wants, nil
}

// choose finds the flow and the two sides, and compiles the patterns.
func (p *planner) choose(s *snapshot.Snapshot) error {
	rules := diagnose.RulesOf(s)
	name := strings.Replace(p.sel.Flow, ":", "->", 1)
	if name == "" && len(rules) == 1 {
		name = rules[0].Flow().Name()
	}
	var names []string
	found := false
	for _, r := range rules {
		names = append(names, r.Flow().Name())
		if r.Flow().Name() == name {
			p.flow, found = r, true
		}
	}
	switch {
	case name == "":
		return fmt.Errorf("there are %d flows (%s): name one with --flow", len(names), strings.Join(names, ", "))
	case !found:
		return fmt.Errorf("there is no flow %s; the flows are: %s", name, cmp.Or(strings.Join(names, ", "), "none"))
	}
	f := p.flow.Flow()
	from, to := f.Source, f.Target
	if p.sel.Reverse {
		from, to = to, from
	}
	for _, r := range rules {
		o := r.Flow()
		if o.Source == f.Target && o.Target == f.Source {
			p.back = &r
		}
		if o.Target == from && o.Source != to {
			p.others = append(p.others, r)
		}
	}
	p.writer = &p.flow
	if p.sel.Reverse {
		p.writer = p.back
	}
	p.from, p.to = newSide(s, from, p.sel.SourceLost), newSide(s, to, false)
	if gs, st := p.to.First.Get(); st == snapshot.Known {
		p.first = newSide(&snapshot.Snapshot{Clusters: []snapshot.Cluster{{Alias: to, Groups: snapshot.Is(gs)}}}, to, false)
	}
	if e := s.Earlier; e != nil {
		p.earlier = newSide(e, to, false)
		for i := range e.Flows {
			if p.writer != nil && e.Flows[i].Name() == p.writer.Flow().Name() {
				p.oldWriter = &e.Flows[i]
			}
		}
	}
	if p.sel.Now != "" {
		at, err := time.Parse(time.RFC3339, p.sel.Now)
		if err != nil {
			return fmt.Errorf("the time %q cannot be read: %w", p.sel.Now, err)
		}
		p.now = at.UnixMilli()
	}
	if err := checkFallback(p.sel.Options.Fallback); err != nil {
		return err
	}
	if p.sel.SourceLost && p.sel.Reverse && len(p.sel.Wished) == 0 && p.sel.State == nil && p.sel.Bundle == nil {
		return errors.New("--reverse with --source-lost has nothing to go by: give a state file or a bundle that was taken of the groups on " + from)
	}
	var err error
	if p.groups, err = diagnose.Matcher(p.sel.Groups); err != nil {
		return fmt.Errorf("--group: %w", err)
	}
	if p.topics, err = diagnose.Matcher(p.sel.Topics); err != nil {
		return fmt.Errorf("--topic: %w", err)
	}
	return nil
}

// checkFallback reads --fallback: leave, earliest, latest, timestamp:MS.
func checkFallback(text string) error {
	switch text {
	case "", "leave", "earliest", "latest":
		return nil
	}
	if _, ok := fallbackTime(text); ok {
		return nil
	}
	return fmt.Errorf("--fallback %q: give leave, earliest, latest, or timestamp:MS (milliseconds since 1970)", text)
}

func fallbackTime(text string) (int64, bool) {
	ms, ok := strings.CutPrefix(text, "timestamp:")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(ms, 10, 64)
	return n, err == nil && n > 0
}

func (p *planner) leave(reason, id string) { p.left[reason] = append(p.left[reason], id) }

func (p *planner) tellLeft() {
	for reason, ids := range p.left {
		slices.Sort(ids)
		ids = slices.Compact(ids)
		p.scope.Left = append(p.scope.Left, Left{Reason: reason, Count: len(ids), Some: ids[:min(len(ids), 10)]})
	}
	slices.SortFunc(p.scope.Left, func(a, b Left) int { return cmp.Compare(a.Reason, b.Reason) })
	p.scope.Groups = len(p.Wants.groups)
}

// literally says that one of the patterns is this very name.
func literally(patterns []string, name string) bool { return slices.Contains(patterns, name) }

// committed takes the positions that groups have committed.
func (p *planner) committed() error {
	if p.from.Groups.Unknown() {
		return Unread{fmt.Errorf("the groups of %s could not be listed (%s), so there are no positions to carry over; connect to it, or, where it is gone for good, say --source-lost", p.from.Alias, p.from.Groups.Why())}
	}
	gs := p.from.Groups.Or(nil)
	matched := map[string]bool{}
	unknownFilter := ""
	for i := range gs {
		g := &gs[i]
		if g.State.Absent() || g.State.Or("") == kafka.StateDead {
			continue
		}
		p.scope.Of++
		if len(p.sel.Groups) > 0 {
			if !p.groups(g.ID) {
				continue
			}
			matched[g.ID] = true
		}
		reason, unsure := p.outside(g)
		if unsure != "" {
			unknownFilter = unsure
		}
		if reason != "" {
			p.leave(reason, g.ID)
			continue
		}
		p.group(g)
	}
	p.tellRule(unknownFilter)
	for _, pattern := range p.sel.Groups {
		m, err := diagnose.Matcher([]string{pattern})
		if err != nil {
			return fmt.Errorf("--group: %w", err)
		}
		hit := false
		for id := range matched {
			hit = hit || m(id)
		}
		if !hit {
			p.nothing(pattern)
		}
	}
	return nil
}

// tellRule says which groups the plan is about.
func (p *planner) tellRule(unknownFilter string) {
	f := p.flow.Flow().Name()
	switch {
	case len(p.sel.Groups) > 0:
		p.scope.Rule = "named by --group (" + strings.Join(p.sel.Groups, ", ") + ")"
	case p.sel.Options.AllGroups:
		p.scope.Rule = "--all-groups: all with commits on mirrored topics"
	case unknownFilter != "":
		p.scope.Rule = "all with commits on mirrored topics, since the group filter of " + f + " is not known (" + unknownFilter + ")"
	default:
		p.scope.Rule = "those that the filters of " + f + " admit, with commits on mirrored topics"
	}
	if len(p.sel.Topics) > 0 {
		p.scope.Rule += ", topics named by --topic (" + strings.Join(p.sel.Topics, ", ") + ")"
	}
	if !p.from.GroupsComplete.Or(false) {
		p.scope.Rule += "; groups of " + p.from.Alias + " that an ACL hides are not among them"
	}
}

// Unread is the failure of a plan for want of what a cluster did not tell: nothing is wrong with what was asked for.
type Unread struct{ error }

// Unwrap gives the failure itself.
func (u Unread) Unwrap() error { return u.error }

// nothing is for a pattern that no group of the source matches: never "done".
func (p *planner) nothing(pattern string) {
	because := fmt.Sprintf("--group %s matches no group on %s", pattern, p.from.Alias)
	if !p.from.GroupsComplete.Or(false) {
		because += ", as far as it may be seen: an ACL may hide some"
	}
	if g := p.to.groups[pattern]; diagnose.Literal(pattern) && g != nil && !g.State.Absent() && g.State.Or("") != kafka.StateDead {
		because += fmt.Sprintf("; there is one of that name on %s, where it has no position to carry over", p.to.Alias)
	}
	f := p.finding(&Refusal{Code: 217, Because: because, Next: "look for its name: mm2doctor diagnose lists the groups"})
	f.Subject.Group = pattern
	p.findings = append(p.findings, f)
}

// outside says why a group is not in scope; unsure says that the filter that would tell is not known.
func (p *planner) outside(g *snapshot.Group) (reason, unsure string) {
	named := len(p.sel.Groups) > 0
	kind, _ := typeOf(g)
	switch {
	case g.ProtocolType != "" && g.ProtocolType != "consumer" && kind == kafka.TypeClassic:
		return "Connect workers and others that are no consumer groups", ""
	case strings.HasPrefix(g.ID, "console-consumer-") && !literally(p.sel.Groups, g.ID):
		return "console consumers", ""
	case kind == kafka.TypeStreams && !p.sel.Options.IncludeStreams:
		return "streams groups, which --include-streams adds", ""
	case named || p.sel.Options.AllGroups:
		return "", ""
	}
	rules := &p.flow
	if p.sel.Reverse {
		rules = p.back
	}
	if rules == nil { // failback without a flow back: the filters of the flow name the groups that are mirrored at all
		rules = &p.flow
	}
	switch d := rules.Group(g.ID); {
	case !d.Known:
		return "", d.Why
	case !d.Passes && d.ByDefault:
		return "left out by the default of groups.exclude", ""
	case !d.Passes:
		return "left out by groups or groups.exclude", ""
	}
	return "", ""
}

// group takes one group with its positions.
func (p *planner) group(g *snapshot.Group) {
	kind, known := typeOf(g)
	w := p.newGroup(g.ID, string(kind))
	if !known {
		w.refusals = append(w.refusals, notKnown(TypeConflict, fmt.Sprintf("the type of group %s on %s", g.ID, p.from.Alias), g.Type.Why()))
	}
	if kind == kafka.TypeShare {
		p.shares(w, g)
	} else {
		p.offsets(w, g)
	}
	switch {
	case len(w.rows) > 0:
		if g.State.Or("").Active() {
			w.g.Remarks = append(w.g.Remarks, fmt.Sprintf("its consumers run on %s and go on committing: read the positions again after they stopped, and before, since some groups lose their offsets with their last member", p.from.Alias))
		}
		p.Wants.groups = append(p.Wants.groups, w)
	case len(w.refusals) > 0:
		p.Wants.groups = append(p.Wants.groups, w)
	}
}

func (p *planner) newGroup(id, kind string) *wanted {
	w := &wanted{g: Group{Group: id, TargetGroup: id, Type: kind, Rows: []Row{}}, share: kind == string(kafka.TypeShare)}
	if to := p.sel.GroupMap[id]; to != "" {
		w.g.TargetGroup = to
	}
	p.target(w)
	return w
}

func (p *planner) offsets(w *wanted, g *snapshot.Group) {
	if g.Offsets.Unknown() {
		w.refusals = append(w.refusals, notKnown(Unmapped, fmt.Sprintf("what group %s has committed on %s", g.ID, p.from.Alias), cmp.Or(g.Offsets.Why(), notAsked)))
		return
	}
	os := g.Offsets.Or(nil)
	if len(os) == 0 {
		p.leave("without any committed offset", g.ID)
	}
	for _, o := range os {
		if p.skips(g.ID, o.Topic) {
			continue
		}
		if o.Offset < 0 {
			p.leave("partitions with a negative committed offset, which is none", fmt.Sprintf("%s %s-%d", g.ID, o.Topic, o.Partition))
			continue
		}
		p.row(w, o.Topic, o.Partition, &Committed{Offset: o.Offset, Epoch: o.Epoch, Metadata: o.Metadata}, "committed", 0)
	}
}

// skips says that a topic is not for this translation, and counts it.
func (p *planner) skips(group, topic string) bool {
	named := literally(p.sel.Topics, topic)
	switch {
	case len(p.sel.Topics) > 0 && !p.topics(topic):
		p.leave("commits on topics that --topic does not name", group)
		return true
	case p.flow.OwnTopic(topic) && !named:
		p.leave("commits on Kafka's and MirrorMaker 2's own topics", group)
		return true
	}
	return false
}

// number gives each row that can be looked for its position.
func (p *planner) number() {
	for _, g := range p.Wants.groups {
		for _, w := range g.rows {
			if w.pos < 0 {
				continue
			}
			w.pos = len(p.positions)
			p.positions = append(p.positions, p.position(g, w))
		}
	}
}

// Positions are what is to be found on the cluster that is written; Build wants the answers in the same order.
func (w *Wants) Positions() []Position { return w.positions }
