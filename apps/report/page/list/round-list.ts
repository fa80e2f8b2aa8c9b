// The list of all rounds. Rows are grouped in chunks, and a chunk is filled when it comes near the
// window. So thousands of rounds cost as much as a few dozen.
// A closed row has exactly the height in the style. So an empty chunk has its final
// height.

import { type Child, fixed, html } from '../../../page/kit/html.ts'
import type { Row } from './rows.ts'

export type RoundList = {
  view(): Child
  /** Replaces all rows, at the next drawing. */
  show(rows: Row[]): void
  /** The present rows, by place. */
  rows(): Row[]
  /** Draws a row anew. */
  changed(place: number): void
  /** Fills the chunk of a row, draws it and returns the row's node. */
  reach(place: number): Element | undefined
  /** Fills everything, for paper. */
  fillAll(): void
  leave(): void
}

/** `filled`: the number of its drawn rows. `drawn`: unchanged since. */
type Chunk = {
  rows: Row[]
  first: number
  filled: number
  drawn: Child
  node: Element | null
  ref: (node: Element | null) => void
}

const chunkRows = 20
const marginPixels = 1200
/**
 * Rows to make in one frame of scrolling. Fast scrolling needs this many, and twice as many would
 * be a visible pause.
 */
const rowsPerFrame = 10

/** `draw`: draws the page. */
export function roundList(
  rowView: (row: Row, place: number) => Child,
  draw: () => void,
): RoundList {
  let shown: Row[] = []
  let chunks: Chunk[] = []
  const near = new Set<Chunk>()
  let frame: number | undefined
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        const chunk = chunks.find(({ node }) => node === target)
        if (chunk === undefined) continue
        if (isIntersecting) near.add(chunk)
        else near.delete(chunk)
      }
      fillSoon()
    },
    { rootMargin: `${marginPixels}px 0px` },
  )

  function fillSoon(): void {
    if (frame !== undefined || near.size === 0) return
    frame = requestAnimationFrame(() => {
      frame = undefined
      const waiting = [...near]
      const seen = waiting.find(isInWindow) ?? waiting[0]
      if (seen !== undefined) fill(seen, seen.filled + rowsPerFrame)
      draw()
      fillSoon()
    })
  }

  function fill(chunk: Chunk, filled: number): void {
    if (filled <= chunk.filled) return
    chunk.filled = Math.min(filled, chunk.rows.length)
    chunk.drawn = undefined
    if (chunk.filled < chunk.rows.length) return
    near.delete(chunk)
    if (chunk.node !== null) watcher.unobserve(chunk.node)
  }

  function newChunk(first: number): Chunk {
    const rows = shown.slice(first, first + chunkRows)
    const chunk: Chunk = {
      rows,
      first,
      filled: 0,
      drawn: undefined,
      node: null,
      ref(node) {
        chunk.node = node
        if (node !== null && chunk.filled < rows.length) watcher.observe(node)
      },
    }
    return chunk
  }

  function chunkView(chunk: Chunk): Child {
    const { rows, first, filled, ref } = chunk
    const style = filled < rows.length ? heightOf(rows) : ''
    chunk.drawn ??= fixed(
      html`<div class="chunk" role="presentation" ref=${ref} style=${style}>
        ${rows.slice(0, filled).map((row, place) => rowView(row, first + place))}
      </div>`,
      first,
    )
    return chunk.drawn
  }

  return {
    view: () =>
      html`<div class="rounds" role="list" aria-label="Rounds">${chunks.map(chunkView)}</div>`,
    show(rows) {
      watcher.disconnect()
      near.clear()
      shown = rows
      chunks = Array.from({ length: Math.ceil(rows.length / chunkRows) }, (_, place) =>
        newChunk(place * chunkRows),
      )
      if (chunks[0] !== undefined) fill(chunks[0], chunkRows)
    },
    rows: () => shown,
    changed(place) {
      const chunk = chunks[Math.floor(place / chunkRows)]
      if (chunk !== undefined) chunk.drawn = undefined
      draw()
    },
    reach(place) {
      const chunk = chunks[Math.floor(place / chunkRows)]
      if (chunk === undefined) return undefined
      fill(chunk, chunkRows)
      draw()
      return chunk.node?.children[place % chunkRows]
    },
    fillAll() {
      for (const chunk of chunks) fill(chunk, chunkRows)
      draw()
    },
    leave() {
      watcher.disconnect()
      near.clear()
      if (frame !== undefined) cancelAnimationFrame(frame)
    },
  }
}

function heightOf(rows: Row[]): string {
  const turns = rows.filter(({ kind }) => kind === 'turn').length
  return `height: calc(${rows.length - turns} * var(--round-height) + ${turns} * var(--turn-height))`
}

function isInWindow({ node }: Chunk): boolean {
  if (node === null) return false
  const { top, bottom } = node.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}
