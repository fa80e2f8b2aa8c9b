// A front on an open bus, for programs that run the stages already, such as a server with a proxy.

import type { Logger } from 'pino'
import type { LedgerReader } from '../../../services/llm-gateway/performer/budgets/ledger-reader.ts'
import { policyInForce } from '../../../services/llm-gateway/performer/policy-in-force.ts'
import type { Guest } from '../../../shared/agents/guest.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { Policy } from '../../../shared/contract/messages.ts'
import type { StageName } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { policyReader } from '../../../shared/runtime/settings/policy-reader.ts'
import { createFront } from '../front.ts'
import {
  type BudgetCounting,
  conversationOfGuest,
  createThreads,
  type GuestThread,
  type ThreadOptions,
  waitingOf,
} from '../guest-thread.ts'
import { type Activity, linkOn } from './guest-activity.ts'
import { guestBudgets } from './guest-budgets.ts'

/** The stages that judge guests. The others have nothing to do for them. */
export const stagesOfGuests: readonly StageName[] = [
  'guest',
  'validator',
  'loop-detector',
  'executor',
  'approval',
]

export type FrontOnOptions = {
  bus: Bus
  /** All fronts of a process share one, because each one decodes the records of all guests. */
  activity: Activity
  /** The reservations under budgets. All fronts of a process share one. */
  ledgers: LedgerReader
  topicPrefix: string
  partitions: number
  agent: Guest
  log: Logger
  /** As for `openGuard`. */
  mode?: 'blocking' | 'observing' | undefined
  onUnavailable?: 'allow' | 'deny' | undefined
  answerWithinMs?: Milliseconds | undefined
  /** Default `reserve`. */
  counting?: BudgetCounting | undefined
  /** Default: if the front does not reserve. */
  givesOnce?: boolean | undefined
  /** Those that this process knows. */
  secrets?: readonly string[] | undefined
}

/** `conversation`: also with the options of a front that hides denied rounds. */
export type FrontOn = {
  conversation(id: string, options?: ThreadOptions): GuestThread
}

/** A front on an open bus, whose stages run here or elsewhere. */
export function frontOn({
  bus,
  activity,
  ledgers,
  topicPrefix,
  partitions,
  agent,
  log,
  counting = 'reserve',
  givesOnce,
  secrets,
  ...options
}: FrontOnOptions): FrontOn {
  const waiting = waitingOf(options)
  const { blocking, refuses } = waiting
  const read = policyReader({ bus, topicPrefix })
  const front = createFront({
    link: linkOn({ bus, topicPrefix, partitions }, { activity, log }),
    agent,
    blocking,
    secrets,
    policy: async (conversation): Promise<Policy> => {
      const own = agent.settings.policy
      const policy = await policyInForce(read, { agent: agent.name, conversation, own, log })
      if (typeof policy !== 'string') return policy
      throw new WeirError('settings.invalid', policy) // keeps R6
    },
  })
  const budgets = guestBudgets({
    bus,
    topicPrefix,
    agent: agent.name,
    read,
    reader: ledgers,
    refuses,
    log,
  })
  const threads = createThreads({ ...waiting, front, budgets, counting, givesOnce, agent, log })
  return {
    conversation: (id, options = {}) => threads(conversationOfGuest(agent.name, id), options),
  }
}
