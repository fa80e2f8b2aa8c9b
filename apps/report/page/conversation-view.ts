// One conversation: the top, the time axis, the list, and the connections between them. This module
// alone keeps the open rows, the selection and the search.

import { type Chart, chart } from './chart.ts'
import type { RecordTable, ReportData, ReportIndex, ShownRound, ShownTurn } from './data.ts'
import { element } from './element.ts'
import { bindKeys } from './keys.ts'
import { type RecordsView, recordsView } from './records-view.ts'
import { roundDetails } from './round-details.ts'
import { type RoundList, roundList } from './round-list.ts'
import { rowHead } from './round-row.ts'
import { type Row, rowsOf } from './rows.ts'
import { hasWords, isOfKind, type Kind, wordsIn } from './search.ts'
import { exchange, summary } from './summary.ts'
import { toolbar } from './toolbar.ts'

/** `leave` removes its effects outside of its node. */
export type View = { node: HTMLElement; drawn: () => void; leave: () => void }

/** The open rows, for a view of the same conversation that follows this one. */
export type Kept = { unfolded: Set<string>; opened: Set<string> }

type Search = { kind: Kind; words: string[] }

const everything: Search = { kind: 'all', words: [] }
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
  let search = everything

  const isOpen = (turn: number, loop: number) => unfolded.has(`${turn}/${loop}`)
  const time: Chart | undefined =
    data.imported !== null
      ? undefined
      : chart(data, {
          isOpen,
          onRound: (turn, round) => goTo(isRoundAt(turn, round)),
          onLoop: (turn, loop) => goTo(isLoopAt(turn, loop)),
        })
  const rows = createRows(data, recordsView(readRecords), {
    opened,
    onLoop: toggleLoop,
    onFocus: (place) => position.choose(place),
  })
  const list = roundList(rows.build)
  const position = createPosition(list, (row) =>
    time?.point(row?.turn ?? 0, row?.kind === 'round' ? row.round : undefined),
  )
  const tools = toolbar({
    onKind: (kind) => find({ ...search, kind }),
    onQuery: (query) => find({ ...search, words: wordsIn(query) }),
  })
  const isRemarkable = remarkableIn(turns)

  function show(shown = search): void {
    const matches = matcherOf(shown)
    const found = rowsOf(data, { isOpen, matches })
    list.show(found)
    position.clear()
    tools.found(matches && found.filter(({ kind }) => kind === 'round').length)
  }

  function find(newSearch: Search): void {
    search = newSearch
    show()
  }

  function goTo(accepts: (row: Row) => boolean): void {
    if (matcherOf(search) !== undefined) tools.clear()
    position.go(list.rows().findIndex(accepts))
  }

  function toggleLoop(turn: number, loop: number): void {
    const key = `${turn}/${loop}`
    if (!unfolded.delete(key)) unfolded.add(key)
    show()
    time?.draw()
    position.go(list.rows().findIndex(isLoopAt(turn, loop)))
  }

  // ── On paper ──

  let beforePaper: string[] = []

  function print(): void {
    const isShort = turns.reduce((sum, { rounds }) => sum + rounds.length, 0) <= printedDetailsMax
    beforePaper = [...unfolded]
    if (isShort)
      for (const [turn, { loops }] of turns.entries())
        for (const loop of loops.keys()) unfolded.add(`${turn}/${loop}`)
    show(everything) // paper does not show the search
    list.fillAll()
    for (const [place, row] of list.rows().entries()) {
      if (row.kind !== 'round' || !(isShort || isRemarkable(row))) continue
      const item = list.reach(place)
      if (item !== undefined) rows.open(item, row)
    }
    time?.draw(paperPixels)
  }

  function printed(): void {
    unfolded.clear()
    for (const key of beforePaper) unfolded.add(key)
    show()
    time?.draw()
  }

  const parts = [time?.node, exchange(data), troubles(data), tools.node, list.node]
  const main = element('main', {}, parts)
  const node = element('div', { class: 'conversation' }, summary(data, index), main)
  const unbind = bindKeys({
    next: () => position.move(1, isNoTurn),
    previous: () => position.move(-1, isNoTurn),
    nextRemarkable: () => position.move(1, isRemarkable),
    previousRemarkable: () => position.move(-1, isRemarkable),
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

type RoundRow = Row & { kind: 'round' }
type RowActions = {
  /** The rounds with details. */
  opened: Set<string>
  onLoop: (turn: number, loop: number) => void
  onFocus: (place: number) => void
}

/** The nodes of the rows. A click opens and closes the details of a round. */
function createRows(
  data: ReportData,
  records: RecordsView,
  { opened, onLoop, onFocus }: RowActions,
): { build: (row: Row) => HTMLElement; open: (item: HTMLElement, row: RoundRow) => void } {
  const { turns } = data.timeline
  const slowestMs = slowestOf(turns)

  function build(row: Row): HTMLElement {
    const head = rowHead(data, row, slowestMs)
    const inLoop = row.kind === 'round' && row.loop >= 0
    const item = element('div', { class: `row ${row.kind}-row${inLoop ? ' in-loop' : ''}` }, head)
    if (row.kind === 'loop') head.addEventListener('click', () => onLoop(row.turn, row.loop))
    if (row.kind === 'round') {
      if (opened.has(`${row.turn}/${row.round}`)) open(item, row)
      head.addEventListener('click', () => toggle(item, row))
    }
    if (row.kind === 'turn') {
      const block = records.block(data, (turns[row.turn] as ShownTurn).records)
      if (block !== null) item.append(block)
    }
    head.addEventListener('focus', () => onFocus(Number(item.dataset.place)))
    return item
  }

  function toggle(item: HTMLElement, row: RoundRow): void {
    const key = `${row.turn}/${row.round}`
    if (opened.delete(key)) {
      item.querySelector('.details')?.remove()
      item.classList.remove('open')
      item.firstElementChild?.setAttribute('aria-expanded', 'false')
      return
    }
    opened.add(key)
    open(item, row)
  }

  function open(item: HTMLElement, { turn, round }: RoundRow): void {
    const own = turns[turn]
    const shown = own?.rounds[round]
    if (own === undefined || shown === undefined || item.classList.contains('open')) return
    item.classList.add('open')
    item.firstElementChild?.setAttribute('aria-expanded', 'true')
    item.append(roundDetails(data, own, shown, records))
  }

  return { build, open }
}

/** The current row of the list: its place, or -1. */
function createPosition(list: RoundList, onRow: (row: Row | undefined) => void) {
  let current = -1

  function go(place: number): void {
    const head = list.reach(place)?.querySelector<HTMLElement>('[data-row]')
    if (head == null) return
    head.focus({ preventScroll: true })
    head.scrollIntoView({ block: 'nearest' })
  }

  return {
    go,
    choose(place: number): void {
      current = place
      onRow(list.rows()[place])
    },
    clear(): void {
      current = -1
    },
    move(by: 1 | -1, accepts: (row: Row) => boolean): void {
      const rows = list.rows()
      for (let place = current + by; place >= 0 && place < rows.length; place += by)
        if (accepts(rows[place] as Row)) return go(place)
    },
  }
}

/** Undefined: every round matches. */
function matcherOf({ kind, words }: Search): ((round: ShownRound) => boolean) | undefined {
  if (kind === 'all' && words.length === 0) return undefined
  return (round) => isOfKind(round, kind) && hasWords(round, words)
}

function isRoundAt(turn: number, round: number): (row: Row) => boolean {
  return (row) => row.kind === 'round' && row.turn === turn && row.round === round
}

function isLoopAt(turn: number, loop: number): (row: Row) => boolean {
  return (row) => row.kind === 'loop' && row.turn === turn && row.loop === loop
}

function isNoTurn({ kind }: Row): boolean {
  return kind !== 'turn'
}

function remarkableIn(turns: ShownTurn[]): (row: Row) => boolean {
  return (row) => {
    if (row.kind === 'loop') return true
    const round = row.kind === 'round' ? turns[row.turn]?.rounds[row.round] : undefined
    return round !== undefined && (round.intervention !== null || round.failure !== null)
  }
}

function slowestOf(turns: ShownTurn[]): number {
  return turns.reduce(
    (most, turn) =>
      turn.rounds.reduce((more, round) => Math.max(more, lastedOf(round, turn.until)), most),
    1,
  )
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
