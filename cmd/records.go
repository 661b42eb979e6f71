package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/internal/term"
)

func newRecords(s *term.Streams) *cobra.Command {
	return &cobra.Command{Use: "records", RunE: func(*cobra.Command, []string) error { return fmt.Errorf("soon") }}
}

func newDemo(s *term.Streams) *cobra.Command {
	return &cobra.Command{Use: "demo", RunE: func(*cobra.Command, []string) error { return fmt.Errorf("soon") }}
}
