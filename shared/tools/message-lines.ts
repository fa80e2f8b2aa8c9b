// The lines of a program's output, such as an MCP server. The cost is linear in the output, also for a
// line of many pieces.

const lineEnd = 0x0a
const firstBytes = 4 * 1024

/** `onTooLong`: a line has more than `bytesMax`, and its beginning is dropped. */
export function messageLines(
  bytesMax: number,
  { onLine, onTooLong }: { onLine(line: string): void; onTooLong(): void },
): (piece: Buffer) => void {
  /** The beginning of a line, in the first bytes. Pieces are copied, because small ones have large overheads. */
  let pending = Buffer.alloc(0)
  let pendingBytes = 0

  function keep(piece: Buffer): void {
    const bytes = pendingBytes + piece.length
    if (bytes > pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * pending.length, firstBytes))
      pending.copy(larger, 0, 0, pendingBytes)
      pending = larger
    }
    piece.copy(pending, pendingBytes)
    pendingBytes = bytes
  }

  /** The line with this end. */
  function taken(end: Buffer): string {
    if (pendingBytes === 0) return end.toString()
    keep(end)
    const line = pending.toString('utf8', 0, pendingBytes)
    drop()
    return line
  }

  function drop(): void {
    pendingBytes = 0
    if (pending.length > firstBytes) pending = Buffer.alloc(0)
  }

  return (piece) => {
    let from = 0
    for (let end = piece.indexOf(lineEnd); end >= 0; end = piece.indexOf(lineEnd, from)) {
      const rest = piece.subarray(from, end)
      from = end + 1
      if (pendingBytes + rest.length > bytesMax) {
        drop()
        onTooLong()
        continue
      }
      const line = taken(rest)
      if (line.trim() !== '') onLine(line)
    }
    const rest = piece.subarray(from)
    if (pendingBytes + rest.length > bytesMax) {
      drop()
      onTooLong()
    } else if (rest.length > 0) keep(rest)
  }
}
