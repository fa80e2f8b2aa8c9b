// Offers of calls to the clients that run them. Part of the performer. Owns: the offers under way.
// A call is offered after the checks that precede each start: stops, absent guards, a tool
// of this declaration in the agent files, and its own check of the arguments.
// A denied call is claimed by this owner, and its outcome is the refusal. Of two owners,
// the first claim in the log wins (R4).

import { type Agents, findDeclared } from '../../../shared/agents/agents.ts'
import { type CallEnding, denied, resultWith } from '../../../shared/contract/call/call-endings.ts'
import { tryIdOf } from '../../../shared/contract/ids.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { clientOwner } from '../../../shared/contract/topology.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { noClientToolDeclared } from '../../../shared/model-texts/denied-calls.ts'
import { type ContextOf, startChecked } from '../../../shared/tools/checked-start.ts'
import { neverStarted } from '../../../shared/tools/tool-endings.ts'
import { bounded } from '../results.ts'
import type { OfferTask } from '../tasks.ts'
import { nameOf } from './tool-runs.ts'
import type { Writes } from './writes.ts'

export type Offers = {
  /** Offers the ready calls of the unit that are not being offered yet. */
  reconcile(unit: string, tasks: readonly OfferTask[]): void
  close(): void
}

export type OffersOptions = {
  agents: Agents
  contextOf: ContextOf | undefined
  clock: Clock
  owner: string
  writes: Writes
  /** The reason why nothing of this call may start now. */
  vetoOf: (task: OfferTask) => Promise<CallEnding | undefined>
}

export function createOffers({
  agents,
  contextOf,
  clock,
  owner,
  writes: { write, track },
  vetoOf,
}: OffersOptions): Offers {
  const begun = new Map<string, Set<string>>()
  let isClosed = false

  async function offer(task: OfferTask, isWanted: () => boolean): Promise<void> {
    const refusal = (await vetoOf(task)) ?? (await refusalOf(task))
    if (isClosed || !isWanted()) return
    await write('self', refusal === undefined ? [claim(task, clientOwner)] : refuse(task, refusal))
  }

  function refuse(task: OfferTask, ending: CallEnding): Message[] {
    const result = bounded(resultWith(task.ordinal, ending))
    return [claim(task, owner), { type: 'outcome', ...tryIdOf(task), owner, result, goesOn: false }]
  }

  /** The check runs as before the start of any tool. */
  async function refusalOf(task: OfferTask): Promise<CallEnding | undefined> {
    const { agent, declaration, timeoutMs, graceMs, idempotencyKey } = task
    const tool = findDeclared(agents, agent, declaration)
    if (tool?.run.kind !== 'client') return noSuchTool
    let isFit = false
    const call = { arguments: task.arguments, idempotencyKey, timeoutMs, graceMs, clock }
    const { ended } = startChecked({
      tool,
      call,
      turn: task,
      contextOf,
      start() {
        isFit = true
        return neverStarted(noSuchTool)
      },
    })
    const ending = await ended
    return isFit ? undefined : ending
  }

  return {
    reconcile(unit, tasks) {
      const ready = tasks.filter(({ isOffered }) => !isOffered)
      const before = begun.get(unit)
      if (ready.length === 0) {
        begun.delete(unit)
        return
      }
      const names = new Set(ready.map(nameOf))
      begun.set(unit, names)
      for (const task of ready)
        if (before?.has(nameOf(task)) !== true)
          track(offer(task, () => begun.get(unit)?.has(nameOf(task)) === true))
    },

    close() {
      isClosed = true
    },
  }
}

function claim(task: OfferTask, owner: string): Message {
  return { type: 'claim', ...tryIdOf(task), owner }
}

const noSuchTool = denied(noClientToolDeclared, 'no tool with this declaration')
