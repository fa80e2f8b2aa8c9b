// The stages: whether a process runs each one, and how far it is behind the end of its inbox.

import { html } from '../../../../page/kit/html.ts'
import { wideTable } from '../../../../page/kit/parts.ts'
import { number, wholeDuration } from '../../../../terminal/text/quantities.ts'
import type { ConsoleStage, StagesData } from '../operator-state.ts'
import type { Polled } from '../parts/poll.ts'

export function stagesView({ data, problem }: Polled<StagesData>, now: number) {
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
