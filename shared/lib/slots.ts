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

/** `count`: the slots that may be in use at the same time. */
export function createSlots(count: number): Slots {
  type Waiter = (free: () => void) => void
  const lines = new Map<string, Set<Waiter>>()
  let free = count

  const give = (waiter: Waiter) => {
    let given = true
    free -= 1
    waiter(() => {
      if (!given) return
      given = false
      free += 1
      serve()
    })
  }

  const leave = (line: string, waiter: Waiter) => {
    const waiting = lines.get(line)
    waiting?.delete(waiter)
    if (waiting?.size === 0) lines.delete(line)
  }

  const serve = () => {
    while (free > 0) {
      const [first] = lines
      if (first === undefined) return
      const [line, waiting] = first
      const [waiter] = waiting
      lines.delete(line)
      if (waiter === undefined) continue
      waiting.delete(waiter)
      if (waiting.size > 0) lines.set(line, waiting) // to the end of the rotation
      give(waiter)
    }
  }

  return {
    wait(line, take) {
      const waiter: Waiter = (freeSlot) => take(freeSlot)
      const waiting = lines.get(line) ?? new Set()
      lines.set(line, waiting.add(waiter))
      serve()
      return () => leave(line, waiter)
    },
  }
}
