package cmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/apply"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/render"
)

// applying are the flags of everything that writes.
type applying struct {
	Yes       bool
	Journal   string
	IdleProof time.Duration
	Refresh   bool
}

func (a *applying) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVarP(&a.Yes, "yes", "y", false, "do not ask")
	f.StringVar(&a.Journal, "journal", "", "keep what was there before in this file (default mm2doctor-FLOW-TIME.journal here, with reverse and rollback in its name for those)")
	f.DurationVar(&a.IdleProof, "idle-proof", 10*time.Second, "offsets that move between two readings this far apart belong to a consumer without membership")
	f.BoolVar(&a.Refresh, "refresh", false, "plan those groups anew whose source position moved since the plan, instead of refusing them")
}

// canAsk refuses a run that would have to ask where nobody answers, before anything is read.
func (a *applying) canAsk(s *term.Streams) error {
	if !a.Yes && !s.CanPrompt() {
		return usage("nobody can be asked here whether to write: add --yes")
	}
	if a.IdleProof < 0 {
		return usage("--idle-proof %s: must not be negative", a.IdleProof)
	}
	return nil
}

// confirm asks for the alias of the cluster that will be written.
func (a *applying) confirm(ctx context.Context, s *term.Streams, what string, to plan.Cluster) error {
	if a.Yes {
		return ctx.Err()
	}
	fmt.Fprintf(s.Err, "%s on cluster %s (%s).\nType the alias of the cluster that will be written: ", what, to.Alias, strings.Join(to.Bootstrap, ","))
	var line string
	var err error
	answered := make(chan struct{})
	go func() { // an interrupt does not wait for a key
		line, err = bufio.NewReader(s.In).ReadString('\n')
		close(answered)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return ctx.Err()
	case <-answered:
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return &exitError{exitRefused, fmt.Errorf("reading the answer: %w; nothing was changed", err)}
	}
	if got := strings.TrimSpace(line); got != to.Alias {
		return &exitError{exitRefused, &told{plan.WrongCluster, fmt.Sprintf("%q is not %s: nothing was changed", got, to.Alias), "type the alias as it stands in the plan, or choose another flow"}}
	}
	return nil
}

// journal creates the journal's file.
func (a *applying) journal(p *plan.Plan, what string, now time.Time) (*apply.FileJournal, error) {
	name := a.Journal
	if p.Direction == "reverse" {
		what = "reverse-" + what
	}
	if name == "" {
		name = fmt.Sprintf("mm2doctor-%s-%s%s.journal", strings.ReplaceAll(strings.ReplaceAll(p.Flow, "->", "-"), string(os.PathSeparator), "_"), what, now.UTC().Format("20060102T150405Z"))
	}
	j, err := apply.CreateJournal(name)
	if err != nil {
		because, next, _ := strings.Cut(err.Error(), "; ")
		return nil, &exitError{exitRefused, &told{plan.JournalUnwritable, because + "; nothing was changed", next}}
	}
	return j, nil
}

// target opens a second connection to the cluster that is written: the one that reads refuses to write.
func (s *session) target(alias string) (apply.Target, error) {
	if !s.live() {
		return nil, usage("the evidence is a captured snapshot, and no cluster to write to; give the configuration that the plan was made with, or leave the evidence out: the plan holds the addresses")
	}
	c, err := s.further(alias, "which the plan writes to", "--target", wire.Writer())
	if err != nil {
		return nil, err
	}
	return apply.NewTarget(c), nil
}

// further opens one more connection to a cluster of the evidence. role says what the plan has to do with it, flag how it is given.
func (s *session) further(alias, role, flag string, g wire.Guard) (*wire.Client, error) {
	cfg, ok := s.configs[alias]
	if !ok {
		return nil, usage("the evidence has no cluster %s, %s; give the configuration that the plan was made with, or %s %s=HOST:PORT", alias, role, flag, alias)
	}
	cfg.Guard = g
	c, err := wire.Open(cfg)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	s.clients = append(s.clients, c)
	return c, nil
}

// source reads where the positions come from; nil where that cluster was given up.
func (w *writing) source(c plan.Cluster) (apply.Source, error) {
	if c.Lost || w.sourceLost {
		return nil, nil
	}
	cl, err := w.session.further(c.Alias, "where the plan's positions come from", "--source", wire.ReadOnly())
	if err != nil {
		return nil, err
	}
	return apply.NewSource(cl), nil
}

