package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// callRE is a call of the program: in a code span, or at the start of a line that is a command.
	callRE = regexp.MustCompile("(?:`|^ *(?:\\$ )?|[|] )mm2doctor +([a-z][a-z-]*)([^`]*)")
	flagRE = regexp.MustCompile(`(?:^|[\s\x60(])(--[a-z][a-z0-9-]*)`)
	// spanRE is a code span that is a flag alone, as the text names it outside a call.
	spanRE = regexp.MustCompile("`(--[a-z][a-z0-9-]*)(?:[ =][^`]*)?`")
	// foreignFlags are those of Kafka's tools that the texts name alone.
	foreignFlags = []string{"--command-config", "--consumer.config", "--describe", "--reset-offsets", "--delete-offsets", "--to-earliest", "--to-datetime"}
)

// commands reads the flags of each command from the generated reference.
func commands(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("cli/mm2doctor_*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no reference of the commands: %v", err)
	}
	m := map[string][]string{}
	for _, f := range files {
		_, flags, _ := strings.Cut(read(t, f), "## Flags\n")
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "mm2doctor_"), ".md")
		m[name] = []string{}
		for line := range strings.Lines(flags) {
			if found := flagRE.FindStringSubmatch(line); found != nil {
				m[name] = append(m[name], found[1])
			}
		}
	}
	return m
}

// badCalls lists what a text calls and what does not exist.
func badCalls(text string, cmds map[string][]string) []string {
	var bad []string
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		for _, call := range callRE.FindAllStringSubmatch(line, -1) {
			if !fenced && !strings.Contains(call[0], "`") && !strings.HasPrefix(line, "    ") {
				continue // a sentence that begins with the name
			}
			flags, ok := cmds[call[1]]
			if !ok {
				bad = append(bad, "mm2doctor "+call[1])
				continue
			}
			rest, _, _ := strings.Cut(call[2], " #")
			if words := strings.Fields(rest); len(words) > 0 {
				if sub, ok := cmds[call[1]+"_"+words[0]]; ok {
					flags = sub
				}
			}
			for _, f := range flagRE.FindAllStringSubmatch(rest, -1) {
				if !slices.Contains(flags, f[1]) {
					bad = append(bad, "mm2doctor "+call[1]+" "+f[1])
				}
			}
		}
		for _, f := range spanRE.FindAllStringSubmatch(line, -1) {
			own := slices.Contains(foreignFlags, f[1])
			for _, flags := range cmds {
				own = own || slices.Contains(flags, f[1])
			}
			if !own {
				bad = append(bad, f[1])
			}
		}
	}
	return bad
}

func TestTextsCallOnlyWhatExists(t *testing.T) {
	cmds := commands(t)
	all := texts()
	all["README.md"] = read(t, "../README.md")
	calls := 0
	for name, text := range all {
		if cmds["translate"] == nil && (strings.HasPrefix(name, "MM2D-7") || name == "state") {
			continue // pages of a command that is not there yet
		}
		calls += len(callRE.FindAllString(text, -1))
		for _, b := range badCalls(text, cmds) {
			t.Errorf("%s: %s does not exist", name, b)
		}
	}
	if calls == 0 {
		t.Error("no call found in any text")
	}
}

func TestBadCalls(t *testing.T) {
	cmds := map[string][]string{"diagnose": {"--group", "--tree"}, "explain": {"--list"}}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"`mm2doctor diagnose x --group g --tree`", nil},
		{"`mm2doctor translate --group g`", []string{"mm2doctor translate"}},
		{"`mm2doctor diagnose --list`", []string{"mm2doctor diagnose --list"}},
		{"```\nmm2doctor check x\n```", []string{"mm2doctor check"}},
		{"```\nmm2doctor explain x --tree # --group\n```", []string{"mm2doctor explain --tree"}},
		{"mm2doctor is a word here", nil},
		{"with `--records` or `--to-earliest`, `--tree`", []string{"--records"}},
	} {
		if got := badCalls(c.text, cmds); !slices.Equal(got, c.want) {
			t.Errorf("badCalls(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
