package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// entries judges every line of an mm2.properties by itself.
func (l *linter) entries(s *setup) {
	var aliases []string
	if s.Setup != nil {
		for _, c := range s.Clusters {
			aliases = append(aliases, c.Alias)
		}
	}
	wrongClusters, clustersMeant := l.clusters(s)
	byKey := map[string]confdoc.Entry{}
	for _, e := range s.props.Entries {
		at := place{s.file, e.Line, e.Column, e.Key}
		if isStatement(e) {
			continue
		}
		if template(e.Key) != "" {
			l.mark(at)
			continue
		}
		if strings.HasPrefix(e.Key, byteOrderMark) {
			continue // a finding of its own
		}
		if l.malformed(s, e, at) || clustersMeant && at == wrongClusters {
			continue
		}
		if first, again := byKey[e.Key]; again {
			l.duplicate(s, first, e, at)
		}
		byKey[e.Key] = e
		if e.Duplicate {
			continue // a later line counts
		}
		l.entry(s, e, at, aliases)
	}
}

// byteOrderMark as Java reads it.
const byteOrderMark = "\u00ef\u00bb\u00bf"

// duplicate: java.util.Properties keeps the last of several equal keys, silently.
func (l *linter) duplicate(s *setup, first, e confdoc.Entry, at place) {
	sev, text := finding.Warning, fmt.Sprintf("%s stands in line %d already, with another value. The last one counts, without a word.", printable(e.Key), first.Line)
	if strings.TrimSpace(first.Value) == strings.TrimSpace(e.Value) {
		sev, text = finding.Info, fmt.Sprintf("%s stands in line %d already, with the same value.", printable(e.Key), first.Line)
	}
	l.add(say{slug: "duplicate-key", severity: sev, at: at, because: text, fixes: s.advice("Remove the line that is not meant: %d or %d.", first.Line, e.Line), also: []place{{s.file, first.Line, first.Column, first.Key}}})
}

// wrongArrow begins a line with a flow whose arrow is another sign; in =>, and after a blank, Java sees the end of the key.
var wrongArrow = regexp.MustCompile(`^\s*[\w.-]+\s*(?:→|⇒|➔|=>|-&gt;|—>|–>)\s*[\w.-]+\.[\w.-]+`)

// blankAfterBackslash: an odd number of backslashes, and then blanks, end the text.
var blankAfterBackslash = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\\[ \t]+$`)

// malformed finds lines that Java reads as something else than was meant.
func (l *linter) malformed(s *setup, e confdoc.Entry, at place) bool {
	value := strings.TrimLeft(e.Value, " \t")
	separated := false
	if i := strings.IndexAny(e.Raw, "=:"); i >= 0 {
		separated = i <= len(e.Raw)-len(strings.TrimLeft(e.Raw, " \t"))+len(e.Key)+1+strings.Count(e.Raw[:i], "\\")+2
	}
	add := func(slug string, sev finding.Severity, because, fix string) bool {
		l.add(say{slug: slug, severity: sev, at: at, because: because, leads: "What the line was meant to set keeps its default.", fixes: s.advice("%s", fix)})
		return true
	}
	if s.broken > 0 && s.broken+1 == e.Line && !separated {
		s.broken = e.EndLine
		return true // what was meant to go on there
	}
	switch {
	case blankAfterBackslash.MatchString(e.Raw):
		s.broken = e.EndLine
		return add("malformed-line", finding.Error, "A blank follows the backslash at the end of the line, so that the value ends there, and the next line is a key of its own.", "Remove the blank behind the backslash.")
	case strings.HasPrefix(value, "->"), strings.HasSuffix(e.Key, "->") && value != "":
		text := strings.TrimSuffix(e.Key, "->") + "->" + strings.TrimLeft(strings.TrimPrefix(value, "->"), " \t")
		return add("malformed-flow-key", finding.Error, fmt.Sprintf("A blank ends the key: Java reads the key %q with the value %q.", e.Key, printable(value)), "Write the flow without blanks around the arrow: "+printable(text))
	case wrongArrow.MatchString(e.Raw):
		return add("malformed-flow-key", finding.Error, fmt.Sprintf("%q is no flow: the arrow is written ->.", printable(strings.TrimSpace(wrongArrow.FindString(e.Raw)))), "Write SOURCE->TARGET with a minus sign and a greater-than sign.")
	case strings.HasPrefix(e.Key, `"`), strings.HasPrefix(e.Key, "'"):
		return add("malformed-line", finding.Error, fmt.Sprintf("The quotes are a part of the key: Java reads %s, which nobody knows. The line looks like JSON.", printable(e.Key)), "Write it as a properties line: "+printable(strings.Trim(e.Key, `"'`)+" = "+strings.Trim(strings.TrimRight(value, ", "), `"'`)))
	case strings.IndexFunc(e.Key, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0, strings.HasPrefix(e.Key, "---"), strings.HasPrefix(e.Key, "<<<"), strings.HasPrefix(e.Key, ">>>"):
		return add("malformed-line", finding.Warning, fmt.Sprintf("The line is no setting: Java reads the key %q.", printable(e.Key)), "Remove the line, or begin it with #.")
	case strings.HasPrefix(e.Key, "//"), strings.HasPrefix(e.Key, ";"), strings.HasPrefix(e.Key, "[") && strings.HasSuffix(strings.TrimSpace(e.Raw), "]"), strings.HasPrefix(e.Key, "- "), strings.HasPrefix(e.Key, "export"):
		return add("malformed-line", finding.Warning, fmt.Sprintf("The line is no comment to Java, which reads the key %q.", printable(e.Key)), "Begin comments with #, and write settings as key = value.")
	case !separated && !strings.ContainsAny(e.Key, ".>") && e.Key != "clusters" && !conf.IsConnectorKey(e.Key, mm2.Version{}):
		return add("malformed-line", finding.Warning, fmt.Sprintf("The line has neither = nor :, so that Java reads the key %q.", printable(e.Key)), "Write key = value, or begin the line with #.")
	}
	return false
}

