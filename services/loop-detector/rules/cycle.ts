// Two to twelve rounds come back in the same order with the same results, lap after lap.
//
// A lap with a call that waits is no cycle: still-waiting has its bound. But a lap that
// starts a thing again which crashed is. A lap with a transient failure is a retry.
// Equal rounds in a row are no cycle of any length: other rules count those. Rounds
// without calls do not break a lap.
// A different round breaks the laps, not the memory: the count starts again after it.
// Values that are new in each lap by their nature make no round different (lap-state.ts).
// A thing that is started again and fails again has its own count (laps/reruns.ts).

import { limits } from '../../../shared/contract/limits.ts'
import type {
  EvidenceRef,
  InterventionAction,
  LoopThresholds,
} from '../../../shared/contract/messages.ts'
import { touch } from '../../../shared/lib/recency.ts'
import {
  noProgress,
  type ShownCall,
  finding as texts,
} from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { isWaiting } from '../evidence/evidence.ts'
import { fingerprint } from '../evidence/fingerprint.ts'
import { masked } from '../evidence/mask.ts'
import { found } from '../ladder.ts'
import {
  crashIn,
  hasCrashed,
  mayCrash,
  mayHoldStates,
  type Page,
  withoutSentStates,
  withoutStates,
} from '../meaning/lap-state.ts'
import { referencesIn } from '../meaning/page-reference.ts'
import { transientRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'
import { lapMax, noReruns, type Reruns, rerunWith } from './laps/reruns.ts'

type Lap = {
  /** Of the round without states. */
  print: string
  /** Of the round as it was, and the oldest round whose states its calls sent. */
  whole: string
  statesFrom: number
  tag: number
  leash: 'short' | 'transient' | 'polling'
  /** A call changes something, and a result states a crash. */
  changes: boolean
  crashed: boolean
  shown: ShownCall
  ref: EvidenceRef
}

/**
 * `repeats`: at index p, the number of rounds in a row that equal the round p before. So index 1
 * counts equal rounds in a row.
 */
type Memory = {
  rounds: Lap[]
  repeats: number[]
  ladders: Ladder[]
  /** States that results gave out, with the count of rounds at the first time. */
  states: Map<string, number>
  page: Page
  count: number
  /** The newest round in which a thing crashed. */
  crashedAt: number
  reruns: Reruns
  rerunLadder: Ladder
}

/** The action of the cycles of one length. */
type Ladder = { action: InterventionAction | 'none' }

export const cycle: Rule<Memory> = {
  name: 'cycle',
  version: 10,
  kind: 'tool_loop',
  thresholds: ['loop.cycleLaps'],
  description: 'Rounds come back in the same order, with the same results.',
  firesWhen:
    '2 to 12 rounds come in the same order with the same results, for the 3rd lap. States, codes, nonces and random names may differ. Or a run that is started again fails alike, under another id, for the 4th time',
  endedBy: 'a round that breaks the order, after which laps count again',
  sentence: 'went round in a circle',
  initial: () => ({
    rounds: [],
    repeats: Array.from({ length: lapMax + 1 }, () => 0),
    ladders: [],
    states: new Map(),
    page: { references: [], round: 0 },
    count: 0,
    crashedAt: Number.NEGATIVE_INFINITY,
    reruns: noReruns(),
    rerunLadder: { action: 'none' },
  }),

  judge(memory, { calls, print: whole }, { loop }) {
    const [first] = calls
    if (first === undefined) return undefined
    const { rounds, repeats, ladders } = memory
    const count = ++memory.count
    const { print, statesFrom } = printOf(memory, calls, whole)
    const tag = tagOf(print)
    let isRepeated = false
    for (let period = 1; period <= lapMax; period++) {
      const lap = rounds[rounds.length - period]
      if (
        lap !== undefined &&
        lap.tag === tag &&
        lap.print === print &&
        // Otherwise both rounds sent only states of their own lap.
        (lap.whole === whole ||
          (statesFrom > count - period && lap.statesFrom > count - 2 * period))
      ) {
        repeats[period] = (repeats[period] ?? 0) + 1
        isRepeated = true
      } else if (repeats[period] !== 0) {
        repeats[period] = 0
        if (ladders[period] !== undefined) ladders[period] = { action: 'none' }
      }
    }
    rounds.push({
      print,
      whole,
      statesFrom,
      tag,
      leash: leashOf(calls),
      changes: calls.some(({ effect }) => effect === 'changes'),
      crashed: memory.crashedAt === count && calls.some(({ text }) => hasCrashed(text)),
      shown: {
        tool: first.tool,
        arguments: first.shown.arguments,
        outcome: first.shown.outcome,
      },
      ref: first.ref,
    })
    if (rounds.length > lapMax + 1) rounds.shift()

    for (let period = 2; isRepeated && period <= lapMax; period++) {
      if ((repeats[1] ?? 0) >= period - 1) continue
      const laps = Math.floor((repeats[period] ?? 0) / period) + 1
      const lap = rounds.slice(-period)
      const isRestart = lap.some(({ crashed }) => crashed) && lap.some(({ changes }) => changes)
      if (!isRestart && lap.some(({ leash }) => leash === 'polling')) continue
      if (laps < lapsMax(lap, loop)) continue
      const ladder = ladders[period] ?? { action: 'none' }
      ladders[period] = ladder
      const isSame = rounds.at(-period - 1)?.whole === whole
      return finding(lap, { laps, isSame }, ladder)
    }
    const rerun = rerunWith(memory.reruns, calls, loop)
    if (rerun === undefined) {
      if (!memory.reruns.repeats.some((rounds) => rounds > 0))
        memory.rerunLadder = { action: 'none' }
      return undefined
    }
    return finding(rerun.lap, { laps: rerun.laps, isSame: false }, memory.rerunLadder)
  },
}

/** Two of its characters: most prints differ in them, and numbers are compared faster. */
function tagOf(print: string): number {
  return 256 * print.charCodeAt(0) + print.charCodeAt(print.length - 1)
}

export function leashOf(calls: CallEvidence[]): Lap['leash'] {
  if (calls.some(isWaiting)) return 'polling'
  return calls.some(({ failure, reported }) => (failure ?? reported)?.kind === 'transient')
    ? 'transient'
    : 'short'
}

function lapsMax(lap: Lap[], loop: LoopThresholds): number {
  return lap.some(({ leash }) => leash === 'transient') ? transientRoundsMax(loop) : loop.cycleLaps
}

/** The print of a round without the states in its calls and results. */
function printOf(
  memory: Memory,
  calls: CallEvidence[],
  whole: string,
): { print: string; statesFrom: number } {
  const { states, page, count, crashedAt } = memory
  for (const [state, round] of states) {
    if (round > count - 2 * lapMax) break
    states.delete(state)
  }
  const mayDiffer = calls.some(
    ({ raw, text }) =>
      states.size > 0 ||
      crashedAt > 0 ||
      page.references.length > 0 ||
      mayHoldStates(raw) ||
      mayHoldStates(text) ||
      mayCrash(text),
  )
  if (!mayDiffer) return { print: whole, statesFrom: Number.POSITIVE_INFINITY }
  let statesFrom = Number.POSITIVE_INFINITY
  const given: string[] = []
  if (calls.some(({ text }) => mayCrash(text))) memory.crashedAt = count
  const crashes = count - memory.crashedAt < 2 * lapMax
  const prints = calls.map(({ tool, raw, text, failure, outcome }) => {
    const result = withoutStates((crashes && !mayCrash(text) && crashIn(text)) || text)
    const own = failure === undefined ? result.states : []
    const sent = withoutSentStates(raw, states, { own, page })
    given.push(...result.states)
    if (sent.text === raw && result.text === text) return outcome
    statesFrom = Math.min(statesFrom, sent.oldest)
    const status = failure === undefined ? 'ok' : 'failed'
    return fingerprint('round', tool, sent.text, status, masked(result.text))
  })
  for (const state of given) if (!states.has(state)) touch(states, state, count, limits.loopIdsMax)
  for (const { text } of calls) {
    const references = referencesIn(text)
    if (references.length > 0) memory.page = { references, round: count }
  }
  const isWhole = calls.every(({ outcome }, index) => prints[index] === outcome)
  return { print: isWhole ? whole : fingerprint('round', ...prints.sort()), statesFrom }
}

function finding(
  lap: Pick<Lap, 'shown' | 'ref'>[],
  { laps, isSame }: { laps: number; isSame: boolean },
  ladder: Ladder,
): Finding {
  const tools = lap.map(({ shown }) => shown.tool).join(' → ')
  return found(ladder, {
    key: tools,
    reason: `${lap.length} rounds (${tools}) came back ${laps} times in the same order with the same results`,
    text: noProgress(
      lap.map(({ shown }) => shown),
      isSame ? texts.cycle(laps) : texts.lap(laps),
    ),
    evidence: lap.map(({ ref }) => ref),
  })
}
