// Two fronts: processes between guests and Weir, with the real code of a front on an unreliable bus.
// Their writes are lost, late and doubled, and they die and start again, with no memory.

import type { Logger } from 'pino'
import { createFront, type Front } from '../../../client/guard/front.ts'
import { createThreads, type Threads } from '../../../client/guard/guest-thread.ts'
import { linkOn, openActivity } from '../../../client/guard/log/guest-activity.ts'
import { guestPlaces } from '../../../client/guard/log/guest-places.ts'
import { policyInForce } from '../../../services/llm-gateway/performer/policy-in-force.ts'
import type { Guest } from '../../../shared/agents/guest.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { Parent, Policy } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { budgetLog } from '../../../shared/runtime/budgets/budget-log.ts'
import { createBudgetReaders } from '../../../shared/runtime/budgets/budget-readers.ts'
import {
  callReservations,
  sharedByRepeats,
} from '../../../shared/runtime/budgets/call-reservations.ts'
import { childPlaces } from '../../../shared/runtime/budgets/child-places.ts'
import { onceValues } from '../../../shared/runtime/budgets/once-values.ts'
import { policyReader } from '../../../shared/runtime/settings/policy-reader.ts'
import type { Broker } from '../broker.ts'
import { createChaos } from '../chaos.ts'
import type { Coordinator } from '../coordinator.ts'
import type { Faults } from '../faults.ts'
import { createMachine, type Machine } from '../machine.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import { createSimulatedBus } from '../simulated-bus.ts'
import type { System } from '../system.ts'
import type { Ledger } from './ledger.ts'

export type FrontsOptions = {
  system: System
  ledger: Ledger
  broker: Broker
  coordinator: Coordinator
  scheduler: Scheduler
  faults: Faults
  random: Random
  agent: Guest
  topicPrefix: string
  partitions: number
  log: Logger
}

/** `isAlive`: requests to a dead process have no answer. */
export type FrontProcess = {
  readonly isAlive: boolean
  blocking: Threads
  observing: Threads
}

export type Fronts = {
  /** The process at one of the two places now. */
  at(place: 0 | 1): FrontProcess
  /** Ends all pauses. */
  calm(): void
}

/** A blocking front waits so long for a verdict. The design has 10 minutes. */
const holdMs: Milliseconds = 120_000
const adviceMs: Milliseconds = 20_000

export function startFronts(options: FrontsOptions): Fronts {
  const { system, ledger, broker, coordinator, scheduler, faults, random } = options
  const { agent, topicPrefix, partitions, log } = options
  let count = 0
  const machines: Machine[] = []
  const chaos = createChaos({
    random: random.fork('chaos'),
    faults,
    died(machine) {
      const place = machines.indexOf(machine)
      scheduler.at(scheduler.now() + random.between(500, 20_000), () => {
        processes[place] = start(place)
      })
    },
    pausedFor: () => {},
  })
  const processes = [start(0), start(1)]

  return {
    at: (place) => processes[place] as FrontProcess,
    calm() {
      for (const machine of machines) machine.resume()
    },
  }

  function start(place: number): FrontProcess {
    const own = random.fork(`front ${count++}`)
    const machine = createMachine({
      name: `front ${place}.${count}`,
      scheduler,
      random: own.fork('machine'),
      skewMs: 0,
    })
    machines[place] = machine
    const parts = { broker, coordinator, scheduler, machine, faults, chaos }
    const bus = system.bus(createSimulatedBus({ ...parts, random: own.fork('bus') }))
    const activity = openActivity({ bus, topicPrefix, partitions })
    const ids = own.fork('ids')
    const read = policyReader({ bus, topicPrefix })
    const parents = new Map<string, Parent>()
    const policyFor = async (conversation: ConversationId): Promise<Policy> => {
      const own = { ...agent.settings.policy, parent: parents.get(conversation) ?? null }
      const policy = await policyInForce(read, { agent: agent.name, conversation, own, log })
      return typeof policy === 'string' ? own : policy
    }
    const context = { budgets: budgetLog({ bus, topicPrefix, log }), clock: bus.clock, log }
    const reservations = sharedByRepeats(callReservations(context, createBudgetReaders().ledgers))
    const children = childPlaces(reservations)
    const places = guestPlaces({ children, once: onceValues(reservations), policy: policyFor })
    const threadsOf = (blocking: boolean): Threads => {
      const front = noting(
        createFront({
          link: linkOn({ bus, topicPrefix, partitions }, { activity, log }),
          agent,
          blocking,
          randomId: () => ids.hex(32),
          policy: policyFor,
        }),
      )
      const threads = createThreads({
        front: system.front?.(front) ?? front,
        ...(blocking && { places }),
        agent,
        blocking,
        log,
        refuses: blocking,
        waitMs: blocking ? holdMs : adviceMs,
      })
      return (id, options) => {
        const { root, parent = null } = options
        if (root !== undefined) parents.set(id, { root, conversation: parent })
        return threads(id, options)
      }
    }
    return {
      get isAlive() {
        return machine.alive
      },
      blocking: threadsOf(true),
      observing: threadsOf(false),
    }
  }

  /** Notes the final key of each round that a front proposes. */
  function noting(front: Front): Front {
    return {
      ...front,
      proposeRound(turn, round, wait) {
        ledger.guests.proposed.push({ ...turn, key: round.key, signal: wait.signal })
        return front.proposeRound(turn, round, wait)
      },
    }
  }
}
