// The settings of a deployment: one table with key, environment variable, unit, default and bounds.
// They are read once, at the start. A flag wins over the environment, then the settings file
// (settings-file.ts), then the default. A number that nobody tunes is a constant.
// Agents have their own file.

import { dirname, isAbsolute, join } from 'node:path'
import {
  auditDaysDefault,
  downtimeDaysDefault,
  keptForever,
  retentionDaysDefault,
  retentionFault,
} from '../contract/retention.ts'
import { WeirError } from '../lib/errors.ts'
import { isBelowFolder } from '../lib/files/below-folder.ts'
import {
  judgeTexts,
  judgeValue,
  type Properties,
  type SettingContent,
  type SettingSchema,
} from './setting-schema.ts'

/** shared/bus/kinds.ts has a record for each name. The first name is the default. */
export const busNames = ['embedded', 'kafka'] as const
export type BusName = (typeof busNames)[number]

export type Settings = {
  bus: BusName
  dataFolder: string
  /** Empty: none is given. */
  bootstrapServer: string
  /** Empty: none is given. */
  commandConfig: string
  commandProperty: Properties
  plaintextPassword: 'deny' | 'allow'
  /** Empty: records are not signed. */
  recordSigning: string
  traceHeaders: 'off' | 'on'
  /** Empty: none is given. */
  encryptionKeys: string
  /** Empty: none is given. */
  encryptionCommand: string
  topicPrefix: string
  partitions: number
  /** 0: the brokers' default. */
  replicationFactor: number
  sessionTimeoutMs: number
  /** Empty: none is given. */
  groupInstanceId: string
  /** 0: until somebody deletes the records. */
  retentionDays: number
  auditDays: number
  toleratedDowntimeDays: number
  synchronous: 'off' | 'normal' | 'full'
  /** 0: no limit. */
  dataFolderBytesMax: number
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Empty: none are given. */
  agents: string
  /** From 1 to 1000, as texts. */
  tenantWeights: Properties
  healthHost: string
  /** 0: any free port. */
  healthPort: number
}

export type SettingKey = keyof Settings

/**
 * `variable`: by the key. `schema`: bounds the value. `unit`: of a number. `secret`: the value is never
 * shown or logged.
 */
export type Setting = {
  variable: string
  description: string
  unit?: string
  secret: boolean
  /** A path: in a settings file it starts at the file's folder. */
  isPath?: true
  /** The only bus that reads the setting. Absent: all do. */
  onlyFor?: BusName
  /**
   * The values that a file may give that was only found: any, these, or paths below the folder of the
   * file. Absent: none.
   */
  ofFound?: 'any' | 'below' | readonly string[]
  schema: SettingSchema
  /** The default on a bus that has another one. */
  defaultOf?: Partial<Record<BusName, number>>
}

