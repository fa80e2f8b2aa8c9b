// The places for running tools in this process, shared by all its partitions. Who finds none waits; the lines of those who wait (one for each
// turn) are served in rotation, so that a turn with a hundred calls does not hold up the others. A tool may have fewer places of its own.

import type { Agents, Tool } from '../../shared/agents.ts'

export type Slots = {
  /**
   * Calls `take` with the function that gives the place back (once; more is harmless): before it returns when a place is free, else when it is
   * this waiter's turn. Returns how to leave the line; that does nothing once `take` was called.
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

/** Where calls of an agent's tool wait: for a place of the tool, where its agent file names their number, and then for one of the process. */
export function createToolSlots(agents: Agents, slots: Slots): (agent: string, name: string) => Slots {
  const own = new Map<Tool, Slots>()
  return (agent, name) => {
    const tool = agents.get(agent)?.tools.find(({ declaration }) => declaration.name === name)
    if (tool?.concurrency === undefined) return slots
    const both = own.get(tool) ?? inBoth(createSlots(tool.concurrency), slots)
    own.set(tool, both)
    return both
  }
}

/** Who waits for the second holds a place of the first, never the other way round: a tool's own line must not keep the process's places. */
function inBoth(first: Slots, second: Slots): Slots {
  return {
    wait(line, take) {
      let leaveSecond = () => {}
      const leaveFirst = first.wait(line, (freeFirst) => {
        let isTaken = false
        const leave = second.wait(line, (freeSecond) => {
          isTaken = true
          take(() => {
            freeFirst()
            freeSecond()
          })
        })
        leaveSecond = () => {
          leave()
          if (!isTaken) freeFirst()
        }
      })
      return () => {
        leaveFirst()
        leaveSecond()
      }
    },
  }
}
