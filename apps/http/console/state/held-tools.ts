// The tools of MCP servers that changed after their first use, as the page shows them.

import { limits } from '../../../../shared/contract/limits.ts'
import { heldPins } from '../../../../shared/tools/mcp/tool-pins.ts'
import { shownPin } from '../../../service/mcp/shown-pin.ts'
import type { HeldToolsData } from '../page/operator-state.ts'

/** The page shows so much of one difference. */
const differenceBytesMax = 64 * 1024

export function heldToolsData(dataFolder: string): HeldToolsData {
  const held = heldPins(dataFolder)
  const shown = held.slice(0, limits.consoleHeldToolsMax).map((pin) => {
    const { lines, ...tool } = shownPin(pin)
    const few = linesWithin(lines, differenceBytesMax)
    return { ...tool, lines: few, hasMore: few.length < lines.length }
  })
  return { tools: shown, more: held.length - shown.length }
}

function linesWithin(lines: readonly string[], bytesMax: number): string[] {
  let bytes = 0
  const end = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line)
    return bytes > bytesMax
  })
  return end === -1 ? [...lines] : lines.slice(0, end)
}
