// What the demo shows: both halves line by line as they happen, then one comparison. 80 columns; colour only where the terminal wants it.

import { styleText } from 'node:util'
import { onOneLine } from '../../../shared/text-cut.ts'
import type { Activity } from '../../edge/edge.ts'
import type { LoopEnd } from './plain-loop.ts'
import type { BadModel } from './reflex-model.ts'

type Half = LoopEnd & { requests: number }

export type Screen = ReturnType<typeof createScreen>

export function createScreen(out: NodeJS.WriteStream) {
  const paint = (format: Parameters<typeof styleText>[0], text: string) => styleText(format, text, { stream: out })
  const line = (text = ''): void => {
    out.write(`${text}\n`)
  }
  const roundLine = (round: number, text: string) => line(`  ${String(round).padStart(2)}  ${text}`)

  return {
    title: (text: string) => line(paint('bold', text)),

    half(name: string, what: string): void {
      line()
      line(`${paint('bold', name)}: ${what}`)
    },

    round: (round: number, text: string) => roundLine(round, text),

    end: (text: string) => line(`      ${paint('red', text)}`),

    activity(activity: Activity): void {
      switch (activity.type) {
        case 'turn-started':
        case 'call-finished':
          return
        case 'round-started':
          if (activity.callsLeft === 0) roundLine(activity.round, paint('yellow', 'the model is asked once more, and cannot call a tool'))
          else if (activity.nudged)
            roundLine(activity.round, paint('yellow', 'the model is asked, with the intervention as its newest system message'))
          return
        case 'call-rejected':
          return roundLine(activity.round, `${onOneLine(activity.name)} rejected before execution: ${activity.reason}`)
        case 'intervention-raised':
          line(`      ${paint('yellow', `${activity.intervention.rule}: ${activity.intervention.reason}`)}`)
          return
        case 'tool-started':
          return roundLine(activity.round, `${onOneLine(activity.name)} started`)
        case 'turn-finished':
          line(`      ${paint('green', `${activity.outcome}:`)}`)
          for (const words of wrapped(onOneLine(activity.reply), 72)) line(`      ${words}`)
      }
    },

    comparison(plain: Half, weir: Half): void {
      const rows: [string, string | number, string | number][] = [
        ['', 'without Weir', 'with Weir'],
        ['rounds', plain.rounds, weir.rounds],
        ['model requests', plain.requests, weir.requests],
        ['tokens (4 characters each)', plain.tokens, weir.tokens],
        ['tool starts', plain.toolStarts, weir.toolStarts],
      ]
      line()
      for (const [name, left, right] of rows) line(`  ${name.padEnd(28)}${String(left).padStart(14)}${String(right).padStart(14)}`)
      line()
      line(`  without Weir it was ${plain.end}`)
      line(`  with Weir it ended ${weir.end}`)
    },

    next(bad: BadModel): void {
      line()
      line('Next:')
      if (bad === 'reflex') line('  make demo BAD=stubborn   a model that ignores even the intervention')
      else line('  make demo                a model that heeds the intervention')
      line('  make test                all tests, processes killed and all')
      line('  ARCHITECTURE.md          one call followed through the files')
    },
  }
}

/** Lines of at most `width` characters, broken between words. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
