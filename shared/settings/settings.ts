// What people turn: one table with key, environment variable, unit, default and bounds. Read once,
// at the start; the order is flag, environment, settings file (settings-file.ts), default. What
// nobody needs to turn is a constant in limits.ts; what belongs to an agent stands in its agent
// file.

import { isAbsolute, join } from 'node:path'
import { downtimeDaysDefault, retentionDaysDefault, retentionFault } from '../contract/retention.ts'
import { WeirError } from '../lib/errors.ts'
import {
  judgeTexts,
  judgeValue,
  type Properties,
  type SettingContent,
  type SettingSchema,
} from './setting-schema.ts'

export type Settings = {
  bus: 'embedded' | 'kafka'
  dataFolder: string
  /** Empty: none is named. */
  bootstrapServer: string
  /** Empty: there is none. */
  commandConfig: string
  commandProperty: Properties
  topicPrefix: string
  partitions: number
  /** 0: the brokers' default. */
  replicationFactor: number
  /** Days. */
  retention: number
  /** Days. */
  toleratedDowntime: number
  synchronous: 'off' | 'normal' | 'full'
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Empty: none are named. */
  agents: string
  healthHost: string
  /** 0: any that is free. */
  healthPort: number
}

export type SettingKey = keyof Settings

/**
 * `schema` bounds the value; `unit` says how a number counts; `secret`: its value is never shown or
 * logged.
 */
export type Setting = {
  variable: string
  description: string
  unit?: string
  secret: boolean
  /** A path: in a settings file it starts at the file's folder. */
  isPath?: true
  schema: SettingSchema
}

export const settingTable: Record<SettingKey, Setting> = {
  bus: {
    variable: 'WEIR_BUS',
    description: 'where the log is: in a file of this machine, or on Kafka',
    secret: false,
    schema: { type: 'string', enum: ['embedded', 'kafka'], default: 'embedded' },
  },
  dataFolder: {
    variable: 'WEIR_DATA_FOLDER',
    description:
      'the folder of the embedded bus, whose file is weir.db; on Kafka, of the local copies of tables',
    secret: false,
    isPath: true,
    schema: { type: 'string', minLength: 1, default: '.weir' },
  },
  bootstrapServer: {
    variable: 'WEIR_BOOTSTRAP_SERVER',
    description: 'the brokers of Kafka to begin with, HOST:PORT, several with commas between them',
    secret: false,
    schema: {
      type: 'string',
      pattern: '^([^\\s,]+:\\d{1,5}(,[^\\s,]+:\\d{1,5})*)?$',
      expected: 'must be HOST:PORT, several with commas between them',
      default: '',
    },
  },
  commandConfig: {
    variable: 'WEIR_COMMAND_CONFIG',
    description: "a client.properties of Kafka: security, credentials, the client's id",
    secret: false,
    isPath: true,
    schema: { type: 'string', default: '' },
  },
  commandProperty: {
    variable: 'WEIR_COMMAND_PROPERTY',
    description:
      'properties NAME=VALUE of the Kafka client, over those of commandConfig: the flag once for each, in the variable one a line',
    unit: 'NAME=VALUE',
    secret: true,
    schema: { type: 'properties', default: {} },
  },
  topicPrefix: {
    variable: 'WEIR_TOPIC_PREFIX',
    description: 'put before the names of topics and consumer groups',
    secret: false,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{0,100}$', default: 'weir.' },
  },
  partitions: {
    variable: 'WEIR_PARTITIONS',
    description: 'partitions of every topic; cannot change once the topics exist',
    unit: 'partitions',
    secret: false,
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 4 },
  },
  replicationFactor: {
    variable: 'WEIR_REPLICATION_FACTOR',
    description:
      "copies that Kafka keeps of each partition of a topic that is created; 0: as many as the brokers' default says",
    unit: 'copies',
    secret: false,
    schema: { type: 'integer', minimum: 0, maximum: 100, default: 0 },
  },
  retention: {
    variable: 'WEIR_RETENTION',
    description:
      'how long records of logs are kept, and the history of a conversation in which nothing happens',
    unit: 'days',
    secret: false,
    schema: { type: 'integer', minimum: 1, maximum: 36_500, default: retentionDaysDefault },
  },
  toleratedDowntime: {
    variable: 'WEIR_TOLERATED_DOWNTIME',
    description:
      'how long all of Weir may stand still and still go on with every open turn; retention must be longer by a turn',
    unit: 'days',
    secret: false,
    schema: { type: 'integer', minimum: 0, maximum: 36_500, default: downtimeDaysDefault },
  },
  synchronous: {
    variable: 'WEIR_SYNCHRONOUS',
    description:
      'when the embedded bus waits for the disk; all three survive a killed process, only full survives a power loss at any moment',
    secret: false,
    schema: { type: 'string', enum: ['off', 'normal', 'full'], default: 'normal' },
  },
  logLevel: {
    variable: 'WEIR_LOG_LEVEL',
    description:
      'the least severe log line that is written; tool arguments are written at debug only',
    secret: false,
    schema: {
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      default: 'warn',
    },
  },
  agents: {
    variable: 'WEIR_AGENTS',
    description:
      'for weir up: an agent file or a folder of them, which the stages llm-gateway and executor need',
    secret: false,
    isPath: true,
    schema: { type: 'string', default: '' },
  },
  healthHost: {
    variable: 'WEIR_HEALTH_HOST',
    description:
      'for weir up and weir guard run: the address on which /livez, /readyz and /metrics are answered',
    secret: false,
    schema: { type: 'string', minLength: 1, default: '127.0.0.1' },
  },
  healthPort: {
    variable: 'WEIR_HEALTH_PORT',
    description:
      'for weir up and weir guard run: its port; 0: any that is free, and the first line of the log says which',
    secret: false,
    schema: { type: 'integer', minimum: 0, maximum: 65_535, default: 0 },
  },
}

