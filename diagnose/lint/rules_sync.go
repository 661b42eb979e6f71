package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/bugs"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

const (
	keySync = "sync.group.offsets.enabled"
	keyEmit = "emit.checkpoints.enabled"
)

// notEnabled: in dedicated mode a flow runs only with its own switch. A flow that is switched off in so many words is meant so.
func (l *linter) notEnabled(f *flow) {
	s := f.in
	if s.mode != dedicated || f.Enabled || s.partial[s.file] {
		return
	}
	e, _ := f.Get(conf.Source, "enabled")
	if !l.sound(e) {
		return
	}
	name := f.Name() + ".enabled"
	if !e.IsDefault() {
		if !strings.EqualFold(strings.TrimSpace(e.Value), "true") {
			return
		}
		// The connectors take "true " for true, the driver does not, and starts no worker where heartbeats are off as well.
		l.add(say{slug: "flow-not-enabled", severity: finding.Error, at: f.where(conf.Source, e, name), flow: f.Name(), because: fmt.Sprintf("The value is %q. connect-mirror-maker does not trim it when it decides whether the flow needs a worker, and heartbeats are off: nothing of %s runs.", e.Value, f.Name()),
			leads: "Nothing is mirrored.", fixes: f.set(conf.Source, "enabled", "true")})
		return
	}
	mentioned, others, explicit := len(s.props.Under(f.Name()+".")) > 0, false, false
	if first := len(s.flows) > 0 && s.flows[0] == f; !mentioned && !first {
		return
	}
	for _, o := range s.flows {
		others = others || o.Enabled
		v, _ := o.Get(conf.Source, "enabled")
		explicit = explicit || !v.IsDefault()
	}
	anyMentioned := slices.ContainsFunc(s.props.Effective(), func(x confdoc.Entry) bool { return strings.Contains(x.Key, "->") })
	if !mentioned && (explicit || anyMentioned) || others && !slices.ContainsFunc(s.props.Under(f.Name()+"."), func(x confdoc.Entry) bool { return !takesAway(strings.TrimPrefix(x.Key, f.Name()+"."), x.Value) }) {
		return
	}
	sev := finding.Error
	if others {
		sev = finding.Warning
	}
	at := f.at[conf.Source]
	at.key = name
	l.add(say{slug: "flow-not-enabled", severity: sev, at: at, flow: f.Name(), because: fmt.Sprintf("%s has no line %s = true. In dedicated mode a flow is off by default.", s.file, name), leads: "Nothing of " + f.Name() + " is mirrored.", fixes: f.set(conf.Source, "enabled", "true")})
}

// takesAway says that a setting leaves something out, as the settings of a flow do that is not to run: a switch that is off, a list that lets nothing through.
func takesAway(key, value string) bool {
	value = strings.TrimSpace(value)
	return strings.HasSuffix(key, ".enabled") && strings.EqualFold(value, "false") || strings.HasSuffix(key, ".exclude") && value == ".*" || (key == "topics" || key == "groups") && value == ""
}

// forgotten: of a flow that the file speaks of only the switch is missing. Where no other flow is on, its settings are judged as if it were there.
func (l *linter) forgotten(f *flow) bool {
	e, _ := f.Get(conf.Source, "enabled")
	return !f.Enabled && !f.in.partial[f.in.file] && e.IsDefault() && len(f.in.props.Under(f.Name()+".")) > 0
}

