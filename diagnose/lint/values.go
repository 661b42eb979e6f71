package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/javaregex"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// patternKeys are lists of Java regular expressions.
var patternKeys = []string{"topics", "topics.exclude", "topics.blacklist", "groups", "groups.exclude", "groups.blacklist", "config.properties.exclude", "config.properties.blacklist"}

// choices are settings with a few values. What Kafka compares without regard to case is in lower case behind a leading "~".
var choices = map[string][]string{
	"security.protocol":                       {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"},
	"offset-syncs.topic.location":             {"source", "target"},
	"use.defaults.from":                       {"source", "target"},
	"use.incremental.alter.configs":           {"requested", "required", "never"},
	"exactly.once.support":                    {"~requested", "~required"},
	"exactly.once.source.support":             {"~disabled", "~preparing", "~enabled"},
	"errors.tolerance":                        {"~none", "~all"},
	"acks":                                    {"all", "-1", "0", "1"},
	"compression.type":                        {"none", "gzip", "snappy", "lz4", "zstd"},
	"isolation.level":                         {"read_committed", "read_uncommitted"},
	"auto.offset.reset":                       {"latest", "earliest", "none"},
	"connector.client.config.override.policy": {},
}

var (
	comment   = regexp.MustCompile(`\s+(?:#|//|;)(?:\s|\S*$|.*\s)`)
	className = regexp.MustCompile(`^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$`)
)

// value judges the value of a setting that somebody reads; entry is the line of a properties file. It says whether the value
// was found at fault.
func (l *linter) value(s *setup, at place, v verdict, value string, entry *confdoc.Entry) bool {
	unended := strings.HasSuffix(v.name, "sasl.jaas.config") && unfinished(value)
	if !unended && len(conf.Placeholders(value)) > 0 {
		return false
	}
	if !unended && template(value) != "" {
		l.mark(at)
		return false
	}
	bad := func(slug string, sev finding.Severity, fix []finding.Fix, format string, args ...any) bool {
		leads := ""
		if sev == finding.Error {
			leads = "The setting does not do what was meant, or MirrorMaker 2 does not start with it."
		}
		l.add(say{slug: slug, severity: sev, at: at, because: fmt.Sprintf(format, args...), leads: leads, fixes: fix})
		if sev > finding.Info {
			l.wrong[at] = true
		}
		return sev > finding.Info
	}
	secret := secretKey(v.name) || v.typ == conf.Password
	if unended {
		return bad("malformed-value", finding.Error, s.advice("End the JAAS entry of %s with a semicolon.", at.key), "The JAAS entry does not end with a semicolon; Kafka's clients refuse it and do not start.")
	}
	if secret {
		if (s.mode == dedicated || s.java) && !strings.HasSuffix(v.name, "sasl.jaas.config") && sentenceBehind.MatchString(value) {
			return bad("comment-after-value", finding.Error, s.advice("Put the comment of %s on a line of its own.", at.key), "In a properties file a comment needs a line of its own: what stands behind the # is a part of the secret.")
		}
		if literalSecret(v.name, value) {
			l.secrets[at.file] = append(l.secrets[at.file], at)
		}
		return false
	}
	trimmed := strings.TrimFunc(value, func(r rune) bool { return r <= ' ' })
	if s.mode == dedicated || s.java {
		switch {
		case strings.HasPrefix(trimmed, "="):
			return bad("malformed-value", finding.Error, s.inPlace(at, strings.TrimLeft(trimmed, "= ")), "The value begins with =: only the first = separates, the rest is the value %q.", printable(trimmed))
		case comment.MatchString(value) && (strings.Contains(value, " #") || strings.Contains(value, "\t#") || v.typ != conf.String && v.typ != conf.List):
			clean := strings.TrimSpace(value[:comment.FindStringIndex(value)[0]])
			return bad("comment-after-value", finding.Error, s.inPlace(at, clean), "In a properties file a comment needs a line of its own: the value is %q, comment included.", printable(value))
		}
	}
	if len(trimmed) > 1 && (trimmed[0] == '"' || trimmed[0] == '\'') && trimmed[len(trimmed)-1] == trimmed[0] && v.typed {
		sev := finding.Warning
		if v.typ != conf.String && v.typ != conf.List {
			sev = finding.Error
		}
		return bad("quoted-value", sev, s.inPlace(at, strings.TrimSpace(strings.ReplaceAll(trimmed, trimmed[:1], ""))), "The quotes are a part of the value: it is %s, quotes included.", printable(trimmed))
	}
	if entry != nil && trimmed != "" && strings.TrimRight(value, " \t\f") != value && untrimmed(at.key) {
		l.add(say{slug: "trailing-whitespace", severity: finding.Info, at: at, because: fmt.Sprintf("Blanks at the end are a part of the value. connect-mirror-maker looks at %s without trimming when it decides whether the flow needs a worker, and takes %q for false there; the connectors trim it.", at.key, value), fixes: s.inPlace(at, trimmed)})
	}
	if !v.typed {
		return false
	}
	if entry != nil && l.backslash(s, at, v, entry) {
		return true
	}
	return l.typed(s, at, v, trimmed, bad)
}

// sentenceBehind is a comment of several words behind a secret. One word may be a part of the secret.
var sentenceBehind = regexp.MustCompile(`\s#+\s*[A-Za-z]\S*(?:\s+\S+){2,}\s*$`)

// unfinished: a JAAS entry that is written out and lacks its end. What a provider or a template gives may bring it.
func unfinished(jaas string) bool {
	jaas = strings.TrimSpace(jaas)
	return loginModule.MatchString(jaas+" ") && !strings.HasSuffix(jaas, ";") && !strings.HasSuffix(jaas, "}") && template(lastWord(jaas)) == ""
}

func lastWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[len(f)-1]
}

