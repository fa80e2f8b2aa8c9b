// A model asks for 24 sub-agents at once under a cap of three, and an operator stops the tree of a session
// whose sub-agents run.

import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ScriptedAnswer, ScriptedCall, SeenRequest } from '../model-server.ts'
import { command, nameOf, type Program, startProgram } from '../programs/program.ts'
import type { RunningServer } from '../weir-process.ts'
import { type Case, type Front, within } from './case.ts'
import { doneText, threadOf } from './honest-work.ts'

const asked = 24
const cap = 3
const refusal = `at most ${cap} agents below the first one may run at once`

/** `patience`: further arguments of a command that runs for some seconds. */
export type Storm = {
  patience?: object
  /** The call that starts an agent. */
  spawn: ScriptedCall
  /** Answers of the main agent after the first one, from the request that it answers. */
  after: readonly ((request: SeenRequest) => ScriptedAnswer)[]
}

type Running = { now: Set<string>; most: number; all: Set<string> }

/** Each agent runs one command and answers. The main agent starts `count` agents in its first answer. */
function stormScript(
  program: Program,
  { spawn, after, patience }: Storm,
  { count, commands, running }: { count: number; commands: readonly string[]; running: Running },
) {
  const at = new Map<string, number>()
  return (request: SeenRequest): ScriptedAnswer => {
    const thread = threadOf(request)
    const next = at.get(thread) ?? 0
    at.set(thread, next + 1)
    if (thread === '') {
      if (next === 0) return { calls: Array.from({ length: count }, () => spawn) }
      // Under the veto the whole answer is refused, and the model asks again for as many as the cap allows.
      if (next === 1 && count > cap && running.all.size === 0) {
        at.set(thread, 1)
        return { calls: Array.from({ length: cap }, () => spawn) }
      }
      return after[next - 1]?.(request) ?? { text: doneText }
    }
    running.now.add(thread)
    running.all.add(thread)
    running.most = Math.max(running.most, running.now.size)
    const text = commands[next]
    if (text !== undefined) return { calls: [command(program, text, patience)] }
    running.now.delete(thread)
    return { text: 'The agent is done.' }
  }
}

/** A command that runs until the file `go` exists. */
const waits = 'touch "begun-$$"; while [ ! -e go ]; do sleep 0.2; done'

const beginnings = async (work: string) =>
  (await readdir(work)).filter((name) => name.startsWith('begun-')).length

async function untilBegun(work: string, count: number): Promise<void> {
  for (let tries = 0; tries < 600 && (await beginnings(work)) < count; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 100))
}

export function stormCase(program: Program, front: Front, storm: Storm): Case {
  return {
    program: nameOf(program),
    front,
    title: `a storm of ${asked} sub-agents is held at ${cap}`,
    run: () => {
      const running: Running = { now: new Set(), most: 0, all: new Set() }
      const script = () => stormScript(program, storm, { count: asked, commands: [waits], running })
      return within({ program, front, script }, async ({ model, weir, folder, url }) => {
        if (weir === undefined) throw new Error('this case needs Weir')
        await weir.weir('policy', 'set', '*', `tree.atOnce=${cap}`)
        const { ended } = await startProgram(program, folder, { url })
        const isTold = () =>
          model.requests.some((one) => JSON.stringify(one.body).includes(refusal))
        await untilBegun(folder.work, cap)
        await writeFile(join(folder.work, 'go'), '')
        const { out } = await ended
        const { most, all } = running
        return {
          found: `${all.size} agents began, ${most} at once at most, the model has the reason: ${isTold()}`,
          fault:
            most === cap && all.size < asked && isTold()
              ? undefined
              : `expected ${cap} at once, and a refusal: ${out.slice(-300)}`,
        }
      })
    },
  }
}

export function treeStopCase(program: Program, front: Front, storm: Storm): Case {
  return {
    program: nameOf(program),
    front,
    title: 'a stop of the tree ends the sub-agents that run',
    run: () => {
      const running: Running = { now: new Set(), most: 0, all: new Set() }
      const commands = [waits, 'touch after']
      const script = () => stormScript(program, storm, { count: 2, commands, running })
      return within({ program, front, script }, async ({ weir, folder, url }) => {
        if (weir === undefined) throw new Error('this case needs Weir')
        const { ended } = await startProgram(program, folder, { url })
        await untilBegun(folder.work, 2)
        const child = (await conversationsOf(weir)).at(0) ?? ''
        await weir.weir('stop', '--tree', child, '--now', '--reason', 'a storm')
        await writeFile(join(folder.work, 'go'), '')
        const { out } = await ended
        const ran = existsSync(join(folder.work, 'after'))
        const { all } = running
        return {
          found: `${all.size} agents ran, a call after the stop ran: ${ran}`,
          fault:
            all.size === 2 && !ran ? undefined : `expected no further call: ${out.slice(-300)}`,
        }
      })
    },
  }
}

/** The newest first. */
async function conversationsOf(weir: RunningServer): Promise<string[]> {
  const lines = (await weir.weir('conversations', '--json', '--limit', '100')).split('\n')
  return lines.filter(Boolean).map((line) => JSON.parse(line).conversation as string)
}
