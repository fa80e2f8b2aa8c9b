// The flags of a what-if: thresholds by --set, a policy by --policy, a range by --sweep. Names,
// types and bounds are those of agent files.

import { parse } from 'yaml'
import { meaningsAt } from '../../../shared/agents/file/schema-mistakes.ts'
import {
  type PolicyContent,
  policyKey,
  readEntries,
} from '../../../shared/agents/policy/entries.ts'
import type { PolicyEntry } from '../../../shared/contract/messages.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { alternatives, shown } from '../../../shared/settings/mistake.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { readText } from '../../../shared/settings/text-file.ts'
import { entriesOf } from '../../terminal/policy-pairs.ts'

/** `key`: the swept threshold. */
export type Sweep = { key: string; values: number[] }

const sweepValuesMax = 100

/** If both set a key, --set counts. Throws `usage`. */
export function contentOf({
  set = [],
  policy,
}: {
  set?: readonly string[] | undefined
  policy?: string | undefined
}): PolicyContent {
  const given = [
    ...(policy === undefined ? [] : entriesInFile(policy)),
    ...entriesOf(set, { flag: '--set ' }),
  ]
  return readEntries(given).content
}

/** `loop.identicalFailures=2..6`. Throws `usage`. */
export function sweepOf(text: string): Sweep {
  const [, given = '', from, to] =
    /^\s*([^=]+?)\s*=\s*(\d{1,9})\s*\.\.\s*(\d{1,9})\s*$/.exec(text) ?? []
  const [low, high] = [Number(from), Number(to)]
  if (from !== undefined && high < low)
    throw usageError(
      `--sweep is '${text}', which descends; write the lower value first: ${given}=${high}..${low}`,
    )
  if (from === undefined)
    throw usageError(
      `--sweep is '${text}'; must be a threshold and two whole numbers, such as loop.identicalFailures=2..6`,
    )
  if (high - low >= sweepValuesMax)
    throw usageError(`--sweep ${text} has ${high - low + 1} values. The limit is ${sweepValuesMax}`)
  for (const end of [low, high]) entriesOf([`${given}=${end}`], { flag: '--sweep ' })
  return {
    key: given,
    values: Array.from({ length: high - low + 1 }, (_, step) => low + step),
  }
}

/** One content for each value. */
export function contentsOf({ key, values }: Sweep): PolicyContent[] {
  return values.map((value) => readEntries([{ key, value: `${value}` }]).content)
}

const fileBytesMax = 1024 * 1024
const sections = ['loop', 'empty', 'caps']

/** Throws `usage` if it is none of the three, or an agent file without any policy. */
function entriesInFile(file: string): PolicyEntry[] {
  const read = readText(file, fileBytesMax)
  if ('fault' in read) throw usageError(`--policy ${file} ${read.fault}`)
  const content = parsed(file, read.text)
  const pairs = isObject(content)
    ? Object.entries(content).flatMap(([key, value]) => pairsIn(file, key, value))
    : []
  if (pairs.length === 0)
    throw usageError(
      `--policy ${file} sets nothing. The sections ${alternatives(sections, 'and')} of an agent file count. Example: loop: { identicalFailures: 2 }`,
    )
  return entriesOf(pairs, { flag: `--policy ${file}: ` })
}

function parsed(file: string, text: string): unknown {
  try {
    return parse(text)
  } catch (cause) {
    const reason = (cause as Error).message
    throw usageError(`--policy ${file} is neither YAML nor JSON: ${reason}`, { cause })
  }
}

/** The other sections of an agent file are no policy. */
function pairsIn(file: string, key: string, value: unknown): string[] {
  if (policyKey(key) !== undefined) return [pairOf(key, value)]
  if (sections.includes(key)) return sectionPairs(file, key, value)
  if (meaningsAt().some(([name]) => name === key)) return []
  const near = nearestName(key, sections)
  throw usageError(
    `--policy ${file}: an agent file has no ${shown(key)}${near === undefined ? '' : `; did you mean ${near}?`}. ` +
      `A policy is ${alternatives(sections, 'and')}, or keys such as loop.identicalFailures`,
  )
}

function sectionPairs(file: string, section: string, values: unknown): string[] {
  if (values === null) return [] // an empty section
  if (!isObject(values))
    throw usageError(
      `--policy ${file}: ${section} is ${shown(values)}; must have a value for each key`,
    )
  return Object.entries(values).flatMap(([name, value]) =>
    section === 'loop' && name === 'rules' && isObject(value)
      ? Object.entries(value).map(([rule, mode]) => pairOf(`rule.${rule}`, mode))
      : [pairOf(`${section}.${name}`, value)],
  )
}

function pairOf(key: string, value: unknown): string {
  return `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`
}
