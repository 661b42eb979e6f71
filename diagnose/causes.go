package diagnose

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// edge says that one finding may be nothing but a consequence of another.
type edge struct {
	Cause, Effect finding.Code
	When          func(cause, effect *raw) bool // nil: always where the cause covers the effect's subject
}

// edges, causes first. Where several causes fit, the order of the design decides: wrong place, other incarnation, copied,
// drifted, held back.
var edges = []edge{
	{605, 309, nil}, {211, 406, nil}, {211, 404, nil},
	{5, 203, nil}, {5, 204, nil}, {5, 215, nil}, {5, 206, nil}, {5, 214, nil}, {5, 109, nil}, {5, 101, nil}, {5, 103, nil}, {5, 201, nil}, {5, 202, nil}, {5, 208, nil},
	{112, 109, nil}, {112, 101, nil}, {112, 103, nil}, {112, 604, nil}, {112, 201, nil}, {112, 202, nil}, {112, 205, nil}, {112, 208, nil}, {112, 214, nil}, {112, 304, nil},
	{111, 101, nil}, {111, 103, nil}, {111, 104, nil}, {111, 201, nil}, {111, 202, nil}, {111, 208, refusedWithoutSyncs}, {111, 214, nil},
	{115, 101, nil}, {115, 102, nil}, {115, 103, nil}, {115, 104, nil}, {115, 107, nil}, {115, 202, nil}, {115, 206, nil}, {115, 214, nil},
	{102, 104, nil}, {102, 105, nil}, {102, 107, nil},
	{117, 106, oftenBackThere}, {117, 206, oftenBackThere}, {117, 303, oftenBackThere}, {117, 401, oftenBackThere}, {117, 403, oftenBackThere}, {117, 405, oftenBackThere}, {117, 404, oftenBackThere}, {117, 406, oftenBackThere},
	{104, 402, pastNewest}, {105, 103, syncsDeleted}, {105, 206, deletedBefore},
	{107, 103, nil}, {107, 104, nil}, {107, 206, beforeFirstSync},
	{106, 206, droppedBefore}, {106, 303, copyOfBefore}, {106, 401, copyOfBefore}, {106, 406, steppedBack},
	{113, 206, beforeFirstRecord},
	{211, 104, nil}, {211, 110, nil}, {211, 114, nil}, {602, 104, ownTopics}, {602, 110, notOfGroup},
	{112, 104, nil}, {112, 110, nil}, {112, 114, nil},
	{611, 103, nil}, {611, 104, nil}, {611, 110, nil}, {611, 114, nil}, {611, 304, coordinatorGone},
	{116, 103, refusedSyncs}, {116, 104, refusedSyncs}, {116, 304, refusedCommits},
	{211, 201, nil}, {211, 202, nil}, {211, 214, nil}, {211, 207, nil}, {211, 109, nil}, {211, 103, nil}, {211, 604, nil}, {211, 304, nil}, {211, 401, nil}, {211, 403, nil}, {211, 405, nil}, {211, 303, nil},
	{209, 208, nil}, {209, 109, nil}, {209, 101, nil}, {209, 103, nil}, {209, 201, nil}, {209, 202, nil}, {209, 206, nil}, {209, 207, nil}, {209, 214, nil}, {209, 304, nil}, {209, 604, nil},
	{112, 207, nil}, {112, 612, nil}, {208, 207, nil}, {101, 207, nil}, {102, 207, nil}, {108, 207, nil}, {108, 612, nil}, {101, 612, nil}, {102, 612, nil},
	{612, 202, nil}, {612, 207, nil}, {612, 214, nil}, {612, 304, nil},
	{609, 207, nil}, {609, 214, nil}, {609, 206, forgetsHistory},
	{608, 301, differsIn(keySyncEnabled)}, {608, 208, disabledByDifference}, {109, 218, ofOneTopic}, {217, 213, nil},
	{608, 101, otherNames}, {608, 103, otherNames}, {608, 109, otherNames}, {608, 201, otherNames}, {608, 202, otherNames}, {608, 214, otherNames}, {608, 304, otherNames}, {608, 406, otherNames},
	{108, 103, nil}, {108, 202, nil}, {108, 206, nil}, {108, 214, nil}, {212, 214, nil}, {212, 205, nil},
	{102, 101, nil}, {102, 103, nil}, {102, 201, nil}, {102, 202, nil}, {102, 206, nil}, {102, 214, nil}, {102, 304, nil},
	{101, 103, nil}, {101, 202, nil}, {101, 214, nil},
	{109, 103, nil}, {109, 604, nil}, {109, 214, nil}, {109, 202, nil},
	{604, 103, nil}, {604, 214, nil},
	{208, 201, nil}, {208, 202, nil}, {208, 205, nil}, {208, 214, nil}, {208, 304, nil},
	{201, 214, nil}, {201, 205, nil}, {202, 214, nil}, {202, 304, nil},
	{103, 202, nil}, {103, 214, nil}, {103, 403, nil}, {206, 202, nil}, {206, 214, nil},
	{403, 401, nil}, {405, 401, nil}, {403, 405, nil}, {403, 303, nil}, {405, 303, nil}, {303, 401, nil},
	{601, 202, bugExplains}, {601, 214, bugExplains}, {601, 304, bugExplains},
	{301, 304, nil}, {301, 302, onlyInfo}, {302, 304, nil}, {302, 303, nil},
	{305, 302, nil}, {305, 304, nil}, {305, 316, nil},
	{308, 302, nil}, {308, 303, nil}, {308, 304, nil}, {308, 310, nil},
	{314, 304, nil}, {301, 314, nil}, {315, 304, nil},
	{312, 303, overruled},
	{112, 307, nil}, {206, 307, nil}, {208, 307, nil}, {301, 307, nil}, {304, 307, nil},
	{112, 309, nil}, {206, 309, nil}, {208, 309, nil}, {301, 309, nil}, {304, 309, nil},
	{401, 311, nil},
	{209, 406, bySyncs},
	{406, 401, nil}, {406, 403, nil}, {406, 303, nil}, {406, 206, nil}, {406, 405, nil}, {406, 404, nil}, {406, 402, nil},
	{206, 404, nil}, {403, 404, nil}, {405, 404, nil}, {206, 402, nil}, {208, 402, nil}, {112, 402, nil}, {301, 402, nil}, {304, 402, nil}, {302, 402, nil},
	{602, 101, ownTopics}, {602, 103, notOfGroup}, {602, 109, notOfGroup}, {602, 201, ownTopics}, {602, 202, nil}, {602, 205, ofGroup}, {602, 206, ownTopics}, {602, 208, ownTopics}, {602, 214, nil},
	{306, 304, nil}, {306, 402, nil},
	{607, 214, nil}, {607, 304, nil}, {607, 205, nil},
}

