package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// report puts the answer together: rows with their status, links, findings, what was not checked, the verdict.
func (v *View) report(e *engine, o Options) *Report {
	r := &Report{SchemaVersion: 1, Tool: o.Tool, Command: o.Command, Collected: Collected{From: stamp(v.snap.Started), To: stamp(v.snap.Taken)},
		Flows: []FlowInfo{}, Links: []LinkStatus{}, Findings: e.findings(), Partitions: []Row{}, NotChecked: []finding.NotChecked{}}
	groups := map[string]bool{}
	for _, f := range v.flows {
		r.Flows = append(r.Flows, f.info())
		r.Skipped = append(r.Skipped, f.skipped...)
		rows := f.buildRows(e)
		r.Links = append(r.Links, f.links(r, rows)...)
		r.Trees = append(r.Trees, f.tree(rows))
		for _, row := range rows {
			groups[f.Name()+"\x00"+row.row.Group] = true
			r.Partitions = append(r.Partitions, row.row)
		}
	}
	sortRows(r.Partitions)
	r.NotChecked = append(r.NotChecked, e.notChecked...)
	r.summarise(len(groups))
	return r
}

// judged is a row with what it rests on.
type judged struct {
	row Row
	gp  groupPartition
	a   assessment
}

func (f *flowView) buildRows(e *engine) []judged {
	own := map[checkpointKey][]*raw{}
	var wide []*raw
	for _, x := range e.raws {
		if x.f.Flow != f.Name() {
			continue
		}
		if x.grain == finding.OnGroupPartition {
			k := checkpointKey{x.s.gp.group, x.s.gp.topic, x.s.gp.part}
			own[k] = append(own[k], x)
		} else {
			wide = append(wide, x)
		}
	}
	out := make([]judged, 0, len(f.rows))
	for _, gp := range f.rows {
		a := gp.assess()
		row := f.baseRow(gp, a)
		top := rootOf(gp, a, own[checkpointKey{gp.group, gp.topic, gp.part}], wide)
		if top != nil && top.accepted != "" {
			row.Status, row.Disposition, row.Note = top.f.CodeText, Intended, "accepted: "+top.accepted
			delete(row.Unknown, a.missing)
		} else if top != nil && (a.status != statusUnknown || top.f.Severity >= finding.Warning) { // a remark answers no open question
			row.Status = top.f.CodeText
			if a.status == statusUnknown && a.gap != nil && a.gap.Code == "one-look" {
				delete(row.Unknown, a.missing) // the finding has settled it
				row.Note = ""
			}
			if top.f.Severity >= finding.Warning {
				row.Disposition = Faulty
			} else if row.Disposition == Unsure {
				row.Disposition = Expected
			}
		} else if a.status == statusWaiting {
			row.Status = statusUnknown
			row.Disposition = Unsure
			a.gap = &snapshot.Gap{Code: "undetermined", Why: a.note + ", and no cause was found"}
			if gap := f.undecided(e, gp, a.link); gap != nil {
				a.gap = gap
			} else if a.link == finding.LinkSyncs || a.link == finding.LinkReplication {
				row.Status, row.Disposition = statusMoving, Expected // young, or a finding would have said so
			}
		}
		if row.Status == statusUnknown {
			e.unknownRow(f, gp, a)
		}
		out = append(out, judged{row: row, gp: gp, a: a})
	}
	return out
}

// undecided is what keeps the doctor from telling a young flow from a broken one; nil where nothing does.
func (f *flowView) undecided(e *engine, gp groupPartition, l finding.Link) *snapshot.Gap {
	switch {
	case l != finding.LinkSyncs && l != finding.LinkReplication:
		return nil
	case f.down() != nil:
		return f.down()
	case f.settings.gap != nil:
		return f.settings.gap // how long MirrorMaker 2 may take is a setting
	case l == finding.LinkReplication:
		return cmp.Or(e.skipped(109, gp), e.skipped(604, gp))
	}
	return e.skipped(103, gp)
}

// rootOf is the finding that a row's status names: the worst root of the row's own findings, else one on the group, the topic
// or the flow that explains why the row waits.
func rootOf(gp groupPartition, a assessment, own, wide []*raw) *raw {
	var best *raw
	better := func(t *raw) bool {
		return best == nil || t.f.Severity > best.f.Severity || t.f.Severity == best.f.Severity && t.f.Link < best.f.Link
	}
	for _, x := range own {
		if t := x.top(); better(t) {
			best = t
		}
	}
	if best != nil || a.status != statusWaiting && a.status != statusMoving && a.status != statusUnknown {
		return best
	}
	for _, x := range wide {
		t := x.top()
		if x.f.Subject.Group != "" && x.f.Subject.Group != gp.group || x.f.Subject.Topic != "" && x.f.Subject.Topic != gp.topic || x.f.Subject.Partition != nil && *x.f.Subject.Partition != gp.part {
			continue
		}
		if x.f.Link == finding.LinkNone || x.f.Link > max(a.link, finding.LinkCheckpoints) || a.status == statusMoving && x.f.Severity < finding.Warning {
			continue
		}
		if better(t) {
			best = t
		}
	}
	return best
}

