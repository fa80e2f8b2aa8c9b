// The index of a page with several conversations: those with a loop first, uneventful ones last.

import { approvalGuard } from '../../../../shared/contract/guard/approval-guard.ts'
import type { TurnFacts } from '../../../../shared/view/turn-facts.ts'
import { factTexts } from '../../../history/facts-text.ts'
import { type Child, html } from '../../../page/kit/html.ts'
import { percent } from '../../../page/kit/texts.ts'
import { printable } from '../../../terminal/text/printable.ts'
import { count, elapsed, number, second } from '../../../terminal/text/quantities.ts'
import { type Group, groups, type IndexEntry, type ReportIndex } from '../data.ts'
import { originLine } from './origin.ts'
import { phrases } from './phrases.ts'

const headings: Record<Group, string> = {
  loop: 'Caught in a loop',
  imported: 'Weir would have stepped in',
  unanswered: 'Ended without an answer',
  open: 'Still running when the log was read',
  limited: 'Answered at a limit, cut short or cancelled',
  answered: 'Answered',
}

const inShort: Record<Group, string> = {
  loop: 'caught in a loop',
  imported: 'in which Weir would have stepped in',
  unanswered: 'without an answer',
  open: 'still running',
  limited: 'cut short by a limit or by somebody',
  answered: 'answered',
}

const worst = { bad: 0, warning: 1, good: 2 } as const

export function indexView(index: ReportIndex): Child {
  const { conversations } = index
  const shown = Map.groupBy(
    conversations.filter(({ place }) => place !== null),
    ({ group }) => group,
  )
  const listed = conversations.filter(({ place }) => place === null)
  return html`<main class="index">
    ${originLine(index)}
    <h1 class="sentence">${headline(conversations.length, shown)}</h1>
    ${stoppedView(conversations)} ${groups.map((group) => groupView(group, shown.get(group) ?? []))}
    ${
      listed.length > 0 &&
      html`<h2>${count(listed.length, 'further conversation')}: weir report --conversation ID shows one</h2>
        <ul class="listed">
          ${listed.map(({ conversation }) => html`<li><code>${conversation}</code></li>`)}
        </ul>`
    }
  </main>`
}

function headline(all: number, shown: Map<Group, IndexEntry[]>): string {
  const found = groups.filter((group) => shown.has(group))
  const [only] = found
  const parts = found.map((group) => `${shown.get(group)?.length} ${inShort[group]}`)
  const listedHere = found.reduce((sum, group) => sum + (shown.get(group)?.length ?? 0), 0)
  if (listedHere < all)
    return `${count(all, 'conversation')}; of the newest ${listedHere}, which are in this page: ${parts.join(', ')}.`
  return found.length === 1 && only !== undefined
    ? `${count(all, 'conversation')}, all of them ${inShort[only]}.`
    : `${count(all, 'conversation')}: ${parts.join(', ')}.`
}

/** A line on calls that guards or people stopped or delayed. Such a conversation may be answered. */
function stoppedView(conversations: IndexEntry[]): Child {
  const known = conversations.flatMap(({ facts }) => facts ?? [])
  const parts = [
    part(known, 'guards denied calls', ({ denials }) =>
      Object.keys(denials).some((guard) => guard !== approvalGuard),
    ),
    part(known, 'calls were denied before running', ({ deniedByChecks }) => deniedByChecks > 0),
    part(known, 'calls waited for a person', ({ approvals }) => Object.keys(approvals).length > 0),
  ].filter((one) => one !== undefined)
  return parts.length > 0 && html`<p class="stopped">In ${parts.join('; in ')}.</p>`
}

function part(
  known: TurnFacts[],
  what: string,
  has: (facts: TurnFacts) => boolean,
): string | undefined {
  const n = known.filter(has).length
  return n === 0 ? undefined : `${count(n, 'conversation')}, ${what}`
}

/**
 * Newest first. In the group of loops, conversations without an answer come first.
 */
function groupView(group: Group, entries: IndexEntry[]): Child {
  if (entries.length === 0) return null
  const ordered =
    group === 'loop' ? entries.toSorted((a, b) => worst[a.tone] - worst[b.tone]) : entries
  return html`<section class=${`group ${group}`}>
    <h2>${headings[group]}<span class="faint"> ${entries.length}</span></h2>
    <ol class="conversations">${ordered.map(entryView)}</ol>
  </section>`
}

function entryView(entry: IndexEntry): Child {
  const { conversation, question, sentence, tone, place, openTurns, cutTurns, group } = entry
  const notes = entry.facts === null ? [] : factTexts(entry.facts)
  return html`<li class=${tone}>
    <div>
      <a href=${`#${place}`}>${conversation}</a>
      ${openTurns > 0 && group !== 'open' && html`<span class="flag">still running</span>`}
      ${cutTurns > 0 && html`<span class="flag">its beginning is missing</span>`}
      ${question !== null && html`<p class="question">${printable(question)}</p>`}
      <p>${phrases(sentence)}</p>
      ${notes.length > 0 && html`<p class="notes">${printable(notes.join('; '))}</p>`}
      <p class="faint">${aboutText(entry)}</p>
    </div>
    ${sizeView(entry)}
  </li>`
}

function aboutText({ agents, turns, from, ms }: IndexEntry): string {
  return [
    ...(agents.length === 0 ? [] : [`agent ${printable(agents.join(', '))}`]),
    count(turns, 'turn'),
    ...(from === null ? [] : [second(from)]),
    ...(ms === null ? [] : [elapsed(ms)]),
  ].join(', ')
}

/** The share of its rounds in loops, to compare between lines. */
function sizeView({ rounds, loopRounds, tokens }: IndexEntry): Child {
  const part = (100 * loopRounds) / Math.max(1, rounds)
  const used = tokens > 0 && html`<p class="faint">${number(tokens)} tokens</p>`
  if (loopRounds === 0) return html`<div class="size"><p>${count(rounds, 'round')}</p>${used}</div>`
  const share = `${percent(loopRounds, rounds)} loop`
  return html`<div class="size">
    <p>
      <b class="bad">${share}</b><span class="faint"> ${loopRounds} of ${count(rounds, 'round')}</span>
    </p>
    <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="share-all" width="100" height="6" /><rect class="share-loop" width=${part} height="6" />
    </svg>
    ${used}
  </div>`
}
