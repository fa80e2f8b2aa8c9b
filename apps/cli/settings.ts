// `weir settings`: shows every setting with its value, the origin of the value, and its meaning.

import type { SettingContent } from '../../shared/settings/setting-schema.ts'
import {
  flagOf,
  type Origin,
  originText,
  type SettingKey,
  type SettingValue,
  settingKeys,
  settingTable,
} from '../../shared/settings/settings.ts'
import { commandSettingsWithOrigins, type SettingFlags } from '../terminal/command-settings.ts'
import { columnsOfOutput, painted } from '../terminal/paint.ts'
import { printable, printableJson } from '../terminal/text/printable.ts'
import { wrapped } from '../terminal/text/word-wrap.ts'

/**
 * `weir settings --json` prints one of these for each setting, by key. A secret's value is null.
 * Properties show only their names.
 */
export type ShownSetting = {
  value: string | number | null
  names?: string[]
  unit: string | null
  origin: Origin
  default: SettingContent
  flag: string
  variable: string
  secret: boolean
  description: string
}

/** Prints to `out`. Throws `settings.invalid` with all mistakes. */
export function showSettings(
  flags: SettingFlags,
  { json }: { json?: boolean },
  out: NodeJS.WriteStream,
): void {
  const values = commandSettingsWithOrigins(flags)
  const shown = settingKeys.map((key): [SettingKey, ShownSetting] => [
    key,
    shownSetting(key, values[key]),
  ])
  if (json) out.write(`${printableJson(Object.fromEntries(shown))}\n`)
  else for (const [key, setting] of shown) printSetting(key, setting, out)
}

function shownSetting(key: SettingKey, { value, origin }: SettingValue): ShownSetting {
  const { schema, unit = null, secret, variable, description } = settingTable[key]
  const about = {
    unit,
    origin,
    default: schema.default,
    flag: `--${flagOf(key)}`,
    variable,
    secret,
    description,
  }
  if (typeof value === 'object') return { value: null, names: Object.keys(value), ...about }
  return { value: secret ? null : value, ...about }
}

const keyColumns = Math.max(...settingKeys.map((key) => key.length)) + 2

function printSetting(key: SettingKey, setting: ShownSetting, out: NodeJS.WriteStream): void {
  const { unit, origin, flag, variable, description } = setting
  const text = shownValue(setting)
  const measured =
    unit === null || unit === key || typeof setting.value !== 'number' ? text : `${text} ${unit}`
  out.write(
    `${painted(out, 'title', key.padEnd(keyColumns))}${measured}  (${printable(originText(origin))})\n`,
  )
  const indent = ' '.repeat(keyColumns)
  for (const line of wrapped(
    `${description}; ${flag}, ${variable}`,
    columnsOfOutput(out) - keyColumns,
  ))
    out.write(`${indent}${painted(out, 'faint', line)}\n`)
}

function shownValue({ value, names }: ShownSetting): string {
  if (names !== undefined)
    return names.length === 0
      ? '(none)'
      : `${names.map(printable).join(', ')} (values are not shown)`
  if (value === null) return '(secret)'
  return value === '' ? '(empty)' : printable(String(value))
}