// untrimmed are the keys that the driver reads with Java's parseBoolean, without trimming.
func untrimmed(key string) bool {
	return strings.HasSuffix(key, ".enabled") && strings.Contains(key, "->") && strings.Count(key[strings.Index(key, "->"):], ".enabled") == 1 && (strings.HasSuffix(key, ".emit.heartbeats.enabled") || !strings.Contains(strings.TrimSuffix(key[strings.Index(key, "->")+2:], ".enabled"), ".")) ||
		key == "emit.heartbeats.enabled"
}

type complain func(slug string, sev finding.Severity, fix []finding.Fix, format string, args ...any) bool

func (l *linter) typed(s *setup, at place, v verdict, value string, bad complain) bool {
	if value == "" && v.typ != conf.List && v.typ != conf.String && v.typ != conf.Class {
		return bad("malformed-value", finding.Error, s.advice("Give %s a value, or remove the line.", at.key), "%s is empty, and %s is expected.", at.key, expected(v.typ))
	}
	switch v.typ {
	case conf.Boolean:
		if !strings.EqualFold(value, "true") && !strings.EqualFold(value, "false") {
			meant := "true"
			if slices.Contains([]string{"no", "off", "0", "n", "disabled", "disable"}, strings.ToLower(value)) {
				meant = "false"
			}
			return bad("malformed-value", finding.Error, s.inPlace(at, meant), "%q is neither true nor false.", printable(value))
		}
	case conf.Int, conf.Short, conf.Long:
		return l.whole(s, at, v, value, bad)
	case conf.Double:
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return bad("malformed-value", finding.Error, nil, "%q is no number.", printable(value))
		}
	case conf.Class:
		return l.class(s, at, v, value, bad)
	case conf.List:
		if found, wrong := l.emptyElement(s, at, v, value, bad); found {
			return wrong
		}
		if slices.Contains(patternKeys, v.name) {
			return l.patterns(s, at, v.name, value, bad)
		}
		if v.name == "bootstrap.servers" {
			return l.hosts(s, at, value, bad)
		}
		if v.name == "clusters" && s.props != nil {
			if meant := meantAliases(s.props, value); meant != "" {
				return bad("malformed-value", finding.Error, s.inPlace(at, meant), "Commas alone separate the aliases of clusters: it is read as %s.", quotedList(mm2.SplitList(value)))
			}
		}
	case conf.String:
		if strings.HasSuffix(v.name, "cluster.bootstrap.servers") {
			return l.hosts(s, at, value, bad)
		}
	}
	return l.choice(s, at, v, value, bad)
}

