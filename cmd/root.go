package cmd

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/internal/term"
)

func newRoot(s *term.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "mm2doctor",
		Short: "Names the broken link of MirrorMaker 2's consumer-offset chain",
		Long: `mm2doctor follows consumer offsets from the source cluster through MirrorMaker 2 (offset syncs, checkpoints) to
__consumer_offsets on the target, names the first broken link with the numbers that prove it, and prints the repair.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
	}
	c.SetVersionTemplate("{{.Version}}\n")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%v\nSee '%s --help'", err, c.CommandPath())
	})
	c.AddCommand(newDiagnose(s, nil), newTranslate(s), newDemo(s), newCheck(s), newRecords(s), newCapture(s), newExplain(s), newVersion(s))
	c.CompletionOptions.HiddenDefaultCmd = true
	strict(c)
	return c
}

// strict makes cobra's own help and completion commands answer an unknown word with exit 2 instead of a page and exit 0.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if _, _, err := root.Find(args); err != nil {
					return usage("%v; see mm2doctor help", err)
				}
				return nil
			}
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

func newVersion(s *term.Streams) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		fmt.Fprintln(s.Out, versionText())
		return nil
	}}
}

func versionText() string {
	v := version
	if bi, ok := debug.ReadBuildInfo(); ok {
		if v == "dev" && strings.HasPrefix(bi.Main.Version, "v") && !strings.Contains(bi.Main.Version, "+dirty") {
			v = bi.Main.Version
		}
		return "mm2doctor " + v + " (" + bi.GoVersion + ")"
	}
	return "mm2doctor " + v
}
