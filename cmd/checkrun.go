package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/fix"
	"github.com/mm2doctor/mm2doctor/diagnose/render"
	"github.com/mm2doctor/mm2doctor/diagnose/suppress"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// checkRun is what stands around the rules of a check of files: suppressions, severities, repairs, formats and exit code. A command
// adds its flags, gives it the files and the rules, and calls run.
type checkRun struct {
	Output   []string
	FailOn   string
	Least    string
	Settings string
	Fix      bool
	Diff     bool
	Verbose  bool
	Quiet    bool

	command string
	streams *term.Streams
	now     func() time.Time
}

// settingsFile is looked for in the working directory.
const settingsFile = ".mm2doctor.yaml"

func newCheckRun(command string, s *term.Streams) *checkRun {
	return &checkRun{command: command, streams: s, now: time.Now}
}

func (o *checkRun) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVarP(&o.Output, "output", "o", nil, "FORMAT or FORMAT=FILE: "+strings.Join(reportFormats, ", ")+"; repeatable")
	f.StringVar(&o.FailOn, "fail-on", "error", "exit 1 at this severity or above: error, warning, info, never")
	f.StringVar(&o.Least, "min-severity", "", "leave out findings below: error, warning, info; the last line counts them, and --fail-on does not see them")
	f.StringVar(&o.Settings, "settings", "", "suppressions and severities (default: "+settingsFile+" where there is one)")
	f.BoolVar(&o.Fix, "fix", false, "make the repairs that are safe in the files, then report what is left")
	f.BoolVar(&o.Diff, "diff", false, "print the repairs of --fix as a unified diff instead of a report, for patch -p1 or git apply --unidiff-zero; changes nothing")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "consequences, every repair, and how to confirm")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "the last line only")
}

