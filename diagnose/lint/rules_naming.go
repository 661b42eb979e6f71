package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// naming: what the names of topics are made of.
func (l *linter) naming(f *flow) {
	if !f.runs() {
		return
	}
	for _, r := range []conf.Reader{conf.Source, conf.Checkpoint} {
		if !f.Has(r) {
			continue
		}
		for _, key := range []string{"source.cluster.alias", "target.cluster.alias"} {
			l.alias(f, r, key)
		}
		l.separator(f, r)
		l.policy(f, r)
	}
}

func (l *linter) alias(f *flow, r conf.Reader, key string) {
	v, e, ok := l.text(f, r, key)
	if !ok || e.IsDefault() || f.in.mode == strimzi {
		return
	}
	at := f.where(r, e, key)
	want := f.Source
	if key == "target.cluster.alias" {
		want = f.Target
	}
	switch {
	case v == "":
		l.add(say{slug: "blank-alias", severity: finding.Warning, at: at, flow: f.Name(), because: key + " is blank. The alias is a part of the names of the offset-syncs and checkpoints topics, which so collapse, and of the test that keeps topics from going round in circles.",
			leads: "Flows share internal topics; tools that look for them by name do not find them.", fixes: f.in.advice("Remove the line. To keep topic names use replication.policy.class = %s.", mm2.IdentityPolicyClass)})
	case f.in.mode == dedicated && v != want:
		l.add(say{slug: "alias-override", severity: finding.Error, at: at, flow: f.Name(), because: fmt.Sprintf("%s = %s takes the place of the alias %s that the flow %s has in clusters: topics are named after it.", key, v, want, f.Name()), leads: "Remote topics, offset syncs and checkpoints of several flows get the same names.",
			fixes: f.in.advice("Remove the line: connect-mirror-maker sets the aliases.")})
	}
}

func (l *linter) separator(f *flow, r conf.Reader) {
	v, e, ok := l.text(f, r, "replication.policy.separator")
	if !ok || e.IsDefault() || v != "" {
		return
	}
	at := f.where(r, e, "replication.policy.separator")
	inner := " From 3.1 on the internal topics lose their separators as well (mm2-offset-syncs" + f.Target + "internal)."
	if l.keepsNames(f, r) {
		if f.in.atLeast(3, 1, 0) && f.separates(r) {
			l.add(say{slug: "blank-separator", severity: finding.Warning, at: at, flow: f.Name(), because: "replication.policy.separator is empty. A policy that keeps topic names does not need it." + inner, leads: "Internal topics change their names, and tools do not find them.", fixes: f.in.advice("Remove the line.")})
		}
		return
	}
	text := "replication.policy.separator is empty: remote topics are alias and topic without anything between, so that MirrorMaker 2 cannot tell an alias from a name, nor see that a topic went round."
	if f.in.atLeast(3, 1, 0) && f.separates(r) {
		text += inner
	}
	l.add(say{slug: "blank-separator", severity: finding.Warning, at: at, flow: f.Name(), because: text, leads: "Internal topics change their names, and tools do not find them.",
		fixes: f.in.advice("Remove the line. To keep topic names use replication.policy.class = %s.", mm2.IdentityPolicyClass)})
}

// keepsNames says that a connector's policy gives remote topics the names that they have.
func (l *linter) keepsNames(f *flow, r conf.Reader) bool {
	class, _, _ := l.text(f, r, "replication.policy.class")
	return class == mm2.IdentityPolicyClass || class == mm2.StrimziIdentityPolicyClass || class == mm2.AWSIdentityPolicyClass
}

// separates says that the separator stands in the names of internal topics as well (3.1.0; KIP-949 can switch it off).
func (f *flow) separates(r conf.Reader) bool {
	on, _, err := f.Bool(r, "replication.policy.internal.topic.separator.enabled")
	return err != nil || on || !f.in.atLeast(3, 5, 2)
}

func (l *linter) policy(f *flow, r conf.Reader) {
	v, e, ok := l.text(f, r, "replication.policy.class")
	if !ok || e.IsDefault() {
		return
	}
	at := f.where(r, e, "replication.policy.class")
	switch v {
	case mm2.DefaultPolicyClass, mm2.IdentityPolicyClass:
	case mm2.AWSIdentityPolicyClass:
		if f.in.atLeast(3, 0, 0) {
			l.add(say{slug: "legacy-policy-class", severity: finding.Info, at: at, flow: f.Name(), because: v + " is a sample of AWS from a time when Kafka had no policy that keeps topic names; its jar must lie beside MirrorMaker 2 wherever the connectors run.", leads: "Without the jar the connectors fail.", fixes: f.in.inPlace(at, mm2.IdentityPolicyClass)})
		}
	case mm2.StrimziIdentityPolicyClass:
		if f.in.atLeast(3, 0, 0) {
			l.add(say{slug: "legacy-policy-class", severity: finding.Warning, at: at, flow: f.Name(), because: v + " comes from a time when Kafka had no identity policy of its own; images of Strimzi from 0.46 on do not have the class any more.", leads: "After an upgrade the connectors fail.", fixes: f.in.inPlace(at, mm2.IdentityPolicyClass)})
		}
	default:
		if strings.HasPrefix(v, "org.apache.kafka.") {
			return
		}
		l.add(say{slug: "custom-policy", severity: finding.Info, at: at, flow: f.Name(), because: v + " is no class of Kafka's: how it names topics is not known here, and every connector and every tool that translates offsets needs the same class.", fixes: f.in.advice("Give the same class to source and checkpoint connector.")})
	}
}

