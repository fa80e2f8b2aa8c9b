// Removes fenced code from a growing text: code may repeat for good reasons.

/** The pieces of a text outside fences. `isNew`: a fence stands before it. */
export type OpenText = { text: string; isNew: boolean }

/** The characters of a line that decide whether it is a fence. */
const headChars = 16
const fence = /^[\s>]*(`{3}|~{3})/

export class FenceLines {
  /** The mark of the open fence; undefined: none is open. */
  private open: string | undefined
  /** The beginning of the current line. */
  private head = ''
  /** The current line is a fence. */
  private isFence = false
  private hasGap = false

  /** Adds text. Returns its pieces outside fences, in order. */
  add(text: string): OpenText[] {
    return this.isFence || mayHaveFence(this.head, text) ? this.byLine(text) : this.whole(text)
  }

  private whole(text: string): OpenText[] {
    this.head = headAfter(this.head, text)
    if (this.open === undefined) return [this.piece(text)]
    this.hasGap = true
    return []
  }

  private byLine(text: string): OpenText[] {
    const pieces: OpenText[] = []
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at)
      const line = text.slice(at, end < 0 ? text.length : end + 1)
      this.head = headOf(this.head + line)
      if (!this.isFence) this.isFence = this.passFence(fence.exec(this.head)?.[1])
      if (this.isFence || this.open !== undefined) this.hasGap = true
      else pieces.push(this.piece(line))
      if (end >= 0) {
        this.head = ''
        this.isFence = false
      }
      at += line.length
    }
    return pieces
  }

  /** Opens or closes a fence with this mark. Another mark inside a fence is code. */
  private passFence(mark: string | undefined): boolean {
    if (mark === undefined || (this.open !== undefined && this.open !== mark)) return false
    this.open = this.open === undefined ? mark : undefined
    return true
  }

  private piece(text: string): OpenText {
    const isNew = this.hasGap
    this.hasGap = false
    return { text, isNew }
  }
}

function mayHaveFence(head: string, text: string): boolean {
  if (text.includes('```') || text.includes('~~~')) return true
  return head !== '' && fence.test(head + text.slice(0, headChars))
}

/** The head of the last line. A line that is longer than a head is no fence. */
function headAfter(head: string, text: string): string {
  if (text.length <= headChars) {
    const line = head + text
    return headOf(line.slice(line.lastIndexOf('\n') + 1))
  }
  const last = text.slice(-headChars)
  const end = last.lastIndexOf('\n')
  return end < 0 ? noFence : last.slice(end + 1)
}

const noFence = '.'.repeat(headChars)

function headOf(line: string): string {
  return line.slice(0, headChars)
}
