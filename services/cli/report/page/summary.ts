// The top of a report: why it ended, what share was a loop, what it cost; and for each turn what was asked and what was answered.

import { second, took } from '../../terminal/quantities.ts'
import type { Figures, ReportData, ReportIndex, ShownTurn } from './data.ts'
import { element } from './element.ts'
import { originLine } from './origin.ts'
import { number, percent, phrases, quote } from './words.ts'

export function summary({ timeline, sentence, tone, figures }: ReportData, index: ReportIndex): HTMLElement {
  const { conversation, turns } = timeline
  const { conversations } = index
  const agents = [...new Set(turns.map(({ agent }) => agent))].filter((agent) => agent !== '').join(', ')
  const began = turns[0]?.startedAt
  return element(
    'header',
    { class: 'summary' },
    originLine(
      index,
      conversations.length > 1 && element('a', { href: '#' }, `all ${conversations.length} conversations`),
      element('span', {}, 'conversation ', element('b', {}, conversation)),
      agents !== '' && element('span', {}, `agent ${agents}`),
      began !== undefined && element('span', {}, second(began)),
    ),
    element('h1', { class: `sentence ${tone}` }, phrases(sentence)),
    missing(turns),
    figuresOf(figures, turns),
  )
}

/** What a reader would take for the whole, and is not. */
function missing(turns: ShownTurn[]): HTMLElement | null {
  const cut = turns.flatMap(({ isWhole }, index) => (isWhole ? [] : [index + 1]))
  if (cut.length === 0) return null
  const which = turns.length === 1 ? 'this turn' : `${cut.length === 1 ? 'turn' : 'turns'} ${cut.join(', ')}`
  const first = turns.length === 1 ? turns[0]?.rounds[0]?.round : undefined
  const from = first === undefined || first === 1 ? '' : ` The first round that is here is round ${first}.`
  return element(
    'p',
    { class: 'missing', role: 'note' },
    element('b', {}, `The beginning of ${which} is missing: `),
    `the log had deleted it before it was read.${from} Rounds, times and tokens are those of what is left.`,
  )
}

function figuresOf(figures: Figures, turns: ShownTurn[]): HTMLElement {
  const { rounds, loopRounds, ms, loopMs, inputTokens, outputTokens, loopTokens, calls } = figures
  const tokens = inputTokens + outputTokens
  const isOpen = turns.some(({ end }) => end === null)
  const time =
    turns.length > 1 ? `in ${turns.length} turns, without the time between them` : isOpen ? 'so far' : 'from its beginning to its end'
  const items = [
    figure(
      'Loop',
      percent(loopRounds, rounds),
      loopRounds === 0 ? 'no loop was found' : `${number(loopRounds)} of ${number(rounds)} ${rounds === 1 ? 'round' : 'rounds'}`,
      loopRounds > 0,
    ),
    figure('Time', took(ms), loopRounds === 0 ? time : `${took(loopMs)} of it in the loop`),
    figure(
      'Tokens',
      number(tokens),
      tokens === 0
        ? 'the provider counted none'
        : loopTokens === 0
          ? `${number(inputTokens)} in, ${number(outputTokens)} out`
          : `${percent(loopTokens, tokens)} of them in the loop`,
    ),
    figure('Tool calls', number(calls), callWords(figures)),
  ]
  return element('dl', { class: 'figures' }, items)
}

function callWords({ calls, ran, stopped }: Figures): string {
  if (calls === 0) return 'the model called no tool'
  if (stopped === 0) return ran === calls ? (calls === 1 ? 'it ran' : 'all of them ran') : `${number(ran)} of them ran`
  const refused = `${stopped === calls ? (calls === 1 ? 'it' : 'all of them') : number(stopped)} ${stopped === 1 ? 'was' : 'were'} refused before running`
  return ran === 0 ? refused : `${number(ran)} ran, ${refused}`
}

function figure(name: string, value: string, about: string, isBad = false): HTMLElement {
  return element(
    'div',
    { class: isBad ? 'bad' : '' },
    element('dt', {}, name),
    element('dd', {}, element('b', {}, value), element('span', {}, about)),
  )
}

/** What was said on both sides, of a report of one turn; of several it stands in their rows. */
export function exchange({ timeline: { turns } }: ReportData): HTMLElement | null {
  const [turn] = turns
  if (turn === undefined || turns.length > 1) return null
  const reply = turn.end?.reply ?? null
  const isFallback = turn.end !== null && turn.end.outcome !== 'answered'
  return element(
    'section',
    { class: 'exchange', 'aria-label': 'What was said' },
    element('div', {}, element('h2', {}, 'The user asked'), quote(turn.text ?? '(its text is no longer in the log)')),
    element(
      'div',
      {},
      element('h2', {}, isFallback ? 'The user got the fallback' : 'The user got'),
      reply === null ? element('p', { class: 'faint' }, 'nothing yet') : quote(reply),
    ),
  )
}
