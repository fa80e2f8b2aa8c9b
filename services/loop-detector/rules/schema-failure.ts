// Calls of one tool keep breaking its schema (I5.2). From the threshold on the rejection has a
// sharper text. If the policy sets it, the turn ends, for a caller that routes it elsewhere instead
// of a retry.
//
// SCHEMA-FAILURE-1. Rounds are counted for each tool. A call that ran ends the count, with any
//     result. A veto does not, and neither do other tools.
// SCHEMA-FAILURE-2. The text is chosen before the round runs, the count changes after it. Both use
//     the same number: a round is judged before the next is checked.

import { limits } from '../../../shared/contract/limits.ts'
import type { Call, Policy, Rejection, RejectionCode } from '../../../shared/contract/messages.ts'
import { toolOf } from '../evidence.ts'
import { touch } from '../recency.ts'
import type { Rule } from '../rule.ts'

/** Rounds in a row with a schema failure, by tool (toolOf). */
type Memory = Map<string, number>

export const schemaFailure: Rule<Memory> = {
  name: 'schema-failure',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.schemaFailures', 'loop.schemaFailureEndsTurn'],
  description: 'A tool keeps being called against its schema.',
  firesWhen:
    'calls of one tool break its schema in 3 rounds in a row: the rejection gets a sharper text, and the turn ends if the policy sets that',
  endedBy: 'a call of the tool that ran',
  sentence: 'kept calling a tool with unusable arguments',
  initial: () => new Map(),

  judge(memory, { calls, rejections }, { loop }) {
    if (rejections.length === 0 && memory.size === 0) return undefined // nearly always
    const broke = new Set(
      rejections.filter(({ code }) => isSchemaFailure(code)).map(({ ordinal }) => ordinal),
    )
    const failing = calls.filter(
      ({ ref, failure }) => broke.has(ref.ordinal) && failure?.kind !== 'transient',
    )
    for (const tool of new Set(failing.map(({ tool }) => tool)))
      touch(memory, tool, (memory.get(tool) ?? 0) + 1, limits.loopStreaksMax)
    for (const call of calls) if (call.ran) memory.delete(call.tool)

    const worst = failing.find(({ tool }) => (memory.get(tool) ?? 0) >= loop.schemaFailures)
    if (worst === undefined || !loop.schemaFailureEndsTurn) return undefined
    const times = memory.get(worst.tool) ?? 0
    return {
      rung: 'end',
      ordinary: false,
      key: worst.tool,
      reason: `${worst.tool} was called against its schema in ${times} consecutive rounds: ${worst.failure?.reason ?? ''}`,
      text: '',
      class: 'deterministic',
      evidence: failing.filter(({ tool }) => tool === worst.tool).map(({ ref }) => ref),
    }
  },
}

/**
 * The rejections with their texts for the model: from the threshold on the text of I5 replaces the
 * usual one.
 */
export function sharpened(
  memory: Memory,
  rejections: Rejection[],
  calls: Call[],
  { loop }: Policy,
): Rejection[] {
  const byOrdinal = new Map(calls.map((call) => [call.ordinal, call]))
  return rejections.map((rejection) => {
    const call = byOrdinal.get(rejection.ordinal)
    if (call === undefined || call.problem === 'stream_error' || !isSchemaFailure(rejection.code))
      return rejection
    const times = (memory.get(toolOf(call)) ?? 0) + 1
    return times < loop.schemaFailures
      ? rejection
      : { ...rejection, text: breakerText(call.name, times, rejection.requiredFields) }
  })
}

/**
 * Missing or unreadable arguments, or a wrong shape. Not an unknown tool, which has no schema, and
 * not an unusable schema or a provider error in the stream: the model did not cause those.
 */
function isSchemaFailure(code: RejectionCode): boolean {
  return code === 'schema' || code === 'no_arguments' || code === 'bad_arguments'
}

/** The text of I5.2, word for word. */
function breakerText(name: string, times: number, requiredFields: string[]): string {
  const fields = requiredFields.length === 0 ? 'none' : requiredFields.join(', ')
  return `Tool '${name}' has failed schema validation ${times} times consecutively. The required fields are: ${fields}. Do NOT call this tool again without providing all required fields.`
}
