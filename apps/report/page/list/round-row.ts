// One row of the list: a turn, a folded loop, or a round.

import { type Child, html } from '../../../page/kit/html.ts'
import { code } from '../../../page/kit/texts.ts'
import { printable } from '../../../terminal/text/printable.ts'
import { count, elapsed, second } from '../../../terminal/text/quantities.ts'
import { lanes, shares } from '../axis/spans.ts'
import type { ReportData, ShownRound, ShownTurn } from '../data.ts'
import { phrases } from '../top/phrases.ts'
import { icon } from './icons.ts'
import { lengthOf, type Row } from './rows.ts'
import { marksOfRound } from './tones.ts'

/**
 * Limits of characters in a row, for a text alone or next to another. Longer texts would be laid out
 * but never seen.
 */
const charactersMax = 160
const besideMax = 90
/** The number of marks with room. If there are more, the last place shows their number. */
const marksMax = 4

export type HeadOptions = {
  /** Null: the times are made up. */
  slowestMs: number | null
  /** The details are shown. */
  isOpened: boolean
  onClick: () => void
  onFocus: () => void
}

/** The head of a row; it opens the row. */
export function rowHead(
  { timeline: { turns }, imported }: ReportData,
  row: Row,
  options: HeadOptions,
): Child {
  const turn = turns[row.turn] as ShownTurn
  switch (row.kind) {
    case 'turn':
      return turnHead(turn, { turns: turns.length, isImported: imported !== null })
    case 'loop':
      return head('loop-head', row.isOpen, options, loopContent(turn, row.loop))
    case 'round': {
      const content = roundContent(turn, turn.rounds[row.round] as ShownRound, options.slowestMs)
      return head('round-head', options.isOpened, options, content)
    }
  }
}

function head(
  kind: string,
  isExpanded: boolean,
  { onClick, onFocus }: HeadOptions,
  content: Child,
): Child {
  return html`<button
    type="button" class=${`head ${kind}`} aria-expanded=${String(isExpanded)} data-row=""
    onClick=${onClick} onFocus=${onFocus}
  >
    ${content}
  </button>`
}

function turnHead(
  turn: ShownTurn,
  { turns, isImported }: { turns: number; isImported: boolean },
): Child {
  const { text, startedAt, rounds, sentence, tone, isWhole, turn: offset, number } = turn
  const began = isImported ? '' : `, ${second(startedAt)}`
  const about = ` ${count(rounds.length, 'round')}${began}, offset ${offset}`
  const name = turns === 1 ? `Rounds of turn ${number}` : `Turn ${number}`
  return html`<div class="turn-head">
    <h2>${name}<span class="faint">${about}</span></h2>
    ${
      turns > 1 &&
      html`<p class="turn-asked">${text === null ? '(its text is no longer in the log)' : flowing(text)}</p>
        ${!isWhole && html`<p class="warning">Its beginning is missing: the log had deleted it before it was read.</p>`}
        <p class=${`turn-sentence ${tone}`}>${phrases(sentence)}</p>`
    }
  </div>`
}

function loopContent({ loops, rounds }: ShownTurn, place: number): Child {
  const loop = loops[place]
  if (loop === undefined) return null
  const { from, to, key, rule, ms } = loop
  const actions = rounds.filter(
    ({ round, intervention }) => round >= from && round <= to && intervention !== null,
  ).length
  return html`
    <span class="loop-count" aria-hidden="true">${lengthOf(loop)}×</span>
    <span class="what">
      <span class="loop-title">Loop: rounds ${from} to ${to}</span>
      <span class="loop-key">${code(key === '' ? rule : cut(key))}</span>
    </span>
    <span class="loop-rule">${rule}${actions === 0 ? '' : `, ${count(actions, 'intervention')}`}</span>
    <span class="took">${elapsed(ms)}</span>`
}

function roundContent(turn: ShownTurn, round: ShownRound, slowestMs: number | null): Child {
  const { askedAt, endedAt, calls } = round
  const marks = marksOfRound(round)
  const begins =
    askedAt === null || slowestMs === null
      ? ''
      : `+${elapsed(Math.max(0, askedAt - turn.startedAt))}`.replace(/^\+0 ms$/, '0')
  const isCut = marks.length > marksMax
  const shown = isCut ? marks.slice(0, marksMax - 1) : marks
  const isOpen = askedAt === null || endedAt === null
  return html`
    <span class="number">${round.round}</span>
    <span class="at">${begins}</span>
    <span class="marks">
      ${shown.map((mark) => icon(mark))}
      ${isCut && html`<span class="faint">+${marks.length - marksMax + 1}</span>`}
    </span>
    <span class=${calls.length > 0 ? 'what two' : 'what'}>${contentOf(round)}</span>
    ${slowestMs === null ? html`<span class="time-bar"></span>` : timeBar(round, slowestMs, turn.until)}
    <span class="took">
      ${isOpen ? 'open' : slowestMs !== null && elapsed(Math.max(0, endedAt - askedAt))}
    </span>`
}

/** The effects of an intervention. */
const actionWords = { nudge: 'warned', text_only: 'then text only', end: 'turn ended' } as const

function flagsOf({ callsLeft, intervention }: ShownRound): Child {
  if (callsLeft !== 0 && intervention === null) return null
  const hand = icon({ name: 'hand', tone: 'warning', word: 'the loop-detector stepped in' }, false)
  return html`<span class="flags">
    ${callsLeft === 0 && html`<span class="flag">text only</span>`}
    ${intervention !== null && html`<span class="flag stepped-in">${hand}${actionWords[intervention.action]}</span>`}
  </span>`
}

function contentOf(round: ShownRound): Child {
  const { calls } = round
  const flags = flagsOf(round)
  const [call] = calls
  if (call === undefined) return [silentWords(round), flags]
  const { name, rawArguments, result } = call
  const failure = result?.status === 'ok' ? '' : result?.reason
  const more = calls.length > 1 && ` and ${count(calls.length - 1, 'call')} more`
  const came = html`<span class="came">${flowing(failure || (result?.text ?? ''), besideMax)}</span>`
  return html`
    <span class="called">
      ${code(cut(`${name}(${rawArguments})`, besideMax))}${more && html`<span class="faint">${more}</span>`}
    </span>
    ${flags === null ? came : html`<span class="end">${came}${flags}</span>`}`
}

function silentWords({ response, failure, note }: ShownRound): Child {
  if (failure !== null) return html`<span class="came bad">${flowing(failure.reason)}</span>`
  if (response === null)
    return html`<span class="came">${note === null ? 'no response yet' : flowing(note)}</span>`
  if (response.text.trim() !== '') return html`<span class="said">${flowing(response.text)}</span>`
  const empty =
    response.reasoning === null ? 'no text and no call' : 'only thinking, no text and no call'
  return html`<span class="came">${empty}</span>`
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
function timeBar(round: ShownRound, slowestMs: number, until: number): Child {
  const parts = shares(round, until)
  const sum = lanes.reduce((total, lane) => total + parts[lane], 0)
  let at = 0
  const stops = lanes.flatMap((lane) => {
    const from = at
    at += (100 * parts[lane]) / Math.max(1, sum)
    return parts[lane] === 0 ? [] : [`var(--${lane}) ${from.toFixed(1)}% ${at.toFixed(1)}%`]
  })
  const length = Math.max(2, (100 * sum) / Math.max(1, slowestMs)).toFixed(1)
  const style =
    sum === 0
      ? ''
      : `background-image: linear-gradient(90deg, ${stops.join(', ')}); background-size: ${length}% 100%`
  return html`<span class="time-bar" aria-hidden="true" style=${style}></span>`
}
