package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/apply"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// planned are the flags of the commands that begin with a plan or a journal.
type planned struct {
	diagnoseOptions
	applying
	Resume     string
	After      time.Duration
	SourceLost bool
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
	c.Flags().BoolVar(&o.SourceLost, "source-lost", false, "the cluster where the positions come from is gone: take them as the plan has them")
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

// lost says that the cluster where a plan's positions come from is given up, by the plan or now.
func (o *planned) lost(p *plan.Plan) bool { return p.From.Lost || o.SourceLost }

// reach opens the connections that a plan needs: by the evidence where there is some, else by the addresses that it holds.
func (o *planned) reach(ctx context.Context, p *plan.Plan) (*session, error) {
	if len(o.Flows) == 0 {
		o.Flows = []string{p.Flow}
	}
	if len(o.Files)+len(o.ConnectURL) > 0 {
		s, err := o.look(ctx)
		if err == nil && o.lost(p) {
			s.giveUp(p.From.Alias)
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
		if len(addrs) == 0 || c.Alias == p.From.Alias && o.lost(p) {
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

// mayWrite checks, before anything is read, that the outcome can be told and the question be asked.
func (o *planned) mayWrite() ([]output, error) {
	outs, err := parseOutputs(o.Output, "text", "json")
	if err == nil {
		err = o.canAsk(o.streams)
	}
	if err == nil {
		err = writable(outs)
	}
	return outs, err
}

func (o *planned) writing(s *session, outs []output) *writing {
	return &writing{diagnoseOptions: &o.diagnoseOptions, applying: &o.applying, session: s, evidence: o.evidenceArgs(), outs: outs, sourceLost: o.SourceLost}
}

func runTranslateApply(ctx context.Context, o *planned, file string) error {
	outs, err := o.mayWrite()
	if err != nil {
		return err
	}
	if o.Resume != "" {
		return o.resume(ctx, file, outs)
	}
	p, err := readPlan(file)
	if err != nil {
		return err
	}
	refresh, err := o.refreshing(p)
	if err != nil {
		return err
	}
	s, err := o.reach(ctx, p)
	if err != nil {
		return err
	}
	defer s.close()
	w := o.writing(s, outs)
	w.refresh = refresh
	return w.carryOut(ctx, p)
}

// refreshing plans groups again by the options of a plan; nil without --refresh.
func (o *planned) refreshing(p *plan.Plan) (func(context.Context, []string) ([]plan.Group, error), error) {
	if !o.Refresh {
		return nil, nil
	}
	if o.SourceLost {
		return nil, usage("--refresh plans groups anew whose position on the source moved; with --source-lost there is none to follow")
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
	return t.anew, nil
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
	t, err := w.permitted(ctx, p, "resume", "This goes on writing committed offsets")
	if err != nil {
		return err
	}
	src, err := w.source(p.From)
	if err != nil {
		return err
	}
	opts := w.options()
	opts.Moved = w.movedByMM2(ctx, p)
	out, err := apply.Resume(ctx, l, t, src, j, opts)
	return w.finish(ctx, p, "resume", out, j.Path(), err)
}

func runTranslateRollback(ctx context.Context, o *planned, file string) error {
	outs, err := o.mayWrite()
	if err != nil {
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
	t, err := w.permitted(ctx, p, "rollback", "This puts back what stood there before")
	if err != nil {
		return err
	}
	j, err := w.journal(p, "rollback-", o.now())
	if err != nil {
		return w.unwritten(p, "rollback", err)
	}
	defer j.Close()
	out, err := apply.Rollback(ctx, l, t, j, w.options())
	return w.finish(ctx, p, "rollback", out, j.Path(), err)
}
