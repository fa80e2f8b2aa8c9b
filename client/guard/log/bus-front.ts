// A front on an open bus, for programs that run the stages already, such as a server with a proxy.

import type { Logger } from 'pino'
import { policyInForce } from '../../../services/llm-gateway/performer/policy-in-force.ts'
import type { Guest } from '../../../shared/agents/guest.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Parent, Policy } from '../../../shared/contract/messages.ts'
import type { StageName } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { newest } from '../../../shared/lib/newest.ts'
import { budgetLog } from '../../../shared/runtime/budgets/budget-log.ts'
import {
  callReservations,
  sharedByRepeats,
} from '../../../shared/runtime/budgets/call-reservations.ts'
import { childPlaces } from '../../../shared/runtime/budgets/child-places.ts'
import type { LedgerReader } from '../../../shared/runtime/budgets/ledger-reader.ts'
import { onceValues } from '../../../shared/runtime/budgets/once-values.ts'
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
import { guestPlaces } from './guest-places.ts'

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
  const parents = newest<Parent>(limits.guestsOpenMax)
  const policy = async (conversation: ConversationId): Promise<Policy> => {
    const own = { ...agent.settings.policy, parent: parents.get(conversation) ?? null }
    const found = await policyInForce(read, { agent: agent.name, conversation, own, log })
    if (typeof found !== 'string') return found
    throw new WeirError('settings.invalid', found) // keeps R6
  }
  const front = createFront({
    link: linkOn({ bus, topicPrefix, partitions }, { activity, log }),
    agent,
    blocking,
    secrets,
    policy,
  })
  const budgets = guestBudgets({
    bus,
    topicPrefix,
    agent: agent.name,
    read,
    policy,
    reader: ledgers,
    refuses,
    log,
  })
  const context = { budgets: budgetLog({ bus, topicPrefix, log }), clock: bus.clock, log }
  const reservations = sharedByRepeats(callReservations(context, ledgers))
  const children = childPlaces(reservations)
  const once = onceValues(reservations)
  const places = blocking ? guestPlaces({ children, once, policy }) : undefined
  const threads = createThreads({
    ...waiting,
    front,
    budgets,
    ...(places && { places }),
    counting,
    givesOnce,
    agent,
    log,
  })

  /** The callers of a conversation never change, so the last ones that a host named stay. */
  function placed(conversation: ConversationId, options: ThreadOptions): ConversationId {
    const [root, caller] = [options.root, options.parent].map((id) =>
      id === undefined ? undefined : conversationOfGuest(agent.name, id),
    )
    const known = caller === undefined ? undefined : parents.get(caller)?.root
    const whole = root ?? known ?? caller
    if (whole !== undefined && whole !== conversation)
      parents.set(conversation, { root: whole, conversation: caller ?? null })
    return conversation
  }

  return {
    conversation: (id, options = {}) =>
      threads(placed(conversationOfGuest(agent.name, id), options), options),
  }
}
