// The flags of a what-if: thresholds by --set, a policy by --policy, a range by --sweep. Names,
// types and bounds are those of agent files.

import { type PolicyContent, readEntries } from '../../../shared/agents/policy/entries.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { entriesOf } from '../../terminal/policy-pairs.ts'
import { entriesInFile } from './policy-file.ts'

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
