// A tool of an MCP server that changed after its first use, for a person: the lines that differ.

import { commonEnds } from '../../../shared/lib/common-ends.ts'
import { instructionsName, pinId, type ToolPin } from '../../../shared/tools/mcp/tool-pins.ts'
import { printable, printableLines } from '../../terminal/text/printable.ts'

/** `lines`: those that go begin with `-`, new ones with `+`. */
export type ShownPin = { id: string; server: string; tool: string; lines: string[] }

export function shownPin(pin: ToolPin): ShownPin {
  const { server, tool, pinned, changed = {} } = pin
  return {
    id: pinId(pin),
    server: printable(server),
    tool: tool === instructionsName ? 'the instructions of the server' : printable(tool),
    lines: changedLines(linesOf(pinned), linesOf(changed)),
  }
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
  const [begin, end] = commonEnds(before, after)
  return [
    ...before.slice(begin, before.length - end).map((line) => `- ${line}`),
    ...after.slice(begin, after.length - end).map((line) => `+ ${line}`),
  ]
}
