package cmd

import (
	"bufio"
	"bytes"
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
	"github.com/mm2doctor/mm2doctor/diagnose/collect"
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
	f.StringVar(&a.Journal, "journal", "", "keep what was there before in this file (default mm2doctor-FLOW-TIME.journal here)")
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
func (a *applying) journal(flow, what string, now time.Time) (*apply.FileJournal, error) {
	name := a.Journal
	if name == "" {
		name = fmt.Sprintf("mm2doctor-%s-%s%s.journal", strings.ReplaceAll(strings.ReplaceAll(flow, "->", "-"), string(os.PathSeparator), "_"), what, now.UTC().Format("20060102T150405Z"))
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
	cfg, ok := s.configs[alias]
	if !ok && !s.live() {
		return nil, usage("the evidence is a captured snapshot, and no cluster to write to; give the configuration that the plan was made with, or leave the evidence out: the plan holds the addresses")
	}
	if !ok {
		return nil, usage("the evidence has no cluster %s, which the plan writes to; give the configuration that the plan was made with, or --target %s=HOST:PORT", alias, alias)
	}
	cfg.Guard = wire.Writer()
	c, err := wire.Open(cfg)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	s.clients = append(s.clients, c)
	return apply.NewTarget(c), nil
}

// source reads where the positions come from; nil where that cluster was given up.
func (s *session) source(c plan.Cluster) (apply.Source, error) {
	if c.Lost {
		return nil, nil
	}
	cfg, ok := s.configs[c.Alias]
	if !ok {
		return nil, usage("the evidence has no cluster %s, where the plan's positions come from; give the configuration that the plan was made with, or --source %s=HOST:PORT", c.Alias, c.Alias)
	}
	cl, err := wire.Open(cfg)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	s.clients = append(s.clients, cl)
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
	if !o.Quiet {
		if err := render.Text(shown, m.plan, render.Options{Screen: term.NewScreen(shown, o.streams.Env), Verbose: o.Verbose}); err != nil {
			return err
		}
		fmt.Fprintln(shown)
	}
	w := &writing{diagnoseOptions: &o.diagnoseOptions, applying: &o.applying, session: m.session, evidence: o.evidenceArgs(), outs: rest}
	if o.Refresh {
		w.refresh = func(ctx context.Context, groups []string) ([]plan.Group, error) {
			again := *o
			again.Groups, again.PlanOut, again.StateOut = groups, "", ""
			fresh, err := again.make(ctx)
			if fresh != nil {
				defer fresh.session.close()
			}
			if err != nil {
				return nil, err
			}
			return fresh.plan.Groups, nil
		}
	}
	return w.carryOut(ctx, m.plan)
}

// writing is one run that writes.
type writing struct {
	*diagnoseOptions
	*applying
	session  *session
	evidence []string // arguments that find the clusters again, for printed commands
	outs     []output
	refresh  func(context.Context, []string) ([]plan.Group, error)
}

func (w *writing) options() apply.Options {
	idle := w.IdleProof
	if idle == 0 {
		idle = -1
	}
	o := apply.Options{Tool: tool(), IdleProof: idle, Refresh: w.refresh, Progress: w.session.progress, Now: w.now, Sleep: w.sleep}
	o.Commands = func(journal string) (string, string) {
		line := func(args ...string) string {
			return shellLine(append(append([]string{"mm2doctor", "translate"}, args...), w.evidence...))
		}
		return line("apply", "--resume", journal), line("rollback", journal)
	}
	return o
}

// carryOut asks, and applies the plan.
func (w *writing) carryOut(ctx context.Context, p *plan.Plan) error {
	if p.Summary.Set == 0 {
		return w.nothing(ctx, p)
	}
	if err := w.confirm(ctx, w.streams, fmt.Sprintf("This sets committed offsets of %s in %s", finding.Count(p.Summary.Set, "partition"), finding.Count(setGroups(p), "group")), p.To); err != nil {
		return w.unwritten(p, "apply", err)
	}
	t, err := w.session.target(p.To.Alias)
	if err != nil {
		return err
	}
	src, err := w.session.source(p.From)
	if err != nil {
		return err
	}
	j, err := w.journal(p.Flow, "", w.now())
	if err != nil {
		return w.unwritten(p, "apply", err)
	}
	defer j.Close()
	opts := w.options()
	opts.Moved = w.movedByMM2(ctx, p)
	out, err := apply.Run(ctx, p, t, src, j, opts)
	if out != nil {
		for _, f := range missed(p) {
			out.Remarks = append(out.Remarks, f.CodeText+": "+f.Because)
			if out.Result == apply.Done && out.Wrote {
				out.Result, out.Partial = apply.Partial, true
			}
		}
	}
	return w.finish(ctx, p, "apply", out, j.Path(), err)
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

// planned are the flags of the commands that begin with a plan or a journal.
type planned struct {
	diagnoseOptions
	applying
	Resume string
	After  time.Duration
}

func newPlanned(s *term.Streams) *planned {
	return &planned{diagnoseOptions: diagnoseOptions{streams: s, now: time.Now, sleep: sleep}}
}

func (o *planned) command(c *cobra.Command, run func(context.Context, *planned, string) error, missing string) *cobra.Command {
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 && o.Resume == "" {
			return usage("%s", missing)
		}
		if len(o.Groups)+len(o.Topics) > 0 {
			return usage("--group and --topic choose when the plan is made: mm2doctor translate --group NAME --plan-out plan.json")
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Files = args
		if o.Resume != "" && (len(args) == 0 || !isPlan(args[0])) { // the journal holds the plan
			return run(c.Context(), o, "")
		}
		o.Files = args[1:]
		return run(c.Context(), o, args[0])
	}
	o.evidence.flags(c)
	f := c.Flags()
	f.Lookup("flow").Usage += ", and a plan takes one: name it where there are more; here by itself that of the plan"
	for _, name := range []string{"group", "topic"} { // the plan says which
		f.Lookup(name).Hidden = true
	}
	f.StringArrayVarP(&o.Output, "output", "o", nil, "FORMAT or FORMAT=FILE: text, json; repeatable")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "every partition")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "no progress")
	return c
}

func newTranslateApply(s *term.Streams) *cobra.Command {
	o := newPlanned(s)
	c := o.command(&cobra.Command{
		Use:   "apply PLAN [EVIDENCE...]",
		Short: "Carry a plan out: check what it assumes, write, read back, keep a journal",
		Long: `Reads again what the plan assumes; refuses each group for which it no longer holds, and writes the others: one commit per
group, read back and compared. What was there before is in the journal before anything is written. Killed at any moment,
the run is finished by --resume JOURNAL or taken back by translate rollback JOURNAL.

The plan holds no credentials: they come from EVIDENCE (the same mm2.properties), or from --target-config and
--source-config.`,
		Example: `  mm2doctor translate apply plan.json mm2.properties
  mm2doctor translate apply plan.json --target-config admin.properties --yes
  mm2doctor translate apply --resume mm2doctor-a-b-20260131T080000Z.journal mm2.properties`,
	}, runTranslateApply, "name the plan: mm2doctor translate apply plan.json mm2.properties (make it with translate --plan-out plan.json)")
	o.applying.flags(c)
	c.Flags().StringVar(&o.Resume, "resume", "", "go on with the run that keeps this journal")
	return c
}

func newTranslateVerify(s *term.Streams) *cobra.Command {
	o := newPlanned(s)
	c := o.command(&cobra.Command{
		Use:   "verify PLAN [EVIDENCE...]",
		Short: "Compare what groups have committed with a plan or a journal",
		Long: `Tells for each partition whether the value of the plan holds, was taken over by consumers, was moved by MirrorMaker 2, or
differs. --after waits first: a MirrorMaker 2 that runs needs up to an interval to write. Nothing is written.`,
		Example: "  mm2doctor translate verify plan.json mm2.properties --after 2m",
	}, runTranslateVerify, "name the plan or the journal: mm2doctor translate verify plan.json mm2.properties")
	c.Flags().DurationVar(&o.After, "after", 0, "wait this long first")
	return c
}

func newTranslateRollback(s *term.Streams) *cobra.Command {
	o := newPlanned(s)
	c := o.command(&cobra.Command{
		Use:   "rollback JOURNAL [EVIDENCE...]",
		Short: "Put back what was there before, where our value still stands",
		Long: `Takes the writes of a journal back: offsets that were there before are committed again with their epoch and metadata,
those that did not exist are removed. What somebody moved since then is left alone and listed. The rollback keeps a journal
of its own.`,
		Example: "  mm2doctor translate rollback mm2doctor-a-b-20260131T080000Z.journal mm2.properties",
	}, runTranslateRollback, "name the journal: mm2doctor translate rollback mm2doctor-a-b-TIME.journal mm2.properties")
	o.applying.flags(c)
	c.Flags().Lookup("refresh").Hidden = true
	return c
}

// reach opens the connections that a plan needs: by the evidence where there is some, else by the addresses that it holds.
func (o *planned) reach(ctx context.Context, p *plan.Plan) (*session, error) {
	if len(o.Flows) == 0 {
		o.Flows = []string{p.Flow}
	}
	if len(o.Files)+len(o.ConnectURL) > 0 {
		s, err := o.look(ctx)
		if err == nil && p.From.Lost {
			s.giveUp(p.Flow)
		}
		return s, err
	}
	l, err := o.load(o.streams.In)
	if err != nil {
		return nil, err
	}
	s := &session{progress: progressTo(o.streams, o.Quiet)}
	s.request = collect.Request{Now: o.now, Progress: s.progress}
	source, _, _ := strings.Cut(p.Flow, "->")
	for _, c := range []plan.Cluster{p.From, p.To} {
		flag, given, config := "--target", o.Target, o.TargetConfig
		if c.Alias == source {
			flag, given, config = "--source", o.Source, o.SourceConfig
		}
		alias, addrs, err := addresses(flag, given)
		if err != nil {
			return nil, err
		}
		if alias != "" && alias != c.Alias {
			return nil, usage("%s %s: the plan knows this cluster as %s", flag, given[0], c.Alias)
		}
		if len(addrs) == 0 {
			addrs = c.Bootstrap
		}
		if len(addrs) == 0 || c.Lost {
			continue
		}
		cl, err := o.open(s, l, c.Alias, addrs, nil, config)
		if err != nil {
			return nil, err
		}
		s.request.Clusters = append(s.request.Clusters, cl)
	}
	return s, nil
}

// isPlan says whether a file holds a plan, whole or not.
func isPlan(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return bytes.Contains(head[:n], []byte(`"command": "translate"`)) && bytes.Contains(head[:n], []byte(`"schemaVersion"`))
}

func readPlan(name string) (*plan.Plan, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, usage("%v; name a plan that translate --plan-out wrote", err)
	}
	defer f.Close()
	p, err := plan.Read(f)
	if err != nil {
		return nil, usage("%s: %v", name, err)
	}
	return p, nil
}

