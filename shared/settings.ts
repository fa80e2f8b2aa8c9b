// What people turn: one table with key, environment variable, unit, default and bounds. Read once, at the start; the order is flag, environment,
// settings file (settings-file.ts), default. What nobody needs to turn is a constant in limits.ts; what belongs to an agent stands in its agent file.
// Judged here by hand: a library for it would cost every command a tenth of a second at its start.

import { isAbsolute, join } from 'node:path'
import { WeirError } from './errors.ts'
import type { SettingsFile } from './settings-file.ts'

export type Settings = {
  dataFolder: string
  topicPrefix: string
  partitions: number
  synchronous: 'off' | 'normal' | 'full'
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
}

export type SettingKey = keyof Settings

/** `schema` bounds the value; `unit` says how a number counts; `secret`: its value is never shown or logged. */
export type Setting = {
  variable: string
  description: string
  unit?: string
  secret: boolean
  /** A path: in a settings file it starts at the file's folder. */
  isPath?: true
  schema: {
    type: 'string' | 'integer'
    default: string | number
    enum?: string[]
    pattern?: string
    minLength?: number
    minimum?: number
    maximum?: number
  }
}

export const settingTable: Record<SettingKey, Setting> = {
  dataFolder: {
    variable: 'WEIR_DATA_FOLDER',
    description: 'the folder of the embedded bus; its file is weir.db',
    secret: false,
    isPath: true,
    schema: { type: 'string', minLength: 1, default: '.weir' },
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
  synchronous: {
    variable: 'WEIR_SYNCHRONOUS',
    description:
      'when the embedded bus waits for the disk; all three survive a killed process, only full survives a power loss at any moment',
    secret: false,
    schema: { type: 'string', enum: ['off', 'normal', 'full'], default: 'normal' },
  },
  logLevel: {
    variable: 'WEIR_LOG_LEVEL',
    description: 'the least severe log line that is written; tool arguments are written at debug only',
    secret: false,
    schema: { type: 'string', enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], default: 'warn' },
  },
}

export const settingKeys = Object.keys(settingTable) as SettingKey[]

/** Where a value came from; `name`: of the flag, the variable, or the file with its line. */
export type Origin = { kind: 'flag' | 'environment' | 'file'; name: string } | { kind: 'default' }

export type SettingValue = { value: string | number; origin: Origin }

type Flags = Partial<Record<SettingKey, string>>

/**
 * Flags win over the environment, that over the file, that over defaults. `file`: what findSettingsFile gave. Throws `settings.invalid` that names
 * every bad value, where it came from and what would be accepted, and every other mistake of the file.
 */
export function readSettings(flags: Flags, environment: NodeJS.ProcessEnv, file?: SettingsFile): Settings {
  const values = Object.entries(settingsWithOrigins(flags, environment, file)).map(([key, { value }]) => [key, value])
  return Object.fromEntries(values) as Settings
}

/** As readSettings, with the origin of each value. */
export function settingsWithOrigins(
  flags: Flags,
  environment: NodeJS.ProcessEnv,
  file: SettingsFile = { name: '', values: {}, mistakes: [] },
): Record<SettingKey, SettingValue> {
  const mistakes: string[] = []
  const fromFile = new Map(settingKeys.map((key) => [key, valueInFile(key, file, mistakes)]))
  const entries = settingKeys.map((key): [SettingKey, SettingValue] => {
    const { variable, schema } = settingTable[key]
    const flag = flags[key]
    if (flag !== undefined) return [key, judged(key, flag, { kind: 'flag', name: `--${flagOf(key)}` }, mistakes)]
    const inEnvironment = environment[variable]
    if (inEnvironment !== undefined) return [key, judged(key, inEnvironment, { kind: 'environment', name: variable }, mistakes)]
    return [key, fromFile.get(key) ?? { value: schema.default, origin: { kind: 'default' } }]
  })
  const all = [...mistakes, ...file.mistakes]
  if (all.length > 0) throw new WeirError('settings.invalid', ['Settings cannot be used.', ...all].join('\n  '))
  return Object.fromEntries(entries) as Record<SettingKey, SettingValue>
}

/** `dataFolder` is given on the command line as `--data-folder`. */
export function flagOf(key: SettingKey): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Also where a flag or a variable wins: a mistake in the file is one in any case. */
function valueInFile(key: SettingKey, file: SettingsFile, mistakes: string[]): SettingValue | undefined {
  const found = file.values[key]
  if (found === undefined) return undefined
  const origin: Origin = { kind: 'file', name: `${file.name}:${found.line}` }
  const fault = faultOf(found.value, settingTable[key].schema)
  if (fault !== undefined) mistakes.push(complaint(key, found.value, origin, fault))
  const value = found.value as string | number
  const { isPath } = settingTable[key]
  return { value: isPath && typeof value === 'string' && !isAbsolute(value) ? join(file.name, '..', value) : value, origin }
}

/** A flag and a variable are texts, also where a number is meant. */
function judged(key: SettingKey, text: string, origin: Origin, mistakes: string[]): SettingValue {
  const { schema } = settingTable[key]
  const value = schema.type === 'integer' && /^\d{1,15}$/.test(text) ? Number(text) : text
  const fault = faultOf(value, schema)
  if (fault !== undefined) mistakes.push(complaint(key, text, origin, fault))
  return { value, origin }
}

function complaint(key: SettingKey, value: unknown, origin: Origin, fault: string): string {
  const shown = settingTable[key].secret ? 'not acceptable' : (JSON.stringify(value)?.slice(0, 100) ?? 'empty')
  return `${key} is ${shown} (from ${originText(origin)}); ${fault}`
}

function faultOf(
  value: unknown,
  { type, enum: allowed, pattern, minLength = 0, minimum = 0, maximum }: Setting['schema'],
): string | undefined {
  if (type === 'integer') {
    const isWithin = Number.isInteger(value) && (value as number) >= minimum && (value as number) <= (maximum ?? Number.MAX_SAFE_INTEGER)
    return isWithin ? undefined : `must be a whole number from ${minimum} to ${maximum}`
  }
  if (typeof value !== 'string') return `must be ${allowed === undefined ? 'a text; put quotes around it' : oneOf(allowed)}`
  if (allowed !== undefined) return allowed.includes(value) ? undefined : `must be ${oneOf(allowed)}`
  if (value.length < minLength) return 'must not be empty'
  return pattern === undefined || new RegExp(pattern).test(value) ? undefined : `must match ${pattern}`
}

function oneOf(allowed: string[]): string {
  return `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`
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
