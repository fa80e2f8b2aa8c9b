// What becomes of each property that a client.properties may have: Weir reads it, leaves it aside
// because it decides that itself, or refuses it because leaving it aside would not do what somebody
// wanted. The names are those of the Java clients of Kafka 4.3.

/** `left` and `refused`: why. */
export type Handling = 'read' | { left: string } | { refused: string }

const byClasses = 'names a class of Java, and Weir has none'
const pemStore = 'a PEM store has none; ssl.key.password is the one of its private key'
const ownWriting =
  'Weir writes in its own way: acknowledged by all in-sync brokers, in order, repeated until then'
const ownReading = 'Weir names its groups, keeps its positions and fetches by its own rules'
const ownConnecting = 'Weir keeps and renews its connections by its own rules'
const ownMeasuring = 'Weir is measured at /metrics'

const handlings: [Handling, string][] = [
  [
    'read',
    `bootstrap.servers client.id security.protocol request.timeout.ms socket.connection.setup.timeout.ms
     sasl.mechanism sasl.jaas.config
     ssl.truststore.type ssl.truststore.location ssl.truststore.certificates
     ssl.keystore.type ssl.keystore.location ssl.keystore.certificate.chain ssl.keystore.key ssl.key.password
     ssl.endpoint.identification.algorithm ssl.enabled.protocols`,
  ],
  [{ refused: pemStore }, 'ssl.truststore.password ssl.keystore.password'],
  [
    {
      refused:
        "has Java's names of ciphers; the list for Node.js is NODE_OPTIONS=--tls-cipher-list=...",
    },
    'ssl.cipher.suites',
  ],
  [
    { refused: `${byClasses}; put the value in --command-property or WEIR_COMMAND_PROPERTY` },
    'config.providers',
  ],
  [
    { refused: byClasses },
    `ssl.engine.factory.class security.providers ssl.provider
     sasl.client.callback.handler.class sasl.login.callback.handler.class sasl.login.class`,
  ],
  [
    { refused: 'Weir speaks to brokers, not to controllers; give bootstrap.servers' },
    'bootstrap.controllers',
  ],
  [
    { left: ownWriting },
    `acks enable.idempotence max.in.flight.requests.per.connection retries delivery.timeout.ms transactional.id transaction.timeout.ms
     transaction.two.phase.commit.enable linger.ms batch.size buffer.memory max.block.ms max.request.size compression.type compression.gzip.level
     compression.lz4.level compression.zstd.level partitioner.class partitioner.ignore.keys partitioner.adaptive.partitioning.enable
     partitioner.availability.timeout.ms key.serializer value.serializer`,
  ],
  [
    { left: ownReading },
    `group.id group.instance.id group.protocol group.remote.assignor partition.assignment.strategy auto.offset.reset enable.auto.commit
     auto.commit.interval.ms isolation.level fetch.min.bytes fetch.max.bytes fetch.max.wait.ms max.partition.fetch.bytes max.poll.records
     max.poll.interval.ms session.timeout.ms heartbeat.interval.ms key.deserializer value.deserializer allow.auto.create.topics check.crcs
     exclude.internal.topics client.rack share.acknowledgement.mode share.acquire.mode`,
  ],
  [
    { left: ownConnecting },
    `retry.backoff.ms retry.backoff.max.ms reconnect.backoff.ms reconnect.backoff.max.ms connections.max.idle.ms default.api.timeout.ms
     metadata.max.age.ms metadata.max.idle.ms metadata.recovery.strategy metadata.recovery.rebootstrap.trigger.ms
     socket.connection.setup.timeout.max.ms send.buffer.bytes receive.buffer.bytes client.dns.lookup`,
  ],
  [
    { left: ownMeasuring },
    `metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms enable.metrics.push auto.include.jmx.reporter
     interceptor.classes`,
  ],
  [
    { left: 'the TLS of Node.js decides' },
    'ssl.protocol ssl.trustmanager.algorithm ssl.keymanager.algorithm ssl.secure.random.implementation',
  ],
]

const byName = new Map(
  handlings.flatMap(([handling, names]) =>
    names.split(/\s+/).map((name): [string, Handling] => [name, handling]),
  ),
)

/** All of these names belong to ways of logging in that Weir does not have. */
const otherLogins = ['sasl.kerberos.', 'sasl.oauthbearer.', 'sasl.login.']

/** Undefined: no Kafka client has such a property. */
export function handlingOf(name: string): Handling | undefined {
  const handling = byName.get(name)
  if (handling !== undefined) return handling
  return otherLogins.some((prefix) => name.startsWith(prefix))
    ? { refused: 'Weir logs in by PLAIN or SCRAM only' }
    : undefined
}

/** For who misspelled one: those that Weir reads first. */
export const propertyNames: readonly string[] = [...byName.keys()]