func (o *planned) writing(s *session, outs []output) *writing {
	return &writing{diagnoseOptions: &o.diagnoseOptions, applying: &o.applying, session: s, evidence: o.evidenceArgs(), outs: outs}
}

func runTranslateApply(ctx context.Context, o *planned, file string) error {
	outs, err := parseOutputs(o.Output, "text", "json")
	if err != nil {
		return err
	}
	if err := o.canAsk(o.streams); err != nil {
		return err
	}
	if err := writable(outs); err != nil {
		return err
	}
	if o.Resume != "" {
		return o.resume(ctx, file, outs)
	}
	p, err := readPlan(file)
	if err != nil {
		return err
	}
	anew, err := o.anew(p)
	if err != nil {
		return err
	}
	s, err := o.reach(ctx, p)
	if err != nil {
		return err
	}
	defer s.close()
	w := o.writing(s, outs)
	w.refresh = anew
	return w.carryOut(ctx, p)
}

// anew plans groups again by the options of a plan; nil without --refresh.
func (o *planned) anew(p *plan.Plan) (func(context.Context, []string) ([]plan.Group, error), error) {
	if !o.Refresh {
		return nil, nil
	}
	t := &translateOptions{diagnoseOptions: o.diagnoseOptions, ReadBudget: defaultBudget}
	t.Flows, t.Reverse, t.Fallback = []string{p.Flow}, p.Direction == "reverse", p.Options.Fallback
	t.AllowRewind, t.AllowSkip, t.AllGroups, t.IncludeStreams = p.Options.AllowRewind, p.Options.AllowSkip, p.Options.AllGroups, p.Options.IncludeStreams
	t.AllOrNothing, t.StampEpoch, t.TagMetadata = p.Options.AllOrNothing, p.Options.StampEpoch, p.Options.TagMetadata
	if p.Options.KeepMs > 0 {
		t.Keep = fmt.Sprintf("%dms", p.Options.KeepMs)
	}
	topics := map[string]bool{}
	for _, g := range p.Groups {
		if g.TargetGroup != g.Group {
			t.GroupMap = append(t.GroupMap, g.Group+"="+g.TargetGroup)
		}
		for _, r := range g.Rows {
			if r.FromBasis == "file" || p.From.Lost {
				return nil, usage("--refresh plans groups anew whose position on the source moved, and the positions of this plan are not the source's; make the plan again")
			}
			if r.TargetTopic != "" && !topics[r.Topic] {
				topics[r.Topic] = true
				t.TopicMap = append(t.TopicMap, r.Topic+"="+r.TargetTopic)
			}
		}
	}
	if len(t.Files)+len(t.ConnectURL) == 0 {
		from, to := p.From, p.To
		if t.Reverse {
			from, to = to, from
		}
		for _, x := range []struct {
			flag *[]string
			c    plan.Cluster
		}{{&t.Source, from}, {&t.Target, to}} {
			if len(*x.flag) == 0 && len(x.c.Bootstrap) > 0 {
				*x.flag = []string{x.c.Alias + "=" + strings.Join(x.c.Bootstrap, ",")}
			}
		}
	}
	return func(ctx context.Context, groups []string) ([]plan.Group, error) {
		again := *t
		again.Groups = groups
		fresh, err := again.make(ctx)
		if fresh != nil {
			defer fresh.session.close()
		}
		if err != nil {
			return nil, err
		}
		return fresh.plan.Groups, nil
	}, nil
}