// clusters: without the key connect-mirror-maker does not start. It gives the line that was meant to be it.
func (l *linter) clusters(s *setup) (meantAt place, found bool) {
	e, ok := s.props.Lookup("clusters")
	if ok && len(mm2.SplitList(e.Value)) > 0 || len(s.props.Entries) == 0 && len(l.out) > 0 {
		return place{}, false
	}
	first := place{file: s.file, line: 1, col: 1, key: "clusters"}
	meant := "SOURCE, TARGET"
	var guess []string
	for i, x := range s.props.Effective() {
		if a, found := strings.CutSuffix(x.Key, ".bootstrap.servers"); found && !strings.Contains(a, "->") && a != "source.cluster" && a != "target.cluster" {
			guess = append(guess, a)
		}
		if i == 0 {
			first.line, first.col = x.Line, x.Column
		}
	}
	why := "The key clusters is missing; connect-mirror-maker does not start without it."
	if ok {
		first = place{s.file, e.Line, e.Column, e.Key}
		why = "clusters names no cluster, so that there is no flow."
	} else {
		for _, x := range s.props.Effective() {
			if strings.EqualFold(x.Key, "clusters") || plainName(x.Key) == "cluster" || nearest(x.Key, []string{"clusters"}) != "" {
				first = place{s.file, x.Line, x.Column, x.Key}
				why += fmt.Sprintf(" %s is no setting: clusters is meant.", x.Key)
				meant = strings.TrimSpace(x.Value)
				break
			}
		}
	}
	if meant == "SOURCE, TARGET" && len(guess) > 1 {
		meant = strings.Join(guess, ", ")
	}
	l.add(say{slug: "clusters-missing", severity: finding.Error, at: first, because: why, leads: "MirrorMaker 2 does not start.",
		fixes: []finding.Fix{{Mode: dedicated, Text: "Write clusters = " + meant + ".", Steps: []finding.Step{{Text: "add to " + s.file, Properties: props("clusters", meant), File: s.file}}}}})
	if len(guess) == 0 && !s.partial[s.file] {
		l.add(say{slug: "bootstrap-servers-missing", severity: finding.Error, at: place{s.file, first.line, first.col, "bootstrap.servers"}, because: "No cluster has a line ALIAS.bootstrap.servers, so that MirrorMaker 2 reaches none.", leads: "MirrorMaker 2 does not start.",
			fixes: s.advice("Write ALIAS.bootstrap.servers = HOST:9092 for each cluster.")})
	}
	return first, !ok
}

// entry judges one key in force and, where somebody reads it, its value.
func (l *linter) entry(s *setup, e confdoc.Entry, at place, aliases []string) {
	if s.Setup == nil && strings.Contains(e.Key, "->") { // without clusters no flow can be told
		_, rest, _ := strings.Cut(e.Key, "->")
		if _, k, ok := strings.Cut(rest, "."); ok {
			l.value(s, at, connectorKey(k, s.level(e, "")), e.Value, &e)
		}
		return
	}
	v, ok := l.verdictOf(s, e, at, aliases)
	if !ok {
		return
	}
	bad := false
	if v.typed || v.name != "" && v.slug == "" {
		bad = l.value(s, at, v, e.Value, &e)
	}
	if v.slug != "" && !(bad && v.severity == finding.Info) {
		l.key(s, at, v)
	}
}