export const settingKeys = Object.keys(settingTable) as SettingKey[]

/** Where a value came from; `name`: of the flag, the variable, or the file with its line. */
export type Origin = { kind: 'flag' | 'environment' | 'file'; name: string } | { kind: 'default' }

export type SettingValue = { value: SettingContent; origin: Origin }

/** The settings of a file. `name`: its path. `mistakes`: those of the file, each with its place. */
export type SettingsFile = {
  name: string
  values: Partial<Record<SettingKey, { value: unknown; line: number }>>
  mistakes: string[]
}

/** A flag that may be given more than once has a list. */
export type SettingFlagValues = Partial<Record<SettingKey, string | readonly string[]>>

/**
 * Flags win over the environment, that over the file, that over defaults. `file`: what
 * findSettingsFile gave. Throws `settings.invalid` that names every bad value, where it came from
 * and what would be accepted, and every other mistake of the file.
 */
export function readSettings(
  flags: SettingFlagValues,
  environment: NodeJS.ProcessEnv,
  file?: SettingsFile,
): Settings {
  const values = Object.entries(settingsWithOrigins(flags, environment, file)).map(
    ([key, { value }]) => [key, value],
  )
  return Object.fromEntries(values) as Settings
}

/** As readSettings, with the origin of each value. */
export function settingsWithOrigins(
  flags: SettingFlagValues,
  environment: NodeJS.ProcessEnv,
  file: SettingsFile = { name: '', values: {}, mistakes: [] },
): Record<SettingKey, SettingValue> {
  const mistakes: string[] = []
  const fromFile = new Map(settingKeys.map((key) => [key, valueInFile(key, file, mistakes)]))
  const entries = settingKeys.map((key): [SettingKey, SettingValue] => {
    const { variable, schema } = settingTable[key]
    const flag = flags[key]
    if (flag !== undefined)
      return [key, judged(key, [flag].flat(), { kind: 'flag', name: `--${flagOf(key)}` }, mistakes)]
    const inEnvironment = environment[variable]
    if (inEnvironment !== undefined)
      return [
        key,
        judged(
          key,
          linesOf(inEnvironment, schema),
          { kind: 'environment', name: variable },
          mistakes,
        ),
      ]
    return [key, fromFile.get(key) ?? { value: schema.default, origin: { kind: 'default' } }]
  })
  const values = Object.fromEntries(entries) as Record<SettingKey, SettingValue>
  const all = [...mistakes, ...file.mistakes]
  if (all.length === 0) all.push(...busContradictions(values), ...retentionContradictions(values))
  if (all.length > 0)
    throw new WeirError('settings.invalid', ['Settings cannot be used.', ...all].join('\n  '))
  return values
}

