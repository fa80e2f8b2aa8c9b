// Where lines go: a terminal with a live line at its bottom, or a file or pipe without one. The
// live line is the only thing that is ever taken back.

import { painted } from './paint.ts'
import type { Layout, Line } from './transcript.ts'

export type Screen = {
  /** Of this moment: a terminal may be made wider. */
  layout(): Layout
  show(lines: Line[]): void
  /** What the live line says from now on; undefined: there is none. */
  live(line: Line | undefined): void
  /** Text as it is, on lines of its own. */
  print(text: string): void
}

/** Wider ones are hard to read. */
const columnsMax = 100
/** Narrower ones break words. */
const columnsMin = 20

const clearLine = '\r\u001b[K'

/**
 * Colours where the terminal has them and NO_COLOR does not forbid them. `environment`: TERM=dumb
 * has no live line.
 */
export function createScreen(out: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Screen {
  const isLive = out.isTTY === true && environment.TERM !== 'dumb'
  let shown = ''
  let wanted: Line | undefined
  let isOpen = false
  out.on('error', () => {}) // whoever read it has gone; what is shown decides nothing

  function erase(): void {
    if (shown !== '') out.write(clearLine)
    shown = ''
  }

  function draw(): void {
    const next = wanted === undefined ? '' : painted(out, wanted.tone, wanted.text)
    if (next === shown) return
    if (shown !== '' && next.startsWith(shown)) out.write(next.slice(shown.length))
    else out.write(`${shown === '' ? '' : clearLine}${next}`)
    shown = next
  }

  return {
    layout: () => {
      // A live line that fills its line to the end would be broken by the terminal, and then not be
      // taken back whole.
      const columns = isLive
        ? Math.max(columnsMin, Math.min(out.columns || 80, columnsMax)) - 1
        : Number.POSITIVE_INFINITY
      return { columns, isLive }
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
      wanted = isLive ? line : undefined
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
