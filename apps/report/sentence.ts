// A sentence about a turn: why the turn ended, the share of loops, and the cost. It is for readers
// who
// do not know Weir.

import { rules } from '../../services/loop-detector/rules.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { FailureClass } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'
import { placeIn } from '../../shared/view/place.ts'
import type { RoundTimeline, TurnEnd, TurnTimeline } from '../../shared/view/timeline.ts'
import { count, elapsed, number } from '../terminal/text/quantities.ts'
import type { Figures, Loop, Phrase, Tone } from './page/data.ts'

export type Summary = { sentence: Phrase[]; tone: Tone }

/**
 * `isWhole`: its beginning is in the log. `isImported`: it comes from a transcript, which has no
 * times and does not record how a turn ended. `isLive`: the page follows the log.
 */
export type SummarizedTurn = {
  turn: TurnTimeline
  loops: Loop[]
  isWhole: boolean
  isImported: boolean
  isLive?: boolean
}

/** `figures`: of this turn alone. */
export function sentenceOf(
  { turn, loops, isWhole, isImported, isLive }: SummarizedTurn,
  figures: Figures,
): Summary {
  const { phrases, tone } = endOf(turn, { loops, isImported, isLive })
  const cost = costOf(figures, { isWhole, isOver: turn.end !== null })
  return { sentence: [...phrases, ...shareOf(loops, figures, isWhole), ...cost, '.'], tone }
}

/**
 * The sentence of a conversation with several turns. `turns`: each with its own summary and loops.
 * `figures`: of all turns. `forkedFrom`: the conversation whose turns a fork shares. Null: it is no fork.
 */
export function sentenceOfAll(
  turns: (Summary & SummarizedTurn)[],
  figures: Figures,
  forkedFrom: ConversationId | null,
): Summary {
  const [only] = turns
  if (only === undefined && forkedFrom !== null)
    return {
      sentence: ['No turn has begun in this fork of ', { code: forkedFrom }, '.'],
      tone: 'warning',
    }
  if (only === undefined)
    return { sentence: ['No turn has begun in this conversation.'], tone: 'warning' }
  const answered = turns.filter(({ turn }) => turn.end?.outcome === 'answered').length
  const worst =
    turns.findLast(({ tone }) => tone === 'bad') ?? turns.findLast(({ tone }) => tone === 'warning')
  const all = `${shareWords(answered, turns.length)} ended with an answer`
  const loops = turns.flatMap((one) => one.loops)
  const isWhole = turns.every((one) => one.isWhole)
  const isOver = turns.every(({ turn }) => turn.end !== null)
  const end: Phrase[] = [
    ...shareOf(loops, figures, isWhole),
    ...costOf(figures, { isWhole, isOver }),
    '.',
  ]
  if (worst === undefined) {
    const looped = loops.length === 0 ? [] : loopText(loops, '; for a while ')
    return { sentence: [all, ...looped, ...end], tone: 'good' }
  }
  const { phrases } = endOf(worst.turn, worst)
  return {
    sentence: [all, `; turn ${worst.turn.number}: `, ...lowered(phrases), ...end],
    tone: worst.tone,
  }
}

function shareWords(some: number, all: number): string {
  if (some === 0) return all === 2 ? 'Neither of 2 turns' : `None of ${all} turns`
  if (some < all) return `${some} of ${all} turns`
  return all === 2 ? 'Both turns' : `All ${all} turns`
}

type End = { phrases: Phrase[]; tone: Tone }

function endOf(
  turn: TurnTimeline,
  { loops, isImported, isLive = false }: Pick<SummarizedTurn, 'loops' | 'isImported' | 'isLive'>,
): End {
  const { end, rounds, durationMs } = turn
  if (isImported && (end === null || end.outcome === 'cancelled')) return leftIn(turn)
  if (end === null) {
    const last = rounds.at(-1)
    const where = last === undefined ? '' : `, in round ${last.round}`
    return {
      phrases: [
        `${isLive ? 'Running' : 'Still running when the log was read'}${where}: `,
        ...waitsFor(last),
        ...loopText(loops, '; '),
      ],
      tone: 'warning',
    }
  }
  const after = afterText(
    end.totals.rounds,
    isImported ? null : elapsed(durationMs ?? end.totals.wallMs),
  )
  switch (end.outcome) {
    case 'answered':
      return answered(end, loops, after)
    case 'capped':
      return {
        phrases: [
          `Ended without an answer ${after}: `,
          capText(end),
          ...loopText(loops, ', while '),
        ],
        tone: 'bad',
      }
    case 'cancelled':
      return {
        phrases: [`Cancelled by the client ${after}`, ...doing(rounds.at(-1))],
        tone: 'warning',
      }
    case 'failed':
      return {
        phrases: [`Ended without an answer ${after}: `, ...failureText(end, turn, loops)],
        tone: 'bad',
      }
    default:
      return unreachable(end.outcome)
  }
}

/** `lasted` null: unknown. */
function afterText(rounds: number, lasted: string | null): string {
  if (lasted === null) return `after ${count(rounds, 'round')}`
  return rounds === 0
    ? `after ${lasted}, before the first request to the model`
    : `after ${count(rounds, 'round')} and ${lasted}`
}

/** For a transcript that ends without an answer, or has the next message before one. */
function leftIn({ end, rounds }: TurnTimeline): End {
  const last = rounds.at(-1)
  const where =
    last === undefined ? ', before the first request to the model' : ` in round ${last.round}`
  return {
    phrases: [
      `The transcript ${end === null ? 'ends' : 'goes on to the next message'}${where}, without an answer`,
    ],
    tone: 'warning',
  }
}

