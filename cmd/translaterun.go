package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
	"github.com/mm2doctor/mm2doctor/translate/read"
	"github.com/mm2doctor/mm2doctor/translate/render"
)

// planFormats are the values of -o: text for a person, json the plan itself, csv and rpk files for other tools.
var planFormats = []string{"text", "json", "csv", "rpk"}

// made is a plan and everything it came from.
type made struct {
	session *session
	flow    string
	snap    *snapshot.Snapshot
	report  *diagnose.Report
	plan    *plan.Plan
	stats   read.Stats
	older   *snapshot.Snapshot // a captured snapshot that stands for a lost source
}

// make reads both clusters and makes the plan. The result is not nil where there is a session to close.
func (o *translateOptions) make(ctx context.Context) (*made, error) {
	limit, err := budget(o.ReadBudget)
	if err != nil {
		return nil, err
	}
	older, err := o.olderLook()
	if err != nil {
		return nil, err
	}
	s, err := o.lookFor(ctx, older)
	if err != nil {
		return nil, err
	}
	m := &made{session: s, older: older}
	if m.flow, err = o.oneFlow(s); err != nil {
		return m, err
	}
	sel, err := o.selectionOf(m.flow)
	if err != nil {
		return m, err
	}
	s.alsoGroups(sel.GroupMap)
	if o.SourceLost {
		sel.Bundle = older
		source, _, _ := strings.Cut(m.flow, "->")
		s.giveUp(source)
	}
	if o.Reverse {
		s.withOpposite(m.flow)
	}
	s.request.Ranges, s.request.ByName = true, true
	if m.snap, err = s.read(ctx); err != nil {
		return m, err
	}
	if err := o.bothAnswer(m); err != nil {
		return m, err
	}
	m.report, _ = diagnose.Run(m.snap, diagnose.Options{Command: "translate", Tool: tool(), Only: plan.Checks})
	wants, err := plan.Wanted(m.snap, m.report, sel)
	var unread plan.Unread
	switch {
	case errors.As(err, &unread):
		return m, &exitError{exitIncomplete, err}
	case err != nil && strings.HasPrefix(err.Error(), "line "):
		return m, usage("--from-file %s: %v", o.FromFile, err)
	case err != nil:
		return m, &exitError{exitUsage, err}
	}
	answers, err := o.answers(ctx, m, wants.Positions(), limit)
	if err != nil {
		return m, err
	}
	m.plan = plan.Build(wants, answers, tool())
	m.plan.Seal()
	return m, nil
}

func tool() diagnose.Tool { return diagnose.Tool{Name: "mm2doctor", Version: version} }

// olderLook takes a captured snapshot out of the evidence of a run without the source: there it only adds to what is live.
func (o *translateOptions) olderLook() (*snapshot.Snapshot, error) {
	if !o.SourceLost {
		return nil, nil
	}
	var found *snapshot.Snapshot
	for i := 0; i < len(o.Files); i++ {
		s, is, err := snapshotFile(o.Files[i])
		if err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		if found != nil {
			return nil, usage("%s: only one captured snapshot can stand for the source; name the newest", o.Files[i])
		}
		found, o.older = s, o.Files[i]
		o.Files = slices.Delete(slices.Clone(o.Files), i, i+1)
		i--
	}
	return found, nil
}

