package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// secretKey says that the value of a key is a secret. It is never shown.
func secretKey(name string) bool {
	return strings.HasSuffix(name, "sasl.jaas.config") || strings.HasSuffix(name, ".password") || strings.HasSuffix(name, "client.secret") || strings.HasSuffix(name, "passphrase") || strings.HasSuffix(name, "ssl.keystore.key") || strings.HasSuffix(name, "basic.auth.user.info")
}

// secretWord is in the name of a setting whose value is nobody's business: those of secretKey, misspelt ones, and somebody else's.
var secretWord = regexp.MustCompile(`(?i)pass?w(?:or)?d|passphrase|secret|token$|credential|jaa?ss?\.|api[._-]?key|(?:access|private|account)[._-]?key|licen[sc]e|user\.info|keystore\.key|key\.pass$`)

// hidden says that a value is not to be shown. A reference to a config provider alone is no secret, nor is a text to be filled in.
func hidden(key, value string) bool {
	if strings.TrimSpace(value) == "" || finding.Reference(value) || fillIn.MatchString(value) {
		return false
	}
	if strings.HasSuffix(key, "sasl.jaas.config") && !literalSecret(key, value) && !finding.Secret(value) {
		return false
	}
	return secretWord.MatchString(key) || finding.Secret(value)
}

var jaasSecret = regexp.MustCompile(`(?i)(?:password|secret|clientSecret|oauth\.client\.secret)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))`)

// fillIn are texts that stand for a secret in an example.
var fillIn = regexp.MustCompile(`(?i)^\s*(?:\W*change[-_ ]?me\W*|[<\[].*|x{3,}|\*+|\.{3,}|…|your[-_ ].*|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:PASSWORD|SECRET|KEY)))\s*$`)

// literalSecret says that a secret stands there in clear text.
func literalSecret(name, value string) bool {
	if opaque(value) || strings.TrimSpace(value) == "" {
		return false
	}
	if !strings.HasSuffix(name, "sasl.jaas.config") {
		return !fillIn.MatchString(value)
	}
	for _, m := range jaasSecret.FindAllStringSubmatch(value, -1) {
		if secret := m[1] + m[2] + m[3]; secret != "" && !fillIn.MatchString(secret) {
			return true
		}
	}
	return false
}

// inline says once for each file that it holds secrets.
func (l *linter) inline() {
	for file, at := range l.secrets {
		slices.SortFunc(at, func(a, b place) int { return a.line - b.line })
		text := "A secret stands here in clear text."
		if len(at) > 1 {
			text = fmt.Sprintf("Secrets stand in clear text here and in %s.", finding.Count(len(at)-1, "more place"))
		}
		l.add(say{slug: "secrets-inline", severity: finding.Info, at: at[0], also: at[1:], because: text + " Up to 3.4 connect-mirror-maker also stores what providers give in clear text in the mm2-configs topic.",
			fixes: []finding.Fix{{Mode: dedicated, Text: fmt.Sprintf("Take the secrets of %s from a config provider: ${file:/path/secrets.properties:key}.", file)}}})
	}
}

