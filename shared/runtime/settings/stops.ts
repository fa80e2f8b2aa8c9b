// An operator's stop: its id, its words, and the calls and turns that it stops. Every place that
// checks a stop uses this file.
// STOPS-1. A stop of all, of an agent, of a tenant or of a conversation stops model requests and
//     calls. A stop of tools stops calls only, so the turn continues.
// STOPS-2. A stop of an agent or a conversation holds also for the turns that its calls led to.

import { policyOf } from '../../agents/agents.ts'
import { type CallEnding, outcomeUnknown } from '../../contract/call/call-endings.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { Policy, StopInForce } from '../../contract/messages.ts'
import type { PolicyRecord } from '../../contract/performer.ts'
import { tenantOf } from '../../contract/tenant.ts'
import { stopKeyPrefix } from '../../contract/topology.ts'
import { lineOf } from '../../contract/tree.ts'
import { shortened } from '../../lib/text-cut.ts'
import { deniedForGood } from '../../model-texts/denied-calls.ts'
import { earlierTry, notRun } from '../../model-texts/endings.ts'
import { matchesPattern } from '../guards/tool-pattern.ts'

/** `calledBy` and `parent`: as in the turn's policy. */
export type StopTarget = { agent: string; conversation: ConversationId } & TreePlace

/** The part of a policy with the callers of its turn. */
export type TreePlace = Pick<Policy, 'calledBy' | 'parent'>

/**
 * The stops that concern a turn, from records of `policies`: all but those of other agents, tenants
 * and conversations. A text: the reason why they cannot be known, so nothing may start (R6).
 */
export function stopsInForce(
  records: readonly PolicyRecord[],
  { agent, conversation, calledBy, parent }: StopTarget,
): StopInForce[] | string {
  const conversations = lineOf({ conversation, parent })
  const stops: StopInForce[] = []
  for (const { key, message } of records) {
    if (!key.startsWith(stopKeyPrefix)) continue
    if (message.type !== 'operator-stop')
      return `the stop ${JSON.stringify(shortened(key, 80))} in policies is a ${message.type}; remove it with weir release`
    const { scope, name, mode, reason } = message
    if (scope === 'agent' && name !== agent && !calledBy?.includes(name)) continue
    if (scope === 'conversation' && !conversations.includes(name)) continue
    if (scope === 'tenant' && name !== tenantOf(conversation)) continue
    stops.push({ scope, name, mode, reason: shortened(reason, limits.reasonBytesMax) })
  }
  return stops.length <= limits.stopsMax
    ? stops
    : `${stops.length} stops are in force; at most ${limits.stopsMax} are taken: remove some with weir release`
}

/** The policy with exactly these stops, under a new version. Unchanged if there are none. */
export function withStops(policy: Policy, stops: StopInForce[]): Policy {
  if (stops.length === 0 && policy.stops.length === 0) return policy
  const { version: _, ...content } = policy
  return policyOf({ ...content, stops })
}

/** Of the stops of a turn, the first that stops its model requests. One at `now` comes first. */
export function stopOfTurn(stops: readonly StopInForce[]): StopInForce | undefined {
  return hardest(stops.filter(({ scope }) => scope !== 'tool'))
}

/** Of the stops of a turn, the first that stops calls of this tool. */
export function stopOfCall(stops: readonly StopInForce[], tool: string): StopInForce | undefined {
  return (
    stopOfTurn(stops) ??
    hardest(stops.filter(({ scope, name }) => scope === 'tool' && matchesPattern(name, tool)))
  )
}

function hardest(stops: readonly StopInForce[]): StopInForce | undefined {
  return stops.find(({ mode }) => mode === 'now') ?? stops[0]
}

/** For people: `an operator stopped agent "bank": wrong transfers`. */
export function stopReason({ scope, name, reason }: StopInForce): string {
  const stopped = scope === 'all' ? 'all agents' : `${scope} ${JSON.stringify(name)}`
  return shortened(`an operator stopped ${stopped}: ${reason}`, limits.reasonBytesMax)
}

/**
 * The end of a call that a stop keeps from running. With a stop of its tool it is denied, because
 * the turn goes on and the same call would be denied again. Otherwise it is skipped with its turn.
 * `lapsed`: an earlier try may have run (R5).
 */
export function stoppedCall(stop: StopInForce, lapsed: boolean): CallEnding {
  const reason = stopReason(stop)
  if (lapsed)
    return outcomeUnknown(
      earlierTry(`before a further one ${reason}`),
      'no result of an earlier try',
    )
  if (stop.scope === 'tool')
    return {
      status: 'denied',
      text: deniedForGood(`${reason}.`),
      reason,
    }
  return { status: 'skipped', text: notRun(`${reason}.`), reason }
}