// refusedWithoutSyncs: from 3.9.0 on a checkpoint connector that is told of no offset syncs is not created (KAFKA-16254).
func refusedWithoutSyncs(_, effect *raw) bool { return effect.f.Slug == "checkpoint-connector-missing" }

// oftenBackThere: the effect's own partition holds the syncs of two writers.
func oftenBackThere(_, effect *raw) bool {
	ps, st := effect.s.gp.syncsOf().Get()
	return st == snapshot.Known && ps.DownBack >= oftenBack
}

// syncsDeleted: records of the offset-syncs topic are gone.
func syncsDeleted(cause, _ *raw) bool { return cause.s.flow.Syncs.Or(snapshot.Syncs{}).Start > 0 }

// beforeFirstSync: the position lies before the partition's oldest sync that is left, and that one is not the copy's first record.
func beforeFirstSync(_, effect *raw) bool {
	ps, st := effect.s.gp.syncsOf().Get()
	return st == snapshot.Known && ps.Oldest.Down > 0 && effect.s.gp.sourceOffset().Or(noLimit) < ps.Oldest.Up
}

func deletedBefore(cause, effect *raw) bool {
	return syncsDeleted(cause, effect) && beforeFirstSync(cause, effect)
}

// pastNewest: the position has passed the newest sync, which is the one that is overdue.
func pastNewest(_, effect *raw) bool {
	ps, st := effect.s.gp.syncsOf().Get()
	return st == snapshot.Known && effect.s.gp.sourceOffset().Or(-1) > ps.Newest.Up
}

// steppedBack: the offset syncs themselves show the step that the row's numbers suffer from.
func steppedBack(_, effect *raw) bool {
	_, ok := effect.s.gp.stepBack()
	return ok
}

