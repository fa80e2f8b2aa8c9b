// What is asked of a what-if: thresholds by --set, a policy by --policy, a range of one threshold by --sweep. Names, types and bounds are those of agent files.

import { parse } from 'yaml'
import { readText } from '../../../../shared/agent-file/text-file.ts'
import { WeirError } from '../../../../shared/errors.ts'
import type { PolicyEntry } from '../../../../shared/messages.ts'
import type { PolicyContent } from '../../../../shared/policy/entries.ts'
import { policyKey, readEntries } from '../../../../shared/policy/entries.ts'
import { entriesOf } from '../../policy-pairs.ts'

/** `key`: the threshold that is swept, under its full name. */
export type Sweep = { key: string; values: number[] }

const policyBytesMax = 1024 * 1024
const sweepValuesMax = 100

/** What is set by both counts as --set says. Throws `usage`. */
export function contentOf({ set = [], policy }: { set?: readonly string[] | undefined; policy?: string | undefined }): PolicyContent {
  const given = [...(policy === undefined ? [] : entriesInFile(policy)), ...entriesOf(set, { flag: '--set ' })]
  return readEntries(given).content
}

/** `loop.identicalFailures=2..6`. Throws `usage`. */
export function sweepOf(text: string): Sweep {
  const [, given = '', from, to] = /^\s*([^=]+?)\s*=\s*(\d{1,9})\s*\.\.\s*(\d{1,9})\s*$/.exec(text) ?? []
  const [low, high] = [Number(from), Number(to)]
  if (from === undefined || high < low)
    throw new WeirError('usage', `--sweep is '${text}'; must be a threshold and two whole numbers, as loop.identicalFailures=2..6`)
  if (high - low >= sweepValuesMax)
    throw new WeirError('usage', `--sweep ${text} asks for ${high - low + 1} values; at most ${sweepValuesMax} are tried`)
  entriesOf([`${given}=${low}`, `${given}=${high}`], { flag: '--sweep ' })
  entriesOf([`${given}=${low}`], { flag: '--sweep ' })
  return { key: policyKey(given) ?? given, values: Array.from({ length: high - low + 1 }, (_, step) => low + step) }
}

/** One content for each value. */
export function contentsOf({ key, values }: Sweep): PolicyContent[] {
  return values.map((value) => readEntries([{ key, value: `${value}` }]).content)
}

/** The sections of an agent file that hold a policy: `loop` (with `rules`), `empty` and `caps`, as YAML or JSON. */
function entriesInFile(file: string): PolicyEntry[] {
  const read = readText(file, policyBytesMax)
  if ('fault' in read) throw new WeirError('usage', `--policy ${file} ${read.fault}`)
  const content = sectionsIn(file, read.text)
  const pairs = Object.entries(content).flatMap(([section, values]) => pairsIn(file, section, values))
  return entriesOf(pairs, { flag: `--policy ${file}: ` })
}

function sectionsIn(file: string, text: string): Record<string, unknown> {
  let content: unknown
  try {
    content = parse(text)
  } catch (error) {
    throw unreadable(file, error)
  }
  if (isObject(content)) return content
  throw new WeirError('usage', `--policy ${file} holds no sections; write for example: loop: { identicalFailures: 2 }`)
}

function pairsIn(file: string, section: string, values: unknown): string[] {
  if (!isObject(values))
    throw new WeirError('usage', `--policy ${file}: ${section} must be a section such as loop, empty or caps, with a value for each key`)
  return Object.entries(values).flatMap(([name, value]) => {
    if (section === 'loop' && name === 'rules' && isObject(value))
      return Object.entries(value).map(([rule, mode]) => `rule.${rule}=${mode}`)
    return [`${section}.${name}=${value}`]
  })
}

function unreadable(file: string, cause: unknown): WeirError {
  return new WeirError('usage', `--policy ${file} is neither YAML nor JSON: ${(cause as Error).message}`, { cause })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
