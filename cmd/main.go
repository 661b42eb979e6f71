// Package cmd is the command line: flags become options, options one call, the result goes to a renderer.
//
// What may enter: cobra commands and the only owner of exit codes. No judgement, no reading of Kafka.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/mm2doctor/mm2doctor/internal/term"
)

// version is set by the release build.
var version = "dev"

// Exit codes, the same for every output format.
const (
	exitOK      = 0 // every link has a known status, nothing at or above --fail-on
	exitFinding = 1 // a finding at or above --fail-on
	exitUsage   = 2 // bad usage, or an input that cannot be read or lacks what the command needs
	// None of those, but a link is unknown, or the doctor's own connection failed: MM2D-001 to 003 are about the doctor, not about the
	// flow, and never give 1.
	exitIncomplete  = 3
	exitRefused     = 4   // refused, nothing was changed
	exitPartial     = 5   // something was changed, and something else was refused, failed or differs
	exitInterrupted = 130 // interrupted with nothing written
)

// exitError carries an exit code; without a text nothing more is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage makes an error of the caller's: exit 2.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// Main runs the command line and gives the exit code of the process.
func Main(args []string, s *term.Streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitUsage
	var ee *exitError
	if errors.As(err, &ee) {
		code = ee.code
	}
	if ctx.Err() != nil {
		fmt.Fprintln(s.Err, "interrupted")
		if code != exitPartial { // what was written is told, and is no interruption without a trace
			return exitInterrupted
		}
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(s.Err, "mm2doctor: "+text)
	}
	return code
}
