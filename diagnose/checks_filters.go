package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// The checks 203 and 204: what the connectors' lists leave out.

func checkGroupFilter(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.Settings)
	if f.named.groups {
		return f.namedGroupFiltered()
	}
	gs, _ := f.src.listed.Get()
	var byDefault, odd []string
	var why string
	for i := range gs {
		g := &gs[i]
		if g.State.Absent() || g.ProtocolType != "" && g.ProtocolType != "consumer" || !f.commitsOnMirrored(g) {
			continue
		}
		d := f.groupFilter(g.ID)
		if !d.known || d.passes {
			continue
		}
		switch {
		case d.excluded && d.entry.Default:
			byDefault = append(byDefault, g.ID)
		case !d.excluded && nearMiss(d.entry.Value, g.ID):
			odd = append(odd, g.ID)
			why = d.left("group id")
		}
	}
	slices.Sort(byDefault)
	slices.Sort(odd)
	switch {
	case len(odd) > 0:
		e, _ := f.setting(connCheckpoint, keyGroups).Get()
		return &finding.Finding{Severity: finding.Warning, Subject: finding.Subject{Group: odd[0], File: e.File, Line: e.Line, Key: keyGroups},
			Observed: finding.Observed{{Name: "left out", Value: list(odd, 5)}, {Name: keyGroups, Value: e.Value}},
			Because:  why + "; MirrorMaker 2 matches whole names, case counts",
			Fixes:    []finding.Fix{propertyFix(f, "If these groups are meant, write the pattern so that it matches the whole name.", keyGroups, e.Value+".*", f.discoveryBudget())}}
	case len(byDefault) > 0:
		e, _ := f.setting(connCheckpoint, keyGroupsExclude).Get()
		return &finding.Finding{Severity: finding.Info, Subject: finding.Subject{Group: byDefault[0]}, Subjects: groupSubjects(byDefault),
			Observed: finding.Observed{{Name: "left out", Value: list(byDefault, 5)}, {Name: keyGroupsExclude, Value: e.Value + " (" + where(e) + ")"}},
			Because:  fmt.Sprintf("the default of groups.exclude leaves out %s: %s", finding.Count(len(byDefault), "group"), list(byDefault, 5)),
			Fixes:    []finding.Fix{propertyFix(f, "If one of them must fail over, set groups.exclude to what shall really stay out; the value replaces the default.", keyGroupsExclude, "console-consumer-.*, __.*", f.discoveryBudget())}}
	}
	return nil
}

// namedGroupFiltered: a group that was asked for is left out, so the operator expects otherwise.
func (f *flowView) namedGroupFiltered() *finding.Finding {
	seen := map[string]bool{}
	for _, gp := range f.rows {
		if seen[gp.group] {
			continue
		}
		seen[gp.group] = true
		d := f.groupFilter(gp.group)
		if !d.known || d.passes {
			continue
		}
		key, val := keyGroups, d.entry.Value+", "+regexQuote(gp.group)
		if d.excluded {
			key, val = keyGroupsExclude, sparing(d.entry.Value, d.pattern, gp.group)
		}
		return &finding.Finding{Severity: finding.Error, Subject: finding.Subject{Group: gp.group, File: d.entry.File, Line: d.entry.Line, Key: key},
			Observed:    finding.Observed{{Name: key, Value: d.entry.Value}, {Name: "set in", Value: where(d.entry)}},
			Because:     d.left("group id"),
			Consequence: "MirrorMaker 2 never looks at the group: no checkpoint, no offset on " + f.Target + ".",
			Confirm:     []finding.Command{checkpointsCommand(f)},
			Fixes:       []finding.Fix{propertyFix(f, "Let the group through, then restart MirrorMaker 2.", key, val, f.discoveryStart()+f.emitBudget()+f.commitBudget())}}
	}
	return nil
}

// sparing lets one name through an exclude list and leaves everything else that the pattern excludes where it is. A name with
// a comma cannot be written in a list; then the pattern goes.
func sparing(listed, pattern, name string) string {
	if strings.Contains(name, ",") || pattern == "" {
		return without(listed, pattern)
	}
	var out []string
	for p := range strings.SplitSeq(listed, ",") {
		if p = strings.TrimSpace(p); p == pattern {
			p = "(?!" + regexQuote(name) + "$)(?:" + p + ")"
		}
		out = append(out, p)
	}
	return strings.Join(out, ", ")
}

// without takes one pattern out of a list.
func without(listed, pattern string) string {
	var keep []string
	for p := range strings.SplitSeq(listed, ",") {
		if p = strings.TrimSpace(p); p != pattern && p != "" {
			keep = append(keep, p)
		}
	}
	return strings.Join(keep, ", ")
}

// regexQuote makes a name a pattern that matches it alone.
func regexQuote(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`\.[]{}()*+?^$|`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// commitsOnMirrored says that the group has a position on some topic that this flow mirrors.
func (f *flowView) commitsOnMirrored(g *snapshot.Group) bool {
	os, st := g.Offsets.Get()
	if st != snapshot.Known {
		return false
	}
	return slices.ContainsFunc(os, func(o snapshot.Committed) bool {
		d := f.topicFilter(o.Topic)
		return d.known && d.passes && !f.isMM2Topic(o.Topic) && !f.comesFromTarget(o.Topic)
	})
}

// checkTopicFilter: a group passes, and none of its topics does, or one that was asked for does not.
func checkTopicFilter(v *View, s subject) *finding.Finding {
	f := s.flow
	if d := f.groupFilter(s.group); !d.known || !d.passes {
		return nil
	}
	var out, in []string
	var first decision
	for _, gp := range f.rowsOfGroup(s.group) {
		d := f.topicFilter(gp.topic)
		if d.known && !d.passes {
			if len(out) == 0 {
				first = d
			}
			out = append(out, gp.topic)
		} else {
			in = append(in, gp.topic)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 || len(in) > 0 && !f.named.topics {
		return nil // some topics are mirrored: the others are left out on purpose, row by row
	}
	fd := &finding.Finding{Severity: finding.Info, Subject: finding.Subject{Group: s.group, Topic: out[0], File: first.entry.File, Line: first.entry.Line, Key: first.entry.Key},
		Observed:    finding.Observed{{Name: "topics left out", Value: list(out, 5)}, {Name: first.entry.Key, Value: first.entry.Value}},
		Because:     first.left("topic name"),
		Consequence: "The group's positions on " + list(out, 5) + " are not translated in " + f.Name() + ".",
		Confirm:     []finding.Command{groupCommand(f.src, s.group)}}
	switch {
	case f.named.topics || f.named.groups:
		fd.Severity = finding.Error
	case nearMiss(first.entry.Value, out[0]):
		fd.Severity = finding.Warning
	}
	val := first.entry.Value + ", " + regexQuote(out[0])
	if first.excluded {
		val = without(first.entry.Value, first.pattern)
	}
	fd.Fixes = []finding.Fix{propertyFix(f, "If this topic is meant to be mirrored, let it through, then restart MirrorMaker 2.", first.entry.Key, val, f.topicBudget()+f.emitBudget()+f.commitBudget())}
	return fd
}