// checkpointConnector: without it there is no offset sync at all.
func (l *linter) checkpointConnector(f *flow) {
	s := f.in
	if !f.runs() || f.Has(conf.Checkpoint) || !f.Has(conf.Source) || s.partial[f.at[conf.Source].file] {
		return
	}
	sev, at := finding.Info, f.at[conf.Source]
	text := "Only the source connector of " + f.Name() + " was given. Without a MirrorCheckpointConnector there are no checkpoints and no committed offsets on the target."
	switch {
	case s.mode == strimzi:
		sev, at = finding.Warning, f.at[0]
		text = "The mirror " + f.Name() + " has no checkpointConnector: there are no checkpoints and no committed offsets on the target."
		if e, ok := f.Get(conf.Source, "groups"); ok && !e.IsDefault() {
			sev = finding.Error
			text = "The mirror " + f.Name() + " chooses groups and has no checkpointConnector, so that no group's offsets are mirrored."
		}
	case len(s.flows) > 1 || f.Has(conf.Heartbeat):
		sev = finding.Warning
		text = "Among the connectors given, " + f.Name() + " has no MirrorCheckpointConnector: there are no checkpoints and no committed offsets on the target."
	}
	at.key = "checkpointConnector"
	l.add(say{slug: "checkpoint-connector-missing", severity: sev, at: at, flow: f.Name(), because: text, leads: "After a failover consumers start where auto.offset.reset says.",
		fixes: s.advice("Add a MirrorCheckpointConnector for %s with sync.group.offsets.enabled = true, and the policy, separator and location of its source connector.", f.Name())})
}

// groupSync: checkpoints are made, and nobody commits them.
func (l *linter) groupSync(f *flow) {
	s := f.in
	if !f.runs() || !f.Has(conf.Checkpoint) {
		return
	}
	if emit, e, ok := l.flag(f, conf.Checkpoint, keyEmit); ok && !emit && l.oppositeSyncs(f) {
		l.add(say{slug: "checkpoints-disabled", severity: finding.Info, at: f.where(conf.Checkpoint, e, keyEmit), flow: f.Name(), because: "emit.checkpoints.enabled is false, and the opposite flow commits group offsets: this direction translates none. From 3.9 on the connector's configuration is refused with an ERROR in the log, and mirroring goes on."})
	} else if ok && !emit {
		l.add(say{slug: "checkpoints-disabled", severity: finding.Error, at: f.where(conf.Checkpoint, e, keyEmit), flow: f.Name(), because: "emit.checkpoints.enabled is false: the checkpoint connector has no tasks (from 3.9 on its configuration is refused).",
			leads: "No group's offsets are mirrored.", fixes: s.inPlace(f.where(conf.Checkpoint, e, keyEmit), "true")})
	}
	if !s.version.IsZero() && s.version.Before(2, 7, 0) {
		at := s.versionAt
		if at.file == "" {
			at = f.at[conf.Checkpoint]
		}
		l.add(say{slug: "group-offset-sync-unsupported", severity: finding.Error, at: at, flow: f.Name(), because: fmt.Sprintf("MirrorMaker 2 %s writes checkpoints only; it commits groups' offsets from 2.7 on (KIP-545).", s.version), leads: "Consumers that fail over must translate their offsets themselves.", fixes: s.advice("Upgrade to 3.7.2 or later.")})
		return
	}
	on, e, ok := l.flag(f, conf.Checkpoint, keySync)
	if !ok || on || e.IsDefault() && !f.whole(conf.Checkpoint) {
		return
	}
	sev := finding.Error
	text := "sync.group.offsets.enabled is not set, and false by default: checkpoints are made, and no offsets are committed on the target."
	if !e.IsDefault() {
		sev, text = finding.Warning, "sync.group.offsets.enabled is false: checkpoints are made, and no offsets are committed on the target."
	}
	if emit, _, ok := l.flag(f, conf.Checkpoint, keyEmit); ok && !emit {
		text = "sync.group.offsets.enabled is not set, and false by default; it needs checkpoints besides, which are switched off here: no offsets are committed on the target."
		if !e.IsDefault() {
			text = "sync.group.offsets.enabled is false, and so are checkpoints: no offsets are committed on the target."
		}
	}
	if l.oppositeSyncs(f) {
		sev, text = finding.Info, "Group offsets are committed by the opposite flow only. That is right as long as the groups run on "+f.Target+"; before they run on "+f.Source+" for good, the two must be exchanged."
	}
	leads := "After a failover consumers start where auto.offset.reset says."
	fix := f.set(conf.Checkpoint, keySync, "true")
	if !e.IsDefault() {
		fix = s.inPlace(f.where(conf.Checkpoint, e, keySync), "true")
	}
	l.add(say{slug: "group-offset-sync-disabled", severity: sev, at: f.where(conf.Checkpoint, e, keySync), flow: f.Name(), because: text, leads: leads, fixes: fix})
}

