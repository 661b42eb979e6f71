package diagnose

import (
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// selectRows decides which groups of the source are followed: those that were named, else all that MirrorMaker 2 could
// translate. What is left out is counted with its reason, never dropped silently.
func (f *flowView) selectRows(groups, topics []matcher) {
	gs, st := f.src.listed.Get()
	f.v.touch(finding.SourceGroups)
	if st != snapshot.Known {
		return
	}
	var workers, excluded, filtered, foreign, typed, own []string
	for i := range gs {
		g := &gs[i]
		named := len(groups) > 0
		if named && !anyMatch(groups, g.ID) {
			continue
		}
		if g.State.Absent() {
			continue
		}
		if t := g.Type.Or(""); t == kafka.TypeShare || t == kafka.TypeStreams {
			typed = append(typed, g.ID)
			continue
		}
		if g.ProtocolType != "" && g.ProtocolType != "consumer" {
			workers = append(workers, g.ID)
			continue
		}
		d := f.groupFilter(g.ID)
		if !named && d.known && !d.passes {
			if d.excluded && d.entry.Default {
				excluded = append(excluded, g.ID)
			} else {
				filtered = append(filtered, g.ID)
			}
			continue
		}
		os, ost := g.Offsets.Get()
		if ost == snapshot.Unknown {
			f.rows = append(f.rows, groupPartition{flow: f, group: g.ID, topic: "", part: -1})
			continue
		}
		for _, o := range os {
			if len(topics) > 0 && !anyMatch(topics, o.Topic) {
				continue
			}
			if f.comesFromTarget(o.Topic) {
				foreign = append(foreign, g.ID)
				continue
			}
			byName := slices.ContainsFunc(groups, func(m matcher) bool { return m.text == g.ID }) // who asks for it wants an answer
			if f.isMM2Topic(o.Topic) && (!byName || strings.HasPrefix(o.Topic, "__")) {
				own = append(own, g.ID)
				continue
			}
			f.rows = append(f.rows, groupPartition{flow: f, group: g.ID, topic: o.Topic, part: o.Partition, remote: f.remote(o.Topic)})
		}
	}
	add := func(reason string, ids []string) {
		slices.Sort(ids)
		ids = slices.Compact(ids)
		if len(ids) > 0 {
			f.skipped = append(f.skipped, SkippedGroups{Flow: f.Name(), Reason: reason, Count: len(ids), Some: ids[:min(len(ids), 10)]})
		}
	}
	add("left out by the default of groups.exclude", excluded)
	add("left out by groups or groups.exclude", filtered)
	add("Connect workers and others that are no consumer groups", workers)
	add("share and streams groups, which MirrorMaker 2 does not see", typed)
	add("commits on Kafka's and MirrorMaker 2's own topics, or on topics named like them, which are followed for a group that --group names", own)
	add("commits on topics that came from "+f.Target+", not translatable in this flow", foreign)
}

// eligible says that MirrorMaker 2 should translate the row: its group and its topic pass the checkpoint connector's
// filters. Where the filters are not known, a checkpoint or an assignment proves it, and a copy speaks for the topic.
func (gp groupPartition) eligible() snapshot.Fact[bool] {
	f := gp.flow
	g, t := f.groupFilter(gp.group), f.topicFilter(gp.topic)
	if g.known && !g.passes || t.known && !t.passes {
		return snapshot.Is(false)
	}
	if g.known && t.known {
		return snapshot.Is(true)
	}
	if gp.checkpoint().Known() {
		return snapshot.Is(true)
	}
	if a, st := gp.isAssigned().Get(); st == snapshot.Known && a && gp.targetTopic().Known() {
		return snapshot.Is(true)
	}
	why := g.why
	if g.known {
		why = t.why
	}
	return snapshot.NotKnown[bool](&snapshot.Gap{Code: "not-known", Why: "whether the filters admit it is not known: " + why})
}

// isEligible says that eligible is known to hold.
func (gp groupPartition) isEligible() bool { return gp.eligible().Or(false) }

// matcher is one --group or --topic value: a glob, or a Java regular expression between slashes.
type matcher struct {
	text string
	fits func(string) bool
}

func anyMatch(ms []matcher, s string) bool {
	for _, m := range ms {
		if m.fits(s) {
			return true
		}
	}
	return false
}

// glob matches * (any run) and ? (one character); everything else is literal.
func glob(pattern, s string) bool {
	var star, mark = -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]) && pattern[p] != '*':
			p++
			i++
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case star >= 0:
			p = star + 1
			mark++
			i = mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// literal says that a --group or --topic value names one thing.
func literal(text string) bool {
	return !strings.ContainsAny(text, "*?") && !(len(text) > 2 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/"))
}