// resume goes on with the run of a journal; file is its plan, where it was named.
func (o *planned) resume(ctx context.Context, file string, outs []output) error {
	j, l, err := apply.OpenJournal(o.Resume)
	if err != nil {
		return usage("--resume: %v", err)
	}
	defer j.Close()
	p := l.Header.Plan
	if file != "" {
		given, err := readPlan(file)
		if err != nil {
			return err
		}
		if !l.Of(given) {
			return usage("--resume %s: that journal belongs to another plan than %s", o.Resume, file)
		}
	}
	s, err := o.reach(ctx, p)
	if err != nil {
		return err
	}
	defer s.close()
	w := o.writing(s, outs)
	if err := w.confirm(ctx, o.streams, "This goes on writing committed offsets", p.To); err != nil {
		return w.unwritten(p, "resume", err)
	}
	t, err := s.target(p.To.Alias)
	if err != nil {
		return err
	}
	src, err := s.source(p.From)
	if err != nil {
		return err
	}
	opts := w.options()
	opts.Moved = w.movedByMM2(ctx, p)
	out, err := apply.Resume(ctx, l, t, src, j, opts)
	return w.finish(ctx, p, "resume", out, j.Path(), err)
}

func runTranslateRollback(ctx context.Context, o *planned, file string) error {
	outs, err := parseOutputs(o.Output, "text", "json")
	if err != nil {
		return err
	}
	if err := o.canAsk(o.streams); err != nil {
		return err
	}
	if err := writable(outs); err != nil {
		return err
	}
	old, l, err := apply.OpenJournal(file)
	if err != nil {
		return usage("%v", err)
	}
	defer old.Close()
	p := l.Header.Plan
	s, err := o.reach(ctx, p)
	if err != nil {
		return err
	}
	defer s.close()
	w := o.writing(s, outs)
	if err := w.confirm(ctx, o.streams, "This puts back what stood there before", p.To); err != nil {
		return w.unwritten(p, "rollback", err)
	}
	t, err := s.target(p.To.Alias)
	if err != nil {
		return err
	}
	j, err := w.journal(p.Flow, "rollback-", o.now())
	if err != nil {
		return w.unwritten(p, "rollback", err)
	}
	defer j.Close()
	out, err := apply.Rollback(ctx, l, t, j, w.options())
	return w.finish(ctx, p, "rollback", out, j.Path(), err)
}