// noEmpty are lists in which an empty element is refused from 4.2.0 on (KIP-1161): tried on 4.1.1, 4.2.0 and 4.3.1.
var noEmpty = []string{"clusters", "bootstrap.servers", "source.cluster.bootstrap.servers", "target.cluster.bootstrap.servers", "topics"}

// emptyElement: a comma too many. Between clusters it is a fault in every release: the alias of no name gets flows, and workers without addresses.
func (l *linter) emptyElement(s *setup, at place, v verdict, value string, bad complain) (found, wrong bool) {
	list := mm2.SplitList(value)
	if !slices.Contains(noEmpty, v.name) || len(list) == 0 || !slices.ContainsFunc(strings.Split(value, ","), func(e string) bool { return strings.TrimSpace(e) == "" }) {
		return false, false
	}
	sev := finding.Warning
	switch {
	case v.name == "clusters" || !s.version.IsZero() && s.version.AtLeast(4, 2, 0):
		sev = finding.Error
	case !s.atLeast(4, 2, 0):
		return false, false
	}
	full := slices.DeleteFunc(slices.Clone(list), func(e string) bool { return e == "" })
	return true, bad("malformed-value", sev, s.inPlace(at, strings.Join(full, ",")), "A comma too many leaves an element of %s empty. From 4.2 on Kafka refuses that (KIP-1161).", v.name)
}

func expected(t conf.Type) string {
	return map[conf.Type]string{conf.Boolean: "true or false", conf.Class: "the name of a class", conf.Double: "a number"}[t] + map[bool]string{true: "a whole number"}[t == conf.Int || t == conf.Short || t == conf.Long]
}

func (l *linter) whole(s *setup, at place, v verdict, value string, bad complain) bool {
	bits := map[conf.Type]int{conf.Int: 32, conf.Short: 16, conf.Long: 64}[v.typ]
	n, err := strconv.ParseInt(value, 10, bits)
	if err != nil {
		return bad("malformed-value", finding.Error, s.advice("Write a whole number."), "%q is no whole number of %d bits.", printable(value), bits)
	}
	switch {
	case strings.HasSuffix(v.name, "replication.factor") && (n == 0 || n < -1):
		return bad("malformed-value", finding.Error, s.advice("Write a number from 1, or -1 for the broker's default."), "A replication factor of %d cannot be.", n)
	case v.name == "tasks.max" && n < 1:
		return bad("malformed-value", finding.Error, s.inPlace(at, "1"), "tasks.max must be at least 1.")
	case v.name == "offset.lag.max" && n < 0:
		return bad("malformed-value", finding.Warning, s.inPlace(at, "100"), "offset.lag.max is a number of records and cannot be negative.")
	case (strings.HasPrefix(v.name, "refresh.") || strings.HasPrefix(v.name, "sync.") || strings.HasPrefix(v.name, "emit.checkpoints")) && strings.HasSuffix(v.name, ".interval.seconds") && n <= 0:
		why := "and a negative one switches the job off"
		switch {
		case strings.HasPrefix(v.name, "emit.checkpoints"):
			why = "and checkpoints are written without a pause"
		case n == 0:
			why = "and Java refuses to run the job: the connector or its task fails"
		}
		return bad("malformed-value", finding.Warning, s.advice("Write a number of seconds."), "An interval of %d seconds is none, %s.", n, why)
	case strings.HasSuffix(v.name, ".interval.seconds") && n >= 5000 && (n%1000 == 0 && (n%3600 != 0 || n > 86400) || n > 604800):
		return bad("interval-unit-suspect", finding.Warning, s.inPlace(at, strconv.FormatInt(max(n/1000, 1), 10)), "%s counts seconds: %d are %s. Milliseconds seem to be meant.", v.name, n, span4(n))
	}
	return false
}

