// The slider over recent turns: the effect of one threshold at several values. All values come with
// one request, so the slider needs none.
// Here: the pages that change settings: guards, policies, stops, budgets. Not here: the changes,
// which ../../operator-changes.ts writes.

import { shellWord } from '../../../../../shared/lib/text/shell-word.ts'
import { html } from '../../../../page/kit/html.ts'
import { alert, select, wideTable } from '../../../../page/kit/parts.ts'
import { count, number } from '../../../../terminal/text/quantities.ts'
import type { TurnChange, WhatIfData } from '../operator-state.ts'
import { linkTo } from '../parts/ago.ts'
import type { Polled } from '../parts/poll.ts'

export type WhatIfContext = {
  key: string
  keys: readonly string[]
  /** The place of the slider. */
  place: number | null
  onKey(key: string): void
  onPlace(place: number): void
  onSet(value: string): void
}

export function whatIfView(what: Polled<WhatIfData>, context: WhatIfContext) {
  const { key, keys, onKey } = context
  return html`<div class="what-if">
    <label class="field">
      <span>Threshold</span>
      ${select({ name: 'what-if-key', value: key, values: keys, onChange: onKey })}
    </label>
    ${answer(what, context)}
  </div>`
}

function answer({ problem, data }: Polled<WhatIfData>, context: WhatIfContext) {
  if (problem !== null) return alert(problem)
  if (data === undefined) return html`<p class="faint" role="status">Judging the turns.</p>`
  return result(data, context)
}

/** The place of the value in force. */
export function currentPlace({ rows, current }: WhatIfData): number {
  const place = rows.findIndex(({ value }) => value === current)
  return place < 0 ? Math.floor(rows.length / 2) : place
}

function result(data: WhatIfData, { key, place, onPlace, onSet }: WhatIfContext) {
  const { agent, conversation, rows, turns, conversations, current } = data
  if (conversations === 0)
    return html`<p class="faint" role="status">No recent turn has a round to judge.</p>`
  const at = Math.min(place ?? currentPlace(data), rows.length - 1)
  const row = rows[at]
  if (row === undefined) return false
  const { value, touched, changes } = row
  return html`
    <div class="field slider">
      <span>Value: <output><b>${number(value)}</b></output>${value === current ? ' (in force)' : ''}</span>
      <input
        type="range" name="what-if-value" min="0" max=${rows.length - 1} step="1" value=${at}
        aria-label=${`Value of ${key}`} aria-valuetext=${number(value)}
        onInput=${(event: Event) => onPlace(Number((event.target as HTMLInputElement).value))}
      />
      <span class="faint ends"><span>${number(rows[0]?.value ?? 0)}</span><span>${number(rows.at(-1)?.value ?? 0)}</span></span>
    </div>
    <p class="outcome-text" role="status">${summary(data, row)}</p>
    ${changes.length > 0 && changesTable(changes)}
    ${touched > changes.length && html`<p class="faint">${count(touched - changes.length, 'further conversation')} not shown.</p>`}
    <p class="faint">
      ${
        conversation === null
          ? `${count(turns, 'turn')}, the newest of at most 24 hours.`
          : `${count(turns, 'turn')}, the newest of this conversation, with the policy of ${agent}.`
      }
      ${' '}Nothing is known after a changed decision, so savings are upper limits. In a terminal:${' '}
      <code>weir replay ${conversation === null ? '' : `--conversation ${shellWord(conversation)} `}--sweep ${key}=${rows[0]?.value}..${rows.at(-1)?.value}</code>
    </p>
    ${value !== current && html`<p class="buttons"><button type="button" onClick=${() => onSet(`${value}`)}>Set ${key} to ${number(value)}…</button></p>`}
  `
}

function summary(
  { key, conversations }: WhatIfData,
  {
    value,
    touched,
    roundsSaved,
    tokensSaved,
    milder,
    roundsLater,
    falseAlarms,
  }: WhatIfData['rows'][number],
) {
  const base = `With ${key} at ${number(value)}, ${touched === 0 ? 'nothing changes in' : `${number(touched)} of`} ${count(conversations, 'conversation')}`
  if (touched === 0) return `${base}.`
  const parts = [
    ...(roundsSaved > 0
      ? [`at most ${count(roundsSaved, 'round')} and ${count(tokensSaved, 'token')} saved`]
      : []),
    ...(milder > 0 ? [`${number(milder)} stop at least ${count(roundsLater, 'round')} later`] : []),
    `${count(falseAlarms, 'call')} that had succeeded would not run`,
  ]
  return `${base} would end otherwise: ${parts.join('; ')}.`
}

function changesTable(changes: TurnChange[]) {
  return wideTable('Changed turns', {
    rows: changes,
    row: ({ conversation }) => ({ key: conversation }),
    columns: [
      { title: 'conversation', class: 'id', cell: ({ conversation }) => linkTo(conversation) },
      { title: 'round', class: 'digits', cell: ({ round }) => number(round) },
      { title: 'was', cell: ({ was }) => decisionText(was) },
      { title: 'would be', cell: ({ is }) => decisionText(is) },
      {
        title: 'rounds saved',
        class: 'digits',
        cell: ({ roundsLater, roundsSaved }) =>
          roundsLater > 0 ? `≥ ${number(roundsLater)} later` : number(roundsSaved),
      },
      {
        title: 'calls lost',
        class: 'digits',
        cell: ({ lost }) =>
          lost > 0 ? html`<span class="bad">${number(lost)}</span>` : number(lost),
      },
    ],
  })
}

const actions: Record<string, string> = {
  nudge: 'reminder',
  text_only: 'text only',
  end: 'end of the turn',
  deny: 'denial',
  ask: 'waits for a person',
}

function decisionText(decision: TurnChange['was']): string {
  return decision === null
    ? 'goes on'
    : `${actions[decision.action] ?? decision.action}, by ${decision.rule}`
}