// addresses: every cluster of a flow that runs needs them.
func (l *linter) addresses(s *setup) {
	if s.mode == strimzi {
		for _, c := range s.Clusters {
			if strings.TrimSpace(c.Bootstrap.Value) == "" && !s.partial[s.file] {
				at := l.clusterAt(s, c)
				if l.said("malformed-value", at) {
					continue // given, and no text
				}
				l.add(say{slug: "bootstrap-servers-missing", severity: finding.Error, at: at, because: "The cluster " + c.Alias + " has no bootstrapServers.", leads: "Kubernetes refuses the resource.", fixes: s.advice("Add bootstrapServers: HOST:9092.")})
			}
		}
		return
	}
	if s.mode == dedicated {
		used, _ := s.props.Lookup("clusters")
		for _, c := range s.Clusters {
			if strings.TrimSpace(c.Bootstrap.Value) != "" {
				continue
			}
			key := c.Alias + ".bootstrap.servers"
			at := place{s.file, used.Line, used.Column, key}
			text := "The cluster " + c.Alias + " has no line " + key + "."
			if c.Bootstrap.File != "" {
				at = place{s.file, c.Bootstrap.Line, c.Bootstrap.Column, c.Bootstrap.Written}
				text = c.Bootstrap.Written + " is empty."
			} else if s.partial[s.file] {
				continue
			}
			l.add(say{slug: "bootstrap-servers-missing", severity: finding.Error, at: at, because: text, leads: "MirrorMaker 2 does not reach " + c.Alias + ".", fixes: []finding.Fix{{Mode: dedicated, Text: "Write " + key + " = HOST:9092.", Steps: []finding.Step{{Text: "add to " + s.file, Properties: props(key, "HOST:9092"), File: s.file}}}}})
		}
		return
	}
	for _, f := range s.flows {
		for _, r := range threeConnectors {
			for _, side := range []string{"source.cluster.", "target.cluster."} {
				if !f.Has(r) || r == conf.Heartbeat && side == "source.cluster." {
					continue
				}
				key := side + "bootstrap.servers"
				v, e := f.Text(r, key)
				if v != "" || e.IsDefault() && !f.whole(r) {
					continue
				}
				text := "The " + r.String() + " has no " + key + ": MirrorMaker 2's own clients take addresses from there alone, whatever the worker is attached to."
				if !e.IsDefault() {
					text = key + " is empty."
				}
				l.add(say{slug: "bootstrap-servers-missing", severity: finding.Error, at: f.where(r, e, key), flow: f.Name(), because: text, leads: "The connector does not start.", fixes: f.set(r, key, "HOST:9092")})
			}
		}
	}
}

// said: a finding of that kind is there about a key.
func (l *linter) said(slug string, at place) bool {
	return slices.ContainsFunc(l.out, func(f finding.Finding) bool {
		return f.Slug == slug && f.Subject.File == at.file && f.Subject.Key == at.key
	})
}

func (l *linter) clusterAt(s *setup, c conf.Cluster) place {
	for _, list := range [][]string{{"clusters"}} {
		for i, n := range s.resource.Get("spec").Get(list...).List() {
			if n.Get("alias").Text() == c.Alias {
				return place{s.file, n.Line, n.Column, fmt.Sprintf("spec.clusters[%d].bootstrapServers", i)}
			}
		}
	}
	if t := s.resource.Get("spec").Field("target"); t != nil && t.Value.Get("alias").Text() == c.Alias {
		return place{s.file, t.Line, t.Column, "spec.target.bootstrapServers"}
	}
	for i, m := range s.resource.Get("spec", "mirrors").List() {
		if src := m.Get("source"); src.Get("alias").Text() == c.Alias {
			return place{s.file, src.Line, src.Column, fmt.Sprintf("spec.mirrors[%d].source.bootstrapServers", i)}
		}
	}
	return place{file: s.file, line: s.resource.Line, key: "spec"}
}

// loginOf are the settings by which MirrorMaker 2 logs in to one end of a flow.
type loginOf struct {
	protocol, mechanism, jaas conf.Effective
}