// key reports a key that is not read where it stands.
func (l *linter) key(s *setup, at place, v verdict) {
	fix := s.advice("Remove the line; it has no effect.")
	if v.slug == "removed-key" {
		fix = s.advice("Remove the line when you run a release that does not have the setting.")
	}
	if v.slug == "unknown-key" && v.severity == finding.Info {
		fix = s.advice("Keep the line if a class of your own reads it; else remove it.")
	}
	if v.meant != "" {
		meant := v.meant
		if v.scope != "" && !strings.HasPrefix(meant, v.scope) {
			meant = v.scope + meant // without it the setting would be of another scope
		}
		fix = s.advice("Write %s instead of %s.", meant, printable(at.key))
		if v.slug == "misspelt-key" || v.slug == "removed-key" || v.sure {
			fix[0].Steps = []finding.Step{{Text: "in " + at.String() + " rename the key " + printable(at.key) + " to " + meant, File: at.file}}
			if v.sure {
				fix[0].Steps[0].Rename = meant
			}
		}
	}
	f := say{slug: v.slug, severity: v.severity, at: at, because: v.why, fixes: fix}
	if v.meant != "" {
		f.observed = props("meant", v.meant)
	}
	if v.severity > finding.Info {
		f.leads = "The default, or a setting elsewhere, is in force instead."
	}
	l.add(f)
}

func (s *setup) level(e confdoc.Entry, flow string) level {
	at := level{reader: anyConnector, version: s.version, mode: s.mode, flow: flow, value: e.Value, own: s.ownClasses()}
	if flow != "" {
		at.prefix = flow + "."
	}
	return at
}

// ownClasses: a policy, filter or plug-in that is not Kafka's may read settings of its own.
func (s *setup) ownClasses() bool {
	if s.props == nil {
		return false
	}
	if s.owns == nil {
		s.owns = new(bool)
		*s.owns = slices.ContainsFunc(s.props.Effective(), notKafkas)
	}
	return *s.owns
}

func notKafkas(e confdoc.Entry) bool {
	return strings.HasSuffix(e.Key, ".class") && !strings.HasPrefix(strings.TrimSpace(e.Value), "org.apache.kafka.") && !strings.Contains(e.Key, "sasl.") && !strings.HasPrefix(e.Key, "config.providers.")
}

// verdictOf finds the level at which a key stands.
func (l *linter) verdictOf(s *setup, e confdoc.Entry, at place, aliases []string) (verdict, bool) {
	if source, rest, ok := strings.Cut(e.Key, "->"); ok {
		return l.flowEntry(s, e, at, source, rest, aliases)
	}
	lv := s.level(e, s.onlyFlow())
	if v, ok := bareKey(e.Key, lv); ok {
		return v, true
	}
	alias := ""
	for _, a := range aliases {
		if strings.HasPrefix(e.Key, a+".") && len(a) > len(alias) {
			alias = a
		}
	}
	if alias != "" {
		lv.prefix = alias + "."
		return workerKey(strings.TrimPrefix(e.Key, alias+"."), lv), true
	}
	if other, rest, ok := l.strange(e.Key, aliases); ok {
		if s.Setup == nil {
			return workerKey(rest, lv), true
		}
		l.add(say{slug: "unknown-alias-in-flow", severity: finding.Warning, at: at, because: fmt.Sprintf("%q is not in clusters (%s)%s, so that the line is never read.", other, strings.Join(aliases, ", "), caseHint(other, aliases)),
			leads: "The setting has no effect.", fixes: s.advice("Use an alias of clusters, or add %s to clusters.", other)})
		return verdict{}, false
	}
	return lastBare(e.Key, lv, aliases), true
}

// onlyFlow names the flow that a setting for all flows would belong to, where there is one.
func (s *setup) onlyFlow() string {
	name := ""
	for _, f := range s.flows {
		if f.Enabled {
			if name != "" {
				return ""
			}
			name = f.Name()
		}
	}
	return name
}

