package conf

import "strings"

// Place is who of Kafka itself reads a setting; a set of bits.
type Place uint8

// The places.
const (
	OfProducer Place = 1 << iota
	OfConsumer
	OfAdmin
	OfWorker    // the Connect worker
	OfConnector // the Connect framework, of a source connector
)

// KafkaKey is a setting of Kafka's clients or of Connect.
type KafkaKey struct {
	Type Type
	Of   Place
}

// LookupKafkaKey gives what is known of a setting of Kafka's clients or of Connect; false for one that neither has. The table
// is the union of the ConfigDefs of 2.8.2, 3.3.1, 3.9.1 and 4.3.1, read by reflection: it tells names that exist somewhere
// from names that exist nowhere.
func LookupKafkaKey(name string) (KafkaKey, bool) {
	k, ok := kafkaKeys[name]
	return k, ok
}

// KafkaKeyNames gives all of them.
func KafkaKeyNames() []string {
	out := make([]string, 0, len(kafkaKeys))
	for k := range kafkaKeys {
		out = append(out, k)
	}
	return out
}

var kafkaKeys = func() map[string]KafkaKey {
	m := map[string]KafkaKey{}
	for _, row := range kafkaKeyRows {
		for _, n := range strings.Fields(row.names) {
			m[n] = KafkaKey{row.typ, row.of}
		}
	}
	return m
}()

