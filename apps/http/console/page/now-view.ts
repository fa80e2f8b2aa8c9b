// Now: the work that is stopped, the savings, the use without progress, the open turns by the place
// where each one is, and the health of the stages.

import { usdText } from '../../../terminal/text/money-text.ts'
import { conversationLink, counted, number, span } from './ago.ts'
import { chart } from './chart.ts'
import type { ConsoleState, ShownTurn, Spend, StopsOfMinute, TurnState } from './console-state.ts'
import { turnStates } from './console-state.ts'
import { html } from './html.ts'
import type { StagesData } from './operator-state.ts'
import type { Polled } from './poll.ts'
import { stagesView } from './stages-view.ts'

const words: Record<TurnState, string> = {
  person: 'wait for a person',
  client: 'wait for their client',
  stalled: 'stalled',
  guard: 'wait for a guard',
  tool: 'at a tool',
  model: 'at the model',
}

const word: Record<TurnState, string> = {
  person: 'person',
  client: 'client',
  stalled: 'stalled',
  guard: 'guard',
  tool: 'tool',
  model: 'model',
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
  const { total, by, minutes } = stops
  const open = turnStates.reduce((sum, state) => sum + turns.counts[state], 0) + turns.dropped
  return html`<main class="now">
    <h1 class="title">${open === 0 ? 'No turn is open' : `${counted(open, 'open turn')}`}</h1>
    <ul class="states" aria-label="Open turns by state">
      ${turnStates.map(
        (state) => html`<li class=${`state ${state}${turns.counts[state] > 0 ? '' : ' none'}`}>
          <b>${number(turns.counts[state])}</b> <span>${words[state]}</span>
        </li>`,
      )}
    </ul>
    <section aria-labelledby="stopped">
      <h2 id="stopped">Stopped in the last hour</h2>
      <dl class="figures">
        <div><dt>calls stopped</dt><dd><b>${number(total.calls)}</b></dd></div>
        <div><dt>turns stopped</dt><dd><b>${number(total.turns)}</b></dd></div>
        <div><dt>rounds saved, at most</dt><dd><b>${number(total.rounds)}</b></dd></div>
        <div><dt>tokens saved, at most</dt><dd><b>${number(total.tokens)}</b></dd></div>
      </dl>
      <figure>
        <div class="chart" aria-hidden="true" ref=${stopsChart(minutes)}></div>
        <figcaption>
          <span>Stopped in each minute:</span>
          <span class="series calls">calls</span>
          <span class="series turns">turns</span>
        </figcaption>
      </figure>
      ${by.length === 0 ? html`<p class="faint">Nothing was stopped.</p>` : stopsTable(by)}
    </section>
    <section aria-labelledby="spend">
      <h2 id="spend">Spent without progress in the last hour</h2>
      ${spendView(spend)}
    </section>
    <section aria-labelledby="turns">
      <h2 id="turns">Open turns</h2>
      ${turns.shown.length === 0 ? html`<p class="faint">None.</p>` : turnsTable(turns.shown, { now, onCancel })}
      ${
        open > turns.shown.length &&
        html`<p class="faint">${counted(open - turns.shown.length, 'further turn')} not shown.</p>`
      }
    </section>
    <section aria-labelledby="health">
      <h2 id="health">Stages and health</h2>
      ${stagesView(stages, now)}
      <ul class="health">
        <li class=${health.problem === null ? '' : 'bad'}>
          ${health.problem ?? `The console is ${counted(health.behind, 'record')} behind the log.`}
        </li>
        <li>
          ${health.newestAt === null ? 'It has read no record yet.' : `Its newest record is ${span(now - health.newestAt)} old.`}
        </li>
        <li class=${health.deadLetters > 0 ? 'warning' : ''}>
          ${counted(health.deadLetters, 'dead letter')}${health.deadLetters > 0 ? html`: <a href="#/letters">show them</a>.` : '.'}
        </li>
        <li>${counted(health.viewers, 'open page')} of the console.</li>
      </ul>
    </section>
  </main>`
}

function spendView({ total, by }: ConsoleState['spend']) {
  if (by.length === 0)
    return html`<p class="faint">No round was without a new result, as far as the loop-detector has judged.</p>`
  return html`<dl class="figures">
      <div><dt>turns</dt><dd><b>${number(total.turns)}</b></dd></div>
      <div><dt>rounds, at least</dt><dd><b>${number(total.rounds)}</b></dd></div>
      <div><dt>tokens, at least</dt><dd><b>${number(total.tokens)}</b></dd></div>
      <div><dt>money, at least</dt><dd><b>${spentMoney(total)}</b></dd></div>
    </dl>
    <div class="wide below" tabindex="0" role="region" aria-label="Use without progress by agent">
      <table>
        <thead>
          <tr>
            <th scope="col">agent</th><th scope="col" class="digits">turns</th>
            <th scope="col" class="digits">rounds</th><th scope="col" class="digits">tokens</th>
            <th scope="col" class="digits">money</th>
          </tr>
        </thead>
        <tbody>
          ${by.map(
            (one) => html`<tr key=${one.agent} data-spend=${one.agent}>
              <td>${one.agent}</td><td class="digits">${number(one.turns)}</td>
              <td class="digits">${number(one.rounds)}</td><td class="digits">${number(one.tokens)}</td>
              <td class="digits">${spentMoney(one)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
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
  return html`<div class="wide" tabindex="0" role="region" aria-label="Stops by agent and rule">
    <table>
      <thead>
        <tr>
          <th scope="col">agent</th><th scope="col">rule</th>
          <th scope="col" class="digits">calls</th><th scope="col" class="digits">turns</th>
          <th scope="col" class="digits">reminders</th>
          <th scope="col" class="digits">rounds saved</th><th scope="col" class="digits">tokens saved</th>
        </tr>
      </thead>
      <tbody>
        ${by.map(
          (one) => html`<tr key=${`${one.agent}/${one.rule}`}>
            <td>${one.agent}</td><td>${one.rule}</td>
            <td class="digits">${number(one.calls)}</td><td class="digits">${number(one.turns)}</td>
            <td class="digits">${number(one.reminders)}</td>
            <td class="digits">${number(one.rounds)}</td><td class="digits">${number(one.tokens)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function turnsTable(
  shown: ShownTurn[],
  { now, onCancel }: { now: number; onCancel: (turn: ShownTurn) => void },
) {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Open turns">
    <table>
      <thead>
        <tr>
          <th scope="col">state</th><th scope="col" class="digits">since</th>
          <th scope="col">conversation</th><th scope="col">agent</th>
          <th scope="col" class="digits">round</th><th scope="col" class="digits">open</th>
          <th scope="col"><span class="unseen">stop</span></th>
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (turn) => html`<tr key=${`${turn.conversation}/${turn.startedAt}`}>
            <td>
              <span class=${`badge ${turn.state}`}>${word[turn.state]}</span>
              ${turn.detail !== '' && html` <span class="faint">${turn.detail}</span>`}
              ${turn.idle > 0 && html` <span class="warning">${counted(turn.idle, 'round')} without progress</span>`}
            </td>
            <td class="digits">${span(now - turn.since)}</td>
            <td class="id"><a href=${conversationLink(turn.conversation)}>${turn.conversation}</a></td>
            <td>${turn.agent}</td>
            <td class="digits">${number(turn.round)}</td>
            <td class="digits">${span(now - turn.startedAt)}</td>
            <td><button type="button" class="quiet" onClick=${() => onCancel(turn)}>Stop…</button></td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
