package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// verdict is what becomes of a key at its level.
type verdict struct {
	slug     string // "" where the key is read
	severity finding.Severity
	why      string
	meant    string // what to write instead, "" where nothing is
	scope    string // what stands before the key, and must before what is meant: "a->b."
	name     string // the setting itself, prefixes taken off
	typ      conf.Type
	typed    bool // typ is known, so that the value can be judged
	sure     bool // nothing but meant can be meant
}

func reads(name string, typ conf.Type) verdict { return verdict{name: name, typ: typ, typed: true} }
func plugIn(name string) verdict               { return verdict{name: name} }

func (v verdict) but(slug string, sev finding.Severity, meant, format string, args ...any) verdict {
	v.slug, v.severity, v.meant, v.why = slug, sev, meant, fmt.Sprintf(format, args...)
	return v
}

const anyConnector = conf.Source | conf.Checkpoint | conf.Heartbeat

// level is where a key stands.
type level struct {
	reader  conf.Reader // who reads it: one connector, or anyConnector in dedicated mode
	version mm2.Version
	mode    string
	flow    string // "a->b" in dedicated mode
	prefix  string // as written before the key, for suggestions
	// other says that the connector of the same flow that reads the key has it as well, or that it is not given.
	other func(r conf.Reader, key string) (has, given bool)
	value string
	own   bool // classes of the operator's own may read keys that nobody else knows
}

var clientPrefixes = []struct {
	prefix string
	of     conf.Place
	what   string
}{
	{"source.consumer.", conf.OfConsumer, "consumer"}, {"target.consumer.", conf.OfConsumer, "consumer"}, {"consumer.", conf.OfConsumer, "consumer"},
	{"source.producer.", conf.OfProducer, "producer"}, {"target.producer.", conf.OfProducer, "producer"}, {"producer.", conf.OfProducer, "producer"},
	{"source.admin.", conf.OfAdmin, "admin client"}, {"target.admin.", conf.OfAdmin, "admin client"}, {"admin.", conf.OfAdmin, "admin client"},
}

var overridePrefixes = []struct {
	prefix string
	of     conf.Place
	what   string
}{{"producer.override.", conf.OfProducer, "producer"}, {"consumer.override.", conf.OfConsumer, "consumer"}, {"admin.override.", conf.OfAdmin, "admin client"}}

// freeConnector are prefixes behind which plug-ins of the Connect framework take what they like.
var freeConnector = []string{"transforms.", "predicates.", "topic.creation.", "key.converter.", "value.converter.", "header.converter.", "config.providers.", "metrics.context."}

// freeWorker are those of the worker.
var freeWorker = []string{"key.converter.", "value.converter.", "header.converter.", "internal.key.converter.", "internal.value.converter.", "config.providers.", "metrics.context.", "listeners.https.",
	"admin.listeners.https.", "rest.", "client.", "confluent.", "offset.storage.", "status.storage.", "config.storage."}

func hasPrefix(key string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(key, p) })
}

