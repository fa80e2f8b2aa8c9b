// Reads the usual configuration of Kafka clients: client.properties (--command-config), single
// properties over it (--command-property), and --bootstrap-server over both. Reports all mistakes
// at once.
// A property is read, ignored with a reason, or rejected with one. None is
// silently without effect (client-property-handling.ts).
// No message contains a secret: a value that may be one is shown only by its
// name and place.

import type { KafkaConfig, SASLOptions } from 'kafkajs'
import { WeirError } from '../../../lib/errors.ts'
import { alternatives } from '../../../settings/mistake.ts'
import { nearestName } from '../../../settings/nearest-name.ts'
import { handlingOf, propertyNames } from './client-property-handling.ts'
import { loginOf } from './login-module.ts'
import { type Entries, entriesOfCommand, entriesOfFile, shownName } from './property-file.ts'
import { clientIdentity, type Store, trustedCertificates } from './tls-stores.ts'

export type ClientPropertyOptions = {
  /**
   * The path of a client.properties. Paths in it are relative to the working folder, as in Kafka's
   * own tools.
   */
  file?: string | undefined
  overrides?: Readonly<Record<string, string>>
  /** HOST:PORT, separated by commas. Overrides bootstrap.servers. */
  bootstrapServer?: string | undefined
  /** Default `deny`: SASL PLAIN without TLS connects to this machine only. */
  plaintextPassword?: 'deny' | 'allow' | undefined
  /** Gets a sentence for each ignored property. */
  onIgnored?: ((note: string) => void) | undefined
}

/** Options of kafkajs's client. An absent one has the default of kafkajs or of the bus. */
export type ClientConfig = Pick<
  KafkaConfig,
  'clientId' | 'connectionTimeout' | 'requestTimeout' | 'ssl' | 'sasl'
> & { brokers: string[] }

const protocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']
const mechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']
const tlsVersions = ['TLSv1.2', 'TLSv1.3'] as const
const millisecondsMax = 2_147_483_647 // the largest int in Java, and the longest timer in Node

type Reading = { entries: Entries; mistakes: string[]; file: string | undefined }

/** Throws `settings.invalid` with every mistake: its place, the value, the accepted values. */
export function readClientProperties(options: ClientPropertyOptions): ClientConfig {
  const { file, overrides = {}, bootstrapServer, onIgnored = () => {} } = options
  const mistakes: string[] = []
  const entries: Entries = new Map([
    ...(file === undefined ? [] : entriesOfFile(file, mistakes)),
    ...entriesOfCommand(overrides),
  ])
  const reading: Reading = { entries, mistakes, file }
  const notes = checkNames(reading)
  const protocol = oneOf(reading, 'security.protocol', protocols) ?? 'PLAINTEXT'
  const config: ClientConfig = {
    brokers: brokersOf(reading, bootstrapServer),
    clientId: textOf(reading, 'client.id') || 'weir',
    ...timeout(reading, 'request.timeout.ms', 'requestTimeout'),
    ...timeout(reading, 'socket.connection.setup.timeout.ms', 'connectionTimeout'),
    ...(protocol.startsWith('SASL_')
      ? { sasl: saslOf(reading) }
      : mustBeAbsent(reading, 'sasl.', protocol, 'SASL_SSL')),
    ...(protocol.endsWith('SSL')
      ? { ssl: sslOf(reading) }
      : mustBeAbsent(reading, 'ssl.', protocol, 'SSL or SASL_SSL')),
  }
  if (protocol === 'SASL_PLAINTEXT' && config.sasl?.mechanism === 'plain')
    if (options.plaintextPassword !== 'allow') refusePlaintext(reading, config.brokers)
  if (mistakes.length > 0)
    throw new WeirError(
      'settings.invalid',
      ["The properties of Kafka's client are invalid.", ...mistakes].join('\n  '),
    )
  for (const note of notes) onIgnored(note)
  return config
}

function checkNames({ entries, mistakes }: Reading): string[] {
  const notes: string[] = []
  for (const [name, { place }] of entries) {
    const handling = handlingOf(name)
    if (handling === undefined) mistakes.push(`${place} ${shownName(name)}: ${unknownName(name)}`)
    else if (handling !== 'read' && 'rejected' in handling)
      mistakes.push(`${place} ${name} is not supported: ${handling.rejected}`)
    else if (handling !== 'read') notes.push(`${place} ${name} is ignored: ${handling.ignored}`)
  }
  return notes
}