var kafkaKeyRows = []struct {
	typ   Type
	of    Place
	names string
}{
	{Boolean, OfConnector, `errors.log.enable errors.log.include.messages tasks.max.enforce`},
	{Boolean, OfConsumer, `allow.auto.create.topics check.crcs enable.auto.commit exclude.internal.topics`},
	{Boolean, OfProducer, `enable.idempotence partitioner.adaptive.partitioning.enable partitioner.ignore.keys transaction.two.phase.commit.enable`},
	{Boolean, OfProducer | OfConsumer | OfAdmin, `auto.include.jmx.reporter enable.metrics.push sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.header.urlencode`},
	{Boolean, OfWorker, `topic.creation.enable topic.tracking.allow.reset topic.tracking.enable`},
	{Class, OfConsumer, `key.deserializer value.deserializer`},
	{Class, OfProducer, `key.serializer partitioner.class value.serializer`},
	{Class, OfProducer | OfConsumer | OfAdmin, `sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class`},
	{Class, OfProducer | OfConsumer | OfAdmin | OfWorker, `sasl.client.callback.handler.class sasl.login.callback.handler.class sasl.login.class ssl.engine.factory.class`},
	{Class, OfWorker | OfConnector, `header.converter key.converter value.converter`},
	{Double, OfProducer | OfConsumer | OfAdmin | OfWorker, `sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor sasl.login.refresh.window.factor sasl.login.refresh.window.jitter`},
	{Int, OfConnector, `tasks.max`},
	{Int, OfConsumer, `auto.commit.interval.ms fetch.max.bytes fetch.max.wait.ms fetch.min.bytes max.partition.fetch.bytes max.poll.interval.ms max.poll.records`},
	{Int, OfConsumer | OfAdmin, `default.api.timeout.ms`},
	{Int, OfConsumer | OfWorker, `heartbeat.interval.ms session.timeout.ms`},
	{Int, OfProducer, `batch.size compression.gzip.level compression.lz4.level compression.zstd.level delivery.timeout.ms max.in.flight.requests.per.connection max.request.size transaction.timeout.ms`},
	{Int, OfProducer | OfAdmin, `retries`},
	{Int, OfProducer | OfConsumer | OfAdmin, `sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.nbf.seconds`},
	{Int, OfProducer | OfConsumer | OfAdmin | OfWorker, `metrics.num.samples receive.buffer.bytes request.timeout.ms sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.oauthbearer.clock.skew.seconds send.buffer.bytes`},
	{Int, OfWorker, `inter.worker.key.size inter.worker.key.ttl.ms offset.storage.partitions rebalance.timeout.ms rest.advertised.port rest.port scheduled.rebalance.max.delay.ms status.storage.partitions worker.sync.timeout.ms worker.unsync.backoff.ms`},
	{List, OfAdmin, `bootstrap.controllers`},
	{List, OfConnector, `predicates topic.creation.groups transforms`},
	{List, OfConsumer, `partition.assignment.strategy`},
	{List, OfProducer | OfConsumer, `interceptor.classes`},
	{List, OfProducer | OfConsumer | OfAdmin | OfWorker, `bootstrap.servers config.providers metric.reporters sasl.oauthbearer.expected.audience ssl.cipher.suites ssl.enabled.protocols`},
	{List, OfWorker, `admin.listeners connector.client.config.override.allowlist inter.worker.verification.algorithms listeners plugin.path rest.extension.classes`},
	{Long, OfConnector, `errors.retry.delay.max.ms errors.retry.timeout transaction.boundary.interval.ms`},
	{Long, OfProducer, `buffer.memory linger.ms max.block.ms metadata.max.idle.ms partitioner.availability.timeout.ms`},
	{Long, OfProducer | OfConsumer | OfAdmin, `metadata.recovery.rebootstrap.trigger.ms retry.backoff.max.ms`},
	{Long, OfProducer | OfConsumer | OfAdmin | OfWorker, `connections.max.idle.ms metadata.max.age.ms metrics.sample.window.ms reconnect.backoff.max.ms reconnect.backoff.ms retry.backoff.ms sasl.kerberos.min.time.before.relogin sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms`},
	{Long, OfWorker, `offset.flush.interval.ms offset.flush.timeout.ms task.shutdown.graceful.timeout.ms`},
	{Password, OfProducer | OfConsumer | OfAdmin, `sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.client.credentials.client.secret`},
	{Password, OfProducer | OfConsumer | OfAdmin | OfWorker, `sasl.jaas.config ssl.key.password ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.password ssl.truststore.certificates ssl.truststore.password`},
	{Short, OfProducer | OfConsumer | OfAdmin | OfWorker, `sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds`},
	{Short, OfWorker, `config.storage.replication.factor offset.storage.replication.factor status.storage.replication.factor`},
	{String, OfConnector, `config.action.reload connector.class connector.plugin.version errors.deadletterqueue.topic.name errors.tolerance exactly.once.support header.converter.plugin.version key.converter.plugin.version name offsets.storage.topic transaction.boundary value.converter.plugin.version`},
	{String, OfConsumer, `auto.offset.reset client.rack group.instance.id group.protocol group.remote.assignor isolation.level share.acknowledgement.mode share.acquire.mode`},
	{String, OfConsumer | OfWorker, `group.id`},
	{String, OfProducer, `acks compression.type transactional.id`},
	{String, OfProducer | OfConsumer | OfAdmin, `metadata.recovery.strategy sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.iss sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.template.file sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.scope security.providers`},
	{String, OfProducer | OfConsumer | OfAdmin | OfWorker, `client.dns.lookup client.id metrics.recording.level sasl.kerberos.kinit.cmd sasl.kerberos.service.name sasl.mechanism sasl.oauthbearer.expected.issuer sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url security.protocol ssl.endpoint.identification.algorithm ssl.keymanager.algorithm ssl.keystore.location ssl.keystore.type ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.location ssl.truststore.type`},
	{String, OfWorker, `access.control.allow.methods access.control.allow.origin config.storage.topic connect.protocol connector.client.config.override.policy exactly.once.source.support inter.worker.key.generation.algorithm inter.worker.signature.algorithm offset.storage.file.filename offset.storage.topic plugin.discovery response.http.headers.config rest.advertised.host.name rest.advertised.listener rest.host.name ssl.client.auth status.storage.topic worker.id`},
}
