package cmd

import (
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// applyCommand is what carries the shown plan out.
func (o *translateOptions) applyCommand(p *plan.Plan, live bool) string {
	if p.Summary.Set == 0 {
		return ""
	}
	switch {
	case !live && o.PlanOut == "":
		return "" // a captured snapshot cannot be written to
	case !live:
		return shellLine([]string{"mm2doctor", "translate", "apply", o.PlanOut}) // at the addresses that the plan holds
	case o.PlanOut != "":
		return shellLine(append([]string{"mm2doctor", "translate", "apply", o.PlanOut}, o.evidenceArgs()...))
	}
	args := append([]string{"mm2doctor", "translate"}, o.again(p)...)
	if o.keepsFirst(p, live) {
		return shellLine(append(args, "--plan-out", "plan.json"))
	}
	if o.FromFile == "-" || slices.Contains(o.Files, "-") { // standard input is read already, and cannot answer a question
		return shellLine(append(args, "--apply", "--yes"))
	}
	return shellLine(append(args, "--apply"))
}

// keepsFirst says that the plan is to be kept in a file, and is not.
func (o *translateOptions) keepsFirst(p *plan.Plan, live bool) bool {
	return live && o.PlanOut == "" && p.WantsKept()
}

// again are the arguments that make the same plan once more.
func (o *translateOptions) again(p *plan.Plan) []string {
	args := o.evidenceArgs()
	if o.older != "" {
		args = append(args, o.older)
	}
	if len(o.Flows) == 0 && len(o.Files) > 0 {
		args = append(args, "--flow", flowFlag(p.Flow))
	}
	add := func(flag string, values ...string) { args = withFlag(args, flag, values...) }
	for _, f := range o.Flows {
		if name, err := flowName(f); err == nil {
			add("--flow", flowFlag(name))
		}
	}
	add("--group", o.Groups...)
	add("--topic", o.Topics...)
	for _, b := range []struct {
		flag string
		on   bool
	}{{"--reverse", o.Reverse}, {"--source-lost", o.SourceLost}, {"--no-records", o.NoRecords}, {"--allow-rewind", o.AllowRewind}, {"--allow-skip", o.AllowSkip}, {"--all-groups", o.AllGroups},
		{"--include-streams", o.IncludeStreams}, {"--all-or-nothing", o.AllOrNothing}, {"--stamp-epoch", o.StampEpoch}, {"--tag-metadata", o.TagMetadata}} {
		if b.on {
			args = append(args, b.flag)
		}
	}
	add("--fallback", o.Fallback)
	add("--keep", o.Keep)
	add("--from-file", o.FromFile)
	add("--group-map", o.GroupMap...)
	add("--topic-map", o.TopicMap...)
	add("--state", o.StateIn)
	if o.ReadBudget != defaultBudget {
		args = append(args, "--read-budget", o.ReadBudget)
	}
	return args
}

// evidenceArgs are the arguments that find the clusters again.
func (e *evidence) evidenceArgs() []string {
	args := slices.Clone(e.Files)
	add := func(flag string, values ...string) { args = withFlag(args, flag, values...) }
	add("--source", e.Source...)
	add("--target", e.Target...)
	add("--source-config", e.SourceConfig)
	add("--target-config", e.TargetConfig)
	add("--connect-url", e.ConnectURL...)
	add("--connect-config", e.ConnectConf)
	add("--resolve", e.Resolve...)
	add("--mm2-version", e.MM2Version)
	if e.Timeout > 0 && e.Timeout != defaultTimeout {
		args = append(args, "--timeout", e.Timeout.String())
	}
	return args
}

// withFlag adds a flag for each value that says something.
func withFlag(args []string, flag string, values ...string) []string {
	for _, v := range values {
		if v != "" {
			args = append(args, flag, v)
		}
	}
	return args
}

// shellLine joins arguments so that a POSIX shell reads them back.
func shellLine(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = finding.Quote(a)
	}
	return strings.Join(out, " ")
}
