// The top of a report: why it ended, what share was a loop, what it cost; and for each turn what was asked and what was answered.

import { count, instant, second, took } from '../../terminal/quantities.ts'
import type { Figures, ReportData, ReportIndex } from './data.ts'
import { element } from './element.ts'
import { number, percent, phrases, quote } from './words.ts'

export function summary({ timeline, sentence, tone, figures }: ReportData, { madeAt, source, conversations }: ReportIndex): HTMLElement {
  const { conversation, turns } = timeline
  const agents = [...new Set(turns.map(({ agent }) => agent))].join(', ')
  const began = turns[0]?.startedAt
  return element(
    'header',
    { class: 'summary' },
    element(
      'p',
      { class: 'origin' },
      element('a', { class: 'wordmark', href: '#', 'aria-disabled': conversations.length === 1 ? 'true' : undefined }, 'weir report'),
      conversations.length > 1 && element('a', { href: '#' }, `all ${conversations.length} conversations`),
      element('span', {}, 'conversation ', element('b', {}, conversation)),
      agents !== '' && element('span', {}, `agent ${agents}`),
      began !== undefined && element('span', {}, second(began)),
      element('span', {}, `read from ${source}, ${instant(madeAt).slice(0, 16)}`),
    ),
    element('h1', { class: `sentence ${tone}` }, phrases(sentence)),
    figuresOf(figures, turns.length),
  )
}

function figuresOf(figures: Figures, turns: number): HTMLElement {
  const { rounds, loopRounds, ms, loopMs, inputTokens, outputTokens, loopTokens, calls, ran, stopped } = figures
  const tokens = inputTokens + outputTokens
  const items = [
    figure(
      'Loop',
      percent(loopRounds, rounds),
      loopRounds === 0 ? 'no round came back without progress' : `${loopRounds} of ${count(rounds, 'round')}`,
      loopRounds > 0,
    ),
    figure(
      'Time',
      took(ms),
      loopRounds === 0 ? (turns > 1 ? `in ${turns} turns` : 'from the message to the end') : `${took(loopMs)} of it in the loop`,
    ),
    figure(
      'Tokens',
      number(tokens),
      tokens === 0
        ? 'the provider counted none'
        : loopTokens === 0
          ? `${number(inputTokens)} in, ${number(outputTokens)} out`
          : `${percent(loopTokens, tokens)} of them in the loop`,
    ),
    figure('Calls', number(calls), calls === 0 ? 'no tool was called' : `${ran} ran, ${stopped} stopped before they could`),
  ]
  return element('dl', { class: 'figures' }, items)
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
