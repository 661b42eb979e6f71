package conf

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Settings gives everything that a connector or the worker is given, by key; defaults that nobody wrote are not in it.
// In dedicated mode the three connectors differ in name and class only.
func (f *Flow) Settings(r Reader) []Effective {
	if r == Worker {
		return f.worker.sorted()
	}
	given, ok := f.of(r)
	if !ok {
		return nil
	}
	s := settings{}
	for k, e := range given {
		s.put(k, e)
	}
	s.putIfAbsent("name", filledIn(r.String()))
	s.putIfAbsent("connector.class", filledIn("org.apache.kafka.connect.mirror."+r.String()))
	return s.sorted()
}

// Get gives the value in force for a connector or the worker: the written one, else the default of the release. False
// when there is neither; a connector then has no such setting or no value for it.
func (f *Flow) Get(r Reader, key string) (Effective, bool) {
	s, ok := f.of(r)
	if !ok {
		return Effective{}, false
	}
	if e, ok := s[key]; ok {
		return e, true
	}
	k, ok := LookupKey(key)
	if !ok || !k.In(f.version) || k.ReadBy&r == 0 {
		return Effective{}, false
	}
	v, ok := k.Default(f.version)
	if !ok || f.own != nil && r == Worker && strings.Contains(v, "<source>") { // such names are connect-mirror-maker's
		return Effective{}, false
	}
	return Effective{Key: key, Value: v, Rule: RuleDefault}, true
}

// Given gives the value that a connector or the worker is given; false where nobody wrote it or filled it in.
func (f *Flow) Given(r Reader, key string) (Effective, bool) {
	s, ok := f.of(r)
	if !ok {
		return Effective{}, false
	}
	e, ok := s[key]
	return e, ok
}

// Text gives a value trimmed, as ConfigDef takes strings, or "".
func (f *Flow) Text(r Reader, key string) (string, Effective) {
	e, _ := f.Get(r, key)
	return trim(e.Value), e
}

// Bool gives a boolean setting; false where the release has no such setting. The error is an *Error with the line.
func (f *Flow) Bool(r Reader, key string) (bool, Effective, error) {
	e, ok := f.Get(r, key)
	switch {
	case !ok:
		return false, e, nil
	case strings.EqualFold(trim(e.Value), "true"):
		return true, e, nil
	case strings.EqualFold(trim(e.Value), "false"):
		return false, e, nil
	}
	return false, e, badValue(e, "true or false", r)
}

// Int gives a whole number; 0 where the release has no such setting. The error is an *Error with the line.
func (f *Flow) Int(r Reader, key string) (int64, Effective, error) {
	e, ok := f.Get(r, key)
	if !ok {
		return 0, e, nil
	}
	bits := 64
	if k, known := LookupKey(key); known && k.Type == Int {
		bits = 32
	} else if known && k.Type == Short {
		bits = 16
	}
	n, err := strconv.ParseInt(trim(e.Value), 10, bits)
	if err != nil {
		return 0, e, badValue(e, "a whole number of "+strconv.Itoa(bits)+" bits", r)
	}
	return n, e, nil
}

// Seconds gives a setting that counts seconds, such as refresh.groups.interval.seconds. It may be zero or negative:
// MirrorMaker 2 does not refuse that.
func (f *Flow) Seconds(r Reader, key string) (time.Duration, Effective, error) {
	return f.duration(r, key, time.Second)
}

// Millis gives a setting that counts milliseconds, such as offset.flush.interval.ms.
func (f *Flow) Millis(r Reader, key string) (time.Duration, Effective, error) {
	return f.duration(r, key, time.Millisecond)
}

func (f *Flow) duration(r Reader, key string, unit time.Duration) (time.Duration, Effective, error) {
	n, e, err := f.Int(r, key)
	if err != nil {
		return 0, e, err
	}
	const most = int64(1<<63 - 1)
	if n > most/int64(unit) || n < -most/int64(unit) {
		return 0, e, badValue(e, "a number that makes sense as a time", r)
	}
	return time.Duration(n) * unit, e, nil
}

func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

func badValue(e Effective, want string, r Reader) *Error {
	err := &Error{File: e.File, Line: e.Line,
		What: fmt.Sprintf("%s = %q", cmpOr(e.Written, e.Key), e.Value),
		Why:  fmt.Sprintf("%s expects %s and does not start with anything else", r, want),
		Next: "write " + want,
	}
	if i := strings.Index(e.Value, "#"); i > 0 {
		err.Why += "; a # behind a value is a part of the value"
		err.Next = "move the comment to a line of its own"
	} else if p := Placeholders(e.Value); len(p) > 0 {
		err.Why = "the value comes from a config provider (" + p[0] + ") and cannot be seen here"
		err.Next = "resolve the file where the provider is reachable, or write the value itself for this check"
	} else if strings.Contains(e.Value, "{{") || strings.Contains(e.Value, "{%") || strings.Contains(e.Value, "${") {
		err.Next = "run the check on the file after the template was filled in"
	}
	return err
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

var placeholder = regexp.MustCompile(`\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}`)

// Placeholders gives the references to config providers, ${provider:path:key} or ${provider:key}, within a value.
func Placeholders(value string) []string { return placeholder.FindAllString(value, -1) }

// Policy gives the replication policy of the flow; of unknown kind also when its separator comes from a config provider.
func (f *Flow) Policy() mm2.Policy {
	class, _ := f.Text(f.lead(), "replication.policy.class")
	separator, e := f.Text(f.lead(), "replication.policy.separator")
	alias, _ := f.Text(f.lead(), "source.cluster.alias")
	flag, _, err := f.Bool(f.lead(), "replication.policy.internal.topic.separator.enabled")
	given, _ := f.of(f.lead())
	_, hasFlag := given["replication.policy.internal.topic.separator.enabled"]
	p := mm2.NewPolicy(mm2.PolicyConfig{
		Class: class, Separator: separator, SeparatorSet: !e.IsDefault(),
		InternalSeparatorEnabled: !hasFlag || err != nil || flag, SourceAlias: alias,
	}, f.version)
	if len(Placeholders(separator)) > 0 {
		p.Kind = mm2.PolicyUnknown
	}
	return p
}

// Location gives offset-syncs.topic.location.
func (f *Flow) Location() mm2.Location {
	if l, _ := f.Text(f.lead(), "offset-syncs.topic.location"); l == string(mm2.OnTarget) {
		return mm2.OnTarget
	}
	return mm2.OnSource
}

// Names gives the internal topics of the flow: MirrorMaker 2's by the connectors' aliases (normally those of the clusters
// key, but source.cluster.alias and target.cluster.alias can be set), Connect's as the worker has them.
func (f *Flow) Names() mm2.Names {
	source, _ := f.Text(f.lead(), "source.cluster.alias")
	target, _ := f.Text(f.lead(), "target.cluster.alias")
	location := f.Location()
	n := mm2.NamesOf(f.Policy(), source, target, location, f.version)
	n.OffsetSyncsOn = f.Source
	if location == mm2.OnTarget {
		n.OffsetSyncsOn = f.Target
	}
	n.ConnectOffsets, _ = f.Text(Worker, "offset.storage.topic")
	n.ConnectStatus, _ = f.Text(Worker, "status.storage.topic")
	n.ConnectConfigs, _ = f.Text(Worker, "config.storage.topic")
	return n
}
