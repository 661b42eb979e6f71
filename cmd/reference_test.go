package cmd

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mm2doctor/mm2doctor/internal/term"
)

var update = flag.Bool("update", false, "write docs/cli anew")

const referenceDir = "../docs/cli"

// reference gives the page of a command, from what its --help says.
func reference(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- Written by: go test ./cmd -run TestReference -update -->\n\n# %s\n\n%s.\n", c.CommandPath(), strings.TrimSuffix(c.Short, "."))
	block := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n", title, strings.Trim(text, "\n"))
		}
	}
	if c.Runnable() {
		block("Usage", c.UseLine())
	}
	block("What it does", c.Long)
	block("Examples", c.Example)
	block("Flags", c.LocalFlags().FlagUsages())
	if subs := commands(c); len(subs) > 0 {
		b.WriteString("\n## Commands\n\n| command | |\n|---|---|\n")
		for _, s := range subs {
			fmt.Fprintf(&b, "| [%s](%s) | %s |\n", s.CommandPath(), page(s), s.Short)
		}
	}
	if !c.HasParent() {
		fmt.Fprintf(&b, "\n## Exit codes\n\nThe same for every output format.\n\n| code | meaning |\n|---|---|\n"+
			"| %d | every link has a known status, and nothing is at or above `--fail-on` |\n| %d | a finding at or above it; for `records`, a record that does not decode |\n"+
			"| %d | bad usage, or an input that cannot be read; nothing is on standard output |\n| %d | neither, but a link is unknown or the doctor itself could not connect; an error of MM2D-001 to 003 is that, and never 1 |\n"+
			"| %d | `translate`: refused, nothing was changed |\n| %d | `translate`: something was changed, and something else was refused, failed or differs |\n| %d | interrupted, nothing was written |\n",
			exitOK, exitFinding, exitUsage, exitIncomplete, exitRefused, exitPartial, exitInterrupted)
	}
	return b.Bytes()
}

func page(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "_") + ".md" }

// commands are those with a page: cobra's own help and completion need none.
func commands(c *cobra.Command) (out []*cobra.Command) {
	for _, s := range c.Commands() {
		if s.Name() != "help" && s.Name() != "completion" {
			out = append(out, s)
		}
	}
	return out
}

func allCommands() []*cobra.Command {
	root := newRoot(&term.Streams{Env: func(string) string { return "" }})
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	out := []*cobra.Command{root}
	for i := 0; i < len(out); i++ {
		out = append(out, commands(out[i])...)
	}
	for _, c := range out[1:] {
		c.InitDefaultHelpFlag()
	}
	return out
}

// TestReference: docs/cli is what the commands say of themselves.
func TestReference(t *testing.T) {
	want := []string{}
	for _, c := range allCommands() {
		want = append(want, page(c))
		name := filepath.Join(referenceDir, page(c))
		if *update {
			if err := os.MkdirAll(referenceDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, reference(c), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%v; write it with: go test ./cmd -run TestReference -update", err)
		} else if !bytes.Equal(got, reference(c)) {
			t.Errorf("%s is not what %s --help says; write it with: go test ./cmd -run TestReference -update", name, c.CommandPath())
		}
	}
	entries, err := os.ReadDir(referenceDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("%s: there is no such command", e.Name())
		}
	}
}

// TestEveryFlagIsExplained: each flag has words, those that take a value say which, and the same flag means the same everywhere.
func TestEveryFlagIsExplained(t *testing.T) {
	said := map[string]string{}
	for _, c := range allCommands() {
		if c.Short == "" {
			t.Errorf("%s has no short text", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if len(f.Usage) < 8 || f.Usage != strings.TrimRight(f.Usage, ". ") {
				t.Errorf("%s --%s: %q", c.CommandPath(), f.Name, f.Usage)
			}
			shared := slices.Contains([]string{"source", "target", "source-config", "target-config", "flow", "group", "topic", "mm2-version", "timeout", "resolve", "observe"}, f.Name)
			if before, ok := said[f.Name]; shared && ok && !strings.HasPrefix(before, f.Usage) && !strings.HasPrefix(f.Usage, before) {
				t.Errorf("--%s is %q and %q", f.Name, before, f.Usage)
			}
			said[f.Name] = f.Usage
		})
	}
	for _, f := range []string{"source", "target", "source-config", "target-config", "flow", "group", "topic", "mm2-version", "timeout", "resolve", "observe", "fail-on", "output", "tree", "verbose", "quiet", "partitions", "offline"} {
		if said[f] == "" {
			t.Errorf("no command has --%s", f)
		}
	}
}
