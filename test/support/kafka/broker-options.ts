// The options of a test's broker, the actions on it, and the server properties that both ways of
// starting one share.

import { createServer } from 'node:net'

/**
 * `SSL` and `SASL_SSL` need keystore properties (PEM texts in the properties themselves work in
 * both ways); SASL ones need `users`.
 */
export type ListenerProtocol = 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'

export type BrokerOptions = {
  /**
   * Listeners next to the plain one, by name: upper case letters. Their addresses are in
   * `Broker.listeners`.
   */
  listeners?: Record<string, ListenerProtocol>
  /**
   * Names and passwords for SASL listeners; they work with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
   */
  users?: Record<string, string>
  /**
   * The test kills it: it starts again sooner. On a busy machine its session can end, and then it leads no
   * partition for a moment.
   */
  isKilled?: boolean
  /** Added to server.properties, or replacing values in it. */
  properties?: Record<string, string>
  /** The JVM's. */
  heapMiB?: number
  /**
   * For measuring: with the JVM's optimizing compiler, which costs a broker of a few minutes more
   * than it saves.
   */
  optimized?: boolean
}

export type Broker = {
  /** The plain listener. */
  bootstrapServers: string
  /** The requested listeners, by name. */
  listeners: Record<string, string>
  way: 'docker' | 'jars'
  /** Ends it at once and removes its data. Twice is harmless. */
  stop(): Promise<void>
  /** kill -9; the data stay for restart(). */
  kill(): Promise<void>
  /**
   * Shuts it down in order, unless it was killed, and starts it again: same addresses, same data.
   */
  restart(): Promise<void>
  /** Keeps its connections and answers nothing until resume(). */
  pause(): Promise<void>
  resume(): Promise<void>
}

export const clusterId = '5L6g3nShT-eMCtK--X86sw'

export function jvmOptions({ heapMiB = 300, optimized = false }: BrokerOptions): string[] {
  return ['-Xms96m', `-Xmx${heapMiB}m`, ...(optimized ? [] : ['-XX:TieredStopAtLevel=1'])]
}

export type BrokerPorts = { plain: number; controller: number; others: Record<string, number> }

/** `advertised`: the host that clients reach it by; `bound`: the address that it listens on. */
export type BrokerPlace = { advertised: string; bound: string; ports: BrokerPorts; logDir: string }

export async function freePorts(options: BrokerOptions): Promise<BrokerPorts> {
  const names = Object.keys(options.listeners ?? {})
  const ports = await distinctFreePorts(names.length + 2)
  const others = Object.fromEntries(names.map((name, i) => [name, ports[i + 2] as number]))
  return { plain: ports[0] as number, controller: ports[1] as number, others }
}

/**
 * Below the ports of outgoing connections, because a broker's port must stay free for its restart.
 * In that range, a client that connects to a local port can even connect to itself.
 */
async function distinctFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (!ports.has(port) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)))
  })
}

/**
 * The text of server.properties: one node, broker and controller, quick to start and to rebalance.
 */
export function serverProperties(
  options: BrokerOptions,
  { advertised, bound, ports, logDir }: BrokerPlace,
): string {
  const others = Object.entries(options.listeners ?? {})
  const listen = (host: string) =>
    [
      `PLAINTEXT://${host}:${ports.plain}`,
      ...others.map(([name]) => `${name}://${host}:${ports.others[name]}`),
    ].join(',')
  const protocols = [
    'PLAINTEXT:PLAINTEXT',
    'CONTROLLER:PLAINTEXT',
    ...others.map(([name, protocol]) => `${name}:${protocol}`),
  ]
  const properties: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${ports.controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `${listen(bound)},CONTROLLER://127.0.0.1:${ports.controller}`,
    'advertised.listeners': listen(advertised),
    'listener.security.protocol.map': protocols.join(','),
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': logDir,
    'auto.create.topics.enable': 'false',
    // A killed broker waits for it when it restarts.
    'broker.session.timeout.ms': options.isKilled ? '4000' : '60000',
    'broker.heartbeat.interval.ms': '500',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '1000',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '1',
    'num.network.threads': '2',
    'num.io.threads': '4',
    'log.cleaner.dedupe.buffer.size': String(8 * 1024 * 1024), // the default alone is half of the heap
    ...saslProperties(options),
    ...options.properties,
  }
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${escaped(value)}\n`)
    .join('')
}

function saslProperties({ listeners = {}, users = {} }: BrokerOptions): Record<string, string> {
  const quoted = (text: string) => text.replaceAll(/["\\]/g, '\\$&')
  const passwords = Object.entries(users).map(
    ([name, password]) => `user_${name}="${quoted(password)}"`,
  )
  const sasl = Object.entries(listeners).filter(([, protocol]) => protocol !== 'SSL')
  return Object.fromEntries(
    sasl.flatMap(([name]) => {
      const prefix = `listener.name.${name.toLowerCase()}`
      return [
        [`${prefix}.sasl.enabled.mechanisms`, 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512'],
        [
          `${prefix}.plain.sasl.jaas.config`,
          `org.apache.kafka.common.security.plain.PlainLoginModule required ${passwords.join(' ')};`,
        ],
        ...['scram-sha-256', 'scram-sha-512'].map((mechanism) => [
          `${prefix}.${mechanism}.sasl.jaas.config`,
          'org.apache.kafka.common.security.scram.ScramLoginModule required;',
        ]),
      ]
    }),
  )
}

/** A value of a .properties file, with escaped line ends of certificates. */
function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '')
}

/**
 * The arguments by which `kafka-storage format` makes the users of SCRAM, because nobody can log in
 * by SCRAM to make the first one.
 */
export function scramArguments({ users = {}, listeners = {} }: BrokerOptions): string[] {
  if (!Object.values(listeners).some((protocol) => protocol !== 'SSL')) return []
  return Object.entries(users).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  )
}
