// Package diagnose is the doctor: a pure function from a snapshot of two clusters to a report.
//
// What may enter: the chain of links, the checks, what causes what, and the words of findings and fixes. No client, no clock,
// no terminal: the report's only clock is the time the snapshot was taken, and the same snapshot gives the same bytes.
package diagnose

import (
	"slices"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Ask is a question that the snapshot leaves open. Whoever holds the sources may answer it with another look and call Run
// again.
type Ask struct {
	// Recheck asks for these groups and topics to be read again, whole and in the same order, before an error is believed.
	Groups []string
	Topics []string
	// AfterMs is how long after the first look the second must begin to decide; 0 = at once.
	AfterMs int64
	// First says that it is to be compared with the first of two looks again, instead of the second.
	First bool
}

// Options of one run; everything else stands in the snapshot.
type Options struct {
	Command string
	Tool    Tool
	// Only names the checks that are made; nil: all. The verdict of a part is not one of the whole.
	Only []finding.Code
	// Accepted gives the reason for which somebody accepts a finding, "" for none; nil: nothing is accepted. Severity gives another
	// severity than the rule's, 0 for none.
	Accepted func(*finding.Finding) string
	Severity func(*finding.Finding) finding.Severity
}

// Run judges a snapshot. The asks name what a second look would decide: an error is believed when it is still there.
func Run(s *snapshot.Snapshot, o Options) (*Report, []Ask) {
	v := newView(s)
	groups, gerr := matchers(s.Scope.Groups)
	topics, terr := matchers(s.Scope.Topics)
	for _, f := range v.flows {
		f.named.groups, f.named.topics = len(groups) > 0, len(topics) > 0
		f.scope = groups
		f.selectRows(groups, topics)
	}
	e := &engine{v: v}
	e.notChecked = append(append(e.notChecked, gerr...), terr...)
	e.run(slices.DeleteFunc(allChecks(), func(c check) bool { return o.Only != nil && !slices.Contains(o.Only, c.Code) }))
	e.named(groups, topics)
	e.nameBugs()
	e.attach()
	e.join()
	e.accept(o)
	e.settleSkips()
	r := v.report(e, o)
	return r, slices.Concat(asks(r), v.beatsAsk(), v.pauseAsk())
}

// allChecks is the table of checks, in the order of the chain.
func allChecks() []check {
	return slices.Concat(contactChecks, originChecks, healthChecks, connectChecks, replicationChecks, progressChecks, syncsChecks, internalChecks,
		checkpointChecks, strayChecks, commitChecks, ownershipChecks, expiryChecks, epochChecks, accuracyChecks, distanceChecks, topicAgeChecks, aclChecks, bugChecks, runtimeChecks, clusterChecks)
}

// asks wants a second look at everything that an error speaks of.
func asks(r *Report) []Ask {
	var a Ask
	for _, f := range r.Findings {
		if f.Severity != finding.Error || f.Code < 100 || f.Code == 217 {
			continue
		}
		for _, s := range append(f.Subjects, f.Subject) {
			if s.Group != "" {
				a.Groups = append(a.Groups, s.Group)
			}
			if s.Topic != "" {
				a.Topics = append(a.Topics, s.Topic)
			}
		}
		if len(a.Groups) == 0 && len(a.Topics) == 0 {
			a.Groups = []string{"*"}
		}
	}
	if len(a.Groups)+len(a.Topics) == 0 {
		return nil
	}
	slices.Sort(a.Groups)
	slices.Sort(a.Topics)
	a.Groups, a.Topics = slices.Compact(a.Groups), slices.Compact(a.Topics)
	return []Ask{a}
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