// bareKey judges a key without a prefix. False: not decided yet.
func bareKey(key string, at level) (verdict, bool) {
	at.prefix = ""
	if conf.IsClientKey(key, at.version) { // for all clusters
		k, _ := conf.LookupKafkaKey(key)
		return reads(key, k.Type), true
	}
	if k, ok := conf.LookupKey(key); ok {
		switch {
		case k.ReadBy&conf.Driver != 0 && k.ReadBy&anyConnector == 0 || key == "clusters":
			return reads(key, k.Type), true
		case strings.HasPrefix(key, "source.cluster.") && key != "source.cluster.alias", strings.HasPrefix(key, "target.cluster.") && key != "target.cluster.alias":
			return verdict{name: key}.but("wrong-prefix", finding.Warning, "ALIAS.bootstrap.servers", "In an mm2.properties %s has no effect: addresses stand behind the cluster's alias.", key), true
		case k.ReadBy&anyConnector != 0:
			v := connectorKey(key, at)
			if v.slug == "" && !conf.IsConnectorKey(key, at.version) && key != "replication.policy.class" && !strings.HasPrefix(key, "replication.policy.") {
				return v.but("wrong-prefix", finding.Warning, at.meantFor(key), "Without a prefix %s reaches no connector.", key), true
			}
			return v, true
		case strings.HasPrefix(key, "offset.storage.") || strings.HasPrefix(key, "config.storage.") || strings.HasPrefix(key, "status.storage."):
			return reads(key, k.Type), true
		}
	}
	kk, known := conf.LookupKafkaKey(key)
	switch {
	case conf.IsConnectorKey(key, at.version), conf.IsClientKey(key, at.version):
		return reads(key, kk.Type), true
	case strings.HasPrefix(key, "config.providers."):
		return plugIn(key), true
	case known && hasPrefix(key, []string{"offset.storage.", "config.storage.", "status.storage.", "key.converter", "value.converter", "header.converter", "task.", "worker."}):
		return reads(key, kk.Type), true
	case hasPrefix(key, []string{"key.converter.", "value.converter.", "header.converter."}):
		return plugIn(key), true
	case known && kk.Of == conf.OfWorker && hasPrefix(key, []string{"listeners", "rest.", "admin.listeners", "access.control.", "response.http."}), hasPrefix(key, []string{"listeners.https.", "admin.listeners.https.", "rest."}):
		return reads(key, kk.Type), true // of the internal REST server (KIP-710)
	}
	return verdict{}, false
}

// lastBare judges a key without a prefix that no connector, no driver and no cluster reads.
func lastBare(key string, at level, aliases []string) verdict {
	at.prefix = ""
	target := "TARGET"
	if _, t, ok := strings.Cut(at.flow, "->"); ok {
		target = t
	}
	for _, p := range clientPrefixes {
		if rest, ok := strings.CutPrefix(key, p.prefix); ok {
			kk, known := conf.LookupKafkaKey(rest)
			if !known {
				break
			}
			v := reads(rest, kk.Type)
			return v.but("wrong-prefix", finding.Warning, "ALIAS."+p.prefix+rest, "connect-mirror-maker reads settings of clients behind a cluster's alias or a flow; %s without a prefix has no effect.", key)
		}
	}
	for _, p := range overridePrefixes {
		if strings.HasPrefix(key, p.prefix) {
			return verdict{name: key}.but("wrong-prefix", finding.Warning, at.meantFor(key), "Without a flow before it %s reaches no connector.", key)
		}
	}
	for _, side := range []string{"source.cluster.", "target.cluster."} {
		rest, ok := strings.CutPrefix(key, side)
		_, plain, prefixed := strings.Cut(rest, ".")
		_, known := conf.LookupKafkaKey(plain)
		if ok && (conf.IsClientKey(rest, mm2.Version{}) || prefixed && known && hasPrefix(rest, []string{"consumer.", "producer.", "admin."})) {
			return verdict{name: rest}.but("wrong-prefix", finding.Warning, "ALIAS."+rest, "In an mm2.properties %s has no effect: settings of a cluster stand behind its alias.", key)
		}
	}
	if hasPrefix(key, []string{"transforms.", "predicates.", "topic.creation."}) {
		return verdict{name: key}.but("wrong-prefix", finding.Warning, at.meantFor(key), "connect-mirror-maker passes on settings without a prefix only where a connector defines them by name; %s is lost.", key)
	}
	kk, known := conf.LookupKafkaKey(key)
	switch {
	case key == "exactly.once.source.support":
		return verdict{name: key}.but("no-effect-key", finding.Warning, target+"."+key, "%s is a setting of the worker, which takes it from the cluster it writes to.", key)
	case ofSinks(key):
		return sinks(key)
	case strings.HasPrefix(key, "metrics.context."):
		return verdict{name: key}.but("no-effect-key", finding.Info, target+"."+key, "%s is a setting of the worker, which takes it from the cluster it writes to.", key)
	case key == "auto.include.jmx.reporter":
		return verdict{name: key}.but("removed-key", finding.Warning, "", "%s is read by MirrorMaker 2 3.4 to 3.9 only; from 4.0 on metric.reporters has JmxReporter by default.", key)
	case isWorkerKey(key):
		return verdict{name: key}.but("no-effect-key", finding.Info, target+"."+key, "%s is a setting of the worker, which takes it from the cluster it writes to; without a prefix it has no effect.", key)
	case key == "client.id":
		return verdict{name: key}.but("no-effect-key", finding.Info, "", "Without a prefix client.id reaches no client.")
	case known && kk.Of&(conf.OfConsumer|conf.OfProducer|conf.OfAdmin) != 0:
		return reads(key, kk.Type).but("wrong-prefix", finding.Warning, "ALIAS."+suggestClient(key, kk.Of), "%s is a setting of a Kafka client; without a prefix it has no effect.", key)
	case brokerKey(key):
		return verdict{name: key}.but("unknown-key", finding.Warning, "", "%s is a setting of brokers; MirrorMaker 2 does not read it.", key)
	}
	return unknown(key, at, bareNames)
}