func (f *flowView) baseRow(gp groupPartition, a assessment) Row {
	row := Row{Flow: f.Name(), Group: gp.group, Topic: gp.topic, TargetTopic: gp.remote, TargetGroup: gp.group, Partition: gp.part,
		Disposition: a.disposition, Status: a.status, Note: a.note}
	unknown := map[string]string{}
	row.Committed.Source = shown(gp.sourceOffset(), "committed.source", unknown)
	row.Committed.Target = shown(gp.targetOffset(), "committed.target", unknown)
	c := gp.checkpoint()
	if cv, st := c.Get(); st == snapshot.Known {
		row.Checkpoint = snapshot.Is(Pair{cv.Up, cv.Down})
	} else {
		row.Checkpoint = shown(recast[Pair](c), "checkpoint", unknown)
	}
	if u, st := gp.sourceOffset().Get(); st == snapshot.Known && u >= 0 {
		f.fillTranslation(gp, u, &row, unknown)
	}
	if g, st := gp.targetGroup().Get(); st == snapshot.Known {
		row.TargetState = string(g.State.Or(""))
	}
	unknown["exact"] = "records were not compared"
	if a.status == statusUnknown && a.missing != "" {
		unknown[a.missing] = a.gap.String()
	}
	row.Unknown = unknown
	return row
}

func (f *flowView) fillTranslation(gp groupPartition, u int64, row *Row, unknown map[string]string) {
	t, st, gap := gp.translate(u)
	switch {
	case st == snapshot.Unknown:
		unknown["sync"], unknown["mm2Expected"] = gap.String(), gap.String()
	case st == snapshot.Absent:
		row.Sync, row.MM2Expected = snapshot.None[SyncRef](), snapshot.None[int64]()
	case !t.known:
		unknown["mm2Expected"] = t.why
	case t.none:
		row.MM2Expected = snapshot.None[int64]()
	default:
		row.MM2Expected, row.Basis = snapshot.Is(t.value), "mm2"
		row.Sync = snapshot.Is(SyncRef{t.sync.Up, t.sync.Down, t.sync.Offset})
	}
}

// shown gives a fact for the report: an unknown one is left out and named.
func shown[T any](f snapshot.Fact[T], name string, unknown map[string]string) snapshot.Fact[T] {
	if f.Unknown() {
		unknown[name] = f.Why().String()
		return snapshot.Fact[T]{}
	}
	return f
}

func recast[T, F any](f snapshot.Fact[F]) snapshot.Fact[T] {
	if f.Absent() {
		return snapshot.None[T]()
	}
	return snapshot.NotKnown[T](f.Why())
}

// codeOfLink is the check that an unknown row leaves undecided.
var codeOfLink = map[finding.Link]finding.Code{finding.LinkReplication: 109, finding.LinkSyncs: 103, finding.LinkCheckpoints: 214, finding.LinkCommit: 304, finding.LinkAccuracy: 401}

func (e *engine) unknownRow(f *flowView, gp groupPartition, a assessment) {
	s := finding.Subject{Group: gp.group, Topic: gp.topic}
	n := finding.NotChecked{Check: codeOfLink[max(a.link, 0)].String(), Flow: f.Name(), Subject: &s, Count: 1, Why: a.gap.String(), DecidedBy: decidedBy(f, a)}
	for i := range e.notChecked {
		if o := &e.notChecked[i]; o.Check == n.Check && o.Flow == n.Flow && o.Why == n.Why {
			o.Count++
			if o.Subject == nil {
				o.Subject, o.DecidedBy = n.Subject, n.DecidedBy
			}
			return
		}
	}
	e.notChecked = append(e.notChecked, n)
}

func decidedBy(f *flowView, a assessment) string {
	switch {
	case a.gap != nil && a.gap.Code == "denied":
		return "the ACL named in MM2D-003"
	case a.missing == factRunning:
		return "a look at MirrorMaker 2's process and its log (MM2D-112)"
	case a.gap != nil && a.gap.Code == "one-look":
		return "two looks: --observe " + (time.Duration(f.emitBudget()+f.commitBudget()) * time.Millisecond).String()
	case a.missing == "filters" || a.missing == "settings":
		return "the configuration: mm2doctor diagnose mm2.properties"
	case a.missing == "mm2Expected":
		return "--mm2-version"
	case a.missing == "checkpoint":
		return assignedCommand(f).Command
	}
	return ""
}

