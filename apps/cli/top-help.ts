// The help of weir itself, without commander: loading commander costs as much as Node's own start.
// TOP-HELP-1. The text equals commander's byte for byte at each width, so both read command-list.ts.

import { commandGroups, programEnd, programOptions, programText } from './command-list.ts'

/** The words that show it. After the name of a command, `--help` is of that command. */
const helpWords = new Set(['--help', '-h', 'help'])

export function asksForTopHelp([first, ...rest]: readonly string[]): boolean {
  return first !== undefined && rest.length === 0 && helpWords.has(first)
}

/** `width`: the columns of the terminal. Commander has 80 where there is none. */
export function topHelp(width = 80): string {
  const sections = [{ heading: 'Options:', items: programOptions }, ...commandGroups()]
  const termWidth = Math.max(...sections.flatMap(({ items }) => items.map(([term]) => term.length)))
  const lines = ['Usage: weir [options] [command]', '', ...wrapped(programText, width), '']
  for (const { heading, items } of sections) {
    lines.push(heading)
    for (const [term, description] of items) {
      const [first, ...rest] = wrapped(description, width - termWidth - 4)
      lines.push(`  ${term.padEnd(termWidth)}  ${first}`)
      for (const line of rest) lines.push(`${' '.repeat(termWidth + 4)}${line}`)
    }
    lines.push('')
  }
  return `${lines.join('\n')}${programEnd}\n`
}

/** Below this width commander leaves lines whole. */
const wrapWidthMin = 40

function wrapped(text: string, width: number): string[] {
  if (width < wrapWidthMin) return [text]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