// twoClusters: both aliases of a connector or mirror are one. In dedicated mode such a flow is never read.
func (l *linter) twoClusters(f *flow) {
	if f.in.mode == dedicated || f.Source != f.Target || f.Source == "" || opaque(f.Source) {
		return
	}
	at := f.at[f.first()]
	l.add(say{slug: "unknown-alias-in-flow", severity: finding.Error, at: at, flow: f.Name(), because: fmt.Sprintf("%s is source and target at once; a flow needs two clusters.", f.Source), leads: "Nothing is mirrored between two clusters.", fixes: f.in.advice("Give the source the alias of the other cluster.")})
}

// oneAddress: a block that was copied and not changed, so that a cluster is mirrored into itself.
func (l *linter) oneAddress(f *flow) {
	a, b := f.in.cluster(f.Source), f.in.cluster(f.Target)
	list := func(c conf.Cluster) string {
		return strings.Join(slices.Sorted(slices.Values(mm2.SplitList(c.Bootstrap.Value))), ",")
	}
	if !f.runs() || f.Source == f.Target || list(a) == "" || list(a) != list(b) || opaque(a.Bootstrap.Value) {
		return
	}
	later := b
	if a.Bootstrap.Line > b.Bootstrap.Line {
		later = a
	}
	at := place{later.Bootstrap.File, later.Bootstrap.Line, later.Bootstrap.Column, later.Bootstrap.Written}
	if f.in.mode == strimzi {
		at = l.clusterAt(f.in, later)
	}
	l.add(say{slug: "malformed-value", severity: finding.Warning, at: at, because: fmt.Sprintf("%s and %s have the same address, %s.", f.Source, f.Target, printable(later.Bootstrap.Value)), leads: "MirrorMaker 2 mirrors one cluster into itself, and a failover has nowhere to go.", fixes: f.in.advice("Write the address of the other cluster, or of %s.", later.Alias)})
}

// agree: settings that source and checkpoint connector read, each from its own configuration, and nobody compares.
func (l *linter) agree(f *flow) {
	if f.Source == f.Target {
		return // a finding of its own
	}
	if !f.Has(conf.Source) || !f.Has(conf.Checkpoint) || f.in.mode == dedicated {
		return
	}
	for _, x := range []struct {
		key, slug, because, leads string
		since                     mm2.Version
	}{
		{"offset-syncs.topic.location", "location-mismatch", "the source connector writes offset syncs on the %s cluster, and the checkpoint connector reads them on the %s cluster", "No offset is ever translated.", mm2.V(3, 0, 0)},
		{"replication.policy.class", "policy-mismatch", "the source connector names topics by %s, and the checkpoint connector by %s", "Checkpoints name topics that the target does not have, and nothing is committed.", mm2.V(2, 4, 0)},
		{"replication.policy.separator", "separator-mismatch", "the source connector writes %s between alias and topic, and the checkpoint connector %s", "Checkpoints name topics that the target does not have; from 3.1 on the two also look for different internal topics.", mm2.V(2, 4, 0)},
		{"replication.policy.internal.topic.separator.enabled", "separator-mismatch", "the separator in internal topic names is %s for the source connector, and %s for the checkpoint connector", "The two use different offset-syncs topics.", mm2.V(3, 5, 2)},
	} {
		if !f.in.atLeast(x.since.Major, x.since.Minor, x.since.Patch) {
			continue
		}
		a, ea, ok1 := l.text(f, conf.Source, x.key)
		b, eb, ok2 := l.text(f, conf.Checkpoint, x.key)
		if !ok1 || !ok2 || a == b || strings.EqualFold(a, b) && strings.HasSuffix(x.key, ".enabled") || ea.IsDefault() && !f.whole(conf.Source) || eb.IsDefault() && !f.whole(conf.Checkpoint) {
			continue
		}
		at, also, fix := f.where(conf.Checkpoint, eb, x.key), f.where(conf.Source, ea, x.key), []finding.Fix(nil)
		switch {
		case eb.IsDefault():
			at, also = also, at
			fix = f.set(conf.Checkpoint, x.key, a)
		case ea.IsDefault():
			fix = f.set(conf.Source, x.key, b)
			if strings.HasPrefix(x.key, "replication.policy.") && !strings.HasSuffix(x.key, ".enabled") { // by the source connector's the topics on the target have their names
				fix = f.in.advice("Take %s off the %s. Only where the topics on %s already have names by %s, set it on the %s instead.", x.key, conf.Checkpoint, f.Target, name(b), conf.Source)
			}
		default:
			fix = f.in.inPlace(at, a)
		}
		because, leads := fmt.Sprintf(x.because, name(a), name(b)), x.leads
		if x.key == "replication.policy.separator" && (l.keepsNames(f, conf.Source) || l.keepsNames(f, conf.Checkpoint)) {
			if !f.in.atLeast(3, 1, 0) || !f.separates(conf.Source) && !f.separates(conf.Checkpoint) {
				continue // no name has it
			}
			because = fmt.Sprintf("in the names of internal topics the source connector writes %s between the words, and the checkpoint connector %s", name(a), name(b))
			leads = "The two use different offset-syncs topics, and no offset is ever translated."
		}
		because += "; each reads its own configuration, and nothing compares them."
		l.add(say{slug: x.slug, severity: finding.Error, at: at, flow: f.Name(), because: sentence(because), leads: leads, fixes: fix, also: []place{also}})
	}
}

