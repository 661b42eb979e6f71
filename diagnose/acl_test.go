package diagnose

import (
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

func acl(permission, operation, resource, name, pattern string) snapshot.Acl {
	return snapshot.Acl{Principal: "User:mm2", Host: "*", Permission: permission, Operation: operation, Resource: resource, Name: name, Pattern: pattern}
}

// TestJudge: deny before allow, prefixes, wildcards, implied operations, hosts, and what holds without any rule.
func TestJudge(t *testing.T) {
	other := acl("ALLOW", "READ", "TOPIC", "a.orders", "LITERAL")
	other.Principal = "User:app"
	host := acl("ALLOW", "READ", "TOPIC", "a.orders", "LITERAL")
	host.Host = "10.0.0.7"
	everyone := acl("ALLOW", "READ", "TOPIC", "*", "LITERAL")
	everyone.Principal = "User:*"
	read, describe := right{"READ", "TOPIC", "a.orders"}, right{"DESCRIBE", "TOPIC", "a.orders"}
	for _, c := range []struct {
		name string
		book ruleBook
		r    right
		want verdictOf
	}{
		{"no rule", ruleBook{}, read, refused},
		{"no rule, everyone may", ruleBook{everyone: true}, read, allowed},
		{"a rule for somebody else ends that", ruleBook{everyone: true, rules: []snapshot.Acl{other}}, read, refused},
		{"a rule on another topic does not", ruleBook{everyone: true, rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "x", "LITERAL")}}, read, allowed},
		{"super user", ruleBook{superUser: []string{"User:mm2"}, rules: []snapshot.Acl{acl("DENY", "ALL", "TOPIC", "*", "LITERAL")}}, read, allowed},
		{"literal", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "a.orders", "LITERAL")}}, read, allowed},
		{"a literal is no prefix", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "a.", "LITERAL")}}, read, refused},
		{"prefix", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "a.", "PREFIXED")}}, read, allowed},
		{"wildcard", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "*", "LITERAL")}}, read, allowed},
		{"a prefix * is a name", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "*", "PREFIXED")}}, read, refused},
		{"everyone's rule", ruleBook{rules: []snapshot.Acl{everyone}}, read, allowed},
		{"all operations", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "ALL", "TOPIC", "a.orders", "LITERAL")}}, read, allowed},
		{"read implies describe", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "a.orders", "LITERAL")}}, describe, allowed},
		{"describe does not imply read", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "DESCRIBE", "TOPIC", "a.orders", "LITERAL")}}, read, refused},
		{"another resource", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "GROUP", "a.orders", "LITERAL")}}, read, refused},
		{"deny beats allow", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "READ", "TOPIC", "a.orders", "LITERAL"), acl("DENY", "READ", "TOPIC", "a.", "PREFIXED")}}, read, refused},
		{"a denied read leaves describe", ruleBook{rules: []snapshot.Acl{acl("ALLOW", "WRITE", "TOPIC", "a.orders", "LITERAL"), acl("DENY", "READ", "TOPIC", "a.orders", "LITERAL")}}, describe, allowed},
		{"from one host only", ruleBook{rules: []snapshot.Acl{host}}, read, undecidedRight},
	} {
		if got := c.book.judge("User:mm2", c.r); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRightsProveNothing: where a rule cannot be read to its end, nothing is said of MirrorMaker 2, and why.
func TestRightsProveNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		silent bool // not even listed as not checked
	}{
		{"another authorizer", func(s *snapshot.Snapshot) { setting(s, "authorizer.class.name", "org.example.Authorizer") }, false},
		{"its defaults not read", func(s *snapshot.Snapshot) {
			s.Clusters[1].Settings = snapshot.NotKnown[[]snapshot.ConfigEntry](&snapshot.Gap{Code: "denied", Why: "x"})
		}, false},
		{"rules not read", func(s *snapshot.Snapshot) {
			s.Clusters[1].Acls = snapshot.NotKnown[[]snapshot.Acl](&snapshot.Gap{Code: "denied", Why: "x"})
		}, false},
		{"principal not known", func(s *snapshot.Snapshot) { s.Flows[0].Principal = snapshot.Principals{} }, false},
		{"rules not asked for", func(s *snapshot.Snapshot) { s.Clusters[1].Acls = snapshot.Fact[[]snapshot.Acl]{} }, true},
		{"no authorizer", func(s *snapshot.Snapshot) { s.Clusters[1].Acls = snapshot.None[[]snapshot.Acl]() }, true},
		{"a super user", func(s *snapshot.Snapshot) { setting(s, "super.users", "User:admin;User:mm2") }, true},
		{"the forbidden was just done", func(s *snapshot.Snapshot) {
			a, _ := s.Clusters[1].Acls.Get()
			s.Clusters[1].Acls = snapshot.Is(a[:2]) // its checkpoints are ten seconds old
		}, false},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-306/bundle.json")
		c.change(s)
		r, _ := Run(s, Options{})
		if f := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Code == 306 || f.Code == 602 }); f >= 0 {
			t.Errorf("%s: %s", c.name, r.Findings[f].Because)
		}
		listed := slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Check == "MM2D-602" })
		if listed == c.silent {
			t.Errorf("%s: not checked: %+v", c.name, r.NotChecked)
		}
	}
}