// span4 says a number of seconds in words.
func span4(n int64) string {
	switch {
	case n >= 2*86400:
		return fmt.Sprintf("%.1f days", float64(n)/86400)
	case n >= 2*3600:
		return fmt.Sprintf("%.1f hours", float64(n)/3600)
	}
	return fmt.Sprintf("%d minutes", n/60)
}

func (l *linter) choice(s *setup, at place, v verdict, value string, bad complain) bool {
	allowed := choices[v.name]
	if len(allowed) == 0 || value == "" && v.name != "offset-syncs.topic.location" {
		return false
	}
	if v.name == "auto.offset.reset" && strings.HasPrefix(value, "by_duration:") { // KIP-1106
		return false
	}
	for _, a := range allowed {
		if a == value || strings.HasPrefix(a, "~") && strings.EqualFold(a[1:], value) {
			return false
		}
	}
	for _, a := range allowed {
		a = strings.TrimPrefix(a, "~")
		if !strings.EqualFold(a, value) {
			continue
		}
		if v.name == "security.protocol" { // KAFKA-13793: 3.3.0 - 3.5.0 want capitals
			if !s.version.IsZero() && s.version.AtLeast(3, 3, 0) && s.version.Before(3, 5, 1) {
				return bad("malformed-value", finding.Error, s.inPlace(at, a), "MirrorMaker 2 %s wants security.protocol in capitals.", s.version)
			}
			return false
		}
		if v.name == "acks" || v.name == "compression.type" || v.name == "isolation.level" || v.name == "auto.offset.reset" {
			return false // some releases take them in any case
		}
		return bad("malformed-value", finding.Error, s.inPlace(at, a), "%q must be written %s.", value, a)
	}
	var list []string
	for _, a := range allowed {
		list = append(list, strings.TrimPrefix(a, "~"))
	}
	return bad("malformed-value", finding.Error, s.advice("Write one of %s.", strings.Join(list, ", ")), "%q is none of %s.", printable(value), strings.Join(list, ", "))
}

func (l *linter) class(s *setup, at place, v verdict, value string, bad complain) bool {
	if value == "" {
		if v.name == "replication.policy.class" {
			return bad("malformed-value", finding.Error, s.advice("Remove the line, or name a class."), "%s is empty.", at.key)
		}
		return false
	}
	if !className.MatchString(value) {
		return bad("malformed-value", finding.Error, s.advice("Write the whole name of the class."), "%q is no name of a class.", printable(value))
	}
	if v.name != "replication.policy.class" {
		return false
	}
	switch base := value[strings.LastIndexByte(value, '.')+1:]; {
	case value == base:
		full := "org.apache.kafka.connect.mirror." + base
		return bad("malformed-value", finding.Error, s.inPlace(at, full), "%s has no package, so that the class is not found.", value)
	case strings.HasPrefix(value, "org.apache.kafka.") && value != mm2.DefaultPolicyClass && value != mm2.IdentityPolicyClass:
		near := mm2.DefaultPolicyClass
		if strings.Contains(strings.ToLower(value), "identity") {
			near = mm2.IdentityPolicyClass
		}
		return bad("malformed-value", finding.Error, s.inPlace(at, near), "Kafka has no class %s.", value)
	case value == mm2.IdentityPolicyClass && !s.version.IsZero() && s.version.Before(3, 0, 0):
		return bad("version-too-old-for-key", finding.Error, s.advice("Upgrade to 3.0 or later."), "IdentityReplicationPolicy exists from 3.0 on; MirrorMaker 2 %s does not find the class and does not start.", s.version)
	}
	return false
}

// host is Kafka's own pattern for an address (ClientUtils).
var host = regexp.MustCompile(`^.*?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)$`)

// markName is a name to fill in by search and replace: no host has an underscore.
var markName = regexp.MustCompile(`^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$`)

// toFill is a part of an address in angle brackets, which no name of a host has.
var toFill = regexp.MustCompile(`<[A-Za-z][\w .-]*>`)

