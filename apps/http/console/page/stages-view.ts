// The stages: whether a process runs each one, and how far it is behind the end of its inbox.

import { number, span } from './ago.ts'
import { html } from './html.ts'
import type { ConsoleStage, StagesData } from './operator-state.ts'
import type { Polled } from './poll.ts'

export function stagesView({ data, problem }: Polled<StagesData>, now: number) {
  if (problem !== null)
    return html`<p class="bad" role="alert">The stages cannot be read: ${problem}</p>`
  if (data === undefined) return html`<p class="faint">Reading the positions of the stages.</p>`
  return html`<div class="wide" tabindex="0" role="region" aria-label="Stages">
    <table>
      <thead>
        <tr>
          <th scope="col">stage</th><th scope="col">processes</th>
          <th scope="col" class="digits">behind</th>
          <th scope="col" class="digits">oldest waits</th>
        </tr>
      </thead>
      <tbody>
        ${data.stages.map(
          (one) => html`<tr key=${one.stage} data-stage=${one.stage}>
            <td>${one.stage}</td>
            <td class=${toneOf(one)}>${processText(one, now)}</td>
            <td class="digits">${number(one.behind)}</td>
            <td class="digits">${waitedText(one, now)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function processText({ idleSince }: ConsoleStage, now: number): string {
  return idleSince === null ? 'running' : `none, for at least ${span(now - idleSince)}`
}

function waitedText({ behind, oldestAt }: ConsoleStage, now: number): string {
  if (behind === 0) return ''
  return oldestAt === null ? 'not known' : span(now - oldestAt)
}

/** A stage without work needs no process. */
function toneOf({ idleSince, behind }: ConsoleStage): string {
  if (idleSince === null) return 'good'
  return behind > 0 ? 'bad' : 'faint'
}