// credentials: a login that lacks a half.
func (l *linter) credentials(s *setup) {
	if s.mode == strimzi || s.partial[s.file] {
		return
	}
	type end struct {
		prefix string
		alias  string
		f      *flow
		r      conf.Reader
	}
	var ends []end
	seen := map[string]bool{}
	for _, f := range s.flows {
		if !f.runs() {
			continue
		}
		for _, r := range []conf.Reader{conf.Source, conf.Checkpoint} {
			if !f.Has(r) || s.mode == dedicated && r == conf.Checkpoint {
				continue
			}
			for _, x := range []struct{ prefix, alias string }{{"source.", f.Source}, {"target.", f.Target}} {
				if s.mode == dedicated && seen[x.alias] {
					continue
				}
				seen[x.alias] = true
				ends = append(ends, end{x.prefix, x.alias, f, r})
			}
		}
	}
	anyJaas := false
	for _, x := range ends {
		anyJaas = anyJaas || login(x.f, x.r, x.prefix).jaas.Value != ""
	}
	for _, x := range ends {
		in := login(x.f, x.r, x.prefix)
		protocol := strings.ToUpper(strings.TrimSpace(in.protocol.Value))
		mechanism := strings.ToUpper(strings.TrimSpace(in.mechanism.Value))
		if opaque(in.protocol.Value) || opaque(in.mechanism.Value) || template(in.jaas.Value) != "" && protocol == "" {
			continue
		}
		report := func(e conf.Effective, sev finding.Severity, because, key, value string) {
			at := x.f.where(x.r, e, e.Key)
			fix := x.f.set(x.r, x.prefix+"cluster."+key, value)
			if s.mode == dedicated {
				fix = s.advice("Write %s.%s = %s.", x.alias, key, value)
			}
			l.add(say{slug: "credentials-missing", severity: sev, at: at, because: because, leads: "MirrorMaker 2 does not reach the cluster " + x.alias + ".", fixes: fix})
		}
		sasl := strings.HasPrefix(protocol, "SASL_")
		switch {
		case sasl && in.jaas.File == "" && (mechanism != "GSSAPI" && mechanism != "" || anyJaas):
			sev, text := finding.Error, "%s for %s, and no sasl.jaas.config: there is nothing to log in with."
			if !anyJaas {
				sev, text = finding.Warning, "%s for %s, and no sasl.jaas.config: the login must come from a JAAS file of the JVM (java.security.auth.login.config), or is missing."
			}
			report(in.protocol, sev, fmt.Sprintf(text, protocol, x.alias), "sasl.jaas.config", "…")
		case sasl && in.jaas.File != "" && mechanism == "" && !strings.Contains(in.jaas.Value, "Krb5") && loginModule.MatchString(in.jaas.Value):
			report(in.protocol, finding.Error, fmt.Sprintf("sasl.mechanism for %s is missing and GSSAPI (Kerberos) by default, which does not fit the login module given.", x.alias), "sasl.mechanism", mechanismOf(in.jaas.Value))
		case protocol == "" && (in.jaas.File != "" || in.mechanism.File != ""):
			e := in.jaas
			if e.File == "" {
				e = in.mechanism
			}
			report(e, finding.Warning, fmt.Sprintf("A login is given for %s, and no security.protocol, which is PLAINTEXT by default: the login is never used.", x.alias), "security.protocol", "SASL_SSL")
		case (protocol == "SSL" || protocol == "PLAINTEXT") && in.jaas.File != "" && in.jaas.Rule == in.protocol.Rule:
			report(in.protocol, finding.Warning, fmt.Sprintf("A login is given for %s, and security.protocol is %s: the login is never used.", x.alias, protocol), "security.protocol", map[string]string{"SSL": "SASL_SSL", "PLAINTEXT": "SASL_PLAINTEXT"}[protocol])
		}
	}
}

// loginModule begins a JAAS entry whose login module is written out, whatever its options come from.
var loginModule = regexp.MustCompile(`^\s*[\w.$]+LoginModule\s`)

func mechanismOf(jaas string) string {
	if strings.Contains(jaas, "Scram") {
		return "SCRAM-SHA-512"
	}
	if strings.Contains(jaas, "OAuth") {
		return "OAUTHBEARER"
	}
	return "PLAIN"
}

// login collects the settings for one end; those of one kind of client count where the cluster's own are missing.
func login(f *flow, r conf.Reader, side string) loginOf {
	get := func(key string) conf.Effective {
		for _, p := range []string{side + "cluster.", side + "consumer.", side + "admin.", "consumer.", "admin."} {
			if e, ok := f.Get(r, p+key); ok && !e.IsDefault() && strings.TrimSpace(e.Value) != "" {
				return e
			}
		}
		return conf.Effective{}
	}
	return loginOf{protocol: get("security.protocol"), mechanism: get("sasl.mechanism"), jaas: get("sasl.jaas.config")}
}

// overwritten: a second block of security settings behind the alias of the first.
func (l *linter) overwritten(s *setup) {
	if s.mode != dedicated {
		return
	}
	again := map[string][]place{}
	for _, e := range s.props.Duplicates() {
		for _, c := range s.Clusters {
			rest, ok := strings.CutPrefix(e.Key, c.Alias+".")
			if last, _ := s.props.Lookup(e.Key); ok && (strings.HasPrefix(rest, "sasl.") || strings.HasPrefix(rest, "ssl.") || strings.HasPrefix(rest, "security.")) {
				again[c.Alias] = append(again[c.Alias], place{s.file, last.Line, last.Column, last.Key})
			}
		}
	}
	for _, c := range s.Clusters {
		lines := again[c.Alias]
		if len(lines) < 2 {
			continue
		}
		for _, o := range s.Clusters {
			if o.Alias == c.Alias || slices.ContainsFunc(s.props.Effective(), func(e confdoc.Entry) bool {
				return strings.HasPrefix(e.Key, o.Alias+".sasl.") || strings.HasPrefix(e.Key, o.Alias+".security.") || strings.HasPrefix(e.Key, o.Alias+".ssl.")
			}) {
				continue
			}
			slices.SortFunc(lines, func(a, b place) int { return a.line - b.line })
			at := lines[0]
			for _, p := range lines {
				if strings.HasSuffix(p.key, ".security.protocol") {
					at = p
				}
			}
			l.add(say{slug: "credentials-overwritten", severity: finding.Error, at: at, because: fmt.Sprintf("A second block of security settings stands behind %s., and %s has none: the last lines count, so that %s gets the credentials that were meant for %s.", c.Alias, o.Alias, c.Alias, o.Alias), leads: "MirrorMaker 2 reaches neither cluster as it should.",
				fixes: s.advice("Write %s. instead of %s. in the second block.", o.Alias, c.Alias), also: lines})
			break
		}
	}
}