// oppositeSyncs: the flow of the other direction runs and commits group offsets.
func (l *linter) oppositeSyncs(f *flow) bool {
	for _, o := range l.opposite(f) {
		if on, _, ok := l.flag(o, conf.Checkpoint, keySync); ok && on && o.runs() && o.Has(conf.Checkpoint) {
			return true
		}
	}
	return false
}

// states: of two connectors that need each other one is halted.
func (l *linter) states(f *flow) {
	if !f.Has(conf.Source) || !f.Has(conf.Checkpoint) {
		return
	}
	halted := func(r conf.Reader) (conf.Effective, bool) {
		e, ok := f.State(r)
		return e, ok && (strings.EqualFold(e.Value, "stopped") || strings.EqualFold(e.Value, "paused"))
	}
	source, sourceOff := halted(conf.Source)
	check, checkOff := halted(conf.Checkpoint)
	sync, _, _ := l.flag(f, conf.Checkpoint, keySync)
	switch {
	case sourceOff && !checkOff && sync:
		l.add(say{slug: "state-mismatch", severity: finding.Warning, at: f.where(conf.Source, source, "state"), flow: f.Name(), because: fmt.Sprintf("The source connector is %s, and the checkpoint connector of the same flow runs on: it keeps committing translations of old positions on %s.", source.Value, f.Target),
			leads: "If groups run on " + f.Target + ", an idle moment is enough to set them back.", fixes: f.in.advice("Stop the checkpoint connector as well, or run both.")})
	case checkOff && !sourceOff:
		l.add(say{slug: "state-mismatch", severity: finding.Warning, at: f.where(conf.Checkpoint, check, "state"), flow: f.Name(), because: fmt.Sprintf("The checkpoint connector is %s while the source connector mirrors: no checkpoints are made.", check.Value), leads: "Offsets on " + f.Target + " grow old.", fixes: f.in.advice("Resume the checkpoint connector.")})
	}
}

// refreshing: what is not looked for again is never found.
func (l *linter) refreshing(f *flow) {
	if !f.runs() {
		return
	}
	for _, x := range []struct {
		r         conf.Reader
		key, what string
	}{{conf.Source, "refresh.topics.enabled", "topics and partitions"}, {conf.Checkpoint, "refresh.groups.enabled", "groups"}} {
		if on, e, ok := l.flag(f, x.r, x.key); f.Has(x.r) && ok && !on {
			at := f.where(x.r, e, x.key)
			l.add(say{slug: "refresh-disabled", severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("%s is false: %s that appear after the start are not seen until the next start.", x.key, x.what), leads: "They are missing on the target.", fixes: f.in.inPlace(at, "true")})
		}
	}
}

// intervals: an offset is committed no more often than a checkpoint is made.
func (l *linter) intervals(f *flow) {
	if !f.runs() || !f.Has(conf.Checkpoint) {
		return
	}
	if on, _, ok := l.flag(f, conf.Checkpoint, keySync); !ok || !on {
		return
	}
	emit, e, ok1 := l.number(f, conf.Checkpoint, "emit.checkpoints.interval.seconds")
	sync, c, ok2 := l.number(f, conf.Checkpoint, "sync.group.offsets.interval.seconds")
	if !ok1 || !ok2 || c.IsDefault() && e.IsDefault() || sync >= emit {
		return
	}
	at := f.where(conf.Checkpoint, c, "sync.group.offsets.interval.seconds")
	if c.IsDefault() {
		at = f.where(conf.Checkpoint, e, "emit.checkpoints.interval.seconds")
	}
	l.add(say{slug: "intervals-disagree", severity: finding.Info, at: at, flow: f.Name(), because: fmt.Sprintf("Offsets are committed every %d s, and checkpoints, of which they are taken, are made every %d s: the shorter interval gains nothing.", sync, emit), fixes: f.set(conf.Checkpoint, "emit.checkpoints.interval.seconds", fmt.Sprint(sync))})
}

