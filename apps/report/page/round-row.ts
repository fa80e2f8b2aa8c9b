// One row of the list: a turn, a folded loop, or a round.

import { printable } from '../../terminal/text/printable.ts'
import { count, elapsed, second } from '../../terminal/text/quantities.ts'
import type { ReportData, ShownRound, ShownTurn } from './data.ts'
import { type Child, element } from './element.ts'
import { icon } from './icons.ts'
import { lengthOf, type Row } from './rows.ts'
import { lanes, shares } from './spans.ts'
import { marksOfRound } from './tones.ts'
import { code, phrases } from './words.ts'

/**
 * Limits of characters in a row, for a text alone or beside another. Longer texts would be laid out
 * but never seen.
 */
const charactersMax = 160
const besideMax = 90
/** The number of marks with room. If there are more, the last place shows their number. */
const marksMax = 4

/** The head of a row; it opens the row. */
export function rowHead(
  { timeline: { turns }, imported }: ReportData,
  row: Row,
  slowestMs: number,
): HTMLElement {
  const turn = turns[row.turn] as ShownTurn
  switch (row.kind) {
    case 'turn':
      return turnHead(turn, { turns: turns.length, isImported: imported !== null })
    case 'loop':
      return loopHead(turn, row.loop, row.isOpen)
    case 'round':
      return roundHead(
        turn,
        turn.rounds[row.round] as ShownRound,
        imported !== null ? null : slowestMs,
      )
  }
}

function turnHead(
  turn: ShownTurn,
  { turns, isImported }: { turns: number; isImported: boolean },
): HTMLElement {
  const { text, startedAt, rounds, sentence, tone, isWhole, turn: offset, number } = turn
  const began = isImported ? '' : `, ${second(startedAt)}`
  return element(
    'div',
    { class: 'turn-head' },
    element(
      'h2',
      {},
      turns === 1 ? `Rounds of turn ${number}` : `Turn ${number}`,
      element(
        'span',
        { class: 'faint' },
        ` ${count(rounds.length, 'round')}${began}, offset ${offset}`,
      ),
    ),
    turns > 1 &&
      element(
        'p',
        { class: 'turn-asked' },
        text === null ? '(its text is no longer in the log)' : flowing(text),
      ),
    turns > 1 &&
      !isWhole &&
      element(
        'p',
        { class: 'warning' },
        'Its beginning is missing: the log had deleted it before it was read.',
      ),
    turns > 1 && element('p', { class: `turn-sentence ${tone}` }, phrases(sentence)),
  )
}

function loopHead({ loops, rounds }: ShownTurn, place: number, isOpen: boolean): HTMLElement {
  const loop = loops[place]
  if (loop === undefined) return element('div', {})
  const { from, to, key, rule, ms } = loop
  const rungs = rounds.filter(
    ({ round, intervention }) => round >= from && round <= to && intervention !== null,
  ).length
  return element(
    'button',
    { type: 'button', class: 'head loop-head', 'aria-expanded': String(isOpen), 'data-row': '' },
    element('span', { class: 'loop-count', 'aria-hidden': 'true' }, `${lengthOf(loop)}×`),
    element(
      'span',
      { class: 'what' },
      element('span', { class: 'loop-title' }, `Loop: rounds ${from} to ${to}`),
      element('span', { class: 'loop-key' }, code(key === '' ? rule : cut(key))),
    ),
    element(
      'span',
      { class: 'loop-rule' },
      `${rule}${rungs === 0 ? '' : `, ${count(rungs, 'intervention')}`}`,
    ),
    element('span', { class: 'took' }, elapsed(ms)),
  )
}

