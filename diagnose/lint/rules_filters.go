package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// samples are groups that the built-in exclude list keeps out.
var samples = []struct {
	prefix string
	names  []string
	what   string
}{
	{"console-consumer-", []string{"console-consumer-12345", "console-consumer-77"}, "console-consumer-… groups of people who looked into a topic"},
	{"connect-", []string{"connect-sink", "connect-orders-sink"}, "connect-… groups of sink connectors"},
	{"__", []string{"__canary", "__internal-group"}, "groups that begin with __"},
}

// lostDefaults: an exclude list of one's own replaces the built-in one. Topics lose nothing by it: what begins with __ and
// MirrorMaker 2's own topics are never mirrored. Groups do, where the include list lets them through.
func (l *linter) lostDefaults(f *flow) {
	if !f.runs() || !f.Has(conf.Checkpoint) {
		return
	}
	lists := f.GroupLists()
	if lists.Exclude.IsDefault() || !l.sound(lists.Exclude) || !l.sound(lists.Include) {
		return
	}
	filter, err := l.groupFilter(f)
	if err != nil || filter == nil {
		return
	}
	var gone []string
	sev := finding.Info
	for _, s := range samples {
		if strings.Contains(lists.Include.Value, s.prefix) && s.prefix != "__" {
			continue // asked for by name
		}
		if slices.ContainsFunc(s.names, func(n string) bool { return !filter.Decide(n).Passes() }) {
			continue
		}
		gone = append(gone, s.what)
		if s.prefix != "__" {
			sev = finding.Warning
		}
	}
	if len(gone) == 0 {
		return
	}
	at := f.where(conf.Checkpoint, lists.Exclude, "groups.exclude")
	own := mm2.SplitList(lists.Exclude.Value)
	all := slices.DeleteFunc(mm2.SplitList(mm2.DefaultGroupsExclude), func(p string) bool { return slices.Contains(own, p) })
	whole := strings.Join(append(all, slices.DeleteFunc(own, func(p string) bool { return p == "" })...), ", ")
	l.add(say{slug: "default-exclude-lost", severity: sev, at: at, flow: f.Name(), because: fmt.Sprintf("The list replaces the built-in one (%s) and is not added to it: from now on %s are synced too.", mm2.DefaultGroupsExclude, strings.Join(gone, ", ")), leads: "Foreign groups appear on the target and are committed there.", fixes: f.in.inPlace(at, whole)})
}

// compiled is a filter, or why there is none.
type compiled struct {
	filter *mm2.Filter
	err    error
}

type filterKey struct {
	f      *flow
	r      conf.Reader
	groups bool
}

// groupFilter is Flow.GroupFilter, compiled once.
func (l *linter) groupFilter(f *flow) (*mm2.Filter, error) {
	return l.filter(filterKey{f, conf.Checkpoint, true}, func() (*mm2.Filter, error) { return f.GroupFilter() })
}

// topicFilter is Flow.TopicFilter, compiled once. In dedicated mode both connectors have the same.
func (l *linter) topicFilter(f *flow, r conf.Reader) (*mm2.Filter, error) {
	if f.in.mode == dedicated {
		r = conf.Source
	}
	return l.filter(filterKey{f, r, false}, func() (*mm2.Filter, error) { return f.TopicFilter(r) })
}

func (l *linter) filter(k filterKey, compile func() (*mm2.Filter, error)) (*mm2.Filter, error) {
	c, ok := l.filters[k]
	if !ok {
		c.filter, c.err = compile()
		l.filters[k] = c
	}
	return c.filter, c.err
}

var literal = regexp.MustCompile(`^[A-Za-z0-9_-]+(?:\\?\.[A-Za-z0-9_-]+)*$`)

// selfExcluded: a name that the include list spells out, and the exclude list takes away.
func (l *linter) selfExcluded(f *flow) {
	if !f.runs() {
		return
	}
	if lists := f.GroupLists(); f.Has(conf.Checkpoint) && !lists.Include.IsDefault() {
		if filter, err := l.groupFilter(f); err == nil && filter != nil {
			l.shutOut(f, conf.Checkpoint, filter, lists, "group-filtered-out", "group", "groups.exclude")
		}
	}
	if lists := f.TopicLists(conf.Source); f.Has(conf.Source) && !lists.Include.IsDefault() {
		if filter, err := l.topicFilter(f, conf.Source); err == nil && filter != nil {
			l.shutOut(f, conf.Source, filter, lists, "group-topic-filtered-out", "topic", "topics.exclude")
		}
	}
	if lists := f.GroupLists(); f.Has(conf.Checkpoint) && spellsOut(lists.Include.Value) {
		if filter, err := l.groupFilter(f); err == nil && filter != nil {
			l.spelledOut(f, conf.Checkpoint, filter, lists, "group-filtered-out", "group", "groups.exclude")
		}
	}
	for _, r := range []conf.Reader{conf.Source, conf.Checkpoint} {
		if lists := f.TopicLists(r); f.Has(r) && spellsOut(lists.Include.Value) {
			if filter, err := l.topicFilter(f, r); err == nil && filter != nil {
				l.spelledOut(f, r, filter, lists, "group-topic-filtered-out", "topic", "topics.exclude")
			}
		}
	}
}

