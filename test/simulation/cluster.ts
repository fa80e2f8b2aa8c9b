// The processes of a simulation: a few places, each with one process at a time that runs all
// stages. Processes die, stop and shut down, and new ones replace them.

import type { Logger } from 'pino'
import type { Agents } from '../../shared/agents/agents.ts'
import type { Subscription } from '../../shared/contract/bus.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Broker } from './broker.ts'
import { createChaos } from './chaos.ts'
import type { Coordinator } from './coordinator.ts'
import type { Faults } from './faults.ts'
import { createMachine, type Machine } from './machine.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { createSimulatedBus } from './simulated-bus.ts'
import { runEntries, type System } from './system.ts'
import { connectTo, type World } from './world/provider.ts'
import { toolsOf } from './world/tools.ts'

export type ClusterOptions = {
  system: System
  places: number
  broker: Broker
  coordinator: Coordinator
  scheduler: Scheduler
  faults: Faults
  random: Random
  world: World
  agents: Agents
  topicPrefix: string
  log: Logger
  /** A stage ended without a fault. */
  stopped(error: unknown): void
}

export type Cluster = {
  /** Ends all pauses. No fault strikes from now on. */
  calm(): void
  /** Replaces every process with a new one. */
  restart(): void
  /** Shuts all processes down in order. */
  close(): void
  /** The number of running processes. */
  readonly running: number
}

type Process = { place: string; machine: Machine; subscriptions: Subscription[] }

/** The group considers a silent member dead after this time. */
const sessionMs: Milliseconds = 6000

export function startCluster(options: ClusterOptions): Cluster {
  const {
    system,
    broker,
    coordinator,
    scheduler,
    faults,
    random,
    world,
    agents,
    topicPrefix,
    log,
  } = options
  const processes = new Map<string, Process>()
  let count = 0
  let closing = false
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
  for (let place = 0; place < options.places; place++) start(`p${place}`)
  stir()

  return {
    calm() {
      faults.end()
      for (const { machine } of processes.values()) machine.resume()
    },
    restart() {
      for (const process of processes.values()) shutDown(process)
    },
    close() {
      closing = true
      for (const process of processes.values()) shutDown(process)
    },
    get running() {
      return [...processes.values()].filter(({ machine }) => machine.alive).length
    },
  }

  function start(place: string): void {
    if (closing) return
    const name = `${place}.${count++}`
    const own = random.fork(name)
    const machine = createMachine({
      name,
      scheduler,
      random: own.fork('machine'),
      skewMs: faults.over ? 0 : own.between(-3000, 3000),
    })
    const process: Process = { place, machine, subscriptions: [] }
    processes.set(place, process)
    const bus = system.bus(
      createSimulatedBus({
        broker,
        coordinator,
        scheduler,
        machine,
        faults,
        chaos,
        random: own.fork('bus'),
      }),
    )
    const entries = system.entries({
      place,
      agents,
      connect: () => connectTo(world, machine),
      run: toolsOf(world, machine, chaos, scheduler),
    })
    const ids = own.fork('ids')
    runEntries(entries, { bus, topicPrefix, log, randomId: () => ids.hex(32) }).then(
      (subscriptions) => {
        process.subscriptions = subscriptions
        for (const subscription of subscriptions)
          subscription.failed.catch((error) => failed(machine, error))
      },
      options.stopped,
    )
  }

  /** A process exits when its stage cannot continue, as main.ts does, and is started again. */
  function failed(machine: Machine, error: unknown): void {
    if (!machine.alive) return
    const isSimulated = error instanceof WeirError && error.message.startsWith('simulated')
    if (!isSimulated) options.stopped(error)
    machine.kill()
    died(machine)
  }

  function died(machine: Machine): void {
    scheduler.at(scheduler.now() + random.between(100, sessionMs), () => coordinator.expel(machine))
    const place = [...processes.values()].find((process) => process.machine === machine)?.place
    if (place !== undefined)
      scheduler.at(scheduler.now() + random.between(500, 20_000), () => start(place))
  }

  function shutDown(process: Process): void {
    const { machine, place } = process
    if (!machine.alive) return
    let isOver = false
    const over = () => {
      if (isOver || !machine.alive) return
      isOver = true
      machine.kill()
      coordinator.expel(machine)
      if (!closing) scheduler.at(scheduler.now() + random.between(100, 5000), () => start(place))
    }
    Promise.all(process.subscriptions.map((subscription) => subscription.close())).then(over, over)
    scheduler.at(scheduler.now() + 120_000, over)
  }

  /** Every few seconds a fault may hit the cluster as a whole. */
  function stir(): void {
    if (faults.over) return
    if (faults.strikes('split')) coordinator.shuffle(true)
    if (faults.strikes('rebalance')) coordinator.shuffle(false)
    const process = random.pick([...processes.values()])
    if (process !== undefined) {
      if (faults.strikes('clock-step')) process.machine.stepClock(random.between(-5000, 5000))
      if (process.subscriptions.length > 0 && faults.strikes('restart')) shutDown(process)
    }
    scheduler.at(scheduler.now() + random.between(500, 5000), stir)
  }
}
