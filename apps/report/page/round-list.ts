// The list of all rounds. Rows are grouped in chunks, and a chunk is filled when it comes near the
// window. So thousands of rounds cost as much as a few dozen.
// ROUND-LIST-1. A closed row has exactly the height in the style. So an empty chunk has its final
//     height.

import { element, fill } from './element.ts'
import type { Row } from './rows.ts'

export type RoundList = {
  node: HTMLElement
  /** Replaces all rows. */
  show(rows: Row[]): void
  /** The present rows, by place. */
  rows(): Row[]
  /** Fills a row, scrolls to it and returns its node. */
  reach(place: number): HTMLElement | undefined
  /** Fills everything, for paper. */
  fillAll(): void
}

const chunkRows = 20
const marginPixels = 1200
/**
 * Rows to make in one frame of scrolling. Fast scrolling needs this many, and twice as many would
 * be a visible pause.
 */
const rowsPerFrame = 10

/** `build` makes the node of a row. */
export function roundList(build: (row: Row) => HTMLElement): RoundList {
  const node = element('div', { class: 'rounds', role: 'list', 'aria-label': 'Rounds' })
  let shown: Row[] = []
  let chunks: HTMLElement[] = []
  const near = new Set<HTMLElement>()
  let frame: number | undefined
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) near.add(target as HTMLElement)
        else near.delete(target as HTMLElement)
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
      const seen = waiting.find((chunk) => isInWindow(chunk)) ?? waiting[0]
      if (seen !== undefined) fillChunk(seen, rowsPerFrame)
      fillSoon()
    })
  }

  /** `most`: the limit of rows; the others come in the next frames. */
  function fillChunk(chunk: HTMLElement, most = chunkRows): void {
    const first = chunks.indexOf(chunk) * chunkRows
    const rows = shown.slice(first, first + chunkRows)
    const known = chunk.childElementCount
    for (const [index, row] of rows.slice(known, known + most).entries()) {
      const item = build(row)
      item.setAttribute('role', 'listitem')
      item.dataset.place = String(first + known + index)
      chunk.append(item)
    }
    if (chunk.childElementCount < rows.length) return
    chunk.style.height = ''
    watcher.unobserve(chunk)
    near.delete(chunk)
  }

  return {
    node,

    show(rows) {
      watcher.disconnect()
      near.clear()
      shown = rows
      chunks = []
      for (let first = 0; first < rows.length; first += chunkRows) {
        const chunk = element('div', { class: 'chunk', role: 'presentation' })
        const heights = rows
          .slice(first, first + chunkRows)
          .map(({ kind }) => `var(--${kind}-height)`)
        const turns = heights.filter((height) => height.includes('turn')).length
        chunk.style.height = `calc(${heights.length - turns} * var(--round-height) + ${turns} * var(--turn-height))`
        chunks.push(chunk)
      }
      fill(node, chunks)
      if (chunks[0] !== undefined) fillChunk(chunks[0])
      for (const chunk of chunks) watcher.observe(chunk)
    },

    rows: () => shown,

    reach(place) {
      const chunk = chunks[Math.floor(place / chunkRows)]
      if (chunk === undefined) return undefined
      fillChunk(chunk)
      const found = chunk.children[place % chunkRows]
      return found instanceof HTMLElement ? found : undefined
    },

    fillAll() {
      for (const chunk of chunks) fillChunk(chunk)
    },
  }
}

function isInWindow(chunk: HTMLElement): boolean {
  const { top, bottom } = chunk.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}
