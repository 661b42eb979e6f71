package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/read"
)

// defaultBudget is how much of user records is read where nothing is said.
const defaultBudget = "1GB,5m"

// translateOptions are the flags of translate.
type translateOptions struct {
	diagnoseOptions
	selection

	NoRecords  bool
	ReadBudget string
	StateIn    string
	StateOut   string
	PlanOut    string

	Apply bool
	applying

	older string // the captured snapshot that stands for a lost source
}

// selection are the flags that say what is translated and what may be done.
type selection struct {
	Reverse        bool
	SourceLost     bool
	Fallback       string
	FromFile       string
	GroupMap       []string
	TopicMap       []string
	AllowRewind    bool
	AllowSkip      bool
	AllGroups      bool
	IncludeStreams bool
	AllOrNothing   bool
	StampEpoch     bool
	TagMetadata    bool
	Keep           string
}

func newTranslate(s *term.Streams) *cobra.Command {
	o := &translateOptions{diagnoseOptions: diagnoseOptions{streams: s, now: time.Now, sleep: sleep}}
	c := &cobra.Command{
		Use:   "translate [EVIDENCE...]",
		Short: "Compute where consumers start on the other cluster, show it as a plan, and apply it when asked",
		Long: `Finds, for every group, topic and partition, the offset on the other cluster from which a consumer reads on without
skipping a record and with as few as possible read again. Where both clusters answer, the records themselves are
compared, so that the answer is exact; else the offset syncs bound it, and the lower bound is taken.

Nothing is written: the plan is printed. --plan-out keeps it for translate apply PLAN; --apply carries it out in one go,
after asking for the alias of the cluster that will be written (or with --yes). What was there before is kept in a
journal, and translate rollback JOURNAL puts it back.

EVIDENCE is what diagnose takes. --source-lost translates without the source, from what the target, a captured snapshot
or a state file still hold. --reverse is for failback.`,
		Example: `  mm2doctor translate mm2.properties
  mm2doctor translate mm2.properties --group billing --plan-out plan.json
  mm2doctor translate apply plan.json mm2.properties
  mm2doctor translate mm2.properties --apply --yes
  mm2doctor translate mm2.properties --source-lost --fallback earliest
  mm2doctor translate mm2.properties -o csv=offsets.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			o.Files = args
			return runTranslate(c.Context(), o)
		},
	}
	o.evidence.flags(c)
	o.evidence.words(c)
	f := c.Flags()
	f.StringArrayVarP(&o.Output, "output", "o", nil, "FORMAT or FORMAT=FILE: "+strings.Join(planFormats, ", ")+"; repeatable")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "what each row rests on, every reason, and what reading cost")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "the sum only, no progress")
	f.BoolVar(&o.NoRecords, "no-records", false, "read no records of users: bounds from offset syncs alone")
	f.StringVar(&o.ReadBudget, "read-budget", defaultBudget, "read at most this many bytes of records from both clusters together, for at most this long; what is left over is bounded by offset syncs")
	f.StringVar(&o.PlanOut, "plan-out", "", "write the plan to this file, for translate apply")
	f.StringVar(&o.StateIn, "state", "", "with --source-lost: positions that an earlier run kept with --state-out")
	f.StringVar(&o.StateOut, "state-out", "", "keep the positions found in this file, for a source that dies")
	f.BoolVar(&o.Apply, "apply", false, "carry the plan out")
	o.selection.flags(c)
	o.applying.flags(c)
	c.AddCommand(newTranslateApply(s), newTranslateVerify(s), newTranslateRollback(s))
	return c
}

// words adds to the flags that diagnose has too what a plan makes of them.
func (e *evidence) words(c *cobra.Command) {
	for name, more := range map[string]string{
		"flow":  ", and a plan takes one: name it where there are more",
		"group": "; by its id where the positions come from; default: those that the flow's filters admit",
		"topic": "; default: all that are mirrored; with --reverse by its name where the positions come from",
	} {
		c.Flags().Lookup(name).Usage += more
	}
}

func (o *selection) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.Reverse, "reverse", false, "failback: carry positions from the flow's target back to its source")
	f.BoolVar(&o.SourceLost, "source-lost", false, "the source is gone: nothing dials it, and its facts are given up")
	f.StringVar(&o.Fallback, "fallback", "", "for partitions that nothing maps: leave, earliest, latest, timestamp:TIME (RFC 3339, or ms); without it they are refused")
	f.StringVar(&o.FromFile, "from-file", "", "check, explain and apply the offsets of this CSV (group,topic,partition,offset) instead of the ones found")
	f.StringArrayVar(&o.GroupMap, "group-map", nil, "OLD=NEW: the group has another id on the cluster that is written; repeatable")
	f.StringArrayVar(&o.TopicMap, "topic-map", nil, "TOPIC=COPY: the copy has another name than the policy gives; repeatable")
	f.BoolVar(&o.AllowRewind, "allow-rewind", false, "write offsets below those that are there")
	f.BoolVar(&o.AllowSkip, "allow-skip", false, "write offsets that skip records")
	f.BoolVar(&o.AllGroups, "all-groups", false, "also groups that MirrorMaker 2's filters leave out")
	f.BoolVar(&o.IncludeStreams, "include-streams", false, "also groups of type streams")
	f.BoolVar(&o.AllOrNothing, "all-or-nothing", false, "write nothing when anything is refused")
	f.BoolVar(&o.StampEpoch, "stamp-epoch", false, "commit the leader epoch with the offset where it is proved")
	f.BoolVar(&o.TagMetadata, "tag-metadata", false, "say in the commit's metadata who wrote it, where the source's is empty")
	f.StringVar(&o.Keep, "keep", "", "give the commits this life (such as 30d or 12h) instead of the broker's rule")
}

// options are the words that decide over refusals.
func (o *selection) options() (plan.Options, error) {
	out := plan.Options{AllowRewind: o.AllowRewind, AllowSkip: o.AllowSkip, AllGroups: o.AllGroups, IncludeStreams: o.IncludeStreams,
		AllOrNothing: o.AllOrNothing, StampEpoch: o.StampEpoch, TagMetadata: o.TagMetadata}
	fallback, err := fallbackOf(o.Fallback)
	if err != nil {
		return out, err
	}
	out.Fallback = fallback
	if o.Keep != "" {
		d, err := life(o.Keep)
		if err != nil {
			return out, err
		}
		out.KeepMs = d.Milliseconds()
	}
	return out, nil
}

// fallbackOf checks --fallback and turns a time into milliseconds.
func fallbackOf(s string) (string, error) {
	ts, timed := strings.CutPrefix(s, "timestamp:")
	switch {
	case s == "" || s == "leave" || s == "earliest" || s == "latest":
		return s, nil
	case !timed:
		return "", usage("--fallback %s: one of leave, earliest, latest, timestamp:TIME", s)
	}
	if ms, err := strconv.ParseInt(ts, 10, 64); err == nil && ms >= 0 {
		return s, nil
	}
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return "", usage("--fallback %s: TIME is milliseconds since 1970, or RFC 3339 such as 2026-01-31T08:00:00Z", s)
	}
	return fmt.Sprintf("timestamp:%d", t.UnixMilli()), nil
}

// life reads a duration that may also be in days.
func life(s string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		days, err := strconv.ParseFloat(n, 64)
		if err == nil && days > 0 && days < 36500 {
			return time.Duration(days * 24 * float64(time.Hour)), nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, usage("--keep %s: a duration such as 30d, 12h or 90m", s)
}

// renames reads OLD=NEW pairs.
func renames(flag string, values []string) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range values {
		old, now, ok := strings.Cut(v, "=")
		if !ok || old == "" || now == "" {
			return nil, usage("%s %s: must be OLD=NEW", flag, v)
		}
		if before, twice := out[old]; twice && before != now {
			return nil, usage("%s: %s is given two names, %s and %s", flag, old, before, now)
		}
		out[old] = now
	}
	for old, now := range out {
		for other, same := range out {
			if other != old && same == now {
				return nil, usage("%s: %s and %s would both become %s; their offsets would overwrite each other", flag, min(old, other), max(old, other), now)
			}
		}
	}
	return out, nil
}

// budget reads BYTES,D: either may be left out.
func budget(s string) (read.Budget, error) {
	var b read.Budget
	bytes, d, _ := strings.Cut(s, ",")
	if bytes = strings.TrimSpace(bytes); bytes != "" {
		n, err := size(bytes)
		if err != nil {
			return b, err
		}
		b.Bytes = n
	}
	if d = strings.TrimSpace(d); d != "" {
		t, err := time.ParseDuration(d)
		if err != nil || t <= 0 {
			return b, usage("--read-budget %s: %q is no duration such as 60s or 5m", s, d)
		}
		b.Time = t
	}
	return b, nil
}

// size reads a number of bytes: 1048576, 256KB, 64MiB, 1GB. Units are powers of 1024.
func size(s string) (int64, error) {
	up := strings.ToUpper(s)
	units := []struct {
		name  string
		shift int
	}{{"KIB", 10}, {"MIB", 20}, {"GIB", 30}, {"TIB", 40}, {"KB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}, {"K", 10}, {"M", 20}, {"G", 30}, {"T", 40}, {"B", 0}, {"", 0}}
	for _, u := range units {
		n, ok := strings.CutSuffix(up, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
		if err != nil || v <= 0 || v*float64(int64(1)<<u.shift) >= 1<<62 {
			break
		}
		return int64(v * float64(int64(1)<<u.shift)), nil
	}
	return 0, usage("--read-budget: %q is no size such as 256MB or 1GB", s)
}

// selectionOf puts what is to be translated together.
func (o *translateOptions) selectionOf(flow string) (plan.Selection, error) {
	sel := plan.Selection{Flow: flow, Reverse: o.Reverse, Groups: o.Groups, Topics: o.Topics, SourceLost: o.SourceLost, Now: o.now().UTC().Format(time.RFC3339)}
	var err error
	if sel.Options, err = o.options(); err != nil {
		return sel, err
	}
	if sel.GroupMap, err = renames("--group-map", o.GroupMap); err != nil {
		return sel, err
	}
	if sel.TopicMap, err = renames("--topic-map", o.TopicMap); err != nil {
		return sel, err
	}
	if o.FromFile != "" {
		if sel.Wished, err = o.wishes(); err != nil {
			return sel, err
		}
	}
	if o.StateIn != "" {
		f, err := os.Open(o.StateIn)
		if err != nil {
			return sel, usage("--state: %v", err)
		}
		defer f.Close()
		if sel.State, err = plan.ReadState(f); err != nil {
			return sel, usage("--state %s: %v", o.StateIn, err)
		}
	}
	return sel, nil
}

// wishes reads --from-file; with one --group that is a plain name the file may leave the group out, as Kafka's tool does.
func (o *translateOptions) wishes() ([]plan.Wish, error) {
	in := o.streams.In
	if o.FromFile != "-" {
		f, err := os.Open(o.FromFile)
		if err != nil {
			return nil, usage("--from-file: %v", err)
		}
		defer f.Close()
		in = f
	}
	only := ""
	if names := literals(o.Groups); len(o.Groups) == 1 && len(names) == 1 {
		only = names[0]
	}
	ws, err := plan.ReadWishes(in, only)
	if err != nil {
		return nil, usage("--from-file %s: %v", o.FromFile, err)
	}
	if len(ws) == 0 {
		return nil, usage("--from-file %s: holds no row; write group,topic,partition,offset", o.FromFile)
	}
	return ws, nil
}

// checkFlags refuses combinations that contradict each other, before anything is dialled.
func (o *translateOptions) checkFlags() error {
	switch {
	case o.SourceLost && o.NoRecords:
		o.NoRecords = false // there are no records to compare
	case o.StateIn != "" && !o.SourceLost:
		return usage("--state is for a source that is gone: add --source-lost; to keep positions use --state-out")
	case o.StateOut != "" && (o.Reverse || o.SourceLost):
		return usage("--state-out keeps what the flow's source holds, while it answers; leave it out with --reverse and --source-lost")
	case o.Reverse && o.SourceLost:
		return usage("--reverse reads both clusters; without the source there is nothing to go back to")
	case o.FromFile != "" && o.Reverse:
		return usage("--from-file names offsets of the cluster that is written; leave out --reverse and choose the flow with --flow")
	case o.Yes && !o.Apply:
		return usage("--yes answers the question of --apply, which is missing")
	case o.Journal != "" && !o.Apply:
		return usage("--journal belongs to --apply, which is missing")
	case o.Refresh && !o.Apply:
		return usage("--refresh belongs to --apply, which is missing")
	case o.Refresh && (o.FromFile != "" || o.SourceLost):
		return usage("--refresh plans groups anew whose position on the source moved; with %s there is none to follow", map[bool]string{true: "--source-lost", false: "--from-file"}[o.SourceLost])
	case o.FromFile == "-" && slices.Contains(o.Files, "-"):
		return usage("--from-file - and the evidence - would both read standard input; give one of them a file")
	}
	return nil
}

// runTranslate makes the plan, shows it, and carries it out with --apply.
func runTranslate(ctx context.Context, o *translateOptions) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	outs, err := parseOutputs(o.Output, planFormats...)
	if err != nil {
		return err
	}
	if o.Apply {
		if err := o.canAsk(o.streams); err != nil {
			return err
		}
		if err := writable(outs); err != nil {
			return err
		}
		for _, out := range outs {
			if out.file == "" && out.format != "text" && out.format != "json" {
				return usage("-o %s: --apply prints what was done as text or json; give the plan's %s a file: -o %s=FILE", out.format, out.format, out.format)
			}
		}
	}
	m, err := o.make(ctx)
	if m != nil {
		defer m.session.close()
	}
	if err != nil {
		return o.unmade(ctx, m, outs, err)
	}
	o.tellReading(m)
	if err := o.keepFiles(m); err != nil {
		return err
	}
	if o.Apply {
		return o.applyNow(ctx, m, outs)
	}
	if err := o.show(m, outs); err != nil {
		return err
	}
	o.tellFiles(m, outs)
	if code := planExit(m.plan); code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// planExit is the exit code of a dry run: refused where nothing of the plan could be written, a finding where a part could not.
func planExit(p *plan.Plan) int {
	switch {
	case p.Summary.Refused == 0 && p.Summary.RefusedGroups == 0 && worstOf(p) == 0:
		return exitOK
	case p.Summary.Set+p.Summary.Right == 0:
		return exitRefused
	}
	return exitFinding
}

// worstOf is 1 where the plan as a whole has an error.
func worstOf(p *plan.Plan) int {
	for _, f := range p.Findings {
		if f.Severity.String() == "error" {
			return 1
		}
	}
	return 0
}

// flowFlag writes a flow as printed commands name it.
func flowFlag(name string) string {
	a, b, _ := strings.Cut(name, "->")
	return cmp.Or(a, "?") + ":" + cmp.Or(b, "?")
}
