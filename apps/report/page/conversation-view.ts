// One conversation: the top, the time axis, the list, and the connections between them. This module
// alone changes the open rows, the selection and the search.

import { render } from 'preact'
import { type Child, fixed, html } from '../../page/kit/html.ts'
import { timeAxis } from './axis/time-axis.ts'
import type { RecordTable, ReportData, ReportIndex, ShownRound, ShownTurn } from './data.ts'
import { type RecordsView, recordsView } from './details/records-view.ts'
import { roundDetails } from './details/round-details.ts'
import { type Actions, bindKeys } from './keys.ts'
import { helpDialog } from './list/help.ts'
import { roundList } from './list/round-list.ts'
import { rowHead } from './list/round-row.ts'
import { type Row, rowsOf } from './list/rows.ts'
import { everything, hasWords, isOfKind, isSearch, type Search, wordsIn } from './list/search.ts'
import { type Toolbar, toolbar } from './list/toolbar.ts'
import { exchange, summary } from './top/summary.ts'

/** `leave` removes its effects outside of its node. */
export type View = { leave: () => void }

/** The user's choices, which the next view of the same conversation continues. */
export type Kept = {
  unfolded: Set<string>
  opened: Set<string>
  search: Search
  isHelpOpen: boolean
}

export function nothingKept(): Kept {
  return { unfolded: new Set(), opened: new Set(), search: everything, isHelpOpen: false }
}

export type Shown = {
  data: ReportData
  index: ReportIndex
  readRecords: () => RecordTable
  /** The place of the view. */
  node: HTMLElement
  kept: Kept
}

/** The limit of rounds on paper with printed details. */
const printedDetailsMax = 60
/** The width of the lanes on a sheet of A4 or letter. */
const paperPixels = 640

export function conversationView({ data, index, readRecords, node, kept }: Shown): View {
  const { turns } = data.timeline
  const { unfolded, opened } = kept
  const top = fixed(summary(data, index))
  const middle = fixed([exchange(data), troubles(data)])
  const isRemarkable = remarkableIn(turns)
  const isOpen = (turn: number, loop: number) => unfolded.has(`${turn}/${loop}`)
  const axis =
    data.imported !== null
      ? undefined
      : timeAxis(data, {
          isOpen,
          onRound: (turn, round) => goTo(isRoundAt(turn, round)),
          onLoop: (turn, loop) => goTo(isLoopAt(turn, loop)),
        })
  const paper = onPaper(turns, { unfolded, isRemarkable })
  const rowView = rowsOfPage(data, recordsView(readRecords, data), {
    hasDetails: (row) => opened.has(keyOf(row)) || paper.hasDetails(row),
    onToggle: toggle,
    onFocus(place) {
      current = place
      draw()
    },
  })
  const list = roundList(rowView, draw)
  const bar = searchBar(kept, { onSearch: () => show(), onHelp: () => help(true) })
  let found: number | undefined
  /** The place of the current row in the list; -1: none. */
  let current = -1
  let axisWidth = 0

  // ── Drawing ──

  function draw(): void {
    const row = list.rows()[current]
    const pointed = row?.kind === 'round' ? row : undefined
    const time = axis?.view(paper.isOn() ? paperPixels : axisWidth, pointed)
    render(
      html`<div class="conversation">
        ${top}
        <main>${[time, middle, bar.view(kept.search.kind, found), list.view()]}</main>
        ${kept.isHelpOpen && helpDialog(() => help(false))}
      </div>`,
      node,
    )
  }

  function help(isOpen: boolean): void {
    kept.isHelpOpen = isOpen
    draw()
  }

  // ── The list ──

  function show(shown = kept.search): void {
    const matches = matcherOf(shown)
    const rows = rowsOf(data, { isOpen, matches })
    list.show(rows)
    current = -1
    found = matches && rows.filter(({ kind }) => kind === 'round').length
    draw()
  }

  function find(search: Search): void {
    kept.search = search
    show()
  }

  /** False: all rounds are shown already. */
  function clear(): boolean {
    const isChanged = bar.empty() || isSearch(kept.search)
    if (isChanged) find(everything)
    return isChanged
  }

  function toggle(row: Row, place: number): void {
    if (row.kind === 'turn') return
    const open = row.kind === 'loop' ? unfolded : opened
    if (!open.delete(keyOf(row))) open.add(keyOf(row))
    if (row.kind === 'round') return list.changed(place)
    axis?.changed()
    show()
    go(list.rows().findIndex(isLoopAt(row.turn, row.loop)))
  }

  function goTo(accepts: (row: Row) => boolean): void {
    clear()
    go(list.rows().findIndex(accepts))
  }

  function go(place: number): void {
    const head = list.reach(place)?.querySelector<HTMLElement>('[data-row]')
    if (head == null) return
    head.focus({ preventScroll: true })
    head.scrollIntoView({ block: 'nearest' })
  }

  function move(by: 1 | -1, accepts: (row: Row) => boolean): void {
    const rows = list.rows()
    for (let place = current + by; place >= 0 && place < rows.length; place += by)
      if (accepts(rows[place] as Row)) return go(place)
  }

  function print(): void {
    paper.begin()
    axis?.changed()
    show(everything) // paper does not show the search
    list.fillAll()
  }

  function printed(): void {
    paper.end()
    axis?.changed()
    show()
  }

  show()
  const unbind = bindPage(node, {
    next: () => move(1, isNoTurn),
    previous: () => move(-1, isNoTurn),
    nextRemarkable: () => move(1, isRemarkable),
    previousRemarkable: () => move(-1, isRemarkable),
    search: bar.focus,
    help: () => help(true),
    clear,
    print,
    printed,
    onWidth(width) {
      axisWidth = width
      draw()
    },
  })
  return {
    leave() {
      unbind()
      bar.leave()
      list.leave()
    },
  }
}