// syncsOff: without offset syncs nothing can be translated (KIP-1031, 3.9.0).
func (l *linter) syncsOff(f *flow) {
	if !f.runs() || !f.in.atLeast(3, 9, 0) {
		return
	}
	for _, r := range []conf.Reader{conf.Source, conf.Checkpoint} {
		on, e, ok := l.flag(f, r, "emit.offset-syncs.enabled")
		if !f.Has(r) || !ok || on {
			continue
		}
		if emit, _, ok := l.flag(f, conf.Checkpoint, keyEmit); f.Has(conf.Checkpoint) && ok && !emit {
			continue // wanted: data only
		}
		at := f.where(r, e, "emit.offset-syncs.enabled")
		l.add(say{slug: "offset-syncs-disabled", severity: finding.Error, at: at, flow: f.Name(), because: "emit.offset-syncs.enabled is false: no offset syncs are written, and checkpoints need them (from 3.9 on the checkpoint connector refuses the combination).", leads: "No group's offsets are mirrored.", fixes: f.in.inPlace(at, "true")})
	}
}

// syncsConflict: from 3.9.0 on the source connector refuses any setting of the offset-syncs topic, or of its clients, beside the switch
// that turns offset syncs off (KIP-1031). It compares with "false" as written.
func (l *linter) syncsConflict(f *flow) {
	if !f.runs() || !f.Has(conf.Source) || !f.in.atLeast(3, 9, 0) {
		return
	}
	on, e, ok := l.flag(f, conf.Source, "emit.offset-syncs.enabled")
	if !ok || on || e.IsDefault() || e.Value != "false" {
		return
	}
	for _, x := range f.Settings(conf.Source) {
		if x.IsDefault() || x.File == "" || !strings.HasPrefix(x.Key, "offset-syncs.topic.") && !strings.HasPrefix(x.Key, "offset-syncs-") {
			continue
		}
		at := f.where(conf.Source, x, x.Key)
		off := f.where(conf.Source, e, e.Key)
		l.add(say{slug: "offset-syncs-conflict", severity: finding.Error, at: at, flow: f.Name(), also: []place{off},
			because: fmt.Sprintf("%s is set, and emit.offset-syncs.enabled is false (%s). From 3.9.0 on the source connector refuses the two together: `MirrorSourceConnector can't setup offset-syncs feature while emit.offset-syncs.enabled set to false`.", x.Key, off),
			leads:   "The source connector does not start: no topic is mirrored.", fixes: f.in.advice("Remove %s, or write emit.offset-syncs.enabled = true.", at.key)})
	}
}

