// Sub-agents that loop at once: each has its own count, and ends at it.

import type { SeenRequest } from '../model-server.ts'
import { nameOf, type Program } from '../programs/program.ts'
import { type Case, type Front, forbidsCalls, observe } from './case.ts'
import { doneText, type Honest, type Step, stepsScript, threadOf } from './honest-work.ts'
import { bareCall, finalText } from './incidents.ts'

const roundsMax = 12

/** Two agents that call without the argument for ever. `spawn`: the answer that starts both. */
export function loopingAgents(program: Program, spawn: readonly Step[]): Honest {
  const step = (number: number) => (request: SeenRequest) =>
    forbidsCalls(request) ? { text: finalText } : bareCall.loop(program, number)
  return {
    title: 'two sub-agents that loop at once',
    main: () => spawn,
    agents: 2,
    agent: () => Array.from({ length: roundsMax }, (_, at) => step(at)),
  }
}

export function loopingAgentsCase(program: Program, front: Front, loop: Honest): Case {
  return {
    program: nameOf(program),
    worksWith: program,
    front,
    title: loop.title,
    run: async () => {
      const { requests, reply } = await observe(program, front, {
        script: stepsScript(loop, program),
      })
      const counts = new Map<string, number>()
      for (const request of requests) {
        const thread = threadOf(request)
        if (thread !== '') counts.set(thread, (counts.get(thread) ?? 0) + 1)
      }
      const ofAgents = [...counts.values()]
      const isEnded =
        ofAgents.length === 2 && ofAgents.every((count) => count <= bareCall.requestsMax)
      return {
        found: `${ofAgents.join(' and ')} requests`,
        fault:
          isEnded && reply.includes(doneText)
            ? undefined
            : `expected two agents with at most ${bareCall.requestsMax}: ${reply.slice(-200)}`,
      }
    },
  }
}