func name(v string) string {
	if v == "" {
		return "nothing"
	}
	return v[strings.LastIndexByte(v, '.')+1:] + map[bool]string{true: v}[strings.HasSuffix(v, ".")]
}

// sharedFilters: a filter that one of the two connectors has.
func (l *linter) sharedFilters(f *flow) {
	if !f.Has(conf.Source) || !f.Has(conf.Checkpoint) || f.in.mode == dedicated {
		return
	}
	for _, key := range []string{"topics", "topics.exclude"} {
		pick := func(r conf.Reader) (conf.Effective, bool) {
			lists := f.TopicLists(r)
			if key == "topics" {
				return lists.Include, l.sound(lists.Include)
			}
			return lists.Exclude, l.sound(lists.Exclude)
		}
		a, ok1 := pick(conf.Source)
		b, ok2 := pick(conf.Checkpoint)
		if !ok1 || !ok2 || sameList(a.Value, b.Value) || a.IsDefault() && !f.whole(conf.Source) || b.IsDefault() && !f.whole(conf.Checkpoint) {
			continue
		}
		at, r := f.where(conf.Source, a, key), conf.Checkpoint
		text := fmt.Sprintf("The source connector has %s = %s, and the checkpoint connector %s.", key, printable(a.Value), printable(b.Value))
		other := f.where(r, b, key)
		if other.file != at.file || !b.IsDefault() {
			at, other = other, at
		}
		at.key = key
		l.add(say{slug: "filter-not-shared", severity: finding.Info, at: at, flow: f.Name(), because: text + " Each connector filters by its own list: checkpoints are made for what the second lets through, of topics that the first mirrors.", fixes: f.set(conf.Checkpoint, key, a.Value), also: []place{other}})
	}
}

func sameList(a, b string) bool {
	x, y := mm2.SplitList(strings.ReplaceAll(a, "|", ",")), mm2.SplitList(strings.ReplaceAll(b, "|", ","))
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// aliases: connectors that belong together and name the clusters differently.
func (l *linter) aliases(s *setup) {
	var source, check *flow
	for _, f := range s.flows {
		if f.Has(conf.Source) && f.Has(conf.Checkpoint) {
			return
		}
		if f.Has(conf.Source) {
			if source != nil {
				return
			}
			source = f
		}
		if f.Has(conf.Checkpoint) {
			if check != nil {
				return
			}
			check = f
		}
	}
	if source == nil || check == nil {
		return
	}
	for _, side := range []string{"source.cluster.", "target.cluster."} {
		a, _ := source.Text(conf.Source, side+"bootstrap.servers")
		b, _ := check.Text(conf.Checkpoint, side+"bootstrap.servers")
		if a == "" || a != b || opaque(a) {
			return // not known to be the same clusters
		}
	}
	for _, key := range []string{"source.cluster.alias", "target.cluster.alias"} {
		a, _, ok1 := l.text(source, conf.Source, key)
		b, e, ok2 := l.text(check, conf.Checkpoint, key)
		if ok1 && ok2 && a != b {
			at := check.where(conf.Checkpoint, e, key)
			l.add(say{slug: "alias-mismatch", severity: finding.Error, at: at, because: fmt.Sprintf("The source connector has %s = %s, and the checkpoint connector %s, for the same clusters: they look for different internal topics.", key, shown(a), shown(b)), leads: "No offset is ever translated.", fixes: check.set(conf.Checkpoint, key, a)})
		}
	}
}