func (f *flowView) info() FlowInfo {
	ci := func(c *clusterView) ClusterInfo {
		return ClusterInfo{Alias: c.Alias, ClusterID: shown(c.ID, "", map[string]string{}), Bootstrap: append([]string{}, c.Bootstrap...), Version: c.Version.Or("")}
	}
	out := FlowInfo{Name: f.Name(), Source: ci(f.src), Target: ci(f.dst), Mode: f.Mode, File: f.File, MM2: f.gens.info()}
	p, _ := f.pulse()
	out.Running = [...]string{unheard: "untold", beating: "yes", faint: "unknown", silent: "no"}[p]
	if f.connectorDown(connSource) != "" {
		out.Running = "no"
	}
	if s, ok := f.lastSign(); ok {
		out.LastSign = &Sign{What: s.what, At: stamp(s.at), AgeSeconds: max(0, f.v.now-s.at) / 1000}
	}
	return out
}

// info puts what is known of the version into the report's words.
func (g generations) info() MM2Info {
	out := MM2Info{Claimed: g.claimed, Generations: []string{}, Basis: g.basis, Evidence: g.evidence}
	for _, x := range g.set.All() {
		out.Generations = append(out.Generations, x.String())
	}
	for _, x := range g.emissions.All() {
		out.Emissions = append(out.Emissions, x.String())
	}
	if g.records.lagMax >= 0 {
		out.OffsetLagMax = &g.records.lagMax
	}
	if v := g.version; !v.IsZero() {
		s := v.String()
		out.Range = [2]*string{&s, &s}
		return out
	}
	if v := g.rng.From; !v.IsZero() {
		s := v.String()
		out.Range[0] = &s
	}
	if v := g.rng.To; !v.IsZero() {
		out.Range[1] = nextRelease(v)
	}
	return out
}

// nextRelease is the first release after one, nil past the last.
func nextRelease(last mm2.Version) *string {
	for _, v := range mm2.Releases() {
		if v.Compare(last) > 0 {
			s := v.String()
			return &s
		}
	}
	return nil
}

// sortRows puts the worst first: faulty, unknown, moving, the rest; then by name.
func sortRows(rows []Row) {
	rank := func(r *Row) int {
		switch {
		case r.Disposition == Faulty:
			return 0
		case r.Disposition == Unsure:
			return 1
		case r.Status == statusMoving:
			return 2
		case r.Status != statusOK:
			return 3
		case r.Disposition == Intended:
			return 5
		}
		return 4
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

// ownConnection are codes about the doctor's own connection: they say nothing of the flow and never fail a run by themselves.
func ownConnection(c finding.Code) bool { return c >= 1 && c <= 3 }

func (r *Report) summarise(groups int) {
	s := &r.Summary
	s.Link, s.Groups, s.Rows, s.NotChecked = finding.LinkNone, groups, len(r.Partitions), len(r.NotChecked)
	first := finding.Link(99)
	own := false
	faults, warns := 0, 0
	for _, f := range r.Findings {
		switch f.Severity {
		case finding.Error:
			s.Errors++
		case finding.Warning:
			s.Warnings++
		default:
			s.Infos++
		}
		if ownConnection(f.Code) {
			own = true
			continue
		}
		if f.Severity == finding.Error {
			faults++
			if f.Link >= 0 {
				first = min(first, f.Link)
			}
		} else if f.Severity == finding.Warning {
			warns++
		}
	}
	unsure := own
	for _, l := range r.Links {
		unsure = unsure || l.Status == "unknown"
	}
	switch {
	case faults > 0:
		s.Verdict = Broken
		if first < 99 {
			s.Link = first
		}
	case warns > 0:
		s.Verdict = Degraded
	case unsure || len(r.Flows) == 0:
		s.Verdict = Unknown
	default:
		s.Verdict = Healthy
	}
}

// Worst is the highest severity among findings that speak of the flows, not of the doctor's own connection.
func (r *Report) Worst() finding.Severity {
	var w finding.Severity
	for _, f := range r.Findings {
		if !ownConnection(f.Code) {
			w = max(w, f.Severity)
		}
	}
	return w
}

// Incomplete says that a link is unknown, or that the doctor's own connection failed.
func (r *Report) Incomplete() bool {
	for _, l := range r.Links {
		if l.Status == "unknown" {
			return true
		}
	}
	for _, f := range r.Findings {
		if ownConnection(f.Code) {
			return true
		}
	}
	return len(r.Flows) == 0
}
