// What people turn: one table with key, environment variable, unit, default and bounds. Read once, at the start; the order is flag, environment,
// default. What nobody needs to turn is a constant in limits.ts; what belongs to an agent stands in its agent file.

import { Ajv } from 'ajv'
import { WeirError } from './errors.ts'

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
    schema: { type: 'string', enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], default: 'info' },
  },
}

const keys = Object.keys(settingTable) as SettingKey[]

/**
 * Flags win over the environment, that over defaults. Throws `settings.invalid` that names every bad value, where it came from and what would
 * be accepted.
 */
export function readSettings(flags: Partial<Record<SettingKey, string>>, environment: NodeJS.ProcessEnv): Settings {
  const ajv = new Ajv({ coerceTypes: true })
  const mistakes: string[] = []
  const entries = keys.map((key): [SettingKey, unknown] => {
    const { variable, schema, secret } = settingTable[key]
    const given = flags[key] ?? environment[variable]
    if (given === undefined) return [key, schema.default]
    const holder = { value: given }
    const validate = ajv.compile({ type: 'object', properties: { value: { ...schema, default: undefined } } })
    if (validate(holder)) return [key, holder.value]
    const origin = flags[key] === undefined ? `the variable ${variable}` : `the flag --${flagOf(key)}`
    mistakes.push(
      `${key} is ${secret ? 'not acceptable' : JSON.stringify(given)} (from ${origin}): it ${ajv.errorsText(validate.errors, { dataVar: '' }).replaceAll('/value ', '')}${allowed(schema)}`,
    )
    return [key, undefined]
  })
  if (mistakes.length > 0) throw new WeirError('settings.invalid', `Settings cannot be used.\n  ${mistakes.join('\n  ')}`)
  return Object.fromEntries(entries) as Settings
}

/** `dataFolder` is given on the command line as `--data-folder`. */
export function flagOf(key: SettingKey): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function allowed(schema: Setting['schema']): string {
  return schema.enum ? ` (${schema.enum.join(', ')})` : ''
}
