// An operator's stop: its words, and the calls and turns that it stops. Every place that checks a stop
// uses this file. The stops of a turn are found in stops-in-force.ts.
// A stop of all, of an agent, of a tenant or of a conversation stops model requests and
// calls. A stop of tools stops calls only, so the turn continues.

import { type CallEnding, outcomeUnknown } from '../../contract/call/call-endings.ts'
import { limits } from '../../contract/limits.ts'
import type { StopInForce } from '../../contract/messages.ts'
import { shortened } from '../../lib/text-cut.ts'
import { deniedForGood } from '../../model-texts/denied-calls.ts'
import { earlierTry, notRun } from '../../model-texts/endings.ts'
import { matchesPattern } from '../guards/tool-pattern.ts'

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