// strange splits a key behind a prefix that looks like an alias and is none.
func (l *linter) strange(key string, aliases []string) (alias, rest string, ok bool) {
	for i := 0; i < len(key); i++ {
		if key[i] != '.' || i == 0 {
			continue
		}
		alias, rest = key[:i], key[i+1:]
		if hasPrefix(key, []string{"consumer.", "producer.", "admin.", "source.consumer.", "source.producer.", "source.admin.", "target.", "source.cluster.", "transforms.", "predicates."}) && !strings.HasSuffix(rest, "bootstrap.servers") {
			return "", "", false
		}
		k, known := conf.LookupKafkaKey(rest)
		if !known || !strings.Contains(rest, ".") || rest == "bootstrap.servers" && (alias == "source.cluster" || alias == "target.cluster") {
			continue
		}
		if rest == "bootstrap.servers" || conf.IsClientKey(rest, mm2.Version{}) || k.Of == conf.OfWorker && rest != "offset.storage.topic" {
			return alias, rest, !slices.Contains(aliases, alias)
		}
	}
	return "", "", false
}

func caseHint(a string, aliases []string) string {
	for _, b := range aliases {
		if strings.EqualFold(a, b) && a != b {
			return "; aliases are case-sensitive: " + b
		}
	}
	if near := nearest(a, aliases); near != "" {
		return "; " + near + " may be meant"
	}
	return ""
}

// flowEntry judges "SOURCE->TARGET.key".
func (l *linter) flowEntry(s *setup, e confdoc.Entry, at place, source, rest string, aliases []string) (verdict, bool) {
	target := ""
	for _, a := range aliases {
		if strings.HasPrefix(rest, a+".") && len(a) > len(target) {
			target = a
		}
	}
	if slices.Contains(aliases, source) && target != "" && source != target {
		key := strings.TrimPrefix(rest, target+".")
		return connectorKey(key, s.level(e, source+"->"+target)), true
	}
	strangers := []string{}
	if !slices.Contains(aliases, source) {
		strangers = append(strangers, source)
	}
	if target == "" {
		t, _, _ := strings.Cut(rest, ".")
		strangers = append(strangers, t)
	}
	text := fmt.Sprintf("%s and %s are the same cluster; a flow needs two.", source, target)
	if len(strangers) > 0 {
		text = fmt.Sprintf("clusters lists %s, and not %s%s, so that the line is never read.", strings.Join(aliases, ", "), strings.Join(strangers, " and "), caseHint(strangers[0], aliases))
	}
	sev := finding.Warning
	if strings.HasSuffix(e.Key, ".enabled") {
		sev = finding.Error
	}
	fix := s.advice("Use the aliases of clusters.")
	if f := s.onlyFlow(); f != "" {
		if i := strings.IndexByte(rest, '.'); i >= 0 {
			fix = s.advice("Write %s%s.", f, rest[i:])
		}
	}
	l.add(say{slug: "unknown-alias-in-flow", severity: sev, at: at, because: text, leads: "The setting has no effect.", fixes: fix})
	return verdict{}, false
}