// applyNow carries the plan out that was just made.
func (o *translateOptions) applyNow(ctx context.Context, m *made, outs []output) error {
	if !m.session.live() {
		return usage("--apply needs a cluster to write to, and the evidence is a captured snapshot; add --target HOST:PORT and --source-lost")
	}
	shown := o.streams.Out
	var files, rest []output
	for _, out := range outs {
		switch {
		case out.format == "csv" || out.format == "rpk":
			files = append(files, out)
		default:
			rest = append(rest, out)
		}
		if out.file == "" && out.format != "text" {
			shown = o.streams.Err
		}
	}
	if err := o.show(m, files); err != nil {
		return err
	}
	for _, out := range files {
		if out.file != "" && !o.Quiet {
			fmt.Fprintf(o.streams.Err, "wrote %s\n", out.file)
		}
	}
	if !o.Quiet {
		if err := render.Text(shown, m.plan, render.Options{Screen: term.NewScreen(shown, o.streams.Env), Verbose: o.Verbose}); err != nil {
			return err
		}
		fmt.Fprintln(shown)
	}
	w := &writing{diagnoseOptions: &o.diagnoseOptions, applying: &o.applying, session: m.session, evidence: o.evidenceArgs(), outs: rest, direct: true}
	if o.Refresh {
		w.refresh = o.anew
	}
	return w.carryOut(ctx, m.plan)
}

// anew makes the plan of some groups once more.
func (o *translateOptions) anew(ctx context.Context, groups []string) ([]plan.Group, error) {
	again := *o
	again.Groups = groups
	fresh, err := again.make(ctx)
	if fresh != nil {
		defer fresh.session.close()
	}
	if err != nil {
		return nil, err
	}
	return fresh.plan.Groups, nil
}

// writing is one run that writes.
type writing struct {
	*diagnoseOptions
	*applying
	session  *session
	evidence []string // arguments that find the clusters again, for printed commands
	outs     []output
	refresh  func(context.Context, []string) ([]plan.Group, error)
	// sourceLost takes the positions as they stand in the plan or the journal.
	sourceLost bool
	direct     bool // the plan was made in the same run
}

func (w *writing) options() apply.Options {
	idle := w.IdleProof
	if idle == 0 {
		idle = -1
	}
	o := apply.Options{Tool: tool(), IdleProof: idle, SourceLost: w.sourceLost, Refresh: w.refresh, Progress: stepsTo(w.streams, w.Quiet, w.session.progress), Now: w.now, Sleep: w.sleep}
	o.Commands = func(journal string) (string, string) {
		line := func(args ...string) string {
			return shellLine(append(append([]string{"mm2doctor", "translate"}, args...), w.evidence...))
		}
		resume := []string{"apply", "--resume", journal}
		if w.sourceLost {
			resume = append(resume, "--source-lost")
		}
		return line(resume...), line("rollback", journal)
	}
	return o
}

// permitted asks, and opens the connection that writes.
func (w *writing) permitted(ctx context.Context, p *plan.Plan, command, what string) (apply.Target, error) {
	if err := w.confirm(ctx, w.streams, what, p.To); err != nil {
		return nil, w.unwritten(p, command, err)
	}
	return w.session.target(p.To.Alias)
}

// carryOut asks, and applies the plan.
func (w *writing) carryOut(ctx context.Context, p *plan.Plan) error {
	if p.Summary.Set == 0 {
		return w.nothing(ctx, p)
	}
	t, err := w.permitted(ctx, p, "apply", fmt.Sprintf("This sets committed offsets of %s in %s", finding.Count(p.Summary.Set, "partition"), finding.Count(setGroups(p), "group")))
	if err != nil {
		return err
	}
	src, err := w.source(p.From)
	if err != nil {
		return err
	}
	j, err := w.journal(p, "", w.now())
	if err != nil {
		return w.unwritten(p, "apply", err)
	}
	defer j.Close()
	opts := w.options()
	opts.Moved = w.movedByMM2(ctx, p)
	out, err := apply.Run(ctx, p, t, src, j, opts)
	if out != nil {
		if out.Wrote {
			out.Remarks = append(out.Remarks, overwritten(p)...)
		}
		for _, f := range missed(p) {
			out.Remarks = append(out.Remarks, f.CodeText+": "+f.Because)
			if out.Result == apply.Done && out.Wrote {
				out.Result, out.Partial = apply.Partial, true
			}
		}
	}
	return w.finish(ctx, p, "apply", out, j.Path(), err)
}