const table: Record<SettingKey, Omit<Setting, 'variable' | 'secret'> & { secret?: true }> = {
  bus: {
    description: "the log's place: a file on this machine, or Kafka",
    schema: { type: 'string', enum: [...busNames], default: busNames[0] },
  },
  dataFolder: {
    description:
      'the folder with the embedded log, weir.db; on Kafka, with local copies for tables',
    ofFound: 'below',
    isPath: true,
    schema: { type: 'string', minLength: 1, default: '.weir' },
  },
  bootstrapServer: {
    description: 'the first Kafka brokers to contact, as HOST:PORT, separated by commas',
    onlyFor: 'kafka',
    schema: {
      type: 'string',
      pattern: '^([^\\s,]+:\\d{1,5}(,[^\\s,]+:\\d{1,5})*)?$',
      expected: 'must be HOST:PORT, several with commas between them',
      default: '',
    },
  },
  commandConfig: {
    description: "Kafka's client.properties file: security, credentials, client id",
    isPath: true,
    onlyFor: 'kafka',
    schema: { type: 'string', default: '' },
  },
  commandProperty: {
    description:
      'properties for the Kafka client, which win over commandConfig. Repeat the flag, or give a property per line in the variable',
    unit: 'NAME=VALUE',
    secret: true,
    onlyFor: 'kafka',
    schema: { type: 'properties', default: {} },
  },
  plaintextPassword: {
    description: 'whether SASL PLAIN may send a password without TLS to another machine',
    schema: { type: 'string', enum: ['deny', 'allow'], default: 'deny' },
  },
  recordSigning: {
    description:
      "this process's signing key file, or a folder with several (weir keys create): signs written records, and checks read records",
    isPath: true,
    onlyFor: 'kafka',
    schema: { type: 'string', default: '' },
  },
  traceHeaders: {
    description: "on Kafka: whether records name their turn's span in the header traceparent",
    schema: { type: 'string', enum: ['off', 'on'], default: 'off' },
  },
  encryptionKeys: {
    description:
      "the file with tenants' encryption keys (weir keys tenant): encrypts and decrypts their records",
    isPath: true,
    schema: { type: 'string', default: '' },
  },
  encryptionCommand: {
    description:
      'instead of that file: a program with arguments, separated by spaces, that prints the content at the start',
    schema: { type: 'string', default: '' },
  },
  topicPrefix: {
    description: 'the beginning for all topic and consumer group names',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{0,100}$', default: 'weir.' },
  },
  partitions: {
    description: 'partitions in every topic; fixed once the topics exist',
    unit: 'partitions',
    ofFound: 'any',
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 4 },
    defaultOf: { embedded: 1 },
  },
  replicationFactor: {
    description: "copies for each partition in a new topic on Kafka; 0: the brokers' default",
    unit: 'copies',
    ofFound: 'any',
    schema: { type: 'integer', minimum: 0, maximum: 100, default: 0 },
  },
  sessionTimeoutMs: {
    description: 'on Kafka: how long a silent process keeps partitions, before others get them',
    unit: 'ms',
    ofFound: 'any',
    schema: { type: 'integer', minimum: 6_000, maximum: 1_800_000, default: 10_000 },
  },
  groupInstanceId: {
    description:
      "this process's name in consumer groups, unique in the fleet. The next start gets the same partitions at once",
    onlyFor: 'kafka',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{0,200}$', default: '' },
  },
  retentionDays: {
    description:
      "how long to keep records, and an idle conversation's history; 0: until somebody deletes them (weir forget)",
    unit: 'days',
    schema: { type: 'integer', minimum: 0, maximum: 36_500, default: retentionDaysDefault },
    defaultOf: { embedded: keptForever },
  },
  auditDays: {
    description:
      "how long to keep people's decisions and operators' changes (weir audit), if retentionDays is shorter",
    unit: 'days',
    schema: { type: 'integer', minimum: 1, maximum: 36_500, default: auditDaysDefault },
  },
  toleratedDowntimeDays: {
    description:
      'how long Weir may be down as a whole and still continue every open turn; retentionDays must be longer by a turn',
    unit: 'days',
    schema: { type: 'integer', minimum: 0, maximum: 36_500, default: downtimeDaysDefault },
  },
  synchronous: {
    description:
      'when the embedded log waits for the disk. Each value survives a killed process, only full survives each power loss',
    ofFound: ['full'],
    schema: { type: 'string', enum: ['off', 'normal', 'full'], default: 'normal' },
  },
  dataFolderBytesMax: {
    description:
      'log bytes in the data folder above which no new turn begins. Running turns end. 0: no limit',
    unit: 'bytes',
    schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
  },
  logLevel: {
    description: 'the lowest level to log; tool arguments are logged only at debug',
    ofFound: ['info', 'warn', 'error'],
    schema: {
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      default: 'warn',
    },
  },
  agents: {
    description:
      'an agent file, or a folder with agent files, for the stages llm-gateway and executor',
    isPath: true,
    schema: { type: 'string', default: '' },
  },
  tenantWeights: {
    description:
      'for weir up: shares for tenants that wait for model requests and tools; other tenants have 1. Repeat the flag, or give a tenant per line in the variable',
    unit: 'TENANT=WEIGHT',
    ofFound: 'any',
    schema: {
      type: 'properties',
      pattern: '^[a-z0-9][a-z0-9._-]{0,63}=([1-9]\\d{0,2}|1000)$',
      expected: 'must be TENANT=WEIGHT, with a whole number from 1 to 1000',
      default: {},
    },
  },
  healthHost: {
    description:
      'for weir up and weir guard run: the address that serves /livez, /readyz and /metrics',
    schema: { type: 'string', minLength: 1, default: '127.0.0.1' },
  },
  healthPort: {
    description:
      'for weir up and weir guard run: the port at that address; 0: any free port, named in the first log line',
    schema: { type: 'integer', minimum: 0, maximum: 65_535, default: 0 },
  },
}