func setting(s *snapshot.Snapshot, key, value string) {
	es, _ := s.Clusters[1].Settings.Get()
	for i := range es {
		if es[i].Key == key {
			es[i].Value = value
		}
	}
	s.Clusters[1].Settings = snapshot.Is(es)
}

// TestRightsByLog: a refusal that MirrorMaker 2 logged proves it where no rule is known, as long as the log goes on with it.
func TestRightsByLog(t *testing.T) {
	for _, c := range []struct {
		name string
		sign snapshot.LogSign
		want finding.Code
	}{
		{"commit", snapshot.LogSign{Kind: aclSign, Group: "app-00", Count: 3, Last: 1000_000, Text: "Unable to sync offsets for consumer group app-00. GroupAuthorizationException"}, 306},
		{"reading a group", snapshot.LogSign{Kind: aclSign, Group: "app-00", Count: 3, Last: 1000_000, Text: "Error querying offsets for consumer group app-00 on cluster a. GroupAuthorizationException"}, 602},
		{"a topic", snapshot.LogSign{Kind: aclSign, Topic: "a.checkpoints.internal", Count: 3, Last: 1000_000, Text: "Not authorized to access topics: [a.checkpoints.internal]"}, 602},
		{"long over", snapshot.LogSign{Kind: aclSign, Group: "app-00", Count: 3, Last: 1000, Text: "Unable to sync offsets for consumer group app-00."}, 0},
		{"another kind", snapshot.LogSign{Kind: "x", Group: "app-00", Count: 3, Last: 1000_000, Text: "Unable to sync offsets for consumer group app-00."}, 0},
	} {
		s := readBundle(t, "../fixtures/codes/MM2D-306/bundle.json")
		s.Clusters[1].Acls = snapshot.Fact[[]snapshot.Acl]{}
		s.Flows[0].Log = snapshot.Is(snapshot.Log{Last: 1000_000, Signs: []snapshot.LogSign{c.sign}})
		r, _ := Run(s, Options{})
		var got finding.Code
		for _, f := range r.Findings {
			if f.Code == 306 || f.Code == 602 {
				got = f.Code
			}
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGrantTexts: the rights as kafka-acls.sh and Strimzi's KafkaUser take them.
func TestGrantTexts(t *testing.T) {
	c := newCluster(&snapshot.Cluster{Alias: "b", Bootstrap: []string{"b1:9092"}, CommandConfig: "b.properties"}, snapshot.Fact[[]snapshot.Group]{})
	rs := []right{{"READ", "GROUP", "billing eu"}, {"DESCRIBE_CONFIGS", "TOPIC", "a.orders"}, {"READ", "TOPIC", "a.orders"}, {"CREATE", "CLUSTER", clusterResource}}
	fixes := grantFixes(c, "User:CN=mm2,O=x", "t", rs)
	want := []string{
		"kafka-acls.sh --bootstrap-server b1:9092 --command-config ADMIN.properties --add --allow-principal User:CN=mm2,O=x --operation Read --group 'billing eu'",
		"kafka-acls.sh --bootstrap-server b1:9092 --command-config ADMIN.properties --add --allow-principal User:CN=mm2,O=x --operation DescribeConfigs --operation Read --topic a.orders",
		"kafka-acls.sh --bootstrap-server b1:9092 --command-config ADMIN.properties --add --allow-principal User:CN=mm2,O=x --operation Create --cluster",
	}
	for i, s := range fixes[0].Steps {
		if s.Command != want[i] {
			t.Errorf("step %d: %s", i, s.Command)
		}
	}
	yaml := `kind: KafkaUser
metadata:
  name: mm2
spec:
  authorization:
    type: simple
    acls:
      - resource:
          type: group
          name: 'billing eu'
          patternType: literal
        operations: [Read]
      - resource:
          type: topic
          name: a.orders
          patternType: literal
        operations: [DescribeConfigs, Read]
      - resource:
          type: cluster
        operations: [Create]`
	if got := fixes[1].Steps[0].Command; fixes[1].Mode != "strimzi" || got != yaml {
		t.Errorf("%s\n%s", fixes[1].Mode, got)
	}
}
