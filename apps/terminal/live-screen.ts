// The output for lines: a terminal with a live line at its bottom, or a file or pipe without one.
// Only the live line is ever erased.

import { painted } from './paint.ts'
import type { Layout, Line } from './text/transcript.ts'

export type Screen = {
  /** The present layout: a terminal may be resized. */
  layout(): Layout
  show(lines: Line[]): void
  /** Sets the live line. Undefined: removes it. */
  live(line: Line | undefined): void
  /** Prints text unchanged, on separate lines. */
  print(text: string): void
}

/** Wider ones are hard to read. */
const columnsMax = 100
/** Narrower ones break words. */
const columnsMin = 20

const clearLine = '\r\u001b[K'

/**
 * Uses colours if the terminal has them and NO_COLOR is not set. `environment`: with TERM=dumb,
 * there is no live line.
 */
export function createScreen(out: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Screen {
  const isTerminal = out.isTTY === true
  const isLive = isTerminal && environment.TERM !== 'dumb'
  let shown = ''
  let current: Line | undefined
  let isOpen = false
  out.on('error', () => {}) // the reader has gone; the screen decides nothing

  function erase(): void {
    if (shown !== '') out.write(clearLine)
    shown = ''
  }

  function draw(): void {
    const next = current === undefined ? '' : painted(out, current.tone, current.text)
    if (next === shown) return
    if (shown !== '' && next.startsWith(shown)) out.write(next.slice(shown.length))
    else out.write(`${shown === '' ? '' : clearLine}${next}`)
    shown = next
  }

  return {
    layout: () => {
      // One column less: the terminal would break a full live line, and clearLine would erase only
      // its last part.
      const columns = isLive
        ? Math.max(columnsMin, Math.min(out.columns || 80, columnsMax)) - 1
        : Number.POSITIVE_INFINITY
      return { columns, isLive, isTerminal }
    },

    show(lines) {
      if (lines.length === 0) return
      erase()
      for (const { text, tone, isOpen: goesOn = false } of lines) {
        out.write(`${painted(out, tone, text)}${goesOn ? '' : '\n'}`)
        isOpen = goesOn && (text !== '' || isOpen)
      }
    },

    live(line) {
      current = isLive ? line : undefined
      draw()
    },

    print(text) {
      erase()
      out.write(`${isOpen ? '\n' : ''}${text}${text.endsWith('\n') ? '' : '\n'}`)
      isOpen = false
      draw()
    },
  }
}