// shutOut: a pattern of the include list of which the exclude list lets nothing through.
func (l *linter) shutOut(f *flow, r conf.Reader, filter *mm2.Filter, lists conf.Lists, slug, what, key string) {
	if !l.sound(lists.Include) || !l.sound(lists.Exclude) {
		return
	}
	for _, p := range filter.Include() {
		if literal.MatchString(p) || strings.ContainsAny(p, "()|") || p == ".*" || !covered(p, beginning(p), filter.Exclude()) {
			continue
		}
		by := key + " = " + printable(lists.Exclude.Value)
		if lists.Exclude.IsDefault() {
			by = "the built-in " + key
		}
		at := f.where(r, lists.Include, what+"s")
		l.add(say{slug: slug, severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("The pattern %s asks for %ss that %s leaves out, all of them: what is excluded wins.", printable(p), what, by), leads: "Their offsets do not reach the target.", fixes: f.in.advice("Set %s to a list that does not match what %s asks for.", key, printable(p))})
		return
	}
}

// spellsOut says that a list has a name, and not only patterns.
func spellsOut(list string) bool {
	return slices.ContainsFunc(mm2.SplitList(strings.ReplaceAll(list, "|", ",")), literal.MatchString)
}

func (l *linter) spelledOut(f *flow, r conf.Reader, filter *mm2.Filter, lists conf.Lists, slug, what, key string) {
	if !l.sound(lists.Include) || !l.sound(lists.Exclude) {
		return
	}
	for _, p := range mm2.SplitList(strings.ReplaceAll(lists.Include.Value, "|", ",")) {
		if !literal.MatchString(p) {
			continue
		}
		n := strings.ReplaceAll(p, `\`, "")
		d := filter.Decide(n)
		if d.Verdict != mm2.Excluded {
			continue
		}
		by := key + " = " + printable(lists.Exclude.Value)
		if d.Default {
			by = "the built-in " + key + " (" + printable(d.Pattern) + ")"
		}
		at := f.where(r, lists.Include, what+"s")
		l.add(say{slug: slug, severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("The %s %s is asked for by name, and %s leaves it out: what is excluded wins.", what, n, by), leads: "Its offsets do not reach the target.", fixes: f.in.advice("Set %s to a list that does not match %s.", key, n)})
		return
	}
}

// overlap says that two filters may let the same name through. They do not where one names what it wants and the other lets none
// of it through, or where no two patterns can begin alike.
func overlap(a, b *mm2.Filter) bool {
	if a == nil || b == nil {
		return true
	}
	for _, x := range [][2]*mm2.Filter{{a, b}, {b, a}} {
		if names, all := spelled(x[0]); all {
			return slices.ContainsFunc(names, func(n string) bool {
				return x[0].Decide(n).Passes() && (x[1].Decide(n).Passes() || x[1].Decide(n).Verdict == mm2.Unknown)
			})
		}
	}
	for _, p := range beginnings(a, b.Exclude()) {
		for _, q := range beginnings(b, a.Exclude()) {
			if strings.HasPrefix(p, q) || strings.HasPrefix(q, p) {
				return true
			}
		}
	}
	return false
}

// spelled gives the names that an include list spells out; false where it has patterns.
func spelled(f *mm2.Filter) ([]string, bool) {
	var out []string
	for _, p := range f.Include() {
		for part := range strings.SplitSeq(p, "|") {
			if !literal.MatchString(part) {
				return nil, false
			}
			out = append(out, strings.ReplaceAll(part, `\`, ""))
		}
	}
	return out, true
}

// beginnings gives what every name that an include list lets through begins with, by pattern; "" where that is anything. Patterns
// of which the other side excludes everything are left out.
func beginnings(f *mm2.Filter, excluded []string) []string {
	var out []string
	for _, p := range f.Include() {
		if slices.Contains(excluded, p) {
			continue
		}
		if strings.ContainsAny(p, "()") && strings.Contains(p, "|") {
			return []string{""}
		}
		for part := range strings.SplitSeq(p, "|") {
			if begin := beginning(part); !covered(part, begin, excluded) {
				out = append(out, begin)
			}
		}
	}
	return out
}

func beginning(part string) string {
	part = strings.TrimPrefix(part, "^")
	n := 0
	for n < len(part) && (part[n] == '-' || part[n] == '_' || part[n] >= '0' && part[n] <= '9' || part[n]|0x20 >= 'a' && part[n]|0x20 <= 'z') {
		n++
	}
	if n < len(part) && n > 0 && strings.IndexByte("*?{", part[n]) >= 0 {
		n--
	}
	return part[:n]
}

// covered says that an exclude list leaves out whatever a pattern matches: it has the same pattern, or all names with that beginning.
func covered(part, begin string, excluded []string) bool {
	for _, e := range excluded {
		if stem, open := strings.CutSuffix(e, ".*"); e == part || open && stem == beginning(stem) && strings.HasPrefix(begin, stem) {
			return true
		}
	}
	return false
}
