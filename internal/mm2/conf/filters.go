package conf

import (
	"errors"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Filter class names of Kafka itself.
const (
	defaultGroupFilter = "org.apache.kafka.connect.mirror.DefaultGroupFilter"
	defaultTopicFilter = "org.apache.kafka.connect.mirror.DefaultTopicFilter"
)

// Lists are the values that make a filter.
type Lists struct {
	Include, Exclude Effective
}

// GroupLists gives groups and groups.exclude as the checkpoint connector has them.
func (f *Flow) GroupLists() Lists { return f.lists("groups", Checkpoint) }

// TopicLists gives topics and topics.exclude as the source or the checkpoint connector has them.
func (f *Flow) TopicLists(r Reader) Lists { return f.lists("topics", r) }

// lists: up to 2.6 the exclude list is called X.blacklist; from 2.7 to 3.9 that name still counts where X.exclude is not
// set; from 4.0 on (KAFKA-17529) it is ignored.
func (f *Flow) lists(what string, r Reader) Lists {
	var l Lists
	l.Include, _ = f.Get(r, what)
	exclude, old := what+".exclude", what+".blacklist"
	switch v := f.version; {
	case v.IsZero() || v.AtLeast(4, 0, 0):
		l.Exclude, _ = f.Get(r, exclude)
	case v.Before(2, 7, 0):
		l.Exclude, _ = f.Get(r, old)
	default:
		given, _ := f.of(r)
		_, set := given[exclude]
		if e, oldSet := given[old]; oldSet && !set {
			l.Exclude = e
		} else {
			l.Exclude, _ = f.Get(r, exclude)
		}
	}
	return l
}

// GroupFilter gives the filter for groups of the checkpoint connector. It is nil, without an error, when another
// group.filter.class is set: what that lets through is not known. The error is an *Error with the line.
func (f *Flow) GroupFilter() (*mm2.Filter, error) {
	if class, e := f.Text(Checkpoint, "group.filter.class"); !e.IsDefault() && class != defaultGroupFilter {
		return nil, nil
	}
	return newFilter(f.GroupLists(), Checkpoint)
}

// TopicFilter gives the filter for topics of the source or the checkpoint connector; nil with another topic.filter.class.
func (f *Flow) TopicFilter(r Reader) (*mm2.Filter, error) {
	if class, e := f.Text(r, "topic.filter.class"); !e.IsDefault() && class != defaultTopicFilter {
		return nil, nil
	}
	return newFilter(f.TopicLists(r), r)
}

// TopicRules gives what the source connector decides by.
func (f *Flow) TopicRules() (mm2.TopicRules, error) {
	filter, err := f.TopicFilter(Source)
	if err != nil {
		return mm2.TopicRules{}, err
	}
	target, _ := f.Text(Source, "target.cluster.alias")
	rules := mm2.TopicRules{Filter: filter, Policy: f.Policy(), Target: target, Version: f.version}
	given, _ := f.of(Source)
	if e, ok := given["heartbeats.replication.enabled"]; ok && (f.version.IsZero() || f.version.AtLeast(4, 0, 0)) {
		on, _, err := f.Bool(Source, "heartbeats.replication.enabled")
		rules.NoHeartbeats = err == nil && !on && !e.IsDefault()
	}
	return rules, nil
}

func newFilter(l Lists, r Reader) (*mm2.Filter, error) {
	for _, e := range []Effective{l.Include, l.Exclude} {
		if len(Placeholders(e.Value)) > 0 {
			return nil, badValue(e, "a list of patterns", r)
		}
	}
	filter, err := mm2.NewFilter(l.Include.Value, l.Exclude.Value, l.Exclude.IsDefault())
	var bad *mm2.FilterError
	if errors.As(err, &bad) {
		e := l.Include
		if bad.Exclude {
			e = l.Exclude
		}
		fault := badValue(e, "Java regular expressions for whole names, separated by commas", r)
		fault.Why = bad.Error() + "; " + r.String() + " does not start"
		return nil, fault
	}
	return filter, err
}
