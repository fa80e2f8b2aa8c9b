// The details of an opened round: the request, the response, calls, guards, the loop-detector,
// times, raw records.
// Here: the parts below an opened round. Not here: the summary (../top) and the report's data
// (../data.ts).

import type {
  AttemptTimeline,
  GuardTimeline,
  InterventionTimeline,
  ResponseTimeline,
} from '../../../../shared/view/timeline.ts'
import type { Page } from '../../../history/inspect/page.ts'
import { printGuard } from '../../../history/inspect/print-guard.ts'
import { type Child, html } from '../../../page/kit/html.ts'
import { pairs, quote, table } from '../../../page/kit/parts.ts'
import { code } from '../../../page/kit/texts.ts'
import { count, elapsed, instant, number } from '../../../terminal/text/quantities.ts'
import { lanes, shares } from '../axis/spans.ts'
import type { ReportData, ShownRound, ShownTurn, StreakChange } from '../data.ts'
import { icon } from '../list/icons.ts'
import { callDetails } from './call-details.ts'
import type { RecordsView } from './records-view.ts'

export function roundDetails(
  data: ReportData,
  turn: ShownTurn,
  round: ShownRound,
  records: RecordsView,
): Child {
  const { nudge, callsLeft, attempts, response, failure, note, calls, found } = round
  const { guards, intervention, streaks } = round
  const isImported = data.imported !== null
  const troubled = attempts.filter(({ end }) => end !== 'answer')
  return html`<div class="details" role="region" aria-label=${`Round ${round.round}`}>
    <div class="main">
      ${callsLeft === 0 && html`<p class="warning">Text only: a last request to the model, without tools.</p>`}
      ${nudge !== null && block('Shown to the model with this request', quote(nudge, 'shown'))}
      ${troubled.length > 0 && block('Attempts', html`<ol class="attempts">${attempts.map(attemptLine)}</ol>`)}
      ${response !== null && responseBlocks(response)}
      ${failure !== null && block('No response', html`<p class="bad">${failure.reason} <span class="faint">(${failure.class})</span></p>`)}
      ${failure === null && note !== null && html`<p class="bad">${note}</p>`}
      ${calls.map((call, index) => callDetails(call, found[index], { turn, isImported }))}
    </div>
    <div class="aside">
      ${intervention !== null && interventionBlock(intervention)}
      ${guards.length > 0 && block('Guards', guardLines(guards))}
      ${streaks.length > 0 && streakBlock(streaks)}
      ${!isImported && timesBlock(round, turn.until)}
      ${response !== null && usageBlock(response)}
    </div>
    ${records.block(round.records)}
  </div>`
}

function block(title: string, content: Child): Child {
  return html`<section class="block"><h3>${title}</h3>${content}</section>`
}

function attemptLine({ startedAt, endedAt, firstPartAt, end, failure }: AttemptTimeline): Child {
  const ran =
    startedAt !== null && endedAt !== null
      ? ` after ${elapsed(Math.max(0, endedAt - startedAt))}`
      : ''
  if (failure !== null) {
    const next = failure.retryable
      ? `; another could follow after ${elapsed(failure.retryAfterMs)}`
      : '; no other could help'
    return html`<li class="bad">failed${ran} (${failure.class}): ${failure.reason}${next}</li>`
  }
  const words = {
    answer: `answered${ran}`,
    unused: `answered${ran}, when another one was the answer already`,
    abandoned: 'abandoned: it was stopped, or its process ended',
    open: firstPartAt === null ? 'running, no output yet' : 'running, the model is writing',
    failed: 'failed',
  }
  return html`<li>${words[end]}</li>`
}

function responseBlocks({ text, reasoning, textCalls, stop, finish }: ResponseTimeline): Child[] {
  const isOdd = stop !== 'end' && stop !== 'calls'
  const why = `The response stopped: ${stop}${finish === '' ? '' : ` (the provider says ${finish})`}.`
  return [
    reasoning !== null && reasoningBlock(reasoning),
    text !== '' && block('Text of the model', quote(text)),
    textCalls !== null && textCallsBlock(textCalls),
    isOdd && html`<p class="warning">${why}</p>`,
  ]
}

function reasoningBlock({ text, characters }: NonNullable<ResponseTimeline['reasoning']>): Child {
  const unseen = `${count(characters, 'character')}; weir report --reasoning puts them here`
  const shown = text === null ? html`<p class="faint">${unseen}</p>` : quote(text, 'thought')
  return block('The model thought', shown)
}