func (l *linter) hosts(s *setup, at place, value string, bad complain) bool {
	for _, a := range mm2.SplitList(value) {
		if a == "" {
			continue
		}
		if toFill.MatchString(a) {
			l.mark(at)
			continue
		}
		if m := host.FindStringSubmatch(a); m != nil && m[1] != "" && !strings.ContainsAny(a, " \t;") {
			if port, err := strconv.Atoi(m[2]); err == nil && port > 0 && port < 65536 {
				continue
			}
			return bad("malformed-value", finding.Error, s.advice("Write HOST:PORT with a port from 1 to 65535."), "%q has no possible port.", printable(a))
		}
		if markName.MatchString(a) {
			l.mark(at)
			return false
		}
		if !strings.ContainsAny(a, ": \t;/") {
			return bad("bootstrap-port-missing", finding.Error, s.advice("Write %s:9092, or the port of the listener.", a), "%q has no port; Kafka's clients do not start with it.", printable(a))
		}
		return bad("malformed-value", finding.Error, s.advice("Separate addresses by commas, each as HOST:PORT."), "%q is no HOST:PORT.", printable(a))
	}
	return false
}

var (
	braces = regexp.MustCompile(`\{\d+\s*,\s*\d*\}`)
	glob   = regexp.MustCompile(`^[A-Za-z0-9._-]*[A-Za-z0-9_-]\*$`)
	narrow = regexp.MustCompile(`^\^?\[?\\w\]?[*+]\$?$`)
)

// patterns judges a list of Java patterns as the filters put it together: split at commas, joined with |.
func (l *linter) patterns(s *setup, at place, name, value string, bad complain) bool {
	list := mm2.SplitList(value)
	include := name == "topics" || name == "groups"
	if len(list) == 0 {
		if include && !s.off(at.key) {
			return bad("filter-too-narrow", finding.Warning, s.inPlace(at, ".*"), "An empty list of %s lets nothing through.", name)
		}
		return false
	}
	what := strings.TrimSuffix(strings.SplitN(name, ".", 2)[0], "s") + "s"
	if _, err := javaregex.Compile(strings.Join(list, "|")); err != nil {
		_, uncut := javaregex.Compile(value)
		if braces.MatchString(value) || strings.Contains(value, ",") && uncut == nil {
			return bad("regex-comma", finding.Error, s.advice("Write the pattern without a comma: {1,3} as x{1}x?x? or [0-9]+, alternatives with |."), "A comma always separates patterns, in braces too: the list is read as %s, and Java refuses it (%s).", quotedList(list), reason(err))
		}
		fix := s.advice("Correct the pattern.")
		for i, p := range list {
			if strings.HasPrefix(p, "*") {
				better := slices.Clone(list)
				better[i] = "." + p
				fix = s.inPlace(at, strings.Join(better, ","))
			}
		}
		return bad("malformed-value", finding.Error, fix, "Java refuses the pattern: %s. The connector does not start.", reason(err))
	}
	if strings.Contains(value, ",") && inBrackets(value) {
		l.add(say{slug: "regex-comma", severity: finding.Info, at: at, because: fmt.Sprintf("A comma always separates patterns, within brackets too. The list is read as %s and joined with |, which here is a pattern by chance.", quotedList(list)), fixes: s.advice("Write alternatives with |.")})
	}
	for _, p := range list {
		odd := impossible(p, what == "topics")
		switch {
		case strings.HasPrefix(p, "#"):
			return bad("comment-after-value", finding.Error, s.advice("Put the comment on a line of its own, before the setting and outside of its continued lines."), "In a properties file a continued line is a part of the value, and no comment can stand in it: %s is a pattern of the list.", printable(p))
		case odd != "" && (what == "topics" || what == "groups"):
			return bad("filter-too-narrow", finding.Warning, s.advice("Separate patterns by commas, alternatives by | without blanks."), "No name of a %s has %s in it: the pattern %s matches nothing.", strings.TrimSuffix(what, "s"), odd, printable(p))
		case len(p) > 1 && (p[0] == '"' || p[0] == '\''):
			return bad("quoted-value", finding.Warning, s.inPlace(at, strings.NewReplacer(`"`, "", `'`, "").Replace(value)), "The quotes are a part of the pattern %s, which so matches no name.", printable(p))
		case glob.MatchString(p) && !strings.HasSuffix(p, ".*"):
			stem := strings.TrimSuffix(p, "*")
			return bad("filter-too-narrow", finding.Warning, s.inPlace(at, strings.Replace(value, p, stem+".*", 1)), "Patterns are regular expressions that match whole names: %s does not match every name that begins with %s.", p, stem)
		case narrow.MatchString(p) && include:
			l.add(say{slug: "filter-too-narrow", severity: finding.Info, at: at, because: fmt.Sprintf("%s matches no name with a dot or a hyphen in it: the whole name must match.", printable(p)), fixes: s.advice("Write .* for all %s.", what)})
		}
	}
	return false
}

