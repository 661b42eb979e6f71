package diagnose

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/lint"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// The rules of check and the chain tell one story. What the chain has judged stands as it was judged: a rule adds the place to it, or
// its cause. What no link shows is listed after the chain, and alarms nobody: a flow that works is healthy, whatever its file
// holds.

// leadsTo are the codes of the chain that a setting brings about where it is not what was meant.
var leadsTo = map[string][]finding.Code{
	"enabled":                      {5},
	keySyncEnabled:                 {301},
	keyEmitEnabled:                 {208, 201, 202},
	keySyncsEnabled:                {111, 101, 103},
	keyLocation:                    {102, 101, 103, 107},
	keyGroups:                      {203, 202, 208},
	keyGroupsExclude:               {203, 202, 208},
	keyTopics:                      {204, 109},
	keyTopicsExclude:               {204, 109},
	keyTasksMax:                    {112, 208},
	"replication.policy.class":     {209, 107, 101, 103, 109, 201},
	"replication.policy.separator": {209, 107, 101, 103, 109, 201},
	"replication.policy.internal.topic.separator.enabled": {107, 101, 103, 201},
	"source.cluster.alias":                                {102, 115, 101, 103, 107, 201},
	"target.cluster.alias":                                {102, 115, 101, 103, 107, 201},
}

// slugLeadsTo are those of rules that are about more than one setting.
var slugLeadsTo = map[string][]finding.Code{
	"malformed-flow-key": {5}, "unknown-alias-in-flow": {5}, "clusters-missing": {5}, "blank-alias": {107, 101}, "alias-override": {102, 115, 101, 103, 107, 201},
	"group-offset-sync-unsupported": {301}, "legacy-policy-class": {209, 107}, "separator-mismatch": {209, 107, 101, 103, 201}, "policy-mismatch": {209, 107, 101, 103, 201},
	"identity-loop": {407}, "identity-fan-in": {312}, "offset-syncs-conflict": {112, 208, 109, 101, 201},
}

// dangerous are rules about what no link shows before it strikes: they stay warnings where all is well today.
var dangerous = []string{"refresh-disabled", "identity-loop", "identity-fan-in", "worker-group-collision"}

// remark is a rule's finding on its way into the report.
type remark struct {
	r    snapshot.Remark
	raw  *raw
	used bool
}

// join takes in what the rules of check found.
func (e *engine) join() {
	rs, st := e.v.snap.Remarks.Get()
	if st != snapshot.Known {
		rs = lint.Remarks(lint.Stored(e.v.snap.Flows, mm2.ReleaseOf(e.v.snap.MM2Version)), func(*finding.Finding) string { return "" })
	}
	var all []*remark
	for _, r := range rs {
		if r.Flow == "" || slices.ContainsFunc(e.v.flows, func(f *flowView) bool { return f.Name() == r.Flow }) || slices.ContainsFunc(e.raws, func(x *raw) bool { return x.f.Flow == r.Flow }) {
			all = append(all, &remark{r: r, raw: e.rawOf(r)})
		}
	}
	chain := e.raws
	for _, m := range all {
		e.explain(m, chain)
	}
	for _, m := range all {
		e.sameFact(m, chain) // the place of a cause is the better one
	}
	for _, m := range all {
		if !m.used && m.r.Accepted == "" && e.listed(m, chain) {
			e.raws = append(e.raws, m.raw)
		}
	}
}

// rawOf makes a finding of a remark.
func (e *engine) rawOf(r snapshot.Remark) *raw {
	code := finding.Code(r.Code)
	f := &finding.Finding{Code: code, ID: code.String(), CodeText: code.String(), Slug: r.Slug, Severity: severityNamed(r.Severity), Link: finding.LinkNone, Flow: r.Flow, SubjectCount: 1,
		Subject: finding.Subject{File: r.File, Line: r.Line, Column: r.Column, Key: r.Key, Connector: r.Connector}, Because: r.Because, Consequence: r.Consequence, Bugs: r.Bugs, Docs: "docs/codes/" + code.String() + ".md"}
	for _, x := range r.Fixes {
		fix := finding.Fix{Mode: x.Mode, Text: x.Text}
		if x.Where != "" {
			fix.Steps = []finding.Step{{Text: x.Where, File: x.File, Properties: x.Properties}}
		}
		f.Fixes = append(f.Fixes, fix)
	}
	out := &raw{f: f, grain: finding.OnSnapshot}
	for _, fl := range e.v.flows {
		if fl.Name() == r.Flow {
			out.s.flow, out.grain = fl, finding.OnFlow
		}
	}
	return out
}

func severityNamed(text string) finding.Severity {
	for _, s := range []finding.Severity{finding.Info, finding.Warning, finding.Error} {
		if s.String() == text {
			return s
		}
	}
	return finding.Info
}

// sameFact: the chain has found what the rule says. Its finding gets the place, and where a comment accepts it, it is accepted.
func (e *engine) sameFact(m *remark, chain []*raw) {
	for _, x := range chain {
		if x.f.Code != finding.Code(m.r.Code) || m.r.Flow != "" && x.f.Flow != m.r.Flow {
			continue
		}
		m.used = true
		if s := &x.f.Subject; s.File == "" && m.r.File != "" {
			s.File, s.Line, s.Column, s.Key = m.r.File, m.r.Line, m.r.Column, cmp.Or(s.Key, m.r.Key)
		}
		if x.f.Slug == m.r.Slug && x.accepted == "" {
			x.accepted = m.r.Accepted
		}
	}
}

