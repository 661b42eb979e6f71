package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/fixtures/demo"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// demoOptions are the flags of demo.
type demoOptions struct {
	streams *term.Streams
	Name    string // empty: the scenario that shows most
	List    bool
	Fixed   bool
	Args    []string // for diagnose
}

func newDemo(s *term.Streams) *cobra.Command {
	o := &demoOptions{streams: s}
	var output []string
	var tree, verbose, quiet bool
	c := &cobra.Command{
		Use:   "demo [SCENARIO]",
		Short: "Diagnose an embedded pair of clusters that is broken on purpose; no Kafka, no Java",
		Long: `Starts two brokers inside this process, loads records that a real MirrorMaker 2 wrote, breaks the offset chain in one of
many ways and runs diagnose against them over TCP. demo alone shows one scenario and exits 0 when the doctor recognised
it; demo SCENARIO exits like the diagnose that it runs.`,
		Example: "  mm2doctor demo\n  mm2doctor demo --list\n  mm2doctor demo negative-lag --tree\n  mm2doctor demo negative-lag --fixed",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("demo takes one scenario; see mm2doctor demo --list")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if o.Name = args[0]; o.Name == "" {
					return usage("an empty scenario; see mm2doctor demo --list")
				}
			}
			for _, v := range output {
				o.Args = append(o.Args, "-o", absolute(v))
			}
			if tree {
				o.Args = append(o.Args, "--tree")
			}
			if verbose {
				o.Args = append(o.Args, "-v")
			}
			if quiet {
				o.Args = append(o.Args, "-q")
			}
			return runDemo(c.Context(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.List, "list", false, "all scenarios, a line each")
	f.BoolVar(&o.Fixed, "fixed", false, "the same pair after the printed repair")
	f.StringArrayVarP(&output, "output", "o", nil, "FORMAT or FORMAT=FILE, as for diagnose")
	f.BoolVar(&tree, "tree", false, "print the decision tree with the path taken")
	f.BoolVarP(&verbose, "verbose", "v", false, "as for diagnose")
	f.BoolVarP(&quiet, "quiet", "q", false, "as for diagnose")
	return c
}

// absolute keeps FORMAT=FILE pointing at the caller's folder.
func absolute(v string) string {
	format, file, ok := strings.Cut(v, "=")
	if abs, err := filepath.Abs(file); ok && file != "" && err == nil {
		return format + "=" + abs
	}
	return v
}

func runDemo(ctx context.Context, o *demoOptions) error {
	if o.List {
		for _, s := range demo.Scenarios() {
			code := s.Code
			if code == "" {
				code = "-"
			}
			fmt.Fprintf(o.streams.Out, "%-30s %-9s %s\n", s.Name, code, s.Title)
		}
		return nil
	}
	name := o.Name
	if name == "" {
		name = demo.Default
	}
	s, ok := demo.Lookup(name)
	if !ok {
		return usage("no scenario %q; see mm2doctor demo --list", name)
	}
	p, err := demo.Start(ctx, name, o.Fixed)
	if err != nil {
		return &exitError{exitIncomplete, fmt.Errorf("starting the embedded brokers: %w", err)}
	}
	defer p.Close()
	// The report then names mm2.properties as a user's would, not a temporary folder.
	if err := os.Chdir(filepath.Dir(p.Properties)); err != nil {
		return &exitError{exitIncomplete, err}
	}
	args := append([]string{filepath.Base(p.Properties)}, s.Arguments(o.Fixed)...)
	symptom := s.Symptom
	if o.Fixed {
		symptom = "after the repair"
	}
	fmt.Fprintf(o.streams.Err, "demo %s: %s\n$ mm2doctor diagnose %s\n", s.Name, symptom, strings.Join(args, " "))
	recognised := false
	c := newDiagnose(o.streams, func(ctx context.Context, d *diagnoseOptions) error {
		d.confirmAfter = 100 * time.Millisecond
		if o.Name != "" {
			return runDiagnose(ctx, d)
		}
		r, outs, failOn, err := d.diagnose(ctx)
		if err != nil {
			return err
		}
		recognised = len(r.Findings) > 0 && r.Findings[0].CodeText == s.Code
		_ = failOn // the demo's own exit code is about recognising the fault
		return d.print(r, outs, -1)
	})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(append(args, o.Args...))
	if err := c.ExecuteContext(ctx); err != nil {
		return err
	}
	if o.Name == "" && !recognised && !o.Fixed {
		return &exitError{exitFinding, fmt.Errorf("the demo's fault (%s) was not recognised", s.Code)}
	}
	return nil
}