// connectorKey judges a key of a connector's configuration.
func connectorKey(key string, at level) verdict {
	if k, ok := conf.LookupKey(key); ok && k.ReadBy&anyConnector != 0 && !(key == "security.protocol") {
		v := reads(key, k.Type)
		if aged := ageOf(v, k, at); aged.slug != "" && k.ReadBy&at.reader != 0 {
			return aged
		}
		if k.ReadBy&at.reader == 0 && key != "tasks.max" && key != "exactly.once.support" { // these two Connect itself reads
			return wrongConnector(v, k, at)
		}
		return v
	}
	if key == "clusters" {
		return verdict{name: key}.but("no-effect-key", finding.Info, "", "Only connect-mirror-maker reads clusters; a connector does not.")
	}
	if _, rest, ok := strings.Cut(key, "->"); ok && at.mode != dedicated {
		if _, k, ok := strings.Cut(rest, "."); ok {
			return verdict{name: k}.but("wrong-prefix", finding.Warning, k, "Flows stand before keys in the mm2.properties of dedicated mode only; a connector does not know %s.", printable(key))
		}
	}
	for _, side := range []string{"source.cluster.", "target.cluster."} {
		if rest, ok := strings.CutPrefix(key, side); ok {
			return sideKey(rest, side, at)
		}
	}
	for _, p := range overridePrefixes {
		rest, ok := strings.CutPrefix(key, p.prefix)
		if ok && p.of == conf.OfConsumer && at.reader&^anyConnector == 0 {
			meant := at.prefix + "source.consumer." + rest
			sev := finding.Info
			if at.mode == dedicated {
				sev = finding.Warning
			}
			return verdict{name: key}.but("wrong-prefix", sev, meant, "Connect gives %s to the consumers of sink connectors; MirrorMaker 2's own take their settings behind consumer. or source.consumer., so that it has no effect.", key)
		}
		if ok {
			return clientKey(rest, p.of, p.what, p.prefix, at)
		}
	}
	for _, p := range clientPrefixes {
		if rest, ok := strings.CutPrefix(key, p.prefix); ok {
			return mirrorClientKey(rest, p.of, p.what, p.prefix, at)
		}
	}
	if hasPrefix(key, freeConnector) {
		return plugIn(key)
	}
	if ofSinks(key) {
		return sinks(key)
	}
	k, known := conf.LookupKafkaKey(key)
	switch {
	case known && k.Of&conf.OfConnector != 0:
		return reads(key, k.Type)
	case known && conf.IsClientKey(key, at.version):
		return reads(key, k.Type).but("wrong-prefix", finding.Warning, "source.cluster."+key+" and target.cluster."+key, "The clients of a connector take %s only behind source.cluster. or target.cluster.; without a prefix it has no effect.", key)
	case isWorkerKey(key):
		if key == "group.id" {
			return verdict{name: key}.but("no-effect-key", finding.Warning, "", "A connector has no consumer group of its own: it assigns partitions itself and keeps positions in Connect's offsets topic. group.id belongs to the worker.")
		}
		return verdict{name: key}.but("no-effect-key", switchedOn(key), at.ofWorker(key), "%s is a setting of the Connect worker; in a connector's configuration nobody reads it.", key)
	case known:
		return reads(key, k.Type).but("wrong-prefix", finding.Warning, at.prefix+suggestClient(key, k.Of), "%s is a setting of a Kafka client; without the prefix of a client (%s) it has no effect.", key, suggestClient(key, k.Of))
	}
	return unknown(key, at, connectorNames)
}

// ofSinks: settings that Connect has for sink connectors alone.
func ofSinks(key string) bool {
	return strings.HasPrefix(key, "errors.deadletterqueue.") || key == "topics.regex"
}

func sinks(key string) verdict {
	if key == "topics.regex" {
		return verdict{name: key}.but("no-effect-key", finding.Warning, "", "Only sink connectors have topics.regex; MirrorMaker 2 takes regular expressions in topics.")
	}
	return verdict{name: key}.but("no-effect-key", finding.Info, "", "Only sink connectors have a dead letter queue; MirrorMaker 2's are source connectors.")
}

// sideKey judges what stands behind source.cluster. or target.cluster.: only MirrorClient's own settings are taken over.
func sideKey(key, side string, at level) verdict {
	k, known := conf.LookupKafkaKey(key)
	switch {
	case key == "alias":
		return reads(key, conf.String)
	case conf.IsClientKey(key, at.version):
		return reads(key, k.Type)
	case conf.IsClientKey(key, mm2.Version{}):
		return reads(key, k.Type).but("version-too-old-for-key", finding.Warning, "", "MirrorMaker 2 %s does not take over %s yet.", at.version, key)
	case known && k.Of&(conf.OfProducer|conf.OfConsumer|conf.OfAdmin) != 0:
		short := strings.TrimSuffix(side, "cluster.")
		meant := at.prefix + short + clientOf(k.Of) + key
		return reads(key, k.Type).but("wrong-prefix", finding.Warning, meant, "Behind %s only settings about addresses and security are taken over, so that %s has no effect.", side, key)
	}
	if _, ok := conf.LookupKey(key); ok {
		return verdict{name: key}.but("wrong-prefix", finding.Warning, at.prefix+key, "%s is a setting of the connector itself; behind %s it has no effect.", key, side)
	}
	v := unknown(key, at, clientNames)
	if v.meant != "" {
		v.meant = at.prefix + side + v.meant
	}
	return v
}

