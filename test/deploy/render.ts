// The chart with four files of values, as Helm renders it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { pathOf, run } from './tools.ts'

export const chartFolder = join(import.meta.dirname, '../../deploy/chart')
export const valueFiles = ['minimal', 'fleet', 'tools', 'fronts'] as const

export type ValueFile = (typeof valueFiles)[number]

export function valuesPath(name: ValueFile): string {
  return join(import.meta.dirname, 'values', `${name}.yaml`)
}

export function goldenPath(name: ValueFile): string {
  return join(import.meta.dirname, 'golden', `${name}.yaml`)
}

/** `settings`: further values, `NAME=VALUE`. Throws with Helm's error. */
export function rendered(name: ValueFile, settings: readonly string[] = []): string {
  return run(pathOf('helm'), [
    ...['template', 'weir', chartFolder, '--namespace', 'agents', '--values', valuesPath(name)],
    ...settings.flatMap((setting) => ['--set', setting]),
  ])
}

/** The resources of the golden file. */
export function resourcesOf<T>(name: ValueFile): T[] {
  return parseAllDocuments(readFileSync(goldenPath(name), 'utf8'))
    .map((one) => one.toJS() as T | null)
    .filter((one) => one !== null)
}
