// KEY=VALUE on the command line, for `weir policy` and `--set`.

import { policyKeys, readEntries, unknownKey } from '../../shared/agents/policy/entries.ts'
import type { PolicyEntry } from '../../shared/contract/messages.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'

/**
 * One entry for each key, under its full name. `flag`: the text before a pair on the command line,
 * with its blank. `keys`: the accepted keys. Throws `usage` with the nearest key and the accepted
 * ones; a singular is an error, because agent files refuse it too. A key that is given twice is an
 * error, because the intent is unclear.
 */
export function entriesOf(
  pairs: readonly string[],
  { flag = '', keys = policyKeys }: { flag?: string; keys?: readonly string[] } = {},
): PolicyEntry[] {
  const entries = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const given = (at < 0 ? pair : pair.slice(0, at)).trim()
    const key = keys.find((known) => known === given)
    if (key === undefined) throw usageError(`${flag}${shown(pair)} ${unknownKey(given, keys)}`)
    if (at < 0) throw usageError(`${flag}${key} has no value; write ${flag}${key}=VALUE`)
    const value = pair.slice(at + 1).trim()
    const earlier = entries.get(key)
    if (earlier !== undefined)
      throw usageError(
        `${flag}${key} is given twice, as ${shown(earlier)} and as ${shown(value)}: give it once`,
      )
    entries.set(key, value)
  }
  const given = [...entries].map(([key, value]) => ({ key, value }))
  const [fault] = readEntries(given).faults
  if (fault !== undefined) throw usageError(`${flag}${fault.key} ${fault.text}`)
  return given
}