// clientKey judges a setting of one kind of client.
func clientKey(key string, of conf.Place, what, prefix string, at level) verdict {
	k, known := conf.LookupKafkaKey(key)
	if known && k.Of&of != 0 {
		return reads(key, k.Type)
	}
	if known {
		return reads(key, k.Type).but("unknown-key", finding.Info, "", "A %s has no setting %s.", what, key)
	}
	near := nearest(key, clientNames())
	if near == "" {
		return plugIn(key).but("unknown-key", finding.Info, "", "A %s has no setting %s of its own; an interceptor or another class given to it could read it.", what, key)
	}
	return verdict{name: key}.but("misspelt-key", finding.Warning, at.prefix+prefix+near, "A %s has no setting %s; %s was meant.", what, key, near)
}

// dataProducer are settings that people give a producer because of the data it writes.
var dataProducer = []string{"acks", "batch.size", "linger.ms", "compression.type", "enable.idempotence", "buffer.memory", "max.request.size", "max.in.flight.requests.per.connection", "retries", "delivery.timeout.ms"}

// mirrorClientKey judges settings of MirrorMaker 2's own clients. Its consumers assign partitions and never join a group; its
// producer writes offset syncs only, while the worker's producer writes data and checkpoints (KAFKA-13365).
func mirrorClientKey(key string, of conf.Place, what, prefix string, at level) verdict {
	v := clientKey(key, of, what, prefix, at)
	if v.slug != "" {
		return v
	}
	switch {
	case of == conf.OfConsumer && slices.Contains([]string{"group.id", "group.instance.id", "group.protocol", "partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms"}, key):
		return v.but("no-effect-key", finding.Info, "", "MirrorMaker 2's consumers assign partitions themselves and belong to no group, so that %s has no effect.", key)
	case of == conf.OfProducer && slices.Contains(dataProducer, key):
		meant := at.prefix + "producer.override." + key
		return v.but("no-effect-key", finding.Info, meant, "%s%s reaches only the producer of offset syncs; mirrored records are written by the worker's producer.", prefix, key)
	}
	return v
}

// isWorkerKey says that the Connect worker reads a key.
func isWorkerKey(key string) bool {
	if k, ok := conf.LookupKafkaKey(key); ok && k.Of&conf.OfWorker != 0 && k.Of&(conf.OfProducer|conf.OfConsumer) == 0 {
		return true
	}
	if k, ok := conf.LookupKey(key); ok && k.ReadBy&conf.Worker != 0 && k.ReadBy&anyConnector == 0 {
		return true
	}
	return key == "group.id"
}