function unknownName(name: string): string {
  const hint = 'to continue the previous line, end that line with a backslash'
  if (shownName(name) !== name) return `is not a property of a Kafka client; ${hint}`
  const near = nearestName(name, propertyNames)
  return `is not a property of a Kafka client; ${near === undefined ? hint : `did you mean ${near}?`}`
}

function brokersOf(reading: Reading, bootstrapServer: string | undefined): string[] {
  const name = 'bootstrap.servers'
  const text = bootstrapServer ?? textOf(reading, name)
  if (text === undefined || text === '') {
    const where = reading.file === undefined ? '' : `, or bootstrap.servers in ${reading.file}`
    reading.mistakes.push(
      `no broker is configured; set --bootstrap-server HOST:9092 (WEIR_BOOTSTRAP_SERVER)${where}`,
    )
    return []
  }
  const brokers = text.split(',').map((broker) => broker.trim())
  const wrong = brokers.find((broker) => !isAddress(broker))
  if (wrong === undefined) return brokers
  const place =
    bootstrapServer === undefined ? `${placeOf(reading, name)} ${name}` : '--bootstrap-server'
  const shown = wrong.includes('@')
    ? 'a name or a password before a host'
    : JSON.stringify(wrong.slice(0, 100))
  reading.mistakes.push(`${place} has ${shown}; must be HOST:PORT, separated by commas`)
  return []
}

/** Everybody on the way reads the password. Brokers of the cluster are those of the bootstrap. */
function refusePlaintext({ mistakes }: Reading, brokers: string[]): void {
  const remote = brokers.find((broker) => !isLoopback(broker))
  if (remote !== undefined)
    mistakes.push(
      `SASL PLAIN would send the password to ${remote} without encryption; set security.protocol to SASL_SSL, or sasl.mechanism to SCRAM-SHA-512, or allow it with --plaintext-password allow (WEIR_PLAINTEXT_PASSWORD)`,
    )
}

function isLoopback(broker: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\]):\d+$/i.test(broker)
}

function isAddress(text: string): boolean {
  const port = Number(/^(?:[^\s:/@[\]]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(text)?.[1] ?? 0)
  return port >= 1 && port <= 65_535
}

function timeout(
  reading: Reading,
  name: string,
  option: 'requestTimeout' | 'connectionTimeout',
): Partial<ClientConfig> {
  const text = textOf(reading, name)
  if (text === undefined) return {}
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= millisecondsMax) return { [option]: value }
  addMistake(
    reading,
    name,
    `is ${JSON.stringify(text.slice(0, 100))}; must be a whole number of milliseconds from 1 to ${millisecondsMax}`,
  )
  return {}
}

function saslOf(reading: Reading): SASLOptions | undefined {
  const before = reading.mistakes.length
  const mechanism = oneOf(reading, 'sasl.mechanism', mechanisms)
  // Weir does not support Kafka's default, GSSAPI, so the mechanism is required.
  if (mechanism === undefined && reading.mistakes.length === before)
    missing(reading, 'sasl.mechanism', `must be ${alternatives(mechanisms, 'or')}`)
  const config = reading.entries.get('sasl.jaas.config')?.value
  if (config === undefined) {
    missing(reading, 'sasl.jaas.config', 'it contains the name and the password')
    return undefined
  }
  if (mechanism === undefined) return undefined
  const login = loginOf(config, mechanism)
  if (!('fault' in login)) return { mechanism: mechanism.toLowerCase(), ...login } as SASLOptions
  addMistake(reading, 'sasl.jaas.config', login.fault)
  return undefined
}

function sslOf(reading: Reading): NonNullable<Exclude<KafkaConfig['ssl'], boolean>> {
  return {
    ...trustOf(reading),
    ...identityOf(reading),
    ...hostCheckOf(reading),
    ...versionsOf(reading),
  }
}

function trustOf(reading: Reading): { ca?: string } {
  const store = storeOf(
    reading,
    'ssl.truststore',
    'ssl.truststore.certificates',
    textOf(reading, 'ssl.truststore.certificates'),
  )
  if (store === undefined) return {} // Node.js's own authorities
  const trusted = trustedCertificates(store)
  if ('ca' in trusted) return trusted
  addMistake(
    reading,
    {
      type: 'ssl.truststore.type',
      location: 'ssl.truststore.location',
      texts: 'ssl.truststore.certificates',
    }[trusted.property],
    trusted.fault,
  )
  return {}
}

