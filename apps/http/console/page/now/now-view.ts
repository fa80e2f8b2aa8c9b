// Now: the work that is stopped, the savings, the use without progress, the open turns by the place
// where each one is, and the health of the stages.
// Here: the page only. Not here: the counts, which ../../state folds from the log.

import { html } from '../../../../page/kit/html.ts'
import { figures, wideTable } from '../../../../page/kit/parts.ts'
import { chart } from '../../../../page/kit/plot.ts'
import { usdText } from '../../../../terminal/text/money-text.ts'
import { count, number, wholeDuration } from '../../../../terminal/text/quantities.ts'
import {
  type ConsoleState,
  type ShownTurn,
  type Spend,
  type StopsBy,
  type StopsOfMinute,
  type TurnState,
  turnStates,
} from '../console-state.ts'
import type { ConsoleStage, StagesData } from '../operator-state.ts'
import { linkTo } from '../parts/ago.ts'
import type { Polled } from '../parts/poll.ts'

const words: Record<TurnState, string> = {
  person: 'wait for a person',
  client: 'wait for their client',
  stalled: 'stalled',
  guard: 'wait for a guard',
  tool: 'at a tool',
  model: 'at the model',
}

export type NowContext = {
  now: number
  stages: Polled<StagesData>
  onCancel: (turn: ShownTurn) => void
}

export function nowView(
  { turns, stops, spend, health }: ConsoleState,
  { now, stages, onCancel }: NowContext,
) {
  const { by } = stops
  const open = turnStates.reduce((sum, state) => sum + turns.counts[state], 0) + turns.dropped
  return html`<main class="now">
    <h1 class="title">${open === 0 ? 'No turn is open' : `${count(open, 'open turn')}`}</h1>
    <ul class="states" aria-label="Open turns by state">
      ${turnStates.map(
        (state) => html`<li class=${`state ${state}${turns.counts[state] > 0 ? '' : ' none'}`}>
          <b>${number(turns.counts[state])}</b> <span>${words[state]}</span>
        </li>`,
      )}
    </ul>
    <section aria-labelledby="turns">
      <h2 id="turns">Open turns</h2>
      ${turns.shown.length === 0 ? html`<p class="faint">None.</p>` : turnsTable(turns.shown, { now, onCancel })}
      ${
        open > turns.shown.length &&
        html`<p class="faint">${count(open - turns.shown.length, 'further turn')} not shown.</p>`
      }
    </section>
    <section aria-labelledby="stopped">
      <h2 id="stopped">Stopped in the last hour</h2>
      ${by.length === 0 ? html`<p class="faint">Nothing was stopped.</p>` : stopsView(stops)}
    </section>
    <section aria-labelledby="spend">
      <h2 id="spend">Spent without progress in the last hour</h2>
      ${spendView(spend)}
    </section>
    <section aria-labelledby="health">
      <h2 id="health">Stages and health</h2>
      ${stagesView(stages, now)}
      <ul class="health">
        ${health.problem !== null && html`<li class="bad">${health.problem}</li>`}
        ${
          health.behind > 0 &&
          html`<li class="warning">This page still misses the newest ${count(health.behind, 'record')}.</li>`
        }
        ${
          health.deadLetters > 0 &&
          html`<li class="warning"><a href="#/letters">${count(health.deadLetters, 'dead letter')}</a></li>`
        }
        <li>
          ${health.newestAt === null ? 'No agent has written a record yet.' : `Last activity ${wholeDuration(now - health.newestAt)} ago.`}
        </li>
      </ul>
    </section>
  </main>`
}

function stopsView({ total, by, minutes }: ConsoleState['stops']) {
  return html`
    ${figures([
      { name: 'calls stopped', value: number(total.calls) },
      { name: 'turns stopped', value: number(total.turns) },
      { name: 'rounds saved, at most', value: number(total.rounds) },
      { name: 'tokens saved, at most', value: number(total.tokens) },
    ])}
    <figure>
      <div class="chart" aria-hidden="true" ref=${stopsChart(minutes)}></div>
      <figcaption>
        <span>Stopped in each minute:</span>
        <span class="series calls">calls</span>
        <span class="series turns">turns</span>
      </figcaption>
    </figure>
    ${stopsTable(by)}
    ${
      total.turns > 0 &&
      html`<p class="faint">
        Savings are upper limits: each stopped turn goes on at its pace to the first of its caps on
        rounds, calls, tokens and time. Each round has the tokens of its last response. A turn
        could also have ended earlier.
      </p>`
    }`
}

