// Places for what a process does at the same time: running tools, streams of models. Who finds none
// waits; the lines of those who wait are served in rotation, so that a turn with a hundred calls
// does not hold up the others.

export type Slots = {
  /**
   * Calls `take` with the function that gives the place back (once; more is harmless): before it
   * returns when a place is free, else when it is this waiter's turn. Returns how to leave the
   * line; that does nothing once `take` was called.
   */
  wait(line: string, take: (free: () => void) => void): () => void
}

/** `count`: how many may be taken at the same time. */
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
      if (waiting.size > 0) lines.set(line, waiting) // at the end of the rotation
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
