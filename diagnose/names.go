package diagnose

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/javaregex"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// policy is the flow's naming as the release at work has it.
func (f *flowView) policy() mm2.Policy { return f.Naming(f.gens.version) }

// remote is the name of a source topic's copy. Under a policy whose rule is not known the default policy's name is assumed
// only where such a topic exists.
func (f *flowView) remote(topic string) string {
	name, _ := f.policy().FormatRemoteTopic(f.Source, topic)
	if name == "" {
		return topic
	}
	return name
}

// upstream is the source topic that a topic on the target is the copy of.
func (f *flowView) upstream(topic string) (string, bool) { return f.Upstream(topic, f.gens.version) }

// comesFromTarget says that a source topic was itself mirrored from the target, so that the source connector leaves it alone.
func (f *flowView) comesFromTarget(topic string) bool {
	cycle, known := f.policy().IsCycle(topic, f.Target)
	return known && cycle
}

// isInternal says that the source connector never mirrors the topic, whatever its list says.
func (f *flowView) isInternal(topic string) bool {
	v := f.gens.version
	if v.IsZero() {
		v = mm2.V(3, 9, 1) // the wider rule, up to 3.9
	}
	yes, known := f.policy().IsInternal(topic, v)
	return known && yes
}

// isMM2Topic says that a topic is one of MirrorMaker 2's or Kafka's own, of which no group's position is of interest.
func (f *flowView) isMM2Topic(topic string) bool {
	return strings.HasPrefix(topic, "__") || strings.HasPrefix(topic, "mm2-") && strings.HasSuffix(topic, "internal") ||
		strings.HasSuffix(topic, "checkpoints.internal") || topic == mm2.HeartbeatsTopic || strings.HasSuffix(topic, "."+mm2.HeartbeatsTopic)
}

// matchers compiles --group and --topic values: a glob, or a Java regular expression between slashes.
func matchers(texts []string) ([]matcher, []finding.NotChecked) {
	var out []matcher
	var bad []finding.NotChecked
	for _, t := range texts {
		if literal(t) || !strings.HasPrefix(t, "/") {
			out = append(out, matcher{t, func(s string) bool { return s == t || glob(t, s) }})
			continue
		}
		re, err := javaregex.Compile(t[1 : len(t)-1])
		if err != nil {
			bad = append(bad, finding.NotChecked{Check: finding.Code(217).String(), Why: fmt.Sprintf("%s is no Java regular expression: %v", t, err)})
			continue
		}
		out = append(out, matcher{t, func(s string) bool { m, known := re.Match(s); return m && known }})
	}
	return out, bad
}

func (f *flowView) inScope(group string) bool { return len(f.scope) == 0 || anyMatch(f.scope, group) }

func (f *flowView) onlyGen1() bool { g, one := f.gens.set.Only(); return one && g == mm2.G1 }

// taskStart is when a connector's tasks last went to RUNNING, ms.
func (f *flowView) taskStart(connector string) (int64, bool) {
	ts, st := f.Tasks.Get()
	f.v.touch(finding.Tasks)
	if st != snapshot.Known {
		return 0, false
	}
	var at int64
	for _, t := range ts {
		if t.Connector == connector && t.Task >= 0 && t.State == "RUNNING" {
			at = max(at, t.Time)
		}
	}
	return at, at > 0
}

// connectorStart is when a connector itself last went to RUNNING, ms. Connect's REST interface does not tell.
func (f *flowView) connectorStart(connector string) (int64, bool) {
	ts, _ := f.Tasks.Get()
	for _, t := range ts {
		if t.Connector == connector && t.Task < 0 && t.State == "RUNNING" {
			return t.Time, t.Time > 0
		}
	}
	return 0, false
}

// startGrace is how long a connector may take after its start until the topics that it makes first are there, ms.
const startGrace = 60_000

// justStarted says that MirrorMaker 2 is known to have begun with a connector a moment ago.
func (f *flowView) justStarted(connector string) bool {
	f.v.touch(finding.Tasks | finding.Running)
	if at, ok := f.connectorStart(connector); ok {
		return f.v.now-at < startGrace
	}
	if run, st := f.Running.Get(); st == snapshot.Known && run.Time > 0 {
		return f.v.now-run.Time < startGrace
	}
	// MirrorMaker 2's own topics cannot be read; the first offset sync is as old as the first copied record.
	f.v.touch(finding.SyncsTopic)
	s, st := f.Syncs.Get()
	return st == snapshot.Known && s.First > 0 && f.v.now-s.First < startGrace
}

// taskFacts are the states of a connector and its tasks, as they stand in mm2-status.
func (f *flowView) taskFacts(connector string) finding.Observed {
	ts, _ := f.Tasks.Get()
	var o finding.Observed
	for _, t := range ts {
		if t.Connector != connector {
			continue
		}
		name := "connector"
		if t.Task >= 0 {
			name = fmt.Sprintf("task %d", t.Task)
		}
		state := t.State
		if t.Time > 0 {
			state += ", " + age(f.v.now-t.Time) + " ago"
		}
		o = append(o, snapshot.Named{Name: name, Value: state})
	}
	return o
}

// Literal says that a --group or --topic value names one thing rather than a pattern.
func Literal(text string) bool { return literal(text) }

// Matcher compiles --group or --topic values into one test.
func Matcher(texts []string) (func(string) bool, error) {
	ms, bad := matchers(texts)
	if len(bad) > 0 {
		return nil, errors.New(bad[0].Why)
	}
	return func(s string) bool { return anyMatch(ms, s) }, nil
}
