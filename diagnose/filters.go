package diagnose

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
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

// filters decide by the checkpoint connector's lists for groups, and by each connector's own for topics.
type filters struct {
	f *flowView
}

func newFilters(f *flowView) filters { return filters{f} }

func (f *flowView) decide(connector, include, exclude, name string) decision {
	f.v.touch(finding.Settings)
	inc, ist := f.settings.get(connector, include).Get()
	exc, est := f.settings.get(connector, exclude).Get()
	if ist != snapshot.Known || est != snapshot.Known {
		g := f.settings.get(connector, include).Why()
		return decision{why: g.String()}
	}
	return decideLists(inc, exc, name)
}

// groupFilter is applied by the checkpoint connector.
func (f *flowView) groupFilter(group string) decision {
	return f.decide(connCheckpoint, keyGroups, keyGroupsExclude, group)
}

// topicFilter is the checkpoint connector's and task's: topics only, no internal or cycle rule.
func (f *flowView) topicFilter(topic string) decision {
	return f.decide(connCheckpoint, keyTopics, keyTopicsExclude, topic)
}

// sourceTopicFilter is the source connector's list, before its internal and cycle rules.
func (f *flowView) sourceTopicFilter(topic string) decision {
	return f.decide(connSource, keyTopics, keyTopicsExclude, topic)
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
