package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/render"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// diagnoseOptions are the flags of diagnose.
type diagnoseOptions struct {
	evidence
	Output     []string
	FailOn     string
	Observe    time.Duration
	Tree       bool
	Verbose    bool
	Quiet      bool
	Partitions string
	Offline    bool
	MaxReread  int64
	Settings   string

	streams *term.Streams
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error

	confirmAfter time.Duration // 0: the default
}

func newDiagnose(s *term.Streams, run func(context.Context, *diagnoseOptions) error) *cobra.Command {
	o := &diagnoseOptions{streams: s, now: time.Now, sleep: sleep}
	if run == nil {
		run = runDiagnose
	}
	c := &cobra.Command{
		Use:   "diagnose [EVIDENCE...]",
		Short: "Name the first broken link of the offset chain, prove it and print the repair",
		Long: `Reads both clusters (nothing is ever written) and follows every group, topic and partition through the chain:

  source topic -> target topic             link 0  replication
       \-> offset-syncs                    link 1  MirrorSourceConnector
  source group + offset-syncs -> checkpoints   link 2  MirrorCheckpointConnector
  checkpoints -> __consumer_offsets        link 3  group-offset sync, on the target
  committed offset -> first record read    link 4  accuracy

EVIDENCE is an mm2.properties of dedicated mode, a KafkaMirrorMaker2 resource of Strimzi (YAML, or as kubectl prints
it), connector JSON (files, or answers of Connect's REST interface; beside it the properties file of the Connect worker
that runs them), or a captured snapshot, and any number of log files of MirrorMaker 2 (also gzipped, JSON, or from
kubectl logs); --connect-url asks a Connect worker. Credentials that a resource keeps in Kubernetes secrets are given by
--source-config and --target-config. With only --source and --target, flows, aliases and topics are found from the
clusters themselves.`,
		Example: `  mm2doctor diagnose mm2.properties
  mm2doctor diagnose mm2.properties --flow a:b --group billing --tree
  kubectl get kafkamirrormaker2 to-b -o yaml | mm2doctor diagnose - --source-config a.properties --target-config b.properties
  mm2doctor diagnose --source kafka-a:9092 --target kafka-b:9092 -o json`,
		RunE: func(c *cobra.Command, args []string) error {
			o.Files = args
			return run(c.Context(), o)
		},
	}
	o.evidence.flags(c)
	f := c.Flags()
	f.StringArrayVarP(&o.Output, "output", "o", nil, "FORMAT or FORMAT=FILE: "+strings.Join(reportFormats, ", ")+"; repeatable")
	f.StringVar(&o.FailOn, "fail-on", "error", "exit 1 at this severity or above: error, warning, info, never")
	f.DurationVar(&o.Observe, "observe", 0, "take two looks this far apart, to judge what moves")
	f.Int64Var(&o.MaxReread, "max-reread", 0, "warn of an offset from which more than this many records are read again; 0: the group's lag + offset.lag.max + 1, as a remark")
	f.BoolVar(&o.Tree, "tree", false, "print the decision tree with the path taken")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "every subject, every confirming command, every row")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "the verdict line only, no progress")
	f.StringVar(&o.Partitions, "partitions", "", "rows in the output: all, problems, none (default: all in json, problems in text)")
	f.BoolVar(&o.Offline, "offline", false, "connect nowhere")
	f.StringVar(&o.Settings, "settings", "", "findings that are accepted, and severities (default: "+settingsFile+" where there is one)")
	return c
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func runDiagnose(ctx context.Context, o *diagnoseOptions) error {
	r, outs, failOn, err := o.diagnose(ctx)
	if err != nil {
		return err
	}
	code := exitCode(r, failOn)
	if err := o.print(r, outs, code); err != nil {
		return err
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// diagnose checks the flags and gives the report.
func (o *diagnoseOptions) diagnose(ctx context.Context) (*diagnose.Report, []output, finding.Severity, error) {
	failOn, err := parseSeverity(o.FailOn)
	if err != nil {
		return nil, nil, 0, err
	}
	outs, err := parseOutputs(o.Output, reportFormats...)
	if err != nil {
		return nil, nil, 0, err
	}
	if o.Partitions != "" && !slices.Contains([]string{"all", "problems", "none"}, o.Partitions) {
		return nil, nil, 0, usage("--partitions %s: one of all, problems, none", o.Partitions)
	}
	if err := o.checkObserve(); err != nil {
		return nil, nil, 0, err
	}
	if o.MaxReread < 0 {
		return nil, nil, 0, usage("--max-reread %d: must not be negative", o.MaxReread)
	}
	s, err := o.look(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	defer s.close()
	r, err := o.judge(ctx, s)
	return r, outs, failOn, err
}

func (o *diagnoseOptions) checkObserve() error {
	if o.Observe < 0 {
		return usage("--observe %s: must not be negative", o.Observe)
	}
	return nil
}

// rounds is how many looks a run takes at most when errors have to be confirmed.
const rounds = 3

// confirmAfter lets a moving flow move between two looks.
const confirmAfter = 1500 * time.Millisecond

// judge runs the doctor; live, an error is believed when a second look shows it too.
func (o *diagnoseOptions) judge(ctx context.Context, s *session) (*diagnose.Report, error) {
	opts := diagnose.Options{Command: "diagnose", Tool: diagnose.Tool{Name: "mm2doctor", Version: version}}
	if err := o.acceptance(&opts); err != nil {
		return nil, err
	}
	snap, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	first := snap
	if o.Observe > 0 && s.live() {
		s.progress(fmt.Sprintf("waiting %s for the second look", o.Observe))
		if err := o.sleep(ctx, o.Observe); err != nil {
			return nil, err
		}
		if snap, err = s.again(ctx, snap); err != nil {
			return nil, err
		}
	}
	r, asks := diagnose.Run(snap, opts)
	if wantsFirst := func(a diagnose.Ask) bool { return a.First }; o.Observe > 0 && s.live() && slices.ContainsFunc(asks, wantsFirst) {
		s.progress("looking once more at copies that rested")
		if err := o.sleep(ctx, o.until(asks)); err != nil {
			return nil, err
		}
		if snap, err = s.again(ctx, first); err != nil {
			return nil, err
		}
		r, asks = diagnose.Run(snap, opts)
	}
	for round := 1; round < rounds && len(asks) > 0 && s.live() && (o.Observe == 0 || round > 1); round++ {
		s.progress("looking a second time before an error is believed")
		if err := o.sleep(ctx, o.until(asks)); err != nil {
			return nil, err
		}
		if snap, err = s.again(ctx, snap); err != nil {
			return nil, err
		}
		before := errorsOf(r)
		r, asks = diagnose.Run(snap, opts)
		if subset(errorsOf(r), before) {
			break
		}
	}
	return r, nil
}

// until is how long after one look the next begins.
func (o *diagnoseOptions) until(asks []diagnose.Ask) time.Duration {
	if o.confirmAfter > 0 {
		return o.confirmAfter
	}
	d := confirmAfter
	for _, a := range asks {
		d = max(d, time.Duration(a.AfterMs)*time.Millisecond)
	}
	return d
}

// errorsOf names the errors of a report with their subjects.
func errorsOf(r *diagnose.Report) map[string]bool {
	out := map[string]bool{}
	for _, f := range r.Findings {
		if f.Severity == finding.Error {
			out[f.ID+" "+f.Flow] = true
			for _, s := range f.Subjects {
				out[fmt.Sprint(f.ID, " ", f.Flow, " ", s.Group, " ", s.Topic)] = true
			}
		}
	}
	return out
}

func subset(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

// exitCode is the one rule from report to exit code.
func exitCode(r *diagnose.Report, failOn finding.Severity) int {
	switch {
	case failOn > 0 && r.Worst() >= failOn:
		return exitFinding
	case r.Incomplete():
		return exitIncomplete
	}
	return exitOK
}

func parseSeverity(s string) (finding.Severity, error) {
	switch s {
	case "error":
		return finding.Error, nil
	case "warning":
		return finding.Warning, nil
	case "info":
		return finding.Info, nil
	case "never":
		return 0, nil
	}
	return 0, usage("--fail-on %s: one of error, warning, info, never", s)
}

// reportFormats are the values of -o: text for a person, json with all that is known, the others with the findings.
var reportFormats = append([]string{"text", "json"}, render.Formats()...)

// output is one -o value.
type output struct{ format, file string }

func parseOutputs(in []string, known ...string) ([]output, error) {
	if len(in) == 0 {
		in = []string{known[0]}
	}
	var out []output
	stdout := 0
	for _, v := range in {
		format, file, _ := strings.Cut(v, "=")
		if !slices.Contains(known, format) {
			return nil, usage("-o %s: one of %s", v, strings.Join(known, ", "))
		}
		if file == "" {
			stdout++
		} else if slices.ContainsFunc(out, func(o output) bool { return o.file == file }) {
			return nil, usage("-o %s: %s is named twice; each format needs a file of its own", v, file)
		}
		out = append(out, output{format, file})
	}
	// Files first: a file that cannot be written is exit 2, and then nothing may stand on standard output.
	slices.SortStableFunc(out, func(a, b output) int { return cmp.Compare(b.file, a.file) })
	if stdout > 1 {
		return nil, usage("-o: only one format can go to standard output; give the others a file, such as -o json=report.json")
	}
	return out, nil
}

func (o *diagnoseOptions) print(r *diagnose.Report, outs []output, code int) error {
	return writeOutputs(outs, o.streams, func(w io.Writer, screen term.Screen, format string) error {
		return o.printOne(w, screen, r, format, code)
	})
}

// writeOutputs writes each format to its file, or to standard output.
func writeOutputs(outs []output, streams *term.Streams, write func(io.Writer, term.Screen, string) error) error {
	for _, out := range outs {
		w, screen := io.Writer(streams.Out), streams.OutScreen()
		var file *os.File
		if out.file != "" {
			var err error
			if file, err = os.Create(out.file); err != nil {
				return usage("-o %s=%s: %v", out.format, out.file, err)
			}
			w, screen = file, term.NewScreen(file, streams.Env)
		}
		err := write(w, screen, out.format)
		if file != nil {
			if cerr := file.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return &exitError{exitUsage, fmt.Errorf("writing the report: %w; write elsewhere with -o %s=FILE", err, out.format)}
		}
	}
	return nil
}

func (o *diagnoseOptions) printOne(w io.Writer, screen term.Screen, r *diagnose.Report, format string, code int) error {
	view := *r
	if o.Partitions == "none" || o.Partitions == "problems" {
		view.Partitions = problems(r.Partitions, o.Partitions)
	}
	if format == "json" {
		return render.JSON(w, &view)
	}
	if slices.Contains(render.Formats(), format) {
		failOn, err := parseSeverity(o.FailOn)
		if err != nil {
			return err
		}
		return render.Write(w, format, render.OfReport(r, failOn, code), render.Options{Screen: screen})
	}
	opts := render.Options{Screen: screen, Verbose: o.Verbose || o.Partitions == "all", Exit: code}
	switch {
	case o.Quiet:
		return render.Summary(w, &view, opts)
	case o.Tree:
		if err := render.Tree(w, &view, opts); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return render.Text(w, &view, opts)
}

func problems(rows []diagnose.Row, which string) []diagnose.Row {
	out := []diagnose.Row{}
	for _, r := range rows {
		if which == "problems" && (r.Disposition == diagnose.Faulty || r.Disposition == diagnose.Unsure) {
			out = append(out, r)
		}
	}
	return out
}
