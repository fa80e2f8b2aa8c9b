// The details of an opened round: the request, the response, calls, guards, the loop-detector,
// times, raw records.

import type {
  AttemptTimeline,
  InterventionTimeline,
  ResponseTimeline,
} from '../../../shared/view/timeline.ts'
import { count, elapsed, instant } from '../../terminal/text/quantities.ts'
import { callDetails } from './call-details.ts'
import type { ReportData, ShownRound, ShownTurn, StreakChange } from './data.ts'
import { type Child, element } from './element.ts'
import { guardLines } from './guard-lines.ts'
import { icon } from './icons.ts'
import type { RecordsView } from './records-view.ts'
import { lanes, shares } from './spans.ts'
import { code, number, quote } from './words.ts'

export function roundDetails(
  data: ReportData,
  turn: ShownTurn,
  round: ShownRound,
  records: RecordsView,
): HTMLElement {
  const {
    nudge,
    callsLeft,
    attempts,
    response,
    failure,
    note,
    calls,
    found,
    guards,
    intervention,
    streaks,
  } = round
  const isImported = data.imported !== null
  const troubled = attempts.filter(({ end }) => end !== 'answer')
  const main = [
    callsLeft === 0 &&
      element('p', { class: 'warning' }, 'Text only: a last request to the model, without tools.'),
    nudge !== null && block('Shown to the model at the top of this request', quote(nudge, 'shown')),
    troubled.length > 0 &&
      block('Attempts', element('ol', { class: 'attempts' }, attempts.map(attemptLine))),
    response !== null && responseBlocks(response),
    failure !== null &&
      block(
        'No response',
        element(
          'p',
          { class: 'bad' },
          `${failure.reason} `,
          element('span', { class: 'faint' }, `(${failure.class})`),
        ),
      ),
    failure === null && note !== null && element('p', { class: 'bad' }, note),
    calls.map((call, index) => callDetails(call, found[index], { turn, isImported })),
  ]
  const aside = [
    intervention !== null && interventionBlock(intervention),
    guards.length > 0 && block('Guards', guardLines(guards)),
    streaks.length > 0 && streakBlock(streaks),
    !isImported && timesBlock(round, turn.until),
    response !== null && usageBlock(response),
  ]
  return element(
    'div',
    { class: 'details', role: 'region', 'aria-label': `Round ${round.round}` },
    element('div', { class: 'main' }, main),
    element('div', { class: 'aside' }, aside),
    records.block(data, round.records),
  )
}

function block(title: string, ...children: Child[]): HTMLElement {
  return element('section', { class: 'block' }, element('h3', {}, title), children)
}

function attemptLine({
  startedAt,
  endedAt,
  firstPartAt,
  end,
  failure,
}: AttemptTimeline): HTMLElement {
  const ran =
    startedAt !== null && endedAt !== null
      ? ` after ${elapsed(Math.max(0, endedAt - startedAt))}`
      : ''
  if (failure !== null) {
    const next = failure.retryable
      ? `; another could follow after ${elapsed(failure.retryAfterMs)}`
      : '; no other could help'
    return element(
      'li',
      { class: 'bad' },
      `failed${ran} (${failure.class}): ${failure.reason}${next}`,
    )
  }
  const words = {
    answer: `answered${ran}`,
    unused: `answered${ran}, when another one was the answer already`,
    abandoned: 'abandoned: it was stopped, or its process ended',
    open: firstPartAt === null ? 'running, no output yet' : 'running, the model is writing',
    failed: 'failed',
  }
  return element('li', {}, words[end])
}

function responseBlocks({ text, reasoning, textCalls, stop, finish }: ResponseTimeline): Child[] {
  const isOdd = stop !== 'end' && stop !== 'calls'
  return [
    reasoning !== null &&
      block(
        'The model thought',
        reasoning.text === null
          ? element(
              'p',
              { class: 'faint' },
              `${count(reasoning.characters, 'character')}; weir report --reasoning puts them here`,
            )
          : quote(reasoning.text, 'thought'),
      ),
    text !== '' && block('Text of the model', quote(text)),
    textCalls !== null &&
      block(
        textCalls.fault === null
          ? `Calls recovered from its text (${textCalls.dialect})`
          : `Text built like a call (${textCalls.dialect}), which ${textCalls.held === null ? 'could' : 'did'} not run`,
        textCalls.fault !== null && element('p', { class: 'warning' }, textCalls.fault),
        quote(textCalls.text),
      ),
    isOdd &&
      element(
        'p',
        { class: 'warning' },
        `The response stopped: ${stop}${finish === '' ? '' : ` (the provider says ${finish})`}.`,
      ),
  ]
}

