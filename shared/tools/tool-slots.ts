// The places for running tools in this process, shared by all its partitions. Each turn has a line.
// An agent file may set a lower number of places for a tool.
// One turn has at most half of the places, of the process and of a tool, and at least
// one. A turn with slow calls cannot keep other turns from running theirs.
// Tenants get places by their weights, so one with many turns does not delay another.
// A call that runs a turn of another agent holds no place: it waits for the tools of
// that agent, which need places.

import type { Agents, Tool } from '../agents/agents.ts'
import { limits } from '../contract/limits.ts'
import type { WeightOf } from '../contract/tenant.ts'
import { type CountedSlots, createSlots, type Slots } from '../lib/slots.ts'

/** So many places, of which one turn has at most half. */
export function toolPlaces(count: number, weightOf?: WeightOf): CountedSlots {
  return createSlots(count, { lineMax: Math.max(1, Math.floor(count / 2)), weightOf })
}

/**
 * The lines of an agent's tool: first for a place of the tool, if its agent file bounds them, then
 * for one of the process.
 */
export function createToolSlots(
  agents: Agents,
  slots: Slots,
  weightOf?: WeightOf,
): (agent: string, name: string) => Slots {
  const own = new Map<Tool, Slots>()
  const ofAgents = createSlots(limits.agentCallsMax, { weightOf })
  return (agent, name) => {
    const tool = agents.get(agent)?.tools.find(({ declaration }) => declaration.name === name)
    const isAgent = tool?.run.kind === 'function' && tool.run.runsAgent !== undefined
    const all = isAgent ? ofAgents : slots
    if (tool?.concurrency === undefined) return all
    const both = own.get(tool) ?? inBoth(toolPlaces(tool.concurrency, weightOf), all)
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
    wait(line, take, group) {
      let leaveSecond = () => {}
      const takeFirst = (freeFirst: () => void) => {
        let isTaken = false
        const takeSecond = (freeSecond: () => void) => {
          isTaken = true
          take(() => {
            freeFirst()
            freeSecond()
          })
        }
        const leave = second.wait(line, takeSecond, group)
        leaveSecond = () => {
          leave()
          if (!isTaken) freeFirst()
        }
      }
      const leaveFirst = first.wait(line, takeFirst, group)
      return () => {
        leaveFirst()
        leaveSecond()
      }
    },
  }
}