// droppedBefore: the mappings that the position needs were dropped when the source was read again.
func droppedBefore(_, effect *raw) bool {
	b, ok := effect.s.gp.stepBack()
	return ok && b.up && effect.s.gp.sourceOffset().Or(noLimit) < b.after.Up
}

// copyOfBefore: the number on the target speaks of a copy that is gone.
func copyOfBefore(_, effect *raw) bool {
	b, ok := effect.s.gp.stepBack()
	return ok && b.down && effect.s.gp.suffers(b)
}

// beforeFirstRecord: the position lies before the first record that was mirrored at all.
func beforeFirstRecord(_, effect *raw) bool {
	first, _, ok := effect.s.gp.firstMirrored()
	return ok && effect.s.gp.sourceOffset().Or(noLimit) < first
}

// coordinatorGone: the group's offsets lie in a partition without a leader.
func coordinatorGone(_, effect *raw) bool {
	f := effect.s.flow
	_, onTarget := f.v.coordinatorPartition(f.dst, effect.s.group)
	_, onSource := f.v.coordinatorPartition(f.src, effect.s.group)
	return onTarget == -1 || onSource == -1
}

// refusedSyncs: too few replicas of the offset-syncs topic are in sync, so that its writes are refused.
func refusedSyncs(cause, _ *raw) bool {
	f := cause.s.flow
	return f.refuses(f.syncsCluster(), f.SyncsTopic, 0)
}

// refusedCommits: the same for the partition that the group's offsets lie in.
func refusedCommits(_, effect *raw) bool {
	f := effect.s.flow
	part, _ := f.v.coordinatorPartition(f.dst, effect.s.group)
	return f.refuses(f.dst, offsetsTopic, part)
}

// ownTopics: missing rights for MirrorMaker 2's own topics, not those for a topic or a group.
func ownTopics(cause, _ *raw) bool { return cause.grain == finding.OnFlow }

// ofGroup: missing rights for reading a group on the source.
func ofGroup(cause, _ *raw) bool { return cause.grain == finding.OnGroup }

func notOfGroup(cause, _ *raw) bool { return cause.grain != finding.OnGroup }

func onlyInfo(_, effect *raw) bool { return effect.f.Severity == finding.Info }

// attach hangs every consequence under the cause that covers its subject. A consequence of a consequence ends up under the
// root.
func (e *engine) attach() {
	index := e.index()
	for _, ed := range edges {
		for _, effect := range index.byCode[ed.Effect] {
			if effect.root != nil {
				continue
			}
			for _, cause := range append(index.covering(ed.Cause, effect.f), e.reaching(ed, index)...) {
				if cause.f.Severity < finding.Warning && effect.f.Severity > finding.Info {
					continue // a remark never explains a fault away
				}
				if cause.top() != effect && (ed.When == nil || ed.When(cause, effect)) {
					effect.root = cause
					break
				}
			}
		}
	}
	for _, r := range e.raws {
		if r.root != nil {
			t := r.top()
			t.effects = append(t.effects, r)
			t.f.Severity = max(t.f.Severity, r.f.Severity)
		}
	}
}