// workerKey judges a setting behind a cluster's alias, or in the config of a resource's cluster: the worker that writes to the
// cluster reads it, and client settings reach the connectors.
func workerKey(key string, at level) verdict {
	for _, p := range overridePrefixes {
		if rest, ok := strings.CutPrefix(key, p.prefix); ok && at.mode == dedicated {
			short := strings.TrimSuffix(p.prefix, "override.")
			return verdict{name: key}.but("wrong-prefix", finding.Warning, at.prefix+short+rest, "%s is read behind a flow only; behind a cluster the client gets a setting override.%s, which does not exist.", key, rest)
		}
	}
	for _, p := range clientPrefixes[2:] {
		if rest, ok := strings.CutPrefix(key, p.prefix); ok && (p.prefix == "consumer." || p.prefix == "producer." || p.prefix == "admin.") && !isMM2(key) {
			v := clientKey(rest, p.of, p.what, p.prefix, at)
			if v.slug == "" && p.of != conf.OfProducer && at.mode == dedicated && !at.version.IsZero() && at.version.Before(2, 8, 0) {
				return v.but("no-effect-key", finding.Warning, "SOURCE->TARGET."+key, "MirrorMaker 2 %s does not pass %s on to its connectors; from 2.8 on it does.", at.version, key)
			}
			if v.slug == "" && p.of == conf.OfConsumer && rest == "group.id" {
				return v.but("no-effect-key", finding.Info, "", "MirrorMaker 2's consumers belong to no group, so that group.id has no effect.")
			}
			return v
		}
	}
	if rest, ok := strings.CutPrefix(key, "cluster."); ok && at.mode == dedicated && conf.IsClientKey(rest, mm2.Version{}) {
		return verdict{name: rest}.but("wrong-prefix", finding.Warning, at.prefix+rest, "Behind a cluster's alias a setting stands without cluster.: %s has no effect.", at.prefix+key)
	}
	k, known := conf.LookupKafkaKey(key)
	switch {
	case conf.IsClientKey(key, at.version) || isWorkerKey(key):
		if !known {
			t, _ := conf.LookupKey(key)
			return reads(key, t.Type)
		}
		return reads(key, k.Type)
	case slices.Contains([]string{"key.converter", "value.converter", "header.converter", "config.providers"}, key):
		return reads(key, k.Type)
	case known && k.Of&conf.OfWorker != 0:
		return reads(key, k.Type)
	case isMM2(key):
		return verdict{name: key, sure: at.flow != "" && at.mode == dedicated && strings.HasSuffix(at.flow, "->"+strings.TrimSuffix(at.prefix, "."))}.but("wrong-prefix", finding.Warning, at.meantFor(key), "%s is a setting of MirrorMaker 2's connectors; behind a cluster it has no effect.", key)
	case hasPrefix(key, freeWorker) && !strings.HasPrefix(key, "offset.storage.") && !strings.HasPrefix(key, "config.storage.") && !strings.HasPrefix(key, "status.storage."):
		return plugIn(key)
	case known && k.Of&(conf.OfProducer|conf.OfConsumer) != 0:
		return reads(key, k.Type).but("wrong-prefix", finding.Warning, at.prefix+suggestClient(key, k.Of), "%s is a setting of a Kafka client; behind a cluster it is read only as %s.", key, suggestClient(key, k.Of))
	case known && k.Of == conf.OfConnector:
		return verdict{name: key}.but("wrong-prefix", finding.Warning, at.meantFor(key), "%s is a setting of connectors; behind a cluster it has no effect.", key)
	case brokerKey(key):
		return verdict{name: key}.but("unknown-key", finding.Warning, "", "%s is a setting of brokers; MirrorMaker 2 does not read it.", key)
	}
	if near := nearest(key, mm2Names()); near != "" {
		return verdict{name: key}.but("wrong-prefix", finding.Warning, at.meantFor(near), "No setting has the name %s. It looks like %s, which is a setting of MirrorMaker 2's connectors and has no effect behind a cluster.", key, near)
	}
	v := unknown(key, at, workerNames)
	if v.slug == "misspelt-key" {
		v.meant = at.prefix + v.meant
	}
	return v
}

// meantFor is where a connector's setting belongs.
func (at level) meantFor(key string) string {
	if at.mode == strimzi {
		return key + " under the config of the connector"
	}
	if at.flow != "" {
		return at.flow + "." + key
	}
	return "SOURCE->TARGET." + key + ", or " + key + " for all flows"
}

// ofWorker is where a setting of the worker belongs that stands behind a flow.
func (at level) ofWorker(key string) string {
	if _, target, ok := strings.Cut(at.flow, "->"); ok && at.mode == dedicated {
		return target + "." + key
	}
	return ""
}

// switchedOn: most settings of the worker are a matter of taste; who believes to have exactly-once and has not loses by it.
func switchedOn(key string) finding.Severity {
	if key == "exactly.once.source.support" {
		return finding.Warning
	}
	return finding.Info
}

func isMM2(key string) bool {
	k, ok := conf.LookupKey(key)
	return ok && k.ReadBy&anyConnector != 0 && !slices.Contains([]string{"key.converter", "tasks.max", "security.protocol", "metric.reporters"}, key) || key == "tasks.max"
}

// brokerKey knows what people take over from server.properties.
func brokerKey(key string) bool {
	return slices.Contains([]string{"default.replication.factor", "auto.create.topics.enable", "num.partitions", "min.insync.replicas", "ssl.client.auth", "log.retention.hours", "log.retention.ms", "log.dirs",
		"inter.broker.protocol.version", "unclean.leader.election.enable", "delete.topic.enable", "authorizer.class.name", "super.users", "advertised.listeners", "zookeeper.connect"}, key) ||
		hasPrefix(key, []string{"transaction.state.log.", "offsets.topic.", "log.cleaner.", "zookeeper."})
}

func clientOf(of conf.Place) string {
	switch {
	case of&conf.OfConsumer != 0:
		return "consumer."
	case of&conf.OfProducer != 0:
		return "producer."
	}
	return "admin."
}

