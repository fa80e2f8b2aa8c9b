// The places for running tools in this process, shared by all its partitions. Each turn has a line.
// An agent file may set a lower number of places for a tool.
// TOOL-SLOTS-1. One turn has at most half of the places, of the process and of a tool, and at least
//     one. A turn with slow calls cannot keep other turns from running theirs.
// TOOL-SLOTS-2. A call that runs a turn of another agent holds no place: it waits for the tools of
//     that agent, which need places.

import type { Agents, Tool } from '../../../shared/agents/agents.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { type CountedSlots, createSlots, type Slots } from '../../../shared/lib/slots.ts'

/** So many places, of which one turn has at most half. */
export function toolPlaces(count: number): CountedSlots {
  return createSlots(count, Math.max(1, Math.floor(count / 2)))
}

/**
 * The lines of an agent's tool: first for a place of the tool, if its agent file bounds them, then
 * for one of the process.
 */
export function createToolSlots(
  agents: Agents,
  slots: Slots,
): (agent: string, name: string) => Slots {
  const own = new Map<Tool, Slots>()
  const ofAgents = createSlots(limits.agentCallsMax, limits.agentCallsMax)
  return (agent, name) => {
    const tool = agents.get(agent)?.tools.find(({ declaration }) => declaration.name === name)
    const isAgent = tool?.run.kind === 'function' && tool.run.runsAgent !== undefined
    const all = isAgent ? ofAgents : slots
    if (tool?.concurrency === undefined) return all
    const both = own.get(tool) ?? inBoth(toolPlaces(tool.concurrency), all)
    own.set(tool, both)
    return both
  }
}

/**
 * A call that waits for the second place holds the first, never the other way round: a tool's own
 * line must not hold places of the process.
 */
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