export const settingTable = Object.fromEntries(
  Object.entries(table).map(([key, setting]) => [
    key,
    { variable: variableOf(key), secret: false, ...setting },
  ]),
) as Record<SettingKey, Setting>

export const settingKeys = Object.keys(settingTable) as SettingKey[]

/** The source of a value. `name`: of the flag, the variable, the file with its line, or the command. */
export type Origin =
  | { kind: 'flag' | 'environment' | 'file' | 'command'; name: string }
  | { kind: 'default' }

export type SettingValue = { value: SettingContent; origin: Origin }

/** The settings of a file. `name`: its path. `mistakes`: those of the file, each with its place. */
export type SettingsFile = {
  name: string
  /** Found in the working folder. False: a person named it, with --config or WEIR_CONFIG. */
  isFound: boolean
  values: Partial<Record<SettingKey, { value: unknown; line: number }>>
  mistakes: string[]
}

/** A flag that can be repeated has a list. */
export type SettingFlagValues = Partial<Record<SettingKey, string | readonly string[]>>

/** Values that a command itself sets where no flag does. `name`: of the command. */
export type CommandValues = { name: string; values: Partial<Record<SettingKey, string>> }

/**
 * `file`: the result of findSettingsFile. Throws `settings.invalid` with every bad value, its
 * source and the accepted values, and with every other mistake of the file.
 */
export function readSettings(
  flags: SettingFlagValues,
  environment: NodeJS.ProcessEnv,
  file?: SettingsFile,
  command?: CommandValues,
): Settings {
  return valuesOf(settingsWithOrigins(flags, environment, file, command))
}

export function valuesOf(settings: Record<SettingKey, SettingValue>): Settings {
  const values = Object.entries(settings).map(([key, { value }]) => [key, value])
  return Object.fromEntries(values) as Settings
}