// outranked: settings that are written and lose. Since 2.8.0 security settings of a cluster are copied to source.consumer.*,
// which outranks what a flow says behind consumer.; worker settings without a prefix win over those behind an alias.
func (l *linter) outranked(f *flow) {
	s := f.in
	if s.mode != dedicated || !f.runs() {
		return
	}
	if s.atLeast(2, 8, 0) {
		for _, e := range s.props.Under(f.Name() + ".") {
			rest := e.Key[len(f.Name())+1:]
			kind, key, ok := strings.Cut(rest, ".")
			if !ok || !slices.Contains([]string{"consumer", "producer", "admin"}, kind) || !conf.IsClientKey(key, s.version) {
				continue
			}
			x, has := f.Get(conf.Source, "source."+kind+"."+key)
			if has && !x.IsDefault() && x.Written != e.Key && x.Value != e.Value {
				l.add(say{slug: "setting-outranked", severity: finding.Warning, at: place{s.file, e.Line, e.Column, e.Key}, flow: f.Name(), because: fmt.Sprintf("%s (%s) is copied to source.%s.%s, which wins over %s.", x.Written, x.Where(), kind, key, rest), leads: "The setting has no effect.", fixes: s.advice("Write %s.source.%s instead.", f.Name(), rest)})
			}
		}
	}
	for _, e := range s.props.Under(f.Target + ".") {
		rest := e.Key[len(f.Target)+1:]
		if !hasPrefix(rest, []string{"offset.storage.", "config.storage.", "status.storage."}) {
			continue
		}
		x, has := f.Get(conf.Worker, rest)
		if has && x.File != "" && x.Written == rest && strings.TrimSpace(x.Value) != strings.TrimSpace(e.Value) {
			l.add(say{slug: "setting-outranked", severity: finding.Warning, at: place{s.file, e.Line, e.Column, e.Key}, flow: f.Name(), because: fmt.Sprintf("%s without a prefix (%s) wins over %s: the worker gets %s.", rest, x.Where(), e.Key, x.Value), leads: "The setting has no effect.", fixes: s.advice("Remove one of the two lines.")})
		}
	}
}

const byteArray = "ByteArrayConverter"

