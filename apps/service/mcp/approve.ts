// `weir mcp approve`: shows the tools of MCP servers that changed after their first use, as a difference,
// and pins a change that a person accepts. Exit codes: 0 done, 1 there is no such change.

import type { Writable } from 'node:stream'
import { acceptPin, heldPins, pinId, type ToolPin } from '../../../shared/tools/mcp/tool-pins.ts'
import { commandSettings, type SettingFlags } from '../../terminal/command-settings.ts'
import { printable, printableLines } from '../../terminal/text/printable.ts'

/** `ids`: those of the list. Throws `settings.invalid` and `output.unwritable`. */
export function approveTools(ids: readonly string[], flags: SettingFlags, out: Writable): 0 | 1 {
  const { dataFolder } = commandSettings(flags)
  const held = heldPins(dataFolder)
  if (ids.length === 0) {
    if (held.length === 0) out.write('No tool of an MCP server changed after its first use.\n')
    for (const pin of held)
      out.write(
        `${difference(pin)}  weir mcp approve ${pinId(pin)} offers the tool in its new form.\n\n`,
      )
    return 0
  }
  let code: 0 | 1 = 0
  for (const id of ids) {
    const pin = held.find((one) => pinId(one) === id)
    if (pin !== undefined && acceptPin(dataFolder, id))
      out.write(`${difference(pin)}  The new form is pinned.\n\n`)
    else {
      out.write(
        `There is no changed tool ${printable(id)}: weir mcp approve lists them. A tool may have changed again.\n`,
      )
      code = 1
    }
  }
  return code
}

function difference({ server, tool, pinned, changed }: ToolPin): string {
  const [before, after] = [pinned, changed].map((declared) => linesOf(declared ?? {}))
  const lines = changedLines(before ?? [], after ?? [])
  return `${printable(server)}: ${printable(tool)}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** A text has its own lines, because a description may be long. */
function linesOf(declared: object): string[] {
  return Object.entries(declared)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
      return [`${name}:`, ...printableLines(text).map((line) => `  ${line}`)]
    })
}

/** The lines between the common beginning and the common end. */
function changedLines(before: readonly string[], after: readonly string[]): string[] {
  const shorter = Math.min(before.length, after.length)
  let begin = 0
  while (begin < shorter && before[begin] === after[begin]) begin += 1
  let end = 0
  while (end < shorter - begin && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [
    ...before.slice(begin, before.length - end).map((line) => `- ${line}`),
    ...after.slice(begin, after.length - end).map((line) => `+ ${line}`),
  ]
}
