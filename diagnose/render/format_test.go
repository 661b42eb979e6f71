package render

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

func TestObservedText(t *testing.T) {
	var none *int64
	for _, c := range []struct {
		in   snapshot.Named
		want string
	}{
		{snapshot.Named{Name: "sourceOffset", Value: int64(1000500)}, "source offset 1000500"},
		{snapshot.Named{Name: "mm2Expected", Value: int32(7)}, "mm2 expected 7"},
		{snapshot.Named{Name: "sync.group.offsets.enabled", Value: false}, "sync.group.offsets.enabled = false"},
		{snapshot.Named{Name: "ageMs", Value: int64(5000)}, "age 5 s"},
		{snapshot.Named{Name: "lastCommitMs", Value: int64(1772460000000)}, "last commit 2026-03-02 14:00:00Z"},
		{snapshot.Named{Name: "hosts", Value: []string{"a", "b", "c", "d", "e", "f", "g"}}, "hosts a, b, c, d, e and 2 more"},
		{snapshot.Named{Name: "hosts", Value: []string{}}, "hosts none"},
		{snapshot.Named{Name: "offset", Value: nil}, "offset none"},
		{snapshot.Named{Name: "offset", Value: none}, "offset none"},
		{snapshot.Named{Name: "value", Value: ""}, `value ""`},
		{snapshot.Named{Name: "name", Value: "a\x1bb"}, `name a\x1bb`},
		{snapshot.Named{Name: "code", Value: finding.Code(302)}, "code MM2D-302"},
		{snapshot.Named{Name: "state", Value: kafka.GroupState("Stable")}, "state Stable"},
	} {
		if got := named(term.Screen{}, c.in); got != c.want {
			t.Errorf("%v: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSubjects(t *testing.T) {
	at := func(group, topic string, part int32) finding.Subject {
		return finding.Subject{Group: group, Topic: topic, Partition: &part}
	}
	for _, c := range []struct {
		name  string
		list  []finding.Subject
		total int
		want  string
	}{
		{"one partition", []finding.Subject{at("g", "t", 3)}, 1, "group g, topic t, partition 3"},
		{"a range", []finding.Subject{at("g", "t", 5), at("g", "t", 0), at("g", "t", 1), at("g", "t", 2)}, 4, "group g, topic t, partitions 0-2, 5"},
		{"no single partition", []finding.Subject{at("g", "t", -1)}, 1, "group g, topic t"},
		{"two groups", []finding.Subject{at("g", "t", 0), at("h", "t", 0)}, 2, "groups g, h, topic t, 2 partitions"},
		{"more than listed", []finding.Subject{at("g", "t", 0), at("h", "t", 0)}, 240, "groups g, h, topic t, 240 partitions"},
		{"more groups than listed", []finding.Subject{{Group: "g"}, {Group: "h"}}, 30, "groups g, h, 30 in all"},
		{"four are all named", []finding.Subject{{Group: "a"}, {Group: "b"}, {Group: "c"}, {Group: "d"}}, 4, "groups a, b, c, d"},
		{"five are not", []finding.Subject{{Group: "a"}, {Group: "b"}, {Group: "c"}, {Group: "d"}, {Group: "e"}}, 5, "groups a, b, c and 2 more"},
		{"a line of a file", []finding.Subject{{File: "mm2.properties", Line: 3, Column: 1, Key: "a->b.enabled"}}, 1, "mm2.properties:3:1 (a->b.enabled)"},
		{"a cluster", []finding.Subject{{Cluster: "b"}}, 1, "cluster b"},
		{"nothing", []finding.Subject{{}}, 1, ""},
	} {
		if got := subjects(term.Screen{}, c.list[0], c.list, c.total); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for n, want := range map[int64]string{0: "0 s", 119: "119 s", 120: "2 min", 7199: "119 min", 7200: "2 h", 172800: "2 days"} {
		if got := seconds(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