function answered({ cap, reason }: TurnEnd, loops: Loop[], after: string): End {
  const isCut = Object.values(reasons.cutBy).some((cut) => reason.endsWith(cut))
  const stopped: Phrase[] =
    loops.length === 0 ? [] : [', once Weir had stopped a loop: ', ...loopText(loops)]
  const why =
    cap === null
      ? stopped
      : [
          `, in the last response that it was allowed: its limit on ${capWords[cap]} was reached`,
          ...loopText(loops, ', while '),
        ]
  return {
    phrases: [
      `The agent answered ${after}`,
      ...why,
      ...(isCut ? ['; its answer was cut short'] : []),
    ],
    tone: cap === null && !isCut ? 'good' : 'warning',
  }
}

const capWords = {
  rounds: 'model rounds',
  calls: 'tool calls',
  wall: 'time',
  tokens: 'tokens',
} as const

function capText({ cap, reason }: TurnEnd): string {
  return cap === null
    ? `a limit was reached (${reason})`
    : `the turn reached its limit on ${capWords[cap]}`
}

function failureText(
  { class: failure, reason }: TurnEnd,
  turn: TurnTimeline,
  loops: Loop[],
): Phrase[] {
  const internal = turn.failures[0]
  if (internal !== undefined)
    return [`something failed inside Weir (${internal.stage}: `, quoted(internal.reason), ')']
  if (failure === 'no_progress' && loops.length > 0)
    return [...loopText(loops), ', and did not stop after the interventions']
  return [
    failure === null ? 'it failed' : failureWords[failure],
    ' (',
    quoted(reason),
    ')',
    ...(loops.length === 0 ? [] : loopText(loops, ', after ')),
  ]
}

const failureWords: Record<FailureClass, string> = {
  deterministic: 'the same request would fail again',
  transient: "the model's provider failed, for now",
  no_progress: 'the model made no progress',
  budget: 'a limit was reached',
  refused: 'the model or its provider declined',
  provider: "the model's provider failed",
  internal: 'something failed inside Weir',
  cancelled: 'it was cancelled',
  context_full: 'the conversation no longer fits into the context of the model',
  degenerate: 'the model repeated the same text without end',
  stopped: 'an operator stopped it',
}

// ── Loops ──

/** Describes the longest loop. Empty: there is none. */
function loopText(loops: Loop[], before = ''): Phrase[] {
  const longest = loops.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0]
  if (longest === undefined) return []
  const { key } = longest
  // A log of another Weir may name an unknown rule.
  const rule = rules.find(({ name }) => name === longest.rule)
  return [
    `${before}the model ${rule?.sentence ?? 'made no progress'}`,
    ...(key === '' || rule?.keyRepeatsSentence === true ? [] : [', ', quoted(key)]),
  ]
}

/** `; 4 of 5 rounds (80 %) were that loop`. Empty: there is none. */
function shareOf(loops: Loop[], { rounds, loopRounds }: Figures, isWhole: boolean): Phrase[] {
  if (loopRounds === 0) return []
  const share = `${Math.round((100 * loopRounds) / Math.max(1, rounds))} %`
  const all = `${number(loopRounds)} of ${isWhole ? '' : 'the '}${count(rounds, 'round')}${isWhole ? '' : ' that are left'}`
  return [
    `; ${all} (${share}) ${loopRounds === 1 ? 'was' : 'were'} ${loops.length === 1 ? 'that loop' : 'loops'}`,
  ]
}

function costOf(
  { inputTokens, outputTokens, loopRounds }: Figures,
  { isWhole, isOver }: { isWhole: boolean; isOver: boolean },
): Phrase[] {
  const tokens = inputTokens + outputTokens
  if (tokens === 0) return []
  const cost = `cost ${number(tokens)} tokens`
  return [
    `${loopRounds === 0 ? '; ' : ', and '}${isWhole ? `it ${cost} ${isOver ? 'in all' : 'so far'}` : `what is left of it ${cost}`}`,
  ]
}

// ── Current activity ──

function doing(round: RoundTimeline | undefined): Phrase[] {
  const running = round?.calls.find(({ tries }) =>
    tries.some(({ startedAt }) => startedAt !== null),
  )
  if (round === undefined || running === undefined) return []
  return [`; the last tool that ran was `, quoted(running.name)]
}

function waitsFor(round: RoundTimeline | undefined): Phrase[] {
  if (round === undefined) return ['no request to the model yet']
  const { at, names } = placeIn(round)
  if (at === 'model') return ['it waits for the model']
  if (at === 'check') return ['it waits to be judged']
  return ['it waits for ', quoted(at === 'guard' ? names.join(', ') : (names[0] ?? ''))]
}

function lowered(phrases: Phrase[]): Phrase[] {
  const [first, ...rest] = phrases
  return typeof first === 'string'
    ? [first.charAt(0).toLowerCase() + first.slice(1), ...rest]
    : phrases
}

/** Cuts long texts, such as a provider's whole response: a sentence must stay short. */
const quotedMax = 160

function quoted(text: string): Phrase {
  const characters = [...text.slice(0, 2 * quotedMax + 2)]
  return {
    code: characters.length > quotedMax ? `${characters.slice(0, quotedMax).join('')}…` : text,
  }
}
