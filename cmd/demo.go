package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/internal/term"
)

func newDemo(s *term.Streams) *cobra.Command {
	return &cobra.Command{Use: "demo", Hidden: true, RunE: func(*cobra.Command, []string) error { return fmt.Errorf("not built yet") }}
}
