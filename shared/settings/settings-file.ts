// The settings file: `weir.yaml` or `weir.json` in the working folder, or the file of --config or
// WEIR_CONFIG. It maps keys of settings.ts to values. settings.ts judges the values together with
// flags and variables, so that you get all mistakes at once.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { limits } from '../contract/limits.ts'
import { readDocument } from './document.ts'
import { alternatives, kindOf, type Mistake, pathText } from './mistake.ts'
import { nearestName } from './nearest-name.ts'
import { type SettingKey, type SettingsFile, settingKeys } from './settings.ts'
import { readText } from './text-file.ts'

/** `config`: the value of --config. */
export type FindOptions = {
  config?: string | undefined
  environment: NodeJS.ProcessEnv
  folder: string
}

const defaultNames = ['weir.yaml', 'weir.json']

/**
 * Never throws: its mistakes are reported with the other mistakes of the settings. Undefined: there
 * is no file.
 */
export function findSettingsFile({
  config,
  environment,
  folder,
}: FindOptions): SettingsFile | undefined {
  const [named, by] =
    config === undefined
      ? [environment.WEIR_CONFIG, 'the variable WEIR_CONFIG']
      : [config, 'the flag --config']
  if (named === '')
    return {
      name: '',
      isFound: false,
      values: {},
      mistakes: [`${by} is empty; must be the path of a settings file`],
    }
  if (named !== undefined) return { ...read(named, folder, ` (from ${by})`), isFound: false }

  const found = defaultNames.filter((name) => existsSync(join(folder, name)))
  const [first] = found
  if (first === undefined) return undefined
  if (found.length > 1)
    return {
      name: first,
      isFound: true,
      values: {},
      mistakes: [`${alternatives(found, 'and')} are both there; keep one of them`],
    }
  return { ...read(first, folder, ''), isFound: true }
}

function read(name: string, folder: string, by: string): Omit<SettingsFile, 'isFound'> {
  const refused = (mistakes: string[]) => ({ name, values: {}, mistakes })
  if (!/\.(ya?ml|json)$/.test(name))
    return refused([
      `${name}${by} is not a settings file; its name must end in .yaml, .yml or .json`,
    ])
  const content = readText(resolve(folder, name), limits.settingsFileBytesMax)
  if ('fault' in content) return refused([`${name}:${content.line}${by} ${content.fault}`])

  const { document, mistakes } = readDocument(name, content.text)
  const lines = mistakes.map(lineOf)
  if (document === undefined) return refused(lines)
  const { value } = document
  if (value === null) return refused(lines) // an empty file, or only comments
  if (typeof value !== 'object' || Array.isArray(value))
    return refused([...lines, `${name}:1:1: is ${kindOf(value)}; must be a mapping of settings`])

  const values: SettingsFile['values'] = {}
  for (const [key, given] of Object.entries(value)) {
    const place = document.placeOf([key], 'key')
    if (isSettingKey(key)) values[key] = { value: given, line: place.line }
    else lines.push(lineOf({ file: name, ...place, path: [key], text: unknownKey(key) }))
  }
  return { name, values, mistakes: lines }
}

function isSettingKey(key: string): key is SettingKey {
  return settingKeys.some((known) => known === key)
}

function unknownKey(key: string): string {
  const near = nearestName(key, settingKeys)
  return near === undefined
    ? `is an unknown setting; settings: ${alternatives(settingKeys, 'and')}`
    : `is an unknown setting; did you mean ${near}?`
}

function lineOf({ file, line, column, path, text }: Mistake): string {
  return `${file}:${line}:${column}${path.length === 0 ? '' : ` ${pathText(path)}`}: ${text}`
}
