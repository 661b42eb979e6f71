package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/apply"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/render"
)

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
	if !s.live() {
		return usage("the evidence is a captured snapshot, and verify asks the cluster; give the configuration that the plan was made with, or leave the evidence out: the plan holds the addresses")
	}
	c, err := s.further(p.To.Alias, "which the plan is about", "--target", wire.ReadOnly())
	if err != nil {
		return err
	}
	if o.After > 0 {
		stepsTo(o.streams, o.Quiet, s.progress)(fmt.Sprintf("waiting %s for what MirrorMaker 2 makes of it", o.After))
		if err := o.sleep(ctx, o.After); err != nil {
			return err
		}
	}
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
