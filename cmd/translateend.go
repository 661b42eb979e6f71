package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/apply"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/read"
	"github.com/mm2doctor/mm2doctor/translate/render"
)

// told is an error with a code, in its three parts.
type told struct {
	code          finding.Code
	because, next string
}

func (t *told) Error() string {
	text := t.because
	if t.code == plan.JournalUnwritable {
		text = t.code.String() + ": " + text
	}
	if t.next != "" {
		text += "; " + t.next
	}
	return text
}

// toldBy finds the code and the parts of an error that ended a run for want of a cluster.
func toldBy(err error) *told {
	var t *told
	if errors.As(err, &t) {
		return t
	}
	because, next, _ := strings.Cut(err.Error(), "; ")
	code := finding.Code(1)
	if wire.CodeOf(err).Denied() {
		code = 3
	}
	return &told{code, because, next}
}

// wantsObject says that somebody asked for JSON, and is owed one object whatever came of the run.
func wantsObject(outs []output) bool {
	return slices.ContainsFunc(outs, func(o output) bool { return o.format == "json" })
}

// writable makes sure, before anything is written to a cluster, that what comes of it can be told.
func writable(outs []output) error {
	for _, o := range outs {
		if o.file == "" {
			continue
		}
		f, err := os.OpenFile(o.file, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return usage("-o %s=%s: %v; nothing was changed", o.format, o.file, err)
		}
		f.Close()
	}
	return nil
}

// objectOnly are the outputs in JSON: an error has no other form there than its text on standard error.
func objectOnly(outs []output) []output {
	return slices.DeleteFunc(slices.Clone(outs), func(o output) bool { return o.format != "json" })
}

// unmade ends a run that made no plan: an unread cluster still gives one object to those who asked for JSON, with the finding and
// without a digest, so that nobody can apply it.
func (o *translateOptions) unmade(ctx context.Context, m *made, outs []output, err error) error {
	var ee *exitError
	if ctx.Err() != nil || !errors.As(err, &ee) || ee.code == exitUsage || !wantsObject(outs) {
		return err
	}
	t := toldBy(err)
	p := &plan.Plan{SchemaVersion: plan.SchemaVersion, Tool: tool(), Command: "translate", Made: o.now().UTC().Format("2006-01-02T15:04:05Z"), Direction: "forward"}
	if m != nil {
		p.Flow = m.flow
	}
	from, to, _ := strings.Cut(p.Flow, "->")
	if o.Reverse {
		p.Direction, from, to = "reverse", to, from
	}
	p.From, p.To = plan.Cluster{Alias: from, Lost: o.SourceLost}, plan.Cluster{Alias: to}
	f := finding.Finding{Code: t.code, ID: t.code.String(), CodeText: t.code.String(), Severity: finding.Error, Link: finding.LinkNone, Flow: p.Flow, Because: t.because, Docs: "docs/codes/" + t.code.String() + ".md", SubjectCount: 1}
	if e := finding.Lookup(t.code); e != nil {
		f.Slug = e.Slug
	}
	if t.next != "" {
		f.Fixes = []finding.Fix{{Mode: "kafka", Text: t.next}}
	}
	p.Findings = []finding.Finding{f}
	if o.Apply {
		w := &writing{diagnoseOptions: &o.diagnoseOptions, applying: &o.applying, outs: outs}
		return w.unwritten(p, "apply", err)
	}
	if werr := writeOutputs(objectOnly(outs), o.streams, func(w io.Writer, _ term.Screen, _ string) error { return render.JSON(w, p) }); werr != nil {
		return werr
	}
	return err
}

// unwritten ends a run before anything was written: its error on standard error, and one object for those who asked for JSON.
func (w *writing) unwritten(p *plan.Plan, command string, err error) error {
	var ee *exitError
	if !errors.As(err, &ee) || ee.code == exitUsage || !wantsObject(w.outs) {
		return err
	}
	t := toldBy(err)
	out := apply.Unwritten(p, command, &apply.Refusal{Code: t.code, Because: t.because, Next: t.next}, apply.Options{Tool: tool(), Now: w.now})
	if werr := writeOutputs(objectOnly(w.outs), w.streams, func(to io.Writer, _ term.Screen, _ string) error { return render.OutcomeJSON(to, out) }); werr != nil {
		return werr
	}
	return err
}

// missed are errors of the plan that belong to none of its groups: what was asked for and is not there.
func missed(p *plan.Plan) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(p.Findings), func(f finding.Finding) bool {
		return f.Severity < finding.Error || slices.ContainsFunc(p.Groups, func(g plan.Group) bool {
			return f.Subject.Group != "" && (f.Subject.Group == g.Group || f.Subject.Group == g.TargetGroup)
		})
	})
}

// nothing ends a run of whose plan nothing is to be written.
func (w *writing) nothing(ctx context.Context, p *plan.Plan) error {
	var why *apply.Refusal
	if fs := missed(p); len(fs) > 0 {
		why = &apply.Refusal{Code: fs[0].Code, Because: fs[0].Because}
		if len(fs[0].Fixes) > 0 {
			why.Next = fs[0].Fixes[0].Text
		}
	}
	return w.finish(ctx, p, "apply", apply.Unwritten(p, "apply", why, w.options()), "", nil)
}

// tellReading says what reading cost, and what the budget kept from being compared.
func (o *translateOptions) tellReading(m *made) {
	s := &m.stats
	if s.Spent != "" && s.Compared < s.Positions && !o.Quiet {
		fmt.Fprintf(o.streams.Err, "%s: %d of %d positions rest on offset syncs alone, which is safe and less exact; give more with --read-budget\n", s.Spent, s.Positions-s.Compared, s.Positions)
	}
	if !o.Verbose || s.Positions == 0 {
		return
	}
	var parts []string
	for _, alias := range slices.Sorted(maps.Keys(s.Clusters)) {
		u := s.Clusters[alias]
		parts = append(parts, fmt.Sprintf("%s of records from %s (%d in %d pages)", read.Bytes(u.Bytes), alias, u.Records, u.Fetches))
	}
	if len(parts) == 0 {
		parts = []string{"no records"}
	}
	syncs := int64(0)
	for _, x := range s.Syncs {
		syncs += x.Records
	}
	round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	fmt.Fprintf(o.streams.Err, "read: %s, %d offset syncs; %d positions in %d partitions, %d of them compared by records; time: offset syncs %v, log ends %v, records %v\n",
		strings.Join(parts, ", "), syncs, s.Positions, s.Partitions, s.Compared, round(s.ReadSyncs), round(s.Ends), round(s.Locate))
}
