// Package lint is the linter behind `check`: rules over configurations of MirrorMaker 2, with the place of each finding.
//
// What may enter: reading configuration texts of every kind MirrorMaker 2 is run with, rules over what they resolve to, and the
// settings in force for showing. Pure: texts in, findings out; no files, no clients, no clock.
package lint

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// File is one text with the name that findings give it.
type File struct {
	Name  string
	Bytes []byte
}

// Options of a run.
type Options struct {
	// Version of MirrorMaker 2; zero: what a resource states, else a rule that depends on it is judged for 2.7.0 and later together.
	Version mm2.Version
	// Range is what a vendor's build may behave like; zero: the version alone. A bug is claimed only where all of it has it.
	Range mm2.Range
}

// Run judges all files together: connectors of one flow may stand in several. Findings come by file and line, in the order
// in which the files were given. A text that does not parse is a finding.
func Run(files []File, o Options) []finding.Finding {
	l := read(files, o)
	l.judge()
	l.placed()
	return l.findings()
}

// linter is one run.
type linter struct {
	o      Options
	order  map[string]int // of the files
	setups []*setup
	out    []finding.Finding
	seen   map[string]bool
	marks  map[string][]place // template text, by file
	// secrets are places of literal secrets, by file.
	secrets map[string][]place
	// wrong are settings whose value was found at fault: no rule builds on them.
	wrong   map[place]bool
	names   map[string][]*flow
	filters map[filterKey]compiled
	// workerFiles are those of Connect workers.
	workerFiles []workerFile
}

func newLinter(o Options) *linter {
	return &linter{o: o, order: map[string]int{}, seen: map[string]bool{}, marks: map[string][]place{}, secrets: map[string][]place{}, wrong: map[place]bool{}, filters: map[filterKey]compiled{}}
}

func read(files []File, o Options) *linter {
	l := newLinter(o)
	var connectors []conf.Connector
	for i, f := range files {
		if _, again := l.order[f.Name]; !again {
			l.order[f.Name] = i
			connectors = append(connectors, l.file(f)...)
		}
	}
	l.connect(connectors)
	return l
}

// judge runs the rules that need more than one key.
func (l *linter) judge() {
	for _, s := range l.setups {
		if s.Setup == nil {
			continue
		}
		for _, f := range s.flows {
			for _, rule := range flowRules {
				rule(l, f)
			}
		}
		for _, rule := range setupRules {
			rule(l, s)
		}
	}
	l.together()
	l.templates()
	l.inline()
}

// flowRules see one flow, setupRules all flows of one configuration.
var (
	flowRules = []func(*linter, *flow){(*linter).twoClusters, (*linter).oneAddress, (*linter).notEnabled, (*linter).checkpointConnector, (*linter).groupSync, (*linter).states, (*linter).refreshing, (*linter).intervals, (*linter).syncsOff, (*linter).syncsConflict,
		(*linter).naming, (*linter).agree, (*linter).sharedFilters, (*linter).lostDefaults, (*linter).selfExcluded, (*linter).factors, (*linter).converters, (*linter).outranked,
		(*linter).exactlyOnce}
	setupRules = []func(*linter, *setup){(*linter).addresses, (*linter).credentials, (*linter).overwritten, (*linter).stated, (*linter).providersLost, (*linter).workerGroups}
)

// place is where a setting stands, or where a missing one would.
type place struct {
	file      string
	line, col int
	key       string
}

// findings sorts what was found.
func (l *linter) findings() []finding.Finding {
	slices.SortStableFunc(l.out, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(l.order[a.Subject.File], l.order[b.Subject.File]), cmp.Compare(a.Subject.Line, b.Subject.Line),
			cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject.Column, b.Subject.Column), cmp.Compare(a.Slug, b.Slug), cmp.Compare(a.Subject.Key, b.Subject.Key))
	})
	return l.out
}