type SearchActions = { onSearch: () => void; onHelp: () => void }

/** Keeps a half-typed text before the search begins. */
function searchBar(kept: Kept, { onSearch, onHelp }: SearchActions): Toolbar {
  return toolbar({
    onKind(kind) {
      kept.search = { ...kept.search, kind }
      onSearch()
    },
    onTyped(query) {
      kept.search = { ...kept.search, query }
    },
    onQuiet: onSearch,
    onHelp,
  })
}

/** `onWidth`: of the time axis. */
type PageActions = Actions & {
  print: () => void
  printed: () => void
  onWidth: (width: number) => void
}

/** Returns a function that removes the listeners. */
function bindPage(node: HTMLElement, actions: PageActions): () => void {
  const { print, printed, onWidth } = actions
  const unbind = bindKeys(actions)
  const resized = new ResizeObserver(([entry]) => {
    if (entry !== undefined && !matchMedia('print').matches)
      onWidth(Math.max(120, entry.target.clientWidth))
  })
  const canvas = node.querySelector('.canvas')
  if (canvas !== null) resized.observe(canvas)
  window.addEventListener('beforeprint', print)
  window.addEventListener('afterprint', printed)
  return () => {
    unbind()
    resized.disconnect()
    window.removeEventListener('beforeprint', print)
    window.removeEventListener('afterprint', printed)
  }
}

type RowActions = {
  hasDetails: (row: Row) => boolean
  onToggle: (row: Row, place: number) => void
  onFocus: (place: number) => void
}

function rowsOfPage(
  data: ReportData,
  records: RecordsView,
  { hasDetails, onToggle, onFocus }: RowActions,
): (row: Row, place: number) => Child {
  const { turns } = data.timeline
  const slowestMs = data.imported !== null ? null : slowestOf(turns)
  return (row, place) => {
    const turn = turns[row.turn] as ShownTurn
    const round = row.kind === 'round' ? turn.rounds[row.round] : undefined
    const isOpened = round !== undefined && hasDetails(row)
    const inLoop = row.kind === 'round' && row.loop >= 0 ? ' in-loop' : ''
    const onClick = () => onToggle(row, place)
    return html`<div
      class=${`row ${row.kind}-row${inLoop}${isOpened ? ' open' : ''}`} role="listitem"
      key=${`${row.kind}/${keyOf(row)}`} data-place=${place}
    >
      ${rowHead(data, row, { slowestMs, isOpened, onClick, onFocus: () => onFocus(place) })}
      ${row.kind === 'turn' && records.block(turn.records)}
      ${isOpened && roundDetails(data, turn, round, records)}
    </div>`
  }
}

type PaperOptions = { unfolded: Set<string>; isRemarkable: (row: Row) => boolean }

/** On paper, a short conversation has no folded loop, and all details. */
function onPaper(turns: ShownTurn[], { unfolded, isRemarkable }: PaperOptions) {
  const isShort = turns.reduce((sum, { rounds }) => sum + rounds.length, 0) <= printedDetailsMax
  let before: string[] | undefined
  return {
    isOn: () => before !== undefined,
    hasDetails: (row: Row) => before !== undefined && (isShort || isRemarkable(row)),
    begin(): void {
      before = [...unfolded]
      if (!isShort) return
      for (const [turn, { loops }] of turns.entries())
        for (const loop of loops.keys()) unfolded.add(`${turn}/${loop}`)
    },
    end(): void {
      unfolded.clear()
      for (const key of before ?? []) unfolded.add(key)
      before = undefined
    },
  }
}

function keyOf(row: Row): string {
  if (row.kind === 'turn') return `${row.turn}`
  return `${row.turn}/${row.kind === 'round' ? row.round : row.loop}`
}

/** Undefined: every round matches. */
function matcherOf(search: Search): ((round: ShownRound) => boolean) | undefined {
  if (!isSearch(search)) return undefined
  const { kind } = search
  const words = wordsIn(search.query)
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
function troubles({ timeline: { messages, troubles, unreadable } }: ReportData): Child {
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
  return html`<section class="troubles" aria-label="Also">
    <ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>
  </section>`
}
