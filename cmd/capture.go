package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

func newCapture(s *term.Streams) *cobra.Command {
	o := &diagnoseOptions{streams: s, now: time.Now, sleep: sleep}
	c := &cobra.Command{
		Use:   "capture BUNDLE [EVIDENCE...]",
		Short: "Save everything diagnose would read, secrets left out",
		Long: `Reads both clusters as diagnose does and writes one file, snapshot.json. The file gives the same report anywhere:
mm2doctor diagnose BUNDLE. Client settings, passwords and record payloads are never in it.`,
		Example: "  mm2doctor capture snapshot.json mm2.properties",
		Args:    minArgs(1, "name the file to write: mm2doctor capture snapshot.json mm2.properties"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Files = args[1:]
			return runCapture(c.Context(), o, args[0])
		},
	}
	o.evidence.flags(c)
	c.Flags().DurationVar(&o.Observe, "observe", 0, "take two looks this far apart")
	c.Flags().BoolVarP(&o.Quiet, "quiet", "q", false, "no progress")
	return c
}

func minArgs(n int, text string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return usage("%s", text)
		}
		return nil
	}
}

// mayReplace keeps a forgotten BUNDLE argument from overwriting the configuration that was named in its place.
func mayReplace(file string) error {
	fi, err := os.Stat(file)
	if err != nil || fi.Size() == 0 && fi.Mode().IsRegular() {
		return nil // what cannot be written is told when it is written
	}
	if !fi.Mode().IsRegular() {
		return usage("%s is no regular file; name a file to write: mm2doctor capture snapshot.json mm2.properties", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	if bundle.Is(head[:n]) {
		return nil
	}
	return usage("%s exists and is not a snapshot: it would be overwritten; name the file to write first: mm2doctor capture snapshot.json mm2.properties", file)
}

func runCapture(ctx context.Context, o *diagnoseOptions, file string) error {
	if err := o.checkObserve(); err != nil {
		return err
	}
	if err := mayReplace(file); err != nil {
		return err
	}
	s, err := o.look(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if !s.live() {
		return usage("the evidence is a snapshot already")
	}
	s.request.Ranges = true
	snap, err := s.read(ctx)
	if err != nil {
		return err
	}
	if o.Observe > 0 {
		if err := o.sleep(ctx, o.Observe); err != nil {
			return err
		}
		if snap, err = s.again(ctx, snap); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return usage("%v; name a file that can be written", err)
	}
	if err := bundle.Write(f, snap); err != nil {
		f.Close()
		return usage("%s: %v", file, err)
	}
	if err := f.Close(); err != nil {
		return usage("%s: %v", file, err)
	}
	fmt.Fprintf(o.streams.Err, "wrote %s; read it with: mm2doctor diagnose %s\n", file, file)
	for _, c := range snap.Clusters {
		if c.Contact != nil {
			return &exitError{exitIncomplete, fmt.Errorf("%s could not be read: %s", c.Alias, c.Contact.Why)}
		}
	}
	if r, _ := diagnose.Run(snap, diagnose.Options{Command: "capture"}); r.Incomplete() {
		return &exitError{exitIncomplete, fmt.Errorf("a part could not be read and is unknown in %s; mm2doctor diagnose %s says which and why", file, file)}
	}
	return nil
}
