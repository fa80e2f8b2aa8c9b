// The lines of a program's output, such as an MCP server. The cost is linear in the output, also for a line of many pieces.

/** `onTooLong`: a line has more than `charactersMax`, and its beginning is dropped. */
export function messageLines(
  charactersMax: number,
  { onLine, onTooLong }: { onLine(line: string): void; onTooLong(): void },
): (piece: string) => void {
  let pending = ''
  return (piece) => {
    let from = 0
    // Only the new piece is searched: a search in `pending` copies all of it.
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      const line = pending + piece.slice(from, end)
      pending = ''
      from = end + 1
      if (line.trim() !== '') onLine(line)
    }
    pending += piece.slice(from)
    if (pending.length <= charactersMax) return
    pending = ''
    onTooLong()
  }
}
