// Slots for concurrent work: running tools, streams of models. A caller without a free slot waits.
// Waiting lines of a group are served in rotation, so a turn with a hundred calls does not delay the
// others. Groups are served by deficit round robin (Shreedhar and Varghese, SIGCOMM 1995), where each
// slot costs 1: a group with a thousand lines does not delay another group.

export type Slots = {
  /**
   * Calls `take` with a function that releases the slot; releasing it twice is harmless. If a slot
   * is free, `take` is called before this returns, otherwise when the line's turn comes. Returns a
   * function that leaves the line, which does nothing after `take` was called.
   */
  wait(line: string, take: (free: () => void) => void, group?: string): () => void
}

/** `busy`: the slots in use now, of `count`. */
export type CountedSlots = Slots & { readonly count: number; readonly busy: number }

export type SlotOptions = {
  /**
   * The slots of one line. A line with so many slots is passed over, also while others are free.
   * Default: all.
   */
  lineMax?: number
  /** The slots that a group gets in one round of the groups, from 1. Default: 1 for each. */
  weightOf?: ((group: string) => number) | undefined
}

type Waiter = (free: () => void) => void

/** `due`: the slots that the group still gets in this round. */
type Group = { due: number; lines: Map<string, Set<Waiter>> }

/** `count`: the slots that may be in use at the same time. */
export function createSlots(
  count: number,
  { lineMax = count, weightOf = () => 1 }: SlotOptions = {},
): CountedSlots {
  /** Those with a line, in the order of the round. */
  const groups = new Map<string, Group>()
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

  /** A group that moves to the end is visited again, unless no line of it may have a slot. */
  const serve = () => {
    for (const [name, group] of groups) {
      if (free === 0) return
      if (group.due === 0) group.due = weightOf(name)
      const isServed = serveLines(group)
      if (groups.get(name) !== group) continue // its last line is served, and a caller waits anew
      if (group.lines.size === 0) groups.delete(name)
      else if (isServed && group.due === 0) {
        groups.delete(name)
        groups.set(name, group)
      }
    }
  }

  /**
   * Until no slot is due to the group. A line that moves to the end is visited again. At most
   * `count / lineMax` lines are passed over. Returns whether a line had a slot.
   */
  const serveLines = (group: Group): boolean => {
    let isServed = false
    for (const [line, waiting] of group.lines) {
      if (free === 0 || group.due === 0) break
      if (usedBy(line) >= lineMax) continue
      const [waiter] = waiting
      group.lines.delete(line)
      if (waiter === undefined) continue
      waiting.delete(waiter)
      if (waiting.size > 0) group.lines.set(line, waiting) // to the end of the rotation
      group.due -= 1
      isServed = true
      give(line, waiter)
    }
    return isServed
  }

  const leave = (name: string, line: string, waiter: Waiter) => {
    const lines = groups.get(name)?.lines
    const waiting = lines?.get(line)
    waiting?.delete(waiter)
    if (waiting?.size === 0) lines?.delete(line)
    if (lines?.size === 0) groups.delete(name)
  }

  return {
    count,
    get busy() {
      return count - free
    },
    wait(line, take, name = '') {
      const waiter: Waiter = (freeSlot) => take(freeSlot)
      const group = groups.get(name) ?? { due: 0, lines: new Map() }
      groups.set(name, group)
      group.lines.set(line, (group.lines.get(line) ?? new Set()).add(waiter))
      serve()
      return () => leave(name, line, waiter)
    },
  }
}
