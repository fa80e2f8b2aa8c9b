// Slots for concurrent work: running tools, streams of models. A caller without a free slot waits.
// Waiting lines are served in rotation, so a turn with a hundred calls does not delay the others.

export type Slots = {
  /**
   * Calls `take` with a function that releases the slot; releasing it twice is harmless. If a slot
   * is free, `take` is called before this returns, otherwise when the line's turn comes. Returns a
   * function that leaves the line, which does nothing after `take` was called.
   */
  wait(line: string, take: (free: () => void) => void): () => void
}

/** `busy`: the slots in use now, of `count`. */
export type CountedSlots = Slots & { readonly count: number; readonly busy: number }

/**
 * `count`: the slots that may be in use at the same time. `lineMax`: those of one line. A line with
 * so many slots is passed over, also while others are free. Default: all.
 */
export function createSlots(count: number, lineMax: number = count): CountedSlots {
  type Waiter = (free: () => void) => void
  const lines = new Map<string, Set<Waiter>>()
  const used = new Map<string, number>()
  let free = count

  const usedBy = (line: string) => used.get(line) ?? 0

  const give = (line: string, waiter: Waiter) => {
    let given = true
    free -= 1
    used.set(line, usedBy(line) + 1)
    waiter(() => {
      if (!given) return
      given = false
      free += 1
      used.set(line, usedBy(line) - 1)
      if (usedBy(line) === 0) used.delete(line)
      serve()
    })
  }

  const leave = (line: string, waiter: Waiter) => {
    const waiting = lines.get(line)
    waiting?.delete(waiter)
    if (waiting?.size === 0) lines.delete(line)
  }

  /** A line that moves to the end is visited again. At most `count / lineMax` lines are passed over. */
  const serve = () => {
    for (const [line, waiting] of lines) {
      if (free === 0) return
      if (usedBy(line) >= lineMax) continue
      const [waiter] = waiting
      lines.delete(line)
      if (waiter === undefined) continue
      waiting.delete(waiter)
      if (waiting.size > 0) lines.set(line, waiting) // to the end of the rotation
      give(line, waiter)
    }
  }

  return {
    count,
    get busy() {
      return count - free
    },
    wait(line, take) {
      const waiter: Waiter = (freeSlot) => take(freeSlot)
      const waiting = lines.get(line) ?? new Set()
      lines.set(line, waiting.add(waiter))
      serve()
      return () => leave(line, waiter)
    },
  }
}