// overwritten tells of what was written and will not hold: the write is done, and the exit code speaks of that alone.
func overwritten(p *plan.Plan) []string {
	at, reasons := map[string][]string{}, []string(nil)
	for _, g := range p.Groups {
		if g.Action != plan.Set || g.Holds.Status != "overwritten" && g.Holds.Status != "unknown" {
			continue
		}
		if at[g.Holds.Because] == nil {
			reasons = append(reasons, g.Holds.Because)
		}
		at[g.Holds.Because] = append(at[g.Holds.Because], g.TargetGroup)
	}
	for i, r := range reasons {
		reasons[i] = fmt.Sprintf("%s: %s: %s, unless the steps that the plan names were taken; translate verify --after 2m tells", plan.WillNotHold, strings.Join(at[r], ", "), r)
	}
	return reasons
}

// setGroups counts groups of which something is set.
func setGroups(p *plan.Plan) int {
	n := 0
	for _, g := range p.Groups {
		if g.Action == plan.Set {
			n++
		}
	}
	return n
}

// movedByMM2 looks a second time at what MirrorMaker 2 last wrote, when the first partition is found changed, and explains values
// that are its own.
func (w *writing) movedByMM2(ctx context.Context, p *plan.Plan) func(string, plan.Row, plan.Committed) string {
	if !w.session.live() || len(w.session.request.Flows) == 0 || p.Direction == "reverse" {
		return nil
	}
	type key struct {
		group, topic string
		partition    int32
	}
	rows := sync.OnceValue(func() map[key]diagnose.Row {
		out := map[key]diagnose.Row{}
		snap, err := w.session.read(ctx)
		if err != nil {
			return out
		}
		r, _ := diagnose.Run(snap, diagnose.Options{Command: "translate", Only: plan.Checks})
		for _, row := range r.Partitions {
			if row.Flow == p.Flow {
				out[key{row.TargetGroup, row.TargetTopic, row.Partition}] = row
			}
		}
		return out
	})
	return func(group string, row plan.Row, now plan.Committed) string {
		r, ok := rows()[key{group, row.TargetTopic, row.Partition}]
		if !ok {
			return ""
		}
		if cp, st := r.Checkpoint.Get(); st == snapshot.Known && cp.Downstream == now.Offset {
			return fmt.Sprintf("MirrorMaker 2 has committed its checkpoint %d meanwhile", now.Offset)
		}
		return ""
	}
}

// finish prints the outcome and turns it into an exit code.
func (w *writing) finish(ctx context.Context, p *plan.Plan, command string, out *apply.Outcome, journal string, err error) error {
	switch {
	case ctx.Err() != nil && (out == nil || !out.Wrote && out.Result != apply.Done):
		return ctx.Err()
	case out == nil && unreached(err) != nil:
		u := unreached(err)
		next := "repair the connection to " + u.Cluster
		if w.direct {
			next += ", or, where that cluster is given up, translate from what is left with --source-lost"
		} else {
			next += fmt.Sprintf(", or, where that cluster is given up, add --source-lost: the positions are then taken as the plan has them, and what was read there meanwhile is read again on %s", p.To.Alias)
		}
		return w.unwritten(p, command, &exitError{exitIncomplete, &told{1, u.Error() + "; nothing was changed", next}})
	case out == nil:
		return w.unwritten(p, command, &exitError{exitIncomplete, fmt.Errorf("%w; nothing was changed", err)})
	}
	if perr := writeOutputs(w.outs, w.streams, func(to io.Writer, screen term.Screen, format string) error {
		if format == "json" {
			return render.OutcomeJSON(to, out)
		}
		return render.OutcomeText(to, out, render.Options{Screen: screen, Verbose: w.Verbose})
	}); perr != nil && !out.Wrote {
		return perr
	} else if perr != nil {
		return &exitError{exitPartial, fmt.Errorf("%w; what was done stands in %s", perr, journal)}
	}
	code := outcomeExit(out)
	if err != nil {
		return &exitError{cmp.Or(code, exitPartial), err}
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

func unreached(err error) *apply.Unreached {
	var u *apply.Unreached
	if errors.As(err, &u) {
		return u
	}
	return nil
}

// outcomeExit: 4 when nothing was written, 5 when something was and something else was not, or differs.
func outcomeExit(out *apply.Outcome) int {
	switch out.Result {
	case apply.Done:
		return exitOK
	case apply.Nothing:
		if !out.Wrote {
			return exitRefused
		}
	}
	return exitPartial
}
