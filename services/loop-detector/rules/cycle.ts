// Two to twelve rounds come back in the same order with the same results, lap after lap.
//
// CYCLE-1. A lap with a call that waits is no cycle: still-waiting has its bound. A lap with a
//     transient failure is a retry, with a higher limit.
// CYCLE-2. Equal rounds in a row are no cycle of any length: other rules count those. Rounds
//     without calls do not break a lap.
// CYCLE-3. A different round breaks the laps, not the memory: the count starts again after it.

import type {
  EvidenceRef,
  InterventionAction,
  LoopThresholds,
} from '../../../shared/contract/messages.ts'
import {
  noProgress,
  type ShownCall,
  finding as texts,
} from '../../../shared/model-texts/interventions.ts'
import { type CallEvidence, isWaiting } from '../evidence/evidence.ts'
import { found } from '../ladder.ts'
import { transientRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

const periodMax = 12

type Lap = {
  print: string
  tag: number
  leash: 'short' | 'transient' | 'polling'
  shown: ShownCall
  ref: EvidenceRef
}

/**
 * `repeats`: at index p, the number of rounds in a row that equal the round p before. So index 1
 * counts equal rounds in a row.
 */
type Memory = { rounds: Lap[]; repeats: number[]; ladders: Ladder[] }

/** The action of the cycles of one length. */
type Ladder = { action: InterventionAction | 'none' }

export const cycle: Rule<Memory> = {
  name: 'cycle',
  version: 4,
  kind: 'tool_loop',
  thresholds: ['loop.cycleLaps'],
  description: 'Rounds come back in the same order, with the same results.',
  firesWhen: '2 to 12 rounds come in the same order with the same results, for the 3rd lap',
  endedBy: 'a round that breaks the order, after which laps count again',
  sentence: 'went round in a circle',
  initial: () => ({
    rounds: [],
    repeats: Array.from({ length: periodMax + 1 }, () => 0),
    ladders: [],
  }),

  judge(memory, { calls, print }, { loop }) {
    const [first] = calls
    if (first === undefined) return undefined
    const { rounds, repeats, ladders } = memory
    const tag = tagOf(print)
    let isRepeated = false
    for (let period = 1; period <= periodMax; period++) {
      const lap = rounds[rounds.length - period]
      if (lap !== undefined && lap.tag === tag && lap.print === print) {
        repeats[period] = (repeats[period] ?? 0) + 1
        isRepeated = true
      } else if (repeats[period] !== 0) {
        repeats[period] = 0
        if (ladders[period] !== undefined) ladders[period] = { action: 'none' }
      }
    }
    rounds.push({
      print,
      tag,
      leash: leashOf(calls),
      shown: {
        tool: first.tool,
        arguments: first.shown.arguments,
        outcome: first.shown.outcome,
      },
      ref: first.ref,
    })
    if (rounds.length > periodMax) rounds.shift()

    for (let period = 2; isRepeated && period <= periodMax; period++) {
      if ((repeats[1] ?? 0) >= period - 1) continue // CYCLE-2
      const laps = Math.floor((repeats[period] ?? 0) / period) + 1
      const lap = rounds.slice(-period)
      if (lap.some(({ leash }) => leash === 'polling')) continue
      if (laps < lapsMax(lap, loop)) continue
      const ladder = ladders[period] ?? { action: 'none' }
      ladders[period] = ladder
      return finding(lap, laps, ladder)
    }
    return undefined
  },
}

/** Two of its characters: most prints differ in them, and numbers are compared faster. */
function tagOf(print: string): number {
  return 256 * print.charCodeAt(0) + print.charCodeAt(print.length - 1)
}

export function leashOf(calls: CallEvidence[]): Lap['leash'] {
  if (calls.some(isWaiting)) return 'polling'
  return calls.some(({ failure }) => failure?.kind === 'transient') ? 'transient' : 'short'
}

function lapsMax(lap: Lap[], loop: LoopThresholds): number {
  return lap.some(({ leash }) => leash === 'transient') ? transientRoundsMax(loop) : loop.cycleLaps
}

function finding(lap: Lap[], laps: number, ladder: Ladder): Finding {
  const tools = lap.map(({ shown }) => shown.tool).join(' → ')
  return found(ladder, {
    key: tools,
    reason: `${lap.length} rounds (${tools}) came back ${laps} times in the same order with the same results`,
    text: noProgress(
      lap.map(({ shown }) => shown),
      texts.cycle(laps),
    ),
    evidence: lap.map(({ ref }) => ref),
  })
}
