// A conversation's tree: the agents on a common time axis, their sums, and the stop.

import type { TreeLine } from '../../../../../shared/view/tree.ts'
import { type Child, html } from '../../../../page/kit/html.ts'
import { alert, figures, status, wideTable } from '../../../../page/kit/parts.ts'
import { moneyText } from '../../../../terminal/text/money-text.ts'
import { count, durationText, number } from '../../../../terminal/text/quantities.ts'
import type { TreeData } from '../console-state.ts'
import { newStop } from '../operator/stops-page.ts'
import { linkTo } from '../parts/ago.ts'
import type { Confirmations } from '../parts/confirmation.ts'
import { polled } from '../parts/poll.ts'

export const treeMs = 5_000

/** Of the server. */
export function treePath(conversation: string): string {
  return `tree?${new URLSearchParams({ id: conversation })}`
}

/** The address of the page. `conversation`: any of the tree. */
export function treeLink(conversation: string): string {
  return `#/tree/${encodeURIComponent(conversation)}`
}

export function stopTreeButton(root: string, confirmations: Confirmations): Child {
  const open = () => confirmations.open(newStop('tree', root, () => {}))
  return html`<button type="button" class="danger" onClick=${open}>Stop tree…</button>`
}

export function treePage(onChange: () => void, confirmations: Confirmations) {
  const tree = polled<TreeData>(onChange, treeMs)
  return {
    open: (conversation: string) => tree.open(treePath(conversation)),
    leave: () => tree.leave(),
    view: (now: number) => {
      const { data, problem } = tree
      return html`<main class="tree">
        ${alert(problem)} ${status(confirmations.note, 'good')}
        ${
          data === undefined
            ? html`<h1 class="title">Tree</h1>
                ${problem === null && html`<p class="faint" role="status">Reading the tree.</p>`}`
            : treeView(data, { now, confirmations })
        }
      </main>`
    },
  }
}

function treeView(
  { root, lines, sum, turnsLeftOut, behind }: TreeData,
  { now, confirmations }: { now: number; confirmations: Confirmations },
): Child {
  const { conversations, turns, rounds, calls, denied, pending, tokens, money } = sum
  const { durationMs, startedAt } = sum
  const [failed, stopped] = [sum.failed.length, sum.stopped.length]
  const hasMoney = lines.some((line) => line.money !== null)
  const axis = { from: startedAt, ms: Math.max(1, durationMs ?? now - startedAt) }
  return html`<h1 class="title">Tree of ${linkTo(root)}</h1>
    ${figures([
      { name: 'conversations', value: number(conversations), about: count(turns, 'turn') },
      { name: 'rounds', value: number(rounds), about: count(calls, 'call') },
      { name: 'calls denied', value: number(denied), isBad: denied > 0 },
      {
        name: 'calls waiting',
        value: number(pending),
        about: pending > 0 && html`<a href="#/approvals">for a person</a>`,
      },
      { name: 'tokens', value: number(tokens), about: money !== null && moneyText(money) },
      { name: 'time', value: durationText(axis.ms), about: durationMs === null && 'runs' },
      {
        name: 'children failed or stopped',
        value: number(failed + stopped),
        about: failed + stopped > 0 && `${number(failed)} failed, ${number(stopped)} stopped`,
        isBad: failed + stopped > 0,
      },
    ])}
    <p class="buttons">${stopTreeButton(root, confirmations)}</p>
    ${wideTable(
      'Conversations of the tree',
      {
        class: 'tree-lines',
        rows: lines,
        row: ({ conversation }) => ({ key: conversation, 'data-line': conversation }),
        columns: [
          { title: 'conversation', class: 'id', cell: nameCell },
          { title: 'agent', cell: ({ agent }) => agent ?? 'not known' },
          { title: 'end', class: toneOf, cell: endText },
          { title: 'rounds', class: 'digits', cell: (line) => number(line.rounds) },
          { title: 'calls', class: 'digits', cell: (line) => number(line.calls) },
          { title: 'denied', class: 'digits', cell: (line) => number(line.denied) },
          { title: 'tokens', class: 'digits', cell: (line) => number(line.tokens) },
          ...(hasMoney ? [moneyColumn] : []),
          { title: 'time', cell: (line) => timeCell(line, { ...axis, now }) },
        ],
      },
      'below',
    )}
    <p class="faint">
      Each line has its own rounds and tokens, without those of agents below. Hooks see no tokens.
    </p>
    ${turnsLeftOut > 0 && html`<p class="warning">${count(turnsLeftOut, 'turn')} of further conversations are left out, also of the sums.</p>`}
    ${behind > 0 && html`<p class="warning">The search still misses the newest ${count(behind, 'record')}.</p>`}`
}

const moneyColumn = {
  title: 'money',
  class: 'digits',
  cell: ({ money }: TreeLine) => money !== null && moneyText(money),
}

/** Deeper lines have the same indent, so a line stays readable. */
const indentsMax = 12

function nameCell({ conversation, depth, isParentKnown }: TreeLine): Child {
  const indent = { paddingInlineStart: `${Math.min(depth, indentsMax) * 16}px` }
  return html`<span class="indented" style=${indent}>
    ${linkTo(conversation)} ${depth > 0 && !isParentKnown && html`<span class="faint">parent not known</span>`}
  </span>`
}

function endText({ outcome, cap, class: failureClass, pending }: TreeLine): string {
  if (pending > 0) return `${outcome} (${count(pending, 'call')} waiting for a person)`
  const why = cap ?? failureClass
  return `${outcome}${why === null ? '' : ` (${why.replaceAll('_', ' ')})`}`
}

function toneOf({ outcome }: TreeLine): string {
  if (outcome === 'open') return 'faint'
  return outcome === 'answered' ? 'good' : 'bad'
}

/** A bar on the axis of the whole tree, with its length as a text. */
function timeCell(
  { startedAt, endedAt }: TreeLine,
  { from, ms, now }: { from: number; ms: number; now: number },
): Child {
  const ended = endedAt ?? now
  const percent = (part: number) => `${Math.min(100, Math.max(0, (100 * part) / ms))}%`
  const place = { marginInlineStart: percent(startedAt - from), width: percent(ended - startedAt) }
  return html`<span class="lane" aria-hidden="true"><i class=${endedAt === null ? 'open' : ''} style=${place}></i></span>
    <span class="digits">${durationText(Math.max(0, ended - startedAt))}</span>`
}
