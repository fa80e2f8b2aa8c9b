// One conversation: the top, the time axis, the list, and the connections between them. This module
// alone keeps the open rows, the selection and the search.

import { type Chart, chart } from './chart.ts'
import type { RecordTable, ReportData, ReportIndex, ShownRound, ShownTurn } from './data.ts'
import { element } from './element.ts'
import { bindKeys } from './keys.ts'
import { recordsView } from './records-view.ts'
import { roundDetails } from './round-details.ts'
import { roundList } from './round-list.ts'
import { rowHead } from './round-row.ts'
import { type Row, rowsOf } from './rows.ts'
import { hasWords, isOfKind, type Kind, wordsIn } from './search.ts'
import { exchange, summary } from './summary.ts'
import { toolbar } from './toolbar.ts'

/** `leave` removes its effects outside of its node. */
export type View = { node: HTMLElement; drawn: () => void; leave: () => void }

/** The open rows, for a view of the same conversation that follows this one. */
export type Kept = { unfolded: Set<string>; opened: Set<string> }

/** The limit of rounds on paper with printed details. */
const printedDetailsMax = 60
/** The width of the lanes on a sheet of A4 or letter. */
const paperPixels = 640

export function conversationView(
  data: ReportData,
  index: ReportIndex,
  readRecords: () => RecordTable,
  { unfolded, opened }: Kept = { unfolded: new Set(), opened: new Set() },
): View {
  const { turns } = data.timeline
  const records = recordsView(readRecords)
  const slowestMs = turns.reduce(
    (most, turn) =>
      turn.rounds.reduce((more, round) => Math.max(more, lastedOf(round, turn.until)), most),
    1,
  )
  let kind: Kind = 'all'
  let words: string[] = []
  let current = -1

  const isOpen = (turn: number, loop: number) => unfolded.has(`${turn}/${loop}`)
  const time: Chart | undefined =
    data.imported !== null
      ? undefined
      : chart(data, { isOpen, onRound: goToRound, onLoop: goToLoop })
  const list = roundList(build)
  const tools = toolbar({
    onKind: (newKind) => find(newKind, words),
    onQuery: (query) => find(kind, wordsIn(query)),
  })

  function show(isForPaper = false): void {
    const isSearched = !isForPaper && (kind !== 'all' || words.length > 0)
    const matches = isSearched
      ? (round: ShownRound) => isOfKind(round, kind) && hasWords(round, words)
      : undefined
    const rows = rowsOf(data, { isOpen, matches })
    list.show(rows)
    current = -1
    tools.found(isSearched ? rows.filter((row) => row.kind === 'round').length : undefined)
  }

  function find(newKind: Kind, newWords: string[]): void {
    kind = newKind
    words = newWords
    show()
  }

  // ── Rows ──

  function build(row: Row): HTMLElement {
    const head = rowHead(data, row, slowestMs)
    const inLoop = row.kind === 'round' && row.loop >= 0
    const item = element('div', { class: `row ${row.kind}-row${inLoop ? ' in-loop' : ''}` }, head)
    if (row.kind === 'loop') head.addEventListener('click', () => toggleLoop(row.turn, row.loop))
    if (row.kind === 'round') {
      if (opened.has(`${row.turn}/${row.round}`)) openRow(item, row)
      head.addEventListener('click', () => toggleRound(item, row))
    }
    if (row.kind === 'turn') {
      const block = records.block(data, (turns[row.turn] as ShownTurn).records)
      if (block !== null) item.append(block)
    }
    head.addEventListener('focus', () => choose(Number(item.dataset.place)))
    return item
  }

  function toggleRound(item: HTMLElement, row: Row & { kind: 'round' }): void {
    const key = `${row.turn}/${row.round}`
    if (opened.delete(key)) {
      item.querySelector('.details')?.remove()
      item.classList.remove('open')
      item.firstElementChild?.setAttribute('aria-expanded', 'false')
      return
    }
    opened.add(key)
    openRow(item, row)
  }

  function openRow(item: HTMLElement, { turn, round }: Row & { kind: 'round' }): void {
    const own = turns[turn]
    const shown = own?.rounds[round]
    if (own === undefined || shown === undefined || item.classList.contains('open')) return
    item.classList.add('open')
    item.firstElementChild?.setAttribute('aria-expanded', 'true')
    item.append(roundDetails(data, own, shown, records))
  }

  function toggleLoop(turn: number, loop: number): void {
    const key = `${turn}/${loop}`
    if (!unfolded.delete(key)) unfolded.add(key)
    show()
    time?.draw()
    go(
      list.rows().findIndex((row) => row.kind === 'loop' && row.turn === turn && row.loop === loop),
    )
  }

  // ── Current position ──

  function choose(place: number): void {
    current = place
    const row = list.rows()[place]
    time?.point(row?.turn ?? 0, row?.kind === 'round' ? row.round : undefined)
  }

  function go(place: number): void {
    const head = list.reach(place)?.querySelector<HTMLElement>('[data-row]')
    if (head == null) return
    head.focus({ preventScroll: true })
    head.scrollIntoView({ block: 'nearest' })
  }

  function move(by: 1 | -1, accepts: (row: Row) => boolean = (row) => row.kind !== 'turn'): void {
    const rows = list.rows()
    for (let place = current + by; place >= 0 && place < rows.length; place += by)
      if (accepts(rows[place] as Row)) return go(place)
  }

  function isRemarkable(row: Row): boolean {
    if (row.kind === 'loop') return true
    const round = row.kind === 'round' ? turns[row.turn]?.rounds[row.round] : undefined
    return round !== undefined && (round.intervention !== null || round.failure !== null)
  }

  function goToRound(turn: number, round: number): void {
    if (kind !== 'all' || words.length > 0) tools.clear()
    go(
      list
        .rows()
        .findIndex((row) => row.kind === 'round' && row.turn === turn && row.round === round),
    )
  }

  function goToLoop(turn: number, loop: number): void {
    if (kind !== 'all' || words.length > 0) tools.clear()
    go(
      list.rows().findIndex((row) => row.kind === 'loop' && row.turn === turn && row.loop === loop),
    )
  }

  // ── On paper ──

  let beforePaper: string[] | undefined

  function print(): void {
    const isShort = turns.reduce((sum, { rounds }) => sum + rounds.length, 0) <= printedDetailsMax
    beforePaper = [...unfolded]
    if (isShort)
      for (const [turn, { loops }] of turns.entries())
        for (const loop of loops.keys()) unfolded.add(`${turn}/${loop}`)
    show(true) // everything: paper does not show the search
    list.fillAll()
    for (const [place, row] of list.rows().entries()) {
      const item =
        row.kind === 'round' && (isShort || isRemarkable(row)) ? list.reach(place) : undefined
      if (item !== undefined) openRow(item, row as Row & { kind: 'round' })
    }
    time?.draw(paperPixels)
  }

  function printed(): void {
    unfolded.clear()
    for (const key of beforePaper ?? []) unfolded.add(key)
    show()
    time?.draw()
  }

  const main = element(
    'main',
    {},
    time?.node,
    exchange(data),
    troubles(data),
    tools.node,
    list.node,
  )
  const node = element('div', { class: 'conversation' }, summary(data, index), main)
  const unbind = bindKeys({
    next: () => move(1),
    previous: () => move(-1),
    nextRemarkable: () => move(1, isRemarkable),
    previousRemarkable: () => move(-1, isRemarkable),
    search: tools.focus,
    clear: tools.clear,
  })
  const resized = new ResizeObserver(() => {
    if (!matchMedia('print').matches) time?.draw()
  })
  show()
  return {
    node,
    drawn() {
      if (time !== undefined) resized.observe(time.node)
      window.addEventListener('beforeprint', print)
      window.addEventListener('afterprint', printed)
    },
    leave() {
      unbind()
      resized.disconnect()
      window.removeEventListener('beforeprint', print)
      window.removeEventListener('afterprint', printed)
    },
  }
}

function lastedOf({ askedAt, endedAt }: ShownRound, until: number): number {
  return askedAt === null ? 0 : (endedAt ?? until) - askedAt
}

/** Messages that opened no turn, and records that a stage could not process. */
function troubles({
  timeline: { messages, troubles, unreadable },
}: ReportData): HTMLElement | null {
  const lines = [
    ...troubles.map(
      ({ stage, reason, topic, partition, offset }) =>
        `${stage} could not process a record: ${reason}${topic === null ? '' : ` (${topic}/${partition}/${offset})`}`,
    ),
    ...messages.map(
      ({ text, messageId, end }) =>
        `A message ${end === null ? 'waits for its turn' : `opened no turn: ${end.reason}`}: ${(text ?? messageId).slice(0, 200)}`,
    ),
    ...(unreadable === 0
      ? []
      : [
          `Records that could not be read: ${unreadable} (encrypted without the key of its tenant, written by a newer Weir, or damaged)`,
        ]),
  ]
  if (lines.length === 0) return null
  return element(
    'section',
    { class: 'troubles', 'aria-label': 'Also' },
    element(
      'ul',
      {},
      lines.map((line) => element('li', {}, line)),
    ),
  )
}
