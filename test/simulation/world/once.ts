// A tool that must not run twice, and the guard that holds the calls apart: two processes with the real
// code of guards. They die and stop, and others take their places.

import type { Logger } from 'pino'
import onceGuard from '../../../services/guards/once/guard.ts'
import type { Agents } from '../../../shared/agents/agents.ts'
import type { Subscription } from '../../../shared/contract/bus.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { runGuard } from '../../../shared/runtime/guards/run-guard.ts'
import { noHints } from '../../support/messages.ts'
import type { Broker } from '../broker.ts'
import { createChaos } from '../chaos.ts'
import type { Coordinator } from '../coordinator.ts'
import type { Faults } from '../faults.ts'
import { createMachine, type Machine } from '../machine.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import { createSimulatedBus } from '../simulated-bus.ts'
import { openRegistrations } from './registrations.ts'

export { onceGuard as onceGuardName } from '../../../shared/contract/guard/once-guard.ts'

/** The tool that must not run twice. */
export const onceTool = 'send'

const places = 2
/** The group considers a silent member dead after this time. */
const sessionMs: Milliseconds = 6_000
const dayMs: Milliseconds = 86_400_000

/** The agents, whose tool must not run twice in a conversation, or in the whole tenant. */
export function withOnce(agents: Agents, random: Random): Agents {
  const within = random.pick(['conversation', 'tenant'] as const)
  const once = { by: random.pick([[], ['path']]), forMs: dayMs, within }
  return new Map(
    [...agents].map(([name, agent]) => {
      const tools = agent.tools.map((tool) =>
        tool.declaration.name === onceTool
          ? { ...tool, declaration: { ...tool.declaration, hints: { ...noHints, once } } }
          : tool,
      )
      return [name, { ...agent, tools }]
    }),
  )
}

export type OnceGuardOptions = {
  broker: Broker
  coordinator: Coordinator
  scheduler: Scheduler
  faults: Faults
  random: Random
  topicPrefix: string
  log: Logger
  /** The guard ended without a fault. */
  stopped(error: unknown): void
}

/** Registers the guard and runs it. `calm` ends all pauses, `close` shuts the processes down. */
export function startOnceGuard(options: OnceGuardOptions): { calm(): void; close(): void } {
  const { broker, coordinator, scheduler, faults, random, topicPrefix, log } = options
  const guard = onceGuard({ tools: [onceTool] })
  const { name, version, deadlineMs, onTimeout } = guard
  const tools = [{ pattern: onceTool, mode: 'enforce' as const }]
  const registrations = openRegistrations({ scheduler, broker, topicPrefix })
  registrations.register({ name, version, deadlineMs, onTimeout, tools, rules: null })

  const running = new Map<Machine, Subscription[]>()
  let isClosing = false
  let count = 0
  const chaos = createChaos({
    random: random.fork('chaos'),
    faults,
    died,
    pausedFor(machine, durationMs) {
      if (durationMs > sessionMs)
        scheduler.at(
          scheduler.now() + sessionMs,
          () => machine.paused && coordinator.expel(machine),
        )
    },
  })
  for (let place = 0; place < places; place++) start()

  return {
    calm() {
      for (const machine of running.keys()) machine.resume()
    },
    close() {
      isClosing = true
      for (const [machine, subscriptions] of running) {
        const over = () => machine.kill()
        Promise.all(subscriptions.map((one) => one.close())).then(over, over)
      }
    },
  }

  function start(): void {
    if (isClosing) return
    const own = random.fork(`once ${count++}`)
    const machine = createMachine({
      name: `once.${count}`,
      scheduler,
      random: own.fork('machine'),
      skewMs: 0,
    })
    const subscriptions: Subscription[] = []
    running.set(machine, subscriptions)
    const bus = createSimulatedBus({
      broker,
      coordinator,
      scheduler,
      machine,
      faults,
      chaos,
      random: own.fork('bus'),
    })
    runGuard(guard, { bus, topicPrefix, log }).then((subscription) => {
      subscriptions.push(subscription)
      subscription.failed.catch((error) => {
        if (!machine.alive) return
        if (!(error instanceof Error && error.message.startsWith('simulated')))
          options.stopped(error)
        machine.kill()
        died(machine)
      })
    }, options.stopped)
  }

  function died(machine: Machine): void {
    running.delete(machine)
    scheduler.at(scheduler.now() + random.between(100, sessionMs), () => coordinator.expel(machine))
    scheduler.at(scheduler.now() + random.between(500, 20_000), start)
  }
}
