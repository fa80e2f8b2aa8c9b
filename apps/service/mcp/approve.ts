// `weir mcp approve`: shows the tools of MCP servers that changed after their first use, as a difference,
// and pins a change that a person accepts. Exit codes: 0 done, 1 there is no such change.

import type { Writable } from 'node:stream'
import { acceptPin, heldPins } from '../../../shared/tools/mcp/tool-pins.ts'
import { commandSettings, type SettingFlags } from '../../terminal/command-settings.ts'
import { printable } from '../../terminal/text/printable.ts'
import { type ShownPin, shownPin } from './shown-pin.ts'

/**
 * `ids`: those of the list. Throws `settings.invalid`, and for ids `folder.foreign` and
 * `output.unwritable`.
 */
export function approveTools(ids: readonly string[], flags: SettingFlags, out: Writable): 0 | 1 {
  const { dataFolder } = commandSettings(flags)
  const held = heldPins(dataFolder).map(shownPin)
  if (ids.length === 0) {
    if (held.length === 0) out.write('No tool of an MCP server changed after its first use.\n')
    for (const pin of held)
      out.write(`${difference(pin)}  weir mcp approve ${pin.id} accepts the new form.\n\n`)
    return 0
  }
  let code: 0 | 1 = 0
  for (const id of ids) {
    const pin = held.find((one) => one.id === id)
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

function difference({ server, tool, lines }: ShownPin): string {
  return `${server}: ${tool}\n${lines.map((line) => `  ${line}\n`).join('')}`
}
