package conf

import (
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Type is the ConfigDef type of a setting.
type Type int

// The types that occur.
const (
	String Type = iota
	Boolean
	Int
	Short
	Long
	List
	Class
	Double
	Password
)

// Reader is who reads a setting; a set of bits.
type Reader uint8

// The readers. In dedicated mode the three connectors get the same settings; Worker is the Connect worker below them,
// Driver is connect-mirror-maker itself, Client an application that uses MirrorClient.
const (
	Source Reader = 1 << iota
	Checkpoint
	Heartbeat
	Worker
	Driver
	Client
)

// String gives the short class of a connector, "the worker" or "connect-mirror-maker".
func (r Reader) String() string {
	switch r {
	case Source:
		return "MirrorSourceConnector"
	case Checkpoint:
		return "MirrorCheckpointConnector"
	case Heartbeat:
		return "MirrorHeartbeatConnector"
	case Worker:
		return "the worker"
	}
	return "connect-mirror-maker"
}

// Default is a default value in the releases From <= v < Before; a zero version is an open end.
type Default struct {
	From, Before mm2.Version
	Value        string
}

// Key is a setting. It is read in the releases Since <= v < Removed; a zero version is an open end.
type Key struct {
	Name                       string
	Type                       Type
	ReadBy                     Reader
	Since, Deprecated, Removed mm2.Version
	Was                        string // older name
	Defaults                   []Default
}

// LookupKey gives what is known of a setting; false for one that neither connectors, worker nor driver know by this table.
func LookupKey(name string) (Key, bool) {
	i, ok := keyIndex[name]
	if !ok {
		return Key{}, false
	}
	return keys[i], true
}

var keyIndex = func() map[string]int {
	m := make(map[string]int, len(keys))
	for i := len(keys) - 1; i >= 0; i-- {
		m[keys[i].Name] = i
	}
	return m
}()

// Keys gives the whole table, in the order of a reader's interest.
func Keys() []Key { return slices.Clone(keys) }

// In says that a release reads the setting; without a version, that the newest does.
func (k Key) In(v mm2.Version) bool { return within(v, k.Since, k.Removed) }

// Default gives the default in a release; without a version, in the newest. False where there is none.
func (k Key) Default(v mm2.Version) (string, bool) {
	for _, d := range k.Defaults {
		if within(v, d.From, d.Before) {
			return d.Value, true
		}
	}
	return "", false
}

func within(v, from, before mm2.Version) bool {
	if v.IsZero() {
		return before.IsZero()
	}
	return v.Compare(from) >= 0 && (before.IsZero() || v.Compare(before) < 0)
}

// frameworkKeys are the settings that every Connect source connector defines, with the first release that has them.
var frameworkKeys = map[string]mm2.Version{
	"name": {}, "connector.class": {}, "tasks.max": {}, "tasks.max.enforce": mm2.V(3, 8, 0),
	"key.converter": {}, "value.converter": {}, "header.converter": {}, "transforms": {}, "predicates": mm2.V(2, 6, 0),
	"errors.tolerance": {}, "errors.retry.timeout": {}, "errors.retry.delay.max.ms": {}, "errors.log.enable": {},
	"errors.log.include.messages": {}, "config.action.reload": {}, "connector.plugin.version": mm2.V(4, 1, 0),
	"key.converter.plugin.version": mm2.V(4, 1, 0), "value.converter.plugin.version": mm2.V(4, 1, 0),
	"header.converter.plugin.version": mm2.V(4, 1, 0),
}

// clientKeys are the settings that MirrorClient's ConfigDef has: what MirrorMaker 2 copies to its own clients. All other
// client settings, such as request.timeout.ms, must be written with consumer., producer. or admin. before them.
var clientKeys = func() map[string]mm2.Version {
	m := map[string]mm2.Version{}
	add := func(since mm2.Version, prefix, names string) {
		for _, n := range strings.Fields(names) {
			m[prefix+n] = since
		}
	}
	add(none, "", "bootstrap.servers security.protocol sasl.mechanism sasl.jaas.config sasl.client.callback.handler.class")
	add(none, "sasl.login.", "class callback.handler.class refresh.buffer.seconds refresh.min.period.seconds refresh.window.factor refresh.window.jitter")
	add(none, "sasl.kerberos.", "kinit.cmd min.time.before.relogin service.name ticket.renew.jitter ticket.renew.window.factor")
	add(none, "ssl.", "cipher.suites enabled.protocols endpoint.identification.algorithm key.password keymanager.algorithm keystore.location keystore.password keystore.type protocol provider secure.random.implementation trustmanager.algorithm truststore.location truststore.password truststore.type")
	add(mm2.V(2, 6, 0), "ssl.", "engine.factory.class")                                                            // KIP-519
	add(mm2.V(2, 7, 0), "ssl.", "keystore.certificate.chain keystore.key truststore.certificates")                 // KIP-651
	add(mm2.V(3, 1, 0), "sasl.login.", "connect.timeout.ms read.timeout.ms retry.backoff.max.ms retry.backoff.ms") // KIP-768
	add(mm2.V(3, 1, 0), "sasl.oauthbearer.", "clock.skew.seconds expected.audience expected.issuer jwks.endpoint.refresh.ms jwks.endpoint.retry.backoff.max.ms jwks.endpoint.retry.backoff.ms jwks.endpoint.url scope.claim.name sub.claim.name token.endpoint.url")
	add(mm2.V(3, 9, 0), "sasl.oauthbearer.", "header.urlencode")                                                                                                                                                                                                                                                                                                                                                                   // KIP-1075
	add(mm2.V(4, 1, 0), "sasl.oauthbearer.", "assertion.algorithm assertion.claim.aud assertion.claim.exp.seconds assertion.claim.iss assertion.claim.jti.include assertion.claim.nbf.seconds assertion.claim.sub assertion.file assertion.private.key.file assertion.private.key.passphrase assertion.template.file client.credentials.client.id client.credentials.client.secret jwt.retriever.class jwt.validator.class scope") // KIP-1139
	return m
}()

func has(m map[string]mm2.Version, key string, v mm2.Version) bool {
	since, ok := m[key]
	return ok && (v.IsZero() || v.Compare(since) >= 0)
}

// IsClientKey says that MirrorMaker 2 copies the setting to its clients when it is written behind a cluster's alias, or
// bare for all clusters.
func IsClientKey(key string, v mm2.Version) bool { return has(clientKeys, key, v) }

// connectorOnly are keys of the table that some connector reads without having them in its ConfigDef; bare, they are lost.
var connectorOnly = []string{"source.cluster.bootstrap.servers", "target.cluster.bootstrap.servers", "task.assigned.groups",
	"task.assigned.partitions", "task.index", "exactly.once.support", "use.defaults.from"}

// IsConnectorKey says that a bare key of mm2.properties reaches the connectors: it stands in the ConfigDef of one of them.
func IsConnectorKey(key string, v mm2.Version) bool {
	if has(frameworkKeys, key, v) {
		return true
	}
	switch key {
	case "bootstrap.servers":
		return false
	case "auto.include.jmx.reporter":
		return within(v, mm2.V(3, 4, 0), mm2.V(4, 0, 0))
	case "config.providers": // forwarded anyway; in the ConfigDef from 4.3 on
		return v.IsZero() || v.AtLeast(4, 3, 0)
	}
	if IsClientKey(key, v) {
		return true
	}
	k, ok := LookupKey(key)
	return ok && k.In(v) && k.ReadBy&(Source|Checkpoint|Heartbeat) != 0 && !slices.Contains(connectorOnly, key)
}
