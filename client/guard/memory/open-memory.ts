// A guard without a log: a front on the in-memory player, with the guards of the program.

import type { Logger } from 'pino'
import { withGuards } from '../../../services/llm-gateway/performer/guards-in-force.ts'
import { logJudgements } from '../../../services/validator/log-judgements.ts'
import type { Guest } from '../../../shared/agents/guest.ts'
import type { GuardInForce, Message } from '../../../shared/contract/messages.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import type { WorkLog } from '../../../shared/lib/log/lazy-log.ts'
import { createFront } from '../front.ts'
import type { GuardOptions } from '../guard-options.ts'
import {
  conversationOfGuest,
  createThreads,
  type GuestThread,
  type ThreadOptions,
  waitingOf,
} from '../guest-thread.ts'
import { type MemoryStages, openMemoryStages } from './memory-stages.ts'

/** Throws as openGuard. */
export async function openInMemory(options: GuardOptions & { agent: Guest }) {
  const { agent, guards, approvals, log: given } = options
  const log = given ?? logWhenNeeded()
  const stages =
    given === undefined ? openMemoryStages({ clock: systemClock, log }) : stagesWith(given)
  const inForce =
    guards === undefined && approvals === undefined
      ? []
      : await startGuards({ guards, approvals, log: given, stages })
  const conversation = frontInMemory(stages, { ...options, agent, inForce, log })
  return { conversation, failed: stages.failed, close: stages.close }
}

/** Stages that log the decisions on calls. */
export function stagesWith(log: Logger): MemoryStages {
  const ofValidator = log.child({ stage: 'validator' })
  const observed = (message: Message) => logJudgements(message, ofValidator)
  return openMemoryStages({ clock: systemClock, log, observed })
}

type FrontOptions = Pick<GuardOptions, 'mode' | 'onUnavailable' | 'answerWithinMs'> & {
  agent: Guest
  inForce: GuardInForce[]
  log: Pick<WorkLog, 'warn'>
}

/** The conversations of one front. */
export function frontInMemory({ link }: MemoryStages, options: FrontOptions) {
  const { agent, inForce, log } = options
  const policy = withGuards(agent.settings.policy, inForce)
  const waiting = waitingOf(options)
  const { blocking } = waiting
  const front = createFront({ link, agent, blocking, policy: async () => policy })
  const threads = createThreads({ ...waiting, front, agent, log })
  return (id: string, options: ThreadOptions = {}): GuestThread =>
    threads(conversationOfGuest(agent.name, id), options)
}

type Extras = Pick<GuardOptions, 'guards' | 'approvals' | 'log'> & {
  stages: MemoryStages
}

async function startGuards({ guards, approvals, log, stages }: Extras) {
  const { openMemoryGuards } = await import('./memory-guards.ts')
  const { createLog } = await import('../../../shared/lib/log/log.ts')
  const opened = await openMemoryGuards({
    guards,
    approvals,
    clock: systemClock,
    log: log ?? createLog({ level: 'warn', secrets: [] }),
    answered: stages.verdict,
    failed: stages.fail,
  })
  stages.guardedBy(opened)
  return opened.inForce
}

/** Lines of JSON at `warn` and above on standard error. The first line loads the logger. */
function logWhenNeeded(): WorkLog {
  const loaded = async () => {
    const { createLog } = await import('../../../shared/lib/log/log.ts')
    return createLog({ level: 'warn', secrets: [] })
  }
  let loading: ReturnType<typeof loaded> | undefined
  const line = (level: 'warn' | 'error') => (fields: object, text: string) => {
    loading ??= loaded()
    void loading.then((log) => log[level](fields, text))
  }
  return { debug: () => {}, info: () => {}, warn: line('warn'), error: line('error') }
}