/** The rungs of the ladder of interventions. */
const rungWords = {
  nudge: 'the model is warned in its next request',
  text_only: 'the next round has no tools',
  end: 'the turn ends here',
} as const
const rungsInShort: Record<string, string> = {
  none: '',
  nudge: 'warned',
  text_only: 'no tools',
  end: 'ended',
}

function interventionBlock({
  rung,
  ordinary,
  rule,
  ruleVersion,
  key,
  reason,
  text,
  evidence,
  class: failure,
}: InterventionTimeline): HTMLElement {
  const rounds = [...new Set(evidence.map(({ round }) => round))].join(', ')
  return element(
    'section',
    { class: 'block intervention' },
    element(
      'h3',
      {},
      icon({ name: 'hand', tone: 'warning', word: 'intervention' }, false),
      ordinary ? 'A usual reminder' : `The loop-detector stepped in: ${rungWords[rung]}`,
    ),
    element('p', {}, reason),
    element(
      'dl',
      { class: 'pairs' },
      pair('Rule', `${rule}, version ${ruleVersion}`),
      key !== '' && pair('Repeated', code(key)),
      rounds !== '' && pair('Judged by', `rounds ${rounds}`),
      failure !== null && pair('Class', failure),
    ),
    text !== '' &&
      element(
        'details',
        {},
        element('summary', {}, 'The text for the model'),
        quote(text, 'shown'),
      ),
  )
}

function streakBlock(streaks: StreakChange[]): HTMLElement {
  const rows = streaks.map(({ rule, what, before, after, rung }) =>
    element(
      'tr',
      {},
      element('td', {}, element('span', { class: 'rule' }, rule), code(what)),
      element(
        'td',
        { class: 'digits' },
        element('span', { class: 'faint' }, String(before)),
        ' → ',
        element('b', { class: after > before ? 'warning' : 'good' }, String(after)),
      ),
      element('td', { class: 'faint' }, rungsInShort[rung] ?? rung),
    ),
  )
  const head = element(
    'tr',
    {},
    ['Repeated', 'Rounds', 'The model is'].map((title) => element('th', { scope: 'col' }, title)),
  )
  return block(
    'Repeat counts before and after this round',
    element('table', { class: 'streaks' }, element('thead', {}, head), element('tbody', {}, rows)),
  )
}

function overText(askedAt: number | null, endedAt: number): string {
  return askedAt === null ? instant(endedAt) : `after ${elapsed(Math.max(0, endedAt - askedAt))}`
}

function timesBlock(round: ShownRound, until: number): HTMLElement {
  const { askedAt, endedAt } = round
  const parts = shares(round, until)
  return block(
    'Times',
    element(
      'dl',
      { class: 'pairs' },
      askedAt !== null && pair('Asked', instant(askedAt)),
      lanes.flatMap((lane) =>
        parts[lane] === 0
          ? []
          : [pair(lane, element('span', { class: `swatch ${lane}` }), elapsed(parts[lane]))],
      ),
      pair('Over', endedAt === null ? 'not yet' : overText(askedAt, endedAt)),
      round.cancelledAt !== null && pair('Cancelled', instant(round.cancelledAt)),
      round.offered > 0 && pair('Tools offered', String(round.offered)),
      round.callsLeft !== null && pair('Calls left', number(round.callsLeft)),
    ),
  )
}

function usageBlock({ usage, finish }: ResponseTimeline): HTMLElement {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  return block(
    'Tokens',
    element(
      'dl',
      { class: 'pairs' },
      pair('In', number(inputTokens)),
      pair('Out', number(outputTokens)),
      cacheReadTokens > 0 && pair('Cache, read', number(cacheReadTokens)),
      cacheWriteTokens > 0 && pair('Cache, written', number(cacheWriteTokens)),
      finish !== '' && pair('Stopped', code(finish)),
    ),
  )
}

function pair(name: string, ...value: Child[]): Child[] {
  return [element('dt', {}, name), element('dd', {}, value)]
}