// impossible gives a character that a pattern asks for literally and that names do not have, or "": Kafka allows letters, digits, dots,
// hyphens and underscores in topics. Groups may have any character, yet a semicolon, or a blank beside a | or twice, separates in somebody's mind.
func impossible(pattern string, topic bool) string {
	if strings.Contains(pattern, "#") && !topic || strings.ContainsAny(pattern, "\\[\"'") || strings.HasPrefix(pattern, "(?") && strings.Contains(pattern, "x)") {
		return "" // a class or an escape may let such characters stand for others
	}
	if strings.Contains(pattern, ";") {
		return "a semicolon"
	}
	if topic && strings.ContainsAny(pattern, " \t") || strings.Contains(pattern, " |") || strings.Contains(pattern, "| ") {
		return "a blank"
	}
	if i := strings.IndexAny(pattern, "/="); topic && i >= 0 && !strings.Contains(pattern, "(?=") {
		return pattern[i : i+1]
	}
	return ""
}

// off says that a key belongs to a flow that is switched off in so many words: nothing is to pass there.
func (s *setup) off(key string) bool {
	return slices.ContainsFunc(s.flows, func(f *flow) bool {
		e, _ := f.Get(conf.Source, "enabled")
		return !f.Enabled && !e.IsDefault() && strings.EqualFold(strings.TrimSpace(e.Value), "false") && strings.HasPrefix(key, f.Name()+".")
	})
}

func reason(err error) string {
	if e, ok := err.(*javaregex.SyntaxError); ok {
		return e.Reason
	}
	return err.Error()
}

func quotedList(list []string) string {
	var out []string
	for _, p := range list {
		out = append(out, "`"+printable(p)+"`")
	}
	return strings.Join(out, " and ")
}

// inBrackets says that a comma stands within brackets or parentheses.
func inBrackets(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth > 0 {
				return true
			}
		}
	}
	return false
}

var lost = regexp.MustCompile(`\\(.)`)

// backslash: a properties file needs two backslashes for one.
func (l *linter) backslash(s *setup, at place, v verdict, e *confdoc.Entry) bool {
	pattern := slices.Contains(patternKeys, v.name)
	if !pattern && !strings.HasSuffix(v.name, ".location") || !strings.Contains(e.Raw, `\`) {
		return false
	}
	i := strings.IndexAny(e.Raw, "=:")
	var gone []string
	classes := false
	raw := strings.ReplaceAll(strings.ReplaceAll(e.Raw[max(i, 0):], "\\\r\n", ""), "\\\n", "")
	for _, m := range lost.FindAllStringSubmatch(raw, -1) {
		if strings.ContainsAny(m[1], `\ :=#!`) {
			continue
		}
		gone = append(gone, m[0])
		classes = classes || strings.ContainsAny(m[1], "dwsbDWSBtnfr")
	}
	if len(gone) == 0 {
		return false
	}
	sev, leads := finding.Info, "a pattern such as \\. so matches any character"
	if classes || !pattern {
		sev, leads = finding.Warning, "\\d so is the letter d, and \\t a tab"
	}
	l.add(say{slug: "backslash-lost", severity: sev, at: at, because: fmt.Sprintf("Java's reader of properties files takes the backslash of %s away (%s). The value is %q.", gone[0], leads, printable(e.Value)), fixes: s.advice("Write two backslashes for one: %s", strings.Join(strings.Split(gone[0], `\`), `\\`))})
	return false
}