// converters: records of MirrorMaker 2 are bytes, and any other converter changes them.
func (l *linter) converters(f *flow) {
	if !f.runs() {
		return
	}
	for _, r := range []conf.Reader{conf.Source, conf.Checkpoint, conf.Heartbeat, conf.Worker} {
		if !f.Has(r) || r == conf.Worker && f.in.worker != nil {
			continue // the connector's own come before those of the worker
		}
		for _, part := range []string{"key", "value", "header"} {
			key := part + ".converter"
			e, _ := f.Given(r, key)
			class := strings.TrimSpace(e.Value)
			if e.File == "" || !l.sound(e) || strings.HasSuffix(class, byteArray) || class == "ByteArray" || part == "header" && strings.HasSuffix(class, "SimpleHeaderConverter") {
				continue
			}
			spoilt := "the copies are no longer what the source holds"
			switch {
			case r == conf.Checkpoint:
				spoilt = "checkpoints become unreadable"
			case f.in.mode == dedicated: // one setting for all connectors
				spoilt += ", and checkpoints become unreadable"
			}
			sev, text := finding.Error, fmt.Sprintf("%s is %s. MirrorMaker 2's records are bytes; with this converter their %ss are encoded anew: %s.", key, name(class), part, spoilt)
			if part == "header" || r == conf.Heartbeat {
				sev, text = finding.Warning, fmt.Sprintf("%s is %s: headers are encoded anew on the way.", key, name(class))
			}
			at := f.where(r, e, key)
			l.add(say{slug: "non-bytearray-converter", severity: sev, at: at, flow: f.Name(), because: text, leads: "Consumers of the copy, and MirrorMaker 2 itself after a restart, read other bytes.", fixes: f.in.inPlace(at, "org.apache.kafka.connect.converters."+byteArray)})
		}
		if f.in.mode != connect && f.in.mode != managed || r == conf.Heartbeat || r == conf.Worker || !f.whole(r) {
			continue
		}
		for _, key := range []string{"key.converter", "value.converter"} {
			if _, given := f.Given(r, key); given {
				continue
			}
			if f.in.worker != nil {
				l.byWorker(f, r, key)
				continue
			}
			at := f.at[r]
			at.key = key
			l.add(say{slug: "converter-missing", severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("The %s has no %s: the default of the worker decides, which often is JsonConverter.", r, key), leads: "With another converter than ByteArrayConverter data and checkpoints become unreadable.", fixes: f.set(r, key, "org.apache.kafka.connect.converters."+byteArray)})
			break
		}
	}
}

// exactlyOnce: what the worker's switch needs besides (3.5.0, KIP-618 and KIP-710).
func (l *linter) exactlyOnce(f *flow) {
	if !f.runs() || !f.Has(conf.Source) {
		return
	}
	v, e, ok := l.text(f, conf.Worker, "exactly.once.source.support")
	required, q, _ := l.text(f, conf.Source, "exactly.once.support")
	wanted := strings.EqualFold(required, "required") && !q.IsDefault()
	on := ok && !e.IsDefault() && strings.EqualFold(v, "enabled")
	if !on && !wanted {
		return
	}
	if !on {
		if f.in.mode == connect || f.in.mode == managed {
			if f.in.worker == nil {
				return // the worker's own file is not here
			}
			at := f.where(conf.Source, q, "exactly.once.support")
			l.add(say{slug: "exactly-once-incomplete", severity: finding.Error, at: at, flow: f.Name(), because: "The source connector demands exactly-once, and exactly.once.source.support of the worker is not enabled (" + f.in.worker.file + ").", leads: "The connector does not start.", fixes: f.in.advice("Write exactly.once.source.support = enabled in %s.", f.in.worker.file)})
			return
		}
		at := f.where(conf.Source, q, "exactly.once.support")
		l.add(say{slug: "exactly-once-incomplete", severity: finding.Error, at: at, flow: f.Name(), because: "The source connector demands exactly-once, and exactly.once.source.support of the worker into " + f.Target + " is not enabled.", leads: "The connector does not start.", fixes: f.in.advice("Write %s.exactly.once.source.support = enabled.", f.Target)})
		return
	}
	if !f.in.version.IsZero() && f.in.version.Before(3, 5, 0) {
		at := f.where(conf.Worker, e, "exactly.once.source.support")
		l.add(say{slug: "exactly-once-incomplete", severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("MirrorMaker 2 supports exactly-once from 3.5 on, and this is %s.", f.in.version), leads: "Mirroring is at least once.", fixes: f.in.advice("Upgrade to 3.7.2 or later.")})
		return
	}
	for _, key := range []string{"source.consumer.isolation.level", "consumer.isolation.level", "source.cluster.consumer.isolation.level"} {
		if x, has := f.Get(conf.Source, key); has && (opaque(x.Value) || strings.EqualFold(strings.TrimSpace(x.Value), "read_committed")) {
			return
		}
	}
	sev, at := finding.Info, f.where(conf.Worker, e, "exactly.once.source.support")
	if wanted {
		sev, at = finding.Error, f.where(conf.Source, q, "exactly.once.support")
	}
	l.add(say{slug: "exactly-once-incomplete", severity: sev, at: at, flow: f.Name(), because: "Exactly-once is switched on for the worker, and the source consumer of " + f.Name() + " does not read committed records only: the source connector reports that it does not support exactly-once.", leads: "Records of aborted transactions are mirrored, and mirroring is at least once; with exactly.once.support = required the connector does not start.", fixes: f.set(conf.Source, "source.consumer.isolation.level", "read_committed")})
}