/** As readSettings, with the source of each value. */
export function settingsWithOrigins(
  flags: SettingFlagValues,
  environment: NodeJS.ProcessEnv,
  file: SettingsFile = { name: '', isFound: false, values: {}, mistakes: [] },
  command?: CommandValues,
): Record<SettingKey, SettingValue> {
  const mistakes: string[] = []
  const fromFile = new Map(settingKeys.map((key) => [key, valueInFile(key, file, mistakes)]))
  const entries = settingKeys.map((key): [SettingKey, SettingValue] => {
    const { variable, schema } = settingTable[key]
    const flag = flags[key]
    if (flag !== undefined)
      return [key, judged(key, [flag].flat(), { kind: 'flag', name: `--${flagOf(key)}` }, mistakes)]
    const ofCommand = command?.values[key]
    if (command !== undefined && ofCommand !== undefined)
      return [key, judged(key, [ofCommand], { kind: 'command', name: command.name }, mistakes)]
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
  const values = withDefaultsOfBus(Object.fromEntries(entries) as Record<SettingKey, SettingValue>)
  const all = [...mistakes, ...file.mistakes]
  if (all.length === 0)
    all.push(
      ...busContradictions(values),
      ...retentionContradictions(values),
      ...(file.isFound ? notOfFound(values) : []),
    )
  if (all.length > 0)
    throw new WeirError('settings.invalid', ['Settings cannot be used.', ...all].join('\n  '))
  return values
}

function withDefaultsOfBus(
  values: Record<SettingKey, SettingValue>,
): Record<SettingKey, SettingValue> {
  const bus = values.bus.value as BusName
  const entries = settingKeys.map((key): [SettingKey, SettingValue] => {
    const { origin } = values[key]
    const value = settingTable[key].defaultOf?.[bus]
    return [key, value === undefined || origin.kind !== 'default' ? values[key] : { value, origin }]
  })
  return Object.fromEntries(entries) as Record<SettingKey, SettingValue>
}

/** The flag of `dataFolder` is `--data-folder`. */
export function flagOf(key: SettingKey): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The variable of `dataFolder` is `WEIR_DATA_FOLDER`. */
function variableOf(key: string): string {
  return `WEIR_${key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** Checked even if a flag or a variable wins: a mistake in the file stays a mistake. */
function valueInFile(
  key: SettingKey,
  file: SettingsFile,
  mistakes: string[],
): SettingValue | undefined {
  const found = file.values[key]
  if (found === undefined) return undefined
  const origin: Origin = { kind: 'file', name: `${file.name}:${found.line}` }
  const { value, fault } = judgeValue(found.value, settingTable[key].schema)
  if (fault !== undefined) mistakes.push(mistakeText(key, found.value, origin, fault))
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
  if (fault !== undefined) mistakes.push(mistakeText(key, texts.at(-1), origin, fault))
  return { value, origin }
}

/** One property per line. A shell may leave an empty line at the end. */
function linesOf(text: string, { type }: SettingSchema): string[] {
  return type === 'properties' ? text.split(/\r?\n/).filter((line) => line.trim() !== '') : [text]
}

function mistakeText(key: SettingKey, value: unknown, origin: Origin, fault: string): string {
  const shown = settingTable[key].secret
    ? 'not acceptable'
    : (JSON.stringify(value)?.slice(0, 100) ?? 'empty')
  return `${key} is ${shown} (from ${originText(origin)}); ${fault}`
}

/** A bus that needs one of its own settings, and the mistake if none is given. */
const withoutOwnSettings: Partial<Record<BusName, string>> = {
  kafka: `no broker is configured; set --bootstrap-server HOST:9092 (${settingTable.bootstrapServer.variable})`,
}

/** Values that are each acceptable, but not together. */
function busContradictions(values: Record<SettingKey, SettingValue>): string[] {
  const bus = values.bus.value as BusName
  const start = `bus is ${bus} (from ${originText(values.bus.origin)})`
  const given = settingKeys.flatMap((key) => {
    const { onlyFor } = settingTable[key]
    return onlyFor === undefined || isEmpty(values[key].value) ? [] : [{ key, onlyFor }]
  })
  const mistakes = given
    .filter(({ onlyFor }) => onlyFor !== bus)
    .map(({ key, onlyFor }) => {
      const where = originText(values[key].origin)
      return `${start}, and ${key} is given (from ${where}); give --bus ${onlyFor} (${settingTable.bus.variable}=${onlyFor}), or leave ${key} out`
    })
  if (!isEmpty(values.encryptionKeys.value) && !isEmpty(values.encryptionCommand.value))
    mistakes.push(
      `encryptionKeys is given (from ${originText(values.encryptionKeys.origin)}), and encryptionCommand too (from ${originText(values.encryptionCommand.origin)}); leave one of them out`,
    )
  const missing = withoutOwnSettings[bus]
  if (missing !== undefined && !given.some(({ onlyFor }) => onlyFor === bus))
    mistakes.push(`${start}, and ${missing}`)
  return mistakes
}

/**
 * A file that somebody put into the working folder must not send data elsewhere, start programs, delete
 * records or reach another log (`ofFound`).
 */
function notOfFound(values: Record<SettingKey, SettingValue>): string[] {
  return settingKeys
    .filter((key) => {
      const { value, origin } = values[key]
      const { ofFound = [] } = settingTable[key]
      if (origin.kind !== 'file' || ofFound === 'any') return false
      return ofFound === 'below'
        ? !isBelowFolder(`${value}`, dirname(origin.name))
        : !ofFound.includes(`${value}`)
    })
    .map((key) => {
      const { variable, ofFound } = settingTable[key]
      const rule = ofFound === 'below' ? ', and leads out of the folder' : ''
      return `${key} is set in ${originText(values[key].origin)}, a file found in this folder${rule}; if you trust the file, name it with --config (WEIR_CONFIG), or set ${key} with --${flagOf(key)} (${variable})`
    })
}

/** R7: retention must never remove the records that an open turn is folded from. */
function retentionContradictions({
  retentionDays,
  toleratedDowntimeDays,
}: Record<SettingKey, SettingValue>): string[] {
  const fault = retentionFault(Number(retentionDays.value), Number(toleratedDowntimeDays.value))
  if (fault === undefined) return []
  const values = [
    `retentionDays is ${retentionDays.value} days (from ${originText(retentionDays.origin)})`,
  ]
  values.push(
    `toleratedDowntimeDays is ${toleratedDowntimeDays.value} days (from ${originText(toleratedDowntimeDays.origin)})`,
  )
  return [`${values.join(', ')}: ${fault}`]
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
    case 'command':
      return origin.name
    case 'default':
      return 'the default'
    default:
      return origin satisfies never
  }
}