function textCallsBlock({
  dialect,
  fault,
  held,
  text,
}: NonNullable<ResponseTimeline['textCalls']>): Child {
  if (fault === null) return block(`Calls recovered from its text (${dialect})`, quote(text))
  const title = `Text built like a call (${dialect}), which ${held === null ? 'could' : 'did'} not run`
  return block(title, [html`<p class="warning">${fault}</p>`, quote(text)])
}

/** The actions of the ladder of interventions. */
const actionWords = {
  nudge: 'the model is warned in its next request',
  text_only: 'the next round has no tools',
  end: 'the turn ends here',
} as const
const actionsInShort: Record<string, string> = {
  none: '',
  nudge: 'warned',
  text_only: 'no tools',
  end: 'ended',
}

function interventionBlock(intervention: InterventionTimeline): Child {
  const { action, ordinary, rule, ruleVersion, key, reason, text, evidence } = intervention
  const rounds = [...new Set(evidence.map(({ round }) => round))].join(', ')
  const hand = icon({ name: 'hand', tone: 'warning', word: 'intervention' }, false)
  return html`<section class="block intervention">
    <h3>
      ${hand}
      ${ordinary ? 'A usual reminder' : `The loop-detector stepped in: ${actionWords[action]}`}
    </h3>
    <p>${reason}</p>
    ${pairs([
      ['Rule', `${rule}, version ${ruleVersion}`],
      ['Repeated', key !== '' && code(key)],
      ['Judged by', rounds !== '' && `rounds ${rounds}`],
      ['Class', intervention.class],
    ])}
    ${
      text !== '' &&
      html`<details><summary>The text for the model</summary>${quote(text, 'shown')}</details>`
    }
  </section>`
}

function streakBlock(streaks: StreakChange[]): Child {
  return block(
    'Repeat counts before and after this round',
    table({
      class: 'streaks',
      rows: streaks,
      columns: [
        {
          title: 'Repeated',
          cell: ({ rule, what }) => html`<span class="rule">${rule}</span>${code(what)}`,
        },
        {
          title: 'Rounds',
          class: () => 'digits',
          cell: ({ before, after }) =>
            html`<span class="faint">${before}</span> → <b class=${after > before ? 'warning' : 'good'}>${after}</b>`,
        },
        {
          title: 'The model is',
          class: () => 'faint',
          cell: ({ action }) => actionsInShort[action] ?? action,
        },
      ],
    }),
  )
}

function overText(askedAt: number | null, endedAt: number): string {
  return askedAt === null ? instant(endedAt) : `after ${elapsed(Math.max(0, endedAt - askedAt))}`
}

function timesBlock(round: ShownRound, until: number): Child {
  const { askedAt, endedAt, cancelledAt, offered, callsLeft } = round
  const parts = shares(round, until)
  const lasted = (lane: (typeof lanes)[number]) =>
    parts[lane] > 0 && html`<span class=${`swatch ${lane}`}></span>${elapsed(parts[lane])}`
  return block(
    'Times',
    pairs([
      ['Asked', askedAt !== null && instant(askedAt)],
      ...lanes.map((lane) => [lane, lasted(lane)] as const),
      ['Over', endedAt === null ? 'not yet' : overText(askedAt, endedAt)],
      ['Cancelled', cancelledAt !== null && instant(cancelledAt)],
      ['Tools offered', offered > 0 && String(offered)],
      ['Calls left', callsLeft !== null && number(callsLeft)],
    ]),
  )
}

function usageBlock({ usage, finish }: ResponseTimeline): Child {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  return block(
    'Tokens',
    pairs([
      ['In', number(inputTokens)],
      ['Out', number(outputTokens)],
      ['Cache, read', cacheReadTokens > 0 && number(cacheReadTokens)],
      ['Cache, written', cacheWriteTokens > 0 && number(cacheWriteTokens)],
      ['Stopped', finish !== '' && code(finish)],
    ]),
  )
}

// Guards as `weir inspect` shows them: its page for a terminal, as elements.

function guardLines(guards: GuardTimeline[]): Child {
  const lines: Child[] = []
  const add = (indent: number, text: string, tone: string) =>
    lines.push(html`<p class=${`${tone}${indent > 4 ? ' under' : ''}`}>${text}</p>`)
  const page: Page = {
    lines: [],
    line: (indent, text, tone = 'plain') => add(indent, text, tone),
    entry: (indent, label, text, tone = 'plain') =>
      add(indent, label === 'guard' ? text : `${label} ${text}`, tone),
    quote: (_, text) => lines.push(quote(text)),
    entryOrQuote: (indent, label, before, text) =>
      add(indent, `${label} ${before} ${text}`, 'plain'),
    blank: () => {},
  }
  for (const guard of guards) printGuard(page, guard)
  return html`<div class="lines">${lines}</div>`
}
