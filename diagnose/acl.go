package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// right is one thing that a principal has to be allowed. Words are those of kafka-acls.sh.
type right struct {
	operation string // READ, WRITE, CREATE, DESCRIBE, DESCRIBE_CONFIGS
	resource  string // TOPIC, GROUP, CLUSTER
	name      string // kafka-cluster for CLUSTER
}

func (r right) String() string {
	if r.resource == "CLUSTER" {
		return r.operation + " on the cluster"
	}
	return r.operation + " on " + strings.ToLower(r.resource) + " " + r.name
}

const clusterResource = "kafka-cluster"

// authorizers are those whose rules are known: SimpleAclAuthorizer up to 2.3, AclAuthorizer with ZooKeeper, StandardAuthorizer
// with KRaft. They judge alike.
var authorizers = []string{
	"org.apache.kafka.metadata.authorizer.StandardAuthorizer",
	"kafka.security.authorizer.AclAuthorizer",
	"kafka.security.auth.SimpleAclAuthorizer",
}

// ruleBook is what a cluster allows, as far as it is known.
type ruleBook struct {
	rules     []snapshot.Acl
	everyone  bool     // allow.everyone.if.no.acl.found
	superUser []string // super.users
}

// ruleBook reads the rules of a cluster; the gap says why nothing can be proved by them, "none" that there is no authorizer.
func (v *View) ruleBook(c *clusterView) (ruleBook, *snapshot.Gap) {
	v.touch(finding.AclRules | finding.BrokerSettings)
	rules, st := c.Acls.Get()
	switch st {
	case snapshot.Absent:
		return ruleBook{}, &snapshot.Gap{Code: "none", Why: "the cluster has no authorizer"}
	case snapshot.Unknown:
		if c.Acls.Why() == nil {
			return ruleBook{}, &snapshot.Gap{Code: "not-asked", Cluster: c.Alias, API: "DescribeAcls", Why: "not asked"}
		}
		return ruleBook{}, c.Acls.Why()
	}
	class := entryIn(c.Settings, "authorizer.class.name")
	if class.Unknown() {
		return ruleBook{}, settingGap(c, class.Why())
	}
	name := strings.TrimSpace(class.Or(snapshot.ConfigEntry{}).Value)
	if name == "" {
		return ruleBook{}, &snapshot.Gap{Code: "none", Why: "the cluster has no authorizer"}
	}
	if !slices.Contains(authorizers, name) {
		return ruleBook{}, &snapshot.Gap{Code: "undetermined", Cluster: c.Alias, Why: fmt.Sprintf("the authorizer %q judges by rules of its own", name)}
	}
	b := ruleBook{rules: rules}
	for _, e := range []struct {
		key string
		set func(string)
	}{
		{"allow.everyone.if.no.acl.found", func(s string) { b.everyone = strings.EqualFold(strings.TrimSpace(s), "true") }},
		{"super.users", func(s string) {
			for u := range strings.SplitSeq(s, ";") {
				if u = strings.TrimSpace(u); u != "" {
					b.superUser = append(b.superUser, u)
				}
			}
		}},
	} {
		f := entryIn(c.Settings, e.key)
		if f.Unknown() {
			return ruleBook{}, settingGap(c, f.Why())
		}
		e.set(f.Or(snapshot.ConfigEntry{}).Value)
	}
	return b, nil
}

func settingGap(c *clusterView, g *snapshot.Gap) *snapshot.Gap {
	if g != nil {
		return g
	}
	return &snapshot.Gap{Code: "not-asked", Cluster: c.Alias, API: "DescribeConfigs broker", Why: "the authorizer's settings were not asked for"}
}

// implied are the operations each of which also allows the one looked up; a DENY counts for the very operation only.
var implied = map[string][]string{
	"DESCRIBE":         {"READ", "WRITE", "DELETE", "ALTER"},
	"DESCRIBE_CONFIGS": {"ALTER_CONFIGS"},
}

// verdictOf a right: allowed, refused, or not to be told because a rule is for certain hosts only.
type verdictOf int

const (
	undecidedRight verdictOf = iota
	allowed
	refused
)

// judge decides as Kafka's own authorizers do: a super user may do everything; else any matching DENY refuses; else any matching
// ALLOW allows; with no rule at all for the resource allow.everyone.if.no.acl.found decides.
func (b ruleBook) judge(principal string, r right) verdictOf {
	if slices.Contains(b.superUser, principal) {
		return allowed
	}
	any, allow, maybe := false, false, false
	for _, a := range b.rules {
		if !aclRule(a).covers(r) {
			continue
		}
		any = true
		if a.Principal != principal && a.Principal != "User:*" {
			continue
		}
		deny := a.Permission == "DENY"
		if a.Operation != r.operation && a.Operation != "ALL" && (deny || !slices.Contains(implied[r.operation], a.Operation)) {
			continue
		}
		switch {
		case a.Host != "*" && a.Host != "":
			maybe = true // from which host MirrorMaker 2 connects is not known
		case deny:
			return refused
		default:
			allow = true
		}
	}
	switch {
	case maybe:
		return undecidedRight
	case allow || !any && b.everyone:
		return allowed
	}
	return refused
}

// denying are the rules that refuse a right outright; no grant helps against them.
func (b ruleBook) denying(principal string, r right) (out []snapshot.Acl) {
	for _, a := range b.rules {
		if a.Permission == "DENY" && aclRule(a).covers(r) && (a.Principal == principal || a.Principal == "User:*") && (a.Operation == r.operation || a.Operation == "ALL") {
			out = append(out, a)
		}
	}
	return out
}

