// The top of a report: the end, the share of loops, the cost. For a report of one turn also the
// message and the reply.

import { sumOfFacts } from '../../../shared/view/turn-facts.ts'
import { factTexts } from '../../history/facts-text.ts'
import { type Money, usdText } from '../../terminal/text/money-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { elapsed, second } from '../../terminal/text/quantities.ts'
import type { Figures, Imported, ReportData, ReportIndex, ShownTurn } from './data.ts'
import { type Child, element } from './element.ts'
import { originLine } from './origin.ts'
import { code, number, percent, phrases, quote } from './words.ts'

export function summary(
  { timeline, imported, sentence, tone, figures, money }: ReportData,
  index: ReportIndex,
): HTMLElement {
  const { conversation, turns } = timeline
  const { conversations } = index
  const agents = [...new Set(turns.map(({ agent }) => agent))]
    .filter((agent) => agent !== '')
    .join(', ')
  const began = turns[0]?.startedAt
  return element(
    'header',
    { class: 'summary' },
    originLine(
      index,
      conversations.length > 1 &&
        element('a', { href: '#' }, `all ${conversations.length} conversations`),
      element('span', {}, 'conversation ', element('b', {}, conversation)),
      agents !== '' && element('span', {}, `agent ${agents}`),
      imported === null
        ? began !== undefined && element('span', {}, second(began))
        : element('span', {}, 'imported from a transcript'),
    ),
    element('h1', { class: `sentence ${tone}` }, phrases(sentence)),
    imported === null && notable(turns),
    missing(turns),
    imported !== null && importedNote(imported),
    imported === null ? figuresOf(figures, turns, money) : figuresOfImported(figures, imported),
  )
}

/** Vetoes, rejections and waits: the sentence names only the end and the loop. */
function notable(turns: ShownTurn[]): HTMLElement | null {
  const texts = factTexts(sumOfFacts(turns.map(({ facts }) => facts)))
  return texts.length === 0 ? null : element('p', { class: 'notes' }, printable(texts.join('; ')))
}

/** A note that the beginning is missing. Otherwise a reader would expect the whole turn. */
function missing(turns: ShownTurn[]): HTMLElement | null {
  const cut = turns.flatMap(({ isWhole, number }) => (isWhole ? [] : [number]))
  if (cut.length === 0) return null
  const which =
    turns.length === 1 ? 'this turn' : `${cut.length === 1 ? 'turn' : 'turns'} ${cut.join(', ')}`
  const first = turns.length === 1 ? turns[0]?.rounds[0]?.round : undefined
  const from = first === undefined || first === 1 ? '' : ` The first round here is round ${first}.`
  return element(
    'p',
    { class: 'missing', role: 'note' },
    element('b', {}, `The beginning of ${which} is missing: `),
    `the log had deleted it.${from} Rounds, times and tokens cover only the rest.`,
  )
}

/** A note on imported conversations: no times, and the intervention that Weir would have raised. */
function importedNote({ wouldHave }: Imported): HTMLElement {
  const judged: Child[] =
    wouldHave === null
      ? ['By its defaults Weir would not have stepped in']
      : [
          `By its defaults Weir would have stepped in by ${wouldHave.rule} (${wouldHave.rung}): `,
          code(wouldHave.reason),
        ]
  return element(
    'p',
    { class: 'missing', role: 'note' },
    element('b', {}, 'Imported from a transcript; its times are made up: '),
    'only its order counts, and no time is shown. Weir was not in force here. ',
    judged,
    '. To try other thresholds: weir judge, or weir replay --set.',
  )
}

function figuresOfImported(
  { rounds, inputTokens, outputTokens, calls, ran }: Figures,
  { wouldHave }: Imported,
): HTMLElement {
  const tokens = inputTokens + outputTokens
  const counted =
    tokens === 0
      ? 'the transcript counts none'
      : `${number(inputTokens)} in, ${number(outputTokens)} out`
  const all = calls === 1 ? 'it has a result' : 'all of them have a result'
  const results = ran === calls ? all : `${number(ran)} of them have a result`
  const items = [
    figure(
      'Loop',
      '–',
      `Weir was not in force; it would${wouldHave === null ? ' not' : ''} have stepped in`,
      wouldHave !== null,
    ),
    figure('Rounds', number(rounds), 'in their order; their durations are unknown'),
    figure('Tokens', number(tokens), counted),
    figure('Tool calls', number(calls), calls === 0 ? 'the model called no tool' : results),
  ]
  return element('dl', { class: 'figures' }, items)
}

function figuresOf(figures: Figures, turns: ShownTurn[], money: ReportData['money']): HTMLElement {
  const { rounds, loopRounds, ms, loopMs, inputTokens, outputTokens, loopTokens, calls } = figures
  const tokens = inputTokens + outputTokens
  const isOpen = turns.some(({ end }) => end === null)
  const ofOne = isOpen ? 'so far' : 'from its beginning to its end'
  const time = turns.length > 1 ? `in ${turns.length} turns, without the time between them` : ofOne
  const counted =
    loopTokens === 0
      ? `${number(inputTokens)} in, ${number(outputTokens)} out`
      : `${percent(loopTokens, tokens)} of them in the loop`
  const items = [
    figure(
      'Loop',
      percent(loopRounds, rounds),
      loopRounds === 0
        ? 'no loop was found'
        : `${number(loopRounds)} of ${number(rounds)} ${rounds === 1 ? 'round' : 'rounds'}`,
      loopRounds > 0,
    ),
    figure('Time', elapsed(ms), loopRounds === 0 ? time : `${elapsed(loopMs)} of it in the loop`),
    figure('Tokens', number(tokens), tokens === 0 ? 'the provider counted none' : counted),
    figure('Tool calls', number(calls), callWords(figures)),
    ...(money === null ? [] : [moneyFigure(money)]),
  ]
  return element('dl', { class: 'figures' }, items)
}

function moneyFigure(money: Money): HTMLElement {
  const isUnknown = money.requests === money.unpriced
  const note = isUnknown ? 'no price of the model is known' : moneyNote(money)
  return figure('Money', isUnknown ? 'unknown' : usdText(money.usd), note)
}

function moneyNote({ requests, unpriced }: Money): string {
  return unpriced === 0
    ? `${number(requests)} model ${requests === 1 ? 'request' : 'requests'}`
    : `without ${number(unpriced)} of unknown price`
}

function callWords({ calls, ran, stopped }: Figures): string {
  if (calls === 0) return 'the model called no tool'
  const all = calls === 1 ? 'it' : 'all of them'
  if (stopped === 0) return `${ran === calls ? all : `${number(ran)} of them`} ran`
  const refused = `${stopped === calls ? all : number(stopped)} ${stopped === 1 ? 'was' : 'were'} refused before running`
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

/** The message and the reply, if the report has one turn. Several turns have them in their rows. */
export function exchange({ timeline: { turns } }: ReportData): HTMLElement | null {
  const [turn] = turns
  if (turn === undefined || turns.length > 1) return null
  const reply = turn.end?.reply ?? null
  const isFallback = turn.end !== null && turn.end.outcome !== 'answered'
  return element(
    'section',
    { class: 'exchange', 'aria-label': 'Message and reply' },
    element(
      'div',
      {},
      element('h2', {}, 'Message of the user'),
      quote(turn.text ?? '(its text is no longer in the log)'),
    ),
    element(
      'div',
      {},
      element('h2', {}, isFallback ? 'Reply to the user (the fallback)' : 'Reply to the user'),
      reply === null ? element('p', { class: 'faint' }, 'nothing yet') : quote(reply),
    ),
  )
}