// snapshotFile reads a file that is a captured snapshot; is is false for any other.
func snapshotFile(name string) (s *snapshot.Snapshot, is bool, err error) {
	if name == "-" {
		return nil, false, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, nil // told when the evidence is loaded
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	if !bundle.Is(head[:n]) {
		return nil, false, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, false, usage("%s: %v", name, err)
	}
	s, err = bundle.Read(name, f)
	if err != nil {
		return nil, false, &exitError{exitUsage, err}
	}
	return s, true, nil
}

// lookFor turns the evidence into a session. A snapshot alone stands for both clusters when the source is lost and the target is
// not named.
func (o *translateOptions) lookFor(ctx context.Context, older *snapshot.Snapshot) (*session, error) {
	switch {
	case older != nil && len(o.Files)+len(o.Target)+len(o.ConnectURL) == 0:
		return &session{bundle: older, progress: progressTo(o.streams, o.Quiet)}, nil
	case o.SourceLost && len(o.Files)+len(o.ConnectURL)+len(o.Source) == 0:
		return o.lookWithoutSource(ctx)
	}
	return o.look(ctx)
}

// lookWithoutSource knows the target's address and the flow's name only; topics have the names that the default policy gives.
func (o *translateOptions) lookWithoutSource(ctx context.Context) (*session, error) {
	if len(o.Target) == 0 || len(o.Flows) != 1 {
		return nil, usage("--source-lost without a configuration: give --target HOST:PORT and --flow SOURCE:TARGET")
	}
	name, err := flowName(o.Flows[0])
	if err != nil {
		return nil, err
	}
	_, addrs, err := addresses("--target", o.Target)
	if err != nil {
		return nil, err
	}
	a, b, _ := strings.Cut(name, "->")
	version, err := claimedVersion(o.MM2Version)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("clusters = %s, %s\n%s.bootstrap.servers = lost:9092\n%s.bootstrap.servers = %s\n%s.enabled = true\n", a, b, a, b, strings.Join(addrs, ","), name)
	setup, err := conf.Parse("--flow "+o.Flows[0], []byte(text), version)
	if err != nil {
		return nil, usage("--flow %s: %v", o.Flows[0], err)
	}
	l := &loaded{setup: setup, file: "--flow " + o.Flows[0], flows: []string{name}, resolve: map[string]string{}, claimed: strings.TrimSpace(o.MM2Version), version: version}
	s := &session{progress: progressTo(o.streams, o.Quiet)}
	return s, o.prepare(ctx, s, l)
}

// oneFlow names the flow that is translated: a plan is about one.
func (o *translateOptions) oneFlow(s *session) (string, error) {
	var names []string
	for _, f := range s.flows() {
		names = append(names, f.Name())
	}
	slices.Sort(names)
	if p := s.problem(); len(names) == 0 {
		switch {
		case p != nil && strings.Contains(p.Because, p.Fix):
			return "", usage("%s", p.Because)
		case p != nil:
			return "", usage("%s; %s", p.Because, lower(p.Fix))
		}
		return "", usage("no flow of MirrorMaker 2 was found between these clusters; mm2doctor diagnose says why")
	}
	if len(names) == 1 {
		return names[0], nil
	}
	if len(o.Flows) == 1 { // both directions were found, and one is named
		if name, err := flowName(o.Flows[0]); err == nil && slices.Contains(names, name) {
			return name, nil
		}
	}
	var flags []string
	for _, n := range names {
		flags = append(flags, "--flow "+flowFlag(n))
	}
	return "", usage("a plan is about one flow, and there are %d; choose one: %s", len(names), strings.Join(flags, ", "))
}

// lower lets a sentence go on another one; a name at its head stays.
func lower(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// flows are those that the session is about, before or after reading.
func (s *session) flows() []snapshot.Flow {
	if s.bundle != nil {
		return s.bundle.Flows
	}
	return s.request.Flows
}

// problem is what kept a flow from being found; nil without.
func (s *session) problem() *snapshot.Problem {
	ps := s.request.Unresolved
	if s.bundle != nil {
		ps = s.bundle.Unresolved
	}
	if len(ps) == 0 {
		return nil
	}
	return &ps[0]
}

// alsoGroups reads the groups that positions are carried to under another id, whatever --group leaves out.
func (s *session) alsoGroups(renamed map[string]string) {
	if len(renamed) == 0 {
		return
	}
	ids := slices.Sorted(maps.Values(renamed))
	s.request.Literal = append(s.request.Literal, ids...)
	if want := s.request.Want; want != nil {
		s.request.Want = func(id string) bool { return want(id) || slices.Contains(ids, id) }
	}
}

// giveUp makes sure that nothing dials a cluster.
func (s *session) giveUp(alias string) {
	for i := range s.request.Clusters {
		c := &s.request.Clusters[i]
		if c.Alias == alias {
			c.Client = nil
			c.Failed = &snapshot.Contact{What: "cluster " + alias, Why: "given up by --source-lost: nothing dials it", Next: "leave out --source-lost when the cluster answers again"}
		}
	}
}

// withOpposite adds the flow back, which carries the topics that belong to the flow's target.
func (s *session) withOpposite(flow string) {
	a, b, _ := strings.Cut(flow, "->")
	for _, f := range s.request.Others {
		if f.Source == b && f.Target == a && !slices.ContainsFunc(s.request.Flows, func(x snapshot.Flow) bool { return x.Name() == f.Name() }) {
			s.request.Flows = append(s.request.Flows, f)
		}
	}
}

// bothAnswer ends the run where a cluster that was not given up could not be read at all.
func (o *translateOptions) bothAnswer(m *made) error {
	for _, c := range m.snap.Clusters {
		if c.Contact == nil || m.session.bundle != nil {
			continue
		}
		source, _, _ := strings.Cut(m.flow, "->")
		if c.Alias == source && o.SourceLost {
			continue
		}
		next := c.Contact.Next
		if c.Alias == source && !o.Reverse {
			next = cmp.Or(next, "repair the connection") + "; if the cluster is gone for good, translate from what is left with --source-lost"
		}
		return &exitError{exitIncomplete, &told{finding.Code(c.Contact.Code), c.Contact.What + ": " + c.Contact.Why, next}}
	}
	return nil
}

// answers finds the positions: by records and offset syncs of live clusters, or by what a snapshot holds.
func (o *translateOptions) answers(ctx context.Context, m *made, ps []plan.Position, limit read.Budget) ([]plan.Answer, error) {
	if !m.session.live() {
		return plan.AnswersFrom(m.snap, ps), nil
	}
	var clusters []read.Cluster
	for _, c := range m.session.request.Clusters {
		clusters = append(clusters, read.Cluster{Alias: c.Alias, Client: c.Client})
	}
	opts := read.Options{Records: !o.NoRecords, Budget: limit, Progress: m.session.progress}
	if m.older != nil {
		opts.Older = func(p plan.Position) (ranges.Locator, int, int64) {
			l, n, _ := plan.OlderSyncs(m.older, m.snap, p)
			return l, n, m.older.Taken
		}
	}
	answers, stats, err := read.Locate(ctx, clusters, ps, opts)
	m.stats = stats
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &exitError{exitIncomplete, err}
	}
	source, _, _ := strings.Cut(m.flow, "->")
	if n := len(ps); n > 0 && !slices.ContainsFunc(answers, func(a plan.Answer) bool { return a.Unread == "" }) {
		next := "run again when it is back"
		if ps[0].From.Cluster == source {
			next += "; if the cluster is gone for good, translate from what is left with --source-lost"
		}
		return nil, &exitError{exitIncomplete, fmt.Errorf("cluster %s stopped answering while it was read: %s; %s", ps[0].From.Cluster, answers[0].Unread, next)}
	}
	if m.older != nil {
		plan.RangesFrom(m.older, m.snap, ps, answers)
	}
	return answers, nil
}

// show prints the plan in every format that was asked for.
func (o *translateOptions) show(m *made, outs []output) error {
	return writeOutputs(outs, o.streams, func(w io.Writer, screen term.Screen, format string) error {
		switch format {
		case "json":
			return render.JSON(w, m.plan)
		case "csv":
			return render.CSV(w, m.plan)
		case "rpk":
			return o.rpk(w, m.plan)
		}
		if o.Quiet {
			_, err := fmt.Fprintln(w, render.Sum(m.plan))
			return err
		}
		return render.Text(w, m.plan, render.Options{Screen: screen, Verbose: o.Verbose, Apply: o.applyCommand(m.plan, m.session.live()), Keep: o.keepsFirst(m.plan, m.session.live())})
	})
}

// rpk writes the offsets of the only group that has any: rpk group seek takes one group at a time.
func (o *translateOptions) rpk(w io.Writer, p *plan.Plan) error {
	var ids []string
	for _, g := range p.Groups {
		if g.Action == plan.Set || g.Action == plan.Right {
			ids = append(ids, g.TargetGroup)
		}
	}
	if len(ids) != 1 {
		return fmt.Errorf("rpk group seek takes one group, and the plan has %d; choose one with --group", len(ids))
	}
	return render.Rpk(w, p, ids[0])
}

// keepFiles writes the plan file and the state file.
func (o *translateOptions) keepFiles(m *made) error {
	if o.PlanOut != "" {
		if err := wholeFile(o.PlanOut, m.plan.Write); err != nil {
			return usage("--plan-out: %v", err)
		}
		if !o.Quiet {
			fmt.Fprintf(o.streams.Err, "wrote %s, to be applied within 60 minutes\n", o.PlanOut)
		}
	}
	if o.StateOut != "" {
		if err := wholeFile(o.StateOut, plan.StateOf(m.plan).Write); err != nil {
			return usage("--state-out: %v", err)
		}
		if !o.Quiet {
			fmt.Fprintf(o.streams.Err, "wrote %s; keep it where it outlives %s: translate --source-lost --state reads it\n", o.StateOut, m.plan.From.Alias)
		}
	}
	return nil
}

// wholeFile writes a file as a whole or not at all: readable by its owner, as it names groups and topics.
func wholeFile(name string, write func(io.Writer) error) error {
	if fi, err := os.Stat(name); err == nil && !fi.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	var at *os.PathError
	if errors.As(err, &at) {
		return &os.PathError{Op: "creating", Path: name, Err: at.Err}
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