function spendView({ total, by }: ConsoleState['spend']) {
  if (by.length === 0)
    return html`<p class="faint">No round was without a new result, as far as the loop-detector has judged.</p>`
  return html`
    ${figures([
      { name: 'turns', value: number(total.turns) },
      { name: 'rounds, at least', value: number(total.rounds) },
      { name: 'tokens, at least', value: number(total.tokens) },
      { name: 'money, at least', value: spentMoney(total) },
    ])}
    ${wideTable(
      'Use without progress by agent',
      {
        rows: by,
        row: ({ agent }) => ({ key: agent, 'data-spend': agent }),
        columns: [
          { title: 'agent', cell: ({ agent }) => agent },
          { title: 'turns', class: 'digits', cell: ({ turns }) => number(turns) },
          { title: 'rounds', class: 'digits', cell: ({ rounds }) => number(rounds) },
          { title: 'tokens', class: 'digits', cell: ({ tokens }) => number(tokens) },
          { title: 'money', class: 'digits', cell: spentMoney },
        ],
      },
      'below',
    )}
    <p class="faint">
      Rounds that the loop-detector names as evidence of a loop, also by a rule in shadow. Money is
      known for model requests under a budget in money.
    </p>`
}

function spentMoney({ usd, priced }: Spend): string {
  return priced === 0 ? 'not known' : usdText(usd)
}

function stopsChart(minutes: StopsOfMinute[]) {
  const ats = minutes.map(({ at }) => at)
  return chart(ats, [
    { colour: 'calls', shape: 'bars', values: minutes.map(({ calls }) => calls) },
    { colour: 'turns', shape: 'bars', values: minutes.map(({ turns }) => turns) },
  ])
}

function stopsTable(by: ConsoleState['stops']['by']) {
  return wideTable('Stops by agent and rule', {
    rows: by,
    row: ({ agent, rule }) => ({ key: `${agent}/${rule}` }),
    columns: [
      { title: 'agent', cell: ({ agent }) => agent },
      { title: 'rule', cell: stoppedBy },
      { title: 'calls', class: 'digits', cell: ({ calls }) => number(calls) },
      { title: 'turns', class: 'digits', cell: ({ turns }) => number(turns) },
      { title: 'reminders', class: 'digits', cell: ({ reminders }) => number(reminders) },
      { title: 'rounds saved', class: 'digits', cell: ({ rounds }) => number(rounds) },
      { title: 'tokens saved', class: 'digits', cell: ({ tokens }) => number(tokens) },
    ],
  })
}

/** A link to the conversations that the row counts. */
function stoppedBy({ rule, filters }: StopsBy) {
  if (filters === null) return rule
  const query = new URLSearchParams({ ...filters, since: '1h ago' })
  return html`<a href=${`#/conversations?${query}`}>${rule}</a>`
}

function turnsTable(
  shown: ShownTurn[],
  { now, onCancel }: { now: number; onCancel: (turn: ShownTurn) => void },
) {
  return wideTable('Table of open turns', {
    class: 'open-turns',
    rows: shown,
    row: ({ conversation, startedAt }) => ({ key: `${conversation}/${startedAt}` }),
    columns: [
      { title: 'state', cell: stateCell },
      { title: 'since', class: 'digits', cell: ({ since }) => wholeDuration(now - since) },
      { title: 'conversation', class: 'id', cell: ({ conversation }) => linkTo(conversation) },
      { title: 'agent', class: 'detail', cell: ({ agent }) => agent },
      { title: 'round', class: 'digits detail', cell: ({ round }) => number(round) },
      {
        title: 'open',
        class: 'digits detail',
        cell: ({ startedAt }) => wholeDuration(now - startedAt),
      },
      {
        title: html`<span class="unseen">stop</span>`,
        cell: (turn) =>
          html`<button type="button" class="quiet" onClick=${() => onCancel(turn)}>Stop…</button>`,
      },
    ],
  })
}

function stateCell({ state, detail, idle }: ShownTurn) {
  return html`
    <span class=${`badge ${state}`}>${state}</span>
    ${detail !== '' && html` <span class="faint">${detail}</span>`}
    ${idle > 0 && html` <span class="warning">${count(idle, 'round')} without progress</span>`}`
}

function stagesView({ data, problem }: Polled<StagesData>, now: number) {
  if (problem !== null)
    return html`<p class="bad" role="alert">The stages cannot be read: ${problem}</p>`
  if (data === undefined) return html`<p class="faint">Reading the positions of the stages.</p>`
  return wideTable('Stages', {
    rows: data.stages,
    row: ({ stage }) => ({ key: stage, 'data-stage': stage }),
    columns: [
      { title: 'stage', cell: ({ stage }) => stage },
      { title: 'processes', class: toneOf, cell: (one) => processText(one, now) },
      { title: 'behind', class: 'digits', cell: ({ behind }) => number(behind) },
      { title: 'oldest waits', class: 'digits', cell: (one) => waitedText(one, now) },
    ],
  })
}

function processText({ idleSince }: ConsoleStage, now: number): string {
  return idleSince === null ? 'running' : `none, for at least ${wholeDuration(now - idleSince)}`
}

function waitedText({ behind, oldestAt }: ConsoleStage, now: number): string {
  if (behind === 0) return ''
  return oldestAt === null ? 'not known' : wholeDuration(now - oldestAt)
}

/** A stage without work needs no process. */
function toneOf({ idleSince, behind }: ConsoleStage): string {
  if (idleSince === null) return 'good'
  return behind > 0 ? 'bad' : 'faint'
}