// reaching are causes that do harm to others than their own subject: a stored negative offset ends the whole pass of
// group-offset sync (KAFKA-15607).
func (e *engine) reaching(ed edge, x rawIndex) []*raw {
	if ed.Cause != 314 || ed.Effect != 304 {
		return nil
	}
	var out []*raw
	for _, r := range x.byCode[ed.Cause] {
		if len(r.f.Bugs) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// spot is what a finding speaks of; empty fields stand for all.
type spot struct {
	flow, group, topic string
	part               int32 // -1: all
}

func spotOf(f *finding.Finding) spot {
	p := spot{f.Flow, f.Subject.Group, f.Subject.Topic, -1}
	if f.Subject.Partition != nil {
		p.part = *f.Subject.Partition
	}
	return p
}

// rawIndex finds what covers a subject without looking at every finding: with many groups there are as many findings.
type rawIndex struct {
	byCode  map[finding.Code][]*raw
	byPlace map[finding.Code]map[spot][]*raw
}

func (e *engine) index() rawIndex {
	x := rawIndex{map[finding.Code][]*raw{}, map[finding.Code]map[spot][]*raw{}}
	for _, r := range e.raws {
		c := r.f.Code
		x.byCode[c] = append(x.byCode[c], r)
		if x.byPlace[c] == nil {
			x.byPlace[c] = map[spot][]*raw{}
		}
		p := spotOf(r.f)
		x.byPlace[c][p] = append(x.byPlace[c][p], r)
	}
	return x
}

// covering gives the findings of a code that speak of everything the given one speaks of.
func (x rawIndex) covering(c finding.Code, f *finding.Finding) []*raw {
	at := x.byPlace[c]
	if len(at) == 0 {
		return nil
	}
	p := spotOf(f)
	var out []*raw
	for _, g := range distinct(p.group, "") {
		for _, t := range distinct(p.topic, "") {
			out = append(out, at[spot{p.flow, g, t, -1}]...)
			if p.part >= 0 {
				out = append(out, at[spot{p.flow, g, t, p.part}]...)
			}
		}
	}
	return out
}

func distinct(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// mergeKey says which findings are one: alike in code, rule, severity and, where each group has a story of its own, group.
type mergeKey struct {
	code     finding.Code
	slug     string
	flow     string
	severity finding.Severity
	group    string
	topic    string
	because  string
	mode     string // a repair of MirrorMaker 2 and one of an offset are not one
	file     string // what stands at two places of a file is two
	line     int
}

// perGroup are codes that name something that belongs to one group: its members, its offsets.
var perGroup = []finding.Code{302, 303, 217, 305, 308, 313}

// perTopic are codes whose reason belongs to one topic.
var perTopic = []finding.Code{109, 604, 406}

func (e *engine) findings() []finding.Finding {
	loud := e.loud()
	var order []mergeKey
	merged := map[mergeKey][]*raw{}
	for _, r := range e.raws {
		if r.root != nil || r.accepted != "" {
			continue
		}
		if r.f.Severity == finding.Info && slices.Contains(perGroup, r.f.Code) && loud[mergeKey{code: r.f.Code, flow: r.f.Flow, group: r.f.Subject.Group}] {
			continue // the remark only repeats what an error or warning says of the same group
		}
		k := mergeKey{code: r.f.Code, slug: r.f.Slug, flow: r.f.Flow, severity: r.f.Severity}
		if slices.Contains(perGroup, r.f.Code) {
			k.group = r.f.Subject.Group
		}
		if slices.Contains(perTopic, r.f.Code) {
			k.topic = r.f.Subject.Topic
		}
		if len(r.f.Fixes) > 0 {
			k.mode = r.f.Fixes[0].Mode
		}
		if r.grain <= finding.OnFlow {
			k.because, k.file, k.line = r.f.Because, r.f.Subject.File, r.f.Subject.Line
		}
		if merged[k] == nil {
			order = append(order, k)
		}
		merged[k] = append(merged[k], r)
	}
	out := make([]finding.Finding, 0, len(order))
	for _, k := range order {
		out = append(out, mergeRaws(merged[k]))
	}
	sortFindings(out)
	return out
}

// mostSubjects is how many subjects a finding lists; all are counted.
const mostSubjects = 100

// loud are the groups of which a finding of a code says more than a remark.
func (e *engine) loud() map[mergeKey]bool {
	out := map[mergeKey]bool{}
	for _, o := range e.raws {
		if o.f.Severity > finding.Info && o.root == nil {
			out[mergeKey{code: o.f.Code, flow: o.f.Flow, group: o.f.Subject.Group}] = true
		}
	}
	return out
}

func mergeRaws(rs []*raw) finding.Finding {
	f := *rs[0].f
	f.SubjectCount = max(len(rs), f.SubjectCount)
	if rs[0].grain > finding.OnFlow {
		for _, r := range rs[:min(len(rs), mostSubjects)] {
			f.Subjects = append(f.Subjects, r.f.Subject)
		}
	}
	for _, r := range rs {
		for _, ef := range r.effects {
			addEffect(&f, ef.f)
			for _, c := range ef.f.CausedBy {
				f.CausedBy = causes(f.CausedBy, c)
			}
		}
		for _, c := range r.f.CausedBy {
			f.CausedBy = causes(f.CausedBy, c)
		}
	}
	if fix := fixesOfAll[f.Code]; fix != nil && len(rs) > 1 && len(f.Fixes) > 0 {
		gps := make([]groupPartition, len(rs))
		for i, r := range rs {
			gps[i] = r.s.gp
		}
		f.Fixes = append([]finding.Fix{fix(rs[0].s.flow, gps, f.Fixes[0].Mode)}, furtherFixes(rs)...)
		inMode(rs[0].s.flow, &f)
	}
	if fixes := joinedFixes[f.Code]; fixes != nil && len(rs) > 1 {
		f.Fixes = fixes(rs)
		inMode(rs[0].s.flow, &f)
	}
	if more := observedOfAll[f.Code]; more != nil && len(rs) > 1 {
		f.Observed = more(rs)
	}
	return f
}

// furtherFixes is the other way to repair 303, for those of the rows that it is for.
func furtherFixes(rs []*raw) []finding.Fix {
	var gps []groupPartition
	for _, r := range rs {
		if r.f.Code == 303 && len(r.f.Fixes) > 1 {
			gps = append(gps, r.s.gp)
		}
	}
	if len(gps) == 0 {
		return nil
	}
	return []finding.Fix{setFix(rs[0].s.flow, gps)}
}

// joinedFixes are repairs of a merged finding that are made of all it is merged from.
var joinedFixes = map[finding.Code]func(rs []*raw) []finding.Fix{306: aclFixesOfAll, 602: aclFixesOfAll}

// observedOfAll are the numbers of a merged finding where each subject's own matter.
var observedOfAll = map[finding.Code]func(rs []*raw) finding.Observed{402: worstReread}

// fixesOfAll are repairs with a step for each group and topic of a merged finding. mode is that of the single repair, which
// all that are merged share.
var fixesOfAll = map[finding.Code]func(f *flowView, gps []groupPartition, mode string) finding.Fix{
	106: rewindFixOfAll,
	206: func(f *flowView, gps []groupPartition, _ string) finding.Fix { return earliestFix(f, gps) },
	303: func(f *flowView, gps []groupPartition, _ string) finding.Fix { return lowerFix(f, gps) },
	307: func(f *flowView, gps []groupPartition, mode string) finding.Fix { return expiryFix(f, gps, mode) },
	309: func(f *flowView, gps []groupPartition, _ string) finding.Fix { return startFix(f, gps) },
	310: func(f *flowView, gps []groupPartition, _ string) finding.Fix {
		return excludeAll(f, gps, activeSideText(f))
	},
	311: func(f *flowView, gps []groupPartition, _ string) finding.Fix { return epochFix(f, gps) },
	312: twoWritersFix,
	314: func(f *flowView, gps []groupPartition, _ string) finding.Fix { return negativeFix(f, gps) },
	315: func(f *flowView, gps []groupPartition, _ string) finding.Fix { return metadataFix(f, gps) },
	316: func(f *flowView, gps []groupPartition, _ string) finding.Fix { return rewoundFix(f, gps) },
	401: wrongNumberFix(""),
	404: func(f *flowView, gps []groupPartition, mode string) finding.Fix {
		if mode == "kafka" {
			return skipFix(f, gps)
		}
		return rewriteFix(f, gps, "")
	},
	406: anewFixOfAll,
	403: wrongNumberFix("3.4.1"),
	405: wrongNumberFix("3.4.1"),
}

// wrongNumberFix repairs a number that MirrorMaker 2 would write again; a repair of mode kafka is of one that nothing writes
// again.
func wrongNumberFix(fixedIn string) func(*flowView, []groupPartition, string) finding.Fix {
	return func(f *flowView, gps []groupPartition, mode string) finding.Fix {
		if mode == "kafka" {
			return lowerFix(f, gps)
		}
		return rewriteFix(f, gps, fixedIn)
	}
}

func addEffect(f *finding.Finding, ef *finding.Finding) {
	for i := range f.Explains {
		if x := &f.Explains[i]; x.Code == ef.CodeText && x.Slug == ef.Slug {
			x.Count++
			x.Severity = max(x.Severity, ef.Severity)
			if len(x.Subjects) < mostSubjects {
				x.Subjects = append(x.Subjects, ef.Subject)
			}
			return
		}
	}
	f.Explains = append(f.Explains, finding.Effect{Code: ef.CodeText, Slug: ef.Slug, Severity: ef.Severity, Subjects: []finding.Subject{ef.Subject}, Count: 1, Observed: ef.Observed, Because: ef.Because})
}

// causes adds a cause that is not there yet.
func causes(all []finding.Effect, c finding.Effect) []finding.Effect {
	for _, x := range all {
		if x.Slug == c.Slug && slices.Equal(x.Subjects, c.Subjects) {
			return all
		}
	}
	return append(all, c)
}
