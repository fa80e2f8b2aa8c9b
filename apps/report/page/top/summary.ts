// The top of a report: the end, the share of loops, the cost. For a report of one turn also the
// message and the reply.
// Here: the parts above the rounds. Not here: a round's details (../details) and the report's data
// (../data.ts).

import type { Money } from '../../../../shared/view/totals.ts'
import { sumOfFacts } from '../../../../shared/view/turn-facts.ts'
import { factTexts } from '../../../history/facts-text.ts'
import { type Child, html } from '../../../page/kit/html.ts'
import { type Figure, figures, quote } from '../../../page/kit/parts.ts'
import { code, percent } from '../../../page/kit/texts.ts'
import { usdText } from '../../../terminal/text/money-text.ts'
import { printable } from '../../../terminal/text/printable.ts'
import { elapsed, number, second } from '../../../terminal/text/quantities.ts'
import type { Figures, Imported, ReportData, ReportIndex, ShownTurn } from '../data.ts'
import { originLine } from './origin.ts'
import { phrases } from './phrases.ts'

export function summary(data: ReportData, index: ReportIndex): Child {
  const { timeline, imported, sentence, tone, figures: counts, money } = data
  const { conversation, turns } = timeline
  const all = index.conversations.length
  const agents = [...new Set(turns.map(({ agent }) => agent))]
    .filter((agent) => agent !== '')
    .join(', ')
  const began = turns[0]?.startedAt
  const about = html`${all > 1 && html`<a href="#">all ${all} conversations</a>`}
    ${timeline.title !== null && html`<b>${printable(timeline.title)}</b>`}
    <span>conversation <b>${conversation}</b></span>
    ${agents !== '' && html`<span>agent ${agents}</span>`}
    ${imported !== null && html`<span>imported from a transcript</span>`}
    ${imported === null && began !== undefined && html`<span>${second(began)}</span>`}`
  return html`<section class="summary" aria-label="Summary">
    ${originLine(index, about)}
    <h1 class=${`sentence ${tone}`}>${phrases(sentence)}</h1>
    ${imported === null && notable(turns)}
    ${missing(turns)}
    ${imported !== null && importedNote(imported)}
    ${figures(imported === null ? figuresOf(counts, turns, money) : figuresOfImported(counts, imported))}
  </section>`
}

/** Denials and waits: the sentence names only the end and the loop. */
function notable(turns: ShownTurn[]): Child {
  const texts = factTexts(sumOfFacts(turns.map(({ facts }) => facts)))
  return texts.length > 0 && html`<p class="notes">${printable(texts.join('; '))}</p>`
}

/** A note that the beginning is missing. Otherwise a reader would expect the whole turn. */
function missing(turns: ShownTurn[]): Child {
  const cut = turns.flatMap(({ isWhole, number }) => (isWhole ? [] : [number]))
  if (cut.length === 0) return null
  const which =
    turns.length === 1 ? 'this turn' : `${cut.length === 1 ? 'turn' : 'turns'} ${cut.join(', ')}`
  const first = turns.length === 1 ? turns[0]?.rounds[0]?.round : undefined
  const from = first === undefined || first === 1 ? '' : ` The first round here is round ${first}.`
  return html`<p class="missing" role="note">
    <b>The beginning of ${which} is missing: </b>the log had deleted it.${from} Rounds, times and tokens cover only the rest.
  </p>`
}

/** A note on imported conversations: no times, and the intervention that Weir would have raised. */
function importedNote({ wouldHave }: Imported): Child {
  const judged =
    wouldHave === null
      ? 'By its defaults Weir would not have stepped in'
      : html`By its defaults Weir would have stepped in by ${wouldHave.rule} (${wouldHave.action}): ${code(wouldHave.reason)}`
  return html`<p class="missing" role="note">
    <b>Imported from a transcript; its times are made up: </b>only its order counts, and no time is shown. Weir was not in force here. ${judged}. To try other thresholds: weir judge, or weir replay --set.
  </p>`
}

function figuresOfImported(
  { rounds, inputTokens, outputTokens, calls, ran }: Figures,
  { wouldHave }: Imported,
): Figure[] {
  const tokens = inputTokens + outputTokens
  const counted =
    tokens === 0
      ? 'the transcript counts none'
      : `${number(inputTokens)} in, ${number(outputTokens)} out`
  const all = calls === 1 ? 'it has a result' : 'all of them have a result'
  const results = ran === calls ? all : `${number(ran)} of them have a result`
  const wouldStep = `Weir was not in force; it would${wouldHave === null ? ' not' : ''} have stepped in`
  return [
    { name: 'Loop', value: '–', about: wouldStep, isBad: wouldHave !== null },
    {
      name: 'Rounds',
      value: number(rounds),
      about: 'in their order; their durations are unknown',
    },
    { name: 'Tokens', value: number(tokens), about: counted },
    {
      name: 'Tool calls',
      value: number(calls),
      about: calls === 0 ? 'the model called no tool' : results,
    },
  ]
}

function figuresOf(figures: Figures, turns: ShownTurn[], money: ReportData['money']): Figure[] {
  const { rounds, loopRounds, ms, loopMs, inputTokens, outputTokens, loopTokens, calls } = figures
  const tokens = inputTokens + outputTokens
  const isOpen = turns.some(({ end }) => end === null)
  const ofOne = isOpen ? 'so far' : 'from its beginning to its end'
  const time = turns.length > 1 ? `in ${turns.length} turns, without the time between them` : ofOne
  const counted =
    loopTokens === 0
      ? `${number(inputTokens)} in, ${number(outputTokens)} out`
      : `${percent(loopTokens, tokens)} of them in the loop`
  const looping =
    loopRounds === 0
      ? 'no loop was found'
      : `${number(loopRounds)} of ${number(rounds)} ${rounds === 1 ? 'round' : 'rounds'}`
  return [
    {
      name: 'Loop',
      value: percent(loopRounds, rounds),
      about: looping,
      isBad: loopRounds > 0,
    },
    {
      name: 'Time',
      value: elapsed(ms),
      about: loopRounds === 0 ? time : `${elapsed(loopMs)} of it in the loop`,
    },
    {
      name: 'Tokens',
      value: number(tokens),
      about: tokens === 0 ? 'the provider counted none' : counted,
    },
    { name: 'Tool calls', value: number(calls), about: callWords(figures) },
    ...(money === null ? [] : [moneyFigure(money)]),
  ]
}

function moneyFigure(money: Money): Figure {
  const isUnknown = money.requests === money.unpriced
  return isUnknown
    ? { name: 'Money', value: 'unknown', about: 'no price of the model is known' }
    : { name: 'Money', value: usdText(money.usd), about: moneyNote(money) }
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
  const denied = `${stopped === calls ? all : number(stopped)} ${stopped === 1 ? 'was' : 'were'} denied before running`
  return ran === 0 ? denied : `${number(ran)} ran, ${denied}`
}

/** The message and the reply, if the report has one turn. Several turns have them in their rows. */
export function exchange({ timeline: { turns } }: ReportData): Child {
  const [turn] = turns
  if (turn === undefined || turns.length > 1) return null
  const reply = turn.end?.reply ?? null
  const isFallback = turn.end !== null && turn.end.outcome !== 'answered'
  return html`<section class="exchange" aria-label="Message and reply">
    <div><h2>Message of the user</h2>${quote(turn.text ?? '(its text is no longer in the log)')}</div>
    <div>
      <h2>${isFallback ? 'Reply to the user (the fallback)' : 'Reply to the user'}</h2>
      ${reply === null ? html`<p class="faint">nothing yet</p>` : quote(reply)}
    </div>
  </section>`
}
