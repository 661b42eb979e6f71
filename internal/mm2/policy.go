package mm2

import (
	"strings"
	"unicode/utf8"
)

// PolicyKind is how far a replication policy is known.
type PolicyKind int

// The kinds. PolicyLegacyIdentity are the two classes in use before IdentityReplicationPolicy came with 3.0.0 (KAFKA-9726):
// they keep names, but nothing is known of how they treat heartbeats, and their internal topics are named as in 2.4 - 3.0.
const (
	PolicyUnknown PolicyKind = iota
	PolicyDefault
	PolicyIdentity
	PolicyLegacyIdentity
)

// Class names of policies.
const (
	DefaultPolicyClass         = "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"
	IdentityPolicyClass        = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
	StrimziIdentityPolicyClass = "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy"
	AWSIdentityPolicyClass     = "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy"
)

// DefaultSeparator stands between alias and topic unless replication.policy.separator says otherwise.
const DefaultSeparator = "."

// Policy makes and reads the names of remote topics. Use NewPolicy.
type Policy struct {
	Kind      PolicyKind
	Class     string
	Source    string // source.cluster.alias; what the identity policies give as every topic's source
	Separator string // of remote topics
	Internal  string // separator in the names of internal topics
}

// PolicyConfig are the settings that decide a policy. SeparatorSet says that replication.policy.separator is present in
// the connector's configuration, even if empty.
type PolicyConfig struct {
	Class                    string // replication.policy.class; "" is the default policy
	Separator                string
	SeparatorSet             bool
	InternalSeparatorEnabled bool   // replication.policy.internal.topic.separator.enabled, true by default
	SourceAlias              string // source.cluster.alias
}

// NewPolicy gives the policy as the given release understands the settings; without a version, as the newest does.
func NewPolicy(c PolicyConfig, v Version) Policy {
	p := Policy{Class: strings.TrimSpace(c.Class), Source: c.SourceAlias, Separator: DefaultSeparator}
	if p.Class == "" {
		p.Class = DefaultPolicyClass
	}
	if c.SeparatorSet {
		p.Separator = strings.TrimSpace(c.Separator) // ConfigDef trims strings
	}
	switch p.Class {
	case DefaultPolicyClass:
		p.Kind = PolicyDefault
	case IdentityPolicyClass:
		p.Kind = PolicyIdentity
		if !v.IsZero() && v.Before(3, 0, 0) {
			p.Kind = PolicyUnknown // no such class yet: the connectors do not start
		}
	case StrimziIdentityPolicyClass, AWSIdentityPolicyClass:
		p.Kind = PolicyLegacyIdentity
	}
	p.Internal = internalSeparator(p, c, v)
	return p
}

// internalSeparator: always "." before 3.1.0; then the separator of the policy (KIP-690, KAFKA-10777); from 3.5.2 and
// 3.6.0 on the flag of KIP-949 brings "." back, but only where the separator is set as well.
func internalSeparator(p Policy, c PolicyConfig, v Version) string {
	switch {
	case !v.IsZero() && v.Before(3, 1, 0), p.Kind == PolicyLegacyIdentity, p.Kind == PolicyUnknown:
		return DefaultSeparator
	case !c.SeparatorSet:
		return DefaultSeparator
	case !c.InternalSeparatorEnabled && (v.IsZero() || v.AtLeast(3, 5, 2)):
		return DefaultSeparator
	}
	return p.Separator
}

// ShortClass gives the class name without its package for the known policies, the full name otherwise.
func (p Policy) ShortClass() string {
	if p.Kind == PolicyUnknown && p.Class != IdentityPolicyClass {
		return p.Class
	}
	return p.Class[strings.LastIndexByte(p.Class, '.')+1:]
}

// FormatRemoteTopic gives the name on the target of a topic of cluster source. known is false for a policy whose rule is
// not known.
func (p Policy) FormatRemoteTopic(source, topic string) (name string, known bool) {
	switch {
	case p.Kind == PolicyDefault, p.Kind == PolicyIdentity && heartbeatLike(topic):
		return source + p.Separator + topic, true
	case p.Kind == PolicyIdentity, p.Kind == PolicyLegacyIdentity && !heartbeatLike(topic):
		return topic, true
	}
	return "", false
}

// heartbeatLike is the identity policy's test: any topic whose name ends so is treated as by the default policy, a user's
// "device-heartbeats" as well.
func heartbeatLike(topic string) bool { return strings.HasSuffix(topic, HeartbeatsTopic) }

// TopicSource gives the alias of the cluster that a topic was mirrored from. remote is false for a topic that is not
// remote. The default policy takes everything before the first separator for an alias, in "orders.eu" as well.
func (p Policy) TopicSource(topic string) (alias string, remote, known bool) {
	switch {
	case p.Kind == PolicyDefault, p.Kind == PolicyIdentity && heartbeatLike(topic):
		alias, remote = splitAlias(topic, p.Separator)
		return alias, remote, true
	case p.Kind == PolicyIdentity, p.Kind == PolicyLegacyIdentity && !heartbeatLike(topic):
		return p.Source, p.Source != "", true
	}
	return "", false, false
}

// splitAlias is Java's split: trailing empty parts do not count, so "orders." and "orders.." are not remote; an empty
// separator splits behind the first character.
func splitAlias(topic, separator string) (alias string, remote bool) {
	if separator == "" {
		if utf8.RuneCountInString(topic) < 2 {
			return "", false
		}
		_, n := utf8.DecodeRuneInString(topic)
		return topic[:n], true
	}
	alias, rest, found := strings.Cut(topic, separator)
	if !found || strings.ReplaceAll(rest, separator, "") == "" {
		return "", false
	}
	return alias, true
}

// UpstreamTopic gives the name that a remote topic has on the cluster it was mirrored from.
func (p Policy) UpstreamTopic(topic string) (name string, remote, known bool) {
	switch {
	case p.Kind == PolicyDefault, p.Kind == PolicyIdentity && heartbeatLike(topic):
		alias, remote := splitAlias(topic, p.Separator)
		if !remote {
			return "", false, true
		}
		return topic[len(alias)+len(p.Separator):], true, true
	case p.Kind == PolicyIdentity, p.Kind == PolicyLegacyIdentity && !heartbeatLike(topic):
		return topic, true, true
	}
	return "", false, false
}

// OriginalTopic follows UpstreamTopic to the first cluster.
func (p Policy) OriginalTopic(topic string) (name string, known bool) {
	for {
		up, remote, known := p.UpstreamTopic(topic)
		if !known {
			return "", false
		}
		if !remote || up == topic {
			return topic, true
		}
		topic = up
	}
}

// IsHeartbeats says that a topic is the heartbeats topic or a mirrored copy of one.
func (p Policy) IsHeartbeats(topic string) (yes, known bool) {
	original, known := p.OriginalTopic(topic)
	return original == HeartbeatsTopic, known
}

// IsCycle says that a topic passed through cluster target before, so that the source connector leaves it alone. With the
// identity policy there is no such protection.
func (p Policy) IsCycle(topic, target string) (yes, known bool) {
	for {
		source, remote, known := p.TopicSource(topic)
		if !known {
			return false, false
		}
		if !remote {
			return false, true
		}
		if source == target {
			return true, true
		}
		up, remote, _ := p.UpstreamTopic(topic)
		if !remote || up == topic {
			return false, true
		}
		topic = up
	}
}