/** `slowestMs` null: the round has no known times. */
function roundHead(turn: ShownTurn, round: ShownRound, slowestMs: number | null): HTMLElement {
  const { askedAt, endedAt, calls } = round
  const marks = marksOfRound(round)
  const begins =
    askedAt === null || slowestMs === null
      ? ''
      : `+${elapsed(Math.max(0, askedAt - turn.startedAt))}`.replace(/^\+0 ms$/, '0')
  return element(
    'button',
    { type: 'button', class: 'head round-head', 'aria-expanded': 'false', 'data-row': '' },
    element('span', { class: 'number' }, String(round.round)),
    element('span', { class: 'at' }, begins),
    element(
      'span',
      { class: 'marks' },
      marks.slice(0, marks.length > marksMax ? marksMax - 1 : marksMax).map((mark) => icon(mark)),
      marks.length > marksMax &&
        element('span', { class: 'faint' }, `+${marks.length - marksMax + 1}`),
    ),
    element(
      'span',
      { class: calls.length > 0 ? 'what two' : 'what' },
      contentOf(round, flagsOf(round)),
    ),
    slowestMs === null
      ? element('span', { class: 'time-bar' })
      : timeBar(round, slowestMs, turn.until),
    element(
      'span',
      { class: 'took' },
      askedAt === null || endedAt === null
        ? 'open'
        : slowestMs !== null && elapsed(Math.max(0, endedAt - askedAt)),
    ),
  )
}

/** The effects of an intervention. */
const rungWords = { nudge: 'warned', text_only: 'then text only', end: 'turn ended' } as const

function flagsOf({ callsLeft, intervention }: ShownRound): HTMLElement | null {
  if (callsLeft !== 0 && intervention === null) return null
  const hand = icon({ name: 'hand', tone: 'warning', word: 'the loop-detector stepped in' }, false)
  return element(
    'span',
    { class: 'flags' },
    callsLeft === 0 && element('span', { class: 'flag' }, 'text only'),
    intervention !== null &&
      element('span', { class: 'flag stepped-in' }, hand, rungWords[intervention.rung]),
  )
}

function contentOf(
  { calls, response, failure, note }: ShownRound,
  flags: HTMLElement | null,
): Child[] {
  const [call] = calls
  if (call !== undefined) {
    const { name, raw, result } = call
    const failure = result?.status === 'ok' ? '' : result?.reason
    const came = failure || (result?.text ?? '')
    const more =
      calls.length > 1 &&
      element('span', { class: 'faint' }, ` and ${count(calls.length - 1, 'call')} more`)
    return [
      element('span', { class: 'called' }, code(cut(`${name}(${raw})`, besideMax)), more),
      flags === null
        ? element('span', { class: 'came' }, flowing(came, besideMax))
        : element(
            'span',
            { class: 'end' },
            element('span', { class: 'came' }, flowing(came, besideMax)),
            flags,
          ),
    ]
  }
  return [silentWords({ response, failure, note }), flags]
}

function silentWords({
  response,
  failure,
  note,
}: Pick<ShownRound, 'response' | 'failure' | 'note'>): HTMLElement {
  if (failure !== null) return element('span', { class: 'came bad' }, flowing(failure.reason))
  if (response === null)
    return element('span', { class: 'came' }, note === null ? 'no response yet' : flowing(note))
  if (response.text.trim() !== '') return element('span', { class: 'said' }, flowing(response.text))
  return element(
    'span',
    { class: 'came' },
    response.reasoning === null ? 'no text and no call' : 'only thinking, no text and no call',
  )
}

/** On one line. */
function cut(text: string, max = charactersMax): string {
  return printable(text.length > max ? `${text.slice(0, max)}…` : text)
}

/** As `cut`, for texts of people, in which a line end is just a blank. */
function flowing(text: string, max = charactersMax): string {
  return cut(
    text
      .slice(0, 2 * max)
      .replace(/\s+/g, ' ')
      .trim(),
    max,
  )
}

/** The round's time by lane. Its length is relative to the slowest round. */
function timeBar(round: ShownRound, slowestMs: number, until: number): HTMLElement {
  const parts = shares(round, until)
  const sum = lanes.reduce((total, lane) => total + parts[lane], 0)
  const node = element('span', { class: 'time-bar', 'aria-hidden': 'true' })
  if (sum === 0) return node
  let at = 0
  const stops = lanes.flatMap((lane) => {
    const from = at
    at += (100 * parts[lane]) / sum
    return parts[lane] === 0 ? [] : [`var(--${lane}) ${from.toFixed(1)}% ${at.toFixed(1)}%`]
  })
  node.style.backgroundImage = `linear-gradient(90deg, ${stops.join(', ')})`
  node.style.backgroundSize = `${Math.max(2, (100 * sum) / Math.max(1, slowestMs)).toFixed(1)}% 100%`
  return node
}
