package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// subjects says in one phrase what a finding speaks of; total counts also those that are not in the list.
func subjects(s term.Screen, first finding.Subject, list []finding.Subject, total int) string {
	if len(list) == 0 {
		list = []finding.Subject{first}
	}
	var groups, topics, connectors, clusters, files, parts []string
	var partitions []int32
	for _, x := range list {
		groups = add(groups, s.Clean(x.Group))
		topics = add(topics, s.Clean(x.Topic))
		connectors = add(connectors, s.Clean(x.Connector))
		clusters = add(clusters, s.Clean(x.Cluster))
		files = add(files, place(s, x))
		if x.Partition != nil && *x.Partition >= 0 {
			partitions = append(partitions, *x.Partition)
		}
	}
	for _, kind := range []struct {
		noun string
		list []string
	}{{"group", groups}, {"topic", topics}, {"connector", connectors}, {"cluster", clusters}, {"", files}} {
		if len(kind.list) == 0 {
			continue
		}
		noun := kind.noun
		if noun != "" && len(kind.list) > 1 {
			noun += "s"
		}
		parts = append(parts, strings.TrimSpace(noun+" "+some(s, kind.list, 3)))
	}
	cut := total > len(list)
	switch {
	case len(partitions) == 0:
	case len(groups) <= 1 && len(topics) <= 1 && !cut:
		parts = append(parts, plural("partition", len(partitions))+" "+ranges(partitions))
	default:
		parts = append(parts, finding.Count(max(total, len(partitions)), "partition"))
		cut = false
	}
	if cut {
		parts = append(parts, fmt.Sprintf("%s in all", s.Number(int64(total))))
	}
	return strings.Join(parts, ", ")
}

// each lists the subjects one (group, topic) a line, for -v.
func each(s term.Screen, list []finding.Subject) []string {
	var lines []string
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && list[j].Group == list[i].Group && list[j].Topic == list[i].Topic &&
			list[j].Partition != nil && list[i].Partition != nil {
			j++
		}
		lines = append(lines, subjects(s, list[i], list[i:j], j-i))
		i = j
	}
	return lines
}

// place is file:line (key) of a configuration.
func place(s term.Screen, x finding.Subject) string {
	at := s.Clean(x.File)
	if at != "" && x.Line > 0 {
		at += ":" + strconv.Itoa(x.Line)
		if x.Column > 0 {
			at += ":" + strconv.Itoa(x.Column)
		}
	}
	switch {
	case x.Key == "":
		return at
	case at == "":
		return s.Clean(x.Key)
	}
	return at + " (" + s.Clean(x.Key) + ")"
}

func add(list []string, x string) []string {
	if x == "" || slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

func plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// ranges gives "0-2, 5" for 0, 1, 2, 5.
func ranges(list []int32) string {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(int(list[i]))
		if j > i {
			part += "-" + strconv.Itoa(int(list[j]))
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
