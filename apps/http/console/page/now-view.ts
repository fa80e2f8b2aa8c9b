// Now: the work that is stopped, the savings, and the open turns by the place where each one is.

import { conversationLink, counted, number, span } from './ago.ts'
import { chart } from './chart.ts'
import type { ConsoleState, ShownTurn, StopsOfMinute, TurnState } from './console-state.ts'
import { turnStates } from './console-state.ts'
import { html } from './html.ts'

const words: Record<TurnState, string> = {
  person: 'wait for a person',
  stalled: 'stalled',
  guard: 'wait for a guard',
  tool: 'at a tool',
  model: 'at the model',
}

const word: Record<TurnState, string> = {
  ...{ person: 'person', stalled: 'stalled', guard: 'guard', tool: 'tool', model: 'model' },
}

export function nowView(
  { turns, stops, health }: ConsoleState,
  { now, onCancel }: { now: number; onCancel: (turn: ShownTurn) => void },
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
      <div class="chart" aria-hidden="true" ref=${stopsChart(minutes)}></div>
      ${by.length === 0 ? html`<p class="faint">Nothing was stopped.</p>` : stopsTable(by)}
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
      <h2 id="health">Health</h2>
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