// explain gives findings of the chain the rule's finding as their cause.
func (e *engine) explain(m *remark, chain []*raw) {
	if m.r.Accepted != "" || m.r.Code < 500 {
		return
	}
	codes := slugLeadsTo[m.r.Slug]
	if m.raw.f.Severity > finding.Info {
		codes = slices.Concat(codes, leadsTo[m.r.Setting])
	}
	for _, x := range chain {
		if !slices.Contains(codes, x.f.Code) || m.r.Flow != "" && x.f.Flow != "" && x.f.Flow != m.r.Flow || !e.inForce(m, x) {
			continue
		}
		m.used = true
		c := m.raw.f
		x.f.CausedBy = append(x.f.CausedBy, finding.Effect{Code: c.CodeText, Slug: c.Slug, Severity: c.Severity, Subjects: []finding.Subject{c.Subject}, Count: 1, Because: c.Because})
		if s := &x.f.Subject; s.File == "" {
			s.File, s.Line, s.Column, s.Key = m.r.File, m.r.Line, m.r.Column, cmp.Or(s.Key, m.r.Key)
		}
		if c.Code == 507 || c.Code == 508 { // else the chain's own repair is about the same line
			x.f.Fixes = slices.Concat(repairs(c.Fixes, x.f.Fixes), x.f.Fixes)
		}
	}
}

// repairs are those of a rule, with the time that the chain's own one takes to show.
func repairs(of, chain []finding.Fix) []finding.Fix {
	out := slices.Clone(of)
	for i := range out {
		if len(chain) > 0 {
			out[i].Mode, out[i].WaitSeconds = chain[0].Mode, chain[0].WaitSeconds
		}
	}
	return out
}

// inForce: what runs has the default, or the very line that the rule is about; a value from elsewhere is not the rule's doing.
func (e *engine) inForce(m *remark, x *raw) bool {
	if m.r.Setting == "" || x.s.flow == nil {
		return true
	}
	for _, c := range readersOf(m.r.Setting) {
		v, st := x.s.flow.settings.get(c, m.r.Setting).Get()
		if st == snapshot.Known && !v.Default && (v.File != m.r.File || v.Line != m.r.Line) && v.File != "" {
			return false
		}
	}
	return true
}

// readersOf are the connectors that read a setting.
func readersOf(setting string) []string {
	var out []string
	k, _ := conf.LookupKey(setting)
	for name, r := range map[string]conf.Reader{connSource: conf.Source, connCheckpoint: conf.Checkpoint, connHeartbeat: conf.Heartbeat} {
		if k.ReadBy&r != 0 {
			out = append(out, name)
		}
	}
	return out
}

// runs: the setting that the rule is about is what MirrorMaker 2 runs with, as far as is known.
func (e *engine) runs(m *remark) bool {
	f := m.raw.s.flow
	if m.r.Setting == "" || f == nil || m.r.File == "" {
		return true
	}
	for _, c := range readersOf(m.r.Setting) {
		if v, st := f.settings.get(c, m.r.Setting).Get(); st == snapshot.Known && v.File != m.r.File {
			return false // what was stored says something else than the file
		}
	}
	return true
}

// listed says whether a remark that no link shows is told, and how loud. A code of the chain is the chain's to judge: where it could, its
// word stands.
func (e *engine) listed(m *remark, chain []*raw) bool {
	if m.raw.f.Severity == finding.Info || m.r.Code == 601 || m.r.Code < 500 && e.judged(m) {
		return false
	}
	troubled := slices.ContainsFunc(chain, func(x *raw) bool {
		return x.f.Severity > finding.Info && !ownConnection(x.f.Code) && (m.r.Flow == "" || x.f.Flow == m.r.Flow)
	})
	if !(slices.Contains(dangerous, m.r.Slug) && e.runs(m)) && !(troubled && m.raw.f.Severity == finding.Error) {
		m.raw.f.Severity = finding.Info
	}
	m.raw.f.Severity = min(m.raw.f.Severity, finding.Warning)
	return true
}

// judged says that the chain looked at what the rule is about, and found it well; or could not even look, which is told.
func (e *engine) judged(m *remark) bool {
	if m.r.Code == 5 || slices.ContainsFunc(e.raws, func(x *raw) bool { return ownConnection(x.f.Code) }) {
		return true
	}
	rows := false
	for _, f := range e.v.flows {
		rows = rows || (m.r.Flow == "" || f.Name() == m.r.Flow) && len(f.rows) > 0
	}
	return rows && !slices.ContainsFunc(e.skips, func(k skippedCheck) bool {
		return int(k.code) == m.r.Code && (m.r.Flow == "" || k.s.flow == nil || k.s.flow.Name() == m.r.Flow)
	})
}

// accept notes what somebody accepts, and the severities that somebody chose.
func (e *engine) accept(o Options) {
	for _, x := range e.raws {
		if x.root != nil {
			continue
		}
		if x.accepted == "" && o.Accepted != nil {
			x.accepted = o.Accepted(x.f)
		}
		if o.Severity != nil {
			x.f.Severity = cmp.Or(o.Severity(x.f), x.f.Severity)
		}
	}
}