func suggestClient(key string, of conf.Place) string { return clientOf(of) + key }

// wrongConnector: a key that another connector reads.
func wrongConnector(v verdict, k conf.Key, at level) verdict {
	owner := conf.Source
	for _, r := range []conf.Reader{conf.Checkpoint, conf.Source, conf.Heartbeat} {
		if k.ReadBy&r != 0 {
			owner = r
			break
		}
	}
	readers := owner.String() + " alone"
	if both := conf.Source | conf.Checkpoint; k.ReadBy&both == both {
		readers = conf.Source.String() + " and the " + conf.Checkpoint.String()
	}
	v = v.but("key-on-wrong-connector", finding.Info, "", "%s is read by the %s; the %s ignores it.", k.Name, readers, at.reader)
	if owner != conf.Checkpoint || at.reader != conf.Source {
		return v
	}
	// Settings of the checkpoint chain are missed where they are missing.
	if def, ok := k.Default(at.version); ok && strings.ReplaceAll(def, " ", "") == strings.ReplaceAll(strings.TrimSpace(at.value), " ", "") && strings.HasPrefix(k.Name, "groups") {
		return v
	}
	if at.other != nil {
		if has, given := at.other(owner, k.Name); has && given {
			return v
		}
	}
	v.severity = finding.Warning
	return v
}

// ageOf: the stated release does not know the key yet, or no more.
func ageOf(v verdict, k conf.Key, at level) verdict {
	switch ver := at.version; {
	case !k.Removed.IsZero() && (ver.IsZero() || !ver.Before(k.Deprecated.Major, k.Deprecated.Minor, k.Deprecated.Patch)):
		meant := ""
		for _, n := range conf.Keys() {
			if n.Was == k.Name {
				meant = n.Name
			}
		}
		text := fmt.Sprintf("%s is deprecated since %s and not read from %s on", k.Name, short(k.Deprecated), short(k.Removed))
		if meant != "" {
			text += ", where the default of " + meant + " counts instead"
		}
		v.sure, v.scope = meant != "", at.prefix
		return v.but("removed-key", finding.Warning, meant, "%s.", text)
	case !ver.IsZero() && ver.Compare(k.Since) < 0:
		sev := finding.Warning
		if strings.HasPrefix(k.Name, "sync.group.offsets.") || k.Name == "offset-syncs.topic.location" {
			sev = finding.Error
		}
		was := ""
		if k.Was != "" {
			was = "; before, it was called " + k.Was
		}
		v.scope = at.prefix
		return v.but("version-too-old-for-key", sev, k.Was, "%s exists from %s on%s. MirrorMaker 2 %s ignores it.", k.Name, short(k.Since), was, ver)
	}
	return v
}

func short(v mm2.Version) string {
	if v.Patch == 0 {
		return fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	return v.String()
}

// unknown: nobody has a setting of that name.
func unknown(key string, at level, names func() []string) verdict {
	v := verdict{name: key}
	if near := nearest(key, names()); near != "" {
		sev := finding.Warning
		if k, ok := conf.LookupKey(near); ok && k.Type == conf.Boolean {
			if def, _ := k.Default(at.version); !strings.EqualFold(strings.TrimSpace(at.value), def) && k.ReadBy&(conf.Source|conf.Checkpoint) != 0 {
				sev = finding.Error // a switch that stays where it was
			}
		}
		v.sure, v.scope = onlyNear(key, near, names()), at.prefix
		return v.but("misspelt-key", sev, near, "No setting has the name %s; %s is meant. MirrorMaker 2 ignores unknown settings without an error, and the default stays in force.", printable(key), near)
	}
	if k, ok := conf.LookupKey(key); ok && k.ReadBy&conf.Driver != 0 && at.mode == dedicated {
		return v.but("wrong-prefix", finding.Warning, key, "connect-mirror-maker itself reads %s, without a prefix; here it has no effect.", key)
	}
	if at.own {
		return v.but("unknown-key", finding.Info, "", "Kafka has no setting %s; only the class of your own that is configured here can read it.", printable(key))
	}
	return v.but("unknown-key", finding.Warning, "", "Neither MirrorMaker 2 nor Connect nor Kafka's clients have a setting %s. It is ignored without an error.", printable(key))
}