/** `dataFolder` is given on the command line as `--data-folder`. */
export function flagOf(key: SettingKey): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Also where a flag or a variable wins: a mistake in the file is one in any case. */
function valueInFile(
  key: SettingKey,
  file: SettingsFile,
  mistakes: string[],
): SettingValue | undefined {
  const found = file.values[key]
  if (found === undefined) return undefined
  const origin: Origin = { kind: 'file', name: `${file.name}:${found.line}` }
  const { value, fault } = judgeValue(found.value, settingTable[key].schema)
  if (fault !== undefined) mistakes.push(complaint(key, found.value, origin, fault))
  const isRelative =
    settingTable[key].isPath === true &&
    typeof value === 'string' &&
    value !== '' &&
    !isAbsolute(value)
  return { value: isRelative ? join(file.name, '..', value) : value, origin }
}

function judged(
  key: SettingKey,
  texts: readonly string[],
  origin: Origin,
  mistakes: string[],
): SettingValue {
  const { value, fault } = judgeTexts(texts, settingTable[key].schema)
  if (fault !== undefined) mistakes.push(complaint(key, texts.at(-1), origin, fault))
  return { value, origin }
}

/** One line for each property; what a shell leaves at the end is none. */
function linesOf(text: string, { type }: SettingSchema): string[] {
  return type === 'properties' ? text.split(/\r?\n/).filter((line) => line.trim() !== '') : [text]
}

function complaint(key: SettingKey, value: unknown, origin: Origin, fault: string): string {
  const shown = settingTable[key].secret
    ? 'not acceptable'
    : (JSON.stringify(value)?.slice(0, 100) ?? 'empty')
  return `${key} is ${shown} (from ${originText(origin)}); ${fault}`
}

const ofKafka = ['bootstrapServer', 'commandConfig', 'commandProperty'] as const

/** Values that are acceptable each, and not together. */
function busContradictions(values: Record<SettingKey, SettingValue>): string[] {
  const { bus } = values
  const said = `bus is ${bus.value} (from ${originText(bus.origin)})`
  const given = ofKafka.filter((key) => !isEmpty(values[key].value))
  if (bus.value === 'embedded')
    return given.map((key) => {
      const where = originText(values[key].origin)
      return `${said}, and ${key} is given (from ${where}); give --bus kafka (${settingTable.bus.variable}=kafka), or leave ${key} out`
    })
  if (given.length > 0) return [] // what the file and the properties say is judged by who reads them
  const { variable } = settingTable.bootstrapServer
  return [`${said}, and no broker is named; give --bootstrap-server HOST:9092 (${variable})`]
}

/** R7: nothing starts with a retention that could take away what an open turn is folded from. */
function retentionContradictions({
  retention,
  toleratedDowntime,
}: Record<SettingKey, SettingValue>): string[] {
  const fault = retentionFault(Number(retention.value), Number(toleratedDowntime.value))
  if (fault === undefined) return []
  const said = [`retention is ${retention.value} days (from ${originText(retention.origin)})`]
  said.push(
    `toleratedDowntime is ${toleratedDowntime.value} days (from ${originText(toleratedDowntime.origin)})`,
  )
  return [`${said.join(', ')}: ${fault}`]
}

function isEmpty(value: SettingContent): boolean {
  return value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** "the flag --partitions" */
export function originText(origin: Origin): string {
  switch (origin.kind) {
    case 'flag':
      return `the flag ${origin.name}`
    case 'environment':
      return `the variable ${origin.name}`
    case 'file':
      return origin.name
    case 'default':
      return 'the default'
    default:
      return origin satisfies never
  }
}