// without is the same book after some of its rules were taken away.
func (b ruleBook) without(rules []snapshot.Acl) ruleBook {
	b.rules = slices.DeleteFunc(slices.Clone(b.rules), func(a snapshot.Acl) bool { return slices.Contains(rules, a) })
	return b
}

// removeCommand takes a denying rule away.
func removeCommand(c *clusterView, a snapshot.Acl) string {
	cmd := aclCommand(c, a.Principal, []string{a.Operation}, a.Resource, a.Name)
	cmd = strings.Replace(cmd, " --add --allow-principal ", " --remove --deny-principal ", 1)
	if a.Host != "*" && a.Host != "" {
		cmd += " --deny-host " + finding.Quote(a.Host)
	}
	if a.Pattern == "PREFIXED" {
		cmd += " --resource-pattern-type prefixed"
	}
	return cmd
}

// aclRule adds what a rule means to the snapshot's value.
type aclRule snapshot.Acl

func (a aclRule) covers(r right) bool {
	if a.Resource != r.resource {
		return false
	}
	if a.Pattern == "PREFIXED" {
		return strings.HasPrefix(r.name, a.Name)
	}
	return a.Name == r.name || a.Name == "*"
}

// aclCommand grants rights on one resource, as Kafka's own tool takes them.
func aclCommand(c *clusterView, principal string, operations []string, resource, name string) string {
	// Whoever lacks a right may not grant it either: the operator's own file comes in.
	cmd := "kafka-acls.sh --bootstrap-server " + finding.Quote(strings.Join(c.Bootstrap, ","))
	if c.CommandConfig != "" {
		cmd += " --command-config ADMIN.properties"
	}
	cmd += " --add --allow-principal " + finding.Quote(principal)
	for _, op := range operations {
		cmd += " --operation " + camel(op)
	}
	switch resource {
	case "TOPIC":
		return cmd + " --topic " + finding.Quote(name)
	case "GROUP":
		return cmd + " --group " + finding.Quote(name)
	}
	return cmd + " --cluster"
}

// camel writes DESCRIBE_CONFIGS as kafka-acls.sh and Strimzi do: DescribeConfigs.
func camel(op string) string {
	var b strings.Builder
	for w := range strings.SplitSeq(op, "_") {
		if w != "" {
			b.WriteString(w[:1] + strings.ToLower(w[1:]))
		}
	}
	return b.String()
}

// grant is all rights on one resource.
type grant struct {
	resource, name string
	operations     []string
}

// grants sorts rights by resource.
func grants(rs []right) []grant {
	var out []grant
	for _, r := range rs {
		i := slices.IndexFunc(out, func(g grant) bool { return g.resource == r.resource && g.name == r.name })
		if i < 0 {
			out = append(out, grant{resource: r.resource, name: r.name})
			i = len(out) - 1
		}
		if !slices.Contains(out[i].operations, r.operation) {
			out[i].operations = append(out[i].operations, r.operation)
		}
	}
	return out
}

// grantFixes give the rights in the two ways that are in use: by Kafka's tool, and by the KafkaUser of Strimzi, whose operator
// takes back what it does not name.
func grantFixes(c *clusterView, principal, text string, rs []right) []finding.Fix {
	gs := grants(rs)
	kafka := finding.Fix{Mode: "kafka", Text: text}
	for _, g := range gs {
		cmd := aclCommand(c, principal, g.operations, g.resource, g.name)
		kafka.Steps = append(kafka.Steps, finding.Step{Text: "on " + c.Alias, Command: cmd, Undo: strings.Replace(cmd, " --add ", " --remove ", 1)})
	}
	return []finding.Fix{kafka, {Mode: "strimzi", Text: "With Strimzi's User Operator on " + c.Alias + ": add these to spec.authorization.acls of the KafkaUser; rules that were made by kafka-acls.sh for one of its users are taken back.",
		Steps: []finding.Step{{Text: "KafkaUser " + userName(principal), Command: kafkaUser(principal, gs)}}}}
}

func userName(principal string) string {
	name := strings.TrimPrefix(principal, "User:")
	if cn, ok := strings.CutPrefix(name, "CN="); ok { // mutual TLS: the operator names users by their common name
		name, _, _ = strings.Cut(cn, ",")
	}
	return name
}

// kafkaUser is the part of a KafkaUser that grants the rights.
func kafkaUser(principal string, gs []grant) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kind: KafkaUser\nmetadata:\n  name: %s\nspec:\n  authorization:\n    type: simple\n    acls:\n", yamlText(userName(principal)))
	for _, g := range gs {
		fmt.Fprintf(&b, "      - resource:\n          type: %s\n", strings.ToLower(g.resource))
		if g.resource != "CLUSTER" {
			fmt.Fprintf(&b, "          name: %s\n          patternType: literal\n", yamlText(g.name))
		}
		ops := make([]string, len(g.operations))
		for i, op := range g.operations {
			ops[i] = camel(op)
		}
		fmt.Fprintf(&b, "        operations: [%s]\n", strings.Join(ops, ", "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// yamlText quotes what YAML would not read as the same text.
func yamlText(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/", r))
	}) < 0 && s[0] > '9' {
		switch strings.ToLower(s) {
		case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		default:
			return s
		}
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
