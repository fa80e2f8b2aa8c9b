// The calls of a turn that wait for something that runs, or for a time. Pure. The loop-detector does
// not count them as repetitions, and its functions recognise them here too.
// If a record cannot be judged, only the later rounds have no waits: the rest of the
// view stays.

import { isWaiting, waitEvidence } from '../../services/loop-detector/evidence/evidence.ts'
import {
  noWaits,
  type WaitMemory,
  withWaits,
} from '../../services/loop-detector/waiting/waits-of-turn.ts'
import { isGuest } from '../contract/topology.ts'
import { type RoundView, resultOf } from './round-view.ts'

/** By round, the ordinals of its waits. `rounds`: of a turn, in order. */
export function waitsOf(rounds: readonly RoundView[]): Map<number, Set<number>> {
  const waits = new Map<number, Set<number>>()
  const memory = noWaits()
  try {
    for (const view of rounds) {
      const ordinals = waitsIn(view, memory)
      if (ordinals.length > 0) waits.set(view.round, new Set(ordinals))
    }
  } catch {}
  return waits
}

function waitsIn(view: RoundView, memory: WaitMemory): number[] {
  const { 'round-checked': checked, 'round-executed': executed } = view.stage
  const isOver = (executed ?? view.stage['round-outcome']) !== undefined
  if (checked === undefined || !isOver) return []
  const { response, declarations, conversation } = checked.message
  const calls = response.calls.flatMap((call) => {
    const result = resultOf(view, call.ordinal)
    if (result === undefined || result.status === 'skipped' || result.status === 'unseen') return []
    const declaration = declarations.find(({ name }) => name === call.name)
    const { wait, sleeps, progress } = waitEvidence(call, result, declaration)
    return [
      {
        ordinal: call.ordinal,
        wait,
        sleeps,
        poll: false,
        text: result.text,
        runs: progress === 'running',
        failure: result.status === 'ok' ? undefined : result,
      },
    ]
  })
  const time = executed?.time ?? checked.time
  const waiting = withWaits(memory, { calls, time, isGuest: isGuest(conversation) })
  return waiting.filter(isWaiting).map(({ ordinal }) => ordinal)
}