// planOrJournal reads what verify compares with.
func planOrJournal(name string) (*plan.Plan, error) {
	p, perr := readPlan(name)
	if perr == nil {
		return p, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, perr
	}
	defer f.Close()
	l, err := apply.ReadLog(f)
	if err != nil {
		return nil, perr
	}
	return l.Header.Plan, nil
}

func runTranslateVerify(ctx context.Context, o *planned, file string) error {
	outs, err := parseOutputs(o.Output, "text", "json")
	if err != nil {
		return err
	}
	if o.After < 0 {
		return usage("--after %s: must not be negative", o.After)
	}
	p, err := planOrJournal(file)
	if err != nil {
		return err
	}
	s, err := o.reach(ctx, p)
	if err != nil {
		return err
	}
	defer s.close()
	cfg, ok := s.configs[p.To.Alias]
	if !ok && !s.live() {
		return usage("the evidence is a captured snapshot, and verify asks the cluster; give the configuration that the plan was made with, or leave the evidence out: the plan holds the addresses")
	}
	if !ok {
		return usage("the evidence has no cluster %s, which the plan is about; give the configuration that the plan was made with, or --target %s=HOST:PORT", p.To.Alias, p.To.Alias)
	}
	if o.After > 0 {
		s.progress(fmt.Sprintf("waiting %s", o.After))
		if err := o.sleep(ctx, o.After); err != nil {
			return err
		}
	}
	c, err := wire.Open(cfg)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	s.clients = append(s.clients, c)
	w := o.writing(s, outs)
	opts := w.options()
	opts.Moved = w.movedByMM2(ctx, p)
	v, err := apply.Verify(ctx, p, apply.NewTarget(c), opts)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		if wantsObject(outs) {
			t := toldBy(err)
			v = &apply.Verification{SchemaVersion: apply.SchemaVersion, Tool: tool(), Command: "verify", Flow: p.Flow, Cluster: p.To, Plan: p.Digest, Read: o.now().UTC().Format(time.RFC3339Nano), Refusal: &apply.Refusal{Code: t.code, Because: t.because, Next: t.next}, Groups: []apply.GroupVerified{}}
			if werr := writeOutputs(objectOnly(outs), o.streams, func(to io.Writer, _ term.Screen, _ string) error { return render.VerificationJSON(to, v) }); werr != nil {
				return werr
			}
		}
		return &exitError{exitIncomplete, err}
	}
	if err := writeOutputs(outs, o.streams, func(to io.Writer, screen term.Screen, format string) error {
		if format == "json" {
			return render.VerificationJSON(to, v)
		}
		return render.VerificationText(to, v, render.Options{Screen: screen, Verbose: o.Verbose})
	}); err != nil {
		return err
	}
	if v.Refusal != nil {
		return &exitError{code: exitRefused}
	}
	if v.Summary.NotRead > 0 {
		return &exitError{code: exitIncomplete}
	}
	if !v.Summary.Good() {
		return &exitError{code: exitFinding}
	}
	var refused []string
	for _, g := range p.Groups {
		if g.Action == plan.Refused {
			refused = append(refused, g.TargetGroup)
		}
	}
	if len(refused) > 0 { // what holds is not all that was asked for
		fmt.Fprintf(o.streams.Err, "refused when the plan was made, and not set: %s\n", strings.Join(refused, ", "))
		return &exitError{code: exitFinding}
	}
	return nil
}