// stated judges the version that a resource states, or that was given.
func (l *linter) stated(s *setup) {
	if s.version.IsZero() {
		return
	}
	at := s.versionAt
	if l.o.Version.IsZero() && at.file == "" {
		return
	}
	if at.file == "" || !l.o.Version.IsZero() {
		if len(s.flows) == 0 {
			return
		}
		if at.file == "" {
			at = s.flows[0].at[s.flows[0].first()]
			at.key = "--mm2-version"
		}
	}
	may := l.o.Range
	if l.o.Version.IsZero() {
		if b, err := mm2.ParseBuild(s.Claimed); err == nil {
			may = b.Range
		}
	}
	if may == (mm2.Range{}) {
		may = mm2.Exactly(s.version)
	}
	var ids, texts []string
	for _, b := range bugs.All() {
		if b.Component == bugs.Translation && b.Status == bugs.Fixed && b.Impact.Weight() >= bugs.Missing.Weight() && b.Affected(s.version) && everywhere(b, may) {
			ids = append(ids, b.ID)
			if len(texts) < 3 {
				texts = append(texts, b.Title+" ("+b.ID+")")
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	l.add(say{slug: "version-known-bugs", severity: finding.Warning, at: at, because: fmt.Sprintf("MirrorMaker 2 %s translates offsets with faults that later releases have repaired: %s.", s.version, strings.Join(texts, "; ")), bugs: ids,
		leads: "Offsets on the target can be missing or wrong although the configuration is right.", fixes: s.advice("Upgrade to 3.7.2 or later; %s is generation %s.", s.version, s.version.Generation())})
}

// providersLost: in the releases of KAFKA-17192 the worker of dedicated mode is not told of config.providers, and references stay as they are.
func (l *linter) providersLost(s *setup) {
	if s.mode != dedicated || s.version.IsZero() {
		return
	}
	e, ok := s.props.Lookup("config.providers")
	if !ok || !slices.ContainsFunc(s.props.Effective(), func(x confdoc.Entry) bool { return len(conf.Placeholders(x.Value)) > 0 }) ||
		slices.ContainsFunc(s.props.Effective(), func(x confdoc.Entry) bool { return strings.HasSuffix(x.Key, ".config.providers") }) {
		return
	}
	for _, b := range bugs.All() {
		if b.ID == "KAFKA-17192" && b.Affected(s.version) {
			l.add(say{slug: "version-known-bugs", severity: finding.Warning, at: place{s.file, e.Line, e.Column, e.Key}, because: fmt.Sprintf("MirrorMaker 2 %s does not tell its workers of config.providers (%s): the reference itself reaches the clients of the connectors in the place of the value.", s.version, b.ID), bugs: []string{b.ID},
				leads: "Logins fail, or addresses do not resolve.", fixes: s.advice("%s", b.Workaround)})
		}
	}
}

// everywhere says that all releases of a range show a bug.
func everywhere(b bugs.Bug, r mm2.Range) bool {
	for _, v := range mm2.Releases() {
		if r.Contains(v) && !b.Affected(v) {
			return false
		}
	}
	return true
}

// workerGroups: two workers of one group, or with one set of topics, take each other's work.
func (l *linter) workerGroups(s *setup) {
	if s.mode != dedicated {
		return
	}
	for _, key := range []string{"group.id", "offset.storage.topic", "config.storage.topic", "status.storage.topic"} {
		first := map[string]*flow{}
		for _, f := range s.flows {
			e, ok := f.Get(conf.Worker, key)
			if !f.Herder && !f.meant || !ok || e.IsDefault() || !l.sound(e) {
				continue
			}
			id := f.Target + "\x00" + strings.TrimSpace(e.Value)
			o, taken := first[id]
			if !taken || !o.runs() {
				first[id] = f
			}
			if !taken || !o.runs() && !f.runs() {
				continue
			}
			sev, text := finding.Error, fmt.Sprintf("The workers of %s and %s are both attached to %s and have the same %s, %s.", o.Name(), f.Name(), f.Target, key, e.Value)
			for _, idle := range []*flow{o, f} {
				if !idle.runs() {
					sev, text = finding.Warning, text+fmt.Sprintf(" %s is off, and has a worker all the same, for heartbeats: %s.emit.heartbeats.enabled = false takes it away.", idle.Name(), idle.Name())
				}
			}
			at := f.where(conf.Worker, e, key)
			l.add(say{slug: "worker-group-collision", severity: sev, at: at, flow: f.Name(), because: text, leads: "They take each other for members of one Connect cluster and overwrite each other's connectors.",
				fixes: s.advice("Remove %s: by default it is different for each source.", at.key)})
		}
	}
}

func identity(p mm2.Policy) bool {
	return p.Kind == mm2.PolicyIdentity || p.Kind == mm2.PolicyLegacyIdentity
}
