// The texts of Weir that the users of guests read, in a host or in the answer of a front.

import { asSentence } from '../lib/text-cut.ts'

/**
 * The end of a turn. `rule` null: the reason names the cause, such as a cap. `last`: the newest result,
 * which the reason may quote already.
 */
export function endedForUser({
  reason,
  rule,
  last,
}: {
  reason: string
  rule: string | null
  last?: { tool: string; line: string } | undefined
}): string {
  const by = rule === null ? '' : ` by the rule ${rule}`
  const newest =
    last === undefined || reason.includes(last.line)
      ? ''
      : ` The newest result, from ${last.tool}: ${asSentence(last.line)}`
  return `Weir ended the turn${by}: ${asSentence(reason)}${newest}`
}
