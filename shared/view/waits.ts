// The calls of a turn that wait for something that runs, or for a time. Pure. The loop-detector does
// not count them as repetitions, and its functions recognise them here too.

import { isWaiting, waitEvidence } from '../../services/loop-detector/evidence/evidence.ts'
import { noWaits, withWaits } from '../../services/loop-detector/waiting/waits-of-turn.ts'
import { isGuest } from '../contract/topology.ts'
import { type RoundView, resultOf } from './round-view.ts'

/** By round, the ordinals of its waits. `rounds`: of a turn, in order. */
export function waitsOf(rounds: readonly RoundView[]): Map<number, Set<number>> {
  const waits = new Map<number, Set<number>>()
  const memory = noWaits()
  for (const view of rounds) {
    const { 'round-checked': checked, 'round-executed': executed } = view.stage
    if (checked === undefined || (executed ?? view.stage['round-outcome']) === undefined) continue
    const { response, declarations, conversation } = checked.message
    const calls = response.calls.flatMap((call) => {
      const result = resultOf(view, call.ordinal)
      if (result === undefined || result.status === 'skipped' || result.status === 'unseen')
        return []
      const declaration = declarations.find(({ name }) => name === call.name)
      const { wait, sleeps, progress } = waitEvidence(call, result, declaration)
      const failure = result.status === 'ok' ? undefined : result
      const { ordinal } = call
      const runs = progress === 'running'
      return [{ ordinal, wait, sleeps, poll: false, text: result.text, runs, failure }]
    })
    const time = executed?.time ?? checked.time
    const waiting = withWaits(memory, { calls, time, isGuest: isGuest(conversation) })
    const ordinals = waiting.filter(isWaiting).map(({ ordinal }) => ordinal)
    if (ordinals.length > 0) waits.set(view.round, new Set(ordinals))
  }
  return waits
}