function identityOf(reading: Reading): { cert?: string; key?: string; passphrase?: string } {
  const [chain, key] = ['ssl.keystore.certificate.chain', 'ssl.keystore.key'] as const
  const texts = [textOf(reading, key), textOf(reading, chain)]
  if (texts.filter((text) => text !== undefined).length === 1)
    missing(reading, texts[0] === undefined ? key : chain, 'the two belong together')
  const whole = texts.includes(undefined) ? undefined : texts.join('\n')
  const store = storeOf(reading, 'ssl.keystore', chain, whole)
  const password = reading.entries.get('ssl.key.password')?.value
  if (store === undefined) {
    if (password !== undefined && texts.every((text) => text === undefined))
      addMistake(reading, 'ssl.key.password', 'is set, but no ssl.keystore is')
    return {}
  }
  const identity = clientIdentity(store, password)
  if (!('fault' in identity))
    return {
      cert: identity.cert,
      key: identity.key,
      ...(password === undefined ? {} : { passphrase: password }),
    }
  addMistake(
    reading,
    { type: 'ssl.keystore.type', location: 'ssl.keystore.location', texts: chain }[
      identity.property
    ],
    identity.fault,
  )
  return {}
}

function storeOf(
  reading: Reading,
  prefix: 'ssl.truststore' | 'ssl.keystore',
  textsName: string,
  texts: string | undefined,
): Store | undefined {
  const [type, location] = [
    textOf(reading, `${prefix}.type`),
    textOf(reading, `${prefix}.location`),
  ]
  if (location !== undefined && texts !== undefined)
    addMistake(
      reading,
      textsName,
      `and ${prefix}.location (${placeOf(reading, `${prefix}.location`)}) are both set; keep one of them`,
    )
  if (location !== undefined || texts !== undefined) return { type, location, texts }
  if (type !== undefined) missing(reading, `${prefix}.location`, `${prefix}.type is set`)
  return undefined
}

/** As in Kafka, an empty value turns the check of the host name off. */
function hostCheckOf(reading: Reading): { checkServerIdentity?: () => undefined } {
  const name = 'ssl.endpoint.identification.algorithm'
  const algorithm = textOf(reading, name)
  if (algorithm === undefined || algorithm.toLowerCase() === 'https') return {}
  if (algorithm === '') return { checkServerIdentity: () => undefined }
  addMistake(
    reading,
    name,
    `is ${JSON.stringify(algorithm.slice(0, 100))}; must be https, or empty for no check of the host name`,
  )
  return {}
}

function versionsOf(reading: Reading): {
  minVersion?: (typeof tlsVersions)[number]
  maxVersion?: (typeof tlsVersions)[number]
} {
  const name = 'ssl.enabled.protocols'
  const text = textOf(reading, name)
  if (text === undefined) return {}
  const given = text.split(',').map((version) => version.trim())
  const known = tlsVersions.filter((version) => given.includes(version))
  const [minVersion, maxVersion = minVersion] = known
  if (known.length === new Set(given).size && minVersion !== undefined && maxVersion !== undefined)
    return { minVersion, maxVersion }
  addMistake(
    reading,
    name,
    `is ${JSON.stringify(text.slice(0, 100))}; must be ${tlsVersions.join(' or ')}, or both, separated by a comma`,
  )
  return {}
}

/** A property without effect is a mistake: its writer expects an effect. */
function mustBeAbsent(reading: Reading, prefix: string, protocol: string, right: string): object {
  const names = [...reading.entries.keys()].filter(
    (name) => name.startsWith(prefix) && handlingOf(name) === 'read',
  )
  const given = reading.entries.has('security.protocol')
    ? `security.protocol is ${protocol}`
    : 'security.protocol is not set'
  for (const name of names)
    addMistake(reading, name, `has no effect: ${given}; set it to ${right}, or remove ${name}`)
  return {}
}

function oneOf(reading: Reading, name: string, accepted: string[]): string | undefined {
  const text = textOf(reading, name)
  if (text === undefined) return undefined
  const found = accepted.find((one) => one === text.toUpperCase())
  if (found === undefined)
    addMistake(
      reading,
      name,
      `is ${JSON.stringify(text.slice(0, 100))}; must be ${alternatives(accepted, 'or')}`,
    )
  return found
}

/** Blanks around a value count in a .properties file. Only in a password do they mean anything. */
function textOf({ entries }: Reading, name: string): string | undefined {
  return entries.get(name)?.value.trim()
}

function placeOf({ entries }: Reading, name: string): string {
  return entries.get(name)?.place ?? name
}

function addMistake(reading: Reading, name: string, text: string): void {
  reading.mistakes.push(`${placeOf(reading, name)} ${name} ${text}`)
}

function missing({ mistakes, file }: Reading, name: string, text: string): void {
  mistakes.push(`${file === undefined ? '' : `${file} `}${name} is missing; ${text}`)
}
