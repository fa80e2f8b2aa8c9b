// Prints the screen of `weir scan` on a terminal.

import { painted } from '../../terminal/paint.ts'
import { printable } from '../../terminal/text/printable.ts'
import type { ScanScreen } from './scan-screen.ts'

export function printScan(screen: ScanScreen, out: NodeJS.WriteStream): void {
  const line = (text: string, tone: Parameters<typeof painted>[1] = 'plain') =>
    out.write(`${text === '' ? '' : painted(out, tone, printable(text))}\n`)
  const { agents, verdict, loops, lists, notes, commands } = screen
  for (const text of agents) line(text)
  if (agents.length > 0) line('')
  line(verdict.text, verdict.isBad ? 'bad' : 'good')
  for (const { title, reason, file } of loops) {
    line('')
    line(title)
    line(`   ${reason}`)
    line(`   ${file}`, 'faint')
  }
  for (const { title, lines } of lists) {
    line('')
    line(`${title}:`)
    for (const text of lines) line(`  ${text}`)
  }
  if (notes.length > 0) line('')
  for (const text of notes) line(text, 'faint')
  if (commands.length > 0) line('')
  for (const text of commands) line(text)
}
