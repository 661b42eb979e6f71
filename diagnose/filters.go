package diagnose

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// decision is what a pair of include and exclude lists makes of a name.
type decision struct {
	known    bool
	passes   bool
	excluded bool                 // by the exclude list; else it is not in the include list
	pattern  string               // the alternative that decided
	entry    snapshot.ConfigEntry // the setting that decided
	why      string               // when not known
}

// left says in words why a name is left out.
func (d decision) left(what string) string {
	if d.excluded {
		s := "`" + d.entry.Key + "` (" + where(d.entry) + ") excludes it: pattern `" + d.pattern + "`"
		if d.entry.Default {
			s = "the default of `" + d.entry.Key + "` excludes it: pattern `" + d.pattern + "`"
		}
		return s
	}
	return "`" + d.entry.Key + " = " + d.entry.Value + "` (" + where(d.entry) + ") does not match the whole " + what
}

// filters are the compiled lists of a flow, by connector and key.
type filters struct {
	compiled map[[2]string]*compiledFilter
}

// remembered is the most names that a filter keeps its decisions for: every check of a row asks for its group and topic again.
const remembered = 100_000

type compiledFilter struct {
	inc, exc snapshot.ConfigEntry
	filter   *mm2.Filter
	why      string
	decided  map[string]decision
}

func newFilters() filters { return filters{compiled: map[[2]string]*compiledFilter{}} }

func (f *flowView) decide(connector, include, exclude, name string) decision {
	f.v.touch(finding.Settings)
	key := [2]string{connector, include}
	c := f.filters.compiled[key]
	if c == nil {
		c = f.compile(connector, include, exclude)
		f.filters.compiled[key] = c
	}
	if c.filter == nil {
		return decision{why: c.why}
	}
	if d, ok := c.decided[name]; ok {
		return d
	}
	d := c.filter.Decide(name)
	out := decision{known: d.Verdict != mm2.Unknown, passes: d.Passes(), why: d.Why, pattern: d.Pattern, entry: c.inc}
	if d.Verdict == mm2.Excluded {
		out.excluded, out.entry = true, c.exc
	}
	if len(c.decided) < remembered {
		c.decided[name] = out
	}
	return out
}

func (f *flowView) compile(connector, include, exclude string) *compiledFilter {
	inc, exc := f.settings.get(connector, include), f.settings.get(connector, exclude)
	c := &compiledFilter{inc: inc.Or(snapshot.ConfigEntry{}), exc: exc.Or(snapshot.ConfigEntry{}), decided: map[string]decision{}}
	if !inc.Known() || !exc.Known() {
		c.why = inc.Why().String()
		return c
	}
	var err error
	if c.filter, err = mm2.NewFilter(c.inc.Value, c.exc.Value, c.exc.Default); err != nil {
		c.filter, c.why = nil, err.Error()
	}
	return c
}

// groupFilter is applied by the checkpoint connector.
func (f *flowView) groupFilter(group string) decision {
	return f.decide(connCheckpoint, keyGroups, keyGroupsExclude, group)
}

// topicFilter is the checkpoint connector's and task's: topics only, no internal or cycle rule.
func (f *flowView) topicFilter(topic string) decision {
	return f.olderDefault(topic, f.decide(connCheckpoint, keyTopics, keyTopicsExclude, topic))
}

// sourceTopicFilter is the source connector's list, before its internal and cycle rules.
func (f *flowView) sourceTopicFilter(topic string) decision {
	return f.olderDefault(topic, f.decide(connSource, keyTopics, keyTopicsExclude, topic))
}

// olderDefault covers a version that is not known: up to 3.9 the default of topics.exclude also leaves out every name that
// ends in .internal or -internal (KIP-1074 narrowed it in 4.0). Where such a topic has no copy, the older default is at work.
func (f *flowView) olderDefault(topic string, d decision) decision {
	if !d.known || !d.passes || !f.gens.version.IsZero() {
		return d
	}
	exc, st := f.settings.get(connCheckpoint, keyTopicsExclude).Get()
	if st != snapshot.Known || !exc.Default || f.dst.topics[f.remote(topic)] != nil {
		return d
	}
	older, err := mm2.NewFilter(".*", mm2.DefaultTopicsExclude(mm2.V(3, 9, 1)), true)
	if err != nil {
		return d
	}
	if o := older.Decide(topic); o.Verdict == mm2.Excluded {
		return decision{known: true, excluded: true, pattern: o.Pattern, entry: exc}
	}
	return d
}

// nearMiss says that a pattern list misses a name only by case, or matches a part of it: MirrorMaker 2 matches whole names
// and case matters.
func nearMiss(list, name string) bool {
	for p := range strings.SplitSeq(list, ",") {
		p = strings.TrimSpace(p)
		if p == "" {
			continue
		}
		if strings.EqualFold(p, name) || len(p) > 2 && strings.HasPrefix(name, p) && isPlain(p) {
			return true
		}
	}
	return false
}

func isPlain(p string) bool { return !strings.ContainsAny(p, `*+?()[]{}|^$\`) }