// run judges the texts by look, and by look alone: the texts are what was read of the files of those names ("-" is standard input).
// An interrupt ends it before anything is written.
func (o *checkRun) run(ctx context.Context, texts []fix.Text, look func([]fix.Text) []finding.Finding) error {
	failOn, err := parseSeverity(o.FailOn)
	if err != nil {
		return err
	}
	outs, err := o.outputs()
	if err != nil {
		return err
	}
	if err := apart(outs, texts); err != nil {
		return err
	}
	s, err := o.suppression(texts)
	if err != nil {
		return err
	}
	var last suppress.Result
	judge := func(texts []fix.Text) []finding.Finding {
		sources := slices.Clone(s.Sources) // of this look alone: one that was given up may still go on
		for i, t := range texts {
			sources[i].Text = t.Bytes
		}
		var r suppress.Result
		if await(ctx, func() {
			s := s
			s.Sources = sources
			r = suppress.Apply(look(texts), s)
		}) != nil {
			return nil
		}
		last = r
		return last.Findings
	}
	if o.Fix || o.Diff {
		if texts, err = o.repair(ctx, texts, judge); err != nil {
			return err
		}
	} else {
		judge(texts)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &render.Result{Tool: diagnose.Tool{Name: "mm2doctor", Version: version}, Command: o.command, Findings: last.Findings, Silenced: len(last.Silenced), Below: last.Below, FailOn: failOn, Exit: exitOK}
	root := checkoutRoot(o.streams.Env)
	for _, t := range texts {
		r.Files = append(r.Files, render.File{Name: t.Name, Path: relative(root, t.Name), Text: t.Bytes})
	}
	if s.Settings != nil {
		r.Others = []render.File{{Name: s.Settings.File, Path: relative(root, s.Settings.File)}}
	}
	if slices.ContainsFunc(last.Findings, func(f finding.Finding) bool { return failOn > 0 && f.Severity >= failOn }) {
		r.Exit = exitFinding
	}
	if err := writeOutputs(outs, o.streams, func(w io.Writer, screen term.Screen, format string) error {
		return o.print(w, screen, format, r)
	}); err != nil {
		return err
	}
	if r.Exit != exitOK {
		return &exitError{code: r.Exit}
	}
	return nil
}

// apart refuses a report that would take the place of a file that was checked.
func apart(outs []output, texts []fix.Text) error {
	for _, out := range outs {
		info, err := os.Stat(out.file)
		if out.file == "" || err != nil {
			continue
		}
		for _, t := range texts {
			if input, err := os.Stat(t.Name); err == nil && os.SameFile(info, input) {
				return usage("-o %s=%s: that file is checked, and the report would take its place; name another one", out.format, out.file)
			}
		}
	}
	return nil
}

func (o *checkRun) outputs() ([]output, error) {
	if o.Diff && len(o.Output) == 0 {
		return nil, nil
	}
	outs, err := parseOutputs(o.Output, reportFormats...)
	if o.Diff && slices.ContainsFunc(outs, func(x output) bool { return x.file == "" }) {
		return nil, usage("--diff writes to standard output; give -o a file, such as -o json=report.json")
	}
	return outs, err
}

// suppression reads the settings and sets up what to silence.
func (o *checkRun) suppression(texts []fix.Text) (suppress.Options, error) {
	s := suppress.Options{Today: o.now().UTC().Format(time.DateOnly), ByPlace: true}
	var err error
	if s.Settings, err = readSettings(o.Settings); err != nil {
		return s, err
	}
	if s.Settings != nil {
		s.Least = s.Settings.Least
	}
	if o.Least != "" {
		if s.Least, err = parseSeverity(o.Least); err != nil || s.Least == 0 {
			return s, usage("--min-severity %s: one of error, warning, info", o.Least)
		}
	}
	for _, t := range texts {
		s.Sources = append(s.Sources, suppress.Source{Name: t.Name, Path: relative(filepath.Dir(cmp.Or(o.Settings, settingsFile)), t.Name), Text: t.Bytes})
	}
	return s, nil
}

// readSettings reads the given file, else settingsFile where there is one; nil: there is none.
func readSettings(given string) (*suppress.Settings, error) {
	name := cmp.Or(given, settingsFile)
	b, err := os.ReadFile(name)
	switch {
	case err == nil:
		s, err := suppress.ParseSettings(name, b)
		if err != nil {
			return nil, usage("%v", err)
		}
		return s, nil
	case given != "" || !errors.Is(err, fs.ErrNotExist):
		return nil, usage("--settings %s: %v; name a file of settings that can be read", name, err)
	}
	return nil, nil
}

// repair makes the safe repairs, in the files or as a diff, and gives the texts to report on: with --diff those that stand on disk: it changes nothing, also beside --fix.
func (o *checkRun) repair(ctx context.Context, texts []fix.Text, judge func([]fix.Text) []finding.Finding) ([]fix.Text, error) {
	if o.Fix && !o.Diff && slices.ContainsFunc(texts, func(t fix.Text) bool { return t.Name == "-" }) {
		return nil, usage("--fix: standard input cannot be changed; use --diff")
	}
	r, err := fix.All(texts, judge)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Diff {
		d, err := fix.Diff(named(texts), named(r.Texts), finding.Secret)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		if _, err := io.WriteString(o.streams.Out, d); err != nil {
			return nil, &exitError{exitUsage, fmt.Errorf("writing the diff: %w", err)}
		}
	}
	if !o.Fix || o.Diff {
		judge(texts)
		return texts, nil
	}
	made := map[string]int{}
	for _, f := range r.Made {
		made[f.Subject.File]++
	}
	for i, t := range r.Texts {
		if string(t.Bytes) == string(texts[i].Bytes) {
			continue
		}
		if err := replaceFile(t.Name, texts[i].Bytes, t.Bytes); err != nil {
			return nil, &exitError{exitUsage, fmt.Errorf("--fix: %s cannot be replaced: %w; make the file and its folder writable, or take the repairs from --diff", t.Name, err)}
		}
		if !o.Quiet {
			fmt.Fprintf(o.streams.Err, "%s: repairs made: %d\n", t.Name, max(made[t.Name], 1))
		}
	}
	return r.Texts, nil
}

func (o *checkRun) print(w io.Writer, screen term.Screen, format string, r *render.Result) error {
	opts := render.Options{Screen: screen, Verbose: o.Verbose, Exit: r.Exit}
	switch {
	case format == "json":
		return render.LintJSON(w, r)
	case format != "text":
		return render.Write(w, format, r, opts)
	case o.Quiet:
		return render.LintSummary(w, r, opts)
	}
	return render.Lint(w, r, opts)
}

// named gives the texts names below the working directory where they lie there, as what applies a diff wants them.
func named(texts []fix.Text) []fix.Text {
	out := slices.Clone(texts)
	for i, t := range out {
		if filepath.IsAbs(t.Name) {
			out[i].Name = relative(".", t.Name)
		}
	}
	return out
}

// relative gives a name relative to a directory, with slashes; one outside of it as it is.
func relative(dir, name string) string {
	if name == "-" {
		return "stdin"
	}
	root, err1 := filepath.Abs(dir)
	file, err2 := filepath.Abs(name)
	if err1 == nil && err2 == nil {
		if rel, err := filepath.Rel(root, file); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return filepath.ToSlash(rel)
		}
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(name)
}

// replaceFile puts a text in the place of another at once: whoever reads the file sees the old text or the new one. A link stays a link; the
// mode and the owner stay. A file that changed since it was read is left alone.
func replaceFile(name string, before, after []byte) (err error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(real)
	if err != nil {
		return err
	}
	if string(now) != string(before) {
		return errors.New("it changed while it was checked (run again)")
	}
	tmp, err := os.CreateTemp(filepath.Dir(real), ".mm2doctor-*")
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) { // the name of a file that nobody knows
			err = at.Err
		}
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err = sameOwner(tmp, info); err != nil { // before the mode: what owns nothing more may be read by its new owner alone
		return err
	}
	if err = tmp.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if _, err = tmp.Write(after); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), real)
}
