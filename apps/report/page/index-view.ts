// The index of a page with several conversations: those with a loop first, uneventful ones last.

import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import type { TurnFacts } from '../../../shared/view/turn-facts.ts'
import { factTexts } from '../../history/facts-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count, elapsed, instant } from '../../terminal/text/quantities.ts'
import { type Group, groups, type IndexEntry, type ReportIndex } from './data.ts'
import { element, graphic } from './element.ts'
import { originLine } from './origin.ts'
import { number, percent, phrases } from './words.ts'

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

export function indexView(index: ReportIndex): HTMLElement {
  const { conversations } = index
  const shown = Map.groupBy(
    conversations.filter(({ place }) => place !== null),
    ({ group }) => group,
  )
  const listed = conversations.filter(({ place }) => place === null)
  return element(
    'main',
    { class: 'index' },
    originLine(index),
    element('h1', { class: 'sentence' }, headline(conversations.length, shown)),
    stoppedNode(conversations),
    groups.map((group) => groupNode(group, shown.get(group) ?? [])),
    listed.length > 0 &&
      element(
        'h2',
        {},
        `${count(listed.length, 'further conversation')}: weir report --conversation ID shows one`,
      ),
    listed.length > 0 &&
      element(
        'ul',
        { class: 'listed' },
        listed.map(({ conversation }) => element('li', {}, element('code', {}, conversation))),
      ),
  )
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
function stoppedNode(conversations: IndexEntry[]): HTMLElement | null {
  const known = conversations.flatMap(({ facts }) => facts ?? [])
  const parts = [
    part(known, 'guards vetoed calls', ({ vetoes }) =>
      Object.keys(vetoes).some((guard) => guard !== approvalGuard),
    ),
    part(known, 'calls were refused before running', ({ rejections }) => rejections > 0),
    part(known, 'calls waited for a person', ({ approvals }) => Object.keys(approvals).length > 0),
  ].filter((one) => one !== undefined)
  return parts.length === 0
    ? null
    : element('p', { class: 'stopped' }, `In ${parts.join('; in ')}.`)
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
function groupNode(group: Group, entries: IndexEntry[]): HTMLElement | null {
  if (entries.length === 0) return null
  const ordered =
    group === 'loop' ? entries.toSorted((a, b) => worst[a.tone] - worst[b.tone]) : entries
  return element(
    'section',
    { class: `group ${group}` },
    element('h2', {}, headings[group], element('span', { class: 'faint' }, ` ${entries.length}`)),
    element('ol', { class: 'conversations' }, ordered.map(entryNode)),
  )
}

function entryNode(entry: IndexEntry): HTMLElement {
  const { conversation, question, sentence, tone, place, openTurns, cutTurns, group } = entry
  const notes = entry.facts === null ? [] : factTexts(entry.facts)
  return element(
    'li',
    { class: tone },
    element(
      'div',
      {},
      element('a', { href: `#${place}` }, conversation),
      openTurns > 0 && group !== 'open' && element('span', { class: 'flag' }, 'still running'),
      cutTurns > 0 && element('span', { class: 'flag' }, 'its beginning is missing'),
      question !== null && element('p', { class: 'question' }, printable(question)),
      element('p', {}, phrases(sentence)),
      notes.length > 0 && element('p', { class: 'notes' }, printable(notes.join('; '))),
      element('p', { class: 'faint' }, aboutText(entry)),
    ),
    sizeNode(entry),
  )
}

function aboutText({ agents, turns, from, ms }: IndexEntry): string {
  return [
    ...(agents.length === 0 ? [] : [`agent ${printable(agents.join(', '))}`]),
    count(turns, 'turn'),
    ...(from === null ? [] : [`${instant(from).slice(0, 19)} UTC`]),
    ...(ms === null ? [] : [elapsed(ms)]),
  ].join(', ')
}

/** The share of its rounds in loops, to compare between lines. */
function sizeNode({ rounds, loopRounds, tokens }: IndexEntry): HTMLElement {
  const part = (100 * loopRounds) / Math.max(1, rounds)
  return element(
    'div',
    { class: 'size' },
    element(
      'p',
      {},
      loopRounds === 0
        ? count(rounds, 'round')
        : element('b', { class: 'bad' }, `${percent(loopRounds, rounds)} loop`),
      loopRounds > 0 &&
        element('span', { class: 'faint' }, ` ${loopRounds} of ${count(rounds, 'round')}`),
    ),
    loopRounds > 0 &&
      graphic(
        'svg',
        {
          class: 'share',
          viewBox: '0 0 100 6',
          preserveAspectRatio: 'none',
          'aria-hidden': 'true',
        },
        graphic('rect', { class: 'share-all', width: 100, height: 6 }),
        graphic('rect', { class: 'share-loop', width: part, height: 6 }),
      ),
    tokens > 0 && element('p', { class: 'faint' }, `${number(tokens)} tokens`),
  )
}
