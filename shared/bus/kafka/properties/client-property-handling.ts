// How each property of a client.properties is handled: Weir reads the property, ignores it because
// Weir decides that itself, or rejects it because ignoring would defeat the purpose. The names are
// those of the Java clients of Kafka 4.3.

/** `ignored` and `rejected`: the reason. */
export type Handling = 'read' | { ignored: string } | { rejected: string }

const byClasses = 'names a Java class, and Weir is not written in Java'
const pemStore = 'a PEM store has no password; ssl.key.password is for its private key'
const ownWriting = 'Weir always writes in order, and retries until all in-sync brokers acknowledge'
const ownReading = 'Weir sets its own groups, positions and fetch sizes'
const ownConnecting = 'Weir manages its own connections'
const ownMeasuring = 'Weir has its own metrics at /metrics'

const handlings: [Handling, string][] = [
  [
    'read',
    `bootstrap.servers client.id security.protocol request.timeout.ms socket.connection.setup.timeout.ms
     sasl.mechanism sasl.jaas.config
     ssl.truststore.type ssl.truststore.location ssl.truststore.certificates
     ssl.keystore.type ssl.keystore.location ssl.keystore.certificate.chain ssl.keystore.key ssl.key.password
     ssl.endpoint.identification.algorithm ssl.enabled.protocols`,
  ],
  [{ rejected: pemStore }, 'ssl.truststore.password ssl.keystore.password'],
  [
    {
      rejected: "has Java's cipher names; for Node.js set NODE_OPTIONS=--tls-cipher-list=...",
    },
    'ssl.cipher.suites',
  ],
  [
    { rejected: `${byClasses}; put the value in --command-property or WEIR_COMMAND_PROPERTY` },
    'config.providers',
  ],
  [
    { rejected: byClasses },
    `ssl.engine.factory.class security.providers ssl.provider
     sasl.client.callback.handler.class sasl.login.callback.handler.class sasl.login.class`,
  ],
  [
    { rejected: 'Weir connects to brokers, not to controllers; set bootstrap.servers' },
    'bootstrap.controllers',
  ],
  [
    { ignored: ownWriting },
    `acks enable.idempotence max.in.flight.requests.per.connection retries delivery.timeout.ms transactional.id transaction.timeout.ms
     transaction.two.phase.commit.enable linger.ms batch.size buffer.memory max.block.ms max.request.size compression.type compression.gzip.level
     compression.lz4.level compression.zstd.level partitioner.class partitioner.ignore.keys partitioner.adaptive.partitioning.enable
     partitioner.availability.timeout.ms key.serializer value.serializer`,
  ],
  [
    { ignored: ownReading },
    `group.id group.instance.id group.protocol group.remote.assignor partition.assignment.strategy auto.offset.reset enable.auto.commit
     auto.commit.interval.ms isolation.level fetch.min.bytes fetch.max.bytes fetch.max.wait.ms max.partition.fetch.bytes max.poll.records
     max.poll.interval.ms session.timeout.ms heartbeat.interval.ms key.deserializer value.deserializer allow.auto.create.topics check.crcs
     exclude.internal.topics client.rack share.acknowledgement.mode share.acquire.mode`,
  ],
  [
    { ignored: ownConnecting },
    `retry.backoff.ms retry.backoff.max.ms reconnect.backoff.ms reconnect.backoff.max.ms connections.max.idle.ms default.api.timeout.ms
     metadata.max.age.ms metadata.max.idle.ms metadata.recovery.strategy metadata.recovery.rebootstrap.trigger.ms
     socket.connection.setup.timeout.max.ms send.buffer.bytes receive.buffer.bytes client.dns.lookup`,
  ],
  [
    { ignored: ownMeasuring },
    `metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms enable.metrics.push auto.include.jmx.reporter
     interceptor.classes`,
  ],
  [
    { ignored: 'the TLS of Node.js decides this' },
    'ssl.protocol ssl.trustmanager.algorithm ssl.keymanager.algorithm ssl.secure.random.implementation',
  ],
]

const byName = new Map(
  handlings.flatMap(([handling, names]) =>
    names.split(/\s+/).map((name): [string, Handling] => [name, handling]),
  ),
)

/** Prefixes of login mechanisms that Weir does not support. */
const otherLogins = ['sasl.kerberos.', 'sasl.oauthbearer.', 'sasl.login.']

/** Undefined if no Kafka client has such a property. */
export function handlingOf(name: string): Handling | undefined {
  const handling = byName.get(name)
  if (handling !== undefined) return handling
  return otherLogins.some((prefix) => name.startsWith(prefix))
    ? { rejected: 'Weir supports only PLAIN and SCRAM' }
    : undefined
}

/** All known names, for suggestions. The names that Weir reads come first. */
export const propertyNames: readonly string[] = [...byName.keys()]
